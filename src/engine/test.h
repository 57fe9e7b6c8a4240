/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the engine's tests: a segment with two one-port HCAs, and objects made by hand as the
 * firmware makes them. WQEs and CQEs use rdma-core's own structures.
 */
#ifndef SOFTHCA_ENGINE_TEST_H
#define SOFTHCA_ENGINE_TEST_H

#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>

#include "engine/engine.h"
#include "fabric/fabric.h"
#include "hw/qp_state.h"
#include "hw/evq.h"
#include "hw/cq.h"
#include "hw/mkey.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/test_cmocka.h"
#include "wire/prm/mkey.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/wqe.h"

struct eng_cqe;
struct hw_cq;
struct hw_srq;
struct hw_mkey;

#define T_OWNER 3 /* owner word of the test's objects (file index + 1); any value */

struct tb { /* The test bed. */
	struct seg s;
	char dir[64];
	uint32_t port[2];
	uint32_t pd[2];
	int fd[64]; /* read ends of the event queues' FIFOs */
	uint32_t nfd;
	struct t_pages *pages; /* of CQs and SRQs */
};

/* The fake clock. */
extern uint64_t t_now;
uint64_t t_clock(void);

struct t_cq {
	uint32_t cqn, log_size, ci;
	uint32_t cqe_bytes;
	uint8_t *buf;
	__be32 *dbr;
	struct hw_cq *hw;
	uint32_t evq[2]; /* event queues for completions and for async events */
};

struct t_srq {
	uint32_t srqn, head, posted, log_stride;
	uint8_t *buf;
	__be32 *dbr;
	struct hw_srq *hw;
};

/* A QP with its queues, one CQ for both, and a registered buffer. */
struct t_qp {
	struct tb *t;
	uint32_t qpn;
	struct hw_qp *hw;
	struct t_cq cq;
	uint8_t *sq, *rq;
	__be32 *dbr;
	uint32_t sq_pi, rq_pi;
	uint32_t key;
	uint8_t *mem;
	uint32_t evq;
};

enum { T_SET_CI = 0, T_ARM = 1 }; /* Indices of dwords in a CQ's doorbell records. */

#define T_MEM (1u << 18)
#define T_SQ_LOG 6 /* WQEBBs */
#define T_UAR 1    /* the uar_page of all queues */
#define T_RQ_LOG 4
#define T_RQ_STRIDE_LOG 6
#define T_CQ_LOG 5
#define T_MTU 1024

struct tb *tb_create(void);
/* The same on the subnet that fill() makes, with two adapters of one port. */
struct tb *tb_create_on(int (*fill)(struct seg *s));
void tb_destroy(struct tb *t);
int tb_setup(void **state);
int tb_teardown(void **state);

uint32_t t_evq(struct tb *t);
/* Takes the next event and returns its type; -1: none. */
int t_event(struct tb *t, uint32_t evq);
/* Gives the QP a new set of Q counters. */
struct hw_qctr *t_counters(struct tb *t, struct t_qp *q);
/* A CQ's or SRQ's buffer goes before the test bed does. */
void t_unmap(struct tb *t, void *p);
void t_cq_make(struct tb *t, struct t_cq *cq, uint32_t log_size, uint32_t cqe_bytes);
uint32_t t_key(struct tb *t, uint32_t pd, void *mem, uint64_t len, uint32_t access);
/*
 * An empty indirect key (PRM_MKC_*), free, with space for `room` entries, as CREATE_MKEY makes it.
 */
struct hw_mkey *t_indirect_key(struct tb *t, uint32_t pd, uint32_t mode, uint32_t room);
void t_srq_make(struct tb *t, struct t_srq *srq, uint32_t pd);
void t_srq_post(struct t_srq *srq, uint32_t key, void *addr, uint32_t len);
/* Make a QP on port `side`, in RST. srq may be NULL. */
struct t_qp *t_qp_make(struct tb *t, uint32_t side, enum prm_st st, struct t_srq *srq);
void t_qp_free(struct t_qp *q);
/* A QP's fields for tests that need no more of struct hw_qp. */
enum prm_qp_state t_state(const struct t_qp *q);
enum hw_park t_park(const struct t_qp *q);
uint32_t t_hca(const struct t_qp *q);
uint32_t t_pdn(const struct t_qp *q);
uint32_t t_sq_ci(const struct t_qp *q);
uint32_t t_rq_ci(const struct t_qp *q);
/* hw_qp.rx_srq_wqe: 1 + index of the SRQ WQE that the QP has taken. */
uint32_t t_srq_wqe(const struct t_qp *q);
/* hw_qp.took: is a WQE waiting until other threads have dropped a key? */
bool t_waits_for_key(const struct t_qp *q);
struct seg_lock *t_rq_lock(const struct t_qp *q);
/* The CQs of sends and of receives; NULL: stays as it is. */
void t_set_cq(struct t_qp *q, const struct t_cq *sends, const struct t_cq *receives);
void t_set_rnr_timer(struct t_qp *q, uint8_t min_rnr_nak);
void t_set_rnr_retry(struct t_qp *q, uint8_t rnr_retry);
/* The next message has the last one's PSN. */
void t_repeat_psn(struct t_qp *q);
uint32_t t_next_psn(const struct t_qp *q);
void t_set_state(struct t_qp *q, enum prm_qp_state state);
void t_set_mmo(struct t_qp *q, bool on);
void t_set_srq_wqe(struct t_qp *q, const struct t_srq *srq, uint32_t index);
/* Prepares a CQE of the QP: cqe_init() of engine/base/qp.h. */
void t_cqe_init(struct eng_cqe *c, uint32_t opcode, const struct t_qp *q, uint32_t wqe_counter);
/* The QP expects PSNs of `peer`, and sends its own, from a number close to the wrap. */
void t_set_rcv_psn(struct t_qp *q, uint32_t peer_qpn);
void t_set_send_psn(struct t_qp *q);
void t_set_dest(struct t_qp *q, uint32_t peer_qpn);
/* Does `to` expect the PSN that `from` sends next? */
bool t_psns_agree(const struct t_qp *from, const struct t_qp *to);
/* Bring both through RTR to RTS, connected to each other. */
void t_connect(struct t_qp *a, struct t_qp *b);
void t_rts(struct t_qp *q, struct t_qp *peer);

struct t_sge {
	uint32_t key;
	uint64_t addr;
	uint32_t len;
};

struct t_wr {
	uint8_t opcode;
	uint8_t fm_ce_se; /* MLX5_WQE_CTRL_* */
	uint32_t imm;     /* in host byte order */
	uint64_t raddr;
	uint32_t rkey;
	uint32_t xrc_srqn; /* for XRC QPs */
	const struct mlx5_wqe_av *av;
	uint8_t opmod;
	const void *operands; /* operands of an atomic, after the remote address */
	uint32_t operands_len;
	const void *raw; /* if set: all bytes after the control segment */
	uint32_t raw_len;
	const struct t_sge *sge;
	uint32_t nsge;
	const void *inl;
	uint32_t inl_len;
};

/* Write the WQE and the doorbell record; returns the WQE's index. Rings unless `quiet`. */
uint32_t t_post(struct t_qp *q, const struct t_wr *wr);
uint32_t t_post_quiet(struct t_qp *q, const struct t_wr *wr);
void t_ring(struct t_qp *q);
void t_recv(struct t_qp *q, const struct t_sge *sge, uint32_t nsge);
/* Post one receive of `len` bytes at q->mem + off. */
void t_recv_at(struct t_qp *q, uint32_t off, uint32_t len);
/* Take the next CQE; NULL: none. */
struct mlx5_cqe64 *t_poll(struct t_cq *cq);
void t_assert_empty(struct t_cq *cq);
/* Expect an error CQE. */
void t_expect_error(struct t_qp *q, uint8_t opcode, uint8_t syndrome, uint32_t counter);
/* Expect a good requester CQE. */
void t_expect_done(struct t_qp *q, uint8_t wqe_opcode, uint32_t counter);
/* Expect the CQE of a received message. */
struct mlx5_cqe64 *t_received(struct t_qp *q, uint8_t opcode, uint32_t len, uint32_t counter);
struct t_sge t_own(struct t_qp *q, uint32_t off, uint32_t len);
/* Posts a WRITE of `sge`, signaled, to the memory of `to` from `off` on; returns its index. */
uint32_t t_write(struct t_qp *q, const struct t_qp *to, uint32_t off, struct t_sge sge);
/* The same with a READ of that memory into `sge`. */
uint32_t t_read(struct t_qp *q, const struct t_qp *from, uint32_t off, struct t_sge sge);

#define T_SIG MLX5_WQE_CTRL_CQ_UPDATE
#define T_SOL MLX5_WQE_CTRL_SOLICITED

/* Two RC QPs on two HCAs, connected; a's memory has a pattern, b's is zero. */
struct t_pair {
	struct tb *t;
	struct t_qp *a, *b;
};
int t_pair_setup(void **state);
int t_pair_teardown(void **state);

#endif
