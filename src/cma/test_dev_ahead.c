// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events that a reader takes from its file's queue count as reported. Answers that travel with an
 * event equal the responses of the commands.
 */
#include "cma/test_dev.h"

#include "segment/slot.h"

static uint8_t ahead[UCMA_AHEAD_MAX];
static _Atomic uint32_t changes[SLOT_CHANGES];

static size_t ahead_of(const struct rdma_ucm_event_resp *e, size_t room)
{
	return dev_ahead(dev_file_of(c->dev, F1), e, ahead, room);
}

/* Compares each answer with the response of its command; returns the number of answers. */
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
	len = ahead_of(&e, room);
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
	IS(compare(e.id, ahead_of(&e, sizeof(ahead))), 6);
	/* Events of another file, or of an id that is gone, carry no answers. */
	IS(dev_ahead(dev_file_of(c->dev, F2), &e, ahead, sizeof(ahead)), 0);
	IS(destroy_in(F1, e.id), 0);
	IS(ahead_of(&e, sizeof(ahead)), 0);
}

/* An answer that does not fit into the record is left out. */
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

/* Answers travel with the event, and hold while the counter of its id has the event's value. */
static void test_travel(void **state)
{
	uint32_t id = make_bound(), was;
	struct rdma_ucm_query query = {.id = id, .option = RDMA_USER_CM_QUERY_ADDR};
	struct rdma_ucm_notify notify = {.id = id, .event = 99};

	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	IS(c->npushed, 0); /* without words */
	cma_file_changes(c, F1, changes);
	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	IS(c->pushed.resp.id, id);
	IS(c->npushed, ahead_of(&c->pushed.resp, sizeof(ahead)));
	assert_memory_equal(c->ahead, ahead, c->npushed);
	was = c->pushed.changes;
	IS(changes[id % SLOT_CHANGES], was);
	/* A query leaves the counter unchanged; any other command changes it, even if it fails. */
	IS(CALL(QUERY, query, 504), 0);
	IS(changes[id % SLOT_CHANGES], was);
	IS(CALL(NOTIFY, notify, 0), 0);
	assert_int_not_equal(changes[id % SLOT_CHANGES], was);
	was = changes[id % SLOT_CHANGES];
	tell(newest(), RDMA_CM_EVENT_DISCONNECTED);
	assert_int_not_equal(changes[id % SLOT_CHANGES], was);
	was = changes[id % SLOT_CHANGES];
	dev_changed_all(c->dev);
	assert_int_not_equal(changes[id % SLOT_CHANGES], was);
}

static uint32_t reported(uint32_t id)
{
	IS(destroy_in(F1, id), 0);
	return u32();
}

static void test_taken_is_reported(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t id = make();

	for (int i = 0; i < 3; i++)
		tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED + (uint32_t)i);
	fake_take(c, F1);
	/* After a reader took one event, a GET_EVENT command gets the next. */
	IS(get(&e), 0);
	IS(e.event, RDMA_CM_EVENT_ADDR_ERROR);
	IS(c->nready[F1], 1);
	IS(reported(id), 2);
	IS(c->nready[F1], 0);
}

/* A reader takes an event, and the supervisor does not notice before the destroy command. */
static void test_taken_before_destroy(void **state)
{
	uint32_t l = make_listener(1), conn = l + 1;
	struct cma_id *il = newest();

	assert_non_null(fake_request(il, &request));
	assert_null(fake_request(il, &request));
	fake_take(c, F1);
	assert_non_null(fake_request(il, &request)); /* there is room again */
	IS(reported(l), 1);
	IS(c->nids, 1); /* the program knows only the first */
	IS(reported(conn), 0);
	IS(c->nids, 0);
}

/* A reader takes an event between the supervisor's check and its attempt to take it back. */
static void test_taken_meanwhile(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t l = make_listener(1);

	assert_non_null(fake_request(newest(), &request));
	fake_take(c, F1);
	c->late = true;
	IS(reported(l), 1);
	IS(c->nids, 1);
	IS(reported(l + 1), 0);
	make();
	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(newest(), RDMA_CM_EVENT_ROUTE_RESOLVED);
	fake_take(c, F1);
	IS(get(&e), 0);
	IS(e.event, RDMA_CM_EVENT_ROUTE_RESOLVED);
	IS(get(&e), -EAGAIN);
}

/* A GET_EVENT that comes too late for the last event writes no response. */
static void test_last_taken_meanwhile(void **state)
{
	struct rdma_ucm_event_resp e;

	make();
	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	fake_take(c, F1);
	c->late = true;
	IS(get(&e), -EAGAIN);
}

static void test_taken_before_migration(void **state)
{
	struct rdma_ucm_migrate_id cmd = {.id = make()};
	const struct ucma_fd fd = {0, F1};
	struct rdma_ucm_event_resp e;

	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(newest(), RDMA_CM_EVENT_ROUTE_RESOLVED);
	fake_take(c, F1);
	c->late = true;
	IS(CALL_AS(HOW(.file = F2, .aux = &fd, .aux_len = sizeof(fd)), MIGRATE_ID, cmd, 4), 0);
	IS(u32(), 1);
	IS(c->nready[F1], 0);
	IS(c->nready[F2], 1);
	IS(get_in(F2, &e), 0);
	IS(e.event, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* While an id moves, a reader takes one of its two events: it must be the older one. */
static void test_taken_during_migration(void **state)
{
	struct rdma_ucm_migrate_id cmd = {.id = make()};
	const struct ucma_fd fd = {0, F1};
	struct rdma_ucm_event_resp e;

	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	tell(newest(), RDMA_CM_EVENT_ROUTE_RESOLVED);
	c->reads = true;
	IS(CALL_AS(HOW(.file = F2, .aux = &fd, .aux_len = sizeof(fd)), MIGRATE_ID, cmd, 4), 0);
	IS(u32(), 1);
	IS(c->nready[F1], 0);
	IS(c->nready[F2], 1);
	c->reads = false;
	IS(get_in(F2, &e), 0);
	IS(e.event, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* The oldest connections are the ones that the program knows. */
static void test_taken_during_destroy(void **state)
{
	uint32_t l = make_listener(2);
	struct cma_id *il = newest();

	assert_non_null(fake_request(il, &request));
	assert_non_null(fake_request(il, &request));
	c->reads = true;
	IS(reported(l), 1);
	c->reads = false;
	IS(c->nids, 1);
	IS(reported(l + 1), 0);
	IS(c->nids, 0);
}

/* If the queue is full, the program gets events by GET_EVENT, in the same order. */
static void test_no_room(void **state)
{
	struct rdma_ucm_event_resp e;
	uint32_t id = make();

	tell(newest(), RDMA_CM_EVENT_ADDR_RESOLVED);
	c->full = true;
	tell(newest(), RDMA_CM_EVENT_ROUTE_RESOLVED);
	c->full = false;
	IS(c->nready[F1], 1);
	tell(newest(), RDMA_CM_EVENT_CONNECT_ERROR);
	IS(c->nready[F1], 3);
	c->full = true;
	tell(newest(), RDMA_CM_EVENT_UNREACHABLE);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t want[] = {
			RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
			RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE};

		IS(get(&e), 0);
		IS(e.event, want[i]);
	}
	IS(get(&e), -EAGAIN);
	IS(c->nready[F1], 0);
	IS(reported(id), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same_answers),
		TEST(test_request),
		TEST(test_little_room),
		TEST(test_ud),
		TEST(test_travel),
		TEST(test_taken_is_reported),
		TEST(test_taken_before_destroy),
		TEST(test_taken_meanwhile),
		TEST(test_last_taken_meanwhile),
		TEST(test_taken_before_migration),
		TEST(test_taken_during_migration),
		TEST(test_taken_during_destroy),
		TEST(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
