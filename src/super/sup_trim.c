/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides when unused memory of the segment is given back: some time after a file was closed, and
 * each second while files are open. A job does it, because there may be many pages to check.
 */
#include "super/supervisor.h"

#include <stdlib.h>
#include "util/clock.h"

#define TRIM_GAP NSEC_PER_SEC
#define TRIM_SLACK (2u << 20) /* give memory back only if more bytes than this are unused */

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
	/*
	 * sup->untrimmed: bytes that the last trim could not give back (the fabric itself,
	 * half-used pages).
	 */
	if (bytes < sup->untrimmed + 2 * live + TRIM_SLACK)
		return;
	j = calloc(1, sizeof(*j));
	if (!j)
		return;
	*j = (struct sup_job){.run = run_trim, .done = trimmed, .s = &sup->seg};
	sup->trimming = true;
	sup_work(sup, j);
}
