/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine tests' bed: objects made by hand, WQEs written and CQEs read as libmlx5 does. */
#include "engine/test.h"
#include "engine/base/base.h"
#include "hw/cq.h"
#include "hw/evtarget.h"
#include "hw/flags.h"
#include "hw/for_tests.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/pd.h"
#include "hw/port.h"
#include "engine/base/qp.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "subnet/subnet.h"
#include "util/test_tmp.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/mkey.h"

uint64_t t_now = 1000000;

uint64_t t_clock(void)
{
	return t_now;
}

/* Shared pages, so that the memory of forked children behaves like that of separate programs. */
static void *pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

struct t_pages {
	struct t_pages *next;
	void *p;
	size_t len;
};

/* They go with the test bed: each mapping that stays would be copied at each later fork. */
static void *pages_of(struct tb *t, size_t len)
{
	struct t_pages *k = malloc(sizeof(*k));

	assert_non_null(k);
	*k = (struct t_pages){t->pages, pages(len), len};
	t->pages = k;
	return k->p;
}

void t_unmap(struct tb *t, void *p)
{
	struct t_pages **at = &t->pages, *k;

	while (*at && (*at)->p != p)
		at = &(*at)->next;
	k = *at;
	assert_non_null(k);
	*at = k->next;
	munmap(k->p, k->len);
	free(k);
}

static int plain(struct seg *s)
{
	const struct fab_options o = {.hosts = 2,
				      .hcas = 1,
				      .ports = 1,
				      .caps.link_speed = 64,
				      .caps.link_width = 2,
				      .caps.max_mtu = 5};

	return fab_create(s, &o);
}

struct tb *tb_create(void)
{
	return tb_create_on(plain);
}

struct tb *tb_create_on(int (*fill)(struct seg *s))
{
	struct tb *t = calloc(1, sizeof(*t));
	char ev[80];
	uint32_t n = 0;

	assert_non_null(t);
	assert_int_equal(seg_create(&t->s, "test"), 0);
	assert_int_equal(seg_proc_register_self(&t->s, 0), 0);
	assert_int_equal(fill(&t->s), 0);
	assert_true(test_tmp_make(t->dir));
	snprintf(t->s.dir, sizeof(t->s.dir), "%s", t->dir);
	snprintf(ev, sizeof(ev), "%s/ev", t->dir);
	assert_int_equal(mkdir(ev, 0700), 0);
	seg_for_each_live (&t->s, SEG_T_HCA, i)
		t->port[n++] = hw_hca(&t->s, i)->port[0];
	assert_int_equal(n, 2);
	for (n = 0; n < 2; n++) {
		assert_int_equal(seg_alloc(&t->s, SEG_T_PD, T_OWNER, &t->pd[n]), 0);
		hw_pd(&t->s, t->pd[n])->hca = hw_port(&t->s, t->port[n])->hca;
	}
	t_now = 1000000;
	eng_clock = t_clock;
	return t;
}

void tb_destroy(struct tb *t)
{
	eng_clock = clock_now_ns;
	while (t->nfd)
		close(t->fd[--t->nfd]);
	while (t->pages)
		t_unmap(t, t->pages->p);
	test_tmp_remove(t->dir);
	seg_unmap(&t->s);
	free(t);
}

int tb_setup(void **state)
{
	*state = tb_create();
	return 0;
}

int tb_teardown(void **state)
{
	tb_destroy(*state);
	return 0;
}

uint32_t t_evq(struct tb *t)
{
	struct seg_file *f;
	char path[320];
	uint32_t i;

	assert_int_equal(seg_alloc(&t->s, SEG_T_FILE, SEG_OWNER_DEVICE, &i), 0);
	f = seg_at(&t->s, SEG_T_FILE, i);
	f->kind = SEG_FILE_COMP;
	assert_int_equal(evq_open(&t->s, i, 0), 0);
	evq_path(&t->s, i, f->gen, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(t->nfd < 64);
	t->fd[t->nfd] = open(path, O_RDWR | O_NONBLOCK);
	assert_true(t->fd[t->nfd++] >= 0);
	return i;
}

static void target(struct tb *t, struct hw_evtarget *e, uint32_t evq, uint64_t cookie)
{
	const struct seg_evq *q = seg_at(&t->s, SEG_T_EVQ, evq);

	e->evq_gen = q->gen;
	e->cookie = cookie;
	atomic_store(&e->evq, evq);
}

int t_event(struct tb *t, uint32_t evq)
{
	const struct seg_evq *q = seg_at(&t->s, SEG_T_EVQ, evq);
	struct seg_evrec rec;
	int rc = evq_pop(&t->s, evq, q->gen, -1, &rec);

	return rc ? -1 : (int)rec.type;
}

struct hw_qctr *t_counters(struct tb *t, struct t_qp *q)
{
	assert_int_equal(seg_alloc(&t->s, SEG_T_QCTR, T_OWNER, &q->hw->qctr), 0);
	return hw_qctr(&t->s, q->hw->qctr);
}

void t_cq_make(struct tb *t, struct t_cq *cq, uint32_t log_size, uint32_t cqe_bytes)
{
	struct hw_cq *hw;

	memset(cq, 0, sizeof(*cq));
	assert_int_equal(seg_alloc(&t->s, SEG_T_CQ, T_OWNER, &cq->cqn), 0);
	cq->hw = hw = hw_cq(&t->s, cq->cqn);
	cq->log_size = log_size;
	cq->cqe_bytes = cqe_bytes;
	cq->buf = pages_of(t, (size_t)cqe_bytes << log_size);
	memset(cq->buf, 0xf0, (size_t)cqe_bytes << log_size);
	cq->dbr = pages_of(t, 4096);
	hw->log_size = log_size;
	hw->uar = T_UAR;
	hw->cqe_bytes = (uint16_t)cqe_bytes;
	hw->mem = hw->dbr_mem = mem_self(&t->s);
	hw->va = (uintptr_t)cq->buf;
	hw->dbr_va = (uintptr_t)cq->dbr;
	cq->evq[0] = t_evq(t);
	cq->evq[1] = t_evq(t);
	target(t, &hw->comp, cq->evq[0], cq->cqn);
	target(t, &hw->async, cq->evq[1], cq->cqn);
	assert_int_equal(eng_cq_created(&t->s, cq->cqn), 0);
	hw->flags = HW_F_READY;
}

uint32_t t_key(struct tb *t, uint32_t pd, void *mem, uint64_t len, uint32_t access)
{
	struct hw_mkey *mk;
	uint32_t i;

	assert_int_equal(seg_alloc(&t->s, SEG_T_MKEY, T_OWNER, &i), 0);
	mk = seg_at(&t->s, SEG_T_MKEY, i);
	mk->key = i << 8 | 0x42;
	mk->pdn = pd;
	mk->access = access | HW_ACC_LOCAL_READ;
	mk->mode = 1;
	mk->start = mk->va = (uintptr_t)mem;
	mk->len = len;
	mk->qpn = 0xffffff;
	mk->mem = mem_self(&t->s);
	atomic_store(&mk->valid, 1);
	return mk->key;
}

struct hw_mkey *t_indirect_key(struct tb *t, uint32_t pd, uint32_t mode, uint32_t room)
{
	struct hw_klm *first = NULL;
	struct hw_mkey *mk;
	uint32_t i, b;

	assert_int_equal(seg_alloc(&t->s, SEG_T_MKEY, T_OWNER, &i), 0);
	assert_true(i >= HW_FIRST_MKEY);
	mk = seg_at(&t->s, SEG_T_MKEY, i);
	LAYOUT_SET(mkc, mk->mkc, access_mode_1_0, mode);
	LAYOUT_SET(mkc, mk->mkc, umr_en, 1);
	LAYOUT_SET(mkc, mk->mkc, lr, 1);
	LAYOUT_SET(mkc, mk->mkc, qpn, 0xffffff);
	LAYOUT_SET(mkc, mk->mkc, log_page_size, 12);
	mk->key = i << 8;
	mk->pdn = pd;
	eng_mkey_fields(mk);
	for (uint32_t n = 0; n * HW_KLM_PER_BLOCK < room; n++) {
		assert_int_equal(seg_alloc(&t->s, SEG_T_KLM, T_OWNER, &b), 0);
		if (n)
			first->more[n - 1] = b;
		else
			first = seg_at(&t->s, SEG_T_KLM, mk->klm = b);
	}
	mk->klm_max = room;
	atomic_store(&mk->free, 1);
	atomic_store(&mk->valid, 1);
	return mk;
}

#define SRQ_LOG 4
void t_srq_make(struct tb *t, struct t_srq *srq, uint32_t pd)
{
	struct hw_srq *hw;

	memset(srq, 0, sizeof(*srq));
	assert_int_equal(seg_alloc(&t->s, SEG_T_SRQ, T_OWNER, &srq->srqn), 0);
	srq->hw = hw = hw_srq(&t->s, srq->srqn);
	srq->log_stride = 6;
	srq->buf = pages_of(t, 4096);
	srq->dbr = pages_of(t, 4096);
	hw->pdn = pd;
	hw->log_size = SRQ_LOG;
	hw->log_stride = srq->log_stride;
	hw->mem = hw->dbr_mem = mem_self(&t->s);
	hw->va = (uintptr_t)srq->buf;
	hw->dbr_va = (uintptr_t)srq->dbr;
	atomic_store(&hw->async.evq, SEG_NONE);
	/* A list in another order than a ring's: 0, 5, 10, 15, 4, ... */
	for (uint32_t i = 0; i < 1u << SRQ_LOG; i++) {
		struct mlx5_wqe_srq_next_seg *n = (void *)(srq->buf + (i << srq->log_stride));

		n->next_wqe_index = htobe16((i + 5) & ((1u << SRQ_LOG) - 1));
	}
}

void t_srq_post(struct t_srq *srq, uint32_t key, void *addr, uint32_t len)
{
	struct mlx5_wqe_srq_next_seg *n = (void *)(srq->buf + (srq->head << srq->log_stride));
	struct mlx5_wqe_data_seg *d = (void *)(n + 1);

	mlx5dv_set_data_seg(&d[0], len, key, (uintptr_t)addr);
	mlx5dv_set_data_seg(&d[1], 0, MLX5_INVALID_LKEY, 0);
	srq->head = be16toh(n->next_wqe_index);
	*srq->dbr = htobe32(++srq->posted);
}

struct t_qp *t_qp_make(struct tb *t, uint32_t side, enum prm_st st, struct t_srq *srq)
{
	struct t_qp *q = calloc(1, sizeof(*q));
	struct hw_qp *hw;

	assert_non_null(q);
	q->t = t;
	assert_int_equal(seg_alloc(&t->s, SEG_T_QP, T_OWNER, &q->qpn), 0);
	q->hw = hw = hw_qp(&t->s, q->qpn);
	t_cq_make(t, &q->cq, T_CQ_LOG, 64);
	q->sq = pages(WQE_BB << T_SQ_LOG);
	q->rq = pages(1u << (T_RQ_LOG + T_RQ_STRIDE_LOG));
	q->dbr = pages(4096);
	q->mem = pages(T_MEM);
	q->key = t_key(t, t->pd[side], q->mem, T_MEM,
		       HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ | HW_ACC_REMOTE_WRITE |
			       HW_ACC_ATOMIC);
	hw->st = st;
	hw->hca = hw_port(&t->s, t->port[side])->hca;
	hw->pdn = t->pd[side];
	hw->cqn_snd = hw->cqn_rcv = q->cq.cqn;
	hw->srqn = srq ? srq->srqn : SEG_NONE;
	hw->user_index = 0x1000 + q->qpn;
	hw->rq_log_size = T_RQ_LOG;
	hw->rq_log_stride = T_RQ_STRIDE_LOG;
	hw->sq_log_size = T_SQ_LOG;
	hw->uar = T_UAR;
	hw->mem = hw->dbr_mem = mem_self(&t->s);
	hw->sq_va = (uintptr_t)q->sq;
	hw->rq_va = (uintptr_t)q->rq;
	hw->dbr_va = (uintptr_t)q->dbr;
	hw->path[0].port = t->port[side];
	hw->mtu = T_MTU;
	hw->qkey = 0x11111111;
	hw->rre = hw->rwe = hw->rae = 1;
	hw->atomic_mode = 3;
	hw->retry_count = 2;
	hw->rnr_retry = 2;
	hw->path[0].ack_timeout = 14;
	hw->min_rnr_nak = 12;
	q->evq = t_evq(t);
	target(t, &hw->async, q->evq, q->qpn);
	return q;
}

void t_qp_free(struct t_qp *q)
{
	munmap(q->mem, T_MEM);
	munmap(q->dbr, 4096);
	munmap(q->sq, WQE_BB << T_SQ_LOG);
	munmap(q->rq, 1u << (T_RQ_LOG + T_RQ_STRIDE_LOG));
	free(q);
}

void t_rts(struct t_qp *q, struct t_qp *peer)
{
	struct seg *s = &q->t->s;
	struct hw_port *port = hw_port(s, peer->hw->path[0].port);

	q->hw->dest_qpn = peer->qpn;
	q->hw->path[0].dlid = atomic_load(&port->lid);
	memcpy(q->hw->path[0].dgid, port->gid[0], 16);
	assert_int_equal(eng_qp_set_state(s, q->qpn, PRM_QP_STATE_INIT), 0);
	t_set_rcv_psn(q, peer->qpn);
	assert_int_equal(eng_qp_set_state(s, q->qpn, PRM_QP_STATE_RTR), 0);
	t_set_send_psn(q);
	assert_int_equal(eng_qp_set_state(s, q->qpn, PRM_QP_STATE_RTS), 0);
}

void t_connect(struct t_qp *a, struct t_qp *b)
{
	t_rts(a, b);
	t_rts(b, a);
}

/* Put bytes into the send queue at a running offset, wrapping at its end. */
static void put(struct t_qp *q, uint32_t *at, const void *src, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++, (*at)++)
		q->sq[*at & ((WQE_BB << T_SQ_LOG) - 1)] = ((const uint8_t *)src)[i];
}

uint32_t t_post_quiet(struct t_qp *q, const struct t_wr *wr)
{
	uint32_t index = q->sq_pi & 0xffff, start = q->sq_pi * WQE_BB, at = start + 16, end, ds;
	struct mlx5_wqe_ctrl_seg c = {0};

	if (q->hw->st == PRM_ST_XRC) {
		/* padding to the 16 bytes of an XRC segment */
		struct mlx5_wqe_srq_next_seg pad = {0};

		be32_store(&pad, wr->xrc_srqn);
		put(q, &at, &pad, sizeof(pad));
	}
	if (wr->av)
		put(q, &at, wr->av, sizeof(*wr->av));
	if (wr->opcode == MLX5_OPCODE_RDMA_WRITE || wr->opcode == MLX5_OPCODE_RDMA_WRITE_IMM ||
	    wr->opcode == MLX5_OPCODE_RDMA_READ || wr->operands) {
		struct mlx5_wqe_raddr_seg ra = {.raddr = htobe64(wr->raddr),
						.rkey = htobe32(wr->rkey)};

		put(q, &at, &ra, sizeof(ra));
	}
	if (wr->raw)
		put(q, &at, wr->raw, wr->raw_len);
	if (wr->operands)
		put(q, &at, wr->operands, wr->operands_len);
	for (uint32_t i = 0; i < wr->nsge; i++) {
		struct mlx5_wqe_data_seg d;

		mlx5dv_set_data_seg(&d, wr->sge[i].len, wr->sge[i].key, wr->sge[i].addr);
		put(q, &at, &d, sizeof(d));
	}
	if (wr->inl) {
		struct mlx5_wqe_inl_data_seg h = {htobe32(wr->inl_len | MLX5_INLINE_SEG)};

		put(q, &at, &h, sizeof(h));
		put(q, &at, wr->inl, wr->inl_len);
	}
	end = at;
	ds = (end - start + 15) / 16;
	mlx5dv_set_ctrl_seg(&c, (uint16_t)index, wr->opcode, wr->opmod, q->qpn, wr->fm_ce_se,
			    (uint8_t)ds, 0, htobe32(wr->imm));
	at = start;
	put(q, &at, &c, sizeof(c));
	q->sq_pi += (ds + 3) / 4;
	q->dbr[MLX5_SND_DBR] = htobe32(q->sq_pi & 0xffff);
	return index;
}

void t_ring(struct t_qp *q)
{
	eng_ring_sq(&q->t->s, q->qpn);
}

uint32_t t_post(struct t_qp *q, const struct t_wr *wr)
{
	uint32_t index = t_post_quiet(q, wr);

	t_ring(q);
	return index;
}

void t_recv(struct t_qp *q, const struct t_sge *sge, uint32_t nsge)
{
	struct mlx5_wqe_data_seg *d =
		(void *)(q->rq + ((q->rq_pi & ((1u << T_RQ_LOG) - 1)) << T_RQ_STRIDE_LOG));
	uint32_t i;

	for (i = 0; i < nsge; i++)
		mlx5dv_set_data_seg(&d[i], sge[i].len, sge[i].key, sge[i].addr);
	if (i < 1u << (T_RQ_STRIDE_LOG - 4))
		mlx5dv_set_data_seg(&d[i], 0, MLX5_INVALID_LKEY, 0);
	q->rq_pi++;
	q->dbr[MLX5_RCV_DBR] = htobe32(q->rq_pi & 0xffff);
}

void t_recv_at(struct t_qp *q, uint32_t off, uint32_t len)
{
	t_recv(q, &(struct t_sge){q->key, (uintptr_t)q->mem + off, len}, 1);
}

struct mlx5_cqe64 *t_poll(struct t_cq *cq)
{
	uint8_t *at = cq->buf + (cq->ci & ((1u << cq->log_size) - 1)) * cq->cqe_bytes;
	struct mlx5_cqe64 *c = (void *)(at + cq->cqe_bytes - 64);

	if (mlx5dv_get_cqe_opcode(c) == MLX5_CQE_INVALID ||
	    mlx5dv_get_cqe_owner(c) != !!(cq->ci & 1u << cq->log_size))
		return NULL;
	cq->ci++;
	cq->dbr[T_SET_CI] = htobe32(cq->ci & 0xffffff);
	return c;
}

void t_assert_empty(struct t_cq *cq)
{
	assert_null(t_poll(cq));
}

void t_expect_error(struct t_qp *q, uint8_t opcode, uint8_t syndrome, uint32_t counter)
{
	struct mlx5_cqe64 *c = t_poll(&q->cq);
	struct mlx5_err_cqe *e = (void *)c;

	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), opcode);
	assert_int_equal(e->syndrome, syndrome);
	assert_int_not_equal(e->vendor_err_synd, 0);
	assert_int_equal(be16toh(c->wqe_counter), counter & 0xffff);
	assert_int_equal(be32toh(e->srqn) & 0xffffff, q->hw->user_index);
	assert_int_equal(be32toh(e->s_wqe_opcode_qpn) & 0xffffff, q->qpn);
}

void t_expect_done(struct t_qp *q, uint8_t wqe_opcode, uint32_t counter)
{
	struct mlx5_cqe64 *c = t_poll(&q->cq);

	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	assert_int_equal(be32toh(c->sop_drop_qpn), (uint32_t)wqe_opcode << 24 | q->qpn);
	assert_int_equal(be16toh(c->wqe_counter), counter & 0xffff);
	assert_int_equal(be32toh(c->srqn_uidx) & 0xffffff, q->hw->user_index);
}

struct mlx5_cqe64 *t_received(struct t_qp *q, uint8_t opcode, uint32_t len, uint32_t counter)
{
	struct mlx5_cqe64 *c = t_poll(&q->cq);

	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), opcode);
	assert_int_equal(be32toh(c->byte_cnt), len);
	assert_int_equal(be16toh(c->wqe_counter), counter & 0xffff);
	assert_int_equal(be32toh(c->srqn_uidx) & 0xffffff, q->hw->user_index);
	assert_int_equal(be32toh(c->sop_drop_qpn) & 0xffffff, q->qpn);
	return c;
}

enum prm_qp_state t_state(const struct t_qp *q)
{
	return (enum prm_qp_state)q->hw->state;
}

enum hw_park t_park(const struct t_qp *q)
{
	return (enum hw_park)q->hw->park;
}

uint32_t t_hca(const struct t_qp *q)
{
	return q->hw->hca;
}

uint32_t t_pdn(const struct t_qp *q)
{
	return q->hw->pdn;
}

uint32_t t_sq_ci(const struct t_qp *q)
{
	return q->hw->sq_ci;
}

uint32_t t_rq_ci(const struct t_qp *q)
{
	return q->hw->rq_ci;
}

uint32_t t_srq_wqe(const struct t_qp *q)
{
	return q->hw->rx_srq_wqe;
}

bool t_waits_for_key(const struct t_qp *q)
{
	return q->hw->took;
}

struct seg_lock *t_rq_lock(const struct t_qp *q)
{
	return &q->hw->rq_lock;
}

void t_set_cq(struct t_qp *q, const struct t_cq *sends, const struct t_cq *receives)
{
	if (sends)
		q->hw->cqn_snd = sends->cqn;
	if (receives)
		q->hw->cqn_rcv = receives->cqn;
}

void t_set_rnr_timer(struct t_qp *q, uint8_t min_rnr_nak)
{
	q->hw->min_rnr_nak = min_rnr_nak;
}

void t_set_rnr_retry(struct t_qp *q, uint8_t rnr_retry)
{
	q->hw->rnr_retry = rnr_retry;
}

void t_repeat_psn(struct t_qp *q)
{
	q->hw->next_send_psn = (q->hw->next_send_psn - 1) & 0xffffff;
}

uint32_t t_next_psn(const struct t_qp *q)
{
	return q->hw->next_send_psn;
}

void t_set_state(struct t_qp *q, enum prm_qp_state state)
{
	q->hw->state = state;
}

void t_set_mmo(struct t_qp *q, bool on)
{
	q->hw->mmo = on;
}

void t_set_srq_wqe(struct t_qp *q, const struct t_srq *srq, uint32_t index)
{
	q->hw->rx_srq_wqe = 1 + index;
	q->hw->rx_srqn = (q->hw->rx_srqn & 0xff000000) | srq->srqn;
}

void t_cqe_init(struct eng_cqe *c, uint32_t opcode, const struct t_qp *q, uint32_t wqe_counter)
{
	cqe_init(c, opcode, q->hw, q->qpn, wqe_counter);
}

void t_set_rcv_psn(struct t_qp *q, uint32_t peer_qpn)
{
	q->hw->next_rcv_psn = 0xfffff0 + (peer_qpn & 7);
}

void t_set_send_psn(struct t_qp *q)
{
	q->hw->next_send_psn = 0xfffff0 + (q->qpn & 7);
}

void t_set_dest(struct t_qp *q, uint32_t peer_qpn)
{
	q->hw->dest_qpn = peer_qpn;
}

bool t_psns_agree(const struct t_qp *from, const struct t_qp *to)
{
	return from->hw->next_send_psn == to->hw->next_rcv_psn;
}

struct t_sge t_own(struct t_qp *q, uint32_t off, uint32_t len)
{
	return (struct t_sge){q->key, (uintptr_t)q->mem + off, len};
}

static uint32_t rdma(struct t_qp *q, uint8_t opcode, const struct t_qp *with, uint32_t off,
		     const struct t_sge *sge)
{
	return t_post(q, &(struct t_wr){.opcode = opcode,
					.fm_ce_se = T_SIG,
					.raddr = (uintptr_t)with->mem + off,
					.rkey = with->key,
					.sge = sge,
					.nsge = 1});
}

uint32_t t_write(struct t_qp *q, const struct t_qp *to, uint32_t off, struct t_sge sge)
{
	return rdma(q, MLX5_OPCODE_RDMA_WRITE, to, off, &sge);
}

uint32_t t_read(struct t_qp *q, const struct t_qp *from, uint32_t off, struct t_sge sge)
{
	return rdma(q, MLX5_OPCODE_RDMA_READ, from, off, &sge);
}

/* Computed once: with sanitizers the loop takes longer than the rest of many a test. */
static const uint8_t *pattern(void)
{
	static uint8_t bytes[T_MEM];

	if (!bytes[1])
		for (uint32_t i = 0; i < T_MEM; i++)
			bytes[i] = (uint8_t)(i * 7 + (i >> 8));
	return bytes;
}

int t_pair_setup(void **state)
{
	struct t_pair *p = calloc(1, sizeof(*p));

	p->t = tb_create();
	p->a = t_qp_make(p->t, 0, PRM_ST_RC, NULL);
	p->b = t_qp_make(p->t, 1, PRM_ST_RC, NULL);
	t_connect(p->a, p->b);
	memcpy(p->a->mem, pattern(), T_MEM);
	*state = p;
	return 0;
}

int t_pair_teardown(void **state)
{
	struct t_pair *p = *state;

	t_qp_free(p->a);
	t_qp_free(p->b);
	tb_destroy(p->t);
	free(p);
	return 0;
}
