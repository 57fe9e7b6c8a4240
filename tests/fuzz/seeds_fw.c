/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Seeds for the targets that take firmware commands: each command of the firmware, empty and with
 * all named bits set; the valid ones of the firmware's tests; and the golden vectors. Usage:
 * seeds_fw DIR, or seeds_fw DIR devx: for the DEVX target, with the numbers of its world
 */
#include "fw/test.h"
#include "fw/for_tests.h"
#include "mlx5/devx_table.h"
#include "wire/golden_prm.h"
#include "fuzz.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mkey.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"
#include "wire/prm/vport.h"

#include <errno.h>
#include <sys/stat.h>

static struct {
	uint8_t b[1 << 16];
	size_t n;
} seed;

static void put(const void *p, size_t n)
{
	fz_check(seed.n + n <= sizeof(seed.b));
	memcpy(seed.b + seed.n, p, n);
	seed.n += n;
}

static void put8(uint8_t v)
{
	put(&v, sizeof(v));
}

static void put16(uint16_t v)
{
	put(&v, sizeof(v));
}

static void save(const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	fz_check(f && fwrite(seed.b, 1, seed.n, f) == seed.n);
	fclose(f);
	seed.n = 0;
}

static bool devx;
/* Numbers as in ../abi/abi.h; new umems come after those of its queues. */
enum { UAR_PAGE = 2, PDN = 1, CQN = 1, QPN = 0x40, NEXT = 6, UMEM = 4 };

/* The DEVX method for a command, and the handle, by opcode. */
static void devx_how(uint16_t opcode)
{
	const struct devx_cmd *c = devx_cmd_find(opcode);
	unsigned int methods = c ? c->methods : DEVX_OTHER;

	if (!seed.n)
		put8(0);
	put8(methods & DEVX_CREATE ? 1 : methods & DEVX_MODIFY ? 2 : methods & DEVX_QUERY ? 3 : 0);
	put8(c && c->maker == PRM_OP_CREATE_CQ ? 3 : c && c->maker == PRM_OP_CREATE_QP ? 4 : NEXT);
}

/* `who`: the byte that the target reads before a command. */
static void command(uint8_t who, const void *in, size_t len)
{
	if (devx)
		devx_how((uint16_t)LAYOUT_GET(cmd_in, in, opcode));
	else
		put8(who);
	put8(FZ_C_BODY);
	put16((uint16_t)LAYOUT_GET(cmd_in, in, opcode));
	put16((uint16_t)len);
	put(in, len);
}

static void ones(uint8_t *in, const struct layout *l)
{
	for (uint32_t i = 0; i < l->nfields; i++)
		layout_set(in, l->fields[i].bit, l->fields[i].width, bits_max(l->fields[i].width));
	for (uint32_t i = 0; i < l->nplaces; i++)
		ones(in + l->places[i].byte, l->places[i].inner);
}

static void every_command(const char *dir)
{
	uint8_t in[FZ_CMD_MAX];
	char name[64];

	for (unsigned int i = 0; i < fw_ncmds; i++) {
		const struct fw_cmd *c = &fw_cmds[i];

		memset(in, 0, sizeof(in));
		LAYOUT_SET(cmd_in, in, opcode, c->opcode);
		command(c->flags & FW_C_KERNEL ? 2 : 0, in, c->in->bytes);
		ones(in, c->in);
		LAYOUT_SET(cmd_in, in, opcode, c->opcode);
		LAYOUT_SET(cmd_in, in, op_mod, 0);
		command(c->flags & FW_C_KERNEL ? 2 : 0, in, c->in->bytes);
		snprintf(name, sizeof(name), "command-%x", c->opcode);
		save(dir, name);
	}
}

/* The umem of the DEVX world is small: use its start. */
static void near(uint8_t *in)
{
	static const char *const offsets[] = {"x_in.cq_umem_offset", "x_in.wq_umem_offset",
					      "wq.wq_umem_offset"};
	uint16_t opcode = (uint16_t)LAYOUT_GET(cmd_in, in, opcode);
	const struct layout *l = NULL, *out;
	uint32_t bit, width;

	if (!fw_command_layouts(opcode, &l, &out))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		if (layout_find(l, offsets[i], &bit, &width))
			layout_set(in, bit, width, 0);
}

static void valid_commands(const char *dir)
{
	static void (*const all[])(struct env *) = {
		b_create_mkey, b_create_eq, b_create_cq, b_modify_cq, b_resize_cq, b_create_rmp,
		b_modify_rmp,  b_create_qp, b_rst2init,  b_init2rtr,  b_rtr2rts};
	struct env e;
	char name[64];

	env_up(&e);
	if (devx) {
		e.uar = UAR_PAGE;
		e.pd = PDN;
		e.cq = CQN;
		e.qp = QPN;
		/* the first number after the umems of the world's queues */
		e.umem = UMEM;
		e.dbr = UMEM + 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		all[i](&e);
		if (devx)
			near(e.in);
		command(0, e.in, 0x110);
		snprintf(name, sizeof(name), "valid-%zu", i);
		save(dir, name);
	}
	/* All transitions of a QP. */
	b_rst2init(&e);
	command(0, e.in, IN(rst2init_qp));
	b_init2rtr(&e);
	command(0, e.in, IN(init2rtr_qp));
	b_rtr2rts(&e);
	command(0, e.in, IN(rtr2rts_qp));
	b_id(&e, PRM_OP_2ERR_QP, e.qp);
	command(0, e.in, IN(qp_2err));
	b_id(&e, PRM_OP_2RST_QP, e.qp);
	command(0, e.in, IN(qp_2rst));
	b_id(&e, PRM_OP_DESTROY_QP, e.qp);
	command(0, e.in, IN(destroy_qp));
	b_id(&e, PRM_OP_DESTROY_CQ, e.cq);
	command(0, e.in, IN(destroy_cq));
	save(dir, "life");
	env_down(&e);
}

/* A golden command with the right opcode, and with a golden context in it. */
static void golden(const char *dir, const char *name, uint16_t opcode, const struct layout *l,
		   const uint8_t *bytes, size_t n, const uint8_t *ctx, size_t nctx)
{
	uint8_t in[FZ_CMD_MAX] = {0};

	memcpy(in, bytes, n);
	LAYOUT_SET(cmd_in, in, opcode, opcode);
	LAYOUT_SET(cmd_in, in, op_mod, 0);
	command(0, in, l->bytes);
	if (ctx) {
		memcpy(in + l->places[0].byte, ctx, nctx);
		command(0, in, l->bytes);
	}
	save(dir, name);
}
#define SEED_GOLDEN(l, op)                                                      \
	golden(dir, "golden-" #l, PRM_OP_##op, &layout_##l, golden_##l##_bytes, \
	       sizeof(golden_##l##_bytes), NULL, 0)
#define SEED_GOLDEN_CTX(l, op, ctx)                                             \
	golden(dir, "golden-" #l, PRM_OP_##op, &layout_##l, golden_##l##_bytes, \
	       sizeof(golden_##l##_bytes), golden_##ctx##_bytes, sizeof(golden_##ctx##_bytes))

int main(int argc, char **argv)
{
	const char *dir = argv[1];

	fz_check(argc == 2 || argc == 3);
	devx = argc == 3;
	fz_check(!mkdir(dir, 0777) || errno == EEXIST);
	every_command(dir);
	valid_commands(dir);
	SEED_GOLDEN(alloc_pd_in, ALLOC_PD);
	SEED_GOLDEN(query_qp_in, QUERY_QP);
	SEED_GOLDEN(rst2init_qp_in, RST2INIT_QP);
	SEED_GOLDEN(query_hca_vport_context_in, QUERY_HCA_VPORT_CONTEXT);
	SEED_GOLDEN_CTX(create_cq_in, CREATE_CQ, cqc);
	SEED_GOLDEN_CTX(create_qp_in, CREATE_QP, qpc);
	SEED_GOLDEN_CTX(create_mkey_in, CREATE_MKEY, mkc);
	return 0;
}
