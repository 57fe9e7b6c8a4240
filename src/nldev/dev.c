/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the commands about adapters, ports, character devices and the system. Those that change
 * something are checked as the kernel does, and then refused: the fabric's files are the place.
 */
#include "nldev/priv.h"

#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "fw/caps.h"
#include "util/fmt.h"
#include "util/sys.h"

#define UVERBS_ABI 1
#define UMAD_ABI 5
#define RDMA_CM_ABI 4
#define DRIVER_MLX5 1  /* RDMA_DRIVER_MLX5 */
#define NODE_CA 1      /* RDMA_NODE_IB_CA */
#define SHARED_NETNS 1 /* the kernel's default: adapters are seen in every network namespace */

uint32_t nl_hca(const struct nl_req *q)
{
	const struct nlattr *a = q->tb[RDMA_NLDEV_ATTR_DEV_INDEX];
	const struct hw_host *h = seg_live(q->d->s, SEG_T_HOST, q->d->host);
	uint32_t n = a ? nl_get_u32(a) : SEG_NONE;

	return h && n < h->nhcas && hw_hca_is_in(q->d->s, h->hca[n]) ? h->hca[n] : SEG_NONE;
}

int nl_port(const struct nl_req *q, uint32_t hca, uint32_t *port)
{
	const struct nlattr *a = q->tb[RDMA_NLDEV_ATTR_PORT_INDEX];

	*port = a ? nl_get_u32(a) : 0;
	return a && (!*port || *port > hw_hca(q->d->s, hca)->nports) ? -EINVAL : 0;
}

void nl_handle(struct nl_req *q, struct nl_out *o, uint32_t hca)
{
	const struct hw_hca *h = hw_hca(q->d->s, hca);
	char name[FAB_HCA_NAME];

	nl_u32(o, RDMA_NLDEV_ATTR_DEV_INDEX, h->dev_index);
	nl_str(o, RDMA_NLDEV_ATTR_DEV_NAME, fab_hca_name(q->d->s, h, name));
}

/* ---- GET */

/* fill_dev_info() */
static int fill_dev(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t arg)
{
	const struct hw_hca *h = hw_hca(q->d->s, hca);
	const struct hw_caps *c = &h->caps;
	const struct hw_port *p = hw_port(q->d->s, h->port[0]);

	nl_handle(q, o, hca);
	nl_u32(o, RDMA_NLDEV_ATTR_PORT_INDEX, h->nports);
	nl_u64(o, RDMA_NLDEV_ATTR_CAP_FLAGS, c->device_cap_flags);
	nl_str(o, RDMA_NLDEV_ATTR_FW_VERSION, c->fw_ver);
	nl_u64(o, RDMA_NLDEV_ATTR_NODE_GUID, h->node_guid);
	nl_u64(o, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, h->sys_image_guid);
	nl_u8(o, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	nl_u8(o, RDMA_NLDEV_ATTR_DEV_DIM, 1); /* mlx5 sets use_cq_dim */
	/* of the first port */
	nl_str(o, RDMA_NLDEV_ATTR_DEV_PROTOCOL, p && hw_port_is_eth(p) ? "roce" : "ib");
	return 0;
}

static void begin(struct nl_req *q, struct nl_out *o, uint16_t op)
{
	nl_begin(o, &q->d->to, q->h, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op), 0);
}

int nl_get(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca = nl_hca(q);

	if (hca == SEG_NONE)
		return -EINVAL;
	begin(q, o, RDMA_NLDEV_CMD_GET);
	return fill_dev(q, o, hca, 0);
}

int nl_get_all(struct nl_req *q, struct nl_dump *p)
{
	const struct hw_host *h = seg_live(q->d->s, SEG_T_HOST, q->d->host);
	int r = 0;

	for (uint32_t i = 0; !r && h && i < h->nhcas; i++)
		if (hw_hca_is_in(q->d->s, h->hca[i]))
			r = nl_dump_one(p, RDMA_NLDEV_CMD_GET, fill_dev, h->hca[i], 0);
	return r;
}

/* ---- PORT_GET */

static void fill_ib_port(struct nl_out *o, const struct hw_port *p)
{
	nl_u64(o, RDMA_NLDEV_ATTR_CAP_FLAGS, p->cap_mask);
	nl_u64(o, RDMA_NLDEV_ATTR_SUBNET_PREFIX, p->gid_prefix);
	nl_u32(o, RDMA_NLDEV_ATTR_LID, hw_port_lid(p));
	nl_u32(o, RDMA_NLDEV_ATTR_SM_LID, p->sm_lid);
	nl_u8(o, RDMA_NLDEV_ATTR_LMC, (uint8_t)p->lmc);
}

/* fill_port_info(); an InfiniBand port has no network interface here. */
static int fill_port(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t n)
{
	uint32_t port = hw_hca(q->d->s, hca)->port[n - 1];
	const struct hw_port *p = hw_port(q->d->s, port);
	struct fab_iface f;

	if (!p)
		return -EINVAL;
	nl_handle(q, o, hca);
	nl_u32(o, RDMA_NLDEV_ATTR_PORT_INDEX, n);
	if (!hw_port_is_eth(p))
		fill_ib_port(o, p);
	nl_u8(o, RDMA_NLDEV_ATTR_PORT_STATE, (uint8_t)p->state);
	nl_u8(o, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, (uint8_t)p->phys_state);
	if (hw_port_is_eth(p) && fab_iface(q->d->s, port, &f)) {
		nl_u32(o, RDMA_NLDEV_ATTR_NDEV_INDEX, f.index);
		nl_str(o, RDMA_NLDEV_ATTR_NDEV_NAME, f.name);
	}
	return 0;
}

int nl_port_get(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca = nl_hca(q), port;

	if (hca == SEG_NONE || nl_port(q, hca, &port) || !port)
		return -EINVAL;
	begin(q, o, RDMA_NLDEV_CMD_GET); /* as nldev_port_get_doit() has it */
	return fill_port(q, o, hca, port);
}

int nl_port_get_all(struct nl_req *q, struct nl_dump *p)
{
	uint32_t hca = nl_hca(q);
	int r = 0;

	if (hca == SEG_NONE)
		return -EINVAL;
	for (uint32_t n = 1; !r && n <= hw_hca(q->d->s, hca)->nports; n++)
		r = nl_dump_one(p, RDMA_NLDEV_CMD_PORT_GET, fill_port, hca, n);
	return r;
}

/* ---- character devices */

struct node {
	uint32_t major, minor, abi;
	char name[16];
	bool driver;
};

/* ib_get_client_nl_info(): `port` is SEG_NONE when the request names no port. 0 or -errno. */
static int find_node(struct nl_req *q, const char *client, uint32_t hca, uint32_t port,
		     struct node *n)
{
	const struct hw_hca *h = hca == SEG_NONE ? NULL : hw_hca(q->d->s, hca);
	uint32_t i;

	if (!h) {
		if (strcmp(client, "rdma_cm"))
			return -EOPNOTSUPP;
		*n = (struct node){FAB_MISC_MAJOR, FAB_RDMA_CM_MISC, RDMA_CM_ABI, "rdma_cm", false};
		return 0;
	}
	if (!strcmp(client, "uverbs")) {
		if (port != SEG_NONE)
			return -EINVAL;
		*n = (struct node){FAB_DEV_MAJOR, FAB_UVERBS_MINOR(h->dev_index), UVERBS_ABI, "",
				   true};
		fmt(n->name, sizeof(n->name), "uverbs%u", h->dev_index);
		return 0;
	}
	if (strcmp(client, "umad")) /* issm: ib_issm_get_nl_info() finds no client data */
		return -EOPNOTSUPP;
	if (port == SEG_NONE)
		return -EINVAL;
	i = fab_umad_index(q->d->s, h->port[port - 1]);
	*n = (struct node){FAB_DEV_MAJOR, FAB_UMAD_MINOR(i), UMAD_ABI, "", false};
	fmt(n->name, sizeof(n->name), "umad%u", i);
	return 0;
}

int nl_get_chardev(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca = SEG_NONE, port = 0;
	char client[32];
	struct node n;
	int r;

	if (!q->tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE])
		return -EINVAL;
	nl_get_str(q->tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE], client, sizeof(client));
	if (q->tb[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		hca = nl_hca(q);
		if (hca == SEG_NONE || nl_port(q, hca, &port))
			return -EINVAL;
	} else if (q->tb[RDMA_NLDEV_ATTR_PORT_INDEX]) {
		return -EINVAL;
	}
	r = find_node(q, client, hca, port ? port : SEG_NONE, &n);
	if (r)
		return r;
	begin(q, o, RDMA_NLDEV_CMD_GET_CHARDEV);
	if (n.driver)
		nl_u32(o, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, DRIVER_MLX5);
	nl_u64(o, RDMA_NLDEV_ATTR_CHARDEV, /* new_encode_dev() */
	       (n.minor & 0xff) | n.major << 8 | (n.minor & ~UINT32_C(0xff)) << 12);
	nl_u64(o, RDMA_NLDEV_ATTR_CHARDEV_ABI, n.abi);
	nl_str(o, RDMA_NLDEV_ATTR_CHARDEV_NAME, n.name);
	return 0;
}

/* ---- the system */

int nl_sys_get(struct nl_req *q, struct nl_out *o)
{
	begin(q, o, RDMA_NLDEV_CMD_SYS_GET);
	nl_u8(o, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, SHARED_NETNS);
	nl_u8(o, NLDEV_SYS_PRIVILEGED_QKEY, 0);
	nl_u8(o, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	return 0;
}

/* The present value is accepted, as the kernel does; another one is refused. */
static int keep(const struct nlattr *a, uint8_t now)
{
	uint8_t v = nl_get_u8(a);

	return v > 1 ? -EINVAL : v == now ? 0 : -EOPNOTSUPP;
}

int nl_sys_set(struct nl_req *q, struct nl_out *o)
{
	if (q->tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
		return keep(q->tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE], SHARED_NETNS);
	if (q->tb[NLDEV_SYS_PRIVILEGED_QKEY])
		return keep(q->tb[NLDEV_SYS_PRIVILEGED_QKEY], 0);
	return -EINVAL;
}

/* ---- changes of devices */

static int rename_dev(struct nl_req *q, uint32_t hca)
{
	const struct hw_host *h = seg_live(q->d->s, SEG_T_HOST, q->d->host);
	char name[64], other[FAB_HCA_NAME];

	nl_get_str(q->tb[RDMA_NLDEV_ATTR_DEV_NAME], name, sizeof(name));
	if (!name[0])
		return -EINVAL;
	for (uint32_t i = 0; i < h->nhcas; i++) {
		fab_hca_name(q->d->s, hw_hca(q->d->s, h->hca[i]), other);
		if (!strcmp(name, other))
			return h->hca[i] == hca ? 0 : -EEXIST;
	}
	return -EOPNOTSUPP;
}

int nl_set(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca = nl_hca(q);

	if (hca == SEG_NONE)
		return -EINVAL;
	if (q->tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return rename_dev(q, hca);
	if (q->tb[RDMA_NLDEV_NET_NS_FD]) /* ib_device_set_netns_put(), with shared namespaces */
		return -EOPNOTSUPP;
	if (q->tb[RDMA_NLDEV_ATTR_DEV_DIM])
		return keep(q->tb[RDMA_NLDEV_ATTR_DEV_DIM], 1);
	return 0;
}

static bool interface_exists(const char *name)
{
	struct ifreq r = {0};
	long fd = sys_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int found;

	if (fd < 0)
		return false;
	memcpy(r.ifr_name, name, strnlen(name, sizeof(r.ifr_name) - 1));
	found = sys_ioctl((int)fd, SIOCGIFINDEX, &r);
	sys_close((int)fd);
	return !found;
}

int nl_newlink(struct nl_req *q, struct nl_out *o)
{
	char name[64], ndev[16];

	if (!q->tb[RDMA_NLDEV_ATTR_DEV_NAME] || !q->tb[RDMA_NLDEV_ATTR_LINK_TYPE] ||
	    !q->tb[RDMA_NLDEV_ATTR_NDEV_NAME])
		return -EINVAL;
	nl_get_str(q->tb[RDMA_NLDEV_ATTR_DEV_NAME], name, sizeof(name));
	if (strchr(name, '%') || !name[0])
		return -EINVAL;
	nl_get_str(q->tb[RDMA_NLDEV_ATTR_NDEV_NAME], ndev, sizeof(ndev));
	if (!interface_exists(ndev))
		return -ENODEV;
	return -EINVAL; /* no type of link is registered */
}

int nl_dellink(struct nl_req *q, struct nl_out *o)
{
	return -EINVAL; /* no adapter, or one that users may not remove */
}
