/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the exec wrappers. The pid survives an exec, the memory does not: peers must stop writing to
 * our addresses before the new image has them (hazards 2). posix_spawn, system and popen run the
 * new program from a child of their own and need nothing.
 */
#include "shim/attach.h"
#include "shim/shim.h"
#include "shim/wait.h"
#include "shim/wrap.h"
#include "util/sys.h"

#include <alloca.h>
#include <stdarg.h>
#include <unistd.h>

/* The slot to be revived if the exec fails; NULL in a vfork child, whose memory is its parent's. */
static struct seg_proc *exec_begin(void)
{
	struct seg_proc *p = shim_own_slot();

	wait_publish_all(true);
	return p && shim_owns_tables() && seg_proc_exec_begin(p) ? p : NULL;
}

/* Still here: the exec failed. Another thread's exec may be on its way; it has its own answer. */
static int exec_failed(struct seg_proc *p)
{
	if (p)
		seg_proc_exec_failed(p);
	return -1;
}

#define WRAP_EXEC(name, params, args)                 \
	WRAP(int, name, params)                       \
	{                                             \
		struct seg_proc *slot = exec_begin(); \
                                                      \
		NEXT(name) args;                      \
		return exec_failed(slot);             \
	}
WRAP_EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
WRAP_EXEC(execv, (const char *path, char *const argv[]), (path, argv))
WRAP_EXEC(execvp, (const char *file, char *const argv[]), (file, argv))
WRAP_EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
WRAP_EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
WRAP_EXEC(execveat,
	  (int dirfd, const char *path, char *const argv[], char *const envp[], int flags),
	  (dirfd, path, argv, envp, flags))

/* The list forms: arg0, ..., NULL [, envp]. Counted, then gathered on the stack: no malloc in a
 * vfork child. */
#define GATHER(argv, first, ap)                           \
	do {                                              \
		size_t n_ = 1;                            \
		va_list count_;                           \
                                                          \
		va_copy(count_, ap);                      \
		if (first)                                \
			while (va_arg(count_, char *))    \
				n_++;                     \
		va_end(count_);                           \
		argv = alloca((n_ + 1) * sizeof(char *)); \
		argv[0] = (char *)(first);                \
		for (size_t i_ = 1; argv[i_ - 1]; i_++)   \
			argv[i_] = va_arg(ap, char *);    \
	} while (0)

WRAP(int, execl, (const char *path, const char *arg, ...))
{
	char **argv;
	va_list ap;

	va_start(ap, arg);
	GATHER(argv, arg, ap);
	va_end(ap);
	return wrap_execv(path, argv);
}

WRAP(int, execlp, (const char *file, const char *arg, ...))
{
	char **argv;
	va_list ap;

	va_start(ap, arg);
	GATHER(argv, arg, ap);
	va_end(ap);
	return wrap_execvp(file, argv);
}

WRAP(int, execle, (const char *path, const char *arg, ...))
{
	char **argv, *const *envp;
	va_list ap;

	va_start(ap, arg);
	GATHER(argv, arg, ap);
	envp = va_arg(ap, char *const *);
	va_end(ap);
	return wrap_execve(path, argv, envp);
}
