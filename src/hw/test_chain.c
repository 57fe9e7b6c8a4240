/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains of bytes. */
#include "segment/test.h"
#include "hw/chain.h"

static uint8_t byte(uint32_t i)
{
	return (uint8_t)(i * 13 + i / 248);
}

static void fill(struct seg *s, struct seg_chain *c, uint32_t n, uint32_t step)
{
	uint8_t buf[1000];

	for (uint32_t at = c->len, k; at < n; at += k) {
		k = step < n - at ? step : n - at;
		for (uint32_t i = 0; i < k; i++)
			buf[i] = byte(at + i);
		assert_int_equal(chain_append(s, 7, c, buf, k), 0);
	}
	assert_int_equal(c->len, n);
}

static void check(struct seg *s, const struct seg_chain *c, uint32_t step)
{
	struct chain_pos pos = {c->head, 0};
	uint8_t buf[1000];

	for (uint32_t at = 0, k; at < c->len; at += k) {
		k = step < c->len - at ? step : c->len - at;
		assert_int_equal(chain_read(s, &pos, buf, k), 0);
		for (uint32_t i = 0; i < k; i++)
			assert_int_equal(buf[i], byte(at + i));
	}
}

static uint32_t live(struct seg *s)
{
	return seg_table(s, SEG_T_EVBUF)->live;
}

static void any_lengths(void **state)
{
	static const uint32_t steps[] = {1, 7, 200, 216, 247, 248, 249, 1000};
	static const uint32_t lens[] = {0, 1, 247, 248, 249, 496, 5000};
	struct seg *s = *state;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		for (size_t k = 0; k < sizeof(lens) / sizeof(lens[0]); k++) {
			struct seg_chain c = {0};

			fill(s, &c, lens[k], steps[i]);
			assert_int_equal(live(s), (lens[k] + 247) / 248);
			for (size_t n = 0; n < sizeof(steps) / sizeof(steps[0]); n++)
				check(s, &c, steps[n]);
			chain_free(s, &c);
			assert_int_equal(live(s), 0);
			assert_int_equal(c.len, 0);
		}
}

static void cut_and_go_on(void **state)
{
	static const struct {
		uint32_t len, to;
	} rows[] = {{1000, 1000}, {1000, 999}, {1000, 993}, {1000, 992}, {1000, 991},
		    {1000, 800},  {1000, 752}, {992, 744},  {248, 0},    {100, 0}};
	struct seg *s = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seg_chain c = {0};

		fill(s, &c, rows[i].len, 200);
		chain_cut(s, &c, rows[i].to);
		assert_int_equal(live(s), (rows[i].to + 247) / 248);
		fill(s, &c, 1500, 200);
		check(s, &c, 216);
		chain_free(s, &c);
		assert_int_equal(live(s), 0);
	}
}

static void places(void **state)
{
	struct seg *s = *state;
	struct seg_chain c = {0};
	struct chain_pos pos;
	uint8_t b;

	fill(s, &c, 1000, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(chain_seek(s, &c, i, &pos), 0);
		assert_int_equal(chain_read(s, &pos, &b, 1), 0);
		assert_int_equal(b, byte(i));
	}
	assert_int_equal(chain_seek(s, &c, 5000, &pos), -EIO);
	b = 0xee;
	chain_rewrite(s, &c, &b, 1);
	assert_int_equal(chain_seek(s, &c, 0, &pos), 0);
	assert_int_equal(chain_read(s, &pos, &b, 1), 0);
	assert_int_equal(b, 0xee);
	chain_free(s, &c);
	assert_int_equal(chain_read(s, &pos, &b, 1), -EIO);
	assert_true(chain_fits(s, 1000));
	assert_false(chain_fits(s, (size_t)1 << 40));
}

static void from_a_program(void **state)
{
	struct seg *s = *state;
	struct seg_chain c = {0};
	uint8_t buf[600];
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (uint32_t i = 0; i < sizeof(buf); i++)
		buf[i] = byte(i);
	assert_int_equal(chain_append_user(s, 7, &c, buf, sizeof(buf)), 0);
	check(s, &c, 100);
	assert_int_equal(chain_append_user(s, 7, &c, nowhere, 300), -EFAULT);
	chain_free(s, &c);
	assert_int_equal(live(s), 0);
	munmap(nowhere, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_lengths),
		cmocka_unit_test(cut_and_go_on),
		cmocka_unit_test(places),
		cmocka_unit_test(from_a_program),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
