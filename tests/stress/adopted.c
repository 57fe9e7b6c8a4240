/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that is adopted, and what programs do to it while its key lives: a case for each. The
 * peer writes 64 bytes to it, or sends them, until it is adopted.
 *
 * race <rounds>: a key ends in one thread while another frees its memory and maps other memory
 * there, as caches of registrations do. Adopted pages may not come back over what is there by then.
 * keys <rounds>, order <rounds> descriptors: while a thread opens and closes descriptors.
 */
#include "../hazards/rc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SIZE (1u << 20)
#define PAGE 4096u
enum { OWN = 1, WRITTEN = 0x33, OTHER = 0x5a };

static struct rc_end end;
static int sock; /* to the peer */

struct job {
	uint64_t addr;
	uint32_t rkey;
};

static void peer(void)
{
	struct job j;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rc_make(&end, NULL, PAGE, 0);
	memset(end.buf, WRITTEN, PAGE);
	rc_exchange(&end, sock);
	while (recv(sock, &j, sizeof(j), MSG_WAITALL) == sizeof(j)) {
		end.peer.va = j.addr;
		end.peer.rkey = j.rkey;
		if (j.rkey)
			rc_write(&end, 0, 64, 0);
		else
			rc_send(&end, 0, 64);
		CHECK(rc_wait(&end, RC_HANGS).status == IBV_WC_SUCCESS);
		CHECK(send(sock, "", 1, 0) == 1);
	}
}

/* Is all of it in the pool? */
static bool is_adopted(const uint8_t *mem)
{
	uintptr_t at = (uintptr_t)mem, to = at + SIZE - PAGE;
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, hi;
	char line[512];

	at = (at + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo <= at && hi > at &&
		    strstr(line, "softhca-segment"))
			at = hi;
	if (f)
		fclose(f);
	return at >= to;
}

/* ---- the owner */

static struct ibv_mr *registered(uint8_t *mem)
{
	struct ibv_mr *mr =
		ibv_reg_mr(end.pd, mem, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	CHECK(mr);
	return mr;
}

/* The peer has written the first 64 bytes. */
static void written(const struct ibv_mr *mr)
{
	struct job j = {(uintptr_t)mr->addr, mr->rkey};
	char c;

	CHECK(send(sock, &j, sizeof(j), 0) == sizeof(j));
	CHECK(recv(sock, &c, 1, 0) == 1);
}

/*
 * Registers SIZE bytes and returns when they are adopted. What could not be adopted for a while
 * (TAKE_MAX_NS) is dropped until the next access.
 */
static struct ibv_mr *adopted(uint8_t *mem)
{
	struct ibv_mr *mr = registered(mem);
	double since = rc_now();

	memset(mem, OWN, SIZE);
	do {
		CHECK(rc_now() - since < RC_HANGS);
		written(mr);
	} while (!is_adopted(mem));
	return mr;
}

static void is(const uint8_t *mem, size_t from, size_t to, uint8_t value)
{
	for (size_t i = from; i < to; i++)
		if (mem[i] != value)
			DIE("byte %zu is %#x, not %#x", i, mem[i], value);
}

/* The content that adopted() leaves, up to `to`. */
static void kept(const uint8_t *mem, size_t to)
{
	is(mem, 0, 64, WRITTEN);
	is(mem, 64, to, OWN);
}

static uint8_t *mapped(void *at, size_t size)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Other memory comes to lie in the middle. */
static int case_munmap(int argc, char **argv)
{
	uint8_t *mem = mapped(NULL, SIZE);
	struct ibv_mr *mr = adopted(mem);

	CHECK(!munmap(mem + SIZE / 2, PAGE));
	memset(mapped(mem + SIZE / 2, PAGE), OTHER, PAGE);
	CHECK(!ibv_dereg_mr(mr));
	kept(mem, SIZE / 2);
	is(mem, SIZE / 2, SIZE / 2 + PAGE, OTHER);
	is(mem, SIZE / 2 + PAGE, SIZE, OWN);
	return 0;
}

/* The block moves elsewhere and grows. */
static int case_realloc(int argc, char **argv)
{
	uint8_t *mem = malloc(SIZE), *larger;
	struct ibv_mr *mr = adopted(mem);

	larger = realloc(mem, 32 * SIZE);
	CHECK(larger);
	kept(larger, SIZE);
	memset(larger, OTHER, 32 * SIZE);
	CHECK(!ibv_dereg_mr(mr));
	is(larger, 0, 32 * SIZE, OTHER);
	larger = realloc(larger, SIZE);
	CHECK(!ibv_dereg_mr(adopted(larger)));
	kept(larger, SIZE);
	free(larger);
	return 0;
}

/* The end of the heap is given back and grows again. */
static int case_trim(int argc, char **argv)
{
	uint8_t *mem;
	struct ibv_mr *mr;

	CHECK(mallopt(M_MMAP_THRESHOLD, 32 * SIZE) && mallopt(M_TRIM_THRESHOLD, 64 * SIZE));
	mem = malloc(SIZE);
	mr = adopted(mem);
	free(mem);
	CHECK(malloc_trim(0));
	mem = malloc(SIZE);
	memset(mem, OTHER, SIZE);
	CHECK(!ibv_dereg_mr(mr));
	is(mem, 0, SIZE, OTHER);
	CHECK(!ibv_dereg_mr(adopted(mem)));
	kept(mem, SIZE);
	return 0;
}

static void ends(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* The child has a copy of its own; messages go to the parent. */
static int case_fork(int argc, char **argv)
{
	uint8_t *mem = malloc(SIZE);
	struct ibv_mr *mr = adopted(mem);
	int go[2];
	char c;
	pid_t pid;

	CHECK(!pipe(go));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(read(go[0], &c, 1) == 1);
		kept(mem, SIZE);
		free(mem);
		_exit(0);
	}
	memset(mem, OTHER, SIZE);
	written(mr);
	CHECK(write(go[1], "", 1) == 1);
	ends(pid);
	is(mem, 0, 64, WRITTEN);
	is(mem, 64, SIZE, OTHER);
	CHECK(!ibv_dereg_mr(mr));
	is(mem, 64, SIZE, OTHER);
	return 0;
}

/* Descriptors of a regular file come and go, while pages move. */
static void *opens_and_closes(void *arg)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd[200];

	CHECK(file >= 0);
	for (;;) {
		for (uint32_t i = 0; i < 200; i++)
			fd[i] = dup(file);
		for (uint32_t i = 0; i < 200; i++)
			close(fd[i]);
	}
	return arg;
}

static void open_and_close(void)
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, opens_and_closes, NULL));
}

static uint32_t rounds_of(int argc, char **argv, uint32_t otherwise)
{
	return argc > 1 ? (uint32_t)atoi(argv[1]) : otherwise;
}

/* Each key is adopted, and given back. */
static int case_keys(int argc, char **argv)
{
	uint32_t rounds = rounds_of(argc, argv, 100);

	open_and_close();
	for (uint32_t n = 0; n < rounds; n++) {
		uint8_t *mem = mapped(NULL, SIZE);

		CHECK(!ibv_dereg_mr(adopted(mem)));
		kept(mem, SIZE);
		CHECK(!munmap(mem, SIZE));
	}
	return 0;
}

static struct {
	volatile uint64_t *adopted, own;
	_Atomic bool ends;
} both;

static void *counts(void *arg)
{
	for (uint64_t n = 1; !atomic_load(&both.ends); n++) {
		*both.adopted = n;
		both.own = n;
	}
	return arg;
}

/* A thread stores to adopted memory and then to other memory; children have both in this order. */
static int case_order(int argc, char **argv)
{
	uint32_t rounds = rounds_of(argc, argv, 100);
	uint8_t *mem = malloc(SIZE);
	struct ibv_mr *mr = adopted(mem);
	pthread_t t;

	both.adopted = (void *)(mem + SIZE / 2);
	*both.adopted = 0;
	CHECK(!pthread_create(&t, NULL, counts, NULL));
	if (argc > 2)
		open_and_close();
	for (uint32_t n = 0; n < rounds; n++) {
		uint64_t own = both.own;
		double since = rc_now();
		pid_t pid;

		do {
			CHECK(rc_now() - since < RC_HANGS);
			written(mr);
		} while (both.own == own || !is_adopted(mem));
		pid = fork();
		CHECK(pid >= 0);
		if (!pid && *both.adopted < both.own)
			DIE("fork %u: %llu is older than %llu", n,
			    (unsigned long long)*both.adopted, (unsigned long long)both.own);
		if (!pid)
			_exit(0);
		ends(pid);
	}
	atomic_store(&both.ends, true);
	CHECK(!pthread_join(t, NULL));
	CHECK(!ibv_dereg_mr(mr));
	return 0;
}

static uint8_t *page_of(uint8_t *mem)
{
	return (uint8_t *)(((uintptr_t)mem + SIZE / 2) & ~(uintptr_t)(PAGE - 1));
}

/* The page reads as zeros, and the others as they were. */
static void drop(uint8_t *mem)
{
	uint8_t *page = page_of(mem);

	CHECK(!madvise(page, PAGE, MADV_DONTNEED));
	is(page, 0, PAGE, 0);
	kept(mem, (size_t)(page - mem));
	is(page, PAGE, (size_t)(mem + SIZE - page), OWN);
}

/* The list of mappings cannot be opened when a page is dropped. */
static int case_hidden(int argc, char **argv)
{
	uint8_t *mem = malloc(SIZE);
	struct ibv_mr *mr = adopted(mem);

	if (!chroot("/etc")) /* an ordinary user may not do that */
		drop(mem);
	CHECK(!ibv_dereg_mr(mr));
	return 0;
}

static int from_nobody[2];
static _Atomic pid_t receiver;

static void *receives(void *arg)
{
	atomic_store(&receiver, gettid());
	return (void *)recv(from_nobody[0], arg, 64, 0);
}

/* A thread sleeps in a call with an address in the page that is dropped: it cannot move. */
static int case_busy(int argc, char **argv)
{
	uint8_t *mem = malloc(SIZE);
	struct ibv_mr *mr = adopted(mem);
	void *got;
	pthread_t t;

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, from_nobody));
	CHECK(!pthread_create(&t, NULL, receives, page_of(mem)));
	while (!atomic_load(&receiver) || rc_state(atomic_load(&receiver)) != 'S')
		sched_yield();
	drop(mem);
	CHECK(send(from_nobody[1], mem + SIZE - 64, 64, 0) == 64);
	CHECK(!pthread_join(t, &got) && (long)got == 64);
	is(page_of(mem), 0, 64, OWN);
	CHECK(!ibv_dereg_mr(mr));
	is(page_of(mem), 0, 64, OWN);
	is(page_of(mem), 64, PAGE, 0);
	return 0;
}

/* No descriptor is free when pages are to be given back. */
static int case_descriptors(int argc, char **argv)
{
	uint8_t *mem = malloc(SIZE);
	struct ibv_mr *mr = adopted(mem);
	struct rlimit was, none;
	pid_t pid;

	CHECK(!getrlimit(RLIMIT_NOFILE, &was));
	none = was;
	none.rlim_cur = 3;
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	drop(mem);
	CHECK(!setrlimit(RLIMIT_NOFILE, &was));
	CHECK(!is_adopted(mem));
	memset(page_of(mem), OWN, PAGE);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		kept(mem, SIZE);
		_exit(0);
	}
	ends(pid);
	CHECK(!ibv_dereg_mr(mr));
	kept(mem, SIZE);
	return 0;
}

/* A child executes a program, then this process does. */
static int case_exec(int argc, char **argv)
{
	uint8_t *mem = malloc(SIZE);
	pid_t pid;

	adopted(mem);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	ends(pid);
	kept(mem, SIZE);
	execl("/proc/self/exe", "adopted", "munmap", NULL);
	return 1;
}

static uint32_t segment_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uint32_t found = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		found += strstr(line, "softhca-segment") != NULL;
	if (f)
		fclose(f);
	return found;
}

static void received(void)
{
	struct job j = {0, 0};
	char c;

	memset(end.buf, OWN, 64);
	rc_recv(&end, 0, 64);
	CHECK(send(sock, &j, sizeof(j), 0) == sizeof(j));
	CHECK(recv(sock, &c, 1, 0) == 1);
	CHECK(rc_wait(&end, RC_HANGS).status == IBV_WC_SUCCESS);
	is(end.buf, 0, 64, WRITTEN);
}

/* Messages arrive while the CQ is adopted, also after a child has ended or become a program. */
static int case_queue(int argc, char **argv)
{
	uint32_t before = segment_mappings();
	double since = rc_now();

	do {
		received();
		CHECK(rc_now() - since < RC_HANGS);
	} while (segment_mappings() < before + 2); /* the CQ and the buffer */
	for (uint32_t n = 0; n < 20; n++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid && n % 2)
			execl("/bin/true", "true", NULL);
		if (!pid)
			_exit(n % 2);
		received();
		ends(pid);
		received();
	}
	CHECK(!ibv_destroy_qp(end.qp) && !ibv_destroy_cq(end.cq));
	return 0;
}

/* The library's data goes while the key lives. */
static int case_dlclose(int argc, char **argv)
{
	void *lib;
	uint8_t *mem;
	struct ibv_mr *mr;

	CHECK(argc > 1);
	lib = dlopen(argv[1], RTLD_NOW);
	CHECK(lib);
	mem = dlsym(lib, "adopted_data");
	CHECK(mem);
	mr = adopted(mem);
	CHECK(!dlclose(lib));
	mem = mapped(mem, SIZE);
	memset(mem, OTHER, SIZE);
	CHECK(!ibv_dereg_mr(mr));
	is(mem, 0, SIZE, OTHER);
	return 0;
}

/* ---- the thread that frees */

static struct {
	_Atomic uint32_t turn, done;
	uint8_t *mem;
	uint32_t delay;
	uint8_t *other; /* what is there now, or NULL */
} job;

static void *frees(void *arg)
{
	for (uint32_t n = 1;; n++) {
		uint8_t *base;

		while (atomic_load(&job.turn) < n)
			sched_yield();
		base = (uint8_t *)((uintptr_t)job.mem & ~(uintptr_t)(PAGE - 1));
		for (uint32_t i = 0; i < job.delay; i++)
			__asm__ volatile("" ::: "memory");
		free(job.mem);
		job.other = mmap(base, SIZE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (job.other == MAP_FAILED)
			job.other = NULL;
		else
			memset(job.other, OTHER, SIZE);
		atomic_store(&job.done, n);
	}
	return arg;
}

static bool replaced(void)
{
	for (uint32_t i = 0; i < SIZE; i++)
		if (job.other[i] != OTHER)
			return true;
	return false;
}

static int case_race(int argc, char **argv)
{
	uint32_t rounds = rounds_of(argc, argv, 1000), others = 0, wrong = 0;
	pthread_t t;

	CHECK(mallopt(M_MMAP_THRESHOLD, SIZE / 2) == 1);
	CHECK(!pthread_create(&t, NULL, frees, NULL));
	for (uint32_t n = 1; n <= rounds; n++) {
		uint8_t *mem = malloc(SIZE);
		struct ibv_mr *mr = adopted(mem);

		job.mem = mem;
		job.delay = n * 7919 % 400000;
		atomic_store(&job.turn, n);
		CHECK(!ibv_dereg_mr(mr));
		while (atomic_load(&job.done) < n)
			sched_yield();
		if (!job.other)
			continue;
		others++;
		wrong += replaced();
		munmap(job.other, SIZE);
	}
	printf("%u times other memory, %u times replaced\n", others, wrong);
	return wrong ? 1 : 0;
}

static const struct rc_case cases[] = {
	{"munmap", case_munmap},
	{"realloc", case_realloc},
	{"trim", case_trim},
	{"fork", case_fork},
	{"order", case_order},
	{"keys", case_keys},
	{"exec", case_exec},
	{"dlclose", case_dlclose},
	{"queue", case_queue},
	{"race", case_race},
	{"descriptors", case_descriptors},
	{"hidden", case_hidden},
	{"busy", case_busy},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int pair[2], status;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = fork();
	CHECK(pid >= 0);
	sock = pair[!pid];
	close(pair[!!pid]);
	if (!pid) {
		peer();
		_exit(0);
	}
	rc_make(&end, NULL, PAGE, 0);
	rc_exchange(&end, sock);
	status = rc_main(cases, argc, argv);
	close(sock);
	waitpid(pid, NULL, 0);
	return status;
}
