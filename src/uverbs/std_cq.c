/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues. Handlers, called by ioctl.c and write.c. */
#include "uverbs/priv.h"

static void drop_events(struct uv_cq *cq)
{
	uv_event_file_put(cq->comp);
	uv_event_file_put(cq->async);
	cq->comp = cq->async = NULL;
}

static struct uv_target cq_target_of(const struct uv_cq *cq, bool comp)
{
	const struct uv_driver *d = cq->obj.file->api->driver;

	return d->cq_target ? d->cq_target(cq, comp) : (struct uv_target){0};
}

static void set_targets(struct uv_cq *cq)
{
	struct uv_target comp = cq_target_of(cq, true), async = cq_target_of(cq, false);

	uv_target_set(&comp, cq->comp, cq->obj.user_handle);
	uv_target_set(&async, cq->async, cq->obj.user_handle);
}

static int cq_destroy(struct uv_object *o, int why)
{
	struct uv_cq *cq = (struct uv_cq *)o;
	struct seg *s = o->file->seg;
	struct uv_target comp, async;
	int r;

	if (why == UV_CLOSE) {
		drop_events(cq);
		return 0;
	}
	comp = cq_target_of(cq, true);
	async = cq_target_of(cq, false);
	uv_target_clear(s, &comp, &cq->comp_reported);
	uv_target_clear(s, &async, &cq->async_reported);
	r = o->file->api->driver->destroy_cq(cq);
	if (r) {
		set_targets(cq);
		return r;
	}
	uv_target_gone(s, &comp, cq->comp);
	uv_target_gone(s, &async, cq->async);
	drop_events(cq);
	return 0;
}

const struct uv_type uv_type_cq = {
	.name = "CQ",
	.object_id = UVERBS_OBJECT_CQ,
	.size = sizeof(struct uv_cq),
	.number = offsetof(struct uv_cq, cqn),
	.destroy_order = 2,
	.destroy = cq_destroy,
};

/* Make the hardware queue for an object whose event files are set; on failure drop these. */
static int make_cq(struct uv_bundle *b, struct uv_cq *cq, uint32_t cqe, uint32_t vector,
		   uint32_t flags)
{
	int r;

	if (vector < b->file->device.num_comp_vectors)
		r = b->file->api->driver->create_cq(cq, cqe, vector, flags, &b->udata);
	else
		r = uv_why(b, -EINVAL, "comp_vector: less than num_comp_vectors");
	if (r) {
		drop_events(cq);
		return r;
	}
	set_targets(cq);
	uv_b_created(b);
	return 0;
}

static int create_cq(struct uv_bundle *b, const struct ib_uverbs_ex_create_cq *cmd)
{
	struct ib_uverbs_ex_create_cq_resp resp = {0};
	struct uv_object *o, *channel = NULL;
	struct uv_cq *cq;
	int r;

	if (cmd->comp_vector >= b->file->device.num_comp_vectors)
		return uv_why(b, -EINVAL, "comp_vector: less than num_comp_vectors");
	r = uv_new(b, &uv_type_cq, &o);
	if (r)
		return r;
	if (cmd->comp_channel >= 0) {
		channel = uv_get(b, &uv_type_comp_channel, cmd->comp_channel, UV_READ, &r);
		if (!channel)
			return r;
	}
	cq = (struct uv_cq *)o;
	o->user_handle = cmd->user_handle;
	cq->comp = uv_event_file_get((struct uv_event_file *)channel);
	cq->async = uv_event_file_get(b->file->default_async);
	r = make_cq(b, cq, cmd->cqe, cmd->comp_vector, cmd->flags);
	if (r)
		return r;
	resp.base.cq_handle = o->handle;
	resp.base.cqe = cq->cqe;
	resp.response_length = uv_response_length(b, sizeof(resp));
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_create_cq(struct uv_bundle *b)
{
	struct ib_uverbs_create_cq cmd;
	struct ib_uverbs_ex_create_cq ex;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	ex = (struct ib_uverbs_ex_create_cq){
		.user_handle = cmd.user_handle,
		.cqe = cmd.cqe,
		.comp_vector = cmd.comp_vector,
		.comp_channel = cmd.comp_channel,
	};
	return create_cq(b, &ex);
}

int uv_cmd_ex_create_cq(struct uv_bundle *b)
{
	struct ib_uverbs_ex_create_cq cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask || cmd.reserved)
		return uv_why(b, -EINVAL, "comp_mask and reserved are 0");
	return create_cq(b, &cmd);
}

static int cq_create(struct uv_bundle *b)
{
	struct uv_cq *cq = (struct uv_cq *)uv_b_new(b, UVERBS_ATTR_CREATE_CQ_HANDLE);
	int r;

	if (!b->file->api->driver->create_cq)
		return -EOPNOTSUPP;
	cq->obj.user_handle = uv_b_const(b, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	cq->comp = uv_event_file_get(
		(struct uv_event_file *)uv_b_obj(b, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
	cq->async = uv_async_file(b, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	r = make_cq(b, cq, (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_CQ_CQE, 0),
		    (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0),
		    (uint32_t)uv_b_const(b, UVERBS_ATTR_CREATE_CQ_FLAGS, 0));
	if (r)
		return r;
	return uv_b_out(b, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cq->cqe, sizeof(cq->cqe));
}

int uv_cmd_resize_cq(struct uv_bundle *b)
{
	struct ib_uverbs_resize_cq cmd;
	struct ib_uverbs_resize_cq_resp resp = {0};
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get(b, &uv_type_cq, cmd.cq_handle, UV_READ, &r);
	if (!o)
		return r;
	r = b->file->api->driver->resize_cq((struct uv_cq *)o, cmd.cqe, &b->udata);
	if (r)
		return r;
	resp.cqe = ((struct uv_cq *)o)->cqe;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_ex_modify_cq(struct uv_bundle *b)
{
	struct ib_uverbs_ex_modify_cq cmd;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (!cmd.attr_mask || cmd.reserved)
		return uv_why(b, -EINVAL, "attr_mask is not 0, reserved is");
	if (cmd.attr_mask > IBV_CQ_ATTR_MODERATE)
		return uv_why(b, -EOPNOTSUPP, "attr_mask: moderation only");
	o = uv_get(b, &uv_type_cq, cmd.cq_handle, UV_READ, &r);
	if (!o)
		return r;
	return b->file->api->driver->modify_cq((struct uv_cq *)o, cmd.attr.cq_count,
					       cmd.attr.cq_period);
}

static struct ib_uverbs_destroy_cq_resp destroy_resp(const struct uv_object *o)
{
	const struct uv_cq *cq = (const struct uv_cq *)o;

	return (struct ib_uverbs_destroy_cq_resp){
		.comp_events_reported = cq->comp_reported,
		.async_events_reported = cq->async_reported,
	};
}

int uv_cmd_destroy_cq(struct uv_bundle *b)
{
	struct ib_uverbs_destroy_cq cmd;
	struct ib_uverbs_destroy_cq_resp resp;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	o = uv_get_destroy(b, &uv_type_cq, cmd.cq_handle, &r);
	if (!o)
		return r;
	resp = destroy_resp(o);
	return uv_response(b, &resp, sizeof(resp));
}

static int cq_destroyed(struct uv_bundle *b)
{
	struct ib_uverbs_destroy_cq_resp resp =
		destroy_resp(uv_b_obj(b, UVERBS_ATTR_DESTROY_CQ_HANDLE));

	return uv_b_out(b, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
}

static const struct uv_attr_def create_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_CQ_HANDLE, &uv_type_cq, UV_NEW, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_CQ_CQE, uint32_t, true),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, uint64_t, true),
	UV_ATTR_FD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, &uv_type_comp_channel, UV_READ, false),
	UV_ATTR_IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, uint32_t, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_CREATE_CQ_FLAGS,
		      IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
		      false),
	UV_ATTR_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, uint32_t, true),
	UV_ATTR_FD(UVERBS_ATTR_CREATE_CQ_EVENT_FD, &uv_type_async_event, UV_READ, false),
	UV_ATTR_UHW("create_cq", "create_cq_resp"),
};
static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_CQ_HANDLE, &uv_type_cq, UV_DESTROY_ACCESS, true),
	UV_ATTR_OUT(UVERBS_ATTR_DESTROY_CQ_RESP, struct ib_uverbs_destroy_cq_resp, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_CQ_CREATE, "CREATE", create_attrs, ARRAY_SIZE(create_attrs), cq_create,
	 false},
	{UVERBS_METHOD_CQ_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 cq_destroyed, false},
};

const struct uv_object_def uv_def_cq = {
	.id = UVERBS_OBJECT_CQ,
	.name = "CQ",
	.type = &uv_type_cq,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, destroy_cq),
};
