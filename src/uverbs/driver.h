/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Between uverbs and a hardware driver: the ops table, the objects, and how methods are declared
 * (the counterpart of the kernel's ib_verbs.h and uverbs_ioctl.h). uverbs owns handles, reference
 * counts, attribute checking and commit or abort; the driver sees valid input only and never a
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
 * One uobject. Concrete objects embed it first. Its type (struct uv_type) says how it is destroyed
 * and in which order at close. `uses` counts other objects that refer to it: destroying is EBUSY
 * while > 0.
 */
struct uv_type {
	const char *name;
	uint16_t object_id; /* UVERBS_OBJECT_* or a driver one */
	uint32_t size;      /* bytes of the concrete struct */
	int destroy_order; /* at close, lower first: 0 QP, FLOW, MW... as the kernel's order; PD and
			      XRCD last */
	/*
	 * Destroy the hardware object. Non-zero: it stays (EBUSY, EREMOTEIO...). `why`: UV_DESTROY
	 * asked for (uses is 0); UV_ABORT: its creation failed after uv_b_created(), the program
	 * has never seen it; UV_CLOSE: the file closes and the supervisor reaps the hardware
	 * itself: free local memory only, cannot fail. May be NULL. uverbs frees the object, and at
	 * UV_CLOSE calls heap_free(o->drv) when destroy has left it.
	 */
	int (*destroy)(struct uv_object *o, int why);
	/* Of a readable file: called with UV_CLOSE when its last reference anywhere is gone. */
	bool is_fd;                 /* handle is a file descriptor; o is a struct uv_event_file */
	enum seg_file_kind fd_kind; /* is_fd: what the new file is */
};
enum { UV_DESTROY, UV_CLOSE, UV_ABORT };

/* The core's types, for methods that a driver adds to core objects. */
extern const struct uv_type uv_type_pd, uv_type_ah, uv_type_mr, uv_type_mw, uv_type_cq, uv_type_srq,
	uv_type_qp, uv_type_comp_channel, uv_type_async_event, uv_type_wq, uv_type_rwq_ind_tbl,
	uv_type_counters;
extern const struct uv_type uv_type_xrcd;

struct uv_object {
	const struct uv_type *type;
	struct uv_file *file;
	uint32_t handle; /* or fd */
	_Atomic int uses;
	uint64_t user_handle;
	/*
	 * The driver's: NULL or one block of heap_zalloc(). Its destroy op frees it; where no op is
	 * called (UV_CLOSE), uverbs does.
	 */
	void *drv;
	/* uverbs's own */
	struct uv_object *next, *prev; /* of the file, newest first */
	int locks;                     /* calls that hold it: -1 one alone, else readers */
};

/* A readable file: comp channel, async events, driver kinds (which may embed it first). */
struct uv_event_file {
	struct uv_object obj;
	uint32_t evq, gen; /* SEG_T_EVQ index == SEG_T_FILE index, and its generation */
	_Atomic int refs;  /* the descriptor, each object whose events go here, readers */
};

struct uv_context {
	struct uv_file *file;
	struct uv_system *sys;
	struct seg *seg;
	uint32_t hca;
	uint32_t seg_file; /* SEG_T_FILE index of the open file: owns what is made */
	uint32_t devx_uid; /* set by alloc_ucontext; 0: not opened with DEVX */
	void *drv;
};

/* The context of an object's file: never NULL, there are no objects without one. */
struct uv_context *uv_obj_context(const struct uv_object *o);

struct uv_pd {
	struct uv_object obj;
	uint32_t pdn;
};

struct uv_ah {
	struct uv_object obj;
	struct uv_pd *pd;
	struct ib_uverbs_ah_attr attr;
};

struct uv_mr {
	struct uv_object obj;
	struct uv_pd *pd;
	uint32_t lkey, rkey;
	uint64_t start, len, iova;
	uint32_t access;
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
	uint32_t cqe; /* what the program is told: 2^n - 1 */
	struct uv_event_file *comp, *async;
	uint32_t comp_reported, async_reported; /* final when destroyed */
};

/* A handle of an XRC domain; several, also of other processes, may stand for the same one. */
struct uv_xrcd {
	struct uv_object obj;
	uint32_t xrcd;
	uint32_t share; /* the driver's: the part in what open files share; 0: private */
};

struct uv_srq {
	struct uv_object obj;
	struct uv_pd *pd;
	struct uv_cq *cq;     /* XRC, tag matching */
	struct uv_xrcd *xrcd; /* XRC */
	uint32_t srqn;
	uint32_t srq_type;
	uint32_t max_wr, max_sge; /* asked for; the driver stores what it gives */
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
	uint32_t state;           /* IBV_WQS_; kept by uverbs */
	uint32_t max_wr, max_sge; /* asked for; the driver stores what it gives */
	struct uv_event_file *async;
	uint32_t async_reported;
};

struct uv_rwq_ind_tbl {
	struct uv_object obj;
	uint32_t num; /* the driver's: RQT number */
	uint32_t log_size;
	struct uv_wq **wq; /* 1 << log_size */
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
	struct uv_xrcd *xrcd;           /* XRC target: and no other of these */
	uint32_t share;                 /* XRC target: the driver's, as uv_xrcd.share */
	struct uv_mcast *mcast;         /* groups that it is attached to */
	struct uv_rwq_ind_tbl *ind_tbl; /* instead of a receive queue; no recv_cq then */
	uint32_t qpn;
	uint32_t qp_type;      /* IB_QPT_ */
	uint32_t state;        /* IB_QPS_; as the last modify or query said; kept by uverbs */
	uint32_t port;         /* kept by uverbs */
	struct ibv_qp_cap cap; /* the driver stores what it gives */
	uint8_t sq_sig_all;
	struct uv_event_file *async;
	uint32_t async_reported;
};

/* Driver data of a call: UHW_IN / UHW_OUT of an ioctl or the tail of a write(). Copies are guarded
 * (-EFAULT). */
struct uv_udata {
	const void *in; /* already in our memory */
	size_t inlen;
	uint64_t out; /* user address, 0 none */
	size_t outlen;
	struct uv_bundle *bundle;
};
/* Copies min(len, outlen), zero-fills nothing. 0 or -EFAULT. */
int uv_udata_out(struct uv_udata *u, const void *data, size_t len);

/* ---- the ops table (the kernel's ib_device_ops) ---- */

struct uv_device_attr {               /* neutral form of both query_device answers */
	struct ibv_device_attr_ex ex; /* orig_attr inside */
	uint64_t fw_ver_num;          /* major << 32 | minor << 16 | sub */
};

/* Without the attributes that its type has no use for; the driver asks uv_modify_qp_check(). */
struct uv_qp_modify {
	uint32_t mask; /* IBV_QP_* */
	uint32_t cur_state, new_state;
	struct ibv_qp_attr attr; /* host order */
	uint32_t rate_limit;
};

/*
 * What drivers check by the common rules, ib_modify_qp_is_ok() first: 0 or -EINVAL. Of types that a
 * driver alone knows (IBV_QPT_DRIVER) it knows no transition.
 */
int uv_modify_qp_check(const struct uv_qp *qp, const struct uv_qp_modify *m);

struct uv_wq_modify {
	uint32_t mask; /* IBV_WQ_ATTR_* */
	uint32_t cur_state, new_state;
	uint32_t flags, flags_mask;
};

/* What is constant of a device. The tables are those of each port. */
struct uv_device {
	uint32_t num_ports, num_comp_vectors;
	uint32_t gid_tbl_len, pkey_tbl_len;
};

/* The file that stands for an XRC domain. `born`: the number of an inode may come back. */
struct uv_inode {
	uint32_t major, minor;
	uint64_t ino, born;
};

/* Where the driver keeps whom an object's events go to, and what these are about (seg_evsrc). */
struct uv_target {
	struct hw_evtarget *at; /* NULL: the object has no events now */
	uint32_t table, idx;
	bool busy; /* a hardware object refers to it, so that destroying it will be refused */
};

/*
 * All with the file's mutex held, on valid objects of that file. A create op that fails has undone
 * everything itself; obj.drv is its own. Operations are optional: without one the objects, methods
 * and commands that need it are absent, as in the kernel.
 */
struct uv_driver {
	const char *name;
	uint32_t driver_id; /* RDMA_DRIVER_MLX5 */
	/* objects and methods of the driver's own, and attributes it adds to core methods */
	const struct uv_object_def *objects;
	unsigned int nobjects;

	int (*alloc_ucontext)(struct uv_context *ctx, struct uv_udata *u);
	void (*dealloc_ucontext)(struct uv_context *ctx);
	int (*query_ucontext)(struct uv_context *ctx, struct uv_udata *u); /* QUERY_CONTEXT */
	/* u NULL: the old QUERY_DEVICE, which has no driver data */
	int (*query_device)(struct uv_context *ctx, struct uv_device_attr *a, struct uv_udata *u);
	/* Needed; asked once for each open file. */
	void (*get_device)(struct seg *s, uint32_t hca, struct uv_device *d);
	/* Of a port and index that the device has. -EINVAL: the port is gone. */
	int (*query_gid)(struct seg *s, uint32_t hca, uint32_t port, uint32_t index,
			 uint8_t gid[16]);
	int (*query_port)(struct uv_context *ctx, uint32_t port, struct ibv_port_attr *a);
	int (*mmap)(struct uv_context *ctx, void *addr, size_t len, int prot, int flags, off_t off,
		    void **out);

	int (*alloc_pd)(struct uv_pd *pd, struct uv_udata *u);
	int (*dealloc_pd)(struct uv_pd *pd);
	int (*create_ah)(struct uv_ah *ah, struct uv_udata *u);
	/* start, len, iova, access, pd set; uv_umem_get() of the range has been done */
	int (*reg_mr)(struct uv_mr *mr, struct uv_udata *u);
	/* flags IB_MR_REREG_*; values of what does not change are the old ones. Sets lkey, rkey. */
	int (*rereg_mr)(struct uv_mr *mr, uint32_t flags, uint64_t start, uint64_t len,
			uint64_t iova, uint32_t access, struct uv_pd *pd);
	int (*dereg_mr)(struct uv_mr *mr);
	int (*alloc_mw)(struct uv_mw *mw, struct uv_udata *u);
	int (*dealloc_mw)(struct uv_mw *mw);
	int (*create_cq)(struct uv_cq *cq, uint32_t cqe, uint32_t comp_vector, uint32_t flags,
			 struct uv_udata *u);
	int (*resize_cq)(struct uv_cq *cq, uint32_t cqe, struct uv_udata *u);
	int (*modify_cq)(struct uv_cq *cq, uint16_t count, uint16_t period);
	int (*destroy_cq)(struct uv_cq *cq);
	/* Of completions, or of async events. The driver reads and raises what uverbs sets there.
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
	/* Asks uv_modify_qp_check() itself, when it has read its data. */
	int (*modify_qp)(struct uv_qp *qp, const struct uv_qp_modify *m, struct uv_udata *u);
	/* everything of *a, cap included */
	int (*query_qp)(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask);
	int (*destroy_qp)(struct uv_qp *qp);
	struct uv_target (*qp_target)(const struct uv_qp *qp);
	int (*attach_mcast)(struct uv_qp *qp, const uint8_t *gid, uint16_t lid);
	int (*detach_mcast)(struct uv_qp *qp, const uint8_t *gid, uint16_t lid);
	/*
	 * XRC domains and XRC target QPs may have handles in several open files, also of other
	 * processes; dealloc_xrcd and destroy_qp end one handle, and the element with the last.
	 * While share_lock is held (0 or -ETIMEDOUT), nobody else finds, makes or ends a shared
	 * domain: find_xrcd, alloc_xrcd and open_xrcd are called under it, the others are not.
	 */
	int (*share_lock)(struct uv_context *ctx);
	void (*share_unlock)(struct uv_context *ctx);
	/* The domain that the file stands for; 0: there is none. */
	uint32_t (*find_xrcd)(struct uv_context *ctx, const struct uv_inode *k);
	/* A private domain (k is NULL), or one that the file stands for. */
	int (*alloc_xrcd)(struct uv_xrcd *x, const struct uv_inode *k);
	/* Another handle of the domain x->xrcd, which find_xrcd has found. */
	int (*open_xrcd)(struct uv_xrcd *x);
	int (*dealloc_xrcd)(struct uv_xrcd *x);
	/* Another handle of an XRC target: qpn and xrcd are set. -EINVAL: no such QP there. */
	int (*open_qp)(struct uv_qp *qp);
	/* create_flags IB_UVERBS_WQ_FLAGS_*: not checked by uverbs for the command */
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
	UV_A_PTR_IN, /* bytes in; <= 8 inline */
	UV_A_PTR_OUT,
	UV_A_IDR, /* handle of one type (or any: type NULL) */
	UV_A_FD,
	UV_A_ENUM_IN,  /* elem id selects one of several PTR_IN specs */
	UV_A_CONST_IN, /* u64 constant, at most `allowed` (0: any) else EINVAL */
	UV_A_FLAGS_IN, /* u32 or u64 with a mask of allowed bits else EINVAL */
	UV_A_RAW_FD,
	UV_A_IDRS_ARRAY,
};
enum uv_access { UV_READ, UV_WRITE, UV_NEW, UV_DESTROY_ACCESS };

struct rec;
struct uv_attr_def {
	uint16_t id; /* with UVERBS_ID_NS_SHIFT bit for the driver namespace */
	const char *name;
	/* For traces, of PTR_*: "struct ib_..." or a number's; of UHW what follows "DRIVER_ib_". */
	const char *type_name;
	/* For traces, of PTR_*: what shows min_len bytes or more; NULL: they are of type_name. */
	void (*show)(struct rec *r, const char *name, const uint8_t *p, size_t len);
	enum uv_attr_kind kind;
	bool mandatory;
	bool zero_trailing;        /* a longer input must have a zero tail (else EOPNOTSUPP) */
	bool alloc_copy;           /* engine copies the input into a buffer of the bundle */
	bool is_udata;             /* UHW_IN, UHW_OUT: see UV_ATTR_UHW */
	uint16_t min_len, max_len; /* PTR_*: bytes; max_len 0xffff: any. CONST, FLAGS: unused */
	enum uv_access access;
	const struct uv_type *type;      /* IDR, FD; NULL: any object */
	uint64_t allowed;                /* FLAGS_IN: bits; CONST_IN: maximum; ENUM_IN: elements */
	const struct uv_attr_def *elems; /* ENUM_IN: [allowed] PTR_IN rows (min, max, trailing) */
};

/* The common shapes of a row. UV_ATTR_STRUCT: a struct that may grow: up to `last` needed. */
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
/* The driver's data and the names of its structures, by the uapi's scheme: mlx5_ib_IN. NULL: none.
 */
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

struct uv_bundle; /* one call: see below */

struct uv_method_def {
	uint16_t id;
	const char *name;
	const struct uv_attr_def *attrs;
	unsigned int nattrs;
	int (*handler)(struct uv_bundle *b); /* NULL: this row only adds attributes to a core method
						of that id; a method whose only work is
						to destroy: uv_destroy_handler */
	bool no_context;                     /* callable before GET_CONTEXT */
	bool runs_command;                   /* INVOKE_WRITE: the command judges CORE_IN */
};

struct uv_object_def {
	uint16_t id;
	const char *name;
	const struct uv_type *type; /* NULL for DEVICE, DEVX... */
	const struct uv_method_def *methods;
	unsigned int nmethods;
	size_t needs; /* offsetof(struct uv_driver, op): absent when the driver lacks op; 0 none */
};

/* Does nothing: the engine has destroyed the object of the UV_DESTROY_ACCESS attribute already. */
int uv_destroy_handler(struct uv_bundle *b);

/* ---- what a handler sees ---- */

struct uv_context *uv_b_context(struct uv_bundle *b); /* never NULL unless no_context */
bool uv_b_has(struct uv_bundle *b, uint16_t attr);
/* Input bytes (in our memory, valid during the call) and their length; NULL when the attribute is
 * absent. */
const void *uv_b_in(struct uv_bundle *b, uint16_t attr, size_t *len);
uint64_t uv_b_const(struct uv_bundle *b, uint16_t attr,
		    uint64_t absent); /* CONST_IN, FLAGS_IN, ENUM elem, 1/2/4/8-byte PTR_IN */
size_t uv_b_out_len(struct uv_bundle *b, uint16_t attr); /* bytes of room, 0 absent */
int uv_b_out(struct uv_bundle *b, uint16_t attr, const void *data,
	     size_t len); /* copy min, sets VALID_OUTPUT; -ENOENT absent */
/* The rest of the answer buffer is zeroed too (uverbs_copy_to_struct_or_zero). */
int uv_b_out_zero(struct uv_bundle *b, uint16_t attr, const void *data, size_t len);
/* The object of an IDR or FD attribute: locked for the call, of the declared type; NULL absent. */
struct uv_object *uv_b_obj(struct uv_bundle *b, uint16_t attr);
/* The object being made by a UV_NEW attribute: zeroed, type->size bytes; committed when the handler
 * returns 0, freed otherwise. */
struct uv_object *uv_b_new(struct uv_bundle *b, uint16_t attr);
/*
 * The hardware object behind uv_b_new() exists now: a later failure of the call (-EFAULT on an
 * answer) destroys it again with UV_ABORT. Before this, a failing handler undoes by itself.
 */
void uv_b_created(struct uv_bundle *b);
/*
 * For the trace: why a handler refuses what the rows could not judge. Returns err; the first reason
 * stays. `rule` is kept by reference.
 */
int uv_why(struct uv_bundle *b, int err, const char *rule);
/* The same where no call is at hand: it is that of this thread. */
int uv_no(int err, const char *rule);
/* Guarded access to the caller's memory outside attributes. 0 or -EFAULT. */
int uv_copy_from_user(void *dst, uint64_t uaddr, size_t len);
int uv_copy_to_user(uint64_t uaddr, const void *src, size_t len);
/* A reference from one object to another (QP -> CQ): destroying `to` is EBUSY until dropped. */
void uv_use(struct uv_object *to);
void uv_unuse(struct uv_object *to);

/* References of hardware objects to where their events go. put: NULL is fine. */
struct uv_event_file *uv_event_file_get(struct uv_event_file *e);
void uv_event_file_put(struct uv_event_file *e);

/*
 * What ib_umem_get() checks of a range of the caller's memory: -EINVAL wraps or is empty; -EFAULT
 * not mapped, or not writable although `access` (IB_ACCESS_*) needs it; -ENOMEM beyond the limit
 * (of locked memory, counting the pages it covers). REG_MR does this for the driver; for umems and
 * queue buffers the driver calls it. put: gives the accounted pages back.
 */
int uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access);
void uv_umem_put(struct uv_file *f, uint64_t addr, uint64_t len);

/* The caller's effective capabilities (CAP_*), as capable() would say. */
bool uv_capable(unsigned int cap);

#endif
