/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca top`: samples of a fabric's counters (top_data.c), a page of text made from two of them
 * (top_page.c), and the terminal (top_screen.c).
 */
#ifndef SOFTHCA_CLI_TOP_H
#define SOFTHCA_CLI_TOP_H

#include <json-c/json.h>
#include <stdio.h>
#include "cli/cli.h"
#include "fabric/fabric.h"
#include "hw/told.h"
#include "hw/use.h"
#include "segment/seg.h"
#include "wire/wqe/cqe.h"

enum top_sort {
	TOP_SORT_RATE,
	TOP_SORT_ERRORS,
	TOP_SORT_DEPTH,
	TOP_SORT_PID,
	TOP_SORT_NAME,
	TOP_SORTS
};

/* A number that counts up, and how much of it came in a second. */
struct top_count {
	uint64_t n;
	double rate;
};

struct top_port {
	uint32_t idx; /* SEG_T_PORT */
	char name[FAB_PORT_NAME];
	uint32_t state, lid;
	bool eth;
	struct top_count sent, received; /* packets */
	struct top_count out, in;        /* octets */
	struct top_count errors;         /* packets lost, refused or damaged */
	bool used;                       /* a program runs on its host, or packets have passed */
};

struct top_qp {
	uint32_t qpn, gen;
	char hca[64];                     /* h1/mlx5_0 */
	const char *type, *state, *waits; /* waits: why its work is suspended; "": it is not */
	bool bad;                         /* in an error state */
	bool counts;                      /* its service has packet sequence numbers */
	uint32_t send_psn, rcv_psn;
	struct top_count sent, received; /* packets, computed from the QP's PSNs */
	uint32_t depth, size;            /* WQEBBs of the send queue: posted and not done, room */
	uint32_t pid;                    /* of its owner; 0: unknown */
	char comm[16];
};

/* Why something has failed (hw/told.h). */
struct top_cause {
	uint64_t n;
	bool is_error; /* objects that were left are none */
	char text[HW_TOLD_TEXT + 16];
};

struct top_sample {
	uint64_t ns; /* clock_now_ns() */
	struct top_port *ports;
	struct top_qp *qps;
	size_t nports, nqps;
	uint32_t processes, cqs, cqs_bad;
	struct top_count sent, out, doorbells, commands;
	uint64_t refused, calls_refused;   /* commands; calls of verbs */
	uint64_t errors[HW_USE_SYNDROMES]; /* completions by syndrome */
	uint64_t told[HW_TOLD_COUNT];      /* failures in words, by kind */
	struct top_cause *causes;
	size_t ncauses;
};

/* The user's choices: which rows a page shows, in which order. */
struct top_view {
	const char *fabric;
	double interval; /* seconds, of the option */
	enum top_sort sort;
	bool reverse, all, paused;
	char filter[64]; /* only rows that contain it; "": all */
};

enum top_style { TOP_PLAIN, TOP_HEAD, TOP_BAD };
struct top_line {
	enum top_style style;
	char text[HW_TOLD_TEXT + 48];
};
struct top_page {
	struct top_line *line;
	size_t n, room;
	size_t fixed; /* lines at the top that do not scroll */
};

/*
 * Reads all counters. `before`: the sample from which rates are made, or NULL; its order changes.
 * False: no memory.
 */
bool top_sample(struct seg *s, struct top_sample *before, struct top_sample *out);
void top_sample_free(struct top_sample *t);

bool top_page(struct top_sample *t, const struct top_view *v, struct top_page *p);
void top_page_free(struct top_page *p);
struct json_object *top_json(struct top_sample *t, const struct top_view *v);

/* Runs on the terminal until the user, a signal or the fabric ends it. Returns the exit status. */
int top_screen(struct seg *s, struct top_view *v, uint32_t times);

#endif
