/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_UTIL_FOR_TESTS_H
#define SOFTHCA_UTIL_FOR_TESTS_H

#include <stdbool.h>
#include "util/aes.h"
#include "util/rec.h"

/* If n > 0, the n-th allocation from now on fails, once. */
void heap_fail_at(int n);
/* Frees a record without writing it. */
void rec_free(struct rec *r);

/*
 * Replaces the environment's actions; NULL: no actions. `spec` is kept, not copied, and counts
 * restart. False: a syntax error. No thread may be at a point.
 */
bool point_set(const char *spec);
/* If set, it is called at each point, for tests that need more than the actions. */
extern void (*point_hook)(const char *name);

void aes_encrypt(const struct aes_key *k, uint8_t block[AES_BLOCK], enum aes_how how);
void aes_decrypt(const struct aes_key *k, uint8_t block[AES_BLOCK], enum aes_how how);

#endif
