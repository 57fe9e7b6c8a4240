/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a topology from a running fabric, for the supervisor. */
#ifndef SOFTHCA_TOPO_SNAPSHOT_H
#define SOFTHCA_TOPO_SNAPSHOT_H

#include "hw/fab.h"
#include "topo/picture.h"

/* All nodes in their order, without hosts. 0, -ENOMEM. */
int topo_snapshot(struct seg *s, struct topo *t);
/*
 * With hosts, cables whose links are down, and the state of each port. `pulled`: per SEG_T_PORT the
 * peer of a cable that was pulled, 0 none; or NULL. 0; -ENOMEM, and both are zeroed.
 */
int topo_snapshot_picture(struct seg *s, const uint32_t *pulled, struct topo *t, struct picture *p);
/* A node's name in ibnetdiscover's form: "S-<GUID>". */
void topo_node_id(const struct fab_node *n, char id[24]);

#endif
