/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns RTM_GETLINK of the host's interfaces: rtnl_getlink(), rtnl_dump_ifinfo() of the kernel. */
#include "nldev/rtpriv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <string.h>
#include <sys/socket.h>
#include "util/cleanup.h"

#define GSO_MAX_SEGS 65535 /* GSO_MAX_SEGS of netdevice.h */
#define GSO_MAX_SIZE 65536

/* Values that depend on the type of the device. IPoIB: ipoib_setup_common(), ipoib_intf_init(). */
static const struct device {
	uint16_t hwtype;
	const char *kind; /* "": none */
	uint32_t min_mtu, max_mtu;
} devices[] = {
	{ARPHRD_INFINIBAND, "ipoib", 0, 65520},
	{ARPHRD_ETHER, "", 68, 9978}, /* ether_setup(), mlx5e_build_nic_netdev() */
};
static const struct device vlan_device = {ARPHRD_ETHER, "vlan", 0, 65535}; /* vlan_setup() */

static const struct device *device_of(const struct fab_iface *f)
{
	if (f->link)
		return &vlan_device;
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (devices[i].hwtype == f->hwtype)
			return &devices[i];
	return &devices[0];
}

static void put_limits(struct nl_out *o, const struct fab_iface *f)
{
	nl_u32(o, IFLA_MTU, f->mtu);
	nl_u32(o, IFLA_MIN_MTU, device_of(f)->min_mtu);
	nl_u32(o, IFLA_MAX_MTU, device_of(f)->max_mtu);
	nl_u32(o, IFLA_GROUP, 0);
	nl_u32(o, IFLA_PROMISCUITY, 0);
	nl_u32(o, IFLA_ALLMULTI, 0);
	nl_u32(o, IFLA_NUM_TX_QUEUES, 1);
	nl_u32(o, IFLA_GSO_MAX_SEGS, GSO_MAX_SEGS);
	nl_u32(o, IFLA_GSO_MAX_SIZE, GSO_MAX_SIZE);
	nl_u32(o, IFLA_GRO_MAX_SIZE, GSO_MAX_SIZE);
	nl_u32(o, IFLA_TSO_MAX_SIZE, GSO_MAX_SIZE);
	nl_u32(o, IFLA_TSO_MAX_SEGS, GSO_MAX_SEGS);
	nl_u32(o, IFLA_NUM_RX_QUEUES, 1);
}

static void put_carrier(struct nl_out *o, const struct fab_iface *f)
{
	bool up = f->flags & IFF_RUNNING;

	nl_u8(o, IFLA_CARRIER, up);
	nl_str(o, IFLA_QDISC, f->link ? "noqueue" : "pfifo_fast");
	nl_u32(o, IFLA_CARRIER_CHANGES, up);
	nl_u32(o, IFLA_CARRIER_UP_COUNT, up);
	nl_u32(o, IFLA_CARRIER_DOWN_COUNT, 0);
	nl_u8(o, IFLA_PROTO_DOWN, 0);
}

/* ipoib_fill_info() */
static void put_ipoib(struct nl_out *o, const struct fab_iface *f)
{
	nl_u16(o, IFLA_IPOIB_PKEY, (uint16_t)f->pkey);
	nl_u16(o, IFLA_IPOIB_MODE, IPOIB_MODE_DATAGRAM);
	nl_u16(o, IFLA_IPOIB_UMCAST, 0);
}

/* vlan_fill_info() */
static void put_vlan(struct nl_out *o, const struct fab_iface *f)
{
	static const struct ifla_vlan_flags flags = {VLAN_FLAG_REORDER_HDR, UINT32_MAX};

	nl_u16(o, IFLA_VLAN_PROTOCOL, htons(ETH_P_8021Q));
	nl_u16(o, IFLA_VLAN_ID, (uint16_t)f->vlan);
	nl_put(o, IFLA_VLAN_FLAGS, &flags, sizeof(flags));
}

static void put_kind(struct nl_out *o, const struct fab_iface *f)
{
	uint32_t info, data;

	if (!*device_of(f)->kind)
		return;
	info = nl_open(o, IFLA_LINKINFO);
	nl_str(o, IFLA_INFO_KIND, device_of(f)->kind);
	data = nl_open(o, IFLA_INFO_DATA);
	if (f->link)
		put_vlan(o, f);
	else
		put_ipoib(o, f);
	nl_close(o, data);
	nl_close(o, info);
}

static void put_families(struct nl_out *o)
{
	uint32_t spec = nl_open(o, IFLA_AF_SPEC), inet6 = nl_open(o, AF_INET6);

	nl_u32(o, IFLA_INET6_FLAGS, 0x80000000u); /* IF_READY of net/if_inet6.h */
	nl_u8(o, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_EUI64);
	nl_close(o, inet6);
	nl_close(o, spec);
}

/* rtnl_fill_ifinfo() */
void rtn_link(struct rtn_req *q, uint16_t type, const struct fab_iface *f)
{
	static const struct rtnl_link_stats64 none64;
	static const struct rtnl_link_stats none;
	static const struct rtnl_link_ifmap map;
	const struct ifinfomsg m = {
		.ifi_type = f->hwtype, .ifi_index = (int)f->index, .ifi_flags = f->flags};
	struct nl_out *o = q->o;
	uint32_t xdp;

	rtn_begin(q, type, &m, sizeof(m));
	nl_str(o, IFLA_IFNAME, f->name);
	nl_u32(o, IFLA_TXQLEN, f->queue_len);
	nl_u8(o, IFLA_OPERSTATE, f->flags & IFF_RUNNING ? IF_OPER_UP : IF_OPER_DOWN);
	nl_u8(o, IFLA_LINKMODE, 0);
	put_limits(o, f);
	if (f->link)
		nl_u32(o, IFLA_LINK, f->link);
	put_carrier(o, f);
	nl_put(o, IFLA_MAP, &map, sizeof(map));
	nl_put(o, IFLA_ADDRESS, f->hwaddr, f->hwlen);
	nl_put(o, IFLA_BROADCAST, f->broadcast, f->hwlen);
	nl_put(o, IFLA_STATS64, &none64, sizeof(none64));
	nl_put(o, IFLA_STATS, &none, sizeof(none));
	if (rtn_u32(q, IFLA_EXT_MASK) & RTEXT_FILTER_VF)
		nl_u32(o, IFLA_NUM_VF, 0);
	xdp = nl_open(o, IFLA_XDP);
	nl_u8(o, IFLA_XDP_ATTACHED, XDP_ATTACHED_NONE);
	nl_close(o, xdp);
	put_kind(o, f);
	nl_put(o, IFLA_PERM_ADDRESS, f->hwaddr, f->hwlen);
	put_families(o);
	if (!*f->parent)
		return;
	nl_str(o, IFLA_PARENT_DEV_NAME, f->parent);
	nl_str(o, IFLA_PARENT_DEV_BUS_NAME, "pci");
}

/* rtnl_valid_getlink_req(): a socket without NETLINK_GET_STRICT_CHK is not checked. */
static bool valid(struct rtn_req *q)
{
	const struct ifinfomsg *m = q->body;

	if (!q->r->strict)
		return true;
	if (m->ifi_type || m->ifi_flags || m->ifi_change) {
		q->ext.msg = "Invalid values in header for get link request";
		return false;
	}
	for (uint16_t i = 1; i < RT_ATTRS; i++)
		if (q->tb[i] && i != IFLA_IFNAME && i != IFLA_ALT_IFNAME && i != IFLA_EXT_MASK) {
			q->ext.msg = "Unsupported attribute in get link request";
			return false;
		}
	return true;
}

enum rtnl_who rtn_link_get(struct rtn_req *q)
{
	const struct ifinfomsg *m = q->body;
	const struct fab_iface *f;

	if (q->len < sizeof(*m))
		return RTNL_KERNEL;
	rtn_parse(q, sizeof(*m));
	if (q->tb[IFLA_TARGET_NETNSID])
		return RTNL_KERNEL;
	if (m->ifi_index)
		f = rtn_by_index(q, (uint32_t)m->ifi_index);
	else
		f = rtn_by_name(q, q->tb[IFLA_IFNAME] ? IFLA_IFNAME : IFLA_ALT_IFNAME);
	if (!f)
		return RTNL_KERNEL;
	if (!valid(q))
		return rtn_end(q, -EINVAL);
	rtn_link(q, RTM_NEWLINK, f);
	return rtn_end(q, 0);
}

/* Families whose own handler answers: br_, inet6_, ipmr_ and ip6mr_dump_link(). */
static bool other_family(uint8_t family)
{
	return family == AF_BRIDGE || family == AF_INET6 || family == RTNL_FAMILY_IPMR ||
	       family == RTNL_FAMILY_IP6MR;
}

/* The IFLA_INFO_KIND that is asked for; NULL: any. */
static const char *kind_asked(const struct rtn_req *q, size_t *n)
{
	const struct nlattr *info = q->tb[IFLA_LINKINFO];
	struct rtn_req in = *q;

	if (!info)
		return NULL;
	memset(in.tb, 0, sizeof(in.tb));
	in.body = info + 1;
	in.len = info->nla_len - sizeof(*info);
	rtn_parse(&in, 0);
	if (!in.tb[IFLA_INFO_KIND])
		return NULL;
	*n = in.tb[IFLA_INFO_KIND]->nla_len - sizeof(struct nlattr);
	return (const char *)(in.tb[IFLA_INFO_KIND] + 1);
}

enum rtnl_who rtn_link_dump(struct rtn_req *q)
{
	const char *kind;
	size_t n = 0;

	if (other_family(*(const uint8_t *)q->body))
		return RTNL_DUMP;
	rtn_parse(q, q->len < sizeof(struct ifinfomsg) ? sizeof(struct rtgenmsg)
						       : sizeof(struct ifinfomsg));
	if (q->tb[IFLA_TARGET_NETNSID] || rtn_u32(q, IFLA_MASTER))
		return RTNL_DUMP;
	kind = kind_asked(q, &n);
	if (kind)
		q->flags |= NLM_F_DUMP_FILTERED;
	for (uint32_t i = 0; i < q->r->n; i++) {
		const struct fab_iface *f = &q->r->iface[i];
		const char *own = device_of(f)->kind;

		if (kind && (strnlen(kind, n) != strlen(own) || memcmp(kind, own, strlen(own))))
			continue;
		rtn_link(q, RTM_NEWLINK, f);
		rtn_send(q);
	}
	return RTNL_DUMP;
}
