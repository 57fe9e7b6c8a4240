/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A responder that lives and does not answer. */
#include "cards.h"

static const enum op ops[] = {WRITE, READ, SEND, FAA};

/* All operations at once: each waits for itself. */
static void in_state(enum ibv_qp_state to, uint8_t retries)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	struct options o = {.timeout = 8, .retries = retries};
	struct pair p[COUNT(ops)];

	for (size_t i = 0; i < COUNT(ops); i++) {
		struct request r;

		NEED(pair_make(&p[i], &o));
		to_state(p[i].b.qp, to);
		r = good(&p[i], ops[i], 8);
		post(&p[i], &r);
	}
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct ibv_wc wc = next_wc(p[i].a.cq);

		check(dead_state,
		      text("%s, responder in %s, retry_cnt %u", op_names[ops[i]], names[to],
			   retries),
		      text("%s, a ERR, b %s, events: none", result(IBV_WC_RETRY_EXC_ERR, 0x81),
			   names[to]),
		      text("%s, a %s, b %s, events: %s", wc_text(&wc, true), state_name(p[i].a.qp),
			   state_name(p[i].b.qp), events(&p[i], false)));
		pair_free(&p[i]);
	}
}

static void destroyed(void)
{
	struct options o = {.timeout = 8};
	struct pair p[COUNT(ops)];

	for (size_t i = 0; i < COUNT(ops); i++) {
		struct request r;

		NEED(pair_make(&p[i], &o));
		NEED(!ibv_destroy_qp(p[i].b.qp));
		p[i].b.qp = NULL;
		r = good(&p[i], ops[i], 8);
		post(&p[i], &r);
	}
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct ibv_wc wc = next_wc(p[i].a.cq);

		check(dead_state, text("%s, responder destroyed", op_names[ops[i]]),
		      text("%s, a ERR, events: none", result(IBV_WC_RETRY_EXC_ERR, 0x81)),
		      text("%s, a %s, events: %s", wc_text(&wc, true), state_name(p[i].a.qp),
			   events(&p[i], false)));
		pair_free(&p[i]);
	}
}

void dead_group(void)
{
	in_state(IBV_QPS_ERR, 1);
	in_state(IBV_QPS_ERR, 0);
	in_state(IBV_QPS_RESET, 1);
	in_state(IBV_QPS_INIT, 1);
	destroyed();
}
