/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wrong signatures and their CQEs, and what is refused of signature keys. */
#include "engine/test_sig.h"
#include "hw/cq.h"
#include "hw/qp_state.h"

#include <infiniband/verbs.h>

#define PLAIN 0x20000
#define DATA 1024 /* two blocks */

/* struct mlx5_sigerr_cqe of rdma-core's providers/mlx5/cq.c; Linux has the qpn there, too. */
struct sigerr {
	uint8_t rsvd0[16];
	__be32 expected_trans_sig, actual_trans_sig, expected_ref_tag, actual_ref_tag;
	__be16 syndrome;
	uint8_t sig_type, domain;
	__be32 mkey;
	__be64 sig_err_offset;
	uint8_t rsvd30[8];
	__be32 qpn;
	uint8_t rsvd3c[2], signature, op_own;
};

enum { REFTAG = 1 << 11, APPTAG = 1 << 12, GUARD = 1 << 13 };
enum { WIRE = 0, MEMORY = 1 };

static uint64_t both(__be32 trans, __be32 ref)
{
	return (uint64_t)be32toh(trans) << 32 | be32toh(ref);
}

static struct fmt dif(void)
{
	return (struct fmt){.kind = F_DIF, .app = 0xabcd, .ref = 7, .flags = F_INC};
}

/* a's key has T10-DIF in memory and nothing on the wire; block `bad` is changed at `at`. */
static struct skey stripped(struct t_pair *p, const struct fmt *f)
{
	struct skey k = {.mem = *f, .check = 0xff};
	static uint8_t data[DATA];

	skey_make(&k, p->a, 0);
	skey_configure(&k, mem_len(&k, DATA));
	memcpy(data, p->a->mem, DATA);
	f_image(f, data, DATA, p->a->mem + F_KEY_AT);
	return k;
}

static void write_it(struct t_pair *p, const struct skey *k)
{
	struct t_sge sge = {k->mk->key, 0, DATA};
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem + PLAIN,
			  .rkey = p->b->key,
			  .sge = &sge,
			  .nsge = 1};

	t_post(p->a, &wr);
}

static void done(struct t_qp *q)
{
	struct mlx5_cqe64 *c = t_poll(&q->cq);

	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	t_assert_empty(&q->cq);
}

static const struct sigerr *sigerr(struct t_qp *q, const struct skey *k, uint16_t syndrome,
				   uint8_t domain, uint64_t offset)
{
	const struct sigerr *e = (void *)t_poll(&q->cq);

	assert_non_null(e);
	assert_int_equal(e->op_own >> 4, MLX5_CQE_SIG_ERR);
	assert_int_equal(be16toh(e->syndrome), syndrome);
	assert_int_equal(e->sig_type, 0);
	assert_int_equal(e->domain, domain);
	assert_int_equal(be32toh(e->mkey), k->mk->key);
	assert_int_equal(be64toh(e->sig_err_offset), offset);
	assert_int_equal(be32toh(e->qpn), q->qpn);
	return e;
}

/* A row changes a byte of the second block (520 bytes from 520 on), or of its signature. */
static const struct flip {
	const char *name;
	uint32_t at;
	uint8_t change;
	uint16_t syndrome;
	uint64_t differs; /* the bits of expected and actual that differ; 0: a guard */
} flips[] = {
	{"data", 520 + 100, 0x10, GUARD, 0},
	{"guard", 520 + 512, 0x01, GUARD, 0x0100000000000000},
	{"application tag", 520 + 515, 0x80, APPTAG, 0x0000008000000000},
	{"reference tag", 520 + 519, 0x02, REFTAG, 0x2},
};

static void test_a_flipped_bit_is_reported(void **state)
{
	struct fmt f = dif();

	for (uint32_t i = 0; i < sizeof(flips) / sizeof(flips[0]); i++) {
		const struct sigerr *e;
		struct t_pair *p;
		struct skey k;
		uint64_t expected, actual;

		t_pair_setup((void **)&p);
		print_message("%s\n", flips[i].name);
		k = stripped(p, &f);
		p->a->mem[F_KEY_AT + flips[i].at] ^= flips[i].change;
		write_it(p, &k);
		e = sigerr(p->a, &k, flips[i].syndrome, MEMORY, 520);
		expected = both(e->expected_trans_sig, e->expected_ref_tag);
		actual = both(e->actual_trans_sig, e->actual_ref_tag);
		assert_int_equal(expected, be64_load(p->a->mem + F_KEY_AT + 1032));
		if (flips[i].differs)
			assert_int_equal(expected ^ actual, flips[i].differs);
		assert_int_equal(actual >> 48, f_guard(&f, p->a->mem + F_KEY_AT + 520, 512));
		assert_int_equal(actual << 16, UINT64_C(0xabcd00000008) << 16);
		done(p->a); /* the transfer completes without error, and the data arrives */
		assert_memory_equal(p->b->mem + PLAIN + 512, p->a->mem + F_KEY_AT + 520, 512);
		assert_int_equal(t_state(p->a), PRM_QP_STATE_RTS);
		t_pair_teardown((void **)&p);
	}
}

/* The CQE shows CRCs in its upper bytes, as a big-endian number. */
static void test_crcs_are_reported(void **state)
{
	for (enum f_kind kind = F_CRC32; kind <= F_CRC64; kind++) {
		struct fmt f = {.kind = kind, .ones = true};
		const struct sigerr *e;
		struct t_pair *p;
		uint64_t good = 0;
		struct skey k;

		t_pair_setup((void **)&p);
		k = stripped(p, &f);
		memcpy(&good, p->a->mem + F_KEY_AT + 512, f_bytes(&f));
		p->a->mem[F_KEY_AT + 512] ^= 1;
		write_it(p, &k);
		e = sigerr(p->a, &k, GUARD, MEMORY, 0);
		good <<= 64 - 8 * f_bytes(&f);
		assert_int_equal(both(e->actual_trans_sig, e->actual_ref_tag), good);
		assert_int_equal(both(e->expected_trans_sig, e->expected_ref_tag),
				 good ^ (kind == F_CRC64 ? 1 : UINT64_C(1) << 32));
		done(p->a);
		t_pair_teardown((void **)&p);
	}
}

/* Nothing more of the key is reported until it is configured again. */
static void test_the_first_error_is_reported(void **state)
{
	struct t_pair *p = *state;
	struct fmt f = dif();
	struct skey k = stripped(p, &f);

	p->a->mem[F_KEY_AT] ^= 1;
	p->a->mem[F_KEY_AT + 520] ^= 1;
	write_it(p, &k);
	sigerr(p->a, &k, GUARD, MEMORY, 0);
	done(p->a);
	write_it(p, &k);
	done(p->a);
	skey_configure(&k, mem_len(&k, DATA));
	write_it(p, &k);
	sigerr(p->a, &k, GUARD, MEMORY, 0);
	done(p->a);
}

static void test_only_named_bytes_are_checked(void **state)
{
	struct t_pair *p = *state;
	struct fmt f = dif();
	struct skey k = stripped(p, &f);

	k.check = 0xdf; /* check all but the upper byte of the application tag */
	skey_configure(&k, mem_len(&k, DATA));
	p->a->mem[F_KEY_AT + 514] ^= 0x40;
	write_it(p, &k);
	done(p->a);
	p->a->mem[F_KEY_AT + 515] ^= 0x40;
	k.mem.app_free = 0x0040;
	skey_configure(&k, mem_len(&k, DATA));
	write_it(p, &k);
	done(p->a);
	k.mem.app_free = 0xffbf;
	skey_configure(&k, mem_len(&k, DATA));
	write_it(p, &k);
	sigerr(p->a, &k, APPTAG, MEMORY, 0);
	done(p->a);
}

/* Blocks with an application tag of ones are not checked, or with both tags. */
static void test_blocks_escape(void **state)
{
	struct fmt f = dif();

	for (uint32_t i = 0; i < 4; i++) {
		struct t_pair *p;
		struct skey k;

		t_pair_setup((void **)&p);
		f.flags = i < 2 ? F_ESC_APP : F_ESC_APPREF;
		k = stripped(p, &f);
		memset(p->a->mem + F_KEY_AT + 512, 0, 2);
		memset(p->a->mem + F_KEY_AT + 514, 0xff, i % 2 ? 6 : 2);
		write_it(p, &k);
		if (i == 2)
			sigerr(p->a, &k, GUARD, MEMORY, 0);
		done(p->a);
		t_pair_teardown((void **)&p);
	}
}

/* The key is the responder's: the responder gets the error CQE, before its receive's. */
static void test_the_responder_reports(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.q = p->b, .wire = dif(), .check = 0xff};
	struct t_sge out = t_own(p->a, PLAIN, 1040), in;
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &out, .nsge = 1};

	skey_make(&k, p->b, 1);
	skey_configure(&k, DATA);
	f_image(&k.wire, p->a->mem, DATA, p->a->mem + PLAIN);
	p->a->mem[PLAIN + 1039] ^= 1;
	in = (struct t_sge){k.mk->key, 0, 1040};
	t_recv(p->b, &in, 1);
	t_post(p->a, &wr);
	done(p->a);
	sigerr(p->b, &k, REFTAG, WIRE, 520);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1040, 0);
	assert_memory_equal(p->b->mem + F_KEY_AT, p->a->mem, DATA);
	/* a message that ends inside of a signature */
	skey_configure(&k, DATA);
	out.len = 1038;
	t_recv(p->b, &in, 1);
	t_post(p->a, &wr);
	done(p->a);
	sigerr(p->b, &k, GUARD, WIRE, 520);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1038, 1);
	/* one that ends before it: this block has none (rdma-core's test_mlx5_mkey.py) */
	skey_configure(&k, DATA);
	memset(p->b->mem + F_KEY_AT, 0, DATA);
	out.len = 1032;
	t_recv(p->b, &in, 1);
	t_post(p->a, &wr);
	done(p->a);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1032, 2);
	assert_memory_equal(p->b->mem + F_KEY_AT, p->a->mem, DATA);
}

/* A READ and a WRITE of the responder's key. */
static void test_remote_access_is_reported(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.q = p->b, .mem = dif(), .check = 0xff};

	skey_make(&k, p->b, 1);
	skey_configure(&k, mem_len(&k, DATA));
	transfer(p, MLX5_OPCODE_RDMA_READ, p->a->key, (uintptr_t)p->a->mem + PLAIN, DATA, k.mk->key,
		 0);
	/* memory is all zero: the guard is right, the application tag is wrong */
	sigerr(p->b, &k, APPTAG, MEMORY, 0);
	t_assert_empty(&p->b->cq);
	/* the wire has no signatures, so data that arrives cannot have wrong ones */
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem, DATA, k.mk->key, 0);
	t_assert_empty(&p->b->cq);
}

/* A report that the CQ did not take is no report: another queue of the key may have a good CQ. */
static void test_a_lost_report_is_made_again(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.q = p->b, .mem = dif(), .check = 0xff};

	skey_make(&k, p->b, 1);
	skey_configure(&k, mem_len(&k, DATA));
	p->b->cq.hw->state = HW_CQ_ST_ERR;
	for (int i = 0; i < 2; i++) {
		t_assert_empty(&p->b->cq);
		transfer(p, MLX5_OPCODE_RDMA_READ, p->a->key, (uintptr_t)p->a->mem + PLAIN, DATA,
			 k.mk->key, 0);
		p->b->cq.hw->state = 0;
	}
	sigerr(p->b, &k, APPTAG, MEMORY, 0);
}

/* ---- what is refused */

struct row {
	const char *name;
	void (*spoil)(struct skey *k, struct sig_umr *u, uint32_t *bytes);
};

#define ROW(n) static void n(struct skey *k, struct sig_umr *u, uint32_t *bytes)
ROW(r_no_room)
{
	k->mk->bsf_max = 0;
}
ROW(r_short)
{
	*bytes -= 16;
}
ROW(r_size)
{
	u->ctrl.translation_offset = htobe16(8);
	*bytes += 16;
}
ROW(r_offset)
{
	u->ctrl.flags |= FLAG(TRNSLATION_OFFSET);
}
ROW(r_pointer)
{
	u->ctrl.flags = 0;
}
ROW(r_basic)
{
	u->bsf[0] = 0;
}
ROW(r_with_crypto)
{
	u->bsf[0] = 3 << 6;
}
ROW(r_block_size)
{
	u->bsf[3] = 5;
}
ROW(r_block_size_large)
{
	u->bsf[3] = 200;
}
ROW(r_wire_block_size)
{
	u->bsf[2] = 7;
}
ROW(r_not_valid)
{
	u->bsf[48] = 0x40;
}
ROW(r_not_refreshed)
{
	u->bsf[48] = 0x80;
}
ROW(r_not_repeated)
{
	u->bsf[57] = 0;
}
ROW(r_guard)
{
	u->bsf[56] = 3;
}
ROW(r_crc)
{
	u->bsf[12] = 0x32;
}
ROW(r_crc_once)
{
	u->bsf[12] = 0x20;
}
ROW(r_same_none)
{
	u->bsf[0] |= 0x10;
	u->bsf[3] = 0;
}
ROW(r_same_other)
{
	u->bsf[0] |= 0x10;
	u->bsf[8] = 0x22;
}

static const struct row rows[] = {
	{"no space for a BSF in the key", r_no_room},
	{"BSF cut", r_short},
	{"BSF of another size", r_size},
	{"a translation offset", r_offset},
	{"behind a list by pointer", r_pointer},
	{"basic BSF", r_basic},
	{"signature and crypto", r_with_crypto},
	{"block size 5", r_block_size},
	{"block size unknown", r_block_size_large},
	{"block size of the wire unknown", r_wire_block_size},
	{"inline part not valid", r_not_valid},
	{"tags not refreshed", r_not_refreshed},
	{"block not repeated", r_not_repeated},
	{"guard unknown", r_guard},
	{"CRC unknown", r_crc},
	{"one CRC at the end", r_crc_once},
	{"the same blocks, but none in memory", r_same_none},
	{"the same blocks, but another kind", r_same_other},
};

static void test_what_is_wrong_with_formats(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct t_pair *p;
		struct skey k = {.mem = dif(), .check = 0xff};
		struct sig_umr u;
		uint32_t bytes = F_UMR, n;

		t_pair_setup((void **)&p);
		print_message("%s\n", rows[i].name);
		skey_make(&k, p->a, 0);
		u = umr_of(&k, mem_len(&k, DATA));
		rows[i].spoil(&k, &u, &bytes);
		n = post_raw(p->a, MLX5_OPCODE_UMR, k.mk->key, &u, bytes);
		t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, n);
		assert_int_equal(k.mk->free, 1);
		t_pair_teardown((void **)&p);
	}
}

/* An access that the key does not allow. */
struct access_row {
	const char *name;
	void (*spoil)(struct skey *k, struct t_sge *sge);
};

#define ACC(n) static void n(struct skey *k, struct t_sge *sge)
ACC(a_too_long)
{
	sge->len = DATA + 1;
}
ACC(a_beyond)
{
	sge->addr = DATA;
}
ACC(a_within_a_block)
{
	sge->addr = 8;
	sge->len = 8;
}
ACC(a_psv_gone)
{
	seg_free(&k->q->t->s, SEG_T_OBJ, k->psv[0]);
}
ACC(a_psv_pd)
{
	hw_obj(&k->q->t->s, k->psv[0])->ref[0].idx ^= 1;
}
ACC(a_psv_kind)
{
	hw_obj(&k->q->t->s, k->psv[0])->kind = HW_OBJ_TD;
}
ACC(a_limit)
{
	be32_store(hw_klm_entry(&k->q->t->s, k->mk, F_KLMS) + 4, DATA - 1);
}
ACC(a_memory_short)
{
	LAYOUT_SET(mkc, k->mk->mkc, len, 1039);
	eng_mkey_fields(k->mk);
}
ACC(a_list_short)
{
	LAYOUT_SET(wqe_klm, hw_klm_entry(&k->q->t->s, k->mk, 1), byte_count, 10);
}

static const struct access_row accesses[] = {
	{"longer than the key", a_too_long},
	{"behind the key", a_beyond},
	{"not at a block", a_within_a_block},
	{"PSV gone", a_psv_gone},
	{"PSV of another PD", a_psv_pd},
	{"PSV is something else", a_psv_kind},
	{"longer than the BSF says", a_limit},
	{"no memory for the last signature", a_memory_short},
	{"nothing behind the last signature", a_list_short},
};

static void test_what_is_refused(void **state)
{
	for (size_t i = 0; i < 2 * sizeof(accesses) / sizeof(accesses[0]); i++) {
		const struct access_row *row = &accesses[i / 2];
		bool far = i % 2;
		struct t_pair *p;
		struct fmt f = dif();
		struct t_sge sge;
		struct skey k;

		t_pair_setup((void **)&p);
		print_message("%s (%s)\n", row->name, far ? "rkey" : "lkey");
		k = stripped(p, &f);
		if (far) {
			k.q = p->b;
			skey_make(&k, p->b, 1);
			skey_configure(&k, mem_len(&k, DATA));
		}
		sge = (struct t_sge){k.mk->key, 0, DATA};
		row->spoil(&k, &sge);
		if (far) {
			struct t_sge own = t_own(p->a, 0, sge.len);

			t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
						    .raddr = sge.addr,
						    .rkey = sge.key,
						    .sge = &own,
						    .nsge = 1});
		} else {
			t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
						    .raddr = (uintptr_t)p->b->mem + PLAIN,
						    .rkey = p->b->key,
						    .sge = &sge,
						    .nsge = 1});
		}
		t_expect_error(p->a, MLX5_CQE_REQ_ERR,
			       far ? MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
				   : MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
			       (p->a->sq_pi - 1) & 0xffff);
		t_pair_teardown((void **)&p);
	}
}

/* On the wire the second block begins at 520, and the first one's signature at 512. */
static void test_no_transfer_begins_in_a_signature(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.wire = dif(), .check = 0xff};
	struct t_sge sge = t_own(p->a, PLAIN, 520);
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_READ,
			  .fm_ce_se = T_SIG,
			  .raddr = 520,
			  .sge = &sge,
			  .nsge = 1};

	skey_make(&k, p->b, 1);
	skey_configure(&k, DATA);
	wr.rkey = k.mk->key;
	t_expect_done(p->a, MLX5_OPCODE_RDMA_READ, t_post(p->a, &wr));
	wr.raddr = 512;
	sge.len = 8;
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		       t_post(p->a, &wr));
}

/* SET_PSV: the PSV must be there, of the QP's PD. */
static void test_what_is_wrong_with_psvs(void **state)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct t_pair *p;
		struct set_psv set = {0};
		uint32_t n;

		t_pair_setup((void **)&p);
		set.index = htobe32(i == 1 ? 0x7fff : psv_make(p->t, p->t->pd[i == 0]));
		n = post_raw(p->a, MLX5_OPCODE_SET_PSV, 0, &set, i == 2 ? 8 : sizeof(set));
		if (i == 2) /* padded with zeroes to 16 bytes, so it is valid */
			t_expect_done(p->a, MLX5_OPCODE_SET_PSV, n);
		else
			t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, n);
		t_pair_teardown((void **)&p);
	}
}

/* A list may not contain a signature key, and an atomic may not use one. */
static void test_keys_that_signatures_exclude(void **state)
{
	struct t_pair *p = *state;
	struct skey k = {.mem = dif(), .check = 0xff}, outer = {.mem = dif()};
	struct mlx5_wqe_atomic_seg ops = {0};
	struct t_sge sge = t_own(p->a, 0, 8);
	struct sig_umr u;
	uint32_t n;

	skey_make(&k, p->b, 1);
	skey_configure(&k, mem_len(&k, DATA));
	n = t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_ATOMIC_FA,
					.rkey = k.mk->key,
					.operands = &ops,
					.operands_len = sizeof(ops),
					.sge = &sge,
					.nsge = 1});
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, n);
	t_pair_teardown(state);
	t_pair_setup(state);
	p = *state;
	skey_make(&k, p->b, 1);
	skey_configure(&k, mem_len(&k, DATA));
	skey_make(&outer, p->b, 1);
	u = umr_of(&outer, 1040);
	entry_set(&u.list[0], &(struct klm){k.mk->key, 0, 1001});
	n = post_raw(p->b, MLX5_OPCODE_UMR, outer.mk->key, &u, F_UMR);
	t_expect_error(p->b, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR, n);
}

/*
 * The key's memory, or the other side's, is not mapped: the side that owns the memory gets the
 * error.
 */
static void test_memory_that_is_not_mapped(void **state)
{
	for (uint32_t far = 0; far < 2; far++) {
		struct t_pair *p;
		struct skey k = {.mem = dif(), .check = 0xff};
		struct t_qp *q;

		t_pair_setup((void **)&p);
		q = far ? p->b : p->a;
		skey_make(&k, q, far);
		skey_configure(&k, mem_len(&k, DATA));
		munmap(q->mem + F_KEY_AT, 4096);
		if (far) {
			struct t_sge own = t_own(p->a, 0, DATA);

			t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
						    .rkey = k.mk->key,
						    .sge = &own,
						    .nsge = 1});
		} else {
			write_it(p, &k);
		}
		t_expect_error(p->a, MLX5_CQE_REQ_ERR,
			       far ? MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR
				   : MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
			       (p->a->sq_pi - 1) & 0xffff);
		t_pair_teardown((void **)&p);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_flipped_bit_is_reported),
		cmocka_unit_test(test_crcs_are_reported),
		T(test_the_first_error_is_reported),
		T(test_only_named_bytes_are_checked),
		cmocka_unit_test(test_blocks_escape),
		T(test_the_responder_reports),
		T(test_remote_access_is_reported),
		T(test_a_lost_report_is_made_again),
		cmocka_unit_test(test_what_is_wrong_with_formats),
		cmocka_unit_test(test_what_is_refused),
		T(test_no_transfer_begins_in_a_signature),
		cmocka_unit_test(test_what_is_wrong_with_psvs),
		T(test_keys_that_signatures_exclude),
		cmocka_unit_test(test_memory_that_is_not_mapped),
	};

	return cmocka_run_group_tests_name("engine sig errors", tests, NULL, NULL);
}
