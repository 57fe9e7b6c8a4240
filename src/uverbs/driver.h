/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface between uverbs and a hardware driver: the ops table, the objects, and how methods
 * are declared (as the kernel's ib_verbs.h and uverbs_ioctl.h). uverbs owns handles, reference
 * counts, attribute checking and commit or abort; the driver sees only valid input and never a
 * handle.
 */
#ifndef SOFTHCA_UVERBS_DRIVER_H
#define SOFTHCA_UVERBS_DRIVER_H

#include <pthread.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "uverbs/uverbs.h"

/* ---- objects ---- */

struct hw_evtarget;
struct uv_object;
struct uv_bundle;
struct uv_object_def;

/*
 * One uobject; concrete objects embed it as first member. Its type (struct uv_type) says how it is
 * destroyed and in which order at close. `uses` counts other objects that refer to it: destroying
 * it is EBUSY while > 0.
 */
struct uv_type {
	const char *name;
	uint16_t object_id; /* UVERBS_OBJECT_* or an id of the driver */
	uint32_t size;      /* size of the concrete structure */
	/* for traces: the offset of the device's number of it (32 bits), 0: it has none */
	uint32_t number;
	/* for traces: what it is, if `name` does not tell */
	const char *(*kind)(const struct uv_object *o);
	/* lower first at close: 0 QP, FLOW, MW... in the kernel's order; PD and XRCD last */
	int destroy_order;
	/*
	 * Destroy the hardware object. Non-zero: it stays (EBUSY, EREMOTEIO...). `why`: UV_DESTROY
	 * by request (uses is 0); UV_ABORT: its creation failed after uv_b_created(), and the
	 * program has never seen it; UV_CLOSE: the file closes and the supervisor reaps the
	 * hardware: free local memory only, cannot fail. May be NULL. uverbs frees the object and,
	 * at UV_CLOSE, calls heap_free(o->drv) if destroy has left it.
	 */
	int (*destroy)(struct uv_object *o, int why);
	/*
	 * For a readable file, destroy() is called with UV_CLOSE when its last reference anywhere
	 * is gone.
	 */
	bool is_fd;                 /* the handle is a descriptor; o is a struct uv_event_file */
	enum seg_file_kind fd_kind; /* if is_fd: the kind of the new file */
};
enum { UV_DESTROY, UV_CLOSE, UV_ABORT };

/* Types of core objects, for methods that a driver adds to them. */
extern const struct uv_type uv_type_pd, uv_type_ah, uv_type_mr, uv_type_mw, uv_type_cq, uv_type_srq,
	uv_type_qp, uv_type_comp_channel, uv_type_async_event, uv_type_wq, uv_type_rwq_ind_tbl,
	uv_type_counters, uv_type_dm;
extern const struct uv_type uv_type_xrcd;

struct uv_object {
	const struct uv_type *type;
	struct uv_file *file;
	uint32_t handle; /* handle, or descriptor */
	_Atomic int uses;
	uint64_t user_handle;
	/*
	 * For the driver: NULL or one block of heap_zalloc(). Its destroy op frees it; at UV_CLOSE
	 * uverbs does if no op is called.
	 */
	void *drv;
	/* For uverbs: */
	struct uv_object *next, *prev; /* list of the file's objects, newest first */
	int locks; /* locks of running calls: -1 exclusive, else the number of readers */
};

/*
 * A readable file: completion channel, async events, or a driver's kind (which may embed this
 * first).
 */
struct uv_event_file {
	struct uv_object obj;
	uint32_t evq, gen; /* SEG_T_EVQ index == SEG_T_FILE index, and its generation */
	/* references: the descriptor, readers, and each object whose events go here */
	_Atomic int refs;
};

struct uv_context {
	struct uv_file *file;
	struct uv_system *sys;
	struct seg *seg;
	uint32_t hca;
	uint32_t seg_file; /* SEG_T_FILE index of the open file, which owns what is made */
	uint32_t devx_uid; /* set by alloc_ucontext; 0: opened without DEVX */
	void *drv;
};

/* The context of an object's file; never NULL, as every object has one. */
struct uv_context *uv_obj_context(const struct uv_object *o);

struct uv_pd {
	struct uv_object obj;
	uint32_t pdn;
};

struct uv_ah {
	struct uv_object obj;
	struct uv_pd *pd;
	struct ib_uverbs_ah_attr attr;
	uint8_t dmac[6]; /* RoCE */
};

struct uv_mr {
	struct uv_object obj;
	struct uv_pd *pd;
	uint32_t lkey, rkey;
	uint64_t start, len, iova;
	uint32_t access;
	struct uv_dm *dm; /* the device memory under it; NULL: memory of the program */
};

/* Device memory. */
struct uv_dm {
	struct uv_object obj;
	uint64_t len; /* as the program asked for it */
};

struct uv_mw {
	struct uv_object obj;
	struct uv_pd *pd;
	uint32_t type; /* IBV_MW_TYPE_* */
	uint32_t rkey;
};

struct uv_cq {
	struct uv_object obj;
	uint32_t cqn;
	uint32_t cqe; /* the number reported to the program: 2^n - 1 */
	struct uv_event_file *comp, *async;
	uint32_t comp_reported, async_reported; /* event counts reported by destroy */
};

/* A handle of an XRC domain; several, also in other processes, may refer to the same domain. */
struct uv_xrcd {
	struct uv_object obj;
	uint32_t xrcd;
	uint32_t share; /* for the driver: this file's share in the domain; 0: private */
};

struct uv_srq {
	struct uv_object obj;
	struct uv_pd *pd;
	struct uv_cq *cq;     /* for XRC and tag matching */
	struct uv_xrcd *xrcd; /* XRC */
	uint32_t srqn;
	uint32_t srq_type;
	uint32_t max_wr, max_sge; /* requested values; the driver stores the actual ones */
	struct uv_event_file *async;
	uint32_t async_reported;
};

struct uv_counters {
	struct uv_object obj;
};

struct uv_wq {
	struct uv_object obj;
	struct uv_pd *pd;
	struct uv_cq *cq;
	uint32_t wqn;
	uint32_t type;            /* IBV_WQT_ */
	uint32_t state;           /* IBV_WQS_*; uverbs keeps it */
	uint32_t max_wr, max_sge; /* requested values; the driver stores the actual ones */
	struct uv_event_file *async;
	uint32_t async_reported;
};

struct uv_rwq_ind_tbl {
	struct uv_object obj;
	uint32_t num; /* for the driver: the RQT number */
	uint32_t log_size;
	struct uv_wq **wq; /* 1 << log_size entries */
};

struct uv_mcast {
	struct uv_mcast *next;
	uint8_t gid[16];
	uint16_t mlid;
};

struct uv_qp {
	struct uv_object obj;
	struct uv_pd *pd;
	struct uv_cq *send_cq, *recv_cq;
	struct uv_srq *srq;
	struct uv_xrcd *xrcd;           /* an XRC target has this, and none of the others */
	uint32_t share;                 /* XRC target, for the driver: like uv_xrcd.share */
	struct uv_mcast *mcast;         /* groups that the QP is attached to */
	struct uv_rwq_ind_tbl *ind_tbl; /* in place of a receive queue; then there is no recv_cq */
	uint32_t qpn;
	uint32_t qp_type;      /* IB_QPT_ */
	uint32_t state;        /* IB_QPS_*, after the last modify or query; uverbs keeps it */
	uint32_t port;         /* uverbs keeps it */
	struct ibv_qp_cap cap; /* the driver stores the actual values */
	uint8_t sq_sig_all;
	struct uv_event_file *async;
	uint32_t async_reported;
};

/*
 * Driver data of a call: UHW_IN and UHW_OUT of an ioctl, or the tail of a write(). Copies are
 * guarded (-EFAULT).
 */
struct uv_udata {
	const void *in; /* already copied to this library's memory */
	size_t inlen;
	uint64_t out; /* user address; 0: none */
	size_t outlen;
	struct uv_bundle *bundle;
};
/* Copy min(len, outlen) bytes, without filling the rest. 0 or -EFAULT. */
int uv_udata_out(struct uv_udata *u, const void *data, size_t len);

/* ---- the ops table (the kernel's ib_device_ops) ---- */

struct uv_device_attr {               /* the answers of both query_device calls */
	struct ibv_device_attr_ex ex; /* includes orig_attr */
	uint64_t fw_ver_num;          /* major << 32 | minor << 16 | sub */
};

/*
 * Values without the attributes that the type does not use; the driver calls uv_modify_qp_check().
 */
struct uv_qp_modify {
	uint32_t mask; /* IBV_QP_* */
	uint32_t cur_state, new_state;
	struct ibv_qp_attr attr; /* numbers in host byte order */
	uint32_t rate_limit;
	uint8_t dmac[6]; /* RoCE: the MAC address behind attr.ah_attr of a connected QP */
};

/*
 * The common checks for drivers, like ib_modify_qp_is_ok(): 0 or -EINVAL. Types that only a driver
 * knows (IBV_QPT_DRIVER) have no transitions here.
 */
int uv_modify_qp_check(const struct uv_qp *qp, const struct uv_qp_modify *m);

struct uv_wq_modify {
	uint32_t mask; /* IBV_WQ_ATTR_* */
	uint32_t cur_state, new_state;
	uint32_t flags, flags_mask;
};

/* Constants of a device. Table lengths are those of each port. */
struct uv_device {
	uint32_t num_ports, num_comp_vectors;
	uint32_t gid_tbl_len, pkey_tbl_len;
	bool roce;      /* Ethernet ports; else InfiniBand */
	bool grh;       /* every path has a GRH: rdma_is_grh_required() */
	uint32_t index; /* of the device on its host: the N of uverbsN */
	char name[32];  /* as "mlx5_0" */
};

/* An entry of a port's GID table. */
struct uv_gid {
	uint8_t raw[16];
	uint32_t type;    /* IBV_GID_TYPE_* */
	uint32_t ifindex; /* of its network interface; 0: none */
};

/* The file that names an XRC domain. `born`, because an inode number may be reused. */
struct uv_inode {
	uint32_t major, minor;
	uint64_t ino, born;
};

/*
 * Where the driver keeps the event queue of an object, and the source that its events name
 * (seg_evsrc).
 */
struct uv_target {
	struct hw_evtarget *at; /* NULL: the object has no events at present */
	uint32_t table, idx;
	bool busy; /* a hardware object refers to it, so it cannot be destroyed */
};

/*
 * All are called with the file's mutex held, on valid objects of that file. A create op that fails
 * has undone everything itself; obj.drv belongs to it. Operations are optional: without one, the
 * objects, methods and commands that need it are absent, as in the kernel.
 */
struct uv_driver {
	const char *name;
	uint32_t driver_id; /* RDMA_DRIVER_MLX5 */
	/* objects and methods of the driver, and attributes that it adds to core methods */
	const struct uv_object_def *objects;
	unsigned int nobjects;

	int (*alloc_ucontext)(struct uv_context *ctx, struct uv_udata *u);
	void (*dealloc_ucontext)(struct uv_context *ctx);
	int (*query_ucontext)(struct uv_context *ctx, struct uv_udata *u); /* QUERY_CONTEXT */
	/* u NULL: the old QUERY_DEVICE, without driver data */
	int (*query_device)(struct uv_context *ctx, struct uv_device_attr *a, struct uv_udata *u);
	/* Mandatory; called once for each open file. */
	void (*get_device)(struct seg *s, uint32_t hca, struct uv_device *d);
	/* For a port and index that the device has. -EINVAL: the port is gone. */
	int (*query_gid)(struct seg *s, uint32_t hca, uint32_t port, uint32_t index,
			 struct uv_gid *gid);
	/*
	 * RoCE: the MAC address of the neighbour that has the address of `dgid`, seen from an
	 * interface, and the hop limit of the route. -ENETUNREACH, -ENODEV: no route; -ETIMEDOUT:
	 * nobody has it.
	 */
	int (*find_neighbour)(struct seg *s, uint32_t hca, uint32_t ifindex, const uint8_t dgid[16],
			      uint8_t mac[6], uint8_t *hop_limit);
	int (*query_port)(struct uv_context *ctx, uint32_t port, struct ibv_port_attr *a);
	int (*mmap)(struct uv_context *ctx, void *addr, size_t len, int prot, int flags, off_t off,
		    void **out);

	int (*alloc_pd)(struct uv_pd *pd, struct uv_udata *u);
	int (*dealloc_pd)(struct uv_pd *pd);
	int (*create_ah)(struct uv_ah *ah, struct uv_udata *u);
	/* start, len, iova, access and pd are set; uv_umem_get() has checked the range */
	int (*reg_mr)(struct uv_mr *mr, struct uv_udata *u);
	/* flags: IB_MR_REREG_*; values that do not change are the old ones. Sets lkey and rkey. */
	int (*rereg_mr)(struct uv_mr *mr, uint32_t flags, uint64_t start, uint64_t len,
			uint64_t iova, uint32_t access, struct uv_pd *pd);
	int (*dereg_mr)(struct uv_mr *mr);
	/* Prefetch, by IB_UVERBS_ADVISE_MR_*, what the elements name; n is not 0. */
	int (*advise_mr)(struct uv_pd *pd, uint32_t advice, uint32_t flags,
			 const struct ib_uverbs_sge *sge, size_t n);
	/*
	 * Make device memory of dm->len bytes, aligned to 1 << log_align; b has the driver's
	 * attributes.
	 */
	int (*alloc_dm)(struct uv_dm *dm, uint32_t log_align, struct uv_bundle *b);
	int (*dealloc_dm)(struct uv_dm *dm);
	/* mr->dm, len, access and pd are set; the range is inside the memory. Sets iova, too. */
	int (*reg_dm_mr)(struct uv_mr *mr, uint64_t offset);
	int (*alloc_mw)(struct uv_mw *mw, struct uv_udata *u);
	int (*dealloc_mw)(struct uv_mw *mw);
	int (*create_cq)(struct uv_cq *cq, uint32_t cqe, uint32_t comp_vector, uint32_t flags,
			 struct uv_udata *u);
	int (*resize_cq)(struct uv_cq *cq, uint32_t cqe, struct uv_udata *u);
	int (*modify_cq)(struct uv_cq *cq, uint16_t count, uint16_t period);
	int (*destroy_cq)(struct uv_cq *cq);
	/*
	 * The target of completions, or of async events. uverbs sets it; the driver raises events
	 * by it.
	 */
	struct uv_target (*cq_target)(const struct uv_cq *cq, bool comp);
	int (*create_srq)(struct uv_srq *srq, const struct ibv_srq_init_attr_ex *a,
			  struct uv_udata *u);
	int (*modify_srq)(struct uv_srq *srq, uint32_t mask, const struct ibv_srq_attr *a);
	int (*query_srq)(struct uv_srq *srq, struct ibv_srq_attr *a);
	int (*destroy_srq)(struct uv_srq *srq);
	struct uv_target (*srq_target)(const struct uv_srq *srq);
	int (*create_qp)(struct uv_qp *qp, const struct ibv_qp_cap *cap, uint32_t create_flags,
			 struct uv_udata *u);
	/* Calls uv_modify_qp_check() itself, after reading its driver data. */
	int (*modify_qp)(struct uv_qp *qp, const struct uv_qp_modify *m, struct uv_udata *u);
	/* fills in everything in *a, including cap */
	int (*query_qp)(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask);
	int (*destroy_qp)(struct uv_qp *qp);
	/* A change of its state was refused, by uverbs or by modify_qp(). May be NULL. */
	void (*qp_refused)(const struct uv_qp *qp);
	struct uv_target (*qp_target)(const struct uv_qp *qp);
	int (*attach_mcast)(struct uv_qp *qp, const uint8_t *gid, uint16_t lid);
	int (*detach_mcast)(struct uv_qp *qp, const uint8_t *gid, uint16_t lid);
	/*
	 * XRC domains and XRC target QPs may have handles in several open files, also of other
	 * processes; dealloc_xrcd and destroy_qp end one handle, and the element with the last one.
	 * While share_lock is held (0 or -ETIMEDOUT), nobody else finds, makes or ends a shared
	 * domain: find_xrcd, alloc_xrcd and open_xrcd are called under it, the others are not.
	 */
	int (*share_lock)(struct uv_context *ctx);
	void (*share_unlock)(struct uv_context *ctx);
	/* The domain that the file names; 0: none. */
	uint32_t (*find_xrcd)(struct uv_context *ctx, const struct uv_inode *k);
	/* Make a domain: private (k is NULL), or named by a file. */
	int (*alloc_xrcd)(struct uv_xrcd *x, const struct uv_inode *k);
	/* Make another handle of domain x->xrcd, which find_xrcd has found. */
	int (*open_xrcd)(struct uv_xrcd *x);
	int (*dealloc_xrcd)(struct uv_xrcd *x);
	/* Make another handle of an XRC target; qpn and xrcd are set. -EINVAL: no such QP there. */
	int (*open_qp)(struct uv_qp *qp);
	/* create_flags: IB_UVERBS_WQ_FLAGS_*; uverbs does not check them for the write command */
	int (*create_wq)(struct uv_wq *wq, uint32_t create_flags, struct uv_udata *u);
	int (*modify_wq)(struct uv_wq *wq, const struct uv_wq_modify *m, struct uv_udata *u);
	int (*destroy_wq)(struct uv_wq *wq);
	struct uv_target (*wq_target)(const struct uv_wq *wq);
	int (*create_rwq_ind_tbl)(struct uv_rwq_ind_tbl *t, struct uv_udata *u);
	int (*destroy_rwq_ind_tbl)(struct uv_rwq_ind_tbl *t);
	int (*create_counters)(struct uv_counters *c);
	int (*destroy_counters)(struct uv_counters *c);
};

/* ---- declaring methods ---- */

enum uv_attr_kind {
	UV_A_PTR_IN, /* input bytes; up to 8 are inline */
	UV_A_PTR_OUT,
	UV_A_IDR, /* handle of one type (type NULL: of any) */
	UV_A_FD,
	UV_A_ENUM_IN,  /* elem_id selects one of several PTR_IN rows */
	UV_A_CONST_IN, /* a u64 constant, at most `allowed` (0: any), else EINVAL */
	UV_A_FLAGS_IN, /* a u32 or u64 with only bits of `allowed`, else EINVAL */
	UV_A_RAW_FD,
	UV_A_IDRS_ARRAY,
};
enum uv_access { UV_READ, UV_WRITE, UV_NEW, UV_DESTROY_ACCESS };

struct rec;
struct uv_attr_def {
	uint16_t id; /* bit UVERBS_ID_NS_SHIFT: in the driver's namespace */
	const char *name;
	/*
	 * For traces of PTR_*: "struct ib_..." or a number's type; for UHW what follows
	 * "DRIVER_ib_".
	 */
	const char *type_name;
	/* For traces of PTR_*: prints at least min_len bytes; NULL: print them as type_name. */
	void (*show)(struct rec *r, const char *name, const uint8_t *p, size_t len);
	enum uv_attr_kind kind;
	bool mandatory;
	/* the part of a longer input that exceeds max_len must be zero (else EOPNOTSUPP) */
	bool zero_trailing;
	bool alloc_copy; /* the input is copied into a buffer of the bundle */
	bool is_udata;   /* UHW_IN, UHW_OUT: see UV_ATTR_UHW */
	/* PTR_*: bytes; max_len 0xffff: any length. CONST, FLAGS: unused */
	uint16_t min_len, max_len;
	enum uv_access access;
	const struct uv_type *type; /* IDR, FD: the type; NULL: any object */
	/* FLAGS_IN: the bits; CONST_IN: the maximum; ENUM_IN: the number of elements */
	uint64_t allowed;
	/* ENUM_IN: [allowed] rows of PTR_IN (min, max, trailing) */
	const struct uv_attr_def *elems;
};

/*
 * Common shapes of rows. UV_ATTR_STRUCT: a structure that may grow; bytes up to `last` are needed.
 */
#define UV_ATTR_IN(i, t, m)                                                                    \
	{                                                                                      \
		.id = (i), .name = #i, .type_name = #t, .kind = UV_A_PTR_IN, .mandatory = (m), \
		.min_len = sizeof(t), .max_len = sizeof(t)                                     \
	}
#define UV_ATTR_OUT(i, t, m)                                                                    \
	{                                                                                       \
		.id = (i), .name = #i, .type_name = #t, .kind = UV_A_PTR_OUT, .mandatory = (m), \
		.min_len = sizeof(t), .max_len = sizeof(t)                                      \
	}
#define UV_ATTR_IN_MIN(i, n, m)                                                               \
	{                                                                                     \
		.id = (i), .name = #i, .kind = UV_A_PTR_IN, .mandatory = (m), .min_len = (n), \
		.max_len = 0xffff                                                             \
	}
#define UV_ATTR_OUT_MIN(i, n, m)                                                               \
	{                                                                                      \
		.id = (i), .name = #i, .kind = UV_A_PTR_OUT, .mandatory = (m), .min_len = (n), \
		.max_len = 0xffff                                                              \
	}
#define UV_ATTR__ENDOF(t, last) (offsetof(t, last) + sizeof(((t *)0)->last))
#define UV_ATTR_IN_STRUCT(i, t, last, m)                                                        \
	{                                                                                       \
		.id = (i), .name = #i, .type_name = #t, .kind = UV_A_PTR_IN, .mandatory = (m),  \
		.zero_trailing = true, .min_len = UV_ATTR__ENDOF(t, last), .max_len = sizeof(t) \
	}
#define UV_ATTR_OUT_STRUCT(i, t, last, m)                                                       \
	{                                                                                       \
		.id = (i), .name = #i, .type_name = #t, .kind = UV_A_PTR_OUT, .mandatory = (m), \
		.zero_trailing = true, .min_len = UV_ATTR__ENDOF(t, last), .max_len = sizeof(t) \
	}
#define UV_ATTR_CONST(i, max, m)                                                                 \
	{                                                                                        \
		.id = (i), .name = #i, .kind = UV_A_CONST_IN, .mandatory = (m), .allowed = (max) \
	}
#define UV_ATTR_FLAGS(i, bits, m)                                                                 \
	{                                                                                         \
		.id = (i), .name = #i, .kind = UV_A_FLAGS_IN, .mandatory = (m), .allowed = (bits) \
	}
#define UV_ATTR_IDR(i, typ, acc, m)                                                         \
	{                                                                                   \
		.id = (i), .name = #i, .kind = UV_A_IDR, .mandatory = (m), .access = (acc), \
		.type = (typ)                                                               \
	}
#define UV_ATTR_FD(i, typ, acc, m)                                                         \
	{                                                                                  \
		.id = (i), .name = #i, .kind = UV_A_FD, .mandatory = (m), .access = (acc), \
		.type = (typ)                                                              \
	}
/* Driver data, and the names of its structures by the uapi's scheme: mlx5_ib_IN. NULL: none. */
#define UV_ATTR_UHW(in, out)                                                      \
	{.id = UVERBS_ATTR_UHW_IN,                                                \
	 .name = "UHW_IN",                                                        \
	 .type_name = (in),                                                       \
	 .kind = UV_A_PTR_IN,                                                     \
	 .is_udata = true,                                                        \
	 .max_len = 0xffff},                                                      \
	{                                                                         \
		.id = UVERBS_ATTR_UHW_OUT, .name = "UHW_OUT", .type_name = (out), \
		.kind = UV_A_PTR_OUT, .is_udata = true, .max_len = 0xffff         \
	}

struct uv_bundle; /* One call of the program; the functions below give a handler its parts. */

struct uv_method_def {
	uint16_t id;
	const char *name;
	const struct uv_attr_def *attrs;
	unsigned int nattrs;
	/*
	 * NULL: the row only adds attributes to the core method of that id; for a method that only
	 * destroys: uv_destroy_handler
	 */
	int (*handler)(struct uv_bundle *b);
	bool no_context;   /* callable before GET_CONTEXT */
	bool runs_command; /* for INVOKE_WRITE: the command checks CORE_IN */
};

struct uv_object_def {
	uint16_t id;
	const char *name;
	const struct uv_type *type; /* NULL for objects without handles: DEVICE, DEVX... */
	const struct uv_method_def *methods;
	unsigned int nmethods;
	/* offsetof(struct uv_driver, op): absent if the driver lacks that op; 0: none needed */
	size_t needs;
};

/* Does nothing: the object of the UV_DESTROY_ACCESS attribute is already destroyed. */
int uv_destroy_handler(struct uv_bundle *b);

/* ---- functions for handlers ---- */

struct uv_context *uv_b_context(struct uv_bundle *b); /* never NULL unless no_context */
bool uv_b_has(struct uv_bundle *b, uint16_t attr);
/* Input bytes (copied, valid during the call) and their length; NULL: the attribute is absent. */
const void *uv_b_in(struct uv_bundle *b, uint16_t attr, size_t *len);
uint64_t uv_b_const(struct uv_bundle *b, uint16_t attr,
		    /*
		     * The value of CONST_IN, FLAGS_IN, an ENUM element id, or a PTR_IN of 1, 2, 4
		     * or 8 bytes.
		     */
		    uint64_t absent);
/* length of the output buffer; 0: absent */
size_t uv_b_out_len(struct uv_bundle *b, uint16_t attr);
int uv_b_out(struct uv_bundle *b, uint16_t attr, const void *data,
	     size_t len); /* copies what fits and sets VALID_OUTPUT; -ENOENT: absent */
/* The same, and zeroes the rest of the buffer (uverbs_copy_to_struct_or_zero). */
int uv_b_out_zero(struct uv_bundle *b, uint16_t attr, const void *data, size_t len);
/* The object of an IDR or FD attribute: of the declared type, locked for the call; NULL: absent. */
struct uv_object *uv_b_obj(struct uv_bundle *b, uint16_t attr);
/*
 * The object that a UV_NEW attribute makes: zeroed, type->size bytes; committed if the handler
 * returns 0, else freed.
 */
struct uv_object *uv_b_new(struct uv_bundle *b, uint16_t attr);
/*
 * The hardware object of uv_b_new() exists now: a later failure of the call (-EFAULT on an answer)
 * destroys it with UV_ABORT. Before this call, a failing handler undoes its work itself.
 */
void uv_b_created(struct uv_bundle *b);
/*
 * For the trace: the reason for a refusal that the rows could not check. Returns err; the first
 * reason stays. Keeps a reference to `rule`.
 */
int uv_why(struct uv_bundle *b, int err, const char *rule);
/* The same without a bundle: for this thread's call. */
int uv_no(int err, const char *rule);
/* A rule: the firmware has refused a command of the driver. */
extern const char uv_rule_firmware[];
/* The same with a text that is copied. */
#define UV_RULE_TEXT 200
int uv_no_text(int err, const char *text);
/* Guarded copies of the caller's memory outside attributes. 0 or -EFAULT. */
int uv_copy_from_user(void *dst, uint64_t uaddr, size_t len);
int uv_copy_to_user(uint64_t uaddr, const void *src, size_t len);
/*
 * A reference from one object to another (QP -> CQ): destroying `to` is EBUSY until it is dropped.
 */
void uv_use(struct uv_object *to);
void uv_unuse(struct uv_object *to);

/* References from hardware objects to the file of their events. put: NULL is fine. */
struct uv_event_file *uv_event_file_get(struct uv_event_file *e);
void uv_event_file_put(struct uv_event_file *e);

/*
 * The checks of ib_umem_get() for a range of the caller's memory: -EINVAL wraps or is empty;
 * -EFAULT not mapped, or not writable although `access` (IB_ACCESS_*) needs it; -ENOMEM beyond the
 * limit of locked memory, counting whole pages. REG_MR does this for the driver; for umems and
 * queue buffers the driver calls it. put: returns the counted pages.
 */
int uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access);
void uv_umem_put(struct uv_file *f, uint64_t addr, uint64_t len);
/* The same for all that a file still has, when its objects are gone. */
void uv_umem_put_all(const struct uv_file *f);

/* Does the caller have the effective capability (CAP_*), as capable() would say? */
bool uv_capable(unsigned int cap);

#endif
