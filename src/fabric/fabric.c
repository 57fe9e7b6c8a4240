/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the fabric's content in the segment: hosts, HCAs, ports, LIDs, and the events that a change
 * of a port's state raises. Calls the segment only. The supervisor calls fab_create; the engine
 * calls look-ups, also in a trap (no malloc, no stdio there); any process may change states.
 */
#include "fabric/fabric.h"
#include "fabric/count.h"
#include "fabric/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "segment/suplink.h"
#include "segment/proc.h"
#include "util/bits.h"
#include "util/log.h"
#include "wire/prm/eq.h"

uint32_t fab_host_by_name(struct seg *s, const char *name)
{
	seg_for_each_live (s, SEG_T_HOST, i) {
		const struct hw_host *h = seg_at(s, SEG_T_HOST, i);

		if (!strncmp(h->name, name, sizeof(h->name)))
			return i;
	}
	return SEG_NONE;
}

/* Events arrive until the command file is closed, even if the event file is open longer. */
static bool has_parent(struct seg *s, const struct seg_file *f)
{
	uint32_t i = atomic_load(&f->parent);
	const struct seg_file *parent = i == SEG_NONE ? NULL : seg_file(s, i);

	return parent && parent->kind == SEG_FILE_UVERBS && parent->gen == f->parent_gen;
}

/* Sends to subscribers of the adapter's own events. */
static void tell_subscribers(struct seg *s, const struct hw_port *p, uint32_t ib_event_type)
{
	static const uint8_t sub_types[] = {
		[IBV_EVENT_PORT_ACTIVE] = PRM_PORT_ACTIVE,
		[IBV_EVENT_PORT_ERR] = PRM_PORT_DOWN,
		[IBV_EVENT_LID_CHANGE] = PRM_PORT_LID,
		[IBV_EVENT_PKEY_CHANGE] = PRM_PORT_PKEY,
		[IBV_EVENT_GID_CHANGE] = PRM_PORT_GUID,
		[IBV_EVENT_CLIENT_REREGISTER] = PRM_PORT_CLIENT_REREG,
	};
	uint8_t sub_type = ib_event_type < sizeof(sub_types) ? sub_types[ib_event_type] : 0;
	uint8_t eqe[LAYOUT_SZ(eqe)] = {0};
	uint8_t *data = eqe + EQE_DATA;

	/* On Ethernet the driver writes the GIDs to the adapter, which raises no event for them. */
	if (!sub_type || (sub_type == PRM_PORT_GUID && hw_port_is_eth(p)))
		return;
	if (sub_type == PRM_PORT_DOWN && p->state != IB_PORT_DOWN)
		sub_type = PRM_PORT_INITIALIZED;
	LAYOUT_SET(eqe, eqe, event_type, PRM_EVENT_PORT_CHANGE);
	LAYOUT_SET(eqe, eqe, event_sub_type, sub_type);
	LAYOUT_SET(eqe_port, data, port_num, p->num);
	evsub_raise(s, p->hca, PRM_EVENT_PORT_CHANGE, 0, eqe);
}

/* Raise an async event without object (element = port number) on every open device of an HCA. */
static void port_event(struct seg *s, uint32_t port, uint32_t ib_event_type)
{
	const struct hw_port *p = hw_port(s, port);
	struct seg_evsrc src = {
		.table = SEG_T_COUNT}; /* no object, so no destroy waits for an acknowledgement */

	/* An adapter that has failed tells nothing more. */
	if (!p || (hw_hca(s, p->hca) && atomic_load(&hw_hca(s, p->hca)->fails)))
		return;
	seg_for_each_live (s, SEG_T_FILE, i) {
		const struct seg_file *f = seg_at(s, SEG_T_FILE, i);

		if (f->kind == SEG_FILE_ASYNC && f->hca == p->hca && has_parent(s, f))
			evq_push(s, i, f->gen, src, p->num, ib_event_type, 0);
	}
	tell_subscribers(s, p, ib_event_type);
}

void fab_devices_gone(struct seg *s)
{
	struct seg_evsrc src = {.table = SEG_T_COUNT};

	seg_for_each_live (s, SEG_T_FILE, i) {
		const struct seg_file *f = seg_at(s, SEG_T_FILE, i);

		if (f->kind == SEG_FILE_ASYNC)
			evq_push(s, i, f->gen, src, 0, IBV_EVENT_DEVICE_FATAL, 0);
	}
}

void fab_port_counters(struct seg *s, uint32_t port, struct fab_counters *c)
{
	for (uint32_t i = 0; i < HW_CTR_STORED; i++)
		c->n[i] = fab_counted(s, port, i);
	c->n[HW_CTR_RCV_MAPPING] = c->n[HW_CTR_RCV_RELAY] - c->n[HW_CTR_RCV_LOOPING];
	c->n[HW_CTR_XMIT_UCAST] = c->n[HW_CTR_XMIT_PKTS] - c->n[HW_CTR_XMIT_MCAST];
	c->n[HW_CTR_RCV_UCAST] = c->n[HW_CTR_RCV_PKTS] - c->n[HW_CTR_RCV_MCAST];
}

/*
 * For a port state: mlx5 reports every change away from ACTIVE as PORT_ERR. It reports DOWN to INIT
 * in the same way, and does not report ARMED.
 */
static uint32_t event_of_state(const struct hw_port *p)
{
	if (p->state == IB_PORT_ARMED)
		return 0;
	return p->state == IB_PORT_ACTIVE ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR;
}

static void update_sysfs(struct seg *s, uint32_t port, const struct hw_hca *hca, uint32_t what)
{
	const struct hw_host *host = seg_live(s, SEG_T_HOST, hca->host);
	char root[320];
	int r;

	if (!host || !s->dir[0])
		return;
	snprintf(root, sizeof(root), "%s/host/%.31s", s->dir, host->name);
	r = fab_sysfs_update_port(s, port, root);
	if (!r && (what & (FAB_CHANGED_PKEY | FAB_CHANGED_GID)))
		r = fab_sysfs_update_tables(s, port, root);
	if (r < 0 && r != -ENOENT)
		TRACE(LOG_ERROR, "sysfs of port %u not updated: %d", port, r);
}

void fab_describe(struct seg *s, uint32_t hca, const char *text, size_t n)
{
	const struct hw_hca *h = hw_hca(s, hca);
	const struct hw_host *host = h ? seg_live(s, SEG_T_HOST, h->host) : NULL;
	struct fab_node *node = h ? fab_node(s, h->node) : NULL;
	char desc[sizeof(node->desc)] = {0}, root[320];
	int r;

	if (!node || !host)
		return;
	memcpy(desc, text, n < sizeof(desc) ? n : sizeof(desc));
	memcpy(node->desc, desc, sizeof(desc));
	for (uint32_t i = 0; i < h->nports; i++)
		fab_notice_local(s, h->port[i], FAB_LOCAL_NODE_DESC);
	if (!s->dir[0])
		return;
	snprintf(root, sizeof(root), "%s/host/%.31s", s->dir, host->name);
	r = fab_sysfs_update_desc(s, h, root);
	if (r < 0 && r != -ENOENT)
		TRACE(LOG_ERROR, "node_desc of adapter %u not updated: %d", hca, r);
}

void fab_sm_kick(struct seg *s)
{
	struct fab_subnet *sub = fab_subnet(s);

	if (atomic_load(&sub->sm_state) == FAB_SM_MASTER && !atomic_exchange(&sub->sm_dirty, 1))
		link_sweep(s);
}

/* The events of mcast_event_handler(); the supervisor's loop looks when it is woken. */
static void tell_news(struct seg *s, struct hw_port *p, uint32_t what)
{
	uint32_t news = what & FAB_CHANGED_PKEY ? HW_NEWS_PKEY : 0;

	if ((what & (FAB_CHANGED_LID | FAB_CHANGED_REREGISTER)) ||
	    ((what & FAB_CHANGED_STATE) && event_of_state(p) == IBV_EVENT_PORT_ERR))
		news |= HW_NEWS_RESET;
	if (!news || !(atomic_load(&p->news) & HW_NEWS_WANTED))
		return;
	atomic_fetch_or(&p->news, news);
	link_sweep(s);
}

static void tell_host(struct seg *s, struct hw_port *p, uint32_t port, uint32_t what)
{
	static const struct {
		uint32_t what, event;
	} rows[] = {
		{FAB_CHANGED_LID, IBV_EVENT_LID_CHANGE},
		{FAB_CHANGED_PKEY, IBV_EVENT_PKEY_CHANGE},
		{FAB_CHANGED_GID, IBV_EVENT_GID_CHANGE},
		{FAB_CHANGED_REREGISTER, IBV_EVENT_CLIENT_REREGISTER},
		{FAB_CHANGED_SM_TOLD, IBV_EVENT_SM_CHANGE},
	};
	const struct hw_hca *hca = hw_hca(s, p->hca);

	if (!hca)
		return; /* a switch's port: no listeners */
	update_sysfs(s, port, hca, what);
	tell_news(s, p, what);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (what & rows[i].what)
			port_event(s, port, rows[i].event);
	if ((what & FAB_CHANGED_STATE) && event_of_state(p))
		port_event(s, port, event_of_state(p));
}

void fab_port_changed(struct seg *s, uint32_t port, uint32_t what)
{
	struct hw_port *p = hw_port(s, port);

	if (what & (FAB_CHANGED_STATE | FAB_CHANGED_LID))
		fab_moved(s);
	if (!p)
		return;
	if (what && TRACE_ON(LOG_LINK))
		fab_trace_port(s, port, what);
	if ((what & FAB_CHANGED_STATE) && p->state != IB_PORT_ACTIVE)
		fab_sm_kick(s);
	if (what)
		tell_host(s, p, port, what);
	fab_port_end(s, port);
}

int fab_port_set_state(struct seg *s, uint32_t port, uint32_t state)
{
	struct hw_port *p = hw_port(s, port);

	if (!p || state < IB_PORT_DOWN || state > IB_PORT_ACTIVE)
		return -EINVAL;
	fab_port_begin(s, port, FAB_CHANGED_STATE);
	if (atomic_exchange(&p->state, state) == state) {
		fab_port_end(s, port);
		return 0;
	}
	if (state == IB_PORT_DOWN)
		fab_count(s, port, HW_CTR_DOWNED, 1);
	/* mlx5_query_port_roce(): an interface without a carrier is DISABLED. */
	atomic_store(&p->phys_state, state != IB_PORT_DOWN ? IB_PHYS_LINK_UP
				     : hw_port_is_eth(p)   ? IB_PHYS_DISABLED
							   : IB_PHYS_POLLING);
	fab_port_changed(s, port, FAB_CHANGED_STATE);
	return 0;
}

bool fab_port_loses(struct seg *s, uint32_t port, uint32_t attr_id)
{
	struct hw_port *p = hw_port(s, port);
	uint32_t rate = p ? atomic_load_explicit(&p->err_rate, memory_order_relaxed) : 0;
	uint32_t attr = rate ? atomic_load(&p->err_attr) : 0;
	uint32_t was;

	if (!rate || (attr && attr != attr_id))
		return false;
	/* One MAD is lost each time the sum passes 100: the same script gives the same losses. */
	was = atomic_fetch_add(&p->err_sum, rate);
	return was / 100 != (was + rate) / 100;
}

void fab_pci_name(const struct hw_hca *hca, char out[16])
{
	snprintf(out, 16, "5a17:00:%02x.0", hca->dev_index & 0x1f);
}

uint32_t fab_umad_index(struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	const struct hw_hca *hca = p ? hw_hca(s, p->hca) : NULL;
	const struct hw_host *host = hca ? seg_live(s, SEG_T_HOST, hca->host) : NULL;
	uint32_t n = 0;

	if (!host)
		return SEG_NONE;
	for (uint32_t i = 0; i < host->nhcas && host->hca[i] != p->hca; i++)
		n += hw_hca(s, host->hca[i])->nports;
	return n + p->num - 1;
}

uint32_t fab_port_by_umad(struct seg *s, uint32_t host, uint32_t n)
{
	const struct hw_host *h = seg_live(s, SEG_T_HOST, host);

	for (uint32_t i = 0; h && i < h->nhcas; i++) {
		const struct hw_hca *hca = hw_hca(s, h->hca[i]);

		if (n < hca->nports)
			return hca->port[n];
		n -= hca->nports;
	}
	return SEG_NONE;
}
