/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the look-up of the host's interfaces and the wrappers of libc's functions that list or name
 * interfaces. libc asks the kernel from inside these functions.
 */
#include "shim/net/net.h"
#include "fabric/ifaddr.h"
#include "shim/files/paths.h"
#include "shim/wrap.h"
#include "util/bits.h"
#include "util/cleanup.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/sys.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- look-up ---- */

/* Check the values: a file that another version wrote may contain anything. */
static bool is_sound(const struct fab_iface *f)
{
	bool sound =
		f->nip4 <= FAB_IF_ADDRS && f->nip6 <= FAB_IF_ADDRS && f->hwlen <= sizeof(f->hwaddr);

	for (uint32_t i = 0; sound && i < f->nip4; i++)
		sound = f->prefix4[i] >= 1 && f->prefix4[i] <= 32;
	for (uint32_t i = 0; sound && i < f->nip6; i++)
		sound = f->prefix6[i] <= 128;
	return sound;
}

static bool ifaces_read(uint32_t file, struct fab_iface *f)
{
	char path[sizeof(shim_config()->root) + 24];
	long got;
	int fd;

	fmt(path, sizeof(path), "%s/" FAB_IF_FILE, shim_config()->root, file);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	got = sys_call(SYS_read, fd, f, sizeof(*f));
	sys_close(fd);
	return got == sizeof(*f) && is_sound(f);
}

/* The n-th VLAN interface, in the order of the ports that the VLANs are on. */
static bool vlan_iface(uint32_t n, struct fab_iface *f)
{
	for (uint32_t port = 0; port < FAB_IF_PORTS && ifaces_read(port, f); port++)
		for (uint32_t place = 1, vlans = f->vlans; vlans; place++, vlans >>= 1)
			if (vlans & 1 && ifaces_read(port + place * FAB_IF_PORTS, f) && !n--)
				return true;
	return false;
}

bool net_iface(uint32_t n, struct fab_iface *f)
{
	uint32_t ports = 0;

	if (n < FAB_IF_PORTS && ifaces_read(n, f))
		return true;
	while (ports < n && ports < FAB_IF_PORTS && ifaces_read(ports, f))
		ports++;
	return ports && vlan_iface(n - ports, f);
}

/* The number at the start of a name; *end NULL: none, or one with a leading zero. */
static uint32_t number(const char *p, const char **end)
{
	uint32_t n = 0;

	*end = NULL;
	if (*p < '0' || *p > '9' || (p[0] == '0' && p[1] >= '0' && p[1] <= '9'))
		return 0;
	for (; *p >= '0' && *p <= '9' && n < 10000; p++)
		n = n * 10 + (uint32_t)(*p - '0');
	*end = p;
	return n;
}

bool net_iface_by_name(const char *name, struct fab_iface *f)
{
	size_t stem = fab_if_stem(name);
	const char *end = NULL;
	uint32_t n = stem ? number(name + stem, &end) : 0, vlans;

	if (!end || n >= FAB_IF_PORTS || (*end && *end != '.') || !ifaces_read(n, f))
		return false;
	if (!*end)
		return !strcmp(name, f->name);
	vlans = f->vlans;
	for (uint32_t place = 0; place < HW_VLANS; place++)
		if (vlans & 1u << place && ifaces_read(n + (place + 1) * FAB_IF_PORTS, f) &&
		    !strcmp(name, f->name))
			return true;
	return false;
}

bool net_iface_by_index(uint32_t ifindex, struct fab_iface *f)
{
	return ifindex >= FAB_IF_FIRST && ifaces_read(ifindex - FAB_IF_FIRST, f);
}

static uint32_t count(void)
{
	struct fab_iface f;
	uint32_t n = 0;

	while (net_iface(n, &f))
		n++;
	return n;
}

/* ---- names and numbers ---- */

WRAP(unsigned int, if_nametoindex, (const char *name))
{
	struct fab_iface f;

	if (shim_on() && net_iface_by_name(name, &f))
		return f.index;
	return NEXT(if_nametoindex)(name);
}

WRAP(char *, if_indextoname, (unsigned int ifindex, char *name))
{
	struct fab_iface f;

	if (ifindex < FAB_IF_FIRST || !shim_on() || !net_iface_by_index(ifindex, &f))
		return NEXT(if_indextoname)(ifindex, name);
	return memcpy(name, f.name, IF_NAMESIZE);
}

/* ---- the scope of an address in words: fe80::1%ib0. libc knows numbers of interfaces, too. */

#define SCOPE_MAX (INET6_ADDRSTRLEN + IF_NAMESIZE)

WRAP(int, getaddrinfo,
     (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list))
{
	const char *scope = node ? strchr(node, '%') : NULL;
	char text[SCOPE_MAX];
	struct fab_iface f;

	if (scope && scope - node < INET6_ADDRSTRLEN && shim_on() &&
	    net_iface_by_name(scope + 1, &f)) {
		memcpy(text, node, (size_t)(scope - node));
		fmt(text + (scope - node), IF_NAMESIZE, "%%%u", f.index);
		node = text;
	}
	return NEXT(getaddrinfo)(node, service, hints, list);
}

WRAP(int, getnameinfo,
     (const struct sockaddr *sa, socklen_t salen, char *host, socklen_t hostlen, char *service,
      socklen_t servicelen, int flags))
{
	int r = NEXT(getnameinfo)(sa, salen, host, hostlen, service, servicelen, flags);
	char *scope = !r && host && hostlen ? strchr(host, '%') : NULL;
	uint32_t index = scope ? (uint32_t)num_decimal(scope + 1, NULL) : 0;
	struct fab_iface f;

	if (index >= FAB_IF_FIRST && shim_on() && net_iface_by_index(index, &f)) {
		if (strlen(f.name) >= hostlen - (size_t)(scope + 1 - host))
			return EAI_OVERFLOW;
		strcpy(scope + 1, f.name);
	}
	return r;
}

static void free_names(struct if_nameindex *list, size_t n)
{
	while (n-- > 0)
		free(list[n].if_name);
	free(list);
}

/*
 * Adds our interfaces to libc's list `own`, which the result replaces. if_freenameindex() of libc
 * frees the list and each name, so they are allocated in the same way.
 */
static struct if_nameindex *add_names(struct if_nameindex *own, size_t have, uint32_t more)
{
	struct if_nameindex *list = malloc((have + more + 1) * sizeof(*list));
	size_t n = have;
	struct fab_iface f;

	if (!list) {
		free_names(own, have);
		errno = ENOBUFS;
		return NULL;
	}
	memcpy(list, own, have * sizeof(*list));
	free(own);
	for (uint32_t i = 0; i < more && net_iface(i, &f); i++) {
		list[n].if_index = f.index;
		list[n].if_name = malloc(IF_NAMESIZE);
		if (!list[n].if_name) {
			free_names(list, n);
			errno = ENOBUFS;
			return NULL;
		}
		memcpy(list[n++].if_name, f.name, IF_NAMESIZE);
	}
	list[n] = (struct if_nameindex){0};
	return list;
}

WRAP(struct if_nameindex *, if_nameindex, (void))
{
	struct if_nameindex *list = NEXT(if_nameindex)();
	size_t have = 0;
	uint32_t more;

	if (!list || !shim_on())
		return list;
	more = count();
	if (!more)
		return list;
	while (list[have].if_index || list[have].if_name)
		have++;
	return add_names(list, have, more);
}

/* ---- addresses ---- */

/*
 * One element of getifaddrs()'s list. Its name follows the structure without a gap, by which
 * is_ours() recognises it.
 */
struct node {
	struct ifaddrs ifa;
	char name[IF_NAMESIZE];
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_ll ll;
		uint8_t room[offsetof(struct sockaddr_ll, sll_addr) + FAB_IF_HWADDR];
	} addr, mask, broadcast;
	uint32_t stats[24]; /* struct rtnl_link_stats */
};
#define NODES_OF_IFACE (1 + 2 * FAB_IF_ADDRS) /* the link, and IPv4 and IPv6 addresses */

/* In libc's elements addresses lie between the structure and the name. */
static bool is_ours(const struct ifaddrs *i)
{
	return i->ifa_name == (const char *)(i + 1);
}

static struct node *node_begin(struct node *n, const struct fab_iface *f)
{
	memset(n, 0, sizeof(*n));
	memcpy(n->name, f->name, sizeof(n->name));
	n->ifa.ifa_next = &n[1].ifa;
	n->ifa.ifa_name = n->name;
	n->ifa.ifa_flags = f->flags;
	n->ifa.ifa_addr = &n->addr.sa;
	return n;
}

static void node_link(struct node *n, const struct fab_iface *f)
{
	node_begin(n, f);
	n->addr.ll.sll_family = AF_PACKET;
	n->addr.ll.sll_ifindex = (int)f->index;
	n->addr.ll.sll_hatype = (unsigned short)f->hwtype;
	n->addr.ll.sll_halen = (unsigned char)f->hwlen;
	n->broadcast = n->addr;
	memcpy(n->addr.room + offsetof(struct sockaddr_ll, sll_addr), f->hwaddr, FAB_IF_HWADDR);
	memcpy(n->broadcast.room + offsetof(struct sockaddr_ll, sll_addr), f->broadcast,
	       FAB_IF_HWADDR);
	n->ifa.ifa_broadaddr = &n->broadcast.sa;
	n->ifa.ifa_data = n->stats;
}

static void node_ip4(struct node *n, const struct fab_iface *f, unsigned int k)
{
	uint32_t mask = UINT32_MAX << (32 - f->prefix4[k]);

	node_begin(n, f);
	n->addr.in.sin_family = n->mask.in.sin_family = n->broadcast.in.sin_family = AF_INET;
	memcpy(&n->addr.in.sin_addr, f->ip4[k], sizeof(f->ip4[k]));
	be32_store(&n->mask.in.sin_addr, mask);
	be32_store(&n->broadcast.in.sin_addr, be32_load(f->ip4[k]) | ~mask);
	n->ifa.ifa_netmask = &n->mask.sa;
	n->ifa.ifa_broadaddr = &n->broadcast.sa;
}

static void node_ip6(struct node *n, const struct fab_iface *f, unsigned int k)
{
	node_begin(n, f);
	n->addr.in6.sin6_family = n->mask.in6.sin6_family = AF_INET6;
	memcpy(&n->addr.in6.sin6_addr, f->ip6[k], sizeof(f->ip6[k]));
	if (f->ip6[k][0] == 0xfe && (f->ip6[k][1] & 0xc0) == 0x80)
		n->addr.in6.sin6_scope_id = f->index;
	for (unsigned int i = 0; i < f->prefix6[k]; i++)
		n->mask.in6.sin6_addr.s6_addr[i / 8] |= (uint8_t)(0x80 >> i % 8);
	n->ifa.ifa_netmask = &n->mask.sa;
}

/* The elements of all interfaces in one block, in libc's order; *first NULL: there are none. */
static int make_nodes(struct node **first)
{
	uint32_t ifaces = count(), n = 0;
	struct fab_iface f;
	struct node *list;

	*first = NULL;
	if (!ifaces)
		return 0;
	list = malloc(ifaces * NODES_OF_IFACE * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < ifaces && net_iface(i, &f); i++)
		node_link(&list[n++], &f);
	for (uint32_t i = 0; i < ifaces && net_iface(i, &f); i++)
		for (unsigned int k = 0; k < f.nip4; k++)
			node_ip4(&list[n++], &f, k);
	for (uint32_t i = 0; i < ifaces && net_iface(i, &f); i++)
		for (unsigned int k = 0; k < f.nip6; k++)
			node_ip6(&list[n++], &f, k);
	if (!n) {
		free(list);
		return 0;
	}
	list[n - 1].ifa.ifa_next = NULL;
	*first = list;
	return 0;
}

WRAP(int, getifaddrs, (struct ifaddrs * *list))
{
	struct node *ours = NULL;
	struct ifaddrs **end;
	int r;

	if (shim_on() && make_nodes(&ours) < 0) {
		errno = ENOMEM;
		return -1;
	}
	r = NEXT(getifaddrs)(list);
	if (!ours)
		return r;
	if (r) {
		int saved = errno;

		free(ours);
		errno = saved;
		return r;
	}
	for (end = list; *end; end = &(*end)->ifa_next)
		;
	*end = &ours->ifa;
	return 0;
}

WRAP(void, freeifaddrs, (struct ifaddrs * list))
{
	struct ifaddrs **at = &list, *ours;

	if (shim_on()) {
		while (*at && !is_ours(*at))
			at = &(*at)->ifa_next;
		ours = *at;
		*at = NULL;
		free(ours);
	}
	NEXT(freeifaddrs)(list);
}
