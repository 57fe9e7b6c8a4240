/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unit tests only: temporary folders, removed with anything that a failed test has left in them. */
#ifndef SOFTHCA_UTIL_TEST_TMP_H
#define SOFTHCA_UTIL_TEST_TMP_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define TEST_TMP_MAX sizeof("/dev/shm/softhca-test-XXXXXX")

/*
 * For a fabric's files. In memory if possible, as those of users: on a disk each file waits for the
 * disk's journal. False: errno.
 */
static inline bool test_tmp_make(char path[TEST_TMP_MAX])
{
	struct statvfs fs;

	if (!statvfs("/dev/shm", &fs) && fs.f_bavail * fs.f_frsize >= 32u << 20) {
		strcpy(path, "/dev/shm/softhca-test-XXXXXX");
		if (mkdtemp(path))
			return true;
	}
	strcpy(path, "/tmp/softhca-test-XXXXXX");
	return mkdtemp(path);
}

static int test_tmp_remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static inline void test_tmp_remove(const char *path)
{
	nftw(path, test_tmp_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
