/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data through signature keys: every format, side and operation, byte by byte. */
#include "engine/test_sig.h"

#define PLAIN 0x20000 /* other memory of a QP */

/* Formats of a key. Tests use two blocks of data and a part of a third. */
struct way {
	struct fmt mem, wire;
	bool same;
};

static uint32_t amount(const struct way *w)
{
	return 2 * f_block(w->mem.kind ? &w->mem : &w->wire) + 100;
}

static struct skey key_of(struct t_pair *p, struct t_qp *q, const struct way *w)
{
	struct skey k = {.mem = w->mem, .wire = w->wire, .same = w->same, .check = 0xff};

	skey_make(&k, q, q == p->b);
	skey_configure(&k, mem_len(&k, amount(w)));
	return k;
}

static void image_is(const struct fmt *f, const uint8_t *data, uint32_t n, const uint8_t *at)
{
	static uint8_t want[F_KEY_LEN];
	uint32_t len = f_image(f, data, n, want);

	assert_memory_equal(at, want, len);
}

/* Data goes out through a's key, is as on the wire in b's memory, and goes in through b's key. */
static void goes_out(struct t_pair *p, const struct way *w, const uint8_t *data, bool read)
{
	uint32_t n = amount(w), wire;
	struct t_qp *from = read ? p->b : p->a, *to = read ? p->a : p->b;
	struct skey k = key_of(p, from, w);

	wire = wire_len(&k, n);
	f_image(&w->mem, data, n, from->mem + F_KEY_AT);
	memset(to->mem + PLAIN, 0, wire + 1);
	if (read)
		transfer(p, MLX5_OPCODE_RDMA_READ, to->key, (uintptr_t)to->mem + PLAIN, wire,
			 k.mk->key, 0);
	else
		transfer(p, MLX5_OPCODE_RDMA_WRITE, k.mk->key, 0, wire, to->key,
			 (uintptr_t)to->mem + PLAIN);
	image_is(&w->wire, data, n, to->mem + PLAIN);
	assert_int_equal(to->mem[PLAIN + wire], 0);
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
}

static void comes_in(struct t_pair *p, const struct way *w, const uint8_t *data, bool read)
{
	uint32_t n = amount(w), wire, mem;
	struct t_qp *from = read ? p->b : p->a, *to = read ? p->a : p->b;
	struct skey k = key_of(p, to, w);

	wire = wire_len(&k, n);
	mem = mem_len(&k, n);
	f_image(&w->wire, data, n, from->mem + PLAIN);
	memset(to->mem + F_KEY_AT, 0, mem + 1);
	if (read)
		transfer(p, MLX5_OPCODE_RDMA_READ, k.mk->key, 0, wire, from->key,
			 (uintptr_t)from->mem + PLAIN);
	else
		transfer(p, MLX5_OPCODE_RDMA_WRITE, from->key, (uintptr_t)from->mem + PLAIN, wire,
			 k.mk->key, 0);
	image_is(&w->mem, data, n, to->mem + F_KEY_AT);
	assert_int_equal(to->mem[F_KEY_AT + mem], 0);
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
}

static void every_way(struct t_pair *p, const struct way *w)
{
	static uint8_t data[F_KEY_LEN];

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + (i >> 7));
	for (uint32_t read = 0; read < 2; read++) {
		goes_out(p, w, data, read);
		comes_in(p, w, data, read);
	}
}

static struct fmt fmt_of(enum f_kind kind, uint32_t bs)
{
	return (struct fmt){.kind = kind,
			    .bs = bs,
			    .ones = bs % 2,
			    .app = 0xabcd,
			    .ref = 0xfffffffe,
			    .flags = bs == 1 ? 0 : F_INC};
}

/* The kinds and sizes of blocks, with signatures in memory only, on the wire only, and on both. */
static void test_formats(void **state)
{
	for (enum f_kind kind = F_DIF; kind <= F_CRC64; kind++)
		for (uint32_t bs = 0; bs < 5; bs++) {
			struct fmt f = fmt_of(kind, bs), none = {0};
			const struct way ways[] = {
				{f, none, false}, {none, f, false}, {f, f, true}};

			for (uint32_t i = 0; i < 3; i++) {
				t_pair_setup(state);
				every_way(*state, &ways[i]);
				t_pair_teardown(state);
			}
		}
}

/* The signatures in memory and on the wire have different formats. */
static void test_formats_are_exchanged(void **state)
{
	for (enum f_kind kind = F_DIF; kind <= F_CRC64; kind++) {
		struct way w = {fmt_of(kind, 2), fmt_of(kind == F_CRC64 ? F_DIF : kind + 1, 0)};

		t_pair_setup(state);
		every_way(*state, &w);
		t_pair_teardown(state);
	}
}

/* A data segment's length is that on the wire, signatures included. */
static void test_messages(void **state)
{
	struct t_pair *p = *state;
	struct way w = {{0}, fmt_of(F_DIF, 0)}, in = {fmt_of(F_CRC32C, 0), {0}};
	struct skey out = key_of(p, p->a, &w), back = key_of(p, p->b, &w), k;
	struct t_sge sge = {out.mk->key, 0, 1040}, recv = {back.mk->key, 0, 1040};
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1};

	t_recv_at(p->b, PLAIN, 2000);
	t_expect_done(p->a, MLX5_OPCODE_SEND, t_post(p->a, &wr));
	t_received(p->b, MLX5_CQE_RESP_SEND, 1040, 0);
	image_is(&w.wire, p->a->mem + F_KEY_AT, 1024, p->b->mem + PLAIN);
	/* from key to key */
	t_recv(p->b, &recv, 1);
	t_expect_done(p->a, MLX5_OPCODE_SEND, t_post(p->a, &wr));
	t_received(p->b, MLX5_CQE_RESP_SEND, 1040, 1);
	assert_memory_equal(p->b->mem + F_KEY_AT, p->a->mem + F_KEY_AT, 1024);
	/* receive into plain memory first, then into a key that adds a CRC in memory */
	k = key_of(p, p->b, &in);
	t_recv(p->b, (struct t_sge[]){t_own(p->b, PLAIN, 100), {k.mk->key, 0, 512}}, 2);
	sge = t_own(p->a, 0, 612);
	t_expect_done(p->a, MLX5_OPCODE_SEND, t_post(p->a, &wr));
	t_received(p->b, MLX5_CQE_RESP_SEND, 612, 2);
	image_is(&in.mem, p->a->mem + 100, 512, p->b->mem + F_KEY_AT);
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
}

/* A transfer from the middle of a key: tags count blocks from the key's start. */
static void test_a_transfer_may_begin_at_any_block(void **state)
{
	struct t_pair *p = *state;
	struct way w = {{0}, fmt_of(F_DIF, 0)};
	struct skey k = key_of(p, p->a, &w);
	uint8_t want[520];

	transfer(p, MLX5_OPCODE_RDMA_WRITE, k.mk->key, 520, 520, p->b->key,
		 (uintptr_t)p->b->mem + PLAIN);
	memcpy(want, p->a->mem + F_KEY_AT + 512, 512);
	f_sign(&w.wire, 1, want, want + 512);
	assert_memory_equal(p->b->mem + PLAIN, want, 520);
}

/* The PSV has the start value of the first block; others start with the seed. */
static void test_the_first_block_starts_from_the_psv(void **state)
{
	struct t_pair *p = *state;
	struct way w = {{0}, fmt_of(F_CRC32C, 1)};
	struct skey k = key_of(p, p->a, &w);
	struct set_psv set = {.index = htobe32(k.psv[1]), .start = htobe64(0x1234567800000000)};
	uint32_t crc = ~(uint32_t)f_crc(0x82f63b78, 0x12345678, p->a->mem + F_KEY_AT, 520);
	uint8_t second[4];

	t_expect_done(p->a, MLX5_OPCODE_SET_PSV,
		      post_raw(p->a, MLX5_OPCODE_SET_PSV, 0, &set, sizeof(set)));
	transfer(p, MLX5_OPCODE_RDMA_WRITE, k.mk->key, 0, 1048, p->b->key,
		 (uintptr_t)p->b->mem + PLAIN);
	assert_memory_equal(p->b->mem + PLAIN + 520, &crc, 4);
	f_sign(&w.wire, 1, p->a->mem + F_KEY_AT + 520, second);
	assert_memory_equal(p->b->mem + PLAIN + 1044, second, 4);
}

/* Signature bytes that the mask selects are copied, even if wrong; the others are computed anew. */
static void test_signatures_are_copied_by_bytes(void **state)
{
	struct t_pair *p = *state;
	struct way w = {fmt_of(F_DIF, 0), fmt_of(F_DIF, 0), true};
	struct skey k = key_of(p, p->a, &w);
	uint8_t *sig = p->a->mem + F_KEY_AT + 512, want[8];

	k.check = 0;
	k.copy = 0x30; /* the application tag */
	k.wire.ref = 77;
	skey_configure(&k, 1040);
	memset(sig, 0x5a, 8);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, k.mk->key, 0, 520, p->b->key,
		 (uintptr_t)p->b->mem + PLAIN);
	f_sign(&k.wire, 0, p->a->mem + F_KEY_AT, want);
	want[2] = want[3] = 0x5a;
	assert_memory_equal(p->b->mem + PLAIN + 512, want, 8);
	t_assert_empty(&p->a->cq);
}

#define TURNS 3
#define DATA_STRIDE 600
#define SIG_AT 0x4000 /* where the signatures are, from F_KEY_AT */
#define SIG_STRIDE 16

/* As mlx5dv_wr_set_mkey_layout_interleaved() writes it: blocks here, their signatures there. */
static void interleave(struct sig_umr *u, struct t_qp *q)
{
	struct mlx5_wqe_umr_repeat_block_seg *h = (void *)u->list;
	const struct {
		uint16_t bytes, stride;
		uint32_t at;
	} parts[] = {{512, DATA_STRIDE, 0}, {8, SIG_STRIDE, SIG_AT}};

	memset(u->list, 0, sizeof(u->list));
	h->op = htobe32(0x400);
	h->byte_count = htobe32(520);
	h->repeat_count = htobe32(TURNS);
	h->num_ent = htobe16(2);
	for (uint32_t i = 0; i < 2; i++) {
		h->entries[i].stride = htobe16(parts[i].stride);
		h->entries[i].byte_count = htobe16(parts[i].bytes);
		h->entries[i].memkey = htobe32(q->key);
		h->entries[i].va = htobe64((uintptr_t)q->mem + F_KEY_AT + parts[i].at);
	}
}

/* Signatures lie apart from their blocks: they are made there, and found there. */
static void test_interleaved_memory(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.mem = fmt_of(F_DIF, 0), .check = 0xff};
	uint8_t *at = p->a->mem + F_KEY_AT, *from = p->b->mem + PLAIN, *to = p->b->mem;
	uint32_t n = TURNS * 512;
	uint8_t want[8];
	struct sig_umr u;

	skey_make(&k, p->a, 0);
	u = umr_of(&k, mem_len(&k, n));
	interleave(&u, p->a);
	t_expect_done(p->a, MLX5_OPCODE_UMR, post_raw(p->a, MLX5_OPCODE_UMR, k.mk->key, &u, F_UMR));
	psv_set(p->a, k.psv[0], &k.mem);
	memset(at, 0, SIG_AT + TURNS * SIG_STRIDE);
	transfer(p, MLX5_OPCODE_RDMA_READ, k.mk->key, 0, n, p->b->key, (uintptr_t)from);
	for (uint32_t i = 0; i < TURNS; i++) {
		assert_memory_equal(at + i * DATA_STRIDE, from + i * 512, 512);
		assert_int_equal(at[i * DATA_STRIDE + 512], 0);
		f_sign(&k.mem, i, from + i * 512, want);
		assert_memory_equal(at + SIG_AT + i * SIG_STRIDE, want, 8);
		assert_int_equal(at[SIG_AT + i * SIG_STRIDE + 8], 0);
	}
	transfer(p, MLX5_OPCODE_RDMA_WRITE, k.mk->key, 0, n, p->b->key, (uintptr_t)to);
	assert_memory_equal(to, from, n);
	t_assert_empty(&p->a->cq);
	at[SIG_AT + SIG_STRIDE] ^= 1;
	t_write(p->a, p->b, 0, (struct t_sge){k.mk->key, 0, n});
	assert_int_equal(mlx5dv_get_cqe_opcode(t_poll(&p->a->cq)), MLX5_CQE_SIG_ERR);
}

/* Without BSF, or switched off, the key is as any other. */
static void test_signatures_are_switched_off(void **state)
{
	struct t_pair *p = *state;
	struct way w = {{0}, fmt_of(F_DIF, 0)};
	struct skey k = key_of(p, p->a, &w);
	struct sig_umr u = umr_of(&k, 1024);

	u.mkc.flags_pd = 0;
	u.ctrl.translation_offset = 0;
	t_expect_done(p->a, MLX5_OPCODE_UMR,
		      post_raw(p->a, MLX5_OPCODE_UMR, k.mk->key, &u, F_UMR - 64));
	transfer(p, MLX5_OPCODE_RDMA_WRITE, k.mk->key, 3, 1021, p->b->key,
		 (uintptr_t)p->b->mem + PLAIN);
	assert_memory_equal(p->b->mem + PLAIN, p->a->mem + F_KEY_AT + 3, 1021);
	assert_int_equal(p->b->mem[PLAIN + 1021], 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_formats_are_exchanged),
		T(test_messages),
		T(test_a_transfer_may_begin_at_any_block),
		T(test_the_first_block_starts_from_the_psv),
		T(test_signatures_are_copied_by_bytes),
		T(test_interleaved_memory),
		T(test_signatures_are_switched_off),
	};

	return cmocka_run_group_tests_name("engine sig", tests, NULL, NULL);
}
