/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters objects. Handlers, called by ioctl.c. */
#include "uverbs/priv.h"

static int counters_destroy(struct uv_object *o, int why)
{
	if (why == UV_CLOSE)
		return 0;
	return o->file->api->driver->destroy_counters((struct uv_counters *)o);
}

const struct uv_type uv_type_counters = {
	.name = "COUNTERS",
	.object_id = UVERBS_OBJECT_COUNTERS,
	.size = sizeof(struct uv_counters),
	.destroy_order = 2,
	.destroy = counters_destroy,
};

static int counters_create(struct uv_bundle *b)
{
	struct uv_object *o = uv_b_new(b, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	int r = b->file->api->driver->create_counters((struct uv_counters *)o);

	if (r)
		return r;
	uv_b_created(b);
	return 0;
}

/* Only flows can be bound to counters; without flows there is nothing to read. */
static int counters_read(struct uv_bundle *b)
{
	return uv_why(b, -EINVAL, "nothing is bound to these counters");
}

static const struct uv_attr_def create_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &uv_type_counters, UV_NEW, true),
};
static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, &uv_type_counters, UV_DESTROY_ACCESS,
		    true),
};
static const struct uv_attr_def read_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_READ_COUNTERS_HANDLE, &uv_type_counters, UV_READ, true),
	UV_ATTR_OUT_MIN(UVERBS_ATTR_READ_COUNTERS_BUFF, 0, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_READ_COUNTERS_FLAGS, IB_UVERBS_READ_COUNTERS_PREFER_CACHED,
		      false),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_COUNTERS_CREATE, "CREATE", create_attrs, ARRAY_SIZE(create_attrs),
	 counters_create, false},
	{UVERBS_METHOD_COUNTERS_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 uv_destroy_handler, false},
	{UVERBS_METHOD_COUNTERS_READ, "READ", read_attrs, ARRAY_SIZE(read_attrs), counters_read,
	 false},
};

const struct uv_object_def uv_def_counters = {
	.id = UVERBS_OBJECT_COUNTERS,
	.name = "COUNTERS",
	.type = &uv_type_counters,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, destroy_counters),
};
