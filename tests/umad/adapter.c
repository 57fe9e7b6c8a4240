/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agents inside the adapter, and directed-route SMPs at the port that they leave from:
 * mlx5/mad.c, smi.c, handle_outgoing_dr_smp() and local_completions() in mad.c.
 */
#include "umad.h"

/* ---- statuses of known and unknown attributes */

struct row {
	const char *name;
	uint8_t mgmt_class, version, method;
	uint16_t attr, mod;
	uint16_t status;
};
static const struct row rows[] = {
	{"Get(NodeDescription)", SMI, 1, GET, 0x10, 0, 0},
	{"Get(NodeInfo)", SMI, 1, GET, 0x11, 0, 0},
	{"Get(SwitchInfo)", SMI, 1, GET, 0x12, 0, BAD_ATTR},
	{"Set(NodeInfo)", SMI, 1, SET, 0x11, 0, BAD_ATTR},
	{"Get(PortInfo) of the port", SMI, 1, GET, 0x15, 1, 0},
	{"Get(PortInfo) of a port that is not there", SMI, 1, GET, 0x15, 2, 0x1c},
	{"Get(P_KeyTable) of a block that is not there", SMI, 1, GET, 0x16, 9, 0x1c},
	{"Get(GUIDInfo) of a block that is not there", SMI, 1, GET, 0x14, 9, 0x1c},
	{"Get(VLArbitrationTable) of block 0", SMI, 1, GET, 0x18, 0, 0x1c},
	{"an attribute of nobody", SMI, 1, GET, 0x7777, 0, BAD_ATTR},
	{"Get(SMInfo) without an SM", SMI, 1, GET, 0x20, 0, BAD_ATTR},
	{"Get(NodeInfo) of another class version", SMI, 9, GET, 0x11, 0, 4},
	{"Get(ClassPortInfo)", PERF, 1, GET, 0x01, 0, 0},
	{"Set(ClassPortInfo)", PERF, 1, SET, 0x01, 0, BAD_ATTR},
	{"a performance attribute of nobody", PERF, 1, GET, 0x7777, 0, BAD_ATTR},
	{"vendor class 9", 0x09, 1, GET, 0x01, 0, BAD_ATTR},
	/* mstflint, mtcr_ul/mtcr_ib_ofed.c: its accesses to registers, and vendstat's */
	{"ConfigSpaceAccess of class 9", 0x09, 1, GET, 0x50, 0x14, BAD_ATTR},
	{"a write by ConfigSpaceAccess", 0x09, 1, SET, 0x50, 0x14, BAD_ATTR},
	{"ConfigSpaceAccess of class 10", 0x0a, 1, GET, 0x50, 0x14, BAD_ATTR},
	{"SwReset", 0x0a, 1, SET, 0x12, 15, BAD_ATTR},
	{"ConfigSpaceAccess by SMP", SMI, 1, GET, 0xff50, 0x14, BAD_ATTR},
	{"AccessRegister by SMP", SMI, 1, SET, 0xff52, 0, BAD_ATTR},
	{"vendor class 10", 0x0a, 1, GET, 0x17, 0, BAD_ATTR},
	{"congestion control", 0x21, 2, GET, 0x01, 0, BAD_ATTR},
};

static struct packet asked(int fd, const struct row *r, uint8_t mgmt_class, uint16_t lid)
{
	bool smp = mgmt_class == SMI || mgmt_class == SMI_DR;
	struct packet p = mad(!smp, lid, mgmt_class, r->method, r->attr, 1), in;

	p.mad[2] = r->version;
	put16(p.mad + 22, r->mod);
	agent(fd, !smp, mgmt_class, 0);
	put(fd, &p);
	in = got(fd);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_memory_equal(in.mad + 16, p.mad + 16, 8);
	return in;
}

static void status_by_lid(void **state)
{
	const struct row *r = *state;

	/* The built-in subnet manager is at the first port. */
	for (unsigned int n = r->attr == 0x20; n < 2; n++) {
		struct packet in = asked(umad(0), r, r->mgmt_class, lid_of(n));

		assert_int_equal(get16(in.mad + 4), r->status);
		assert_int_equal(in.hdr.lid, htons(lid_of(n)));
	}
}

/* SubnGetResp with the direction's bit, through the port's own lid */
static void status_by_directed_route(void **state)
{
	const struct row *r = *state;
	struct packet in = asked(umad(0), r, SMI_DR, 0xffff);

	assert_int_equal(get16(in.mad + 4), 0x8000 | r->status);
	assert_int_equal(in.hdr.lid, 0xffff);
}

/* ---- directed routes at their first port: smi_handle_dr_smp_send() */

enum fate { BAD, HOME, OUT }; /* EINVAL; handled in the adapter; sent out of the port */
struct route {
	const char *name, *rule;
	enum fate fate;
	uint8_t ptr, cnt, path1;
	uint16_t slid, dlid;
	uint8_t d;
};
#define OPEN 0xffff, 0xffff
#define NOWHERE 200 /* more ports than any switch has */
static const struct route routes[] = {
	{"no hop", "C14-9:3", HOME, 0, 0, 0, OPEN},
	{"no hop, taken", "C14-9:4", HOME, 1, 0, 0, OPEN},
	{"no hop, one too many taken", "C14-9:5", BAD, 2, 0, 0, OPEN},
	{"no hop, many too many taken", "C14-9:5", BAD, 255, 0, 0, OPEN},
	{"no hop, then to a LID", "C14-9:3: dr_dlid_is_permissive", BAD, 0, 0, 0, 0xffff, 1},
	{"out of a port that is not there", "C14-9:1", BAD, 0, 1, 2, OPEN},
	{"out of port 0", "C14-9:1", BAD, 0, 1, 0, OPEN},
	{"out of the port", "C14-9:1", OUT, 0, 2, 1, OPEN},
	{"out of the port, 63 hops", "C14-6", OUT, 0, 63, 1, OPEN},
	{"64 hops", "C14-6: IB_SMP_MAX_PATH_HOPS", BAD, 0, 64, 1, OPEN},
	{"255 hops", "C14-6: IB_SMP_MAX_PATH_HOPS", BAD, 0, 255, 1, OPEN},
	{"in the middle of a route", "C14-9:2: !is_switch", BAD, 1, 2, 1, OPEN},
	{"the end of a route", "C14-9:3", HOME, 1, 1, 1, OPEN},
	{"behind the end of a route", "C14-9:4", HOME, 2, 1, 1, OPEN},
	{"far behind the end of a route", "C14-9:5", BAD, 3, 1, 1, OPEN},
	{"behind a part by LID", "handle_outgoing_dr_smp: not at the start", HOME, 1, 0, 0, 5,
	 0xffff},
	{"back: home", "C14-13:4", HOME, 0, 0, 0, OPEN, 0x80},
	{"back: the last hop", "C14-13:3", HOME, 1, 1, 0, OPEN, 0x80},
	{"back: the last hop, then to a LID", "C14-13:3: dr_slid_is_permissive", BAD, 1, 1, 0, 1,
	 0xffff, 0x80},
	{"back: out of a port that is not there", "C14-13:1", BAD, 3, 2, 0, OPEN, 0x80},
	{"back: in the middle of a route", "C14-13:2: !is_switch", BAD, 2, 2, 0, OPEN, 0x80},
	{"back: an unreasonable pointer", "C14-13:5", BAD, 9, 2, 0, OPEN, 0x80},
	{"back: 64 hops", "C14-6: IB_SMP_MAX_PATH_HOPS", BAD, 0, 64, 0, OPEN, 0x80},
};

static void directed(void **state)
{
	const struct route *r = *state;
	struct packet p = mad(0, 0xffff, SMI_DR, GET, 0x11, 1), in;
	int fd = umad(0);

	agent(fd, 0, SMI_DR, 0);
	p.mad[4] = r->d;
	p.mad[6] = r->ptr;
	p.mad[7] = r->cnt;
	p.mad[129] = r->path1;
	p.mad[130] = NOWHERE;
	put16(p.mad + 32, r->slid);
	put16(p.mad + 34, r->dlid);
	p.hdr.timeout_ms = 2;
	switch (r->fate) {
	case BAD:
		assert_fails(write(fd, &p, sizeof(p)), EINVAL);
		nothing(fd);
		break;
	case HOME:
		put(fd, &p);
		in = got(fd);
		assert_int_equal(in.hdr.lid, 0xffff); /* local_completions() */
		assert_int_equal(in.mad[4], 0x80);
		assert_int_equal(in.mad[64 + 2], 1); /* NodeType: channel adapter */
		nothing(fd);
		break;
	case OUT:
		put(fd, &p);
		timed_out(fd, &p);
		break;
	}
}

/*
 * ---- SMPs for this node that the adapter does not take: the port's agents, without a subnet
 * manager
 */

static struct packet smp(uint8_t method, uint16_t attr)
{
	struct packet p = mad(0, 0xffff, SMI_DR, method, attr, 1);

	p.hdr.timeout_ms = 1000;
	return p;
}

/* find_mad_agent(): as if it had arrived by the link; the sender gets no error */
static void to_a_subnet_manager_at_home(void **state)
{
	struct packet p = smp(GET, 0x20), in;
	int fd = umad(1), sm = umad(1);

	agent(sm, 0, SMI_DR, 1 << GET);
	agent(fd, 0, SMI, 0);
	put(fd, &p);
	in = got(sm);
	assert_int_equal(in.hdr.lid, 0xffff);
	assert_int_equal(in.hdr.qpn, 0);
	assert_memory_equal(in.mad + 12, p.mad + 12, MAD - 12);
	nothing(fd);
	put(fd, &p); /* the send has ended: not a duplicate */
	got(sm);
}

/*
 * A request for the LID class does not reach agents of the directed class: their tables are
 * separate.
 */
static void to_a_subnet_manager_of_the_other_class(void **state)
{
	struct packet p = smp(GET, 0x20);
	int fd = umad(1), sm = umad(1);

	agent(sm, 0, SMI, 1 << GET);
	agent(fd, 0, SMI_DR, 0);
	put(fd, &p);
	nothing(sm);
	nothing(fd);
}

/*
 * local_completions(): the answer goes to the agent that its transaction ID names, even if no
 * request waits.
 */
static void an_answer_at_home(void **state)
{
	struct packet p = smp(GET, 0x11), in;
	int fd = umad(1), other = umad(1);

	agent(fd, 0, SMI_DR, 0);
	agent(other, 0, SMI_DR, 0);
	put(fd, &p);
	p = got(fd); /* the transaction ID now contains the agent's number */
	p.hdr = (struct ib_user_mad_hdr){.lid = 0xffff};
	p.mad[3] = GET_RESP;
	p.mad[6] = 0;
	p.mad[70] = 0x77;
	put(other, &p);
	in = got(fd);
	assert_int_equal(in.mad[70], 0x77);
	nothing(other);
}

/* process_mad: CONSUMED */
static void a_trap_repressed_at_home(void **state)
{
	struct packet p = smp(TRAP_REPRESS, 2);
	int fd = umad(1);

	agent(fd, 0, SMI_DR, 0);
	put(fd, &p);
	nothing(fd);
}

/*
 * Without a time-out an answer by LID finds no request, and one inside the node is delivered:
 * ib_find_send_mad()
 */
static void without_time_out(void **state)
{
	struct packet p = mad(0, lid_of(1), SMI, GET, 0x11, 1);
	int fd = umad(1);

	agent(fd, 0, SMI, 0);
	p.hdr.timeout_ms = 0;
	put(fd, &p);
	nothing(fd);
	p = smp(GET, 0x11);
	p.hdr.timeout_ms = 0;
	put(fd, &p);
	got(fd);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_case(status_by_lid, &rows[i], "by LID: %s", rows[i].name);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].mgmt_class == SMI && rows[i].attr != 0x20)
			add_case(status_by_directed_route, &rows[i], "directed: %s", rows[i].name);
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		add_case(directed, &routes[i], "directed: %s", routes[i].name);
	CASE(to_a_subnet_manager_at_home);
	CASE(to_a_subnet_manager_of_the_other_class);
	CASE(an_answer_at_home);
	CASE(a_trap_repressed_at_home);
	CASE(without_time_out);
	return run_cases("adapter");
}
