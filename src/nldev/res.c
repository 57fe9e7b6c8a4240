/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lists of resources. An object's number is its index in the segment; the owner is the
 * process that opened the file to which it belongs. The kernel's own objects are not there.
 */
#include "nldev/priv.h"

#include <string.h>
#include <sys/mman.h>
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/mkey.h"
#include "hw/pd.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/service.h"
#include "hw/srq.h"
#include "segment/proc.h"
#include "util/sys.h"
#include "wire/prm/mkey.h"

/* Numbers of enum ib_srq_type. */
enum { SRQT_BASIC, SRQT_XRC, SRQT_TM };

/* Every element of HW_KINDS starts with these fields. */
struct head {
	uint32_t gen, flags, hca;
};

/* The file that owns an object; SEG_NONE: none does. */
static uint32_t file_of(const struct seg *s, enum seg_table_id t, uint32_t i)
{
	uint32_t owner = seg_owner(s, t, i);

	return owner == SEG_OWNER_FREE || owner == SEG_OWNER_DEVICE || !seg_file(s, owner - 1)
		       ? SEG_NONE
		       : owner - 1;
}

/* fill_res_name_pid(): without the attribute when the opener has ended. */
static void put_pid(struct nl_req *q, struct nl_out *o, uint32_t file)
{
	const struct seg_file *f = seg_file(q->d->s, file);
	const struct seg_proc *p = f ? seg_proc(q->d->s, f->opener) : NULL;

	if (p && p->gen == f->opener_gen && p->pid)
		nl_u32(o, RDMA_NLDEV_ATTR_RES_PID, p->pid);
}

/* The context of an event file or of a command file. */
static uint32_t ctx_of(const struct seg *s, uint32_t file)
{
	const struct seg_file *f = seg_file(s, file);

	return f && f->kind != SEG_FILE_UVERBS && f->parent != SEG_NONE ? f->parent : file;
}

/* ---- entries: each fill_res_*_entry() of the kernel. -EAGAIN: not of that port */

/* enum ib_qp_state */
static uint8_t qp_state(const struct hw_qp *qp)
{
	static const uint8_t state[] = {
		[PRM_QP_STATE_RST] = 0, [PRM_QP_STATE_INIT] = 1, [PRM_QP_STATE_RTR] = 2,
		[PRM_QP_STATE_RTS] = 3, [PRM_QP_STATE_SQD] = 4,  [PRM_QP_STATE_SQER] = 5,
		[PRM_QP_STATE_ERR] = 6,
	};
	uint32_t n = atomic_load(&qp->state);

	return n < sizeof(state) ? state[n] : 6;
}

static int fill_qp(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	const struct hw_qp *qp = hw_qp(q->d->s, i);
	const struct hw_service *sv;

	(void)hca;
	/* fill_res_qp_entry(): ib_qp.port, which stays what a program has set (_ib_modify_qp()) */
	if (!qp || (port && qp->port_num != port))
		return -EAGAIN;
	sv = hw_service(qp->st);
	if (qp->port_num)
		nl_u32(o, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port_num);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_LQPN, i);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_PDN, qp->pdn);
	put_pid(q, o, file_of(q->d->s, SEG_T_QP, i));
	if (sv->connected && !sv->xrc) {
		nl_u32(o, RDMA_NLDEV_ATTR_RES_RQPN, qp->dest_qpn);
		nl_u32(o, RDMA_NLDEV_ATTR_RES_RQ_PSN, qp->next_rcv_psn & 0xffffff);
	}
	nl_u32(o, RDMA_NLDEV_ATTR_RES_SQ_PSN, qp->next_send_psn & 0xffffff);
	if (sv->connected)
		nl_u8(o, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE,
		      (uint8_t)(atomic_load(&qp->mig) & HW_MIG_STATE));
	nl_u8(o, RDMA_NLDEV_ATTR_RES_TYPE, qp->no_sq ? sv->ib_target : sv->ib_type);
	nl_u8(o, RDMA_NLDEV_ATTR_RES_STATE, qp_state(qp));
	return 0;
}

static int fill_cq(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	const struct hw_cq *cq = hw_cq(q->d->s, i);
	uint32_t file = file_of(q->d->s, SEG_T_CQ, i);

	if (!cq)
		return -EAGAIN;
	nl_u32(o, RDMA_NLDEV_ATTR_RES_CQE, (1u << (cq->log_size & 31)) - 1);
	nl_u64(o, RDMA_NLDEV_ATTR_RES_USECNT, cq->refs);
	nl_u8(o, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_CQN, i);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_CTXN, ctx_of(q->d->s, file));
	put_pid(q, o, file);
	return 0;
}

static int fill_mr(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	const struct hw_mkey *m = seg_live(q->d->s, SEG_T_MKEY, i);

	if (!m)
		return -EAGAIN;
	if (q->d->admin) {
		nl_u32(o, RDMA_NLDEV_ATTR_RES_RKEY, m->key);
		nl_u32(o, RDMA_NLDEV_ATTR_RES_LKEY, m->key);
	}
	nl_u64(o, RDMA_NLDEV_ATTR_RES_MRLEN, m->len);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_MRN, i);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_PDN, m->pdn);
	put_pid(q, o, file_of(q->d->s, SEG_T_MKEY, i));
	if (m->odp) { /* restrack.c of mlx5_ib: fill_res_mr_entry() */
		uint32_t table = nl_open(o, RDMA_NLDEV_ATTR_DRIVER | NLA_F_NESTED);

		nl_str(o, RDMA_NLDEV_ATTR_DRIVER_STRING, "odp");
		nl_str(o, RDMA_NLDEV_ATTR_DRIVER_STRING,
		       m->odp == HW_ODP_IMPLICIT ? "implicit" : "explicit");
		nl_close(o, table);
	}
	return 0;
}

/* rdma_nl_stat_hwcounter_entry() */
static void put_counter(struct nl_out *o, const char *name, uint64_t value)
{
	uint32_t entry = nl_open(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED);

	nl_str(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	nl_u64(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	nl_close(o, entry);
}

/* fill_stat_mr_entry() of the kernel's nldev.c and of mlx5_ib's restrack.c */
static int fill_mr_stat(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	const struct hw_mkey *m = seg_live(q->d->s, SEG_T_MKEY, i);
	uint32_t table;

	if (!m)
		return -EAGAIN;
	nl_u32(o, RDMA_NLDEV_ATTR_RES_MRN, i);
	if (!m->odp)
		return 0;
	table = nl_open(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED);
	put_counter(o, "page_faults", atomic_load(&m->faults));
	/* The device keeps no translations of pages, so none becomes invalid. */
	put_counter(o, "page_invalidations", 0);
	put_counter(o, "page_prefetch", atomic_load(&m->prefetched));
	nl_close(o, table);
	return 0;
}

static int fill_pd(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	const struct hw_pd *pd = hw_pd(q->d->s, i);
	uint32_t file = file_of(q->d->s, SEG_T_PD, i);

	if (!pd)
		return -EAGAIN;
	if (q->d->admin)
		nl_u32(o, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY, 0);
	nl_u64(o, RDMA_NLDEV_ATTR_RES_USECNT, pd->refs);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_PDN, i);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_CTXN, ctx_of(q->d->s, file));
	put_pid(q, o, file);
	return 0;
}

static int fill_ctx(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	nl_u32(o, RDMA_NLDEV_ATTR_RES_CTXN, i);
	put_pid(q, o, i);
	return 0;
}

static void put_range(struct nl_out *o, uint32_t min, uint32_t max)
{
	uint32_t place = nl_open(o, RDMA_NLDEV_ATTR_RES_QP_ENTRY | NLA_F_NESTED);

	if (min == max) {
		nl_u32(o, RDMA_NLDEV_ATTR_RES_LQPN, min);
	} else {
		nl_u32(o, RDMA_NLDEV_ATTR_MIN_RANGE, min);
		nl_u32(o, RDMA_NLDEV_ATTR_MAX_RANGE, max);
	}
	nl_close(o, place);
}

/* fill_res_srq_qps(): the SRQ's QPs as ranges of numbers */
static void put_qps(struct nl_req *q, struct nl_out *o, uint32_t srqn)
{
	uint32_t place = nl_open(o, RDMA_NLDEV_ATTR_RES_QP | NLA_F_NESTED), min = 0, prev = 0;

	seg_for_each_live (q->d->s, SEG_T_QP, i) {
		const struct hw_qp *qp = hw_qp(q->d->s, i);

		if (!qp || qp->srqn != srqn || !hw_in_service(&qp->flags))
			continue;
		if (min && i > prev + 1) {
			put_range(o, min, prev);
			min = i;
		}
		if (!min)
			min = i;
		prev = i;
	}
	if (min)
		put_range(o, min, prev);
	nl_close(o, place);
}

static int fill_srq(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port)
{
	const struct hw_srq *srq = hw_srq(q->d->s, i);
	uint8_t type;

	if (!srq)
		return -EAGAIN;
	type = srq->type == HW_SRQ_XRC ? SRQT_XRC : srq->type == HW_SRQ_XRQ ? SRQT_TM : SRQT_BASIC;
	nl_u32(o, RDMA_NLDEV_ATTR_RES_SRQN, i);
	nl_u8(o, RDMA_NLDEV_ATTR_RES_TYPE, type);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_PDN, srq->pdn);
	if (type != SRQT_BASIC)
		nl_u32(o, RDMA_NLDEV_ATTR_RES_CQN, srq->cqn);
	put_qps(q, o, i);
	put_pid(q, o, file_of(q->d->s, SEG_T_SRQ, i));
	return 0;
}

static void put_addr(struct nl_out *o, uint16_t type, const uint8_t a[128])
{
	if (a[0] || a[1]) /* ss_family */
		nl_put(o, type, a, 128);
}

static void fill_cm_id(struct nl_out *o, const struct link_cm_id *c)
{
	if (c->port)
		nl_u32(o, RDMA_NLDEV_ATTR_PORT_INDEX, c->port);
	if (c->qpn) {
		nl_u32(o, RDMA_NLDEV_ATTR_RES_LQPN, c->qpn);
		nl_u8(o, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)c->qp_type);
	}
	nl_u32(o, RDMA_NLDEV_ATTR_RES_PS, c->ps);
	nl_u8(o, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)c->state);
	put_addr(o, RDMA_NLDEV_ATTR_RES_SRC_ADDR, c->src);
	put_addr(o, RDMA_NLDEV_ATTR_RES_DST_ADDR, c->dst);
	nl_u32(o, RDMA_NLDEV_ATTR_RES_CM_IDN, c->number);
	if (c->pid)
		nl_u32(o, RDMA_NLDEV_ATTR_RES_PID, c->pid);
}

/* ---- the kinds */

static const struct kind {
	const char *name; /* in the summary */
	uint16_t table, entry, id;
	bool per_dev; /* NLDEV_PER_DEV */
	enum seg_table_id t;
	int (*fill)(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t i, uint32_t port);
} kinds[] = {
	[NL_PD] = {"pd", RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
		   RDMA_NLDEV_ATTR_RES_PDN, true, SEG_T_PD, fill_pd},
	[NL_CQ] = {"cq", RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
		   RDMA_NLDEV_ATTR_RES_CQN, true, SEG_T_CQ, fill_cq},
	[NL_QP] = {"qp", RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
		   RDMA_NLDEV_ATTR_RES_LQPN, false, SEG_T_QP, fill_qp},
	[NL_CM_ID] = {"cm_id", RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
		      RDMA_NLDEV_ATTR_RES_CM_IDN, false, SEG_T_COUNT, NULL},
	[NL_MR] = {"mr", RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
		   RDMA_NLDEV_ATTR_RES_MRN, true, SEG_T_MKEY, fill_mr},
	[NL_CTX] = {"ctx", RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
		    RDMA_NLDEV_ATTR_RES_CTXN, true, SEG_T_FILE, fill_ctx},
	[NL_SRQ] = {"srq", RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
		    RDMA_NLDEV_ATTR_RES_SRQN, true, SEG_T_SRQ, fill_srq},
	[NL_MR_STAT] = {NULL, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
			RDMA_NLDEV_ATTR_RES_MRN, true, SEG_T_MKEY, fill_mr_stat},
	/* Counters of QPs are refused (stat.c), so there are none. */
	[NL_COUNTER] = {NULL, RDMA_NLDEV_ATTR_STAT_COUNTER, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
			RDMA_NLDEV_ATTR_STAT_COUNTER_ID, false, SEG_T_COUNT, NULL},
};

/* Is that element a resource of the adapter? */
static bool tracked(const struct seg *s, const struct kind *k, uint32_t hca, uint32_t i)
{
	const struct head *h = seg_live(s, k->t, i);
	const struct hw_mkey *m;

	if (!h)
		return false;
	if (k->t == SEG_T_FILE)
		return seg_file(s, i)->kind == SEG_FILE_UVERBS && seg_file(s, i)->hca == hca;
	if (h->hca != hca || !hw_in_service(&h->flags) || file_of(s, k->t, i) == SEG_NONE)
		return false;
	if (k->t != SEG_T_MKEY)
		return true;
	m = seg_at(s, SEG_T_MKEY, i); /* memory windows and the like are lists of other keys */
	return !hw_mkey_indirect(m);
}

/* ---- ids of rdma_cm: a copy of the supervisor's list */

struct cm_list {
	const struct link_cm_id *id;
	size_t n, len;
};

static int cm_get(struct nl_req *q, uint32_t hca, struct cm_list *l)
{
	int fd = q->d->cm_ids(q->d->to.arg, hca);
	struct stat st;
	void *p;
	int r;

	*l = (struct cm_list){0};
	if (fd < 0)
		return fd;
	r = sys_fstat(fd, &st);
	if (!r && st.st_size > 0) {
		p = sys_mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (!sys_is_err(p))
			*l = (struct cm_list){p, (size_t)st.st_size / sizeof(*l->id),
					      (size_t)st.st_size};
	}
	sys_close(fd);
	return r ? r : st.st_size > 0 && !l->id ? -ENOMEM : 0;
}

static void cm_put(struct cm_list *l)
{
	if (l->id)
		sys_munmap((void *)(uintptr_t)l->id, l->len);
}

/* ---- RES_GET: how many of each kind */

static int count(struct nl_req *q, enum nl_res what, uint32_t hca, uint64_t *n)
{
	const struct kind *k = &kinds[what];
	struct cm_list l;
	int r;

	*n = 0;
	if (what == NL_CM_ID) {
		r = cm_get(q, hca, &l);
		*n = l.n;
		if (!r)
			cm_put(&l);
		return r;
	}
	seg_for_each_live (q->d->s, k->t, i)
		*n += tracked(q->d->s, k, hca, i);
	return 0;
}

static int fill_summary(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t arg)
{
	uint32_t table;
	int r = 0;

	nl_handle(q, o, hca);
	table = nl_open(o, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (unsigned int k = 0; !r && k < sizeof(kinds) / sizeof(kinds[0]) && kinds[k].name; k++) {
		uint32_t entry = nl_open(o, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		uint64_t n;

		r = count(q, (enum nl_res)k, hca, &n);
		nl_str(o, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, kinds[k].name);
		nl_u64(o, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, n);
		nl_close(o, entry);
	}
	nl_close(o, table);
	return r;
}

int nl_res_get(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca = nl_hca(q);

	if (hca == SEG_NONE)
		return -EINVAL;
	nl_begin(o, &q->d->to, q->h, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET), 0);
	return fill_summary(q, o, hca, 0);
}

int nl_res_get_all(struct nl_req *q, struct nl_dump *p)
{
	const struct hw_host *h = seg_live(q->d->s, SEG_T_HOST, q->d->host);
	int r = 0;

	for (uint32_t i = 0; !r && h && i < h->nhcas; i++)
		if (hw_hca_is_in(q->d->s, h->hca[i]))
			r = nl_dump_one(p, RDMA_NLDEV_CMD_RES_GET, fill_summary, h->hca[i], 0);
	return r;
}

/* ---- one entry: res_get_common_doit() */

static int one_cm_id(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t id, uint32_t port)
{
	struct cm_list l;
	int r = cm_get(q, hca, &l);

	if (r)
		return r;
	r = -ENOENT;
	for (size_t i = 0; r == -ENOENT && i < l.n; i++) {
		if (l.id[i].number != id)
			continue;
		r = port != l.id[i].port ? -EAGAIN : 0;
		if (!r)
			fill_cm_id(o, &l.id[i]);
	}
	cm_put(&l);
	return r;
}

int nl_res_one(struct nl_req *q, struct nl_out *o, enum nl_res what)
{
	const struct kind *k = &kinds[what];
	uint32_t hca = nl_hca(q), port, id;

	if (hca == SEG_NONE || !q->tb[k->id] || nl_port(q, hca, &port) || !port != k->per_dev)
		return -EINVAL;
	id = nl_get_u32(q->tb[k->id]);
	nl_begin(o, &q->d->to, q->h, q->h->nlmsg_type, 0);
	nl_handle(q, o, hca);
	if (what == NL_CM_ID)
		return one_cm_id(q, o, hca, id, port);
	if (!k->fill || !tracked(q->d->s, k, hca, id))
		return -ENOENT;
	return k->fill(q, o, hca, id, port);
}

/* ---- all entries: res_get_common_dumpit(), as many as fit in each message */

struct list {
	struct nl_dump *p;
	const struct kind *k;
	uint32_t hca, table;
	bool open, filled;
};

static void list_open(struct list *l)
{
	struct nl_out *o = l->p->o;

	nl_begin(o, &l->p->q->d->to, l->p->q->h, l->p->q->h->nlmsg_type, NLM_F_MULTI);
	nl_handle(l->p->q, o, l->hca);
	l->table = nl_open(o, l->k->table);
	l->open = true;
	l->filled = false;
}

static int list_close(struct list *l)
{
	if (!l->open)
		return 0;
	nl_close(l->p->o, l->table);
	nl_end(l->p->o);
	l->open = false;
	return nl_flush(l->p);
}

/* Adds an entry to the list: of the id `c`, or if that is NULL, of the object with index i. */
static int list_add(struct list *l, uint32_t i, uint32_t port, const struct link_cm_id *c)
{
	struct nl_out *o = l->p->o;

	for (;;) {
		uint32_t at, entry;
		int r = 0;

		if (!l->open)
			list_open(l);
		at = o->n;
		entry = nl_open(o, l->k->entry);
		if (c)
			fill_cm_id(o, c);
		else
			r = l->k->fill(l->p->q, o, l->hca, i, port);
		nl_close(o, entry);
		if (!r && !o->full) {
			l->filled = true;
			return 0;
		}
		o->n = at;
		o->full = false;
		if (r == -EAGAIN)
			return 0;
		if (!r && !l->filled)
			r = -EMSGSIZE;
		if (!r)
			r = list_close(l);
		if (r)
			return r;
	}
}

static int list_cm_ids(struct list *l, uint32_t port)
{
	struct cm_list c;
	int r = cm_get(l->p->q, l->hca, &c);

	if (r)
		return r;
	for (size_t i = 0; !r && i < c.n; i++)
		if (!port || c.id[i].port == port)
			r = list_add(l, 0, port, &c.id[i]);
	cm_put(&c);
	return r;
}

int nl_res_all(struct nl_req *q, struct nl_dump *p, enum nl_res what)
{
	struct list l = {.p = p, .k = &kinds[what], .hca = nl_hca(q)};
	uint32_t port;
	int r = 0;

	if (l.hca == SEG_NONE || nl_port(q, l.hca, &port))
		return -EINVAL;
	if (what == NL_CM_ID)
		r = list_cm_ids(&l, port);
	else if (l.k->fill)
		for (uint32_t i = seg_next(q->d->s, l.k->t, SEG_OWNER_ANY, 0); !r && i != SEG_NONE;
		     i = seg_next(q->d->s, l.k->t, SEG_OWNER_ANY, i + 1))
			if (tracked(q->d->s, l.k, l.hca, i))
				r = list_add(&l, i, port, NULL);
	if (!r && l.filled)
		return list_close(&l);
	p->o->n = 0; /* drop the begun message: it has no elements, or an error ends the dump */
	return r;
}
