/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the table of commands: `softhca COMMAND ...`. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "super/program.h"
#include "util/cleanup.h"
#include "util/log.h"

static const struct cli_verb verbs[] = {
	{CLI_RUN, "run", "-- CMD [ARG...]", "Run a command on a host with InfiniBand adapters.", 1,
	 -1, false, cli_run},
	{CLI_TRACE, "trace", "-- CMD [ARG...]",
	 "Run a command and see all that it does with the adapters.", 1, -1, false, cli_trace},
	{CLI_PCAP, "pcap", "[-- CMD [ARG...]]", "Capture the packets of a fabric, for Wireshark.",
	 0, -1, false, cli_pcap},
	{CLI_EXPLAIN, "explain", "WHAT...",
	 "Say what a syndrome, status (also a MAD's), errno or CQE syndrome means.", 1, INT_MAX,
	 true, cli_explain},
	{CLI_DECODE, "decode", "[FILE]", "Read a dump of a command, WQE, CQE, EQE or MAD.", 0, 1,
	 true, cli_decode},
	{CLI_UP, "up", "NAME", "Make a fabric that stays, for many commands.", 1, 1, false, cli_up},
	{CLI_DOWN, "down", "NAME", "Take a fabric down.", 1, 1, false, cli_down},
	{CLI_TOPO, "topo", "[SPEC]", "Write a topology, or a fabric's as it is now.", 0, 1, true,
	 cli_topo},
	{CLI_CONSOLE, "console", "", "Change a fabric by ibsim's console commands.", 0, 0, true,
	 cli_console},
	{CLI_LINK, "link", "HCA PORT up|down", "Pull the cable of a port, or plug it in.", 3, 3,
	 true, cli_link},
	{CLI_IP, "ip", "add|del ADDRESS [dev IFACE]",
	 "Give an address to an interface, or take it away.", 2, 4, true, cli_ip},
	{CLI_STATUS, "status", "[NAME]",
	 "Show fabrics: hosts, adapters, ports, processes, objects.", 0, 1, false, cli_status},
};

static int print_help(void)
{
	printf("Usage: softhca COMMAND [OPTION...]\n\n"
	       "InfiniBand adapters (mlx5) and their fabric in user space.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  %-7s %-16s %s\n", verbs[i].name, verbs[i].args, verbs[i].summary);
	printf("\n  softhca COMMAND --help   the options of a command\n"
	       "  softhca --version\n\n"
	       "Example: softhca run -- ibv_devinfo\n");
	return 0;
}

/*
 * If a standard descriptor is missing, open a placeholder, so that no descriptor of ours becomes
 * standard error. The command still gets it closed.
 */
static void fill_standard_files(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	struct cli_options o;
	int r;

	fill_standard_files();
	log_init();
	if (argc < 2)
		return prog_fail("no command given (softhca --help)");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		return fflush(stdout) ? prog_fail("standard output: %s", strerror(errno)) : 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("softhca %s\n", SOFTHCA_VERSION);
		return fflush(stdout) ? prog_fail("standard output: %s", strerror(errno)) : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name))
			continue;
		r = options_parse(&verbs[i], argc - 1, argv + 1, &o);
		return r ? (r < 0 ? 0 : r) : verbs[i].run(&o);
	}
	return prog_fail("'%s' is not a command (softhca --help)", argv[1]);
}
