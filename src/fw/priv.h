/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside the firmware: what the dispatcher (exec.c) and the command handlers (cmd_*.c) share.
 *
 * A handler answers 0 (done, `out` filled beyond its header), > 0 (an enum fw_r: why it refuses) or
 * < 0 (-errno: our own failure). It runs with the HCA's lock held when its row says so. It changes
 * nothing before its last check has passed, takes references before it commits, and commits by
 * HW_F_READY: a process killed anywhere leaves at most an invisible element and stray references,
 * which whoever inherits the HCA's lock counts again (fw_recount).
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
struct hw_qctr;
struct hw_uar;
struct hw_umem;
struct hw_qp;

#define FW_R_ENUM(name, syn, st, field, says) FW_R_##name,
enum fw_r { FW_R_NONE, FW_REFUSALS(FW_R_ENUM) FW_R_COUNT };
const struct fw_refusal *fw_refusal(enum fw_r r);

struct fw_call {
	const struct fw_ctx *c;
	struct seg *s;
	struct hw_hca *hca;
	const struct fw_caps *caps;
	const struct fw_cmd *cmd;
	const void *in;
	uint32_t inlen, outlen; /* as given: for commands with a list behind their layout */
	void *out;              /* zeroed but for what handlers write; header by the dispatcher */
	uint32_t op_mod;
	uint32_t owner; /* owner word of what is made */
	uint32_t obj;   /* for the trace: id made or found */
};

enum {                   /* fw_cmd.flags */
       FW_C_LOCK = 1,    /* runs under the HCA's lock */
       FW_C_KERNEL = 2,  /* for the driver only */
       FW_C_OP_MODS = 4, /* checks op_mod itself; otherwise it must be 0 */
       FW_C_CUT = 8,     /* a caller with less room gets the first bytes of the answer */
       FW_C_LIST = 16,   /* the input goes on with a list that the handler checks */
};

/* One command. */
struct fw_cmd {
	uint16_t opcode;
	uint16_t flags;
	const struct layout *in, *out; /* their sizes are the least that is accepted */
	int (*handler)(struct fw_call *k);
	int object;      /* enum seg_table_id of what it makes, else -1 */
	const char *obj; /* for the trace: what `obj` is: "qpn"... */
};
extern const struct fw_cmd fw_cmds[];
extern const unsigned int fw_ncmds;

#define FW_HANDLER(op, name, flags, handler, table, what) int handler(struct fw_call *k);
FW_COMMANDS(FW_HANDLER)
bool fw_qp_attached(struct fw_call *k, uint32_t qpn); /* to any multicast group */

/*
 * Objects by the numbers that commands carry: NULL unless committed, of this HCA, and of the
 * caller's uid: the driver sees all but where it speaks for a context with a uid, as the program
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
FW_FIND(uar_or_var, uar, SEG_T_UAR)                    /* of any type */
struct hw_uar *fw_uar(struct fw_call *k, uint32_t id); /* that queues may ring in */
struct hw_umem *fw_umem(struct fw_call *k, uint32_t id);
/* The same, made by that kind of command only. */
struct hw_srq *fw_srq_of(struct fw_call *k, uint32_t srqn, enum hw_srq_type type);
struct hw_qp *fw_qp(struct fw_call *k, uint32_t qpn);
struct hw_qp *fw_any_qp(struct fw_call *k, uint32_t id); /* or DCT */
struct hw_obj *fw_obj(struct fw_call *k, enum hw_obj_kind kind, uint32_t id);
/*
 * Whether the caller may use, or may change and destroy, what was made under this uid. The driver
 * makes what every program's objects may name under FW_SHARED_UID (MLX5_SHARED_RESOURCE_UID): EQs
 * (mlx5/core eq.c create_map_eq()), Q counters (mlx5_ib counters.c mlx5_ib_alloc_counters()),
 * rates that are not dedicated (mlx5_ib qos.c pp_obj_alloc()).
 */
bool fw_may_name(const struct fw_call *k, uint32_t uid);
bool fw_may_change(const struct fw_call *k, uint32_t uid);
/* By its counter_set_id, *idx its place in SEG_T_QCTR; to be named. */
struct hw_qctr *fw_qctr(struct fw_call *k, uint32_t id, uint32_t *idx);
/* The HCA's EQ of that number (1 + vector), *idx its place in SEG_T_EQ; NULL. All are shared. */
struct hw_eq *fw_eq(struct fw_call *k, uint32_t eqn, uint32_t *idx);

/* What this device agrees to of the ECE options that the other end has. (cmd_qp.c) */
uint32_t fw_ece(uint32_t asked);
/*
 * A new element, not yet committed: 0, FW_R_TABLE_FULL (of the fabric, or what the HCA can have),
 * or -errno. Whatever it made, fw_free() takes back. (limits.c)
 */
void fw_free(struct seg *s, enum seg_table_id t, uint32_t idx);
int fw_alloc(struct fw_call *k, enum seg_table_id t, uint32_t *idx, void *elem);
/* The maker's last store. */
static inline void fw_commit(uint32_t *flags)
{
	__atomic_store_n(flags, HW_F_READY, __ATOMIC_RELEASE);
}

static inline bool fw_ready(const uint32_t *flags)
{
	return __atomic_load_n(flags, __ATOMIC_ACQUIRE) & HW_F_READY;
}

/*
 * A place of `bytes` in a umem at `offset`, which must be a multiple of `align`: 0 and its address,
 * or `refuse`.
 */
int fw_umem_place(const struct hw_umem *u, uint64_t offset, uint64_t bytes, uint32_t align,
		  enum fw_r refuse, uint64_t *va);
/* Byte offset that a queue context's page_offset stands for. */
static inline uint64_t fw_page_offset(uint64_t page_offset, uint64_t log_page_size)
{
	return page_offset << (log_page_size + 12 - 6);
}

/*
 * References. fw_refer() adds or drops (by = 1 or -1) all that an element holds, as its kind's row
 * says. Drops stop at 0: a reference may be missing after its taker died. (kinds.c)
 */
void fw_refer(struct seg *s, enum seg_table_id t, const void *e, int by);
void fw_ref(_Atomic uint32_t *refs, int by);
/* Count every reference of an HCA's objects again: after its lock's owner died. Linear. */
void fw_recount(struct seg *s, uint32_t hca);
/* Of what fw_alloc() and fw_free() count; part of fw_recount(). (limits.c) */
void fw_limits_recount(struct seg *s, uint32_t hca);

/*
 * Take an object out of service and free its element; used by DESTROY commands and by reaping.
 * 0; -ETIMEDOUT: somebody (stopped) still works on it, it is out of service but not freed.
 */
int fw_qp_free(struct seg *s, uint32_t qpn);
int fw_srq_free(struct seg *s, uint32_t srqn);
int fw_cq_free(struct seg *s, uint32_t cqn);
int fw_mkey_free(struct seg *s, uint32_t idx);
int fw_obj_free(struct seg *s, uint32_t idx);
/* The first half: invisible, and its references given back. */
void fw_obj_retire(struct seg *s, uint32_t idx);
/* The last half of fw_mkey_free(), for a key that is disabled and quiesced. */
int fw_mkey_release(struct seg *s, uint32_t idx);

/* The command in the trace. `result` of the handler; reserved_bit: of FW_R_RESERVED, else -1. */
void fw_trace(const struct fw_call *k, uint16_t opcode, uint32_t inlen, uint32_t outlen, int result,
	      int32_t reserved_bit, uint64_t since);
/* The reference count of an element, by table; NULL where there is none. */
_Atomic uint32_t *fw_refs_of(struct seg *s, enum seg_table_id t, uint32_t idx);

/* ---- objects that only commands work on (obj.c) */

/* A new object like `proto` (kind, state, references, context): 0, and its number. */
int fw_obj_make(struct fw_call *k, const struct hw_obj *proto, uint32_t *idx);
/* Its destruction: `none` when there is no such object of the kind, `busy` while it is used. */
int fw_obj_destroy(struct fw_call *k, enum hw_obj_kind kind, uint32_t idx, enum fw_r none,
		   enum fw_r busy);
static inline struct hw_objref fw_objref(enum seg_table_id table, uint64_t idx)
{
	return (struct hw_objref){(uint32_t)table, (uint32_t)idx};
}

/* ---- what RMPs, RQs and SQs share (cmd_rmp.c) */

struct fw_wq_place { /* where a work queue and its doorbell record lie */
	struct mem_slot mem, dbr_mem;
	uint64_t va, dbr_va;
	uint32_t buf_umem, dbr_umem;
};
/* Its memory, for any wq_type; `record` bytes of doorbell record. */
/* A shared receive queue's: what its context may say, and an element of it. */
enum fw_r fw_srq_wq_check(struct fw_call *k, const void *wq);
void fw_srq_fill(struct fw_call *k, struct hw_srq *srq, const void *wq,
		 const struct fw_wq_place *at);
enum fw_r fw_wq_places(struct fw_call *k, const void *wq, uint32_t record, struct fw_wq_place *at);

/* Is that rate limit set, and may the caller use it? (cmd_qos.c) */
bool fw_rate_usable(struct fw_call *k, uint32_t index);
/* Is it a queue group of the NIC that the caller may use? (cmd_qos.c) */
bool fw_queue_group(struct fw_call *k, uint32_t id);
/*
 * Scheduling elements, for both sets of commands that make them: `ctx` a scheduling_context, `sel`
 * PRM_SCHED_*.
 */
int fw_sched_create(struct fw_call *k, uint32_t hierarchy, const void *ctx, uint64_t sel,
		    uint32_t *id);
int fw_sched_modify(struct fw_call *k, uint32_t hierarchy, uint32_t id, const void *ctx,
		    uint64_t sel);
int fw_sched_query(struct fw_call *k, uint32_t id, void *ctx);
int fw_sched_destroy(struct fw_call *k, uint32_t id);
/* General object types that this firmware has, a bit each. (cmd_gobj.c) */
uint64_t fw_gobj_types(void);
/* May an RQ or SQ go from one state (PRM) to the other? (cmd_rq.c) */
bool fw_wq_state_leads(uint64_t from, uint64_t to);

/* Asynchronous signals off while a lock of the segment is held; returns what fw_sig_restore needs.
 * NULL: nobody has them off yet.
 */
uint64_t fw_sig_block(const struct fw_ctx *c);
void fw_sig_restore(const struct fw_ctx *c, uint64_t old);

#endif
