/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory windows. The data path binds them (engine/keys/umr.c). Handlers, called by ioctl.c and
 * write.c.
 */
#include "uverbs/priv.h"

static int mw_destroy(struct uv_object *o, int why)
{
	struct uv_mw *mw = (struct uv_mw *)o;
	int r;

	if (why == UV_CLOSE)
		return 0;
	r = o->file->api->driver->dealloc_mw(mw);
	if (r)
		return r;
	uv_unuse(&mw->pd->obj);
	return 0;
}

const struct uv_type uv_type_mw = {
	.name = "MW",
	.object_id = UVERBS_OBJECT_MW,
	.size = sizeof(struct uv_mw),
	.number = offsetof(struct uv_mw, rkey),
	.destroy_order = 2,
	.destroy = mw_destroy,
};

int uv_cmd_alloc_mw(struct uv_bundle *b)
{
	struct ib_uverbs_alloc_mw cmd;
	struct ib_uverbs_alloc_mw_resp resp = {0};
	struct uv_object *o, *pd;
	struct uv_mw *mw;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = uv_new(b, &uv_type_mw, &o);
	if (r)
		return r;
	pd = uv_get(b, &uv_type_pd, cmd.pd_handle, UV_READ, &r);
	if (!pd)
		return r;
	if (cmd.mw_type != IBV_MW_TYPE_1 && cmd.mw_type != IBV_MW_TYPE_2)
		return uv_why(b, -EINVAL, "mw_type is 1 or 2");
	mw = (struct uv_mw *)o;
	mw->pd = (struct uv_pd *)pd;
	mw->type = cmd.mw_type;
	r = b->file->api->driver->alloc_mw(mw, &b->udata);
	if (r)
		return r;
	uv_use(pd);
	uv_b_created(b);
	resp.rkey = mw->rkey;
	resp.mw_handle = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_dealloc_mw(struct uv_bundle *b)
{
	struct ib_uverbs_dealloc_mw cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		uv_get_destroy(b, &uv_type_mw, cmd.mw_handle, &r);
	return r;
}

static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_MW_HANDLE, &uv_type_mw, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_MW_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 uv_destroy_handler, false},
};

const struct uv_object_def uv_def_mw = {
	.id = UVERBS_OBJECT_MW,
	.name = "MW",
	.type = &uv_type_mw,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, dealloc_mw),
};
