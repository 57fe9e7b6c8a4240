/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 3: a page of the peer is missing, and the peer does not provide it (userfaultfd, a file
 * system or swap that does not answer). The thread that copies waits in the kernel; nothing else
 * waits with it, and the program can be ended.
 */
#include "rc.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SKIP 77
#define PAGE 4096u

enum op { WRITE, SEND };

static pthread_t beside;
static int command[2]; /* the parent's word to the thread beside the hung one */

/* The sender's other work: another key and another QP of the domain in use. */
struct other {
	struct ibv_mr *mr;
	struct rc_end e;
	int sock;
};

static void *other_work(void *arg)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct other *o = arg;
	struct ibv_mr *again;
	char c;

	CHECK(read(command[0], &c, 1) == 1);
	CHECK(!ibv_dereg_mr(o->mr));
	CHECK(!ibv_modify_qp(o->e.qp, &err, IBV_QP_STATE));
	again = ibv_reg_mr(o->e.pd, o->e.buf, PAGE, IBV_ACCESS_LOCAL_WRITE);
	CHECK(again && !ibv_dereg_mr(again));
	CHECK(write(o->sock, "d", 1) == 1);
	return NULL;
}

static void make_other(struct rc_end *e, struct other *o)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .send_cq = e->cq, .recv_cq = e->cq};

	init.cap = (struct ibv_qp_cap){1, 1, 1, 1, 0};
	o->mr = ibv_reg_mr(e->pd, e->buf, PAGE, IBV_ACCESS_LOCAL_WRITE);
	o->e = *e;
	o->e.qp = ibv_create_qp(e->pd, &init);
	CHECK(o->mr && o->e.qp);
	rc_connect(&o->e, &o->e.me, 14, 7);
}

static void sender(int sock, enum op op, bool alone)
{
	struct rc_end e = {0};
	struct other o = {.sock = sock};
	struct ibv_wc wc;

	rc_make(&e, NULL, PAGE, 0);
	memset(e.buf, 0x5a, 64);
	rc_exchange(&e, sock);
	if (!alone) {
		make_other(&e, &o);
		CHECK(!pthread_create(&beside, NULL, other_work, &o));
	}
	rc_sync(sock);
	if (op == SEND)
		rc_send(&e, 0, 64);
	else
		rc_write(&e, 0, 64, 0);
	wc = rc_wait(&e, RC_HANGS);
	if (wc.status)
		DIE("%s", ibv_wc_status_str(wc.status));
	if (!alone)
		pthread_join(beside, NULL);
	_exit(0);
}

/* One end with a missing page, and a child that sends to it; waits until that copy hangs. */
struct hung {
	struct rc_end e;
	int sock, fd;
	pid_t pid;
};

static bool hang(struct hung *h, enum op op, bool alone)
{
	int sp[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp) && !pipe(command));
	h->pid = fork();
	if (!h->pid)
		sender(sp[1], op, alone);
	h->sock = sp[0];
	rc_make(&h->e, NULL, PAGE, 0);
	h->fd = rc_lazy_page(h->e.buf);
	if (h->fd < 0) {
		kill(h->pid, SIGKILL);
		return false;
	}
	rc_exchange(&h->e, h->sock);
	rc_recv(&h->e, 0, 64);
	rc_sync(h->sock);
	rc_page_touched(h->fd);
	return true;
}

static int ended(pid_t pid)
{
	double end = rc_now() + RC_HANGS;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (rc_now() > end)
			DIE("the sender does not end");
		usleep(1000); /* only to leave the processor to it */
	}
	return status;
}

static int skip(void)
{
	puts("no userfaultfd here");
	return SKIP;
}

static int dies(int argc, char **argv)
{
	static const int sigs[] = {SIGTERM, SIGINT, SIGHUP};

	for (unsigned int i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
		struct hung h = {0};
		int status;

		signal(sigs[i], SIG_DFL); /* nohup ignores SIGHUP, a shell's & SIGINT */
		if (!hang(&h, i % 2 ? SEND : WRITE, true))
			return skip();
		CHECK(!kill(h.pid, sigs[i]));
		status = ended(h.pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sigs[i]);
	}
	return 0;
}

static int others_go_on(int argc, char **argv)
{
	for (int op = WRITE; op <= SEND; op++) {
		struct hung h = {0};
		struct ibv_mr *mr;
		char c;

		if (!hang(&h, (enum op)op, false))
			return skip();
		/* at this end, too: another key of the domain that the message came to */
		mr = ibv_reg_mr(h.e.pd, command, sizeof(command), 0);
		CHECK(mr && !ibv_dereg_mr(mr));
		CHECK(write(command[1], "g", 1) == 1);
		CHECK(read(h.sock, &c, 1) == 1 && c == 'd');
		rc_page_arrives(h.fd, h.e.buf);
		CHECK(!ended(h.pid));
		CHECK(h.e.buf[0] == 0x5a && h.e.buf[63] == 0x5a);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"dies", dies},
		{"others_go_on", others_go_on},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
