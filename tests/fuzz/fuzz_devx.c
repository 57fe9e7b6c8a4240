/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DEVX through the ioctl: firmware commands of a program by each method, on objects of DEVX and of
 * verbs, umems, UARs and their mappings.
 */
#include "fw/priv.h"
#include "device.h"
#include "wire/prm/umem.h"

#include <sys/mman.h>

#define CALLS 24

static struct fz_ids ids;

static uint32_t at32(uint64_t at)
{
	uint32_t v;

	memcpy(&v, (void *)(uintptr_t)at, sizeof(v));
	return v;
}

#define ID(i, h)                                    \
	{                                           \
		.id = MLX5_IB_ATTR_##i, .data = (h) \
	}
#define VAL(i, n, v)                                            \
	{                                                       \
		.id = MLX5_IB_ATTR_##i, .len = (n), .data = (v) \
	}

static void umem(uint64_t addr, uint64_t len, uint32_t access)
{
	struct ioctl_row r = {
		.object = MLX5_IB_OBJECT_DEVX_UMEM,
		.method = MLX5_IB_METHOD_DEVX_UMEM_REG,
		.nattr = 5,
		.attr = {ID(DEVX_UMEM_REG_HANDLE, 0), VAL(DEVX_UMEM_REG_ADDR, 8, addr),
			 VAL(DEVX_UMEM_REG_LEN, 8, len), VAL(DEVX_UMEM_REG_ACCESS, 4, access),
			 VAL(DEVX_UMEM_REG_OUT_ID, 4, OUT)},
	};

	if (!world_ioctl(&r))
		fz_id_add(&ids, at32(OUT));
}

/* Run a command by one of the methods for commands. */
static void command(struct fz *f, uint16_t object, uint16_t method, int64_t handle, uint16_t id,
		    uint16_t in, uint16_t out)
{
	struct fz_cmd c;
	struct ioctl_row r = {.object = object, .method = method};

	fz_cmd_read(f, &ids, &c);
	if (handle >= 0)
		r.attr[r.nattr++] = (struct attr){.id = id, .data = (uint64_t)handle};
	r.attr[r.nattr++] = (struct attr){.id = in, .len = (uint16_t)c.inlen, .in = c.in};
	r.attr[r.nattr++] = (struct attr){.id = out, .len = (uint16_t)c.outlen, .data = OUT};
	if (world_ioctl(&r) || c.outlen < 16)
		return;
	fz_answer_check((uint8_t *)(uintptr_t)OUT);
	fz_id_add(&ids, __builtin_bswap32(at32(OUT + 8)));
}

static void other(struct fz *f)
{
	struct ioctl_row row;
	struct fz_store store;

	fz_ioctl_read(f, &row, &store);
	world_ioctl(&row);
}

static void one(struct fz *f)
{
	uint8_t how = fz_u8(f), handle = fz_u8(f) % 32;
	struct ioctl_row gone = {.nattr = 1, .attr = {ID(DEVX_OBJ_DESTROY_HANDLE, handle)}};

	switch (how % 8) {
	case 0:
		command(f, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, -1, 0,
			MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
		break;
	case 1:
		command(f, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, 0,
			MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
			MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
		break;
	case 2:
		command(f, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, handle,
			MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
			MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
		break;
	case 3:
		command(f, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, handle,
			MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
			MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
		break;
	case 4: /* the destroy methods have the same attribute number */
		gone.object = how & 8    ? MLX5_IB_OBJECT_DEVX_UMEM
			      : how & 16 ? MLX5_IB_OBJECT_UAR
					 : MLX5_IB_OBJECT_DEVX_OBJ;
		gone.method = MLX5_IB_METHOD_DEVX_OBJ_DESTROY;
		world_ioctl(&gone);
		break;
	case 5:
		umem(how & 8 ? fz_u64(f) : MEM + fz_u16(f), how & 16 ? fz_u64(f) : fz_u16(f),
		     fz_u8(f));
		break;
	case 6:
		fz_mmap(CTX, 0, how & 8 ? fz_u32(f) : 4096, PROT_WRITE, 1,
			how & 16 ? fz_u64(f) : (uint64_t)fz_u32(f) << 12);
		break;
	default:
		other(f);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};

	fz_world_begin(fz_u8(&f));
	ids = (struct fz_ids){{UAR_PAGE, CQN, QPN, PDN}, 4};
	umem(MEM + 0x8000, 0x7000, 1);
	umem(DBR, 4096, 1);
	fz_cover_from_here();
	for (int i = 0; i < CALLS && f.n; i++)
		one(&f);
	fz_world_end();
	return 0;
}
