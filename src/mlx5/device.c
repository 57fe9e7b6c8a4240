/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device's own description: EX_QUERY_DEVICE with its mlx5 part, QUERY_PORT, and the two small
 * mlx5 methods of DEVICE and PD. All values come from the capability table and the ports in the
 * segment.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/param.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include "fabric/count.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "hw/hca.h"
#include "hw/memic.h"
#include "hw/port.h"
#include "hw/world.h"
#include "hw/qp_limits.h"
#include "mlx5/priv.h"
#include "wire/ib/gid.h"

#define CAP_END(f) (offsetof(struct mlx5_ib_query_device_resp, f) + SIZEOF_CAP(f))
#define SIZEOF_CAP(f) sizeof(((struct mlx5_ib_query_device_resp *)0)->f)

/*
 * The parts of the answer, in order. A part that fits into the program's buffer counts in
 * response_length. Most are zero: an InfiniBand-only HCA has none of these offloads.
 */
static const struct {
	uint16_t end, size;
} resp_parts[] = {
	{CAP_END(tso_caps), SIZEOF_CAP(tso_caps)},
	{CAP_END(rss_caps), SIZEOF_CAP(rss_caps)},
	{CAP_END(cqe_comp_caps), SIZEOF_CAP(cqe_comp_caps)},
	{CAP_END(packet_pacing_caps), SIZEOF_CAP(packet_pacing_caps)},
	{CAP_END(mlx5_ib_support_multi_pkt_send_wqes),
	 SIZEOF_CAP(mlx5_ib_support_multi_pkt_send_wqes)},
	{CAP_END(flags), SIZEOF_CAP(flags)},
	{CAP_END(sw_parsing_caps), SIZEOF_CAP(sw_parsing_caps)},
	{CAP_END(striding_rq_caps), SIZEOF_CAP(striding_rq_caps)},
	{CAP_END(tunnel_offloads_caps), SIZEOF_CAP(tunnel_offloads_caps)},
	{CAP_END(dci_streams_caps), SIZEOF_CAP(dci_streams_caps)},
};

static int query_device_resp(const struct hw_caps *c, struct uv_udata *u)
{
	struct mlx5_ib_query_device_resp resp = {0};
	const uint8_t *in = u->in;

	resp.response_length = sizeof(resp.comp_mask) + sizeof(resp.response_length);
	if (u->outlen && u->outlen < resp.response_length)
		return uv_no(-EINVAL, "no room for the driver's answer");
	for (size_t i = 0; i < u->inlen; i++)
		if (in[i])
			return uv_no(-EINVAL, "the driver's data is not 0");
	if (!u->outlen)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(resp_parts); i++)
		if (resp_parts[i].end <= u->outlen)
			resp.response_length += resp_parts[i].size;
	resp.cqe_comp_caps.max_num = c->cqe_compression_max_num;
	resp.cqe_comp_caps.supported_format = MLX5_IB_CQE_RES_FORMAT_HASH |
					      MLX5_IB_CQE_RES_FORMAT_CSUM |
					      MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	resp.flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP;
	if (c->cqe_128_always)
		resp.flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	resp.flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT;
	resp.dci_streams_caps.max_log_num_concurent = HW_LOG_MAX_DCI_STREAMS;
	resp.dci_streams_caps.max_log_num_errored = HW_LOG_MAX_DCI_ERRORED;
	return uv_udata_out(u, &resp, resp.response_length);
}

/* As get_atomic_caps() of the kernel: the standard operations of 8 bytes, in host byte order. */
static enum ibv_atomic_cap atomic_cap(const struct hw_caps *c)
{
	const uint32_t standard = HW_ATOMIC_CS | HW_ATOMIC_FA;

	return (c->atomic_operations & standard) == standard && c->atomic_size_qp & 8
		       ? IBV_ATOMIC_HCA
		       : IBV_ATOMIC_NONE;
}

static void query_limits(const struct hw_caps *c, struct ibv_device_attr *d)
{
	d->max_mr_size = c->max_mr_size;
	d->page_size_cap = c->page_size_cap;
	d->max_qp = 1 << c->log_max_qp;
	d->max_qp_wr = (int)c->max_qp_wr;
	d->max_sge = (int)MIN(c->max_sge, c->max_recv_sge);
	d->max_sge_rd = (int)c->max_sge_rd;
	d->max_cq = 1 << c->log_max_cq;
	d->max_cqe = (1 << c->log_max_cq_sz) - 1;
	d->max_mr = 1 << c->log_max_mkey;
	d->max_mw = (int)c->max_mw;
	d->max_pd = 1 << c->log_max_pd;
	d->max_qp_rd_atom = (int)c->max_qp_rd_atom;
	d->max_qp_init_rd_atom = (int)c->max_qp_init_rd_atom;
	d->max_res_rd_atom = d->max_qp_rd_atom * d->max_qp;
	d->max_ah = (int)c->max_ah;
	if (c->srq) {
		d->max_srq = 1 << c->log_max_srq;
		d->max_srq_wr = (1 << c->log_max_srq_sz) - 1;
		d->max_srq_sge = (int)c->max_srq_sge;
	}
	d->max_pkeys = HW_PKEYS;
	d->max_mcast_grp = 1 << c->log_max_mcg;
	d->max_mcast_qp_attach = (int)c->max_qp_mcg;
	d->max_total_mcast_qp_attach = d->max_mcast_grp * d->max_mcast_qp_attach;
	d->local_ca_ack_delay = (uint8_t)c->local_ca_ack_delay;
	d->atomic_cap = atomic_cap(c);
}

/* mlx5_ib_query_device(): receive queues for raw packets are an Ethernet port's. */
static void query_raw_limits(const struct hw_caps *c, struct ibv_device_attr_ex *x)
{
	x->rss_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET;
	x->rss_caps.max_rwq_indirection_tables = 1u << c->log_max_obj;
	x->rss_caps.max_rwq_indirection_table_size = 1u << c->log_max_rqt_size;
	x->max_wq_type_rq = 1u << c->log_max_obj;
}

/* On-demand paging, as internal_fill_odp_caps() reads it from the capabilities. */
static void query_odp(const struct hw_caps *c, struct ibv_device_attr_ex *x)
{
	const uint32_t connected = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE |
				   IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_SRQ_RECV |
				   (c->odp_atomic ? IBV_ODP_SUPPORT_ATOMIC : 0);

	if (!c->odp)
		return;
	x->odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
	x->odp_caps.per_transport_caps.rc_odp_caps = connected | IBV_ODP_SUPPORT_RECV;
	x->odp_caps.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND;
	x->xrc_odp_caps = connected;
}

/* MLX5_TM_MAX_RNDV_MSG_SIZE of mlx5_ib.h */
#define TM_MAX_RNDV_HDR 64

int mlx5_query_device(struct uv_context *ctx, struct uv_device_attr *a, struct uv_udata *u)
{
	const struct hw_hca *hca = hw_hca(ctx->seg, ctx->hca);
	const struct hw_caps *c = mlx5_caps(ctx);
	struct ibv_device_attr *d = &a->ex.orig_attr;

	*a = (struct uv_device_attr){0};
	a->fw_ver_num = (uint64_t)c->fw_major << 32 | (uint64_t)c->fw_minor << 16 | c->fw_sub;
	snprintf(d->fw_ver, sizeof(d->fw_ver), "%s", c->fw_ver);
	be64_store(&d->node_guid, hca->node_guid);
	be64_store(&d->sys_image_guid, hca->sys_image_guid);
	d->vendor_id = c->vendor_id;
	d->vendor_part_id = c->pci_device;
	d->hw_ver = c->hw_rev;
	d->phys_port_cnt = (uint8_t)hca->nports;
	d->device_cap_flags = (unsigned int)c->device_cap_flags;
	query_limits(c, d);

	a->ex.device_cap_flags_ex = c->device_cap_flags;
	a->ex.completion_timestamp_mask = INT64_MAX;
	a->ex.hca_core_clock = c->device_frequency_khz;
	a->ex.max_dm_size = c->memic ? HW_MEMIC_SIZE : 0;
	query_odp(c, &a->ex);
	if (mlx5_log_tags(ctx)) {
		a->ex.tm_caps.max_num_tags = (1u << mlx5_log_tags(ctx)) - 1;
		a->ex.tm_caps.max_ops = 1u << c->log_max_qp_sz;
		a->ex.tm_caps.max_sge = 1;
		a->ex.tm_caps.flags = IBV_TM_CAP_RC;
		a->ex.tm_caps.max_rndv_hdr_size = TM_MAX_RNDV_HDR;
	}
	a->ex.cq_mod_caps.max_cq_count = MLX5_MAX_CQ_COUNT;
	a->ex.cq_mod_caps.max_cq_period = MLX5_MAX_CQ_PERIOD;
	if (hw_port_is_eth(hw_port(ctx->seg, hca->port[0])))
		query_raw_limits(c, &a->ex);
	return u ? query_device_resp(c, u) : 0;
}

void mlx5_get_device(struct seg *s, uint32_t hca, struct uv_device *d)
{
	const struct hw_hca *h = hw_hca(s, hca);
	const struct hw_port *p;

	if (!h)
		return;
	p = hw_port(s, h->port[0]);
	*d = (struct uv_device){
		.num_ports = h->nports,
		.num_comp_vectors = h->caps.num_comp_vectors,
		.gid_tbl_len = hw_port_gids(p),
		.pkey_tbl_len = hw_port_pkeys(p),
		.roce = hw_port_is_eth(p),
		.grh = !hw_port_is_eth(p) && hw_setting(s, HW_SET_GRH),
		.index = h->dev_index,
	};
	fab_hca_name(s, h, d->name);
}

int mlx5_query_gid(struct seg *s, uint32_t hca, uint32_t port, uint32_t index, struct uv_gid *gid)
{
	const struct hw_hca *h = hw_hca(s, hca);
	const struct hw_port *p = h ? hw_port(s, h->port[port - 1]) : NULL;

	if (!p)
		return -EINVAL;
	memcpy(gid->raw, hw_gid(p, index), sizeof(gid->raw));
	gid->type = hw_gid_type(*hw_gid_kind_at(p, index));
	if (!hw_port_is_eth(p))
		gid->ifindex = 0;
	else if (fab_gid_guest(s, h->port[port - 1], gid->raw))
		gid->ifindex = fab_guest_index(s, h->port[port - 1]);
	else
		gid->ifindex =
			fab_if_index(s, fab_at_by_vlan(s, h->port[port - 1],
						       hw_gid_vlan(*hw_gid_kind_at(p, index))));
	return 0;
}

int mlx5_find_neighbour(struct seg *s, uint32_t hca, uint32_t ifindex, const uint8_t dgid[16],
			uint8_t mac[6], uint8_t *hop_limit)
{
	const struct hw_hca *h = hw_hca(s, hca);

	uint32_t at;

	if (!h)
		return -EINVAL;
	*hop_limit = IB_HOPS_OF_ROUTE;
	at = fab_port_by_if(s, h->host, ifindex);
	if (at == SEG_NONE)
		at = fab_port_by_guest_index(s, h->host, ifindex);
	return fab_eth_neighbour(s, at, dgid, mac);
}

/* mlx5_query_port_roce(), ib_uverbs' make_port_cap_flags(). */
static void query_port_roce(struct uv_context *ctx, uint32_t port, const struct hw_port *p,
			    struct ibv_port_attr *a)
{
	*a = (struct ibv_port_attr){
		.state = (enum ibv_port_state)p->state,
		.max_mtu = (enum ibv_mtu)p->max_mtu,
		.active_mtu = (enum ibv_mtu)p->active_mtu,
		.gid_tbl_len = (int)hw_port_gids(p),
		.port_cap_flags = p->cap_mask | IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = 1u << mlx5_caps(ctx)->log_max_msg,
		.qkey_viol_cntr = fab_violations(ctx->seg, port, HW_CTR_QKEY_VIOL),
		.pkey_tbl_len = (uint16_t)hw_port_pkeys(p),
		.active_width = (uint8_t)hw_port_width(p),
		.active_speed = (uint8_t)hw_port_speed(p),
		.phys_state = (uint8_t)p->phys_state,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
}

const struct hw_port *mlx5_port(const struct uv_context *ctx, uint32_t num)
{
	const struct hw_hca *hca = hw_hca(ctx->seg, ctx->hca);

	return hca && num && num <= hca->nports ? hw_port(ctx->seg, hca->port[num - 1]) : NULL;
}

int mlx5_query_port(struct uv_context *ctx, uint32_t port, struct ibv_port_attr *a)
{
	const struct hw_hca *hca = hw_hca(ctx->seg, ctx->hca);
	const struct hw_caps *c = mlx5_caps(ctx);
	const struct hw_port *p;
	uint32_t at;

	if (!port || port > hca->nports)
		return -EINVAL;
	at = hca->port[port - 1];
	p = hw_port(ctx->seg, at);
	if (!p)
		return -EINVAL;
	if (hw_port_is_eth(p)) {
		query_port_roce(ctx, at, p, a);
		return 0;
	}
	*a = (struct ibv_port_attr){
		.state = (enum ibv_port_state)p->state,
		.max_mtu = (enum ibv_mtu)p->max_mtu,
		.active_mtu = (enum ibv_mtu)p->active_mtu,
		.gid_tbl_len = (int)hw_port_gids(p),
		.port_cap_flags = p->cap_mask,
		.max_msg_sz = 1u << c->log_max_msg,
		.pkey_tbl_len = (uint16_t)hw_port_pkeys(p),
		.lid = (uint16_t)hw_port_lid(p),
		.sm_lid = (uint16_t)p->sm_lid,
		.lmc = (uint8_t)p->lmc,
		.max_vl_num = 4, /* VL0-3: the result of translate_max_vl_num() for a real card */
		.sm_sl = (uint8_t)p->sm_sl,
		.bad_pkey_cntr = fab_violations(ctx->seg, at, HW_CTR_PKEY_VIOL),
		.qkey_viol_cntr = fab_violations(ctx->seg, at, HW_CTR_QKEY_VIOL),
		.subnet_timeout = p->subnet_timeout,
		.active_width = (uint8_t)hw_port_width(p),
		.active_speed = (uint8_t)hw_port_speed(p),
		.phys_state = (uint8_t)p->phys_state,
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
		.flags = hw_setting(ctx->seg, HW_SET_GRH) ? IBV_QPF_GRH_REQUIRED : 0,
	};
	return 0;
}

/* The whole answer describes embedded switches; without one it is empty. */
int mlx5_method_query_port(struct uv_bundle *b)
{
	struct uv_context *ctx = uv_b_context(b);
	struct mlx5_ib_uapi_query_port info = {0};
	uint64_t port = uv_b_const(b, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 0);

	if (!port || port > hw_hca(ctx->seg, ctx->hca)->nports)
		return uv_no(-EINVAL, "no such port");
	return uv_b_out_zero(b, MLX5_IB_ATTR_QUERY_PORT, &info, sizeof(info));
}

int mlx5_method_pd_query(struct uv_bundle *b)
{
	const struct uv_pd *pd = (const void *)uv_b_obj(b, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return uv_b_out(b, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pd->pdn, sizeof(pd->pdn));
}
