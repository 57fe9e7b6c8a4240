/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Senders are killed at random moments beside a receiver that sleeps for events: events TRANSPORT
 * [kills]. A completion on an armed CQ has its event, soon and without help; a readable channel has
 * a record. Prints the counts; status 1 if an event was lost, after which it stops.
 */
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANGS_S 60 /* an event that is owed does not come later than that, on any machine */

static struct end e;
static unsigned long kills, lost, empty, twice, received;

static int sender(enum transport t)
{
	struct ibv_wc wc[16];
	int out = 0, n;

	sender_begin(&e, t);
	for (;;) {
		/* Let the receiver fall asleep again, so that each message has its event. */
		for (double end = now_s() + 20e-6; now_s() < end;)
			;
		if (out < 32 && !sender_post(&e, true))
			out++;
		n = ibv_poll_cq(e.cq, 16, wc);
		NEED(n >= 0);
		for (int k = 0; k < n; k++)
			if (wc[k].status)
				return 98;
		out -= n;
	}
}

/* Consume all completions; returns their number. */
static int drain(void)
{
	struct ibv_wc wc[64];
	int n, sum = 0;

	while ((n = ibv_poll_cq(e.cq, 64, wc)) > 0) {
		for (int i = 0; i < n; i++)
			if (!wc[i].status)
				receiver_post(&e);
		sum += n;
	}
	received += (unsigned long)sum;
	return sum;
}

/* The channel is readable: take one event. False: there was none. */
static bool take(void)
{
	struct ibv_cq *cq;
	void *ctx;

	if (ibv_get_cq_event(e.ch, &cq, &ctx)) {
		empty++;
		return false;
	}
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* As programs do, until `until`: arm, consume, sleep. Returns with the CQ armed and empty. */
static void serve_until(double until)
{
	for (;;) {
		double left = until - now_s();

		if (left <= 0 || !readable(e.ch->fd, (int)(left * 1000) + 1))
			return;
		if (!take())
			continue;
		NEED(!ibv_req_notify_cq(e.cq, 0));
		drain();
	}
}

/*
 * No sender is left and the CQ is armed. Completions since it was seen empty must have an event.
 * Returns with the CQ armed and empty.
 */
static void settle(void)
{
	bool news = drain() > 0, event = false;
	double end = now_s() + HANGS_S;

	while (readable(e.ch->fd, news && !event && now_s() < end ? 1000 : 0) ||
	       (news && !event && now_s() < end)) {
		if (!readable(e.ch->fd, 0) || !take())
			continue;
		twice += event;
		event = true;
	}
	lost += news && !event;
	if (!news && !event)
		return; /* still armed */
	NEED(!ibv_req_notify_cq(e.cq, 0));
	drain();
}

static void one(const char *prog, enum transport t, unsigned int *seed)
{
	struct addr me, peer;
	char go;
	int sock, status;
	pid_t pid = sender_start(prog, t, "-", &sock);

	me = receiver_new_qp(&e);
	NEED(read(sock, &peer, sizeof(peer)) == sizeof(peer));
	receiver_connect(&e, &peer);
	NEED(write(sock, &me, sizeof(me)) == sizeof(me));
	NEED(read(sock, &go, 1) == 1);
	serve_until(now_s() + 0.0002 + (double)(rand_r(seed) % 4000) / 1e6);
	/*
	 * Kill half of them while they are sending an event: writing the byte is not their last
	 * step.
	 */
	if (rand_r(seed) % 2)
		readable(e.ch->fd, 20);
	kill(pid, SIGKILL);
	NEED(waitpid(pid, &status, 0) == pid);
	if (!WIFSIGNALED(status))
		fprintf(stderr, "sender ended by itself: %#x\n", (unsigned int)status);
	close(sock);
	settle();
	kills++;
	receiver_drop_qp(&e);
	drain();
}

int main(int argc, char **argv)
{
	unsigned int seed = (unsigned int)getpid();
	enum transport t = T_RC;
	unsigned long max;
	double end;

	while (t < T_COUNT && argc > 1 && strcmp(argv[1], transport_names[t]))
		t++;
	if (argc < 2 || t == T_COUNT)
		return 2;
	if (argc > 3 && !strcmp(argv[3], "sender"))
		return sender(t);
	max = argc > 2 ? strtoul(argv[2], NULL, 0) : ~0ul;
	end_open(&e, t, DEPTH);
	fcntl(e.ch->fd, F_SETFL, O_NONBLOCK);
	NEED(!ibv_req_notify_cq(e.cq, 0));
	for (end = now_s() + stress_seconds(1);
	     kills < max && (argc > 2 || now_s() < end) && !lost;)
		one(argv[0], t, &seed);
	printf("%s: %lu kills, %lu received: %lu events lost, %lu readable without a record, "
	       "%lu twice\n",
	       argv[1], kills, received, lost, empty, twice);
	return lost || empty || twice;
}
