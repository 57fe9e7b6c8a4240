/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm character device on the kernel's side: write(2)s of any bytes to four files of two
 * hosts, events of their ids, files that come and go. The ids are the fake of src/cma. Whatever is
 * written, the answer is an errno or the count, the number of waiting events is the one that was
 * told, and everything goes with the files.
 */
#include <errno.h>
#include <stddef.h>
#include "cma/test_fake.h"
#include "fuzz.h"

#define CALLS 60
#define FILES 4

static struct cma *c;
static bool is_open[FILES];

static void file_open(unsigned int n)
{
	if (is_open[n])
		return;
	is_open[n] = true;
	fz_check(!cma_file_open(c, n + 1, n == 3 ? c->other_host : c->host, 1000 + n, "fuzz"));
}

static void file_close(unsigned int n)
{
	if (!is_open[n])
		return;
	is_open[n] = false;
	cma_file_gone(c, n + 1);
	fz_check(!c->nready[n + 1]);
}

/* ---- commands as a program would write them */

struct words { /* the same in any command */
	uint8_t id, kind;
	uint16_t room;
};

#define ID(t) offsetof(struct rdma_ucm_##t, id)
static const uint16_t id_at[] = {
	[RDMA_USER_CM_CMD_DESTROY_ID] = ID(destroy_id),
	[RDMA_USER_CM_CMD_BIND_IP] = ID(bind_ip),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = ID(resolve_ip),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = ID(resolve_route),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = ID(query),
	[RDMA_USER_CM_CMD_CONNECT] = ID(connect),
	[RDMA_USER_CM_CMD_LISTEN] = ID(listen),
	[RDMA_USER_CM_CMD_ACCEPT] = ID(accept),
	[RDMA_USER_CM_CMD_REJECT] = ID(reject),
	[RDMA_USER_CM_CMD_DISCONNECT] = ID(disconnect),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = ID(init_qp_attr),
	[RDMA_USER_CM_CMD_SET_OPTION] = ID(set_option),
	[RDMA_USER_CM_CMD_NOTIFY] = ID(notify),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = ID(join_ip_mcast),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = ID(destroy_id),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = ID(migrate_id),
	[RDMA_USER_CM_CMD_QUERY] = ID(query),
	[RDMA_USER_CM_CMD_BIND] = ID(bind),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = ID(resolve_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = ID(join_mcast),
};

/* An address of IPv4, IPv6 or AF_IB; its size. */
static uint16_t address(void *to, uint8_t kind)
{
	static const struct {
		sa_family_t family;
		uint16_t size;
	} t[] = {{AF_INET, 16}, {AF_INET6, 28}, {AF_IB, 48}, {0, 0}};

	memcpy(to, &t[kind % 4].family, sizeof(t[0].family));
	return t[kind % 4].size;
}

static void fill_option(struct rdma_ucm_set_option *o, uint8_t kind)
{
	o->level = kind & 1;
	o->optname = o->level ? 1 : kind >> 1 & 3;
	o->optlen = o->level ? 72u * (kind >> 3 & 15) : kind & 8 ? 4 : 1;
}

static void fill(uint32_t cmd, void *body, const struct words *w)
{
	static const uint16_t spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB};
	uint32_t id = w->id;

	if (cmd < sizeof(id_at) / sizeof(id_at[0]) && cmd != RDMA_USER_CM_CMD_GET_EVENT &&
	    cmd != RDMA_USER_CM_CMD_CREATE_ID)
		memcpy((uint8_t *)body + id_at[cmd], &id, sizeof(id));
	switch (cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		*(struct rdma_ucm_create_id *)body =
			(struct rdma_ucm_create_id){.uid = w->id, .ps = spaces[w->kind % 4]};
		break;
	case RDMA_USER_CM_CMD_BIND_IP:
		address(&((struct rdma_ucm_bind_ip *)body)->addr, w->kind);
		break;
	case RDMA_USER_CM_CMD_BIND: {
		struct rdma_ucm_bind *b = body;

		b->addr_size = address(&b->addr, w->kind);
		break;
	}
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		address(&((struct rdma_ucm_resolve_ip *)body)->dst_addr, w->kind);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR: {
		struct rdma_ucm_resolve_addr *r = body;

		r->dst_size = address(&r->dst_addr, w->kind);
		break;
	}
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		address(&((struct rdma_ucm_join_ip_mcast *)body)->addr, w->kind);
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST: {
		struct rdma_ucm_join_mcast *j = body;

		j->addr_size = address(&j->addr, w->kind);
		break;
	}
	case RDMA_USER_CM_CMD_CONNECT:
		((struct rdma_ucm_connect *)body)->conn_param.valid = 1;
		break;
	case RDMA_USER_CM_CMD_ACCEPT:
		((struct rdma_ucm_accept *)body)->conn_param.valid = w->kind & 1;
		((struct rdma_ucm_accept *)body)->uid = w->kind;
		break;
	case RDMA_USER_CM_CMD_QUERY:
		((struct rdma_ucm_query *)body)->option = w->kind % 4;
		break;
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		((struct rdma_ucm_init_qp_attr *)body)->qp_state = w->kind % 8;
		break;
	case RDMA_USER_CM_CMD_SET_OPTION:
		fill_option(body, w->kind);
		break;
	}
}

/* ---- steps */

static void *exact(const void *from, size_t len)
{
	void *p = malloc(len);

	fz_check(p);
	memcpy(p, from, len);
	return p;
}

static void check_answer(const struct rdma_ucm_cmd_hdr *h, const struct ucma_call *k, ssize_t n,
			 size_t answered)
{
	if (n < 0) {
		fz_check(n == -EINVAL || n == -EFAULT || n == -ENOSPC || n == -ENOSYS ||
			 n == -ENOENT || n == -ENXIO || n == -EAGAIN || n == -EADDRINUSE ||
			 n == -EBADF);
		fz_check(!answered);
		return;
	}
	fz_check(n == k->count && h->cmd < ucma_nrows && ucma_rows[h->cmd].name);
	fz_check(!answered || !k->no_response);
	fz_check(answered <= h->out || h->cmd == RDMA_USER_CM_CMD_MIGRATE_ID);
	fz_check(!answered == !ucma_rows[h->cmd].out);
	fz_check(answered <= ucma_rows[h->cmd].out);
}

static void make_aux(struct fz *f, uint32_t cmd, uint8_t how, struct ucma_call *k, uint8_t *aux)
{
	struct ib_path_rec_data rec = {.flags = 1 + 2 + 8 + 32};
	struct ucma_fd fd = {.file = 1 + (fz_u8(f) & 3)};

	if (cmd == RDMA_USER_CM_CMD_MIGRATE_ID) {
		fd.err = how & 1 ? -EINVAL : 0;
		k->aux_len = sizeof(fd);
		memcpy(aux, &fd, sizeof(fd));
	} else if (cmd == RDMA_USER_CM_CMD_SET_OPTION) {
		fz_bytes(f, rec.path_rec, sizeof(rec.path_rec));
		memcpy(aux + (how & 1 ? 72 : 0), &rec, sizeof(rec));
		k->aux_len = how & 2 ? fz_u16(f) % (UCMA_AUX_MAX + 1) : UCMA_AUX_MAX;
		k->aux_err = how & 4 ? -EFAULT : 0;
	}
}

static void do_write(struct fz *f)
{
	static uint8_t aux[UCMA_AUX_MAX], out[UCMA_OUT_MAX];
	struct {
		struct rdma_ucm_cmd_hdr h;
		_Alignas(8) uint8_t body[512];
	} w = {0};
	struct ucma_call k = {.file = 1};
	struct words say;
	uint8_t how = fz_u8(f);
	void *in, *more;
	size_t answered;
	int before;
	ssize_t n;

	memset(aux, 0, sizeof(aux));
	w.h.cmd = fz_u8(f) % (ucma_nrows + 2);
	say = (struct words){.id = fz_u8(f) % 12, .kind = fz_u8(f)};
	w.h.in = w.h.cmd < ucma_nrows ? ucma_rows[w.h.cmd].in : 8;
	w.h.out = how & 4 ? fz_u16(f) % 600 : 512;
	k.count = k.len = (uint32_t)sizeof(w.h) + w.h.in;
	fill(w.h.cmd, w.body, &say);
	if (how & 8) /* bytes over it, and lengths that are not right */
		for (uint8_t i = fz_u8(f) % 8; i; i--) {
			size_t at = fz_u16(f) % (w.h.in + 1u);

			w.body[at] = fz_u8(f);
		}
	if (how & 16)
		k.len = fz_u16(f) % (k.len + 1);
	if (how & 2)
		w.h.in = fz_u16(f) % 400;
	if (how & 1)
		k.count = fz_u16(f);
	k.no_response = how >> 5 & 1;
	k.file = 1 + (how >> 6);
	make_aux(f, w.h.cmd, fz_u8(f), &k, aux);
	in = exact(&w, k.len);
	more = exact(aux, k.aux_len);
	before = c->nready[k.file];
	n = cma_write(c, &k, in, more, out, &answered);
	check_answer(&w.h, &k, n, answered);
	fz_check(is_open[k.file - 1] || n == -EBADF);
	if (n == -EAGAIN)
		fz_check(w.h.cmd == RDMA_USER_CM_CMD_GET_EVENT && !before);
	if (n > 0 && w.h.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		fz_check(c->nready[k.file] == before - 1);
	free(in);
	free(more);
}

static void do_event(struct fz *f)
{
	uint8_t n = fz_u8(f), what = fz_u8(f);
	struct cma_event e = {.event = what % 16, .status = what & 0x10 ? -EINVAL : 0};
	uint8_t data[255];
	struct cma_id *id;

	memset(data, n, sizeof(data));
	TAILQ_FOREACH(id, &c->ids, link)
	if (!n--)
		break;
	if (!id)
		return;
	if (id->qp_type == 4) {
		e.ud.data = data;
		e.ud.len = fz_u8(f);
		e.ud.grh = what >> 5 & 1;
		e.ud.context = (void *)(uintptr_t)(fz_u8(f) % 8);
	} else {
		e.conn.data = data;
		e.conn.len = fz_u8(f);
		if (e.event == RDMA_CM_EVENT_MULTICAST_JOIN ||
		    e.event == RDMA_CM_EVENT_MULTICAST_ERROR) /* of UD ids alone */
			return;
	}
	if (e.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		fake_request(id, &e);
	else
		fake_tell(id, &e);
}

static void step(struct fz *f)
{
	static const int errors[] = {-EINVAL, -EADDRINUSE};
	uint8_t b = fz_u8(f);

	switch (b % 8) {
	case 5:
		do_event(f);
		break;
	case 6:
		c->err = errors[b >> 3 & 1];
		break;
	case 7:
		if (b & 8)
			file_close(b >> 4 & 3);
		else
			file_open(b >> 4 & 3);
		break;
	default:
		do_write(f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};

	if (!c) {
		c = fake_new();
		c->qp_attr.mask = 1 << 7 | 1 << 14; /* IBV_QP_AV, IBV_QP_ALT_PATH */
		fz_cover_from_here();
	}
	for (unsigned int i = 0; i < FILES; i++)
		file_open(i);
	for (int i = 0; i < CALLS && f.n; i++)
		step(&f);
	c->err = 0;
	for (unsigned int i = 0; i < FILES; i++)
		file_close(i);
	fz_check(!c->nids);
	for (int i = 0; i < 64; i++)
		fz_check(!c->nready[i]);
	return 0;
}
