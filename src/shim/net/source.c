/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the address that a socket gets when it connects to one of a fabric's in 127.0.0.0/8. The
 * machine has a single route there, by its loopback interface, and so takes 127.0.0.1. A host with
 * this interface takes the interface's address, which programs then bind to or tell their peer.
 */
#include "shim/net/net.h"
#include "fabric/ifaddr.h"
#include "shim/files/paths.h"
#include "util/bits.h"
#include "util/sys.h"

#include <netinet/in.h>
#include <string.h>

/* The address of the interface that leads to `ip`, in network byte order; 0: none. */
static uint32_t source_of(uint32_t ip)
{
	struct fab_iface f;

	for (uint32_t n = 0; net_iface(n, &f); n++) {
		uint32_t own = be32_load(f.ip4);
		uint32_t mask = f.prefix4 ? ~UINT32_C(0) << (32 - f.prefix4) : 0;

		if (own >> 24 == FAB_IF_NET && !((own ^ ip) & mask))
			return own;
	}
	return 0;
}

/* The pointer may be bad, and process_vm_readv(2) forbidden to a program that does no RDMA. */
static bool read_address(struct sockaddr_in *to, const struct sockaddr *from)
{
	const uintptr_t page = ~(uintptr_t)4095, first = (uintptr_t)from;
	const uintptr_t last = first + sizeof(*to) - 1;

	if (!sys_page_readable(first & page) ||
	    ((first ^ last) & page && !sys_page_readable(last & page)))
		return false;
	memcpy(to, from, sizeof(*to));
	return true;
}

/* Neither an address nor a port: bind(2) may choose one. */
static bool is_unbound(int fd)
{
	struct sockaddr_in a = {0};
	socklen_t len = sizeof(a);

	return !sys_call(SYS_getsockname, fd, &a, &len) && a.sin_family == AF_INET && !a.sin_port &&
	       !a.sin_addr.s_addr;
}

void net_choose_source(int fd, const struct sockaddr *to, socklen_t len)
{
	struct sockaddr_in own = {.sin_family = AF_INET};
	struct sockaddr_in a;
	uint32_t ip, source;
	int late = 1;

	if (len < sizeof(a) || !read_address(&a, to) || a.sin_family != AF_INET)
		return;
	ip = be32_load(&a.sin_addr);
	if (ip >> 24 != FAB_IF_NET || ip >> 16 == FAB_IF_NET << 8 || !shim_on())
		return;
	source = source_of(ip);
	if (!source || !is_unbound(fd))
		return;
	be32_store(&own.sin_addr, source);
	/* The port is chosen by connect(), which may share it among peers. */
	sys_call(SYS_setsockopt, fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof(late));
	sys_call(SYS_bind, fd, &own, sizeof(own));
}
