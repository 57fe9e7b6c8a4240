/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the requests to rtnetlink(7) that make a host's interfaces: one socket for each request. */
#include "super/netns_link.h"

#include <net/if.h> /* before <linux/if.h>, which then leaves its names out */

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nldev/msg.h"
#include "util/cleanup.h"

static void begin(struct nl_out *o, uint16_t type, uint16_t flags, const void *head, size_t n)
{
	static const struct nl_peer kernel;
	static const struct nlmsghdr first = {.nlmsg_seq = 1};

	o->n = 0;
	o->full = false;
	nl_begin(o, &kernel, &first, type, (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags));
	nl_head(o, head, n);
}

/* Sends it, and waits for the kernel's acknowledgement. */
static int ask(struct nl_out *o)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char request[sizeof(o->data)];
	} answer;

	nl_end(o);
	if (o->full)
		return -EMSGSIZE;
	if (fd < 0 || send(fd, o->data, o->n, 0) < 0)
		return -errno;
	if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t)(sizeof(answer.h) + sizeof(answer.e)))
		return -EIO;
	return answer.h.nlmsg_type == NLMSG_ERROR ? answer.e.error : -EIO;
}

/* In the namespace of the bridges: a bridge ('b'), or the peer of a host's interface ('h'). */
static void name_of(char name[IFNAMSIZ], char type, uint32_t host, uint32_t n)
{
	if (type == 'b')
		snprintf(name, IFNAMSIZ, "b%u", n);
	else
		snprintf(name, IFNAMSIZ, "h%u.%u", host, n);
}

static void put_name(struct nl_out *o, char type, uint32_t host, uint32_t n)
{
	char name[IFNAMSIZ];

	name_of(name, type, host, n);
	nl_str(o, IFLA_IFNAME, name);
}

static uint32_t index_of(char type, uint32_t host, uint32_t n)
{
	char name[IFNAMSIZ];

	name_of(name, type, host, n);
	return if_nametoindex(name);
}

static int set_flags(uint32_t index, unsigned int flags)
{
	const struct ifinfomsg m = {
		.ifi_index = (int)index, .ifi_flags = flags, .ifi_change = IFF_UP};
	struct nl_out o;

	begin(&o, RTM_NEWLINK, 0, &m, sizeof(m));
	return ask(&o);
}

static bool have_ipv6(void)
{
	_cleanup_close_ int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0;
}

/* Sets an interface up without an automatic IPv6 address; creating it cannot say that. */
static int set_up_bare(uint32_t index)
{
	const struct ifinfomsg m = {.ifi_index = (int)index};
	uint32_t spec, inet6;
	struct nl_out o;
	int r = 0;

	if (have_ipv6()) {
		begin(&o, RTM_NEWLINK, 0, &m, sizeof(m));
		spec = nl_open(&o, IFLA_AF_SPEC);
		inet6 = nl_open(&o, AF_INET6);
		nl_u8(&o, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
		nl_close(&o, inet6);
		nl_close(&o, spec);
		r = ask(&o);
	}
	return r ? r : set_flags(index, IFF_UP);
}

int netns_link_loopback(void)
{
	return set_flags(if_nametoindex("lo"), IFF_UP);
}

/* On InfiniBand the hardware address has more octets than an Ethernet interface can have. */
static void put_mac(struct nl_out *o, const struct fab_iface *f, uint32_t host, uint32_t n)
{
	const uint8_t own[FAB_IF_MAC] = {
		0x02, (uint8_t)n, 0, (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host};

	nl_put(o, IFLA_ADDRESS, f->hwtype == ARPHRD_ETHER ? f->hwaddr : own, FAB_IF_MAC);
}

static int add_pair(const struct fab_iface *f, uint32_t host, uint32_t n, int home)
{
	const struct ifinfomsg m = {.ifi_index = (int)f->index}, none = {0};
	struct nl_out o;
	uint32_t info, data, peer;

	begin(&o, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof(m));
	nl_str(&o, IFLA_IFNAME, f->name);
	nl_u32(&o, IFLA_MTU, f->mtu);
	put_mac(&o, f, host, n);
	info = nl_open(&o, IFLA_LINKINFO);
	nl_str(&o, IFLA_INFO_KIND, "veth");
	data = nl_open(&o, IFLA_INFO_DATA);
	peer = nl_open(&o, VETH_INFO_PEER);
	nl_head(&o, &none, sizeof(none));
	put_name(&o, 'h', host, n);
	nl_u32(&o, IFLA_MTU, f->mtu);
	nl_u32(&o, IFLA_NET_NS_FD, (uint32_t)home);
	nl_close(&o, peer);
	nl_close(&o, data);
	nl_close(&o, info);
	return ask(&o);
}

/* The address is usable at once (no duplicate detection): this fabric allows no duplicates. */
static int address(uint16_t type, const struct fab_iface *f, uint8_t family, const uint8_t *ip,
		   uint8_t prefix)
{
	const size_t len = family == AF_INET ? 4 : 16;
	const uint16_t flags = type == RTM_NEWADDR ? NLM_F_CREATE | NLM_F_EXCL : 0;
	const struct ifaddrmsg m = {.ifa_family = family,
				    .ifa_prefixlen = prefix,
				    .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
				    .ifa_index = f->index};
	uint8_t broadcast[4];
	struct nl_out o;

	begin(&o, type, flags, &m, sizeof(m));
	nl_put(&o, IFA_LOCAL, ip, len);
	nl_put(&o, IFA_ADDRESS, ip, len);
	if (family == AF_INET && type == RTM_NEWADDR) {
		for (unsigned int i = 0; i < sizeof(broadcast); i++)
			broadcast[i] = ip[i] | (prefix >= 8 * (i + 1) ? 0
						: prefix <= 8 * i     ? 0xff
								  : (uint8_t)(0xff >> prefix % 8));
		nl_put(&o, IFA_BROADCAST, broadcast, sizeof(broadcast));
	}
	return ask(&o);
}

int netns_link_pair(const struct fab_iface *f, uint32_t host, uint32_t n, int home)
{
	int r = add_pair(f, host, n, home);

	if (!r)
		r = set_up_bare(f->index);
	for (unsigned int i = 0; i < f->nip4 && !r; i++)
		r = address(RTM_NEWADDR, f, AF_INET, f->ip4[i], f->prefix4[i]);
	for (unsigned int i = 0; have_ipv6() && i < f->nip6 && !r; i++) {
		r = address(RTM_NEWADDR, f, AF_INET6, f->ip6[i], f->prefix6[i]);
		if (r == -EACCES)
			r = 0; /* IPv6 is switched off: net.ipv6.conf.default.disable_ipv6 */
	}
	return r;
}

/* A secondary address has gone with its primary one. */
static int delete_address(const struct fab_iface *f, uint8_t family, const uint8_t *ip,
			  uint8_t prefix)
{
	int r = address(RTM_DELADDR, f, family, ip, prefix);

	return r == -EADDRNOTAVAIL ? 0 : r;
}

static int lose_addresses(const struct fab_iface *was, const struct fab_iface *is)
{
	int r = 0;

	for (unsigned int i = 0; i < was->nip4 && !r; i++)
		if (!fab_iface_has4(is, was->ip4[i], was->prefix4[i]))
			r = delete_address(was, AF_INET, was->ip4[i], was->prefix4[i]);
	for (unsigned int i = 0; i < was->nip6 && !r; i++)
		if (!fab_iface_has6(is, was->ip6[i], was->prefix6[i]))
			r = delete_address(was, AF_INET6, was->ip6[i], was->prefix6[i]);
	return r;
}

static int get_addresses(const struct fab_iface *was, const struct fab_iface *is)
{
	int r = 0;

	for (unsigned int i = 0; i < is->nip4 && !r; i++)
		if (!fab_iface_has4(was, is->ip4[i], is->prefix4[i]))
			r = address(RTM_NEWADDR, is, AF_INET, is->ip4[i], is->prefix4[i]);
	for (unsigned int i = 0; i < is->nip6 && !r; i++)
		if (!fab_iface_has6(was, is->ip6[i], is->prefix6[i]))
			r = address(RTM_NEWADDR, is, AF_INET6, is->ip6[i], is->prefix6[i]);
	return r;
}

static int add_vlan(const struct fab_iface *f)
{
	const struct ifinfomsg m = {.ifi_index = (int)f->index};
	uint32_t info, data;
	struct nl_out o;

	begin(&o, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof(m));
	nl_str(&o, IFLA_IFNAME, f->name);
	nl_u32(&o, IFLA_LINK, f->link);
	info = nl_open(&o, IFLA_LINKINFO);
	nl_str(&o, IFLA_INFO_KIND, "vlan");
	data = nl_open(&o, IFLA_INFO_DATA);
	nl_u16(&o, IFLA_VLAN_ID, (uint16_t)f->vlan);
	nl_close(&o, data);
	nl_close(&o, info);
	return ask(&o);
}

/* It is no error if somebody in the namespace has deleted the interface already. */
static int delete_link(const struct fab_iface *f)
{
	const struct ifinfomsg m = {.ifi_index = (int)f->index};
	struct nl_out o;
	int r;

	begin(&o, RTM_DELLINK, 0, &m, sizeof(m));
	r = ask(&o);
	return r == -ENODEV ? 0 : r;
}

static int make_vlan(const struct fab_iface *f)
{
	static const struct fab_iface bare;
	struct fab_iface is = *f;
	int r = add_vlan(f);

	if (r)
		return r;
	if (!have_ipv6())
		is.nip6 = 0;
	r = set_up_bare(f->index);
	if (!r)
		r = get_addresses(&bare, &is);
	if (r == -EACCES) /* as in netns_link_pair() */
		r = 0;
	if (r)
		delete_link(f);
	return r;
}

int netns_link_change(const struct fab_iface *was, const struct fab_iface *is)
{
	int r;

	if (!is->index)
		return delete_link(was);
	if (!was->index)
		return make_vlan(is);
	r = lose_addresses(was, is);
	return r ? r : get_addresses(was, is);
}

int netns_link_bridge(uint32_t n)
{
	const struct ifinfomsg m = {0};
	struct nl_out o;
	uint32_t info;
	int r;

	if (index_of('b', 0, n))
		return 0;
	begin(&o, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof(m));
	put_name(&o, 'b', 0, n);
	info = nl_open(&o, IFLA_LINKINFO);
	nl_str(&o, IFLA_INFO_KIND, "bridge");
	nl_close(&o, info);
	r = ask(&o);
	return r ? r : set_up_bare(index_of('b', 0, n));
}

int netns_link_plug(uint32_t host, uint32_t n)
{
	struct ifinfomsg m = {0};
	struct nl_out o;
	int r = netns_link_bridge(n);

	if (r)
		return r;
	m.ifi_index = (int)index_of('h', host, n);
	if (!m.ifi_index)
		return -ENODEV;
	begin(&o, RTM_NEWLINK, 0, &m, sizeof(m));
	nl_u32(&o, IFLA_MASTER, index_of('b', 0, n));
	r = ask(&o);
	return r ? r : set_up_bare((uint32_t)m.ifi_index);
}

int netns_link_carrier(uint32_t host, uint32_t n, bool on)
{
	uint32_t index = index_of('h', host, n);

	return index ? set_flags(index, on ? IFF_UP : 0) : -ENODEV;
}
