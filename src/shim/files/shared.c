/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the folders that show entries of ours and the machine's own: /sys/class/net and those of
 * the PCI bus. However a program reads one, it sees both: the tree's folder has links to the
 * machine's entries, brought up to date when a path leads there. paths.c calls it; raw system calls
 * only.
 */
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "shim/files/paths.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <dirent.h>
#include <string.h>

/* One folder, while it is brought up to date. */
struct folder {
	const char *path; /* in the program's view */
	int own, real;    /* descriptors of the folder: in the tree, on the machine */
};

static bool is_iface(const char *name, size_t n)
{
	size_t stem = fab_if_stem(name);

	return stem && n > stem && strspn(name + stem, "0123456789.") == n - stem;
}

static bool is_function(const char *name, size_t n)
{
	static const char domain[] = FAB_PCI_DOMAIN ":";

	return n >= sizeof(domain) - 1 && !memcmp(name, domain, sizeof(domain) - 1);
}

static bool is_driver(const char *name, size_t n)
{
	static const char driver[] = "mlx5_core";

	return n == sizeof(driver) - 1 && !memcmp(name, driver, n);
}

static bool is_rdma_cm(const char *name, size_t n)
{
	static const char misc[] = "rdma_cm";

	return n == sizeof(misc) - 1 && !memcmp(name, misc, n);
}

/* The folders, and the names of our entries in them. */
static const struct shared {
	const char *path;
	bool (*ours)(const char *name, size_t n);
} folders[] = {
	{"/sys/class/net", is_iface},
	{"/sys/class/misc", is_rdma_cm},
	{"/sys/bus/pci/devices", is_function},
	{"/sys/bus/pci/drivers", is_driver},
	{"/sys/bus/pci/drivers/mlx5_core", is_function},
};

int shared_folder(const char *path, size_t len)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (len == strlen(folders[i].path) && !memcmp(path, folders[i].path, len))
			return (int)i;
	return -1;
}

/* The system call's structure is libc's struct dirent on 64-bit machines. */
typedef void visit_fn(const struct folder *f, const char *name);

static void each_entry(int dir, const struct folder *f, visit_fn *visit)
{
	char buf[2048] __attribute__((aligned(8)));
	long n;

	while ((n = sys_call(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent *e = (const void *)(buf + at);

			if (e->d_name[0] != '.')
				visit(f, e->d_name);
			at += e->d_reclen;
		}
	}
}

/*
 * Where the machine's entry leads, as an absolute path: a link's "../../devices/virtual/net/lo", or
 * the entry itself.
 */
static bool target_of(const struct folder *f, const char *name, char *out, size_t size)
{
	char link[256];
	const char *rest = link;
	size_t len = strlen(f->path);
	long n = sys_call(SYS_readlinkat, f->real, name, link, sizeof(link) - 1);

	if (n == -EINVAL)
		return fmt(out, size, "%s/%s", f->path, name) < size;
	if (n <= 0)
		return false;
	link[n] = '\0';
	if (link[0] == '/')
		len = 0;
	for (; !strncmp(rest, "../", 3); rest += 3)
		while (len && f->path[--len] != '/')
			;
	return fmt(out, size, "%.*s%s%s", (int)len, f->path, link[0] == '/' ? "" : "/", rest) <
	       size;
}

/* Removes a link whose target on the machine is gone or has changed. */
static void drop_stale(const struct folder *f, const char *name)
{
	char have[256], want[256];
	long n = sys_call(SYS_readlinkat, f->own, name, have, sizeof(have) - 1);

	if (n <= 0 || have[0] != '/')
		return;
	have[n] = '\0';
	if (sys_call(SYS_faccessat, f->real, name, 0) < 0 ||
	    !target_of(f, name, want, sizeof(want)) || strcmp(have, want))
		sys_call(SYS_unlinkat, f->own, name, 0);
}

static void add_link(const struct folder *f, const char *name)
{
	char want[256];

	if (target_of(f, name, want, sizeof(want)))
		sys_call(SYS_symlinkat, want, f->own, name);
}

static void show_machines(const struct shim_config *c, const char *path)
{
	char own[sizeof(c->root) + 48];
	struct folder f = {.path = path};

	fmt(own, sizeof(own), "%s%s", c->root, path);
	f.own = sys_openat(AT_FDCWD, own, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (f.own < 0)
		return;
	f.real = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (f.real >= 0) {
		each_entry(f.own, &f, drop_stale);
		each_entry(f.real, &f, add_link);
		sys_close(f.real);
	}
	sys_close(f.own);
}

bool shared_ours(const struct shim_config *c, int folder, const char *rest)
{
	size_t n;

	while ((n = strcspn(rest, "/")) == 1 && rest[0] == '.')
		rest += n + strspn(rest + n, "/");
	if (!n || memchr(rest, '*', n) || memchr(rest, '?', n) || memchr(rest, '[', n)) {
		show_machines(c, folders[folder].path);
		return true;
	}
	return folders[folder].ours(rest, n);
}
