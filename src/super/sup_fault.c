/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the rules of faults of a fabric: stores those of its start, adds and removes others. */
#include "super/supervisor.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fault/rows.h"
#include "util/clock.h"

/* Its number, or -ENOSPC. */
static int fault_add(struct sup *sup, const struct hw_fault *rule)
{
	struct seg *s = &sup->seg;
	uint32_t i;
	struct hw_fault *f;

	if (seg_alloc_begin(s, SEG_T_FAULT, &i))
		return -ENOSPC;
	f = seg_at(s, SEG_T_FAULT, i);
	memcpy((uint8_t *)f + sizeof(f->gen), (const uint8_t *)rule + sizeof(f->gen),
	       sizeof(*f) - sizeof(f->gen));
	f->seed = fab_subnet(s)->fault_seed + i;
	seg_alloc_end(s, SEG_T_FAULT, SEG_OWNER_DEVICE, i);
	fault_set_waits(s);
	return (int)i;
}

int sup_faults_init(struct sup *sup)
{
	int r = 0;

	fab_subnet(&sup->seg)->born = clock_now_ns();
	fab_subnet(&sup->seg)->fault_seed = sup->fab.fault_seed;
	for (uint32_t i = 0; i < sup->fab.nfaults && r >= 0; i++)
		r = fault_add(sup, &sup->fab.faults[i]);
	return r < 0 ? r : 0;
}

/*
 * LINK_FAULT. A rule that is not one is refused with its mistake behind the answer, although
 * softhca has read it before: another program may speak here.
 */
int sup_fault(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	static struct hw_fault rule;
	struct fault_mistake m;
	int r;

	(void)l;
	if (q->m.arg) {
		if (!hw_fault(&sup->seg, q->m.arg))
			return -ENOENT;
		seg_free(&sup->seg, SEG_T_FAULT, q->m.arg);
		fault_set_waits(&sup->seg);
		return 0;
	}
	if (!q->nmore || q->nmore > HW_FAULT_TEXT || q->more[q->nmore - 1])
		return -EPROTO;
	r = fault_parse((char *)q->more, &rule, &m);
	if (r < 0)
		return r;
	r = fault_add(sup, &rule);
	if (r < 0)
		return r;
	p->m.arg = (uint32_t)r;
	return 0;
}

struct json_object *sup_faults_show(struct sup *sup)
{
	struct json_object *list = json_object_new_array();

	seg_for_each_live (&sup->seg, SEG_T_FAULT, i) {
		const struct hw_fault *f = hw_fault(&sup->seg, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "number", json_object_new_uint64(i));
		json_object_object_add(o, "rule", json_object_new_string(f->text));
		json_object_object_add(o, "seen", json_object_new_uint64(atomic_load(&f->seen)));
		json_object_object_add(o, "fired", json_object_new_uint64(atomic_load(&f->fired)));
		json_object_array_add(list, o);
	}
	return list;
}
