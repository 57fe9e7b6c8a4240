/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device files of the rows' world (tests/abi/world.c) inside this process, which handles its
 * system calls. Every input starts with the same world and leaves nothing behind.
 */
#ifndef SOFTHCA_TESTS_FUZZ_DEVICE_H
#define SOFTHCA_TESTS_FUZZ_DEVICE_H

#include "../abi/abi.h"
#include "fuzz.h"

/*
 * Make the world that the rows need. The lower 3 bits of `how`: 1 trace as text, 2 as JSON; the
 * others: which allocation fails from now on, 0 none.
 */
void fz_world_begin(uint8_t how);
/* Close everything; fails if something is left: objects, memory, counts. */
void fz_world_end(void);
struct seg *fz_world_seg(void);
/* The command file's SEG_T_FILE index, which owns hardware objects. */
uint32_t fz_world_file(enum which which);
/* Other system calls on the command file. */
void *fz_mmap(enum which which, uint64_t addr, size_t len, int prot, int flags, uint64_t off);
long fz_read(int fd, uint64_t at, size_t count);

/* Let the n-th open of an event file fail, once; 0: none. */
void fz_descriptor_fail_at(int n);

/* ---- rows and their bytes (rows.c) */

/* Write a row in the targets' input format, for seeds. Returns the length, 0: it does not fit. */
size_t fz_ioctl_write(const struct ioctl_row *r, uint8_t *p, size_t room);
size_t fz_written_write(const struct write_row *r, uint8_t *p, size_t room);
/* Read a row from an input; its memory is in `store`. */
struct fz_store {
	uint8_t b[4096];
	size_t used;
};
void fz_ioctl_read(struct fz *f, struct ioctl_row *r, struct fz_store *s);
void fz_written_read(struct fz *f, struct write_row *r);

#endif
