/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns both ends of `run --pair`: a process between `run` and the two, which starts the server on
 * the first host, waits until it is ready, and starts the client on the second. When one fails, the
 * other one is told to end. Called in the child of run.c's command_start().
 */
#include "cli/pair.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/child.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/fabrics.h"
#include "hw/qp.h"
#include "shim/shim.h"
#include "super/netns.h"
#include "super/program.h"
#include "wire/prm/prm.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/num.h"

#define LOOK_NS (5 * NSEC_PER_MSEC) /* between two looks at a server that is not ready */
#define PIDS 256
#define KILL_NS (5 * NSEC_PER_SEC) /* from SIGTERM to SIGKILL, of an end that is not needed */

struct both {
	const struct cli_options *o;
	struct pair *p;
	int sock; /* to the supervisor */
	struct seg seg;
	sigset_t ours, mask;
	pid_t server, client;
	char first[32], second[32];
	uint64_t kill_at; /* 0: nobody is told to end */
};

struct pair *pair_new(void)
{
	struct pair *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* ---- is the server ready? */

/* Is the socket of this inode among those that listen? Lines of /proc/net/tcp and unix. */
static bool listens(pid_t pid, const char *table, unsigned int state_at, const char *state,
		    unsigned int inode_at, const char *inode)
{
	char path[64], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *st = "", *ino = "";
		char *save, *word = strtok_r(line, " \n", &save);

		for (unsigned int i = 0; word; i++, word = strtok_r(NULL, " \n", &save)) {
			st = i == state_at ? word : st;
			ino = i == inode_at ? word : ino;
		}
		found = !strcmp(st, state) && !strcmp(ino, inode);
	}
	if (f)
		fclose(f);
	return found;
}

static bool has_listener(pid_t pid)
{
	char path[64], target[64];
	const struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (strncmp(target, "socket:[", 8))
			continue;
		target[strcspn(target, "]")] = '\0';
		found = listens(pid, "tcp", 3, "0A", 9, target + 8) ||
			listens(pid, "tcp6", 3, "0A", 9, target + 8) ||
			listens(pid, "unix", 3, "00010000", 6, target + 8);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_in(const pid_t *pids, unsigned int n, pid_t pid)
{
	for (unsigned int i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool has_cm_listener(struct both *b, const pid_t *pids, unsigned int n)
{
	struct link_msg m = {.op = LINK_STATUS, .arg = LINK_STATUS_NO_HOSTS};
	int err;
	struct json_object *o = client_status(b->sock, &m, &err);
	struct json_object *ids = json_object_object_get(o, "cm_ids");
	bool found = false;

	for (size_t i = 0; ids && i < json_object_array_length(ids); i++) {
		struct json_object *id = json_object_array_get_idx(ids, i);

		found |= !strcmp(fabric_str(id, "state"), "LISTEN") &&
			 is_in(pids, n, (pid_t)fabric_num(id, "pid"));
	}
	json_object_put(o);
	return found;
}

/* A queue pair that receives: it has got its peer's number by other means, or needs none. */
static bool has_receiver(struct both *b, const pid_t *pids, unsigned int n)
{
	seg_for_each_live (&b->seg, SEG_T_QP, i) {
		const struct hw_qp *qp = hw_qp(&b->seg, i);
		const struct seg_proc *proc = qp ? seg_proc(&b->seg, qp->mem.slot) : NULL;
		uint32_t state = qp ? atomic_load(&qp->state) : 0;

		if (proc && (state == PRM_QP_STATE_RTR || state == PRM_QP_STATE_RTS) &&
		    is_in(pids, n, (pid_t)proc->pid))
			return true;
	}
	return false;
}

static bool is_ready(struct both *b)
{
	pid_t pids[PIDS];
	unsigned int n = tree_pids(pids, PIDS);

	for (unsigned int i = 0; i < n; i++)
		if (has_listener(pids[i]))
			return true;
	return has_receiver(b, pids, n) || has_cm_listener(b, pids, n);
}

/* ---- two processes */

static int find_hosts(struct both *b)
{
	struct link_msg m = {.op = LINK_STATUS};
	const char *first = getenv(SHIM_ENV_HOST);
	int err;
	struct json_object *o = client_status(b->sock, &m, &err);
	struct json_object *hosts = json_object_object_get(o, "hosts");

	snprintf(b->first, sizeof(b->first), "%s", first ? first : "");
	snprintf(b->second, sizeof(b->second), "%s", b->first);
	for (size_t i = 0; hosts && i < json_object_array_length(hosts); i++) {
		const char *name = fabric_str(json_object_array_get_idx(hosts, i), "name");

		if (strcmp(name, b->first) != 0) {
			snprintf(b->second, sizeof(b->second), "%s", name);
			break;
		}
	}
	json_object_put(o);
	return o ? 0 : err;
}

/* Until it executes its program, a child has the listening sockets of this process. */
static void wait_for_exec(const int gone[2])
{
	char c;

	close(gone[1]);
	while (read(gone[0], &c, 1) < 0 && errno == EINTR)
		;
	close(gone[0]);
}

static pid_t start(struct both *b, const char *host, char **argv)
{
	struct link_msg m = {.op = LINK_HOST};
	pid_t parent = getpid(), pid;
	int netns = -1, gone[2], r;

	snprintf(m.host, sizeof(m.host), "%s", host);
	r = client_request(b->sock, &m, &netns);
	if (r < 0)
		return prog_fail("cannot make host %s ready: %s", host, prog_why(-r)) * 0 - 1;
	if (pipe2(gone, O_CLOEXEC))
		return prog_fail("cannot make a pipe: %s", strerror(errno)) * 0 - 1;
	pid = fork();
	if (pid) {
		wait_for_exec(gone);
		if (netns >= 0)
			close(netns);
		return pid;
	}
	r = netns < 0 ? 0 : netns_enter(netns);
	if (r < 0)
		_exit(prog_fail("cannot enter the host's network namespace: %s", strerror(-r)));
	if (netns >= 0)
		close(netns);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(PROG_FAILED);
	sigprocmask(SIG_SETMASK, &b->mask, NULL);
	setenv(SHIM_ENV_HOST, host, 1);
	child_exec(argv);
}

static bool failed(const struct pair_end *e)
{
	return e->ended && !e->stopped && e->status;
}

static void end_other(struct both *b, struct pair_end *other)
{
	if (other->ended || b->kill_at)
		return;
	other->stopped = true;
	tree_signal(SIGTERM, 0);
	b->kill_at = clock_now_ns() + KILL_NS;
}

/* Waits for a signal, at most until `deadline`; what has ended is noted. */
static void wait_some(struct both *b, uint64_t ns)
{
	const struct timespec ts = {.tv_sec = (time_t)(ns / NSEC_PER_SEC),
				    .tv_nsec = (long)(ns % NSEC_PER_SEC)};
	int sig = sigtimedwait(&b->ours, NULL, &ts), status;
	pid_t pid;

	if (sig > 0 && sig != SIGCHLD)
		tree_signal(sig, 0);
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct pair_end *e = pid == b->server   ? &b->p->server
				     : pid == b->client ? &b->p->client
							: NULL;

		if (!e)
			continue;
		e->status = status;
		e->ended = true;
	}
	if (failed(&b->p->server) && b->client > 0)
		end_other(b, &b->p->client);
	if (failed(&b->p->client))
		end_other(b, &b->p->server);
	if (b->kill_at && clock_now_ns() > b->kill_at)
		tree_signal(SIGKILL, 0);
}

static int prepare(struct both *b)
{
	struct link_msg m = {.op = LINK_SEGMENT};
	int fd = -1, r;

	b->sock = client_here(b->o->verb);
	if (b->sock == PROG_FAILED)
		return PROG_FAILED;
	r = find_hosts(b);
	if (!r)
		r = client_request(b->sock, &m, &fd);
	if (!r)
		r = fd < 0 ? -EPROTO : seg_map(&b->seg, fd);
	return r ? prog_fail("the fabric does not answer: %s", prog_why(-r)) : 0;
}

static int run_both(struct both *b)
{
	char *server[] = {(char *)"/bin/sh", (char *)"-c", (char *)b->o->pair, NULL};
	struct pair *p = b->p;

	b->server = start(b, b->first, server);
	if (b->server < 0)
		return PROG_FAILED;
	while (!is_ready(b)) {
		wait_some(b, LOOK_NS);
		/* A server that goes on in the background has left a process. */
		if (p->server.ended && (p->server.status || !tree_signal(0, 0))) {
			if (!p->server.status)
				return prog_fail("the server has ended before it listened or used "
						 "an adapter");
			return command_end_like(p->server.status, NULL);
		}
	}
	p->stage = PAIR_BOTH;
	b->client = start(b, b->second, b->o->argv);
	if (b->client < 0)
		return PROG_FAILED;
	while (!p->client.ended || !p->server.ended)
		wait_some(b, NSEC_PER_SEC);
	return failed(&p->client)   ? command_end_like(p->client.status, NULL)
	       : failed(&p->server) ? command_end_like(p->server.status, NULL)
				    : 0;
}

void pair_run(const struct cli_options *o, struct pair *p)
{
	static const int ours[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	struct both b = {.o = o, .p = p};
	int r;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&b.ours);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		sigaddset(&b.ours, ours[i]);
	sigprocmask(SIG_BLOCK, &b.ours, &b.mask);
	r = prepare(&b);
	_exit(r ? r : run_both(&b));
}

static void put_end(const char *name, const struct pair_end *e, char *text, size_t size)
{
	size_t n = strlen(text);
	int status = e->status;
	const char *sig = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (!failed(e))
		return;
	n += (size_t)snprintf(text + n, size - n, "%sthe %s: ", n ? ", " : "", name);
	if (WIFSIGNALED(status))
		snprintf(text + n, size - n, "signal %d (SIG%s)", WTERMSIG(status),
			 sig ? sig : "?");
	else
		snprintf(text + n, size - n, "exit status %d", WEXITSTATUS(status));
}

void pair_text(const struct pair *p, char *text, size_t size)
{
	*text = 0;
	put_end("server", &p->server, text, size);
	put_end("client", &p->client, text, size);
	if (*text)
		return;
	if (p->stage == PAIR_SERVER && !p->server.ended)
		snprintf(text, size, "the server has neither listened nor used an adapter");
	else if (p->client.ended && !p->server.ended)
		snprintf(text, size, "the server has not ended after its client");
	else if (p->server.ended && p->stage == PAIR_BOTH && !p->client.ended)
		snprintf(text, size, "the client has not ended after the server");
}
