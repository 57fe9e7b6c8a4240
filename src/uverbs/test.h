/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of this folder: a segment, a driver that only takes notes, and a shim made of
 * an array.
 */
#ifndef SOFTHCA_UVERBS_TEST_H
#define SOFTHCA_UVERBS_TEST_H

#include "segment/test.h"
#include <assert.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <rdma/rdma_user_ioctl.h>
#include "uverbs/priv.h"

#define MAX_FD 256
#define FAKE_NS 0x1000                                                    /* The driver's ids. */
enum { FAKE_PORTS = 2, FAKE_VECTORS = 5, FAKE_GIDS = 6, FAKE_PKEYS = 3 }; /* The driver's device. */

struct env {
	struct seg s;
	struct uv_system sys;
	struct uv_driver driver;
	uint32_t hca;
	struct uv_file *f;
	void *fd_obj[MAX_FD];
	int fd_kind[MAX_FD];
	int opened, closed; /* virtual files */
	/* what the driver saw, and what it shall return */
	int made, destroyed;
	int fail;      /* the next create or destroy returns this, once */
	uint64_t seen; /* the last udata's first 8 bytes */
	struct uv_qp_modify modify;
	uint32_t mr_access;
};
extern struct env *env; /* of the running test */

/* An object of the fake driver: FAKE_OBJ 0x1000. */
enum { FAKE_OBJECT = FAKE_NS };
enum { FAKE_METHOD_CREATE = FAKE_NS, FAKE_METHOD_DESTROY, FAKE_METHOD_TOUCH, FAKE_METHOD_ANY };
enum {
	FAKE_ATTR_HANDLE = FAKE_NS,
	FAKE_ATTR_WORD,  /* input of 4 bytes */
	FAKE_ATTR_BLOB,  /* input of 4 to 16 bytes; longer: the rest is zero; copied */
	FAKE_ATTR_BYTES, /* input of any length */
	FAKE_ATTR_OUT,   /* output of 4 bytes */
	FAKE_ATTR_CONST, /* constant, at most 7 */
	FAKE_ATTR_FLAGS, /* flags: bits 0 and 4 */
	FAKE_ATTR_ENUM,  /* one of 2 elements: u32, u64 */
	FAKE_ATTR_RAW_FD,
	FAKE_ATTR_ARRAY, /* array of 1 to 3 PDs */
	FAKE_ATTR_OTHER, /* any object, exclusive access */
};

extern const struct uv_driver fake_driver;

/* with that driver, without a context */
int env_setup_driver(void **state, const struct uv_driver *driver);
int env_make_context(void);
int env_setup(void **state);         /* with the fake driver, without a context */
int env_setup_context(void **state); /* with a context, made by ioctl, and an async file */
int env_teardown(void **state);

/* struct ib_uverbs_ioctl_hdr without the array at its end. */
struct call_hdr {
	uint16_t length, object_id, method_id, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
};
static_assert(sizeof(struct call_hdr) == sizeof(struct ib_uverbs_ioctl_hdr), "header");

/* A call being put together. */
struct call {
	struct call_hdr hdr;
	struct ib_uverbs_attr attr[32];
};
void call_begin(struct call *c, uint16_t object, uint16_t method);
struct ib_uverbs_attr *call_attr(struct call *c, uint16_t id, const void *data, uint16_t len);
struct ib_uverbs_attr *call_out(struct call *c, uint16_t id, void *data, uint16_t len);
struct ib_uverbs_attr *call_obj(struct call *c, uint16_t id, int64_t handle);
struct ib_uverbs_attr *call_const(struct call *c, uint16_t id, uint64_t v);
int call_run(struct call *c);
/* A write command through INVOKE_WRITE. */
int command(uint32_t cmd, const void *req, uint16_t reqlen, void *resp, uint16_t resplen);
#define COMMAND(nr, req, resp) \
	command(IB_USER_VERBS_CMD_##nr, &(req), sizeof(req), &(resp), sizeof(resp))
#define COMMAND_IN(nr, req) command(IB_USER_VERBS_CMD_##nr, &(req), sizeof(req), NULL, 0)

/* Make objects; fails if that does not work. */
uint32_t make_pd(void);
uint32_t make_cq(uint32_t *cqn, int channel, uint64_t user_handle);
uint32_t make_qp(uint32_t pd, uint32_t scq, uint32_t rcq, uint32_t type);
int make_channel(void);
struct uv_qp *the_qp(uint32_t handle);

#endif
