/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For tests of CQE compression: a CQ with it, and readers that go through its entries in the order
 * of Linux (mlx5e_decompress_cqes_cont() in en_rx.c), DPDK (mlx5_rx_poll_len()) and UCX
 * (uct_ib_mlx5_iface_cqe_unzip()), each with its own rule for entries that nobody has written.
 */
#ifndef SOFTHCA_ENGINE_TEST_ZIP_H
#define SOFTHCA_ENGINE_TEST_ZIP_H

#include "engine/test.h"
#include "engine/cq/cq.h"
#include "hw/cq.h"
#include "hw/zip.h"
#include "wire/prm/cq.h"

enum z_reader { Z_LINUX, Z_DPDK, Z_UCX, Z_READERS };

struct z_cq {
	const struct seg *s;
	struct t_cq *cq;
	enum z_reader how;
	struct mlx5_cqe64 title;
	uint8_t mini[64];
	uint32_t left, i; /* CQEs of the session not read yet; index of the next */
	uint32_t sessions;
};

static inline struct mlx5_cqe64 *z_at(const struct t_cq *cq, uint32_t index)
{
	uint32_t at = index & ((1u << cq->log_size) - 1);

	return (void *)(cq->buf + at * cq->cqe_bytes + cq->cqe_bytes - 64);
}

static inline void z_make(struct z_cq *z, struct tb *t, struct t_cq *cq, uint32_t format,
			  enum z_reader how)
{
	struct hw_zip *e;
	uint32_t i;

	*z = (struct z_cq){.s = &t->s, .cq = cq, .how = how};
	assert_int_equal(seg_alloc(&t->s, SEG_T_ZIP, T_OWNER, &i), 0);
	e = hw_zip(&t->s, i);
	e->format = format;
	cq->hw->zip = (uint16_t)i;
	assert_int_equal(eng_cq_created(&t->s, cq->cqn), 0);
	/* Each driver fills a new buffer in its own way. */
	for (i = 0; i < 1u << cq->log_size; i++)
		z_at(cq, i)->op_own = how == Z_LINUX ? 0xf1 : how == Z_DPDK ? 0xff : 0x01;
}

static inline bool z_is_sw(const struct z_cq *z, const struct mlx5_cqe64 *c)
{
	uint8_t lap = z->cq->ci >> z->cq->log_size & 1;

	return (c->op_own & 1) == lap && (z->how != Z_DPDK || c->op_own >> 4 != MLX5_CQE_INVALID);
}

/* Releases an entry: does to it and its neighbours what that reader does. */
static inline void z_release(struct z_cq *z, uint32_t start)
{
	uint32_t at = start + z->i;

	if (z->how == Z_LINUX)
		z_at(z->cq, at)->op_own = at >> z->cq->log_size & 1;
	if (z->how == Z_DPDK && z->i)
		z_at(z->cq, at)->op_own = MLX5_CQE_INVALID << 4;
	/* Save the next array before its entry is overwritten. */
	if (z->left > 1 && z->i % 8 == 7)
		memcpy(z->mini, z_at(z->cq, at + 1), 64);
	if (z->how == Z_UCX && z->left > 1)
		z_at(z->cq, at + 1)->op_own = z->title.op_own | 3 << 2;
}

/* Take the next completion, as a program sees it. */
static inline bool z_poll(struct z_cq *z, struct mlx5_cqe64 *out)
{
	uint32_t start = z->cq->ci - z->i;
	const struct hw_zip *e = hw_zip(z->s, z->cq->hw->zip);
	uint16_t counter;

	if (!z->left) {
		const struct mlx5_cqe64 *c = z_at(z->cq, z->cq->ci);

		if (!z_is_sw(z, c))
			return false;
		*out = *c;
		if ((c->op_own >> 2 & 3) != 3)
			goto one;
		z->title = *c;
		z->title.op_own &= (uint8_t) ~(3 << 2);
		z->left = be32toh(c->byte_cnt);
		z->i = 0;
		z->sessions++;
		start = z->cq->ci;
		memcpy(z->mini, z_at(z->cq, start + 1), 64);
	}
	*out = z->title;
	memcpy(&out->byte_cnt, z->mini + z->i % 8 * 8 + 4, 4);
	counter = (uint16_t)(be16toh(z->title.wqe_counter) + z->i);
	out->wqe_counter = htobe16(counter);
	if (e->format == PRM_MINI_CQE_CSUM_STRIDX)
		memcpy(&out->wqe_counter, z->mini + z->i % 8 * 8 + 2, 2);
	z_release(z, start);
	z->left--;
	z->i = z->left ? z->i + 1 : 0;
one:
	z->cq->ci++;
	z->cq->dbr[T_SET_CI] = htobe32(z->cq->ci & 0xffffff);
	return true;
}

/* A sender has left its CPU after n messages to q of a longer burst: their completions wait. */
static inline void z_keep(struct z_cq *z, const struct t_qp *q, uint32_t n, uint32_t first)
{
	struct seg *s = &q->t->s;
	uint32_t cqn = z->cq->cqn;
	struct cq_held h;
	struct eng_cqe c;

	for (uint32_t i = 0; i < n; i++) {
		t_cqe_init(&c, CQE_RESP_SEND, q, first + i);
		LAYOUT_SET(cqe64, c.b, byte_cnt, i + 1);
		assert_int_equal(cq_begin(s, cqn, &c, &h), 0);
		cq_may_wait(&h);
		assert_int_equal(cq_write(s, &h, &c), 0);
		cq_commit(s, &h, false);
	}
}

#endif
