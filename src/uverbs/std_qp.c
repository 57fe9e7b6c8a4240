/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Making and destroying queue pairs. Handlers, called by ioctl.c and write.c. */
#include <linux/capability.h>
#include "uverbs/priv.h"

/* The attributes of a request, which comes from the write command or the ioctl. */
struct qp_create {
	uint32_t type, flags;
	bool sig_all;
	struct ibv_qp_cap cap;
	uint64_t user_handle;
	struct uv_object *pd, *scq, *rcq, *srq, *xrcd, *ind_tbl;
	struct uv_event_file *async; /* holds a reference */
};

static void qp_use_all(struct uv_qp *qp, void (*fn)(struct uv_object *))
{
	if (qp->pd)
		fn(&qp->pd->obj);
	if (qp->send_cq)
		fn(&qp->send_cq->obj);
	if (qp->recv_cq)
		fn(&qp->recv_cq->obj);
	if (qp->srq)
		fn(&qp->srq->obj);
	if (qp->xrcd)
		fn(&qp->xrcd->obj);
	if (qp->ind_tbl)
		fn(&qp->ind_tbl->obj);
}

static struct uv_target qp_target_of(const struct uv_qp *qp)
{
	const struct uv_driver *d = qp->obj.file->api->driver;

	return d->qp_target ? d->qp_target(qp) : (struct uv_target){0};
}

static int qp_destroy(struct uv_object *o, int why)
{
	struct uv_qp *qp = (struct uv_qp *)o;
	struct seg *s = o->file->seg;
	struct uv_target t;
	int r;

	if (why == UV_DESTROY && qp->mcast)
		return uv_no(-EBUSY, "it is in multicast groups");
	uv_mcast_forget(qp, why == UV_ABORT);
	if (why == UV_CLOSE) {
		uv_event_file_put(qp->async);
		return 0;
	}
	t = qp_target_of(qp);
	uv_target_clear(s, &t, &qp->async_reported);
	r = o->file->api->driver->destroy_qp(qp);
	if (r) {
		uv_target_set(&t, qp->async, o->user_handle);
		return r;
	}
	uv_target_gone(s, &t, qp->async);
	uv_event_file_put(qp->async);
	qp_use_all(qp, uv_unuse);
	return 0;
}

const struct uv_type uv_type_qp = {
	.name = "QP",
	.object_id = UVERBS_OBJECT_QP,
	.size = sizeof(struct uv_qp),
	.number = offsetof(struct uv_qp, qpn),
	.destroy_order = 0,
	.destroy = qp_destroy,
};

static int make_qp(struct uv_bundle *b, struct uv_qp *qp, const struct qp_create *c)
{
	struct uv_target t;
	int r = -EOPNOTSUPP;

	qp->pd = (struct uv_pd *)c->pd;
	qp->send_cq = (struct uv_cq *)c->scq;
	qp->recv_cq = (struct uv_cq *)c->rcq;
	qp->srq = (struct uv_srq *)c->srq;
	qp->xrcd = (struct uv_xrcd *)c->xrcd;
	qp->ind_tbl = (struct uv_rwq_ind_tbl *)c->ind_tbl;
	qp->qp_type = c->type;
	qp->state = IBV_QPS_RESET;
	qp->cap = c->cap;
	qp->sq_sig_all = c->sig_all;
	qp->async = c->async;
	qp->obj.user_handle = c->user_handle;
	if (b->file->api->driver->create_qp)
		r = b->file->api->driver->create_qp(qp, &c->cap, c->flags, &b->udata);
	if (r) {
		uv_event_file_put(qp->async);
		return r;
	}
	/* Made: qp_destroy() undoes it from here on. */
	qp_use_all(qp, uv_use);
	uv_b_created(b);
	t = qp_target_of(qp);
	uv_target_set(&t, qp->async, qp->obj.user_handle);
	return 0;
}

/* ---- commands ---- */

static int check_type(uint32_t type)
{
	switch (type) {
	case IB_UVERBS_QPT_RAW_PACKET:
		return uv_capable(CAP_NET_RAW) ? 0 : -EPERM;
	case IB_UVERBS_QPT_RC:
	case IB_UVERBS_QPT_UC:
	case IB_UVERBS_QPT_UD:
	case IB_UVERBS_QPT_XRC_INI:
	case IB_UVERBS_QPT_XRC_TGT:
	case IB_UVERBS_QPT_DRIVER:
		return 0;
	default:
		return uv_no(-EINVAL, "no such type of QP");
	}
}

static int get_parts(struct uv_bundle *b, const struct ib_uverbs_ex_create_qp *cmd,
		     struct qp_create *c)
{
	int r = 0;

	if (cmd->comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE) {
		c->ind_tbl = uv_get(b, &uv_type_rwq_ind_tbl, cmd->rwq_ind_tbl_handle, UV_READ, &r);
		if (!c->ind_tbl)
			return r;
		if (cmd->max_recv_wr || cmd->max_recv_sge || cmd->is_srq)
			return uv_why(b, -EINVAL, "with a table there is no receive queue");
	}
	if (cmd->qp_type == IB_UVERBS_QPT_XRC_TGT) {
		c->xrcd = uv_get(b, &uv_type_xrcd, cmd->pd_handle, UV_READ, &r);
		return c->xrcd ? 0 : -EINVAL;
	}
	if (cmd->qp_type == IB_UVERBS_QPT_XRC_INI) {
		c->cap.max_recv_wr = 0;
		c->cap.max_recv_sge = 0;
	} else {
		if (cmd->is_srq)
			c->srq = uv_get(b, &uv_type_srq, cmd->srq_handle, UV_READ, &r);
		if (c->srq && ((struct uv_srq *)c->srq)->srq_type == IB_UVERBS_SRQT_XRC)
			r = -EINVAL;
		if (!r && !c->ind_tbl && cmd->recv_cq_handle != cmd->send_cq_handle)
			c->rcq = uv_get(b, &uv_type_cq, cmd->recv_cq_handle, UV_READ, &r);
	}
	if (!r && (!c->ind_tbl || cmd->max_send_wr))
		c->scq = uv_get(b, &uv_type_cq, cmd->send_cq_handle, UV_READ, &r);
	if (!r && cmd->qp_type != IB_UVERBS_QPT_XRC_INI && !c->rcq && !c->ind_tbl)
		c->rcq = c->scq;
	if (!r)
		c->pd = uv_get(b, &uv_type_pd, cmd->pd_handle, UV_READ, &r);
	return r;
}

/* Flags of the extended command; those that the ioctl has, too, use the same bits. */
#define CREATE_CROSS_CHANNEL (1u << 2)
#define CREATE_MANAGED_SEND (1u << 3)
#define CREATE_MANAGED_RECV (1u << 4)
#define CREATE_SOURCE_QPN (1u << 10)
#define CREATE_KNOWN                                                                   \
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | CREATE_CROSS_CHANNEL |         \
	 CREATE_MANAGED_SEND | CREATE_MANAGED_RECV | IB_UVERBS_QP_CREATE_SCATTER_FCS | \
	 IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | CREATE_SOURCE_QPN |                     \
	 IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING)

static int create_qp(struct uv_bundle *b, const struct ib_uverbs_ex_create_qp *cmd)
{
	struct ib_uverbs_ex_create_qp_resp resp = {0};
	struct qp_create c = {
		.type = cmd->qp_type,
		.flags = cmd->create_flags,
		.sig_all = cmd->sq_sig_all,
		.cap = {.max_send_wr = cmd->max_send_wr,
			.max_recv_wr = cmd->max_recv_wr,
			.max_send_sge = cmd->max_send_sge,
			.max_recv_sge = cmd->max_recv_sge,
			.max_inline_data = cmd->max_inline_data},
		.user_handle = cmd->user_handle,
	};
	struct uv_object *o;
	struct uv_qp *qp;
	int r = check_type(cmd->qp_type);

	if (!r)
		r = uv_new(b, &uv_type_qp, &o);
	if (!r)
		r = get_parts(b, cmd, &c);
	if (r)
		return r;
	if (cmd->create_flags & ~CREATE_KNOWN)
		return uv_why(b, -EINVAL, "unknown create_flags");
	if (cmd->create_flags & CREATE_SOURCE_QPN && !uv_capable(CAP_NET_RAW))
		return uv_why(b, -EPERM, "source_qpn needs CAP_NET_RAW");
	qp = (struct uv_qp *)o;
	c.async = uv_event_file_get(b->file->default_async);
	r = make_qp(b, qp, &c);
	if (r)
		return r;
	resp.base.qpn = qp->qpn;
	resp.base.qp_handle = o->handle;
	resp.base.max_recv_sge = qp->cap.max_recv_sge;
	resp.base.max_send_sge = qp->cap.max_send_sge;
	resp.base.max_recv_wr = qp->cap.max_recv_wr;
	resp.base.max_send_wr = qp->cap.max_send_wr;
	resp.base.max_inline_data = qp->cap.max_inline_data;
	resp.response_length = uv_response_length(b, sizeof(resp));
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_create_qp(struct uv_bundle *b)
{
	struct ib_uverbs_create_qp cmd;
	struct ib_uverbs_ex_create_qp ex;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	ex = (struct ib_uverbs_ex_create_qp){
		.user_handle = cmd.user_handle,
		.pd_handle = cmd.pd_handle,
		.send_cq_handle = cmd.send_cq_handle,
		.recv_cq_handle = cmd.recv_cq_handle,
		.srq_handle = cmd.srq_handle,
		.max_send_wr = cmd.max_send_wr,
		.max_recv_wr = cmd.max_recv_wr,
		.max_send_sge = cmd.max_send_sge,
		.max_recv_sge = cmd.max_recv_sge,
		.max_inline_data = cmd.max_inline_data,
		.sq_sig_all = cmd.sq_sig_all,
		.qp_type = cmd.qp_type,
		.is_srq = cmd.is_srq,
	};
	return create_qp(b, &ex);
}

int uv_cmd_ex_create_qp(struct uv_bundle *b)
{
	struct ib_uverbs_ex_create_qp cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask & ~(uint32_t)IB_UVERBS_CREATE_QP_SUP_COMP_MASK || cmd.reserved)
		return uv_why(b, -EINVAL, "unknown bits in comp_mask, or reserved is not 0");
	return create_qp(b, &cmd);
}

int uv_cmd_open_qp(struct uv_bundle *b)
{
	struct ib_uverbs_open_qp cmd;
	struct ib_uverbs_create_qp_resp resp = {0};
	struct uv_target t;
	struct uv_object *o;
	struct uv_qp *qp;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = uv_new(b, &uv_type_qp, &o);
	if (r)
		return r;
	qp = (struct uv_qp *)o;
	qp->xrcd = (struct uv_xrcd *)uv_get(b, &uv_type_xrcd, cmd.pd_handle, UV_READ, &r);
	if (!qp->xrcd || cmd.qp_type != IB_UVERBS_QPT_XRC_TGT)
		return uv_why(b, -EINVAL, "an XRC domain and the type of an XRC target are needed");
	qp->qpn = cmd.qpn;
	qp->qp_type = cmd.qp_type;
	o->user_handle = cmd.user_handle;
	r = b->file->api->driver->open_qp(qp);
	if (r)
		return r;
	/* Made: qp_destroy() undoes it from here on. */
	qp->async = uv_event_file_get(b->file->default_async);
	uv_use(&qp->xrcd->obj);
	uv_b_created(b);
	t = qp_target_of(qp);
	uv_target_set(&t, qp->async, o->user_handle);
	resp.qpn = qp->qpn;
	resp.qp_handle = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_destroy_qp(struct uv_bundle *b)
{
	struct ib_uverbs_destroy_qp cmd;
	struct ib_uverbs_destroy_qp_resp resp;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get_destroy(b, &uv_type_qp, cmd.qp_handle, &r);
	if (!o)
		return r;
	resp.events_reported = ((struct uv_qp *)o)->async_reported;
	return uv_response(b, &resp, sizeof(resp));
}

/* ---- methods ---- */

static int need(struct uv_bundle *b, uint16_t attr, struct uv_object **o)
{
	*o = uv_b_obj(b, attr);
	return *o ? 0 : uv_why(b, -ENOENT, "a handle that QPs of this type need is missing");
}

/* The handles that each type needs. */
static int check_parts(struct uv_bundle *b, struct qp_create *c)
{
	int r = check_type(c->type);

	if (r)
		return r;
	if (c->type == IB_UVERBS_QPT_XRC_TGT) {
		if (uv_b_has(b, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
		    uv_b_has(b, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE) ||
		    uv_b_has(b, UVERBS_ATTR_CREATE_QP_PD_HANDLE) ||
		    uv_b_has(b, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE))
			return uv_why(b, -EINVAL, "an XRC target has no PD, CQs or table");
		return need(b, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, &c->xrcd);
	}
	if (uv_b_has(b, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
	    (c->type == IB_UVERBS_QPT_XRC_INI && uv_b_has(b, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)))
		return uv_why(b, -EINVAL,
			      "only an XRC target has an XRC domain; an XRC initiator has no SRQ");
	r = need(b, UVERBS_ATTR_CREATE_QP_PD_HANDLE, &c->pd);
	c->ind_tbl = uv_b_obj(b, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
	if (!r && c->ind_tbl &&
	    (c->cap.max_recv_wr || c->cap.max_recv_sge ||
	     uv_b_has(b, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
	     uv_b_has(b, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)))
		return uv_why(b, -EINVAL, "with a table there is no receive queue");
	if (!r && (!c->ind_tbl || c->cap.max_send_wr))
		r = need(b, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, &c->scq);
	if (!r && !c->ind_tbl && c->type != IB_UVERBS_QPT_XRC_INI)
		r = need(b, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, &c->rcq);
	return r;
}

static int check_flags(struct qp_create *c)
{
	c->sig_all = c->flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	c->flags &= ~(uint32_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	if (!c->flags || c->type == IB_UVERBS_QPT_DRIVER)
		return 0;
	if (c->type != IB_UVERBS_QPT_RAW_PACKET && c->type != IB_UVERBS_QPT_UD)
		return uv_no(-EINVAL, "flags: of raw packet and UD QPs only");
	if (c->flags & (IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING) &&
	    c->type != IB_UVERBS_QPT_RAW_PACKET)
		return uv_no(-EINVAL, "flags: FCS and VLAN stripping are for raw packets");
	return 0;
}

static int qp_create(struct uv_bundle *b)
{
	struct uv_qp *qp = (struct uv_qp *)uv_b_new(b, UVERBS_ATTR_CREATE_QP_HANDLE);
	const struct ib_uverbs_qp_cap *in = uv_b_in(b, UVERBS_ATTR_CREATE_QP_CAP, NULL);
	struct qp_create c = {
		.type = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_QP_TYPE, 0),
		.flags = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_QP_FLAGS, 0),
		.cap = {in->max_send_wr, in->max_recv_wr, in->max_send_sge, in->max_recv_sge,
			in->max_inline_data},
		.user_handle = uv_b_const(b, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0),
	};
	struct ib_uverbs_qp_cap out;
	int r = check_parts(b, &c);

	if (!r)
		r = check_flags(&c);
	if (r)
		return r;
	if (uv_b_has(b, UVERBS_ATTR_CREATE_QP_SOURCE_QPN))
		c.flags |= CREATE_SOURCE_QPN;
	c.srq = uv_b_obj(b, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	if (c.srq && (((struct uv_srq *)c.srq)->srq_type == IB_UVERBS_SRQT_XRC) !=
			     (c.type == IB_UVERBS_QPT_XRC_TGT))
		return uv_why(b, -EINVAL, "XRC SRQs are for XRC targets, others for other QPs");
	if (c.type == IB_UVERBS_QPT_XRC_TGT)
		c.srq = NULL; /* XRC: each request names its SRQ */
	c.async = uv_async_file(b, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	r = make_qp(b, qp, &c);
	if (r)
		return r;
	out = (struct ib_uverbs_qp_cap){qp->cap.max_send_wr, qp->cap.max_recv_wr,
					qp->cap.max_send_sge, qp->cap.max_recv_sge,
					qp->cap.max_inline_data};
	r = uv_b_out_zero(b, UVERBS_ATTR_CREATE_QP_RESP_CAP, &out, sizeof(out));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp->qpn, sizeof(qp->qpn));
	return r;
}

static int qp_destroyed(struct uv_bundle *b)
{
	struct uv_qp *qp = (struct uv_qp *)uv_b_obj(b, UVERBS_ATTR_DESTROY_QP_HANDLE);
	struct ib_uverbs_destroy_qp_resp resp = {.events_reported = qp->async_reported};

	return uv_b_out(b, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
}

#define CREATE_FLAGS                                                                       \
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_SCATTER_FCS |  \
	 IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING | \
	 IB_UVERBS_QP_CREATE_SQ_SIG_ALL)

static const struct uv_attr_def create_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_HANDLE, &uv_type_qp, UV_NEW, true),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, &uv_type_xrcd, UV_READ, false),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_PD_HANDLE, &uv_type_pd, UV_READ, false),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, &uv_type_srq, UV_READ, false),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, &uv_type_cq, UV_READ, false),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, &uv_type_cq, UV_READ, false),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, &uv_type_rwq_ind_tbl, UV_READ, false),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, uint64_t, true),
	UV_ATTR_IN_STRUCT(UVERBS_ATTR_CREATE_QP_CAP, struct ib_uverbs_qp_cap, max_inline_data,
			  true),
	UV_ATTR_CONST(UVERBS_ATTR_CREATE_QP_TYPE, UINT32_MAX, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_CREATE_QP_FLAGS, CREATE_FLAGS, false),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, uint32_t, false),
	UV_ATTR_FD(UVERBS_ATTR_CREATE_QP_EVENT_FD, &uv_type_async_event, UV_READ, false),
	UV_ATTR_OUT_STRUCT(UVERBS_ATTR_CREATE_QP_RESP_CAP, struct ib_uverbs_qp_cap, max_inline_data,
			   true),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, uint32_t, true),
	UV_ATTR_UHW("create_qp", "create_qp_resp"),
};
static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_QP_HANDLE, &uv_type_qp, UV_DESTROY_ACCESS, true),
	UV_ATTR_OUT(UVERBS_ATTR_DESTROY_QP_RESP, struct ib_uverbs_destroy_qp_resp, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_QP_CREATE, "CREATE", create_attrs, ARRAY_SIZE(create_attrs), qp_create,
	 false},
	{UVERBS_METHOD_QP_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 qp_destroyed, false},
};

const struct uv_object_def uv_def_qp = {
	.id = UVERBS_OBJECT_QP,
	.name = "QP",
	.type = &uv_type_qp,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, destroy_qp),
};
