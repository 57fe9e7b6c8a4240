/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 7: a peer whose memory the host does not let us copy, or not by its pid. It is not dead:
 * traffic goes another way, and where there is none the error does not say that it is gone.
 */
#include "rc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define SIZE 65536u

static void filter(struct sock_filter *f, unsigned short n)
{
	struct sock_fprog p = {n, f};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p));
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define EQUAL(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), (yes), (no))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))

/* As an old container's profile does. */
static void refuse_process_vm(void)
{
	struct sock_filter f[] = {
		LOAD(nr),
		EQUAL(SYS_process_vm_readv, 1, 0),
		EQUAL(SYS_process_vm_writev, 0, 1),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	filter(f, sizeof(f) / sizeof(f[0]));
}

/* How the library opens its own mem file, and nothing else that it does. */
static void refuse_own_mem(void)
{
	struct sock_filter f[] = {
		LOAD(nr),
		EQUAL(SYS_openat, 0, 3),
		LOAD(args[2]),
		EQUAL(O_RDWR | O_CLOEXEC, 0, 1),
		ANSWER(SECCOMP_RET_ERRNO | EACCES),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	filter(f, sizeof(f) / sizeof(f[0]));
}

/* Both ends at once: 100 messages each way and as many writes, compared at the end. */
static void traffic(struct rc_end *e, int sock, int self)
{
	uint8_t mine = (uint8_t)(0x40 + self), other = (uint8_t)(0x41 - self);
	struct ibv_wc wc;

	for (int i = 0; i < 100; i++) {
		memset(e->buf, mine + 2 * (i & 7), SIZE);
		rc_recv(e, SIZE, 1024);
		rc_sync(sock);
		rc_send(e, 0, 1024);
		rc_write(e, 0, SIZE, 2 * SIZE);
		for (int k = 0; k < 3; k++) {
			wc = rc_wait(e, RC_HANGS);
			if (wc.status)
				DIE("%s", ibv_wc_status_str(wc.status));
		}
		rc_sync(sock);
		CHECK(e->buf[SIZE] == other + 2 * (i & 7));
		CHECK(e->buf[SIZE + 1023] == e->buf[SIZE] && e->buf[2 * SIZE] == e->buf[SIZE]);
		CHECK(e->buf[3 * SIZE - 1] == e->buf[SIZE]);
	}
}

/* Does the host refuse? Else the test says nothing. */
static bool copies(const struct rc_end *e, pid_t pid)
{
	char c;
	struct iovec mine = {&c, 1}, its = {(void *)(uintptr_t)e->peer.va, 1};

	return process_vm_readv(pid, &mine, 1, &its, 1, 0) == 1;
}

/* argument: dumpable is given up `before` or `after` the device is opened, or `never` */
static int not_dumpable(int argc, char **argv)
{
	int sp[2], status, self;
	struct rc_end e = {0};
	pid_t pid, other;

	CHECK(argc == 2 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	self = !pid;
	close(sp[!self]);
	other = pid ? pid : getppid();
	if (!strcmp(argv[1], "before"))
		CHECK(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	rc_make(&e, NULL, 3 * SIZE, 0);
	if (!strcmp(argv[1], "after"))
		CHECK(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	rc_exchange(&e, sp[self]);
	rc_sync(sp[self]);
	if (geteuid() && copies(&e, other))
		DIE("the host lets us copy: this tests nothing");
	traffic(&e, sp[self], self);
	if (self)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static int no_process_vm(int argc, char **argv)
{
	int sp[2], status, self;
	struct rc_end e = {0};
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	refuse_process_vm();
	pid = fork();
	self = !pid;
	close(sp[!self]);
	rc_make(&e, NULL, 3 * SIZE, 0);
	rc_exchange(&e, sp[self]);
	rc_sync(sp[self]);
	CHECK(!copies(&e, pid ? pid : getppid()));
	traffic(&e, sp[self], self);
	if (self)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Neither way: an error, but not that of a peer that is gone. */
static int refused(int argc, char **argv)
{
	int sp[2], status, self;
	struct rc_end e = {0};
	struct ibv_wc wc;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	self = !pid;
	close(sp[!self]);
	if (self)
		refuse_own_mem();
	else
		refuse_process_vm();
	rc_make(&e, NULL, 3 * SIZE, 0);
	rc_exchange(&e, sp[self]);
	rc_sync(sp[self]);
	if (!self) {
		rc_write(&e, 0, 64, 0);
		wc = rc_wait(&e, RC_HANGS);
		printf("%s\n", ibv_wc_status_str(wc.status));
		CHECK(wc.status && wc.status != IBV_WC_RETRY_EXC_ERR);
	}
	rc_sync(sp[self]);
	if (self)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"not_dumpable", not_dumpable},
		{"no_process_vm", no_process_vm},
		{"refused", refused},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
