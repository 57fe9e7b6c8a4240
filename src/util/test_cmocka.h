/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmocka 1 and 2 under one set of names, with the headers that cmocka.h needs before it. */
#ifndef SOFTHCA_UTIL_TEST_CMOCKA_H
#define SOFTHCA_UTIL_TEST_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* cmocka 2 has one for each sign, and deprecates what cmocka 1 calls assert_in_range(). */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#endif
