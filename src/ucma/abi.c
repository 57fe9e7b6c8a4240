// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The commands of the rdma_cm character device as a table, for its process side (ucma.c) and for
 * the supervisor (src/cma). Calls nothing.
 */
#include "ucma/abi.h"

#include <assert.h>
#include <string.h>

#define OUT(t) sizeof(struct rdma_ucm_##t)
#define AT(t, m) offsetof(struct rdma_ucm_##t, m)
#define END(t, m) (AT(t, m) + sizeof(((struct rdma_ucm_##t *)0)->m))
/* The number, its name, the struct that the kernel's handler copies, and the rest of the row. */
#define ROW_OF(n, t, at, ...) \
	[RDMA_USER_CM_CMD_##n] = {.name = #n, .in = OUT(t), .id = (at), __VA_ARGS__}
#define ROW(n, t, ...) ROW_OF(n, t, AT(t, id), __VA_ARGS__)
#define ANSWER(t, o) .out = (o), .response = AT(t, response)
#define LATE .check = UCMA_CHECK_LATE

const struct ucma_row ucma_rows[] = {
	ROW_OF(CREATE_ID, create_id, UCMA_NO_ID, ANSWER(create_id, OUT(create_id_resp))),
	ROW(DESTROY_ID, destroy_id, ANSWER(destroy_id, OUT(destroy_id_resp))),
	ROW(BIND_IP, bind_ip),
	ROW(RESOLVE_IP, resolve_ip),
	ROW(RESOLVE_ROUTE, resolve_route),
	ROW(QUERY_ROUTE, query, ANSWER(query, OUT(query_route_resp)), LATE),
	ROW(CONNECT, connect, .in_min = END(connect, reserved)),
	ROW(LISTEN, listen),
	ROW(ACCEPT, accept, .in_min = END(accept, reserved)),
	ROW(REJECT, reject),
	ROW(DISCONNECT, disconnect),
	ROW(INIT_QP_ATTR, init_qp_attr, ANSWER(init_qp_attr, sizeof(struct ib_uverbs_qp_attr)),
	    LATE, .key = AT(init_qp_attr, qp_state)),
	ROW_OF(GET_EVENT, get_event, UCMA_NO_ID, ANSWER(get_event, OUT(event_resp))),
	/* ucma_cmd_table has no handler for GET_OPTION. */
	[RDMA_USER_CM_CMD_GET_OPTION] = {.name = NULL},
	ROW(SET_OPTION, set_option),
	ROW(NOTIFY, notify),
	ROW(JOIN_IP_MCAST, join_ip_mcast, ANSWER(join_ip_mcast, OUT(create_id_resp))),
	ROW(LEAVE_MCAST, destroy_id, ANSWER(destroy_id, OUT(destroy_id_resp))),
	ROW(MIGRATE_ID, migrate_id, ANSWER(migrate_id, OUT(migrate_resp)),
	    .check = UCMA_CHECK_WHOLE),
	/* QUERY has several responses: this one is the longest */
	ROW(QUERY, query, ANSWER(query, OUT(query_addr_resp)), LATE, .key = AT(query, option)),
	ROW(BIND, bind),
	ROW(RESOLVE_ADDR, resolve_addr),
	ROW(JOIN_MCAST, join_mcast, ANSWER(join_mcast, OUT(create_id_resp))),
};
const uint32_t ucma_nrows = sizeof(ucma_rows) / sizeof(ucma_rows[0]);

/* Programs were compiled with these sizes, which must not change. */
#define SIZE(t, n) static_assert(sizeof(struct rdma_ucm_##t) == (n), "struct rdma_ucm_" #t)
SIZE(cmd_hdr, 8);
SIZE(create_id, 24);
SIZE(create_id_resp, 4);
SIZE(destroy_id, 16);
SIZE(destroy_id_resp, 4);
SIZE(bind_ip, 40);
SIZE(bind, 136);
SIZE(resolve_ip, 64);
SIZE(resolve_addr, 272);
SIZE(resolve_route, 8);
SIZE(query, 16);
SIZE(query_route_resp, 208);
SIZE(query_addr_resp, 280);
SIZE(query_path_resp, 8);
SIZE(conn_param, 272);
SIZE(ud_param, 304);
SIZE(connect, 288);
SIZE(listen, 8);
SIZE(accept, 296);
SIZE(reject, 264);
SIZE(disconnect, 4);
SIZE(init_qp_attr, 16);
SIZE(notify, 8);
SIZE(join_ip_mcast, 48);
SIZE(join_mcast, 152);
SIZE(get_event, 8);
SIZE(event_resp, 336);
SIZE(set_option, 24);
SIZE(migrate_id, 16);
SIZE(migrate_resp, 4);
static_assert(sizeof(struct ib_uverbs_qp_attr) == 144, "struct ib_uverbs_qp_attr");
static_assert(END(connect, reserved) == 280 && END(accept, reserved) == 288, "without ECE");
static_assert(sizeof(struct rdma_ucm_cmd_hdr) + sizeof(struct rdma_ucm_accept) <= UCMA_IN_MAX,
	      "the longest command");
static_assert(sizeof(struct rdma_ucm_event_resp) <= UCMA_OUT_MAX, "the longest answer");
static_assert(sizeof(struct ucma_fd) <= UCMA_AUX_MAX, "struct ucma_fd");

const struct ucma_row *ucma_row_of(const void *in, size_t len)
{
	struct rdma_ucm_cmd_hdr h;

	if (len < sizeof(h))
		return NULL;
	memcpy(&h, in, sizeof(h));
	return h.cmd < ucma_nrows && ucma_rows[h.cmd].name ? &ucma_rows[h.cmd] : NULL;
}
