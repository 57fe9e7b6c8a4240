/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asks all supervisors of a runtime directory for their state. `list` and `status` use it. */
#include "cli/fabrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/client.h"
#include "super/program.h"
#include "util/cleanup.h"

const char *fabric_str(struct json_object *o, const char *key)
{
	const char *s = json_object_get_string(json_object_object_get(o, key));

	return s ? s : "";
}

uint64_t fabric_num(struct json_object *o, const char *key)
{
	return json_object_get_uint64(json_object_object_get(o, key));
}

void fabric_print_json(struct json_object *o)
{
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

struct json_object *fabric_ask(struct runtime *rt, const char *name, uint32_t arg, const char *host,
			       int *err)
{
	_cleanup_close_ int sock = rt->fd < 0 ? -ENOENT : runtime_connect(rt, name);
	struct link_msg m = {.op = LINK_STATUS, .arg = arg};

	if (host) {
		m.arg |= LINK_STATUS_HOST;
		snprintf(m.host, sizeof(m.host), "%s", host);
	}
	*err = sock < 0 ? sock : host && strlen(host) >= sizeof(m.host) ? -ENODEV : 0;
	return *err ? NULL : client_status(sock, &m, err);
}

struct listing {
	struct runtime *rt;
	const char *verb, *host;
	uint32_t arg;
	struct json_object *fabrics;
	int r;
};

static int add_fabric(void *arg, const char *name)
{
	struct listing *l = arg;
	struct json_object *o;
	int err;

	o = fabric_ask(l->rt, name, l->arg, l->host, &err);
	if (o)
		json_object_array_add(l->fabrics, o);
	else if (err != -ENOENT && err != -ECONNREFUSED && err != -ECONNRESET && /* just ending */
		 err != -ENODEV)
		l->r = prog_fail("%s: fabric '%s' does not answer: %s", l->verb, name,
				 strerror(-err));
	return 0;
}

static int by_name(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;

	return strverscmp(fabric_str(*x, "fabric"), fabric_str(*y, "fabric"));
}

int fabrics_ask(struct runtime *rt, const char *verb, uint32_t arg, const char *host,
		struct json_object **out)
{
	struct listing l = {.rt = rt,
			    .verb = verb,
			    .host = host,
			    .arg = arg,
			    .fabrics = json_object_new_array()};
	int r = rt->fd < 0 ? 0 : runtime_for_each(rt, add_fabric, &l);

	if (r < 0)
		l.r = prog_fail("%s: cannot read %s: %s", verb, rt->path, strerror(-r));
	json_object_array_sort(l.fabrics, by_name);
	*out = l.fabrics;
	return l.r;
}
