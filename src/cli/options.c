/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the command line: one row per option, shared by the commands that take it. argp parses; its
 * own messages are off, because they take two lines and other exit statuses.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fw/caps.h"
#include "util/cleanup.h"

struct word {
	const char *word;
	int value;
};

static const struct word doorbells[] = {{"trap", 0}, {"poll", 0}, {NULL, 0}};
static const struct word memlocks[] = {{"account", 0}, {"enforce", 0}, {NULL, 0}};
static const struct word sms[] = {{"builtin", 0}, {"none", 1}, {NULL, 0}};
static const struct word formats[] = {{"ibnetdiscover", 0}, {"dot", 0}, {NULL, 0}};
static const struct word devices[] = {{"cx6", HW_CX6}, {"cx7", HW_CX7}, {NULL, 0}};

enum { KEY_HELP = 0x200, KEY_FIRST };

struct opt_row {
	unsigned int bit;
	const char *name;
	int short_key;
	const char *arg;
	const char *doc;
	uint32_t min, max;        /* numbers */
	const struct word *words; /* or one of these */
	int flags;                /* argp's */
};

static const struct opt_row rows[] = {
	{CLI_OPT_HOSTS, "hosts", 0, "N", "hosts h1..hN on the fabric (1)", 1, CLI_MAX_HOSTS, NULL},
	{CLI_OPT_HCA, "hca", 0, "N", "HCAs of each host: mlx5_0.. (1)", 1, 16, NULL},
	{CLI_OPT_PORTS, "ports", 0, "N", "ports of each HCA (1)", 1, HW_MAX_PORTS, NULL},
	{CLI_OPT_DEVICE, "device", 0, "cx6|cx7", "model: ConnectX-6 or ConnectX-7 (cx6)", 0, 0,
	 devices},
	{CLI_OPT_TOPO, "topo", 0, "SPEC",
	 "the subnet: a file (ibnetdiscover, ibsim), or ring:N, star:N, torus:XxYxZ, "
	 "fat-tree:LEVELS:RADIX, random:NODES:SEED",
	 0, 0, NULL},
	{CLI_OPT_SM, "sm", 0, "builtin|none",
	 "who manages the subnet: softhca itself until another SM comes, or nobody (builtin)", 0, 0,
	 sms},
	{CLI_OPT_DOORBELL, "doorbell", 0, "trap|poll",
	 "how stores to a UAR are noticed: by a fault, or by a thread that watches (trap)", 0, 0,
	 doorbells},
	{CLI_OPT_MEMLOCK, "memlock", 0, "account|enforce",
	 "registered memory: count it only, or also refuse what is beyond RLIMIT_MEMLOCK (account)",
	 0, 0, memlocks},
	{CLI_OPT_HOST, "host", 0, "NAME", "the host (the first)", 0, 0, NULL},
	{CLI_OPT_FABRIC, "fabric", 0, "NAME", "a fabric that is up; else the command's own", 0, 0,
	 NULL},
	{CLI_OPT_JSON, "json", 'j', NULL, "machine-readable", 0, 0, NULL},
	{CLI_OPT_KIND, "in", 0, NULL, "it is the input of a command", 0, 0, NULL},
	{CLI_OPT_KIND, "out", 0, "COMMAND", "it is an output, of this command", 0, 0, NULL,
	 OPTION_ARG_OPTIONAL},
	{CLI_OPT_KIND, "wqe", 0, NULL, "it is one or more work requests", 0, 0, NULL},
	{CLI_OPT_KIND, "cqe", 0, NULL, "it is one or more completions", 0, 0, NULL},
	{CLI_OPT_KIND, "eqe", 0, NULL, "it is an event", 0, 0, NULL},
	{CLI_OPT_KIND, "mad", 0, NULL, "it is one or more MADs", 0, 0, NULL},
	{CLI_OPT_TRACE, "trace", 0, "TOPIC,...",
	 "say on standard error what the command does, as `softhca trace` does", 0, 0, NULL,
	 OPTION_ARG_OPTIONAL},
	{CLI_OPT_OUTPUT, "output", 'o', "FILE", "where it goes (a trace: standard error)", 0, 0,
	 NULL},
	{CLI_OPT_SCRIPT, "script", 's', "FILE", "where the commands are (standard input)", 0, 0,
	 NULL},
	{CLI_OPT_FORMAT, "format", 'o', "ibnetdiscover|dot", "the form (ibnetdiscover)", 0, 0,
	 formats},
	{CLI_OPT_SNAP, "snap", 's', "BYTES",
	 "how much of each packet is kept, from its begin (all)", 1, 65535, NULL},
	{CLI_OPT_LIVE, "live", 0, NULL,
	 "it is read while it is written; without -o to standard output", 0, 0, NULL},
	{CLI_OPT_TOPICS, "topics", 'e', "TOPIC,...",
	 "what is traced: uverbs, fw, doorbell, cqe, event (these), mad, mem, shim, link, all", 0,
	 0, NULL},
};

struct parse {
	const struct cli_verb *verb;
	struct cli_options *o;
	const struct argp *argp;
	bool helped;
	bool said; /* the error has been told already */
};

static int parse_number(const char *s, uint32_t min, uint32_t max, uint32_t *v)
{
	unsigned long n;
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(s, &end, 10);
	if (errno || *end || n < min || n > max)
		return -EINVAL;
	*v = (uint32_t)n;
	return 0;
}

static const struct word *find_word(const struct word *w, const char *s)
{
	for (; w->word; w++)
		if (!strcmp(w->word, s))
			return w;
	return NULL;
}

/* Store a value that has been checked against its row. */
static void store(struct cli_options *o, unsigned int bit, const char *arg, uint32_t n,
		  const struct word *w)
{
	switch (bit) {
	case CLI_OPT_HOSTS:
		o->fab.hosts = n;
		break;
	case CLI_OPT_HCA:
		o->fab.hcas = n;
		break;
	case CLI_OPT_PORTS:
		o->fab.ports = n;
		break;
	case CLI_OPT_DEVICE:
		o->fab.model = (enum hw_model)w->value;
		break;
	case CLI_OPT_TOPO:
		o->topo = arg;
		break;
	case CLI_OPT_SM:
		o->fab.no_sm = (uint32_t)w->value;
		break;
	case CLI_OPT_SCRIPT:
		o->script = arg;
		break;
	case CLI_OPT_FORMAT:
		o->format = w->word;
		break;
	case CLI_OPT_DOORBELL:
		o->doorbell = w->word;
		break;
	case CLI_OPT_MEMLOCK:
		o->memlock = w->word;
		break;
	case CLI_OPT_HOST:
		o->host = arg;
		break;
	case CLI_OPT_FABRIC:
		o->fabric = arg;
		break;
	case CLI_OPT_JSON:
		o->json = true;
		break;
	case CLI_OPT_TRACE:
	case CLI_OPT_TOPICS:
		o->topics = arg;
		break;
	case CLI_OPT_SNAP:
		o->snap = n;
		break;
	case CLI_OPT_LIVE:
		o->live = true;
		break;
	case CLI_OPT_OUTPUT:
		o->output = arg;
		break;
	}
	o->given |= bit;
}

static error_t parse_row(struct parse *p, const struct opt_row *row, const char *arg)
{
	const struct word *w = NULL;
	uint32_t n = 0;

	if (row->words) {
		w = find_word(row->words, arg);
		if (!w)
			cli_fail("%s: --%s: '%s' is not one of %s", p->verb->name, row->name, arg,
				 row->arg);
	} else if (row->max && parse_number(arg, row->min, row->max, &n) < 0) {
		cli_fail("%s: --%s: '%s' is not a number from %u to %u", p->verb->name, row->name,
			 arg, row->min, row->max);
	} else if (row->bit == CLI_OPT_FABRIC && !options_name_ok(arg)) {
		cli_fail("%s: --%s: '%s' cannot be a fabric's name", p->verb->name, row->name, arg);
	} else if (row->bit == CLI_OPT_KIND && p->o->kind) {
		cli_fail("%s: --%s: it is told to be --%s already", p->verb->name, row->name,
			 p->o->kind);
	} else if (row->bit == CLI_OPT_KIND) {
		p->o->kind = row->name;
		p->o->kind_arg = arg;
		return 0;
	} else if (!(row->bit & (CLI_OPT_TRACE | CLI_OPT_TOPICS)) || !arg ||
		   !trace_check_topics(p->verb->name, row->short_key ? "-e" : "--trace", arg)) {
		store(p->o, row->bit, arg, n, w);
		return 0;
	}
	if (w) {
		store(p->o, row->bit, arg, n, w);
		return 0;
	}
	p->said = true;
	return EINVAL;
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case KEY_HELP:
		argp_help(p->argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned int)ARGP_HELP_EXIT_OK,
			  (char *)"softhca");
		p->helped = true;
		return EINVAL;
	case ARGP_KEY_ARG:
		/* The rest is the command's, or there are names only. */
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
			cli_fail(
				"%s: '%s' is not understood or lacks its value (softhca %s --help)",
				p->verb->name, state->argv[state->next > 1 ? state->next - 1 : 1],
				p->verb->name);
		p->said = true;
		return ARGP_ERR_UNKNOWN;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if ((p->verb->takes & rows[i].bit) &&
		    key == (rows[i].short_key ? rows[i].short_key : KEY_FIRST + (int)i))
			return parse_row(p, &rows[i], arg);
	return ARGP_ERR_UNKNOWN;
}

static void describe(const struct cli_verb *v, struct argp_option *out)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (v->takes & rows[i].bit)
			out[n++] = (struct argp_option){
				.name = rows[i].name,
				.key = rows[i].short_key ? rows[i].short_key : KEY_FIRST + (int)i,
				.arg = rows[i].arg,
				.doc = rows[i].doc,
				.flags = rows[i].flags,
			};
	out[n++] = (struct argp_option){.name = "help", .key = KEY_HELP, .doc = "this text"};
	out[n] = (struct argp_option){0};
}

static int check_args(const struct cli_verb *v, const struct cli_options *o)
{
	if (o->argc < v->min_args)
		return cli_fail("%s: %s%s is missing (softhca %s --help)", v->name,
				v->min_args > 1 ? "one of " : "",
				v->max_args < 0 ? "the command" : v->args, v->name);
	if (v->max_args >= 0 && o->argc > v->max_args)
		return cli_fail("%s: '%s' is too much (softhca %s --help)", v->name,
				o->argv[v->max_args], v->name);
	for (int i = 0; v->max_args >= 0 && !v->words && i < o->argc; i++)
		if (!options_name_ok(o->argv[i]))
			return cli_fail("%s: '%s' cannot be a fabric's name", v->name, o->argv[i]);
	if (o->topo && (o->given & CLI_OPT_SIZE))
		return cli_fail("%s: --topo says what there is of hosts, adapters and ports",
				v->name);
	if (o->fabric && (o->given & CLI_OPT_SHAPE))
		return cli_fail("%s: --hca, --ports, --device, --topo and --sm belong to the "
				"making of a fabric; "
				"'%s' is there already",
				v->name, o->fabric);
	return 0;
}

int options_parse(const struct cli_verb *v, int argc, char **argv, struct cli_options *o)
{
	struct argp_option opts[ARRAY_SIZE(rows) + 2];
	char usage[128], doc[256];
	struct argp argp = {.options = opts, .parser = parse_key, .args_doc = usage, .doc = doc};
	struct parse p = {.verb = v, .o = o, .argp = &argp};
	const struct fw_caps *caps;

	*o = (struct cli_options){
		.verb = v->name,
		.fab = {.hosts = 1, .hcas = 1, .ports = 1, .model = HW_CX6},
		.doorbell = doorbells[0].word,
		.memlock = memlocks[0].word,
	};
	describe(v, opts);
	snprintf(usage, sizeof(usage), "%s", v->args);
	snprintf(doc, sizeof(doc), "%s\v", v->summary);
	if (argp_parse(&argp, argc, argv,
		       ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT |
			       (v->max_args < 0 ? ARGP_IN_ORDER : 0),
		       NULL, &p))
		return p.helped ? -1 : CLI_FAILED;
	caps = fw_caps(o->fab.model);
	o->fab.link_speed = caps->link_speed;
	o->fab.device_id = caps->pci_device;
	o->fab.hw_rev = caps->hw_rev;
	o->fab.link_width = caps->link_width;
	o->fab.max_mtu = caps->max_mtu;
	return check_args(v, o);
}

bool options_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= CLI_NAME_MAX && name[0] != '.' && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       n;
}
