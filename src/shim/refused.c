/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lines and notes about what is refused or lost. The wrappers call it after a failure, and
 * before an exec, also in a vfork child.
 */
#include "shim/refused.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "segment/note.h"
#include "shim/environ.h"
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/sys.h"

#include <elf.h>
#include <errno.h>
#include <linux/netlink.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>

#define NO_ATTRIBUTE "not there, or cannot be changed (SUPPORT.md, section 10)"
#define NO_MODULE "no kernel module is loaded here, and none is needed"

/* Paths begin with one of these; the first that fits says what to do. */
static const struct {
	const char *path, *instead;
} paths[] = {
	{"/dev/infiniband/uverbs", "no such adapter: --hca makes more"},
	{"/dev/infiniband/umad", "no such port: --ports and --hca make more"},
	{"/dev/infiniband/issm", "no such port, or a subnet manager has it"},
	{"/dev/infiniband/", "not there: use uverbs, umad, issm or rdma_cm"},
	{"/sys/class/infiniband_verbs/uverbs", "no such adapter, or attribute: --hca makes more"},
	{"/sys/class/infiniband", NO_ATTRIBUTE},
	{"/sys/class/net/" FAB_IF_STEM, NO_ATTRIBUTE},
	{"/sys/class/net/" FAB_IF_ETH_STEM, NO_ATTRIBUTE},
	{"/sys/class/misc/rdma_cm", NO_ATTRIBUTE},
	{"/sys/bus/pci/devices/" FAB_PCI_DOMAIN ":", NO_ATTRIBUTE},
	{"/sys/bus/pci/drivers/mlx5_core", NO_ATTRIBUTE},
	{"/sys/devices/pci" FAB_PCI_DOMAIN ":", NO_ATTRIBUTE},
	{"/sys/module/mlx5_", NO_MODULE},
	{"/sys/module/ib_", NO_MODULE},
	{"/sys/module/rdma_", NO_MODULE},
	{"/sys/kernel/debug/mlx5", "`softhca status` and `softhca trace` show more"},
	{"/sys/kernel/config/rdma_cm", "set these options on each connection"},
	{"/dev/vfio/", "no driver can take the adapter: use verbs or DEVX"},
	{"/dev/mst/", "an adapter here has no registers, which firmware tools need"},
	{"/dev/hfi1_", "only mlx5 adapters are here"},
	{"/dev/ipath", "only mlx5 adapters are here"},
};

#define REGION "an adapter here has no registers behind its regions: use verbs or DEVX"

/* Some libcs' headers lack these address families, or give them other names. */
enum { FAMILY_RDS = 21, FAMILY_IB = 27, FAMILY_SMC = 43 };

static const struct {
	int domain, protocol; /* -1: any */
	const char *name, *instead;
} sockets[] = {
	{AF_NETLINK, NETLINK_RDMA, "NETLINK_RDMA",
	 "SOCK_RAW or SOCK_DGRAM, in a fabric that is up"},
	{FAMILY_SMC, -1, "AF_SMC", "SMC-R is not there: use rdma_cm, or rsockets"},
	{FAMILY_RDS, -1, "AF_RDS", "RDS is not there: use rdma_cm, or rsockets"},
	{FAMILY_IB, -1, "AF_IB", "a family of rdma_cm's addresses; SDP is not there: use rsockets"},
};

/* Sends a note about this program. */
static void note_self(enum note_kind kind)
{
	char name[PATHS_MAX];
	long n = sys_readlink("/proc/self/exe", name, sizeof(name) - 1);

	name[n > 0 ? n : 0] = '\0';
	note_send(shim_config()->dir, kind, name);
}

/*
 * A search for a device has failed with `err`. Is that the answer for the whole fabric? Then this
 * is reported, once in each process. What is merely not there makes it look no more than once.
 */
static void note_fabric(int err)
{
	static _Atomic int noted, seen;
	const struct shim_config *c = shim_config();
	long r;

	if (err != EACCES && (err != ENOENT || atomic_load(&seen)))
		return;
	r = sys_call(SYS_faccessat, AT_FDCWD, c->root, 1);
	if (!r)
		atomic_store(&seen, 1);
	else if (atomic_exchange(&noted, 1))
		return;
	if (r == -EACCES) {
		TRACE(LOG_SHIM, "the fabric is another user's: this process sees no adapter");
		note_send(c->dir, NOTE_USER, NULL);
	} else if (r == -ENOENT) {
		TRACE(LOG_SHIM, "%s is not there: this process sees no adapter", c->dir);
		note_self(NOTE_ELSEWHERE);
	}
}

static const char *instead_of(const char *path)
{
	const char *base = strrchr(path, '/');

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strncmp(path, paths[i].path, strlen(paths[i].path)))
			continue;
		if (!strncmp(base, "/resource", 9) && base[9])
			return REGION;
		return paths[i].instead;
	}
	return NULL;
}

void refused_path(const char *path)
{
	const struct shim_config *c = shim_config();
	const char *instead;
	int err = errno;

	if (!c->on || !path || (err != EACCES && err != ENOENT && !TRACE_ON(LOG_SHIM)))
		return;
	if (!strncmp(path, c->root, c->root_len)) {
		path += c->root_len;
		note_fabric(err);
	}
	instead = TRACE_ON(LOG_SHIM) ? instead_of(path) : NULL;
	if (instead)
		log_command(LOG_SHIM, "open", true, "open %s = %s: %s", path, log_errno_name(err),
			    instead);
	errno = err;
}

void refused_socket(int domain, int type, int protocol)
{
	int err = errno;

	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && err == EMFILE && shim_on())
		refused_limit("cannot list the devices", -err);
	if (!TRACE_ON(LOG_SHIM) || !shim_on())
		return;
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		if (sockets[i].domain == domain &&
		    (sockets[i].protocol < 0 || sockets[i].protocol == protocol))
			log_command(LOG_SHIM, "socket", true, "socket %s, type %d = %s: %s",
				    sockets[i].name, type & 0xf, log_errno_name(err),
				    sockets[i].instead);
	errno = err;
}

void refused_join(int err)
{
	const char *dir = shim_config()->dir;

	if (TRACE_ON(LOG_SHIM))
		log_command(LOG_SHIM, "join", true, "cannot join %s = %s: %s", dir,
			    log_errno_name(-err),
			    err == -EACCES ? "it is another user's" : "is it still up?");
	if (err == -EACCES || err == -ENOENT)
		note_fabric(-err);
	else
		refused_limit("cannot join the fabric", err);
}

void refused_limit(const char *what, int err)
{
	static const struct {
		int err;
		const char *hint;
	} limits[] = {{-ENOMEM, "ulimit -v?"},
		      {-EMFILE, "ulimit -n?"},
		      {-EAGAIN, "ulimit -u?"},
		      {-EPERM, "a filter of system calls?"},
		      {-EACCES, "a filter of system calls?"}};
	static _Atomic bool said;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (err == limits[i].err && !atomic_exchange(&said, true))
			log_line(LOG_ERROR, "%s: %s (%s)", what, log_errno_name(-err),
				 limits[i].hint);
}

/* ---- programs that lose the library */

/*
 * Does the loader ignore LD_PRELOAD, because the kernel sets AT_SECURE? This does not see file
 * capabilities.
 */
static bool is_privileged(const char *path)
{
	struct stat st;

	if (!path || sys_call(SYS_newfstatat, AT_FDCWD, path, &st, 0) < 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != (uid_t)sys_call(SYS_geteuid)) ||
	       ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
		st.st_gid != (gid_t)sys_call(SYS_getegid));
}

/* A program's path in `name`, cut off; "" for a bad pointer. */
static const char *path_of(const char *path, char *name, size_t size)
{
	struct paths_buf b;

	paths_map(AT_FDCWD, path, &b);
	fmt(name, size, "%s", path && !b.foreign ? path : "");
	return name;
}

/*
 * Makes few system calls in the usual case: if a vfork child is stopped between two of them, its
 * parent waits and cannot be stopped.
 */
void refused_exec(const char *path, char *const envp[])
{
	const char *what, *dir = shim_config()->dir;
	char name[PATHS_MAX];
	int err = errno;

	if (!shim_on())
		return;
	what = environ_missing(envp);
	if (what) {
		path_of(path, name, sizeof(name));
		TRACE(LOG_SHIM, "exec %s: its environment lacks %s, so it sees no adapter", name,
		      what);
		note_send(dir, NOTE_ENVIRONMENT, name);
	} else if (is_privileged(path)) {
		path_of(path, name, sizeof(name));
		TRACE(LOG_SHIM, "exec %s: set-user-ID or set-group-ID, so it sees no adapter",
		      name);
		note_send(dir, NOTE_PRIVILEGED, name);
	}
	errno = err;
}

void refused_namespace(const char *file)
{
	int err = errno;

	TRACE(LOG_SHIM, "dlmopen %s: a namespace of its own, which sees no adapter",
	      file ? file : "NULL");
	note_send(shim_config()->dir, NOTE_NAMESPACE, file);
	errno = err;
}

/* ---- programs that make system calls without libc */

#define GO_BUILD_ID 4 /* the type of the note that Go's linker writes, of the owner "Go" */

static bool has_go_note(const char *at, size_t size)
{
	const Elf64_Nhdr *n = (const Elf64_Nhdr *)at;
	size_t used;

	for (; size >= sizeof(*n); at += used, size -= used, n = (const Elf64_Nhdr *)at) {
		used = sizeof(*n) + ((n->n_namesz + 3) & ~3ul) + ((n->n_descsz + 3) & ~3ul);
		if (used > size)
			return false;
		if (n->n_type == GO_BUILD_ID && n->n_namesz >= sizeof("Go") &&
		    !memcmp(n + 1, "Go", sizeof("Go")))
			return true;
	}
	return false;
}

void refused_raw(void)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM);
	bool base_known = false;
	uintptr_t base = 0;
	int err = errno;

	for (size_t i = 0; ph && i < n; i++)
		if (ph[i].p_type == PT_PHDR) {
			base = (uintptr_t)ph - ph[i].p_vaddr;
			base_known = true;
		}
	for (size_t i = 0; base_known && i < n; i++)
		if (ph[i].p_type == PT_NOTE &&
		    has_go_note((const char *)base + ph[i].p_vaddr, ph[i].p_memsz)) {
			TRACE(LOG_SHIM,
			      "a Go program: its runtime makes system calls without libc");
			note_self(NOTE_GO);
			break;
		}
	errno = err;
}
