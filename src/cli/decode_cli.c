/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca decode`: its files and what it says at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/decode.h"
#include "cli/report.h"
#include "fw/fw.h"
#include "super/program.h"
#include "wire/prm/opcodes.h"
#include "util/num.h"

static int opcode_option(const char *arg, uint16_t *opcode)
{
	const char *end;
	uint64_t n = num_in_base(arg, 0, &end);

	if (*arg && !*end && n <= UINT16_MAX) {
		*opcode = (uint16_t)n;
		return 0;
	}
	for (size_t i = 0; prm_opcode_at(i, opcode); i++)
		if (!strcasecmp(fw_opcode_name(*opcode), arg))
			return 0;
	return prog_fail("decode: --out: '%s' is not a command", arg);
}

static int one_file(const struct cli_options *o, struct decode *d, const char *name)
{
	bool input = !strcmp(name, "-");
	FILE *f = input ? stdin : fopen(name, "re");
	int r;

	if (!f)
		return prog_fail("decode: %s: %s", name, strerror(errno));
	r = decode_read(d, f, o->argc > 1 ? name : NULL);
	if (!input)
		fclose(f);
	if (r)
		return prog_fail("decode: %s: %s", input ? "standard input" : name, strerror(-r));
	return 0;
}

/* Reports that nothing was decoded, or that the bytes do not fit the kind that an option names. */
static int say_unknown(const struct cli_options *o, const struct decode *d)
{
	const char *like = decode_looks_like(d);
	unsigned int line;
	size_t bytes;

	if (!decode_unknown(d, &bytes, &line))
		prog_fail("decode: nothing here that I know: %s",
			  like ? like : "found no error or dump in a known form");
	else if (o->kind)
		prog_fail("decode: the %zu bytes at line %u are too few, or are no such thing",
			  bytes, line);
	else
		prog_fail(
			"decode: nothing here that I know: %s%sthe %zu bytes at line %u are of no "
			"known kind: choose --in, --out, --wqe, --cqe, --eqe or --mad",
			like ? like : "", like ? ", and " : "", bytes, line);
	return CLI_UNKNOWN;
}

static int all_files(const struct cli_options *o, struct decode *d)
{
	unsigned int line;
	size_t bytes;
	int r = 0;

	for (int i = 0; !r && i < (o->argc ? o->argc : 1); i++)
		r = one_file(o, d, o->argc ? o->argv[i] : "-");
	if (decode_found(d))
		decode_summary(d, stdout);
	/* A log may contain other numbers, too; leaving them out loses nothing. */
	if (!r && (!decode_found(d) || (o->kind && decode_unknown(d, &bytes, &line))))
		r = say_unknown(o, d);
	return r;
}

int cli_decode(struct cli_options *o)
{
	struct decode_options options = {.json = o->json, .kind = (enum hex_kind)o->kind};
	struct decode *d = NULL;
	int r = o->kind_arg ? opcode_option(o->kind_arg, &options.opcode) : 0;

	if (r)
		return r;
	options.lines = report_reader_create();
	options.forms = report_forms_create();
	if (options.lines && options.forms)
		d = decode_create(&options);
	r = d ? all_files(o, d) : prog_fail("decode: %s", strerror(ENOMEM));
	decode_destroy(d);
	report_reader_destroy(options.lines);
	report_forms_destroy(options.forms);
	return r;
}
