/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers that open files by path. attach.c opens device nodes; all other files below our
 * root are read-only, like the sysfs attributes that they represent, but for those of store.c.
 */
#include "shim/attach.h"
#include "shim/calls.h"
#include "shim/files/fdtab.h"
#include "shim/files/paths.h"
#include "shim/files/store.h"
#include "shim/refused.h"
#include "shim/wrap.h"
#include "util/log.h"
#include "util/sys.h"

#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

/*
 * The entry outlived its descriptor (closed by a raw system call); the number belongs to another
 * file.
 */
static int fresh(int fd)
{
	if (fd >= 0 && __builtin_expect(fdtab_peek(fd) != NULL, 0))
		fdtab_put(fdtab_take_closing(fd));
	return fd;
}

/* Opening an attribute without a store method for writing gives EACCES, even to root. 0: go on. */
static int check_write(const char *mapped, int flags)
{
	struct stat st;

	if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC)))
		return 0;
	if (sys_call(SYS_newfstatat, AT_FDCWD, mapped, &st, 0) < 0)
		return flags & O_CREAT ? -EACCES : 0;
	return S_ISREG(st.st_mode) ? -EACCES : 0;
}

/*
 * A region of the PCI function: there are no registers. sysfs has mode 0600 for regions, and under
 * lockdown refuses them to root, too (pci_mmap_resource()).
 */
static bool is_region(const char *mapped)
{
	static const char region[] = "/resource";
	const char *base = strrchr(mapped, '/');

	return base && !strncmp(base, region, sizeof(region) - 1) &&
	       base[sizeof(region) - 1] >= '0' && base[sizeof(region) - 1] <= '5';
}

#define OPEN_NEXT INT32_MIN
/*
 * Types and network devices of entries of the GID table that have none: their files can be opened,
 * and reading them gives EINVAL, as reading an epoll descriptor does. The tree has empty files.
 */
static int open_unreadable(int dirfd, const char *mapped, int flags)
{
	struct stat st;

	if (!strstr(mapped, "gid_attrs/") || sys_call(SYS_newfstatat, dirfd, mapped, &st, 0) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_size)
		return OPEN_NEXT;
	return (int)sys_call(SYS_epoll_create1, flags & O_CLOEXEC ? EPOLL_CLOEXEC : 0);
}

/*
 * The result of opening (dirfd, path): a descriptor, -errno, or OPEN_NEXT and the path for the next
 * definition.
 */
static int open_ours(int dirfd, const char **path, int flags, struct paths_buf *b)
{
	const char *m;
	uint32_t minor;
	int r;

	if (!shim_on() || !*path)
		return OPEN_NEXT;
	m = *path = paths_map(dirfd, *path, b);
	if ((flags & O_PATH) || b->foreign)
		return OPEN_NEXT;
	minor = node_of_path(dirfd, m, flags);
	if (minor != NODE_NONE) {
		r = shim_dev_open(minor, flags);
		TRACE(LOG_SHIM, "open device 231:%u: %d", minor, r);
		return r;
	}
	if (store_is(m)) {
		if ((flags & O_ACCMODE) != O_RDONLY &&
		    (r = store_open(dirfd, m, flags)) != STORE_OTHER)
			return r;
		store_settle();
	}
	if (!paths_is_mapped(m, b))
		return open_unreadable(dirfd, m, flags);
	r = is_region(m) ? -EACCES : check_write(m, flags);
	if (!r)
		TRACE(LOG_SHIM, "open %s", m);
	return r ? r : open_unreadable(dirfd, m, flags);
}

static int file_result(int r)
{
	if (r >= 0)
		return r;
	errno = -r;
	return -1;
}

/* Completes an open of a path that open_ours() has mapped. */
static int open_done(const char *path, const struct paths_buf *b, int fd)
{
	if (__builtin_expect(fd < 0, 0) && shim_on() && path && !b->foreign)
		refused_path(path);
	return fd;
}

int call_open(int dirfd, const char *path, int flags, mode_t mode, next_open *next)
{
	struct paths_buf b;
	int r = open_ours(dirfd, &path, flags, &b);

	r = r == OPEN_NEXT ? fresh(next(dirfd, path, flags, mode)) : file_result(r);
	return open_done(path, &b, r);
}

/* The caller passes a mode argument only when the flags say so. */
#define OPEN_MODE(flags)                                                     \
	({                                                                   \
		mode_t mode_ = 0;                                            \
		if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) { \
			va_list ap_;                                         \
			va_start(ap_, flags);                                \
			mode_ = va_arg(ap_, mode_t);                         \
			va_end(ap_);                                         \
		}                                                            \
		mode_;                                                       \
	})

#define OPEN_BODY(dirfd, flags, call)               \
	struct paths_buf b;                         \
	int r = open_ours(dirfd, &path, flags, &b); \
                                                    \
	return open_done(path, &b, r == OPEN_NEXT ? fresh(call) : file_result(r))

#define WRAP_OPEN(name)                                                    \
	WRAP(int, name, (const char *path, int flags, ...))                \
	{                                                                  \
		mode_t mode = OPEN_MODE(flags);                            \
		OPEN_BODY(AT_FDCWD, flags, NEXT(name)(path, flags, mode)); \
	}
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_OPENAT(name)                                                      \
	WRAP(int, name, (int dirfd, const char *path, int flags, ...))         \
	{                                                                      \
		mode_t mode = OPEN_MODE(flags);                                \
		OPEN_BODY(dirfd, flags, NEXT(name)(dirfd, path, flags, mode)); \
	}
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

#define WRAP_OPEN_2(name)                                            \
	WRAP(int, name, (const char *path, int flags))               \
	{                                                            \
		OPEN_BODY(AT_FDCWD, flags, NEXT(name)(path, flags)); \
	}
WRAP_OPEN_2(__open_2)
WRAP_OPEN_2(__open64_2)

#define WRAP_OPENAT_2(name)                                              \
	WRAP(int, name, (int dirfd, const char *path, int flags))        \
	{                                                                \
		OPEN_BODY(dirfd, flags, NEXT(name)(dirfd, path, flags)); \
	}
WRAP_OPENAT_2(__openat_2)
WRAP_OPENAT_2(__openat64_2)

#define WRAP_CREAT(name)                                                                   \
	WRAP(int, name, (const char *path, mode_t mode))                                   \
	{                                                                                  \
		OPEN_BODY(AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, NEXT(name)(path, mode)); \
	}
WRAP_CREAT(creat)
WRAP_CREAT(creat64)

#define MODE_MAX 7 /* libc looks at no more letters, and only at the first of a mode it refuses */

/* The open(2) flags of a stdio mode. */
static int stdio_flags(const char *mode)
{
	int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY;

	if (mode[0] == 'w')
		flags |= O_CREAT | O_TRUNC;
	else if (mode[0] == 'a')
		flags |= O_CREAT | O_APPEND;
	else if (mode[0] != 'r')
		return flags;
	for (int i = 1; i < MODE_MAX && mode[i]; i++)
		switch (mode[i]) {
		case '+':
			flags = (flags & ~O_ACCMODE) | O_RDWR;
			break;
		case 'x':
			flags |= O_EXCL;
			break;
		case 'e':
			flags |= O_CLOEXEC;
			break;
		}
	return flags;
}

/* The program cannot use a device as a stream: close what was just opened. */
static void file_drop(int fd)
{
	struct shim_file *f = fdtab_take_closing(fd);

	sys_close(fd);
	fdtab_put_closed(f);
}

static FILE *stdio_result(int r, const char *mode)
{
	FILE *fp = NULL;

	if (r < 0)
		errno = -r;
	else if (!(fp = fdopen(r, mode)))
		file_drop(r);
	return fp;
}

#define WRAP_FOPEN(name)                                                                    \
	WRAP(FILE *, name, (const char *path, const char *mode))                            \
	{                                                                                   \
		struct paths_buf b;                                                         \
		int r = open_ours(AT_FDCWD, &path, stdio_flags(mode), &b);                  \
                                                                                            \
		FILE *fp = r == OPEN_NEXT ? NEXT(name)(path, mode) : stdio_result(r, mode); \
                                                                                            \
		open_done(path, &b, fp ? 0 : -1);                                           \
		return fp;                                                                  \
	}
WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)

/*
 * freopen() closes and opens inside libc. Attaching a device node to an existing stream needs
 * libc's internals, so it is refused as a device that does not exist.
 */
#define WRAP_FREOPEN(name)                                                 \
	WRAP(FILE *, name, (const char *path, const char *mode, FILE *fp)) \
	{                                                                  \
		struct paths_buf b;                                        \
		int r = open_ours(AT_FDCWD, &path, stdio_flags(mode), &b); \
		struct shim_file *f;                                       \
		FILE *ret;                                                 \
                                                                           \
		if (r != OPEN_NEXT) {                                      \
			if (r >= 0) {                                      \
				file_drop(r);                              \
				r = -ENXIO;                                \
			}                                                  \
			errno = -r;                                        \
			return NULL;                                       \
		}                                                          \
		f = fdtab_take_closing(fileno(fp));                        \
		ret = NEXT(name)(path, mode, fp);                          \
		fdtab_put_closed(f);                                       \
		return ret;                                                \
	}
WRAP_FREOPEN(freopen)
WRAP_FREOPEN(freopen64)

/*
 * Maps attributes only. A spawned program that opens a device this way gets the placeholder file,
 * not the device.
 */
WRAP(int, posix_spawn_file_actions_addopen,
     (posix_spawn_file_actions_t * a, int fd, const char *path, int flags, mode_t mode))
{
	struct paths_buf b;

	return NEXT(posix_spawn_file_actions_addopen)(a, fd, paths_map(AT_FDCWD, path, &b), flags,
						      mode);
}
