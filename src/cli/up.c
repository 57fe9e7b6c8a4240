/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca up` and `softhca down`: a supervisor in its own process. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/child.h"
#include "cli/client.h"
#include "super/program.h"
#include "super/runtime.h"
#include "super/supervisor.h"
#include "topo/topo.h"
#include "util/cleanup.h"
#include "util/log.h"

static void up_on_signal(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct signalfd_siginfo si;

	while (read(src->fd, &si, sizeof(si)) == sizeof(si))
		sup->stop = true;
}

/* Stops the fabric when its lock file is removed: without the file no command finds the fabric. */
struct lock_watch {
	struct sup_source src; /* first */
	int lock;
	bool gone;
};

static void on_lock(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct lock_watch *w = (struct lock_watch *)src;
	char buf[1024];
	struct stat st;

	while (read(src->fd, buf, sizeof(buf)) > 0)
		;
	w->gone = !fstat(w->lock, &st) && !st.st_nlink;
}

/* If the lock file cannot be watched, a fabric that lost it runs until it is killed. */
static void watch_lock(struct sup *sup, struct lock_watch *w, int lock)
{
	char path[32];

	*w = (struct lock_watch){.lock = lock};
	w->src = (struct sup_source){.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
				     .ready = on_lock};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", lock);
	if (w->src.fd < 0)
		return;
	if (inotify_add_watch(w->src.fd, path, IN_ATTRIB | IN_DELETE_SELF) < 0 ||
	    sup_watch(sup, &w->src) < 0) {
		close(w->src.fd);
		w->src.fd = -1;
	}
}

/* From here on our output is invisible, and we hold no pipe of our caller open. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	if (chdir("/") < 0)
		return; /* otherwise it would keep its caller's directory busy */
}

/* Takes the name that the user gave, or the first of f1, f2... that is free. */
static int up_claim(struct runtime *rt, const struct cli_options *o, char name[PROG_NAME_MAX + 1],
		    int *lock, int *dir)
{
	int r = -EBUSY;

	if (o->argc) {
		snprintf(name, PROG_NAME_MAX + 1, "%s", o->argv[0]);
		return runtime_claim(rt, name, false, lock, dir);
	}
	for (unsigned int i = 1; r == -EBUSY && i < INT_MAX; i++) {
		snprintf(name, PROG_NAME_MAX + 1, "f%u", i);
		r = runtime_claim(rt, name, false, lock, dir);
	}
	return r;
}

/* The supervisor's process. It writes its name to `ready` when the fabric can be joined. */
static int up_serve(struct cli_options *o, int ready)
{
	struct sup_source signals = {.ready = up_on_signal};
	struct lock_watch watched;
	char name[PROG_NAME_MAX + 1];
	struct topo topo = {0};
	struct child_state st;
	struct runtime rt;
	static struct sup sup; /* a stack may have 64 KiB */
	sigset_t set;
	int lock, dir, r;

	r = topo_prepare(o, &topo);
	if (r)
		return r;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	child_save_state(&st, &set);
	r = runtime_open(&rt, true);
	if (r)
		return r;
	runtime_sweep(&rt);
	r = up_claim(&rt, o, name, &lock, &dir);
	if (r < 0) {
		r = r == -EBUSY ? prog_fail("up: fabric '%s' is up already", name)
				: prog_fail("cannot write in the runtime directory %s: %s", rt.path,
					    prog_why(-r));
		runtime_close(&rt);
		return r;
	}
	r = sup_init(&sup, &rt, name, dir, &o->fab, topo.nnodes ? &topo : NULL, false);
	topo_free(&topo);
	malloc_trim(0); /* return the memory of a large topology, as the process runs for days */
	if (!r) {
		signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		if (signals.fd < 0 || sup_watch(&sup, &signals) < 0)
			r = prog_fail("cannot watch signals: %s", prog_why(errno));
	}
	if (!r) {
		detach();
		/* The caller was interrupted and does not wait any more: leave nothing behind. */
		sup.stop = write(ready, name, strlen(name)) != (ssize_t)strlen(name);
		close(ready);
		watch_lock(&sup, &watched, lock);
		while (!sup.stop && !(watched.gone && !sup_attached(&sup)) &&
		       !sup_turn(&sup, UINT64_MAX))
			;
	}
	sup_finish(&sup);
	runtime_release(&rt, name, lock);
	runtime_close(&rt);
	return r;
}

int cli_up(struct cli_options *o)
{
	char name[PROG_NAME_MAX + 1] = "";
	int p[2], status;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return prog_fail("cannot make a pipe: %s", prog_why(errno));
	pid = fork();
	if (pid < 0)
		return prog_fail("cannot start a process: %s", prog_why(errno));
	if (!pid) {
		int ready = p[1];

		setsid();
		/* Close descriptors that our caller leaked, because this process runs for days. */
		if (ready != 3)
			ready = dup3(ready, 3, O_CLOEXEC);
		log_finish();
		syscall(SYS_close_range, 4, ~0U, 0);
		log_init();
		_exit(up_serve(o, ready));
	}
	close(p[1]);
	if (read(p[0], name, PROG_NAME_MAX) > 0) {
		if (!o->argc)
			printf("%s\n", name);
		return 0;
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return prog_fail("up: the supervisor ended before it was ready");
}

static int wait_end(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 10000) > 0 ? 0 : -ETIMEDOUT;
}

/* Wait until the supervisor's process has ended; then the fabric has left nothing behind. */
static int wait_gone(int sock)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);
	int pidfd = -1;
	char c;

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, cred.pid, 0);
	if (pidfd >= 0) {
		int r = wait_end(pidfd);

		close(pidfd);
		return r;
	}
	/*
	 * It is in another PID namespace, or has ended already: rely on the end of the connection.
	 */
	return recv(sock, &c, 1, 0) < 0 && errno == EAGAIN ? -ETIMEDOUT : 0;
}

/* The socket is missing, but the supervisor may be alive: a user may have emptied its directory. */
static int end_without_socket(struct runtime *rt, const char *name)
{
	_cleanup_close_ int pidfd = rt->fd < 0 ? -ENOENT : runtime_holder(rt, name);

	if (pidfd < 0)
		return pidfd;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0)
		return -errno;
	return wait_end(pidfd);
}

static int take_down(struct runtime *rt, const char *name)
{
	_cleanup_close_ int sock = rt->fd < 0 ? -ENOENT : runtime_connect(rt, name);
	struct link_msg m = {.op = LINK_DOWN};
	int r, fd;

	if (sock == -ENOENT || sock == -ECONNREFUSED)
		return end_without_socket(rt, name);
	if (sock < 0)
		return sock;
	r = client_request(sock, &m, &fd);
	if (fd >= 0)
		close(fd);
	return r ? r : wait_gone(sock);
}

/* Reports the result of take_down(). 0, or PROG_FAILED after a message. */
static int down_said(const char *name, int r)
{
	if (r == -ENOENT)
		return prog_fail("down: there is no fabric '%s'", name);
	if (r == -EBUSY)
		return prog_fail("down: '%s' is the fabric of a running command and ends with it",
				 name);
	if (r == -ESRCH)
		return prog_fail(
			"down: the files of fabric '%s' are gone, and its supervisor is in "
			"another PID namespace",
			name);
	return r < 0 ? prog_fail("down: fabric '%s' does not answer: %s", name, prog_why(-r)) : 0;
}

struct downs {
	struct runtime *rt;
	int r;
};

static int down_each(void *arg, const char *name)
{
	struct downs *d = arg;
	int r = take_down(d->rt, name);

	/* -EBUSY: a private fabric ends with its command; -ENOENT: it has just ended */
	if (r != -EBUSY && r != -ENOENT)
		d->r |= down_said(name, r);
	return 0;
}

static int down_all(struct runtime *rt)
{
	struct downs d = {.rt = rt};
	int r = rt->fd < 0 ? 0 : runtime_for_each(rt, down_each, &d);

	return r < 0 ? prog_fail("down: cannot read %s: %s", rt->path, prog_why(-r)) : d.r;
}

int cli_down(struct cli_options *o)
{
	struct runtime rt;
	int r;

	if (o->all == (o->argc > 0))
		return prog_fail(o->all ? "down: a name and --all exclude each other"
					: "down: NAME or --all is missing (softhca down --help)");
	r = runtime_open(&rt, false);
	if (r > 0)
		return r;
	r = o->all ? down_all(&rt) : down_said(o->argv[0], take_down(&rt, o->argv[0]));
	if (rt.fd >= 0)
		runtime_sweep(&rt);
	runtime_close(&rt);
	return r;
}
