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

ssize_t ucma_write(const struct ucma_file *f, const void *buf, size_t count, bool nonblock,
		   const void *sigmask, void (*fd_of)(int fd, struct ucma_fd *out))
{
	struct seg_evq *q = seg_live(f->s, SEG_T_EVQ, f->file);
	uint8_t out[UCMA_OUT_MAX];
	struct request req = {0};
	uint32_t cmd;
	uint64_t at;

	if (!q)
		return -EIO;
	req.call.file = f->file;
	req.call.count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
	req.call.len = copy_command(req.bytes, buf);
	if (req.call.len >= sizeof(struct rdma_ucm_cmd_hdr)) {
		memcpy(&cmd, req.bytes, sizeof(cmd));
		add_aux(&req, cmd, fd_of);
	}
	at = response_of(&req);
	for (;;) {
		struct link_msg m = {.op = LINK_RDMA_CM, .file = f->file, .gen = f->gen};
		uint32_t seen = atomic_load(&q->wake);
		size_t n = sizeof(out);
		int r = link_ask_more(f->link, &m, &req,
				      sizeof(req.call) + req.call.len + req.call.aux_len, out, &n);

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
