/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements test_steps.h: the scenes, what their senders do, and what is right afterwards. */
#include "engine/test_sig.h"
#include "engine/test_steps.h"
#include "hw/qp.h"
#include "engine/test_tm.h"
#include "hw/umem.h"
#include "segment/adopt.h"
#include "segment/near.h"
#include "util/for_tests.h"
#include "wire/prm/dct.h"

#include <sys/eventfd.h>

struct scene *scene;

struct seg *seg_of(const struct scene *x)
{
	return &x->e->p.t->s;
}

static void arm(struct scene *x)
{
	uint32_t word = x->sn++ % 4 << 28 | (x->b->cq.ci & 0xffffff);
	__be32 db[2] = {htobe32(word), htobe32(x->b->cq.cqn)};
	uint64_t be;

	x->b->cq.dbr[T_ARM] = htobe32(word);
	memcpy(&be, db, 8);
	eng_uar_write(seg_of(x), T_UAR, 0x20, be);
}

uint32_t count_events(struct scene *x, uint32_t evq, int type)
{
	uint32_t n = 0;
	int got;

	while ((got = t_event(x->e->p.t, evq)) >= 0)
		n += got == type;
	return n;
}

uint32_t count_cqes(struct scene *x, uint8_t opcode)
{
	struct mlx5_cqe64 *c;
	uint32_t n = 0;

	while ((c = t_poll(&x->b->cq)))
		n += mlx5dv_get_cqe_opcode(c) == opcode;
	return n;
}

/* ---- what the child does */

void send_one(struct scene *x, struct t_qp *c)
{
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
}

void send_datagram(struct scene *x, struct t_qp *c)
{
	struct mlx5_wqe_av av = {.key.qkey.qkey = htobe32(0x11111111),
				 .dqp_dct = htobe32(x->b->qpn | 1u << 31),
				 .rlid = htobe16((uint16_t)c->hw->path[0].dlid)};

	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .av = &av, .inl = "x", .inl_len = 1});
}

static void write_badly(struct scene *x, struct t_qp *c)
{
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				 .raddr = (uintptr_t)x->b->mem,
				 .rkey = x->b->key ^ 0xff,
				 .inl = "x",
				 .inl_len = 1});
}

/* WRITEs a block with a wrong CRC to the receiver's signature key. */
void write_signed(struct scene *x, struct t_qp *c)
{
	struct t_sge sge = t_own(c, 0, 516);

	seg_for_each_live (&c->t->s, SEG_T_MKEY, i) {
		const struct hw_mkey *mk = seg_at(&c->t->s, SEG_T_MKEY, i);

		if (mk->bsf)
			t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
						 .rkey = mk->key,
						 .sge = &sge,
						 .nsge = 1});
	}
}

void child(struct bed *e)
{
	enum prm_st st = scene->is->st;
	struct mlx5_cqe64 *cqe;
	struct t_qp *c = t_qp_make(e->p.t, 0, st == HW_ST_DCT ? PRM_ST_DCI : st, NULL);

	t_rts(c, scene->b);
	e->board->qpn = c->qpn;
	e->board->key = e->p.t->s.self;
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(point_set(scene->spec));
	scene->is->act(scene, c);
	/* Acts as the child's device thread. */
	for (int i = 0; i < 50 && c->hw->park == HW_PARK_LOCK; i++) {
		t_now += 2000000;
		eng_run_due(&e->p.t->s);
	}
	while ((cqe = t_poll(&c->cq)))
		e->board->received += mlx5dv_get_cqe_opcode(cqe) == MLX5_CQE_RESP_SEND;
}

/* Sends to a DCT with a wrong access key. */
static void send_badly(struct scene *x, struct t_qp *c)
{
	struct mlx5_wqe_av av = {.key.dc_key = htobe64(1),
				 .dqp_dct = htobe32(x->b->qpn | 1u << 31),
				 .rlid = htobe16((uint16_t)c->hw->path[0].dlid)};

	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .av = &av, .inl = "x", .inl_len = 1});
}

/* ---- what is right afterwards */

void check_send(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	if (whole)
		assert_int_equal(n, 1);
	else
		assert_true(n <= 1);
	assert_int_equal(x->is->srq ? x->srq.hw->consumed - !!x->b->hw->rx_srq_wqe
				    : atomic_load(&x->b->hw->rq_ci),
			 n);
	assert_int_equal(count_events(x, x->b->evq, -1), 0);
}

void check_limit(struct scene *x, bool whole)
{
	uint32_t fired = !hw_srq_limit(x->srq.hw);

	check_send(x, whole);
	assert_int_equal(fired, x->srq.hw->consumed > 0);
	assert_int_equal(count_events(x, x->srq_evq, IBV_EVENT_SRQ_LIMIT_REACHED), fired);
}

static void check_comm_est(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_COMM_EST),
			 x->b->hw->comm_est ? 1 : 0);
	assert_int_equal(x->b->hw->comm_est == 2, whole || x->b->hw->comm_est);
}

static void check_failure(struct scene *x, bool whole)
{
	bool failed = x->b->hw->state == PRM_QP_STATE_ERR;
	struct mlx5_cqe64 *c;
	uint32_t n = 0;

	for (; (c = t_poll(&x->b->cq)); n++) {
		assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESP_ERR);
		assert_int_equal(be16toh(c->wqe_counter), n);
	}
	assert_true(failed || !whole);
	assert_int_equal(n, failed ? RECEIVES : 0);
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), failed);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_QP_ACCESS_ERR), failed);
	assert_int_equal(x->b->hw->rx_fail, 0);
}

static void check_srq_failure(struct scene *x, bool whole)
{
	bool failed = x->b->hw->state == PRM_QP_STATE_ERR;
	uint32_t access = 0, last = 0;
	int got;

	while ((got = t_event(x->e->p.t, x->b->evq)) >= 0) {
		access += got == IBV_EVENT_QP_ACCESS_ERR;
		last += got == IBV_EVENT_QP_LAST_WQE_REACHED;
	}
	assert_true(failed || !whole);
	assert_int_equal(access, failed);
	assert_int_equal(last, failed);
}

static void check_overrun(struct scene *x, bool whole)
{
	assert_true(!whole || x->b->hw->state == PRM_QP_STATE_ERR);
	assert_int_equal(count_events(x, x->b->cq.evq[1], IBV_EVENT_CQ_ERR),
			 hw_cq_error(x->b->cq.hw) ? 1 : 0);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_QP_FATAL),
			 x->b->hw->state == PRM_QP_STATE_ERR);
	x->b->cq.hw->state = 0;
}

static void check_devx(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);
	uint64_t signals = 0;

	evsub_signal_own(seg_of(x));
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[1], 0), n);
	if (read(x->eventfd, &signals, 8) != 8)
		signals = 0;
	assert_int_equal(signals, n);
}

static void check_key(struct scene *x, bool whole)
{
	uint32_t n = !x->b->hw->key_armed;
	uint64_t signals = 0;

	evsub_signal_own(seg_of(x));
	assert_true(n || !whole);
	assert_int_equal(count_events(x, x->subq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[1], 0), n);
	assert_int_equal(count_events(x, x->b->evq, -1), 0);
	if (read(x->eventfd, &signals, 8) != 8)
		signals = 0;
	assert_int_equal(signals, n);
}

/* ---- scenes */

static void setup_limit(struct scene *x)
{
	struct hw_srq *srq = x->srq.hw;

	x->srq_evq = t_evq(x->e->p.t);
	srq->async.evq_gen = ((struct seg_evq *)seg_at(seg_of(x), SEG_T_EVQ, x->srq_evq))->gen;
	atomic_store(&srq->async.evq, x->srq_evq);
	assert_int_equal(eng_srq_arm_limit(seg_of(x), x->srq.srqn, RECEIVES), 0);
}

/* The last event was now, so the next one comes when time has passed. */
void setup_moderated(struct scene *x)
{
	atomic_store(&x->b->cq.hw->moder_pi, atomic_load(&x->b->cq.hw->pi));
	atomic_store(&x->b->cq.hw->moder_ns, t_now);
	eng_cq_moderate(seg_of(x), x->b->cq.cqn, 1000 | 10 * HW_CQ_MOD_COUNT);
	eng_run_due(seg_of(x)); /* the command has woken the device thread */
}

/* The event comes with the second completion. */
static void setup_moderated_count(struct scene *x)
{
	setup_moderated(x);
	eng_cq_moderate(seg_of(x), x->b->cq.cqn, 0xfff | 2 * HW_CQ_MOD_COUNT);
}

static void setup_data_32(struct scene *x)
{
	x->b->hw->resp_data = CQE_FORMAT_DATA_32;
}

/* The buffer that the CQ has, with half as many CQEs of twice the size. */
static void setup_data_64(struct scene *x)
{
	struct t_cq *cq = &x->b->cq;

	cq->hw->cqe_bytes = 128;
	cq->cqe_bytes = 128;
	cq->hw->log_size = --cq->log_size;
	x->b->hw->resp_data = CQE_FORMAT_DATA_64;
}

/* Each CQE that is there has its payload. */
static void check_data(struct scene *x, bool whole)
{
	struct t_cq look = x->b->cq;
	uint8_t bit = x->b->hw->resp_data == CQE_FORMAT_DATA_64 ? MLX5_INLINE_SCATTER_64
								: MLX5_INLINE_SCATTER_32;
	struct mlx5_cqe64 *c;

	while ((c = t_poll(&look))) {
		assert_true(c->op_own & bit);
		assert_int_equal(*(const char *)(bit == MLX5_INLINE_SCATTER_64 ? c - 1 : c), 'x');
	}
	assert_int_equal(x->b->mem[0], 0);
	check_send(x, whole);
}

static void setup_rtr(struct scene *x)
{
	atomic_store(&x->b->hw->state, PRM_QP_STATE_RTR);
}

void setup_full(struct scene *x)
{
	for (int i = 0; i < 1 << T_CQ_LOG; i++)
		t_post(x->b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	count_events(x, x->b->cq.evq[0], 0);
}

void subscribe(struct scene *x, uint32_t hca, uint32_t key, uint32_t id)
{
	struct seg *s = seg_of(x);
	struct seg_evsub sub = {.hca = hca, .key = key, .id = id, .object = 0x5000};

	for (int i = 0; i < 3; i++) {
		if (i < 2)
			x->subq[i] = t_evq(x->e->p.t);
		sub.evq = x->subq[i & 1];
		sub.evq_gen = ((struct seg_evq *)seg_at(s, SEG_T_EVQ, sub.evq))->gen;
		sub.omit = i == 0;
		sub.eventfd = i == 2 ? x->eventfd + 1 : 0;
		assert_int_equal(evsub_add(s, &sub, &x->sub[i]), 0);
	}
}

void setup_devx(struct scene *x)
{
	subscribe(x, x->b->cq.hw->hca, PRM_EVENT_COMP, x->b->cq.cqn);
}

static void setup_dct(struct scene *x)
{
	struct hw_qp *dct = x->b->hw;

	LAYOUT_SET(dctc, dct->qpc, dc_access_key, 2);
	dct->no_rq = dct->no_sq = 1;
	dct->comm_est = 2;
	atomic_store(&dct->key_armed, 1);
	atomic_store(&dct->state, PRM_QP_STATE_RTR);
	subscribe(x, dct->hca, PRM_EVENT_DCT_KEY_VIOLATION | PRM_EVENT_QUEUE_DCT << 16, x->b->qpn);
}

static void drain_target(struct scene *x, struct t_qp *c)
{
	eng_dct_drain(seg_of(x), x->b->qpn);
}

static void setup_drain(struct scene *x)
{
	struct hw_qp *dct = x->b->hw;

	dct->no_rq = dct->no_sq = 1;
	dct->comm_est = 2;
	atomic_store(&dct->state, PRM_QP_STATE_RTR);
	subscribe(x, dct->hca, PRM_EVENT_DCT_DRAINED | PRM_EVENT_QUEUE_DCT << 16, x->b->qpn);
}

static void check_drain(struct scene *x, bool whole)
{
	uint32_t n = x->b->hw->state == PRM_QP_STATE_RST;
	uint64_t signals = 0;

	evsub_signal_own(seg_of(x));
	assert_true(n || !whole);
	assert_int_equal(count_events(x, x->subq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[1], 0), n);
	assert_int_equal(x->b->hw->rx_fail, 0);
	if (read(x->eventfd, &signals, 8) != 8)
		signals = 0;
	assert_int_equal(signals, n);
}

/* A key of the receiver's for `bytes` of its memory, with the signatures of *k. */
static void signed_key(struct scene *x, struct skey *k, uint32_t bytes)
{
	struct klm part = {x->b->key, (uintptr_t)x->b->mem + F_KEY_AT, bytes};
	uint8_t bsf[64];

	skey_make(k, x->b, 1);
	entry_set((void *)hw_klm_entry(seg_of(x), k->mk, 0), &part);
	bsf_of(k, bsf);
	for (uint32_t i = 0; i < HW_BSF_ENTRIES; i++)
		memcpy(hw_klm_entry(seg_of(x), k->mk, F_KLMS + i), bsf + i * 16, 16);
	k->mk->klm_n = 1;
	LAYOUT_SET(mkc, k->mk->mkc, bsf_en, 1);
	key_open(k->mk, 0, bytes, ALL);
}

void setup_signed(struct scene *x)
{
	struct skey k = {.wire = {.kind = F_CRC32C, .ones = true}, .check = 0xff};

	signed_key(x, &k, 512);
}

/* The error is reported once, if the message was written. */
static void check_signed(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_SIG_ERR);

	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	if (whole)
		assert_int_equal(n, 1);
	else
		assert_true(n <= 1);
	assert_int_equal(count_events(x, x->b->evq, -1), 0);
}

/*
 * Arms the receiver for path migration. `dlid_xor` 0: the alternate path is the one that the child
 * uses.
 */
static void arm_receiver(struct scene *x, uint32_t dlid_xor)
{
	struct hw_qp *b = x->b->hw;
	struct hw_qp_path *w;
	void *ads;

	w = eng_mig_hold(seg_of(x), b, x->b->qpn, &ads);
	*w = b->path[0];
	w->dlid ^= dlid_xor;
	eng_mig_end(seg_of(x), b, x->b->qpn, HW_MIG_ARMED);
}

static void setup_armed(struct scene *x)
{
	arm_receiver(x, 0);
}

static void setup_astray(struct scene *x)
{
	arm_receiver(x, 0x100);
}

/* The receiver has migrated with one event, or not at all; the message came after that. */
static void check_migration(struct scene *x, bool whole)
{
	bool moved = atomic_load(&x->b->hw->mig) & HW_MIG_PATH;
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_true(moved || !whole);
	assert_true(n <= moved);
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG), moved);
	assert_int_equal(atomic_load(&x->b->hw->mig) & HW_MIG_NOTING, 0);
}

static void check_no_migration(struct scene *x, bool whole)
{
	bool refused = atomic_load(&x->b->hw->mig) & HW_MIG_REFUSED;
	uint32_t n = count_events(x, x->b->evq, IBV_EVENT_PATH_MIG_ERR);

	assert_int_equal(count_cqes(x, MLX5_CQE_RESP_SEND), 0);
	assert_true(whole ? refused && n == 1 : n >= refused && n <= 1);
}

/* ---- tag matching */

static struct hw_tm *list_of(const struct scene *x)
{
	return seg_at(seg_of(x), SEG_T_TM, x->srq.hw->tm);
}

static void setup_tags(struct scene *x)
{
	struct t_sge to = t_own(x->b, 4096, 4096);

	LAYOUT_SET(qpc, x->b->hw->qpc, offload_type, 1);
	tm_entry(tm_make(x->e->p.t, &x->srq, &x->b->cq), 0, 5, &to);
}

/* The receiver already holds a receive for this message, from an earlier attempt. */
static void setup_tags_later(struct scene *x)
{
	const struct mlx5_wqe_srq_next_seg *first = (const void *)x->srq.buf;

	setup_tags(x);
	x->b->hw->rx_srqn |= x->srq.srqn;
	x->b->hw->rx_srq_wqe = 1;
	x->srq.hw->head = be16toh(first->next_wqe_index);
	x->srq.hw->consumed++;
}

static void send_tagged(struct scene *x, struct t_qp *c)
{
	tm_send(c, TMH_EAGER, 5, "x");
}

static void send_unexpected(struct scene *x, struct t_qp *c)
{
	tm_send(c, TMH_EAGER, 6, "x");
}

static void send_offer(struct scene *x, struct t_qp *c)
{
	t_recv_at(c, 8192, 64);
	tm_offer(c, 5, c->key, 3000);
}

/*
 * The entry is either consumed, with all of its completions, or still posted. The counts match the
 * CQEs.
 */
static void check_tags(struct scene *x, bool whole)
{
	const struct hw_tm *tm = list_of(x);
	uint32_t n[16] = {0}, all = 0, taken;
	const uint8_t *c;

	for (; (c = (const uint8_t *)t_poll(&x->b->cq)); all++)
		n[LAYOUT_GET(cqe64, c, app_op)]++;
	assert_true(all || !whole);
	taken = n[CQE_TM_CONSUMED_MSG] + n[CQE_TM_CONSUMED];
	assert_int_equal(n[CQE_TM_CONSUMED], n[CQE_TM_EXPECTED]);
	assert_true(taken + n[CQE_TM_UNEXPECTED] <= 1);
	assert_int_equal(HW_TM_KIND(tm->tag[0].state), taken ? HW_TM_FREE : HW_TM_POSTED);
	assert_int_equal(x->srq.hw->consumed, n[CQE_TM_UNEXPECTED] + (x->b->hw->rx_srq_wqe != 0));
	assert_int_equal(HW_TM_HW(tm->sync), n[CQE_TM_UNEXPECTED]);
	assert_int_equal(HW_TM_CLAIMED(tm->sync), 0);
	for (int i = 0; i < HW_TM_CLAIMS; i++)
		assert_int_equal(tm->claim[i], 0);
	count_events(x, x->b->cq.evq[0], 0);
	assert_int_equal(count_events(x, x->b->evq, -1), 0);
}

/*
 * The receiver's own send queue, which the child rings as a fork child would: a copy whose source
 * has a wrong signature, and a WQE behind it.
 */
static void setup_sq_drain(struct scene *x)
{
	struct skey k = {.mem = {.kind = F_CRC32C, .ones = true}, .check = 0xff};
	struct {
		uint32_t meta[4];
		struct mlx5_wqe_data_seg src, dest;
	} w = {0};

	signed_key(x, &k, 516);
	mlx5dv_set_data_seg(&w.src, 512, k.mk->key, 0);
	mlx5dv_set_data_seg(&w.dest, 512, x->b->key, (uintptr_t)x->b->mem);
	x->b->hw->mmo = 1;
	LAYOUT_SET(qpc, x->b->hw->qpc, drain_sigerr, 1);
	t_post_quiet(x->b, &(struct t_wr){.opcode = MLX5_OPCODE_MMO,
					  .opmod = WQE_OPMOD_MMO_DMA,
					  .fm_ce_se = T_SIG,
					  .raw = &w,
					  .raw_len = sizeof(w)});
	t_post_quiet(x->b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
}

static void ring_receiver(struct scene *x, struct t_qp *c)
{
	eng_ring_sq(seg_of(x), x->b->qpn);
}

/* A drained queue has stopped behind the copy, and says so once. */
static void check_sq_drain(struct scene *x, bool whole)
{
	uint32_t st = x->b->hw->state, sigs = 0, good = 0, drained = 0, fatal = 0;
	struct mlx5_cqe64 *c;
	int got;

	while ((got = t_event(x->e->p.t, x->b->evq)) >= 0) {
		drained += got == IBV_EVENT_SQ_DRAINED;
		fatal += got == IBV_EVENT_QP_FATAL;
	}
	while ((c = t_poll(&x->b->cq))) {
		sigs += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_SIG_ERR;
		good += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_REQ;
	}
	count_events(x, x->b->cq.evq[0], 0);
	assert_true(!whole || st == PRM_QP_STATE_SQD);
	assert_int_equal(fatal, st == PRM_QP_STATE_ERR);
	if (st == PRM_QP_STATE_ERR) {
		assert_true(good <= 1 && drained <= 1);
		return;
	}
	assert_int_equal(drained, st == PRM_QP_STATE_SQD);
	assert_int_equal(good, drained);
	assert_int_equal(sigs, drained);
	assert_int_equal(x->b->hw->sq_ci, drained);
}

const struct scenario scenarios[] = {
	{"send", PRM_ST_RC, false, NULL, send_one, check_send},
	{"send into its CQE", PRM_ST_RC, false, setup_data_32, send_one, check_data},
	{"send into its CQE of 128 bytes", PRM_ST_RC, true, setup_data_64, send_one, check_data},
	{"send on UC", PRM_ST_UC, false, NULL, send_one, check_send},
	{"datagram", PRM_ST_UD, false, NULL, send_datagram, check_send},
	{"send, moderated", PRM_ST_RC, false, setup_moderated, send_one, check_send},
	{"send, moderated by count", PRM_ST_RC, false, setup_moderated_count, send_one, check_send},
	{"send to an SRQ", PRM_ST_RC, true, NULL, send_one, check_send},
	{"SRQ limit", PRM_ST_RC, true, setup_limit, send_one, check_limit},
	{"first message in RTR", PRM_ST_RC, false, setup_rtr, send_one, check_comm_est},
	{"bad request", PRM_ST_RC, false, NULL, write_badly, check_failure},
	{"bad request, SRQ", PRM_ST_RC, true, NULL, write_badly, check_srq_failure},
	{"CQ overrun", PRM_ST_RC, false, setup_full, send_one, check_overrun},
	{"DEVX subscribers", PRM_ST_RC, false, setup_devx, send_one, check_devx},
	{"wrong access key", HW_ST_DCT, true, setup_dct, send_badly, check_key},
	{"wrong signature", PRM_ST_RC, false, setup_signed, write_signed, check_signed},
	{"migration", PRM_ST_RC, false, setup_armed, send_one, check_migration},
	{"migration refused", PRM_ST_RC, false, setup_astray, send_one, check_no_migration},
	{"tagged message", PRM_ST_RC, true, setup_tags, send_tagged, check_tags, true},
	{"tagged message with a receive", PRM_ST_RC, true, setup_tags_later, send_tagged,
	 check_tags, true},
	{"unexpected message", PRM_ST_RC, true, setup_tags, send_unexpected, check_tags, true},
	{"rendezvous", PRM_ST_RC, true, setup_tags, send_offer, check_tags, true},
	{"drain of a send queue", PRM_ST_RC, false, setup_sq_drain, ring_receiver, check_sq_drain},
	{"drain of a DCT", HW_ST_DCT, true, setup_drain, drain_target, check_drain},
};
const uint32_t nscenarios = sizeof(scenarios) / sizeof(scenarios[0]);

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	if (!adopt_fault((uintptr_t)si->si_addr) && !mem_guard_fixup(uc))
		signal(sig, SIG_DFL);
}

static void fault_handler(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &sa, NULL);
	mem_guard_armed = true;
}

uint32_t adopt_queue(struct seg *s, uint64_t va, uint64_t len)
{
	struct seg_proc *me = seg_proc(s, s->self);
	struct hw_umem *u;
	uint32_t i;

	fault_handler();
	adopt_init(s, false);
	atomic_store(&me->adopt_queues, UINT32_MAX);
	assert_int_equal(seg_alloc(s, SEG_T_UMEM, SEG_OWNER_DEVICE, &i), 0);
	u = seg_at(s, SEG_T_UMEM, i);
	u->mem = mem_self(s);
	u->va = va;
	u->len = len;
	u->queue = HW_UMEM_QUEUE;
	do {
		atomic_store(&me->adopt_want, 1 + (ADOPT_UMEM | i));
		eng_adopt_due(s);
	} while (!atomic_load(&u->run.word) && !(u->run.heat & ADOPT_BARRED));
	assert_true(atomic_load(&u->run.word));
	return i;
}

/* With STEP_NEAR the receiver's CQ and SRQ are adopted memory. */
static void adopt_queues(struct scene *x)
{
	struct seg *s = seg_of(x);
	struct hw_cq *cq = x->b->cq.hw;

	if (!getenv("STEP_NEAR"))
		return;
	cq->buf_umem = adopt_queue(s, cq->va, (uint64_t)cq->cqe_bytes << cq->log_size);
	if (x->is->srq)
		x->srq.hw->buf_umem = adopt_queue(
			s, x->srq.hw->va, UINT64_C(1) << (x->srq.hw->log_size + x->srq.log_stride));
}

static bool every(void *arg, uint32_t obj, uint32_t gen)
{
	return true;
}

static void queues_back(void)
{
	for (int i = 0; i < 20000 && adopt_any() && !adopt_give_back(every, NULL, true); i++)
		usleep(1000);
	assert_true(!adopt_any());
}

void scene_setup(struct scene *x, void (*body)(struct bed *e))
{
	struct bed *e = x->e;
	struct t_qp peer;

	near_init();

	if (x->is->srq)
		t_srq_make(e->p.t, &x->srq, e->p.t->pd[1]);
	x->b = t_qp_make(e->p.t, 1, x->is->st, x->is->srq ? &x->srq : NULL);
	x->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	scene = x;
	spawn(e, body);
	assert_true(await(e->tell[0]));
	adopt_queues(x);
	peer = (struct t_qp){.qpn = e->board->qpn, .hw = hw_qp(seg_of(x), e->board->qpn)};
	t_rts(x->b, &peer);
	for (uint32_t i = 0; i < RECEIVES; i++)
		if (x->is->srq)
			t_srq_post(&x->srq, x->b->key, x->b->mem, 64);
		else
			t_recv_at(x->b, i * 64, 64);
	arm(x);
	if (x->is->setup)
		x->is->setup(x);
}

void scene_start(struct scene *x, const char *how, uint32_t n)
{
	void *state;

	snprintf(x->spec, sizeof(x->spec), "*:%s:%u", how, n);
	bed_setup(&state);
	x->e = state;
	scene_setup(x, child);
	tell(x->e->go[1]);
}

void scene_stop(struct scene *x, uint32_t n)
{
	scene_start(x, "stop", n);
	assert_int_equal(waitpid(x->e->pid, &x->status, WUNTRACED), x->e->pid);
	x->stopped = WIFSTOPPED(x->status);
}

void scene_go_on(struct scene *x, int sig)
{
	if (x->stopped) {
		kill(x->e->pid, sig);
		assert_int_equal(waitpid(x->e->pid, &x->status, 0), x->e->pid);
	}
	assert_int_equal(x->status, x->stopped && sig == SIGKILL ? SIGKILL : 0);
}

void scene_free(struct scene *x)
{
	void *state = x->e;

	close(x->eventfd);
	queues_back();
	t_qp_free(x->b);
	bed_teardown(&state);
}

void scene_end(struct scene *x)
{
	close(x->e->go[1]);
	close(x->e->tell[0]);
	scene_free(x);
}

/* Do what the supervisor and the device thread do after a death. */
void settle(struct scene *x)
{
	struct seg *s = seg_of(x);
	uint32_t slot = x->e->board->key;

	seg_proc(s, slot)->state = SEG_PROC_DEAD;
	eng_proc_died(s, slot);
	evq_repair(s);
	for (int i = 0; i < 4; i++) {
		eng_run_due(s);
		t_now += 20000000;
	}
}

void run_out(struct scene *x, struct t_qp *q)
{
	for (int i = 0; i < 20 && q->hw->park; i++) {
		t_now += 2000000;
		eng_run_due(seg_of(x));
	}
	assert_int_equal(q->hw->park, HW_PARK_NO);
}

void complete_another(struct scene *x)
{
	struct t_qp *q = x->e->p.a;

	q->hw->cqn_snd = x->b->cq.cqn;
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	run_out(x, q);
}

/* Checks that the receiver's queues are unlocked and its CQ works. */
void goes_on(struct scene *x)
{
	struct t_qp *q = x->e->p.a;

	assert_int_equal(x->b->hw->rq_lock.word, 0);
	assert_int_equal(x->b->cq.hw->lock.word, 0);
	assert_int_equal((uint32_t)x->b->hw->rx_intent, 0);
	assert_int_equal(x->b->cq.hw->armed & (HW_CQ_OWES | HW_CQ_OWES_DEVX), 0);
	while (t_poll(&x->b->cq))
		;
	atomic_store(&x->b->cq.hw->moder, 0);
	q->hw->cqn_snd = x->b->cq.cqn;
	arm(x);
	assert_int_equal(t_event(x->e->p.t, x->b->cq.evq[0]), -1);
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	assert_non_null(t_poll(&x->b->cq));
	t_assert_empty(&x->b->cq);
	assert_int_equal(t_event(x->e->p.t, x->b->cq.evq[0]), 0);
	assert_int_equal(t_event(x->e->p.t, x->b->cq.evq[0]), -1);
}

void adopt_key(struct seg *s, uint32_t key)
{
	struct hw_mkey *mk = hw_mkey(s, key);
	const struct adopt_key k = {&mk->run, &mk->gen, &mk->valid, mk->va, key >> 8, mk->gen};
	int rc;

	fault_handler();
	adopt_init(s, true);
	atomic_store(&seg_proc(s, s->self)->adopt_after, UINT32_MAX);
	atomic_store(&seg_proc(s, s->self)->adopt_queues, UINT32_MAX);
	atomic_store(&mk->hint, mk->va);
	do
		rc = adopt_take(s, &k, mk->va, mk->len);
	while (rc > 0 || rc == -EAGAIN);
}

void at_each_step(const char *what, uint32_t least, bool (*one)(uint32_t n))
{
	const char *from = getenv("STEP_FROM");
	uint32_t n = from ? (uint32_t)atoi(from) : 1;

	for (; one(n); n++)
		assert_true(n < MAX_STEPS);
	print_message("%s at %u steps\n", what, n - 1);
	assert_true(n > least);
}

void at_every_step(const char *what, bool (*one)(const struct scenario *is, uint32_t n))
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < nscenarios; i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (scenarios[i].st == PRM_ST_UC ||
		    (scenarios[i].check != check_send && scenarios[i].check != check_limit) ||
		    (only && strcmp(only, scenarios[i].name)))
			continue;
		for (; one(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: %s at %u steps\n", scenarios[i].name, what, n - 1);
		assert_true(n > 5);
	}
}
