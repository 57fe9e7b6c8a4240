/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a topology from a running fabric, for the supervisor. */
#ifndef SOFTHCA_TOPO_SNAPSHOT_H
#define SOFTHCA_TOPO_SNAPSHOT_H

#include "hw/fab.h"
#include "topo/topo.h"

/* All nodes in their order, without hosts. 0, -ENOMEM. */
int topo_snapshot(struct seg *s, struct topo *t);
/* A node's name in ibnetdiscover's form: "S-<GUID>". */
void topo_node_id(const struct fab_node *n, char id[24]);

#endif
