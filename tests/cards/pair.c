/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both ends of a connection, and what is seen at them: see cards.h. */
#include "cards.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

const char *const op_names[] = {"WRITE", "WRITE_IMM", "READ", "SEND", "SEND_IMM", "CAS", "FAA"};
const char *const transport_names[] = {"RC", "UC", "XRC"};

bool is_atomic(enum op op)
{
	return op == CAS || op == FAA;
}

bool receives(enum op op)
{
	return op == SEND || op == SEND_IMM || op == WRITE_IMM;
}

unsigned int right_of(enum op op)
{
	if (op == READ)
		return IBV_ACCESS_REMOTE_READ;
	return is_atomic(op) ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_WRITE;
}

/* ---- objects */

struct ibv_mr *region(void *at, size_t len, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(ad.pd, at, len, (int)access);

	NEED(mr);
	return mr;
}

void to_init(struct ibv_qp *qp, unsigned int rights)
{
	struct ibv_qp_attr at = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = rights};

	NEED(!ibv_modify_qp(qp, &at,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

void to_rtr(struct ibv_qp *qp, const struct options *o, uint32_t dest_qpn, uint16_t lid,
	    const union ibv_gid *gid)
{
	struct ibv_qp_attr at = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = o->mtu ? o->mtu : IBV_MTU_1024,
		.dest_qp_num = dest_qpn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1, /* 10 us */
		.ah_attr = {.dlid = lid,
			    .port_num = 1,
			    .is_global = ad.ethernet,
			    .grh = {.dgid = *gid, .sgid_index = ad.gid_index, .hop_limit = 1}}};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	bool uc = o->t == UC;

	NEED(!ibv_modify_qp(qp, &at,
			    uc ? mask : mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

/* In tests/oracle no time-out but those that are asked for: the machine is slow. */
void rtr_to_rts(struct ibv_qp *qp, const struct options *o)
{
	struct ibv_qp_attr at = {.qp_state = IBV_QPS_RTS,
				 .timeout = o->timeout   ? o->timeout
					    : for_oracle ? 20
							 : 14,
				 .retry_cnt = o->retries,
				 .rnr_retry = o->rnr_retries,
				 .max_rd_atomic = 4};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	NEED(!ibv_modify_qp(qp, &at,
			    o->t == UC ? mask
				       : mask | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

void to_rts(struct ibv_qp *qp, const struct options *o, uint32_t dest_qpn, uint16_t lid,
	    const union ibv_gid *gid)
{
	to_rtr(qp, o, dest_qpn, lid, gid);
	rtr_to_rts(qp, o);
}

void to_state(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr at = {.qp_state = to};

	if (to == IBV_QPS_INIT) {
		to_state(qp, IBV_QPS_RESET);
		to_init(qp, QP_RIGHTS);
	} else {
		NEED(!ibv_modify_qp(qp, &at, IBV_QP_STATE));
	}
}

static void end_make(struct end *e, struct ibv_comp_channel *channel)
{
	e->mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(e->mem != MAP_FAILED);
	e->mr = region(e->mem, BYTES, ALL_RIGHTS);
	NEED(e->cq = ibv_create_cq(ad.ctx, 2 * DEPTH, NULL, channel, 0));
}

static void end_free(struct end *e)
{
	if (e->qp)
		NEED(!ibv_destroy_qp(e->qp));
	if (e->srq)
		NEED(!ibv_destroy_srq(e->srq));
	NEED(!ibv_destroy_cq(e->cq) && !ibv_dereg_mr(e->mr) && !munmap(e->mem, BYTES));
}

static struct ibv_qp *make_qp(struct pair *p, struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = type,
					   .sq_sig_all = !p->o.unsignalled,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = ad.pd};

	if (type == IBV_QPT_XRC_RECV) {
		init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init.xrcd = p->xrcd;
	} else {
		init.send_cq = init.recv_cq = e->cq;
		init.cap = (struct ibv_qp_cap){.max_send_wr = DEPTH,
					       .max_send_sge = 2,
					       .max_inline_data = p->o.inline_data};
		init.srq = type == IBV_QPT_XRC_SEND ? NULL : e->srq;
		if (type != IBV_QPT_XRC_SEND && !e->srq) {
			init.cap.max_recv_wr = DEPTH;
			init.cap.max_recv_sge = 1;
		}
	}
	return ibv_create_qp_ex(ad.ctx, &init);
}

static bool make_xrc(struct pair *p)
{
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex srq = {.attr = {.max_wr = DEPTH, .max_sge = 1},
					   .comp_mask = IBV_SRQ_INIT_ATTR_TYPE |
							IBV_SRQ_INIT_ATTR_XRCD |
							IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
					   .srq_type = IBV_SRQT_XRC,
					   .pd = ad.pd,
					   .cq = p->b.cq};

	p->xrcd = ibv_open_xrcd(ad.ctx, &domain);
	if (!p->xrcd)
		return false;
	srq.xrcd = p->xrcd;
	NEED(p->b.srq = ibv_create_srq_ex(ad.ctx, &srq));
	return true;
}

bool pair_make(struct pair *p, const struct options *o)
{
	enum ibv_qp_type to, from = o->t == UC ? IBV_QPT_UC : IBV_QPT_RC;

	if (for_oracle && o->t == XRC) /* rxe has none */
		return false;
	*p = (struct pair){.o = *o};
	p->mtu = 128u << (o->mtu ? o->mtu : IBV_MTU_1024);
	to = from;
	end_make(&p->a, NULL);
	end_make(&p->b, o->channel);
	if (o->srq) {
		struct ibv_srq_init_attr init = {.attr = {.max_wr = DEPTH, .max_sge = 1}};

		NEED(p->b.srq = ibv_create_srq(o->srq_pd ? o->srq_pd : ad.pd, &init));
	}
	if (o->t == XRC) {
		from = IBV_QPT_XRC_SEND;
		to = IBV_QPT_XRC_RECV;
		if (!make_xrc(p)) {
			pair_free(p);
			return false;
		}
	}
	NEED(p->a.qp = make_qp(p, &p->a, from));
	NEED(p->b.qp = make_qp(p, &p->b, to));
	to_init(p->a.qp, QP_RIGHTS);
	to_init(p->b.qp, QP_RIGHTS & ~o->no_rights);
	if (!o->apart) {
		to_rts(p->b.qp, o, p->a.qp->qp_num, ad.port.lid, &ad.gid);
		to_rts(p->a.qp, o, p->b.qp->qp_num, ad.port.lid, &ad.gid);
	}
	for (uint32_t i = 0; i < BYTES; i++) {
		uint8_t byte = (uint8_t)(i * 7 + i / 251 + 1);

		p->a.mem[i] = byte == FILL ? 0 : byte;
		p->b.mem[i] = FILL;
	}
	return true;
}

void remake_requester(struct pair *p)
{
	NEED(p->a.qp = make_qp(p, &p->a, IBV_QPT_RC));
	to_init(p->a.qp, QP_RIGHTS);
	to_rts(p->b.qp, &p->o, p->a.qp->qp_num, ad.port.lid, &ad.gid);
	to_rts(p->a.qp, &p->o, p->b.qp->qp_num, ad.port.lid, &ad.gid);
}

void pair_free(struct pair *p)
{
	end_free(&p->a);
	end_free(&p->b);
	if (p->xrcd)
		NEED(!ibv_close_xrcd(p->xrcd));
}

/* ---- requests */

struct request good(const struct pair *p, enum op op, uint32_t len)
{
	return (struct request){
		.op = op,
		.len = len,
		.sge = {{(uintptr_t)p->a.mem, is_atomic(op) ? 8 : len, p->a.mr->lkey}},
		.nsge = 1,
		.remote = (uintptr_t)p->b.mem,
		.rkey = p->b.mr->rkey};
}

static void fill(const struct pair *p, const struct request *r, struct ibv_send_wr *wr)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,           IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,       IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD};

	*wr = (struct ibv_send_wr){.wr_id = r->id,
				   .opcode = opcodes[r->op],
				   .send_flags = r->unsignalled ? 0 : IBV_SEND_SIGNALED,
				   .sg_list = (struct ibv_sge *)r->sge,
				   .num_sge = r->nsge};
	if (is_atomic(r->op)) {
		wr->wr.atomic.remote_addr = r->remote;
		wr->wr.atomic.rkey = r->rkey;
		/* Both change a word of FILL. */
		wr->wr.atomic.compare_add = UINT64_C(0xeeeeeeeeeeeeeeee);
		wr->wr.atomic.swap = 1;
	} else {
		wr->wr.rdma.remote_addr = r->remote;
		wr->wr.rdma.rkey = r->rkey;
	}
	if (p->o.t == XRC)
		NEED(!ibv_get_srq_num(p->b.srq, &wr->qp_type.xrc.remote_srqn));
}

int try_post(const struct pair *p, const struct request *r, int n)
{
	struct ibv_send_wr wr[DEPTH], *bad;

	NEED(n && n <= DEPTH);
	for (int i = 0; i < n; i++) {
		fill(p, &r[i], &wr[i]);
		wr[i].next = i < n - 1 ? &wr[i + 1] : NULL;
	}
	return ibv_post_send(p->a.qp, wr, &bad);
}

void post_all(const struct pair *p, const struct request *r, int n)
{
	NEED(!try_post(p, r, n));
}

void post(const struct pair *p, const struct request *r)
{
	post_all(p, r, 1);
}

void post_receive(const struct pair *p, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)p->b.mem, len, p->b.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	NEED(!(p->b.srq ? ibv_post_srq_recv(p->b.srq, &wr, &bad)
			: ibv_post_recv(p->b.qp, &wr, &bad)));
}

/* ---- what is seen */

struct ibv_wc next_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc = {.status = (enum ibv_wc_status)NONE};
	time_t end = time(NULL) + patience;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)) && time(NULL) < end)
		sched_yield();
	if (n != 1)
		wc = (struct ibv_wc){.status = (enum ibv_wc_status)NONE};
	return wc;
}

bool is_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc) == 0;
}

const char *wc_text(const struct ibv_wc *wc, bool vendor_err)
{
	if ((int)wc->status == NONE)
		return "nothing";
	return result((int)wc->status, vendor_err && wc->status ? (int)wc->vendor_err : ANY);
}

enum ibv_qp_state state_of(const struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr at;

	NEED(!ibv_query_qp((struct ibv_qp *)qp, &at, IBV_QP_STATE, &init));
	return at.qp_state;
}

const char *state_name(const struct ibv_qp *qp)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return names[state_of(qp)];
}

uint32_t sq_psn(const struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr at;

	NEED(!ibv_query_qp((struct ibv_qp *)qp, &at, IBV_QP_SQ_PSN, &init));
	return at.sq_psn;
}

const char *events(const struct pair *p, bool wait)
{
	static const struct {
		enum ibv_event_type type;
		const char *name;
	} names[] = {{IBV_EVENT_QP_FATAL, "QP_FATAL"},
		     {IBV_EVENT_QP_REQ_ERR, "REQ_ERR"},
		     {IBV_EVENT_QP_ACCESS_ERR, "ACCESS_ERR"}};
	static bool silent; /* an adapter that did not say it once is not waited for again */
	struct pollfd fd = {.fd = ad.ctx->async_fd, .events = POLLIN};
	const char *all = "";

	wait &= !silent;
	while (poll(&fd, 1, wait && !*all ? patience * 1000 : 0) == 1) {
		struct ibv_async_event ev;

		NEED(!ibv_get_async_event(ad.ctx, &ev));
		for (size_t i = 0; i < COUNT(names); i++)
			if (ev.event_type == names[i].type)
				all = text("%s%s%s %s", all, *all ? ", " : "",
					   ev.element.qp == p->a.qp   ? "a"
					   : ev.element.qp == p->b.qp ? "b"
								      : "?",
					   names[i].name);
		ibv_ack_async_event(&ev);
	}
	silent |= wait && !*all;
	return *all ? all : "none";
}

bool has_event(int seconds)
{
	struct pollfd fd = {.fd = ad.ctx->async_fd, .events = POLLIN};

	return poll(&fd, 1, seconds * 1000) == 1;
}

long landed(const uint8_t *mem, const uint8_t *from, size_t n)
{
	size_t i = 0;

	while (i < n && mem[i] == from[i])
		i++;
	for (size_t k = i; k < n; k++)
		if (mem[k] != FILL)
			return -1;
	return (long)i;
}
