// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* BIND_IP and BIND. */
#include "ucma.h"
#include "states.h"

const struct row bind_rows[] = {
	{"bind: the own address", "rdma_bind_addr_dst", 0, IDLE,
	 "bind A me:p1 -> 0\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: any address", "rdma_bind_addr_dst: no device", 0, IDLE,
	 "bind A any:p1 -> 0\n"
	 "query_addr A -> 0 src=16:any:p1 dst=16:any:0\n"},
	{"bind: port 0", "cma_alloc_any_port: of ip_local_port_range", 0, IDLE,
	 "bind A me:0 -> 0\n"
	 "query_addr A -> 0 src=16:me:* dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: any address, port 0", "cma_alloc_any_port", 0, IDLE,
	 "bind A any:0 -> 0\n"
	 "query_addr A -> 0 src=16:any:* dst=16:any:0\n"},
	{"bind: the loopback address", "rdma_bind_addr_dst: cma_any_addr() has it, no device", 0,
	 IDLE,
	 "bind A lo:p1 -> 0\n"
	 "query_addr A -> 0 src=16:lo:p1 dst=16:any:0\n"},
	{"bind: 127.0.3.5 is loopback, too", "cma_loopback_addr: 127.0.0.0/8", 0, IDLE,
	 "bind A 127.0.3.5:p1 -> 0\n"
	 "query_addr A -> 0 src=16:127.0.3.5:p1 dst=16:any:0\n"},
	{"bind: 0.1.2.3 is no loopback, nor any address",
	 "cma_zero_addr: ipv4_is_zeronet() is 0.0.0.0 alone since Linux 5.3", 0, IDLE,
	 "bind A net0:p1 -> EADDRNOTAVAIL\n"
	 "query_addr A -> 0 src=16:0.1.2.3:p1 dst=0:0\n"},
	{"bind: any IPv6 address", "rdma_bind_addr_dst", 0, IDLE,
	 "bind A any6:p1 -> 0\n"
	 "query_addr A -> 0 src=28:any6:p1 dst=28:any6:0\n"},
	{"bind: the IPv6 loopback address", "rdma_bind_addr_dst", 0, IDLE,
	 "bind A lo6:p1 -> 0\n"
	 "query_addr A -> 0 src=28:lo6:p1 dst=28:any6:0\n"},
	{"bind: the own IPv6 address", "rdma_bind_addr_dst", V6, IDLE,
	 "bind A me6:p1 -> 0\n"
	 "query_addr A -> 0 src=28:me6:p1 dst=28:any6:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: the own link-local address", "cma_check_linklocal: the scope is the device", LL6,
	 IDLE,
	 "bind A ll6:p1 -> 0\n"
	 "query_addr A -> 0 src=28:ll6%if:p1 dst=28:any6:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: a link-local address without scope", "cma_check_linklocal", 0, IDLE,
	 "bind A noscope6:p1 -> EINVAL\n"
	 "query_addr A -> 0 src=0:0 dst=0:0\n"},
	{"bind: a link-local address of another scope", "rdma_translate_ip: dev_get_by_index()", 0,
	 IDLE,
	 "bind A badscope6:p1 -> ENODEV\n"
	 "query_addr A -> 0 src=28:fe80::1%?:p1 dst=0:0\n"},
	{"bind: an address of nobody", "rdma_find_ndev_for_src_ip_rcu", 0, IDLE,
	 "bind A nobody:p1 -> EADDRNOTAVAIL\n"
	 "query_addr A -> 0 src=16:203.0.113.7:p1 dst=0:0\n"
	 "bind A me:p1 -> 0\n"},
	{"bind: a neighbour's address", "rdma_find_ndev_for_src_ip_rcu", 0, IDLE,
	 "bind A neighbour:p1 -> EADDRNOTAVAIL\n"},
	{"bind: an IPv6 address of nobody", "rdma_find_ndev_for_src_ip_rcu", 0, IDLE,
	 "bind A nobody6:p1 -> EADDRNOTAVAIL\n"},
	{"bind: a multicast address", "rdma_find_ndev_for_src_ip_rcu", 0, IDLE,
	 "bind A mc:p1 -> EADDRNOTAVAIL\n"},
	{"bind: the broadcast address", "rdma_find_ndev_for_src_ip_rcu", 0, IDLE,
	 "bind A broadcast:p1 -> EADDRNOTAVAIL\n"},
	{"bind: twice", "rdma_bind_addr_dst: state is not IDLE", 0, BOUND,
	 "bind A me:p1 -> EINVAL\n"
	 "bind A me:p2 -> EINVAL\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: a listener", "rdma_bind_addr_dst: state is not IDLE", 0, LISTENING,
	 "bind A me:p2 -> EINVAL\n"},
	{"bind: after the address was resolved", "rdma_bind_addr_dst: state is not IDLE", 0,
	 RESOLVED, "bind A me:p2 -> EINVAL\n"},
	{"bind: family 0", "ucma_bind: rdma_addr_size_kss() is 0", 0, IDLE,
	 "bind A family:0 addr_size=16 -> EINVAL\n"},
	{"bind: family UNIX", "ucma_bind: rdma_addr_size_kss() is 0", 0, IDLE,
	 "bind A family:1 addr_size=16 -> EINVAL\n"},
	{"bind: size 0", "ucma_bind: addr_size", 0, IDLE, "bind A me:p1 addr_size=0 -> EINVAL\n"},
	{"bind: size one less", "ucma_bind: addr_size", 0, IDLE,
	 "bind A me:p1 addr_size=15 -> EINVAL\n"},
	{"bind: size one more", "ucma_bind: addr_size", 0, IDLE,
	 "bind A me:p1 addr_size=17 -> EINVAL\n"},
	{"bind: IPv4 with the size of IPv6", "ucma_bind: addr_size", 0, IDLE,
	 "bind A me:p1 addr_size=28 -> EINVAL\n"},
	{"bind: the size of the storage", "ucma_bind: addr_size", 0, IDLE,
	 "bind A me:p1 addr_size=128 -> EINVAL\n"},
	{"bind: a reserved word", "ucma_bind: reserved", 0, IDLE,
	 "bind A me:p1 reserved=1 -> EINVAL\n"},
	{"bind: no such id", "ucma_get_ctx", 0, NOTHING, "bind 77 me:p1 -> ENOENT\n"},
	{"bind: no such id and a bad size", "ucma_bind: the size comes first", 0, NOTHING,
	 "bind 77 me:p1 addr_size=3 -> EINVAL\n"},
	{"bind: the id of another file", "ucma_get_ctx", 0, IDLE, "bind@2 A me:p1 -> EINVAL\n"},
	{"bind: a short command", "copy_from_user() takes the whole structure", 0, IDLE,
	 "bind A me:p1 in=24 cut=32 -> EFAULT\n"},
	{"bind: a short command within memory", "in is not looked at", 0, IDLE,
	 "bind A me:p1 in=24 -> 0\n"},
	{"bind: an address and a port in use", "cma_check_port: EADDRINUSE", 0, BOUND,
	 "create B -> 0\n"
	 "bind B me:p1 -> EADDRINUSE\n"
	 "bind B me:p2 -> 0\n"},
	{"bind: any address, port in use", "cma_check_port: EADDRNOTAVAIL", 0, BOUND,
	 "create B -> 0\n"
	 "bind B any:p1 -> EADDRNOTAVAIL\n"},
	{"bind: the own address, port in use by any", "cma_check_port: EADDRNOTAVAIL", 0, BOUND_ANY,
	 "create B -> 0\n"
	 "bind B me:p1 -> EADDRNOTAVAIL\n"},
	{"bind: any address twice", "cma_check_port: EADDRNOTAVAIL", 0, BOUND_ANY,
	 "create B -> 0\n"
	 "bind B any:p1 -> EADDRNOTAVAIL\n"},
	{"bind: any IPv6 after any IPv4",
	 "cma_check_port: afonly of both is needed, bindv6only is 0", 0, BOUND_ANY,
	 "create B -> 0\n"
	 "bind B any6:p1 -> EADDRNOTAVAIL\n"},
	{"bind: any IPv4 after any IPv6", "cma_check_port: afonly of both is needed", 0, IDLE,
	 "bind A any6:p1 -> 0\n"
	 "create B -> 0\n"
	 "bind B any:p1 -> EADDRNOTAVAIL\n"},
	{"bind: any IPv6 alone after any IPv4", "cma_check_port: families differ, afonly of both",
	 0, BOUND_ANY,
	 "create B -> 0\n"
	 "set_option B 0 2 int:1 -> 0\n"
	 "bind B any6:p1 -> 0\n"},
	{"bind: any IPv4 after any IPv6 alone", "cma_check_port", 0, IDLE,
	 "set_option A 0 2 int:1 -> 0\n"
	 "bind A any6:p1 -> 0\n"
	 "create B -> 0\n"
	 "bind B any:p1 -> 0\n"},
	{"bind: IPv4 without afonly after any IPv6 alone",
	 "rdma_bind_addr_dst: the option stays as it was set", 0, IDLE,
	 "set_option A 0 2 int:1 -> 0\n"
	 "bind A any6:p1 -> 0\n"
	 "create B -> 0\n"
	 "set_option B 0 2 int:0 -> 0\n"
	 "bind B any:p1 -> EADDRNOTAVAIL\n"},
	{"bind: loopback, port in use by the own address",
	 "cma_check_port: loopback is any address", 0, BOUND,
	 "create B -> 0\n"
	 "bind B lo:p1 -> EADDRNOTAVAIL\n"},
	{"bind: another family's address of the same port",
	 "cma_check_port: cma_addr_cmp() differs", V6, BOUND,
	 "create B -> 0\n"
	 "bind B me6:p1 -> 0\n"},
	{"bind: the same port in another port space", "cma_ps_find: ports are of a port space", 0,
	 BOUND,
	 "create B udp -> 0\n"
	 "bind B me:p1 -> 0\n"
	 "create C ib qp_type=2 -> 0\n"
	 "bind C me:p1 -> 0\n"},
	{"bind: the same port, both reuse", "cma_check_port: reuseaddr of both", 0, IDLE,
	 "set_option A 0 1 int:1 -> 0\n"
	 "bind A me:p1 -> 0\n"
	 "create B -> 0\n"
	 "set_option B 0 1 int:1 -> 0\n"
	 "bind B me:p1 -> 0\n"},
	{"bind: the same port, the first reuses", "cma_check_port: reuseaddr of both", 0, IDLE,
	 "set_option A 0 1 int:1 -> 0\n"
	 "bind A me:p1 -> 0\n"
	 "create B -> 0\n"
	 "bind B me:p1 -> EADDRINUSE\n"},
	{"bind: the same port, the second reuses", "cma_check_port: reuseaddr of both", 0, BOUND,
	 "create B -> 0\n"
	 "set_option B 0 1 int:1 -> 0\n"
	 "bind B me:p1 -> EADDRINUSE\n"},
	{"bind: the same port, the first reuses after it was bound",
	 "rdma_set_reuseaddr: any state but LISTEN", 0, BOUND,
	 "set_option A 0 1 int:1 -> 0\n"
	 "create B -> 0\n"
	 "set_option B 0 1 int:1 -> 0\n"
	 "bind B me:p1 -> 0\n"},
	{"bind: a port that a file's other id has given up", "cma_release_port", 0, BOUND,
	 "destroy A -> 0 reported=0\n"
	 "create B -> 0\n"
	 "bind B me:p1 -> 0\n"},
	{"bind: port 1 by root", "cma_use_port: CAP_NET_BIND_SERVICE", ROOT, IDLE,
	 "bind A me:1 -> 0\n"
	 "query_addr A -> 0 src=16:me:1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: port 1 without privileges", "cma_use_port: CAP_NET_BIND_SERVICE", USER, NOTHING,
	 "nobody -> 0\n"
	 "create A -> 0\n"
	 "bind A me:1 -> EACCES\n"
	 "bind A me:1023 -> EACCES\n"
	 "bind A me:1024 -> 0\n"},
	{"bind: IPoIB on Ethernet", "cma_acquire_dev_by_src_ip: the interface is no InfiniBand",
	 ROCE_ONLY, NOTHING,
	 "create A ipoib -> 0\n"
	 "bind A me:p1 -> EINVAL\n"},
	{"bind: IPoIB to any address", "rdma_bind_addr_dst: no interface yet", 0, NOTHING,
	 "create A ipoib -> 0\n"
	 "bind A any:p1 -> 0\n"
	 "query_addr A -> 0 src=16:any:p1 dst=16:any:0\n"},
	{"bind: UDP", "rdma_bind_addr_dst", 0, UD_IDLE,
	 "bind U me:p1 -> 0\n"
	 "query_addr U -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind: AF_IB, the port's own GID",
	 "cma_acquire_dev_by_src_ip: cma_validate_port() wants InfiniBand", 0, IDLE,
	 "bind A ib0:p1 -> [roce:ENODEV|ib:0]\n"
	 "query_addr A -> 0 src=48:ib:gid0/106:p1 dst=[roce:0:0|ib:48:ib:0/0:0&0,pkey=0 guid=own "
	 "port=1 pkey=ffff]\n"},
	{"bind: AF_IB, any GID", "rdma_bind_addr_dst: cma_any_addr()", 0, IDLE,
	 "bind A ibany:p1 -> 0\n"
	 "query_addr A -> 0 src=48:ib:0/106:p1 dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, loopback GID", "rdma_bind_addr_dst: cma_any_addr()", 0, IDLE,
	 "bind A iblo:p1 -> 0\n"
	 "query_addr A -> 0 src=48:ib:::1/106:p1 dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, nobody's GID", "cma_acquire_dev_by_src_ip: ENODEV", 0, IDLE,
	 "bind A ibnobody:p1 -> ENODEV\n"
	 "query_addr A -> 0 src=48:ib:fec0::dead/106:p1 dst=0:0\n"},
	{"bind: AF_IB, a service of UDP for an id of TCP", "cma_select_ib_ps: EPROTONOSUPPORT", 0,
	 IDLE, "bind A ibany/udp:p1 -> EPROTONOSUPPORT\n"},
	{"bind: AF_IB, a service of UDP for an id of UDP", "cma_select_ib_ps", 0, UD_IDLE,
	 "bind U ibany/udp:p1 -> 0\n"
	 "query_addr U -> 0 src=48:ib:0/111:p1 dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, a service of IB for an id of IB", "cma_select_ib_ps", 0, NOTHING,
	 "create A ib qp_type=2 -> 0\n"
	 "bind A ibany/ib:p1 -> 0\n"
	 "query_addr A -> 0 src=48:ib:0/13f:p1 dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, a service of TCP for an id of IB", "cma_select_ib_ps", 0, NOTHING,
	 "create A ib qp_type=2 -> 0\n"
	 "bind A ibany/tcp:p1 -> 0\n"
	 "query_addr A -> 0 src=48:ib:0/106:p1 dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, any service for an id of TCP", "cma_select_ib_ps: mask 0", 0, IDLE,
	 "bind A ibany/any -> 0\n"
	 "query_addr A -> 0 src=48:ib:0/106:* dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, any service for an id of IB", "cma_select_ib_ps: mask 0 means IB", 0,
	 NOTHING,
	 "create A ib qp_type=2 -> 0\n"
	 "bind A ibany/any -> 0\n"
	 "query_addr A -> 0 src=48:ib:0/13f:* dst=48:ib:0/0:0&0,pkey=0\n"},
	{"bind: AF_IB, size of IPv6", "ucma_bind: addr_size", 0, IDLE,
	 "bind A ibany:p1 addr_size=28 -> EINVAL\n"},
	{"bind: AF_IB, an id of IPoIB", "cma_select_ib_ps: EPROTONOSUPPORT", 0, NOTHING,
	 "create A ipoib -> 0\n"
	 "bind A ibany:p1 -> EPROTONOSUPPORT\n"},
	{"bind_ip: the own address", "ucma_bind_ip", 0, IDLE,
	 "bind_ip A me:p1 -> 0\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind_ip: any IPv6 address", "ucma_bind_ip", 0, IDLE,
	 "bind_ip A any6:p1 -> 0\n"
	 "query_addr A -> 0 src=28:any6:p1 dst=28:any6:0\n"},
	{"bind_ip: the own IPv6 address", "ucma_bind_ip", V6, IDLE,
	 "bind_ip A me6:p1 -> 0\n"
	 "query_addr A -> 0 src=28:me6:p1 dst=28:any6:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"bind_ip: family 0", "ucma_bind_ip: rdma_addr_size_in6() is 0", 0, IDLE,
	 "bind_ip A family:0 -> EINVAL\n"},
	{"bind_ip: family UNIX", "ucma_bind_ip: rdma_addr_size_in6() is 0", 0, IDLE,
	 "bind_ip A family:1 -> EINVAL\n"},
	{"bind_ip: AF_IB does not fit", "rdma_addr_size_in6: 48 bytes in 28", 0, IDLE,
	 "bind_ip A ibany:p1 -> EINVAL\n"},
	{"bind_ip: no such id", "ucma_get_ctx", 0, NOTHING, "bind_ip 77 me:p1 -> ENOENT\n"},
	{"bind_ip: no such id, family 0", "ucma_bind_ip: the family comes first", 0, NOTHING,
	 "bind_ip 77 family:0 -> EINVAL\n"},
	{"bind_ip: the id of another file", "ucma_get_ctx", 0, IDLE,
	 "bind_ip@2 A me:p1 -> EINVAL\n"},
	{"bind_ip: twice", "rdma_bind_addr_dst", 0, BOUND, "bind_ip A me:p2 -> EINVAL\n"},
	{"bind_ip: port in use", "cma_check_port", 0, BOUND,
	 "create B -> 0\n"
	 "bind_ip B me:p1 -> EADDRINUSE\n"},
	{"bind_ip: a short command", "copy_from_user()", 0, IDLE,
	 "bind_ip A me:p1 cut=40 in=32 -> EFAULT\n"},
};
ROWS_END(bind);
