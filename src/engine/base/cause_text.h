/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words that causes of failures have in common (path/cause.h): a text that is put together in a
 * buffer, without malloc and stdio, where what does not fit is cut; and what was noted for it.
 */
#ifndef SOFTHCA_ENGINE_CAUSE_TEXT_H
#define SOFTHCA_ENGINE_CAUSE_TEXT_H

#include "engine/base/base.h"
#include "hw/told.h"

/* Noted by the code that fails, for the line that is made of it soon after, in the same thread. */
struct cause_note {
	/* the key that sgl_add_key() has refused last; len 0: none */
	uint32_t key, pdn, qpn, access;
	uint64_t addr, len;
	uint64_t need, room; /* bytes of a message, and of the receive that is too short */
	enum eng_why theirs; /* why the receive of the other end failed */
	bool was_good;       /* check: the request's memory was registered when it was posted */
};
extern TLS_IE struct cause_note cause_note;

#define CAUSE_TEXT 320
/* The last text, for the trace line of the completion that follows. */
extern TLS_IE struct cause_last {
	uint32_t qpn;
	enum eng_why why;
	char text[CAUSE_TEXT];
} cause_last;

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
/* The text that was made last for this QP and reason, or that of the reason alone. */
const char *cause_text(uint32_t qpn, enum eng_why why);

#endif
