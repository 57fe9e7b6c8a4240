/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Device memory. Handlers, called by ioctl.c; the regions over it are in std_mr.c. */
#include "uverbs/priv.h"

static int dm_destroy(struct uv_object *o, int why)
{
	if (why == UV_CLOSE)
		return 0;
	return o->file->api->driver->dealloc_dm((struct uv_dm *)o);
}

const struct uv_type uv_type_dm = {
	.name = "DM",
	.object_id = UVERBS_OBJECT_DM,
	.size = sizeof(struct uv_dm),
	.destroy_order = 3,
	.destroy = dm_destroy,
};

static int dm_alloc(struct uv_bundle *b)
{
	struct uv_dm *dm = (struct uv_dm *)uv_b_new(b, UVERBS_ATTR_ALLOC_DM_HANDLE);
	uint32_t log_align = (uint32_t)uv_b_const(b, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	int r;

	dm->len = uv_b_const(b, UVERBS_ATTR_ALLOC_DM_LENGTH, 0);
	r = b->file->api->driver->alloc_dm(dm, log_align, b);
	if (!r)
		uv_b_created(b);
	return r;
}

static const struct uv_attr_def alloc_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_ALLOC_DM_HANDLE, &uv_type_dm, UV_NEW, true),
	UV_ATTR_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, uint32_t, true),
};
static const struct uv_attr_def free_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_FREE_DM_HANDLE, &uv_type_dm, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_DM_ALLOC, "ALLOC", alloc_attrs, ARRAY_SIZE(alloc_attrs), dm_alloc, false},
	{UVERBS_METHOD_DM_FREE, "FREE", free_attrs, ARRAY_SIZE(free_attrs), uv_destroy_handler,
	 false},
};
const struct uv_object_def uv_def_dm = {
	.id = UVERBS_OBJECT_DM,
	.name = "DM",
	.type = &uv_type_dm,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, dealloc_dm),
};
