/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts that others measured on cards, as programs that run on any adapter. One process has both
 * ends: `a` requests, `b` responds. A group is one file; a row of its tables is a fact's variant.
 */
#ifndef TESTS_CARDS_H
#define TESTS_CARDS_H

#include "facts.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A call fails that works on every adapter: status 99. */
#define NEED(x)                                                                     \
	do {                                                                        \
		if (!(x)) {                                                         \
			fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #x); \
			_exit(99);                                                  \
		}                                                                   \
	} while (0)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { BYTES = 64 << 10, DEPTH = 128, FILL = 0xee, ANY = -1, NONE = -1 };
#define ALL_RIGHTS                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define QP_RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* ---- the adapter */

struct adapter {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint8_t gid_index;
	bool ethernet, mlx5;
};
extern struct adapter ad;
extern int patience;    /* seconds */
extern bool for_oracle; /* -r */

/* ---- what is said */

/* Facts: name, who measured it (U: unionxic/rdma-fault-characterization, and its experiment; G:
 * google/rdma-unit-test). "inferred" are those that follow from others and from no measurement. */
#define FACTS(X)                                                                                   \
	X(own_lkey, "U 05; spdk#961, ucx#6414")                                                    \
	X(own_range, "U 05; the PSN is inferred")                                                  \
	X(own_read_key, "inferred from own_read_right")                                            \
	X(own_read_right, "U 05")                                                                  \
	X(own_atomic, "G")                                                                         \
	X(own_err, "U 05, propagation")                                                            \
	X(own_err_idle, "U cqe_seq")                                                               \
	X(own_seq, "U cqe_seq")                                                                    \
	X(ref_qp, "U 05, harness, propagation")                                                    \
	X(ref_key, "U 05, propagation")                                                            \
	X(ref_rnr, "U 05, propagation")                                                            \
	X(ref_part, "U partial_write, ab_recovery; ucx#11821, #11857")                             \
	X(ref_part_read, "inferred from ref_part")                                                 \
	X(ref_psn, "U ab_recovery")                                                                \
	X(cnt_files, "Linux 6.1, drivers/infiniband/hw/mlx5/counters.c")                           \
	X(cnt_refused, "U 05")                                                                     \
	X(cnt_err, "U 05, propagation")                                                            \
	X(cnt_time, "U ack_timeout")                                                               \
	X(cnt_rnr, "U 05")                                                                         \
	X(dead_state, "U live_peer")                                                               \
	X(rec_run, "U nvshmem_rootcause")                                                          \
	X(rec_err, "U nvshmem_rootcause")                                                          \
	X(rec_raised, "U nvshmem_rootcause S4")                                                    \
	X(rec_count, "U nvshmem_rootcause")                                                        \
	X(gone_order, "U teardown_order")                                                          \
	X(gone_live, "U live_peer, teardown_order")                                                \
	X(freed, "U live_peer, for WRITE; the rest is inferred: pages are pinned")                 \
	X(key_zero, "G")                                                                           \
	X(key_both, "G")                                                                           \
	X(key_align, "G")                                                                          \
	X(win_large, "G introspection_mlx5.h; rdma-core providers/mlx5/qp.c; the use is inferred") \
	X(win_atomic, "rdma-core providers/mlx5/qp.c; the use is inferred")

enum fact {
#define X(name, source) name,
	FACTS(X) MORE_FACTS(X)
#undef X
};

/* One check: a line "ok|DIFF FACT VARIANT | card: ... | here: ...". */
void check(enum fact f, const char *variant, const char *card, const char *here);
/* Format into one of 2048 buffers that are used in turn. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "4/0x52"; without vendor_err where the adapter is not mlx5, or the card's is not known (ANY). */
const char *result(int status, int vendor_err);
/* A check is left out here, and why. */
void skip(enum fact f, const char *why);

/* ---- operations */

enum op { WRITE, WRITE_IMM, READ, SEND, SEND_IMM, CAS, FAA };
extern const char *const op_names[];
bool is_atomic(enum op op);
/* It consumes a receive. */
bool receives(enum op op);
/* Which of the responder's rights it needs. */
unsigned int right_of(enum op op);

/* ---- both ends */

enum transport { RC, UC, XRC };
extern const char *const transport_names[];

struct options {
	enum transport t;
	unsigned int no_rights; /* that b's QP lacks */
	enum ibv_mtu mtu;       /* 0: 1024 */
	uint8_t timeout, retries, rnr_retries;
	bool unsignalled;                 /* sq_sig_all 0 */
	bool apart;                       /* b is not connected */
	bool srq;                         /* b receives from one */
	struct ibv_pd *srq_pd;            /* NULL: the same as all others */
	struct ibv_comp_channel *channel; /* of b's CQ */
	uint32_t inline_data;
};

struct end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr; /* all of `mem`, with all rights */
	uint8_t *mem;
};

struct pair {
	struct options o;
	struct ibv_xrcd *xrcd;
	struct end a, b;
	uint32_t mtu;
};

/* False: the adapter does not have this transport. */
bool pair_make(struct pair *p, const struct options *o);
void pair_free(struct pair *p);
/* An RC pair that is `apart`: a's QP again, for its CQ of now, and both connected. */
void remake_requester(struct pair *p);
struct ibv_mr *region(void *at, size_t len, unsigned int access);
/* RESET to INIT, and on to RTS: also for a QP that another process is connected to. */
void to_init(struct ibv_qp *qp, unsigned int rights);
void to_rts(struct ibv_qp *qp, const struct options *o, uint32_t dest_qpn, uint16_t lid,
	    const union ibv_gid *gid);
void to_rtr(struct ibv_qp *qp, const struct options *o, uint32_t dest_qpn, uint16_t lid,
	    const union ibv_gid *gid);
void rtr_to_rts(struct ibv_qp *qp, const struct options *o);
void to_state(struct ibv_qp *qp, enum ibv_qp_state to);

/* A request of a's; what is 0 is as it should be. */
struct request {
	enum op op;
	uint32_t len;
	struct ibv_sge sge[2];
	int nsge;
	uint64_t remote;
	uint32_t rkey;
	uint64_t id;
	bool unsignalled;
};

/* All of it right: `len` bytes from the start of a's memory to, or from, the start of b's. */
struct request good(const struct pair *p, enum op op, uint32_t len);
void post(const struct pair *p, const struct request *r);
/* By one doorbell. The errno of a library that refuses it: */
int try_post(const struct pair *p, const struct request *r, int n);
void post_all(const struct pair *p, const struct request *r, int n);
void post_receive(const struct pair *p, uint32_t len);

/* Within a limit that only a hang reaches; status NONE: nothing came. */
struct ibv_wc next_wc(struct ibv_cq *cq);
bool is_empty(struct ibv_cq *cq);
const char *wc_text(const struct ibv_wc *wc, bool vendor_err);
enum ibv_qp_state state_of(const struct ibv_qp *qp);
const char *state_name(const struct ibv_qp *qp);
uint32_t sq_psn(const struct ibv_qp *qp);
/* Events of both ends so far: "b REQ_ERR", "none". */
const char *events(const struct pair *p, bool wait);
/* An asynchronous event is there, or comes within `seconds`. */
bool has_event(int seconds);
/* How many bytes from the start on are those of `from`; the rest must be FILL: else -1. */
long landed(const uint8_t *mem, const uint8_t *from, size_t n);

/* ---- groups */

void own_group(void);
void refused_group(void);
void counters_group(void);
void dead_group(void);
void record_group(void);
void gone_group(void);
/* The other process of gone_group(). */
void gone_target(void);
void freed_group(void);
void keys_group(void);
void posts_group(void);
void receives_group(void);
void windows_group(void);
void domains_group(void);
void datagrams_group(void);
void notices_group(void);
void shows_group(void);
void calls_group(void);

#endif
