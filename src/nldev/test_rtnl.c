/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of NETLINK_ROUTE: the messages of a real kernel (6.1) for an interface with the same
 * addresses, and whole messages for requests of every type and length with every attribute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nldev/rtnl.h"

#define MAX 64

static struct {
	unsigned int messages, errors;
	int err;
	char hex[MAX][1024]; /* what follows each message's header, in hexadecimal */
	uint16_t flags;
} got;

static int answer(void *arg, const void *data, size_t n)
{
	const struct nlmsghdr *h = data;

	assert_true(n >= NLMSG_HDRLEN && h->nlmsg_len <= n && n <= NLMSG_ALIGN(h->nlmsg_len));
	assert_int_equal(h->nlmsg_seq, 7);
	if (h->nlmsg_type == NLMSG_ERROR) {
		got.err = *(const int *)NLMSG_DATA(h);
		got.errors++;
		return 0;
	}
	assert_true(got.messages < MAX);
	got.flags = h->nlmsg_flags;
	for (size_t i = NLMSG_HDRLEN; i < n && i < sizeof(got.hex[0]) / 2; i++)
		sprintf(got.hex[got.messages] + 2 * (i - NLMSG_HDRLEN), "%02x",
			((const uint8_t *)data)[i]);
	got.messages++;
	return 0;
}

/* The interface of the recording. */
static const struct fab_iface iface = {
	.name = "dum0",
	.index = 2,
	.flags = IFF_UP | IFF_BROADCAST | IFF_RUNNING,
	.mtu = 2044,
	.hwtype = ARPHRD_INFINIBAND,
	.hwlen = FAB_IF_HWADDR,
	.queue_len = 256,
	.nip4 = 1,
	.ip4 = {{10, 9, 0, 1}},
	.prefix4 = {24},
	.nip6 = 2,
	.prefix6 = {64, 64},
	.ip6 = {{0xfe, 0x80, [8] = 0x98, 0x3e, 2, 0xff, 0xfe, 0xb5, 0x9e, 0x36},
		{0xfd, 0x09, [15] = 1}},
};
static struct rtnl route = {.iface = &iface, .n = 1, .strict = true, .to = {.answer = answer}};

struct request {
	struct nlmsghdr h;
	uint8_t data[512];
};

/* The family's header is `head` in hexadecimal digits. */
static struct request make(uint16_t type, uint16_t flags, const char *head)
{
	struct request q = {.h = {.nlmsg_len = NLMSG_LENGTH(strlen(head) / 2),
				  .nlmsg_type = type,
				  .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
				  .nlmsg_seq = 7}};

	for (size_t i = 0; head[2 * i]; i++)
		sscanf(head + 2 * i, "%2hhx", &q.data[i]);
	return q;
}

static void add(struct request *q, uint16_t type, const void *v, size_t n)
{
	struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};
	uint8_t *at = (uint8_t *)q + NLMSG_ALIGN(q->h.nlmsg_len);

	memcpy(at, &a, sizeof(a));
	memcpy(at + sizeof(a), v, n);
	q->h.nlmsg_len = NLMSG_ALIGN(q->h.nlmsg_len) + NLMSG_ALIGN(a.nla_len);
}

/* The request alone at the end of its memory, so that a sanitizer sees a byte too many. */
static enum rtnl_who run(const struct request *q)
{
	void *copy = malloc(q->h.nlmsg_len);
	enum rtnl_who who;

	memset(&got, 0, sizeof(got));
	memcpy(copy, q, q->h.nlmsg_len);
	who = rtnl_request(&route, copy);
	free(copy);
	return who;
}

static void is(const char *const *want, size_t n)
{
	assert_int_equal(got.messages, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(got.hex[i], want[i]);
}
#define IS(...) is((const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / 8)

/* clang-format off */
#define ADDRESS_4 "0218800002000000080001000a090001080002000a090001080004000a0900ff0900030064756d30000000000800080080000000" \
	"14000600ffffffffffffffff0000000000000000"
#define ADDRESS_G "0a4080000200000014000100fd09000000000000000000000000000114000600ffffffffffffffff0000000000000000" \
	"0800080080000000"
#define ADDRESS_L "0a4080fd0200000014000100fe80000000000000983e02fffeb59e3614000600ffffffffffffffff0000000000000000" \
	"080008008000000005000b0003000000"
#define TAIL_6 "24000c00" "0000000000000000000000000000000000000000000000000000000000000000" "0500140000000000"
#define SUBNET_4 "02180000fe02fd010000000008000f00fe000000080001000a090000080007000a0900010800040002000000"
#define LOCAL_4 "02200000ff02fe020000000008000f00ff000000080001000a090001080007000a0900010800040002000000"
#define BROADCAST_4 "02200000ff02fd030000000008000f00ff000000080001000a0900ff080007000a0900010800040002000000"
#define SUBNET_G "0a400000fe0200010000000008000f00fe00000014000100fd0900000000000000000000000000000800060000010000" \
	"0800040002000000" TAIL_6
#define SUBNET_L "0a400000fe0200010000000008000f00fe00000014000100fe8000000000000000000000000000000800060000010000" \
	"0800040002000000" TAIL_6
#define LOCAL_G "0a800000ff0200020000000008000f00ff00000014000100fd0900000000000000000000000000010800060000000000" \
	"0800040002000000" TAIL_6
#define LOCAL_L "0a800000ff0200020000000008000f00ff00000014000100fe80000000000000983e02fffeb59e360800060000000000" \
	"0800040002000000" TAIL_6
#define MULTICAST "0a080000ff0200050000000008000f00ff00000014000100ff0000000000000000000000000000000800060000010000" \
	"0800040002000000" TAIL_6
/* clang-format on */

static void addresses_as_recorded(void **state)
{
	struct request q = make(RTM_GETADDR, NLM_F_DUMP, "0000000002000000");

	assert_int_equal(run(&q), RTNL_DUMP_OURS);
	IS(ADDRESS_4, ADDRESS_G, ADDRESS_L);
	assert_int_equal(got.flags, NLM_F_MULTI | NLM_F_DUMP_FILTERED);
	q = make(RTM_GETADDR, NLM_F_DUMP, "02");
	assert_int_equal(run(&q), RTNL_DUMP);
	IS(ADDRESS_4);
	assert_int_equal(got.flags, NLM_F_MULTI);
	q = make(RTM_GETADDR, 0, "0a00000002000000");
	add(&q, 1, iface.ip6[0], 16);
	assert_int_equal(run(&q), RTNL_OURS);
	IS(ADDRESS_L);
}

static void routes_as_recorded(void **state)
{
	struct request q = make(RTM_GETROUTE, NLM_F_DUMP, "000000000000000000000000");

	add(&q, RTA_OIF, &iface.index, 4);
	assert_int_equal(run(&q), RTNL_DUMP_OURS);
	IS(SUBNET_4, LOCAL_4, BROADCAST_4, SUBNET_G, SUBNET_L, LOCAL_G, LOCAL_L, MULTICAST);
	/* main of IPv4 alone; local of IPv6 */
	q = make(RTM_GETROUTE, NLM_F_DUMP, "02000000fe00000000000000");
	run(&q);
	IS(SUBNET_4);
	q = make(RTM_GETROUTE, NLM_F_DUMP, "0a000000ff00000000000000");
	run(&q);
	IS(LOCAL_G, LOCAL_L, MULTICAST);
	/* RTM_F_CLONED, RTM_F_PREFIX */
	q = make(RTM_GETROUTE, NLM_F_DUMP, "000000000000000000020000");
	run(&q);
	assert_int_equal(got.messages, 0);
	q = make(RTM_GETROUTE, NLM_F_DUMP, "000000000000000000080000");
	run(&q);
	assert_int_equal(got.messages, 0);
}

static void look_ups_as_recorded(void **state)
{
	struct request q = make(RTM_GETROUTE, 0, "022000000000000000200000");

	add(&q, RTA_DST, "\x0a\x09\0\x02", 4);
	assert_int_equal(run(&q), RTNL_OURS);
	IS(SUBNET_4);
	q = make(RTM_GETROUTE, 0, "022000000000000000000000");
	add(&q, RTA_DST, "\x0a\x09\0\x01", 4);
	run(&q);
	IS("02200000fe0000020002008008000f00fe000000080001000a0900010800040001000000080007000a09000"
	   "1"
	   "080019000000000024000c00"
	   "0100000000000000000000000000000000000000000000000000000000000000");
	q = make(RTM_GETROUTE, 0, "0a8000000000000000200000");
	add(&q, RTA_DST, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\x12\x34", 16);
	assert_int_equal(run(&q), RTNL_KERNEL);
	add(&q, RTA_OIF, &iface.index, 4);
	assert_int_equal(run(&q), RTNL_OURS);
	IS(SUBNET_L);
	/* on the link of a named interface, whatever the tables say */
	q = make(RTM_GETROUTE, 0, "022000000000000000000000");
	add(&q, RTA_DST, "\x0b\0\0\x01", 4);
	assert_int_equal(run(&q), RTNL_KERNEL);
	add(&q, RTA_OIF, &iface.index, 4);
	assert_int_equal(run(&q), RTNL_OURS);
	assert_int_equal(got.messages, 1);
}

static void prefixes(void **state)
{
	struct fab_iface f = iface;
	struct request q = make(RTM_GETROUTE, NLM_F_DUMP, "02000000");

	route.iface = &f;
	for (uint8_t n = 1; n <= 32; n++) {
		f.prefix4[0] = n;
		run(&q);
		assert_int_equal(got.messages, n == 32 ? 1 : n == 31 ? 2 : 3);
	}
	f.nip4 = 0;
	run(&q);
	assert_int_equal(got.messages, 0);
	route.iface = &iface;
}

/* An address in the subnet of an earlier one: "secondary", and without a route of its own. */
static void secondary_addresses(void **state)
{
	static const char secondary[] = "02188100"; /* IFA_F_PERMANENT, IFA_F_SECONDARY */
	struct fab_iface f = iface;
	struct request q = make(RTM_GETADDR, NLM_F_DUMP, "0200000000000000");

	f.nip4 = 3;
	memcpy(f.ip4[1], "\x0a\x0a\0\1", 4);
	memcpy(f.ip4[2], "\x0a\x09\0\5", 4);
	f.prefix4[1] = f.prefix4[2] = 24;
	route.iface = &f;
	run(&q);
	assert_int_equal(got.messages, 3);
	assert_memory_not_equal(got.hex[0], secondary, 8);
	assert_memory_not_equal(got.hex[1], secondary, 8);
	assert_memory_equal(got.hex[2], secondary, 8);
	q = make(RTM_GETROUTE, NLM_F_DUMP, "020000000000000000000000");
	run(&q);
	assert_int_equal(got.messages, 3 + 3 + 1);
	for (unsigned int i = 0; i < got.messages;
	     i++) /* its route has the primary address as source */
		assert_null(strstr(got.hex[i], "080007000a090005"));
	route.iface = &iface;
}

/* Notifications: their groups and types, one after the other. */
static struct {
	uint32_t n, group[8], type[8];
	uint8_t first[8]; /* octet of the family's header */
} heard;

static void hear(void *arg, uint32_t group, const void *data, size_t n)
{
	const struct nlmsghdr *h = data;

	assert_ptr_equal(arg, &heard);
	assert_true(heard.n < 8);
	assert_int_equal(h->nlmsg_len, n);
	heard.group[heard.n] = group;
	heard.type[heard.n] = h->nlmsg_type;
	heard.first[heard.n++] = *(const uint8_t *)NLMSG_DATA(h);
}

static void assert_heard(uint32_t i, uint32_t group, uint32_t type, uint8_t first)
{
	assert_int_equal(heard.group[i], group);
	assert_int_equal(heard.type[i], type);
	assert_int_equal(heard.first[i], first);
}

static void changes_are_told(void **state)
{
	struct fab_iface was[2] = {iface, iface}, is[2] = {iface, iface};

	was[1].index = is[1].index = 3;
	rtnl_news(was, 2, is, 2, hear, &heard);
	assert_int_equal(heard.n, 0);
	is[1].flags &= ~(unsigned int)IFF_RUNNING;
	is[0].nip6 = 1;
	memcpy(is[0].ip4[0], "\x0a\x0a\0\1", 4);
	is[1].nip4 = 2;
	memcpy(is[1].ip4[1], "\x0a\x0a\0\2", 4);
	is[1].prefix4[1] = 16;
	rtnl_news(was, 2, is, 2, hear, &heard);
	assert_int_equal(heard.n, 5);
	assert_heard(0, RTNLGRP_IPV4_IFADDR, RTM_DELADDR, AF_INET);
	assert_heard(1, RTNLGRP_IPV6_IFADDR, RTM_DELADDR, AF_INET6);
	assert_heard(2, RTNLGRP_IPV4_IFADDR, RTM_NEWADDR, AF_INET);
	assert_heard(3, RTNLGRP_LINK, RTM_NEWLINK, AF_UNSPEC);
	assert_heard(4, RTNLGRP_IPV4_IFADDR, RTM_NEWADDR, AF_INET);
	heard.n = 0;
	was[0] = is[0];
	was[1] = is[1];
	was[1].prefix4[1] = 24; /* another subnet is another address */
	rtnl_news(was, 2, is, 2, hear, &heard);
	assert_int_equal(heard.n, 2);
	is[1].index = 9; /* not the same interface */
	was[1].nip4 = is[1].nip4 = 1;
	was[1].nip6 = is[1].nip6 = 1;
	heard.n = 0;
	rtnl_news(was, 2, is, 2, hear, &heard);
	assert_int_equal(heard.n, 6);
	assert_heard(0, RTNLGRP_IPV4_IFADDR, RTM_DELADDR, AF_INET);
	assert_heard(1, RTNLGRP_IPV6_IFADDR, RTM_DELADDR, AF_INET6);
	assert_heard(2, RTNLGRP_LINK, RTM_DELLINK, AF_UNSPEC);
	assert_heard(3, RTNLGRP_LINK, RTM_NEWLINK, AF_UNSPEC);
	assert_heard(4, RTNLGRP_IPV4_IFADDR, RTM_NEWADDR, AF_INET);
	assert_heard(5, RTNLGRP_IPV6_IFADDR, RTM_NEWADDR, AF_INET6);
}

static void whole(const struct request *q)
{
	enum rtnl_who who = run(q);

	if (who == RTNL_OURS)
		assert_int_equal(got.messages + got.errors, 1);
	else if (who == RTNL_KERNEL)
		assert_int_equal(got.messages + got.errors, 0);
	else
		assert_int_equal(got.errors, 0);
}

/* Each attribute of each length in each request, and each prefix of a request. */
static void any_bytes(void **state)
{
	static const char *const heads[] = {"02000000020000000000000000000000",
					    "0a0000000200000000000000"};
	static const uint8_t ones[24] = {2, 0, 1, 0, 'x'};

	for (uint16_t type = RTM_BASE; type <= RTM_GETTFILTER; type++)
		for (uint16_t attr = 0; attr < 80; attr++)
			for (size_t n = 0; n < sizeof(ones); n++) {
				struct request q =
					make(type, n & 1 ? NLM_F_DUMP : 0, heads[n >> 1 & 1]);

				route.strict = n & 4;
				add(&q, attr | (n & 8 ? NLA_F_NESTED : 0), ones, n);
				whole(&q);
				q.h.nlmsg_len -= attr % 4;
				whole(&q);
			}
	for (uint16_t type = RTM_BASE; type <= RTM_GETTFILTER; type++)
		for (uint32_t n = NLMSG_HDRLEN; n <= NLMSG_HDRLEN + 24; n++) {
			struct request q = make(type, n & 1 ? NLM_F_DUMP : 0, heads[0]);

			q.h.nlmsg_len = n;
			whole(&q);
		}
	route.strict = true;
}

/* Nobody may change them. */
static void changes(void **state)
{
	static const uint16_t types[] = {
		RTM_NEWLINK,   RTM_DELLINK,    RTM_SETLINK,   RTM_NEWADDR,  RTM_DELADDR,
		RTM_NEWNEIGH,  RTM_DELNEIGH,   RTM_NEWQDISC,  RTM_DELQDISC, RTM_NEWTCLASS,
		RTM_DELTCLASS, RTM_NEWTFILTER, RTM_DELTFILTER};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct request q = make(types[i], 0, "00000000020000000000000000000000");

		assert_int_equal(run(&q), RTNL_OURS);
		assert_int_equal(got.err, -EPERM);
		q = make(types[i], 0, "00000000030000000000000000000000");
		assert_int_equal(run(&q), RTNL_KERNEL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_as_recorded),
		cmocka_unit_test(routes_as_recorded),
		cmocka_unit_test(look_ups_as_recorded),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(secondary_addresses),
		cmocka_unit_test(changes_are_told),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
