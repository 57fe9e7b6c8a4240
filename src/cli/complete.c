/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca --complete WORD...`: completes the last word from the tables of commands and options,
 * and from the fabrics that are up. The scripts of completions/ call it. Failures are silent: a
 * shell that completes has no place for messages.
 */
#include "cli/complete.h"

#include <errno.h>
#include <json-c/json.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "fault/rows.h"
#include "fw/fw.h"
#include "super/program.h"
#include "super/runtime.h"
#include "topo/topo.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "wire/prm/opcodes.h"
#include "world/world.h"

struct line {
	const struct cli_verb *verb;
	const char *cur;    /* the word to be completed */
	const char *prefix; /* this and prefix_len: the part of the word that completion keeps */
	size_t prefix_len;
	const char *fabric;        /* of --fabric, NULL: not given */
	const char *host;          /* of --host, the same */
	unsigned int placed;       /* number of arguments before the word */
	bool ended;                /* behind "--" */
	struct cli_option pending; /* the word is the value of this option, if it has a name */
};

static void offer(const struct line *l, const char *text, size_t n, const char *meaning)
{
	size_t typed = strlen(l->cur);

	if (typed <= n && !strncmp(text, l->cur, typed))
		printf("%.*s%.*s\t%s\n", (int)l->prefix_len, l->prefix, (int)n, text, meaning);
}

static void offer_word(const struct line *l, const char *text, const char *meaning)
{
	offer(l, text, strlen(text), meaning);
}

/* ---- values, by the name that the usage text gives them */

static int offer_fabric(void *arg, const char *name)
{
	offer_word(arg, name, "fabric");
	return 0;
}

static void values_fabric(struct line *l)
{
	struct runtime rt;

	/* The name of `up` is a new one. */
	if (l->verb->bit == CLI_UP || runtime_open(&rt, false))
		return;
	runtime_for_each(&rt, offer_fabric, l);
	runtime_close(&rt);
}

/* The fabric's status, as `softhca status -j` prints it, or NULL. */
static struct json_object *fabric_status(const struct line *l)
{
	const struct cli_options o = {.fabric = l->fabric};
	struct link_msg m = {.op = LINK_STATUS};
	struct json_object *status = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	int sock = client_connect(&o, "complete");

	if (sock == PROG_FAILED)
		return NULL;
	if (!client_request(sock, &m, &fd) && fd >= 0 && !fstat(fd, &st)) {
		text = calloc(1, (size_t)st.st_size + 1);
		if (text && pread(fd, text, (size_t)st.st_size, 0) == st.st_size)
			status = json_tokener_parse(text);
	}
	close(sock);
	return status;
}

static struct json_object *member(struct json_object *o, const char *name)
{
	return json_object_object_get(o, name);
}

static size_t members(struct json_object *list)
{
	return list ? json_object_array_length(list) : 0;
}

/* Offers what `each` finds in the host of the line, or in every host. */
static void values_of_hosts(struct line *l, bool all,
			    void (*each)(struct line *l, struct json_object *host))
{
	struct json_object *status = fabric_status(l), *hosts = member(status, "hosts"), *host;
	const char *name;

	for (size_t i = 0; i < members(hosts); i++) {
		host = json_object_array_get_idx(hosts, i);
		name = json_object_get_string(member(host, "name"));
		if (!all && name && (l->host ? strcmp(l->host, name) != 0 : i > 0))
			continue;
		each(l, host);
	}
	json_object_put(status);
}

static void offer_host(struct line *l, struct json_object *host)
{
	const char *name = json_object_get_string(member(host, "name"));

	if (name)
		offer_word(l, name, "host");
}

static void values_host(struct line *l)
{
	values_of_hosts(l, true, offer_host);
}

static void offer_hcas(struct line *l, struct json_object *host)
{
	struct json_object *hcas = member(host, "hcas");
	const char *name;

	for (size_t i = 0; i < members(hcas); i++) {
		name = json_object_get_string(member(json_object_array_get_idx(hcas, i), "name"));
		if (name)
			offer_word(l, name, "adapter");
	}
}

static void values_hca(struct line *l)
{
	values_of_hosts(l, false, offer_hcas);
}

static void offer_ports(struct line *l, struct json_object *host)
{
	struct json_object *hcas = member(host, "hcas");
	size_t n = members(hcas) ? members(member(json_object_array_get_idx(hcas, 0), "ports")) : 0;
	char text[8];

	for (size_t i = 1; i <= n; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		offer_word(l, text, "port");
	}
}

static void values_port(struct line *l)
{
	values_of_hosts(l, false, offer_ports);
}

static void values_file(struct line *l)
{
	printf(":files\n");
}

static void values_topology(struct line *l)
{
	const char *name, *form, *last = "";
	char text[32];

	for (size_t i = 0; (name = topo_generator(i, &form)) != NULL; last = name, i++) {
		if (!strcmp(name, last)) /* the same name, listed again with other arguments */
			continue;
		snprintf(text, sizeof(text), "%s:", name);
		offer_word(l, text, form);
	}
	values_file(l);
}

/* Completion keeps the first n characters of the word. */
static void keep_prefix(struct line *l, size_t n)
{
	l->prefix_len += n;
	l->cur += n;
}

/* Of a list, completion keeps the items before the last comma. */
static void keep_items(struct line *l)
{
	const char *comma = strrchr(l->cur, ',');

	if (comma)
		keep_prefix(l, (size_t)(comma + 1 - l->cur));
}

static void offer_command(void *ctx, const char *name)
{
	offer_word(ctx, name, "command");
}

static void values_topics(struct line *l)
{
	bool names = l->verb->bit == CLI_TRACE && !strncmp(l->cur, "cmd=", 4);
	const char *name;

	if (names)
		keep_prefix(l, 4);
	if (l->verb->bit == CLI_TRACE && *l->cur == '!')
		keep_prefix(l, 1);
	keep_items(l);
	if (names) {
		trace_expr_names(offer_command, l);
		return;
	}
	for (unsigned int bit = 0; bit < 30; bit++) {
		name = log_topic_name(1u << bit);
		if (*name != '?')
			offer_word(l, name, "topic");
	}
	offer_word(l, "all", "every topic");
	if (l->verb->bit == CLI_TRACE && l->cur == l->prefix)
		offer_word(l, "cmd=", "names of commands and methods");
}

static void values_opcode(struct line *l)
{
	uint16_t op;

	for (size_t n = 0; prm_opcode_at(n, &op); n++)
		offer_word(l, fw_opcode_name(op), "command");
}

static void values_uid(struct line *l)
{
	const struct passwd *p;
	char uid[16];

	keep_items(l);
	for (setpwent(); (p = getpwent());) {
		snprintf(uid, sizeof(uid), "%u", (unsigned int)p->pw_uid);
		offer_word(l, uid, p->pw_name);
	}
	endpwent();
}

static void values_world(struct line *l)
{
	keep_items(l);
	for (size_t i = 0; world_row(i); i++)
		offer_word(l, world_row(i)->name, world_row(i)->what);
}

/* The places where a fault may happen. */
static void values_rule(struct line *l)
{
	for (size_t i = 0; i < fault_nwheres; i++) {
		const struct fault_where *w = &fault_wheres[i];

		if (!w->names)
			offer_word(l, w->name, "place");
		for (const struct fault_name *n = w->names; n && n->name; n++)
			offer_word(l, n->name, "call");
	}
}

static const struct {
	const char *name;
	void (*values)(struct line *l);
} kinds[] = {
	{"FABRIC", values_fabric}, {"NAME", values_fabric},  {"HOST", values_host},
	{"HCA", values_hca},       {"PORT", values_port},    {"FILE", values_file},
	{"SPEC", values_topology}, {"TOPIC", values_topics}, {"COMMAND", values_opcode},
	{"UID", values_uid},       {"WORLD", values_world},  {"GLOB", values_world},
	{"RULE", values_rule},
};

/*
 * `kind` is "FILE", "TOPIC,...", "up|down" or the like. Other kinds are numbers and texts.
 */
static void values(struct line *l, const char *kind, size_t n)
{
	size_t len = strcspn(kind, ",");

	if (len > n)
		len = n;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == len && !strncmp(kinds[i].name, kind, len)) {
			kinds[i].values(l);
			return;
		}
	if (!memchr(kind, '|', n))
		return;
	for (const char *end = kind + n; kind < end; kind += len + 1) {
		len = strcspn(kind, "| ]");
		if (len == 4 && !strncmp(kind, "FILE", len))
			values_file(l);
		else if (len != 1 || *kind != 'N')
			offer(l, kind, len, "");
	}
}

/* ---- where the word stands */

/* The option of this name, or of which it is the only beginning. */
static bool find_long(const struct cli_verb *v, const char *name, size_t n, struct cli_option *out)
{
	unsigned int found = 0;
	struct cli_option o;

	for (size_t i = 0; options_next(v->bit, &i, &o);)
		if (!strncmp(o.name, name, n)) {
			*out = o;
			if (!o.name[n])
				return true;
			found++;
		}
	return found == 1;
}

static bool find_short(const struct cli_verb *v, char key, struct cli_option *out)
{
	for (size_t i = 0; options_next(v->bit, &i, out);)
		if (out->short_key == key)
			return true;
	return false;
}

static void keep(struct line *l, const struct cli_option *o, const char *value)
{
	if (!strcmp(o->name, "fabric"))
		l->fabric = value;
	if (!strcmp(o->name, "host"))
		l->host = value;
}

/* An option before the word. If its value follows, l->pending becomes the option. */
static void pass_option(struct line *l, const char *word)
{
	size_t n = strcspn(word, "=");
	struct cli_option o;

	if (word[1] == '-') {
		if (!find_long(l->verb, word + 2, n - 2, &o))
			return;
		if (word[n])
			keep(l, &o, word + n + 1);
		else if (o.value)
			l->pending = o;
		return;
	}
	for (const char *c = word + 1; *c && find_short(l->verb, *c, &o); c++)
		if (o.arg) {
			if (!c[1] && o.value)
				l->pending = o;
			return;
		}
}

/* The words before the last one. Returns where another command begins, or -1. */
static int pass_words(struct line *l, int n, char **words)
{
	for (int i = 1; i < n - 1; i++) {
		if (l->pending.name) {
			keep(l, &l->pending, words[i]);
			l->pending.name = NULL;
		} else if (!l->ended && !strcmp(words[i], "--")) {
			l->ended = true;
			if (l->verb->max_args < 0)
				return i + 1;
		} else if (!l->ended && words[i][0] == '-' && words[i][1]) {
			pass_option(l, words[i]);
		} else if (l->verb->max_args < 0) {
			return i;
		} else {
			l->placed++;
		}
	}
	return -1;
}

static void offer_options(struct line *l)
{
	struct cli_option o;
	char text[64];

	for (size_t i = 0; options_next(l->verb->bit, &i, &o);) {
		snprintf(text, sizeof(text), "--%s", o.name);
		offer_word(l, text, o.doc);
	}
}

/* The word is "--NAME=VALUE". */
static void offer_joined_value(struct line *l, const char *equals)
{
	struct cli_option o;

	if (!find_long(l->verb, l->cur + 2, (size_t)(equals - l->cur) - 2, &o) || !o.arg)
		return;
	l->prefix_len = (size_t)(equals + 1 - l->cur);
	l->cur = equals + 1;
	values(l, o.arg, strlen(o.arg));
}

/* The argument of the command at this place, by the usage text: "HCA PORT up|down". */
static void offer_argument(struct line *l)
{
	const char *kind = l->verb->args;
	unsigned int place = l->placed;

	for (size_t n; *kind; kind += n) {
		kind += strspn(kind, " [");
		n = strcspn(kind, " ].");
		if (!place--) {
			values(l, kind, n);
			return;
		}
		n += strspn(kind + n, " ].");
	}
}

static void complete_line(struct line *l, int n, char **words)
{
	const char *equals = strchr(l->cur, '=');
	int command = pass_words(l, n, words);

	if (command >= 0)
		printf(":command %d\n", command);
	else if (l->pending.name)
		values(l, l->pending.arg, strlen(l->pending.arg));
	else if (!l->ended && l->cur[0] == '-' && equals && l->cur[1] == '-')
		offer_joined_value(l, equals);
	else if (!l->ended && l->cur[0] == '-')
		offer_options(l);
	else if (l->verb->max_args < 0)
		printf(":command %d\n", n - 1);
	else
		offer_argument(l);
}

int complete(int n, char **words)
{
	const char *cur = n ? words[n - 1] : "";
	struct line l = {.cur = cur, .prefix = cur};
	const struct cli_verb *v;

	if (!freopen("/dev/null", "w", stderr))
		return PROG_FAILED;
	if (n > 1)
		l.verb = cli_verb_of(n - 1, words);
	if (l.verb) {
		complete_line(&l, n, words);
	} else if (n < 2 || (n == 2 && !strcmp(words[0], "help"))) {
		for (size_t i = 0; (v = cli_verb(i)) != NULL; i++)
			if (!v->mode)
				offer_word(&l, v->name, v->summary);
		if (n < 2)
			offer_word(&l, "help", "Print the options of a command.");
		if (n < 2 && *cur == '-') {
			offer_word(&l, "--help", "");
			offer_word(&l, "--version", "");
		}
	}
	return fflush(stdout) ? PROG_FAILED : 0;
}
