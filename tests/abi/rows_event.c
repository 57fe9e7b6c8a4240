/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DEVX files that are read: asynchronous queries, and subscriptions to events. */
#include "abi.h"

#define ALLOC(o) \
	.object = MLX5_IB_OBJECT_DEVX_##o, .method = MLX5_IB_METHOD_DEVX_##o##_ALLOC, .nattr = 1
#define NEW_FD(o)                                          \
	{                                                  \
		.id = MLX5_IB_ATTR_DEVX_##o##_ALLOC_HANDLE \
	}
#define FLAGS(v)                                                                          \
	{                                                                                 \
		.id = MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, .len = 4, .data = (v) \
	}

/* A firmware command: opcode, then the object's number at byte 8. */
#define QUERY \
	.object = MLX5_IB_OBJECT_DEVX_OBJ, .method = MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, .nattr = 1
#define OF(h)                                                               \
	{                                                                   \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, .data = (h) \
	}
#define CMD(op, n)                                                           \
	{                                                                    \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, .len = 16,   \
		.in = &(const uint8_t[16])                                   \
		{                                                            \
			(op) >> 8, (op)&0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, (n) \
		}                                                            \
	}
#define TO(f)                                                           \
	{                                                               \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, .data = (f) \
	}
#define WR_ID                                                                      \
	{                                                                          \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, .len = 8, .data = 7 \
	}
#define OUT_LEN(n)                                                                     \
	{                                                                              \
		.id = MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, .len = 8, .data = (n) \
	}

#define SUBSCRIBE .object = MLX5_IB_OBJECT_DEVX, .method = MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT
#define SUB(a) MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_##a
#define FILE_(f)                                  \
	{                                         \
		.id = SUB(FD_HANDLE), .data = (f) \
	}
#define OBJ(h)                                     \
	{                                          \
		.id = SUB(OBJ_HANDLE), .data = (h) \
	}
#define EVENTS(n, ...)                                                                 \
	{                                                                              \
		.id = SUB(TYPE_NUM_LIST), .len = 2 * (n), .in = &(const uint16_t[(n)]) \
		{                                                                      \
			__VA_ARGS__                                                    \
		}                                                                      \
	}
#define COOKIE                                              \
	{                                                   \
		.id = SUB(COOKIE), .len = 8, .data = 0x1234 \
	}
#define TO_EVENTFD(f)                                              \
	{                                                          \
		.id = SUB(FD_NUM), .len = 4, .data = (uint32_t)(f) \
	}

enum { QUERY_CQ = 0x402, QUERY_QP = 0x50b, MODIFY_CQ = 0x403, ALLOC_PD = 0x800 };
enum { COMP = 0, COMM_EST = 2, PORT_CHANGE = 9, PAGE_REQUEST = 0xb, ACCESS_ERROR = 0x11 };

const struct ioctl_row event_rows[] = {
	{"file of results", "devx.c: ASYNC_CMD_FD_ALLOC", 0, ALLOC(ASYNC_CMD_FD),
	 .attr = {NEW_FD(ASYNC_CMD_FD)}, .closes = true},
	{"file of results without its handle", "mandatory", EINVAL,
	 .object = MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
	 .method = MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC},
	{"file of results without a context", "alloc_uobj", EINVAL, FRESH, ALLOC(ASYNC_CMD_FD),
	 .attr = {NEW_FD(ASYNC_CMD_FD)}},
	{"file of events", "devx.c: ASYNC_EVENT_FD_ALLOC", 0, ALLOC(ASYNC_EVENT_FD),
	 .attr = {NEW_FD(ASYNC_EVENT_FD), FLAGS(0)}, .closes = true},
	{"file of events without data", "devx.c: ASYNC_EVENT_FD_ALLOC", 0, ALLOC(ASYNC_EVENT_FD),
	 .attr = {NEW_FD(ASYNC_EVENT_FD), FLAGS(MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA)},
	 .closes = true},
	{"file of events with an unknown flag", "uverbs_get_flags32", EINVAL, ALLOC(ASYNC_EVENT_FD),
	 .attr = {NEW_FD(ASYNC_EVENT_FD), FLAGS(2)}},
	{"file of events without flags", "mandatory", EINVAL, ALLOC(ASYNC_EVENT_FD),
	 .attr = {NEW_FD(ASYNC_EVENT_FD)}},

	{"query to be answered later", "devx.c: OBJ_ASYNC_QUERY", 0, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(RESULTS), WR_ID, OUT_LEN(0x110)}},
	{"query whose answer has no room", "devx_query_callback: it comes all the same", 0, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(RESULTS), WR_ID, OUT_LEN(0)}},
	{"query with room for 64 KiB", "uverbs_get_const of a u16", EINVAL, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(RESULTS), WR_ID, OUT_LEN(0x10000)}},
	{"later query of another object", "devx_is_valid_obj_id", EINVAL, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN + 1), TO(RESULTS), WR_ID, OUT_LEN(0x110)}},
	{"later query by a change", "devx_is_obj_query_cmd", EINVAL, QUERY,
	 .attr = {OF(CQ), CMD(MODIFY_CQ, CQN), TO(RESULTS), WR_ID, OUT_LEN(0x110)}},
	{"later query of nothing", "xa_load", ENOENT, QUERY,
	 .attr = {OF(NONE), CMD(QUERY_CQ, CQN), TO(RESULTS), WR_ID, OUT_LEN(0x110)}},
	{"later query to a file of events", "lookup_get_fd_uobject: fops", EBADF, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(EVENT_FILE), WR_ID, OUT_LEN(0x110)}},
	{"later query to a channel", "lookup_get_fd_uobject: fops", EBADF, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(CHANNEL), WR_ID, OUT_LEN(0x110)}},
	{"later query to a closed descriptor", "fget", EBADF, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(CLOSED), WR_ID, OUT_LEN(0x110)}},
	{"later query without wr_id", "mandatory", EINVAL, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(RESULTS), OUT_LEN(0x110)}},
	{"later query without length", "mandatory", EINVAL, QUERY,
	 .attr = {OF(CQ), CMD(QUERY_CQ, CQN), TO(RESULTS), WR_ID}},

	{"events of an object", "devx.c: SUBSCRIBE_EVENT", 0, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(2, COMM_EST, ACCESS_ERROR), COOKIE}},
	{"completions of an object", "is_valid_events: CQ completion", 0, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, COMP)}},
	{"the same event twice", "one subscription each", 0, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(2, COMM_EST, COMM_EST), COOKIE}},
	{"events of the ports", "devx.c: SUBSCRIBE_EVENT", 0, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), EVENTS(1, PORT_CHANGE), COOKIE}},
	{"events to an eventfd", "eventfd_ctx_fdget", 0, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, COMM_EST), TO_EVENTFD(EVENTFD)}},
	{"16 events", "MAX_NUM_EVENTS", 0, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD),
		  EVENTS(16, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2), COOKIE}},
	{"17 events", "MAX_NUM_EVENTS", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD),
		  EVENTS(17, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2), COOKIE}},
	{"a list of no events", "UVERBS_ATTR_MIN_SIZE", EINVAL, SUBSCRIBE, .nattr = 3,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), {.id = SUB(TYPE_NUM_LIST)}}},
	{"a list of 1 1/2 events", "uverbs_attr_ptr_get_array_size", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE),
		  OBJ(DEVX_PD),
		  {.id = SUB(TYPE_NUM_LIST), .len = 3, .data = COMM_EST}}},
	{"a list that is not mapped", "copy_from_user", EFAULT, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE),
		  OBJ(DEVX_PD),
		  {.id = SUB(TYPE_NUM_LIST), .len = 10, .data = NOWHERE}}},
	{"an object's event of none", "is_valid_events", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), EVENTS(1, COMM_EST), COOKIE}},
	{"completions of none", "is_valid_events", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), EVENTS(1, COMP), COOKIE}},
	{"the ports' events of an object", "is_valid_events", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, PORT_CHANGE), COOKIE}},
	{"the driver's own event", "is_valid_events", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), EVENTS(1, PAGE_REQUEST), COOKIE}},
	{"event 256", "MAX_SUPP_EVENT_NUM", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(2, COMM_EST, 256), COOKIE}},
	{"events of a verbs CQ", "uobj->uapi_object", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(CQ), EVENTS(1, COMP), COOKIE}},
	{"events of nothing", "xa_load", ENOENT, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(NONE), EVENTS(1, COMM_EST), COOKIE}},
	{"an eventfd and a cookie", "devx.c: use_eventfd", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, COMM_EST), COOKIE,
		  TO_EVENTFD(EVENTFD)}},
	{"events to a file that is no eventfd", "eventfd_ctx_fdget", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, COMM_EST), TO_EVENTFD(PLAIN)}},
	{"events to a closed eventfd", "eventfd_fget", EBADF, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, COMM_EST), TO_EVENTFD(CLOSED)}},
	{"events to descriptor -1", "eventfd_fget", EBADF, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, COMM_EST), TO_EVENTFD(-1)}},
	{"wrong event and closed eventfd", "is_valid_events comes first", EINVAL, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), OBJ(DEVX_PD), EVENTS(1, PORT_CHANGE), TO_EVENTFD(CLOSED)}},
	{"events to a file of results", "lookup_get_fd_uobject: fops", EBADF, SUBSCRIBE,
	 .attr = {FILE_(RESULTS), OBJ(DEVX_PD), EVENTS(1, COMM_EST), COOKIE}},
	{"events to an async event file", "lookup_get_fd_uobject: fops", EBADF, SUBSCRIBE,
	 .attr = {FILE_(ASYNC), OBJ(DEVX_PD), EVENTS(1, COMM_EST), COOKIE}},
	{"events to nowhere", "mandatory", EINVAL, SUBSCRIBE,
	 .attr = {OBJ(DEVX_PD), EVENTS(1, COMM_EST), COOKIE}},
	{"events to a file of another device file", "uobject->ufile", EBADF, FRESH, SUBSCRIBE,
	 .attr = {FILE_(EVENT_FILE), EVENTS(1, PORT_CHANGE), COOKIE}},
};
ROWS_END(event_rows);
