// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ports, paths and addresses in the forms in which commands and events show them. */
#include "cma/dev.h"

#include <endian.h>
#include <string.h>
#include "fabric/eth.h"
#include "hw/port.h"
#include "wire/mad/sa.h"

bool dev_port_of(const struct dev_ctx *ctx, struct dev_port *out)
{
	const struct seg *s = ctx->file->dev->s;
	uint32_t port = cma_port(ctx->cm_id);
	const struct hw_port *p = port == SEG_NONE ? NULL : hw_port(s, port);
	const struct hw_hca *hca = p ? hw_hca(s, p->hca) : NULL;

	*out = (struct dev_port){0};
	if (!hca)
		return false;
	out->node_guid = htobe64(hca->node_guid);
	out->hca_index = hca->dev_index;
	out->num = (uint8_t)p->num;
	return true;
}

static uint8_t gid_index(const struct seg *s, uint32_t port, const struct cm_path *path)
{
	const struct hw_port *p = port == SEG_NONE ? NULL : hw_port(s, port);
	int i = p ? fab_gid_find(p, path->sgid, path->gid_kind) : 0;

	return (uint8_t)(i < 0 ? 0 : i);
}

static uint8_t path_bits(const struct seg *s, uint32_t port, uint16_t slid)
{
	const struct hw_port *p = port == SEG_NONE ? NULL : hw_port(s, port);

	return p ? (uint8_t)(slid & ((1u << p->lmc) - 1)) : 0;
}

void dev_ah_attr(const struct seg *s, uint32_t port, const struct cm_path *p, bool grh,
		 struct ib_uverbs_ah_attr *out)
{
	*out = (struct ib_uverbs_ah_attr){.dlid = p->dlid,
					  .sl = p->sl,
					  .src_path_bits = path_bits(s, port, p->slid),
					  .static_rate = p->rate,
					  .is_global = grh};
	if (!grh)
		return;
	memcpy(out->grh.dgid, p->dgid, sizeof(out->grh.dgid));
	out->grh.flow_label = p->flow_label;
	out->grh.sgid_index = gid_index(s, port, p);
	out->grh.hop_limit = p->hop_limit;
	out->grh.traffic_class = p->traffic_class;
}

void dev_user_path(const struct cm_path *p, struct ib_user_path_rec *out)
{
	*out = (struct ib_user_path_rec){
		.dlid = htobe16(p->dlid),
		.slid = htobe16(p->slid),
		.raw_traffic = p->raw_traffic,
		.flow_label = htobe32(p->flow_label),
		.reversible = p->reversible,
		.mtu = p->mtu,
		.pkey = htobe16(p->pkey),
		.hop_limit = p->hop_limit,
		.traffic_class = p->traffic_class,
		.numb_path = p->numb_path,
		.sl = p->sl,
		.mtu_selector = SA_SEL_EXACTLY,
		.rate_selector = SA_SEL_EXACTLY,
		.rate = p->rate,
		.packet_life_time_selector = SA_SEL_EXACTLY,
		.packet_life_time = p->packet_life_time,
		.preference = p->preference,
	};
	memcpy(out->dgid, p->dgid, sizeof(out->dgid));
	memcpy(out->sgid, p->sgid, sizeof(out->sgid));
}

void dev_path_pack(const struct cm_path *p, void *rec)
{
	memset(rec, 0, LAYOUT_SZ(path_record));
	LAYOUT_SET(path_record, rec, service_id, p->service_id);
	memcpy(LAYOUT_IN(path_record, dgid, rec), p->dgid, 16);
	memcpy(LAYOUT_IN(path_record, sgid, rec), p->sgid, 16);
	LAYOUT_SET(path_record, rec, dlid, p->dlid);
	LAYOUT_SET(path_record, rec, slid, p->slid);
	LAYOUT_SET(path_record, rec, raw_traffic, p->raw_traffic);
	LAYOUT_SET(path_record, rec, flow_label, p->flow_label & 0xfffff);
	LAYOUT_SET(path_record, rec, hop_limit, p->hop_limit);
	LAYOUT_SET(path_record, rec, tclass, p->traffic_class);
	LAYOUT_SET(path_record, rec, reversible, p->reversible);
	LAYOUT_SET(path_record, rec, numb_path, p->numb_path & 0x7f);
	LAYOUT_SET(path_record, rec, pkey, p->pkey);
	LAYOUT_SET(path_record, rec, qos_class, p->qos_class & 0xfff);
	LAYOUT_SET(path_record, rec, sl, p->sl & 0xf);
	LAYOUT_SET(path_record, rec, mtu_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(path_record, rec, mtu, p->mtu & 0x3f);
	LAYOUT_SET(path_record, rec, rate_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(path_record, rec, rate, p->rate & 0x3f);
	LAYOUT_SET(path_record, rec, packet_life_time_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(path_record, rec, packet_life_time, p->packet_life_time & 0x3f);
	LAYOUT_SET(path_record, rec, preference, p->preference);
}

void dev_path_unpack(const void *rec, struct cm_path *p)
{
	*p = (struct cm_path){
		.service_id = LAYOUT_GET(path_record, rec, service_id),
		.dlid = (uint16_t)LAYOUT_GET(path_record, rec, dlid),
		.slid = (uint16_t)LAYOUT_GET(path_record, rec, slid),
		.raw_traffic = LAYOUT_GET(path_record, rec, raw_traffic),
		.flow_label = (uint32_t)LAYOUT_GET(path_record, rec, flow_label),
		.hop_limit = (uint8_t)LAYOUT_GET(path_record, rec, hop_limit),
		.traffic_class = (uint8_t)LAYOUT_GET(path_record, rec, tclass),
		.reversible = LAYOUT_GET(path_record, rec, reversible),
		.numb_path = (uint8_t)LAYOUT_GET(path_record, rec, numb_path),
		.pkey = (uint16_t)LAYOUT_GET(path_record, rec, pkey),
		.qos_class = (uint16_t)LAYOUT_GET(path_record, rec, qos_class),
		.sl = (uint8_t)LAYOUT_GET(path_record, rec, sl),
		.mtu = (uint8_t)LAYOUT_GET(path_record, rec, mtu),
		.rate = (uint8_t)LAYOUT_GET(path_record, rec, rate),
		.packet_life_time = (uint8_t)LAYOUT_GET(path_record, rec, packet_life_time),
		.preference = (uint8_t)LAYOUT_GET(path_record, rec, preference),
	};
	memcpy(p->dgid, LAYOUT_IN(path_record, dgid, rec), 16);
	memcpy(p->sgid, LAYOUT_IN(path_record, sgid, rec), 16);
}
