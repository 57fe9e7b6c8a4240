/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The attribute engine: frames, attributes, results of calls. */
#include "uverbs/test.h"

static uint32_t make_fake(void)
{
	uint32_t word = 1;
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, -1);
	call_attr(&c, FAKE_ATTR_WORD, &word, 4);
	assert_int_equal(call_run(&c), 0);
	return (uint32_t)c.attr[0].data;
}

static void touch(struct call *c, uint32_t handle)
{
	call_begin(c, FAKE_OBJECT, FAKE_METHOD_TOUCH);
	call_obj(c, FAKE_ATTR_HANDLE, handle);
}

static int destroy_fake(uint32_t handle)
{
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_DESTROY);
	call_obj(&c, FAKE_ATTR_HANDLE, handle);
	return call_run(&c);
}

/* ---- frames */

static void frame_errors(void **state)
{
	static const struct {
		const char *what;
		int length, object, method, nattrs, driver;
		uint64_t reserved1;
		uint32_t reserved2;
		int want;
	} t[] = {
		{"fine", 24, 0, UVERBS_METHOD_GET_CONTEXT, 0, 1, 0, 0, 0},
		{"length too short", 23, 0, 3, 0, 1, 0, 0, -EINVAL},
		{"length too long", 40, 0, 3, 0, 1, 0, 0, -EINVAL},
		{"attributes beyond the length", 24, 0, 3, 1, 1, 0, 0, -EINVAL},
		{"reserved1", 24, 0, 3, 0, 1, 1, 0, -EPROTONOSUPPORT},
		{"reserved2", 24, 0, 3, 0, 1, 0, 1, -EPROTONOSUPPORT},
		{"reserved before driver", 24, 0, 3, 0, 2, 1, 0, -EPROTONOSUPPORT},
		{"driver", 24, 0, 3, 0, 2, 0, 0, -EINVAL},
		{"driver before object", 24, 99, 3, 0, 2, 0, 0, -EINVAL},
		{"object", 24, 31, 0, 0, 1, 0, 0, -EPROTONOSUPPORT},
		{"object of no namespace", 24, 0x2000, 0, 0, 1, 0, 0, -EPROTONOSUPPORT},
		{"absent core object", 24, UVERBS_OBJECT_DM, 0, 0, 1, 0, 0, -EPROTONOSUPPORT},
		{"absent driver object", 24, 0x1001, 0x1000, 0, 1, 0, 0, -EPROTONOSUPPORT},
		{"method", 24, 0, 7, 0, 1, 0, 0, -EPROTONOSUPPORT},
		{"method of another namespace", 24, 0, 0x1003, 0, 1, 0, 0, -EPROTONOSUPPORT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct call c = {0};
		int r;

		c.hdr = (struct call_hdr){.length = (uint16_t)t[i].length,
					  .object_id = (uint16_t)t[i].object,
					  .method_id = (uint16_t)t[i].method,
					  .num_attrs = (uint16_t)t[i].nattrs,
					  .driver_id = (uint32_t)t[i].driver,
					  .reserved1 = t[i].reserved1,
					  .reserved2 = t[i].reserved2};
		r = call_run(&c);
		if (r != t[i].want)
			fail_msg("%s: %d, not %d", t[i].what, r, t[i].want);
	}
}

static void other_commands_and_bad_addresses(void **state)
{
	struct call c;

	call_begin(&c, 0, UVERBS_METHOD_GET_CONTEXT);
	assert_int_equal(uv_ioctl(env->f, RDMA_VERBS_IOCTL + 1, &c), -ENOTTY);
	assert_int_equal(uv_ioctl(env->f, RDMA_VERBS_IOCTL, NULL), -EFAULT);
	assert_int_equal(uv_ioctl(env->f, RDMA_VERBS_IOCTL, (void *)(~UINT64_C(0) << 12)), -EFAULT);
	/* only the low half of the number counts, as in the kernel */
	assert_int_equal(uv_ioctl(env->f, 0xffffffff00000000 | RDMA_VERBS_IOCTL, &c), 0);
}

/* Optional attributes that nobody knows: only their number counts. */
static void at_most_a_page(void **state)
{
	struct {
		struct call_hdr hdr;
		struct ib_uverbs_attr attr[255];
	} c = {.hdr = {.method_id = UVERBS_METHOD_GET_CONTEXT, .driver_id = 1}};

	for (int i = 0; i < 255; i++)
		c.attr[i].attr_id = 0x1f;
	c.hdr.num_attrs = 255;
	c.hdr.length = sizeof(c);
	assert_int_equal(uv_ioctl(env->f, RDMA_VERBS_IOCTL, &c), -EINVAL);
	c.hdr.num_attrs = 254;
	c.hdr.length -= 16;
	assert_int_equal(uv_ioctl(env->f, RDMA_VERBS_IOCTL, &c), 0);
}

static void attributes_behind_an_unmapped_page(void **state)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct call_hdr *h = (void *)(page + 4096 - sizeof(*h));

	munmap(page + 4096, 4096);
	*h = (struct call_hdr){.length = 24 + 16, .method_id = 3, .num_attrs = 1, .driver_id = 1};
	assert_int_equal(uv_ioctl(env->f, RDMA_VERBS_IOCTL, h), -EFAULT);
	munmap(page, 4096);
}

/* ---- attributes */

static void unknown_attributes(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	touch(&c, h);
	call_attr(&c, 0x1f, NULL, 0);
	assert_int_equal(call_run(&c), -EPROTONOSUPPORT);
	c.attr[1].flags = 0;
	assert_int_equal(call_run(&c), 0);
	c.attr[1].attr_id = 0x3000;
	assert_int_equal(call_run(&c), 0);
}

static void duplicates(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	touch(&c, h);
	call_const(&c, FAKE_ATTR_CONST, 1);
	call_const(&c, FAKE_ATTR_CONST, 1);
	assert_int_equal(call_run(&c), -EINVAL);
}

static void mandatory(void **state)
{
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, 0);
	assert_int_equal(call_run(&c), -EINVAL);
	assert_int_equal(env->made, 1); /* only the context was made */
}

/* By row: a BLOB (4 to 16 bytes, a longer one must end in zeroes), BYTES, constants. */
static void lengths(void **state)
{
	static const uint8_t zero_tail[24] = {1, 2, 3, 4}, tail[24] = {1, [20] = 1};
	static const uint8_t first[8] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
	static const struct {
		const char *what;
		uint16_t id;
		const void *data;
		uint16_t len;
		int want;
		uint64_t seen;
	} t[] = {
		{"blob too short", FAKE_ATTR_BLOB, first, 3, -EINVAL, 0},
		{"blob inline", FAKE_ATTR_BLOB, first, 4, 0, 0x44332211},
		{"blob inline 8", FAKE_ATTR_BLOB, first, 8, 0, 0x8877665544332211},
		{"blob pointer", FAKE_ATTR_BLOB, zero_tail, 9, 0, 0x04030201},
		{"blob whole", FAKE_ATTR_BLOB, zero_tail, 16, 0, 0x04030201},
		{"blob longer, zero", FAKE_ATTR_BLOB, zero_tail, 24, 0, 0x04030201},
		{"blob longer, not zero", FAKE_ATTR_BLOB, tail, 24, -EOPNOTSUPP, 0},
		{"blob longer, zero so far", FAKE_ATTR_BLOB, tail, 20, 0, 1},
		{"bytes none", FAKE_ATTR_BYTES, first, 0, 0, 0},
		{"bytes 5 inline", FAKE_ATTR_BYTES, first, 5, 0, 0x5544332211},
		{"bytes 8 inline", FAKE_ATTR_BYTES, first, 8, 0, 0x8877665544332211},
		{"bytes 9 by pointer", FAKE_ATTR_BYTES, tail, 9, 0, 1},
		{"const short", FAKE_ATTR_CONST, first, 4, -EINVAL, 0},
		{"const long", FAKE_ATTR_CONST, tail, 9, -EINVAL, 0},
		{"flags 5", FAKE_ATTR_FLAGS, tail, 5, -EINVAL, 0},
		{"flags 3", FAKE_ATTR_FLAGS, tail, 3, -EINVAL, 0},
		{"flags 4", FAKE_ATTR_FLAGS, tail, 4, 0, 0},
		{"flags 8", FAKE_ATTR_FLAGS, tail, 8, 0, 0},
		{"flags unknown", FAKE_ATTR_FLAGS, first + 1, 4, -EINVAL, 0},
	};
	uint32_t h = make_fake();

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct call c;
		int r;

		touch(&c, h);
		call_attr(&c, t[i].id, t[i].data, t[i].len);
		r = call_run(&c);
		if (r != t[i].want || (!r && env->seen != t[i].seen))
			fail_msg("%s: %d, not %d; 0x%lx", t[i].what, r, t[i].want, env->seen);
	}
}

static void inline_tail_is_checked(void **state)
{
	/*
	 * WORD takes exactly 4 bytes: it has no trailing rule, so 5 bytes are an error even if zero
	 */
	uint64_t word = 7;
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, 0);
	call_attr(&c, FAKE_ATTR_WORD, &word, 5);
	assert_int_equal(call_run(&c), -EINVAL);
}

static void constants(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	touch(&c, h);
	call_const(&c, FAKE_ATTR_CONST, 7);
	assert_int_equal(call_run(&c), 0);
	c.attr[1].data = 8;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[1].data = 7;
	c.attr[1].attr_data.reserved = 1;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void enums(void **state)
{
	uint32_t h = make_fake(), v = 3;
	struct call c;

	touch(&c, h);
	call_attr(&c, FAKE_ATTR_ENUM, &v, 4);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(env->seen, 0);
	c.attr[1].attr_data.enum_data.elem_id = 1;
	assert_int_equal(call_run(&c), -EINVAL); /* the second element has 8 bytes */
	c.attr[1].len = 8;
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(env->seen, 1);
	c.attr[1].attr_data.enum_data.elem_id = 2;
	assert_int_equal(call_run(&c), -EOPNOTSUPP);
	c.attr[1].attr_data.enum_data.elem_id = 1;
	c.attr[1].attr_data.enum_data.reserved = 1;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void raw_fds(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	touch(&c, h);
	call_obj(&c, FAKE_ATTR_RAW_FD, -1);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal((int64_t)env->seen, -1);
	c.attr[1].data = UINT64_C(1) << 31;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[1].data = 3;
	c.attr[1].len = 4;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void arrays(void **state)
{
	uint32_t h = make_fake(), pd[4] = {make_pd(), make_pd(), make_pd(), 99};
	struct call c;

	touch(&c, h);
	call_attr(&c, FAKE_ATTR_ARRAY, pd, 12);
	assert_int_equal(call_run(&c), 0);
	c.attr[1].len = 16;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[1].len = 10;
	assert_int_equal(call_run(&c), -EINVAL);
	touch(&c, h);
	call_attr(&c, FAKE_ATTR_ARRAY, NULL, 0);
	assert_int_equal(call_run(&c), -EINVAL);
	touch(&c, h);
	call_attr(&c, FAKE_ATTR_ARRAY, &pd[2], 8);
	assert_int_equal(call_run(&c), -ENOENT);
	touch(&c, h);
	call_attr(&c, FAKE_ATTR_ARRAY, &h, 4);
	assert_int_equal(call_run(&c), -EINVAL);
	/* no object stayed locked */
	for (int i = 0; i < 3; i++)
		assert_int_equal(env->f->handles.slot[pd[i]]->locks, 0);
}

static void bad_pointers(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	touch(&c, h);
	call_attr(&c, FAKE_ATTR_BYTES, (void *)16, 9);
	assert_int_equal(call_run(&c), -EFAULT);
	touch(&c, h);
	call_attr(&c, FAKE_ATTR_BLOB, (void *)16, 9);
	assert_int_equal(call_run(&c), -EFAULT);
	/* unreadable memory does not count as zeroes */
	touch(&c, h);
	call_attr(&c, FAKE_ATTR_BLOB, (void *)16, 20);
	assert_int_equal(call_run(&c), -EOPNOTSUPP);
}

/* ---- handles */

static void handles(void **state)
{
	static const struct {
		int64_t id;
		int want;
	} t[] = {{-1, -EINVAL},     {INT64_MIN, -EINVAL},  {1, -ENOENT},
		 {100000, -ENOENT}, {UINT32_MAX, -ENOENT}, {INT64_MAX, -ENOENT}};
	struct call c;

	assert_int_equal(make_fake(), 0); /* the lowest free number is taken */
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		touch(&c, 0);
		c.attr[0].data_s64 = t[i].id;
		assert_int_equal(call_run(&c), t[i].want);
	}
	touch(&c, 0);
	c.attr[0].len = 4;
	assert_int_equal(call_run(&c), -EINVAL);
	touch(&c, 0);
	c.attr[0].attr_data.reserved = 1;
	assert_int_equal(call_run(&c), -EINVAL);
	/* an object of another type */
	touch(&c, make_pd());
	assert_int_equal(call_run(&c), -EINVAL);
}

static void handles_are_reused_lowest_first(void **state)
{
	uint32_t h[200];

	for (uint32_t i = 0; i < 200; i++) {
		h[i] = make_fake();
		assert_int_equal(h[i], i);
	}
	assert_int_equal(destroy_fake(150), 0);
	assert_int_equal(destroy_fake(70), 0);
	assert_int_equal(make_fake(), 70);
	assert_int_equal(make_fake(), 150);
	assert_int_equal(make_fake(), 200);
}

static void destroying_twice(void **state)
{
	uint32_t h = make_fake();

	assert_int_equal(destroy_fake(h), 0);
	assert_int_equal(env->destroyed, 1);
	assert_int_equal(destroy_fake(h), -ENOENT);
	assert_int_equal(env->destroyed, 1);
}

static void refused_destruction_keeps_the_object(void **state)
{
	uint32_t h = make_fake();

	env->fail = -EREMOTEIO;
	assert_int_equal(destroy_fake(h), -EREMOTEIO);
	assert_int_equal(destroy_fake(h), 0);
}

/* One object in two attributes of a call: shared and exclusive access exclude each other. */
static void locks(void **state)
{
	uint32_t a = make_fake(), b = make_fake();
	struct call c;

	touch(&c, a);
	call_obj(&c, FAKE_ATTR_OTHER, b);
	assert_int_equal(call_run(&c), 0);
	c.attr[1].data = a;
	assert_int_equal(call_run(&c), -EBUSY);
	assert_int_equal(env->f->handles.slot[a]->locks, 0);
	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_DESTROY);
	call_obj(&c, FAKE_ATTR_HANDLE, a);
	call_obj(&c, FAKE_ATTR_OTHER, a);
	assert_int_equal(call_run(&c), -EBUSY);
	c.attr[1].data = b;
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(env->f->handles.slot[b]->locks, 0);
}

/* ---- results */

static void output_is_marked(void **state)
{
	uint32_t word = 1, out[2] = {0, 0};
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, 77);
	call_attr(&c, FAKE_ATTR_WORD, &word, 4);
	call_out(&c, FAKE_ATTR_OUT, out, 4);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(c.attr[0].data, 0);
	assert_int_equal(out[0], 0xabcd);
	assert_int_equal(c.attr[2].flags, UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
	assert_int_equal(c.attr[1].flags, UVERBS_ATTR_F_MANDATORY);
	c.attr[2].len = 2;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void handle_is_told_before_the_call_fails(void **state)
{
	uint32_t word = 1;
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, 77);
	call_attr(&c, FAKE_ATTR_WORD, &word, 4);
	env->fail = -ENOSPC;
	assert_int_equal(call_run(&c), -ENOSPC);
	assert_int_equal(c.attr[0].data, 0);
	assert_int_equal(destroy_fake(0), -ENOENT);
	assert_int_equal(make_fake(), 0); /* the number is free again */
}

static void failing_answer_undoes_the_object(void **state)
{
	uint32_t word = 1;
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, 0);
	call_attr(&c, FAKE_ATTR_WORD, &word, 4);
	call_out(&c, FAKE_ATTR_OUT, (void *)16, 4);
	assert_int_equal(call_run(&c), -EFAULT);
	assert_int_equal(env->made, 2);
	assert_int_equal(env->destroyed, 1);
	assert_null(env->f->objects);
}

static void handler_never_says_protocol_not_supported(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	touch(&c, h);
	env->fail = -EPROTONOSUPPORT;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void without_context(void **state)
{
	uint32_t word = 1;
	uint64_t resp[6];
	struct call c;

	call_begin(&c, FAKE_OBJECT, FAKE_METHOD_CREATE);
	call_obj(&c, FAKE_ATTR_HANDLE, 0);
	call_attr(&c, FAKE_ATTR_WORD, &word, 4);
	assert_int_equal(call_run(&c), -EINVAL);
	assert_int_equal(destroy_fake(0), -ENOENT);
	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	call_const(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
	call_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, resp, sizeof(resp));
	assert_int_equal(call_run(&c), -EINVAL);
	call_begin(&c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	call_obj(&c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	assert_int_equal(call_run(&c), -EINVAL);
	assert_int_equal(env->opened, 0);
}

static void dead_device(void **state)
{
	uint32_t h = make_fake();
	struct call c;

	env->s.hdr->down = 1;
	touch(&c, h);
	assert_int_equal(call_run(&c), -EIO);
	assert_int_equal(destroy_fake(h), 0); /* the object can still be destroyed */
}

static void driver_extends_a_core_method(void **state)
{
	uint32_t word = 0, vectors = 0;
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	call_out(&c, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors, 4);
	call_out(&c, FAKE_ATTR_WORD, &word, 4);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(word, 0x5a);
	assert_int_equal(vectors, FAKE_VECTORS);
}

/* ---- tables */

static int table_of(const struct uv_object_def *o)
{
	struct uv_driver d = env->driver;
	struct uv_api *api;
	int r;

	d.objects = o;
	d.nobjects = 1;
	r = uv_api_create(&d, &api);
	if (!r)
		uv_api_destroy(api);
	return r;
}

static int nothing(struct uv_bundle *b)
{
	return 0;
}

static void bad_tables_are_refused(void **state)
{
	static const struct uv_type type = {.name = "T", .object_id = 0x1005};
	static const struct uv_attr_def twice[] = {UV_ATTR_IN(0x1000, uint32_t, true),
						   UV_ATTR_IN(0x1000, uint32_t, true)};
	static const struct uv_attr_def two_new[] = {UV_ATTR_IDR(0x1000, &type, UV_NEW, true),
						     UV_ATTR_IDR(0x1001, &type, UV_NEW, true)};
	static const struct uv_attr_def optional[] = {UV_ATTR_IDR(0x1000, &type, UV_NEW, false)};
	static const struct uv_attr_def array[] = {{.id = 0x1000,
						    .name = "A",
						    .kind = UV_A_IDRS_ARRAY,
						    .access = UV_NEW,
						    .type = &type,
						    .max_len = 4}};
	static const struct uv_attr_def far[] = {UV_ATTR_IN(0x1020, uint32_t, true)};
	static const struct {
		const char *what;
		uint16_t id, method;
		const struct uv_attr_def *attrs;
		unsigned int nattrs;
		int (*handler)(struct uv_bundle *b);
		int want;
	} t[] = {
		{"fine", 0x1005, 0x1000, NULL, 0, nothing, 0},
		{"attribute twice", 0x1005, 0x1000, twice, 2, nothing, -EINVAL},
		{"two made", 0x1005, 0x1000, two_new, 2, nothing, -EINVAL},
		{"several made", 0x1005, 0x1000, array, 1, nothing, -EINVAL},
		{"optional handle", 0x1005, 0x1000, optional, 1, nothing, -EINVAL},
		{"attribute id", 0x1005, 0x1000, far, 1, nothing, -EINVAL},
		{"method id", 0x1005, 0x1020, NULL, 0, nothing, -EINVAL},
		{"no handler", 0x1005, 0x1000, NULL, 0, NULL, -EINVAL},
		{"core method", UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, NULL, 0, nothing,
		 -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct uv_method_def m = {t[i].method, "M",          t[i].attrs,
					  t[i].nattrs, t[i].handler, false};
		struct uv_object_def o = {.id = t[i].id, .name = "O", .methods = &m, .nmethods = 1};

		if (t[i].id >= FAKE_NS)
			o.type = &type;
		if (table_of(&o) != t[i].want)
			fail_msg("%s: not %d", t[i].what, t[i].want);
	}
}

/* uapi_finalize_disable(): the whole object is absent, including the driver's additions. */
static void an_object_without_its_operation_is_absent(void **state)
{
	static const struct uv_method_def more = {0x1000, "MORE", NULL, 0, nothing, false};
	static const struct uv_object_def o = {
		.id = UVERBS_OBJECT_COUNTERS, .name = "COUNTERS", .methods = &more, .nmethods = 1};
	struct uv_driver d = env->driver;
	struct uv_api *api;

	d.objects = &o;
	d.nobjects = 1;
	assert_int_equal(uv_api_create(&d, &api), 0);
	assert_non_null(uv_api_method(api, o.id, UVERBS_METHOD_COUNTERS_CREATE));
	assert_non_null(uv_api_method(api, o.id, 0x1000));
	uv_api_destroy(api);
	d.destroy_counters = NULL;
	assert_int_equal(uv_api_create(&d, &api), 0);
	assert_null(uv_api_object(api, o.id));
	assert_null(uv_api_method(api, o.id, 0x1000));
	uv_api_destroy(api);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, env_setup_context, env_teardown)
#define PLAIN(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(frame_errors),
		PLAIN(other_commands_and_bad_addresses),
		PLAIN(at_most_a_page),
		PLAIN(attributes_behind_an_unmapped_page),
		WITH(unknown_attributes),
		WITH(duplicates),
		WITH(mandatory),
		WITH(lengths),
		WITH(inline_tail_is_checked),
		WITH(constants),
		WITH(enums),
		WITH(raw_fds),
		WITH(arrays),
		WITH(bad_pointers),
		WITH(handles),
		WITH(handles_are_reused_lowest_first),
		WITH(destroying_twice),
		WITH(refused_destruction_keeps_the_object),
		WITH(locks),
		WITH(output_is_marked),
		WITH(handle_is_told_before_the_call_fails),
		WITH(failing_answer_undoes_the_object),
		WITH(handler_never_says_protocol_not_supported),
		PLAIN(without_context),
		WITH(dead_device),
		WITH(driver_extends_a_core_method),
		PLAIN(bad_tables_are_refused),
		PLAIN(an_object_without_its_operation_is_absent),
	};

	log_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
