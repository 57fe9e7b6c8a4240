/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where an object's events go. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_EVTARGET_H
#define SOFTHCA_HW_EVTARGET_H

#include <stdint.h>

struct hw_evtarget {          /* where an object's events go; set by uverbs right after creation */
	_Atomic uint32_t evq; /* SEG_T_EVQ index, SEG_NONE nobody */
	uint32_t evq_gen;
	uint64_t cookie;           /* user_handle */
	_Atomic uint32_t reported; /* events of it that the program has read */
	/*
	 * Async events (1 << type) that have happened and are not in their queue yet; DEVX's, that
	 * not all subscribers have. Noted before anything shows that they happened; cleared by the
	 * queue when it has the record (evq_push_owed()). Whoever raises them died, or could not
	 * have the queue's lock: the device thread of the object's registrant does it.
	 */
	_Atomic uint32_t owed, devx_owed;
	_Atomic uint64_t paying; /* the record that pays one of them (evq_debt.c) */
	_Atomic uint64_t seen;   /* as the device thread saw it last */
};

#endif
