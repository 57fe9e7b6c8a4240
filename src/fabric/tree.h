/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing trees of small text files quickly: start-up pays for every one of them. Names are
 * relative to open directories; nothing follows a symbolic link. All return 0 (or a descriptor) or
 * -errno.
 */
#ifndef SOFTHCA_FABRIC_TREE_H
#define SOFTHCA_FABRIC_TREE_H

#include <stddef.h>
#include <sys/types.h>

#define TREE_POOL 48
#define TREE_TEXT 48

/*
 * Files with the same text ("0", an empty GID...) are one file with many names while a tree is
 * written: on a disk a name costs a third of a file, and half of all attributes have company. They
 * part when one is replaced.
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

/* Runs steps until one fails; the first failure stays. */
#define TREE_STEP(r, call)            \
	do {                          \
		if (!(r))             \
			(r) = (call); \
	} while (0)

/* `t` NULL: a file of its own, whatever else holds the same text. */
int tree_write(struct tree *t, int dir, const char *name, mode_t mode, const char *text,
	       size_t len);
/* Mode 0444: attributes change through tree_replace() only. */
int tree_put(struct tree *t, int dir, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* mkdir unless it is there; a descriptor of it. */
int tree_enter(int dir, const char *name);
/* The same for a path with slashes. */
int tree_enter_path(int dir, const char *path);
int tree_symlink(int dir, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * A new file, made under a name of its own in `tmp` (same file system), moved over the old one: a
 * reader sees old or new.
 */
int tree_replace(int tmp, int dir, const char *name, const char *text, size_t len);

#endif
