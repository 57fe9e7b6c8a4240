/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad files inside this process, for the targets that fuzz them: two adapters, files without
 * descriptors, buffers that end at the end of memory.
 */
#ifndef SOFTHCA_TESTS_FUZZ_UMAD_WORLD_H
#define SOFTHCA_TESTS_FUZZ_UMAD_WORLD_H

#include "fuzz.h"
#include "umad/priv.h"

#define FU_FILES 8

struct fu_world {
	struct seg s;
	uint32_t port[2];
	struct umad_file file[FU_FILES];
};

/* The same start for each input: no file, no agent, nothing queued. */
struct fu_world *fu_begin(void);
/* Close all files; fails if anything is left. */
void fu_end(void);
/* Open file `n` for a port. */
void fu_open(struct fu_world *w, unsigned int n, unsigned int port);
void fu_close(struct fu_world *w, unsigned int n);
/* Register an agent; returns the ioctl's result. */
long fu_register(struct fu_world *w, unsigned int n, struct ib_user_mad_reg_req2 *q);
/* Calls that check the result against the rules, and that no lock is held. */
ssize_t fu_write(struct fu_world *w, unsigned int n, const void *buf, size_t count);
ssize_t fu_read(struct fu_world *w, unsigned int n, void *buf, size_t count);
/* Make outstanding work due and do it, as the device thread and the supervisor do. */
void fu_time_passes(struct fu_world *w, uint8_t which);

#endif
