/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Data encryption keys (DEKs), and logins to load wrapped ones. Called by cmd_gobj.c under the
 * HCA's lock; the engine reads a DEK without it (hw_dek).
 *
 * An adapter takes keys in plaintext, or wrapped by a key-encryption key (import KEK) in a session
 * that a credential opens: libmlx5 allows one of the two (check_dek_import_method() in its
 * verbs.c). A crypto officer loads KEKs and credentials into a card; an adapter here comes with one
 * of each, which doc/SUPPORT.md publishes, as nothing here is secret.
 */
#include "fw/priv.h"

#include "hw/hca.h"
#include "util/aes.h"
#include "wire/prm/gobj.h"

static const char import_kek[] = "softhca demo KEK";
static const char credential[] = "softhca: the credential of every adapter";
#define KEK_BYTES (sizeof(import_kek) - 1)
#define WRAP_BYTES 8 /* what wrapping adds */

static_assert(KEK_BYTES == 16, "a key of 128 bits");
static_assert(sizeof(credential) - 1 + WRAP_BYTES == PRM_CREDENTIAL_BYTES,
	      "the wrapped credential fills its field");

#define DEK(f) LAYOUT_GET(encryption_key_obj, body, f)

bool fw_has_crypto(const struct fw_call *k)
{
	return k->hca->crypto != HW_CRYPTO_NONE;
}

bool fw_wraps_keys(const struct fw_call *k)
{
	return k->hca->crypto == HW_CRYPTO_WRAPPED;
}

/*
 * mlx5dv_dek_create(3): with wrapped keys, making and querying one needs a login. That it must be
 * of the same context is inferred from mlx5dv_crypto_login(3).
 */
static bool may_import(struct fw_call *k)
{
	if (!fw_wraps_keys(k))
		return true;
	seg_for_each_live (k->s, SEG_T_OBJ, i) {
		const struct hw_obj *o = seg_at(k->s, SEG_T_OBJ, i);

		if (o->kind == HW_OBJ_LOGIN && fw_ready(&o->flags) && o->hca == k->c->hca &&
		    o->uid == k->c->uid)
			return true;
	}
	return false;
}

/* Take the key out of a command. */
static enum fw_r crypto_dek_read(struct fw_call *k, const void *body, struct hw_dek *dek)
{
	const uint8_t *from = LAYOUT_IN(encryption_key_obj, key, body);
	uint8_t plain[PRM_DEK_KEY_BYTES];
	struct aes_key kek;
	uint32_t n;

	if (DEK(key_purpose) != PRM_DEK_AES_XTS)
		return FW_R_DEK_PURPOSE;
	if (DEK(key_size) > PRM_DEK_SIZE_256)
		return FW_R_DEK_SIZE;
	if (!may_import(k))
		return FW_R_DEK_LOGIN;
	dek->bytes = DEK(key_size) == PRM_DEK_SIZE_256 ? 32 : 16;
	dek->has_keytag = (uint32_t)DEK(has_keytag);
	n = 2 * dek->bytes + (dek->has_keytag ? (uint32_t)sizeof(dek->keytag) : 0);
	if (fw_wraps_keys(k)) {
		aes_set(&kek, (const uint8_t *)import_kek, KEK_BYTES);
		if (!aes_unwrap(&kek, from, n + WRAP_BYTES, plain))
			return FW_R_DEK_WRAP;
		from = plain;
	}
	memset(dek->key, 0, sizeof(dek->key));
	memset(dek->keytag, 0, sizeof(dek->keytag));
	memcpy(dek->key, from, 2 * dek->bytes);
	memcpy(dek->keytag, from + 2 * dek->bytes, n - 2 * dek->bytes);
	return FW_R_NONE;
}

enum fw_r fw_dek_create(struct fw_call *k, const void *body, uint32_t *id)
{
	struct hw_obj proto = {.kind = HW_OBJ_DEK, .ref = {fw_objref(SEG_T_PD, (uint32_t)DEK(pd))}};
	struct hw_dek dek = {0};
	enum fw_r r;

	if (DEK(modify_field_select))
		return FW_R_DEK_SELECT;
	if (!fw_pd(k, (uint32_t)DEK(pd)))
		return FW_R_DEK_PD;
	r = crypto_dek_read(k, body, &dek);
	if (r)
		return r;
	be64_store(dek.opaque, DEK(opaque));
	memcpy(proto.ctx, &dek, sizeof(dek));
	return fw_obj_make(k, &proto, id);
}

/*
 * Load another key, as mlx5_crypto_modify_dek_key() of Linux 6.3 does (net/mlx5's lib/crypto.c);
 * everything else stays.
 */
enum fw_r fw_dek_modify(struct fw_call *k, uint32_t id, const void *body)
{
	struct hw_obj *o = fw_obj(k, HW_OBJ_DEK, id);
	struct hw_dek dek;
	uint32_t state;
	enum fw_r r;

	if (!o)
		return FW_R_GOBJ_NONE;
	if (DEK(modify_field_select) != PRM_DEK_SELECT_KEY)
		return FW_R_DEK_SELECT;
	if (DEK(pd) != o->ref[0].idx)
		return FW_R_DEK_MODIFY_PD;
	memcpy(&dek, o->ctx, sizeof(dek));
	r = crypto_dek_read(k, body, &dek);
	if (r)
		return r;
	state = atomic_load(&o->state) & ~1u;
	atomic_store(&o->state, state + 1);
	atomic_thread_fence(memory_order_seq_cst);
	memcpy(o->ctx, &dek, sizeof(dek));
	atomic_store(&o->state, state + 2);
	return FW_R_NONE;
}

enum fw_r fw_dek_query(struct fw_call *k, uint32_t id, void *body)
{
	const struct hw_obj *o = fw_obj(k, HW_OBJ_DEK, id);
	struct hw_dek dek;

	if (!o)
		return FW_R_GOBJ_NONE;
	if (!may_import(k))
		return FW_R_DEK_LOGIN;
	memcpy(&dek, o->ctx, sizeof(dek));
	LAYOUT_SET(encryption_key_obj, body, state,
		   hw_dek_changes(atomic_load(&o->state)) ? PRM_DEK_ERROR : PRM_DEK_READY);
	LAYOUT_SET(encryption_key_obj, body, key_size,
		   dek.bytes == 32 ? PRM_DEK_SIZE_256 : PRM_DEK_SIZE_128);
	LAYOUT_SET(encryption_key_obj, body, has_keytag, dek.has_keytag);
	LAYOUT_SET(encryption_key_obj, body, key_purpose, PRM_DEK_AES_XTS);
	LAYOUT_SET(encryption_key_obj, body, pd, o->ref[0].idx);
	LAYOUT_SET(encryption_key_obj, body, opaque, be64_load(dek.opaque));
	return FW_R_NONE;
}

/* Keys may name it, as they may name a PSV: using them fails from now on. */
enum fw_r fw_dek_destroy(struct fw_call *k, uint32_t id)
{
	return fw_obj_destroy(k, HW_OBJ_DEK, id, FW_R_GOBJ_NONE, FW_R_GOBJ_NONE);
}

enum fw_r fw_login_create(struct fw_call *k, const void *body, uint32_t *id)
{
	struct hw_obj proto = {.kind = HW_OBJ_LOGIN};
	uint8_t plain[PRM_CREDENTIAL_BYTES];
	struct aes_key kek;

	if (LAYOUT_GET(crypto_login_obj, body, modify_field_select))
		return FW_R_LOGIN_SELECT;
	if (LAYOUT_GET(crypto_login_obj, body, credential_pointer))
		return FW_R_LOGIN_CREDENTIAL;
	if (LAYOUT_GET(crypto_login_obj, body, session_import_kek_ptr))
		return FW_R_LOGIN_KEK;
	aes_set(&kek, (const uint8_t *)import_kek, KEK_BYTES);
	if (!aes_unwrap(&kek, LAYOUT_IN(crypto_login_obj, credential, body), PRM_CREDENTIAL_BYTES,
			plain) ||
	    memcmp(plain, credential, sizeof(credential) - 1))
		return FW_R_LOGIN_WRONG;
	return fw_obj_make(k, &proto, id);
}

/* A session stays valid: no command deletes the credential or the KEK. */
enum fw_r fw_login_query(struct fw_call *k, uint32_t id, void *body)
{
	if (!fw_obj(k, HW_OBJ_LOGIN, id))
		return FW_R_GOBJ_NONE;
	LAYOUT_SET(crypto_login_obj, body, state, PRM_CRYPTO_LOGIN_VALID);
	return FW_R_NONE;
}

enum fw_r fw_login_destroy(struct fw_call *k, uint32_t id)
{
	return fw_obj_destroy(k, HW_OBJ_LOGIN, id, FW_R_GOBJ_NONE, FW_R_GOBJ_NONE);
}
