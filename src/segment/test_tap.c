/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who takes up a trace of the whole fabric when several threads call the device at once. */
#include "segment/test.h"
#include "segment/tap.h"

#include <pthread.h>

static uint32_t own_tid(void)
{
	return (uint32_t)sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

struct taker {
	struct seg *seg;
	int began[2];
};

/* A thread that was interrupted while it took up the trace, and goes on later. */
static void *take_slowly(void *arg)
{
	struct taker *t = arg;

	atomic_store(&t->seg->tap_busy, own_tid());
	assert_int_equal(write(t->began[1], "", 1), 1);
	usleep(50000); /* the longer, the surer a caller that does not wait is found */
	atomic_store(&t->seg->tap_seen, atomic_load(&t->seg->hdr->tap.turn));
	atomic_store(&t->seg->tap_busy, 0);
	return NULL;
}

/* A call that begins after the reader said that it watches is in the trace. */
static void a_call_waits_for_the_thread_that_takes_it(void **state)
{
	struct taker t = {.seg = *state};
	pthread_t thread;
	char c;

	assert_int_equal(pipe(t.began), 0);
	assert_int_equal(tap_begin(t.seg, "fw", ""), 0);
	assert_int_equal(pthread_create(&thread, NULL, take_slowly, &t), 0);
	assert_int_equal(read(t.began[0], &c, 1), 1);
	tap_look(t.seg);
	assert_int_equal(atomic_load(&t.seg->tap_seen), atomic_load(&t.seg->hdr->tap.turn));
	pthread_join(thread, NULL);
	close(t.began[0]);
	close(t.began[1]);
}

/* A handler that interrupted the taker cannot wait for it. */
static void a_handler_does_not_wait_for_its_own_thread(void **state)
{
	struct seg *s = *state;

	assert_int_equal(tap_begin(s, "fw", ""), 0);
	atomic_store(&s->tap_busy, own_tid());
	tap_look(s);
	assert_int_not_equal(atomic_load(&s->tap_seen), atomic_load(&s->hdr->tap.turn));
	atomic_store(&s->tap_busy, 0);
	tap_look(s);
	assert_int_equal(atomic_load(&s->tap_seen), atomic_load(&s->hdr->tap.turn));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_waits_for_the_thread_that_takes_it,
						test_seg_setup, test_seg_teardown),
		cmocka_unit_test_setup_teardown(a_handler_does_not_wait_for_its_own_thread,
						test_seg_setup, test_seg_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
