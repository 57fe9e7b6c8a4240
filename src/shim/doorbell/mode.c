/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the choice between trapped and polled doorbells. The process makes it when it first opens a
 * device, and fork children keep it with the pages. Code of a trap calls it: raw system calls only.
 */
#include "shim/doorbell/fault.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "shim/shim.h"
#include "util/log.h"
#include "util/sys.h"

/*
 * Does valgrind execute this code? memcheck reports each store that faults. The sequence (the
 * client request 0x1001 of valgrind.h) has no effect on a processor.
 */
static bool is_translated(void)
{
#if defined(__x86_64__)
	const uint64_t request[6] = {0x1001};
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(request)
			 : "cc", "memory");
	return answer != 0;
#else
	return false;
#endif
}

/* A process that traces this one stops it at each signal, before the handler has it. */
static bool is_traced(void)
{
	static const char key[] = "\nTracerPid:\t";
	char text[1024], *at;

	sys_read_text("/proc/self/status", text, sizeof(text));
	at = strstr(text, key);
	return at && at[sizeof(key) - 1] != '0';
}

static bool chosen(const char *word)
{
	const char *s = getenv(SHIM_ENV_DOORBELL);

	return s && !strcmp(s, word);
}

bool uar_never_traps(void)
{
	return !SHIM_CAN_TRAP || chosen("poll");
}

static bool choose_poll(void)
{
	const char *why;

	if (uar_never_traps())
		return true;
	if (chosen("trap"))
		return false;
	why = is_translated() ? "valgrind executes the process"
	      : is_traced()   ? "a debugger traces the process"
			      : NULL;
	if (!why)
		return false;
	TRACE(LOG_SHIM, "doorbells are polled: %s (--doorbell trap)", why);
	return true;
}

bool uar_poll_mode(void)
{
	/* 0 not chosen, 1 trap, 2 poll */
	static _Atomic int mode;
	int m = atomic_load_explicit(&mode, memory_order_relaxed);

	if (!m) {
		int no = 0;

		m = choose_poll() ? 2 : 1;
		if (!atomic_compare_exchange_strong(&mode, &no, m))
			m = no;
	}
	return m == 2;
}
