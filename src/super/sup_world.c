/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns what worlds change while the fabric is up: links that come late, addresses that change. */
#include "super/supervisor.h"

#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "hw/port.h"
#include "hw/timer.h"
#include "hw/world.h"
#include "segment/suplink.h"
#include "util/bits.h"
#include "util/clock.h"

#define AGAIN (10 * NSEC_PER_MSEC) /* while a sweep runs */
#define FIRST_CHANGE (110u << 16)  /* 127.1.0.1 has 127.111.0.1 or 127.112.0.1 beside it */

static void late_cables(struct sup *sup)
{
	struct seg *s = &sup->seg;

	seg_for_each_live (s, SEG_T_PORT, i) {
		struct hw_port *p = hw_port(s, i);
		uint32_t to = p->late;

		p->late = 0;
		if (to && hw_port_is_eth(p)) {
			fab_eth_link(s, i, true);
			sup_cm_port(sup, i);
		} else if (to) {
			fab_plug(s, i, to);
		}
	}
	sup_sweep(sup);
}

static void change(struct sup *sup, uint32_t port)
{
	uint32_t ip4 = fab_ip4(&sup->seg, port), turn = sup->changes & 1;
	struct link_addr a = {.len = 4, .prefix = 16};
	uint32_t host = hw_hca(&sup->seg, hw_port(&sup->seg, port)->hca)->host;

	if (!ip4)
		return;
	be32_store(a.ip, ip4 + FIRST_CHANGE + (turn << 16));
	sup_change_address(sup, host, port, &a, true);
	be32_store(a.ip, ip4 + FIRST_CHANGE + (!turn << 16));
	sup_change_address(sup, host, port, &a, false);
}

static void settle(struct sup *sup)
{
	sup->world_at = sup->late_at < sup->change_at ? sup->late_at : sup->change_at;
}

void sup_world_start(struct sup *sup)
{
	uint64_t now = clock_now_ns(), late = hw_setting(&sup->seg, HW_SET_LATE_MS),
		 gap = hw_setting(&sup->seg, HW_SET_CHANGE_MS);

	sup->late_at = late ? now + hw_timer_ns(&sup->seg, late * NSEC_PER_MSEC) : UINT64_MAX;
	sup->change_at = gap ? now + gap * NSEC_PER_MSEC : UINT64_MAX;
	settle(sup);
}

void sup_world_run(struct sup *sup, uint64_t now)
{
	if (now >= sup->late_at && sup->sweeping) {
		sup->late_at = now + AGAIN;
	} else if (now >= sup->late_at) {
		sup->late_at = UINT64_MAX;
		late_cables(sup);
	}
	if (now >= sup->change_at) {
		seg_for_each_live (&sup->seg, SEG_T_PORT, i)
			if (hw_port_is_eth(hw_port(&sup->seg, i)))
				change(sup, i);
		sup->changes++;
		sup->change_at = now + hw_setting(&sup->seg, HW_SET_CHANGE_MS) * NSEC_PER_MSEC;
	}
	settle(sup);
}
