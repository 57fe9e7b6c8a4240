/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of `softhca check`: what a program may not rely on, whether or not it happened to work.
 * A rule is a row here; the code that finds a program breaking it calls check_say().
 */
#ifndef SOFTHCA_CHECK_ROWS_H
#define SOFTHCA_CHECK_ROWS_H

#include <stdint.h>

/* error: the specification forbids it; warning: it depends on the adapter or on luck. */
#define CHECK_LEVELS(X) X(NOTE, note) X(WARNING, warning) X(ERROR, error)
#define CHECK_LEVEL_ID(id, word) CHECK_##id,
enum check_level { CHECK_LEVELS(CHECK_LEVEL_ID) CHECK_LEVEL_COUNT };
extern const char *const check_level_words[CHECK_LEVEL_COUNT];

/* id, name, level, what is broken, who says so, what to do */
#define CHECK_RULES(X)                                                                             \
	/* memory */                                                                               \
	X(LKEY, "lkey", ERROR, "a work request names memory that its lkey does not cover",         \
	  "IBTA 1.4, 10.6.3.1 and C10-52; ibv_post_send(3)",                                       \
	  "ibv_reg_mr() of all that the SGE spans, in the QP's PD, and sge.lkey = mr->lkey")       \
	X(LOCAL_WRITE, "local-write", ERROR,                                                       \
	  "the adapter is to write into a region without IBV_ACCESS_LOCAL_WRITE",                  \
	  "IBTA 1.4, 10.6.3.1; ibv_reg_mr(3)",                                                     \
	  "ibv_reg_mr(..., IBV_ACCESS_LOCAL_WRITE) for receives, READs and atomics")               \
	X(UNMAPPED, "unmapped", ERROR, "registered memory is no longer mapped",                    \
	  "ibv_reg_mr(3): the region stays until ibv_dereg_mr()",                                  \
	  "ibv_dereg_mr() before munmap() or free()")                                              \
	X(RKEY, "rkey", ERROR, "a request names memory that its rkey does not cover",              \
	  "IBTA 1.4, 10.6.3.2 and 9.7.5.1.3",                                                      \
	  "send rkey and address in one byte order; do not deregister before the last use")        \
	X(REMOTE_ACCESS, "remote-access", ERROR,                                                   \
	  "the region or the queue pair does not allow "                                           \
	  "this access from the other end",                                                        \
	  "IBTA 1.4, 10.6.3.2; ibv_reg_mr(3), ibv_modify_qp(3)",                                   \
	  "IBV_ACCESS_REMOTE_* in ibv_reg_mr(), and in qp_access_flags of INIT or RTR")            \
	X(ATOMIC_ALIGN, "atomic-alignment", ERROR,                                                 \
	  "an atomic on an address that is no multiple of its size",                               \
	  "IBTA 1.4, 9.4.5; ibv_post_send(3)", "align the word to 8 bytes")                        \
	X(SEND_CHANGED, "send-buffer-changed", ERROR,                                              \
	  "memory to send was changed before the completion of its work request",                  \
	  "IBTA 1.4, 10.8.3.1 and 11.4.1.1; ibv_post_send(3)",                                     \
	  "poll the completion before the buffer is used again; IBV_SEND_INLINE frees it at once") \
	X(READ_WRITTEN, "read-buffer-written", ERROR,                                              \
	  "memory that a READ fills was written by the program before its completion",             \
	  "IBTA 1.4, 10.8.3.1; ibv_post_send(3)", "poll the completion first")                     \
	X(FENCE, "fence-missing", ERROR,                                                           \
	  "a request sends memory that a READ before it has not filled for sure",                  \
	  "IBTA 1.4, 10.8.3.3; ibv_post_send(3), IBV_SEND_FENCE",                                  \
	  "IBV_SEND_FENCE, or poll the completion of the READ first")                              \
	X(DEREG, "deregistered-in-use", ERROR,                                                     \
	  "a region was deregistered before the completion of a work request that names it",       \
	  "IBTA 1.4, 10.6.3.1 and 10.8.3.1; ibv_dereg_mr(3)",                                      \
	  "poll the completion before ibv_dereg_mr()")                                             \
	X(READ_TWICE, "read-twice", WARNING,                                                       \
	  "two READs of different queue pairs fill the same memory at a time",                     \
	  "IBTA 1.4, 10.8.3.3: queue pairs have no order among each other",                        \
	  "poll the completion of the first READ, or read into other memory")                      \
	X(READ_RECV, "read-and-receive", WARNING,                                                  \
	  "a READ and a message fill the same memory at a time",                                   \
	  "IBTA 1.4, 10.8.3.3: send queue and receive queue have no order among each other",       \
	  "read into other memory than receives are posted for")                                   \
	/* queues */                                                                               \
	X(RECV_SHORT, "receive-too-short", ERROR, "a message does not fit the posted receive",     \
	  "IBTA 1.4, 9.7.4.1.5 and 9.7.5.2.6", "post receives of the largest message")             \
	X(UD_GRH, "receive-without-grh", ERROR,                                                    \
	  "a receive of datagrams has no room for the 40 bytes in front of the payload",           \
	  "IBTA 1.4, 11.4.1.2; ibv_post_recv(3)",                                                  \
	  "40 bytes more, also where no GRH was sent: the payload begins behind them")             \
	X(NO_RECEIVE, "no-receive", WARNING, "a message came and no receive was posted",           \
	  "IBTA 1.4, 9.7.5.2.8 (RNR NAK)",                                                         \
	  "post receives before the peer can send, and enough of them")                            \
	X(DROPPED, "datagram-dropped", WARNING, "a message without acknowledgement was dropped",   \
	  "IBTA 1.4, 9.8.3 and 9.6.1.5", "see the reason")                                         \
	X(CQ_OVERRUN, "cq-overrun", ERROR, "a completion found its CQ full",                       \
	  "IBTA 1.4, 11.6.3.1 (CQ error); ibv_create_cq(3)",                                       \
	  "cqe >= all signalled sends and all receives that can be outstanding")                   \
	X(ARMED, "armed-not-polled", WARNING,                                                      \
	  "a CQ had completions when it was armed, and the program waits for an event instead of " \
	  "polling",                                                                               \
	  "IBTA 1.4, 11.4.2.2; ibv_get_cq_event(3): completions that were there make no event",    \
	  "poll once more behind ibv_req_notify_cq()")                                             \
	X(WQE, "work-request", ERROR, "a work request that the queue cannot execute",              \
	  "IBTA 1.4, 10.7.2 and 11.4.1.1", "see the reason")                                       \
	X(SQ_FULL, "send-queue-full", NOTE,                                                        \
	  "the send queue is full of work requests whose completions were not polled",             \
	  "ibv_post_send(3); rdma-core, providers/mlx5/qp.c, mlx5_wq_overflow()",                  \
	  "signal at least one request of each max_send_wr, and poll its completion")              \
	X(UNPOLLED, "completion-unpolled", NOTE,                                                   \
	  "a queue pair ends before the completions of its work requests are polled",              \
	  "IBTA 1.4, 11.4.2.1; ibv_poll_cq(3)", "poll them, as they may tell of a failure")        \
	X(NOT_READY, "not-ready", ERROR, "work is posted before the queue pair may do it",         \
	  "IBTA 1.4, 10.3.1; ibv_modify_qp(3)", "ibv_modify_qp() to RTS before ibv_post_send()")   \
	X(WRONG_UAR, "wrong-uar", ERROR, "a doorbell on another page than the queue's",            \
	  "PRM, 8.8 (UAR); mlx5_vfio and mlx5dv(7)", "ring on the page of the queue's uar_page")   \
	/* objects */                                                                              \
	X(LEAK, "leak", NOTE, "an object is left at the end", "ibv_create_qp(3) and its like",     \
	  "destroy it, and what it needs after it")                                                \
	X(EVENT, "event-unread", NOTE, "an asynchronous event of an error was never read",         \
	  "IBTA 1.4, 11.6.3; ibv_get_async_event(3)", "a thread for ibv_get_async_event()")        \
	X(UNDONE, "destroyed-with-work", WARNING, "a queue pair ends while its work waits",        \
	  "IBTA 1.4, 10.2.4.5; ibv_destroy_qp(3)", "wait for the completions, or go to ERR first") \
	X(GONE, "used-after-destroy", ERROR, "a doorbell for a queue pair that does not exist",    \
	  "ibv_destroy_qp(3)", "no post after ibv_destroy_qp()")                                   \
	/* set-up */                                                                               \
	X(UNREACHABLE, "unreachable", WARNING,                                                     \
	  "a request has no answer, as it cannot reach the peer or the peer cannot take it",       \
	  "IBTA 1.4, 9.7.6.1.3 (transport retry)", "see the reason")                               \
	X(TIMEOUT_ZERO, "timeout-zero", WARNING, "timeout 0 is no time-out",                       \
	  "IBTA 1.4, 9.7.6.1.3; ibv_modify_qp(3)", "timeout 14 to 18")                             \
	X(TIMEOUT_LONG, "timeout-long", WARNING, "a failure is noticed after hours",               \
	  "IBTA 1.4, 9.7.6.1.3; ibv_modify_qp(3)", "timeout 14 to 18, retry_cnt at most 7")        \
	X(READS, "too-many-reads", ERROR,                                                          \
	  "more READs and atomics may be outstanding than the other end keeps answers for",        \
	  "IBTA 1.4, 9.7.5.1.4 and 11.2.5.2; ibv_modify_qp(3)",                                    \
	  "max_rd_atomic of an end at most max_dest_rd_atomic of the other")                       \
	X(CQ_SMALL, "cq-too-small", WARNING,                                                       \
	  "a CQ has less entries than receives that can complete into it",                         \
	  "IBTA 1.4, 11.2.8.1 and 11.6.3.1; ibv_create_cq(3)",                                     \
	  "cqe >= the receives and signalled sends of all its queue pairs")                        \
	X(PATH_MTU, "path-mtu", ERROR, "the two ends have different path MTUs",                    \
	  "IBTA 1.4, 9.7.4.1.6", "the same path_mtu at both ends")
#define CHECK_RULE_ID(id, name, level, what, source, hint) CHECK_R_##id,
enum check_rule_id { CHECK_RULES(CHECK_RULE_ID) CHECK_R_COUNT };

struct check_rule {
	const char *name;
	enum check_level level;
	const char *what, *source, *hint;
};
/* Row `n`, counted from 0; NULL after the last. */
const struct check_rule *check_rule_at(unsigned int n);

#endif
