/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process is stopped or killed at each marked step (POINT()) of what it does to memory, and the
 * memory is taken away meanwhile: the owner does not wait, and nothing appears there afterwards.
 */
#include "engine/test_sig.h"
#include "engine/test_steps.h"
#include "hw/qp.h"
#include "hw/memic.h"
#include "segment/adopt.h"
#include "wire/prm/dct.h"

#define LEN 2048
enum { TAKEN = 0x55, WRITTEN = 0xaa };

struct row {
	struct scenario is; /* its setup() stores the key and the memory with keep() */
	uint32_t waits;     /* number of steps at which the owner must wait for a stopped process */
	bool psv;           /* the key is a PSV */
};

static uint8_t *memory;

/* For the child: the key that will be taken away, and the address at which it uses that. */
static void keep(struct scene *x, uint32_t key, uint64_t addr, void *at)
{
	x->e->board->a_key = key;
	x->e->board->a_mem = addr;
	memory = at;
}

static void own_memory(struct scene *x)
{
	keep(x, t_key(x->e->p.t, x->b->hw->pdn, x->b->mem, LEN, ALL), (uintptr_t)x->b->mem,
	     x->b->mem);
}

/*
 * The sender copies to this memory by itself, without the kernel, and may be stopped at any step of
 * that.
 */
static void adopted_memory(struct scene *x)
{
	uint32_t key = t_key(x->e->p.t, x->b->hw->pdn, x->b->mem, ADOPT_PAGE, ALL);

	adopt_key(seg_of(x), key);
	assert_true(adopt_any());
	keep(x, key, (uintptr_t)x->b->mem, x->b->mem);
}

static void window(struct scene *x)
{
	struct klm part = {x->b->key, (uintptr_t)x->b->mem, LEN};

	keep(x, list_key(x->e->p.t, x->b->hw->pdn, PRM_MKC_KLM, &part, 1, 0, LEN), 0, x->b->mem);
}

static void device_memory(struct scene *x)
{
	struct seg *s = seg_of(x);
	uint32_t key = t_key(x->e->p.t, x->b->hw->pdn, NULL, LEN, ALL), bank, i;
	struct hw_mkey *mk = hw_mkey(s, key);
	struct hw_memic *m;

	assert_int_equal(seg_alloc(s, SEG_T_MEMBANK, SEG_OWNER_DEVICE, &bank), 0);
	assert_int_equal(seg_alloc(s, SEG_T_MEMIC, T_OWNER, &i), 0);
	m = hw_memic(s, i);
	m->bank = bank;
	m->len = LEN;
	mk->mode = PRM_MKC_MEMIC;
	mk->slow = 1;
	mk->memic = i;
	keep(x, key, 0, hw_membank_at(s, bank, 0));
}

static struct hw_mkey *signed_key(struct scene *x)
{
	seg_for_each_live (seg_of(x), SEG_T_MKEY, i) {
		struct hw_mkey *mk = seg_at(seg_of(x), SEG_T_MKEY, i);

		if (mk->bsf)
			return mk;
	}
	return NULL;
}

/* The key's owner is told of a wrong block, once. */
static void signatures(struct scene *x)
{
	setup_signed(x);
	keep(x, signed_key(x)->key, 0, x->b->mem + F_KEY_AT);
}

/* On-demand paging: a page of the region is unmapped. */
static void hole(struct scene *x)
{
	void *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED && !munmap(p, LEN));
	keep(x, t_key(x->e->p.t, x->b->hw->pdn, p, LEN, ALL), (uintptr_t)p, NULL);
}

static void target_memory(struct scene *x)
{
	struct hw_qp *dct = x->b->hw;

	LAYOUT_SET(dctc, dct->qpc, dc_access_key, 1);
	dct->no_rq = dct->no_sq = 1;
	dct->rwe = 1;
	dct->comm_est = 2;
	atomic_store(&dct->state, PRM_QP_STATE_RTR);
	own_memory(x);
}

/* ---- what the child does */

/* Three requests by one doorbell. */
static void write_stream(struct scene *x, struct t_qp *c)
{
	struct mlx5_wqe_av av = {.key.dc_key = htobe64(1),
				 .dqp_dct = htobe32(x->b->qpn | 1u << 31),
				 .rlid = htobe16((uint16_t)c->hw->path[0].dlid)};
	struct t_sge from = t_own(c, 0, LEN);

	memset(c->mem, WRITTEN, LEN);
	for (int i = 0; i < 3; i++)
		t_post_quiet(c, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
					       .fm_ce_se = T_SIG,
					       .av = x->is->st == HW_ST_DCT ? &av : NULL,
					       .raddr = x->e->board->a_mem,
					       .rkey = x->e->board->a_key,
					       .sge = &from,
					       .nsge = 1});
	t_ring(c);
}

static void add(struct scene *x, struct t_qp *c)
{
	uint64_t adds[2] = {htobe64(1), 0};
	struct t_sge answer = t_own(c, 512, 8);

	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_ATOMIC_FA,
				 .fm_ce_se = T_SIG,
				 .raddr = x->e->board->a_mem,
				 .rkey = x->e->board->a_key,
				 .operands = adds,
				 .operands_len = sizeof(adds),
				 .sge = &answer,
				 .nsge = 1});
}

/*
 * copy_own() and bind_own() work on the child's own memory and key, so they may finish after a
 * stop.
 */
static void copy_own(struct scene *x, struct t_qp *c)
{
	struct {
		uint32_t meta[4];
		struct mlx5_wqe_data_seg src, dest;
	} w = {0};

	c->hw->mmo = 1;
	mlx5dv_set_data_seg(&w.src, LEN, c->key, (uintptr_t)c->mem);
	mlx5dv_set_data_seg(&w.dest, LEN, c->key, (uintptr_t)c->mem + LEN);
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_MMO,
				 .opmod = WQE_OPMOD_MMO_DMA,
				 .fm_ce_se = T_SIG,
				 .raw = &w,
				 .raw_len = sizeof(w)});
}

static void bind_own(struct scene *x, struct t_qp *c)
{
	struct hw_mkey *mk = t_indirect_key(x->e->p.t, c->hw->pdn, PRM_MKC_KLM, 4);
	struct umr u = bind_to(7, c->qpn, c->key, c->mem, LEN);

	LAYOUT_SET(mkc, mk->mkc, len, LEN);
	eng_mkey_fields(mk);
	change(c, mk->key, &u, HEAD + 64);
}

/* The child's own PSV; its value takes the part of the memory that must not change. */
static void own_psv(struct scene *x)
{
	uint32_t i = psv_make(x->e->p.t, x->e->p.t->pd[0]);

	keep(x, i, 0, (uint8_t *)&hw_obj(seg_of(x), i)->psv);
}

static void set_psv(struct scene *x, struct t_qp *c)
{
	struct set_psv w = {.index = htobe32(x->e->board->a_key)};

	memset(&w.start, WRITTEN, sizeof(w.start));
	post_raw(c, MLX5_OPCODE_SET_PSV, 0, &w, sizeof(w));
}

static const struct row rows[] = {
	{{"WRITE", PRM_ST_RC, false, own_memory, write_stream, NULL}, 0},
	{{"WRITE to adopted memory", PRM_ST_RC, false, adopted_memory, write_stream, NULL}, 0},
	{{"WRITE on UC", PRM_ST_UC, false, own_memory, write_stream, NULL}, 0},
	{{"WRITE by a DCI", HW_ST_DCT, true, target_memory, write_stream, NULL}, 0},
	{{"WRITE through a window", PRM_ST_RC, false, window, write_stream, NULL}, 0},
	{{"WRITE through a signature key", PRM_ST_RC, false, signatures, write_signed, NULL}, 0},
	{{"WRITE to device memory", PRM_ST_RC, false, device_memory, write_stream, NULL}, 0},
	{{"WRITE to a hole", PRM_ST_RC, false, hole, write_stream, NULL}, 0},
	{{"atomic", PRM_ST_RC, false, own_memory, add, NULL}, 0},
	{{"atomic on adopted memory", PRM_ST_RC, false, adopted_memory, add, NULL}, 0},
	{{"atomic on device memory", PRM_ST_RC, false, device_memory, add, NULL}, 1},
	{{"a copy of its own beside a window", PRM_ST_RC, false, window, copy_own, NULL}, 0},
	{{"a window of its own beside a window", PRM_ST_RC, false, window, bind_own, NULL}, 1},
	{{"SET_PSV", PRM_ST_RC, false, own_psv, set_psv, NULL}, 1, .psv = true},
};

/* ---- */

static uint32_t memory_len(const struct row *r)
{
	return r->psv ? sizeof(uint64_t) : LEN;
}

static int take_away(struct scene *x, const struct row *r)
{
	uint32_t key = x->e->board->a_key;
	int rc;

	if (r->psv) {
		hw_obj(seg_of(x), key)->flags = 0;
		return eng_psv_quiesce(seg_of(x), key);
	}
	atomic_store(&hw_mkey(seg_of(x), key)->valid, 0);
	rc = eng_mkey_quiesce(seg_of(x), key >> 8);
	if (!rc)
		eng_adopt_key_ended(seg_of(x), key >> 8);
	assert_true(rc || !adopt_any());
	return rc;
}

static bool nothing(void *arg, uint32_t mkey, uint32_t gen)
{
	return false;
}

/* Chunks that a stopped process could use are free after it went on or ended. */
static void no_chunk_remains(struct scene *x)
{
	struct seg *s = seg_of(x);

	if (x->is->setup != adopted_memory)
		return; /* nothing is adopted in other scenes */
	assert_true(adopt_give_back(nothing, NULL, true));
	assert_int_equal(adopt_bytes(s, s->self), 0);
}

/*
 * Checks the memory, and that the key has not noted a report: the next key at this index must
 * report its own errors.
 */
static void is_untouched(struct scene *x, const struct row *r)
{
	const struct hw_mkey *mk = signed_key(x);

	if (mk)
		assert_int_equal(mk->sig_told, 0);
	for (uint32_t i = 0; memory && i < memory_len(r); i++)
		assert_int_equal(memory[i], TAKEN);
}

/* *waited is incremented if the owner could not get the memory back. */
static bool stopped_at(const struct row *r, uint32_t n, uint32_t *waited)
{
	struct scene x = {.is = &r->is};
	int rc;

	scene_stop(&x, n);
	rc = take_away(&x, r);
	assert_true(!rc || (r->waits && rc == -ETIMEDOUT));
	*waited += rc != 0;
	if (!rc && memory)
		memset(memory, TAKEN, memory_len(r));
	if (!rc && signed_key(&x)) /* as umr.c does for the next configuration */
		atomic_store(&signed_key(&x)->sig_told, 0);
	scene_go_on(&x, SIGCONT);
	if (!rc) {
		is_untouched(&x, r);
		no_chunk_remains(&x);
	}
	/* A request that was refused fails the QP even if its sender was stopped. */
	if (!memory)
		assert_int_equal(x.b->hw->state, PRM_QP_STATE_ERR);
	scene_end(&x);
	return x.stopped;
}

static bool killed_at(const struct row *r, uint32_t n)
{
	struct scene x = {.is = &r->is};
	int status;

	scene_start(&x, "kill", n);
	status = reap(x.e);
	settle(&x);
	assert_int_equal(take_away(&x, r), 0);
	if (memory)
		memset(memory, TAKEN, memory_len(r));
	if (signed_key(&x))
		atomic_store(&signed_key(&x)->sig_told, 0);
	count_events(&x, x.b->cq.evq[0], 0);
	goes_on(&x);
	is_untouched(&x, r);
	no_chunk_remains(&x);
	scene_free(&x);
	return WIFSIGNALED(status);
}

static bool is_chosen(const struct row *r)
{
	const char *only = getenv("STEP_SCENARIO");

	return !only || !strcmp(only, r->is.name);
}

static void taken_from_one_stopped_at_every_step(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t n = 1, waited = 0;

		if (!is_chosen(&rows[i]))
			continue;
		for (; stopped_at(&rows[i], n, &waited); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: stopped at %u steps, waited for at %u\n", rows[i].is.name, n - 1,
			      waited);
		assert_true(n > 3);
		assert_int_equal(waited, rows[i].waits);
	}
}

static void taken_from_one_killed_at_every_step(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t n = 1;

		if (!is_chosen(&rows[i]))
			continue;
		for (; killed_at(&rows[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: killed at %u steps\n", rows[i].is.name, n - 1);
		assert_true(n > 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_from_one_stopped_at_every_step),
		cmocka_unit_test(taken_from_one_killed_at_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
