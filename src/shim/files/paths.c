/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the translation of paths (see paths.h). Every wrapper that takes a path calls it; it makes
 * raw system calls only.
 */
#include "shim/files/paths.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/sys.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define CHAR_DEVICES "/dev/char/"
#define RDMA_CM_NUMBER "10:122" /* FAB_MISC_MAJOR, FAB_RDMA_CM_MISC */

/*
 * The places of our trees. A whole entry is a real directory on a real machine, so leaving it by
 * ".." leads to its parent; a `prefix` entry matches names that begin with it, which may be links.
 * Folders that we share with the machine are shared.c's.
 */
static const struct {
	const char *path;
	bool prefix;
} mounts[] = {
	{"/sys/class/infiniband", false},
	{"/sys/class/infiniband_verbs", false},
	{"/sys/class/infiniband_mad", false},
	{"/dev/infiniband", false},
	{"/sys/devices/pci" FAB_PCI_DOMAIN ":", true},
	{CHAR_DEVICES "231:", true},
	{CHAR_DEVICES "10:12", true}, /* RDMA_CM_NUMBER: a prefix is shorter than the name */
	{"/proc/sys/net/rdma_ucm", false},
	{"/sys/devices/virtual/misc/rdma_cm", false},
	{"/sys/devices/virtual/net/" FAB_IF_ETH_STEM, true},
};

/* Every path of ours contains one of these strings. */
static bool has_marker(const char *path)
{
	return strstr(path, "infiniband") || strstr(path, FAB_PCI_DOMAIN ":") ||
	       strstr(path, "/231:") || strstr(path, "rdma_") || /* cm, ucm */
	       strstr(path, "/" RDMA_CM_NUMBER) || strstr(path, "class/net") ||
	       strstr(path, "net/" FAB_IF_STEM) || strstr(path, "net/" FAB_IF_ETH_STEM) ||
	       strstr(path, "bus/pci") || strstr(path, "class/misc");
}

/*
 * Walks of /sys open folder by folder, so a relative path may be just the name of a shared folder.
 */
static bool may_be_shared(const char *path)
{
	static const char *const names[] = {"net",     "misc",    "pci",
					    "devices", "drivers", "mlx5_core"};
	size_t n = strcspn(path, "/");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (n == strlen(names[i]) && !memcmp(path, names[i], n))
			return true;
	return false;
}

static int mount_of(const char *path, size_t len)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		size_t n = strlen(mounts[i].path);

		if (mounts[i].prefix ? len > n && !memcmp(path, mounts[i].path, n)
				     : len == n && !memcmp(path, mounts[i].path, n))
			return (int)i;
	}
	return -1;
}

/* One component of a path: returns its length, and sets *next to the following one (or the end). */
static size_t component(const char *p, const char **next)
{
	size_t n = strcspn(p, "/");

	*next = p + n + strspn(p + n, "/");
	return n;
}

static bool is_dotdot(const char *p, size_t n)
{
	return n == 2 && p[0] == '.' && p[1] == '.';
}

/*
 * On a real machine /dev/char contains both links to our devices and links to others; the kernel
 * gets the target of the link. False: the link is another's.
 */
static bool follow_link(char *s, size_t *len, size_t size)
{
	const char *end;
	uint64_t minor;
	int n = 0;

	if (!strcmp(s, CHAR_DEVICES RDMA_CM_NUMBER)) {
		n = (int)fmt(s, size, "/dev/infiniband/rdma_cm");
	} else if (!strncmp(s, CHAR_DEVICES "231:", strlen(CHAR_DEVICES "231:"))) {
		minor = num_decimal(s + strlen(CHAR_DEVICES "231:"), &end);
		if (*end)
			return false;
		if (minor >= FAB_UVERBS_MINOR(0))
			n = (int)fmt(s, size, "/dev/infiniband/uverbs%lu",
				     minor - FAB_UVERBS_MINOR(0));
		else if (minor >= FAB_ISSM_MINOR(0))
			n = (int)fmt(s, size, "/dev/infiniband/issm%lu", minor - FAB_ISSM_MINOR(0));
		else
			n = (int)fmt(s, size, "/dev/infiniband/umad%lu", minor);
	} else if (!strncmp(s, CHAR_DEVICES, strlen(CHAR_DEVICES))) {
		return false; /* 10:12, 10:120... only begin like RDMA_CM_NUMBER */
	}
	if (n)
		*len = (size_t)n;
	return *len < size;
}

/*
 * Folds an absolute path component by component until it is in one of our trees; from there on the
 * kernel resolves it, because our trees have symbolic links. out has room for PATHS_MAX. False: use
 * the path unchanged.
 */
static bool map_absolute(const struct shim_config *c, const char *path, char *out)
{
	char *v = out + c->root_len; /* the path in the program's view grows here */
	size_t room = PATHS_MAX - c->root_len, len = 0, n;
	const char *p = path + strspn(path, "/"), *next;
	bool left =
		/*
		 * the path entered one of our trees and left it: the directory may not exist on the
		 * host
		 */
		false;

	for (; *p; p = next) {
		int m, shared;

		n = component(p, &next);
		if (n == 1 && p[0] == '.')
			continue;
		if (is_dotdot(p, n)) {
			while (len && v[--len] != '/')
				;
			continue;
		}
		if (len + n + 2 > room)
			return false;
		v[len++] = '/';
		memcpy(v + len, p, n);
		len += n;
		v[len] = '\0';
		m = mount_of(v, len);
		shared = shared_folder(v, len);
		if (m < 0 && shared < 0)
			continue;
		if (m < 0 || !mounts[m].prefix) {
			const char *after;

			/* Still a real directory: fold "..", perhaps after ".", as well. */
			for (after = next; after[0] == '.' && (after[1] == '/' || !after[1]);)
				component(after, &after);
			if (is_dotdot(after, component(after, &(const char *){NULL}))) {
				left = true;
				continue;
			}
			if (shared >= 0 && !shared_ours(c, shared, next))
				continue;
		} else if (!follow_link(v, &len, room)) {
			return false;
		}
		/* Appends the rest with its slashes: a trailing one asks for a directory. */
		p += n;
		if (len + strlen(p) + 1 > room)
			return false;
		strcpy(v + len, p);
		memcpy(out, c->root, c->root_len);
		return true;
	}
	if (left) {
		memmove(out, len ? v : "/", len ? len : 1);
		out[len ? len : 1] = '\0';
	}
	return left;
}

/* The directory that a relative path starts from, as the kernel names it; 0 or < 0. */
static int paths_base_of(int dirfd, char *buf, size_t size)
{
	char link[32];
	long n;

	if (dirfd == AT_FDCWD) {
		n = sys_call(SYS_getcwd, buf, size);
		return n > 0 && buf[0] == '/' ? 0 : -ENOENT;
	}
	fmt(link, sizeof(link), "/proc/thread-self/fd/%d", dirfd);
	n = sys_call(SYS_readlinkat, AT_FDCWD, link, buf, size - 1);
	if (n <= 0 || buf[0] != '/')
		return -ENOENT;
	buf[n] = '\0';
	return 0;
}

static const char *map_relative(const struct shim_config *c, int dirfd, const char *path,
				struct paths_buf *b)
{
	bool up = path[0] == '.' && path[1] == '.' && (path[2] == '/' || !path[2]);
	char full[PATHS_MAX];
	const char *p = path;
	size_t len;
	bool ours;

	if (!up && !has_marker(path) && !may_be_shared(path))
		return path;
	if (paths_base_of(dirfd, full, sizeof(full)) < 0)
		return path;
	ours = paths_unmap(full);
	if (!ours && !has_marker(path) && !may_be_shared(path))
		return path;
	/* The base contains no links, so leading ".." components fold exactly. */
	len = strlen(full);
	while (up) {
		const char *next;

		while (len > 1 && full[--len] != '/')
			;
		full[len] = '\0';
		component(p, &next);
		p = next;
		up = is_dotdot(p, component(p, &next));
	}
	if (len + strlen(p) + 2 > sizeof(full))
		return path;
	if (!len || full[len - 1] != '/')
		full[len++] = '/';
	strcpy(full + len, p);
	if (map_absolute(c, full, b->s))
		return b->s;
	if (!ours)
		return path;
	/* The path leaves our tree into the real one. */
	strcpy(b->s, full);
	return b->s;
}

/*
 * Is the string readable up to its end? A bad pointer must give EFAULT, as from the kernel, not a
 * crash. The kernel is asked, so that no byte beyond the end is read. If a sandbox forbids the
 * call, the pointer is trusted.
 */
static bool readable(const char *path)
{
	long tid = sys_call(SYS_gettid); /* a first thread that has ended has no memory */
	char part[256];

	for (size_t done = 0; done < PATH_MAX;) {
		size_t n = 4096 - ((uintptr_t)(path + done) & 4095);
		struct iovec to = {part, sizeof(part)},
			     from = {(void *)(uintptr_t)(path + done), n};
		long r;

		from.iov_len = n < sizeof(part) ? n : sizeof(part);
		if (from.iov_len > PATH_MAX - done)
			from.iov_len = PATH_MAX - done;
		to.iov_len = from.iov_len;
		r = sys_call(SYS_process_vm_readv, tid, &to, 1, &from, 1);
		if (r <= 0)
			return r != -EFAULT;
		if (memchr(part, '\0', (size_t)r))
			return true;
		done += (size_t)r;
	}
	return false;
}

const char *paths_map(int dirfd, const char *path, struct paths_buf *b)
{
	const struct shim_config *c = shim_config();

	b->foreign = false;
	if (!c->on || !path)
		return path;
	b->foreign = !readable(path);
	if (b->foreign)
		return path;
	if (path[0] != '/')
		return map_relative(c, dirfd, path, b);
	if (!has_marker(path) || !map_absolute(c, path, b->s))
		return path;
	return b->s;
}

bool paths_is_mapped(const char *mapped, const struct paths_buf *b)
{
	const struct shim_config *c = shim_config();

	return mapped == b->s && !strncmp(mapped, c->root, c->root_len);
}

static size_t unmap_one(char *path, size_t len, const char *root, size_t root_len)
{
	if (!root_len || len < root_len || memcmp(path, root, root_len) ||
	    (len > root_len && path[root_len] != '/'))
		return SIZE_MAX;
	if (len == root_len) {
		path[0] = '/';
		return 1;
	}
	memmove(path, path + root_len, len - root_len);
	return len - root_len;
}

size_t paths_unmap_bytes(char *path, size_t len)
{
	const struct shim_config *c = shim_config();
	size_t n;

	if (!c->on)
		return len;
	n = unmap_one(path, len, c->root, c->root_len);
	if (n == SIZE_MAX)
		n = unmap_one(path, len, c->real_root, c->real_root_len);
	return n == SIZE_MAX ? len : n;
}

bool paths_unmap(char *path)
{
	size_t len = strlen(path), n = paths_unmap_bytes(path, len);

	path[n] = '\0';
	return n != len;
}
