/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables: claiming, freeing, generations, scanning; creating the segment and refusing others. */
#include "segment/test.h"
#include "hw/pd.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "segment/table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void alloc_gives_zeroed_element_and_raises_gen(void **state)
{
	struct seg *s = *state;
	uint32_t a, gen;
	struct hw_qp *qp;

	assert_int_equal(seg_alloc(s, SEG_T_QP, 7, &a), 0);
	assert_int_equal(a, 0x40);
	qp = hw_qp(s, a);
	assert_int_equal(qp->gen, 1);
	gen = qp->gen;
	memset((uint8_t *)qp + 4, 0xa5, sizeof(*qp) - 4);
	assert_int_equal(seg_owner(s, SEG_T_QP, a), 7);
	seg_free(s, SEG_T_QP, a);
	seg_free(s, SEG_T_QP, a);
	assert_null(hw_qp(s, a));
	assert_int_equal(seg_table(s, SEG_T_QP)->live, 0);
	assert_int_equal(seg_alloc_at(s, SEG_T_QP, 8, a), 0);
	assert_int_equal(qp->gen, gen + 1);
	for (size_t i = 4; i < sizeof(*qp); i++)
		assert_int_equal(((uint8_t *)qp)[i], 0);
	seg_free(s, SEG_T_QP, a);
}

static void gen_is_never_zero(void **state)
{
	struct seg *s = *state;
	struct hw_pd *pd = seg_at(s, SEG_T_PD, 5);

	pd->gen = UINT32_MAX;
	assert_int_equal(seg_alloc_at(s, SEG_T_PD, 1, 5), 0);
	assert_int_equal(pd->gen, 1);
	seg_free(s, SEG_T_PD, 5);
}

static void indices_go_round(void **state)
{
	struct seg *s = *state;
	uint32_t a, b;

	assert_int_equal(seg_alloc(s, SEG_T_CQ, 1, &a), 0);
	seg_free(s, SEG_T_CQ, a);
	assert_int_equal(seg_alloc(s, SEG_T_CQ, 1, &b), 0);
	assert_int_equal(b, a + 1);
	seg_free(s, SEG_T_CQ, b);
	for (int i = 0; i < 100000; i++) {
		assert_int_equal(seg_alloc(s, SEG_T_CQ, 1, &b), 0);
		seg_free(s, SEG_T_CQ, b);
	}
	/* ... but not through the whole table while few elements are live */
	assert_true(seg_table(s, SEG_T_CQ)->high <= 16385);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(seg_alloc(s, SEG_T_PD, 1, &b), 0);
		seg_free(s, SEG_T_PD, b);
	}
	assert_true(seg_table(s, SEG_T_PD)->high <= 513);
}

static void alloc_at_checks_index_and_owner(void **state)
{
	struct seg *s = *state;
	const uint32_t end = seg_table(s, SEG_T_OBJ)->capacity;

	assert_int_equal(seg_alloc_at(s, SEG_T_OBJ, 1, 0), -EINVAL);
	assert_int_equal(seg_alloc_at(s, SEG_T_OBJ, 1, end), -EINVAL);
	assert_int_equal(seg_alloc_at(s, SEG_T_OBJ, 1, end - 1), 0);
	assert_int_equal(seg_alloc_at(s, SEG_T_OBJ, 1, end - 1), -EBUSY);
	assert_null(seg_at(s, SEG_T_OBJ, end));
	assert_int_equal(seg_owner(s, SEG_T_OBJ, UINT32_MAX), SEG_OWNER_FREE);
	seg_free(s, SEG_T_OBJ, end - 1);
	seg_free(s, SEG_T_OBJ, UINT32_MAX);
}

static void full_table_is_enospc_and_one_free_is_found(void **state)
{
	struct seg *s = *state;
	uint32_t cap = seg_table(s, SEG_T_HCA)->capacity, i;

	for (uint32_t n = 1; n < cap; n++)
		assert_int_equal(seg_alloc(s, SEG_T_HCA, SEG_OWNER_DEVICE, &i), 0);
	assert_int_equal(seg_alloc(s, SEG_T_HCA, SEG_OWNER_DEVICE, &i), -ENOSPC);
	seg_free(s, SEG_T_HCA, 1234);
	/* a process killed while freeing leaves a block counted as full */
	atomic_fetch_add((_Atomic uint32_t *)(s->base + seg_table(s, SEG_T_HCA)->used_off) + 1, 1);
	assert_int_equal(seg_alloc(s, SEG_T_HCA, SEG_OWNER_DEVICE, &i), 0);
	assert_int_equal(i, 1234);
}

static void scan_finds_owners_only(void **state)
{
	struct seg *s = *state;
	static const uint32_t at[] = {1, 1023, 1024, 5000, 2000000};
	uint32_t n = 0, any = 0;

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(seg_alloc_at(s, SEG_T_MKEY, i & 1 ? 3 : 4, at[i]), 0);
	seg_for_each_owned (s, SEG_T_MKEY, 4, i) {
		assert_true(n < 3);
		assert_int_equal(i, at[2 * n]);
		n++;
	}
	seg_for_each_live (s, SEG_T_MKEY, i)
		any++;
	assert_int_equal(n, 3);
	assert_int_equal(any, 5);
	assert_int_equal(seg_next(s, SEG_T_MKEY, 4, 2000001), SEG_NONE);
	for (size_t i = 0; i < 5; i++)
		seg_free(s, SEG_T_MKEY, at[i]);
}

#define ROUNDS 3000
#define HOLD 16

static void churn(struct seg *s, struct test_child *c, void *arg)
{
	uint32_t mine = (uint32_t)sys_getpid() & 0xffff, held[HOLD] = {0};

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t *h = &held[i % HOLD];
		struct hw_pd *pd;

		if (*h) {
			pd = hw_pd(s, *h);
			if (!pd || pd->uid != mine || seg_owner(s, SEG_T_PD, *h) != mine)
				_exit(1);
			seg_free(s, SEG_T_PD, *h);
		}
		if (seg_alloc(s, SEG_T_PD, mine, h))
			_exit(2);
		pd = hw_pd(s, *h);
		if (pd->uid || pd->hca)
			_exit(3);
		pd->uid = mine;
	}
	for (unsigned int i = 0; i < HOLD; i++)
		seg_free(s, SEG_T_PD, held[i]);
}

static void two_processes_never_share_an_element(void **state)
{
	struct seg *s = *state;
	struct test_child c[2];
	struct seg_table_hdr *h = seg_table(s, SEG_T_PD);

	for (int i = 0; i < 2; i++)
		test_spawn(s, &c[i], churn, NULL);
	for (int i = 0; i < 2; i++)
		assert_int_equal(test_reap(&c[i]), 0);
	assert_int_equal(h->live, 0);
	assert_int_equal(seg_next(s, SEG_T_PD, SEG_OWNER_ANY, 0), SEG_NONE);
}

/* The same while pages are given back between the uses. */
static void no_page_in_use_is_given_back(void **state)
{
	struct seg *s = *state;
	struct test_child c[2];

	for (int i = 0; i < 2; i++)
		test_spawn(s, &c[i], churn, NULL);
	for (int i = 0; i < 200; i++)
		seg_trim(s);
	for (int i = 0; i < 2; i++)
		assert_int_equal(test_reap(&c[i]), 0);
	assert_int_equal(seg_table(s, SEG_T_PD)->live, 0);
}

#define MANY 20000
#define KEPT 5000

static void unused_pages_come_back(void **state)
{
	struct seg *s = *state;
	static uint32_t idx[MANY];
	uint64_t before, after, live;
	struct hw_qp *kept;
	uint32_t gen;

	seg_trim(s);
	before = seg_bytes(s, &live);
	assert_int_equal(live, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(seg_alloc(s, SEG_T_QP, 7, &idx[i]), 0);
		((struct hw_qp *)seg_at(s, SEG_T_QP, idx[i]))->gen = 1000 + i;
	}
	kept = seg_at(s, SEG_T_QP, idx[KEPT]);
	memset((uint8_t *)kept + 4, 0xa5, sizeof(*kept) - 4);
	assert_true(seg_bytes(s, &live) >= before + MANY * sizeof(*kept));
	assert_int_equal(live, MANY * sizeof(*kept));
	for (uint32_t i = 0; i < MANY; i++)
		if (i != KEPT)
			seg_free(s, SEG_T_QP, idx[i]);
	seg_trim(s);
	after = seg_bytes(s, &live);
	assert_int_equal(live, sizeof(*kept));
	/* the owner words stay, and the pages around the one that is live */
	assert_true(after < before + MANY * 4 + 65536 + 64 * sizeof(*kept));
	assert_int_equal(kept->gen, 1000 + KEPT);
	for (size_t i = 4; i < sizeof(*kept); i++)
		assert_int_equal(((uint8_t *)kept)[i], 0xa5);
	/* A generation does not begin again. */
	assert_int_equal(seg_alloc_at(s, SEG_T_QP, 8, idx[1]), 0);
	gen = ((struct hw_qp *)seg_at(s, SEG_T_QP, idx[1]))->gen;
	assert_int_equal(gen, 1000 + MANY);
	seg_free(s, SEG_T_QP, idx[1]);
	seg_free(s, SEG_T_QP, idx[KEPT]);
}

static void die_claiming(struct seg *s, struct test_child *c, void *arg)
{
	/* the owner word of a claim whose process was killed */
	atomic_store(seg_owner_word(s, SEG_T_UAR, 9),
		     SEG_CLAIMING | (s->self_gen & 0xffff) << 14 | s->self);
	kill(getpid(), SIGKILL);
}

static void a_dead_claimers_element_comes_back(void **state)
{
	struct seg *s = *state;
	struct test_child c;

	test_spawn(s, &c, die_claiming, NULL);
	assert_true(WIFSIGNALED(test_reap(&c)));
	assert_null(seg_live(s, SEG_T_UAR, 9));
	assert_int_equal(seg_alloc_at(s, SEG_T_UAR, 5, 9), 0);
	seg_free(s, SEG_T_UAR, 9);
	/* a living process's claim is not taken over */
	atomic_store(seg_owner_word(s, SEG_T_UAR, 9),
		     SEG_CLAIMING | (s->self_gen & 0xffff) << 14 | s->self);
	assert_int_equal(seg_alloc_at(s, SEG_T_UAR, 5, 9), -EBUSY);
	atomic_store(seg_owner_word(s, SEG_T_UAR, 9), 0);
}

static void churn_for_ever(struct seg *s, struct test_child *c, void *arg)
{
	uint32_t i;

	test_tell(c->tell[1]);
	for (;;)
		if (!seg_alloc(s, SEG_T_SRQ, 77, &i))
			seg_free(s, SEG_T_SRQ, i);
}

/* After a kill at any instruction, live elements are complete, and none is lost for good. */
static void killed_at_any_instruction(void **state)
{
	struct seg *s = *state;
	struct seg_table_hdr *h = seg_table(s, SEG_T_SRQ);
	uint32_t n = 0, i;

	for (int round = 0; round < 60; round++) {
		struct timespec ts = {0, (round % 7) * 50000};
		struct test_child c;

		test_spawn(s, &c, churn_for_ever, NULL);
		assert_true(test_wait(c.tell[0]));
		nanosleep(&ts, NULL); /* killed here, at a random instruction */
		kill(c.pid, SIGKILL);
		test_reap(&c);
		seg_for_each_owned (s, SEG_T_SRQ, 77, k) {
			struct hw_srq *srq = hw_srq(s, k);

			assert_true(srq->gen && !srq->hca && !srq->mem.slot);
			seg_free(s, SEG_T_SRQ, k);
		}
	}
	assert_int_equal(seg_next(s, SEG_T_SRQ, SEG_OWNER_ANY, 0), SEG_NONE);
	while (!seg_alloc(s, SEG_T_SRQ, 5, &i))
		n++;
	assert_int_equal(n, h->capacity - 1);
}

/* Numbers from `base` on: the same elements, found, given back, and seen by another process. */
static void indices_may_begin_higher(void **state)
{
	const uint32_t base = 0xeff800;
	struct seg s, other;
	uint32_t a, b;

	assert_int_equal(seg_create(&s, "x"), 0);
	seg_shift(&s, SEG_T_QP, base);
	assert_int_equal(seg_alloc(&s, SEG_T_QP, 7, &a), 0);
	assert_int_equal(a, base + 0x40);
	assert_null(seg_at(&s, SEG_T_QP, base - 1));
	assert_int_equal(seg_owner(&s, SEG_T_QP, 0x40), SEG_OWNER_FREE);
	assert_int_equal(seg_alloc_at(&s, SEG_T_QP, 7, 0x40), -EINVAL);
	b = seg_table(&s, SEG_T_QP)->capacity - 1;
	assert_int_equal(seg_alloc_at(&s, SEG_T_QP, 7, b), 0);
	assert_null(seg_at(&s, SEG_T_QP, b + 1));
	assert_int_equal(seg_next(&s, SEG_T_QP, 7, 0), a);
	assert_int_equal(seg_next(&s, SEG_T_QP, 7, a + 1), b);
	hw_qp(&s, b)->gen = 1000;
	assert_int_equal(seg_map(&other, dup(s.fd)), 0);
	assert_int_equal(hw_qp(&other, b)->gen, 1000);
	seg_unmap(&other);
	seg_free(&s, SEG_T_QP, a);
	seg_trim(&s);
	assert_int_equal(hw_qp(&s, b)->gen, 1000);
	seg_free(&s, SEG_T_QP, b);
	seg_trim(&s);
	assert_int_equal(((struct hw_qp *)seg_at(&s, SEG_T_QP, b))->gen, 0);
	seg_unmap(&s);
}

static void map_refuses_what_is_no_segment(void **state)
{
	struct seg *s = *state, other;
	int fd = memfd_create("x", MFD_ALLOW_SEALING);
	uint32_t a;

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(seg_map(&other, fd), -EPROTO);
	assert_int_equal(fcntl(fd, F_GETFD), -1);

	assert_int_equal(seg_map(&other, dup(s->fd)), 0);
	assert_int_equal(seg_alloc(s, SEG_T_EQ, 1, &a), 0);
	assert_non_null(seg_live(&other, SEG_T_EQ, a));
	seg_unmap(&other);
	seg_unmap(&other);

	s->hdr->layout_version++;
	assert_int_equal(seg_map(&other, dup(s->fd)), -EPROTONOSUPPORT);
	s->hdr->layout_version--;
	s->hdr->table[SEG_T_QP].elem_size += 64;
	assert_int_equal(seg_map(&other, dup(s->fd)), -EPROTONOSUPPORT);
	s->hdr->table[SEG_T_QP].elem_size -= 64;
	/* the same bytes in a file that can shrink */
	fd = memfd_create("x", MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, (off_t)s->size), 0);
	assert_int_equal(write(fd, s->hdr, sizeof(*s->hdr)), sizeof(*s->hdr));
	assert_int_equal(seg_map(&other, fd), -EPROTO);
	/* sealed: nobody can remove pages from a mapping */
	assert_int_equal(ftruncate(s->fd, 4096), -1);
}

static uint64_t vm_size(void)
{
	uint64_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%" SCNu64, &pages), 1);
	fclose(f);
	return pages * 4096;
}

/* The address space that each process needs, as doc/SUPPORT.md 1 states. */
static void the_address_space_is_what_the_documents_say(void **state)
{
	const uint64_t documented = UINT64_C(5950) << 20, tolerance = UINT64_C(100) << 20;
	uint64_t before = vm_size(), grown;
	struct seg s;

	assert_int_equal(seg_create(&s, "x"), 0);
	grown = vm_size() - before;
	seg_unmap(&s);
	assert_uint_in_range(grown, documented - tolerance, documented + tolerance);
}

static void limits_are_errors_not_signals(void **state)
{
	struct rlimit old, low;
	struct seg s;

	getrlimit(RLIMIT_FSIZE, &old);
	low = (struct rlimit){1 << 20, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &low);
	assert_int_equal(seg_create(&s, "x"), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	getrlimit(RLIMIT_AS, &old);
	low = (struct rlimit){UINT64_C(1) << 30, old.rlim_max};
	setrlimit(RLIMIT_AS, &low);
	assert_int_equal(seg_create(&s, "x"), -ENOMEM);
	setrlimit(RLIMIT_AS, &old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alloc_gives_zeroed_element_and_raises_gen),
		cmocka_unit_test(gen_is_never_zero),
		cmocka_unit_test(indices_go_round),
		cmocka_unit_test(alloc_at_checks_index_and_owner),
		cmocka_unit_test(full_table_is_enospc_and_one_free_is_found),
		cmocka_unit_test(scan_finds_owners_only),
		cmocka_unit_test(two_processes_never_share_an_element),
		cmocka_unit_test(no_page_in_use_is_given_back),
		cmocka_unit_test(unused_pages_come_back),
		cmocka_unit_test(a_dead_claimers_element_comes_back),
		cmocka_unit_test(killed_at_any_instruction),
		cmocka_unit_test(indices_may_begin_higher),
		cmocka_unit_test(map_refuses_what_is_no_segment),
		cmocka_unit_test(the_address_space_is_what_the_documents_say),
		cmocka_unit_test(limits_are_errors_not_signals),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
