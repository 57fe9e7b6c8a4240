/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The runtime directory and the fabrics in it:
 *
 * - <runtime>/<name>.lock: flock()ed by the fabric's supervisor for its life, holds its pid, and
 *   "run" where the fabric ends with a command
 * - <runtime>/<name>/: the fabric's directory, mode 0700
 *
 * The lock file is made before the directory and removed after it, so a directory without a living
 * supervisor is always recognised: its lock is free. No function here follows a symbolic link.
 */
#ifndef SOFTHCA_SUPER_RUNTIME_H
#define SOFTHCA_SUPER_RUNTIME_H

#include "super/program.h"

#include <stdbool.h>

/* Limit from segment and socket: seg.dir's 256 minus "/<name>" and the terminator. */
#define RUNTIME_PATH_MAX (255 - 1 - PROG_NAME_MAX)

struct runtime {
	char path[RUNTIME_PATH_MAX + 1]; /* absolute */
	int fd;
	bool ours; /* made by us, or chosen by us: removed when empty */
};
#define RUNTIME_EMPTY ((struct runtime){.fd = -1})

/*
 * Finds it and, with `create`, makes it. 0; PROG_FAILED after a message; -ENOENT without `create`.
 */
int runtime_open(struct runtime *rt, bool create);
/* Remove the directory when it is empty and ours to remove. */
void runtime_close(struct runtime *rt);

/*
 * Take a name: its lock, and a new empty directory. *lock: the lock's descriptor, *dir: the
 * directory's. `command`: the name is taken while a command runs. 0; -EBUSY: it is taken; -errno.
 */
int runtime_claim(struct runtime *rt, const char *name, bool command, int *lock, int *dir);
/*
 * Give the name back: directory, then lock file, then the descriptor. If the lock file is not ours
 * any more (a user has emptied the runtime directory), only the descriptor is closed.
 */
void runtime_release(struct runtime *rt, const char *name, int lock);
/*
 * Returns a pidfd of the supervisor that holds a name's lock, even if its socket has been deleted.
 * -ENOENT: there is none; -EBUSY: its fabric belongs to a command; -ESRCH: it is in another PID
 * namespace.
 */
int runtime_holder(struct runtime *rt, const char *name);
/* rm -r of `name` in `parent`. 0, -errno. */
int runtime_remove(int parent, const char *name);
/* Remove the remains of dead supervisors. */
void runtime_sweep(struct runtime *rt);
/* Calls `each` for every fabric with a living supervisor; stops when it returns non-zero. */
int runtime_for_each(struct runtime *rt, int (*each)(void *arg, const char *name), void *arg);
/* A connection to a fabric's supervisor, or -errno (-ENOENT, -ECONNREFUSED: there is none). */
int runtime_connect(const struct runtime *rt, const char *name);

/* Is it a valid fabric name (a folder's name, safe in any path)? */
bool runtime_name_ok(const char *name);

#endif
