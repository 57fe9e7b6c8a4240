/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Crypto keys: data is encrypted or decrypted on its way between such a key's memory and the wire,
 * in data units, by AES-XTS. Signatures, if the key has them, are below or above: `on_wire` says
 * which bytes are encrypted, those on the wire or those in memory.
 */
#ifndef SOFTHCA_ENGINE_CRYPTO_H
#define SOFTHCA_ENGINE_CRYPTO_H

#include "engine/keys/keys.h"
#include "util/aes.h"

#define CRYPTO_UNIT_MAX 4160

/* What a BSF says. */
struct crypto_fmt {
	uint32_t unit; /* bytes of a data unit; 0: no crypto */
	bool on_wire;
	bool encrypts; /* encrypt what goes to the wire, decrypt what arrives; else reverse */
	uint32_t dek;
	uint64_t keytag;
	uint8_t tweak[AES_BLOCK]; /* tweak of the key's first unit, in the device's byte order */
	uint64_t longest;         /* bytes of data */
};

/* Read the crypto part of a BSF; false as in sig_parse(). */
bool crypto_parse(const uint8_t *bsf, struct crypto_fmt *f);
/* May `n` bytes from byte `at` of the encrypted stream be moved through the key? */
enum eng_why crypto_check(struct seg *s, const struct hw_mkey *mk, const struct crypto_fmt *f,
			  uint64_t at, uint64_t n);

/* One transfer through a key: a data unit at a time. Large: keep one in a frame. */
struct crypto_flow {
	struct xts_key key;
	struct crypto_fmt f;
	bool encrypt;
	uint8_t tweak[AES_BLOCK]; /* of the current unit, little-endian */
	uint64_t rest;            /* bytes after the current unit */
	uint32_t len, done;       /* of the current unit; len 0: there is none */
	uint8_t unit[CRYPTO_UNIT_MAX];
};

/* Begin at byte `at` of the stream, for `n` bytes. False: the key cannot be used any more. */
bool crypto_open(struct crypto_flow *c, struct seg *s, const struct hw_mkey *mk,
		 const struct crypto_fmt *f, bool out, uint64_t at, uint64_t n);
/* Takes the next unit. False: there is none, or XTS cannot encrypt a unit of its length. */
bool crypto_next(struct crypto_flow *c);
void crypto_unit(struct crypto_flow *c);

#endif
