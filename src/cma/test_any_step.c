// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two programs use every command of the character device. The test kills one of them before each of
 * its commands and before each MAD that arrives, or lets the n-th allocation fail, for every n. The
 * other program's ids must come to an end, and nothing may be left when it is gone, too. The same
 * when the address of one end has gone before.
 */
#define WITH_DEVICE
#include "cma/test_world.h"

enum { SERVER = 1, CLIENT = 2, SECOND = 3 /* the client's, too */ };
#define QUEUE 64
#define LONG_MS 600000 /* longer than any repetition or timewait */

static struct {
	struct cm_pkt pkt[QUEUE]; /* on the wire */
	uint32_t sent, delivered;
	uint32_t steps, stop_at;  /* the latter 0: to the end */
	uint32_t blocks, fail_at; /* fail_at: the allocation that fails; 0: none */
	uint64_t used;            /* commands, by number */
	uint32_t qpn;
	bool is_half; /* established for the server, but the client has not answered */
	_Alignas(8) uint8_t out[UCMA_OUT_MAX]; /* the last answer */
	jmp_buf stop;
} t;

/* ---- memory */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool is_missing(void)
{
	return t.fail_at && ++t.blocks == t.fail_at;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_missing() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return is_missing() ? NULL : __real_realloc(p, size);
}

/* ---- steps */

static void step(void)
{
	if (++t.steps == t.stop_at)
		longjmp(t.stop, 1);
}

static void on_wire(void *ctx, const struct cm_pkt *p)
{
	assert_true(t.sent - t.delivered < QUEUE);
	t.pkt[t.sent++ % QUEUE] = *p;
}

static const struct cma_ops wire_ops = {on_push, on_waits, on_drop, on_wire, on_now};

static void deliver(bool by_steps)
{
	struct cm_pkt p;

	turn();
	while (t.delivered != t.sent) {
		if (by_steps)
			step();
		p = t.pkt[t.delivered++ % QUEUE];
		on_send(NULL, &p);
		turn();
	}
}

static void idle(uint64_t ms)
{
	uint64_t end = w.now + ms * NSEC_PER_MSEC, due;

	for (;;) {
		deliver(false);
		due = cma_run_due(w.c);
		if (due > end)
			break;
		w.now = due > w.now ? due : w.now + 1;
	}
	w.now = end;
	deliver(false);
}

/* ---- commands */

static ssize_t write_once(const struct ucma_call *call, uint32_t cmd, const void *arg,
			  const void *aux)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t arg[512];
	} buf = {.hdr = {.cmd = cmd, .in = (uint16_t)(call->len - 8), .out = sizeof(t.out)}};
	size_t len = 0;
	ssize_t r;

	memcpy(buf.arg, arg, call->len - 8);
	w.in_call = true;
	r = cma_write(w.c, call, &buf, aux, t.out, &len);
	w.in_call = false;
	return r;
}

/* Repeats a command that failed for lack of memory: it must have changed nothing. */
static ssize_t command(uint32_t file, uint32_t cmd, const void *arg, size_t in, const void *aux,
		       size_t aux_len)
{
	const struct ucma_call call = {.file = file,
				       .count = (uint32_t)(8 + in),
				       .len = (uint32_t)(8 + in),
				       .aux_len = (uint32_t)aux_len};
	uint32_t blocks = t.blocks;
	ssize_t r;

	step();
	t.used |= UINT64_C(1) << cmd;
	r = write_once(&call, cmd, arg, aux);
	if (r == -ENOMEM) {
		assert_true(t.fail_at > blocks && t.fail_at <= t.blocks);
		r = write_once(&call, cmd, arg, aux);
	}
	deliver(true);
	return r;
}

#define AUX(file, cmd, name, aux, aux_len, ...)                                           \
	({                                                                                \
		const struct rdma_ucm_##name arg_ = {__VA_ARGS__};                        \
		command(file, RDMA_USER_CM_CMD_##cmd, &arg_, sizeof(arg_), aux, aux_len); \
	})
/* It succeeds. */
#define DO(file, cmd, name, ...) \
	assert_true(AUX(file, cmd, name, NULL, 0, .response = 1, ##__VA_ARGS__) > 0)
/* A command without a response. */
#define SAY(file, cmd, name, ...) assert_true(AUX(file, cmd, name, NULL, 0, ##__VA_ARGS__) > 0)

static uint32_t create(uint32_t file, uint16_t ps)
{
	DO(file, CREATE_ID, create_id, .uid = 7, .ps = ps);
	return ((struct rdma_ucm_create_id_resp *)t.out)->id;
}

static bool get_event(uint32_t file)
{
	const struct rdma_ucm_get_event arg = {.response = 1};
	ssize_t r = command(file, RDMA_USER_CM_CMD_GET_EVENT, &arg, sizeof(arg), NULL, 0);

	assert_true(r > 0 || r == -EAGAIN);
	return r > 0;
}

/* Expects `event` next in the file and returns its id. A lack of memory may lose one event. */
static uint32_t next(uint32_t file, uint32_t event)
{
	const struct rdma_ucm_event_resp *e = (void *)t.out;
	bool is_lost = t.fail_at && t.blocks >= t.fail_at;

	if (!get_event(file)) {
		if (!is_lost)
			fail_msg("no event %u in file %u", event, file);
		idle(LONG_MS); /* a lost event can only come with a repetition of the MAD */
		if (!get_event(file))
			longjmp(t.stop, 1);
	}
	if (is_lost && e->event != event)
		longjmp(t.stop, 1);
	assert_int_equal(e->event, event);
	return e->id;
}

/* ---- what the programs do */

/* Each connection has its own QPN: a QPN in use would make the request stale. */
static struct rdma_ucm_conn_param param(void)
{
	return (struct rdma_ucm_conn_param){
		.qp_num = ++t.qpn, .valid = 1, .responder_resources = 1, .initiator_depth = 1};
}

static uint32_t listening(uint16_t ps, const union cma_addr *a)
{
	uint32_t id = create(SERVER, ps);
	uint32_t one = 1;

	assert_true(AUX(SERVER, SET_OPTION, set_option, &one, sizeof(one), .id = id,
			.level = RDMA_OPTION_ID, .optname = RDMA_OPTION_ID_REUSEADDR,
			.optlen = sizeof(one)) > 0);
	if (ps == RDMA_PS_TCP) {
		SAY(SERVER, BIND_IP, bind_ip, .addr = a->in6, .id = id);
	} else {
		struct rdma_ucm_bind arg = {.id = id, .addr_size = sizeof(a->in)};

		memcpy(&arg.addr, a, sizeof(a->in));
		assert_true(command(SERVER, RDMA_USER_CM_CMD_BIND, &arg, sizeof(arg), NULL, 0) > 0);
	}
	SAY(SERVER, LISTEN, listen, .id = id, .backlog = 2);
	return id;
}

static uint32_t routed_id(uint16_t ps, const union cma_addr *to)
{
	uint32_t id = create(CLIENT, ps);

	if (ps == RDMA_PS_TCP) {
		SAY(CLIENT, RESOLVE_IP, resolve_ip, .dst_addr = to->in6, .id = id,
		    .timeout_ms = 1000);
	} else {
		struct rdma_ucm_resolve_addr arg = {
			.id = id, .dst_size = sizeof(to->in), .timeout_ms = 1000};

		memcpy(&arg.dst_addr, to, sizeof(to->in));
		assert_true(command(CLIENT, RDMA_USER_CM_CMD_RESOLVE_ADDR, &arg, sizeof(arg), NULL,
				    0) > 0);
	}
	next(CLIENT, RDMA_CM_EVENT_ADDR_RESOLVED);
	SAY(CLIENT, RESOLVE_ROUTE, resolve_route, .id = id, .timeout_ms = 1000);
	next(CLIENT, RDMA_CM_EVENT_ROUTE_RESOLVED);
	DO(CLIENT, QUERY_ROUTE, query, .id = id);
	DO(CLIENT, QUERY, query, .id = id, .option = RDMA_USER_CM_QUERY_PATH);
	return id;
}

/* Makes a connection. In the end the client's id is in the client's second file. */
static void connected(const union cma_addr *to, bool is_notified, uint32_t *id, uint32_t *peer)
{
	const struct ucma_fd fd = {.file = CLIENT};
	const struct rdma_ucm_conn_param rtu = {0};

	*id = routed_id(RDMA_PS_TCP, to);
	SAY(CLIENT, CONNECT, connect, .conn_param = param(), .id = *id);
	*peer = next(SERVER, RDMA_CM_EVENT_CONNECT_REQUEST);
	DO(SERVER, INIT_QP_ATTR, init_qp_attr, .id = *peer, .qp_state = IBV_QPS_RTR);
	SAY(SERVER, ACCEPT, accept, .uid = 9, .conn_param = param(), .id = *peer);
	next(CLIENT, RDMA_CM_EVENT_CONNECT_RESPONSE);
	/* The client's data may arrive before its RTU; the server then notifies the CM. */
	t.is_half = is_notified;
	if (is_notified)
		SAY(SERVER, NOTIFY, notify, .id = *peer, .event = IBV_EVENT_COMM_EST);
	SAY(CLIENT, ACCEPT, accept, .conn_param = rtu, .id = *id);
	t.is_half = false;
	next(SERVER, RDMA_CM_EVENT_ESTABLISHED);
	assert_true(AUX(SECOND, MIGRATE_ID, migrate_id, &fd, sizeof(fd), .response = 1, .id = *id) >
		    0);
}

static void connections(const union cma_addr *to)
{
	uint32_t id, peer;

	connected(to, true, &id, &peer);
	SAY(SECOND, DISCONNECT, disconnect, .id = id);
	next(SERVER, RDMA_CM_EVENT_DISCONNECTED);
	SAY(SERVER, DISCONNECT, disconnect, .id = peer);
	next(SECOND, RDMA_CM_EVENT_DISCONNECTED);
	DO(SERVER, DESTROY_ID, destroy_id, .id = peer);
	DO(SECOND, DESTROY_ID, destroy_id, .id = id);
	/* One connection that stays open, and one that the server refuses. */
	connected(to, false, &id, &peer);
	id = routed_id(RDMA_PS_TCP, to);
	SAY(CLIENT, CONNECT, connect, .conn_param = param(), .id = id);
	peer = next(SERVER, RDMA_CM_EVENT_CONNECT_REQUEST);
	SAY(SERVER, REJECT, reject, .id = peer, .reason = 28);
	next(CLIENT, RDMA_CM_EVENT_REJECTED);
}

static void datagrams(const union cma_addr *to)
{
	uint32_t id = routed_id(RDMA_PS_UDP, to), peer;

	SAY(CLIENT, CONNECT, connect, .conn_param = param(), .id = id);
	peer = next(SERVER, RDMA_CM_EVENT_CONNECT_REQUEST);
	SAY(SERVER, ACCEPT, accept, .uid = 9, .conn_param = param(), .id = peer);
	next(CLIENT, RDMA_CM_EVENT_ESTABLISHED);
}

static void groups(const union cma_addr *own)
{
	union cma_addr a = ip("239.0.0.1", 0), b = ip("239.0.0.2", 0);
	struct rdma_ucm_join_mcast join = {
		.response = 1, .uid = 5, .addr_size = sizeof(a.in), .join_flags = 0};
	uint32_t id = create(CLIENT, RDMA_PS_UDP), mc;

	join.id = id;
	memcpy(&join.addr, &a, sizeof(a.in));
	SAY(CLIENT, BIND_IP, bind_ip, .addr = own->in6, .id = id);
	assert_true(command(CLIENT, RDMA_USER_CM_CMD_JOIN_MCAST, &join, sizeof(join), NULL, 0) > 0);
	mc = ((struct rdma_ucm_create_id_resp *)t.out)->id;
	next(CLIENT, RDMA_CM_EVENT_MULTICAST_JOIN);
	DO(CLIENT, LEAVE_MCAST, destroy_id, .id = mc);
	DO(CLIENT, JOIN_IP_MCAST, join_ip_mcast, .uid = 6, .addr = b.in6, .id = id);
	next(CLIENT, RDMA_CM_EVENT_MULTICAST_JOIN);
}

static void file_open(uint32_t file, uint32_t host)
{
	int r = cma_file_open(w.c, file, w.host[host], 0, "test");

	if (r == -ENOMEM)
		r = cma_file_open(w.c, file, w.host[host], 0, "test");
	assert_int_equal(r, 0);
}

static void programs(void)
{
	union cma_addr to = ip("127.1.0.1", 4000), udp = ip("127.1.0.1", 4001);
	union cma_addr own = ip("127.1.0.2", 0), any = ip("0.0.0.0", 4000);

	file_open(SERVER, 0);
	file_open(CLIENT, 1);
	file_open(SECOND, 1);
	listening(RDMA_PS_TCP, &any);
	listening(RDMA_PS_UDP, &udp);
	connections(&to);
	datagrams(&udp);
	groups(&own);
}

/* Runs both programs. True: they came to their end. */
static bool run(uint32_t stop_at, uint32_t fail_at)
{
	memset(&t, 0, sizeof(t));
	t.stop_at = stop_at;
	t.fail_at = fail_at;
	do
		w.c = cma_new(&w.s, &wire_ops, NULL);
	while (!w.c);
	if (setjmp(t.stop))
		return false;
	programs();
	return true;
}

/* ---- what is left */

static void killed(uint32_t file)
{
	cma_file_gone(w.c, file);
	if (file == CLIENT)
		cma_file_gone(w.c, SECOND);
}

/* No cm_id may still wait for a peer that has died. */
static void has_ended(void *arg, const struct cma_shown *s)
{
	static const char *const may[] = {"IDLE", "LISTEN", "DREQ_RCVD", "SIDR_REQ_RCVD"};
	static const char *const waits[] = {"REQ_RCVD", "MRA_REQ_SENT", "REP_RCVD", "MRA_REP_SENT",
					    "ESTABLISHED"};

	for (size_t i = 0; s->cm_state && i < sizeof(may) / sizeof(may[0]); i++)
		if (!strcmp(s->cm_state, may[i]))
			return;
	/* The address has gone, so no MAD tells it of the death. It waits for its program, without
	 * a deadline. */
	for (size_t i = 0; w.gone && s->cm_state && i < sizeof(waits) / sizeof(waits[0]); i++)
		if (!strcmp(s->cm_state, waits[i]))
			return;
	/* cm_dreq_handler() ignores a DREQ in this state; the client's RTU comes next. */
	if (s->cm_state && (!t.is_half || strcmp(s->cm_state, "MRA_REP_SENT") != 0))
		fail_msg("%s: state %s, CM's %s", (const char *)arg, s->state, s->cm_state);
}

static void expect_nothing(void)
{
	const struct cma_counts none = {0};
	struct cma_counts n;

	idle(LONG_MS);
	cma_count(w.c, &n);
	assert_memory_equal(&n, &none, sizeof(n));
	cma_free(w.c);
	w.c = NULL;
}

static void end_all(uint32_t victim)
{
	uint32_t other = victim == CLIENT ? SERVER : CLIENT;
	struct cma_counts n;

	t.stop_at = t.fail_at = 0;
	killed(victim);
	idle(LONG_MS);
	cma_each(w.c, has_ended, victim == CLIENT ? "the server" : "the client");
	cma_count(w.c, &n);
	assert_int_equal(n.queries, 0);
	if (victim == CLIENT)
		assert_int_equal(n.groups, 0);
	while (get_event(other))
		;
	killed(other);
	expect_nothing();
}

static void killed_at_any_step(int (*make)(void **state), uint32_t victim)
{
	uint32_t n = 1;

	t.fail_at = 0;
	make(NULL);
	cma_free(w.c);
	while (!run(n, 0)) {
		end_all(victim);
		n++;
	}
	for (uint32_t i = 0; i < ucma_nrows; i++)
		if (ucma_rows[i].name && !(t.used >> i & 1))
			fail_msg("%s is not used", ucma_rows[i].name);
	end_all(victim);
	assert_true(n > 80);
	world_drop(NULL);
}

static void client_is_killed(void **state)
{
	killed_at_any_step(world_make, CLIENT);
}

static void server_is_killed(void **state)
{
	killed_at_any_step(world_make, SERVER);
}

static void client_is_killed_on_ethernet(void **state)
{
	killed_at_any_step(world_eth, CLIENT);
}

static void server_is_killed_on_ethernet(void **state)
{
	killed_at_any_step(world_eth, SERVER);
}

/* An address goes (kernel: del_gid()): ids keep it, MADs of its GID are lost, timers run on. */
static void address_goes_at_any_step(uint32_t host, uint32_t victim)
{
	uint32_t n = 1;
	bool end;

	t.fail_at = 0;
	world_eth(NULL);
	cma_free(w.c);
	do {
		end = run(n++, 0);
		t.stop_at = 0;
		address_goes(host);
		idle(n % 3 * 1000); /* the victim dies at once, or while its MADs are repeated */
		end_all(victim);
		address_comes(host);
	} while (!end);
	assert_true(n > 80);
	world_drop(NULL);
}

static void clients_address_goes(void **state)
{
	address_goes_at_any_step(1, CLIENT);
	address_goes_at_any_step(1, SERVER);
}

static void servers_address_goes(void **state)
{
	address_goes_at_any_step(0, CLIENT);
	address_goes_at_any_step(0, SERVER);
}

static void survive(int (*make)(void **state))
{
	uint32_t n = 0, ends = 0;

	t.fail_at = 0;
	make(NULL);
	cma_free(w.c);
	do {
		ends += run(0, ++n);
		end_all(n % 2 ? SERVER : CLIENT);
	} while (t.blocks >= n);
	/*
	 * The test must have run out of memory often, and the programs must have survived most
	 * times.
	 */
	assert_true(n > 50 && ends > n / 2);
	world_drop(NULL);
}

static void no_memory_is_survived(void **state)
{
	survive(world_make);
}

static void no_memory_is_survived_on_ethernet(void **state)
{
	survive(world_eth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(client_is_killed),
		cmocka_unit_test(server_is_killed),
		cmocka_unit_test(client_is_killed_on_ethernet),
		cmocka_unit_test(server_is_killed_on_ethernet),
		cmocka_unit_test(clients_address_goes),
		cmocka_unit_test(servers_address_goes),
		cmocka_unit_test(no_memory_is_survived),
		cmocka_unit_test(no_memory_is_survived_on_ethernet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
