/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to uverbs: an open file, one call, the combined method table, the write commands.
 * driver.h is for drivers, uverbs.h for the shim.
 *
 * ioctl.c   framing of RDMA_VERBS_IOCTL, attributes, running a method
 * write.c   framing of write(2) and INVOKE_WRITE, the command table
 * bundle.c  a handler's view of a call; copies from and to the program
 * api.c     core and driver tables combined and checked
 * object.c  handles, locks, commit, abort, destroy, close
 * file.c    open, release, mmap, fork
 * event.c   readable files and event targets
 * trace.c   a call as a trace line
 * umem.c    checks and accounting of registered memory
 * std_*.c   the handlers, one file per kind of object
 */
#ifndef SOFTHCA_UVERBS_PRIV_H
#define SOFTHCA_UVERBS_PRIV_H

#include <errno.h>
#include "uverbs/driver.h"
#include "hw/evq.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/heap.h"
#include "util/log.h"
#include "util/rec.h"

/* ---- an open file (file.c) ---- */

struct uv_handles { /* gives the lowest free number, as the kernel's xa_alloc() */
	struct uv_object **slot;
	uint64_t *used; /* a bit per slot; set with a NULL slot: the object is being made */
	uint32_t cap;   /* number of slots, a multiple of 64 */
	uint32_t hint;  /* no slot below 64 * hint is free */
};

/* The opener, who alone may write(2), as long as its credentials stay the same. */
struct uv_cred {
	int pid;
	uint32_t uid[3], gid[3]; /* real, effective and saved */
	uint64_t caps;           /* effective */
};

struct uv_file {
	struct uv_cred opener;
	struct uv_system *sys;
	struct seg *seg;
	const struct uv_api *api;
	uint32_t hca; /* SEG_T_HCA */
	struct uv_device device;
	uint32_t file; /* SEG_T_FILE index and generation */
	uint32_t gen;
	_Atomic int refs;     /* references: this process's descriptors, and each event file */
	pthread_mutex_t lock; /* protects everything below */
	bool closed;
	struct uv_context *ctx; /* &context once GET_CONTEXT has succeeded */
	struct uv_context context;
	struct uv_object *objects; /* objects with a handle; newest first */
	struct uv_object *fds;     /* objects of type struct uv_event_file; newest first */
	struct uv_handles handles;
	struct uv_event_file *default_async; /* the async file made first; holds a reference */
	/* bytes of registered memory that this process counted for the file */
	_Atomic uint64_t pinned;
};

void uv_file_get(struct uv_file *f);
void uv_file_put(struct uv_file *f);
/* Does the device have a port of this number? */
bool uv_file_has_port(const struct uv_file *f, uint32_t num);
/* An entry of a port's table. -EINVAL: no such port or index; -ENODATA: the entry is empty. */
int uv_file_gid(const struct uv_file *f, uint32_t port, uint64_t index, struct uv_gid *gid);

/* ---- address handles and paths (av.c) ---- */

/* rdma_fill_sgid_attr(): may a path have this source? -EINVAL, -ENODATA. */
int uv_av_check(const struct uv_file *f, uint32_t port, bool is_global, uint64_t sgid_index);
/*
 * ib_resolve_eth_dmac(), after uv_av_check(): the MAC address behind a GID. Changes the hop limit
 * where the kernel takes that of the route.
 */
int uv_av_resolve(const struct uv_file *f, uint32_t port, uint64_t sgid_index,
		  const uint8_t dgid[16], uint8_t mac[6], uint8_t *hop_limit);

void uv_cred_get(struct uv_cred *c);

/* ---- the combined tables (api.c) ---- */

#define UV_IDS 32 /* ids per namespace: objects, methods, attributes */

struct uv_method {
	uint16_t object, id;
	const char *object_name;
	const struct uv_method_def *def; /* the row with the handler */
	unsigned int nattrs;
	const struct uv_attr_def **attrs;
	int8_t slot[2 * UV_IDS]; /* from attribute key to index into attrs; -1: unknown */
	int destroy;             /* index of the UV_DESTROY_ACCESS attribute; -1: none */
	bool has_udata;
};

struct uv_api_object {
	bool present;
	/*
	 * the driver lacks an operation for it, so the driver's own methods of it are absent, too
	 */
	bool absent;
	const char *name;
	const struct uv_type *type;
	struct uv_method *method[2 * UV_IDS];
};

#define UV_CMDS 64 /* numbers of write commands */

struct uv_cmd;
struct uv_api {
	const struct uv_driver *driver;
	struct uv_api_object object[2 * UV_IDS];
	/* by number; cmd[1] has the extended commands; NULL: absent */
	const struct uv_cmd *cmd[2][UV_CMDS];
};

/* Index of an id in the tables above; -1: out of range. */
static inline int uv_key(uint16_t id)
{
	unsigned int ns = id >> UVERBS_ID_NS_SHIFT, n = id & ((1u << UVERBS_ID_NS_SHIFT) - 1);

	return ns > 1 || n >= UV_IDS ? -1 : (int)(ns * UV_IDS + n);
}

/* 0; -EINVAL: the tables contradict each other (a bug; logged); -ENOMEM. */
int uv_api_create(const struct uv_driver *d, struct uv_api **out);
void uv_api_destroy(struct uv_api *api);
const struct uv_method *uv_api_method(const struct uv_api *api, uint16_t object, uint16_t method);
const struct uv_api_object *uv_api_object(const struct uv_api *api, uint16_t object);
/* Does the driver have the operation at this offset of struct uv_driver? 0: none is needed. */
bool uv_has_op(const struct uv_driver *d, size_t op);

/* The core's objects, each defined in the file of its handlers. */
extern const struct uv_object_def uv_def_device, uv_def_pd, uv_def_ah, uv_def_mr, uv_def_mw,
	uv_def_cq, uv_def_srq, uv_def_qp, uv_def_comp_channel, uv_def_async_event, uv_def_wq,
	uv_def_rwq_ind_tbl, uv_def_counters, uv_def_dm;
extern const struct uv_object_def uv_def_xrcd;

/* ---- write commands (write.c) ---- */

struct uv_cmd {
	uint16_t nr;
	bool ex;
	const char *name;
	/* sizes of the core structures; extended commands may be shorter or longer */
	uint16_t req, resp;
	const char *req_type, *resp_type; /* their names; NULL: none */
	/* names of the driver's structures, without "DRIVER_ib_"; NULL: none */
	const char *driver_in, *driver_out;
	bool has_resp, has_udata;
	bool destroys;
	size_t needs[2]; /* offsets in struct uv_driver of the operations that the method needs */
	int (*handler)(struct uv_bundle *b);
};
/*
 * Fill in api->cmd with the commands that the driver supports. 0; -EINVAL: a number occurs twice.
 */
int uv_cmd_index(struct uv_api *api);
/* The name of the call's command, also of one that the device does not support. */
const char *uv_cmd_name(const struct uv_bundle *b);
int uv_cmd_invoke_write(struct uv_bundle *b);

int uv_cmd_get_context(struct uv_bundle *b);
int uv_cmd_query_device(struct uv_bundle *b);
int uv_cmd_ex_query_device(struct uv_bundle *b);
int uv_cmd_query_port(struct uv_bundle *b);
int uv_cmd_alloc_pd(struct uv_bundle *b);
int uv_cmd_dealloc_pd(struct uv_bundle *b);
int uv_cmd_create_ah(struct uv_bundle *b);
int uv_cmd_destroy_ah(struct uv_bundle *b);
int uv_cmd_reg_mr(struct uv_bundle *b);
int uv_cmd_rereg_mr(struct uv_bundle *b);
int uv_cmd_dereg_mr(struct uv_bundle *b);
int uv_cmd_alloc_mw(struct uv_bundle *b);
int uv_cmd_dealloc_mw(struct uv_bundle *b);
int uv_cmd_create_comp_channel(struct uv_bundle *b);
int uv_cmd_create_cq(struct uv_bundle *b);
int uv_cmd_ex_create_cq(struct uv_bundle *b);
int uv_cmd_ex_modify_cq(struct uv_bundle *b);
int uv_cmd_resize_cq(struct uv_bundle *b);
int uv_cmd_destroy_cq(struct uv_bundle *b);
int uv_cmd_create_qp(struct uv_bundle *b);
int uv_cmd_ex_create_qp(struct uv_bundle *b);
int uv_cmd_query_qp(struct uv_bundle *b);
int uv_cmd_modify_qp(struct uv_bundle *b);
int uv_cmd_ex_modify_qp(struct uv_bundle *b);
int uv_cmd_destroy_qp(struct uv_bundle *b);
int uv_cmd_create_srq(struct uv_bundle *b);
int uv_cmd_create_xsrq(struct uv_bundle *b);
int uv_cmd_modify_srq(struct uv_bundle *b);
int uv_cmd_query_srq(struct uv_bundle *b);
int uv_cmd_destroy_srq(struct uv_bundle *b);
int uv_cmd_open_xrcd(struct uv_bundle *b);
int uv_cmd_close_xrcd(struct uv_bundle *b);
int uv_cmd_open_qp(struct uv_bundle *b);
int uv_cmd_attach_mcast(struct uv_bundle *b);
int uv_cmd_detach_mcast(struct uv_bundle *b);
/* A QP is destroyed: forget its groups. */
void uv_mcast_forget(struct uv_qp *qp, bool detach);
int uv_cmd_ex_create_wq(struct uv_bundle *b);
int uv_cmd_ex_modify_wq(struct uv_bundle *b);
int uv_cmd_ex_destroy_wq(struct uv_bundle *b);
int uv_cmd_ex_create_rwq_ind_tbl(struct uv_bundle *b);
int uv_cmd_ex_destroy_rwq_ind_tbl(struct uv_bundle *b);

/* ---- one call (bundle.c) ---- */

struct uv_attr {
	const struct uv_attr_def *def; /* NULL: the call does not have it */
	uint16_t index;                /* index in the program's array */
	uint16_t len;
	uint32_t elem;           /* ENUM_IN */
	uint64_t data;           /* inline bytes, constant, fd, or user address */
	void *copy;              /* copy of a PTR_IN of more than 8 bytes */
	struct uv_object *obj;   /* for IDR and FD */
	struct uv_object **objs; /* IDRS_ARRAY */
	unsigned int nobjs;
};

struct uv_held {
	struct uv_object *obj;
	enum uv_access access;
};

struct uv_chunk { /* memory of a call that exceeds the call's own buffer */
	struct uv_chunk *next;
	uint64_t data[];
};

#define UV_MAX_HELD 24

/* Why a call was refused: an attribute, a rule, and numbers if the rule has some. */
struct uv_why {
	const char *attr, *rule;
	enum { UV_WHY_PLAIN, UV_WHY_RANGE, UV_WHY_BITS, UV_WHY_ID } kind;
	uint64_t value, low, high; /* for the rule BITS, `high` has the allowed ones */
};

struct uv_bundle {
	struct uv_file *file;
	struct uv_context *ctx; /* NULL before GET_CONTEXT */
	const struct uv_method *method;
	const struct uv_cmd *cmd;
	uint32_t command;    /* its number, as the program gave it */
	uint64_t user_attrs; /* user address of the program's attributes */
	struct ib_uverbs_attr *uattrs;
	unsigned int nuattrs;
	struct uv_attr *attrs; /* method->nattrs */

	/* A write command's own structures, inline... */
	const void *core_inline; /* or */
	uint64_t core_in;        /* ...or at a user address */
	size_t core_inlen;
	uint64_t core_out;
	size_t core_outlen;
	bool core_out_attr; /* CORE_OUT of INVOKE_WRITE: mark it with VALID_OUTPUT */

	struct uv_udata udata;

	struct uv_object *obj_new;
	bool created;           /* the hardware object of `made` exists */
	struct uv_object *gone; /* objects destroyed in this call; freed at its end */
	struct uv_held held[UV_MAX_HELD];
	unsigned int nheld;

	struct uv_chunk *chunks;
	size_t used;
	uint64_t buf[128];

	struct uv_why why;
	struct rec *trace;           /* the call's trace line; NULL: the trace is off */
	bool trace_attrs, trace_out; /* the line has the attributes; the line has output */
	uint64_t trace_new;          /* 1 + the handle of the new object */
};

void uv_b_trace(struct uv_bundle *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define UV_TRACE(b, ...)                                     \
	do {                                                 \
		if (__builtin_expect((b)->trace != NULL, 0)) \
			uv_b_trace((b), __VA_ARGS__);        \
	} while (0)

void uv_b_init(struct uv_bundle *b, struct uv_file *f);
/* Zeroed memory that lives as long as the call; or NULL. */
void *uv_b_alloc(struct uv_bundle *b, size_t len);
/* End a call: commit or abort what was made, release what was held. Returns the final result. */
int uv_b_finish(struct uv_bundle *b, int ret);
struct uv_attr *uv_b_attr(struct uv_bundle *b, uint16_t id);
int uv_b_set_output(struct uv_bundle *b, const struct uv_attr *a);
/*
 * For write commands: extends the request with zeroes (-EOPNOTSUPP if a longer one does not end in
 * zeroes), cuts or zero-fills the answer.
 */
int uv_request(struct uv_bundle *b, void *req, size_t len);
/*
 * For requests with a list: the first copies a part of exactly len bytes, or returns -ENOSPC; the
 * second checks that nothing but zeroes follows the last part.
 */
int uv_request_part(struct uv_bundle *b, size_t at, void *dst, size_t len);
int uv_request_end(struct uv_bundle *b, size_t at);
int uv_response(struct uv_bundle *b, const void *resp, size_t len);
uint32_t uv_response_length(const struct uv_bundle *b, size_t len);
/* The error that a rule of --inject gives this method (with its object) or command now; else 0. */
int uv_injected(struct uv_bundle *b, const char *object, const char *name);
/* Can the range be user memory at all? */
bool uv_user_range(uint64_t uaddr, size_t len);
bool uv_user_cleared(uint64_t uaddr, size_t len);

/*
 * ---- the trace of a call (trace.c); all but the first functions only while b->trace is set ----
 */

/* Note the reason for a refusal, unless there is one; returns err. uv_why() is in driver.h. */
void uv_why_init(void); /* at the start of a call */
/* The result of an operation without a bundle, and its rule. */
void uv_trace_result(struct rec *r, int result);
/* Refuse a call that is not identified yet; returns err. `h` may be NULL. */
int uv_refuse_frame(const char *what, const struct ib_uverbs_ioctl_hdr *h, size_t len, int err,
		    const char *rule);
int uv_why_attr(struct uv_bundle *b, int err, const char *attr, const char *rule);
int uv_why_range(struct uv_bundle *b, int err, const char *attr, const char *rule, uint64_t value,
		 uint64_t low, uint64_t high);
int uv_why_id(struct uv_bundle *b, int err, uint16_t attr);
int uv_why_bits(struct uv_bundle *b, int err, const char *attr, uint64_t value, uint64_t allowed);

void uv_trace_begin(struct uv_bundle *b, struct rec *r, const char *what, uint64_t since);
void uv_trace_attrs(struct uv_bundle *b);
struct rec;
void uv_trace_file(struct rec *r, const struct uv_file *f); /* which device file */
void uv_trace_command(struct uv_bundle *b);                 /* the name of a write command */
void uv_trace_request(struct uv_bundle *b, const void *p, size_t len);
void uv_trace_response(struct uv_bundle *b, const void *p, size_t len);
void uv_trace_out(struct uv_bundle *b, const struct uv_attr *a, const void *p, size_t len);
void uv_trace_driver_out(struct uv_bundle *b, const void *p, size_t len);
void uv_trace_end(struct uv_bundle *b, int result);
/* Tells the reason for a refusal (hw/told.h), with or without a trace. */
void uv_tell(struct uv_bundle *b, int result);
/* "QP 0x51"; returns its length. */
size_t uv_object_name(const struct uv_object *o, char *text, size_t size);
const char *uv_short_name(const char *name);

/* ---- objects (object.c) ---- */

/* Look up an object and lock it for the rest of the call. NULL and *err. fd: id is a descriptor. */
struct uv_object *uv_get(struct uv_bundle *b, const struct uv_type *t, int64_t id,
			 enum uv_access access, int *err);
/* The same without a lock: valid as long as the file's mutex is held. */
struct uv_object *uv_find(struct uv_bundle *b, const struct uv_type *t, int64_t id,
			  enum uv_access access, int *err);
/* Begin an object, invisible until uv_b_finish(b, 0). One per call. */
int uv_new(struct uv_bundle *b, const struct uv_type *t, struct uv_object **out);
/* Destroy an object looked up with UV_DESTROY_ACCESS; its memory stays until the call ends. */
int uv_destroy(struct uv_bundle *b, struct uv_object *o);
/* Look up and destroy an object. NULL and *err. */
struct uv_object *uv_get_destroy(struct uv_bundle *b, const struct uv_type *t, uint32_t id,
				 int *err);
int uv_commit(struct uv_bundle *b);
void uv_abort(struct uv_bundle *b);
void uv_put_all(struct uv_bundle *b);
/* Destroy all objects of a closing file: local memory only. */
void uv_close_all(struct uv_file *f);
void uv_list_del(struct uv_object **head, struct uv_object *o);

/* ---- registered memory (umem.c) ---- */

/* The memory check of uv_umem_get(), for a range that was registered before. */
int uv_umem_check(uint64_t addr, uint64_t len, uint32_t access);

/* ---- events (event.c) ---- */

/* The async file of an attribute, or the file's default one, with a reference. May be NULL. */
struct uv_event_file *uv_async_file(struct uv_bundle *b, uint16_t attr);
void uv_async_made(struct uv_event_file *e); /* the first one becomes the default */
void uv_target_set(const struct uv_target *t, const struct uv_event_file *e, uint64_t cookie);
/*
 * Called before an object is destroyed: no further event of it is queued, unread ones are dropped,
 * *reported is final. A busy object keeps its events. uv_target_gone: called again after it is
 * gone.
 */
void uv_target_clear(struct seg *s, const struct uv_target *t, uint32_t *reported);
void uv_target_gone(struct seg *s, const struct uv_target *t, const struct uv_event_file *e);
/* the device file of the event file is gone: readers get EIO */
void uv_event_closed(struct uv_event_file *e);

/* ---- QP state machine (qp_mask.c) ---- */

/* May a QP of this type (IBV_QPT_*) go from cur to next with exactly these attributes? */
uint32_t uv_modify_qp_mask(uint32_t type, uint32_t mask);
bool uv_modify_qp_is_ok(uint32_t cur, uint32_t next, uint32_t type, uint32_t mask);
/* If it is not: what is missing, or surplus, in words. */
void uv_modify_qp_why(uint32_t cur, uint32_t next, uint32_t type, uint32_t mask, char *buf,
		      size_t size);
#define UV_QP_MASK_TEXT 384
/* "STATE|PKEY_INDEX"; bits without a name in hexadecimal. */
void uv_qp_mask_text(uint32_t mask, char *buf, size_t size);
const char *uv_qp_state_name(uint32_t state);

#endif
