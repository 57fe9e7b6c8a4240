/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fake driver of this folder's tests: see test.h. */
#include "uverbs/test.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/srq.h"

static int makes(void)
{
	int r = env->fail;

	env->fail = 0;
	if (!r)
		env->made++;
	return r;
}

static int gone(void)
{
	int r = env->fail;

	env->fail = 0;
	if (!r)
		env->destroyed++;
	return r;
}

static void see(const struct uv_udata *u)
{
	env->seen = 0;
	if (u->in)
		memcpy(&env->seen, u->in, u->inlen < 8 ? u->inlen : 8);
}

static int alloc_ucontext(struct uv_context *ctx, struct uv_udata *u)
{
	see(u);
	return makes();
}

static void dealloc_ucontext(struct uv_context *ctx)
{
	env->destroyed++;
}

static int query_device(struct uv_context *ctx, struct uv_device_attr *a, struct uv_udata *u)
{
	a->fw_ver_num = 0x1400000001;
	a->ex.orig_attr.max_qp = 77;
	a->ex.orig_attr.phys_port_cnt = 2;
	a->ex.max_dm_size = 99;
	return 0;
}

static void get_device(struct seg *s, uint32_t hca, struct uv_device *d)
{
	*d = (struct uv_device){FAKE_PORTS, FAKE_VECTORS, FAKE_GIDS, FAKE_PKEYS, false};
}

/* Port n has the GID fe00::n; port 2 also has fd00:: at index 3. */
static int query_gid(struct seg *s, uint32_t hca, uint32_t port, uint32_t index, struct uv_gid *gid)
{
	assert_uint_in_range(port, 1, FAKE_PORTS);
	assert_uint_in_range(index, 0, FAKE_GIDS - 1);
	*gid = (struct uv_gid){.type = IBV_GID_TYPE_IB};
	if (index == 0) {
		gid->raw[0] = 0xfe;
		gid->raw[15] = (uint8_t)port;
	} else if (port == 2 && index == 3) {
		gid->raw[0] = 0xfd;
	}
	return 0;
}

static int query_port(struct uv_context *ctx, uint32_t port, struct ibv_port_attr *a)
{
	a->lid = (uint16_t)(10 + port);
	a->state = IBV_PORT_ACTIVE;
	a->port_cap_flags2 = 3;
	return 0;
}

static int alloc_pd(struct uv_pd *pd, struct uv_udata *u)
{
	uint32_t pdn = 0x21;
	int r = makes();

	see(u);
	return r ? r : uv_udata_out(u, &pdn, sizeof(pdn));
}

static int dealloc_pd(struct uv_pd *pd)
{
	return gone();
}

static int create_ah(struct uv_ah *ah, struct uv_udata *u)
{
	return makes();
}

static int reg_mr(struct uv_mr *mr, struct uv_udata *u)
{
	env->mr_access = mr->access;
	mr->lkey = mr->rkey = 0x1234;
	return makes();
}

static int rereg_mr(struct uv_mr *mr, uint32_t flags, uint64_t start, uint64_t len, uint64_t iova,
		    uint32_t access, struct uv_pd *pd)
{
	env->mr_access = access;
	mr->lkey = mr->rkey = 0x1235;
	return makes();
}

static int dereg_mr(struct uv_mr *mr)
{
	return gone();
}

static int create_counters(struct uv_counters *c)
{
	return makes();
}

static int destroy_counters(struct uv_counters *c)
{
	return gone();
}

static int create_cq(struct uv_cq *cq, uint32_t cqe, uint32_t comp_vector, uint32_t flags,
		     struct uv_udata *u)
{
	int r = makes();
	struct hw_cq *hw;

	if (r)
		return r;
	r = seg_alloc(&env->s, SEG_T_CQ, cq->obj.file->file + 1, &cq->cqn);
	if (r)
		return r;
	hw = hw_cq(&env->s, cq->cqn);
	hw->comp.evq = hw->async.evq = SEG_NONE;
	cq->cqe = 15;
	return 0;
}

static int destroy_cq(struct uv_cq *cq)
{
	int r = gone();

	if (!r)
		seg_free(&env->s, SEG_T_CQ, cq->cqn);
	return r;
}

static struct uv_target cq_target(const struct uv_cq *cq, bool comp)
{
	struct hw_cq *hw = hw_cq(&env->s, cq->cqn);

	return (struct uv_target){comp ? &hw->comp : &hw->async, SEG_T_CQ, cq->cqn, hw->refs != 0};
}

static int create_srq(struct uv_srq *srq, const struct ibv_srq_init_attr_ex *a, struct uv_udata *u)
{
	int r = makes();

	if (r)
		return r;
	r = seg_alloc(&env->s, SEG_T_SRQ, srq->obj.file->file + 1, &srq->srqn);
	if (!r)
		hw_srq(&env->s, srq->srqn)->async.evq = SEG_NONE;
	return r;
}

static struct uv_target srq_target(const struct uv_srq *srq)
{
	return (struct uv_target){&hw_srq(&env->s, srq->srqn)->async, SEG_T_SRQ, srq->srqn, false};
}

static int destroy_srq(struct uv_srq *srq)
{
	int r = gone();

	if (!r)
		seg_free(&env->s, SEG_T_SRQ, srq->srqn);
	return r;
}

static int create_qp(struct uv_qp *qp, const struct ibv_qp_cap *cap, uint32_t flags,
		     struct uv_udata *u)
{
	int r = makes();

	if (r)
		return r;
	qp->cap.max_send_wr = 32;
	r = seg_alloc(&env->s, SEG_T_QP, qp->obj.file->file + 1, &qp->qpn);
	if (!r)
		hw_qp(&env->s, qp->qpn)->async.evq = SEG_NONE;
	return r;
}

static int modify_qp(struct uv_qp *qp, const struct uv_qp_modify *m, struct uv_udata *u)
{
	int r = uv_modify_qp_check(qp, m);

	if (r)
		return r;
	env->modify = *m;
	return makes();
}

static int query_qp(struct uv_qp *qp, struct ibv_qp_attr *a, uint32_t mask)
{
	a->qp_state = IBV_QPS_ERR;
	a->cap.max_recv_wr = 12;
	a->ah_attr.dlid = 5;
	return 0;
}

static int destroy_qp(struct uv_qp *qp)
{
	int r = gone();

	if (!r)
		seg_free(&env->s, SEG_T_QP, qp->qpn);
	return r;
}

static struct uv_target qp_target(const struct uv_qp *qp)
{
	return (struct uv_target){&hw_qp(&env->s, qp->qpn)->async, SEG_T_QP, qp->qpn, false};
}

/* ---- the driver's own object type */

static int fake_destroy(struct uv_object *o, int why)
{
	return why == UV_CLOSE ? 0 : gone();
}

static const struct uv_type fake_type = {
	.name = "FAKE",
	.object_id = FAKE_OBJECT,
	.size = sizeof(struct uv_object),
	.destroy = fake_destroy,
};

static int fake_create(struct uv_bundle *b)
{
	uint32_t v = 0xabcd;
	int r = makes();

	if (r)
		return r;
	uv_b_created(b);
	r = uv_b_out(b, FAKE_ATTR_OUT, &v, sizeof(v));
	return r == -ENOENT ? 0 : r;
}

static int fake_touch(struct uv_bundle *b)
{
	size_t len;
	const void *p = uv_b_in(b, FAKE_ATTR_BYTES, &len);

	env->seen = 0;
	if (p)
		memcpy(&env->seen, p, len < 8 ? len : 8);
	p = uv_b_in(b, FAKE_ATTR_BLOB, &len);
	if (p)
		memcpy(&env->seen, p, len < 8 ? len : 8);
	if (uv_b_has(b, FAKE_ATTR_ENUM))
		env->seen = uv_b_const(b, FAKE_ATTR_ENUM, 9);
	if (uv_b_has(b, FAKE_ATTR_RAW_FD))
		env->seen = uv_b_const(b, FAKE_ATTR_RAW_FD, 0);
	return makes();
}

static const struct uv_attr_def enum_elems[] = {
	UV_ATTR_IN(0, uint32_t, false),
	UV_ATTR_IN(1, uint64_t, false),
};
static const struct uv_attr_def create_attrs[] = {
	UV_ATTR_IDR(FAKE_ATTR_HANDLE, &fake_type, UV_NEW, true),
	UV_ATTR_IN(FAKE_ATTR_WORD, uint32_t, true),
	UV_ATTR_OUT(FAKE_ATTR_OUT, uint32_t, false),
};
static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(FAKE_ATTR_HANDLE, &fake_type, UV_DESTROY_ACCESS, true),
	UV_ATTR_IDR(FAKE_ATTR_OTHER, NULL, UV_WRITE, false),
};
static const struct uv_attr_def touch_attrs[] = {
	UV_ATTR_IDR(FAKE_ATTR_HANDLE, &fake_type, UV_READ, true),
	UV_ATTR_IDR(FAKE_ATTR_OTHER, NULL, UV_WRITE, false),
	{.id = FAKE_ATTR_BLOB,
	 .name = "BLOB",
	 .kind = UV_A_PTR_IN,
	 .min_len = 4,
	 .max_len = 16,
	 .zero_trailing = true,
	 .alloc_copy = true},
	UV_ATTR_IN_MIN(FAKE_ATTR_BYTES, 0, false),
	UV_ATTR_OUT(FAKE_ATTR_OUT, uint32_t, false),
	UV_ATTR_CONST(FAKE_ATTR_CONST, 7, false),
	UV_ATTR_FLAGS(FAKE_ATTR_FLAGS, 0x11, false),
	{.id = FAKE_ATTR_ENUM,
	 .name = "ENUM",
	 .kind = UV_A_ENUM_IN,
	 .allowed = 2,
	 .elems = enum_elems},
	{.id = FAKE_ATTR_RAW_FD, .name = "RAW_FD", .kind = UV_A_RAW_FD},
	{.id = FAKE_ATTR_ARRAY,
	 .name = "ARRAY",
	 .kind = UV_A_IDRS_ARRAY,
	 .access = UV_READ,
	 .type = &uv_type_pd,
	 .min_len = 1,
	 .max_len = 3},
};
static const struct uv_method_def fake_methods[] = {
	{FAKE_METHOD_CREATE, "CREATE", create_attrs, ARRAY_SIZE(create_attrs), fake_create, false},
	{FAKE_METHOD_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 uv_destroy_handler, false},
	{FAKE_METHOD_TOUCH, "TOUCH", touch_attrs, ARRAY_SIZE(touch_attrs), fake_touch, false},
};
/* An attribute that the driver adds to a core method. */
static const struct uv_attr_def context_attrs[] = {
	UV_ATTR_OUT(FAKE_ATTR_WORD, uint32_t, false),
};
static const struct uv_method_def context_methods[] = {
	{UVERBS_METHOD_QUERY_CONTEXT, "QUERY_CONTEXT", context_attrs, 1, NULL, false},
};
static const struct uv_object_def fake_objects[] = {
	{.id = FAKE_OBJECT,
	 .name = "FAKE",
	 .type = &fake_type,
	 .methods = fake_methods,
	 .nmethods = ARRAY_SIZE(fake_methods)},
	{.id = UVERBS_OBJECT_DEVICE, .name = "DEVICE", .methods = context_methods, .nmethods = 1},
};

static int query_ucontext(struct uv_context *ctx, struct uv_udata *u)
{
	uint32_t v = 0x5a;
	int r = uv_b_out(u->bundle, FAKE_ATTR_WORD, &v, sizeof(v));

	return r == -ENOENT ? 0 : r;
}

const struct uv_driver fake_driver = {
	.name = "fake",
	.driver_id = 1,
	.objects = fake_objects,
	.nobjects = ARRAY_SIZE(fake_objects),
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.query_ucontext = query_ucontext,
	.query_device = query_device,
	.get_device = get_device,
	.query_gid = query_gid,
	.query_port = query_port,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.create_counters = create_counters,
	.destroy_counters = destroy_counters,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.cq_target = cq_target,
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.srq_target = srq_target,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
	.qp_target = qp_target,
};
