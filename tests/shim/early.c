/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library that is preloaded, too. It replaces functions of libc that all programs call, and at
 * the first use of one starts itself, with calls that libsofthca wraps, as sanitizers do. Its
 * constructor uses the device, perhaps before libsofthca's has run.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int early_starts; /* how often it has started */

static void start(void)
{
	static int started;
	struct sigaction sa;
	struct stat st;
	char cwd[4096];
	stack_t ss;
	DIR *d;
	void *p;
	int fd;

	if (started)
		return;
	started = 1;
	early_starts++;
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p, 4096);
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	(void)!read(fd, cwd, sizeof(cwd));
	close(fd);
	stat("/sys/class/infiniband", &st);
	stat("/dev/infiniband/uverbs0", &st);
	d = opendir("/dev/infiniband");
	while (d && readdir(d))
		;
	if (d)
		closedir(d);
	(void)!getcwd(cwd, sizeof(cwd));
	sigaction(SIGSEGV, NULL, &sa);
	sigaltstack(NULL, &ss);
}

/* Must not call the functions that it replaces, builtins included (tests/shim/meson.build). */
size_t strlen(const char *s)
{
	size_t n = 0;

	start();
	while (s[n])
		n++;
	return n;
}

#undef strchr /* a macro in glibc from 2.43 on, as memchr */
char *strchr(const char *s, int c)
{
	start();
	for (;; s++)
		if (*s == (char)c)
			return (char *)s;
		else if (!*s)
			return NULL;
}

int strncmp(const char *a, const char *b, size_t n)
{
	start();
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return *(const unsigned char *)a - *(const unsigned char *)b;
	return 0;
}

#undef snprintf /* a macro under clang's _FORTIFY_SOURCE */
int snprintf(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	start();
	va_start(ap, fmt);
	n = vsnprintf(out, size, fmt, ap);
	va_end(ap);
	return n;
}

#undef memchr
void *memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	start();
	for (; n; n--, p++)
		if (*p == (unsigned char)c)
			return (void *)(unsigned long)p;
	return NULL;
}

__attribute__((constructor)) static void init(void)
{
	struct stat st;
	int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	start();
	if (!getenv("SOFTHCA_DIR"))
		return;
	if (fd < 0 || fstat(fd, &st) || !S_ISCHR(st.st_mode) || close(fd)) {
		static const char text[] = "early: the device cannot be opened\n";

		(void)!write(2, text, sizeof(text) - 1);
		_exit(99);
	}
}
