/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the table of worlds. Every world is legal: a correct program works there, or says what it
 * lacks.
 * To add one, add a row; what it sets is read where the behaviour is, through hw_setting().
 */
#include "world/world.h"

#include "hw/world.h"

static const struct world_row rows[] = {
	{"gid-v2-only",
	 "GIDs",
	 {.link = WORLD_ETH},
	 {{HW_SET_GID_TYPES, HW_GID_TYPES_V2}},
	 "only RoCE v2 entries in the GID table",
	 "Without the entries of RoCE v1 every index is another: index 3 is not the IPv4 address. "
	 "Choose the entry by type and address (ibv_query_gid_table), not by number.",
	 "uccl#803"},
	{"gid-v2-first",
	 "GIDs",
	 {.link = WORLD_ETH},
	 {{HW_SET_GID_TYPES, HW_GID_TYPES_V2_FIRST}},
	 "each address has its RoCE v2 entry before that of v1",
	 "Index 1 and 3 are RoCE v1 there: a peer that uses v2 does not answer. Choose the entry "
	 "by its type.",
	 NULL},
	{"pkey-shifted",
	 "P_Keys",
	 {.link = WORLD_IB},
	 {{HW_SET_PKEYS, HW_PKEYS_SHIFTED}},
	 "P_Key 0xffff is at index 1, 0x8001 at index 0",
	 "Index 0 is not the default partition. Look the P_Key up (ibv_get_pkey_index), or use one "
	 "index at both ends.",
	 NULL},
};

const struct world_row *world_row(size_t i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}
