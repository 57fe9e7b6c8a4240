/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes for the user of `softhca run`: a process that cannot reach the fabric, or is about to lose
 * it, tells why. Datagrams to a name outside the file system, because the process may have no
 * access to the fabric's directory. They are hints: anybody may send one, and nobody waits.
 */
#ifndef SOFTHCA_SEGMENT_NOTE_H
#define SOFTHCA_SEGMENT_NOTE_H

#include <stdint.h>

enum note_kind {
	NOTE_ENVIRONMENT = 1, /* a program was started without the library's variables */
	NOTE_PRIVILEGED,      /* a program was started that ignores them: set-user-ID */
	NOTE_USER,            /* a process of another user looked for a device */
	NOTE_ELSEWHERE, /* a process that looked for one does not see the fabric's directory */
	NOTE_GO,        /* a program whose system calls do not pass through libc */
	NOTE_NAMESPACE, /* a library was loaded into a namespace of its own: dlmopen() */
};

struct note {
	uint32_t kind;
	uint32_t uid;
	char program[120]; /* cut off at its beginning */
};

/* A non-blocking descriptor to read struct note from, or -errno. `dir`: the fabric's directory. */
int note_listen(const char *dir);
/* Raw system calls only; keeps errno. Lost when nobody listens. `program` may be NULL. */
void note_send(const char *dir, enum note_kind kind, const char *program);

#endif
