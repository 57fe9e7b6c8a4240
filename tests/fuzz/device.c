/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device behind the system calls of the world, and the checks after each input. */
#include "fabric/fabric.h"
#include "fw/fw.h"
#include "hw/hca.h"
#include "mlx5/mlx5.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "segment/proc.h"
#include "subnet/subnet.h"
#include "util/for_tests.h"
#include "util/heap.h"
#include "uverbs/priv.h"
#include "device.h"

#include <rdma/rdma_user_ioctl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

static struct seg seg;
static struct uv_system sys;
static uint32_t hca;
static struct fz_hints hints;
static uint32_t live[64]; /* elements of each table with nothing open */
static bool is_up;

/* ---- descriptors: numbers that no real descriptor has */

enum { FIRST_FD = 4000, FDS = 512 };
static struct {
	enum seg_file_kind kind; /* 0: free */
	uint32_t file, gen;
	struct uv_file *command;
	void *events; /* once published */
} fds[FDS];
enum { ALIASES = EVENTFD - CHANNEL + 1 };
static int alias[ALIASES]; /* for CHANNEL and those after it: the descriptor that each one copies */

static int fd_of(int fd)
{
	if (fd >= CHANNEL && fd < CHANNEL + ALIASES)
		fd = alias[fd - CHANNEL];
	return fd >= FIRST_FD && fd < FIRST_FD + FDS && fds[fd - FIRST_FD].kind ? fd - FIRST_FD
										: -1;
}

static int fd_new(enum seg_file_kind kind, uint32_t *file, uint32_t *gen)
{
	for (int i = 0; i < FDS; i++) {
		struct seg_file *f;

		if (fds[i].kind)
			continue;
		if (seg_alloc(&seg, SEG_T_FILE, SEG_OWNER_DEVICE, file))
			return -ENFILE;
		f = seg_file(&seg, *file);
		f->kind = kind;
		f->hca = hca;
		f->parent = SEG_NONE;
		*gen = f->gen;
		fds[i].kind = kind;
		fds[i].file = *file;
		fds[i].gen = *gen;
		fds[i].command = NULL;
		fds[i].events = NULL;
		return FIRST_FD + i;
	}
	return -EMFILE;
}

/* ---- replacements for the shim and the supervisor */

static int descriptors_left;

void fz_descriptor_fail_at(int n)
{
	descriptors_left = n;
}

static int open_file(struct link *l, enum seg_file_kind kind, uint32_t of, uint32_t port,
		     uint32_t *file, uint32_t *gen, int *fd)
{
	if (descriptors_left && --descriptors_left == 0)
		return -EMFILE;
	*fd = fd_new(kind, file, gen);
	if (*fd < 0)
		return *fd;
	fz_check(!evq_open(&seg, *file, 0));
	return 0;
}

static int file_closed(struct link *l, uint32_t file, uint32_t gen)
{
	evsub_file_gone(&seg, file);
	evq_close(&seg, file);
	seg_free(&seg, SEG_T_FILE, file);
	for (int i = 0; i < FDS; i++)
		if (fds[i].kind && fds[i].file == file && !fds[i].command)
			fds[i].kind = 0;
	return 1;
}

static int fd_publish(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen, void *obj)
{
	fz_check(fd_of(fd) >= 0);
	fds[fd_of(fd)].events = obj;
	return 0;
}

static void *fd_lookup(int fd, enum seg_file_kind kind)
{
	fd = fd_of(fd);
	return fd < 0 || fds[fd].kind != kind ? NULL : fds[fd].events;
}

static void *uar_mmap(void *addr, size_t len, int prot, int flags, uint32_t uar, int *err)
{
	return (void *)(uintptr_t)0x10000;
}

static bool uar_mapped(uint32_t uar)
{
	return false;
}

static void close_command(int i)
{
	uint32_t file = fds[i].file;

	fw_reap_file(&seg, file);
	evsub_file_gone(&seg, file);
	fz_owned_check(&seg, file);
	uv_release(fds[i].command, true);
	fds[i].command = NULL;
	fds[i].kind = 0;
	seg_free(&seg, SEG_T_FILE, file);
}

static void close_events(int i)
{
	struct uv_event_file *e = fds[i].events;

	file_closed(NULL, fds[i].file, fds[i].gen);
	fds[i].kind = 0;
	if (e)
		uv_event_release(e, true);
}

/* ---- the world's system calls: world.c is compiled with these instead of open() and so on */

int fz_open(const char *path, int flags, ...);
int fz_ioctl(int fd, unsigned long cmd, ...);
ssize_t fz_write(int fd, const void *p, size_t n);
int fz_close(int fd);
int fz_dup2(int from, int to);

int fz_open(const char *path, int flags, ...)
{
	uint32_t file, gen;
	int fd = fd_new(SEG_FILE_UVERBS, &file, &gen);

	fz_check(fd >= 0);
	fz_check(!uv_open(&sys, hca, file, gen, &fds[fd - FIRST_FD].command));
	return fd;
}

int fz_ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;
	long r;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	r = uv_ioctl(fds[fd_of(fd)].command, cmd, arg);
	errno = (int)-r;
	fz_check(r <= 0 && r > -4096);
	return r < 0 ? -1 : 0;
}

ssize_t fz_write(int fd, const void *p, size_t n)
{
	ssize_t r = uv_write(fds[fd_of(fd)].command, p, n);

	errno = (int)-r;
	fz_check(r == (ssize_t)n || (r < 0 && r > -4096));
	return r < 0 ? -1 : r;
}

int fz_close(int fd)
{
	int real = fd;

	fd = fd_of(fd);
	if (fd < 0)
		return real < FIRST_FD ? close(real) : 0;
	/* Another copy of the descriptor exists. */
	for (int i = 0; i < ALIASES; i++)
		if (alias[i] == FIRST_FD + fd)
			return 0;
	if (fds[fd].command)
		close_command(fd);
	else
		close_events(fd);
	return 0;
}

int fz_dup2(int from, int to)
{
	fz_check(to >= CHANNEL && to < CHANNEL + ALIASES);
	if (from < FIRST_FD)
		return dup2(from, to);
	alias[to - CHANNEL] = from;
	return to;
}

/* ---- other calls */

static struct uv_file *command_file(enum which which)
{
	return fds[fd_of(world_fd(which))].command;
}

uint32_t fz_world_file(enum which which)
{
	return fds[fd_of(world_fd(which))].file;
}

struct seg *fz_world_seg(void)
{
	return &seg;
}

void *fz_mmap(enum which which, uint64_t addr, size_t len, int prot, int flags, uint64_t off)
{
	int err;

	return uv_mmap(command_file(which), (void *)(uintptr_t)addr, len, prot, flags, (off_t)off,
		       &err);
}

long fz_read(int fd, uint64_t at, size_t count)
{
	struct uv_event_file *e;
	struct uv_event_wait w;

	fd = fd_of(fd);
	e = fd < 0 ? NULL : fds[fd].events;
	return e ? uv_event_read(e, -1, (void *)(uintptr_t)at, count, true, &w) : -EBADF;
}

/* ---- begin and end */

static void up(void)
{
	const struct hw_caps *c = fw_caps(HW_CX6);
	const struct fab_options o = {
		.hosts = 1, .hcas = 1, .ports = 1, .model = HW_CX6, .caps = *c};

	setenv(LOG_ENV_TOPICS, "uverbs,fw,event", 1);
	setenv(LOG_ENV_FILE, "/dev/null", 0);
	log_init();
	fz_check(!seg_create(&seg, "fuzz"));
	fz_check(!seg_proc_register_self(&seg, 0));
	fz_check(!fab_create(&seg, &o));
	hca = seg_next(&seg, SEG_T_HCA, SEG_OWNER_ANY, 0);
	fz_check(!fw_hca_init(&seg, hca));
	sys = (struct uv_system){.seg = &seg,
				 .driver = &mlx5_driver,
				 .open_file = open_file,
				 .file_closed = file_closed,
				 .fd_publish = fd_publish,
				 .fd_lookup = fd_lookup,
				 .uar_mmap = uar_mmap,
				 .uar_mapped = uar_mapped};
	fz_hints_save(&seg, &hints);
	for (uint32_t t = 0; t < SEG_T_COUNT; t++)
		live[t] = atomic_load(&seg_table(&seg, (enum seg_table_id)t)->live);
	is_up = true;
}

void fz_world_begin(uint8_t how)
{
	unsigned int trace = how % 8;

	static uint32_t traced;

	if (!is_up) {
		up();
		traced = log_mask;
	} else {
		memset((void *)(uintptr_t)MEM, 0, MEM_LEN);
	}
	log_mask = trace == 1 || trace == 2 ? traced : LOG_ERROR;
	log_json = trace == 2;
	/* Firmware counters that would continue from the last input: each input starts alike. */
	atomic_store(&hw_hca(&seg, hca)->mkey_var, 0);
	atomic_store(&hw_hca(&seg, hca)->next_uid, 1);
	world_make();
	/* The files are made before anything is short. */
	if (how >> 3)
		world_fd(NEW);
	heap_fail_at(how >> 3);
}

void fz_world_end(void)
{
	heap_fail_at(0);
	fz_refs_check(&seg, hca);
	world_end();
	memset(alias, 0, sizeof(alias));
	for (int i = 0; i < FDS; i++)
		if (fds[i].kind && fds[i].command)
			close_command(i);
	for (int i = 0; i < FDS; i++)
		if (fds[i].kind)
			close_events(i);
	for (uint32_t t = 0; t < SEG_T_COUNT; t++)
		fz_check(live[t] == atomic_load(&seg_table(&seg, (enum seg_table_id)t)->live));
	fz_check(atomic_load(&seg_proc(&seg, seg.self)->pinned) == 0);
	fz_hints_restore(&seg, &hints);
}
