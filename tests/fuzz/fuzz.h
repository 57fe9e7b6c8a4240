/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the fuzz targets. An input is a stream of bytes from which a target reads numbers;
 * after its end all are zero. Targets check invariants (fz_check) and restore everything after an
 * input, so that inputs do not depend on each other.
 */
#ifndef SOFTHCA_TESTS_FUZZ_H
#define SOFTHCA_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seg;
struct fw_cmd;

/* libFuzzer's entry points */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fz {
	const uint8_t *p;
	size_t n;
};

static inline void fz_bytes(struct fz *f, void *dst, size_t len)
{
	size_t n = len < f->n ? len : f->n;

	memset(dst, 0, len);
	memcpy(dst, f->p, n);
	f->p += n;
	f->n -= n;
}

static inline uint8_t fz_u8(struct fz *f)
{
	uint8_t v;

	fz_bytes(f, &v, sizeof(v));
	return v;
}

static inline uint16_t fz_u16(struct fz *f)
{
	uint16_t v;

	fz_bytes(f, &v, sizeof(v));
	return v;
}

static inline uint32_t fz_u32(struct fz *f)
{
	uint32_t v;

	fz_bytes(f, &v, sizeof(v));
	return v;
}

static inline uint64_t fz_u64(struct fz *f)
{
	uint64_t v;

	fz_bytes(f, &v, sizeof(v));
	return v;
}

/* abort(), which libFuzzer reports with its input. */
#define fz_check(ok)                                                                            \
	do {                                                                                    \
		if (!(ok)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #ok); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/*
 * Forget the coverage so far, so that only the input's own counts. Called after the world, which is
 * the same for all inputs, is made.
 */
void fz_cover_from_here(void);

/* ---- prm.c: firmware commands */

#define FZ_CMD_MAX 0x400 /* bytes of a command */
#define FZ_IDS 32

/* Numbers of objects that commands may name: the initial ones, then new ones. */
struct fz_ids {
	uint32_t id[FZ_IDS];
	unsigned int n;
};
void fz_id_add(struct fz_ids *ids, uint32_t id);

enum {                  /* Bits of a command's first byte, of which a target may use more. */
       FZ_C_BODY = 1,   /* bytes follow: u16 length, bytes */
       FZ_C_INLEN = 2,  /* u16: number of bytes sent; otherwise the layout's size */
       FZ_C_OUTLEN = 4, /* u16: size of the answer's buffer; otherwise the layout's size */
       FZ_C_PATCHES = 0xf0,
};
struct fz_cmd {
	uint8_t flags;
	const struct fw_cmd *row; /* NULL: an opcode that the firmware does not have */
	uint8_t in[FZ_CMD_MAX];
	uint32_t inlen, outlen;
};
/* Read a command: opcode, then its body, then values for single fields of its layout. */
void fz_cmd_read(struct fz *f, const struct fz_ids *ids, struct fz_cmd *c);

/* Check a command's answer: a known status, a refusal of the table. */
void fz_answer_check(const uint8_t *out);
/* Check that a recount of references changes none. */
void fz_refs_check(struct seg *s, uint32_t hca);
/* Check that the open file owns no element of any table. */
void fz_owned_check(struct seg *s, uint32_t file);
/* Reset the next number of each table: every input gets the same numbers. */
struct fz_hints {
	uint32_t hint[64], high[64];
};
void fz_hints_save(struct seg *s, struct fz_hints *h);
void fz_hints_restore(struct seg *s, const struct fz_hints *h);

#endif
