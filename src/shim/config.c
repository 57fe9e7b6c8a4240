/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the library's configuration: the environment, read once. Every wrapper calls it, sometimes
 * before any library has been initialised, or during the start-up of another library. It must not
 * call a function that another library can replace (a sanitizer's strlen() starts the sanitizer,
 * which calls mmap(), which is ours), so it uses raw system calls and its own loops. meson.build
 * compiles it so that the compiler makes no calls of the loops; tests/shim/symbols.py checks the
 * result.
 */
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "util/sys.h"

#include <elf.h>
#include <stdatomic.h>
#include <sys/auxv.h>

static struct shim_config config;
enum { UNREAD = 0, READ = -1 }; /* otherwise: the thread that reads it */
static _Atomic int config_state;

/* Other libcs do not have it; nothing of ours would work under them. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static bool same(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static bool equal(const char *a, const char *b)
{
	size_t n = length(a);

	return n == length(b) && same(a, b, n);
}

/* Puts `s` at `at` and returns its end. Text that does not fit is cut off. */
static size_t config_put(char *out, size_t size, size_t at, const char *s)
{
	for (; *s && at + 1 < size; s++)
		out[at++] = *s;
	out[at] = '\0';
	return at;
}

static const char *env(const char *name)
{
	size_t n = length(name);

	for (char **e = environ; *e; e++)
		if (same(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static bool copy_env(const char *name, char *out, size_t size)
{
	const char *s = env(name);

	if (!s || !*s || length(s) >= size)
		return false;
	config_put(out, size, 0, s);
	return true;
}

static bool has_slash(const char *s)
{
	for (; *s; s++)
		if (*s == '/')
			return true;
	return false;
}

/* "/proc/thread-self/fd/<fd>" */
static void fd_link(char *out, size_t size, unsigned int fd)
{
	char digits[12], *d = digits + sizeof(digits) - 1;

	*d = '\0';
	do
		*--d = (char)('0' + fd % 10);
	while (fd /= 10);
	config_put(out, size, config_put(out, size, 0, "/proc/thread-self/fd/"), d);
}

/* Paths that the kernel returns (getcwd, /proc/self/fd) name the root without symbolic links. */
static void find_real_root(struct shim_config *c)
{
	int fd = sys_openat(AT_FDCWD, c->root, O_PATH | O_CLOEXEC, 0);
	char link[32];
	long n;

	if (fd < 0)
		return;
	fd_link(link, sizeof(link), (unsigned int)fd);
	n = sys_readlink(link, c->real_root, sizeof(c->real_root) - 1);
	sys_close(fd);
	if (n <= 0 || c->real_root[0] != '/')
		return;
	c->real_root_len = (size_t)n;
	/* <dir>/host/<host>: the last two components are not links. */
	n -= (long)(length("/host/") + length(c->host));
	for (long i = 0; i < n; i++)
		c->real_dir[i] = c->real_root[i];
}

static bool has(const char *s, size_t n, const char *word)
{
	size_t len = length(word);

	for (size_t i = 0; i + len <= n; i++)
		if (same(s + i, word, len))
			return true;
	return false;
}

/* The item of LD_PRELOAD that is this library. One that does not fit is not kept. */
static void keep_library(struct shim_config *c)
{
	const char *s = env("LD_PRELOAD");
	size_t n;

	for (; s && *s; s += n + (s[n] != '\0')) {
		for (n = 0; s[n] && s[n] != ':' && s[n] != ' ';)
			n++;
		if (n >= sizeof(c->library) || !has(s, n, "libsofthca.so"))
			continue;
		for (size_t i = 0; i < n; i++)
			c->library[i] = s[i];
		return;
	}
}

/* What this library and `softhca` read from the environment, for programs that lose it. */
static void keep_environment(struct shim_config *c)
{
	const char *s = env(SHIM_ENV_KEEP);
	size_t at = 0;

	c->keep_env = s && equal(s, "none")  ? SHIM_KEEP_NONE
		      : s && equal(s, "all") ? SHIM_KEEP_ALL
					     : SHIM_KEEP_SPAWN;
	keep_library(c);
	for (char **e = environ; *e; e++)
		if (same(*e, "SOFTHCA_", length("SOFTHCA_")) &&
		    at + length(*e) + 2 <= sizeof(c->kept))
			at = config_put(c->kept, sizeof(c->kept), at, *e) + 1;
}

static void read_config(struct shim_config *c)
{
	const char *s;

	/* A program with more rights than its caller ignores the environment (setuid). */
	if (!gnu_get_libc_version || getauxval(AT_SECURE))
		return;
	if (!copy_env(SHIM_ENV_DIR, c->dir, sizeof(c->dir)) || c->dir[0] != '/')
		return;
	if (!copy_env(SHIM_ENV_HOST, c->host, sizeof(c->host)) || has_slash(c->host))
		config_put(c->host, sizeof(c->host), 0, "h1");
	c->root_len = config_put(c->root, sizeof(c->root), 0, c->dir);
	c->root_len = config_put(c->root, sizeof(c->root), c->root_len, "/host/");
	c->root_len = config_put(c->root, sizeof(c->root), c->root_len, c->host);
	s = env(SHIM_ENV_MEMLOCK);
	c->memlock_enforce = s && equal(s, "enforce");
	s = env(SHIM_ENV_PTRACER);
	c->ptracer = !(s && equal(s, "0"));
	s = env(SHIM_ENV_ADOPT);
	for (; s && *s >= '0' && *s <= '9' && c->adopt_after < 1000000; s++)
		c->adopt_after = c->adopt_after * 10 + (uint32_t)(*s - '0');
	find_real_root(c);
	keep_environment(c);
	c->on = true;
}

/* fork() in another thread may have copied this state without its reader. */
static bool gone(int tid)
{
	return sys_call(SYS_tgkill, sys_getpid(), tid, 0) == -ESRCH;
}

/*
 * Callers wait while another thread reads. The reader itself (in a signal handler) does not: for
 * that one call the library is inactive.
 */
static const struct shim_config *config_unread(void)
{
	static const struct shim_config off;
	int tid = (int)sys_call(SYS_gettid), who = UNREAD;

	for (;;) {
		if (atomic_compare_exchange_strong(&config_state, &who, tid)) {
			read_config(&config);
			atomic_store_explicit(&config_state, READ, memory_order_release);
			return &config;
		}
		if (who == READ)
			return &config;
		if (who == tid)
			return &off;
		if (!gone(who)) {
			sys_call(SYS_sched_yield);
			who = UNREAD;
		}
	}
}

const struct shim_config *shim_config(void)
{
	if (__builtin_expect(atomic_load_explicit(&config_state, memory_order_acquire) == READ, 1))
		return &config;
	/* A sanitizer starts before libc has set up the environment: nothing is known yet. */
	if (!environ)
		return &config;
	return config_unread();
}
