/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CQE compression. Owns hw_zip: completions that wait in the adapter until one session tells of
 * all of them. Called by cq.c under the CQ's lock.
 *
 * A completion waits only while its sender has more work in hand (resp_complete()), so none waits
 * for a timer. A program may look at any time, and an entry that it can have seen is never
 * changed: a session is written at once, its title last.
 *
 * The layout is the one that readers expect: mlx5e_decompress_cqes_start() and _cont() of Linux
 * en_rx.c, mlx5_rx_poll_len() of DPDK's mlx5 driver, uct_ib_mlx5_iface_cqe_unzip() of UCX 1.13.
 * The title has the number of CQEs in byte_cnt; arrays of 8 mini CQEs stand in the entries 1, 8,
 * 16... behind it, and the rest of the session's entries is not written.
 */
#include "engine/cq/cq.h"
#include "engine/cq/zip.h"

#include "wire/prm/cq.h"

enum { MINI_PER_ENTRY = 64 / 8 };
/* Compress three completions or more: two need two entries either way. */
#define WORTH 3

static struct hw_zip *zip_of(const struct seg *s, const struct hw_cq *cq)
{
	return seg_at(s, SEG_T_ZIP, cq->zip);
}

static struct hw_zip_cqe *cqe_at(const struct seg *s, const struct hw_cq *cq, uint32_t index)
{
	return &zip_of(s, cq)->cqe[index % HW_ZIP_KEPT];
}

uint32_t zip_end(const struct seg *s, const struct hw_cq *cq)
{
	uint32_t pi = atomic_load(&cq->pi), end = atomic_load(&zip_of(s, cq)->end);

	return (int32_t)(end - pi) > 0 ? end : pi;
}

const uint8_t *zip_kept(const struct seg *s, const struct hw_cq *cq, uint32_t index)
{
	const struct hw_zip_cqe *e = cqe_at(s, cq, index);

	/* Compare 24 bits, because `index` may come from a 24-bit field. */
	return (atomic_load(&e->index) - index) & 0xffffff ? NULL : e->b;
}

/* Only completions of received messages are compressed, and none with a payload. */
static bool is_receive(const uint8_t *b)
{
	uint64_t opcode = LAYOUT_GET(cqe64, b, opcode);

	return opcode >= CQE_RESP_WR_IMM && opcode <= CQE_RESP_SEND_INV &&
	       LAYOUT_GET(cqe64, b, format) == CQE_FORMAT_NO_DATA;
}

/*
 * A mini CQE has the byte count and, by the format, the WQE's counter (inferred: mini CQEs of
 * queues without strides); otherwise readers count on from the title's. All else is the title's.
 */
static bool similar(const struct hw_zip *z, const uint8_t *title, const uint8_t *b, uint32_t behind)
{
	const size_t count = LF_cqe64_byte_cnt_BIT / 8, opcode = LF_cqe64_send_opcode_BIT / 8,
		     counter = LF_cqe64_wqe_counter_BIT / 8, rest = LF_cqe64_signature_BIT / 8;
	uint32_t next = (LAYOUT_GET32(cqe64, title, wqe_counter) + behind) & 0xffff;

	return !memcmp(title, b, count) && !memcmp(title + opcode, b + opcode, counter - opcode) &&
	       title[rest] == b[rest] && !((title[rest + 1] ^ b[rest + 1]) & ~1) &&
	       (z->format == PRM_MINI_CQE_CSUM_STRIDX || LAYOUT_GET(cqe64, b, wqe_counter) == next);
}

bool zip_fits(const struct seg *s, const struct hw_cq *cq, const struct eng_cqe *c)
{
	uint32_t pi = atomic_load(&cq->pi), n = zip_waiting(s, cq);

	return is_receive(c->b) && (!n || similar(zip_of(s, cq), cqe_at(s, cq, pi)->b, c->b, n));
}

int zip_keep(struct seg *s, const struct hw_cq *cq, const struct eng_cqe *c, struct seg_gate *gate)
{
	uint32_t end = zip_end(s, cq);
	struct hw_zip_cqe *e = cqe_at(s, cq, end);
	/* Without a gate the lock cannot be taken over, and only the holder uses the entry. */
	struct mem_vec to[2] = {{(uintptr_t)e->b, sizeof(e->b)},
				{(uintptr_t)&e->index, sizeof(e->index)}};
	struct iovec from[2] = {{(void *)c->b, sizeof(e->b)}, {&end, sizeof(end)}};
	int rc;

	mem_gate = gate;
	rc = mem_writev(s, mem_self(s), to, 2, from, 2);
	mem_gate = NULL;
	return rc;
}

void zip_count(const struct seg *s, const struct hw_cq *cq, uint32_t at)
{
	_Atomic uint32_t *end = &zip_of(s, cq)->end;
	uint32_t was = atomic_load(end);

	if (zip_end(s, cq) == at && atomic_load(&cqe_at(s, cq, at)->index) == at)
		atomic_compare_exchange_strong(end, &was, at + 1);
}

void zip_created(const struct seg *s, const struct hw_cq *cq)
{
	uint32_t pi = atomic_load(&cq->pi);

	atomic_store(&zip_of(s, cq)->end, pi);
	for (uint32_t i = 0; i < HW_ZIP_KEPT; i++)
		atomic_store(&cqe_at(s, cq, pi + i)->index, pi + i - HW_ZIP_KEPT);
}

bool zip_full(const struct seg *s, const struct hw_cq *cq)
{
	/* A session does not go on at the start of the buffer: UCX gives all of its entries the
	 * title's owner bit. */
	return zip_waiting(s, cq) >= HW_ZIP_MAX || !(zip_end(s, cq) & ((1u << cq->log_size) - 1));
}

static void mini_fill(uint8_t mini[8], const struct hw_zip *z, const uint8_t *b)
{
	LAYOUT_SET(mini_csum, mini, byte_cnt, LAYOUT_GET(cqe64, b, byte_cnt));
	if (z->format == PRM_MINI_CQE_HASH) {
		LAYOUT_SET(mini_hash, mini, rx_hash_result, LAYOUT_GET(cqe64, b, rx_hash_result));
		return;
	}
	LAYOUT_SET(mini_csum, mini, checksum, LAYOUT_GET(cqe64, b, checksum));
	if (z->format == PRM_MINI_CQE_CSUM_STRIDX)
		LAYOUT_SET(mini_csum, mini, stride_index, LAYOUT_GET(cqe64, b, wqe_counter));
}

bool zip_next(const struct seg *s, const struct hw_cq *cq, struct zip_next *x)
{
	uint32_t size = 1u << cq->log_size, n, room;

	x->at = atomic_load(&cq->pi);
	n = zip_waiting(s, cq);
	room = size - (x->at & (size - 1));
	if (!n)
		return false;
	if (n > room)
		n = room;
	x->n = n < WORTH ? 1 : n > HW_ZIP_MAX ? HW_ZIP_MAX : n;
	memcpy(x->cqe, cqe_at(s, cq, x->at)->b, sizeof(x->cqe));
	LAYOUT_SET(cqe64, x->cqe, owner, x->at >> cq->log_size & 1);
	x->solicited = LAYOUT_GET(cqe64, x->cqe, se);
	if (x->n == 1)
		return true;
	memset(x->mini, 0, sizeof(x->mini));
	for (uint32_t i = 0; i < x->n; i++)
		mini_fill(x->mini[i], zip_of(s, cq), cqe_at(s, cq, x->at + i)->b);
	LAYOUT_SET(cqe64, x->cqe, byte_cnt, x->n);
	LAYOUT_SET(cqe64, x->cqe, format, CQE_FORMAT_COMPRESSED);
	return true;
}

int zip_write(struct seg *s, const struct hw_cq *cq, const struct zip_next *x,
	      struct seg_gate *gate)
{
	struct mem_vec to[HW_ZIP_MAX / MINI_PER_ENTRY + 1];
	struct iovec from[HW_ZIP_MAX / MINI_PER_ENTRY + 2];
	unsigned int n = 0;
	int rc;

	for (uint32_t i = 0; x->n > 1 && i < x->n; i += MINI_PER_ENTRY) {
		to[n] = (struct mem_vec){cq_slot_at(cq, x->at + (i ? i : 1)), 64};
		from[n++] = (struct iovec){(void *)x->mini[i], 64};
	}
	to[n] = (struct mem_vec){cq_slot_at(cq, x->at), 64};
	from[n] = (struct iovec){(void *)x->cqe, 64 - ZIP_LAST};
	from[n + 1] = (struct iovec){(void *)(x->cqe + 64 - ZIP_LAST), ZIP_LAST};
	mem_gate = gate;
	rc = mem_writev(s, cq->mem, to, n + 1, from, n + 2);
	mem_gate = NULL;
	return rc;
}

/*
 * Compares the entry with what was to be written; the time stamp differs from earlier contents. A
 * title's last byte is left out, because readers change it.
 */
int zip_written(struct seg *s, const struct hw_cq *cq, const struct zip_next *x)
{
	uint8_t b[64];
	int rc = mem_read(s, cq->mem, cq_slot_at(cq, x->at), b, sizeof(b));

	return rc ? rc : !memcmp(b, x->cqe, x->n == 1 ? 64 : 63);
}
