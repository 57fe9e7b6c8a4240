/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects that several open files share, perhaps of several processes: XRC domains named by a file,
 * and XRC target QPs. Each sharer has a hw_share; one of them owns the object, so that it is reaped
 * with the last. Called by xrc.c, and by uverbs for the lock.
 */
#include <errno.h>
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/share.h"
#include "mlx5/priv.h"
#include "segment/lock.h"

int mlx5_share_lock(struct uv_context *ctx)
{
	int r = seg_lock(ctx->seg, &hw_hca(ctx->seg, ctx->hca)->share_lock, SEG_LOCK_CTRL_NS);

	return r < 0 ? r : 0;
}

void mlx5_share_unlock(struct uv_context *ctx)
{
	seg_unlock(ctx->seg, &hw_hca(ctx->seg, ctx->hca)->share_lock);
}

int mlx5_share_join(struct uv_context *ctx, enum seg_table_id table, uint32_t idx, uint32_t *share)
{
	struct hw_share *sh;
	int r = seg_alloc(ctx->seg, SEG_T_SHARE, ctx->seg_file + 1, share);

	if (r)
		return r == -ENOSPC ? -ENOMEM : r;
	sh = seg_at(ctx->seg, SEG_T_SHARE, *share);
	sh->hca = ctx->hca;
	sh->table = table;
	sh->idx = idx;
	sh->slot = ctx->seg->self;
	atomic_store(&sh->async.evq, SEG_NONE);
	__atomic_store_n(&sh->flags, HW_F_READY, __ATOMIC_RELEASE);
	return 0;
}

bool mlx5_share_leave(struct uv_context *ctx, uint32_t share)
{
	const struct hw_share *mine = seg_at(ctx->seg, SEG_T_SHARE, share);

	if (!fw_share_pass_on(ctx->seg, mine->table, mine->idx, ctx->seg_file + 1, share))
		return false;
	seg_free(ctx->seg, SEG_T_SHARE, share);
	return true;
}
