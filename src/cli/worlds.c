/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca world --all`: starts `softhca run --world W` once for each world, several at a time, and
 * reads what they print. Each has a session of its own, so that a command that signals its group,
 * or a key at the terminal, reaches no other one; SIGTERM from here, also when this process is
 * killed, ends them, and with each its fabric.
 */
#include "cli/worlds.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "super/program.h"
#include "super/runtime.h"
#include "topo/topo.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define TIMEOUT_S 60 /* of a command */
/* How long `softhca run` may need beyond its --timeout, or after a signal: then it hangs itself. */
#define GRACE_NS (60 * NSEC_PER_SEC)

struct worlds {
	const struct cli_options *o;
	struct worlds_run *run;
	size_t n, started, printed, running;
	uint32_t jobs;
	int width;
	bool table, progress;
	int sig; /* that ends us; 0: none */
	uint64_t kill_at;
	int fd;        /* signalfd */
	sigset_t mask; /* that of the commands */
};

/* ---- one run */

static char *joined(const char *name, const char *arg)
{
	char *text = NULL;

	return asprintf(&text, "--%s%s%s", name, arg ? "=" : "", arg ? arg : "") < 0 ? NULL : text;
}

static void exec_run(const struct worlds *ws, const struct worlds_run *w, pid_t parent)
{
	const struct cli_options *o = ws->o;
	char **argv = calloc((size_t)o->argc + o->npassed + 8, sizeof(*argv)), path[64], limit[16];
	size_t n = 0;

	if (!argv)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)parent, w->report);
	argv[n++] = (char *)"softhca";
	argv[n++] = (char *)"run";
	for (uint32_t i = 0; i < o->npassed; i++)
		argv[n++] = joined(o->passed[i].name, o->passed[i].arg);
	snprintf(limit, sizeof(limit), "%u", o->timeout ? o->timeout : TIMEOUT_S);
	argv[n++] = joined("timeout", limit);
	argv[n++] = joined("report", path);
	if (w->row)
		argv[n++] = joined("world", w->row->name);
	argv[n++] = (char *)"--";
	for (int i = 0; i < o->argc; i++)
		argv[n++] = o->argv[i];
	execv("/proc/self/exe", argv);
}

/* In the child. */
static void become_run(const struct worlds *ws, const struct worlds_run *w, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(PROG_FAILED);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	sigprocmask(SIG_SETMASK, &ws->mask, NULL);
	exec_run(ws, w, parent);
	prog_fail("world: cannot start softhca run: %s", strerror(errno));
	_exit(PROG_FAILED);
}

static int start(struct worlds *ws, struct worlds_run *w)
{
	pid_t parent = getpid();
	int p[2];

	w->began = clock_now_ns();
	w->report = memfd_create("softhca-report", MFD_CLOEXEC);
	if (w->report < 0 || pipe2(p, O_CLOEXEC) < 0)
		return prog_fail("world: %s", prog_why(errno));
	w->out = p[0];
	fcntl(w->out, F_SETFL, O_NONBLOCK);
	w->pid = fork();
	if (!w->pid)
		become_run(ws, w, p[1], parent);
	close(p[1]);
	if (w->pid < 0) {
		w->pid = 0;
		return prog_fail("world: cannot start a process: %s", strerror(errno));
	}
	ws->running++;
	return 0;
}

/* Keeps the last WORLDS_OUTPUT bytes. */
static void keep_text(struct worlds_run *w, const char *buf, size_t n)
{
	char *more;

	if (w->len + n > 2 * WORLDS_OUTPUT) {
		size_t drop = w->len - WORLDS_OUTPUT;

		memmove(w->text, w->text + drop, w->len - drop);
		w->len -= drop;
		w->cut = true;
	}
	more = realloc(w->text, w->len + n + 1);
	if (!more)
		return;
	w->text = more;
	memcpy(w->text + w->len, buf, n);
	w->len += n;
	w->text[w->len] = '\0';
}

static void read_out(struct worlds_run *w)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(w->out, buf, sizeof(buf))) > 0)
		keep_text(w, buf, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	close(w->out);
	w->out = -1;
}

static void finish(struct worlds *ws, struct worlds_run *w)
{
	/* A process that the command has left may hold the pipe: do not wait for its end. */
	if (w->out >= 0)
		read_out(w);
	if (w->out >= 0)
		close(w->out);
	w->out = -1;
	w->ended = clock_now_ns();
	if (!w->began)
		w->began = w->ended;
	w->done = true;
	worlds_judge(w);
	if (w->report >= 0)
		close(w->report);
	w->report = -1;
}

/* ---- all of them */

static void show(struct worlds *ws)
{
	size_t bad = 0, done = 0;

	if (ws->progress)
		printf("\r\033[K");
	for (size_t i = 1; i < ws->n; i++)
		ws->run[i].usual_bad = ws->run[0].done && worlds_bad(&ws->run[0]);
	while (ws->table && ws->printed < ws->n && ws->run[ws->printed].done)
		worlds_print(&ws->run[ws->printed++], ws->width, ws->o->verbose);
	for (size_t i = 0; i < ws->n; i++) {
		done += ws->run[i].done;
		bad += ws->run[i].done && worlds_bad(&ws->run[i]);
	}
	if (ws->progress && done < ws->n && !ws->sig) {
		printf("%zu of %zu, %zu failed:", done, ws->n, bad);
		for (size_t i = 0, shown = 0; i < ws->n && shown < 2; i++)
			if (ws->run[i].pid && ++shown)
				printf(" %s", worlds_name(&ws->run[i]));
	}
	fflush(stdout);
}

static void signal_all(struct worlds *ws, int sig)
{
	for (size_t i = 0; i < ws->n; i++)
		if (ws->run[i].pid)
			kill(ws->run[i].pid, sig);
}

static void reap(struct worlds *ws)
{
	for (size_t i = 0; i < ws->n; i++) {
		struct worlds_run *w = &ws->run[i];

		if (!w->pid || waitpid(w->pid, &w->waited, WNOHANG) != w->pid)
			continue;
		w->pid = 0;
		ws->running--;
		finish(ws, w);
	}
}

static void read_signals(struct worlds *ws)
{
	struct signalfd_siginfo si;

	while (read(ws->fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue;
		if (!ws->sig)
			signal_all(ws, SIGTERM);
		ws->sig = (int)si.ssi_signo;
		ws->kill_at = clock_now_ns() + GRACE_NS;
	}
}

/* A run that does not end by its own time limit is killed. */
static void kill_late(struct worlds *ws)
{
	uint64_t now = clock_now_ns();
	uint64_t limit = (ws->o->timeout ? ws->o->timeout : TIMEOUT_S) * NSEC_PER_SEC + GRACE_NS;

	for (size_t i = 0; i < ws->n; i++)
		if (ws->run[i].pid &&
		    (now > ws->run[i].began + limit || (ws->sig && now > ws->kill_at)))
			kill(ws->run[i].pid, SIGKILL);
}

static int turn(struct worlds *ws)
{
	struct pollfd *p = calloc(ws->n + 1, sizeof(*p));

	if (!p)
		return prog_fail("world: out of memory");
	p[0] = (struct pollfd){.fd = ws->fd, .events = POLLIN};
	for (size_t i = 0; i < ws->n; i++)
		p[i + 1] = (struct pollfd){.fd = ws->run[i].pid ? ws->run[i].out : -1,
					   .events = POLLIN};
	poll(p, ws->n + 1, 1000);
	for (size_t i = 0; i < ws->n; i++)
		if (p[i + 1].revents)
			read_out(&ws->run[i]);
	free(p);
	read_signals(ws);
	kill_late(ws);
	reap(ws);
	return 0;
}

static int run_all(struct worlds *ws)
{
	int r = 0;

	while (!r && (ws->running || (ws->started < ws->n && !ws->sig))) {
		while (!r && !ws->sig && ws->started < ws->n && ws->running < ws->jobs) {
			struct worlds_run *w = &ws->run[ws->started++];

			if (*w->unfit)
				finish(ws, w);
			else
				r = start(ws, w);
		}
		show(ws);
		if (!r && ws->running)
			r = turn(ws);
	}
	if (r)
		signal_all(ws, SIGKILL);
	show(ws);
	return r;
}

/* ---- which worlds */

static bool is_meant(const struct cli_options *o, const struct world_row *row)
{
	return !o->only || !fnmatch(o->only, row->name, 0) || !fnmatch(o->only, row->group, 0);
}

static void add(struct worlds *ws, const struct world_row *row, const struct topo *t)
{
	struct worlds_run *w = &ws->run[ws->n++];
	struct cli_options o = *ws->o;
	const char *unknown;
	size_t len;

	*w = (struct worlds_run){.row = row, .out = -1, .report = -1};
	if (row && world_add(&o.fab.world, row->name, &unknown, &len, w->unfit))
		return;
	world_fit(&o, t, w->unfit);
	if (ws->width < (int)strlen(worlds_name(w)))
		ws->width = (int)strlen(worlds_name(w));
}

static int choose(struct worlds *ws)
{
	struct cli_options o = *ws->o; /* topo_prepare() completes it */
	struct topo t = {0};
	size_t n = 0;
	int r = topo_prepare(&o, &t);

	while (!r && world_row(n))
		n++;
	ws->run = r ? NULL : calloc(n + 1, sizeof(*ws->run));
	if (!ws->run) {
		topo_free(&t);
		return r ? r : prog_fail("world: out of memory");
	}
	add(ws, NULL, &t);
	for (size_t i = 0; i < n; i++)
		if (is_meant(ws->o, world_row(i)))
			add(ws, world_row(i), &t);
	topo_free(&t);
	if (ws->n == 1 && ws->o->only)
		return prog_fail(
			"world: --only: no world and no group is named '%s' (softhca world)",
			ws->o->only);
	return 0;
}

static uint32_t processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (uint32_t)CPU_COUNT(&set);
}

static int write_files(const struct worlds *ws)
{
	const struct cli_options *o = ws->o;
	int r = o->json_file ? worlds_write_json(o->json_file, ws->run, ws->n, o->verbose) : 0;

	if (o->junit_file)
		r = worlds_write_junit(o->junit_file, o, ws->run, ws->n) ?: r;
	return r;
}

static bool is_stdout(const char *file)
{
	return file && !strcmp(file, "-");
}

/* A killed run cannot remove its fabric. */
static void sweep(void)
{
	struct runtime rt;

	if (runtime_open(&rt, false))
		return;
	runtime_sweep(&rt);
	runtime_close(&rt);
}

static int end_by(int sig, const sigset_t *mask)
{
	const struct sigaction dfl = {.sa_handler = SIG_DFL};

	sigaction(sig, &dfl, NULL);
	raise(sig);
	sigprocmask(SIG_SETMASK, mask, NULL);
	return 128 + sig;
}

int cli_worlds(struct cli_options *o)
{
	static const int ours[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction dfl = {.sa_handler = SIG_DFL};
	struct worlds ws = {.o = o};
	sigset_t set;
	int r, bad = 0;

	if (!o->all)
		return prog_fail("world: --all runs '%s': name worlds by --only", o->argv[0]);
	if (is_stdout(o->json_file) && is_stdout(o->junit_file))
		return prog_fail("world: --json and --junit cannot both be standard output");
	ws.table = !is_stdout(o->json_file) && !is_stdout(o->junit_file);
	ws.progress = ws.table && isatty(STDOUT_FILENO);
	ws.jobs = o->jobs ? o->jobs : o->pair ? 1 : processors();
	r = choose(&ws);
	if (r) {
		free(ws.run);
		return r;
	}
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		sigaddset(&set, ours[i]);
	sigaction(SIGCHLD, &dfl, NULL);
	sigprocmask(SIG_BLOCK, &set, &ws.mask);
	ws.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r = ws.fd < 0 ? prog_fail("world: %s", prog_why(errno)) : run_all(&ws);
	if (ws.sig)
		sweep();
	for (size_t i = 0; i < ws.n; i++)
		bad |= worlds_bad(&ws.run[i]);
	if (!r && !ws.sig && ws.table)
		worlds_print_sum(ws.run, ws.n);
	if (!r && !ws.sig)
		r = write_files(&ws);
	for (size_t i = 0; i < ws.n; i++) {
		free(ws.run[i].text);
		free(ws.run[i].last);
		free(ws.run[i].said);
		json_object_put(ws.run[i].known);
	}
	free(ws.run);
	if (ws.sig)
		return end_by(ws.sig, &ws.mask);
	sigprocmask(SIG_SETMASK, &ws.mask, NULL);
	return r ? r : bad;
}
