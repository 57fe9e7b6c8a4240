/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Network interfaces: port p of host N (both count from 0 and 1) has the IPoIB interface ib<p>, or
 * the Ethernet interface rce<p>, with the IPv4 address 127.(1+p).(N>>8).(N&255)/16, by rule, and an
 * IPv6 link-local one. Addresses can be given in its place and beside it, and taken away. An
 * interface's subnet so has one port of every host. 127.0.0.0/16 and ::1 are loopback.
 *
 * On an Ethernet interface VLANs can have interfaces of their own, rce0.100. An interface is named
 * by 32 bits (`at`): its port's index, for a VLAN's with its place on the port above it.
 */
#ifndef SOFTHCA_FABRIC_IFADDR_H
#define SOFTHCA_FABRIC_IFADDR_H

#include <string.h>
#include "hw/port.h"
#include "segment/seg.h"

#define FAB_IF_STEM "ib"
#define FAB_IF_ETH_STEM "rce" /* a machine's own interfaces have other names */
/* Above the machine's own interfaces: container hosts count to thousands. */
#define FAB_IF_FIRST 1000001u
#define FAB_IF_HWADDR 20 /* octets: flags and QP number, GID (RFC 4391, 9.1.1) */
#define FAB_IF_MAC 6
#define FAB_IF_NET 127u
#define FAB_IF_ADDRS (HW_ADDRS + 1) /* of each family, at most */
#define FAB_IF_PORTS 32u            /* a host's adapters have no more ports */
#define FAB_VLAN_MIN 1u
#define FAB_VLAN_MAX 4094u

/* An interface as programs see it. Addresses are in network byte order. */
struct fab_iface {
	char name[16];
	uint32_t index;
	uint32_t port;  /* number of the port on its adapter */
	uint32_t flags; /* IFF_ of <net/if.h>, as RTM_GETLINK has them */
	uint32_t mtu;
	int32_t speed;      /* Mb/s; -1: unknown, the link is down */
	uint32_t pkey;      /* 0 on Ethernet */
	uint32_t queue_len; /* packets (tx_queue_len) */
	uint16_t hwtype;    /* ARPHRD_ of <net/if_arp.h> */
	uint8_t hwlen;      /* octets in use of each: */
	uint8_t hwaddr[FAB_IF_HWADDR], broadcast[FAB_IF_HWADDR];
	char parent[16]; /* the PCI function */
	uint32_t link;   /* a VLAN's: the index of the interface below; else 0 */
	uint32_t vlan;   /* ... and its id */
	uint32_t vlans;  /* a bit for each VLAN slot of this interface that is in use */
	uint8_t nip4;    /* primary addresses first: the first one of each subnet */
	uint8_t nip6;    /* link-local first */
	uint8_t prefix4[FAB_IF_ADDRS], prefix6[FAB_IF_ADDRS];
	uint8_t ip4[FAB_IF_ADDRS][4]; /* the first is zero: none */
	uint8_t ip6[FAB_IF_ADDRS][16];
};

static inline bool fab_iface_has4(const struct fab_iface *f, const uint8_t ip[4], uint8_t prefix)
{
	for (unsigned int i = 0; i < f->nip4; i++)
		if (!memcmp(f->ip4[i], ip, 4) && f->prefix4[i] == prefix)
			return true;
	return false;
}

static inline bool fab_iface_has6(const struct fab_iface *f, const uint8_t ip[16], uint8_t prefix)
{
	for (unsigned int i = 0; i < f->nip6; i++)
		if (!memcmp(f->ip6[i], ip, 16) && f->prefix6[i] == prefix)
			return true;
	return false;
}

/* The length of the stem that a name of ours has, 0: the name is another's. */
static inline size_t fab_if_stem(const char *name)
{
	if (!strncmp(name, FAB_IF_STEM, sizeof(FAB_IF_STEM) - 1))
		return sizeof(FAB_IF_STEM) - 1;
	if (!strncmp(name, FAB_IF_ETH_STEM, sizeof(FAB_IF_ETH_STEM) - 1))
		return sizeof(FAB_IF_ETH_STEM) - 1;
	return 0;
}

/*
 * Where ports have long GID tables (HW_SET_GIDS), containers of each host have macvlan interfaces
 * on its Ethernet ports. Other programs see these only by their entries in the port's GID table:
 * enum_all_gids_of_dev_cb() looks into all network namespaces.
 */
#define FAB_GUESTS 100u
#define FAB_GUEST_IF "net1"
uint32_t fab_guests(const struct seg *s, uint32_t at); /* on an interface */
uint32_t fab_guest_ip4(struct seg *s, uint32_t port, uint32_t n);
/* The reverse, and: is the GID that of a port's guest? SEG_NONE. */
uint32_t fab_port_by_guest(struct seg *s, uint32_t ip);
bool fab_gid_guest(struct seg *s, uint32_t port, const uint8_t gid[16]);
/* The index of a guest's interface, which is in another namespace; and its port, SEG_NONE. */
uint32_t fab_guest_index(struct seg *s, uint32_t port);
uint32_t fab_port_by_guest_index(struct seg *s, uint32_t host, uint32_t ifindex);

/* ---- names of interfaces; `place` 0: the port's own */
static inline uint32_t fab_at(uint32_t port, uint32_t place)
{
	return port | place << 24;
}
static inline uint32_t fab_at_port(uint32_t at)
{
	return at == SEG_NONE ? SEG_NONE : at & 0xffffff;
}
static inline uint32_t fab_at_place(uint32_t at)
{
	return at >> 24;
}
static inline struct hw_port *fab_at_hw(const struct seg *s, uint32_t at)
{
	return at == SEG_NONE ? NULL : hw_port(s, fab_at_port(at));
}
/*
 * The VLAN ID of an interface; 0: it is the port's own, or does not exist. The reverse: SEG_NONE if
 * there is none.
 */
uint32_t fab_at_vlan(const struct seg *s, uint32_t at);
uint32_t fab_at_by_vlan(const struct seg *s, uint32_t port, uint32_t vlan);
/* Iterate over all interfaces of a host; SEG_NONE: the end. */
uint32_t fab_at_first(struct seg *s, uint32_t host);
uint32_t fab_at_next(struct seg *s, uint32_t host, uint32_t at);

/* False: the port is a switch's, or has no such VLAN interface. */
bool fab_iface(struct seg *s, uint32_t at, struct fab_iface *f);

/* The kernel index of an interface, 0 if there is none. The reverse: SEG_NONE if there is none. */
uint32_t fab_if_index(struct seg *s, uint32_t at);
uint32_t fab_port_by_if(struct seg *s, uint32_t host, uint32_t ifindex);
/* SEG_T_HOST of a port, SEG_NONE. */
uint32_t fab_if_host(struct seg *s, uint32_t at);

/* IPv4 addresses are in host byte order. */
/* The first IPv4 address of an interface; 0: none (removed, or the host's number exceeds 65535). */
uint32_t fab_ip4(struct seg *s, uint32_t at);
/* The source address for packets to `dst`. */
uint32_t fab_ip4_towards(struct seg *s, uint32_t at, uint32_t dst);
/* The interface of any host with that address; SEG_NONE. */
uint32_t fab_port_by_ip4(struct seg *s, uint32_t ip);
/* The interface of `host` whose subnet has that address; SEG_NONE. */
uint32_t fab_port_towards_ip4(struct seg *s, uint32_t host, uint32_t ip);
/* Is `ip` 255.255.255.255, or the broadcast address of the interface's subnet? */
bool fab_ip4_is_broadcast(struct seg *s, uint32_t at, uint32_t ip);

void fab_ip6_linklocal(const struct seg *s, uint32_t at, uint8_t out[16]);
/* A link-local address finds the port's own interface, not a VLAN's. */
uint32_t fab_port_by_ip6(struct seg *s, const uint8_t ip[16]);
uint32_t fab_port_towards_ip6(struct seg *s, uint32_t host, const uint8_t ip[16]);
/* Is the address in one of the interface's subnets? */
bool fab_ip6_on_link(struct seg *s, uint32_t at, const uint8_t ip[16]);

/* The IPv6 source address of an interface for packets to `dst`. */
void fab_ip6_towards(struct seg *s, uint32_t at, const uint8_t dst[16], uint8_t out[16]);

/*
 * The supervisor gives and removes addresses (4 or 16 octets); programs see the changes as on a
 * kernel. -EINVAL: no interface can have the address, or the prefix is too long.
 *
 * fab_if_add(): 0; -EEXIST: a port has it already; -ENOSPC: the interface has too many.
 *
 * fab_if_del(): 0; -EADDRNOTAVAIL: the interface lacks it. Prefix 0 matches any. Removing a primary
 * IPv4 address removes the secondary ones of its subnet, as __inet_del_ifa() does while the sysctl
 * promote_secondaries is 0, the kernel's default.
 *
 * fab_if_set(): replaces all of its family. 0; -EEXIST: another port has it; -ENOSPC: the port's
 * other addresses leave no room. After an error nothing has changed.
 */
int fab_if_add(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix);
int fab_if_del(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix);
int fab_if_set(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix);
/* Removes the IPv4 addresses of an adapter port's interface. */
void fab_if_clear4(struct seg *s, uint32_t port);
/*
 * The addresses that were given, in this order, IPv4 with 4 octets; their number. The first one may
 * have the length 0: the port has no IPv4 address, also not the one of its own; a VLAN's interface
 * has none at all.
 */
struct fab_given {
	uint32_t len, prefix;
	uint8_t ip[16];
};
uint32_t fab_if_given(struct seg *s, uint32_t at, struct fab_given out[FAB_IF_ADDRS]);

/*
 * Add and remove VLANs of Ethernet ports. 0; -EOPNOTSUPP: the port can have none, or `at` is no
 * VLAN's interface; -ERANGE: the VLAN ID; -EEXIST; -ENOSPC: the port has too many.
 */
int fab_vlan_add(struct seg *s, uint32_t port, uint32_t id);
int fab_vlan_del(struct seg *s, uint32_t at);

/*
 * The interface's files (net.c): its folder under the PCI device `pci`, its link in the class, and
 * FAB_IF_FILE below the host's tree, a struct fab_iface. 0 or -errno.
 */
#define FAB_IF_FILE "ifaces/%u"
struct tree;
int fab_net_render(struct tree *t, struct seg *s, uint32_t port, int root, int pci,
		   const char *bdf);
/* Writes values again that have changed. */
int fab_net_update(struct seg *s, uint32_t port, int root);

#endif
