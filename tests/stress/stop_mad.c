/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of one port go on while one of them is stopped (SIGSTOP) at any point of its work: no
 * exchange of another one takes longer than 50 ms, delays of the machine aside.
 *
 *	stop_mad <seconds> get|set|sa|gmp|rmpp|register [supervisor's pid]
 *
 * get, set: SMPs that the port answers in the write; sa: a table of the SA, whose requests wait for
 * their answers; gmp, rmpp: requests and long messages to a client's own agent, in another file;
 * register: agents. A stop lasts 600 ms, or (short runs) 150 ms. The machine's delays are the
 * time that threads of the clients, of the server and of the supervisor were ready to run and had
 *no processor (proc(5), schedstat). Status 0: nobody waited.
 */
#include <infiniband/umad.h>
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

#include "util/test_time.h"

#define CLIENTS 4
#define MORE 10
#define BAR 0.050
#define LONG_RUN 60

static struct shared {
	_Atomic unsigned long done[CLIENTS];
	_Atomic long worst[CLIENTS]; /* the longest since the last stop, ns */
	_Atomic int end;
} * sh;

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static double now(void)
{
	return (double)now_ns() / 1e9;
}

static void note_worst(_Atomic long *worst, long ns)
{
	if (ns > atomic_load(worst))
		atomic_store(worst, ns);
}

static _Noreturn void die(const char *what)
{
	perror(what);
	_exit(3);
}

#define VENDOR 0x30
#define DATA 40 /* of a vendor's MAD: behind RMPP's header and the OUI */
#define LONG_MAD (DATA + 20 * 216)

static uint8_t oui[3] = {0x00, 0x14, 0x05};

struct client {
	int port, agent;
	uint16_t lid;
	uint32_t tid;
};

union mad {
	uint8_t bytes[sizeof(struct ib_user_mad) + LONG_MAD];
	struct ib_user_mad umad;
};

static void receive(int port, union mad *m, int len)
{
	if (umad_recv(port, m, &len, 20000) < 0)
		die("umad_recv");
	if (umad_status(m))
		die("no answer");
}

/* A request of `method` for attribute `attr`, to the port itself. */
static void ask(struct client *c, uint8_t class, uint8_t version, uint8_t method, uint16_t attr,
		int len)
{
	int qp = class != 0x01;
	union mad m = {0};
	uint8_t *mad = umad_get_mad(&m);

	mad[0] = 1;
	mad[1] = class;
	mad[2] = version;
	mad[3] = method;
	c->tid++;
	memcpy(mad + 12, &c->tid, sizeof(c->tid));
	mad[16] = (uint8_t)(attr >> 8);
	mad[17] = (uint8_t)attr;
	if (class == VENDOR)
		memcpy(mad + DATA - 3, oui, 3);
	if (len > 256) {
		mad[24] = 1; /* RMPP version */
		mad[26] = 1; /* active */
	}
	umad_set_addr(&m, c->lid, qp, 0, qp ? 0x80010000 : 0);
	if (umad_send(c->port, c->agent, &m, len, 10000, 0))
		die("umad_send");
	receive(c->port, &m, LONG_MAD);
}

static void get(struct client *c)
{
	ask(c, 0x01, 1, 1, 0x11, 256); /* NodeInfo */
}

static void set(struct client *c)
{
	ask(c, 0x01, 1, 2, 0x31, 256); /* LedInfo */
}

static void sa(struct client *c)
{
	ask(c, 0x03, 2, 0x12, 0x11, 256); /* GetTable(NodeRecord) */
}

static void gmp(struct client *c)
{
	ask(c, VENDOR, 1, 1, 1, 256);
}

static void rmpp(struct client *c)
{
	ask(c, VENDOR, 1, 1, 1, LONG_MAD);
}

static void reregister(struct client *c)
{
	int id = umad_register(c->port, 0x09, 1, 0, NULL); /* answers only: any number may */

	if (id < 0 || umad_unregister(c->port, id))
		die("umad_register");
}

static const struct kind {
	const char *name;
	int class, version, rmpp;
	void (*go)(struct client *c);
} kinds[] = {{"get", 0x01, 1, 0, get},     {"set", 0x01, 1, 0, set},
	     {"sa", 0x03, 2, 1, sa},       {"gmp", VENDOR, 1, 0, gmp},
	     {"rmpp", VENDOR, 1, 1, rmpp}, {"register", 0x01, 1, 0, reregister}};

static void open_client(struct client *c, const struct kind *k, bool server)
{
	long methods[16 / sizeof(long)] = {2}; /* Get */
	umad_port_t info;

	if (umad_init() || umad_get_port("mlx5_0", 1, &info))
		die("umad_get_port");
	c->lid = (uint16_t)info.base_lid;
	c->port = umad_open_port("mlx5_0", 1);
	if (c->port < 0)
		die("umad_open_port");
	c->agent = k->class == VENDOR
			   ? umad_register_oui(c->port, VENDOR, (uint8_t)k->rmpp, oui,
					       server ? methods : NULL)
			   : umad_register(c->port, k->class, k->version, (uint8_t)k->rmpp, NULL);
	if (c->agent < 0)
		die("umad_register");
}

/* Returns each request as its own answer, until a signal ends this process. */
static int server(const struct kind *k, int ready)
{
	int len = k->rmpp ? LONG_MAD : 256;
	struct client c = {0};
	union mad m;

	open_client(&c, k, true);
	if (write(ready, "", 1) != 1)
		return 3;
	for (;;) {
		int n = len;

		if (umad_recv(c.port, &m, &n, -1) < 0)
			die("umad_recv");
		((uint8_t *)umad_get_mad(&m))[3] |= 0x80;
		umad_set_addr(&m, c.lid, 1, 0, 0x80010000);
		if (umad_send(c.port, c.agent, &m, len, 0, 0))
			die("umad_send");
	}
}

static int client(unsigned int n, const struct kind *k)
{
	struct client c = {.tid = n << 24};

	open_client(&c, k, false);
	while (!atomic_load(&sh->end)) {
		long start = now_ns();

		k->go(&c);
		note_worst(&sh->worst[n], now_ns() - start);
		atomic_fetch_add(&sh->done[n], 1);
	}
	return 0;
}

/* Wait until each client but `stopped` has finished MORE more exchanges. */
static void all_go_on(unsigned int stopped)
{
	unsigned long was[CLIENTS];
	unsigned int left;

	for (unsigned int i = 0; i < CLIENTS; i++)
		was[i] = atomic_load(&sh->done[i]);
	do {
		left = 0;
		for (unsigned int i = 0; i < CLIENTS; i++)
			left += i != stopped && atomic_load(&sh->done[i]) < was[i] + MORE;
		if (left)
			usleep(100);
	} while (left);
}

/* The clients, the server (0: none) and, last, the fabric's supervisor (0: unknown). */
struct crowd {
	pid_t pid[CLIENTS + 2];
	uint64_t starved;
};

/* The time that all of them waited for a processor: a client needs locks and MADs of the others. */
static uint64_t all_starved(const struct crowd *c)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CLIENTS + 2; i++)
		sum += c->pid[i] ? test_starved_ns(c->pid[i]) : 0;
	return sum;
}

static void look(struct crowd *c)
{
	c->starved = all_starved(c);
	for (unsigned int i = 0; i < CLIENTS; i++)
		atomic_store(&sh->worst[i], 0);
}

/*
 * The longest exchange of the others since look(), in seconds, without the time that they waited
 * for a processor. Each of them has finished one since.
 */
static double longest(const struct crowd *c, unsigned int stopped)
{
	long most = 0;

	for (unsigned int i = 0; i < CLIENTS; i++)
		if (i != stopped && atomic_load(&sh->worst[i]) > most)
			most = atomic_load(&sh->worst[i]);
	most -= (long)(all_starved(c) - c->starved);
	return most > 0 ? (double)most / 1e9 : 0;
}

static int rounds(struct crowd *c, double seconds)
{
	useconds_t stop = seconds >= LONG_RUN ? 600000 : 150000;
	double end = now() + seconds, worst = 0;
	unsigned int n = 0, frozen = 0;
	int status;

	all_go_on(CLIENTS);
	while (now() < end) {
		unsigned int who = n++ % CLIENTS;
		double waited;

		usleep((useconds_t)(now_ns() / 7 % 3000)); /* at any point of what it does */
		kill(c->pid[who], SIGSTOP);
		if (waitpid(c->pid[who], &status, WUNTRACED) != c->pid[who] || !WIFSTOPPED(status))
			return 4;
		look(c);
		usleep(stop); /* any time must do */
		kill(c->pid[who], SIGCONT);
		all_go_on(CLIENTS);
		waited = longest(c, who);
		worst = waited > worst ? waited : worst;
		frozen += waited > BAR;
	}
	printf("%u stops, %u froze others, who waited %.1f ms at most\n", n, frozen, 1e3 * worst);
	return frozen < 3 ? frozen : 3;
}

/*
 * Repeats a short run that failed: the machine's delays (a disk may pause) end, softhca's come
 * again.
 */
static int once_or_twice(struct crowd *c, double seconds)
{
	int r = rounds(c, seconds);

	return r >= 1 && r <= 3 && seconds < LONG_RUN ? rounds(c, seconds) : r;
}

static pid_t start_server(const struct kind *k)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (!pid)
		_exit(server(k, ready[1]));
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		die("the server");
	close(ready[0]);
	return pid;
}

int main(int argc, char **argv)
{
	const struct kind *k = NULL;
	struct crowd c = {0};
	int r, status;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc >= 3 && !strcmp(kinds[i].name, argv[2]))
			k = &kinds[i];
	if (!k)
		return 2;
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		return 2;
	if (k->class == VENDOR)
		c.pid[CLIENTS] = start_server(k);
	c.pid[CLIENTS + 1] = argc > 3 ? atoi(argv[3]) : 0;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		c.pid[i] = fork();
		if (!c.pid[i])
			_exit(client(i, k));
	}
	r = once_or_twice(&c, atof(argv[1]));
	atomic_store(&sh->end, 1);
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (waitpid(c.pid[i], &status, 0) == c.pid[i] && status && !r)
			r = 5;
	if (c.pid[CLIENTS]) {
		kill(c.pid[CLIENTS], SIGKILL);
		waitpid(c.pid[CLIENTS], &status, 0);
	}
	return r;
}
