/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program `softhca`: its commands and options. Functions that can fail say why in one line on
 * standard error and return PROG_FAILED; 0 is success.
 */
#ifndef SOFTHCA_CLI_CLI_H
#define SOFTHCA_CLI_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include "fabric/fabric.h"
#include "subnet/subnet.h"

enum {
	CLI_UNKNOWN = 1,      /* softhca explain, decode: nothing is known of it */
	CLI_CANNOT_RUN = 126, /* as env(1): the command was found but cannot be run */
	CLI_NOT_FOUND = 127,  /* it was not found */
	CLI_MAX_HOSTS = 256,
};

enum { /* bits: the commands, for the rows of the options that they take */
       CLI_RUN = 1 << 0,
       CLI_TRACE = 1 << 1,
       CLI_PCAP = 1 << 2,
       CLI_EXPLAIN = 1 << 3,
       CLI_DECODE = 1 << 4,
       CLI_UP = 1 << 5,
       CLI_DOWN = 1 << 6,
       CLI_TOPO = 1 << 7,
       CLI_CONSOLE = 1 << 8,
       CLI_LINK = 1 << 9,
       CLI_STATUS = 1 << 10,
};

enum { /* bits of cli_options.given: what the options that were given are about */
       CLI_SIZE = 1 << 0,  /* how many hosts, adapters and ports there are */
       CLI_SHAPE = 1 << 1, /* anything else that is decided when a fabric is made */
};

struct cli_options {
	const char *verb;
	unsigned int given; /* CLI_SIZE, CLI_SHAPE */
	struct fab_options fab;
	const char *doorbell, *memlock; /* words for the environment */
	const char *host, *fabric;      /* NULL: not given */
	bool json;
	bool trace;                  /* the command is traced */
	const char *topics, *output; /* of a trace; NULL: the usual ones, standard error */
	const char *topo;            /* what --topo says; NULL */
	uint32_t dot;                /* a topology is written for Graphviz */
	const char *script;          /* NULL: not given */
	bool capture;                /* the command's fabric is captured */
	uint32_t snap;               /* of a capture, bytes of a packet; 0: all */
	bool live;                   /* it is read while it is written */
	bool stdout_taken;           /* by the capture: the command's goes to standard error */
	uint32_t kind;               /* enum hex_kind: of what is decoded; 0: not told */
	const char *kind_arg;        /* whose output it is; NULL: not told */
	/* what is left: [NAME] or CMD ARGS... */
	int argc;
	char **argv;
};

struct cli_verb {
	unsigned int bit;
	const char *name;
	const char *args;       /* for usage */
	const char *summary;    /* one line */
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

/* Is it a list of topics? 0, or PROG_FAILED after a message. */
int trace_check_topics(const char *verb, const char *option, const char *topics);
/* Open the trace and put it into our environment, for the command. 0; PROG_FAILED after a message.
 */
int trace_prepare(const struct cli_options *o, const char *verb);

struct topo;
/* What --topo says, or nothing without it. 0; PROG_FAILED after a message. */
int topo_prepare(const struct cli_options *o, const char *verb, struct topo *t);

/*
 * Parse a command's own arguments (argv[0] is its name). 0; PROG_FAILED after a message; -1: help
 * was asked for and given.
 */
int options_parse(const struct cli_verb *v, int argc, char **argv, struct cli_options *o);
#endif
