/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements rc.h. Called by the programs of this folder only. */
#include "rc.h"
#include "util/test_time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define MSG 64u

double rc_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double rc_own(void)
{
	return (double)test_own_ns() / 1e9;
}

char rc_state(pid_t tid)
{
	char path[40], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state;
}

#define REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

void rc_open(struct rc_end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	e->ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!e->ctx)
		DIE("no device");
	ibv_free_device_list(list);
}

void rc_make(struct rc_end *e, void *buf, size_t size, int flags)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .sq_sig_all = 1};
	struct ibv_port_attr port;

	if (!e->ctx)
		rc_open(e);
	CHECK(!ibv_query_port(e->ctx, 1, &port));
	e->buf = buf ? buf : aligned_alloc(4096, size);
	e->size = size;
	if (!buf)
		memset(e->buf, 0, size);
	e->pd = ibv_alloc_pd(e->ctx);
	if (flags & RC_EVENTS)
		e->chan = ibv_create_comp_channel(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 4 * RC_DEPTH, NULL, e->chan, 0);
	init.send_cq = init.recv_cq = e->cq;
	init.cap = (struct ibv_qp_cap){RC_DEPTH, RC_DEPTH, 1, 1, 0};
	e->qp = ibv_create_qp(e->pd, &init);
	e->mr = ibv_reg_mr(e->pd, e->buf, size, IBV_ACCESS_LOCAL_WRITE | REMOTE);
	CHECK(e->qp && e->mr);
	e->me = (struct rc_addr){(uintptr_t)e->buf, e->qp->qp_num, e->mr->rkey, port.lid};
}

void rc_connect(struct rc_end *e, const struct rc_addr *peer, uint8_t timeout, uint8_t retries)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = REMOTE};

	e->peer = *peer;
	if (ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		DIE("INIT: %s", strerror(errno));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = peer->qpn,
				 .max_dest_rd_atomic = 1,
				 .min_rnr_timer = 1,
				 .ah_attr = {.dlid = (uint16_t)peer->lid, .port_num = 1}};
	if (ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		DIE("RTR: %s", strerror(errno));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .max_rd_atomic = 1,
				 .timeout = timeout,
				 .retry_cnt = retries,
				 .rnr_retry = 7};
	if (ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		DIE("RTS: %s", strerror(errno));
}

void rc_reset(struct rc_end *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

	if (ibv_modify_qp(e->qp, &a, IBV_QP_STATE))
		DIE("RESET: %s", strerror(errno));
}

void rc_sync(int sock)
{
	char c = 's';

	if (write(sock, &c, 1) != 1 || read(sock, &c, 1) != 1)
		DIE("the peer is gone");
}

void rc_exchange(struct rc_end *e, int sock)
{
	struct rc_addr peer;

	if (write(sock, &e->me, sizeof(e->me)) != sizeof(e->me) ||
	    read(sock, &peer, sizeof(peer)) != sizeof(peer))
		DIE("the peer is gone");
	rc_connect(e, &peer, 14, 7);
}

void rc_recv(struct rc_end *e, size_t off, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)e->buf + off, len, e->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = off, .sg_list = &sge, .num_sge = 1};

	int r = ibv_post_recv(e->qp, &wr, &bad);

	if (r)
		DIE("post_recv: %s", strerror(r));
}

static void post(struct rc_end *e, struct ibv_send_wr *wr, size_t off, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)e->buf + off, len, e->mr->lkey};
	struct ibv_send_wr *bad;
	int r;

	wr->wr_id = off;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	r = ibv_post_send(e->qp, wr, &bad);
	if (r)
		DIE("post_send: %s", strerror(r));
}

void rc_send(struct rc_end *e, size_t off, uint32_t len)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	post(e, &wr, off, len);
}

void rc_write(struct rc_end *e, size_t off, uint32_t len, size_t to)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {e->peer.va + to, e->peer.rkey}};

	post(e, &wr, off, len);
}

struct ibv_wc rc_wait(struct rc_end *e, double seconds)
{
	double end = rc_now() + seconds;
	struct ibv_wc wc;

	for (unsigned int i = 0; !ibv_poll_cq(e->cq, 1, &wc); i++)
		if (i % 64 == 63 && rc_now() > end)
			DIE("no completion in %g s", seconds);
	return wc;
}

void rc_pair_make(struct rc_pair *p)
{
	memset(p, 0, sizeof(*p));
	rc_make(&p->a, NULL, 4096, 0);
	p->b.ctx = p->a.ctx;
	rc_make(&p->b, NULL, 4096, 0);
	rc_connect(&p->a, &p->b.me, 14, 7);
	rc_connect(&p->b, &p->a.me, 14, 7);
}

void rc_pair_loop(struct rc_pair *p, unsigned int n)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = 0; k < MSG; k++)
			p->a.buf[k] = (uint8_t)(i + k * 7);
		rc_recv(&p->b, 0, MSG);
		rc_send(&p->a, 0, MSG);
		wc = rc_wait(&p->a, RC_HANGS);
		if (wc.status)
			DIE("send %u: %s", i, ibv_wc_status_str(wc.status));
		wc = rc_wait(&p->b, RC_HANGS);
		if (wc.status || wc.byte_len != MSG)
			DIE("receive %u: %s", i, ibv_wc_status_str(wc.status));
		CHECK(!memcmp(p->a.buf, p->b.buf, MSG));
	}
}

int rc_lazy_page(uint8_t *p)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_THREAD_ID};
	struct uffdio_register reg = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	reg.range.start = (uintptr_t)p;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return -1;
	CHECK(!madvise(p, 4096, MADV_DONTNEED));
	return fd;
}

pid_t rc_page_touched(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct uffd_msg m;

	if (poll(&p, 1, RC_HANGS * 1000) != 1 || read(fd, &m, sizeof(m)) != sizeof(m))
		DIE("the peer does not write");
	CHECK(m.event == UFFD_EVENT_PAGEFAULT);
	return (pid_t)m.arg.pagefault.feat.ptid;
}

void rc_page_arrives(int fd, uint8_t *p)
{
	struct uffdio_zeropage z = {.range = {(uintptr_t)p, 4096}};

	CHECK(!ioctl(fd, UFFDIO_ZEROPAGE, &z));
}

int rc_main(const struct rc_case *c, int argc, char **argv)
{
	for (; argc > 1 && c->name; c++)
		if (!strcmp(c->name, argv[1]))
			return c->fn(argc - 1, argv + 1);
	fprintf(stderr, "no such case\n");
	return 2;
}
