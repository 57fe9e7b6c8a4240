/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What several open files share, perhaps of several processes: XRC domains that a file stands for,
 * and XRC target QPs. Each sharer has a hw_share of its own; the element belongs to one of them, so
 * that it is reaped with the last. Called by std_xrcd.c and std_qp.c, under hw_hca.share_lock.
 */
#include "uverbs/priv.h"
#include "fw/fw.h"
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/share.h"
#include "segment/lock.h"

static struct hw_hca *hca_of(struct uv_file *f)
{
	return hw_hca(f->seg, f->hca);
}

int uv_share_lock(struct uv_file *f)
{
	int r = seg_lock(f->seg, &hca_of(f)->share_lock, SEG_LOCK_CTRL_NS);

	return r < 0 ? r : 0;
}

void uv_share_unlock(struct uv_file *f)
{
	seg_unlock(f->seg, &hca_of(f)->share_lock);
}

int uv_share_join(struct uv_file *f, enum seg_table_id table, uint32_t idx, uint32_t *share)
{
	struct hw_share *sh;
	int r = seg_alloc(f->seg, SEG_T_SHARE, f->file + 1, share);

	if (r)
		return r == -ENOSPC ? -ENOMEM : r;
	sh = seg_at(f->seg, SEG_T_SHARE, *share);
	sh->hca = f->hca;
	sh->table = table;
	sh->idx = idx;
	sh->slot = f->seg->self;
	atomic_store(&sh->async.evq, SEG_NONE);
	__atomic_store_n(&sh->flags, HW_F_READY, __ATOMIC_RELEASE);
	return 0;
}

bool uv_share_leave(struct uv_file *f, uint32_t share)
{
	const struct hw_share *mine = seg_at(f->seg, SEG_T_SHARE, share);

	if (!fw_share_pass_on(f->seg, mine->table, mine->idx, f->file + 1, share))
		return false;
	seg_free(f->seg, SEG_T_SHARE, share);
	return true;
}
