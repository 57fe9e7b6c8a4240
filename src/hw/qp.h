/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs and DCTs. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_QP_H
#define SOFTHCA_HW_QP_H

#include "hw/evtarget.h"
#include "hw/qp_state.h"
#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

enum hw_park { HW_PARK_NO = 0, HW_PARK_RNR, HW_PARK_RETRY, HW_PARK_LOCK };

enum { /* hw_qp.flush_pending: work that somebody could not do for want of a lock */
       HW_PEND_RING = 1, /* a doorbell rang: the record is to be read */
       HW_PEND_FLUSH_SQ = 2,
       HW_PEND_FLUSH_RQ = 4,
       HW_PEND_RUN = 8, /* the queue is to go on, as far as it was rung for */
};

/*
 * The requester's and the responder's moving parts lie in cache lines of their own: they are
 * written by different processes.
 */
struct hw_qp {
	uint32_t gen, flags;
	uint32_t hca, uid;
	_Atomic uint32_t state;               /* [fw]+[sq]+[rq] enum prm_qp_state */
	uint32_t st;                          /* enum prm_st */
	uint32_t pdn, cqn_snd, cqn_rcv, srqn; /* srqn SEG_NONE: own RQ */
	uint32_t qctr;                        /* SEG_T_QCTR: where it counts; 0 nowhere */
	uint32_t xrcd;        /* XRC: requests may name SRQs of this domain; 0: takes none */
	uint32_t block_lb_mc; /* gets nothing of what it sends to groups itself */
	uint32_t shared;      /* an XRC target of verbs: its events go to every hw_share of it */
	uint32_t uar, user_index;
	uint32_t rq_log_size, rq_log_stride; /* WQEs; bytes of one WQE */
	uint32_t sq_log_size;                /* WQEBBs of 64 bytes */
	uint32_t no_rq, no_sq;
	uint32_t buf_umem, dbr_umem; /* umems referred to */
	struct mem_slot mem;         /* of the work queues */
	uint64_t rq_va, sq_va;
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* RCV at +0, SND at +4, both BE32 */
	/* path and transport [fw], valid from RTR/RTS */
	uint32_t port;                         /* SEG_T_PORT index */
	uint32_t dest_qpn, dlid, sl, grh, mtu; /* mtu in bytes */
	uint8_t dgid[16];
	uint32_t sgid_index, pkey_index, qkey;
	uint32_t rre, rwe, rae, atomic_mode;
	uint32_t retry_count, rnr_retry, ack_timeout, min_rnr_nak;
	uint32_t qos_req, qos_resp; /* [fw] queue groups (SEG_T_OBJ); 0: none */
	uint32_t ece;               /* [fw] what was agreed of enhanced connection establishment */

	/* requester [sq] */
	_Alignas(64) struct seg_lock sq_lock;
	_Atomic uint32_t sq_pi;   /* WQEBBs rung for since RST, 16 bits count */
	_Atomic uint32_t sq_ci;   /* ... and consumed */
	_Atomic uint32_t sq_seen; /* the record's 32 bits when it was last looked at (poll mode) */
	uint32_t next_send_psn;
	_Atomic uint32_t park; /* enum hw_park */
	uint32_t retries_left, rnr_left;
	uint32_t cur_wqe;               /* first WQEBB of the WQE in work when parked */
	_Atomic uint64_t park_deadline; /* clock_now_ns() */
	uint32_t sq_out; /* that WQE is executed, only its CQE is owed: 1 done, else 1 + why not */
	uint32_t sq_out_len; /* its byte count */
	uint64_t took; /* that WQE has taken a key out of service: the epoch to wait for; 0: none */
	/*
	 * Odd from the delivery of a message with a receive CQE until our own CQE for it is
	 * written: answers wait, because on the wire the acknowledgement comes first. Ended by the
	 * responder of an answer when it has waited too long.
	 */
	_Atomic uint32_t ack_seq;
	_Atomic uint32_t ud_dest;  /* UD: whom the WQE in work is for */
	_Atomic uint32_t xrc_srqn; /* XRC: the SRQ that the WQE in work names, 0 none yet */
	uint64_t locked_since;     /* HW_PARK_LOCK without a break since then, clock_now_ns() */
	_Atomic uint32_t
		flush_pending; /* HW_PEND_*: the lock's holder, else the device thread, does it */
	uint32_t sq_fail;      /* qp_fail()'s note */

	/* responder [rq] */
	/*
	 * Four words of 8 bytes, each changed in one step from what its writer found: whoever was
	 * stopped with the lock, which was taken over from him, comes too late (resp_lock.c). The
	 * highest bits of msn, rx_srqn (8) and rx_n (16) are tags for that.
	 */
	_Alignas(64) struct seg_lock rq_lock;
	_Atomic uint32_t rq_ci; /* receive WQEs consumed, 16 bits count */
	uint32_t rx_turn;       /* +1 whenever the lock is let go of, or taken over */
	uint32_t next_rcv_psn;
	uint32_t msn;
	uint32_t rx_srq_wqe; /* 1 + index of an SRQ WQE taken for this QP and not yet completed */
	uint32_t rx_srqn;    /* of that SRQ: an XRC QP's requests say which */
	/* WQEs in hw_rq_ahead: [rx_first, rx_first + rx_n) */
	uint32_t rx_first, rx_n;
	uint32_t rx_intent; /* a receive CQE is being written at index rx_cq_pi, or was */
	uint32_t rx_cq_pi;
	uint32_t rx_cqn;          /* where the receive in work completes */
	_Atomic uint32_t rx_ring; /* the seg_ring of the lock's last holder */
	uint32_t comm_est;        /* a message came in RTR: 1 COMM_EST is to be noted, 2 was */
	uint32_t rx_fail;         /* qp_fail()'s note */

	_Alignas(64) struct hw_evtarget async;
	_Atomic uint32_t err_reported; /* LAST_WQE_REACHED: 1 is to be noted, 2 was */
	_Atomic uint32_t key_armed;    /* [rq] DCT: the next wrong access key is an event */
	uint8_t qpc[232]; /* QPC as the commands left it; QUERY_QP patches state and moving fields
			   */
} SEG_ELEM;

/* A million QPs within a GiB of resident segment: the rest of a KiB is their owner words' and
 * umems'. */
_Static_assert(sizeof(struct hw_qp) <= 896, "a QP stays under a KiB");

static inline struct hw_qp *hw_qp(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_QP, i);
}

#endif
