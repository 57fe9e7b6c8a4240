// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* RESOLVE_IP, RESOLVE_ADDR and RESOLVE_ROUTE. */
#include "ucma.h"
#include "states.h"

const struct row resolve_rows[] = {
	{"resolve: the own address", "rdma_resolve_addr", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: with a source", "rdma_bind_addr_dst", 0, IDLE,
	 "resolve A me:p1 src=me:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p2 dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: with a source of any address", "rdma_bind_addr_dst", 0, IDLE,
	 "resolve A me:p1 src=any:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p2 dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: a bound id", "resolve_prepare_src: ADDR_BOUND", 0, BOUND,
	 "resolve A me:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:me:p2 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: an id that is bound to any address", "resolve_prepare_src: ADDR_BOUND", 0,
	 BOUND_ANY,
	 "resolve A me:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:me:p2 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: a bound id, with a source", "resolve_prepare_src: the source is ignored", 0,
	 BOUND,
	 "resolve A me:p2 src=me:p3 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:me:p2 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: a source that nobody has", "rdma_bind_addr_dst: rdma_translate_ip()", 0, IDLE,
	 "resolve A me:p1 src=nobody:p2 -> EADDRNOTAVAIL\n"
	 "query_addr A -> 0 src=16:203.0.113.7:p2 dst=0:0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"resolve: a source of the other family", "resolve_prepare_src: cma_family() differs", 0,
	 IDLE,
	 "resolve A me:p1 src=any6:0 -> EINVAL\n"
	 "query_addr A -> 0 src=28:any6:* dst=28:any6:p1\n"},
	{"resolve: any address as destination", "cma_resolve_loopback: any address is the own host",
	 0, IDLE,
	 "resolve A any:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:lo:* dst=16:any:p1 guid=own port=1 pkey=ffff\n"},
	{"resolve: the loopback address", "cma_resolve_loopback, cma_bind_loopback", 0, IDLE,
	 "resolve A lo:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:lo:* dst=16:lo:p1 guid=own port=1 pkey=ffff\n"},
	{"resolve: the IPv6 loopback address", "cma_resolve_loopback", 0, IDLE,
	 "resolve A lo6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=28:lo6:* dst=28:lo6:p1 guid=own port=1 pkey=ffff\n"},
	{"resolve: loopback, bound to the own address", "cma_resolve_loopback: the device is known",
	 0, BOUND,
	 "resolve A lo:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:lo:p2 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: the own IPv6 address", "addr6_resolve", V6, IDLE,
	 "resolve A me6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=28:me6:* dst=28:me6:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: the own link-local address", "cma_bind_addr: scope of the destination", LL6,
	 IDLE,
	 "resolve A ll6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=28:ll6%if:* dst=28:ll6%if:p1 guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"},
	{"resolve: a link-local address without scope",
	 "cma_check_linklocal looks at the source alone", RXE, IDLE,
	 "resolve A noscope6:p1 -> 0\n"},
	{"resolve: nobody's address, no route", "addr4_resolve: ip_route_output_key()", 0, IDLE,
	 "resolve A nobody:p1 -> ENETUNREACH\n"
	 "query_addr A -> 0 src=16:any:* dst=16:203.0.113.7:p1\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"resolve: nobody's IPv6 address, no route", "addr6_resolve", 0, IDLE,
	 "resolve A nobody6:p1 -> ENETUNREACH\n"
	 "query_addr A -> 0 src=28:any6:* dst=28:2001:db8::7:p1\n"},
	{"resolve: a neighbour that does not answer", "process_one_req: ETIMEDOUT", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=1 -> 0\n"
	 "get -> ADDR_ERROR A status=-110\n"
	 "query_addr A -> 0 src=16:any:* dst=16:neighbour:p1\n"},
	{"resolve: again after an error", "rdma_resolve_addr: used_resolve_ip", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=1 -> 0\n"
	 "get -> ADDR_ERROR A status=-110\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: timeout 0", "rdma_resolve_ip: what is known needs no time", 0, IDLE,
	 "resolve A me:p1 timeout_ms=0 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"resolve: the broadcast address", "addr4_resolve: no route", RXE, IDLE,
	 "resolve A broadcast:p1 timeout_ms=1 -> ENETUNREACH\n"},
	{"resolve: a multicast address", "addr4_resolve: no route", RXE, IDLE,
	 "resolve A mc:p1 timeout_ms=1 -> ENETUNREACH\n"},
	{"resolve: port 0", "the port is not looked at", 0, IDLE,
	 "resolve A me:0 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:* dst=16:me:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: UDP", "rdma_resolve_addr", 0, UD_IDLE,
	 "resolve U me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED U\n"
	 "query_addr U -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: twice without waiting", "resolve_prepare_src: state is ADDR_QUERY", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=60000 -> 0\n"
	 "resolve A me:p1 -> EINVAL\n"},
	{"resolve: after it was resolved", "resolve_prepare_src: state is ADDR_RESOLVED", 0,
	 RESOLVED, "resolve A me:p1 -> EINVAL\n"},
	{"resolve: after the route", "resolve_prepare_src: state is ROUTE_RESOLVED", 0, ROUTED,
	 "resolve A me:p1 -> EINVAL\n"},
	{"resolve: a listener", "resolve_prepare_src: state is LISTEN", 0, LISTENING,
	 "resolve A me:p2 -> EINVAL\n"},
	{"resolve: a connecting id", "resolve_prepare_src: state is CONNECT", 0, CONNECTING,
	 "resolve A me:p1 -> EINVAL\n"},
	{"resolve: an established id", "resolve_prepare_src: state is CONNECT", 0, CONNECTED,
	 "resolve A me:p1 -> EINVAL\n"},
	{"resolve: a disconnected id", "resolve_prepare_src: state is DISCONNECT", 0, DISCONNECTED,
	 "resolve A me:p1 -> EINVAL\n"},
	{"resolve: size of the destination 0", "ucma_resolve_addr", 0, IDLE,
	 "resolve A me:p1 dst_size=0 -> EINVAL\n"},
	{"resolve: size of the destination one less", "ucma_resolve_addr", 0, IDLE,
	 "resolve A me:p1 dst_size=15 -> EINVAL\n"},
	{"resolve: size of the destination that of IPv6", "ucma_resolve_addr", 0, IDLE,
	 "resolve A me:p1 dst_size=28 -> EINVAL\n"},
	{"resolve: size of the source wrong", "ucma_resolve_addr", 0, IDLE,
	 "resolve A me:p1 src=me:p2 src_size=28 -> EINVAL\n"},
	{"resolve: a source with size 0",
	 "ucma_resolve_addr lets it pass; cma_bind_addr uses the family", 0, IDLE,
	 "resolve A me:p1 src=me:p2 src_size=0 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p2 dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve: a size, but no source", "ucma_resolve_addr", 0, IDLE,
	 "resolve A me:p1 src_size=16 -> EINVAL\n"},
	{"resolve: source of family UNIX, size 0", "rdma_bind_addr_dst: EAFNOSUPPORT", 0, IDLE,
	 "resolve A me:p1 src=family:1 src_size=0 -> EAFNOSUPPORT\n"},
	{"resolve: destination of family 0", "ucma_resolve_addr", 0, IDLE,
	 "resolve A family:0 -> EINVAL\n"},
	{"resolve: destination of family UNIX", "ucma_resolve_addr", 0, IDLE,
	 "resolve A family:1 -> EINVAL\n"},
	{"resolve: a reserved word", "ucma_resolve_addr: reserved", 0, IDLE,
	 "resolve A me:p1 reserved=1 -> EINVAL\n"},
	{"resolve: no such id", "ucma_get_ctx", 0, NOTHING, "resolve 77 me:p1 -> ENOENT\n"},
	{"resolve: no such id and a reserved word", "ucma_resolve_addr: the fields come first", 0,
	 NOTHING, "resolve 77 me:p1 reserved=1 -> EINVAL\n"},
	{"resolve: the id of another file", "ucma_get_ctx", 0, IDLE,
	 "resolve@2 A me:p1 -> EINVAL\n"},
	{"resolve: a short command", "copy_from_user()", 0, IDLE,
	 "resolve A me:p1 cut=40 in=32 -> EFAULT\n"},
	{"resolve: source port in use", "cma_check_port", 0, BOUND,
	 "create B -> 0\n"
	 "resolve B me:p2 src=me:p1 -> EADDRINUSE\n"},
	{"resolve: AF_IB, the own GID", "cma_resolve_ib_dev: a port with this GID and P_Key", 0,
	 IDLE, "resolve A ib0:p1 -> 0\n"},
	{"resolve: AF_IB, loopback", "cma_resolve_loopback", 0, IDLE,
	 "resolve A iblo:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=48:ib:::1/106:* dst=48:ib:::1/106:p1 guid=own port=1 pkey=ffff\n"},
	{"resolve: AF_IB, nobody's GID", "cma_resolve_ib_dev", 0, IDLE,
	 "resolve A ibnobody:p1 -> ENODEV\n"},
	{"resolve: AF_IB, a service of another port space",
	 "cma_select_ib_ps looks at the source, whose mask is 0", 0, IDLE,
	 "resolve A iblo/udp:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"resolve_ip: the own address", "ucma_resolve_ip", 0, IDLE,
	 "resolve_ip A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve_ip: with a source", "ucma_resolve_ip", 0, IDLE,
	 "resolve_ip A me:p1 src_addr=me:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:p2 dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"resolve_ip: IPv6 loopback", "ucma_resolve_ip", 0, IDLE,
	 "resolve_ip A lo6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"resolve_ip: destination of family 0", "ucma_resolve_ip", 0, IDLE,
	 "resolve_ip A family:0 -> EINVAL\n"},
	{"resolve_ip: destination of family UNIX", "ucma_resolve_ip", 0, IDLE,
	 "resolve_ip A family:1 -> EINVAL\n"},
	{"resolve_ip: source of family UNIX", "ucma_resolve_ip", 0, IDLE,
	 "resolve_ip A me:p1 src_addr=family:1 -> EINVAL\n"},
	{"resolve_ip: AF_IB does not fit", "rdma_addr_size_in6", 0, IDLE,
	 "resolve_ip A ib0:p1 -> EINVAL\n"},
	{"resolve_ip: no such id", "ucma_get_ctx", 0, NOTHING, "resolve_ip 77 me:p1 -> ENOENT\n"},
	{"resolve_ip: the id of another file", "ucma_get_ctx", 0, IDLE,
	 "resolve_ip@2 A me:p1 -> EINVAL\n"},
	{"resolve_ip: twice", "resolve_prepare_src", 0, RESOLVED, "resolve_ip A me:p1 -> EINVAL\n"},
	{"resolve_ip: a short command", "copy_from_user()", 0, IDLE,
	 "resolve_ip A me:p1 cut=40 in=32 -> EFAULT\n"},
	{"route: of a resolved address", "rdma_resolve_route", 0, RESOLVED,
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"},
	{"route: of loopback",
	 "cma_resolve_iboe_route: no interface is bound; InfiniBand asks the SA", 0, IDLE,
	 "resolve A lo:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> [roce:ENODEV|ib:0]\n"},
	{"route: of the own IPv6 address", "rdma_resolve_route", V6, IDLE,
	 "resolve A me6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"},
	{"route: timeout 0", "rdma_resolve_route: timeout_ms", 0, RESOLVED,
	 "route A timeout_ms=0 -> EINVAL\n"},
	{"route: timeout 1", "rdma_resolve_route", ROCE_ONLY, RESOLVED,
	 "route A timeout_ms=1 -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"},
	{"route: a new id", "ucma_get_ctx_dev: no device", 0, IDLE, "route A -> EINVAL\n"},
	{"route: a bound id", "rdma_resolve_route: state is ADDR_BOUND", 0, BOUND,
	 "route A -> EINVAL\n"},
	{"route: an id that is bound to any address", "ucma_get_ctx_dev: no device", 0, BOUND_ANY,
	 "route A -> EINVAL\n"},
	{"route: twice", "rdma_resolve_route: state is ROUTE_RESOLVED", 0, ROUTED,
	 "route A -> EINVAL\n"},
	{"route: a listener", "rdma_resolve_route: state is LISTEN", 0, LISTENING,
	 "route A -> EINVAL\n"},
	{"route: a connecting id", "rdma_resolve_route: state is CONNECT", 0, CONNECTING,
	 "route A -> EINVAL\n"},
	{"route: a request's id", "rdma_resolve_route: state is CONNECT", 0, CONNECTING,
	 "route S -> EINVAL\n"},
	{"route: an established id", "rdma_resolve_route: state is CONNECT", 0, CONNECTED,
	 "route A -> EINVAL\n"},
	{"route: while the address is looked up", "ucma_get_ctx_dev: no device yet", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=60000 -> 0\n"
	 "route A -> EINVAL\n"},
	{"route: while the address of a bound id is looked up",
	 "rdma_resolve_route: state is ADDR_QUERY", 0, BOUND,
	 "resolve A neighbour:p2 timeout_ms=60000 -> 0\n"
	 "route A -> EINVAL\n"},
	{"route: after an error of the address", "ucma_get_ctx_dev: no device", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=1 -> 0\n"
	 "get -> ADDR_ERROR A status=-110\n"
	 "route A -> EINVAL\n"},
	{"route: UDP", "rdma_resolve_route", 0, UD_RESOLVED,
	 "route U -> 0\n"
	 "get -> ROUTE_RESOLVED U\n"},
	{"route: no such id", "ucma_get_ctx", 0, NOTHING, "route 77 -> ENOENT\n"},
	{"route: the id of another file", "ucma_get_ctx", 0, RESOLVED, "route@2 A -> EINVAL\n"},
	{"route: a short command", "copy_from_user()", 0, RESOLVED,
	 "route A cut=12 in=4 -> EFAULT\n"},
};
ROWS_END(resolve);
