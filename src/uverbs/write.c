/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of the older interface, one row each, and both entries to them: INVOKE_WRITE (which
 * libibverbs uses) and write(2). Called by the shim and by ioctl.c.
 */
#include "segment/tap.h"
#include "uverbs/priv.h"
#include "uverbs/for_tests.h"

#define OP(op) offsetof(struct uv_driver, op)
#define CMD(n, ...)                                                  \
	{                                                            \
		.nr = IB_USER_VERBS_CMD_##n, .name = #n, __VA_ARGS__ \
	}
#define CMD_EX(n, ...)                                                                    \
	{                                                                                 \
		.nr = IB_USER_VERBS_EX_CMD_##n, .ex = true, .name = "EX_" #n, __VA_ARGS__ \
	}
/* The name of a structure; fails to compile if there is none. */
#define TYPE(t) (sizeof(struct ib_uverbs_##t) ? "ib_uverbs_" #t : NULL)
#define REQ(t) .req = sizeof(struct ib_uverbs_##t), .req_type = TYPE(t)
#define RESP(t) \
	.has_resp = true, .resp = sizeof(struct ib_uverbs_##t##_resp), .resp_type = TYPE(t##_resp)
#define UHW .has_udata = true
#define DRIVER(in) .driver_in = #in, .driver_out = #in "_resp"

/*
 * Extended commands have no sizes here: like the kernel, uverbs extends short ones with zeroes and
 * refuses unknown bytes that are not zero.
 */
static const struct uv_cmd commands[] = {
	CMD(GET_CONTEXT, REQ(get_context), RESP(get_context), UHW,
	    .driver_in = "alloc_ucontext_req_v2", .driver_out = "alloc_ucontext_resp",
	    .handler = uv_cmd_get_context),
	CMD(QUERY_DEVICE, REQ(query_device), RESP(query_device), DRIVER(query_device),
	    .needs = {OP(query_device)}, .handler = uv_cmd_query_device),
	CMD(QUERY_PORT, REQ(query_port), RESP(query_port), .needs = {OP(query_port)},
	    .handler = uv_cmd_query_port),
	CMD(ALLOC_PD, REQ(alloc_pd), RESP(alloc_pd), UHW, DRIVER(alloc_pd), .needs = {OP(alloc_pd)},
	    .handler = uv_cmd_alloc_pd),
	CMD(DEALLOC_PD, REQ(dealloc_pd), .destroys = true, .needs = {OP(dealloc_pd)},
	    .handler = uv_cmd_dealloc_pd),
	CMD(CREATE_AH, REQ(create_ah), RESP(create_ah), UHW, DRIVER(create_ah),
	    .needs = {OP(create_ah)}, .handler = uv_cmd_create_ah),
	CMD(DESTROY_AH, REQ(destroy_ah), .destroys = true, .needs = {OP(create_ah)},
	    .handler = uv_cmd_destroy_ah),
	CMD(REG_MR, REQ(reg_mr), RESP(reg_mr), UHW, .needs = {OP(reg_mr), OP(dereg_mr)},
	    .handler = uv_cmd_reg_mr),
	CMD(REREG_MR, REQ(rereg_mr), RESP(rereg_mr), UHW, .needs = {OP(rereg_mr), OP(dereg_mr)},
	    .handler = uv_cmd_rereg_mr),
	CMD(DEREG_MR, REQ(dereg_mr), .destroys = true, .needs = {OP(dereg_mr)},
	    .handler = uv_cmd_dereg_mr),
	CMD(ALLOC_MW, REQ(alloc_mw), RESP(alloc_mw), UHW, DRIVER(alloc_mw), .needs = {OP(alloc_mw)},
	    .handler = uv_cmd_alloc_mw),
	CMD(DEALLOC_MW, REQ(dealloc_mw), .destroys = true, .needs = {OP(dealloc_mw)},
	    .handler = uv_cmd_dealloc_mw),
	CMD(CREATE_COMP_CHANNEL, REQ(create_comp_channel), RESP(create_comp_channel),
	    .needs = {OP(dealloc_pd)}, .handler = uv_cmd_create_comp_channel),
	CMD(CREATE_CQ, REQ(create_cq), RESP(create_cq), UHW, DRIVER(create_cq),
	    .needs = {OP(create_cq), OP(destroy_cq)}, .handler = uv_cmd_create_cq),
	CMD(RESIZE_CQ, REQ(resize_cq), RESP(resize_cq), UHW, DRIVER(resize_cq),
	    .needs = {OP(resize_cq), OP(destroy_cq)}, .handler = uv_cmd_resize_cq),
	CMD(DESTROY_CQ, REQ(destroy_cq), RESP(destroy_cq), .destroys = true,
	    .needs = {OP(destroy_cq)}, .handler = uv_cmd_destroy_cq),
	CMD(CREATE_QP, REQ(create_qp), RESP(create_qp), UHW, DRIVER(create_qp),
	    .needs = {OP(create_qp), OP(destroy_qp)}, .handler = uv_cmd_create_qp),
	CMD(QUERY_QP, REQ(query_qp), RESP(query_qp), .needs = {OP(query_qp), OP(destroy_qp)},
	    .handler = uv_cmd_query_qp),
	CMD(MODIFY_QP, REQ(modify_qp), DRIVER(modify_qp), .needs = {OP(modify_qp), OP(destroy_qp)},
	    .handler = uv_cmd_modify_qp),
	CMD(DESTROY_QP, REQ(destroy_qp), RESP(destroy_qp), .destroys = true,
	    .needs = {OP(destroy_qp)}, .handler = uv_cmd_destroy_qp),
	CMD(CREATE_SRQ, REQ(create_srq), RESP(create_srq), UHW, DRIVER(create_srq),
	    .needs = {OP(create_srq), OP(destroy_srq)}, .handler = uv_cmd_create_srq),
	CMD(MODIFY_SRQ, REQ(modify_srq), UHW, .needs = {OP(modify_srq), OP(destroy_srq)},
	    .handler = uv_cmd_modify_srq),
	CMD(QUERY_SRQ, REQ(query_srq), RESP(query_srq), .needs = {OP(query_srq), OP(destroy_srq)},
	    .handler = uv_cmd_query_srq),
	CMD(DESTROY_SRQ, REQ(destroy_srq), RESP(destroy_srq), .destroys = true,
	    .needs = {OP(destroy_srq)}, .handler = uv_cmd_destroy_srq),
	CMD(CREATE_XSRQ, REQ(create_xsrq), RESP(create_srq), UHW, DRIVER(create_srq),
	    .needs = {OP(create_srq), OP(destroy_srq)}, .handler = uv_cmd_create_xsrq),
	CMD(ATTACH_MCAST, REQ(attach_mcast), UHW, .needs = {OP(attach_mcast), OP(destroy_qp)},
	    .handler = uv_cmd_attach_mcast),
	CMD(DETACH_MCAST, REQ(detach_mcast), UHW, .destroys = true,
	    .needs = {OP(detach_mcast), OP(destroy_qp)}, .handler = uv_cmd_detach_mcast),
	CMD(OPEN_XRCD, REQ(open_xrcd), RESP(open_xrcd), UHW,
	    .needs = {OP(alloc_xrcd), OP(open_xrcd)}, .handler = uv_cmd_open_xrcd),
	CMD(CLOSE_XRCD, REQ(close_xrcd), .destroys = true, .needs = {OP(dealloc_xrcd)},
	    .handler = uv_cmd_close_xrcd),
	CMD(OPEN_QP, REQ(open_qp), RESP(create_qp), UHW, .needs = {OP(open_qp), OP(destroy_qp)},
	    .handler = uv_cmd_open_qp),
	CMD_EX(QUERY_DEVICE, .req_type = TYPE(ex_query_device),
	       .resp_type = TYPE(ex_query_device_resp), DRIVER(query_device),
	       .needs = {OP(query_device)}, .handler = uv_cmd_ex_query_device),
	CMD_EX(CREATE_CQ, .req_type = TYPE(ex_create_cq), .resp_type = TYPE(ex_create_cq_resp),
	       DRIVER(create_cq), .needs = {OP(create_cq), OP(destroy_cq)},
	       .handler = uv_cmd_ex_create_cq),
	CMD_EX(CREATE_QP, .req_type = TYPE(ex_create_qp), .resp_type = TYPE(ex_create_qp_resp),
	       DRIVER(create_qp), .needs = {OP(create_qp), OP(destroy_qp)},
	       .handler = uv_cmd_ex_create_qp),
	CMD_EX(MODIFY_QP, .req_type = TYPE(ex_modify_qp), .resp_type = TYPE(ex_modify_qp_resp),
	       DRIVER(modify_qp), .needs = {OP(modify_qp), OP(destroy_qp)},
	       .handler = uv_cmd_ex_modify_qp),
	CMD_EX(CREATE_WQ, .req_type = TYPE(ex_create_wq), .resp_type = TYPE(ex_create_wq_resp),
	       DRIVER(create_wq), .needs = {OP(create_wq), OP(destroy_wq)},
	       .handler = uv_cmd_ex_create_wq),
	CMD_EX(MODIFY_WQ, .req_type = TYPE(ex_modify_wq), DRIVER(modify_wq),
	       .needs = {OP(modify_wq), OP(destroy_wq)}, .handler = uv_cmd_ex_modify_wq),
	CMD_EX(DESTROY_WQ, .req_type = TYPE(ex_destroy_wq), .resp_type = TYPE(ex_destroy_wq_resp),
	       .destroys = true, .needs = {OP(destroy_wq)}, .handler = uv_cmd_ex_destroy_wq),
	CMD_EX(CREATE_RWQ_IND_TBL, .req_type = TYPE(ex_create_rwq_ind_table),
	       .resp_type = TYPE(ex_create_rwq_ind_table_resp), DRIVER(create_rwq_ind_tbl),
	       .needs = {OP(create_rwq_ind_tbl), OP(destroy_rwq_ind_tbl)},
	       .handler = uv_cmd_ex_create_rwq_ind_tbl),
	CMD_EX(DESTROY_RWQ_IND_TBL, .req_type = TYPE(ex_destroy_rwq_ind_table), .destroys = true,
	       .needs = {OP(destroy_rwq_ind_tbl)}, .handler = uv_cmd_ex_destroy_rwq_ind_tbl),
	CMD_EX(MODIFY_CQ, .req_type = TYPE(ex_modify_cq), .needs = {OP(modify_cq), OP(destroy_cq)},
	       .handler = uv_cmd_ex_modify_cq),
};

/* The row of that number, whether the driver has what it needs or not. */
static const struct uv_cmd *row_of(uint32_t command)
{
	bool ex = command & IB_USER_VERBS_CMD_FLAG_EXTENDED;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].ex == ex &&
		    commands[i].nr == (command & IB_USER_VERBS_CMD_COMMAND_MASK))
			return &commands[i];
	return NULL;
}

static int not_supported(struct uv_bundle *b)
{
	return uv_why(b, -EOPNOTSUPP,
		      row_of(b->command) ? "the device does not support it"
					 : "there is no such command");
}

/* For numbers without a command: framed as a plain command without structures, then refused. */
static const struct uv_cmd absent = {.name = "not supported", .handler = not_supported};

const char *uv_cmd_name(const struct uv_bundle *b)
{
	const struct uv_cmd *row = b->cmd == &absent ? row_of(b->command) : b->cmd;

	return row ? row->name : "an unknown command";
}

int uv_cmd_index(struct uv_api *api)
{
	memset(api->cmd, 0, sizeof(api->cmd));
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct uv_cmd *c = &commands[i];

		if (!uv_has_op(api->driver, c->needs[0]) || !uv_has_op(api->driver, c->needs[1]))
			continue;
		if (c->nr >= UV_CMDS || api->cmd[c->ex][c->nr])
			return -EINVAL;
		api->cmd[c->ex][c->nr] = c;
	}
	return 0;
}

const struct uv_cmd *uv_cmd_find(const struct uv_file *f, uint32_t command, int *err)
{
	bool ex = command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	uint32_t nr = command & IB_USER_VERBS_CMD_COMMAND_MASK;

	if (command &
	    ~(uint32_t)(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK)) {
		*err = uv_no(-EINVAL, "unknown bits in the command's number");
		return NULL;
	}
	/* ib_uverbs_write() of Linux 3.13 to 3.19, which has only those of flow steering */
	if (ex && f->sys->no_ex) {
		*err = uv_no(-ENOSYS, "the kernel has no extended commands");
		return NULL;
	}
	if (nr > (ex ? IB_USER_VERBS_EX_CMD_MODIFY_CQ : IB_USER_VERBS_CMD_OPEN_QP)) {
		*err = uv_no(-EOPNOTSUPP, "there is no such command");
		return NULL;
	}
	*err = 0;
	return f->api->cmd[ex][nr] ? f->api->cmd[ex][nr] : &absent;
}

static int run_command(struct uv_bundle *b)
{
	int r;

	if (seg_file_down(b->file->seg, b->file->file) && !b->cmd->destroys)
		return -EIO;
	r = uv_injected(b, NULL, b->cmd->name);
	return r ? r : b->cmd->handler(b);
}

int uv_cmd_invoke_write(struct uv_bundle *b)
{
	uint64_t command = uv_b_const(b, UVERBS_ATTR_WRITE_CMD, 0);
	struct uv_attr *in = uv_b_attr(b, UVERBS_ATTR_CORE_IN);
	struct uv_attr *out = uv_b_attr(b, UVERBS_ATTR_CORE_OUT);
	int err;

	b->command = (uint32_t)command;
	b->cmd = uv_cmd_find(b->file, b->command, &err);
	if (!b->cmd)
		return err;
	if (b->trace) {
		uv_trace_command(b);
		uv_trace_attrs(b);
	}
	if (in) {
		b->core_inlen = in->len;
		if (in->len <= sizeof(in->data))
			b->core_inline = &in->data;
		else
			b->core_in = in->data;
	}
	if (out) {
		b->core_outlen = out->len;
		b->core_out = out->data;
		b->core_out_attr = true;
	}
	if (b->core_inlen < b->cmd->req || b->core_outlen < b->cmd->resp)
		return uv_why(b, -ENOSPC, "CORE_IN or CORE_OUT is shorter than the command");
	return run_command(b);
}

/* ---- write(2) ---- */

static int short_in(struct uv_bundle *b, size_t have)
{
	return uv_why_range(b, -ENOSPC, NULL, "the input is shorter than the command", have,
			    b->cmd->req, UINT16_MAX);
}

static int short_out(struct uv_bundle *b, size_t have)
{
	return uv_why_range(b, -ENOSPC, NULL, "no room for the answer", have, b->cmd->resp,
			    UINT16_MAX);
}

static int verify_ex(struct uv_bundle *b, const struct ib_uverbs_cmd_hdr *h,
		     const struct ib_uverbs_ex_cmd_hdr *x, size_t count)
{
	const struct uv_cmd *c = b->cmd;

	if ((size_t)(h->in_words + x->provider_in_words) * 8 != count - sizeof(*h) - sizeof(*x))
		return uv_why(b, -EINVAL, "in_words is not the length of the write");
	if (h->in_words * 8 < c->req)
		return short_in(b, h->in_words * 8u);
	if (x->cmd_hdr_reserved)
		return uv_why(b, -EINVAL, "reserved bits of the header");
	if (!x->response)
		return h->out_words || x->provider_out_words
			       ? uv_why(b, -EINVAL, "out_words without a place for the answer")
			       : 0;
	if (!h->out_words && !x->provider_out_words)
		return uv_why(b, -EINVAL, "a place for the answer without out_words");
	if (h->out_words * 8 < c->resp)
		return short_out(b, h->out_words * 8u);
	return uv_user_range(x->response, (h->out_words + x->provider_out_words) * 8u) ? 0
										       : -EFAULT;
}

static int verify(struct uv_bundle *b, struct ib_uverbs_cmd_hdr *h, size_t count)
{
	const struct uv_cmd *c = b->cmd;

	if ((size_t)h->in_words * 4 != count)
		return uv_why(b, -EINVAL, "in_words is not the length of the write");
	if (count < c->req + sizeof(*h)) {
		/* rdma-core 18 and 19 send 16 bytes for this command; their kernels accepted it. */
		if (h->command == IB_USER_VERBS_CMD_DESTROY_CQ && count == 16) {
			h->in_words = 6;
			return 0;
		}
		return short_in(b, count - sizeof(*h));
	}
	return h->out_words * 4 < c->resp ? short_out(b, h->out_words * 4u) : 0;
}

static int copy_udata(struct uv_bundle *b, uint64_t from, size_t len)
{
	void *p;

	b->udata.inlen = len;
	if (!len)
		return 0;
	p = uv_b_alloc(b, len);
	b->udata.in = p;
	return p ? uv_copy_from_user(p, from, len) : -ENOMEM;
}

static int write_frame(struct uv_bundle *b, const struct ib_uverbs_cmd_hdr *h, uint64_t buf)
{
	const struct uv_cmd *c = b->cmd;
	size_t in = h->in_words * 4 - sizeof(*h), out = h->out_words * 4;
	uint64_t response = 0;
	int r = 0;

	b->core_in = buf;
	b->core_inlen = in;
	if (c->has_udata) {
		b->core_inlen = c->req;
		r = copy_udata(b, buf + c->req, in - c->req);
	}
	if (!r && c->has_resp) {
		r = uv_copy_from_user(&response, buf, sizeof(response));
		if (c->has_udata) {
			b->udata.outlen = out - c->resp;
			b->udata.out = b->udata.outlen ? response + c->resp : 0;
			out = c->resp;
		}
	}
	b->core_out = response;
	b->core_outlen = out;
	return r;
}

static int frame_ex(struct uv_bundle *b, const struct ib_uverbs_cmd_hdr *h,
		    const struct ib_uverbs_ex_cmd_hdr *x, uint64_t buf)
{
	b->core_in = buf;
	b->core_inlen = h->in_words * 8;
	b->core_out = x->response;
	b->core_outlen = h->out_words * 8;
	b->udata.outlen = x->provider_out_words * 8;
	b->udata.out = b->udata.outlen ? x->response + b->core_outlen : 0;
	return copy_udata(b, buf + b->core_inlen, x->provider_in_words * 8);
}

static int write_run(struct uv_bundle *b, struct ib_uverbs_cmd_hdr *h, uint64_t buf, size_t count)
{
	struct ib_uverbs_ex_cmd_hdr x = {0};
	int r;

	b->command = h->command;
	b->cmd = uv_cmd_find(b->file, h->command, &r);
	if (!b->cmd)
		return r;
	if (b->trace)
		uv_trace_command(b);
	if (b->cmd->ex) {
		if (count < sizeof(*h) + sizeof(x))
			return uv_why(b, -EINVAL, "shorter than the headers");
		if (uv_copy_from_user(&x, buf + sizeof(*h), sizeof(x)))
			return -EFAULT;
		r = verify_ex(b, h, &x, count);
		if (!r)
			r = frame_ex(b, h, &x, buf + sizeof(*h) + sizeof(x));
	} else {
		r = verify(b, h, count);
		if (!r)
			r = write_frame(b, h, buf + sizeof(*h));
	}
	return r ? r : run_command(b);
}

/*
 * The kernel's ib_safe_file_access(): a process tricked into writing to a command file would let it
 * act on that process's memory. Threads share credentials; every fork and exec makes new ones.
 */
static bool may_write(const struct uv_file *f)
{
	struct uv_cred now;

	uv_cred_get(&now);
	return !memcmp(&now, &f->opener, sizeof(now));
}

ssize_t uv_write(struct uv_file *f, const void *buf, size_t count)
{
	struct rec rec;
	struct ib_uverbs_cmd_hdr h;
	struct uv_bundle b;
	uint64_t since;
	int r;

	tap_look(f->seg);
	since = TRACE_ON(LOG_UVERBS) ? clock_now_ns() : 0;
	if (!uv_user_range((uintptr_t)buf, count))
		return -EFAULT;
	if (!may_write(f))
		return uv_refuse_frame("write", NULL, count, -EACCES,
				       "only the process that opened the file may write, with the "
				       "same credentials");
	if (count < sizeof(h))
		return uv_refuse_frame("write", NULL, count, -EINVAL, "shorter than the header");
	if (uv_copy_from_user(&h, (uintptr_t)buf, sizeof(h)))
		return -EFAULT;
	pthread_mutex_lock(&f->lock);
	uv_b_init(&b, f);
	if (since)
		uv_trace_begin(&b, &rec, "write", since);
	r = uv_b_finish(&b, write_run(&b, &h, (uintptr_t)buf, count));
	pthread_mutex_unlock(&f->lock);
	return r ? r : (ssize_t)count;
}
