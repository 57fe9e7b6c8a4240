/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the table of commands: `softhca COMMAND ...`. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/complete.h"
#include "util/suggest.h"
#include "shim/shim.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/log.h"

#define WITHOUT_PROC (CLI_EXPLAIN | CLI_DECODE | CLI_TOPO | CLI_WORLD) /* they start no program */

static const struct cli_verb verbs[] = {
	{CLI_RUN, "run", "-- CMD [ARG...]", "Run a command on a host with InfiniBand adapters.", 1,
	 -1, false, cli_run},
	{CLI_TRACE, "trace", "[-- CMD [ARG...]]",
	 "See all that a command does with the adapters, or all programs of a fabric.", 0, -1,
	 false, cli_trace},
	{CLI_CHECK, "check", "-- CMD [ARG...]",
	 "Run a command, and report what it does that RDMA does not allow.", 0, -1, false,
	 cli_check},
	{CLI_PCAP, "pcap", "[-- CMD [ARG...]]", "Capture the packets of a fabric, for Wireshark.",
	 0, -1, false, cli_pcap},
	{CLI_EXPLAIN, "explain", "WHAT...",
	 "Say what a syndrome, status (also a MAD's), errno or CQE syndrome means.", 0, INT_MAX,
	 true, cli_explain},
	{CLI_DECODE, "decode", "[FILE...]",
	 "Find errors in logs and dumps of commands, WQEs, CQEs, EQEs and MADs.", 0, INT_MAX, true,
	 cli_decode},
	{CLI_UP, "up", "[NAME]", "Create a fabric that outlives the command.", 0, 1, false, cli_up},
	{CLI_DOWN, "down", "[NAME]", "Take a fabric down, or all.", 0, 1, false, cli_down},
	{CLI_TOPO, "topo", "[SPEC]", "Write or draw a topology, or a fabric's as it is now.", 0, 1,
	 true, cli_topo},
	{CLI_CONSOLE, "console", "", "Change a fabric by ibsim's console commands.", 0, 0, true,
	 cli_console},
	{CLI_LINK, "link", "HCA PORT up|down", "Pull the cable of a port, or plug it in.", 3, 3,
	 true, cli_link},
	{CLI_IP, "ip", "add|del ADDRESS|vlan ID [dev IFACE]",
	 "Give an address or a VLAN to an interface, or take it away.", 2, 5, true, cli_ip},
	{CLI_LIST, "list", "", "List the fabrics that are up.", 0, 0, false, cli_list},
	{CLI_STATUS, "status", "[NAME]",
	 "Show fabrics: hosts, adapters, ports, processes, objects.", 0, 1, false, cli_status},
	{CLI_TOP, "top", "[NAME]", "Watch a fabric: rates of ports and queue pairs, errors.", 0, 1,
	 false, cli_top},
	{CLI_INJECT, "inject", "[FABRIC] add RULE...|list|remove N...",
	 "Change the faults that a fabric has on purpose.", 1, INT_MAX, true, cli_inject},
	{CLI_WORLD, "world", "[WORLD...]", "List the hosts that programs fail on, for run --world.",
	 0, INT_MAX, true, cli_world},
	{CLI_WORLDS, "world", "--all -- CMD [ARG...]",
	 "Run a command in each world, and tell where it fails and why.", 1, -1, false, cli_worlds,
	 "--all"},
};

const struct cli_verb *cli_verb(size_t i)
{
	return i < ARRAY_SIZE(verbs) ? &verbs[i] : NULL;
}

static bool has_mode(const char *mode, int n, char **words)
{
	for (int i = 1; i < n && strcmp(words[i], "--"); i++)
		if (!strcmp(words[i], mode))
			return true;
	return false;
}

const struct cli_verb *cli_verb_of(int n, char **words)
{
	const struct cli_verb *found = NULL;

	for (size_t i = 0; n && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(words[0], verbs[i].name) &&
		    (!verbs[i].mode || has_mode(verbs[i].mode, n, words)))
			found = &verbs[i];
	return found;
}

static int no_verb(const char *name)
{
	struct suggest s;

	suggest_begin(&s, name, strlen(name));
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		suggest_add(&s, verbs[i].name);
	suggest_add(&s, "help");
	return prog_fail("'%s' is not a command%s%s%s (softhca --help)", name,
			 s.best ? "; did you mean '" : "", s.best ? s.best : "",
			 s.best ? "'?" : "");
}

static int print_help(void)
{
	printf("Usage: softhca COMMAND [OPTION...]\n\n"
	       "InfiniBand adapters (mlx5) and their fabric in user space.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  %-7s %-16s %s\n", verbs[i].name, verbs[i].args, verbs[i].summary);
	printf("\n  softhca help COMMAND     the options of a command (softhca COMMAND --help)\n"
	       "  softhca --version\n\n"
	       "Example: softhca run -- ibv_devinfo\n");
	return 0;
}

/* Ends a command that would end with `r`: what it has printed must have arrived. */
static int flush(int r)
{
	if (fflush(stdout))
		return prog_fail("standard output: %s", strerror(errno));
	return ferror(stdout) ? prog_fail("standard output: a write has failed") : r;
}

/* Is /proc mounted? Programs need it for their own files and for each other's memory. */
static bool has_proc(void)
{
	return !access("/proc/self/exe", F_OK);
}

static int run_verb(const struct cli_verb *v, int argc, char **argv)
{
	struct cli_options o;
	int r;

	prog_begin(v->name);
	r = options_parse(v, argc, argv, &o);
	if (r)
		return r < 0 ? flush(0) : r;
	if (!(v->bit & WITHOUT_PROC) && !has_proc())
		return prog_fail(
			"/proc is missing, and the adapters need it: mount -t proc proc /proc");
	return flush(v->run(&o));
}

/* `softhca help [COMMAND]` */
static int help(int argc, char **argv)
{
	const struct cli_verb *v = cli_verb_of(argc - 1, argv + 1);
	char *args[] = {argv[1], (char *)"--help", NULL};

	if (v)
		return run_verb(v, 2, args);
	return argc > 1 ? no_verb(argv[1]) : flush(print_help());
}

/*
 * If a standard descriptor is missing, open a placeholder, so that no descriptor of ours becomes
 * standard error. Reads and writes of the placeholder fail as without it, and the command inherits
 * a closed descriptor.
 */
static void fill_standard_files(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_RDWR};

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd] | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	const struct cli_verb *v;

	fill_standard_files();
	log_init();
	if (argc < 2)
		return prog_fail("no command given (softhca --help)");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("softhca %s%s\n", SOFTHCA_VERSION,
		       SHIM_CAN_TRAP ? "" : " (without Zydis: --doorbell poll only)");
		return flush(0);
	}
	if (!strcmp(argv[1], "--complete"))
		return complete(argc - 2, argv + 2);
	v = cli_verb_of(argc - 1, argv + 1);
	if (v)
		return run_verb(v, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return prog_fail("unknown option '%s' (softhca --help)", argv[1]);
	return no_verb(argv[1]);
}
