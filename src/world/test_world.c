/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of worlds, and how worlds combine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "util/test_cmocka.h"
#include "world/world.h"

static int settle(const char *names, struct hw_world *w, struct world_needs *needs,
		  char err[WORLD_ERR])
{
	const char *unknown;
	size_t len;
	int r;

	*w = (struct hw_world){0};
	err[0] = 0;
	r = world_add(w, names, &unknown, &len, err);
	return r ? r : world_settle(w, needs, err);
}

/* Names are words of their own, and each world changes something, in words. */
static void rows_are_complete(void **state)
{
	const struct world_row *row;

	for (size_t i = 0; (row = world_row(i)); i++) {
		assert_true(row->name && row->group && row->what && row->why);
		assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
				 strlen(row->name));
		assert_true(row->set[0].what || row->needs.hosts || row->needs.hcas ||
			    row->needs.ports);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(world_row(j)->name, row->name);
		/* a 0 would change nothing */
		for (size_t k = 0; k < WORLD_SETS && row->set[k].what; k++)
			assert_true(row->set[k].value);
	}
	for (int what = HW_SET_NONE + 1; what < HW_SETTINGS; what++)
		assert_non_null(world_setting((enum hw_setting)what));
}

/* No setting is there that no world sets. */
static void settings_are_used(void **state)
{
	for (int what = HW_SET_NONE + 1; what < HW_SETTINGS; what++) {
		bool used = false;

		for (size_t i = 0; world_row(i); i++)
			for (size_t k = 0; k < WORLD_SETS; k++)
				used |= world_row(i)->set[k].what == (enum hw_setting)what;
		if (!used)
			fail_msg("no world sets %s", world_setting((enum hw_setting)what));
	}
}

/* Each world alone settles, and twice is once. */
static void one_settles(void **state)
{
	struct world_needs needs;
	struct hw_world w;
	char err[WORLD_ERR], names[WORLD_NAMES], twice[2 * WORLD_NAMES];

	for (size_t i = 0; world_row(i); i++) {
		const struct world_row *row = world_row(i);

		snprintf(twice, sizeof(twice), "%s,%s", row->name, row->name);
		assert_int_equal(settle(twice, &w, &needs, err), 0);
		assert_string_equal(world_names(&w, names), row->name);
		for (size_t k = 0; k < WORLD_SETS && row->set[k].what; k++)
			assert_int_equal(w.value[row->set[k].what], row->set[k].value);
	}
}

static void contradictions_are_refused(void **state)
{
	struct world_needs needs;
	struct hw_world w;
	char err[WORLD_ERR];

	assert_int_equal(settle("gid-v2-only,gid-v2-first", &w, &needs, err), -EINVAL);
	assert_string_equal(err, "worlds gid-v2-only and gid-v2-first contradict each other: "
				 "gid-types is 'RoCE v2' and 'RoCE v2, then v1'");
	assert_int_equal(settle("gid-v2-only,pkey-shifted", &w, &needs, err), -EINVAL);
	assert_string_equal(err, "worlds gid-v2-only and pkey-shifted contradict each other: "
				 "Ethernet and InfiniBand");
}

static void unknown_names_are_refused(void **state)
{
	struct hw_world w = {0};
	const char *unknown;
	char err[WORLD_ERR];
	size_t len;

	assert_int_equal(world_add(&w, "gid-v2-only,,x", &unknown, &len, err), -EINVAL);
	assert_string_equal(err, "'' is not a world (softhca world)");
	assert_int_equal(len, 0);
	assert_int_equal(world_add(&w, "gid-v3,x", &unknown, &len, err), -EINVAL);
	assert_string_equal(err, "'gid-v3' is not a world (softhca world)");
	assert_int_equal(len, strlen("gid-v3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(settings_are_used),
		cmocka_unit_test(one_settles),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(unknown_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
