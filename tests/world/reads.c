// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Wants what its QP may be asked for: four READs at a time, or atomic operations, by the argument.
 */
#include "ends.h"

#include <errno.h>
#include <string.h>

static struct ends e;

static struct ibv_qp *qp_in_init(unsigned int access)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = (uint8_t)e.num, .qp_access_flags = access};
	struct ibv_qp *qp;
	int r;

	init.send_cq = init.recv_cq = ibv_create_cq(e.context, 1, NULL, NULL, 0);
	qp = init.send_cq ? ibv_create_qp(e.pd, &init) : NULL;
	if (!qp && is_right && errno == EOPNOTSUPP)
		lacks("the adapter has no QPs of type RC, so neither READs nor atomics");
	if (!qp)
		fails("ibv_create_qp", errno);
	r = ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (r)
		fails("ibv_modify_qp to INIT", r);
	return qp;
}

int main(int argc, char **argv)
{
	bool atomic = argc > 1 && !strcmp(argv[1], "atomic");
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .max_dest_rd_atomic = atomic ? 1 : 4};
	struct ibv_qp *qp;
	int gid, r;

	ends_open(&e);
	if (is_right && atomic && e.device.atomic_cap == IBV_ATOMIC_NONE)
		lacks("the adapter has no atomic operations");
	if (is_right && attr.max_dest_rd_atomic > e.device.max_qp_rd_atom)
		attr.max_dest_rd_atomic = (uint8_t)e.device.max_qp_rd_atom;
	gid = ends_good_gid(&e);
	qp = qp_in_init(atomic ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_READ);
	attr.path_mtu = e.mtu;
	attr.dest_qp_num = qp->qp_num;
	attr.ah_attr = (struct ibv_ah_attr){.dlid = e.port.lid, .port_num = (uint8_t)e.num};
	if (gid >= 0) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.sgid_index = (uint8_t)gid;
		ibv_query_gid(e.context, (uint8_t)e.num, gid, &attr.ah_attr.grh.dgid);
	}
	r = ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (r)
		fails("ibv_modify_qp to RTR", r);
	return 0;
}
