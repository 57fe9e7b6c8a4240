// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A write(2) to the rdma_cm character device: framing (ucma_write() of ucma.c) and the table of
 * handlers. Sizes and names of the commands are in ucma/abi.c.
 */
#include "cma/dev.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include "util/bug.h"

struct dev_cmd {
	dev_cmd_fn *run;
	uint16_t room; /* shorter room for the response: -ENOSPC before the struct is copied */
};

#define CMD(n, f, ...) [RDMA_USER_CM_CMD_##n] = {.run = dev_##f, ##__VA_ARGS__}
#define ROOM(t) .room = sizeof(struct rdma_ucm_##t)
static const struct dev_cmd cmds[] = {
	CMD(CREATE_ID, create_id, ROOM(create_id_resp)),
	CMD(DESTROY_ID, destroy_id, ROOM(destroy_id_resp)),
	CMD(BIND_IP, bind_ip),
	CMD(RESOLVE_IP, resolve_ip),
	CMD(RESOLVE_ROUTE, resolve_route),
	CMD(QUERY_ROUTE, query_route,
	    .room = offsetof(struct rdma_ucm_query_route_resp, ibdev_index)),
	CMD(CONNECT, connect),
	CMD(LISTEN, listen),
	CMD(ACCEPT, accept),
	CMD(REJECT, reject),
	CMD(DISCONNECT, disconnect),
	CMD(INIT_QP_ATTR, init_qp_attr, .room = sizeof(struct ib_uverbs_qp_attr)),
	/* Accept less room: 32-bit programs have no padding before the ECE, old programs no ECE. */
	CMD(GET_EVENT, get_event, .room = offsetof(struct rdma_ucm_event_resp, reserved)),
	CMD(SET_OPTION, set_option),
	CMD(NOTIFY, notify),
	CMD(JOIN_IP_MCAST, join_ip_mcast),
	CMD(LEAVE_MCAST, leave_mcast, ROOM(destroy_id_resp)),
	CMD(MIGRATE_ID, migrate_id),
	CMD(QUERY, query),
	CMD(BIND, bind),
	CMD(RESOLVE_ADDR, resolve_addr),
	CMD(JOIN_MCAST, join_mcast),
};
static_assert(offsetof(struct rdma_ucm_event_resp, reserved) ==
		      sizeof(struct rdma_ucm_event_resp) - 4 - sizeof(struct rdma_ucm_ece),
	      "ucma_get_event()");

int dev_respond(const struct dev_call *c, const void *data, size_t len)
{
	if (c->call->no_response || BUG_ON(len > UCMA_OUT_MAX))
		return -EFAULT;
	memcpy(c->out, data, len);
	*c->written = len;
	return 0;
}

/* Calls the handler of a command, after the checks that all commands share. */
static int run(struct dev_call *c, uint32_t cmd, const uint8_t *in, size_t have)
{
	union {
		uint64_t align;
		uint8_t bytes[UCMA_IN_MAX];
	} u = {0};
	const struct ucma_row *row = &ucma_rows[cmd];
	size_t len = row->in;
	uint32_t id;

	if (c->out_len < cmds[cmd].room)
		return -ENOSPC;
	if (c->in_len < row->in_min)
		return -EINVAL;
	/* Only a struct that has grown heeds in_len; else the kernel copies all of it. */
	if (row->in_min && c->in_len < len)
		len = c->in_len;
	if (have < len)
		return -EFAULT;
	memcpy(u.bytes, in, len);
	if (row->id != UCMA_NO_ID && row->check != UCMA_CHECK_LATE) {
		memcpy(&id, u.bytes + row->id, sizeof(id));
		dev_changed(c->file, id);
	}
	return cmds[cmd].run(c, u.bytes);
}

ssize_t cma_write(struct cma *cma, const struct ucma_call *call, const void *in, const void *aux,
		  void *out, size_t *out_len)
{
	struct dev_call c = {.file = dev_file_of(cma_dev_of(cma), call->file),
			     .call = call,
			     .aux = aux,
			     .out = out,
			     .written = out_len};
	struct rdma_ucm_cmd_hdr h;
	int err;

	*out_len = 0;
	if (!c.file)
		return -EBADF;
	if (call->count < sizeof(h))
		return -EINVAL;
	if (call->len < sizeof(h))
		return -EFAULT;
	memcpy(&h, in, sizeof(h));
	if (h.cmd >= ucma_nrows || h.in + sizeof(h) > call->count)
		return -EINVAL;
	if (!ucma_rows[h.cmd].name)
		return -ENOSYS;
	if (BUG_ON(h.cmd >= sizeof(cmds) / sizeof(cmds[0]) || !cmds[h.cmd].run))
		return -ENOSYS;
	c.in_len = h.in;
	c.out_len = h.out;
	dev_file_sync(c.file);
	err = run(&c, h.cmd, (const uint8_t *)in + sizeof(h), call->len - sizeof(h));
	/* Events that the command has caused are in the queue before its answer arrives. */
	dev_queue_fresh(c.file->dev);
	return err ? err : (ssize_t)call->count;
}
