/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The firmware's commands: every opcode, from a program, from another one, from the driver. Answers
 * must be in the table, references right, and everything must be freed with the file.
 */
#include <errno.h>
#include "fw/test.h"
#include "fuzz.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/umem.h"

#define COMMANDS 24
#define OTHER_UID 8u

static struct env env;
static struct fw_ctx other; /* another program on the same HCA */
static struct fz_hints hints;

static void up(void)
{
	env_bare(&env);
	other = env.user;
	other.file = file_new(&env);
	other.uid = OTHER_UID;
	fz_hints_save(&env.s, &hints);
}

static void objects(struct fz_ids *ids)
{
	const struct env *e = &env;

	env_objects(&env);
	*ids = (struct fz_ids){
		{e->pd, e->uar, e->umem, e->dbr, e->cq, e->srq, e->qp, e->mkey, TEST_UID}, 9};
}

/* `who`: the issuer, as below. */
static void command(struct fz *f, struct fz_ids *ids, uint8_t who)
{
	static uint8_t out[UINT16_MAX + 16];
	const struct fw_ctx *c = &env.user;
	struct fw_ctx with_mem = env.kernel;
	struct fw_mem mem = {.mem = mem_self(&env.s), .va = (uintptr_t)env.buf};
	uint32_t uid = TEST_UID;
	struct fz_cmd cmd;
	int r;

	fz_cmd_read(f, ids, &cmd);
	switch (who % 8) {
	case 1:
		c = &env.kernel;
		break;
	case 2: /* the driver makes a umem, or a key over memory */
		mem.va += fz_u16(f);
		mem.len = fz_u32(f) % TEST_BUF;
		with_mem.mem = &mem;
		c = &with_mem;
		break;
	case 3:
		c = &other;
		uid = OTHER_UID;
		break;
	case 4: /* unchanged */
		uid = (uint32_t)LAYOUT_GET(cmd_in, cmd.in, uid);
		break;
	}
	/* The driver would not destroy the device's own event queues. */
	if (c->kernel && cmd.row && cmd.row->opcode == PRM_OP_DESTROY_EQ)
		return;
	LAYOUT_SET(cmd_in, cmd.in, uid, uid);
	memset(out, 0xa5, cmd.outlen + 16);
	r = fw_exec(c, cmd.in, cmd.inlen, out, cmd.outlen);
	for (int i = 0; i < 16; i++)
		fz_check(out[cmd.outlen + (uint32_t)i] == 0xa5);
	if (cmd.inlen < 16 || cmd.outlen < 16) {
		fz_check(r == -EINVAL);
		return;
	}
	fz_check(r == 0);
	fz_answer_check(out);
	if (LAYOUT_GET(cmd_out, out, status) == FW_OK)
		fz_id_add(ids, (uint32_t)LAYOUT_GET(cmd_id_out, out, id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};
	struct fz_ids ids;

	if (!env.buf)
		up();
	objects(&ids);
	fz_cover_from_here();
	for (int n = 0; n < COMMANDS && f.n; n++)
		command(&f, &ids, fz_u8(&f));
	fz_refs_check(&env.s, env.hca);
	fw_reap_file(&env.s, other.file);
	fw_reap_file(&env.s, env.file);
	fz_owned_check(&env.s, env.file);
	fz_owned_check(&env.s, other.file);
	fz_hints_restore(&env.s, &hints);
	return 0;
}
