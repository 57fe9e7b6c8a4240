/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca explain` by the words that programs print; the list of all words, and those like one. */
#include "cli/explain.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/card.h"
#include "cli/failed.h"
#include "engine/engine.h"
#include "fw/fw.h"
#include "wire/ib_event.h"
#include "wire/mad/names.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"
#include "wire/wqe/cqe.h"

#define ERRNOS 134
#define FIELDS_MAX 12 /* of one name */

/* ---- fields and layouts of commands */

static void put_refusals(struct json_object *o, const char *layout, const char *field)
{
	struct json_object *list = json_object_new_array();
	const struct fw_refusal *f;
	size_t n = strlen(layout);
	char text[256];

	for (unsigned int i = 0; (f = fw_refusal_at(i)); i++) {
		if (strncasecmp(f->field, layout, n) || f->field[n] != '.' ||
		    (field && strcasecmp(f->field + n + 1, field)))
			continue;
		snprintf(text, sizeof(text), "%s (0x%x): %s", f->name, f->syndrome,
			 f->reason ? f->reason : f->allowed);
		json_object_array_add(list, json_object_new_string(text));
	}
	if (json_object_array_length(list))
		json_object_object_add(o, "refusals", list);
	else
		json_object_put(list);
}

static int explain_field(struct json_object *list, const struct layout *l, const char *field)
{
	for (uint32_t i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];
		struct json_object *o;
		char name[256];

		if (strcasecmp(f->name, field))
			continue;
		snprintf(name, sizeof(name), "%s.%s", l->name, f->name);
		o = explain_meaning(list, EXPLAIN_FIELD, f->bit, name);
		explain_put_number(o, "width", f->width, true);
		put_refusals(o, l->name, f->name);
		return 1;
	}
	return 0;
}

static int explain_layout(struct json_object *list, const struct layout *l)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_LAYOUT, l->bytes, l->name);
	struct json_object *fields = json_object_new_array();
	char text[128];

	for (uint32_t i = 0; i < l->nfields; i++) {
		snprintf(text, sizeof(text), "0x%04x +%-2u %s", l->fields[i].bit,
			 l->fields[i].width, l->fields[i].name);
		json_object_array_add(fields, json_object_new_string(text));
	}
	for (uint32_t i = 0; i < l->nplaces; i++) {
		snprintf(text, sizeof(text), "0x%04x     %s: softhca explain %s",
			 l->places[i].byte * 8, l->places[i].name, l->places[i].inner->name);
		json_object_array_add(fields, json_object_new_string(text));
	}
	json_object_object_add(o, "fields", fields);
	put_refusals(o, l->name, NULL);
	return 1;
}

static int by_field(struct json_object *list, const char *word)
{
	const char *dot = strchr(word, '.');
	int found = 0;

	for (const struct layout *const *l = prm_layouts; *l && found < FIELDS_MAX; l++) {
		size_t n = strlen((*l)->name);

		if (!dot && !strcasecmp((*l)->name, word))
			found += explain_layout(list, *l);
		else if (!dot)
			found += explain_field(list, *l, word);
		else if ((size_t)(dot - word) == n && !strncasecmp((*l)->name, word, n))
			found += explain_field(list, *l, dot + 1);
	}
	return found;
}

/* ---- causes */

/* Without case and underscores: "Q_Key" is QKEY. */
static bool cause_named(const char *word, const char *name)
{
	for (;; word++, name++) {
		while (*word == '_' || *word == ' ')
			word++;
		while (*name == '_' || *name == ' ')
			name++;
		if (tolower((unsigned char)*word) != tolower((unsigned char)*name))
			return false;
		if (!*word)
			return true;
	}
}

static void put_cause(struct json_object *list, const struct eng_cause *c)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_CAUSE, 0, c->name);
	char says[256];
	size_t n = 0;

	/* The places of values. */
	for (const char *p = c->says; *p && n + 8 < sizeof(says); p++)
		if (*p == '%' && p[1])
			n += (size_t)snprintf(says + n, sizeof(says) - n, "%s",
					      strchr("pe", *++p) ? "PORT"
					      : *p == 'g'        ? "GID"
					      : strchr("st", *p) ? "..."
								 : "N");
		else
			says[n++] = *p;
	says[n] = '\0';
	explain_put(o, "says", says);
	explain_put(o, "next", c->next);
}

/* A cause of softhca's traces by its name, or all of a word such as "dropped". */
static int explain_cause(struct json_object *list, const char *word)
{
	const struct eng_cause *c;
	bool all = cause_named(word, "no answer");
	int found = 0;

	for (const struct explain_told *t = explain_tolds; t->word; t++) {
		struct json_object *o;

		if (strcasecmp(t->word, word))
			continue;
		o = explain_meaning(list, EXPLAIN_CAUSE, 0, t->word);
		explain_put(o, "means", t->means);
		explain_put(o, "next", t->next);
		all = t->has_causes;
		found++;
	}
	for (unsigned int i = 0; (c = eng_cause_at(i)); i++)
		if (all || cause_named(word, c->name)) {
			put_cause(list, c);
			found++;
		}
	return found;
}

/* ---- attributes of QPs, terms */

static int explain_attr_or_term(struct json_object *list, const char *word)
{
	const char *name = strncasecmp(word, "IBV_QP_", 7) ? word : word + 7;
	struct json_object *o;
	int found = 0;
	char full[64];

	for (const struct explain_attr *a = explain_attrs; a->means; a++) {
		if (strcasecmp(a->name, name))
			continue;
		snprintf(full, sizeof(full), "IBV_QP_%s", a->name);
		o = explain_meaning(list, EXPLAIN_ATTR, a->bit, full);
		explain_put(o, "means", a->means);
		explain_put(o, "next",
			    "man ibv_modify_qp: which transitions need it; a refused "
			    "one names what attr_mask lacks (softhca trace -Z)");
		found++;
	}
	for (const struct explain_term *t = explain_terms; t->means; t++) {
		if (strcasecmp(t->word, word))
			continue;
		o = explain_meaning(list, EXPLAIN_TERM, 0, t->word);
		explain_put(o, "means", t->means);
		explain_put(o, "next", t->next);
		found++;
	}
	return found;
}

/* ---- texts */

int explain_word(struct json_object *list, const char *word)
{
	int wc = card_wc_by_text(word), event = card_event_at_start(word), found = 0;

	if (wc >= 0)
		found += explain_wc_status(list, wc, NULL);
	if (event >= 0)
		found += explain_event(list, event);
	else if (card_event_in_text(word) >= 0)
		found += explain_event(list, card_event_in_text(word));
	found += explain_failed_word(list, word);
	if (card_health_by_text(word))
		found += explain_health(list, card_health_by_text(word));
	for (const struct explain_status *s = explain_statuses; s->means; s++)
		if (!strcasecmp(word, s->text) && strcmp(s->text, "OK"))
			found += explain_status(list, s->status);
	for (int e = 1; e < ERRNOS; e++)
		if (strerrorname_np(e) && !strcasecmp(word, strerrordesc_np(e)))
			found += explain_errno(list, e);
	/* A dotted field has its refusals already, which tell its place, too. */
	for (unsigned int i = 0; fw_refusal_at(i); i++)
		if (!strcasecmp(fw_refusal_at(i)->field, word) && strchr(word, '.'))
			return found;
	found += explain_cause(list, word) + explain_attr_or_term(list, word);
	return *word ? found + by_field(list, word) : found;
}

/* ---- all of them */

static void each_of_codes(void (*f)(void *ctx, const char *kind, const char *word), void *ctx)
{
	const struct mad_status_info *m;

	for (const struct explain_status *s = explain_statuses; s->means; s++)
		f(ctx, "command status", fw_status_name(s->status));
	for (const struct explain_cqe *c = explain_cqes; c->means; c++)
		f(ctx, "CQE syndrome", cqe_syndrome_name(c->syndrome));
	for (const struct explain_wc *w = explain_wcs; w->means; w++)
		f(ctx, "wc status", w->name);
	for (const struct card_event *e = card_events; e->means; e++)
		f(ctx, "event", ib_event_name((uint32_t)e->event));
	for (const struct card_health *h = card_healths; h->means; h++)
		f(ctx, "health syndrome", h->text);
	for (uint32_t i = 0; (m = mad_status_at(i)); i++)
		f(ctx, "MAD status", m->name);
	for (int e = 1; e < ERRNOS; e++)
		for (const struct explain_errno *x = explain_errnos; x->means; x++)
			if (x->err == e) {
				f(ctx, "errno", strerrorname_np(e));
				break;
			}
}

void explain_each_word(void (*f)(void *ctx, const char *kind, const char *word), void *ctx)
{
	char text[16];
	uint16_t op;

	each_of_codes(f, ctx);
	failed_each_word(f, ctx);
	for (const struct card_wc_text *w = card_wc_texts; w->text; w++)
		f(ctx, "text of a wc status", w->text);
	for (const struct card_syndrome *s = card_syndromes; s->says; s++) {
		snprintf(text, sizeof(text), "0x%x", s->syndrome);
		f(ctx, "card syndrome", text);
	}
	for (unsigned int i = 0; fw_refusal_at(i); i++)
		f(ctx, "syndrome of softhca", fw_refusal_at(i)->name);
	for (unsigned int i = 0; eng_cause_at(i); i++)
		f(ctx, "cause", eng_cause_at(i)->name);
	for (const struct explain_told *t = explain_tolds; t->word; t++)
		f(ctx, "cause", t->word);
	for (const struct explain_attr *a = explain_attrs; a->means; a++)
		f(ctx, "QP attribute", a->name);
	for (const struct explain_term *t = explain_terms; t->means; t++)
		f(ctx, "term", t->word);
	for (size_t n = 0; prm_opcode_at(n, &op); n++)
		f(ctx, "command opcode", fw_opcode_name(op));
	for (const struct layout *const *l = prm_layouts; *l; l++)
		f(ctx, "layout", (*l)->name);
}

/* ---- those like a word */

/* Changes of one character that turn a into b, counted up to a few. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[64], n = (unsigned int)strlen(b);

	if (n >= 63 || strlen(a) >= 63)
		return 99;
	for (unsigned int j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= n; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned int v = diagonal + !same;

			diagonal = row[j];
			v = v < row[j] + 1 ? v : row[j] + 1;
			row[j] = v < row[j - 1] + 1 ? v : row[j - 1] + 1;
		}
	}
	return row[n];
}

#define LIKE_MAX 6

struct like {
	const char *word;
	char *out;
	size_t size, count;
	bool near; /* look for misspellings, not for parts */
};

static void collect_like(void *ctx, const char *kind, const char *word)
{
	struct like *l = ctx;
	size_t n = strlen(l->out);

	if (l->count == LIKE_MAX || !(l->near ? distance(l->word, word) <= 1 + strlen(l->word) / 6
					      : strcasestr(word, l->word) != NULL))
		return;
	/* A word may be in several tables. */
	if (strstr(l->out, word))
		return;
	snprintf(l->out + n, l->size - n, "%s%s", n ? ", " : "", word);
	l->count++;
}

void explain_suggest(const char *word, char *out, size_t size)
{
	struct like l = {.word = word, .out = out, .size = size};

	*out = '\0';
	if (strlen(word) < 3 || strpbrk(word, "\n\033"))
		return;
	explain_each_word(collect_like, &l);
	if (!l.count) {
		l.near = true;
		explain_each_word(collect_like, &l);
	}
}
