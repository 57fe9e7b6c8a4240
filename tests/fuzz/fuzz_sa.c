/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The built-in SA and subnet manager: requests with any bytes from any port, while cables are
 * pulled and plugged. Answers have the frame that their headers describe, and no lock is left.
 */
#include "fuzz.h"

#include "fabric/notice.h"
#include "subnet/sa.h"
#include "fabric/test_topo.h"
#include "hw/port.h"
#include "segment/proc.h"
#include "subnet/subnet.h"

#define CALLS 30

static const uint16_t attrs[] = {0x01, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x18,
				 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0x38, 0x38,
				 0x35, 0xf3, 0x31, 0x3a, 0x03, 0x03, 0x03, 0x30, 0xf3};
static const uint8_t methods[] = {0x01, 0x02, 0x12, 0x15, 0x12, 0x02, 0x13, 0x14};

static struct seg seg;
static struct tt topo;

static void begin(void)
{
	if (seg.hdr)
		return;
	tt_tree2(&topo, 2, 2, 2);
	fz_check(!seg_create(&seg, "fuzz") && !fab_build(&seg, &topo.t, &tt_options));
	fz_check(!seg_proc_register_self(&seg, 1));
}

static void end(void)
{
	static const enum seg_table_id tables[] = {SEG_T_MCGRP, SEG_T_MCMEM, SEG_T_SAREC,
						   SEG_T_NOTICE};

	for (uint32_t t = 0; t < 4; t++)
		seg_for_each_live (&seg, tables[t], i)
			seg_free(&seg, tables[t], i);
	seg_for_each_live (&seg, SEG_T_PORT, i)
		for (uint32_t k = 1; k < HW_IB_GIDS; k++)
			be64_store(((struct hw_port *)seg_at(&seg, SEG_T_PORT, i))->gid[k] + 8, 0);
	for (uint32_t i = 1; i < fab_subnet(&seg)->mc_top; i++)
		fab_mcast_update(&seg, i);
	fz_check(!fab_subnet(&seg)->lock.word);
}

static void any_notice(uint8_t *info, bool all, bool subscribe)
{
	LAYOUT_SET(inform_info, info, lid_range_begin, all ? 0xffff : 1);
	LAYOUT_SET(inform_info, info, lid_range_end, all ? 0 : FAB_LIDS - 1);
	LAYOUT_SET(inform_info, info, subscribe, subscribe);
	LAYOUT_SET(inform_info, info, is_generic, 1);
	LAYOUT_SET(inform_info, info, type, 0xffff);
	LAYOUT_SET(inform_info, info, trap_num, 0xffff);
	LAYOUT_SET(inform_info, info, producer_type, 0xffffff);
}

/* Requests that are seldom whole by chance. */
static void mean_more(struct fz *f, uint8_t *mad, uint8_t how)
{
	uint8_t *r = mad + SA_DATA, n = fz_u8(f);
	uint32_t ports = seg_table(&seg, SEG_T_PORT)->high;
	uint64_t more = 0;

	switch (be16_load(mad + 16)) {
	case MAD_ATTR_INFORM_INFO:
		memset(r, 0, how & 4 ? 16 : 0);
		any_notice(r, how & 1, how & 2);
		break;
	case SA_ATTR_GUID_INFO_RECORD:
		more = 3;
		be16_store(r, (uint16_t)hw_port(&seg, ports - 1 - n % 4)->lid);
		r[2] = n >> 7;
		break;
	case SA_ATTR_MULTI_PATH_RECORD:
		more = 3 << 19;
		LAYOUT_SET(mad_rmpp, mad, flags, MAD_RMPP_ACTIVE);
		LAYOUT_SET(multi_path_record, r, sgid_count, n % 4);
		LAYOUT_SET(multi_path_record, r, dgid_count, n / 4 % 4);
		for (uint32_t i = 0; i < 8; i++)
			memcpy(r + MULTI_PATH_GIDS + 16 * i,
			       hw_port(&seg, ports - 1 - (n / 16 + i) % 4)->gid[0], 16);
		break;
	default:
		break;
	}
	be64_store(mad + 48, be64_load(mad + 48) | more);
}

/* Set meaningful identities: ports' LIDs and GIDs, one of few groups. */
static void mean(struct fz *f, uint8_t *mad, uint32_t from)
{
	const struct hw_port *p = hw_port(&seg, from);
	uint8_t *r = mad + SA_DATA, how = fz_u8(f);

	if (how & 1)
		memcpy(r + (how & 2 ? 16 : 8), p->gid[0], 16);
	if (how & 4)
		memcpy(r + 24, p->gid[0], 16);
	if (how & 8) {
		memset(r, 0, 16);
		r[0] = 0xff;
		r[1] = 0x12;
		r[15] = how >> 6;
	}
	if (how & 16)
		be16_store(r + 40, (uint16_t)p->lid);
	if (how & 32)
		be16_store(r, (uint16_t)p->lid);
	if (how & 64)
		mean_more(f, mad, how);
}

static void request(struct fz *f)
{
	uint32_t ports = seg_table(&seg, SEG_T_PORT)->high, sm = fab_subnet(&seg)->sm_port, from;
	uint8_t mad[MAD_SIZE] = {0}, how = fz_u8(f), at = fz_u8(f);
	struct fab_sa_answer a = {0};

	/* the adapters are the last nodes: a packet comes from a port with a LID */
	from = ports - 1 - at % 4;
	mad[0] = 1;
	mad[1] = MAD_CLASS_SA;
	mad[2] = how & 1 ? fz_u8(f) : 2;
	mad[3] = how & 2 ? fz_u8(f) : methods[(at >> 2) % 8];
	be16_store(mad + 16,
		   how & 4 ? fz_u16(f) : attrs[fz_u8(f) % (sizeof(attrs) / sizeof(attrs[0]))]);
	be64_store(mad + 36, how & 8 ? 1 : 0);
	for (uint8_t k = fz_u8(f) % 12; k; k--) {
		uint8_t bit = fz_u8(f) % 64;

		mad[48 + (63 - bit) / 8] |= (uint8_t)(1 << bit % 8);
	}
	if (how & 16)
		be64_store(mad + 48, be64_load(mad + 48) | 0x130c7); /* joins and creates */
	fz_bytes(f, mad + SA_DATA, fz_u8(f) % SA_DATA_SIZE);
	mean(f, mad, ports - 1 - (at >> 5) % 4);
	if (fab_sa(&seg, sm, from, mad, &a) != FAB_MAD_REPLY)
		return;
	fz_check(LAYOUT_GET(mad_hdr, a.mad, method) & MAD_METHOD_RESP);
	fz_check(!LAYOUT_GET(sa_hdr, a.mad, sm_key));
	if (a.rmpp) {
		uint64_t size = 8 * LAYOUT_GET(sa_hdr, a.mad, attr_offset);

		fz_check(!LAYOUT_GET(mad_hdr, a.mad, status));
		fz_check(a.len ? size && a.len % size == 0 : !size);
	}
	fab_sa_free(&a);
}

/* The reports that the manager has sent in this run, and whether a subscriber answers them. */
static struct {
	bool answered;
	uint32_t times;
} told;

static void reported(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad)
{
	uint8_t back[MAD_SIZE];
	struct fab_sa_answer a;

	fz_check(dlid && dlid < FAB_LIDS);
	if (LAYOUT_GET(mad_hdr, mad, mgmt_class) != MAD_CLASS_SA)
		return;
	fz_check(port == fab_subnet(s)->sm_port);
	fz_check(LAYOUT_GET(mad_hdr, mad, method) == MAD_METHOD_REPORT);
	fz_check(LAYOUT_GET(mad_hdr, mad, attr_id) == MAD_ATTR_NOTICE);
	told.times++;
	memcpy(back, mad, MAD_SIZE);
	LAYOUT_SET(mad_hdr, back, method, MAD_METHOD_REPORT_RESP);
	seg_for_each_live (s, SEG_T_PORT, i)
		if (told.answered && hw_port(s, i)->lid == dlid)
			fz_check(fab_sa(s, port, i, back, &a) == FAB_MAD_CONSUMED);
}

static void subscribe(uint32_t from, bool all)
{
	uint8_t mad[MAD_SIZE] = {1, MAD_CLASS_SA, 2, MAD_METHOD_SET};
	struct fab_sa_answer a = {0};

	be16_store(mad + 16, MAD_ATTR_INFORM_INFO);
	any_notice(mad + SA_DATA, all, true);
	fz_check(fab_sa(&seg, fab_subnet(&seg)->sm_port, from, mad, &a) == FAB_MAD_REPLY);
	fab_sa_free(&a);
}

/* Notices of any content arrive at the manager, and all that is due goes to the subscribers. */
static void notices(struct fz *f)
{
	uint8_t mad[MAD_SIZE], out[MAD_SIZE], how = fz_u8(f);
	uint32_t sm = fab_subnet(&seg)->sm_port, open = seg_table(&seg, SEG_T_NOTICE)->live;

	subscribe(seg_table(&seg, SEG_T_PORT)->high - 1 - fz_u8(f) % 4, how & 16);
	fz_bytes(f, mad, sizeof(mad));
	mad[1] = how & 1 ? MAD_CLASS_SUBN_LID : MAD_CLASS_SUBN_DR;
	mad[3] = MAD_METHOD_TRAP;
	be16_store(mad + 16, MAD_ATTR_NOTICE);
	if (how & 2) { /* generic, of type 1 to 4, from a channel adapter */
		LAYOUT_SET(notice, mad + SMP_DATA, is_generic, 1);
		LAYOUT_SET(notice, mad + SMP_DATA, type, how >> 6);
		LAYOUT_SET(notice, mad + SMP_DATA, producer_type, 1);
	}
	if (how & 4)
		LAYOUT_SET(notice, mad + SMP_DATA, trap_num, 64 + how / 16);
	fab_sm_mad(&seg, sm, 1 + fz_u8(f) % 8, mad, out);
	fz_check(seg_table(&seg, SEG_T_NOTICE)->live <= open + seg_table(&seg, SEG_T_SAREC)->live);
	told.answered = how & 8;
	told.times = 0;
	for (int i = 0; i < 5; i++) {
		seg_for_each_live (&seg, SEG_T_NOTICE, k)
			((struct fab_notice *)seg_at(&seg, SEG_T_NOTICE, k))->due = 0;
		open = seg_table(&seg, SEG_T_NOTICE)->live;
		fab_notices_run(&seg, reported);
		fz_check(seg_table(&seg, SEG_T_NOTICE)->live <= open);
	}
	/* Answered or told four times: no report is left. */
	seg_for_each_live (&seg, SEG_T_NOTICE, k)
		fz_check(!((struct fab_notice *)seg_at(&seg, SEG_T_NOTICE, k))->sub);
}

static void manage(struct fz *f)
{
	uint8_t mad[MAD_SIZE], out[MAD_SIZE], how = fz_u8(f);
	uint32_t ports = seg_table(&seg, SEG_T_PORT)->high, port = 1 + fz_u8(f) % (ports - 1), peer;

	if (how >> 5 == 5) {
		notices(f);
		return;
	}
	switch (how % 4) {
	case 0: /* pull a cable, and plug it again */
		peer = hw_port(&seg, port)->peer;
		if (!fab_unplug(&seg, port)) {
			fz_check(!fab_sm_sweep(&seg));
			request(f);
			fz_check(!fab_plug(&seg, port, peer));
		}
		fz_check(!fab_sm_sweep(&seg));
		break;
	case 1: /* start another manager */
		fab_issm_set(&seg, port, true);
		request(f);
		fab_issm_set(&seg, port, false);
		fz_check(!fab_sm_sweep(&seg));
		break;
	default:
		fz_bytes(f, mad, sizeof(mad));
		mad[1] = how & 4 ? MAD_CLASS_SUBN_LID : MAD_CLASS_SUBN_DR;
		be16_store(mad + 16, SMP_ATTR_SM_INFO);
		if (mad[3] == MAD_METHOD_SET)
			mad[23] = 2; /* the other manager stays */
		fab_sm_mad(&seg, fab_subnet(&seg)->sm_port, 1 + how / 4, mad, out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};

	begin();
	for (int i = 0; i < CALLS && f.n; i++) {
		if (fz_u8(&f) % 8)
			request(&f);
		else
			manage(&f);
	}
	end();
	return 0;
}
