/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the names of settings and of their values. */
#include "world/world.h"

#include <stdio.h>
#include "hw/world.h"

#define VALUES 5
#define HAS "yes", "none"

static const struct {
	const char *name;
	const char *value[VALUES]; /* none: it is a number */
} settings[HW_SETTINGS] = {
	[HW_SET_GID_TYPES] = {"gid-types", {"RoCE v1, then v2", "RoCE v2", "RoCE v2, then v1"}},
	[HW_SET_DEPTH] = {"queue-depth", {NULL}},
	[HW_SET_RECV_SGES] = {"receive-sges", {NULL}},
	[HW_SET_SEND_WQE] = {"send-wqe-bytes", {NULL}},
	[HW_SET_READS] = {"outstanding-reads", {NULL}},
	[HW_SET_OBJECTS] = {"qps", {NULL}},
	[HW_SET_SRQ] = {"srq", {HAS}},
	[HW_SET_ATOMICS] = {"atomics", {HAS}},
	[HW_SET_ODP] = {"odp", {HAS}},
	[HW_SET_MW] = {"memory-windows", {HAS}},
	[HW_SET_DEVX] = {"devx", {HAS}},
	[HW_SET_CONNECTED] = {"connected", {"RC, UC, XRC, DC", "UC"}},
	[HW_SET_MEMLOCK] = {"memlock-kib", {NULL}},
	[HW_SET_IOCTL] = {"ioctl-methods", {HAS}},
	[HW_SET_NETLINK] = {"netlink-rdma", {HAS}},
	[HW_SET_RDMA_CM] = {"rdma_cm", {HAS}},
	[HW_SET_DEV_OWNER] = {"device-files", {"mode 0666", "mode 0600, of root"}},
	[HW_SET_PACE] = {"work-is-done", {"at once", "late", "late, one by one", "in batches"}},
	[HW_SET_WAKEUPS] = {"wake-ups", {"for completions", "also for none"}},
	[HW_SET_NUMBERS] = {"numbers", {"ascending", "sparse"}},
	[HW_SET_PKEYS] = {"pkeys", {"0xffff", "0x8001, 0xffff", "0x7fff, 0x8001", "none, 0x8001"}},
};

const char *world_setting(enum hw_setting what)
{
	return settings[what].name;
}

const char *world_value(enum hw_setting what, uint32_t value)
{
	return value < VALUES ? settings[what].value[value] : NULL;
}
