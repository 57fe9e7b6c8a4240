/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The firmware: one table of PRM commands (STYLE.md 11). fw_exec() is its only entry: the mlx5
 * driver passes command bytes to it for verbs objects and DEVX alike.
 */
#ifndef SOFTHCA_FW_FW_H
#define SOFTHCA_FW_FW_H

#include "fw/caps.h"
#include "segment/mem.h"
#include "wire/prm/cmd_hdr.h"

/* The uid of objects that the driver shares between contexts: fw_may_name() in priv.h. */
#define FW_SHARED_UID 0xffffu

/* PRM command status (out.status). */
#define FW_STATUS(prefix, name, v) FW_##name = (v),
enum fw_status { PRM_V_STATUS(FW_STATUS) };

/*
 * The page list of a command, as the IOMMU sees it. A real driver appends physical pages (pas[],
 * klm_pas_mtt[], mtt[]) to CREATE_MKEY and CREATE_UMEM; here a process, an address and a length
 * stand for that list.
 */
struct fw_mem {
	struct mem_slot mem;
	uint64_t va, len;
	bool queue; /* CREATE_UMEM: memory of a queue, as libraries allocate it */
};

/* The context of a command. The driver makes one for every call. */
struct fw_ctx {
	struct seg *seg;
	uint32_t hca;  /* SEG_T_HCA */
	uint32_t file; /* SEG_T_FILE index of the owner of new objects */
	uint32_t uid;  /* DEVX uid of the context; 0 for the driver's own commands */
	/* a command of the driver, which may do more than DEVX users (e.g. no uid check) */
	bool kernel;
	const struct fw_mem *mem; /* for commands with a page list, else NULL */
	bool masked; /* the caller has blocked asynchronous signals, which saves two system calls */
};

/*
 * Execute one command. `in` and `out` are PRM bytes; out is fully written (zero filled) if outlen
 * >= 16. 0: out.status and out.syndrome have the result (FW_OK or a refusal); < 0: a failure of our
 * own (-ETIMEDOUT lock...). Input shorter than the command's layout: FW_BAD_INPUT_LEN; output
 * shorter: FW_BAD_OUTPUT_LEN.
 */
int fw_exec(const struct fw_ctx *c, const void *in, uint32_t inlen, void *out, uint32_t outlen);

/*
 * Change a memory key in place, as a card does by a UMR on a queue of the driver: a region that is
 * registered again keeps its key. `in`: a whole create_mkey_in that describes the new key. 0 or
 * -errno; after a refusal the key is unchanged.
 */
int fw_umr(const struct fw_ctx *c, uint32_t key, const void *in);

/* The kernel's errno for a status (mlx5 cmd_status_to_err()): 0 or negative. */
int fw_status_to_errno(uint8_t status);
const char *fw_status_name(uint8_t status);
const char *fw_opcode_name(uint16_t opcode);
struct layout;
struct layout_field;
/* The layouts of a command's input and output; false: this firmware does not have the command. */
bool fw_command_layouts(uint16_t opcode, const struct layout **in, const struct layout **out);
/* The layout of what follows the input or output, depending on the input's op_mod; or NULL. */
const struct layout *fw_command_body(uint16_t opcode, const void *in, bool output);

/*
 * One row per reason for a refusal, shown by UCX or DPDK as `syndrome 0x...`. The numbers are this
 * project's own, unique and stable. The handler names the row; the dispatcher writes status and
 * syndrome.
 */
struct fw_refusal {
	uint32_t syndrome;
	uint8_t status;               /* enum fw_status */
	const char *field;            /* layout.field that is refused */
	const char *name;             /* name of the row */
	const char *text;             /* reason and allowed as one line, for logs */
	const char *reason, *allowed; /* reason: NULL if `allowed` says it, too */
	/* the general capability behind it, in cmd_hca_cap; or NULL */
	const struct layout_field *cap;
};
/* Row `n`, counted from 0; NULL after the last. */
const struct fw_refusal *fw_refusal_at(unsigned int n);
const struct fw_refusal *fw_refusal_find(uint32_t syndrome);

/*
 * Destroy everything that an open file owns, in dependency order, as the kernel does on close. The
 * supervisor calls it after the last reference to a command file is gone. Peers of its QPs get no
 * answers and time out. Idempotent. Waits for threads that use the objects, two seconds or more.
 */
void fw_reap_file(struct seg *s, uint32_t file);
/*
 * Before that: tells what the file still owns (hw/told.h), into `text`, too. `comm`: the program.
 * False: nothing that a program would destroy.
 */
bool fw_tell_left(struct seg *s, uint32_t file, const char *comm, char *text, size_t size);
/*
 * The same without waiting. False: some objects are in use and left to fw_reap_file(); the others
 * are destroyed.
 */
bool fw_reap_try(struct seg *s, uint32_t file);
/* Free zombies that no stopped process holds any more. Does not wait. True: some are left. */
bool fw_reap_zombies(struct seg *s, uint32_t hca);

/*
 * Pass an element that open files share to another of them: if its owner is `owner` (an owner
 * word), it belongs to that sharer afterwards. False: nobody else shares it; `leaving` is a
 * SEG_T_SHARE that ends and does not count, or SEG_NONE. Called with hw_hca.share_lock held, if it
 * could be taken. (kinds.c)
 */
bool fw_share_pass_on(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t owner,
		      uint32_t leaving);

/* Device bring-up, once per HCA when a fabric is made: CREATE_EQ for each completion vector. */
int fw_hca_init(struct seg *s, uint32_t hca);

/* What else rules ask of objects: the how-manieth of its process, 0; the service of a QP. */
uint32_t fw_nth(struct seg *s, enum seg_table_id t, uint32_t idx);
uint32_t fw_service_of(struct seg *s, uint32_t qpn);
/*
 * For rules of --inject: a QP, SRQ or WQ (an RQ) fails with this event, IBV_EVENT_*. Waits for
 * locks. 0; -EINVAL: it is in no state to fail; -ETIMEDOUT: a stopped process uses it.
 */
int fw_break(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t ib_event_type);

#endif
