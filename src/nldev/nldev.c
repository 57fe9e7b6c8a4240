/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the way of a request: which command it is, its ACK or error message, and the datagrams of a
 * dump. netlink.c of the kernel's RDMA core, and netlink_dump() and netlink_ack().
 */
#include "nldev/priv.h"

#include <string.h>
#include "util/log.h"

/* ---- dumps */

int nl_flush(struct nl_dump *p)
{
	struct nldev *d = p->q->d;

	if (p->o->n && !p->err)
		p->err = d->to.answer(d->to.arg, p->o->data, p->o->n);
	p->o->n = 0;
	p->o->full = false;
	return p->err;
}

int nl_dump_one(struct nl_dump *p, uint16_t op, nl_fill *fill, uint32_t hca, uint32_t arg)
{
	for (;;) {
		uint32_t at = p->o->n;
		int r;

		nl_begin(p->o, &p->q->d->to, p->q->h, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
			 NLM_F_MULTI);
		r = fill(p->q, p->o, hca, arg);
		nl_end(p->o);
		if (!p->o->full && !r)
			return 0;
		p->o->n = at;
		p->o->full = false;
		if (r)
			return r;
		if (!at)
			return -EMSGSIZE;
		r = nl_flush(p);
		if (r)
			return r;
	}
}

/* netlink_dump_done() */
static void dump_done(struct nl_dump *p, int err)
{
	struct nl_out *o = p->o;

	nl_flush(p);
	nl_begin(o, &p->q->d->to, p->q->h, NLMSG_DONE, NLM_F_MULTI);
	memcpy(o->data + o->n, &err, sizeof(err));
	o->n += sizeof(err);
	nl_end(o);
	nl_flush(p);
}

/* ---- commands */

#define RES(name, what)                                            \
	static int name##_one(struct nl_req *q, struct nl_out *o)  \
	{                                                          \
		return nl_res_one(q, o, what);                     \
	}                                                          \
	static int name##_all(struct nl_req *q, struct nl_dump *p) \
	{                                                          \
		return nl_res_all(q, p, what);                     \
	}
RES(qp, NL_QP)
RES(cm_id, NL_CM_ID)
RES(cq, NL_CQ)
RES(mr, NL_MR)
RES(pd, NL_PD)
RES(ctx, NL_CTX)
RES(srq, NL_SRQ)

/* The driver has no fill_res_*_entry_raw(): each entry that exists is refused. */
#define RAW(name)                                                     \
	static int name##_raw_one(struct nl_req *q, struct nl_out *o) \
	{                                                             \
		int r = name##_one(q, o);                             \
                                                                      \
		return r ? r : -EINVAL;                               \
	}
RAW(qp)
RAW(cq)
RAW(mr)

static int raw_all(struct nl_req *q, struct nl_dump *p)
{
	return -EINVAL;
}

enum { ADMIN = 1, STRICT = 2, OWN_ERRNO = 4 /* the parser's errno; otherwise -EINVAL */, BARE = 8 };

/* nldev_cb_table. BARE: the dump does not look at attributes. */
static const struct command {
	nl_one *one;
	nl_all *all;
	unsigned int flags;
} commands[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = {nl_get, nl_get_all, BARE},
	[RDMA_NLDEV_CMD_SET] = {nl_set, NULL, ADMIN},
	[RDMA_NLDEV_CMD_NEWLINK] = {nl_newlink, NULL, ADMIN},
	[RDMA_NLDEV_CMD_DELLINK] = {nl_dellink, NULL, ADMIN},
	[RDMA_NLDEV_CMD_PORT_GET] = {nl_port_get, nl_port_get_all},
	[RDMA_NLDEV_CMD_SYS_GET] = {nl_sys_get, NULL, STRICT | OWN_ERRNO},
	[RDMA_NLDEV_CMD_SYS_SET] = {nl_sys_set, NULL, STRICT | ADMIN},
	[RDMA_NLDEV_CMD_RES_GET] = {nl_res_get, nl_res_get_all, BARE},
	[RDMA_NLDEV_CMD_RES_QP_GET] = {qp_one, qp_all},
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {cm_id_one, cm_id_all},
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {cq_one, cq_all},
	[RDMA_NLDEV_CMD_RES_MR_GET] = {mr_one, mr_all},
	[RDMA_NLDEV_CMD_RES_PD_GET] = {pd_one, pd_all},
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {nl_get_chardev, NULL, STRICT},
	[RDMA_NLDEV_CMD_STAT_SET] = {nl_stat_set, NULL, STRICT | ADMIN},
	[RDMA_NLDEV_CMD_STAT_GET] = {nl_stat_get, nl_stat_get_all, STRICT},
	[RDMA_NLDEV_CMD_STAT_DEL] = {nl_stat_del, NULL, STRICT | ADMIN},
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = {qp_raw_one, raw_all, ADMIN},
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = {cq_raw_one, raw_all, ADMIN},
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = {mr_raw_one, raw_all, ADMIN},
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {ctx_one, ctx_all},
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {srq_one, srq_all},
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = {nl_stat_status, NULL, STRICT},
};

/* netlink_dump_start(): its own answer follows in NLMSG_DONE, not in an ACK. */
static int dump(struct nl_req *q, const struct command *c, struct nl_out *o)
{
	struct nl_dump p = {q, o, 0};
	int r = 0;

	if (q->d->dumping)
		return -EBUSY;
	if (!(c->flags & BARE))
		r = nl_parse(q, c->flags & STRICT) ? -EINVAL : 0;
	if (!r)
		r = c->all(q, &p);
	dump_done(&p, r);
	return -EINTR;
}

static int one(struct nl_req *q, const struct command *c, struct nl_out *o)
{
	int r = nl_parse(q, c->flags & STRICT);

	if (r)
		return c->flags & OWN_ERRNO ? r : -EINVAL;
	r = c->one(q, o);
	if (!r && o->full)
		r = -EMSGSIZE;
	if (!r && o->n) {
		nl_end(o);
		r = q->d->to.answer(q->d->to.arg, o->data, o->n);
	}
	return r;
}

/* rdma_nl_rcv_msg(), for the client NLDEV. */
static int nldev_msg(struct nl_req *q)
{
	unsigned int op = RDMA_NL_GET_OP(q->h->nlmsg_type);
	const struct command *c = op < RDMA_NLDEV_NUM_OPS ? &commands[op] : NULL;
	struct nl_out o;

	if (!c || !c->one)
		return -EINVAL;
	if ((c->flags & ADMIN) && !q->d->admin)
		return -EPERM;
	o.n = 0;
	o.msg = 0;
	o.full = false;
	if (!(q->h->nlmsg_flags & NLM_F_DUMP))
		return one(q, c, &o);
	return c->all ? dump(q, c, &o) : -EINVAL;
}

/*
 * Messages of RDMA_NL_LS (ibnl_ls_cb_table): a daemon's answers, which are accepted and dropped as
 * the fabric asks no daemon, and the time-out for such questions (ib_nl_handle_set_timeout()).
 */
static int ls_msg(const struct nl_req *q)
{
	const bool asks = q->h->nlmsg_flags & NLM_F_REQUEST;
	const unsigned int op = RDMA_NL_GET_OP(q->h->nlmsg_type);

	if (op >= RDMA_NL_LS_NUM_OPS)
		return -EINVAL;
	return q->d->admin && asks == (op == RDMA_NL_LS_OP_SET_TIMEOUT) ? 0 : -EPERM;
}

static int handle(struct nl_req *q)
{
	switch (RDMA_NL_GET_CLIENT(q->h->nlmsg_type)) {
	case RDMA_NL_NLDEV:
		return nldev_msg(q);
	case RDMA_NL_LS:
		return ls_msg(q);
	default: /* nobody is registered; IWCM: there is no iWARP adapter */
		return -EINVAL;
	}
}

/* ---- requests */

/* rdma_nl_rcv_skb() */
void nldev_request(struct nldev *n, const void *buf, size_t len)
{
	const uint8_t *at = buf;

	while (len >= NLMSG_HDRLEN) {
		struct nl_req q = {.d = n, .h = (const void *)at};
		size_t step;
		int r = 0;

		if (q.h->nlmsg_len < NLMSG_HDRLEN || q.h->nlmsg_len > len)
			return;
		if (((q.h->nlmsg_flags & NLM_F_REQUEST) ||
		     RDMA_NL_GET_CLIENT(q.h->nlmsg_type) == RDMA_NL_LS) &&
		    q.h->nlmsg_type >= NLMSG_MIN_TYPE)
			r = handle(&q);
		TRACE(LOG_SHIM, "netlink: type %#x flags %#x: %d", q.h->nlmsg_type,
		      q.h->nlmsg_flags, r);
		if (r != -EINTR && (r || (q.h->nlmsg_flags & NLM_F_ACK)))
			nl_ack(&n->to, q.h, r, &q.ext);
		step = NLMSG_ALIGN(q.h->nlmsg_len);
		if (step > len)
			step = len;
		at += step;
		len -= step;
	}
}
