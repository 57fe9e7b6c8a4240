/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Senders to one shared receive queue are stopped and killed at random moments: limits [rounds].
 * Arming a limit succeeds, each arm has one event when fewer receives are left and none before, and
 * each receive completes once: a last sender finds all that are left. Prints the counts; status 1
 * if one was wrong.
 */
#include "ends.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 64
#define SENDERS 2
#define HANGS_S 60

static struct end e;
static bool posted[SLOTS]; /* receives that belong to the SRQ, by wr_id */
static int nposted;
static struct sender {
	pid_t pid;
	int sock;
	struct ibv_qp *qp;
} senders[SENDERS];
static unsigned long rounds, kills, stops, received, events;
static unsigned long twice, lost, no_last, no_event, no_reason, refused;

static int sender(void)
{
	struct ibv_wc wc[16];
	int out = 0, n;

	sender_begin(&e, T_SRQ);
	for (;;) {
		if (out < 16 && !sender_post(&e, true))
			out++;
		n = ibv_poll_cq(e.cq, 16, wc);
		NEED(n >= 0);
		for (int k = 0; k < n; k++)
			if (wc[k].status)
				return 98;
		out -= n;
	}
}

/* ---- the receiver */

static void fill(void)
{
	struct ibv_sge sge = {(uintptr_t)e.mem, MSG_BYTES, e.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (int i = 0; i < SLOTS; i++) {
		wr.wr_id = (uint64_t)i;
		if (posted[i])
			continue;
		posted[i] = true;
		nposted++;
		NEED(!ibv_post_srq_recv(e.srq, &wr, &bad));
	}
}

/* Take the completions; the receive that a QP has in hand is flushed. */
static int drain(void)
{
	struct ibv_wc wc[SLOTS];
	int n = ibv_poll_cq(e.cq, SLOTS, wc), good = 0;

	NEED(n >= 0);
	for (int i = 0; i < n; i++) {
		twice += !posted[wc[i].wr_id];
		nposted -= posted[wc[i].wr_id];
		posted[wc[i].wr_id] = false;
		good += !wc[i].status;
	}
	received += (unsigned long)good;
	return n;
}

static struct ibv_qp *last; /* the QP whose last WQE was reached */
static int limit_seen;

static void look_at_events(void)
{
	struct ibv_async_event ev;

	while (!ibv_get_async_event(e.ctx, &ev)) {
		limit_seen += ev.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
		if (ev.event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
			last = ev.element.qp;
		ibv_ack_async_event(&ev);
	}
}

/* The number of limit events since the last call. */
static int limit_events(void)
{
	int n;

	look_at_events();
	n = limit_seen;
	limit_seen = 0;
	return n;
}

static void start(const char *prog, struct sender *s)
{
	struct addr me, peer;
	char go;

	s->pid = sender_start(prog, T_SRQ, "-", &s->sock);
	e.qp = NULL;
	me = receiver_new_qp(&e);
	s->qp = e.qp;
	NEED(read(s->sock, &peer, sizeof(peer)) == sizeof(peer));
	receiver_connect(&e, &peer);
	NEED(write(s->sock, &me, sizeof(me)) == sizeof(me));
	NEED(read(s->sock, &go, 1) == 1);
}

/* Ends a QP on an SRQ as IBA 10.3.1 says: error, last WQE, drain, destroy. */
static void end(struct sender *s)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};
	double hang = now_s() + HANGS_S;
	int status;

	kill(s->pid, SIGKILL);
	NEED(waitpid(s->pid, &status, 0) == s->pid);
	if (!WIFSIGNALED(status))
		fprintf(stderr, "sender ended by itself: %#x\n", (unsigned int)status);
	close(s->sock);
	last = NULL;
	NEED(!ibv_modify_qp(s->qp, &a, IBV_QP_STATE));
	while (last != s->qp && now_s() < hang)
		look_at_events();
	no_last += last != s->qp;
	while (drain())
		;
	NEED(!ibv_destroy_qp(s->qp));
	s->pid = 0;
}

static void arm(int limit)
{
	struct ibv_srq_attr a = {.srq_limit = (uint32_t)limit};
	int r = ibv_modify_srq(e.srq, &a, IBV_SRQ_LIMIT);

	if (r)
		fprintf(stderr, "arm of %d: %s\n", limit, strerror(r));
	refused += r != 0;
}

/* What becomes of the first sender while the receives are used up. */
enum fate { GOES_ON, STOPPED, KILLED, FATES };

/* A QP may have a receive in hand that is not complete: it counts as taken. */
static void one(const char *prog, unsigned int *seed, enum fate fate)
{
	int limit = 1 + (int)((unsigned int)rand_r(seed) % (SLOTS - 8)), got = 0;
	int at = limit + (int)((unsigned int)rand_r(seed) % 8); /* near the event */
	double hang = now_s() + HANGS_S;
	bool done = false;

	while (nposted > 2) /* those that are in hand belong to the senders */
		drain();
	no_reason += (unsigned long)limit_events();
	fill();
	arm(limit);
	for (; (nposted >= limit || !got) && now_s() < hang; got += limit_events()) {
		drain();
		no_reason += got && nposted >= limit + SENDERS;
		if (!done && nposted <= at) {
			done = true;
			if (fate == STOPPED)
				kill(senders[0].pid, SIGSTOP);
			if (fate == KILLED)
				end(&senders[0]);
		}
	}
	no_event += !got;
	events += (unsigned long)got;
	no_reason += got > 1;
	if (fate == STOPPED)
		kill(senders[0].pid, SIGCONT);
	if (fate == KILLED)
		start(prog, &senders[0]);
	stops += fate == STOPPED;
	kills += fate == KILLED;
	rounds++;
}

/* All that were posted and did not complete are there for a new sender. */
static void count_the_rest(const char *prog)
{
	double hang = now_s() + HANGS_S;

	for (int i = 0; i < SENDERS; i++)
		end(&senders[i]);
	drain();
	start(prog, &senders[0]);
	while (nposted && now_s() < hang)
		drain();
	lost += (unsigned long)nposted;
	memset(posted, 0, sizeof(posted));
	nposted = 0;
	fill();
	start(prog, &senders[1]);
}

int main(int argc, char **argv)
{
	unsigned int seed = (unsigned int)getpid();
	unsigned long max = argc > 1 && argc < 4 ? strtoul(argv[1], NULL, 0) : ~0ul;
	double until;

	if (argc > 3 && !strcmp(argv[3], "sender"))
		return sender();
	end_open(&e, T_SRQ, SLOTS);
	e.depth = 0; /* the receives are ours */
	fcntl(e.ctx->async_fd, F_SETFL, O_NONBLOCK);
	NEED(e.srq = ibv_create_srq(
		     e.pd, &(struct ibv_srq_init_attr){.attr = {.max_wr = SLOTS, .max_sge = 1}}));
	for (int i = 0; i < SENDERS; i++)
		start(argv[0], &senders[i]);
	for (until = now_s() + stress_seconds(2); rounds < max && now_s() < until && !lost;) {
		one(argv[0], &seed, (enum fate)((unsigned int)rand_r(&seed) % FATES));
		if (rounds % 16 == 0)
			count_the_rest(argv[0]);
	}
	count_the_rest(argv[0]);
	for (int i = 0; i < SENDERS; i++)
		end(&senders[i]);
	printf("%lu rounds, %lu kills, %lu stops, %lu received, %lu events: %lu receives lost, "
	       "%lu twice, %lu arms refused, %lu without an event, %lu events without reason, "
	       "%lu without the last WQE's event\n",
	       rounds, kills, stops, received, events, lost, twice, refused, no_event, no_reason,
	       no_last);
	return lost || twice || no_last || refused || no_event || no_reason;
}
