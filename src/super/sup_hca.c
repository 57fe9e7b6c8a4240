/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns adapters that fail as a whole, and return: what open files, ids of rdma_cm, cables and the
 * host's trees see of it. Called for rules of faults, not during a sweep.
 */
#include "super/supervisor.h"

#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "fw/kinds.h"
#include "hw/evq.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "segment/proc.h"
#include "util/log.h"

/* Its queues stand still: requesters of other adapters get no answer from them. */
static void stop_queues(struct seg *s, uint32_t hca)
{
	const struct fw_kind *k = fw_kind(SEG_T_QP);

	seg_for_each_live (s, SEG_T_QP, i)
		if (fw_elem(s, k, i)->hca == hca)
			k->stop(fw_elem(s, k, i));
}

static bool is_file_of(const struct seg_file *f, uint32_t hca)
{
	return f->hca == hca && f->kind != SEG_FILE_RDMA_CM;
}

/* ib_uverbs_free_hw_resources(), mlx5_ib's MLX5_DEV_EVENT_SYS_ERROR */
static void tell_fatal(struct seg *s, uint32_t hca)
{
	const struct seg_evsrc none = {.table = SEG_T_COUNT};

	seg_for_each_live (s, SEG_T_FILE, i) {
		const struct seg_file *f = seg_at(s, SEG_T_FILE, i);

		if (f->kind == SEG_FILE_ASYNC && f->hca == hca && !atomic_load(&f->removed))
			evq_push(s, i, f->gen, none, 0, IBV_EVENT_DEVICE_FATAL, 0);
	}
}

/* Open files of it stay dead, also when it is back; their readers get EIO behind the events. */
static void kill_files(struct seg *s, uint32_t hca)
{
	seg_for_each_live (s, SEG_T_FILE, i) {
		struct seg_file *f = seg_at(s, SEG_T_FILE, i);
		const struct seg_evq *q = seg_live(s, SEG_T_EVQ, i);

		if (!is_file_of(f, hca) || atomic_exchange(&f->removed, 1))
			continue;
		if (f->kind == SEG_FILE_ISSM)
			fab_issm_set(s, hw_hca(s, hca)->port[f->port - 1], false);
		if (q)
			evq_kill(s, i, q->gen);
		if (seg_proc(s, f->opener))
			seg_proc_rouse(s, f->opener);
	}
}

static void plug(struct sup *sup, const struct hw_hca *h, bool in)
{
	for (uint32_t i = 0; i < h->nports; i++)
		sup_plug(sup, h->port[i], in);
}

bool sup_hca_fail(struct sup *sup, uint32_t hca, enum hw_fails how)
{
	struct hw_hca *h = hw_hca(&sup->seg, hca);
	bool worked;

	if (!h || atomic_load(&h->fails) >= (uint32_t)how)
		return false;
	worked = atomic_exchange(&h->fails, how) == HW_WORKS;
	stop_queues(&sup->seg, hca);
	/* Who reads of it finds queues that do nothing. One that is fatal already has told so. */
	if (worked)
		tell_fatal(&sup->seg, hca);
	if (how == HW_UNPLUGGED)
		kill_files(&sup->seg, hca);
	plug(sup, h, false);
	if (how == HW_UNPLUGGED)
		sup_host_again(sup, h->host);
	TRACE(LOG_LINK, "adapter %u: %s", hca, how == HW_FATAL ? "fails" : "is unplugged");
	return true;
}

void sup_hca_return(struct sup *sup, uint32_t hca)
{
	struct hw_hca *h = hw_hca(&sup->seg, hca);

	if (!h || atomic_exchange(&h->fails, HW_WORKS) == HW_WORKS)
		return;
	TRACE(LOG_LINK, "adapter %u: is plugged in again", hca);
	sup_host_again(sup, h->host);
	plug(sup, h, true);
}
