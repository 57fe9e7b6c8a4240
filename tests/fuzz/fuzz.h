/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the fuzz targets. An input is a stream of bytes from which a target reads numbers: when
 * it is used up, everything is zero. Targets check what must hold whatever arrives (fz_check) and
 * put everything back at the end of an input, so that inputs do not depend on each other.
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

/* abort() is what libFuzzer reports with the input that led to it. */
#define fz_check(ok)                                                                            \
	do {                                                                                    \
		if (!(ok)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #ok); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/*
 * What an input has to do with: whatever ran before does not count as its coverage. After the
 * making of the world, which is the same for all.
 */
void fz_cover_from_here(void);

/* ---- prm.c: firmware commands */

#define FZ_CMD_MAX 0x400 /* bytes of a command */
#define FZ_IDS 32

/* Numbers of objects that commands may name: those there from the start, then what was made. */
struct fz_ids {
	uint32_t id[FZ_IDS];
	unsigned int n;
};
void fz_id_add(struct fz_ids *ids, uint32_t id);

enum {                  /* of a command's first byte, which a target may use more bits of */
       FZ_C_BODY = 1,   /* its bytes follow: u16 length, bytes */
       FZ_C_INLEN = 2,  /* u16: bytes that are sent; otherwise what its layout has */
       FZ_C_OUTLEN = 4, /* u16: room for the answer; otherwise what its layout has */
       FZ_C_PATCHES = 0xf0,
};
struct fz_cmd {
	uint8_t flags;
	const struct fw_cmd *row; /* NULL: an opcode that the firmware does not have */
	uint8_t in[FZ_CMD_MAX];
	uint32_t inlen, outlen;
};
/* A command: opcode, then its body, then values for single fields, by their layout. */
void fz_cmd_read(struct fz *f, const struct fz_ids *ids, struct fz_cmd *c);

/* Checks a command's answer: a known status, a refusal from the table. */
void fz_answer_check(const uint8_t *out);
/* All references of an HCA's objects are what counting them again finds. */
void fz_refs_check(struct seg *s, uint32_t hca);
/* Nothing is owned by that open file, in any table. */
void fz_owned_check(struct seg *s, uint32_t file);
/* Numbers are handed out again from where they were: one input after another gets the same. */
struct fz_hints {
	uint32_t hint[64], high[64];
};
void fz_hints_save(struct seg *s, struct fz_hints *h);
void fz_hints_restore(struct seg *s, const struct fz_hints *h);

#endif
