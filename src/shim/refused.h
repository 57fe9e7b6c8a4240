/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The obstacles that RDMA programs meet, and what to do instead: lines of the topic shim, and notes
 * for the user of `softhca run` (segment/note.h). All keep errno and make raw system calls.
 */
#ifndef SOFTHCA_SHIM_REFUSED_H
#define SOFTHCA_SHIM_REFUSED_H

/* Opening `path` has failed with errno. It may lie below the host's root. */
void refused_path(const char *path);
/* Making a socket has failed with errno. */
void refused_socket(int domain, int type, int protocol);
/* This process cannot join its fabric: -errno. */
void refused_join(int err);
/* A limit or the host's policy keeps the program from the device: one line in each process. */
void refused_limit(const char *what, int err);
/*
 * A program is about to be executed: with its environment, does it keep the library? `path` may be
 * NULL; both may be bad pointers.
 */
void refused_exec(const char *path, char *const envp[]);
/* dlmopen() loads a library into a namespace without ours. */
void refused_namespace(const char *file);
/* The program starts: is it of a language whose runtime makes system calls without libc? */
void refused_raw(void);

#endif
