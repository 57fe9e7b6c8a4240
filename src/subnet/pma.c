/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the performance management agent of a port (IBA chapter 16): ClassPortInfo, PortCounters and
 * PortCountersExtended of adapters and of switches, whose agent is behind port 0. The counts are in
 * the ports' counters (count.h); Set() stores a base that is subtracted when they are read.
 */
#include "subnet/mad.h"
#include "fabric/count.h"
#include "fabric/fabric.h"

#include <string.h>
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/bits.h"
#include "util/cleanup.h"

/* One counter: its field in an attribute, and its PMA_BIT. */
struct row {
	enum hw_ctr ctr;
	uint16_t bit, width;
	uint8_t select;
};

#define ROW(attr, field, ctr)                                                         \
	{                                                                             \
		HW_CTR_##ctr, LF_##attr##_##field##_BIT, LF_##attr##_##field##_WIDTH, \
			PMA_BIT_##attr##_##field                                      \
	}
#define OLD(field, ctr) ROW(port_counters, field, ctr)
#define EXT(field, ctr) ROW(port_counters_ext, field, ctr)

static const struct row classic_rows[] = {
	OLD(symbol_errors, SYMBOL),
	OLD(link_error_recovery, RECOVERY),
	OLD(link_downed, DOWNED),
	OLD(rcv_errors, RCV_ERRORS),
	OLD(rcv_remote_phys_errors, RCV_REMOTE_PHYS),
	OLD(rcv_switch_relay_errors, RCV_RELAY),
	OLD(xmit_discards, XMIT_DISCARDS),
	OLD(xmit_constraint_errors, XMIT_CONSTRAINT),
	OLD(rcv_constraint_errors, RCV_CONSTRAINT),
	OLD(local_link_integrity, INTEGRITY),
	OLD(excessive_buffer_overrun, OVERRUN),
	OLD(vl15_dropped, VL15_DROPPED),
	OLD(xmit_data, XMIT_DATA),
	OLD(rcv_data, RCV_DATA),
	OLD(xmit_pkts, XMIT_PKTS),
	OLD(rcv_pkts, RCV_PKTS),
	OLD(xmit_wait, XMIT_WAIT),
	OLD(qp1_dropped, QP1_DROPPED),
};

static const struct row ext_rows[] = {
	EXT(xmit_data, XMIT_DATA),
	EXT(rcv_data, RCV_DATA),
	EXT(xmit_pkts, XMIT_PKTS),
	EXT(rcv_pkts, RCV_PKTS),
	EXT(ucast_xmit_pkts, XMIT_UCAST),
	EXT(ucast_rcv_pkts, RCV_UCAST),
	EXT(mcast_xmit_pkts, XMIT_MCAST),
	EXT(mcast_rcv_pkts, RCV_MCAST),
	EXT(symbol_errors, SYMBOL),
	EXT(link_error_recovery, RECOVERY),
	EXT(link_downed, DOWNED),
	EXT(rcv_errors, RCV_ERRORS),
	EXT(rcv_remote_phys_errors, RCV_REMOTE_PHYS),
	EXT(rcv_switch_relay_errors, RCV_RELAY),
	EXT(xmit_discards, XMIT_DISCARDS),
	EXT(xmit_constraint_errors, XMIT_CONSTRAINT),
	EXT(rcv_constraint_errors, RCV_CONSTRAINT),
	EXT(local_link_integrity, INTEGRITY),
	EXT(excessive_buffer_overrun, OVERRUN),
	EXT(vl15_dropped, VL15_DROPPED),
	EXT(xmit_wait, XMIT_WAIT),
	EXT(qp1_dropped, QP1_DROPPED),
};

#define EXT_NOT_ERRORS 8 /* the first rows */

static const struct row rcv_error_rows[] = {
	ROW(port_rcv_error_details, local_phys_errors, LOCAL_PHYS),
	ROW(port_rcv_error_details, malformed_pkt_errors, RCV_ERRORS),
	ROW(port_rcv_error_details, buffer_overrun_errors, OVERRUN),
	ROW(port_rcv_error_details, dlid_mapping_errors, RCV_MAPPING),
	ROW(port_rcv_error_details, vl_mapping_errors, VL_MAPPING),
	ROW(port_rcv_error_details, looping_errors, RCV_LOOPING),
};

static const struct row discard_rows[] = {
	ROW(port_xmit_discard_details, inactive_discards, XMIT_INACTIVE),
	ROW(port_xmit_discard_details, neighbor_mtu_discards, XMIT_MTU),
	ROW(port_xmit_discard_details, sw_lifetime_discards, SW_LIFETIME),
	ROW(port_xmit_discard_details, sw_hoq_lifetime_discards, HOQ_LIFETIME),
};

/*
 * An attribute with counters. Each attribute is set separately: `base` is its place in struct
 * fab_ctr_base.
 */
struct kind {
	const struct row *rows;
	uint32_t n, bytes, base;
	enum { NO_SELECT2, SELECT2_8, SELECT2_32 } select2;
};

#define KIND(rows, attr, base, select2)                                \
	{                                                              \
		rows, ARRAY_SIZE(rows), LAYOUT_SZ(attr), base, select2 \
	}
static const struct kind classic = KIND(classic_rows, port_counters, 0, SELECT2_8);
static const struct kind extended = KIND(ext_rows, port_counters_ext, 1, SELECT2_32);
static const struct kind rcv_errors = KIND(rcv_error_rows, port_rcv_error_details, 2, NO_SELECT2);
static const struct kind discards = KIND(discard_rows, port_xmit_discard_details, 2, NO_SELECT2);

static uint16_t get_class_port_info(const struct fab_mad_call *c)
{
	memset(c->data, 0, MAD_SIZE - PMA_DATA);
	LAYOUT_SET(class_port_info, c->data, base_version, 1);
	LAYOUT_SET(class_port_info, c->data, class_version, 1);
	LAYOUT_SET(class_port_info, c->data, cap_mask,
		   PMA_CAP_ALL_PORT_SELECT | PMA_CAP_EXT | PMA_CAP_XMIT_WAIT | PMA_CAP_QP1_DROPPED);
	LAYOUT_SET(class_port_info, c->data, cap_mask2, PMA_CAP2_EXT_ERRORS);
	LAYOUT_SET(class_port_info, c->data, resp_time_value, 18);
	return MAD_STATUS_OK;
}

/*
 * Ports [*first, *last] for PortSelect, a byte at the same place in both attributes. 0 means the
 * port that received the request, as in mlx5's process_pma_cmd(); on a switch it means port 0.
 */
static bool pma_selected(const struct fab_mad_call *c, uint32_t *first, uint32_t *last)
{
	const struct fab_node *n = fab_node(c->s, hw_port(c->s, c->port)->node);
	uint32_t num = LAYOUT_GET32(port_counters, c->data, port_select);

	if (num == PMA_PORT_ALL) {
		*first = n->port0 + 1;
		*last = n->port0 + n->nports;
		return n->nports > 0;
	}
	*first = *last = num || n->type == FAB_SWITCH ? fab_node_port(n, num) : c->port;
	return *first != SEG_NONE;
}

/* Both attributes have the same error counters; each has its own data counters. */
static _Atomic uint64_t *base_of(const struct seg *s, const struct kind *k, uint32_t port,
				 const struct row *r)
{
	struct fab_ctr_base *b = seg_at(s, SEG_T_CTRBASE, port);
	bool error = k->select2 == SELECT2_32 && r->select >= 16;

	return &b->n[error ? 0 : k->base][r->ctr];
}

static uint64_t raw(const struct seg *s, uint32_t port, enum hw_ctr ctr)
{
	if (ctr == HW_CTR_XMIT_UCAST)
		return raw(s, port, HW_CTR_XMIT_PKTS) - raw(s, port, HW_CTR_XMIT_MCAST);
	if (ctr == HW_CTR_RCV_UCAST)
		return raw(s, port, HW_CTR_RCV_PKTS) - raw(s, port, HW_CTR_RCV_MCAST);
	if (ctr == HW_CTR_RCV_MAPPING)
		return raw(s, port, HW_CTR_RCV_RELAY) - raw(s, port, HW_CTR_RCV_LOOPING);
	return fab_counted(s, port, ctr);
}

/* The sum over some ports. Narrow counters stop at their highest value, wide ones wrap. */
static uint64_t pma_value(const struct seg *s, const struct kind *k, const struct row *r,
			  uint32_t first, uint32_t last)
{
	uint64_t sum = 0, max = r->width < 64 ? (UINT64_C(1) << r->width) - 1 : UINT64_MAX;

	for (uint32_t port = first; port <= last; port++)
		sum += raw(s, port, r->ctr) -
		       atomic_load_explicit(base_of(s, k, port, r), memory_order_relaxed);
	return sum < max ? sum : max;
}

static uint16_t pma_get(const struct fab_mad_call *c, const struct kind *k)
{
	uint32_t first, last;

	if (!pma_selected(c, &first, &last))
		return MAD_STATUS_BAD_VALUE;
	memset(c->data + 2, 0, k->bytes - 2);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct row *r = &k->rows[i];

		layout_set(c->data, r->bit, r->width, pma_value(c->s, k, r, first, last));
	}
	return MAD_STATUS_OK;
}

/* Sets the counters whose bits are selected to the attribute's values. */
static uint16_t pma_set(const struct fab_mad_call *c, const struct kind *k)
{
	uint64_t select = LAYOUT_GET(port_counters, c->data, counter_select);
	uint32_t first, last;

	if (k->select2 == SELECT2_8)
		select |= LAYOUT_GET(port_counters, c->data, counter_select2) << 16;
	if (k->select2 == SELECT2_32)
		select |= LAYOUT_GET(port_counters_ext, c->data, counter_select2) << 16;
	if (!pma_selected(c, &first, &last))
		return MAD_STATUS_BAD_VALUE;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct row *r = &k->rows[i];
		uint64_t v = layout_get(c->data, r->bit, r->width);

		for (uint32_t port = first; (select >> r->select & 1) && port <= last; port++) {
			_Atomic uint64_t *base = base_of(c->s, k, port, r);
			uint64_t to = raw(c->s, port, r->ctr) - v;

			/* A page of zeroes that is only read costs no memory. */
			if (atomic_load_explicit(base, memory_order_relaxed) != to)
				atomic_store_explicit(base, to, memory_order_relaxed);
		}
	}
	return pma_get(c, k);
}

void fab_pma_counters(struct seg *s, uint32_t port, struct fab_counters *c)
{
	*c = (struct fab_counters){0};
	for (uint32_t i = 0; i < classic.n; i++)
		c->n[classic.rows[i].ctr] = pma_value(s, &classic, &classic.rows[i], port, port);
	for (uint32_t i = 0; i < EXT_NOT_ERRORS; i++)
		c->n[extended.rows[i].ctr] = pma_value(s, &extended, &extended.rows[i], port, port);
}

static uint16_t get_counters(const struct fab_mad_call *c)
{
	return pma_get(c, &classic);
}

static uint16_t set_counters(const struct fab_mad_call *c)
{
	return pma_set(c, &classic);
}

static uint16_t get_counters_ext(const struct fab_mad_call *c)
{
	return pma_get(c, &extended);
}

static uint16_t set_counters_ext(const struct fab_mad_call *c)
{
	return pma_set(c, &extended);
}

static uint16_t get_rcv_errors(const struct fab_mad_call *c)
{
	return pma_get(c, &rcv_errors);
}

static uint16_t set_rcv_errors(const struct fab_mad_call *c)
{
	return pma_set(c, &rcv_errors);
}

static uint16_t get_discards(const struct fab_mad_call *c)
{
	return pma_get(c, &discards);
}

static uint16_t set_discards(const struct fab_mad_call *c)
{
	return pma_set(c, &discards);
}

const struct fab_mad_row fab_pma_rows[] = {
	{MAD_CLASS_PERF, MAD_ATTR_CLASS_PORT_INFO, "ClassPortInfo", get_class_port_info, NULL},
	{MAD_CLASS_PERF, PMA_ATTR_PORT_COUNTERS, "PortCounters", get_counters, set_counters},
	{MAD_CLASS_PERF, PMA_ATTR_PORT_COUNTERS_EXT, "PortCountersExtended", get_counters_ext,
	 set_counters_ext},
	{MAD_CLASS_PERF, PMA_ATTR_PORT_RCV_ERROR_DETAILS, "PortRcvErrorDetails", get_rcv_errors,
	 set_rcv_errors},
	{MAD_CLASS_PERF, PMA_ATTR_PORT_XMIT_DISCARD_DETAILS, "PortXmitDiscardDetails", get_discards,
	 set_discards},
	{0},
};
