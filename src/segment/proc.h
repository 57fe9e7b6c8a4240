/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Members of the fabric: processes ("memory slots") and open virtual files. A memory slot is one
 * process's address space, from its hello to its exit or exec. Buffers, doorbell records and mkeys
 * name the slot (index, generation) of the process that registered them.
 */
#ifndef SOFTHCA_SEGMENT_PROC_H
#define SOFTHCA_SEGMENT_PROC_H

#include "segment/gate.h"
#include "segment/seg.h"
#include "segment/lock.h"

#include <linux/futex.h>

enum seg_proc_state {
	SEG_PROC_FREE,
	SEG_PROC_LIVE,
	/*
	 * between the exec wrapper and the exec's failure or success: memory must not be accessed
	 */
	SEG_PROC_EXECING,
	SEG_PROC_DEAD, /* the supervisor has seen it end; its objects are being reaped */
};

#define SEG_RINGS 32
#define SEG_RING_KEYS 15u

/* A thread at work on a send queue. */
struct seg_ring {
	/* start epoch << 25 | SEG_RING_WAITS | 1 + QPN; lower bits 0: free */
	_Alignas(128) _Atomic uint64_t use;
	/* number of doorbells of send queues; only the entry's holder writes it */
	_Atomic uint64_t rung;
	struct seg_gate gate; /* gate of the thread's copies */
	/*
	 * The keys that the thread has looked up for its WQE, each stored before it is looked up. A
	 * thread that takes another one away need not wait for a copy that takes long.
	 */
	_Atomic uint32_t nkeys; /* more than SEG_RING_KEYS: it may use any key */
	_Atomic uint32_t key[SEG_RING_KEYS];
};
_Static_assert(sizeof(struct seg_ring) == 256, "cache lines of its own");
#define SEG_RING_BITS 25
#define SEG_RING_WHO UINT64_C(0xffffff)
/* the thread waits for others and uses nothing itself */
#define SEG_RING_WAITS UINT64_C(0x1000000)

struct seg_proc {
	uint32_t gen;
	_Atomic uint32_t state; /* enum seg_proc_state */
	uint32_t pid;
	uint32_t host;         /* SEG_T_HOST index */
	uint64_t start_time;   /* field 22 of its stat file: reveals reuse of the pid */
	_Atomic uint32_t wake; /* futex word of its device thread: add 1 and wake */
	_Atomic uint32_t
		/*
		 * process_vm_* gave EPERM/ESRCH although the process is alive: use its mem
		 * descriptor
		 */
		refused;
	_Atomic uint64_t pinned;  /* bytes of registered memory, accounted per process */
	_Atomic uint64_t memlock; /* RLIMIT_MEMLOCK of the process when it joined, bytes */
	char comm[16];
	uint64_t pid_ns; /* inode of the PID namespace of `pid`; 0: unknown */
	/*
	 * 1: some QP of the process may be parked or wait for a flush. The code that sets it wakes
	 * the device thread; the shim starts that thread when it finds the flag set after an engine
	 * call.
	 */
	_Atomic uint32_t parked;
	/*
	 * The time (ns) at which the device thread will wake by itself. For work that may wait
	 * until then, park_look() sets `look` and does not wake the thread, which reads `look`
	 * after storing this.
	 */
	_Atomic uint64_t sleeps_until;
	_Atomic uint32_t look;
	/* eventfds of the process must be written (evsub.h); set together with `parked` */
	_Atomic uint32_t signals;
	/* copies to and from its memory that other processes are making */
	_Atomic uint32_t in_flight;
	/* pages are being moved: such copies wait (adopt_own.c) */
	_Atomic uint32_t moving;
	/* accesses to a key by other processes after which it is adopted; 0: never */
	_Atomic uint32_t adopt_after;
	_Atomic uint32_t adopt_queues; /* the same for the memory of a queue */
	_Atomic uint32_t adopt_want;   /* what is to be adopted: 1 + adopt_key.obj */
	_Atomic uint32_t adopt_look;   /* keys of its adopted memory have ended */
	/*
	 * The send queues that its threads are working on: a thread that revokes a key finds its
	 * users here without checking every QP (src/engine/keys/running.c). The entries have their
	 * own cache lines, because threads write them at every doorbell. Entries from rings_high on
	 * were never used.
	 */
	_Atomic uint32_t rings_high;
	_Atomic uint32_t foreign; /* number of its threads that arm a CQ of another process */
	_Atomic uint32_t life;    /* seg_proc_life_begin() */
	_Atomic uint32_t removed; /* its adapters are gone, others keep theirs (sup_remove()) */
	/* objects of each kind that it has made so far: their `nth` (fw_alloc()) */
	_Atomic uint32_t made[HW_KIND_COUNT];
	struct seg_ring ring[SEG_RINGS];
} SEG_ELEM;

enum seg_file_kind {
	SEG_FILE_UVERBS = 1, /* command fd: memfd sealed against writing */
	SEG_FILE_ASYNC,      /* from here on: FIFOs, each with an event queue of the same index */
	SEG_FILE_COMP,
	SEG_FILE_DEVX_CMD,
	SEG_FILE_DEVX_EVENT,
	SEG_FILE_UMAD,
	SEG_FILE_ISSM,
	SEG_FILE_RDMA_CM, /* belongs to a host: `hca` is the host's first adapter */
};

#define SEG_UMAD_AGENTS 32
enum {                    /* seg_file.umad_flags */
       SEG_UMAD_USED = 1, /* an agent was registered: the header format is fixed */
       SEG_UMAD_PKEY = 2, /* headers have a P_Key index */
};

struct seg_file {
	uint32_t gen;
	uint32_t kind;   /* enum seg_file_kind */
	uint32_t hca;    /* SEG_T_HCA index */
	uint32_t port;   /* umad, issm: 1-based port; else 0 */
	uint32_t opener; /* memory slot that opened it */
	uint32_t opener_gen;
	uint64_t dev; /* st_dev, st_ino of the kernel object, to recognise a passed descriptor */
	uint64_t ino;
	uint32_t parent_gen;
	/* an event file: the command file that made it (stored last), SEG_NONE until then */
	_Atomic uint32_t parent;
	uint32_t uid; /* DEVX uid given to the context, 0 none */
	/* a command file: event files were made from it, by seg_file_set_parent(); stays */
	_Atomic uint32_t has_events;
	_Atomic uint64_t pinned; /* bytes of registered memory counted for this file */
	/* umad: SEG_T_AGENT by agent id, 0 none; changed by compare-and-swap. SEG_UMAD_* in
	 * umad_flags. */
	_Atomic uint32_t agent[SEG_UMAD_AGENTS];
	_Atomic uint32_t umad_flags;
	uint32_t node;            /* the N of umadN */
	_Atomic uint32_t removed; /* its adapter was unplugged, and may be back by now */
} SEG_ELEM;

static inline struct seg_proc *seg_proc(const struct seg *s, uint32_t slot)
{
	return seg_live(s, SEG_T_PROC, slot);
}

static inline struct seg_file *seg_file(const struct seg *s, uint32_t file)
{
	return seg_live(s, SEG_T_FILE, file);
}

/* The event file `e` was made from the command file (file, gen). */
static inline void seg_file_set_parent(const struct seg *s, struct seg_file *e, uint32_t file,
				       uint32_t gen)
{
	struct seg_file *f = seg_file(s, file);

	if (f && e->kind != SEG_FILE_ASYNC)
		atomic_store(&f->has_events, 1); /* first: the process may die in between */
	e->parent_gen = gen;
	atomic_store(&e->parent, file);
}

/*
 * Give a process a memory slot (the supervisor, at its hello). `start_time` 0: look it up. 0 and
 * (*slot, *gen), LIVE; -ENOSPC. Freed with seg_free(s, SEG_T_PROC, slot) when every object that
 * names it has been reaped; SEG_PROC_DEAD until then.
 */
int seg_proc_register(struct seg *s, uint32_t host, uint32_t pid, uint64_t start_time,
		      uint32_t *slot, uint32_t *gen);
/*
 * The same for the calling process, without a supervisor (for the supervisor itself and unit
 * tests): fills in s->self.
 */
int seg_proc_register_self(struct seg *s, uint32_t host);
/*
 * Set s->self = (slot, gen), as the supervisor assigned; stores this process's own pid in the slot.
 */
void seg_proc_set_self(struct seg *s, uint32_t slot, uint32_t gen);

/* Are the adapters gone for this process: all of the fabric, or those that it sees? */
static inline bool seg_down(const struct seg *s)
{
	const struct seg_proc *p = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);

	return atomic_load_explicit(&s->hdr->down, memory_order_relaxed) ||
	       (p && atomic_load_explicit(&p->removed, memory_order_relaxed));
}

/* The same for an open file: or was its adapter unplugged? */
static inline bool seg_file_down(const struct seg *s, uint32_t file)
{
	const struct seg_file *f = seg_file(s, file);

	return seg_down(s) || (f && atomic_load_explicit(&f->removed, memory_order_relaxed));
}

/* Field 22 of /proc/<pid>/stat, or 0 when there is no such process (or only its zombie). */
uint64_t seg_proc_start_time(uint32_t pid);

/*
 * Around an exec of the process of slot p: from begin on no process accesses its memory, and begin
 * waits at most 100 ms for copies in progress. False: another thread is executing. `failed` undoes
 * it.
 */
bool seg_proc_exec_begin(struct seg_proc *p);
void seg_proc_exec_failed(struct seg_proc *p);

/*
 * From now on the kernel marks the slot when the calling thread ends, also by an exec or a kill:
 * before the memory changes and before the pid is free for another process (exit_robust_list() from
 * mm_release(), kernel/fork.c). The thread must be the library's own, be the last to end, and use
 * no robust mutex. `l` outlives the thread.
 */
struct seg_life {
	struct robust_list_head head;
	struct robust_list node;
};
void seg_proc_life_begin(struct seg_proc *p, struct seg_life *l);

/*
 * Has the kernel marked the process's end in its slot? False as well for a process whose device
 * thread, which asks the kernel for that mark, does not run yet.
 */
static inline bool seg_proc_life_ended(const struct seg_proc *p)
{
	return atomic_load(&p->life) & FUTEX_OWNER_DIED;
}

/* The process's device thread has work: wake it (futex; callable in a trap). */
void seg_proc_rouse(struct seg *s, uint32_t slot);

#endif
