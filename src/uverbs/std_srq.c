/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues. Handlers, called by ioctl.c and write.c. */
#include "uverbs/priv.h"

static void srq_use_all(struct uv_srq *srq, void (*fn)(struct uv_object *))
{
	fn(&srq->pd->obj);
	if (srq->cq)
		fn(&srq->cq->obj);
	if (srq->xrcd)
		fn(&srq->xrcd->obj);
}

static struct uv_target srq_target_of(const struct uv_srq *srq)
{
	const struct uv_driver *d = srq->obj.file->api->driver;

	return d->srq_target ? d->srq_target(srq) : (struct uv_target){0};
}

static int srq_destroy(struct uv_object *o, int why)
{
	struct uv_srq *srq = (struct uv_srq *)o;
	struct seg *s = o->file->seg;
	struct uv_target t;
	int r;

	if (why == UV_CLOSE) {
		uv_event_file_put(srq->async);
		return 0;
	}
	t = srq_target_of(srq);
	uv_target_clear(s, &t, &srq->async_reported);
	r = o->file->api->driver->destroy_srq(srq);
	if (r) {
		uv_target_set(&t, srq->async, o->user_handle);
		return r;
	}
	uv_target_gone(s, &t, srq->async);
	uv_event_file_put(srq->async);
	srq_use_all(srq, uv_unuse);
	return 0;
}

const struct uv_type uv_type_srq = {
	.name = "SRQ",
	.object_id = UVERBS_OBJECT_SRQ,
	.size = sizeof(struct uv_srq),
	.number = offsetof(struct uv_srq, srqn),
	.destroy_order = 1,
	.destroy = srq_destroy,
};

static int make_srq(struct uv_bundle *b, struct uv_srq *srq, struct ibv_srq_init_attr_ex *a)
{
	struct uv_target t;
	int r;

	if (!b->file->api->driver->create_srq)
		r = -EOPNOTSUPP;
	else
		r = b->file->api->driver->create_srq(srq, a, &b->udata);
	if (r) {
		uv_event_file_put(srq->async);
		return r;
	}
	srq_use_all(srq, uv_use);
	t = srq_target_of(srq);
	uv_target_set(&t, srq->async, srq->obj.user_handle);
	uv_b_created(b);
	return 0;
}

static bool has_cq(uint32_t srq_type)
{
	return srq_type == IB_UVERBS_SRQT_XRC || srq_type == IB_UVERBS_SRQT_TM;
}

static int create_srq(struct uv_bundle *b, const struct ib_uverbs_create_xsrq *cmd)
{
	struct ib_uverbs_create_srq_resp resp = {0};
	struct ibv_srq_init_attr_ex a = {
		.attr = {.max_wr = cmd->max_wr,
			 .max_sge = cmd->max_sge,
			 .srq_limit = cmd->srq_limit},
		.srq_type = cmd->srq_type,
		.tm_cap.max_num_tags = cmd->max_num_tags,
	};
	struct uv_object *o, *pd, *cq = NULL, *xrcd = NULL;
	struct uv_srq *srq;
	int r;

	r = uv_new(b, &uv_type_srq, &o);
	if (r)
		return r;
	if (cmd->srq_type == IB_UVERBS_SRQT_XRC) {
		xrcd = uv_get(b, &uv_type_xrcd, cmd->xrcd_handle, UV_READ, &r);
		if (!xrcd)
			return uv_why(b, -EINVAL, "no such XRC domain");
	}
	if (has_cq(cmd->srq_type)) {
		cq = uv_get(b, &uv_type_cq, cmd->cq_handle, UV_READ, &r);
		if (!cq)
			return r;
	}
	pd = uv_get(b, &uv_type_pd, cmd->pd_handle, UV_READ, &r);
	if (!pd)
		return r;
	srq = (struct uv_srq *)o;
	srq->pd = (struct uv_pd *)pd;
	srq->cq = (struct uv_cq *)cq;
	srq->xrcd = (struct uv_xrcd *)xrcd;
	srq->srq_type = cmd->srq_type;
	srq->max_wr = cmd->max_wr;
	srq->max_sge = cmd->max_sge;
	srq->async = uv_event_file_get(b->file->default_async);
	o->user_handle = cmd->user_handle;
	r = make_srq(b, srq, &a);
	if (r)
		return r;
	if (cmd->srq_type == IB_UVERBS_SRQT_XRC)
		resp.srqn = srq->srqn;
	resp.srq_handle = o->handle;
	resp.max_wr = srq->max_wr;
	resp.max_sge = srq->max_sge;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_create_srq(struct uv_bundle *b)
{
	struct ib_uverbs_create_srq cmd;
	struct ib_uverbs_create_xsrq x;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	x = (struct ib_uverbs_create_xsrq){
		.user_handle = cmd.user_handle,
		.srq_type = IB_UVERBS_SRQT_BASIC,
		.pd_handle = cmd.pd_handle,
		.max_wr = cmd.max_wr,
		.max_sge = cmd.max_sge,
		.srq_limit = cmd.srq_limit,
	};
	return create_srq(b, &x);
}

int uv_cmd_create_xsrq(struct uv_bundle *b)
{
	struct ib_uverbs_create_xsrq cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	return r ? r : create_srq(b, &cmd);
}

static int srq_create(struct uv_bundle *b)
{
	struct uv_srq *srq = (struct uv_srq *)uv_b_new(b, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	uint64_t type = uv_b_const(b, UVERBS_ATTR_CREATE_SRQ_TYPE, 0);
	struct ibv_srq_init_attr_ex a = {0};
	int r;

	if (has_cq((uint32_t)type) && !uv_b_has(b, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE))
		return uv_why(b, -ENOENT, "this type needs CQ_HANDLE");
	if (type == IB_UVERBS_SRQT_XRC && !uv_b_has(b, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE))
		return uv_why(b, -ENOENT, "this type needs XRCD_HANDLE");
	if (type == IB_UVERBS_SRQT_TM && !uv_b_has(b, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS))
		return uv_why(b, -ENOENT, "this type needs MAX_NUM_TAGS");
	if (type > IB_UVERBS_SRQT_TM)
		return uv_why(b, -EINVAL, "no such type");
	a.srq_type = (enum ibv_srq_type)type;
	a.attr.max_wr = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0);
	a.attr.max_sge = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 0);
	a.attr.srq_limit = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	a.tm_cap.max_num_tags = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 0);
	srq->pd = (struct uv_pd *)uv_b_obj(b, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	if (has_cq((uint32_t)type))
		srq->cq = (struct uv_cq *)uv_b_obj(b, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
	if (type == IB_UVERBS_SRQT_XRC)
		srq->xrcd = (struct uv_xrcd *)uv_b_obj(b, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
	srq->srq_type = (uint32_t)type;
	srq->max_wr = a.attr.max_wr;
	srq->max_sge = a.attr.max_sge;
	srq->obj.user_handle = uv_b_const(b, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
	srq->async = uv_async_file(b, UVERBS_ATTR_CREATE_SRQ_EVENT_FD);
	r = make_srq(b, srq, &a);
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &srq->max_wr,
			     sizeof(srq->max_wr));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &srq->max_sge,
			     sizeof(srq->max_sge));
	if (!r && type == IB_UVERBS_SRQT_XRC)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &srq->srqn, sizeof(srq->srqn));
	return r;
}

int uv_cmd_modify_srq(struct uv_bundle *b)
{
	struct ib_uverbs_modify_srq cmd;
	struct ibv_srq_attr a = {0};
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get(b, &uv_type_srq, cmd.srq_handle, UV_READ, &r);
	if (!o)
		return r;
	a.max_wr = cmd.max_wr;
	a.srq_limit = cmd.srq_limit;
	return b->file->api->driver->modify_srq((struct uv_srq *)o, cmd.attr_mask, &a);
}

int uv_cmd_query_srq(struct uv_bundle *b)
{
	struct ib_uverbs_query_srq cmd;
	struct ib_uverbs_query_srq_resp resp = {0};
	struct ibv_srq_attr a = {0};
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get(b, &uv_type_srq, cmd.srq_handle, UV_READ, &r);
	if (!o)
		return r;
	r = b->file->api->driver->query_srq((struct uv_srq *)o, &a);
	if (r)
		return r;
	resp.max_wr = a.max_wr;
	resp.max_sge = a.max_sge;
	resp.srq_limit = a.srq_limit;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_destroy_srq(struct uv_bundle *b)
{
	struct ib_uverbs_destroy_srq cmd;
	struct ib_uverbs_destroy_srq_resp resp;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get_destroy(b, &uv_type_srq, cmd.srq_handle, &r);
	if (!o)
		return r;
	resp.events_reported = ((struct uv_srq *)o)->async_reported;
	return uv_response(b, &resp, sizeof(resp));
}

static int srq_destroyed(struct uv_bundle *b)
{
	struct uv_srq *srq = (struct uv_srq *)uv_b_obj(b, UVERBS_ATTR_DESTROY_SRQ_HANDLE);
	struct ib_uverbs_destroy_srq_resp resp = {.events_reported = srq->async_reported};

	return uv_b_out(b, UVERBS_ATTR_DESTROY_SRQ_RESP, &resp, sizeof(resp));
}

static const struct uv_attr_def create_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_SRQ_HANDLE, &uv_type_srq, UV_NEW, true),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, &uv_type_pd, UV_READ, true),
	UV_ATTR_CONST(UVERBS_ATTR_CREATE_SRQ_TYPE, 0, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_SRQ_MAX_WR, uint32_t, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, uint32_t, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_SRQ_LIMIT, uint32_t, true),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, &uv_type_xrcd, UV_READ, false),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, &uv_type_cq, UV_READ, false),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, uint32_t, false),
	UV_ATTR_FD(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, &uv_type_async_event, UV_READ, false),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, uint32_t, false),
	UV_ATTR_UHW("create_srq", "create_srq_resp"),
};
static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_SRQ_HANDLE, &uv_type_srq, UV_DESTROY_ACCESS, true),
	UV_ATTR_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, struct ib_uverbs_destroy_srq_resp, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_SRQ_CREATE, "CREATE", create_attrs, ARRAY_SIZE(create_attrs), srq_create,
	 false},
	{UVERBS_METHOD_SRQ_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 srq_destroyed, false},
};

const struct uv_object_def uv_def_srq = {
	.id = UVERBS_OBJECT_SRQ,
	.name = "SRQ",
	.type = &uv_type_srq,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, destroy_srq),
};
