/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* AES, XTS and key wrap against published vectors, by instructions and by tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "util/aes.h"
#include "util/for_tests.h"

#define UNIT 520
#define LONGEST 4160

static const enum aes_how hows[] = {AES_BEST, AES_TABLES};

static uint32_t unhex(const char *s, uint8_t *b)
{
	uint32_t n = 0;
	unsigned int v;

	for (; sscanf(s, "%2x", &v) == 1; s += 2)
		b[n++] = (uint8_t)v;
	return n;
}

/* FIPS 197, appendices C.1 and C.3. */
static void the_examples_of_fips_197(void **state)
{
	static const char *const cipher[] = {"69c4e0d86a7b0430d8cdb78070b4c55a",
					     "8ea2b7ca516745bfeafc49904b496089"};
	uint8_t key[32], plain[16], b[16], want[16];
	struct aes_key k;

	(void)state;
	for (uint8_t i = 0; i < 32; i++)
		key[i] = i;
	unhex("00112233445566778899aabbccddeeff", plain);
	for (size_t h = 0; h < 2; h++)
		for (uint32_t i = 0; i < 2; i++) {
			aes_set(&k, key, 16 << i);
			unhex(cipher[i], want);
			memcpy(b, plain, 16);
			aes_encrypt(&k, b, hows[h]);
			assert_memory_equal(b, want, 16);
			aes_decrypt(&k, b, hows[h]);
			assert_memory_equal(b, plain, 16);
		}
}

/* The plaintext: `n` bytes that are all `first`, or that count up from 0. */
struct vector {
	const char *key, *tweak;
	uint32_t n;
	int first; /* -1: counts */
	const char *begins, *ends;
};

#define SHORT_KEYS "2718281828459045235360287471352631415926535897932384626433832795"
#define LONG_KEYS                                                          \
	"2718281828459045235360287471352662497757247093699959574966967627" \
	"3141592653589793238462643383279502884197169399375105820974944592"
#define STEALING "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0"

/* IEEE 1619-2007, annex B: vectors 1, 2, 4, 10, 15 to 18. The last two are of libcrypto. */
static const struct vector vectors[] = {
	{"0000000000000000000000000000000000000000000000000000000000000000", "00", 32, 0,
	 "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e", ""},
	{"1111111111111111111111111111111122222222222222222222222222222222", "3333333333", 32, 0x44,
	 "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0", ""},
	{SHORT_KEYS, "00", 512, -1,
	 "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c",
	 "eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568"},
	{LONG_KEYS, "ff", 512, -1,
	 "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b",
	 "773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151"},
	{STEALING, "9a78563412", 17, -1, "6c1625db4671522d3d7599601de7ca09ed", ""},
	{STEALING, "9a78563412", 18, -1, "d069444b7a7e0cab09e24447d24deb1fedbf", ""},
	{STEALING, "9a78563412", 19, -1, "e5df1351c0544ba1350b3363cd8ef4beedbf9d", ""},
	{STEALING, "9a78563412", 20, -1, "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac", ""},
	{LONG_KEYS, "05", UNIT, -1, "", "70d119598f951b2ed1c87354d7a7fec4c5f91649dfc5f164"},
	{SHORT_KEYS, "01", LONGEST, 0, "", "b8338c55e3fd7f5c4e8b8ef7487dc275"},
};

static void fill(const struct vector *v, uint8_t *b)
{
	for (uint32_t i = 0; i < v->n; i++)
		b[i] = (uint8_t)(v->first < 0 ? (i < 512 ? i : 0) : (uint32_t)v->first);
}

static void check(const struct vector *v, enum aes_how how)
{
	uint8_t key[64], tweak[16] = {0}, b[LONGEST], plain[LONGEST], want[LONGEST];
	struct xts_key k;
	uint32_t n;

	xts_set(&k, key, unhex(v->key, key) / 2);
	unhex(v->tweak, tweak);
	fill(v, plain);
	fill(v, b);
	xts_crypt(&k, tweak, b, v->n, true, how);
	n = unhex(v->begins, want);
	assert_memory_equal(b, want, n);
	n = unhex(v->ends, want);
	assert_memory_equal(b + v->n - n, want, n);
	xts_crypt(&k, tweak, b, v->n, false, how);
	assert_memory_equal(b, plain, v->n);
}

static void the_vectors_of_ieee_1619(void **state)
{
	(void)state;
	for (size_t h = 0; h < 2; h++)
		for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
			check(&vectors[i], hows[h]);
}

/* Every length: also those with blocks that do not fill a round of the wide loop. */
static void both_ways_agree(void **state)
{
	uint8_t key[64], tweak[16] = {0xff, 0xff, 7}, a[UNIT], b[UNIT];
	struct xts_key k;

	(void)state;
	xts_set(&k, key, unhex(LONG_KEYS, key) / 2);
	for (uint32_t n = 16; n <= 160; n++) {
		for (uint32_t i = 0; i < n; i++)
			a[i] = b[i] = (uint8_t)(i * 7 + n);
		xts_crypt(&k, tweak, a, n, true, AES_BEST);
		xts_crypt(&k, tweak, b, n, true, AES_TABLES);
		assert_memory_equal(a, b, n);
		xts_crypt(&k, tweak, a, n, false, AES_TABLES);
		xts_crypt(&k, tweak, b, n, false, AES_BEST);
		assert_memory_equal(a, b, n);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(a[i], (uint8_t)(i * 7 + n));
	}
}

/* RFC 3394, 4.1 and 4.6. */
static void wrapped_keys(void **state)
{
	static const char *const wrapped[] = {
		"1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5",
		"28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"};
	uint8_t kek[32], in[40], out[32], want[32];
	struct aes_key k;

	(void)state;
	unhex("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f", want);
	for (uint8_t i = 0; i < 32; i++)
		kek[i] = i;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n = unhex(wrapped[i], in);

		aes_set(&k, kek, 16 << i);
		assert_true(aes_unwrap(&k, in, n, out));
		assert_memory_equal(out, want, n - 8);
		in[n - 1] ^= 1;
		memset(out, 0x5a, sizeof(out));
		assert_false(aes_unwrap(&k, in, n, out));
		assert_int_equal(out[0], 0x5a);
		in[n - 1] ^= 1;
		assert_false(aes_unwrap(&k, in, n - 1, out));
		assert_false(aes_unwrap(&k, in, 16, out));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_fips_197),
		cmocka_unit_test(the_vectors_of_ieee_1619),
		cmocka_unit_test(both_ways_agree),
		cmocka_unit_test(wrapped_keys),
	};

	return cmocka_run_group_tests_name("aes", tests, NULL, NULL);
}
