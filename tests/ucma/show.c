// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers as text: what differs from machine to machine is named, what is zero is left out. */
#include "ucma.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

/* A name for each address that a row can give; `*` for a port that the kernel has picked. */
static void show_port(FILE *to, uint16_t port)
{
	if (port > world.port_base && port < world.port_base + 10)
		fprintf(to, ":p%u", port - world.port_base);
	else if (port >= 32768 && port <= 60999)
		fprintf(to, ":*");
	else
		fprintf(to, ":%u", port);
}

static void show_inet4(FILE *to, const struct sockaddr_in *a)
{
	char text[64];

	if (a->sin_addr.s_addr == world.me.s_addr)
		fprintf(to, "me");
	else if (a->sin_addr.s_addr == (world.me.s_addr ^ htonl(0x80)))
		fprintf(to, "neighbour");
	else if (!a->sin_addr.s_addr)
		fprintf(to, "any");
	else if (a->sin_addr.s_addr == htonl(INADDR_LOOPBACK))
		fprintf(to, "lo");
	else
		fprintf(to, "%s", inet_ntop(AF_INET, &a->sin_addr, text, sizeof(text)));
	show_port(to, ntohs(a->sin_port));
}

static void show_inet6(FILE *to, const struct sockaddr_in6 *a)
{
	char text[64];

	if (IN6_ARE_ADDR_EQUAL(&a->sin6_addr, &world.me6) && world.have6)
		fprintf(to, "me6");
	else if (IN6_ARE_ADDR_EQUAL(&a->sin6_addr, &world.me6_local) &&
		 IN6_IS_ADDR_LINKLOCAL(&a->sin6_addr))
		fprintf(to, "ll6");
	else if (IN6_IS_ADDR_UNSPECIFIED(&a->sin6_addr))
		fprintf(to, "any6");
	else if (IN6_IS_ADDR_LOOPBACK(&a->sin6_addr))
		fprintf(to, "lo6");
	else
		fprintf(to, "%s", inet_ntop(AF_INET6, &a->sin6_addr, text, sizeof(text)));
	if (a->sin6_scope_id)
		fprintf(to, "%%%s", a->sin6_scope_id == world.ifindex ? "if" : "?");
	show_port(to, ntohs(a->sin6_port));
}

void show_gid(FILE *to, const uint8_t gid[16])
{
	static const uint8_t zero[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
	char text[64];

	if (!memcmp(gid, zero, 16))
		fprintf(to, "0");
	else if (!memcmp(gid, mapped, 12) && !memcmp(gid + 12, &world.me, 4))
		fprintf(to, "map");
	else if (!memcmp(gid, world.gid0, 16))
		fprintf(to, "gid0");
	else if (world.have6 && !memcmp(gid, &world.me6, 16))
		fprintf(to, "me6");
	else
		fprintf(to, "%s", inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

static void show_ib(FILE *to, const struct ucma_sockaddr_ib *a)
{
	uint64_t sid = be64toh(a->sid);

	fprintf(to, "ib:");
	show_gid(to, a->addr);
	fprintf(to, "/%llx", (unsigned long long)(sid >> 16));
	show_port(to, (uint16_t)sid);
	if (a->sid_mask != ~UINT64_C(0))
		fprintf(to, "&%llx", (unsigned long long)be64toh(a->sid_mask));
	if (a->pkey != 0xffff)
		fprintf(to, ",pkey=%x", ntohs(a->pkey));
	if (a->flowinfo)
		fprintf(to, ",flow=%x", ntohl(a->flowinfo));
	if (a->scope_id)
		fprintf(to, ",scope=%llx", (unsigned long long)be64toh(a->scope_id));
}

void show_address(FILE *to, const void *sa)
{
	uint16_t family;

	memcpy(&family, sa, sizeof(family));
	switch (family) {
	case 0:
		fprintf(to, "0");
		break;
	case AF_INET:
		show_inet4(to, sa);
		break;
	case AF_INET6:
		show_inet6(to, sa);
		break;
	case AF_IB:
		show_ib(to, sa);
		break;
	default:
		fprintf(to, "family:%u", family);
	}
}

static void hex(FILE *to, const char *name, uint64_t v)
{
	if (v)
		fprintf(to, " %s=%llx", name, (unsigned long long)v);
}

static void number(FILE *to, const char *name, uint64_t v)
{
	if (v)
		fprintf(to, " %s=%llu", name, (unsigned long long)v);
}

static void size(FILE *to, size_t written, size_t whole)
{
	if (written != whole)
		fprintf(to, " wrote=%zu", written);
}

/* Up to the last byte that is not 0: as text where it is text. */
static void data(FILE *to, const uint8_t *d, size_t len)
{
	size_t n = len < RDMA_MAX_PRIVATE_DATA ? len : RDMA_MAX_PRIVATE_DATA, same = 0;

	if (!len)
		return;
	fprintf(to, " data=%zu:", len);
	while (n && !d[n - 1])
		n--;
	while (same < n && d[same] == (uint8_t)(same + 1))
		same++;
	if (n && same == n) {
		fprintf(to, "#%zu", n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (isalnum(d[i]))
			fputc(d[i], to);
		else
			fprintf(to, "\\%02x", d[i]);
}

static void show_lid(FILE *to, const char *name, uint16_t lid)
{
	if (!lid)
		return;
	if (lid == world.lid)
		fprintf(to, " %s=own", name);
	else if (lid >= 0xc000)
		fprintf(to, " %s=mc", name);
	else
		fprintf(to, " %s=%u", name, lid);
}

static void show_ah(FILE *to, const struct ib_uverbs_ah_attr *a)
{
	uint8_t gid[16];

	show_lid(to, "dlid", a->dlid);
	number(to, "sl", a->sl);
	number(to, "bits", a->src_path_bits);
	number(to, "rate", a->static_rate);
	number(to, "port", a->port_num);
	if (!a->is_global)
		return;
	fprintf(to, " dgid=");
	show_gid(to, a->grh.dgid);
	fprintf(to, " sgid=");
	if (world_gid(a->grh.sgid_index, gid))
		show_gid(to, gid);
	else
		fprintf(to, "[%u]", a->grh.sgid_index);
	if (a->grh.flow_label)
		fprintf(to, " flowlabel=*");
	number(to, "hop", a->grh.hop_limit);
	number(to, "tclass", a->grh.traffic_class);
}

/* ---- events */

static const char *const events[] = {
	"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
	"CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
	"REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "REMOVAL",
	"MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT",
};

static void show_uid(FILE *to, uint64_t uid)
{
	if (uid >= UID('A') && uid <= UID('Z'))
		fprintf(to, " %c", (int)(uid - UID(0)));
	else
		fprintf(to, " uid=%llx", (unsigned long long)uid);
}

static void show_conn(FILE *to, const struct rdma_ucm_conn_param *p)
{
	hex(to, "qpn", p->qp_num);
	hex(to, "qkey", p->qkey);
	data(to, p->private_data, p->private_data_len);
	number(to, "srq", p->srq);
	number(to, "resources", p->responder_resources);
	number(to, "depth", p->initiator_depth);
	number(to, "flow", p->flow_control);
	number(to, "retry", p->retry_count);
	number(to, "rnr", p->rnr_retry_count);
	number(to, "valid", p->valid);
}

static void show_ud(FILE *to, const struct rdma_ucm_ud_param *p)
{
	hex(to, "qpn", p->qp_num);
	hex(to, "qkey", p->qkey);
	data(to, p->private_data, p->private_data_len);
	show_ah(to, &p->ah_attr);
}

/* The id that an event names: a letter, or new. */
static void show_event_id(FILE *to, const struct rdma_ucm_event_resp *e)
{
	int letter = e->uid >= UID('A') && e->uid <= UID('Z') ? (int)(e->uid - UID('A')) : -1;

	if (letter >= 0 && world.id[letter].known && world.id[letter].id == e->id)
		return;
	for (int i = 0; i < NIDS; i++)
		if (world.id[i].known && world.id[i].id == e->id && i != letter) {
			fprintf(to, " id=%c", 'A' + i);
			return;
		}
	fprintf(to, " id=?");
}

/* The event of a UD id has the other member of the union. The row's earlier steps tell the type. */
void show_event(FILE *to, const void *answer, size_t written)
{
	struct rdma_ucm_event_resp e = {0};
	bool ud;

	memcpy(&e, answer, written < sizeof(e) ? written : sizeof(e));
	ud = world_is_ud(e.uid);
	if (e.event < sizeof(events) / sizeof(events[0]))
		fprintf(to, "%s", events[e.event]);
	else
		fprintf(to, "event %u", e.event);
	show_uid(to, e.uid);
	show_event_id(to, &e);
	if (e.status)
		fprintf(to, " status=%d", (int)e.status);
	if (ud)
		show_ud(to, &e.param.ud);
	else
		show_conn(to, &e.param.conn);
	hex(to, "vendor", e.ece.vendor_id);
	hex(to, "mod", e.ece.attr_mod);
	hex(to, "reserved", e.reserved);
	size(to, written, sizeof(e));
}

void show_reported(FILE *to, const void *answer, size_t written)
{
	uint32_t n;

	memcpy(&n, answer, sizeof(n));
	fprintf(to, "0 reported=%u", n);
	size(to, written, sizeof(n));
}

/* ---- queries */

static void show_device(FILE *to, uint64_t guid, uint32_t index, uint8_t port)
{
	if (guid)
		fprintf(to, " guid=%s", be64toh(guid) == world.node_guid ? "own" : "?");
	number(to, "index", index);
	number(to, "port", port);
}

void show_addr(FILE *to, const void *answer, size_t written)
{
	struct rdma_ucm_query_addr_resp r = {0};

	memcpy(&r, answer, written < sizeof(r) ? written : sizeof(r));
	fprintf(to, "0 src=%u:", r.src_size);
	show_address(to, &r.src_addr);
	fprintf(to, " dst=%u:", r.dst_size);
	show_address(to, &r.dst_addr);
	show_device(to, r.node_guid, r.ibdev_index, r.port_num);
	hex(to, "pkey", ntohs(r.pkey));
	size(to, written, sizeof(r));
}

static void show_rec(FILE *to, const struct ib_user_path_rec *p)
{
	fprintf(to, " [dgid=");
	show_gid(to, p->dgid);
	fprintf(to, " sgid=");
	show_gid(to, p->sgid);
	show_lid(to, "dlid", ntohs(p->dlid));
	show_lid(to, "slid", ntohs(p->slid));
	number(to, "raw", p->raw_traffic);
	if (p->flow_label)
		fprintf(to, " flowlabel=*");
	number(to, "reversible", p->reversible);
	number(to, "mtu", p->mtu);
	hex(to, "pkey", ntohs(p->pkey));
	number(to, "hop", p->hop_limit);
	number(to, "tclass", p->traffic_class);
	number(to, "paths", p->numb_path);
	number(to, "sl", p->sl);
	number(to, "mtusel", p->mtu_selector);
	number(to, "ratesel", p->rate_selector);
	number(to, "rate", p->rate);
	number(to, "lifesel", p->packet_life_time_selector);
	number(to, "life", p->packet_life_time);
	number(to, "preference", p->preference);
	fprintf(to, "]");
}

void show_route(FILE *to, const void *answer, size_t written)
{
	static const struct ib_user_path_rec none;
	struct rdma_ucm_query_route_resp r = {0};

	memcpy(&r, answer, written < sizeof(r) ? written : sizeof(r));
	fprintf(to, "0 src=");
	show_address(to, &r.src_addr);
	fprintf(to, " dst=");
	show_address(to, &r.dst_addr);
	show_device(to, r.node_guid, r.ibdev_index, r.port_num);
	number(to, "paths", r.num_paths);
	for (int i = 0; i < 2; i++)
		if (memcmp(&r.ib_route[i], &none, sizeof(none)) != 0)
			show_rec(to, &r.ib_route[i]);
	size(to, written, sizeof(r));
}

static unsigned int be(const uint8_t *d, unsigned int n)
{
	unsigned int v = 0;

	while (n--)
		v = v << 8 | *d++;
	return v;
}

/* A packed PathRecord, as IBA 15.2.5.16 has it. */
static void show_packed(FILE *to, const struct ib_path_rec_data *p)
{
	const uint8_t *d = (const uint8_t *)p->path_rec;
	const uint64_t sid = (uint64_t)be(d, 4) << 32 | be(d + 4, 4);

	fprintf(to, " [flags=%x dgid=", p->flags);
	show_gid(to, d + 8);
	fprintf(to, " sgid=");
	show_gid(to, d + 24);
	if (sid) {
		fprintf(to, " service=%llx", (unsigned long long)(sid >> 16));
		show_port(to, (uint16_t)sid);
	}
	/* On Ethernet the kernel has a MAC where these are (struct sa_path_rec). */
	if (!world.roce) {
		show_lid(to, "dlid", (uint16_t)be(d + 40, 2));
		show_lid(to, "slid", (uint16_t)be(d + 42, 2));
		number(to, "raw", d[44] >> 7);
	}
	if (be(d + 44, 4) >> 8 & 0xfffff)
		fprintf(to, " flowlabel=*");
	number(to, "hop", d[47]);
	number(to, "tclass", d[48]);
	number(to, "reversible", d[49] >> 7);
	number(to, "paths", d[49] & 0x7f);
	hex(to, "pkey", be(d + 50, 2));
	number(to, "qos", be(d + 52, 2) >> 4);
	number(to, "sl", d[53] & 0xf);
	number(to, "mtusel", d[54] >> 6);
	number(to, "mtu", d[54] & 0x3f);
	number(to, "ratesel", d[55] >> 6);
	number(to, "rate", d[55] & 0x3f);
	number(to, "lifesel", d[56] >> 6);
	number(to, "life", d[56] & 0x3f);
	number(to, "preference", d[57]);
	fprintf(to, "]");
}

void show_path(FILE *to, const void *answer, size_t written)
{
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ib_path_rec_data path[2];
	} r = {0};
	const size_t head = sizeof(r.head), one = sizeof(r.path[0]);

	memcpy(&r, answer, written < sizeof(r) ? written : sizeof(r));
	fprintf(to, "0 paths=%u", r.head.num_paths);
	for (size_t i = 0; i < 2 && written >= head + (i + 1) * one; i++)
		show_packed(to, &r.path[i]);
	if (written > head && (written - head) % one)
		fprintf(to, " wrote=%zu", written);
}

/* ---- INIT_QP_ATTR: the attributes that the mask names, and others that are not 0 */

void show_qp_attr(FILE *to, const void *answer, size_t written)
{
	struct ib_uverbs_qp_attr a = {0};

	memcpy(&a, answer, written < sizeof(a) ? written : sizeof(a));
	fprintf(to, "0 mask=%x state=%u", a.qp_attr_mask, a.qp_state);
	number(to, "cur", a.cur_qp_state);
	number(to, "mtu", a.path_mtu);
	number(to, "mig", a.path_mig_state);
	hex(to, "qkey", a.qkey);
	fprintf(to, "%s", a.rq_psn ? " rqpsn=*" : "");
	fprintf(to, "%s", a.sq_psn ? " sqpsn=*" : "");
	hex(to, "dest", a.dest_qp_num);
	hex(to, "access", a.qp_access_flags);
	show_ah(to, &a.ah_attr);
	if (a.alt_ah_attr.dlid || a.alt_port_num)
		fprintf(to, " alt");
	number(to, "pkeyindex", a.pkey_index);
	number(to, "rdatomic", a.max_rd_atomic);
	number(to, "destrdatomic", a.max_dest_rd_atomic);
	number(to, "minrnr", a.min_rnr_timer);
	number(to, "qpport", a.port_num);
	number(to, "timeout", a.timeout);
	number(to, "retry", a.retry_cnt);
	number(to, "rnr", a.rnr_retry);
	size(to, written, sizeof(a));
}
