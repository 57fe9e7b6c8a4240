/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client is stopped, or killed, at each marked step (POINT()) of its calls: meanwhile all others
 * go on without waiting for it, and after a kill nothing of it is left.
 */
#include "segment/test.h"

#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "umad/priv.h"
#include "umad/test.h"
#include "util/test_time.h"

#define CLASS 0x30
#define OFF 40u
#define SIZE 216u
#define OUI 0x1234
#define BAR_NS (50 * NSEC_PER_MSEC)
#define MAX_STEPS 200

static struct seg seg;
static uint32_t ports[2];
static uint32_t agents;
static uint64_t worst, noise; /* longest calls of the others, with and without a stopped client */

static int setup(void **state)
{
	int r = umad_test_world(&seg, 2, ports);

	agents = r ? 0 : seg_table(&seg, SEG_T_AGENT)->live;
	return r;
}

static int teardown(void **state)
{
	seg_unmap(&seg);
	return 0;
}

/* ---- files and MADs */

static struct umad_file file(unsigned int n)
{
	struct umad_file f = {.s = &seg};
	struct seg_file *sf;

	assert_int_equal(seg_alloc(&seg, SEG_T_FILE, SEG_OWNER_DEVICE, &f.file), 0);
	sf = seg_file(&seg, f.file);
	f.gen = sf->gen;
	sf->hca = hw_port(&seg, ports[n])->hca;
	sf->port = 1;
	sf->kind = SEG_FILE_UMAD;
	assert_int_equal(evq_open(&seg, f.file, 0), 0);
	evq_set_lazy(&seg, f.file);
	return f;
}

static void gone(struct umad_file *f)
{
	umad_file_gone(&seg, f->file);
	evq_close(&seg, f->file);
	seg_free(&seg, SEG_T_FILE, f->file);
}

static long reg(const struct umad_file *f, uint8_t class, uint32_t method)
{
	struct ib_user_mad_reg_req2 q = {.qpn = !mad_is_smi(class),
					 .mgmt_class = class,
					 .mgmt_class_version = 1,
					 .oui = mad_is_vendor2(class) ? OUI : 0,
					 .rmpp_version = !mad_is_smi(class),
					 .method_mask = {method ? UINT64_C(1) << method : 0}};
	long r = umad_ioctl(f, IB_USER_MAD_REGISTER_AGENT2, &q);

	return r ? r : (long)q.id;
}

struct packet {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[OFF + 3 * SIZE];
};

static ssize_t put(const struct umad_file *f, uint8_t class, uint8_t method, uint16_t attr,
		   unsigned int to, bool rmpp)
{
	static uint32_t tid;
	struct packet p = {.hdr = {.timeout_ms = 3600 * 1000}};

	p.hdr.id = class == CLASS;
	be16_store(&p.hdr.lid, (uint16_t)hw_port(&seg, ports[to])->lid);
	be32_store(&p.hdr.qpn, !mad_is_smi(class));
	p.mad[0] = p.mad[2] = 1;
	p.mad[1] = class;
	p.mad[3] = method;
	LAYOUT_SET(mad_hdr, p.mad, tid, ++tid);
	LAYOUT_SET(mad_hdr, p.mad, attr_id, attr);
	if (mad_is_vendor2(class))
		be32_store(p.mad + MAD_RMPP_HDR, OUI);
	if (rmpp) {
		LAYOUT_SET(mad_rmpp, p.mad, rmpp_version, 1);
		LAYOUT_SET(mad_rmpp, p.mad, flags, MAD_RMPP_ACTIVE);
	}
	return umad_write(f, &p, UMAD_HDR + (rmpp ? sizeof(p.mad) : MAD_SIZE));
}

/*
 * ---- steps of the stopped client, and of the others. Each file has agents for SMPs (0) and GMPs
 * (1); `server` takes the GMPs at port 1.
 */

struct cast {
	struct umad_file me, other, server;
};

static void smp_get(const struct umad_file *f, const struct cast *c)
{
	put(f, MAD_CLASS_SUBN_LID, MAD_METHOD_GET, 0x11, 0, false);
}

static void smp_set(const struct umad_file *f, const struct cast *c)
{
	put(f, MAD_CLASS_SUBN_LID, MAD_METHOD_SET, SMP_ATTR_LED_INFO, 0, false);
}

static void smp_lost(const struct umad_file *f, const struct cast *c)
{
	put(f, CLASS, MAD_METHOD_GET, 1, 0, false); /* no agent is registered there: refused */
}

static void gmp(const struct umad_file *f, const struct cast *c)
{
	put(f, CLASS, MAD_METHOD_GET, 1, 1, false);
}

static void message(const struct umad_file *f, const struct cast *c)
{
	put(f, CLASS, MAD_METHOD_GET, 1, 1, true);
}

/* The server's part: answer the first request. */
static void respond(const struct cast *c, bool rmpp)
{
	struct packet p;

	if (umad_read(&c->server, -1, &p, sizeof(p), true, NULL) < 0)
		return;
	p.hdr.timeout_ms = 0;
	p.hdr.id = 1;
	p.mad[3] |= MAD_METHOD_RESP;
	LAYOUT_SET(mad_rmpp, p.mad, rmpp_version, 1);
	LAYOUT_SET(mad_rmpp, p.mad, flags, rmpp ? MAD_RMPP_ACTIVE : 0);
	umad_write(&c->server, &p, UMAD_HDR + (rmpp ? sizeof(p.mad) : MAD_SIZE));
}

static void answer(const struct umad_file *f, const struct cast *c)
{
	respond(c, false);
}

static void long_answer(const struct umad_file *f, const struct cast *c)
{
	respond(c, true);
}

/* The first request times out, and this process reports it. */
static void expire(const struct umad_file *f, const struct cast *c)
{
	uint32_t i = seg_next(&seg, SEG_T_MSEND, c->me.file + 1, 0);
	struct mad_send *m = seg_at(&seg, SEG_T_MSEND, i);

	m->slot = seg.self;
	m->slot_gen = seg.self_gen;
	atomic_store(&m->deadline, 1);
	umad_watch(&seg, &(struct umad_pkt){.send = i, .send_gen = m->gen});
	umad_run_due(&seg);
}

static void registers(const struct umad_file *f, const struct cast *c)
{
	long id = reg(f, 0x09, 0);
	uint32_t arg = (uint32_t)id;

	if (id >= 0)
		umad_ioctl(f, IB_USER_MAD_UNREGISTER_AGENT, &arg);
}

static const struct step {
	const char *name;
	void (*go)(const struct umad_file *f, const struct cast *c);
} steps[] = {
	{"Get that the port answers", smp_get},    {"Set", smp_set},
	{"request that is refused", smp_lost},     {"request to an agent", gmp},
	{"message of three segments", message},    {"answer", answer},
	{"answer of three segments", long_answer}, {"time-out", expire},
	{"register and unregister", registers},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

struct stepped {
	const struct step *step;
	const struct cast *c;
	unsigned int n;
};

static void open_cast(struct cast *c)
{
	c->me = file(0);
	c->other = file(0);
	c->server = file(1);
	assert_int_equal(reg(&c->me, MAD_CLASS_SUBN_LID, 0), 0);
	assert_int_equal(reg(&c->me, CLASS, 0), 1);
	assert_int_equal(reg(&c->other, MAD_CLASS_SUBN_LID, 0), 0);
	assert_int_equal(reg(&c->other, CLASS, 0), 1);
	assert_int_equal(reg(&c->server, MAD_CLASS_SUBN_LID, 0), 0);
	assert_int_equal(reg(&c->server, CLASS, MAD_METHOD_GET), 1);
	gmp(&c->me, c); /* a request, for the server to answer */
}

static void close_cast(struct cast *c)
{
	gone(&c->me);
	gone(&c->other);
	gone(&c->server);
	assert_int_equal(seg_table(&seg, SEG_T_AGENT)->live, agents);
	assert_int_equal(seg_next(&seg, SEG_T_MSEND, SEG_OWNER_ANY, 0), SEG_NONE);
	assert_int_equal(seg_next(&seg, SEG_T_MRECV, SEG_OWNER_ANY, 0), SEG_NONE);
	assert_int_equal(seg_next(&seg, SEG_T_EVBUF, SEG_OWNER_ANY, 0), SEG_NONE);
	assert_int_equal(seg_next(&seg, SEG_T_EVREC, SEG_OWNER_ANY, 0), SEG_NONE);
	for (uint32_t i = 0; i < MAD_CHAINS; i++)
		assert_int_equal(((struct mad_chain *)seg_at(&seg, SEG_T_MCHAIN, i))->head, 0);
}

static uint32_t packets(const struct umad_file *f)
{
	return ((struct seg_evq *)seg_at(&seg, SEG_T_EVQ, f->file))->count;
}

/* Does this step end the request that open_cast() has begun? */
static bool is_about_request(void (*go)(const struct umad_file *f, const struct cast *c))
{
	return go == answer || go == long_answer || go == expire;
}

/* Either the request still waits, or its reader has got one answer or one time-out. */
static void request_is_seen_to(const struct cast *c)
{
	uint32_t waits = 0, n = 0;
	struct packet p;

	seg_for_each_owned (&seg, SEG_T_MSEND, c->me.file + 1, i) {
		const struct mad_send *m = seg_at(&seg, SEG_T_MSEND, i);

		assert_true(mad_send_is(m, m->gen, MAD_SEND_WAITS));
		waits++;
	}
	while (umad_read(&c->me, -1, &p, sizeof(p), true, NULL) > 0)
		n++;
	assert_int_equal(waits + n, 1);
}

/* Make all calls on another file; returns the longest call's time. */
static uint64_t others_go_on(const struct cast *c)
{
	uint64_t longest = 0;
	struct packet p;

	for (size_t i = 0; i < STEPS; i++) {
		uint32_t mine = packets(&c->other), theirs = packets(&c->server);
		uint64_t start = test_own_ns(), took;

		if (is_about_request(steps[i].go))
			continue; /* not at that port: it has a file of its own */
		steps[i].go(&c->other, c);
		took = test_own_ns() - start;
		if (took > longest)
			longest = took;
		if (steps[i].go == smp_get || steps[i].go == smp_set || steps[i].go == smp_lost)
			assert_int_equal(packets(&c->other), mine + 1);
		else if (steps[i].go == gmp || steps[i].go == message)
			assert_int_equal(packets(&c->server), theirs + 1);
	}
	umad_sends_cancel(&seg, c->other.file, seg_file(&seg, c->other.file)->agent[1]);
	while (umad_read(&c->other, -1, &p, sizeof(p), true, NULL) > 0)
		;
	return longest;
}

/* ---- one step after another */

static void be_stopped(struct seg *s, struct test_child *c, void *arg)
{
	const struct stepped *st = arg;

	test_stop_at(st->n);
	st->step->go(&st->c->me, st->c);
}

static void see_death(const struct test_child *c)
{
	test_is_dead(&seg, c);
	evq_repair(&seg);
	umad_run_orphans(&seg);
}

/* False: the client has no n-th step. *took: the others' longest call while it was stopped. */
static bool at_once(const struct step *step, unsigned int n, bool to_kill, uint64_t *took)
{
	struct cast cast;
	struct stepped st = {step, &cast, n};
	struct test_child c;
	bool stopped;

	open_cast(&cast);
	*took = others_go_on(&cast);
	noise = *took > noise ? *took : noise;
	test_spawn(&seg, &c, be_stopped, &st);
	stopped = test_stops(&c);
	*took = stopped && !to_kill ? others_go_on(&cast) : 0;
	if (stopped) {
		kill(c.pid, SIGKILL);
		test_reap(&c);
	}
	see_death(&c);
	if (is_about_request(step->go))
		request_is_seen_to(&cast);
	others_go_on(&cast);
	close_cast(&cast);
	test_forget(&seg, &c);
	return stopped;
}

/* A step that keeps others waiting does so each time; a machine that stands still does not. */
static bool at(const struct step *step, unsigned int n, bool to_kill)
{
	uint64_t took = UINT64_MAX, least = UINT64_MAX;
	bool stopped = true;

	for (int i = 0; i < 3 && stopped && least >= BAR_NS; i++) {
		stopped = at_once(step, n, to_kill, &took);
		least = took < least ? took : least;
	}
	worst = least > worst ? least : worst;
	return stopped;
}

/* The elements freed last are the first to be reused. */
static void reuse(void)
{
	atomic_store(&seg_table(&seg, SEG_T_MSEND)->hint, 0);
	atomic_store(&seg_table(&seg, SEG_T_EVBUF)->hint, 0);
}

static uint32_t sends(const struct umad_file *f)
{
	uint32_t n = 0;

	seg_for_each_owned (&seg, SEG_T_MSEND, f->file + 1, i)
		n++;
	return n;
}

/*
 * The asker's file closes while a process is stopped in its request, and goes on later: what others
 * have begun in the same elements stays.
 */
static bool gone_at(const struct step *step, unsigned int n)
{
	struct cast cast;
	struct stepped st = {step, &cast, n};
	struct test_child c;
	struct umad_file late;
	bool stopped;
	int status;

	open_cast(&cast);
	reuse();
	test_spawn(&seg, &c, be_stopped, &st);
	stopped = test_stops(&c);
	if (stopped) {
		gone(&cast.me);
		reuse();
		gmp(&cast.other, &cast);
		message(&cast.other, &cast);
		assert_int_equal(sends(&cast.other), 2);
		kill(c.pid, SIGCONT);
		assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(sends(&cast.other), 2);
		late = file(0);
		cast.me = late;
	}
	see_death(&c);
	close_cast(&cast);
	test_forget(&seg, &c);
	return stopped;
}

static bool stopped_at(const struct step *step, unsigned int n)
{
	return at(step, n, false);
}

static bool killed_at(const struct step *step, unsigned int n)
{
	return at(step, n, true);
}

static unsigned int walk(bool (*at_step)(const struct step *step, unsigned int n))
{
	unsigned int did = 0;

	for (size_t i = 0; i < STEPS; i++)
		for (unsigned int n = 1; n < MAX_STEPS && at_step(&steps[i], n); n++)
			did++;
	assert_true(did > 3 * STEPS);
	return did;
}

static void stopped_at_each_step(void **state)
{
	unsigned int n = walk(stopped_at);

	print_message("stopped at %u steps: others waited %.1f ms at most, %.1f without\n", n,
		      (double)worst / 1e6, (double)noise / 1e6);
	assert_true(worst < BAR_NS + 2 * noise);
}

static void killed_at_each_step(void **state)
{
	print_message("killed at %u steps\n", walk(killed_at));
}

static void file_goes_at_each_step(void **state)
{
	unsigned int did = 0;

	for (size_t i = 0; i < STEPS; i++)
		for (unsigned int n = 1; is_about_request(steps[i].go) && n < MAX_STEPS; n++)
			if (gone_at(&steps[i], n))
				did++;
			else
				break;
	print_message("a file went at %u steps\n", did);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_at_each_step),
		cmocka_unit_test(killed_at_each_step),
		cmocka_unit_test(file_goes_at_each_step),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
