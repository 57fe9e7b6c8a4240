/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The firmware: one table of PRM commands (STYLE.md 11). fw_exec() is the only way in: the mlx5
 * driver hands it command bytes for verbs objects and DEVX alike.
 */
#ifndef SOFTHCA_FW_FW_H
#define SOFTHCA_FW_FW_H

#include "fw/caps.h"
#include "segment/mem.h"
#include "wire/prm/cmd_hdr.h"

/* The uid of what the driver shares between contexts: fw_may_name() in priv.h. */
#define FW_SHARED_UID 0xffffu

/* PRM command status (out.status). */
#define FW_STATUS(prefix, name, v) FW_##name = (v),
enum fw_status { PRM_V_STATUS(FW_STATUS) };

/*
 * The page list of a command, as the IOMMU sees it. A real driver appends physical pages (pas[],
 * klm_pas_mtt[], mtt[]) to CREATE_MKEY and CREATE_UMEM; here one triple stands for that list: whose
 * memory, where, how long.
 */
struct fw_mem {
	struct mem_slot mem;
	uint64_t va, len;
};

/* On whose behalf. Made by the driver for every call. */
struct fw_ctx {
	struct seg *seg;
	uint32_t hca;  /* SEG_T_HCA */
	uint32_t file; /* SEG_T_FILE index that will own what is made */
	uint32_t uid;  /* DEVX uid of the context; 0 for the driver's own commands */
	bool kernel; /* a command of the driver: may do what DEVX users may not (e.g. no uid check)
		      */
	const struct fw_mem *mem; /* for commands that carry a page list, else NULL */
	bool masked; /* the caller has asynchronous signals blocked: two system calls less */
};

/*
 * Execute one command. `in` and `out` are PRM bytes; out is fully written (zero filled) when outlen
 * >= 16. 0: executed, out.status and out.syndrome tell how (FW_OK or a refusal); < 0: our own
 * failure (-ETIMEDOUT lock...). Input shorter than the command's layout: FW_BAD_INPUT_LEN; output
 * shorter: FW_BAD_OUTPUT_LEN.
 */
int fw_exec(const struct fw_ctx *c, const void *in, uint32_t inlen, void *out, uint32_t outlen);

/*
 * Change a memory key in place, as a UMR work request on a queue of the driver's own does on the
 * card: a region that is registered anew keeps its key. `in`: a whole create_mkey_in with what the
 * key becomes. 0 or -errno; a refused key is as before.
 */
int fw_umr(const struct fw_ctx *c, uint32_t key, const void *in);

/* errno the kernel gives for a status (mlx5 cmd_status_to_err): 0 or a negative errno. */
int fw_status_to_errno(uint8_t status);
const char *fw_status_name(uint8_t status);
const char *fw_opcode_name(uint16_t opcode);
struct layout;
struct layout_field;
/* The layouts of a command's input and output; false: this firmware has no such command. */
bool fw_command_layouts(uint16_t opcode, const struct layout **in, const struct layout **out);
/* The layout of what follows that of the input or output, as the input's op_mod says; NULL. */
const struct layout *fw_command_body(uint16_t opcode, const void *in, bool output);

/*
 * One row per reason for a refusal: what UCX or DPDK users see as `syndrome 0x...`. Numbers are
 * ours, unique, stable. The handler names the row; the dispatcher writes status and syndrome.
 */
struct fw_refusal {
	uint32_t syndrome;
	uint8_t status;                 /* enum fw_status */
	const char *field;              /* layout.field it is about */
	const char *name;               /* of the row */
	const char *text;               /* reason and allowed as one line, for logs */
	const char *reason, *allowed;   /* reason: NULL where `allowed` says it, too */
	const struct layout_field *cap; /* general capability behind it, in cmd_hca_cap; NULL */
};
/* All rows, from 0 on; NULL behind the last. */
const struct fw_refusal *fw_refusal_at(unsigned int n);
const struct fw_refusal *fw_refusal_find(uint32_t syndrome);

/*
 * Destroy everything an open file owns, in dependency order, as the kernel does on close: by the
 * supervisor after the last reference to a command file is gone, whoever held it. Peers of its QPs
 * see silence and time out. Idempotent. Waits for those who work on it, two seconds and more.
 */
void fw_reap_file(struct seg *s, uint32_t file);
/* The same, without waiting for anybody. False: somebody works on something of it, the rest is
 * done; fw_reap_file() is to finish it. */
bool fw_reap_try(struct seg *s, uint32_t file);
/* Free what a stopped process kept from being freed, where it does so no longer. Does not wait.
 * True: some is left. */
bool fw_reap_zombies(struct seg *s, uint32_t hca);

/*
 * An element that open files share goes on in another of them: if it is owned by `owner` (an owner
 * word), it is that sharer's from now on. False: nobody shares it but by `leaving`, a SEG_T_SHARE
 * that ends, or SEG_NONE. Called with hw_hca.share_lock held, if that was to be had. (kinds.c)
 */
bool fw_share_pass_on(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t owner,
		      uint32_t leaving);

/* Device bring-up, once per HCA when a fabric is made: CREATE_EQ for each completion vector. */
int fw_hca_init(struct seg *s, uint32_t hca);

#endif
