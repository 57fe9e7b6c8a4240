/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies between a requester's and a responder's memory through this thread's gate. Called by
 * whoever moves the data of a message, with no CQ's lock held.
 */
#include "engine/move/move.h"
#include "engine/keys/sig.h"
#include "util/point.h"

#include <errno.h>

int sgl_copy_gated(struct eng_run *r, struct eng_sgl *dst, struct eng_sgl *src)
{
	int rc;

	POINT("keys-looked-up");
	if (__builtin_expect((src->odp | dst->odp) != 0, 0)) {
		odp_page_in(r->s, src, src->len);
		odp_page_in(r->s, dst, src->len);
	}
	mem_gate = &r->ring->gate;
	rc = __builtin_expect(src->sig || dst->sig, 0) ? -EFAULT : sgl_copy(r->s, dst, src);
	/*
	 * Which side has faulted is known only of a copy by way of a buffer. A page that is there
	 * again by now is copied, as by a card that asks for it again.
	 */
	if (__builtin_expect(rc == -EFAULT, 0)) {
		POINT("copy-faulted");
		rc = sig_copy(r, dst, src);
	}
	mem_gate = NULL;
	return rc;
}
