/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the state of the built-in subnet manager, and its answers to SMInfo and MAD traps. It leaves
 * when another manager starts, and returns when the last one has gone. mad.c calls this for MADs at
 * its port, the supervisor for issm files. To another manager its port looks like one without an
 * SM, so that OpenSM becomes master at once.
 */
#include "subnet/mad.h"
#include "fabric/notice.h"
#include "subnet/sa.h"
#include "subnet/subnet.h"
#include "subnet/sweep.h"

#include <string.h>
#include "hw/port.h"
#include "hw/world.h"
#include "util/log.h"

/* AttributeModifier of Set(SMInfo), IBA 14.4.1 */
enum { SM_HANDOVER = 1, SM_ACKNOWLEDGE = 2 };
#define SM_STATE_MASTER 3 /* SMInfo:SMState */

bool fab_sm_here(const struct seg *s, uint32_t port)
{
	const struct fab_subnet *sub = fab_subnet(s);
	const struct hw_port *p = hw_port(s, port);
	uint32_t own = p ? fab_own_port(s, port) : SEG_NONE;
	bool rail = p && hw_setting(s, HW_SET_RAILS) && !hw_port(s, own)->num;

	return p && (rail || atomic_load_explicit(&sub->sm_port, memory_order_relaxed) == own) &&
	       atomic_load_explicit(&sub->sm_state, memory_order_relaxed) == FAB_SM_MASTER;
}

static void show(struct seg *s, uint32_t port, bool on)
{
	struct hw_port *p = hw_port(s, port);
	uint32_t mask = p->cap_mask;

	p->cap_mask = on ? mask | FAB_CAP_IS_SM : mask & ~FAB_CAP_IS_SM;
	if (p->cap_mask == mask)
		return;
	fab_port_changed(s, port, FAB_CHANGED_SM);
	fab_notice_local(s, port, 0);
}

/* Called under fab_subnet.lock, like the next one. */
static void sm_state_leave(struct seg *s)
{
	struct fab_subnet *sub = fab_subnet(s);
	uint32_t was = FAB_SM_MASTER;

	if (!atomic_compare_exchange_strong(&sub->sm_state, &was, FAB_SM_LEFT))
		return;
	TRACE(LOG_EVENT, "the built-in subnet manager leaves");
	if (sub->sm_port != SEG_NONE)
		show(s, sub->sm_port, false);
}

static void come_back(struct seg *s)
{
	struct fab_subnet *sub = fab_subnet(s);

	if (atomic_load(&sub->sm_state) != FAB_SM_LEFT)
		return;
	seg_for_each_live (s, SEG_T_PORT, i)
		if (hw_port(s, i)->cap_mask & FAB_CAP_IS_SM)
			return;
	TRACE(LOG_EVENT, "the built-in subnet manager comes back");
	sub->sm_again = 1;
	atomic_store(&sub->sm_state, FAB_SM_MASTER);
}

static int locked(struct seg *s, int r)
{
	if (r == SEG_LOCK_INHERITED) {
		sa_groups_repair(s);
		sa_kept_repair(s);
	}
	return r < 0 ? r : 0;
}

int fab_subnet_lock(struct seg *s)
{
	return locked(s, seg_lock_if_runs(s, &fab_subnet(s)->lock));
}

int fab_subnet_trylock(struct seg *s)
{
	return locked(s, seg_lock(s, &fab_subnet(s)->lock, SEG_LOCK_DATA_NS));
}

void fab_subnet_unlock(struct seg *s)
{
	seg_unlock(s, &fab_subnet(s)->lock);
}

enum { ISSM_OFF = 1, ISSM_ON };

bool fab_issm_retry(struct seg *s)
{
	struct fab_subnet *sub = fab_subnet(s);
	bool back = false;

	if (!atomic_load(&sub->issm_owed))
		return true;
	if (fab_subnet_trylock(s))
		return false;
	atomic_store(&sub->issm_owed, 0);
	seg_for_each_live (s, SEG_T_PORT, i) {
		uint32_t owed = atomic_exchange(&hw_port(s, i)->issm_owed, 0);

		if (!owed)
			continue;
		if (owed == ISSM_ON)
			sm_state_leave(s);
		show(s, i, owed == ISSM_ON);
		back = back || owed == ISSM_OFF;
	}
	if (back)
		come_back(s);
	fab_subnet_unlock(s);
	if (back)
		fab_sm_kick(s);
	return true;
}

void fab_issm_set(struct seg *s, uint32_t port, bool on)
{
	/* mlx5_ib_modify_port() does nothing on Ethernet. */
	if (!hw_port(s, port) || hw_port_is_eth(hw_port(s, port)))
		return;
	atomic_store(&hw_port(s, port)->issm_owed, on ? ISSM_ON : ISSM_OFF);
	atomic_store(&fab_subnet(s)->issm_owed, 1);
	fab_issm_retry(s);
}

/* Is a program the subnet manager, or ready to be one? */
static bool another_is_there(const struct seg *s)
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (i != fab_subnet(s)->sm_port && (hw_port(s, i)->cap_mask & FAB_CAP_IS_SM))
			return true;
	return false;
}

static uint16_t sm_info(struct seg *s, uint32_t port, uint8_t *mad)
{
	uint32_t mod = LAYOUT_GET32(mad_hdr, mad, attr_mod);
	struct fab_subnet *sub = fab_subnet(s);
	bool set = LAYOUT_GET(mad_hdr, mad, method) == MAD_METHOD_SET;
	uint8_t *d = mad + SMP_DATA;

	if (LAYOUT_GET(mad_hdr, mad, class_version) != 1)
		return MAD_STATUS_BAD_VERSION;
	memset(d, 0, SMP_DATA_SIZE);
	LAYOUT_SET(sm_info, d, guid, hw_port(s, fab_own_port(s, port))->guid);
	LAYOUT_SET(sm_info, d, act_count, atomic_fetch_add(&sub->sm_act, 1) + 1);
	LAYOUT_SET(sm_info, d, priority, 0);
	LAYOUT_SET(sm_info, d, sm_state, SM_STATE_MASTER);
	if (!set || mod == SM_ACKNOWLEDGE)
		return MAD_STATUS_OK;
	/* A master accepts no other message. */
	if (mod != SM_HANDOVER)
		return MAD_STATUS_BAD_VALUE;
	/*
	 * IBA 14.4.1: HANDOVER comes from a master. If there is none, the subnet would be left
	 * without a manager.
	 */
	if (!another_is_there(s))
		return MAD_STATUS_BAD_VALUE;
	if (fab_subnet_lock(s))
		return MAD_STATUS_BUSY;
	sm_state_leave(s);
	fab_subnet_unlock(s);
	return MAD_STATUS_OK;
}

enum fab_mad_result fab_sm_mad(struct seg *s, uint32_t port, uint32_t slid, const uint8_t *in,
			       uint8_t *out)
{
	uint64_t method = LAYOUT_GET(mad_hdr, in, method);
	uint16_t status;

	if (!fab_sm_here(s, port))
		return FAB_MAD_PASS;
	if (method == MAD_METHOD_TRAP) {
		/*
		 * The built-in manager examines the subnet itself; it forwards the notice, and the
		 * answer ends the repetition of the MAD trap.
		 */
		if (LAYOUT_GET(mad_hdr, in, attr_id) == MAD_ATTR_NOTICE)
			sa_inform_trap(s, slid, in);
		memcpy(out, in, MAD_SIZE);
		LAYOUT_SET(mad_hdr, out, method, MAD_METHOD_TRAP_REPRESS);
		return FAB_MAD_REPLY;
	}
	if (LAYOUT_GET(mad_hdr, in, attr_id) != SMP_ATTR_SM_INFO ||
	    (method != MAD_METHOD_GET && method != MAD_METHOD_SET))
		return FAB_MAD_PASS;
	memcpy(out, in, MAD_SIZE);
	status = sm_info(s, port, out);
	if (LAYOUT_GET(mad_hdr, in, mgmt_class) == MAD_CLASS_SUBN_DR)
		status |= MAD_STATUS_D;
	LAYOUT_SET(mad_hdr, out, method, MAD_METHOD_GET_RESP);
	LAYOUT_SET(mad_hdr, out, status, status);
	return FAB_MAD_REPLY;
}
