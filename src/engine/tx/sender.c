/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a send queue of each transport does: the rows of sender.h.
 */
#include "engine/tx/tx.h"
#include "engine/tx/sender.h"

const struct eng_sender eng_senders[ENG_TRANSPORTS] = {
	[PRM_ST_RC] = {.execute = rc_execute,
		       .peer = rc_peer,
		       .accepts = rc_accepts,
		       .back = rc_back},
	[PRM_ST_UC] = {.execute = rc_execute, .peer = rc_peer, .accepts = rc_accepts},
	[PRM_ST_UD] = {.execute = ud_execute},
	[PRM_ST_XRC] = {.execute = rc_execute,
			.peer = rc_peer,
			.accepts = xrc_accepts,
			.back = rc_back},
	[PRM_ST_DCI] = {.execute = rc_execute,
			.peer = dc_peer,
			.accepts = dc_accepts,
			.back = dc_back},
};
