/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of service.h. Data only. */
#include "hw/service.h"
#include "util/cleanup.h"

#include <infiniband/verbs.h>

static const struct hw_service services[] = {
	[PRM_ST_RC] =
		{
			.name = "RC",
			.st = PRM_ST_RC,
			.ib_type = IBV_QPT_RC,
			.ib_target = IBV_QPT_RC,
			.made = true,
			.connected = true,
			.gids = true,
			.options = PRM_ST_RC,
			.tags = true,
			.copies = true,
			.udp_sport = true,
			.qos_answers = true,
			.short_in = true,
			.short_back = true,
		},
	[PRM_ST_UC] =
		{
			.name = "UC",
			.st = PRM_ST_UC,
			.ib_type = IBV_QPT_UC,
			.ib_target = IBV_QPT_UC,
			.made = true,
			.unbounded = true,
			.connected = true,
			.gids = true,
			.options = PRM_ST_UC,
			.udp_sport = true,
			.short_in = true,
		},
	[PRM_ST_UD] =
		{
			.name = "UD",
			.st = PRM_ST_UD,
			.ib_type = IBV_QPT_UD,
			.ib_target = IBV_QPT_UD,
			.made = true,
			.unbounded = true,
			.datagram = true,
			.options = PRM_ST_UD,
		},
	[PRM_ST_XRC] =
		{
			.name = "XRC",
			.st = PRM_ST_XRC,
			.ib_type = IBV_QPT_XRC_SEND,
			.ib_target = IBV_QPT_XRC_RECV,
			.made = true,
			.apart = true,
			.no_queue = true,
			.no_rq = true,
			.xrc = true,
			.connected = true,
			.gids = true,
			.options = PRM_ST_XRC,
		},
	[PRM_ST_DCI] =
		{
			.name = "DCI",
			.st = PRM_ST_DCI,
			.ib_type = IBV_QPT_DRIVER,
			.ib_target = IBV_QPT_DRIVER,
			.made = true,
			.apart = true,
			.no_rq = true,
			.streams = true,
			.options = PRM_ST_XRC,
			.copies = true,
			.short_back = true,
		},
	/* Made by CREATE_DCT. */
	[HW_ST_DCT] = {.name = "DCT",
		       .st = HW_ST_DCT,
		       .ib_type = IBV_QPT_DRIVER,
		       .ib_target = IBV_QPT_DRIVER},
};

static const struct hw_service none = {
	.name = "?", .ib_type = IBV_QPT_DRIVER, .ib_target = IBV_QPT_DRIVER};

const struct hw_service *hw_service(uint32_t st)
{
	return st < ARRAY_SIZE(services) && services[st].name ? &services[st] : &none;
}

const struct hw_service *hw_service_ib(uint32_t ib_type)
{
	for (uint32_t st = 0; st < ARRAY_SIZE(services); st++)
		if (services[st].made &&
		    (services[st].ib_type == ib_type || services[st].ib_target == ib_type))
			return &services[st];
	return &none;
}
