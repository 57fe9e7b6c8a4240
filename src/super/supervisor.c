/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a fabric from its creation to its end, and the loop. Calls fabric and firmware bring-up;
 * `run` and `up` call it.
 */
#include "super/supervisor.h"

#include <limits.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fabric/notice.h"
#include "fw/caps.h"
#include "fw/fw.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "segment/adopt.h"
#include "segment/tap.h"
#include "subnet/subnet.h"
#include "super/allow.h"
#include "super/program.h"
#include "super/runtime.h"
#include "umad/umad.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"

/* Cards: within 100 ms of a completion (rdma-fault-characterization). */
#define COUNTERS_GAP (100 * NSEC_PER_MSEC)
#define ZOMBIES_GAP_MAX NSEC_PER_SEC

static int make_segment(struct sup *sup, const struct topo *topo)
{
	int r = seg_create(&sup->seg, sup->name);

	if (r < 0)
		return prog_fail("cannot make the fabric's shared memory: %s", prog_why(-r));
	sup->seg.hdr->supervisor_pid = (uint32_t)getpid();
	sup->fab.kept = &sup->kept;
	r = topo ? fab_build(&sup->seg, topo, &sup->fab) : fab_create(&sup->seg, &sup->fab);
	/* The supervisor takes locks, too, so it needs a memory slot, of no particular host. */
	if (!r)
		r = seg_proc_register_self(&sup->seg, SEG_NONE);
	if (r == -ENOSPC)
		return prog_fail("a fabric cannot have so many hosts, adapters and ports");
	if (r < 0)
		return prog_fail("cannot make the fabric: %s", prog_why(-r));
	return sup_addresses(sup, topo);
}

/*
 * A private fabric ends with its supervisor, even by SIGKILL. The kernel then closes this FIFO's
 * only writer, and sends the signal that each process of the fabric has asked for
 * (segment/suplink.c).
 */
static int make_alive(struct sup *sup)
{
	if (mkfifoat(sup->dir, "alive", SUP_MODE(sup, 0600, 0040)) < 0)
		return -errno;
	sup->alive = openat(sup->dir, "alive", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	return sup->alive < 0 ? -errno : 0;
}

/* The keeper of namespaces is forked while the segment is all that there is. */
static int start_netns(struct sup *sup)
{
	int r = sup->fab.netns ? netns_init(&sup->netns, seg_table(&sup->seg, SEG_T_HOST)->high + 1)
			       : 0;

	return r ? prog_fail("--netns: this machine refuses network namespaces: %s", prog_why(-r))
		 : 0;
}

int sup_init(struct sup *sup, const struct runtime *rt, const char *name, int dir,
	     const struct fab_options *fab, const struct topo *topo, bool embedded)
{
	uint32_t first;
	int r;

	*sup = (struct sup){.dir = dir,
			    .ev = -1,
			    .ep = -1,
			    .alive = -1,
			    .spare = -1,
			    .listen.fd = -1,
			    .work.src.fd = -1,
			    .seg.fd = -1,
			    .netns.sock = -1,
			    .fab = *fab,
			    .embedded = embedded,
			    .probe_at = UINT64_MAX,
			    .counters_at = UINT64_MAX,
			    .zombies_at = UINT64_MAX,
			    .mads_at = UINT64_MAX,
			    .cm_at = UINT64_MAX,
			    .world_at = UINT64_MAX,
			    .faults_at = 0,
			    .trim_at = UINT64_MAX};
	snprintf(sup->name, sizeof(sup->name), "%s", name);
	r = make_segment(sup, topo);
	if (r)
		return r;
	sup->seg.super = sup;
	snprintf(sup->seg.dir, sizeof(sup->seg.dir), "%s/%s", rt->path, name);
	r = start_netns(sup);
	if (r)
		return r;
	r = allow_folder(fab, rt, name, dir);
	if (r)
		return r;
	if (mkdirat(dir, "ev", SUP_MODE(sup, 0700, 0050)) < 0)
		r = -errno;
	if (!r)
		r = sup_hosts_init(sup);
	if (!r)
		r = sup_use_init(sup);
	if (!r && topo)
		r = sup_console_names(sup, topo);
	/* Make the default host ready now, so that errors are reported now. */
	first = seg_next(&sup->seg, SEG_T_HOST, SEG_OWNER_ANY, 0);
	if (!r && !embedded && first != SEG_NONE)
		r = sup_host_use(sup, first);
	if (!r && embedded)
		r = make_alive(sup);
	if (!r) {
		sup->ev = openat(dir, "ev", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		sup->ep = epoll_create1(EPOLL_CLOEXEC);
		sup->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
		r = sup->ev < 0 || sup->ep < 0 || sup->spare < 0 ? -errno : 0;
	}
	if (!r)
		r = sup_work_init(sup);
	fab_subnet(&sup->seg)->born = clock_now_ns();
	fab_subnet(&sup->seg)->time_scale = sup->fab.time_scale;
	if (!r)
		r = sup_cm_init(sup);
	if (!r)
		sup_world_start(sup);
	if (!r)
		r = sup_faults_init(sup);
	if (!r)
		r = sup_listen(sup);
	return r < 0 ? prog_fail("cannot make the fabric's files in %s: %s", sup->seg.dir,
				 prog_why(-r))
		     : 0;
}

/* The devices disappear: readers of event files get EIO, device threads wake up and see `down`. */
static void tell_gone(struct sup *sup)
{
	struct seg *s = &sup->seg;

	atomic_store(&s->hdr->down, 1);
	fab_devices_gone(s);
	seg_for_each_live (s, SEG_T_EVQ, i) {
		const struct seg_evq *q = seg_at(s, SEG_T_EVQ, i);

		evq_kill(s, i, q->gen);
	}
	seg_for_each_live (s, SEG_T_PROC, i)
		seg_proc_rouse(s, i);
	seg_for_each_live (s, SEG_T_PORT, i) {
		struct hw_port *p = hw_port(s, i);

		/* Processes that wait to open an issm are told that there is none. */
		if (atomic_load(&p->issm) && atomic_exchange(&p->issm, 0))
			sys_futex_wake(&p->issm, INT_MAX);
	}
}

void sup_finish(struct sup *sup)
{
	if (sup->seg.hdr)
		tell_gone(sup);
	sup_faults_free(sup);
	for (struct sup_link *l = sup->links; l; l = l->next)
		sup_link_close(sup, l);
	sup_work_finish(sup);
	sup_links_free(sup);
	sup_sa_finish(sup);
	sup_cm_free(sup);
	sup_stores_free(sup);
	sup_files_free(sup);
	netns_finish(&sup->netns);
	if (sup->listen.fd >= 0)
		close(sup->listen.fd);
	if (sup->ep >= 0)
		close(sup->ep);
	if (sup->ev >= 0)
		close(sup->ev);
	if (sup->alive >= 0)
		close(sup->alive);
	if (sup->spare >= 0)
		close(sup->spare);
	if (sup->dir >= 0)
		close(sup->dir);
	free(sup->used);
	free(sup->rung);
	sup_console_free(sup);
	fab_sm_forget(&sup->kept);
	if (sup->seg.hdr)
		seg_unmap(&sup->seg);
}

static int watch_for(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = src};

	return epoll_ctl(sup->ep, EPOLL_CTL_ADD, src->fd, &e) < 0 ? -errno : 0;
}

int sup_watch(struct sup *sup, struct sup_source *src)
{
	return watch_for(sup, src, EPOLLIN | EPOLLRDHUP);
}

int sup_watch_edges(struct sup *sup, struct sup_source *src)
{
	return watch_for(sup, src, EPOLLIN | EPOLLET);
}

void sup_unwatch(struct sup *sup, struct sup_source *src)
{
	if (src->fd < 0)
		return;
	epoll_ctl(sup->ep, EPOLL_CTL_DEL, src->fd, NULL);
	close(src->fd);
	src->fd = -1; /* a later event of this source in the same batch finds the mark */
}

static void retry_zombies(struct sup *sup, uint64_t now)
{
	bool left = false;

	seg_for_each_live (&sup->seg, SEG_T_HCA, i)
		left = fw_reap_zombies(&sup->seg, i) || left;
	left = adopt_sweep(&sup->seg) || left;
	sup->zombies_gap =
		sup->zombies_gap * 2 < ZOMBIES_GAP_MAX ? sup->zombies_gap * 2 : ZOMBIES_GAP_MAX;
	sup->zombies_at = left ? now + sup->zombies_gap : UINT64_MAX;
}

static void periodic(struct sup *sup)
{
	uint64_t now = clock_now_ns();

	if (now >= sup->probe_at)
		sup_files_probe(sup, SEG_NONE, 0);
	if (now >= sup->zombies_at)
		retry_zombies(sup, now);
	if (now >= sup->world_at)
		sup_world_run(sup, now);
	if (now >= sup->trim_at)
		sup_trim(sup);
	if (now >= sup->mads_at) { /* also after the end of a process, which sets mads_at to 0 */
		evq_repair(&sup->seg);
		fab_ports_repair(&sup->seg);
		fab_notices_repair(&sup->seg);
		sup_orphans(sup);
	}
	if (now >= sup->counters_at) {
		sup_refresh_counters(sup);
		sup_trim_soon(sup);
		sup->counters_at = sup->nopen ? now + COUNTERS_GAP : UINT64_MAX;
	} else if (sup->nopen && sup->counters_at == UINT64_MAX) {
		sup->counters_at = now + COUNTERS_GAP;
	}
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int sup_turn(struct sup *sup, uint64_t deadline)
{
	struct epoll_event e[32];
	uint64_t mads = sup->sending ? UINT64_MAX : sup->mads_at;
	uint64_t at = earliest(earliest(earliest(deadline, sup->zombies_at), mads),
			       earliest(earliest(sup->probe_at, sup->counters_at),
					earliest(earliest(sup->cm_at, sup->world_at),
						 earliest(sup->trim_at, sup->faults_at))));
	uint64_t now = clock_now_ns();
	int timeout = -1, n;

	if (at <= now)
		timeout = 0;
	else if (at != UINT64_MAX)
		timeout = (int)((at - now) / NSEC_PER_MSEC + 1);
	n = epoll_wait(sup->ep, e, (int)ARRAY_SIZE(e), timeout);
	if (n < 0 && errno != EINTR)
		return -errno;
	tap_look(&sup->seg);
	for (int i = 0; i < n; i++) {
		struct sup_source *src = e[i].data.ptr;

		if (src->fd >= 0)
			src->ready(sup, src, e[i].events);
	}
	sup->cm_at = sup_cm_run(sup);
	sup->faults_at = sup_faults_run(sup);
	sup_slots_wake(sup);
	sup_links_free(sup);
	sup_sweep(sup);
	if (atomic_load(&fab_subnet(&sup->seg)->notices))
		sup->mads_at = 0;
	periodic(sup);
	netns_update(&sup->netns, &sup->seg); /* a change of a port wakes the loop */
	return 0;
}
