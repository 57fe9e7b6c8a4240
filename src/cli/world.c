/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca world`: lists the worlds, and what each changes; and --world of other commands. */
#include "cli/cli.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "cli/fabrics.h"
#include "fabric/topo.h"
#include "fw/caps.h"
#include "super/program.h"
#include "util/suggest.h"
#include "world/world.h"

/* ---- --world */

int world_option(struct cli_options *o, const char *arg)
{
	const char *unknown = NULL;
	char err[WORLD_ERR];
	struct suggest s;
	size_t len;

	if (!world_add(&o->fab.world, arg, &unknown, &len, err))
		return 0;
	suggest_begin(&s, unknown, unknown ? len : 0);
	for (size_t i = 0; unknown && world_row(i); i++)
		suggest_add(&s, world_row(i)->name);
	return prog_fail("%s: --world: %s%s%s%s", o->verb, err, s.best ? "; did you mean " : "",
			 s.best ? s.best : "", s.best ? "?" : "");
}

static int unfit(char err[WORLD_UNFIT], const char *f, ...) __attribute__((format(printf, 2, 3)));
static int unfit(char err[WORLD_UNFIT], const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	vsnprintf(err, WORLD_UNFIT, f, ap);
	va_end(ap);
	return -EINVAL;
}

/* The worlds in `o` need at least `n`, and the user has said `*have`, or nothing: 0. */
static int at_least(const struct cli_options *o, const char *option, uint32_t *have, uint32_t n,
		    char err[WORLD_UNFIT])
{
	char names[WORLD_NAMES];

	if (*have && *have < n)
		return unfit(err, "--%s %u: --world %s needs %u", option, *have,
			     world_names(&o->fab.world, names), n);
	if (!*have)
		*have = n ? n : 1;
	return 0;
}

static int check_topology(const struct cli_options *o, const struct topo *t,
			  const struct world_needs *needs, char err[WORLD_UNFIT])
{
	char names[WORLD_NAMES];
	bool hcas = !needs->hcas, ports = !needs->ports;

	for (uint32_t h = 0; h < t->nhosts && !hcas; h++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < t->nnodes; i++)
			n += t->node[i].type == TOPO_CA && t->node[i].host == h;
		hcas = n >= needs->hcas;
	}
	for (uint32_t i = 0; i < t->nnodes && !ports; i++)
		ports = t->node[i].type == TOPO_CA && t->node[i].nports >= needs->ports;
	world_names(&o->fab.world, names);
	if (!hcas)
		return unfit(err, "--world %s needs a host with %u adapters: %s has none", names,
			     needs->hcas, o->topo);
	if (!ports)
		return unfit(err, "--world %s needs an adapter with %u ports: %s has none", names,
			     needs->ports, o->topo);
	if (t->nhosts < needs->hosts)
		return unfit(err, "--world %s needs %u hosts: %s has %u", names, needs->hosts,
			     o->topo, t->nhosts);
	return 0;
}

/* The hosts of a fabric that the command line alone describes. */
static int fill_size(struct cli_options *o, const struct world_needs *needs, char err[WORLD_UNFIT])
{
	int r = at_least(o, "hosts", &o->fab.hosts, needs->hosts, err);

	if (!r)
		r = at_least(o, "hca", &o->fab.hcas, needs->hcas, err);
	return r ? r : at_least(o, "ports", &o->fab.ports, needs->ports, err);
}

static int fill_link(struct cli_options *o, enum world_link needs, char err[WORLD_UNFIT])
{
	enum hw_link want = needs == WORLD_ETH ? HW_LINK_ETH : HW_LINK_IB;
	char names[WORLD_NAMES];

	if (!needs)
		return 0;
	if ((o->given & CLI_LINK_LAYER) && o->fab.link != want)
		return unfit(err, "--link %s: --world %s needs %s",
			     want == HW_LINK_IB ? "eth" : "ib", world_names(&o->fab.world, names),
			     want == HW_LINK_IB ? "InfiniBand" : "Ethernet");
	o->fab.link = want;
	return 0;
}

static int fill_model(struct cli_options *o, char err[WORLD_UNFIT])
{
	uint32_t want = o->fab.world.value[HW_SET_MODEL];
	char names[WORLD_NAMES];

	if (want && (o->given & CLI_MODEL) && o->fab.model != want)
		return unfit(err, "--device: --world %s is another one",
			     world_names(&o->fab.world, names));
	if (want)
		o->fab.model = (enum hw_model)want;
	o->fab.caps = fw_caps_of(o->fab.model, &o->fab.world);
	return 0;
}

int world_fit(struct cli_options *o, const struct topo *t, char err[WORLD_UNFIT])
{
	struct world_needs needs;
	char why[WORLD_ERR];
	int r = world_join(&o->fab.world, &t->world, why);

	if (!r)
		r = world_settle(&o->fab.world, &needs, why);
	if (r)
		return unfit(err, "--world: %s", why);
	r = fill_model(o, err);
	if (!r)
		r = fill_link(o, needs.link, err);
	if (r)
		return r;
	return o->topo ? check_topology(o, t, &needs, err) : fill_size(o, &needs, err);
}

int world_prepare(struct cli_options *o, const struct topo *t)
{
	char err[WORLD_UNFIT];

	return world_fit(o, t, err) ? prog_fail("%s: %s", o->verb, err) : 0;
}

/* ---- the list */

static void print_list(void)
{
	const char *group = "";
	int width = 0;

	for (size_t i = 0; world_row(i); i++)
		if (width < (int)strlen(world_row(i)->name))
			width = (int)strlen(world_row(i)->name);
	for (size_t i = 0; world_row(i); i++) {
		const struct world_row *row = world_row(i);

		if (strcmp(group, row->group) != 0)
			printf("%s%s\n", *group ? "\n" : "", row->group);
		group = row->group;
		printf("  %-*s  %s\n", width, row->name, row->what);
	}
	printf("\nsofthca world NAME             what it changes, and why programs fail there\n"
	       "softhca run --world NAME -- CMD   run a command there\n");
}

static struct json_object *row_json(const struct world_row *row)
{
	struct json_object *o = json_object_new_object(), *set = json_object_new_object();
	const struct world_needs *n = &row->needs;
	char buf[WORLD_VALUE];

	json_object_object_add(o, "world", json_object_new_string(row->name));
	json_object_object_add(o, "group", json_object_new_string(row->group));
	json_object_object_add(o, "what", json_object_new_string(row->what));
	json_object_object_add(o, "why", json_object_new_string(row->why));
	json_object_object_add(o, "case", row->source ? json_object_new_string(row->source) : NULL);
	for (size_t k = 0; k < WORLD_SETS && row->set[k].what; k++) {
		enum hw_setting what = row->set[k].what;
		uint32_t v = row->set[k].value;

		json_object_object_add(set, world_setting(what),
				       world_is_number(what)
					       ? json_object_new_int64(v)
					       : json_object_new_string(world_value(what, v, buf)));
	}
	json_object_object_add(o, "sets", set);
	json_object_object_add(o, "link",
			       n->link ? json_object_new_string(n->link == WORLD_IB ? "ib" : "eth")
				       : NULL);
	json_object_object_add(o, "hosts", json_object_new_int64(n->hosts ? n->hosts : 1));
	json_object_object_add(o, "hca", json_object_new_int64(n->hcas ? n->hcas : 1));
	json_object_object_add(o, "ports", json_object_new_int64(n->ports ? n->ports : 1));
	return o;
}

static void print_needs(const struct world_needs *n)
{
	static const char *const links[] = {NULL, "InfiniBand", "Ethernet"};
	const struct {
		uint32_t n;
		const char *what;
	} rows[] = {{n->hosts, "hosts"}, {n->hcas, "adapters"}, {n->ports, "ports"}};

	if (links[n->link])
		printf("  needs  %s\n", links[n->link]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].n > 1)
			printf("  needs  %u %s\n", rows[i].n, rows[i].what);
}

static void print_row(const struct world_row *row)
{
	printf("%s: %s\n", row->name, row->what);
	for (size_t k = 0; k < WORLD_SETS && row->set[k].what; k++) {
		char buf[WORLD_VALUE];

		printf("  sets   %s: %s\n", world_setting(row->set[k].what),
		       world_value(row->set[k].what, row->set[k].value, buf));
	}
	print_needs(&row->needs);
	printf("  why    %s\n", row->why);
	if (row->source)
		printf("  case   %s\n", row->source);
}

int cli_world(struct cli_options *o)
{
	struct json_object *list = o->json ? json_object_new_array() : NULL;

	for (int i = 0; i < o->argc; i++) {
		o->fab.world.n = 0;
		if (world_option(o, o->argv[i])) {
			json_object_put(list);
			return PROG_FAILED;
		}
		for (uint32_t k = 0; k < o->fab.world.n; k++) {
			const struct world_row *row = world_row(o->fab.world.row[k]);

			if (list)
				json_object_array_add(list, row_json(row));
			else
				print_row(row);
		}
	}
	for (size_t i = 0; list && !o->argc && world_row(i); i++)
		json_object_array_add(list, row_json(world_row(i)));
	if (list)
		fabric_print_json(list);
	else if (!o->argc)
		print_list();
	return 0;
}
