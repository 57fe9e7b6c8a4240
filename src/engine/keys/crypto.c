/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Crypto keys (mlx5dv_wr_set_mkey_crypto(3)): their format, their data encryption key, and the
 * units of a transfer. Called by sig.c and sig_copy.c, which move the bytes.
 *
 * Inferred, as no document says it: a unit's number is its place in the key, as a block's of
 * signatures; a transfer begins at the start of a unit.
 */
#include "engine/keys/keys.h"
#include "engine/keys/sig.h"

#include "hw/hca.h"
#include "hw/obj.h"

/*
 * The four orders by mlx5dv_wr_set_mkey_crypto(3), table of signature_crypto_order: with
 * "signature before crypto on TX" the bytes on the wire's side of the signatures are crypted, else
 * those on the memory's side.
 */
static const struct {
	bool on_wire, encrypts;
} orders[] = {
	[WQE_CRYPTO_WIRE_SIGNATURE] = {true, true},
	[WQE_CRYPTO_MEMORY_SIGNATURE] = {false, false},
	[WQE_CRYPTO_RAW_WIRE] = {false, true},
	[WQE_CRYPTO_RAW_MEMORY] = {true, false},
};

bool crypto_parse(const uint8_t *bsf, struct crypto_fmt *f)
{
	uint32_t order = LAYOUT_GET32(wqe_crypto_bsf, bsf, enc_order);
	uint32_t unit = sig_block_size(LAYOUT_GET32(wqe_crypto_bsf, bsf, bs_pointer));

	if (LAYOUT_GET(wqe_crypto_bsf, bsf, enc_standard) != WQE_CRYPTO_AES_XTS ||
	    order >= sizeof(orders) / sizeof(orders[0]) || !unit)
		return false;
	*f = (struct crypto_fmt){.unit = unit,
				 .on_wire = orders[order].on_wire,
				 .encrypts = orders[order].encrypts,
				 .dek = LAYOUT_GET32(wqe_crypto_bsf, bsf, dek_pointer),
				 .keytag = LAYOUT_GET(wqe_crypto_bsf, bsf, keytag),
				 .longest = LAYOUT_GET(wqe_crypto_bsf, bsf, raw_data_size)};
	memcpy(f->tweak, bsf + WQE_CRYPTO_TWEAK, sizeof(f->tweak));
	return true;
}

/*
 * Copies a DEK. False: the key is unknown, of another PD, has another tag, or is being changed. A
 * DEK may be changed or freed at any time.
 */
static bool dek_read(struct seg *s, const struct hw_mkey *mk, const struct crypto_fmt *f,
		     struct hw_dek *dek)
{
	const struct hw_obj *o = sig_obj(s, HW_OBJ_DEK, f->dek, mk->pdn);
	uint32_t state, gen;

	if (!o)
		return false;
	gen = o->gen;
	state = atomic_load_explicit(&o->state, memory_order_acquire);
	memcpy(dek, o->ctx, sizeof(*dek));
	atomic_thread_fence(memory_order_acquire);
	return !hw_dek_changes(state) && state == atomic_load(&o->state) && gen == o->gen &&
	       hw_obj(s, f->dek) == o && (dek->bytes == 16 || dek->bytes == 32) &&
	       (!dek->has_keytag || be64_load(dek->keytag) == f->keytag);
}

/* mlx5dv_wr_set_mkey_crypto(3), NOTES: lengths that XTS can encrypt. */
static bool unit_fits(const struct crypto_fmt *f, uint64_t n)
{
	return n == f->unit || (n % AES_BLOCK == 0 && n <= f->unit - AES_BLOCK);
}

enum eng_why crypto_check(struct seg *s, const struct hw_mkey *mk, const struct crypto_fmt *f,
			  uint64_t at, uint64_t n)
{
	const struct hw_hca *hca = hw_hca(s, mk->hca);
	struct hw_dek dek;

	if (!dek_read(s, mk, f, &dek))
		return ENG_W_CRYPTO_KEY;
	if (at % f->unit)
		return ENG_W_LKEY_RANGE;
	if (!hca || (!hw_hca_multi_block(hca) && n > f->unit))
		return ENG_W_CRYPTO_LENGTH;
	return unit_fits(f, n % f->unit) ? ENG_W_NONE : ENG_W_CRYPTO_LENGTH;
}

/* tweak += n; little-endian */
static void tweak_add(uint8_t tweak[AES_BLOCK], uint64_t n)
{
	for (uint32_t i = 0, carry = 0; i < AES_BLOCK; i++, n >>= 8) {
		carry += tweak[i] + (uint32_t)(n & 0xff);
		tweak[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

bool crypto_open(struct crypto_flow *c, struct seg *s, const struct hw_mkey *mk,
		 const struct crypto_fmt *f, bool out, uint64_t at, uint64_t n)
{
	const struct hw_hca *hca = hw_hca(s, mk->hca);
	struct hw_dek dek;

	if (!hca || !dek_read(s, mk, f, &dek))
		return false;
	xts_set(&c->key, dek.key, dek.bytes);
	c->f = *f;
	c->encrypt = out == f->encrypts;
	c->rest = n;
	c->len = 0;
	/* mlx5_umr_fill_crypto_bsf() of rdma-core: devices of several blocks take it reversed */
	for (uint32_t i = 0; i < AES_BLOCK; i++)
		c->tweak[i] = f->tweak[hw_hca_multi_block(hca) ? AES_BLOCK - 1 - i : i];
	tweak_add(c->tweak, at / f->unit);
	return true;
}

bool crypto_next(struct crypto_flow *c)
{
	c->len = c->rest < c->f.unit ? (uint32_t)c->rest : c->f.unit;
	c->rest -= c->len;
	c->done = 0;
	return c->len && unit_fits(&c->f, c->len);
}

void crypto_unit(struct crypto_flow *c)
{
	xts_crypt(&c->key, c->tweak, c->unit, c->len, c->encrypt, AES_BEST);
	tweak_add(c->tweak, 1);
}
