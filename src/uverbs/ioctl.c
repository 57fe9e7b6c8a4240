/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA_VERBS_IOCTL: checks the frame and each attribute against its row, runs the method, ends the
 * call. Errors and the order of their checks are the kernel's, because programs probe for features
 * with them. Called by the shim for ioctl(2).
 */
#include <limits.h>
#include <rdma/rdma_user_ioctl.h>
#include "segment/tap.h"
#include "uverbs/priv.h"
#include "util/fmt.h"

#define IOCTL_MAX 4096 /* bytes of a whole call: a page */

/* Are the bytes after the known structure zero, inline or not? */
static bool rest_cleared(const struct ib_uverbs_attr *u, size_t from)
{
	if (u->len > sizeof(u->data))
		return uv_user_cleared(u->data + from, u->len - from);
	for (size_t i = from; i < u->len; i++)
		if (((const uint8_t *)&u->data)[i])
			return false;
	return true;
}

static int ioctl_fetch(struct uv_bundle *b, struct uv_attr *a)
{
	if (a->len <= sizeof(a->data) || a->copy)
		return 0;
	a->copy = uv_b_alloc(b, a->len);
	if (!a->copy)
		return -ENOMEM;
	return uv_copy_from_user(a->copy, a->data, a->len);
}

static int process_ptr(struct uv_bundle *b, const struct uv_attr_def *d,
		       const struct ib_uverbs_attr *u, struct uv_attr *a)
{
	uint16_t min = d->min_len, max = d->max_len;
	const struct uv_attr_def *v = d;

	if (d->kind == UV_A_CONST_IN || d->kind == UV_A_FLAGS_IN) {
		min = d->kind == UV_A_CONST_IN ? 8 : 4;
		max = 8;
	} else if (d->kind == UV_A_ENUM_IN) {
		if (u->attr_data.enum_data.elem_id >= d->allowed)
			return uv_why_range(b, -EOPNOTSUPP, d->name, "no such element",
					    u->attr_data.enum_data.elem_id, 0, d->allowed - 1);
		if (u->attr_data.enum_data.reserved)
			return uv_why_attr(b, -EINVAL, d->name, "reserved is not 0");
		a->elem = u->attr_data.enum_data.elem_id;
		v = &d->elems[a->elem];
		min = v->min_len;
		max = v->max_len;
	}
	if (d->kind != UV_A_PTR_OUT && u->len > max && v->zero_trailing && !rest_cleared(u, max))
		return uv_why_range(b, -EOPNOTSUPP, d->name, "unknown bytes are not zero", u->len,
				    min, max);
	if (u->len < min || (!v->zero_trailing && u->len > max))
		return uv_why_range(b, -EINVAL, d->name, u->len < min ? "too short" : "too long",
				    u->len, min, v->zero_trailing ? UINT16_MAX : max);
	if (d->kind != UV_A_ENUM_IN && u->attr_data.reserved)
		return uv_why_attr(b, -EINVAL, d->name, "reserved is not 0");
	a->len = u->len;
	a->data = u->data;
	return v->alloc_copy ? ioctl_fetch(b, a) : 0;
}

static int process_object(struct uv_bundle *b, const struct uv_attr_def *d,
			  struct ib_uverbs_attr *u, struct uv_attr *a)
{
	int64_t id;
	int r = 0;

	if (u->attr_data.reserved || u->len)
		return uv_why_attr(b, -EINVAL, d->name, "reserved and len of a handle are 0");
	if (d->access != UV_NEW) {
		a->obj = uv_get(b, d->type, u->data_s64, d->access, &r);
		if (b->why.rule && !b->why.attr)
			b->why.attr = d->name;
		return r;
	}
	r = uv_new(b, d->type, &a->obj);
	if (r)
		return r;
	/* The program gets the handle now, even if the call fails later. */
	id = a->obj->handle;
	return uv_copy_to_user(b->user_attrs + a->index * sizeof(*u) +
				       offsetof(struct ib_uverbs_attr, data),
			       &id, sizeof(id));
}

static int process_array(struct uv_bundle *b, const struct uv_attr_def *d,
			 const struct ib_uverbs_attr *u, struct uv_attr *a)
{
	uint32_t *id;
	int r;

	if (u->attr_data.reserved || u->len % sizeof(*id))
		return uv_why_attr(b, -EINVAL, d->name, "not a whole number of handles");
	a->nobjs = u->len / sizeof(*id);
	if (a->nobjs < d->min_len || a->nobjs > d->max_len)
		return uv_why_range(b, -EINVAL, d->name, "number of handles", a->nobjs, d->min_len,
				    d->max_len);
	a->len = u->len;
	a->data = u->data;
	a->objs = uv_b_alloc(b, a->nobjs * sizeof(*a->objs));
	r = a->objs ? ioctl_fetch(b, a) : -ENOMEM;
	id = a->len <= sizeof(a->data) ? (uint32_t *)&a->data : a->copy;
	for (unsigned int i = 0; i < a->nobjs && !r; i++)
		a->objs[i] = uv_get(b, d->type, id[i], d->access, &r);
	return r;
}

static int process_attr(struct uv_bundle *b, const struct uv_attr_def *d, struct ib_uverbs_attr *u,
			struct uv_attr *a)
{
	switch (d->kind) {
	case UV_A_PTR_IN:
	case UV_A_PTR_OUT:
	case UV_A_ENUM_IN:
	case UV_A_CONST_IN:
	case UV_A_FLAGS_IN:
		return process_ptr(b, d, u, a);
	case UV_A_IDR:
	case UV_A_FD:
		return process_object(b, d, u, a);
	case UV_A_RAW_FD:
		if (u->attr_data.reserved || u->len || u->data_s64 < INT_MIN ||
		    u->data_s64 > INT_MAX)
			return uv_why_attr(b, -EINVAL, d->name, "not a descriptor");
		a->data = u->data;
		return 0;
	case UV_A_IDRS_ARRAY:
		return process_array(b, d, u, a);
	}
	return -EOPNOTSUPP;
}

static int set_attr(struct uv_bundle *b, unsigned int index)
{
	struct ib_uverbs_attr *u = &b->uattrs[index];
	int key = uv_key(u->attr_id), slot, r;
	struct uv_attr *a;

	slot = key < 0 ? -1 : b->method->slot[key];
	/* the attribute is newer than this library: an error only if it is mandatory */
	if (slot < 0)
		return u->flags & UVERBS_ATTR_F_MANDATORY
			       ? uv_why_id(b, -EPROTONOSUPPORT, u->attr_id)
			       : 0;
	a = &b->attrs[slot];
	if (a->def)
		return uv_why_attr(b, -EINVAL, a->def->name, "given twice");
	a->index = (uint16_t)index;
	r = process_attr(b, b->method->attrs[slot], u, a);
	if (r)
		return r;
	a->def = b->method->attrs[slot];
	return 0;
}

/*
 * The checks that the kernel's handlers make first, each of its own attributes: bounds, flags,
 * bytes.
 */
static int ioctl_check_values(struct uv_bundle *b)
{
	int r = 0;

	for (unsigned int i = 0; i < b->method->nattrs && !r; i++) {
		struct uv_attr *a = &b->attrs[i];
		const struct uv_attr_def *d = a->def;

		if (!d)
			continue;
		if (d->kind == UV_A_CONST_IN && d->allowed && a->data > d->allowed)
			return uv_why_range(b, -EINVAL, d->name, "value", a->data, 0, d->allowed);
		if (d->kind == UV_A_FLAGS_IN) {
			if (a->len != 4 && a->len != 8)
				return uv_why_range(b, -EINVAL, d->name, "4 or 8 bytes", a->len, 4,
						    8);
			if (uv_b_const(b, d->id, 0) & ~d->allowed)
				return uv_why_bits(b, -EINVAL, d->name, uv_b_const(b, d->id, 0),
						   d->allowed);
		}
		/* The length of CORE_IN is checked by its command. */
		if ((d->kind == UV_A_PTR_IN || d->kind == UV_A_ENUM_IN) &&
		    !b->method->def->runs_command)
			r = ioctl_fetch(b, a);
	}
	return r;
}

static int fill_udata(struct uv_bundle *b)
{
	struct uv_attr *in = uv_b_attr(b, UVERBS_ATTR_UHW_IN);
	struct uv_attr *out = uv_b_attr(b, UVERBS_ATTR_UHW_OUT);
	int r = 0;

	if (in) {
		r = ioctl_fetch(b, in);
		b->udata.in = in->len <= sizeof(in->data) ? (void *)&in->data : in->copy;
		b->udata.inlen = in->len;
	}
	if (out) {
		b->udata.out = out->data;
		b->udata.outlen = out->len;
	}
	return r;
}

static int run_handler(struct uv_bundle *b)
{
	const struct uv_method *m = b->method;
	int r = m->def->runs_command ? 0 : uv_injected(b, m->object_name, m->def->name);

	if (r)
		return r;
	if (m->destroy >= 0) {
		r = uv_destroy(b, b->attrs[m->destroy].obj);
		if (r)
			return r;
	}
	r = m->def->handler(b);
	/* Drivers write their answer through udata: mark it as written. */
	if (!r && m->has_udata) {
		struct uv_attr *a = uv_b_attr(b, UVERBS_ATTR_UHW_OUT);

		if (a)
			r = uv_b_set_output(b, a);
	}
	return r == -EPROTONOSUPPORT ? -EINVAL : r;
}

static int run_method(struct uv_bundle *b)
{
	const struct uv_method *m = b->method;
	size_t bytes = b->nuattrs * sizeof(*b->uattrs);
	int r;

	if (seg_file_down(b->file->seg, b->file->file) && m->destroy < 0)
		return -EIO;
	/* The trace shows attributes as soon as there are `uattrs`. */
	b->attrs = uv_b_alloc(b, m->nattrs * sizeof(*b->attrs));
	b->uattrs = b->attrs ? uv_b_alloc(b, bytes) : NULL;
	if (!b->uattrs)
		return -ENOMEM;
	if (uv_copy_from_user(b->uattrs, b->user_attrs, bytes))
		return -EFAULT;
	for (unsigned int i = 0; i < b->nuattrs; i++) {
		r = set_attr(b, i);
		if (r)
			return r;
	}
	for (unsigned int i = 0; i < m->nattrs; i++)
		if (m->attrs[i]->mandatory && !b->attrs[i].def)
			return uv_why_attr(b, -EINVAL, m->attrs[i]->name, "mandatory, and missing");
	if (!m->def->no_context && !b->ctx)
		return uv_why(b, -EINVAL, "the file has no context yet");
	r = ioctl_check_values(b);
	if (!r)
		r = fill_udata(b);
	/* for a command, its name comes first in the trace */
	if (b->trace && !m->def->runs_command)
		uv_trace_attrs(b);
	return r ? r : run_handler(b);
}

static int ioctl_refuse(const struct ib_uverbs_ioctl_hdr *hdr, int err, const char *rule)
{
	return uv_refuse_frame("ioctl", hdr, hdr->length, err, rule);
}

static int ioctl_run(struct uv_file *f, const struct ib_uverbs_ioctl_hdr *hdr, uint64_t user_attrs)
{
	uint64_t since = TRACE_ON(LOG_UVERBS) ? clock_now_ns() : 0;
	char what[96];
	struct uv_bundle b;
	struct rec rec;

	if (hdr->driver_id != f->api->driver->driver_id)
		return ioctl_refuse(hdr, -EINVAL, "driver_id is not the device's");
	uv_b_init(&b, f);
	b.method = uv_api_method(f->api, hdr->object_id, hdr->method_id);
	if (!b.method)
		return ioctl_refuse(hdr, -EPROTONOSUPPORT, "there is no such method");
	b.user_attrs = user_attrs;
	b.nuattrs = hdr->num_attrs;
	if (since) {
		fmt(what, sizeof(what), "%s.%s", uv_short_name(b.method->object_name),
		    uv_short_name(b.method->def->name));
		uv_trace_begin(&b, &rec, what, since);
	}
	return uv_b_finish(&b, run_method(&b));
}

long uv_ioctl(struct uv_file *f, unsigned long cmd, void *arg)
{
	struct ib_uverbs_ioctl_hdr hdr;
	uint64_t uaddr = (uintptr_t)arg;
	int r;

	tap_look(f->seg);
	if ((unsigned int)cmd != RDMA_VERBS_IOCTL || f->sys->no_ioctl)
		return -ENOTTY;
	if (uv_copy_from_user(&hdr, uaddr, sizeof(hdr)))
		return -EFAULT;
	if (hdr.length > IOCTL_MAX ||
	    hdr.length != sizeof(hdr) + hdr.num_attrs * sizeof(struct ib_uverbs_attr))
		return ioctl_refuse(&hdr, -EINVAL, "length: that of num_attrs, at most a page");
	if (hdr.reserved1 || hdr.reserved2)
		return ioctl_refuse(&hdr, -EPROTONOSUPPORT, "reserved1 and reserved2 are 0");
	pthread_mutex_lock(&f->lock);
	r = ioctl_run(f, &hdr, uaddr + sizeof(hdr));
	pthread_mutex_unlock(&f->lock);
	return r;
}
