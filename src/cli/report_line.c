/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Removes from a line what loggers put before a message: time stamps, host names, ranks, quotes of
 * mails, colours; takes the message out of JSON. decode.c calls it.
 */
#include "cli/report.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "util/cleanup.h"

#define PREFIXES 24 /* of one line */

enum { AFTER_DATE = 1, IS_DATE = 2, KEEP = 4 };

/* A row is removed at the start of the text; with KEEP only what stands before its group. */
static const struct prefix {
	const char *first; /* characters that it may begin with; NULL: any letter or digit */
	const char *pattern;
	unsigned int flags;
} prefixes[] = {
	/* quotes of mails; docker compose */
	{">", "^(> ?)+ *", 0},
	{NULL, "^[A-Za-z0-9_./-]+ +[|] ", 0},
	/* gh run view --log: job, step */
	{NULL, "^[^\t]*\t[^\t]*\t([0-9]{4}-)", KEEP},
	/* ISO 8601; also with blanks, slashes, zone, brackets */
	{"[(0123456789",
	 "^[[(]?[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}[T _][0-9]{1,2}:[0-9]{2}:[0-9]{2}([.,:][0-9]+)? "
	 "?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?[])]?[:,]?[ \t]*",
	 IS_DATE},
	{"s", "^std(out|err) [FP] ", 0},
	{"#", "^##\\[[a-z]+\\]", 0},
	/* syslog, journalctl, mpirun --timestamp-output, dmesg -T */
	{NULL,
	 "^([A-Z][a-z]{2},? +)?[A-Z][a-z]{2} +[0-9]{1,2} +[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?"
	 "( [A-Z]{3,4})?( [0-9]{4})?:? *",
	 IS_DATE},
	{"[",
	 "^\\[([A-Z][a-z]{2},? +)?[A-Z][a-z]{2} +[0-9]{1,2} +[0-9]{2}:[0-9]{2}:[0-9]{2}"
	 "([.,][0-9]+)?( [0-9]{4})?\\] *",
	 0},
	{NULL, "^[A-Za-z0-9_.-]+ [A-Za-z0-9_./@-]+(\\[[0-9]+\\])?: ", AFTER_DATE},
	{"k", "^kernel: ", 0},
	/* a clock alone: Jenkins, Buildkite */
	{"[0123456789", "^\\[?[0-9]{1,2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?\\]?:?[ \t]+", IS_DATE},
	/* the kernel's prefixes: level, seconds, differences, CPU or thread; dmesg -x; kmsg */
	{"<", "^<[0-9]{1,3}>", 0},
	{"[", "^\\[[ +<]*[0-9]+[.][0-9]+[> ]*\\] *", 0},
	{"[", "^\\[ *[TC][0-9]+\\] *", 0},
	{"kuds", "^(kern|user|daemon|syslog) *: *[a-z]+ *: *", 0},
	{"0123456789", "^[0-9]+,[0-9]+,[0-9]+,[-a-z]+;", 0},
	/* ranks: Open MPI, Intel MPI, PyTorch, own ones */
	{"[", "^\\[[0-9]+,[0-9]+\\](<std(out|err|diag)(:[^>]*)?>)?:? *", 0},
	{"[(rR", "^[[(]?[Rr]ank[ =:]?[0-9]+[])]?:? *", 0},
	{"[", "^\\[[a-z]*[0-9]+\\]:? +", 0},
	/* UCX and NCCL: host, process, thread; file and line; glog */
	{"[", "^\\[[A-Za-z0-9_.-]+(:[0-9 ]+)+\\] +", 0},
	{NULL, "^[A-Za-z0-9_.-]+:[0-9]+:[0-9]+ \\[[0-9]+\\] *", 0},
	{"IWEF", "^[IWEF][0-9]{4}([0-9]{4})? +[0-9:.]+ +[0-9]+ [A-Za-z_0-9./]+:[0-9]+\\] *", 0},
	{NULL, "^[a-z_0-9/]+[.](c|cc|cpp|cu|h):[0-9]+ +", 0},
	/* srun -l; but "0010: 00" may be an offset of a dump */
	{"0123456789", "^[0-9]{1,5}: +([^0-9a-fA-F ]|[0-9a-fA-F][^0-9a-fA-F: ])", KEEP},
	/* pdsh */
	{NULL, "^[A-Za-z][A-Za-z0-9.-]*[0-9]: ", 0},
};

struct report_reader {
	regex_t prefix[ARRAY_SIZE(prefixes)];
};

struct report_reader *report_reader_create(void)
{
	struct report_reader *r = calloc(1, sizeof(*r));

	for (size_t i = 0; r && i < ARRAY_SIZE(prefixes); i++)
		if (regcomp(&r->prefix[i], prefixes[i].pattern, REG_EXTENDED))
			abort(); /* LCOV_EXCL_LINE a pattern above is wrong */
	return r;
}

void report_reader_destroy(struct report_reader *r)
{
	for (size_t i = 0; r && i < ARRAY_SIZE(prefixes); i++)
		regfree(&r->prefix[i]);
	free(r);
}

/* "ibv_reg_mr failed: " and "ERR 3113: " are the message itself, not a host and its unit. */
static bool is_message(const char *prefix, size_t n)
{
	static const char *const ends[] = {" failed: ", " error: "};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t len = strlen(ends[i]);

		if (n >= len && !strncasecmp(prefix + n - len, ends[i], len))
			return true;
	}
	return !strncmp(prefix, "ERR ", 4);
}

/* Removes one prefix. `date`: a date was removed before. */
static bool strip_one(const struct report_reader *r, char **text, bool *date)
{
	regmatch_t m[2];
	char *start = *text + strspn(*text, " \t");
	char c = *start;

	if (!c)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		const struct prefix *p = &prefixes[i];

		if ((p->flags & AFTER_DATE) && !*date)
			continue;
		if (p->first ? !strchr(p->first, c) : !isalnum((unsigned char)c))
			continue;
		if (regexec(&r->prefix[i], start, 2, m, 0) || !m[0].rm_eo)
			continue;
		if (p->flags & AFTER_DATE && is_message(start, (size_t)m[0].rm_eo))
			continue;
		*text = start + (p->flags & KEEP ? m[1].rm_so : m[0].rm_eo);
		*date = p->flags & IS_DATE;
		return true;
	}
	return false;
}

/* ---- characters */

/* In quoted-printable each '=' begins two digits or ends the line: "dlid=206 sl=0" is not. */
static bool is_quoted(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (const char *s = text; (s = strchr(s, '=')); s++)
		if (s[1] && s[1] != '\r' &&
		    (!strchr(digits, s[1]) || !s[2] || !strchr(digits, s[2])))
			return false;
	return true;
}

/* Colours, UTF-8 of a multiplication sign and of a hard space, carriage returns; =20 and =0A= of
 * mails. */
static void clean(char *text)
{
	bool quoted = is_quoted(text);
	char *to = text;

	for (const char *s = text; *s;) {
		if (s[0] == '\033' && s[1] == '[') {
			s += 2 + strspn(s + 2, "0123456789;?");
			s += *s != '\0';
		} else if (!strncmp(s, "\xc3\x97", 2)) {
			*to++ = 'x';
			s += 2;
		} else if (!strncmp(s, "\xc2\xa0", 2)) {
			*to++ = ' ';
			s += 2;
		} else if (!strncmp(s, "=0A=", 4) && !s[4]) {
			s += 4;
		} else if (!strncmp(s, "=0A", 3) ||
			   (quoted && (!strncmp(s, "=20", 3) || !strncmp(s, "=09", 3)))) {
			*to++ = ' ';
			s += 3;
		} else if (!strncmp(s, "=3D", 3)) {
			*to++ = '=';
			s += 3;
		} else if (*s == '\r') {
			s++;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

bool report_soft_break(const char *text)
{
	size_t n = strlen(text);

	/* Mails break lines of more than 76 characters; "a =" at the end of code is shorter. */
	return n >= 40 && text[n - 1] == '=' && text[n - 2] != '=';
}

const char *report_skip_rank(const char *text)
{
	const char *start = text + strspn(text, " \t");
	size_t n = strspn(start, "0123456789");

	return n && n < 7 && start[n] == ':' && start[n + 1] == ' ' ? start + n + 2 : text;
}

/* ---- JSON */

static unsigned int json_hex4(const char *s)
{
	unsigned int v = 0;

	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)s[i]))
			return '?';
		v = v * 16 + (unsigned int)(isdigit((unsigned char)s[i])
						    ? s[i] - '0'
						    : tolower((unsigned char)s[i]) - 'a' + 10);
	}
	return v;
}

/* Unescapes a string in place, from behind its opening quote to the closing one. */
static void json_string(char *s)
{
	char *to = s;

	for (; *s && *s != '"'; s++) {
		if (*s != '\\') {
			*to++ = *s;
			continue;
		}
		s++;
		if (!*s)
			break;
		if (*s == 'n' || *s == 'r') {
			*to++ = '\n';
		} else if (*s == 't') {
			*to++ = '\t';
		} else if (*s == 'u' && strlen(s) > 4) {
			unsigned int v = json_hex4(s + 1);

			*to++ = v == 0xd7       ? 'x'
				: v == 0x1b     ? '\033'
				: v && v < 0x7f ? (char)v
						: '?';
			s += 4;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* The message of a JSON log line, or NULL. */
static char *json_message(char *text)
{
	static const char *const keys[] = {"\"message\"", "\"MESSAGE\"", "\"msg\"",  "\"log\"",
					   "\"text\"",    "\"line\"",    "\"event\""};

	if (*text != '{')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char *s = strstr(text, keys[i]);

		if (!s)
			continue;
		s += strlen(keys[i]);
		s += strspn(s, " \t:");
		if (*s != '"')
			continue;
		json_string(s + 1);
		return s + 1;
	}
	return NULL;
}

static void one(const struct report_reader *r, char *text, bool prefixed, report_message *message,
		void *ctx)
{
	bool date = false;

	clean(text);
	for (int i = 0; i < PREFIXES && strip_one(r, &text, &date); i++)
		prefixed = true;
	message(ctx, text, prefixed);
}

void report_line(struct report_reader *r, char *line, report_message *message, void *ctx)
{
	bool date = false, prefixed = false;
	char *json;

	line[strcspn(line, "\r\n")] = '\0';
	for (int i = 0; i < PREFIXES && strip_one(r, &line, &date); i++)
		prefixed = true;
	json = json_message(line);
	if (!json) {
		one(r, line, prefixed, message, ctx);
		return;
	}
	for (char *next; json; json = next) {
		next = strchr(json, '\n');
		if (next)
			*next++ = '\0';
		if (*json)
			one(r, json, true, message, ctx);
	}
}
