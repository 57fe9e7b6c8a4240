/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receive work queues and tables of them. Handlers, called by ioctl.c and write.c. */
#include "uverbs/priv.h"

#define WQ_FLAGS                                                               \
	(IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS | \
	 IB_UVERBS_WQ_FLAGS_DELAY_DROP | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)

/* ---- work queues ---- */

static struct uv_target wq_target_of(const struct uv_wq *wq)
{
	const struct uv_driver *d = wq->obj.file->api->driver;

	return d->wq_target ? d->wq_target(wq) : (struct uv_target){0};
}

static int wq_destroy(struct uv_object *o, int why)
{
	struct uv_wq *wq = (struct uv_wq *)o;
	struct seg *s = o->file->seg;
	struct uv_target t;
	int r;

	if (why == UV_CLOSE) {
		uv_event_file_put(wq->async);
		return 0;
	}
	t = wq_target_of(wq);
	uv_target_clear(s, &t, &wq->async_reported);
	r = o->file->api->driver->destroy_wq(wq);
	if (r) {
		uv_target_set(&t, wq->async, o->user_handle);
		return r;
	}
	uv_target_gone(s, &t, wq->async);
	uv_event_file_put(wq->async);
	uv_unuse(&wq->pd->obj);
	uv_unuse(&wq->cq->obj);
	return 0;
}

const struct uv_type uv_type_wq = {
	.name = "WQ",
	.object_id = UVERBS_OBJECT_WQ,
	.size = sizeof(struct uv_wq),
	.number = offsetof(struct uv_wq, wqn),
	.destroy_order = 1,
	.destroy = wq_destroy,
};

/* Needs pd, cq, max_wr, max_sge, type and async to be set. */
static int make_wq(struct uv_bundle *b, struct uv_wq *wq, uint32_t flags)
{
	struct uv_target t;
	int r = -EOPNOTSUPP;

	if (b->file->api->driver->create_wq)
		r = b->file->api->driver->create_wq(wq, flags, &b->udata);
	if (r) {
		uv_event_file_put(wq->async);
		return r;
	}
	wq->state = IBV_WQS_RESET;
	uv_use(&wq->pd->obj);
	uv_use(&wq->cq->obj);
	t = wq_target_of(wq);
	uv_target_set(&t, wq->async, wq->obj.user_handle);
	uv_b_created(b);
	return 0;
}

int uv_cmd_ex_create_wq(struct uv_bundle *b)
{
	struct ib_uverbs_ex_create_wq cmd;
	struct ib_uverbs_ex_create_wq_resp resp = {0};
	struct uv_object *o, *pd, *cq;
	struct uv_wq *wq;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask)
		return uv_why(b, -EOPNOTSUPP, "comp_mask has no bits");
	r = uv_new(b, &uv_type_wq, &o);
	if (r)
		return r;
	pd = uv_get(b, &uv_type_pd, cmd.pd_handle, UV_READ, &r);
	if (!pd)
		return r;
	cq = uv_get(b, &uv_type_cq, cmd.cq_handle, UV_READ, &r);
	if (!cq)
		return r;
	wq = (struct uv_wq *)o;
	o->user_handle = cmd.user_handle;
	wq->pd = (struct uv_pd *)pd;
	wq->cq = (struct uv_cq *)cq;
	wq->type = cmd.wq_type;
	wq->max_wr = cmd.max_wr;
	wq->max_sge = cmd.max_sge;
	wq->async = uv_event_file_get(b->file->default_async);
	r = make_wq(b, wq, cmd.create_flags);
	if (r)
		return r;
	resp.wq_handle = o->handle;
	resp.max_wr = wq->max_wr;
	resp.max_sge = wq->max_sge;
	resp.wqn = wq->wqn;
	resp.response_length = uv_response_length(b, sizeof(resp));
	return uv_response(b, &resp, sizeof(resp));
}

static int wq_create(struct uv_bundle *b)
{
	struct uv_wq *wq = (struct uv_wq *)uv_b_new(b, UVERBS_ATTR_CREATE_WQ_HANDLE);
	int r;

	if (uv_b_const(b, UVERBS_ATTR_CREATE_WQ_TYPE, 0) != IBV_WQT_RQ)
		return uv_why(b, -EINVAL, "the only type of work queue is RQ");
	wq->cq = (struct uv_cq *)uv_b_obj(b, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE);
	if (!wq->cq) /* its row calls this attribute optional, but it is needed */
		return uv_why(b, -ENOENT, "a work queue has a CQ");
	wq->pd = (struct uv_pd *)uv_b_obj(b, UVERBS_ATTR_CREATE_WQ_PD_HANDLE);
	wq->type = IBV_WQT_RQ;
	wq->max_wr = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_WQ_MAX_WR, 0);
	wq->max_sge = (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 0);
	wq->obj.user_handle = uv_b_const(b, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 0);
	wq->async = uv_async_file(b, UVERBS_ATTR_CREATE_WQ_EVENT_FD);
	r = make_wq(b, wq, (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_WQ_FLAGS, 0));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &wq->max_wr, sizeof(wq->max_wr));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &wq->max_sge,
			     sizeof(wq->max_sge));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &wq->wqn, sizeof(wq->wqn));
	return r;
}

int uv_cmd_ex_modify_wq(struct uv_bundle *b)
{
	struct ib_uverbs_ex_modify_wq cmd;
	struct uv_wq_modify m = {0};
	struct uv_object *o;
	struct uv_wq *wq;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (!cmd.attr_mask ||
	    cmd.attr_mask > (IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS))
		return uv_why(b, -EINVAL, "attr_mask: STATE, CUR_STATE and FLAGS, at least one");
	o = uv_get(b, &uv_type_wq, cmd.wq_handle, UV_READ, &r);
	if (!o)
		return r;
	wq = (struct uv_wq *)o;
	m.mask = cmd.attr_mask;
	if (m.mask & IBV_WQ_ATTR_FLAGS) {
		m.flags = cmd.flags;
		m.flags_mask = cmd.flags_mask;
	}
	m.cur_state = m.mask & IBV_WQ_ATTR_CURR_STATE ? cmd.curr_wq_state : wq->state;
	m.new_state = m.mask & IBV_WQ_ATTR_STATE ? cmd.wq_state : m.cur_state;
	if (m.cur_state > IBV_WQS_ERR || m.new_state > IBV_WQS_ERR)
		return uv_why(b, -EINVAL, "states: RESET 0, RDY 1, ERR 2");
	r = b->file->api->driver->modify_wq(wq, &m, &b->udata);
	if (!r)
		wq->state = m.new_state;
	return r;
}

int uv_cmd_ex_destroy_wq(struct uv_bundle *b)
{
	struct ib_uverbs_ex_destroy_wq cmd;
	struct ib_uverbs_ex_destroy_wq_resp resp = {0};
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask)
		return uv_why(b, -EOPNOTSUPP, "comp_mask has no bits");
	resp.response_length = uv_response_length(b, sizeof(resp));
	o = uv_get_destroy(b, &uv_type_wq, cmd.wq_handle, &r);
	if (!o)
		return r;
	resp.events_reported = ((struct uv_wq *)o)->async_reported;
	return uv_response(b, &resp, sizeof(resp));
}

static int wq_destroyed(struct uv_bundle *b)
{
	const struct uv_wq *wq = (struct uv_wq *)uv_b_obj(b, UVERBS_ATTR_DESTROY_WQ_HANDLE);

	return uv_b_out(b, UVERBS_ATTR_DESTROY_WQ_RESP, &wq->async_reported,
			sizeof(wq->async_reported));
}

/* ---- tables of receive work queues ---- */

static void table_free(struct uv_rwq_ind_tbl *t)
{
	heap_free(t->wq);
	t->wq = NULL;
}

static int table_destroy(struct uv_object *o, int why)
{
	struct uv_rwq_ind_tbl *t = (struct uv_rwq_ind_tbl *)o;
	int r = 0;

	if (why != UV_CLOSE)
		r = o->file->api->driver->destroy_rwq_ind_tbl(t);
	if (r)
		return r;
	for (uint32_t i = 0; why != UV_CLOSE && i < 1u << t->log_size; i++)
		uv_unuse(&t->wq[i]->obj);
	table_free(t);
	return 0;
}

const struct uv_type uv_type_rwq_ind_tbl = {
	.name = "RWQ_IND_TBL",
	.object_id = UVERBS_OBJECT_RWQ_IND_TBL,
	.size = sizeof(struct uv_rwq_ind_tbl),
	.number = offsetof(struct uv_rwq_ind_tbl, num),
	.destroy_order = 0,
	.destroy = table_destroy,
};

/*
 * Find the queues listed after the command. The call does not lock them, as there may be thousands,
 * but the file's mutex keeps them.
 */
static int find_wqs(struct uv_bundle *b, size_t at, uint32_t n, struct uv_wq **wq)
{
	uint32_t *handle = uv_b_alloc(b, n * sizeof(*handle));
	int r;

	if (!handle)
		return -ENOMEM;
	r = uv_request_part(b, at, handle, n * sizeof(*handle));
	if (!r)
		r = uv_request_end(b, at + n * sizeof(*handle));
	for (uint32_t i = 0; i < n && !r; i++)
		wq[i] = (struct uv_wq *)uv_find(b, &uv_type_wq, handle[i], UV_READ, &r);
	return r;
}

static int make_table(struct uv_bundle *b, uint32_t log_size, struct uv_wq **wq,
		      struct uv_rwq_ind_tbl **out)
{
	struct uv_rwq_ind_tbl *t;
	struct uv_object *o;
	int r = uv_new(b, &uv_type_rwq_ind_tbl, &o);

	if (r)
		return r;
	t = (struct uv_rwq_ind_tbl *)o;
	t->log_size = log_size;
	t->wq = wq;
	r = b->file->api->driver->create_rwq_ind_tbl(t, &b->udata);
	if (r) {
		t->wq = NULL;
		return r;
	}
	for (uint32_t i = 0; i < 1u << log_size; i++)
		uv_use(&wq[i]->obj);
	uv_b_created(b);
	*out = t;
	return 0;
}

int uv_cmd_ex_create_rwq_ind_tbl(struct uv_bundle *b)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {0};
	struct { /* struct ib_uverbs_ex_create_rwq_ind_table, without its flexible end */
		uint32_t comp_mask, log_ind_tbl_size;
	} cmd;
	struct uv_rwq_ind_tbl *t;
	struct uv_wq **wq;
	int r;

	r = uv_request_part(b, 0, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask)
		return uv_why(b, -EOPNOTSUPP, "comp_mask has no bits");
	if (cmd.log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
		return uv_why(b, -EINVAL, "log_ind_tbl_size is at most 13");
	wq = heap_zalloc((size_t)sizeof(*wq) << cmd.log_ind_tbl_size);
	if (!wq)
		return -ENOMEM;
	r = find_wqs(b, sizeof(cmd), 1u << cmd.log_ind_tbl_size, wq);
	if (!r)
		r = make_table(b, cmd.log_ind_tbl_size, wq, &t);
	if (r) {
		heap_free(wq);
		return r;
	}
	resp.ind_tbl_handle = t->obj.handle;
	resp.ind_tbl_num = t->num;
	resp.response_length = uv_response_length(b, sizeof(resp));
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_ex_destroy_rwq_ind_tbl(struct uv_bundle *b)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask)
		return uv_why(b, -EOPNOTSUPP, "comp_mask has no bits");
	uv_get_destroy(b, &uv_type_rwq_ind_tbl, cmd.ind_tbl_handle, &r);
	return r;
}

/* ---- tables of methods ---- */

static const struct uv_attr_def create_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_WQ_HANDLE, &uv_type_wq, UV_NEW, true),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, &uv_type_pd, UV_READ, true),
	UV_ATTR_CONST(UVERBS_ATTR_CREATE_WQ_TYPE, UINT32_MAX, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_WQ_MAX_WR, uint32_t, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_WQ_MAX_SGE, uint32_t, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_CREATE_WQ_FLAGS, WQ_FLAGS, true),
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, &uv_type_cq, UV_READ, false),
	UV_ATTR_FD(UVERBS_ATTR_CREATE_WQ_EVENT_FD, &uv_type_async_event, UV_READ, false),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, uint32_t, false),
	UV_ATTR_UHW("create_wq", "create_wq_resp"),
};
static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_WQ_HANDLE, &uv_type_wq, UV_DESTROY_ACCESS, true),
	UV_ATTR_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, uint32_t, true),
};
static const struct uv_method_def wq_methods[] = {
	{UVERBS_METHOD_WQ_CREATE, "CREATE", create_attrs, ARRAY_SIZE(create_attrs), wq_create,
	 false},
	{UVERBS_METHOD_WQ_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 wq_destroyed, false},
};

const struct uv_object_def uv_def_wq = {
	.id = UVERBS_OBJECT_WQ,
	.name = "WQ",
	.type = &uv_type_wq,
	.methods = wq_methods,
	.nmethods = ARRAY_SIZE(wq_methods),
	.needs = offsetof(struct uv_driver, destroy_wq),
};

static const struct uv_attr_def table_destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, &uv_type_rwq_ind_tbl, UV_DESTROY_ACCESS,
		    true),
};
static const struct uv_method_def table_methods[] = {
	{UVERBS_METHOD_RWQ_IND_TBL_DESTROY, "DESTROY", table_destroy_attrs,
	 ARRAY_SIZE(table_destroy_attrs), uv_destroy_handler, false},
};

const struct uv_object_def uv_def_rwq_ind_tbl = {
	.id = UVERBS_OBJECT_RWQ_IND_TBL,
	.name = "RWQ_IND_TBL",
	.type = &uv_type_rwq_ind_tbl,
	.methods = table_methods,
	.nmethods = ARRAY_SIZE(table_methods),
	.needs = offsetof(struct uv_driver, destroy_rwq_ind_tbl),
};
