/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects that refer to each other, memory regions, device queries, closing a file. */
#include <linux/capability.h>
#include <sys/syscall.h>
#include "uverbs/test.h"

static int dealloc_pd(uint32_t h)
{
	struct ib_uverbs_dealloc_pd req = {.pd_handle = h};

	return COMMAND_IN(DEALLOC_PD, req);
}

static int destroy_cq(uint32_t h)
{
	struct ib_uverbs_destroy_cq req = {.cq_handle = h};
	struct ib_uverbs_destroy_cq_resp resp;

	return COMMAND(DESTROY_CQ, req, resp);
}

static int destroy_qp(uint32_t h)
{
	struct ib_uverbs_destroy_qp req = {.qp_handle = h};
	struct ib_uverbs_destroy_qp_resp resp;

	return COMMAND(DESTROY_QP, req, resp);
}

static int reg_mr(uint32_t pd, const void *start, uint64_t len, uint32_t access, uint32_t *h)
{
	struct ib_uverbs_reg_mr req = {.start = (uintptr_t)start,
				       .length = len,
				       .hca_va = (uintptr_t)start,
				       .pd_handle = pd,
				       .access_flags = access};
	struct ib_uverbs_reg_mr_resp resp;
	int r = COMMAND(REG_MR, req, resp);

	if (h)
		*h = r ? UINT32_MAX : resp.mr_handle;
	return r;
}

static int dereg_mr(uint32_t h)
{
	struct ib_uverbs_dereg_mr req = {.mr_handle = h};

	return COMMAND_IN(DEREG_MR, req);
}

static void what_is_in_use_stays(void **state)
{
	uint32_t pd = make_pd(), scq = make_cq(NULL, -1, 0), rcq = make_cq(NULL, -1, 0);
	uint32_t qp = make_qp(pd, scq, rcq, IBV_QPT_RC);

	assert_int_equal(dealloc_pd(pd), -EBUSY);
	assert_int_equal(destroy_cq(scq), -EBUSY);
	assert_int_equal(destroy_cq(rcq), -EBUSY);
	assert_int_equal(destroy_qp(qp), 0);
	assert_int_equal(destroy_qp(qp), -ENOENT);
	assert_int_equal(destroy_cq(scq), 0);
	assert_int_equal(destroy_cq(rcq), 0);
	assert_int_equal(dealloc_pd(pd), 0);
	assert_int_equal(destroy_cq(pd), -ENOENT);
}

static void one_cq_for_both(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0), qp = make_qp(pd, cq, cq, IBV_QPT_UD);

	assert_int_equal(destroy_cq(cq), -EBUSY);
	assert_int_equal(destroy_qp(qp), 0);
	assert_int_equal(destroy_cq(cq), 0);
}

static void qp_parts(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);
	struct ib_uverbs_create_qp_resp resp;
	const struct {
		const char *what;
		uint32_t pd, scq, rcq, srq, type, is_srq;
		int want;
	} t[] = {
		{"type", pd, cq, cq, 0, 0, 0, -EINVAL},
		{"type 1", pd, cq, cq, 0, 1, 0, -EINVAL},
		{"CQ that is none", pd, 77, cq, 0, IBV_QPT_RC, 0, -ENOENT},
		{"receive CQ that is none", pd, cq, 77, 0, IBV_QPT_RC, 0, -ENOENT},
		{"PD for a CQ", pd, pd, pd, 0, IBV_QPT_RC, 0, -EINVAL},
		{"CQ for a PD", cq, cq, cq, 0, IBV_QPT_RC, 0, -EINVAL},
		{"SRQ that is none", pd, cq, cq, 77, IBV_QPT_RC, 1, -ENOENT},
		{"SRQ not wanted", pd, cq, cq, 77, IBV_QPT_RC, 0, 0},
		{"XRC target", pd, cq, cq, 0, IBV_QPT_XRC_RECV, 0, -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct ib_uverbs_create_qp req = {.pd_handle = t[i].pd,
						  .send_cq_handle = t[i].scq,
						  .recv_cq_handle = t[i].rcq,
						  .srq_handle = t[i].srq,
						  .qp_type = (uint8_t)t[i].type,
						  .is_srq = (uint8_t)t[i].is_srq};
		int r = COMMAND(CREATE_QP, req, resp);

		if (r != t[i].want)
			fail_msg("%s: %d, not %d", t[i].what, r, t[i].want);
	}
}

static void qp_by_method(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0), qpn = 0;
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 1}, out;
	uint64_t handle = 0x99;
	struct call c;

	call_begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	call_obj(&c, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	call_obj(&c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd);
	call_obj(&c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq);
	call_obj(&c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq);
	call_attr(&c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &handle, 8);
	call_attr(&c, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	call_const(&c, UVERBS_ATTR_CREATE_QP_TYPE, IBV_QPT_RC);
	call_out(&c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &out, sizeof(out));
	call_out(&c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, 4);
	call_const(&c, UVERBS_ATTR_CREATE_QP_FLAGS, IB_UVERBS_QP_CREATE_SQ_SIG_ALL);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(out.max_send_wr, 32);
	assert_true(qpn != 0);
	assert_true(the_qp((uint32_t)c.attr[0].data)->sq_sig_all);
	/* an Ethernet flag on RC */
	c.attr[9].data = IB_UVERBS_QP_CREATE_SCATTER_FCS;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[9].data = 1u << 20;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[9].data = 0;
	c.attr[6].data = 0x1234;
	assert_int_equal(call_run(&c), -EINVAL);
	/* an XRC domain, which does not exist */
	c.attr[6].data = IBV_QPT_RC;
	call_obj(&c, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 0);
	assert_int_equal(call_run(&c), -EINVAL);
}

static void failing_driver_leaves_nothing(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);
	struct ib_uverbs_create_qp req = {
		.pd_handle = pd, .send_cq_handle = cq, .recv_cq_handle = cq, .qp_type = IBV_QPT_RC};
	struct ib_uverbs_create_qp_resp resp;

	env->fail = -ENOMEM;
	assert_int_equal(COMMAND(CREATE_QP, req, resp), -ENOMEM);
	assert_int_equal(destroy_cq(cq), 0);
	assert_int_equal(dealloc_pd(pd), 0);
}

static void srq(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);
	struct ib_uverbs_create_srq req = {.pd_handle = pd, .max_wr = 5, .max_sge = 1};
	struct ib_uverbs_create_srq_resp resp;
	struct ib_uverbs_destroy_srq d;
	struct ib_uverbs_destroy_srq_resp dr;
	struct ib_uverbs_create_qp q = {.pd_handle = pd,
					.send_cq_handle = cq,
					.recv_cq_handle = cq,
					.qp_type = IBV_QPT_RC,
					.is_srq = 1};
	struct ib_uverbs_create_qp_resp qr;

	assert_int_equal(COMMAND(CREATE_SRQ, req, resp), 0);
	assert_int_equal(resp.max_wr, 5);
	q.srq_handle = resp.srq_handle;
	assert_int_equal(COMMAND(CREATE_QP, q, qr), 0);
	d = (struct ib_uverbs_destroy_srq){.srq_handle = resp.srq_handle};
	assert_int_equal(COMMAND(DESTROY_SRQ, d, dr), -EBUSY);
	assert_int_equal(destroy_qp(qr.qp_handle), 0);
	assert_int_equal(dealloc_pd(pd), -EBUSY);
	assert_int_equal(COMMAND(DESTROY_SRQ, d, dr), 0);
	assert_int_equal(dealloc_pd(pd), 0);
}

static void address_handles(void **state)
{
	uint32_t pd = make_pd();
	struct ib_uverbs_create_ah req = {.pd_handle = pd, .attr = {.port_num = 1, .dlid = 3}};
	struct ib_uverbs_create_ah_resp resp;
	struct ib_uverbs_destroy_ah d;

	assert_int_equal(COMMAND(CREATE_AH, req, resp), 0);
	assert_int_equal(dealloc_pd(pd), -EBUSY);
	d = (struct ib_uverbs_destroy_ah){.ah_handle = resp.ah_handle};
	assert_int_equal(COMMAND_IN(DESTROY_AH, d), 0);
	req.attr.port_num = 3;
	assert_int_equal(COMMAND(CREATE_AH, req, resp), -EINVAL);
	req.attr.port_num = 2;
	req.attr.is_global = 1;
	req.attr.grh.sgid_index = 3;
	assert_int_equal(COMMAND(CREATE_AH, req, resp), 0);
	req.attr.grh.sgid_index = 4;
	assert_int_equal(COMMAND(CREATE_AH, req, resp), -ENODATA);
	req.attr.grh.sgid_index = FAKE_GIDS;
	assert_int_equal(COMMAND(CREATE_AH, req, resp), -EINVAL);
}

/* ---- memory */

static void mr_access(void **state)
{
	static const struct {
		uint32_t access;
		int want;
	} t[] = {
		{0, 0},
		{IBV_ACCESS_LOCAL_WRITE, 0},
		{IBV_ACCESS_REMOTE_READ, 0},
		{IBV_ACCESS_REMOTE_WRITE, -EINVAL},
		{IBV_ACCESS_REMOTE_ATOMIC, -EINVAL},
		{IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE, 0},
		{IBV_ACCESS_MW_BIND, 0},
		{1u << 8, -EINVAL},
		{1u << 19, -EINVAL},
		{1u << 20, 0}, /* the optional range of flags */
		{1u << 29, 0},
		{1u << 30, -EINVAL},
		{IBV_ACCESS_ON_DEMAND, -EINVAL}, /* the device has none of these */
	};
	char *page = aligned_alloc(4096, 4096);
	uint32_t pd = make_pd();

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		int r = reg_mr(pd, page, 4096, t[i].access, NULL);

		if (r != t[i].want)
			fail_msg("access 0x%x: %d, not %d", t[i].access, r, t[i].want);
		if (!r)
			assert_int_equal(env->mr_access, t[i].access);
	}
	free(page);
}

static void mr_ranges(void **state)
{
	uint32_t rw = IBV_ACCESS_LOCAL_WRITE, pd = make_pd();
	char *p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ib_uverbs_reg_mr req = {
		.start = (uintptr_t)p, .hca_va = (uintptr_t)p + 1, .length = 10, .pd_handle = pd};
	struct ib_uverbs_reg_mr_resp resp;

	assert_int_equal(COMMAND(REG_MR, req, resp), -EINVAL); /* different offsets in the page */
	req.hca_va = 0x700000000000;
	assert_int_equal(COMMAND(REG_MR, req, resp), 0);
	munmap(p + 2 * 4096, 4096);
	mprotect(p + 5 * 4096, 4096, PROT_READ);
	mprotect(p + 6 * 4096, 4096, PROT_NONE);
	assert_int_equal(reg_mr(pd, p, 2 * 4096, rw, NULL), 0);
	assert_int_equal(reg_mr(pd, p + 100, 2 * 4096, rw, NULL), -EFAULT);
	assert_int_equal(reg_mr(pd, p + 4096, 4 * 4096, 0, NULL), -EFAULT); /* a hole inside */
	assert_int_equal(reg_mr(pd, p + 3 * 4096, 2 * 4096, rw, NULL), 0);
	assert_int_equal(reg_mr(pd, p + 4 * 4096, 2 * 4096, rw, NULL), -EFAULT);
	assert_int_equal(reg_mr(pd, p + 4 * 4096, 2 * 4096, IBV_ACCESS_REMOTE_READ, NULL), 0);
	assert_int_equal(reg_mr(pd, p + 6 * 4096, 4096, 0, NULL), -EFAULT);
	assert_int_equal(reg_mr(pd, p, 0, 0, NULL), -EINVAL);
	assert_int_equal(reg_mr(pd, p, UINT64_MAX - 100, 0, NULL), -EINVAL);
	assert_int_equal(reg_mr(pd, (void *)(UINT64_C(1) << 62), 4096, 0, NULL), -EFAULT);
	assert_int_equal(reg_mr(77, p, 4096, 0, NULL), -ENOENT);
	munmap(p, 8 * 4096);
}

/* Registering a large region does not touch its pages. */
static void mr_large_stays_untouched(void **state)
{
	size_t len = UINT64_C(1) << 30;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint32_t pd = make_pd();
	struct rusage a, b;

	assert_true(p != MAP_FAILED);
	getrusage(RUSAGE_SELF, &a);
	assert_int_equal(reg_mr(pd, p, len, IBV_ACCESS_LOCAL_WRITE, NULL), 0);
	getrusage(RUSAGE_SELF, &b);
	assert_true(b.ru_minflt - a.ru_minflt < 64);
	/* one page in the middle: read-only, then unmapped */
	mprotect(p + len / 2, 4096, PROT_READ);
	assert_int_equal(reg_mr(pd, p, len, IBV_ACCESS_LOCAL_WRITE, NULL), -EFAULT);
	assert_int_equal(reg_mr(pd, p, len, IBV_ACCESS_REMOTE_READ, NULL), 0);
	mprotect(p + len / 2, 4096, PROT_NONE);
	assert_int_equal(reg_mr(pd, p, len, IBV_ACCESS_REMOTE_READ, NULL), -EFAULT);
	assert_int_equal(reg_mr(pd, p, len / 2, IBV_ACCESS_LOCAL_WRITE, NULL), 0);
	munmap(p + len / 2, 4096);
	assert_int_equal(reg_mr(pd, p, len, IBV_ACCESS_LOCAL_WRITE, NULL), -EFAULT);
	getrusage(RUSAGE_SELF, &b);
	assert_true(b.ru_minflt - a.ru_minflt < 128);
	munmap(p, len);
}

static void accounting(void **state)
{
	char *p = aligned_alloc(4096, 8192);
	struct seg_proc *proc = seg_proc(&env->s, env->s.self);
	struct seg_file *sf = seg_file(&env->s, env->f->file);
	uint32_t pd = make_pd(), a, b;

	assert_int_equal(reg_mr(pd, p + 100, 10, 0, &a), 0);
	assert_int_equal(proc->pinned, 4096);
	assert_int_equal(reg_mr(pd, p + 4000, 200, 0, &b), 0);
	assert_int_equal(proc->pinned, 3 * 4096);
	assert_int_equal(sf->pinned, 3 * 4096);
	env->fail = -ENOMEM; /* after the driver's failure nothing is counted */
	assert_int_equal(reg_mr(pd, p, 10, 0, NULL), -ENOMEM);
	assert_int_equal(proc->pinned, 3 * 4096);
	assert_int_equal(dereg_mr(b), 0);
	assert_int_equal(proc->pinned, 4096);
	assert_int_equal(dealloc_pd(pd), -EBUSY);
	uv_release(env->f, true);
	env->f = NULL;
	assert_int_equal(proc->pinned, 0);
	free(p);
}

/* Root may lock any amount: act as an ordinary user for a while. */
static void set_ipc_lock(bool on)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	assert_int_equal(syscall(SYS_capget, &h, d), 0);
	if (on)
		d[0].effective |= d[0].permitted & 1u << CAP_IPC_LOCK;
	else
		d[0].effective &= ~(1u << CAP_IPC_LOCK);
	assert_int_equal(syscall(SYS_capset, &h, d), 0);
}

static void memlock(void **state)
{
	struct seg_proc *proc = seg_proc(&env->s, env->s.self);
	struct ib_uverbs_rereg_mr req = {.flags = IBV_REREG_MR_CHANGE_ACCESS};
	struct ib_uverbs_rereg_mr_resp resp;
	char *p = aligned_alloc(4096, 8192);
	uint32_t pd = make_pd(), h;

	set_ipc_lock(false);
	proc->memlock = 4096;
	assert_int_equal(reg_mr(pd, p, 8192, 0, &h), 0); /* counted, without a limit */
	assert_int_equal(dereg_mr(h), 0);
	env->sys.memlock_enforce = true;
	assert_int_equal(reg_mr(pd, p, 4096, 0, &h), 0);
	assert_int_equal(reg_mr(pd, p, 4096, 0, NULL), -ENOMEM);
	/* other access to the same pages is not counted again */
	req.mr_handle = h;
	req.access_flags = IBV_ACCESS_LOCAL_WRITE;
	assert_int_equal(COMMAND(REREG_MR, req, resp), 0);
	assert_int_equal(proc->pinned, 4096);
	assert_int_equal(dereg_mr(h), 0);
	assert_int_equal(proc->pinned, 0);
	proc->memlock = 0; /* no memory may be locked */
	assert_int_equal(reg_mr(pd, p, 4096, 0, NULL), -EPERM);
	set_ipc_lock(true);
	free(p);
}

static void rereg(void **state)
{
	char *p = aligned_alloc(4096, 3 * 4096);
	struct seg_proc *proc = seg_proc(&env->s, env->s.self);
	uint32_t pd = make_pd(), pd2 = make_pd(), h;
	struct ib_uverbs_rereg_mr req = {0};
	struct ib_uverbs_rereg_mr_resp resp;

	assert_int_equal(reg_mr(pd, p, 4096, 0, &h), 0);
	req.mr_handle = h;
	assert_int_equal(COMMAND(REREG_MR, req, resp), -EINVAL); /* no change requested */
	req.flags = 8;
	assert_int_equal(COMMAND(REREG_MR, req, resp), -EOPNOTSUPP);
	req.flags = IBV_REREG_MR_CHANGE_ACCESS;
	req.access_flags = IBV_ACCESS_REMOTE_WRITE;
	assert_int_equal(COMMAND(REREG_MR, req, resp), -EINVAL);
	req.access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	assert_int_equal(COMMAND(REREG_MR, req, resp), 0);
	assert_int_equal(resp.rkey, 0x1235);
	assert_int_equal(env->mr_access, req.access_flags);
	assert_int_equal(proc->pinned, 4096);
	req.flags = IBV_REREG_MR_CHANGE_TRANSLATION;
	req.start = (uintptr_t)p;
	req.hca_va = 1;
	req.length = 3 * 4096;
	assert_int_equal(COMMAND(REREG_MR, req, resp), -EINVAL);
	req.hca_va = 0;
	assert_int_equal(COMMAND(REREG_MR, req, resp), 0);
	assert_int_equal(proc->pinned, 3 * 4096);
	req.start = 16 * 4096;
	assert_int_equal(COMMAND(REREG_MR, req, resp), -EFAULT);
	assert_int_equal(proc->pinned, 3 * 4096);
	req.flags = IBV_REREG_MR_CHANGE_PD;
	req.pd_handle = 77;
	assert_int_equal(COMMAND(REREG_MR, req, resp), -ENOENT);
	req.pd_handle = pd2;
	assert_int_equal(COMMAND(REREG_MR, req, resp), 0);
	assert_int_equal(dealloc_pd(pd), 0);
	assert_int_equal(dealloc_pd(pd2), -EBUSY);
	assert_int_equal(dereg_mr(h), 0);
	assert_int_equal(proc->pinned, 0);
	free(p);
}

static void query_mr(void **state)
{
	char *p = aligned_alloc(4096, 4096);
	uint32_t h, lkey = 0, rkey = 0;
	uint64_t len = 0, iova = 0;
	struct call c;

	assert_int_equal(reg_mr(make_pd(), p, 100, 0, &h), 0);
	call_begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	call_obj(&c, UVERBS_ATTR_QUERY_MR_HANDLE, h);
	call_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &lkey, 4);
	call_out(&c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &rkey, 4);
	call_out(&c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &len, 8);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(lkey, 0x1234);
	assert_int_equal(len, 100);
	call_out(&c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &iova, 8);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(iova, (uintptr_t)p);
	free(p);
}

/* ---- device */

static void ports(void **state)
{
	struct ib_uverbs_query_port_resp_ex resp;
	struct ib_uverbs_query_port req = {.port_num = 2};
	struct ib_uverbs_query_port_resp old;
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	call_const(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
	call_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(resp.legacy_resp.lid, 11);
	assert_int_equal(resp.port_cap_flags2, 3);
	for (int i = 0; i < 3; i++) {
		c.attr[0].data = (uint64_t[]){0, 3, 257}[i];
		assert_int_equal(call_run(&c), -EINVAL);
	}
	assert_int_equal(COMMAND(QUERY_PORT, req, old), 0);
	assert_int_equal(old.lid, 12);
	req.port_num = 0;
	assert_int_equal(COMMAND(QUERY_PORT, req, old), -EINVAL);
}

static void gids(void **state)
{
	struct ib_uverbs_gid_entry e, table[4];
	uint64_t n = 0;
	uint32_t flags = 0;
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	call_const(&c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 2);
	call_const(&c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 3);
	call_attr(&c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags, 4);
	call_out(&c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(((uint8_t *)e.gid)[0], 0xfd);
	assert_int_equal(e.gid_index, 3);
	assert_int_equal(e.port_num, 2);
	c.attr[1].data = 1;
	assert_int_equal(call_run(&c), -ENODATA);
	c.attr[1].data = FAKE_GIDS;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[1].data = 3;
	c.attr[2].data = 1;
	assert_int_equal(call_run(&c), -EINVAL);

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
	call_const(&c, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof(e));
	call_out(&c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table, sizeof(table));
	call_out(&c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, 8);
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(n, 3);
	assert_int_equal(table[2].gid_index, 3);
	c.attr[1].len = 2 * sizeof(e);
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[1].len = 4 * sizeof(e) - 1;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[1].len = 4 * sizeof(e);
	c.attr[0].data = 0;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void info_handles(void **state)
{
	uint32_t list[4] = {9, 9, 9, 9}, total = 0;
	int ch = make_channel();
	struct call c;

	make_pd();
	make_cq(NULL, -1, 0);
	make_pd();
	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	call_const(&c, UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD);
	call_out(&c, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, 4);
	call_out(&c, UVERBS_ATTR_INFO_HANDLES_LIST, list, sizeof(list));
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(total, 2);
	assert_int_equal(list[0], 2);
	assert_int_equal(list[1], 0);
	assert_int_equal(list[2], 9);
	c.attr[0].data = UVERBS_OBJECT_COMP_CHANNEL; /* counted, but without a handle */
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(total, 1);
	assert_int_equal(list[0], 0);
	assert_true(ch >= 0);
	c.attr[0].data = UVERBS_OBJECT_DM;
	assert_int_equal(call_run(&c), -ENOENT);
	c.attr[0].data = 0x10000;
	assert_int_equal(call_run(&c), -EINVAL);
	c.attr[0].data = UVERBS_OBJECT_PD;
	c.attr[2].len = 6;
	assert_int_equal(call_run(&c), -EINVAL);
}

static void closing_frees_everything_local(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, make_channel(), 0);

	make_qp(pd, cq, cq, IBV_QPT_RC);
	env->destroyed = 0;
	uv_release(env->f, false);
	env->f = NULL;
	/* hardware objects are left to the supervisor: the driver was told of the context only */
	assert_int_equal(env->destroyed, 1);
}

/* Another thread of the parent was inside a call; it does not exist in the child. */
static void after_a_fork(void **state)
{
	char *p = aligned_alloc(4096, 4096);
	uint32_t h;

	assert_int_equal(reg_mr(make_pd(), p, 10, 0, &h), 0);
	pthread_mutex_lock(&env->f->lock);
	uv_forked(env->f);
	make_pd();
	/* only the parent returns the parent's pages */
	assert_int_equal(dereg_mr(h), 0);
	assert_int_equal(seg_proc(&env->s, env->s.self)->pinned, 4096);
	free(p);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, env_setup_context, env_teardown)

/* ---- counters: an object without hardware */

static int counters(uint16_t method, uint16_t attr, int64_t *handle)
{
	struct call c;
	int r;

	call_begin(&c, UVERBS_OBJECT_COUNTERS, method);
	call_obj(&c, attr, *handle);
	r = call_run(&c);
	*handle = c.attr[0].data_s64;
	return r;
}

static void counters_live_and_die(void **state)
{
	int64_t h = 0, none = 77;

	assert_int_equal(
		counters(UVERBS_METHOD_COUNTERS_CREATE, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &h), 0);
	assert_int_equal(counters(UVERBS_METHOD_COUNTERS_DESTROY,
				  UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, &none),
			 -ENOENT);
	/* two objects exist: the context and the counters */
	assert_int_equal(env->made, env->destroyed + 2);
	assert_int_equal(
		counters(UVERBS_METHOD_COUNTERS_DESTROY, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, &h),
		0);
	assert_int_equal(env->made, env->destroyed + 1);
}

static void counters_that_cannot_be_made(void **state)
{
	int64_t h = 0;

	env->fail = -ENOMEM;
	assert_int_equal(
		counters(UVERBS_METHOD_COUNTERS_CREATE, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &h),
		-ENOMEM);
	assert_int_equal(
		counters(UVERBS_METHOD_COUNTERS_DESTROY, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, &h),
		-ENOENT);
}

static void reading_unbound_counters(void **state)
{
	int64_t h = 0;
	uint64_t room[4];
	struct call c;

	assert_int_equal(
		counters(UVERBS_METHOD_COUNTERS_CREATE, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &h), 0);
	call_begin(&c, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ);
	call_obj(&c, UVERBS_ATTR_READ_COUNTERS_HANDLE, h);
	assert_int_equal(call_run(&c), -EINVAL); /* BUFF is mandatory */
	call_out(&c, UVERBS_ATTR_READ_COUNTERS_BUFF, room, sizeof(room));
	assert_int_equal(call_run(&c), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(counters_live_and_die),
		WITH(counters_that_cannot_be_made),
		WITH(reading_unbound_counters),
		WITH(what_is_in_use_stays),
		WITH(one_cq_for_both),
		WITH(qp_parts),
		WITH(qp_by_method),
		WITH(failing_driver_leaves_nothing),
		WITH(srq),
		WITH(address_handles),
		WITH(mr_access),
		WITH(mr_ranges),
		WITH(mr_large_stays_untouched),
		WITH(accounting),
		WITH(memlock),
		WITH(rereg),
		WITH(query_mr),
		WITH(ports),
		WITH(gids),
		WITH(info_handles),
		WITH(after_a_fork),
		WITH(closing_frees_everything_local),
	};

	log_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
