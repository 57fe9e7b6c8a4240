/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca run`. On a fabric that is up it executes the command in its own place. Otherwise it is
 * the supervisor of a private fabric and the command is its child: in the same process group, so
 * that the terminal's signals reach it as usual. Other signals to us are passed on. We end when the
 * command ends, and stop when the terminal or the command itself stops it (job control), so that
 * the shell sees it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/child.h"
#include "cli/client.h"
#include "cli/lost.h"
#include "cli/pcap.h"
#include "super/program.h"
#include "super/runtime.h"
#include "super/supervisor.h"
#include "util/cleanup.h"
#include "topo/topo.h"
#include "util/clock.h"

#define FIRST_HOST "h1"

/* Passed on to the command when another process sends them to us. */
static const int forwarded[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
				SIGCONT, SIGWINCH, SIGPWR,  SIGTSTP, SIGTTIN, SIGTTOU};

struct command {
	struct sup_source signals; /* must be first: the source is cast to the command */
	pid_t pid;
	bool ended;
	int status; /* result of waitpid */
	bool hurry; /* a signal came after the command's end: do not wait for stragglers */
};

static void handled_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
		sigaddset(set, forwarded[i]);
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
}

static void run_on_signal(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct command *c = (struct command *)src;
	struct signalfd_siginfo si;

	while (read(src->fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			reap_children(c);
		} else if (c->ended) {
			c->hurry |= si.ssi_signo != SIGCONT && si.ssi_signo != SIGWINCH &&
				    !stops((int)si.ssi_signo);
		} else if (si.ssi_code != SI_KERNEL && (pid_t)si.ssi_pid != c->pid) {
			/* The terminal (SI_KERNEL) has sent it to the command, too. */
			kill(c->pid, (int)si.ssi_signo);
		}
	}
}

static int run_start(struct command *c, struct sup *sup, uint32_t host, const struct cli_options *o,
		     const struct child_state *st)
{
	pid_t parent = getpid();
	int r;

	c->pid = fork();
	if (c->pid < 0)
		return prog_fail("cannot start a process: %s", strerror(errno));
	if (c->pid)
		return 0;
	r = sup_host_enter(sup, host);
	if (r < 0)
		_exit(prog_fail("cannot enter the host's network namespace: %s", strerror(-r)));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(PROG_FAILED); /* the supervisor died before the line above */
	child_restore_state(st);
	if (o->stdout_taken)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	child_exec(o->argv);
}

/*
 * The command has ended, but processes that it started may still be on the fabric: for example a
 * server in the background that is printing its result. They get a second to end, another second
 * after SIGTERM, then SIGKILL, because their devices do not work without a supervisor.
 */
static void wind_up(struct sup *sup, struct command *c)
{
	static const struct {
		int sig;
		uint64_t wait;
	} steps[] = {{0, NSEC_PER_SEC}, {SIGTERM, NSEC_PER_SEC}, {SIGKILL, NSEC_PER_SEC}};

	for (size_t i = 0; i < ARRAY_SIZE(steps) && sup_attached(sup); i++) {
		uint64_t end = clock_now_ns() + steps[i].wait;

		if (steps[i].sig)
			sup_signal_attached(sup, steps[i].sig);
		while (sup_attached(sup) && clock_now_ns() < end && !(c->hurry && !steps[i].sig))
			if (sup_turn(sup, end) < 0)
				return;
	}
}

/* We end as the command did: with its exit status, or by its signal. */
static int end_like(int status, const struct child_state *st)
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

static int supervise(struct sup *sup, uint32_t host, const struct cli_options *o,
		     const struct child_state *st, const sigset_t *handled, int *status)
{
	struct command c = {.signals.fd = signalfd(-1, handled, SFD_CLOEXEC | SFD_NONBLOCK),
			    .signals.ready = run_on_signal};
	int r;

	if (c.signals.fd < 0 || sup_watch(sup, &c.signals) < 0)
		return prog_fail("cannot watch signals: %s", strerror(errno));
	r = run_start(&c, sup, host, o, st);
	while (!r && !c.ended) {
		int err = sup_turn(sup, UINT64_MAX);

		if (err < 0) {
			r = prog_fail("the supervisor cannot go on: %s", strerror(-err));
			kill(c.pid, SIGKILL);
			waitpid(c.pid, &c.status, 0);
		}
	}
	if (!r)
		wind_up(sup, &c);
	sup_unwatch(sup, &c.signals);
	*status = c.status;
	return r;
}

/* The host that the user asks for; NULL after a message. */
static const char *pick_host(const struct cli_options *o, const struct topo *t)
{
	const char *want = o->host ? o->host : t->nhosts ? t->host[0] : FIRST_HOST;

	if (!o->topo && !strcmp(want, FIRST_HOST))
		return want;
	for (uint32_t i = 0; i < t->nhosts; i++)
		if (!strcmp(t->host[i], want))
			return want;
	if (o->topo && !t->nhosts)
		prog_fail("there is no host on %s", o->topo);
	else if (o->topo)
		prog_fail("there is no host '%s' on %s", want, o->topo);
	else
		prog_fail("there is no host '%s': a private fabric has " FIRST_HOST " only", want);
	return NULL;
}

static int use_host(struct sup *sup, const char *host)
{
	int r = sup_host_use(sup, fab_host_by_name(&sup->seg, host));

	return r < 0 ? prog_fail("cannot make host %s in %s: %s", host, sup->seg.dir, strerror(-r))
		     : 0;
}

static int run_private(struct cli_options *o)
{
	struct child_state st;
	struct runtime rt;
	struct sup sup;
	sigset_t handled;
	char name[PROG_NAME_MAX + 1];
	struct topo topo = {0};
	struct capture capture = {0};
	struct lost lost;
	const char *host;
	int lock, dir, status = 0, r;

	r = topo_prepare(o, "run", &topo);
	if (r)
		return r;
	host = pick_host(o, &topo);
	r = host ? runtime_open(&rt, true) : PROG_FAILED;
	if (r) {
		topo_free(&topo);
		return r;
	}
	handled_signals(&handled);
	child_save_state(&st, &handled);
	runtime_sweep(&rt);
	/* in another PID namespace our number may have another meaning */
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), i ? "run-%d-%d" : "run-%d", (int)getpid(), i);
		r = runtime_claim(&rt, name, true, &lock, &dir);
		if (r != -EBUSY)
			break;
	}
	if (r < 0) {
		r = prog_fail("cannot write in the runtime directory %s: %s", rt.path,
			      strerror(-r));
		runtime_close(&rt);
		topo_free(&topo);
		return r;
	}
	r = sup_init(&sup, &rt, name, dir, &o->fab, topo.nnodes ? &topo : NULL, true);
	if (!r)
		r = use_host(&sup, host);
	if (!r)
		r = child_environment(o, sup.seg.dir, host);
	if (!r && o->capture)
		r = capture_begin(&capture, &sup.seg, o);
	if (!r) {
		lost_begin(&lost, o, sup.seg.dir);
		r = supervise(&sup, fab_host_by_name(&sup.seg, host), o, &st, &handled, &status);
		lost_end(&lost, sup.joined);
	}
	if (capture_end(&capture) && !r)
		r = PROG_FAILED;
	sup_finish(&sup);
	runtime_release(&rt, name, lock);
	runtime_close(&rt);
	topo_free(&topo);
	return r ? r : end_like(status, &st);
}

static int run_joined(struct cli_options *o)
{
	char dir[RUNTIME_PATH_MAX + PROG_NAME_MAX + 2];
	struct link_msg m = {.op = LINK_HOST};
	struct runtime rt;
	int r = runtime_open(&rt, false), fd = -1;
	int sock = r ? r : runtime_connect(&rt, o->fabric);

	if (r > 0)
		return r;
	if (sock < 0)
		return sock == -ENOENT || sock == -ECONNREFUSED
			       ? prog_fail("there is no fabric '%s'", o->fabric)
			       : prog_fail("fabric '%s' does not answer: %s", o->fabric,
					   strerror(-sock));
	if (o->host)
		snprintf(m.host, sizeof(m.host), "%s", o->host);
	r = o->host && (!*o->host || strlen(o->host) >= sizeof(m.host))
		    ? -ENODEV
		    : client_request(sock, &m, &fd);
	close(sock);
	if (!r && fd >= 0)
		r = netns_enter(fd);
	if (fd >= 0)
		close(fd);
	if (r == -ENODEV && !o->host)
		return prog_fail("there is no host on fabric '%s'", o->fabric);
	if (r == -ENODEV)
		return prog_fail("there is no host '%s' on fabric '%s'", o->host, o->fabric);
	if (r < 0)
		return prog_fail("fabric '%s' cannot make its host ready: %s", o->fabric,
				 strerror(-r));
	snprintf(dir, sizeof(dir), "%s/%s", rt.path, o->fabric);
	m.host[sizeof(m.host) - 1] = 0;
	r = child_environment(o, dir, m.host);
	if (r)
		return r;
	close(rt.fd);
	lost_at_once(o);
	child_exec(o->argv);
}

int cli_run(struct cli_options *o)
{
	int r = o->trace ? trace_prepare(o, o->verb) : 0;

	if (r)
		return r;
	return o->fabric ? run_joined(o) : run_private(o);
}
