/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the address that a socket gets when it connects to an address of a fabric in 127.0.0.0/8.
 * The machine has a single route there, by its loopback interface, and so chooses 127.0.0.1. A real
 * host with the fabric's interface would choose the interface's address, which programs then bind
 * to or tell their peer.
 */
#include "shim/net/net.h"
#include "fabric/ifaddr.h"
#include "shim/files/paths.h"
#include "shim/given.h"
#include "util/bits.h"
#include "util/sys.h"

#include <netinet/in.h>
#include <string.h>

union addr {
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* The address of the interface that leads to `ip`, in network byte order; 0: none. */
static uint32_t source_of(uint32_t ip)
{
	struct fab_iface f;

	for (uint32_t n = 0; net_iface(n, &f); n++)
		for (uint32_t k = 0; k < f.nip4; k++) {
			uint32_t own = be32_load(f.ip4[k]);
			uint32_t mask = ~UINT32_C(0) << (32 - f.prefix4[k]);

			if (own >> 24 == FAB_IF_NET && !((own ^ ip) & mask))
				return own;
		}
	return 0;
}

/* The socket address's IPv4 address, also if it is mapped into IPv6; 0: none. */
static uint32_t ip4_of(const union addr *a)
{
	if (a->in.sin_family == AF_INET)
		return be32_load(&a->in.sin_addr);
	return IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr) ? be32_load(&a->in6.sin6_addr.s6_addr32[3])
						       : 0;
}

/* An address of the same family as *a, without a port; 0: any. */
static socklen_t address_like(const union addr *a, uint32_t ip, union addr *to)
{
	memset(to, 0, sizeof(*to));
	to->in.sin_family = a->in.sin_family;
	if (a->in.sin_family == AF_INET) {
		be32_store(&to->in.sin_addr, ip);
		return sizeof(to->in);
	}
	if (ip) {
		to->in6.sin6_addr.s6_addr16[5] = 0xffff;
		be32_store(&to->in6.sin6_addr.s6_addr32[3], ip);
	}
	return sizeof(to->in6);
}

static int get_option(int fd, int option)
{
	int v = 0;
	socklen_t len = sizeof(v);

	return sys_call(SYS_getsockopt, fd, IPPROTO_IP, option, &v, &len) ? 0 : v;
}

static void set_option(int fd, int option, int v)
{
	sys_call(SYS_setsockopt, fd, IPPROTO_IP, option, &v, sizeof(v));
}

/*
 * Did an earlier net_choose_source() bind this socket? The mark is an option that has no effect
 * unless the program asks for errors (IP_RECVERR), and then on few of them.
 */
static bool is_marked(int fd)
{
	return get_option(fd, IP_RECVERR_RFC4884);
}

/* May net_choose_source() choose the socket's address? */
static bool is_open(int fd, union addr *own)
{
	socklen_t len = sizeof(*own);

	memset(own, 0, sizeof(*own));
	if (sys_call(SYS_getsockname, fd, own, &len) ||
	    (own->in.sin_family != AF_INET && own->in.sin_family != AF_INET6))
		return false;
	if (is_marked(fd))
		return true;
	/* A socket with a port keeps its address, which bind(2) may have chosen. */
	return !own->in.sin_port &&
	       (own->in.sin_family == AF_INET ? !own->in.sin_addr.s_addr
					      : IN6_IS_ADDR_UNSPECIFIED(&own->in6.sin6_addr));
}

/*
 * A socket whose connection was refused or dissolved (AF_UNSPEC) keeps the address that it was
 * bound to. So that it can connect anywhere, it is bound anew.
 */
void net_choose_source(int fd, const struct sockaddr *to, socklen_t len)
{
	union addr a, own, new;
	uint32_t ip, source;
	int late;

	if (len < sizeof(a.in) || !shim_on())
		return;
	len = len < sizeof(a.in6) ? sizeof(a.in) : sizeof(a.in6);
	if (!given(&a, to, len) ||
	    (a.in.sin_family != AF_INET && (a.in.sin_family != AF_INET6 || len < sizeof(a.in6))))
		return;
	ip = ip4_of(&a);
	source = ip >> 24 != FAB_IF_NET || ip >> 16 == FAB_IF_NET << 8 ? 0 : source_of(ip);
	if (!is_open(fd, &own) || ip4_of(&own) == source)
		return;
	len = address_like(&own, source, &new);
	/*
	 * Set IP_BIND_ADDRESS_NO_PORT, so that connect() chooses the port and may share it among
	 * peers. bind(2) does not change the address of a socket that has a port or a connection.
	 */
	late = get_option(fd, IP_BIND_ADDRESS_NO_PORT);
	set_option(fd, IP_BIND_ADDRESS_NO_PORT, 1);
	if (!sys_call(SYS_bind, fd, &new, len))
		set_option(fd, IP_RECVERR_RFC4884, 1);
	set_option(fd, IP_BIND_ADDRESS_NO_PORT, late);
}
