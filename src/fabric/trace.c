/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of ports for messages, and trace lines about ports. */
#include "fabric/fabric.h"

#include <string.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/rec.h"
#include "wire/mad/names.h"

const char *fab_port_name(const struct seg *s, uint32_t port, char buf[FAB_PORT_NAME])
{
	const struct hw_port *p = hw_port(s, port);
	const struct hw_hca *hca = p ? hw_hca(s, p->hca) : NULL;
	const struct hw_host *host = hca ? seg_live(s, SEG_T_HOST, hca->host) : NULL;
	const struct fab_node *n = p ? fab_node(s, p->node) : NULL;

	if (host)
		fmt(buf, FAB_PORT_NAME, "%.31s/mlx5_%u/%u", host->name, hca->dev_index, p->num);
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
