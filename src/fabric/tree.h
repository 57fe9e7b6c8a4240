/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes trees of small text files quickly, because every file costs start-up time. Names are
 * relative to open directories; no function follows a symbolic link. All return 0 (or a descriptor)
 * or -errno.
 */
#ifndef SOFTHCA_FABRIC_TREE_H
#define SOFTHCA_FABRIC_TREE_H

#include <stddef.h>
#include <sys/types.h>

#define TREE_POOL 64
#define TREE_TEXT 48

/*
 * While a tree is written, files with the same text ("0", an empty GID...) are one file with many
 * names: on a disk a name costs a third of a file, and half of all attributes share their text.
 * Replacing one separates it.
 */
struct tree {
	unsigned int n;
	struct {
		int fd;
		mode_t mode;
		size_t len;
		char text[TREE_TEXT];
	} pool[TREE_POOL];
};

void tree_finish(struct tree *t);

/* Runs steps until one fails; keeps the first failure. */
#define TREE_STEP(r, call)            \
	do {                          \
		if (!(r))             \
			(r) = (call); \
	} while (0)

/* `t` NULL: a separate file, even if another has the same text. */
int tree_write(struct tree *t, int dir, const char *name, mode_t mode, const char *text,
	       size_t len);
/* Mode 0444: attributes change through tree_replace() only. */
int tree_put(struct tree *t, int dir, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* mkdir unless it exists; returns its descriptor. */
int tree_enter(int dir, const char *name);
/* The same for a path with slashes. */
int tree_enter_path(int dir, const char *path);
int tree_symlink(int dir, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * A new file, created under a temporary name in `tmp` (same file system), then put in the old one's
 * place: a reader sees old or new. A file that has this text stays.
 */
int tree_replace_mode(int tmp, int dir, const char *name, mode_t mode, const char *text,
		      size_t len);
/* The same with mode 0444. */
int tree_replace(int tmp, int dir, const char *name, const char *text, size_t len);

#endif
