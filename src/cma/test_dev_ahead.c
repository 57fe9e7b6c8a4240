// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers that travel with an event are those that the commands give. */
#include "cma/test_dev.h"

static uint8_t ahead[UCMA_AHEAD_MAX];

/* Compares each answer with its command's; returns their number. */
static unsigned int compare(uint32_t id, size_t len)
{
	unsigned int n = 0;

	for (size_t at = 0; at < len; n++) {
		struct ucma_answer a;

		memcpy(&a, ahead + at, sizeof(a));
		at += sizeof(a);
		assert_true(a.len && at + a.len <= len);
		if (a.cmd == RDMA_USER_CM_CMD_QUERY) {
			struct rdma_ucm_query cmd = {.id = id, .option = a.key};

			IS(CALL(QUERY, cmd, 504), 0);
		} else {
			struct rdma_ucm_init_qp_attr cmd = {.id = id, .qp_state = a.key};

			IS(a.cmd, RDMA_USER_CM_CMD_INIT_QP_ATTR);
			IS(CALL(INIT_QP_ATTR, cmd, 144), 0);
		}
		IS(answered, a.len);
		assert_memory_equal(answer, ahead + at, a.len);
		at += a.len;
	}
	return n;
}

static unsigned int after(uint32_t event, size_t room)
{
	struct rdma_ucm_event_resp e;
	size_t len;

	tell(newest(), event);
	IS(get(&e), 0);
	len = cma_ahead(c, F1, &e, sizeof(e), ahead, room);
	assert_true(len <= room);
	return compare(e.id, len);
}

static void test_same_answers(void **state)
{
	make_bound();
	IS(after(RDMA_CM_EVENT_ADDR_RESOLVED, sizeof(ahead)), 2);
	IS(after(RDMA_CM_EVENT_ROUTE_RESOLVED, sizeof(ahead)), 2);
	IS(after(RDMA_CM_EVENT_CONNECT_RESPONSE, sizeof(ahead)), 3);
	IS(after(RDMA_CM_EVENT_ESTABLISHED, sizeof(ahead)), 0);
	IS(after(RDMA_CM_EVENT_DISCONNECTED, sizeof(ahead)), 0);
}

static void test_request(void **state)
{
	struct rdma_ucm_event_resp e;

	make_listener(1);
	assert_non_null(fake_request(newest(), &request));
	IS(get(&e), 0);
	bind_id(e.id);
	IS(compare(e.id, cma_ahead(c, F1, &e, sizeof(e), ahead, sizeof(ahead))), 6);
	/* Not for another file, nor of an id that is gone. */
	IS(cma_ahead(c, F2, &e, sizeof(e), ahead, sizeof(ahead)), 0);
	IS(destroy_in(F1, e.id), 0);
	IS(cma_ahead(c, F1, &e, sizeof(e), ahead, sizeof(ahead)), 0);
}

/* What does not fit is left out. */
static void test_little_room(void **state)
{
	make_bound();
	IS(after(RDMA_CM_EVENT_CONNECT_RESPONSE, 0), 0);
	IS(after(RDMA_CM_EVENT_CONNECT_RESPONSE, 2 * (144 + 8) + 151), 2);
}

/* INIT_QP_ATTR of a UD id chooses its Q_Key: only the program may ask. */
static void test_ud(void **state)
{
	bind_id(make_in(F1, RDMA_PS_UDP));
	IS(after(RDMA_CM_EVENT_ROUTE_RESOLVED, sizeof(ahead)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same_answers),
		TEST(test_request),
		TEST(test_little_room),
		TEST(test_ud),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
