// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The n-th allocation fails, for every n: calls say so, and nothing is left behind. */
#include "cma/test_world.h"

static uint32_t fail_at, count;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool fails(void)
{
	return fail_at && ++count == fail_at;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

static struct cma_id *make(uint32_t host, enum rdma_ucm_port_space ps)
{
	return cma_id_new(w.c, w.host[host], 0, "test", ps,
			  ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC, on_event, NULL);
}

/* Makes a listener, a group and a connection, as far as memory allows. */
static void live(void)
{
	const struct cma_conn_param p = {.data = "x", .len = 1};
	union cma_addr any = ip("0.0.0.0", 5000), own = ip("127.1.0.1", 0);
	union cma_addr dst = ip("127.1.0.2", 5000), group = ip("239.0.0.1", 0);
	struct cma_id *l = make(1, RDMA_PS_TCP), *id = make(0, RDMA_PS_TCP);
	struct cma_id *m = make(0, RDMA_PS_UDP);

	if (l && !cma_bind(l, &any))
		cma_listen(l, 1);
	if (m && !cma_bind(m, &own))
		cma_join(m, &group, SA_JOIN_FULL, NULL);
	if (!id || cma_resolve_addr(id, NULL, &dst, 1000))
		return;
	pass(1000);
	if (cma_resolve_route(id, 1000))
		return;
	pass(2000);
	if (cma_connect(id, &p, NULL))
		return;
	turn();
	for (; w.read < w.nlog; w.read++) {
		struct said *s = &w.log[w.read % 64];

		if (s->e.event == RDMA_CM_EVENT_CONNECT_REQUEST && !cma_accept(s->id, &p, NULL))
			turn();
		else if (s->e.event == RDMA_CM_EVENT_CONNECT_RESPONSE &&
			 !cma_accept(id, NULL, NULL))
			turn();
	}
	cma_disconnect(id);
	pass(100);
}

static void survive(int (*make)(void **state))
{
	uint32_t n = 1;

	do {
		fail_at = 0;
		make(NULL);
		cma_free(w.c);
		fail_at = n++;
		count = 0;
		w.c = cma_new(&w.s, &world_ops, NULL);
		if (w.c)
			live();
		/* The tear-down must work without memory, too. */
		world_drop(NULL);
	} while (count >= fail_at);
	assert_true(n > 20);
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_survived),
					   cmocka_unit_test(no_memory_is_survived_on_ethernet)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
