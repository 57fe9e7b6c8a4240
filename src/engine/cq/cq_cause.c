/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words for a CQ that fails. Called by cq.c with its lock.
 */
#include "engine/cq/cq.h"
#include "engine/base/cause_text.h"
#include "hw/cq.h"
#include "hw/use.h"
#include "util/fmt.h"

void cause_cq(struct seg *s, const struct hw_cq *cq, uint32_t cqn, uint32_t error)
{
	char line[CAUSE_TEXT];
	struct cause_text t = {line, sizeof(line), 0};
	const uint64_t v[] = {cqn, cq->gen, error};
	uint64_t key = hw_told_key(v, sizeof(v) / sizeof(v[0]));
	uint32_t size = 1u << cq->log_size;
	struct hw_use *u = hw_use(s, cq->hca);

	if (u)
		atomic_fetch_add_explicit(&u->cqs_failed, 1, memory_order_relaxed);
	if (error == HW_CQ_ERR_OVERRUN)
		cause_put(&t,
			  "overrun: a completion came, and the program has not polled the %u that "
			  "are in its %u entries",
			  size, size);
	else
		cause_put(&t, "the buffer is not accessible");
	cause_line("CQ error", "cq", "cqn", cqn, line);
	if (!hw_told(s, cq->hca, HW_TOLD_FAILED, key)) {
		char all[CAUSE_TEXT];

		fmt(all, sizeof(all), "CQ 0x%x: %s", cqn, line);
		hw_tell(s, cq->hca, HW_TOLD_FAILED, key, all);
	}
}
