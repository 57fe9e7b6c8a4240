/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work requests that change keys, and invalidations. UMRs are written with rdma-core's structures,
 * as libmlx5 does.
 */
#include "engine/test_keys.h"
#include "hw/mkey.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "wire/prm/mkey.h"
#include <infiniband/verbs.h>

static void changed(struct t_qp *q, uint32_t key, const struct umr *u, uint32_t bytes)
{
	t_expect_done(q, MLX5_OPCODE_UMR, change(q, key, u, bytes));
}

static void test_a_window_is_bound_used_and_unbound(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct umr u = bind_to(0x77, p->b->qpn, p->b->key, p->b->mem + 256, 128), out = unbind();
	struct t_sge sge = t_own(p->a, 0, 128);
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .raddr = (uintptr_t)p->b->mem + 256,
			  .sge = &sge,
			  .nsge = 1};

	changed(p->b, mk->key, &u, HEAD + 64);
	assert_int_equal(mk->key & 0xff, 0x77);
	assert_int_equal(mk->qpn, p->b->qpn);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 128, mk->key,
		 (uintptr_t)p->b->mem + 256);
	assert_memory_equal(p->b->mem + 256, p->a->mem, 128);
	changed(p->b, mk->key, &out, HEAD);
	assert_int_equal(mk->free, 1);
	assert_int_equal(mk->qpn, 0xffffff);
	wr.rkey = mk->key;
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		       t_post(p->a, &wr));
}

struct umr_row {
	const char *name;
	void (*spoil)(struct t_pair *p, struct hw_mkey *mk, struct umr *u, uint32_t *bytes);
	uint8_t syndrome;
};

#define ROW(n) static void n(struct t_pair *p, struct hw_mkey *mk, struct umr *u, uint32_t *bytes)
ROW(u_bound)
{
	atomic_store(&mk->free, 0);
}
ROW(u_fail_if_free)
{
	u->ctrl.flags = FLAG(INLINE) | 0x40;
}
ROW(u_other_pd)
{
	*u = unbind();
	*bytes = HEAD;
	mk->pdn = p->t->pd[0];
}
ROW(u_not_for_umr)
{
	mk->umr_en = 0;
}
ROW(u_gone)
{
	atomic_store(&mk->valid, 0);
}
ROW(u_other_qp)
{
	*u = unbind();
	mk->qpn = p->a->qpn;
}
/* IBV_WR_BIND_MW with length 0 and IBV_WR_LOCAL_INV, as libmlx5 makes them. */
ROW(u_to_nothing)
{
	*u = unbind();
	u->mkc.qpn_mkey = htobe32(ANY_QP | 0x78);
	*bytes = HEAD;
}
ROW(u_tag)
{
	u->ctrl.mkey_mask &= ~htobe64(MASK(MKEY));
	mk->key ^= 1;
}
ROW(u_no_context)
{
	*bytes = HEAD - 16;
}
ROW(u_list_cut)
{
	*bytes = HEAD + 48;
}
ROW(u_list_long)
{
	u->ctrl.klm_octowords = htobe16(8);
	*bytes = HEAD + 128;
}
/* 3 turns of 2 x 8 bytes, as umr_strided_seg_create() of libmlx5 makes them. */
static void strided(struct umr *u, struct t_qp *q)
{
	struct mlx5_wqe_umr_repeat_block_seg *h = (void *)u->list;

	memset(u->list, 0, sizeof(u->list));
	u->mkc.len = htobe64(48);
	u->mkc.start_addr = 0;
	h->op = htobe32(0x400);
	h->byte_count = htobe32(16);
	h->repeat_count = htobe32(3);
	h->num_ent = htobe16(2);
	for (uint32_t i = 0; i < 2; i++) {
		h->entries[i].stride = htobe16(10);
		h->entries[i].byte_count = htobe16(8);
		h->entries[i].memkey = htobe32(q->key);
		h->entries[i].va = htobe64((uintptr_t)q->mem + i * 64);
	}
}

ROW(u_strided_sum)
{
	strided(u, p->b);
	u->list[0].byte_count = htobe32(17);
}
ROW(u_strided_entries)
{
	strided(u, p->b);
	((struct mlx5_wqe_umr_repeat_block_seg *)(void *)u->list)->num_ent = htobe16(4);
}
ROW(u_strided_turns)
{
	strided(u, p->b);
	((struct mlx5_wqe_umr_repeat_block_seg *)(void *)u->list)->repeat_count = 0;
}
ROW(u_bsf)
{
	u->ctrl.mkey_mask |= htobe64(MASK(BSF_ENABLE));
	u->mkc.flags_pd |= htobe32(1u << 30);
}
ROW(u_offset)
{
	u->ctrl.translation_offset = htobe16(4);
}
ROW(u_pointer_key)
{
	u->ctrl.flags = 0;
	memset(u->list, 0, sizeof(u->list));
	u->list[0].byte_count = htobe32(64);
	u->list[0].mkey = htobe32(0x123400);
	*bytes = HEAD + 16;
}

#define BIND MLX5_CQE_SYNDROME_MW_BIND_ERR
#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
static const struct umr_row umr_rows[] = {
	{"bound already", u_bound, BIND},
	{"not bound, but should be", u_fail_if_free, BIND},
	{"key of another PD", u_other_pd, BIND},
	{"key without umr_en", u_not_for_umr, BIND},
	{"key destroyed", u_gone, BIND},
	{"window of another QP", u_other_qp, BIND},
	{"to no bytes: IBA o10-37.2.40, rxe_check_bind_mw()", u_to_nothing, BIND},
	{"another variant", u_tag, BIND},
	{"list too long", u_list_long, BIND},
	{"strides of another sum", u_strided_sum, BIND},
	{"more strides than entries", u_strided_entries, BIND},
	{"no turns", u_strided_turns, BIND},
	{"no context", u_no_context, QP_OP},
	{"list cut off", u_list_cut, QP_OP},
	{"signatures", u_bsf, QP_OP},
	{"translation offset", u_offset, QP_OP},
	{"pointer to a list, unknown lkey", u_pointer_key, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
};

static void test_what_is_wrong_with_umrs(void **state)
{
	for (size_t i = 0; i < sizeof(umr_rows) / sizeof(umr_rows[0]); i++) {
		struct hw_mkey *mk;
		uint32_t bytes = HEAD + 64, key;
		struct t_pair *p;
		struct umr u;
		void *st;

		print_message("  %s\n", umr_rows[i].name);
		assert_int_equal(t_pair_setup(&st), 0);
		p = st;
		mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
		u = bind_to(0x77, p->b->qpn, p->b->key, p->b->mem, 128);
		key = mk->key;
		umr_rows[i].spoil(p, mk, &u, &bytes);
		t_expect_error(p->b, MLX5_CQE_REQ_ERR, umr_rows[i].syndrome,
			       change(p->b, key, &u, bytes));
		assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
		t_pair_teardown(&st);
	}
}

static void test_strides_by_umr(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct umr u = bind_to(0, 0xffffff, 0, NULL, 0);

	strided(&u, p->b);
	changed(p->b, mk->key, &u, HEAD + 64);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 48, mk->key, 0);
	for (uint32_t i = 0; i < 6; i++)
		assert_memory_equal(p->b->mem + i % 2 * 64 + i / 2 * 10, p->a->mem + i * 8, 8);
}

ROW(u_part_unknown)
{
	u->list[0].mkey = htobe32(0x123400);
}
ROW(u_part_range)
{
	u->list[0].address = htobe64((uintptr_t)p->b->mem + T_MEM - 127);
}
ROW(u_part_pd)
{
	u->list[0].mkey = htobe32(p->a->key);
	u->list[0].address = htobe64((uintptr_t)p->a->mem);
}
ROW(u_part_right)
{
	hw_mkey(&p->t->s, p->b->key)->access = HW_ACC_LOCAL_READ | HW_ACC_REMOTE_READ;
}
ROW(u_strided_range)
{
	strided(u, p->b);
	u->list[2].address = htobe64((uintptr_t)p->b->mem + T_MEM - 27);
}

/*
 * Bound with success, as on a card, and refused when it is used: that is inferred from what a card
 * says of a range or right of a region.
 */
static void test_what_a_window_leads_to_is_looked_at_by_its_use(void **state)
{
	static const struct umr_row rows[] = {
		{"part unknown", u_part_unknown, 0},
		{"part outside of its region", u_part_range, 0},
		{"part of another PD", u_part_pd, 0},
		{"part without local write", u_part_right, 0},
		{"strides beyond a region", u_strided_range, 0},
	};
	static const uint8_t ops[] = {MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_ATOMIC_FA};

	const struct mlx5_wqe_atomic_seg one = {.swap_add = htobe64(1)};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct umr_row *row = &rows[i / 2];
		uint32_t bytes = HEAD + 64, len;
		struct mlx5_err_cqe *e;
		struct hw_mkey *mk;
		struct t_pair *p;
		struct t_sge sge;
		struct umr u;
		void *st;

		print_message("  %s, opcode %u\n", row->name, ops[i % 2]);
		assert_int_equal(t_pair_setup(&st), 0);
		p = st;
		mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
		u = bind_to(0x77, p->b->qpn, p->b->key, p->b->mem, 128);
		u.mkc.access_flags |= ACCESS(ATOMIC);
		row->spoil(p, mk, &u, &bytes);
		changed(p->b, mk->key, &u, bytes);
		/* Everything, or the last 8 bytes. */
		len = (uint32_t)be64toh(u.mkc.len);
		sge = t_own(p->a, 0, i % 2 ? 8 : len);
		t_post(p->a, &(struct t_wr){.opcode = ops[i % 2],
					    .raddr = be64toh(u.mkc.start_addr) + len - sge.len,
					    .operands = &one,
					    .operands_len = i % 2 ? sizeof(one) : 0,
					    .rkey = mk->key,
					    .sge = &sge,
					    .nsge = 1});
		e = (void *)t_poll(&p->a->cq);
		assert_non_null(e);
		assert_int_equal(e->syndrome, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
		assert_int_equal(e->vendor_err_synd, 0x88);
		t_pair_teardown(&st);
	}
}

/* A key of mlx5dv belongs to any QP; it can be invalidated all the same, once. */
static void test_a_key_of_any_qp_is_invalidated(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct umr u = bind_to(0, 0xffffff, p->b->key, p->b->mem, 128), out = unbind();

	changed(p->b, mk->key, &u, HEAD + 64);
	changed(p->b, mk->key, &out, HEAD);
	assert_int_equal(mk->free, 1);
	t_expect_error(p->b, MLX5_CQE_REQ_ERR, BIND, change(p->b, mk->key, &out, HEAD));
}

/* A list of the greatest length, by pointer, with the context in the same WQE. */
static void test_a_list_by_pointer(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 512);
	struct mlx5_wqe_umr_klm_seg *list = (void *)(p->b->mem + 0x20000);
	struct umr u = bind_to(0x42, 0xffffff, 0, NULL, 1024);

	for (uint32_t i = 0; i < 512; i++)
		entry_set(&list[i],
			  &(struct klm){p->b->key, (uintptr_t)p->b->mem + (511 - i) * 4, 2});
	u.ctrl.flags = FLAG(CHECK_FREE);
	u.ctrl.klm_octowords = htobe16(512);
	entry_set(&u.list[0], &(struct klm){p->b->key, (uintptr_t)list, 512 * 16});
	changed(p->b, mk->key, &u, HEAD + 16);
	assert_int_equal(mk->klm_n, 512);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 1024, mk->key, 0);
	for (uint32_t i = 0; i < 512; i++)
		assert_memory_equal(p->b->mem + (511 - i) * 4, p->a->mem + i * 2, 2);
}

/* A region's own key with umr_en: a UMR changes its rights and tag, not its memory. */
static void test_rights_of_a_region(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = hw_mkey(&p->t->s, p->b->key);
	struct umr u = {0};

	LAYOUT_SET(mkc, mk->mkc, access_mode_1_0, PRM_MKC_MTT);
	LAYOUT_SET(mkc, mk->mkc, umr_en, 1);
	LAYOUT_SET(mkc, mk->mkc, lr, 1);
	LAYOUT_SET(mkc, mk->mkc, lw, 1);
	LAYOUT_SET(mkc, mk->mkc, qpn, 0xffffff);
	LAYOUT_SET(mkc, mk->mkc, mkey_7_0, mk->key & 0xff);
	LAYOUT_SET(mkc, mk->mkc, start_addr, mk->start);
	LAYOUT_SET(mkc, mk->mkc, len, mk->len);
	eng_mkey_fields(mk);
	u.ctrl.mkey_mask = htobe64(MASK(ACCESS_REMOTE_WRITE) | MASK(MKEY));
	u.mkc.access_flags = ACCESS(REMOTE_WRITE);
	u.mkc.qpn_mkey = htobe32(0x55);
	changed(p->b, mk->key, &u, HEAD);
	assert_int_equal(mk->key & 0xff, 0x55);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, 64, mk->key,
		 (uintptr_t)p->b->mem);
	assert_memory_equal(p->b->mem, p->a->mem, 64);
	u.ctrl.mkey_mask = htobe64(MASK(LEN));
	u.mkc.len = htobe64(T_MEM + 1);
	t_expect_error(p->b, MLX5_CQE_REQ_ERR, BIND, change(p->b, mk->key, &u, HEAD));
}

static void send_inval(struct t_pair *p, uint32_t key, uint32_t *at)
{
	struct t_sge sge = t_own(p->a, 0, 16);
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND_INVAL,
			  .fm_ce_se = T_SIG,
			  .imm = key,
			  .sge = &sge,
			  .nsge = 1};

	t_recv_at(p->b, 0, 64);
	*at = t_post(p->a, &wr);
}

static void test_send_with_invalidate(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct umr u = bind_to(0x77, p->b->qpn, p->b->key, p->b->mem, 128);
	struct mlx5_cqe64 *c;
	uint32_t at;

	mk->en_rinval = 1;
	LAYOUT_SET(mkc, mk->mkc, en_rinval, 1);
	changed(p->b, mk->key, &u, HEAD + 64);
	send_inval(p, mk->key, &at);
	t_expect_done(p->a, MLX5_OPCODE_SEND_INVAL, at);
	c = t_received(p->b, MLX5_CQE_RESP_SEND_INV, 16, 0);
	assert_int_equal(be32toh(c->imm_inval_pkey), mk->key);
	assert_int_equal(mk->free, 1);
	assert_memory_equal(p->b->mem, p->a->mem, 16);
	/*
	 * The second invalidate finds the key unbound. Only the responder has an error, and it does
	 * not answer: IBA 9.9.6.3, class J.
	 */
	memset(p->b->mem, 0, 16);
	t_recv_at(p->b, 0, 64);
	p->a->hw->path[0].ack_timeout = 14;
	send_inval(p, mk->key, &at);
	t_assert_empty(&p->a->cq);
	assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
	assert_int_equal(p->a->hw->park, HW_PARK_RETRY);
	t_expect_error(p->b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR, 1);
	t_expect_error(p->b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 2);
	t_assert_empty(&p->b->cq);
	assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
	assert_int_equal(t_event(p->t, p->b->evq), -1);
	assert_memory_equal(p->b->mem, p->a->mem, 16);
}

/* What a SEND has invalidated is not bound any more, although the key still has its QP's number. */
static void test_a_window_is_invalidated_once(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct umr u = bind_to(0x77, p->b->qpn, p->b->key, p->b->mem, 128), out = unbind();
	uint32_t at;

	mk->en_rinval = 1;
	LAYOUT_SET(mkc, mk->mkc, en_rinval, 1);
	changed(p->b, mk->key, &u, HEAD + 64);
	send_inval(p, mk->key, &at);
	t_expect_done(p->a, MLX5_OPCODE_SEND_INVAL, at);
	t_received(p->b, MLX5_CQE_RESP_SEND_INV, 16, 0);
	t_expect_error(p->b, MLX5_CQE_REQ_ERR, BIND, change(p->b, mk->key, &out, HEAD));
}

/*
 * The receiver's CQ is locked (its owner is stopped): the key is invalidated once, and the message
 * delivered later.
 */
static void test_an_invalidate_that_has_to_wait(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = t_indirect_key(p->t, p->t->pd[1], PRM_MKC_KLM, 4);
	struct umr u = bind_to(0x77, p->b->qpn, p->b->key, p->b->mem, 128);
	uint32_t at;

	mk->en_rinval = 1;
	LAYOUT_SET(mkc, mk->mkc, en_rinval, 1);
	changed(p->b, mk->key, &u, HEAD + 64);
	assert_int_equal(seg_lock(&p->t->s, &p->b->cq.hw->lock, 0), 0);
	send_inval(p, mk->key, &at);
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
	seg_unlock(&p->t->s, &p->b->cq.hw->lock);
	t_now += 2 * NSEC_PER_MSEC;
	eng_run_due(&p->t->s);
	t_expect_done(p->a, MLX5_OPCODE_SEND_INVAL, at);
	t_received(p->b, MLX5_CQE_RESP_SEND_INV, 16, 0);
	assert_int_equal(mk->free, 1);
}

static void test_a_region_cannot_be_invalidated(void **state)
{
	struct t_pair *p = *state;
	uint32_t at;

	p->a->hw->path[0].ack_timeout = 14;
	send_inval(p, p->b->key, &at);
	t_expect_error(p->b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR, 0);
	assert_int_equal(hw_mkey(&p->t->s, p->b->key)->free, 0);
	t_assert_empty(&p->a->cq);
	for (uint32_t i = 0; t_state(p->a) == PRM_QP_STATE_RTS && i < 16; i++) {
		t_now += UINT64_C(4096) << 14;
		eng_run_due(&p->t->s);
	}
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, at);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_window_is_bound_used_and_unbound),
		cmocka_unit_test(test_what_is_wrong_with_umrs),
		T(test_strides_by_umr),
		cmocka_unit_test(test_what_a_window_leads_to_is_looked_at_by_its_use),
		T(test_a_key_of_any_qp_is_invalidated),
		T(test_a_list_by_pointer),
		T(test_rights_of_a_region),
		T(test_send_with_invalidate),
		T(test_a_window_is_invalidated_once),
		T(test_an_invalidate_that_has_to_wait),
		T(test_a_region_cannot_be_invalidated),
	};

	return cmocka_run_group_tests_name("engine umr", tests, NULL, NULL);
}
