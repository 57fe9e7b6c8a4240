/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to the firmware: shared by the dispatcher (exec.c) and the command handlers (cmd_*.c).
 *
 * A handler returns FW_R_NONE (done, `out` filled after its header), the reason for a refusal, or
 * fw_errno() of a failure of our own. It runs under the HCA's lock if its row says so.
 * It changes nothing before its last check has passed, takes references before it commits, and
 * commits by HW_F_READY: a process killed anywhere leaves at most an invisible element and stray
 * references, which the next holder of the HCA's lock counts again (fw_recount).
 */
#ifndef SOFTHCA_FW_PRIV_H
#define SOFTHCA_FW_PRIV_H

#include <assert.h>
#include <stddef.h>

#include "fw/fw.h"
#include "fw/commands.h"
#include "fw/kinds.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "hw/pd.h"
#include "hw/srq.h"
#include "hw/uar.h"
#include "hw/xrcd.h"
#include "util/log.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/opcodes.h"

struct hw_eq;
struct hw_hca;
struct hw_memic;
struct hw_qctr;
struct hw_uar;
struct hw_umem;
struct hw_qp;

#define FW_R_ENUM(name, syn, st, field, says) FW_R_##name,
enum fw_r {
	FW_R_NONE,
	FW_REFUSALS(FW_R_ENUM) FW_R_COUNT,
	FW_R_ERRNO = FW_R_COUNT, /* no refusal: a failure of our own, in fw_call.err */
	FW_R_FAULT,              /* a rule of --inject: fw_call.fault */
};
const struct fw_refusal *fw_refusal(enum fw_r r);

struct fw_call {
	const struct fw_ctx *c;
	struct seg *s;
	struct hw_hca *hca;
	const struct hw_caps *caps;
	const struct fw_cmd *cmd;
	const void *in;
	/* lengths from the caller, for commands with a list after their layout */
	uint32_t inlen, outlen;
	void *out; /* zeroed before the handler fills it in; the dispatcher writes the header */
	uint32_t op_mod;
	uint32_t owner; /* owner word for new objects */
	uint32_t obj;   /* for the trace: number of the object made or found */
	int err;        /* with FW_R_ERRNO: -errno */
	uint64_t rest;  /* for the trace: the bytes that must follow the layout of the input */
	const struct fw_refusal *fault; /* with FW_R_FAULT */
};

/*
 * The result of a call that returns 0 or -errno, as a handler's result. fw_exec() turns it back:
 * in between, only enum fw_r goes from function to function.
 */
static inline enum fw_r fw_errno(struct fw_call *k, int err)
{
	k->err = err;
	return err ? FW_R_ERRNO : FW_R_NONE;
}

enum {                   /* fw_cmd.flags */
       FW_C_LOCK = 1,    /* runs under the HCA's lock */
       FW_C_KERNEL = 2,  /* for the driver only */
       FW_C_OP_MODS = 4, /* the handler checks op_mod; otherwise it must be 0 */
       FW_C_CUT = 8,     /* a caller with a short buffer gets the first bytes of the answer */
       FW_C_LIST = 16,   /* a list follows the input, which the handler checks */
       /* For an adapter that has failed mlx5_internal_err_ret_value() says that it succeeds: */
       FW_C_ENDS = 32,  /* it frees an object */
       FW_C_STOPS = 64, /* it has nothing to do there */
};

/* One command. */
struct fw_cmd {
	uint16_t opcode;
	uint16_t flags;
	const struct layout *in, *out; /* their sizes are the shortest accepted */
	enum fw_r (*handler)(struct fw_call *k);
	int object;      /* enum seg_table_id of the object that it makes, else -1 */
	const char *obj; /* name of `obj` for the trace: "qpn"... */
};

#define FW_HANDLER(op, name, flags, handler, table, what) enum fw_r handler(struct fw_call *k);
FW_COMMANDS(FW_HANDLER)
/* Is the QP attached to any multicast group? */
bool fw_qp_attached(struct fw_call *k, uint32_t qpn);

/*
 * Find objects by the numbers in commands: NULL unless committed, of this HCA, and of the caller's
 * uid. The driver sees all uids, except when it acts for a context with a uid, because the program
 * may have chosen the number (a UAR's, say). (obj.c)
 */
void *fw_find(struct fw_call *k, enum seg_table_id t, uint32_t id);
#define FW_FIND(name, type, table)                                                      \
	static_assert(offsetof(struct hw_##type, uid) == offsetof(struct fw_elem, uid), \
		      #type " does not start like struct fw_elem");                     \
	static inline struct hw_##type *fw_##name(struct fw_call *k, uint32_t id)       \
	{                                                                               \
		return fw_find(k, table, id);                                           \
	}
FW_FIND(pd, pd, SEG_T_PD)
FW_FIND(mkey, mkey, SEG_T_MKEY)
FW_FIND(cq, cq, SEG_T_CQ)
FW_FIND(srq, srq, SEG_T_SRQ)
FW_FIND(xrcd, xrcd, SEG_T_XRCD)
FW_FIND(uar_or_var, uar, SEG_T_UAR)                    /* a UAR of any type */
struct hw_uar *fw_uar(struct fw_call *k, uint32_t id); /* a UAR whose doorbells queues may use */
struct hw_umem *fw_umem(struct fw_call *k, uint32_t id);
/* The same, only if made by that kind of command. */
struct hw_srq *fw_srq_of(struct fw_call *k, uint32_t srqn, enum hw_srq_type type);
struct hw_qp *fw_qp(struct fw_call *k, uint32_t qpn);
enum prm_st fw_qp_st(const struct hw_qp *qp);
struct hw_qp *fw_any_qp(struct fw_call *k, uint32_t id); /* a QP or DCT */
struct hw_obj *fw_obj(struct fw_call *k, enum hw_obj_kind kind, uint32_t id);
/*
 * May the caller use (or, _own: change and destroy) an object with this uid? The driver makes
 * objects that all programs may name under FW_SHARED_UID (MLX5_SHARED_RESOURCE_UID): EQs (mlx5/core
 * eq.c create_map_eq()), Q counters (mlx5_ib counters.c mlx5_ib_alloc_counters()), rates that are
 * not dedicated (mlx5_ib qos.c pp_obj_alloc()).
 */
bool fw_may_name(const struct fw_call *k, uint32_t uid);
bool fw_may_change(const struct fw_call *k, uint32_t uid);
/*
 * The caller's allocation of device memory that has all of these bytes of BAR 0, *idx its
 * SEG_T_MEMIC index; NULL: none. (cmd_memic.c)
 */
struct hw_memic *fw_memic_at(struct fw_call *k, uint64_t addr, uint64_t len, uint32_t *idx);
/* The set with that counter_set_id, for use; *idx: its SEG_T_QCTR index. */
struct hw_qctr *fw_qctr(struct fw_call *k, uint32_t id, uint32_t *idx);
/*
 * The HCA's EQ with that number (1 + vector), *idx its SEG_T_EQ index; NULL: none. All EQs are
 * shared.
 */
struct hw_eq *fw_eq(struct fw_call *k, uint32_t eqn, uint32_t *idx);

/* The ECE options that this device agrees to, out of those of the other end. (cmd_qp.c) */
uint32_t fw_ece(uint32_t asked);
/* QUERY_QP: the paths and pm_state of a QP that may have migrated. */
void fw_qp_paths(const struct hw_qp *qp, void *qpc);
/*
 * Make an element, not committed; FW_R_TABLE_FULL: the fabric's table is full, or the HCA has its
 * limit. fw_free() frees it, however far it got. (limits.c)
 */
void fw_free(struct seg *s, enum seg_table_id t, uint32_t idx);
enum fw_r fw_alloc(struct fw_call *k, enum seg_table_id t, uint32_t *idx, void *elem);
/* The age of a QP or key that is being made. (obj.c) */
uint64_t fw_born(const struct fw_call *k);
/* Commit: the maker's last store. */
static inline void fw_commit(uint32_t *flags)
{
	__atomic_store_n(flags, HW_F_READY, __ATOMIC_RELEASE);
}

static inline bool fw_ready(const uint32_t *flags)
{
	return __atomic_load_n(flags, __ATOMIC_ACQUIRE) & HW_F_READY;
}

/*
 * Find `bytes` bytes in a umem at `offset`, a multiple of `align`: its address, or `refuse`.
 */
enum fw_r fw_umem_place(const struct hw_umem *u, uint64_t offset, uint64_t bytes, uint32_t align,
			enum fw_r refuse, uint64_t *va);
/* The byte offset that a queue context's page_offset means. */
static inline uint64_t fw_page_offset(uint64_t page_offset, uint64_t log_page_size)
{
	return page_offset << (log_page_size + 12 - 6);
}

/*
 * References. fw_refer() adds or drops (by = 1 or -1) all references of an element, as its kind's
 * row lists them. Drops stop at 0: one may be missing if its taker died. (kinds.c)
 */
void fw_refer(struct seg *s, enum seg_table_id t, const void *e, int by);
/* Adds or drops one reference to an element. 0 and SEG_NONE name none: nothing happens. */
void fw_refer_at(struct seg *s, enum seg_table_id t, uint32_t idx, int by);
void fw_ref(_Atomic uint32_t *refs, int by);
/* Count all references of an HCA's objects again, after its lock's holder died. Linear. */
void fw_recount(struct seg *s, uint32_t hca);
/* Recount what fw_alloc() and fw_free() count; part of fw_recount(). (limits.c) */
void fw_limits_recount(struct seg *s, uint32_t hca);
/* An adapter without device memory has no bank of it; the same. (cmd_memic.c) */
void fw_memic_recount(struct seg *s, uint32_t hca);

/*
 * Take an object out of service and free its element, for DESTROY commands and reaping. 0;
 * -ETIMEDOUT: a thread (stopped) still uses it, so it is out of service but not freed.
 */
int fw_qp_free(struct seg *s, uint32_t qpn);
int fw_srq_free(struct seg *s, uint32_t srqn);
int fw_cq_free(struct seg *s, uint32_t cqn);
int fw_mkey_free(struct seg *s, uint32_t idx);
int fw_obj_free(struct seg *s, uint32_t idx);
/* The last half of fw_mkey_free(), for a key that is disabled and has no users. */
int fw_mkey_release(struct seg *s, uint32_t idx);

/* Trace the command. `result`: of the handler; reserved_bit: for FW_R_RESERVED, else -1. */
void fw_trace(const struct fw_call *k, uint16_t opcode, uint32_t inlen, uint32_t outlen,
	      enum fw_r result, int32_t reserved_bit, uint64_t since);
/* Where the input has a field, "qpc.mtu", of a layout of its own or of its body. (trace.c) */
bool fw_find_field(const struct fw_call *k, const char *field, uint32_t inlen, uint32_t *bit,
		   uint32_t *width);
/* The table of the objects whose number a command calls `obj` ("cqn"); -1: none. (exec.c) */
int fw_table_of(const char *obj);
/*
 * After a refusal because an object is in use: "used by qp 0x40, qp 0x41"; "": not known. (users.c)
 */
size_t fw_users(const struct fw_call *k, const struct fw_refusal *f, char *text, size_t size);
/* The reference count of an element; NULL: its kind has none. */
_Atomic uint32_t *fw_refs_of(struct seg *s, enum seg_table_id t, uint32_t idx);

/* Are the HCA's ports Ethernet? (cmd_vport.c) All have one link layer. */
bool fw_is_eth(const struct fw_call *k);

/* Does that entry of the port's table have a GID? (cmd_vport.c) */
struct hw_port;
bool fw_has_gid(const struct hw_port *p, uint32_t index);
/*
 * What CQEs have in srqn_uidx: the queue's user index, or if that is none (CQE version 0: mlx5_ib's
 * MLX5_IB_DEFAULT_UIDX) the SRQ's number, 0 without an SRQ.
 */
#define FW_NO_UIDX 0xffffffu
static inline uint32_t fw_cqe_name(uint32_t user_index, uint32_t srqn)
{
	return user_index != FW_NO_UIDX ? user_index : srqn == SEG_NONE ? 0 : srqn;
}

/* ---- objects that only commands use (obj.c) */

/* Make an object like `proto` (kind, state, references, context); *idx: its number. */
enum fw_r fw_obj_make(struct fw_call *k, const struct hw_obj *proto, uint32_t *idx);
/*
 * Destroy an object; refused with `none` if no such object of the kind exists, with `busy` while it
 * is used.
 */
enum fw_r fw_obj_destroy(struct fw_call *k, enum hw_obj_kind kind, uint32_t idx, enum fw_r none,
			 enum fw_r busy);
static inline struct hw_objref fw_objref(enum seg_table_id table, uint64_t idx)
{
	return (struct hw_objref){(uint32_t)table, (uint32_t)idx};
}

/* ---- shared by RMPs, RQs and SQs (cmd_rmp.c) */

struct fw_wq_place { /* The memory of a work queue and its doorbell record. */
	struct mem_slot mem, dbr_mem;
	uint64_t va, dbr_va;
	uint32_t buf_umem, dbr_umem;
};
/* Find the memory for any wq_type; `record`: bytes of the doorbell record. */
/* For a shared receive queue: check its context; make its element. */
enum fw_r fw_srq_wq_check(struct fw_call *k, const void *wq);
void fw_srq_fill(struct fw_call *k, struct hw_srq *srq, const void *wq,
		 const struct fw_wq_place *at);
enum fw_r fw_wq_places(struct fw_call *k, const void *wq, uint32_t record, struct fw_wq_place *at);

/* Is that rate limit set, and may the caller use it? (cmd_qos.c) */
bool fw_rate_usable(struct fw_call *k, uint32_t index);
/* Is it a queue group of the NIC that the caller may use? (cmd_qos.c) */
bool fw_queue_group(struct fw_call *k, uint32_t id);
/*
 * Scheduling elements, for both sets of commands that make them: `ctx` is a scheduling_context,
 * `sel` PRM_SCHED_*.
 */
enum fw_r fw_sched_create(struct fw_call *k, uint32_t hierarchy, const void *ctx, uint64_t sel,
			  uint32_t *id);
enum fw_r fw_sched_modify(struct fw_call *k, uint32_t hierarchy, uint32_t id, const void *ctx,
			  uint64_t sel);
enum fw_r fw_sched_query(struct fw_call *k, uint32_t id, void *ctx);
enum fw_r fw_sched_destroy(struct fw_call *k, uint32_t id);
/*
 * The bodies of general objects: data encryption keys, and sessions in which wrapped ones may be
 * loaded. (cmd_crypto.c)
 */
enum fw_r fw_dek_create(struct fw_call *k, const void *body, uint32_t *id);
enum fw_r fw_dek_modify(struct fw_call *k, uint32_t id, const void *body);
enum fw_r fw_dek_query(struct fw_call *k, uint32_t id, void *body);
enum fw_r fw_dek_destroy(struct fw_call *k, uint32_t id);
enum fw_r fw_login_create(struct fw_call *k, const void *body, uint32_t *id);
enum fw_r fw_login_query(struct fw_call *k, uint32_t id, void *body);
enum fw_r fw_login_destroy(struct fw_call *k, uint32_t id);
bool fw_has_crypto(const struct fw_call *k);
bool fw_wraps_keys(const struct fw_call *k);
/* The general object types of this adapter, a bit each. (cmd_gobj.c) */
uint64_t fw_gobj_types(const struct fw_call *k);
/* May an RQ or SQ change from one PRM state to the other? (cmd_rq.c) */
bool fw_wq_state_leads(uint64_t from, uint64_t to);

/*
 * Block asynchronous signals while a lock of the segment is held; returns the value for
 * fw_sig_restore(). NULL: not blocked by the caller.
 */
uint64_t fw_sig_block(const struct fw_ctx *c);
void fw_sig_restore(const struct fw_ctx *c, uint64_t old);

/* check.c: the QP gets into RTS, with all that was set. */
void fw_check_ready(struct seg *s, const struct hw_qp *qp, uint32_t qpn);

#endif
