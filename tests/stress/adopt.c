/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that is adopted and given back all the time while everybody uses it: threads that store to
 * it and check each store, threads that pass it to system calls, a peer that writes to it, forks
 * and execs, registrations that end. Nothing may be lost, late, torn or refused.
 *
 * adopt <seconds> [kill]: that long, and at least ROUNDS registrations. With `kill`, owner and peer
 * are killed at random and started anew. Prints the number of times that the owner found its memory
 * adopted; status 1 if something was wrong.
 */
#include "../hazards/rc.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define PAGE 4096u
#define PAGES 40u /* two and a half chunks; each page has an area for each kind of writer */
#define BIG 32u   /* pages behind these, which one WRITE of the peer covers in part or whole */
#define BLOCK 64u
#define SIZE ((size_t)(PAGES + BIG) * PAGE)
#define ROUNDS 10u /* registrations, however long they take */
enum { STORES = 0, PEER = 1024, CALLS = 2048, ANSWER = 2560, FORK = 3072 };

/* Shared by all processes; each number only grows. */
static struct board {
	_Atomic uint32_t rkey, pause, paused, stop, wrong;
	_Atomic uint64_t adopted, forks, calls, stores, writes;
	_Atomic uint32_t begun[PAGES], done[PAGES];
	_Atomic uint32_t big_begun, big_done[BIG * PAGE / BLOCK];
} * board;

static struct rc_end end;
static uint8_t *mem;

static void wrong(const char *what, unsigned int at, uint32_t have, uint32_t want)
{
	if (atomic_fetch_add(&board->wrong, 1) < 20)
		fprintf(stderr, "%s at %u: %#x, not %#x\n", what, at, have, want);
}

static uint32_t pick(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static bool going(void)
{
	return !atomic_load(&board->stop);
}

/* ---- the peer */

static void write_words(size_t from, uint32_t len, size_t to, uint32_t value)
{
	for (uint32_t i = 0; i < len / 4; i++)
		((uint32_t *)(end.buf + from))[i] = value;
	end.peer.rkey = atomic_load(&board->rkey);
	rc_write(&end, from, len, to);
	CHECK(rc_wait(&end, RC_HANGS).status == IBV_WC_SUCCESS);
	atomic_fetch_add(&board->writes, 1);
}

static void write_page(uint32_t *seed)
{
	uint32_t p = pick(seed, PAGES), n = atomic_fetch_add(&board->begun[p], 1) + 1;

	write_words(0, 1024, p * PAGE + PEER, n);
	atomic_store(&board->done[p], n);
}

static void write_big(uint32_t *seed)
{
	uint32_t blocks = BIG * PAGE / BLOCK, from = pick(seed, blocks),
		 n = 1 + pick(seed, blocks - from), v = atomic_fetch_add(&board->big_begun, 1) + 1;

	write_words(0, n * BLOCK, PAGES * PAGE + from * BLOCK, v);
	for (uint32_t i = from; i < from + n; i++)
		atomic_store(&board->big_done[i], v);
}

static int peer(int sock)
{
	uint32_t seed = (uint32_t)getpid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rc_make(&end, NULL, BIG * PAGE, 0);
	rc_exchange(&end, sock);
	rc_sync(sock);
	while (going()) {
		if (atomic_load(&board->pause)) {
			atomic_store(&board->paused, 1);
			sched_yield();
			continue;
		}
		atomic_store(&board->paused, 0);
		if (pick(&seed, 16))
			write_page(&seed);
		else
			write_big(&seed);
	}
	return 0;
}

/* ---- the owner's threads */

static void *store(void *arg)
{
	static uint32_t shadow[PAGES][256];
	volatile uint32_t *at;
	uint32_t seed = 1;

	while (going()) {
		uint32_t p = pick(&seed, PAGES), w = pick(&seed, 256);

		at = (volatile uint32_t *)(mem + p * PAGE + STORES) + w;
		if (*at != shadow[p][w])
			wrong("a store", p, *at, shadow[p][w]);
		*at = ++shadow[p][w];
		atomic_fetch_add_explicit(&board->stores, 1, memory_order_relaxed);
	}
	return arg;
}

static void check_peer(uint32_t p)
{
	uint32_t done = atomic_load(&board->done[p]);

	for (unsigned int i = 0; i < 256; i++) {
		uint32_t v = ((volatile uint32_t *)(mem + p * PAGE + PEER))[i];

		if (v < done || v > atomic_load(&board->begun[p]))
			wrong("a word of the peer", p * 256 + i, v, done);
	}
}

static void check_big(uint32_t b)
{
	uint32_t done = atomic_load(&board->big_done[b]);

	for (unsigned int i = 0; i < BLOCK / 4; i++) {
		uint32_t v = ((volatile uint32_t *)(mem + PAGES * PAGE + b * BLOCK))[i];

		if (v < done || v > atomic_load(&board->big_begun))
			wrong("a word of a block", b, v, done);
	}
}

static void *check(void *arg)
{
	uint32_t seed = 2;

	while (going()) {
		check_peer(pick(&seed, PAGES));
		check_big(pick(&seed, BIG * PAGE / BLOCK));
	}
	return arg;
}

enum { RW, VECTORS, DGRAM, FILES, WAYS };

static ssize_t pass(uint32_t way, const int *fd, uint8_t *from, uint8_t *to)
{
	struct iovec out[2] = {{from, 200}, {from + 200, 312}},
		     in[2] = {{to, 312}, {to + 312, 200}};
	struct msghdr m = {.msg_iov = in, .msg_iovlen = 2};

	switch (way) {
	case RW:
		return write(fd[1], from, 512) != 512 ? -1 : read(fd[0], to, 512);
	case VECTORS:
		return writev(fd[1], out, 2) != 512 ? -1 : readv(fd[0], in, 2);
	case DGRAM:
		return send(fd[2], from, 512, 0) != 512 ? -1 : recvmsg(fd[3], &m, 0);
	default:
		return pwrite(fd[4], from, 512, 0) != 512 ? -1 : pread(fd[4], to, 512, 0);
	}
}

static void *calls(void *arg)
{
	uint32_t seed = 3;
	int fd[5];

	CHECK(!pipe(fd) && !socketpair(AF_UNIX, SOCK_DGRAM, 0, fd + 2));
	fd[4] = memfd_create("calls", 0);
	for (uint32_t n = 0; going(); n++) {
		uint32_t p = pick(&seed, PAGES), way = pick(&seed, WAYS);
		uint8_t *from = mem + p * PAGE + CALLS,
			*to = mem + pick(&seed, PAGES) * PAGE + ANSWER;
		ssize_t r;

		memset(from, (int)n, 512);
		errno = 0;
		r = pass(way, fd, from, to);
		if (r != 512)
			wrong("the result of a call", way, (uint32_t)r, (uint32_t)errno);
		for (unsigned int i = 0; i < 512 && r == 512; i++)
			if (to[i] != (uint8_t)n)
				wrong("a byte of a call", way, to[i], (uint8_t)n);
		atomic_fetch_add_explicit(&board->calls, 1, memory_order_relaxed);
	}
	return arg;
}

/* ---- the owner */

static bool is_adopted(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, hi;
	bool found = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo < (uintptr_t)mem + SIZE &&
		    hi > (uintptr_t)mem && strstr(line, "softhca-segment"))
			found = true;
	if (f)
		fclose(f);
	return found;
}

static void mark(uint32_t v)
{
	for (uint32_t p = 0; p < PAGES; p++)
		*(volatile uint32_t *)(mem + p * PAGE + FORK) = v;
}

static void marked(const char *what, uint32_t v)
{
	for (uint32_t p = 0; p < PAGES; p++) {
		uint32_t have = *(volatile uint32_t *)(mem + p * PAGE + FORK);

		if (have != v)
			wrong(what, p, have, v);
	}
}

/* The child has the memory as it was before fork(), and neither sees the other's stores. */
static void fork_once(uint32_t v, uint32_t kind)
{
	int go[2], status;
	char c = 0;
	pid_t pid;

	CHECK(!pipe(go));
	mark(v);
	pid = fork();
	if (!pid) {
		close(go[1]); /* the parent may be killed before it writes */
		marked("the child's memory", v);
		mark(~v);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		marked("the child's own memory", ~v);
		if (kind)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	CHECK(pid > 0);
	mark(v + 1);
	CHECK(write(go[1], &c, 1) == 1);
	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		wrong("a child's end", kind, (uint32_t)status, 0);
	marked("the parent's memory", v + 1);
	close(go[0]);
	close(go[1]);
	atomic_fetch_add(&board->forks, 1);
}

static void spawn_once(void)
{
	extern char **environ;
	char *argv[] = {"true", NULL};
	int status = 0;
	pid_t pid;

	CHECK(!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ));
	CHECK(waitpid(pid, &status, 0) == pid);
	if (status)
		wrong("a spawned program's end", 0, (uint32_t)status, 0);
}

/* The peer does not use the key meanwhile. */
static void register_again(uint32_t kind)
{
	double end_at = rc_now() + RC_HANGS;

	if (kind & 1) /* while the key is in use */
		CHECK(!madvise(mem + PAGE, PAGE, MADV_NORMAL));
	atomic_store(&board->pause, 1);
	while (!atomic_load(&board->paused) && going())
		CHECK(rc_now() < end_at);
	CHECK(!ibv_dereg_mr(end.mr));
	while (is_adopted()) /* a call that uses it is waited for */
		CHECK(rc_now() < end_at);
	if (kind & 2) {
		CHECK(!mprotect(mem, SIZE, PROT_READ | PROT_WRITE));
		CHECK(!madvise(mem, SIZE, MADV_WILLNEED));
	}
	end.mr = ibv_reg_mr(end.pd, mem, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(end.mr);
	atomic_store(&board->rkey, end.mr->rkey);
	atomic_store(&board->paused, 0);
	atomic_store(&board->pause, 0);
}

static void start(void *(*fn)(void *))
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, fn, NULL));
	CHECK(!pthread_detach(t));
}

static int owner(int sock, double seconds)
{
	const char *adopt = getenv("SOFTHCA_ADOPT");
	bool on = adopt && atoi(adopt) > 0;
	double until = rc_now() + seconds;
	uint32_t seed = (uint32_t)getpid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mem != MAP_FAILED);
	memset(mem, 0, SIZE);
	rc_make(&end, mem, SIZE, 0);
	atomic_store(&board->rkey, end.mr->rkey);
	rc_exchange(&end, sock);
	rc_sync(sock);
	start(store);
	start(check);
	start(calls);
	for (uint32_t n = 0; (n < ROUNDS || rc_now() < until) && !atomic_load(&board->wrong); n++) {
		uint32_t kind = pick(&seed, 16);
		double since = rc_now();

		while (on && !is_adopted()) {
			CHECK(rc_now() - since < RC_HANGS);
			sched_yield();
		}
		if (is_adopted())
			atomic_fetch_add(&board->adopted, 1);
		if (kind < 4)
			fork_once(n * 2, kind & 1);
		else if (kind < 6)
			spawn_once();
		register_again(kind);
	}
	atomic_store(&board->stop, 1);
	return 0;
}

/* ---- both */

/* Status of the round: 0, or that of a process that failed by itself. */
static int round_of(double seconds, bool killed, uint32_t *seed)
{
	struct timespec nap = {0, 1000000};
	int sock[2], status[2] = {0, 0};
	pid_t pid[2];

	memset(board, 0, offsetof(struct board, adopted));
	memset(board->begun, 0, sizeof(*board) - offsetof(struct board, begun));
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i]) {
			close(sock[!i]);
			_exit(i ? peer(sock[1]) : owner(sock[0], seconds));
		}
	}
	close(sock[0]);
	close(sock[1]);
	if (killed) {
		nap.tv_nsec *= 100 + pick(seed, 200);
		nanosleep(&nap, NULL); /* at any point of what they do */
		kill(pid[pick(seed, 2)], SIGKILL);
		nanosleep(&(struct timespec){0, 20000000}, NULL); /* any time must do */
		kill(pid[0], SIGKILL);
		kill(pid[1], SIGKILL);
	}
	for (int i = 0; i < 2; i++)
		waitpid(pid[i], &status[i], 0);
	if (killed)
		return 0;
	return status[0] | status[1];
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, until = rc_now() + seconds;
	bool killed = argc > 2 && !strcmp(argv[2], "kill");
	uint32_t seed = (uint32_t)getpid();
	int status;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK(board != MAP_FAILED);
	do
		status = round_of(seconds, killed, &seed);
	while (killed && rc_now() < until && !atomic_load(&board->wrong));
	printf("%lu times adopted, %lu forks, %lu calls, %lu stores, %lu writes, %u wrong\n",
	       board->adopted, board->forks, board->calls, board->stores, board->writes,
	       board->wrong);
	return status || board->wrong ? 1 : 0;
}
