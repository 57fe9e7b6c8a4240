/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readable files for tests: replaces the supervisor and the shim's table of descriptors. */
#ifndef SOFTHCA_MLX5_TEST_FDS_H
#define SOFTHCA_MLX5_TEST_FDS_H

#include "mlx5/test.h"
#include "hw/evq.h"
#include "hw/evsub.h"

#define FDS 64
static struct {
	void *obj;
	enum seg_file_kind kind;
	uint32_t file;
	int fd;
} fds[FDS];
static struct seg *fds_seg;

static int fake_open_file(struct link *l, enum seg_file_kind kind, uint32_t hca, uint32_t port,
			  uint32_t *file, uint32_t *gen, int *fd)
{
	struct seg_file *f;

	*fd = memfd_create("random", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(seg_alloc(fds_seg, SEG_T_FILE, SEG_OWNER_DEVICE, file), 0);
	f = seg_file(fds_seg, *file);
	f->kind = kind;
	f->hca = hca;
	*gen = f->gen;
	assert_int_equal(evq_open(fds_seg, *file, 0), 0);
	return 0;
}

static int fake_file_closed(struct link *l, uint32_t file, uint32_t gen)
{
	evsub_file_gone(fds_seg, file);
	evq_close(fds_seg, file);
	seg_free(fds_seg, SEG_T_FILE, file);
	return 1;
}

static int fake_publish(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen, void *obj)
{
	for (size_t i = 0; i < FDS; i++)
		if (!fds[i].obj) {
			fds[i].obj = obj;
			fds[i].kind = kind;
			fds[i].file = file;
			fds[i].fd = fd;
			return 0;
		}
	return -EMFILE;
}

static void *fake_lookup(int fd, enum seg_file_kind kind)
{
	for (size_t i = 0; i < FDS; i++)
		if (fds[i].obj && fds[i].fd == fd && fds[i].kind == kind)
			return fds[i].obj;
	return NULL;
}

static void close_fds(void)
{
	for (size_t i = 0; i < FDS; i++) {
		if (!fds[i].obj)
			continue;
		fake_file_closed(NULL, fds[i].file, 0);
		uv_event_release(fds[i].obj, true);
		close(fds[i].fd);
		fds[i].obj = NULL;
	}
}

/* From now on `e` can make readable files. */
static void fds_make(struct test_env *e)
{
	fds_seg = &e->seg;
	e->sys.open_file = fake_open_file;
	e->sys.file_closed = fake_file_closed;
	e->sys.fd_publish = fake_publish;
	e->sys.fd_lookup = fake_lookup;
}

#endif
