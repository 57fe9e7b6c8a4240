/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns reading this process's list of mappings: which pages may be adopted, and which still are.
 * Called by adopt_own.c on the device thread or in wrappers; raw system calls, no allocation.
 */
#include "segment/adopt_priv.h"
#include "segment/look.h"
#include "util/num.h"
#include "util/sys.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/sysmacros.h>

#define LINE 384 /* longer lines are paths; their ends do not matter */

static struct adopt_kept kept = {.fd = -1}; /* the list of mappings */

/* Reads a file line by line. */
struct lines {
	int fd, err; /* err: < 0 if it ended by an error */
	bool kept;
	uint64_t from; /* offset of what is read next, of the kept descriptor */
	uint32_t at, n;
	char buf[2048];
	char line[LINE];
};

static bool next_char(struct lines *l, char *c)
{
	ssize_t n;

	if (l->at == l->n) {
		n = l->kept ? sys_call(SYS_pread64, l->fd, l->buf, sizeof(l->buf), l->from)
			    : sys_read(l->fd, l->buf, sizeof(l->buf));
		if (n < 0)
			l->err = (int)n;
		if (n <= 0)
			return false;
		l->from += (uint64_t)n;
		l->at = 0;
		l->n = (uint32_t)n;
	}
	*c = l->buf[l->at++];
	return true;
}

static bool next_line(struct lines *l)
{
	uint32_t n = 0;
	char c = 0;

	while (next_char(l, &c) && c != '\n')
		if (n + 1 < sizeof(l->line))
			l->line[n++] = c;
	l->line[n] = '\0';
	return n || c == '\n';
}

static int lines_open(struct lines *l, const char *path)
{
	*l = (struct lines){.fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)};
	return l->fd < 0 ? l->fd : 0;
}

static void lines_close(const struct lines *l)
{
	if (!l->kept)
		sys_close(l->fd);
}

bool adopt_is_kept(const struct adopt_kept *k)
{
	struct stat st;

	return k->fd >= 0 && k->pid == sys_getpid() && !sys_fstat(k->fd, &st) &&
	       st.st_dev == k->dev && st.st_ino == k->ino;
}

void adopt_keep_open(struct adopt_kept *k, const char *path, int flags)
{
	int fd =
		adopt_is_kept(k) ? -1 : sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | flags, 0);
	struct stat st;

	if (fd < 0)
		return;
	k->fd = sys_fd_high(fd);
	k->pid = sys_getpid();
	if (!sys_fstat(k->fd, &st)) {
		k->dev = st.st_dev;
		k->ino = st.st_ino;
	}
}

void adopt_keep_drop(struct adopt_kept *k)
{
	struct stat st;

	if (k->fd >= 0 && !sys_fstat(k->fd, &st) && st.st_dev == k->dev && st.st_ino == k->ino)
		sys_fd_drop(k->fd);
	k->fd = -1;
}

void adopt_maps_keep(void)
{
	adopt_keep_open(&kept, "/proc/thread-self/maps", 0);
}

void adopt_maps_forked(void)
{
	adopt_keep_drop(&kept);
}

/* /proc/self is the first thread: when that has ended, it has no mappings. */
static int maps_open(struct lines *l)
{
	int r = lines_open(l, "/proc/thread-self/maps");

	if (!r)
		return 0;
	*l = (struct lines){.fd = kept.fd, .kept = true};
	return adopt_is_kept(&kept) ? 0 : r;
}

struct mapping {
	uint64_t lo, hi, offset, major, minor, ino;
	char perms[5];
	const char *name;
};

/* "lo-hi rw-p offset major:minor inode   name" */
static bool parse(const char *s, struct mapping *m)
{
	m->lo = num_in_base(s, 16, &s);
	if (*s != '-')
		return false;
	m->hi = num_in_base(s + 1, 16, &s);
	if (*s != ' ' || strlen(s) < 6)
		return false;
	memcpy(m->perms, s + 1, 4);
	m->perms[4] = '\0';
	m->offset = num_in_base(s + 6, 16, &s);
	m->major = num_in_base(s + (*s == ' '), 16, &s);
	m->minor = num_in_base(s + (*s == ':'), 16, &s);
	m->ino = num_decimal(s + (*s == ' '), &s);
	while (*s == ' ')
		s++;
	m->name = s;
	return m->hi > m->lo;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/*
 * Asynchronous input and output keep pages that the kernel writes to after the call that named
 * them; a mapping of its queue is the only trace of it.
 */
static int has_queues(void)
{
	struct lines l;
	struct mapping m;
	int found = maps_open(&l);

	if (found < 0)
		return found;
	while (!found && next_line(&l))
		found = parse(l.line, &m) &&
			(starts(m.name, "/[aio]") || starts(m.name, "anon_inode:"));
	lines_close(&l);
	return found ? found : l.err;
}

/* ---- stacks */

struct stacks {
	uint64_t lo, hi;
	int found;
};

/*
 * glibc puts a thread's descriptor, with the head of its list of robust mutexes, above its stack,
 * in the same mapping. The first thread's stack has a mapping with a name.
 */
static bool is_below_descriptor(const char *thread, void *arg)
{
	struct stacks *x = arg;
	const char *id = strrchr(thread, '/');
	uint64_t tid, head = 0;
	size_t len = 0;
	long r;

	tid = num_decimal(id ? id + 1 : thread, NULL);
	if (tid == (uint64_t)sys_getpid())
		return true;
	r = sys_call(SYS_get_robust_list, tid, &head, &len);
	if (r == -ESRCH) /* it has ended */
		return true;
	x->found = r ? (int)r : head >= x->lo && head < x->hi;
	return !x->found;
}

/* 1, 0, or -errno. */
static int holds_stack(struct seg *s, uint64_t lo, uint64_t hi)
{
	struct stacks x = {lo, hi, 0};
	int r = look_threads(s, (uint32_t)sys_getpid(), is_below_descriptor, &x);

	return r ? r : x.found;
}

/* ---- flags */

/*
 * VmFlags of show_smap_vma_flags() in the kernel's fs/proc/task_mmu.c: only those of plain private
 * memory. MADV_HUGEPAGE and MADV_NOHUGEPAGE stay with the mapping that is put aside.
 */
static bool plain(const char *flags)
{
	static const char allowed[] = " rd wr mr mw me ac nr sd hg nh ";
	char one[5] = "    ";

	for (; *flags; flags++) {
		if (*flags == ' ')
			continue;
		one[1] = flags[0];
		one[2] = flags[1];
		if (!flags[1] || !strstr(allowed, one))
			return false;
		flags++;
	}
	return true;
}

static bool private_memory(const struct mapping *m)
{
	return !strcmp(m->perms, "rw-p") && !m->ino &&
	       (!*m->name || !strcmp(m->name, "[heap]") || starts(m->name, "[anon:"));
}

/* The value of a line of smaps such as "VmFlags: rd wr", or NULL. */
static const char *value(const char *line, const char *name)
{
	size_t n = strlen(name);

	if (!starts(line, name))
		return NULL;
	line += n;
	while (*line == ' ')
		line++;
	return line;
}

static int pages_allow(struct seg *s, struct lines *l, uint64_t from, uint64_t to)
{
	struct mapping m = {0};
	bool in = false;
	const char *v;
	int r;

	while (next_line(l)) {
		if (parse(l->line, &m)) {
			if (m.lo >= to)
				return 0;
			in = m.hi > from;
			if (in && (m.lo > from || !private_memory(&m)))
				return 0;
			r = in ? holds_stack(s, from, m.hi) : 0;
			if (r)
				return r < 0 ? r : 0;
			continue;
		}
		if (!in)
			continue;
		v = value(l->line, "ProtectionKey:");
		if (v && strcmp(v, "0") != 0)
			return 0;
		v = value(l->line, "VmFlags:");
		if (!v)
			continue;
		if (!plain(v))
			return 0;
		from = m.hi;
		if (from >= to)
			return 1;
	}
	return l->err;
}

int adopt_maps_allow(struct seg *s, uint64_t from, uint64_t to)
{
	struct lines l;
	int r = has_queues();

	if (r)
		return r < 0 ? r : 0;
	r = lines_open(&l, "/proc/thread-self/smaps");
	if (r)
		return r;
	r = pages_allow(s, &l, from, to);
	sys_close(l.fd);
	return r;
}

/* What is mapped at an address: linux/fs.h of Linux 6.11, where this costs less than the list. */
struct query {
	uint64_t size, flags, addr, lo, hi, vm_flags, page_size, offset, ino;
	uint32_t major, minor, name_size, id_size;
	uint64_t name, id;
};
#define QUERY _IOWR('f', 17, struct query)

/* -ENOENT: nothing; other errors: the kernel cannot say. */
static int query(uint64_t at, struct mapping *m)
{
	struct query q = {.size = sizeof(q), .addr = at};
	int r = (int)sys_call(SYS_ioctl, kept.fd, QUERY, &q);

	*m = (struct mapping){.lo = q.lo,
			      .hi = q.hi,
			      .offset = q.offset,
			      .major = q.major,
			      .minor = q.minor,
			      .ino = q.ino};
	return r;
}

static bool is_of_file(const struct mapping *m, const struct stat *st)
{
	return m->ino == st->st_ino && m->major == major(st->st_dev) &&
	       m->minor == minor(st->st_dev);
}

/* As adopt_maps_are(); other errors: the kernel cannot say. */
static int ask_kernel(uint64_t from, uint64_t to, const struct stat *st, uint64_t offset)
{
	struct mapping m;
	int r = adopt_is_kept(&kept) ? 0 : -ENOTTY;

	for (uint64_t at = from; at < to && !r; at = m.hi) {
		r = query(at, &m);
		if (r == -ENOENT ||
		    (!r && (!is_of_file(&m, st) || m.offset + (at - m.lo) != offset + (at - from))))
			return 0;
	}
	return r ? r : 1;
}

int adopt_maps_are(uint64_t from, uint64_t to, int fd, uint64_t offset)
{
	struct mapping m;
	struct stat st;
	struct lines l;
	uint64_t at = from;
	int r;

	if (sys_fstat(fd, &st))
		return -EBUSY;
	r = ask_kernel(from, to, &st, offset);
	if (r >= 0)
		return r;
	if (maps_open(&l))
		return -EBUSY;
	while (at < to && next_line(&l)) {
		if (!parse(l.line, &m) || m.hi <= at)
			continue;
		if (m.lo > at || !is_of_file(&m, &st) ||
		    m.offset + (at - m.lo) != offset + (at - from))
			break;
		at = m.hi;
	}
	lines_close(&l);
	return l.err ? -EBUSY : at >= to;
}

bool adopt_maps_elsewhere(const struct seg *s, uint64_t offset, uint64_t len)
{
	uint64_t base = (uintptr_t)s->base;
	bool found = false;
	struct mapping m;
	struct stat st;
	struct lines l;

	if (sys_fstat(s->fd, &st) || maps_open(&l))
		return true;
	while (!found && next_line(&l))
		found = parse(l.line, &m) && is_of_file(&m, &st) && m.offset < offset + len &&
			offset < m.offset + (m.hi - m.lo) &&
			(m.lo < base || m.lo >= base + s->size);
	lines_close(&l);
	return found || l.err;
}
