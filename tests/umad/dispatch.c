/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The receiver of a MAD: first the adapter, then agents; requests by version, class, method and
 * OUI, answers by transaction ID and only if a request waits: ib_mad_recv_done(), find_mad_agent(),
 * ib_mad_complete_recv(). The client is at umad0, the server at umad1.
 */
#include "umad.h"

/* ---- requests: a row per rule */

enum fate {
	GIVEN,    /* the server's program gets it */
	REFUSED,  /* status 0x000c: generate_unmatched_resp() */
	ANSWERED, /* the adapter answers it */
	DROPPED,
};

struct row {
	const char *name, *rule;
	enum fate fate;
	struct reg server;
	uint8_t mgmt_class, version, method;
	uint16_t attr;
	uint32_t oui;
	uint32_t attr_mod;
	uint8_t base_version; /* 0 stands for 1 */
};

#define ON(c, v, m, ...)                                                               \
	{                                                                              \
		.qpn = (c) != SMI && (c) != SMI_DR, .mgmt_class = (c), .version = (v), \
		.methods = {(m)}, __VA_ARGS__                                          \
	}
#define M(method) (UINT64_C(1) << (method))
static const struct row rows[] = {
	{"Get", "method->agent[]", GIVEN, ON(VENDOR, 1, M(GET)), VENDOR, 1, GET},
	{"Set", "method->agent[]", GIVEN, ON(VENDOR, 1, M(SET)), VENDOR, 1, SET},
	{"Send", "method->agent[]", GIVEN, ON(VENDOR, 1, M(SEND)), VENDOR, 1, SEND},
	{"Trap", "method->agent[]", GIVEN, ON(VENDOR, 1, M(TRAP)), VENDOR, 1, TRAP},
	{"Report", "method->agent[]", GIVEN, ON(VENDOR, 1, M(REPORT)), VENDOR, 1, REPORT},
	{"method 0", "method->agent[]", GIVEN, ON(VENDOR, 1, M(0)), VENDOR, 1, 0},
	{"method 63", "method->agent[]", GIVEN, ON(VENDOR, 1, M(63)), VENDOR, 1, 63},
	{"method 64",
	 "method->agent[]",
	 GIVEN,
	 {.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {0, 1}},
	 VENDOR,
	 1,
	 64},
	{"method 127",
	 "method->agent[]",
	 GIVEN,
	 {.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {0, M(63)}},
	 VENDOR,
	 1,
	 127},
	{"one of several methods", "method->agent[]", GIVEN, ON(VENDOR, 1, M(GET) | M(SET)), VENDOR,
	 1, SET},
	{"any attribute", "nobody looks at it", GIVEN, ON(VENDOR, 1, M(GET)), VENDOR, 1, GET,
	 0xffff},
	{"another version", "port_priv->version[]", GIVEN, ON(VENDOR, 7, M(GET)), VENDOR, 7, GET},
	{"version 0", "port_priv->version[]", GIVEN, ON(VENDOR, 0, M(GET)), VENDOR, 0, GET},
	{"the highest version", "MAX_MGMT_VERSION", GIVEN, ON(VENDOR, 0x82, M(GET)), VENDOR, 0x82,
	 GET},

	{"Get of a class of nobody", "generate_unmatched_resp", REFUSED, ON(VENDOR, 1, M(GET)),
	 VENDOR + 1, 1, GET},
	{"Set of a class of nobody", "generate_unmatched_resp", REFUSED, ON(VENDOR, 1, M(SET)),
	 VENDOR + 1, 1, SET},
	{"Get, where Set is registered", "generate_unmatched_resp", REFUSED, ON(VENDOR, 1, M(SET)),
	 VENDOR, 1, GET},
	{"Get, where no method is registered", "generate_unmatched_resp", REFUSED, ON(VENDOR, 1, 0),
	 VENDOR, 1, GET},
	{"Get of a version of nobody", "generate_unmatched_resp", REFUSED, ON(VENDOR, 1, M(GET)),
	 VENDOR, 2, GET},
	{"Get of a version too high", "MAX_MGMT_VERSION", REFUSED, ON(VENDOR, 1, M(GET)), VENDOR,
	 0x83, GET},
	{"Get of version 255", "MAX_MGMT_VERSION", REFUSED, ON(VENDOR, 1, M(GET)), VENDOR, 0xff,
	 GET},
	{"Get of class 80", "ARRAY_SIZE(class->method_table)", REFUSED, ON(VENDOR, 1, M(GET)), 80,
	 1, GET},
	{"Get of class 0x82", "ARRAY_SIZE(class->method_table)", REFUSED, ON(VENDOR, 1, M(GET)),
	 0x82, 1, GET},
	{"Get of class 255", "ARRAY_SIZE(class->method_table)", REFUSED, ON(VENDOR, 1, M(GET)),
	 0xff, 1, GET},
	{"Send of nobody", "generate_unmatched_resp: Get and Set only", DROPPED,
	 ON(VENDOR, 1, M(GET)), VENDOR, 1, SEND},
	{"Trap of nobody", "generate_unmatched_resp: Get and Set only", DROPPED,
	 ON(VENDOR, 1, M(GET)), VENDOR, 1, TRAP},
	{"method 127 of nobody", "generate_unmatched_resp: Get and Set only", DROPPED,
	 ON(VENDOR, 1, M(GET)), VENDOR, 1, 127},

	{"an OUI", "find_vendor_oui", GIVEN, ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1, GET, 0,
	 OUI},
	{"an OUI of 24 bits", "find_vendor_oui", GIVEN, ON(0x4f, 1, M(SEND), .oui = 0xfedcba), 0x4f,
	 1, SEND, 0, 0xfedcba},
	{"a byte before the OUI", "struct ib_vendor_mad: reserved", GIVEN,
	 ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1, GET, 0, 0xff000000 | OUI},
	{"another OUI", "find_vendor_oui", REFUSED, ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1,
	 GET, 0, OUI + 1},
	{"no OUI", "find_vendor_oui: an empty place", REFUSED, ON(VENDOR2, 1, M(GET), .oui = OUI),
	 VENDOR2, 1, GET},
	{"the OUI of another class", "vendor_class_index", REFUSED,
	 ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2 + 1, 1, GET, 0, OUI},
	{"the OUI in another version", "port_priv->version[]", REFUSED,
	 ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 2, GET, 0, OUI},
	{"Send with another OUI", "find_vendor_oui", DROPPED, ON(VENDOR2, 1, M(SEND), .oui = OUI),
	 VENDOR2, 1, SEND, 0, OUI + 1},

	{"class 0 is directed SMPs' place", "convert_mgmt_class", GIVEN, ON(SMI_DR, 1, M(GET)), 0,
	 1, GET},
	{"class 0, and no agent for directed SMPs", "convert_mgmt_class", REFUSED,
	 ON(SMI, 1, M(GET)), 0, 1, GET},
	{"class 0 of an agent without class",
	 "reg_req == NULL",
	 REFUSED,
	 {.qpn = 1, .methods = {M(GET)}},
	 0,
	 0,
	 GET},

	{"an answer that a server has the method of", "ib_response_mad: by transaction ID", DROPPED,
	 ON(VENDOR, 1, M(GET)), VENDOR, 1, GET_RESP},
	{"TrapRepress is an answer", "ib_response_mad", DROPPED, ON(VENDOR, 1, M(TRAP_REPRESS)),
	 VENDOR, 1, TRAP_REPRESS},
	{"baseboard management: a request", "ib_response_mad: IB_BM_ATTR_MOD_RESP", GIVEN,
	 ON(BM, 1, M(SEND)), BM, 1, SEND, 1, 0, 0xfffffffe},
	{"baseboard management: an answer", "ib_response_mad: IB_BM_ATTR_MOD_RESP", DROPPED,
	 ON(BM, 1, M(SEND)), BM, 1, SEND, 1, 0, 1},
	{"that bit in another class", "ib_response_mad", GIVEN, ON(VENDOR, 1, M(SEND)), VENDOR, 1,
	 SEND, 1, 0, 1},

	{"base version 2", "validate_mad", DROPPED, ON(VENDOR, 1, M(GET)), VENDOR, 1, GET, 0, 0, 0,
	 2},
	{"base version 0x80, OPA's", "validate_mad", DROPPED, ON(VENDOR, 1, M(GET)), VENDOR, 1, GET,
	 0, 0, 0, 0x80},
	{"CM: Send", "validate_mad", GIVEN, ON(CM, 2, M(SEND)), CM, 2, SEND, 0x10},
	{"CM: Get(ClassPortInfo)", "validate_mad", GIVEN, ON(CM, 2, M(GET)), CM, 2, GET, 1},
	{"CM: Get(ClassPortInfo) of nobody", "generate_unmatched_resp", REFUSED, ON(CM, 2, M(SEND)),
	 CM, 2, GET, 1},
	{"CM: Get of another attribute", "validate_mad", DROPPED, ON(CM, 2, M(GET)), CM, 2, GET,
	 0x10},
	{"CM: Set of another attribute", "validate_mad", DROPPED, ON(CM, 2, M(SET)), CM, 2, SET,
	 0x10},

	/* mlx5_ib_process_mad() in mlx5/mad.c */
	{"the SMA's Get", "process_mad: REPLY", ANSWERED, ON(SMI, 1, M(GET)), SMI, 1, GET, 0x11},
	{"the SMA's Get of what it has not", "process_mad: REPLY", ANSWERED, ON(SMI, 1, M(GET)),
	 SMI, 1, GET, 0xff},
	{"Get(SMInfo)", "process_mad: IB_SMP_ATTR_SM_INFO", GIVEN, ON(SMI, 1, M(GET)), SMI, 1, GET,
	 0x20},
	{"Set(SMInfo)", "process_mad: IB_SMP_ATTR_SM_INFO", GIVEN, ON(SMI, 1, M(SET)), SMI, 1, SET,
	 0x20},
	{"Get(SMInfo) of nobody", "generate_unmatched_resp", REFUSED, ON(SMI, 1, M(SET)), SMI, 1,
	 GET, 0x20},
	{"Get(SMInfo) of a version of nobody", "generate_unmatched_resp", REFUSED,
	 ON(SMI, 1, M(GET)), SMI, 2, GET, 0x20},
	{"the subnet's Trap", "process_mad: Get, Set and TrapRepress only", GIVEN,
	 ON(SMI, 1, M(TRAP)), SMI, 1, TRAP, 2},
	{"the subnet's Trap of nobody", "process_mad", DROPPED, ON(SMI, 1, M(GET)), SMI, 1, TRAP,
	 2},
	{"the subnet's Send", "process_mad", GIVEN, ON(SMI, 1, M(SEND)), SMI, 1, SEND, 0x11},
	{"the subnet's TrapRepress", "process_mad: CONSUMED", DROPPED, ON(SMI, 1, M(TRAP_REPRESS)),
	 SMI, 1, TRAP_REPRESS, 2},
	{"the PMA's Get", "process_mad: process_pma_cmd", ANSWERED, ON(PERF, 1, M(GET)), PERF, 1,
	 GET, 0x12},
	{"the PMA's Set", "process_mad: mlx5_MAD_IFC", ANSWERED, ON(PERF, 1, M(SET)), PERF, 1, SET,
	 0x12},
	{"performance management's Send", "process_mad: Get and Set only", GIVEN,
	 ON(PERF, 1, M(SEND)), PERF, 1, SEND, 0x12},
	{"the adapter's class 9", "process_mad: MLX5_IB_VENDOR_CLASS1", ANSWERED,
	 ON(0x09, 1, M(GET)), 0x09, 1, GET, 1},
	{"the adapter's class 10", "process_mad: MLX5_IB_VENDOR_CLASS2", ANSWERED,
	 ON(0x0a, 1, M(SET)), 0x0a, 1, SET, 1},
	{"class 10: Send", "process_mad: Get and Set only", GIVEN, ON(0x0a, 1, M(SEND)), 0x0a, 1,
	 SEND, 1},
	{"the adapter's congestion control", "process_mad: IB_MGMT_CLASS_CONG_MGMT", ANSWERED,
	 ON(0x21, 2, M(GET)), 0x21, 2, GET, 1},
	{"class 8 is not the adapter's", "process_mad: default", GIVEN, ON(0x08, 1, M(GET)), 0x08,
	 1, GET, 1},
	{"class 11 is not the adapter's", "process_mad: default", GIVEN, ON(0x0b, 1, M(GET)), 0x0b,
	 1, GET, 1},
	{"SA is not the adapter's", "process_mad: default", GIVEN, ON(SA, 2, M(GET)), SA, 2, GET,
	 0x35},
};

static struct packet request(const struct row *r, uint16_t lid)
{
	bool smi = r->mgmt_class == SMI;
	struct packet p = mad(!smi, lid, r->mgmt_class, r->method, r->attr, 7);

	p.mad[0] = r->base_version ? r->base_version : 1;
	p.mad[2] = r->version;
	put64(p.mad + 16, (uint64_t)r->attr << 48 | r->attr_mod);
	for (int i = 64; i < MAD; i++)
		p.mad[i] = (uint8_t)i;
	p.mad[36] = (uint8_t)(r->oui >> 24);
	p.mad[37] = (uint8_t)(r->oui >> 16);
	put16(p.mad + 38, (uint16_t)r->oui);
	if (smi)
		memset(p.mad + 24, 0, 40);
	return p;
}

static void dispatched(void **state)
{
	const struct row *r = *state;
	struct packet p = request(r, lid_of(1)), in;
	int fd = umad(0), s = umad(1), stranger = umad(1), here = umad(0);

	assert_int_equal(reg2(s, &r->server), 0);
	/* An agent at the sender's own port, and one without a class: neither gets it. */
	assert_int_equal(reg2(here, &r->server), 0);
	agent(stranger, 1, 0, UINT64_MAX);
	agent(fd, r->mgmt_class != SMI, r->mgmt_class == SMI ? SMI : 0, 0);
	p.hdr.timeout_ms = 5;
	put(fd, &p);
	if (r->fate == GIVEN) {
		in = got(s);
		assert_memory_equal(in.mad, p.mad, 8);
		assert_memory_equal(in.mad + 12, p.mad + 12, MAD - 12);
		assert_int_equal(in.hdr.lid, htons(lid_of(0)));
	}
	nothing(s);
	nothing(here);
	nothing(stranger);
	if (r->fate == GIVEN || r->fate == DROPPED) {
		timed_out(fd, &p);
		return;
	}
	in = got(fd);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_int_equal(in.mad[1], p.mad[1]);
	assert_memory_equal(in.mad + 12, p.mad + 12, 12);
	if (r->fate == REFUSED) { /* otherwise unchanged */
		assert_int_equal(get16(in.mad + 4), BAD_ATTR);
		assert_memory_equal(in.mad + 24, p.mad + 24, MAD - 24);
	}
}

/* The same among agents of one port, at which there is no subnet administration. */
static void dispatched_at_home(void **state)
{
	const struct row *r = *state;
	struct packet p = request(r, lid_of(1));
	int fd = umad(1), s = umad(1);

	assert_int_equal(reg2(s, &r->server), 0);
	agent(fd, r->mgmt_class != SMI, r->mgmt_class == SMI ? SMI : 0, 0);
	p.hdr.timeout_ms = 1;
	put(fd, &p);
	if (r->fate == GIVEN)
		got(s);
	nothing(s);
	if (r->fate == GIVEN || r->fate == DROPPED)
		timed_out(fd, &p);
	else
		got(fd);
}

/* ---- servers one after another, and side by side */

static struct packet sent(int fd, uint8_t mgmt_class, uint8_t method, uint32_t oui)
{
	struct packet p = mad(1, lid_of(1), mgmt_class, method, 0x99, 3);

	put16(p.mad + 38, (uint16_t)oui);
	p.hdr.timeout_ms = HANGS;
	put(fd, &p);
	return p;
}

static void answer(int s, int fd)
{
	struct packet in = got(s);

	in.mad[3] = GET_RESP;
	put(s, &in);
	in = got(fd);
	assert_int_equal(get16(in.mad + 4), 0);
}

/* remove_mad_reg_req(): the next server gets the request, and no registration is refused. */
static void servers_that_come_and_go(void **state)
{
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	for (int i = 0; i < 20; i++) {
		int s = umad(1), id = agent(s, 1, VENDOR, M(GET));

		for (int k = 0; k < 3; k++) {
			sent(fd, VENDOR, GET, 0);
			answer(s, fd);
		}
		if (i % 2)
			assert_int_equal(unreg(s, (uint32_t)id), 0);
		else
			umad_close(s);
		sent(fd, VENDOR, GET, 0);
		assert_int_equal(get16(got(fd).mad + 4), BAD_ATTR);
	}
}

static void servers_side_by_side(void **state)
{
	const struct reg servers[] = {
		ON(VENDOR, 1, M(GET)),
		ON(VENDOR, 1, M(SET)),
		ON(VENDOR + 1, 1, M(GET)),
		ON(VENDOR2, 1, M(GET), .oui = 1),
		ON(VENDOR2, 1, M(GET), .oui = 2),
	};
	int fd = umad(0), s[5];

	agent(fd, 1, VENDOR, 0);
	for (int i = 0; i < 5; i++) {
		s[i] = umad(1);
		assert_int_equal(reg2(s[i], &servers[i]), 0);
	}
	for (int k = 0; k < 50; k++) {
		int i = k * 3 % 5;

		sent(fd, servers[i].mgmt_class, servers[i].methods[0] == M(GET) ? GET : SET,
		     servers[i].oui);
		answer(s[i], fd);
	}
}

/* ---- answers: the server's changes to its answer */

struct change {
	const char *name, *rule;
	bool given;
	uint8_t at, flip; /* flips bits of one byte of the answer */
	uint8_t grh;      /* a GRH: 1 in the request, 2 in the answer */
	uint8_t req_class;
};
static const struct change answers[] = {
	{"the right answer", "ib_find_send_mad", true},
	{"another class version", "ib_find_send_mad: not looked at", true, 2, 2},
	{"another method with the answer's bit", "ib_response_mad", true, 3, 0x7f},
	{"a method without the answer's bit", "ib_response_mad: a request of nobody", false, 3,
	 0x82},
	{"a status", "nobody looks at it", true, 5, 0xff},
	{"another attribute", "ib_find_send_mad: not looked at", true, 17, 0xff},
	{"another class", "rcv_has_same_class", false, 1, 0x10},
	{"the highest bit of the transaction ID", "xa_load(&ib_mad_clients)", false, 8, 0x80},
	{"the transaction ID's agent", "xa_load(&ib_mad_clients)", false, 11, 1},
	{"the first byte of the transaction ID's low half", "ib_find_send_mad: tid", false, 12, 1},
	{"the last byte of the transaction ID", "ib_find_send_mad: tid", false, 15, 1},
	{"a GRH each", "rcv_has_same_gid", true, 0, 0, 3},
	{"a GRH in the request only", "rcv_has_same_gid", false, 0, 0, 1},
	{"a GRH in the answer only", "rcv_has_same_gid", false, 0, 0, 2},
	{"base version", "validate_mad", false, 0, 3},
};

struct talk {
	int client, server;
	struct packet request, answer;
};

/* A request has come to the server, and its right answer is ready. */
static struct talk begun(int timeout_ms, bool grh)
{
	struct talk t = {.client = umad(0), .server = umad(1)};

	agent(t.client, 1, VENDOR, 0);
	agent(t.server, 1, VENDOR, M(GET));
	t.request = mad(1, lid_of(1), VENDOR, GET, 0x99, 3);
	t.request.hdr.timeout_ms = (uint32_t)timeout_ms;
	t.request.hdr.grh_present = grh;
	gid_of(1, t.request.hdr.gid);
	put(t.client, &t.request);
	t.answer = got(t.server);
	t.answer.hdr.grh_present = 0;
	t.answer.mad[3] = GET_RESP;
	for (int i = 24; i < MAD; i++)
		t.answer.mad[i] = (uint8_t)(i + 1);
	return t;
}

static void answered(void **state)
{
	const struct change *r = *state;
	struct talk t = begun(r->given ? HANGS : 60, r->grh & 1);
	struct packet in;

	t.answer.mad[r->at] ^= r->flip;
	if (r->grh & 2) {
		t.answer.hdr.grh_present = 1;
		gid_of(0, t.answer.hdr.gid);
	}
	put(t.server, &t.answer);
	if (!r->given) {
		nothing(t.client);
		timed_out(t.client, &t.request);
		return;
	}
	in = got(t.client);
	assert_memory_equal(in.mad, t.answer.mad, MAD); /* including the transaction ID */
	assert_int_equal(in.hdr.lid, htons(lid_of(1)));
	nothing(t.client);
	/* ib_mark_mad_done(): a request is answered once. */
	put(t.server, &t.answer);
	nothing(t.client);
}

/* rcv_has_same_gid(): the sender's LID in an answer is not checked. */
static void from_somebody_else(void **state)
{
	struct talk t = begun(HANGS, false);
	int other = umad(0);

	agent(other, 1, VENDOR, 0);
	put(other, &t.answer);
	assert_int_equal(got(t.client).hdr.lid, htons(lid_of(0)));
}

/* find_mad_agent(): found by number, at any port of the host */
static void to_another_port_of_the_host(void **state)
{
	struct talk t = begun(HANGS, false);

	t.answer.hdr.lid = htons(lid_of(1));
	put(t.server, &t.answer);
	assert_int_equal(got(t.client).hdr.lid, htons(lid_of(1)));
}

static void too_late(void **state)
{
	struct talk t = begun(1, false);

	timed_out(t.client, &t.request);
	put(t.server, &t.answer);
	nothing(t.client);
}

/* ib_find_send_mad(): wr->timeout */
static void that_nobody_waits_for(void **state)
{
	struct talk t = begun(0, false);

	put(t.server, &t.answer);
	nothing(t.client);
	poll(NULL, 0, 5); /* there is no answer, however long the wait */
	nothing(t.client);
}

/* unregister_mad_agent(): xa_erase(); ib_register_mad_agent(): xa_alloc_cyclic() */
static void to_an_agent_that_is_gone(void **state)
{
	struct talk t = begun(HANGS, false);

	assert_int_equal(unreg(t.client, 0), 0);
	put(t.server, &t.answer);
	nothing(t.client);
	assert_int_equal(agent(t.client, 1, VENDOR, 0), 0);
	put(t.server, &t.answer);
	nothing(t.client);
}

static void to_a_file_that_is_closed(void **state)
{
	struct talk t = begun(HANGS, false);
	int fd;

	umad_close(t.client);
	fd = umad(0);
	agent(fd, 1, VENDOR, 0);
	put(t.server, &t.answer);
	nothing(fd);
}

/* Two agents of one file send the same transaction ID: each gets its own answer. */
static void each_agent_its_own(void **state)
{
	int fd = umad(0), s = umad(1);
	struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, 3), in[2];

	agent(fd, 1, VENDOR, 0);
	agent(fd, 1, VENDOR, 0);
	agent(s, 1, VENDOR, M(GET));
	p.hdr.timeout_ms = HANGS;
	for (uint32_t i = 0; i < 2; i++) {
		p.hdr.id = i;
		put(fd, &p);
		in[i] = got(s);
		in[i].mad[3] = GET_RESP;
	}
	put(s, &in[1]);
	assert_int_equal(got(fd).hdr.id, 1);
	put(s, &in[0]);
	assert_int_equal(got(fd).hdr.id, 0);
}

/* TrapRepress answers a Trap: ib_response_mad() */
static void a_trap_repressed(void **state)
{
	int fd = umad(0), s = umad(1);
	struct packet p = mad(1, lid_of(1), VENDOR, TRAP, 2, 3), in;

	agent(fd, 1, VENDOR, 0);
	agent(s, 1, VENDOR, M(TRAP));
	p.hdr.timeout_ms = HANGS;
	put(fd, &p);
	in = got(s);
	in.mad[3] = TRAP_REPRESS;
	put(s, &in);
	assert_int_equal(got(fd).mad[3], TRAP_REPRESS);
}

/* An answer by a file that was opened for writing only, with an agent that gets nothing. */
static void by_a_file_for_writing(void **state)
{
	struct talk t = begun(HANGS, false);
	int fd = umad_open(1, O_WRONLY);

	agent(fd, 1, 0, 0);
	put(fd, &t.answer);
	got(t.client);
}

int main(void)
{
	CASES(rows, dispatched);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].mgmt_class != SMI)
			add_case(dispatched_at_home, &rows[i], "at home: %s", rows[i].name);
	CASE(servers_that_come_and_go);
	CASE(servers_side_by_side);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		add_case(answered, &answers[i], "answer: %s", answers[i].name);
	CASE(from_somebody_else);
	CASE(to_another_port_of_the_host);
	CASE(too_late);
	CASE(that_nobody_waits_for);
	CASE(to_an_agent_that_is_gone);
	CASE(to_a_file_that_is_closed);
	CASE(each_agent_its_own);
	CASE(a_trap_repressed);
	CASE(by_a_file_for_writing);
	return run_cases("dispatch");
}
