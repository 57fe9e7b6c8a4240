/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the tests of the rdma_cm character device: write(2)s to it, on ids of the fake. */
#ifndef SOFTHCA_CMA_TEST_DEV_H
#define SOFTHCA_CMA_TEST_DEV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cma/test_fake.h"
#include "hw/port.h"
#include "wire/mad/sa.h"

#define F1 1u
#define F2 2u
#define F3 3u /* of another host */
#define UID UINT64_C(0x1122334455667788)

static struct cma *c;
static uint8_t answer[UCMA_OUT_MAX];
static size_t answered;

static inline int setup(void **state)
{
	c = fake_new();
	return cma_file_open(c, F1, c->host, 77, "prog") ||
	       cma_file_open(c, F2, c->host, 78, "other") ||
	       cma_file_open(c, F3, c->other_host, 79, "far");
}

static inline int teardown(void **state)
{
	fake_free(c);
	return 0;
}

struct how { /* how a call differs from a valid one */
	uint32_t file;
	int cut;     /* bytes missing at the end of the struct */
	uint32_t in; /* in_len; 0: the struct's size; UINT32_MAX: 0 */
	bool no_response;
	const void *aux;
	uint32_t aux_len;
	int aux_err;
};

static inline ssize_t call_as(const struct how *how, uint32_t cmd, const void *in, size_t len,
			      size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr h;
		uint8_t body[512];
	} w = {.h = {.cmd = cmd, .in = (uint16_t)len, .out = (uint16_t)out_len}};
	struct ucma_call k = {
		.file = how->file ? how->file : F1,
		.count = (uint32_t)(sizeof(w.h) + len),
		.len = (uint32_t)(sizeof(w.h) + len) - (uint32_t)how->cut,
		.no_response = how->no_response,
		.aux_len = how->aux_len,
		.aux_err = how->aux_err,
	};
	void *copy;
	ssize_t n;

	if (how->in)
		w.h.in = how->in == UINT32_MAX ? 0 : (uint16_t)how->in;
	memcpy(w.body, in, len);
	memset(answer, 0xa5, sizeof(answer));
	/* The copy has the command's exact size, so that the sanitizer sees a read beyond it. */
	copy = malloc(k.len);
	memcpy(copy, &w, k.len);
	n = cma_write(c, &k, copy, how->aux, answer, &answered);
	free(copy);
	if (n > 0)
		assert_int_equal(n, k.count);
	assert_true(answered <= out_len || cmd == RDMA_USER_CM_CMD_MIGRATE_ID);
	return n > 0 ? 0 : n;
}

static const struct how plain;
#define CALL(cmd, s, out) (int)call_as(&plain, RDMA_USER_CM_CMD_##cmd, &(s), sizeof(s), out)
#define CALL_AS(how, cmd, s, out) (int)call_as(how, RDMA_USER_CM_CMD_##cmd, &(s), sizeof(s), out)
#define HOW(...) (&(const struct how){__VA_ARGS__})
#define IS(a, e) assert_int_equal(a, e)

static inline uint32_t u32(void)
{
	uint32_t v;

	assert_int_equal(answered, sizeof(v));
	memcpy(&v, answer, sizeof(v));
	return v;
}

static inline uint32_t make_in(uint32_t file, uint16_t ps)
{
	struct rdma_ucm_create_id cmd = {.uid = UID, .ps = ps};

	IS(CALL_AS(HOW(.file = file), CREATE_ID, cmd, 4), 0);
	return u32();
}

static inline uint32_t make(void)
{
	return make_in(F1, RDMA_PS_TCP);
}

/* The fake's id that was made last. */
static inline struct cma_id *newest(void)
{
	return TAILQ_LAST(&c->ids, fake_ids);
}

static inline int destroy_in(uint32_t file, uint32_t id)
{
	struct rdma_ucm_destroy_id cmd = {.id = id};

	return CALL_AS(HOW(.file = file), DESTROY_ID, cmd, 4);
}

static inline struct sockaddr_in in4(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htobe16(port),
				    .sin_addr.s_addr = htobe32(0x7f010001)};
}

static inline void bind_id(uint32_t id)
{
	struct rdma_ucm_bind_ip cmd = {.id = id};
	struct sockaddr_in a = in4(7000);

	memcpy(&cmd.addr, &a, sizeof(a));
	IS(CALL(BIND_IP, cmd, 0), 0);
}

static inline uint32_t make_bound(void)
{
	uint32_t id = make();

	bind_id(id);
	return id;
}

static inline int get_in(uint32_t file, struct rdma_ucm_event_resp *e)
{
	struct rdma_ucm_get_event cmd = {0};
	int err = CALL_AS(HOW(.file = file), GET_EVENT, cmd, sizeof(*e));

	memcpy(e, answer, sizeof(*e));
	IS(answered, err ? 0 : sizeof(*e));
	return err;
}

static inline int get(struct rdma_ucm_event_resp *e)
{
	return get_in(F1, e);
}

static inline void tell(struct cma_id *id, uint32_t event)
{
	const struct cma_event e = {.event = event};

	assert_true(fake_tell(id, &e));
}

static inline uint32_t make_listener(uint32_t backlog)
{
	uint32_t id = make_bound();
	struct rdma_ucm_listen cmd = {.id = id, .backlog = backlog};

	IS(CALL(LISTEN, cmd, 0), 0);
	return id;
}

static const struct cma_event request = {
	.event = RDMA_CM_EVENT_CONNECT_REQUEST,
	.conn = {.data = "hello", .len = 5, .responder_resources = 3, .qpn = 0x55},
	.ece = {.vendor_id = 0x15b3, .attr_mod = 9},
};

static inline int join(uint32_t id, uint64_t uid, bool no_response)
{
	struct rdma_ucm_join_mcast cmd = {.id = id, .uid = uid, .addr_size = 16};
	struct sockaddr_in a = in4(0);

	memcpy(&cmd.addr, &a, sizeof(a));
	return CALL_AS(HOW(.no_response = no_response), JOIN_MCAST, cmd, 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
