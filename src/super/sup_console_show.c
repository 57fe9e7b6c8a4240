/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the console's commands that show the subnet, in ibsim's words, and PerformanceSet. Called by
 * sup_console.c.
 */
#include "super/sup_console.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "subnet/mad.h"
#include "fabric/notice.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "util/cleanup.h"
#include "wire/ib/link.h"

#define MAX_HOPS 64

/* ---- Dump */

static const char *con_word(const char *const *names, size_t n, uint32_t i)
{
	return i < n && names[i] ? names[i] : "?";
}

static void dump_port(struct con *c, const struct fab_node *n, uint32_t num)
{
	static const char *const states[] = {NULL, "Down", "Init", "Armed", "Active"};
	static const char *const phys[] = {NULL,       "Sleep",  "Polling",      "Disabled",
					   "Training", "LinkUp", "ErrorRecovery"};
	struct seg *s = &c->sup->seg;
	const struct hw_port *p = hw_port(s, n->port0 + num);
	const struct hw_port *peer = p->peer == SEG_NONE ? NULL : hw_port(s, p->peer);
	const struct ib_width *w = ib_width(p->width);
	const struct ib_speed *v = ib_speed(p->speed);
	bool sma = n->type == FAB_SWITCH && !num;
	char id[24];

	/* A switch's ports share the switch's GUID. */
	fprintf(c->out, "%llx\t[%u]\t",
		(unsigned long long)(n->type == FAB_SWITCH ? hw_port(s, n->port0)->guid : p->guid),
		num);
	if (sma)
		fprintf(c->out, "\"Sma Port\"[0]");
	else if (p->state == IB_PORT_DOWN || !peer)
		fprintf(c->out, "\t");
	else
		fprintf(c->out, "\"%s\"[%u]", con_id(c, peer->node, id), peer->num);
	fprintf(c->out, "\t ");
	if (hw_port_is_eth(p))
		fprintf(c->out, "Ethernet ");
	else if (sma || n->type != FAB_SWITCH)
		fprintf(c->out, "lid %u lmc %u smlid %u ", p->lid, p->lmc, p->sm_lid);
	fprintf(c->out, "%*s ", w ? 3 : 1, w ? w->name : "?");
	fprintf(c->out, "%s %s/%s", v ? v->dump : "?",
		con_word(states, ARRAY_SIZE(states), p->state),
		con_word(phys, ARRAY_SIZE(phys), p->phys_state));
	if (p->err_rate)
		fprintf(c->out, "\t# err_rate %u", p->err_rate);
	if (p->err_attr)
		fprintf(c->out, "\t# err_attr %u", p->err_attr);
	fputc('\n', c->out);
}

static void dump_switch(struct con *c, const struct fab_node *n)
{
	const struct fab_switch *sw = fab_switch(&c->sup->seg, n->sw);
	uint32_t top = sw->linear_top < FAB_LIDS ? sw->linear_top : FAB_LIDS - 1;

	fprintf(c->out, "#\tlinearcap %u FDBtop %u portchange %u\n", FAB_LIDS, sw->linear_top,
		sw->state_change);
	for (uint32_t lid = 0; lid < top; lid += 16) {
		uint32_t last = lid + 15 < top ? lid + 15 : top;

		fprintf(c->out, "#\tForwarding table %u-%u:", lid, last);
		for (uint32_t i = lid; i <= last; i++)
			fprintf(c->out, " [%u]%X", i, fab_lft_get(&c->sup->seg, n->sw, i));
		fputc('\n', c->out);
	}
}

static void dump_node(struct con *c, uint32_t idx)
{
	static const char *const types[] = {NULL, "Ca", "Switch", "Router"};
	const struct fab_node *n = fab_node(&c->sup->seg, idx);
	char id[24];

	fprintf(c->out, "\n%s %u \"%s\"\tnodeguid %llx\tsysimgguid %llx\n",
		con_word(types, ARRAY_SIZE(types), n->type), n->nports, con_id(c, idx, id),
		(unsigned long long)n->guid, (unsigned long long)n->sys_guid);
	if (n->type == FAB_SWITCH)
		dump_switch(c, n);
	for (uint32_t num = n->type == FAB_SWITCH ? 0 : 1; num <= n->nports; num++)
		dump_port(c, n, num);
}

int con_dump(struct con *c)
{
	struct con_target t = {.idx = SEG_NONE};
	time_t now = time(NULL);
	uint32_t n = 0;
	char when[32];

	if (strchr(c->args, '"') && con_target(c, &t) < 0)
		return -1;
	fprintf(c->out, "# Net status - %s", ctime_r(&now, when));
	seg_for_each_live (&c->sup->seg, SEG_T_NODE, i) {
		if (t.idx != SEG_NONE && t.idx != i)
			continue;
		dump_node(c, i);
		n++;
	}
	fprintf(c->out, "#  dumped %u nodes\n", n);
	return 0;
}

/* ---- Route */

static uint32_t port_of_lid(struct seg *s, uint32_t lid)
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (fab_port_has_lid(seg_at(s, SEG_T_PORT, i), lid))
			return i;
	return SEG_NONE;
}

/* The port to which a switch forwards it: SEG_T_PORT; SEG_NONE after con_fail(). */
static uint32_t con_forward(struct con *c, const struct hw_port *in, uint32_t lid)
{
	struct seg *s = &c->sup->seg;
	const struct fab_node *n = fab_node(s, in->node);
	uint32_t num = fab_lft_get(s, n->sw, lid), top = fab_switch(s, n->sw)->linear_top;
	const struct hw_port *out;
	char id[24];

	if (lid > top || num > n->nports) {
		con_fail(
			c,
			"no path from \"%s\": the forwarding table has port %u for LID %u (top %u)",
			con_id(c, in->node, id), num, lid, top);
		return SEG_NONE;
	}
	out = hw_port(s, n->port0 + num);
	if (!num || out->state == IB_PORT_ACTIVE)
		return n->port0 + num;
	con_fail(c, "port %u of \"%s\" is not active", num, con_id(c, in->node, id));
	return SEG_NONE;
}

int con_route(struct con *c)
{
	struct seg *s = &c->sup->seg;
	uint64_t from, to;
	uint32_t at, end;
	char id[24];

	if (!con_number(&c->args, &from) || !con_number(&c->args, &to) || !from || !to ||
	    from >= FAB_LIDS || to >= FAB_LIDS)
		return con_fail(c, "two LIDs are needed");
	at = port_of_lid(s, (uint32_t)from);
	end = port_of_lid(s, (uint32_t)to);
	if (at == SEG_NONE || end == SEG_NONE)
		return con_fail(c, "no port has LID %u",
				(unsigned int)(at == SEG_NONE ? from : to));
	fprintf(c->out, "From node \"%s\" port %u lid %u\n", con_id(c, hw_port(s, at)->node, id),
		hw_port(s, at)->num, (unsigned int)from);
	for (int hops = 0; at != end; hops++) {
		const struct hw_port *p = hw_port(s, at);
		bool sw = fab_node(s, p->node)->type == FAB_SWITCH;
		uint32_t out = sw ? con_forward(c, p, (uint32_t)to) : at;

		if (out == SEG_NONE)
			return -1;
		if (out == end)
			break; /* the switch itself */
		at = fab_peer(s, out);
		if (at == SEG_NONE || hw_port(s, out)->state != IB_PORT_ACTIVE)
			return con_fail(c, "port %u of \"%s\" leads nowhere", hw_port(s, out)->num,
					con_id(c, p->node, id));
		if (hops == MAX_HOPS || (!sw && hops))
			return con_fail(c, "the path does not end at LID %u", (unsigned int)to);
		fprintf(c->out, "[%u] -> \"%s\"[%u]\n", hw_port(s, out)->num,
			con_id(c, hw_port(s, at)->node, id), hw_port(s, at)->num);
	}
	fprintf(c->out, "To node \"%s\" port %u lid %u\n", con_id(c, hw_port(s, end)->node, id),
		hw_port(s, end)->num, (unsigned int)to);
	return 0;
}

/* ---- Attached */

int con_attached(struct con *c)
{
	struct seg *s = &c->sup->seg;

	for (const struct sup_link *l = c->sup->links; l; l = l->next) {
		bool is = !l->closed && !sup_removed(c->sup, l);
		const struct seg_proc *p = is ? seg_proc(s, l->slot) : NULL;
		const struct hw_host *h = p ? seg_live(s, SEG_T_HOST, p->host) : NULL;

		if (h)
			fprintf(c->out, "Client %u: pid %d (%.16s) on host \"%s\"\n", l->slot,
				l->pid, p->comm, h->name);
	}
	return 0;
}

/* ---- PerformanceSet: a Set() to the performance management agent, of one counter */

#define FIELD(l, f) LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH
#define ROW(name, attr, f, ...)                                                          \
	{                                                                                \
		name, FIELD(attr, f), FIELD(attr, counter_select), PMA_BIT_##attr##_##f, \
			##__VA_ARGS__                                                    \
	}
#define COUNTER(name, f) ROW(name, port_counters, f)
/* The events that a node reports to its subnet manager. */
#define FAULT(name, f, trap) ROW(name, port_counters, f, trap)
#define EXTENDED(name, f) ROW(name, port_counters_ext, f)
#define RCV_ERROR(name, f) ROW(name, port_rcv_error_details, f)
#define DISCARD(name, f) ROW(name, port_xmit_discard_details, f)

struct counter {
	const char *name;
	uint32_t bit, width;               /* place of the counter in the attribute */
	uint32_t select_bit, select_width; /* bit of the field that selects the counter */
	uint32_t select;                   /* that bit, as a value of the select field */
	uint32_t trap; /* number of the notice that is sent when the counter increases; 0: none */
};

static const struct counter port_counters[] = {
	COUNTER("SymbolErrorCounter", symbol_errors),
	COUNTER("LinkErrorRecoveryCounter", link_error_recovery),
	COUNTER("LinkDownedCounter", link_downed),
	COUNTER("PortRcvErrors", rcv_errors),
	COUNTER("PortRcvRemotePhysicalErrors", rcv_remote_phys_errors),
	COUNTER("PortRcvSwitchRelayErrors", rcv_switch_relay_errors),
	COUNTER("PortXmitDiscards", xmit_discards),
	COUNTER("PortXmitConstraintErrors", xmit_constraint_errors),
	COUNTER("PortRcvConstraintErrors", rcv_constraint_errors),
	FAULT("LocalLinkIntegrityErrors", local_link_integrity, TRAP_LINK_INTEGRITY),
	FAULT("ExcessiveBufferOverrunErrors", excessive_buffer_overrun, TRAP_BUFFER_OVERRUN),
	COUNTER("VL15Dropped", vl15_dropped),
	COUNTER("PortXmitData", xmit_data),
	COUNTER("PortRcvData", rcv_data),
	COUNTER("PortXmitPkts", xmit_pkts),
	COUNTER("PortRcvPkts", rcv_pkts),
	{"PortXmitWait", FIELD(port_counters, xmit_wait), FIELD(port_counters, counter_select2),
	 PMA_BIT_port_counters_xmit_wait - 16},
	{NULL},
};

static const struct counter extended[] = {
	EXTENDED("PortXmitData", xmit_data),
	EXTENDED("PortRcvData", rcv_data),
	EXTENDED("PortXmitPkts", xmit_pkts),
	EXTENDED("PortRcvPkts", rcv_pkts),
	EXTENDED("PortUnicastXmitPkts", ucast_xmit_pkts),
	EXTENDED("PortUnicastRcvPkts", ucast_rcv_pkts),
	EXTENDED("PortMultiCastXmitPkts", mcast_xmit_pkts),
	EXTENDED("PortMultiCastRcvPkts", mcast_rcv_pkts),
	{NULL},
};

static const struct counter rcv_error_details[] = {
	RCV_ERROR("PortLocalPhysicalErrors", local_phys_errors),
	RCV_ERROR("PortMalformedPacketErrors", malformed_pkt_errors),
	RCV_ERROR("PortBufferOverrunErrors", buffer_overrun_errors),
	RCV_ERROR("PortDLIDMappingErrors", dlid_mapping_errors),
	RCV_ERROR("PortVLMappingErrors", vl_mapping_errors),
	RCV_ERROR("PortLoopingErrors", looping_errors),
	{NULL},
};

static const struct counter xmit_discard_details[] = {
	DISCARD("PortInactiveDiscards", inactive_discards),
	DISCARD("PortNeighborMTUDiscards", neighbor_mtu_discards),
	DISCARD("PortSwLifetimeLimitDiscards", sw_lifetime_discards),
	DISCARD("PortSwHOQLifetimeLimitDiscards", sw_hoq_lifetime_discards),
	{NULL},
};

static const struct attribute {
	const char *name;
	uint16_t id;
	const struct counter *counters;
} attributes[] = {
	{"PortCounters", PMA_ATTR_PORT_COUNTERS, port_counters},
	{"PortCountersExtended", PMA_ATTR_PORT_COUNTERS_EXT, extended},
	{"PortRcvErrorDetails", PMA_ATTR_PORT_RCV_ERROR_DETAILS, rcv_error_details},
	{"PortXmitDiscardDetails", PMA_ATTR_PORT_XMIT_DISCARD_DETAILS, xmit_discard_details},
};

static const struct attribute *find_attribute(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (strlen(attributes[i].name) == len &&
		    !strncasecmp(attributes[i].name, name, len))
			return &attributes[i];
	return NULL;
}

static const struct counter *find_counter(const struct counter *k, const char *name, size_t len)
{
	for (; k->name; k++)
		if (strlen(k->name) == len && !strncasecmp(k->name, name, len))
			return k;
	return NULL;
}

/* Calls the agent's row directly: an error rate could drop a MAD. */
static int set_counter(struct con *c, const struct con_target *t, const struct attribute *a,
		       const struct counter *k, uint64_t value)
{
	uint8_t data[MAD_SIZE - PMA_DATA] = {0};
	uint32_t num = t->node->type == FAB_SWITCH ? 0 : t->num;
	const struct fab_mad_call call = {
		.s = &c->sup->seg, .port = t->node->port0 + num, .data = data};
	const struct fab_mad_row *row = fab_pma_rows;
	uint64_t before = 0;
	char id[24];

	while (row->name && row->attr_id != a->id)
		row++;
	if (!row->name || !row->set)
		return con_fail(c, "%s cannot be set on this fabric", a->name);
	LAYOUT_SET(port_counters, data, port_select, t->num);
	if (row->get(&call) == MAD_STATUS_OK)
		before = layout_get(data, k->bit, k->width);
	memset(data, 0, sizeof(data));
	LAYOUT_SET(port_counters, data, port_select, t->num);
	layout_set(data, k->select_bit, k->select_width, UINT64_C(1) << k->select);
	value = value < bits_max(k->width) ? value : bits_max(k->width);
	layout_set(data, k->bit, k->width, value);
	if (row->set(&call) != MAD_STATUS_OK)
		return con_fail(c, "port %u of \"%.64s\" has no counters", t->num, t->given);
	if (k->trap && value > before)
		fab_notice_port(&c->sup->seg, t->node->port0 + t->num, k->trap);
	fprintf(c->out, "%s[%u] %s.%s has been set to %llu\n", con_id(c, t->idx, id), t->num,
		a->name, k->name, (unsigned long long)value);
	return 0;
}

int con_performance_set(struct con *c)
{
	const struct attribute *a;
	const struct counter *k;
	struct con_target t;
	size_t attr, field, trim;
	uint64_t value;
	char *s;

	if (con_target(c, &t) < 0)
		return -1;
	if (t.num == SEG_NONE)
		return con_fail(c, "the port is missing");
	s = c->args + strspn(c->args, " \t");
	attr = strcspn(s, ".=");
	field = s[attr] == '.' ? strcspn(s + attr + 1, "=") : 0;
	if (s[attr] != '.' || s[attr + 1 + field] != '=')
		return con_fail(c, "ATTRIBUTE.FIELD=VALUE is missing");
	a = find_attribute(s, attr);
	if (!a)
		return con_fail(c, "no attribute '%.*s' can be set", attr < 40 ? (int)attr : 40, s);
	for (trim = field; trim && isspace((unsigned char)s[attr + trim]); trim--)
		;
	k = find_counter(a->counters, s + attr + 1, trim);
	if (!k)
		return con_fail(c, "%s has no field '%.*s'", a->name, trim < 40 ? (int)trim : 40,
				s + attr + 1);
	s += attr + field + 2;
	if (!con_number(&s, &value) || s[strspn(s, " \t\r")])
		return con_fail(c, "the value is no number");
	if (t.node->type == FAB_SWITCH && !t.num &&
	    !fab_switch(&c->sup->seg, t.node->sw)->enhanced_port0)
		return con_fail(c, "a base port 0 has no counters");
	return set_counter(c, &t, a, k, value);
}
