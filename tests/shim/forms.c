/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every wrapper that takes a path, by its symbol, under `softhca run`. The functions are found by
 * name, as in a program linked against them, so that no header redirects them.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define CLASS "/sys/class/infiniband"
#define DEV CLASS "/mlx5_0"
#define ATTR DEV "/node_type"
#define VERBS "/dev/infiniband/uverbs0"

static void *fn(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);

	if (!p)
		fail_msg("no function %s", name);
	return p;
}
#define FN(type, name) ((type)fn(name))

static void expect_attr(const char *who, int fd)
{
	char buf[32] = "";

	if (fd < 0)
		fail_msg("%s: %s", who, strerror(errno));
	if (read(fd, buf, sizeof(buf) - 1) != 6 || strcmp(buf, "1: CA\n"))
		fail_msg("%s read '%s'", who, buf);
	close(fd);
}

typedef int open_fn(const char *, int, ...);
typedef int openat_fn(int, const char *, int, ...);

static void open_forms(void **state)
{
	static const char *const one[] = {"open", "open64", "__open_2", "__open64_2"};
	static const char *const at[] = {"openat", "openat64", "__openat_2", "__openat64_2"};
	int dir = open(CLASS, O_RDONLY | O_DIRECTORY);

	assert_true(dir >= 0);
	for (int i = 0; i < 4; i++) {
		expect_attr(one[i], FN(open_fn *, one[i])(ATTR, O_RDONLY));
		expect_attr(at[i], FN(openat_fn *, at[i])(AT_FDCWD, ATTR, O_RDONLY));
		expect_attr(at[i], FN(openat_fn *, at[i])(dir, "mlx5_0/node_type", O_RDONLY));
		expect_attr(at[i], FN(openat_fn *, at[i])(-1, ATTR, O_RDONLY));
	}
	close(dir);
	expect_attr("syscall", (int)syscall(SYS_openat, AT_FDCWD, ATTR, O_RDONLY, 0));
	expect_attr("syscall", (int)syscall(SYS_open, ATTR, O_RDONLY, 0));
}

static void stdio_forms(void **state)
{
	static const char *const one[] = {"fopen", "fopen64"}, *const re[] = {"freopen",
									      "freopen64"};
	char buf[32];

	for (int i = 0; i < 2; i++) {
		FILE *f = FN(FILE * (*)(const char *, const char *), one[i])(ATTR, "re");

		assert_non_null(f);
		assert_string_equal(fgets(buf, sizeof(buf), f), "1: CA\n");
		f = FN(FILE * (*)(const char *, const char *, FILE *), re[i])(DEV "/hca_type", "r",
									      f);
		assert_non_null(f);
		assert_string_equal(fgets(buf, sizeof(buf), f), "MT4123\n");
		fclose(f);
		assert_null(FN(FILE * (*)(const char *, const char *), one[i])(ATTR, "w"));
		assert_int_equal(errno, EACCES);
	}
}

/* Different spellings of a path reach the same file. */
static void spellings(void **state)
{
	static const char *const same[] = {
		"/sys/class/infiniband/mlx5_0/node_type",
		"//sys//class///infiniband/mlx5_0//node_type",
		"/sys/./class/./infiniband/./mlx5_0/./node_type",
		"/sys/class/../class/infiniband/mlx5_0/node_type",
		"/tmp/../sys/class/infiniband/mlx5_0/node_type",
		"/../sys/class/infiniband/mlx5_0/node_type",
		"/sys/class/infiniband/../infiniband/mlx5_0/node_type",
		"/sys/class/infiniband/./../infiniband_verbs/../infiniband/mlx5_0/node_type",
		"/sys/class/infiniband_verbs/uverbs0/device/infiniband/mlx5_0/node_type",
		"/sys/devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0/node_type",
		"/sys/bus/pci/devices/5a17:00:00.0/infiniband/mlx5_0/node_type",
		"/sys/class/infiniband/mlx5_0/../mlx5_0/node_type",
		"/sys/class/infiniband/mlx5_0/device/infiniband/mlx5_0/node_type",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		expect_attr(same[i], open(same[i], O_RDONLY));
}

static void not_ours(void **state)
{
	struct stat st;

	assert_int_equal(access("/sys/class/infiniband_nothing", F_OK), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(stat("/sys/class/infinibandx/mlx5_0", &st), -1);
	assert_int_equal(stat("/sys/class/infiniband/mlx5_99", &st), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(open(ATTR "/", O_RDONLY), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(open("", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	/* ".." leads out of the fabric's trees again. */
	assert_int_equal(stat("/sys/class/infiniband/../net", &st), 0);
	assert_int_equal(stat("/dev/infiniband/../null", &st), 0);
	assert_int_equal(st.st_rdev, makedev(1, 3));
}

static void writing_is_refused(void **state)
{
	static const int flags[] = {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT};
	static const char *const creats[] = {"creat", "creat64"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		assert_int_equal(open(ATTR, flags[i], 0644), -1);
		assert_int_equal(errno, EACCES);
	}
	assert_int_equal(open(DEV "/new", O_WRONLY | O_CREAT, 0644), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(open(DEV, O_WRONLY), -1);
	assert_int_equal(errno, EISDIR);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(FN(int (*)(const char *, mode_t), creats[i])(ATTR, 0644), -1);
		assert_int_equal(errno, EACCES);
	}
}

static void expect_node(const char *who, int r, const struct stat *st)
{
	if (r)
		fail_msg("%s: %s", who, strerror(errno));
	if (st->st_mode != (S_IFCHR | 0666) || st->st_rdev != makedev(231, 192))
		fail_msg("%s: mode %o rdev %u:%u", who, st->st_mode, major(st->st_rdev),
			 minor(st->st_rdev));
}

static void stat_forms(void **state)
{
	static const char *const one[] = {"stat", "stat64", "lstat", "lstat64"};
	static const char *const old[] = {"__xstat", "__xstat64", "__lxstat", "__lxstat64"};
	static const char *const at[] = {"fstatat", "fstatat64"};
	static const char *const oldat[] = {"__fxstatat", "__fxstatat64"};
	static const char *const of_fd[] = {"fstat", "fstat64"};
	static const char *const oldfd[] = {"__fxstat", "__fxstat64"};
	int dir = open("/dev/infiniband", O_RDONLY | O_DIRECTORY), fd = open(VERBS, O_PATH);
	struct stat st;

	assert_true(dir >= 0 && fd >= 0);
	for (int i = 0; i < 4; i++) {
		expect_node(one[i], FN(int (*)(const char *, void *), one[i])(VERBS, &st), &st);
		expect_node(old[i], FN(int (*)(int, const char *, void *), old[i])(1, VERBS, &st),
			    &st);
		assert_int_equal(FN(int (*)(int, const char *, void *), old[i])(7, VERBS, &st), -1);
		assert_int_equal(errno, EINVAL);
	}
	for (int i = 0; i < 2; i++) {
		int (*f)(int, const char *, void *, int) = fn(at[i]);
		int (*g)(int, int, const char *, void *, int) = fn(oldat[i]);

		expect_node(at[i], f(AT_FDCWD, VERBS, &st, 0), &st);
		expect_node(at[i], f(dir, "uverbs0", &st, AT_SYMLINK_NOFOLLOW), &st);
		expect_node(at[i], f(fd, "", &st, AT_EMPTY_PATH), &st);
		expect_node(oldat[i], g(1, dir, "uverbs0", &st, 0), &st);
		expect_node(of_fd[i], FN(int (*)(int, void *), of_fd[i])(fd, &st), &st);
		expect_node(oldfd[i], FN(int (*)(int, int, void *), oldfd[i])(1, fd, &st), &st);
	}
	expect_node("/dev/char", stat("/dev/char/231:192", &st), &st);
	assert_int_equal(stat("/dev/infiniband/umad0", &st), 0);
	assert_int_equal(st.st_mode, S_IFCHR | 0600);
	assert_int_equal(st.st_rdev, makedev(231, 0));
	assert_int_equal(stat("/dev/infiniband/issm0", &st), 0);
	assert_int_equal(st.st_rdev, makedev(231, 64));
	close(fd);
	close(dir);
}

static void statx_forms(void **state)
{
	int fd = open(VERBS, O_PATH);
	struct statx x;

	assert_int_equal(statx(AT_FDCWD, VERBS, 0, STATX_BASIC_STATS, &x), 0);
	assert_int_equal(x.stx_mode, S_IFCHR | 0666);
	assert_int_equal(x.stx_rdev_major, 231);
	assert_int_equal(x.stx_rdev_minor, 192);
	memset(&x, 0, sizeof(x));
	assert_int_equal(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x), 0);
	assert_int_equal(x.stx_rdev_minor, 192);
	close(fd);
}

/* libibverbs drops a device if its directory changes its time between two looks. */
static void times_are_stable(void **state)
{
	struct stat a, b;

	assert_int_equal(stat(DEV, &a), 0);
	usleep(2000); /* any interval between two looks */
	assert_int_equal(stat(DEV, &b), 0);
	assert_memory_equal(&a.st_mtim, &b.st_mtim, sizeof(a.st_mtim));
}

static void asking_forms(void **state)
{
	static const char *const acc[] = {"access", "eaccess", "euidaccess"};
	static const char *const fs[] = {"statfs", "statfs64"}, *const vfs[] = {"statvfs",
										"statvfs64"};
	static const char *const get[] = {"getxattr", "lgetxattr"};
	static const char *const list[] = {"listxattr", "llistxattr"};
	union {
		struct statfs fs;
		struct statvfs vfs;
	} u;
	struct {
		struct file_handle h;
		char room[128];
	} h = {.h.handle_bytes = 128};
	char buf[256];
	int mount, fd, r;

	for (int i = 0; i < 3; i++) {
		int (*f)(const char *, int) = fn(acc[i]);

		assert_int_equal(f(CLASS, R_OK | X_OK), 0);
		assert_int_equal(f(VERBS, R_OK | W_OK), 0);
		assert_int_equal(f(DEV "/nothing", F_OK), -1);
		assert_int_equal(errno, ENOENT);
	}
	assert_int_equal(faccessat(AT_FDCWD, ATTR, R_OK, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(FN(int (*)(const char *, void *), fs[i])(ATTR, &u), 0);
		assert_int_equal(u.fs.f_type, SYSFS_MAGIC);
		assert_int_equal(FN(int (*)(const char *, void *), vfs[i])(ATTR, &u), 0);
		r = (int)FN(ssize_t(*)(const char *, const char *, void *, size_t),
			    get[i])(ATTR, "user.x", buf, sizeof(buf));
		assert_int_equal(r, -1);
		assert_true(errno == ENODATA || errno == EOPNOTSUPP);
		r = (int)FN(ssize_t(*)(const char *, char *, size_t), list[i])(ATTR, buf,
									       sizeof(buf));
		assert_true(r >= 0 || errno == EOPNOTSUPP);
	}
	assert_true(pathconf(ATTR, _PC_NAME_MAX) > 0);
	r = name_to_handle_at(AT_FDCWD, ATTR, &h.h, &mount, 0);
	assert_true(r == 0 || errno == EOPNOTSUPP);
	fd = inotify_init1(IN_CLOEXEC);
	assert_true(inotify_add_watch(fd, "/dev/infiniband", IN_CREATE) > 0);
	close(fd);
}

static void link_forms(void **state)
{
	static const char want[] = "../../devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0";
	char buf[PATH_MAX], proc[32], tiny[4];
	int dir = open(CLASS, O_RDONLY | O_DIRECTORY), n = sizeof(want) - 1;
	ssize_t (*chk)(const char *, char *, size_t, size_t) = fn("__readlink_chk");
	ssize_t (*atchk)(int, const char *, char *, size_t, size_t) = fn("__readlinkat_chk");

	assert_int_equal(readlink(DEV, buf, sizeof(buf)), n);
	assert_memory_equal(buf, want, n);
	assert_int_equal(readlinkat(dir, "mlx5_0", buf, sizeof(buf)), n);
	assert_int_equal(readlinkat(AT_FDCWD, DEV, buf, sizeof(buf)), n);
	assert_int_equal(chk(DEV, buf, sizeof(buf), sizeof(buf)), n);
	assert_int_equal(atchk(dir, "mlx5_0", buf, sizeof(buf), sizeof(buf)), n);
	assert_int_equal(readlink(DEV, tiny, 4), 4);
	assert_memory_equal(tiny, "../.", 4);
	assert_int_equal(readlink(ATTR, buf, sizeof(buf)), -1);
	assert_int_equal(errno, EINVAL);
	/* For files of the fabric the kernel reports the program's path. */
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", dir);
	assert_int_equal(readlink(proc, buf, sizeof(buf)), strlen(CLASS));
	assert_memory_equal(buf, CLASS, strlen(CLASS));
	close(dir);
}

static void realpath_forms(void **state)
{
	static const char want[] = "/sys/devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0";
	char buf[PATH_MAX], link[] = "/tmp/softhca-forms-XXXXXX", *r;
	char *(*chk)(const char *, char *, size_t) = fn("__realpath_chk");

	assert_string_equal(realpath(DEV, buf), want);
	assert_string_equal(chk(DEV "/device/../", buf, sizeof(buf)), "/sys/devices/pci5a17:00");
	r = realpath(DEV "/ports/1", NULL);
	assert_string_equal(r, "/sys/devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0/ports/1");
	free(r);
	r = canonicalize_file_name(DEV);
	assert_string_equal(r, want);
	free(r);
	assert_null(realpath(DEV "/nothing", buf));
	assert_int_equal(errno, ENOENT);
	/* A relative path from inside the tree. */
	assert_int_equal(chdir(CLASS), 0);
	assert_string_equal(realpath("mlx5_0", buf), want);
	assert_string_equal(realpath(".", buf), CLASS);
	assert_int_equal(chdir("/"), 0);
	close(mkstemp(link));
	unlink(link);
}

static void working_directory(void **state)
{
	char buf[PATH_MAX], *r, tiny[8];
	char *(*chk)(char *, size_t, size_t) = fn("__getcwd_chk");
	struct stat st;

	assert_int_equal(chdir("/sys/class"), 0);
	expect_attr("relative from outside", open("infiniband/mlx5_0/node_type", O_RDONLY));
	assert_int_equal(chdir("infiniband/mlx5_0/ports"), 0);
	assert_string_equal(getcwd(buf, sizeof(buf)),
			    "/sys/devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0/ports");
	assert_string_equal(chk(buf, sizeof(buf), sizeof(buf)),
			    "/sys/devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0/ports");
	r = getcwd(NULL, 0);
	assert_string_equal(r, buf);
	free(r);
	r = get_current_dir_name();
	assert_string_equal(r, buf);
	free(r);
	assert_null(getcwd(tiny, sizeof(tiny)));
	assert_int_equal(errno, ERANGE);
	expect_attr("..", open("../node_type", O_RDONLY));
	expect_attr("../..", open("../../mlx5_0/node_type", O_RDONLY));
	assert_int_equal(chdir(CLASS), 0);
	assert_int_equal(stat("../net", &st), 0); /* the host's own folder */
	expect_attr("../infiniband", open("../infiniband/mlx5_0/node_type", O_RDONLY));
	assert_int_equal(stat("../../../dev/infiniband/uverbs0", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(chdir("../.."), 0);
	assert_string_equal(getcwd(buf, sizeof(buf)), "/sys");
	assert_int_equal(access("block", F_OK), 0);
	assert_int_equal(chdir("/"), 0);
	assert_string_equal(getcwd(buf, sizeof(buf)), "/");
	expect_attr("from the root", open("sys/class/infiniband/mlx5_0/node_type", O_RDONLY));
}

static int only_uverbs(const struct dirent *e)
{
	return !strncmp(e->d_name, "uverbs", 6) && e->d_type == DT_CHR;
}

static void directory_forms(void **state)
{
	static const char *const rd[] = {"readdir", "readdir64"};
	static const char *const rdr[] = {"readdir_r", "readdir64_r"};
	static const char *const scan[] = {"scandir", "scandir64"};
	static const char *const scanat[] = {"scandirat", "scandirat64"};
	typedef int filter(const struct dirent *);
	typedef int cmp(const struct dirent **, const struct dirent **);
	struct dirent *e, **list, room;
	int n;

	for (int i = 0; i < 2; i++) {
		DIR *d = opendir("/dev/infiniband");

		assert_non_null(d);
		for (n = 0; (e = FN(struct dirent * (*)(DIR *), rd[i])(d));)
			if (e->d_name[0] != '.') {
				assert_int_equal(e->d_type, DT_CHR);
				n++;
			}
		assert_true(n >= 3);
		closedir(d);
		d = opendir("/dev/infiniband");
		for (n = 0;;) {
			assert_int_equal(FN(int (*)(DIR *, void *, void *), rdr[i])(d, &room, &e),
					 0);
			if (!e)
				break;
			n += e->d_type == DT_CHR;
		}
		assert_true(n >= 3);
		closedir(d);
		n = FN(int (*)(const char *, struct dirent ***, filter *, cmp *),
		       scan[i])("/dev/infiniband", &list, only_uverbs, alphasort);
		assert_int_equal(n, 1);
		assert_string_equal(list[0]->d_name, "uverbs0");
		n = FN(int (*)(int, const char *, struct dirent ***, filter *, cmp *),
		       scanat[i])(AT_FDCWD, "/dev/infiniband", &list, only_uverbs, alphasort);
		assert_int_equal(n, 1);
		n = FN(int (*)(const char *, struct dirent ***, filter *, cmp *),
		       scan[i])(CLASS, &list, NULL, alphasort);
		assert_int_equal(n, 3); /* . .. mlx5_0 */
	}
}

static void glob_forms(void **state)
{
	static const char *const name[] = {"glob", "glob64"};

	for (int i = 0; i < 2; i++) {
		int (*f)(const char *, int, void *, glob_t *) = fn(name[i]);
		glob_t g = {0};

		assert_int_equal(f(CLASS "/*/ports/*/state", 0, NULL, &g), 0);
		assert_int_equal(g.gl_pathc, 1);
		assert_string_equal(g.gl_pathv[0], DEV "/ports/1/state");
		assert_int_equal(f("/dev/infiniband/uverbs?", GLOB_APPEND, NULL, &g), 0);
		assert_string_equal(g.gl_pathv[1], VERBS);
		globfree(&g);
		assert_int_equal(f(CLASS "/nothing*", 0, NULL, &g), GLOB_NOMATCH);
	}
}

/* By posix_spawnp(), which looks for the program, or posix_spawn(). */
static void spawned_input(void **state)
{
	char *const argv[] = {"grep", "-q", "^1: CA$", NULL};

	for (int copied = 0; copied < 2; copied++) {
		posix_spawn_file_actions_t a;
		int status, fd = open(ATTR, O_RDONLY | O_CLOEXEC);
		pid_t pid;

		posix_spawn_file_actions_init(&a);
		if (copied)
			posix_spawn_file_actions_adddup2(&a, fd, 0);
		else
			posix_spawn_file_actions_addopen(&a, 0, ATTR, O_RDONLY, 0);
		assert_int_equal(copied ? posix_spawn(&pid, "/bin/grep", &a, NULL, argv, environ)
					: posix_spawnp(&pid, "grep", &a, NULL, argv, environ),
				 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		posix_spawn_file_actions_destroy(&a);
		close(fd);
	}
}

static void errno_survives_success(void **state)
{
	struct stat st;

	errno = 4711;
	assert_int_equal(stat(VERBS, &st), 0);
	assert_int_equal(access(ATTR, R_OK), 0);
	expect_attr("open", open(ATTR, O_RDONLY));
	assert_int_equal(errno, 4711);
}

static void copies_of_other_processes(void)
{
	typedef ssize_t vm_fn(pid_t, const struct iovec *, unsigned long, const struct iovec *,
			      unsigned long, unsigned long);
	static const char *const names[] = {"process_vm_readv", "process_vm_writev"};
	char a[4] = "abc", b[4] = "";
	struct iovec own = {a, 4}, theirs = {b, 4};

	assert_int_equal(FN(vm_fn *, "process_vm_writev")(getpid(), &own, 1, &theirs, 1, 0), 4);
	assert_string_equal(b, "abc");
	b[0] = 'x';
	assert_int_equal(FN(vm_fn *, "process_vm_readv")(getpid(), &own, 1, &theirs, 1, 0), 4);
	assert_string_equal(a, "xbc");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(FN(vm_fn *, names[i])(-1, &own, 1, &theirs, 1, 0), -1);
		assert_int_equal(errno, ESRCH);
	}
}

/* Calls that change mappings, where nothing is adopted: as without us. */
static void memory_forms(void **state)
{
	typedef int range_fn(void *, size_t, ...);
	static const char *const ranges[] = {"mlock", "munlock"};
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *s = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	p[0] = 'x';
	assert_int_equal(FN(range_fn *, "madvise")(p, 4096, MADV_WILLNEED), 0);
	assert_int_equal(FN(range_fn *, "posix_madvise")(p, 4096, POSIX_MADV_NORMAL), 0);
	assert_int_equal(FN(range_fn *, "mprotect")(p, 4096, PROT_READ), 0);
	assert_int_equal(FN(range_fn *, "pkey_mprotect")(p, 4096, PROT_READ | PROT_WRITE, -1), 0);
	assert_int_equal(FN(range_fn *, "mlock2")(p, 4096, 0), 0);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		assert_int_equal(FN(range_fn *, ranges[i])(p, 4096), 0);
	assert_int_equal(FN(range_fn *, "mprotect")(p + 1, 4096, PROT_READ), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(FN(int (*)(int), "mlockall")(0), -1);
	assert_int_equal(errno, EINVAL);
	s[4096] = 'y';
	assert_int_equal(FN(range_fn *, "remap_file_pages")(s, 4096, 0, (size_t)1, 0), 0);
	assert_int_equal(s[0], 'y');
	assert_int_equal(FN(int (*)(void *), "brk")(FN(void *(*)(intptr_t), "sbrk")(0)), 0);
	assert_int_equal(p[0], 'x');
	copies_of_other_processes();
	munmap(p, 8192);
	munmap(s, 8192);
}

static void stream_forms(void **state)
{
	typedef size_t move_fn(void *, size_t, size_t, FILE *);
	typedef size_t chk_fn(void *, size_t, size_t, size_t, FILE *);
	char buf[8] = "";
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(FN(move_fn *, "fwrite")("ab", 1, 2, f), 2);
	assert_int_equal(FN(move_fn *, "fwrite_unlocked")("cd", 1, 2, f), 2);
	rewind(f);
	assert_int_equal(FN(move_fn *, "fread")(buf, 1, 1, f), 1);
	assert_int_equal(FN(move_fn *, "fread_unlocked")(buf + 1, 1, 1, f), 1);
	assert_int_equal(FN(chk_fn *, "__fread_chk")(buf + 2, 4, 1, 1, f), 1);
	assert_int_equal(FN(chk_fn *, "__fread_unlocked_chk")(buf + 3, 4, 1, 1, f), 1);
	assert_string_equal(buf, "abcd");
	fclose(f);
}

static void fork_without_handlers(void **state)
{
	pid_t pid = FN(pid_t(*)(void), "_Fork")();
	int status;

	if (!pid)
		_exit(7);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_forms),
		cmocka_unit_test(stream_forms),
		cmocka_unit_test(fork_without_handlers),
		cmocka_unit_test(open_forms),
		cmocka_unit_test(stdio_forms),
		cmocka_unit_test(spellings),
		cmocka_unit_test(not_ours),
		cmocka_unit_test(writing_is_refused),
		cmocka_unit_test(stat_forms),
		cmocka_unit_test(statx_forms),
		cmocka_unit_test(times_are_stable),
		cmocka_unit_test(asking_forms),
		cmocka_unit_test(link_forms),
		cmocka_unit_test(realpath_forms),
		cmocka_unit_test(working_directory),
		cmocka_unit_test(directory_forms),
		cmocka_unit_test(glob_forms),
		cmocka_unit_test(spawned_input),
		cmocka_unit_test(errno_survives_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
