/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libtrapfake.so: the shim's signals and doorbells over an engine that only records. Linked by the
 * unit tests, preloaded under programs that are built with sanitizers.
 */
#ifndef SOFTHCA_TESTS_TRAP_FAKE_H
#define SOFTHCA_TESTS_TRAP_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_ring {
	uint32_t uar, off;
	uint64_t be;
};

enum fake_work {
	FAKE_RECORD = 0,
	FAKE_FAULT = 1, /* every doorbell makes a guarded copy of an unmapped page */
	FAKE_DEEP = 2,  /* every doorbell uses 48 KiB of stack */
	FAKE_NOTHING = 4,
	FAKE_PARK = 8,  /* leaves work for the device thread */
	FAKE_TERM = 16, /* every doorbell sends SIGTERM to the process before it does its work */
	FAKE_STAY = 32, /* no doorbell comes to its end: the process would exit */
};

void *fake_map(uint32_t uar);
void *fake_map_at(void *addr, int flags, uint32_t uar, int *err);
void fake_unmap(void *page);
void fake_work(int work);
void fake_reset(void);
uint32_t fake_count(void);
struct fake_ring fake_get(uint32_t i);
/* Number of guarded copies that should have failed and did not. */
uint32_t fake_wrong(void);
/* sig_syscall() as the syscall() wrapper calls it. */
long fake_syscall(long nr, long a, long b, long c, long d, long e, long f);
void fake_trap_ring(uint32_t uar, uint32_t off, uint64_t be);
int fake_inside(void);         /* is the calling thread in the engine? */
uint64_t fake_due_calls(void); /* calls of eng_run_due(): shows that the device thread lives */
void fake_rouse(void);
uint32_t fake_lookup(void *p);

#endif
