/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all parts of the program softhca have in common: exit status, names, messages. */
#ifndef SOFTHCA_SUPER_PROGRAM_H
#define SOFTHCA_SUPER_PROGRAM_H

enum {
	PROG_FAILED = 2,    /* exit status: softhca itself could not */
	PROG_NAME_MAX = 32, /* characters of a fabric's name */
};

/* "softhca: ..." and a newline on standard error. Returns PROG_FAILED. */
int prog_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
