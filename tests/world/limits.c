// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks for more than a small adapter has; the argument says of what. */
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static struct ends e;

static uint32_t at_most(uint32_t want, int has)
{
	return is_right && (int)want > has ? (uint32_t)has : want;
}

static struct ibv_qp *new_qp(struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .cap = cap};

	a.send_cq = a.recv_cq = ibv_create_cq(e.context, 1, NULL, NULL, 0);
	if (!a.send_cq)
		fails("ibv_create_cq", errno);
	return ibv_create_qp(e.pd, &a);
}

static void need(struct ibv_qp_cap cap)
{
	if (new_qp(cap))
		return;
	if (is_right && errno == EOPNOTSUPP)
		lacks("the adapter has no QPs of type RC");
	fails("ibv_create_qp", errno);
}

static void inlined(void)
{
	struct ibv_qp_cap cap = {1, 1, 1, 1, 200};

	if (is_right && !new_qp(cap) && errno == EINVAL)
		cap.max_inline_data = 0;
	need(cap);
}

static void srq(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 16, .max_sge = 1}};

	if (is_right && !e.device.max_srq)
		lacks("the adapter has no SRQs");
	if (!ibv_create_srq(e.pd, &a))
		fails("ibv_create_srq", errno);
}

static void window(void)
{
	if (is_right && !e.device.max_mw)
		lacks("the adapter has no memory windows");
	if (!ibv_alloc_mw(e.pd, IBV_MW_TYPE_1))
		fails("ibv_alloc_mw", errno);
}

static void on_demand(void)
{
	struct ibv_device_attr_ex a;
	int flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;

	if (is_right && (ibv_query_device_ex(e.context, NULL, &a) || !a.odp_caps.general_caps))
		flags = IBV_ACCESS_LOCAL_WRITE;
	if (!ibv_reg_mr(e.pd, e.buf, sizeof(e.buf), flags))
		fails("ibv_reg_mr", errno);
}

static void many_qps(void)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_UD, .cap = {1, 1, 1, 1, 0}};
	uint32_t n = at_most(100, e.device.max_qp);

	a.send_cq = a.recv_cq = ibv_create_cq(e.context, 1, NULL, NULL, 0);
	for (uint32_t i = 0; i < n; i++)
		if (!ibv_create_qp(e.pd, &a))
			fails("ibv_create_qp", errno);
}

static void megabyte(void)
{
	static char buf[1 << 20];

	if (!ibv_reg_mr(e.pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE))
		fails("ibv_reg_mr", errno);
}

static void device_memory(void)
{
	struct ibv_device_attr_ex a = {0};
	struct ibv_alloc_dm_attr dm = {.length = 4096};

	if (is_right && (ibv_query_device_ex(e.context, NULL, &a) || !a.max_dm_size))
		lacks("the adapter, or the kernel, has no device memory");
	if (!ibv_alloc_dm(e.context, &dm))
		fails("ibv_alloc_dm", errno);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	ends_open(&e);
	if (!strcmp(what, "wrs"))
		need((struct ibv_qp_cap){at_most(1000, e.device.max_qp_wr), 1, 1, 1, 0});
	else if (!strcmp(what, "sges"))
		need((struct ibv_qp_cap){1, 1, 1, at_most(8, e.device.max_sge), 0});
	else if (!strcmp(what, "inline"))
		inlined();
	else if (!strcmp(what, "srq"))
		srq();
	else if (!strcmp(what, "window"))
		window();
	else if (!strcmp(what, "on-demand"))
		on_demand();
	else if (!strcmp(what, "qps"))
		many_qps();
	else if (!strcmp(what, "megabyte"))
		megabyte();
	else if (!strcmp(what, "device-memory"))
		device_memory();
	else
		return 2;
	return 0;
}
