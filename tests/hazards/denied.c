/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 7: a peer whose memory the host does not let this process copy, or not by its pid. The
 * peer is alive: traffic uses another method, and if there is none the error does not say that the
 * peer is gone.
 */
#include "rc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* A filter like an old container's profile. */
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

/* Refuses only the way in which the library opens its own mem file. */
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

/* Both ends at once: n messages in each direction and as many writes, compared at the end. */
static void traffic(struct rc_end *e, int sock, int self, int n)
{
	uint8_t mine = (uint8_t)(0x40 + self), other = (uint8_t)(0x41 - self);
	struct ibv_wc wc;

	for (int i = 0; i < n; i++) {
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

/* Does the host allow it? Then the test proves nothing. */
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
	traffic(&e, sp[self], self, 100);
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
	traffic(&e, sp[self], self, 100);
	if (self)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* ---- one system call is refused, all others work */

struct refusal {
	const char *what;
	int calls[3];
	int arg1;      /* only if the call has this second argument; 0: any */
	bool late;     /* libc itself needs the call to start */
	bool patching; /* runs long enough for doorbells to be patched */
};
static const struct refusal refusals[] = {
	{"madvise", {SYS_madvise}},
	{"msync", {SYS_msync}},
	{"madvise and msync", {SYS_madvise, SYS_msync}},
	{"process_vm_*", {SYS_process_vm_readv, SYS_process_vm_writev}},
	{"process_vm_* and madvise", {SYS_process_vm_readv, SYS_process_vm_writev, SYS_madvise}},
	{"membarrier", {SYS_membarrier}, .patching = true},
	{"mprotect", {SYS_mprotect}, .late = true, .patching = true},
	{"ioctl", {SYS_ioctl}},
	{"fcntl(F_GET_SEALS)", {SYS_fcntl}, .arg1 = F_GET_SEALS},
	{"fcntl(F_GETFD)", {SYS_fcntl}, .arg1 = F_GETFD},
	{"fcntl(F_GETFL)", {SYS_fcntl}, .arg1 = F_GETFL},
	{"statx", {SYS_statx}},
	{"fstat", {SYS_fstat}},
	{"poll", {SYS_poll}},
	{"kill", {SYS_kill, SYS_tgkill}},
	{"capget", {SYS_capget}},
	{"readlinkat", {SYS_readlinkat}},
	{"prlimit64", {SYS_prlimit64}},
	{"sched_yield and nanosleep", {SYS_sched_yield, SYS_nanosleep}},
	{"close_range", {SYS_close_range}},
	{"getdents64", {SYS_getdents64}, .late = true},
};

static void refuse(const struct refusal *r, int err)
{
	struct sock_filter f[16];
	unsigned short n = 0;

	f[n++] = (struct sock_filter)LOAD(nr);
	for (int i = 0; i < 3 && (i == 0 || r->calls[i]); i++) {
		f[n++] = (struct sock_filter)EQUAL((unsigned int)r->calls[i], 0, r->arg1 ? 3 : 1);
		if (r->arg1) {
			f[n++] = (struct sock_filter)LOAD(args[1]);
			f[n++] = (struct sock_filter)EQUAL((unsigned int)r->arg1, 0, 1);
		}
		f[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | (unsigned int)err);
	}
	f[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	filter(f, n);
}

/* Memory that is mapped can be registered, even if the check is refused. */
static void registers(struct rc_end *e)
{
	static const size_t sizes[] = {1, 4096, 65536, 4 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int prot = PROT_READ; prot <= (PROT_READ | PROT_WRITE); prot |= PROT_WRITE) {
			void *p = mmap(NULL, sizes[i], prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			struct ibv_mr *mr;

			CHECK(p != MAP_FAILED);
			mr = ibv_reg_mr(e->pd, p, sizes[i],
					prot & PROT_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0);
			if (!mr)
				DIE("%zu bytes: %s", sizes[i], strerror(errno));
			CHECK(!ibv_dereg_mr(mr) && !munmap(p, sizes[i]));
			if (prot & PROT_WRITE)
				break;
		}
}

static void xrc_domain(struct rc_end *e)
{
	struct ibv_xrcd_init_attr a = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
				       .fd = memfd_create("xrcd", MFD_CLOEXEC),
				       .oflags = O_CREAT};
	struct ibv_xrcd *x = ibv_open_xrcd(e->ctx, &a);

	if (!x)
		DIE("open_xrcd: %s", strerror(errno));
	CHECK(!ibv_close_xrcd(x) && !close(a.fd));
}

/* After an event is read, the descriptor is not readable. */
static void event(struct rc_end *e, int sock)
{
	struct pollfd p = {.fd = e->chan->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *ctx;

	CHECK(!ibv_req_notify_cq(e->cq, 0));
	rc_recv(e, 0, 64);
	rc_sync(sock);
	rc_send(e, SIZE, 64);
	CHECK(!ibv_get_cq_event(e->chan, &cq, &ctx) && cq == e->cq);
	ibv_ack_cq_events(cq, 1);
	rc_wait(e, 60);
	rc_wait(e, 60);
	rc_sync(sock);
	/* The writer may still be about to write its byte. */
	for (double end = rc_now() + 60; ppoll(&p, 1, &(struct timespec){0}, NULL);)
		CHECK(rc_now() < end);
}

/* Does libc still read folders? From glibc 2.39 on, opendir() needs fstat(), and libibverbs that.
 */
static bool reads_folders(const struct refusal *r, int err)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		refuse(r, err);
		_exit(!opendir("/"));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return !status;
}

/* Traffic between two processes, both with the refusal. */
static int refused_pair(const struct refusal *r, int err)
{
	bool late = r->late || !reads_folders(r, err);
	int sp[2], status = 0, self;
	struct rc_end e = {0};
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	if (!late)
		refuse(r, err);
	pid = fork();
	self = !pid;
	close(sp[!self]);
	rc_make(&e, NULL, 3 * SIZE, RC_EVENTS);
	rc_exchange(&e, sp[self]);
	rc_sync(sp[self]);
	if (late)
		refuse(r, err);
	registers(&e);
	xrc_domain(&e);
	event(&e, sp[self]);
	traffic(&e, sp[self], self, r->patching ? 100 : 10);
	if (self)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status ? 1 : 0;
}

/* argument: `all` for every error that filters use, else one */
static int one_call(int argc, char **argv)
{
	static const int errs[] = {EPERM, ENOSYS, EACCES};
	const size_t nerrs = argc > 1 ? sizeof(errs) / sizeof(errs[0]) : 1;
	int failed = 0, status;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		for (size_t k = 0; k < nerrs; k++) {
			pid_t pid = fork();

			if (!pid)
				_exit(refused_pair(&refusals[i], errs[k]));
			CHECK(waitpid(pid, &status, 0) == pid);
			if (!status)
				continue;
			fprintf(stderr, "%s refused with %s: status %#x\n", refusals[i].what,
				strerrorname_np(errs[k]), (unsigned int)status);
			failed++;
		}
	return failed != 0;
}

static void device_memory(struct rc_end *e)
{
	struct ibv_alloc_dm_attr a = {.length = 4096};
	struct ibv_dm *dm = ibv_alloc_dm(e->ctx, &a);

	if (!dm)
		DIE("alloc_dm: %s", strerror(errno));
	CHECK(!ibv_free_dm(dm));
}

static struct {
	int sock, self;
	pid_t pid; /* of the other, 0 in that one */
	bool refuses;
} leaderless;

/* In all threads, so that the library cannot count them. */
static void refuse_listing(void)
{
	struct sock_filter f[] = {
		LOAD(nr),
		EQUAL(SYS_getdents64, 0, 1),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p));
}

static void *without_the_first(void *arg)
{
	struct rc_end e = {0};
	int status = 0;

	while (!access("/proc/self/fd/0", F_OK))
		sched_yield();
	rc_make(&e, NULL, 3 * SIZE, RC_EVENTS);
	rc_exchange(&e, leaderless.sock);
	rc_sync(leaderless.sock);
	if (leaderless.refuses)
		refuse_listing();
	registers(&e);
	xrc_domain(&e);
	device_memory(&e);
	event(&e, leaderless.sock);
	traffic(&e, leaderless.sock, leaderless.self, 100);
	if (leaderless.pid)
		CHECK(waitpid(leaderless.pid, &status, 0) == leaderless.pid);
	exit(status != 0);
}

/*
 * The first thread has ended: /proc/self has no descriptors and no mappings, its pid no memory.
 * With an argument, no folder can be read.
 */
static int first_thread_ends(int argc, char **argv)
{
	pthread_t t;
	int sp[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	leaderless.refuses = argc > 1;
	leaderless.pid = fork();
	leaderless.self = !leaderless.pid;
	leaderless.sock = sp[leaderless.self];
	close(sp[!leaderless.self]);
	CHECK(!pthread_create(&t, NULL, without_the_first, NULL));
	pthread_exit(NULL);
}

/* Without any method: an error, but not that of a peer that is gone. */
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

/*
 * A filter keeps the program from the device: it gets an error, and the library says why. Argument:
 * `thread` (clone3 as in Docker before 20.10.10), `handler`, or `killed` by process_vm_writev.
 */
static int says_why(int argc, char **argv)
{
	struct sock_filter thread[] = {LOAD(nr), EQUAL(SYS_clone3, 0, 1),
				       ANSWER(SECCOMP_RET_ERRNO | EPERM),
				       ANSWER(SECCOMP_RET_ALLOW)};
	struct sock_filter handler[] = {LOAD(nr),
					EQUAL(SYS_rt_sigaction, 0, 5),
					LOAD(args[0]),
					EQUAL(SIGSEGV, 0, 3),
					LOAD(args[1]),
					EQUAL(0, 1, 0),
					ANSWER(SECCOMP_RET_ERRNO | EPERM),
					ANSWER(SECCOMP_RET_ALLOW)};
	struct sock_filter killed[] = {LOAD(nr), EQUAL(SYS_process_vm_writev, 0, 1),
				       ANSWER(SECCOMP_RET_KILL_PROCESS), ANSWER(SECCOMP_RET_ALLOW)};
	struct rc_end e = {0};
	int sp[2];

	CHECK(argc == 2 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	if (!strcmp(argv[1], "thread"))
		filter(thread, sizeof(thread) / sizeof(thread[0]));
	else if (!strcmp(argv[1], "handler"))
		filter(handler, sizeof(handler) / sizeof(handler[0]));
	else if (!fork()) {
		rc_make(&e, NULL, 3 * SIZE, 0);
		rc_exchange(&e, sp[1]);
		rc_sync(sp[1]);
		rc_sync(sp[1]); /* the other end dies */
		_exit(0);
	} else
		filter(killed, sizeof(killed) / sizeof(killed[0]));
	close(sp[1]);
	rc_make(&e, NULL, 3 * SIZE, 0);
	rc_exchange(&e, sp[0]);
	rc_sync(sp[0]);
	rc_write(&e, 0, SIZE, 0);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"not_dumpable", not_dumpable},
		{"no_process_vm", no_process_vm},
		{"one_call", one_call},
		{"refused", refused},
		{"says_why", says_why},
		{"first_thread_ends", first_thread_ends},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
