/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Combines the core's objects with the driver's into one table per process and checks it once, so
 * that a contradiction shows at the first open, not at the first call. Called by file.c.
 */
#include "uverbs/priv.h"
#include "util/fmt.h"

static const struct uv_object_def *const core[] = {
	&uv_def_device, &uv_def_pd, &uv_def_comp_channel, &uv_def_cq, &uv_def_qp,
	&uv_def_srq,    &uv_def_ah, &uv_def_mr,           &uv_def_mw, &uv_def_async_event,
	&uv_def_xrcd,   &uv_def_wq, &uv_def_rwq_ind_tbl,  &uv_def_dm, &uv_def_counters,
};

bool uv_has_op(const struct uv_driver *d, size_t op)
{
	void *const *fn = (void *const *)((const char *)d + op);

	return !op || *fn;
}

static int bad(const char *object, const char *what, const char *name)
{
	log_line(LOG_ERROR, "uverbs: table of %s: %s: %s", object, name, what);
	return -EINVAL;
}

static int add_attr(struct uv_method *m, const struct uv_attr_def *a)
{
	int key = uv_key(a->id);
	const struct uv_attr_def **n;

	if (key < 0)
		return bad(m->object_name, "attribute id", a->name);
	if (m->slot[key] >= 0)
		return bad(m->object_name, "attribute defined twice", a->name);
	if (a->kind == UV_A_IDR || a->kind == UV_A_FD) {
		bool single = a->access == UV_NEW || a->access == UV_DESTROY_ACCESS;

		if (single && !a->mandatory)
			return bad(m->object_name, "made or destroyed, yet optional", a->name);
		if (a->access == UV_NEW && (!a->type || a->type->is_fd != (a->kind == UV_A_FD)))
			return bad(m->object_name, "type to make", a->name);
		for (unsigned int i = 0; single && i < m->nattrs; i++)
			if ((m->attrs[i]->kind == UV_A_IDR || m->attrs[i]->kind == UV_A_FD) &&
			    (m->attrs[i]->access == UV_NEW ||
			     m->attrs[i]->access == UV_DESTROY_ACCESS))
				return bad(m->object_name, "makes or destroys two", a->name);
		if (a->access == UV_DESTROY_ACCESS)
			m->destroy = (int)m->nattrs;
	}
	if (a->kind == UV_A_IDRS_ARRAY && (a->access == UV_NEW || a->access == UV_DESTROY_ACCESS))
		return bad(m->object_name, "makes or destroys several", a->name);
	if (a->kind == UV_A_ENUM_IN && (!a->elems || !a->allowed))
		return bad(m->object_name, "enum without elements", a->name);
	n = heap_grow(m->attrs, m->nattrs * sizeof(*n), (m->nattrs + 1) * sizeof(*n));
	if (!n)
		return -ENOMEM;
	m->attrs = n;
	m->slot[key] = (int8_t)m->nattrs;
	m->attrs[m->nattrs++] = a;
	m->has_udata |= a->is_udata;
	return 0;
}

static int add_method(struct uv_api_object *o, uint16_t object, const struct uv_method_def *d)
{
	int key = uv_key(d->id), r = 0;
	struct uv_method *m;

	if (key < 0)
		return bad(o->name, "method id", d->name);
	m = o->method[key];
	if (m && d->handler)
		return bad(o->name, "method defined twice", d->name);
	if (!m) {
		if (!d->handler)
			return bad(o->name, "attributes for an unknown method", d->name);
		m = heap_zalloc(sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->object = object;
		m->object_name = o->name;
		m->id = d->id;
		m->def = d;
		m->destroy = -1;
		memset(m->slot, -1, sizeof(m->slot));
		o->method[key] = m;
	}
	for (unsigned int i = 0; i < d->nattrs && !r; i++)
		r = add_attr(m, &d->attrs[i]);
	return r;
}

static int add_object(struct uv_api *api, const struct uv_object_def *d)
{
	int key = uv_key(d->id), r = 0;
	struct uv_api_object *o;

	if (key < 0)
		return bad("objects", "object id", d->name);
	o = &api->object[key];
	o->absent |= !uv_has_op(api->driver, d->needs);
	if (o->absent)
		return 0;
	if (o->type && d->type && o->type != d->type)
		return bad("objects", "object defined twice", d->name);
	if (d->type && d->type->object_id != d->id)
		return bad("objects", "type of another object", d->name);
	if (!o->present)
		o->name = d->name;
	o->present = true;
	if (d->type)
		o->type = d->type;
	for (unsigned int i = 0; i < d->nmethods && !r; i++)
		r = add_method(o, d->id, &d->methods[i]);
	return r;
}

static void free_method(struct uv_method *m)
{
	if (m)
		heap_free(m->attrs);
	heap_free(m);
}

/*
 * A method whose mandatory handle belongs to an absent object cannot be called, so it is absent,
 * too.
 */
static void drop_uncallable(struct uv_api *api, struct uv_api_object *o)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(o->method); i++) {
		struct uv_method *m = o->method[i];

		for (unsigned int j = 0; m && j < m->nattrs; j++) {
			const struct uv_attr_def *a = m->attrs[j];
			int key = a->type ? uv_key(a->type->object_id) : 0;

			if (!a->mandatory || !a->type ||
			    (key >= 0 && api->object[key].type == a->type))
				continue;
			free_method(m);
			o->method[i] = NULL;
			break;
		}
	}
}

int uv_api_create(const struct uv_driver *d, struct uv_api **out)
{
	struct uv_api *api = heap_zalloc(sizeof(*api));
	int r = 0;

	if (!api)
		return -ENOMEM;
	api->driver = d;
	for (unsigned int i = 0; i < ARRAY_SIZE(core) && !r; i++)
		r = add_object(api, core[i]);
	for (unsigned int i = 0; i < d->nobjects && !r; i++)
		r = add_object(api, &d->objects[i]);
	if (!r)
		r = uv_cmd_index(api);
	if (r) {
		uv_api_destroy(api);
		return r;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(api->object); i++)
		drop_uncallable(api, &api->object[i]);
	*out = api;
	return 0;
}

void uv_api_destroy(struct uv_api *api)
{
	if (!api)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(api->object); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(api->object[i].method); j++)
			free_method(api->object[i].method[j]);
	heap_free(api);
}

int uv_each_name(const struct uv_driver *d, void (*each)(void *ctx, const char *name), void *ctx)
{
	struct uv_api *api;
	char name[96];
	int r = uv_api_create(d, &api);

	if (r)
		return r;
	for (unsigned int i = 0; i < ARRAY_SIZE(api->object); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(api->object[i].method); j++) {
			const struct uv_method *m = api->object[i].method[j];

			if (!m)
				continue;
			fmt(name, sizeof(name), "%s.%s", uv_short_name(m->object_name),
			    uv_short_name(m->def->name));
			each(ctx, name);
		}
	for (unsigned int i = 0; i < 2 * UV_CMDS; i++)
		if (api->cmd[i / UV_CMDS][i % UV_CMDS])
			each(ctx, api->cmd[i / UV_CMDS][i % UV_CMDS]->name);
	uv_api_destroy(api);
	return 0;
}

const struct uv_api_object *uv_api_object(const struct uv_api *api, uint16_t object)
{
	int key = uv_key(object);

	return key < 0 || !api->object[key].present ? NULL : &api->object[key];
}

const struct uv_method *uv_api_method(const struct uv_api *api, uint16_t object, uint16_t method)
{
	const struct uv_api_object *o = uv_api_object(api, object);
	int key = uv_key(method);

	return !o || key < 0 ? NULL : o->method[key];
}
