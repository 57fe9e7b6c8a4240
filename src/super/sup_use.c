/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the counts of what programs have done on a host: those of its adapters (hw/use.h), and the
 * doorbells of its processes, which are kept here when a process ends. The status shows them.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include "fw/fw.h"
#include "fw/kinds.h"
#include "hw/hca.h"
#include "hw/told.h"
#include "hw/use.h"
#include "segment/proc.h"
#include "wire/wqe/cqe.h"

int sup_use_init(struct sup *sup)
{
	sup->rung = calloc(seg_table(&sup->seg, SEG_T_HOST)->high + 1, sizeof(*sup->rung));
	return sup->rung ? 0 : -ENOMEM;
}

static uint64_t rung_by(const struct seg_proc *p)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < SEG_RINGS; i++)
		n += atomic_load_explicit(&p->ring[i].rung, memory_order_relaxed);
	return n;
}

void sup_use_ended(struct sup *sup, const struct seg_proc *p)
{
	if (p->host < seg_table(&sup->seg, SEG_T_HOST)->high)
		sup->rung[p->host] += rung_by(p);
}

/* sup->rung counts processes that have ended, even if their files are still open. */
static uint64_t doorbells(struct sup *sup, uint32_t host)
{
	uint64_t n = sup->rung[host];

	for (const struct sup_link *l = sup->links; l; l = l->next) {
		const struct seg_proc *p = l->closed ? NULL : seg_proc(&sup->seg, l->slot);

		if (p && p->gen == l->gen && p->host == host)
			n += rung_by(p);
	}
	return n;
}

static void add_count(struct json_object *o, const char *key, uint64_t n)
{
	struct json_object *was;

	if (!n || !key)
		return;
	if (json_object_object_get_ex(o, key, &was))
		n += json_object_get_uint64(was);
	json_object_object_add(o, key, json_object_new_uint64(n));
}

struct shown {
	uint64_t commands, calls_refused, cqs_failed;
	struct json_object *made, *refused, *errors, *lost, *causes;
};

/* What has failed, in words, with how often. */
static void add_told(struct shown *to, const struct hw_tolds *t)
{
	const struct hw_told *e;
	unsigned int i = 0;

	if (!t)
		return;
	add_count(to->lost, "dropped", atomic_load(&t->n[HW_TOLD_DROPPED]));
	add_count(to->lost, "ignored", atomic_load(&t->n[HW_TOLD_IGNORED]));
	add_count(to->lost, "undone", atomic_load(&t->n[HW_TOLD_UNDONE]));
	while ((e = hw_told_next(t, &i))) {
		char key[HW_TOLD_TEXT + 16];

		snprintf(key, sizeof(key), "%s: %s", hw_told_words[e->kind], e->text);
		add_count(to->causes, key, atomic_load(&e->n));
	}
}

static void add_hca(struct shown *to, const struct hw_use *u)
{
	to->commands += atomic_load(&u->commands);
	to->calls_refused += atomic_load(&u->calls_refused);
	to->cqs_failed += atomic_load(&u->cqs_failed);
	for (unsigned int k = 0; k < HW_KIND_COUNT; k++) {
		const struct fw_kind *kind = fw_kind((enum seg_table_id)(HW_KIND_FIRST + k));

		add_count(to->made, kind ? kind->name : NULL, atomic_load(&u->made[k]));
	}
	for (unsigned int k = 0; k < HW_USE_STATUSES; k++)
		add_count(to->refused, fw_status_name((uint8_t)k), atomic_load(&u->refused[k]));
	for (unsigned int k = 0; k < HW_USE_SYNDROMES; k++)
		add_count(to->errors, cqe_syndrome_name((uint8_t)k), atomic_load(&u->errors[k]));
}

void sup_use_show(struct sup *sup, uint32_t host, struct json_object *o)
{
	const struct hw_host *h = seg_at(&sup->seg, SEG_T_HOST, host);
	struct json_object *use = json_object_new_object();
	struct shown to = {.made = json_object_new_object(),
			   .refused = json_object_new_object(),
			   .errors = json_object_new_object(),
			   .lost = json_object_new_object(),
			   .causes = json_object_new_object()};

	for (uint32_t i = 0; i < h->nhcas; i++) {
		const struct hw_use *u = hw_use(&sup->seg, h->hca[i]);

		if (u)
			add_hca(&to, u);
		add_told(&to, hw_tolds(&sup->seg, h->hca[i]));
	}
	json_object_object_add(use, "doorbells", json_object_new_uint64(doorbells(sup, host)));
	json_object_object_add(use, "commands", json_object_new_uint64(to.commands));
	json_object_object_add(use, "made", to.made);
	json_object_object_add(use, "refused", to.refused);
	json_object_object_add(use, "calls_refused", json_object_new_uint64(to.calls_refused));
	json_object_object_add(use, "cqs_failed", json_object_new_uint64(to.cqs_failed));
	json_object_object_add(use, "errors", to.errors);
	json_object_object_add(use, "lost", to.lost);
	json_object_object_add(use, "causes", to.causes);
	json_object_object_add(o, "use", use);
}
