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

static bool say_command(const struct cli_options *o, const char *more)
{
	char name[PATH_MAX];
	const char *why = child_why_not(o->argv[0], name);

	if (why)
		prog_fail("'%s' %s: it runs, but does not see the adapter%s", name, why, more);
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

static void say_note(const struct lost *l, const struct note *n)
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
	case NOTE_ELSEWHERE:
		prog_fail(
			"'%s' looked for the adapter where the fabric's directory %s is not there, "
			"or is another one (a sandbox, a container): bind it to the same path "
			"there",
			program, l->dir);
		break;
	case NOTE_GO:
		prog_fail("'%s' is a Go program, whose runtime makes system calls without libc: "
			  "os.ReadDir and os.OpenFile see no adapter, libraries that it calls by "
			  "cgo do",
			  program);
		break;
	case NOTE_NAMESPACE:
		prog_fail(
			"'%s' was loaded by dlmopen() into a namespace of its own, and did not see "
			"the adapter: use dlopen()",
			program);
		break;
	case NOTE_USER:
		prog_fail("a process of uid %u looked for the adapter, which is uid %u's: start "
			  "softhca as that user, or with --allow-uid %u",
			  n->uid, (unsigned int)geteuid(), n->uid);
		break;
	}
}

/* The weight of a note by a process that looked for the adapter in vain, whatever others did. */
#define LOOKED 3

/* Of several notes, the first with the most weight is worth the line. */
static int weight(uint32_t kind)
{
	switch (kind) {
	case 0:
		return 0;
	case NOTE_GO:
		return 1; /* sent by a program that may have no need of an adapter */
	case NOTE_ELSEWHERE:
	case NOTE_USER:
		return LOOKED;
	default:
		return 2;
	}
}

void lost_begin(struct lost *l, const struct cli_options *o, const char *dir)
{
	*l = (struct lost){.o = o, .dir = dir, .notes = o->quiet ? -1 : note_listen(dir)};
}

void lost_end(struct lost *l, bool joined, int status)
{
	struct note n, first = {.kind = 0};

	while (l->notes >= 0 && recv(l->notes, &n, sizeof(n), MSG_DONTWAIT) == sizeof(n)) {
		n.program[sizeof(n.program) - 1] = '\0';
		if (weight(n.kind) > weight(first.kind))
			first = n;
	}
	if (l->notes >= 0)
		close(l->notes);
	if (l->o->quiet || (!joined && say_command(l->o, "")) || say_filter(l->o, status))
		return;
	if (!joined || weight(first.kind) == LOOKED)
		say_note(l, &first);
}

void lost_at_once(const struct cli_options *o)
{
	if (!o->quiet)
		say_command(o, " (programs that it starts may)");
}
