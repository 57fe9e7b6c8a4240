/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad files inside this process, for the targets that fuzz them: two adapters, files without
 * descriptors, buffers that end where memory does.
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

/* The same each time: no file, no agent, nothing queued. */
struct fu_world *fu_begin(void);
/* All files are closed; fails if anything is left. */
void fu_end(void);
/* File `n`, new, of one of the ports. */
void fu_open(struct fu_world *w, unsigned int n, unsigned int port);
void fu_close(struct fu_world *w, unsigned int n);
/* An agent of it; the answer of the ioctl. */
long fu_register(struct fu_world *w, unsigned int n, struct ib_user_mad_reg_req2 *q);
/* The calls. The answers must be those of the rules, and no lock be held. */
ssize_t fu_write(struct fu_world *w, unsigned int n, const void *buf, size_t count);
ssize_t fu_read(struct fu_world *w, unsigned int n, void *buf, size_t count);
/* Makes outstanding work due and does it, as the device thread and the supervisor do. */
void fu_time_passes(struct fu_world *w, uint8_t which);

#endif
