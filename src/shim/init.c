/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the library's configuration (the environment, read once) and its constructor. Without
 * SOFTHCA_DIR everything here and in the wrappers is a pass-through.
 */
#include "shim/attach.h"
#include "shim/fdtab.h"
#include "shim/paths.h"
#include "shim/shim.h"
#include "shim/wrap.h"
#include "util/log.h"
#include "util/sys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct shim_config config;
static _Atomic int config_state; /* 0 not read, 1 being read, 2 read */

static bool copy_env(const char *name, char *out, size_t size)
{
	/* A program with more rights than its caller does not let itself be led by the environment.
	 */
	const char *s = secure_getenv(name);

	if (!s || !*s || strlen(s) >= size)
		return false;
	strcpy(out, s);
	return true;
}

/* Kernel answers (getcwd, /proc/self/fd) name the root without symbolic links. */
static void find_real_root(struct shim_config *c)
{
	int fd = sys_openat(AT_FDCWD, c->root, O_PATH | O_CLOEXEC, 0);
	char link[32];
	long n;

	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = sys_call(SYS_readlinkat, AT_FDCWD, link, c->real_root, sizeof(c->real_root) - 1);
	sys_close(fd);
	if (n <= 0 || c->real_root[0] != '/')
		return;
	c->real_root_len = (size_t)n;
	/* <dir>/host/<host>: the two last components are no links. */
	n -= (long)(strlen("/host/") + strlen(c->host));
	if (n > 0)
		memcpy(c->real_dir, c->real_root, (size_t)n);
}

static void read_config(struct shim_config *c)
{
	const char *s;

	if (!copy_env(SHIM_ENV_DIR, c->dir, sizeof(c->dir)) || c->dir[0] != '/')
		return;
	if (!copy_env(SHIM_ENV_HOST, c->host, sizeof(c->host)) || strchr(c->host, '/'))
		strcpy(c->host, "h1");
	c->root_len = (size_t)snprintf(c->root, sizeof(c->root), "%s/host/%s", c->dir, c->host);
	s = getenv(SHIM_ENV_DOORBELL);
	c->doorbell_poll = s && !strcmp(s, "poll");
	s = getenv(SHIM_ENV_MEMLOCK);
	c->memlock_enforce = s && !strcmp(s, "enforce");
	find_real_root(c);
	c->on = true;
}

const struct shim_config *shim_config(void)
{
	int unread = 0;

	if (__builtin_expect(atomic_load_explicit(&config_state, memory_order_acquire) == 2, 1))
		return &config;
	/* ASan's start-up comes before libc has the environment: nothing is known yet. */
	if (!environ)
		return &config;
	if (atomic_compare_exchange_strong(&config_state, &unread, 1)) {
		read_config(&config);
		atomic_store_explicit(&config_state, 2, memory_order_release);
		return &config;
	}
	while (atomic_load_explicit(&config_state, memory_order_acquire) != 2)
		sys_call(SYS_sched_yield);
	return &config;
}

/* The library's own descriptors are not the program's to close. */
static void kept(int fd, int on)
{
	if (on)
		fdtab_hide(fd);
	else
		fdtab_unhide(fd);
}

/*
 * What has to be there before the first device is opened. Normally by our constructor, but those of
 * other libraries may run before it.
 */
void shim_start(void)
{
	static _Atomic int started;
	int no = 0;

	if (!shim_on() || !atomic_compare_exchange_strong(&started, &no, 1))
		return;
	sys_fd_kept = kept;
	log_init();
	pthread_atfork(shim_forking, shim_fork_done, shim_forked);
}

__attribute__((constructor)) static void shim_init(void)
{
	int saved = errno; /* 0 for main() */

	shim_next_find_all();
	shim_start();
	if (shim_on()) {
		shim_adopt_inherited();
		sig_init();
	}
	errno = saved;
}
