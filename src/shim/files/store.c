/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the opening of the one attribute in sysfs that programs can write: an adapter's node_desc.
 * For writing it is a pipe to the supervisor (super/sup_store.c), for reading the tree's file.
 */
#include "shim/files/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "segment/suplink.h"
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/sys.h"
#include "uverbs/uverbs.h"

static const char attribute[] = "node_desc";

bool store_is(const char *mapped)
{
	const char *base = strrchr(mapped, '/');

	return !strcmp(base ? base + 1 : mapped, attribute);
}

/*
 * Gives X of .../infiniband/X/node_desc in our tree, by whatever path; -1: another file.
 */
static int device_of(int dirfd, const char *mapped, char name[FAB_HCA_NAME])
{
	static const char device[] = "/infiniband/";
	const char *root = shim_config()->real_dir;
	char *at;
	char link[40], path[PATHS_MAX], *end;
	long len;
	int fd = sys_openat(dirfd, mapped, O_PATH | O_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	fmt(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	len = sys_readlink(link, path, sizeof(path) - 1);
	sys_close(fd);
	path[len < 0 ? 0 : len] = '\0';
	at = strstr(path, device);
	if (!root[0] || strncmp(path, root, strlen(root)) || !at)
		return -1;
	at += sizeof(device) - 1;
	end = strchr(at, '/');
	if (!end || end - at >= FAB_HCA_NAME)
		return -1;
	*end = '\0';
	fmt(name, FAB_HCA_NAME, "%s", at);
	return 0;
}

static uint32_t hca_of(const struct uv_system *sys, const char *name)
{
	const struct seg_proc *self = seg_proc(sys->seg, sys->seg->self);
	const struct hw_host *host = self ? seg_live(sys->seg, SEG_T_HOST, self->host) : NULL;

	for (uint32_t i = 0; host && i < host->nhcas; i++) {
		const struct hw_hca *hca = hw_hca(sys->seg, host->hca[i]);
		char other[FAB_HCA_NAME];

		if (hca && hw_hca_is_in(sys->seg, host->hca[i]) &&
		    !strcmp(fab_hca_name(sys->seg, hca, other), name))
			return host->hca[i];
	}
	return SEG_NONE;
}

int store_open(int dirfd, const char *mapped, int flags)
{
	struct uv_system *sys;
	uint32_t hca;
	char name[FAB_HCA_NAME];
	int fd, r;

	if (device_of(dirfd, mapped, name) < 0)
		return STORE_OTHER;
	/* the file's mode and owner are those that the kernel checks */
	r = (int)sys_call(SYS_faccessat, dirfd, mapped, W_OK);
	if (r)
		return r;
	r = shim_attach(&sys);
	if (r)
		return r;
	hca = hca_of(sys, name);
	fd = hca == SEG_NONE ? -EACCES : link_store(sys->link, hca);
	TRACE(LOG_SHIM, "open %s for writing: %d", mapped, fd);
	if (fd >= 0 && !(flags & O_CLOEXEC))
		sys_fcntl(fd, F_SETFD, 0);
	return fd;
}

void store_settle(void)
{
	const struct shim_config *c = shim_config();
	struct uv_system *sys;
	char marker[sizeof(c->real_dir) + sizeof(STORES_FILE) + 1];

	fmt(marker, sizeof(marker), "%s/" STORES_FILE, c->real_dir);
	if (!sys_call(SYS_faccessat, AT_FDCWD, marker, F_OK) && !shim_attach(&sys))
		link_stores_settle(sys->link);
}
