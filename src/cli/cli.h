/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program `softhca`: its commands and options. Functions that can fail print one line with the
 * reason on standard error and return PROG_FAILED; 0 is success.
 */
#ifndef SOFTHCA_CLI_CLI_H
#define SOFTHCA_CLI_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "fabric/fabric.h"
#include "subnet/subnet.h"
#include "util/log.h"

enum {
	CLI_UNKNOWN = 1,      /* softhca explain, decode: the subject is unknown */
	CLI_NO_TRAFFIC = 3,   /* run --require-traffic: the command has not used the adapters */
	CLI_UNUSED = 4,       /* run --inject: a rule has never fired */
	CLI_TIMED_OUT = 124,  /* as timeout(1) */
	CLI_CANNOT_RUN = 126, /* as env(1): the command was found but cannot be run */
	CLI_NOT_FOUND = 127,  /* it was not found */
	CLI_MAX_HOSTS = 256,
	TOPO_SHOWN_HOSTS = 64, /* a picture with more hosts shows their number instead */
};

enum { /* bits of the commands, for the rows of the options that they accept */
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
       CLI_IP = 1 << 11,
       CLI_LIST = 1 << 12,
       CLI_TOP = 1 << 13,
       CLI_WORLD = 1 << 14,
       CLI_WORLDS = 1 << 15, /* world --all */
       CLI_INJECT = 1 << 16,
       CLI_CHECK = 1 << 17,
};

enum { /* bits of cli_options.given: the subjects of the options that were given */
       CLI_SIZE = 1 << 0,       /* number of hosts, adapters and ports */
       CLI_SHAPE = 1 << 1,      /* any other property that is fixed when a fabric is made */
       CLI_LINK_LAYER = 1 << 2, /* --link */
       CLI_MODEL = 1 << 3,      /* --device */
};

/* The value of a trace's -e option. */
struct trace_expr {
	uint32_t topics;           /* bits of enum log_topic */
	bool given;                /* some topic was named */
	char names[LOG_NAMES_MAX]; /* names of commands, as after "cmd=" in LOG_ENV_OPTIONS */
};

enum trace_sort {
	TRACE_SORT_TIME,
	TRACE_SORT_CALLS,
	TRACE_SORT_ERRORS,
	TRACE_SORT_MEAN,
	TRACE_SORT_NAME
};

struct cli_watch {
	struct trace_expr expr;      /* trace: which lines */
	uint32_t options;            /* trace: enum log_option */
	uint32_t sort;               /* enum trace_sort, or enum top_sort */
	struct trace_reader *reader; /* the trace passes through this process; NULL: it does not */
	bool batch, reverse;         /* top: print without a terminal; sort in the other order */
	uint32_t times;              /* top: pages, 0: any number */
	uint32_t delay;              /* top: milliseconds between them, 0: not given */
	const char *filter;          /* top: only rows with this text, or NULL */
};

struct check_reader;
struct cli_check {
	bool on;                     /* the command is checked */
	struct check_reader *reader; /* made by cli_run() */
	uint32_t shown, fail_on;     /* enum check_level */
	uint32_t fail_exit;          /* exit status if something is found; 0: the command's own */
	const char *suppress, *json_file; /* NULL: none */
};

/* An option as it was given, for another softhca that is started with it. */
struct cli_passed {
	const char *name, *arg; /* arg NULL: it has none */
};
#define CLI_PASSED 64

struct cli_options {
	const char *verb;
	unsigned int given; /* CLI_SIZE, CLI_SHAPE */
	const char *shape;  /* the first given option of CLI_SHAPE; NULL: none */
	struct fab_options fab;
	const char *doorbell, *memlock, *keep_env; /* values for environment variables */
	bool adopt, no_adopt;
	const char *host, *fabric; /* NULL: not given */
	bool json;
	bool all;             /* down: all fabrics; status: all hosts, all kinds of objects */
	bool summary;         /* say at the end what the command has done with adapters */
	bool require_traffic; /* it fails if no packet passed */
	uint32_t timeout;     /* seconds that the command may take; 0: any time */
	bool quiet;           /* print no line about a command that did not see the adapter */
	bool trace;           /* the command is traced */
	const char *output, *capout; /* files of trace and capture; NULL: standard error, none */
	const char *topo;            /* argument of --topo, or NULL */
	const char *script;          /* NULL: not given */
	bool capture;                /* capture the command's fabric */
	uint32_t snap;               /* capture: bytes per packet; 0: all */
	bool live;                   /* a reader reads the capture while it is written */
	bool stdout_taken;           /* the capture uses stdout, the command stderr */
	uint32_t kind;               /* enum hex_kind of the data to decode; 0: not given */
	const char *kind_arg;        /* program that made the output; NULL: not given */
	bool list;                   /* list all that can be explained */
	/*
	 * How a topology is written, NULL: as ibnetdiscover; a picture with more hosts shows their
	 * numbers; it shows what ports have sent.
	 */
	const struct topo_output *picture;
	uint32_t max_hosts;
	bool hosts_given, counters;
	struct cli_watch watch; /* options of trace and top */
	struct cli_check check;
	const char *pair;   /* run: a server, a command of the shell; NULL: none */
	const char *report; /* run: a file for what is known of the command; NULL: none */
	/* world --all */
	uint32_t jobs; /* 0: as many as there are processors */
	const char *only, *json_file, *junit_file;
	bool verbose;
	bool seed_given;
	bool unused_ok; /* run: rules of --inject that never fire are no failure */
	struct cli_passed passed[CLI_PASSED]; /* options that are run's, too */
	uint32_t npassed;
	/* the remaining arguments: [NAME] or CMD ARGS... */
	int argc;
	char **argv;
};

struct cli_verb {
	unsigned int bit;
	const char *name;
	const char *args;    /* for the usage text */
	const char *summary; /* one line */
	/* max < 0: the first argument ends the options, any number may follow */
	int min_args, max_args;
	bool words; /* arguments are not names of fabrics */
	int (*run)(struct cli_options *o);
	/* the row is that of this name where the option is given; NULL: it is in any case */
	const char *mode;
};

/* An option, for all but the parser. */
struct cli_option {
	unsigned int verbs; /* bits of the commands that accept it */
	const char *name;
	int short_key;   /* its letter, or 0 */
	const char *arg; /* NULL: it takes no value */
	const char *doc;
	bool value; /* it needs a value */
};
/*
 * Gets the option at *i, or the first one behind it, that one of these commands accepts, and steps
 * over it. False: there is none.
 */
bool options_next(unsigned int verbs, size_t *i, struct cli_option *o);

/* The row of a command, in the order of the table; NULL behind the last one. */
const struct cli_verb *cli_verb(size_t i);
/* The row of the command that these `n` words are, of which the first is its name; NULL: none. */
const struct cli_verb *cli_verb_of(int n, char **words);

int cli_run(struct cli_options *o);
int cli_up(struct cli_options *o);
int cli_down(struct cli_options *o);
int cli_topo(struct cli_options *o);
int cli_console(struct cli_options *o);
int cli_status(struct cli_options *o);
int cli_list(struct cli_options *o);
int cli_link(struct cli_options *o);
int cli_ip(struct cli_options *o);
int cli_pcap(struct cli_options *o);
int cli_trace(struct cli_options *o);
int cli_check(struct cli_options *o);
int cli_top(struct cli_options *o);
int cli_world(struct cli_options *o);
int cli_worlds(struct cli_options *o);
int cli_inject(struct cli_options *o);
int cli_explain(struct cli_options *o);
int cli_decode(struct cli_options *o);

/* The options -o and --hosts of `topo`. 0; PROG_FAILED after a message. */
int topo_set_output(struct cli_options *o, const char *arg);
int topo_set_hosts(struct cli_options *o, const char *arg);

/* Adds the addresses of an --ip. 0; PROG_FAILED after a message. */
int ip_add(struct fab_options *fab, const char *verb, const char *arg);

/* Adds rules of --inject and --inject-file. 0; PROG_FAILED after messages. */
int inject_option(struct cli_options *o, const char *rule);
int inject_file(struct cli_options *o, const char *path);
/* Chooses a seed for the rules, if none is given. */
void inject_prepare(struct cli_options *o);
struct json_object;
/*
 * At the end of a command: says how often each rule has fired. CLI_UNUSED: one never did, and the
 * command ended well; else 0. Releases `faults`, a status's.
 */
int inject_end(const struct cli_options *o, struct json_object *faults, bool well);

/* Adds an argument of -e. 0; PROG_FAILED after a message. */
int trace_expr_add(struct trace_expr *e, const char *verb, const char *option, const char *arg);
/* The topics of -e, or the usual ones: "fw,cqe". */
void trace_expr_topics(const struct trace_expr *e, char *text, size_t size);
/* Writes the value of LOG_ENV_OPTIONS (an environment variable) for a trace. */
void trace_expr_options(const struct cli_watch *w, char text[LOG_OPTIONS_MAX]);
/* Calls `each` with every name that "cmd=" knows. */
void trace_expr_names(void (*each)(void *ctx, const char *name), void *ctx);
/*
 * Open the trace and put it into the environment for the command. 0; PROG_FAILED after a message.
 */
int trace_prepare(struct cli_options *o, const char *verb);
/* At the end of a trace of failures: lines for objects that programs have left. */
void trace_left(const struct seg *s);
/* `softhca trace --fabric NAME`. */
int trace_live(struct cli_options *o);
/* The command has ended: what is left of its trace, and the counts. 0; PROG_FAILED. */
int trace_end(struct trace_reader *r);

struct topo;
/*
 * Loads the topology of --topo, or nothing without it, and completes o->fab by what worlds set and
 * need. 0; PROG_FAILED after a message.
 */
int topo_prepare(struct cli_options *o, struct topo *t);
/* The option --world. 0; PROG_FAILED after a message. */
int world_option(struct cli_options *o, const char *arg);
/*
 * For topo_prepare(): the worlds of the command line and of the topology. The first one returns
 * -EINVAL with the reason instead of a message.
 */
#define WORLD_UNFIT 800
int world_fit(struct cli_options *o, const struct topo *t, char err[WORLD_UNFIT]);
int world_prepare(struct cli_options *o, const struct topo *t);

/*
 * Parse a command's own arguments (argv[0] is its name). 0; PROG_FAILED after a message; -1: the
 * user asked for help and got it.
 */
int options_parse(const struct cli_verb *v, int argc, char **argv, struct cli_options *o);
#endif
