/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs every row of every table on the device that the preloaded library provides: `softhca run --
 * abi`. On a machine with a card, and without the library, the same program tests the kernel.
 *
 *   abi                     check each answer
 *   abi hold [rxe] CMD...   run a command while the world is there
 *   abi print [rxe]         print the answers that no driver decides; on a kernel with rxe say so
 */
#include "abi.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
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

/* ---- print */

static bool print, astray, on_driver;

/*
 * The end of rows that belong together. A driver that decides differently has left other objects:
 * the next row finds the world new.
 */
static void chain_end(void)
{
	const char *harmed;

	world_row_end();
	if (!astray && world_unharmed(&harmed))
		return;
	astray = false;
	world_end();
	world_make();
}

static void show(const char *table, const char *what, int want, int got, bool more, bool driver,
		 const char *answer)
{
	/* A driver's success decides the later rows of the chain, too. */
	on_driver |= driver && !want;
	if (!driver && !on_driver)
		printf("%s: %s\t%s%s\n", table, what, name_of(got), got ? "" : answer);
	astray |= got != want;
	if (more)
		return;
	on_driver = false;
	chain_end();
}

#define SHOW_ROWS(name, call, answer_of, decides)                                  \
	for (unsigned int i = 0; i < name##_count; i++)                            \
		if (world_has(name[i].link)) {                                     \
			int got = call(&name[i]);                                  \
                                                                                   \
			answer_of(&name[i], text, sizeof(text));                   \
			show(#name, name[i].what, name[i].want, got, name[i].more, \
			     decides(&name[i]), text);                             \
		}
#define SHOW_IOCTLS(name) SHOW_ROWS(name, world_ioctl, world_answer_ioctl, driver_decides_ioctl)
#define SHOW_WRITES(name) SHOW_ROWS(name, world_write, world_answer_write, driver_decides_write)

static void show_all(void)
{
	char text[256];

	print = true;
	world_any_numbers();
	TABLES(SHOW_IOCTLS, SHOW_WRITES)
	walk_all(true);
}

void abi_check(const char *what, const char *rule, int want, int got)
{
	if (print)
		show("walk", what, want, got, false, false, "");
	else
		check(what, rule, want, got, false);
}

static int hold(char **command)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const bool on_rxe = argc > 2 && !strcmp(argv[2], "rxe");
	char byte;

	if (on_rxe)
		driver_use_rxe();
	world_make();
	if (argc > 2 + on_rxe && !strcmp(argv[1], "hold"))
		return hold(argv + 2 + on_rxe);
	if (argc > 1) {
		show_all();
		return 0;
	}
	TABLES(IOCTLS, WRITES)
	walk_all(false);
	check("read() of a command file", "it has no read method", EINVAL,
	      read(world_fd(CTX), &byte, 1) < 0 ? errno : 0, false);
	printf("%u calls, %u of them to be refused, %u wrong\n", done, refused, failed);
	return failed != 0;
}
