/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many processes start at once on one adapter: each opens it and makes a PD, a CQ and an RC QP.
 *
 * start <processes> [opened|killed]
 *
 * Every process is a program of its own (exec), waits at a gate before it opens the device, or with
 * `opened` after that, and keeps its objects until all are done. Prints how many have all objects,
 * and the time from the gate's opening; status 0: all have. `killed`: all are killed when half are
 * done, the others at any step; status 0: all ended by that.
 */
#include <infiniband/verbs.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const steps[] = {"open the device", "allocate a PD", "create a CQ",
				    "create a QP"};
#define STEPS 4

/* Shared by the processes, in a memfd. */
struct shared {
	_Atomic int ready, done, ok;
	_Atomic int failed[STEPS], error[STEPS];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	return list && *list ? ibv_open_device(*list) : NULL;
}

/* Wait until the other end of the pipe is closed. */
static void wait_for_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

/* Make all objects; returns the number of steps that succeeded. */
static int make_all(struct ibv_context *ctx, bool opened, int gate)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_pd *pd;

	if (!opened)
		ctx = open_first();
	else
		wait_for_end(gate);
	if (!ctx)
		return 0;
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		return 1;
	attr.send_cq = attr.recv_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	if (!attr.send_cq)
		return 2;
	return ibv_create_qp(pd, &attr) ? 4 : 3;
}

static int child(struct shared *sh, bool opened, int gate, int end)
{
	struct ibv_context *ctx = opened ? open_first() : NULL;
	int n;

	atomic_fetch_add(&sh->ready, 1);
	if (!opened)
		wait_for_end(gate);
	errno = 0;
	n = make_all(ctx, opened, gate);
	if (n < STEPS) {
		atomic_store(&sh->error[n], errno);
		atomic_fetch_add(&sh->failed[n], 1);
	} else {
		atomic_fetch_add(&sh->ok, 1);
	}
	atomic_fetch_add(&sh->done, 1);
	wait_for_end(end);
	return 0;
}

static pid_t spawn(const char *self, const char *how, int mem, const int gate[2], const int end[2])
{
	char arg[3][16];
	pid_t pid = fork();

	if (pid)
		return pid;
	close(gate[1]);
	close(end[1]);
	snprintf(arg[0], sizeof(arg[0]), "%d", mem);
	snprintf(arg[1], sizeof(arg[1]), "%d", gate[0]);
	snprintf(arg[2], sizeof(arg[2]), "%d", end[0]);
	execl(self, self, "child", how, arg[0], arg[1], arg[2], NULL);
	_exit(126);
}

static void wait_for_count(_Atomic int *n, int want)
{
	struct timespec t = {.tv_nsec = 1000000};

	/* Children that die also end the wait; the final status counts them. */
	while (atomic_load(n) < want && waitpid(-1, NULL, WNOHANG) <= 0)
		nanosleep(&t, NULL);
}

static int kill_all(struct shared *sh, const pid_t *pid, int n)
{
	int status, killed = 0;

	wait_for_count(&sh->done, n / 2);
	for (int i = 0; i < n; i++)
		kill(pid[i], SIGKILL);
	while (wait(&status) > 0)
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	printf("%d of %d killed\n", killed, n);
	return killed == n ? 0 : 1;
}

static int parent(const char *self, int n, const char *how)
{
	pid_t *pid = calloc((size_t)n, sizeof(*pid));
	int mem = memfd_create("start", 0), gate[2], end[2];
	struct shared *sh;
	double start, took;

	if (!pid || mem < 0 || ftruncate(mem, sizeof(*sh)) || pipe(gate) || pipe(end))
		return 2;
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	if (sh == MAP_FAILED)
		return 2;
	for (int i = 0; i < n; i++)
		pid[i] = spawn(self, how, mem, gate, end);
	wait_for_count(&sh->ready, n);
	start = now();
	close(gate[1]);
	if (!strcmp(how, "killed"))
		return kill_all(sh, pid, n);
	wait_for_count(&sh->done, n);
	took = now() - start;
	close(end[1]);
	while (wait(NULL) > 0)
		;
	printf("%d of %d in %.2f s\n", atomic_load(&sh->ok), n, took);
	for (int i = 0; i < STEPS; i++)
		if (sh->failed[i])
			printf("%d could not %s: %s\n", sh->failed[i], steps[i],
			       strerror(sh->error[i]));
	return sh->ok == n ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct shared *sh;

	if (argc == 6 && !strcmp(argv[1], "child")) {
		sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[3]), 0);
		return sh == MAP_FAILED ? 2
					: child(sh, !strcmp(argv[2], "opened"), atoi(argv[4]),
						atoi(argv[5]));
	}
	if (argc < 2 || atoi(argv[1]) < 1)
		return 2;
	return parent("/proc/self/exe", atoi(argv[1]), argc > 2 ? argv[2] : "closed");
}
