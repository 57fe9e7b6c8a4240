/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marked points of the code: POINT("name") stands between two steps when another thread or process
 * may see the state between them. In a build with -Dpoints=true a test makes threads wait, stop or
 * die there; in other builds a point is empty.
 *
 * The actions are set by SOFTHCA_POINT in the program's environment, or by point_set():
 *	name:action[:n][,name:action[:n]...]
 * `name` is a point's, or * for any. `n`: only the n-th time, counted from 1, that this process
 * comes by; else each time. Actions:
 *	delay=<microseconds>
 *	stop    SIGSTOP to this thread, hence its process
 *	kill    SIGKILL
 *	exit    exit_group with status 0
 *	term    this thread ends
 */
#ifndef SOFTHCA_UTIL_POINT_H
#define SOFTHCA_UTIL_POINT_H

#include <stdbool.h>

#ifdef SOFTHCA_POINTS
void point_hit(const char *name);
#define POINT(name) point_hit(name)
#else
#define POINT(name) ((void)0)
#endif

#endif
