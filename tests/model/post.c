/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work requests of a step: posted as one list, by either family of calls. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "exec.h"

static const struct {
	const char *name;
	enum ibv_wr_opcode opcode;
} opcodes[] = {
	{"SEND", IBV_WR_SEND},
	{"SEND_IMM", IBV_WR_SEND_WITH_IMM},
	{"SEND_INV", IBV_WR_SEND_WITH_INV},
	{"WRITE", IBV_WR_RDMA_WRITE},
	{"WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM},
	{"READ", IBV_WR_RDMA_READ},
	{"CAS", IBV_WR_ATOMIC_CMP_AND_SWP},
	{"FAA", IBV_WR_ATOMIC_FETCH_AND_ADD},
	{"BIND", IBV_WR_BIND_MW},
	{"INV", IBV_WR_LOCAL_INV},
};

static enum ibv_wr_opcode opcode_of(const char *name)
{
	size_t i = 0;

	while (strcmp(opcodes[i].name, name))
		i++;
	return opcodes[i].opcode;
}

static unsigned int flags_of(const char *letters)
{
	unsigned int f = 0;

	for (; letters && *letters; letters++)
		f |= *letters == 'S'   ? IBV_SEND_SIGNALED
		     : *letters == 'E' ? IBV_SEND_SOLICITED
		     : *letters == 'F' ? IBV_SEND_FENCE
				       : IBV_SEND_INLINE;
	return f;
}

static uint32_t qpn_of(const struct words *w, const char *name)
{
	int i = nr(w, name);

	if (word(w, name)[0] == 'g')
		return 0xffffff;
	return i >= 0 && o.qp[i].qp ? o.qp[i].qp->qp_num : 0xabcdef;
}

static struct ibv_mw_bind_info bind_info(const struct words *w)
{
	int mr = nr(w, "mr");
	struct ibv_mw_bind_info b = {.mr = mr < 0 ? NULL : o.mr[mr].mr,
				     .addr = (uintptr_t)o.arena + num(w, "off", 0),
				     .length = num(w, "len", 0),
				     .mw_access_flags = rights(word(w, "acc"))};

	if (!b.length)
		b.addr = 0;
	return b;
}

/* A window gets its next key when the bind is posted, whatever becomes of it. */
static uint32_t next_key(struct mw *m, const struct words *w)
{
	if (!num(w, "same", 0))
		m->key = ibv_inc_rkey(m->key);
	return m->key;
}

static uint32_t key_word(const struct words *w, const char *name)
{
	const char *s = word(w, name);
	char text[16];

	if (!s)
		return 0;
	snprintf(text, sizeof(text), "%s%s", s,
		 name[0] == 'w' && word(w, "which") ? word(w, "which") : "");
	return key_of(text);
}

static struct ibv_ah *ah_of(const struct words *w, const struct qp *q)
{
	if (word(w, "to")[0] == 'g')
		return q->group_ah[nr(w, "to")];
	return num(w, "grh", 0) ? q->grh_ah : q->ah;
}

static void describe(struct ibv_send_wr *s, const struct words *w, struct qp *q)
{
	int srq = nr(w, "srq");

	s->wr_id = num(w, "id", 0);
	s->opcode = opcode_of(word(w, "op"));
	s->send_flags = flags_of(word(w, "fl"));
	if (s->opcode == IBV_WR_BIND_MW) {
		s->bind_mw.mw = o.mw[nr(w, "w")].mw;
		s->bind_mw.rkey = next_key(&o.mw[nr(w, "w")], w);
		s->bind_mw.bind_info = bind_info(w);
		return;
	}
	s->imm_data = htobe32((uint32_t)num(w, "imm", 0));
	if (s->opcode == IBV_WR_LOCAL_INV)
		s->invalidate_rkey = key_word(w, "w");
	if (s->opcode == IBV_WR_SEND_WITH_INV)
		s->invalidate_rkey = key_word(w, "inv");
	if (!strcmp(q->type, "UD")) {
		s->wr.ud.ah = ah_of(w, q);
		s->wr.ud.remote_qpn = qpn_of(w, "to");
		s->wr.ud.remote_qkey = (uint32_t)num(w, "qkey", 0);
	} else if (!strcmp(word(w, "op"), "CAS") || !strcmp(word(w, "op"), "FAA")) {
		s->wr.atomic.remote_addr = (uintptr_t)o.arena + num(w, "ra", 0);
		s->wr.atomic.rkey = key_word(w, "rk");
		s->wr.atomic.compare_add = num(w, word(w, "add") ? "add" : "cmp", 0);
		s->wr.atomic.swap = num(w, "swap", 0);
	} else {
		s->wr.rdma.remote_addr = (uintptr_t)o.arena + num(w, "ra", 0);
		s->wr.rdma.rkey = key_word(w, "rk");
	}
	if (srq >= 0 && o.srq[srq])
		NEED(!ibv_get_srq_num(o.srq[srq], &s->qp_type.xrc.remote_srqn));
}

static void post_ex_op(struct ibv_qp_ex *x, const struct ibv_send_wr *s)
{
	switch ((int)s->opcode) {
	case IBV_WR_SEND:
		return ibv_wr_send(x);
	case IBV_WR_SEND_WITH_IMM:
		return ibv_wr_send_imm(x, s->imm_data);
	case IBV_WR_SEND_WITH_INV:
		return ibv_wr_send_inv(x, s->invalidate_rkey);
	case IBV_WR_RDMA_WRITE:
		return ibv_wr_rdma_write(x, s->wr.rdma.rkey, s->wr.rdma.remote_addr);
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return ibv_wr_rdma_write_imm(x, s->wr.rdma.rkey, s->wr.rdma.remote_addr,
					     s->imm_data);
	case IBV_WR_RDMA_READ:
		return ibv_wr_rdma_read(x, s->wr.rdma.rkey, s->wr.rdma.remote_addr);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return ibv_wr_atomic_cmp_swp(x, s->wr.atomic.rkey, s->wr.atomic.remote_addr,
					     s->wr.atomic.compare_add, s->wr.atomic.swap);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return ibv_wr_atomic_fetch_add(x, s->wr.atomic.rkey, s->wr.atomic.remote_addr,
					       s->wr.atomic.compare_add);
	case IBV_WR_BIND_MW:
		return ibv_wr_bind_mw(x, s->bind_mw.mw, s->bind_mw.rkey, &s->bind_mw.bind_info);
	default:
		return ibv_wr_local_inv(x, s->invalidate_rkey);
	}
}

static void post_ex_data(struct ibv_qp_ex *x, const struct ibv_send_wr *s)
{
	struct ibv_data_buf bufs[MAX_SGES];

	if (s->opcode == IBV_WR_BIND_MW || s->opcode == IBV_WR_LOCAL_INV)
		return;
	if (!(s->send_flags & IBV_SEND_INLINE)) {
		ibv_wr_set_sge_list(x, (size_t)s->num_sge, s->sg_list);
		return;
	}
	for (int i = 0; i < s->num_sge; i++)
		bufs[i] = (struct ibv_data_buf){(void *)(uintptr_t)s->sg_list[i].addr,
						s->sg_list[i].length};
	ibv_wr_set_inline_data_list(x, (size_t)s->num_sge, bufs);
}

static int post_ex(struct qp *q, struct ibv_send_wr *s, const struct words *wr)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(q->qp);

	ibv_wr_start(x);
	for (; s; s = s->next, wr++) {
		x->wr_id = s->wr_id;
		x->wr_flags = s->send_flags;
		post_ex_op(x, s);
		/* This would overwrite a request that has no such segment. */
		if (!strcmp(q->type, "XI") && s->opcode != IBV_WR_BIND_MW &&
		    s->opcode != IBV_WR_LOCAL_INV)
			ibv_wr_set_xrc_srqn(x, s->qp_type.xrc.remote_srqn);
		if (!strcmp(q->type, "UD"))
			ibv_wr_set_ud_addr(x, s->wr.ud.ah, s->wr.ud.remote_qpn,
					   s->wr.ud.remote_qkey);
		if (!strcmp(q->type, "DCI"))
			mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(x), ah_of(wr, q),
					      qpn_of(wr, "to"), num(wr, "dckey", 0));
		post_ex_data(x, s);
	}
	return ibv_wr_complete(x);
}

static int bind_type_1(struct qp *q, const struct words *w)
{
	struct mw *m = &o.mw[nr(w, "w")];
	struct ibv_mw_bind b = {.wr_id = num(w, "id", 0),
				.send_flags = flags_of(word(w, "fl")),
				.bind_info = bind_info(w)};
	int err = ibv_bind_mw(q->qp, m->mw, &b);

	m->key = m->mw->rkey;
	return err;
}

int post_send(struct words *head, struct words *wr, int n)
{
	struct qp *q = &o.qp[nr(head, "q")];
	struct ibv_send_wr s[MAX_WRS] = {{0}}, *bad;
	struct ibv_sge sge[MAX_WRS][MAX_SGES];

	if (!strcmp(word(wr, "op"), "BIND") && o.mw[nr(wr, "w")].mw->type == IBV_MW_TYPE_1)
		return bind_type_1(q, wr);
	for (int i = 0; i < n; i++) {
		describe(&s[i], &wr[i], q);
		s[i].sg_list = sge[i];
		s[i].num_sge = sge_list(&wr[i], sge[i]);
		s[i].next = i + 1 < n ? &s[i + 1] : NULL;
	}
	return q->ex ? post_ex(q, s, wr) : ibv_post_send(q->qp, s, &bad);
}

int post_recv(struct words *head, struct words *wr, int n)
{
	struct ibv_recv_wr r[MAX_WRS] = {{0}}, *bad;
	struct ibv_sge sge[MAX_WRS][MAX_SGES];
	int to = nr(head, "to");

	for (int i = 0; i < n; i++) {
		r[i].wr_id = num(&wr[i], "id", 0);
		r[i].sg_list = sge[i];
		r[i].num_sge = sge_list(&wr[i], sge[i]);
		r[i].next = i + 1 < n ? &r[i + 1] : NULL;
	}
	return word(head, "to")[0] == 's' ? ibv_post_srq_recv(o.srq[to], r, &bad)
					  : ibv_post_recv(o.qp[to].qp, r, &bad);
}
