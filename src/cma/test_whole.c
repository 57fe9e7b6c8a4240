// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The character device above ids: two programs connect by their commands alone. */
#define WITH_DEVICE
#include "cma/test_world.h"

enum { SERVER = 1, CLIENT = 2 }; /* files, and hosts from 0 */

static uint8_t out[UCMA_OUT_MAX];

/* One write(2) of a command. */
static ssize_t command(uint32_t file, uint32_t cmd, const void *arg, uint16_t in, uint16_t room)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t arg[512];
	} buf = {.hdr = {.cmd = cmd, .in = in, .out = room}};
	const struct ucma_call call = {
		.file = file, .count = sizeof(buf.hdr) + in, .len = sizeof(buf)};
	size_t len = 0;
	ssize_t r;

	memcpy(buf.arg, arg, in);
	w.in_call = true;
	r = cma_write(w.c, &call, &buf, NULL, out, &len);
	w.in_call = false;
	turn();
	return r;
}

#define DO(file, cmd, ...)                                                                   \
	do {                                                                                 \
		const struct rdma_ucm_##cmd arg_ = {__VA_ARGS__};                            \
		assert_int_equal(command(file, CMD_##cmd, &arg_, sizeof(arg_), sizeof(out)), \
				 sizeof(struct rdma_ucm_cmd_hdr) + sizeof(arg_));            \
	} while (0)
enum {
	CMD_create_id = RDMA_USER_CM_CMD_CREATE_ID,
	CMD_destroy_id = RDMA_USER_CM_CMD_DESTROY_ID,
	CMD_bind_ip = RDMA_USER_CM_CMD_BIND_IP,
	CMD_resolve_ip = RDMA_USER_CM_CMD_RESOLVE_IP,
	CMD_resolve_route = RDMA_USER_CM_CMD_RESOLVE_ROUTE,
	CMD_listen = RDMA_USER_CM_CMD_LISTEN,
	CMD_connect = RDMA_USER_CM_CMD_CONNECT,
	CMD_accept = RDMA_USER_CM_CMD_ACCEPT,
	CMD_disconnect = RDMA_USER_CM_CMD_DISCONNECT,
	CMD_get_event = RDMA_USER_CM_CMD_GET_EVENT,
};

static uint32_t create(uint32_t file)
{
	DO(file, create_id, .uid = file, .response = 1, .ps = RDMA_PS_TCP, .qp_type = IBV_QPT_RC);
	return ((struct rdma_ucm_create_id_resp *)out)->id;
}

/* Expects `event` next in the file; returns its id. */
static uint32_t next(uint32_t file, uint32_t event)
{
	const struct rdma_ucm_event_resp *e = (void *)out;

	DO(file, get_event, .response = 1);
	assert_int_equal(e->event, event);
	assert_int_equal(e->status, 0);
	return e->id;
}

/* The states of the CM, in the order of ids. */
static void add_state(void *arg, const struct cma_shown *s)
{
	char *text = arg;

	strncat(text, s->cm_state ? s->cm_state : "-", 40);
	strncat(text, " ", 2);
}

static void expect_states(const char *want)
{
	char text[256] = "";

	cma_each(w.c, add_state, text);
	assert_string_equal(text, want);
}

static void expect_counts(struct cma_counts want)
{
	struct cma_counts n;

	cma_count(w.c, &n);
	assert_memory_equal(&n, &want, sizeof(n));
}

static void programs_connect(void **state)
{
	union cma_addr here = ip("127.1.0.1", 4000);
	struct rdma_ucm_conn_param p = {.qp_num = 0x42, .valid = 1, .responder_resources = 1};
	uint32_t l, id, peer;

	assert_int_equal(cma_file_open(w.c, SERVER, w.host[0], 0, "server"), 0);
	assert_int_equal(cma_file_open(w.c, CLIENT, w.host[1], 0, "client"), 0);
	l = create(SERVER);
	DO(SERVER, bind_ip, .addr = here.in6, .id = l);
	DO(SERVER, listen, .id = l, .backlog = 1);
	id = create(CLIENT);
	DO(CLIENT, resolve_ip, .dst_addr = here.in6, .id = id, .timeout_ms = 1000);
	assert_int_equal(next(CLIENT, RDMA_CM_EVENT_ADDR_RESOLVED), id);
	DO(CLIENT, resolve_route, .id = id, .timeout_ms = 1000);
	next(CLIENT, RDMA_CM_EVENT_ROUTE_RESOLVED);
	DO(CLIENT, connect, .conn_param = p, .id = id);
	expect_counts((struct cma_counts){
		.files = 2, .ids = 3, .connections = 3, .ports = 2, .events = 1});
	peer = next(SERVER, RDMA_CM_EVENT_CONNECT_REQUEST);
	DO(SERVER, accept, .uid = 9, .conn_param = p, .id = peer);
	next(CLIENT, RDMA_CM_EVENT_CONNECT_RESPONSE);
	p.valid = 0;
	DO(CLIENT, accept, .conn_param = p, .id = id);
	next(SERVER, RDMA_CM_EVENT_ESTABLISHED);
	DO(CLIENT, disconnect, .id = id);
	next(SERVER, RDMA_CM_EVENT_DISCONNECTED);
	cma_file_gone(w.c, SERVER); /* the server is killed; its cm_id still answers */
	turn();
	next(CLIENT, RDMA_CM_EVENT_DISCONNECTED);
	expect_states("TIMEWAIT ");
	pass(60000);
	next(CLIENT, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	expect_states("IDLE ");
	DO(CLIENT, destroy_id, .response = 1, .id = id);
	cma_file_gone(w.c, CLIENT);
	expect_counts((struct cma_counts){0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {WORLD(programs_connect), ETHERNET(programs_connect)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
