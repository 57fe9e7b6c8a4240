/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outstanding sends: found among thousands, and all freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "fabric/fabric.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "umad/priv.h"
#include "umad/test.h"

#define MANY 10000u
#define NOBODY 0xbff0

static struct seg seg;
static uint32_t port;

static int setup(void **state)
{
	return umad_test_world(&seg, 1, &port);
}

static int teardown(void **state)
{
	seg_unmap(&seg);
	return 0;
}

static struct umad_file file(void)
{
	struct ib_user_mad_reg_req2 q = {
		.qpn = 0, .mgmt_class = MAD_CLASS_SUBN_LID, .mgmt_class_version = 1};
	struct umad_file f = {.s = &seg};
	struct seg_file *sf;

	assert_int_equal(seg_alloc(&seg, SEG_T_FILE, SEG_OWNER_DEVICE, &f.file), 0);
	sf = seg_file(&seg, f.file);
	f.gen = sf->gen;
	sf->hca = hw_port(&seg, port)->hca;
	sf->port = 1;
	sf->kind = SEG_FILE_UMAD;
	assert_int_equal(evq_open(&seg, f.file, 0), 0);
	assert_int_equal(umad_ioctl(&f, IB_USER_MAD_REGISTER_AGENT2, &q), 0);
	return f;
}

static ssize_t ask(const struct umad_file *f, uint16_t lid, uint32_t tid)
{
	struct {
		struct ib_user_mad_hdr hdr;
		uint8_t mad[MAD_SIZE];
	} p = {.hdr = {.timeout_ms = 3600 * 1000}};

	be16_store(&p.hdr.lid, lid);
	p.mad[0] = p.mad[2] = 1;
	p.mad[1] = MAD_CLASS_SUBN_LID;
	p.mad[3] = MAD_METHOD_GET;
	LAYOUT_SET(mad_hdr, p.mad, tid, tid);
	LAYOUT_SET(mad_hdr, p.mad, attr_id, 0x11);
	return umad_write(f, &p, sizeof(p));
}

static uint32_t chained(void)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < MAD_CHAINS; c++) {
		const struct mad_chain *ch = seg_at(&seg, SEG_T_MCHAIN, c);

		for (uint64_t ref = ch->head; ref; n++)
			ref = umad_send_at(&seg, ref)->next;
	}
	return n;
}

static uint32_t live(void)
{
	return seg_table(&seg, SEG_T_MSEND)->live;
}

static void gone(struct umad_file *f)
{
	umad_file_gone(&seg, f->file);
	evq_close(&seg, f->file);
	seg_free(&seg, SEG_T_FILE, f->file);
	assert_int_equal(live(), 0);
	assert_int_equal(chained(), 0);
}

static bool matched(uint32_t idx, const struct mad_agent *a, const struct umad_pkt *p)
{
	uint64_t send;
	bool found = umad_send_match(&seg, idx, a, p, &send);

	umad_send_done(&seg, send);
	return found;
}

static void what_is_answered_at_once_is_remembered_nowhere(void **state)
{
	struct umad_file f = file();
	uint32_t high = seg_table(&seg, SEG_T_MSEND)->high;

	for (uint32_t i = 0; i < 100; i++)
		assert_true(ask(&f, (uint16_t)hw_port(&seg, port)->lid, i) > 0);
	assert_int_equal(((struct seg_evq *)seg_at(&seg, SEG_T_EVQ, f.file))->count, 100);
	assert_int_equal(seg_table(&seg, SEG_T_MSEND)->high, high);
	gone(&f);
}

static void each_of_many_is_found(void **state)
{
	struct umad_file f = file(), other = file();
	const struct mad_agent *a;
	uint32_t idx;

	for (uint32_t i = 0; i < MANY; i++)
		assert_true(ask(&f, NOBODY, i) > 0);
	assert_int_equal(live(), MANY);
	assert_int_equal(chained(), MANY);
	for (uint32_t i = 0; i < MANY; i += 97) {
		assert_int_equal(ask(&f, NOBODY, i), -EINVAL);
		assert_true(ask(&other, NOBODY, i) > 0); /* another file has its own */
	}
	a = umad_agent_of(&f, 0, &idx);
	for (uint32_t i = 0; i < MANY; i++) {
		struct umad_pkt p = {.from = port, .slid = NOBODY};

		p.dlid = (uint16_t)hw_port(&seg, port)->lid;
		p.mad[1] = MAD_CLASS_SUBN_LID;
		p.mad[3] = MAD_METHOD_GET_RESP;
		LAYOUT_SET(mad_hdr, p.mad, tid, (uint64_t)mad_agent_tid(idx, a->gen) << 32 | i);
		assert_true(matched(idx, a, &p));
		assert_false(matched(idx, a, &p));
	}
	gone(&other);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(ask(&f, NOBODY, i) > 0);
	gone(&f);
}

/* ---- many threads in one chain */

#define THREADS 4
#define TURNS 5000

static struct crowd {
	struct umad_file f;
	uint32_t idx, gen;
	_Atomic uint32_t wrong;
} crowd;

static bool answered(uint32_t tid)
{
	const struct mad_agent *a = seg_at(&seg, SEG_T_AGENT, crowd.idx);
	struct umad_pkt p = {.from = port, .slid = NOBODY};

	p.dlid = (uint16_t)hw_port(&seg, port)->lid;
	p.mad[1] = MAD_CLASS_SUBN_LID;
	p.mad[3] = MAD_METHOD_GET_RESP;
	LAYOUT_SET(mad_hdr, p.mad, tid, (uint64_t)mad_agent_tid(crowd.idx, crowd.gen) << 32 | tid);
	return matched(crowd.idx, a, &p);
}

/* A thread that finds its own requests, and only these, as often as it has sent them. */
static void *one_of_the_crowd(void *arg)
{
	uint32_t base = (uint32_t)(uintptr_t)arg * 16;

	for (uint32_t i = 0; i < TURNS; i++) {
		uint32_t tid = MAD_CHAINS * (base + i % 16);

		crowd.wrong += ask(&crowd.f, NOBODY, tid) <= 0;
		crowd.wrong += ask(&crowd.f, NOBODY, tid) != -EINVAL;
		if (i % 3 == 1) /* some wait for a while */
			crowd.wrong += ask(&crowd.f, NOBODY, tid + MAD_CHAINS * 1000) <= 0;
		crowd.wrong += !answered(tid);
		crowd.wrong += answered(tid);
		if (i % 3 == 1)
			crowd.wrong += !answered(tid + MAD_CHAINS * 1000);
	}
	return NULL;
}

static void a_crowd_shares_a_chain(void **state)
{
	pthread_t t[THREADS];

	crowd.f = file();
	crowd.gen = umad_agent_of(&crowd.f, 0, &crowd.idx)->gen;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, one_of_the_crowd, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(crowd.wrong, 0);
	gone(&crowd.f);
}

/* If several threads write the same request at once, one succeeds. */
static void *writes_the_same(void *arg)
{
	uint32_t *mine = arg;

	for (uint32_t i = 0; i < TURNS; i++)
		*mine += ask(&crowd.f, NOBODY, i) > 0;
	return NULL;
}

static void one_of_two_duplicates_is_sent(void **state)
{
	uint32_t sent[THREADS] = {0}, all = 0;
	pthread_t t[THREADS];

	crowd.f = file();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, writes_the_same, &sent[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		all += sent[i];
	}
	assert_int_equal(all, live());
	assert_int_equal(all, TURNS);
	gone(&crowd.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_answered_at_once_is_remembered_nowhere),
		cmocka_unit_test(each_of_many_is_found),
		cmocka_unit_test(a_crowd_shares_a_chain),
		cmocka_unit_test(one_of_two_duplicates_is_sent),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
