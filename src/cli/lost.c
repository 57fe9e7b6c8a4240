/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the line about a command that could not see the adapters. Two things are known of it: its
 * file, and notes of processes that had the library (shim/refused.c). A process without the library
 * cannot be seen, so if any process has opened a device, notes about others are not worth a line.
 */
#include "cli/lost.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/child.h"
#include "segment/note.h"
#include "super/program.h"

static bool say_command(const struct cli_options *o)
{
	char name[PATH_MAX];
	const char *why = child_why_not(o->argv[0], name);

	if (why)
		prog_fail("'%s' %s: it runs, but does not see the adapter", name, why);
	return why != NULL;
}

/* Only a filter of system calls sends SIGSYS. */
static bool say_filter(const struct cli_options *o, int status)
{
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		return false;
	prog_fail("'%s' was killed by a filter of system calls (SIGSYS): the library also makes "
		  "process_vm_readv, process_vm_writev, membarrier and rt_sigaction",
		  o->argv[0]);
	return true;
}

static void say_note(const struct note *n)
{
	const char *program = *n->program ? n->program : "a program";

	switch (n->kind) {
	case NOTE_ENVIRONMENT:
		prog_fail("'%s' was started without LD_PRELOAD or SOFTHCA_DIR, and did not see "
			  "the adapter: keep both (softhca explain ENODEV)",
			  program);
		break;
	case NOTE_PRIVILEGED:
		prog_fail("'%s' is set-user-ID or set-group-ID, and did not see the adapter: "
			  "run "
			  "softhca inside it (softhca explain ENODEV)",
			  program);
		break;
	case NOTE_USER:
		prog_fail("a process of uid %u looked for the adapter, which is uid %u's: start "
			  "softhca as that user",
			  n->uid, (unsigned int)geteuid());
		break;
	}
}

void lost_begin(struct lost *l, const struct cli_options *o, const char *dir)
{
	*l = (struct lost){.o = o, .notes = o->quiet ? -1 : note_listen(dir)};
}

void lost_end(struct lost *l, bool joined, int status)
{
	struct note n, first = {.kind = 0};

	while (l->notes >= 0 && recv(l->notes, &n, sizeof(n), MSG_DONTWAIT) == sizeof(n)) {
		n.program[sizeof(n.program) - 1] = '\0';
		if (!first.kind || n.kind == NOTE_USER)
			first = n;
	}
	if (l->notes >= 0)
		close(l->notes);
	if (l->o->quiet || say_command(l->o) || say_filter(l->o, status))
		return;
	if (!joined || first.kind == NOTE_USER)
		say_note(&first);
}

void lost_at_once(const struct cli_options *o)
{
	if (!o->quiet)
		say_command(o);
}
