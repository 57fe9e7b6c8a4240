/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RMPP by system calls: whole exchanges, both ends in the kernel's role, and answers with segments.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include "rmpp.h"

/* copy_recv_mad() in user_mad.c: the first MAD whole, then the data of the others */
static void messages(void **state)
{
	for (size_t i = 0; i < CLASSES; i++) {
		const struct cls *c = &classes[i];
		size_t size = MAD - c->hdr;
		const size_t lens[] = {0,          1,        size - 1,  size,          size + 1,
				       2 * size,   3 * size, 65 * size, 65 * size + 1, 66 * size,
				       129 * size, 40000,    1000001};
		int k = peer(0, c, false, 0), r = peer(1, c, false, SERVES);

		for (size_t n = 0; n < sizeof(lens) / sizeof(lens[0]); n++) {
			struct packet p = start(c, lid_of(1), GET_TABLE, (uint8_t)n), in;

			assert_true(send_message(k, c, &p, lens[n]) > 0);
			in = read_message(r, c, lens[n]);
			assert_int_equal(in.mad[15], n);
			assert_int_equal(in.hdr.lid, htons(lid_of(0)));
			assert_int_equal(in.hdr.qpn, htonl(1));
			nothing(r);
			nothing(k);
		}
		umad_close(k);
		umad_close(r);
	}
}

/* init_newwin(), process_ds_ack(): how much of the answer is sent before the first ACK */
static void first_window_of_an_answer(void **state)
{
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0);
	struct packet p = start(&vendor, lid_of(0), GET_TABLE, 6), in;

	set_rmpp(&p, DATA, ACTIVE | FIRST | LAST, 0, 1, 220);
	put(u, &p);
	in = got(u);
	assert_rmpp(&in, ACK, 0, 1, 1);
	reply(u, &in, ACK, 0, 0, 3);
	in = got(k);
	in.mad[3] |= RESP;
	in.hdr.timeout_ms = 0;
	assert_true(send_message(k, &vendor, &in, 6 * 216) > 0);
	for (uint32_t n = 1; n <= 3; n++)
		expect(u, n, 6 * 216);
	nothing(u);
}

static void exchange(int k, int r, uint8_t tid, size_t ask, size_t answer)
{
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, tid), in;

	p.hdr.timeout_ms = HANGS;
	assert_true(send_message(k, &vendor, &p, ask) > 0);
	in = read_message(r, &vendor, ask);
	nothing(k);
	in.mad[3] |= RESP;
	in.hdr.timeout_ms = 0;
	assert_true(send_message(r, &vendor, &in, answer) > 0);
	in = read_message(k, &vendor, answer);
	assert_int_equal(in.mad[3], GET_TABLE | RESP);
	assert_int_equal(in.mad[15], tid);
	nothing(k);
	nothing(r);
}

static void questions_and_answers(void **state)
{
	static const size_t lens[] = {0, 1, 216, 217, 64 * 216, 65 * 216 + 1, 500000};
	int k = peer(0, &vendor, false, 0), r = peer(1, &vendor, false, SERVES);
	uint8_t tid = 0;

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		for (size_t n = 0; n < sizeof(lens) / sizeof(lens[0]); n++)
			exchange(k, r, ++tid, lens[i], lens[n]);
}

/*
 * alloc_response_msg(), create_rmpp_recv(): ACKs have a GRH if the segments have;
 * rcv_has_same_gid() in mad.c: otherwise they do not match
 */
static void with_grh(void **state)
{
	int k = peer(0, &vendor, false, 0), r = peer(1, &vendor, false, SERVES), u;
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 1), in;
	uint8_t gid[16];

	p.hdr.timeout_ms = 20000;
	p.hdr.grh_present = 1;
	p.hdr.hop_limit = 3;
	p.hdr.flow_label = htonl(0x54321);
	gid_of(1, p.hdr.gid);
	assert_true(send_message(k, &vendor, &p, 100000) > 0);
	in = read_message(r, &vendor, 100000);
	assert_int_equal(in.hdr.grh_present, 1);
	gid_of(0, gid);
	assert_memory_equal(in.hdr.gid, gid, 16);
	in.mad[3] |= RESP;
	in.hdr.timeout_ms = 0;
	assert_true(send_message(r, &vendor, &in, 70000) > 0);
	in = read_message(k, &vendor, 70000);
	assert_int_equal(in.hdr.grh_present, 1);
	assert_memory_equal(in.hdr.gid, p.hdr.gid, 16);
	nothing(k);
	nothing(r);
	umad_close(r);
	u = peer(1, &vendor, true, SERVES);
	p.mad[15] = 2;
	assert_true(send_message(k, &vendor, &p, 1000) > 0);
	in = got(u);
	assert_int_equal(in.hdr.grh_present, 1);
	in.hdr.grh_present = 0;
	reply(u, &in, ACK, 0, 1, 65);
	nothing(u);
	in.hdr.grh_present = 1;
	reply(u, &in, ACK, 0, 1, 3);
	got(u);
	got(u);
	nothing(u);
}

/*
 * is_kernel_rmpp_data_response() in mad.c: the request has timed out, so the answer's segments are
 * dropped
 */
static void an_answer_too_late(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET, 3), in;
	long begin = now_ms();

	p.hdr.timeout_ms = slowly(1500);
	put(k, &p);
	in = got(u);
	in.mad[3] |= RESP;
	in.hdr.timeout_ms = 0;
	set_rmpp(&in, DATA, ACTIVE | FIRST, 0, 1, 0);
	put(u, &in);
	if (overdue(begin, 1500)) {
		again(an_answer_too_late, state);
		return;
	}
	in = got(u);
	assert_rmpp(&in, ACK, 0, 1, 1 + WINDOW);
	timed_out(k, &p);
	in.mad[3] ^= RESP;
	set_rmpp(&in, DATA, ACTIVE | LAST, 0, 2, 220);
	put(u, &in);
	nothing(u);
	nothing(k);
}

/* A message as long as OpenSM's answer for 20 000 nodes. */
static void a_very_long_message(void **state)
{
	int k = peer(0, &vendor, false, 0), r = peer(1, &vendor, false, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 1);

	assert_true(send_message(k, &vendor, &p, 50u << 20) > 0);
	read_message(r, &vendor, 50u << 20);
	/* More data than there is space for. */
	assert_fails(send_message(k, &vendor, &p, 300u << 20), ENOMEM);
	nothing(r);
	p.mad[15] = 2;
	assert_true(send_message(k, &vendor, &p, 1000) > 0);
	read_message(r, &vendor, 1000);
}

/* acquire_rmpp_recv(): for 10 s the same transaction means the same message, which has arrived */
static void a_transaction_once(void **state)
{
	int k = peer(0, &vendor, false, 0), r = peer(1, &vendor, false, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 1);

	assert_true(send_message(k, &vendor, &p, 1000) > 0);
	read_message(r, &vendor, 1000);
	assert_true(send_message(k, &vendor, &p, 1000) > 0);
	nothing(r);
	nothing(k);
}

/* Servers and clients in their own processes, killed in the middle of an exchange. */
static void many_processes(void **state)
{
	enum { CLIENTS = 6, EACH = 30 };
	int r = peer(1, &vendor, false, SERVES), status;
	pid_t pids[CLIENTS];
	uint8_t *buf = malloc(200000);
	int live = CLIENTS;

	assert_non_null(buf);
	for (int i = 0; i < CLIENTS; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		for (int n = 0; n < EACH; n++) {
			size_t len = (size_t)(1000 * (i + 1) + 977 * n);
			struct packet p = start(&vendor, lid_of(1), GET_TABLE, (uint8_t)n);
			int k = peer(0, &vendor, false, 0);

			p.hdr.timeout_ms = 20000;
			p.hdr.sl = 0;
			assert_true(send_message(k, &vendor, &p, len) > 0);
			if (i == 0 && n == EACH / 2)
				kill(getpid(), SIGKILL);
			read_message(k, &vendor, len);
			umad_close(k);
		}
		_exit(0);
	}
	while (live) {
		ssize_t n = read(r, buf, 200000);

		step_waited();
		/* The answer of a killed server may time out. */
		if (n > 0 && !((struct ib_user_mad_hdr *)buf)->status) {
			buf[HDR + 3] |= RESP;
			buf[HDR + 26] |= ACTIVE;
			((struct ib_user_mad_hdr *)buf)->timeout_ms = 0;
			assert_int_equal(write(r, buf, (size_t)n), n);
		} else if (n < 0) {
			poll(&(struct pollfd){.fd = r, .events = POLLIN}, 1, 5);
		}
		for (int i = 0; i < CLIENTS; i++)
			if (pids[i] && waitpid(pids[i], &status, WNOHANG) == pids[i]) {
				assert_int_equal(status, i ? 0 : SIGKILL);
				pids[i] = 0;
				live--;
			}
	}
	free(buf);
}

int main(void)
{
	CASE(messages);
	CASE(first_window_of_an_answer);
	CASE(questions_and_answers);
	CASE(with_grh);
	CASE(an_answer_too_late);
	CASE(a_very_long_message);
	CASE(a_transaction_once);
	CASE(many_processes);
	return run_cases("umad-rmpp-both");
}
