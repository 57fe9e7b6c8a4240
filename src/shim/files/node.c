/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of device nodes: the character device that each file of <root>/dev/infiniband
 * represents. It is read once, at the first look-up, by raw system calls; the tree does not gain or
 * lose nodes while a program runs. The stat, open and readdir wrappers call it.
 */
#include "shim/files/paths.h"
#include "fabric/fabric.h"
#include "shim/shim.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/sys.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define NODES_MAX 256

static struct {
	_Atomic int state; /* 0 not read, 1 being read, 2 read */
	/*
	 * On an overlay of two file systems, files have another device than their folder, and
	 * another number than their entry in it.
	 */
	dev_t dir_dev, dev;
	ino_t dir_ino;
	bool roots; /* verbs devices are root's alone, as where rdma-core's udev rule is missing */
	unsigned int n;
	struct {
		ino_t ino;
		uint32_t minor;
	} node[NODES_MAX];
} nodes;

static const struct {
	const char *prefix;
	uint32_t first; /* minor of number 0 */
	uint32_t mode;
} classes[] = {
	{"uverbs", FAB_UVERBS_MINOR(0), 0666},
	{"umad", FAB_UMAD_MINOR(0), 0600},
	{"issm", FAB_ISSM_MINOR(0), 0600},
};
#define RDMA_CM "rdma_cm"
#define NCLASSES (sizeof(classes) / sizeof(classes[0]))

static uint32_t minor_of_name(const char *name)
{
	if (!strcmp(name, RDMA_CM))
		return FAB_RDMA_CM_MINOR;
	for (size_t i = 0; i < NCLASSES; i++) {
		size_t n = strlen(classes[i].prefix);
		const char *end;
		uint64_t k;

		if (strncmp(name, classes[i].prefix, n) || !isdigit((unsigned char)name[n]))
			continue;
		k = num_decimal(name + n, &end);
		return *end || k >= 64 ? NODE_NONE : classes[i].first + (uint32_t)k;
	}
	return NODE_NONE;
}

static bool nodes_ready(void);

uint32_t node_mode(uint32_t minor)
{
	uint32_t mode = 0600, first = 0;

	if (minor == FAB_RDMA_CM_MINOR)
		return S_IFCHR | 0666; /* ucma.c, ucma_misc.mode */
	for (size_t i = 0; i < NCLASSES; i++)
		if (minor >= classes[i].first && classes[i].first >= first) {
			first = classes[i].first;
			mode = nodes_ready() && nodes.roots ? 0600 : classes[i].mode;
		}
	return S_IFCHR | mode;
}

dev_t node_rdev(uint32_t minor)
{
	return minor == FAB_RDMA_CM_MINOR ? makedev(FAB_MISC_MAJOR, FAB_RDMA_CM_MISC)
					  : makedev(FAB_DEV_MAJOR, minor);
}

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

/* The nodes in one folder of the tree. False: there is none. */
static bool read_folder(const char *name, struct stat *dir)
{
	char path[384], buf[2048] __attribute__((aligned(8)));
	struct stat st;
	long n;
	int fd;

	fmt(path, sizeof(path), "%s/%s", shim_config()->root, name);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (sys_fstat(fd, dir) < 0)
		*dir = (struct stat){0};
	while ((n = sys_call(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long off = 0; off < n;) {
			struct linux_dirent64 *d = (struct linux_dirent64 *)(buf + off);
			uint32_t minor = minor_of_name(d->d_name);

			off += d->d_reclen;
			if (minor == NODE_NONE || nodes.n == NODES_MAX ||
			    sys_call(SYS_newfstatat, fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			nodes.dev = st.st_dev;
			nodes.roots |= minor >= FAB_UVERBS_MINOR(0) && !(st.st_mode & 0077);
			nodes.node[nodes.n].ino = st.st_ino;
			nodes.node[nodes.n++].minor = minor;
		}
	sys_close(fd);
	return true;
}

/* Those of unplugged adapters, too, which may come back. */
static void read_nodes(void)
{
	struct stat st;

	nodes.n = 0;
	if (read_folder("dev/infiniband", &st)) {
		nodes.dir_dev = st.st_dev;
		nodes.dir_ino = st.st_ino;
	}
	read_folder(FAB_NODES_ASIDE, &st);
}

static bool nodes_ready(void)
{
	int s = atomic_load_explicit(&nodes.state, memory_order_acquire), unread = 0;
	sigset_t old;

	if (s == 2)
		return true;
	if (!shim_on())
		return false;
	/*
	 * A thread that waits for state 1 to end must not be a handler that interrupted the reader.
	 */
	sig_block_all(&old);
	if (atomic_compare_exchange_strong(&nodes.state, &unread, 1)) {
		read_nodes();
		atomic_store_explicit(&nodes.state, 2, memory_order_release);
	}
	sig_restore(&old);
	while (atomic_load_explicit(&nodes.state, memory_order_acquire) != 2)
		sys_call(SYS_sched_yield);
	return true;
}

/* The reader may have been a thread that exists only in the parent. */
void node_forked(void)
{
	int reading = 1;

	atomic_compare_exchange_strong(&nodes.state, &reading, 0);
}

/* Minor of the node with that (st_dev, st_ino). */
static uint32_t node_minor(dev_t dev, ino_t ino)
{
	if (!nodes_ready() || dev != nodes.dev)
		return NODE_NONE;
	for (unsigned int i = 0; i < nodes.n; i++)
		if (nodes.node[i].ino == ino)
			return nodes.node[i].minor;
	return NODE_NONE;
}

bool node_is_name(const char *name)
{
	return minor_of_name(name) != NODE_NONE;
}

bool node_is_entry(int fd, const char *name)
{
	struct stat st;

	return node_is_name(name) && nodes_ready() && sys_fstat(fd, &st) == 0 &&
	       st.st_dev == nodes.dir_dev && st.st_ino == nodes.dir_ino;
}

uint32_t node_of_path(int dirfd, const char *mapped, int flags)
{
	const char *base;
	struct stat st;

	if (!shim_on() || !mapped)
		return NODE_NONE;
	base = strrchr(mapped, '/');
	base = base ? base + 1 : mapped;
	if (minor_of_name(base) == NODE_NONE)
		return NODE_NONE;
	if (sys_call(SYS_newfstatat, dirfd, mapped, &st,
		     flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0)
		return NODE_NONE;
	return node_minor(st.st_dev, st.st_ino);
}

void node_fix_stat(struct stat *st)
{
	uint32_t minor;

	if (!S_ISREG(st->st_mode) || !shim_on())
		return;
	minor = node_minor(st->st_dev, st->st_ino);
	if (minor == NODE_NONE)
		return;
	st->st_mode = node_mode(minor);
	if (nodes.roots && minor != FAB_RDMA_CM_MINOR)
		st->st_uid = st->st_gid = 0;
	st->st_rdev = node_rdev(minor);
	st->st_size = 0;
	st->st_blocks = 0;
}

void node_fix_statx(struct statx *stx)
{
	uint32_t minor;

	if (!(stx->stx_mask & STATX_TYPE) || !S_ISREG(stx->stx_mode) || !shim_on())
		return;
	minor = node_minor(makedev(stx->stx_dev_major, stx->stx_dev_minor), stx->stx_ino);
	if (minor == NODE_NONE)
		return;
	stx->stx_mode = (uint16_t)node_mode(minor);
	if (nodes.roots && minor != FAB_RDMA_CM_MINOR)
		stx->stx_uid = stx->stx_gid = 0;
	stx->stx_rdev_major = gnu_dev_major(node_rdev(minor));
	stx->stx_rdev_minor = gnu_dev_minor(node_rdev(minor));
	stx->stx_size = 0;
	stx->stx_blocks = 0;
}
