/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions shared by the wrappers of a call and of its raw form, syscall(). Each is given the next
 * definition of the name that the program called (wrap.h says why).
 */
#ifndef SOFTHCA_SHIM_CALLS_H
#define SOFTHCA_SHIM_CALLS_H

#include <sys/types.h>

struct iovec;

typedef int next_open(int dirfd, const char *path, int flags, mode_t mode);
int call_open(int dirfd, const char *path, int flags, mode_t mode, next_open *next);

typedef int next_fd(int fd);
int call_close(int fd, next_fd *next);
int call_dup(int fd, next_fd *next);
typedef int next_dup2(int fd, int to);
int call_dup2(int fd, int to, next_dup2 *next);
typedef int next_dup3(int fd, int to, int flags);
int call_dup3(int fd, int to, int flags, next_dup3 *next);
typedef int next_close_range(unsigned int first, unsigned int last, int flags);
int call_close_range(unsigned int first, unsigned int last, int flags, next_close_range *next);
typedef int next_fcntl(int fd, int cmd, ...);
int call_fcntl(int fd, int cmd, void *arg, next_fcntl *next);
typedef int next_ioctl(int fd, unsigned long cmd, ...);
int call_ioctl(int fd, unsigned long cmd, void *arg, next_ioctl *next);

typedef ssize_t next_read(int fd, void *buf, size_t count);
ssize_t call_read(int fd, void *buf, size_t count, next_read *next);
typedef ssize_t next_write(int fd, const void *buf, size_t count);
ssize_t call_write(int fd, const void *buf, size_t count, next_write *next);
typedef ssize_t next_vector(int fd, const struct iovec *iov, int n);
ssize_t call_readv(int fd, const struct iovec *iov, int n, next_vector *next);
ssize_t call_writev(int fd, const struct iovec *iov, int n, next_vector *next);

typedef int next_execve(const char *path, char *const argv[], char *const envp[]);
int call_execve(const char *path, char *const argv[], char *const envp[], next_execve *next);
typedef int next_execveat(int dirfd, const char *path, char *const argv[], char *const envp[],
			  int flags);
int call_execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags,
		  next_execveat *next);

#endif
