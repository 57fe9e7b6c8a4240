/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by all parts of the program softhca: exit status, names, messages. */
#ifndef SOFTHCA_SUPER_PROGRAM_H
#define SOFTHCA_SUPER_PROGRAM_H

enum {
	PROG_FAILED = 2,    /* exit status: softhca itself failed */
	PROG_NAME_MAX = 32, /* maximum length of a fabric's name */
};

/* From now on messages name this command. */
void prog_begin(const char *verb);
/* strerror(), with the limit that the error may come from. */
const char *prog_why(int err);
/* Prints "softhca: COMMAND: ..." and a newline on standard error. Returns PROG_FAILED. */
int prog_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
