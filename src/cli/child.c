/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the preloaded library and makes the command's environment. run.c uses it. */
#include "cli/child.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "shim/shim.h"
#include "super/program.h"
#include "util/cleanup.h"

#define LIB "libsofthca.so"

void child_save_state(struct child_state *st, const sigset_t *handled)
{
	const struct sigaction dfl = {.sa_handler = SIG_DFL}, ign = {.sa_handler = SIG_IGN};
	struct rlimit r;

	sigprocmask(SIG_BLOCK, handled, &st->mask);
	sigaction(SIGCHLD, &dfl, &st->chld); /* a parent may have left it ignored */
	sigaction(SIGPIPE, &ign, &st->pipe);
	sigaction(SIGXFSZ, &ign, &st->xfsz); /* with a limit of the file size (ulimit -f), write()
						returns EFBIG instead */
	st->umask = umask(022);
	getrlimit(RLIMIT_NOFILE, &st->nofile);
	r = st->nofile;
	r.rlim_cur = r.rlim_max; /* every process of the fabric needs descriptors */
	setrlimit(RLIMIT_NOFILE, &r);
}

void child_restore_state(const struct child_state *st)
{
	setrlimit(RLIMIT_NOFILE, &st->nofile);
	umask(st->umask);
	sigaction(SIGXFSZ, &st->xfsz, NULL);
	sigaction(SIGPIPE, &st->pipe, NULL);
	sigaction(SIGCHLD, &st->chld, NULL);
	sigprocmask(SIG_SETMASK, &st->mask, NULL);
}

/* Beside the program in the build tree, or in the installed place. */
static int find_library(char path[PATH_MAX])
{
	static const char *const places[] = {
		LIB,
		"src/shim/" LIB,
		SOFTHCA_BIN_TO_LIB "/" LIB,
	};
	char exe[PATH_MAX], try[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n > 0) {
		exe[n] = '\0';
		slash = strrchr(exe, '/');
		if (slash)
			slash[1] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			snprintf(try, sizeof(try), "%s%s", exe, places[i]);
			if (!access(try, R_OK) && realpath(try, path))
				return 0;
		}
	}
	return !access(SOFTHCA_LIBDIR "/" LIB, R_OK) && realpath(SOFTHCA_LIBDIR "/" LIB, path)
		       ? 0
		       : -ENOENT;
}

/* Is `item` already one of the entries of a list? */
static bool in_list(const char *list, const char *item, const char *separators)
{
	size_t len = strlen(item);

	while (list && *list) {
		size_t n = strcspn(list, separators);

		if (n == len && !strncmp(list, item, n))
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

static int preload(const char *dir)
{
	char lib[PATH_MAX], link[PATH_MAX];
	const char *old = getenv("LD_PRELOAD");
	_cleanup_free_ char *value = NULL;

	if (find_library(lib) < 0)
		return prog_fail("cannot find " LIB " beside this program or in " SOFTHCA_LIBDIR);
	if (strpbrk(lib, " :\t")) {
		/* LD_PRELOAD has no quoting: use a link with a plain name. */
		if (snprintf(link, sizeof(link), "%s/" LIB, dir) >= (int)sizeof(link) ||
		    strpbrk(link, " :\t"))
			return prog_fail("neither '%s' nor '%s' can be in LD_PRELOAD", lib, dir);
		if (symlink(lib, link) < 0 && errno != EEXIST)
			return prog_fail("cannot make %s: %s", link, strerror(errno));
		snprintf(lib, sizeof(lib), "%s", link);
	}
	if (in_list(old, lib, " :"))
		return 0;
	if (asprintf(&value, "%s%s%s", lib, old && *old ? ":" : "", old ? old : "") < 0 ||
	    setenv("LD_PRELOAD", value, 1) < 0)
		return prog_fail("out of memory");
	return 0;
}

/* The address sanitizer refuses to start under any preload unless told not to. */
static int calm_asan(void)
{
	const char *old = getenv("ASAN_OPTIONS");
	_cleanup_free_ char *value = NULL;

	if (old && strstr(old, "verify_asan_link_order="))
		return 0;
	if (asprintf(&value, "%s%sverify_asan_link_order=0", old ? old : "",
		     old && *old ? ":" : "") < 0)
		return -ENOMEM;
	return setenv("ASAN_OPTIONS", value, 1) < 0 ? -errno : 0;
}

int child_environment(const struct cli_options *o, const char *dir, const char *host)
{
	int r = preload(dir);

	if (r)
		return r;
	if (setenv(SHIM_ENV_DIR, dir, 1) < 0 || setenv(SHIM_ENV_HOST, host, 1) < 0 ||
	    setenv(SHIM_ENV_DOORBELL, o->doorbell, 1) < 0 ||
	    setenv(SHIM_ENV_MEMLOCK, o->memlock, 1) < 0 ||
	    (o->keep_env && setenv(SHIM_ENV_KEEP, o->keep_env, 1) < 0) ||
	    ((o->adopt || o->no_adopt) && setenv(SHIM_ENV_ADOPT, o->no_adopt ? "0" : "1", 1) < 0) ||
	    calm_asan() < 0)
		return prog_fail("out of memory");
	return 0;
}

void child_exec(char **argv)
{
	int err;

	execvp(argv[0], argv);
	err = errno;
	prog_fail("cannot run '%s': %s", argv[0], strerror(err));
	_exit(err == ENOENT ? CLI_NOT_FOUND : CLI_CANNOT_RUN);
}
