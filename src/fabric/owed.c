/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns hw_port.owed: before a process changes a port, it notes the change there. If it is killed
 * before it has reported the change, the supervisor reports it. Called by whoever changes ports,
 * also in traps, and by the supervisor.
 */
#include "fabric/fabric.h"
#include "hw/port.h"
#include "segment/who.h"

/* From the lowest bit: enum fab_change, 8 bits; state, 8, and LID, 16, of before; the changer. */
#define OWED_WHAT(w) ((uint32_t)(w)&0xff)
#define OWED_STATE(w) ((uint32_t)(w) >> 8 & 0xff)
#define OWED_LID(w) ((uint32_t)(w) >> 16)
#define OWED_BY(w) ((uint32_t)((w) >> 32))
#define OWED_GENS 18

static uint32_t me(const struct seg *s)
{
	return (uint32_t)who_me(s, OWED_GENS);
}

static uint64_t by(uint32_t who, uint32_t before)
{
	return (uint64_t)who << 32 | before;
}

void fab_port_begin(struct seg *s, uint32_t port, uint32_t what)
{
	struct hw_port *p = hw_port(s, port);
	uint64_t none = 0;

	if (!p)
		return;
	/*
	 * Set it before and after the note: a repair that looked too early may clear the first one.
	 */
	atomic_store(&fab_subnet(s)->ports_owed, 1);
	/*
	 * Keep an existing note: another change is under way, or a dead process's is not yet
	 * reported.
	 */
	atomic_compare_exchange_strong(
		&p->owed, &none,
		by(me(s), (p->lid & 0xffff) << 16 | (p->state & 0xff) << 8 | what));
	atomic_store(&fab_subnet(s)->ports_owed, 1);
}

void fab_port_end(struct seg *s, uint32_t port)
{
	struct hw_port *p = hw_port(s, port);
	uint64_t was = p ? atomic_load(&p->owed) : 0;

	if (was && OWED_BY(was) == me(s))
		atomic_compare_exchange_strong(&p->owed, &was, 0);
}

/* Is the process dead that made the note? Its slot is marked dead, or is another process's now. */
static bool is_dead(struct seg *s, uint32_t who)
{
	return who != me(s) && who_dead(s, who_of(who, OWED_GENS));
}

static void tell_for_the_dead(struct seg *s, struct hw_port *p, uint32_t port)
{
	uint64_t was = atomic_load(&p->owed);
	uint32_t what = OWED_WHAT(was);

	if (!was || !is_dead(s, OWED_BY(was)) ||
	    !atomic_compare_exchange_strong(&p->owed, &was, by(me(s), (uint32_t)was)))
		return;
	if (p->state == OWED_STATE(was))
		what &= ~(uint32_t)FAB_CHANGED_STATE;
	if (p->lid == OWED_LID(was))
		what &= ~(uint32_t)FAB_CHANGED_LID;
	if (what)
		fab_port_changed(s, port, what);
	fab_port_end(s, port);
}

void fab_ports_repair(struct seg *s)
{
	if (!atomic_exchange(&fab_subnet(s)->ports_owed, 0))
		return;
	seg_for_each_live (s, SEG_T_PORT, i) {
		struct hw_port *p = seg_at(s, SEG_T_PORT, i);

		tell_for_the_dead(s, p, i);
		if (atomic_load(&p->owed))
			atomic_store(&fab_subnet(s)->ports_owed, 1);
	}
}
