/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca list`: a line for each fabric. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include "cli/fabrics.h"
#include "segment/suplink.h"
#include "super/program.h"

static size_t processes(struct json_object *o)
{
	return json_object_array_length(json_object_object_get(o, "processes"));
}

static void print_names(struct json_object *fabrics)
{
	for (size_t i = 0; i < json_object_array_length(fabrics); i++)
		printf("%s\n", fabric_str(json_object_array_get_idx(fabrics, i), "fabric"));
}

static void print_table(struct json_object *fabrics)
{
	int width = 4;

	if (!json_object_array_length(fabrics)) {
		printf("no fabric is up\n");
		return;
	}
	for (size_t i = 0; i < json_object_array_length(fabrics); i++) {
		const char *name = fabric_str(json_object_array_get_idx(fabrics, i), "fabric");

		if (width < (int)strlen(name))
			width = (int)strlen(name);
	}
	printf("%-*s  %5s  %4s  %9s  %10s  %s\n", width, "NAME", "HOSTS", "USED", "PROCESSES",
	       "SUPERVISOR", "ENDS");
	for (size_t i = 0; i < json_object_array_length(fabrics); i++) {
		struct json_object *o = json_object_array_get_idx(fabrics, i);
		struct json_object *subnet = json_object_object_get(o, "subnet");
		bool private = json_object_get_boolean(json_object_object_get(o, "private"));

		printf("%-*s  %5" PRIu64 "  %4" PRIu64 "  %9zu  %10" PRIu64 "  %s\n", width,
		       fabric_str(o, "fabric"), fabric_num(subnet, "hosts"),
		       fabric_num(subnet, "hosts_used"), processes(o), fabric_num(o, "supervisor"),
		       private ? "with its command" : "by down");
	}
}

static void print_json(struct json_object *fabrics)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(fabrics); i++) {
		struct json_object *o = json_object_array_get_idx(fabrics, i);
		struct json_object *subnet = json_object_object_get(o, "subnet");
		struct json_object *f = json_object_new_object();

		for (const char *const *key = (const char *const[]){"fabric", "directory",
								    "supervisor", "private", NULL};
		     *key; key++)
			json_object_object_add(f, *key,
					       json_object_get(json_object_object_get(o, *key)));
		json_object_object_add(f, "hosts",
				       json_object_new_uint64(fabric_num(subnet, "hosts")));
		json_object_object_add(f, "hosts_used",
				       json_object_new_uint64(fabric_num(subnet, "hosts_used")));
		json_object_object_add(f, "processes", json_object_new_uint64(processes(o)));
		json_object_array_add(list, f);
	}
	json_object_object_add(all, "fabrics", list);
	fabric_print_json(all);
}

int cli_list(struct cli_options *o)
{
	struct json_object *fabrics;
	struct runtime rt;
	int r = runtime_open(&rt, false);

	if (r > 0)
		return r;
	r = fabrics_ask(&rt, "list", LINK_STATUS_NO_HOSTS, NULL, &fabrics);
	runtime_close(&rt);
	if (o->json)
		print_json(fabrics);
	else if (o->quiet)
		print_names(fabrics);
	else
		print_table(fabrics);
	json_object_put(fabrics);
	return r;
}
