/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of this folder: a fabric of one HCA in its own segment, one DEVX user with
 * one object of each kind, and a valid command of each opcode.
 */
#ifndef SOFTHCA_FW_TEST_H
#define SOFTHCA_FW_TEST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fw/priv.h"
#include "hw/hca.h"
#include "hw/memic.h"
#include "hw/port.h"
#include "hw/qp_state.h"
#include "segment/proc.h"
#include "subnet/subnet.h"
#include "util/cleanup.h"
#include "util/test_cmocka.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"
#include "wire/prm/gobj.h"
#include "wire/prm/memic.h"
#include "wire/prm/mkey.h"
#include "wire/prm/pd.h"
#include "wire/prm/qos.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/uar.h"
#include "wire/prm/umem.h"

#define TEST_UID 7u
#define TEST_BUF (1u << 20)

struct env {
	struct seg s;
	uint32_t hca, file;
	struct fw_ctx user, kernel; /* both use `file`; `kernel` is for the driver's commands */
	struct fw_mem mem;
	uint8_t *buf; /* TEST_BUF bytes, covered by the umem */
	/* objects of the user */
	uint32_t uar, pd, umem, dbr, cq, srq, qp, mkey;
	uint32_t td, rq, rqt, tir, tis, sq; /* made by raw_up() */
	uint32_t tsar, group;               /* made by sched_up() */
	uint8_t in[0x2400], out[0x1200];
};

/*
 * Returns the status of a command; a failure of our own fails the test. The syndrome is in e->out.
 */
static inline uint32_t run_as(struct env *e, const struct fw_ctx *c, const void *in, uint32_t inlen,
			      uint32_t outlen)
{
	assert_uint_in_range(outlen, 0x10, sizeof(e->out));
	assert_int_equal(fw_exec(c, in, inlen, e->out, outlen), 0);
	return LAYOUT_GET32(cmd_out, e->out, status);
}

static inline uint32_t run(struct env *e, const void *in, uint32_t inlen, uint32_t outlen)
{
	return run_as(e, &e->user, in, inlen, outlen);
}

static inline uint32_t syndrome(const struct env *e)
{
	return LAYOUT_GET32(cmd_out, e->out, syndrome);
}

static inline uint32_t out_id(const struct env *e)
{
	return LAYOUT_GET32(cmd_id_out, e->out, id);
}

static inline void *cmd_init(struct env *e, uint16_t opcode, uint32_t op_mod)
{
	memset(e->in, 0, sizeof(e->in));
	LAYOUT_SET(cmd_in, e->in, opcode, opcode);
	LAYOUT_SET(cmd_in, e->in, uid, TEST_UID);
	LAYOUT_SET(cmd_in, e->in, op_mod, op_mod);
	return e->in;
}

/* ---- one valid command of each kind, in e->in ---- */

static inline void b_id(struct env *e, uint16_t opcode, uint32_t id)
{
	LAYOUT_SET(cmd_id_in, cmd_init(e, opcode, 0), id, id);
}

static inline void b_create_mkey(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_CREATE_MKEY, 0);
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);

	LAYOUT_SET(create_mkey_in, in, mkey_umem_valid, 1);
	LAYOUT_SET(create_mkey_in, in, mkey_umem_id, e->umem);
	LAYOUT_SET(create_mkey_in, in, mkey_umem_offset, 0x1000);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, 1);
	LAYOUT_SET(mkc, mkc, lr, 1);
	LAYOUT_SET(mkc, mkc, lw, 1);
	LAYOUT_SET(mkc, mkc, rr, 1);
	LAYOUT_SET(mkc, mkc, qpn, 0xffffff);
	LAYOUT_SET(mkc, mkc, mkey_7_0, 0x5a);
	LAYOUT_SET(mkc, mkc, pd, e->pd);
	LAYOUT_SET(mkc, mkc, start_addr, (uintptr_t)e->buf + 0x1000);
	LAYOUT_SET(mkc, mkc, len, 0x3000);
	LAYOUT_SET(mkc, mkc, log_page_size, 12);
	LAYOUT_SET(mkc, mkc, translations_octword_size, 2);
}

static inline void b_alloc_memic(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_ALLOC_MEMIC, 0);

	LAYOUT_SET(alloc_memic_in, in, range_start_addr, HW_MEMIC_BAR_START);
	LAYOUT_SET(alloc_memic_in, in, range_size, HW_MEMIC_BAR_SIZE);
	LAYOUT_SET(alloc_memic_in, in, memic_size, 128);
}

/* 128 bytes of device memory, which begin at HW_MEMIC_BAR_START; e->in stays. */
static inline void memic_new(struct env *e)
{
	uint8_t in[sizeof(e->in)];

	memcpy(in, e->in, sizeof(in));
	b_alloc_memic(e);
	assert_int_equal(run_as(e, &e->kernel, e->in, LAYOUT_SZ(alloc_memic_in), 0x10), FW_OK);
	memcpy(e->in, in, sizeof(in));
}

static inline void b_dealloc_memic(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_DEALLOC_MEMIC, 0);

	LAYOUT_SET(dealloc_memic_in, in, memic_start_addr, HW_MEMIC_BAR_START);
	LAYOUT_SET(dealloc_memic_in, in, memic_size, 128);
}

static inline void b_create_eq(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_CREATE_EQ, 0);
	void *eqc = LAYOUT_IN(create_eq_in, eq_context_entry, in);

	LAYOUT_SET(eqc, eqc, uar_page, e->uar);
	LAYOUT_SET(eqc, eqc, log_eq_size, 7);
	LAYOUT_SET(eqc, eqc, intr, 2);
}

static inline void b_create_cq(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_CREATE_CQ, 0);
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);

	LAYOUT_SET(create_cq_in, in, cq_umem_valid, 1);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, e->umem);
	LAYOUT_SET(create_cq_in, in, cq_umem_offset, 0x10000);
	LAYOUT_SET(cqc, cqc, dbr_umem_valid, 1);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, e->dbr);
	LAYOUT_SET(cqc, cqc, dbr_addr, 0x40);
	LAYOUT_SET(cqc, cqc, log_cq_size, 4);
	LAYOUT_SET(cqc, cqc, uar_page, e->uar);
	LAYOUT_SET(cqc, cqc, c_eqn, 1);
}

static inline void b_modify_cq(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_CQ, 0);
	void *cqc = LAYOUT_IN(modify_cq_in, cq_context, in);

	LAYOUT_SET(modify_cq_in, in, cqn, e->cq);
	LAYOUT_SET(modify_cq_in, in, modify_field_select,
		   PRM_CQ_MODIFY_PERIOD | PRM_CQ_MODIFY_MAX_COUNT);
	LAYOUT_SET(cqc, cqc, cq_period, 17);
	LAYOUT_SET(cqc, cqc, cq_max_count, 5);
}

static inline void b_resize_cq(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_CQ, 1);
	void *cqc = LAYOUT_IN(modify_cq_in, cq_context, in);

	LAYOUT_SET(modify_cq_in, in, cqn, e->cq);
	LAYOUT_SET(modify_cq_in, in, resize_field_select,
		   PRM_CQ_RESIZE_LOG_SIZE | PRM_CQ_RESIZE_PAGE_OFFSET |
			   PRM_CQ_RESIZE_LOG_PAGE_SIZE);
	LAYOUT_SET(modify_cq_in, in, cq_umem_valid, 1);
	LAYOUT_SET(modify_cq_in, in, cq_umem_id, e->umem);
	LAYOUT_SET(modify_cq_in, in, cq_umem_offset, 0x20000);
	LAYOUT_SET(cqc, cqc, log_cq_size, 6);
}

/* A queue of 16 entries in the umem, with its record in e->dbr; type 1 is cyclic, 0 a list. */
static inline void b_wq(struct env *e, void *wq, uint32_t type, uint32_t log_stride, uint64_t at,
			uint64_t dbr)
{
	LAYOUT_SET(wq, wq, wq_type, type);
	LAYOUT_SET(wq, wq, pd, e->pd);
	LAYOUT_SET(wq, wq, log_wq_stride, log_stride);
	LAYOUT_SET(wq, wq, log_wq_sz, 4);
	LAYOUT_SET(wq, wq, wq_umem_valid, 1);
	LAYOUT_SET(wq, wq, wq_umem_id, e->umem);
	LAYOUT_SET(wq, wq, wq_umem_offset, at);
	LAYOUT_SET(wq, wq, dbr_umem_valid, 1);
	LAYOUT_SET(wq, wq, dbr_umem_id, e->dbr);
	LAYOUT_SET(wq, wq, dbr_addr, dbr);
}

static inline void b_create_rmp(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_CREATE_RMP, 0);
	void *rmpc = LAYOUT_IN(create_rmp_in, ctx, in);

	LAYOUT_SET(rmpc, rmpc, state, 1);
	b_wq(e, LAYOUT_IN(rmpc, wq, rmpc), 0, 5, 0x30000, 0x80);
}

static inline void b_modify_rmp(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_RMP, 0);
	void *rmpc = LAYOUT_IN(modify_rmp_in, ctx, in);

	LAYOUT_SET(modify_rmp_in, in, rmpn, e->srq);
	LAYOUT_SET(modify_rmp_in, in, rmp_state, 1);
	LAYOUT_SET(rmp_bitmask, LAYOUT_IN(modify_rmp_in, bitmask, in), lwm, 1);
	LAYOUT_SET(rmpc, rmpc, state, 1);
	LAYOUT_SET(wq, LAYOUT_IN(rmpc, wq, rmpc), lwm, 3);
}

/* As in pyverbs' DEVX test: RC, own RQ of 16 WQEs of 16 bytes, SQ of 16 WQEBBs. */
static inline void b_create_qp(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_CREATE_QP, 0);
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);

	LAYOUT_SET(create_qp_in, in, wq_umem_valid, 1);
	LAYOUT_SET(create_qp_in, in, wq_umem_id, e->umem);
	LAYOUT_SET(create_qp_in, in, wq_umem_offset, 0x40000);
	LAYOUT_SET(qpc, qpc, st, PRM_ST_RC);
	LAYOUT_SET(qpc, qpc, pm_state, PRM_PM_MIGRATED);
	LAYOUT_SET(qpc, qpc, pd, e->pd);
	LAYOUT_SET(qpc, qpc, log_rq_size, 4);
	LAYOUT_SET(qpc, qpc, log_rq_stride, 0);
	LAYOUT_SET(qpc, qpc, log_sq_size, 4);
	LAYOUT_SET(qpc, qpc, ts_format, PRM_TS_DEFAULT);
	LAYOUT_SET(qpc, qpc, uar_page, e->uar);
	LAYOUT_SET(qpc, qpc, user_index, 0x123);
	LAYOUT_SET(qpc, qpc, cqn_snd, e->cq);
	LAYOUT_SET(qpc, qpc, cqn_rcv, e->cq);
	LAYOUT_SET(qpc, qpc, dbr_umem_valid, 1);
	LAYOUT_SET(qpc, qpc, dbr_umem_id, e->dbr);
	LAYOUT_SET(qpc, qpc, dbr_addr, 0xc0);
}

/* Returns the context. */
static inline void *b_dct(struct env *e)
{
	void *dctc = LAYOUT_IN(create_dct_in, dct_context_entry, cmd_init(e, PRM_OP_CREATE_DCT, 0));

	LAYOUT_SET(dctc, dctc, pd, e->pd);
	LAYOUT_SET(dctc, dctc, cqn, e->cq);
	LAYOUT_SET(dctc, dctc, srqn_xrqn, e->srq);
	LAYOUT_SET(dctc, dctc, port, 1);
	LAYOUT_SET(dctc, dctc, mtu, 3);
	return dctc;
}

static inline void *b_modify_qp(struct env *e, uint16_t opcode, uint32_t opt)
{
	void *in = cmd_init(e, opcode, 0);

	LAYOUT_SET(rst2init_qp_in, in, qpn, e->qp);
	LAYOUT_SET(rst2init_qp_in, in, opt_param_mask, opt);
	return LAYOUT_IN(rst2init_qp_in, qpc, in);
}

static inline void b_rst2init(struct env *e)
{
	void *qpc = b_modify_qp(e, PRM_OP_RST2INIT_QP, 0);

	LAYOUT_SET(qpc, qpc, rre, 1);
	LAYOUT_SET(qpc, qpc, rwe, 1);
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), vhca_port_num, 1);
}

static inline void b_init2rtr(struct env *e)
{
	void *qpc = b_modify_qp(e, PRM_OP_INIT2RTR_QP, 0);
	void *ads = LAYOUT_IN(qpc, primary_address_path, qpc);

	LAYOUT_SET(qpc, qpc, mtu, 3);
	LAYOUT_SET(qpc, qpc, log_msg_max, 20);
	LAYOUT_SET(qpc, qpc, remote_qpn, 0x45);
	LAYOUT_SET(qpc, qpc, min_rnr_nak, 12);
	LAYOUT_SET(qpc, qpc, next_rcv_psn, 0xabcdef);
	LAYOUT_SET(qpc, qpc, log_rra_max, 2);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
	LAYOUT_SET(ads, ads, rlid, 1);
}

static inline void b_rtr2rts(struct env *e)
{
	void *qpc = b_modify_qp(e, PRM_OP_RTR2RTS_QP, 0);
	void *ads = LAYOUT_IN(qpc, primary_address_path, qpc);

	LAYOUT_SET(qpc, qpc, retry_count, 7);
	LAYOUT_SET(qpc, qpc, rnr_retry, 6);
	LAYOUT_SET(qpc, qpc, next_send_psn, 0x112233);
	LAYOUT_SET(qpc, qpc, log_sra_max, 4);
	LAYOUT_SET(ads, ads, ack_timeout, 14);
	LAYOUT_SET(ads, ads, log_rtm, 15);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
}

static inline void b_create_rq(struct env *e)
{
	void *rqc = LAYOUT_IN(create_rq_in, ctx, cmd_init(e, PRM_OP_CREATE_RQ, 0));

	LAYOUT_SET(rqc, rqc, vsd, 1);
	LAYOUT_SET(rqc, rqc, flush_in_error_en, 1);
	LAYOUT_SET(rqc, rqc, ts_format, PRM_TS_DEFAULT);
	LAYOUT_SET(rqc, rqc, user_index, 0x77);
	LAYOUT_SET(rqc, rqc, cqn, e->cq);
	b_wq(e, LAYOUT_IN(rqc, wq, rqc), 1, 5, 0x50000, 0x100);
}

static inline void *b_modify_rq(struct env *e, uint32_t from, uint32_t to, uint64_t mask)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_RQ, 0);
	void *rqc = LAYOUT_IN(modify_rq_in, ctx, in);

	LAYOUT_SET(modify_rq_in, in, rqn, e->rq);
	LAYOUT_SET(modify_rq_in, in, rq_state, from);
	LAYOUT_SET(modify_rq_in, in, modify_bitmask, mask);
	LAYOUT_SET(rqc, rqc, state, to);
	return rqc;
}

/* For both opcodes: a list with e->rq twice. */
static inline void b_rqt(struct env *e, uint16_t opcode)
{
	void *in = cmd_init(e, opcode, 0);
	void *rqtc = LAYOUT_IN(create_rqt_in, rqt_context, in);
	uint8_t *list = (uint8_t *)in + LAYOUT_SZ(create_rqt_in);

	LAYOUT_SET(rqtc, rqtc, rqt_max_size, 4);
	LAYOUT_SET(rqtc, rqtc, rqt_actual_size, 2);
	LAYOUT_SET(rq_num, list, rq_num, e->rq);
	LAYOUT_SET(rq_num, list + 4, rq_num, e->rq);
}

static inline void b_create_rqt(struct env *e)
{
	b_rqt(e, PRM_OP_CREATE_RQT);
}

static inline void b_modify_rqt(struct env *e)
{
	b_rqt(e, PRM_OP_MODIFY_RQT);
	LAYOUT_SET(modify_rqt_in, e->in, rqtn, e->rqt);
	LAYOUT_SET(rqt_bitmask, LAYOUT_IN(modify_rqt_in, bitmask, e->in), rqn_list, 1);
}

static inline void b_create_tir(struct env *e)
{
	void *tirc = LAYOUT_IN(create_tir_in, ctx, cmd_init(e, PRM_OP_CREATE_TIR, 0));

	LAYOUT_SET(tirc, tirc, disp_type, 1);
	LAYOUT_SET(tirc, tirc, rx_hash_fn, 2);
	LAYOUT_SET(tirc, tirc, indirect_table, e->rqt);
	LAYOUT_SET(tirc, tirc, transport_domain, e->td);
}

static inline void b_modify_tir(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_TIR, 0);
	void *tirc = LAYOUT_IN(modify_tir_in, ctx, in);

	LAYOUT_SET(modify_tir_in, in, tirn, e->tir);
	LAYOUT_SET(modify_tir_bitmask, LAYOUT_IN(modify_tir_in, bitmask, in), hash, 1);
	LAYOUT_SET(tirc, tirc, rx_hash_fn, 1);
}

static inline void b_create_tis(struct env *e)
{
	void *tisc = LAYOUT_IN(create_tis_in, ctx, cmd_init(e, PRM_OP_CREATE_TIS, 0));

	LAYOUT_SET(tisc, tisc, prio, 3);
	LAYOUT_SET(tisc, tisc, pd, e->pd);
	LAYOUT_SET(tisc, tisc, transport_domain, e->td);
}

static inline void b_modify_tis(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_TIS, 0);

	LAYOUT_SET(modify_tis_in, in, tisn, e->tis);
	LAYOUT_SET(modify_tis_bitmask, LAYOUT_IN(modify_tis_in, bitmask, in), prio, 1);
	LAYOUT_SET(tisc, LAYOUT_IN(modify_tis_in, ctx, in), prio, 9);
}

static inline void b_create_sq(struct env *e)
{
	void *sqc = LAYOUT_IN(create_sq_in, ctx, cmd_init(e, PRM_OP_CREATE_SQ, 0));
	void *wq = LAYOUT_IN(sqc, wq, sqc);

	LAYOUT_SET(sqc, sqc, flush_in_error_en, 1);
	LAYOUT_SET(sqc, sqc, ts_format, PRM_TS_DEFAULT);
	LAYOUT_SET(sqc, sqc, cqn, e->cq);
	LAYOUT_SET(sqc, sqc, tis_lst_sz, 1);
	LAYOUT_SET(sqc, sqc, tis_num_0, e->tis);
	b_wq(e, wq, 1, 6, 0x50000, 0x100);
	LAYOUT_SET(wq, wq, uar_page, e->uar);
}

static inline void *b_modify_sq(struct env *e, uint32_t from, uint32_t to, uint64_t mask)
{
	void *in = cmd_init(e, PRM_OP_MODIFY_SQ, 0);
	void *sqc = LAYOUT_IN(modify_sq_in, ctx, in);

	LAYOUT_SET(modify_sq_in, in, sqn, e->sq);
	LAYOUT_SET(modify_sq_in, in, sq_state, from);
	LAYOUT_SET(modify_sq_in, in, modify_bitmask, mask);
	LAYOUT_SET(sqc, sqc, state, to);
	return sqc;
}

#define IN(l) LAYOUT_SZ(l##_in)
#define OUT(l) LAYOUT_SZ(l##_out)

/* Run a command that has only a number. */
static inline uint32_t run_on(struct env *e, uint16_t opcode, uint32_t id)
{
	b_id(e, opcode, id);
	return run(e, e->in, 0x10, 0x10);
}

static inline void qp_to(struct env *e, enum prm_qp_state to)
{
	if (to >= PRM_QP_STATE_INIT) {
		b_rst2init(e);
		assert_int_equal(run(e, e->in, IN(rst2init_qp), OUT(rst2init_qp)), FW_OK);
	}
	if (to >= PRM_QP_STATE_RTR) {
		b_init2rtr(e);
		assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
	}
	if (to >= PRM_QP_STATE_RTS) {
		b_rtr2rts(e);
		assert_int_equal(run(e, e->in, IN(rtr2rts_qp), OUT(rtr2rts_qp)), FW_OK);
	}
}

/* ---- the fixture ---- */

static inline uint32_t umem_new(struct env *e, uint64_t va, uint64_t len)
{
	struct fw_ctx c = e->kernel;
	struct fw_mem mem = {.mem = mem_self(&e->s), .va = va, .len = len};

	c.mem = &mem;
	cmd_init(e, PRM_OP_CREATE_UMEM, 0);
	assert_int_equal(run_as(e, &c, e->in, IN(create_umem), OUT(create_umem)), FW_OK);
	return out_id(e);
}

static inline uint32_t make(struct env *e, uint32_t inlen)
{
	assert_int_equal(run(e, e->in, inlen, 0x10), FW_OK);
	return out_id(e);
}

/* Make one object of each kind for raw packets. */
static inline void raw_up(struct env *e)
{
	cmd_init(e, PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0);
	e->td = make(e, IN(alloc_transport_domain));
	b_create_rq(e);
	e->rq = make(e, IN(create_rq));
	b_create_rqt(e);
	e->rqt = make(e, IN(create_rqt) + 8);
	b_create_tir(e);
	e->tir = make(e, IN(create_tir));
	b_create_tis(e);
	e->tis = make(e, IN(create_tis));
	b_create_sq(e);
	e->sq = make(e, IN(create_sq));
}

static inline void b_create_sched(struct env *e, uint32_t type, uint32_t parent)
{
	void *in = cmd_init(e, PRM_OP_CREATE_SCHEDULING_ELEMENT, 0);
	void *sc = LAYOUT_IN(create_scheduling_element_in, scheduling_context, in);

	LAYOUT_SET(create_scheduling_element_in, in, scheduling_hierarchy, 3);
	LAYOUT_SET(scheduling_context, sc, element_type, type);
	LAYOUT_SET(scheduling_context, sc, parent_element_id, parent);
}

static inline void b_sched_id(struct env *e, uint16_t opcode, uint32_t id)
{
	void *in = cmd_init(e, opcode, 0);

	LAYOUT_SET(query_scheduling_element_in, in, scheduling_hierarchy, 3);
	LAYOUT_SET(query_scheduling_element_in, in, scheduling_element_id, id);
}

/* A key of bytes that count up, in plaintext; the credential of wrapped ones. */
#define DEK_IN 0x110
static inline void b_gobj_dek(struct env *e, uint16_t opcode, uint32_t id)
{
	uint8_t *body = (uint8_t *)cmd_init(e, opcode, PRM_GOBJ_DEK) + 0x10;
	uint8_t *key = LAYOUT_IN(encryption_key_obj, key, body);

	LAYOUT_SET(create_general_object_in, e->in, obj_id, id);
	LAYOUT_SET(encryption_key_obj, body, modify_field_select,
		   opcode == PRM_OP_MODIFY_GENERAL_OBJECT ? PRM_DEK_SELECT_KEY : 0);
	LAYOUT_SET(encryption_key_obj, body, key_purpose, PRM_DEK_AES_XTS);
	LAYOUT_SET(encryption_key_obj, body, pd, e->pd);
	for (uint8_t i = 0; i < 32; i++)
		key[i] = i;
}

static inline void b_gobj_login(struct env *e)
{
	static const uint8_t credential[] = {
		0x45, 0xbb, 0x01, 0x4a, 0xe5, 0x1d, 0x95, 0xd9, 0xd0, 0x42, 0x4c, 0x58,
		0x91, 0x54, 0x0e, 0xf0, 0xfb, 0xba, 0x10, 0xef, 0x19, 0x11, 0x11, 0x8d,
		0x2b, 0xde, 0x78, 0xb3, 0xc2, 0x67, 0x2b, 0x44, 0x60, 0x0c, 0xa8, 0xdd,
		0x19, 0xfe, 0x4c, 0xd7, 0x61, 0x05, 0x49, 0x75, 0x11, 0xfb, 0x09, 0x68,
	};
	uint8_t *body =
		(uint8_t *)cmd_init(e, PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_CRYPTO_LOGIN) + 0x10;

	hw_hca(&e->s, e->hca)->crypto = HW_CRYPTO_WRAPPED;
	memcpy(LAYOUT_IN(crypto_login_obj, credential, body), credential, sizeof(credential));
}

/* As libmlx5 makes and changes them: bw_share 10, max_average_bw 7. */
static inline void b_gobj_sched(struct env *e, uint16_t opcode, uint32_t id, uint32_t type,
				uint32_t parent)
{
	uint8_t *in = cmd_init(e, opcode, PRM_GOBJ_SCHEDULING_ELEMENT);
	void *sc = LAYOUT_IN(sched_elem, sched_context, in + 0x10);

	LAYOUT_SET(create_general_object_in, in, obj_id, id);
	LAYOUT_SET(sched_elem, in + 0x10, modify_field_select, 3);
	LAYOUT_SET(sched_elem, in + 0x10, scheduling_hierarchy, 3);
	LAYOUT_SET(scheduling_context, sc, element_type, type);
	LAYOUT_SET(scheduling_context, sc, parent_element_id, parent);
	LAYOUT_SET(scheduling_context, sc, bw_share, 10);
	LAYOUT_SET(scheduling_context, sc, max_average_bw, 7);
}

static inline uint32_t sched_new(struct env *e, uint32_t type, uint32_t parent)
{
	b_create_sched(e, type, parent);
	assert_int_equal(
		run(e, e->in, IN(create_scheduling_element), OUT(create_scheduling_element)),
		FW_OK);
	return LAYOUT_GET32(create_scheduling_element_out, e->out, scheduling_element_id);
}

static inline void sched_up(struct env *e)
{
	e->tsar = sched_new(e, 0, 0);
	e->group = sched_new(e, 4, e->tsar);
}

static inline void b_qp_groups(struct env *e, uint16_t opcode, uint32_t req, uint32_t resp)
{
	uint8_t *ext = e->in + LAYOUT_SZ(rts2rts_qp_in);

	b_modify_qp(e, opcode, 0);
	LAYOUT_SET(rts2rts_qp_in, e->in, qpc_ext, 1);
	LAYOUT_SET(rts2rts_qp_in, e->in, opt_param_mask_95_32, PRM_QP_OPT32_QOS_QUEUE_GROUP_ID);
	LAYOUT_SET(qpc_ext, ext, qos_queue_group_id_requester, req);
	LAYOUT_SET(qpc_ext, ext, qos_queue_group_id_responder, resp);
}

static inline uint32_t file_new(struct env *e)
{
	struct seg_file *f;
	uint32_t file;

	assert_int_equal(seg_alloc(&e->s, SEG_T_FILE, SEG_OWNER_DEVICE, &file), 0);
	f = seg_at(&e->s, SEG_T_FILE, file);
	f->kind = SEG_FILE_UVERBS;
	f->hca = e->hca;
	return file;
}

/* The MTU of Ethernet interfaces, which carries every path MTU. */
#define TEST_IF_MTU 4200

static inline void env_bare_on(struct env *e, enum hw_link link)
{
	const struct hw_caps *caps = fw_caps(HW_CX6);
	struct fab_options o = {.hosts = 1,
				.hcas = 1,
				.ports = 2,
				.model = HW_CX6,
				.caps = *caps,
				.link = link,
				.if_mtu = TEST_IF_MTU};
	struct hw_host *host;

	memset(e, 0, sizeof(*e));
	assert_int_equal(seg_create(&e->s, "test"), 0);
	assert_int_equal(fab_create(&e->s, &o), 0);
	assert_int_equal(seg_proc_register_self(&e->s, 0), 0);
	host = seg_at(&e->s, SEG_T_HOST, fab_host_by_name(&e->s, "h1"));
	e->hca = host->hca[0];
	assert_int_equal(fw_hca_init(&e->s, e->hca), 0);
	e->file = file_new(e);
	e->user = (struct fw_ctx){.seg = &e->s, .hca = e->hca, .file = e->file, .uid = TEST_UID};
	e->kernel = e->user;
	e->kernel.kernel = true;
	e->buf = aligned_alloc(TEST_BUF, TEST_BUF);
	memset(e->buf, 0, TEST_BUF);
	e->mem = (struct fw_mem){.mem = mem_self(&e->s), .va = (uintptr_t)e->buf, .len = TEST_BUF};
}

static inline void env_bare(struct env *e)
{
	env_bare_on(e, HW_LINK_IB);
}

/* Make the user's objects. */
static inline void env_objects(struct env *e)
{
	cmd_init(e, PRM_OP_ALLOC_UAR, 1);
	e->uar = make(e, IN(alloc_uar));
	cmd_init(e, PRM_OP_ALLOC_PD, 0);
	e->pd = make(e, IN(alloc_pd));
	e->umem = umem_new(e, (uintptr_t)e->buf, TEST_BUF - 0x1000);
	e->dbr = umem_new(e, (uintptr_t)e->buf + TEST_BUF - 0x1000, 0x1000);
	b_create_cq(e);
	e->cq = make(e, IN(create_cq));
	b_create_rmp(e);
	e->srq = make(e, IN(create_rmp));
	b_create_qp(e);
	e->qp = make(e, IN(create_qp));
	b_create_mkey(e);
	e->mkey = make(e, IN(create_mkey));
}

static inline void env_up_on(struct env *e, enum hw_link link)
{
	env_bare_on(e, link);
	env_objects(e);
}

static inline void env_up(struct env *e)
{
	env_up_on(e, HW_LINK_IB);
}

static inline void env_down(struct env *e)
{
	free(e->buf);
	seg_unmap(&e->s);
}

static inline int env_setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	env_up(e);
	*state = e;
	return 0;
}

static inline int env_teardown(void **state)
{
	env_down(*state);
	free(*state);
	return 0;
}

#define env_test(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)

#endif
