/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca run`. On a fabric that is up it executes the command in its own place, unless it has to
 * do something at the end: count, or keep a time limit. Otherwise it is the supervisor of a private
 * fabric and the command is its child.
 */
#include "cli/cli.h"

#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/check.h"
#include "cli/child.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/lost.h"
#include "cli/outcome.h"
#include "cli/pair.h"
#include "cli/pcap.h"
#include "cli/use.h"
#include "shim/shim.h"
#include "super/program.h"
#include "super/runtime.h"
#include "super/supervisor.h"
#include "topo/topo.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define FIRST_HOST "h1"
#define TERM_NS (5 * NSEC_PER_SEC) /* how long to wait after SIGTERM, and again after SIGKILL */
#define KILL_NS (10 * NSEC_PER_MSEC)

/* A command on the fabric of `sup`; NULL: on one that is up. */
struct run {
	struct sup_source signals; /* first */
	struct sup *sup;
	const struct cli_options *o;
	int netns; /* the host's network namespace; -1: none */
	struct command c;
	bool timed_out;
	struct pair hung;           /* the ends at that time */
	struct json_object *stood;  /* where it was then; NULL: nobody asks */
	struct json_object *faults; /* what rules of --inject have done */
};

static void run_on_signal(struct sup *sup, struct sup_source *src, uint32_t events)
{
	command_read(&((struct run *)src)->c);
}

static int run_turn(struct run *run, uint64_t deadline)
{
	if (run->sup)
		return sup_turn(run->sup, deadline);
	command_wait(&run->c, deadline);
	return 0;
}

/* The pid of a child that this program started for itself, not for the command; 0: none. */
static pid_t keeper(const struct run *run)
{
	return run->sup ? run->sup->netns.pid : 0;
}

/* The command has ended, and nothing of it is left. */
static bool is_over(const struct run *run)
{
	return run->c.ended && (run->c.alone || (keeper(run) > 0 && !tree_signal(0, keeper(run))));
}

/* Returns when nothing is left, or when the time has come. */
static void wait_alone(struct run *run, uint64_t end)
{
	while (!is_over(run) && clock_now_ns() < end)
		if (run_turn(run, end) < 0)
			return;
}

/* All processes of the command end, also those that do not use the fabric. */
static void end_all(struct run *run)
{
	uint64_t end;

	tree_signal(SIGTERM, keeper(run));
	tree_signal(SIGCONT, keeper(run));
	wait_alone(run, clock_now_ns() + TERM_NS);
	end = clock_now_ns() + TERM_NS;
	/* Repeat: a process may have started others before it ended. */
	while (!is_over(run) && clock_now_ns() < end) {
		tree_signal(SIGKILL, keeper(run));
		wait_alone(run, clock_now_ns() + KILL_NS);
	}
}

static void time_out(struct run *run)
{
	run->timed_out = true;
	if (run->c.pair) /* before the ends are told to end */
		run->hung = *run->c.pair;
	if (run->o->report && !run->c.asked)
		run->stood = stood_at(run->sup, run->c.pid);
	if (!run->c.asked)
		prog_fail("'%s' did not finish within %u s; its processes were terminated",
			  run->o->argv[0], run->o->timeout);
	end_all(run);
}

/* Serves until the command ends. 0; PROG_FAILED after a message. */
static int attend(struct run *run, const struct child_state *st)
{
	uint64_t end =
		run->o->timeout ? clock_now_ns() + run->o->timeout * NSEC_PER_SEC : UINT64_MAX;
	int r;

	if (run->o->pair && !(run->c.pair = pair_new()))
		return prog_fail("out of memory");
	r = command_start(&run->c, run->o, st, run->netns);

	while (!r && !run->c.ended) {
		int err = run_turn(run, end);

		if (err < 0) {
			r = prog_fail("the supervisor cannot go on: %s", prog_why(-err));
			kill(run->c.pid, SIGKILL);
			waitpid(run->c.pid, &run->c.status, 0);
			continue;
		}
		/* A softhca that runs many waits for our end, and the command may ignore signals.
		 */
		if (run->o->report && run->c.asked && end > clock_now_ns() + TERM_NS)
			end = clock_now_ns() + TERM_NS;
		if (!run->c.ended && clock_now_ns() >= end) {
			time_out(run);
			return 0;
		}
	}
	if (!r && run->o->report && run->c.asked)
		end_all(run);
	return r;
}

/*
 * The command has ended, but processes that it started may still be on the fabric: for example a
 * server in the background that is printing its result. They get a second to end, another second
 * after SIGTERM, then SIGKILL, because their devices do not work without a supervisor.
 */
static void wind_up(struct sup *sup, const struct command *c)
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

static int supervise(struct run *run, const struct child_state *st, const sigset_t *handled)
{
	int r = command_init(&run->c, handled);

	if (r)
		return r;
	run->signals = (struct sup_source){.fd = run->c.fd, .ready = run_on_signal};
	if (sup_watch(run->sup, &run->signals) < 0)
		return prog_fail("cannot watch signals: %s", prog_why(errno));
	r = attend(run, st);
	if (!r)
		wind_up(run->sup, &run->c);
	sup_unwatch(run->sup, &run->signals);
	return r;
}

/* The counts are known, the fabric is gone: end as the command did, or say that it did nothing. */
static int conclude(const struct run *run, const struct child_state *st, struct json_object *before,
		    struct json_object *after)
{
	bool well = !run->timed_out && WIFEXITED(run->c.status) && !WEXITSTATUS(run->c.status);
	int r = trace_end(run->o->watch.reader), checked;
	struct outcome out = {.status = run->c.status,
			      .timed_out = run->timed_out,
			      .pair = run->c.pair && run->timed_out ? &run->hung : run->c.pair,
			      .opened = run->sup ? run->sup->joined : after != NULL,
			      .stood = run->stood};

	if (run->o->report)
		r = outcome_write(run->o->report, &out, before, after) ?: r;
	if (!run->o->summary && !run->o->require_traffic) {
		json_object_put(before);
		json_object_put(after);
	}
	if (run->o->summary || run->o->require_traffic)
		r = use_end(run->o, well, before, after) ?: r;
	r = inject_end(run->o, run->faults, well && !r) ?: r;
	checked = check_end(run->o->check.reader, run->o);
	if (run->timed_out)
		return CLI_TIMED_OUT;
	if (checked && !(WIFSIGNALED(run->c.status)))
		return checked;
	return well ? r : command_end_like(run->c.status, st);
}

static bool has_host(const struct cli_options *o, const struct topo *t, const char *want)
{
	char name[16];

	for (uint32_t i = 0; i < t->nhosts; i++)
		if (!strcmp(t->host[i], want))
			return true;
	for (uint32_t i = 1; !o->topo && i <= o->fab.hosts; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		if (!strcmp(name, want))
			return true;
	}
	return false;
}

/* The host that the user asks for; NULL after a message. */
static const char *pick_host(const struct cli_options *o, const struct topo *t)
{
	const char *want = o->host ? o->host : t->nhosts ? t->host[0] : FIRST_HOST;

	if (has_host(o, t, want))
		return want;
	if (o->topo && !t->nhosts)
		prog_fail("there is no host on %s", o->topo);
	else if (o->topo)
		prog_fail("there is no host '%s' on %s", want, o->topo);
	else if (o->fab.hosts > 1)
		prog_fail("there is no host '%s': the private fabric has " FIRST_HOST " to h%u",
			  want, o->fab.hosts);
	else
		prog_fail("there is no host '%s': a private fabric has " FIRST_HOST
			  " only, or more with --hosts",
			  want);
	return NULL;
}

static int use_host(struct sup *sup, const char *host)
{
	int r = sup_host_use(sup, fab_host_by_name(&sup->seg, host));

	return r < 0 ? prog_fail("cannot make host %s in %s: %s", host, sup->seg.dir, prog_why(-r))
		     : 0;
}

static int run_private(struct cli_options *o)
{
	struct child_state st;
	struct runtime rt;
	static struct sup sup; /* a stack may have 64 KiB */
	sigset_t handled;
	char name[PROG_NAME_MAX + 1];
	struct topo topo = {0};
	struct capture capture = {0};
	struct lost lost;
	struct run run = {.sup = &sup, .o = o, .netns = -1};
	struct json_object *after = NULL;
	const char *host;
	int lock, dir, r;

	r = topo_prepare(o, &topo);
	if (r)
		return r;
	inject_prepare(o);
	host = pick_host(o, &topo);
	r = host ? runtime_open(&rt, true) : PROG_FAILED;
	if (r) {
		topo_free(&topo);
		return r;
	}
	command_signals(&handled);
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
			      prog_why(-r));
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
		run.netns = sup_host_netns(&sup, fab_host_by_name(&sup.seg, host));
		lost_begin(&lost, o, sup.seg.dir);
		r = supervise(&run, &st, &handled);
		lost_end(&lost, sup.joined, run.c.status);
		if (o->summary || o->require_traffic || o->report)
			after = use_of_sup(&sup);
		if (o->trace && !(o->watch.options & LOG_COUNTED))
			trace_left(&sup.seg);
		if (o->check.reader)
			check_left(o->check.reader, &sup.seg);
		run.faults = sup_faults_show(&sup);
	}
	if (capture_end(&capture) && !r)
		r = PROG_FAILED;
	sup_finish(&sup);
	runtime_release(&rt, name, lock);
	runtime_close(&rt);
	topo_free(&topo);
	return r ? r : conclude(&run, &st, NULL, after);
}

/* ---- on a fabric that is up ---- */

/* A fabric that is up, by its name or by the environment of this process. */
struct there {
	const char *name;
	char dir[RUNTIME_PATH_MAX + PROG_NAME_MAX + 2];
};

/* Returns a connection, or PROG_FAILED after a message. */
static int there_find(struct there *t, const struct cli_options *o)
{
	const char *here = getenv(SHIM_ENV_DIR);
	struct runtime rt;
	int r, sock;

	if (!o->fabric) {
		t->name = strrchr(here, '/') + 1;
		snprintf(t->dir, sizeof(t->dir), "%s", here);
		return client_here(o->verb);
	}
	t->name = o->fabric;
	r = runtime_open(&rt, false);
	if (r > 0)
		return r;
	sock = r ? r : runtime_connect(&rt, o->fabric);
	snprintf(t->dir, sizeof(t->dir), "%s/%s", rt.path, o->fabric);
	if (rt.fd >= 0)
		close(rt.fd);
	if (sock == -ENOENT || sock == -ECONNREFUSED)
		return prog_fail("there is no fabric '%s'", o->fabric);
	return sock < 0 ? prog_fail("fabric '%s' does not answer: %s", o->fabric, prog_why(-sock))
			: sock;
}

/*
 * Makes the host ready; `host` gets its name, *netns its network namespace (-1: none). 0;
 * PROG_FAILED after a message.
 */
static int there_host(const struct there *t, int sock, const struct cli_options *o,
		      char host[sizeof(((struct link_msg *)0)->host)], int *netns)
{
	struct link_msg m = {.op = LINK_HOST};
	int r;

	*netns = -1;
	if (o->host)
		snprintf(m.host, sizeof(m.host), "%s", o->host);
	r = o->host && (!*o->host || strlen(o->host) >= sizeof(m.host))
		    ? -ENODEV
		    : client_request(sock, &m, netns);
	if (r == -ENODEV && !o->host)
		return prog_fail("there is no host on fabric '%s'", t->name);
	if (r == -ENODEV)
		return prog_fail("there is no host '%s' on fabric '%s'", o->host, t->name);
	if (r < 0)
		return prog_fail("fabric '%s' cannot make its host ready: %s", t->name,
				 prog_why(-r));
	m.host[sizeof(m.host) - 1] = 0;
	memcpy(host, m.host, sizeof(m.host));
	return 0;
}

/* The counts of a host; NULL: the fabric has ended. */
static struct json_object *there_counts(int sock, const char *host)
{
	struct link_msg m = {.op = LINK_STATUS, .arg = LINK_STATUS_HOST};
	struct json_object *o, *hosts;
	int err;

	snprintf(m.host, sizeof(m.host), "%s", host);
	o = client_status(sock, &m, &err);
	hosts = o ? json_object_get(json_object_object_get(o, "hosts")) : NULL;
	json_object_put(o);
	return use_counts(hosts);
}

/* Runs the command as a child of this process, instead of replacing it by exec. */
static int run_beside(const struct cli_options *o, int sock, const char *host, int netns)
{
	struct run run = {.o = o, .netns = netns};
	struct json_object *before = NULL, *after = NULL;
	struct child_state st;
	sigset_t handled;
	bool count = o->summary || o->require_traffic || o->report;
	int r;

	command_signals(&handled);
	child_save_state(&st, &handled);
	if (count)
		before = there_counts(sock, host);
	r = command_init(&run.c, &handled);
	if (!r)
		r = attend(&run, &st);
	if (!r && count)
		after = there_counts(sock, host);
	return r ? r : conclude(&run, &st, before, after);
}

/* We become the command. */
static int run_instead(const struct cli_options *o, int netns)
{
	int r = netns < 0 ? 0 : netns_enter(netns);

	if (r < 0)
		return prog_fail("cannot enter the host's network namespace: %s", prog_why(-r));
	if (netns >= 0)
		close(netns);
	child_exec(o->argv);
}

static int run_joined(struct cli_options *o)
{
	char host[sizeof(((struct link_msg *)0)->host)];
	struct there t;
	int sock = there_find(&t, o), netns, r;

	if (sock == PROG_FAILED)
		return PROG_FAILED;
	r = there_host(&t, sock, o, host, &netns);
	if (!r)
		r = child_environment(o, t.dir, host);
	if (!r) {
		lost_at_once(o);
		if (o->timeout || o->summary || o->report || o->pair || o->require_traffic ||
		    o->watch.reader)
			r = run_beside(o, sock, host, netns);
		else
			r = run_instead(o, netns);
	}
	close(sock);
	return r;
}

static bool run_is_inside(const struct cli_options *o)
{
	const char *here = getenv(SHIM_ENV_DIR);

	return o->host && !(o->given & CLI_SHAPE) && here && strrchr(here, '/') > here &&
	       strlen(here) < sizeof(((struct there *)0)->dir);
}

int cli_run(struct cli_options *o)
{
	bool joined = o->fabric || run_is_inside(o);
	int r;

	if (o->capout)
		o->stdout_taken = !strcmp(o->capout, "-");
	if (joined && o->capout)
		return pcap_around(o);
	o->capture = o->capout != NULL;
	if (o->check.on && o->trace)
		return prog_fail("%s: --check and --trace exclude each other", o->verb);
	if (o->check.on && !(o->check.reader = check_begin(o)))
		return PROG_FAILED;
	r = o->trace || o->check.on ? trace_prepare(o, o->verb) : 0;
	if (r)
		return r;
	return joined ? run_joined(o) : run_private(o);
}
