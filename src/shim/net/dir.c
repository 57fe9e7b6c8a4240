/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the folder of the class of network interfaces. However a program reads it, it sees our
 * interfaces and the machine's: the tree's folder has links to the latter, brought up to date when
 * a path leads there. paths.c calls it; raw system calls only.
 */
#include "fabric/ifaddr.h"
#include "shim/files/paths.h"
#include "shim/net/net.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <dirent.h>
#include <string.h>

#define NET_CLASS "/sys/class/net"

/* The system call's structure is libc's struct dirent on 64-bit machines. */
typedef void visit_fn(int own, int real, const char *name);

static void each_entry(int dir, int own, int real, visit_fn *visit)
{
	char buf[2048] __attribute__((aligned(8)));
	long n;

	while ((n = sys_call(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent *e = (const void *)(buf + at);

			if (e->d_name[0] != '.')
				visit(own, real, e->d_name);
			at += e->d_reclen;
		}
	}
}

/* "../../devices/virtual/net/lo" of the class, as an absolute path. */
static bool target_of(int real, const char *name, char *out, size_t size)
{
	static const char up[] = "../../";
	char link[256];
	long n = sys_call(SYS_readlinkat, real, name, link, sizeof(link) - 1);

	if (n <= 0)
		return false;
	link[n] = '\0';
	if (strncmp(link, up, sizeof(up) - 1))
		return false;
	return fmt(out, size, "/sys/%s", link + sizeof(up) - 1) < size;
}

/* A link of an earlier time whose interface is gone, or another one by now. */
static void drop_stale(int own, int real, const char *name)
{
	char have[256], want[256];
	long n = sys_call(SYS_readlinkat, own, name, have, sizeof(have) - 1);

	if (n <= 0 || have[0] != '/')
		return;
	have[n] = '\0';
	if (!target_of(real, name, want, sizeof(want)) || strcmp(have, want))
		sys_call(SYS_unlinkat, own, name, 0);
}

static void add_link(int own, int real, const char *name)
{
	char want[256];

	if (target_of(real, name, want, sizeof(want)))
		sys_call(SYS_symlinkat, want, own, name);
}

void net_show_own(const struct shim_config *c)
{
	char path[sizeof(c->root) + 24];
	int own, real;

	fmt(path, sizeof(path), "%s" NET_CLASS, c->root);
	own = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (own < 0)
		return;
	real = sys_openat(AT_FDCWD, NET_CLASS, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (real >= 0) {
		each_entry(own, own, real, drop_stale);
		each_entry(real, own, real, add_link);
		sys_close(real);
	}
	sys_close(own);
}
