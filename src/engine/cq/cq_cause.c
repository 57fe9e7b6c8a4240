/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words for a CQ that fails. Called by cq.c with its lock.
 */
#include "engine/cq/cq.h"
#include "engine/cq/cq_event.h"
#include "engine/base/cause_text.h"
#include "check/check.h"
#include "fault/fault.h"
#include "hw/cq.h"
#include "hw/use.h"
#include "util/fmt.h"

bool cq_overruns(struct seg *s, const struct hw_cq *cq, uint32_t cqn)
{
	const struct fault_moment m = {.at = HW_AT_CQE,
				       .end = {{.proc = cq->mem.slot,
						.hca = cq->hca,
						.kind = HW_FK_CQ,
						.num = cqn,
						.nth = cq->nth},
					       {.proc = SEG_NONE, .hca = SEG_NONE}}};
	struct hw_fault_effect e;
	uint64_t v;

	return fault_hit(s, &m, &e) && fault_does(&e, FAULT_OVERRUN, &v);
}

void cause_cq(struct seg *s, const struct hw_cq *cq, uint32_t cqn, uint32_t error)
{
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	const uint64_t v[] = {cqn, cq->gen, error};
	uint64_t key = hw_told_key(v, sizeof(v) / sizeof(v[0]));
	uint32_t size = 1u << cq->log_size;
	struct hw_use *u = hw_use(s, cq->hca);
	const struct check_about a = {
		.kind = "CQ", .number = cqn, .elsewhere = cq->mem.slot != s->self};

	if (u)
		atomic_fetch_add_explicit(&u->cqs_failed, 1, memory_order_relaxed);
	if (error == HW_CQ_ERR_OVERRUN &&
	    ((atomic_load(&cq->pi) - cq->ci_cached) & CQ_COUNTER) < size)
		cause_put(&t, "overrun, by a rule of --inject");
	else if (error == HW_CQ_ERR_OVERRUN) {
		cause_put(&t,
			  "overrun: a completion came, and the program has not polled the %u that "
			  "are in its %u entries",
			  size, size);
		if (CHECK_ON())
			check_say(CHECK_R_CQ_OVERRUN, &a, "CQ 0x%x: %s", cqn, line);
	} else
		cause_put(&t, "the buffer is not accessible");
	cause_line("CQ error", "cq", "cqn", cqn, line);
	if (!hw_told(s, cq->hca, HW_TOLD_FAILED, key)) {
		char all[CAUSE_TEXT];

		fmt(all, sizeof(all), "CQ 0x%x: %s", cqn, line);
		hw_tell(s, cq->hca, HW_TOLD_FAILED, key, all);
	}
}
