/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files of the subnet management agent (sma*.c) and mad.c, their caller. */
#ifndef SOFTHCA_SUBNET_SMA_H
#define SOFTHCA_SUBNET_SMA_H

#include "fabric/fabric.h"
#include "subnet/mad.h"
#include "hw/port.h"

static inline struct fab_node *sma_node(const struct fab_mad_call *c)
{
	return fab_node(c->s, hw_port(c->s, c->port)->node);
}

/*
 * The port where an SMP arrived (SEG_T_PORT). On a switch it is port 0, which has LIDs, GUIDs,
 * keys.
 */
static inline uint32_t sma_own(const struct fab_mad_call *c)
{
	return fab_own_port(c->s, c->port);
}

/*
 * NULL on adapters and routers, and on external ports of switches where they have no such
 * attribute.
 */
static inline struct fab_switch *sma_switch(const struct fab_mad_call *c)
{
	const struct fab_node *n = sma_node(c);

	return n->type == FAB_SWITCH ? fab_switch(c->s, n->sw) : NULL;
}

/*
 * Is the SMP's M_Key right for its method (IBA 14.2.4)? False: discard and count the SMP. A right
 * one renews the lease.
 */
bool sma_mkey_ok(struct seg *s, uint32_t port, const uint8_t *mad);
/* May an SMP with that key read the port's M_Key? NULL: no SMP, but an SA record. */
bool sma_mkey_shown(const struct hw_port *own, const uint8_t *mad);

/* Handlers, by file. All Set handlers run under the node's lock. */
uint16_t sma_get_port_info(const struct fab_mad_call *c);
uint16_t sma_set_port_info(const struct fab_mad_call *c);
uint16_t sma_get_mlnx_ext_port_info(const struct fab_mad_call *c);
uint16_t sma_set_mlnx_ext_port_info(const struct fab_mad_call *c);

uint16_t sma_get_switch_info(const struct fab_mad_call *c);
uint16_t sma_set_switch_info(const struct fab_mad_call *c);
uint16_t sma_get_lft(const struct fab_mad_call *c);
uint16_t sma_set_lft(const struct fab_mad_call *c);
uint16_t sma_get_mft(const struct fab_mad_call *c);
uint16_t sma_set_mft(const struct fab_mad_call *c);

uint16_t sma_get_sl2vl(const struct fab_mad_call *c);
uint16_t sma_set_sl2vl(const struct fab_mad_call *c);
uint16_t sma_get_vl_arb(const struct fab_mad_call *c);
uint16_t sma_set_vl_arb(const struct fab_mad_call *c);

#endif
