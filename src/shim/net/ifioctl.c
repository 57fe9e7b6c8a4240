/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers questions about the host's interfaces that come through a socket: the requests of
 * netdevice(7), and SO_BINDTODEVICE. The kernel decides whether the descriptor is a socket that may
 * ask.
 */
#include "fabric/ifaddr.h"
#include "segment/mem.h"
#include "shim/files/paths.h"
#include "shim/net/net.h"
#include "shim/wrap.h"
#include "util/bits.h"
#include "util/cleanup.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* ---- requests about one interface ---- */

static void put_ip4(struct ifreq *q, uint32_t ip)
{
	struct sockaddr_in *a = (struct sockaddr_in *)&q->ifr_addr;

	*a = (struct sockaddr_in){.sin_family = AF_INET};
	be32_store(&a->sin_addr, ip);
}

static uint32_t mask_of(const struct fab_iface *f)
{
	return UINT32_MAX << (32 - f->prefix4[0]);
}

static void get_name(const struct fab_iface *f, struct ifreq *q)
{
	memcpy(q->ifr_name, f->name, sizeof(q->ifr_name));
}

static void get_index(const struct fab_iface *f, struct ifreq *q)
{
	q->ifr_ifindex = (int)f->index;
}

static void get_flags(const struct fab_iface *f, struct ifreq *q)
{
	q->ifr_flags = (short)f->flags;
}

static void get_addr(const struct fab_iface *f, struct ifreq *q)
{
	put_ip4(q, be32_load(f->ip4[0]));
}

static void get_netmask(const struct fab_iface *f, struct ifreq *q)
{
	put_ip4(q, mask_of(f));
}

static void get_broadcast(const struct fab_iface *f, struct ifreq *q)
{
	put_ip4(q, be32_load(f->ip4[0]) | ~mask_of(f));
}

static void get_metric(const struct fab_iface *f, struct ifreq *q)
{
	q->ifr_metric = 0;
}

static void get_mtu(const struct fab_iface *f, struct ifreq *q)
{
	q->ifr_mtu = (int)f->mtu;
}

/* dev_get_mac_address(): as many octets as a struct sockaddr holds. */
static void get_hwaddr(const struct fab_iface *f, struct ifreq *q)
{
	memcpy(q->ifr_hwaddr.sa_data, f->hwaddr, sizeof(q->ifr_hwaddr.sa_data));
	q->ifr_hwaddr.sa_family = (sa_family_t)f->hwtype;
}

static void get_map(const struct fab_iface *f, struct ifreq *q)
{
	memset(&q->ifr_map, 0, sizeof(q->ifr_map));
}

static void get_txqlen(const struct fab_iface *f, struct ifreq *q)
{
	q->ifr_qlen = (int)f->queue_len;
}

static const struct {
	unsigned long cmd;
	void (*get)(const struct fab_iface *f, struct ifreq *q);
	bool ip4; /* devinet_ioctl(): EADDRNOTAVAIL if there is no address */
} requests[] = {
	{SIOCGIFNAME, get_name, false},        {SIOCGIFINDEX, get_index, false},
	{SIOCGIFFLAGS, get_flags, false},      {SIOCGIFADDR, get_addr, true},
	{SIOCGIFDSTADDR, get_addr, true},      {SIOCGIFNETMASK, get_netmask, true},
	{SIOCGIFBRDADDR, get_broadcast, true}, {SIOCGIFMETRIC, get_metric, false},
	{SIOCGIFMTU, get_mtu, false},          {SIOCGIFHWADDR, get_hwaddr, false},
	{SIOCGIFMAP, get_map, false},          {SIOCGIFTXQLEN, get_txqlen, false},
};

static int fail(int err)
{
	errno = err;
	return -1;
}

/*
 * Use a name that no interface can have: the kernel answers ENODEV, if it takes the request from
 * this descriptor at all.
 */
static bool may_ask(int fd, unsigned long cmd, const struct ifreq *q, next_ioctl *next)
{
	struct ifreq none = *q;
	int saved = errno;

	strcpy(none.ifr_name, "/");
	if (next(fd, cmd, &none) != -1 || errno != ENODEV)
		return false;
	errno = saved;
	return true;
}

static int request(int fd, unsigned long cmd, void *arg, next_ioctl *next)
{
	struct fab_iface f;
	struct ifreq q;
	bool ours;

	if (mem_guarded_copy(&q, arg, sizeof(q)))
		return next(fd, cmd, arg);
	if (cmd == SIOCGIFNAME) {
		ours = net_iface_by_index((uint32_t)q.ifr_ifindex, &f);
	} else {
		char name[IFNAMSIZ + 1] = "";

		memcpy(name, q.ifr_name, IFNAMSIZ);
		ours = net_iface_by_name(name, &f);
	}
	for (size_t i = 0; ours && i < ARRAY_SIZE(requests); i++) {
		if (requests[i].cmd != cmd)
			continue;
		if (!may_ask(fd, cmd, &q, next))
			return -1;
		if (requests[i].ip4 && !f.nip4)
			return fail(EADDRNOTAVAIL);
		requests[i].get(&f, &q);
		return mem_guarded_copy(arg, &q, sizeof(q)) ? fail(EFAULT) : 0;
	}
	return next(fd, cmd, arg);
}

/* ---- the list ---- */

/* inet_gifconf(): without a buffer the length is the one that is needed, else the one filled. */
static int list(int fd, void *arg, next_ioctl *next)
{
	struct ifconf room, c;
	struct fab_iface f;
	int r;

	if (mem_guarded_copy(&room, arg, sizeof(room)))
		return next(fd, SIOCGIFCONF, arg);
	r = next(fd, SIOCGIFCONF, arg);
	if (r || mem_guarded_copy(&c, arg, sizeof(c)))
		return r;
	for (uint32_t n = 0; net_iface(n, &f); n++)
		for (uint32_t k = 0; k < f.nip4; k++) {
			struct ifreq q = {0};

			if (c.ifc_buf && room.ifc_len - c.ifc_len < (int)sizeof(q))
				break;
			get_name(&f, &q);
			put_ip4(&q, be32_load(f.ip4[k]));
			if (c.ifc_buf && mem_guarded_copy(c.ifc_buf + c.ifc_len, &q, sizeof(q)))
				return fail(EFAULT);
			c.ifc_len += (int)sizeof(q);
		}
	return mem_guarded_copy(arg, &c, sizeof(c)) ? fail(EFAULT) : 0;
}

int net_ioctl(int fd, unsigned long cmd, void *arg, next_ioctl *next)
{
	return cmd == SIOCGIFCONF ? list(fd, arg, next) : request(fd, cmd, arg, next);
}

/* ---- options ---- */

/*
 * Our interfaces' addresses are on the machine's loopback interface and need no binding. Pass an
 * empty name, so that the kernel only checks the descriptor.
 */
bool net_binds_to_ours(int level, int option, const void *value, socklen_t len)
{
	char name[IFNAMSIZ] = "";
	struct fab_iface f;

	if (level != SOL_SOCKET || option != SO_BINDTODEVICE || !shim_on())
		return false;
	if (len > IFNAMSIZ - 1)
		len = IFNAMSIZ - 1;
	return !mem_guarded_copy(name, value, len) && net_iface_by_name(name, &f);
}
