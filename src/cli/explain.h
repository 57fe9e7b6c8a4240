/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Meanings of the numbers and names that programs of the adapter meet. A meaning is a JSON object
 * with "kind", "value", "name" and any number of further members; the text is made from it.
 * `softhca explain` and `softhca decode` share this.
 */
#ifndef SOFTHCA_CLI_EXPLAIN_H
#define SOFTHCA_CLI_EXPLAIN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum explain_kind {
	EXPLAIN_SYNDROME,
	EXPLAIN_STATUS,
	EXPLAIN_CQE,
	EXPLAIN_VENDOR_ERR,
	EXPLAIN_MAD,
	EXPLAIN_WC,
	EXPLAIN_ERRNO,
	EXPLAIN_OPCODE,
	EXPLAIN_CARD,      /* syndrome of a card's firmware */
	EXPLAIN_EVENT,     /* asynchronous event */
	EXPLAIN_HEALTH,    /* of a card */
	EXPLAIN_CQ_ERROR,  /* syndrome of the event CQ_ERROR */
	EXPLAIN_OLD_CARD,  /* a completion of a card before mlx5 */
	EXPLAIN_CALL,      /* a failed call of verbs or rdma_cm */
	EXPLAIN_TIMEOUT,   /* a command that the firmware did not answer */
	EXPLAIN_QP_ERROR,  /* the error state of a QP */
	EXPLAIN_CM,        /* event of rdma_cm */
	EXPLAIN_MAD_ERROR, /* a MAD that failed, without a status */
	EXPLAIN_OPENSM,
	EXPLAIN_FIELD,
	EXPLAIN_LAYOUT,
	EXPLAIN_ATTR,    /* of ibv_modify_qp(): a bit of attr_mask */
	EXPLAIN_TERM,    /* a word of messages; it has no number */
	EXPLAIN_CAUSE,   /* words of softhca's traces and summaries; it has no number */
	EXPLAIN_MESSAGE, /* of a program, by the name that failed_messages gives it; no number */
};

/* The name of an error whose number the log does not tell. */
#define EXPLAIN_UNTOLD "not told"

/* Facts that a log gives beside a status: explanations that fit them are singled out. */
struct explain_seen {
	bool has_vendor;
	uint32_t vendor_err;
	bool roce;      /* the port is Ethernet */
	const char *op; /* name of the operation, or NULL */
};

/* Each adds its meanings to `list` and returns their number. */
int explain_by_number(struct json_object *list, uint64_t n);
int explain_by_name(struct json_object *list, const char *word);
int explain_syndrome(struct json_object *list, uint32_t syndrome);
int explain_status(struct json_object *list, uint8_t status);
/* `seen`: NULL, if nothing is known but the status. */
int explain_cqe(struct json_object *list, uint8_t syndrome, const struct explain_seen *seen);
int explain_wc_status(struct json_object *list, int wc, const struct explain_seen *seen);
int explain_vendor_err(struct json_object *list, uint32_t vendor_err);
int explain_errno(struct json_object *list, int err);
/* ---- explain_card.c: what is publicly known of cards */
int explain_card_syndrome(struct json_object *list, uint32_t syndrome);
int explain_event(struct json_object *list, int event);
int explain_health(struct json_object *list, uint8_t syndrome);
int explain_cq_error(struct json_object *list, uint32_t syndrome);
/* `device`: the card and its driver. */
void explain_old_card(struct json_object *list, uint32_t vendor_err, const char *device);
/*
 * Add members to a meaning: vendor_errs (the one seen, else all of this syndrome), likely causes.
 */
void explain_put_vendor_errs(struct json_object *o, uint8_t syndrome,
			     const struct explain_seen *seen);
void explain_put_steps(struct json_object *o, int wc, const struct explain_seen *seen);
/* For a MAD of that class. */
int explain_mad_status(struct json_object *list, uint32_t mgmt_class, uint16_t status);

/* Prints it as text on standard output, indented. */
void explain_print(struct json_object *list, const char *indent);
void explain_print_one(struct json_object *o, const char *indent);

/* ---- for the files that make meanings */
struct json_object *explain_meaning(struct json_object *list, enum explain_kind kind,
				    uint64_t value, const char *name);
void explain_put(struct json_object *o, const char *key, const char *text);
void explain_put_number(struct json_object *o, const char *key, uint64_t value, bool in_decimal);

/* ---- explain_words.c: by the words that programs print, fields, all that there is */
int explain_word(struct json_object *list, const char *word);
/* Calls it for each word that is explained. */
void explain_each_word(void (*f)(void *ctx, const char *kind, const char *word), void *ctx);
/* Known words like this one, with commas between; "": none. */
void explain_suggest(const char *word, char *out, size_t size);

/* ---- the data (explain_data.c) ---- */

struct explain_status {
	uint8_t status;
	const char *kernel; /* name of its constant, without MLX5_CMD_STAT_ */
	const char *text;   /* of mlx5_core's cmd_status_str() */
	const char *means, *cause;
};
struct explain_cqe {
	uint8_t syndrome;
	const char *kernel; /* without MLX5_CQE_SYNDROME_ */
	int wc;             /* enum ibv_wc_status */
	const char *means, *cause;
};
struct explain_wc {
	int wc;
	const char *name; /* without IBV_WC_ */
	const char *means;
};
struct explain_told {
	const char *word; /* hw_told_words[] */
	const char *means, *next;
	bool has_causes; /* those of ENG_CAUSES belong to it */
};
struct explain_attr {
	uint32_t bit; /* enum ibv_qp_attr_mask */
	const char *name, *means;
};
struct explain_term {
	const char *word, *means, *next;
};
struct explain_errno {
	int err;
	const char *where; /* the calls */
	const char *means, *cause;
};
/* Each ends with a row whose text is NULL. */
extern const struct explain_status explain_statuses[];
extern const struct explain_cqe explain_cqes[];
extern const struct explain_wc explain_wcs[];
extern const struct explain_errno explain_errnos[];
extern const struct explain_told explain_tolds[];
extern const struct explain_attr explain_attrs[];
extern const struct explain_term explain_terms[];

#endif
