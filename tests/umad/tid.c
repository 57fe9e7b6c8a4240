/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transaction IDs: a request's high half becomes its agent's number, an answer's stays unchanged:
 * ib_umad_write(), ib_response_mad(), ib_register_mad_agent() (hi_tid).
 */
#include "umad.h"

struct row {
	const char *name, *rule;
	uint8_t mgmt_class, method;
	uint32_t attr_mod;
	bool kept;
};
static const struct row rows[] = {
	{"Get", "ib_response_mad", VENDOR, GET},
	{"Set", "ib_response_mad", VENDOR, SET},
	{"Send", "ib_response_mad", VENDOR, SEND},
	{"Trap", "ib_response_mad", VENDOR, TRAP},
	{"method 0x7f", "ib_response_mad", VENDOR, 0x7f},
	{"a set bit of the attribute's modifier", "ib_response_mad: baseboard management only",
	 VENDOR, SEND, 1},
	{"baseboard management: a request", "ib_response_mad: IB_BM_ATTR_MOD_RESP", BM, SEND,
	 0xfffffffe},
	{"GetResp", "ib_response_mad: IB_MGMT_METHOD_RESP", VENDOR, GET_RESP, .kept = true},
	{"method 0x80", "ib_response_mad: IB_MGMT_METHOD_RESP", VENDOR, 0x80, .kept = true},
	{"method 0xff", "ib_response_mad: IB_MGMT_METHOD_RESP", VENDOR, 0xff, .kept = true},
	{"TrapRepress", "ib_response_mad: IB_MGMT_METHOD_TRAP_REPRESS", VENDOR, TRAP_REPRESS,
	 .kept = true},
	{"baseboard management: an answer", "ib_response_mad: IB_BM_ATTR_MOD_RESP", BM, SEND, 1,
	 .kept = true},
};

/* A time-out returns the bytes that were sent. */
static uint64_t sent_as(int fd, uint32_t id, const struct row *r, uint64_t tid)
{
	struct packet p = mad(1, 0xbfff, r->mgmt_class, r->method, 0x99, 0), in;

	p.hdr.id = id;
	p.hdr.timeout_ms = 1;
	put64(p.mad + 8, tid);
	put64(p.mad + 16, UINT64_C(0x99) << 48 | r->attr_mod);
	put(fd, &p);
	wait_readable(fd, HANGS);
	assert_int_equal(read(fd, &in, sizeof(in)), HDR + MAD_HDR);
	return get64(in.mad + 8);
}

static void replaced_or_kept(void **state)
{
	static const uint64_t tids[] = {0,
					1,
					UINT64_C(0x123456789abcdef0),
					UINT64_MAX,
					UINT64_C(0xffffffff00000000),
					UINT32_MAX};
	const struct row *r = *state;
	int fd = umad(0);
	uint64_t first = 0;

	agent(fd, 1, VENDOR, 0);
	for (size_t i = 0; i < sizeof(tids) / sizeof(tids[0]); i++) {
		uint64_t tid = sent_as(fd, 0, r, tids[i]);

		if (r->kept) {
			assert_int_equal(tid, tids[i]);
			continue;
		}
		assert_int_equal((uint32_t)tid, (uint32_t)tids[i]);
		assert_int_equal(tid >> 56, 0); /* XA_LIMIT(0, (1 << 24) - 1) */
		if (i)
			assert_int_equal(tid >> 32, first >> 32);
		first = tid;
	}
}

static const struct row get = {"", "", VENDOR, GET};

static uint32_t number(int fd, uint32_t id)
{
	return (uint32_t)(sent_as(fd, id, &get, 1) >> 32);
}

/* The numbers are unique over all files, ports and processes: ib_mad_clients is global. */
static void each_agent_has_its_own(void **state)
{
	int fd[4] = {umad(0), umad(0), umad(1), umad(1)};
	uint32_t n[16];

	for (uint32_t i = 0; i < 16; i++) {
		agent(fd[i / 4], 1, VENDOR, 0);
		n[i] = number(fd[i / 4], i % 4);
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(n[i], n[k]);
	}
}

/* xa_alloc_cyclic(): late answers find no agent */
static void a_number_is_not_used_again_soon(void **state)
{
	uint32_t n[32];
	int fd = umad(0);

	for (int i = 0; i < 32; i++) {
		assert_int_equal(agent(fd, 1, VENDOR, 0), 0);
		n[i] = number(fd, 0);
		assert_int_equal(unreg(fd, 0), 0);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(n[i], n[k]);
	}
}

/* The other side gets the same number, and its answer returns with it. */
static void at_the_other_end(void **state)
{
	struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, 3), in;
	int fd = umad(0), s = umad(1);

	agent(s, 1, VENDOR, 1 << GET);
	agent(fd, 1, VENDOR, 0);
	put64(p.mad + 8, UINT64_C(0xfedcba9876543210));
	p.hdr.timeout_ms = 1000;
	put(fd, &p);
	in = got(s);
	assert_int_equal((uint32_t)get64(in.mad + 8), 0x76543210);
	assert_int_not_equal(get64(in.mad + 8) >> 32, 0xfedcba98);
	in.mad[3] = GET_RESP;
	p = in;
	put(s, &in);
	assert_int_equal(get64(got(fd).mad + 8), get64(p.mad + 8));
}

int main(void)
{
	CASES(rows, replaced_or_kept);
	CASE(each_agent_has_its_own);
	CASE(a_number_is_not_used_again_soon);
	CASE(at_the_other_end);
	return run_cases("tid");
}
