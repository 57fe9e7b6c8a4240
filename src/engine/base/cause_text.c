/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words that causes of failures have in common. Called by cause.c and cause_queue.c. */
#include "engine/base/base.h"
#include "engine/base/cause_text.h"
#include "fabric/fabric.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "util/fmt.h"
#include "util/rec.h"
#include "wire/prm/prm.h"

TLS_IE struct cause_note cause_note;

TLS_IE struct cause_last cause_last;

void cause_put(struct cause_text *t, const char *f, ...)
{
	va_list ap;

	if (t->n + 1 >= t->size)
		return;
	va_start(ap, f);
	t->n += fmt_v(t->buf + t->n, t->size - t->n, f, ap);
	va_end(ap);
}

void cause_put_gid(struct cause_text *t, const uint8_t *gid)
{
	for (unsigned int i = 0; i < 16; i += 2)
		cause_put(t, "%s%x", i ? ":" : "", (unsigned int)be16_load(gid + i));
}

void cause_put_port(struct cause_text *t, const struct seg *s, uint32_t port)
{
	char name[FAB_PORT_NAME];

	cause_put(t, "%s", fab_port_name(s, port, name));
}

const char *cause_state_name(uint32_t state)
{
	const char *name = prm_value_name(&layout_qpc, LF_qpc_state_BIT, state);

	return name ? name : "?";
}

/* "QP 0x40 (RC, h1/mlx5_0): " */
void cause_put_qp(struct cause_text *t, const struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	uint32_t port = hw_qp_path(qp)->port;

	cause_put(t, "QP 0x%x (%s", qpn, hw_service(qp->st)->name);
	if (port != SEG_NONE) { /* it has none before INIT */
		cause_put(t, ", port ");
		cause_put_port(t, s, port);
	}
	cause_put(t, "): ");
}

void cause_put_no_receive(struct cause_text *t, const struct seg *s, const struct hw_qp *qp,
			  uint32_t dest)
{
	const struct hw_qp *peer = hw_qp(s, dest);

	if (!peer || peer->srqn == SEG_NONE)
		cause_put(t, ": QP 0x%x", dest);
	else
		cause_put(t, ": SRQ 0x%x of QP 0x%x", peer->srqn, dest);
	cause_put(t, "; rnr_retry %u, min_rnr_timer %u there", qp->rnr_retry,
		  peer ? peer->min_rnr_nak : 0);
}

void cause_tell(const struct seg *s, const struct hw_qp *qp, enum hw_told_kind kind,
		const struct cause_text *t)
{
	/* Addresses and PSNs differ from message to message: the words decide, not the reason. */
	hw_tell_words(s, qp->hca, kind, t->buf);
}

void cause_line(const char *what, const char *group, const char *name, uint32_t number,
		const char *reason)
{
	struct rec rec;

	if (!TRACE_ON(LOG_CQE))
		return;
	rec_begin(&rec, LOG_CQE, what, 0);
	rec.failed = true;
	rec_group(&rec, group, "(");
	rec_x(&rec, name, number);
	rec_group_end(&rec, ")");
	rec_say(&rec, "reason", ": ", reason);
	rec_end(&rec);
}

const char *cause_text(uint32_t qpn, enum eng_why why)
{
	return cause_last.qpn == qpn && cause_last.why == why && cause_last.text[0]
		       ? cause_last.text
		       : eng_failures[why].text;
}
