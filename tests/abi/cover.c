/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks the rows: every method, attribute and write command of the device's tables has rows, or
 * this program fails and lists those without. Makes no calls; `abi` does.
 */
#include "uverbs/priv.h"
#include "mlx5/mlx5.h"
#include "uverbs/for_tests.h"
#include "abi.h"

#include <stdio.h>

static const struct {
	const struct ioctl_row *rows;
	const unsigned int *n;
} tables[] = {
#define TABLE(name) {name, &name##_count},
	TABLES(TABLE, NO_TABLE)};

/*
 * Methods and commands that no call can make succeed on this device, with the reason: they need no
 * row that succeeds.
 */
static const struct {
	uint16_t object, method;
	const char *why;
} refused[] = {
	{UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR, "cap memic_operations is 0"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, "needs a key: tests/e2e/wr_rules.c"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, "no dmabufs"},
	{UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, "no flows"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR,
	 "dynamic UARs; of others in src/mlx5/test_bfreg.c"},
};

static unsigned int missing;

static void miss(const struct uv_method *m, const char *what)
{
	printf("%s.%s (object 0x%x, method 0x%x): %s\n", m->object_name, m->def->name, m->object,
	       m->id, what);
	missing++;
}

static bool is_refused(const struct uv_method *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (refused[i].object == m->object && refused[i].method == m->id)
			return true;
	return false;
}

static unsigned int attrs(const struct ioctl_row *r)
{
	unsigned int n = 0;

	while (n < NATTRS && (n < r->nattr || r->attr[n].id || r->attr[n].len || r->attr[n].data))
		n++;
	return n;
}

/* A row that reaches the method: its frame is right. */
static bool is_for(const struct ioctl_row *r, const struct uv_method *m)
{
	return r->object == m->object && r->method == m->id && !r->cmd && !r->length;
}

static const struct attr *attr_of(const struct ioctl_row *r, uint16_t id)
{
	for (unsigned int i = 0; i < attrs(r); i++)
		if (r->attr[i].id == id)
			return &r->attr[i];
	return NULL;
}

#define FOR_EACH_ROW(r)                                           \
	for (size_t t_ = 0; t_ < ARRAY_SIZE(tables); t_++)        \
		for (const struct ioctl_row *r = tables[t_].rows; \
		     r < tables[t_].rows + *tables[t_].n; r++)

static const struct {
	const struct write_row *rows;
	const unsigned int *n;
} write_tables[] = {TABLES(NO_TABLE, TABLE)};
#define FOR_EACH_WRITE(r)                                               \
	for (size_t t_ = 0; t_ < ARRAY_SIZE(write_tables); t_++)        \
		for (const struct write_row *r = write_tables[t_].rows; \
		     r < write_tables[t_].rows + *write_tables[t_].n; r++)

static void check_method(const struct uv_method *m)
{
	bool done = is_refused(m), wrong = false;
	char what[120];

	FOR_EACH_ROW(r)
	{
		if (!is_for(r, m))
			continue;
		done |= !r->want;
		wrong |= r->want != 0;
	}
	if (!done)
		miss(m, "no row that succeeds");
	if (!wrong)
		miss(m, "no row that is refused");
	for (unsigned int i = 0; i < m->nattrs; i++) {
		bool has = false;

		FOR_EACH_ROW(r)
		has |= is_for(r, m) && attr_of(r, m->attrs[i]->id);
		snprintf(what, sizeof(what), "no row with %s (0x%x)", m->attrs[i]->name,
			 m->attrs[i]->id);
		if (!has)
			miss(m, what);
	}
}

/* ---- write commands, each by both entries */

static uint32_t write_command(const struct write_row *r)
{
	return r->nwords ? r->words[0] : 0;
}

static void check_command(const struct uv_cmd *c, uint32_t command)
{
	bool invoked = false, written = false, done = false, wrong = false;

	FOR_EACH_ROW(r)
	{
		const struct attr *a = attr_of(r, UVERBS_ATTR_WRITE_CMD);

		if (r->object != UVERBS_OBJECT_DEVICE || r->method != UVERBS_METHOD_INVOKE_WRITE ||
		    !a || a->data != command)
			continue;
		invoked = true;
		done |= !r->want;
		wrong |= r->want != 0;
	}
	FOR_EACH_WRITE(r)
	{
		if (write_command(r) != command || r->nwords < 2)
			continue;
		written = true;
		done |= !r->want;
		wrong |= r->want != 0;
	}
	if (invoked && written && done && wrong)
		return;
	printf("command %s (0x%x):%s%s%s%s\n", c->name, command,
	       invoked ? "" : " no row by INVOKE_WRITE;", written ? "" : " no row by write();",
	       done ? "" : " no row that succeeds;", wrong ? "" : " no row that is refused;");
	missing++;
}

int main(void)
{
	struct uv_file f = {0};
	static struct uv_system sys;
	struct uv_api *api;
	unsigned int nmethods = 0, ncommands = 0;
	int err;

	if (uv_api_create(&mlx5_driver, &api))
		return 2;
	f.api = api;
	f.sys = &sys;
	for (size_t o = 0; o < ARRAY_SIZE(api->object); o++)
		for (size_t i = 0; i < ARRAY_SIZE(api->object[o].method); i++)
			if (api->object[o].method[i]) {
				check_method(api->object[o].method[i]);
				nmethods++;
			}
	for (uint32_t nr = 0; nr <= IB_USER_VERBS_CMD_COMMAND_MASK; nr++)
		for (uint32_t ex = 0; ex < 2; ex++) {
			uint32_t command = nr | (ex ? IB_USER_VERBS_CMD_FLAG_EXTENDED : 0);
			const struct uv_cmd *c = uv_cmd_find(&f, command, &err);

			/* One row covers all numbers without a command. */
			if (!c || c->handler == NULL || !strcmp(c->name, "not supported"))
				continue;
			check_command(c, command);
			ncommands++;
		}
	printf("%u methods, %u commands, %u rows missing\n", nmethods, ncommands, missing);
	uv_api_destroy(api);
	return missing != 0;
}
