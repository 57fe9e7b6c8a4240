/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The effects of successful mkey commands: memory, lists, page offsets. */
#include "fw/test.h"
#include "hw/mkey.h"
#include "hw/umem.h"
#include "wire/prm/mkey.h"
#include "wire/prm/umem.h"

static void test_mkey_maps_its_part_of_the_umem(void **state)
{
	struct env *e = *state;
	const struct hw_mkey *m = hw_mkey(&e->s, e->mkey << 8);
	const void *mkc = LAYOUT_IN(query_mkey_out, memory_key_mkey_entry, e->out);

	assert_int_equal(m->key, e->mkey << 8 | 0x5a);
	assert_int_equal(m->va, (uintptr_t)e->buf + 0x1000);
	assert_int_equal(m->start, (uintptr_t)e->buf + 0x1000);
	assert_int_equal(m->len, 0x3000);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ);
	assert_int_equal(m->valid, 1);
	b_id(e, PRM_OP_QUERY_MKEY, e->mkey);
	assert_int_equal(run(e, e->in, IN(query_mkey), OUT(query_mkey)), FW_OK);
	assert_int_equal(LAYOUT_GET(mkc, mkc, len), 0x3000);
	assert_int_equal(run_on(e, PRM_OP_DESTROY_MKEY, e->mkey), FW_OK);
	assert_null(hw_mkey(&e->s, e->mkey << 8));
}

/* The first translation is a whole page: the start address gives the offset in it. */
static void test_mkey_iova_keeps_its_page_offset(void **state)
{
	struct env *e = *state;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	uint32_t key;

	b_create_mkey(e);
	LAYOUT_SET(mkc, mkc, start_addr, 0x7000010);
	LAYOUT_SET(mkc, mkc, len, 0x100);
	key = make(e, IN(create_mkey));
	assert_int_equal(hw_mkey(&e->s, key << 8)->va, (uintptr_t)e->buf + 0x1010);
}

/* A page may be as large as the umem, no larger (test_rows_mem.c). */
static void test_mkey_of_large_pages(void **state)
{
	struct env *e = *state;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	uint32_t key;

	b_create_mkey(e);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_offset, 0);
	LAYOUT_SET(mkc, mkc, log_page_size, 20);
	LAYOUT_SET(mkc, mkc, start_addr, (uintptr_t)e->buf);
	LAYOUT_SET(mkc, mkc, len, TEST_BUF - 0x1000);
	key = make(e, IN(create_mkey));
	assert_int_equal(hw_mkey(&e->s, key << 8)->va, (uintptr_t)e->buf);
}

/* Who may use a key is compared at its use: no such QP is needed before. */
static void test_mkey_of_a_qp_that_does_not_exist(void **state)
{
	struct env *e = *state;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	uint32_t key;

	b_create_mkey(e);
	LAYOUT_SET(mkc, mkc, qpn, 0x123456);
	key = make(e, IN(create_mkey));
	assert_int_equal(hw_mkey(&e->s, key << 8)->qpn, 0x123456);
}

/* A list of `n` entries for a key that may have `room`; returns the input's length. */
static uint32_t b_create_klm(struct env *e, uint32_t mode, uint32_t room, uint32_t n)
{
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	uint8_t *list = e->in + LAYOUT_SZ(create_mkey_in);

	b_create_mkey(e);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_valid, 0);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_id, 0);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_offset, 0);
	LAYOUT_SET(create_mkey_in, e->in, translations_octword_actual_size, n);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, mode);
	LAYOUT_SET(mkc, mkc, translations_octword_size, room);
	for (uint32_t i = 0; i < n * 16; i++)
		list[i] = (uint8_t)(i * 7 + i / 256);
	return LAYOUT_SZ(create_mkey_in) + n * 16;
}

static uint32_t klms(struct env *e)
{
	uint32_t n = 0;

	seg_for_each_live (&e->s, SEG_T_KLM, i)
		n++;
	return n;
}

static void test_indirect_mkeys_keep_their_list(void **state)
{
	struct env *e = *state;
	const struct hw_mkey *m;
	uint32_t idx;

	for (uint32_t mode = PRM_MKC_KLM; mode <= PRM_MKC_KSM; mode++) {
		idx = make(e, b_create_klm(e, mode, 512, 130));
		m = hw_mkey(&e->s, idx << 8);
		assert_int_equal(m->mode, mode);
		assert_int_equal(m->klm_n, 130);
		assert_int_equal(m->klm_max, 512);
		assert_int_equal(m->slow, 1);
		assert_int_equal(m->free, 0);
		assert_int_equal(klms(e), 9); /* each block has 60 entries */
		for (uint32_t i = 0; i < 130; i++)
			assert_memory_equal(hw_klm_entry(&e->s, m, i),
					    e->in + LAYOUT_SZ(create_mkey_in) + i * 16, 16);
		assert_non_null(hw_klm_entry(&e->s, m, 511));
		assert_null(hw_klm_entry(&e->s, m, 540));
		assert_int_equal(run_on(e, PRM_OP_DESTROY_MKEY, idx), FW_OK);
		assert_int_equal(klms(e), 0);
	}
	/* a list of length 0, over the whole address space */
	b_create_klm(e, PRM_MKC_KSM, 0, 0);
	LAYOUT_SET(mkc, LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in), length64, 1);
	idx = make(e, IN(create_mkey));
	assert_int_equal(hw_mkey(&e->s, idx << 8)->length64, 1);
	assert_int_equal(klms(e), 0);
}

static void test_free_mkeys_wait_for_a_umr(void **state)
{
	struct env *e = *state;
	uint32_t len = b_create_klm(e, PRM_MKC_KLM, 4, 0), idx;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);

	LAYOUT_SET(mkc, mkc, free, 1);
	LAYOUT_SET(mkc, mkc, umr_en, 1);
	LAYOUT_SET(mkc, mkc, en_rinval, 1);
	idx = make(e, len);
	assert_int_equal(hw_mkey(&e->s, idx << 8)->free, 1);
	assert_int_equal(hw_mkey(&e->s, idx << 8)->umr_en, 1);
	assert_int_equal(hw_mkey(&e->s, idx << 8)->en_rinval, 1);
	b_id(e, PRM_OP_QUERY_MKEY, idx);
	assert_int_equal(run(e, e->in, IN(query_mkey), OUT(query_mkey)), FW_OK);
	assert_int_equal(
		LAYOUT_GET(mkc, LAYOUT_IN(query_mkey_out, memory_key_mkey_entry, e->out), free), 1);
}

/* The BSF is behind the longest list. */
static void test_signature_mkeys_have_space_for_a_bsf(void **state)
{
	struct env *e = *state;
	uint32_t len = b_create_klm(e, PRM_MKC_KLM, 60, 0), idx;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	const struct hw_mkey *m;

	LAYOUT_SET(mkc, mkc, free, 1);
	LAYOUT_SET(mkc, mkc, umr_en, 1);
	LAYOUT_SET(mkc, mkc, bsf_en, 1);
	LAYOUT_SET(mkc, mkc, bsf_octword_size, 4);
	idx = make(e, len);
	m = hw_mkey(&e->s, idx << 8);
	assert_int_equal(m->klm_max, 60);
	assert_int_equal(m->bsf_max, 4);
	assert_int_equal(m->bsf, 1);
	assert_int_equal(klms(e), 2);
	assert_non_null(hw_klm_entry(&e->s, m, 63));
	assert_int_equal(run_on(e, PRM_OP_DESTROY_MKEY, idx), FW_OK);
	assert_int_equal(klms(e), 0);
}

/* Blocks whose maker died go with the file; those of other keys stay. */
static void test_lists_go_with_their_file(void **state)
{
	struct env *e = *state;
	struct hw_mkey *half;
	uint32_t idx, k, block;

	make(e, b_create_klm(e, PRM_MKC_KLM, 512, 512));
	idx = make(e, b_create_klm(e, PRM_MKC_KLM, 61, 61));
	block = hw_mkey(&e->s, idx << 8)->klm;
	/* half made, with a list that another key owns by now */
	assert_int_equal(seg_alloc(&e->s, SEG_T_MKEY, e->file + 1, &k), 0);
	half = seg_at(&e->s, SEG_T_MKEY, k);
	half->hca = e->hca;
	half->klm = block;
	fw_mkey_release(&e->s, k);
	assert_int_equal(klms(e), 11);
	assert_int_equal(seg_alloc(&e->s, SEG_T_KLM, e->file + 1, &k), 0);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(klms(e), 0);
}

static void test_driver_mkey_takes_its_page_list(void **state)
{
	struct env *e = *state;
	struct fw_ctx c = e->kernel;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	struct fw_mem mem = {.mem = mem_self(&e->s), .va = (uintptr_t)e->buf + 5, .len = 77};

	c.mem = &mem;
	b_create_mkey(e);
	LAYOUT_SET(create_mkey_in, e->in, mkey_umem_valid, 0);
	LAYOUT_SET(mkc, mkc, start_addr, 0x5);
	LAYOUT_SET(mkc, mkc, len, 77);
	assert_int_equal(run_as(e, &c, e->in, IN(create_mkey), 0x10), FW_OK);
	assert_int_equal(hw_mkey(&e->s, out_id(e) << 8)->va, (uintptr_t)e->buf + 5);
}

static void test_a_key_registered_anew_keeps_its_number(void **state)
{
	struct env *e = *state;
	struct hw_mkey *m = hw_mkey(&e->s, e->mkey << 8);
	uint32_t key = m->key, refs = hw_umem(&e->s, e->umem)->refs;
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, e->in);
	struct fw_ctx c = e->kernel;

	c.mem = &e->mem;
	b_create_mkey(e);
	LAYOUT_SET(mkc, mkc, rw, 1);
	LAYOUT_SET(mkc, mkc, len, 0x5000);
	assert_int_equal(fw_umr(&c, key, e->in), 0);
	assert_int_equal(m->key, key);
	assert_int_equal(m->len, 0x5000);
	assert_true(m->access & HW_ACC_REMOTE_WRITE);
	assert_int_equal(m->valid, 1);
	/* the key has memory of its own now */
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, refs - 1);
	LAYOUT_SET(mkc, mkc, pd, 0xfff123);
	assert_int_equal(fw_umr(&c, key, e->in), -22);
	assert_int_equal(m->valid, 1);
	assert_int_equal(m->pdn, e->pd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_mkey_maps_its_part_of_the_umem),
		env_test(test_mkey_iova_keeps_its_page_offset),
		env_test(test_mkey_of_large_pages),
		env_test(test_mkey_of_a_qp_that_does_not_exist),
		env_test(test_indirect_mkeys_keep_their_list),
		env_test(test_free_mkeys_wait_for_a_umr),
		env_test(test_signature_mkeys_have_space_for_a_bsf),
		env_test(test_lists_go_with_their_file),
		env_test(test_driver_mkey_takes_its_page_list),
		env_test(test_a_key_registered_anew_keeps_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
