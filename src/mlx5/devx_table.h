/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The firmware commands that a program may send, and by which DEVX method: one row per opcode. */
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

/* A field in the PRM's notation: bits from the start of the command; width 0: no field. */
struct devx_field {
	uint16_t bit, width;
};

/* How a created object is destroyed: the command is built when the object is made. */
struct devx_destroy {
	uint16_t opcode;
	uint16_t len; /* bytes */
	struct devx_field id;
	struct devx_field copy[5]; /* fields that are at the same place in the create command */
};

enum {                      /* devx_cmd.flags */
       DEVX_NO_UID = 1,     /* also allowed in a context that was not opened for DEVX */
       DEVX_ID_IN_INPUT = 2 /* create: the program has chosen the number, which is in the input */
};

struct devx_cmd {
	uint16_t opcode;
	uint8_t methods; /* enum devx_method */
	uint8_t flags;
	struct {
		struct devx_field field;
		uint8_t create, modify; /* the op_mod that the method needs */
	} must;
	uint16_t maker; /* opcode of the command that makes the object */
	/* the object's number: in the input; for CREATE in the output, but see flags */
	struct devx_field id;
	/* bits that the kernel sets, because the object lies in umems */
	struct devx_field umem_valid[2];
	struct devx_destroy destroy; /* for CREATE only */
};

/* The row of an opcode; NULL: no DEVX method takes it. */
const struct devx_cmd *devx_cmd_find(uint16_t opcode);
/* May this command be sent by this method? True also for general commands of the open range. */
bool devx_cmd_allowed(const void *in, enum devx_method method);
/* Is it one of the few commands that a context without a DEVX uid may send? */
bool devx_cmd_needs_no_uid(uint16_t opcode);

/*
 * The identity of the object that a command uses or has made: the maker's opcode, a general
 * object's type, and the number. 0: none (the input is too short).
 */
uint64_t devx_cmd_object(const void *in, uint32_t inlen);
uint64_t devx_cmd_created(const void *in, uint32_t inlen, const void *out, uint32_t outlen);
static inline uint64_t devx_object(uint32_t maker, uint32_t id)
{
	return (uint64_t)maker << 32 | id;
}

/* Set the *_umem_valid bits, if the input is long enough to have them. */
void devx_cmd_set_umem_valid(void *in, uint32_t inlen);
/* Build the command that destroys the object with number `id` made by `in`; returns its length. */
#define DEVX_DESTROY_MAX 0x40
uint32_t devx_cmd_build_destroy(const void *in, uint32_t inlen, uint32_t id,
				uint8_t din[DEVX_DESTROY_MAX]);

#endif
