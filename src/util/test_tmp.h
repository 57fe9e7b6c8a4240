/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unit tests only: removes a temporary folder, with anything that a failed test has left in it. */
#ifndef SOFTHCA_UTIL_TEST_TMP_H
#define SOFTHCA_UTIL_TEST_TMP_H

#include <ftw.h>
#include <stdio.h>

static int test_tmp_remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static inline void test_tmp_remove(const char *path)
{
	nftw(path, test_tmp_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
