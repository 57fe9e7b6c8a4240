/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replaces the engine and the rest of the shim, as far as signals and doorbells need them. */
#include "fake.h"
#include "engine/engine.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "shim/files/fdtab.h"
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/files/wait.h"
#include "shim/for_tests.h"
#include "ucma/ucma.h"
#include "umad/umad.h"
#include "util/log.h"
#include "util/sys.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define LOG_SIZE 65536

static struct {
	struct fake_ring log[LOG_SIZE];
	_Atomic uint32_t count, wrong;
	_Atomic int work;
	_Atomic uint64_t due_calls;
} fake;

static struct seg seg;
static struct uv_system sys = {.seg = &seg};
static int owner;

int shim_attach(struct uv_system **out)
{
	*out = &sys;
	if (!seg.hdr) {
		int r = seg_create(&seg, "fake");

		if (r)
			return r;
	}
	return seg.self == SEG_NONE || !seg.self_pid ? seg_proc_register_self(&seg, 0) : 0;
}

/* No page of this test has a file. */
void fdtab_put(struct shim_file *f)
{
	(void)f;
}

void shim_enter(sigset_t *old)
{
	sig_block_all(old);
}

void shim_leave(const sigset_t *old)
{
	sig_restore(old);
}

/* There are no umad files. */
_Atomic uint32_t wait_files;

int wait_poll(const struct wait_call *c)
{
	return c->next(c, false);
}

int wait_select(const struct wait_call *c)
{
	return c->next(c, false);
}

void wait_publish_all(bool inherited)
{
	(void)inherited;
}

bool shim_owns_tables(void)
{
	return sys_getpid() == owner;
}

static void forked(void)
{
	owner = sys_getpid();
	seg.self = SEG_NONE;
	trap_forked();
}

__attribute__((constructor)) static void fake_init(void)
{
	log_init();
	owner = sys_getpid();
	seg.self = SEG_NONE;
	sig_init();
	pthread_atfork(trap_forking, trap_fork_done, forked);
}

/* ---- the engine */

static __attribute__((noinline)) void deep(void)
{
	volatile char room[48 * 1024];

	for (size_t i = 0; i < sizeof(room); i += 512)
		room[i] = 1;
}

static _Thread_local volatile int inside;

static void work(struct seg *s, uint32_t uar, uint32_t offset, uint64_t be);

void eng_uar_write(struct seg *s, uint32_t uar, uint32_t offset, uint64_t be)
{
	inside++;
	work(s, uar, offset, be);
	inside--;
}

static void work(struct seg *s, uint32_t uar, uint32_t offset, uint64_t be)
{
	int what = fake.work;
	uint32_t n;

	if (what & FAKE_NOTHING)
		return;
	if (what & FAKE_DEEP)
		deep();
	if (what & FAKE_FAULT) {
		char buf[8];

		if (mem_guarded_copy(buf, (void *)0x10000, 8) != -EFAULT)
			fake.wrong++;
	}
	if (what & FAKE_TERM)
		sys_raw(SYS_kill, sys_getpid(), SIGTERM, 0, 0, 0, 0);
	if (what & FAKE_STAY)
		sys_raw(SYS_exit_group, 97, 0, 0, 0, 0, 0);
	if (what & FAKE_PARK)
		seg_proc(s, s->self)->parked = 1;
	n = atomic_fetch_add(&fake.count, 1);
	fake.log[n % LOG_SIZE] = (struct fake_ring){uar, offset, be};
	errno = EDOM; /* the wrapper must preserve errno */
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\tpcmpeqd %%xmm7, %%xmm7\n\t"
			 "pcmpeqd %%xmm15, %%xmm15\n\tfninit"
			 :
			 :
			 : "xmm0", "xmm7", "xmm15");
}

uint64_t eng_run_due(struct seg *s)
{
	fake.due_calls++;
	return UINT64_MAX;
}

uint64_t eng_adopt_due(struct seg *s)
{
	return UINT64_MAX;
}

uint64_t umad_run_due(struct seg *s)
{
	return UINT64_MAX;
}

void ucma_lost(struct seg *s)
{
}

void refused_limit(const char *what, int err)
{
}

bool umad_has_deadlines(void)
{
	return false;
}

bool eng_poll_doorbells(struct seg *s)
{
	return false;
}

/* ---- for the tests */

EXPORT void *fake_map_at(void *addr, int flags, uint32_t uar, int *err)
{
	return uar_mmap(addr, 4096, PROT_WRITE, MAP_SHARED | flags, uar, err);
}

EXPORT void *fake_map(uint32_t uar)
{
	int err;

	return fake_map_at(NULL, 0, uar, &err);
}

EXPORT void fake_unmap(void *page)
{
	uar_unmapped(page, 4096);
	sys_munmap(page, 4096);
}

EXPORT void fake_work(int work)
{
	fake.work = work;
}

EXPORT void fake_reset(void)
{
	fake.count = fake.wrong = 0;
	fake.due_calls = 0;
	fake.work = FAKE_RECORD;
}

EXPORT uint32_t fake_count(void)
{
	return fake.count;
}

EXPORT struct fake_ring fake_get(uint32_t i)
{
	return fake.log[i % LOG_SIZE];
}

EXPORT uint32_t fake_wrong(void)
{
	return fake.wrong;
}

EXPORT long fake_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	const long args[6] = {a, b, c, d, e, f};
	bool handled;
	long r = sig_syscall(nr, args, &handled);

	return handled ? r : -ENOSYS;
}

EXPORT void fake_trap_ring(uint32_t uar, uint32_t off, uint64_t be)
{
	trap_ring(uar, off, be);
}

EXPORT int fake_inside(void)
{
	return inside;
}

EXPORT uint64_t fake_due_calls(void)
{
	return fake.due_calls;
}

EXPORT void fake_rouse(void)
{
	seg_proc_rouse(&seg, seg.self);
}

EXPORT uint32_t fake_lookup(void *p)
{
	uintptr_t page;

	return uar_lookup((uintptr_t)p, &page);
}
