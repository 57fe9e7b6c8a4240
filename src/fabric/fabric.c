/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the fabric's content in the segment: hosts, HCAs, ports, LIDs, and what a change of a port's
 * state means to those who listen. Calls the segment only. fab_create by the supervisor; look-ups
 * by the engine, also in a trap (no malloc, no stdio there); state changes by anybody.
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "segment/evq.h"
#include "segment/evsub.h"
#include "segment/proc.h"
#include "util/bits.h"
#include "util/log.h"
#include "wire/prm/eq.h"

/*
 * EUI-64 GUIDs: a locally administered prefix (bit 1 of the first octet is set, so that no vendor's
 * can be met), then host, device and port. The same options give the same GUIDs in every fabric.
 */
#define GUID_PREFIX UINT64_C(0x5a17ca0300000000)

/* PortInfo:CapabilityMask of a ConnectX port without an SM on it. */
#define PORT_CAP_MASK 0x2651e848u

#define MAX_HOSTS 0xffffu /* 16 bits of the GUID */

static uint64_t hca_guid(uint32_t host_no, uint32_t dev_index)
{
	return GUID_PREFIX | (uint64_t)(host_no & 0xffff) << 16 | (uint64_t)(dev_index & 0xff) << 8;
}

static int port_create(struct seg *s, uint32_t hca_idx, uint32_t num, uint32_t lid,
		       const struct fab_options *o)
{
	struct hw_hca *hca = hw_hca(s, hca_idx);
	struct hw_lid *l;
	struct hw_port *p;
	uint32_t idx;
	int r;

	r = seg_alloc(s, SEG_T_PORT, SEG_OWNER_DEVICE, &idx);
	if (r < 0)
		return r;
	r = seg_alloc_at(s, SEG_T_LID, SEG_OWNER_DEVICE, lid);
	if (r < 0)
		return r == -EINVAL ? -ENOSPC : r;
	p = seg_at(s, SEG_T_PORT, idx);
	l = seg_at(s, SEG_T_LID, lid);
	p->hca = hca_idx;
	p->num = num;
	p->state = HW_PORT_ACTIVE;
	p->phys_state = HW_PHYS_LINKUP;
	p->lid = lid;
	p->sm_lid = 1;
	p->cap_mask = PORT_CAP_MASK;
	p->width = o->link_width;
	p->speed = o->link_speed;
	p->active_mtu = p->max_mtu = o->max_mtu;
	p->guid = hca->node_guid + num - 1;
	p->gid_prefix = UINT64_C(0xfe80000000000000);
	be64_store(p->gid[0], p->gid_prefix);
	be64_store(p->gid[0] + 8, p->guid);
	p->pkey[0] = 0xffff;
	hca->port[num - 1] = idx;
	atomic_store_explicit(&l->port, idx + 1, memory_order_release);
	return 0;
}

static int hca_create(struct seg *s, uint32_t host_idx, uint32_t host_no, uint32_t dev_index,
		      uint32_t *next_lid, const struct fab_options *o)
{
	struct hw_host *host = seg_at(s, SEG_T_HOST, host_idx);
	struct hw_hca *hca;
	uint32_t idx;
	int r;

	r = seg_alloc(s, SEG_T_HCA, SEG_OWNER_DEVICE, &idx);
	if (r < 0)
		return r;
	hca = seg_at(s, SEG_T_HCA, idx);
	hca->model = o->model;
	hca->device_id = o->device_id;
	hca->hw_rev = o->hw_rev;
	hca->host = host_idx;
	hca->dev_index = dev_index;
	hca->nports = o->ports;
	hca->node_guid = hca->sys_image_guid = hca_guid(host_no, dev_index);
	/* As rdma-ndd names nodes: "<host> <device>". */
	snprintf(hca->node_desc, sizeof(hca->node_desc), "%s mlx5_%u", host->name, dev_index);
	hca->vhca_id = idx;
	hca->next_uid = 1;
	for (uint32_t i = 0; i < HW_COMP_VECTORS; i++)
		hca->eqn[i] = SEG_NONE; /* the firmware's CREATE_EQ fills them */
	for (uint32_t i = 0; i < HW_MAX_PORTS; i++)
		hca->port[i] = SEG_NONE;
	for (uint32_t num = 1; num <= o->ports; num++) {
		r = port_create(s, idx, num, (*next_lid)++, o);
		if (r < 0)
			return r;
	}
	host->hca[host->nhcas++] = idx;
	return 0;
}

int fab_create(struct seg *s, const struct fab_options *o)
{
	const struct hw_host *none = NULL;
	uint32_t lid = 1;

	if (o->hosts < 1 || o->hosts > MAX_HOSTS || o->hcas < 1 ||
	    o->hcas > sizeof(none->hca) / sizeof(none->hca[0]) || o->ports < 1 ||
	    o->ports > HW_MAX_PORTS)
		return -EINVAL;
	for (uint32_t h = 1; h <= o->hosts; h++) {
		struct hw_host *host;
		uint32_t idx;
		int r = seg_alloc(s, SEG_T_HOST, SEG_OWNER_DEVICE, &idx);

		if (r < 0)
			return r;
		host = seg_at(s, SEG_T_HOST, idx);
		snprintf(host->name, sizeof(host->name), "h%u", h);
		for (uint32_t d = 0; d < o->hcas; d++) {
			r = hca_create(s, idx, h, d, &lid, o);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

uint32_t fab_host_by_name(struct seg *s, const char *name)
{
	seg_for_each_live (s, SEG_T_HOST, i) {
		const struct hw_host *h = seg_at(s, SEG_T_HOST, i);

		if (!strncmp(h->name, name, sizeof(h->name)))
			return i;
	}
	return SEG_NONE;
}

static uint32_t route(struct seg *s, uint32_t from, uint32_t dlid, uint32_t state)
{
	const struct hw_port *src = hw_port(s, from);
	const struct hw_port *dst;
	const struct hw_lid *l;
	uint32_t port;

	if (!src || src->state < state)
		return SEG_NONE;
	l = seg_live(s, SEG_T_LID, dlid);
	if (!l)
		return SEG_NONE;
	port = atomic_load_explicit(&l->port, memory_order_acquire);
	if (!port)
		return SEG_NONE;
	dst = hw_port(s, port - 1);
	return dst && dst->state >= state ? port - 1 : SEG_NONE;
}

uint32_t fab_route(struct seg *s, uint32_t from, uint32_t dlid)
{
	return route(s, from, dlid, HW_PORT_ACTIVE);
}

uint32_t fab_route_smp(struct seg *s, uint32_t from, uint32_t dlid)
{
	return route(s, from, dlid, HW_PORT_INIT);
}

uint32_t fab_port_by_gid(struct seg *s, const uint8_t gid[16])
{
	static const uint8_t zero[16];

	if (!memcmp(gid, zero, sizeof(zero)))
		return SEG_NONE; /* an empty table entry is nobody's GID */
	seg_for_each_live (s, SEG_T_PORT, i) {
		const struct hw_port *p = seg_at(s, SEG_T_PORT, i);

		for (unsigned int g = 0; g < HW_GIDS; g++)
			if (!memcmp(p->gid[g], gid, 16))
				return i;
	}
	return SEG_NONE;
}

/* Events come until the command file is closed, also when the event file lives longer. */
static bool has_parent(struct seg *s, const struct seg_file *f)
{
	uint32_t i = atomic_load(&f->parent);
	const struct seg_file *parent = i == SEG_NONE ? NULL : seg_file(s, i);

	return parent && parent->kind == SEG_FILE_UVERBS && parent->gen == f->parent_gen;
}

/* To who has subscribed to the events of the adapter as such. */
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

	if (!sub_type)
		return;
	if (sub_type == PRM_PORT_DOWN && p->state != HW_PORT_DOWN)
		sub_type = PRM_PORT_INITIALIZED;
	LAYOUT_SET(eqe, eqe, event_type, PRM_EVENT_PORT_CHANGE);
	LAYOUT_SET(eqe, eqe, event_sub_type, sub_type);
	LAYOUT_SET(eqe_port, data, port_num, p->num);
	evsub_raise(s, p->hca, PRM_EVENT_PORT_CHANGE, 0, eqe);
}

void fab_port_event(struct seg *s, uint32_t port, uint32_t ib_event_type)
{
	const struct hw_port *p = hw_port(s, port);
	struct seg_evsrc src = {
		.table = SEG_T_COUNT}; /* no object: nobody waits for it to be acked */

	if (!p)
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
	const struct hw_port *p = hw_port(s, port);

	*c = (struct fab_counters){0};
	if (!p)
		return;
	*c = (struct fab_counters){p->xmit_data, p->rcv_data, p->xmit_pkts, p->rcv_pkts};
	seg_for_each_live (s, SEG_T_QP, i) {
		const struct hw_qp *q = seg_at(s, SEG_T_QP, i);

		if (q->port != port)
			continue;
		c->xmit_data += (q->tx_bytes + q->rx_tx_bytes) / 4;
		c->rcv_data += (q->rx_bytes + q->tx_rx_bytes) / 4;
		c->xmit_pkts += q->tx_pkts + q->rx_tx_pkts;
		c->rcv_pkts += q->rx_pkts + q->tx_rx_pkts;
	}
}

int fab_port_set_state(struct seg *s, uint32_t port, uint32_t state)
{
	struct hw_port *p = hw_port(s, port);
	const struct hw_host *host;
	const struct hw_hca *hca;
	char root[320];
	uint32_t old;

	if (!p || state < HW_PORT_DOWN || state > HW_PORT_ACTIVE)
		return -EINVAL;
	old = atomic_exchange(&p->state, state);
	if (old == state)
		return 0;
	atomic_store(&p->phys_state, state == HW_PORT_DOWN ? HW_PHYS_POLLING : HW_PHYS_LINKUP);
	hca = hw_hca(s, p->hca);
	host = hca ? seg_live(s, SEG_T_HOST, hca->host) : NULL;
	if (host && s->dir[0]) {
		int r;

		snprintf(root, sizeof(root), "%s/host/%.31s", s->dir, host->name);
		r = fab_sysfs_update_port(s, port, root);
		if (r < 0 && r != -ENOENT)
			TRACE(LOG_ERROR, "sysfs of port %u not updated: %d", port, r);
	}
	/* mlx5 reports every change away from ACTIVE as PORT_ERR; DOWN to INIT is one more of it.
	 */
	fab_port_event(s, port,
		       state == HW_PORT_ACTIVE ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
	return 0;
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
