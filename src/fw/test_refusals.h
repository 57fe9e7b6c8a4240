/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For the tests of refusals: a valid command of each opcode and form, and rows of one thing wrong
 * in it with what the firmware must say. Valid commands are in test_bases.c and
 * test_bases_shared.c, the rows in test_rows_*.c, the tests over them all in test_refusals.c.
 */
#ifndef SOFTHCA_FW_TEST_REFUSALS_H
#define SOFTHCA_FW_TEST_REFUSALS_H

#include "fw/test.h"

/* ---- valid commands, one per opcode and form ---- */

enum base {
	B_QUERY_HCA_CAP,
	B_QUERY_ADAPTER,
	B_QUERY_ISSI,
	B_QUERY_SPECIAL_CONTEXTS,
	B_NOP,
	B_QUERY_HCA_VPORT_CONTEXT,
	B_QUERY_VPORT_STATE,
	B_QUERY_LAG,
	B_QUERY_VPORT_COUNTER,
	B_QUERY_VNIC_ENV,
	B_QUERY_NIC_VPORT_CONTEXT,
	B_ALLOC_UAR,
	B_DEALLOC_UAR,
	B_ALLOC_PD,
	B_DEALLOC_PD,
	B_CREATE_UMEM,
	B_DESTROY_UMEM,
	B_CREATE_MKEY,
	B_CREATE_MKEY_MEM,
	B_QUERY_MKEY,
	B_DESTROY_MKEY,
	B_CREATE_EQ,
	B_QUERY_EQ,
	B_DESTROY_EQ,
	B_CREATE_CQ,
	B_QUERY_CQ,
	B_MODIFY_CQ,
	B_RESIZE_CQ,
	B_DESTROY_CQ,
	B_CREATE_RMP,
	B_QUERY_RMP,
	B_MODIFY_RMP,
	B_DESTROY_RMP,
	B_CREATE_GENERAL_OBJECT,
	B_MODIFY_GENERAL_OBJECT,
	B_QUERY_GENERAL_OBJECT,
	B_DESTROY_GENERAL_OBJECT,
	B_CREATE_SCHEDULING_ELEMENT,
	B_QUERY_SCHEDULING_ELEMENT,
	B_MODIFY_SCHEDULING_ELEMENT,
	B_DESTROY_SCHEDULING_ELEMENT,
	B_CREATE_RESERVED_QPN,
	B_CREATE_AV_QP_MAPPING,
	B_RTS2RTS_QP_EXT,
	B_SET_PP_RATE_LIMIT,
	B_ALLOC_TRANSPORT_DOMAIN,
	B_DEALLOC_TRANSPORT_DOMAIN,
	B_CREATE_RQ,
	B_QUERY_RQ,
	B_MODIFY_RQ,
	B_DESTROY_RQ,
	B_ARM_RQ,
	B_CREATE_RQT,
	B_QUERY_RQT,
	B_MODIFY_RQT,
	B_DESTROY_RQT,
	B_CREATE_TIR,
	B_QUERY_TIR,
	B_MODIFY_TIR,
	B_DESTROY_TIR,
	B_CREATE_TIS,
	B_QUERY_TIS,
	B_MODIFY_TIS,
	B_DESTROY_TIS,
	B_CREATE_SQ,
	B_QUERY_SQ,
	B_MODIFY_SQ,
	B_DESTROY_SQ,
	B_CREATE_QP,
	B_QUERY_QP,
	B_DESTROY_QP,
	B_RST2INIT_QP,
	B_INIT2INIT_QP,
	B_INIT2RTR_QP,
	B_RTR2RTS_QP,
	B_RTS2RTS_QP,
	B_SQERR2RTS_QP,
	B_SQD_RTS_QP,
	B_2ERR_QP,
	B_2RST_QP,
	B_ALLOC_XRCD,
	B_DEALLOC_XRCD,
	B_CREATE_XRC_SRQ,
	B_QUERY_XRC_SRQ,
	B_ARM_XRC_SRQ,
	B_DESTROY_XRC_SRQ,
	B_CREATE_XRC_QP,
	B_ALLOC_Q_COUNTER,
	B_DEALLOC_Q_COUNTER,
	B_QUERY_Q_COUNTER,
	B_CREATE_DCT,
	B_QUERY_DCT,
	B_DRAIN_DCT,
	B_DESTROY_DCT,
	B_ARM_DCT,
	B_ATTACH_TO_MCG,
	B_DETACH_FROM_MCG,
	B_CREATE_XRQ,
	B_QUERY_XRQ,
	B_ARM_XRQ,
	B_DESTROY_XRQ,
	B_CREATE_PSV,
	B_DESTROY_PSV,
	B_COUNT
};

/* Makes what the command needs and leaves the command in e->in. */
void base_build(struct env *e, enum base b);
/* The same of what several QPs share; false: b is none of those. */
bool base_build_shared(struct env *e, enum base b);
/* The command's length: its layout, and what follows it. */
uint32_t base_len(const struct fw_cmd *cmd, enum base b);
/* Room for the answer, with what follows its layout. */
uint32_t base_outlen(const struct fw_cmd *cmd);
/* As the driver for what only it may do, with memory for what takes memory. */
struct fw_ctx base_ctx(struct env *e, enum base b);

/* Parts of them that rows need too. The object's number. */
uint32_t new_id(struct env *e, uint16_t opcode);
uint32_t new_from(struct env *e, void (*build)(struct env *e), uint32_t inlen);
uint32_t new_set(struct env *e);
void b_rate(struct env *e, uint32_t index, uint32_t rate);
void b_create_xrc_srq(struct env *e);
void b_create_dct(struct env *e);
void b_mcg(struct env *e, uint16_t opcode);

/* ---- what is wrong ---- */

struct edit {
	uint32_t bit, width;
	uint64_t value;
};

struct refusal_row {
	enum fw_r want;
	enum base base;
	struct edit edit[5];
	void (*more)(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
};

struct refusal_rows {
	const char *name;
	const struct refusal_row *row;
	size_t n;
};

#define E(l, f, v)                                            \
	{                                                     \
		LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH, (v) \
	}
#define E_IN(outer, place, l, f, v)                                                      \
	{                                                                                \
		LP_##outer##_##place * 8 + LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH, (v) \
	}
#define E_QPC(f, v) E_IN(create_qp_in, qpc, qpc, f, v)
#define NOBODY 0xfff123

#define R(want, base, ...)                                 \
	{                                                  \
		FW_R_##want, B_##base, {__VA_ARGS__}, NULL \
	}
#define M(want, base, fn, ...)                           \
	{                                                \
		FW_R_##want, B_##base, {__VA_ARGS__}, fn \
	}

void short_in(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
void short_out(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
void page_list(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
void as_user(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);

extern const struct refusal_rows rows_common;
extern const struct refusal_rows rows_mem;
extern const struct refusal_rows rows_qp;
extern const struct refusal_rows rows_qos;
extern const struct refusal_rows rows_raw;
extern const struct refusal_rows rows_shared;

#endif
