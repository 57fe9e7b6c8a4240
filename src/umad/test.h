/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plain fabric for tests and fuzzers of umad: one host, adapters of one port each. */
#ifndef SOFTHCA_UMAD_TEST_H
#define SOFTHCA_UMAD_TEST_H

#include <string.h>
#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "segment/proc.h"
#include "subnet/subnet.h"

/* `ports`: gets the SEG_T_PORT indices of the `hcas` adapters. 0, or the error. */
static inline int umad_test_world(struct seg *s, uint32_t hcas, uint32_t *ports)
{
	const struct fab_options plain = {.hosts = 1,
					  .hcas = hcas,
					  .ports = 1,
					  .model = HW_CX6,
					  .caps.link_speed = 64,
					  .caps.link_width = 2,
					  .caps.max_mtu = IBV_MTU_4096};
	struct hw_host *h;
	int r;

	memset(s, 0, sizeof(*s));
	r = seg_create(s, "test");
	if (!r)
		r = fab_create(s, &plain);
	if (!r)
		r = seg_proc_register_self(s, fab_host_by_name(s, "h1"));
	if (r)
		return r;
	h = seg_live(s, SEG_T_HOST, fab_host_by_name(s, "h1"));
	for (uint32_t i = 0; i < hcas; i++)
		ports[i] = hw_hca(s, h->hca[i])->port[0];
	return 0;
}

#endif
