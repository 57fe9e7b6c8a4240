/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a program's side of /dev/infiniband/rdma_cm: follows the pointers of a command, sends it to
 * the supervisor, and waits for events. What commands mean is src/cma.
 */
#include "fault/fault.h"
#include "ucma/ucma.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include "hw/evq.h"
#include "segment/mem.h"
#include "segment/slot.h"
#include "ucma/trace.h"
#include "segment/tap.h"
#include "util/log.h"
#include "util/sys.h"

#define PAGE 4096ul

/* A call as it is sent to the supervisor: the three parts without gaps. */
struct request {
	struct ucma_call call;
	uint8_t bytes[UCMA_IN_MAX + UCMA_AUX_MAX];
};
static_assert(sizeof(struct request) <= LINK_MORE, "a request fits into a message");

/* Returns how many of `n` bytes at that address can be read. */
static uint32_t copy_readable(void *to, const uint8_t *from, size_t n)
{
	size_t done = 0;

	if (!mem_guarded_copy(to, from, n))
		return (uint32_t)n;
	/* Check page by page, because the command may lie at the end of a mapping. */
	while (done < n) {
		size_t k = PAGE - ((uintptr_t)from + done) % PAGE;

		if (k > n - done)
			k = n - done;
		if (mem_guarded_copy((uint8_t *)to + done, from + done, k))
			break;
		done += k;
	}
	return (uint32_t)done;
}

/* Copies a command's header and struct as far as they can be read. Returns the length. */
static uint32_t copy_command(uint8_t *to, const uint8_t *from)
{
	uint32_t n = copy_readable(to, from, sizeof(struct rdma_ucm_cmd_hdr));
	const struct ucma_row *row = ucma_row_of(to, n);

	return row ? n + copy_readable(to + n, from + n, row->in) : n;
}

/* Tests whether memory is writable without changing it: it stores the value that is there. */
static bool is_writable(uint64_t addr, size_t n)
{
	for (uint64_t at = addr & ~3ul; at < addr + n; at = (at & ~(PAGE - 1)) + PAGE) {
		uint64_t old = 0;

		if (mem_guarded_cas((void *)(uintptr_t)at, 4, &old, old))
			return false;
	}
	return true;
}

static uint64_t u64_at(const struct request *q, size_t off)
{
	uint64_t v = 0;

	off += sizeof(struct rdma_ucm_cmd_hdr);
	if (off + sizeof(v) <= q->call.len)
		memcpy(&v, q->bytes + off, sizeof(v));
	return v;
}

static uint32_t u32_at(const struct request *q, size_t off)
{
	uint32_t v = 0;

	off += sizeof(struct rdma_ucm_cmd_hdr);
	if (off + sizeof(v) <= q->call.len)
		memcpy(&v, q->bytes + off, sizeof(v));
	return v;
}

/* Adds what the struct of a command only refers to: an option's value, or another file. */
static void add_aux(struct request *q, uint32_t cmd, void (*fd_of)(int fd, struct ucma_fd *out))
{
	uint8_t *aux = q->bytes + q->call.len;
	struct ucma_fd fd = {0};
	uint32_t n;

	if (cmd == RDMA_USER_CM_CMD_SET_OPTION) {
		n = u32_at(q, offsetof(struct rdma_ucm_set_option, optlen));
		if (n > UCMA_AUX_MAX)
			n = UCMA_AUX_MAX;
		if (mem_guarded_copy(aux,
				     (void *)(uintptr_t)u64_at(
					     q, offsetof(struct rdma_ucm_set_option, optval)),
				     n))
			q->call.aux_err = -EFAULT;
		else
			q->call.aux_len = n;
	} else if (cmd == RDMA_USER_CM_CMD_MIGRATE_ID) {
		fd_of((int)u32_at(q, offsetof(struct rdma_ucm_migrate_id, fd)), &fd);
		memcpy(aux, &fd, sizeof(fd));
		q->call.aux_len = sizeof(fd);
	}
}

/*
 * The response's address; 0: the command has none. It is checked first, because the kernel undoes a
 * command whose response it cannot copy.
 */
static uint64_t response_of(struct request *q)
{
	const struct ucma_row *row = ucma_row_of(q->bytes, q->call.len);
	const struct rdma_ucm_cmd_hdr *h = (const void *)q->bytes;
	uint32_t n;
	uint64_t at;

	if (!row || !row->out)
		return 0;
	at = u64_at(q, row->response);
	n = row->check == UCMA_CHECK_WHOLE || h->out > row->out ? row->out : h->out;
	if (row->check != UCMA_CHECK_LATE)
		q->call.no_response = !is_writable(at, n);
	return at;
}

/* ---- write(2) without the supervisor */

/* The row of a command that was read completely and has a frame that ucma_write() accepts. */
static const struct ucma_row *row_of_whole(const struct request *q)
{
	const struct ucma_row *row = ucma_row_of(q->bytes, q->call.len);
	const struct rdma_ucm_cmd_hdr *h = (const void *)q->bytes;

	if (!row || q->call.len != sizeof(*h) + row->in || h->in + sizeof(*h) > q->call.count)
		return NULL;
	return row;
}

static struct ucma_whose whose(const struct ucma_file *f, uint32_t id)
{
	const struct seg_slot *t = seg_at(f->s, SEG_T_SLOT, f->s->self);

	return (struct ucma_whose){f->file, f->gen, id,
				   atomic_load(&t->changes[id % SLOT_CHANGES])};
}

/* Length of the answer if it came with an event; 0: ask the supervisor. */
static size_t known(const struct ucma_file *f, const struct request *q, void *out, size_t room)
{
	const struct ucma_row *row = row_of_whole(q);
	const struct rdma_ucm_cmd_hdr *h = (const void *)q->bytes;

	if (!row || !row->key)
		return 0;
	return ucma_ahead_get(f->ahead, whose(f, u32_at(q, row->id)), h->cmd, u32_at(q, row->key),
			      out, h->out < room ? h->out : room);
}

/* A GET_EVENT whose response has space for a whole event. */
static bool wants_event(const struct request *req)
{
	const struct ucma_row *row = row_of_whole(req);
	const struct rdma_ucm_cmd_hdr *h = (const void *)req->bytes;

	return row && h->cmd == RDMA_USER_CM_CMD_GET_EVENT && h->out >= row->out &&
	       !req->call.no_response;
}

static size_t copy_data(struct seg *s, const struct seg_evrec *rec, uint8_t *to)
{
	uint32_t at = rec->data;
	size_t done = 0;

	while (done < rec->len) {
		size_t n = rec->len - done < EVQ_PIECE ? rec->len - done : EVQ_PIECE;
		const uint8_t *d = evq_data(s, at, &at);

		if (!d)
			break;
		memcpy(to + done, d, n);
		done += n;
	}
	return done;
}

/*
 * Takes the oldest event. 0: `out` has *n bytes; -EAGAIN; -ETIMEDOUT: call evq_wait(); any other
 * error: ask the supervisor.
 */
static int take_event(const struct ucma_file *f, const struct seg_evq *q, void *out, size_t *n)
{
	struct {
		struct ucma_event event;
		uint8_t ahead[UCMA_AHEAD_MAX];
	} u;
	struct ucma_whose w = {.file = f->file, .gen = f->gen};
	struct seg_evrec rec;
	size_t len;
	int r;

	if (!evq_ready(f->s, q))
		return -EAGAIN;
	r = evq_take(f->s, f->file, f->gen, f->fd, 0, sizeof(u), &rec);
	if (r)
		return r;
	len = copy_data(f->s, &rec, (uint8_t *)&u);
	evq_data_free(f->s, &rec);
	if (len < sizeof(u.event))
		return -EIO;
	*n = sizeof(u.event.resp);
	memcpy(out, &u.event.resp, *n);
	w.id = u.event.resp.id;
	w.changes = u.event.changes;
	ucma_ahead_put(f->ahead, w, u.ahead, len - sizeof(u.event));
	return 0;
}

/* ---- write(2) */

/* The supervisor's answer. */
static int ask(const struct ucma_file *f, const struct request *q, void *out, size_t *n)
{
	struct link_msg m = {.op = LINK_RDMA_CM, .file = f->file, .gen = f->gen};
	size_t room = *n;
	int r = link_ask_more(f->link, &m, q, sizeof(q->call) + q->call.len + q->call.aux_len, out,
			      &room);

	*n = m.arg <= room ? m.arg : 0;
	return r;
}

/* Fills in a request but for the memory that it points to. Returns the response's address. */
static uint64_t fill(struct request *q, uint32_t file, const void *buf, size_t count)
{
	q->call = (struct ucma_call){.file = file,
				     .count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count};
	q->call.len = copy_command(q->bytes, buf);
	return response_of(q);
}

/* The result of write(2): `n` bytes of `out` are for the response. */
static ssize_t end(const struct request *q, size_t count, uint64_t at, int r, const void *out,
		   size_t n)
{
	if (TRACE_ON(LOG_CM))
		ucma_trace(q->bytes, q->call.len, r, out, n);
	/*
	 * The copy may fail: this command's response was not checked before, or the memory was
	 * unmapped since.
	 */
	if (n && mem_guarded_copy((void *)(uintptr_t)at, out, n))
		return -EFAULT;
	return r ? r : (ssize_t)count;
}

static bool nonblocking(const struct ucma_file *f)
{
	int flags = sys_fcntl(f->fd, F_GETFL, 0);

	return flags >= 0 && (flags & O_NONBLOCK);
}

/* The error that a rule of --inject gives this command. */
static int injected(struct seg *s, const struct request *q)
{
	const struct ucma_row *row = fault_waits(s, HW_AT_CM_CALL) ? row_of_whole(q) : NULL;

	return row ? fault_call(s, HW_AT_CM_CALL, row->name, SEG_NONE) : 0;
}

enum ucma_next ucma_try(const struct ucma_file *f, const void *buf, size_t count, ssize_t *ret,
			struct ucma_wait *w)
{
	struct seg_evq *q = seg_live(f->s, SEG_T_EVQ, f->file);
	uint8_t out[UCMA_OUT_MAX];
	struct request req;
	uint64_t at;
	size_t n;
	int r = 0;

	tap_look(f->s);
	*ret = -EIO;
	if (!q)
		return UCMA_DONE;
	*w = (struct ucma_wait){.q = q, .seen = atomic_load(&q->wake)};
	at = fill(&req, f->file, buf, count);
	r = injected(f->s, &req);
	if (r) {
		*ret = end(&req, count, at, r, out, 0);
		return UCMA_DONE;
	}
	n = known(f, &req, out, sizeof(out));
	if (!n) {
		if (!wants_event(&req))
			return UCMA_ASK;
		r = take_event(f, q, out, &n);
		w->locked = r == -ETIMEDOUT;
		if (r && r != -EAGAIN && r != -ETIMEDOUT)
			return UCMA_ASK;
		if (r && !nonblocking(f))
			return UCMA_WAIT;
	}
	*ret = end(&req, count, at, r ? -EAGAIN : 0, out, n);
	return UCMA_DONE;
}

enum ucma_next ucma_ask(const struct ucma_file *f, const void *buf, size_t count,
			void (*fd_of)(int fd, struct ucma_fd *out), ssize_t *ret)
{
	uint8_t out[UCMA_OUT_MAX];
	size_t n = sizeof(out);
	struct request req;
	uint64_t at = fill(&req, f->file, buf, count);
	uint32_t cmd;
	int r;

	if (req.call.len >= sizeof(struct rdma_ucm_cmd_hdr)) {
		memcpy(&cmd, req.bytes, sizeof(cmd));
		add_aux(&req, cmd, fd_of);
	}
	r = ask(f, &req, out, &n);
	/* Only GET_EVENT waits. */
	if (r == -EAGAIN && !nonblocking(f))
		return UCMA_WAIT;
	*ret = end(&req, count, at, r, out, n);
	return UCMA_DONE;
}

void ucma_lost(struct seg *s)
{
	seg_for_each_live (s, SEG_T_FILE, i) {
		const struct seg_file *f = seg_file(s, i);
		const struct seg_evq *q = seg_live(s, SEG_T_EVQ, i);

		if (f && q && f->kind == SEG_FILE_RDMA_CM && f->opener == s->self &&
		    f->gen == q->gen && !atomic_load(&q->dead))
			evq_kill(s, i, q->gen);
	}
}
