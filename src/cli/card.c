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

static int card_event_by_text(const char *text)
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

/* ---- events inside of messages */

/* Length of the event's text at the start of `s`, as a whole word; 0: it is another text. */
static size_t text_length(const char *s, const char *text)
{
	size_t n = strlen(text);

	return !strncasecmp(s, text, n) && !isalnum((unsigned char)s[n]) ? n : 0;
}

static void longer(const char *s, const char *text, int event, int *found, size_t *longest)
{
	size_t n = text_length(s, text);

	if (n <= *longest)
		return;
	*longest = n;
	*found = event;
}

int card_event_at_start(const char *text)
{
	int found = card_event_by_text(text);
	size_t longest = 0;

	for (const struct card_event *e = card_events; found < 0 && e->means; e++) {
		longer(text, e->text, e->event, &found, &longest);
		longer(text, e->kernel, e->event, &found, &longest);
	}
	for (const struct card_event_text *t = card_event_texts; found < 0 && t->text; t++)
		longer(text, t->text, t->event, &found, &longest);
	return found;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The event after this word, which is one of its own. */
static int event_after(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = strcasestr(text, word); s; s = strcasestr(s + 1, word)) {
		int event = -1;

		if ((s > text && in_word(s[-1])) || in_word(s[n]))
			continue;
		for (const char *at = s + n; *at && event < 0; at++)
			if (!isalnum((unsigned char)at[-1]) && isalpha((unsigned char)*at))
				event = card_event_at_start(at);
		if (event >= 0)
			return event;
	}
	return -1;
}

int card_event_in_text(const char *text)
{
	static const char *const words[] = {"event", "evt", "event_type"};
	int event = -1;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && event < 0; i++)
		event = event_after(text, words[i]);
	return event;
}

/* ---- operations */

unsigned int card_op_by_name(const char *name)
{
	static const struct {
		const char *begins;
		unsigned int op;
	} ops[] = {
		{"RDMA_WRITE_IMM", CARD_OP_WRITE | CARD_OP_IMM},
		{"RDMA_WRITE", CARD_OP_WRITE},
		{"RDMA_READ", CARD_OP_READ},
		{"SEND", CARD_OP_SEND},
		{"IMM", CARD_OP_IMM},
		{"RECV", CARD_OP_RECV},
		{"ATOMIC", CARD_OP_ATOMIC},
		{"MASKED_", CARD_OP_ATOMIC},
		{"CS", CARD_OP_ATOMIC},
		{"FA", CARD_OP_ATOMIC},
	};

	if (!name || !*name)
		return 0;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strncasecmp(name, ops[i].begins, strlen(ops[i].begins)))
			return ops[i].op;
	return CARD_OP_OTHER;
}
