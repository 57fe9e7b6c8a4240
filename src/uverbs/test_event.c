/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readable files: reading, waiting, counters of events read, the end of objects and files. */
#include "uverbs/test.h"
#include "hw/cq.h"
#include "hw/evtarget.h"
#include "util/test_time.h"
#include <sys/ioctl.h>
#include <sys/time.h>

static struct uv_event_file *file_of(int fd)
{
	return env->fd_obj[fd];
}

static ssize_t read_event(int fd, void *buf, size_t n)
{
	struct uv_event_wait w;

	return uv_event_read(file_of(fd), fd, buf, n, true, &w);
}

/* Waits for an event, as the shim does for a descriptor without O_NONBLOCK. */
static ssize_t read_blocking(int fd, void *buf, size_t n, const void *sigmask)
{
	struct uv_event_wait w;
	ssize_t r;

	for (;;) {
		r = uv_event_read(file_of(fd), fd, buf, n, false, &w);
		if (r != -EAGAIN && r != -ETIMEDOUT)
			return r;
		r = evq_wait(w.q, w.seen, w.locked, sigmask);
		if (r)
			return r;
	}
}

/* Complete as the engine does: by the object's target. */
static void complete(uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(&env->s, cqn);
	struct seg_evsrc src = {SEG_T_CQ, cqn, cq->gen, 0};

	if (cq->comp.evq != SEG_NONE)
		evq_push(&env->s, cq->comp.evq, cq->comp.evq_gen, src, cq->comp.cookie, 0, 0);
}

static void cq_error(uint32_t cqn)
{
	struct hw_cq *cq = hw_cq(&env->s, cqn);
	struct seg_evsrc src = {SEG_T_CQ, cqn, cq->gen, 1};

	evq_push(&env->s, cq->async.evq, cq->async.evq_gen, src, cq->async.cookie, IBV_EVENT_CQ_ERR,
		 0);
}

static int async_fd(void)
{
	for (int fd = 0; fd < MAX_FD; fd++)
		if (env->fd_obj[fd] && env->fd_obj[fd] == env->f->default_async)
			return fd;
	return -1;
}

static void completion_event(void **state)
{
	struct ib_uverbs_comp_event_desc d = {0};
	uint32_t cqn;
	int ch = make_channel();

	make_cq(&cqn, ch, 0xabcdef01);
	assert_int_equal(read_event(ch, &d, sizeof(d)), -EAGAIN);
	complete(cqn);
	complete(cqn);
	assert_int_equal(read_event(ch, &d, sizeof(d)), sizeof(d));
	assert_int_equal(d.cq_handle, 0xabcdef01);
	assert_int_equal(read_event(ch, &d, 100), sizeof(d)); /* one event per read */
	assert_int_equal(read_event(ch, &d, sizeof(d)), -EAGAIN);
}

static void async_event(void **state)
{
	struct ib_uverbs_async_event_desc d = {0};
	uint32_t cqn;

	make_cq(&cqn, -1, 0x77);
	cq_error(cqn);
	assert_int_equal(read_event(async_fd(), &d, sizeof(d)), sizeof(d));
	assert_int_equal(d.element, 0x77);
	assert_int_equal(d.event_type, IBV_EVENT_CQ_ERR);
	assert_int_equal(d.reserved, 0);
}

static void short_buffer_keeps_the_event(void **state)
{
	struct ib_uverbs_async_event_desc d;
	uint32_t cqn;
	int fd = async_fd();

	make_cq(&cqn, -1, 1);
	/* too small a buffer, and no event yet */
	assert_int_equal(read_event(fd, &d, sizeof(d) - 1), -EAGAIN);
	cq_error(cqn);
	assert_int_equal(read_event(fd, &d, sizeof(d) - 1), -EINVAL);
	assert_int_equal(read_event(fd, &d, 0), -EINVAL);
	/* the event is taken, as in the kernel */
	assert_int_equal(read_event(fd, (void *)16, sizeof(d)), -EFAULT);
	assert_int_equal(read_event(fd, &d, sizeof(d)), -EAGAIN);
}

static void readable_as_long_as_there_is_something(void **state)
{
	struct ib_uverbs_comp_event_desc d;
	int ch = make_channel();
	struct pollfd p = {.fd = ch, .events = POLLIN};
	uint32_t cqn;

	make_cq(&cqn, ch, 1);
	assert_int_equal(poll(&p, 1, 0), 0);
	complete(cqn);
	complete(cqn);
	assert_int_equal(poll(&p, 1, 0), 1);
	read_event(ch, &d, sizeof(d));
	assert_int_equal(poll(&p, 1, 0), 1);
	read_event(ch, &d, sizeof(d));
	assert_int_equal(poll(&p, 1, 0), 0);
}

static void *push_later(void *cqn)
{
	test_until_asleep(getpid()); /* a thread that reads */
	complete((uint32_t)(uintptr_t)cqn);
	return NULL;
}

static void waiting(void **state)
{
	struct ib_uverbs_comp_event_desc d = {0};
	int ch = make_channel();
	pthread_t t;
	uint32_t cqn;

	make_cq(&cqn, ch, 5);
	pthread_create(&t, NULL, push_later, (void *)(uintptr_t)cqn);
	assert_int_equal(read_blocking(ch, &d, sizeof(d), NULL), sizeof(d));
	assert_int_equal(d.cq_handle, 5);
	pthread_join(t, NULL);
}

static volatile int alarms;

static void on_alarm(int sig)
{
	alarms++;
	if (env->fail)
		complete((uint32_t)env->fail);
}

static void wait_for_alarm(int flags, ssize_t want, uint32_t cqn, int ch)
{
	struct itimerval in = {.it_value = {0, 2000}}, off = {0};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = flags}, old;
	struct ib_uverbs_comp_event_desc d = {0};
	sigset_t all, mask;

	alarms = 0;
	sigaction(SIGALRM, &sa, &old);
	sigfillset(&all);
	/* as the shim's wrapper does: all signals are blocked */
	sigprocmask(SIG_SETMASK, &all, &mask);
	setitimer(ITIMER_REAL, &in, NULL);
	assert_int_equal(read_blocking(ch, &d, sizeof(d), &mask), want);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_int_equal(alarms, 1);
}

static void signal_interrupts(void **state)
{
	int ch = make_channel();
	sigset_t now;

	wait_for_alarm(0, -EINTR, 0, ch);
	sigprocmask(SIG_SETMASK, NULL, &now);
	assert_false(sigismember(&now, SIGALRM));
}

/* With SA_RESTART the program expects read(2) to continue. The signal handler raises the event. */
static void signal_restarts(void **state)
{
	int ch = make_channel();
	uint32_t cqn;

	make_cq(&cqn, ch, 5);
	env->fail = (int)cqn;
	wait_for_alarm(SA_RESTART, sizeof(struct ib_uverbs_comp_event_desc), cqn, ch);
	env->fail = 0;
}

/* ---- counters */

static void destroyed_cq_tells_what_was_read(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_comp_event_desc d;
	struct ib_uverbs_async_event_desc a;
	struct ib_uverbs_destroy_cq req;
	uint32_t cqn, other;
	int ch = make_channel();

	req = (struct ib_uverbs_destroy_cq){.cq_handle = make_cq(&cqn, ch, 1)};
	make_cq(&other, ch, 2);
	for (int i = 0; i < 3; i++)
		complete(cqn);
	complete(other);
	cq_error(cqn);
	read_event(ch, &d, sizeof(d));
	read_event(ch, &d, sizeof(d));
	read_event(async_fd(), &a, sizeof(a));
	cq_error(cqn);
	assert_int_equal(COMMAND(DESTROY_CQ, req, resp), 0);
	assert_int_equal(resp.comp_events_reported, 2);
	assert_int_equal(resp.async_events_reported, 1);
	/* its unread events are gone, the other CQ's is there */
	assert_int_equal(((struct seg_evq *)seg_at(&env->s, SEG_T_EVQ, file_of(ch)->evq))->count,
			 1);
	assert_int_equal(read_event(ch, &d, sizeof(d)), sizeof(d));
	assert_int_equal(d.cq_handle, 2);
	assert_int_equal(read_event(ch, &d, sizeof(d)), -EAGAIN);
	assert_int_equal(read_event(async_fd(), &a, sizeof(a)), -EAGAIN);
}

static void destroyed_by_method_tells_too(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp = {9, 9};
	struct ib_uverbs_comp_event_desc d;
	uint32_t cqn, cq;
	int ch = make_channel();
	struct call c;

	cq = make_cq(&cqn, ch, 1);
	complete(cqn);
	read_event(ch, &d, sizeof(d));
	call_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	call_obj(&c, UVERBS_ATTR_DESTROY_CQ_HANDLE, cq);
	call_out(&c, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(resp.comp_events_reported, 1);
	assert_int_equal(resp.async_events_reported, 0);
}

static void refused_destruction_keeps_the_events_coming(void **state)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_destroy_cq req;
	struct ib_uverbs_comp_event_desc d;
	int ch = make_channel();
	uint32_t cqn;

	req = (struct ib_uverbs_destroy_cq){.cq_handle = make_cq(&cqn, ch, 1)};
	complete(cqn);
	hw_cq(&env->s, cqn)->refs = 1; /* a QP that verbs did not make */
	env->fail = -EBUSY;
	assert_int_equal(COMMAND(DESTROY_CQ, req, resp), -EBUSY);
	assert_int_equal(read_event(ch, &d, sizeof(d)), sizeof(d));
	hw_cq(&env->s, cqn)->refs = 0;
	env->fail = -EIO;
	assert_int_equal(COMMAND(DESTROY_CQ, req, resp), -EIO);
	complete(cqn);
	assert_int_equal(read_event(ch, &d, sizeof(d)), sizeof(d));
}

static void qp_events_go_to_the_default_file(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);
	uint32_t h = make_qp(pd, cq, cq, IBV_QPT_RC);
	struct uv_target t = fake_driver.qp_target(the_qp(h));
	struct ib_uverbs_destroy_qp req = {.qp_handle = h};
	struct ib_uverbs_destroy_qp_resp resp;
	struct ib_uverbs_async_event_desc a;
	struct seg_evsrc src = {t.table, t.idx, *(uint32_t *)seg_at(&env->s, t.table, t.idx), 1};

	assert_int_equal(t.at->evq, env->f->default_async->evq);
	assert_int_equal(t.at->cookie, 0x1111);
	evq_push(&env->s, t.at->evq, t.at->evq_gen, src, t.at->cookie, IBV_EVENT_QP_FATAL, 0);
	assert_int_equal(read_event(async_fd(), &a, sizeof(a)), sizeof(a));
	assert_int_equal(a.element, 0x1111);
	assert_int_equal(COMMAND(DESTROY_QP, req, resp), 0);
	assert_int_equal(resp.events_reported, 1);
}

/* ---- files */

static void cq_with_its_own_async_file(void **state)
{
	uint32_t cqe = 4, out, vector = 0;
	uint64_t handle = 3;
	struct call a, c;
	uint32_t cqn;

	call_begin(&a, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	call_obj(&a, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	assert_int_equal(call_run(&a), 0);
	assert_ptr_not_equal(file_of((int)a.attr[0].data), env->f->default_async);
	call_begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	call_obj(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	call_attr(&c, UVERBS_ATTR_CREATE_CQ_CQE, &cqe, 4);
	call_attr(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &handle, 8);
	call_attr(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &vector, 4);
	call_out(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &out, 4);
	call_obj(&c, UVERBS_ATTR_CREATE_CQ_EVENT_FD, (int64_t)a.attr[0].data);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(out, 15);
	cqn = ((struct uv_cq *)env->f->handles.slot[c.attr[0].data])->cqn;
	assert_int_equal(hw_cq(&env->s, cqn)->async.evq, file_of((int)a.attr[0].data)->evq);
	/* one more than the device has */
	vector = FAKE_VECTORS;
	memcpy(&c.attr[3].data, &vector, 4);
	assert_int_equal(call_run(&c), -EINVAL);
}

static void wrong_descriptors(void **state)
{
	struct ib_uverbs_create_cq req = {.cqe = 10};
	struct ib_uverbs_create_cq_resp resp;
	int ch = make_channel();

	req.comp_channel = async_fd(); /* a file of another kind */
	assert_int_equal(COMMAND(CREATE_CQ, req, resp), -EBADF);
	req.comp_channel = 0;
	assert_int_equal(COMMAND(CREATE_CQ, req, resp), -EBADF);
	req.comp_channel = ch;
	req.comp_vector = FAKE_VECTORS;
	assert_int_equal(COMMAND(CREATE_CQ, req, resp), -EINVAL);
	/* a channel of another open file */
	req.comp_vector = 0;
	env->f->fds = NULL;
	assert_int_equal(COMMAND(CREATE_CQ, req, resp), -EBADF);
	env->f->fds = &file_of(ch)->obj;
}

static void closed_channel_takes_no_events(void **state)
{
	struct uv_event_file *e;
	uint32_t cqn, cq;
	int ch = make_channel();
	struct ib_uverbs_destroy_cq req;
	struct ib_uverbs_destroy_cq_resp resp;

	cq = make_cq(&cqn, ch, 1);
	e = file_of(ch);
	env->fd_obj[ch] = NULL;
	close(ch);
	env->sys.file_closed(NULL, e->evq, e->gen);
	uv_event_release(e, true);
	complete(cqn);
	req = (struct ib_uverbs_destroy_cq){.cq_handle = cq};
	assert_int_equal(COMMAND(DESTROY_CQ, req, resp), 0);
	assert_int_equal(resp.comp_events_reported, 0);
}

static void channel_outlives_the_device_file(void **state)
{
	struct ib_uverbs_comp_event_desc d;
	struct ib_uverbs_async_event_desc a;
	int ch = make_channel(), as = async_fd();
	struct pollfd p = {.fd = ch, .events = POLLIN};

	make_cq(NULL, ch, 1);
	uv_release(env->f, true);
	env->f = NULL;
	assert_int_equal(read_event(ch, &d, sizeof(d)), -EIO);
	assert_int_equal(read_blocking(ch, &d, sizeof(d), NULL), -EIO);
	assert_int_equal(read_event(as, &a, sizeof(a)), -EAGAIN);
	poll(&p, 1, 0);
}

static void held_file_keeps_its_channels(void **state)
{
	struct ib_uverbs_comp_event_desc d;
	int ch = make_channel();

	uv_release(env->f, false); /* another process holds it */
	env->f = NULL;
	assert_int_equal(read_event(ch, &d, sizeof(d)), -EAGAIN);
}

static void failed_publish_leaves_no_descriptor(void **state)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;
	int before = env->opened - env->closed;

	env->fail = -EMFILE;
	assert_int_equal(COMMAND(CREATE_COMP_CHANNEL, req, resp), -EMFILE);
	assert_int_equal(env->opened - env->closed, before);
	assert_int_equal(fcntl((int)resp.fd, F_GETFD), -1);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, env_setup_context, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(completion_event),
		WITH(async_event),
		WITH(short_buffer_keeps_the_event),
		WITH(readable_as_long_as_there_is_something),
		WITH(waiting),
		WITH(signal_interrupts),
		WITH(signal_restarts),
		WITH(destroyed_cq_tells_what_was_read),
		WITH(destroyed_by_method_tells_too),
		WITH(refused_destruction_keeps_the_events_coming),
		WITH(qp_events_go_to_the_default_file),
		WITH(cq_with_its_own_async_file),
		WITH(wrong_descriptors),
		WITH(closed_channel_takes_no_events),
		WITH(channel_outlives_the_device_file),
		WITH(held_file_keeps_its_channels),
		WITH(failed_publish_leaves_no_descriptor),
	};

	log_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
