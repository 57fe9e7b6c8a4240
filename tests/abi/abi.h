/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the uverbs character device as rows: the bytes that a program sends, the errno that the
 * kernel gives for them, and the kernel's rule. Every value is literal: memory lies at fixed
 * addresses, and handles are the lowest free numbers (xa_alloc), so those of the objects that
 * world.c makes are known.
 */
#ifndef SOFTHCA_TESTS_ABI_H
#define SOFTHCA_TESTS_ABI_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>

/* ---- memory */
#define MEM UINT64_C(0x500000000000) /* 16 pages for queues and regions */
#define MEM_LEN UINT64_C(0x10000)
#define DBR (MEM + 0xf000)               /* doorbell records */
#define NEXT_DBR (MEM + 0xe000)          /* of what rows make: a page that has none otherwise */
#define IN UINT64_C(0x500000100000)      /* a page of input; the next may not be touched */
#define IN_END (IN + 4096)               /* PROT_NONE */
#define OUT UINT64_C(0x500000200000)     /* 2 pages for answers, then PROT_NONE */
#define OUT_END (OUT + 8192)             /* */
#define RDONLY UINT64_C(0x500000300000)  /* a page that may be read */
#define NOWHERE UINT64_C(0x500000400000) /* not mapped */
#define KERNEL UINT64_C(0xffff888000000000)

/* ---- handles and descriptors, in the order in which world.c makes them */
enum { PD, MR, UAR, CQ, QP, DEVX_PD, NONE = 77 };
enum { CHANNEL = 201, ASYNC, PLAIN, CLOSED, RESULTS, EVENT_FILE, EVENTFD };

/* The next that is made, and those after it, until what was made is destroyed again. */
enum { NEXT = DEVX_PD + 1 };
/* Numbers that the firmware has given out to them, on a fabric of its own. */
enum { UAR_PAGE = 2, PDN = 1, CQN = 1, QPN = 0x40 };

/*
 * The file that a call goes to: one with a context with all of the above, one without any, or one
 * that is opened for a row (and those that belong to it) and then closed.
 */
enum which { CTX, FRESH, NEW };

/* ---- rows */

struct attr {
	uint16_t id;
	uint16_t len;
	uint64_t data;     /* inline bytes, constant, handle, address; unless: */
	const void *in;    /* len bytes of input: inline up to 8, else in memory before IN_END */
	bool optional;     /* without UVERBS_ATTR_F_MANDATORY */
	uint16_t reserved; /* attr_data.reserved */
};

#define NATTRS 20
struct ioctl_row {
	const char *what, *rule;
	int want; /* errno; 0: done */
	enum which which;
	uint32_t cmd; /* of ioctl(2); 0: RDMA_VERBS_IOCTL */
	uint64_t at;  /* where the call lies; 0: ends at IN_END, or before the input */
	uint16_t object, method;
	/* differences from what is right */
	uint16_t length, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
	struct attr attr[NATTRS]; /* to the first without id and len and data */
	unsigned int nattr;       /* or so many */
	bool more;   /* the next row goes on: the objects are looked at after that one */
	bool closes; /* it has made a descriptor, which is closed again */
};

struct write_row {
	const char *what, *rule;
	int want; /* errno; 0: count is the result */
	enum which which;
	uint64_t at;  /* where the bytes lie; 0: they end at IN_END */
	size_t count; /* 0: all bytes */
	uint32_t words[48];
	unsigned int nwords;
	bool more, closes; /* as above */
};

/*
 * All tables, I for ioctl and W for write(2), in the order in which they are run. A new one is
 * entered here and in meson.build.
 */
#define TABLES(I, W)    \
	I(xrc_rows)     \
	W(xrc_written)  \
	I(modify_rows)  \
	I(new_rows)     \
	I(frame_rows)   \
	I(device_rows)  \
	I(object_rows)  \
	I(invoke_rows)  \
	I(devx_rows)    \
	I(event_rows)   \
	I(life_rows)    \
	I(class_rows)   \
	I(mlx5_rows)    \
	I(wq_rows)      \
	W(write_rows)   \
	W(written_rows) \
	W(wq_written_rows)
#define NO_TABLE(name)

#define IOCTL_EXTERN(name)                    \
	extern const struct ioctl_row name[]; \
	extern const unsigned int name##_count;
#define WRITE_EXTERN(name)                    \
	extern const struct write_row name[]; \
	extern const unsigned int name##_count;
TABLES(IOCTL_EXTERN, WRITE_EXTERN)
#define ROWS_END(name) const unsigned int name##_count = sizeof(name) / sizeof(name[0])

/* world.c: 0, or an errno */
void world_make(void);
/* Every file is closed. world_make() makes another such world. */
void world_end(void);
int world_ioctl(const struct ioctl_row *r);
int world_write(const struct write_row *r);
/* The address space and the objects are as they were: nothing was written outside OUT. */
bool world_unharmed(const char **what);
int world_fd(enum which which);
/* The end of a row, or of several that belong together. */
void world_row_end(void);

/* main.c: one call's outcome, reported when it is not what it should be. */
void abi_check(const char *what, const char *rule, int want, int got);
/* walk.c */
void walk_all(void);

#endif
