/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca status`: asks the supervisors for their JSON, and prints it, or text made from it. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/fabrics.h"
#include "segment/suplink.h"
#include "super/program.h"

#define str fabric_str
#define num fabric_num

#define for_each(array, item, i)                                               \
	for (size_t i = 0, _n = (array) ? json_object_array_length(array) : 0; \
	     i < _n && ((item) = json_object_array_get_idx((array), i)); i++)

static void print_port(struct json_object *port)
{
	printf("      port %" PRIu64 "  %s/%s  ", num(port, "port"), str(port, "state"),
	       str(port, "phys_state"));
	if (json_object_object_get(port, "lid"))
		printf("LID %" PRIu64, num(port, "lid"));
	else
		printf("Ethernet %s %s", str(port, "netdev"), str(port, "mac"));
	printf("  sent %" PRIu64 " packets, received %" PRIu64 "\n", num(port, "xmit_packets"),
	       num(port, "rcv_packets"));
}

static void print_hosts(struct json_object *hosts)
{
	struct json_object *host, *hca, *port;

	for_each(hosts, host, i)
	{
		printf("  host %s\n", str(host, "name"));
		for_each(json_object_object_get(host, "hcas"), hca, k)
		{
			printf("    %s  %s  node GUID %s\n", str(hca, "name"), str(hca, "type"),
			       str(hca, "node_guid"));
			for_each(json_object_object_get(hca, "ports"), port, p) print_port(port);
		}
	}
}

static void print_objects(struct json_object *objects, bool all)
{
	bool any = false;

	if (!objects)
		return;
	json_object_object_foreach(objects, key, val)
	{
		if (!all && !json_object_get_uint64(val))
			continue;
		printf("%s %s %" PRIu64, any ? "" : "  objects ", key, json_object_get_uint64(val));
		any = true;
	}
	if (any)
		printf("\n");
}

static void print_fabric(struct json_object *o, bool all)
{
	struct json_object *subnet = json_object_object_get(o, "subnet"), *item;
	uint64_t hosts = num(subnet, "hosts");

	printf("fabric %s%s  %" PRIu64 " host%s, %" PRIu64 " used  supervisor pid %" PRIu64
	       "  %s\n",
	       str(o, "fabric"),
	       json_object_get_boolean(json_object_object_get(o, "private"))
		       ? " (of a running command)"
		       : "",
	       hosts, hosts == 1 ? "" : "s", num(subnet, "hosts_used"), num(o, "supervisor"),
	       str(o, "directory"));
	for_each(json_object_object_get(o, "worlds"), item, i)
		printf("%s%s", i ? "," : "  world ", json_object_get_string(item));
	if (json_object_array_length(json_object_object_get(o, "worlds")))
		printf("\n");
	print_hosts(json_object_object_get(o, "hosts"));
	print_objects(json_object_object_get(o, "objects"), all);
	for_each(json_object_object_get(o, "processes"), item, i)
	{
		/* The console's Attached and X call the slot "client". */
		printf("  process %" PRIu64 "  %s  on %s  client %" PRIu64 "  pinned %" PRIu64
		       " bytes",
		       num(item, "pid"), str(item, "comm"), str(item, "host"), num(item, "slot"),
		       num(item, "pinned"));
		if (num(item, "adopted"))
			printf(", adopted %" PRIu64, num(item, "adopted"));
		if (!strcmp(str(item, "copies"), "descriptor"))
			printf(", copies through its mem descriptor (process_vm_* is refused)");
		printf("\n");
	}
	for_each(json_object_object_get(o, "files"), item, i)
		printf("  file %s of %s on %s  opened by pid %" PRIu64 "\n", str(item, "kind"),
		       str(item, "hca"), str(item, "host"), num(item, "pid"));
}

/* Processes and files of other hosts are left out, too. The objects are the whole fabric's. */
static void keep_host(struct json_object *o, const char *host)
{
	static const char *const lists[] = {"processes", "files"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct json_object *kept = json_object_new_array(), *item;

		for_each(json_object_object_get(o, lists[i]), item,
			 k) if (!strcmp(str(item, "host"), host))
			json_object_array_add(kept, json_object_get(item));
		json_object_object_add(o, lists[i], kept);
	}
}

static int status_one(struct runtime *rt, const struct cli_options *o, uint32_t arg)
{
	const char *name = o->argv[0];
	struct json_object *f;
	int err;

	f = fabric_ask(rt, name, arg, o->host, &err);
	if (!f && (err == -ENOENT || err == -ECONNREFUSED))
		return prog_fail("status: there is no fabric '%s'", name);
	if (!f && err == -ENODEV)
		return prog_fail("status: there is no host '%s' on fabric '%s'", o->host, name);
	if (!f)
		return prog_fail("status: fabric '%s' does not answer: %s", name, strerror(-err));
	if (o->host)
		keep_host(f, o->host);
	if (o->json) {
		fabric_print_json(f);
		return 0;
	}
	print_fabric(f, o->all);
	json_object_put(f);
	return 0;
}

static int status_all(struct runtime *rt, const struct cli_options *o, uint32_t arg)
{
	struct json_object *fabrics, *f;
	int r = fabrics_ask(rt, "status", arg, o->host, &fabrics);
	bool none = !json_object_array_length(fabrics);

	if (o->host)
		for_each(fabrics, f, i) keep_host(f, o->host);
	if (o->json) {
		f = json_object_new_object();
		json_object_object_add(f, "fabrics", fabrics);
		fabric_print_json(f);
		return r;
	}
	for_each(fabrics, f, i) print_fabric(f, o->all);
	json_object_put(fabrics);
	if (none && o->host && !r)
		return prog_fail("status: there is no host '%s' on any fabric", o->host);
	if (none && !r)
		printf("no fabric is up\n");
	return r;
}

int cli_status(struct cli_options *o)
{
	/* JSON is for programs, which search it: it is complete. */
	uint32_t arg = o->all || o->json || o->host ? 0 : LINK_STATUS_USED;
	struct runtime rt;
	int r = runtime_open(&rt, false);

	if (r > 0)
		return r;
	r = o->argc ? status_one(&rt, o, arg) : status_all(&rt, o, arg);
	runtime_close(&rt);
	return r;
}
