/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct ib_user_mad_hdr for reads and writes: the fields of a received header, the fields of a
 * written one that matter, P_Key indices, GRHs, and the layout without P_Key index.
 */
#include "umad.h"

static const uint8_t zero[16];

/* An agent at the other port that receives the MADs. */
static int server(void)
{
	int fd = umad(1);

	agent(fd, 1, VENDOR, 1 << SEND);
	return fd;
}

static struct packet message(void)
{
	struct packet p = mad(1, lid_of(1), VENDOR, SEND, 0x99, 1);

	p.hdr.timeout_ms = 0;
	return p;
}

/* ---- received: recv_handler() */

static void of_a_request(void **state)
{
	int s = server(), fd = umad(0);
	struct packet p = message(), in;

	agent(fd, 1, VENDOR, 0);
	p.hdr.sl = 5;
	put(fd, &p);
	in = got(s);
	assert_int_equal(in.hdr.id, 0);
	assert_int_equal(in.hdr.status, 0);
	assert_int_equal(in.hdr.timeout_ms, 0);
	assert_int_equal(in.hdr.retries, 0);
	assert_int_equal(in.hdr.length, HDR + MAD);
	assert_int_equal(in.hdr.qpn, htonl(1));
	assert_int_equal(in.hdr.qkey, 0);
	assert_int_equal(in.hdr.lid, htons(lid_of(0)));
	assert_int_equal(in.hdr.sl, 5);
	assert_int_equal(in.hdr.path_bits, 0);
	assert_memory_equal(&in.hdr.grh_present, zero, 4);
	assert_memory_equal(in.hdr.gid, zero, 16);
	assert_int_equal(in.hdr.flow_label, 0);
	assert_int_equal(in.hdr.pkey_index, 0);
	assert_memory_equal(in.hdr.reserved, zero, 6);
}

/* The answer's header contains none of the values written for the request. */
static void of_an_answer(void **state)
{
	struct packet p = mad(0, lid_of(1), SMI, GET, 0x11, 9), in;
	int fd = umad(0), id;

	agent(fd, 1, PERF, 0);
	id = agent(fd, 0, SMI, 0);
	memset(&p.hdr, 0xa5, sizeof(p.hdr));
	p.hdr.id = (uint32_t)id;
	p.hdr.timeout_ms = 1000;
	p.hdr.retries = 3;
	p.hdr.qpn = 0;
	p.hdr.lid = htons(lid_of(1));
	p.hdr.path_bits = 0;
	p.hdr.grh_present = 0;
	put(fd, &p);
	in = got(fd);
	assert_int_equal(in.hdr.id, id);
	assert_int_equal(in.hdr.timeout_ms, 0);
	assert_int_equal(in.hdr.retries, 0);
	assert_int_equal(in.hdr.length, HDR + MAD);
	assert_int_equal(in.hdr.qpn, 0);
	assert_int_equal(in.hdr.qkey, 0);
	assert_int_equal(in.hdr.lid, htons(lid_of(1)));
	assert_memory_equal(&in.hdr.grh_present, zero, 4);
	assert_memory_equal(in.hdr.gid, zero, 16);
	assert_int_equal(in.hdr.pkey_index, 0);
	assert_memory_equal(in.hdr.reserved, zero, 6);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_int_equal(in.mad[64 + 2], 1); /* NodeType: channel adapter */
	assert_int_equal(in.mad[64 + 1], 1);
}

/* send_handler(): the header is the one that was written, except id and status */
static void of_a_time_out(void **state)
{
	struct packet p = mad(1, 0xbfff, PERF, GET, 1, 9), in;
	int fd = umad(0), id;

	agent(fd, 1, PERF, 0);
	id = agent(fd, 1, PERF, 0);
	p.hdr = (struct ib_user_mad_hdr){.id = (uint32_t)id,
					 .status = 77,
					 .timeout_ms = 2,
					 .retries = 1,
					 .length = 4711,
					 .qpn = htonl(1),
					 .qkey = 0x01020304,
					 .lid = htons(0xbfff),
					 .sl = 7,
					 .path_bits = 3,
					 .hop_limit = 9,
					 .traffic_class = 8,
					 .gid = {1, 2, 3},
					 .flow_label = 5,
					 .reserved = {1, 2, 3, 4, 5, 6}};
	put(fd, &p);
	wait_readable(fd, HANGS);
	assert_int_equal(read(fd, &in, sizeof(in)), HDR + MAD_HDR);
	p.hdr.status = ETIMEDOUT;
	assert_memory_equal(&in.hdr, &p.hdr, sizeof(p.hdr));
	assert_memory_equal(in.mad, p.mad, 8);
	assert_memory_equal(in.mad + 12, p.mad + 12, MAD_HDR - 12);
}

/* queue_packet(): the header's id is the number of the agent that the packet is for */
static void ids_of_several_agents(void **state)
{
	int fd = umad(0);

	for (uint32_t i = 0; i < 4; i++)
		agent(fd, 1, PERF, 0);
	assert_int_equal(unreg(fd, 1), 0);
	for (uint32_t i = 4; i-- > 0;) {
		struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);

		p.hdr.id = i;
		if (i == 1)
			continue;
		put(fd, &p);
		assert_int_equal(got(fd).hdr.id, i);
	}
}

/* ---- written: ib_umad_write() */

struct ignored {
	const char *name;
	struct ib_user_mad_hdr hdr; /* bits to set in addition */
};
static const struct ignored ignored[] = {
	{"status", {.status = UINT32_MAX}},
	{"length", {.length = 1}},
	{"a length beyond all", {.length = UINT32_MAX}},
	{"Q_Key", {.qkey = UINT32_MAX}},
	{"path bits of a port with one LID", {.path_bits = 0x7f}},
	{"hop limit, without a GRH", {.hop_limit = 1}},
	{"traffic class, without a GRH", {.traffic_class = 1}},
	{"flow label, without a GRH", {.flow_label = UINT32_MAX}},
	{"GID, without a GRH", {.gid = {1}}},
	{"reserved bytes", {.reserved = {1, 2, 3, 4, 5, 6}}},
	{"the SL's upper half", {.sl = 0xf0}},
};

static void not_looked_at(void **state)
{
	const uint8_t *more = (const uint8_t *)&((const struct ignored *)*state)->hdr;
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 9), in;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	for (size_t i = 0; i < HDR; i++)
		((uint8_t *)&p.hdr)[i] |= more[i];
	put(fd, &p);
	in = got(fd);
	assert_int_equal(in.hdr.lid, htons(lid_of(0)));
	assert_int_equal(in.hdr.sl, 0);
	assert_int_equal(in.hdr.grh_present, 0);
}

static void service_levels(void **state)
{
	int s = server(), fd = umad(0);
	struct packet p = message();

	agent(fd, 1, VENDOR, 0);
	for (uint8_t sl = 0; sl < 16; sl++) {
		p.hdr.sl = sl;
		put(fd, &p);
		assert_int_equal(got(s).hdr.sl, sl);
	}
}

/* The remote queue pair: only QP1 receives GMPs, and only QP0 SMPs. */
struct qpn {
	const char *name;
	uint32_t own, qpn;
	uint8_t mgmt_class, attr;
	bool arrives;
};
static const struct qpn qpns[] = {
	{"from QP1 to QP1", 1, 1, PERF, 1, true},
	{"from QP1 to QP0", 1, 0, PERF, 1, false},
	{"from QP0 to QP0", 0, 0, SMI, 0x11, true},
	{"from QP0 to QP1", 0, 1, SMI, 0x11, false},
	{"a GMP from QP0 to QP0", 0, 0, PERF, 1, false},
	{"an SMP from QP1 to QP1", 1, 1, SMI, 0x11, false},
	{"to QP2", 1, 2, PERF, 1, false},
	{"to a QPN of more than 24 bits: IBA 9.2.4", 1, 0x1000001, PERF, 1, true},
};

static void to_a_queue_pair(void **state)
{
	const struct qpn *r = *state;
	struct packet p = mad(r->qpn, lid_of(1), r->mgmt_class, GET, r->attr, 1);
	int fd = umad(0);

	agent(fd, r->own, r->own ? PERF : SMI, 0);
	put(fd, &p);
	if (r->arrives)
		assert_int_equal(got(fd).hdr.qpn, htonl(r->qpn & 0xffffff));
	else
		timed_out(fd, &p);
}

/* ---- path bits: a port with two LIDs, 2n and 2n + 1, as a subnet manager may assign */

/* Set PortInfo:LMC of umad1's port; returns the former value. */
static uint8_t set_lmc(uint8_t lmc)
{
	struct packet p = mad(0, lid_of(1), SMI, GET, 0x15, 1);
	int fd = umad(1);
	uint8_t was;

	agent(fd, 0, SMI, 0);
	put(fd, &p);
	p = got(fd);
	assert_int_equal(p.mad[5], 0);
	was = p.mad[64 + 34] & 7;
	p.hdr = (struct ib_user_mad_hdr){.lid = htons(lid_of(1)), .timeout_ms = 20};
	p.mad[3] = SET;
	p.mad[64 + 34] = (uint8_t)((p.mad[64 + 34] & ~7) | lmc);
	p.mad[64 + 32] &= 0xf0; /* PortState: no change */
	p.mad[64 + 33] &= 0x0f; /* PortPhysicalState: no change */
	put(fd, &p);
	p = got(fd);
	assert_int_equal(p.mad[5], 0);
	assert_int_equal(p.mad[64 + 34] & 7, lmc);
	umad_close(fd);
	return was;
}

/* rdma_ah_set_path_bits(), wc->dlid_path_bits, rcv_has_same_gid() */
static void path_bits(void **state)
{
	uint16_t lid = lid_of(1);
	struct packet p = mad(1, lid | 1, VENDOR, GET, 0x99, 1), in, ans;
	int fd = umad(1), s = umad(1);
	uint8_t was;

	assert_false(lid & 1);
	agent(s, 1, VENDOR, 1 << GET);
	agent(fd, 1, VENDOR, 0);
	was = set_lmc(1);
	p.hdr.timeout_ms = HANGS;
	for (uint8_t bits = 0; bits < 2; bits++) {
		p.hdr.path_bits = bits;
		put(fd, &p);
		in = got(s);
		assert_int_equal(in.hdr.path_bits, 1);
		assert_int_equal(in.hdr.lid, htons(lid | bits));
		in.mad[3] = GET_RESP;
		ans = in;
		/* sent to the LID that did not send the request */
		ans.hdr.lid = htons(lid | !bits);
		put(s, &ans);
		nothing(fd);
		put(s, &in);
		assert_int_equal(got(fd).hdr.path_bits, bits);
	}
	set_lmc(was);
}

/* ---- P_Key indices: both adapters have only the default P_Key, at index 0 */

struct pkey {
	const char *name, *rule;
	uint32_t qpn;
	uint16_t index;
	bool arrives;
};
static const struct pkey pkeys[] = {
	{"P_Key index 0", "ib_umad_write", 1, 0, true},
	{"P_Key index without a P_Key", "mlx5 gsi.c get_tx_qp: silently dropped", 1, 1, false},
	{"the last P_Key index", "mlx5 gsi.c get_tx_qp: silently dropped", 1, 127, false},
	{"a P_Key index beyond the table", "mlx5 gsi.c get_tx_qp: silently dropped", 1, 128, false},
	{"the highest P_Key index", "mlx5 gsi.c get_tx_qp: silently dropped", 1, 0xffff, false},
	{"any P_Key index on QP0", "QP0 has no P_Keys", 0, 0xffff, true},
};

static void with_a_pkey(void **state)
{
	const struct pkey *r = *state;
	struct packet p = mad(r->qpn, lid_of(1), r->qpn ? PERF : SMI, GET, r->qpn ? 1 : 0x11, 1);
	int fd = umad(0);

	agent(fd, r->qpn, p.mad[1], 0);
	p.hdr.pkey_index = r->index;
	put(fd, &p);
	if (r->arrives)
		assert_int_equal(got(fd).hdr.pkey_index, 0);
	else
		timed_out(fd, &p);
}

/* local_completions(): a MAD that does not leave the port keeps its index */
static void a_pkey_of_what_never_left(void **state)
{
	struct packet p = mad(0, 0xffff, SMI_DR, GET, 0x11, 1), in;
	int fd = umad(0);

	agent(fd, 0, SMI_DR, 0);
	p.hdr.pkey_index = 3;
	p.hdr.sl = 5;
	put(fd, &p);
	in = got(fd);
	assert_int_equal(in.hdr.pkey_index, 3);
	assert_int_equal(in.hdr.lid, 0xffff);
	assert_int_equal(in.hdr.qpn, 0);
	assert_int_equal(in.hdr.sl, 0);
}

/* ---- GRHs: ib_init_ah_attr_from_wc() in verbs.c */

static struct packet with_grh(struct packet p, unsigned int to)
{
	p.hdr.grh_present = 1;
	p.hdr.flow_label = htonl(0xfff12345);
	p.hdr.traffic_class = 0xc3;
	p.hdr.hop_limit = 3;
	gid_of(to, p.hdr.gid);
	return p;
}

static void a_grh_at_the_receiver(void **state)
{
	int s = server(), fd = umad(0);
	struct packet p = with_grh(message(), 1), in;
	uint8_t from[16];

	agent(fd, 1, VENDOR, 0);
	gid_of(0, from);
	put(fd, &p);
	in = got(s);
	assert_int_equal(in.hdr.grh_present, 1);
	assert_int_equal(in.hdr.gid_index, 0);
	assert_memory_equal(in.hdr.gid, from, 16);
	assert_int_equal(in.hdr.flow_label, htonl(0x12345));
	assert_int_equal(in.hdr.traffic_class, 0xc3);
	assert_int_equal(in.hdr.hop_limit, 0xff); /* the packet's own hop limit is not shown */
}

/* agent_send_response() in agent.c: with a GRH where the request had one */
static void a_grh_in_the_adapters_answer(void **state)
{
	struct packet p = with_grh(mad(1, lid_of(1), PERF, GET, 1, 1), 1), in;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	put(fd, &p);
	in = got(fd);
	assert_int_equal(in.hdr.grh_present, 1);
	assert_memory_equal(in.hdr.gid, p.hdr.gid, 16);
	assert_int_equal(in.hdr.flow_label, htonl(0x12345));
	assert_int_equal(in.hdr.traffic_class, 0xc3);
}

static void any_value_is_a_grh(void **state)
{
	struct packet p = with_grh(mad(1, lid_of(1), PERF, GET, 1, 1), 1);
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	p.hdr.grh_present = 0x80;
	put(fd, &p);
	assert_int_equal(got(fd).hdr.grh_present, 1);
}

static void a_gid_that_is_not_the_ports(void **state)
{
	struct packet p = with_grh(mad(1, lid_of(1), PERF, GET, 1, 1), 0);
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	put(fd, &p);
	timed_out(fd, &p);
}

/* A directed SMP to this node has no GRH: handle_outgoing_dr_smp() */
static void no_grh_of_what_never_left(void **state)
{
	struct packet p = with_grh(mad(0, 0xffff, SMI_DR, GET, 0x11, 1), 0);
	int fd = umad(0);

	agent(fd, 0, SMI_DR, 0);
	put(fd, &p);
	assert_int_equal(got(fd).hdr.grh_present, 0);
}

/* ---- the short header: hdr_size() */

static const struct reg smi = {.mgmt_class = SMI, .version = 1};

static void shortened(const struct packet *p, uint8_t out[HDR_OLD + MAD])
{
	memcpy(out, &p->hdr, HDR_OLD);
	memcpy(out + HDR_OLD, p->mad, MAD);
}

static void the_short_header(void **state)
{
	struct packet p = mad(0, lid_of(0), SMI, GET, 0x11, 1);
	uint8_t out[HDR_OLD + MAD], in[HDR + MAD];
	int fd = umad(0);

	assert_int_equal(reg1(fd, &smi), 0);
	shortened(&p, out);
	assert_fails(write(fd, out, HDR_OLD + 35), EINVAL);
	assert_int_equal(write(fd, out, HDR_OLD + 36), HDR_OLD + 36);
	assert_int_equal(read(fd, in, sizeof(in)), HDR_OLD + MAD);
	assert_int_equal(write(fd, out, sizeof(out)), sizeof(out));
	assert_fails(read(fd, in, HDR_OLD - 1), EINVAL);
	assert_fails(read(fd, in, HDR_OLD + MAD - 1), EINVAL);
	assert_int_equal(read(fd, in, HDR_OLD + MAD), HDR_OLD + MAD);
	assert_int_equal(((struct ib_user_mad_hdr_old *)in)->length, HDR_OLD + MAD);
	assert_int_equal(in[HDR_OLD + 3], GET_RESP);
	assert_int_equal(in[HDR_OLD + 64 + 2], 1);
	assert_fails(read(fd, in, HDR_OLD), EAGAIN);
}

/* The old header has the flow label as its last field. */
static void the_short_headers_grh(void **state)
{
	struct packet p = with_grh(mad(1, lid_of(1), PERF, GET, 1, 1), 1);
	const struct reg pma = {.qpn = 1, .mgmt_class = PERF, .version = 1};
	uint8_t out[HDR_OLD + MAD], in[HDR + MAD];
	struct ib_user_mad_hdr_old *h = (struct ib_user_mad_hdr_old *)in;
	int fd = umad(0);

	assert_int_equal(reg1(fd, &pma), 0);
	shortened(&p, out);
	assert_int_equal(write(fd, out, sizeof(out)), sizeof(out));
	assert_int_equal(read(fd, in, sizeof(in)), HDR_OLD + MAD);
	assert_int_equal(h->grh_present, 1);
	assert_int_equal(h->flow_label, htonl(0x12345));
}

/* The first bytes of the MAD are not taken as a P_Key index. */
static void the_short_headers_pkey_index(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	const struct reg pma = {.qpn = 1, .mgmt_class = PERF, .version = 1};
	uint8_t out[HDR_OLD + MAD], in[HDR + MAD];
	int fd = umad(0);

	assert_int_equal(reg1(fd, &pma), 0);
	shortened(&p, out);
	assert_int_equal(write(fd, out, sizeof(out)), sizeof(out));
	assert_int_equal(read(fd, in, sizeof(in)), HDR_OLD + MAD);
	assert_int_equal(in[HDR_OLD], 1);
	assert_int_equal(in[HDR_OLD + 1], PERF);
}

static void the_short_header_of_a_time_out(void **state)
{
	struct packet p = mad(0, 0xbfff, SMI, GET, 0x11, 7);
	uint8_t out[HDR_OLD + MAD], in[HDR + MAD];
	int fd = umad(0);

	assert_int_equal(reg1(fd, &smi), 0);
	p.hdr.timeout_ms = 1;
	shortened(&p, out);
	assert_int_equal(write(fd, out, sizeof(out)), sizeof(out));
	wait_readable(fd, HANGS);
	assert_fails(read(fd, in, HDR_OLD + MAD_HDR - 1), EINVAL);
	assert_int_equal(read(fd, in, sizeof(in)), HDR_OLD + MAD_HDR);
	assert_int_equal(((struct ib_user_mad_hdr_old *)in)->status, ETIMEDOUT);
	assert_int_equal(in[HDR_OLD + 15], 7);
}

/* ENABLE_PKEY, or the second ioctl if it is the first registration, but not later */
static void which_header(void **state)
{
	struct packet p = mad(0, lid_of(0), SMI, GET, 0x11, 1);
	uint8_t out[HDR_OLD + MAD], in[HDR + MAD];
	int fd = umad(0);

	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY), 0);
	assert_int_equal(reg1(fd, &smi), 0);
	put(fd, &p);
	got(fd);
	fd = umad(0);
	assert_int_equal(reg1(fd, &smi), 0);
	assert_int_equal(reg2(fd, &smi), 1);
	shortened(&p, out);
	assert_int_equal(write(fd, out, sizeof(out)), sizeof(out));
	assert_int_equal(read(fd, in, sizeof(in)), HDR_OLD + MAD);
	fd = umad(0);
	assert_int_equal(reg2(fd, &smi), 0);
	assert_int_equal(unreg(fd, 0), 0);
	assert_int_equal(reg1(fd, &smi), 0);
	put(fd, &p);
	got(fd);
}

int main(void)
{
	CASE(of_a_request);
	CASE(of_an_answer);
	CASE(of_a_time_out);
	CASE(ids_of_several_agents);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		add_case(not_looked_at, &ignored[i], "not looked at: %s", ignored[i].name);
	CASE(service_levels);
	CASES(qpns, to_a_queue_pair);
	CASE(path_bits);
	CASES(pkeys, with_a_pkey);
	CASE(a_pkey_of_what_never_left);
	CASE(a_grh_at_the_receiver);
	CASE(a_grh_in_the_adapters_answer);
	CASE(any_value_is_a_grh);
	CASE(a_gid_that_is_not_the_ports);
	CASE(no_grh_of_what_never_left);
	CASE(the_short_header);
	CASE(the_short_headers_grh);
	CASE(the_short_headers_pkey_index);
	CASE(the_short_header_of_a_time_out);
	CASE(which_header);
	return run_cases("header");
}
