/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the combination of worlds: their names, and what all of them together set and need. */
#include "world/world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int row_of(const char *name, size_t len)
{
	const struct world_row *row;

	for (int i = 0; (row = world_row((size_t)i)); i++)
		if (strlen(row->name) == len && !memcmp(row->name, name, len))
			return i;
	return -1;
}

static bool has(const struct hw_world *w, uint32_t row)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i] == row)
			return true;
	return false;
}

static int add_row(struct hw_world *w, uint32_t row, char err[WORLD_ERR])
{
	if (has(w, row))
		return 0;
	if (w->n == HW_WORLDS) {
		snprintf(err, WORLD_ERR, "more than %d worlds", HW_WORLDS);
		return -EINVAL;
	}
	w->row[w->n++] = row;
	return 0;
}

int world_join(struct hw_world *w, const struct hw_world *more, char err[WORLD_ERR])
{
	int r = 0;

	for (uint32_t i = 0; i < more->n && !r; i++)
		r = add_row(w, more->row[i], err);
	return r;
}

int world_add(struct hw_world *w, const char *names, const char **unknown, size_t *len,
	      char err[WORLD_ERR])
{
	for (const char *at = names; at; at = at[*len] ? at + *len + 1 : NULL) {
		int row;

		*len = strcspn(at, ",");
		row = row_of(at, *len);
		if (row < 0) {
			*unknown = at;
			snprintf(err, WORLD_ERR, "'%.*s' is not a world (softhca world)",
				 (int)(*len < 64 ? *len : 64), at);
			return -EINVAL;
		}
		if (add_row(w, (uint32_t)row, err)) {
			*unknown = NULL;
			return -EINVAL;
		}
	}
	return 0;
}

static void most(uint32_t *a, uint32_t b)
{
	if (*a < b)
		*a = b;
}

/* The world among the first n whose row sets `what`; "" if a value has another origin. */
static const char *who_sets(const struct hw_world *w, uint32_t n, enum hw_setting what)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct world_row *row = world_row(w->row[i]);

		for (size_t k = 0; k < WORLD_SETS && row->set[k].what; k++)
			if (row->set[k].what == what)
				return row->name;
	}
	return "";
}

static const char *who_needs_link(const struct hw_world *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (world_row(w->row[i])->needs.link)
			return world_row(w->row[i])->name;
	return "";
}

static const char *link_name(enum world_link link)
{
	return link == WORLD_ETH ? "Ethernet" : "InfiniBand";
}

static int settle_row(struct hw_world *w, uint32_t i, struct world_needs *needs,
		      char err[WORLD_ERR])
{
	const struct world_row *row = world_row(w->row[i]);
	char a[WORLD_VALUE], b[WORLD_VALUE];

	if (row->needs.link && needs->link && row->needs.link != needs->link) {
		snprintf(err, WORLD_ERR, "worlds %s and %s contradict each other: %s and %s",
			 who_needs_link(w), row->name, link_name(needs->link),
			 link_name(row->needs.link));
		return -EINVAL;
	}
	if (row->needs.link)
		needs->link = row->needs.link;
	most(&needs->hosts, row->needs.hosts);
	most(&needs->hcas, row->needs.hcas);
	most(&needs->ports, row->needs.ports);
	for (size_t k = 0; k < WORLD_SETS && row->set[k].what; k++) {
		enum hw_setting what = row->set[k].what;
		uint32_t *v = &w->value[what];

		if (*v && *v != row->set[k].value) {
			snprintf(err, WORLD_ERR,
				 "worlds %s and %s contradict each other: %s is '%s' and '%s'",
				 who_sets(w, i, what), row->name, world_setting(what),
				 world_value(what, *v, a), world_value(what, row->set[k].value, b));
			return -EINVAL;
		}
		*v = row->set[k].value;
	}
	return 0;
}

int world_settle(struct hw_world *w, struct world_needs *needs, char err[WORLD_ERR])
{
	int r = 0;

	*needs = (struct world_needs){0};
	memset(w->value, 0, sizeof(w->value));
	for (uint32_t i = 0; i < w->n && !r; i++)
		r = settle_row(w, i, needs, err);
	return r;
}

char *world_names(const struct hw_world *w, char buf[WORLD_NAMES])
{
	size_t n = 0;

	buf[0] = 0;
	for (uint32_t i = 0; i < w->n; i++)
		n += (size_t)snprintf(buf + n, WORLD_NAMES - n, "%s%s", i ? "," : "",
				      world_row(w->row[i])->name);
	return buf;
}
