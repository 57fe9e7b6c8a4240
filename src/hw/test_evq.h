/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the tests of event queues: a queue made as the supervisor does. */
#ifndef SOFTHCA_HW_TEST_EVQ_H
#define SOFTHCA_HW_TEST_EVQ_H

#include "segment/test.h"
#include "hw/for_tests.h"

#include <sys/ioctl.h>

static const struct seg_evsrc no_source = {.table = SEG_T_COUNT};

struct queue {
	uint32_t idx, gen;
	int fd;
};

/* Makes a queue as the supervisor does; blocking, like a completion channel. */
static inline struct queue queue_open(struct seg *s, uint32_t max)
{
	struct queue q;

	/* The queue has its file's generation, also the first at this index. */
	q.idx = 77;
	assert_int_equal(seg_alloc_at(s, SEG_T_FILE, SEG_OWNER_DEVICE, q.idx), 0);
	seg_free(s, SEG_T_FILE, q.idx);
	assert_int_equal(seg_alloc_at(s, SEG_T_FILE, SEG_OWNER_DEVICE, q.idx), 0);
	q.gen = seg_file(s, q.idx)->gen;
	q.fd = test_ev_open(s, q.idx, 0, max);
	return q;
}

static inline void queue_close(struct seg *s, struct queue *q)
{
	char path[320];

	evq_close(s, q->idx);
	evq_close(s, q->idx);
	assert_int_equal(seg_next(s, SEG_T_EVREC, q->idx + 1, 0), SEG_NONE);
	evq_path(s, q->idx, q->gen, path);
	unlink(path);
	close(q->fd);
	seg_free(s, SEG_T_FILE, q->idx);
}

static inline int bytes_in(const struct queue *q)
{
	int n = -1;

	ioctl(q->fd, FIONREAD, &n);
	return n;
}

static inline int push(struct seg *s, const struct queue *q, uint64_t cookie)
{
	return evq_push(s, q->idx, q->gen, no_source, cookie, 3, 4);
}

/* Compares the data of a record, and frees it. */
static inline void expect_data(struct seg *s, const struct seg_evrec *r, const uint8_t *want,
			       uint32_t len)
{
	uint32_t at = r->data, done = 0;
	const uint8_t *p;

	assert_int_equal(r->len, len);
	while (done < len) {
		uint32_t n = len - done < EVQ_PIECE ? len - done : EVQ_PIECE;

		p = evq_data(s, at, &at);
		assert_non_null(p);
		assert_memory_equal(p, want + done, n);
		done += n;
	}
	assert_null(evq_data(s, at, &at));
	evq_data_free(s, r);
}

#endif
