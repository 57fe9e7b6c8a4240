/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Public knowledge of real cards: vendor_err and firmware syndromes that logs show, health
 * syndromes, events, and the likely causes of a completion with error. NVIDIA publishes no table of
 * the first two: each row says where it was seen, and meanings differ by firmware.
 */
#ifndef SOFTHCA_CLI_CARD_H
#define SOFTHCA_CLI_CARD_H

#include <stdbool.h>
#include <stdint.h>

/* Each table ends with a row whose text is NULL. */
struct card_vendor_err {
	uint8_t syndrome; /* of the CQE */
	uint8_t vendor_err;
	const char *seen; /* with what */
	const char *source;
};
extern const struct card_vendor_err card_vendor_errs[];

struct card_syndrome {
	uint32_t syndrome;
	const char *command;
	const char *says;     /* what the source says of it */
	const char *source;   /* address, or commit of Linux */
	const char *firmware; /* or card, or NULL */
};
extern const struct card_syndrome card_syndromes[];

struct card_health {
	uint8_t syndrome;
	const char *text; /* of mlx5_core's hsynd_str() */
	const char *means, *next;
};
extern const struct card_health card_healths[];

struct card_event {
	int event;          /* enum ibv_event_type */
	const char *text;   /* of ibv_event_type_str() */
	const char *kernel; /* of ib_event_msg() */
	const char *means, *next;
};
extern const struct card_event card_events[];

/* What a work request was, as far as causes depend on it. */
enum card_op {
	CARD_OP_SEND = 1,
	CARD_OP_WRITE = 2,
	CARD_OP_READ = 4,
	CARD_OP_ATOMIC = 8,
	CARD_OP_RECV = 16,
	CARD_OP_IMM = 32, /* a WRITE that takes a receive */
	CARD_OP_OTHER = 64,
};

/* Likely causes of a status, the most likely first. */
struct card_step {
	int wc;           /* enum ibv_wc_status */
	bool roce;        /* on Ethernet ports only */
	unsigned int ops; /* enum card_op: of these only; 0: of all */
	const char *cause, *next;
};
extern const struct card_step card_steps[];

/* Other texts of events: of UCX, and of DCTs. */
struct card_event_text {
	int event;
	const char *text;
};
extern const struct card_event_text card_event_texts[];

/* The texts of ibv_wc_status_str() and, where they differ, of the kernel's ib_wc_status_msg(). */
struct card_wc_text {
	int wc;
	const char *text;
	bool common; /* the phrase is too common to prove an error of a completion */
};
extern const struct card_wc_text card_wc_texts[];

/* NULL: never seen. */
const struct card_vendor_err *card_vendor_err_find(uint8_t syndrome, uint32_t vendor_err);
const struct card_syndrome *card_syndrome_find(uint32_t syndrome);
/* By the text, or by the constant with or without prefix ("IBV_WC_", "WC_"). -1: there is none. */
int card_wc_by_text(const char *text);
/* The status whose text is somewhere in a message; -1. */
int card_wc_in_text(const char *text);
/* The event that the text begins with, or that it names after the word "event". -1: none. */
int card_event_at_start(const char *text);
int card_event_in_text(const char *text);
/* enum card_op of a name of UCX or libmlx5 ("RDMA_READ", "CS"), 0 without a name. */
unsigned int card_op_by_name(const char *name);
/* 0: unknown */
uint8_t card_health_by_text(const char *text);

#endif
