/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the rdma_cm character device as rows: a script of steps, each with the answer that the
 * kernel gives, and the kernel's rule. The answers were recorded from Linux 6.1 with rxe (RoCE) and
 * compared with its source; an answer for InfiniBand alone is read in the source. README.md has the
 * language of the steps.
 */
#ifndef SOFTHCA_TESTS_UCMA_H
#define SOFTHCA_TESTS_UCMA_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

/* The flags column. An answer in `[roce:...|ib:...]` makes its row one that depends on the link. */
enum {
	ROCE_ONLY = 1 << 0, /* runs on Ethernet ports only */
	IB_ONLY = 1 << 1,   /* runs on InfiniBand ports only; read in the source, not recorded */
	RXE = 1 << 2,       /* the answer is the rxe driver's, or that of the recording machine */
	ROOT = 1 << 3,      /* needs privileges */
	USER = 1 << 4,      /* the step is refused without privileges: the row gives them up */
	SLOW = 1 << 5,      /* takes seconds: it waits for a timeout of the kernel */
	V6 = 1 << 6,        /* needs an IPv6 address that is not link-local */
	LL6 = 1 << 7,       /* needs a link-local address */
};

struct row {
	const char *what, *rule;
	unsigned int flags;
	const char *from;   /* steps that make the state, states.h; "" for none */
	const char *script; /* a step per line: `verb arguments -> answer` */
};

/* All tables, in the order in which they are run. A new one is entered here and in meson.build. */
#define TABLES(X)    \
	X(frame)     \
	X(id)        \
	X(bind)      \
	X(resolve)   \
	X(query)     \
	X(listen)    \
	X(connect)   \
	X(qp_attr)   \
	X(event)     \
	X(option)    \
	X(multicast) \
	X(migrate)   \
	X(ib)        \
	X(talk)

#define TABLE_EXTERN(name)                     \
	extern const struct row name##_rows[]; \
	extern const unsigned int name##_count;
TABLES(TABLE_EXTERN)
#define ROWS_END(name) const unsigned int name##_count = sizeof(name##_rows) / sizeof(struct row)

/* ---- command.c: the commands and their fields */
enum kind { NUMBER, ADDRESS, BYTES, HANDLE };

struct field {
	const char *name;
	uint16_t offset, size;
	enum kind kind;
	int16_t length; /* offset of the field with this field's length, or -1 */
	uint16_t length_size;
};

struct command {
	const char *verb;
	uint32_t number;
	uint16_t in, out;        /* sizes of the structures */
	int16_t id, response;    /* offsets, or -1 */
	const char *defaults;    /* arguments before the row's */
	const char *position[3]; /* fields of the arguments without a name, after the id */
	const struct field *fields;
	unsigned int nfields;
	void (*show)(FILE *to, const void *answer, size_t written);
};

const struct command *command_find(const char *verb);
const struct field *command_field(const struct command *c, const char *name);

/* include/rdma/ib.h of the kernel; no public header of Debian's linux-libc-dev has it. */
struct ucma_sockaddr_ib {
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask, scope_id;
};

/* ---- world.c: memory, files, ids, addresses, ports */
#define IN_END UINT64_C(0x300000101000)  /* the end of a page of input */
#define OUT_END UINT64_C(0x300000202000) /* the end of two pages for answers */
#define VAL_END UINT64_C(0x300000301000) /* the end of a page for option values */
#define RDONLY UINT64_C(0x300000400000)  /* a page that may be read */
#define NOWHERE UINT64_C(0x300000500000) /* not mapped */
#define KERNEL UINT64_C(0xffff888000000000)
#define POISON 0xa5

enum { NFILES = 4, NIDS = 26, NOBODY = 65534 };

struct world {
	bool roce;
	bool have6, have6_local;
	int patience; /* for an event, ms; only a failing row needs it */
	struct in_addr me;
	struct in6_addr me6, me6_local;
	unsigned int ifindex;
	uint8_t gid0[16];
	uint16_t lid;
	uint64_t node_guid;
	char device[64], netdev[64];
	unsigned int port_base; /* p0 of this row */
	int file[NFILES + 1];   /* f1 is file[1]; -1 */
	struct {
		bool known, ud;
		uint32_t id;
		int file;
	} id[NIDS]; /* by letter */
};
extern struct world world;

void world_make(const char *address);
void world_row(unsigned int number);
/* Close every file of a row; false if an id is left in the kernel. */
bool world_row_end(void);
int world_file(int n);
/* A fabric under softhca may belong to one user. */
bool world_opens_as_nobody(void);
bool world_is_ud(uint64_t uid);
#define UID(letter) (UINT64_C(0x1000) + (uint64_t)(letter))
bool world_gid(unsigned int index, uint8_t gid[16]);
uint16_t world_port(const char *text, bool *ok);
/* The length of the address, 0 if the text is none. */
size_t world_address(const char *text, void *to, size_t room);
/* `path`, `path:FLAGS`: a path record with its flags, as an option has it. */
size_t world_path(const char *text, void *to, size_t room);

/* ---- show.c: answers as text */
void show_address(FILE *to, const void *sa);
void show_gid(FILE *to, const uint8_t gid[16]);
void show_id(FILE *to, uint32_t id);
void show_event(FILE *to, const void *answer, size_t written);
void show_addr(FILE *to, const void *answer, size_t written);
void show_route(FILE *to, const void *answer, size_t written);
void show_path(FILE *to, const void *answer, size_t written);
void show_qp_attr(FILE *to, const void *answer, size_t written);
void show_reported(FILE *to, const void *answer, size_t written);

/* ---- step.c: one step; its answer is a string in `answer` */
void step_run(const char *text, char *answer, size_t room);
/* files.c: steps that are no commands; false if the verb is unknown */
bool step_other(char **word, unsigned int n, int file, FILE *to);
/* One GET_EVENT that may block; -errno. */
int step_get_event(int fd, struct rdma_ucm_event_resp *resp);

#endif
