/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The costs of this machine without softhca, in nanoseconds for one operation, as "name value"
 * lines: the floors that bench/run divides by. Cross-process copies go to a child that polls its
 * last byte on the other core, as the two ends of perftest do. Each value is the median of rounds.
 * With names as arguments only these are measured.
 */
#define FLOOR_ROUNDS 31
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MIB (1 << 20)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static char **wanted; /* names to measure, up to NULL; none: all */

static int is_wanted(const char *name)
{
	for (char **w = wanted; *w; w++)
		if (!strcmp(*w, name))
			return 1;
	return !*wanted;
}

static void print_median(const char *name, double t[FLOOR_ROUNDS])
{
	qsort(t, FLOOR_ROUNDS, sizeof(t[0]), by_value);
	printf("%s %.1f\n", name, t[FLOOR_ROUNDS / 2]);
	fflush(stdout);
}

static void report(const char *name, void (*op)(void *), void *arg, int n)
{
	double t[FLOOR_ROUNDS];

	if (!is_wanted(name))
		return;

	for (int r = 0; r < FLOOR_ROUNDS; r++) {
		uint64_t start = now_ns();

		for (int i = 0; i < n; i++)
			op(arg);
		t[r] = (double)(now_ns() - start) / n;
	}
	print_median(name, t);
}

static void null_syscall(void *arg)
{
	syscall(SYS_getppid);
}

static uint8_t *trap_page;

/* A trapped doorbell does at least this: it skips the store below, which has three bytes. */
static void skip(int sig, siginfo_t *si, void *uc)
{
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP] += 3;
}

static void trap(void *arg)
{
	__asm__ volatile("movq %%rax, (%%rdx)" : : "d"(trap_page), "a"(1L) : "memory");
}

struct copy {
	void *dst, *src;
	size_t len;
	pid_t pid;
};

static void copy_local(void *arg)
{
	struct copy *c = arg;

	memcpy(c->dst, c->src, c->len);
	__asm__ volatile("" : : "r"(c->dst) : "memory");
}

static void copy_remote(void *arg)
{
	struct copy *c = arg;
	struct iovec l = {c->src, c->len}, r = {c->dst, c->len};

	if (process_vm_writev(c->pid, &l, 1, &r, 1, 0) != (ssize_t)c->len) {
		perror("process_vm_writev");
		exit(1);
	}
}

/* A child that has `buf` mapped and polls the last byte of what is written to it. */
static pid_t poller(volatile uint8_t *last)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	pin(1);
	for (;;)
		(void)*last;
}

static void remote(const char *name, uint8_t *dst, uint8_t *src, size_t len, int n)
{
	struct copy c = {dst, src, len, 0};

	if (!is_wanted(name))
		return;
	c.pid = poller(dst + len - 1);
	usleep(20000);
	report(name, copy_remote, &c, n);
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
}

/* A round trip between two processes on two cores; each sleeps until a byte comes. */
static int pipes[2][2];

static void bounce(void *arg)
{
	char c = 0;

	if (write(pipes[0][1], &c, 1) != 1 || read(pipes[1][0], &c, 1) != 1) {
		perror("pipe");
		exit(1);
	}
}

static void pipe_pair(const char *name)
{
	char c;
	pid_t pid;

	if (!is_wanted(name))
		return;
	if (pipe(pipes[0]) || pipe(pipes[1])) {
		perror("pipe");
		exit(1);
	}
	pid = fork();
	if (!pid) {
		pin(1);
		close(pipes[0][1]);
		while (read(pipes[0][0], &c, 1) == 1 && write(pipes[1][1], &c, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < 1000; i++)
		bounce(NULL);
	report(name, bounce, NULL, 1); /* the typical one, as perftest's latency is */
	close(pipes[0][1]);
	waitpid(pid, NULL, 0);
}

/*
 * One way between two processes that poll one cache line which both have mapped: no latency between
 * two processors is below it.
 */
static volatile uint32_t *line;

static void answer_line(uint32_t turns)
{
	for (uint32_t i = 1; i < turns; i += 2) {
		while (*line != i)
			;
		*line = i + 1;
	}
}

#define LINE_TURNS 20000u

static void line_there_and_back(void)
{
	for (uint32_t i = 0; i < LINE_TURNS; i += 2) {
		*line = i + 1;
		while (*line != i + 2)
			;
	}
}

static void line_pair(const char *name)
{
	double t[FLOOR_ROUNDS];

	if (!is_wanted(name))
		return;
	line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (line == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	for (int r = 0; r < FLOOR_ROUNDS; r++) {
		pid_t parent = getpid(), pid = fork();
		uint64_t start;

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == parent) {
				pin(1);
				*line = UINT32_MAX;
				answer_line(LINE_TURNS);
			}
			_exit(0);
		}
		while (*line != UINT32_MAX) /* the child polls now */
			;
		start = now_ns();
		line_there_and_back();
		t[r] = (double)(now_ns() - start) / LINE_TURNS;
		waitpid(pid, NULL, 0);
	}
	print_median(name, t);
}

static uint8_t *region(size_t len)
{
	uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memset(p, 1, len);
	return p;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO | SA_NODEFER};
	uint8_t *src = region(8 * MIB), *dst = region(8 * MIB);

	wanted = argv + (argc > 0);
	pin(0);
	trap_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, NULL);
	report("null_syscall", null_syscall, NULL, 10000);
	report("trap", trap, NULL, 10000);
	report("memcpy_64k", copy_local, &(struct copy){dst, src, 65536, 0}, 2000);
	report("memcpy_1m", copy_local, &(struct copy){dst, src, MIB, 0}, 100);
	report("memcpy_8m", copy_local, &(struct copy){dst, src, 8 * MIB, 0}, 10);
	remote("vm_writev_2", dst, src, 2, 10000);
	remote("vm_writev_64k", dst, src, 65536, 1000);
	pipe_pair("pipe_there_and_back");
	line_pair("line");
	return 0;
}
