/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A broken invariant in the library is reported on standard error a few times, and the program
 * continues with its errno. Without cmocka, whose programs have a bug_at() that ends them.
 */
#include "util/bug.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(cond)                                                               \
	do {                                                                      \
		if (!(cond)) {                                                    \
			printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
			return 1;                                                 \
		}                                                                 \
	} while (0)

static int child(int fd)
{
	unsigned int taken = 0;

	log_finish(); /* names log.c to the linker: bug_at() is weak */
	dup2(fd, 2);
	errno = ERANGE;
	for (int i = 0; i < 1000; i++)
		taken += BUG_ON(i >= 0);
	taken += BUG_ON(errno == 0);
	return taken == 1000 && errno == ERANGE ? 0 : 1;
}

int main(void)
{
	char text[4096];
	int p[2], status;
	unsigned int lines = 0;
	ssize_t n = 0, r;
	pid_t pid;

	CHECK(!pipe(p));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		_exit(child(p[1]));
	close(p[1]);
	while ((r = read(p[0], text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += r;
	text[n] = '\0';
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(strstr(text, "error: bug at") && strstr(text, "i >= 0"));
	for (char *c = text; *c; c++)
		lines += *c == '\n';
	CHECK(lines >= 1 && lines <= 8);
	return 0;
}
