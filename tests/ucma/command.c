// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The commands of rdma_user_cm.h by name: sizes, fields, what a right call has in them. */
#include "ucma.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define AT(t, m) offsetof(struct rdma_ucm_##t, m), sizeof(((struct rdma_ucm_##t *)0)->m)
#define NUM(t, m)                           \
	{                                   \
#m, AT(t, m), NUMBER, -1, 0 \
	}
#define NUM_AS(t, n, m)                    \
	{                                  \
		n, AT(t, m), NUMBER, -1, 0 \
	}
#define ID(t, m)                            \
	{                                   \
#m, AT(t, m), HANDLE, -1, 0 \
	}
#define ADDR(t, m)                           \
	{                                    \
#m, AT(t, m), ADDRESS, -1, 0 \
	}
#define SIZED(t, m, l)                          \
	{                                       \
#m, AT(t, m), ADDRESS, AT(t, l) \
	}
#define DATA(t, n, m, l)                     \
	{                                    \
		n, AT(t, m), BYTES, AT(t, l) \
	}
#define PARAM(t)                                                                       \
	NUM_AS(t, "qp_num", conn_param.qp_num), NUM_AS(t, "qkey", conn_param.qkey),    \
		DATA(t, "data", conn_param.private_data, conn_param.private_data_len), \
		NUM_AS(t, "data_len", conn_param.private_data_len),                    \
		NUM_AS(t, "srq", conn_param.srq),                                      \
		NUM_AS(t, "resources", conn_param.responder_resources),                \
		NUM_AS(t, "depth", conn_param.initiator_depth),                        \
		NUM_AS(t, "flow", conn_param.flow_control),                            \
		NUM_AS(t, "retry", conn_param.retry_count),                            \
		NUM_AS(t, "rnr", conn_param.rnr_retry_count),                          \
		NUM_AS(t, "valid", conn_param.valid), ID(t, id), NUM(t, reserved),     \
		NUM_AS(t, "vendor", ece.vendor_id), NUM_AS(t, "mod", ece.attr_mod)
#define A_PARAM(qpn) "valid=1 qp_num=" qpn " resources=1 depth=1 flow=1 retry=7 rnr=7"

static const struct field create_fields[] = {NUM(create_id, uid), NUM(create_id, response),
					     NUM(create_id, ps), NUM(create_id, qp_type),
					     NUM_AS(create_id, "reserved", reserved[0])};
static const struct field destroy_fields[] = {NUM(destroy_id, response), ID(destroy_id, id),
					      NUM(destroy_id, reserved)};
static const struct field bind_ip_fields[] = {NUM(bind_ip, response), ADDR(bind_ip, addr),
					      ID(bind_ip, id)};
static const struct field bind_fields[] = {ID(bind, id), NUM(bind, addr_size), NUM(bind, reserved),
					   SIZED(bind, addr, addr_size)};
static const struct field resolve_ip_fields[] = {ADDR(resolve_ip, src_addr),
						 ADDR(resolve_ip, dst_addr), ID(resolve_ip, id),
						 NUM(resolve_ip, timeout_ms)};
static const struct field resolve_fields[] = {
	ID(resolve_addr, id),
	NUM(resolve_addr, timeout_ms),
	NUM(resolve_addr, src_size),
	NUM(resolve_addr, dst_size),
	NUM(resolve_addr, reserved),
	{"src", AT(resolve_addr, src_addr), ADDRESS, AT(resolve_addr, src_size)},
	{"dst", AT(resolve_addr, dst_addr), ADDRESS, AT(resolve_addr, dst_size)}};
static const struct field route_fields[] = {ID(resolve_route, id), NUM(resolve_route, timeout_ms)};
static const struct field query_fields[] = {NUM(query, response), ID(query, id),
					    NUM(query, option)};
static const struct field connect_fields[] = {PARAM(connect)};
static const struct field accept_fields[] = {NUM(accept, uid), PARAM(accept)};
static const struct field listen_fields[] = {ID(listen, id), NUM(listen, backlog)};
static const struct field reject_fields[] = {
	ID(reject, id), DATA(reject, "data", private_data, private_data_len),
	NUM_AS(reject, "data_len", private_data_len), NUM(reject, reason),
	NUM_AS(reject, "reserved", reserved[0])};
static const struct field disconnect_fields[] = {ID(disconnect, id)};
static const struct field init_qp_attr_fields[] = {
	NUM(init_qp_attr, response), ID(init_qp_attr, id), NUM(init_qp_attr, qp_state)};
static const struct field get_fields[] = {NUM(get_event, response)};
static const struct field set_option_fields[] = {
	NUM(set_option, optval), ID(set_option, id),
	NUM(set_option, level),  NUM(set_option, optname),
	NUM(set_option, optlen), {"value", AT(set_option, optval), BYTES, AT(set_option, optlen)}};
static const struct field notify_fields[] = {ID(notify, id), NUM(notify, event)};
static const struct field join_ip_fields[] = {NUM(join_ip_mcast, response), NUM(join_ip_mcast, uid),
					      ADDR(join_ip_mcast, addr), ID(join_ip_mcast, id)};
static const struct field join_fields[] = {
	NUM(join_mcast, response),   NUM(join_mcast, uid),
	ID(join_mcast, id),          NUM(join_mcast, addr_size),
	NUM(join_mcast, join_flags), SIZED(join_mcast, addr, addr_size)};
static const struct field migrate_fields[] = {NUM(migrate_id, response), ID(migrate_id, id),
					      NUM(migrate_id, fd)};

#define SIZE(t) sizeof(struct rdma_ucm_##t)
#define OFF(t, m) offsetof(struct rdma_ucm_##t, m)
#define FIELDS(f) .fields = f##_fields, .nfields = COUNT(f##_fields)
#define CMD(n) RDMA_USER_CM_CMD_##n

static const struct command commands[] = {
	{"create",
	 CMD(CREATE_ID),
	 SIZE(create_id),
	 SIZE(create_id_resp),
	 -1,
	 OFF(create_id, response),
	 "ps=tcp",
	 {"ps"},
	 FIELDS(create)},
	{"destroy",
	 CMD(DESTROY_ID),
	 SIZE(destroy_id),
	 SIZE(destroy_id_resp),
	 OFF(destroy_id, id),
	 OFF(destroy_id, response),
	 "",
	 {NULL},
	 FIELDS(destroy),
	 show_reported},
	{"bind_ip",
	 CMD(BIND_IP),
	 SIZE(bind_ip),
	 0,
	 OFF(bind_ip, id),
	 -1,
	 "",
	 {"addr"},
	 FIELDS(bind_ip)},
	{"bind", CMD(BIND), SIZE(bind), 0, OFF(bind, id), -1, "", {"addr"}, FIELDS(bind)},
	{"resolve_ip",
	 CMD(RESOLVE_IP),
	 SIZE(resolve_ip),
	 0,
	 OFF(resolve_ip, id),
	 -1,
	 "timeout_ms=2000",
	 {"dst_addr"},
	 FIELDS(resolve_ip)},
	{"resolve",
	 CMD(RESOLVE_ADDR),
	 SIZE(resolve_addr),
	 0,
	 OFF(resolve_addr, id),
	 -1,
	 "timeout_ms=2000",
	 {"dst"},
	 FIELDS(resolve)},
	{"route",
	 CMD(RESOLVE_ROUTE),
	 SIZE(resolve_route),
	 0,
	 OFF(resolve_route, id),
	 -1,
	 "timeout_ms=2000",
	 {NULL},
	 FIELDS(route)},
	{"query_route",
	 CMD(QUERY_ROUTE),
	 SIZE(query),
	 SIZE(query_route_resp),
	 OFF(query, id),
	 OFF(query, response),
	 "",
	 {NULL},
	 FIELDS(query),
	 show_route},
	{"query_addr",
	 CMD(QUERY),
	 SIZE(query),
	 SIZE(query_addr_resp),
	 OFF(query, id),
	 OFF(query, response),
	 "option=0",
	 {NULL},
	 FIELDS(query),
	 show_addr},
	{"query_path",
	 CMD(QUERY),
	 SIZE(query),
	 SIZE(query_path_resp) + 2 * sizeof(struct ib_path_rec_data),
	 OFF(query, id),
	 OFF(query, response),
	 "option=1",
	 {NULL},
	 FIELDS(query),
	 show_path},
	{"query_gid",
	 CMD(QUERY),
	 SIZE(query),
	 SIZE(query_addr_resp),
	 OFF(query, id),
	 OFF(query, response),
	 "option=2",
	 {NULL},
	 FIELDS(query),
	 show_addr},
	{"connect",
	 CMD(CONNECT),
	 SIZE(connect),
	 0,
	 OFF(connect, id),
	 -1,
	 A_PARAM("0x11"),
	 {NULL},
	 FIELDS(connect)},
	{"listen",
	 CMD(LISTEN),
	 SIZE(listen),
	 0,
	 OFF(listen, id),
	 -1,
	 "backlog=8",
	 {"backlog"},
	 FIELDS(listen)},
	{"accept",
	 CMD(ACCEPT),
	 SIZE(accept),
	 0,
	 OFF(accept, id),
	 -1,
	 A_PARAM("0x22"),
	 {NULL},
	 FIELDS(accept)},
	{"reject", CMD(REJECT), SIZE(reject), 0, OFF(reject, id), -1, "", {"data"}, FIELDS(reject)},
	{"disconnect",
	 CMD(DISCONNECT),
	 SIZE(disconnect),
	 0,
	 OFF(disconnect, id),
	 -1,
	 "",
	 {NULL},
	 FIELDS(disconnect)},
	{"init_qp_attr",
	 CMD(INIT_QP_ATTR),
	 SIZE(init_qp_attr),
	 sizeof(struct ib_uverbs_qp_attr),
	 OFF(init_qp_attr, id),
	 OFF(init_qp_attr, response),
	 "",
	 {"qp_state"},
	 FIELDS(init_qp_attr),
	 show_qp_attr},
	{"get",
	 CMD(GET_EVENT),
	 SIZE(get_event),
	 SIZE(event_resp),
	 -1,
	 OFF(get_event, response),
	 "",
	 {NULL},
	 FIELDS(get),
	 show_event},
	{"getnow",
	 CMD(GET_EVENT),
	 SIZE(get_event),
	 SIZE(event_resp),
	 -1,
	 OFF(get_event, response),
	 "",
	 {NULL},
	 FIELDS(get),
	 show_event},
	{"get_option",
	 CMD(GET_OPTION),
	 SIZE(set_option),
	 0,
	 OFF(set_option, id),
	 -1,
	 "",
	 {"level", "optname", "value"},
	 FIELDS(set_option)},
	{"set_option",
	 CMD(SET_OPTION),
	 SIZE(set_option),
	 0,
	 OFF(set_option, id),
	 -1,
	 "",
	 {"level", "optname", "value"},
	 FIELDS(set_option)},
	{"notify",
	 CMD(NOTIFY),
	 SIZE(notify),
	 0,
	 OFF(notify, id),
	 -1,
	 "",
	 {"event"},
	 FIELDS(notify)},
	{"join_ip",
	 CMD(JOIN_IP_MCAST),
	 SIZE(join_ip_mcast),
	 SIZE(create_id_resp),
	 OFF(join_ip_mcast, id),
	 OFF(join_ip_mcast, response),
	 "",
	 {"addr"},
	 FIELDS(join_ip)},
	{"join",
	 CMD(JOIN_MCAST),
	 SIZE(join_mcast),
	 SIZE(create_id_resp),
	 OFF(join_mcast, id),
	 OFF(join_mcast, response),
	 "",
	 {"addr"},
	 FIELDS(join)},
	{"leave",
	 CMD(LEAVE_MCAST),
	 SIZE(destroy_id),
	 SIZE(destroy_id_resp),
	 OFF(destroy_id, id),
	 OFF(destroy_id, response),
	 "",
	 {NULL},
	 FIELDS(destroy),
	 show_reported},
	{"migrate",
	 CMD(MIGRATE_ID),
	 SIZE(migrate_id),
	 SIZE(migrate_resp),
	 OFF(migrate_id, id),
	 OFF(migrate_id, response),
	 "",
	 {"fd"},
	 FIELDS(migrate),
	 show_reported},
};

const struct command *command_find(const char *verb)
{
	for (unsigned int i = 0; i < COUNT(commands); i++)
		if (!strcmp(commands[i].verb, verb))
			return &commands[i];
	return NULL;
}

const struct field *command_field(const struct command *c, const char *name)
{
	for (unsigned int i = 0; i < c->nfields; i++)
		if (!strcmp(c->fields[i].name, name))
			return &c->fields[i];
	return NULL;
}
