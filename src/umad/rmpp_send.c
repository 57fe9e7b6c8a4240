/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the sending end of RMPP in the kernel's role: write() copies a message, which is cut into
 * segments and sent window by window as ACKs arrive. The rules are those of ib_send_rmpp_mad(),
 * send_next_seg(), process_rmpp_ack(), abort_send() and ib_retry_rmpp() in mad_rmpp.c.
 *
 * The holder of mad_send.pump sends segments: first the writer, later the thread that brings an
 * ACK, after a time-out a device thread. An ACK that arrives in the pump's own thread only leaves a
 * note, so that the stack does not grow with the message. No lock that others wait for is held
 * while a segment is sent.
 */
#include "hw/port.h"
#include "hw/timer.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "util/clock.h"
#include "util/log.h"
#include "util/point.h"

#define ACK_MS 2000 /* send_next_seg(): the longest wait for an ACK */
#define TURNS 4     /* limit of nested answers: data, its ACK, and the answer to that */

static uint32_t last_acked(uint64_t acked)
{
	return (uint32_t)acked;
}

static uint32_t window(uint64_t acked)
{
	return (uint32_t)(acked >> 32);
}

static uint32_t msend_class_of(const uint8_t *mad)
{
	return LAYOUT_GET32(mad_hdr, mad, mgmt_class);
}

static uint64_t ack_deadline(const struct seg *s, const struct mad_send *m)
{
	uint32_t ms = m->timeout_ms && m->timeout_ms < ACK_MS ? m->timeout_ms : ACK_MS;

	return clock_now_ns() + hw_timer_ns(s, ms * NSEC_PER_MSEC);
}

/* ---- segments, sent by the holder of the pump */

/* Copy the next segment to p->mad. 0 or -EIO: the message is being freed. */
static int next_segment(struct seg *s, struct mad_send *m, struct umad_pkt *p)
{
	uint32_t off = mad_data_offset(msend_class_of(m->mad)), size = MAD_SIZE - off;
	uint32_t n = m->seg_num + 1, len = n == m->segs ? m->last_len : size;
	uint32_t flags = MAD_RMPP_ACTIVE, paylen = 0;
	struct chain_pos pos = m->pos;

	if (m->pos_seg != m->seg_num && chain_seek(s, &m->data, m->seg_num * size, &pos))
		return -EIO;
	memcpy(p->mad, m->mad, off);
	memset(p->mad + off + len, 0, size - len);
	if (chain_read(s, &pos, p->mad + off, len))
		return -EIO;
	if (n == 1) {
		flags |= MAD_RMPP_FIRST;
		paylen = m->segs * RMPP_DATA - (size - m->last_len);
	}
	if (n == m->segs) {
		flags |= MAD_RMPP_LAST;
		paylen = RMPP_DATA - (size - m->last_len);
	}
	LAYOUT_SET(mad_rmpp, p->mad, flags, flags);
	LAYOUT_SET(mad_rmpp, p->mad, segment, n);
	LAYOUT_SET(mad_rmpp, p->mad, payload_length, paylen);
	p->again = n <= m->seg_most;
	if (!p->again)
		m->seg_most = n;
	m->seg_num = n;
	m->pos = pos;
	m->pos_seg = n;
	return 0;
}

static bool waits(const struct mad_send *m, uint32_t gen)
{
	return m->gen == gen && mad_send_is(m, gen, MAD_SEND_WAITS);
}

/* Send all segments that the window allows. */
static void send_window(struct seg *s, uint32_t i, struct mad_send *m, uint32_t gen)
{
	const struct mad_agent *a = umad_agent(s, m->agent, m->agent_gen);
	struct umad_pkt to = {.recv = SEG_NONE}, p;
	bool sent = false;

	if (!a)
		return;
	umad_pkt_fill(s, m->port, a, (const struct ib_user_mad_hdr *)m->hdr, &to);
	to.send = i;
	to.send_gen = gen;
	while (waits(m, gen)) {
		uint64_t acked = atomic_load(&m->acked);

		if (atomic_load(&m->restart) && atomic_exchange(&m->restart, 0))
			m->seg_num = last_acked(acked);
		if (m->seg_num < last_acked(acked))
			m->seg_num = last_acked(acked);
		if (m->seg_num >= m->segs || m->seg_num >= window(acked))
			break;
		p = to;
		if (next_segment(s, m, &p) || !waits(m, gen))
			break;
		umad_route(s, &p);
		to.recv = p.recv;
		to.recv_gen = p.recv_gen;
		sent = true;
	}
	if (sent && waits(m, gen) && last_acked(atomic_load(&m->acked)) < m->segs)
		atomic_store(&m->deadline, ack_deadline(s, m));
}

static void msend_release(struct seg *s, uint32_t i, struct mad_send *m)
{
	struct seg_chain data = m->data;

	m->data = (struct seg_chain){0};
	chain_free(s, &data);
	umad_send_free(s, i, m->gen); /* keeps the lock: the next claim zeroes it */
}

/* Send what may be sent, or leave it to the pump's present holder. Frees a send that is ENDED. */
static void pump(struct seg *s, uint32_t i, uint32_t gen)
{
	struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
	int r;

	atomic_store(&m->again, 1);
	do {
		r = seg_trylock(s, &m->pump);
		if (r < 0)
			return;
		if (!seg_live(s, SEG_T_MSEND, i) || m->gen != gen) {
			seg_unlock(s, &m->pump);
			return;
		}
		if (r == SEG_LOCK_INHERITED)
			m->pos_seg = UINT32_MAX;
		atomic_store(&m->again, 0);
		send_window(s, i, m, gen);
		if (m->gen == gen && mad_send_is(m, gen, MAD_SEND_ENDED)) {
			msend_release(s, i, m);
			return;
		}
		seg_unlock(s, &m->pump);
	} while (atomic_load(&m->again));
}

void umad_send_end(struct seg *s, uint64_t ref)
{
	const struct mad_send *m = seg_at(s, SEG_T_MSEND, MAD_REF_IDX(ref));
	bool pumped = m->segs != 0;

	/* If the send is gone, another thread has finished it. */
	if (!umad_send_at(s, ref))
		return;
	if (pumped)
		pump(s, MAD_REF_IDX(ref), MAD_REF_GEN(ref));
	else
		umad_send_free(s, MAD_REF_IDX(ref), MAD_REF_GEN(ref));
}

/* False also if the pump's process is stopped or dead: another one must go on. */
static bool is_pumped(struct seg *s, struct mad_send *m)
{
	uint32_t word, slot;

	if (((uint32_t)seg_lock_whole(&m->pump) & SEG_LOCK_OWNER) == seg_lock_me(s))
		return true;
	return seg_lock_holder(s, &m->pump, &word, &slot) && !seg_lock_orphaned(s, &m->pump) &&
	       !who_stopped(s, seg_lock_who(word));
}

/*
 * The kernel counts the time from the end of a segment's sending (ib_mad_send_done() in mad.c). A
 * pump that a busy machine holds up for longer than the time-out has not sent the window yet.
 */
bool umad_rmpp_sends(struct seg *s, struct mad_send *m)
{
	if (!m->segs || last_acked(atomic_load(&m->acked)) >= m->segs || !is_pumped(s, m))
		return false;
	atomic_store(&m->deadline, ack_deadline(s, m));
	return true;
}

bool umad_rmpp_retry(struct seg *s, uint32_t i, struct mad_send *m)
{
	/* All segments have arrived and only the answer is missing: do not repeat anything. */
	if (last_acked(atomic_load(&m->acked)) >= m->segs)
		return false;
	atomic_fetch_sub(&m->retries_left, 1);
	atomic_store(&m->deadline, ack_deadline(s, m));
	atomic_store(&m->restart, 1);
	pump(s, i, m->gen);
	return true;
}

/* ---- write() */

bool umad_rmpp_wanted(const struct mad_agent *a, const uint8_t *mad)
{
	return umad_kernel_rmpp(a) && mad_has_rmpp(msend_class_of(mad)) &&
	       (LAYOUT_GET(mad_rmpp, mad, flags) & MAD_RMPP_ACTIVE);
}

/* Copy the program's header, except RMPP's fields, and the data that follows. */
static int copy_message(const struct umad_file *f, const uint8_t *buf, size_t len, uint8_t *mad,
			struct seg_chain *data)
{
	uint32_t off = mad_data_offset(msend_class_of(mad));
	int r;

	if (len < off)
		return -EINVAL;
	memset(mad + LAYOUT_SZ(mad_hdr), 0, MAD_SIZE - LAYOUT_SZ(mad_hdr));
	LAYOUT_SET(mad_rmpp, mad, rmpp_version, 1);
	LAYOUT_SET(mad_rmpp, mad, rmpp_type, MAD_RMPP_TYPE_DATA);
	if (!chain_fits(f->s, len - off))
		return -ENOMEM;
	if (mem_guarded_copy(mad + MAD_RMPP_HDR, buf + MAD_RMPP_HDR, off - MAD_RMPP_HDR))
		return -EFAULT;
	r = chain_append_user(f->s, f->file + 1, data, buf + off, (uint32_t)(len - off));
	return r == -ENOSPC ? -ENOMEM : r;
}

/* Makes a message that is ready to be sent. Takes the data over, unless it fails. */
static int msend_begin(const struct umad_file *f, uint32_t idx, const struct mad_agent *a,
		       const struct ib_user_mad_hdr *h, struct umad_pkt *p,
		       const struct seg_chain *data, bool alone)
{
	uint32_t size = MAD_SIZE - mad_data_offset(msend_class_of(p->mad));
	struct mad_send *m;
	int r = umad_send_new(f, idx, a, h, p, alone, &m);

	if (r)
		return r;
	m->data = *data;
	m->pos.piece = data->head;
	m->segs = data->len ? (data->len + size - 1) / size : 1;
	m->last_len = data->len - (m->segs - 1) * size;
	m->max_retries = h->retries;
	atomic_store(&m->acked, (uint64_t)umad_rmpp_window(f->s, idx, a, p) << 32);
	atomic_store(&m->deadline, ack_deadline(f->s, m));
	umad_send_waits(f->s, p->send, m);
	return 0;
}

static int begin_of(const struct umad_file *f, const struct ib_user_mad_hdr *h, struct umad_pkt *p,
		    const struct seg_chain *data)
{
	uint32_t idx;
	const struct mad_agent *a = umad_agent_of(f, h->id, &idx);

	if (!a)
		return -EIO;
	umad_pkt_fill(f->s, p->from, a, h, p);
	umad_set_tid(idx, a, p->mad);
	return umad_is_duplicate(f, h, p->mad) ? -EINVAL : msend_begin(f, idx, a, h, p, data, true);
}

int umad_rmpp_write(const struct umad_file *f, uint32_t port, const uint8_t *buf, size_t len,
		    const struct ib_user_mad_hdr *h, struct umad_pkt *p)
{
	struct seg_chain data = {0};
	int r = umad_check_address(f->s, port, h);

	p->from = port;
	if (!r)
		r = copy_message(f, buf, len, p->mad, &data);
	if (!r)
		r = begin_of(f, h, p, &data);
	if (r) {
		chain_free(f->s, &data);
		return r;
	}
	pump(f->s, p->send, p->send_gen);
	umad_watch(f->s, p);
	return 0;
}

/*
 * ---- answers of the fabric itself ----
 *
 * They are sent by an agent without a file, which gets no requests; the elements belong to the file
 * that asks and are freed with it.
 */

#define ANSWER_RETRIES 3

static struct mad_agent *own_agent(struct seg *s, uint32_t port, uint32_t *idx)
{
	uint64_t ref = atomic_load(&hw_port(s, port)->own_agent);

	*idx = MAD_REF_IDX(ref);
	return umad_agent(s, *idx, MAD_REF_GEN(ref));
}

/*
 * The first sender that needs the element makes it. Until the port refers to it, it belongs to that
 * sender's file.
 */
static struct mad_agent *make_own_agent(struct seg *s, uint32_t port, uint32_t owner, uint32_t *idx)
{
	_Atomic uint64_t *own = &hw_port(s, port)->own_agent;
	uint64_t was = atomic_load(own);
	struct mad_agent *a;

	if (seg_alloc(s, SEG_T_AGENT, owner, idx))
		return NULL;
	a = seg_at(s, SEG_T_AGENT, *idx);
	a->file = UMAD_NO_FILE;
	a->port = port;
	a->qpn = 1;
	a->rmpp_version = 1;
	atomic_store(&a->ready, 1);
	POINT("own-agent-made");
	if (umad_agent(s, MAD_REF_IDX(was), MAD_REF_GEN(was)) ||
	    !atomic_compare_exchange_strong(own, &was, MAD_REF(a->gen, *idx))) {
		seg_free(s, SEG_T_AGENT, *idx);
		return own_agent(s, port, idx);
	}
	POINT("own-agent-shown");
	atomic_compare_exchange_strong(seg_owner_word(s, SEG_T_AGENT, *idx), &owner,
				       SEG_OWNER_DEVICE);
	return a;
}

uint32_t umad_answer_owner(struct seg *s, const struct umad_pkt *req)
{
	uint32_t owner = seg_owner(s, SEG_T_MSEND, req->send);

	return owner == SEG_OWNER_FREE ? SEG_OWNER_DEVICE : owner;
}

int umad_rmpp_answer(struct seg *s, uint32_t port, const struct umad_pkt *req, const uint8_t *hdr,
		     struct seg_chain *data)
{
	const struct umad_file f = {.s = s, .file = umad_answer_owner(s, req) - 1};
	struct ib_user_mad_hdr h = {.retries = ANSWER_RETRIES, .sl = req->sl};
	struct umad_pkt p = {.from = port};
	uint32_t idx;
	const struct mad_agent *a = own_agent(s, port, &idx);
	int r = -ENOMEM;

	be32_store(&h.qpn, req->qpn);
	be16_store(&h.lid, (uint16_t)req->slid);
	h.pkey_index = (uint16_t)req->pkey_index;
	if (req->grh) {
		h.grh_present = 1;
		h.hop_limit = req->hop_limit;
		h.traffic_class = req->traffic_class;
		be32_store(&h.flow_label, req->flow_label);
		memcpy(h.gid, req->sgid, sizeof(h.gid));
	}
	memcpy(p.mad, hdr, mad_data_offset(msend_class_of(hdr)));
	LAYOUT_SET(mad_rmpp, p.mad, rmpp_version, 1);
	LAYOUT_SET(mad_rmpp, p.mad, rmpp_type, MAD_RMPP_TYPE_DATA);
	LAYOUT_SET(mad_rmpp, p.mad, status, 0);
	if (!a)
		a = make_own_agent(s, port, f.file + 1, &idx);
	if (a) {
		umad_pkt_fill(s, port, a, &h, &p);
		r = msend_begin(&f, idx, a, &h, &p, data, false);
	}
	if (r) {
		chain_free(s, data);
		return r;
	}
	*data = (struct seg_chain){0};
	pump(s, p.send, p.send_gen);
	umad_watch(s, &p);
	return 0;
}

bool umad_rmpp_own(struct seg *s, uint32_t port, struct umad_pkt *p)
{
	struct mad_agent *a;
	uint32_t idx;

	if (!mad_has_rmpp(msend_class_of(p->mad)) ||
	    !(LAYOUT_GET(mad_rmpp, p->mad, flags) & MAD_RMPP_ACTIVE) ||
	    LAYOUT_GET(mad_rmpp, p->mad, rmpp_type) == MAD_RMPP_TYPE_DATA)
		return false;
	a = own_agent(s, port, &idx);
	if (!a || !umad_send_find(s, idx, a, p))
		return false;
	umad_rmpp_arrived(s, idx, a, p);
	return true;
}

/* ---- what receivers send back */

void umad_rmpp_reply(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
		     const uint8_t *hdr, uint32_t type, uint32_t status, uint32_t seg_num,
		     uint32_t newwin)
{
	uint8_t mad[MAD_SIZE] = {0};

	/*
	 * A request and an answer with the same transaction ID would acknowledge each other's ACKs
	 * until they time out; the kernel lets them do so.
	 */
	if (p->turns >= TURNS)
		return;
	memcpy(mad, hdr, mad_data_offset(msend_class_of(hdr)));
	LAYOUT_SET(mad_hdr, mad, method, LAYOUT_GET(mad_hdr, mad, method) ^ MAD_METHOD_RESP);
	LAYOUT_SET(mad_rmpp, mad, rmpp_version, 1);
	LAYOUT_SET(mad_rmpp, mad, rmpp_type, type);
	LAYOUT_SET(mad_rmpp, mad, flags, MAD_RMPP_ACTIVE);
	LAYOUT_SET(mad_rmpp, mad, status, status);
	LAYOUT_SET(mad_rmpp, mad, segment, seg_num);
	LAYOUT_SET(mad_rmpp, mad, new_window_last, newwin);
	umad_answer(s, a->port, p, mad);
}

/* abort_send(): the writer is not told. */
void umad_rmpp_abort(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p)
{
	uint64_t ref = umad_send_find(s, agent, a, p);
	struct mad_send *m = umad_send_at(s, ref);

	if (!m || last_acked(atomic_load(&m->acked)) >= m->segs ||
	    !umad_send_take(s, ref, MAD_SEND_ENDED))
		return;
	if (TRACE_ON(LOG_MAD))
		umad_trace(s, "given up", a->port, p,
			   mad_rmpp_status_name(LAYOUT_GET32(mad_rmpp, p->mad, status)));
	umad_send_end(s, ref);
}

enum ack { ACK_OLD, ACK_NEWS, ACK_TOO_BIG, ACK_AGAIN };

static enum ack msend_note(struct mad_send *m, int32_t seg, int32_t newwin)
{
	uint64_t acked = atomic_load(&m->acked),
		 now = (uint64_t)(uint32_t)newwin << 32 | (uint32_t)seg;

	do {
		int32_t last = (int32_t)last_acked(acked), win = (int32_t)window(acked);

		if (last_acked(acked) == m->segs)
			return ACK_AGAIN;
		if (seg > (int32_t)m->segs || seg > win)
			return ACK_TOO_BIG;
		if (newwin < win || seg < last)
			return ACK_OLD;
	} while (!atomic_compare_exchange_weak(&m->acked, &acked, now));
	if (seg > (int32_t)last_acked(acked))
		atomic_store(&m->retries_left, m->max_retries);
	return ACK_NEWS;
}

void umad_rmpp_ack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		   const struct umad_pkt *p)
{
	int32_t seg = (int32_t)LAYOUT_GET(mad_rmpp, p->mad, segment);
	int32_t newwin = (int32_t)LAYOUT_GET(mad_rmpp, p->mad, new_window_last);
	struct mad_send *m;
	uint32_t i, gen;
	uint64_t ref;

	if (LAYOUT_GET(mad_rmpp, p->mad, status) || newwin < seg) {
		umad_rmpp_nack(s, agent, a, p,
			       LAYOUT_GET(mad_rmpp, p->mad, status) ? MAD_RMPP_STATUS_BAD_STATUS
								    : MAD_RMPP_STATUS_W2S);
		return;
	}
	ref = umad_send_find(s, agent, a, p);
	if (!ref) {
		if (!seg)
			umad_rmpp_ds_ack(s, agent, a, p, newwin);
		return;
	}
	i = MAD_REF_IDX(ref);
	gen = MAD_REF_GEN(ref);
	m = seg_at(s, SEG_T_MSEND, i);
	switch (msend_note(m, seg, newwin)) {
	case ACK_OLD:
		return;
	case ACK_TOO_BIG:
		umad_rmpp_nack(s, agent, a, p, MAD_RMPP_STATUS_S2B);
		return;
	case ACK_AGAIN:
		umad_rmpp_reply(s, a, p, p->mad, MAD_RMPP_TYPE_ACK, 0, 0, 1);
		return;
	case ACK_NEWS:
		break;
	}
	if ((uint32_t)seg < m->segs) {
		/*
		 * Set the deadline here, because sending may take long: it goes on window by
		 * window.
		 */
		atomic_store(&m->deadline, ack_deadline(s, m));
		pump(s, i, gen);
	} else if (m->timeout_ms) { /* wait for the answer now, which may have segments, too */
		atomic_store(&m->deadline, umad_deadline_of(s, m->timeout_ms));
		umad_rmpp_reply(s, a, p, p->mad, MAD_RMPP_TYPE_ACK, 0, 0, 1);
	} else if (umad_send_take(s, ref, MAD_SEND_ENDED)) {
		umad_send_end(s, ref);
	}
}
