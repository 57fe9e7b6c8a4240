/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A text that is put together in a buffer, without malloc and stdio; what does not fit is cut. */
#ifndef SOFTHCA_ENGINE_CAUSE_TEXT_H
#define SOFTHCA_ENGINE_CAUSE_TEXT_H

#include "engine/cause.h"
#include "engine/qp.h"
#include "hw/told.h"

struct cause_text {
	char *buf;
	size_t size, n;
};

void cause_put(struct cause_text *t, const char *f, ...) __attribute__((format(printf, 2, 3)));
void cause_put_gid(struct cause_text *t, const uint8_t *gid);
void cause_put_port(struct cause_text *t, const struct seg *s, uint32_t port);
/* "QP 0x40 (RC, port h1/mlx5_0/1): " */
void cause_put_qp(struct cause_text *t, const struct seg *s, const struct hw_qp *qp, uint32_t qpn);
/* Whose receive is missing, and how often the requester tries. */
void cause_put_no_receive(struct cause_text *t, const struct seg *s, const struct hw_qp *qp,
			  uint32_t dest);
/* The name of qpc.state. */
const char *cause_state_name(uint32_t state);
/* Tells the text at the QP's adapter (hw/told.h). */
void cause_tell(const struct seg *s, const struct hw_qp *qp, enum hw_told_kind kind,
		const struct cause_text *t);
/* A trace line of a failure: WHAT(NAME=NUMBER): REASON. */
void cause_line(const char *what, const char *group, const char *name, uint32_t number,
		const char *reason);
/* "no answer: ...": why the request in hand has none, which has just been tried. */
void cause_put_silence(struct cause_text *t, struct eng_run *r);

#endif
