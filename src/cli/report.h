/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of logs, as `softhca decode` reads them: what a logger put before the message is removed
 * (report_line.c), and the forms in which programs and drivers tell errors are recognised
 * (report_form.c). Nothing is printed here.
 */
#ifndef SOFTHCA_CLI_REPORT_H
#define SOFTHCA_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- report_line.c */

struct report_reader; /* compiled patterns */

struct report_reader *report_reader_create(void);
void report_reader_destroy(struct report_reader *r);

/*
 * Calls `message` for each message of a line: without time stamps, ranks, quotes and colours; the
 * text of a JSON log line may have several. `prefixed`: something was removed, so the line is one
 * of a log. The line is changed.
 */
typedef void report_message(void *ctx, char *text, bool prefixed);
void report_line(struct report_reader *r, char *line, report_message *message, void *ctx);
/* The message without a rank as `srun -l` writes it ("3: "), which may be an offset of a dump. */
const char *report_skip_rank(const char *text);
/* Does the message end with a soft line break of quoted-printable? */
bool report_soft_break(const char *text);

/* ---- report_form.c */

enum report_kind {
	REPORT_NOTHING,
	REPORT_COMPLETION, /* a work request completed with an error */
	REPORT_COMMAND,    /* refused by the firmware */
	REPORT_DEVX,       /* a failed command of mlx5dv_devx_*(), as UCX prints it */
	REPORT_EVENT,      /* asynchronous event */
	REPORT_CQ_ERROR,   /* event of a CQ */
	REPORT_HEALTH,     /* of the firmware */
	REPORT_OLD_CARD,   /* a completion with error, from a card older than mlx5 */
	REPORT_CALL,       /* a failed call of verbs or rdma_cm */
	REPORT_TIMEOUT,    /* a command without an answer */
	REPORT_QP_ERROR,   /* "QP N error" of mlx5_ib */
	REPORT_CM,         /* event of rdma_cm */
	REPORT_MAD,        /* a MAD that failed */
	REPORT_OPENSM,     /* "ERR 3118" of OpenSM's log */
	REPORT_MESSAGE,    /* a row of failed_messages: `about` */
	REPORT_PART,       /* detail of a message explained elsewhere: nothing to explain */
};

enum report_flag {
	REPORT_HAS_WC = 1 << 0,
	REPORT_HAS_SYNDROME = 1 << 1,
	REPORT_HAS_VENDOR = 1 << 2,
	REPORT_HAS_STATUS = 1 << 3,
	REPORT_HAS_FW = 1 << 4, /* syndrome of the firmware */
	REPORT_HAS_EVENT = 1 << 5,
	REPORT_HAS_QPN = 1 << 6,
	REPORT_HAS_CQN = 1 << 7,
	REPORT_HAS_OPCODE = 1 << 8,
	REPORT_HAS_ERRNO = 1 << 10,
	REPORT_HAS_STATUS_OF_CM = 1 << 11,
	REPORT_IB = 1 << 9, /* the port is InfiniBand: RoCE is not the cause */
};

struct report_fact {
	enum report_kind kind;
	unsigned int has; /* enum report_flag */
	const char *form; /* the library that wrote the message: "UCX" */
	uint32_t wc, syndrome, vendor, status, fw, event, qpn, cqn, opcode;
	uint32_t err, hw[2]; /* errno; the second and third number of REPORT_QP_ERROR */
	int cm_status;
	char command[64]; /* name of the command, call or event, code of OpenSM; or "" */
	char error[64];   /* text of strerror(), or "" */
	char op[32];      /* name of the operation of a completion, or "" */
	char state[8];    /* that modify_qp was to reach, or "" */
	char text[160];   /* path of a MAD, or the message of OpenSM; or "" */
	/* of a completion's work request, in words; or "" */
	char remote[64], local[160], peer[48];
	const char *about; /* of REPORT_OLD_CARD, _PART and _MESSAGE: what it is */
	bool waits;        /* the next line may tell more of this completion */
};

struct report_forms;

struct report_forms *report_forms_create(void);
void report_forms_destroy(struct report_forms *f);
/*
 * Finds the form of a message and fills `fact`; REPORT_NOTHING: none fits. `rank`: the form's place
 * in the table, the most specific first. `more`: the message goes on in the next line.
 */
enum report_kind report_match(const struct report_forms *f, const char *text,
			      struct report_fact *fact, size_t *rank, bool *more);
/* The kind of a text without a known error, e.g. "a kernel log"; NULL: unknown. */
const char *report_looks_like(const struct report_forms *f, const char *text);

/* ---- report_detail.c */

/* Names the program that wrote the message, where its form does not tell. */
void report_writer(struct report_fact *fact, const char *text);
/* Fills in the memory and the peer of the work request that a message shows. */
void report_request(struct report_fact *fact, const char *text);

#endif
