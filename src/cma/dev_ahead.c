// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns the answers that travel with an event: what librdmacm asks about its id before the next
 * command that changes the id. Most commands of a connection are such questions.
 */
#include "cma/dev.h"

#include <assert.h>
#include <infiniband/verbs.h>
#include <string.h>

enum { ADDR = 1, GID = 2, PATH = 4, INIT = 8, RTR = 16, RTS = 32 };

/* By rdma_cm_event_type: the questions that librdmacm asks before the next event. */
static const uint8_t asked_after[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = ADDR | GID,
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = PATH | INIT,
	[RDMA_CM_EVENT_CONNECT_REQUEST] = ADDR | GID | PATH | INIT | RTR | RTS,
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = INIT | RTR | RTS,
};

static const struct {
	uint8_t bit, cmd;
	uint16_t key;
} questions[] = {
	{ADDR, RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_ADDR},
	{GID, RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_GID},
	{PATH, RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_PATH},
	{INIT, RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_INIT},
	{RTR, RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTR},
	{RTS, RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTS},
};
#define ANSWER(n) (sizeof(struct ucma_answer) + (n))
static_assert(2 * ANSWER(sizeof(struct rdma_ucm_query_addr_resp)) +
			      ANSWER(sizeof(struct rdma_ucm_query_path_resp) +
				     2 * sizeof(struct ib_path_rec_data)) +
			      3 * ANSWER(sizeof(struct ib_uverbs_qp_attr)) <=
		      UCMA_AHEAD_MAX,
	      "all of them");

/* Runs a query command with room for its whole response. Returns its length; 0: it fails. */
static size_t answer(struct dev_file *f, uint32_t id, uint32_t cmd, uint32_t key, void *out)
{
	const struct rdma_ucm_query query = {.id = id, .option = key};
	const struct rdma_ucm_init_qp_attr attr = {.id = id, .qp_state = key};
	const struct ucma_call call = {.file = f->file};
	size_t n = 0;
	struct dev_call c = {.file = f,
			     .call = &call,
			     .in_len = ucma_rows[cmd].in,
			     .out_len = UCMA_OUT_MAX,
			     .out = out,
			     .written = &n};
	int err =
		cmd == RDMA_USER_CM_CMD_QUERY ? dev_query(&c, &query) : dev_init_qp_attr(&c, &attr);

	return err ? 0 : n;
}

size_t dev_ahead(struct dev_file *f, const struct rdma_ucm_event_resp *e, void *out, size_t room)
{
	uint8_t bits = e->event < sizeof(asked_after) ? asked_after[e->event] : 0;
	uint8_t bytes[UCMA_OUT_MAX], *to = out;
	struct dev_ctx *ctx;

	/* INIT_QP_ATTR of a UD id chooses its Q_Key (cma_ib_init_qp_attr()). */
	if (!bits || dev_ctx_get(f, e->id, &ctx) || cma_qp_type(ctx->cm_id) == IBV_QPT_UD)
		return 0;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct ucma_answer a = {.cmd = questions[i].cmd, .key = questions[i].key};
		size_t n = bits & questions[i].bit ? answer(f, e->id, a.cmd, a.key, bytes) : 0;

		if (!n || n % 8 || ANSWER(n) > room)
			continue;
		a.len = (uint16_t)n;
		memcpy(to, &a, sizeof(a));
		memcpy(to + sizeof(a), bytes, n);
		to += ANSWER(n);
		room -= ANSWER(n);
	}
	return (size_t)(to - (uint8_t *)out);
}
