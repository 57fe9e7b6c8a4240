/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the subnet administration's dispatch: it chooses its MADs, checks them, and builds the frame
 * of the answers. SA records are the rows of sa_node.c, sa_path.c, sa_group.c and sa_kept.c.
 */
#include "subnet/sa.h"

#include <string.h>
#include "fabric/notice.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/heap.h"
#include "wire/ib/pkey.h"

#define SA_CLASS_VERSION 2
/* A message is twice in the pool of pieces (SEG_T_EVBUF, 256 MiB): as it is sent, and received. */
#define SA_MAX_ANSWER (120u << 20)

/* Values in ClassPortInfo. */
#define SA_CAP_UD_MCAST 0x0200
#define SA_CAP_MULTIPATH 0x0400
#define SA_CAP_CAPMASK_MATCH 0x2000 /* IsPortInfoCapMaskMatchSupported */
#define SA_CAP2_ALIAS_GUIDS 0x20
#define SA_QP1_QKEY 0x80010000u
#define SA_RESP_TIME 16 /* 2^16 * 4.096 us */

static const struct sa_row *sa_find(uint64_t attr_id)
{
	static const struct sa_row *const tables[] = {sa_node_rows,   sa_path_rows,
						      sa_group_rows,  sa_kept_rows,
						      sa_inform_rows, sa_multipath_rows};

	for (uint32_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct sa_row *r = tables[i]; r->attr_id; r++)
			if (r->attr_id == attr_id)
				return r;
	return NULL;
}

void sa_emit(struct sa_call *c, uint64_t own, const void *record)
{
	if (sa_done(c) || (c->rec && !sa_match(c->rec, c->mask & ~own, c->want, record)))
		return;
	if (c->len + c->size > c->room) {
		uint32_t room = c->room ? 2 * c->room : 4096;
		uint8_t *data =
			c->len + c->size > SA_MAX_ANSWER ? NULL : heap_grow(c->data, c->len, room);

		if (!data) {
			c->status = SA_STATUS_NO_RESOURCES;
			return;
		}
		c->data = data;
		c->room = room;
	}
	memcpy(c->data + c->len, record, c->size);
	c->len += c->size;
	c->count++;
}

static void class_port_info(uint8_t *d)
{
	LAYOUT_SET(class_port_info, d, base_version, 1);
	LAYOUT_SET(class_port_info, d, class_version, SA_CLASS_VERSION);
	LAYOUT_SET(class_port_info, d, cap_mask,
		   SA_CAP_UD_MCAST | SA_CAP_MULTIPATH | SA_CAP_CAPMASK_MATCH);
	LAYOUT_SET(class_port_info, d, cap_mask2, SA_CAP2_ALIAS_GUIDS);
	LAYOUT_SET(class_port_info, d, resp_time_value, SA_RESP_TIME);
	LAYOUT_SET(class_port_info, d, redirect_qp, 1);
	LAYOUT_SET(class_port_info, d, redirect_qkey, SA_QP1_QKEY);
	LAYOUT_SET(class_port_info, d, trap_qkey, SA_QP1_QKEY);
}

/* Is the answer an RMPP message of any number of records? */
static bool has_many(const struct sa_call *c)
{
	return c->method == MAD_METHOD_GET_TABLE || c->method == MAD_METHOD_GET_MULTI;
}

static void sa_run(struct sa_call *c, const struct sa_row *row)
{
	void (*fn)(struct sa_call * c) = NULL;

	if (row && (c->method == MAD_METHOD_GET || c->method == MAD_METHOD_GET_TABLE))
		fn = row->get;
	else if (row && c->method == MAD_METHOD_SET)
		fn = row->set;
	else if (row && c->method == MAD_METHOD_DELETE)
		fn = row->del;
	else if (row && c->method == MAD_METHOD_GET_MULTI)
		fn = row->multi;
	if (!fn) {
		c->status = MAD_STATUS_BAD_ATTR;
		return;
	}
	c->rec = sa_record(row->attr_id);
	c->size = row->size;
	fn(c);
	if (c->status || has_many(c))
		return;
	/* C15-0.1.30 */
	if (!c->count)
		c->status = SA_STATUS_NO_RECORDS;
	else if (c->count > 1)
		c->status = SA_STATUS_TOO_MANY_RECORDS;
}

static bool is_request(uint32_t method)
{
	return method == MAD_METHOD_GET || method == MAD_METHOD_SET ||
	       method == MAD_METHOD_GET_TABLE || method == MAD_METHOD_DELETE ||
	       method == MAD_METHOD_GET_TRACE_TABLE || method == MAD_METHOD_GET_MULTI;
}

bool fab_sa_is_request(const uint8_t *mad)
{
	return is_request(LAYOUT_GET32(mad_hdr, mad, method));
}

static void sa_frame(struct sa_call *c, struct fab_sa_answer *a)
{
	uint32_t method = c->method == MAD_METHOD_SET ? MAD_METHOD_GET : c->method;

	memcpy(a->mad, c->in, SA_DATA);
	LAYOUT_SET(mad_hdr, a->mad, method, method | MAD_METHOD_RESP);
	LAYOUT_SET(mad_hdr, a->mad, status, c->status);
	LAYOUT_SET(sa_hdr, a->mad, sm_key, 0); /* C15-0.1.5 */
	LAYOUT_SET(sa_hdr, a->mad, attr_offset, c->count && !c->status ? c->size / 8 : 0);
	memset(a->mad + LAYOUT_SZ(mad_hdr), 0, MAD_RMPP_HDR - LAYOUT_SZ(mad_hdr));
	if (!c->status && has_many(c)) {
		LAYOUT_SET(mad_hdr, a->mad, attr_id, c->attr_id);
		a->rmpp = true;
		a->data = c->data;
		a->len = c->len;
		return;
	}
	if (c->status) /* keep the record of the request */
		memcpy(a->mad + SA_DATA, c->want, SA_DATA_SIZE);
	else if (c->count)
		memcpy(a->mad + SA_DATA, c->data, c->size);
	heap_free(c->data);
}

enum fab_mad_result fab_sa(struct seg *s, uint32_t port, uint32_t from, const uint8_t *in,
			   struct fab_sa_answer *a)
{
	uint64_t key = LAYOUT_GET(sa_hdr, in, sm_key);
	struct sa_call c = {.s = s,
			    .port = fab_own_port(s, port),
			    .from = from,
			    .in = in,
			    .want = in + SA_DATA,
			    .mask = LAYOUT_GET(sa_hdr, in, comp_mask),
			    .method = LAYOUT_GET32(mad_hdr, in, method),
			    .attr_mod = LAYOUT_GET32(mad_hdr, in, attr_mod),
			    .attr_id = LAYOUT_GET16(mad_hdr, in, attr_id)};
	uint64_t attr = c.attr_id;

	if (!fab_sm_here(s, port))
		return FAB_MAD_PASS;
	memset(a, 0, sizeof(*a));
	if (c.method == MAD_METHOD_REPORT_RESP && attr == MAD_ATTR_NOTICE &&
	    fab_notice_reported(s, port, from, in))
		return FAB_MAD_CONSUMED;
	/* A program on the manager's host may be a subscriber, too. */
	if (!is_request(c.method))
		return c.method & MAD_METHOD_RESP || c.method == MAD_METHOD_REPORT
			       ? FAB_MAD_PASS
			       : FAB_MAD_CONSUMED;
	/* C15-0.1.5: a request with a wrong key gets no answer. */
	if (key && key != FAB_SA_KEY)
		return FAB_MAD_CONSUMED;
	c.trusted = key != 0;
	if (LAYOUT_GET(mad_hdr, in, class_version) != SA_CLASS_VERSION) {
		c.status = MAD_STATUS_BAD_VERSION;
	} else if (attr == MAD_ATTR_CLASS_PORT_INFO) {
		c.status = c.method == MAD_METHOD_GET ? 0 : SA_STATUS_REQ_INVALID;
		sa_frame(&c, a);
		if (!c.status) {
			memset(a->mad + SA_DATA, 0, SA_DATA_SIZE);
			class_port_info(a->mad + SA_DATA);
		}
		return FAB_MAD_REPLY;
	} else {
		sa_run(&c, sa_find(attr));
		if (c.silent)
			return FAB_MAD_CONSUMED;
	}
	sa_frame(&c, a);
	return FAB_MAD_REPLY;
}

void fab_sa_free(struct fab_sa_answer *a)
{
	heap_free(a->data);
	a->data = NULL;
}

/* ---- helpers for several records */

uint32_t sa_port_rate(const struct hw_port *p)
{
	return ib_rate_of(p->width, p->speed);
}

bool sa_selected(uint32_t selector, uint32_t want, uint32_t have, uint32_t (*value)(uint32_t))
{
	uint32_t w = value ? value(want) : want, h = value ? value(have) : have;

	switch (selector) {
	case SA_SEL_GREATER:
		return h > w;
	case SA_SEL_LESS:
		return h < w;
	case SA_SEL_EXACTLY:
		return h == w;
	default:
		return true;
	}
}

uint16_t sa_shared_pkey(const struct hw_port *a, const struct hw_port *b)
{
	for (uint32_t i = 0; i < HW_PKEYS; i++)
		for (uint32_t k = 0; k < HW_PKEYS; k++)
			if (ib_pkey_match(a->pkey[i], b->pkey[k]))
				return a->pkey[i] | b->pkey[k];
	return 0;
}
