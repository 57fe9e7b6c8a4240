/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands by write(2) and by ioctl(2), methods by ioctl(2), and what can be wrong in their frames.
 */
#include "random.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

uint8_t out[OUT_MAX];
int device = -1;
bool rxe;

enum { POISON = 0xa5, RXE_ROOM = 64, DATA_AT = 512 };

/* ---- numbers */

static uint64_t state;

void seed(uint64_t s)
{
	state = s << 32;
}

unsigned int below(unsigned int n)
{
	uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned int)((x ^ x >> 31) % n);
}

bool one_in(unsigned int n)
{
	return !below(n);
}

/* ---- the driver's data */

struct data {
	const void *in;
	size_t in_len, out_len;
};

/* No data path is used: all queues have the same memory. */
static struct data data_of(enum driver_data d)
{
	static const struct mlx5_ib_alloc_ucontext_req_v2 context = {
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR,
	};
	static const struct mlx5_ib_create_cq cq = {
		.buf_addr = MEM, .db_addr = MEM + 0xf000, .cqe_size = 64};
	static const struct mlx5_ib_create_qp qp = {.buf_addr = MEM + 0x4000,
						    .db_addr = MEM + 0xf040,
						    .sq_wqe_count = 16,
						    .rq_wqe_count = 16,
						    .rq_wqe_shift = 4};
	static const struct mlx5_ib_create_qp sender = {
		.buf_addr = MEM + 0x4000, .db_addr = MEM + 0xf040, .sq_wqe_count = 16};
	static const struct mlx5_ib_create_srq srq = {.buf_addr = MEM + 0x8000,
						      .db_addr = MEM + 0xf080};
	static const uint64_t srq_map = MEM + 0xe000; /* struct rxe_modify_srq_cmd */
	static const struct data of_mlx5[] = {
		[FOR_CONTEXT] = {&context, sizeof(context), 72},
		[FOR_PD] = {NULL, 0, 4},
		[FOR_CQ] = {&cq, sizeof(cq), 8},
		[FOR_QP] = {&qp, offsetof(struct mlx5_ib_create_qp, ece_options), 8},
		[FOR_QP_ON_SRQ] = {&sender, offsetof(struct mlx5_ib_create_qp, ece_options), 8},
		[FOR_SRQ] = {&srq, sizeof(srq), 8},
		[FOR_AH] = {NULL, 0, 16},
		[FOR_SRQ_CHANGE] = {&srq_map, sizeof(srq_map), 0},
	};

	if (!rxe)
		return d ? of_mlx5[d] : (struct data){0};
	switch (d) {
	case FOR_CQ:
	case FOR_QP:
	case FOR_QP_ON_SRQ:
	case FOR_SRQ:
		return (struct data){.out_len = RXE_ROOM};
	case FOR_SRQ_CHANGE:
		return of_mlx5[d];
	default:
		return (struct data){0};
	}
}

unsigned int answered(size_t len)
{
	unsigned int n = 0;

	for (size_t i = 0; i + 4 <= len && i + 4 <= sizeof(out); i += 4)
		n += out[i] != POISON || out[i + 1] != POISON || out[i + 2] != POISON ||
		     out[i + 3] != POISON;
	return n;
}

/* ---- write(2) */

static int call_write(const struct command *c)
{
	const bool ex = c->nr & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	const struct data d = data_of(c->data);
	const size_t unit = ex ? 8 : 4, head = ex ? 24 : 8;
	struct ib_uverbs_cmd_hdr h = {.command = c->nr};
	struct ib_uverbs_ex_cmd_hdr x = {0};
	uint64_t to = (uintptr_t)out;
	uint8_t bytes[1024] = {0};
	size_t count = head + c->in_len + d.in_len;

	h.in_words = (uint16_t)((ex ? c->in_len : count) / unit);
	h.out_words = (uint16_t)((c->out_len + (ex ? 0 : d.out_len)) / unit);
	x.provider_in_words = (uint16_t)(d.in_len / 8);
	x.provider_out_words = (uint16_t)(d.out_len / 8);
	switch (below(40)) {
	case 0:
		h.in_words++;
		break;
	case 1:
		count -= unit;
		break;
	case 2: /* a command that is too short has no driver's data */
		if (ex && (d.in_len || d.out_len))
			break;
		count = head + c->in_len - unit;
		h.in_words = (uint16_t)((count - (ex ? head : 0)) / unit);
		break;
	case 3:
		if (!ex || !d.out_len)
			h.out_words = 0;
		break;
	case 4:
		to = NOWHERE;
		break;
	case 5:
		to = 0;
		break;
	case 6:
		x.cmd_hdr_reserved = 1;
		break;
	case 7:
		h.command |= 1u << (8 + below(16));
		break;
	case 8:
		count = below(8);
		break;
	default:
		break;
	}
	if (h.out_words || x.provider_out_words)
		x.response = to;
	memcpy(bytes, &h, sizeof(h));
	if (ex)
		memcpy(bytes + sizeof(h), &x, sizeof(x));
	memcpy(bytes + head, c->in, c->in_len);
	if (!ex && c->out_len)
		memcpy(bytes + head, &to, sizeof(to));
	if (d.in_len)
		memcpy(bytes + head + c->in_len, d.in, d.in_len);
	return write(device, bytes, count) == (ssize_t)count ? 0 : errno;
}

/* ---- ioctl(2) */

struct packet {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[NATTRS + 6];
};

static struct ib_uverbs_attr *add(struct packet *p, uint16_t id, size_t len, const void *at)
{
	struct ib_uverbs_attr *a = &p->attr[p->hdr.num_attrs++];

	*a = (struct ib_uverbs_attr){
		.attr_id = id, .len = (uint16_t)len, .flags = UVERBS_ATTR_F_MANDATORY};
	a->data = (uintptr_t)at;
	return a;
}

/* Break a frame in one of the ways that the core sees before a driver does; it may accept some. */
static void break_frame(struct packet *p)
{
	struct ib_uverbs_attr *a = &p->attr[below(p->hdr.num_attrs)];

	switch (below(17)) {
	case 0:
		p->hdr.length = (uint16_t)(p->hdr.length + 16);
		break;
	case 1:
		p->hdr.length = (uint16_t)(p->hdr.length - 1);
		break;
	case 2:
		p->hdr.reserved1 = 1;
		break;
	case 3:
		p->hdr.reserved2 = 1;
		break;
	case 4:
		p->hdr.driver_id = 99;
		break;
	case 5:
		p->hdr.method_id = (uint16_t)(40 + below(20));
		break;
	case 6:
		p->hdr.object_id = (uint16_t)(40 + below(20));
		break;
	case 7:
		a->flags = 0;
		break;
	case 8:
		a->flags = (uint16_t)(1u << below(16));
		break;
	case 9:
		a->attr_data.reserved = 1;
		break;
	case 10:
		a->len = (uint16_t)(a->len + 1);
		break;
	case 11:
		a->len = (uint16_t)(a->len / 2);
		break;
	case 12:
		*a = p->attr[0];
		break;
	case 13:
		a->attr_id = (uint16_t)(50 + below(10));
		break;
	case 14:
		a->data = NOWHERE;
		break;
	case 15:
		p->hdr.num_attrs--;
		p->hdr.length = (uint16_t)(p->hdr.length - sizeof(*a));
		break;
	default:
		a->attr_id = (uint16_t)(50 + below(10));
		a->flags = 0;
		break;
	}
}

static int call_ioctl(struct packet *p, enum driver_data data, unsigned int wrong_in)
{
	const struct data d = data_of(data);
	const size_t head = sizeof(p->hdr);
	int ret;

	p->hdr.driver_id = rxe ? RDMA_DRIVER_RXE : RDMA_DRIVER_MLX5;
	p->hdr.length = (uint16_t)(head + p->hdr.num_attrs * sizeof(p->attr[0]));
	/* The driver's attributes come last, and stay right. */
	if (one_in(wrong_in) && p->hdr.num_attrs)
		break_frame(p);
	if (d.in_len)
		add(p, UVERBS_ATTR_UHW_IN, d.in_len, d.in);
	if (d.in_len && d.in_len <= 8)
		memcpy(&p->attr[p->hdr.num_attrs - 1].data, d.in, d.in_len);
	if (d.out_len)
		add(p, UVERBS_ATTR_UHW_OUT, d.out_len, out + DATA_AT);
	p->hdr.length = (uint16_t)(p->hdr.length +
				   ((d.in_len != 0) + (d.out_len != 0)) * sizeof(p->attr[0]));
	ret = ioctl(device, RDMA_VERBS_IOCTL, p) ? errno : 0;
	return ret;
}

static int call_invoke(const struct command *c)
{
	struct packet p = {.hdr = {.object_id = UVERBS_OBJECT_DEVICE,
				   .method_id = UVERBS_METHOD_INVOKE_WRITE}};
	struct ib_uverbs_attr *a;
	uint8_t in[512];

	memset(in, 0, sizeof(in));
	memcpy(in, c->in, c->in_len);
	a = add(&p, UVERBS_ATTR_CORE_IN, c->in_len, in);
	if (one_in(30))
		a->len = (uint16_t)(a->len + 8);
	if (one_in(60)) {
		in[c->in_len] = 1;
		a->len = (uint16_t)(c->in_len + 8);
	}
	if (a->len <= 8)
		memcpy(&a->data, in, 8);
	if (c->out_len)
		add(&p, UVERBS_ATTR_CORE_OUT, c->out_len, out);
	a = add(&p, UVERBS_ATTR_WRITE_CMD, 8, NULL);
	a->data = c->nr;
	return call_ioctl(&p, c->data, 8);
}

int call_command(const struct command *c)
{
	memset(out, POISON, sizeof(out));
	return one_in(2) ? call_write(c) : call_invoke(c);
}

int call_method(struct method *m)
{
	struct packet p = {.hdr = {.object_id = m->object, .method_id = m->method}};
	int ret;

	memset(out, POISON, sizeof(out));
	memcpy(p.attr, m->attr, m->n * sizeof(m->attr[0]));
	p.hdr.num_attrs = (uint16_t)m->n;
	ret = call_ioctl(&p, m->data, 5);
	memcpy(m->attr, p.attr, m->n * sizeof(m->attr[0]));
	return ret;
}
