// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A rank that is bound to one CPU uses all adapters, as if all were near it. */
#include "ends.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

/* -1: the system tells none. */
static int node_of(const struct ibv_device *d)
{
	char path[IBV_SYSFS_PATH_MAX + 32];
	int node = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/device/numa_node", d->ibdev_path);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &node) != 1)
		fails(path, errno);
	fclose(f);
	return node;
}

/* Binds itself to the CPU on which it runs; its NUMA node. */
static int own_node(void)
{
	unsigned int cpu, node;
	cpu_set_t one;

	if (getcpu(&cpu, &node))
		fails("getcpu", errno);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fails("sched_setaffinity", errno);
	return (int)node;
}

int main(void)
{
	int n, node, own = own_node(), near = 0;
	struct ends *all = ends_open_all(&n);

	for (int i = 0; i < n; i++) {
		node = node_of(all[i].context->device);
		if (node >= 0 && node != own) {
			if (is_right)
				continue;
			fails("an adapter is at another NUMA node than the process", 0);
		}
		near++;
		all[i].a.gid_index = all[i].b.gid_index = ends_good_gid(&all[i]);
		ends_send(&all[i]);
	}
	if (!near)
		lacks("no adapter is near the process");
	return 0;
}
