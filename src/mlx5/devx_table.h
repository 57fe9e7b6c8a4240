/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which firmware commands a program may send, and by which DEVX method: one row per opcode. */
#ifndef SOFTHCA_MLX5_DEVX_TABLE_H
#define SOFTHCA_MLX5_DEVX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum devx_method { /* bits */
		   DEVX_OTHER = 1,
		   DEVX_CREATE = 2,
		   DEVX_MODIFY = 4,
		   DEVX_QUERY = 8,
};

/* A field in the PRM's notation: bits from the command's start; width 0: none. */
struct devx_field {
	uint16_t bit, width;
};

/* How a created object is destroyed: the command is built when the object is made. */
struct devx_destroy {
	uint16_t opcode;
	uint16_t len; /* bytes */
	struct devx_field id;
	struct devx_field copy[5]; /* fields that the create command has at the same place */
};

enum {                      /* devx_cmd.flags */
       DEVX_NO_UID = 1,     /* also from a context that was not opened for DEVX */
       DEVX_ID_IN_INPUT = 2 /* create: the program chose the number, it is in the input */
};

struct devx_cmd {
	uint16_t opcode;
	uint8_t methods; /* enum devx_method */
	uint8_t flags;
	struct {
		struct devx_field field;
		uint8_t create, modify; /* the value it must have, by method */
	} must;
	uint16_t maker;       /* opcode that makes what this command acts on */
	struct devx_field id; /* its number: in the input; in CREATE's output, but see flags */
	struct devx_field umem_valid[2]; /* bits the kernel sets: the object lies in umems */
	struct devx_destroy destroy;     /* CREATE only */
};

/* The row of an opcode, or NULL: then no DEVX method takes it. */
const struct devx_cmd *devx_cmd_find(uint16_t opcode);
/* May this command come by this method? General commands of the open range included. */
bool devx_cmd_allowed(const void *in, enum devx_method method);
/* Is it among the few that a context without a DEVX uid may send? */
bool devx_cmd_needs_no_uid(uint16_t opcode);

/*
 * The identity of what a command acts on or has made: maker opcode, for general objects their
 * type, and number. 0: none (the input is too short to hold it).
 */
uint64_t devx_cmd_object(const void *in, uint32_t inlen);
uint64_t devx_cmd_created(const void *in, uint32_t inlen, const void *out, uint32_t outlen);
static inline uint64_t devx_object(uint32_t maker, uint32_t id)
{
	return (uint64_t)maker << 32 | id;
}

/* Set the *_umem_valid bits that the input is long enough to hold. */
void devx_cmd_set_umem_valid(void *in, uint32_t inlen);
/* Build the command that destroys what `in` has made as number `id`; its length. */
#define DEVX_DESTROY_MAX 0x40
uint32_t devx_cmd_build_destroy(const void *in, uint32_t inlen, uint32_t id,
				uint8_t din[DEVX_DESTROY_MAX]);

extern const struct devx_cmd devx_cmds[];
extern const unsigned int devx_cmds_count;

#endif
