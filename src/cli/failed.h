/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What fails outside of completions and commands: calls of verbs and rdma_cm with an errno, events
 * of rdma_cm, MADs without an answer, errors of OpenSM, QPs whose error state the driver prints.
 * The tables are in failed_data.c; failed.c makes meanings of them.
 */
#ifndef SOFTHCA_CLI_FAILED_H
#define SOFTHCA_CLI_FAILED_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* Each table ends with a row whose `cause` or `means` is NULL. */

/* Why a call failed: several rows of one call and errno, the most likely cause first. */
struct failed_call {
	const char *call; /* without "ibv_", "rdma_" and the like; NULL: any */
	int err;
	const char *state; /* "INIT", "RTR": the state that modify_qp was to reach; NULL: any */
	const char *cause, *next;
};
extern const struct failed_call failed_calls[];

struct failed_cm_event {
	int event;
	const char *name; /* without RDMA_CM_EVENT_ */
	bool error;       /* the connection failed */
	const char *means, *next;
};
extern const struct failed_cm_event failed_cm_events[];

/* The status beside an event of rdma_cm: -errno, or of REJECTED the reason in the CM's REJ. */
struct failed_cm_status {
	const char *event;
	int status;
	const char *means, *next;
};
extern const struct failed_cm_status failed_cm_statuses[];

/* OpenSM's codes are not unique: a row may need its text, too. */
struct failed_opensm {
	const char *code, *text; /* NULL: any */
	const char *means, *next;
};
extern const struct failed_opensm failed_opensms[];

/* Messages of programs that tell neither a number nor a call. */
struct failed_message {
	const char *name; /* as the form in report_form.c has it */
	const char *means, *next;
};
extern const struct failed_message failed_messages[];

/* The numbers of mlx5_ib's line "QP N error: TEXT (vendor_err hw_error hw_type)". */
struct failed_qp {
	uint8_t syndrome; /* of a CQE; 0: any that the driver has no text for */
	uint8_t vendor_err, hw_type;
	const char *seen, *source;
};
extern const struct failed_qp failed_qps[];

/* The name of a call as it is in the tables: without "ibv_", or made of "create qp". */
void failed_call_name(const char *word, char *out, size_t size);
/* The errno whose text of strerror() or name the text begins with; 0: none. */
int failed_errno(const char *text);
/* Is it an event of rdma_cm that tells an error? */
bool failed_is_cm_error(const char *name);
/* Does the table have causes for this call? */
bool failed_is_known(const char *call);
bool failed_is_opensm(const char *code, const char *text);

/* Each adds meanings to `list` and returns their number. `err` 0 and `state` "": not told. */
int explain_failed_call(struct json_object *list, const char *call, int err, const char *state);
int explain_cm_event(struct json_object *list, const char *name, const int *status);
int explain_opensm(struct json_object *list, const char *code, const char *text);
int explain_message(struct json_object *list, const char *name);
int explain_mad_error(struct json_object *list, int err, const char *what, const char *where);
int explain_timeout(struct json_object *list, uint32_t opcode, const char *command, bool recovered);
/* `syndrome` 0: the driver had no text for it. */
int explain_qp_error(struct json_object *list, uint8_t syndrome, const uint32_t numbers[3]);
/* By a word or number that a user gives to `softhca explain`. */
int explain_failed_word(struct json_object *list, const char *word);
/* Calls it for each word of the tables. */
void failed_each_word(void (*f)(void *ctx, const char *kind, const char *word), void *ctx);

#endif
