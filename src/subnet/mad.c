/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which MADs an adapter consumes, and owns the headers of its answers; the attributes are
 * the rows of sma.c and pma.c.
 */
#include "subnet/sma.h"
#include "fabric/notice.h"

#include <string.h>
#include "hw/port.h"
#include "segment/qlock.h"
#include "util/point.h"

static const struct fab_mad_row *fab_mad_find(const struct fab_mad_row *r, uint64_t attr_id)
{
	for (; r->name; r++)
		if (r->attr_id == attr_id)
			return r;
	return NULL;
}

/*
 * Holders are not cut off: a Set by one that is continued completes as if it had come later, as
 * each of its stores is a complete value. So is what a dead one has left.
 */
static const struct qlock fab_mad_lock = {.lock = offsetof(struct fab_node, lock),
					  .minds = QLOCK_NO_GATES};

static uint16_t fab_mad_set(const struct fab_mad_call *c,
			    uint16_t (*fn)(const struct fab_mad_call *c))
{
	struct fab_node *n = fab_node(c->s, hw_port(c->s, c->port)->node);
	struct qheld held;
	uint16_t status;

	if (qlock_ctrl(c->s, &fab_mad_lock, n, 0, &held, SEG_LOCK_CTRL_NS) < 0)
		return MAD_STATUS_BUSY;
	status = fn(c);
	POINT("node-set");
	qlock_unlock(c->s, &fab_mad_lock, n, &held);
	return status;
}

static uint16_t answer(struct seg *s, uint32_t port, const struct fab_mad_row *rows, uint8_t *out,
		       uint32_t data)
{
	const struct fab_mad_row *row = fab_mad_find(rows, LAYOUT_GET(mad_hdr, out, attr_id));
	struct fab_mad_call c = {.s = s, .port = port, .mad = out, .data = out + data};
	uint16_t (*fn)(const struct fab_mad_call *c);

	if (LAYOUT_GET(mad_hdr, out, class_version) != 1)
		return MAD_STATUS_BAD_VERSION;
	if (!row)
		return MAD_STATUS_BAD_ATTR;
	fn = LAYOUT_GET(mad_hdr, out, method) == MAD_METHOD_GET ? row->get : row->set;
	if (!fn)
		return MAD_STATUS_BAD_ATTR;
	c.attr_mod = LAYOUT_GET32(mad_hdr, out, attr_mod);
	return fn == row->set ? fab_mad_set(&c, fn) : fn(&c);
}

uint16_t fab_sma_get(struct seg *s, uint32_t port, uint16_t attr_id, uint32_t attr_mod,
		     uint8_t *data)
{
	const struct fab_mad_row *row = fab_mad_find(fab_sma_rows, attr_id);
	struct fab_mad_call c = {.s = s, .port = port, .attr_mod = attr_mod, .data = data};

	memset(data, 0, SMP_DATA_SIZE);
	return row && row->get ? row->get(&c) : MAD_STATUS_BAD_ATTR;
}

uint16_t fab_sma_set(struct seg *s, uint32_t port, uint16_t attr_id, uint32_t attr_mod,
		     uint8_t *data)
{
	const struct fab_mad_row *row = fab_mad_find(fab_sma_rows, attr_id);
	struct fab_mad_call c = {.s = s, .port = port, .attr_mod = attr_mod, .data = data};

	return row && row->set ? fab_mad_set(&c, row->set) : MAD_STATUS_BAD_ATTR;
}

/* Which MADs the driver passes to the adapter: mlx5_ib_process_mad(). */
enum fab_mad_result fab_mad(struct seg *s, uint32_t port, uint16_t slid, const uint8_t *in,
			    uint8_t *out)
{
	uint64_t class = LAYOUT_GET(mad_hdr, in, mgmt_class);
	uint64_t method = LAYOUT_GET(mad_hdr, in, method);
	/* NULL: the adapter supports no attribute of the class */
	const struct fab_mad_row *rows = NULL;
	uint16_t status = MAD_STATUS_BAD_ATTR;

	if (!(method & MAD_METHOD_RESP) &&
	    fab_port_loses(s, port, LAYOUT_GET32(mad_hdr, in, attr_id)))
		return FAB_MAD_CONSUMED;
	if (method == MAD_METHOD_TRAP && !slid)
		return FAB_MAD_CONSUMED;
	if (mad_is_smi((uint32_t) class)) {
		enum fab_mad_result r = fab_sm_mad(s, port, slid, in, out);

		if (r != FAB_MAD_PASS)
			return r;
		if (LAYOUT_GET(mad_hdr, in, attr_id) == SMP_ATTR_SM_INFO)
			return FAB_MAD_PASS;
		if (!sma_mkey_ok(s, port, in))
			return FAB_MAD_CONSUMED;
		if (method == MAD_METHOD_TRAP_REPRESS) {
			fab_notice_repress(s, port, in);
			return FAB_MAD_CONSUMED;
		}
		rows = fab_sma_rows;
	} else if (class == MAD_CLASS_PERF) {
		rows = fab_pma_rows;
	} else if (class != MAD_CLASS_MLX_9 && class != MAD_CLASS_MLX_10 && class != MAD_CLASS_CC) {
		return FAB_MAD_PASS;
	}
	if (method != MAD_METHOD_GET && method != MAD_METHOD_SET)
		return FAB_MAD_PASS;
	memcpy(out, in, MAD_SIZE);
	if (rows)
		status = answer(s, port, rows, out, rows == fab_sma_rows ? SMP_DATA : PMA_DATA);
	if (class == MAD_CLASS_SUBN_DR)
		status |= MAD_STATUS_D;
	LAYOUT_SET(mad_hdr, out, method, MAD_METHOD_GET_RESP);
	LAYOUT_SET(mad_hdr, out, status, status);
	return FAB_MAD_REPLY;
}
