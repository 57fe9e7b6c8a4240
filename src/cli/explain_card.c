/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Meanings of what real cards report, as far as it is public. */
#include "cli/explain.h"

#include <stdio.h>
#include <string.h>
#include "cli/card.h"
#include "engine/engine.h"
#include "wire/ib_event.h"
#include "wire/wqe/cqe.h"

#define TEXT 512

static void put_list(struct json_object *o, const char *key, struct json_object *list)
{
	if (json_object_array_length(list))
		json_object_object_add(o, key, list);
	else
		json_object_put(list);
}

static void list_text(struct json_object *list, const char *text)
{
	json_object_array_add(list, json_object_new_string(text));
}

/* Can the operation that was seen fail for this reason? */
static bool is_of(const struct eng_failure *f, const struct explain_seen *seen)
{
	unsigned int op = seen ? card_op_by_name(seen->op) : 0;

	if (!op || !f->of)
		return true;
	for (const char *s = f->of; *s; s += strspn(s, " ")) {
		if (card_op_by_name(s) & op)
			return true;
		s += strcspn(s, " ");
	}
	return false;
}

/* softhca's own reasons for this syndrome, or for one vendor_err of it. */
static void list_ours(struct json_object *list, uint8_t syndrome, const struct explain_seen *seen)
{
	const struct eng_failure *f;
	char text[TEXT];

	for (unsigned int n = 0; (f = eng_failure_at(n)); n++) {
		if (f->syndrome != syndrome || (seen && f->vendor_err != seen->vendor_err) ||
		    !is_of(f, seen))
			continue;
		snprintf(text, sizeof(text), "0x%02x on softhca: %s", f->vendor_err, f->text);
		list_text(list, text);
	}
}

static void list_cards(struct json_object *list, uint8_t syndrome)
{
	char text[TEXT];

	for (const struct card_vendor_err *v = card_vendor_errs; v->seen; v++) {
		if (v->syndrome != syndrome)
			continue;
		snprintf(text, sizeof(text), "0x%02x on cards: %s", v->vendor_err, v->seen);
		list_text(list, text);
	}
}

void explain_put_vendor_errs(struct json_object *o, uint8_t syndrome,
			     const struct explain_seen *seen)
{
	const struct card_vendor_err *v;
	struct json_object *list;
	char text[TEXT];

	list = json_object_new_array();
	if (!seen || !seen->has_vendor) {
		list_cards(list, syndrome);
		list_ours(list, syndrome, NULL);
		put_list(o, "vendor_err", list);
		return;
	}
	v = card_vendor_err_find(syndrome, seen->vendor_err);
	if (v)
		snprintf(text, sizeof(text), "0x%02x on cards: %s (%s)", v->vendor_err, v->seen,
			 v->source);
	else
		snprintf(text, sizeof(text),
			 "0x%02x: unknown; no public log of an mlx5 card has it with this status",
			 seen->vendor_err);
	list_text(list, text);
	list_ours(list, syndrome, seen);
	put_list(o, "vendor_err", list);
}

void explain_put_steps(struct json_object *o, int wc, const struct explain_seen *seen)
{
	struct json_object *list = json_object_new_array();
	unsigned int op = seen ? card_op_by_name(seen->op) : 0;
	char text[TEXT];

	for (const struct card_step *s = card_steps; s->cause; s++) {
		if (s->wc != wc || (s->roce && seen && !seen->roce) ||
		    (op && s->ops && !(op & s->ops)))
			continue;
		snprintf(text, sizeof(text), "%zu. %s. Next: %s",
			 json_object_array_length(list) + 1, s->cause, s->next);
		list_text(list, text);
	}
	put_list(o, "likely", list);
}

int explain_vendor_err(struct json_object *list, uint32_t vendor_err)
{
	const struct eng_failure *f;
	struct json_object *o;
	int found = 0;

	if (vendor_err > UINT8_MAX)
		return 0;
	for (const struct card_vendor_err *v = card_vendor_errs; v->seen; v++) {
		if (v->vendor_err != vendor_err)
			continue;
		o = explain_meaning(list, EXPLAIN_VENDOR_ERR, vendor_err,
				    cqe_syndrome_name(v->syndrome));
		explain_put(o, "means", v->seen);
		explain_put(o, "on", "ConnectX cards, as logs show");
		explain_put(o, "source", v->source);
		found++;
	}
	for (unsigned int n = 0; (f = eng_failure_at(n)); n++) {
		if (!f->syndrome || f->vendor_err != vendor_err)
			continue;
		o = explain_meaning(list, EXPLAIN_VENDOR_ERR, vendor_err,
				    cqe_syndrome_name(f->syndrome));
		explain_put(o, "means", f->text);
		explain_put(o, "on", "softhca");
		found++;
	}
	return found;
}

int explain_card_syndrome(struct json_object *list, uint32_t syndrome)
{
	const struct card_syndrome *s = syndrome ? card_syndrome_find(syndrome) : NULL;
	struct json_object *o;

	if (!s)
		return 0;
	o = explain_meaning(list, EXPLAIN_CARD, syndrome, *s->command ? s->command : "?");
	explain_put(o, "seen", s->says);
	explain_put(o, "source", s->source);
	if (s->firmware)
		explain_put(o, "firmware", s->firmware);
	explain_put(o, "hint",
		    "from public logs; NVIDIA publishes no list, and meanings differ by firmware");
	return 1;
}

int explain_event(struct json_object *list, int event)
{
	for (const struct card_event *e = card_events; e->means; e++) {
		struct json_object *o;

		if (e->event != event)
			continue;
		o = explain_meaning(list, EXPLAIN_EVENT, (uint64_t)event,
				    ib_event_name((uint32_t)event));
		explain_put(o, "text", e->text);
		explain_put(o, "means", e->means);
		explain_put(o, "next", e->next);
		return 1;
	}
	return 0;
}

int explain_health(struct json_object *list, uint8_t syndrome)
{
	for (const struct card_health *h = card_healths; h->means; h++) {
		struct json_object *o;

		if (h->syndrome != syndrome)
			continue;
		o = explain_meaning(list, EXPLAIN_HEALTH, syndrome, h->text);
		explain_put(o, "means", h->means);
		explain_put(o, "next", h->next);
		return 1;
	}
	return 0;
}

/* CQ_ERROR's syndrome in the PRM: 1 overrun, 2 access violation. */
int explain_cq_error(struct json_object *list, uint32_t syndrome)
{
	static const char *const names[] = {"?", "OVERRUN", "ACCESS_VIOLATION"};
	static const char *const means[] = {
		"the event CQ_ERROR, with a syndrome that is not documented",
		"the CQ overflowed: more completions came than it has entries for",
		"the card could not write the CQ's buffer",
	};
	static const char *const next[] = {
		"the QPs of this CQ are in error; look for what happened before",
		"size the CQ for all work requests that can complete into it, or poll more often",
		"the buffer was unmapped or freed, or the IOMMU refused it",
	};
	size_t i = syndrome < 3 ? syndrome : 0;
	struct json_object *o = explain_meaning(list, EXPLAIN_CQ_ERROR, syndrome, names[i]);

	explain_put(o, "means", means[i]);
	explain_put(o, "next", next[i]);
	return 1;
}

void explain_old_card(struct json_object *list, uint32_t vendor_err, const char *device)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_OLD_CARD, vendor_err, device);

	explain_put(o, "means", "this vendor_err has other meanings than on mlx5");
}
