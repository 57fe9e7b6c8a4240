/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data through crypto keys, alone and with signatures, and what is refused of them. */
#include "engine/test_sig.h"
#include "hw/hca.h"
#include "util/aes.h"
#include "wire/wqe/wqe.h"

#define PLAIN 0x20000 /* other memory of a QP */
#define SIZES 5
#define SHORTEST 1100 /* umr_of() makes two parts; the first has 1001 bytes */

/* Arguments of mlx5dv_wr_set_mkey_crypto(): the order, and the size of data units. */
struct cfmt {
	uint8_t order;
	uint32_t bs; /* index in f_sizes */
};

/* A crypto key. It also has signatures if `sig` describes any. */
struct ckey {
	struct skey sig;
	struct cfmt c;
	uint32_t dek;
	uint8_t secret[64];
	uint32_t bytes;
};

static const uint8_t first_tweak[16] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};

/* Is what is on the wire encrypted, or what is in memory? */
static bool encrypts(const struct ckey *k)
{
	return k->c.order == WQE_CRYPTO_WIRE_SIGNATURE || k->c.order == WQE_CRYPTO_RAW_WIRE;
}

static uint32_t hca_of(const struct t_qp *q)
{
	return t_hca(q);
}

static uint32_t unit_of(const struct ckey *k)
{
	return f_sizes[k->c.bs].bytes;
}

static bool has_sig(const struct ckey *k)
{
	return k->sig.mem.kind || k->sig.wire.kind;
}

static uint32_t dek_make(struct ckey *k, uint32_t pd, const char *tag)
{
	struct tb *t = k->sig.q->t;
	struct hw_dek d = {.bytes = k->bytes, .has_keytag = !!tag};
	struct hw_obj *o;
	uint32_t i;

	assert_int_equal(seg_alloc(&t->s, SEG_T_OBJ, T_OWNER, &i), 0);
	o = seg_at(&t->s, SEG_T_OBJ, i);
	for (uint8_t j = 0; j < 64; j++)
		d.key[j] = k->secret[j] = (uint8_t)(j * 5 + 1);
	if (tag)
		memcpy(d.keytag, tag, 8);
	memcpy(o->ctx, &d, sizeof(d));
	o->kind = HW_OBJ_DEK;
	o->ref[0] = (struct hw_objref){SEG_T_PD, pd};
	o->flags = HW_F_READY;
	return i;
}

static void ckey_make(struct ckey *k, struct t_qp *q, uint32_t side)
{
	skey_make(&k->sig, q, side);
	k->sig.mk->hca = hca_of(q);
	k->sig.mk->klm_max = F_KLMS;
	k->sig.mk->bsf_max = has_sig(k) ? HW_BSF_MAX : HW_BSF_ENTRIES;
	LAYOUT_SET(mkc, k->sig.mk->mkc, crypto_en, 1);
	k->sig.mk->crypto = 1;
	if (!k->bytes)
		k->bytes = 16;
	k->dek = dek_make(k, q->t->pd[side], NULL);
}

/* mlx5_umr_fill_crypto_bsf() for a device of several blocks: the tweak is reversed. */
static void crypto_bsf(const struct ckey *k, uint8_t bsf[64])
{
	bool multi = hw_hca_multi_block(hw_hca(&k->sig.q->t->s, hca_of(k->sig.q)));

	memset(bsf, 0, 64);
	bsf[0] = (uint8_t)((has_sig(k) ? 3 : 2) << 6 | 1);
	bsf[1] = k->c.order;
	be32_store(bsf + 4, UINT32_MAX);
	bsf[8] = f_sizes[k->c.bs].code;
	for (uint32_t i = 0; i < 16; i++)
		bsf[16 + i] = first_tweak[multi ? 15 - i : i];
	be32_store(bsf + 32, k->dek);
}

struct crypto_umr {
	struct sig_umr sig;
	uint8_t second[64];
};

static uint32_t ckey_umr(const struct ckey *k, uint32_t len, struct crypto_umr *u)
{
	uint8_t *at = u->sig.bsf;

	memset(u, 0, sizeof(*u));
	u->sig = umr_of(&k->sig, len);
	if (has_sig(k)) {
		at[0] |= 3 << 6; /* a BSF of crypto follows */
		at += 64;
	}
	u->sig.ctrl.translation_offset = htobe16(has_sig(k) ? HW_BSF_MAX : HW_BSF_ENTRIES);
	crypto_bsf(k, at);
	return (uint32_t)(at + 64 - (uint8_t *)u);
}

static void ckey_configure(struct ckey *k, uint32_t len)
{
	struct crypto_umr u;
	uint32_t n = ckey_umr(k, len, &u);

	t_expect_done(k->sig.q, MLX5_OPCODE_UMR,
		      post_raw(k->sig.q, MLX5_OPCODE_UMR, k->sig.mk->key, &u, n));
	if (k->sig.mem.kind)
		psv_set(k->sig.q, k->sig.psv[0], &k->sig.mem);
	if (k->sig.wire.kind)
		psv_set(k->sig.q, k->sig.psv[1], &k->sig.wire);
}

/* Crypt a stream from unit `first` on. */
static void stream(const struct ckey *k, uint8_t *p, uint32_t n, uint64_t first, bool encrypt)
{
	uint32_t unit = unit_of(k);
	struct xts_key key;
	uint8_t tweak[16];

	xts_set(&key, k->secret, k->bytes);
	for (uint64_t i = first; n; i++) {
		uint32_t m = n < unit ? n : unit, carry = 0;

		for (uint32_t j = 0; j < 16; j++) {
			carry += first_tweak[j] + (j < 8 ? (uint32_t)(i >> 8 * j & 0xff) : 0);
			tweak[j] = (uint8_t)carry;
			carry >>= 8;
		}
		xts_crypt(&key, tweak, p, m, encrypt, AES_TABLES);
		p += m;
		n -= m;
	}
}

/*
 * Computes what `n` bytes of data look like in memory and on the wire. In rows B and J of the table
 * in mlx5dv_wr_set_mkey_crypto(3) signatures are of encrypted data.
 */
static void images(const struct ckey *k, const uint8_t *data, uint32_t n, uint8_t *mem,
		   uint32_t *mem_n, uint8_t *wire, uint32_t *wire_n)
{
	static uint8_t base[F_KEY_LEN];
	bool mixed = k->c.order == WQE_CRYPTO_RAW_WIRE || k->c.order == WQE_CRYPTO_RAW_MEMORY;

	memcpy(base, data, n);
	if (mixed && has_sig(k)) /* what the signatures are of */
		stream(k, base, n, 0, true);
	*mem_n = f_image(&k->sig.mem, base, n, mem);
	*wire_n = f_image(&k->sig.wire, base, n, wire);
	if (mixed && has_sig(k)) /* the side without crypto has plain data and no signatures */
		memcpy(k->c.order == WQE_CRYPTO_RAW_WIRE ? mem : wire, data, n);
	else
		stream(k, encrypts(k) ? wire : mem, encrypts(k) ? *wire_n : *mem_n, 0, true);
}

struct sides {
	uint8_t mem[F_KEY_LEN], wire[F_KEY_LEN];
	uint32_t mem_n, wire_n;
};

static void sides_of(const struct ckey *k, uint32_t n, struct sides *s)
{
	static uint8_t data[F_KEY_LEN];

	for (uint32_t i = 0; i < n; i++)
		data[i] = (uint8_t)(i * 31 + (i >> 7));
	images(k, data, n, s->mem, &s->mem_n, s->wire, &s->wire_n);
}

/* Out through the key of `from`, in through that of `to`; READs are of the responder's key. */
static void goes_out(struct t_pair *p, struct ckey *k, const struct sides *s, bool read)
{
	struct t_qp *from = read ? p->b : p->a, *to = read ? p->a : p->b;

	memcpy(from->mem + F_KEY_AT, s->mem, s->mem_n);
	memset(to->mem + PLAIN, 0, s->wire_n + 1);
	if (read)
		transfer(p, MLX5_OPCODE_RDMA_READ, to->key, (uintptr_t)to->mem + PLAIN, s->wire_n,
			 k->sig.mk->key, 0);
	else
		transfer(p, MLX5_OPCODE_RDMA_WRITE, k->sig.mk->key, 0, s->wire_n, to->key,
			 (uintptr_t)to->mem + PLAIN);
	assert_memory_equal(to->mem + PLAIN, s->wire, s->wire_n);
	assert_int_equal(to->mem[PLAIN + s->wire_n], 0);
}

static void comes_in(struct t_pair *p, struct ckey *k, const struct sides *s, bool read)
{
	struct t_qp *from = read ? p->b : p->a, *to = read ? p->a : p->b;

	memcpy(from->mem + PLAIN, s->wire, s->wire_n);
	memset(to->mem + F_KEY_AT, 0, s->mem_n + 1);
	if (read)
		transfer(p, MLX5_OPCODE_RDMA_READ, k->sig.mk->key, 0, s->wire_n, from->key,
			 (uintptr_t)from->mem + PLAIN);
	else
		transfer(p, MLX5_OPCODE_RDMA_WRITE, from->key, (uintptr_t)from->mem + PLAIN,
			 s->wire_n, k->sig.mk->key, 0);
	assert_memory_equal(to->mem + F_KEY_AT, s->mem, s->mem_n);
	assert_int_equal(to->mem[F_KEY_AT + s->mem_n], 0);
}

static void every_way(struct t_pair *p, const struct ckey *like, uint32_t n)
{
	static struct sides s;

	for (uint32_t i = 0; i < 4; i++) {
		bool read = i % 2, in = i / 2;
		struct t_qp *q = read == in ? p->a : p->b;
		struct ckey k = *like;

		k.sig.check = 0xff;
		ckey_make(&k, q, q == p->b);
		sides_of(&k, n, &s);
		ckey_configure(&k, s.mem_n < SHORTEST ? SHORTEST : s.mem_n);
		if (in)
			comes_in(p, &k, &s, read);
		else
			goes_out(p, &k, &s, read);
		t_assert_empty(&p->a->cq);
		t_assert_empty(&p->b->cq);
	}
}

static void is_cx7(struct t_pair *p, bool cx7)
{
	hw_hca(&p->t->s, hca_of(p->a))->model = cx7 ? HW_CX7 : HW_CX6;
	hw_hca(&p->t->s, hca_of(p->b))->model = cx7 ? HW_CX7 : HW_CX6;
}

/* Every size of units, in both directions: two units and a part of one. */
static void test_units(void **state)
{
	for (uint32_t bs = 0; bs < SIZES; bs++)
		for (uint8_t order = 0; order < 4; order++) {
			struct ckey k = {.c = {order, bs}, .bytes = bs % 2 ? 32 : 16};
			struct t_pair *p;

			t_pair_setup(state);
			p = *state;
			is_cx7(p, true);
			every_way(p, &k, 2 * unit_of(&k) + 112);
			t_pair_teardown(state);
		}
}

/* A device with single-block crypto: the tweak is not reversed, and a key has one data unit. */
static void test_single_blocks(void **state)
{
	struct t_pair *p = *state;
	struct ckey k = {.c = {WQE_CRYPTO_WIRE_SIGNATURE, 1}};
	struct t_sge sge;
	uint32_t n;

	is_cx7(p, false);
	every_way(p, &k, unit_of(&k));
	every_way(p, &k, 496);
	ckey_make(&k, p->a, 0);
	ckey_configure(&k, 2048);
	sge = (struct t_sge){k.sig.mk->key, 0, 1040};
	n = t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .sge = &sge, .nsge = 1});
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, n);
}

/* Rows B to E and G to J of the table in mlx5dv_wr_set_mkey_crypto(3). */
static void test_with_signatures(void **state)
{
	const struct fmt dif = {.kind = F_DIF, .app = 0xabcd, .ref = 7, .flags = F_INC};
	const struct fmt crc = {.kind = F_CRC32C, .ones = true}, none = {0};
	const struct {
		uint8_t order;
		struct fmt mem, wire;
		uint32_t bs; /* units of data, or of data and its tags */
	} table[] = {
		{WQE_CRYPTO_RAW_WIRE, none, dif, 0},
		{WQE_CRYPTO_WIRE_SIGNATURE, none, dif, 1},
		{WQE_CRYPTO_WIRE_SIGNATURE, dif, none, 0},
		{WQE_CRYPTO_WIRE_SIGNATURE, crc, dif, 1},
		{WQE_CRYPTO_MEMORY_SIGNATURE, none, dif, 0},
		{WQE_CRYPTO_MEMORY_SIGNATURE, dif, none, 1},
		{WQE_CRYPTO_MEMORY_SIGNATURE, dif, crc, 1},
		{WQE_CRYPTO_RAW_MEMORY, dif, none, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ckey k = {.sig = {.mem = table[i].mem, .wire = table[i].wire},
				 .c = {table[i].order, table[i].bs},
				 .bytes = 32};
		struct t_pair *p;

		t_pair_setup(state);
		p = *state;
		print_message("row %zu\n", i);
		is_cx7(p, true);
		every_way(p, &k, 4 * 512);
		t_pair_teardown(state);
	}
}

/* SEND from key to key, and a message of two keys and plain memory. */
static void test_messages(void **state)
{
	struct t_pair *p = *state;
	struct ckey a = {.c = {WQE_CRYPTO_RAW_WIRE, 0}}, b = {.c = {WQE_CRYPTO_RAW_WIRE, 0}};
	static struct sides s;
	struct t_sge in[2], out[2];
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = out, .nsge = 2};

	is_cx7(p, true);
	ckey_make(&a, p->a, 0);
	ckey_make(&b, p->b, 1);
	ckey_configure(&a, 2048);
	ckey_configure(&b, 2048);
	sides_of(&a, 1024 + 48, &s);
	memcpy(p->a->mem + F_KEY_AT, s.mem, s.mem_n);
	memset(p->a->mem + PLAIN, 0x77, 100);
	out[0] = (struct t_sge){a.sig.mk->key, 0, s.wire_n};
	out[1] = t_own(p->a, PLAIN, 100);
	t_recv_at(p->b, PLAIN, 2000);
	t_expect_done(p->a, MLX5_OPCODE_SEND, t_post(p->a, &wr));
	t_received(p->b, MLX5_CQE_RESP_SEND, s.wire_n + 100, 0);
	assert_memory_equal(p->b->mem + PLAIN, s.wire, s.wire_n);
	assert_memory_equal(p->b->mem + PLAIN + s.wire_n, p->a->mem + PLAIN, 100);
	in[0] = (struct t_sge){b.sig.mk->key, 0, s.wire_n};
	in[1] = t_own(p->b, PLAIN, 100);
	memset(p->b->mem + PLAIN, 0, 100);
	t_recv(p->b, in, 2);
	t_expect_done(p->a, MLX5_OPCODE_SEND, t_post(p->a, &wr));
	t_received(p->b, MLX5_CQE_RESP_SEND, s.wire_n + 100, 1);
	assert_memory_equal(p->b->mem + F_KEY_AT, s.mem, s.mem_n);
	assert_memory_equal(p->b->mem + PLAIN, p->a->mem + PLAIN, 100);
}

/* A transfer that begins at a later data unit uses that unit's number. */
static void test_a_transfer_may_begin_at_any_unit(void **state)
{
	struct t_pair *p = *state;
	struct ckey k = {.c = {WQE_CRYPTO_RAW_WIRE, 0}};
	uint8_t want[1024];

	is_cx7(p, true);
	ckey_make(&k, p->a, 0);
	ckey_configure(&k, 4096);
	memcpy(want, p->a->mem + F_KEY_AT + 1536, sizeof(want));
	stream(&k, want, sizeof(want), 3, true);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, k.sig.mk->key, 1536, 1024, p->b->key,
		 (uintptr_t)p->b->mem + PLAIN);
	assert_memory_equal(p->b->mem + PLAIN, want, sizeof(want));
}

/* A wrong signature of decrypted data is reported as any other. */
static void test_a_flipped_bit_of_encrypted_data(void **state)
{
	struct t_pair *p = *state;
	struct ckey k = {.sig = {.mem = {.kind = F_CRC32C, .ones = true}, .check = 0xff},
			 .c = {WQE_CRYPTO_MEMORY_SIGNATURE, 0}};
	static struct sides s;
	struct mlx5_cqe64 *c;
	struct t_sge sge;
	uint32_t n;

	is_cx7(p, true);
	ckey_make(&k, p->a, 0);
	/* four blocks with CRCs: 4 data units, and 16 bytes of a fifth */
	ckey_configure(&k, 516 * 4);
	sge = (struct t_sge){k.sig.mk->key, 0, 512 * 4};
	sides_of(&k, 512 * 4, &s);
	memcpy(p->a->mem + F_KEY_AT, s.mem, s.mem_n);
	n = t_write(p->a, p->b, PLAIN, sge);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, n);
	p->a->mem[F_KEY_AT + 700] ^= 1;
	t_write(p->a, p->b, PLAIN, sge);
	c = t_poll(&p->a->cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_SIG_ERR);
	assert_int_equal(be64toh(*(__be64 *)((uint8_t *)c + 0x28)), 516);
	c = t_poll(&p->a->cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
}

/* ---- what is refused */

struct refused {
	const char *name;
	void (*spoil)(struct ckey *k, struct t_sge *sge);
	uint8_t vendor_err; /* of an lkey */
};

#define ROW(n) static void n(struct ckey *k, struct t_sge *sge)
ROW(r_gone)
{
	seg_free(&k->sig.q->t->s, SEG_T_OBJ, k->dek);
}
static struct hw_obj *dek(const struct ckey *k)
{
	return seg_at(&k->sig.q->t->s, SEG_T_OBJ, k->dek);
}
ROW(r_other_pd)
{
	dek(k)->ref[0].idx ^= 1;
}
ROW(r_other_kind)
{
	dek(k)->kind = HW_OBJ_TD;
}
ROW(r_unfinished)
{
	dek(k)->flags = 0;
}
ROW(r_changing)
{
	dek(k)->state = 1;
}
ROW(r_tag)
{
	((struct hw_dek *)dek(k)->ctx)->has_keytag = 1;
	memcpy(((struct hw_dek *)dek(k)->ctx)->keytag, "its tag.", 8);
}
ROW(r_47)
{
	sge->len = 47;
}
ROW(r_512_of_520)
{
	sge->len = 512;
}
ROW(r_unit_and_8)
{
	sge->len = 528;
}
ROW(r_within)
{
	sge->addr = 16;
	sge->len = 504;
}
ROW(r_beyond)
{
	sge->addr = 2080;
}
ROW(r_not_configured)
{
	struct seg *s = &k->sig.q->t->s;

	for (uint32_t i = 0; i < HW_BSF_ENTRIES; i++)
		memset(hw_klm_entry(s, k->sig.mk, F_KLMS + i), 0, HW_KLM_BYTES);
}

static const struct refused refused[] = {
	{"DEK gone", r_gone, 0x58},
	{"DEK of another PD", r_other_pd, 0x58},
	{"DEK is something else", r_other_kind, 0x58},
	{"DEK half made", r_unfinished, 0x58},
	{"DEK half changed", r_changing, 0x58},
	{"another key tag", r_tag, 0x58},
	{"47 bytes", r_47, 0x59},
	{"512 bytes of a unit of 520", r_512_of_520, 0x59},
	{"a unit and 8 bytes", r_unit_and_8, 0x59},
	{"within a unit", r_within, 0x53},
	{"behind the key", r_beyond, 0x53},
	{"crypto was not configured", r_not_configured, 0x58},
};

static void test_what_is_refused(void **state)
{
	for (size_t i = 0; i < 2 * sizeof(refused) / sizeof(refused[0]); i++) {
		const struct refused *row = &refused[i / 2];
		struct ckey k = {.c = {WQE_CRYPTO_RAW_WIRE, 1}};
		const struct mlx5_err_cqe *e;
		bool far = i % 2;
		struct t_sge sge, own;
		struct t_pair *p;

		t_pair_setup(state);
		p = *state;
		print_message("%s (%s)\n", row->name, far ? "rkey" : "lkey");
		is_cx7(p, true);
		ckey_make(&k, far ? p->b : p->a, far);
		ckey_configure(&k, 2080);
		sge = (struct t_sge){k.sig.mk->key, 0, 520};
		row->spoil(&k, &sge);
		own = t_own(p->a, 0, sge.len);
		if (far)
			t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
						    .raddr = sge.addr,
						    .rkey = sge.key,
						    .sge = &own,
						    .nsge = 1});
		else
			t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
						    .raddr = (uintptr_t)p->b->mem + PLAIN,
						    .rkey = p->b->key,
						    .sge = &sge,
						    .nsge = 1});
		e = (const void *)t_poll(&p->a->cq);
		assert_non_null(e);
		assert_int_equal(e->op_own >> 4, MLX5_CQE_REQ_ERR);
		assert_int_equal(e->syndrome, far ? MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
						  : MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
		assert_int_equal(e->vendor_err_synd, far ? 0x88 : row->vendor_err);
		t_pair_teardown(state);
	}
}

/* A key tag that is right, and one that the DEK does not have. */
static void test_key_tags(void **state)
{
	struct t_pair *p = *state;
	struct ckey k = {.c = {WQE_CRYPTO_RAW_WIRE, 0}};
	struct crypto_umr u;
	uint32_t n;

	is_cx7(p, true);
	ckey_make(&k, p->a, 0);
	for (uint32_t i = 0; i < 2; i++) {
		k.dek = dek_make(&k, p->t->pd[0], i ? NULL : "its tag.");
		n = ckey_umr(&k, SHORTEST, &u);
		memcpy(u.sig.bsf + 40, "its tag.", 8);
		t_expect_done(p->a, MLX5_OPCODE_UMR,
			      post_raw(p->a, MLX5_OPCODE_UMR, k.sig.mk->key, &u, n));
		transfer(p, MLX5_OPCODE_RDMA_WRITE, k.sig.mk->key, 0, 512, p->b->key,
			 (uintptr_t)p->b->mem + PLAIN);
	}
}

struct bad_bsf {
	const char *name;
	uint32_t at;
	uint8_t v;
	bool sig;
};

static const struct bad_bsf bad_bsfs[] = {
	{"the size of two BSFs", 0, 3 << 6 | 1, false},
	{"another type", 0, 2 << 6 | 2, true},
	{"order 4", 1, 4, false},
	{"another standard", 3, 1, false},
	{"no unit", 8, 0, false},
	{"unit of size 5", 8, 5, false},
	{"unit of size 200", 8, 200, false},
	{"the size of one BSF", 64, 2 << 6 | 1, true},
};

static void test_what_is_wrong_with_formats(void **state)
{
	for (size_t i = 0; i < sizeof(bad_bsfs) / sizeof(bad_bsfs[0]); i++) {
		const struct bad_bsf *row = &bad_bsfs[i];
		struct ckey k = {.c = {WQE_CRYPTO_RAW_WIRE, 0}};
		struct crypto_umr u;
		struct t_pair *p;
		uint32_t n;

		t_pair_setup(state);
		p = *state;
		print_message("%s\n", row->name);
		if (row->sig)
			k.sig.wire = (struct fmt){.kind = F_CRC32C};
		ckey_make(&k, p->a, 0);
		n = ckey_umr(&k, 512, &u);
		((uint8_t *)&u + offsetof(struct sig_umr, bsf))[row->at] = row->v;
		n = post_raw(p->a, MLX5_OPCODE_UMR, k.sig.mk->key, &u, n);
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, n);
		t_pair_teardown(state);
	}
}

/* A key that was made without crypto does not take it. */
static void test_keys_without_crypto(void **state)
{
	struct t_pair *p = *state;
	struct ckey k = {.c = {WQE_CRYPTO_RAW_WIRE, 0}};
	struct crypto_umr u;
	uint32_t n;

	ckey_make(&k, p->a, 0);
	LAYOUT_SET(mkc, k.sig.mk->mkc, crypto_en, 0);
	k.sig.mk->crypto = 0;
	n = ckey_umr(&k, 512, &u);
	n = post_raw(p->a, MLX5_OPCODE_UMR, k.sig.mk->key, &u, n);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, n);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		T(test_single_blocks),
		cmocka_unit_test(test_with_signatures),
		T(test_messages),
		T(test_a_transfer_may_begin_at_any_unit),
		T(test_a_flipped_bit_of_encrypted_data),
		cmocka_unit_test(test_what_is_refused),
		T(test_key_tags),
		cmocka_unit_test(test_what_is_wrong_with_formats),
		T(test_keys_without_crypto),
	};

	return cmocka_run_group_tests_name("engine crypto", tests, NULL, NULL);
}
