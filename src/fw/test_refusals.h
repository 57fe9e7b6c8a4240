/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of refusals: a valid command of each opcode and form, and rows with one error
 * in it and the expected refusal. Valid commands are in test_bases.c and test_bases_shared.c, the
 * rows in test_rows_*.c, the tests of all of them in test_refusals.c.
 */
#ifndef SOFTHCA_FW_TEST_REFUSALS_H
#define SOFTHCA_FW_TEST_REFUSALS_H

#include "fw/test.h"
#include "wire/prm/prm.h"

/* ---- valid commands, one per opcode and form ---- */

/* B_<command>, and further forms of some commands. */
#define FORM(op, name, flags, handler, table, what) B_##op,
enum base {
	FW_COMMANDS(FORM) B_COMMANDS,
	B_CREATE_MKEY_MEM = B_COMMANDS,
	B_RESIZE_CQ,
	B_CREATE_RESERVED_QPN,
	B_CREATE_AV_QP_MAPPING,
	B_CREATE_DEK,
	B_MODIFY_DEK,
	B_CREATE_LOGIN,
	B_RTS2RTS_QP_EXT,
	B_CREATE_XRC_QP,
	B_COUNT
};

struct edit {
	uint32_t bit, width;
	uint64_t value;
};

/*
 * Make the objects that the command needs, and the command in e->in: by its row in a family's
 * `valid`, or by one of the functions build_*(), which return false for other commands.
 */
void base_build(struct env *e, enum base b);
/* Change fields of e->qp without a command. */
void set_qp_state(struct env *e, enum prm_qp_state state);
void set_qp_service(struct env *e, enum prm_st st);
void base_edit(struct env *e, const struct edit *edit, size_t n);
bool build_shared(struct env *e, enum base b);
/* The command's length: its layout, and what follows it. */
uint32_t base_len(const struct fw_cmd *cmd, enum base b);
/* Length of the answer, with what follows its layout. */
uint32_t base_outlen(const struct fw_cmd *cmd);
/* A context: the driver's for its own commands, with memory for commands with a page list. */
struct fw_ctx base_ctx(struct env *e, enum base b);

/* Parts of these that rows use, too. new_id(): the number of the object made. */
uint32_t new_id(struct env *e, uint16_t opcode);
uint32_t new_from(struct env *e, void (*build)(struct env *e), uint32_t inlen);
uint32_t new_set(struct env *e);
void b_rate(struct env *e, uint32_t index, uint32_t rate);
void b_create_xrc_srq(struct env *e);
void b_create_dct(struct env *e);
void b_mcg(struct env *e, uint16_t opcode);

/* ---- rows with one error ---- */

struct refusal_row {
	enum fw_r want;
	enum base base;
	struct edit edit[5];
	void (*more)(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
};

/*
 * The valid form of a command that needs only its fields, and perhaps the object of another valid
 * form, and a check of its answer.
 */
struct valid_row {
	enum base base;
	enum base after; /* command sent first, 0 none; MADE stands for its object */
	uint32_t op_mod;
	struct edit edit[5];
	void (*check)(struct env *e); /* after success, with the answer in e->out; or NULL */
};

struct refusal_rows {
	const char *name;
	const struct refusal_row *row;
	size_t n;
	const struct valid_row *valid;
	size_t nvalid;
	enum { ON_BOTH, ON_IB, ON_ETH } link; /* link layer that the rows need */
};
/* The row of a base; NULL: no family has one. */
const struct valid_row *valid_row(enum base b);

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
#define OPT_COUNTER_SET_ID (UINT32_C(1) << 25) /* opt_param_mask */

#define R(want, base, ...)                                 \
	{                                                  \
		FW_R_##want, B_##base, {__VA_ARGS__}, NULL \
	}
#define V(base, op_mod, check, ...)                       \
	{                                                 \
		B_##base, 0, op_mod, {__VA_ARGS__}, check \
	}
#define V_AFTER(base, maker, op_mod, check, ...)                  \
	{                                                         \
		B_##base, B_##maker, op_mod, {__VA_ARGS__}, check \
	}
#define MADE UINT64_MAX
#define M(want, base, fn, ...)                           \
	{                                                \
		FW_R_##want, B_##base, {__VA_ARGS__}, fn \
	}

void short_in(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
void short_out(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
void page_list(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);
void as_user(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen);

extern const struct refusal_rows rows_common;
extern const struct refusal_rows rows_eth;
extern const struct refusal_rows rows_ib;
extern const struct refusal_rows rows_mem;
extern const struct refusal_rows rows_qp;
extern const struct refusal_rows rows_qos;
extern const struct refusal_rows rows_raw;
extern const struct refusal_rows rows_shared;

#endif
