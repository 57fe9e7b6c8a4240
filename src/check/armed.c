/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns which CQs a thread of this process has armed although completions lay in them. The engine
 * adds them; uverbs asks when the thread reads a completion channel.
 */
#include "check/check.h"
#include "util/sys.h"

#include <stdatomic.h>
#include <stddef.h>

#define ARMED 64u

static struct {
	_Atomic uint32_t tid; /* who armed it last; 0: the place is free */
	struct check_armed it;
} armed[ARMED];

static uint32_t own_tid(void)
{
	return (uint32_t)sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

void check_arms(const struct check_armed *a)
{
	uint32_t at = a->cqn % ARMED; /* another CQ that has this place is forgotten */

	atomic_store(&armed[at].tid, 0);
	armed[at].it = *a;
	atomic_store(&armed[at].tid, own_tid());
}

bool check_armed_next(unsigned int *i, struct check_armed *a)
{
	uint32_t me = own_tid();

	for (; *i < ARMED; ++*i) {
		if (atomic_load(&armed[*i].tid) != me)
			continue;
		*a = armed[*i].it;
		if (atomic_compare_exchange_strong(&armed[(*i)++].tid, &me, 0))
			return true;
	}
	return false;
}
