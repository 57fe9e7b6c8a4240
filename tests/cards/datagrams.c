/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams: what the sender's adapter refuses, and what the receiver's drops silently. */
#include "cards.h"

enum { QKEY = 0x11111, GRH = 40 };

struct bed {
	struct pair p; /* its ends; the QPs are made here */
	struct ibv_ah *ah;
};

static struct ibv_qp *datagram_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.send_cq = cq,
					.recv_cq = cq,
					.cap = {.max_send_wr = 16,
						.max_recv_wr = 16,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr at = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	NEED(qp);
	NEED(!ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	at.qp_state = IBV_QPS_RTR;
	NEED(!ibv_modify_qp(qp, &at, IBV_QP_STATE));
	at.qp_state = IBV_QPS_RTS;
	NEED(!ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static struct ibv_ah *to_here(struct ibv_pd *pd, uint8_t traffic_class)
{
	struct ibv_ah_attr to = {.dlid = ad.port.lid,
				 .port_num = 1,
				 .is_global = 1,
				 .grh = {.dgid = ad.gid,
					 .sgid_index = ad.gid_index,
					 .hop_limit = 1,
					 .traffic_class = traffic_class}};
	struct ibv_ah *ah = ibv_create_ah(pd, &to);

	NEED(ah);
	return ah;
}

static void bed_make(struct bed *b, uint8_t traffic_class)
{
	NEED(pair_make(&b->p, &(struct options){.apart = true}));
	NEED(!ibv_destroy_qp(b->p.a.qp) && !ibv_destroy_qp(b->p.b.qp));
	b->p.a.qp = datagram_qp(ad.pd, b->p.a.cq);
	b->p.b.qp = datagram_qp(ad.pd, b->p.b.cq);
	b->ah = to_here(ad.pd, traffic_class);
}

static void bed_free(struct bed *b)
{
	NEED(!ibv_destroy_ah(b->ah));
	pair_free(&b->p);
}

struct datagram {
	enum ibv_wr_opcode opcode;
	uint32_t len, qpn, qkey;
	struct ibv_ah *ah;
};

static struct ibv_wc send(struct bed *b, const struct datagram *d)
{
	struct ibv_sge sge = {(uintptr_t)b->p.a.mem, d->len, b->p.a.mr->lkey};
	struct ibv_send_wr wr = {.opcode = d->opcode,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .wr.ud = {d->ah, d->qpn, d->qkey}},
			   *bad;

	if (ibv_post_send(b->p.a.qp, &wr, &bad))
		return (struct ibv_wc){.status = (enum ibv_wc_status)NONE};
	return next_wc(b->p.a.cq);
}

static struct datagram right(const struct bed *b, uint32_t len)
{
	return (struct datagram){IBV_WR_SEND, len, b->p.b.qp->qp_num, QKEY, b->ah};
}

/* A good datagram behind it takes the receive that was there: the one before took none. */
static const char *kept(struct bed *b)
{
	struct datagram d = right(b, 10);
	struct ibv_wc wc;

	if (state_of(b->p.a.qp) != IBV_QPS_RTS) {
		NEED(!ibv_destroy_qp(b->p.a.qp));
		b->p.a.qp = datagram_qp(ad.pd, b->p.a.cq);
	}
	wc = send(b, &d);
	NEED(wc.status == IBV_WC_SUCCESS);
	wc = next_wc(b->p.b.cq);
	return text("receive %s of %u", wc_text(&wc, true), wc.byte_len);
}

/* No answer tells the sender: success, and the receiver has seen nothing. */
static void dropped(enum fact f, uint32_t len, uint32_t room, uint32_t qpn_bits, uint32_t qkey)
{
	struct datagram d;
	struct ibv_wc wc;
	struct bed b;
	bool none;

	bed_make(&b, 0);
	if (room)
		post_receive(&b.p, room);
	d = right(&b, len);
	d.qpn ^= qpn_bits;
	d.qkey = qkey;
	wc = send(&b, &d);
	none = is_empty(b.p.b.cq);
	if (!room)
		post_receive(&b.p, 64);
	check(f, text("%u bytes, receive of %u", len, room),
	      text("0, no CQE, a RTS, then receive 0 of %u", GRH + 10),
	      text("%s, %s, a %s, then %s", wc_text(&wc, true), none ? "no CQE" : "a CQE",
		   state_name(b.p.a.qp), kept(&b)));
	bed_free(&b);
}

/* The sender's adapter refuses: a moves to SQE, and the receiver has seen nothing. */
static void refused(enum fact f, enum ibv_wr_opcode opcode, uint32_t len, int status)
{
	struct datagram d;
	struct ibv_wc wc;
	const char *was;
	struct bed b;
	bool none;

	bed_make(&b, 0);
	post_receive(&b.p, BYTES);
	d = right(&b, len);
	d.opcode = opcode;
	wc = send(&b, &d);
	was = text("%s, a %s", wc_text(&wc, false), state_name(b.p.a.qp));
	none = is_empty(b.p.b.cq);
	check(f, text("opcode %d, %u bytes", opcode, len),
	      text("%d, a SQE, no CQE, then receive 0 of %u", status, GRH + 10),
	      text("%s, %s, then %s", was, none ? "no CQE" : "a CQE", kept(&b)));
	bed_free(&b);
}

static void traffic_class(uint8_t class)
{
	struct datagram d;
	struct ibv_wc wc;
	uint8_t got;
	struct bed b;

	bed_make(&b, class);
	post_receive(&b.p, 1024);
	d = right(&b, 100);
	NEED(send(&b, &d).status == IBV_WC_SUCCESS);
	wc = next_wc(b.p.b.cq);
	/* RoCE v2 over IPv4: the IP header is in the last 20 bytes; else the class is 4 bits in. */
	got = ad.ethernet && b.p.b.mem[20] == 0x45
		      ? b.p.b.mem[21]
		      : (uint8_t)(b.p.b.mem[0] << 4 | b.p.b.mem[1] >> 4);
	check(ud_class, text("0x%x", class), text("0, GRH, 0x%x", class & 0xfc),
	      text("%s, %s, 0x%x", wc_text(&wc, true), wc.wc_flags & IBV_WC_GRH ? "GRH" : "no GRH",
		   got & 0xfc));
	bed_free(&b);
}

/* An address handle of another PD: refused, or the datagram is lost. */
static void other_pd(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(ad.ctx);
	struct datagram d;
	struct ibv_wc wc;
	struct bed b;

	NEED(pd);
	bed_make(&b, 0);
	d = right(&b, 100);
	NEED(d.ah = to_here(pd, 0));
	wc = send(&b, &d);
	check(ud_ah_pd, "SEND", "0 or 2",
	      wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_LOC_QP_OP_ERR
		      ? "0 or 2"
		      : wc_text(&wc, false));
	NEED(!ibv_destroy_ah(d.ah));
	bed_free(&b);
	NEED(!ibv_dealloc_pd(pd));
}

/* A datagram to an RC QP, and a message of an RC QP to one of datagrams. */
static void mixed(void)
{
	struct datagram d;
	struct request r;
	struct pair rc;
	struct ibv_wc wc;
	struct bed b;
	bool none;

	bed_make(&b, 0);
	NEED(pair_make(&rc, &(struct options){.timeout = 8, .retries = 1}));
	post_receive(&rc, 1024);
	d = right(&b, 100);
	d.qpn = rc.b.qp->qp_num;
	wc = send(&b, &d);
	none = is_empty(rc.b.cq);
	check(ud_to_rc, "SEND", "0, no CQE, the RC QP RTS",
	      text("%s, %s, the RC QP %s", wc_text(&wc, true), none ? "no CQE" : "a CQE",
		   state_name(rc.b.qp)));
	to_state(rc.a.qp, IBV_QPS_RESET);
	to_init(rc.a.qp, QP_RIGHTS);
	to_rts(rc.a.qp, &rc.o, b.p.b.qp->qp_num, ad.port.lid, &ad.gid);
	post_receive(&b.p, 1024);
	r = good(&rc, SEND, 100);
	post(&rc, &r);
	wc = next_wc(rc.a.cq);
	none = is_empty(b.p.b.cq);
	check(rc_to_ud, "SEND", text("%s, no CQE", result(IBV_WC_RETRY_EXC_ERR, 0x81)),
	      text("%s, %s", wc_text(&wc, true), none ? "no CQE" : "a CQE"));
	pair_free(&rc);
	bed_free(&b);
}

/* The receive's memory without its first 40 bytes is the datagram. */
static void arrives(uint32_t len)
{
	struct datagram d;
	struct ibv_wc sent, wc;
	struct bed b;

	bed_make(&b, 0);
	post_receive(&b.p, len + GRH);
	d = right(&b, len);
	sent = send(&b, &d);
	wc = next_wc(b.p.b.cq);
	check(ud_arrives, text("%u bytes, room for just as many", len),
	      text("0, receive 0 of %u, its bytes behind 40", len + GRH),
	      text("%s, receive %s of %u, its bytes %sbehind 40", wc_text(&sent, true),
		   wc_text(&wc, true), wc.byte_len,
		   memcmp(b.p.b.mem + GRH, b.p.a.mem, len) ? "not " : ""));
	bed_free(&b);
}

void datagrams_group(void)
{
	uint32_t mtu = 128u << ad.port.active_mtu;

	arrives(1000);
	arrives(mtu);
	dropped(ud_no_receive, 1000, 0, 0, QKEY);
	dropped(ud_short, 1000, 1000 + GRH - 100, 0, QKEY);
	dropped(ud_short, 100, 100 + GRH - 1, 0, QKEY);
	dropped(ud_qpn, 100, 1024, 0x5a0000, QKEY);
	dropped(ud_qkey, 100, 1024, 0, QKEY + 1);
	refused(ud_long, IBV_WR_SEND, mtu + 10, IBV_WC_LOC_LEN_ERR);
	refused(ud_long, IBV_WR_SEND, 4 * mtu, IBV_WC_LOC_LEN_ERR);
	refused(ud_opcode, IBV_WR_RDMA_READ, 8, IBV_WC_LOC_QP_OP_ERR);
	refused(ud_opcode, IBV_WR_RDMA_WRITE, 8, IBV_WC_LOC_QP_OP_ERR);
	refused(ud_opcode, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_WC_LOC_QP_OP_ERR);
	refused(ud_opcode, IBV_WR_ATOMIC_CMP_AND_SWP, 8, IBV_WC_LOC_QP_OP_ERR);
	traffic_class(0xff);
	traffic_class(0x60);
	other_pd();
	mixed();
}
