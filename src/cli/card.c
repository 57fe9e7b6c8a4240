/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Look-ups in the tables of what is publicly known of cards. */
#include "cli/card.h"

#include <ctype.h>
#include <string.h>
#include "cli/explain.h"
#include "wire/ib_event.h"

const struct card_vendor_err *card_vendor_err_find(uint8_t syndrome, uint32_t vendor_err)
{
	for (const struct card_vendor_err *v = card_vendor_errs; v->seen; v++)
		if (v->syndrome == syndrome && v->vendor_err == vendor_err)
			return v;
	return NULL;
}

const struct card_syndrome *card_syndrome_find(uint32_t syndrome)
{
	for (const struct card_syndrome *s = card_syndromes; s->says; s++)
		if (s->syndrome == syndrome)
			return s;
	return NULL;
}

/* The name of a constant, with or without prefix, and with or without "_ERR". */
static bool is_constant(const char *word, const char *const *prefixes, const char *name)
{
	size_t n;

	for (; *prefixes; prefixes++)
		if (!strncasecmp(word, *prefixes, strlen(*prefixes))) {
			word += strlen(*prefixes);
			break;
		}
	n = strlen(word);
	return !strcasecmp(word, name) ||
	       (strlen(name) == n + 4 && !strncasecmp(word, name, n) && !strcmp(name + n, "_ERR"));
}

int card_wc_by_text(const char *text)
{
	static const char *const prefixes[] = {"IBV_WC_", "IB_WC_", "WC_", NULL};

	for (const struct card_wc_text *w = card_wc_texts; w->text; w++)
		if (!strcasecmp(text, w->text))
			return w->wc;
	for (const struct explain_wc *w = explain_wcs; w->means; w++)
		if (is_constant(text, prefixes, w->name))
			return w->wc;
	return -1;
}

int card_wc_in_text(const char *text)
{
	for (const struct card_wc_text *w = card_wc_texts; w->text; w++) {
		const char *s = w->common ? NULL : strcasestr(text, w->text);

		if (s && (s == text || !isalnum((unsigned char)s[-1])) &&
		    !isalnum((unsigned char)s[strlen(w->text)]))
			return w->wc;
	}
	return -1;
}

int card_event_by_text(const char *text)
{
	static const char *const prefixes[] = {"IBV_EVENT_", "IB_EVENT_", "EVENT_", NULL};

	for (const struct card_event *e = card_events; e->means; e++)
		if (!strcasecmp(text, e->text) || !strcasecmp(text, e->kernel) ||
		    is_constant(text, prefixes, ib_event_name((uint32_t)e->event)))
			return e->event;
	return -1;
}

uint8_t card_health_by_text(const char *text)
{
	for (const struct card_health *h = card_healths; h->means; h++)
		if (!strcasecmp(text, h->text))
			return h->syndrome;
	return 0;
}
