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
};

/* Each adds its meanings to `list` and returns their number. */
int explain_syndrome(struct json_object *list, uint32_t syndrome);
int explain_status(struct json_object *list, uint8_t status);
int explain_cqe(struct json_object *list, uint8_t syndrome);
/* For a MAD of that class. */
int explain_mad_status(struct json_object *list, uint32_t mgmt_class, uint16_t status);
/* Does the list have a meaning of this kind and value? */
bool explain_told(struct json_object *list, enum explain_kind kind, uint64_t value);

/* Prints it as text on standard output, indented. */
void explain_print(struct json_object *list, const char *indent);

/* ---- the data (explain_data.c) ---- */

struct explain_status {
	uint8_t status;
	const char *kernel; /* name of its constant, without MLX5_CMD_STAT_ */
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

#endif
