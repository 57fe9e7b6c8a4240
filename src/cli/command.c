/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the command of `run` as a child: in the same process group, so that the terminal's signals
 * reach it as usual. Other signals to us are passed on. We stop when the terminal or the command
 * itself stops it (job control), so that the shell sees it. run.c uses it.
 */
#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/child.h"
#include "cli/pair.h"
#include "super/netns.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* Passed on to the command when another process sends them to us. */
static const int forwarded[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
				SIGCONT, SIGWINCH, SIGPWR,  SIGTSTP, SIGTTIN, SIGTTOU};

void command_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaddset(set, forwarded[i]);
}

int command_init(struct command *c, const sigset_t *handled)
{
	*c = (struct command){.fd = signalfd(-1, handled, SFD_CLOEXEC | SFD_NONBLOCK)};
	return c->fd < 0 ? prog_fail("cannot watch signals: %s", strerror(errno)) : 0;
}

static bool stops(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* The command has stopped: stop in the same manner until we are continued. */
static void stop_like(int sig)
{
	const struct sigaction dfl = {.sa_handler = SIG_DFL};
	struct sigaction was;
	sigset_t set;

	sigaction(sig, &dfl, &was);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(sig, &was, NULL);
}

/*
 * SIGSTOP comes from a debugger or a tester and is meant for the command alone, or from a shell (in
 * its own group) that was told to suspend.
 */
static void on_stop(const struct command *c, int sig)
{
	if (stops(sig) || (sig == SIGSTOP && getpgid(c->pid) != getpgrp()))
		stop_like(sig);
}

static void reap_children(struct command *c)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != c->pid)
			continue;
		if (WIFSTOPPED(status)) {
			on_stop(c, WSTOPSIG(status));
			continue;
		}
		c->ended = true;
		c->status = status;
	}
	c->alone = pid < 0 && errno == ECHILD;
}

void command_read(struct command *c)
{
	struct signalfd_siginfo si;

	while (read(c->fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			reap_children(c);
		} else if (c->ended) {
			c->hurry |= si.ssi_signo != SIGCONT && si.ssi_signo != SIGWINCH &&
				    !stops((int)si.ssi_signo);
		} else if (si.ssi_code != SI_KERNEL && (pid_t)si.ssi_pid != c->pid) {
			/* The terminal (SI_KERNEL) has sent it to the command, too. */
			kill(c->pid, (int)si.ssi_signo);
			c->asked |= si.ssi_signo == SIGTERM || si.ssi_signo == SIGINT ||
				    si.ssi_signo == SIGHUP;
		}
	}
}

void command_wait(struct command *c, uint64_t deadline)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	uint64_t now = clock_now_ns();
	int timeout = -1;

	if (deadline <= now)
		timeout = 0;
	else if ((deadline - now) / NSEC_PER_SEC < 1000000)
		timeout = (int)((deadline - now) / NSEC_PER_MSEC + 1);
	if (poll(&p, 1, timeout) > 0)
		command_read(c);
}

int command_start(struct command *c, const struct cli_options *o, const struct child_state *st,
		  int netns)
{
	pid_t parent = getpid();
	int r;

	if (o->timeout)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	c->pid = fork();
	if (c->pid < 0)
		return prog_fail("cannot start a process: %s", strerror(errno));
	if (c->pid)
		return 0;
	r = netns < 0 || c->pair ? 0 : netns_enter(netns);
	if (r < 0)
		_exit(prog_fail("%s: cannot enter the host's network namespace: %s", o->verb,
				strerror(-r)));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(PROG_FAILED); /* the supervisor died before prctl() */
	child_restore_state(st);
	if (o->stdout_taken)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (c->pair)
		pair_run(o, c->pair);
	child_exec(o->argv);
}

int command_end_like(int status, const struct child_state *st)
{
	const struct rlimit no_core = {0, 0};
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t set;
	int sig;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	sig = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &no_core);
	/* needed even when core_pattern is a pipe: only the command dumps core */
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(sig, &dfl, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + sig;
}
