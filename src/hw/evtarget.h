/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event queue of an object. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_EVTARGET_H
#define SOFTHCA_HW_EVTARGET_H

#include <stdint.h>

struct hw_evtarget { /* The queue for an object's events; uverbs sets it right after creation. */
	_Atomic uint32_t evq; /* SEG_T_EVQ index; SEG_NONE: no queue */
	uint32_t evq_gen;
	uint64_t cookie;           /* user_handle */
	_Atomic uint32_t reported; /* events of the object that the program has read */
	/*
	 * Bits (1 << type) of events that have happened and are still owed: async events not in
	 * their queue, DEVX events that some subscribers lack. Set before the event shows anywhere
	 * else; cleared when the queue has the record (evq_push_owed()). If the process that raises
	 * them dies or cannot have the queue's lock, the device thread of the object's registrant
	 * does it.
	 */
	_Atomic uint32_t owed, devx_owed;
	_Atomic uint64_t paying; /* the record that pays one of them (evq_debt.c) */
	_Atomic uint64_t seen;   /* `owed` as the device thread saw it last */
};

#endif
