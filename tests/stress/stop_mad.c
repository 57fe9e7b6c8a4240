/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of one port's umad file that go on while one of them is stopped (SIGSTOP), at any point
 *of what it does.
 *
 *	stop_mad <seconds> get|sa|register
 *
 * get: SMPs that the port answers in the write; sa: PortInfo records of the SA, whose requests wait
 * for their answers; register: agents. In each round one client is stopped until every other one
 * has done ten more; who has not in 1.5 s is frozen. Says how many rounds there were and how many
 * froze somebody; status 0: none.
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

#define CLIENTS 4
#define MORE 10
#define PATIENCE 1.5

static struct shared {
	_Atomic unsigned long done[CLIENTS];
	_Atomic int end;
} * sh;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	perror(what);
	_exit(3);
}

struct client {
	int port, agent;
	uint16_t lid;
	uint32_t tid;
};

/* A Get of attribute `attr`, to the port itself. */
static void ask(struct client *c, uint8_t class, uint8_t version, uint16_t attr, int qp, int len)
{
	union {
		uint8_t bytes[sizeof(struct ib_user_mad) + 256];
		struct ib_user_mad umad;
	} m = {0};
	uint8_t *mad = umad_get_mad(&m);

	mad[0] = 1;
	mad[1] = class;
	mad[2] = version;
	mad[3] = 1; /* Get */
	c->tid++;
	memcpy(mad + 12, &c->tid, sizeof(c->tid));
	mad[16] = (uint8_t)(attr >> 8);
	mad[17] = (uint8_t)attr;
	umad_set_addr(&m, c->lid, qp, 0, qp ? 0x80010000 : 0);
	if (umad_send(c->port, c->agent, &m, len, 10000, 0))
		die("umad_send");
	len = 256;
	if (umad_recv(c->port, &m, &len, 20000) < 0)
		die("umad_recv");
}

static void get(struct client *c)
{
	ask(c, 0x01, 1, 0x11, 0, 256);
}

static void sa(struct client *c)
{
	ask(c, 0x03, 2, 0x01, 1, 256); /* ClassPortInfo */
}

static void reregister(struct client *c)
{
	int id = umad_register(c->port, 0x09, 1, 0, NULL); /* answers only: any number may */

	if (id < 0 || umad_unregister(c->port, id))
		die("umad_register");
}

static const struct kind {
	const char *name;
	int class, version;
	void (*go)(struct client *c);
} kinds[] = {{"get", 0x01, 1, get}, {"sa", 0x03, 2, sa}, {"register", 0x01, 1, reregister}};

static int client(unsigned int n, const struct kind *k)
{
	struct client c = {.tid = n << 24};
	umad_port_t info;

	if (umad_init() || umad_get_port("mlx5_0", 1, &info))
		die("umad_get_port");
	c.lid = (uint16_t)info.base_lid;
	c.port = umad_open_port("mlx5_0", 1);
	c.agent = c.port < 0 ? -1 : umad_register(c.port, k->class, k->version, 0, NULL);
	if (c.agent < 0)
		die("umad_open_port");
	while (!atomic_load(&sh->end)) {
		k->go(&c);
		atomic_fetch_add(&sh->done[n], 1);
	}
	return 0;
}

/* All but `stopped` have done MORE more. */
static bool all_go_on(unsigned int stopped)
{
	unsigned long was[CLIENTS];
	double end = now() + PATIENCE;
	unsigned int left;

	for (unsigned int i = 0; i < CLIENTS; i++)
		was[i] = atomic_load(&sh->done[i]);
	do {
		left = 0;
		for (unsigned int i = 0; i < CLIENTS; i++)
			left += i != stopped && atomic_load(&sh->done[i]) < was[i] + MORE;
		if (left)
			usleep(100);
	} while (left && now() < end);
	return !left;
}

static int rounds(const pid_t *pid, double seconds)
{
	double end = now() + seconds;
	unsigned int n = 0, frozen = 0;
	int status;

	if (!all_go_on(CLIENTS) && !all_go_on(CLIENTS))
		return 2;
	while (now() < end) {
		unsigned int who = n++ % CLIENTS;

		kill(pid[who], SIGSTOP);
		if (waitpid(pid[who], &status, WUNTRACED) != pid[who] || !WIFSTOPPED(status))
			return 2;
		frozen += !all_go_on(who);
		kill(pid[who], SIGCONT);
		all_go_on(CLIENTS);
	}
	printf("%u stops, %u froze others\n", n, frozen);
	return frozen != 0;
}

int main(int argc, char **argv)
{
	const struct kind *k = kinds;
	pid_t pid[CLIENTS];
	int r, status;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc == 3 && !strcmp(kinds[i].name, argv[2]))
			k = &kinds[i];
	if (argc != 3)
		return 2;
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		return 2;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(client(i, k));
	}
	r = rounds(pid, atof(argv[1]));
	atomic_store(&sh->end, 1);
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (waitpid(pid[i], &status, 0) == pid[i] && status && !r)
			r = 3;
	return r;
}
