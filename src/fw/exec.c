/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the command table and fw_exec(), the only entry to the firmware. Makes the checks common to
 * all commands (sizes, reserved bits, modifiers, uid), takes the HCA's lock, calls the handler and
 * writes status and syndrome. Called by the driver.
 */
#include "fw/priv.h"
#include "fabric/fabric.h"
#include "fault/fault.h"
#include "fw/for_tests.h"

#include <errno.h>
#include "hw/hca.h"
#include "hw/told.h"
#include "hw/use.h"
#include "util/fmt.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/sigset.h"
#include "util/sys.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"
#include "wire/prm/gobj.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/mcg.h"
#include "wire/prm/memic.h"
#include "wire/prm/mkey.h"
#include "wire/prm/pd.h"
#include "wire/prm/qctr.h"
#include "wire/prm/qos.h"
#include "wire/prm/qp.h"
#include "wire/prm/raw.h"
#include "wire/prm/uar.h"
#include "wire/prm/umem.h"
#include "wire/prm/vport.h"
#include "wire/prm/xrc.h"
#include "wire/prm/xrq.h"

#define CMD(op, name, flags, handler, table, what) \
	{PRM_OP_##op, (flags), &layout_##name##_in, &layout_##name##_out, handler, table, what},
const struct fw_cmd fw_cmds[] = {FW_COMMANDS(CMD)};
const unsigned int fw_ncmds = ARRAY_SIZE(fw_cmds);

static const struct fw_cmd *cmd_find(uint16_t opcode)
{
	for (unsigned int i = 0; i < fw_ncmds; i++)
		if (fw_cmds[i].opcode == opcode)
			return &fw_cmds[i];
	return NULL;
}

int fw_table_of(const char *obj)
{
	for (unsigned int i = 0; obj && i < fw_ncmds; i++)
		if (fw_cmds[i].obj && fw_cmds[i].object >= 0 && !strcmp(fw_cmds[i].obj, obj))
			return fw_cmds[i].object;
	return -1;
}

bool fw_command_layouts(uint16_t opcode, const struct layout **in, const struct layout **out)
{
	const struct fw_cmd *c = cmd_find(opcode);

	if (!c)
		return false;
	*in = c->in;
	*out = c->out;
	return true;
}

uint64_t fw_sig_block(const struct fw_ctx *c)
{
	uint64_t mask = ~SIG_SYNC, old = 0;

	if (c && c->masked)
		return 0;
	sys_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)&old, sizeof(old), 0, 0);
	return old;
}

void fw_sig_restore(const struct fw_ctx *c, uint64_t old)
{
	if (c && c->masked)
		return;
	sys_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof(old), 0, 0);
}

/* The checks of all commands, before the handler runs; *bit: the reserved bit that is set. */
static enum fw_r check_common(const struct fw_call *k, uint32_t inlen, uint32_t outlen,
			      int32_t *bit)
{
	const uint8_t *in = k->in;
	uint32_t uid = LAYOUT_GET32(cmd_in, in, uid);

	if (inlen < k->cmd->in->bytes)
		return FW_R_INPUT_LEN;
	if (outlen < k->cmd->out->bytes && !(k->cmd->flags & FW_C_CUT))
		return FW_R_OUTPUT_LEN;
	if ((k->cmd->flags & FW_C_KERNEL) && !k->c->kernel)
		return FW_R_KERNEL_ONLY;
	*bit = layout_reserved_set(k->cmd->in, in, k->cmd->in->bytes);
	if (*bit >= 0)
		return FW_R_RESERVED;
	for (uint32_t i = k->cmd->in->bytes; i < inlen && !(k->cmd->flags & FW_C_LIST); i++)
		if (in[i])
			return FW_R_PAGE_LIST;
	if (!(k->cmd->flags & FW_C_OP_MODS) && k->op_mod != 0)
		return FW_R_OP_MOD;
	if (uid != k->c->uid && !(k->c->kernel && uid == 0))
		return FW_R_UID;
	return FW_R_NONE;
}

static enum fw_r run_locked(struct fw_call *k)
{
	uint64_t mask = fw_sig_block(k->c);
	int lock = seg_lock(k->s, &k->hca->lock, SEG_LOCK_CTRL_NS);
	enum fw_r r;

	if (lock >= 0) {
		if (lock == SEG_LOCK_INHERITED)
			fw_recount(k->s, k->c->hca);
		r = k->cmd->handler(k);
		seg_unlock(k->s, &k->hca->lock);
	} else {
		r = fw_errno(k, lock);
	}
	fw_sig_restore(k->c, mask);
	return r;
}

/* A rule of --inject answers instead of the handler. */
static __attribute__((noinline)) enum fw_r exec_fault(struct fw_call *k, uint16_t opcode,
						      struct fw_refusal *f)
{
	const struct fault_moment m = {.at = HW_AT_FW,
				       .id = opcode,
				       .end = {{.proc = k->s->self, .hca = k->c->hca},
					       {.proc = SEG_NONE, .hca = SEG_NONE}}};
	struct hw_fault_effect e;
	uint64_t status, syndrome = 0;

	if (!fault_hit(k->s, &m, &e) || !fault_does(&e, FAULT_STATUS, &status))
		return FW_R_NONE;
	fault_does(&e, FAULT_SYNDROME, &syndrome);
	*f = (struct fw_refusal){.status = (uint8_t)status,
				 .syndrome = (uint32_t)syndrome,
				 .field = "cmd_in",
				 .reason = "a rule of --inject",
				 .allowed = "the same without it"};
	k->fault = f;
	return FW_R_FAULT;
}

/*
 * The adapter has failed: no command reaches it, and the driver gives the answers that let
 * programs free their objects. True: *r is the answer.
 */
static __attribute__((noinline)) bool exec_fatal(struct fw_call *k, enum fw_r *r)
{
	if (k->c->file == SEG_NONE || k->cmd->flags & FW_C_ENDS)
		return false;
	*r = k->cmd->flags & FW_C_STOPS ? FW_R_NONE : fw_errno(k, -EIO);
	return true;
}

/* What is said to the program of a result that is neither FW_R_NONE nor FW_R_ERRNO. */
static const struct fw_refusal *refusal_of(const struct fw_call *k, enum fw_r r)
{
	return r == FW_R_FAULT ? k->fault : fw_refusal(r);
}

static enum fw_r exec_run(struct fw_call *k)
{
	return k->cmd->flags & FW_C_LOCK ? run_locked(k) : k->cmd->handler(k);
}

/* For FW_C_CUT: the handler writes the whole answer, and the caller gets as much as fits. */
__attribute__((noinline)) static enum fw_r run_cut(struct fw_call *k, uint32_t outlen)
{
	uint8_t whole[LAYOUT_SZ(query_hca_cap_out)] = {0};
	void *out = k->out;
	enum fw_r r;

	k->out = whole;
	r = exec_run(k);
	k->out = out;
	memcpy(out, whole, outlen);
	return r;
}

/* Tells a refusal, with what fw_trace() says of it. */
static __attribute__((noinline)) void tell_refused(const struct fw_call *k, uint16_t opcode,
						   const struct fw_refusal *f)
{
	char text[HW_TOLD_TEXT], users[128], name[FAB_HCA_NAME], value[24] = "";
	const uint64_t v[] = {opcode, f->syndrome};
	uint64_t key = hw_told_key(v, ARRAY_SIZE(v));
	uint32_t bit, width;

	if (hw_told(k->s, k->c->hca, HW_TOLD_REFUSED, key))
		return;
	fw_users(k, f, users, sizeof(users));
	if (fw_find_field(k, f->field, k->inlen, &bit, &width))
		fmt(value, sizeof(value), " = %#llx",
		    (unsigned long long)layout_get(k->in, bit, width));
	fmt(text, sizeof(text), "%s of %s: %s (0x%x) syndrome 0x%x: %s%s: %s%s%s%sallowed: %s",
	    prm_opcode_name(opcode), fab_hca_name(k->s, k->hca, name), fw_status_name(f->status),
	    f->status, f->syndrome, f->field, value, f->reason ? f->reason : "",
	    f->reason ? "; " : "", users, *users ? "; " : "", f->allowed);
	hw_tell(k->s, k->c->hca, HW_TOLD_REFUSED, key, text);
}

/* Counts the commands of programs, which have an open file. */
static void count_use(const struct fw_call *k, enum fw_r r)
{
	struct hw_use *u = k->c->file == SEG_NONE ? NULL : hw_use(k->s, k->c->hca);
	const struct fw_refusal *f = r == FW_R_NONE || r == FW_R_ERRNO ? NULL : refusal_of(k, r);

	if (!u)
		return;
	atomic_fetch_add_explicit(&u->commands, 1, memory_order_relaxed);
	if (f)
		tell_refused(k, LAYOUT_GET16(cmd_in, k->in, opcode), f);
	if (f && f->status < HW_USE_STATUSES)
		atomic_fetch_add_explicit(&u->refused[f->status], 1, memory_order_relaxed);
	if (r == FW_R_NONE && k->cmd->object >= HW_KIND_FIRST)
		atomic_fetch_add_explicit(&u->made[k->cmd->object - HW_KIND_FIRST], 1,
					  memory_order_relaxed);
}

int fw_exec(const struct fw_ctx *c, const void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	struct fw_call k = {
		.c = c, .s = c->seg, .in = in, .inlen = inlen, .out = out, .outlen = outlen};
	uint16_t opcode;
	uint64_t since = TRACE_ON(LOG_FW) ? clock_now_ns() : 0;
	struct fw_refusal fault;
	int32_t bit = -1;
	enum fw_r r;

	/* Without a header there is no command, and no space for an answer. */
	if (inlen < LAYOUT_SZ(cmd_in) || outlen < LAYOUT_SZ(cmd_out))
		return -EINVAL;
	k.hca = hw_hca(c->seg, c->hca);
	if (!k.hca)
		return -ENODEV;
	k.caps = &k.hca->caps;
	k.owner = c->file == SEG_NONE ? SEG_OWNER_DEVICE : c->file + 1;
	opcode = LAYOUT_GET16(cmd_in, in, opcode);
	k.op_mod = LAYOUT_GET32(cmd_in, in, op_mod);
	k.cmd = cmd_find(opcode);
	memset(out, 0, outlen);
	if (!k.cmd)
		r = FW_R_OPCODE;
	else
		r = check_common(&k, inlen, outlen, &bit);
	if (r == FW_R_NONE && fault_waits(k.s, HW_AT_FW) && c->file != SEG_NONE)
		r = exec_fault(&k, opcode, &fault);
	if (r == FW_R_NONE &&
	    (atomic_load_explicit(&k.hca->fails, memory_order_relaxed) == HW_WORKS ||
	     !exec_fatal(&k, &r)))
		r = outlen < k.cmd->out->bytes ? run_cut(&k, outlen) : exec_run(&k);
	if (r != FW_R_NONE && r != FW_R_ERRNO) {
		const struct fw_refusal *f = refusal_of(&k, r);

		memset(out, 0, outlen);
		LAYOUT_SET(cmd_out, out, status, f->status);
		LAYOUT_SET(cmd_out, out, syndrome, f->syndrome);
	}
	count_use(&k, r);
	if (TRACE_ON(LOG_FW))
		fw_trace(&k, opcode, inlen, outlen, r, bit, since);
	return r == FW_R_ERRNO ? k.err : 0;
}
