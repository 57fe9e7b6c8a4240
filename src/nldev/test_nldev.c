/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of every length, with every attribute, of every command: answers are whole messages, and
 * each request that wants one gets its end: an ACK, an error or NLMSG_DONE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "nldev/priv.h"
#include "umad/test.h"

static struct seg seg;
static uint32_t ports[2];
static struct {
	unsigned int datagrams, acks, dones, answers;
	int err; /* of the last ACK or NLMSG_DONE */
	uint16_t type;
	uint8_t last[NLDEV_DATAGRAM];
	char text[80]; /* of the extended ACK */
	uint8_t policy[40];
	uint32_t offset;
} got;

static int setup(void **state)
{
	return umad_test_world(&seg, 2, ports);
}

static int teardown(void **state)
{
	seg_unmap(&seg);
	return 0;
}

static void note_ext(const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);
	size_t at = NLMSG_HDRLEN + sizeof(*e);

	if (e->error && !(h->nlmsg_flags & NLM_F_CAPPED))
		at = NLMSG_ALIGN(at + e->msg.nlmsg_len - NLMSG_HDRLEN);
	while ((h->nlmsg_flags & NLM_F_ACK_TLVS) && at + sizeof(struct nlattr) <= h->nlmsg_len) {
		const struct nlattr *a = (const void *)((const char *)h + at);

		assert_true(a->nla_len >= sizeof(*a) && at + a->nla_len <= h->nlmsg_len);
		if (a->nla_type == NLMSGERR_ATTR_MSG)
			memcpy(got.text, a + 1, a->nla_len - sizeof(*a));
		else if (a->nla_type == (NLMSGERR_ATTR_POLICY | NLA_F_NESTED))
			memcpy(got.policy, a + 1, a->nla_len - sizeof(*a));
		else
			got.offset = nl_get_u32(a);
		at += NLA_ALIGN(a->nla_len);
	}
}

static int answer(void *arg, const void *data, size_t n)
{
	const struct nlmsghdr *h = data;

	got.datagrams++;
	for (size_t at = 0; at < n; at += NLMSG_ALIGN(h->nlmsg_len)) {
		h = (const void *)((const char *)data + at);
		assert_true(h->nlmsg_len >= NLMSG_HDRLEN && at + h->nlmsg_len <= n);
		assert_int_equal(h->nlmsg_pid, 77);
		if (h->nlmsg_type == NLMSG_ERROR) {
			got.acks++;
			got.err = *(const int *)NLMSG_DATA(h);
			note_ext(h);
		} else if (h->nlmsg_type == NLMSG_DONE) {
			got.dones++;
			got.err = *(const int *)NLMSG_DATA(h);
		} else {
			got.answers++;
			got.type = h->nlmsg_type;
			assert_true(h->nlmsg_len <= sizeof(got.last));
			memcpy(got.last, h, h->nlmsg_len);
		}
	}
	return 0;
}

static int no_ids(void *arg, uint32_t hca)
{
	return memfd_create("ids", MFD_CLOEXEC);
}

static int closed_ids(void *arg, uint32_t hca)
{
	int fd = no_ids(arg, hca);

	close(fd);
	return fd;
}

static struct nldev kernel = {
	.s = &seg, .admin = true, .to = {.portid = 77, .answer = answer}, .cm_ids = no_ids};

struct request {
	struct nlmsghdr h;
	uint8_t data[512];
};

static struct request make(unsigned int op, unsigned int flags)
{
	return (struct request){
		.h = {.nlmsg_len = NLMSG_HDRLEN,
		      .nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
		      .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)}};
}

static void add(struct request *q, uint16_t type, const void *v, size_t n)
{
	struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};
	uint8_t *at = (uint8_t *)q + q->h.nlmsg_len;

	memcpy(at, &a, sizeof(a));
	memcpy(at + sizeof(a), v, n);
	q->h.nlmsg_len += NLMSG_ALIGN(a.nla_len);
}

static void add32(struct request *q, uint16_t type, uint32_t v)
{
	add(q, type, &v, sizeof(v));
}

/* The request alone at the end of its memory, so that a sanitizer sees a byte too many. */
static int run(const struct request *q, size_t n)
{
	void *copy = malloc(n);

	kernel.host = fab_host_by_name(&seg, "h1");
	memset(&got, 0, sizeof(got));
	memcpy(copy, q, n);
	nldev_request(&kernel, copy, n);
	free(copy);
	return got.err;
}

static int ask(const struct request *q)
{
	return run(q, q->h.nlmsg_len);
}

static void every_command(void **state)
{
	for (unsigned int op = 0; op < RDMA_NLDEV_NUM_OPS + 2; op++)
		for (unsigned int dump = 0; dump < 2; dump++) {
			struct request q = make(op, dump ? NLM_F_DUMP : 0);

			ask(&q);
			assert_int_equal(got.acks + got.dones, 1);
			add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
			ask(&q);
			assert_int_equal(got.acks + got.dones, 1);
			add32(&q, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
			ask(&q);
			assert_int_equal(got.acks + got.dones, 1);
		}
}

static void answers(void **state)
{
	struct request q = make(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);

	assert_int_equal(ask(&q), 0);
	assert_int_equal(got.answers, 2);
	assert_int_equal(got.dones, 1);
	q = make(RDMA_NLDEV_CMD_PORT_GET, 0);
	add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	add32(&q, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	assert_int_equal(ask(&q), 0);
	assert_int_equal(got.answers, 1);
	assert_int_equal(got.type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET));
	q = make(RDMA_NLDEV_CMD_PORT_GET, 0);
	add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	add32(&q, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	assert_int_equal(ask(&q), -EINVAL);
	q = make(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP);
	add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 2);
	assert_int_equal(ask(&q), -EINVAL);
	assert_int_equal(got.dones, 1);
	q = make(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	add(&q, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm", 8);
	assert_int_equal(ask(&q), 0);
	assert_int_equal(got.answers, 1);
}

static void ids_that_cannot_be_read_are_an_error(void **state)
{
	struct request q = make(RDMA_NLDEV_CMD_RES_CM_ID_GET, NLM_F_DUMP);

	add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	assert_int_equal(ask(&q), 0);
	kernel.cm_ids = closed_ids;
	assert_int_equal(ask(&q), -EBADF);
	kernel.cm_ids = no_ids;
}

static void needs_privilege(void **state)
{
	static const unsigned int ops[] = {RDMA_NLDEV_CMD_SET,           RDMA_NLDEV_CMD_NEWLINK,
					   RDMA_NLDEV_CMD_DELLINK,       RDMA_NLDEV_CMD_SYS_SET,
					   RDMA_NLDEV_CMD_STAT_SET,      RDMA_NLDEV_CMD_STAT_DEL,
					   RDMA_NLDEV_CMD_RES_QP_GET_RAW};

	kernel.admin = false;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct request q = make(ops[i], 0);

		assert_int_equal(ask(&q), -EPERM);
	}
	kernel.admin = true;
}

static void other_clients(void **state)
{
	struct request q = make(0, 0);

	for (unsigned int client = 0; client < 64; client++) {
		if (client == RDMA_NL_NLDEV)
			continue;
		q.h.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(client, 0);
		if (!client) /* a control message */
			assert_int_equal(ask(&q), 0);
		else
			assert_int_equal(ask(&q), client == RDMA_NL_LS ? -EPERM : -EINVAL);
		assert_int_equal(got.acks, 1);
	}
}

static void extended_acks(void **state)
{
	struct request q = make(RDMA_NLDEV_CMD_SYS_GET, 0);

	kernel.to.ext_ack = true;
	add(&q, RDMA_NLDEV_ATTR_DEV_INDEX, "x", 1);
	assert_int_equal(ask(&q), -EINVAL);
	assert_string_equal(got.text, "invalid attribute length");
	assert_int_equal(got.offset, NLMSG_HDRLEN);
	kernel.to.cap_ack = true;
	assert_int_equal(ask(&q), -EINVAL);
	assert_string_equal(got.text, "invalid attribute length");
	q = make(RDMA_NLDEV_CMD_SYS_GET, 0);
	add(&q, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "x", 1);
	assert_int_equal(ask(&q), -EINVAL);
	assert_string_equal(got.text, "Attribute failed policy validation");
	/* A string that ends by 0, of at most 32 bytes: as Linux 6.1 answers. */
	assert_memory_equal(got.policy, "\x08\0\x07\0\x20\0\0\0\x08\0\x01\0\x0c\0\0\0", 16);
	kernel.to.ext_ack = kernel.to.cap_ack = false;
}

static void one_dump_at_a_time(void **state)
{
	struct request q = make(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);

	kernel.dumping = true;
	assert_int_equal(ask(&q), -EBUSY);
	assert_int_equal(got.acks, 1);
	kernel.dumping = false;
}

/* Each attribute of each length in each command, and each prefix of a request. */
static void any_bytes(void **state)
{
	static const uint8_t ones[40] = {1};

	for (unsigned int op = 0; op < RDMA_NLDEV_NUM_OPS; op++)
		for (uint16_t type = 0; type <= RDMA_NLDEV_ATTR_MAX; type++)
			for (size_t n = 0; n < 12; n++) {
				struct request q = make(op, n & 1 ? NLM_F_DUMP : 0);

				add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
				add(&q, type | (n & 2 ? NLA_F_NESTED : 0), ones, n);
				ask(&q);
				assert_int_equal(got.acks + got.dones, 1);
				q.h.nlmsg_len -= (uint32_t)n % 4;
				ask(&q);
				assert_int_equal(got.acks + got.dones, 1);
			}
}

static void any_length(void **state)
{
	struct request q = make(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP);

	add32(&q, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	add32(&q, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	for (uint32_t said = 0; said < 64; said++)
		for (size_t n = 0; n < 64; n++) {
			q.h.nlmsg_len = said;
			run(&q, n);
			assert_int_equal(got.acks + got.dones > 0,
					 n >= NLMSG_HDRLEN && said >= NLMSG_HDRLEN && said <= n);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command),
		cmocka_unit_test(answers),
		cmocka_unit_test(ids_that_cannot_be_read_are_an_error),
		cmocka_unit_test(needs_privilege),
		cmocka_unit_test(other_clients),
		cmocka_unit_test(extended_acks),
		cmocka_unit_test(one_dump_at_a_time),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(any_length),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
