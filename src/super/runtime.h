/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The runtime directory and the fabrics in it:
 *
 * - <runtime>/<name>.lock: flock()ed by the fabric's supervisor for its life, holds its pid, and
 *   "run" where the fabric ends with a command
 * - <runtime>/<name>/: the fabric's directory, mode 0700
 *
 * The lock file is made before the directory and removed after it, so a directory without a living
 * supervisor can always be told: its lock can be had. Nothing here follows a symbolic link.
 */
#ifndef SOFTHCA_SUPER_RUNTIME_H
#define SOFTHCA_SUPER_RUNTIME_H

#include "super/program.h"

#include <stdbool.h>

/* What segment and socket leave for it: seg.dir's 256 less "/<name>" and its end. */
#define RUNTIME_PATH_MAX (255 - 1 - PROG_NAME_MAX)

struct runtime {
	char path[RUNTIME_PATH_MAX + 1]; /* absolute */
	int fd;
	bool ours; /* made by us, or a place of our own choice: removed when empty */
};
#define RUNTIME_EMPTY ((struct runtime){.fd = -1})

/* Find it and, with `create`, make it. 0; PROG_FAILED after a message; -ENOENT without `create`. */
int runtime_open(struct runtime *rt, bool create);
/* Remove the directory when nothing is in it any more and it is ours to remove. */
void runtime_close(struct runtime *rt);

/*
 * Take a name: its lock, and a new empty directory. *lock: the lock's descriptor, *dir: the
 * directory's. `command`: for as long as a command runs. 0; -EBUSY somebody else's; -errno.
 */
int runtime_claim(struct runtime *rt, const char *name, bool command, int *lock, int *dir);
/* Give it back: directory, then lock file, then the descriptor. Where the lock file is not ours any
 * more (somebody has emptied the runtime directory), nothing else is. */
void runtime_release(struct runtime *rt, const char *name, int lock);
/*
 * The supervisor that has a name's lock, as a pidfd, also where its socket is gone with the content
 * of its directory. -ENOENT there is none; -EBUSY its fabric is that of a command; -ESRCH it is in
 * another PID namespace.
 */
int runtime_holder(struct runtime *rt, const char *name);
/* rm -r of `name` in `parent`. 0, -errno. */
int runtime_remove(int parent, const char *name);
/* Remove what dead supervisors left. */
void runtime_sweep(struct runtime *rt);
/* Calls `each` for every fabric with a living supervisor; stops when it returns non-zero. */
int runtime_for_each(struct runtime *rt, int (*each)(void *arg, const char *name), void *arg);
/* A connection to a fabric's supervisor, or -errno (-ENOENT, -ECONNREFUSED: there is none). */
int runtime_connect(const struct runtime *rt, const char *name);

/* Is it fit for a fabric's name (a folder's name, safe in any path)? */
bool runtime_name_ok(const char *name);

#endif
