/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A requester is killed at a random moment of the request that fails its peer: bad_request [kills].
 * Afterwards the peer is unchanged, or in ERR with every receive flushed, and with its async event.
 * Prints the counts; status 1 if a peer was left half-way, after which it stops.
 */
#include "ends.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECEIVES 8000
#define HANGS_S 60 /* what is owed does not come later than that, on any machine */

static struct end e;
static unsigned long kills, failed, unflushed, silent, twice;

static int sender(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .num_sge = 1}, *bad;
	struct ibv_sge sge;
	char go;

	sender_begin(&e, T_RC);
	sge = (struct ibv_sge){(uintptr_t)e.mem, MSG_BYTES, e.mr->lkey};
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = e.peer.va;
	wr.wr.rdma.rkey = e.peer.rkey ^ 0x5500;
	NEED(read(3, &go, 1) == 1);
	NEED(write(3, "g", 1) == 1);
	ibv_post_send(e.qp, &wr, &bad);
	pause();
	return 0;
}

static enum ibv_qp_state state(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	NEED(!ibv_query_qp(e.qp, &a, IBV_QP_STATE, &init));
	return a.qp_state;
}

/* The QP is in ERR: all its receives are flushed, and there was one event. */
static void expect_flushed(void)
{
	double end = now_s() + HANGS_S;
	struct ibv_async_event ev;
	struct ibv_wc wc[256];
	int n, left = RECEIVES, events = 0;

	failed++;
	while ((left || !events) && now_s() < end) {
		while ((n = ibv_poll_cq(e.cq, 256, wc)) > 0)
			left -= n;
		if (readable(e.ctx->async_fd, left ? 0 : 10) && !ibv_get_async_event(e.ctx, &ev)) {
			NEED(ev.event_type == IBV_EVENT_QP_ACCESS_ERR);
			ibv_ack_async_event(&ev);
			events++;
		}
	}
	while (readable(e.ctx->async_fd, 0) && !ibv_get_async_event(e.ctx, &ev)) {
		ibv_ack_async_event(&ev);
		events++;
	}
	if (left)
		fprintf(stderr, "%d receives are left\n", left);
	unflushed += left != 0;
	silent += !events;
	twice += events > 1;
}

static void one(const char *prog, unsigned int *seed)
{
	struct addr me, peer;
	struct ibv_wc wc;
	char go;
	int sock, status;
	pid_t pid = sender_start(prog, T_RC, "-", &sock);
	double end;

	me = receiver_new_qp(&e);
	NEED(read(sock, &peer, sizeof(peer)) == sizeof(peer));
	receiver_connect(&e, &peer);
	NEED(write(sock, &me, sizeof(me)) == sizeof(me));
	NEED(read(sock, &go, 1) == 1);
	NEED(write(sock, "g", 1) == 1);
	NEED(read(sock, &go, 1) == 1);
	/* Kill some of them when they are seen at work. */
	end = now_s() + (double)(rand_r(seed) % 6000) / 1e6;
	while (now_s() < end)
		if (rand_r(seed) % 4 == 0 && ibv_poll_cq(e.cq, 0, &wc) == 0 &&
		    readable(e.ctx->async_fd, 0))
			break;
	kill(pid, SIGKILL);
	NEED(waitpid(pid, &status, 0) == pid);
	close(sock);
	if (state() == IBV_QPS_ERR)
		expect_flushed();
	kills++;
	receiver_drop_qp(&e);
	while (ibv_poll_cq(e.cq, 1, &wc) > 0)
		;
}

int main(int argc, char **argv)
{
	unsigned int seed = (unsigned int)getpid();
	unsigned long max = argc > 1 ? strtoul(argv[1], NULL, 0) : ~0ul;
	double end;

	if (argc > 3 && !strcmp(argv[3], "sender"))
		return sender();
	end_open(&e, T_RC, RECEIVES);
	fcntl(e.ctx->async_fd, F_SETFL, O_NONBLOCK);
	for (end = now_s() + stress_seconds(4);
	     kills < max && (max != ~0ul || now_s() < end) && !unflushed && !silent;)
		one(argv[0], &seed);
	printf("%lu kills, %lu peers failed: %lu not flushed, %lu without an event, %lu with two\n",
	       kills, failed, unflushed, silent, twice);
	return unflushed || silent || twice;
}
