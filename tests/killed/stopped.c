/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One of two senders to the same receiver is stopped at random moments: stopped TRANSPORT [stops].
 * Meanwhile the other one goes on: a stop lasts until GO_ON messages of it have come, and has held
 * it up when that takes longer than LONG_S. No message comes twice or out of order. Prints the
 * counts and the longest times in which nothing came, with and without a stop; status 1 when stops
 * held the other sender up. A single one may be due to the machine, unless the test runs for a
 * minute.
 */
#include "ends.h"
#include "util/test_time.h"

#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_S 2
#define GO_ON 100
#define WINDOW 16
#define HANGS_S 60
#define MORE_S 0.05 /* more than twice the delays of an idle machine */

static struct end e;
static struct peer {
	pid_t pid;
	int sock;
	uint32_t qpn, next;
	unsigned long got;
} peers[2];

static int sender(enum transport t)
{
	struct ibv_wc wc[16];
	int out = 0, n;

	sender_begin(&e, t);
	for (;;) {
		if (out < WINDOW && !sender_post(&e, true))
			out++;
		n = ibv_poll_cq(e.cq, 16, wc);
		NEED(n >= 0);
		for (int k = 0; k < n; k++)
			if (wc[k].status) {
				fprintf(stderr, "sender: %s\n", ibv_wc_status_str(wc[k].status));
				return 98;
			}
		out -= n;
	}
}

/* In order and once; what is not acknowledged may be lost, when no receive is posted. */
static void received(struct peer *p, uint32_t number)
{
	NEED(e.t == T_UD || e.t == T_UC ? number >= p->next : number == p->next);
	p->next = number + 1;
	p->got++;
}

static void serve(void)
{
	struct ibv_wc wc[64];
	int n = ibv_poll_cq(e.cq, 64, wc);

	NEED(n >= 0);
	for (int i = 0; i < n; i++) {
		NEED(!wc[i].status);
		for (int k = 0; k < 2; k++)
			if (peers[k].qpn == wc[i].src_qp) {
				received(&peers[k], be32toh(wc[i].imm_data));
				if (!e.srq && e.t != T_UD)
					e.qp = (void *)(uintptr_t)wc[i].wr_id;
			}
		receiver_post(&e);
	}
}

/* Until `n` more messages of peer k have come. False: none comes any more. */
static bool more(int k, unsigned long n, double *worst)
{
	double end = now_s() + HANGS_S, last = now_s(), now;
	unsigned long from = peers[k].got, seen = from;

	while (peers[k].got < from + n) {
		serve();
		now = now_s();
		if (peers[k].got != seen) {
			seen = peers[k].got;
			last = now;
		}
		if (worst && now - last > *worst)
			*worst = now - last;
		if (now > end)
			return false;
	}
	return true;
}

/* Seconds that this process and the other sender were ready to run but had no processor. */
static double starved(void)
{
	return (double)(test_starved_ns(getpid()) + test_starved_ns(peers[1].pid)) / 1e9;
}

/* The two longest times without a message. */
static double longest[2];

static void note_gap(double gap)
{
	if (gap > longest[0]) {
		longest[1] = longest[0];
		longest[0] = gap;
	} else if (gap > longest[1]) {
		longest[1] = gap;
	}
}

/* While peer 0 is stopped: is the other one held up? Waiting for a processor does not count. */
static bool held_up(void)
{
	double was = starved(), start = now_s(), gap = 0, took, noise;

	NEED(more(1, GO_ON, &gap));
	took = now_s() - start;
	noise = starved() - was;
	note_gap(gap - noise);
	return took - noise > LONG_S;
}

static void start(const char *prog, enum transport t, int k)
{
	struct addr me, peer;
	char go;

	peers[k].pid = sender_start(prog, t, "-", &peers[k].sock);
	if (t != T_UD && t != T_DC)
		e.qp = NULL;
	me = receiver_new_qp(&e);
	NEED(read(peers[k].sock, &peer, sizeof(peer)) == sizeof(peer));
	peers[k].qpn = peer.qpn;
	receiver_connect(&e, &peer);
	NEED(write(peers[k].sock, &me, sizeof(me)) == sizeof(me));
	NEED(read(peers[k].sock, &go, 1) == 1);
}

int main(int argc, char **argv)
{
	unsigned int seed = (unsigned int)getpid();
	unsigned long max, stops = 0, held = 0;
	enum transport t = T_RC;
	double end, quick = stress_seconds(1), alone = 0, worst;
	int status;

	while (t < T_COUNT && argc > 1 && strcmp(argv[1], transport_names[t]))
		t++;
	if (argc < 2 || t == T_COUNT)
		return 2;
	if (argc > 3 && !strcmp(argv[3], "sender"))
		return sender(t);
	max = argc > 2 ? strtoul(argv[2], NULL, 0) : ~0ul;
	end_open(&e, t, DEPTH);
	start(argv[0], t, 0);
	start(argv[0], t, 1);
	for (end = now_s() + quick; stops < max && (argc > 2 || now_s() < end); stops++) {
		unsigned int us = (unsigned int)rand_r(&seed) % 3000;

		NEED(more(0, 1, NULL) && more(1, GO_ON, &alone));
		for (double at = now_s() + us / 1e6; now_s() < at;)
			serve();
		kill(peers[0].pid, SIGSTOP);
		NEED(waitpid(peers[0].pid, &status, WUNTRACED) == peers[0].pid &&
		     WIFSTOPPED(status));
		held += held_up();
		kill(peers[0].pid, SIGCONT);
	}
	for (int k = 0; k < 2; k++)
		kill(peers[k].pid, SIGKILL);
	printf("%s: %lu stops, %lu of them held the other sender up; %.1f and %.1f ms without a "
	       "message, %.1f ms when nobody was stopped\n",
	       argv[1], stops, held, longest[0] * 1e3, longest[1] * 1e3, alone * 1e3);
	worst = longest[quick < 60];
	return held > (quick < 60) || worst > 2 * alone + MORE_S;
}
