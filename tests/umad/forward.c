/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs through switches, by LID and by directed route: IBA 14.2.2, and smi.c (the rules of each
 * hop). Runs on ring:4: hosts h1 to h4 (LIDs 1 to 4), each on port 3 of its switch (LIDs 5 to 8);
 * port 1 leads to the next switch's port 2.
 */
#include "umad.h"

enum { HOP_PTR = 6, HOP_CNT = 7, DR_SLID = 32, DR_DLID = 34, DATA = 64, PATH = 128, BACK = 192 };
enum { NODE_TYPE = DATA + 2, LOCAL_PORT = DATA + 36, CA = 1, SWITCH = 2 };
#define PERMISSIVE 0xffff
#define MAX_HOPS 5

struct row {
	const char *name;
	uint16_t lid;  /* LID for the first part, or PERMISSIVE */
	uint16_t dlid; /* LID for the last part */
	uint8_t hops, path[MAX_HOPS];
	uint8_t type, port;     /* node type and port that answer; 0: no answer */
	uint8_t back[MAX_HOPS]; /* the expected return path */
};
static const struct row rows[] = {
	{"the own port", PERMISSIVE, PERMISSIVE, 0, {0}, CA, 1, {0}},
	{"the switch", PERMISSIVE, PERMISSIVE, 1, {1}, SWITCH, 3, {3}},
	{"the next switch", PERMISSIVE, PERMISSIVE, 2, {1, 1}, SWITCH, 2, {3, 2}},
	{"the other neighbour", PERMISSIVE, PERMISSIVE, 2, {1, 2}, SWITCH, 1, {3, 1}},
	{"a host", PERMISSIVE, PERMISSIVE, 3, {1, 1, 3}, CA, 1, {3, 2, 1}},
	{"oneself", PERMISSIVE, PERMISSIVE, 2, {1, 3}, CA, 1, {3, 1}},
	{"round the ring", PERMISSIVE, PERMISSIVE, 5, {1, 1, 1, 1, 1}, SWITCH, 2, {3, 2, 2, 2, 2}},
	{"through a host", PERMISSIVE, PERMISSIVE, 4, {1, 1, 3, 1}, 0, 0, {0}},
	{"a port that is not there", PERMISSIVE, PERMISSIVE, 2, {1, 77}, 0, 0, {0}},
	{"port 0", PERMISSIVE, PERMISSIVE, 2, {1, 0}, 0, 0, {0}},
	{"LID, then a path", 6, PERMISSIVE, 1, {3}, CA, 1, {1}},
	{"LID, then a longer path", 6, PERMISSIVE, 2, {1, 3}, CA, 1, {2, 1}},
	{"a path begins at a host's LID", 2, PERMISSIVE, 1, {1}, 0, 0, {0}},
	{"a LID that is not there, then a path", 99, PERMISSIVE, 1, {1}, 0, 0, {0}},
	{"a path, then a LID", PERMISSIVE, 3, 1, {1}, CA, 1, {3}},
	{"a path, then a switch's LID", PERMISSIVE, 7, 2, {1, 1}, SWITCH, 0, {3, 2}},
	{"a path, then a LID that is not there", PERMISSIVE, 99, 1, {1}, 0, 0, {0}},
	{"LID, path, LID", 6, 4, 1, {1}, CA, 1, {2}},
};

static struct packet directed(const struct row *r)
{
	struct packet p = mad(0, r->lid, SMI_DR, GET, 0x11, 7);

	p.mad[HOP_CNT] = r->hops;
	put16(p.mad + DR_SLID, r->lid == PERMISSIVE ? PERMISSIVE : lid_of(0));
	put16(p.mad + DR_DLID, r->dlid);
	memcpy(p.mad + PATH + 1, r->path, r->hops);
	return p;
}

static void by_path(void **state)
{
	const struct row *r = *state;
	struct packet p = directed(r), in;
	int fd = umad(0);

	agent(fd, 0, SMI_DR, 0);
	put(fd, &p);
	if (!r->type) {
		timed_out(fd, &p);
		return;
	}
	in = got(fd);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_int_equal(get16(in.mad + 4), 0x8000); /* the D bit is set, and no error */
	assert_int_equal(in.mad[HOP_PTR], !r->hops); /* the packet has not left the port */
	assert_int_equal(in.mad[HOP_CNT], r->hops);
	assert_int_equal(in.mad[NODE_TYPE], r->type);
	if (r->port)
		assert_int_equal(in.mad[LOCAL_PORT], r->port);
	for (uint8_t i = 1; i <= r->hops; i++)
		assert_int_equal(in.mad[BACK + i], r->back[i - 1]);
}

/* smi_handle_dr_smp_send(): packets that a sender cannot send */
static const struct bad {
	const char *name;
	uint8_t ptr, cnt, first;
} bad[] = {
	{"another port than the own", 0, 1, 2},
	{"in the middle", 1, 3, 1},
	{"beyond the end", 5, 2, 1},
	{"64 hops", 0, 64, 1},
};

static void not_sent(void **state)
{
	const struct bad *b = *state;
	struct row r = {.lid = PERMISSIVE, .dlid = PERMISSIVE, .hops = 2, .path = {1, 1}};
	struct packet p = directed(&r);
	int fd = umad(0);

	p.mad[HOP_PTR] = b->ptr;
	p.mad[HOP_CNT] = b->cnt;
	p.mad[PATH + 1] = b->first;
	agent(fd, 0, SMI_DR, 0);
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
}

static const struct lid_row {
	const char *name;
	uint8_t mgmt_class;
	uint16_t attr, lid;
	uint8_t type; /* node type in NodeInfo; 0: no answer */
} lids[] = {
	{"SMP to a host", SMI, 0x11, 3, CA},
	{"SMP to oneself", SMI, 0x11, 1, CA},
	{"SMP to the switch", SMI, 0x11, 5, SWITCH},
	{"SMP to a far switch", SMI, 0x11, 7, SWITCH},
	{"SMP to nobody", SMI, 0x11, 9, 0},
	{"SMP to a multicast LID", SMI, 0x11, 0xc000, 0},
	{"GMP to a host", PERF, 0x01, 3, CA},
	{"GMP to a switch", PERF, 0x01, 7, SWITCH},
	{"GMP to nobody", PERF, 0x01, 9, 0},
};

static void by_lid(void **state)
{
	const struct lid_row *r = *state;
	bool smp = r->mgmt_class == SMI;
	struct packet p = mad(!smp, r->lid, r->mgmt_class, GET, r->attr, 7), in;
	int fd = umad(0);

	agent(fd, !smp, r->mgmt_class, 0);
	put(fd, &p);
	if (!r->type) {
		timed_out(fd, &p);
		return;
	}
	in = got(fd);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_int_equal(get16(in.mad + 4), 0);
	assert_int_equal(ntohs(in.hdr.lid), r->lid);
	if (smp)
		assert_int_equal(in.mad[NODE_TYPE], r->type);
}

/* The SM class has no agents on a switch: agent.c, mad.c, generate_unmatched_resp() */
static void sm_info_of_a_switch(void **state)
{
	struct packet p = mad(0, 5, SMI, GET, 0x20, 7), in;
	int fd = umad(0);

	agent(fd, 0, SMI, 0);
	put(fd, &p);
	in = got(fd);
	assert_int_equal(get16(in.mad + 4), BAD_ATTR);
}

int main(void)
{
	CASES(rows, by_path);
	CASES(bad, not_sent);
	CASES(lids, by_lid);
	CASE(sm_info_of_a_switch);
	return run_cases("umad-forward");
}
