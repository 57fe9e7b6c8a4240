/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the supervisor's part in the subnet: sweeps of the built-in subnet manager, and the MADs
 * that no process sends. Both take locks that processes of the fabric hold, and a sweep of a large
 * subnet takes seconds, so they are jobs; a small subnet whose lock is free is swept at once.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "fabric/fabric.h"
#include "subnet/subnet.h"
#include "umad/umad.h"
#include "util/clock.h"

#define SMALL_SUBNET 256 /* nodes */
#define AGAIN_NS 10000000L

static bool nobody_at(struct seg *s)
{
	if (fab_subnet_trylock(s))
		return false;
	fab_subnet_unlock(s);
	return true;
}

struct sweep_job {
	struct sup_job job; /* first */
	struct fab_sm_kept *kept;
};

/* Do not wait for a process that is stopped with the lock: another job tries again. */
static void run_sweep(struct sup_job *j)
{
	const struct timespec nap = {.tv_nsec = AGAIN_NS};

	if (fab_sm_sweep_kept(j->s, ((struct sweep_job *)j)->kept) == -ETIMEDOUT)
		nanosleep(&nap, NULL);
}

static void swept(struct sup *sup, struct sup_job *j)
{
	sup->sweeping = false;
	sup_hosts_swept(sup);
	free(j);
}

void sup_sweep(struct sup *sup)
{
	struct fab_subnet *sub = fab_subnet(&sup->seg);
	struct sweep_job *j;
	uint64_t again;

	if (!fab_issm_retry(&sup->seg)) {
		again = clock_now_ns() + AGAIN_NS;
		if (again < sup->mads_at)
			sup->mads_at = again;
	}
	if (sup->sweeping || !atomic_load(&sub->sm_dirty))
		return;
	j = seg_table(&sup->seg, SEG_T_NODE)->high > SMALL_SUBNET || !nobody_at(&sup->seg)
		    ? calloc(1, sizeof(*j))
		    : NULL;
	if (!j) {
		fab_sm_sweep_kept(&sup->seg, &sup->kept);
		return;
	}
	*j = (struct sweep_job){.job = {.run = run_sweep, .done = swept, .s = &sup->seg},
				.kept = &sup->kept};
	sup->sweeping = true;
	sup_work(sup, &j->job);
}

/* ---- MADs ---- */

struct orphans {
	struct sup_job job; /* first */
	uint64_t next;
};

static void run_orphans(struct sup_job *j)
{
	((struct orphans *)j)->next = umad_run_orphans(j->s);
}

static void orphans_ran(struct sup *sup, struct sup_job *j)
{
	uint64_t next = ((struct orphans *)j)->next;

	sup->sending = false;
	if (next < sup->mads_at) /* otherwise a request has meanwhile asked for an earlier time */
		sup->mads_at = next;
	free(j);
}

void sup_orphans(struct sup *sup)
{
	struct orphans *o;

	if (sup->sending)
		return;
	sup->mads_at = UINT64_MAX;
	o = calloc(1, sizeof(*o));
	if (!o) {
		sup->mads_at = umad_run_orphans(&sup->seg);
		return;
	}
	o->job = (struct sup_job){.run = run_orphans, .done = orphans_ran, .s = &sup->seg};
	sup->sending = true;
	sup_work(sup, &o->job);
}
