/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attaches the process to its fabric, and opens and ends files. shim.h declares shim_attach(),
 * shim_owns_tables() and shim_forked().
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
 * Returns the entry of fd with a reference, known to uverbs or marked as another process's (obj
 * NULL); NULL when fd is not ours, or is the library's own.
 */
struct shim_file *shim_file_get(int fd);
/*
 * Finds out which open file of the fabric this is. If true, f->kind, file and gen are set and the
 * process is attached.
 */
bool shim_file_known(struct shim_file *f);
/* Is it a umad file, opened here or by another process? If true, *u describes it on the fabric. */
struct umad_file;
bool shim_file_umad(struct shim_file *f, struct umad_file *u);
struct ucma_file;
bool shim_file_rdma_cm(struct shim_file *f, struct ucma_file *u); /* the same for rdma_cm */
/* Does the file have an event queue? If true, *q is that queue. */
struct shim_queue {
	struct seg *s;
	uint32_t file, gen;
	bool writable; /* poll(2) reports it as writable */
};
bool shim_file_queue(struct shim_file *f, struct shim_queue *q);
/* The last reference in this process is gone (fdtab_put). */
void shim_file_ended(struct shim_file *f);
/* A descriptor arrived (SCM_RIGHTS, inherited over exec): enter it if it is ours. */
void shim_adopt(int fd);
/* The same for all open descriptors: the program has just been exec'ed. */
void shim_adopt_inherited(void);
/*
 * Yama's ptrace_scope 1 refuses process_vm_* between processes that are not parent and child, so
 * copies would take the slower road through mem descriptors: admit the user's other processes,
 * unless the program has said itself who may trace it. (proc.c)
 */
void proc_admit_peers(void);
/* The program calls prctl(op). */
void proc_prctl(int op);
/* For exec: our slot, or NULL when not attached. */
struct seg_proc;
struct seg_proc *shim_own_slot(void);
/* The fabric's segment; NULL: not attached. */
struct seg *shim_segment(void);
/* The same, but NULL as well: no process of the fabric has had adoption on. */
struct seg;
struct seg *shim_adopting(void);

/*
 * Loads everything that doorbells and the device thread need from the loader. Called at start-up:
 * later a constructor may hold the loader's lock while it waits for a thread that rings a doorbell,
 * or a signal handler that opens a device may have interrupted malloc. On failure the mapping of a
 * doorbell reports it.
 */
void shim_look_up(void);

#endif
