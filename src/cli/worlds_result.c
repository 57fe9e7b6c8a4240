/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns what became of a command in a world, and how it is written: table, JSON, JUnit's XML. */
#include "cli/worlds.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/fabrics.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/utf8.h"

#define OWN "softhca: run: " /* its own lines begin so */

static const struct {
	const char *name, *says;
} results[WORLDS_RESULTS] = {
	[WORLDS_PASSED] = {"passed", "passed"},
	[WORLDS_UNUSED] = {"unused", "never used the adapter"},
	[WORLDS_SKIPPED] = {"skipped", "skipped"},
	[WORLDS_FAILED] = {"failed", "failed"},
	[WORLDS_HUNG] = {"hung", "hung"},
};

const char *worlds_name(const struct worlds_run *w)
{
	return w->row ? w->row->name : WORLDS_DEFAULT;
}

/* ---- what became of it */

/* Programs print what they like, and JSON and XML hold characters only. */
static void clean(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		size_t n = c < 0x80 ? 0 : utf8_len(text + i, len - i);

		/* XML has no U+FFFE and U+FFFF */
		if (n == 3 && !memcmp(text + i, "\xef\xbf", 2) &&
		    (unsigned char)text[i + 2] >= 0xbe)
			n = 0;
		if (n)
			i += n - 1;
		else if (c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
			text[i] = c == '\r' ? '\n' : '?';
	}
}

/* Reads the lines from the last one: the command's, and softhca's own. */
static void last_lines(struct worlds_run *w)
{
	size_t end = w->len;

	while (end && (!w->last || !w->said)) {
		size_t at = end;
		char **to;

		while (at && w->text[at - 1] != '\n')
			at--;
		to = end - at >= sizeof(OWN) - 1 && !memcmp(w->text + at, OWN, sizeof(OWN) - 1)
			     ? &w->said
			     : &w->last;
		while (at < end && strchr(" \t", w->text[at]))
			at++;
		if (!*to && at < end)
			*to = strndup(w->text + at, end - at);
		while (at && w->text[at - 1] != '\n')
			at--;
		end = at ? at - 1 : 0;
	}
}

static struct json_object *read_report(int fd)
{
	struct json_object *o = NULL;
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) < 0 || !st.st_size)
		return NULL;
	text = calloc(1, (size_t)st.st_size + 1);
	if (text && pread(fd, text, (size_t)st.st_size, 0) == st.st_size)
		o = json_tokener_parse(text);
	free(text);
	return o;
}

static bool is_true(struct json_object *o, const char *key)
{
	return json_object_get_boolean(json_object_object_get(o, key));
}

static const char *known_cause(const struct worlds_run *w)
{
	struct json_object *list = json_object_object_get(w->known, "causes"), *first;

	if (list && json_object_array_length(list)) {
		first = json_object_array_get_idx(list, 0);
		return fabric_str(first, "cause");
	}
	if (w->said && w->result == WORLDS_FAILED)
		return w->said + sizeof(OWN) - 1;
	return w->known && !is_true(w->known, "opened") ? "no adapter was opened" : NULL;
}

void worlds_judge(struct worlds_run *w)
{
	struct json_object *n;

	w->status = -1;
	clean(w->text, w->len);
	last_lines(w);
	if (*w->unfit) {
		w->result = WORLDS_SKIPPED;
		return;
	}
	w->known = read_report(w->report);
	if (w->known && json_object_object_get_ex(w->known, "status", &n))
		w->status = json_object_get_int(n);
	else if (w->known && json_object_object_get_ex(w->known, "signal", &n))
		w->signal = json_object_get_int(n);
	else if (WIFEXITED(w->waited))
		w->status = WEXITSTATUS(w->waited);
	else
		w->signal = WTERMSIG(w->waited);
	if (w->known && is_true(w->known, "timed_out")) {
		w->result = WORLDS_HUNG;
		w->status = -1;
	} else if (w->known && w->status == WORLDS_SKIP) {
		w->result = WORLDS_SKIPPED;
	} else if (!w->known || w->signal || w->status) {
		w->result = WORLDS_FAILED;
	} else {
		/* --require-traffic and others: run has a status of its own */
		w->status = WIFEXITED(w->waited) ? WEXITSTATUS(w->waited) : w->status;
		w->result = w->status                     ? WORLDS_FAILED
			    : is_true(w->known, "opened") ? WORLDS_PASSED
							  : WORLDS_UNUSED;
	}
	if (worlds_bad(w))
		w->cause = known_cause(w);
}

static uint64_t millis(const struct worlds_run *w)
{
	return (w->ended - w->began) / NSEC_PER_MSEC;
}

/* What is told behind the result; "" for one that needs no words. */
static void put_detail(const struct worlds_run *w, char *text, size_t size)
{
	const char *last = w->last ? w->last : "it has printed nothing";
	struct json_object *stood = json_object_object_get(w->known, "stood");
	const char *pair = w->known ? fabric_str(w->known, "pair") : "";

	*text = 0;
	if (*pair && worlds_bad(w)) {
		snprintf(text, size, "%s: ", pair);
		text += strlen(text);
		size -= strlen(pair) + 2;
	}
	if (*w->unfit) {
		const char *needs = strstr(w->unfit, " needs ");

		snprintf(text, size, "%s", needs ? needs + 1 : w->unfit);
	} else if (w->result == WORLDS_SKIPPED) {
		snprintf(text, size, "%s", last);
	} else if (w->result == WORLDS_FAILED && !w->known) {
		snprintf(text, size, "softhca run ended with %s %d",
			 w->signal ? "signal" : "exit status", w->signal ? w->signal : w->status);
	} else if (w->result == WORLDS_FAILED && *pair) {
		snprintf(text, size, "%s", last);
	} else if (w->result == WORLDS_FAILED && w->signal) {
		snprintf(text, size, "signal %d (SIG%s): %s", w->signal,
			 sigabbrev_np(w->signal) ? sigabbrev_np(w->signal) : "?", last);
	} else if (w->result == WORLDS_FAILED) {
		snprintf(text, size, "exit status %d: %s", w->status, last);
	} else if (w->result == WORLDS_HUNG) {
		snprintf(text, size, "after %llu s: %s", (unsigned long long)(millis(w) / 1000),
			 stood && json_object_array_length(stood)
				 ? json_object_get_string(json_object_array_get_idx(stood, 0))
				 : last);
	}
}

/* ---- the table */

void worlds_print(const struct worlds_run *w, int width, bool verbose)
{
	struct json_object *stood = json_object_object_get(w->known, "stood");
	char detail[2048];

	put_detail(w, detail, sizeof(detail));
	printf("%-*s  %s%s%s\n", width, worlds_name(w), results[w->result].says,
	       *detail ? ": " : "", detail);
	for (size_t i = 1; stood && i < json_object_array_length(stood); i++)
		printf("%*s  stood: %s\n", width, "",
		       json_object_get_string(json_object_array_get_idx(stood, i)));
	if (w->result == WORLDS_HUNG && w->last)
		printf("%*s  last line: %s\n", width, "", w->last);
	if (w->cause)
		printf("%*s  cause: %s\n", width, "", w->cause);
	if (worlds_blamed(w))
		printf("%*s  world: %s. %s\n", width, "", w->row->what, w->row->why);
	if (verbose && w->len) {
		if (w->cut)
			printf("    [the beginning is left out]\n");
		for (size_t at = 0, n; at < w->len; at += n + 1) {
			n = (size_t)(strchrnul(w->text + at, '\n') - (w->text + at));
			printf("    %.*s\n", (int)n, w->text + at);
		}
	}
}

void worlds_print_sum(const struct worlds_run *w, size_t n)
{
	size_t of[WORLDS_RESULTS] = {0};
	const char *sep = ":";

	for (size_t i = 0; i < n; i++)
		of[w[i].result]++;
	printf("\n%zu runs", n);
	for (int r = 0; r < WORLDS_RESULTS; r++) {
		if (!of[r])
			continue;
		printf("%s %zu %s", sep, of[r], results[r].says);
		sep = ",";
	}
	printf("\n");
	if (n > 1 && w[1].usual_bad)
		printf("The usual host (" WORLDS_DEFAULT
		       ") fails as well: its failure comes first, and no world is blamed.\n");
	if (of[WORLDS_FAILED] + of[WORLDS_HUNG])
		printf("One of them alone, with a trace: softhca run --world NAME --trace -- "
		       "CMD\n");
}

/* ---- files */

static FILE *open_out(const char *file)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "we") : stdout;

	if (!f)
		prog_fail("cannot write %s: %s", file, strerror(errno));
	return f;
}

static int close_out(const char *file, FILE *f)
{
	bool bad = fflush(f) || ferror(f);
	int err = errno;

	if (f != stdout)
		bad = fclose(f) || bad;
	return bad ? prog_fail("cannot write %s: %s", file, strerror(err)) : 0;
}

static void add_text(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, v ? json_object_new_string(v) : NULL);
}

static struct json_object *share(struct json_object *known, const char *key)
{
	struct json_object *v = json_object_object_get(known, key);

	return v ? json_object_get(v) : json_object_new_array();
}

static struct json_object *run_json(const struct worlds_run *w, bool output)
{
	struct json_object *o = json_object_new_object();
	char detail[2048];

	put_detail(w, detail, sizeof(detail));
	add_text(o, "world", worlds_name(w));
	add_text(o, "group", w->row ? w->row->group : NULL);
	add_text(o, "result", results[w->result].name);
	add_text(o, "detail", detail);
	json_object_object_add(o, "status", w->status < 0 ? NULL : json_object_new_int(w->status));
	json_object_object_add(o, "signal", w->signal ? json_object_new_int(w->signal) : NULL);
	json_object_object_add(o, "seconds", json_object_new_double((double)millis(w) / 1000));
	add_text(o, "last_line", w->last);
	add_text(o, "cause", w->cause);
	json_object_object_add(o, "causes", share(w->known, "causes"));
	json_object_object_add(o, "stood", share(w->known, "stood"));
	add_text(o, "hint", worlds_blamed(w) ? w->row->why : NULL);
	if (output)
		add_text(o, "output", w->text ? w->text : "");
	return o;
}

int worlds_write_json(const char *file, const struct worlds_run *w, size_t n, bool output)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	FILE *f = open_out(file);

	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, run_json(&w[i], output));
	json_object_object_add(o, "worlds", list);
	if (f)
		fprintf(f, "%s\n",
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return f ? close_out(file, f) : PROG_FAILED;
}

/* Text of an element or attribute; clean() has removed what XML cannot hold. */
static void put_xml(FILE *f, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\n':
			fputs("&#10;", f);
			break;
		default:
			fputc(*text, f);
		}
	}
}

static void put_attr(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	put_xml(f, value);
	fputc('"', f);
}

static void put_case(FILE *f, const struct worlds_run *w)
{
	char detail[2048];

	put_detail(w, detail, sizeof(detail));
	fputs("    <testcase", f);
	put_attr(f, "classname", w->row ? w->row->group : WORLDS_DEFAULT);
	put_attr(f, "name", worlds_name(w));
	fprintf(f, " time=\"%.3f\">\n", (double)millis(w) / 1000);
	if (w->result == WORLDS_SKIPPED) {
		fputs("      <skipped", f);
		put_attr(f, "message", detail);
		fputs("/>\n", f);
	} else if (worlds_bad(w)) {
		fputs("      <failure", f);
		put_attr(f, "type", results[w->result].name);
		put_attr(f, "message", detail);
		fputs(">", f);
		if (w->cause)
			put_xml(f, w->cause);
		if (worlds_blamed(w)) {
			fputs(w->cause ? "\n" : "", f);
			put_xml(f, w->row->why);
		}
		fputs("</failure>\n", f);
	}
	if (w->len) {
		fputs("      <system-out>", f);
		put_xml(f, w->text);
		fputs("</system-out>\n", f);
	}
	fputs("    </testcase>\n", f);
}

int worlds_write_junit(const char *file, const struct cli_options *o, const struct worlds_run *w,
		       size_t n)
{
	size_t failed = 0, skipped = 0;
	uint64_t ms = 0;
	FILE *f = open_out(file);

	if (!f)
		return PROG_FAILED;
	for (size_t i = 0; i < n; i++) {
		failed += worlds_bad(&w[i]);
		skipped += w[i].result == WORLDS_SKIPPED;
		ms += millis(&w[i]);
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite", f);
	put_attr(f, "name", "softhca world");
	fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n",
		n, failed, skipped, (double)ms / 1000);
	fputs("    <properties>\n      <property name=\"command\" value=\"", f);
	for (int i = 0; i < o->argc; i++) {
		char *word = strdup(o->argv[i]);

		fputs(i ? " " : "", f);
		if (word) {
			clean(word, strlen(word));
			put_xml(f, word);
		}
		free(word);
	}
	fputs("\"/>\n    </properties>\n", f);
	for (size_t i = 0; i < n; i++)
		put_case(f, &w[i]);
	fputs("  </testsuite>\n</testsuites>\n", f);
	return close_out(file, f);
}
