/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The preloaded library (libsofthca.so): inside other people's processes. It preserves errno, never
 * prints unless traced, never exits, and makes its own memory calls as raw system calls.
 *
 * Files: the table of wrapped symbols (symbols.h, symbols.c; wrap.h says how a wrapper is written).
 * What programs see: paths (paths.c, node.c; wrappers in file.c, stat.c, dir.c), descriptors
 * (fdtab.c; wrappers in fd.c, io.c), mappings and syscall() (mm.c), exec (proc.c). Attachment to
 * the fabric and open files: attach.c, init.c. Virtualised signals (sig.c, sigmask.c, sigwrap.c),
 * doorbells (fault.c, decode.c: decode with Zydis and skip; uar.c: mappings; stack.c: the engine's
 * stack), the device thread (devthread.c).
 */
#ifndef SOFTHCA_SHIM_SHIM_H
#define SOFTHCA_SHIM_SHIM_H

#include <signal.h>
#include "segment/suplink.h"
#include "uverbs/uverbs.h"

enum shim_doorbell { SHIM_DB_TRAP, SHIM_DB_POLL };

/* To trap a doorbell is to decode an instruction of x86-64, with Zydis. */
#if defined(__x86_64__) && !defined(SOFTHCA_NO_ZYDIS)
#define SHIM_CAN_TRAP true
#else
#define SHIM_CAN_TRAP false
#endif

/* Environment variables set by `softhca run`. Without SOFTHCA_DIR the library does nothing. */
#define SHIM_ENV_DIR "SOFTHCA_DIR"           /* the fabric's directory */
#define SHIM_ENV_HOST "SOFTHCA_HOST"         /* h1 */
#define SHIM_ENV_DOORBELL "SOFTHCA_DOORBELL" /* auto | trap | poll */
#define SHIM_ENV_MEMLOCK "SOFTHCA_MEMLOCK"   /* account | enforce */
#define SHIM_ENV_ADOPT "SOFTHCA_ADOPT"       /* memory is adopted after N messages */
#define SHIM_ENV_PTRACER "SOFTHCA_PTRACER"   /* 0: leave PR_SET_PTRACER alone */
#define SHIM_ENV_KEEP "SOFTHCA_KEEP_ENV"     /* none | spawn | all */
#define SHIM_ENV_PATCH "SOFTHCA_PATCH"       /* 0: do not patch the code of frequent doorbells */
#define SHIM_ENV_ROCE_ACCEL "SOFTHCA_ROCE_ACCEL" /* 0: RoCE with the specified timers */

/*
 * The process's one attachment, made at the first open of a device file. 0 or -errno. Never in a
 * vfork child.
 */
int shim_attach(struct uv_system **sys);
/* Is this the process that owns the shim's tables (a raw getpid compared; false in a vfork child)?
 */
bool shim_owns_tables(void);
/* exit(): what can be told of queues while their memory is there. */
void shim_ends(void);
/* The constructor's first half, once (init.c). */
void shim_start(void);
/*
 * Brackets changes to the process's files and contexts: signals are blocked, and fork() waits.
 * Nests. Must not enclose a sleep of unlimited length.
 */
void shim_enter(sigset_t *old);
void shim_leave(const sigset_t *old);
/* shim_enter() and shim_leave() for the fork only, inside a sig_guard (sig.h). */
void shim_gate_enter(void);
void shim_gate_leave(void);
/* pthread_atfork: before, and afterwards in the parent. */
void shim_forking(void);
void shim_fork_done(void);
/* After fork in the child (pthread_atfork): slot forgotten, locks re-made, device thread forgotten.
 */
void shim_forked(void);

/* ---- signals (sig.c) */
/* Block every signal but SIG_SYNC by raw call; *old is for sig_restore(). Nests. */
void sig_block_all(sigset_t *old);
void sig_restore(const sigset_t *old);
/*
 * (Re)install our SIGSEGV and SIGBUS handlers and keep the present ones as the program's. Raw
 * calls. Idempotent. No effect in poll mode: there the program's handlers stay in the kernel.
 */
int sig_install(void);
/* The constructor unblocks SIGSEGV and SIGBUS in the kernel (masks are inherited over exec). */
void sig_init(void);
/*
 * From the syscall() wrapper: rt_sigaction, rt_sigprocmask, rt_sigpending, rt_sigsuspend and the
 * masks of ppoll, pselect6 and epoll_pwait. *handled false: not ours, forward it. Else the kernel's
 * answer
 * (>= 0 or -errno).
 */
long sig_syscall(long nr, const long args[6], bool *handled);

/* ---- doorbells (uar.c, fault.c) */
/* Map a page whose stores reach eng_uar_write: PROT_NONE in trap mode, plain memory watched in poll
 * mode. */
void *uar_mmap(void *addr, size_t len, int prot, int flags, uint32_t uar, int *err);
/* called by the munmap/mmap(MAP_FIXED)/mremap wrappers */
void uar_unmapped(void *addr, size_t len);
/*
 * The doorbell page p has been mapped through fd, a descriptor of f: f stays open while p is
 * mapped.
 */
struct shim_file;
void uar_keep_file(void *p, struct shim_file *f, int fd);
/* Does this process map that UAR anywhere? */
bool uar_mapped(uint32_t uar);
/* The UAR at an address: index, or SEG_NONE. Lock-free. */
uint32_t uar_lookup(uintptr_t addr, uintptr_t *page);
/* Before a fork, and after it in the parent: called by shim_forking() and shim_fork_done(). */
void trap_forking(void);
void trap_fork_done(void);
/* In a fork child, from shim_forked(): locks re-made, engine stacks freed, device thread forgotten
 * (devthread_start() starts another). */
void trap_forked(void);

/* ---- device thread (devthread.c) */
/* Does the part of the preparation that needs the loader's lock (shim_look_up()). Idempotent. */
void devthread_init(void);
int devthread_start(void); /* control path only; idempotent; all signals blocked in it; of a process
			      that has attached */
/*
 * A thread of ours: it calls devthread_begin(), works as long as devthread_needed(), and calls
 * devthread_end(). 0 or -errno.
 */
int devthread_create(void *(*fn)(void *arg), void *arg);
void devthread_begin(void);
bool devthread_needed(void);
void devthread_end(void);
/*
 * After any call that may have parked work: makes sure that a device thread exists to resume it
 * (fork children).
 */
void devthread_if_parked(void);
/*
 * The pthread_exit() wrapper calls this: the main thread leaves, and our thread must not keep the
 * process.
 */
void devthread_main_exits(void);

#endif
