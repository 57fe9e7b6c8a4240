/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns PortInfo (IBA 14.2.5.6) of ports of every kind. A component belongs to ports with a LID (an
 * adapter's or router's port, a switch's port 0), to ports with a link (all but a switch's port 0),
 * or to both.
 *
 * A Set() with a wrong value in it changes nothing: status 0x001c.
 */
#include "subnet/sma.h"

#include <errno.h>
#include <string.h>
#include "fabric/count.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "wire/ib/link.h"

#define OLD_SPEEDS (IB_SPEED_SDR | IB_SPEED_DDR | IB_SPEED_QDR) /* no extended speeds */
#define EXT_SHIFT 4 /* the position of LinkSpeedExtActive in hw_port.speed */

/* Values with a special meaning when written (IBA, table of PortInfo). */
enum {
	WIDTH_ALL = 255,
	SPEED_ALL = 15,
	EXT_NONE = 30,
	EXT_ALL = 31,
	STATE_NOP = 0,
};

#define VL_ARB_LEN 8
#define RESP_TIME 16                /* 4.096 us * 2^16 */
#define EXTENDED_SPEEDS 0x80000000u /* modifier: "I know extended speeds"; ignored */
#define LID_MAX (FAB_LIDS - 1)

/*
 * The port that the modifier names, or SEG_NONE. Modifier 0: port 0 of a switch, else the port
 * where the SMP arrived.
 */
static uint32_t named(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);
	uint32_t num = c->attr_mod & ~EXTENDED_SPEEDS;

	return !num && n->type != FAB_SWITCH ? c->port : fab_node_port(n, num);
}

static bool has_lid(const struct fab_node *n, const struct hw_port *p)
{
	return n->type != FAB_SWITCH || !p->num;
}

/* ---- Get */

static void put_speed(uint8_t *d, const struct hw_port *p, bool up)
{
	uint32_t sup = p->speed_sup >> EXT_SHIFT, en = p->speed_en >> EXT_SHIFT;
	uint32_t ext = up ? p->speed >> EXT_SHIFT : 0;

	LAYOUT_SET(port_info, d, link_speed_supported, p->speed_sup & OLD_SPEEDS);
	LAYOUT_SET(port_info, d, link_speed_enabled, p->speed_en & OLD_SPEEDS);
	LAYOUT_SET(port_info, d, link_speed_active,
		   ext                                ? IB_SPEED_QDR
		   : p->speed == IB_SPEED_FDR10 && up ? IB_SPEED_QDR
		   : up                               ? p->speed & OLD_SPEEDS
						      : IB_SPEED_SDR);
	LAYOUT_SET(port_info, d, link_speed_ext_active, ext);
	LAYOUT_SET(port_info, d, link_speed_ext_supported, sup);
	LAYOUT_SET(port_info, d, link_speed_ext_enabled, sup && !en ? EXT_NONE : en);
	LAYOUT_SET(port_info, d, capability_mask2,
		   (p->speed_sup & IB_SPEED_HDR ? PORT_CAP2_LINK_SPEED_HDR : 0) |
			   (p->speed_sup & IB_SPEED_NDR ? PORT_CAP2_LINK_SPEED_NDR : 0));
}

static void put_lid_part(const struct fab_mad_call *c, uint8_t *d, uint32_t port)
{
	const struct hw_port *p = hw_port(c->s, port);

	LAYOUT_SET(port_info, d, mkey, sma_mkey_shown(p, c->mad) ? p->mkey : 0);
	LAYOUT_SET(port_info, d, gid_prefix, p->gid_prefix);
	LAYOUT_SET(port_info, d, lid, p->lid);
	LAYOUT_SET(port_info, d, master_sm_lid, p->sm_lid);
	LAYOUT_SET(port_info, d, capability_mask, p->cap_mask);
	LAYOUT_SET(port_info, d, mkey_lease_period, p->mkey_lease);
	LAYOUT_SET(port_info, d, mkey_protect_bits, p->mkey_protect);
	LAYOUT_SET(port_info, d, lmc, p->lmc);
	LAYOUT_SET(port_info, d, master_sm_sl, p->sm_sl);
	LAYOUT_SET(port_info, d, mkey_violations, fab_violations(c->s, port, HW_CTR_MKEY_VIOL));
	LAYOUT_SET(port_info, d, qkey_violations, fab_violations(c->s, port, HW_CTR_QKEY_VIOL));
	LAYOUT_SET(port_info, d, guid_cap, HW_IB_GIDS);
	LAYOUT_SET(port_info, d, mcast_pkey_trap_suppr, p->trap_suppr);
	LAYOUT_SET(port_info, d, subnet_timeout, p->subnet_timeout);
	LAYOUT_SET(port_info, d, resp_time_value, RESP_TIME);
}

static void put_switch_link(uint8_t *d, const struct hw_port *p)
{
	LAYOUT_SET(port_info, d, partition_enforce_in, p->enforce & 1);
	LAYOUT_SET(port_info, d, partition_enforce_out, p->enforce >> 1 & 1);
	LAYOUT_SET(port_info, d, filter_raw_in, p->filter_raw & 1);
	LAYOUT_SET(port_info, d, filter_raw_out, p->filter_raw >> 1 & 1);
}

uint16_t sma_get_port_info(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);
	uint32_t port = named(c);
	const struct hw_port *p;
	uint8_t *d = c->data;
	bool up;

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	up = p->phys_state == IB_PHYS_LINK_UP;
	memset(d, 0, SMP_DATA_SIZE);
	if (has_lid(n, p))
		put_lid_part(c, d, port);
	else
		put_switch_link(d, p);
	LAYOUT_SET(port_info, d, local_port, hw_port(c->s, c->port)->num);
	LAYOUT_SET(port_info, d, link_width_enabled, p->width_en);
	LAYOUT_SET(port_info, d, link_width_supported, p->width_sup);
	LAYOUT_SET(port_info, d, link_width_active, p->width);
	put_speed(d, p, up);
	LAYOUT_SET(port_info, d, port_state, p->state);
	LAYOUT_SET(port_info, d, port_phys_state, p->phys_state);
	LAYOUT_SET(port_info, d, link_down_default, p->down_default);
	LAYOUT_SET(port_info, d, neighbor_mtu, p->active_mtu);
	LAYOUT_SET(port_info, d, vl_cap, p->vl_cap);
	LAYOUT_SET(port_info, d, init_type, p->init_type);
	LAYOUT_SET(port_info, d, vl_high_limit, p->vl_high_limit);
	LAYOUT_SET(port_info, d, vl_arb_high_cap, VL_ARB_LEN);
	LAYOUT_SET(port_info, d, vl_arb_low_cap, VL_ARB_LEN);
	LAYOUT_SET(port_info, d, mtu_cap, p->max_mtu);
	LAYOUT_SET(port_info, d, vl_stall_count, p->vl_stall);
	LAYOUT_SET(port_info, d, hoq_life, p->hoq_life);
	LAYOUT_SET(port_info, d, operational_vls, p->op_vls);
	LAYOUT_SET(port_info, d, pkey_violations, fab_violations(c->s, port, HW_CTR_PKEY_VIOL));
	LAYOUT_SET(port_info, d, local_phys_errors, p->phys_errors);
	LAYOUT_SET(port_info, d, overrun_errors, p->overrun_errors);
	return MAD_STATUS_OK;
}

/* ---- Set: forbidden values. `v` is a component's value. */

#define IN(f) (LAYOUT_GET32(port_info, d, f))

/* Unicast; or the present value (0 on a port without a manager). */
static bool lid_ok(uint32_t v, uint32_t now)
{
	return (v && v <= LID_MAX) || v == now;
}

static bool speeds_ok(const struct hw_port *p, const uint8_t *d)
{
	uint32_t w = IN(link_width_enabled), v = IN(link_speed_enabled);
	uint32_t ext = IN(link_speed_ext_enabled);

	if (w != WIDTH_ALL && (w & ~p->width_sup))
		return false;
	if (v != SPEED_ALL && (v & ~(p->speed_sup & OLD_SPEEDS)))
		return false;
	return ext == EXT_ALL || ext == EXT_NONE || !(ext & ~(p->speed_sup >> EXT_SHIFT));
}

/* IBA 7.2.7: a subnet manager changes INIT to ARMED and ARMED to ACTIVE, and takes a link down. */
static bool state_ok(const struct hw_port *p, const uint8_t *d)
{
	uint32_t v = IN(port_state), phys = IN(port_phys_state), now = p->state;

	if (phys > IB_PHYS_DISABLED || IN(link_down_default) > IB_PHYS_POLLING)
		return false;
	if (phys && v > IB_PORT_DOWN)
		return false;
	return v <= IB_PORT_DOWN ||
	       (v == IB_PORT_ARMED && (now == IB_PORT_INIT || now == IB_PORT_ARMED)) ||
	       (v == IB_PORT_ACTIVE && (now == IB_PORT_ARMED || now == IB_PORT_ACTIVE));
}

static bool link_ok(const struct hw_port *p, const uint8_t *d)
{
	uint32_t mtu = IN(neighbor_mtu);

	return speeds_ok(p, d) && state_ok(p, d) && mtu && mtu <= p->max_mtu &&
	       IN(operational_vls) <= p->vl_cap;
}

static bool lid_part_ok(const struct hw_port *p, const uint8_t *d)
{
	return lid_ok(IN(lid), p->lid) && lid_ok(IN(master_sm_lid), p->sm_lid);
}

/* ---- Set: effects */

static void set_count(const struct fab_mad_call *c, uint32_t port, enum hw_ctr what, uint32_t v)
{
	/*
	 * IBA: the value is set as written. A value that was read before and is written back stays.
	 */
	if (v != fab_violations(c->s, port, what))
		atomic_store(&fab_ctr(c->s, port)->n[what], v);
}

/* Returns the bits of the changed values. */
static uint32_t set_lid_part(const struct fab_mad_call *c, uint32_t port, bool base_port0)
{
	struct hw_port *p = hw_port(c->s, port);
	const uint8_t *d = c->data;
	uint32_t what = 0, lmc = base_port0 ? 0 : IN(lmc);

	if (p->lid != IN(lid) || p->lmc != lmc) {
		p->lid = IN(lid);
		p->lmc = lmc;
		what |= FAB_CHANGED_LID;
	}
	if (p->sm_lid != IN(master_sm_lid) || p->sm_sl != IN(master_sm_sl)) {
		p->sm_lid = IN(master_sm_lid);
		p->sm_sl = IN(master_sm_sl);
		what |= FAB_CHANGED_SM;
	}
	if (p->gid_prefix != LAYOUT_GET(port_info, d, gid_prefix)) {
		fab_set_gid_prefix(p, LAYOUT_GET(port_info, d, gid_prefix));
		what |= FAB_CHANGED_GID;
	}
	p->mkey = LAYOUT_GET(port_info, d, mkey);
	p->mkey_protect = (uint8_t)IN(mkey_protect_bits);
	p->mkey_lease = (uint16_t)IN(mkey_lease_period);
	p->trap_suppr = (uint8_t)IN(mcast_pkey_trap_suppr);
	p->subnet_timeout = (uint8_t)IN(subnet_timeout);
	set_count(c, port, HW_CTR_MKEY_VIOL, IN(mkey_violations));
	set_count(c, port, HW_CTR_QKEY_VIOL, IN(qkey_violations));
	if (IN(client_reregister))
		what |= FAB_CHANGED_REREGISTER;
	return what;
}

/* Takes effect at the next link training. */
static void set_speeds(struct hw_port *p, const uint8_t *d)
{
	uint32_t w = IN(link_width_enabled), v = IN(link_speed_enabled);
	uint32_t ext = IN(link_speed_ext_enabled), old = p->speed_en & OLD_SPEEDS;
	uint32_t xt = p->speed_en & ~OLD_SPEEDS;

	if (w)
		p->width_en = (uint8_t)(w == WIDTH_ALL ? p->width_sup : w);
	if (v)
		old = v == SPEED_ALL ? p->speed_sup & OLD_SPEEDS : v;
	if (ext)
		xt = ext == EXT_ALL    ? p->speed_sup & ~OLD_SPEEDS
		     : ext == EXT_NONE ? 0
				       : ext << EXT_SHIFT;
	p->speed_en = (uint8_t)(old | (xt & ~IB_SPEED_FDR10) | (p->speed_en & IB_SPEED_FDR10));
}

static void set_link(const struct fab_mad_call *c, uint32_t port)
{
	struct hw_port *p = hw_port(c->s, port);
	const uint8_t *d = c->data;

	set_speeds(p, d);
	if (p->active_mtu != IN(neighbor_mtu)) {
		p->active_mtu = IN(neighbor_mtu);
		fab_moved(c->s);
	}
	if (IN(link_down_default))
		p->down_default = (uint8_t)IN(link_down_default);
	if (IN(operational_vls))
		p->op_vls = (uint8_t)IN(operational_vls);
	p->init_type = (uint8_t)IN(init_type);
	p->vl_high_limit = (uint8_t)IN(vl_high_limit);
	p->vl_stall = (uint8_t)IN(vl_stall_count);
	p->hoq_life = (uint8_t)IN(hoq_life);
	p->phys_errors = (uint8_t)IN(local_phys_errors);
	p->overrun_errors = (uint8_t)IN(overrun_errors);
	set_count(c, port, HW_CTR_PKEY_VIOL, IN(pkey_violations));
}

static void set_switch_link(const struct fab_mad_call *c, struct hw_port *p)
{
	const uint8_t *d = c->data;
	uint32_t enforce = IN(partition_enforce_in) | IN(partition_enforce_out) << 1;

	p->filter_raw = (uint8_t)(IN(filter_raw_in) | IN(filter_raw_out) << 1);
	if (p->enforce == enforce)
		return;
	p->enforce = enforce;
	fab_moved(c->s);
}

/*
 * Applied last; returns the bits of the changes. *busy: another process is stopped while it trains
 * a link.
 */
static uint32_t set_state(const struct fab_mad_call *c, uint32_t port, bool *busy)
{
	struct hw_port *p = hw_port(c->s, port);
	const uint8_t *d = c->data;
	uint32_t v = IN(port_state), phys = IN(port_phys_state), was = p->state;

	if (phys || v == IB_PORT_DOWN) {
		*busy = fab_link_set(c->s, port, phys ? phys : p->down_default) == -ETIMEDOUT;
		return 0;
	}
	if (v == STATE_NOP || was == v)
		return 0;
	/* If a cable is pulled at the same time, the pull wins. */
	return fab_port_advance(p, was, v) ? FAB_CHANGED_STATE : 0;
}

uint16_t sma_set_port_info(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);
	const struct fab_switch *sw = sma_switch(c);
	uint32_t port = named(c), what = 0, again;
	bool lid, link, busy = false;
	struct hw_port *p;
	uint16_t status;

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	p = hw_port(c->s, port);
	lid = has_lid(n, p);
	link = p->num || sw->enhanced_port0;
	if ((lid && !lid_part_ok(p, c->data)) || (link && !link_ok(p, c->data)))
		return MAD_STATUS_BAD_VALUE;
	fab_port_begin(c->s, port, FAB_CHANGED_STATE | FAB_CHANGED_LID | FAB_CHANGED_SM);
	if (lid)
		what |= set_lid_part(c, port, sw && !sw->enhanced_port0);
	else
		set_switch_link(c, p);
	if (link) {
		set_link(c, port);
		what |= set_state(c, port, &busy);
	}
	if (what)
		fab_port_changed(c->s, port, what);
	else
		fab_port_end(c->s, port);
	/* o14-12.2.1: the answer repeats the bit as the request set it */
	again = LAYOUT_GET32(port_info, c->data, client_reregister);
	status = sma_get_port_info(c);
	LAYOUT_SET(port_info, c->data, client_reregister, lid && again);
	return busy ? MAD_STATUS_BUSY : status;
}

/* ---- FDR10: PortInfo shows it as 10 Gbit/s, the vendor's attribute as FDR10 */

#define MLNX_FDR10 1u

uint16_t sma_get_mlnx_ext_port_info(const struct fab_mad_call *c)
{
	uint32_t port = named(c);
	const struct hw_port *p = hw_port(c->s, port);

	if (!p)
		return MAD_STATUS_BAD_VALUE;
	memset(c->data, 0, SMP_DATA_SIZE);
	LAYOUT_SET(mlnx_ext_port_info, c->data, link_speed_supported,
		   p->speed_sup & IB_SPEED_FDR10 ? MLNX_FDR10 : 0);
	LAYOUT_SET(mlnx_ext_port_info, c->data, link_speed_enabled,
		   p->speed_en & IB_SPEED_FDR10 ? MLNX_FDR10 : 0);
	LAYOUT_SET(mlnx_ext_port_info, c->data, link_speed_active,
		   p->speed == IB_SPEED_FDR10 && p->phys_state == IB_PHYS_LINK_UP ? MLNX_FDR10 : 0);
	return MAD_STATUS_OK;
}

/* Takes effect at the next link training. */
uint16_t sma_set_mlnx_ext_port_info(const struct fab_mad_call *c)
{
	uint64_t want = LAYOUT_GET(mlnx_ext_port_info, c->data, link_speed_enabled);
	struct hw_port *p = hw_port(c->s, named(c));

	if (!p || (want && (want != MLNX_FDR10 || !(p->speed_sup & IB_SPEED_FDR10))))
		return MAD_STATUS_BAD_VALUE;
	p->speed_en = (uint8_t)((p->speed_en & ~IB_SPEED_FDR10) | (want ? IB_SPEED_FDR10 : 0));
	return sma_get_mlnx_ext_port_info(c);
}
