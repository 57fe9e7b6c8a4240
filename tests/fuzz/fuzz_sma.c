/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet management packets with any bytes, from any port: forwarding, the agents of adapters and
 * switches, notices. Afterwards both ends of a link agree, settings are in their ranges, and no
 * lock is left.
 */
#include "fuzz.h"

#include "subnet/mad.h"
#include "fabric/notice.h"
#include "fabric/test_topo.h"
#include "hw/port.h"
#include "segment/proc.h"
#include "subnet/subnet.h"

#define CALLS 30

static const uint16_t attrs[] = {0x02, 0x10, 0x11, 0x12, 0x14, 0x15, 0x15, 0x15,  0x16,
				 0x17, 0x18, 0x19, 0x1b, 0x20, 0x31, 0x15, 0xff90};
static const uint8_t methods[] = {0x01, 0x02, 0x02, 0x02, 0x05, 0x07, 0x81, 0x13};
static const enum seg_table_id kept[] = {SEG_T_PORT, SEG_T_NODE, SEG_T_SWITCH,
					 SEG_T_LFT,  SEG_T_MFT,  SEG_T_CTR};
#define KEPT (sizeof(kept) / sizeof(kept[0]))

static struct seg seg;
static struct tt topo;
static uint8_t *before[KEPT];

/* Tables that are never claimed have as many elements as the table that they belong to. */
static size_t used(uint32_t k)
{
	enum seg_table_id of = kept[k] == SEG_T_CTR                           ? SEG_T_PORT
			       : kept[k] == SEG_T_LFT || kept[k] == SEG_T_MFT ? SEG_T_SWITCH
									      : kept[k];

	return (size_t)seg_table(&seg, of)->high * seg_table(&seg, kept[k])->elem_size;
}

static void begin(void)
{
	if (seg.hdr)
		return;
	tt_tree2(&topo, 2, 2, 2);
	fz_check(!seg_create(&seg, "fuzz") && !fab_build(&seg, &topo.t, &tt_options));
	fz_check(!seg_proc_register_self(&seg, 1));
	for (uint32_t k = 0; k < KEPT; k++) {
		before[k] = malloc(used(k));
		fz_check(before[k] != NULL);
		memcpy(before[k], seg_at(&seg, kept[k], 0), used(k));
	}
}

static void check_port(const struct hw_port *p, uint32_t i)
{
	uint32_t peer = p->peer;

	fz_check(p->state >= IB_PORT_DOWN && p->state <= IB_PORT_ACTIVE);
	fz_check((p->state == IB_PORT_DOWN) == (p->phys_state != IB_PHYS_LINK_UP));
	fz_check(p->active_mtu >= 1 && p->active_mtu <= p->max_mtu);
	fz_check(p->op_vls <= p->vl_cap && p->mkey_protect <= 3 && p->lmc <= 7);
	fz_check(!(p->width_en & ~p->width_sup) && !(p->speed_en & ~p->speed_sup));
	fz_check(p->lid < FAB_LIDS && p->sm_lid < FAB_LIDS);
	if (peer == SEG_NONE)
		return;
	fz_check(hw_port(&seg, peer)->peer == i);
	fz_check((hw_port(&seg, peer)->phys_state == IB_PHYS_LINK_UP) ==
		 (p->phys_state == IB_PHYS_LINK_UP));
	if (p->phys_state == IB_PHYS_LINK_UP)
		fz_check(p->width == hw_port(&seg, peer)->width &&
			 p->speed == hw_port(&seg, peer)->speed);
}

static void end(void)
{
	static const enum seg_table_id made[] = {SEG_T_NOTICE, SEG_T_SL2VL, SEG_T_VLARB};

	seg_for_each_live (&seg, SEG_T_PORT, i)
		check_port(seg_at(&seg, SEG_T_PORT, i), i);
	seg_for_each_live (&seg, SEG_T_NODE, i)
		fz_check(!fab_node(&seg, i)->lock.word);
	fz_check(!fab_subnet(&seg)->link_lock.word);
	for (uint32_t t = 0; t < 3; t++)
		seg_for_each_live (&seg, made[t], i)
			seg_free(&seg, made[t], i);
	for (uint32_t k = 0; k < KEPT; k++)
		memcpy(seg_at(&seg, kept[k], 0), before[k], used(k));
	fab_moved(&seg);
}

static void sent(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad)
{
	fz_check(hw_port(s, port)->sm_lid && LAYOUT_GET(mad_hdr, mad, method) == MAD_METHOD_TRAP);
}

static void call(struct fz *f)
{
	uint32_t ports = seg_table(&seg, SEG_T_PORT)->high - 1, from = 1 + fz_u8(f) % ports, at;
	uint8_t mad[MAD_SIZE], out[MAD_SIZE], how = fz_u8(f), method = methods[fz_u8(f) % 8];
	struct fab_smp p = {.mad = mad};
	uint16_t attr = attrs[fz_u8(f) % (sizeof(attrs) / sizeof(attrs[0]))];

	fz_bytes(f, mad, sizeof(mad));
	LAYOUT_SET(mad_hdr, mad, mgmt_class, how & 1 ? MAD_CLASS_SUBN_DR : MAD_CLASS_SUBN_LID);
	LAYOUT_SET(mad_hdr, mad, class_version, 1);
	LAYOUT_SET(mad_hdr, mad, method, method);
	LAYOUT_SET(mad_hdr, mad, attr_id, attr);
	/* Mostly an attribute that exists. */
	if (how & 2)
		LAYOUT_SET(mad_hdr, mad, attr_mod, LAYOUT_GET(mad_hdr, mad, attr_mod) & 0x80030007);
	if (how & 4)
		LAYOUT_SET(smp, mad, mkey, hw_port(&seg, from)->mkey);
	p.slid = (uint16_t)hw_port(&seg, from)->lid;
	p.dlid = how & 8 ? MAD_LID_PERMISSIVE : fz_u8(f);
	at = how & 16 ? from : fab_smp_send(&seg, from, &p);
	/* Read, changed a little, written back: otherwise most sets are refused. */
	if (at != SEG_NONE && (how & 32) && method == MAD_METHOD_SET) {
		uint8_t is[SMP_DATA_SIZE], n = fz_u8(f) % 8;

		if (!fab_sma_get(&seg, at, attr, (uint32_t)LAYOUT_GET(mad_hdr, mad, attr_mod),
				 is)) {
			for (uint32_t i = 0; i < n; i++) {
				uint8_t byte = fz_u8(f) % SMP_DATA_SIZE;

				is[byte] = mad[SMP_DATA + byte];
			}
			memcpy(mad + SMP_DATA, is, sizeof(is));
		}
	}
	if (at == SEG_NONE || fab_mad(&seg, at, p.slid, mad, out) != FAB_MAD_REPLY)
		return;
	memcpy(mad, out, sizeof(mad));
	fz_check(mad_is_response(mad));
	fab_smp_answer(&seg, at, &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};

	begin();
	for (uint32_t i = 0; i < CALLS && f.n; i++) {
		uint32_t port = 1 + fz_u8(&f) % (seg_table(&seg, SEG_T_PORT)->high - 1);

		switch (fz_u8(&f) % 16) {
		case 0:
			fab_unplug(&seg, port);
			break;
		case 1:
			fab_plug(&seg, port,
				 1 + fz_u8(&f) % (seg_table(&seg, SEG_T_PORT)->high - 1));
			break;
		case 2:
			fab_notices_run(&seg, sent);
			break;
		default:
			call(&f);
		}
	}
	end();
	return 0;
}
