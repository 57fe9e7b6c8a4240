/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable DEVX files: results of asynchronous queries, and events. The segment's subscriptions
 * (hw/evsub.h) decide who gets which event; here they are checked and made. Called by uverbs.
 */
#include <errno.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include "mlx5/devx_table.h"
#include "mlx5/priv.h"
#include "hw/evsub.h"
#include "mlx5/for_tests.h"
#include "segment/proc.h"
#include "util/fmt.h"
#include "util/sys.h"
#include "wire/prm/eq.h"

#define MAX_EVENTS 16 /* limit for one call */

struct devx_event_file {
	struct uv_event_file ev;
	bool omit_data;
	/*
	 * The driver's own descriptors of the eventfds of its subscriptions, until the file closes.
	 */
	int *fds;
	uint32_t nfds;
};

const struct uv_type mlx5_devx_cmd_file_type = {
	.name = "DEVX_ASYNC_CMD_FD",
	.object_id = MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
	.size = sizeof(struct uv_event_file),
	.is_fd = true,
	.fd_kind = SEG_FILE_DEVX_CMD,
};

/*
 * End a file with its last reference, and its subscriptions: these descriptors are not written any
 * more.
 */
static int event_file_end(struct uv_object *o, int why)
{
	struct devx_event_file *f = (struct devx_event_file *)o;

	while (f->nfds)
		sys_fd_drop(f->fds[--f->nfds]);
	heap_free(f->fds);
	f->fds = NULL;
	return 0;
}

const struct uv_type mlx5_devx_event_file_type = {
	.name = "DEVX_ASYNC_EVENT_FD",
	.object_id = MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
	.size = sizeof(struct devx_event_file),
	.is_fd = true,
	.fd_kind = SEG_FILE_DEVX_EVENT,
	.destroy = event_file_end,
};

int mlx5_method_devx_cmd_file_alloc(struct uv_bundle *b)
{
	return 0;
}

int mlx5_method_devx_event_file_alloc(struct uv_bundle *b)
{
	struct devx_event_file *f =
		(void *)uv_b_new(b, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);

	f->omit_data = uv_b_const(b, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 0) &
		       MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA;
	return 0;
}

/* ---- events that a program may subscribe to */

/* Events of device queues: their EQEs name a queue, not an object. */
static bool is_queue_event(uint16_t event)
{
	switch (event) {
	case PRM_EVENT_COMP:
	case PRM_EVENT_PATH_MIG:
	case PRM_EVENT_COMM_EST:
	case PRM_EVENT_SQ_DRAINED:
	case PRM_EVENT_CQ_ERROR:
	case PRM_EVENT_WQ_CATAS_ERROR:
	case PRM_EVENT_PATH_MIG_FAILED:
	case PRM_EVENT_WQ_INVAL_REQ_ERROR:
	case PRM_EVENT_WQ_ACCESS_ERROR:
	case PRM_EVENT_SRQ_CATAS_ERROR:
	case PRM_EVENT_SRQ_LAST_WQE:
	case PRM_EVENT_SRQ_RQ_LIMIT:
	case PRM_EVENT_XRQ_ERROR:
	case PRM_EVENT_DCT_DRAINED:
	case PRM_EVENT_DCT_KEY_VIOLATION:
		return true;
	default:
		return false;
	}
}

bool mlx5_devx_event_ok(const struct hw_caps *c, uint16_t event, bool of_object)
{
	const uint64_t *mask = of_object ? c->user_affiliated_events : c->user_unaffiliated_events;

	if (!c->event_cap)
		return of_object ? is_queue_event(event) : event == PRM_EVENT_PORT_CHANGE;
	if (event > 255)
		return false;
	/* Completions of CQs are checked by the driver alone. */
	return (of_object && event == PRM_EVENT_COMP) || mask[event / 64] >> event % 64 & 1;
}

uint32_t mlx5_devx_event_key(uint64_t object, uint16_t event)
{
	/* Object types in EQEs, by the command that makes the object. */
	static const struct {
		uint16_t maker, queue, type;
	} types[] = {
		{PRM_OP_CREATE_QP, PRM_EVENT_QUEUE_QP, 0xff02},
		{PRM_OP_CREATE_RQ, PRM_EVENT_QUEUE_RQ, 0xff06},
		{PRM_OP_CREATE_RMP, PRM_EVENT_QUEUE_RQ, 0xff04},
		{PRM_OP_CREATE_SQ, PRM_EVENT_QUEUE_SQ, 0xff07},
		{PRM_OP_CREATE_DCT, PRM_EVENT_QUEUE_DCT, 0xff0a},
		{PRM_OP_CREATE_TIR, 0, 0xff08},
		{PRM_OP_CREATE_TIS, 0, 0xff09},
		{PRM_OP_CREATE_PSV, 0, 0xff03},
		{PRM_OP_CREATE_XRC_SRQ, 0, 0xff05},
		{PRM_OP_CREATE_XRQ, 0, 0xff0b},
		{PRM_OP_CREATE_RQT, 0, 0xff0e},
		{PRM_OP_ALLOC_FLOW_COUNTER, 0, 0xff0f},
		{PRM_OP_CREATE_CQ, 0, 0xff10},
	};
	uint16_t maker = object >> 32 & 0xffff;
	bool queue = is_queue_event(event);

	if (maker == PRM_OP_CREATE_GENERAL_OBJECT && !queue)
		return event | (uint32_t)(object >> 48) << 16;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].maker == maker)
			return event | (uint32_t)(queue ? types[i].queue : types[i].type) << 16;
	return event;
}

/* ---- subscribing */

/* Duplicates the program's eventfd, which the program may close before its events end. */
static int take_eventfd(struct devx_event_file *f, int fd)
{
	static const char eventfd[] = "anon_inode:[eventfd]";
	char path[32], name[sizeof(eventfd)];
	long n;
	int *fds;

	fmt(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	n = fd < 0 ? -EBADF : sys_readlink(path, name, sizeof(name));
	if (n < 0)
		return uv_no(-EBADF, "FD_NUM is no open file");
	if (n != sizeof(eventfd) - 1 || memcmp(name, eventfd, (size_t)n))
		return uv_no(-EINVAL, "FD_NUM is no eventfd");
	fds = heap_grow(f->fds, f->nfds * sizeof(*fds), (f->nfds + 1) * sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	f->fds = fds;
	fd = sys_fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	return fds[f->nfds++] = sys_fd_high(fd);
}

/* This process's device thread must write the eventfds of events that other processes raise. */
static void want_thread(struct seg *s)
{
	struct seg_proc *self = s->self == SEG_NONE ? NULL : seg_proc(s, s->self);

	if (self)
		atomic_store(&self->parked, 1);
}

static int devx_event_subscribe(struct devx_event_file *f, struct uv_context *ctx, uint64_t object,
				const uint16_t *events, uint32_t n, struct seg_evsub *sub)
{
	uint32_t made[MAX_EVENTS], i;
	int r = 0;

	sub->hca = ctx->hca;
	sub->id = (uint32_t)object;
	sub->object = object;
	sub->evq = f->ev.evq;
	sub->evq_gen = f->ev.gen;
	sub->omit = f->omit_data;
	for (i = 0; i < n && !r; i++) {
		sub->key = object ? mlx5_devx_event_key(object, events[i]) : events[i];
		r = evsub_add(ctx->seg, sub, &made[i]);
	}
	if (r)
		for (i--; i; i--)
			evsub_drop(ctx->seg, made[i - 1]);
	return r == -ENOSPC ? -ENOMEM : r;
}

int mlx5_method_devx_subscribe_event(struct uv_bundle *b)
{
	struct devx_event_file *f =
		(void *)uv_b_obj(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
	struct uv_object *o = uv_b_obj(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	struct uv_context *ctx = uv_b_context(b);
	struct seg_evsub sub = {.cookie =
					uv_b_const(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 0)};
	bool use_eventfd = uv_b_has(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM);
	const uint16_t *events;
	size_t len;
	int r;

	if (!ctx->devx_uid)
		return uv_why(b, -EINVAL, "the device was not opened for DEVX (no uid)");
	if (use_eventfd && uv_b_has(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE))
		return uv_why(b, -EINVAL, "an eventfd has no cookie");
	events = uv_b_in(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, &len);
	if (len % sizeof(*events) || len / sizeof(*events) > MAX_EVENTS)
		return uv_why(b, -EINVAL, "a list of 1 to 16 event numbers of 2 bytes");
	for (size_t i = 0; i < len / sizeof(*events); i++)
		if (!mlx5_devx_event_ok(mlx5_caps(ctx), events[i], o))
			return uv_why(b, -EINVAL,
				      o ? "the device has no such event of an object"
					: "the device has no such event without an object");
	if (use_eventfd) {
		r = take_eventfd(f,
				 (int)uv_b_const(b, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 0));
		if (r < 0)
			return r;
		sub.eventfd = 1 + r;
		want_thread(ctx->seg);
	}
	r = devx_event_subscribe(f, ctx, o ? mlx5_devx_obj_subscribed(o) : 0, events,
				 (uint32_t)(len / sizeof(*events)), &sub);
	if (r < 0 && use_eventfd)
		sys_fd_drop(f->fds[--f->nfds]);
	return r;
}
