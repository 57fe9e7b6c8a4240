/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random calls from a fixed seed: plausible by the combined table, with handles of any type,
 * damaged bytes, and buffers that end before a page without access. Each call must return a result
 * or an errno, write nothing beyond a buffer, and leave nothing behind at the end. SOFTHCA_RANDOM=N
 * makes N calls, SOFTHCA_SEED=N others.
 */
#include "hw/hca.h"
#include "mlx5/devx_table.h"
#include "mlx5/test_fds.h"
#include "mlx5/test_verbs.h"
#include "hw/evq.h"
#include "mlx5/for_tests.h"
#include "util/sys.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mkey.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qp.h"

static uint64_t rnd_state;

static uint32_t rnd(uint32_t below)
{
	rnd_state = rnd_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(rnd_state >> 33) % below;
}

/* Buffers: a stack of pages that ends at pages without access; `at` grows down per call. */
#define ARENA (64 * 4096)
/* size of the area after it: longer than any answer that begins in the arena */
#define FORBIDDEN (2u << 20)
struct random {
	struct verbs v;
	uint8_t *arena; /* ARENA bytes, then FORBIDDEN bytes with PROT_NONE */
	size_t used;
	unsigned int ok, refused;
	uint32_t umem_mem, umem_dbr, cqn, pdn, eqn; /* objects that DEVX commands may name */
};

static uint8_t *buffer(struct random *r, size_t len)
{
	uint8_t *p;

	len = (len + 7) & ~(size_t)7;
	if (!len || r->used + len > ARENA)
		return r->arena;
	r->used += len;
	p = r->arena + ARENA - r->used;
	return p;
}

static uint64_t address(struct random *r, size_t len)
{
	switch (rnd(40)) {
	case 0:
		return 0;
	case 1:
		return (uintptr_t)r->arena + ARENA - rnd(32); /* extends into the forbidden area */
	case 2:
		return UINT64_MAX - rnd(64);
	case 3:
		return UINT64_C(0x00007ffffffff000) - rnd(4096);
	default:
		return (uintptr_t)buffer(r, len);
	}
}

/* A number as programs use them in their structures. */
static uint32_t number(struct random *r)
{
	switch (rnd(10)) {
	case 0:
		return UINT32_MAX - rnd(3);
	case 1:
		return 1u << rnd(32);
	case 2:
		return rnd(0x10000);
	case 3:
		return (uint32_t)(uintptr_t)r->v.mem;
	default:
		return rnd(12);
	}
}

static void noise(struct random *r, uint8_t *p, size_t len)
{
	for (size_t i = 0; i + 4 <= len; i += 4) {
		uint32_t w = number(r);

		memcpy(p + i, &w, 4);
	}
}

static void damage(uint8_t *p, size_t len)
{
	for (uint32_t n = rnd(4); n && len; n--)
		p[rnd((uint32_t)len)] ^= (uint8_t)(1 << rnd(8));
}

/* ---- driver data that make create calls succeed */

static size_t driver_data(struct random *r, uint32_t what, uint8_t *p)
{
	struct mlx5_ib_create_cq cq = cq_request(&r->v);
	struct mlx5_ib_create_qp qp = {
		.buf_addr = (uintptr_t)r->v.mem,
		.db_addr = (uintptr_t)r->v.mem + DBR_PAGE + 64,
		.sq_wqe_count = 16,
		.rq_wqe_count = 16,
		.rq_wqe_shift = 5,
		.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
		.bfreg_index = r->v.uar,
	};
	struct mlx5_ib_create_srq srq = {
		.buf_addr = (uintptr_t)r->v.mem,
		.db_addr = (uintptr_t)r->v.mem + DBR_PAGE + 128,
	};
	struct mlx5_ib_resize_cq resize = {.buf_addr = (uintptr_t)r->v.mem + 8192, .cqe_size = 64};

	switch (what) {
	case 0:
		memcpy(p, &cq, sizeof(cq));
		return sizeof(cq);
	case 1:
		memcpy(p, &qp, sizeof(qp));
		return sizeof(qp);
	case 2:
		memcpy(p, &srq, sizeof(srq));
		return sizeof(srq);
	case 3:
		memcpy(p, &resize, sizeof(resize));
		return sizeof(resize);
	default:
		noise(r, p, 64);
		return rnd(17) * 4;
	}
}

/* ---- commands of the older interface */

static size_t core_data(struct random *r, uint32_t *cmd, uint8_t *p, uint32_t *uhw)
{
	struct ib_uverbs_create_qp qp = {.max_send_wr = 8,
					 .max_recv_wr = 8,
					 .max_send_sge = 1,
					 .max_recv_sge = 1,
					 .qp_type = IB_UVERBS_QPT_RC,
					 .pd_handle = rnd(3),
					 .send_cq_handle = rnd(8),
					 .recv_cq_handle = rnd(8),
					 .srq_handle = rnd(8),
					 .is_srq = rnd(4) == 0};
	struct ib_uverbs_create_cq cq = {.cqe = 1u << rnd(8), .comp_channel = -1};
	struct ib_uverbs_create_srq srq = {.max_wr = 16, .max_sge = 1, .pd_handle = rnd(3)};
	struct ib_uverbs_reg_mr mr = {.start = (uintptr_t)r->v.mem + rnd(8192),
				      .length = 1 + rnd(16384),
				      .access_flags = rnd(256)};
	struct ib_uverbs_modify_qp modify = {.qp_handle = rnd(12),
					     .qp_state = (uint8_t)rnd(7),
					     .cur_qp_state = (uint8_t)rnd(7),
					     .attr_mask = rnd(2) ? 0x39 : rnd(1u << 21),
					     .port_num = (uint8_t)rnd(4)};
	const void *from = NULL;
	size_t len = 0;

	*uhw = 9;
	switch (rnd(9)) {
	case 0:
		*cmd = IB_USER_VERBS_CMD_CREATE_QP;
		from = &qp;
		len = sizeof(qp);
		*uhw = 1;
		break;
	case 1:
		*cmd = IB_USER_VERBS_CMD_CREATE_CQ;
		from = &cq;
		len = sizeof(cq);
		*uhw = 0;
		break;
	case 2:
		*cmd = IB_USER_VERBS_CMD_CREATE_SRQ;
		from = &srq;
		len = sizeof(srq);
		*uhw = 2;
		break;
	case 3:
		mr.hca_va = mr.start;
		*cmd = IB_USER_VERBS_CMD_REG_MR;
		from = &mr;
		len = sizeof(mr);
		break;
	case 4:
		*cmd = IB_USER_VERBS_CMD_MODIFY_QP;
		from = &modify;
		len = sizeof(modify);
		break;
	case 5:
		*cmd = IB_USER_VERBS_CMD_RESIZE_CQ;
		*uhw = 3;
		break;
	default:
		*cmd = rnd(60);
		if (rnd(3) == 0)
			*cmd |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		break;
	}
	if (from) {
		memcpy(p, from, len);
		if (rnd(3) == 0)
			damage(p, len);
	} else {
		len = rnd(40) * 4;
		noise(r, p, len);
	}
	return len;
}

/* ---- firmware commands */

static const struct devx_cmd *pick_command(void)
{
	static const uint16_t often[] = {
		PRM_OP_CREATE_CQ,     PRM_OP_CREATE_QP,   PRM_OP_CREATE_RMP, PRM_OP_CREATE_MKEY,
		PRM_OP_ALLOC_PD,      PRM_OP_RST2INIT_QP, PRM_OP_MODIFY_CQ,  PRM_OP_MODIFY_RMP,
		PRM_OP_QUERY_CQ,      PRM_OP_QUERY_QP,    PRM_OP_QUERY_MKEY, PRM_OP_2ERR_QP,
		PRM_OP_QUERY_HCA_CAP, PRM_OP_QUERY_RMP};

	if (rnd(3))
		return devx_cmd_find(often[rnd(ARRAY_SIZE(often))]);
	return &devx_cmds[rnd(devx_cmds_count)];
}

static void fill_command(struct random *r, uint16_t opcode, uint8_t *in)
{
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);

	switch (opcode) {
	case PRM_OP_CREATE_CQ:
		LAYOUT_SET(create_cq_in, in, cq_umem_id, r->umem_mem);
		LAYOUT_SET(cqc, cqc, dbr_umem_id, r->umem_dbr);
		LAYOUT_SET(cqc, cqc, uar_page, r->v.uar);
		LAYOUT_SET(cqc, cqc, c_eqn, r->eqn);
		LAYOUT_SET(cqc, cqc, log_cq_size, rnd(6));
		break;
	case PRM_OP_CREATE_QP:
		LAYOUT_SET(create_qp_in, in, wq_umem_id, r->umem_mem);
		LAYOUT_SET(qpc, qpc, dbr_umem_id, r->umem_dbr);
		LAYOUT_SET(qpc, qpc, pd, r->v.pdn);
		LAYOUT_SET(qpc, qpc, cqn_snd, r->cqn);
		LAYOUT_SET(qpc, qpc, cqn_rcv, r->cqn);
		LAYOUT_SET(qpc, qpc, uar_page, r->v.uar);
		break;
	case PRM_OP_CREATE_MKEY:
		LAYOUT_SET(create_mkey_in, in, mkey_umem_id, r->umem_mem);
		LAYOUT_SET(mkc, mkc, pd, r->v.pdn);
		LAYOUT_SET(mkc, mkc, access_mode_1_0, 1);
		LAYOUT_SET(mkc, mkc, log_page_size, 12);
		LAYOUT_SET(mkc, mkc, len, 4096);
		LAYOUT_SET(mkc, mkc, translations_octword_size, 1);
		break;
	default:
		bits_set32(in, 0x48, 24, rnd(0x40));
		break;
	}
}

static size_t command(struct random *r, uint8_t *in)
{
	const struct devx_cmd *c = pick_command();
	size_t len = rnd(8) ? 0x200 : 16 + rnd(0x200);

	memset(in, 0, 0x400);
	if (!c || rnd(30) == 0) {
		noise(r, in, 0x200);
		return len;
	}
	LAYOUT_SET(cmd_in, in, opcode, c->opcode);
	fill_command(r, c->opcode, in);
	/* mostly the right length: a longer command is another error */
	if (rnd(4)) {
		static const struct {
			uint16_t op, len;
		} sizes[] = {{PRM_OP_CREATE_CQ, LAYOUT_SZ(create_cq_in)},
			     {PRM_OP_CREATE_QP, LAYOUT_SZ(create_qp_in)},
			     {PRM_OP_CREATE_MKEY, LAYOUT_SZ(create_mkey_in)}};

		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			if (sizes[i].op == c->opcode)
				len = sizes[i].len;
	}
	damage(in, len);
	return len;
}

/* ---- one call, according to the table */

static void fill_attr(struct random *r, const struct uv_method *m, const struct uv_attr_def *d,
		      struct test_call *c, uint32_t uhw)
{
	uint16_t len = d->min_len;
	uint8_t *p;

	if (d->kind == UV_A_IDR || d->kind == UV_A_FD) {
		test_attr(c, d->id, rnd(50) ? 0 : (uint16_t)rnd(9),
			  d->access == UV_DESTROY_ACCESS ? rnd(40) : rnd(16));
		return;
	}
	if (d->kind == UV_A_CONST_IN || d->kind == UV_A_FLAGS_IN || d->kind == UV_A_RAW_FD) {
		test_attr(c, d->id,
			  d->kind == UV_A_RAW_FD ? 0
			  : rnd(20)              ? 8
						 : (uint16_t)rnd(10),
			  rnd(4) ? rnd(4) : number(r));
		return;
	}
	if (d->max_len != d->min_len && rnd(2))
		len = (uint16_t)(d->min_len +
				 rnd(d->max_len == 0xffff ? 128 : d->max_len - d->min_len + 9));
	if (d->kind == UV_A_PTR_OUT) {
		if (rnd(3) == 0)
			len = (uint16_t)(len + rnd(256));
		test_attr(c, d->id, len, address(r, len));
		return;
	}
	p = buffer(r, 0x400);
	if (d->alloc_copy)
		len = (uint16_t)command(r, p);
	else if (d->is_udata)
		len = (uint16_t)driver_data(r, uhw, p);
	else
		noise(r, p, len);
	if (len <= 8) {
		uint64_t v = 0;

		memcpy(&v, p, len);
		test_attr(c, d->id, len, v);
	} else {
		test_attr(c, d->id, len, rnd(30) ? (uintptr_t)p : address(r, len));
	}
}

static void fill_invoke(struct random *r, struct test_call *c)
{
	uint32_t cmd, uhw;
	uint8_t *p = buffer(r, 256), *u = buffer(r, 256);
	size_t len = core_data(r, &cmd, p, &uhw);

	test_const(c, UVERBS_ATTR_WRITE_CMD, cmd);
	if (len)
		test_in(c, UVERBS_ATTR_CORE_IN, p, len);
	if (rnd(12))
		test_attr(c, UVERBS_ATTR_CORE_OUT, (uint16_t)(rnd(8) ? 256 : rnd(300)),
			  address(r, 300));
	len = driver_data(r, uhw, u);
	if (rnd(6) == 0)
		damage(u, len);
	if (len)
		test_in(c, UVERBS_ATTR_UHW_IN, u, len);
	if (rnd(8))
		test_attr(c, UVERBS_ATTR_UHW_OUT, (uint16_t)rnd(128), address(r, 128));
}

static const struct uv_method *pick_method(struct test_env *e)
{
	const struct uv_method *m;

	do
		m = uv_api_method(e->sys.api, (uint16_t)(rnd(20) | rnd(2) << UVERBS_ID_NS_SHIFT),
				  (uint16_t)(rnd(8) | rnd(2) << UVERBS_ID_NS_SHIFT));
	while (!m);
	return m;
}

static void one_ioctl(struct random *r)
{
	struct test_env *e = r->v.e;
	struct test_call c;
	int ret;

	r->used = 0;
	if (rnd(3) == 0) {
		test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
		fill_invoke(r, &c);
	} else {
		const struct uv_method *m = pick_method(e);
		uint32_t uhw = m->object == UVERBS_OBJECT_CQ    ? 0
			       : m->object == UVERBS_OBJECT_QP  ? 1
			       : m->object == UVERBS_OBJECT_SRQ ? 2
								: 9;

		test_begin(&c, m->object, m->id);
		for (unsigned int i = 0; i < m->nattrs && c.hdr.num_attrs < 11; i++)
			if (m->attrs[i]->mandatory ? rnd(50) : rnd(2))
				fill_attr(r, m, m->attrs[i], &c, uhw);
	}
	if (rnd(10) == 0)
		damage((uint8_t *)c.attrs, c.hdr.num_attrs * sizeof(c.attrs[0]));
	if (rnd(60) == 0)
		damage((uint8_t *)&c.hdr, sizeof(c.hdr));
	ret = test_do(e, &c);
	assert_uint_in_range(-ret, 0, 133);
	if (ret)
		r->refused++;
	else
		r->ok++;
}

static void one_write(struct random *r)
{
	uint8_t *buf, *core, *u;
	struct ib_uverbs_cmd_hdr h = {0};
	uint64_t response;
	uint32_t cmd, uhw;
	size_t len, ulen, count;

	r->used = 0;
	core = buffer(r, 256);
	u = buffer(r, 256);
	len = core_data(r, &cmd, core, &uhw) & ~(size_t)3;
	ulen = driver_data(r, uhw, u) & ~(size_t)3;
	response = address(r, 512);
	if (len >= 8)
		memcpy(core, &response, 8);
	h.command = cmd;
	if (cmd & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		struct ib_uverbs_ex_cmd_hdr x = {.response = response};

		len &= ~(size_t)7;
		ulen &= ~(size_t)7;
		h.in_words = (uint16_t)(len / 8);
		h.out_words = (uint16_t)(rnd(8) ? 32 : rnd(64));
		x.provider_in_words = (uint16_t)(ulen / 8);
		x.provider_out_words = (uint16_t)rnd(8);
		count = sizeof(h) + sizeof(x) + len + ulen;
		buf = buffer(r, count);
		memcpy(buf, &h, sizeof(h));
		memcpy(buf + sizeof(h), &x, sizeof(x));
		memcpy(buf + sizeof(h) + sizeof(x), core, len);
		memcpy(buf + sizeof(h) + sizeof(x) + len, u, ulen);
	} else {
		count = sizeof(h) + len + ulen;
		h.in_words = (uint16_t)(count / 4);
		h.out_words = (uint16_t)(rnd(8) ? 60 : rnd(90));
		buf = buffer(r, count);
		memcpy(buf, &h, sizeof(h));
		memcpy(buf + sizeof(h), core, len);
		memcpy(buf + sizeof(h) + len, u, ulen);
	}
	if (rnd(6) == 0)
		damage(buf, count);
	if (rnd(20) == 0)
		count = rnd((uint32_t)count + 8);
	if (uv_write(r->v.e->f, buf, count) == (ssize_t)count)
		r->ok++;
	else
		r->refused++;
}

/* The handles run out: destroy all objects that can be destroyed. */
static void sweep(struct random *r)
{
	static const struct {
		uint16_t object, method, attr, resp, len;
	} destroys[] = {
		{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE,
		 UVERBS_ATTR_DESTROY_QP_RESP, sizeof(struct ib_uverbs_destroy_qp_resp)},
		{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		 MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 0, 0},
		{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, UVERBS_ATTR_DESTROY_SRQ_HANDLE,
		 UVERBS_ATTR_DESTROY_SRQ_RESP, sizeof(struct ib_uverbs_destroy_srq_resp)},
		{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, 0},
	};
	uint8_t resp[16];

	close_fds();
	for (size_t d = 0; d < ARRAY_SIZE(destroys); d++)
		for (uint32_t h = 3; h < 400; h++) {
			struct test_call c;

			test_begin(&c, destroys[d].object, destroys[d].method);
			test_idr(&c, destroys[d].attr, h);
			if (destroys[d].len)
				test_out(&c, destroys[d].resp, resp, destroys[d].len);
			test_do(r->v.e, &c);
		}
}

static int open_random(struct random *r, struct test_env *e)
{
	struct mlx5_ib_create_cq uhw;
	uint32_t h;

	fds_make(e);
	verbs_open(&r->v, e);
	r->arena = mmap(NULL, ARENA + FORBIDDEN, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(r->arena, MAP_FAILED);
	assert_int_equal(mprotect(r->arena + ARENA, FORBIDDEN, PROT_NONE), 0);
	assert_int_equal(test_umem_reg(e, (uintptr_t)r->v.mem, DBR_PAGE, 1, &r->umem_mem, &h), 0);
	assert_int_equal(
		test_umem_reg(e, (uintptr_t)r->v.mem + DBR_PAGE, 4096, 1, &r->umem_dbr, &h), 0);
	uhw = cq_request(&r->v);
	assert_int_equal(create_cq(&r->v, &uhw, 15, &h, &r->cqn), 0);
	r->eqn = hw_hca(&e->seg, e->hca)->eqn[0];
	return 0;
}

static unsigned long number_from(const char *name, unsigned long otherwise)
{
	const char *v = getenv(name);

	return v ? strtoul(v, NULL, 0) : otherwise;
}

static void test_any_calls(void **state)
{
	unsigned long calls = number_from("SOFTHCA_RANDOM", 6000);
	struct test_env *e = *state;
	struct random r = {0};

	rnd_state = number_from("SOFTHCA_SEED", 1);
	open_random(&r, e);
	for (unsigned long n = 0; n < calls; n++) {
		if (rnd(4))
			one_ioctl(&r);
		else
			one_write(&r);
		if (n % 256 == 255)
			sweep(&r);
	}
	print_message("%u done, %u refused\n", r.ok, r.refused);
	assert_true(r.ok > calls / 20);
	assert_true(r.refused > calls / 4);
	close_fds();
	/* Close the file as the supervisor does. */
	fw_reap_file(&e->seg, e->file);
	for (uint32_t t = SEG_T_UAR; t < SEG_T_COUNT; t++)
		assert_int_equal(test_owned(e, (enum seg_table_id)t), 0);
	munmap(r.arena, ARENA + FORBIDDEN);
	verbs_close(&r.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_calls, test_setup, test_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
