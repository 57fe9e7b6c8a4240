/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long one SubnGet(NodeInfo) through libibumad takes. NUMBER of them are sent, at most WINDOW
 * at once. Written against the stock library only, so that it runs on softhca, on ibsim and on a
 * card.
 *
 * usage: mads [-w WINDOW] [-n NUMBER] [-t] [-a AGENTS] [-o OUTSTANDING] [-c CA] [-p PORT] ROUTE
 *
 * ROUTE: a LID, or a directed route as smpquery has it (0,1,3). -t: a thread of its own receives,
 * as in OpenSM. -a: AGENTS more agents are registered on the port. -o: first, OUTSTANDING
 * MADs are sent to a LID where nobody answers, and wait for ever. Prints: MADs in a second,
 * nanoseconds for one.
 */
#include <errno.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 3000
#define WINDOW_MAX 4096
#define NOBODY_LID 0xbff0

static struct {
	const char *ca;
	int port, fd, agent;
	long window, number, agents, outstanding;
	bool thread;
	long lid; /* 0: directed */
	uint8_t path[64];
	int hops;
} opt = {.window = 1, .number = 200000};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;
static long under_way;

static void die(const char *what)
{
	fprintf(stderr, "mads: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *new_mad(void)
{
	void *umad = umad_alloc(1, umad_size() + 256);

	if (!umad)
		die("umad_alloc");
	return umad;
}

static void send_one(void *umad, uint64_t tid, int lid, int timeout)
{
	struct umad_smp *smp = umad_get_mad(umad);

	memset(smp, 0, 256);
	smp->base_version = 1;
	smp->mgmt_class = opt.lid ? UMAD_CLASS_SUBN_LID_ROUTED : UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	smp->class_version = 1;
	smp->method = UMAD_METHOD_GET;
	smp->tid = htobe64(tid);
	smp->attr_id = htobe16(UMAD_SM_ATTR_NODE_INFO);
	if (!opt.lid) {
		smp->hop_cnt = (uint8_t)opt.hops;
		smp->dr_slid = smp->dr_dlid = htobe16(0xffff);
		memcpy(smp->initial_path, opt.path, sizeof(smp->initial_path));
	}
	umad_set_addr(umad, lid, 0, 0, 0);
	if (umad_send(opt.fd, opt.agent, umad, 256, timeout, 0))
		die("umad_send");
}

static void receive_one(void *umad)
{
	int len = 256;
	int r = umad_recv(opt.fd, umad, &len, WAIT_MS);

	if (r < 0) {
		errno = -r;
		die("umad_recv");
	}
	if (umad_status(umad)) {
		errno = umad_status(umad);
		die("no answer");
	}
}

static void *receiver(void *arg)
{
	void *umad = new_mad();

	(void)arg;
	for (long i = 0; i < opt.number; i++) {
		receive_one(umad);
		pthread_mutex_lock(&lock);
		under_way--;
		pthread_cond_signal(&room);
		pthread_mutex_unlock(&lock);
	}
	umad_free(umad);
	return NULL;
}

static int dest(void)
{
	return opt.lid ? (int)opt.lid : 0xffff;
}

static void run_threads(void)
{
	void *umad = new_mad();
	pthread_t t;

	if (pthread_create(&t, NULL, receiver, NULL))
		die("pthread_create");
	for (long i = 0; i < opt.number; i++) {
		pthread_mutex_lock(&lock);
		while (under_way >= opt.window)
			pthread_cond_wait(&room, &lock);
		under_way++;
		pthread_mutex_unlock(&lock);
		send_one(umad, (uint64_t)i + 1, dest(), WAIT_MS);
	}
	pthread_join(t, NULL);
	umad_free(umad);
}

static void run_one(void)
{
	void *umad = new_mad();
	long sent = 0;

	for (long got = 0; got < opt.number; got++) {
		while (sent < opt.number && sent - got < opt.window)
			send_one(umad, (uint64_t)++sent, dest(), WAIT_MS);
		receive_one(umad);
	}
	umad_free(umad);
}

/* Idle agents, 32 to a file: they make the search for the right one longer. */
static void more_agents(void)
{
	int fd = -1;

	for (long i = 0; i < opt.agents; i++) {
		if (i % 32 == 0)
			fd = umad_open_port(opt.ca, opt.port);
		if (fd < 0 || umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 0, NULL) < 0)
			die("another agent");
	}
}

static void more_sends(void)
{
	void *umad = new_mad();
	long lid = opt.lid;

	opt.lid = NOBODY_LID;
	for (long i = 0; i < opt.outstanding; i++)
		send_one(umad, (uint64_t)(0x40000000 + i), NOBODY_LID, 3600 * 1000);
	opt.lid = lid;
	umad_free(umad);
}

static void set_route(const char *s)
{
	char *end;

	if (!strchr(s, ',') && strcmp(s, "0") != 0) {
		opt.lid = strtol(s, &end, 0);
		if (*end || opt.lid <= 0)
			die(s);
		return;
	}
	for (opt.hops = -1; *s && opt.hops < 62; s = *end ? end + 1 : end)
		opt.path[++opt.hops] = (uint8_t)strtol(s, &end, 0);
}

static void options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "w:n:ta:o:c:p:")) != -1)
		switch (c) {
		case 'w':
			opt.window = atol(optarg);
			break;
		case 'n':
			opt.number = atol(optarg);
			break;
		case 't':
			opt.thread = true;
			break;
		case 'a':
			opt.agents = atol(optarg);
			break;
		case 'o':
			opt.outstanding = atol(optarg);
			break;
		case 'c':
			opt.ca = optarg;
			break;
		case 'p':
			opt.port = atoi(optarg);
			break;
		default:
			exit(2);
		}
	if (optind != argc - 1 || opt.window < 1 || opt.window > WINDOW_MAX || opt.number < 1) {
		fprintf(stderr,
			"usage: mads [-w WINDOW] [-n NUMBER] [-t] [-a AGENTS] [-o OUTSTANDING]"
			" [-c CA] [-p PORT] ROUTE\n");
		exit(2);
	}
	set_route(argv[optind]);
}

int main(int argc, char **argv)
{
	double start;

	options(argc, argv);
	if (umad_init() < 0)
		die("umad_init");
	opt.fd = umad_open_port(opt.ca, opt.port);
	if (opt.fd < 0)
		die("umad_open_port");
	opt.agent = umad_register(
		opt.fd, opt.lid ? UMAD_CLASS_SUBN_LID_ROUTED : UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0,
		NULL);
	if (opt.agent < 0)
		die("umad_register");
	more_agents();
	more_sends();
	start = now();
	if (opt.thread)
		run_threads();
	else
		run_one();
	start = now() - start;
	printf("%.0f /s %.1f ns\n", (double)opt.number / start, 1e9 * start / (double)opt.number);
	return 0;
}
