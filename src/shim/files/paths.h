/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program's paths and the fabric's. The fabric keeps one tree per host, <dir>/host/<host>,
 * shaped like the real one (sys/class/infiniband..., dev/infiniband/...); each path of ours maps to
 * the same path below that root. Lock-free; one strstr() or three for a path that is not ours.
 */
#ifndef SOFTHCA_SHIM_FILES_PATHS_H
#define SOFTHCA_SHIM_FILES_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define PATHS_MAX 1024 /* our paths are far shorter; a longer path is not ours */

struct paths_buf {
	char s[PATHS_MAX];
	bool foreign; /* a bad pointer, or longer than a path may be: the kernel reports it */
};

enum shim_keep { SHIM_KEEP_NONE, SHIM_KEEP_SPAWN, SHIM_KEEP_ALL };

struct shim_config {
	char dir[256];  /* $SOFTHCA_DIR */
	char host[32];  /* $SOFTHCA_HOST */
	char root[320]; /* <dir>/host/<host> */
	size_t root_len;
	char real_root[512]; /* the same without symbolic links */
	size_t real_root_len;
	char real_dir[512]; /* $SOFTHCA_DIR without symbolic links */
	bool memlock_enforce;
	bool ptracer;         /* let peers copy under Yama (proc.c) */
	uint32_t adopt_after; /* 0: never */
	/* environ.c: what programs get that are started with another environment */
	enum shim_keep keep_env;
	char library[512]; /* our item of LD_PRELOAD */
	char kept[4096];   /* "SOFTHCA_...=value" one behind the other, then an empty string */
	bool on;
};
/* The environment as it was at first use, which may be before the constructor. */
const struct shim_config *shim_config(void);
static inline bool shim_on(void)
{
	return shim_config()->on;
}

/*
 * The path to give to the kernel for (dirfd, path): `path` itself, or a path below our root in *b.
 * Absolute results work with any dirfd. With b->foreign, do not read `path`.
 */
const char *paths_map(int dirfd, const char *path, struct paths_buf *b);
/* Is that a path below our root? */
bool paths_is_mapped(const char *mapped, const struct paths_buf *b);
/* Removes our root from a path that the kernel returned, in place. True if it was there. */
bool paths_unmap(char *path);
/* The same for bytes without a terminator: returns the new length. */
size_t paths_unmap_bytes(char *path, size_t len);

/*
 * Folders that show the machine's entries beside ours (shared.c). The number of the folder with
 * this path, or -1; and whether `rest`, the path behind it, leads into the tree: one of our
 * entries, the folder itself, or a pattern. For the latter two the tree's folder is brought up to
 * date.
 */
int shared_folder(const char *path, size_t len);
bool shared_ours(const struct shim_config *c, int folder, const char *rest);

/* Device nodes are regular files in the tree; these functions tell which file is which device. */
#define NODE_NONE UINT32_MAX /* no minor: not a device node */
/* After fork, in the child. */
void node_forked(void);
/* Could an entry of the nodes' folder with this name be a node? */
bool node_is_name(const char *name);
/* Is an entry of the open folder one? */
bool node_is_entry(int fd, const char *name);
/* Minor of the node that opening (dirfd, mapped path) would reach; NODE_NONE if none. */
uint32_t node_of_path(int dirfd, const char *mapped, int flags);
/* Fills the stat result for a node, or for a command file with that minor. */
uint32_t node_mode(uint32_t minor);
dev_t node_rdev(uint32_t minor);
void node_fix_stat(struct stat *st);
void node_fix_statx(struct statx *stx);

#endif
