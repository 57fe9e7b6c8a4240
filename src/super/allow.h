/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Other users whose processes may use a fabric: --allow-uid. */
#ifndef SOFTHCA_SUPER_ALLOW_H
#define SOFTHCA_SUPER_ALLOW_H

#include <stdbool.h>
#include <stdint.h>

struct fab_options;
struct runtime;

/* Is it the supervisor's own uid, or an allowed one? */
bool allow_has(const struct fab_options *o, uint32_t uid);
/*
 * Lets the allowed uids into the fabric's new and empty directory `dir`, called `name` in the
 * runtime directory, and into all that will be made in it as far as its mode lets the group. 0;
 * PROG_FAILED after a message. Does nothing if no uid is allowed.
 */
int allow_folder(const struct fab_options *o, const struct runtime *rt, const char *name, int dir);

#endif
