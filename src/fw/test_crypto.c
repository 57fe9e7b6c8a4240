/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data encryption keys and crypto logins. */
#include "fw/test.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "wire/prm/gobj.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/mkey.h"

/* Made with libcrypto's EVP_aes_128_wrap() and the adapter's import KEK. */
/* The first 32, or all 64, of the bytes 0, 1, 2..., and perhaps a key tag. */
static const uint8_t wrapped_short[] = {
	0x19, 0xa5, 0xe3, 0x7a, 0xaf, 0x00, 0x67, 0x36, 0x26, 0xeb, 0xcc, 0xa7, 0x4f, 0x7b,
	0xdb, 0xcc, 0x93, 0xdb, 0x5c, 0x48, 0x7a, 0x2d, 0x47, 0xad, 0x80, 0xe0, 0x84, 0x0d,
	0x3a, 0xca, 0x91, 0xbb, 0x54, 0x75, 0xe3, 0x07, 0x55, 0x4a, 0xf1, 0x48,
};
static const uint8_t wrapped_short_tag[] = {
	0x57, 0x21, 0xfd, 0x1d, 0x3f, 0x83, 0x66, 0x58, 0xea, 0xf8, 0xef, 0x9f,
	0xf3, 0x14, 0x43, 0xde, 0xc5, 0xe9, 0xfb, 0xb7, 0xa5, 0xc1, 0x6b, 0x7c,
	0x08, 0x07, 0x16, 0xe0, 0xd5, 0xa0, 0xe4, 0x49, 0x5d, 0x56, 0xd3, 0xc3,
	0xcd, 0x47, 0x4b, 0xef, 0x06, 0x88, 0x91, 0x0b, 0x75, 0xd5, 0xac, 0x35,
};
static const uint8_t wrapped_long[] = {
	0x9c, 0x7d, 0x46, 0x10, 0xcc, 0x45, 0x0c, 0x14, 0x20, 0xfc, 0x15, 0x8f, 0x0d, 0x8e, 0x4d,
	0xff, 0x79, 0x73, 0x56, 0x9f, 0x4a, 0x5b, 0xf7, 0xf2, 0x26, 0x16, 0xbd, 0x27, 0xd0, 0x7e,
	0xe1, 0xd4, 0xde, 0xa6, 0xd1, 0x99, 0x6a, 0xde, 0x0d, 0x63, 0x5a, 0xe3, 0x6e, 0xd2, 0x4a,
	0x18, 0x15, 0xa8, 0xe9, 0xab, 0x0f, 0x64, 0x17, 0x6c, 0x4a, 0x8a, 0x9a, 0x8f, 0x6b, 0x1d,
	0x4e, 0x70, 0xa1, 0x27, 0x76, 0x9d, 0xbc, 0xf5, 0x58, 0x15, 0xa3, 0x49,
};
static const uint8_t wrapped_long_tag[] = {
	0x8b, 0x29, 0x46, 0x0e, 0x8b, 0x29, 0xdc, 0x78, 0x6a, 0xa7, 0x81, 0xb3, 0xcc, 0xf3,
	0x4a, 0x20, 0xeb, 0x99, 0x33, 0x81, 0xf7, 0x55, 0x34, 0x2b, 0x39, 0x46, 0x6b, 0x28,
	0x62, 0x8f, 0xd1, 0xe8, 0xc0, 0x49, 0x87, 0x96, 0x4f, 0xe4, 0xe8, 0xec, 0xa6, 0xec,
	0x80, 0xda, 0xfd, 0x43, 0xc1, 0x46, 0xe6, 0x61, 0xb3, 0x3b, 0x40, 0xb8, 0xc2, 0xc5,
	0x68, 0x5a, 0x62, 0x16, 0x73, 0xbf, 0xd4, 0x0b, 0x6a, 0x33, 0xfc, 0xc7, 0xea, 0x1e,
	0x1d, 0x00, 0x5d, 0x1c, 0x84, 0x94, 0x22, 0x0f, 0xed, 0xff,
};

static uint32_t made(struct env *e)
{
	return LAYOUT_GET32(create_general_object_out, e->out, obj_id);
}

static uint32_t gobj(struct env *e, uint16_t opcode, uint16_t type, uint32_t id)
{
	LAYOUT_SET(query_general_object_in, cmd_init(e, opcode, type), obj_id, id);
	return run(e, e->in, IN(query_general_object), DEK_IN);
}

static uint32_t login(struct env *e)
{
	b_gobj_login(e);
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	return made(e);
}

static const struct hw_dek *dek_of(struct env *e, uint32_t id)
{
	const struct hw_obj *o = hw_obj(&e->s, id);

	assert_non_null(o);
	assert_int_equal(o->kind, HW_OBJ_DEK);
	assert_int_equal(o->ref[0].idx, e->pd);
	return (const struct hw_dek *)o->ctx;
}

/* The bytes count up from 0. */
static void check_key(const struct hw_dek *d, uint32_t bytes, const char *tag)
{
	assert_int_equal(d->bytes, bytes);
	for (uint32_t i = 0; i < sizeof(d->key); i++)
		assert_int_equal(d->key[i], i < 2 * bytes ? i : 0);
	assert_int_equal(d->has_keytag, !!tag);
	assert_memory_equal(d->keytag, tag ? tag : "\0\0\0\0\0\0\0\0", 8);
}

static void a_plaintext_key_with_all_that_query_returns(void **state)
{
	struct env *e = *state;
	uint8_t *body = e->in + 0x10, *key = LAYOUT_IN(encryption_key_obj, key, body);
	uint32_t id;

	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	LAYOUT_SET(encryption_key_obj, body, key_size, PRM_DEK_SIZE_256);
	LAYOUT_SET(encryption_key_obj, body, has_keytag, 1);
	LAYOUT_SET(encryption_key_obj, body, opaque, 0x6f70617175650a00);
	for (uint8_t i = 0; i < 64; i++)
		key[i] = i;
	memcpy(key + 64, "its tag.", 8);
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	id = made(e);
	check_key(dek_of(e, id), 32, "its tag.");
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_DEK, id), FW_OK);
	body = e->out + 0x10;
	assert_int_equal(LAYOUT_GET(encryption_key_obj, body, state), PRM_DEK_READY);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, body, key_size), PRM_DEK_SIZE_256);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, body, has_keytag), 1);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, body, key_purpose), PRM_DEK_AES_XTS);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, body, pd), e->pd);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, body, opaque), 0x6f70617175650a00);
	key = LAYOUT_IN(encryption_key_obj, key, body); /* never shown */
	for (uint32_t i = 0; i < PRM_DEK_KEY_BYTES; i++)
		assert_int_equal(key[i], 0);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_DEK, id), FW_OK);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_DEK, id), FW_BAD_RES);
}

/* The PD stays while a key is in it. */
static void a_key_holds_its_pd(void **state)
{
	struct env *e = *state;
	uint32_t was = e->pd, id;

	cmd_init(e, PRM_OP_ALLOC_PD, 0);
	e->pd = make(e, IN(alloc_pd));
	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	id = made(e);
	b_id(e, PRM_OP_DEALLOC_PD, e->pd);
	assert_int_equal(run(e, e->in, 0x10, 0x10), FW_BAD_RES_STATE);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_DEK, id), FW_OK);
	b_id(e, PRM_OP_DEALLOC_PD, e->pd);
	assert_int_equal(run(e, e->in, 0x10, 0x10), FW_OK);
	e->pd = was;
}

static void another_key_is_loaded(void **state)
{
	struct env *e = *state;
	uint32_t id;

	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	LAYOUT_SET(encryption_key_obj, e->in + 0x10, opaque, 77);
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	id = made(e);
	b_gobj_dek(e, PRM_OP_MODIFY_GENERAL_OBJECT, id);
	((uint8_t *)LAYOUT_IN(encryption_key_obj, key, e->in + 0x10))[0] = 0x99;
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	assert_int_equal(dek_of(e, id)->key[0], 0x99);
	assert_int_equal(dek_of(e, id)->key[1], 1);
	assert_int_equal(hw_obj(&e->s, id)->state, 2);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_DEK, id), FW_OK);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, e->out + 0x10, opaque), 77);
}

/* A process died while it loaded another key into it. */
static void a_half_loaded_key_is_in_error(void **state)
{
	struct env *e = *state;
	uint32_t id;

	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	id = made(e);
	hw_obj(&e->s, id)->state = 5;
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_DEK, id), FW_OK);
	assert_int_equal(LAYOUT_GET(encryption_key_obj, e->out + 0x10, state), PRM_DEK_ERROR);
	b_gobj_dek(e, PRM_OP_MODIFY_GENERAL_OBJECT, id);
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	assert_int_equal(hw_obj(&e->s, id)->state, 6);
}

static void wrapped_keys_of_all_kinds(void **state)
{
	static const struct {
		const uint8_t *key;
		size_t n;
		uint32_t size, tag;
	} kinds[] = {
		{wrapped_short, sizeof(wrapped_short), PRM_DEK_SIZE_128, 0},
		{wrapped_short_tag, sizeof(wrapped_short_tag), PRM_DEK_SIZE_128, 1},
		{wrapped_long, sizeof(wrapped_long), PRM_DEK_SIZE_256, 0},
		{wrapped_long_tag, sizeof(wrapped_long_tag), PRM_DEK_SIZE_256, 1},
	};
	struct env *e = *state;

	login(e);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint8_t *body = e->in + 0x10;

		b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
		LAYOUT_SET(encryption_key_obj, body, key_size, kinds[i].size);
		LAYOUT_SET(encryption_key_obj, body, has_keytag, kinds[i].tag);
		memcpy(LAYOUT_IN(encryption_key_obj, key, body), kinds[i].key, kinds[i].n);
		assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
		check_key(dek_of(e, made(e)), kinds[i].size ? 32 : 16,
			  kinds[i].tag ? "key tag!" : NULL);
		/* another length than that of the key */
		LAYOUT_SET(encryption_key_obj, body, has_keytag, !kinds[i].tag);
		assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_BAD_PARAM);
	}
}

/* A key stays when the session ends, but is not shown any more. */
static void a_session_ends(void **state)
{
	struct env *e = *state;
	uint32_t in = login(e), dek;

	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	memcpy(LAYOUT_IN(encryption_key_obj, key, e->in + 0x10), wrapped_short,
	       sizeof(wrapped_short));
	assert_int_equal(run(e, e->in, DEK_IN, 0x10), FW_OK);
	dek = made(e);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_CRYPTO_LOGIN, in), FW_OK);
	assert_int_equal(LAYOUT_GET(crypto_login_obj, e->out + 0x10, state),
			 PRM_CRYPTO_LOGIN_VALID);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_DEK, dek), FW_OK);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_CRYPTO_LOGIN, in), FW_OK);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_DEK, dek), FW_BAD_RES_STATE);
	check_key(dek_of(e, dek), 16, NULL);
	assert_int_equal(gobj(e, PRM_OP_DESTROY_GENERAL_OBJECT, PRM_GOBJ_DEK, dek), FW_OK);
	assert_int_equal(gobj(e, PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_CRYPTO_LOGIN, in),
			 FW_BAD_RES);
}

static uint32_t run_other(struct env *e, uint32_t inlen)
{
	struct fw_ctx other = e->user;

	other.uid = TEST_UID + 1;
	LAYOUT_SET(cmd_in, e->in, uid, other.uid);
	return run_as(e, &other, e->in, inlen, 0x10);
}

static uint32_t wrapped_by_other(struct env *e)
{
	b_gobj_dek(e, PRM_OP_CREATE_GENERAL_OBJECT, 0);
	memcpy(LAYOUT_IN(encryption_key_obj, key, e->in + 0x10), wrapped_short,
	       sizeof(wrapped_short));
	return run_other(e, DEK_IN);
}

/* The session of one context is not another's. */
static void a_session_is_of_one_context(void **state)
{
	struct env *e = *state;

	login(e);
	cmd_init(e, PRM_OP_ALLOC_PD, 0);
	assert_int_equal(run_other(e, IN(alloc_pd)), FW_OK);
	e->pd = LAYOUT_GET32(alloc_pd_out, e->out, pd);
	assert_int_equal(wrapped_by_other(e), FW_BAD_RES_STATE);
	b_gobj_login(e);
	assert_int_equal(run_other(e, DEK_IN), FW_OK);
	assert_int_equal(wrapped_by_other(e), FW_OK);
}

static const void *caps(struct env *e, uint32_t group)
{
	cmd_init(e, PRM_OP_QUERY_HCA_CAP, group << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	return LAYOUT_IN(query_hca_cap_out, capability, e->out);
}

/* Every mode of every model. */
static void caps_say_what_the_adapter_has(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);

	for (uint32_t i = 0; i < 6; i++) {
		bool has = i / 2 != HW_CRYPTO_NONE, wraps = i / 2 == HW_CRYPTO_WRAPPED;
		const void *cap;

		hca->model = i % 2;
		hca->crypto = i / 2;
		cap = caps(e, 0);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, crypto), has);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, aes_xts_single_block_le_tweak),
				 has && hca->model == HW_CX6);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, aes_xts_multi_block_be_tweak),
				 has && hca->model == HW_CX7);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, log_max_bsf_list_size), has ? 3 : 2);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, general_obj_types) >> 0xc & 1, has);
		assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, general_obj_types) >> 0x1f & 1,
				 wraps);
		cap = caps(e, 0x1a);
		assert_int_equal(LAYOUT_GET(crypto_caps, cap, wrapped_crypto_operational), wraps);
		assert_int_equal(LAYOUT_GET(crypto_caps, cap, wrapped_import_method),
				 wraps ? PRM_CRYPTO_IMPORT_AES_XTS : 0);
		assert_int_equal(LAYOUT_GET(crypto_caps, cap, failed_selftests), 0);
		assert_int_equal(LAYOUT_GET(crypto_caps, cap, log_max_num_deks), has ? 16 : 0);
	}
}

/* Keys for crypto: with one BSF or two. */
static void keys_for_crypto(void **state)
{
	static const uint32_t sizes[] = {HW_BSF_ENTRIES, HW_BSF_MAX};
	struct env *e = *state;

	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		void *in = cmd_init(e, PRM_OP_CREATE_MKEY, 0);
		void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);
		const struct hw_mkey *mk;

		LAYOUT_SET(mkc, mkc, access_mode_1_0, PRM_MKC_KLM);
		LAYOUT_SET(mkc, mkc, free, 1);
		LAYOUT_SET(mkc, mkc, umr_en, 1);
		LAYOUT_SET(mkc, mkc, pd, e->pd);
		LAYOUT_SET(mkc, mkc, translations_octword_size, 4);
		LAYOUT_SET(mkc, mkc, qpn, 0xffffff);
		LAYOUT_SET(mkc, mkc, crypto_en, 1);
		LAYOUT_SET(mkc, mkc, bsf_en, 1);
		LAYOUT_SET(mkc, mkc, bsf_octword_size, sizes[i]);
		assert_int_equal(run(e, e->in, IN(create_mkey), OUT(create_mkey)), FW_OK);
		mk = hw_mkey(&e->s, LAYOUT_GET32(create_mkey_out, e->out, mkey_index) << 8);
		assert_int_equal(mk->bsf_max, sizes[i]);
		assert_int_equal(mk->crypto, 1);
		assert_non_null(hw_klm_entry(&e->s, mk, 4 + sizes[i] - 1));
		hw_hca(&e->s, e->hca)->crypto = HW_CRYPTO_NONE;
		assert_int_equal(run(e, e->in, IN(create_mkey), OUT(create_mkey)), FW_BAD_PARAM);
		hw_hca(&e->s, e->hca)->crypto = HW_CRYPTO_PLAINTEXT;
	}
}

#define crypto_test(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		crypto_test(a_plaintext_key_with_all_that_query_returns),
		crypto_test(a_key_holds_its_pd),
		crypto_test(another_key_is_loaded),
		crypto_test(a_half_loaded_key_is_in_error),
		crypto_test(wrapped_keys_of_all_kinds),
		crypto_test(a_session_ends),
		crypto_test(a_session_is_of_one_context),
		crypto_test(caps_say_what_the_adapter_has),
		crypto_test(keys_for_crypto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
