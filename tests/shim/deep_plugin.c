/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What deep.c loads with RTLD_DEEPBIND: its own names come first, as the plug-ins of MPI want. */
#include <dirent.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <unistd.h>

const char *deep_who(void);
int plugin_devices(void);
const char *plugin_who(void);
int plugin_access(void);
int plugin_sync(void);

const char *deep_who(void)
{
	return "plugin";
}

const char *plugin_who(void)
{
	return deep_who();
}

int plugin_devices(void)
{
	struct ibv_device **l;
	struct ibv_context *c;
	int n = 0;

	l = ibv_get_device_list(&n);
	c = l && n ? ibv_open_device(l[0]) : NULL;
	if (!c)
		return -1;
	ibv_close_device(c);
	ibv_free_device_list(l);
	return n;
}

/* Through a pointer in constant data, and by a call. */
static int (*const volatile pointer)(const char *, int) = access;

int plugin_access(void)
{
	return pointer("/sys/class/infiniband/mlx5_0", F_OK) ||
	       access("/sys/class/infiniband/mlx5_0", F_OK);
}

/* A name of libc that the plug-in has put before libc, and before ours. */
int euidaccess(const char *path, int mode)
{
	return 4711;
}

int plugin_sync(void)
{
	return euidaccess("/", F_OK);
}
