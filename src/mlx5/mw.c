/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory windows: each is an indirect key, free until a UMR binds it. Called by uverbs through the
 * ops table.
 */
#include <errno.h>
#include <sys/param.h>
#include "hw/mkey.h"
#include "mlx5/priv.h"
#include "wire/prm/mkey.h"

#define QPN_ANY 0xffffff

/* How many regions the window may lead to: the kernel's roundup() to 4. */
static int mw_request_get(const struct uv_udata *u, uint32_t *entries)
{
	struct mlx5_ib_alloc_mw req = {0};
	const uint8_t *in = u->in;

	if (in)
		memcpy(&req, in, MIN(u->inlen, sizeof(req)));
	if (req.comp_mask || req.reserved1 || req.reserved2)
		return uv_no(-EOPNOTSUPP, "comp_mask and reserved are 0");
	for (size_t i = sizeof(req); i < u->inlen; i++)
		if (in[i])
			return uv_no(-EOPNOTSUPP, "unknown bytes of the driver's data are not 0");
	*entries = roundup(req.num_klms ? req.num_klms : 1, 4);
	return 0;
}

int mlx5_alloc_mw(struct uv_mw *mw, struct uv_udata *u)
{
	uint8_t in[LAYOUT_SZ(create_mkey_in)] = {0}, out[LAYOUT_SZ(create_mkey_out)];
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);
	struct uv_context *ctx = uv_obj_context(&mw->obj);
	struct {
		uint32_t comp_mask, response_length;
	} resp = {0};
	uint8_t variant = mlx5_key_variant(ctx);
	uint32_t entries = 0;
	int r = mw_request_get(u, &entries);

	if (r < 0)
		return r;
	LAYOUT_SET(mkc, mkc, free, 1);
	LAYOUT_SET(mkc, mkc, translations_octword_size, entries);
	LAYOUT_SET(mkc, mkc, pd, mw->pd->pdn);
	LAYOUT_SET(mkc, mkc, umr_en, 1);
	LAYOUT_SET(mkc, mkc, lr, 1);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, PRM_MKC_KLM);
	LAYOUT_SET(mkc, mkc, en_rinval, mw->type == IBV_MW_TYPE_2);
	LAYOUT_SET(mkc, mkc, qpn, QPN_ANY);
	LAYOUT_SET(mkc, mkc, mkey_7_0, variant);
	r = MLX5_EXEC(ctx, CREATE_MKEY, NULL, in, out);
	if (r < 0)
		return r;
	mw->rkey = LAYOUT_GET32(create_mkey_out, out, mkey_index) << 8 | variant;
	resp.response_length = (uint32_t)MIN(u->outlen, sizeof(resp));
	if (resp.response_length)
		r = uv_udata_out(u, &resp, resp.response_length);
	if (r < 0)
		mlx5_exec_id(ctx, PRM_OP_DESTROY_MKEY, mw->rkey >> 8);
	return r;
}

int mlx5_dealloc_mw(struct uv_mw *mw)
{
	return mlx5_exec_id(uv_obj_context(&mw->obj), PRM_OP_DESTROY_MKEY, mw->rkey >> 8);
}
