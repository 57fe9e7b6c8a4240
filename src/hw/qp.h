/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs and DCTs. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_QP_H
#define SOFTHCA_HW_QP_H

#include "hw/evtarget.h"
#include "hw/qp_limits.h"
#include "hw/qp_state.h"
#include "segment/lock.h"
#include "segment/mem.h"
#include "segment/seg.h"

enum {                   /* hw_qp.flush_pending: work put off because a lock could not be taken */
       HW_PEND_RING = 1, /* a doorbell rang: the record must be read */
       HW_PEND_FLUSH_SQ = 2,
       HW_PEND_FLUSH_RQ = 4,
       HW_PEND_RUN = 8, /* the queue must continue, up to the last ring */
};

/* hw_qp.fin_owed; PARKED: park is for it, not for a WQE */
enum hw_fin { HW_FIN_NONE, HW_FIN_OWED, HW_FIN_PARKED };

struct hw_qp_path {    /* [fw] */
	uint32_t port; /* SEG_T_PORT index; SEG_NONE: there is no such path */
	uint32_t dlid;
	uint8_t dgid[16];
	uint16_t pkey_index;
	uint8_t sl, grh, sgid_index, ack_timeout;
	uint8_t log_rtm; /* each retry waits 2^log_rtm times as long as the one before */
};

/*
 * Automatic path migration (IBA 17.2.8). The lowest bits are the state, as in IBV_MIG_*; a QP that
 * is reset has the word 0 but for HW_MIG_SEQ. The firmware writes only the path that is not in use,
 * with HW_MIG_HELD.
 */
enum {
	HW_MIG_STATE = 3,
	HW_MIG_MIGRATED = 0,
	HW_MIG_REARM = 1,
	HW_MIG_ARMED = 2,
	HW_MIG_PATH = 4,     /* path[1] is in use */
	HW_MIG_MOVED = 8,    /* after a migration: the path in use is also the alternate one */
	HW_MIG_TRIED = 16,   /* after retries in vain, and no answer has come on the new path */
	HW_MIG_REFUSED = 32, /* PATH_MIG_ERR was raised for a request of the peer */
	/* PATH_MIG is being noted; its event_mark() is in the upper half */
	HW_MIG_NOTING = 64,
	HW_MIG_HELD = 128, /* a command writes the alternate path: the QP does not migrate now */
	HW_MIG_SEQ = 256,  /* counts commands and resets, in the lower half */
	HW_MIG_BUSY = HW_MIG_STATE | HW_MIG_TRIED | HW_MIG_NOTING,
};

#define HW_SQ_RUNG 0x10000u     /* hw_qp.sq_rung: a doorbell has said how far */
#define HW_PSN_OWED 0x80000000u /* hw_qp.psn_owed: a PSN is owed, which may be 0 */
#define HW_PSN_KEPT 0x80000000u /* hw_qp.kept_psn: there is an answer */

/*
 * The changing fields of requester and responder have cache lines of their own, because different
 * processes write them.
 */
struct hw_qp {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint64_t born;                        /* 1, 2...: the age among QPs and keys of the HCA */
	_Atomic uint32_t state;               /* [fw]+[sq]+[rq] enum prm_qp_state */
	uint32_t st;                          /* enum prm_st */
	uint32_t pdn, cqn_snd, cqn_rcv, srqn; /* srqn SEG_NONE: the QP has its own RQ */
	uint32_t qctr;                        /* SEG_T_QCTR index of its counter set; 0: none */
	uint32_t xrcd;        /* XRC: requests may name SRQs of this domain; 0: accepts none */
	uint32_t block_lb_mc; /* does not receive what it sends to multicast groups */
	/* [sq] what a rule of --inject does to a WQE (engine/tx/fault.c) */
	uint32_t fault;
	uint64_t fault_arg;
	uint32_t nth;    /* the how-manieth QP of its process */
	uint32_t shared; /* an XRC target QP of verbs: each hw_share of it gets its events */
	uint32_t uar, user_index;
	/* log2 of the number of WQEs, and of the bytes of one WQE */
	uint32_t rq_log_size, rq_log_stride;
	uint32_t sq_log_size; /* WQEBBs of 64 bytes */
	uint32_t no_rq, no_sq;
	uint32_t buf_umem, dbr_umem; /* umems of the work queues and of the doorbell record */
	struct mem_slot mem;         /* memory of the work queues; its process looks after the QP */
	uint64_t rq_va, sq_va;
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* doorbell record: RCV at +0, SND at +4, both BE32 */
	/* Path and transport [fw], valid from RTR or RTS on. */
	struct hw_qp_path path[2]; /* the one in use: hw_qp_path() */
	_Atomic uint64_t mig;      /* HW_MIG_*: changed by compare-and-swap, without a lock */
	uint32_t dest_qpn, mtu;    /* mtu is in bytes */
	uint32_t qkey;
	uint8_t rre, rwe, rae, atomic_mode;
	uint8_t retry_count, rnr_retry, min_rnr_nak;
	uint8_t port_num; /* of the HCA, as set in INIT; a migration does not change it */
	/* [fw] CQE_FORMAT_DATA_*: how CQEs hold short answers to requests, and short SENDs */
	uint8_t req_data, resp_data;
	uint32_t qos_req, qos_resp; /* [fw] scheduling elements (SEG_T_OBJ); 0: none */
	uint32_t ece;         /* [fw] the agreed options of enhanced connection establishment */
	uint32_t mmo;         /* [fw] the send queue may copy memory (qpc_ext.mmo) */
	uint32_t max_send_wr; /* what the program has asked of verbs, by the driver; 0: unknown */
	_Atomic uint32_t modify_refused; /* a modify_qp() of verbs, by the driver */
	/*
	 * For the words of its end, which a reset precedes in verbs: was it in RTS since it was
	 * made? Else the state that was reset last, with 1 added, and who was connected to it.
	 */
	uint32_t was_rts, reset_from, reset_peer;
	/* For the same: 1 + the QP that was last connected to this number, by its process. */
	_Atomic uint32_t named_by;
	/* [sq], rare: the peer's FIN for a rendezvous must still be received (enum hw_fin) */
	uint32_t fin_owed;
	uint64_t fin_tag;
	uint32_t fin_app_ctx;
	/*
	 * [sq], rare: the peer has this QP's messages, but expects an earlier PSN: that one, with
	 * HW_PSN_OWED; 0: it does not
	 */
	uint32_t psn_owed;

	/* Requester [sq]. */
	_Alignas(64) struct seg_lock sq_lock;
	_Atomic uint32_t sq_pi;   /* WQEBBs posted by doorbells since RST; the low 16 bits count */
	_Atomic uint32_t sq_ci;   /* ... and WQEBBs consumed */
	_Atomic uint32_t sq_rung; /* HW_SQ_RUNG | the last doorbell's own index; 0: polled */
	_Atomic uint64_t err_at;  /* when ERR, or the last completion in it, came: clock_now_ns() */
	_Atomic uint32_t sq_seen; /* the doorbell record's 32 bits as last read (poll mode) */
	uint32_t next_send_psn;
	_Atomic uint32_t park; /* enum hw_park */
	uint32_t retries_left, rnr_left;
	uint32_t cur_wqe;               /* first WQEBB of the WQE that was interrupted by parking */
	_Atomic uint64_t park_deadline; /* clock_now_ns() */
	/* the current WQE is executed and its CQE is owed: 1 success, else 1 + the reason */
	uint32_t sq_out;
	uint32_t sq_out_len; /* byte count of that WQE */
	uint32_t sq_drain;   /* a signature of the current WQE was wrong: SQD follows it */
	/* the current WQE has disabled a key and must wait for this epoch; 0: none */
	uint64_t took;
	/*
	 * Odd from the delivery of a message with a receive CQE until this QP's CQE for it is
	 * written: answers wait, because on the wire the acknowledgement comes first. If an answer
	 * waits too long, its responder ends the wait.
	 */
	_Atomic uint32_t ack_seq;
	_Atomic uint32_t ud_dest; /* UD: destination of the current WQE */
	/* UD: 1 + the attachment at which the current WQE to a group continues; 0: at the first */
	uint32_t mc_at;
	_Atomic uint32_t xrc_srqn; /* XRC: the SRQ that the current WQE names; 0: not known yet */
	uint64_t locked_since; /* in HW_PARK_LOCK without a break since this time, clock_now_ns() */
	uint64_t stopped_since; /* ... and for a stopped holder since this time; 0: for one that
				   runs */
	_Atomic uint64_t late_until; /* the device thread leaves flush_pending until then */
	_Atomic uint32_t
		flush_pending; /* HW_PEND_*: the lock's holder does it, or else the device thread */
	uint32_t sq_fail;      /* qp_fail() notes the failure here */
	/* DCI: streams in error, of which WQEs are flushed; with one more the QP fails */
	uint16_t nerrored;
	uint16_t errored[(1 << HW_LOG_MAX_DCI_ERRORED) - 1];
	uint32_t parked;       /* how often the WQE in hand was parked for the same reason */
	uint32_t adapts_left;  /* RoCE: adaptive retransmissions before the first time-out */
	uint32_t fault_vendor; /* beside fault: ENG_VENDOR_ERR (engine/base/qp.h); 0: the usual one
				*/
	/*
	 * A slow cable: the WQEs before this index were posted by that time; 0: none is known
	 */
	uint32_t cable_pi;
	uint64_t cable_from;

	/* Responder [rq]. */
	/*
	 * Five words of 8 bytes. Each is changed by a compare-and-swap, which fails for a stopped
	 * thread whose lock was taken over (words.h). The highest bits of msn, rx_srqn,
	 * rx_intent (8) and rx_n (16) are tags for that purpose.
	 */
	_Alignas(64) struct seg_lock rq_lock;
	_Atomic uint32_t rq_ci; /* receive WQEs consumed; the low 16 bits count */
	uint32_t rx_turn;       /* incremented when the lock is released or taken over */
	uint32_t next_rcv_psn;
	uint32_t msn;
	uint32_t rx_srq_wqe; /* 1 + index of the SRQ WQE that this QP has taken and not completed */
	uint32_t rx_srqn;    /* the SRQ of rx_srq_wqe: an XRC QP's requests name it */
	/* WQEs in hw_rq_ahead: [rx_first, rx_first + rx_n) */
	uint32_t rx_first, rx_n;
	uint64_t rx_intent;       /* a receive's CQE is being written, or written (words.h) */
	_Atomic uint32_t rx_ring; /* seg_ring of the lock's last holder */
	/* a message arrived in RTR: 1 the event COMM_EST is owed, 2 it was noted */
	uint32_t comm_est;
	uint32_t rx_fail;  /* qp_fail() notes the failure here */
	uint32_t kept_psn; /* of the answer in `kept`, with HW_PSN_KEPT; 0: there is none */

	_Alignas(64) struct hw_evtarget async;
	_Atomic uint32_t err_reported; /* event LAST_WQE_REACHED: 1 it is being noted
					  (event_mark()), 2 it was */
	_Atomic uint32_t key_armed;    /* [rq] DCT: 1 the next wrong access key raises an event
					  (dc_key_event()) */
	/* QPC as commands have set it; QUERY_QP fills in the state and changing fields */
	uint8_t qpc[232];
	/*
	 * [rq] the old value of the last atomic, for its duplicate. One is enough: a requester
	 * waits for each answer.
	 */
	uint64_t kept;
} SEG_ELEM;

/*
 * A million QPs take less than a GiB of resident segment; owner words and umems use the rest of
 * each KiB.
 */
_Static_assert(sizeof(struct hw_qp) <= 896, "a QP stays under a KiB");

static inline struct hw_qp *hw_qp(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_QP, i);
}

static inline const struct hw_qp_path *hw_qp_path(const struct hw_qp *qp)
{
	return &qp->path[!!(atomic_load_explicit(&qp->mig, memory_order_relaxed) & HW_MIG_PATH)];
}

#endif
