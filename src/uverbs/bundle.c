/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A handler's view of one call: its attributes, its driver data, memory that is freed with the
 * call, and guarded copies from and to the program. Has the accessors of driver.h.
 */
#include "uverbs/priv.h"
#include "fault/fault.h"
#include "util/fmt.h"

int uv_injected(struct uv_bundle *b, const char *object, const char *name)
{
	struct seg *s = b->file->seg;
	char text[96];
	int r;

	if (!fault_waits(s, HW_AT_CALL))
		return 0;
	fmt(text, sizeof(text), "%s%s%s", object ? uv_short_name(object) : "", object ? "." : "",
	    uv_short_name(name));
	r = fault_call(s, HW_AT_CALL, text, b->file->hca);
	return r ? uv_why(b, r, "--inject") : 0;
}

/* As access_ok(): addresses beyond the user's range are not even tried. */
bool uv_user_range(uint64_t uaddr, size_t len)
{
	const uint64_t end = UINT64_C(1) << 47;

	return len <= end && uaddr <= end - len;
}

int uv_copy_from_user(void *dst, uint64_t uaddr, size_t len)
{
	if (!len)
		return 0;
	if (!uv_user_range(uaddr, len))
		return -EFAULT;
	return mem_guarded_copy(dst, (const void *)(uintptr_t)uaddr, len);
}

int uv_copy_to_user(uint64_t uaddr, const void *src, size_t len)
{
	if (!len)
		return 0;
	if (!uv_user_range(uaddr, len))
		return -EFAULT;
	return mem_guarded_copy((void *)(uintptr_t)uaddr, src, len);
}

static int clear_user(uint64_t uaddr, size_t len)
{
	static const uint8_t zero[256];

	while (len) {
		size_t n = len < sizeof(zero) ? len : sizeof(zero);
		int r = uv_copy_to_user(uaddr, zero, n);

		if (r)
			return r;
		uaddr += n;
		len -= n;
	}
	return 0;
}

/* Are all bytes zero? Unreadable memory counts as not zero. */
bool uv_user_cleared(uint64_t uaddr, size_t len)
{
	uint8_t part[256];

	while (len) {
		size_t n = len < sizeof(part) ? len : sizeof(part);

		if (uv_copy_from_user(part, uaddr, n))
			return false;
		for (size_t i = 0; i < n; i++)
			if (part[i])
				return false;
		uaddr += n;
		len -= n;
	}
	return true;
}

void uv_b_init(struct uv_bundle *b, struct uv_file *f)
{
	memset(b, 0, offsetof(struct uv_bundle, buf));
	uv_why_init();
	b->file = f;
	b->ctx = f->ctx;
	b->udata.bundle = b;
	memset(&b->why, 0, sizeof(*b) - offsetof(struct uv_bundle, why));
}

void *uv_b_alloc(struct uv_bundle *b, size_t len)
{
	struct uv_chunk *c;
	void *p;

	len = (len + 7) & ~(size_t)7;
	if (len <= sizeof(b->buf) - b->used) {
		p = (char *)b->buf + b->used;
		b->used += len;
		return memset(p, 0, len);
	}
	c = heap_zalloc(sizeof(*c) + len);
	if (!c)
		return NULL;
	c->next = b->chunks;
	b->chunks = c;
	return c->data;
}

static void free_gone(struct uv_bundle *b)
{
	struct uv_object *o = b->gone;

	b->gone = NULL;
	heap_free(o);
}

int uv_b_finish(struct uv_bundle *b, int ret)
{
	if (!ret && b->obj_new)
		ret = uv_commit(b);
	if (b->obj_new)
		uv_abort(b);
	if (__builtin_expect(ret, 0))
		uv_tell(b, ret);
	if (b->trace) /* traced now, while the memory that it shows exists */
		uv_trace_end(b, ret);
	uv_put_all(b);
	free_gone(b);
	while (b->chunks) {
		struct uv_chunk *c = b->chunks;

		b->chunks = c->next;
		heap_free(c);
	}
	return ret;
}

struct uv_attr *uv_b_attr(struct uv_bundle *b, uint16_t id)
{
	int key = uv_key(id), slot;

	if (!b->method || key < 0)
		return NULL;
	slot = b->method->slot[key];
	return slot < 0 || !b->attrs[slot].def ? NULL : &b->attrs[slot];
}

struct uv_context *uv_b_context(struct uv_bundle *b)
{
	return b->ctx;
}

struct uv_context *uv_obj_context(const struct uv_object *o)
{
	return o->file->ctx;
}

bool uv_b_has(struct uv_bundle *b, uint16_t attr)
{
	return uv_b_attr(b, attr) != NULL;
}

const void *uv_b_in(struct uv_bundle *b, uint16_t attr, size_t *len)
{
	struct uv_attr *a = uv_b_attr(b, attr);

	if (len)
		*len = a ? a->len : 0;
	if (!a)
		return NULL;
	return a->len <= sizeof(a->data) ? (void *)&a->data : a->copy;
}

uint64_t uv_b_const(struct uv_bundle *b, uint16_t attr, uint64_t absent)
{
	struct uv_attr *a = uv_b_attr(b, attr);
	uint64_t v = 0;

	if (!a)
		return absent;
	if (a->def->kind == UV_A_ENUM_IN)
		return a->elem;
	if (a->def->kind == UV_A_RAW_FD)
		return a->data;
	memcpy(&v, &a->data, a->len < sizeof(v) ? a->len : sizeof(v));
	return v;
}

size_t uv_b_out_len(struct uv_bundle *b, uint16_t attr)
{
	struct uv_attr *a = uv_b_attr(b, attr);

	return a ? a->len : 0;
}

/* Tell the program that the buffer of an attribute was written. */
int uv_b_set_output(struct uv_bundle *b, const struct uv_attr *a)
{
	struct ib_uverbs_attr *u = &b->uattrs[a->index];

	u->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	return uv_copy_to_user(b->user_attrs + a->index * sizeof(*u) +
				       offsetof(struct ib_uverbs_attr, flags),
			       &u->flags, sizeof(u->flags));
}

int uv_b_out(struct uv_bundle *b, uint16_t attr, const void *data, size_t len)
{
	struct uv_attr *a = uv_b_attr(b, attr);

	if (!a)
		return -ENOENT;
	if (b->trace)
		uv_trace_out(b, a, data, len);
	if (uv_copy_to_user(a->data, data, a->len < len ? a->len : len))
		return -EFAULT;
	return uv_b_set_output(b, a);
}

int uv_b_out_zero(struct uv_bundle *b, uint16_t attr, const void *data, size_t len)
{
	struct uv_attr *a = uv_b_attr(b, attr);

	if (!a)
		return -ENOENT;
	if (len < a->len && clear_user(a->data + len, a->len - len))
		return -EFAULT;
	return uv_b_out(b, attr, data, len);
}

struct uv_object *uv_b_obj(struct uv_bundle *b, uint16_t attr)
{
	struct uv_attr *a = uv_b_attr(b, attr);

	return a ? a->obj : NULL;
}

struct uv_object *uv_b_new(struct uv_bundle *b, uint16_t attr)
{
	return uv_b_obj(b, attr);
}

void uv_b_created(struct uv_bundle *b)
{
	b->created = true;
}

int uv_udata_out(struct uv_udata *u, const void *data, size_t len)
{
	if (u->bundle && u->bundle->trace)
		uv_trace_driver_out(u->bundle, data, u->outlen < len ? u->outlen : len);
	return uv_copy_to_user(u->out, data, u->outlen < len ? u->outlen : len);
}

void uv_use(struct uv_object *to)
{
	atomic_fetch_add(&to->uses, 1);
}

void uv_unuse(struct uv_object *to)
{
	atomic_fetch_sub(&to->uses, 1);
}

static int core_copy(struct uv_bundle *b, void *dst, size_t len)
{
	if (b->core_inline) {
		memcpy(dst, b->core_inline, len);
		return 0;
	}
	return uv_copy_from_user(dst, b->core_in, len);
}

static bool core_rest_cleared(const struct uv_bundle *b, size_t from)
{
	if (!b->core_inline)
		return uv_user_cleared(b->core_in + from, b->core_inlen - from);
	for (size_t i = from; i < b->core_inlen; i++)
		if (((const uint8_t *)b->core_inline)[i])
			return false;
	return true;
}

int uv_request(struct uv_bundle *b, void *req, size_t len)
{
	size_t n = b->core_inlen < len ? b->core_inlen : len;

	memset(req, 0, len);
	if (core_copy(b, req, n))
		return -EFAULT;
	if (b->trace)
		uv_trace_request(b, req, len);
	if (b->core_inlen > len && !core_rest_cleared(b, len))
		return uv_why_range(b, -EOPNOTSUPP, NULL, "unknown bytes are not zero",
				    b->core_inlen, 0, len);
	return 0;
}

int uv_request_part(struct uv_bundle *b, size_t at, void *dst, size_t len)
{
	if (at > b->core_inlen || len > b->core_inlen - at)
		return uv_why(b, -ENOSPC, "the request ends before its list");
	if (b->core_inline) {
		memcpy(dst, (const char *)b->core_inline + at, len);
		return 0;
	}
	return uv_copy_from_user(dst, b->core_in + at, len);
}

int uv_request_end(struct uv_bundle *b, size_t at)
{
	if (b->core_inlen > at && !core_rest_cleared(b, at))
		return uv_why(b, -EOPNOTSUPP, "unknown bytes are not zero");
	return 0;
}

int uv_response(struct uv_bundle *b, const void *resp, size_t len)
{
	if (b->core_out_attr)
		return uv_b_out_zero(b, UVERBS_ATTR_CORE_OUT, resp, len);
	if (b->trace)
		uv_trace_response(b, resp, b->core_outlen < len ? b->core_outlen : len);
	if (uv_copy_to_user(b->core_out, resp, b->core_outlen < len ? b->core_outlen : len))
		return -EFAULT;
	if (len < b->core_outlen)
		return clear_user(b->core_out + len, b->core_outlen - len);
	return 0;
}

/* The response_length of extended commands: how much of the answer the program can see. */
uint32_t uv_response_length(const struct uv_bundle *b, size_t len)
{
	return (uint32_t)(b->core_outlen < len ? b->core_outlen : len);
}
