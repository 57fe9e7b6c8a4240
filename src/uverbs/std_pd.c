/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains and address handles. Handlers, called by ioctl.c and write.c. */
#include "uverbs/priv.h"

/* ---- PD ---- */

static int pd_destroy(struct uv_object *o, int why)
{
	if (why == UV_CLOSE)
		return 0;
	return o->file->api->driver->dealloc_pd((struct uv_pd *)o);
}

const struct uv_type uv_type_pd = {
	.name = "PD",
	.object_id = UVERBS_OBJECT_PD,
	.size = sizeof(struct uv_pd),
	.number = offsetof(struct uv_pd, pdn),
	.destroy_order = 3,
	.destroy = pd_destroy,
};

int uv_cmd_alloc_pd(struct uv_bundle *b)
{
	struct ib_uverbs_alloc_pd cmd;
	struct ib_uverbs_alloc_pd_resp resp = {0};
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = uv_new(b, &uv_type_pd, &o);
	if (!r)
		r = b->file->api->driver->alloc_pd((struct uv_pd *)o, &b->udata);
	if (r)
		return r;
	uv_b_created(b);
	resp.pd_handle = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_dealloc_pd(struct uv_bundle *b)
{
	struct ib_uverbs_dealloc_pd cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		uv_get_destroy(b, &uv_type_pd, cmd.pd_handle, &r);
	return r;
}

static const struct uv_attr_def pd_destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_PD_HANDLE, &uv_type_pd, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def pd_methods[] = {
	{UVERBS_METHOD_PD_DESTROY, "DESTROY", pd_destroy_attrs, 1, uv_destroy_handler, false},
};
const struct uv_object_def uv_def_pd = {
	.id = UVERBS_OBJECT_PD,
	.name = "PD",
	.type = &uv_type_pd,
	.methods = pd_methods,
	.nmethods = ARRAY_SIZE(pd_methods),
	.needs = offsetof(struct uv_driver, dealloc_pd),
};

/* ---- AH ---- */

/* On InfiniBand an address handle is made by the program; the kernel object has no effect. */
static int ah_destroy(struct uv_object *o, int why)
{
	struct uv_ah *ah = (struct uv_ah *)o;

	uv_unuse(&ah->pd->obj);
	if (why != UV_CLOSE)
		heap_free(o->drv);
	return 0;
}

const struct uv_type uv_type_ah = {
	.name = "AH",
	.object_id = UVERBS_OBJECT_AH,
	.size = sizeof(struct uv_ah),
	.destroy_order = 2,
	.destroy = ah_destroy,
};

int uv_cmd_create_ah(struct uv_bundle *b)
{
	struct ib_uverbs_create_ah cmd;
	struct ib_uverbs_create_ah_resp resp = {0};
	struct uv_object *o, *pd;
	struct uv_ah *ah;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = uv_new(b, &uv_type_ah, &o);
	if (r)
		return r;
	if (!uv_file_has_port(b->file, cmd.attr.port_num))
		return uv_why(b, -EINVAL, "port_num is no port of the device");
	pd = uv_get(b, &uv_type_pd, cmd.pd_handle, UV_READ, &r);
	if (!pd)
		return r;
	ah = (struct uv_ah *)o;
	r = uv_av_check(b->file, cmd.attr.port_num, cmd.attr.is_global, cmd.attr.grh.sgid_index);
	if (!r && b->file->device.roce)
		r = uv_av_resolve(b->file, cmd.attr.port_num, cmd.attr.grh.sgid_index,
				  cmd.attr.grh.dgid, ah->dmac, &cmd.attr.grh.hop_limit);
	if (r)
		return r;
	ah->pd = (struct uv_pd *)pd;
	ah->attr = cmd.attr;
	o->user_handle = cmd.user_handle;
	r = b->file->api->driver->create_ah(ah, &b->udata);
	if (r)
		return r;
	uv_use(pd);
	uv_b_created(b);
	resp.ah_handle = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_destroy_ah(struct uv_bundle *b)
{
	struct ib_uverbs_destroy_ah cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		uv_get_destroy(b, &uv_type_ah, cmd.ah_handle, &r);
	return r;
}

static const struct uv_attr_def ah_destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_AH_HANDLE, &uv_type_ah, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def ah_methods[] = {
	{UVERBS_METHOD_AH_DESTROY, "DESTROY", ah_destroy_attrs, 1, uv_destroy_handler, false},
};
const struct uv_object_def uv_def_ah = {
	.id = UVERBS_OBJECT_AH,
	.name = "AH",
	.type = &uv_type_ah,
	.methods = ah_methods,
	.nmethods = ARRAY_SIZE(ah_methods),
	.needs = offsetof(struct uv_driver, create_ah),
};
