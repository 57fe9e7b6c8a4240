/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RMPP in situations that a test by system calls cannot make: time-outs of many seconds, remains of
 * dead processes, answers of the fabric itself, and freeing of everything.
 */
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "fabric/fabric.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "umad/priv.h"
#include "umad/test.h"
#include "util/clock.h"
#include "util/test_cmocka.h"

#define CLASS 0x30
#define OFF 40u
#define SIZE 216u
#define OUI 0x1234
#define GET_TABLE 0x12

static struct seg seg;
static uint32_t ports[2];

static int setup(void **state)
{
	return umad_test_world(&seg, 2, ports);
}

static int teardown(void **state)
{
	seg_unmap(&seg);
	return 0;
}

/* ---- files without descriptors */

static struct umad_file file(unsigned int n, bool user, uint64_t methods)
{
	struct ib_user_mad_reg_req2 q = {.qpn = 1,
					 .mgmt_class = CLASS,
					 .mgmt_class_version = 1,
					 .oui = OUI,
					 .rmpp_version = 1,
					 .flags = user ? IB_USER_MAD_USER_RMPP : 0,
					 .method_mask = {methods}};
	struct umad_file f = {.s = &seg};
	struct seg_file *sf;

	assert_int_equal(seg_alloc(&seg, SEG_T_FILE, SEG_OWNER_DEVICE, &f.file), 0);
	sf = seg_file(&seg, f.file);
	f.gen = sf->gen;
	sf->hca = hw_port(&seg, ports[n])->hca;
	sf->port = 1;
	sf->kind = SEG_FILE_UMAD;
	assert_int_equal(evq_open(&seg, f.file, 0), 0);
	assert_int_equal(umad_ioctl(&f, IB_USER_MAD_REGISTER_AGENT2, &q), 0);
	return f;
}

/* Do what the supervisor does when a file is gone. */
static void gone(struct umad_file *f)
{
	umad_file_gone(&seg, f->file);
	evq_close(&seg, f->file);
	seg_free(&seg, SEG_T_FILE, f->file);
}

static uint32_t live(enum seg_table_id t)
{
	return seg_table(&seg, t)->live;
}

static void assert_clean(void)
{
	assert_int_equal(live(SEG_T_EVBUF), 0);
	assert_int_equal(live(SEG_T_EVREC), 0);
	assert_int_equal(live(SEG_T_MSEND), 0);
	assert_int_equal(live(SEG_T_MRECV), 0);
}

struct packet {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[MAD_SIZE];
};

static struct packet to_port(unsigned int n, uint8_t method, uint8_t tid)
{
	struct packet p = {0};

	be16_store(&p.hdr.lid, (uint16_t)hw_port(&seg, ports[n])->lid);
	be32_store(&p.hdr.qpn, 1);
	LAYOUT_SET(mad_hdr, p.mad, base_version, 1);
	LAYOUT_SET(mad_hdr, p.mad, mgmt_class, CLASS);
	LAYOUT_SET(mad_hdr, p.mad, class_version, 1);
	LAYOUT_SET(mad_hdr, p.mad, method, method);
	LAYOUT_SET(mad_hdr, p.mad, tid, tid);
	be32_store(p.mad + MAD_RMPP_HDR, OUI);
	return p;
}

static void rmpp(struct packet *p, uint32_t type, uint32_t flags, uint32_t d1, uint32_t d2)
{
	LAYOUT_SET(mad_rmpp, p->mad, rmpp_version, 1);
	LAYOUT_SET(mad_rmpp, p->mad, rmpp_type, type);
	LAYOUT_SET(mad_rmpp, p->mad, flags, flags);
	LAYOUT_SET(mad_rmpp, p->mad, segment, d1);
	LAYOUT_SET(mad_rmpp, p->mad, payload_length, d2);
}

static void put(const struct umad_file *f, const struct packet *p)
{
	assert_int_equal(umad_write(f, p, sizeof(*p)), sizeof(*p));
}

static ssize_t take(const struct umad_file *f, void *buf, size_t n)
{
	return umad_read(f, -1, buf, n, true, NULL);
}

static struct packet got(const struct umad_file *f)
{
	struct packet p;

	assert_int_equal(take(f, &p, sizeof(p)), sizeof(p));
	return p;
}

static void nothing(const struct umad_file *f)
{
	struct packet p;

	assert_int_equal(take(f, &p, sizeof(p)), -EAGAIN);
}

static void is(const struct packet *p, uint32_t type, uint32_t status, uint32_t d1, uint32_t d2)
{
	assert_int_equal(LAYOUT_GET(mad_rmpp, p->mad, rmpp_type), type);
	assert_int_equal(LAYOUT_GET(mad_rmpp, p->mad, status), status);
	assert_int_equal(LAYOUT_GET(mad_rmpp, p->mad, segment), d1);
	assert_int_equal(LAYOUT_GET(mad_rmpp, p->mad, payload_length), d2);
}

static void message(const struct umad_file *f, struct packet p, size_t len)
{
	uint8_t *buf = calloc(1, UMAD_HDR + OFF + len);

	assert_non_null(buf);
	rmpp(&p, MAD_RMPP_TYPE_DATA, MAD_RMPP_ACTIVE, 0, 0);
	memcpy(buf, &p, UMAD_HDR + OFF);
	for (size_t i = 0; i < len; i++)
		buf[UMAD_HDR + OFF + i] = (uint8_t)(i / SIZE + i);
	assert_int_equal(umad_write(f, buf, UMAD_HDR + OFF + len), UMAD_HDR + OFF + len);
	free(buf);
}

static struct mad_recv *only_recv(void)
{
	uint32_t i = seg_next(&seg, SEG_T_MRECV, SEG_OWNER_ANY, 0);

	assert_int_not_equal(i, SEG_NONE);
	return seg_at(&seg, SEG_T_MRECV, i);
}

static struct mad_send *only_send(void)
{
	uint32_t i = seg_next(&seg, SEG_T_MSEND, SEG_OWNER_ANY, 0);

	assert_int_not_equal(i, SEG_NONE);
	return seg_at(&seg, SEG_T_MSEND, i);
}

/* ---- time-outs of the receiver */

static void begin(const struct umad_file *u, const struct umad_file *k)
{
	struct packet p = to_port(0, GET_TABLE, 1), in;

	rmpp(&p, MAD_RMPP_TYPE_DATA, MAD_RMPP_ACTIVE | MAD_RMPP_FIRST, 1, 0);
	put(u, &p);
	in = got(u);
	is(&in, MAD_RMPP_TYPE_ACK, 0, 1, 65);
}

/* recv_timeout_handler(): 40 s from the first segment on */
static void half_a_message_times_out(void **state)
{
	struct umad_file k = file(0, false, 1 << GET_TABLE), u = file(1, true, 0);
	uint64_t now = clock_now_ns(), due;
	struct packet p, in;

	begin(&u, &k);
	assert_true(umad_has_deadlines());
	due = umad_run_due(&seg);
	assert_uint_in_range(due, now + 40 * NSEC_PER_SEC, clock_now_ns() + 40 * NSEC_PER_SEC);
	nothing(&u);
	only_recv()->deadline = now;
	umad_run_due(&seg);
	in = got(&u);
	is(&in, MAD_RMPP_TYPE_ABORT, MAD_RMPP_STATUS_T2L, 0, 0);
	assert_int_equal(LAYOUT_GET(mad_hdr, in.mad, method), GET_TABLE | MAD_METHOD_RESP);
	assert_clean();
	p = to_port(0, GET_TABLE, 1); /* after the time-out */
	rmpp(&p, MAD_RMPP_TYPE_DATA, MAD_RMPP_ACTIVE | MAD_RMPP_LAST, 2, 220);
	put(&u, &p);
	nothing(&u);
	nothing(&k);
	gone(&k);
	gone(&u);
}

/* recv_cleanup_handler(): a message is forgotten 10 s after its end */
static void a_message_is_forgotten(void **state)
{
	struct umad_file k = file(0, false, 1 << GET_TABLE), u = file(1, true, 0);
	struct packet p = to_port(0, GET_TABLE, 1), in;
	uint64_t before = clock_now_ns();

	rmpp(&p, MAD_RMPP_TYPE_DATA, MAD_RMPP_ACTIVE | MAD_RMPP_FIRST | MAD_RMPP_LAST, 1, 220);
	for (int i = 0; i < 2; i++) {
		put(&u, &p);
		in = got(&u);
		is(&in, MAD_RMPP_TYPE_ACK, 0, 1, 1);
		got(&k);
		assert_int_equal(live(SEG_T_MRECV), 1);
		put(&u, &p); /* the same segment again starts no message */
		got(&u);
		nothing(&k);
		assert_uint_in_range(only_recv()->deadline, before + 10 * NSEC_PER_SEC,
				     clock_now_ns() + 10 * NSEC_PER_SEC);
		only_recv()->deadline = 0;
	}
	umad_run_due(&seg);
	assert_clean();
	gone(&k);
	gone(&u);
}

/* ---- remains of dead processes */

/* A slot of a dead process. */
static void dead_slot(uint32_t *slot, uint32_t *gen)
{
	assert_int_equal(seg_proc_register(&seg, 1, 4000000, 1, slot, gen), 0);
	seg_proc(&seg, *slot)->state = SEG_PROC_DEAD;
}

static void a_dead_senders_message_times_out(void **state)
{
	struct umad_file k = file(0, false, 0), u = file(1, true, 1 << GET_TABLE);
	struct packet p = to_port(1, GET_TABLE, 1), in;
	struct mad_send *m;

	p.hdr.timeout_ms = 500;
	p.hdr.retries = 1;
	message(&k, p, 1000);
	got(&u);
	m = only_send();
	m->deadline = 0;
	assert_int_equal(umad_run_orphans(&seg), UINT64_MAX); /* this process lives */
	nothing(&u);
	dead_slot(&m->slot, &m->slot_gen);
	assert_true(umad_run_orphans(&seg) != UINT64_MAX);
	in = got(&u); /* repeated */
	is(&in, MAD_RMPP_TYPE_DATA, 0, 1, 5 * 220 - (5 * SIZE - 1000));
	m->deadline = 0;
	assert_int_equal(umad_run_orphans(&seg), UINT64_MAX);
	assert_int_equal(take(&k, &in, sizeof(in)), UMAD_HDR + LAYOUT_SZ(mad_hdr));
	assert_int_equal(in.hdr.status, ETIMEDOUT);
	assert_clean();
	gone(&k);
	gone(&u);
}

/* mad.c: the time of a segment begins when it has been sent. */
static void what_is_being_sent_does_not_time_out(void **state)
{
	struct umad_file k = file(0, false, 0), u = file(1, true, 1 << GET_TABLE);
	struct packet p = to_port(1, GET_TABLE, 1), in;
	struct mad_send *m;
	uint64_t now = clock_now_ns();

	message(&k, p, 1000);
	got(&u);
	m = only_send();
	/* Hold the lock, as another thread does that stands still in the middle of the window. */
	assert_int_equal(seg_trylock(&seg, &m->pump), 0);
	for (int i = 0; i < 3; i++) {
		m->deadline = 0;
		umad_run_due(&seg);
		nothing(&k);
		assert_uint_in_range(m->deadline, now + 2 * NSEC_PER_SEC,
				     clock_now_ns() + 2 * NSEC_PER_SEC);
	}
	seg_unlock(&seg, &m->pump);
	m->deadline = 0;
	umad_run_due(&seg);
	assert_int_equal(take(&k, &in, sizeof(in)), UMAD_HDR + LAYOUT_SZ(mad_hdr));
	assert_int_equal(in.hdr.status, ETIMEDOUT);
	assert_clean();
	gone(&k);
	gone(&u);
}

static void a_dead_senders_half_message_times_out(void **state)
{
	struct umad_file k = file(0, false, 1 << GET_TABLE), u = file(1, true, 0);
	uint64_t before = clock_now_ns();
	struct mad_recv *r;
	struct packet in;

	begin(&u, &k);
	r = only_recv();
	dead_slot(&r->slot, &r->slot_gen);
	assert_uint_in_range(umad_run_orphans(&seg), before + 40 * NSEC_PER_SEC,
			     clock_now_ns() + 40 * NSEC_PER_SEC);
	r->deadline = 0;
	assert_int_equal(umad_run_orphans(&seg), UINT64_MAX);
	in = got(&u);
	is(&in, MAD_RMPP_TYPE_ABORT, MAD_RMPP_STATUS_T2L, 0, 0);
	assert_clean();
	gone(&k);
	gone(&u);
}

/* The lock word of a dead slot, as in lock.c. */
static uint32_t word_of_the_dead(void)
{
	uint32_t slot, gen;

	dead_slot(&slot, &gen);
	return (gen & 0x7f) << 24 | (slot + 1);
}

/*
 * The thread that sent the segments was killed: the next ACK makes another one continue at the same
 * position.
 */
static void a_dead_pump_is_followed(void **state)
{
	struct umad_file k = file(0, false, 0), u = file(1, true, 1 << GET_TABLE);
	struct packet p = to_port(1, GET_TABLE, 1), in, ack;
	struct mad_send *m;

	message(&k, p, 20 * SIZE);
	in = got(&u);
	ack = in;
	LAYOUT_SET(mad_hdr, ack.mad, method, GET_TABLE | MAD_METHOD_RESP);
	m = only_send();
	m->pump.word = word_of_the_dead();
	m->pos.piece = 77; /* the process died while it stored the position */
	rmpp(&ack, MAD_RMPP_TYPE_ACK, MAD_RMPP_ACTIVE, 1, 100);
	put(&u, &ack);
	for (uint32_t n = 2; n <= 20; n++) {
		in = got(&u);
		assert_int_equal(LAYOUT_GET(mad_rmpp, in.mad, segment), n);
		for (uint32_t i = 0; i < SIZE; i++)
			assert_int_equal(in.mad[OFF + i], (uint8_t)(n - 1 + (n - 1) * SIZE + i));
	}
	rmpp(&ack, MAD_RMPP_TYPE_ACK, MAD_RMPP_ACTIVE, 20, 100);
	put(&u, &ack);
	nothing(&u);
	assert_clean();
	gone(&k);
	gone(&u);
}

/* A process was killed while it stored a segment: that message is dropped, the others stay. */
static void a_torn_message_is_dropped(void **state)
{
	struct umad_file k = file(0, false, 1 << GET_TABLE), u = file(1, true, 0);
	struct packet p = to_port(0, GET_TABLE, 1), in;
	struct mad_recv *r;

	begin(&u, &k);
	r = only_recv();
	p = to_port(0, GET_TABLE, 2);
	rmpp(&p, MAD_RMPP_TYPE_DATA, MAD_RMPP_ACTIVE | MAD_RMPP_FIRST, 1, 0);
	put(&u, &p);
	got(&u);
	r->torn = 1;
	r->lock.word = word_of_the_dead();
	rmpp(&p, MAD_RMPP_TYPE_DATA, MAD_RMPP_ACTIVE | MAD_RMPP_LAST, 2, 220);
	put(&u, &p);
	in = got(&u);
	is(&in, MAD_RMPP_TYPE_ACK, 0, 2, 65);
	assert_int_equal(live(SEG_T_MRECV), 2);
	LAYOUT_SET(mad_hdr, p.mad, tid, 1);
	put(&u, &p);
	nothing(&u);
	assert_int_equal(live(SEG_T_MRECV), 1);
	gone(&k);
	gone(&u);
	assert_clean();
}

/* ---- answers of the fabric */

static void answer(const struct umad_file *asker, uint32_t send, size_t len)
{
	struct mad_send *m = seg_at(&seg, SEG_T_MSEND, send);
	struct umad_pkt req = {.qpn = 1,
			       .dst_qpn = 1,
			       .slid = (uint16_t)hw_port(&seg, ports[0])->lid,
			       .send = send,
			       .send_gen = m->gen};
	struct seg_chain data = {0};
	uint8_t hdr[MAD_SIZE];

	memcpy(hdr, m->mad, sizeof(hdr));
	LAYOUT_SET(mad_hdr, hdr, method, GET_TABLE | MAD_METHOD_RESP);
	assert_int_equal(umad_answer_owner(&seg, &req), asker->file + 1);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(chain_append(&seg, umad_answer_owner(&seg, &req), &data,
					      &(uint8_t){(uint8_t)(i * 3)}, 1),
				 0);
	assert_int_equal(umad_rmpp_answer(&seg, ports[1], &req, hdr, &data), 0);
	assert_int_equal(data.len, 0);
}

static void the_fabric_answers(void **state)
{
	static const size_t lens[] = {0, 1, 216, 217, 100 * 216 + 5};
	static uint8_t buf[UMAD_HDR + OFF + 101 * SIZE];
	struct umad_file k = file(0, false, 0), u = file(1, true, 1 << GET_TABLE);

	for (size_t n = 0; n < sizeof(lens) / sizeof(lens[0]); n++) {
		struct packet p = to_port(1, GET_TABLE, (uint8_t)n);

		p.hdr.timeout_ms = 1000;
		put(&k, &p);
		got(&u); /* answers in place of the receiver */
		answer(&k, seg_next(&seg, SEG_T_MSEND, SEG_OWNER_ANY, 0), lens[n]);
		assert_int_equal(take(&k, buf, sizeof(buf)), UMAD_HDR + OFF + lens[n]);
		for (size_t i = 0; i < lens[n]; i++)
			assert_int_equal(buf[UMAD_HDR + OFF + i], (uint8_t)(i * 3));
		assert_int_equal(live(SEG_T_MSEND), 0);
		nothing(&k);
		nothing(&u); /* the fabric's own ACKs do not reach programs */
	}
	gone(&k);
	gone(&u);
	assert_clean();
}

/* An answer to a program that makes its ACKs itself, and to one that makes none. */
static void the_fabric_answers_user_rmpp(void **state)
{
	struct umad_file a = file(0, true, 0), u = file(1, true, 1 << GET_TABLE);
	struct packet p = to_port(1, GET_TABLE, 1), in;
	uint32_t asked;

	p.hdr.timeout_ms = 1000;
	put(&a, &p);
	got(&u);
	asked = seg_next(&seg, SEG_T_MSEND, SEG_OWNER_ANY, 0);
	answer(&a, asked, 1000);
	assert_int_equal(live(SEG_T_MSEND), 1); /* the answer has ended the request */
	in = got(&a);
	assert_int_equal(LAYOUT_GET(mad_rmpp, in.mad, segment), 1);
	LAYOUT_SET(mad_hdr, in.mad, method, GET_TABLE);
	rmpp(&in, MAD_RMPP_TYPE_ACK, MAD_RMPP_ACTIVE, 1, 3);
	put(&a, &in);
	got(&a);
	got(&a);
	nothing(&a);
	for (int i = 0; i < 4; i++) { /* three retries, then the answer is given up */
		only_send()->deadline = 0;
		umad_run_due(&seg);
		if (i < 3) {
			got(&a);
			got(&a);
		}
		nothing(&a);
	}
	assert_clean();
	nothing(&u);
	gone(&a);
	gone(&u);
}

/* A request and an answer with one transaction ID: each takes the other's ACKs for its own. */
static void acks_of_acks_end(void **state)
{
	struct umad_file a = file(0, false, 0), b = file(1, false, 1 << GET_TABLE),
			 u = file(1, true, 0);
	struct packet p = to_port(1, GET_TABLE, 5), in;

	p.hdr.timeout_ms = 60000;
	put(&a, &p);
	in = got(&b);
	LAYOUT_SET(mad_hdr, in.mad, method, GET_TABLE | MAD_METHOD_RESP);
	in.hdr.timeout_ms = 60000;
	put(&b, &in);
	got(&a);
	put(&a, &p);
	got(&b);
	rmpp(&in, MAD_RMPP_TYPE_ACK, MAD_RMPP_ACTIVE, 0, 1);
	put(&u, &in);
	nothing(&a);
	nothing(&b);
	nothing(&u);
	gone(&a);
	gone(&b);
	gone(&u);
	assert_clean();
}

/* ---- everything is freed */

static void files_take_all_with_them(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct umad_file k = file(0, false, 1 << GET_TABLE),
				 u = file(1, true, 1 << GET_TABLE), b = file(1, false, 0);
		struct packet p = to_port(1, GET_TABLE, 1);

		begin(&u, &k);
		message(&k, p, 3000); /* incomplete */
		p = to_port(0, GET_TABLE, 7);
		message(&b, p, 3000); /* complete, but not read */
		gone(&k);
		gone(&u);
		gone(&b);
		assert_clean();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_a_message_times_out),
		cmocka_unit_test(a_message_is_forgotten),
		cmocka_unit_test(a_dead_senders_message_times_out),
		cmocka_unit_test(a_dead_senders_half_message_times_out),
		cmocka_unit_test(what_is_being_sent_does_not_time_out),
		cmocka_unit_test(a_dead_pump_is_followed),
		cmocka_unit_test(a_torn_message_is_dropped),
		cmocka_unit_test(the_fabric_answers),
		cmocka_unit_test(the_fabric_answers_user_rmpp),
		cmocka_unit_test(acks_of_acks_end),
		cmocka_unit_test(files_take_all_with_them),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
