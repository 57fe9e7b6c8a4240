/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hardware state in the segment: what a card keeps in its own memory. Made and changed by the
 * firmware (src/fw), run by the engine (src/engine), read by everybody. Every element starts with
 * gen, flags (see seg_alloc); what commands make goes on as struct fw_elem (fw/kinds.h) says.
 * SEG_ELEM rounds their sizes to 64.
 *
 * Who may write what: fields marked [fw] change under the HCA's lock together with the object's own
 * locks; [sq]/[rq]/[cq] under that lock by the engine; unmarked are set at creation.
 */
#ifndef SOFTHCA_SEGMENT_HW_H
#define SOFTHCA_SEGMENT_HW_H

#include "segment/seg.h"
#include "segment/lock.h"
#include "segment/mem.h"

#define HW_MAX_PORTS 4    /* per HCA */
#define HW_GIDS 8         /* per port: index 0 is the port GUID's */
#define HW_PKEYS 16       /* per port: index 0 is 0xffff */
#define HW_COMP_VECTORS 8 /* per HCA, an EQ each */

enum hw_model { HW_CX6 = 0, HW_CX7 = 1 };

/*
 * `flags` of what firmware commands make: READY is its maker's last store. An element without it is
 * live but half made (its maker may be dead): invisible to commands, freed when its file goes.
 * ZOMBIE: its file is closed, but a stopped process still holds a lock of it; owned by the device.
 */
enum { HW_F_READY = 1, HW_F_ZOMBIE = 2, HW_F_RESERVED = 4 /* a QPN that was taken, no QP */ };

/* Made whole, and its file is not closed. */
static inline bool hw_in_service(const uint32_t *flags)
{
	return (__atomic_load_n(flags, __ATOMIC_ACQUIRE) & (HW_F_READY | HW_F_ZOMBIE)) ==
	       HW_F_READY;
}

struct hw_host {
	uint32_t gen, flags;
	char name[32];
	uint32_t nhcas;
	uint32_t hca[16]; /* SEG_T_HCA indices, in device order: mlx5_0, mlx5_1... */
} SEG_ELEM;

struct hw_hca {
	uint32_t gen, flags;
	struct seg_lock lock; /* control plane of this HCA */
	uint32_t model;       /* enum hw_model */
	uint32_t host;
	uint32_t dev_index; /* N of mlx5_N and uverbsN on its host */
	uint32_t nports;
	uint32_t port[HW_MAX_PORTS];        /* SEG_T_PORT indices */
	uint64_t node_guid, sys_image_guid; /* host order */
	uint32_t node;                      /* SEG_T_NODE: what the subnet sees of it */
	uint32_t eqn[HW_COMP_VECTORS];      /* the HCA's own numbers (1 + vector), not SEG_T_EQ's */
	uint32_t vhca_id;
	uint64_t clock_cycles,
		clock_nsec;        /* the same instant by completion stamps and by wall clock */
	_Atomic uint32_t next_uid; /* DEVX uids */
	_Atomic uint32_t mkey_var; /* low byte of the next MR key: the driver's choice */
	_Atomic uint32_t made[HW_KIND_COUNT]; /* so many of each kind (fw/limits.c) */
	_Atomic uint32_t zombies; /* objects of closed files that a stopped process still holds */
	/*
	 * Finding, joining and leaving what several open files share (hw_share); taken before
	 * `lock`. Nothing to repair: each step is one store.
	 */
	struct seg_lock share_lock;
	struct seg_lock reap_lock; /* freeing zombies: only tried, never waited for */
} SEG_ELEM;

/* Of hw_port.speed: what is no speed of PortInfo's older fields, and the highest. */
enum { HW_SPEED_FDR10 = 8, HW_SPEED_NDR = 128 };
/* IBTA port states. */
enum { HW_PORT_DOWN = 1, HW_PORT_INIT = 2, HW_PORT_ARMED = 3, HW_PORT_ACTIVE = 4 };
enum { HW_PHYS_SLEEP = 1, HW_PHYS_POLLING = 2, HW_PHYS_DISABLED = 3, HW_PHYS_LINKUP = 5 };

/* What a port counts (IBA 16.1.3.5, 16.1.4.11). What is sent, what is received and what seldom
 * happens lie in cache lines of their own: they are written by different processes. */
enum hw_ctr {
	HW_CTR_XMIT_DATA, /* octets / 4 */
	HW_CTR_XMIT_PKTS,
	HW_CTR_XMIT_MCAST, /* of those, multicast */
	HW_CTR_XMIT_DISCARDS,
	HW_CTR_XMIT_CONSTRAINT,
	HW_CTR_XMIT_WAIT,     /* ticks; nothing ever waits for credits */
	HW_CTR_XMIT_INACTIVE, /* of the discards: the port could not send */
	HW_CTR_XMIT_MTU,      /* ... packets that were too large */
	HW_CTR_RCV_DATA = 8,
	HW_CTR_RCV_PKTS,
	HW_CTR_RCV_MCAST,
	HW_CTR_RCV_ERRORS,
	HW_CTR_RCV_REMOTE_PHYS,
	HW_CTR_RCV_RELAY,
	HW_CTR_RCV_CONSTRAINT,
	HW_CTR_RCV_LOOPING, /* of the relay errors: back to where it came from */
	HW_CTR_SYMBOL = 16,
	HW_CTR_RECOVERY,
	HW_CTR_DOWNED,
	HW_CTR_INTEGRITY,
	HW_CTR_OVERRUN,
	HW_CTR_VL15_DROPPED,
	HW_CTR_QP1_DROPPED,
	HW_CTR_MKEY_VIOL, /* PortInfo's, not the PMA's */
	HW_CTR_PKEY_VIOL,
	HW_CTR_QKEY_VIOL,
	HW_CTR_LOCAL_PHYS, /* these four only when they are set: it does not happen here */
	HW_CTR_VL_MAPPING,
	HW_CTR_SW_LIFETIME,
	HW_CTR_HOQ_LIFETIME,
	HW_CTR_STORED,
	HW_CTR_RCV_MAPPING = HW_CTR_STORED, /* relay errors that are no loop */
	HW_CTR_XMIT_UCAST,                  /* what is not multicast */
	HW_CTR_RCV_UCAST,
	HW_CTR_COUNT
};

/* A port of an adapter, or of a switch: then `hca` is SEG_NONE, and port 0 is its own. */
struct hw_port {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t num;  /* from 1; of a switch from 0 */
	uint32_t node; /* SEG_T_NODE */
	_Atomic uint32_t
		peer; /* SEG_T_PORT at the other end of the cable, SEG_NONE: there is none */
	_Atomic uint32_t state;
	_Atomic uint32_t phys_state;
	_Atomic uint32_t lid, sm_lid; /* decimal in print */
	uint32_t lmc, sm_sl;
	uint32_t cap_mask;
	_Atomic uint32_t issm; /* 1 + the SEG_T_FILE that has issmN open; futex word of who waits */
	_Atomic uint32_t issm_owed; /* what fab_issm_set() could not do yet: 1 off, 2 on */
	uint32_t width, speed; /* IB_WIDTH_* / IB_SPEED_* codes of PortInfo: 2 = 4x; 32 = EDR, 64 =
				  HDR, 128 = NDR */
	uint32_t active_mtu, max_mtu; /* IBV_MTU codes */
	uint64_t guid, gid_prefix;    /* host order */
	uint8_t gid[HW_GIDS][16];     /* index 0 = prefix:guid, rest zero */
	uint16_t pkey[HW_PKEYS];
	uint32_t enforce;           /* switch ports: PartitionEnforcement, 1 inbound, 2 outbound */
	uint32_t qctr;              /* SEG_T_QCTR: the set of QPs made by verbs */
	_Atomic uint64_t own_agent; /* MAD_REF() of the fabric's own SEG_T_AGENT (rmpp_send.c) */
	/* softhca console's Error: percent of the MADs that arrive here to be lost, of this
	 * attribute or (0) any; what was lost is kept in percents, so that it comes out even. */
	_Atomic uint32_t err_rate, err_attr, err_sum;
	/*
	 * What PortInfo says besides, set under the node's lock. Keys and times are those of a port
	 * with a LID: of a switch its port 0.
	 */
	uint64_t mkey;
	_Atomic uint64_t mkey_until; /* its lease runs out, clock_now_ns(); 0: it does not run */
	uint16_t mkey_lease;         /* seconds; 0: it never runs out */
	uint8_t mkey_protect;
	uint8_t width_sup, width_en; /* PortInfo's bits */
	uint8_t speed_sup, speed_en; /* bits as `speed` */
	uint8_t down_default;        /* physical state that a lost link goes to */
	uint8_t vl_cap, op_vls, vl_high_limit, vl_stall, hoq_life;
	uint8_t filter_raw, phys_errors, overrun_errors, init_type;
	uint8_t subnet_timeout, trap_suppr, led;
	uint32_t sl2vl, vl_arb; /* SEG_T_SL2VL, SEG_T_VLARB; 0: as in the beginning */
} SEG_ELEM;

struct hw_eq {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t vector;
	uint32_t uar, log_size;
} SEG_ELEM;

/* VAR: doorbells of virtual queues. No queue of this HCA rings there. */
enum hw_uar_type { HW_UAR_BF = 0, HW_UAR_NC = 1, HW_UAR_VAR = 2 };

struct hw_uar {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t type;         /* enum hw_uar_type: op_mod of ALLOC_UAR */
	_Atomic uint32_t refs; /* QPs, CQs, EQs that ring there */
} SEG_ELEM;

struct hw_pd {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t uid;
	_Atomic uint32_t
		refs; /* QPs, SRQs, mkeys in it: DEALLOC_PD answers BAD_RES_STATE while > 0 */
} SEG_ELEM;

/* A range of a process's memory that the device may use for queues, records or, through an mkey,
 * data. */
struct hw_umem {
	uint32_t gen, flags;
	uint32_t hca, uid;
	struct mem_slot mem;
	uint64_t va, len;
	_Atomic uint32_t refs;
} SEG_ELEM;

enum { /* hw_mkey.access */
       HW_ACC_LOCAL_READ = 1,
       HW_ACC_LOCAL_WRITE = 2,
       HW_ACC_REMOTE_READ = 4,
       HW_ACC_REMOTE_WRITE = 8,
       HW_ACC_ATOMIC = 16,
};

struct hw_mkey {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t key; /* idx << 8 | variant: lkey and rkey */
	uint32_t pdn;
	uint32_t access; /* HW_ACC_* */
	uint32_t mode;   /* PRM access mode: 0 PA, 1 MTT, 2 KLM, 3 KSM */
	uint64_t start;  /* I/O virtual address of the first byte */
	uint64_t len;    /* bytes; length64: the whole address space */
	uint32_t length64;
	_Atomic uint32_t valid; /* 0: being destroyed or free; then eng_mkey_quiesce() */
	uint32_t qpn;           /* 0xffffff: any */
	struct mem_slot mem;
	uint64_t va;     /* of `start` in that slot's address space */
	uint32_t umem;   /* whose pages it maps (it holds a reference); 0 none */
	uint8_t mkc[64]; /* as QUERY_MKEY returns it */
	/* Keys over other keys, and keys that UMRs change. */
	uint32_t slow;         /* one of them */
	_Atomic uint32_t free; /* mkc.free: not usable until a UMR */
	uint32_t umr_en, en_rinval;
	uint32_t log_entity; /* KSM */
	uint32_t klm;        /* SEG_T_KLM index of the list's first block; 0 none */
	uint32_t klm_max;    /* entries that fit its blocks */
	_Atomic uint32_t klm_n;
} SEG_ELEM;

/* Keys that are nobody's: accesses to the null key fail; what is written to the other is gone, and
 * zeroes are read from it. */
#define HW_KEY_NULL 0x200
#define HW_KEY_DUMP_FILL 0x300
#define HW_FIRST_MKEY 0x10

#define HW_MAX_INDIRECTION 4
enum { HW_MODE_PA = 0, HW_MODE_MTT = 1, HW_MODE_KLM = 2, HW_MODE_KSM = 3 }; /* hw_mkey.mode */

/*
 * A part of an indirect key's list, with its entries as they were given (wqe_klm or, first of a
 * strided list, wqe_repeat and wqe_repeat_ent). The first block knows the others. Owned by the file
 * until its key knows it, then by the device: it goes with the key.
 */
#define HW_KLM_BYTES 16
#define HW_KLM_PER_BLOCK 60
#define HW_KLM_MORE 11
struct hw_klm {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t mkey, mkey_gen; /* whose it is */
	uint32_t more[HW_KLM_MORE];
	uint8_t entry[HW_KLM_PER_BLOCK][HW_KLM_BYTES];
} SEG_ELEM;

struct hw_evtarget {          /* where an object's events go; set by uverbs right after creation */
	_Atomic uint32_t evq; /* SEG_T_EVQ index, SEG_NONE nobody */
	uint32_t evq_gen;
	uint64_t cookie;           /* user_handle */
	_Atomic uint32_t reported; /* events of it that the program has read */
	/*
	 * Async events (1 << type) that have happened and are not in their queue yet; DEVX's, that
	 * not all subscribers have. Noted before anything shows that they happened; cleared by the
	 * queue when it has the record (evq_push_owed()). Whoever raises them died, or could not
	 * have the queue's lock: the device thread of the object's registrant does it.
	 */
	_Atomic uint32_t owed, devx_owed;
	_Atomic uint64_t paying; /* the record that pays one of them (evq_debt.c) */
	_Atomic uint64_t seen;   /* as the device thread saw it last */
};

enum { HW_CQ_ERR_OVERRUN = 1, HW_CQ_ERR_BUFFER = 2 };

/*
 * hw_cq.armed. One word, so that the end of an arm and the event that is owed for it are one store:
 * there is an event for each arm that ended, and one only. HW_CQ_ARM_SEQ counts arms that
 * ended.
 */
enum {
	HW_CQ_ANY = 1,       /* armed for any completion */
	HW_CQ_SOLICITED = 2, /* for a solicited one or an error */
	HW_CQ_ARMED = 3,
	HW_CQ_OWES = 4,      /* a record in the completion channel's queue */
	HW_CQ_OWES_DEVX = 8, /* an event of DEVX subscribers */
	HW_CQ_ARM_SEQ = 16,
};

struct hw_cq {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t eqn;
	uint32_t uar;
	_Atomic uint32_t refs;       /* QPs and SRQs using it */
	uint32_t oi, cc;             /* overrun ignore, collapsed (from CQC) */
	uint32_t buf_umem, dbr_umem; /* umems referred to */
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* SET_CI at +0, ARM at +4, both BE32 */
	/* what a completion touches: one cache line and a bit */
	_Alignas(64) struct seg_lock lock;
	uint32_t log_size;   /* CQEs = 1 << log_size */
	uint32_t cqe_bytes;  /* 64 or 128 */
	struct mem_slot mem; /* of the buffer */
	uint64_t va;
	_Atomic uint32_t
		ring;        /* [cq] the seg_ring of its last holder, who writes CQEs by its gate */
	_Atomic uint32_t pi; /* [cq] next CQE, free running */
	uint32_t ci_cached;  /* [cq] last SET_CI seen: re-read only when the queue looks full */
	_Atomic uint32_t state; /* 0 OK, else HW_CQ_ERR_* */
	_Atomic uint32_t armed; /* HW_CQ_*; armed by [cq] */
	uint32_t arm_sn;        /* [cq] */
	uint32_t arm_ci;
	_Atomic uint32_t told;     /* CQEs below this index have had their event */
	_Atomic uint32_t sol_pi;   /* 1 + index of the last solicited or error CQE */
	_Atomic uint32_t arm_seen; /* the ARM record as last looked at (poll mode) */
	_Alignas(64) struct hw_evtarget comp, async;
	uint8_t cqc[64]; /* CQC as created/modified; QUERY_CQ patches the moving fields */
} SEG_ELEM;

/* Which command made a shared receive queue: each has numbers that the others do not know. */
enum hw_srq_type { HW_SRQ_RMP = 0, HW_SRQ_XRC = 1, HW_SRQ_XRQ = 2, HW_SRQ_SRQ = 3 };

#define HW_LWM_FIRED UINT32_C(0x80000000)

struct hw_srq {
	uint32_t gen, flags;
	uint32_t hca, uid;
	struct seg_lock lock;
	uint32_t pdn;
	uint32_t cqn, xrcd; /* XRC: where its receives complete, its domain; else SEG_NONE, 0 */
	uint32_t user_index;
	uint32_t type;                 /* enum hw_srq_type */
	uint32_t log_size, log_stride; /* WQEs = 1 << log_size; bytes = 1 << log_stride */
	uint32_t wq_type;              /* PRM wq_type: 0 linked list, 1 cyclic */
	struct mem_slot mem;
	uint64_t va;
	struct mem_slot dbr_mem;
	uint64_t dbr_va; /* one BE32 counter */
	/*
	 * One 8-byte word, changed by compare-and-swap: whoever was stopped with the lock, which
	 * was taken over from him, comes too late with his.
	 */
	_Alignas(8) uint16_t head; /* [rq] index of the next WQE to consume (linked list) */
	uint16_t turn;             /* [rq] +1 when the lock is taken over */
	uint32_t consumed; /* [rq] WQEs taken so far (free running, compare with the DBR counter's
			      16 bits) */
	uint32_t dbr_seen; /* [rq] the counter when last looked at: again when it is used up */
	_Atomic uint32_t lwm; /* limit; 0 disarmed; with HW_LWM_FIRED the event is to be noted */
	uint32_t buf_umem, dbr_umem; /* umems referred to */
	_Atomic uint32_t state;      /* 0 good, 1 error */
	_Atomic uint32_t refs;
	struct hw_evtarget async;
	uint8_t ctx[128]; /* SRQC or RMPC as created, for QUERY */
} SEG_ELEM;

enum hw_qp_state { /* PRM qpc.state */
		   HW_QPS_RST = 0,
		   HW_QPS_INIT = 1,
		   HW_QPS_RTR = 2,
		   HW_QPS_RTS = 3,
		   HW_QPS_SQER = 4,
		   HW_QPS_SQD = 5,
		   HW_QPS_ERR = 6,
};

enum hw_qp_st {
	HW_ST_RC = 0,
	HW_ST_UC = 1,
	HW_ST_UD = 2,
	HW_ST_XRC = 3,
	HW_ST_DCI = 5,
	HW_ST_QP0 = 7,
	HW_ST_QP1 = 8,
	HW_ST_DCT = 0x1f, /* no value of qpc.st: made by CREATE_DCT */
};

enum hw_park { HW_PARK_NO = 0, HW_PARK_RNR, HW_PARK_RETRY, HW_PARK_LOCK };

enum { /* hw_qp.flush_pending: work that somebody could not do for want of a lock */
       HW_PEND_RING = 1, /* a doorbell rang: the record is to be read */
       HW_PEND_FLUSH_SQ = 2,
       HW_PEND_FLUSH_RQ = 4,
       HW_PEND_RUN = 8, /* the queue is to go on, as far as it was rung for */
};

#define HW_RX_AHEAD 512 /* bytes; also the largest receive WQE */

/*
 * The requester's and the responder's moving parts lie in cache lines of their own: they are
 * written by different processes.
 */
struct hw_qp {
	uint32_t gen, flags;
	uint32_t hca, uid;
	_Atomic uint32_t state;               /* [fw]+[sq]+[rq] enum hw_qp_state */
	uint32_t st;                          /* enum hw_qp_st */
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

/*
 * [rq] WQEs fetched ahead from a receive queue in another process. Beside the QPs, not in them: of
 * a million QPs few receive from other processes, and only theirs cost memory.
 */
struct hw_rq_ahead {
	uint8_t wqe[HW_RX_AHEAD];
} SEG_ELEM;

/* A million QPs within a GiB of resident segment: the rest of a KiB is their owner words' and
 * umems'. */
_Static_assert(sizeof(struct hw_qp) <= 896, "a QP stays under a KiB");

/* What only commands work on: no queue of it is run by the engine. All kinds share one space of
 * numbers. */
enum hw_obj_kind {
	HW_OBJ_TD = 1, /* transport domain */
	HW_OBJ_RQ,
	HW_OBJ_SQ,
	HW_OBJ_RQT,
	HW_OBJ_TIR,
	HW_OBJ_TIS,
	HW_OBJ_SCHED, /* scheduling element; `type` is element_type */
	HW_OBJ_AV_QP_MAPPING,
	HW_OBJ_PSV,
	HW_OBJ_RATE, /* a share of a rate limit; `type` is its index */
};

#define HW_OBJ_REFS 8  /* objects that one refers to, but for an RQT's RQs */
#define HW_OBJ_CTX 256 /* bytes of context */
#define HW_RQT_RQS 128 /* RQs of an RQT */

struct hw_objref {
	uint32_t table; /* enum seg_table_id; 0: none */
	uint32_t idx;
};

struct hw_obj {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t kind; /* enum hw_obj_kind */
	_Atomic uint32_t refs;
	_Atomic uint32_t state; /* [fw] RQ and SQ: PRM state 0 RST, 1 RDY, 3 ERR */
	uint32_t type;          /* what the kind says */
	struct hw_objref ref[HW_OBJ_REFS];
	struct hw_evtarget async; /* RQ: where its events go */
	uint8_t ctx[HW_OBJ_CTX];  /* [fw] the context as commands left it, for QUERY */
	uint32_t nrqs, max_rqs;   /* [fw] RQT */
	uint32_t rqn[HW_RQT_RQS]; /* [fw] RQT: holds a reference to each */
} SEG_ELEM;

struct hw_xrcd {
	uint32_t gen, flags;
	uint32_t hca, uid;
	_Atomic uint32_t refs; /* SRQs and QPs in it */
	/*
	 * The file that stands for it, of a domain that open files share: device, inode, and the
	 * inode's birth, as a number may come back when the file is gone. `keyed` is stored last.
	 */
	uint32_t dev_major, dev_minor;
	uint64_t ino, born;
	_Atomic uint32_t keyed;
} SEG_ELEM;

/*
 * An open file's part in something that outlives its maker as long as anybody shares it (verbs' XRC
 * domains by inode, XRC target QPs): the element belongs to one of the sharers, and passes to
 * another when that one goes. Made and ended under hw_hca.share_lock.
 */
struct hw_share {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t table, idx;      /* SEG_T_XRCD or SEG_T_QP */
	uint32_t slot;            /* whose device thread pays the events that are owed */
	struct hw_evtarget async; /* of a QP */
} SEG_ELEM;

enum hw_qc { /* what a set of Q counters counts; names are query_q_counter_out's */
	     HW_QC_RX_WRITE_REQUESTS,
	     HW_QC_RX_READ_REQUESTS,
	     HW_QC_RX_ATOMIC_REQUESTS,
	     HW_QC_RX_DCT_CONNECT,
	     HW_QC_OUT_OF_BUFFER,
	     HW_QC_OUT_OF_SEQUENCE,
	     HW_QC_DUPLICATE_REQUEST,
	     HW_QC_RNR_NAK_RETRY_ERR,
	     HW_QC_PACKET_SEQ_ERR,
	     HW_QC_IMPLIED_NAK_SEQ_ERR,
	     HW_QC_LOCAL_ACK_TIMEOUT_ERR,
	     HW_QC_RESP_LOCAL_LENGTH_ERROR,
	     HW_QC_REQ_CQE_ERROR,
	     HW_QC_RESP_CQE_ERROR,
	     HW_QC_REQ_CQE_FLUSH_ERROR,
	     HW_QC_RESP_CQE_FLUSH_ERROR,
	     HW_QC_REQ_REMOTE_INVALID_REQUEST,
	     HW_QC_RESP_REMOTE_ACCESS_ERRORS,
	     HW_QC_REQ_REMOTE_ACCESS_ERRORS,
	     HW_QC_COUNT
};

struct hw_qctr {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t id;           /* counter_set_id: 1 to 255 on its HCA */
	_Atomic uint32_t refs; /* QPs that count there */
	_Atomic uint32_t n[HW_QC_COUNT];
} SEG_ELEM;

struct hw_mcg { /* one QP in one group */
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t qpn;
	uint32_t times; /* attached so often */
	uint8_t gid[16];
} SEG_ELEM;

static inline struct hw_hca *hw_hca(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_HCA, i);
}
static inline struct hw_port *hw_port(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_PORT, i);
}
static inline struct hw_uar *hw_uar(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_UAR, i);
}
static inline struct hw_pd *hw_pd(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_PD, i);
}
static inline struct hw_umem *hw_umem(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_UMEM, i);
}
static inline struct hw_mkey *hw_mkey(const struct seg *s, uint32_t key)
{
	return seg_live(s, SEG_T_MKEY, key >> 8);
}
/* Entry i of a key's list, or NULL. */
static inline uint8_t *hw_klm_entry(const struct seg *s, const struct hw_mkey *mk, uint32_t i)
{
	struct hw_klm *b = mk->klm ? seg_at(s, SEG_T_KLM, mk->klm) : NULL;
	uint32_t n = i / HW_KLM_PER_BLOCK;

	if (b && n)
		b = n <= HW_KLM_MORE && b->more[n - 1] ? seg_at(s, SEG_T_KLM, b->more[n - 1])
						       : NULL;
	return b ? b->entry[i % HW_KLM_PER_BLOCK] : NULL;
}
static inline struct hw_cq *hw_cq(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_CQ, i);
}
static inline struct hw_srq *hw_srq(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_SRQ, i);
}
static inline struct hw_qp *hw_qp(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_QP, i);
}
static inline struct hw_obj *hw_obj(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_OBJ, i);
}
static inline struct hw_xrcd *hw_xrcd(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_XRCD, i);
}
static inline struct hw_qctr *hw_qctr(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_QCTR, i);
}

#endif
