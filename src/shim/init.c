/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the library's constructor and destructor. Without SOFTHCA_DIR (config.c) everything here and
 * in the wrappers is a pass-through.
 */
#include "shim/attach.h"
#include "shim/files/fdtab.h"
#include "shim/files/paths.h"
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/wrap.h"
#include "util/log.h"
#include "util/sys.h"

#include <errno.h>
#include <stdatomic.h>

/*
 * libc's pthread_atfork(). Other libcs do not have this form; the library loads there, too, and
 * does nothing.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* The program must not close the library's own descriptors. */
static void kept(int fd, int on)
{
	if (on)
		fdtab_hide(fd);
	else
		fdtab_unhide(fd);
}

/*
 * Work that precedes the first open of a device. Our constructor normally does it, but constructors
 * of other libraries may run earlier.
 */
void shim_start(void)
{
	static _Atomic int started;
	int no = 0;

	if (!shim_on() || !atomic_compare_exchange_strong(&started, &no, 1))
		return;
	sys_fd_kept = kept;
	log_init();
	__register_atfork(shim_forking, shim_fork_done, shim_forked, __dso_handle);
}

__attribute__((constructor)) static void shim_init(void)
{
	int saved = errno; /* 0 for main() */

	shim_next_find_all();
	shim_start();
	if (shim_on()) {
		shim_adopt_inherited();
		sig_init();
		shim_look_up();
		refused_raw();
	}
	errno = saved;
}

__attribute__((destructor)) static void shim_finish(void)
{
	if (shim_on())
		shim_ends();
}
