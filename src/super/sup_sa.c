/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the queries that a slow subnet administration has not answered yet (HW_SET_SA_MS), and MADs
 * that a rule of --inject holds up: each goes on in a job, because that may wait for the subnet's
 * lock.
 */
#include "super/supervisor.h"

#include <stdlib.h>
#include "hw/timer.h"
#include "hw/world.h"
#include "umad/umad.h"
#include "util/clock.h"

struct sup_query {
	struct sup_job job; /* first */
	struct sup_query *next;
	uint64_t at;
	struct cm_pkt pkt;
};

static void answer(struct sup_job *j)
{
	const struct cm_pkt *p = &((struct sup_query *)j)->pkt;

	if (p->late_ns)
		umad_late(j->s, p);
	else
		umad_sa_late(j->s, p);
}

static void answered(struct sup *sup, struct sup_job *j)
{
	free(j);
}

void sup_sa_asked(struct sup *sup, const struct cm_pkt *pkt)
{
	uint64_t ns =
		pkt->late_ns ? pkt->late_ns : hw_setting(&sup->seg, HW_SET_SA_MS) * NSEC_PER_MSEC;
	struct sup_query *q = malloc(sizeof(*q)), **at = &sup->queries;

	if (!q)
		return; /* lost, as a packet that finds no receive is */
	*q = (struct sup_query){.job = {.run = answer, .done = answered, .s = &sup->seg},
				.at = clock_now_ns() + hw_timer_ns(&sup->seg, ns),
				.pkt = *pkt};
	if (sup->queries && sup->last_query->at <= q->at)
		at = &sup->last_query->next;
	while (*at && (*at)->at <= q->at)
		at = &(*at)->next;
	q->next = *at;
	*at = q;
	if (!q->next)
		sup->last_query = q;
}

uint64_t sup_sa_run(struct sup *sup)
{
	struct sup_query *q;

	while ((q = sup->queries) && q->at <= clock_now_ns()) {
		sup->queries = q->next;
		sup_work(sup, &q->job);
	}
	return q ? q->at : UINT64_MAX;
}

void sup_sa_finish(struct sup *sup)
{
	struct sup_query *q;

	while ((q = sup->queries)) {
		sup->queries = q->next;
		free(q);
	}
}
