/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attributes that a QP's change of state must and may have (InfiniBand specification, 10.3.1,
 * as in qp_state_table[] of the kernel's verbs.c). Called by qp_modify.c.
 */
#include "uverbs/priv.h"
#include "util/fmt.h"

enum { RC, UC, UD, XRC_INI, XRC_TGT, NTYPES };

struct transition {
	uint8_t from, to;
	uint32_t must[NTYPES], may[NTYPES];
};

#define ACC IBV_QP_ACCESS_FLAGS
#define ALT IBV_QP_ALT_PATH
#define AV IBV_QP_AV
#define CUR IBV_QP_CUR_STATE
#define DQPN IBV_QP_DEST_QPN
#define MIG IBV_QP_PATH_MIG_STATE
#define MTU IBV_QP_PATH_MTU
#define PKEY IBV_QP_PKEY_INDEX
#define PORT IBV_QP_PORT
#define QKEY IBV_QP_QKEY
#define RD_DST IBV_QP_MAX_DEST_RD_ATOMIC
#define RD_SRC IBV_QP_MAX_QP_RD_ATOMIC
#define RETRY IBV_QP_RETRY_CNT
#define RNR IBV_QP_RNR_RETRY
#define RNR_TIMER IBV_QP_MIN_RNR_TIMER
#define RQ_PSN IBV_QP_RQ_PSN
#define SQD_NOTIFY IBV_QP_EN_SQD_ASYNC_NOTIFY
#define SQ_PSN IBV_QP_SQ_PSN
#define TMO IBV_QP_TIMEOUT

#define S(s) IBV_QPS_##s

/* Without attributes, any state may change to RESET and any but RESET to ERR. */
static const struct transition transitions[] = {
	{S(RESET), S(INIT),
	 .must = {[RC] = PKEY | PORT | ACC,
		  [UC] = PKEY | PORT | ACC,
		  [UD] = PKEY | PORT | QKEY,
		  [XRC_INI] = PKEY | PORT | ACC,
		  [XRC_TGT] = PKEY | PORT | ACC}},
	{S(INIT), S(INIT),
	 .may = {[RC] = PKEY | PORT | ACC,
		 [UC] = PKEY | PORT | ACC,
		 [UD] = PKEY | PORT | QKEY,
		 [XRC_INI] = PKEY | PORT | ACC,
		 [XRC_TGT] = PKEY | PORT | ACC}},
	{S(INIT), S(RTR),
	 .must = {[RC] = AV | MTU | DQPN | RQ_PSN | RD_DST | RNR_TIMER,
		  [UC] = AV | MTU | DQPN | RQ_PSN,
		  [XRC_INI] = AV | MTU | DQPN | RQ_PSN,
		  [XRC_TGT] = AV | MTU | DQPN | RQ_PSN | RD_DST | RNR_TIMER},
	 .may = {[RC] = ALT | ACC | PKEY,
		 [UC] = ALT | ACC | PKEY,
		 [UD] = PKEY | QKEY,
		 [XRC_INI] = ALT | ACC | PKEY,
		 [XRC_TGT] = ALT | ACC | PKEY}},
	{S(RTR), S(RTS),
	 .must = {[RC] = TMO | RETRY | RNR | SQ_PSN | RD_SRC,
		  [UC] = SQ_PSN,
		  [UD] = SQ_PSN,
		  [XRC_INI] = TMO | RETRY | RNR | SQ_PSN | RD_SRC,
		  [XRC_TGT] = TMO | SQ_PSN},
	 .may = {[RC] = CUR | ALT | ACC | RNR_TIMER | MIG,
		 [UC] = CUR | ALT | ACC | MIG,
		 [UD] = CUR | QKEY,
		 [XRC_INI] = CUR | ALT | ACC | MIG,
		 [XRC_TGT] = CUR | ALT | ACC | RNR_TIMER | MIG}},
	{S(RTS), S(RTS),
	 .may = {[RC] = CUR | ACC | ALT | MIG | RNR_TIMER,
		 [UC] = CUR | ACC | ALT | MIG,
		 [UD] = CUR | QKEY,
		 [XRC_INI] = CUR | ACC | ALT | MIG,
		 [XRC_TGT] = CUR | ACC | ALT | MIG | RNR_TIMER}},
	{S(RTS), S(SQD),
	 .may = {[RC] = SQD_NOTIFY,
		 [UC] = SQD_NOTIFY,
		 [UD] = SQD_NOTIFY,
		 [XRC_INI] = SQD_NOTIFY,
		 [XRC_TGT] = SQD_NOTIFY}},
	{S(SQD), S(RTS),
	 .may = {[RC] = CUR | ALT | ACC | RNR_TIMER | MIG,
		 [UC] = CUR | ALT | ACC | MIG,
		 [UD] = CUR | QKEY,
		 [XRC_INI] = CUR | ALT | ACC | MIG,
		 [XRC_TGT] = CUR | ALT | ACC | RNR_TIMER | MIG}},
	{S(SQD), S(SQD),
	 .may = {[RC] = PORT | AV | TMO | RETRY | RNR | RD_SRC | RD_DST | ALT | ACC | PKEY |
			RNR_TIMER | MIG,
		 [UC] = AV | ALT | ACC | PKEY | MIG,
		 [UD] = PKEY | QKEY,
		 [XRC_INI] = PORT | AV | TMO | RETRY | RNR | RD_SRC | ALT | ACC | PKEY | MIG,
		 [XRC_TGT] = PORT | AV | TMO | RD_DST | ALT | ACC | PKEY | RNR_TIMER | MIG}},
	{S(SQE), S(RTS), .may = {[UC] = CUR | ACC, [UD] = CUR | QKEY}},
};

static int column(uint32_t type)
{
	switch (type) {
	case IBV_QPT_RC:
		return RC;
	case IBV_QPT_UC:
		return UC;
	case IBV_QPT_UD:
		return UD;
	case IBV_QPT_XRC_SEND:
		return XRC_INI;
	case IBV_QPT_XRC_RECV:
		return XRC_TGT;
	default:
		return -1;
	}
}

/*
 * The kernel's modify_qp_mask() (uverbs_cmd.c): attributes that a type does not use are no error.
 */
uint32_t uv_modify_qp_mask(uint32_t type, uint32_t mask)
{
	static const uint32_t useless[NTYPES] = {
		[XRC_INI] = RD_DST | RNR_TIMER,
		[XRC_TGT] = RD_SRC | RETRY | RNR,
	};
	int col = column(type);

	return col < 0 ? mask : mask & ~useless[col];
}

static const struct transition *find(uint32_t cur, uint32_t next)
{
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].from == cur && transitions[i].to == next)
			return &transitions[i];
	return NULL;
}

/* Without attributes, and of every type. */
static bool ends(uint32_t cur, uint32_t next)
{
	return next == S(RESET) || (next == S(ERR) && cur != S(RESET));
}

bool uv_modify_qp_is_ok(uint32_t cur, uint32_t next, uint32_t type, uint32_t mask)
{
	const struct transition *t;
	int col = column(type);

	if (col < 0 || cur > IBV_QPS_ERR || next > IBV_QPS_ERR)
		return false;
	if (mask & CUR && cur != S(RTR) && cur != S(RTS) && cur != S(SQD) && cur != S(SQE))
		return false;
	if (ends(cur, next))
		return !(mask & ~(uint32_t)IBV_QP_STATE);
	t = find(cur, next);
	return t && (mask & t->must[col]) == t->must[col] &&
	       !(mask & ~(t->must[col] | t->may[col] | IBV_QP_STATE));
}

/* ---- why not */

struct text {
	char *buf;
	size_t size, n;
};

static void put(struct text *t, const char *before, const char *word)
{
	if (t->n + 1 < t->size)
		t->n += fmt(t->buf + t->n, t->size - t->n, "%s%s", before, word);
}

/* `sep`: before the first; `next`: before each further one. */
static void put_attrs(struct text *t, uint32_t mask, const char *sep, const char *next)
{
#define ATTR(name)                   \
	{                            \
		IBV_QP_##name, #name \
	}
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		ATTR(STATE),
		ATTR(CUR_STATE),
		ATTR(EN_SQD_ASYNC_NOTIFY),
		ATTR(ACCESS_FLAGS),
		ATTR(PKEY_INDEX),
		ATTR(PORT),
		ATTR(QKEY),
		ATTR(AV),
		ATTR(PATH_MTU),
		ATTR(TIMEOUT),
		ATTR(RETRY_CNT),
		ATTR(RNR_RETRY),
		ATTR(RQ_PSN),
		ATTR(MAX_QP_RD_ATOMIC),
		ATTR(ALT_PATH),
		ATTR(MIN_RNR_TIMER),
		ATTR(SQ_PSN),
		ATTR(MAX_DEST_RD_ATOMIC),
		ATTR(PATH_MIG_STATE),
		ATTR(CAP),
		ATTR(DEST_QPN),
		ATTR(RATE_LIMIT),
	};
#undef ATTR
	char rest[16];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mask & names[i].bit) {
			put(t, sep, names[i].name);
			sep = next;
			mask &= ~names[i].bit;
		}
	if (mask) {
		fmt(rest, sizeof(rest), "0x%x", mask);
		put(t, sep, rest);
	}
}

void uv_qp_mask_text(uint32_t mask, char *buf, size_t size)
{
	struct text t = {buf, size, 0};

	buf[0] = '\0';
	put_attrs(&t, mask, "", "|");
}

const char *uv_qp_state_name(uint32_t state)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static void put_targets(struct text *t, uint32_t cur)
{
	const char *sep = "; from there a QP changes to ";

	for (uint32_t next = 0; next <= IBV_QPS_ERR; next++)
		if (find(cur, next) || ends(cur, next)) {
			put(t, sep, uv_qp_state_name(next));
			sep = ", ";
		}
}

void uv_modify_qp_why(uint32_t cur, uint32_t next, uint32_t type, uint32_t mask, char *buf,
		      size_t size)
{
	static const char *const types[NTYPES] = {"RC", "UC", "UD", "XRC_SEND", "XRC_RECV"};
	const struct transition *tr = find(cur, next);
	struct text t = {buf, size, 0};
	uint32_t must = 0, may = IBV_QP_STATE;
	int col = column(type);

	put(&t, uv_qp_state_name(cur), " to ");
	put(&t, uv_qp_state_name(next), "");
	if (col >= 0) {
		put(&t, " of type ", types[col]);
		must = tr ? tr->must[col] : 0;
		may |= tr ? must | tr->may[col] : 0;
	}
	if (col < 0 || (!tr && !ends(cur, next))) {
		put(&t, ": there is no such transition", "");
		put_targets(&t, cur);
		return;
	}
	if (must & ~mask) {
		put(&t, ": attr_mask lacks", "");
		put_attrs(&t, must & ~mask, " ", ", ");
	}
	if (mask & ~may) {
		put(&t, must & ~mask ? "; it must not have" : ": attr_mask must not have", "");
		put_attrs(&t, mask & ~may, " ", ", ");
	}
	if (mask & CUR && cur != S(RTR) && cur != S(RTS) && cur != S(SQD) && cur != S(SQE))
		put(&t, ": CUR_STATE is for RTR, RTS, SQD and SQE", "");
}
