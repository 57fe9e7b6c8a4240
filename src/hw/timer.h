/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time of a fabric's timers, which --time-scale makes shorter or longer: transport timers,
 * those of connection managers, of MADs and of the subnet manager, leases, and how long a fault
 * lasts. All of them pass through here. What a program reads (the adapter's clock, timestamps) and
 * what only keeps the machinery going (locks, naps) is true time, clock_now_ns().
 */
#ifndef SOFTHCA_HW_TIMER_H
#define SOFTHCA_HW_TIMER_H

#include "hw/fab.h"
#include "util/clock.h"

#define HW_TIME_TRUE 1000u /* fab_subnet.time_scale is in thousandths */
#define HW_TIME_MAX 1000000u
#define HW_TIMER_MAX_NS (UINT64_C(1) << 62) /* 146 years; not more, as callers add the time */

static inline uint32_t hw_time_scale(const struct seg *s)
{
	uint32_t scale = fab_subnet(s)->time_scale;

	return scale ? scale : HW_TIME_TRUE;
}

/* How long a timer of `ns` runs; UINT64_MAX (never) stays. */
static inline uint64_t hw_timer_ns(const struct seg *s, uint64_t ns)
{
	uint32_t scale = hw_time_scale(s);
	uint64_t most = HW_TIMER_MAX_NS / HW_TIME_TRUE;

	if (scale == HW_TIME_TRUE || ns == UINT64_MAX)
		return ns;
	if (ns <= most)
		return ns * HW_TIME_TRUE / scale;
	ns = ns / scale;
	return ns <= most ? ns * HW_TIME_TRUE : HW_TIMER_MAX_NS;
}

/*
 * The fabric's clock: like clock_now_ns() at its start, then as fast as the timers. For deadlines
 * that are only compared with it, and shown as the time that is left.
 */
static inline uint64_t hw_timer_now(const struct seg *s)
{
	uint64_t now = clock_now_ns(), born = fab_subnet(s)->born;
	uint32_t scale = hw_time_scale(s);

	return scale == HW_TIME_TRUE ? now
				     : born + (now - born) / HW_TIME_TRUE * scale +
					       (now - born) % HW_TIME_TRUE * scale / HW_TIME_TRUE;
}

/* clock_now_ns() when the fabric's clock has come to `due`; UINT64_MAX: never. */
static inline uint64_t hw_timer_at(const struct seg *s, uint64_t due)
{
	uint64_t born = fab_subnet(s)->born;

	if (due == UINT64_MAX || due <= born || hw_time_scale(s) == HW_TIME_TRUE)
		return due;
	return born + hw_timer_ns(s, due - born) + 1; /* + 1: never too early by rounding */
}

#endif
