/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers that ask about a file: stat and its relatives, access, statfs, pathconf,
 * extended attributes. Device nodes and command files show as character devices with the kernel's
 * numbers, whichever call asks.
 */
#include "shim/files/fdtab.h"
#include "shim/files/paths.h"
#include "shim/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* struct stat and struct stat64 are one on 64-bit machines. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "needs a 64-bit machine");

/* r: the next stat call's result. fd >= 0: that descriptor is the file in question. */
static int stat_done(int r, int fd, struct stat *st)
{
	if (r == 0 && (fd < 0 || !fdtab_fix_stat(fd, st)))
		node_fix_stat(st);
	return r;
}

#define WRAP_STAT(name)                                                                  \
	WRAP(int, name, (const char *path, struct stat *st))                             \
	{                                                                                \
		struct paths_buf b;                                                      \
                                                                                         \
		return stat_done(NEXT(name)(paths_map(AT_FDCWD, path, &b), st), -1, st); \
	}
WRAP_STAT(stat)
WRAP_STAT(stat64)
WRAP_STAT(lstat)
WRAP_STAT(lstat64)

#define WRAP_FSTAT(name)                                      \
	WRAP(int, name, (int fd, struct stat *st))            \
	{                                                     \
		return stat_done(NEXT(name)(fd, st), fd, st); \
	}
WRAP_FSTAT(fstat)
WRAP_FSTAT(fstat64)

/* Call only after the call succeeded: then `path` is known to be readable. */
static int asked_fd(int dirfd, const char *path, int flags)
{
	return (flags & AT_EMPTY_PATH) && path && !*path ? dirfd : -1;
}

#define WRAP_FSTATAT(name)                                                         \
	WRAP(int, name, (int dirfd, const char *path, struct stat *st, int flags)) \
	{                                                                          \
		struct paths_buf b;                                                \
                                                                                   \
		int r = NEXT(name)(dirfd, paths_map(dirfd, path, &b), st, flags);  \
                                                                                   \
		return r ? r : stat_done(0, asked_fd(dirfd, path, flags), st);     \
	}
WRAP_FSTATAT(fstatat)
WRAP_FSTATAT(fstatat64)

WRAP(int, statx, (int dirfd, const char *path, int flags, unsigned int mask, struct statx *stx))
{
	struct paths_buf b;
	int r = NEXT(statx)(dirfd, paths_map(dirfd, path, &b), flags, mask, stx);
	int fd = r ? -1 : asked_fd(dirfd, path, flags);

	if (r == 0 && (fd < 0 || !fdtab_fix_statx(fd, stx)))
		node_fix_statx(stx);
	return r;
}

/*
 * The form of stat before glibc 2.33: functions with a version number. On x86-64 both versions ever
 * used (0 kernel, 1 libc) mean the same structure; libc refuses others.
 */
#define WRAP_XSTAT(name)                                              \
	WRAP(int, name, (int ver, const char *path, struct stat *st)) \
	{                                                             \
		struct paths_buf b;                                   \
		const char *m = paths_map(AT_FDCWD, path, &b);        \
                                                                      \
		return stat_done(NEXT(name)(ver, m, st), -1, st);     \
	}
WRAP_XSTAT(__xstat)
WRAP_XSTAT(__xstat64)
WRAP_XSTAT(__lxstat)
WRAP_XSTAT(__lxstat64)

#define WRAP_FXSTAT(name)                                          \
	WRAP(int, name, (int ver, int fd, struct stat *st))        \
	{                                                          \
		return stat_done(NEXT(name)(ver, fd, st), fd, st); \
	}
WRAP_FXSTAT(__fxstat)
WRAP_FXSTAT(__fxstat64)

#define WRAP_FXSTATAT(name)                                                                 \
	WRAP(int, name, (int ver, int dirfd, const char *path, struct stat *st, int flags)) \
	{                                                                                   \
		struct paths_buf b;                                                         \
                                                                                            \
		int r = NEXT(name)(ver, dirfd, paths_map(dirfd, path, &b), st, flags);      \
                                                                                            \
		return r ? r : stat_done(0, asked_fd(dirfd, path, flags), st);              \
	}
WRAP_FXSTATAT(__fxstatat)
WRAP_FXSTATAT(__fxstatat64)

/* ---- the rest that only translates the path ---- */

#define WRAP_PATH1(ret, name, type, arg)                               \
	WRAP(ret, name, (const char *path, type arg))                  \
	{                                                              \
		struct paths_buf b;                                    \
                                                                       \
		return NEXT(name)(paths_map(AT_FDCWD, path, &b), arg); \
	}
WRAP_PATH1(int, access, int, mode)
WRAP_PATH1(int, eaccess, int, mode)
WRAP_PATH1(int, euidaccess, int, mode)
WRAP_PATH1(long, pathconf, int, name)

WRAP(int, faccessat, (int dirfd, const char *path, int mode, int flags))
{
	struct paths_buf b;

	return NEXT(faccessat)(dirfd, paths_map(dirfd, path, &b), mode, flags);
}

static bool under_sys(const char *mapped, const struct paths_buf *b)
{
	return paths_is_mapped(mapped, b) && !strncmp(mapped + shim_config()->root_len, "/sys/", 5);
}

#define WRAP_STATFS(name, type)                                \
	WRAP(int, name, (const char *path, struct type *st))   \
	{                                                      \
		struct paths_buf b;                            \
		const char *m = paths_map(AT_FDCWD, path, &b); \
		int r = NEXT(name)(m, st);                     \
                                                               \
		if (r == 0 && under_sys(m, &b))                \
			st->f_type = SYSFS_MAGIC;              \
		return r;                                      \
	}
WRAP_STATFS(statfs, statfs)
WRAP_STATFS(statfs64, statfs64)
WRAP_PATH1(int, statvfs, struct statvfs *, st)
WRAP_PATH1(int, statvfs64, struct statvfs64 *, st)

#define WRAP_GETXATTR(name)                                                                 \
	WRAP(ssize_t, name, (const char *path, const char *attr, void *value, size_t size)) \
	{                                                                                   \
		struct paths_buf b;                                                         \
                                                                                            \
		return NEXT(name)(paths_map(AT_FDCWD, path, &b), attr, value, size);        \
	}
WRAP_GETXATTR(getxattr)
WRAP_GETXATTR(lgetxattr)

#define WRAP_LISTXATTR(name)                                                  \
	WRAP(ssize_t, name, (const char *path, char *list, size_t size))      \
	{                                                                     \
		struct paths_buf b;                                           \
                                                                              \
		return NEXT(name)(paths_map(AT_FDCWD, path, &b), list, size); \
	}
WRAP_LISTXATTR(listxattr)
WRAP_LISTXATTR(llistxattr)

WRAP(int, name_to_handle_at,
     (int dirfd, const char *path, struct file_handle *h, int *mount_id, int flags))
{
	struct paths_buf b;

	return NEXT(name_to_handle_at)(dirfd, paths_map(dirfd, path, &b), h, mount_id, flags);
}

WRAP(int, inotify_add_watch, (int fd, const char *path, uint32_t mask))
{
	struct paths_buf b;

	return NEXT(inotify_add_watch)(fd, paths_map(AT_FDCWD, path, &b), mask);
}
