/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the exec wrappers. The pid survives an exec, the memory does not: peers must stop writing to
 * our addresses before the new image has them (hazards 2). posix_spawn, system and popen execute
 * the new program in a child of their own. A program started by posix_spawn may not have the
 * library and yet wait for one of our files (poll).
 */
#include "shim/attach.h"
#include "shim/calls.h"
#include "shim/environ.h"
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/files/wait.h"
#include "shim/wrap.h"
#include "util/sys.h"

#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The program has said itself who may trace it: that stays. */
static _Atomic bool has_ptracer;

void proc_prctl(int op)
{
	if (op == PR_SET_PTRACER)
		atomic_store(&has_ptracer, true);
}

void proc_admit_peers(void)
{
	int fd =
		sys_openat(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC, 0);
	char scope = 0;

	if (fd < 0)
		return;
	sys_call(SYS_read, fd, &scope, 1);
	sys_close(fd);
	/* 0 needs nothing; at 2 and 3 the kernel takes no exceptions (yama_ptrace_access_check())
	 */
	if (scope == '1' && !atomic_load(&has_ptracer))
		sys_call(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

WRAP(int, prctl, (int op, ...))
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, op);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	proc_prctl(op);
	return NEXT(prctl)(op, a[0], a[1], a[2], a[3]);
}

/* The slot to revive if the exec fails; NULL in a vfork child, which shares its parent's memory. */
static struct seg_proc *exec_begin(const char *path, char *const envp[])
{
	struct seg_proc *p = shim_own_slot();

	refused_exec(path, envp);
	wait_publish_all(true);
	return p && shim_owns_tables() && seg_proc_exec_begin(p) ? p : NULL;
}

/*
 * This code is reached only when the exec failed. Another thread's exec may be in progress; it
 * reports its own result.
 */
static int exec_failed(struct seg_proc *p)
{
	if (p)
		seg_proc_exec_failed(p);
	return -1;
}

int call_execve(const char *path, char *const argv[], char *const envp[], next_execve *next)
{
	char *const *env = ENVIRON_KEPT(false, envp);
	struct seg_proc *slot = exec_begin(path, env);

	next(path, argv, env);
	return exec_failed(slot);
}

int call_execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags,
		  next_execveat *next)
{
	char *const *env = ENVIRON_KEPT(false, envp);
	struct seg_proc *slot = exec_begin(path, env);

	next(dirfd, path, argv, env, flags);
	return exec_failed(slot);
}

#define WRAP_EXEC(name, params, args, path, envp)                   \
	WRAP(int, name, params)                                     \
	{                                                           \
		char *const *const env = ENVIRON_KEPT(false, envp); \
		struct seg_proc *slot = exec_begin(path, env);      \
                                                                    \
		NEXT(name) args;                                    \
		return exec_failed(slot);                           \
	}
WRAP_EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, env),
	  path, envp)
WRAP_EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, env),
	  file, envp)
WRAP_EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, env), NULL, envp)
WRAP_EXEC(execveat,
	  (int dirfd, const char *path, char *const argv[], char *const envp[], int flags),
	  (dirfd, path, argv, env, flags), path, envp)

/* The program's own environment: another one goes to the form that takes one. */
#define WRAP_EXECV(name, vector)                                       \
	WRAP(int, name, (const char *path, char *const argv[]))        \
	{                                                              \
		char *const *const env = ENVIRON_KEPT(false, environ); \
		struct seg_proc *slot = exec_begin(path, env);         \
                                                                       \
		if (env == environ)                                    \
			NEXT(name)(path, argv);                        \
		else                                                   \
			NEXT(vector)(path, argv, env);                 \
		return exec_failed(slot);                              \
	}
WRAP_EXECV(execv, execve)
WRAP_EXECV(execvp, execvpe)

#define WRAP_SPAWN(name)                                                              \
	WRAP(int, name,                                                               \
	     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *files, \
	      const posix_spawnattr_t *attr, char *const argv[], char *const envp[])) \
	{                                                                             \
		char *const *const env = ENVIRON_KEPT(true, envp);                    \
                                                                                      \
		refused_exec(path, env);                                              \
		wait_publish_all(true);                                               \
		return NEXT(name)(pid, path, files, attr, argv, env);                 \
	}
WRAP_SPAWN(posix_spawn)
WRAP_SPAWN(posix_spawnp)

/* The new program's copy stays open, even if our descriptor is close-on-exec. */
WRAP(int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * files, int fd, int to))
{
	wait_publish(fd);
	return NEXT(posix_spawn_file_actions_adddup2)(files, fd, to);
}

/*
 * The list forms: arg0, ..., NULL [, envp]. The next definition of the function gets the list in
 * LIST_MAX words, and ignores those after the end of the list. A longer list goes to the vector
 * form instead, so that another library's definition of the list form does not see it. The list is
 * gathered on the stack: a vfork child must not call malloc.
 */
#define LIST_MAX 64
#define WORDS8(v, i) v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4], v[i + 5], v[i + 6], v[i + 7]
#define WORDS(v)                                                                                \
	WORDS8(v, 0), WORDS8(v, 8), WORDS8(v, 16), WORDS8(v, 24), WORDS8(v, 32), WORDS8(v, 40), \
		WORDS8(v, 48), WORDS8(v, 56)
#define GATHER(argv, n, first, ap, more)                                         \
	do {                                                                     \
		va_list count_;                                                  \
                                                                                 \
		n = 1;                                                           \
		va_copy(count_, ap);                                             \
		if (first)                                                       \
			while (va_arg(count_, char *))                           \
				n++;                                             \
		va_end(count_);                                                  \
		n += (first) ? 1 + (more) : (more);                              \
		argv = alloca((n > LIST_MAX ? n : LIST_MAX) * sizeof(char *));   \
		memset(argv, 0, (n > LIST_MAX ? n : LIST_MAX) * sizeof(char *)); \
		argv[0] = (char *)(first);                                       \
		for (size_t i_ = 1; i_ < n; i_++)                                \
			argv[i_] = va_arg(ap, char *);                           \
	} while (0)

#define WRAP_EXECL(name, vector, more, args, envp)                \
	WRAP(int, name, (const char *path, const char *arg, ...)) \
	{                                                         \
		char *const *env, *const *own;                    \
		struct seg_proc *slot;                            \
		char **v;                                         \
		va_list ap;                                       \
		size_t n;                                         \
                                                                  \
		va_start(ap, arg);                                \
		GATHER(v, n, arg, ap, more);                      \
		va_end(ap);                                       \
		own = (envp);                                     \
		env = ENVIRON_KEPT(false, own);                   \
		slot = exec_begin(path, env);                     \
		if (n <= LIST_MAX && env == own)                  \
			NEXT(name)(path, WORDS(v), NULL);         \
		else                                              \
			NEXT(vector) args;                        \
		return exec_failed(slot);                         \
	}
WRAP_EXECL(execl, execve, 0, (path, v, env), environ)
WRAP_EXECL(execlp, execvpe, 0, (path, v, env), environ)
WRAP_EXECL(execle, execve, 1, (path, v, env), (char *const *)v[n - 1])
