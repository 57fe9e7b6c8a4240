/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the names of settings and of their values. */
#include "world/world.h"

#include <stdio.h>
#include "hw/world.h"

#define VALUES 6
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
	[HW_SET_EX] = {"extended-commands", {HAS}},
	[HW_SET_NETLINK] = {"netlink-rdma", {HAS}},
	[HW_SET_RDMA_CM] = {"rdma_cm", {HAS}},
	[HW_SET_DEV_OWNER] = {"device-files", {"mode 0666", "mode 0600, of root"}},
	[HW_SET_PKEYS] = {"pkeys",
			  {"0xffff", "0x8001, 0xffff", "0x7fff, 0x8001", "0x8001, 0x7fff"}},
	[HW_SET_LMC] = {"lmc", {NULL}},
	[HW_SET_LIDS] = {"first-lid", {NULL}},
	[HW_SET_SM_AT] = {"subnet-manager",
			  {"at the first adapter", "at a switch", "at the last adapter"}},
	[HW_SET_GRH] = {"grh", {"optional", "required"}},
	[HW_SET_ADDRS] = {"addresses", {"IPv4", "link-local only", "IPv6 only", "none"}},
	[HW_SET_ROUTED] = {"ports-are", {"in one subnet", "in a subnet of their own"}},
	[HW_SET_GID_HOLES] = {"gid-holes", {"none", "before the IPv4 address"}},
	[HW_SET_DARK] = {"no-link", {"none", "the first adapter", "port 1"}},
	[HW_SET_MTU] = {"mtu", {NULL, "256", "512", "1024", "2048"}},
	[HW_SET_WIDTH] = {"width", {NULL, "1x", "4x"}},
	[HW_SET_SPEED] = {"speed", {NULL, "2.5 Gb/s", "5 Gb/s"}},
	[HW_SET_PACE] = {"work-is-done", {"at once", "late", "late, one by one", "in batches"}},
	[HW_SET_WAKEUPS] = {"wake-ups", {"for completions", "also for none"}},
	[HW_SET_NAMES] = {"names", {"mlx5_0", "mlx5_bond_0", "by PCI path", "mlx5_1 first"}},
	[HW_SET_ADAPTERS] = {"adapters", {HAS}},
	[HW_SET_LINKS] = {"links", {"alike", "InfiniBand and Ethernet"}},
	[HW_SET_RAILS] = {"rails", {"connected", "separate"}},
	[HW_SET_VLAN] = {"vlan", {NULL}},
	[HW_SET_LATE_MS] = {"link-after-ms", {NULL}},
	[HW_SET_NUMA] = {"numa-nodes", {NULL}},
	[HW_SET_CHANGE_MS] = {"addresses-change-ms", {NULL}},
	[HW_SET_MODEL] = {"adapter",
			  {"ConnectX-6", "ConnectX-7", "ConnectX-4", "ConnectX-5", "ConnectX-6 Dx",
			   "BlueField-2"}},
	[HW_SET_ANSWERS] = {"answers-arrive",
			    {"before the next request leaves", "after an unfenced one"}},
	[HW_SET_GIDS] = {"gid-entries", {NULL}},
	[HW_SET_SA_MS] = {"sa-answers-after-ms", {NULL}},
	[HW_SET_NUMBERS] = {"numbers", {"ascending", "sparse"}},
};

const char *world_setting(enum hw_setting what)
{
	return settings[what].name;
}

bool world_is_number(enum hw_setting what)
{
	return !settings[what].value[0];
}

const char *world_value(enum hw_setting what, uint32_t value, char buf[WORLD_VALUE])
{
	const char *word = value < VALUES ? settings[what].value[value] : NULL;

	if (word)
		return word;
	snprintf(buf, WORLD_VALUE, "%u", value);
	return buf;
}
