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
#include "fw/caps.h"
#include "fw/fw.h"
#include "hw/hca.h"
#include "super/runtime.h"
#include "util/cleanup.h"

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
static int make_tree(struct sup *sup, uint32_t host, const struct hw_host *h,
		     const struct fab_sysfs_ids *ids)
{
	_cleanup_close_ int dir =
		openat(sup->dir, "host", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char root[sizeof(sup->seg.dir) + 64];
	int r;

	if (dir < 0)
		return -errno;
	snprintf(root, sizeof(root), "%s/host/%.31s", sup->seg.dir, h->name);
	/* Remains of an earlier attempt that had no space even to clean up. */
	r = runtime_remove(dir, h->name);
	if (!r && mkdir(root, SUP_MODE(sup, 0700, 0070)) < 0)
		r = -errno;
	if (!r)
		r = fab_sysfs_render(&sup->seg, host, root, ids);
	if (r)
		runtime_remove(dir, h->name);
	return r;
}

int sup_host_use(struct sup *sup, uint32_t host)
{
	const struct hw_caps *c = &sup->fab.caps;
	const struct fab_sysfs_ids ids = {
		.fw_ver = c->fw_ver,
		.hca_type = c->hca_type,
		.board_id = c->board_id,
		.pci_device = c->pci_device,
		.hw_rev = c->hw_rev,
	};
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
		r = make_tree(sup, host, h, &ids);
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

		for (uint32_t n = 0; hca && n < hca->nports; n++) {
			fab_sysfs_update_port(&sup->seg, hca->port[n], root);
			fab_sysfs_update_tables(&sup->seg, hca->port[n], root);
		}
	}
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
