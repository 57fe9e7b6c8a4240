/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers of calls that walk directories inside libc, and of getdents64(). A walk that
 * starts at a path of ours goes through the tree, and shows the program's paths. A walk that starts
 * above (at /sys) sees the machine's entries only: libc opens what is below by itself.
 */
#include "shim/files/paths.h"
#include "shim/files/walk.h"
#include "shim/wrap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <string.h>
#include "util/sys.h"
#include "util/tls.h"

/* ---- nftw, ftw */

/* The callback of nftw() gets no user data, so the walk is here; walks may nest. */
static TLS_IE struct walk {
	int (*nftw)(const char *, const struct stat *, int, struct FTW *);
	int (*ftw)(const char *, const struct stat *, int);
	struct walk *outer;
} * walking;

static int walk_entry(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	const struct shim_config *c = shim_config();
	struct walk *w = walking;
	struct stat fixed = *st;
	struct FTW pos = where ? *where : (struct FTW){0};
	size_t skip = strncmp(path, c->root, c->root_len) ? 0 : c->root_len;
	int r;

	node_fix_stat(&fixed);
	pos.base -= (int)skip;
	walking = w->outer;
	if (w->nftw)
		r = w->nftw(path + skip, &fixed, flag, &pos);
	else
		r = w->ftw(path + skip, &fixed, flag);
	walking = w;
	return r;
}

static int walk_entry_old(const char *path, const struct stat *st, int flag)
{
	return walk_entry(path, st, flag, NULL);
}

#define WALK(call, ...)                        \
	({                                     \
		struct walk w = {__VA_ARGS__}; \
		int r_;                        \
                                               \
		w.outer = walking;             \
		walking = &w;                  \
		r_ = (call);                   \
		walking = w.outer;             \
		r_;                            \
	})

#define WRAP_NFTW(name)                                                                          \
	WRAP(int, name,                                                                          \
	     (const char *path, int (*fn)(const char *, const struct stat *, int, struct FTW *), \
	      int fds, int flags))                                                               \
	{                                                                                        \
		struct paths_buf b;                                                              \
		const char *m = paths_map(AT_FDCWD, path, &b);                                   \
                                                                                                 \
		if (!paths_is_mapped(m, &b))                                                     \
			return NEXT(name)(m, fn, fds, flags);                                    \
		return WALK(NEXT(name)(m, walk_entry, fds, flags), .nftw = fn);                  \
	}
WRAP_NFTW(nftw)
WRAP_NFTW(nftw64)

#define WRAP_FTW(name)                                                                       \
	WRAP(int, name,                                                                      \
	     (const char *path, int (*fn)(const char *, const struct stat *, int), int fds)) \
	{                                                                                    \
		struct paths_buf b;                                                          \
		const char *m = paths_map(AT_FDCWD, path, &b);                               \
                                                                                             \
		if (!paths_is_mapped(m, &b))                                                 \
			return NEXT(name)(m, fn, fds);                                       \
		return WALK(NEXT(name)(m, walk_entry_old, fds), .ftw = fn);                  \
	}
WRAP_FTW(ftw)
WRAP_FTW(ftw64)

/* ---- fts */

#define FTS_PATHS 8 /* programs name fewer folders of ours in one call */

/*
 * While libc has the entry, its path is the one in the tree; while the program has it, its own. All
 * entries share the path's buffer, and only fts_cur is the program's.
 */
static void entry_to_libc(FTS *f)
{
	size_t skip = shim_config()->root_len;
	FTSENT *e = f ? f->fts_cur : NULL;

	if (!e || !skip || e->fts_path != f->fts_path + skip)
		return;
	if (e->fts_accpath == e->fts_path)
		e->fts_accpath = f->fts_path;
	e->fts_path = f->fts_path;
	e->fts_pathlen = (unsigned short)(e->fts_pathlen + skip);
}

static FTSENT *entry_to_program(FTS *f, FTSENT *e)
{
	const struct shim_config *c = shim_config();

	if (!e || !c->on || e->fts_path != f->fts_path ||
	    strncmp(e->fts_path, c->root, c->root_len))
		return e;
	if (e->fts_accpath == e->fts_path)
		e->fts_accpath += c->root_len;
	e->fts_path += c->root_len;
	e->fts_pathlen = (unsigned short)(e->fts_pathlen - c->root_len);
	if (e->fts_statp)
		node_fix_stat(e->fts_statp);
	return e;
}

typedef FTS *fts_open_fn(char *const *, int, int (*)(const FTSENT **, const FTSENT **));

static FTS *open_walk(char *const *paths, int options, int (*cmp)(const FTSENT **, const FTSENT **),
		      fts_open_fn *next)
{
	struct paths_buf b[FTS_PATHS];
	char *own[FTS_PATHS + 1];
	int n = 0;

	for (; shim_on() && paths[n] && n < FTS_PATHS; n++)
		own[n] = (char *)paths_map(AT_FDCWD, paths[n], &b[n]);
	own[n] = NULL;
	return next(n && !paths[n] ? own : paths, options, cmp);
}

#define WRAP_FTS(suffix)                                                                      \
	WRAP(FTS *, suffix##_open,                                                            \
	     (char *const *paths, int options, int (*cmp)(const FTSENT **, const FTSENT **))) \
	{                                                                                     \
		return open_walk(paths, options, cmp, NEXT(suffix##_open));                   \
	}                                                                                     \
	WRAP(FTSENT *, suffix##_read, (FTS * f))                                              \
	{                                                                                     \
		entry_to_libc(f);                                                             \
		return entry_to_program(f, NEXT(suffix##_read)(f));                           \
	}                                                                                     \
	WRAP(FTSENT *, suffix##_children, (FTS * f, int options))                             \
	{                                                                                     \
		FTSENT *list;                                                                 \
                                                                                              \
		entry_to_libc(f);                                                             \
		list = NEXT(suffix##_children)(f, options);                                   \
		entry_to_program(f, f->fts_cur);                                              \
		return list;                                                                  \
	}
WRAP_FTS(fts)
WRAP_FTS(fts64)

/* ---- getdents64 */

ssize_t walk_fix_entries(int fd, void *buf, ssize_t n)
{
	if (n <= 0 || !shim_on())
		return n;
	for (ssize_t at = 0; at < n;) {
		struct dirent *e = (struct dirent *)((char *)buf + at);

		if (e->d_type == DT_REG && node_is_entry(fd, e->d_name))
			e->d_type = DT_CHR;
		at += e->d_reclen;
	}
	return n;
}

WRAP(ssize_t, getdents64, (int fd, void *buf, size_t size))
{
	return walk_fix_entries(fd, buf, NEXT(getdents64)(fd, buf, size));
}
