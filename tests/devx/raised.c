/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of objects and ports, as their EQEs describe them: a QP's, a CQ's, those that another
 * process causes, a port's, and an event file whose device is closed.
 */
#include "objects.h"
#include "wire/prm/eq.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct event {
	struct mlx5dv_devx_async_event_hdr hdr;
	uint8_t eqe[64];
};

static struct objects o;

static struct mlx5dv_devx_event_channel *channel(void)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(o.ctx, 0);

	if (!ch)
		die("mlx5dv_devx_create_event_channel");
	return ch;
}

static void subscribe(struct mlx5dv_devx_event_channel *ch, struct mlx5dv_devx_obj *obj,
		      uint16_t event, uint64_t cookie)
{
	if (mlx5dv_devx_subscribe_devx_event(ch, obj, sizeof(event), &event, cookie))
		die("mlx5dv_devx_subscribe_devx_event");
}

/* Wait for the next event, which must be this one; returns its data. */
static const uint8_t *expect(struct mlx5dv_devx_event_channel *ch, uint64_t cookie,
			     unsigned int type)
{
	static struct event e;
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};

	if (poll(&p, 1, 60000) != 1 || !(p.revents & POLLIN))
		die("waiting for an event");
	if (mlx5dv_devx_get_event(ch, &e.hdr, sizeof(e)) != sizeof(e))
		die("mlx5dv_devx_get_event");
	if (e.hdr.cookie != cookie || LAYOUT_GET(eqe, e.eqe, event_type) != type) {
		fprintf(stderr, "event 0x%x of 0x%llx instead of 0x%x of 0x%llx\n",
			(unsigned int)LAYOUT_GET(eqe, e.eqe, event_type),
			(unsigned long long)e.hdr.cookie, type, (unsigned long long)cookie);
		exit(1);
	}
	return e.eqe + EQE_DATA;
}

static void expect_none(struct mlx5dv_devx_event_channel *ch)
{
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};

	CHECK(!poll(&p, 1, 0));
}

/* RDMA WRITE of 8 bytes with an invalid key. */
static void write_nowhere(struct queue_pair *q)
{
	uint8_t *wqe = q->wq.p + (16 << LOG_QUEUE) + (q->sq_pi % (1 << LOG_QUEUE)) * 64;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)wqe;
	struct mlx5_wqe_raddr_seg *r = (void *)(ctrl + 1);
	uint64_t v;

	mlx5dv_set_ctrl_seg(ctrl, q->sq_pi, MLX5_OPCODE_RDMA_WRITE, 0, q->qpn,
			    MLX5_WQE_CTRL_CQ_UPDATE, 3, 0, 0);
	*r = (struct mlx5_wqe_raddr_seg){.raddr = htobe64(64), .rkey = htobe32(0xfffff00)};
	mlx5dv_set_data_seg((void *)(r + 1), 8, o.lkey, (uintptr_t)o.data.p);
	q->sq_pi++;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	((__be32 *)q->dbr.p)[MLX5_SND_DBR] = htobe32(q->sq_pi);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&v, ctrl, sizeof(v));
	*(volatile uint64_t *)o.uar->reg_addr = v;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void of_queue_pairs(void)
{
	struct mlx5dv_devx_event_channel *ch = channel(), *other = channel();
	struct queue_pair a, b;
	const uint8_t *data;
	uint32_t n;

	qp_make(&o, &a);
	qp_make(&o, &b);
	qp_connect(&o, &a, &b);
	qp_connect(&o, &b, &a);
	subscribe(ch, b.obj, PRM_EVENT_WQ_ACCESS_ERROR, 0xb);
	subscribe(ch, a.obj, PRM_EVENT_WQ_ACCESS_ERROR, 0xa);
	subscribe(other, b.obj, PRM_EVENT_COMM_EST, 0xc);
	write_nowhere(&a);
	data = expect(ch, 0xb, PRM_EVENT_WQ_ACCESS_ERROR);
	CHECK(LAYOUT_GET(eqe_qp_srq, data, qp_srq_n) == b.qpn);
	CHECK(LAYOUT_GET(eqe_qp_srq, data, type) == PRM_EVENT_QUEUE_QP);
	expect_none(ch);
	expect_none(other);
	/* The responder's event comes first, the completion of the requester later. */
	while (!cq_poll(&o))
		sched_yield();
	n = b.qpn;
	qp_free(&a);
	qp_free(&b);
	/* The number belongs to another object now, without subscribers. */
	for (int i = 0; i < 3; i++) {
		qp_make(&o, &a);
		CHECK(a.qpn != n || i);
		qp_free(&a);
	}
	mlx5dv_devx_destroy_event_channel(other);
	mlx5dv_devx_destroy_event_channel(ch);
}

/* More completions than the CQ can hold. */
static void of_a_full_cq(void)
{
	struct mlx5dv_devx_event_channel *ch = channel();
	struct queue_pair a, b;
	const uint8_t *data;

	qp_make(&o, &a);
	qp_make(&o, &b);
	qp_connect(&o, &a, &b);
	qp_connect(&o, &b, &a);
	subscribe(ch, o.cq, PRM_EVENT_CQ_ERROR, 0xcc);
	for (int i = 0; i <= 1 << LOG_QUEUE; i++) {
		qp_receive(&o, &b);
		qp_send(&o, &a, 8);
	}
	data = expect(ch, 0xcc, PRM_EVENT_CQ_ERROR);
	CHECK(LAYOUT_GET(eqe_cq_err, data, cqn) == o.cqn);
	CHECK(LAYOUT_GET(eqe_cq_err, data, syndrome) == 1); /* overrun */
	expect_none(ch);
	qp_free(&a);
	qp_free(&b);
	mlx5dv_devx_destroy_event_channel(ch);
}

/* An empty receive pool is below every limit. */
static void of_a_receive_pool(void)
{
	uint8_t in[LAYOUT_SZ(create_rmp_in)] = {0}, out[LAYOUT_SZ(create_rmp_out)] = {0};
	uint8_t min[LAYOUT_SZ(modify_rmp_in)] = {0}, mout[LAYOUT_SZ(modify_rmp_out)] = {0};
	void *rmpc = LAYOUT_IN(create_rmp_in, ctx, in), *wq = LAYOUT_IN(rmpc, wq, rmpc);
	struct mlx5dv_devx_event_channel *ch = channel();
	struct mlx5dv_devx_obj *rmp;
	struct region mem, dbr;
	const uint8_t *data;
	uint32_t rmpn;

	region_make(&o, &mem, 0);
	region_make(&o, &dbr, 0);
	LAYOUT_SET(create_rmp_in, in, opcode, PRM_OP_CREATE_RMP);
	LAYOUT_SET(rmpc, rmpc, state, 1);
	LAYOUT_SET(wq, wq, pd, o.pdn);
	LAYOUT_SET(wq, wq, log_wq_stride, 5);
	LAYOUT_SET(wq, wq, log_wq_sz, LOG_QUEUE);
	LAYOUT_SET(wq, wq, wq_umem_id, mem.umem->umem_id);
	LAYOUT_SET(wq, wq, dbr_umem_id, dbr.umem->umem_id);
	rmp = mlx5dv_devx_obj_create(o.ctx, in, sizeof(in), out, sizeof(out));
	if (!rmp)
		die("CREATE_RMP");
	rmpn = (uint32_t)LAYOUT_GET(create_rmp_out, out, rmpn);
	subscribe(ch, rmp, PRM_EVENT_SRQ_RQ_LIMIT, 0x33);
	LAYOUT_SET(modify_rmp_in, min, opcode, PRM_OP_MODIFY_RMP);
	LAYOUT_SET(modify_rmp_in, min, rmpn, rmpn);
	LAYOUT_SET(modify_rmp_in, min, rmp_state, 1);
	LAYOUT_SET(rmp_bitmask, LAYOUT_IN(modify_rmp_in, bitmask, min), lwm, 1);
	rmpc = LAYOUT_IN(modify_rmp_in, ctx, min);
	LAYOUT_SET(rmpc, rmpc, state, 1);
	LAYOUT_SET(wq, LAYOUT_IN(rmpc, wq, rmpc), lwm, 3);
	if (mlx5dv_devx_obj_modify(rmp, min, sizeof(min), mout, sizeof(mout)))
		die("MODIFY_RMP");
	data = expect(ch, 0x33, PRM_EVENT_SRQ_RQ_LIMIT);
	CHECK(LAYOUT_GET(eqe_qp_srq, data, qp_srq_n) == rmpn);
	CHECK(LAYOUT_GET(eqe_qp_srq, data, type) == PRM_EVENT_QUEUE_RQ);
	expect_none(ch);
	CHECK(!mlx5dv_devx_obj_destroy(rmp));
	region_free(&mem);
	region_free(&dbr);
	mlx5dv_devx_destroy_event_channel(ch);
}

/* ---- another process */

struct address {
	uint32_t qpn, lid;
};

/* Sends to the QP whose number it receives; `up`, `down`: pipes. */
static void sender(int up, int down)
{
	struct queue_pair q, to = {0};
	struct address peer, mine;

	unsetenv("DEVX_RECORD");
	objects_make(&o);
	qp_make(&o, &q);
	mine = (struct address){q.qpn, o.lid};
	CHECK(write(up, &mine, sizeof(mine)) == sizeof(mine));
	CHECK(read(down, &peer, sizeof(peer)) == sizeof(peer));
	to.qpn = peer.qpn;
	qp_connect(&o, &q, &to);
	for (char c; read(down, &c, 1) == 1;)
		qp_send(&o, &q, 8);
	_exit(0);
}

static void caused_by_another_process(const struct address *peer, int down)
{
	struct mlx5dv_devx_event_channel *ch = channel();
	int fd = eventfd(0, 0), ep = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN};
	struct queue_pair q, from = {0};
	struct address mine;
	const uint8_t *data;
	uint64_t n = 0;

	qp_make(&o, &q);
	from.qpn = peer->qpn;
	qp_connect(&o, &q, &from);
	qp_receive(&o, &q);
	qp_receive(&o, &q);
	CHECK(!epoll_ctl(ep, EPOLL_CTL_ADD, ch->fd, &ev));
	subscribe(ch, o.cq, PRM_EVENT_COMP, 7);
	CHECK(!mlx5dv_devx_subscribe_devx_event_fd(ch, fd, o.cq, PRM_EVENT_COMP));
	cq_arm(&o);
	CHECK(!epoll_wait(ep, &ev, 1, 0));
	mine = (struct address){q.qpn, o.lid};
	CHECK(write(down, &mine, sizeof(mine)) == sizeof(mine));
	CHECK(write(down, "1", 1) == 1);
	CHECK(epoll_wait(ep, &ev, 1, 60000) == 1);
	data = expect(ch, 7, PRM_EVENT_COMP);
	CHECK(LAYOUT_GET(eqe_comp, data, cqn) == o.cqn);
	/* waits for this process's device thread */
	CHECK(read(fd, &n, sizeof(n)) == sizeof(n) && n == 1);
	CHECK(cq_poll(&o) && !cq_poll(&o));
	/* not armed: no event */
	CHECK(write(down, "2", 1) == 1);
	while (!cq_poll(&o))
		usleep(1000);
	expect_none(ch);
	qp_free(&q);
	close(fd);
	close(ep);
	mlx5dv_devx_destroy_event_channel(ch);
}

/* ---- ports */

static void link_is(const char *state)
{
	const char *softhca = getenv("SOFTHCA_PROGRAM");
	char cmd[4096];

	snprintf(cmd, sizeof(cmd), "'%s' link mlx5_0 1 %s", softhca, state);
	if (system(cmd))
		die(cmd);
}

static void of_ports(void)
{
	struct mlx5dv_devx_event_channel *ch = channel();
	int fd = eventfd(0, 0);
	const uint8_t *data;
	uint64_t n;

	subscribe(ch, NULL, PRM_EVENT_PORT_CHANGE, 1);
	CHECK(!mlx5dv_devx_subscribe_devx_event_fd(ch, fd, NULL, PRM_EVENT_PORT_CHANGE));
	link_is("down");
	data = expect(ch, 1, PRM_EVENT_PORT_CHANGE);
	CHECK(LAYOUT_GET(eqe, data - EQE_DATA, event_sub_type) == PRM_PORT_DOWN);
	CHECK(LAYOUT_GET(eqe_port, data, port_num) == 1);
	CHECK(read(fd, &n, sizeof(n)) == sizeof(n) && n == 1);
	/* The cable makes it INIT, the subnet manager ACTIVE. */
	link_is("up");
	data = expect(ch, 1, PRM_EVENT_PORT_CHANGE);
	CHECK(LAYOUT_GET(eqe, data - EQE_DATA, event_sub_type) == PRM_PORT_INITIALIZED);
	data = expect(ch, 1, PRM_EVENT_PORT_CHANGE);
	CHECK(LAYOUT_GET(eqe, data - EQE_DATA, event_sub_type) == PRM_PORT_ACTIVE);
	expect_none(ch);
	mlx5dv_devx_destroy_event_channel(ch);
	close(fd);
}

/* ---- the end */

static void *read_for_ever(void *arg)
{
	const struct mlx5dv_devx_event_channel *ch = arg;
	struct event e;

	errno = 0;
	CHECK(read(ch->fd, &e, sizeof(e)) == -1);
	return (void *)(intptr_t)errno;
}

int main(void)
{
	struct mlx5dv_devx_event_channel *ch;
	int up[2], down[2], status;
	struct address peer;
	struct event e;
	pthread_t t;
	pid_t child;
	void *err;

	alarm(600);
	CHECK(!pipe(up) && !pipe(down));
	child = fork();
	if (!child) {
		close(down[1]);
		sender(up[1], down[0]);
	}
	/* Makes its objects first, so that this process's numbers are the same in every run. */
	CHECK(read(up[0], &peer, sizeof(peer)) == sizeof(peer));
	objects_make(&o);
	of_queue_pairs();
	of_a_receive_pool();
	caused_by_another_process(&peer, down[1]);
	close(down[1]);
	CHECK(waitpid(child, &status, 0) == child && !status);
	if (getenv("SOFTHCA_PROGRAM"))
		of_ports();
	of_a_full_cq();
	/* An event file outlives its device, without further events. */
	ch = channel();
	subscribe(ch, NULL, PRM_EVENT_PORT_CHANGE, 1);
	CHECK(!pthread_create(&t, NULL, read_for_ever, ch));
	/* it is reading by then, or comes to a device that is gone: EIO in both cases */
	usleep(10000);
	objects_free(&o);
	pthread_join(t, &err);
	CHECK((intptr_t)err == EIO);
	CHECK(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	CHECK(read(ch->fd, &e, sizeof(e)) == -1 && errno == EAGAIN);
	close(ch->fd);
	return 0;
}
