/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names the objects that use another one, for the refusal of a command that would destroy it.
 * Called by exec.c and trace.c after the refusal; the references are those of the kinds' rows.
 */
#include "fw/priv.h"

#include <string.h>
#include "hw/flags.h"
#include "util/fmt.h"

#define USERS_SHOWN 4

static bool refers_to(const struct fw_kind *k, const void *e, enum seg_table_id table, uint32_t idx)
{
	uint32_t to;

	for (size_t i = 0; i < FW_KIND_REFERS && k->refers[i].at; i++) {
		memcpy(&to, (const uint8_t *)e + k->refers[i].at, sizeof(to));
		if (k->refers[i].table == table && to == idx)
			return true;
	}
	return false;
}

size_t fw_users(const struct fw_call *k, const struct fw_refusal *f, char *text, size_t size)
{
	int table = k->cmd && k->cmd->object < 0 ? fw_table_of(k->cmd->obj) : -1;
	const char *field = strrchr(f->field, '.');
	uint32_t bit, width, idx, n = 0;
	size_t at = 0;

	*text = '\0';
	if (f->status != FW_BAD_RES_STATE || table < 0 || !field ||
	    strncmp(f->field, k->cmd->in->name, strlen(k->cmd->in->name)) != 0 ||
	    !layout_find(k->cmd->in, f->field, &bit, &width))
		return 0;
	idx = (uint32_t)layout_get(k->in, bit, width);
	fw_for_each_kind (x) {
		if (!x->name)
			continue;
		seg_for_each_live (k->s, x->table, i) {
			const struct fw_elem *e = fw_elem(k->s, x, i);

			if (e->hca != k->c->hca || !fw_ready(&e->flags) ||
			    !refers_to(x, e, (enum seg_table_id)table, idx))
				continue;
			if (n++ < USERS_SHOWN)
				at += fmt(text + at, size - at, "%s%s 0x%x",
					  n > 1 ? ", " : "used by ", x->name,
					  x->table == SEG_T_MKEY ? i << 8 : i);
		}
	}
	if (n > USERS_SHOWN)
		at += fmt(text + at, size - at, " and %u more", n - USERS_SHOWN);
	return at;
}
