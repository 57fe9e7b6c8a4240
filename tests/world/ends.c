// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void lacks(const char *what)
{
	printf("%s\n", what);
	exit(77);
}

void fails(const char *what, int err)
{
	const char *hint = "";

	if (is_right && err == ENOMEM)
		hint = " (RLIMIT_MEMLOCK, see ulimit -l, or the adapter has no more)";
	if (is_right && err == EACCES)
		hint = " (its owner and mode: the udev rules of rdma-core are missing?)";
	printf("%s%s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "", hint);
	exit(*hint ? 77 : 1);
}

/* libibverbs tries several files, and errno is that of the last. */
static void __attribute__((noreturn)) fails_to_open(const struct ibv_device *d)
{
	int err = errno;
	char path[128];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", d->dev_name);
	fails(path, access(path, R_OK | W_OK) ? errno : err);
}

/* The first entry that is a full membership. */
static int good_pkey(struct ibv_context *ctx, int num, int entries)
{
	__be16 pkey;

	for (int i = 0; i < entries; i++)
		if (!ibv_query_pkey(ctx, (uint8_t)num, i, &pkey) && ntohs(pkey) & 0x8000)
			return i;
	lacks("the port is a limited member of all its partitions");
}

void ends_take(struct ends *e, struct ibv_device *device, int num)
{
	e->context = ibv_open_device(device);
	if (!e->context)
		fails_to_open(device);
	if (ibv_query_device(e->context, &e->device))
		fails("ibv_query_device", errno);
	if (ibv_query_port(e->context, (uint8_t)num, &e->port))
		fails("ibv_query_port", errno);
	e->num = e->last = num;
	e->mtu = e->port.active_mtu;
	e->length = 8;
	e->count = 1;
	e->a = e->b = (struct end){.gid_index = -1, .num = num};
	e->a.pkey_index = e->b.pkey_index = good_pkey(e->context, num, e->port.pkey_tbl_len);
	e->pd = ibv_alloc_pd(e->context);
	e->mr = e->pd ? ibv_reg_mr(e->pd, e->buf, sizeof(e->buf),
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE)
		      : NULL;
	if (!e->mr)
		fails("ibv_reg_mr", errno);
}

/* Its first and last port that is ACTIVE; first is 0 if none is. */
static void active_ports(struct ibv_context *ctx, int *first, int *last)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	*first = *last = 0;
	if (ibv_query_device(ctx, &device))
		fails("ibv_query_device", errno);
	for (int i = 1; i <= device.phys_port_cnt; i++) {
		if (ibv_query_port(ctx, (uint8_t)i, &port) || port.state != IBV_PORT_ACTIVE)
			continue;
		*first = *first ? *first : i;
		*last = i;
	}
}

/* Opens it if it has a port that is ACTIVE. */
static bool take_active(struct ends *e, struct ibv_device *device)
{
	struct ibv_context *ctx = ibv_open_device(device);
	int first, last;

	if (!ctx)
		fails_to_open(device);
	active_ports(ctx, &first, &last);
	ibv_close_device(ctx);
	if (!first)
		return false;
	ends_take(e, device, first);
	e->last = last;
	return true;
}

static struct ibv_device **devices(int *n)
{
	struct ibv_device **list = ibv_get_device_list(n);

	if (!list || !*n)
		lacks("there is no adapter");
	return list;
}

void ends_open(struct ends *e)
{
	int n;
	struct ibv_device **list = devices(&n);

	for (int i = 0; i < n; i++)
		if (take_active(e, list[i])) {
			ibv_free_device_list(list);
			return;
		}
	lacks("no port is ACTIVE");
}

struct ends *ends_open_all(int *active)
{
	int n, have = 0;
	struct ibv_device **list = devices(&n);
	struct ends *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; all && i < n; i++)
		have += take_active(&all[have], list[i]);
	ibv_free_device_list(list);
	if (!have)
		lacks("no port is ACTIVE");
	*active = have;
	return all;
}

static bool is_ip4(const union ibv_gid *g)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(g->raw, prefix, sizeof(prefix));
}

int ends_good_gid(struct ends *e)
{
	size_t entries = (size_t)e->port.gid_tbl_len * e->device.phys_port_cnt;
	struct ibv_gid_entry *entry;
	int any = -1;
	ssize_t n;

	if (e->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return e->port.flags & IBV_QPF_GRH_REQUIRED ? 0 : -1;
	entry = calloc(entries, sizeof(*entry));
	n = entry ? ibv_query_gid_table(e->context, entry, entries, 0) : 0;
	for (ssize_t i = 0; i < n; i++) {
		if (entry[i].port_num != (uint32_t)e->num ||
		    entry[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (is_ip4((const union ibv_gid *)&entry[i].gid))
			return (int)entry[i].gid_index;
		any = (int)entry[i].gid_index;
	}
	if (any < 0)
		lacks("the port has no GID of RoCE v2");
	return any;
}

static void make(struct ends *e, struct end *t)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .cap = {e->count, e->count, 1, 1, 0}, .sq_sig_all = 1};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .pkey_index = (uint16_t)t->pkey_index,
				   .qp_access_flags = e->access,
				   .port_num = (uint8_t)t->num};
	int r;

	t->cq = ibv_create_cq(e->context, (int)(e->cqe ? e->cqe : e->count + 1), NULL,
			      t == &e->a ? e->channel : NULL, 0);
	if (!t->cq)
		fails("ibv_create_cq", errno);
	init.send_cq = init.recv_cq = t->cq;
	t->qp = ibv_create_qp(e->pd, &init);
	if (!t->qp && errno == EOPNOTSUPP)
		lacks("the adapter has no QPs of type RC");
	if (!t->qp)
		fails("ibv_create_qp", errno);
	r = ibv_modify_qp(t->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (r)
		fails("ibv_modify_qp to INIT", r);
	if (ibv_query_port(e->context, (uint8_t)t->num, &t->port))
		fails("ibv_query_port", errno);
	if (t->gid_index >= 0 && ibv_query_gid(e->context, (uint8_t)t->num, t->gid_index, &t->gid))
		fails("ibv_query_gid", errno);
}

static void join(struct ends *e, struct end *t, const struct end *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = e->mtu,
				   .dest_qp_num = peer->qp->qp_num,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 1,
				   .ah_attr = {.dlid = (uint16_t)(peer->port.lid + peer->lid_bits),
					       .src_path_bits = t->src_path_bits,
					       .port_num = (uint8_t)t->num}};
	int r;

	if (t->gid_index >= 0) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = peer->gid;
		attr.ah_attr.grh.sgid_index = (uint8_t)t->gid_index;
		attr.ah_attr.grh.hop_limit = 64;
	}
	r = ibv_modify_qp(t->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (r)
		fails("ibv_modify_qp to RTR", r);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 12,
				    .retry_cnt = 2,
				    .rnr_retry = 7,
				    .max_rd_atomic = 1};
	r = ibv_modify_qp(t->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (r)
		fails("ibv_modify_qp to RTS", r);
}

static void connect_to(struct ends *from, struct ends *to)
{
	make(to, &to->a);
	make(from, &from->b);
	join(to, &to->a, &from->b);
	join(from, &from->b, &to->a);
}

void ends_connect(struct ends *e)
{
	connect_to(e, e);
}

static void post(struct ends *from, struct ends *to)
{
	char *message = from->buf + sizeof(from->buf) / 2;
	struct ibv_sge into = {(uintptr_t)to->buf, to->length, to->mr->lkey};
	struct ibv_sge of = {(uintptr_t)message, from->length, from->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &into, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &of, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	int r = 0;

	strcpy(message, "message");
	for (uint32_t i = 0; i < to->count && !r; i++)
		r = ibv_post_recv(to->a.qp, &recv, &bad_recv);
	for (uint32_t i = 0; i < from->count && !r; i++)
		r = ibv_post_send(from->b.qp, &send, &bad);
	if (r)
		fails("ibv_post", r);
}

void ends_post(struct ends *e)
{
	post(e, e);
}

void ends_wait(struct end *t, const char *what)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(t->cq, 1, &wc)))
		;
	if (n < 0)
		fails("ibv_poll_cq", errno);
	if (wc.status) {
		printf("%s: %s\n", what, ibv_wc_status_str(wc.status));
		exit(1);
	}
}

void ends_send_to(struct ends *from, struct ends *to)
{
	connect_to(from, to);
	post(from, to);
	for (uint32_t i = 0; i < from->count; i++) {
		ends_wait(&from->b, "send");
		ends_wait(&to->a, "receive");
	}
	if (strcmp(to->buf, "message") != 0)
		fails("the message is another one", 0);
}

void ends_send(struct ends *e)
{
	ends_send_to(e, e);
}
