/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two processes of different users on a fabric with --allow-uid: all kinds of work in both
 * directions, and events. Each process takes its user before or after it opens the device.
 */
#include "rc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define SIZE 65536u

/* "UID:before", "UID:after", "UID:both": as root it opens one device, then as the user another. */
struct user {
	uid_t uid;
	const char *when;
};

static struct user user_of(const char *arg)
{
	char *end;
	struct user u = {(uid_t)strtoul(arg, &end, 10), end + 1};

	CHECK(*end == ':');
	return u;
}

static void become(const struct user *u, const char *when)
{
	if (strcmp(u->when, when) != 0)
		return;
	CHECK(!setresuid(u->uid, u->uid, u->uid));
}

static void post(struct rc_end *e, enum ibv_wr_opcode op, size_t off, uint32_t len, size_t at)
{
	struct ibv_sge sge = {(uintptr_t)e->buf + off, len, e->mr->lkey};
	struct ibv_send_wr *bad,
		wr = {.sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;

	if (op == IBV_WR_RDMA_READ) {
		wr.wr.rdma.remote_addr = e->peer.va + at;
		wr.wr.rdma.rkey = e->peer.rkey;
	} else {
		wr.wr.atomic.remote_addr = e->peer.va + at;
		wr.wr.atomic.rkey = e->peer.rkey;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.swap = 77;
	}
	CHECK(!ibv_post_send(e->qp, &wr, &bad));
	wc = rc_wait(e, RC_HANGS);
	if (wc.status)
		DIE("opcode %d: %s", op, ibv_wc_status_str(wc.status));
}

/* A reader that sleeps in the kernel is woken by a sender of the other user. */
static void event(struct rc_end *e, int sock)
{
	struct ibv_cq *cq;
	void *ctx;

	CHECK(!ibv_req_notify_cq(e->cq, 0));
	rc_recv(e, 0, 64);
	rc_sync(sock);
	rc_send(e, SIZE, 64);
	CHECK(!ibv_get_cq_event(e->chan, &cq, &ctx) && cq == e->cq);
	ibv_ack_cq_events(cq, 1);
	for (int i = 0; i < 2; i++)
		CHECK(!rc_wait(e, RC_HANGS).status);
	rc_sync(sock);
}

static void traffic(struct rc_end *e, int sock, int self, int i)
{
	uint8_t mine = (uint8_t)(0x40 + self + 2 * (i & 7)), its = (uint8_t)(mine ^ 1);
	uint64_t *word = (uint64_t *)(e->buf + 3 * (size_t)SIZE);

	memset(e->buf, mine, SIZE);
	word[0] = 1;
	rc_recv(e, SIZE, 1024);
	rc_sync(sock);
	rc_send(e, 0, 1024);
	rc_write(e, 0, SIZE, 2 * SIZE);
	for (int k = 0; k < 3; k++) {
		struct ibv_wc wc = rc_wait(e, RC_HANGS);

		if (wc.status)
			DIE("%s", ibv_wc_status_str(wc.status));
	}
	rc_sync(sock);
	CHECK(e->buf[SIZE] == its && e->buf[SIZE + 1023] == its);
	CHECK(e->buf[2 * SIZE] == its && e->buf[3 * SIZE - 1] == its);
	post(e, IBV_WR_RDMA_READ, SIZE, SIZE, 0);
	CHECK(e->buf[SIZE] == its && e->buf[2 * SIZE - 1] == its);
	post(e, IBV_WR_ATOMIC_CMP_AND_SWP, 3 * SIZE + 8, 8, 3 * SIZE);
	CHECK(word[1] == 1);
	post(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 3 * SIZE + 8, 8, 3 * SIZE);
	CHECK(word[1] == 77);
	rc_sync(sock);
	CHECK(word[0] == 78);
	rc_sync(sock);
}

/* arguments: two users, and `refused` if the host must refuse process_vm_* in one direction */
static int pair(int argc, char **argv)
{
	struct rc_end e = {0};
	int sp[2], status, self;
	struct user u;
	char c;
	pid_t pid;

	CHECK(argc >= 3 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	pid = fork();
	self = !pid;
	close(sp[!self]);
	u = user_of(argv[1 + self]);
	become(&u, "before");
	if (!strcmp(u.when, "both"))
		CHECK(ibv_open_device(ibv_get_device_list(NULL)[0]));
	become(&u, "both");
	rc_make(&e, NULL, 4 * SIZE, RC_EVENTS);
	become(&u, "after");
	rc_exchange(&e, sp[self]);
	rc_sync(sp[self]);
	if (geteuid()) {
		struct iovec mine = {&c, 1}, its = {(void *)(uintptr_t)e.peer.va, 1};

		if (process_vm_readv(pid ? pid : getppid(), &mine, 1, &its, 1, 0) == 1)
			DIE("the host lets us copy: this tests nothing");
	}
	for (int i = 0; i < 20; i++)
		traffic(&e, sp[self], self, i);
	for (int i = 0; i < 5; i++)
		event(&e, sp[self]);
	if (self)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status != 0;
}

/* Opens a device, becomes the user, and waits for its end. */
static int waits(int argc, char **argv)
{
	struct rc_end e = {0};
	struct user u;

	CHECK(argc == 2);
	u = user_of(argv[1]);
	become(&u, "before");
	rc_open(&e);
	become(&u, "after");
	printf("waiting %d\n", (int)getpid());
	fflush(stdout);
	pause();
	return 1;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {{"pair", pair}, {"waits", waits}, {0}};

	return rc_main(cases, argc, argv);
}
