/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is on the fabric: processes ("memory slots") and open virtual files.
 *
 * A memory slot is one process's address space, from its hello to its exit or exec. Buffers,
 * doorbell records and mkeys name the slot (index, generation) of the process that registered them.
 */
#ifndef SOFTHCA_SEGMENT_PROC_H
#define SOFTHCA_SEGMENT_PROC_H

#include "segment/seg.h"
#include "segment/lock.h"

enum seg_proc_state {
	SEG_PROC_FREE,
	SEG_PROC_LIVE,
	SEG_PROC_EXECING, /* between the exec wrapper and its failure or success: memory is off
			     limits */
	SEG_PROC_DEAD,    /* the supervisor saw it go; its objects are being reaped */
};

struct seg_proc {
	uint32_t gen;
	_Atomic uint32_t state; /* enum seg_proc_state */
	uint32_t pid;
	uint32_t host;         /* SEG_T_HOST index */
	uint64_t start_time;   /* field 22 of its stat file: pid reuse shows */
	_Atomic uint32_t wake; /* futex word of its device thread: add 1 and wake to rouse it */
	_Atomic uint32_t
		refused; /* process_vm_* gave EPERM/ESRCH although it lives: use its mem fd */
	_Atomic uint64_t pinned;  /* bytes of registered memory, accounted per process */
	_Atomic uint64_t memlock; /* its RLIMIT_MEMLOCK at hello, bytes */
	char comm[16];
	uint8_t pad[64];
};

enum seg_file_kind {
	SEG_FILE_UVERBS = 1, /* command fd: memfd sealed against writing */
	SEG_FILE_ASYNC,      /* these are FIFOs, each with an event queue of the same index */
	SEG_FILE_COMP,
	SEG_FILE_DEVX_CMD,
	SEG_FILE_DEVX_EVENT,
	SEG_FILE_UMAD,
	SEG_FILE_ISSM,
};

struct seg_file {
	uint32_t gen;
	uint32_t kind;   /* enum seg_file_kind */
	uint32_t hca;    /* SEG_T_HCA index */
	uint32_t port;   /* umad, issm: 1-based port; else 0 */
	uint32_t opener; /* memory slot that opened it */
	uint32_t opener_gen;
	uint64_t dev; /* st_dev, st_ino of the kernel object, to recognise a passed fd */
	uint64_t ino;
	_Atomic uint32_t
		async_evq; /* uverbs: event queue for async events (default async fd), SEG_NONE */
	_Atomic uint32_t async_evq_gen;
	uint32_t uid; /* DEVX uid given to the context, 0 none */
	uint32_t flags;
	_Atomic uint64_t pinned; /* bytes registered through this file */
	uint8_t pad[40];
};

static inline struct seg_proc *seg_proc(const struct seg *s, uint32_t slot)
{
	return seg_live(s, SEG_T_PROC, slot);
}

static inline struct seg_file *seg_file(const struct seg *s, uint32_t file)
{
	return seg_live(s, SEG_T_FILE, file);
}

/* Is (slot, gen) still that living process (and not between exec and its end)? */
bool seg_proc_alive(struct seg *s, uint32_t slot, uint32_t gen);
/* Its device thread has something to do: wake it (futex; callable in a trap). */
void seg_proc_rouse(struct seg *s, uint32_t slot);

#endif
