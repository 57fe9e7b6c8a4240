/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the command line: one row per option, with everything about it. argp parses; its own
 * messages are off, because they take two lines and other exit statuses.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check/rows.h"
#include "cli/hex.h"
#include "cli/mistake.h"
#include "cli/top.h"
#include "fabric/eth.h"
#include "fw/caps.h"
#include "hw/hca.h"
#include "hw/timer.h"
#include "shim/shim.h"
#include "super/program.h"
#include "super/runtime.h"
#include "util/cleanup.h"
#include "util/num.h"

struct word {
	const char *word;
	uint32_t value;
};

static const struct word doorbells[] = {
	{"auto", true}, {"trap", SHIM_CAN_TRAP}, {"poll", true}, {NULL, 0}};
static const struct word memlocks[] = {{"account", 0}, {"enforce", 0}, {NULL, 0}};
static const struct word keeps[] = {{"none", 0}, {"spawn", 0}, {"all", 0}, {NULL, 0}};
static const struct word sms[] = {{"builtin", 0}, {"none", 1}, {NULL, 0}};
static const struct word links[] = {{"ib", HW_LINK_IB}, {"eth", HW_LINK_ETH}, {NULL, 0}};
static const struct word cryptos[] = {{"plaintext", HW_CRYPTO_PLAINTEXT},
				      {"wrapped", HW_CRYPTO_WRAPPED},
				      {"none", HW_CRYPTO_NONE},
				      {NULL, 0}};
static const struct word unused[] = {{"ok", true}, {"fail", false}, {NULL, 0}};
static const struct word devices[] = {{"cx6", HW_CX6}, {"cx7", HW_CX7}, {NULL, 0}};

static const struct word levels[] = {
	{"error", CHECK_ERROR}, {"warning", CHECK_WARNING}, {"note", CHECK_NOTE}, {NULL, 0}};

static const struct word trace_sorts[] = {
	{"time", TRACE_SORT_TIME}, {"calls", TRACE_SORT_CALLS}, {"errors", TRACE_SORT_ERRORS},
	{"mean", TRACE_SORT_MEAN}, {"name", TRACE_SORT_NAME},   {NULL, 0}};

static const struct word top_sorts[] = {{"rate", TOP_SORT_RATE},   {"errors", TOP_SORT_ERRORS},
					{"depth", TOP_SORT_DEPTH}, {"pid", TOP_SORT_PID},
					{"name", TOP_SORT_NAME},   {NULL, 0}};

enum { KEY_FIRST = 0x200 };

struct parse {
	const struct cli_verb *verb;
	struct cli_options *o;
	const struct argp *argp;
	bool helped;
	bool said; /* the error has been reported already */
};

struct opt_row {
	unsigned int verbs; /* the commands that accept it */
	const char *name;
	int short_key;
	const char *arg;
	const char *doc;
	/* Checks the argument and stores it at offset `at` of struct cli_options. 0; PROG_FAILED
	 * after a message. */
	int (*store)(struct parse *p, const struct opt_row *row, const char *arg);
	size_t at;
	unsigned int given;       /* bits of cli_options.given */
	uint32_t min, max;        /* range of a number */
	const struct word *words; /* or a list of words */
	uint32_t value;           /* if the option stands for one of several values */
	int flags;                /* argp's */
};

/* ---- the types of options */

static int store_text(struct parse *p, const struct opt_row *row, const char *arg)
{
	*(const char **)((char *)p->o + row->at) = arg;
	return 0;
}

static int store_flag(struct parse *p, const struct opt_row *row, const char *arg)
{
	*(bool *)((char *)p->o + row->at) = true;
	return 0;
}

static int store_number(struct parse *p, const struct opt_row *row, const char *arg)
{
	const char *end = NULL;
	uint64_t n = 0;

	if (*arg >= '0' && *arg <= '9')
		n = num_decimal(arg, &end);
	if (!end || *end || n < row->min || n > row->max)
		return prog_fail("%s: --%s: '%s' is not a number from %u to %u", p->verb->name,
				 row->name, arg, row->min, row->max);
	*(uint32_t *)((char *)p->o + row->at) = (uint32_t)n;
	return 0;
}

static const struct word *word_find(const struct parse *p, const struct opt_row *row,
				    const char *arg)
{
	for (const struct word *w = row->words; w->word; w++)
		if (!strcmp(w->word, arg))
			return w;
	prog_fail("%s: --%s: '%s' is not one of %s", p->verb->name, row->name, arg, row->arg);
	return NULL;
}

static int store_word(struct parse *p, const struct opt_row *row, const char *arg)
{
	const struct word *w = word_find(p, row, arg);

	return w ? store_text(p, row, w->word) : PROG_FAILED;
}

static int store_doorbell(struct parse *p, const struct opt_row *row, const char *arg)
{
	const struct word *w = word_find(p, row, arg);

	if (w && !w->value)
		return prog_fail("%s: --%s: '%s' is not possible: this softhca was built without "
				 "Zydis or for another processor than x86-64; allowed: poll",
				 p->verb->name, row->name, arg);
	return w ? store_text(p, row, w->word) : PROG_FAILED;
}

static int store_value(struct parse *p, const struct opt_row *row, const char *arg)
{
	const struct word *w = word_find(p, row, arg);

	if (!w)
		return PROG_FAILED;
	*(uint32_t *)((char *)p->o + row->at) = w->value;
	return 0;
}

static int store_unused(struct parse *p, const struct opt_row *row, const char *arg)
{
	const struct word *w = word_find(p, row, arg);

	if (!w)
		return PROG_FAILED;
	p->o->unused_ok = w->value;
	return 0;
}

static int store_fabric(struct parse *p, const struct opt_row *row, const char *arg)
{
	if (!runtime_name_ok(arg))
		return prog_fail("%s: --%s: '%s' cannot be a fabric's name", p->verb->name,
				 row->name, arg);
	return store_text(p, row, arg);
}

static int store_topics(struct parse *p, const struct opt_row *row, const char *arg)
{
	return trace_expr_add(&p->o->watch.expr, p->verb->name, "-e", arg);
}

/* Topics are optional; the default is the usual ones. */
static int store_trace(struct parse *p, const struct opt_row *row, const char *arg)
{
	p->o->trace = true;
	return arg ? trace_expr_add(&p->o->watch.expr, p->verb->name, "--trace", arg) : 0;
}

static int store_trace_option(struct parse *p, const struct opt_row *row, const char *arg)
{
	p->o->watch.options |= row->value;
	return 0;
}

static int store_delay(struct parse *p, const struct opt_row *row, const char *arg)
{
	char *end;
	double n = strtod(arg, &end);

	if (end == arg || *end || !(n >= 0.01 && n <= 86400))
		return prog_fail("%s: --%s: '%s' is not a number of seconds from 0.01 to 86400",
				 p->verb->name, row->name, arg);
	*(uint32_t *)((char *)p->o + row->at) = (uint32_t)(n * 1000 + 0.5);
	return 0;
}

static int store_ip(struct parse *p, const struct opt_row *row, const char *arg)
{
	return ip_add(&p->o->fab, p->verb->name, arg);
}

static int store_world(struct parse *p, const struct opt_row *row, const char *arg)
{
	return world_option(p->o, arg);
}

static int store_inject(struct parse *p, const struct opt_row *row, const char *arg)
{
	return inject_option(p->o, arg);
}

static int store_inject_file(struct parse *p, const struct opt_row *row, const char *arg)
{
	return inject_file(p->o, arg);
}

static int store_seed(struct parse *p, const struct opt_row *row, const char *arg)
{
	const char *end;

	p->o->seed_given = true;
	p->o->fab.fault_seed = num_decimal(arg, &end);
	if (end == arg || *end)
		return prog_fail("%s: --%s: '%s' is not a number", p->verb->name, row->name, arg);
	return 0;
}

/* Thousandths: as many digits as --help promises. */
static int store_scale(struct parse *p, const struct opt_row *row, const char *arg)
{
	const char *end = NULL;
	uint64_t n = 0, digit = HW_TIME_TRUE;

	if (*arg >= '0' && *arg <= '9')
		n = num_decimal(arg, &end);
	n = n < HW_TIME_MAX ? n * HW_TIME_TRUE : HW_TIME_MAX + 1;
	if (end && *end == '.' && end[1])
		for (end++; *end >= '0' && *end <= '9' && digit > 1; end++)
			n += (uint64_t)(*end - '0') * (digit /= 10);
	if (!end || *end || !n || n > HW_TIME_MAX)
		return prog_fail("%s: --%s: '%s' is not a number from 0.001 to 1000", p->verb->name,
				 row->name, arg);
	*(uint32_t *)((char *)p->o + row->at) = (uint32_t)n;
	return 0;
}

static int store_uids(struct parse *p, const struct opt_row *row, const char *arg)
{
	struct fab_options *f = &p->o->fab;
	const char *at = arg, *end = NULL;
	uint64_t uid;

	do {
		uid = *at >= '0' && *at <= '9' ? num_decimal(at, &end) : UINT64_MAX;
		/* the last one means "no uid" to the kernel */
		if (uid >= UINT32_MAX || (*end && *end != ','))
			return prog_fail("%s: --%s: '%s' is not a list of numbers of users, as "
					 "1000,1001",
					 p->verb->name, row->name, arg);
		if (f->nallow_uids == FAB_ALLOW_UIDS)
			return prog_fail("%s: --%s: more than %d users", p->verb->name, row->name,
					 FAB_ALLOW_UIDS);
		f->allow_uid[f->nallow_uids++] = (uint32_t)uid;
		at = end + 1;
	} while (*end);
	return 0;
}

static int store_output(struct parse *p, const struct opt_row *row, const char *arg)
{
	return topo_set_output(p->o, arg);
}

static int store_hosts(struct parse *p, const struct opt_row *row, const char *arg)
{
	return topo_set_hosts(p->o, arg);
}

static int store_kind(struct parse *p, const struct opt_row *row, const char *arg);

static int store_help(struct parse *p, const struct opt_row *row, const char *arg)
{
	char name[64];

	snprintf(name, sizeof(name), "softhca %s", p->verb->name);
	argp_help(p->argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned int)ARGP_HELP_EXIT_OK, name);
	p->helped = true;
	return PROG_FAILED;
}

/* ---- the options */

#define AT(type, m)                             \
	.at = offsetof(struct cli_options, m) + \
	      0 * sizeof(&((struct cli_options *)0)->m == (type *)0)
#define TEXT(m) .store = store_text, AT(const char *, m)
#define FLAG(m) .store = store_flag, AT(bool, m)
#define NUMBER(m, low, high) .store = store_number, AT(uint32_t, m), .min = (low), .max = (high)
#define WORD(m, list) .store = store_word, AT(const char *, m), .words = (list)
#define VALUE(type, m, list) .store = store_value, AT(type, m), .words = (list)
#define KIND(v) .store = store_kind, .value = (v)

#define CLI_ALL ~0u
/* commands that run a program */
#define CLI_COMMANDS (CLI_RUN | CLI_TRACE | CLI_PCAP | CLI_CHECK)
#define CLI_RUNS (CLI_COMMANDS | CLI_WORLDS)
#define CLI_MAKERS (CLI_RUNS | CLI_UP)
#define CLI_USERS (CLI_COMMANDS | CLI_TOPO | CLI_CONSOLE | CLI_LINK | CLI_IP | CLI_INJECT)

static const struct opt_row rows[] = {
	{CLI_MAKERS, "hosts", 0, "N", "number of hosts, named h1 to hN (1)",
	 NUMBER(fab.hosts, 1, CLI_MAX_HOSTS), .given = CLI_SIZE | CLI_SHAPE},
	{CLI_MAKERS, "hca", 0, "N", "number of HCAs of each host (1)", NUMBER(fab.hcas, 1, 16),
	 .given = CLI_SIZE | CLI_SHAPE},
	{CLI_MAKERS, "ports", 0, "N", "number of ports of each HCA (1)",
	 NUMBER(fab.ports, 1, HW_MAX_PORTS), .given = CLI_SIZE | CLI_SHAPE},
	{CLI_MAKERS, "crypto", 0, "plaintext|wrapped|none",
	 "how data encryption keys come to the adapters, or adapters without crypto (plaintext)",
	 VALUE(enum hw_crypto, fab.crypto, cryptos), .given = CLI_SHAPE},
	{CLI_MAKERS | CLI_TOPO, "device", 0, "cx6|cx7", "model: ConnectX-6 or ConnectX-7 (cx6)",
	 VALUE(enum hw_model, fab.model, devices), .given = CLI_SHAPE | CLI_MODEL},
	{CLI_MAKERS, "topo", 0, "SPEC",
	 "topology: a file (ibnetdiscover, ibsim, .lst), or ring:N, star:N, torus:XxYxZ, "
	 "fat-tree:LEVELS:RADIX, random:NODES:SEED",
	 TEXT(topo), .given = CLI_SHAPE},
	{CLI_MAKERS, "sm", 0, "builtin|none",
	 "subnet manager: the built-in one until another takes over, or none (builtin)",
	 VALUE(uint32_t, fab.no_sm, sms), .given = CLI_SHAPE},
	{CLI_MAKERS, "ipoib-group", 0, NULL,
	 "IPoIB's broadcast group exists from the start, as with OpenSM", FLAG(fab.ipoib),
	 .given = CLI_SHAPE},
	{CLI_MAKERS, "link", 0, "ib|eth",
	 "link layer of all ports: InfiniBand, or Ethernet (RoCE) (ib)",
	 VALUE(enum hw_link, fab.link, links), .given = CLI_LINK_LAYER | CLI_SHAPE},
	{CLI_MAKERS, "world", 0, "WORLD,...",
	 "hosts and adapters that differ from the usual ones (softhca world lists how)",
	 .store = store_world, .given = CLI_SHAPE},
	{CLI_MAKERS, "inject", 0, "RULE",
	 "a fault on purpose: WHERE[KEY=VALUE,...]:WHAT[=VALUE][:WHEN]", .store = store_inject,
	 .given = CLI_SHAPE},
	{CLI_MAKERS, "inject-file", 0, "FILE", "rules of faults, one on each line",
	 .store = store_inject_file, .given = CLI_SHAPE},
	{CLI_MAKERS, "seed", 0, "N", "seed of rules with p= (printed at the end)",
	 .store = store_seed, .given = CLI_SHAPE},
	{CLI_MAKERS, "time-scale", 0, "F",
	 "timers of adapters and of the fabric run F times faster, 0.001 to 1000 (1)",
	 .store = store_scale, AT(uint32_t, fab.time_scale), .given = CLI_SHAPE},
	{CLI_RUNS, "inject-unused", 0, "ok|fail",
	 "a rule that never fires is a failure, with exit status 4, or not (fail)",
	 .store = store_unused, .words = unused},
	{CLI_MAKERS, "mtu", 0, "OCTETS", "MTU of Ethernet interfaces, 1280 to 9978 (1500)",
	 NUMBER(fab.if_mtu, FAB_ETH_MTU_MIN, FAB_ETH_MTU_MAX), .given = CLI_SHAPE},
	{CLI_MAKERS, "ip", 0, "HOST=ADDR,...",
	 "addresses of a host's interfaces ib0, ib1... (127.1.0.1, 127.2.0.1... for the first)",
	 .store = store_ip, .given = CLI_SHAPE},
	{CLI_MAKERS, "netns", 0, NULL,
	 "give each host a network namespace with interfaces of the kernel (10.1.0.1...)",
	 FLAG(fab.netns), .given = CLI_SHAPE},
	{CLI_MAKERS, "allow-uid", 0, "UID,...",
	 "other users whose processes may use the fabric; they then control each other's processes",
	 .store = store_uids, .given = CLI_SHAPE},
	{CLI_RUNS, "doorbell", 0, "auto|trap|poll",
	 SHIM_CAN_TRAP
		 ? "detect stores to a UAR by a fault, or by a thread that watches; auto: by a "
		   "fault, unless a debugger would stop there (auto)"
		 : "detect stores to a UAR by a thread that watches: poll only",
	 .store = store_doorbell, AT(const char *, doorbell), .words = doorbells},
	{CLI_RUNS, "memlock", 0, "account|enforce",
	 "count registered memory, or also enforce RLIMIT_MEMLOCK (account)",
	 WORD(memlock, memlocks)},
	{CLI_RUNS, "adopt", 0, NULL,
	 "let other processes map memory that they write to, instead of copying by system calls",
	 FLAG(adopt)},
	{CLI_RUNS, "no-adopt", 0, NULL, "do not share registered memory (default)", FLAG(no_adopt)},
	{CLI_RUNS, "keep-env", 0, "none|spawn|all",
	 "also let programs see the adapter that are started with an environment of their own: "
	 "by posix_spawn, or by exec, too (spawn)",
	 WORD(keep_env, keeps)},
	{CLI_RUNS, "quiet", 'q', NULL,
	 "do not say at the end that the command could not see the adapter", FLAG(quiet)},
	{CLI_COMMANDS, "summary", 0, NULL,
	 "say at the end how many packets, doorbells, commands, errors there were", FLAG(summary)},
	{CLI_RUNS, "require-traffic", 0, NULL,
	 "exit status 3 if the command succeeds, but no packet passed an adapter",
	 FLAG(require_traffic)},
	{CLI_RUNS, "timeout", 0, "SECONDS",
	 "end the command and all its processes after this time; exit status 124",
	 NUMBER(timeout, 1, 31536000)},
	{CLI_RUNS, "host", 0, "HOST", "run on HOST (default: the first)", TEXT(host)},
	{CLI_LINK | CLI_IP, "host", 0, "HOST", "the host that is meant (default: the first)",
	 TEXT(host)},
	{CLI_STATUS, "host", 0, "HOST", "show this host only", TEXT(host)},
	{CLI_STATUS, "all", 'a', NULL, "show unused hosts, too, and kinds without objects",
	 FLAG(all)},
	{CLI_DOWN, "all", 'a', NULL, "all fabrics, except those of running commands", FLAG(all)},
	{CLI_LIST, "quiet", 'q', NULL, "names only", FLAG(quiet)},
	{CLI_USERS, "fabric", 0, "FABRIC", "use a fabric that is up (default: the command's own)",
	 .store = store_fabric, AT(const char *, fabric)},
	{CLI_WORLD | CLI_WORLDS, "all", 0, NULL, "run a command in each world", FLAG(all)},
	{CLI_WORLDS, "jobs", 'j', "N", "worlds at a time (processors; with --pair 1)",
	 NUMBER(jobs, 1, 256)},
	{CLI_WORLDS, "only", 0, "GLOB", "worlds whose name or group fits, and the usual host",
	 TEXT(only)},
	{CLI_WORLDS, "json", 0, "FILE", "also write the results as JSON (-: instead of the table)",
	 TEXT(json_file)},
	{CLI_WORLDS, "junit", 0, "FILE", "also write them as JUnit's XML", TEXT(junit_file)},
	{CLI_WORLDS, "verbose", 'v', NULL, "show all that the commands print", FLAG(verbose)},
	{CLI_RUN | CLI_WORLDS | CLI_CHECK, "pair", 0, "SERVER",
	 "start SERVER, a command of the shell, then the command on the second host, if there is "
	 "one",
	 TEXT(pair)},
	{CLI_RUN | CLI_CHECK, "report", 0, "FILE",
	 "write how the command has ended, and why, as JSON", TEXT(report)},
	{CLI_TRACE | CLI_EXPLAIN | CLI_DECODE | CLI_STATUS | CLI_LIST | CLI_TOP | CLI_WORLD |
		 CLI_INJECT,
	 "json", 'j', NULL, "write JSON", FLAG(json)},
	{CLI_EXPLAIN, "list", 0, NULL, "list all names that it knows", FLAG(list)},
	{CLI_CHECK, "list", 0, NULL, "list the rules", FLAG(list)},
	{CLI_DECODE, "in", 0, NULL, "decode the input of a command", KIND(HEX_INPUT)},
	{CLI_DECODE, "out", 0, "COMMAND", "decode the output of this command", KIND(HEX_OUTPUT),
	 .flags = OPTION_ARG_OPTIONAL},
	{CLI_DECODE, "wqe", 0, NULL, "decode work requests", KIND(HEX_WQE)},
	{CLI_DECODE, "cqe", 0, NULL, "decode completions", KIND(HEX_CQE)},
	{CLI_DECODE, "eqe", 0, NULL, "decode an event", KIND(HEX_EQE)},
	{CLI_DECODE, "mad", 0, NULL, "decode MADs", KIND(HEX_MAD)},
	{CLI_RUN, "trace", 0, "TOPIC,...", "trace to standard error, as `softhca trace` does",
	 .store = store_trace, .flags = OPTION_ARG_OPTIONAL},
	{CLI_TRACE | CLI_PCAP, "output", 'o', "FILE", "write to FILE (a trace: standard error)",
	 TEXT(output)},
	{CLI_CONSOLE, "script", 's', "FILE", "read the commands from FILE (standard input)",
	 TEXT(script)},
	{CLI_TOPO, "format", 'o', "ibnetdiscover|dot|svg|png|pdf|html|FILE",
	 "output format (ibnetdiscover), or a file whose name ends in one (.topo, .svg...)",
	 .store = store_output},
	{CLI_TOPO, "hosts", 0, "all|count|N",
	 "in pictures draw every host, only counts, or every host if at most N (64)",
	 .store = store_hosts},
	{CLI_TOPO, "counters", 0, NULL, "in pictures show the packets that each port has sent",
	 FLAG(counters)},
	{CLI_PCAP, "snap", 's', "BYTES", "keep the first BYTES of each packet (all)",
	 NUMBER(snap, 1, 65535)},
	{CLI_PCAP, "live", 0, NULL, "write packets at once; without -o to standard output",
	 FLAG(live)},
	{CLI_TRACE, "topics", 'e', "TOPIC,...",
	 "topics to trace: uverbs, fw, doorbell, cqe, event, cm, inject (these), mad, mem, shim, "
	 "link, "
	 "all, "
	 "or !TOPIC,... for all others; cmd=NAME,... or cmd=!NAME,... for commands and methods",
	 .store = store_topics},
	{CLI_TRACE, "count", 'c', NULL, "write no lines, but a table: calls, errors, times",
	 .store = store_trace_option, .value = LOG_COUNTED | LOG_BARE},
	{CLI_TRACE, "count-too", 'C', NULL, "write the lines, then the table",
	 .store = store_trace_option, .value = LOG_COUNTED},
	{CLI_TRACE, "sort", 'S', "time|calls|errors|mean|name", "order of the table (time)",
	 VALUE(uint32_t, watch.sort, trace_sorts)},
	{CLI_TRACE, "failed-only", 'Z', NULL, "only what has failed", .store = store_trace_option,
	 .value = LOG_FAILED},
	{CLI_TRACE, "successful-only", 'z', NULL, "only what has not failed",
	 .store = store_trace_option, .value = LOG_GOOD},
	{CLI_TRACE, "objects", 'y', NULL, "say which object a handle or descriptor is",
	 .store = store_trace_option, .value = LOG_OBJECTS},
	{CLI_TOP, "batch", 'b', NULL, "write pages of text, also to a terminal", FLAG(watch.batch)},
	{CLI_TOP, "times", 'n', "N", "end after N pages", NUMBER(watch.times, 1, UINT32_MAX)},
	{CLI_TOP, "delay", 'd', "SECONDS", "seconds between updates, fractions allowed (1)",
	 .store = store_delay, AT(uint32_t, watch.delay)},
	{CLI_TOP, "sort", 'o', "rate|errors|depth|pid|name", "order of the rows (rate)",
	 VALUE(uint32_t, watch.sort, top_sorts)},
	{CLI_TOP, "reverse", 'r', NULL, "reverse the order", FLAG(watch.reverse)},
	{CLI_TOP, "filter", 'f', "TEXT", "only rows that contain TEXT", TEXT(watch.filter)},
	{CLI_TOP, "all", 'a', NULL, "also ports that nobody has used", FLAG(all)},
	{CLI_RUN, "check", 0, NULL, "report what the command does wrong, as `softhca check` does",
	 FLAG(check.on)},
	{CLI_CHECK, "fail-exit", 0, "N", "exit status if something is reported (the command's own)",
	 NUMBER(check.fail_exit, 1, 255)},
	{CLI_CHECK, "fail-on", 0, "error|warning|note",
	 "the level from which --fail-exit counts (error)", VALUE(uint32_t, check.fail_on, levels)},
	{CLI_CHECK, "suppress", 0, "FILE", "do not report what FILE lists", TEXT(check.suppress)},
	{CLI_CHECK, "json", 0, "FILE", "also write the reports as JSON", TEXT(check.json_file)},
	{CLI_CHECK, "warn", 'W', "error|warning|note", "print reports from this level on (warning)",
	 VALUE(uint32_t, check.shown, levels)},
	{CLI_RUN | CLI_TRACE | CLI_CHECK, "pcap", 0, "FILE", "also capture the packets, into FILE",
	 TEXT(capout)},
	{CLI_ALL, "help", 'h', NULL, "this text", .store = store_help},
};

bool options_next(unsigned int verbs, size_t *i, struct cli_option *o)
{
	for (; *i < ARRAY_SIZE(rows); ++*i)
		if (rows[*i].verbs & verbs) {
			*o = (struct cli_option){
				.verbs = rows[*i].verbs,
				.name = rows[*i].name,
				.short_key = rows[*i].short_key,
				.arg = rows[*i].arg,
				.doc = rows[*i].doc,
				.value = rows[*i].arg && !(rows[*i].flags & OPTION_ARG_OPTIONAL),
			};
			++*i;
			return true;
		}
	return false;
}

/* Only one of the options that name the kind of the data may be given. */
static int store_kind(struct parse *p, const struct opt_row *row, const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows) && p->o->kind; i++)
		if (rows[i].store == store_kind && rows[i].value == p->o->kind)
			return prog_fail("%s: --%s: --%s was given already", p->verb->name,
					 row->name, rows[i].name);
	p->o->kind = row->value;
	p->o->kind_arg = arg;
	return 0;
}

static error_t parse_row(struct parse *p, const struct opt_row *row, const char *arg)
{
	if (row->store(p, row, arg)) {
		p->said = true;
		return EINVAL;
	}
	p->o->given |= row->given;
	if (p->verb->bit == CLI_WORLDS && row->verbs & CLI_RUN) {
		if (p->o->npassed == CLI_PASSED) {
			prog_fail("%s: more than %d options", p->verb->name, CLI_PASSED);
			p->said = true;
			return EINVAL;
		}
		p->o->passed[p->o->npassed++] = (struct cli_passed){row->name, arg};
	}
	if (row->given & CLI_SHAPE && !p->o->shape)
		p->o->shape = row->name;
	return 0;
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		/* The remaining arguments belong to the command to be run, or are all names. */
		if (p->verb->max_args >= 0)
			return ARGP_ERR_UNKNOWN;
		p->o->argv = state->argv + state->next - 1;
		p->o->argc = state->argc - state->next + 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_ARGS:
		p->o->argv = state->argv + state->next;
		p->o->argc = state->argc - state->next;
		return 0;
	case ARGP_KEY_ERROR:
		if (!p->said && !p->helped)
			mistake_say(p->verb, state->argv, state->next);
		p->said = true;
		return ARGP_ERR_UNKNOWN;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if ((p->verb->bit & rows[i].verbs) &&
		    key == (rows[i].short_key ? rows[i].short_key : KEY_FIRST + (int)i))
			return parse_row(p, &rows[i], arg);
	return ARGP_ERR_UNKNOWN;
}

static void options_describe(const struct cli_verb *v, struct argp_option *out)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (v->bit & rows[i].verbs)
			out[n++] = (struct argp_option){
				.name = rows[i].name,
				.key = rows[i].short_key ? rows[i].short_key : KEY_FIRST + (int)i,
				.arg = rows[i].arg,
				.doc = rows[i].doc,
				.flags = rows[i].flags,
			};
	out[n] = (struct argp_option){0};
}

static int check_args(const struct cli_verb *v, const struct cli_options *o)
{
	if (o->argc < v->min_args)
		return prog_fail("%s: %s%s is missing (softhca %s --help)", v->name,
				 v->min_args > 1 ? "one of " : "",
				 v->max_args < 0 ? "the command" : v->args, v->name);
	if (v->max_args >= 0 && o->argc > v->max_args)
		return prog_fail("%s: '%s' is one argument too many (softhca %s --help)", v->name,
				 o->argv[v->max_args], v->name);
	for (int i = 0; v->max_args >= 0 && !v->words && i < o->argc; i++)
		if (!runtime_name_ok(o->argv[i]))
			return prog_fail("%s: '%s' cannot be a fabric's name", v->name, o->argv[i]);
	if (o->topo && (o->given & CLI_SIZE))
		return prog_fail("%s: --topo determines hosts, adapters and ports", v->name);
	if (o->fabric && o->shape)
		return prog_fail(
			"%s: --%s would describe a new fabric; --fabric %s joins one that is up",
			v->name, o->shape, o->fabric);
	return 0;
}

/* The other forms of a command, which have a help of their own: `world` and `world --all`. */
static void put_forms(const struct cli_verb *v, char *text, size_t size)
{
	const struct cli_verb *u;
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; (u = cli_verb(i)); i++)
		if (u != v && !strcmp(u->name, v->name) && n < size)
			n += (size_t)snprintf(text + n, size - n, "softhca %s%s%s --help: %s\n",
					      u->name, u->mode ? " " : "", u->mode ? u->mode : "",
					      u->summary);
}

int options_parse(const struct cli_verb *v, int argc, char **argv, struct cli_options *o)
{
	struct argp_option opts[ARRAY_SIZE(rows) + 1];
	char usage[128], doc[512], forms[256];
	struct argp argp = {.options = opts, .parser = parse_key, .args_doc = usage, .doc = doc};
	struct parse p = {.verb = v, .o = o, .argp = &argp};

	*o = (struct cli_options){
		.verb = v->name,
		.fab = {.model = HW_CX6, .if_mtu = FAB_ETH_MTU},
		.doorbell = doorbells[SHIM_CAN_TRAP ? 0 : 2].word,
		.memlock = memlocks[0].word,
		.check = {.shown = CHECK_WARNING, .fail_on = CHECK_ERROR},
	};
	options_describe(v, opts);
	snprintf(usage, sizeof(usage), "%s", v->args);
	put_forms(v, forms, sizeof(forms));
	snprintf(doc, sizeof(doc), "%s\v%s", v->summary, forms);
	if (argp_parse(&argp, argc, argv,
		       ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT |
			       (v->max_args < 0 ? ARGP_IN_ORDER : 0),
		       NULL, &p))
		return p.helped ? -1 : PROG_FAILED;
	o->fab.caps = *fw_caps(o->fab.model);
	return check_args(v, o);
}
