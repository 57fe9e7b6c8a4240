/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Modifying and querying queue pairs: the checks of the kernel's uverbs and verbs layer, and the
 * common checks that drivers call. Handlers, called by write.c.
 */
#include <linux/capability.h>
#include "uverbs/priv.h"

#define STANDARD_BITS ((1u << 21) - 1)
#define PRIVILEGED_QKEY 0x80000000u

static void dest_to_attr(const struct ib_uverbs_qp_dest *d, struct ibv_ah_attr *a)
{
	*a = (struct ibv_ah_attr){
		.dlid = d->dlid,
		.sl = d->sl,
		.src_path_bits = d->src_path_bits,
		.static_rate = d->static_rate,
		.is_global = d->is_global,
		.port_num = d->port_num,
	};
	if (!d->is_global)
		return;
	memcpy(a->grh.dgid.raw, d->dgid, sizeof(d->dgid));
	a->grh.flow_label = d->flow_label;
	a->grh.sgid_index = (uint8_t)d->sgid_index;
	a->grh.hop_limit = d->hop_limit;
	a->grh.traffic_class = d->traffic_class;
}

static void attr_to_dest(const struct ibv_ah_attr *a, struct ib_uverbs_qp_dest *d)
{
	*d = (struct ib_uverbs_qp_dest){
		.dlid = a->dlid,
		.sl = a->sl,
		.src_path_bits = a->src_path_bits,
		.static_rate = a->static_rate,
		.is_global = a->is_global,
		.port_num = a->port_num,
	};
	if (!a->is_global)
		return;
	memcpy(d->dgid, a->grh.dgid.raw, sizeof(d->dgid));
	d->flow_label = a->grh.flow_label;
	d->sgid_index = a->grh.sgid_index;
	d->hop_limit = a->grh.hop_limit;
	d->traffic_class = a->grh.traffic_class;
}

/* May set IB_QP_PORT: a path changed in SQD also changes the port. */
static int check_ports(const struct uv_qp *qp, struct ib_uverbs_modify_qp *c)
{
	const struct uv_file *f = qp->obj.file;

	if (c->attr_mask & IBV_QP_PORT && !uv_file_has_port(f, c->port_num))
		return uv_no(-EINVAL, "port_num is no port of the device");
	if (c->attr_mask & IBV_QP_AV) {
		if (!uv_file_has_port(f, c->dest.port_num))
			return uv_no(-EINVAL, "dest.port_num is no port of the device");
		if (c->attr_mask & IBV_QP_STATE && c->qp_state == IBV_QPS_RTR) {
			if (c->dest.port_num != qp->port)
				return uv_no(-EINVAL, "dest.port_num is not the QP's port");
		} else if (c->attr_mask & IBV_QP_PORT) {
			if (c->port_num != c->dest.port_num)
				return uv_no(-EINVAL, "dest.port_num is not port_num");
		} else {
			c->attr_mask |= IBV_QP_PORT;
			c->port_num = c->dest.port_num;
		}
	}
	if (c->attr_mask & IBV_QP_ALT_PATH &&
	    (!uv_file_has_port(f, c->alt_port_num) || c->alt_port_num != c->alt_dest.port_num))
		return uv_no(-EINVAL, "alt_port_num is not that of alt_dest, or no port");
	return 0;
}

/* _ib_modify_qp(): sources of the paths, and alternate paths on InfiniBand only. */
static int check_paths(const struct uv_qp *qp, const struct ib_uverbs_modify_qp *c)
{
	const struct uv_file *f = qp->obj.file;
	const struct ib_uverbs_qp_dest *d = &c->dest, *alt = &c->alt_dest;
	int r = 0;

	if (c->attr_mask & IBV_QP_AV)
		r = uv_av_check(f, d->port_num, d->is_global, d->sgid_index);
	if (r || !(c->attr_mask & IBV_QP_ALT_PATH))
		return r;
	r = uv_av_check(f, alt->port_num, alt->is_global, alt->sgid_index);
	if (!r && f->device.roce)
		r = uv_no(-EINVAL, "an Ethernet port has no alternate paths");
	return r;
}

static int qp_modify_check_values(const struct uv_qp *qp, const struct ib_uverbs_modify_qp *c)
{
	if ((c->attr_mask & IBV_QP_CUR_STATE && c->cur_qp_state > IBV_QPS_ERR) ||
	    (c->attr_mask & IBV_QP_STATE && c->qp_state > IBV_QPS_ERR))
		return uv_no(-EINVAL, "no such state");
	if (c->attr_mask & IBV_QP_QKEY && c->qkey & PRIVILEGED_QKEY && !uv_capable(CAP_NET_RAW))
		return uv_no(-EPERM, "a privileged Q_Key needs CAP_NET_RAW");
	return check_paths(qp, c);
}

static void fill(const struct ib_uverbs_modify_qp *c, struct ibv_qp_attr *a)
{
	uint32_t mask = c->attr_mask;

	*a = (struct ibv_qp_attr){
		.qp_state = (enum ibv_qp_state)c->qp_state,
		.cur_qp_state = (enum ibv_qp_state)c->cur_qp_state,
		.path_mtu = (enum ibv_mtu)c->path_mtu,
		.path_mig_state = (enum ibv_mig_state)c->path_mig_state,
		.qkey = c->qkey,
		.rq_psn = c->rq_psn & 0xffffff,
		.sq_psn = c->sq_psn & 0xffffff,
		.dest_qp_num = c->dest_qp_num,
		.qp_access_flags = c->qp_access_flags,
		.pkey_index = c->pkey_index,
		.alt_pkey_index = c->alt_pkey_index,
		.en_sqd_async_notify = c->en_sqd_async_notify,
		.max_rd_atomic = c->max_rd_atomic,
		.max_dest_rd_atomic = c->max_dest_rd_atomic,
		.min_rnr_timer = c->min_rnr_timer,
		.port_num = c->port_num,
		.timeout = c->timeout,
		.retry_cnt = c->retry_cnt,
		.rnr_retry = c->rnr_retry,
		.alt_port_num = c->alt_port_num,
		.alt_timeout = c->alt_timeout,
	};
	if (mask & IBV_QP_AV)
		dest_to_attr(&c->dest, &a->ah_attr);
	if (mask & IBV_QP_ALT_PATH)
		dest_to_attr(&c->alt_dest, &a->alt_ah_attr);
}

int uv_modify_qp_check(const struct uv_qp *qp, const struct uv_qp_modify *m)
{
	const uint32_t pkeys = qp->obj.file->device.pkey_tbl_len;
	char why[UV_RULE_TEXT];

	if (!uv_modify_qp_is_ok(m->cur_state, m->new_state, qp->qp_type, m->mask)) {
		uv_modify_qp_why(m->cur_state, m->new_state, qp->qp_type, m->mask, why,
				 sizeof(why));
		return uv_no_text(-EINVAL, why);
	}
	if (m->mask & IBV_QP_PKEY_INDEX && m->attr.pkey_index >= pkeys)
		return uv_no(-EINVAL, "pkey_index is outside the port's table");
	if (m->mask & IBV_QP_ALT_PATH && m->attr.alt_pkey_index >= pkeys)
		return uv_no(-EINVAL, "alt_pkey_index is outside the port's table");
	if (m->mask & IBV_QP_PATH_MTU &&
	    (m->attr.path_mtu < IBV_MTU_256 || m->attr.path_mtu > IBV_MTU_4096))
		return uv_no(-EINVAL, "path_mtu is 1 (256 bytes) to 5 (4096)");
	return 0;
}

/* Another handle of this QP may have changed its state. */
static int refresh(struct uv_qp *qp)
{
	struct ibv_qp_attr a = {0};
	int r = qp->obj.file->api->driver->query_qp(qp, &a, IBV_QP_STATE | IBV_QP_PORT);

	if (r)
		return r;
	qp->state = a.qp_state;
	if (a.port_num)
		qp->port = a.port_num;
	return 0;
}

static bool is_connected(const struct uv_qp *qp)
{
	return qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC ||
	       qp->qp_type == IBV_QPT_XRC_SEND || qp->qp_type == IBV_QPT_XRC_RECV;
}

static int resolve(const struct uv_qp *qp, struct uv_qp_modify *m)
{
	struct ibv_ah_attr *ah = &m->attr.ah_attr;

	if (!qp->obj.file->device.roce || !(m->mask & IBV_QP_AV) || !is_connected(qp))
		return 0;
	return uv_av_resolve(qp->obj.file, ah->port_num, ah->grh.sgid_index, ah->grh.dgid.raw,
			     m->dmac, &ah->grh.hop_limit);
}

static int change(struct uv_bundle *b, struct uv_qp *qp, struct ib_uverbs_modify_qp *c,
		  uint32_t rate_limit)
{
	struct uv_qp_modify m = {.rate_limit = rate_limit};
	int r;

	r = qp->share ? refresh(qp) : 0;
	if (!r)
		r = check_ports(qp, c);
	if (!r)
		r = qp_modify_check_values(qp, c);
	if (r)
		return r;
	m.mask = uv_modify_qp_mask(qp->qp_type, c->attr_mask);
	m.cur_state = m.mask & IBV_QP_CUR_STATE ? c->cur_qp_state : qp->state;
	m.new_state = m.mask & IBV_QP_STATE ? c->qp_state : m.cur_state;
	fill(c, &m.attr);
	if (b->trace) {
		char attrs[UV_QP_MASK_TEXT];

		uv_qp_mask_text(c->attr_mask, attrs, sizeof(attrs));
		UV_TRACE(b, "qpn 0x%x %s to %s, attr_mask %s", qp->qpn,
			 uv_qp_state_name(m.cur_state), uv_qp_state_name(m.new_state), attrs);
	}
	r = resolve(qp, &m);
	if (!r)
		r = b->file->api->driver->modify_qp(qp, &m, &b->udata);
	if (r)
		return r;
	qp->state = m.new_state;
	if (m.mask & IBV_QP_PORT)
		qp->port = c->port_num;
	return 0;
}

static int modify_qp(struct uv_bundle *b, struct ib_uverbs_modify_qp *c, uint32_t rate_limit)
{
	const struct uv_driver *d = b->file->api->driver;
	struct uv_object *o;
	int r;

	o = uv_get(b, &uv_type_qp, c->qp_handle, UV_READ, &r);
	if (!o)
		return r;
	r = change(b, (struct uv_qp *)o, c, rate_limit);
	if (r && d->qp_refused)
		d->qp_refused((struct uv_qp *)o);
	return r;
}

int uv_cmd_modify_qp(struct uv_bundle *b)
{
	struct ib_uverbs_modify_qp cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.attr_mask & ~STANDARD_BITS)
		return uv_why(b, -EOPNOTSUPP, "unknown bits in attr_mask");
	return modify_qp(b, &cmd, 0);
}

int uv_cmd_ex_modify_qp(struct uv_bundle *b)
{
	struct ib_uverbs_ex_modify_qp cmd;
	struct ib_uverbs_ex_modify_qp_resp resp = {.response_length =
							   uv_response_length(b, sizeof(resp))};
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.base.attr_mask & ~(STANDARD_BITS | IBV_QP_RATE_LIMIT))
		return uv_why(b, -EOPNOTSUPP, "unknown bits in attr_mask");
	r = modify_qp(b, &cmd.base, cmd.rate_limit);
	return r ? r : uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_query_qp(struct uv_bundle *b)
{
	struct ib_uverbs_query_qp cmd;
	struct ib_uverbs_query_qp_resp resp;
	struct ibv_qp_attr a = {0};
	struct uv_object *o;
	struct uv_qp *qp;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get(b, &uv_type_qp, cmd.qp_handle, UV_READ, &r);
	if (!o)
		return r;
	qp = (struct uv_qp *)o;
	r = b->file->api->driver->query_qp(qp, &a, cmd.attr_mask);
	if (r)
		return r;
	qp->state = a.qp_state;
	resp = (struct ib_uverbs_query_qp_resp){
		.qkey = a.qkey,
		.rq_psn = a.rq_psn,
		.sq_psn = a.sq_psn,
		.dest_qp_num = a.dest_qp_num,
		.qp_access_flags = a.qp_access_flags,
		.pkey_index = a.pkey_index,
		.alt_pkey_index = a.alt_pkey_index,
		.qp_state = (uint8_t)a.qp_state,
		.cur_qp_state = (uint8_t)a.cur_qp_state,
		.path_mtu = (uint8_t)a.path_mtu,
		.path_mig_state = (uint8_t)a.path_mig_state,
		.sq_draining = a.sq_draining,
		.max_rd_atomic = a.max_rd_atomic,
		.max_dest_rd_atomic = a.max_dest_rd_atomic,
		.min_rnr_timer = a.min_rnr_timer,
		.port_num = a.port_num,
		.timeout = a.timeout,
		.retry_cnt = a.retry_cnt,
		.rnr_retry = a.rnr_retry,
		.alt_port_num = a.alt_port_num,
		.alt_timeout = a.alt_timeout,
		.max_send_wr = a.cap.max_send_wr,
		.max_recv_wr = a.cap.max_recv_wr,
		.max_send_sge = a.cap.max_send_sge,
		.max_recv_sge = a.cap.max_recv_sge,
		.max_inline_data = a.cap.max_inline_data,
		.sq_sig_all = qp->sq_sig_all,
	};
	attr_to_dest(&a.ah_attr, &resp.dest);
	attr_to_dest(&a.alt_ah_attr, &resp.alt_dest);
	return uv_response(b, &resp, sizeof(resp));
}
