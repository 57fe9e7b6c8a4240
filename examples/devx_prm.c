/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A DEVX program that has the PRM from <softhca/prm.h>: asks an adapter what it can, makes a PD and
 *a memory key, reads the key back, and shows what a refused command says. Nothing of softhca is
 *linked: gcc devx_prm.c $(pkg-config --cflags softhca-prm) -lmlx5 -libverbs
 */
#include "devx_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <softhca/prm.h>

#define REGION 65536

/* What is refused is in the output, too. */
static struct mlx5dv_devx_obj *create(struct ibv_context *context, const void *in, size_t inlen,
				      void *out, size_t outlen)
{
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(context, in, inlen, out, outlen);

	if (!obj)
		printf("%s (status 0x%x, syndrome 0x%x)\n",
		       errno == EREMOTEIO ? "refused" : "failed",
		       (unsigned int)PRM_GET(create_mkey_out, out, status),
		       (unsigned int)PRM_GET(create_mkey_out, out, syndrome));
	return obj;
}

static int show_caps(struct ibv_context *context)
{
	static uint8_t out[PRM_SIZE(query_hca_cap_out)];
	uint8_t in[PRM_SIZE(query_hca_cap_in)] = {0};
	void *cap = PRM_IN(query_hca_cap_out, capability, out);
	int r;

	PRM_SET(query_hca_cap_in, in, opcode, PRM_OP_QUERY_HCA_CAP);
	PRM_SET(query_hca_cap_in, in, op_mod, 1); /* what is set now, of the general group */
	r = mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out));
	if (r)
		return r;
	printf("2^%u QPs, 2^%u CQs, %u ports\n",
	       (unsigned int)PRM_GET(cmd_hca_cap, cap, log_max_qp),
	       (unsigned int)PRM_GET(cmd_hca_cap, cap, log_max_cq),
	       (unsigned int)PRM_GET(cmd_hca_cap, cap, num_ports));
	return 0;
}

/* A key over a umem, with pages of 1 << log_page bytes. */
static struct mlx5dv_devx_obj *create_key(struct ibv_context *context, uint32_t pd, uint32_t umem,
					  void *buf, unsigned int log_page, uint32_t *index)
{
	uint8_t in[PRM_SIZE(create_mkey_in)] = {0}, out[PRM_SIZE(create_mkey_out)] = {0};
	void *mkc = PRM_IN(create_mkey_in, memory_key_mkey_entry, in);
	struct mlx5dv_devx_obj *obj;

	PRM_SET(create_mkey_in, in, opcode, PRM_OP_CREATE_MKEY);
	PRM_SET(create_mkey_in, in, mkey_umem_valid, 1);
	PRM_SET(create_mkey_in, in, mkey_umem_id, umem);
	PRM_SET(mkc, mkc, access_mode_1_0, PRM_mkc_access_mode_1_0_MTT);
	PRM_SET(mkc, mkc, lr, 1);
	PRM_SET(mkc, mkc, lw, 1);
	PRM_SET(mkc, mkc, qpn, 0xffffff); /* of any QP */
	PRM_SET(mkc, mkc, pd, pd);
	PRM_SET(mkc, mkc, start_addr, (uintptr_t)buf);
	PRM_SET(mkc, mkc, len, REGION);
	PRM_SET(mkc, mkc, log_page_size, log_page);
	PRM_SET(mkc, mkc, translations_octword_size, (REGION >> 12) / 2);
	obj = create(context, in, sizeof(in), out, sizeof(out));
	*index = (uint32_t)PRM_GET(create_mkey_out, out, mkey_index);
	return obj;
}

static int show_key(struct mlx5dv_devx_obj *obj, uint32_t index)
{
	uint8_t in[PRM_SIZE(query_mkey_in)] = {0}, out[PRM_SIZE(query_mkey_out)] = {0};
	void *mkc = PRM_IN(query_mkey_out, memory_key_mkey_entry, out);
	int r;

	PRM_SET(query_mkey_in, in, opcode, PRM_OP_QUERY_MKEY);
	PRM_SET(query_mkey_in, in, mkey_index, index);
	r = mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out));
	if (!r)
		printf("key of %u bytes\n", (unsigned int)PRM_GET(mkc, mkc, len));
	return r;
}

int main(void)
{
	uint8_t in[PRM_SIZE(alloc_pd_in)] = {0}, out[PRM_SIZE(alloc_pd_out)] = {0};
	struct ibv_context *context = device_open();
	void *buf = aligned_alloc(REGION, REGION);
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_obj *pd, *key, *none;
	uint32_t pdn, index;

	if (!context || !buf || show_caps(context))
		return 1;
	PRM_SET(alloc_pd_in, in, opcode, PRM_OP_ALLOC_PD);
	pd = create(context, in, sizeof(in), out, sizeof(out));
	umem = mlx5dv_devx_umem_reg(context, buf, REGION, IBV_ACCESS_LOCAL_WRITE);
	if (!pd || !umem)
		return 1;
	pdn = (uint32_t)PRM_GET(alloc_pd_out, out, pd);
	key = create_key(context, pdn, umem->umem_id, buf, 12, &index);
	if (!key || show_key(key, index))
		return 1;
	printf("with pages of 1 GiB: ");
	none = create_key(context, pdn, umem->umem_id, buf, 30, &index);
	if (none)
		printf("no error\n");
	if (none)
		mlx5dv_devx_obj_destroy(none);
	mlx5dv_devx_obj_destroy(key);
	mlx5dv_devx_umem_dereg(umem);
	mlx5dv_devx_obj_destroy(pd);
	free(buf);
	return device_close(context) ? 1 : 0;
}
