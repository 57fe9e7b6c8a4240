/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements umad_world.h. */
#include "umad_world.h"

#include <errno.h>
#include <sys/mman.h>
#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "segment/mem.h"
#include "umad/test.h"

#define BUF (1u << 20)

static struct fu_world world;
static struct fz_hints hints;
static uint8_t *end_of_memory;

static void make(void)
{
	uint8_t *m;

	fz_check(!umad_test_world(&world.s, 2, world.port));
	m = mmap(NULL, BUF + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fz_check(m != MAP_FAILED && !mprotect(m + BUF, 4096, PROT_NONE));
	end_of_memory = m + BUF;
	mem_guard_armed = true; /* copies without protection: no input has a bad address */
	fz_hints_save(&world.s, &hints);
}

struct fu_world *fu_begin(void)
{
	if (!end_of_memory)
		make();
	return &world;
}

static uint32_t live(enum seg_table_id t)
{
	return seg_table(&world.s, t)->live;
}

void fu_end(void)
{
	for (unsigned int i = 0; i < FU_FILES; i++)
		fu_close(&world, i);
	fz_check(!live(SEG_T_EVBUF) && !live(SEG_T_EVREC) && !live(SEG_T_EVQ));
	fz_check(!live(SEG_T_MSEND) && !live(SEG_T_MRECV) && !live(SEG_T_FILE));
	seg_for_each_live (&world.s, SEG_T_AGENT, i) {
		fz_check(seg_owner(&world.s, SEG_T_AGENT, i) == SEG_OWNER_DEVICE);
		seg_free(&world.s, SEG_T_AGENT, i); /* the fabric's own agent */
	}
	fz_hints_restore(&world.s, &hints);
}

void fu_open(struct fu_world *w, unsigned int n, unsigned int port)
{
	struct umad_file *f = &w->file[n];
	struct seg_file *sf;

	fu_close(w, n);
	fz_check(!seg_alloc(&w->s, SEG_T_FILE, SEG_OWNER_DEVICE, &f->file));
	f->s = &w->s;
	sf = seg_file(&w->s, f->file);
	f->gen = sf->gen;
	sf->hca = hw_port(&w->s, w->port[port])->hca;
	sf->port = 1;
	sf->kind = SEG_FILE_UMAD;
	fz_check(!evq_open(&w->s, f->file, 200));
}

void fu_close(struct fu_world *w, unsigned int n)
{
	struct umad_file *f = &w->file[n];

	if (!f->s)
		return;
	umad_file_gone(&w->s, f->file);
	evq_close(&w->s, f->file);
	seg_free(&w->s, SEG_T_FILE, f->file);
	*f = (struct umad_file){0};
}

static void no_locks(void)
{
	struct seg *s = &world.s;

	seg_for_each_live (s, SEG_T_MRECV, i)
		fz_check(!((struct mad_recv *)seg_at(s, SEG_T_MRECV, i))->lock.word);
	seg_for_each_live (s, SEG_T_MSEND, i)
		fz_check(!((struct mad_send *)seg_at(s, SEG_T_MSEND, i))->pump.word);
}

long fu_register(struct fu_world *w, unsigned int n, struct ib_user_mad_reg_req2 *q)
{
	long r = w->file[n].s ? umad_ioctl(&w->file[n], IB_USER_MAD_REGISTER_AGENT2, q) : -EBADF;

	no_locks();
	return r;
}

ssize_t fu_write(struct fu_world *w, unsigned int n, const void *buf, size_t count)
{
	uint8_t *at = end_of_memory - count;
	ssize_t r;

	if (!w->file[n].s)
		return -EBADF;
	memcpy(at, buf, count);
	r = umad_write(&w->file[n], at, count);
	fz_check(r == (ssize_t)count || r == -EINVAL || r == -EIO || r == -ENODATA || r == -ENOMEM);
	fz_check(!memcmp(at, buf, count));
	no_locks();
	return r;
}

ssize_t fu_read(struct fu_world *w, unsigned int n, void *buf, size_t count)
{
	uint8_t *at = end_of_memory - count;
	struct ib_user_mad_hdr h;
	size_t hdr;
	ssize_t r;

	if (!w->file[n].s)
		return -EBADF;
	hdr = umad_hdr_size(seg_file(&w->s, w->file[n].file));
	r = umad_read(&w->file[n], -1, at, count, true, NULL);
	no_locks();
	fz_check(r == -EAGAIN || r == -EINVAL || r == -ENOSPC || r >= (ssize_t)hdr);
	fz_check(r <= (ssize_t)count && (r != -ENOSPC || count >= hdr + MAD_SIZE));
	if (r >= 0 || r == -ENOSPC) {
		memcpy(&h, at, hdr < sizeof(h) ? hdr : sizeof(h));
		fz_check(h.id < SEG_UMAD_AGENTS);
		fz_check(h.status == ETIMEDOUT ? r == (ssize_t)hdr + 24
			 : r < 0               ? h.length > count
					       : (ssize_t)h.length == r);
		memcpy(buf, at, count);
	}
	return r;
}

void fu_time_passes(struct fu_world *w, uint8_t which)
{
	unsigned int n = 0;

	/* Independent of the clock: an input must do the same each time. */
	seg_for_each_live (&w->s, SEG_T_MSEND, i)
		if (which >> n++ % 8 & 1)
			((struct mad_send *)seg_at(&w->s, SEG_T_MSEND, i))->deadline = 0;
	seg_for_each_live (&w->s, SEG_T_MRECV, i)
		if (which >> n++ % 8 & 1)
			((struct mad_recv *)seg_at(&w->s, SEG_T_MRECV, i))->deadline = 0;
	umad_run_due(&w->s);
	umad_run_orphans(&w->s);
	no_locks();
}
