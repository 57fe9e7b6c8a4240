/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The host's network interface under `softhca run`: libc's lists, each request of netdevice(7), and
 * what the kernel says of descriptors that may not ask. The machine's own interface is lo. With the
 * argument "eth" the port is an Ethernet one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* What differs between the link layers. */
static const struct iface {
	const char *name, *other; /* the other one's first */
	int type, halen, mtu, queue;
	char address[14]; /* as much of it as a struct sockaddr holds, from `skip` on */
	size_t skip, len;
} kinds[] = {
	{"ib0", "rce0", ARPHRD_INFINIBAND, 20, 2044, 256, "\xfe\x80\0\0\0\0\0\0", 4, 8},
	{"rce0", "ib0", ARPHRD_ETHER, 6, 1500, 1000, "\x5a\x17\xca\0\0", 0, 5},
};
static const struct iface *the;

#define IB the->name
#define FLAGS (IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST)

static int sock;

static int opened(void **state)
{
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	return sock < 0;
}

static int closed(void **state)
{
	return close(sock);
}

static struct ifreq named(const char *name)
{
	struct ifreq q;

	memset(&q, 0xee, sizeof(q));
	memset(q.ifr_name, 0, sizeof(q.ifr_name));
	strcpy(q.ifr_name, name);
	return q;
}

static struct ifreq ask(unsigned long cmd)
{
	struct ifreq q = named(IB);

	errno = ERANGE;
	if (ioctl(sock, cmd, &q))
		fail_msg("request %#lx: %s", cmd, strerror(errno));
	assert_int_equal(errno, ERANGE);
	return q;
}

static void assert_ip(const struct sockaddr *sa, const char *want)
{
	const struct sockaddr_in *in = (const void *)sa;
	char text[INET_ADDRSTRLEN];

	assert_int_equal(sa->sa_family, AF_INET);
	assert_string_equal(inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)), want);
}

/* ---- names */

static void names_and_numbers(void **state)
{
	unsigned int n = if_nametoindex(IB);
	char name[IF_NAMESIZE];

	assert_true(n > 1000000);
	assert_ptr_equal(if_indextoname(n, name), name);
	assert_string_equal(name, IB);
	assert_int_equal(if_nametoindex("lo"), 1);
	assert_string_equal(if_indextoname(1, name), "lo");
}

static void others_do_not_exist(void **state)
{
	const char *const none[] = {"ib1",           "ib",  "ib00", "ib0x",  "ibx",
				    "ib99999999999", "rce", "rce1", "rce00", the->other};
	char name[IF_NAMESIZE];

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		errno = 0;
		assert_int_equal(if_nametoindex(none[i]), 0);
		assert_int_equal(errno, ENODEV);
	}
	assert_null(if_indextoname(if_nametoindex(IB) + 1, name));
	assert_int_equal(errno, ENXIO);
}

static void list_of_names(void **state)
{
	struct if_nameindex *list = if_nameindex();
	int ib = 0, lo = 0;

	assert_non_null(list);
	for (struct if_nameindex *i = list; i->if_index; i++) {
		if (!strcmp(i->if_name, IB)) {
			assert_int_equal(i->if_index, if_nametoindex(IB));
			ib++;
		}
		lo += !strcmp(i->if_name, "lo");
	}
	assert_int_equal(ib, 1);
	assert_int_equal(lo, 1);
	if_freenameindex(list);
}

/* ---- getifaddrs */

static void list_of_addresses(void **state)
{
	struct ifaddrs *list;
	int link = 0, ip4 = 0, ip6 = 0, lo = 0;

	assert_int_equal(getifaddrs(&list), 0);
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		lo += !strcmp(i->ifa_name, "lo");
		if (strcmp(i->ifa_name, IB))
			continue;
		assert_int_equal(i->ifa_flags & 0xffff, FLAGS);
		if (i->ifa_addr->sa_family == AF_PACKET) {
			const struct sockaddr_ll *ll = (const void *)i->ifa_addr;

			assert_int_equal(ll->sll_hatype, the->type);
			assert_int_equal(ll->sll_halen, the->halen);
			assert_int_equal(ll->sll_ifindex, if_nametoindex(IB));
			assert_non_null(i->ifa_data);
			link++;
		} else if (i->ifa_addr->sa_family == AF_INET) {
			assert_ip(i->ifa_addr, "127.1.0.1");
			assert_ip(i->ifa_netmask, "255.255.0.0");
			assert_ip(i->ifa_broadaddr, "127.1.255.255");
			ip4++;
		} else {
			const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;

			assert_int_equal(i->ifa_addr->sa_family, AF_INET6);
			assert_true(IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr));
			assert_int_equal(in6->sin6_scope_id, if_nametoindex(IB));
			ip6++;
		}
	}
	freeifaddrs(list);
	assert_int_equal(link, 1);
	assert_int_equal(ip4, 1);
	assert_int_equal(ip6, 1);
	assert_true(lo > 0);
	freeifaddrs(NULL);
}

/* ---- requests */

static void requests_by_name(void **state)
{
	struct ifreq q;

	q = ask(SIOCGIFINDEX);
	assert_int_equal(q.ifr_ifindex, if_nametoindex(IB));
	q = ask(SIOCGIFFLAGS);
	assert_int_equal(q.ifr_flags, FLAGS);
	q = ask(SIOCGIFADDR);
	assert_ip(&q.ifr_addr, "127.1.0.1");
	q = ask(SIOCGIFDSTADDR);
	assert_ip(&q.ifr_dstaddr, "127.1.0.1");
	q = ask(SIOCGIFNETMASK);
	assert_ip(&q.ifr_netmask, "255.255.0.0");
	q = ask(SIOCGIFBRDADDR);
	assert_ip(&q.ifr_broadaddr, "127.1.255.255");
	q = ask(SIOCGIFMETRIC);
	assert_int_equal(q.ifr_metric, 0);
	q = ask(SIOCGIFMTU);
	assert_int_equal(q.ifr_mtu, the->mtu);
	q = ask(SIOCGIFTXQLEN);
	assert_int_equal(q.ifr_qlen, the->queue);
	q = ask(SIOCGIFMAP);
	assert_int_equal(q.ifr_map.irq, 0);
	q = ask(SIOCGIFHWADDR);
	assert_int_equal(q.ifr_hwaddr.sa_family, the->type);
	assert_memory_equal(q.ifr_hwaddr.sa_data + the->skip, the->address, the->len);
}

static void request_by_index(void **state)
{
	struct ifreq q = named("");

	q.ifr_ifindex = (int)if_nametoindex(IB);
	assert_int_equal(ioctl(sock, SIOCGIFNAME, &q), 0);
	assert_string_equal(q.ifr_name, IB);
	assert_int_equal(q.ifr_ifindex, if_nametoindex(IB));
	q.ifr_ifindex++;
	assert_int_equal(ioctl(sock, SIOCGIFNAME, &q), -1);
	assert_int_equal(errno, ENODEV);
}

static void raw_request(void **state)
{
	struct ifreq q = named(IB);

	assert_int_equal(syscall(SYS_ioctl, sock, SIOCGIFMTU, &q), 0);
	assert_int_equal(q.ifr_mtu, the->mtu);
}

static void machines_own(void **state)
{
	struct ifreq q = named("lo");

	assert_int_equal(ioctl(sock, SIOCGIFADDR, &q), 0);
	assert_ip(&q.ifr_addr, "127.0.0.1");
	q = named("ib1");
	assert_int_equal(ioctl(sock, SIOCGIFMTU, &q), -1);
	assert_int_equal(errno, ENODEV);
}

static void descriptors_that_may_not_ask(void **state)
{
	int null = open("/dev/null", O_RDONLY), fds[2];
	struct ifreq q = named(IB);

	assert_int_equal(ioctl(-1, SIOCGIFMTU, &q), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(ioctl(null, SIOCGIFMTU, &q), -1);
	assert_int_equal(errno, ENOTTY);
	close(null);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(ioctl(fds[0], SIOCGIFMTU, &q), -1);
	assert_int_equal(errno, ENOTTY);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(ioctl(sock, SIOCGIFMTU, NULL), -1);
	assert_int_equal(errno, EFAULT);
}

static void list_of_requests(void **state)
{
	struct ifreq q[64], before = {0};
	struct ifconf c = {.ifc_len = 0}, part;
	int n, all, ib = 0;

	assert_int_equal(ioctl(sock, SIOCGIFCONF, &c), 0);
	all = c.ifc_len;
	c = (struct ifconf){.ifc_len = sizeof(q), .ifc_req = q};
	assert_int_equal(ioctl(sock, SIOCGIFCONF, &c), 0);
	assert_int_equal(c.ifc_len, all);
	n = c.ifc_len / (int)sizeof(q[0]);
	for (int i = 0; i < n; i++)
		if (!strcmp(q[i].ifr_name, IB)) {
			assert_ip(&q[i].ifr_addr, "127.1.0.1");
			ib++;
		}
	assert_int_equal(ib, 1);
	/* If the buffer is one byte too small, the last entry is left out and its place stays as it
	 * is. */
	memset(q, 0, sizeof(q));
	part = (struct ifconf){.ifc_len = all - 1, .ifc_req = q};
	assert_int_equal(ioctl(sock, SIOCGIFCONF, &part), 0);
	assert_int_equal(part.ifc_len, all - (int)sizeof(q[0]));
	assert_memory_equal(&q[n - 1], &before, sizeof(before));
}

/* ---- options */

static void bound_to_the_interface(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("127.1.0.1")};
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, IB, (socklen_t)strlen(IB) + 1),
			 0);
	assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)&a, &len), 0);
	assert_int_equal(sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
	assert_int_equal(setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "ib1", 4), -1);
	assert_int_equal(errno, ENODEV);
	close(s);
	assert_int_equal(setsockopt(-1, SOL_SOCKET, SO_BINDTODEVICE, IB, (socklen_t)strlen(IB) + 1),
			 -1);
	assert_int_equal(errno, EBADF);
}

/* ---- link-local addresses in words */

static void scopes_have_names(void **state)
{
	struct addrinfo hints = {.ai_family = AF_INET6, .ai_flags = AI_NUMERICHOST}, *list;
	char text[64], host[64], cut[16];

	snprintf(text, sizeof(text), "fe80::1%%%s", IB);
	assert_int_equal(getaddrinfo(text, NULL, &hints, &list), 0);
	assert_int_equal(((struct sockaddr_in6 *)list->ai_addr)->sin6_scope_id, if_nametoindex(IB));
	assert_int_equal(getnameinfo(list->ai_addr, list->ai_addrlen, host, sizeof(host), NULL, 0,
				     NI_NUMERICHOST),
			 0);
	assert_string_equal(host, text);
	assert_int_equal(
		getnameinfo(list->ai_addr, list->ai_addrlen, cut, 9, NULL, 0, NI_NUMERICHOST),
		EAI_OVERFLOW);
	freeaddrinfo(list);
	assert_int_equal(getaddrinfo("fe80::1%lo", NULL, &hints, &list), 0);
	assert_int_equal(((struct sockaddr_in6 *)list->ai_addr)->sin6_scope_id, 1);
	freeaddrinfo(list);
	assert_int_equal(getaddrinfo("fe80::1%nothing0", NULL, &hints, &list), EAI_NONAME);
	assert_int_equal(getaddrinfo("127.0.0.1", NULL, NULL, &list), 0);
	freeaddrinfo(list);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_numbers),
		cmocka_unit_test(others_do_not_exist),
		cmocka_unit_test(list_of_names),
		cmocka_unit_test(list_of_addresses),
		cmocka_unit_test(requests_by_name),
		cmocka_unit_test(request_by_index),
		cmocka_unit_test(raw_request),
		cmocka_unit_test(machines_own),
		cmocka_unit_test(descriptors_that_may_not_ask),
		cmocka_unit_test(list_of_requests),
		cmocka_unit_test(bound_to_the_interface),
		cmocka_unit_test(scopes_have_names),
	};

	the = &kinds[argc > 1 && !strcmp(argv[1], "eth")];
	return cmocka_run_group_tests(tests, opened, closed);
}
