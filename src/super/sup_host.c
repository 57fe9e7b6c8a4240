/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the supervisor's part of a host: sysfs trees, EQs and everything that a driver finds when it
 * starts. It is made when a host is first used, because a subnet may have thousands that no program
 * ever uses.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "fw/caps.h"
#include "fw/fw.h"
#include "hw/hca.h"
#include "super/runtime.h"
#include "util/cleanup.h"
#include "util/log.h"

enum sup_used {
	NOT_USED,
	USED,
	USED_MEANWHILE, /* the host's tree was made during a sweep */
};

int sup_hosts_init(struct sup *sup)
{
	sup->used = calloc(seg_table(&sup->seg, SEG_T_HOST)->high + 1, sizeof(*sup->used));
	if (!sup->used)
		return -ENOMEM;
	return mkdirat(sup->dir, "host", SUP_MODE(sup, 0700, 0050)) < 0 ? -errno : 0;
}

bool sup_host_used(const struct sup *sup, uint32_t host)
{
	return host < seg_table(&sup->seg, SEG_T_HOST)->high && sup->used[host];
}

/* A failed attempt, perhaps for want of space, leaves nothing behind. */
static int make_tree(struct sup *sup, uint32_t host, const char *name)
{
	const struct hw_caps *c = &sup->fab.caps;
	const struct fab_sysfs_ids ids = {
		.fw_ver = c->fw_ver,
		.hca_type = c->hca_type,
		.board_id = c->board_id,
		.pci_device = c->pci_device,
		.hw_rev = c->hw_rev,
	};
	_cleanup_close_ int dir =
		openat(sup->dir, "host", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char root[sizeof(sup->seg.dir) + 64];
	int r;

	if (dir < 0)
		return -errno;
	snprintf(root, sizeof(root), "%s/host/%.40s", sup->seg.dir, name);
	/* Remains of an earlier attempt that had no space even to clean up. */
	r = runtime_remove(dir, name);
	if (!r && mkdir(root, SUP_MODE(sup, 0700, 0070)) < 0)
		r = -errno;
	if (!r)
		r = fab_sysfs_render(&sup->seg, host, root, &ids);
	if (r)
		runtime_remove(dir, name);
	return r;
}

int sup_host_use(struct sup *sup, uint32_t host)
{
	const struct hw_host *h = seg_live(&sup->seg, SEG_T_HOST, host);
	int r = 0;

	if (!h)
		return -ENODEV;
	if (sup->used[host])
		return 0;
	for (uint32_t i = 0; i < h->nhcas && !r; i++) {
		const struct hw_hca *hca = hw_hca(&sup->seg, h->hca[i]);

		if (hca && hca->eqn[0] == SEG_NONE) /* an earlier attempt may have made it */
			r = fw_hca_init(&sup->seg, h->hca[i]);
	}
	if (!r && sup->fab.netns)
		r = netns_host(&sup->netns, &sup->seg, host);
	if (!r)
		r = make_tree(sup, host, h->name);
	if (!r)
		sup->used[host] = sup->sweeping ? USED_MEANWHILE : USED;
	return r;
}

int sup_host_netns(const struct sup *sup, uint32_t host)
{
	return sup->fab.netns ? sup->netns.host[host].fd : -1;
}

static void update_host(struct sup *sup, const struct hw_host *h)
{
	char root[sizeof(sup->seg.dir) + 64];

	snprintf(root, sizeof(root), "%s/host/%.31s", sup->seg.dir, h->name);
	for (uint32_t i = 0; i < h->nhcas; i++) {
		const struct hw_hca *hca = hw_hca(&sup->seg, h->hca[i]);

		for (uint32_t n = 0; hw_hca_is_in(&sup->seg, h->hca[i]) && n < hca->nports; n++) {
			fab_sysfs_update_port(&sup->seg, hca->port[n], root);
			fab_sysfs_update_tables(&sup->seg, hca->port[n], root);
		}
	}
}

/* One device node of an adapter: in its place, or aside. A new one lies in `fresh`. */
static void place_node(int dir, const char *host, const char *name, bool in)
{
	char here[128], aside[128], fresh[128];

	snprintf(here, sizeof(here), "%s/dev/infiniband/%s", host, name);
	snprintf(aside, sizeof(aside), "%s/" FAB_NODES_ASIDE "/%s", host, name);
	snprintf(fresh, sizeof(fresh), ".%s/dev/infiniband/%s", host, name);
	if (!in)
		renameat(dir, here, dir, aside);
	else if (faccessat(dir, here, F_OK, 0) < 0 && renameat(dir, aside, dir, here) < 0)
		renameat(dir, fresh, dir, here);
}

/* Processes know nodes by their inodes (shim/files/node.c), so an adapter keeps those it had. */
static void place_nodes(struct sup *sup, int dir, const struct hw_host *h)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/" FAB_NODES_ASIDE, h->name);
	mkdirat(dir, name, SUP_MODE(sup, 0700, 0050));
	for (uint32_t i = 0; i < h->nhcas; i++) {
		const struct hw_hca *hca = hw_hca(&sup->seg, h->hca[i]);
		bool in = hw_hca_is_in(&sup->seg, h->hca[i]);

		if (!hca)
			continue;
		snprintf(name, sizeof(name), "uverbs%u", hca->dev_index);
		place_node(dir, h->name, name, in);
		for (uint32_t n = 0; n < hca->nports; n++) {
			uint32_t u = fab_umad_index(&sup->seg, hca->port[n]);

			snprintf(name, sizeof(name), "umad%u", u);
			place_node(dir, h->name, name, in);
			snprintf(name, sizeof(name), "issm%u", u);
			place_node(dir, h->name, name, in);
		}
	}
}

/* Programs always find a whole tree. The name of the new one begins with a dot, as no host's does.
 */
void sup_host_again(struct sup *sup, uint32_t host)
{
	_cleanup_close_ int dir =
		openat(sup->dir, "host", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct hw_host *h = seg_live(&sup->seg, SEG_T_HOST, host);
	char name[sizeof(h->name) + 1], old[sizeof(h->name) + 5], new[sizeof(h->name) + 5];

	if (!h || !sup_host_used(sup, host) || dir < 0)
		return;
	snprintf(name, sizeof(name), ".%.31s", h->name);
	snprintf(old, sizeof(old), "%.31s/sys", h->name);
	snprintf(new, sizeof(new), ".%.31s/sys", h->name);
	if (make_tree(sup, host, name) || renameat2(dir, new, dir, old, RENAME_EXCHANGE) < 0)
		TRACE(LOG_ERROR, "sysfs of host %s not updated", h->name);
	place_nodes(sup, dir, h);
	runtime_remove(dir, name);
	update_host(sup, h); /* what others have changed in the old tree meanwhile */
}

void sup_hosts_swept(struct sup *sup)
{
	for (uint32_t i = 0; i < seg_table(&sup->seg, SEG_T_HOST)->high; i++) {
		const struct hw_host *h = seg_live(&sup->seg, SEG_T_HOST, i);

		if (sup->used[i] != USED_MEANWHILE || !h)
			continue;
		sup->used[i] = USED;
		update_host(sup, h);
	}
}
