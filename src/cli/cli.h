/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program `softhca`: its commands and options. Functions that can fail say why in one line on
 * standard error and return CLI_FAILED; 0 is success.
 */
#ifndef SOFTHCA_CLI_CLI_H
#define SOFTHCA_CLI_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include "fabric/fabric.h"

enum {
	CLI_UNKNOWN = 1,      /* softhca explain, decode: nothing is known of it */
	CLI_FAILED = 2,       /* softhca itself could not */
	CLI_CANNOT_RUN = 126, /* as env(1): the command was found but cannot be run */
	CLI_NOT_FOUND = 127,  /* it was not found */
	CLI_NAME_MAX = 32,    /* characters of a fabric's name */
	CLI_MAX_HOSTS = 256,
};

enum cli_opt { /* bits of cli_options.given, and which options a command takes */
	       CLI_OPT_HOSTS = 1 << 0,
	       CLI_OPT_HCA = 1 << 1,
	       CLI_OPT_PORTS = 1 << 2,
	       CLI_OPT_DEVICE = 1 << 3,
	       CLI_OPT_DOORBELL = 1 << 4,
	       CLI_OPT_MEMLOCK = 1 << 5,
	       CLI_OPT_HOST = 1 << 6,
	       CLI_OPT_FABRIC = 1 << 7,
	       CLI_OPT_JSON = 1 << 8,
	       CLI_OPT_TRACE = 1 << 9,
	       CLI_OPT_OUTPUT = 1 << 10,
	       CLI_OPT_TOPICS = 1 << 11,
	       CLI_OPT_KIND = 1 << 12,
	       CLI_OPT_TOPO = 1 << 13,
	       CLI_OPT_SM = 1 << 14,
	       CLI_OPT_FORMAT = 1 << 15,
	       CLI_OPT_SCRIPT = 1 << 16,
	       CLI_OPT_SNAP = 1 << 17,
	       CLI_OPT_LIVE = 1 << 18,
	       CLI_OPT_CAPTURE = 1 << 19, /* run: the fabric is captured */
	       CLI_OPT_SIZE = CLI_OPT_HOSTS | CLI_OPT_HCA | CLI_OPT_PORTS,
	       CLI_OPT_SHAPE = CLI_OPT_SIZE | CLI_OPT_DEVICE | CLI_OPT_TOPO | CLI_OPT_SM,
};

struct cli_options {
	const char *verb;
	unsigned int given; /* enum cli_opt bits */
	struct fab_options fab;
	const char *doorbell, *memlock; /* words for the environment */
	const char *host, *fabric;      /* NULL: not given */
	bool json;
	const char *topics, *output; /* of a trace; NULL: the usual ones, standard error */
	const char *topo;            /* what --topo says; NULL */
	const char *format, *script; /* NULL: not given */
	uint32_t snap;               /* of a capture, bytes of a packet; 0: all */
	bool live;                   /* it is read while it is written */
	bool stdout_taken;           /* by the capture: the command's goes to standard error */
	const char *kind, *kind_arg; /* of what is decoded; NULL: not told */
	/* what is left: [NAME] or CMD ARGS... */
	int argc;
	char **argv;
};

struct cli_verb {
	const char *name;
	const char *args;       /* for usage */
	const char *summary;    /* one line */
	unsigned int takes;     /* enum cli_opt bits */
	int min_args, max_args; /* max < 0: the first ends the options, any number */
	bool words;             /* arguments are not names of fabrics */
	int (*run)(struct cli_options *o);
};

int cli_run(struct cli_options *o);
int cli_up(struct cli_options *o);
int cli_down(struct cli_options *o);
int cli_topo(struct cli_options *o);
int cli_console(struct cli_options *o);
int cli_status(struct cli_options *o);
int cli_link(struct cli_options *o);
int cli_pcap(struct cli_options *o);
int cli_trace(struct cli_options *o);
int cli_explain(struct cli_options *o);
int cli_decode(struct cli_options *o);

/* Is it a list of topics? 0, or CLI_FAILED after a message. */
int trace_check_topics(const char *verb, const char *option, const char *topics);
/* Open the trace and put it into our environment, for the command. 0; CLI_FAILED after a message.
 */
int trace_prepare(const struct cli_options *o, const char *verb);

struct topo;
/* What --topo says, or nothing without it. 0; CLI_FAILED after a message. */
int topo_prepare(const struct cli_options *o, const char *verb, struct topo *t);

/* "softhca: ..." and a newline on standard error. Returns CLI_FAILED. */
int cli_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Parse a command's own arguments (argv[0] is its name). 0; CLI_FAILED after a message; -1: help
 * was asked for and given.
 */
int options_parse(const struct cli_verb *v, int argc, char **argv, struct cli_options *o);
/* Is it fit for a fabric's name (a folder's name, safe in any path)? */
bool options_name_ok(const char *name);

#endif
