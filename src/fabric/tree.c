/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the creation of files in a rendered tree. sysfs.c calls it. */
#include "fabric/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cleanup.h"

void tree_finish(struct tree *t)
{
	for (unsigned int i = 0; i < t->n; i++)
		close(t->pool[i].fd);
	t->n = 0;
}

/* Creates a new file; returns its descriptor. */
static int make(int dir, const char *name, mode_t mode, const char *text, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	if (len)
		n = write(fd, text, len);
	if (n < 0 || (size_t)n != len) {
		int err = n < 0 ? -errno : -ENOSPC;

		close(fd);
		return err;
	}
	return fd;
}

/*
 * Makes another name for a file of the pool with this text. 0; -ENOENT: no such file, or no hard
 * links here.
 */
static int link_pooled(struct tree *t, int dir, const char *name, mode_t mode, const char *text,
		       size_t len)
{
	char path[32];

	for (unsigned int i = 0; i < t->n; i++) {
		if (t->pool[i].len != len || t->pool[i].mode != mode ||
		    memcmp(t->pool[i].text, text, len))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", t->pool[i].fd);
		return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) ? -ENOENT : 0;
	}
	return -ENOENT;
}

int tree_write(struct tree *t, int dir, const char *name, mode_t mode, const char *text, size_t len)
{
	int fd;

	if (t && len <= TREE_TEXT && !link_pooled(t, dir, name, mode, text, len))
		return 0;
	fd = make(dir, name, mode, text, len);
	if (fd < 0)
		return fd;
	if (!t || len > TREE_TEXT || t->n == TREE_POOL) {
		close(fd);
		return 0;
	}
	t->pool[t->n].fd = fd;
	t->pool[t->n].mode = mode;
	t->pool[t->n].len = len;
	memcpy(t->pool[t->n++].text, text, len);
	return 0;
}

int tree_put(struct tree *t, int dir, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return -EOVERFLOW;
	return tree_write(t, dir, name, 0444, text, (size_t)n);
}

/* With --allow-uid processes of several users write here: they have the rights of the group. */
static mode_t folder_mode(int above)
{
	struct stat st;

	return 0755 | (fstat(above, &st) < 0 ? 0 : st.st_mode & S_IWGRP);
}

int tree_enter(int dir, const char *name)
{
	int fd;

	if (mkdirat(dir, name, folder_mode(dir)) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int tree_enter_path(int dir, const char *path)
{
	char part[64];
	int at = -1;

	while (*path) {
		size_t n = strcspn(path, "/");
		int next;

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		next = tree_enter(at < 0 ? dir : at, part);
		if (at >= 0)
			close(at);
		if (next < 0)
			return next;
		at = next;
		path += n + (path[n] == '/');
	}
	return at;
}

int tree_symlink(int dir, const char *name, const char *fmt, ...)
{
	char target[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(target, sizeof(target), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(target))
		return -EOVERFLOW;
	return symlinkat(target, dir, name) < 0 ? -errno : 0;
}

/* Most values to be replaced are unchanged counters: compare before writing. */
static bool has_text(int dir, const char *name, const char *text, size_t len)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);
	char was[256];

	return fd >= 0 && len < sizeof(was) && read(fd, was, sizeof(was)) == (ssize_t)len &&
	       !memcmp(was, text, len);
}

/*
 * A rename over a file makes ext4 write the new one to disk at once (ext4_alloc_da_blocks() in
 * ext4_rename()), which takes up to a second on a busy disk. Exchanging the two names avoids that.
 */
static int put(int tmp, const char *own, int dir, const char *name)
{
	if (!syscall(SYS_renameat2, tmp, own, dir, name, RENAME_EXCHANGE)) {
		unlinkat(tmp, own, 0);
		return 0;
	}
	return renameat(tmp, own, dir, name) < 0 ? -errno : 0;
}

int tree_replace(int tmp, int dir, const char *name, const char *text, size_t len)
{
	return tree_replace_mode(tmp, dir, name, 0444, text, len);
}

static int replace(int tmp, int dir, const char *name, mode_t mode, const char *text, size_t len)
{
	char own[32];
	int fd, r;

	snprintf(own, sizeof(own), ".new.%ld", syscall(SYS_gettid));
	unlinkat(tmp, own, 0); /* an earlier writer of this name died midway */
	fd = make(tmp, own, mode, text, len);
	if (fd < 0)
		return fd;
	/* The umask belongs to some program. */
	r = fchmod(fd, mode) < 0 ? -errno : put(tmp, own, dir, name);
	close(fd);
	if (r)
		unlinkat(tmp, own, 0);
	return r;
}

/*
 * The same where no file may be renamed from folder to folder (Landlock): the new file is seen in
 * its folder for a moment. `name` may be a path.
 */
static int replace_there(int dir, const char *name, mode_t mode, const char *text, size_t len)
{
	const char *last = strrchr(name, '/');
	_cleanup_close_ int sub = -1;
	char folder[64];

	if (!last)
		return replace(dir, dir, name, mode, text, len);
	snprintf(folder, sizeof(folder), "%.*s", (int)(last - name), name);
	sub = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return sub < 0 ? -errno : replace(sub, sub, last + 1, mode, text, len);
}

int tree_replace_mode(int tmp, int dir, const char *name, mode_t mode, const char *text, size_t len)
{
	int r;

	if (has_text(dir, name, text, len))
		return 0;
	r = replace(tmp, dir, name, mode, text, len);
	return r == -EXDEV ? replace_there(dir, name, mode, text, len) : r;
}
