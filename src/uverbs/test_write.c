/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command interface: frames of write(2) and INVOKE_WRITE, which reach the same handlers. */
#include "uverbs/test.h"

struct alloc_pd {
	struct ib_uverbs_cmd_hdr hdr;
	uint64_t response; /* all that struct ib_uverbs_alloc_pd has */
	uint32_t driver[2];
};

struct query_device_ex {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex;
	struct ib_uverbs_ex_query_device cmd;
	uint64_t tail;
};

static struct alloc_pd alloc_pd(void *resp, size_t out_bytes)
{
	return (struct alloc_pd){
		.hdr = {.command = IB_USER_VERBS_CMD_ALLOC_PD,
			.in_words = sizeof(struct alloc_pd) / 4,
			.out_words = (uint16_t)(out_bytes / 4)},
		.response = (uintptr_t)resp,
		.driver = {0x77, 0},
	};
}

static void plain_command(void **state)
{
	uint32_t resp[2] = {99, 0};
	struct alloc_pd p = alloc_pd(resp, sizeof(resp));

	assert_int_equal(uv_write(env->f, &p, sizeof(p)), sizeof(p));
	assert_int_equal(resp[0], 0);    /* the handle */
	assert_int_equal(resp[1], 0x21); /* the driver's answer follows the core's */
	assert_int_equal(env->seen, 0x77);
}

/* ib_safe_file_access(): checked before everything except the range */
static void only_the_opener_writes(void **state)
{
	uint32_t resp[2] = {99, 0};
	struct alloc_pd p = alloc_pd(resp, sizeof(resp));
	struct uv_cred was = env->f->opener;

	assert_int_equal(uv_write(env->f, &p, sizeof(p)), sizeof(p));
	env->f->opener.pid++; /* as if from another process */
	assert_int_equal(uv_write(env->f, &p, sizeof(p)), -EACCES);
	assert_int_equal(uv_write(env->f, &p, 0), -EACCES);
	assert_int_equal(uv_write(env->f, (void *)(UINT64_C(1) << 63), 8), -EFAULT);
	env->f->opener = was;
	env->f->opener.gid[1]++; /* the same process with other credentials */
	assert_int_equal(uv_write(env->f, &p, sizeof(p)), -EACCES);
	env->f->opener = was;
	env->f->opener.caps ^= 1;
	assert_int_equal(uv_write(env->f, &p, sizeof(p)), -EACCES);
	env->f->opener = was;
	assert_int_equal(uv_write(env->f, &p, sizeof(p)), sizeof(p));
}

static void plain_frames(void **state)
{
	static const struct {
		const char *what;
		uint32_t command;
		int in_words, out_words;
		size_t count;
		int want;
	} t[] = {
		{"no header", 3, 6, 1, 7, -EINVAL},
		{"unknown flag", 3 | 1u << 30, 6, 1, 24, -EINVAL},
		{"bits above the number", 0x103, 6, 1, 24, -EINVAL},
		{"beyond the last", 41, 6, 1, 24, -EOPNOTSUPP},
		{"no handler", IB_USER_VERBS_CMD_ALLOC_MW, 6, 1, 24, -EOPNOTSUPP},
		{"no handler, bad frame", IB_USER_VERBS_CMD_ALLOC_MW, 5, 1, 24, -EINVAL},
		{"never one", IB_USER_VERBS_CMD_POLL_CQ, 6, 1, 24, -EOPNOTSUPP},
		{"words and count differ", 3, 5, 1, 24, -EINVAL},
		{"words more than count", 3, 7, 1, 24, -EINVAL},
		{"request too short", 3, 3, 1, 12, -ENOSPC},
		{"answer too short", 3, 6, 0, 24, -ENOSPC},
		{"no driver data", 3, 4, 1, 16, 16},
		{"fine", 3, 6, 1, 24, 24},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		uint32_t resp[2];
		struct alloc_pd p = alloc_pd(resp, sizeof(resp));
		ssize_t r;

		p.hdr.command = t[i].command;
		p.hdr.in_words = (uint16_t)t[i].in_words;
		p.hdr.out_words = (uint16_t)t[i].out_words;
		r = uv_write(env->f, &p, t[i].count);
		if (r != t[i].want)
			fail_msg("%s: %zd, not %d", t[i].what, r, t[i].want);
	}
}

static struct query_device_ex query_device_ex(void *resp, size_t bytes)
{
	return (struct query_device_ex){
		.hdr = {.command =
				IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED,
			.in_words = 1,
			.out_words = (uint16_t)(bytes / 8)},
		.ex = {.response = (uintptr_t)resp},
	};
}

static void extended_command(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp;
	struct query_device_ex q = query_device_ex(&resp, sizeof(resp));
	size_t count = offsetof(struct query_device_ex, tail);

	memset(&resp, 0xff, sizeof(resp));
	assert_int_equal(uv_write(env->f, &q, count), count);
	assert_int_equal(resp.response_length, sizeof(resp));
	assert_int_equal(resp.base.max_qp, 77);
	assert_int_equal(resp.base.fw_ver, 0x1400000001);
	assert_int_equal(resp.max_dm_size, 99);
}

static void extended_frames(void **state)
{
	static const struct {
		const char *what;
		int in, pin, out, pout;
		uint32_t reserved;
		bool response;
		size_t count;
		uint32_t comp_mask;
		uint64_t tail;
		int want;
	} t[] = {
		{"fine", 1, 0, 38, 0, 0, true, 32, 0, 0, 32},
		{"longer, zero", 2, 0, 38, 0, 0, true, 40, 0, 0, 40},
		{"longer, not zero", 2, 0, 38, 0, 0, true, 40, 0, 1, -EOPNOTSUPP},
		{"driver's words count", 1, 1, 38, 0, 0, true, 40, 0, 1, 40},
		{"words and count differ", 1, 1, 38, 0, 0, true, 32, 0, 0, -EINVAL},
		{"reserved", 1, 0, 38, 0, 1, true, 32, 0, 0, -EINVAL},
		{"response without words", 1, 0, 0, 0, 0, true, 32, 0, 0, -EINVAL},
		{"words without response", 1, 0, 38, 0, 0, false, 32, 0, 0, -EINVAL},
		{"neither", 1, 0, 0, 0, 0, false, 32, 0, 0, 32},
		{"short header", 1, 0, 38, 0, 0, true, 20, 0, 0, -EINVAL},
		{"comp_mask", 1, 0, 38, 0, 0, true, 32, 1, 0, -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct ib_uverbs_ex_query_device_resp resp;
		struct query_device_ex q = query_device_ex(&resp, sizeof(resp));
		ssize_t r;

		q.hdr.in_words = (uint16_t)t[i].in;
		q.hdr.out_words = (uint16_t)t[i].out;
		q.ex.provider_in_words = (uint16_t)t[i].pin;
		q.ex.provider_out_words = (uint16_t)t[i].pout;
		q.ex.cmd_hdr_reserved = t[i].reserved;
		if (!t[i].response)
			q.ex.response = 0;
		q.cmd.comp_mask = t[i].comp_mask;
		q.tail = t[i].tail;
		r = uv_write(env->f, &q, t[i].count);
		if (r != t[i].want)
			fail_msg("%s: %zd, not %d", t[i].what, r, t[i].want);
	}
}

/* A program built with a newer or older structure: the answer is cut, or the rest cleared. */
static void answer_length(void **state)
{
	uint8_t resp[sizeof(struct ib_uverbs_ex_query_device_resp) + 16];
	struct query_device_ex q = query_device_ex(resp, sizeof(resp));
	struct ib_uverbs_ex_query_device_resp *r = (void *)resp;

	memset(resp, 0xff, sizeof(resp));
	assert_int_equal(uv_write(env->f, &q, 32), 32);
	assert_int_equal(r->response_length, sizeof(*r));
	for (size_t i = sizeof(*r); i < sizeof(resp); i++)
		assert_int_equal(resp[i], 0);
	q = query_device_ex(resp, 184);
	memset(resp, 0xff, sizeof(resp));
	assert_int_equal(uv_write(env->f, &q, 32), 32);
	assert_int_equal(r->response_length, 184);
	assert_int_equal(resp[184], 0xff);
}

static void bad_addresses(void **state)
{
	uint32_t resp[2];
	struct alloc_pd p = alloc_pd(resp, sizeof(resp));

	assert_int_equal(uv_write(env->f, NULL, 24), -EFAULT);
	p.response = 16;
	assert_int_equal(uv_write(env->f, &p, sizeof(p)), -EFAULT);
	assert_null(env->f->objects); /* undone */
}

static void destroy_cq_of_16_bytes(void **state)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_cq cmd;
	} d;
	struct ib_uverbs_destroy_cq_resp resp;

	d.hdr = (struct ib_uverbs_cmd_hdr){IB_USER_VERBS_CMD_DESTROY_CQ, 4, 2};
	d.cmd = (struct ib_uverbs_destroy_cq){.response = (uintptr_t)&resp,
					      .cq_handle = make_cq(NULL, -1, 0)};
	assert_int_equal(uv_write(env->f, &d, 16), 16);
	assert_int_equal(uv_write(env->f, &d, 12), -EINVAL);
}

/* ---- INVOKE_WRITE */

static void invoke_lengths(void **state)
{
	struct ib_uverbs_query_device_resp resp;
	struct ib_uverbs_query_device req = {0};
	uint32_t x = 0;

	assert_int_equal(COMMAND(QUERY_DEVICE, req, resp), 0);
	assert_int_equal(resp.max_qp, 77);
	/* libibverbs calls this to find out whether the kernel has INVOKE_WRITE */
	assert_int_equal(COMMAND_IN(QUERY_DEVICE, req), -ENOSPC);
	assert_int_equal(command(IB_USER_VERBS_CMD_QUERY_DEVICE, &x, 4, &resp, sizeof(resp)),
			 -ENOSPC);
	assert_int_equal(
		command(IB_USER_VERBS_CMD_QUERY_DEVICE, &req, sizeof(req), &resp, sizeof(resp) - 8),
		-ENOSPC);
	assert_int_equal(command(IB_USER_VERBS_CMD_QUERY_DEVICE, &x, 3, &resp, sizeof(resp)),
			 -EINVAL);
	assert_int_equal(command(0x100, &req, sizeof(req), NULL, 0), -EINVAL);
	assert_int_equal(command(60, &req, sizeof(req), NULL, 0), -EOPNOTSUPP);
	assert_int_equal(command(IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), NULL, 0),
			 -EOPNOTSUPP);
	assert_int_equal(command(IB_USER_VERBS_CMD_FLAG_EXTENDED | 50, &req, 8, NULL, 0),
			 -EOPNOTSUPP);
}

/* An extended command shorter than its structure is extended with zeroes, without ENOSPC. */
static void invoke_extended_short(void **state)
{
	uint32_t zero = 0, resp[2] = {0};
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	call_attr(&c, UVERBS_ATTR_CORE_IN, &zero, 4);
	call_out(&c, UVERBS_ATTR_CORE_OUT, resp, 8);
	call_const(&c, UVERBS_ATTR_WRITE_CMD,
		   IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(resp[1], 0x14);
	assert_true(c.attr[1].flags & UVERBS_ATTR_F_VALID_OUTPUT);
}

static void invoke_has_driver_data(void **state)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp;
	uint32_t pdn = 0, in = 0x4242;
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	call_attr(&c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	call_out(&c, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	call_const(&c, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_PD);
	call_attr(&c, UVERBS_ATTR_UHW_IN, &in, 4);
	call_out(&c, UVERBS_ATTR_UHW_OUT, &pdn, 4);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(pdn, 0x21);
	assert_int_equal(env->seen, 0x4242);
	assert_true(c.attr[4].flags & UVERBS_ATTR_F_VALID_OUTPUT);
}

/* ---- contexts */

static void get_context_makes_the_async_file(void **state)
{
	struct ib_uverbs_get_context req = {0};
	struct ib_uverbs_get_context_resp resp;
	const struct seg_file *sf;

	assert_int_equal(COMMAND(GET_CONTEXT, req, resp), 0);
	assert_int_equal(resp.num_comp_vectors, FAKE_VECTORS);
	assert_ptr_equal(env->fd_obj[resp.async_fd], env->f->default_async);
	sf = seg_file(&env->s, env->f->default_async->evq);
	assert_int_equal(sf->parent, env->f->file); /* port events find the async file by this */
	assert_int_equal(sf->parent_gen, env->f->gen);
	/* a second one is refused, and its file closed */
	assert_int_equal(COMMAND(GET_CONTEXT, req, resp), -EINVAL);
	assert_int_equal(env->opened, 2);
	assert_int_equal(env->closed, 1);
	assert_int_equal(fcntl((int)resp.async_fd, F_GETFD), -1);
}

static void get_context_may_be_tried_again(void **state)
{
	struct ib_uverbs_get_context req = {0};
	struct ib_uverbs_get_context_resp resp;

	env->fail = -EOPNOTSUPP;
	assert_int_equal(COMMAND(GET_CONTEXT, req, resp), -EOPNOTSUPP);
	assert_int_equal(env->opened - env->closed, 0);
	assert_int_equal(COMMAND(GET_CONTEXT, req, resp), 0);
}

static void commands_without_context(void **state)
{
	struct ib_uverbs_query_device q = {0};
	struct ib_uverbs_query_device_resp qr;
	struct ib_uverbs_alloc_pd a = {0};
	struct ib_uverbs_alloc_pd_resp ar;
	struct ib_uverbs_dealloc_pd d = {0};

	assert_int_equal(COMMAND(QUERY_DEVICE, q, qr), -EINVAL);
	assert_int_equal(COMMAND(ALLOC_PD, a, ar), -EINVAL);
	assert_int_equal(COMMAND_IN(DEALLOC_PD, d), -ENOENT);
}

/* Every command of the table exists, and fails if the driver lacks the operation. */
static void commands_need_operations(void **state)
{
	struct ib_uverbs_create_qp req = {0};
	struct ib_uverbs_create_qp_resp resp;

	env->driver.create_qp = NULL;
	assert_int_equal(uv_cmd_index(env->sys.api), 0);
	assert_int_equal(COMMAND(CREATE_QP, req, resp), -EOPNOTSUPP);
	assert_int_equal(command(IB_USER_VERBS_CMD_RESIZE_CQ, &req, sizeof(req), &resp, 8),
			 -EOPNOTSUPP); /* the fake driver lacks it */
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, env_setup_context, env_teardown)
#define PLAIN(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(plain_command),
		WITH(only_the_opener_writes),
		WITH(plain_frames),
		WITH(extended_command),
		WITH(extended_frames),
		WITH(answer_length),
		WITH(bad_addresses),
		WITH(destroy_cq_of_16_bytes),
		WITH(invoke_lengths),
		WITH(invoke_extended_short),
		WITH(invoke_has_driver_data),
		PLAIN(get_context_makes_the_async_file),
		PLAIN(get_context_may_be_tried_again),
		PLAIN(commands_without_context),
		WITH(commands_need_operations),
	};

	log_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
