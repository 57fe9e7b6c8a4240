/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca status`: asks the supervisors for their JSON, and prints it, or text made from it. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/client.h"
#include "super/program.h"
#include "super/runtime.h"
#include "util/cleanup.h"

/* ---- the text ---- */

static const char *str(struct json_object *o, const char *key)
{
	const char *s = json_object_get_string(json_object_object_get(o, key));

	return s ? s : "";
}

static uint64_t num(struct json_object *o, const char *key)
{
	return json_object_get_uint64(json_object_object_get(o, key));
}

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

static void print_fabric(struct json_object *o)
{
	struct json_object *objects = json_object_object_get(o, "objects");
	struct json_object *item;

	printf("fabric %s%s  supervisor pid %" PRIu64 "  %s\n", str(o, "fabric"),
	       json_object_get_boolean(json_object_object_get(o, "private"))
		       ? " (of a running command)"
		       : "",
	       num(o, "supervisor"), str(o, "directory"));
	print_hosts(json_object_object_get(o, "hosts"));
	printf("  objects ");
	if (objects) {
		json_object_object_foreach(objects, key, val)
		{
			printf(" %s %" PRIu64, key, json_object_get_uint64(val));
		}
	}
	printf("\n");
	for_each(json_object_object_get(o, "processes"), item, i)
		printf("  process %" PRIu64 "  %s  on %s  pinned %" PRIu64 " bytes\n",
		       num(item, "pid"), str(item, "comm"), str(item, "host"), num(item, "pinned"));
	for_each(json_object_object_get(o, "files"), item, i)
		printf("  file %s of %s on %s  opened by pid %" PRIu64 "\n", str(item, "kind"),
		       str(item, "hca"), str(item, "host"), num(item, "pid"));
}

/* ---- asking ---- */

/* Returns the parsed answer of a fabric, or NULL and *err. */
static struct json_object *status_ask(struct runtime *rt, const char *name, int *err)
{
	_cleanup_close_ int sock = runtime_connect(rt, name);
	_cleanup_close_ int fd = -1;
	struct link_msg m = {.op = LINK_STATUS};
	struct json_object *o;
	struct stat st;
	char *text;

	*err = sock < 0 ? sock : client_request(sock, &m, &fd);
	if (!*err && (fd < 0 || fstat(fd, &st) < 0))
		*err = -EPROTO;
	if (*err)
		return NULL;
	text = calloc(1, (size_t)st.st_size + 1);
	if (!text || pread(fd, text, (size_t)st.st_size, 0) != st.st_size) {
		free(text);
		*err = -ENOMEM;
		return NULL;
	}
	o = json_tokener_parse(text);
	free(text);
	if (!o)
		*err = -EPROTO;
	return o;
}

struct listing {
	struct runtime *rt;
	struct json_object *fabrics;
};

static int add_fabric(void *arg, const char *name)
{
	struct listing *l = arg;
	struct json_object *o;
	int err;

	o = status_ask(l->rt, name, &err);
	if (o)
		json_object_array_add(l->fabrics, o);
	else if (err != -ENOENT && err != -ECONNREFUSED && err != -ECONNRESET) /* just ending */
		return prog_fail("fabric '%s' does not answer: %s", name, strerror(-err));
	return 0;
}

static int print_json(struct json_object *o)
{
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	return 0;
}

static int status_one(struct runtime *rt, const char *name, bool json)
{
	struct json_object *o;
	int err = -ENOENT;

	o = rt->fd < 0 ? NULL : status_ask(rt, name, &err);
	if (!o)
		return err == -ENOENT || err == -ECONNREFUSED
			       ? prog_fail("there is no fabric '%s'", name)
			       : prog_fail("fabric '%s' does not answer: %s", name, strerror(-err));
	if (json)
		print_json(o);
	else
		print_fabric(o);
	json_object_put(o);
	return 0;
}

static int status_all(struct runtime *rt, bool json)
{
	struct listing l = {.rt = rt, .fabrics = json_object_new_array()};
	struct json_object *o;
	int r = 0;

	if (rt->fd >= 0)
		r = runtime_for_each(rt, add_fabric, &l);
	if (r < 0)
		r = prog_fail("cannot read %s: %s", rt->path, strerror(-r));
	if (!r && !json) {
		for_each(l.fabrics, o, i) print_fabric(o);
		if (!json_object_array_length(l.fabrics))
			printf("no fabric is up\n");
	}
	if (!r && json) {
		o = json_object_new_object();
		json_object_object_add(o, "fabrics", json_object_get(l.fabrics));
		print_json(o);
		json_object_put(o);
	}
	json_object_put(l.fabrics);
	return r;
}

int cli_status(struct cli_options *o)
{
	struct runtime rt;
	int r = runtime_open(&rt, false);

	if (r > 0)
		return r;
	r = o->argc ? status_one(&rt, o->argv[0], o->json) : status_all(&rt, o->json);
	runtime_close(&rt);
	if (!r && fflush(stdout))
		r = prog_fail("standard output: %s", strerror(errno));
	return r;
}
