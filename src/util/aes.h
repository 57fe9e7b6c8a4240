/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * AES, its XTS mode (IEEE 1619), and its key wrap (RFC 3394). No memory is allocated and nothing
 * blocks, as the data path may run in a signal handler. The processor's AES instructions are used
 * if there are any, else tables: this device protects no secrets, so their timing does not matter.
 */
#ifndef SOFTHCA_UTIL_AES_H
#define SOFTHCA_UTIL_AES_H

#include <stdbool.h>
#include <stdint.h>

#define AES_BLOCK 16
#define AES_ROUNDS 14 /* the most, with 256 bits */

struct aes_key {
	uint32_t rounds;
	/* round keys of the cipher, and of its inverse in the order of their use */
	_Alignas(16) uint8_t enc[AES_ROUNDS + 1][AES_BLOCK];
	_Alignas(16) uint8_t dec[AES_ROUNDS + 1][AES_BLOCK];
};

/* Implementations; AES_BEST is what this processor does fastest. */
enum aes_how { AES_BEST, AES_TABLES };

/* `bytes` of the key: 16 or 32. */
void aes_set(struct aes_key *k, const uint8_t *key, uint32_t bytes);

struct xts_key {
	struct aes_key data, tweak;
};

/* `bytes` of each of the two keys, which follow each other. */
void xts_set(struct xts_key *k, const uint8_t *key, uint32_t bytes);
/*
 * Encrypt or decrypt a data unit in place: at least 16 bytes. `tweak` is its number, little-endian.
 */
void xts_crypt(const struct xts_key *k, const uint8_t tweak[AES_BLOCK], uint8_t *p, uint32_t n,
	       bool encrypt, enum aes_how how);

/*
 * Unwrap `n` bytes, a multiple of 8 and at least 24, to n - 8. False: they were not wrapped by this
 * key.
 */
#define AES_WRAP_MAX 128 /* bytes of the longest `n` */
bool aes_unwrap(const struct aes_key *kek, const uint8_t *in, uint32_t n, uint8_t *out);

#endif
