/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs every row of every table on the device that the preloaded library provides: `softhca run --
 * abi`. On a machine with a card, and without the library, the same program tests the kernel.
 */
#include "abi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned int done, refused, failed;

static const char *name_of(int result)
{
	if (result < 0)
		return "done, but not all was answered";
	return result ? strerrorname_np(result) : "done";
}

static void check(const char *what, const char *rule, int want, int got, bool more)
{
	const char *harmed;

	done++;
	refused += want != 0;
	if (!more)
		world_row_end();
	if (got == want && (more || world_unharmed(&harmed)))
		return;
	failed++;
	if (got != want)
		printf("FAILED %s: %s, not %s (%s)\n", what, name_of(got), name_of(want), rule);
	else
		printf("FAILED %s: afterwards the %s are not what they were (%s)\n", what, harmed,
		       rule);
}

void abi_check(const char *what, const char *rule, int want, int got)
{
	check(what, rule, want, got, false);
}

#define IOCTLS(name)                                                                           \
	for (unsigned int i = 0; i < name##_count; i++)                                        \
		if (world_has(name[i].link))                                                   \
			check(name[i].what, name[i].rule, name[i].want, world_ioctl(&name[i]), \
			      name[i].more);
#define WRITES(name)                                                                           \
	for (unsigned int i = 0; i < name##_count; i++)                                        \
		if (world_has(name[i].link))                                                   \
			check(name[i].what, name[i].rule, name[i].want, world_write(&name[i]), \
			      name[i].more);

int main(void)
{
	char byte;

	world_make();
	TABLES(IOCTLS, WRITES)
	walk_all();
	check("read() of a command file", "it has no read method", EINVAL,
	      read(world_fd(CTX), &byte, 1) < 0 ? errno : 0, false);
	printf("%u calls, %u of them to be refused, %u wrong\n", done, refused, failed);
	return failed != 0;
}
