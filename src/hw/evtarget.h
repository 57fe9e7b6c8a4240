/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event queue of an object. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_EVTARGET_H
#define SOFTHCA_HW_EVTARGET_H

#include <stdint.h>

/*
 * hw_evtarget.events. HW_EV_SEQ counts the events of a type: a payer that was stopped does not pay
 * a later one.
 */
enum {
	HW_EV_OWES = 1,      /* a record in the async file's queue */
	HW_EV_OWES_DEVX = 2, /* an event of DEVX subscribers */
	HW_EV_TYPE = 4,      /* times the type (IBV_EVENT_*), which has 5 bits */
	HW_EV_SEQ = HW_EV_TYPE << 5,
};

struct hw_evtarget { /* The queue for an object's events; uverbs sets it right after creation. */
	_Atomic uint32_t evq; /* SEG_T_EVQ index; SEG_NONE: no queue */
	uint32_t evq_gen;
	uint64_t cookie;           /* user_handle */
	_Atomic uint32_t reported; /* events of the object that the program has read */
	/*
	 * Events that have happened and are still owed, a word of HW_EV_* for each type: an async
	 * event not in its queue, a DEVX event that some subscribers lack. Noted before the event
	 * shows anywhere else; paid when the queue has the record (evq_push_owed()), when the
	 * subscribers have the event. If the process that raises them dies or cannot have the
	 * queue's lock, the device thread of the object's registrant does it.
	 */
	_Atomic uint32_t events[8];
	_Atomic uint64_t paying; /* the record that pays one of them (evq_debt.c) */
	_Atomic uint64_t seen;   /* `paying` as the device thread saw it last */
};

/* The word of a type: no two types of one kind of object have the same. */
static inline _Atomic uint32_t *hw_event(struct hw_evtarget *t, uint32_t type)
{
	return &t->events[type % 8];
}

#endif
