/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers for directories and for paths that come back from the kernel: opendir, readdir,
 * scandir, glob; readlink, realpath, chdir, getcwd. libc enters the kernel from inside these
 * functions, so each needs its own wrapper.
 */
#include "segment/mem.h"
#include "shim/files/fdtab.h"
#include "shim/files/paths.h"
#include "shim/refused.h"
#include "shim/wrap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/sys.h"
#include "util/tls.h"

/* struct dirent and struct dirent64 are one on 64-bit machines. */
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "needs a 64-bit machine");

WRAP(DIR *, opendir, (const char *path))
{
	struct paths_buf b;
	const char *m = paths_map(AT_FDCWD, path, &b);
	DIR *d = NEXT(opendir)(m);

	if (!d && shim_on() && !b.foreign)
		refused_path(m);
	return d;
}

/*
 * closedir() closes inside libc: the table must not keep an entry for a descriptor that a later
 * file gets.
 */
WRAP(int, closedir, (DIR * d))
{
	int saved = errno, fd = d ? dirfd(d) : -1;
	struct shim_file *f = fdtab_take_closing(fd);
	int r;

	errno = saved;
	r = NEXT(closedir)(d);
	fdtab_put_closed(f);
	return r;
}

/* A device node's entry shows a character device; the file behind it is a regular one. */
static void fix_entry(int fd, struct dirent *e)
{
	if (e && e->d_type == DT_REG && node_is_entry(fd, e->d_name))
		e->d_type = DT_CHR;
}

#define WRAP_READDIR(name)                        \
	WRAP(struct dirent *, name, (DIR * d))    \
	{                                         \
		struct dirent *e = NEXT(name)(d); \
                                                  \
		if (e && shim_on())               \
			fix_entry(dirfd(d), e);   \
		return e;                         \
	}
WRAP_READDIR(readdir)
WRAP_READDIR(readdir64)

#define WRAP_READDIR_R(name)                                                \
	WRAP(int, name, (DIR * d, struct dirent * e, struct dirent * *out)) \
	{                                                                   \
		int r = NEXT(name)(d, e, out);                              \
                                                                            \
		if (r == 0 && *out && shim_on())                            \
			fix_entry(dirfd(d), *out);                          \
		return r;                                                   \
	}
WRAP_READDIR_R(readdir_r)
WRAP_READDIR_R(readdir64_r)

/*
 * scandir() calls the program's filter before it returns, so scan_filter() stands in for that
 * filter, corrects the entry and calls it. It finds the program's filter in this list, because
 * scandir() passes a filter nothing but the entry. A filter that calls scandir() itself adds to the
 * list.
 */
static TLS_IE struct scan {
	int (*filter)(const struct dirent *);
	struct scan *outer;
} * scanning;

static int scan_filter(const struct dirent *e)
{
	struct scan *s = scanning;
	int r = 1;

	/* Only used for our own directories, so the name identifies the entry. */
	if (e->d_type == DT_REG && node_is_name(e->d_name))
		((struct dirent *)e)->d_type = DT_CHR;
	if (s->filter) {
		scanning = s->outer;
		r = s->filter(e);
		scanning = s;
	}
	return r;
}

#define SCAN(call)                                  \
	({                                          \
		struct scan s = {filter, scanning}; \
		int r_;                             \
                                                    \
		scanning = &s;                      \
		r_ = (call);                        \
		scanning = s.outer;                 \
		r_;                                 \
	})

#define WRAP_SCANDIR(name)                                                                   \
	WRAP(int, name,                                                                      \
	     (const char *path, struct dirent ***list, int (*filter)(const struct dirent *), \
	      int (*cmp)(const struct dirent **, const struct dirent **)))                   \
	{                                                                                    \
		struct paths_buf b;                                                          \
		const char *m = paths_map(AT_FDCWD, path, &b);                               \
                                                                                             \
		if (!paths_is_mapped(m, &b))                                                 \
			return NEXT(name)(m, list, filter, cmp);                             \
		return SCAN(NEXT(name)(m, list, scan_filter, cmp));                          \
	}
WRAP_SCANDIR(scandir)
WRAP_SCANDIR(scandir64)

#define WRAP_SCANDIRAT(name)                                               \
	WRAP(int, name,                                                    \
	     (int fd, const char *path, struct dirent ***list,             \
	      int (*filter)(const struct dirent *),                        \
	      int (*cmp)(const struct dirent **, const struct dirent **))) \
	{                                                                  \
		struct paths_buf b;                                        \
		const char *m = paths_map(fd, path, &b);                   \
                                                                           \
		if (!paths_is_mapped(m, &b))                               \
			return NEXT(name)(fd, m, list, filter, cmp);       \
		return SCAN(NEXT(name)(fd, m, list, scan_filter, cmp));    \
	}
WRAP_SCANDIRAT(scandirat)
WRAP_SCANDIRAT(scandirat64)

/*
 * Is the fixed beginning of the pattern in one of our trees? If our root contains characters that
 * are special in a pattern, the pattern is left alone and matches nothing.
 */
static const char *glob_map(const char *pattern, struct paths_buf *b)
{
	const char *m = paths_map(AT_FDCWD, pattern, b);

	if (paths_is_mapped(m, b) && strpbrk(shim_config()->root, "*?[\\{~"))
		return pattern;
	return m;
}

#define WRAP_GLOB(name, type)                                                                     \
	WRAP(int, name, (const char *pattern, int flags, int (*err)(const char *, int), type *g)) \
	{                                                                                         \
		struct paths_buf b;                                                               \
		const char *m = glob_map(pattern, &b);                                            \
		int r = NEXT(name)(m, flags, err, g);                                             \
                                                                                                  \
		if (r == 0 && paths_is_mapped(m, &b)) {                                           \
			size_t skip = flags & GLOB_DOOFFS ? g->gl_offs : 0;                       \
                                                                                                  \
			for (size_t i = 0; i < g->gl_pathc; i++)                                  \
				paths_unmap(g->gl_pathv[skip + i]);                               \
		}                                                                                 \
		return r;                                                                         \
	}
WRAP_GLOB(glob, glob_t)
WRAP_GLOB(glob64, glob64_t)

/* ---- paths that come back ---- */

static const char dev[] = "/dev/infiniband/";

static bool begins(const char *buf, size_t n, const char *with)
{
	size_t len = strlen(with);

	return n > len && !memcmp(buf, with, len);
}

/*
 * What a kernel shows for an open file of ours in /proc/self/fd: "/memfd:softhca-uverbs0 (deleted)"
 * is /dev/infiniband/uverbs0, and a FIFO's name says what it stands for (evq_name()). The new
 * length, at most 1 more; `n` if it is no such file.
 */
static size_t unmap_file(char *buf, size_t n)
{
	static const char memfd[] = "/memfd:softhca-", deleted[] = " (deleted)";
	static const char anon[] = "anon_inode:";
	const char *dir = shim_config()->real_dir, *prefix = dev;
	size_t from = sizeof(memfd) - 1, end = 0, dirlen = strlen(dir), name;

	if (begins(buf, n, memfd)) {
		if (!begins(buf + from, n - from, "uverbs") &&
		    !begins(buf + from, n - from, "issm"))
			return n;
		end = sizeof(deleted) - 1;
	} else if (dirlen && begins(buf, n, dir) && begins(buf + dirlen, n - dirlen, "/ev/")) {
		/* "12.3.umad0", once it is closed elsewhere with " (deleted)" */
		for (int dots = from = 0; from < n && dots < 2; from++)
			dots += from > dirlen + 3 && buf[from] == '.';
		if (from == n)
			return n;
		prefix = buf[from] == '[' ? anon : dev;
	} else {
		return n;
	}
	name = n - from;
	if (name > sizeof(deleted) - 1 &&
	    !memcmp(buf + n - (sizeof(deleted) - 1), deleted, sizeof(deleted) - 1))
		end = sizeof(deleted) - 1;
	else if (end)
		return n;
	name -= end;
	memmove(buf + strlen(prefix), buf + from, name);
	memcpy(buf, prefix, strlen(prefix));
	return strlen(prefix) + name;
}

static ssize_t unmap_link(ssize_t n, char *buf)
{
	/* A truncated result cannot be told from a whole one, by us or by the program. */
	if (n <= 0 || buf[0] != '/' || !shim_on())
		return n;
	return (ssize_t)unmap_file(buf, paths_unmap_bytes(buf, (size_t)n));
}

/* Can a link's target that starts with these bytes be a path that unmap_link() changes? */
static bool maybe_ours(const char *buf, size_t n)
{
	static const char memfd[] = "/memfd:softhca-";
	const struct shim_config *c = shim_config();
	const struct {
		const char *s;
		size_t len;
	} start[] = {{c->root, c->root_len},
		     {c->real_root, c->real_root_len},
		     {c->real_dir, strlen(c->real_dir)},
		     {memfd, sizeof(memfd) - 1}};

	for (size_t i = 0; i < sizeof(start) / sizeof(start[0]); i++)
		if (start[i].len && !memcmp(buf, start[i].s, n < start[i].len ? n : start[i].len))
			return true;
	return false;
}

/*
 * The kernel fills the program's buffer, and reports a bad one. Our links are read again into our
 * own buffer, because the program's may have room for the translated path only.
 */
static ssize_t read_link(int dirfd, const char *path, char *buf, size_t size,
			 ssize_t (*next)(int, const char *, char *, size_t))
{
	char own[PATHS_MAX * 2];
	struct paths_buf b;
	const char *m = paths_map(dirfd, path, &b);
	ssize_t n;

	n = next(dirfd, m, buf, size);
	if (n <= 0 || !shim_on() || !maybe_ours(buf, (size_t)n))
		return n;
	if (size > sizeof(own))
		return unmap_link(n, buf);
	n = next(dirfd, m, own, sizeof(own));
	if (n < 0)
		return n;
	n = unmap_link(n, own);
	n = (size_t)n > size ? (ssize_t)size : n;
	memcpy(buf, own, (size_t)n);
	return n;
}

typedef ssize_t readlink_fn(const char *, char *, size_t);
typedef ssize_t readlink_chk_fn(const char *, char *, size_t, size_t);

/* The other three calls, expressed as readlinkat(). */
static ssize_t next_readlink(int dirfd, const char *path, char *buf, size_t size)
{
	return ((readlink_fn *)shim_next(SYM_readlink))(path, buf, size);
}

static ssize_t next___readlink_chk(int dirfd, const char *path, char *buf, size_t size)
{
	return ((readlink_chk_fn *)shim_next(SYM___readlink_chk))(path, buf, size, size);
}

WRAP(ssize_t, readlink, (const char *path, char *buf, size_t size))
{
	return read_link(AT_FDCWD, path, buf, size, next_readlink);
}

WRAP(ssize_t, readlinkat, (int dirfd, const char *path, char *buf, size_t size))
{
	return read_link(dirfd, path, buf, size, NEXT(readlinkat));
}

WRAP(ssize_t, __readlink_chk, (const char *path, char *buf, size_t size, size_t room))
{
	if (size > room)
		return NEXT(__readlink_chk)(path, buf, size, room); /* ends the program */
	return read_link(AT_FDCWD, path, buf, size, next___readlink_chk);
}

static ssize_t next___readlinkat_chk(int dirfd, const char *path, char *buf, size_t size);

WRAP(ssize_t, __readlinkat_chk, (int dirfd, const char *path, char *buf, size_t size, size_t room))
{
	if (size > room)
		return NEXT(__readlinkat_chk)(dirfd, path, buf, size, room); /* ends the program */
	return read_link(dirfd, path, buf, size, next___readlinkat_chk);
}

static ssize_t next___readlinkat_chk(int dirfd, const char *path, char *buf, size_t size)
{
	return NEXT(__readlinkat_chk)(dirfd, path, buf, size, size);
}

/*
 * realpath() of a path that is not ours may still end in our trees: a relative one from inside, or
 * one through a link of the program's own. libc resolves those by itself, hence always the unmap.
 * `r` is libc's result. On failure POSIX leaves `resolved` undefined, glibc the path that failed.
 */
static char *real_path(char *r, const char *m, const struct paths_buf *b, char *resolved)
{
	if (r)
		paths_unmap(r);
	else if (resolved && paths_is_mapped(m, b) && resolved[0] == '/')
		paths_unmap(resolved);
	return r;
}

/*
 * libc resolves a path itself, so it has to be given what a link of /proc/self/fd to a file of ours
 * leads to: the device's node, or a name that nothing has (an anonymous inode: ENOENT).
 */
static const char *map_for_realpath(const char *path, struct paths_buf *b)
{
	const char *m = paths_map(AT_FDCWD, path, b), *last;
	char to[PATHS_MAX];
	size_t len;
	long n;

	if (!shim_on() || !m || b->foreign)
		return m;
	last = strrchr(m, '/');
	last = last ? last + 1 : m;
	if (*last < '0' || *last > '9' || last[strspn(last, "0123456789")])
		return m;
	n = sys_call(SYS_readlinkat, AT_FDCWD, m, to, sizeof(to) - 2);
	if (n <= 0 || to[0] != '/')
		return m;
	len = unmap_file(to, (size_t)n);
	to[len] = '\0';
	if (to[0] == '/') {
		const char *node = begins(to, len, dev) ? paths_map(AT_FDCWD, to, b) : m;

		return node == to ? m : node;
	}
	n = last - m;
	if ((size_t)n + len >= sizeof(b->s))
		return m;
	memmove(b->s, m, (size_t)n);
	strcpy(b->s + n, to);
	return b->s;
}

WRAP(char *, realpath, (const char *path, char *resolved))
{
	struct paths_buf b;
	const char *m = map_for_realpath(path, &b);

	return real_path(NEXT(realpath)(m, resolved), m, &b, resolved);
}

/* Fortified realpath(): if `room` is too small, it ends the program. */
WRAP(char *, __realpath_chk, (const char *path, char *resolved, size_t room))
{
	struct paths_buf b;
	const char *m = map_for_realpath(path, &b);

	return real_path(NEXT(__realpath_chk)(m, resolved, room), m, &b, resolved);
}

WRAP(char *, canonicalize_file_name, (const char *path))
{
	struct paths_buf b;
	const char *m = map_for_realpath(path, &b);

	return real_path(NEXT(canonicalize_file_name)(m), m, &b, NULL);
}

WRAP(int, chdir, (const char *path))
{
	struct paths_buf b;

	return NEXT(chdir)(paths_map(AT_FDCWD, path, &b));
}

/*
 * Returns the working directory when it is in our tree (*ours); otherwise the caller asks libc. The
 * program's buffer has room for the translated path, not for our root before it.
 */
static char *cwd_inside(char *buf, size_t size, bool *ours)
{
	char own[PATHS_MAX * 2];
	size_t len;
	long n;

	*ours = false;
	if (!shim_on())
		return NULL;
	n = sys_call(SYS_getcwd, own, sizeof(own));
	if (n <= 0 || own[0] != '/' || !paths_unmap(own))
		return NULL;
	*ours = true;
	len = strlen(own) + 1;
	if (size ? size < len : buf != NULL) {
		errno = size ? ERANGE : EINVAL;
		return NULL;
	}
	if (!buf) {
		buf = malloc(size ? size : len);
		return buf ? memcpy(buf, own, len) : NULL;
	}
	if (mem_guarded_copy(buf, own, len) < 0) {
		errno = EFAULT;
		return NULL;
	}
	return buf;
}

WRAP(char *, getcwd, (char *buf, size_t size))
{
	bool ours;
	char *r = cwd_inside(buf, size, &ours);

	return ours ? r : NEXT(getcwd)(buf, size);
}

WRAP(char *, __getcwd_chk, (char *buf, size_t size, size_t room))
{
	bool ours = false;
	char *r = size > room ? NULL : cwd_inside(buf, size, &ours);

	return ours ? r : NEXT(__getcwd_chk)(buf, size, room); /* size > room ends the program */
}

/* libc first reads $PWD and compares it by an internal stat(); this code does not trust $PWD. */
WRAP(char *, get_current_dir_name, (void))
{
	bool ours;
	char *r = cwd_inside(NULL, 0, &ours);

	return ours ? r : NEXT(get_current_dir_name)();
}
