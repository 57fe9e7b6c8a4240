/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the trace of rdma_cm: each command is a line with its id and result, and so is each event.
 */
#include "ucma/trace.h"

#include <string.h>
#include "util/log.h"

static const char *const events[] = {
	"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
	"CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
	"REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
	"MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT",
};

static void trace_event(const struct rdma_ucm_event_resp *e)
{
	const char *name = e->event < sizeof(events) / sizeof(events[0]) ? events[e->event] : "?";

	log_command(LOG_CM, "GET_EVENT", e->status != 0, "event %s id %u status %d", name, e->id,
		    (int)e->status);
}

void ucma_trace(const void *in, size_t len, int result, const void *out, size_t n)
{
	const struct ucma_row *row = ucma_row_of(in, len);
	const struct rdma_ucm_cmd_hdr *h = in;
	uint32_t id = 0;

	if (!row) {
		log_command(LOG_CM, NULL, true, "command %u: %s",
			    len >= sizeof(*h) ? h->cmd : UINT32_MAX, log_errno_name(-result));
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
	else if (row->id != UCMA_NO_ID && sizeof(*h) + row->id + sizeof(id) <= len)
		memcpy(&id, (const uint8_t *)(h + 1) + row->id, sizeof(id));
	log_command(LOG_CM, row->name, result != 0, "%s id %u: %s", row->name, id,
		    result ? log_errno_name(-result) : "ok");
}
