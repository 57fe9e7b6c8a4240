/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of an open file: handles, the locks of a call on them, and their stages: begun (with a
 * handle, invisible), committed or aborted at the end of the call, destroyed. All functions need
 * the file's mutex.
 */
#include "uverbs/priv.h"
#include "util/fmt.h"
#include "util/sys.h"

/* ---- handles ---- */

static int handle_grow(struct uv_handles *h)
{
	uint32_t cap = h->cap ? h->cap * 2 : 64;
	struct uv_object **slot;
	uint64_t *used;

	slot = heap_grow(h->slot, h->cap * sizeof(*slot), cap * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	h->slot = slot;
	used = heap_grow(h->used, h->cap / 64 * sizeof(*used), cap / 64 * sizeof(*used));
	if (!used)
		return -ENOMEM;
	h->used = used;
	h->cap = cap;
	return 0;
}

/* Take the lowest free number. The hint makes it constant time, except after scattered frees. */
static int handle_alloc(struct uv_handles *h, uint32_t *out)
{
	uint32_t w = h->hint;
	int r;

	while (w < h->cap / 64 && h->used[w] == UINT64_MAX)
		w++;
	if (w == h->cap / 64) {
		r = handle_grow(h);
		if (r)
			return r;
	}
	h->hint = w;
	*out = w * 64 + (uint32_t)__builtin_ctzll(~h->used[w]);
	h->used[w] |= UINT64_C(1) << (*out % 64);
	return 0;
}

static void handle_free(struct uv_handles *h, uint32_t n)
{
	h->slot[n] = NULL;
	h->used[n / 64] &= ~(UINT64_C(1) << (n % 64));
	if (n / 64 < h->hint)
		h->hint = n / 64;
}

static void object_list_add(struct uv_object **head, struct uv_object *o)
{
	o->prev = NULL;
	o->next = *head;
	if (*head)
		(*head)->prev = o;
	*head = o;
}

void uv_list_del(struct uv_object **head, struct uv_object *o)
{
	if (o->prev)
		o->prev->next = o->next;
	else
		*head = o->next;
	if (o->next)
		o->next->prev = o->prev;
	o->next = o->prev = NULL;
}

/* ---- look-up ---- */

static int lock_object(struct uv_object *o, enum uv_access access)
{
	switch (access) {
	case UV_READ:
		if (o->locks < 0)
			return -EBUSY;
		o->locks++;
		return 0;
	case UV_WRITE:
		if (o->locks)
			return -EBUSY;
		o->locks = -1;
		return 0;
	default: /* uv_destroy() locks */
		return 0;
	}
}

static struct uv_object *find_handle(struct uv_file *f, int64_t id, int *err)
{
	struct uv_object *o = NULL;

	if (id < 0) {
		*err = -EINVAL;
		return NULL;
	}
	if (id < f->handles.cap)
		o = f->handles.slot[id];
	if (!o)
		*err = -ENOENT;
	return o;
}

static struct uv_object *find_fd(struct uv_file *f, const struct uv_type *t, int64_t id,
				 enum uv_access access, int *err)
{
	void *p;

	if (id != (int)id) {
		*err = -EINVAL;
		return NULL;
	}
	if (access != UV_READ) {
		*err = -EOPNOTSUPP;
		return NULL;
	}
	/*
	 * Only compare the pointer until it is found among this file's objects, which the mutex
	 * protects.
	 */
	p = f->sys->fd_lookup ? f->sys->fd_lookup((int)id, t->fd_kind) : NULL;
	for (struct uv_object *o = f->fds; o && p; o = o->next)
		if (o == p && o->type == t)
			return o;
	*err = -EBADF;
	return NULL;
}

struct uv_object *uv_find(struct uv_bundle *b, const struct uv_type *t, int64_t id,
			  enum uv_access access, int *err)
{
	struct uv_file *f = b->file;
	struct uv_object *o;

	if (t) {
		const struct uv_api_object *ao = uv_api_object(f->api, t->object_id);

		if (!ao || ao->type != t) {
			*err = -EINVAL;
			return NULL;
		}
	}
	o = t && t->is_fd ? find_fd(f, t, id, access, err) : find_handle(f, id, err);
	if (!o) {
		uv_why(b, 0,
		       t && t->is_fd ? "not such a file of this device file" : "no such handle");
		return NULL;
	}
	if (t && o->type != t) {
		*err = uv_why(b, -EINVAL, "a handle of another kind");
		return NULL;
	}
	return o;
}

struct uv_object *uv_get(struct uv_bundle *b, const struct uv_type *t, int64_t id,
			 enum uv_access access, int *err)
{
	struct uv_object *o = uv_find(b, t, id, access, err);

	if (!o)
		return NULL;
	if (b->nheld == UV_MAX_HELD) {
		*err = -ENOMEM;
		return NULL;
	}
	*err = lock_object(o, access);
	if (*err) {
		uv_why(b, 0, "another call is using it, or it is given twice");
		return NULL;
	}
	b->held[b->nheld++] = (struct uv_held){o, access};
	return o;
}

void uv_put_all(struct uv_bundle *b)
{
	while (b->nheld) {
		struct uv_held *h = &b->held[--b->nheld];

		if (h->access == UV_READ)
			h->obj->locks--;
		else if (h->access == UV_WRITE)
			h->obj->locks = 0;
	}
}

/* ---- making ---- */

static int new_fd(struct uv_file *f, struct uv_event_file *e)
{
	struct seg_file *sf;
	int fd, r;

	r = f->sys->open_file(f->sys->link, e->obj.type->fd_kind, f->hca, 0, &e->evq, &e->gen, &fd);
	if (r < 0)
		return r;
	e->obj.handle = (uint32_t)fd;
	atomic_store(&e->refs, 1);
	sf = seg_file(f->seg, e->evq);
	if (sf)
		seg_file_set_parent(f->seg, sf, f->file, f->gen);
	return 0;
}

int uv_new(struct uv_bundle *b, const struct uv_type *t, struct uv_object **out)
{
	struct uv_file *f = b->file;
	const struct uv_api_object *ao = uv_api_object(f->api, t->object_id);
	struct uv_object *o;
	int r;

	if (!ao || ao->type != t || b->obj_new)
		return -EINVAL;
	if (!b->ctx)
		return uv_why(b, -EINVAL, "the file has no context yet");
	o = heap_zalloc(t->size);
	if (!o)
		return -ENOMEM;
	o->type = t;
	o->file = f;
	o->locks = -1;
	r = t->is_fd ? new_fd(f, (struct uv_event_file *)o) : handle_alloc(&f->handles, &o->handle);
	if (r) {
		heap_free(o);
		return r;
	}
	b->obj_new = o;
	b->trace_new = UINT64_C(1) + o->handle;
	*out = o;
	return 0;
}

static int commit_fd(struct uv_file *f, struct uv_event_file *e)
{
	int r;

	object_list_add(&f->fds, &e->obj);
	uv_file_get(f);
	r = f->sys->fd_publish((int)e->obj.handle, e->obj.type->fd_kind, e->evq, e->gen, e);
	if (r) {
		uv_list_del(&f->fds, &e->obj);
		uv_file_put(f);
	}
	return r;
}

int uv_commit(struct uv_bundle *b)
{
	struct uv_object *o = b->obj_new;
	struct uv_file *f = b->file;
	int r = 0;

	o->locks = 0;
	if (o->type->is_fd) {
		r = commit_fd(f, (struct uv_event_file *)o);
	} else {
		object_list_add(&f->objects, o);
		f->handles.slot[o->handle] = o;
	}
	if (!r)
		b->obj_new = NULL;
	return r;
}

static void abort_fd(struct uv_file *f, struct uv_event_file *e)
{
	if (f->default_async == e)
		f->default_async = NULL;
	sys_close((int)e->obj.handle);
	f->sys->file_closed(f->sys->link, e->evq, e->gen);
}

void uv_abort(struct uv_bundle *b)
{
	struct uv_object *o = b->obj_new;
	struct uv_file *f = b->file;

	b->obj_new = NULL;
	if (b->created && o->type->destroy && o->type->destroy(o, UV_ABORT)) {
		/*
		 * The object cannot be undone: it stays until the file closes, without a known
		 * handle.
		 */
		TRACE(LOG_UVERBS, "%s %u could not be undone", o->type->name, o->handle);
		o->locks = 0;
		object_list_add(&f->objects, o);
		f->handles.slot[o->handle] = o;
		return;
	}
	if (o->type->is_fd)
		abort_fd(f, (struct uv_event_file *)o);
	else
		handle_free(&f->handles, o->handle);
	heap_free(o);
}

/* ---- destroying ---- */

/* Does the object refer to the other one? Its own words do, behind those of the list. */
static bool refers_to(const struct uv_object *o, const struct uv_object *to)
{
	const struct uv_object *p;

	for (size_t at = sizeof(*o); at + sizeof(p) <= o->type->size; at += sizeof(p)) {
		memcpy(&p, (const uint8_t *)o + at, sizeof(p));
		if (p == to)
			return true;
	}
	return false;
}

#define USERS_SHOWN 4

static void name_users(const struct uv_file *f, const struct uv_object *o, char *text, size_t size)
{
	unsigned int n = 0, all = (unsigned int)atomic_load(&o->uses);
	size_t at = fmt(text, size, "used by");

	for (const struct uv_object *x = f->objects; x && n < USERS_SHOWN; x = x->next) {
		if (x == o || !refers_to(x, o))
			continue;
		at += fmt(text + at, size - at, "%s ", n++ ? "," : "");
		at += uv_object_name(x, text + at, size - at);
	}
	if (!n)
		fmt(text + at, size - at, " %u other objects", all);
	else if (n == USERS_SHOWN && all > n)
		fmt(text + at, size - at, " and others");
}

int uv_destroy(struct uv_bundle *b, struct uv_object *o)
{
	struct uv_file *f = b->file;
	char users[UV_RULE_TEXT];
	int r = 0;

	if (o->locks)
		return uv_why(b, -EBUSY, "another call is using it");
	if (atomic_load(&o->uses))
		return uv_no_text(-EBUSY, (name_users(f, o, users, sizeof(users)), users));
	if (o->type->destroy)
		r = o->type->destroy(o, UV_DESTROY);
	if (r)
		return r;
	handle_free(&f->handles, o->handle);
	uv_list_del(&f->objects, o);
	b->gone = o;
	return 0;
}

struct uv_object *uv_get_destroy(struct uv_bundle *b, const struct uv_type *t, uint32_t id,
				 int *err)
{
	struct uv_object *o = uv_get(b, t, id, UV_DESTROY_ACCESS, err);

	if (!o)
		return NULL;
	*err = uv_destroy(b, o);
	return *err ? NULL : o;
}

int uv_destroy_handler(struct uv_bundle *b)
{
	return 0;
}

/* In the order of types; within a type the newest first, as objects refer to older ones. */
void uv_close_all(struct uv_file *f)
{
	for (int order = 0; f->objects; order++) {
		struct uv_object *next;

		for (struct uv_object *o = f->objects; o; o = next) {
			next = o->next;
			if (o->type->destroy_order > order)
				continue;
			if (o->type->destroy)
				o->type->destroy(o, UV_CLOSE);
			uv_list_del(&f->objects, o);
			heap_free(o->drv);
			heap_free(o);
		}
	}
	heap_free(f->handles.slot);
	heap_free(f->handles.used);
	f->handles = (struct uv_handles){0};
}
