/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of rules: where a fault may happen, what it does, what narrows it. */
#ifndef SOFTHCA_FAULT_ROWS_H
#define SOFTHCA_FAULT_ROWS_H

#include "fault/fault.h"

/* A place. Those of a prefix are functions of a library, each with a row in `names`. */
struct fault_name {
	const char *name;  /* "ibv_create_qp" */
	const char *calls; /* methods and commands that it makes, as a trace says them */
};

struct fault_where {
	const char *name; /* "fw"; with `names` the prefix, "ibv_" */
	enum hw_moment at;
	const struct fault_name *names; /* ends with a row without a name */
	uint32_t keys;                  /* bits of enum hw_fault_key */
	uint64_t whats;                 /* bits of enum fault_what, of which one must be there */
	uint64_t extras;                /* beside one of those */
	uint64_t ops;                   /* HW_AT_WR: opcodes, as bits 1 << WQE_OP_* */
	bool act;                       /* HW_ACT_*: wants at= or after=, and no other condition */
	const char *example;
};
extern const struct fault_where fault_wheres[];
extern const size_t fault_nwheres;

/* How a value is written. */
enum fault_value {
	FAULT_V_NONE,   /* it has none */
	FAULT_V_NUMBER, /* decimal or 0x... */
	FAULT_V_TIME,   /* 50ms */
	FAULT_V_ENTRY,  /* [3]=0x8001: an entry of a table, and its value */
	FAULT_V_TEXT,
	FAULT_V_ERRNO,      /* ENOMEM */
	FAULT_V_STATUS,     /* NO_RESOURCES: of a firmware command, or its number */
	FAULT_V_WC,         /* REM_ACCESS_ERR: an enum ibv_wc_status, of a send */
	FAULT_V_RECV_WC,    /* of a receive */
	FAULT_V_TYPE,       /* RC: a service */
	FAULT_V_MAYBE_TIME, /* 2s, or nothing */
	FAULT_V_QP_EVENT,   /* QP_FATAL: an enum ibv_event_type, of a QP */
	FAULT_V_SRQ_EVENT,  /* of an SRQ */
	FAULT_V_WQ_EVENT,   /* of a WQ */
	FAULT_V_OPCODE,     /* CREATE_MKEY: of a firmware command */
	FAULT_V_TIMES,      /* a number, 1 without it */
	/* Of MADs, each by name or number. */
	FAULT_V_CLASS,
	FAULT_V_METHOD,
	FAULT_V_ATTR,
	FAULT_V_MAD_STATUS,
	FAULT_V_MSG,    /* REQ: of connection managers */
	FAULT_V_REASON, /* consumer: of a REJ */
	FAULT_V_RATE,   /* 10Gbps */
	FAULT_V_NAK,    /* sequence: a NAK */
	FAULT_V_GID,    /* [3]=2001:db8::1: an entry of a GID table */
};

struct fault_word {
	const char *name;
	enum fault_value value;
	const char *meaning; /* of the value, for the list of what is allowed */
};
extern const struct fault_word fault_whats[FAULT_WHATS];
extern const struct fault_word fault_keys[HW_FAULT_KEYS];

/* Calls `each` for every name that a value of this kind may have. */
void fault_value_names(enum fault_value v, void (*each)(void *ctx, const char *name, uint64_t n),
		       void *ctx);

/*
 * Reads a rule. -EINVAL and where in the text the mistake is, with one sentence. Then `allowed` has
 * what may stand there, "" if that is not a list of words.
 */
struct fault_mistake {
	size_t at;
	char text[160];
	char allowed[480];
};
int fault_parse(const char *text, struct hw_fault *f, struct fault_mistake *m);

#endif
