/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of /dev/infiniband/rdma_cm (<rdma/rdma_user_cm.h>) as a table, and how a program's
 * write(2) travels from its process (ucma.c) to the supervisor (src/cma). Called by both.
 */
#ifndef SOFTHCA_UCMA_ABI_H
#define SOFTHCA_UCMA_ABI_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UCMA_IN_MAX 1024
#define UCMA_AUX_MAX 1024
#define UCMA_OUT_MAX 1024

/* A write(2). The process follows its program's pointers, so that the supervisor need not. */
struct ucma_call {
	uint32_t file;    /* SEG_T_FILE */
	uint32_t count;   /* length of the write(2); UINT32_MAX: that or more */
	uint32_t len;     /* bytes that follow: what is readable at `buf`, UCMA_IN_MAX at most, and
			   * not limited by `count`: the kernel copies a command's whole struct */
	uint32_t aux_len; /* bytes that follow these: what SET_OPTION's pointer names, cut at
			   * UCMA_AUX_MAX; or MIGRATE_ID's: a struct ucma_fd */
	int32_t aux_err;  /* 0, or -EFAULT: these bytes cannot be read */
	uint32_t no_response; /* the address for the response cannot be written */
};

struct ucma_fd {       /* what MIGRATE_ID's descriptor is */
	int32_t err;   /* -ENOENT no open file, -EINVAL not of this device */
	uint32_t file; /* SEG_T_FILE */
};

/*
 * An event in its file's queue (the data of one record). After it come answers to what librdmacm
 * asks next about the event's id. They are valid as long as `changes` equals the id's counter in
 * the opener's slot (seg_slot.changes). The supervisor increments the counter when a command or an
 * arriving MAD changes the id.
 */
struct ucma_event {
	struct rdma_ucm_event_resp resp;
	uint32_t changes;
	uint32_t pad;
};
/* `len` bytes follow. */
struct ucma_answer {
	uint16_t cmd; /* RDMA_USER_CM_CMD_QUERY or INIT_QP_ATTR */
	uint16_t len; /* a multiple of 8; a shorter response buffer: ask the supervisor */
	uint32_t key; /* the option; the QP state */
};
#define UCMA_AHEAD_MAX 1280 /* bytes of all answers */

/* When the response's address is checked. */
enum ucma_check {
	UCMA_CHECK_ASKED, /* the first out_len bytes, before the command changes anything */
	UCMA_CHECK_WHOLE, /* all bytes, before the command changes anything (ucma_migrate_id()) */
	UCMA_CHECK_LATE,  /* at the copy of the response, because the command changes nothing */
};
#define UCMA_NO_ID UINT16_MAX

struct ucma_row {
	const char *name;  /* CREATE_ID; NULL: no such command (-ENOSYS) */
	uint16_t in;       /* bytes of its struct that the kernel copies */
	uint16_t in_min;   /* of a struct that has grown: in_len must reach it and limits the
			    * copy; 0: in_len is not looked at, the whole struct is copied */
	uint16_t out;      /* bytes of the whole response; 0 none */
	uint16_t response; /* offset of the response's address within the struct */
	uint16_t id;       /* offset of the id; UCMA_NO_ID: it names none */
	enum ucma_check check;
	uint16_t key; /* offset of the member for ucma_answer.key; 0: no such command */
};
extern const struct ucma_row ucma_rows[];
extern const uint32_t ucma_nrows;
/* The row of a command that `in` (with its header) begins with; NULL: none. */
const struct ucma_row *ucma_row_of(const void *in, size_t len);

#endif
