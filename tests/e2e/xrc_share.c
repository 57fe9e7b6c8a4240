/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One of several processes that share an XRC domain by a file and its target QP by number:
 * xrc_share FILE make | FILE open QPN. Prints its pid, the QP's number and state, waits for a line,
 * prints the state again. Started by test_xrc.py.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

static int state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	return ibv_query_qp(qp, &a, IBV_QP_STATE, &init) ? -1 : (int)a.qp_state;
}

static struct ibv_qp *make(struct ibv_context *ctx, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp = ibv_create_qp_ex(ctx, &init);

	if (qp &&
	    ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return NULL;
	return qp;
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_xrcd_init_attr x = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS};
	struct ibv_qp_open_attr o = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						  IBV_QP_OPEN_ATTR_TYPE,
				     .qp_type = IBV_QPT_XRC_RECV};
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;

	if (!ctx || argc < 3)
		return 2;
	x.fd = open(argv[1], O_RDONLY);
	x.oflags = strcmp(argv[2], "make") ? 0 : O_CREAT;
	xrcd = ibv_open_xrcd(ctx, &x);
	if (!xrcd)
		return 3;
	o.xrcd = xrcd;
	o.qp_num = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
	qp = argc > 3 ? ibv_open_qp(ctx, &o) : make(ctx, xrcd);
	if (!qp)
		return 4;
	printf("%d %u %d\n", (int)getpid(), qp->qp_num, state(qp));
	fflush(stdout);
	getchar();
	printf("%d\n", state(qp));
	fflush(stdout);
	/*
	 * libmlx5 44 has not initialised everything that it destroys of an opened QP: leave it to
	 * exit().
	 */
	if (argc > 3)
		return 0;
	return ibv_destroy_qp(qp) || ibv_close_xrcd(xrcd) ? 5 : 0;
}
