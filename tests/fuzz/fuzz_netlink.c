/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of NETLINK_RDMA and NETLINK_ROUTE with any bytes. Answers are whole messages with whole
 * attributes and the number of their request; a request that wants an end gets one.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/mman.h>
#include "nldev/nldev.h"
#include "nldev/rtnl.h"
#include "umad/test.h"

#define SENT_MAX 4096u
#define PORTID 77

static struct seg seg;
static struct fab_iface iface[3];
static unsigned int acks, ends, messages;

/* ---- answers */

static void check_attributes(const uint8_t *at, size_t n)
{
	while (n) {
		struct nlattr a;

		fz_check(n >= sizeof(a));
		memcpy(&a, at, sizeof(a));
		fz_check(a.nla_len >= sizeof(a) && a.nla_len <= n);
		if (NLA_ALIGN(a.nla_len) >= n)
			return;
		at += NLA_ALIGN(a.nla_len);
		n -= NLA_ALIGN(a.nla_len);
	}
}

static size_t head_of(uint16_t type)
{
	switch (type) {
	case RTM_NEWLINK:
		return sizeof(struct ifinfomsg);
	case RTM_NEWADDR:
		return sizeof(struct ifaddrmsg);
	case RTM_NEWROUTE:
		return sizeof(struct rtmsg);
	default:
		return 0; /* NETLINK_RDMA has none */
	}
}

static int answer(void *arg, const void *data, size_t n)
{
	const struct nlmsghdr *h = data;
	size_t step;

	fz_check(n >= NLMSG_HDRLEN);
	for (size_t at = 0; at < n; at += step) {
		h = (const void *)((const uint8_t *)data + at);
		fz_check(h->nlmsg_len >= NLMSG_HDRLEN && h->nlmsg_len <= n - at);
		fz_check(h->nlmsg_pid == PORTID);
		if (h->nlmsg_type == NLMSG_ERROR)
			acks++;
		else if (h->nlmsg_type == NLMSG_DONE)
			ends++;
		else {
			size_t head = NLMSG_HDRLEN + head_of(h->nlmsg_type);

			fz_check(n <= NLDEV_DATAGRAM && h->nlmsg_len >= head);
			check_attributes((const uint8_t *)h + head, h->nlmsg_len - head);
			messages++;
		}
		step = NLMSG_ALIGN(h->nlmsg_len);
	}
	return 0;
}

static int no_ids(void *arg, uint32_t hca)
{
	return memfd_create("ids", MFD_CLOEXEC);
}

/* ---- requests */

enum { RDMA = 1, EXT = 2, CAP = 4, ADMIN = 8, STRICT = 16, DUMPING = 32 };
enum { DUMP = 1, ACK = 2, NO_REQUEST = 4, LENGTH = 8 };

static struct nl_peer peer(uint8_t options)
{
	return (struct nl_peer){.portid = PORTID,
				.ext_ack = options & EXT,
				.cap_ack = options & CAP,
				.answer = answer};
}

/* Bytes of one message at `to`, which has room for it. */
static size_t message(struct fz *f, uint8_t options, uint8_t *to)
{
	struct nlmsghdr h = {.nlmsg_seq = 7};
	uint8_t op = fz_u8(f), flags = fz_u8(f), attrs;
	size_t n = NLMSG_HDRLEN, head = fz_u8(f) % 64;

	fz_bytes(f, to + n, head);
	n += head;
	for (attrs = fz_u8(f) % 8; attrs; attrs--) {
		struct nlattr a = {.nla_type = fz_u8(f)};
		uint8_t len = fz_u8(f);

		n = NLMSG_ALIGN(n);
		a.nla_len = (uint16_t)(sizeof(a) + (len & 127));
		a.nla_type |= len & 128 ? NLA_F_NESTED : 0;
		memcpy(to + n, &a, sizeof(a));
		fz_bytes(f, to + n + sizeof(a), len & 127);
		n += a.nla_len;
	}
	h.nlmsg_type = options & RDMA ? (uint16_t)RDMA_NL_GET_TYPE(op >> 5 ? RDMA_NL_NLDEV : op & 3,
								   op & 31)
				      : RTM_BASE + op % (RTM_MAX + 4 - RTM_BASE);
	h.nlmsg_flags = (flags & DUMP ? NLM_F_DUMP : 0) | (flags & ACK ? NLM_F_ACK : 0) |
			(flags & NO_REQUEST ? 0 : NLM_F_REQUEST);
	h.nlmsg_len = flags & LENGTH ? fz_u16(f) : (uint32_t)n;
	memcpy(to, &h, sizeof(h));
	return n;
}

static void ask_rdma(uint8_t options, const void *data, size_t n, unsigned int wanted)
{
	struct nldev d = {.s = &seg,
			  .host = fab_host_by_name(&seg, "h1"),
			  .admin = options & ADMIN,
			  .dumping = options & DUMPING,
			  .to = peer(options),
			  .cm_ids = no_ids};

	nldev_request(&d, data, n);
	fz_check(acks + ends >= wanted);
}

static void ask_route(uint8_t options, const struct nlmsghdr *h)
{
	struct rtnl r = {
		.iface = iface, .n = options >> 6, .strict = options & STRICT, .to = peer(options)};
	enum rtnl_who who = rtnl_request(&r, h);

	fz_check(!ends);
	if (who == RTNL_KERNEL)
		fz_check(!acks && !messages);
	else if (who == RTNL_OURS)
		fz_check(acks + messages >= 1 && acks <= 1 && messages <= 1);
	else
		fz_check(!acks);
}

static void begin(void)
{
	uint32_t ports[2];

	if (seg.self)
		return;
	fz_check(!umad_test_world(&seg, 2, ports));
	for (unsigned int i = 0; i < 2; i++)
		fz_check(fab_iface(&seg, ports[i], &iface[i]));
	iface[2] = iface[1];
	iface[2].index++;
	iface[2].nip4 = 2;
	memcpy(iface[2].ip4, "\x0a\0\0\1\x0a\0\0\2", 8);
	iface[2].prefix4[0] = iface[2].prefix4[1] = 24;
	iface[2].nip6 = 2;
	iface[2].prefix6[1] = 61;
	iface[2].ip6[1][0] = 0x20;
	fz_cover_from_here();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};
	uint8_t options, buf[SENT_MAX] __attribute__((aligned(8)));
	unsigned int wanted = 0;
	size_t n = 0;

	begin();
	options = fz_u8(&f);
	acks = ends = messages = 0;
	/* The longest message takes less than 1200 bytes. */
	while (f.n && n < SENT_MAX - 1200) {
		size_t len = message(&f, options, buf + n);
		const struct nlmsghdr *h = (const void *)(buf + n);
		bool whole = h->nlmsg_len == len;
		uint8_t *copy = malloc(len);

		fz_check(copy);
		memcpy(copy, h, len);
		if (!(options & RDMA) && h->nlmsg_len >= NLMSG_HDRLEN && h->nlmsg_len <= len) {
			ask_route(options, (const void *)copy);
			acks = messages = 0;
		}
		free(copy);
		n = NLMSG_ALIGN(n + len);
		if (!whole)
			break;
		wanted += (h->nlmsg_flags & NLM_F_REQUEST) && (h->nlmsg_flags & NLM_F_ACK);
	}
	if (options & RDMA) {
		uint8_t *copy = malloc(n);

		fz_check(copy);
		memcpy(copy, buf, n);
		ask_rdma(options, copy, n, wanted);
		free(copy);
	}
	return 0;
}
