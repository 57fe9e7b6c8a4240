/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the decision when memory of the segment is given back: some time after a file was closed,
 * and each second while some are open. The work is a job: it may have many pages to look at.
 */
#include "super/supervisor.h"

#include <stdlib.h>
#include "util/clock.h"

#define TRIM_GAP NSEC_PER_SEC
#define TRIM_SLACK (2u << 20) /* bytes that are not worth the work */

static void run_trim(struct sup_job *j)
{
	seg_trim(j->s);
}

static void trimmed(struct sup *sup, struct sup_job *j)
{
	uint64_t live, bytes = seg_bytes(&sup->seg, &live);

	sup->trimming = false;
	sup->untrimmed = bytes > live ? bytes - live : 0;
	free(j);
}

void sup_trim_soon(struct sup *sup)
{
	uint64_t at = clock_now_ns() + TRIM_GAP;

	if (at < sup->trim_at)
		sup->trim_at = at;
}

void sup_trim(struct sup *sup)
{
	uint64_t live, bytes;
	struct sup_job *j;

	sup->trim_at = UINT64_MAX;
	if (sup->trimming)
		return;
	bytes = seg_bytes(&sup->seg, &live);
	/* What the last time has left: the fabric itself, and pages with few objects. */
	if (bytes < sup->untrimmed + 2 * live + TRIM_SLACK)
		return;
	j = calloc(1, sizeof(*j));
	if (!j)
		return;
	*j = (struct sup_job){.run = run_trim, .done = trimmed, .s = &sup->seg};
	sup->trimming = true;
	sup_work(sup, j);
}
