/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the virtual files: makes the kernel object behind each, and detects when its last reference
 * is gone (dup, fork, exec and passed descriptors included).
 *
 * The descriptor that we send carries an exclusive flock(2), which belongs to its open file
 * description; `probe` is another description of the same object. While the first is open anywhere,
 * in a process or in a message, the probe cannot take the lock.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fw/fw.h"
#include "fw/kinds.h"
#include "hw/told.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "hw/qctr.h"
#include "subnet/subnet.h"
#include "umad/umad.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"

#define ZOMBIES_GAP (20 * NSEC_PER_MSEC) /* first gap; it grows up to ZOMBIES_GAP_MAX */
/* Watched files are checked soon after a process has ended, then less and less often. */
#define PROBE_GAP_MIN NSEC_PER_MSEC
#define PROBE_GAP_MAX (200 * NSEC_PER_MSEC)

/* one more than MAX_UMAD_RECV_LIST_SIZE in user_mad.c */
#define UMAD_QUEUE 200001

struct kind {
	const char *name;
	bool fifo;     /* false: a sealed memfd */
	bool has_port; /* opened for one port */
	uint32_t max;  /* event records in its queue; 0: limited by memory only */
	bool in_only;  /* poll(2) never reports POLLOUT */
};

static const struct kind kinds[] = {
	[SEG_FILE_UVERBS] = {"uverbs", false, false},
	[SEG_FILE_ASYNC] = {"async", true, false},
	[SEG_FILE_COMP] = {"comp", true, false},
	[SEG_FILE_DEVX_CMD] = {"devx_cmd", true, false},
	[SEG_FILE_DEVX_EVENT] = {"devx_event", true, false, 64 * 1024},
	[SEG_FILE_UMAD] = {"umad", true, true, UMAD_QUEUE},
	/* there is nothing to read; only being open matters */
	[SEG_FILE_ISSM] = {"issm", false, true},
	[SEG_FILE_RDMA_CM] = {"rdma_cm", true, false, 0, .in_only = true},
};

static const struct kind *kind_of(uint32_t kind)
{
	return kind < ARRAY_SIZE(kinds) && kinds[kind].name ? &kinds[kind] : NULL;
}

const char *sup_file_kind_name(uint32_t kind)
{
	return kind_of(kind) ? kinds[kind].name : "?";
}

/* ---- the kernel object ---- */

/*
 * Sealed, so that a store through a mapping that the shim did not see fails instead of ringing a
 * doorbell that is not watched. As with a real command file, poll works and epoll_ctl gives EPERM.
 */
static int make_memfd(const char *kind, uint32_t n, int *fd, int *probe)
{
	_cleanup_close_ int f = -1;
	char path[32];

	/* The shim recognises a passed or inherited descriptor by this name. */
	snprintf(path, sizeof(path), "softhca-%s%u", kind, n);
	f = memfd_create(path, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (f < 0)
		return -errno;
	if (fcntl(f, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f);
	*probe = open(path, O_RDONLY | O_CLOEXEC);
	if (*probe < 0)
		return -errno;
	*fd = take_fd(&f);
	return 0;
}

/* The N of uverbsN, umadN or issmN. */
static uint32_t node_number(struct seg *s, const struct link_msg *m)
{
	const struct hw_hca *hca = hw_hca(s, m->hca);

	return kinds[m->kind].has_port ? fab_umad_index(s, hca->port[m->port - 1]) : hca->dev_index;
}

static int make_fifo(struct sup *sup, const char *name, bool in_only, int *fd, int *probe)
{
	int mode = in_only ? O_RDONLY : O_RDWR;
	int r = 0;

	if (mkfifoat(sup->ev, name, SUP_MODE(sup, 0600, 0060)) < 0)
		return -errno;
	/*
	 * Open it for writing first: a FIFO without a writer blocks whoever opens it for reading.
	 */
	*probe = openat(sup->ev, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	*fd = *probe < 0 ? -1 : openat(sup->ev, name, mode | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 || *probe < 0) {
		r = -errno;
		unlinkat(sup->ev, name, 0);
		if (*probe >= 0)
			close(*probe);
		*probe = -1;
	}
	return r;
}

/* Makes room for the probe of file `idx`. */
static int sup_file_grow(struct sup *sup, uint32_t idx)
{
	uint32_t n = sup->nfiles ? sup->nfiles : 64;
	struct sup_file *f;

	while (n <= idx)
		n *= 2;
	if (n == sup->nfiles)
		return 0;
	f = realloc(sup->files, n * sizeof(*f));
	if (!f)
		return -ENOMEM;
	for (uint32_t i = sup->nfiles; i < n; i++)
		f[i].probe = -1;
	sup->files = f;
	sup->nfiles = n;
	return 0;
}

/* May this process open that device? If not, the error is that of open(2) for a missing node. */
static int check_target(struct sup *sup, const struct sup_link *l, const struct link_msg *m)
{
	const struct seg_proc *proc = seg_proc(&sup->seg, l->slot);
	const struct hw_hca *hca = hw_hca(&sup->seg, m->hca);
	const struct kind *k = kind_of(m->kind);

	if (!k)
		return -EINVAL;
	if (!proc || !hca || hca->host != proc->host)
		return -ENXIO;
	if (m->kind != SEG_FILE_RDMA_CM && !hw_hca_is_in(&sup->seg, m->hca))
		return -ENXIO;
	if (k->has_port && (m->port < 1 || m->port > hca->nports))
		return -ENXIO;
	return 0;
}

static bool last_reference_gone(const struct sup_file *f)
{
	return !flock(f->probe, LOCK_EX | LOCK_NB);
}

/* ---- issm: one open file for each port (ib_umad_sm_open() in user_mad.c) */

static uint32_t port_of(struct seg *s, const struct seg_file *f)
{
	const struct hw_hca *hca = hw_hca(s, f->hca);

	return hca && f->port >= 1 && f->port <= hca->nports ? hca->port[f->port - 1] : SEG_NONE;
}

static void set_issm(struct seg *s, uint32_t port, uint32_t holder)
{
	struct hw_port *p = hw_port(s, port);

	if (!p)
		return;
	fab_issm_set(s, port, holder);
	atomic_store(&p->issm, holder);
	if (!holder)
		sys_futex_wake(&p->issm, INT_MAX);
}

static void reap(struct sup *sup, uint32_t idx);

/* -EBUSY: another process has it, or had it a moment ago: its end may not have been noticed yet. */
static int check_issm(struct sup *sup, const struct link_msg *m)
{
	const struct hw_port *p = hw_port(&sup->seg, hw_hca(&sup->seg, m->hca)->port[m->port - 1]);
	uint32_t holder = atomic_load(&p->issm);
	struct sup_file *f = holder && holder - 1 < sup->nfiles ? &sup->files[holder - 1] : NULL;

	if (f && f->probe >= 0 && !f->reaping && last_reference_gone(f))
		reap(sup, holder - 1);
	if (f && f->reaping)
		return SUP_LATER;
	return atomic_load(&p->issm) ? -EBUSY : 0;
}

#define TRIES 64

/* Skips an index whose earlier event queue a process still has locked (evq_is_held()). */
static int alloc_file(struct seg *s, uint32_t *file)
{
	for (int i = 0; i < TRIES; i++) {
		int r = seg_alloc(s, SEG_T_FILE, SEG_OWNER_DEVICE, file);

		if (r < 0)
			return r == -ENOSPC ? -ENFILE : r;
		if (!evq_is_held(s, *file))
			return 0;
		seg_free(s, SEG_T_FILE, *file);
	}
	return -ENFILE;
}

/* Removes the kernel object of a file that could not be opened after all. */
static void drop_object(struct sup *sup, const char *fifo, int fd, int probe)
{
	if (probe < 0) /* nothing was made */
		return;
	close(probe);
	close(fd);
	if (fifo)
		unlinkat(sup->ev, fifo, 0);
}

/* ---- a process that loses its adapters */

static void stop_qps(struct seg *s, uint32_t file)
{
	const struct fw_kind *k = fw_kind(SEG_T_QP);

	seg_for_each_owned (s, SEG_T_QP, file + 1, i)
		if (!k->shared(seg_at(s, SEG_T_QP, i)))
			k->stop(seg_at(s, SEG_T_QP, i));
}

static void remove_file(struct sup *sup, uint32_t idx, const struct seg_file *f)
{
	const struct seg_evsrc none = {.table = SEG_T_COUNT};

	switch (f->kind) {
	case SEG_FILE_UVERBS:
		stop_qps(&sup->seg, idx);
		break;
	case SEG_FILE_ASYNC:
		evq_push(&sup->seg, idx, f->gen, none, 0, IBV_EVENT_DEVICE_FATAL, 0);
		break;
	case SEG_FILE_ISSM:
		fab_issm_set(&sup->seg, port_of(&sup->seg, f), false);
		break;
	case SEG_FILE_RDMA_CM:
		sup_cm_gone(sup, idx);
		break;
	}
}

/* As tell_gone() for all: events first, then the ends of the queues. */
void sup_remove(struct sup *sup, const struct sup_link *l)
{
	struct seg *s = &sup->seg;
	struct seg_proc *p = seg_proc(s, l->slot);

	if (!p)
		return;
	TRACE(LOG_LINK, "pid %d, slot %u.%u: loses its adapters", l->pid, l->slot, l->gen);
	atomic_store(&p->removed, 1);
	for (int last = 0; last < 2; last++)
		seg_for_each_live (s, SEG_T_FILE, i) {
			const struct seg_file *f = seg_at(s, SEG_T_FILE, i);
			const struct seg_evq *q = seg_live(s, SEG_T_EVQ, i);

			if (f->opener != l->slot || f->opener_gen != l->gen)
				continue;
			if (!last)
				remove_file(sup, i, f);
			else if (q)
				evq_kill(s, i, q->gen);
		}
	seg_proc_rouse(s, l->slot);
}

bool sup_removed(const struct sup *sup, const struct sup_link *l)
{
	const struct seg_proc *p = l->slot == SEG_NONE ? NULL : seg_proc(&sup->seg, l->slot);

	return p && atomic_load(&p->removed);
}

int sup_file_open(struct sup *sup, struct sup_link *l, const struct link_msg *m, uint32_t *file,
		  uint32_t *gen, int *fd)
{
	struct seg *s = &sup->seg;
	char name[EVQ_NAME];
	struct seg_file *f;
	struct stat st;
	int probe = -1;
	int r = sup_removed(sup, l) ? -ENODEV : check_target(sup, l, m);

	if (!r && m->kind == SEG_FILE_ISSM)
		r = check_issm(sup, m);
	if (r)
		return r;
	r = alloc_file(s, file);
	if (r < 0)
		return r;
	f = seg_at(s, SEG_T_FILE, *file);
	*gen = f->gen;
	f->node = kinds[m->kind].has_port ? node_number(s, m) : 0;
	evq_name(name, *file, *gen, m->kind, f->node);
	r = sup_file_grow(sup, *file);
	if (!r)
		r = kinds[m->kind].fifo
			    ? make_fifo(sup, name, kinds[m->kind].in_only, fd, &probe)
			    : make_memfd(kinds[m->kind].name, node_number(s, m), fd, &probe);
	if (!r && m->kind == SEG_FILE_RDMA_CM)
		r = sup_cm_open(sup, *file, l);
	if (r < 0) {
		drop_object(sup, kinds[m->kind].fifo ? name : NULL, *fd, probe);
		seg_free(s, SEG_T_FILE, *file);
		*fd = -1;
		return r;
	}
	flock(*fd, LOCK_EX | LOCK_NB); /* cannot fail: nobody else has the description */
	if (!fstat(*fd, &st)) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
	}
	f->hca = m->hca;
	f->port = kinds[m->kind].has_port ? m->port : 0;
	f->opener = l->slot;
	f->opener_gen = l->gen;
	atomic_store(&f->parent, SEG_NONE);
	if (kinds[m->kind].fifo) {
		evq_open(s, *file, kinds[m->kind].max);
		evq_set_lazy(s, *file);
	}
	if (m->kind == SEG_FILE_ISSM)
		set_issm(s, port_of(s, f), *file + 1);
	f->kind = m->kind; /* last: from here on searches by kind find the file */
	sup->files[*file] =
		(struct sup_file){.probe = probe, .opener = l->slot, .opener_gen = l->gen};
	sup->nopen++;
	return 0;
}

void sup_file_wake(struct sup *sup, uint32_t file, uint32_t gen)
{
	const struct seg_file *f = seg_file(&sup->seg, file);

	if (!f || f->gen != gen || file >= sup->nfiles || sup->files[file].probe < 0 ||
	    !kinds[f->kind].fifo)
		return;
	evq_hint(file, gen, sup->files[file].probe);
	evq_wake(&sup->seg, file, gen);
	evq_hint(SEG_NONE, 0, -1);
}

/* ---- the end ---- */

static void refresh_counters(struct sup *sup, uint32_t hca_idx);

struct reaper {
	struct sup_job job; /* first */
	uint32_t idx, port; /* port of an issm file, else SEG_NONE */
};

/* Closes its queues, agents and subscriptions. Waits for locks. */
static void run_reap(struct sup_job *j)
{
	const struct reaper *r = (struct reaper *)j;

	if (r->port != SEG_NONE)
		set_issm(j->s, r->port, 0);
	fw_reap_file(j->s, r->idx);
	evsub_file_gone(j->s, r->idx);
	umad_file_gone(j->s, r->idx);
	evq_close(j->s, r->idx);
}

static bool evq_is_idle(struct seg *s, uint32_t idx)
{
	struct seg_evq *q = seg_live(s, SEG_T_EVQ, idx);

	if (!q)
		return true;
	if (seg_trylock(s, &q->lock) < 0)
		return false;
	seg_unlock(s, &q->lock);
	return true;
}

/* Most files own no object that another process may be using. */
static bool reap_at_once(struct seg *s, uint32_t idx)
{
	const struct seg_file *f = seg_at(s, SEG_T_FILE, idx);

	if (f->kind == SEG_FILE_ISSM || !evq_is_idle(s, idx) || evsub_file_has_any(s, idx) ||
	    seg_next(s, SEG_T_MSEND, idx + 1, 0) != SEG_NONE || !fw_reap_try(s, idx))
		return false;
	umad_file_gone(s, idx);
	evq_close(s, idx);
	return true;
}

static void sup_file_reaped(struct sup *sup, uint32_t idx)
{
	struct seg *s = &sup->seg;
	struct seg_file *f = seg_at(s, SEG_T_FILE, idx);
	struct sup_file *sf = &sup->files[idx];
	const struct seg_proc *opener = seg_proc(s, sf->opener);
	struct sup_file was = *sf;
	char name[EVQ_NAME];

	if (hw_hca(s, f->hca)->zombies) {
		sup->zombies_gap = ZOMBIES_GAP;
		sup->zombies_at = clock_now_ns() + sup->zombies_gap;
	}
	if (kind_of(f->kind) && kinds[f->kind].fifo) {
		evq_name(name, idx, f->gen, f->kind, f->node);
		unlinkat(sup->ev, name, 0);
	}
	if (f->kind == SEG_FILE_UVERBS || f->kind == SEG_FILE_UMAD)
		refresh_counters(sup, f->hca);
	close(sf->probe);
	sup->nopen--;
	*sf = (struct sup_file){.probe = -1};
	seg_free(s, SEG_T_FILE, idx);
	sup_trim_soon(sup);
	/* If this was the last file of a dead process, its memory slot has no user any more. */
	if (opener && opener->gen == was.opener_gen && opener->state == SEG_PROC_DEAD &&
	    !sup_files_of(sup, was.opener, was.opener_gen))
		seg_free(s, SEG_T_PROC, was.opener);
}

static void reap_done(struct sup *sup, struct sup_job *j)
{
	sup_file_reaped(sup, ((struct reaper *)j)->idx);
	free(j);
}

static void tell_left(struct sup *sup, uint32_t idx)
{
	const struct sup_file *sf = &sup->files[idx];
	const struct seg_proc *p = seg_proc(&sup->seg, sf->opener);
	char text[HW_TOLD_TEXT];

	fw_tell_left(&sup->seg, idx, p && p->gen == sf->opener_gen ? p->comm : "a process", text,
		     sizeof(text));
}

/* The file's last reference is gone. A job waits for objects that another process uses. */
static void reap(struct sup *sup, uint32_t idx)
{
	struct seg *s = &sup->seg;
	const struct seg_file *f = seg_at(s, SEG_T_FILE, idx);
	struct sup_file *sf = &sup->files[idx];
	struct reaper *r, self = {.idx = idx};

	TRACE(LOG_LINK, "file %u.%u (%s): last reference gone", idx, f->gen,
	      sup_file_kind_name(f->kind));
	sup->nwatched -= sf->watched;
	sf->watched = false;
	if (f->kind == SEG_FILE_RDMA_CM)
		sup_cm_gone(sup, idx);
	if (f->kind == SEG_FILE_UVERBS)
		tell_left(sup, idx);
	if (reap_at_once(s, idx)) {
		sup_file_reaped(sup, idx);
		return;
	}
	self.job = (struct sup_job){.run = run_reap, .done = reap_done, .s = s};
	self.port = f->kind == SEG_FILE_ISSM ? port_of(s, f) : SEG_NONE;
	sf->reaping = true;
	r = malloc(sizeof(*r));
	if (!r) {
		run_reap(&self.job);
		sup_file_reaped(sup, idx);
		return;
	}
	*r = self;
	sup_work(sup, &r->job);
}

static void watch(struct sup *sup, struct sup_file *f)
{
	if (!f->watched)
		sup->nwatched++;
	f->watched = true;
}

static void probe_soon(struct sup *sup)
{
	sup->probe_gap = PROBE_GAP_MIN;
	sup->probe_at = clock_now_ns() + sup->probe_gap;
}

int sup_file_closed(struct sup *sup, uint32_t file, uint32_t gen)
{
	const struct seg_file *f = seg_file(&sup->seg, file);

	if (!f || f->gen != gen || file >= sup->nfiles || sup->files[file].probe < 0)
		return -ENOENT;
	if (sup->files[file].reaping)
		return SUP_FILE_LAST;
	if (last_reference_gone(&sup->files[file])) {
		reap(sup, file);
		return SUP_FILE_LAST;
	}
	watch(sup, &sup->files[file]);
	if (sup->probe_at == UINT64_MAX)
		probe_soon(sup);
	return 0;
}

bool sup_file_reaping(const struct sup *sup, uint32_t file, uint32_t gen)
{
	const struct seg_file *f = seg_file(&sup->seg, file);

	return f && f->gen == gen && file < sup->nfiles && sup->files[file].reaping;
}

void sup_files_probe(struct sup *sup, uint32_t opener, uint32_t opener_gen)
{
	for (uint32_t i = 0; i < sup->nfiles; i++) {
		struct sup_file *f = &sup->files[i];
		bool own = opener != SEG_NONE && f->opener == opener && f->opener_gen == opener_gen;

		if (f->probe < 0 || f->reaping || (!own && !f->watched))
			continue;
		if (last_reference_gone(f))
			reap(sup, i);
		else
			watch(sup, f);
	}
	if (!sup->nwatched) {
		sup->probe_at = UINT64_MAX;
	} else if (opener != SEG_NONE || sup->probe_at == UINT64_MAX) {
		probe_soon(sup);
	} else {
		sup->probe_gap *= 2;
		if (sup->probe_gap > PROBE_GAP_MAX)
			sup->probe_gap = PROBE_GAP_MAX;
		sup->probe_at = clock_now_ns() + sup->probe_gap;
	}
}

bool sup_files_of(const struct sup *sup, uint32_t opener, uint32_t opener_gen)
{
	for (uint32_t i = 0; i < sup->nfiles; i++)
		if (sup->files[i].probe >= 0 && sup->files[i].opener == opener &&
		    sup->files[i].opener_gen == opener_gen)
			return true;
	return false;
}

void sup_files_free(struct sup *sup)
{
	free(sup->shown);
	sup->shown = NULL;
	for (uint32_t i = 0; i < sup->nfiles; i++)
		if (sup->files[i].probe >= 0)
			close(sup->files[i].probe);
	free(sup->files);
	sup->files = NULL;
	sup->nfiles = 0;
}

/* Writes the counters of an adapter's ports into sysfs if they have changed. */
static void refresh_counters(struct sup *sup, uint32_t hca_idx)
{
	const struct hw_hca *hca = hw_hca(&sup->seg, hca_idx);
	const struct hw_host *host = hca ? seg_live(&sup->seg, SEG_T_HOST, hca->host) : NULL;
	char root[sizeof(sup->seg.dir) + 64];

	if (!sup->shown)
		sup->shown = calloc(seg_table(&sup->seg, SEG_T_PORT)->high, sizeof(*sup->shown));
	if (!sup->shown || !host)
		return;
	snprintf(root, sizeof(root), "%s/host/%.31s", sup->seg.dir, host->name);
	for (uint32_t n = 0; n < hca->nports; n++) {
		const struct hw_port *p = hw_port(&sup->seg, hca->port[n]);
		const struct hw_qctr *set = p ? hw_qctr(&sup->seg, p->qctr) : NULL;
		struct fab_counters c;
		uint64_t sum = 0;

		fab_pma_counters(&sup->seg, hca->port[n], &c);
		for (uint32_t i = 0; i < HW_CTR_COUNT; i++)
			sum += c.n[i];
		/* A request that fails by itself sends no packet. */
		for (uint32_t i = 0; set && i < HW_QC_COUNT; i++)
			sum += atomic_load_explicit(&set->n[i], memory_order_relaxed);
		if (sum != sup->shown[hca->port[n]] &&
		    !fab_sysfs_update_counters(&sup->seg, hca->port[n], root, &c))
			sup->shown[hca->port[n]] = sum;
	}
}

/*
 * Nothing reports traffic to the supervisor (no daemon is on a hot path), so poll while devices are
 * open.
 */
void sup_refresh_counters(struct sup *sup)
{
	uint32_t last = SEG_NONE; /* a crowd's files are mostly of one adapter */

	for (uint32_t i = 0; i < sup->nfiles; i++) {
		const struct seg_file *f = sup->files[i].probe < 0 ? NULL : seg_file(&sup->seg, i);

		if (!f || f->hca == last ||
		    (f->kind != SEG_FILE_UVERBS && f->kind != SEG_FILE_UMAD))
			continue;
		refresh_counters(sup, f->hca);
		last = f->hca;
	}
}
