/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast groups of verbs programs. Called by uverbs through the ops table. */
#include "mlx5/priv.h"
#include "wire/prm/mcg.h"
#include "wire/prm/opcodes.h"

static int mcg(struct uv_qp *qp, enum prm_opcode op, const uint8_t *gid)
{
	uint8_t in[LAYOUT_SZ(attach_to_mcg_in)] = {0}, out[LAYOUT_SZ(attach_to_mcg_out)];

	/* both commands have their fields at the same places */
	LAYOUT_SET(attach_to_mcg_in, in, qpn, qp->qpn);
	memcpy(LAYOUT_IN(attach_to_mcg_in, multicast_gid, in), gid, 16);
	return mlx5_exec(uv_obj_context(&qp->obj), op, NULL, in, sizeof(in), out, sizeof(out));
}

int mlx5_attach_mcast(struct uv_qp *qp, const uint8_t *gid, uint16_t lid)
{
	return mcg(qp, PRM_OP_ATTACH_TO_MCG, gid);
}

int mlx5_detach_mcast(struct uv_qp *qp, const uint8_t *gid, uint16_t lid)
{
	return mcg(qp, PRM_OP_DETACH_FROM_MCG, gid);
}
