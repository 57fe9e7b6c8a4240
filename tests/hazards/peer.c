/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 2: a peer's memory is gone, and a stranger has the same pid and the same addresses. Linked
 * at a fixed address: `mem` is at the same place in every image of this program.
 */
#include "rc.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SIZE 65536u
#define BEFORE 0x11 /* value that the writer writes */
#define AFTER 0x22  /* value that the stranger stores */
#define SKIP 77

static uint8_t mem[SIZE] __attribute__((aligned(4096)));
static char *const after[] = {"peer", "after", NULL};
extern char **environ;

/* The new image: nothing may be written here. */
static int watch(double seconds)
{
	double end = rc_now() + seconds;

	do
		for (size_t i = 0; i < SIZE; i += 64)
			if (((volatile uint8_t *)mem)[i] != AFTER)
				return 1;
	while (rc_now() < end);
	return 0;
}

static int after_exec(int argc, char **argv)
{
	memset(mem, AFTER, SIZE);
	return watch(0.2);
}

static void *exec_now(void *how)
{
	const char *self = "/proc/self/exe";

	if (!strcmp(how, "raw"))
		syscall(SYS_execve, self, after, environ);
	else if (!strcmp(how, "raw_at"))
		syscall(SYS_execveat, AT_FDCWD, self, after, environ, 0);
	else if (!strcmp(how, "fexecve"))
		fexecve(open(self, O_RDONLY | O_CLOEXEC), after, environ);
	else
		execve(self, after, environ);
	DIE("exec");
}

/* The target of the writes. Never returns. */
static void target(int sock, const char *how)
{
	volatile uint8_t *last = mem + SIZE - 1;
	struct rc_end e = {0};
	pthread_t t;

	rc_make(&e, mem, SIZE, 0);
	rc_exchange(&e, sock);
	rc_sync(sock);
	while (*last != BEFORE) /* wait until writes have begun */
		;
	personality(ADDR_NO_RANDOMIZE);
	if (!how)
		for (;;)
			pause();
	if (!strcmp(how, "thread")) {
		pthread_create(&t, NULL, exec_now, (void *)(uintptr_t)how);
		for (;;)
			pause();
	}
	exec_now((void *)(uintptr_t)how);
}

static void open_writer(struct rc_end *e, int sock)
{
	struct rc_addr peer;

	memset(e, 0, sizeof(*e));
	rc_make(e, NULL, SIZE, 0);
	memset(e->buf, BEFORE, SIZE);
	CHECK(read(sock, &peer, sizeof(peer)) == sizeof(peer));
	rc_connect(e, &peer, 10, 2);
	CHECK(write(sock, &e->me, sizeof(e->me)) == sizeof(e->me));
	rc_sync(sock);
}

/* Write until one fails. */
static enum ibv_wc_status write_on(struct rc_end *e)
{
	for (double end = rc_now() + RC_HANGS; rc_now() < end;) {
		struct ibv_wc wc;

		rc_write(e, 0, SIZE, 0);
		wc = rc_wait(e, RC_HANGS);
		if (wc.status)
			return wc.status;
	}
	DIE("writes to memory that is gone succeed");
}

static int result(enum ibv_wc_status s, int status)
{
	printf("writer: %s, stranger: 0x%x\n", ibv_wc_status_str(s), (unsigned int)status);
	/* Which one depends on what was made first, the QP or the region. */
	return (s != IBV_WC_RETRY_EXC_ERR && s != IBV_WC_REM_ACCESS_ERR) || status;
}

/* argument: how the peer execs */
static int execs(int argc, char **argv)
{
	enum ibv_wc_status s;
	struct rc_end e;
	int sp[2], status;
	pid_t pid;

	CHECK(argc == 2 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	if (!pid)
		target(sp[1], argv[1]);
	open_writer(&e, sp[0]);
	s = write_on(&e);
	CHECK(waitpid(pid, &status, 0) == pid);
	return result(s, status);
}

/* Fork a child with this very pid; -1: not allowed here. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args a = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

/* Waits until the writer has finished. */
static void stranger(int done)
{
	char c;

	_exit(read(done, &c, 1) == 1 ? watch(0) : 3);
}

/*
 * The peer is killed, and its pid is reused. The supervisor, whose pid the argument is, is stopped
 * and learns nothing of that.
 */
static int pid_reuse(int argc, char **argv)
{
	enum ibv_wc_status s;
	struct rc_end e;
	int sp[2], done[2], status;
	pid_t pid, again;

	CHECK(argc == 2 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp) && !pipe(done));
	pid = fork();
	if (!pid)
		target(sp[1], NULL);
	open_writer(&e, sp[0]);
	for (int i = 0; i < 100; i++) {
		rc_write(&e, 0, SIZE, 0);
		CHECK(!rc_wait(&e, RC_HANGS).status);
	}
	CHECK(!kill(atoi(argv[1]), SIGSTOP));
	while (rc_state(atoi(argv[1])) != 'T')
		sched_yield();
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	usleep(20000); /* start times, which tell two processes apart, are counted in 10 ms */
	memset(mem, AFTER, SIZE);
	again = fork_as(pid);
	if (again < 0) {
		printf("cannot choose a pid here\n");
		return SKIP;
	}
	if (!again)
		stranger(done[0]);
	s = write_on(&e);
	CHECK(write(done[1], "d", 1) == 1 && waitpid(again, &status, 0) == again);
	return result(s, status);
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"after", after_exec},
		{"execs", execs},
		{"pid_reuse", pid_reuse},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
