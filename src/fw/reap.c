/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bring-up of an HCA, and reaping of what an open file owned. Called by the supervisor.
 *
 * Reaping walks each table once per file, so its cost is linear. A queue that a process still works
 * on (it holds the queue's lock) is taken out of service and tried again a little later, with no
 * lock held meanwhile. After two seconds that process must be stopped: the queue then belongs to
 * the device, and a later call frees it when the process has gone on or died.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "segment/proc.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/sys.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/eq.h"
#include "wire/prm/qctr.h"
#include "wire/prm/uar.h"

/* pause between two attempts; after a long wait, also the limit of further waits */
#define LOOK_NS UINT64_C(1000000)

/* A step of reaping: one kind. Queues come before what they refer to. */
#define for_each_step(k, from, to)                                          \
	fw_for_each_kind (k)                                                \
		if (k->stage < FW_STAGE_##from || k->stage > FW_STAGE_##to) \
			;                                                   \
		else

static uint32_t refs_of(struct seg *s, const struct fw_kind *k, uint32_t idx)
{
	const _Atomic uint32_t *refs = fw_refs_of(s, k->table, idx);

	return refs ? *refs : 0;
}

static void make_zombie(struct seg *s, struct hw_hca *hca, const struct fw_kind *k, uint32_t idx)
{
	struct fw_elem *e = fw_elem(s, k, idx);

	/*
	 * Take no new work: a stopped holder of the lock finds the queue in reset when it goes on.
	 */
	if (k->stop)
		k->stop(e);
	if (!(__atomic_fetch_or(&e->flags, HW_F_ZOMBIE, __ATOMIC_ACQ_REL) & HW_F_ZOMBIE))
		atomic_fetch_add(&hca->zombies, 1);
	atomic_store(seg_owner_word(s, k->table, idx), SEG_OWNER_DEVICE);
}

static void reap_one(struct seg *s, struct hw_hca *hca, const struct fw_kind *k, uint32_t idx)
{
	const struct fw_elem *e = fw_elem(s, k, idx);
	bool zombie = __atomic_load_n(&e->flags, __ATOMIC_ACQUIRE) & HW_F_ZOMBIE;
	int r = 0;

	if (!zombie && fw_share_pass_on(s, k->table, idx, seg_owner(s, k->table, idx), SEG_NONE))
		return;
	/*
	 * While there are zombies, a reference may be theirs. Otherwise its taker died before it
	 * committed.
	 */
	if (refs_of(s, k, idx) > 0 && hca->zombies > (zombie ? 1u : 0u))
		r = -EBUSY;
	else if (zombie && fw_held(s, k, idx, 0))
		r = -EBUSY;
	else if (k->free)
		r = k->free(s, idx);
	else
		fw_free(s, k->table, idx);
	if (r < 0)
		make_zombie(s, hca, k, idx);
	else if (zombie)
		atomic_fetch_sub(&hca->zombies, 1);
}

/* Of the elements that the device owns, only zombies of this HCA are reaped. */
static bool for_reaping(struct seg *s, const struct fw_kind *k, uint32_t idx, uint32_t owner,
			uint32_t hca_idx)
{
	const struct fw_elem *e = fw_elem(s, k, idx);

	return owner != SEG_OWNER_DEVICE || ((e->flags & HW_F_ZOMBIE) && e->hca == hca_idx);
}

/* Disable all keys together, so that one check of the fabric's send queues is enough. */
static int disable_mkeys(struct seg *s, uint32_t owner, uint32_t hca_idx, uint64_t ns)
{
	const struct fw_kind *k = fw_kind(SEG_T_MKEY);
	bool any = false;

	seg_for_each_owned (s, SEG_T_MKEY, owner, i) {
		if (!for_reaping(s, k, i, owner, hca_idx))
			continue;
		atomic_store(&((struct hw_mkey *)seg_at(s, SEG_T_MKEY, i))->valid, 0);
		any = true;
	}
	return any ? eng_mkey_quiesce_all(s, ns) : 0;
}

static void reap_zombies_locked(struct seg *s, struct hw_hca *hca, uint32_t hca_idx, uint64_t ns)
{
	const uint32_t owner = SEG_OWNER_DEVICE;

	for_each_step (k, QUEUE, REST) {
		bool busy = k->stage == FW_STAGE_KEY && disable_mkeys(s, owner, hca_idx, ns) < 0;

		if (k->retire)
			seg_for_each_owned (s, k->table, owner, i)
				if (for_reaping(s, k, i, owner, hca_idx))
					k->retire(s, i);
		seg_for_each_owned (s, k->table, owner, i) {
			if (!for_reaping(s, k, i, owner, hca_idx))
				continue;
			if (busy)
				make_zombie(s, hca, k, i);
			else
				reap_one(s, hca, k, i);
		}
	}
}

/*
 * `ns`: how long to wait for users of dying keys. A job without the HCA's lock may meet another
 * here: the second one leaves the zombies to the first.
 */
static void reap_zombies(struct seg *s, struct hw_hca *hca, uint32_t hca_idx, uint64_t ns)
{
	if (!hca->zombies || seg_trylock(s, &hca->reap_lock) < 0)
		return;
	reap_zombies_locked(s, hca, hca_idx, ns);
	seg_unlock(s, &hca->reap_lock);
}

/* Reaping of one file. */
struct reaping {
	struct seg *s;
	struct hw_hca *hca;
	uint32_t hca_idx, owner;
	uint64_t mask;
	uint64_t look; /* how long to wait for a queue's lock */
	int share, lock;
	bool stuck; /* a process has kept the HCA's lock for long: do not wait for it again */
};

static bool reaping_of(struct seg *s, uint32_t file, struct reaping *p)
{
	const struct seg_file *f = seg_at(s, SEG_T_FILE, file);

	*p = (struct reaping){.s = s, .owner = file + 1};
	p->hca_idx = f ? f->hca : SEG_NONE;
	p->hca = f ? hw_hca(s, f->hca) : NULL;
	return p->hca != NULL;
}

/* Called before share_lock, for which others wait, is taken: is the HCA's lock kept for long? */
static void find_stuck(struct reaping *p)
{
	int r;

	if (p->stuck)
		return;
	r = seg_lock(p->s, &p->hca->lock, SEG_LOCK_CTRL_NS);
	p->stuck = r < 0;
	if (r == SEG_LOCK_INHERITED)
		fw_recount(p->s, p->hca_idx);
	if (r >= 0)
		seg_unlock(p->s, &p->hca->lock);
}

/*
 * A stopped process may hold the HCA's lock. Then reaping goes on without it: no command can name
 * objects of this file any more, and counters are atomic. False: `wait` is off and a lock is taken.
 */
static bool reap_begin(struct reaping *p, bool wait)
{
	p->mask = fw_sig_block(NULL);
	p->look = wait ? SEG_LOCK_DATA_NS : 0;
	p->lock = -EBUSY;
	if (wait)
		find_stuck(p);
	p->share = wait ? seg_lock(p->s, &p->hca->share_lock, SEG_LOCK_CTRL_NS)
			: seg_trylock(p->s, &p->hca->share_lock);
	if (wait && !p->stuck) {
		p->lock = seg_lock(p->s, &p->hca->lock, SEG_LOCK_CTRL_NS);
		p->stuck = p->lock < 0;
	} else if (wait || p->share >= 0) {
		p->lock = seg_trylock(p->s, &p->hca->lock);
	}
	if (p->lock == SEG_LOCK_INHERITED)
		fw_recount(p->s, p->hca_idx);
	return wait || p->lock >= 0;
}

static void reap_end(struct reaping *p)
{
	if (p->lock >= 0)
		seg_unlock(p->s, &p->hca->lock);
	if (p->share >= 0)
		seg_unlock(p->s, &p->hca->share_lock);
	fw_sig_restore(NULL, p->mask);
}

/* Reap a queue. False: it is in use; a QP takes no new work then. */
static bool reap_idle(const struct reaping *p, const struct fw_kind *k, uint32_t idx)
{
	struct fw_elem *e = fw_elem(p->s, k, idx);

	if (fw_share_pass_on(p->s, k->table, idx, p->owner, SEG_NONE))
		return true;
	if (fw_ready(&e->flags) && fw_held(p->s, k, idx, p->look)) {
		if (k->stop)
			k->stop(e);
		return false;
	}
	reap_one(p->s, p->hca, k, idx);
	return true;
}

/* Reap all queues; false: some are in use, and what they refer to stays. */
static bool reap_queues(const struct reaping *p)
{
	bool idle = true;

	for_each_step (k, QUEUE, QUEUE) {
		if (k->retire)
			seg_for_each_owned (p->s, k->table, p->owner, i)
				k->retire(p->s, i);
		seg_for_each_owned (p->s, k->table, p->owner, i)
			idle = reap_idle(p, k, i) && idle;
		if (!idle)
			return false;
	}
	return true;
}

/* Reap the rest, which threads use only through keys: those are disabled. */
static void reap_rest(const struct reaping *p, bool keys_busy)
{
	for_each_step (k, KEY, REST)
		seg_for_each_owned (p->s, k->table, p->owner, i)
			if (keys_busy && k->stage == FW_STAGE_KEY)
				make_zombie(p->s, p->hca, k, i);
			else
				reap_one(p->s, p->hca, k, i);
	TRACE(LOG_FW, "file %u: reaped (hca %u, zombies %u)", p->owner - 1, p->hca_idx,
	      p->hca->zombies);
}

/* ---- newest first ---- */

/*
 * uverbs_destroy_ufile_hw() destroys the newest object first, so that peers see that a key has gone
 * from a QP that is older, and that a QP has gone before a key that is older.
 */

/* Inferred: how long a kernel takes to give back a page of a region, and the most that counts. */
#define UNPIN_NS UINT64_C(1000)
#define UNPIN_MAX_NS UINT64_C(50000000)
#define PAGE_BYTES 4096
/* How long all requesters that wait for an answer may take to get it; then the rest goes at once.
 */
#define ANSWER_NS UINT64_C(200000000)

static uint64_t newest_key(const struct reaping *p)
{
	uint64_t born = 0;

	seg_for_each_owned (p->s, SEG_T_MKEY, p->owner, i) {
		const struct hw_mkey *mk = seg_at(p->s, SEG_T_MKEY, i);

		if (atomic_load(&mk->valid) && mk->born > born)
			born = mk->born;
	}
	return born;
}

/* The newest and the oldest QP that answers requests; 0: there is none. */
static uint64_t newest_qp(const struct reaping *p, uint64_t *oldest)
{
	uint64_t born = 0;

	*oldest = 0;
	seg_for_each_owned (p->s, SEG_T_QP, p->owner, i) {
		const struct hw_qp *qp = seg_at(p->s, SEG_T_QP, i);

		if (!fw_ready(&qp->flags) || !eng_qp_answers(qp))
			continue;
		if (qp->born > born)
			born = qp->born;
		if (!*oldest || qp->born < *oldest)
			*oldest = qp->born;
	}
	return born;
}

/* Must keys go before QPs, and does a peer see it? */
static bool keys_go_first(const struct reaping *p)
{
	uint64_t oldest;

	return newest_qp(p, &oldest) && newest_key(p) > oldest &&
	       eng_requesters(p->s, p->owner, false) != ENG_REQUESTERS_NONE;
}

/* Reap the QPs that are newer than all keys. */
static void reap_newer_qps(const struct reaping *p, uint64_t key)
{
	seg_for_each_owned (p->s, SEG_T_QP, p->owner, i)
		if (((const struct hw_qp *)seg_at(p->s, SEG_T_QP, i))->born > key)
			reap_idle(p, fw_kind(SEG_T_QP), i);
}

/* Disable the keys that are newer than all QPs; returns how long a kernel takes for that. */
static uint64_t disable_newer_keys(const struct reaping *p, uint64_t qp)
{
	uint64_t pages = 0;

	seg_for_each_owned (p->s, SEG_T_MKEY, p->owner, i) {
		struct hw_mkey *mk = seg_at(p->s, SEG_T_MKEY, i);

		if (mk->born <= qp || !atomic_exchange(&mk->valid, 0))
			continue;
		if (!hw_mkey_indirect(mk) && pages < UNPIN_MAX_NS / UNPIN_NS)
			pages += mk->len / PAGE_BYTES;
	}
	eng_mkey_quiesce_all(p->s, SEG_LOCK_CTRL_NS);
	return pages < UNPIN_MAX_NS / UNPIN_NS ? pages * UNPIN_NS : UNPIN_MAX_NS;
}

/* Let requests meet the missing keys: those that wait, and those that come before `least`. */
static void let_answer(const struct reaping *p, uint64_t least, uint64_t most)
{
	const struct timespec nap = {0, LOOK_NS};
	enum eng_requesters r;

	for (bool rouse = true;; rouse = false) {
		r = eng_requesters(p->s, p->owner, rouse);
		if (r == ENG_REQUESTERS_NONE ||
		    clock_now_ns() >= (r == ENG_REQUESTERS_WAIT ? most : least))
			return;
		sys_call(SYS_nanosleep, &nap, NULL);
	}
}

static void newest_first(struct reaping *p)
{
	uint64_t most = clock_now_ns() + ANSWER_NS;

	while (keys_go_first(p) && clock_now_ns() < most) {
		uint64_t qp, oldest, ns = 0;

		reap_begin(p, true);
		reap_newer_qps(p, newest_key(p));
		qp = newest_qp(p, &oldest);
		if (qp)
			ns = disable_newer_keys(p, qp);
		reap_end(p);
		if (qp)
			let_answer(p, clock_now_ns() + ns, most);
	}
}

bool fw_reap_try(struct seg *s, uint32_t file)
{
	struct reaping p;
	bool done = false;

	if (!reaping_of(s, file, &p))
		return true;
	if (keys_go_first(&p))
		return false;
	if (reap_begin(&p, false)) {
		reap_zombies(s, p.hca, p.hca_idx, 0);
		done = reap_queues(&p) && !disable_mkeys(s, p.owner, p.hca_idx, 0);
		if (done)
			reap_rest(&p, false);
	}
	reap_end(&p);
	return done;
}

/* A process that keeps a queue for so long is stopped. */
static void wait_for_queues(struct reaping *p)
{
	const struct timespec nap = {0, LOOK_NS};
	uint64_t give_up = clock_now_ns() + SEG_LOCK_CTRL_NS;
	bool done;

	for (;;) {
		reap_begin(p, true);
		reap_zombies(p->s, p->hca, p->hca_idx, LOOK_NS);
		done = reap_queues(p);
		reap_end(p);
		if (done || clock_now_ns() >= give_up)
			return;
		sys_call(SYS_nanosleep, &nap, NULL);
	}
}

void fw_reap_file(struct seg *s, uint32_t file)
{
	struct reaping p;
	bool busy;

	if (!reaping_of(s, file, &p))
		return;
	newest_first(&p);
	wait_for_queues(&p);
	busy = disable_mkeys(s, p.owner, p.hca_idx, SEG_LOCK_CTRL_NS) < 0;
	reap_begin(&p, true);
	/* Queues that were in use all the time become zombies. */
	for_each_step (k, QUEUE, QUEUE)
		seg_for_each_owned (s, k->table, p.owner, i)
			if (!reap_idle(&p, k, i))
				make_zombie(s, p.hca, k, i);
	reap_rest(&p, busy);
	reap_end(&p);
}

bool fw_reap_zombies(struct seg *s, uint32_t hca_idx)
{
	struct hw_hca *hca = hw_hca(s, hca_idx);
	uint64_t mask;
	int r;

	if (!hca || !hca->zombies)
		return false;
	mask = fw_sig_block(NULL);
	r = seg_trylock(s, &hca->lock);
	if (r == SEG_LOCK_INHERITED)
		fw_recount(s, hca_idx);
	if (r >= 0) {
		reap_zombies(s, hca, hca_idx, LOOK_NS);
		seg_unlock(s, &hca->lock);
	}
	fw_sig_restore(NULL, mask);
	TRACE(LOG_FW, "hca %u: %u zombies left", hca_idx, hca->zombies);
	return hca->zombies != 0;
}

/* ---- bring-up ---- */

static int init_exec(const struct fw_ctx *c, const void *in, uint32_t inlen, void *out,
		     uint32_t outlen)
{
	int r = fw_exec(c, in, inlen, out, outlen);

	return r < 0 ? r : fw_status_to_errno(LAYOUT_GET8(cmd_out, out, status));
}

/* Make a set of Q counters for the QPs of each port. */
static int init_counters(const struct fw_ctx *c, const struct hw_hca *h)
{
	uint8_t in[LF_alloc_q_counter_in_BYTES] = {0}, out[LF_alloc_q_counter_out_BYTES];

	for (uint32_t p = 0; p < h->nports; p++) {
		struct hw_port *port = hw_port(c->seg, h->port[p]);
		uint32_t id;
		int r;

		LAYOUT_SET(cmd_in, in, opcode, PRM_OP_ALLOC_Q_COUNTER);
		LAYOUT_SET(cmd_in, in, uid, FW_SHARED_UID);
		r = init_exec(c, in, sizeof(in), out, sizeof(out));
		if (r < 0)
			return r;
		id = LAYOUT_GET32(alloc_q_counter_out, out, counter_set_id);
		seg_for_each_owned (c->seg, SEG_T_QCTR, SEG_OWNER_DEVICE, i) {
			const struct hw_qctr *set = seg_at(c->seg, SEG_T_QCTR, i);

			if (port && set->hca == c->hca && set->id == id)
				port->qctr = i;
		}
	}
	return 0;
}

/* As timecounter_init() in mlx5_core's clock.c: the clock starts with the wall clock's time. */
static void init_clock(struct hw_hca *h)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	h->clock_cycles = clock_now_ns();
	h->clock_nsec = (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

int fw_hca_init(struct seg *s, uint32_t hca)
{
	struct fw_ctx c = {.seg = s, .hca = hca, .file = SEG_NONE, .kernel = true};
	uint8_t in[LF_create_eq_in_BYTES] = {0}, out[LF_create_eq_out_BYTES];
	struct hw_hca *h = hw_hca(s, hca);
	void *eqc = LAYOUT_IN(create_eq_in, eq_context_entry, in);
	uint32_t uar, vectors;
	int r;

	if (!h)
		return -ENODEV;
	init_clock(h);
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_ALLOC_UAR);
	LAYOUT_SET(cmd_in, in, op_mod, 1);
	r = init_exec(&c, in, LAYOUT_SZ(alloc_uar_in), out, sizeof(out));
	if (r < 0)
		return r;
	uar = LAYOUT_GET32(alloc_uar_out, out, uar);
	c.uid = FW_SHARED_UID;
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_EQ);
	LAYOUT_SET(cmd_in, in, uid, FW_SHARED_UID);
	LAYOUT_SET(cmd_in, in, op_mod, 0);
	LAYOUT_SET(eqc, eqc, uar_page, uar);
	LAYOUT_SET(eqc, eqc, log_eq_size, 10);
	vectors = h->caps.num_comp_vectors;
	for (uint32_t v = 0; v < vectors; v++) {
		LAYOUT_SET(eqc, eqc, intr, v);
		r = init_exec(&c, in, sizeof(in), out, sizeof(out));
		if (r < 0)
			return r;
	}
	return init_counters(&c, h);
}
