/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of the rows' world (tests/abi/world.c), inside this process: its system calls
 * come here. Every input begins with the same world and ends with nothing left.
 */
#ifndef SOFTHCA_TESTS_FUZZ_DEVICE_H
#define SOFTHCA_TESTS_FUZZ_DEVICE_H

#include "../abi/abi.h"
#include "fuzz.h"

/*
 * The world as the rows know it. The lower 3 bits of `how`: 1 trace as text, 2 as JSON; the others:
 * which allocation from now on fails, 0 none.
 */
void fz_world_begin(uint8_t how);
/* Everything closed; fails when something is left: objects, memory, counts. */
void fz_world_end(void);
struct seg *fz_world_seg(void);
/* The command file's entry in the segment, by which it owns hardware objects. */
uint32_t fz_world_file(enum which which);
/* Other system calls on it. */
void *fz_mmap(enum which which, uint64_t addr, size_t len, int prot, int flags, uint64_t off);
long fz_read(int fd, uint64_t at, size_t count);

/* The n-th file that is opened for an event file fails, once; 0: none. */
void fz_descriptor_fail_at(int n);

/* ---- rows and their bytes (rows.c) */

/* The bytes of a row: what the targets read, for seeds. Their length, 0: it does not fit. */
size_t fz_ioctl_write(const struct ioctl_row *r, uint8_t *p, size_t room);
size_t fz_written_write(const struct write_row *r, uint8_t *p, size_t room);
/* A row from an input; what it points to is in `store`. */
struct fz_store {
	uint8_t b[4096];
	size_t used;
};
void fz_ioctl_read(struct fz *f, struct ioctl_row *r, struct fz_store *s);
void fz_written_read(struct fz *f, struct write_row *r);

#endif
