/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the table of worlds. Every world is legal: a correct program works there, or says what it
 * lacks.
 * To add one, add a row; what it sets is read where the behaviour is, through hw_setting().
 */
#include "world/world.h"

#include "hw/world.h"

static const struct world_row rows[] = {
	{"gid-v2-only",
	 "GIDs",
	 {.link = WORLD_ETH},
	 {{HW_SET_GID_TYPES, HW_GID_TYPES_V2}},
	 "only RoCE v2 entries in the GID table",
	 "Without the entries of RoCE v1 every index is another: index 3 is not the IPv4 address. "
	 "Choose the entry by type and address (ibv_query_gid_table), not by number.",
	 "uccl#803"},
	{"gid-v2-first",
	 "GIDs",
	 {.link = WORLD_ETH},
	 {{HW_SET_GID_TYPES, HW_GID_TYPES_V2_FIRST}},
	 "each address has its RoCE v2 entry before that of v1",
	 "Index 1 and 3 are RoCE v1 there: a peer that uses v2 does not answer. Choose the entry "
	 "by its type.",
	 NULL},
	{"pkey-shifted",
	 "P_Keys",
	 {.link = WORLD_IB},
	 {{HW_SET_PKEYS, HW_PKEYS_SHIFTED}},
	 "P_Key 0xffff is at index 1, 0x8001 at index 0",
	 "Index 0 is not the default partition. Look the P_Key up (ibv_get_pkey_index), or use one "
	 "index at both ends.",
	 NULL},
	{"small-depth",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_DEPTH, 128}},
	 "at most 128 work requests in a queue",
	 "ibv_create_qp() refuses more. Ask ibv_query_device() for max_qp_wr, max_srq_wr and "
	 "max_cqe, and take less if need be.",
	 NULL},
	{"small-sges",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_RECV_SGES, 4}},
	 "at most 4 scatter/gather elements (max_sge)",
	 "ibv_create_qp() refuses more. Ask for max_sge, and copy into one buffer what has more "
	 "pieces.",
	 NULL},
	{"small-inline",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_SEND_WQE, 256}},
	 "send WQEs of 256 bytes: an RC QP takes 60 bytes inline",
	 "ibv_create_qp() refuses more max_inline_data. Try less, and read what the QP got from "
	 "the attributes that come back.",
	 NULL},
	{"no-srq",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_SRQ, HW_HAS_NOT}},
	 "no shared receive queues (max_srq is 0), thus no XRC, DC and tag matching",
	 "ibv_create_srq() fails with EOPNOTSUPP. Give each QP a receive queue of its own there.",
	 NULL},
	{"no-atomics",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_ATOMICS, HW_HAS_NOT}},
	 "no atomic operations (atomic_cap is IBV_ATOMIC_NONE)",
	 "ibv_modify_qp() to RTR with IBV_ACCESS_REMOTE_ATOMIC fails with EOPNOTSUPP, also for "
	 "connections of rdma_cm, which set it for responder_resources. Ask for atomic_cap first.",
	 NULL},
	{"no-odp",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_ODP, HW_HAS_NOT}},
	 "no on-demand paging",
	 "IBV_ACCESS_ON_DEMAND fails with EINVAL. Ask ibv_query_device_ex() for odp_caps, and pin "
	 "the "
	 "memory else.",
	 NULL},
	{"no-windows",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_MW, HW_HAS_NOT}},
	 "no memory windows (max_mw is 0)",
	 "ibv_alloc_mw() fails with EOPNOTSUPP. Look at IBV_DEVICE_MEM_WINDOW, and register a "
	 "region "
	 "else.",
	 NULL},
	{"one-read",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_READS, 1}},
	 "one outstanding READ or atomic operation (max_qp_rd_atom is 1)",
	 "ibv_modify_qp() refuses a greater max_rd_atomic or max_dest_rd_atomic. Take the "
	 "smaller one of both ends' limits.",
	 NULL},
	{"few-objects",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_OBJECTS, 64}},
	 "64 QPs, 64 CQs, 128 memory regions, 16 PDs and one completion vector",
	 "Objects run out (ENOMEM): programs that make one for each peer, or never destroy them, "
	 "or use completion vector 1 unasked.",
	 NULL},
	{"no-devx",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_DEVX, HW_HAS_NOT}},
	 "no DEVX (log_max_uctx is 0)",
	 "mlx5dv_open_device() with MLX5DV_CONTEXT_FLAGS_DEVX fails with EINVAL, and libraries "
	 "that "
	 "try DEVX first must go on without it.",
	 NULL},
	{"uc-only",
	 "Small adapters",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_CONNECTED, HW_CONNECTED_UC}},
	 "UC is the only connected transport, as over Thunderbolt",
	 "ibv_create_qp() with IBV_QPT_RC fails with EOPNOTSUPP; there are no READs and atomics, "
	 "and what is lost stays lost.",
	 NULL},
	{"memlock",
	 "Systems",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_MEMLOCK, 64}},
	 "64 KiB of locked memory, for root too: a container without CAP_IPC_LOCK",
	 "ibv_reg_mr() and the queues of a QP fail with ENOMEM. Say it in the message, with "
	 "RLIMIT_MEMLOCK and \"ulimit -l\".",
	 NULL},
	{"no-rdma-cm",
	 "Systems",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_RDMA_CM, HW_HAS_NOT}},
	 "no /dev/infiniband/rdma_cm: module rdma_ucm is not loaded, or the container has not got "
	 "it",
	 "rdma_create_event_channel() fails with ENODEV. Say so, or exchange addresses in another "
	 "way.",
	 NULL},
	{"no-netlink",
	 "Systems",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_NETLINK, HW_HAS_NOT}},
	 "no NETLINK_RDMA: an old kernel, or a container that forbids it",
	 "socket() fails with EPROTONOSUPPORT; libibverbs then lists devices from sysfs. Do so "
	 "too.",
	 NULL},
	{"write-only",
	 "Systems",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_IOCTL, HW_HAS_NOT}, {HW_SET_DEVX, HW_HAS_NOT}},
	 "no RDMA_VERBS_IOCTL (ENOTTY), as Linux before 4.14: commands by write() only",
	 "Device memory, counters, DEVX and others have no write() command, thus are not there, "
	 "nor is "
	 "RDMA_VERBS_IOCTL itself. libibverbs falls back for the rest.",
	 NULL},
	{"root-devices",
	 "Systems",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_DEV_OWNER, HW_DEV_ROOT}},
	 "uverbs and umad files that root alone may open",
	 "ibv_open_device() fails with EACCES for others: the udev rule of rdma-core is missing, "
	 "or "
	 "the container's device has mode 0600. Name the file and the reason.",
	 NULL},
	{"late",
	 "Order and pace",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_PACE, HW_PACE_LATE}},
	 "work is executed up to 1 ms after its doorbell",
	 "The first ibv_poll_cq() after a post finds nothing, and buffers are in use after "
	 "ibv_post_send() has returned. Poll until the completion comes, and write to the buffer "
	 "only then.",
	 NULL},
	{"one-by-one",
	 "Order and pace",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_PACE, HW_PACE_SINGLE}},
	 "completions come singly, some time after each other",
	 "ibv_poll_cq() returns fewer than were posted. Count what comes, and poll again.",
	 NULL},
	{"batches",
	 "Order and pace",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_PACE, HW_PACE_BATCHES}},
	 "work is executed every 4 ms, so completions of many requests come together",
	 "One event of a completion channel stands for many completions. Poll until nothing is "
	 "left before the next ibv_get_cq_event().",
	 NULL},
	{"spurious-wakeups",
	 "Order and pace",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_WAKEUPS, HW_WAKEUPS_SPURIOUS}},
	 "every second ibv_req_notify_cq() raises an event without a completion",
	 "ibv_poll_cq() may find nothing after an event. Arm the CQ again, and wait again.",
	 NULL},
	{"sparse-numbers",
	 "Numbers",
	 {WORLD_ANY_LINK, 0, 0, 0},
	 {{HW_SET_NUMBERS, HW_NUMBERS_SPARSE}},
	 "numbers of QPs, CQs, SRQs, PDs and keys are anywhere in their range",
	 "Two QPs of a program are not neighbours, the second key is not the first one plus a "
	 "constant, and a table by QPN needs 2^20 entries.",
	 NULL},
};

const struct world_row *world_row(size_t i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}
