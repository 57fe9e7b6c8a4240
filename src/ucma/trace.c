/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the trace of rdma_cm: a line for each command, with the id, the result, and events. */
#include "ucma/trace.h"

#include <string.h>
#include "util/log.h"

static const char *const events[] = {
	"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
	"CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
	"REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
	"MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT",
};

/* Where a command's struct has its id; NONE: it has none. */
#define NONE UINT32_MAX
#define ID(cmd, s) [RDMA_USER_CM_CMD_##cmd] = offsetof(struct rdma_ucm_##s, id)
static const uint32_t id_at[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = NONE,
	[RDMA_USER_CM_CMD_GET_EVENT] = NONE,
	ID(DESTROY_ID, destroy_id),
	ID(BIND_IP, bind_ip),
	ID(RESOLVE_IP, resolve_ip),
	ID(RESOLVE_ROUTE, resolve_route),
	ID(QUERY_ROUTE, query),
	ID(CONNECT, connect),
	ID(LISTEN, listen),
	ID(ACCEPT, accept),
	ID(REJECT, reject),
	ID(DISCONNECT, disconnect),
	ID(INIT_QP_ATTR, init_qp_attr),
	ID(SET_OPTION, set_option),
	ID(NOTIFY, notify),
	ID(JOIN_IP_MCAST, join_ip_mcast),
	ID(LEAVE_MCAST, destroy_id),
	ID(MIGRATE_ID, migrate_id),
	ID(QUERY, query),
	ID(BIND, bind),
	ID(RESOLVE_ADDR, resolve_addr),
	ID(JOIN_MCAST, join_mcast),
};

static void trace_event(const struct rdma_ucm_event_resp *e)
{
	const char *name = e->event < sizeof(events) / sizeof(events[0]) ? events[e->event] : "?";

	log_line(LOG_CM, "event %s id %u status %d", name, e->id, (int)e->status);
}

void ucma_trace(const void *in, size_t len, int result, const void *out, size_t n)
{
	const struct ucma_row *row = ucma_row_of(in, len);
	const struct rdma_ucm_cmd_hdr *h = in;
	uint32_t id = 0;

	if (!row) {
		log_line(LOG_CM, "command %u: %s", len >= sizeof(*h) ? h->cmd : UINT32_MAX,
			 log_errno_name(-result));
		return;
	}
	if (h->cmd == RDMA_USER_CM_CMD_GET_EVENT && !result && n >= sizeof(uint64_t) * 3) {
		struct rdma_ucm_event_resp e = {0};

		memcpy(&e, out, n < sizeof(e) ? n : sizeof(e));
		trace_event(&e);
		return;
	}
	if (h->cmd == RDMA_USER_CM_CMD_CREATE_ID && !result && n >= sizeof(id))
		memcpy(&id, out, sizeof(id));
	else if (id_at[h->cmd] != NONE && sizeof(*h) + id_at[h->cmd] + sizeof(id) <= len)
		memcpy(&id, (const uint8_t *)(h + 1) + id_at[h->cmd], sizeof(id));
	log_line(LOG_CM, "%s id %u: %s", row->name, id, result ? log_errno_name(-result) : "ok");
}
