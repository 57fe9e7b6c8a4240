/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the runtime directory and its locks, and removes the remains of dead supervisors. Every
 * command uses it.
 */
#include "super/runtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "super/program.h"
#include "util/cleanup.h"
#include "util/num.h"

#define LOCK_SUFFIX ".lock"
#define TREE_DEPTH 24
#define DIR_BYTES 4096

/* Is XDG_RUNTIME_DIR there and ours? After su it belongs to another user and must not be used. */
static bool own_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/*
 * Directories in memory: on a busy disk starting takes twenty times as long, because each file and
 * folder of a fabric is another entry in the disk's journal.
 */
static bool on_tmpfs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == TMPFS_MAGIC && !access(path, R_OK | W_OK | X_OK);
}

/* The path as configured. *chosen: the user named this directory explicitly. */
static int pick_path(char *path, size_t size, bool *chosen)
{
	const char *own = getenv("SOFTHCA_RUNTIME_DIR");
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int n;

	*chosen = own && *own;
	if (*chosen)
		n = snprintf(path, size, "%s", own);
	else if (xdg && xdg[0] == '/' && own_directory(xdg))
		n = snprintf(path, size, "%s/softhca", xdg);
	else
		n = snprintf(path, size, "%s/softhca-%u",
			     on_tmpfs("/dev/shm") ? "/dev/shm" : "/tmp", (unsigned int)geteuid());
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

bool runtime_name_ok(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= PROG_NAME_MAX && name[0] != '.' && name[0] != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       n;
}

static bool is_dangling(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* -ENOENT: it is not there, or another program has removed it at this moment. */
static int open_path(struct runtime *rt, const char *path, bool follow, struct stat *st,
		     char abs[PATH_MAX])
{
	int flags = O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
	int r = 0;

	rt->fd = open(path, O_RDONLY | flags);
	/* Users whom --allow-uid admits may not list it. */
	if (rt->fd < 0 && errno == EACCES)
		rt->fd = open(path, O_PATH | flags);
	if (rt->fd < 0 || fstat(rt->fd, st) < 0 || !realpath(path, abs))
		r = -errno;
	if (r && rt->fd >= 0) {
		close(rt->fd);
		rt->fd = -1;
	}
	return r;
}

/*
 * A user may join a fabric of another one who allows it (--allow-uid), but must name the place:
 * that user then controls his processes. Root joins no user's.
 */
static bool may_use(const struct stat *st, bool chosen, bool create)
{
	return !(st->st_mode & 022) &&
	       (st->st_uid == geteuid() || (chosen && !create && geteuid()));
}

int runtime_open(struct runtime *rt, bool create)
{
	char path[PATH_MAX], abs[PATH_MAX];
	struct stat st;
	bool chosen;
	int r;

	*rt = RUNTIME_EMPTY;
	if (pick_path(path, sizeof(path), &chosen) < 0)
		return prog_fail("the runtime directory's path is too long");
	do {
		if (create && !mkdir(path, 0700)) {
			rt->ours = true;
			chmod(path, 0700); /* the user's umask may take the owner's rights */
		} else if (create && errno != EEXIST) {
			return prog_fail("cannot make the runtime directory %s: %s", path,
					 prog_why(errno));
		}
		r = open_path(rt, path, chosen, &st, abs);
	} while (create && r == -ENOENT && !is_dangling(path));
	rt->ours |= !chosen;
	if (r == -ENOENT && !create)
		return -ENOENT;
	if (r)
		return prog_fail("cannot use the runtime directory %s: %s", path, prog_why(-r));
	if (!may_use(&st, chosen, create)) {
		runtime_close(rt);
		return prog_fail("the runtime directory %s must belong to this user and be "
				 "writable by nobody else (SOFTHCA_RUNTIME_DIR names another one)",
				 path);
	}
	if (strlen(abs) > RUNTIME_PATH_MAX) {
		runtime_close(rt);
		return prog_fail("the runtime directory's path is longer than %d characters "
				 "(SOFTHCA_RUNTIME_DIR names another one): %s",
				 RUNTIME_PATH_MAX, path);
	}
	memcpy(rt->path, abs, strlen(abs) + 1);
	return 0;
}

void runtime_close(struct runtime *rt)
{
	if (rt->ours && rt->path[0])
		rmdir(rt->path); /* fails if the directory is not empty */
	if (rt->fd >= 0)
		close(rt->fd);
	*rt = RUNTIME_EMPTY;
}

struct entry { /* an entry as getdents64(2) returns it */
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

/*
 * rm -r of `name` in `parent`. A 0700 directory of ours protects everything below it. Uses system
 * calls, since readdir(3) takes a third of the time.
 */
static int remove_tree(int parent, const char *name, int depth)
{
	_cleanup_free_ char *buf = malloc(DIR_BYTES); /* not on a stack, which may be small */
	_cleanup_close_ int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	long n;

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return unlinkat(parent, name, 0) < 0 && errno != ENOENT ? -errno : 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!buf)
		return -ENOMEM;
	if (depth > TREE_DEPTH)
		return -ELOOP;
	while ((n = syscall(SYS_getdents64, fd, buf, DIR_BYTES)) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(buf + at);

			at += e->len;
			if (!strcmp(e->name, ".") || !strcmp(e->name, ".."))
				continue;
			if (e->type != DT_DIR && e->type != DT_UNKNOWN)
				unlinkat(fd, e->name, 0);
			else
				remove_tree(fd, e->name, depth + 1);
		}
	}
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int runtime_remove(int parent, const char *name)
{
	return remove_tree(parent, name, 0);
}

/* Is the file at that path the one that is open here? */
static bool is_there(struct runtime *rt, const char *file, int fd)
{
	struct stat mine, there;

	return !fstat(fd, &mine) && !fstatat(rt->fd, file, &there, AT_SYMLINK_NOFOLLOW) &&
	       there.st_ino == mine.st_ino && there.st_dev == mine.st_dev;
}

/*
 * flock() a lock file and check that it is still the one at its path. *fd on success. 0; -EBUSY:
 * its supervisor is alive; -EAGAIN: the file has been replaced; -errno.
 */
static int take_lock(struct runtime *rt, const char *file, int flags, int *out)
{
	_cleanup_close_ int fd =
		openat(rt->fd, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	struct stat mine;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(fd, &mine) < 0 || mine.st_uid != geteuid() || !S_ISREG(mine.st_mode))
		return -EPERM;
	if (!is_there(rt, file, fd))
		return -EAGAIN;
	*out = take_fd(&fd);
	return 0;
}

static void lock_name(char *buf, size_t size, const char *name)
{
	snprintf(buf, size, "%.*s" LOCK_SUFFIX, PROG_NAME_MAX, name);
}

/* The end of another fabric may remove the directory between our look-up and our use. */
static int reopen(struct runtime *rt)
{
	int fd;

	if (mkdir(rt->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(rt->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(rt->fd);
	rt->fd = fd;
	return 0;
}

int runtime_claim(struct runtime *rt, const char *name, bool command, int *lock, int *dir)
{
	char file[PROG_NAME_MAX + sizeof(LOCK_SUFFIX)];
	char pid[24];
	int r, n;

	lock_name(file, sizeof(file), name);
	/*
	 * -EBUSY may also come from a sweeper that checks the file at this moment: try again for
	 * 0.2 s.
	 */
	for (int i = 0; i < 20; i++) {
		r = take_lock(rt, file, O_CREAT, lock);
		if (r == -ENOENT)
			r = reopen(rt) < 0 ? -ENOENT : -EAGAIN;
		if (r != -EBUSY && r != -EAGAIN)
			break;
		if (r == -EBUSY)
			usleep(10000);
	}
	if (r < 0)
		return r;
	n = snprintf(pid, sizeof(pid), "%d%s\n", (int)getpid(), command ? " run" : "");
	if (ftruncate(*lock, 0) < 0 || pwrite(*lock, pid, (size_t)n, 0) != n)
		r = errno ? -errno : -ENOSPC;
	if (!r)
		r = remove_tree(rt->fd, name, 0);
	if (!r && mkdirat(rt->fd, name, 0700) < 0)
		r = -errno;
	if (!r) {
		*dir = openat(rt->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = *dir < 0 ? -errno : 0;
	}
	if (r < 0) {
		runtime_release(rt, name, *lock);
		*lock = -1;
	}
	return r;
}

void runtime_release(struct runtime *rt, const char *name, int lock)
{
	char file[PROG_NAME_MAX + sizeof(LOCK_SUFFIX)];

	lock_name(file, sizeof(file), name);
	if (is_there(rt, file, lock)) {
		remove_tree(rt->fd, name, 0);
		unlinkat(rt->fd, file, 0);
	}
	close(lock);
}

/* Does that process hold the lock on the file? Read from /proc/locks, in our PID namespace. */
static bool has_lock(unsigned long pid, int fd)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	bool found = false;
	struct stat st;

	if (!f || fstat(fd, &st) < 0) {
		if (f)
			fclose(f);
		return false;
	}
	while (!found && fgets(line, sizeof(line), f)) {
		/* "1: FLOCK  ADVISORY  WRITE 708 00:13:1234 0 EOF" */
		char *part[6], *state = NULL, *inode;
		size_t n = 0;

		for (char *s = strtok_r(line, " ", &state); s && n < ARRAY_SIZE(part);
		     s = strtok_r(NULL, " ", &state))
			part[n++] = s;
		inode = n == ARRAY_SIZE(part) ? strrchr(part[5], ':') : NULL;
		found = inode && !strcmp(part[1], "FLOCK") && !strcmp(part[3], "WRITE") &&
			num_decimal(part[4], NULL) == pid &&
			num_decimal(inode + 1, NULL) == st.st_ino;
	}
	fclose(f);
	return found;
}

int runtime_holder(struct runtime *rt, const char *name)
{
	char file[PROG_NAME_MAX + sizeof(LOCK_SUFFIX)], text[24] = "";
	_cleanup_close_ int fd = -1, pidfd = -1;
	unsigned long pid;
	const char *end;

	lock_name(file, sizeof(file), name);
	fd = openat(rt->fd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	pid = num_decimal(text, &end);
	if (!pid || pid > INT_MAX)
		return -ENOENT;
	/*
	 * Open the process first, then check that it is the right one: its number may have been
	 * reused.
	 */
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (!flock(fd, LOCK_SH | LOCK_NB))
		return -ENOENT; /* the supervisor is dead */
	if (pidfd < 0 || !has_lock(pid, fd))
		return -ESRCH;
	return *end == ' ' ? -EBUSY : take_fd(&pidfd);
}

/* "name.lock" -> "name"; false: some other file. */
static bool runtime_name_of(const char *file, char *name)
{
	size_t n = strlen(file), suffix = sizeof(LOCK_SUFFIX) - 1;

	if (n <= suffix || n - suffix > PROG_NAME_MAX || strcmp(file + n - suffix, LOCK_SUFFIX))
		return false;
	memcpy(name, file, n - suffix);
	name[n - suffix] = '\0';
	return runtime_name_ok(name);
}

int runtime_for_each(struct runtime *rt, int (*each)(void *arg, const char *name), void *arg)
{
	char name[PROG_NAME_MAX + 1];
	int copy = openat(rt->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	int r = 0;

	if (!d) {
		if (copy >= 0)
			close(copy);
		return -errno;
	}
	while (!r && (e = readdir(d))) {
		int lock = -1, got;

		if (!runtime_name_of(e->d_name, name))
			continue;
		got = take_lock(rt, e->d_name, 0, &lock);
		if (!got)
			runtime_release(rt, name, lock); /* the supervisor is dead */
		else if (got == -EBUSY && each)
			r = each(arg, name);
	}
	closedir(d);
	return r;
}

void runtime_sweep(struct runtime *rt)
{
	runtime_for_each(rt, NULL, NULL);
}

int runtime_connect(const struct runtime *rt, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* By descriptor: the path itself may be longer than a socket address. */
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%.*s/sock", rt->fd,
		 PROG_NAME_MAX, name);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	return take_fd(&fd);
}
