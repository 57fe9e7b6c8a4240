/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Marks of mapped device memory: how long they last, and over which bytes. */
#include "hw/memic.h"
#include "segment/test.h"

#define LEN (2 * HW_MEMIC_PAGE)

static bool is_mapped(struct seg *s, uint32_t at)
{
	return hw_memic_mapped(s, hw_membank_at(s, 1, at), HW_MEMIC_PAGE);
}

static uint8_t *map(struct seg *s, uint32_t at)
{
	const uint8_t *bytes = hw_membank_at(s, 1, at);
	int fd = hw_memic_open(s, bytes, LEN);
	uint8_t *p;

	assert_true(fd >= 0);
	p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, bytes - s->base);
	assert_ptr_not_equal(p, MAP_FAILED);
	close(fd);
	return p;
}

static void a_mark_lasts_as_long_as_its_mappings(void **state)
{
	struct seg *s = *state;
	uint8_t *p = map(s, LEN), *again = map(s, LEN);

	hw_membank_at(s, 1, LEN)[5] = 7;
	assert_int_equal(p[5], 7);
	assert_false(is_mapped(s, HW_MEMIC_PAGE));
	assert_true(is_mapped(s, LEN));
	assert_true(is_mapped(s, LEN + HW_MEMIC_PAGE));
	assert_false(is_mapped(s, 2 * LEN));
	munmap(again, LEN);
	munmap(p, HW_MEMIC_PAGE); /* half of it */
	assert_true(is_mapped(s, LEN));
	munmap(p + HW_MEMIC_PAGE, HW_MEMIC_PAGE);
	assert_false(is_mapped(s, LEN));
}

static void inherits(struct seg *s, struct test_child *c, void *arg)
{
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
}

static void a_fork_child_keeps_it(void **state)
{
	struct seg *s = *state;
	uint8_t *p = map(s, 0);
	struct test_child c;

	test_spawn(s, &c, inherits, NULL);
	assert_true(test_wait(c.tell[0]));
	munmap(p, LEN);
	assert_true(is_mapped(s, 0));
	kill(c.pid, SIGKILL);
	test_reap(&c);
	assert_false(is_mapped(s, 0));
}

/* Else its bytes could get another owner. */
static void what_cannot_be_asked_counts_as_mapped(void **state)
{
	struct seg s = *(struct seg *)*state;

	assert_false(is_mapped(&s, 0));
	s.fd = -1;
	assert_true(is_mapped(&s, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_lasts_as_long_as_its_mappings),
		cmocka_unit_test(a_fork_child_keeps_it),
		cmocka_unit_test(what_cannot_be_asked_counts_as_mapped),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
