/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the performance management agent of an adapter's port: ClassPortInfo, PortCounters and
 * PortCountersExtended. What is counted is what fab_port_counters() knows: data and packets. Errors
 * do not happen on these links: their counters are zero.
 */
#include "fabric/mad.h"
#include "fabric/fabric.h"

#include <string.h>

/* Bits of CounterSelect for the four, in the order of enum hw_pma. */
#define SELECT_FIRST 12
#define SELECT_EXT_FIRST 0

static uint16_t get_class_port_info(const struct fab_mad_call *c)
{
	memset(c->data, 0, MAD_SIZE - PMA_DATA);
	LAYOUT_SET(class_port_info, c->data, base_version, 1);
	LAYOUT_SET(class_port_info, c->data, class_version, 1);
	/* Extended ones without the counts by kind of destination. */
	LAYOUT_SET(class_port_info, c->data, cap_mask, PMA_CAP_EXT_NO_IETF);
	LAYOUT_SET(class_port_info, c->data, resp_time_value, 18);
	return MAD_STATUS_OK;
}

/* PortSelect, a byte at the same place in both attributes. 0: the port that was asked, as mlx5's
 * process_pma_cmd() answers it. */
static uint32_t selected(const struct fab_mad_call *c)
{
	const struct hw_hca *hca = hw_hca(c->s, hw_port(c->s, c->port)->hca);
	uint64_t num = LAYOUT_GET(port_counters, c->data, port_select);

	if (!num)
		return c->port;
	return num >= 1 && num <= hca->nports ? hca->port[num - 1] : SEG_NONE;
}

static void read_all(struct seg *s, uint32_t port, const _Atomic uint64_t *base, uint64_t *out)
{
	struct fab_counters k;

	fab_port_counters(s, port, &k);
	out[HW_PMA_XMIT_DATA] = k.xmit_data;
	out[HW_PMA_RCV_DATA] = k.rcv_data;
	out[HW_PMA_XMIT_PKTS] = k.xmit_pkts;
	out[HW_PMA_RCV_PKTS] = k.rcv_pkts;
	for (unsigned int i = 0; base && i < HW_PMA_COUNT; i++)
		out[i] -= base[i];
}

/* Those whose bits are selected become `value`. */
static void set_some(struct seg *s, uint32_t port, _Atomic uint64_t *base, uint64_t select,
		     const uint64_t *value)
{
	uint64_t now[HW_PMA_COUNT];

	read_all(s, port, NULL, now);
	for (unsigned int i = 0; i < HW_PMA_COUNT; i++)
		if (select >> i & 1)
			atomic_store(&base[i], now[i] - value[i]);
}

/* The classic ones stop at their highest value. */
static uint64_t stuck(uint64_t v)
{
	return v < UINT32_MAX ? v : UINT32_MAX;
}

static uint16_t get_counters(const struct fab_mad_call *c)
{
	uint32_t port = selected(c);
	uint64_t v[HW_PMA_COUNT];

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	read_all(c->s, port, hw_port(c->s, port)->pma_base, v);
	memset(c->data + 2, 0, LAYOUT_SZ(port_counters) - 2);
	LAYOUT_SET(port_counters, c->data, xmit_data, stuck(v[HW_PMA_XMIT_DATA]));
	LAYOUT_SET(port_counters, c->data, rcv_data, stuck(v[HW_PMA_RCV_DATA]));
	LAYOUT_SET(port_counters, c->data, xmit_pkts, stuck(v[HW_PMA_XMIT_PKTS]));
	LAYOUT_SET(port_counters, c->data, rcv_pkts, stuck(v[HW_PMA_RCV_PKTS]));
	return MAD_STATUS_OK;
}

static uint16_t set_counters(const struct fab_mad_call *c)
{
	uint64_t select = LAYOUT_GET(port_counters, c->data, counter_select);
	const uint64_t v[HW_PMA_COUNT] = {
		[HW_PMA_XMIT_DATA] = LAYOUT_GET(port_counters, c->data, xmit_data),
		[HW_PMA_RCV_DATA] = LAYOUT_GET(port_counters, c->data, rcv_data),
		[HW_PMA_XMIT_PKTS] = LAYOUT_GET(port_counters, c->data, xmit_pkts),
		[HW_PMA_RCV_PKTS] = LAYOUT_GET(port_counters, c->data, rcv_pkts),
	};
	uint32_t port = selected(c);

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	set_some(c->s, port, hw_port(c->s, port)->pma_base, select >> SELECT_FIRST, v);
	return get_counters(c);
}

static uint16_t get_counters_ext(const struct fab_mad_call *c)
{
	uint32_t port = selected(c);
	uint64_t v[HW_PMA_COUNT];

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	read_all(c->s, port, hw_port(c->s, port)->pma_base_ext, v);
	memset(c->data + 2, 0, LAYOUT_SZ(port_counters_ext) - 2);
	LAYOUT_SET(port_counters_ext, c->data, xmit_data, v[HW_PMA_XMIT_DATA]);
	LAYOUT_SET(port_counters_ext, c->data, rcv_data, v[HW_PMA_RCV_DATA]);
	LAYOUT_SET(port_counters_ext, c->data, xmit_pkts, v[HW_PMA_XMIT_PKTS]);
	LAYOUT_SET(port_counters_ext, c->data, rcv_pkts, v[HW_PMA_RCV_PKTS]);
	return MAD_STATUS_OK;
}

static uint16_t set_counters_ext(const struct fab_mad_call *c)
{
	uint64_t select = LAYOUT_GET(port_counters_ext, c->data, counter_select);
	const uint64_t v[HW_PMA_COUNT] = {
		[HW_PMA_XMIT_DATA] = LAYOUT_GET(port_counters_ext, c->data, xmit_data),
		[HW_PMA_RCV_DATA] = LAYOUT_GET(port_counters_ext, c->data, rcv_data),
		[HW_PMA_XMIT_PKTS] = LAYOUT_GET(port_counters_ext, c->data, xmit_pkts),
		[HW_PMA_RCV_PKTS] = LAYOUT_GET(port_counters_ext, c->data, rcv_pkts),
	};
	uint32_t port = selected(c);

	if (port == SEG_NONE)
		return MAD_STATUS_BAD_VALUE;
	set_some(c->s, port, hw_port(c->s, port)->pma_base_ext, select >> SELECT_EXT_FIRST, v);
	return get_counters_ext(c);
}

const struct fab_mad_row fab_pma_rows[] = {
	{MAD_CLASS_PERF, MAD_ATTR_CLASS_PORT_INFO, "ClassPortInfo", get_class_port_info, NULL},
	{MAD_CLASS_PERF, PMA_ATTR_PORT_COUNTERS, "PortCounters", get_counters, set_counters},
	{MAD_CLASS_PERF, PMA_ATTR_PORT_COUNTERS_EXT, "PortCountersExtended", get_counters_ext,
	 set_counters_ext},
	{0},
};
