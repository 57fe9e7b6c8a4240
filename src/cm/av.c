/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the addresses to which an id sends, and the arithmetic of IBA's times. */
#include "cm/priv.h"

#include <errno.h>
#include "wire/ib/gid.h"
#include "wire/ib/pkey.h"

/* cm_convert_to_ms() */
uint32_t cm_to_ms(uint32_t iba_time)
{
	uint32_t shift = iba_time > 8 ? iba_time - 8 : 0;

	return UINT32_C(1) << (shift > 30 ? 30 : shift);
}

/*
 * cm_ack_timeout(): both values are exponents. The result is the larger one, plus 1 if the other
 * one is equal or smaller by 1.
 */
uint8_t cm_ack_timeout(uint8_t ack_delay, uint8_t packet_life_time)
{
	int t = packet_life_time + 1;

	if (t >= ack_delay)
		t += ack_delay >= t - 1;
	else
		t = ack_delay + (t >= ack_delay - 1);
	return (uint8_t)(t > 31 ? 31 : t);
}

/* ib_find_cached_pkey(): prefers an entry with full membership. */
static int find_pkey(const struct cm_port *port, uint16_t pkey, uint16_t *index)
{
	int partial = -1;

	for (uint32_t i = 0; i < port->npkeys; i++) {
		if (!port->pkey[i] || !ib_pkey_base_same(port->pkey[i], pkey))
			continue;
		if (port->pkey[i] & IB_PKEY_FULL) {
			*index = (uint16_t)i;
			return 0;
		}
		partial = (int)i;
	}
	if (partial < 0)
		return -ENOENT;
	*index = (uint16_t)partial;
	return 0;
}

/* get_cm_port_from_path() */
static uint32_t port_of_path(struct cm *cm, const struct cm_work *w, const struct cm_path *path)
{
	if (!memcmp(w->port.gid, path->sgid, sizeof(path->sgid)))
		return w->pkt.port;
	if (!cm->ops->find_gid)
		return CM_NO_PORT;
	return cm->ops->find_gid(cm->ctx, w->port.host, path->sgid);
}

/* cm_init_av_by_path(): fills `av` only if it finds everything. */
int cm_av_by_path(struct cm *cm, const struct cm_work *w, uint32_t port, const struct cm_path *path,
		  struct cm_av *av)
{
	bool answer = w && port != CM_NO_PORT;
	struct cm_port info;
	uint16_t index;
	int ret;

	if (port == CM_NO_PORT && w)
		port = port_of_path(cm, w, path);
	if (port == CM_NO_PORT || !cm->ops->port(cm->ctx, port, &info))
		return -EINVAL;
	ret = find_pkey(&info, path->pkey, &index);
	if (ret)
		return ret;
	/* roce_resolve_route_from_path(), rdma_gid2ip() */
	if (info.eth && w && ib_gid_is_ip4(path->sgid) != ib_gid_is_ip4(path->dgid))
		return -EINVAL;
	av->port = port;
	av->pkey_index = index;
	av->timeout = (uint8_t)(path->packet_life_time + 1);
	av->src_bits = (uint8_t)(path->slid & bits_max(info.lmc) & 0x7f);
	av->grh = path->hop_limit > 0 || info.eth;
	av->path = *path;
	if (!info.eth || !answer)
		return 0;
	/* An answer leaves with the GID to which the request was sent. */
	memcpy(av->path.sgid, w->pkt.dgid, sizeof(av->path.sgid));
	av->path.gid_kind = w->pkt.gid_kind;
	return 0;
}

/* cm_init_av_for_response(), ib_init_ah_attr_from_wc() */
int cm_av_for_response(const struct cm_work *w, struct cm_av *av)
{
	const struct cm_pkt *p = &w->pkt;

	if (w->port.eth && !p->grh)
		return -EPROTOTYPE;
	if (!w->port.eth && p->grh && memcmp(p->dgid, w->port.gid, sizeof(p->dgid)))
		return -ENOENT;
	av->port = p->port;
	av->pkey_index = p->pkey_index;
	av->src_bits = (uint8_t)(p->dlid & bits_max(w->port.lmc) & 0x7f);
	av->grh = p->grh;
	av->path = (struct cm_path){
		.gid_kind = p->gid_kind,
		.sl = p->sl,
		.pkey = cm_bth_pkey(w),
	};
	if (!w->port.eth) {
		av->path.slid = (uint16_t)p->dlid;
		av->path.dlid = (uint16_t)p->slid;
	}
	memcpy(av->path.sgid, w->port.eth ? p->dgid : w->port.gid, sizeof(av->path.sgid));
	memcpy(av->path.dgid, p->sgid, sizeof(av->path.dgid));
	if (p->grh) {
		av->path.hop_limit = w->port.eth ? p->answer_hops : IB_HOPS_OF_ANSWER;
		av->path.flow_label = p->flow_label;
		av->path.traffic_class = p->traffic_class;
	}
	return 0;
}

/* cm_get_bth_pkey() */
uint16_t cm_bth_pkey(const struct cm_work *w)
{
	return w->pkt.pkey_index < w->port.npkeys ? w->port.pkey[w->pkt.pkey_index] : 0;
}
