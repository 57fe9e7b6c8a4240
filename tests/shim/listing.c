/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folders with entries of ours and the machine's, under `softhca run`, by every call that lists or
 * walks: each must see all of both, and show the program's paths.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

/* With 64-bit offsets, headers map plain names to the 64-bit functions; here are both variants. */
typedef int nftw_fn(const char *, int (*)(const char *, const struct stat *, int, struct FTW *),
		    int, int);
typedef int ftw_fn(const char *, int (*)(const char *, const struct stat *, int), int);
typedef FTS *fts_open_fn(char *const *, int, int (*)(const FTSENT **, const FTSENT **));
typedef FTSENT *fts_read_fn(FTS *);
typedef FTSENT *fts_children_fn(FTS *, int);

nftw_fn nftw_32 __asm__("nftw"), nftw_64 __asm__("nftw64");
ftw_fn ftw_32 __asm__("ftw"), ftw_64 __asm__("ftw64");
fts_open_fn fts_open_32 __asm__("fts_open"), fts_open_64 __asm__("fts64_open");
fts_read_fn fts_read_32 __asm__("fts_read"), fts_read_64 __asm__("fts64_read");
fts_children_fn fts_children_32 __asm__("fts_children"), fts_children_64 __asm__("fts64_children");

/* Folders, and our entry in each. */
static const struct {
	const char *path, *ours;
} folders[] = {
	{"/sys/bus/pci/devices", "5a17:00:00.0"},
	{"/sys/bus/pci/drivers", "mlx5_core"},
	{"/sys/bus/pci/drivers/mlx5_core", "5a17:00:00.0"},
	{"/sys/class/net", "ib0"},
	{"/sys/class/misc", "rdma_cm"},
	{"/sys/class/infiniband", "mlx5_0"},
	{"/sys/class/infiniband_verbs", "uverbs0"},
	{"/dev/infiniband", "uverbs0"},
};
#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

/* What a listing found in a folder. */
static struct found {
	const char *path, *ours;
	unsigned int all, mine;
} found;

static void start(size_t i)
{
	found = (struct found){.path = folders[i].path, .ours = folders[i].ours};
}

static void entry(const char *name)
{
	found.all += name[0] != '.';
	found.mine += !strcmp(name, found.ours);
}

/* A path below the folder: an entry if no slash follows. */
static void path(const char *p)
{
	size_t n = strlen(found.path);

	if (strncmp(p, found.path, n))
		fail_msg("%s is not in %s", p, found.path);
	if (p[n] == '/' && !strchr(p + n + 1, '/'))
		entry(p + n + 1);
}

/* The machine's entries of a folder, by a system call that nobody intercepts, and ours. */
static unsigned int expected(const char *folder)
{
	bool shared = !strncmp(folder, "/sys/bus", 8) || !strcmp(folder, "/sys/class/net") ||
		      !strcmp(folder, "/sys/class/misc");
	char buf[4096] __attribute__((aligned(8)));
	register long r10 __asm__("r10") = 0;
	unsigned int all = 0;
	long fd, n;

	if (!shared)
		return 0;
	__asm__ volatile("syscall"
			 : "=a"(fd)
			 : "0"(SYS_openat), "D"(AT_FDCWD), "S"(folder), "d"(O_RDONLY | O_DIRECTORY),
			   "r"(r10)
			 : "rcx", "r11", "memory");
	if (fd < 0)
		return 1;
	for (;;) {
		__asm__ volatile("syscall"
				 : "=a"(n)
				 : "0"(SYS_getdents64), "D"(fd), "S"(buf), "d"(sizeof(buf))
				 : "rcx", "r11", "memory");
		if (n <= 0)
			break;
		for (long at = 0; at < n; at += ((struct dirent *)(buf + at))->d_reclen)
			all += ((struct dirent *)(buf + at))->d_name[0] != '.';
	}
	close((int)fd);
	return all + 1;
}

static void check(const char *how)
{
	unsigned int all = expected(found.path);

	if (found.mine != 1 || (all && found.all != all))
		fail_msg("%s of %s: %u of ours, %u of %u", how, found.path, found.mine, found.all,
			 all);
}

#define EACH_FOLDER for (size_t i = 0; start(i % FOLDERS), i < FOLDERS; i++)

static void by_readdir(void **state)
{
	EACH_FOLDER
	{
		DIR *d = opendir(found.path);
		struct dirent *e;

		assert_non_null(d);
		while ((e = readdir(d)))
			entry(e->d_name);
		closedir(d);
		check("readdir");
	}
}

static void by_scandir(void **state)
{
	EACH_FOLDER
	{
		struct dirent **list;
		int n = scandir(found.path, &list, NULL, alphasort);

		for (int k = 0; k < n; k++) {
			entry(list[k]->d_name);
			free(list[k]);
		}
		free(list);
		check("scandir");
	}
}

static void by_getdents64(void **state)
{
	char buf[1024] __attribute__((aligned(8)));

	for (int raw = 0; raw < 2; raw++)
		EACH_FOLDER
		{
			int fd = open(found.path, O_RDONLY | O_DIRECTORY);
			ssize_t n;

			assert_true(fd >= 0);
			while ((n = raw ? syscall(SYS_getdents64, fd, buf, sizeof(buf))
					: getdents64(fd, buf, sizeof(buf))) > 0)
				for (ssize_t at = 0; at < n;) {
					struct dirent *e = (struct dirent *)(buf + at);

					entry(e->d_name);
					if (!strcmp(found.path, "/dev/infiniband") &&
					    e->d_name[0] != '.')
						assert_int_equal(e->d_type, DT_CHR);
					at += e->d_reclen;
				}
			assert_int_equal(n, 0);
			close(fd);
			check(raw ? "raw getdents64" : "getdents64");
		}
}

static void by_glob(void **state)
{
	EACH_FOLDER
	{
		char pattern[64];
		glob_t g;

		snprintf(pattern, sizeof(pattern), "%s/*", found.path);
		assert_int_equal(glob(pattern, 0, NULL, &g), 0);
		for (size_t k = 0; k < g.gl_pathc; k++)
			path(g.gl_pathv[k]);
		globfree(&g);
		check("glob");
	}
}

static int nftw_entry(const char *p, const struct stat *st, int flag, struct FTW *f)
{
	assert_string_equal(p + f->base, strrchr(p, '/') + 1);
	path(p);
	if (!strcmp(found.path, "/dev/infiniband") && f->level)
		assert_true(S_ISCHR(st->st_mode));
	return 0;
}

static int ftw_entry(const char *p, const struct stat *st, int flag)
{
	path(p);
	return 0;
}

static void by_nftw(void **state)
{
	EACH_FOLDER
	{
		assert_int_equal(nftw_32(found.path, nftw_entry, 8, FTW_PHYS), 0);
		check("nftw");
		start(i);
		assert_int_equal(nftw_64(found.path, nftw_entry, 8, FTW_PHYS), 0);
		check("nftw64");
	}
}

/* ftw() follows links, and the machine's lead far: only folders of files. */
static void by_ftw(void **state)
{
	start(FOLDERS - 1);
	assert_int_equal(ftw_32(found.path, ftw_entry, 8), 0);
	check("ftw");
	start(FOLDERS - 1);
	assert_int_equal(ftw_64(found.path, ftw_entry, 8), 0);
	check("ftw64");
}

static void by_fts(int options, fts_open_fn *open, fts_read_fn *read, fts_children_fn *children,
		   const char *how)
{
	EACH_FOLDER
	{
		char *paths[] = {(char *)found.path, NULL};
		FTS *f = open(paths, options, NULL);
		FTSENT *e;

		assert_non_null(f);
		while ((e = read(f))) {
			if (e->fts_info == FTS_DP)
				continue;
			assert_int_equal(strlen(e->fts_path), e->fts_pathlen);
			path(e->fts_path);
			if (e->fts_info == FTS_D && !e->fts_level)
				assert_non_null(children(f, 0));
		}
		fts_close(f);
		check(how);
	}
}

static void by_fts_in_both_forms(void **state)
{
	by_fts(FTS_PHYSICAL | FTS_NOCHDIR, fts_open_32, fts_read_32, fts_children_32, "fts");
	by_fts(FTS_PHYSICAL, fts_open_32, fts_read_32, fts_children_32, "fts with chdir");
	by_fts(FTS_PHYSICAL | FTS_NOCHDIR, fts_open_64, fts_read_64, fts_children_64, "fts64");
}

/* Opens the folder by its name relative to the one above, as find does. */
static void from_the_folder_above(void **state)
{
	EACH_FOLDER
	{
		char above[64], *name;
		struct dirent *e;
		int up, fd;
		DIR *d;

		strcpy(above, found.path);
		name = strrchr(above, '/');
		*name++ = '\0';
		up = open(above, O_RDONLY | O_DIRECTORY);
		fd = openat(up, name, O_RDONLY | O_DIRECTORY);
		assert_true(fd >= 0);
		d = fdopendir(fd);
		while ((e = readdir(d)))
			entry(e->d_name);
		closedir(d);
		close(up);
		check("openat");
	}
}

/* ---- the entries */

static void both_kinds_can_be_used(void **state)
{
	char link[256], real[4096];
	DIR *d = opendir("/sys/bus/pci/devices");
	struct dirent *e;
	unsigned int n = 0;

	while ((e = readdir(d))) {
		char file[512];

		if (e->d_name[0] == '.')
			continue;
		assert_int_equal(e->d_type, DT_LNK);
		snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/vendor", e->d_name);
		assert_int_equal(access(file, R_OK), 0);
		snprintf(file, sizeof(file), "%s/vendor", e->d_name);
		assert_int_equal(faccessat(dirfd(d), file, R_OK, 0), 0);
		snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s", e->d_name);
		assert_int_equal(readlink(file, link, 9), 9);
		assert_memory_equal(link, "../../../", 9);
		n++;
	}
	closedir(d);
	assert_true(n >= 1);
	assert_non_null(realpath("/sys/bus/pci/devices/5a17:00:00.0/driver", real));
	assert_string_equal(real, "/sys/bus/pci/drivers/mlx5_core");
	assert_non_null(realpath("/sys/bus/pci/drivers/mlx5_core/5a17:00:00.0", real));
	assert_string_equal(real, "/sys/devices/pci5a17:00/5a17:00:00.0");
	assert_int_equal(access("/sys/bus/pci/devices/5a17:00:1f.0", F_OK), -1);
	assert_int_equal(access("/sys/bus/pci/devices/../drivers", F_OK), 0);
}

static void regions_are_refused(void **state)
{
	static const char *const names[] = {"resource0", "resource0_wc"};
	struct stat st;
	char file[64];
	int fd;

	for (int i = 0; i < 2; i++) {
		snprintf(file, sizeof(file), "/sys/bus/pci/devices/5a17:00:00.0/%s", names[i]);
		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_size, 32 << 20);
		assert_int_equal(st.st_mode, S_IFREG | 0600);
		errno = 0;
		assert_int_equal(open(file, O_RDWR), -1);
		assert_int_equal(errno, EACCES);
		errno = 0;
		assert_null(fopen(file, "r"));
		assert_int_equal(errno, EACCES);
	}
	fd = open("/sys/bus/pci/devices/5a17:00:00.0/resource", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open("/sys/bus/pci/devices/5a17:00:00.0/config", O_RDWR), -1);
	assert_int_equal(errno, EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_readdir),
		cmocka_unit_test(by_scandir),
		cmocka_unit_test(by_getdents64),
		cmocka_unit_test(by_glob),
		cmocka_unit_test(by_nftw),
		cmocka_unit_test(by_ftw),
		cmocka_unit_test(by_fts_in_both_forms),
		cmocka_unit_test(from_the_folder_above),
		cmocka_unit_test(both_kinds_can_be_used),
		cmocka_unit_test(regions_are_refused),
	};

	return cmocka_run_group_tests_name("listing", tests, NULL, NULL);
}
