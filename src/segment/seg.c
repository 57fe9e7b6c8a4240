/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the segment's layout (the table of tables), its creation and its mapping. Calls the kernel
 * only, below libc. Called by the supervisor (seg_create) and by link.c (seg_map).
 */
#include "segment/seg.h"
#include "segment/cap.h"
#include "segment/evq.h"
#include "segment/evsub.h"
#include "segment/fab.h"
#include "segment/mad.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "segment/table.h"
#include "util/sys.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define K 1024u
#define M (1024u * 1024u)
#define SEG_PAGE UINT64_C(4096)
#define SEG_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)

/*
 * About 4.6 GiB in all, sparse; SUPPORT.md 1 and test_table.c say so, too. Ids stay inside their
 * fields on the wire (24 bits; UAR page ids and LIDs 16), QPNs 0 and 1 are the management QPs' and
 * 0x40 is where a card starts.
 */
static const struct {
	uint32_t capacity, elem_size, first;
} tables[SEG_T_COUNT] = {
	[SEG_T_PROC] = {16 * K, sizeof(struct seg_proc), 1},
	[SEG_T_FILE] = {64 * K, sizeof(struct seg_file), 1},
	[SEG_T_EVQ] = {64 * K, sizeof(struct seg_evq), 1},
	[SEG_T_EVREC] = {1 * M, sizeof(struct seg_evrec), 1},
	[SEG_T_WORD] = {MEM_WORD_LOCKS, sizeof(struct seg_word), 1},
	[SEG_T_EVBUF] = {1 * M, sizeof(struct seg_evdata), 1},
	[SEG_T_EVSUB] = {256 * K, sizeof(struct seg_evsub), 1},
	[SEG_T_EVTAB] = {EVSUB_CHAINS, sizeof(struct seg_evhash), 1},
	[SEG_T_HOST] = {32 * K, sizeof(struct hw_host), 1},
	[SEG_T_HCA] = {32 * K, sizeof(struct hw_hca), 1},
	[SEG_T_PORT] = {512 * K, sizeof(struct hw_port), 1},
	[SEG_T_NODE] = {48 * K, sizeof(struct fab_node), 1},
	[SEG_T_SWITCH] = {8 * K, sizeof(struct fab_switch), 1},
	[SEG_T_LFT] = {8 * K, sizeof(struct fab_lft), 1},
	[SEG_T_MFT] = {8 * K, sizeof(struct fab_mft), 1},
	[SEG_T_SL2VL] = {256 * K, sizeof(struct fab_sl2vl), 1},
	[SEG_T_VLARB] = {256 * K, sizeof(struct fab_vl_arb), 1},
	[SEG_T_NOTICE] = {16 * K, sizeof(struct fab_notice), 1},
	[SEG_T_SUBNET] = {2, sizeof(struct fab_subnet), 1},
	[SEG_T_CTR] = {512 * K, sizeof(struct fab_ctr), 1},
	[SEG_T_CTRBASE] = {512 * K, sizeof(struct fab_ctr_base), 1},
	[SEG_T_MCGRP] = {FAB_MLIDS + 1, sizeof(struct fab_mcgrp), 1},
	[SEG_T_MCMEM] = {128 * K, sizeof(struct fab_mcmem), 1},
	[SEG_T_SAREC] = {32 * K, sizeof(struct fab_sarec), 1},
	[SEG_T_EQ] = {256 * K, sizeof(struct hw_eq), 1},
	[SEG_T_UAR] = {65535, sizeof(struct hw_uar), 1},
	[SEG_T_PD] = {256 * K, sizeof(struct hw_pd), 1},
	[SEG_T_UMEM] = {2 * M, sizeof(struct hw_umem), 1},
	[SEG_T_MKEY] = {2 * M, sizeof(struct hw_mkey), HW_FIRST_MKEY},
	[SEG_T_KLM] = {128 * K, sizeof(struct hw_klm), 1},
	[SEG_T_CQ] = {1 * M + 1, sizeof(struct hw_cq), 1},
	[SEG_T_SRQ] = {256 * K + 1, sizeof(struct hw_srq), 1},
	[SEG_T_QP] = {1 * M + 0x40, sizeof(struct hw_qp), 0x40},
	[SEG_T_AHEAD] = {1 * M + 0x40, sizeof(struct hw_rq_ahead), 0x40},
	[SEG_T_OBJ] = {64 * K + 1, sizeof(struct hw_obj), 1},
	[SEG_T_XRCD] = {64 * K, sizeof(struct hw_xrcd), 1},
	[SEG_T_SHARE] = {64 * K, sizeof(struct hw_share), 1},
	[SEG_T_QCTR] = {16 * K, sizeof(struct hw_qctr), 1},
	[SEG_T_MCG] = {64 * K, sizeof(struct hw_mcg), 1},
	[SEG_T_AGENT] = {64 * K, sizeof(struct mad_agent), 1},
	[SEG_T_MSEND] = {64 * K, sizeof(struct mad_send), 1},
	[SEG_T_MCHAIN] = {MAD_CHAINS, sizeof(struct mad_chain), 1},
	[SEG_T_MRECV] = {64 * K, sizeof(struct mad_recv), 1},
	[SEG_T_CAP] = {2, sizeof(struct seg_cap), 1},
	[SEG_T_CAPREC] = {CAP_SLOTS, sizeof(struct seg_cap_rec), 1},
};

#define CHECK_ELEM(t) static_assert(sizeof(struct t) % 64 == 0, #t " wants SEG_ELEM")
CHECK_ELEM(seg_proc);
CHECK_ELEM(seg_file);
CHECK_ELEM(seg_evq);
CHECK_ELEM(seg_evrec);
CHECK_ELEM(seg_evdata);
CHECK_ELEM(seg_evsub);
CHECK_ELEM(seg_evhash);
CHECK_ELEM(hw_host);
CHECK_ELEM(hw_hca);
CHECK_ELEM(hw_port);
CHECK_ELEM(fab_node);
CHECK_ELEM(fab_switch);
CHECK_ELEM(fab_lft);
CHECK_ELEM(fab_mft);
CHECK_ELEM(fab_sl2vl);
CHECK_ELEM(fab_vl_arb);
CHECK_ELEM(fab_notice);
CHECK_ELEM(fab_subnet);
CHECK_ELEM(fab_ctr);
CHECK_ELEM(fab_ctr_base);
CHECK_ELEM(fab_mcgrp);
CHECK_ELEM(fab_mcmem);
CHECK_ELEM(fab_sarec);
CHECK_ELEM(hw_eq);
CHECK_ELEM(hw_uar);
CHECK_ELEM(hw_pd);
CHECK_ELEM(hw_umem);
CHECK_ELEM(hw_mkey);
CHECK_ELEM(hw_klm);
CHECK_ELEM(hw_cq);
CHECK_ELEM(hw_srq);
CHECK_ELEM(hw_qp);
CHECK_ELEM(seg_word);
CHECK_ELEM(hw_rq_ahead);
CHECK_ELEM(hw_obj);
CHECK_ELEM(hw_xrcd);
CHECK_ELEM(hw_share);
CHECK_ELEM(hw_qctr);
CHECK_ELEM(hw_mcg);
CHECK_ELEM(mad_agent);
CHECK_ELEM(mad_send);
CHECK_ELEM(mad_chain);
CHECK_ELEM(mad_recv);
CHECK_ELEM(seg_cap);
CHECK_ELEM(seg_cap_rec);
static_assert(SEG_T_COUNT == 45, "the table of tables has a row per table");
static_assert(sizeof(struct seg_table_hdr) == 64, "a header per cache line");

static uint64_t page_up(uint64_t n)
{
	return (n + SEG_PAGE - 1) & ~(SEG_PAGE - 1);
}

/* The header that this build gives a segment (but for name and pid): what others must have too. */
static void layout(struct seg_hdr *h)
{
	uint64_t off = page_up(sizeof(*h));

	memset(h, 0, sizeof(*h));
	h->magic = SEG_MAGIC;
	h->layout_version = SEG_LAYOUT_VERSION;
	h->hdr_size = sizeof(*h);
	for (unsigned int t = 0; t < SEG_T_COUNT; t++) {
		struct seg_table_hdr *d = &h->table[t];

		d->capacity = tables[t].capacity;
		d->elem_size = tables[t].elem_size;
		d->first = tables[t].first;
		d->hint = d->first;
		d->owner_off = off;
		off = page_up(off + 4 * (uint64_t)d->capacity);
		d->used_off = off;
		off = page_up(off + 4 * (uint64_t)SEG_BLOCKS(d->capacity));
		d->elems_off = off;
		off = page_up(off + (uint64_t)d->capacity * d->elem_size);
	}
	h->size = off;
}

static int map(struct seg *s, int fd, uint64_t size)
{
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (sys_is_err(p))
		return (int)(intptr_t)p;
	/* A core dump of some program would fill the holes of the whole fabric. */
	sys_madvise(p, size, MADV_DONTDUMP);
	memset(s, 0, sizeof(*s));
	s->base = p;
	s->hdr = p;
	s->size = size;
	s->self = SEG_NONE;
	s->pid_ns = seg_pid_ns();
	s->fd = sys_fd_high(fd);
	return 0;
}

int seg_create(struct seg *s, const char *name)
{
	struct seg_hdr h;
	struct rlimit lim;
	int fd, r;

	layout(&h);
	h.supervisor_pid = (uint32_t)sys_getpid();
	strncpy(h.name, name, sizeof(h.name) - 1);
	/* Asked first: ftruncate() beyond the limit would also raise SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &lim) && lim.rlim_cur != RLIM_INFINITY &&
	    lim.rlim_cur < h.size)
		return -EFBIG;
	fd = (int)sys_raw(SYS_memfd_create, (long)"softhca-segment",
			  MFD_ALLOW_SEALING | MFD_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	r = (int)sys_raw(SYS_ftruncate, fd, (long)h.size, 0, 0, 0, 0);
	if (!r)
		r = sys_fcntl(fd, F_ADD_SEALS, SEG_SEALS);
	if (!r)
		r = map(s, fd, h.size);
	if (r) {
		sys_close(fd);
		return r;
	}
	*s->hdr = h;
	return 0;
}

/* Is it a segment, and one that this build understands? */
static int check(int fd, uint64_t *size)
{
	struct seg_hdr have, want;
	ssize_t n = sys_pread(fd, &have, sizeof(have), 0);
	int seals;

	if (n < (ssize_t)offsetof(struct seg_hdr, table) || have.magic != SEG_MAGIC)
		return -EPROTO;
	layout(&want);
	if (have.layout_version != want.layout_version || have.hdr_size != want.hdr_size ||
	    n != sizeof(have) || have.size != want.size)
		return -EPROTONOSUPPORT;
	for (unsigned int t = 0; t < SEG_T_COUNT; t++) {
		const struct seg_table_hdr *a = &have.table[t], *b = &want.table[t];

		if (a->capacity != b->capacity || a->elem_size != b->elem_size ||
		    a->elems_off != b->elems_off || a->owner_off != b->owner_off ||
		    a->used_off != b->used_off || a->first != b->first)
			return -EPROTONOSUPPORT;
	}
	/* A file that could shrink under us would be a SIGBUS while holding locks. */
	seals = sys_fcntl(fd, F_GET_SEALS, 0);
	if (sys_raw(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0) != (long)want.size ||
	    (!sys_refused(seals) && (seals < 0 || (seals & SEG_SEALS) != SEG_SEALS)))
		return -EPROTO;
	*size = want.size;
	return 0;
}

int seg_map(struct seg *s, int fd)
{
	uint64_t size;
	int r = check(fd, &size);

	if (!r)
		r = map(s, fd, size);
	if (r)
		sys_close(fd);
	return r;
}

void seg_unmap(struct seg *s)
{
	if (!s->base)
		return;
	sys_munmap(s->base, s->size);
	sys_fd_drop(s->fd);
	for (unsigned int i = 0; i < SEG_MEMFDS; i++) {
		uint64_t key = atomic_load(&s->memfd[i].key);

		if (key)
			sys_fd_drop(SEG_MEMFD_FD(key));
	}
	memset(s, 0, sizeof(*s));
	s->self = SEG_NONE;
	s->fd = -1;
}
