/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets of NETLINK_ROUTE under `softhca run`: the machine's own interfaces are there (lo), and
 * ib0 beside them, in every form of request that a kernel answers for an interface. What a call on
 * the socket does apart from that is what the kernel does.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/test_cmocka.h"

#define FN(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))
#define assert_fails(call, err)                                                          \
	do {                                                                             \
		errno = 0;                                                               \
		if ((long)(call) != -1 || errno != (err))                                \
			fail_msg("%s: expected %s, got %s", #call, strerrorname_np(err), \
				 errno ? strerrorname_np(errno) : "success");            \
	} while (0)

typedef ssize_t recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
typedef ssize_t recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags,
			     struct sockaddr *a, socklen_t *len);

static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
static int fd;
static uint32_t ib, portid;

static void set(int option, int v)
{
	assert_int_equal(setsockopt(fd, SOL_NETLINK, option, &v, sizeof(v)), 0);
}

static int setup(void **state)
{
	struct sockaddr_nl a;
	socklen_t len = sizeof(a);

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ib = if_nametoindex("ib0");
	if (fd < 0 || !ib || bind(fd, (void *)&kernel, sizeof(kernel)) ||
	    getsockname(fd, (void *)&a, &len))
		return -1;
	portid = a.nl_pid;
	return 0;
}

static int setup_strict(void **state)
{
	int r = setup(state);

	if (!r) {
		set(NETLINK_GET_STRICT_CHK, 1);
		set(NETLINK_EXT_ACK, 1);
	}
	return r;
}

static int teardown(void **state)
{
	return close(fd);
}

/* ---- requests */

struct request {
	struct nlmsghdr h;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg addr;
		struct rtmsg route;
		struct ndmsg neigh;
		uint8_t bytes[256];
	};
};

static struct request make(uint16_t type, uint16_t flags, uint32_t seq)
{
	size_t n = type == RTM_GETADDR || type == RTM_NEWADDR     ? sizeof(struct ifaddrmsg)
		   : type == RTM_GETROUTE || type == RTM_NEWROUTE ? sizeof(struct rtmsg)
		   : type == RTM_GETNEIGH || type == RTM_NEWNEIGH ? sizeof(struct ndmsg)
								  : sizeof(struct ifinfomsg);

	return (struct request){.h = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(n),
				      .nlmsg_type = type,
				      .nlmsg_flags = NLM_F_REQUEST | flags,
				      .nlmsg_seq = seq}};
}

static void add(struct request *q, uint16_t type, const void *v, size_t n)
{
	struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};
	uint8_t *at = (uint8_t *)q + NLMSG_ALIGN(q->h.nlmsg_len);

	memcpy(at, &a, sizeof(a));
	memcpy(at + sizeof(a), v, n);
	q->h.nlmsg_len = NLMSG_ALIGN(q->h.nlmsg_len) + NLMSG_ALIGN(a.nla_len);
}

static void add32(struct request *q, uint16_t type, uint32_t v)
{
	add(q, type, &v, sizeof(v));
}

static void add_ip(struct request *q, uint16_t type, const char *text)
{
	uint8_t ip[16];
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;

	assert_int_equal(inet_pton(family, text, ip), 1);
	add(q, type, ip, family == AF_INET ? 4 : 16);
}

static void post(const struct request *q)
{
	assert_int_equal(send(fd, q, q->h.nlmsg_len, 0), q->h.nlmsg_len);
}

static struct request link_by_index(uint32_t seq)
{
	struct request q = make(RTM_GETLINK, 0, seq);

	q.link.ifi_index = (int)ib;
	return q;
}

/* ---- answers */

static struct answer {
	int messages, ours, others, err;
	uint16_t type, flags;
	bool done, error;
	_Alignas(8) uint8_t last[8192]; /* of ours */
	char text[80];
} got;

static uint32_t index_of(const struct nlmsghdr *h)
{
	const struct rtmsg *m = NLMSG_DATA(h);
	const struct rtattr *a = RTM_RTA(m);
	int n = (int)RTM_PAYLOAD(h);

	if (h->nlmsg_type != RTM_NEWROUTE)
		return ((const uint32_t *)NLMSG_DATA(h))[1];
	for (; RTA_OK(a, n); a = RTA_NEXT(a, n))
		if (a->rta_type == RTA_OIF)
			return *(const uint32_t *)RTA_DATA(a);
	return 0;
}

static void note_error(const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);
	size_t at = NLMSG_LENGTH(sizeof(*e));

	got.error = true;
	got.err = e->error;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		at = NLMSG_ALIGN(at + e->msg.nlmsg_len - NLMSG_HDRLEN);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		snprintf(got.text, sizeof(got.text), "%s", (const char *)h + at + NLA_HDRLEN);
}

/* A datagram of answers to one request. */
static void note(const uint8_t *buf, ssize_t n, uint32_t seq)
{
	const struct nlmsghdr *h = (const void *)buf;

	assert_true(n > 0);
	for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		assert_int_equal(h->nlmsg_seq, seq);
		assert_int_equal(h->nlmsg_pid, portid);
		got.flags = h->nlmsg_flags;
		if (h->nlmsg_type == NLMSG_ERROR) {
			note_error(h);
		} else if (h->nlmsg_type == NLMSG_DONE) {
			got.done = true;
			got.err = *(const int *)NLMSG_DATA(h);
		} else {
			got.messages++;
			got.type = h->nlmsg_type;
			if (index_of(h) == ib) {
				got.ours++;
				assert_true(h->nlmsg_len <= sizeof(got.last));
				memcpy(got.last, h, h->nlmsg_len);
			} else {
				got.others++;
			}
		}
	}
	assert_int_equal(n, 0);
}

/* Reads until the request has its end; datagrams are not longer than the kernel's. */
static void read_all(uint32_t seq, bool dump)
{
	_Alignas(8) uint8_t buf[32768];
	ssize_t n;

	memset(&got, 0, sizeof(got));
	do {
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		note(buf, n, seq);
	} while (dump ? !got.done && !got.error : !got.messages && !got.error);
}

static void nothing_more(void)
{
	char c;

	assert_fails(recv(fd, &c, 1, MSG_DONTWAIT), EAGAIN);
}

static void ask(const struct request *q)
{
	bool dump = q->h.nlmsg_flags & NLM_F_DUMP;

	post(q);
	read_all(q->h.nlmsg_seq, dump);
	if (!dump && (q->h.nlmsg_flags & NLM_F_ACK) && !got.error) {
		struct answer first = got;

		read_all(q->h.nlmsg_seq, true);
		assert_int_equal(got.err, 0);
		got = first;
	}
	nothing_more();
}

/* The attribute of the last message about ib0. */
static const void *attribute(uint16_t type, size_t head, size_t n)
{
	const struct nlmsghdr *h = (const void *)got.last;
	size_t at = NLMSG_LENGTH(head);

	while (at + NLA_HDRLEN <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)(got.last + at);

		if ((a->nla_type & NLA_TYPE_MASK) == type) {
			if (n)
				assert_int_equal(a->nla_len, NLA_HDRLEN + n);
			return a + 1;
		}
		at += NLA_ALIGN(a->nla_len);
	}
	fail_msg("no attribute %u", type);
	return NULL;
}

static uint32_t attribute32(uint16_t type, size_t head)
{
	return *(const uint32_t *)attribute(type, head, 4);
}

/* ---- links */

static void is_ib0(void)
{
	const struct ifinfomsg *m = NLMSG_DATA((struct nlmsghdr *)got.last);
	const size_t head = sizeof(*m);
	const uint8_t *mac = attribute(IFLA_ADDRESS, head, 20);

	assert_int_equal(m->ifi_type, ARPHRD_INFINIBAND);
	assert_int_equal(m->ifi_flags & (IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_LOOPBACK),
			 IFF_UP | IFF_RUNNING | IFF_BROADCAST);
	assert_string_equal(attribute(IFLA_IFNAME, head, 0), "ib0");
	assert_int_equal(attribute32(IFLA_MTU, head), 2044);
	assert_int_equal(attribute32(IFLA_TXQLEN, head), 256);
	assert_int_equal(attribute32(IFLA_PROMISCUITY, head), 0);
	assert_int_equal(*(const uint8_t *)attribute(IFLA_OPERSTATE, head, 1), 6);
	assert_int_equal(*(const uint8_t *)attribute(IFLA_CARRIER, head, 1), 1);
	attribute(IFLA_STATS64, head, sizeof(struct rtnl_link_stats64));
	assert_memory_equal(mac + 4, "\xfe\x80\0\0\0\0\0\0", 8);
	assert_non_null(memmem(attribute(IFLA_LINKINFO, head, 0), 16, "ipoib", 6));
}

static void links(void **state)
{
	struct request q = make(RTM_GETLINK, NLM_F_DUMP, 5);

	ask(&q);
	assert_int_equal(got.err, 0);
	assert_int_equal(got.ours, 1);
	assert_true(got.others >= 1);
	is_ib0();
	/* as getifaddrs() asks */
	q.h.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg));
	ask(&q);
	assert_int_equal(got.ours, 1);
	q = link_by_index(6);
	ask(&q);
	assert_int_equal(got.messages, 1);
	is_ib0();
	q = make(RTM_GETLINK, NLM_F_ACK, 7);
	add(&q, IFLA_IFNAME, "ib0", 4);
	ask(&q);
	is_ib0();
	q = make(RTM_GETLINK, 0, 8);
	q.link.ifi_index = 1;
	ask(&q);
	assert_int_equal(got.others, 1);
	q = make(RTM_GETLINK, 0, 9);
	add(&q, IFLA_IFNAME, "ib1", 4);
	ask(&q);
	assert_int_equal(got.err, -ENODEV);
	q = link_by_index(10);
	q.link.ifi_index++;
	ask(&q);
	assert_int_equal(got.err, -ENODEV);
}

static void filtered_links(void **state)
{
	_Alignas(4) uint8_t kind[12] = {10, 0, IFLA_INFO_KIND, 0, 'i', 'p', 'o', 'i', 'b'};
	struct request q = make(RTM_GETLINK, NLM_F_DUMP, 1);

	add(&q, IFLA_LINKINFO, kind, sizeof(kind));
	ask(&q);
	assert_int_equal(got.ours, 1);
	memcpy(kind + 4, "dummy", 5);
	q = make(RTM_GETLINK, NLM_F_DUMP, 2);
	add(&q, IFLA_LINKINFO, kind, sizeof(kind));
	ask(&q);
	assert_int_equal(got.ours, 0);
	q = make(RTM_GETLINK, NLM_F_DUMP, 3);
	add32(&q, IFLA_MASTER, 1);
	ask(&q);
	assert_int_equal(got.messages, 0);
	/* the kernel refuses the dump: nothing of ours */
	q = make(RTM_GETLINK, NLM_F_DUMP, 4);
	q.link.ifi_index = (int)ib;
	ask(&q);
	assert_int_equal(got.err, -EINVAL);
	assert_int_equal(got.messages, 0);
	q = link_by_index(5);
	q.link.ifi_flags = 1;
	ask(&q);
	assert_int_equal(got.err, -EINVAL);
	assert_string_equal(got.text, "Invalid values in header for get link request");
	q = link_by_index(6);
	add32(&q, IFLA_MTU, 1);
	ask(&q);
	assert_string_equal(got.text, "Unsupported attribute in get link request");
}

/* ---- addresses, routes, neighbours */

static void addresses(void **state)
{
	static const int counts[][2] = {
		{AF_UNSPEC, 2}, {AF_INET, 1}, {AF_INET6, 1}, {AF_PACKET, 2}};
	struct request q = make(RTM_GETADDR, NLM_F_DUMP, 0);

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		q.addr.ifa_family = (uint8_t)counts[i][0];
		q.addr.ifa_index = 0;
		ask(&q);
		assert_int_equal(got.ours, counts[i][1]);
		q.addr.ifa_index = ib;
		ask(&q);
		assert_int_equal(got.err, 0);
		assert_true(got.flags & NLM_F_DUMP_FILTERED);
		assert_int_equal(got.messages, counts[i][1]);
		assert_int_equal(got.ours, counts[i][1]);
		q.addr.ifa_index = 1;
		ask(&q);
		assert_int_equal(got.ours, 0);
		q.addr.ifa_index = ib + 1;
		ask(&q);
		assert_int_equal(got.err, -ENODEV);
	}
	q.addr.ifa_family = AF_INET;
	q.addr.ifa_index = ib;
	ask(&q);
	assert_memory_equal(attribute(IFA_LOCAL, 8, 4), "\x7f\1\0\1", 4);
	assert_memory_equal(attribute(IFA_BROADCAST, 8, 4), "\x7f\1\xff\xff", 4);
	assert_string_equal(attribute(IFA_LABEL, 8, 0), "ib0");
	q.h.nlmsg_flags = NLM_F_REQUEST;
	ask(&q);
	assert_int_equal(got.err, -EOPNOTSUPP);
}

static void one_address(void **state)
{
	struct request dump = make(RTM_GETADDR, NLM_F_DUMP, 1), q = make(RTM_GETADDR, 0, 2);
	uint8_t ip[16];

	dump.addr.ifa_family = q.addr.ifa_family = AF_INET6;
	ask(&dump);
	memcpy(ip, attribute(IFA_ADDRESS, 8, 16), 16);
	add(&q, IFA_ADDRESS, ip, 16);
	ask(&q);
	assert_int_equal(got.ours, 1);
	assert_memory_equal(attribute(IFA_ADDRESS, 8, 16), ip, 16);
	q.addr.ifa_index = ib;
	ask(&q);
	assert_int_equal(got.ours, 1);
}

static void routes(void **state)
{
	struct request q = make(RTM_GETROUTE, NLM_F_DUMP, 1);

	ask(&q);
	assert_int_equal(got.ours, 6);
	q.route.rtm_family = AF_INET;
	ask(&q);
	assert_int_equal(got.ours, 3);
	assert_true(got.others > 0);
	q.route.rtm_table = RT_TABLE_MAIN;
	ask(&q);
	assert_int_equal(got.ours, 1);
	assert_memory_equal(attribute(RTA_DST, 12, 4), "\x7f\1\0\0", 4);
	assert_memory_equal(attribute(RTA_PREFSRC, 12, 4), "\x7f\1\0\1", 4);
	q.route.rtm_table = 0;
	q.route.rtm_type = RTN_BROADCAST;
	ask(&q);
	assert_int_equal(got.ours, 1);
	q.route.rtm_type = 0;
	q.route.rtm_protocol = RTPROT_STATIC;
	ask(&q);
	assert_int_equal(got.ours, 0);
	q = make(RTM_GETROUTE, NLM_F_DUMP, 2);
	add32(&q, RTA_OIF, ib);
	ask(&q);
	assert_int_equal(got.err, 0);
	assert_int_equal(got.messages, 6);
	assert_int_equal(got.ours, 6);
	q = make(RTM_GETROUTE, NLM_F_DUMP, 3);
	add32(&q, RTA_OIF, 1);
	ask(&q);
	assert_int_equal(got.ours, 0);
	assert_true(got.others > 0);
	q = make(RTM_GETROUTE, NLM_F_DUMP, 4);
	q.route.rtm_family = RTNL_FAMILY_IPMR;
	ask(&q);
	assert_int_equal(got.ours, 0);
}

static struct request route_to(const char *ip, uint32_t oif)
{
	struct request q = make(RTM_GETROUTE, 0, 9);

	q.route.rtm_family = strchr(ip, ':') ? AF_INET6 : AF_INET;
	q.route.rtm_dst_len = strchr(ip, ':') ? 128 : 32;
	add_ip(&q, RTA_DST, ip);
	if (oif)
		add32(&q, RTA_OIF, oif);
	return q;
}

static void one_route(void **state)
{
	/* where TCP goes */
	struct request q = route_to("127.1.0.2", 0);

	ask(&q);
	assert_int_equal(got.others, 1);
	q = route_to("127.1.0.2", ib);
	ask(&q);
	assert_int_equal(got.ours, 1);
	assert_memory_equal(attribute(RTA_PREFSRC, 12, 4), "\x7f\1\0\1", 4);
	assert_memory_equal(attribute(RTA_DST, 12, 4), "\x7f\1\0\2", 4);
	q.route.rtm_flags = RTM_F_FIB_MATCH;
	ask(&q);
	assert_memory_equal(attribute(RTA_DST, 12, 4), "\x7f\1\0\0", 4);
	q = route_to("fe80::1", ib);
	ask(&q);
	assert_int_equal(got.ours, 1);
	q = route_to("2001:db8::1", ib);
	ask(&q);
	assert_int_equal(got.err, -ENETUNREACH);
	q = route_to("127.0.0.1", 1);
	ask(&q);
	assert_int_equal(got.others, 1);
	q = route_to("127.0.0.1", ib + 1);
	ask(&q);
	assert_int_equal(got.err, -ENODEV);
}

static void neighbours(void **state)
{
	struct request q = make(RTM_GETNEIGH, NLM_F_DUMP, 1);

	ask(&q);
	assert_int_equal(got.err, 0);
	assert_int_equal(got.ours, 0);
	q = make(RTM_GETNEIGH, 0, 2);
	q.neigh.ndm_family = AF_INET;
	q.neigh.ndm_ifindex = (int)ib;
	ask(&q);
	assert_int_equal(got.err, -EINVAL);
	assert_string_equal(got.text, "Network address not specified");
	add_ip(&q, NDA_DST, "127.1.0.2");
	ask(&q);
	assert_int_equal(got.err, -ENOENT);
	assert_string_equal(got.text, "Neighbour entry not found");
}

static void changes(void **state)
{
	static const uint16_t types[] = {RTM_NEWLINK, RTM_DELLINK, RTM_SETLINK,
					 RTM_NEWADDR, RTM_DELADDR, RTM_NEWNEIGH};
	struct request q;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		q = make(types[i], NLM_F_ACK, i);
		q.link.ifi_index = (int)ib; /* in the same place of all */
		ask(&q);
		assert_int_equal(got.err, -EPERM);
	}
	q = make(RTM_NEWROUTE, NLM_F_CREATE, 1);
	add32(&q, RTA_OIF, ib);
	ask(&q);
	assert_int_equal(got.err, -EPERM);
	q = make(RTM_NEWLINK, NLM_F_CREATE, 1);
	add(&q, IFLA_IFNAME, "ib0", 4);
	ask(&q);
	assert_int_equal(got.err, -EPERM);
}

/* ---- the socket */

static void answered(uint32_t seq)
{
	read_all(seq, false);
	assert_int_equal(got.ours, 1);
	nothing_more();
}

static void every_way_to_send(void **state)
{
	struct request q = link_by_index(1);
	struct iovec v[2] = {{&q, 20}, {(uint8_t *)&q + 20, q.h.nlmsg_len - 20}};
	struct mmsghdr m = {.msg_hdr = {.msg_name = (void *)&kernel,
					.msg_namelen = sizeof(kernel),
					.msg_iov = v,
					.msg_iovlen = 2}};
	const size_t n = q.h.nlmsg_len;

	assert_int_equal(FN(send)(fd, &q, n, 0), n);
	answered(1);
	q.h.nlmsg_seq++;
	assert_int_equal(FN(sendto)(fd, &q, n, 0, (void *)&kernel, sizeof(kernel)), n);
	answered(2);
	q.h.nlmsg_seq++;
	assert_int_equal(FN(sendmsg)(fd, &m.msg_hdr, 0), n);
	answered(3);
	q.h.nlmsg_seq++;
	assert_int_equal(FN(sendmmsg)(fd, &m, 1, 0), 1);
	assert_int_equal(m.msg_len, n);
	answered(4);
	q.h.nlmsg_seq++;
	assert_int_equal(write(fd, &q, n), n);
	answered(5);
	q.h.nlmsg_seq++;
	assert_int_equal(writev(fd, v, 2), n);
	answered(6);
	q.h.nlmsg_seq++;
	assert_int_equal(syscall(SYS_sendto, fd, &q, n, 0, &kernel, sizeof(kernel)), n);
	answered(7);
	q.h.nlmsg_seq++;
	assert_int_equal(syscall(SYS_sendmsg, fd, &m.msg_hdr, 0), n);
	answered(8);
	q.h.nlmsg_seq++;
	assert_int_equal(syscall(SYS_write, fd, &q, n), n);
	answered(9);
}

static void post_one(uint32_t seq)
{
	struct request q = link_by_index(seq);

	post(&q);
}

static void check(const void *buf, ssize_t n, uint32_t seq)
{
	memset(&got, 0, sizeof(got));
	note(buf, n, seq);
	assert_int_equal(got.ours, 1);
	nothing_more();
}

static void every_way_to_read(void **state)
{
	_Alignas(8) uint8_t buf[4096];
	struct sockaddr_nl a;
	socklen_t len = sizeof(a);
	struct iovec v = {buf, sizeof(buf)};
	struct mmsghdr m = {.msg_hdr = {.msg_name = &a, .msg_iov = &v, .msg_iovlen = 1}};
	recv_chk *chk = (recv_chk *)dlsym(RTLD_DEFAULT, "__recv_chk");
	recvfrom_chk *from_chk = (recvfrom_chk *)dlsym(RTLD_DEFAULT, "__recvfrom_chk");

	post_one(1);
	memset(&a, 0xff, sizeof(a));
	check(buf, FN(recvfrom)(fd, buf, sizeof(buf), 0, (void *)&a, &len), 1);
	assert_int_equal(len, sizeof(a));
	assert_memory_equal(&a, &kernel, sizeof(a));
	post_one(2);
	check(buf, chk(fd, buf, sizeof(buf), sizeof(buf), 0), 2);
	post_one(3);
	len = 2;
	check(buf, from_chk(fd, buf, sizeof(buf), sizeof(buf), 0, (void *)&a, &len), 3);
	assert_int_equal(len, sizeof(a));
	post_one(4);
	assert_int_equal(read(fd, buf, 0), 0);
	check(buf, read(fd, buf, sizeof(buf)), 4);
	post_one(5);
	check(buf, readv(fd, &v, 1), 5);
	post_one(6);
	memset(&a, 0xff, sizeof(a));
	m.msg_hdr.msg_namelen = sizeof(a);
	check(buf, recvmsg(fd, &m.msg_hdr, 0), 6);
	assert_int_equal(m.msg_hdr.msg_flags, 0);
	assert_memory_equal(&a, &kernel, sizeof(a));
	post_one(7);
	assert_int_equal(FN(recvmmsg)(fd, &m, 1, 0, NULL), 1);
	check(buf, m.msg_len, 7);
	post_one(8);
	check(buf, syscall(SYS_recvfrom, fd, buf, sizeof(buf), 0, NULL, NULL), 8);
	post_one(9);
	check(buf, syscall(SYS_recvmsg, fd, &m.msg_hdr, 0), 9);
	post_one(10);
	check(buf, syscall(SYS_read, fd, buf, sizeof(buf)), 10);
}

static void lengths(void **state)
{
	_Alignas(8) uint8_t buf[4096];
	struct iovec v = {buf, 0};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	ssize_t n, again;

	post_one(1);
	/* as libnl and iproute2 find the size of their buffer */
	n = recvmsg(fd, &m, MSG_PEEK | MSG_TRUNC);
	assert_true(n > 600);
	assert_true(m.msg_flags & MSG_TRUNC);
	again = recv(fd, buf, sizeof(buf), MSG_PEEK);
	assert_int_equal(again, n);
	check(buf, recv(fd, buf, sizeof(buf), 0), 1);
	/* what does not fit is lost */
	post_one(2);
	memset(buf, 0xee, sizeof(buf));
	v.iov_len = 20;
	assert_int_equal(recvmsg(fd, &m, 0), 20);
	assert_true(m.msg_flags & MSG_TRUNC);
	assert_int_equal(buf[20], 0xee);
	nothing_more();
	post_one(3);
	assert_int_equal(recv(fd, buf, 20, MSG_TRUNC), n);
	nothing_more();
	post_one(4);
	assert_fails(recv(fd, (void *)16, 100, 0), EFAULT);
	nothing_more();
}

/* Datagrams of a dump are those of the kernel and ours, each alone with every length. */
static void lengths_of_dumps(void **state)
{
	static uint8_t buf[65536];
	struct request q = make(RTM_GETLINK, NLM_F_DUMP, 3);
	bool done = false;

	post(&q);
	while (!done) {
		ssize_t n = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

		assert_uint_in_range(n, NLMSG_HDRLEN, sizeof(buf));
		assert_int_equal(recv(fd, buf, (size_t)n, 0), n);
		memset(&got, 0, sizeof(got));
		note(buf, n, 3);
		done = got.done;
	}
	nothing_more();
}

static void several_at_once(void **state)
{
	struct request dump = make(RTM_GETLINK, NLM_F_DUMP, 1), one = link_by_index(2);
	_Alignas(8) uint8_t buf[2 * sizeof(struct request)];
	size_t n = 0;

	for (uint32_t i = 0; i < 50; i++)
		post_one(i);
	for (uint32_t i = 0; i < 50; i++) {
		read_all(i, false);
		assert_int_equal(got.ours, 1);
	}
	nothing_more();
	/* in one datagram: ours, lo, ours */
	for (uint32_t i = 0; i < 3; i++) {
		one = link_by_index(i);
		one.link.ifi_index = i == 1 ? 1 : (int)ib;
		memcpy(buf + n, &one, one.h.nlmsg_len);
		n += one.h.nlmsg_len;
	}
	assert_int_equal(send(fd, buf, n, 0), n);
	for (uint32_t i = 0; i < 3; i++) {
		read_all(i, false);
		assert_int_equal(got.ours, i != 1);
		assert_int_equal(got.messages, 1);
	}
	nothing_more();
	/* with equal numbers: the dump, one request, a second dump after it */
	for (int i = 0; i < 2; i++) {
		one.h.nlmsg_seq = 1;
		post(&dump);
		read_all(1, true);
		assert_int_equal(got.ours, 1);
		post(&one);
		answered(1);
	}
}

/* The kernel has no room for more; what came before is right, and the socket goes on. */
static void overrun(void **state)
{
	_Alignas(8) uint8_t buf[4096];
	uint32_t seq = 0;
	int least = 1;
	ssize_t n;

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)), 0);
	for (uint32_t i = 0; i < 100; i++)
		post_one(i);
	assert_fails(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), ENOBUFS);
	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		memset(&got, 0, sizeof(got));
		note(buf, n, seq++);
		assert_int_equal(got.ours, 1);
	}
	assert_int_equal(errno, EAGAIN);
	assert_uint_in_range(seq, 1, 99);
	post_one(100);
	answered(100);
}

/* A child reads the end of what its parent has begun. */
static void begun_by_another(void **state)
{
	struct request q = make(RTM_GETLINK, NLM_F_DUMP, 1);
	uint8_t buf[8192];
	int status;
	pid_t pid;

	post(&q);
	do {
		memset(&got, 0, sizeof(got));
		note(buf, recv(fd, buf, sizeof(buf), 0), 1);
	} while (!got.others);
	pid = fork();
	if (!pid) {
		read_all(1, true);
		assert_int_equal(got.ours, 1);
		nothing_more();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	nothing_more();
	post_one(2);
	answered(2);
}

/* The kernel refuses it while the first one runs. */
static void second_dump(uint32_t seq)
{
	struct request q = make(RTM_GETROUTE, NLM_F_DUMP, 1),
		       other = make(RTM_GETLINK, NLM_F_DUMP, seq);
	_Alignas(8) uint8_t buf[32768];
	struct nlmsghdr *h = (void *)buf;
	int busy = 0, done = 0, ours = 0;

	q.route.rtm_family = AF_INET;
	post(&q);
	post(&other);
	while (done + busy < 2) {
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		assert_true(n > 0);
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			done += h->nlmsg_type == NLMSG_DONE;
			if (h->nlmsg_type == NLMSG_ERROR) {
				assert_int_equal(((struct nlmsgerr *)NLMSG_DATA(h))->error, -EBUSY);
				busy++;
			}
			ours += h->nlmsg_type == RTM_NEWROUTE && index_of(h) == ib;
		}
	}
	nothing_more();
	assert_int_equal(ours, 3);
}

static void a_second_dump(void **state)
{
	second_dump(2);
	second_dump(1);
}

static void waiting(void **state)
{
	struct timeval soon = {0, 1000};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct epoll_event ev = {.events = EPOLLIN};
	int ep = epoll_create1(0);
	char c;

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 0);
	post_one(1);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 1);
	answered(1);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(epoll_wait(ep, &ev, 1, 0), 0);
	close(ep);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	assert_fails(recv(fd, &c, 1, 0), EAGAIN);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_fails(read(fd, &c, 1), EAGAIN);
}

static void *reader(void *arg)
{
	_Alignas(8) uint8_t buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);

	return (void *)(intptr_t)(n > 0 && ((struct nlmsghdr *)buf)->nlmsg_type == RTM_NEWLINK);
}

/* A thread that sleeps already when another one sends. */
static void a_sleeping_reader(void **state)
{
	pthread_t t;
	void *ok;

	for (int i = 0; i < 20; i++) {
		pthread_create(&t, NULL, reader, NULL);
		if (i % 2)
			sched_yield();
		post_one(1);
		pthread_join(t, &ok);
		assert_non_null(ok);
	}
	pthread_create(&t, NULL, reader, NULL);
	pthread_cancel(t);
	pthread_join(t, &ok);
	assert_ptr_equal(ok, PTHREAD_CANCELED);
	post_one(2);
	answered(2);
}

static void copies(void **state)
{
	int copy = dup(fd), status;
	pid_t pid;

	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	fd = copy;
	post_one(1);
	answered(1);
	pid = fork();
	if (!pid) {
		post_one(2);
		answered(2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	post_one(3);
	pid = fork();
	if (!pid) {
		answered(3);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	nothing_more();
	post_one(4);
	answered(4);
}

/* The kernel is asked as by a program without us. */
static void left_alone(void **state)
{
	struct request q = link_by_index(1);
	struct sockaddr_nl other = {.nl_family = AF_NETLINK, .nl_pid = 0x7ffffff0};
	struct sockaddr_in in = {.sin_family = AF_INET};
	int v;
	socklen_t len = sizeof(v);

	assert_fails(send(fd, &q, 0, 0), ENODATA);
	assert_fails(send(fd, (void *)16, 100, 0), EFAULT);
	assert_fails(send(fd, &q, sizeof(q.h), MSG_OOB), EOPNOTSUPP);
	assert_fails(sendto(fd, &q, q.h.nlmsg_len, 0, (void *)&in, sizeof(in)), EINVAL);
	assert_int_equal(sendto(fd, &q, q.h.nlmsg_len, 0, (void *)&other, sizeof(other)), -1);
	assert_true(errno == EPERM || errno == ECONNREFUSED);
	nothing_more();
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &v, &len), 0);
	assert_int_equal(v, NETLINK_ROUTE);
	/* a message without NLM_F_REQUEST, a wrong length, bytes behind a message */
	q.h.nlmsg_flags = 0;
	post(&q);
	q.h.nlmsg_len = 5000;
	assert_int_equal(send(fd, &q, sizeof(q), 0), sizeof(q));
	nothing_more();
	q = link_by_index(2);
	assert_int_equal(send(fd, &q, q.h.nlmsg_len + 3, 0), q.h.nlmsg_len + 3);
	answered(2);
}

#ifdef __x86_64__
/* The number belongs to another file, which no wrapper of ours has seen. */
static void number_of_another_file(void **state)
{
	int ends[2];
	long r = SYS_close;
	char c = 0;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "xyz", 3), 3);
	__asm__ volatile("syscall" : "+a"(r) : "D"(fd) : "rcx", "r11", "memory");
	assert_int_equal(r, 0);
	r = SYS_dup2;
	__asm__ volatile("syscall" : "+a"(r) : "D"(ends[0]), "S"(fd) : "rcx", "r11", "memory");
	assert_int_equal(r, fd);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(c, 'x');
	assert_fails(recv(fd, &c, 1, 0), ENOTSOCK);
	assert_fails(pread(fd, &c, 1, 0), ESPIPE);
	assert_int_equal(splice(fd, NULL, ends[1], NULL, 0, 0), 0);
	close(ends[0]);
	close(ends[1]);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define STRICT(name) cmocka_unit_test_setup_teardown(name, setup_strict, teardown)
		TEST(links),
		STRICT(filtered_links),
		STRICT(addresses),
		TEST(one_address),
		STRICT(routes),
		TEST(one_route),
		STRICT(neighbours),
		TEST(changes),
		TEST(every_way_to_send),
		TEST(every_way_to_read),
		TEST(lengths),
		TEST(lengths_of_dumps),
		TEST(several_at_once),
		TEST(overrun),
		TEST(begun_by_another),
		TEST(a_second_dump),
		TEST(waiting),
		TEST(a_sleeping_reader),
		TEST(copies),
		TEST(left_alone),
#ifdef __x86_64__
		TEST(number_of_another_file),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
