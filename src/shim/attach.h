/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process's attachment to its fabric, and the life of its open files. See shim.h for
 * shim_attach(), shim_owns_tables() and shim_forked().
 */
#ifndef SOFTHCA_SHIM_ATTACH_H
#define SOFTHCA_SHIM_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct shim_file;

/* open(2) of the device node with that minor: a descriptor or -errno. */
int shim_dev_open(uint32_t minor, int flags);
/*
 * The entry of fd with a reference, known to uverbs or to be another process's (obj NULL); NULL
 * when fd is not ours, or is the library's own.
 */
struct shim_file *shim_file_get(int fd);
/* Is it known which open file of the fabric this is? Then f->kind, file and gen say so. Attached.
 */
bool shim_file_known(struct shim_file *f);
/* Is it a umad file, opened here or elsewhere? Then *u is what it is on the fabric. */
struct umad_file;
bool shim_file_umad(struct shim_file *f, struct umad_file *u);
/* The last reference of this process is gone (fdtab_put). */
void shim_file_ended(struct shim_file *f);
/* A descriptor came from elsewhere (SCM_RIGHTS, inherited over exec): enter it if it is ours. */
void shim_adopt(int fd);
/* The same for everything that is open: the program has just been exec'ed. */
void shim_adopt_inherited(void);
/* Where exec is concerned: our slot, or NULL when not attached. */
struct seg_proc;
struct seg_proc *shim_own_slot(void);

/*
 * All that doorbells and the device thread need of the loader. At start-up: later a constructor may
 * have the loader's lock while it waits for a thread that rings, and a signal handler that opens a
 * device may have interrupted malloc. If it fails, mapping a doorbell reports that.
 */
void shim_look_up(void);

#endif
