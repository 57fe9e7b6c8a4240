/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The DEVICE object: contexts, queries of device and ports, GIDs, INVOKE_WRITE. Handlers, called
 * by ioctl.c and write.c.
 */
#include "uverbs/priv.h"

#include "wire/ib/link.h"

/* ---- context ---- */

/* Until the driver sees it, a context has nothing but its file and owner. */
static int init_context(struct uv_bundle *b, struct uv_udata *u)
{
	struct uv_file *f = b->file;
	int r;

	if (f->ctx)
		return uv_why(b, -EINVAL, "the file has its context already");
	f->context = (struct uv_context){
		.file = f, .sys = f->sys, .seg = f->seg, .hca = f->hca, .seg_file = f->file};
	r = f->api->driver->alloc_ucontext(&f->context, u);
	if (r)
		return r;
	f->ctx = &f->context;
	b->ctx = f->ctx;
	return 0;
}

/* An answer that the program may leave out. */
static int out_optional(struct uv_bundle *b, uint16_t attr, const void *p, size_t len)
{
	int r = uv_b_out(b, attr, p, len);

	return r == -ENOENT ? 0 : r;
}

static int uv_get_context(struct uv_bundle *b)
{
	uint64_t core = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	uint32_t vectors = b->file->device.num_comp_vectors;
	int r;

	r = out_optional(b, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	if (!r)
		r = out_optional(b, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	return r ? r : init_context(b, &b->udata);
}

int uv_cmd_get_context(struct uv_bundle *b)
{
	struct ib_uverbs_get_context cmd;
	struct ib_uverbs_get_context_resp resp = {.num_comp_vectors =
							  b->file->device.num_comp_vectors};
	struct uv_context *before = b->ctx;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	b->ctx = &b->file->context; /* the async file is made first: the answer has its number */
	r = uv_new(b, &uv_type_async_event, &o);
	b->ctx = before;
	if (r)
		return r;
	resp.async_fd = o->handle;
	r = uv_response(b, &resp, sizeof(resp));
	if (!r)
		r = init_context(b, &b->udata);
	if (!r)
		uv_async_made((struct uv_event_file *)o);
	return r;
}

static int query_context(struct uv_bundle *b)
{
	uint64_t core = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	uint32_t vectors = b->file->device.num_comp_vectors;
	const struct uv_driver *d = b->file->api->driver;
	int r;

	if (!d->query_ucontext)
		return -EOPNOTSUPP;
	r = out_optional(b, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	if (!r)
		r = out_optional(b, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	return r ? r : d->query_ucontext(b->ctx, &b->udata);
}

/* ---- device ---- */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void device_resp(const struct uv_device_attr *d, struct ib_uverbs_query_device_resp *r)
{
	const struct ibv_device_attr *a = &d->ex.orig_attr;

	*r = (struct ib_uverbs_query_device_resp){
		.fw_ver = d->fw_ver_num,
		.node_guid = a->node_guid,
		.sys_image_guid = a->sys_image_guid,
		.max_mr_size = a->max_mr_size,
		.page_size_cap = a->page_size_cap,
		.vendor_id = a->vendor_id,
		.vendor_part_id = a->vendor_part_id,
		.hw_ver = a->hw_ver,
		.max_qp = (uint32_t)a->max_qp,
		.max_qp_wr = (uint32_t)a->max_qp_wr,
		.device_cap_flags = a->device_cap_flags,
		.max_sge = (uint32_t)a->max_sge,
		.max_sge_rd = (uint32_t)a->max_sge_rd,
		.max_cq = (uint32_t)a->max_cq,
		.max_cqe = (uint32_t)a->max_cqe,
		.max_mr = (uint32_t)a->max_mr,
		.max_pd = (uint32_t)a->max_pd,
		.max_qp_rd_atom = (uint32_t)a->max_qp_rd_atom,
		.max_ee_rd_atom = (uint32_t)a->max_ee_rd_atom,
		.max_res_rd_atom = (uint32_t)a->max_res_rd_atom,
		.max_qp_init_rd_atom = (uint32_t)a->max_qp_init_rd_atom,
		.max_ee_init_rd_atom = (uint32_t)a->max_ee_init_rd_atom,
		.atomic_cap = a->atomic_cap,
		.max_ee = (uint32_t)a->max_ee,
		.max_rdd = (uint32_t)a->max_rdd,
		.max_mw = (uint32_t)a->max_mw,
		.max_raw_ipv6_qp = (uint32_t)a->max_raw_ipv6_qp,
		.max_raw_ethy_qp = (uint32_t)a->max_raw_ethy_qp,
		.max_mcast_grp = (uint32_t)a->max_mcast_grp,
		.max_mcast_qp_attach = (uint32_t)a->max_mcast_qp_attach,
		.max_total_mcast_qp_attach = (uint32_t)a->max_total_mcast_qp_attach,
		.max_ah = (uint32_t)a->max_ah,
		.max_srq = (uint32_t)a->max_srq,
		.max_srq_wr = (uint32_t)a->max_srq_wr,
		.max_srq_sge = (uint32_t)a->max_srq_sge,
		.max_pkeys = a->max_pkeys,
		.local_ca_ack_delay = a->local_ca_ack_delay,
		.phys_port_cnt = a->phys_port_cnt,
	};
}

int uv_cmd_query_device(struct uv_bundle *b)
{
	struct ib_uverbs_query_device cmd;
	struct ib_uverbs_query_device_resp resp;
	struct uv_device_attr a = {0};
	int r;

	if (!b->ctx)
		return uv_why(b, -EINVAL, "the file has no context yet");
	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = b->file->api->driver->query_device(b->ctx, &a, NULL);
	if (r)
		return r;
	device_resp(&a, &resp);
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_ex_query_device(struct uv_bundle *b)
{
	struct ib_uverbs_ex_query_device cmd;
	struct ib_uverbs_ex_query_device_resp resp = {0};
	struct uv_device_attr a = {0};
	const struct ibv_device_attr_ex *x = &a.ex;
	int r;

	if (!b->ctx)
		return uv_why(b, -EINVAL, "the file has no context yet");
	r = uv_request(b, &cmd, sizeof(cmd));
	if (r)
		return r;
	if (cmd.comp_mask || cmd.reserved)
		return uv_why(b, -EINVAL, "comp_mask and reserved are 0");
	r = b->file->api->driver->query_device(b->ctx, &a, &b->udata);
	if (r)
		return r;
	device_resp(&a, &resp.base);
	resp.response_length = uv_response_length(b, sizeof(resp));
	resp.odp_caps.general_caps = x->odp_caps.general_caps;
	resp.odp_caps.per_transport_caps.rc_odp_caps = x->odp_caps.per_transport_caps.rc_odp_caps;
	resp.odp_caps.per_transport_caps.uc_odp_caps = x->odp_caps.per_transport_caps.uc_odp_caps;
	resp.odp_caps.per_transport_caps.ud_odp_caps = x->odp_caps.per_transport_caps.ud_odp_caps;
	resp.xrc_odp_caps = x->xrc_odp_caps;
	resp.timestamp_mask = x->completion_timestamp_mask;
	resp.hca_core_clock = x->hca_core_clock;
	resp.device_cap_flags_ex = x->device_cap_flags_ex;
	resp.rss_caps.supported_qpts = x->rss_caps.supported_qpts;
	resp.rss_caps.max_rwq_indirection_tables = x->rss_caps.max_rwq_indirection_tables;
	resp.rss_caps.max_rwq_indirection_table_size = x->rss_caps.max_rwq_indirection_table_size;
	resp.max_wq_type_rq = x->max_wq_type_rq;
	resp.raw_packet_caps = x->raw_packet_caps;
	resp.tm_caps.max_rndv_hdr_size = x->tm_caps.max_rndv_hdr_size;
	resp.tm_caps.max_num_tags = x->tm_caps.max_num_tags;
	resp.tm_caps.flags = x->tm_caps.flags;
	resp.tm_caps.max_ops = x->tm_caps.max_ops;
	resp.tm_caps.max_sge = x->tm_caps.max_sge;
	resp.cq_moderation_caps.max_cq_moderation_count = x->cq_mod_caps.max_cq_count;
	resp.cq_moderation_caps.max_cq_moderation_period = x->cq_mod_caps.max_cq_period;
	resp.max_dm_size = x->max_dm_size;
	/* Linux before 4.14 ends at raw_packet_caps. */
	if (b->file->sys->no_ioctl) {
		const size_t old = offsetof(struct ib_uverbs_ex_query_device_resp, tm_caps);

		resp.response_length = min_u32(resp.response_length, (uint32_t)old);
		return uv_response(b, &resp, old);
	}
	return uv_response(b, &resp, sizeof(resp));
}

/* ---- ports ---- */

static int query_one_port(struct uv_bundle *b, uint32_t num, struct ib_uverbs_query_port_resp *r,
			  uint16_t *cap2)
{
	struct ibv_port_attr a = {0};
	int ret;

	if (!uv_file_has_port(b->file, num))
		return uv_why(b, -EINVAL, "no such port");
	ret = b->file->api->driver->query_port(b->ctx, num, &a);
	*r = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = a.port_cap_flags,
		.max_msg_sz = a.max_msg_sz,
		.bad_pkey_cntr = a.bad_pkey_cntr,
		.qkey_viol_cntr = a.qkey_viol_cntr,
		.gid_tbl_len = (uint32_t)a.gid_tbl_len,
		.pkey_tbl_len = a.pkey_tbl_len,
		.lid = a.lid,
		.sm_lid = a.sm_lid,
		.state = (uint8_t)a.state,
		.max_mtu = (uint8_t)a.max_mtu,
		.active_mtu = (uint8_t)a.active_mtu,
		.lmc = a.lmc,
		.max_vl_num = a.max_vl_num,
		.sm_sl = a.sm_sl,
		.subnet_timeout = a.subnet_timeout,
		.init_type_reply = a.init_type_reply,
		.active_width = a.active_width,
		.active_speed =
			(uint8_t)min_u32(a.active_speed, IB_SPEED_NDR), /* more does not fit */
		.phys_state = a.phys_state,
		.link_layer = a.link_layer,
		.flags = a.flags,
	};
	*cap2 = a.port_cap_flags2;
	return ret;
}

static int query_port(struct uv_bundle *b)
{
	uint32_t num = (uint32_t)uv_b_const(b, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 0);
	struct ib_uverbs_query_port_resp_ex resp = {0};
	uint16_t cap2 = 0;
	int r;

	if (!b->file->api->driver->query_port)
		return -EOPNOTSUPP;
	r = query_one_port(b, num, &resp.legacy_resp, &cap2);
	if (r)
		return r;
	resp.port_cap_flags2 = cap2;
	return uv_b_out_zero(b, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
}

int uv_cmd_query_port(struct uv_bundle *b)
{
	struct ib_uverbs_query_port cmd;
	struct ib_uverbs_query_port_resp resp;
	uint16_t cap2;
	int r;

	if (!b->ctx)
		return uv_why(b, -EINVAL, "the file has no context yet");
	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		r = query_one_port(b, cmd.port_num, &resp, &cap2);
	return r ? r : uv_response(b, &resp, sizeof(resp));
}

/* ---- GIDs ---- */

static int gid_entry(const struct uv_file *f, uint32_t port, uint64_t i,
		     struct ib_uverbs_gid_entry *e)
{
	struct uv_gid gid;
	int r = uv_file_gid(f, port, i, &gid);

	if (r)
		return r;
	*e = (struct ib_uverbs_gid_entry){.gid_index = (uint32_t)i,
					  .port_num = port,
					  .gid_type = gid.type,
					  .netdev_ifindex = gid.ifindex};
	memcpy(e->gid, gid.raw, sizeof(gid.raw));
	return 0;
}

static int query_gid_entry(struct uv_bundle *b)
{
	uint64_t i = uv_b_const(b, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
	uint32_t port = (uint32_t)uv_b_const(b, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 0);
	struct ib_uverbs_gid_entry e;
	int r = gid_entry(b->file, port, i, &e);

	if (r == -EINVAL)
		return uv_why(b, r, "no such port, or no such entry in its table");
	if (r)
		return uv_why(b, r, "the entry is empty");
	return uv_b_out_zero(b, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
}

/* Copy one entry to the program's array, whose elements may be shorter or longer than here. */
static int put_entry(uint64_t to, const struct ib_uverbs_gid_entry *e, uint64_t size)
{
	static const uint8_t zero[64];
	size_t n = size < sizeof(*e) ? size : sizeof(*e);
	int r = uv_copy_to_user(to, e, n);

	for (uint64_t at = n; !r && at < size; at += n) {
		n = size - at < sizeof(zero) ? size - at : sizeof(zero);
		r = uv_copy_to_user(to + at, zero, n);
	}
	return r;
}

static int query_gid_table(struct uv_bundle *b)
{
	struct uv_attr *out = uv_b_attr(b, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t size = uv_b_const(b, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0), n = 0;
	const struct uv_device *d = &b->file->device;
	int r;

	if (!size || out->len % size || out->len < size)
		return uv_why(b, -EINVAL,
			      "RESP_ENTRIES is no whole number of entries of ENTRY_SIZE");
	for (uint32_t num = 1; num <= d->num_ports; num++)
		for (uint32_t i = 0; i < d->gid_tbl_len; i++) {
			struct ib_uverbs_gid_entry e;

			if (gid_entry(b->file, num, i, &e))
				continue;
			if (n >= out->len / size)
				return uv_why(b, -EINVAL,
					      "RESP_ENTRIES has no room for all entries");
			if (put_entry(out->data + n++ * size, &e, size))
				return -EFAULT;
		}
	r = uv_b_set_output(b, out);
	return r ? r : uv_b_out(b, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, sizeof(n));
}

/* ---- handles ---- */

static int info_handles(struct uv_bundle *b)
{
	uint64_t id = uv_b_const(b, UVERBS_ATTR_INFO_OBJECT_ID, 0), total = 0;
	size_t room = uv_b_out_len(b, UVERBS_ATTR_INFO_HANDLES_LIST);
	const struct uv_api_object *ao;
	struct uv_object *o;
	uint32_t *list;
	int r;

	if (!room || room % sizeof(*list))
		return uv_why(b, -EINVAL, "the list has no room for a whole number of handles");
	ao = uv_api_object(b->file->api, (uint16_t)id);
	if (!ao)
		return uv_why(b, id == 0xffff ? -ENOMSG : -ENOENT, "no such object type");
	list = uv_b_alloc(b, room);
	if (!list)
		return -ENOMEM;
	/* Published files are counted, but have no handle (alloc_commit_fd_uobject). */
	o = ao->type && ao->type->is_fd ? b->file->fds : b->file->objects;
	for (; o; o = o->next)
		if (o->type == ao->type && total < room / sizeof(*list))
			list[total++] = o->type->is_fd ? 0 : o->handle;
	r = uv_b_out(b, UVERBS_ATTR_INFO_HANDLES_LIST, list, total * sizeof(*list));
	return r ? r : uv_b_out(b, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, sizeof(total));
}

/* ---- tables ---- */

static const struct uv_attr_def invoke_write_attrs[] = {
	UV_ATTR_CONST(UVERBS_ATTR_WRITE_CMD, UINT32_MAX, true),
	UV_ATTR_IN_MIN(UVERBS_ATTR_CORE_IN, 4, false),
	UV_ATTR_OUT_MIN(UVERBS_ATTR_CORE_OUT, 0, false),
	UV_ATTR_UHW(NULL, NULL), /* driver data of the command */
};
static const struct uv_attr_def info_handles_attrs[] = {
	UV_ATTR_CONST(UVERBS_ATTR_INFO_OBJECT_ID, UINT16_MAX, true),
	UV_ATTR_OUT(UVERBS_ATTR_INFO_TOTAL_HANDLES, uint32_t, false),
	UV_ATTR_OUT_MIN(UVERBS_ATTR_INFO_HANDLES_LIST, 4, false),
};
static const struct uv_attr_def query_port_attrs[] = {
	UV_ATTR_CONST(UVERBS_ATTR_QUERY_PORT_PORT_NUM, UINT8_MAX, true),
	UV_ATTR_OUT_STRUCT(UVERBS_ATTR_QUERY_PORT_RESP, struct ib_uverbs_query_port_resp_ex,
			   reserved, true),
};
static const struct uv_attr_def get_context_attrs[] = {
	UV_ATTR_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, uint32_t, false),
	UV_ATTR_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, uint64_t, false),
	UV_ATTR_UHW("alloc_ucontext_req_v2", "alloc_ucontext_resp"),
};
static const struct uv_attr_def query_context_attrs[] = {
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, uint32_t, false),
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, uint64_t, false),
};
static const struct uv_attr_def query_gid_table_attrs[] = {
	UV_ATTR_CONST(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0, false),
	UV_ATTR_OUT_MIN(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0, true),
	UV_ATTR_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, uint64_t, true),
};
static const struct uv_attr_def query_gid_entry_attrs[] = {
	UV_ATTR_CONST(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UINT32_MAX, true),
	UV_ATTR_CONST(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, UINT32_MAX, true),
	UV_ATTR_FLAGS(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, true),
	UV_ATTR_OUT_STRUCT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, struct ib_uverbs_gid_entry,
			   netdev_ifindex, true),
};

#define METHOD(n, attrs, handler, no_context, ...)                                                \
	{                                                                                         \
		UVERBS_METHOD_##n, #n, attrs, ARRAY_SIZE(attrs), handler, no_context, __VA_ARGS__ \
	}
static const struct uv_method_def methods[] = {
	METHOD(INVOKE_WRITE, invoke_write_attrs, uv_cmd_invoke_write, true, .runs_command = true),
	METHOD(INFO_HANDLES, info_handles_attrs, info_handles, true),
	METHOD(QUERY_PORT, query_port_attrs, query_port, false),
	METHOD(GET_CONTEXT, get_context_attrs, uv_get_context, true),
	METHOD(QUERY_CONTEXT, query_context_attrs, query_context, false),
	METHOD(QUERY_GID_TABLE, query_gid_table_attrs, query_gid_table, false),
	METHOD(QUERY_GID_ENTRY, query_gid_entry_attrs, query_gid_entry, false),
};

const struct uv_object_def uv_def_device = {
	.id = UVERBS_OBJECT_DEVICE,
	.name = "DEVICE",
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
};
