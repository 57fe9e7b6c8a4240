/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns this process's few mem descriptors of other processes (s->memfd), for peers that
 * process_vm_* refuses (not dumpable, other PID or user namespace). Lock-free, because a trap may
 * interrupt any code. Such a descriptor is bound to the memory image: after exec or exit it copies
 * nothing.
 *
 * Copies are made with queues locked, where waiting for the supervisor is forbidden: they only note
 * the descriptor that they need. mem_fetch() asks for it, without locks, and continues later if no
 * answer comes.
 */
#include "segment/memfd.h"
#include "segment/suplink.h"
#include "segment/table.h"
#include "util/log.h"
#include "util/sys.h"

#define KEY_CLOSING UINT64_MAX
#define FD_REFUSED 0x1fffe /* in place of a descriptor: none is available */

enum { SAID_FALLBACK = 1, SAID_REFUSED = 2 };

static bool first_time(struct seg *s, uint32_t what)
{
	return !(atomic_fetch_or(&s->said, what) & what);
}

static uint64_t who(struct mem_slot m)
{
	return who_word(m.slot, m.gen, 32);
}

/* An entry that stays open until release(); or NULL. */
static struct seg_memfd *hold(struct seg *s, struct mem_slot m, int *fd)
{
	for (unsigned int i = 0; i < SEG_MEMFDS; i++) {
		struct seg_memfd *e = &s->memfd[i];
		uint64_t key = atomic_load_explicit(&e->key, memory_order_relaxed);

		if (key == KEY_CLOSING || SEG_MEMFD_WHO(key) != who(m))
			continue;
		/* Ordered against evict(), which marks the key and then checks the users. */
		atomic_fetch_add(&e->users, 1);
		if (atomic_load(&e->key) == key) {
			*fd = SEG_MEMFD_FD(key);
			return e;
		}
		atomic_fetch_sub(&e->users, 1);
	}
	return NULL;
}

static void release(struct seg_memfd *e)
{
	atomic_fetch_sub(&e->users, 1);
}

/* Makes room: removes an entry of a dead process, or (`any`) one that no copy uses. */
static void evict(struct seg *s, struct seg_memfd *e, bool any)
{
	uint64_t key = atomic_load(&e->key);

	if (!key || key == KEY_CLOSING || (!any && !who_dead(s, who_of(SEG_MEMFD_WHO(key), 32))))
		return;
	if (!atomic_compare_exchange_strong(&e->key, &key, KEY_CLOSING))
		return;
	if (atomic_load(&e->users)) {
		atomic_store(&e->key, key);
		return;
	}
	if (SEG_MEMFD_FD(key) != FD_REFUSED)
		sys_fd_drop(SEG_MEMFD_FD(key));
	atomic_store(&e->key, 0);
}

/*
 * False: another thread has cached one of that slot, or all entries are in use; the caller closes
 * fd.
 */
static bool keep(struct seg *s, struct mem_slot m, int fd)
{
	struct seg_memfd *e;
	int other;

	if (fd > FD_REFUSED)
		return false;
	e = hold(s, m, &other);
	if (e) {
		release(e);
		return false;
	}
	for (unsigned int i = 0; i < 3 * SEG_MEMFDS; i++) {
		uint64_t none = 0;

		e = &s->memfd[(m.slot + i) % SEG_MEMFDS];
		if (i >= SEG_MEMFDS)
			evict(s, e, i >= 2 * SEG_MEMFDS);
		if (atomic_compare_exchange_strong(&e->key, &none,
						   SEG_MEMFD_KEY(m.slot, m.gen, fd)))
			return true;
	}
	return false;
}

static ssize_t move_gated(int fd, uint64_t va, void *buf, uint64_t n, bool write,
			  struct seg_gate *g)
{
	ssize_t r;

	g->v[0].iov_base = buf;
	if (!gate_pass(g, n))
		return -ECANCELED;
	r = sys_call(write ? SYS_pwritev : SYS_preadv, fd, g->v, 1, va, 0);
	return r == -EINVAL && gate_word(g) & GATE_REVOKED ? -ECANCELED : r;
}

static ssize_t move(int fd, uint64_t va, void *buf, uint64_t n, const struct mem_job *j)
{
	if (va + n < va || va + n > INT64_MAX)
		return -EFAULT;
	if (j->gate)
		return move_gated(fd, va, buf, n, j->write, j->gate);
	return j->write ? sys_pwrite(fd, buf, n, va) : sys_pread(fd, buf, n, va);
}

static int copy_fd(int fd, const struct mem_job *j)
{
	uint64_t voff = 0, iooff = 0;
	unsigned int i = 0, k = 0;

	while (i < j->nv && k < j->nio) {
		uint64_t n = j->v[i].len - voff, left = j->io[k].iov_len - iooff;
		ssize_t r;

		if (n > left)
			n = left;
		r = n ? move(fd, j->v[i].va + voff, (void *)((uintptr_t)j->io[k].iov_base + iooff),
			     n, j)
		      : 0;
		if (r == -EINTR)
			continue;
		if (r == -ECANCELED)
			return -ECANCELED;
		if (r < 0)
			/* EIO: not mapped there; EFAULT: not mapped in this process */
			return -EFAULT;
		if (!r && n)
			return -ESRCH; /* the other process has exited or called exec */
		voff += (uint64_t)r;
		iooff += (uint64_t)r;
		if (voff == j->v[i].len)
			i++, voff = 0;
		if (iooff == j->io[k].iov_len)
			k++, iooff = 0;
	}
	return 0;
}

int memfd_copy(struct seg *s, struct mem_slot m, const struct mem_job *j)
{
	struct seg_memfd *e;
	int fd, r;

	e = hold(s, m, &fd);
	if (!e)
		return -ENOENT;
	r = fd == FD_REFUSED ? -EACCES : copy_fd(fd, j);
	release(e);
	return r;
}

int memfd_refused(struct seg *s, struct mem_slot m, int err, const struct mem_job *j)
{
	struct seg_proc *p = seg_proc(s, m.slot);
	int r;

	if (who_gone(s, who_slot(m.slot, m.gen)))
		return -ESRCH;
	r = memfd_copy(s, m, j);
	if (r != -ENOENT)
		return r;
	if (p)
		atomic_store_explicit(&p->refused, 1, memory_order_relaxed);
	if (first_time(s, SAID_FALLBACK))
		TRACE(LOG_MEM, "process_vm_* refused (errno %d) for slot %u: using its mem file",
		      -err, m.slot);
	atomic_store(&s->memget.want, SEG_MEMFD_KEY(m.slot, m.gen, -1));
	return -ETIMEDOUT;
}

/* ---- fetching */

/* If no supervisor can be asked now, none can be asked later. */
static void memfd_call_refused(struct seg *s, struct mem_slot m, int err)
{
	if (first_time(s, SAID_REFUSED))
		log_line(LOG_ERROR,
			 "the host refuses access to the memory of another process of the fabric "
			 "(its mem file: errno %d): same user, same PID namespace?",
			 -err);
	keep(s, m, FD_REFUSED);
}

/* Takes the supervisor's answer; false: none yet. */
static bool memfd_answered(struct seg *s, struct mem_slot m, int fd)
{
	if (fd == -EAGAIN || fd == -EINTR)
		return false;
	if (fd >= 0) {
		fd = sys_fd_high(fd);
		if (!keep(s, m, fd))
			sys_fd_drop(fd);
	} else if (fd != -ESRCH) { /* the process is gone: the next copy notices */
		memfd_call_refused(s, m, fd);
	}
	return true;
}

/* Called with `busy` held. */
static bool memfd_fetch(struct seg *s, uint64_t want, uint64_t wait_ns)
{
	struct seg_memget *g = &s->memget;
	struct who whose = who_of(SEG_MEMFD_WHO(want), 32);
	struct mem_slot m = {whose.slot, whose.gen};
	int r;

	if (g->sock && g->asked != want) { /* the descriptor being fetched is not wanted any more */
		sys_fd_drop(g->sock - 1);
		g->sock = 0;
	}
	if (!g->sock) {
		r = link_ask_mem(s, m);
		if (r < 0)
			return memfd_answered(s, m, r);
		g->sock = r + 1;
		g->asked = want;
	} else {
		wait_ns = 0; /* a wait has failed before: the supervisor is stopped, or slow */
	}
	r = link_get_mem(g->sock - 1, wait_ns);
	if (!memfd_answered(s, m, r))
		return false;
	sys_fd_drop(g->sock - 1);
	g->sock = 0;
	return true;
}

bool mem_fetch(struct seg *s, uint64_t wait_ns)
{
	struct seg_memget *g = &s->memget;
	uint64_t want = atomic_load_explicit(&g->want, memory_order_relaxed);
	bool done;

	if (__builtin_expect(!want, 1) || atomic_exchange(&g->busy, 1))
		return false;
	done = memfd_fetch(s, want, wait_ns);
	if (done) /* or another descriptor is wanted by now */
		atomic_compare_exchange_strong(&g->want, &want, 0);
	atomic_store(&g->busy, 0);
	return done;
}

bool mem_fetch_stopped(struct seg *s, struct mem_slot m)
{
	uint64_t want = atomic_load_explicit(&s->memget.want, memory_order_relaxed);

	if (!want || SEG_MEMFD_WHO(want) != who(m))
		return false;
	seg_for_each_live (s, SEG_T_PROC, i) {
		const struct seg_proc *p = seg_at(s, SEG_T_PROC, i);

		if (p->host == SEG_NONE && p->pid == s->hdr->supervisor_pid)
			return who_stopped(s, who_now(s, i));
	}
	return true;
}

void memfd_forked(struct seg *s)
{
	struct seg_memget *g = &s->memget;

	for (unsigned int i = 0; i < SEG_MEMFDS; i++)
		atomic_store(&s->memfd[i].users, 0);
	if (g->sock)
		sys_fd_drop(g->sock - 1);
	g->sock = 0;
	atomic_store(&g->want, 0);
	atomic_store(&g->busy, 0);
}
