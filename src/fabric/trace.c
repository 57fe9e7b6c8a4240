/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of ports for messages, and trace lines about ports. */
#include "fabric/fabric.h"
#include "fabric/path.h"

#include <string.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "util/fmt.h"
#include "hw/world.h"
#include "util/log.h"
#include "util/rec.h"
#include "wire/mad/names.h"

const char *fab_hca_name(const struct seg *s, const struct hw_hca *hca, char buf[FAB_HCA_NAME])
{
	const struct hw_host *host = seg_live(s, SEG_T_HOST, hca->host);
	const struct hw_port *p = hw_port(s, hca->port[0]);
	uint32_t n = hca->dev_index;

	switch (hw_setting(s, HW_SET_NAMES)) {
	case HW_NAMES_BOND:
		fmt(buf, FAB_HCA_NAME, "mlx5_bond_%u", n);
		break;
	case HW_NAMES_PCI:
		/* by_pci() of rdma_rename.c: the domain, because it is not 0, bus and slot */
		fmt(buf, FAB_HCA_NAME, "%sP%up%us%u", p && hw_port_is_eth(p) ? "roce" : "ib",
		    0x5a17, 0, n);
		break;
	case HW_NAMES_BACKWARDS:
		n = (host ? host->nhcas : 1) - 1 - n;
		/* fallthrough */
	default:
		fmt(buf, FAB_HCA_NAME, "mlx5_%u", n);
	}
	return buf;
}

const char *fab_port_name(const struct seg *s, uint32_t port, char buf[FAB_PORT_NAME])
{
	const struct hw_port *p = hw_port(s, port);
	const struct hw_hca *hca = p ? hw_hca(s, p->hca) : NULL;
	const struct hw_host *host = hca ? seg_live(s, SEG_T_HOST, hca->host) : NULL;
	const struct fab_node *n = p ? fab_node(s, p->node) : NULL;
	char name[FAB_HCA_NAME];

	if (host)
		fmt(buf, FAB_PORT_NAME, "%.31s/%s/%u", host->name, fab_hca_name(s, hca, name),
		    p->num);
	else if (n && n->desc[0])
		fmt(buf, FAB_PORT_NAME, "%.63s/%u", n->desc, p->num);
	else if (n)
		fmt(buf, FAB_PORT_NAME, "0x%llx/%u", (unsigned long long)n->guid, p->num);
	else
		fmt(buf, FAB_PORT_NAME, "port#%u", port);
	return buf;
}

void fab_trace_port(const struct seg *s, uint32_t port, uint32_t what)
{
	static const struct {
		uint32_t what;
		const char *name;
	} rows[] = {
		{FAB_CHANGED_STATE, "state"}, {FAB_CHANGED_LID, "LID"},
		{FAB_CHANGED_SM, "SM"},       {FAB_CHANGED_PKEY, "P_Key"},
		{FAB_CHANGED_GID, "GID"},     {FAB_CHANGED_REREGISTER, "client reregistration"},
	};
	const struct hw_port *p = hw_port(s, port);
	uint32_t state = atomic_load(&p->state);
	const char *state_name =
		mad_value_name(&layout_port_info, LF_port_info_port_state_BIT, state);
	char name[FAB_PORT_NAME];
	struct rec r;

	rec_begin(&r, LOG_LINK, "port", 0);
	rec_group(&r, "port", " (");
	rec_s(&r, "port", fab_port_name(s, port, name));
	if (!hw_port_is_eth(p))
		rec_u(&r, "lid", atomic_load(&p->lid));
	rec_code(&r, "state", state, state_name ? state_name : "?");
	rec_list(&r, "changed");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (what & rows[i].what)
			rec_s(&r, NULL, rows[i].name);
	rec_list_end(&r);
	rec_group_end(&r, ")");
	rec_end(&r);
}

/* A port on an open path stops them. */
static void say_stop(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k,
		     char *text, size_t size)
{
	char name[FAB_PORT_NAME];
	uint32_t why, at = fab_path_stops(s, p, k, &why);
	const char *side = fab_stops_side(why);

	if (at == SEG_NONE)
		*text = '\0';
	else if (fab_stops_pkey(why))
		fmt(text, size, "at port %s, %s: its table does not have P_Key 0x%x",
		    fab_port_name(s, at, name), side, k->pkey);
	else
		fmt(text, size, "at port %s, %s: packets of %u bytes are larger than its MTU",
		    fab_port_name(s, at, name), side, k->payload);
}

void fab_path_say(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k,
		  char *text, size_t size)
{
	static const char *const rules[] = {
		[FAB_LOST_UNSENT] = "outwards: it is not ACTIVE, or the destination is LID 0",
		[FAB_LOST_INACTIVE] = "outwards: it, or the other end of its cable, is not ACTIVE",
		[FAB_LOST_AWAY] = "inwards: it does not have this LID",
		[FAB_LOST_RELAY] = "inwards: its switch has no route to this LID",
		[FAB_LOST_LOOPING] = "inwards: its switch's route to this LID leads back there",
		[FAB_LOST_ON_WIRE] = "outwards: no port with a link has the MAC address",
	};
	const struct fab_cable *last = p->n ? &p->cable[p->n - 1] : NULL;
	uint32_t at = p->from;
	char name[FAB_PORT_NAME];

	if (p->lost == FAB_ARRIVES) {
		say_stop(s, p, k, text, size);
		return;
	}
	if (last)
		at = p->lost == FAB_LOST_INACTIVE ? last->out : last->in;
	fmt(text, size, "at port %s, %s", fab_port_name(s, at, name), rules[p->lost]);
}
