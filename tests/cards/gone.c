/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A peer in another process that dies, or takes away what it has given. It is this program again,
 * as `cards target`, with descriptor 3 as socket.
 */
#include "cards.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/*
 * LATE: while newer regions go, the QP answers for some milliseconds, in which the requester may
 * have no processor. One of so many rounds that finds it in time shows the order.
 */
enum { REGIONS = 64, BEFORE = 100, AFTER = 300, LATE = 64 };
#define REGION_BYTES (4ul << 20)

/* What the target does at a letter, or what is done to it. */
enum end_of { KILLED, EXEC, EXITED, CLOSED, DEREGISTERED, DESTROYED, STOPPED };
static const char *const end_names[] = {"killed",
					"its file closed by exec",
					"ended",
					"its device closed",
					"its MR deregistered",
					"its QP destroyed",
					"stopped"};

struct address {
	uint32_t qpn, older, newer;
	uint64_t va, va_newer;
	union ibv_gid gid;
	uint16_t lid;
};

static const struct options slow = {.apart = true, .retries = 1};

void gone_target(void)
{
	struct ibv_mr *mr = NULL;
	struct address me, peer;
	struct pair p;
	void *at;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	NEED(pair_make(&p, &slow));
	me = (struct address){.qpn = p.b.qp->qp_num,
			      .older = p.b.mr->rkey,
			      .va = (uintptr_t)p.b.mem,
			      .gid = ad.gid,
			      .lid = ad.port.lid};
	at = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(at != MAP_FAILED);
	for (int i = 0; i < REGIONS; i++)
		mr = region(at, REGION_BYTES, ALL_RIGHTS);
	me.newer = mr->rkey;
	me.va_newer = (uintptr_t)at;
	NEED(write(3, &me, sizeof(me)) == sizeof(me));
	NEED(read(3, &peer, sizeof(peer)) == sizeof(peer));
	to_rts(p.b.qp, &slow, peer.qpn, peer.lid, &peer.gid);
	NEED(write(3, "r", 1) == 1);
	NEED(read(3, &c, 1) == 1);
	switch (c) {
	case EXEC:
		execl("/bin/sleep", "sleep", "1000", NULL);
		break;
	case EXITED:
		_exit(0);
	case CLOSED:
		ibv_close_device(ad.ctx);
		break;
	case DEREGISTERED:
		NEED(!ibv_dereg_mr(mr));
		break;
	case DESTROYED:
		NEED(!ibv_destroy_qp(p.b.qp));
		break;
	}
	pause();
}

static pid_t start(int *sock)
{
	pid_t pid;
	int sv[2];

	NEED(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv));
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		NEED(dup2(sv[1], 3) == 3 && !fcntl(3, F_SETFD, 0));
		execl("/proc/self/exe", "cards", "target", NULL);
		_exit(99);
	}
	close(sv[1]);
	*sock = sv[0];
	return pid;
}

static void finish(enum end_of how, pid_t pid, int sock)
{
	int status;

	if (how == KILLED) {
		NEED(!kill(pid, SIGKILL));
	} else if (how == STOPPED) {
		NEED(!kill(pid, SIGSTOP));
		NEED(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	} else {
		char c = (char)how;

		NEED(write(sock, &c, 1) == 1);
	}
}

/* Requests one by one until one fails; of a peer that is stopped, many more. */
static struct ibv_wc requests(const struct pair *p, const struct request *r, enum end_of how,
			      pid_t pid, int sock)
{
	struct ibv_wc wc = {0};

	for (int n = 0; wc.status == IBV_WC_SUCCESS && (how != STOPPED || n < AFTER); n++) {
		if (n == BEFORE)
			finish(how, pid, sock);
		post(p, r);
		wc = next_wc(p->a.cq);
	}
	return wc;
}

/* True: checked, or else too late to see the order. */
static bool round_of(enum fact f, enum end_of how, enum op op, bool newer, bool last)
{
	struct address me, peer;
	bool in_order = newer && how <= CLOSED, late;
	const char *card;
	struct request r;
	struct ibv_wc wc;
	struct pair p;
	int sock;
	pid_t pid = start(&sock);
	char c;

	NEED(pair_make(&p, &slow));
	me = (struct address){.qpn = p.a.qp->qp_num, .gid = ad.gid, .lid = ad.port.lid};
	NEED(read(sock, &peer, sizeof(peer)) == sizeof(peer));
	NEED(write(sock, &me, sizeof(me)) == sizeof(me));
	to_rts(p.a.qp, &slow, peer.qpn, peer.lid, &peer.gid);
	NEED(read(sock, &c, 1) == 1);
	r = good(&p, op, 8);
	r.remote = newer ? peer.va_newer : peer.va;
	r.rkey = newer ? peer.newer : peer.older;
	wc = requests(&p, &r, how, pid, sock);
	if (how == STOPPED)
		card = result(IBV_WC_SUCCESS, ANY);
	else if (how != DESTROYED && newer)
		card = result(IBV_WC_REM_ACCESS_ERR, 0x88);
	else
		card = result(IBV_WC_RETRY_EXC_ERR, 0x81);
	late = in_order && !last && wc.status == IBV_WC_RETRY_EXC_ERR;
	if (!late)
		check(f,
		      text("%s, %s to a region that is %s than its QP", end_names[how],
			   op_names[op], newer ? "newer" : "older"),
		      text("%s, events: none", card),
		      text("%s, events: %s", wc_text(&wc, true), events(&p, false)));
	kill(pid, SIGKILL);
	NEED(waitpid(pid, NULL, 0) == pid);
	close(sock);
	pair_free(&p);
	return !late;
}

static void one(enum fact f, enum end_of how, enum op op, bool newer)
{
	for (int i = 0; !round_of(f, how, op, newer, i == LATE); i++)
		;
}

void gone_group(void)
{
	static const enum op ops[] = {WRITE, READ, FAA};

	for (enum end_of how = KILLED; how <= EXITED; how++)
		for (int newer = 0; newer < 2; newer++)
			one(gone_order, how, ops[how % COUNT(ops)], newer);
	for (int newer = 0; newer < 2; newer++) {
		one(gone_order, CLOSED, WRITE, newer);
		one(gone_order, KILLED, READ, newer);
		one(gone_live, DESTROYED, ops[1 + newer], newer);
		one(gone_live, STOPPED, ops[newer], newer);
	}
	one(gone_live, DEREGISTERED, WRITE, true);
	one(gone_live, DEREGISTERED, FAA, true);
	one(gone_live, DESTROYED, WRITE, true);
}
