/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SOFTHCA_UTIL_CLOCK_H
#define SOFTHCA_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_SEC UINT64_C(1000000000)

/* CLOCK_MONOTONIC in ns: the fabric's one clock, the same in all of its processes (vDSO; no call).
 */
static inline uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

#endif
