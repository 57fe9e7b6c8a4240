/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a program's side of /dev/infiniband/rdma_cm: follows the pointers of a command, sends it to
 * the supervisor, and waits for events. What commands mean is src/cma.
 */
#include "ucma/ucma.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include "hw/evq.h"
#include "segment/mem.h"
#include "ucma/trace.h"
#include "util/log.h"

#define PAGE 4096ul

/* A call as it travels: the three parts lie behind each other. */
struct request {
	struct ucma_call call;
	uint8_t bytes[UCMA_IN_MAX + UCMA_AUX_MAX];
};
static_assert(sizeof(struct request) <= LINK_MORE, "a request fits into a message");

/* So many bytes can be read there, `n` at most. */
static uint32_t copy_readable(void *to, const uint8_t *from, size_t n)
{
	size_t done = 0;

	if (!mem_guarded_copy(to, from, n))
		return (uint32_t)n;
	/* The command may lie at the end of a mapping: page by page. */
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

/* Its header and its struct, as far as they can be read. */
static uint32_t copy_command(uint8_t *to, const uint8_t *from)
{
	uint32_t n = copy_readable(to, from, sizeof(struct rdma_ucm_cmd_hdr));
	const struct ucma_row *row = ucma_row_of(to, n);

	return row ? n + copy_readable(to + n, from + n, row->in) : n;
}

/* Changes nothing: what is compared with is stored again. */
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

/* What a command names beside its struct: an option's value, or another file. */
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

/* The response's address; 0: the command has none. The kernel undoes what it cannot answer. */
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

/* ---- without the supervisor */

/* The row of a command that is there as a whole, and whose frame ucma_write() takes. */
static const struct ucma_row *row_of_whole(const struct request *q)
{
	const struct ucma_row *row = ucma_row_of(q->bytes, q->call.len);
	const struct rdma_ucm_cmd_hdr *h = (const void *)q->bytes;

	if (!row || q->call.len != sizeof(*h) + row->in || h->in + sizeof(*h) > q->call.count)
		return NULL;
	return row;
}

/* Bytes of its answer when that came ahead; 0: ask. */
static size_t known(const struct ucma_file *f, const struct request *q, void *out, size_t room)
{
	const struct ucma_row *row = row_of_whole(q);
	const struct rdma_ucm_cmd_hdr *h = (const void *)q->bytes;

	if (!row || !row->key)
		return 0;
	return ucma_ahead_get(f->ahead, (struct ucma_whose){f->file, f->gen, u32_at(q, row->id)},
			      h->cmd, u32_at(q, row->key), out, h->out < room ? h->out : room);
}

/* GET_EVENT would find no event: the queue has a record for each. */
static bool must_wait(const struct ucma_file *f, const struct seg_evq *q, const struct request *req)
{
	const struct ucma_row *row = row_of_whole(req);
	const struct rdma_ucm_cmd_hdr *h = (const void *)req->bytes;

	return row && h->cmd == RDMA_USER_CM_CMD_GET_EVENT && h->out >= row->out &&
	       !evq_ready(f->s, q);
}

/* ---- write(2) */

/* The supervisor's answer. Behind an event's come others (struct ucma_answer), which are kept. */
static int ask(const struct ucma_file *f, const struct request *q, void *out, size_t *n)
{
	struct link_msg m = {.op = LINK_RDMA_CM, .file = f->file, .gen = f->gen};
	const struct ucma_row *row = ucma_row_of(q->bytes, q->call.len);
	bool changes = row && row->id != UCMA_NO_ID && row->check != UCMA_CHECK_LATE;
	uint32_t id = changes ? u32_at(q, row->id) : 0, turn = ucma_ahead_turn(f->ahead);
	uint8_t in[UCMA_OUT_MAX + UCMA_AHEAD_MAX];
	size_t len = sizeof(in);
	int r;

	if (changes)
		ucma_ahead_drop(f->ahead, id);
	r = link_ask_more(f->link, &m, q, sizeof(q->call) + q->call.len + q->call.aux_len, in,
			  &len);
	if (changes)
		ucma_ahead_drop(f->ahead, id);
	*n = m.arg <= len && m.arg <= *n ? m.arg : 0;
	memcpy(out, in, *n);
	if (!r && row == &ucma_rows[RDMA_USER_CM_CMD_GET_EVENT] &&
	    *n >= offsetof(struct rdma_ucm_event_resp, event)) {
		memcpy(&id, in + offsetof(struct rdma_ucm_event_resp, id), sizeof(id));
		ucma_ahead_put(f->ahead, (struct ucma_whose){f->file, f->gen, id}, turn, in + *n,
			       len - *n);
	}
	return r;
}

/* The request of a write(2), and the address of its response. */
static uint64_t fill(struct request *q, uint32_t file, const void *buf, size_t count,
		     void (*fd_of)(int fd, struct ucma_fd *out))
{
	uint32_t cmd;

	q->call = (struct ucma_call){.file = file,
				     .count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count};
	q->call.len = copy_command(q->bytes, buf);
	if (q->call.len >= sizeof(struct rdma_ucm_cmd_hdr)) {
		memcpy(&cmd, q->bytes, sizeof(cmd));
		add_aux(q, cmd, fd_of);
	}
	return response_of(q);
}

ssize_t ucma_write(const struct ucma_file *f, const void *buf, size_t count, bool nonblock,
		   const void *sigmask, void (*fd_of)(int fd, struct ucma_fd *out))
{
	struct seg_evq *q = seg_live(f->s, SEG_T_EVQ, f->file);
	uint8_t out[UCMA_OUT_MAX];
	struct request req;
	uint64_t at;

	if (!q)
		return -EIO;
	at = fill(&req, f->file, buf, count, fd_of);
	for (;;) {
		uint32_t seen = atomic_load(&q->wake);
		size_t n = known(f, &req, out, sizeof(out));
		int r = 0;

		if (!n && must_wait(f, q, &req)) {
			r = -EAGAIN;
		} else if (!n) {
			n = sizeof(out);
			r = ask(f, &req, out, &n);
		}
		if (TRACE_ON(LOG_CM) && (r != -EAGAIN || nonblock))
			ucma_trace(req.bytes, req.call.len, r, out, n);
		/* A row without a check before, or memory that was taken away since. */
		if (n && mem_guarded_copy((void *)(uintptr_t)at, out, n))
			return -EFAULT;
		if (!r)
			return (ssize_t)count;
		if (r != -EAGAIN || nonblock)
			return r;
		/* Only GET_EVENT waits. */
		r = evq_wait(q, seen, false, sigmask);
		if (r)
			return r;
	}
}
