/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signature keys. Data that moves through such a key is blocks, which have signatures in memory, on
 * the wire, or in both. Offsets and lengths, of data segments, rkeys and messages, are those of the
 * wire: rdma_rw_ctx_signature_init() of Linux takes the signatures off a data segment's length
 * where the wire has none, and rdma-core's test_mlx5_crypto.py sends 512 bytes of a key that adds
 * CRCs on the wire into a receive of 512.
 */
#ifndef SOFTHCA_ENGINE_SIG_H
#define SOFTHCA_ENGINE_SIG_H

#include "engine/keys/crypto.h"
#include "engine/keys/keys.h"
#include "hw/obj.h"

enum sig_kind { SIG_NONE, SIG_DIF, SIG_CRC32, SIG_CRC32C, SIG_CRC64 };
#define SIG_MAX_BYTES 8

/* The blocks of one side. Signatures are 64-bit numbers as in a PSV: aligned to the upper end. */
struct sig_domain {
	enum sig_kind kind;
	uint32_t block; /* bytes of data in a block; 0: none */
	uint32_t bytes; /* of a signature */
	uint64_t first,
		seed; /* start value of the check value of the first block, and of the others */
	uint32_t psv;
	/* T10-DIF: */
	bool is_ip, inc_ref, escape_app, escape_appref;
	uint16_t app, app_checked; /* the application tag, and which bits must be right */
	uint32_t ref;
};

struct sig_key {
	struct sig_domain mem, wire;
	bool same;        /* both sides have the same blocks, so signatures may be copied */
	uint64_t check;   /* which bits of the input's signature must be right */
	uint64_t copy;    /* which bits of it are copied to the output */
	uint64_t longest; /* bytes of data */
	struct crypto_fmt crypto;
};

/* The ready object of this kind that belongs to the PD; NULL: there is none. */
struct hw_obj *sig_obj(struct seg *s, enum hw_obj_kind kind, uint32_t idx, uint32_t pdn);
/* Bytes of a block or of a data unit by a BSF's selector; 0: there is no such size. */
uint32_t sig_block_size(uint32_t code);
/*
 * Read one BSF of signatures, crypto or both, of `entries` * 16 bytes. False: it is malformed, or
 * something that is not supported.
 */
bool sig_parse(const uint8_t *bsf, uint32_t entries, struct sig_key *k);
/* The same with a key's BSF; its PSVs must exist. */
enum eng_why sig_open(struct seg *s, const struct hw_mkey *mk, struct sig_key *k);
/* Copy an UMR's BSF behind the key's list. */
void sig_load(struct seg *s, const struct hw_mkey *mk, const uint8_t *bsf, uint32_t entries);

static inline bool sig_has_any(const struct sig_key *k)
{
	return k->mem.bytes || k->wire.bytes || k->crypto.unit;
}

/* Bytes of data in the first `n` bytes of a side that has signatures. */
static inline uint64_t sig_data(const struct sig_domain *d, uint64_t n)
{
	uint64_t stride = (uint64_t)d->block + d->bytes, rest;

	if (!d->bytes)
		return n;
	rest = n % stride;
	return n / stride * d->block + (rest < d->block ? rest : d->block);
}

/* Where `data` bytes of data end on a side, with the signatures of its complete blocks. */
static inline uint64_t sig_place(const struct sig_domain *d, uint64_t data)
{
	return d->bytes ? data + data / d->block * d->bytes : data;
}

/* sgl_add_key() for a signature key. */
enum eng_why sig_add(struct seg *s, struct eng_sgl *l, const struct hw_mkey *mk,
		     const struct sig_key *k, uint64_t addr, uint64_t len, uint32_t qpn,
		     uint32_t access);
enum eng_out sig_set_psv(struct eng_run *r);

#endif
