/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The data path: WQE -> memory -> CQE, run to completion by the thread that rings (DESIGN.md 1).
 *
 * Context: any thread, also inside the SIGSEGV handler, on the engine's stack (64 KiB;
 * -Wstack-usage checks the frames). The caller has blocked all asynchronous signals. No malloc, no
 * stdio, only initial-exec TLS, and no blocking other than seg_lock() with its deadlines.
 */
#ifndef SOFTHCA_ENGINE_ENGINE_H
#define SOFTHCA_ENGINE_ENGINE_H

#include "hw/qp_state.h"
#include "segment/mem.h"
#include "segment/seg.h"

struct hw_cq;
struct hw_qp;
struct hw_srq;
struct hw_mkey;

/* The engine's clock: clock_now_ns(), or a test's function. */
extern uint64_t (*eng_clock)(void);

/*
 * A store of 8 bytes to byte `offset` of UAR page `uar`; `be` is the raw qword, big-endian as in
 * memory:
 *
 * - 0x20: CQ doorbell {arm word, cqn}: eng_arm_cq;
 * - 0x800, 0x900 ... 0xf00: send doorbell, the first qword of a control segment: eng_ring_sq.
 *
 * The value names the queue and says how far to go. Unknown numbers, and queues with another
 * uar_page, are ignored as on a card (traced).
 */
void eng_uar_write(struct seg *s, uint32_t uar, uint32_t offset, uint64_t be);

/*
 * The doorbell of a QP: run its send queue as far as eng_uar_write() was told, or its doorbell
 * record says where doorbells are polled, and the peer allows.
 */
void eng_ring_sq(struct seg *s, uint32_t qpn);
/*
 * Arm a CQ from its ARM doorbell record (`word`: the hint in the store). Fires at once if there are
 * completions.
 */
void eng_arm_cq(struct seg *s, uint32_t cqn, uint32_t word);

/*
 * Resume parked QPs and CQs of this memory slot that are due, and finish pending flushes. Returns
 * the next deadline (clock_now_ns) or UINT64_MAX. Only the device thread calls it.
 */
uint64_t eng_run_due(struct seg *s);
/* How long the device thread sleeps at most after it has found seg_proc.look set. */
#define ENG_LOOK_NS NSEC_PER_MSEC
/* Poll mode: read the doorbell records of all QPs and CQs of this process; true: there was work. */
bool eng_poll_doorbells(struct seg *s);

/*
 * Change a QP's state. The firmware calls it under the HCA's lock, with all fields filled in that
 * the state needs. Takes the queue locks, stores qp->state and does what the state means: ERR
 * flushes (each posted send and receive WQE gets WR_FLUSH_ERR; with an SRQ: event
 * LAST_WQE_REACHED), RST resets progress, RTS executes what was rung for. 0; -ETIMEDOUT nothing
 * changed (never for ERR); -EINVAL no such QP, or an error came first and stays.
 */
int eng_qp_set_state(struct seg *s, uint32_t qpn, enum prm_qp_state to);
/* Makes a DCT refuse further requests and raises its event. Both happen even if the caller dies. */
int eng_dct_drain(struct seg *s, uint32_t dctn);
/* Executes the WQEs of a stream again. -ENOENT: it is not in error; -EINVAL, -ETIMEDOUT. */
int eng_dci_stream_reset(struct seg *s, uint32_t qpn, uint16_t id);
/*
 * Automatic path migration, for commands, under the HCA's lock. Between _hold() and _end() the QP
 * does not migrate. _hold() gives the path that the QP does not use the values of the alternate
 * path that QUERY_QP shows, and returns it, with its copy in the QPC (*ads); the caller may write
 * both. _end(): the QP goes on in state `to` (HW_MIG_ARMED...); a change from armed to migrated is
 * a migration.
 */
#define ENG_MIG_KEEP UINT32_MAX /* the state that it has */
struct hw_qp_path *eng_mig_hold(struct seg *s, struct hw_qp *qp, uint32_t qpn, void **ads);
void eng_mig_end(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t to);
/* Called before a new QP or SRQ becomes visible. */
void eng_qp_created(struct hw_qp *qp);
void eng_srq_created(struct hw_srq *srq);
/*
 * A QP without queues, shared by several open files, has a new owner: that process now does what
 * was put off because of locks, and watches for later posts.
 */
void eng_qp_adopt(struct seg *s, uint32_t qpn, uint32_t slot);
/*
 * Called before an element is freed: wait (SEG_LOCK_CTRL_NS) until no thread of any process works
 * on it. Then the QP is in RST and the CQ has no event targets. Clear the key's `valid` before the
 * call; SEG_NONE: all keys. 0 or -ETIMEDOUT.
 */
int eng_qp_quiesce(struct seg *s, uint32_t qpn);
/*
 * The process ends, with its memory: tells which of its send queues are full. Nobody can when their
 * file is reaped.
 */
void eng_process_ends(struct seg *s);
/* Waits, not long, for the thread that is failing the QP: its PSNs follow the event. */
void eng_qp_settle(struct seg *s, uint32_t qpn);
int eng_cq_quiesce(struct seg *s, uint32_t cqn);
/* Only for XRC SRQs, which requests find by number; clear HW_F_READY before the call. */
int eng_srq_quiesce(struct seg *s, uint32_t srqn);
int eng_mkey_quiesce(struct seg *s, uint32_t mkey_idx);
/* eng_mkey_quiesce() for all keys; waits at most `ns`. */
int eng_mkey_quiesce_all(struct seg *s, uint64_t ns);
/* A PSV; clear HW_F_READY before the call. */
int eng_psv_quiesce(struct seg *s, uint32_t idx);
/*
 * Called when a key has no users any more, before it is freed or gets other memory. The process
 * that owns its adopted pages gives them back; that may be another one.
 */
void eng_adopt_key_ended(struct seg *s, uint32_t mkey_idx);
/* The same before a umem, which no queue uses any more, is freed. */
void eng_adopt_umem_ended(struct seg *s, uint32_t idx);
/*
 * Around a system call of the program on the memory of the process with that pid: its pages are not
 * moved meanwhile. 1: begun; 0: they never are, and there is nothing to end; -EAGAIN: they are
 * being moved now. Signals are blocked.
 */
struct eng_copy {
	struct seg_proc *p;
	struct seg_ring *ring, *outer;
};
int eng_copy_begin(struct seg *s, uint32_t pid, struct eng_copy *c);
void eng_copy_end(struct eng_copy *c);
/*
 * For the device thread: adopts pages of this process for which others have asked. Returns when to
 * call it again.
 */
uint64_t eng_adopt_due(struct seg *s);
/*
 * Set the fields that the engine uses, except `free`, from hw_mkey.mkc. Under the HCA's lock or,
 * for a UMR, a send queue's.
 */
void eng_mkey_fields(struct hw_mkey *mk);
/* For CREATE_CQ, when hw_cq is filled in: makes the first ARM record recognisable in poll mode. */
int eng_cq_created(struct seg *s, uint32_t cqn);
/* Sets hw_cq.moder (HW_CQ_MOD_*). An event that waits comes in time by the new values. */
void eng_cq_moderate(struct seg *s, uint32_t cqn, uint32_t moder);
/*
 * RESIZE CQ: put the CQE with opcode 5 into the old buffer and switch, both under the CQ's lock.
 * -ENOSPC: the old buffer is full, or the new one cannot hold the CQEs of the old one.
 */
int eng_cq_resize(struct seg *s, uint32_t cqn, struct mem_slot mem, uint64_t va, uint32_t log_size,
		  uint32_t cqe_bytes);
/* Called after a command has changed an SRQ's limit. */
int eng_srq_arm_limit(struct seg *s, uint32_t srqn, uint32_t lwm);
/*
 * A process has died (its slot is SEG_PROC_DEAD): wake the device threads that must finish what it
 * left half done. Takes no lock. The supervisor calls it.
 */
void eng_proc_died(struct seg *s, uint32_t slot);
/*
 * A file is closed, and QPs of this owner still answer requests, although keys have gone. Lets the
 * requesters of other owners that wait for an answer try again now, if `rouse`; WAIT: some have
 * been roused and have not tried yet. The supervisor calls it.
 */
enum eng_requesters { ENG_REQUESTERS_NONE, ENG_REQUESTERS_IDLE, ENG_REQUESTERS_WAIT };
enum eng_requesters eng_requesters(struct seg *s, uint32_t owner, bool rouse);
/* Does the QP answer requests: a responder of a service with acknowledgements, in RTR or later? */
bool eng_qp_answers(const struct hw_qp *qp);
/*
 * Raise an object's async event (IBV_EVENT_* number of the uapi), after an error of a queue or SRQ.
 */
void eng_qp_event(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type);
void eng_srq_event(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t ib_event_type);
/*
 * For rules of --inject. A QP's event, and for its errors the state ERR and the flush. 0; -EINVAL:
 * it is in RST, INIT or ERR; -ETIMEDOUT. An SRQ's, a WQ's: -EINVAL, it has failed before.
 */
int eng_qp_break(struct seg *s, uint32_t qpn, uint32_t ib_event_type);
int eng_srq_break(struct seg *s, uint32_t srqn);
int eng_wq_break(struct seg *s, uint32_t rqn);
/*
 * Events of a DCT, which have no verbs number: only DEVX subscribers hear of them. Each uses the
 * word (hw_event()) of a verbs event that a DCT does not have: COMM_EST, SQ_DRAINED.
 */
enum { ENG_EVENT_DEVX = 28, ENG_EVENT_DCT_KEY = 28, ENG_EVENT_DCT_DRAINED = 29 };

/* The reason for a failed work request, as its completion tells it. (fail.c) */
struct eng_failure {
	uint8_t syndrome;
	uint8_t vendor_err;
	const char *text;
	const char *of; /* the operations that can fail so, with blanks between; NULL: any */
};
/* Row `n` of the table, counted from 0; NULL after the last. */
const struct eng_failure *eng_failure_at(unsigned int n);

/*
 * Why a message has no answer, or is dropped: number, name, what is said, what to look at. In what
 * is said %q is the peer's QPN, %o the own one, %p %e ports, %g a GID, %s %t words, %a %b numbers
 * in hexadecimal, %A %B in decimal, %i %j the entries of a table that this end and the peer use.
 * (cause.c)
 */
#define ENG_CAUSES(X)                                                                             \
	X(SILENCE, "NO_ANSWER", "QP %q is there and did not answer",                              \
	  "whether the peer's process runs and its queues are in order: softhca status")          \
	X(OWN_PORT, "PORT_DOWN", "port %p is %s: nothing is sent",                                \
	  "ibv_query_port() must say ACTIVE before QPs are connected")                            \
	X(NO_LID, "DLID_ZERO", "the destination LID is %A: nothing leaves port %p",               \
	  "ah_attr.dlid is the peer's port's lid; for a destination by GID set is_global")        \
	X(LINK, "LINK_DOWN",                                                                      \
	  "lost at port %p, outwards: it is %s or its cable's other end is not "                  \
	  "(LID %A)",                                                                             \
	  "the cable and the states of both ports: iblinkinfo")                                   \
	X(WRONG_LID, "WRONG_LID", "port %p received it and does not have LID %A",                 \
	  "ah_attr.dlid: exchange the lid of ibv_query_port() again, it may have changed")        \
	X(NO_ROUTE, "NO_ROUTE",                                                                   \
	  "lost at switch port %p, inwards: its switch has no route to LID "                      \
	  "%A",                                                                                   \
	  "ah_attr.dlid: no port has this LID, or the subnet manager has not routed it")          \
	X(ROUTE_BACK, "ROUTE_BACK",                                                               \
	  "lost at switch port %p: its switch's route to LID %A leads "                           \
	  "back there",                                                                           \
	  "the routes of the subnet manager: ibroute, dump_lfts.sh")                              \
	X(NO_MAC, "NO_MAC", "no port with a link has the destination's MAC address",              \
	  "the peer's port is down, or ah_attr.grh.dgid is no address of this segment")           \
	X(NO_GID, "WRONG_GID", "port %p, LID %A, does not have GID %g",                           \
	  "ah_attr.dlid and ah_attr.grh.dgid must name the same port")                            \
	X(NO_GID_ETH, "WRONG_GID_ROCE", "port %p does not have GID %g",                           \
	  "ah_attr.grh.dgid is the GID that the peer has at its sgid_index")                      \
	X(ROCE_VERSION, "ROCE_VERSION",                                                           \
	  "sent with GID index %i, which is %t here: port %p has GID %g for %s",                  \
	  "sgid_index of both ends must have the same type: ibv_devinfo -v, show_gids")           \
	X(INJECTED, "INJECTED", "lost on purpose: a rule of --inject",                            \
	  "the rules that have fired: at the end of the run, or softhca inject list")             \
	X(ROUTER, "ROUTER",                                                                       \
	  "sent with GID index %i, which is %s here: no router forwards it to port %p",           \
	  "sgid_index of a RoCE v2 entry with a routable address: ibv_query_gid_table()")         \
	X(VLAN, "VLAN",                                                                           \
	  "sent with GID index %i, which is of VLAN %B here (0: none): VLAN %A is expected",      \
	  "sgid_index of both ends must be of the same VLAN")                                     \
	X(SWITCH_PKEY, "SWITCH_PKEY",                                                             \
	  "sent with P_Key index %i, which is %a here: dropped at port %p, %s, whose table does " \
	  "not have it",                                                                          \
	  "the partitions of the subnet manager: smpquery pkeys")                                 \
	X(PATH_MTU, "PATH_MTU",                                                                   \
	  "dropped at port %p, %s: packets of %A bytes are larger than its MTU",                  \
	  "path_mtu: at most the least active_mtu of the path")                                   \
	X(NO_QP, "WRONG_QPN", "QP %q does not exist",                                             \
	  "dest_qp_num, or remote_qpn: exchange qp_num again; the peer may have ended")           \
	X(SERVICE, "QP_TYPE", "QP %q is of type %s, this one of type %t",                         \
	  "qp_type of both ends must be the same")                                                \
	X(STATE, "QP_STATE", "QP %q is in state %s and does not receive",                         \
	  "the peer must be in RTR before the first message: synchronise; in ERR see why it "     \
	  "failed")                                                                               \
	X(ELSEWHERE, "WRONG_PORT", "QP %q is at port %p, the packets arrive at port %e",          \
	  "dlid or dgid and the QPN must be of the same port")                                    \
	X(ENDED, "PEER_ENDED", "the process of QP %q has ended", "why it has ended")              \
	X(CONNECTED, "OTHER_PEER", "QP %q is connected to QP %a, not to QP %o",                   \
	  "dest_qp_num of both ends must name each other")                                        \
	X(QP_ROCE_VERSION, "QP_ROCE_VERSION",                                                     \
	  "sent with GID index %i, which is %t here: QP %q has index %j, which is %s",            \
	  "sgid_index of both ends must have the same type: ibv_devinfo -v, show_gids")           \
	X(SOURCE_GID, "SOURCE_GID",                                                               \
	  "sent with GID index %i: QP %q expects the source GID %g, which is another one",        \
	  "the peer's ah_attr.grh.dgid must be the GID at this end's sgid_index")                 \
	X(DEST_GID, "DEST_GID", "QP %q has another GID at its sgid_index, %j, than dgid here",    \
	  "ah_attr.grh.dgid must be the GID at the peer's sgid_index")                            \
	X(ACCESS_KEY, "DC_ACCESS_KEY", "the access key is %a, that of DCT %q another one",        \
	  "the dc_key of the work request and of the DCT")                                        \
	X(PKEY, "PKEY",                                                                           \
	  "sent with P_Key index %i, which is %a here: QP %q has index %j, which is %b%s",        \
	  "pkey_index of both ends: the same partition, and one of both a full member (bit "      \
	  "0x8000)")                                                                              \
	X(BACK_LOST, "ANSWERS_LOST",                                                              \
	  "answers of QP %q are lost: its path leads from port %p to LID %A",                     \
	  "ah_attr of the peer must name this end's port")                                        \
	X(BACK, "ANSWERS_ELSEWHERE", "answers of QP %q go to port %p, this QP is at %e",          \
	  "ah_attr of the peer must name this end's port")                                        \
	X(PSN, "PSN", "PSN %a, QP %q expects %b",                                                 \
	  "rq_psn of one end is sq_psn of the other; a QP that was reset needs new ones on both") \
	X(DUPLICATE, "PSN_BEHIND", "PSN %a, QP %q expects %b: it takes this for a duplicate",     \
	  "rq_psn of one end is sq_psn of the other; a QP that was reset needs new ones on both") \
	X(AHEAD, "DUPLICATE",                                                                     \
	  "PSN %a, QP %q expects %b: acknowledged as a duplicate and not executed: rq_psn of "    \
	  "the receiver is ahead",                                                                \
	  "rq_psn of one end is sq_psn of the other; a QP that was reset needs new ones on both") \
	X(STOPPED, "PEER_STOPPED", "the process of QP %q is stopped", "a debugger, or SIGSTOP")   \
	X(QKEY, "QKEY", "Q_Key %a, QP %q has %b",                                                 \
	  "remote_qkey of the work request is the qkey that the peer has set in INIT")            \
	X(NO_RECEIVE, "NO_RECEIVE", "QP %q has no receive posted",                                \
	  "ibv_post_recv() comes before the peer sends; datagrams do not wait for it")            \
	X(SHORT, "SHORT_RECEIVE", "%A bytes%s, the receive of QP %q has room for %B",             \
	  "a receive of datagrams needs 40 bytes more, for the GRH")                              \
	X(UAR, "WRONG_UAR", "a doorbell for it rang on UAR page %A, its context has uar_page %B", \
	  "the number in the doorbell (ctrl.qpn of a WQE) and the page that it is written to: "   \
	  "a card ignores a doorbell on another page than the context's")                         \
	X(NOT_RTS, "NOT_RTS", "work was posted in state %s: this QP sends from RTS on",           \
	  "ibv_modify_qp() to RTS before ibv_post_send(), which libmlx5 does not check")
#define ENG_CAUSE_ENUM(id, name, says, next) ENG_CAUSE_##id,
enum eng_cause_id { ENG_CAUSES(ENG_CAUSE_ENUM) ENG_CAUSE_COUNT };
struct eng_cause {
	const char *name, *says, *next;
};
/* Row `n` of the table, counted from 0; NULL after the last. */
const struct eng_cause *eng_cause_at(unsigned int n);

#endif
