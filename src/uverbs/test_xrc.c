/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* XRC domains and their target QPs: which driver operations are called, and with which lock. */
#include "uverbs/test.h"
#include "hw/evtarget.h"

/* ---- the driver's domains */

static struct {
	struct uv_inode inode[4]; /* by domain number, from 1 */
	bool keyed[4];
	uint32_t made, handles;
	int locked, no_lock, no_open;
	uint32_t targets; /* number of target QP handles */
} xrc;

static int share_lock(struct uv_context *ctx)
{
	if (xrc.no_lock)
		return xrc.no_lock;
	assert_int_equal(xrc.locked++, 0);
	return 0;
}

static void share_unlock(struct uv_context *ctx)
{
	assert_int_equal(xrc.locked--, 1);
}

static uint32_t find_xrcd(struct uv_context *ctx, const struct uv_inode *k)
{
	assert_int_equal(xrc.locked, 1);
	for (uint32_t i = 1; i <= xrc.made; i++)
		if (xrc.keyed[i] && !memcmp(&xrc.inode[i], k, sizeof(*k)))
			return i;
	return 0;
}

static int alloc_xrcd(struct uv_xrcd *x, const struct uv_inode *k)
{
	assert_int_equal(xrc.locked, 1);
	x->xrcd = ++xrc.made;
	assert_true(x->xrcd < ARRAY_SIZE(xrc.inode));
	xrc.keyed[x->xrcd] = k;
	if (k)
		xrc.inode[x->xrcd] = *k;
	xrc.handles++;
	return 0;
}

static int open_xrcd(struct uv_xrcd *x)
{
	assert_int_equal(xrc.locked, 1);
	xrc.handles++;
	return 0;
}

static int dealloc_xrcd(struct uv_xrcd *x)
{
	assert_int_equal(xrc.locked, 0);
	xrc.handles--;
	return 0;
}

static int open_qp(struct uv_qp *qp)
{
	assert_int_equal(xrc.locked, 0);
	if (xrc.no_open)
		return xrc.no_open;
	xrc.targets++;
	return 0;
}

static int destroy_qp(struct uv_qp *qp)
{
	if (env->fail)
		return fake_driver.destroy_qp(qp);
	return --xrc.targets ? 0 : fake_driver.destroy_qp(qp);
}

static int create_qp(struct uv_qp *qp, const struct ibv_qp_cap *cap, uint32_t flags,
		     struct uv_udata *u)
{
	xrc.targets++;
	return fake_driver.create_qp(qp, cap, flags, u);
}

static int setup(void **state)
{
	struct uv_driver d = fake_driver;

	memset(&xrc, 0, sizeof(xrc));
	d.share_lock = share_lock;
	d.share_unlock = share_unlock;
	d.find_xrcd = find_xrcd;
	d.alloc_xrcd = alloc_xrcd;
	d.open_xrcd = open_xrcd;
	d.dealloc_xrcd = dealloc_xrcd;
	d.create_qp = create_qp;
	d.open_qp = open_qp;
	d.destroy_qp = destroy_qp;
	return env_setup_driver(state, &d) ? -1 : env_make_context();
}

/* ---- calls */

static int open_domain(int fd, uint32_t oflags, uint32_t *handle)
{
	struct ib_uverbs_open_xrcd req = {.fd = (uint32_t)fd, .oflags = oflags};
	struct ib_uverbs_open_xrcd_resp resp;
	int r = COMMAND(OPEN_XRCD, req, resp);

	assert_int_equal(xrc.locked, 0);
	*handle = r ? UINT32_MAX : resp.xrcd_handle;
	return r;
}

static int close_domain(uint32_t handle)
{
	struct ib_uverbs_close_xrcd req = {.xrcd_handle = handle};

	return COMMAND_IN(CLOSE_XRCD, req);
}

static uint32_t number(uint32_t handle)
{
	return ((struct uv_xrcd *)env->f->handles.slot[handle])->xrcd;
}

static int open_target(uint32_t domain, uint32_t qpn, uint32_t *handle)
{
	struct ib_uverbs_open_qp req = {.pd_handle = domain,
					.qpn = qpn,
					.qp_type = IBV_QPT_XRC_RECV,
					.user_handle = 0x2222};
	struct ib_uverbs_create_qp_resp resp;
	int r = COMMAND(OPEN_QP, req, resp);

	*handle = r ? UINT32_MAX : resp.qp_handle;
	return r;
}

static int destroy(uint32_t handle)
{
	struct ib_uverbs_destroy_qp req = {.qp_handle = handle};
	struct ib_uverbs_destroy_qp_resp resp;

	return COMMAND(DESTROY_QP, req, resp);
}

/* ---- tests */

static void file_stands_for_one_domain(void **state)
{
	int one = open("/", O_RDONLY), again = open("/", O_RDONLY), other = open("/dev", O_RDONLY);
	uint32_t a, b, c;

	assert_int_equal(open_domain(one, 0, &a), -EAGAIN);
	assert_int_equal(open_domain(one, O_CREAT | O_EXCL, &a), 0);
	assert_int_equal(open_domain(again, 0, &b), 0);
	assert_int_equal(open_domain(other, O_CREAT, &c), 0);
	assert_int_equal(number(a), number(b));
	assert_int_not_equal(number(a), number(c));
	assert_int_equal(xrc.made, 2);
	assert_int_equal(open_domain(again, O_CREAT | O_EXCL, &c), -EINVAL);
	assert_int_equal(xrc.handles, 3);
	assert_int_equal(close_domain(a), 0);
	assert_int_equal(close_domain(b), 0);
	assert_int_equal(xrc.handles, 1);
	close(one);
	close(again);
	close(other);
}

static void private_domains_are_not_found(void **state)
{
	uint32_t a, b;

	assert_int_equal(open_domain(-1, 0, &a), 0);
	assert_int_equal(open_domain(-1, 0, &b), 0);
	assert_int_not_equal(number(a), number(b));
	assert_int_equal(open_domain(MAX_FD + 1000, O_CREAT, &a), -EBADF);
}

static void lock_that_is_not_to_be_had(void **state)
{
	uint32_t a;

	xrc.no_lock = -ETIMEDOUT;
	assert_int_equal(open_domain(-1, 0, &a), -ETIMEDOUT);
	assert_int_equal(xrc.made, 0);
	assert_null(env->f->objects);
}

static void opened_target_gets_events(void **state)
{
	struct ib_uverbs_create_qp req = {.qp_type = IBV_QPT_XRC_RECV, .user_handle = 0x1111};
	struct ib_uverbs_create_qp_resp resp;
	uint32_t domain, second;
	struct uv_target t;
	int refs;

	assert_int_equal(open_domain(-1, 0, &domain), 0);
	req.pd_handle = domain;
	assert_int_equal(COMMAND(CREATE_QP, req, resp), 0);
	t = fake_driver.qp_target(the_qp(resp.qp_handle));
	assert_int_equal(t.at->cookie, 0x1111);
	refs = env->f->default_async->refs;
	xrc.no_open = -EINVAL;
	assert_int_equal(open_target(domain, resp.qpn, &second), -EINVAL);
	assert_int_equal(env->f->default_async->refs, refs);
	xrc.no_open = 0;
	assert_int_equal(open_target(domain, resp.qpn, &second), 0);
	assert_int_equal(t.at->cookie, 0x2222);
	assert_int_equal(t.at->evq, env->f->default_async->evq);
	assert_int_equal(close_domain(domain), -EBUSY);
	assert_int_equal(destroy(resp.qp_handle), 0);
	env->fail = -ETIMEDOUT;
	assert_int_equal(destroy(second), -ETIMEDOUT);
	assert_int_equal(t.at->cookie, 0x2222); /* the event target is still the same */
	assert_int_equal(t.at->evq, env->f->default_async->evq);
	assert_int_equal(destroy(second), 0);
	assert_int_equal(env->f->default_async->refs, refs - 1);
	assert_int_equal(close_domain(domain), 0);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(file_stands_for_one_domain),
		WITH(private_domains_are_not_found),
		WITH(lock_that_is_not_to_be_had),
		WITH(opened_target_gets_events),
	};

	log_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
