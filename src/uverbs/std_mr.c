/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory regions. Handlers, called by ioctl.c and write.c. */
#include "uverbs/priv.h"

#define PAGE_MASK UINT64_C(4095)
/* All access flags that the kernel knows, including those that it may ignore. */
#define ACCESS_KNOWN 0xffu
#define ACCESS_OPTIONAL 0x3ff00000u

static bool device_has_odp(struct uv_bundle *b)
{
	const struct uv_driver *d = b->file->api->driver;
	struct uv_device_attr a = {0};

	if (!d->query_device || d->query_device(b->ctx, &a, NULL))
		return false;
	return a.ex.odp_caps.general_caps & IBV_ODP_SUPPORT;
}

static int check_access(struct uv_bundle *b, uint32_t access)
{
	if (access & (IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_WRITE) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return uv_why(b, -EINVAL, "remote write and atomic access need local write access");
	if (access & ~(ACCESS_KNOWN | ACCESS_OPTIONAL))
		return uv_why(b, -EINVAL, "unknown access flags");
	if (access & IBV_ACCESS_ON_DEMAND && !device_has_odp(b))
		return uv_why(b, -EINVAL, "on-demand paging: the device has none");
	return 0;
}

/*
 * Does the region have pages of the program? On-demand regions have none until they are used, and
 * those over device memory never.
 */
static bool has_umem(const struct uv_mr *mr)
{
	return !mr->dm && !(mr->access & IBV_ACCESS_ON_DEMAND);
}

static void put_umem(struct uv_mr *mr)
{
	if (has_umem(mr))
		uv_umem_put(mr->obj.file, mr->start, mr->len);
}

static int mr_destroy(struct uv_object *o, int why)
{
	struct uv_mr *mr = (struct uv_mr *)o;
	int r;

	if (why == UV_CLOSE)
		return 0;
	r = o->file->api->driver->dereg_mr(mr);
	if (r)
		return r;
	put_umem(mr);
	if (mr->dm)
		uv_unuse(&mr->dm->obj);
	uv_unuse(&mr->pd->obj);
	return 0;
}

const struct uv_type uv_type_mr = {
	.name = "MR",
	.object_id = UVERBS_OBJECT_MR,
	.size = sizeof(struct uv_mr),
	.number = offsetof(struct uv_mr, lkey),
	.destroy_order = 2,
	.destroy = mr_destroy,
};

static int reg_mr(struct uv_bundle *b, struct uv_mr *mr, const struct ib_uverbs_reg_mr *cmd)
{
	int r = 0;

	mr->start = cmd->start;
	mr->len = cmd->length;
	mr->iova = cmd->hca_va;
	mr->access = cmd->access_flags;
	if (has_umem(mr))
		r = uv_umem_get(b->file, mr->start, mr->len, mr->access);
	if (r)
		return r;
	r = b->file->api->driver->reg_mr(mr, &b->udata);
	if (r)
		put_umem(mr);
	return r;
}

int uv_cmd_reg_mr(struct uv_bundle *b)
{
	struct ib_uverbs_reg_mr cmd;
	struct ib_uverbs_reg_mr_resp resp = {0};
	struct uv_object *o, *pd;
	struct uv_mr *mr;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if ((cmd.start & PAGE_MASK) != (cmd.hca_va & PAGE_MASK))
		return uv_why(b, -EINVAL, "start and hca_va have different offsets in their pages");
	r = uv_new(b, &uv_type_mr, &o);
	if (!r)
		r = check_access(b, cmd.access_flags);
	if (r)
		return r;
	pd = uv_get(b, &uv_type_pd, cmd.pd_handle, UV_READ, &r);
	if (!pd)
		return r;
	mr = (struct uv_mr *)o;
	mr->pd = (struct uv_pd *)pd;
	r = reg_mr(b, mr, &cmd);
	if (r)
		return r;
	uv_use(pd);
	uv_b_created(b);
	resp.lkey = mr->lkey;
	resp.rkey = mr->rkey;
	resp.mr_handle = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

/* Change a region: new memory is checked and counted before the old one is released. */
static int rereg(struct uv_bundle *b, struct uv_mr *mr, const struct ib_uverbs_rereg_mr *cmd,
		 struct uv_pd *pd)
{
	struct uv_mr was = *mr, to = *mr;
	bool pages = cmd->flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	int r = 0;

	if (cmd->flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		to.start = cmd->start;
		to.len = cmd->length;
		to.iova = cmd->hca_va;
	}
	if (cmd->flags & IBV_REREG_MR_CHANGE_ACCESS)
		to.access = cmd->access_flags;
	if (pages && has_umem(&to))
		r = uv_umem_get(b->file, to.start, to.len, to.access);
	else if (!pages && (was.access ^ to.access) & IBV_ACCESS_ON_DEMAND)
		r = uv_no(-EOPNOTSUPP, "only new memory can make a region on demand, or end it");
	else if (!pages && has_umem(&to)) /* the same pages, which are counted already */
		r = uv_umem_check(to.start, to.len, to.access);
	if (r)
		return r;
	r = b->file->api->driver->rereg_mr(mr, cmd->flags, to.start, to.len, to.iova, to.access,
					   pd);
	if (r) {
		if (pages)
			put_umem(&to);
		return r;
	}
	if (pages)
		put_umem(&was);
	mr->start = to.start;
	mr->len = to.len;
	mr->iova = to.iova;
	mr->access = to.access;
	if (pd != was.pd) {
		uv_use(&pd->obj);
		uv_unuse(&was.pd->obj);
		mr->pd = pd;
	}
	return 0;
}

int uv_cmd_rereg_mr(struct uv_bundle *b)
{
	struct ib_uverbs_rereg_mr cmd;
	struct ib_uverbs_rereg_mr_resp resp = {0};
	struct uv_object *o, *pd = NULL;
	struct uv_mr *mr;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (!cmd.flags)
		return uv_why(b, -EINVAL, "flags select nothing to change");
	if (cmd.flags & ~(uint32_t)(IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
				    IBV_REREG_MR_CHANGE_ACCESS))
		return uv_why(b, -EOPNOTSUPP, "unknown flags");
	if (cmd.flags & IBV_REREG_MR_CHANGE_TRANSLATION &&
	    (cmd.start & PAGE_MASK) != (cmd.hca_va & PAGE_MASK))
		return uv_why(b, -EINVAL, "start and hca_va have different offsets in their pages");
	o = uv_get(b, &uv_type_mr, cmd.mr_handle, UV_WRITE, &r);
	if (!o)
		return r;
	mr = (struct uv_mr *)o;
	if (mr->dm) /* ib_uverbs_rereg_mr() */
		return uv_why(b, -EINVAL, "regions over device memory cannot be changed");
	if (cmd.flags & IBV_REREG_MR_CHANGE_ACCESS) {
		r = check_access(b, cmd.access_flags);
		if (r)
			return r;
	}
	if (cmd.flags & IBV_REREG_MR_CHANGE_PD) {
		pd = uv_get(b, &uv_type_pd, cmd.pd_handle, UV_READ, &r);
		if (!pd)
			return r;
	}
	if (pd == &mr->pd->obj)
		cmd.flags &= ~(uint32_t)IBV_REREG_MR_CHANGE_PD;
	r = rereg(b, mr, &cmd, pd ? (struct uv_pd *)pd : mr->pd);
	if (r)
		return r;
	resp.lkey = mr->lkey;
	resp.rkey = mr->rkey;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_dereg_mr(struct uv_bundle *b)
{
	struct ib_uverbs_dereg_mr cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		uv_get_destroy(b, &uv_type_mr, cmd.mr_handle, &r);
	return r;
}

/* Without the driver's operation the method exists, as in the kernel, and fails. */
static int no_driver_op(struct uv_bundle *b)
{
	return uv_why(b, -EOPNOTSUPP, "the driver has no such operation");
}

/* UVERBS_METHOD_DM_MR_REG of uverbs_std_types_mr.c, in its order. */
static int dm_mr_reg(struct uv_bundle *b)
{
	struct uv_mr *mr = (struct uv_mr *)uv_b_new(b, UVERBS_ATTR_REG_DM_MR_HANDLE);
	struct uv_dm *dm = (struct uv_dm *)uv_b_obj(b, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	struct uv_object *pd = uv_b_obj(b, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	uint64_t offset = uv_b_const(b, UVERBS_ATTR_REG_DM_MR_OFFSET, 0);
	int r;

	if (!b->file->api->driver->reg_dm_mr)
		return no_driver_op(b);
	mr->pd = (struct uv_pd *)pd;
	mr->len = uv_b_const(b, UVERBS_ATTR_REG_DM_MR_LENGTH, 0);
	mr->access = (uint32_t)uv_b_const(b, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 0);
	if (!(mr->access & IBV_ACCESS_ZERO_BASED))
		return uv_why(b, -EINVAL, "regions over device memory are zero-based");
	r = check_access(b, mr->access);
	if (r)
		return r;
	if (offset > dm->len || mr->len > dm->len - offset)
		return uv_why(b, -EINVAL, "the region is not inside the device memory");
	mr->dm = dm;
	r = b->file->api->driver->reg_dm_mr(mr, offset);
	if (r)
		return r;
	uv_use(pd);
	uv_use(&dm->obj);
	uv_b_created(b);
	r = uv_b_out(b, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &mr->rkey, sizeof(mr->rkey));
	return r;
}

/* UVERBS_METHOD_ADVISE_MR of uverbs_std_types_mr.c, in its order. */
static int advise_mr(struct uv_bundle *b)
{
	struct uv_pd *pd = (struct uv_pd *)uv_b_obj(b, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	uint64_t advice = uv_b_const(b, UVERBS_ATTR_ADVISE_MR_ADVICE, 0);
	uint64_t flags = uv_b_const(b, UVERBS_ATTR_ADVISE_MR_FLAGS, 0);
	const struct ib_uverbs_sge *sge;
	size_t len;

	if (!b->file->api->driver->advise_mr)
		return no_driver_op(b);
	if (flags & ~(uint64_t)IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return uv_why(b, -EINVAL, "unknown flags");
	sge = uv_b_in(b, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &len);
	if (len % sizeof(*sge))
		return uv_why(b, -EINVAL, "the list ends inside an element");
	return b->file->api->driver->advise_mr(pd, (uint32_t)advice, (uint32_t)flags, sge,
					       len / sizeof(*sge));
}

static int query_mr(struct uv_bundle *b)
{
	struct uv_mr *mr = (struct uv_mr *)uv_b_obj(b, UVERBS_ATTR_QUERY_MR_HANDLE);
	int r;

	r = uv_b_out(b, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->rkey, sizeof(mr->rkey));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->len, sizeof(mr->len));
	if (!r)
		r = uv_b_out(b, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->iova, sizeof(mr->iova));
	return r == -ENOENT ? 0 : r;
}

static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_MR_HANDLE, &uv_type_mr, UV_DESTROY_ACCESS, true),
};
static const struct uv_attr_def query_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_QUERY_MR_HANDLE, &uv_type_mr, UV_READ, true),
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, uint64_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, uint64_t, false),
};
static const struct uv_attr_def advise_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, &uv_type_pd, UV_READ, true),
	UV_ATTR_CONST(UVERBS_ATTR_ADVISE_MR_ADVICE, 0, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_ADVISE_MR_FLAGS, UINT64_MAX, true),
	UV_ATTR_IN_MIN(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(struct ib_uverbs_sge), true),
};
static const struct uv_attr_def dm_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_REG_DM_MR_HANDLE, &uv_type_mr, UV_NEW, true),
	UV_ATTR_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, uint64_t, true),
	UV_ATTR_IDR(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, &uv_type_pd, UV_READ, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, ACCESS_KNOWN | ACCESS_OPTIONAL, false),
	UV_ATTR_IDR(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, &uv_type_dm, UV_READ, true),
	UV_ATTR_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, uint32_t, true),
};
static const struct uv_attr_def dmabuf_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, &uv_type_mr, UV_NEW, true),
	UV_ATTR_IDR(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, &uv_type_pd, UV_READ, true),
	UV_ATTR_IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, uint64_t, true),
	UV_ATTR_IN(UVERBS_ATTR_REG_DMABUF_MR_FD, uint32_t, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, UINT64_MAX, false),
	UV_ATTR_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, uint32_t, true),
	UV_ATTR_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, uint32_t, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_MR_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 uv_destroy_handler, false},
	{UVERBS_METHOD_QUERY_MR, "QUERY", query_attrs, ARRAY_SIZE(query_attrs), query_mr, false},
	{UVERBS_METHOD_ADVISE_MR, "ADVISE", advise_attrs, ARRAY_SIZE(advise_attrs), advise_mr,
	 false},
	{UVERBS_METHOD_DM_MR_REG, "DM_REG", dm_attrs, ARRAY_SIZE(dm_attrs), dm_mr_reg, false},
	{UVERBS_METHOD_REG_DMABUF_MR, "REG_DMABUF", dmabuf_attrs, ARRAY_SIZE(dmabuf_attrs),
	 no_driver_op, false},
};

const struct uv_object_def uv_def_mr = {
	.id = UVERBS_OBJECT_MR,
	.name = "MR",
	.type = &uv_type_mr,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, dereg_mr),
};
