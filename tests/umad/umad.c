/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements umad.h. */
#include "umad.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

void *volatile nowhere = (void *)16;

/* ---- cases */

#define MAX_CASES 256
static struct CMUnitTest cases[MAX_CASES];
static char names[MAX_CASES][120];
static size_t ncases;

static uint8_t is_open[1024];

static int close_all(void **state)
{
	(void)state;
	for (int fd = 0; fd < (int)sizeof(is_open); fd++)
		if (is_open[fd])
			umad_close(fd);
	return 0;
}

void add_case(CMUnitTestFunction f, const void *row, const char *name, ...)
{
	char *n = names[ncases];
	va_list ap;

	if (ncases == MAX_CASES)
		abort();
	va_start(ap, name);
	vsnprintf(n, sizeof(names[0]), name, ap);
	va_end(ap);
	cases[ncases++] = (struct CMUnitTest){n, f, NULL, close_all, (void *)row};
}

/* ---- pauses of the machine */

/*
 * The device's timers go on while the machine does not run this program (a disk, a paused virtual
 * machine). Other steps of a test are short, or are waits that step_waited() subtracts.
 */
#define PAUSE_MS 1000
#define REPEATS 3
static long step_ms, longest_ms;

void step(void)
{
	long now = now_ms();

	if (step_ms && now - step_ms > longest_ms)
		longest_ms = now - step_ms;
	step_ms = now;
}

void step_waited(void)
{
	step_ms = now_ms();
}

/* A failure beside a long pause proves nothing: a new program runs all cases again. */
int run_cases(const char *group)
{
	const char *was = getenv("UMAD_REPEATS");
	int n = was ? atoi(was) : 0,
	    failed = _cmocka_run_group_tests(group, cases, ncases, NULL, NULL);
	char again[12];

	step();
	if (!failed || longest_ms < PAUSE_MS || n >= REPEATS)
		return failed;
	print_message("this program was paused for %ld ms: again\n", longest_ms);
	snprintf(again, sizeof(again), "%d", n + 1);
	setenv("UMAD_REPEATS", again, 1);
	execl("/proc/self/exe", group, NULL);
	return failed;
}

/* ---- files */

int umad_open(unsigned int n, int flags)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/umad%u", n);
	fd = open(path, flags | O_CLOEXEC);
	assert_uint_in_range(fd, 0, sizeof(is_open) - 1);
	is_open[fd] = 1;
	return fd;
}

int umad(unsigned int n)
{
	return umad_open(n, O_RDWR | O_NONBLOCK);
}

int umad_close(int fd)
{
	is_open[fd] = 0;
	return close(fd);
}

static void sysfs_line(unsigned int n, const char *name, char *buf, int size)
{
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/mlx5_%u/ports/1/%s", n, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(buf, size, f));
	fclose(f);
}

uint16_t lid_of(unsigned int n)
{
	char buf[20];

	sysfs_line(n, "lid", buf, sizeof(buf));
	return (uint16_t)strtoul(buf, NULL, 0);
}

void gid_of(unsigned int n, uint8_t gid[16])
{
	char buf[60];

	sysfs_line(n, "gids/0", buf, sizeof(buf));
	for (int i = 0; i < 8; i++)
		put16(gid + 2 * i, (uint16_t)strtoul(buf + 5 * i, NULL, 16));
}

/* ---- agents */

int reg1(int fd, const struct reg *r)
{
	struct ib_user_mad_reg_req q = {
		.qpn = (uint8_t)r->qpn,
		.mgmt_class = r->mgmt_class,
		.mgmt_class_version = r->version,
		.oui = {(uint8_t)(r->oui >> 16), (uint8_t)(r->oui >> 8), (uint8_t)r->oui},
		.rmpp_version = r->rmpp,
		.id = 0xdead,
	};

	memcpy(q.method_mask, r->methods, sizeof(q.method_mask));
	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &q)) {
		assert_int_equal(q.id, 0xdead);
		return -1;
	}
	return (int)q.id;
}

int reg2(int fd, const struct reg *r)
{
	struct ib_user_mad_reg_req2 q = {
		.id = 0xdead,
		.qpn = r->qpn,
		.mgmt_class = r->mgmt_class,
		.mgmt_class_version = r->version,
		.oui = r->oui,
		.rmpp_version = r->rmpp,
		.flags = r->flags,
	};

	memcpy(q.method_mask, r->methods, sizeof(q.method_mask));
	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &q)) {
		assert_int_equal(q.id, 0xdead);
		/* ib_umad_reg_agent2: returns the supported flags */
		assert_int_equal(q.flags, r->flags & ~1u ? IB_USER_MAD_REG_FLAGS_CAP : r->flags);
		return -1;
	}
	return (int)q.id;
}

int unreg(int fd, uint32_t id)
{
	return ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id);
}

int agent(int fd, uint32_t qpn, uint8_t mgmt_class, uint64_t methods)
{
	const struct reg r = {
		.qpn = qpn, .mgmt_class = mgmt_class, .version = 1, .methods = {methods}};
	int id = reg2(fd, &r);

	assert_true(id >= 0);
	return id;
}

/* ---- MADs */

uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

uint64_t get64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

void put64(uint8_t *p, uint64_t v)
{
	for (int i = 7; i >= 0; i--, v >>= 8)
		p[i] = (uint8_t)v;
}

struct packet mad(uint32_t qpn, uint16_t lid, uint8_t mgmt_class, uint8_t method, uint16_t attr,
		  uint8_t tid)
{
	struct packet p = {.hdr = {.timeout_ms = 20, .lid = htons(lid), .qpn = htonl(qpn)}};

	put_mad_hdr(p.mad, mgmt_class, method, attr, tid);
	if (mgmt_class == SMI_DR) {
		put16(p.mad + 32, 0xffff);
		put16(p.mad + 34, 0xffff);
	}
	return p;
}

void put(int fd, const struct packet *p)
{
	step();
	assert_int_equal(write(fd, p, sizeof(*p)), sizeof(*p));
}

/* For a hang's report: what the files of this process hold that poll(2) may not have told of. */
static void show_queues(void)
{
	static uint8_t buf[1 << 16];

	for (unsigned int fd = 0; fd < sizeof(is_open); fd++) {
		struct pollfd p = {.fd = (int)fd, .events = POLLIN};
		int r = is_open[fd] ? poll(&p, 1, 0) : -1;
		ssize_t n;

		if (r < 0)
			continue;
		fcntl(p.fd, F_SETFL, O_RDWR | O_NONBLOCK);
		n = read(p.fd, buf, sizeof(buf));
		print_error("fd %u: poll gives %d, read %zd (%s), status %u\n", fd, r, n,
			    n < 0 ? strerror(errno) : "",
			    n < 0 ? 0 : ((struct ib_user_mad_hdr *)buf)->status);
	}
}

void wait_readable_at(int fd, int ms, const char *file, int line)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	step();
	r = poll(&p, 1, ms);
	step_waited();
	if (r != 1 || p.revents != POLLIN)
		show_queues();
	_assert_int_equal((unsigned long)r, 1, file, line);
	_assert_int_equal((unsigned long)p.revents, POLLIN, file, line);
}

struct packet got(int fd)
{
	struct packet in;

	memset(&in, 0x5a, sizeof(in));
	step();
	assert_int_equal(read(fd, &in, sizeof(in)), sizeof(in));
	assert_int_equal(in.hdr.status, 0);
	return in;
}

struct packet waited(int fd)
{
	wait_readable(fd, HANGS);
	return got(fd);
}

void timed_out(int fd, const struct packet *p)
{
	struct packet in;

	wait_readable(fd, HANGS);
	assert_int_equal(read(fd, &in, sizeof(in)), HDR + MAD_HDR);
	assert_int_equal(in.hdr.status, ETIMEDOUT);
	assert_int_equal(in.mad[15], p->mad[15]);
}

void nothing(int fd)
{
	struct packet in;

	step();
	assert_fails(read(fd, &in, sizeof(in)), EAGAIN);
}

long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint32_t times = 1;

uint32_t slowly(uint32_t ms)
{
	return ms * times;
}

bool overdue(long start, uint32_t ms)
{
	return now_ms() - start >= (long)slowly(ms);
}

void again(CMUnitTestFunction f, void **state)
{
	assert_true(times < 1024);
	close_all(NULL);
	times *= 2;
	f(state);
	times = 1;
}
