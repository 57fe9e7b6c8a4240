/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the mlx5 driver: its per-object state, and the functions that its files share. */
#ifndef SOFTHCA_MLX5_PRIV_H
#define SOFTHCA_MLX5_PRIV_H

#include <rdma/mlx5-abi.h>
#include "fw/fw.h"
#include "hw/service.h"
#include "mlx5/mlx5.h"
#include "util/cleanup.h"
#include "util/heap.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/dct.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/umem.h"

#define MLX5_PAGE_SHIFT 12
#define MLX5_PAGE_SIZE (1u << MLX5_PAGE_SHIFT)
#define MLX5_PAGE_MASK (~(uint64_t)(MLX5_PAGE_SIZE - 1))

/* An entry of the mmap table: a dynamic UAR that may be mapped by its offset. */
struct mlx5_map {
	uint32_t uar; /* SEG_T_UAR index; 0: the entry is free */
	bool var;     /* doorbells of virtual queues: stores have no effect */
	bool gone;    /* the handle is destroyed: no further mmap, and DEALLOC_UAR follows */
};

/* A page of doorbell records, with its firmware umem. */
struct mlx5_dbr_page {
	struct mlx5_dbr_page *next; /* next page in its bucket */
	/* the process: the page at that address in a forked child is another one */
	struct mem_slot mem;
	uint64_t va;
	uint32_t umem;
	uint32_t refs;
};

/* Doorbell registers of a context without dynamic UARs: see bfreg.c. */
struct mlx5_bfregs {
	uint32_t *page; /* UAR numbers: static, then dynamic ones; 0: not mapped yet */
	/* nstatic 0: the context has dynamic UARs and none of this is used */
	uint32_t nstatic, npages;
	uint32_t *count;      /* number of QPs on each static register */
	uint32_t ndynamic;    /* number of dynamic registers that may still be made */
	uint32_t low_latency; /* number of registers, at the end, that serve one QP each */
	bool shares;          /* the library knows register classes */
};

/* uv_context.drv. No lock: all calls into the driver hold the file's mutex. */
struct mlx5_context {
	struct mlx5_map *maps;
	uint32_t nmaps;
	struct mlx5_dm_map *dm; /* device memory: dm.c */
	uint32_t ndm;
	struct mlx5_dbr_page **dbr; /* buckets by address */
	uint32_t ndbr_buckets, ndbr_pages;
	uint8_t cqe_version;
	struct mlx5_bfregs bfregs;
};

struct mlx5_umem {
	uint32_t id;      /* umem number; 0: none */
	uint16_t uid;     /* whose */
	uint64_t va, len; /* the range, as it was counted */
};

struct mlx5_dbr {
	uint32_t umem;   /* umem of its page; 0: none */
	uint32_t offset; /* of the record in the umem: dbr_addr */
	struct mlx5_dbr_page *page;
};

static inline struct mlx5_context *mlx5_context(const struct uv_context *ctx)
{
	return ctx->drv;
}

/* ---- cmd.c: calling the firmware */

/*
 * Execute a command of the driver itself for the context; fills in opcode and uid. 0, the errno of
 * a refusal, or the failure of fw_exec().
 */
int mlx5_exec(struct uv_context *ctx, enum prm_opcode op, const struct fw_mem *mem, void *in,
	      uint32_t inlen, void *out, uint32_t outlen);
/* The same with another uid: 0 for objects that no program may name, or MLX5_SHARED_UID. */
int mlx5_exec_as(struct uv_context *ctx, uint16_t uid, enum prm_opcode op, const struct fw_mem *mem,
		 void *in, uint32_t inlen, void *out, uint32_t outlen);
/* uid of objects that all contexts may use; no context has it */
#define MLX5_SHARED_UID FW_SHARED_UID
/*
 * Execute a DEVX command of a program; fills in the uid. 0, -EREMOTEIO (out says why) or a failure.
 */
int mlx5_exec_devx(struct uv_context *ctx, uint16_t uid, const struct fw_mem *mem, void *in,
		   uint32_t inlen, void *out, uint32_t outlen);
/* Execute DESTROY_x or DEALLOC_x: commands with one number at the usual place, and no output. */
int mlx5_exec_id(struct uv_context *ctx, enum prm_opcode op, uint32_t id);
int mlx5_exec_id_as(struct uv_context *ctx, uint16_t uid, enum prm_opcode op, uint32_t id);
/* Change a memory key in place: `in` is a create_mkey_in that describes the new key. */
int mlx5_umr(struct uv_context *ctx, const struct fw_mem *mem, uint32_t key, const void *in);
const struct hw_caps *mlx5_caps(const struct uv_context *ctx);

#define MLX5_EXEC(ctx, op, mem, in, out) \
	mlx5_exec((ctx), PRM_OP_##op, (mem), (in), sizeof(in), (out), sizeof(out))

/* ---- umem.c: memory of the program */

/*
 * Make a firmware umem over a range of the caller's memory for a queue: checked and counted by
 * uv_umem_get(), `access` IB_ACCESS_*. *u is empty on failure.
 */
int mlx5_umem_create(struct uv_context *ctx, uint64_t va, uint64_t len, uint32_t access,
		     struct mlx5_umem *u);
/*
 * The same for a umem that begins with a queue: the address must be a multiple of 64, checked last.
 */
int mlx5_queue_umem_create(struct uv_context *ctx, uint64_t va, uint64_t len, uint32_t access,
			   struct mlx5_umem *u);
/* The same for a umem that programs name in their commands: it has the context's uid. */
int mlx5_umem_create_devx(struct uv_context *ctx, uint64_t va, uint64_t len, uint32_t access,
			  struct mlx5_umem *u);
/* Destroys a umem, possibly empty, and leaves *u empty. If the firmware refuses, *u stays. */
int mlx5_umem_destroy(struct uv_context *ctx, struct mlx5_umem *u);
/*
 * Find the doorbell record at `va`: all records in a page share the page's umem, as the kernel
 * shares its mappings.
 */
int mlx5_dbr_get(struct uv_context *ctx, uint64_t va, struct mlx5_dbr *d);
void mlx5_dbr_put(struct uv_context *ctx, struct mlx5_dbr *d);
void mlx5_dbr_finish(struct mlx5_context *mc);

/* ---- device.c */
int mlx5_query_device(struct uv_context *ctx, struct uv_device_attr *a, struct uv_udata *u);
void mlx5_get_device(struct seg *s, uint32_t hca, struct uv_device *d);
int mlx5_query_gid(struct seg *s, uint32_t hca, uint32_t port, uint32_t index, struct uv_gid *gid);
int mlx5_find_neighbour(struct seg *s, uint32_t hca, uint32_t ifindex, const uint8_t dgid[16],
			uint8_t mac[6], uint8_t *hop_limit);
/* A port of the device by its number; NULL: it has none of that number. */
const struct hw_port *mlx5_port(const struct uv_context *ctx, uint32_t num);
int mlx5_query_port(struct uv_context *ctx, uint32_t port, struct ibv_port_attr *a);
int mlx5_method_query_port(struct uv_bundle *b);
int mlx5_method_pd_query(struct uv_bundle *b);

/* ---- ucontext.c */
int mlx5_alloc_ucontext(struct uv_context *ctx, struct uv_udata *u);
void mlx5_dealloc_ucontext(struct uv_context *ctx);
int mlx5_query_ucontext(struct uv_context *ctx, struct uv_udata *u);

/* ---- bfreg.c: UARs and doorbell registers of contexts without dynamic UARs */

/* `total` registers; the last `low_latency` serve one QP each. -ENOMEM: too many. */
int mlx5_bfreg_init(struct uv_context *ctx, uint32_t total, uint32_t low_latency, bool shares);
/* The context has failed: free its UARs, too. */
void mlx5_bfreg_undo(struct uv_context *ctx);
void mlx5_bfreg_finish(struct mlx5_context *mc);
/* Get a register for a QP; -EINVAL in a context with dynamic UARs. */
int mlx5_bfreg_alloc(struct mlx5_context *mc);
void mlx5_bfreg_free(struct mlx5_context *mc, uint32_t n);
/* The number of a register as libraries count. */
uint32_t mlx5_bfreg_user(uint32_t n);
uint32_t mlx5_bfreg_uar(const struct mlx5_context *mc, uint32_t n);
/* The UAR of a register on a page that was mapped later; -EINVAL: none. */
int mlx5_bfreg_dynamic_uar(const struct mlx5_context *mc, uint32_t n);
int mlx5_bfreg_mmap(struct uv_context *ctx, uint32_t index, bool dynamic, void *addr, size_t len,
		    int prot, int flags, void **out);

/* ---- uar.c: dynamic UARs and mmap */
extern const struct uv_type mlx5_uar_type, mlx5_var_type;
int mlx5_method_var_alloc(struct uv_bundle *b);
int mlx5_method_uar_alloc(struct uv_bundle *b);
/* Map the clock page of that version, read only. (clock.c) */
int mlx5_clock_mmap(struct uv_context *ctx, uint32_t version, void *addr, size_t len, int prot,
		    int flags, void **out);
int mlx5_mmap(struct uv_context *ctx, void *addr, size_t len, int prot, int flags, off_t off,
	      void **out);
void mlx5_uar_finish(struct mlx5_context *mc);

/* ---- dm.c: device memory */
int mlx5_alloc_dm(struct uv_dm *dm, uint32_t log_align, struct uv_bundle *b);
int mlx5_dealloc_dm(struct uv_dm *dm);
int mlx5_reg_dm_mr(struct uv_mr *mr, uint64_t offset);
int mlx5_method_dm_query(struct uv_bundle *b);
int mlx5_method_dm_map_op_addr(struct uv_bundle *b);
/* Map the memory whose first page has that index. */
int mlx5_dm_mmap(struct uv_context *ctx, uint32_t index, void *addr, size_t len, int prot,
		 int flags, void **out);
void mlx5_dm_finish(struct mlx5_context *mc);

/* ---- pp.c: packet pacing entries */
extern const struct uv_type mlx5_pp_type;
int mlx5_method_pp_alloc(struct uv_bundle *b);

/* ---- verbs objects: pd.c mr.c cq.c srq.c qp.c qp_modify.c */
int mlx5_alloc_pd(struct uv_pd *pd, struct uv_udata *u);
int mlx5_dealloc_pd(struct uv_pd *pd);
int mlx5_create_ah(struct uv_ah *ah, struct uv_udata *u);
int mlx5_reg_mr(struct uv_mr *mr, struct uv_udata *u);
int mlx5_rereg_mr(struct uv_mr *mr, uint32_t flags, uint64_t start, uint64_t len, uint64_t iova,
		  uint32_t access, struct uv_pd *pd);
int mlx5_dereg_mr(struct uv_mr *mr);
int mlx5_advise_mr(struct uv_pd *pd, uint32_t advice, uint32_t flags,
		   const struct ib_uverbs_sge *sge, size_t n);
/* A region over device memory; mr->iova is its address in BAR 0. */
int mlx5_memic_mr(struct uv_mr *mr);
/* The low byte of the next key, which the driver chooses. */
uint8_t mlx5_key_variant(struct uv_context *ctx);
int mlx5_alloc_mw(struct uv_mw *mw, struct uv_udata *u);
int mlx5_dealloc_mw(struct uv_mw *mw);

int mlx5_create_cq(struct uv_cq *cq, uint32_t cqe, uint32_t comp_vector, uint32_t flags,
		   struct uv_udata *u);
int mlx5_resize_cq(struct uv_cq *cq, uint32_t cqe, struct uv_udata *u);
/* Event moderation: after `count` completions or `period` microseconds. */
#define MLX5_MAX_CQ_COUNT 0xffff
#define MLX5_MAX_CQ_PERIOD 0xfff
/* -EOPNOTSUPP: QPs and WQs of this device cannot use the CQ's timestamps. NULL: no CQ. */
int mlx5_cq_ts_check(const struct uv_cq *cq);
/* Bytes of a CQE; 128 without a CQ, as mlx5_ib_get_cqe_size() says. */
uint32_t mlx5_cqe_size(const struct uv_cq *cq);
int mlx5_modify_cq(struct uv_cq *cq, uint16_t count, uint16_t period);
int mlx5_destroy_cq(struct uv_cq *cq);

int mlx5_create_srq(struct uv_srq *srq, const struct ibv_srq_init_attr_ex *a, struct uv_udata *u);
int mlx5_modify_srq(struct uv_srq *srq, uint32_t mask, const struct ibv_srq_attr *a);
int mlx5_query_srq(struct uv_srq *srq, struct ibv_srq_attr *a);
int mlx5_destroy_srq(struct uv_srq *srq);

int mlx5_attach_mcast(struct uv_qp *qp, const uint8_t *gid, uint16_t lid);
int mlx5_detach_mcast(struct uv_qp *qp, const uint8_t *gid, uint16_t lid);
uint32_t mlx5_find_xrcd(struct uv_context *ctx, const struct uv_inode *k);
int mlx5_alloc_xrcd(struct uv_xrcd *x, const struct uv_inode *k);
int mlx5_open_xrcd(struct uv_xrcd *x);
int mlx5_dealloc_xrcd(struct uv_xrcd *x);
int mlx5_open_qp(struct uv_qp *qp);
/* destroy_qp of an XRC target: ends one handle, and the QP with the last one. */
int mlx5_destroy_xrc_tgt(struct uv_qp *qp);
/* CREATE_QP of an XRC target: no queue, no memory, no driver data. */
int mlx5_create_xrc_tgt(struct uv_qp *qp, uint32_t create_flags,
			const struct mlx5_ib_create_qp *cmd, struct uv_udata *u);

struct mlx5_srq { /* uv_srq.obj.drv */
	struct mlx5_umem buf;
	struct mlx5_dbr dbr;
	uint32_t log_size, log_stride; /* log2 of the number of WQEs, and of the bytes of one */
	uint32_t user_index;
	uint32_t log_tags; /* of its tag list */
	bool wq_sig;
};
/* Capability log_tag_matching_list_sz; 0: no tag matching. */
uint32_t mlx5_log_tags(const struct uv_context *ctx);
int mlx5_xrc_srq_create(struct uv_context *ctx, const struct uv_srq *srq, const struct mlx5_srq *m,
			uint32_t *srqn);
int mlx5_xrc_srq_arm(struct uv_srq *srq, uint32_t limit);
int mlx5_xrc_srq_query(struct uv_srq *srq, struct ibv_srq_attr *a);

/* XRC objects belong to no context. */
static inline uint16_t mlx5_qp_uid(const struct uv_context *ctx, const struct uv_qp *qp)
{
	return hw_service_ib(qp->qp_type)->xrc ? 0 : (uint16_t)ctx->devx_uid;
}
/* ---- objects that open files share (share.c) */
int mlx5_share_lock(struct uv_context *ctx);
void mlx5_share_unlock(struct uv_context *ctx);
/* Make a share in the element for this context's file. */
int mlx5_share_join(struct uv_context *ctx, enum seg_table_id table, uint32_t idx, uint32_t *share);
/* End a share. True: others remain. False: it is the last one; free it after the element. */
bool mlx5_share_leave(struct uv_context *ctx, uint32_t share);

/* ---- event targets (target.c) */
struct uv_target mlx5_cq_target(const struct uv_cq *cq, bool comp);
struct uv_target mlx5_srq_target(const struct uv_srq *srq);
struct uv_target mlx5_qp_target(const struct uv_qp *qp);
struct uv_target mlx5_wq_target(const struct uv_wq *wq);

/* wq.c */
int mlx5_create_wq(struct uv_wq *wq, uint32_t flags, struct uv_udata *u);
int mlx5_modify_wq(struct uv_wq *wq, const struct uv_wq_modify *m, struct uv_udata *u);
int mlx5_destroy_wq(struct uv_wq *wq);
int mlx5_create_rwq_ind_tbl(struct uv_rwq_ind_tbl *t, struct uv_udata *u);
int mlx5_destroy_rwq_ind_tbl(struct uv_rwq_ind_tbl *t);
/* counters.c */
int mlx5_create_counters(struct uv_counters *c);
int mlx5_destroy_counters(struct uv_counters *c);

struct mlx5_qp { /* uv_qp.obj.drv; all zero at first */
	struct mlx5_umem buf;
	struct mlx5_dbr dbr;
	uint32_t rq_wqe_cnt, rq_max_gs;
	uint32_t sq_wqe_cnt;
	uint32_t uar;
	uint32_t bfreg; /* 1 + the register from bfreg.c; 0: none */
	bool block_lb_mc;
	/* kept for later modifies, as set_qpc_atomic_flags in the kernel */
	uint32_t access_flags;
	uint8_t resp_depth;
	/* a DCT, made at RTR */
	bool is_dct;
	uint32_t dctn; /* 0: not made yet */
	uint8_t dctc[LAYOUT_SZ(dctc)];
};

/* ---- dc.c */
bool mlx5_dci_modify_ok(const struct uv_qp_modify *m);
int mlx5_create_dct(struct uv_qp *qp, uint32_t create_flags, const struct mlx5_ib_create_qp *cmd,
		    struct uv_udata *u);
/* `ece`: the ECE options that the program requests; 0: none. */
int mlx5_modify_dct(struct uv_qp *qp, const struct uv_qp_modify *m, uint32_t ece,
		    struct uv_udata *u);
int mlx5_query_dct(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask);
int mlx5_destroy_dct(struct uv_qp *qp);
/* The atomic_mode of a QP that takes atomics, or -EOPNOTSUPP; the port's set of Q counters. */
int mlx5_atomic_mode(const struct hw_caps *c);
uint32_t mlx5_port_counters(const struct uv_context *ctx, uint32_t num);

int mlx5_create_qp(struct uv_qp *qp, const struct ibv_qp_cap *cap, uint32_t create_flags,
		   struct uv_udata *u);
int mlx5_modify_qp(struct uv_qp *qp, const struct uv_qp_modify *m, struct uv_udata *u);
int mlx5_query_qp(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask);
int mlx5_destroy_qp(struct uv_qp *qp);
void mlx5_qp_refused(const struct uv_qp *qp);
/* Destroy the QP itself, whether or not others share it. */
int mlx5_end_qp(struct uv_qp *qp);
/* The IBV_RATE_* of ads.stat_rate. */
uint8_t mlx5_rate_of(uint64_t stat_rate);

/* ---- DEVX: devx.c devx_umem.c */
extern const struct uv_type mlx5_devx_obj_type, mlx5_devx_umem_type;
/* Firmware commands in a trace (devx_trace.c). */
struct rec;
void mlx5_show_cmd_in(struct rec *r, const char *name, const uint8_t *p, size_t len);
void mlx5_show_cmd_out(struct rec *r, const char *name, const uint8_t *p, size_t len);
int mlx5_method_devx_other(struct uv_bundle *b);
int mlx5_method_devx_query_uar(struct uv_bundle *b);
int mlx5_method_devx_query_eqn(struct uv_bundle *b);
int mlx5_method_devx_obj_create(struct uv_bundle *b);
int mlx5_method_devx_obj_modify(struct uv_bundle *b);
int mlx5_method_devx_obj_query(struct uv_bundle *b);
int mlx5_method_devx_umem_reg(struct uv_bundle *b);
int mlx5_method_devx_obj_async_query(struct uv_bundle *b);
/* The object's identity (devx_table.h). Notes that it has subscribers, which end with it. */
uint64_t mlx5_devx_obj_subscribed(struct uv_object *o);

/* ---- DEVX: devx_event.c */
extern const struct uv_type mlx5_devx_cmd_file_type, mlx5_devx_event_file_type;
int mlx5_method_devx_cmd_file_alloc(struct uv_bundle *b);
int mlx5_method_devx_event_file_alloc(struct uv_bundle *b);
int mlx5_method_devx_subscribe_event(struct uv_bundle *b);

/* The EQ of a completion vector, or -ENOENT. */
int mlx5_vector2eqn(const struct uv_context *ctx, uint32_t vector);

#endif
