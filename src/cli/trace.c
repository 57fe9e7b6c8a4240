/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca trace`, and --trace of `softhca run`: puts the topics and the destination into the
 * command's environment. The traced processes write the lines (util/log.c).
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "super/program.h"
#include "util/cleanup.h"
#include "util/log.h"

static const char default_topics[] = "uverbs,fw,doorbell,cqe,event,cm";

int trace_check_topics(const char *verb, const char *option, const char *topics)
{
	for (const char *s = topics;;) {
		size_t n = strcspn(s, ",");

		if (!log_topic_bits(s, n))
			return prog_fail("%s: %s: '%.*s' is not one of uverbs, fw, doorbell, cqe, "
					 "event, cm, mad, mem, shim, link, all",
					 verb, option, (int)n, s);
		if (!s[n])
			return 0;
		s += n + 1;
	}
}

/*
 * Copies a descriptor to a high number, which the command does not use and which stays open over
 * its exec.
 */
static int high_copy(int fd)
{
	static const int bases[] = {900, 200, 60, 3};
	int copy = -1;

	for (size_t i = 0; i < ARRAY_SIZE(bases) && copy < 0; i++)
		copy = fcntl(fd, F_DUPFD, bases[i]);
	return copy;
}

static int open_output(const char *file)
{
	struct stat st;
	int fd, copy;

	if (!file) {
		/* Append, so that the command's own output there does not overwrite our lines. */
		if (!fstat(STDERR_FILENO, &st) && S_ISREG(st.st_mode))
			fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_APPEND);
		return high_copy(STDERR_FILENO);
	}
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	copy = high_copy(fd);
	close(fd);
	return copy;
}

/* Programs that close all descriptors have to open the file again, from any directory. */
static int path_of(const char *file, int fd, char path[PATH_MAX])
{
	char cwd[PATH_MAX];
	int n;

	if (!file)
		n = snprintf(path, PATH_MAX, "/proc/%d/fd/%d", (int)getpid(), fd);
	else if (*file == '/')
		n = snprintf(path, PATH_MAX, "%s", file);
	else if (getcwd(cwd, sizeof(cwd)))
		n = snprintf(path, PATH_MAX, "%s/%s", cwd, file);
	else
		return -errno;
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int trace_prepare(const struct cli_options *o, const char *verb)
{
	char path[PATH_MAX], id[96];
	struct stat st;
	int fd, r;

	fd = open_output(o->output);
	if (fd < 0 || fstat(fd, &st) < 0)
		return prog_fail("%s: cannot write to %s: %s", verb,
				 o->output ? o->output : "standard error", strerror(errno));
	r = path_of(o->output, fd, path);
	if (r < 0)
		return prog_fail("%s: %s: %s", verb, o->output, strerror(-r));
	snprintf(id, sizeof(id), "%d:%llu:%llu", fd, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	if (setenv(LOG_ENV_TOPICS, o->topics ? o->topics : default_topics, 1) < 0 ||
	    setenv(LOG_ENV_FORMAT, o->json ? "json" : "text", 1) < 0 ||
	    setenv(LOG_ENV_FD, id, 1) < 0 || setenv(LOG_ENV_FILE, path, 1) < 0 ||
	    setenv(LOG_ENV_NAME, o->output ? o->output : "standard error", 1) < 0)
		return prog_fail("out of memory");
	return 0;
}

int cli_trace(struct cli_options *o)
{
	o->trace = true;
	return cli_run(o);
}
