/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On Ethernet ports: QP1 alone, and GMPs by GID. The client is at umad0, the server at umad1, on
 * two adapters of one host. The answers agree with those of Linux 6.1 with rxe.
 */
#include "umad.h"

#define ENTRIES 16
#define FILLED 4 /* link-local and IPv4, each as RoCE v1 and v2 */

/* ---- agents: ib_register_mad_agent() */

static const struct reg refused[] = {
	{"SMI LID routed", "rdma_cap_ib_smi", EPROTONOSUPPORT, 0, SMI, 1},
	{"SMI directed", "rdma_cap_ib_smi", EPROTONOSUPPORT, 0, SMI_DR, 1},
	{"QP0 without class", "rdma_cap_ib_smi", EPROTONOSUPPORT, 0, 0},
	{"QP0, before the class is looked at", "rdma_cap_ib_smi", EPROTONOSUPPORT, 0, PERF, 1},
	{"QP0, before the version is looked at", "rdma_cap_ib_smi", EPROTONOSUPPORT, 0, SMI, 0x83},
	{"SMI on QP1", "ib_register_mad_agent", EINVAL, 1, SMI, 1},
};

static void is_refused(void **state)
{
	const struct reg *r = *state;
	int fd = umad(0);

	assert_fails(reg1(fd, r), r->err);
	assert_fails(reg2(fd, r), r->err);
}

static void qp1_is_there(void **state)
{
	int fd = umad(0);

	assert_int_equal(agent(fd, 1, SA, 0), 0);
	assert_int_equal(agent(fd, 1, PERF, 0), 1);
	assert_int_equal(agent(fd, 1, VENDOR, 1 << GET), 2);
}

/* ib_umad_sm_open() succeeds, mlx5_ib_modify_port() does nothing. */
static void issm_opens(void **state)
{
	int fd = open("/dev/infiniband/issm0", O_RDWR);

	assert_true(fd >= 0);
	close(fd);
}

/* ---- addresses: rdma_create_user_ah() */

static void gid_at(unsigned int n, unsigned int index, uint8_t gid[16])
{
	char path[80], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/mlx5_%u/ports/1/gids/%u", n, index);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	assert_int_equal(inet_pton(AF_INET6, text, gid), 1);
}

static struct packet message(uint8_t method, unsigned int sgid_index)
{
	struct packet p = mad(1, 0, VENDOR, method, 0x99, 7);

	p.hdr.grh_present = 1;
	p.hdr.gid_index = (uint8_t)sgid_index;
	gid_at(1, sgid_index < FILLED ? sgid_index : 0, p.hdr.gid);
	p.hdr.hop_limit = 3;
	p.hdr.traffic_class = 0x42;
	p.hdr.timeout_ms = 0;
	return p;
}

static int client(void)
{
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	return fd;
}

struct bad {
	const char *name, *rule;
	int err;
	unsigned int grh, index;
	const char *dgid; /* NULL: the server's */
};

static const struct bad bad[] = {
	{"without GRH", "rdma_check_ah_attr", EINVAL, 0, 0},
	{"an index that is too large", "rdma_get_gid_attr", EINVAL, 1, ENTRIES},
	{"an empty entry", "rdma_get_gid_attr", ENODATA, 1, ENTRIES - 1},
	{"from a link-local address to IPv4", "rdma_resolve_ip", EINVAL, 1, 1, "::ffff:127.1.0.1"},
	{"from IPv4 to a link-local address", "rdma_resolve_ip", EINVAL, 1, 3, "fe80::1"},
	{"IPv4 to the zero GID", "rdma_resolve_ip", EINVAL, 1, 2, "::"},
	{"IPv6 without a route", "addr6_resolve", ENETUNREACH, 1, 1, "2001:db8::9"},
	{"IPv4 of nobody", "resolve_cb", ETIMEDOUT, 1, 3, "::ffff:203.0.113.7"},
};

static void address_is_refused(void **state)
{
	const struct bad *b = *state;
	int fd = client();
	struct packet p = message(SEND, b->index);

	p.hdr.grh_present = (uint8_t)b->grh;
	if (b->dgid)
		assert_int_equal(inet_pton(AF_INET6, b->dgid, p.hdr.gid), 1);
	assert_fails(write(fd, &p, sizeof(p)), b->err);
}

static const struct lost {
	const char *name;
	unsigned int index;
	const char *dgid;
} lost[] = {
	{"RoCE v1 to a MAC address of nobody", 0, "fe80::5817:caff:fe00:99"},
	{"an IPv6 group", 0, "ff0e::5"},
	{"an IPv4 group", 3, "::ffff:239.1.2.3"},
};

static void packet_is_lost(void **state)
{
	const struct lost *l = *state;
	int fd = client();
	struct packet p = message(GET, l->index);

	assert_int_equal(inet_pton(AF_INET6, l->dgid, p.hdr.gid), 1);
	p.hdr.timeout_ms = 1;
	put(fd, &p);
	timed_out(fd, &p);
}

/* ---- received: recv_handler() */

/*
 * Index of an entry, whether ib_resolve_unicast_gid_dmac() asks IP for the route's hops, and
 * whether packets have an IPv4 header.
 */
static const struct entry {
	const char *name;
	unsigned int index, hops;
	bool ipv4;
} entries[] = {
	{"link-local, RoCE v1", 0, 0xff},
	{"link-local, RoCE v2", 1, 64},
	{"IPv4, RoCE v1", 2, 64},
	{"IPv4, RoCE v2", 3, 64, true},
};

static void arrives_at_the_entry(void **state)
{
	const struct entry *e = *state;
	int fd = client(), s = umad(1);
	struct packet p = message(SEND, e->index), in;
	uint8_t gid[16];

	agent(s, 1, VENDOR, 1 << SEND);
	p.hdr.flow_label = htonl(0x54321);
	put(fd, &p);
	in = waited(s);
	gid_at(0, e->index, gid);
	assert_int_equal(in.hdr.lid, 0);
	assert_int_equal(in.hdr.path_bits, 0);
	assert_int_equal(in.hdr.qpn, htonl(1));
	assert_int_equal(in.hdr.grh_present, 1);
	assert_int_equal(in.hdr.gid_index, e->index);
	assert_int_equal(in.hdr.hop_limit, e->hops);
	/* ib_init_ah_attr_from_wc(): read from where an IPv4 header has none of them */
	assert_int_equal(in.hdr.traffic_class, e->ipv4 ? 0 : 0x42);
	assert_int_equal(in.hdr.flow_label, htonl(e->ipv4 ? 0 : 0x54321));
	assert_memory_equal(in.hdr.gid, gid, 16);
}

/*
 * The adapter of the other port answers, to the entry from which it was asked. Over IPv4 the answer
 * belongs to no request: rcv_has_same_gid() compares GIDs with bytes of the IPv4 header.
 */
static void answer_returns(void **state)
{
	const struct entry *e = *state;
	int fd = client();
	struct packet p = message(GET, e->index), in;

	p.hdr.timeout_ms = e->ipv4 ? 20 : HANGS;
	put(fd, &p);
	if (e->ipv4) {
		timed_out(fd, &p);
		return;
	}
	in = waited(fd);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_int_equal(get16(in.mad + 4), BAD_ATTR);
	assert_int_equal(in.hdr.status, 0);
	assert_int_equal(in.hdr.gid_index, e->index);
	assert_memory_equal(in.hdr.gid, p.hdr.gid, 16);
}

int main(void)
{
	CASES(refused, is_refused);
	CASE(qp1_is_there);
	CASE(issm_opens);
	CASES(bad, address_is_refused);
	CASES(lost, packet_is_lost);
	CASES(entries, arrives_at_the_entry);
	CASES(entries, answer_returns);
	return run_cases("roce");
}
