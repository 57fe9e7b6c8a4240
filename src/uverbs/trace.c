/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One call of uverbs as a trace line: each attribute of the call, with the name in the method's row
 * and the members of its structure; the output; the result; for a refusal the rule. Called by
 * ioctl.c, write.c and bundle.c when the topic is on.
 *
 * Structures are found by name (structs.h), which the rows of attributes and write commands
 * contain. Names of driver data begin with DRIVER_ib_.
 */
#include <endian.h>
#include <stdarg.h>
#include "uverbs/priv.h"
#include "hw/told.h"
#include "hw/use.h"
#include "util/tls.h"
#include "uverbs/structs.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/sys.h"

static TLS_IE const char *thread_rule; /* uv_no() */
static TLS_IE char thread_text[UV_RULE_TEXT];

#define COPY_MAX 512u /* limit for bytes that the call itself did not read */

/* Tables may name their rows by the constants; a trace line has no space for the prefixes. */
const char *uv_short_name(const char *name)
{
	static const char *const prefix[] = {"ATTR_", "METHOD_", "OBJECT_"};

	for (size_t i = 0; i < ARRAY_SIZE(prefix); i++) {
		const char *p = strstr(name, prefix[i]);

		if (p)
			return p + strlen(prefix[i]);
	}
	return name;
}

/* ---- structures */

static const struct uv_struct *trace_struct_find(const char *name)
{
	unsigned int low = 0, high = uv_nstructs;

	if (!strncmp(name, "struct ", 7))
		name += 7;
	while (low < high) {
		unsigned int mid = (low + high) / 2;
		int c = strcmp(name, uv_names + uv_structs[mid].name);

		if (!c)
			return &uv_structs[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static bool trace_all_zero(const uint8_t *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

static uint64_t scalar(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

static bool is_scalar(size_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static void rec_struct(struct uv_bundle *b, const char *name, const struct uv_struct *s,
		       const uint8_t *p, size_t len, unsigned int depth);
static void rec_handle(struct uv_bundle *b, const char *name, uint32_t handle);

/* Is the name that of a handle: "pd_handle"? A program's own is "user_handle". */
static bool is_handle(const char *name)
{
	const char *end = strstr(name, "_handle");

	return end && !end[7] && strcmp(name, "user_handle") != 0;
}

static void rec_member(struct uv_bundle *b, const struct uv_member *m, const uint8_t *p,
		       unsigned int depth)
{
	struct rec *r = b->trace;
	const char *name = uv_names + m->name;

	if (m->size == 4 && !m->be && r->options & LOG_OBJECTS && is_handle(name))
		rec_handle(b, name, (uint32_t)scalar(p, 4));
	else if (m->sub >= 0 && m->elem == m->size && depth < 6)
		rec_struct(b, name, &uv_structs[m->sub], p, m->size, depth + 1);
	else if (m->elem == m->size && is_scalar(m->size))
		rec_x(r, name,
		      m->be ? be64toh(scalar(p, m->size)) >> (64 - 8 * m->size)
			    : scalar(p, m->size));
	else
		rec_bytes(r, name, p, m->size);
}

/* Leaves out members that are zero, and those that the program did not pass. */
static void rec_struct(struct uv_bundle *b, const char *name, const struct uv_struct *s,
		       const uint8_t *p, size_t len, unsigned int depth)
{
	struct rec *r = b->trace;

	rec_group(r, name, "{");
	for (unsigned int i = 0; i < s->n; i++) {
		const struct uv_member *m = &uv_members[s->first + i];

		if (m->offset + m->size <= len && !trace_all_zero(p + m->offset, m->size))
			rec_member(b, m, p + m->offset, depth);
	}
	if (len > s->size && !trace_all_zero(p + s->size, len - s->size))
		rec_bytes(r, "rest", p + s->size, len - s->size);
	rec_group_end(r, "}");
}

static void rec_typed(struct uv_bundle *b, const char *name, const char *type, const void *p,
		      size_t len)
{
	struct rec *r = b->trace;
	const struct uv_struct *s = type ? trace_struct_find(type) : NULL;

	if (s)
		rec_struct(b, name, s, p, len, 0);
	else if (is_scalar(len))
		rec_x(r, name, scalar(p, len));
	else
		rec_bytes(r, name, p, len);
}

/* ---- the driver's structures */

static void rec_driver(struct uv_bundle *b, const char *name, const char *type, const void *p,
		       size_t len)
{
	char full[64];

	if (type)
		fmt(full, sizeof(full), "%s_ib_%s", b->file->api->driver->name, type);
	rec_typed(b, name, type ? full : NULL, p, len);
}

/* Results that need no rule of their own. */
static const char *rule_of(int result)
{
	switch (result) {
	case -EREMOTEIO:
		return "the firmware refused the command, see its status and syndrome";
	case -EFAULT:
		return "an address is not mapped, or not writable";
	case -ENOMEM:
		return "there is no memory, or no further object";
	case -EIO:
		return "the device is gone, or the file is";
	default:
		return NULL;
	}
}

/* ---- objects by name (LOG_OBJECTS) */

size_t uv_object_name(const struct uv_object *o, char *text, size_t size)
{
	size_t n = fmt(text, size, "%s", o->type->kind ? o->type->kind(o) : o->type->name);

	if (o->type->number)
		n += fmt(text + n, size - n, " 0x%x",
			 *(const uint32_t *)((const uint8_t *)o + o->type->number));
	return n;
}

/* "QP 0x51 of mlx5_0" */
static void rec_handle(struct uv_bundle *b, const char *name, uint32_t handle)
{
	const struct uv_handles *h = &b->file->handles;
	const struct uv_object *o = handle < h->cap ? h->slot[handle] : NULL;
	char text[96];
	size_t n;

	rec_u(b->trace, name, handle);
	if (!o || !(b->trace->options & LOG_OBJECTS))
		return;
	n = uv_object_name(o, text, sizeof(text));
	fmt(text + n, sizeof(text) - n, " of %s", b->file->device.name);
	rec_object(b->trace, name, text);
}

/* Shows the kind of an event file, or the path of any other file. */
static void rec_fd(struct uv_bundle *b, const char *name, const struct uv_attr_def *d, int fd)
{
	char path[40], text[256];
	long n;

	rec_d(b->trace, name, fd);
	if (!(b->trace->options & LOG_OBJECTS))
		return;
	if (d->type) {
		fmt(text, sizeof(text), "%s of %s", d->type->name, b->file->device.name);
		rec_object(b->trace, name, text);
		return;
	}
	fmt(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	n = sys_call(SYS_readlink, path, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	text[n] = '\0';
	rec_object(b->trace, name, text);
}

void uv_trace_file(struct rec *r, const struct uv_file *f)
{
	char path[48];

	if (!(r->options & LOG_OBJECTS))
		return;
	fmt(path, sizeof(path), "/dev/infiniband/uverbs%u", f->device.index);
	rec_s(r, "file", path);
}

/* ---- the parts of the line */

void uv_trace_begin(struct uv_bundle *b, struct rec *r, const char *what, uint64_t since)
{
	rec_begin(r, LOG_UVERBS, what, since);
	rec_group(r, "in", "(");
	uv_trace_file(r, b->file);
	b->trace = r;
	b->trace_out = false;
}

/* An attribute of the call; for one that was refused only the length is known. */
static void trace_attr_in(struct uv_bundle *b, const struct ib_uverbs_attr *u,
			  const struct uv_attr_def *d, const struct uv_attr *a)
{
	const char *name = uv_short_name(d->name), *type = d->type_name;
	uint8_t copy[COPY_MAX];
	char buf[64];
	const void *p = &u->data;
	size_t len = u->len;

	switch (d->kind) {
	case UV_A_IDR:
		if (d->access != UV_NEW)
			rec_handle(b, name, (uint32_t)u->data);
		return; /* a new handle is an output */
	case UV_A_FD:
	case UV_A_RAW_FD:
		if (d->access != UV_NEW || d->kind == UV_A_RAW_FD)
			rec_fd(b, name, d, (int32_t)u->data_s64);
		return;
	case UV_A_PTR_OUT:
		if (b->trace->json) {
			rec_group(b->trace, name, "{");
			rec_u(b->trace, "room", len);
			rec_group_end(b->trace, "}");
		} else {
			fmt(buf, sizeof(buf), "&%zu", len);
			rec_s(b->trace, name, buf);
		}
		return;
	case UV_A_ENUM_IN:
		type = NULL;
		if (u->attr_data.enum_data.elem_id < d->allowed)
			type = d->elems[u->attr_data.enum_data.elem_id].type_name;
		break;
	default:
		break;
	}
	if (len > sizeof(u->data)) {
		p = a && a->copy ? a->copy : copy;
		if (p == copy) {
			len = len < sizeof(copy) ? len : sizeof(copy);
			if (uv_copy_from_user(copy, u->data, len)) {
				rec_x(b->trace, name, u->data);
				return;
			}
		}
	}
	if (d->id == UVERBS_ATTR_CORE_IN && b->cmd)
		type = b->cmd->req_type;
	if (d->is_udata)
		rec_driver(b, name, b->cmd ? b->cmd->driver_in : type, p, len);
	else if (d->show && len >= d->min_len)
		d->show(b->trace, name, p, len);
	else
		rec_typed(b, name, type, p, len);
}

void uv_trace_attrs(struct uv_bundle *b)
{
	char name[24];

	if (b->trace_attrs || !b->uattrs)
		return;
	b->trace_attrs = true;
	for (unsigned int i = 0; i < b->nuattrs; i++) {
		const struct ib_uverbs_attr *u = &b->uattrs[i];
		int key = uv_key(u->attr_id);
		int slot = key < 0 ? -1 : b->method->slot[key];

		if (slot >= 0) {
			const struct uv_attr *a = &b->attrs[slot];

			trace_attr_in(b, u, b->method->attrs[slot],
				      a->def && a->index == i ? a : NULL);
			continue;
		}
		fmt(name, sizeof(name), "attr_0x%x", u->attr_id);
		rec_s(b->trace, name, "unknown");
	}
}

void uv_trace_command(struct uv_bundle *b)
{
	rec_about(b->trace, uv_cmd_name(b));
	rec_s(b->trace, "command", uv_cmd_name(b));
}

/*
 * A write command's own structure. `p` has `len` bytes, zero after those that the program passed.
 */
void uv_trace_request(struct uv_bundle *b, const void *p, size_t len)
{
	if (b->method)
		return; /* CORE_IN is shown as an attribute */
	rec_typed(b, "request", b->cmd->req_type, p, len);
	if (b->udata.inlen)
		rec_driver(b, "driver", b->cmd->driver_in, b->udata.in, b->udata.inlen);
}

static void trace_begin_out(struct uv_bundle *b)
{
	if (b->trace_out)
		return;
	if (b->method)
		uv_trace_attrs(b);
	b->trace_out = true;
	rec_group_end(b->trace, ")");
	rec_group(b->trace, "out", " -> ");
}

void uv_trace_out(struct uv_bundle *b, const struct uv_attr *a, const void *p, size_t len)
{
	const char *name = uv_short_name(a->def->name);

	trace_begin_out(b);
	len = len < a->len ? len : a->len;
	if (a->def->show && len >= a->def->min_len)
		a->def->show(b->trace, name, p, len);
	else if (a->def->id == UVERBS_ATTR_CORE_OUT && b->cmd)
		rec_typed(b, name, b->cmd->resp_type, p, len);
	else
		rec_typed(b, name, a->def->type_name, p, len);
}

void uv_trace_response(struct uv_bundle *b, const void *p, size_t len)
{
	trace_begin_out(b);
	rec_typed(b, "response", b->cmd->resp_type, p, len);
}

void uv_trace_driver_out(struct uv_bundle *b, const void *p, size_t len)
{
	const struct uv_attr *a = b->cmd ? NULL : uv_b_attr(b, UVERBS_ATTR_UHW_OUT);

	trace_begin_out(b);
	rec_driver(b, "UHW_OUT",
		   b->cmd ? b->cmd->driver_out
		   : a    ? a->def->type_name
			  : NULL,
		   p, len);
}

/* New handles are shown even if the call fails, because the program gets them. */
static void trace_new_handles(struct uv_bundle *b)
{
	for (unsigned int i = 0; b->attrs && i < b->method->nattrs; i++) {
		const struct uv_attr *a = &b->attrs[i];

		if (a->def && a->def->access == UV_NEW && b->trace_new &&
		    (a->def->kind == UV_A_IDR || a->def->kind == UV_A_FD)) {
			trace_begin_out(b);
			if (a->def->kind == UV_A_IDR)
				rec_handle(b, uv_short_name(a->def->name), b->trace_new - 1);
			else
				rec_fd(b, uv_short_name(a->def->name), a->def,
				       (int)(b->trace_new - 1));
		}
	}
}

static void rec_why(struct rec *r, const struct uv_why *w)
{
	char text[96] = "";

	rec_group(r, "refused", "");
	if (w->kind == UV_WHY_ID) {
		fmt(text, sizeof(text), "attribute 0x%x is %s", (unsigned int)w->value, w->rule);
		rec_say(r, "rule", ": ", text);
		rec_group_end(r, "");
		return;
	}
	if (w->attr)
		rec_say(r, "attribute", ": ", uv_short_name(w->attr));
	rec_say(r, "rule", ": ", w->rule);
	if (w->kind == UV_WHY_BITS)
		fmt(text, sizeof(text), "bits 0x%llx", (unsigned long long)w->high);
	else if (w->kind == UV_WHY_RANGE && w->low == w->high)
		fmt(text, sizeof(text), "%llu", (unsigned long long)w->low);
	else if (w->kind == UV_WHY_RANGE)
		fmt(text, sizeof(text), "%llu to %llu", (unsigned long long)w->low,
		    (unsigned long long)w->high);
	if (text[0]) {
		char value[32];

		if (r->json)
			rec_x(r, "value", w->value);
		else
			rec_say(r, "", " = ",
				(fmt(value, sizeof(value),
				     w->kind == UV_WHY_BITS ? "0x%llx" : "%llu",
				     (unsigned long long)w->value),
				 value));
		rec_say(r, "allowed", "; allowed: ", text);
	}
	rec_group_end(r, "");
}

static void note_rule(struct uv_bundle *b, int result)
{
	uv_why(b, 0, thread_rule && result != -EREMOTEIO ? thread_rule : rule_of(result));
}

/*
 * Does the caller expect this answer? ibv_cmd_query_device_any() of libibverbs asks with the
 * structure that its caller has, which may have no room for the driver's part. Programs that look
 * for a GID ask for each entry (UCX, libfabric), and some are empty.
 */
static bool is_probe(const struct uv_bundle *b, int result)
{
	if (result == -ENODATA)
		return b->method && strstr(b->method->def->name, "QUERY_GID_ENTRY");
	return result == -ENOSPC && b->cmd && strstr(b->cmd->name, "QUERY_DEVICE");
}

/* "CREATE_SRQ", or as in a trace "QP.CREATE". */
static void put_call(const struct uv_bundle *b, char *text, size_t size)
{
	if (b->cmd)
		fmt(text, size, "%s", uv_cmd_name(b));
	else if (b->method)
		fmt(text, size, "%s.%s", uv_short_name(b->method->object_name),
		    uv_short_name(b->method->def->name));
	else
		fmt(text, size, "write()");
}

void uv_tell(struct uv_bundle *b, int result)
{
	char text[HW_TOLD_TEXT], why[UV_RULE_TEXT] = "", call[96];
	const struct uv_why *w = &b->why;
	struct hw_use *u = hw_use(b->file->seg, b->file->hca);

	if (!result || result == -EREMOTEIO || is_probe(b, result))
		return;
	note_rule(b, result);
	if (!w->rule)
		return;
	if (u)
		atomic_fetch_add_explicit(&u->calls_refused, 1, memory_order_relaxed);
	if (w->rule == uv_rule_firmware) /* it has told what it refuses, with values */
		return;
	if (w->kind == UV_WHY_BITS)
		fmt(why, sizeof(why), " = 0x%llx; allowed: bits 0x%llx",
		    (unsigned long long)w->value, (unsigned long long)w->high);
	else if (w->kind == UV_WHY_RANGE)
		fmt(why, sizeof(why), " = %llu; allowed: %llu to %llu",
		    (unsigned long long)w->value, (unsigned long long)w->low,
		    (unsigned long long)w->high);
	put_call(b, call, sizeof(call));
	fmt(text, sizeof(text), "%s of %s: %s: %s%s%s%s", call, b->file->device.name,
	    log_errno_name(-result), w->attr ? uv_short_name(w->attr) : "", w->attr ? ": " : "",
	    w->rule, why);
	hw_tell_words(b->file->seg, b->file->hca, HW_TOLD_REFUSED, text);
}

void uv_trace_end(struct uv_bundle *b, int result)
{
	struct rec *r = b->trace;

	if (b->method) {
		uv_trace_attrs(b);
		trace_new_handles(b);
	}
	rec_group_end(r, b->trace_out ? "" : ")");
	r->failed = result != 0 && !is_probe(b, result);
	if (result)
		note_rule(b, result);
	rec_say(r, "result", " = ", result ? log_errno_name(-result) : "0");
	if (result && b->why.rule)
		rec_why(r, &b->why);
	rec_end(r);
	b->trace = NULL;
}

void uv_trace_result(struct rec *r, int result)
{
	const char *rule = thread_rule ? thread_rule : rule_of(result);

	r->failed = result != 0;
	rec_say(r, "result", " = ", result ? log_errno_name(-result) : "0");
	if (result && rule)
		rec_why(r, &(struct uv_why){.rule = rule});
}

int uv_refuse_frame(const char *what, const struct ib_uverbs_ioctl_hdr *h, size_t len, int err,
		    const char *rule)
{
	struct rec r;

	if (!TRACE_ON(LOG_UVERBS))
		return err;
	rec_begin(&r, LOG_UVERBS, what, 0);
	rec_group(&r, "in", "(");
	rec_u(&r, "length", len);
	if (h) {
		rec_x(&r, "object", h->object_id);
		rec_x(&r, "method", h->method_id);
		rec_u(&r, "num_attrs", h->num_attrs);
	}
	rec_group_end(&r, ")");
	uv_why_init();
	uv_no(err, rule);
	uv_trace_result(&r, err);
	rec_end(&r);
	return err;
}

void uv_b_trace(struct uv_bundle *b, const char *f, ...)
{
	char text[512]; /* the names of every bit of a mask, too */
	va_list ap;

	va_start(ap, f);
	fmt_v(text, sizeof(text), f, ap);
	va_end(ap);
	rec_s(b->trace, "note", text);
}

/* ---- why a call was refused: noted even without a trace, as it takes two stores */

const char uv_rule_firmware[] = "the firmware refused the driver's command, see its line";

int uv_why(struct uv_bundle *b, int err, const char *rule)
{
	if (!b->why.rule)
		b->why.rule = rule;
	return err;
}

int uv_no(int err, const char *rule)
{
	if (!thread_rule)
		thread_rule = rule;
	return err;
}

int uv_no_text(int err, const char *text)
{
	if (!thread_rule)
		fmt(thread_text, sizeof(thread_text), "%s", text);
	return uv_no(err, thread_text);
}

void uv_why_init(void)
{
	thread_rule = NULL;
}

int uv_why_attr(struct uv_bundle *b, int err, const char *attr, const char *rule)
{
	if (!b->why.rule) {
		b->why.attr = attr;
		b->why.rule = rule;
	}
	return err;
}

int uv_why_range(struct uv_bundle *b, int err, const char *attr, const char *rule, uint64_t value,
		 uint64_t low, uint64_t high)
{
	if (!b->why.rule)
		b->why = (struct uv_why){attr, rule, UV_WHY_RANGE, value, low, high};
	return err;
}

int uv_why_id(struct uv_bundle *b, int err, uint16_t attr)
{
	if (!b->why.rule)
		b->why = (struct uv_why){
			NULL, "unknown, and the program insists on it", UV_WHY_ID, attr, 0, 0};
	return err;
}

int uv_why_bits(struct uv_bundle *b, int err, const char *attr, uint64_t value, uint64_t allowed)
{
	if (!b->why.rule)
		b->why = (struct uv_why){attr, "unknown bits", UV_WHY_BITS, value, 0, allowed};
	return err;
}
