/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * AES (FIPS 197), XTS (IEEE 1619) and key wrap (RFC 3394). Called by the engine for crypto keys and
 * by the firmware for keys that come wrapped. The decryption is FIPS 197's equivalent inverse
 * cipher, which the processor's instructions are made for.
 */
#include "util/aes.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

#include "util/bits.h"
#include "util/for_tests.h"

static const uint8_t sbox[256] = {
	0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab,
	0x76, 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4,
	0x72, 0xc0, 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71,
	0xd8, 0x31, 0x15, 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2,
	0xeb, 0x27, 0xb2, 0x75, 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6,
	0xb3, 0x29, 0xe3, 0x2f, 0x84, 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb,
	0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf, 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45,
	0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8, 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5,
	0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2, 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44,
	0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73, 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a,
	0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb, 0xe0, 0x32, 0x3a, 0x0a, 0x49,
	0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79, 0xe7, 0xc8, 0x37, 0x6d,
	0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08, 0xba, 0x78, 0x25,
	0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a, 0x70, 0x3e,
	0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e, 0xe1,
	0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
	0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb,
	0x16,
};

static const uint8_t inverse[256] = {
	0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7,
	0xfb, 0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde,
	0xe9, 0xcb, 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42,
	0xfa, 0xc3, 0x4e, 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49,
	0x6d, 0x8b, 0xd1, 0x25, 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c,
	0xcc, 0x5d, 0x65, 0xb6, 0x92, 0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15,
	0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84, 0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7,
	0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06, 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02,
	0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b, 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc,
	0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73, 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad,
	0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e, 0x47, 0xf1, 0x1a, 0x71, 0x1d,
	0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b, 0xfc, 0x56, 0x3e, 0x4b,
	0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4, 0x1f, 0xdd, 0xa8,
	0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f, 0x60, 0x51,
	0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef, 0xa0,
	0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61,
	0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c,
	0x7d,
};

static uint8_t twice(uint8_t v)
{
	return (uint8_t)(v << 1 ^ (v >> 7) * 0x1b);
}

static void mix(uint8_t b[AES_BLOCK])
{
	for (uint8_t *c = b; c < b + AES_BLOCK; c += 4) {
		uint8_t all = c[0] ^ c[1] ^ c[2] ^ c[3], first = c[0];

		for (int i = 0; i < 4; i++)
			c[i] ^= all ^ twice(c[i] ^ (i < 3 ? c[i + 1] : first));
	}
}

static void unmix(uint8_t b[AES_BLOCK])
{
	for (uint8_t *c = b; c < b + AES_BLOCK; c += 4) {
		uint8_t even = twice(twice(c[0] ^ c[2])), odd = twice(twice(c[1] ^ c[3]));

		c[0] ^= even;
		c[1] ^= odd;
		c[2] ^= even;
		c[3] ^= odd;
	}
	mix(b);
}

static void add(uint8_t *b, const uint8_t *k)
{
	for (int i = 0; i < AES_BLOCK; i++)
		b[i] ^= k[i];
}

/*
 * SubBytes and ShiftRows, or their inverses. `step`: row r of the block moves by r columns, left or
 * right.
 */
static void replace(uint8_t b[AES_BLOCK], const uint8_t *table, int step)
{
	uint8_t was[AES_BLOCK];

	memcpy(was, b, sizeof(was));
	for (int i = 0; i < AES_BLOCK; i++)
		b[i] = table[was[(i + step * 4 * (i % 4)) & 15]];
}

static void encrypt_table(const struct aes_key *k, uint8_t *b)
{
	add(b, k->enc[0]);
	for (uint32_t i = 1; i <= k->rounds; i++) {
		replace(b, sbox, 1);
		if (i < k->rounds)
			mix(b);
		add(b, k->enc[i]);
	}
}

static void decrypt_table(const struct aes_key *k, uint8_t *b)
{
	add(b, k->dec[0]);
	for (uint32_t i = 1; i <= k->rounds; i++) {
		replace(b, inverse, -1);
		if (i < k->rounds)
			unmix(b);
		add(b, k->dec[i]);
	}
}

void aes_set(struct aes_key *k, const uint8_t *key, uint32_t bytes)
{
	uint8_t *w = k->enc[0], rcon = 1;

	k->rounds = bytes / 4 + 6;
	memcpy(w, key, bytes);
	for (uint32_t i = bytes; i < (k->rounds + 1) * AES_BLOCK; i += 4) {
		uint8_t t[4];

		memcpy(t, w + i - 4, 4);
		if (i % bytes == 0) {
			uint8_t first = t[0];

			for (int j = 0; j < 3; j++)
				t[j] = sbox[t[j + 1]];
			t[3] = sbox[first];
			t[0] ^= rcon;
			rcon = twice(rcon);
		} else if (bytes == 32 && i % bytes == 16) {
			for (int j = 0; j < 4; j++)
				t[j] = sbox[t[j]];
		}
		for (int j = 0; j < 4; j++)
			w[i + (uint32_t)j] = w[i + (uint32_t)j - bytes] ^ t[j];
	}
	for (uint32_t i = 0; i <= k->rounds; i++) {
		memcpy(k->dec[i], k->enc[k->rounds - i], AES_BLOCK);
		if (i && i < k->rounds)
			unmix(k->dec[i]);
	}
}

static void next_tweak(uint8_t t[AES_BLOCK])
{
	uint64_t low, high, carry;

	memcpy(&low, t, 8);
	memcpy(&high, t + 8, 8);
	low = le64toh(low);
	high = le64toh(high);
	carry = high >> 63;
	high = htole64(high << 1 | low >> 63);
	low = htole64(low << 1 ^ carry * 0x87);
	memcpy(t, &low, 8);
	memcpy(t + 8, &high, 8);
}

#ifdef __x86_64__
#define WITH_AES __attribute__((target("aes,sse2")))
#define WIDE 4 /* work on so many blocks at once: an instruction's result takes several cycles */

/* Is there AES in leaf 1 of CPUID? Asked once, as the instruction is slow in a virtual machine. */
static bool has_aes(void)
{
	static _Atomic uint8_t known; /* 1 no, 2 yes */
	uint8_t v = atomic_load_explicit(&known, memory_order_relaxed);
	uint32_t a, b, c, d;

	if (!v) {
		v = __get_cpuid(1, &a, &b, &c, &d) && c & bit_AES ? 2 : 1;
		atomic_store_explicit(&known, v, memory_order_relaxed);
	}
	return v == 2;
}

WITH_AES static inline __m128i load(const void *p)
{
	return _mm_loadu_si128(p);
}

WITH_AES static inline void rounds_ni(const struct aes_key *k, __m128i v[WIDE], bool encrypt)
{
	const uint8_t(*keys)[AES_BLOCK] = encrypt ? k->enc : k->dec;
	__m128i rk = load(keys[0]);

	for (int j = 0; j < WIDE; j++)
		v[j] = _mm_xor_si128(v[j], rk);
	for (uint32_t i = 1; i < k->rounds; i++) {
		rk = load(keys[i]);
		for (int j = 0; j < WIDE; j++)
			v[j] = encrypt ? _mm_aesenc_si128(v[j], rk) : _mm_aesdec_si128(v[j], rk);
	}
	rk = load(keys[k->rounds]);
	for (int j = 0; j < WIDE; j++)
		v[j] = encrypt ? _mm_aesenclast_si128(v[j], rk) : _mm_aesdeclast_si128(v[j], rk);
}

WITH_AES static void block_ni(const struct aes_key *k, uint8_t *b, bool encrypt)
{
	__m128i v[WIDE];

	for (int j = 0; j < WIDE; j++)
		v[j] = load(b);
	rounds_ni(k, v, encrypt);
	_mm_storeu_si128((__m128i *)b, v[0]);
}

WITH_AES static void xts_blocks_ni(const struct aes_key *k, uint8_t *tweak, uint8_t *p,
				   uint32_t blocks, bool encrypt)
{
	for (uint32_t n; blocks; blocks -= n, p += n * AES_BLOCK) {
		__m128i v[WIDE], t[WIDE];

		n = blocks < WIDE ? blocks : WIDE;
		for (uint32_t j = 0; j < WIDE; j++) {
			t[j] = load(tweak);
			v[j] = j < n ? _mm_xor_si128(load(p + j * AES_BLOCK), t[j]) : t[j];
			if (j < n)
				next_tweak(tweak);
		}
		rounds_ni(k, v, encrypt);
		for (uint32_t j = 0; j < n; j++)
			_mm_storeu_si128((__m128i *)(p + j * AES_BLOCK), _mm_xor_si128(v[j], t[j]));
	}
}
#else
static bool has_aes(void)
{
	return false;
}

static void block_ni(const struct aes_key *k, uint8_t *b, bool encrypt)
{
}

static void xts_blocks_ni(const struct aes_key *k, uint8_t *tweak, uint8_t *p, uint32_t blocks,
			  bool encrypt)
{
}
#endif

void aes_encrypt(const struct aes_key *k, uint8_t block[AES_BLOCK], enum aes_how how)
{
	if (how == AES_BEST && has_aes())
		block_ni(k, block, true);
	else
		encrypt_table(k, block);
}

void aes_decrypt(const struct aes_key *k, uint8_t block[AES_BLOCK], enum aes_how how)
{
	if (how == AES_BEST && has_aes())
		block_ni(k, block, false);
	else
		decrypt_table(k, block);
}

static void xts_block(const struct aes_key *k, const uint8_t *tweak, uint8_t *p, bool encrypt,
		      enum aes_how how)
{
	add(p, tweak);
	if (encrypt)
		aes_encrypt(k, p, how);
	else
		aes_decrypt(k, p, how);
	add(p, tweak);
}

static void xts_blocks_table(const struct aes_key *k, uint8_t *tweak, uint8_t *p, uint32_t blocks,
			     bool encrypt)
{
	for (; blocks; blocks--, p += AES_BLOCK) {
		xts_block(k, tweak, p, encrypt, AES_TABLES);
		next_tweak(tweak);
	}
}

void xts_set(struct xts_key *k, const uint8_t *key, uint32_t bytes)
{
	aes_set(&k->data, key, bytes);
	aes_set(&k->tweak, key + bytes, bytes);
}

/* Ciphertext stealing: the last block is complete, and `rest` bytes follow it. */
static void steal(const struct aes_key *k, uint8_t *tweak, uint8_t *p, uint32_t rest, bool encrypt,
		  enum aes_how how)
{
	uint8_t after[AES_BLOCK], last[AES_BLOCK];

	memcpy(after, tweak, sizeof(after));
	next_tweak(after);
	xts_block(k, encrypt ? tweak : after, p, encrypt, how);
	memcpy(last, p + AES_BLOCK, rest);
	memcpy(last + rest, p + rest, AES_BLOCK - rest);
	memcpy(p + AES_BLOCK, p, rest);
	xts_block(k, encrypt ? after : tweak, last, encrypt, how);
	memcpy(p, last, sizeof(last));
}

void xts_crypt(const struct xts_key *k, const uint8_t tweak[AES_BLOCK], uint8_t *p, uint32_t n,
	       bool encrypt, enum aes_how how)
{
	uint32_t blocks = n / AES_BLOCK, rest = n % AES_BLOCK;
	uint8_t t[AES_BLOCK];

	memcpy(t, tweak, sizeof(t));
	aes_encrypt(&k->tweak, t, how);
	if (rest)
		blocks--;
	if (how == AES_BEST && has_aes())
		xts_blocks_ni(&k->data, t, p, blocks, encrypt);
	else
		xts_blocks_table(&k->data, t, p, blocks, encrypt);
	if (rest)
		steal(&k->data, t, p + blocks * AES_BLOCK, rest, encrypt, how);
}

bool aes_unwrap(const struct aes_key *kek, const uint8_t *in, uint32_t n, uint8_t *out)
{
	uint8_t b[AES_BLOCK], r[AES_WRAP_MAX];
	uint32_t parts = n / 8 - 1;
	bool good = true;

	if (n % 8 || n < 24 || n > sizeof(r))
		return false;
	memcpy(b, in, 8);
	memcpy(r, in + 8, n - 8);
	for (uint32_t t = 6 * parts; t; t--) {
		uint32_t i = (t - 1) % parts;

		memcpy(b + 8, r + i * 8, 8);
		be64_store(b, be64_load(b) ^ t);
		aes_decrypt(kek, b, AES_BEST);
		memcpy(r + i * 8, b + 8, 8);
	}
	for (int i = 0; i < 8; i++)
		good = good && b[i] == 0xa6;
	if (good)
		memcpy(out, r, n - 8);
	return good;
}
