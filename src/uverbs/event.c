/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable files (completion channels, async event files), and the event queues of hardware
 * objects. The device pushes records to the segment's queues (evq.h); here they are read. Called by
 * the shim (read, close) and by the handlers of CQs, QPs and SRQs.
 */
#include "hw/evtarget.h"
#include "segment/tap.h"
#include "check/check.h"
#include "uverbs/priv.h"
#include "wire/ib_event.h"

struct uv_event_file *uv_event_file_get(struct uv_event_file *e)
{
	if (e)
		atomic_fetch_add(&e->refs, 1);
	return e;
}

void uv_event_file_put(struct uv_event_file *e)
{
	struct uv_file *f;

	if (!e || atomic_fetch_sub(&e->refs, 1) != 1)
		return;
	f = e->obj.file;
	heap_free(e->obj.drv);
	heap_free(e);
	uv_file_put(f);
}

void uv_event_release(struct uv_event_file *e, bool last)
{
	struct uv_file *f = e->obj.file;

	/* With `last` the supervisor has closed the queue: later events find none. */
	pthread_mutex_lock(&f->lock);
	uv_list_del(&f->fds, &e->obj);
	pthread_mutex_unlock(&f->lock);
	if (last && e->obj.type->destroy)
		e->obj.type->destroy(&e->obj, UV_CLOSE);
	uv_event_file_put(e);
}

void uv_event_closed(struct uv_event_file *e)
{
	evq_kill(e->obj.file->seg, e->evq, e->gen);
}

struct uv_event_file *uv_async_file(struct uv_bundle *b, uint16_t attr)
{
	struct uv_object *o = uv_b_obj(b, attr);

	return uv_event_file_get(o ? (struct uv_event_file *)o : b->file->default_async);
}

void uv_async_made(struct uv_event_file *e)
{
	struct uv_file *f = e->obj.file;

	if (!f->default_async)
		f->default_async = uv_event_file_get(e);
}

void uv_target_set(const struct uv_target *t, const struct uv_event_file *e, uint64_t cookie)
{
	if (!t->at || !e)
		return;
	t->at->evq_gen = e->gen;
	t->at->cookie = cookie;
	atomic_store_explicit(&t->at->evq, e->evq, memory_order_release);
}

#define BAD_EVENTS                                                                             \
	(1u << IB_EVENT_CQ_ERR | 1u << IB_EVENT_QP_FATAL | 1u << IB_EVENT_QP_REQ_ERR |         \
	 1u << IB_EVENT_QP_ACCESS_ERR | 1u << IB_EVENT_PATH_MIG_ERR | 1u << IB_EVENT_SRQ_ERR | \
	 1u << IB_EVENT_WQ_FATAL)

/* These types of events of the object have not been read. */
static void check_unread(const struct seg *s, uint32_t evq, const struct uv_target *t,
			 uint32_t types)
{
	const struct seg_file *f = seg_file(s, evq);
	const char *kind = t->table == SEG_T_QP    ? "QP"
			   : t->table == SEG_T_CQ  ? "CQ"
			   : t->table == SEG_T_SRQ ? "SRQ"
						   : "object";
	const struct check_about a = {.kind = kind, .number = t->idx};

	if (f && f->kind == SEG_FILE_ASYNC && types & BAD_EVENTS)
		check_say(CHECK_R_EVENT, &a, "%s 0x%x ended, and its event %s was never read", kind,
			  t->idx, ib_event_name((uint32_t)__builtin_ctz(types & BAD_EVENTS)));
}

void uv_target_clear(struct seg *s, const struct uv_target *t, uint32_t *reported)
{
	uint32_t evq, unread;

	if (!t->at || t->busy)
		return;
	evq = atomic_exchange(&t->at->evq, SEG_NONE);
	if (evq != SEG_NONE) {
		unread = evq_purge(s, evq, t->at->evq_gen, t->table, t->idx);
		if (CHECK_ON() && unread)
			check_unread(s, evq, t, unread);
	}
	*reported = atomic_load(&t->at->reported);
}

void uv_target_gone(struct seg *s, const struct uv_target *t, const struct uv_event_file *e)
{
	if (t->at && e)
		evq_purge(s, e->evq, e->gen, t->table, t->idx);
}

/* ---- reading ---- */

/* A program reads a head, which depends on the kind of file, and the event's data (DEVX). */
union head {
	struct ib_uverbs_comp_event_desc comp;
	struct ib_uverbs_async_event_desc async;
	uint64_t cookie;
};

static size_t head_of(const struct uv_event_file *e, const struct seg_evrec *rec, union head *h)
{
	if (e->obj.type->fd_kind == SEG_FILE_ASYNC) {
		h->async = (struct ib_uverbs_async_event_desc){.element = rec->cookie,
							       .event_type = rec->type};
		return sizeof(h->async);
	}
	h->cookie = rec->cookie; /* also sets comp.cq_handle */
	return sizeof(h->cookie);
}

static ssize_t copy_event(struct uv_event_file *e, const struct seg_evrec *rec, void *buf)
{
	struct seg *s = e->obj.file->seg;
	const uint8_t *piece;
	union head h;
	size_t at = head_of(e, rec, &h);
	int r = uv_copy_to_user((uintptr_t)buf, &h, at);

	for (uint32_t i = rec->data, left = rec->len; !r && left;) {
		size_t n = left < EVQ_PIECE ? left : EVQ_PIECE;

		piece = evq_data(s, i, &i);
		r = piece ? uv_copy_to_user((uintptr_t)buf + at, piece, n) : -EIO;
		at += n;
		left -= (uint32_t)n;
	}
	evq_data_free(s, rec);
	return r ? r : (ssize_t)at;
}

static bool is_devx(const struct uv_event_file *e)
{
	return e->obj.type->fd_kind == SEG_FILE_DEVX_CMD ||
	       e->obj.type->fd_kind == SEG_FILE_DEVX_EVENT;
}

/* 0 and the oldest event, or the error of the kernel's read method. */
static int next_event(struct uv_event_file *e, int fd, size_t room, bool nonblock,
		      struct seg_evrec *rec)
{
	union head h;
	int r = evq_take(e->obj.file->seg, e->evq, e->gen, fd,
			 head_of(e, &(struct seg_evrec){0}, &h), room, rec);

	switch (r) {
	case -EMSGSIZE:
		return e->obj.type->fd_kind == SEG_FILE_DEVX_CMD ? -ENOSPC : -EINVAL;
	case -ENOENT:
		r = -EIO;
		/* fallthrough */
	case -EIO:
		/* DEVX files check this only after waiting. */
		return nonblock && is_devx(e) ? -EAGAIN : r;
	case -ETIMEDOUT:
		return nonblock ? -EAGAIN : r;
	default:
		return r;
	}
}

/* Trace an event as it is read; raising it is traced, too. */
static void trace_read(const struct uv_event_file *e, int fd, const struct seg_evrec *rec)
{
	struct rec r;

	rec_begin(&r, LOG_EVENT, "read", 0);
	rec_group(&r, "event", "(");
	rec_d(&r, "fd", fd);
	rec_s(&r, "file", e->obj.type->name);
	rec_x(&r, "cookie", rec->cookie);
	if (e->obj.type == &uv_type_async_event)
		rec_code(&r, "type", rec->type, ib_event_name(rec->type));
	else if (rec->type)
		rec_x(&r, "type", rec->type);
	if (rec->len)
		rec_u(&r, "len", rec->len);
	rec_group_end(&r, ")");
	rec_end(&r);
}

/* The thread is to wait for a completion event. Has it polled what it has armed? */
static void check_waits(void)
{
	struct check_armed a;
	unsigned int i = 0;
	uint32_t be;

	while (check_armed_next(&i, &a)) {
		const struct check_about about = {.kind = "CQ", .number = a.cqn};

		if (!mem_guarded_copy(&be, (const void *)(uintptr_t)a.record, sizeof(be)) &&
		    (__builtin_bswap32(be) & 0xffffff) == a.ci)
			check_say(CHECK_R_ARMED, &about,
				  "CQ 0x%x had completions when it was armed, and they were not "
				  "polled since: an event for them is luck",
				  a.cqn);
	}
}

static ssize_t event_read(struct uv_event_file *e, int fd, void *buf, size_t count, bool nonblock,
			  struct uv_event_wait *w)
{
	struct seg *s = e->obj.file->seg;
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, e->evq);
	struct seg_evrec rec;
	int r;

	tap_look(s);
	if (CHECK_ON() && e->obj.type->fd_kind == SEG_FILE_COMP)
		check_waits();
	if (!q)
		return -EIO;
	*w = (struct uv_event_wait){.q = q, .seen = atomic_load(&q->wake)};
	r = next_event(e, fd, count, nonblock, &rec);
	w->locked = r == -ETIMEDOUT;
	if (r)
		return r;
	if (TRACE_ON(LOG_EVENT))
		trace_read(e, fd, &rec);
	return copy_event(e, &rec, buf);
}

ssize_t uv_event_read(struct uv_event_file *e, int fd, void *buf, size_t count, bool nonblock,
		      struct uv_event_wait *w)
{
	ssize_t r;

	uv_event_file_get(e);
	r = event_read(e, fd, buf, count, nonblock, w);
	uv_event_file_put(e);
	return r;
}

ssize_t uv_event_read_passed(struct uv_system *sys, enum seg_file_kind kind, uint32_t file,
			     uint32_t gen, int fd, void *buf, size_t count, bool nonblock,
			     struct uv_event_wait *w)
{
	/*
	 * A descriptor from another process: reading it needs only this type of its maker's object.
	 */
	const struct uv_type type = {.name = "passed event file", .is_fd = true, .fd_kind = kind};
	struct uv_file f = {.sys = sys, .seg = sys->seg};
	struct uv_event_file e = {.obj = {.type = &type, .file = &f}, .evq = file, .gen = gen};

	return event_read(&e, fd, buf, count, nonblock, w);
}

/* ---- objects ---- */

const struct uv_type uv_type_comp_channel = {
	.name = "COMP_CHANNEL",
	.object_id = UVERBS_OBJECT_COMP_CHANNEL,
	.size = sizeof(struct uv_event_file),
	.is_fd = true,
	.fd_kind = SEG_FILE_COMP,
};

const struct uv_type uv_type_async_event = {
	.name = "ASYNC_EVENT",
	.object_id = UVERBS_OBJECT_ASYNC_EVENT,
	.size = sizeof(struct uv_event_file),
	.is_fd = true,
	.fd_kind = SEG_FILE_ASYNC,
};

int uv_cmd_create_comp_channel(struct uv_bundle *b)
{
	struct ib_uverbs_create_comp_channel cmd;
	struct ib_uverbs_create_comp_channel_resp resp = {0};
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = uv_new(b, &uv_type_comp_channel, &o);
	if (r)
		return r;
	resp.fd = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

static int async_event_alloc(struct uv_bundle *b)
{
	uv_async_made((struct uv_event_file *)uv_b_new(b, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE));
	return 0;
}

static const struct uv_attr_def async_alloc_attrs[] = {
	UV_ATTR_FD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, &uv_type_async_event, UV_NEW, true),
};
static const struct uv_method_def async_methods[] = {
	{UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ALLOC", async_alloc_attrs, 1, async_event_alloc, false},
};

const struct uv_object_def uv_def_async_event = {
	.id = UVERBS_OBJECT_ASYNC_EVENT,
	.name = "ASYNC_EVENT",
	.type = &uv_type_async_event,
	.methods = async_methods,
	.nmethods = ARRAY_SIZE(async_methods),
};

const struct uv_object_def uv_def_comp_channel = {
	.id = UVERBS_OBJECT_COMP_CHANNEL,
	.name = "COMP_CHANNEL",
	.type = &uv_type_comp_channel,
	.needs = offsetof(struct uv_driver, dealloc_pd),
};
