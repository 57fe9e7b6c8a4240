/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fake shim and supervisor of this folder's tests: see test.h. */
#include "uverbs/test.h"
#include "hw/for_tests.h"
#include "util/test_tmp.h"

struct env *env;

/* ---- shim and supervisor */

static int file_alloc(uint32_t kind, uint32_t *file, uint32_t *gen)
{
	struct seg_file *sf;
	int r = seg_alloc(&env->s, SEG_T_FILE, SEG_OWNER_DEVICE, file);

	if (r)
		return r;
	sf = seg_file(&env->s, *file);
	sf->kind = kind;
	*gen = sf->gen;
	return 0;
}

static int open_file(struct link *l, enum seg_file_kind kind, uint32_t hca, uint32_t port,
		     uint32_t *file, uint32_t *gen, int *fd)
{
	char path[320];
	int r = file_alloc(kind, file, gen);

	if (r)
		return r;
	evq_path(&env->s, *file, *gen, path);
	if (mkfifo(path, 0600))
		return -errno;
	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return -errno;
	env->opened++;
	return evq_open(&env->s, *file, 0);
}

static int file_closed(struct link *l, uint32_t file, uint32_t gen)
{
	char path[320];

	evq_path(&env->s, file, gen, path);
	unlink(path);
	evq_close(&env->s, file);
	seg_free(&env->s, SEG_T_FILE, file);
	env->closed++;
	return 1;
}

static int fd_publish(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen, void *obj)
{
	if (env->fail) {
		int r = env->fail;

		env->fail = 0;
		return r;
	}
	assert_true(fd < MAX_FD);
	env->fd_obj[fd] = obj;
	env->fd_kind[fd] = kind;
	return 0;
}

static void *fd_lookup(int fd, enum seg_file_kind kind)
{
	return fd < 0 || fd >= MAX_FD || env->fd_kind[fd] != (int)kind ? NULL : env->fd_obj[fd];
}

int env_setup_driver(void **state, const struct uv_driver *driver)
{
	char path[300];
	uint32_t file, gen;

	env = calloc(1, sizeof(*env));
	*state = env;
	if (seg_create(&env->s, "test") || seg_proc_register_self(&env->s, 0))
		return -1;
	if (!test_tmp_make(env->s.dir))
		return -1;
	snprintf(path, sizeof(path), "%s/ev", env->s.dir);
	if (mkdir(path, 0700))
		return -1;
	if (seg_alloc(&env->s, SEG_T_HCA, SEG_OWNER_DEVICE, &env->hca))
		return -1;
	env->driver = *driver;
	env->sys = (struct uv_system){
		.seg = &env->s,
		.driver = &env->driver,
		.open_file = open_file,
		.file_closed = file_closed,
		.fd_publish = fd_publish,
		.fd_lookup = fd_lookup,
	};
	if (file_alloc(SEG_FILE_UVERBS, &file, &gen))
		return -1;
	return uv_open(&env->sys, env->hca, file, gen, &env->f);
}

int env_setup(void **state)
{
	return env_setup_driver(state, &fake_driver);
}

int env_setup_context(void **state)
{
	return env_setup(state) ? -1 : env_make_context();
}

int env_make_context(void)
{
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	if (call_run(&c))
		return -1;
	call_begin(&c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	call_obj(&c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	return call_run(&c);
}

int env_teardown(void **state)
{
	char path[300];

	if (env->f)
		uv_release(env->f, true);
	for (int fd = 0; fd < MAX_FD; fd++) {
		struct uv_event_file *e = env->fd_obj[fd];
		uint32_t evq, gen;

		if (!e)
			continue;
		evq = e->evq;
		gen = e->gen;
		close(fd);
		uv_event_release(e, true);
		file_closed(NULL, evq, gen);
	}
	snprintf(path, sizeof(path), "%s/ev", env->s.dir);
	if (rmdir(path) || rmdir(env->s.dir)) {
		test_tmp_remove(env->s.dir); /* a failed test has left a file open */
		return -1;
	}
	uv_api_destroy(env->sys.api);
	seg_unmap(&env->s);
	free(env);
	return 0;
}

/* ---- calls */

void call_begin(struct call *c, uint16_t object, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = 1;
	c->hdr.length = sizeof(c->hdr);
}

struct ib_uverbs_attr *call_attr(struct call *c, uint16_t id, const void *data, uint16_t len)
{
	struct ib_uverbs_attr *a = &c->attr[c->hdr.num_attrs++];

	c->hdr.length += sizeof(*a);
	a->attr_id = id;
	a->len = len;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	if (data && len <= sizeof(a->data))
		memcpy(&a->data, data, len);
	else
		a->data = (uintptr_t)data;
	return a;
}

struct ib_uverbs_attr *call_out(struct call *c, uint16_t id, void *data, uint16_t len)
{
	struct ib_uverbs_attr *a = call_attr(c, id, NULL, 0);

	a->len = len;
	a->data = (uintptr_t)data;
	return a;
}

struct ib_uverbs_attr *call_obj(struct call *c, uint16_t id, int64_t handle)
{
	struct ib_uverbs_attr *a = call_attr(c, id, NULL, 0);

	a->data_s64 = handle;
	return a;
}

struct ib_uverbs_attr *call_const(struct call *c, uint16_t id, uint64_t v)
{
	return call_attr(c, id, &v, sizeof(v));
}

int call_run(struct call *c)
{
	return (int)uv_ioctl(env->f, RDMA_VERBS_IOCTL, c);
}

int command(uint32_t cmd, const void *req, uint16_t reqlen, void *resp, uint16_t resplen)
{
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	call_attr(&c, UVERBS_ATTR_CORE_IN, req, reqlen);
	if (resp)
		call_out(&c, UVERBS_ATTR_CORE_OUT, resp, resplen);
	call_const(&c, UVERBS_ATTR_WRITE_CMD, cmd);
	return call_run(&c);
}

uint32_t make_pd(void)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp;

	assert_int_equal(COMMAND(ALLOC_PD, req, resp), 0);
	return resp.pd_handle;
}

int make_channel(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	assert_int_equal(COMMAND(CREATE_COMP_CHANNEL, req, resp), 0);
	return (int)resp.fd;
}

uint32_t make_cq(uint32_t *cqn, int channel, uint64_t user_handle)
{
	struct ib_uverbs_create_cq req = {
		.cqe = 10, .comp_channel = channel, .user_handle = user_handle};
	struct ib_uverbs_create_cq_resp resp;

	assert_int_equal(COMMAND(CREATE_CQ, req, resp), 0);
	assert_int_equal(resp.cqe, 15);
	if (cqn)
		*cqn = ((struct uv_cq *)env->f->handles.slot[resp.cq_handle])->cqn;
	return resp.cq_handle;
}

uint32_t make_qp(uint32_t pd, uint32_t scq, uint32_t rcq, uint32_t type)
{
	struct ib_uverbs_create_qp req = {.pd_handle = pd,
					  .send_cq_handle = scq,
					  .recv_cq_handle = rcq,
					  .qp_type = (uint8_t)type,
					  .user_handle = 0x1111};
	struct ib_uverbs_create_qp_resp resp;

	assert_int_equal(COMMAND(CREATE_QP, req, resp), 0);
	return resp.qp_handle;
}

struct uv_qp *the_qp(uint32_t handle)
{
	return (struct uv_qp *)env->f->handles.slot[handle];
}
