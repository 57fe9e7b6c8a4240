/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the uverbs character device as rows: the bytes that a program sends, the kernel's errno,
 * and the kernel's rule. Every value is literal: memory is at fixed addresses, and handles are the
 * lowest free numbers (xa_alloc), so those of the objects in world.c are known.
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
#define MEM UINT64_C(0x300000000000) /* 16 pages for queues and regions */
#define MEM_LEN UINT64_C(0x10000)
#define DBR (MEM + 0xf000)               /* doorbell records */
#define NEXT_DBR (MEM + 0xe000)          /* doorbell records of objects that rows make */
#define IN UINT64_C(0x300000100000)      /* a page of input; the next page has no access */
#define IN_END (IN + 4096)               /* PROT_NONE */
#define OUT UINT64_C(0x300000200000)     /* 2 pages for answers, then PROT_NONE */
#define OUT_END (OUT + 8192)             /* */
#define RDONLY UINT64_C(0x300000300000)  /* a page that can only be read */
#define NOWHERE UINT64_C(0x300000400000) /* not mapped */
#define KERNEL UINT64_C(0xffff888000000000)

/* ---- handles and descriptors, in the order in which world.c makes them */
enum { PD, MR, UAR, CQ, QP, DEVX_PD, NONE = 77 };
enum { CHANNEL = 201, ASYNC, PLAIN, CLOSED, RESULTS, EVENT_FILE, EVENTFD };

/* Handle of the next object, and of the ones after it, until they are destroyed. */
enum { NEXT = DEVX_PD + 1 };
/* Numbers that the firmware has assigned to these objects, on a fabric of its own. */
enum { UAR_PAGE = 2, PDN = 1, CQN = 1, QPN = 0x40 };

/*
 * The file of a call: one with a context and all of the above, one without a context, or one that
 * is opened for a row (and the rows that belong to it) and then closed.
 */
enum which { CTX, FRESH, NEW };

/* The link layer of the device's ports that a row needs. */
enum on_link { ON_ANY, ON_IB, ON_ETH };

/*
 * A destination that every link layer takes: link-local, and the source is GID 0, which on Ethernet
 * is of RoCE v1; the MAC address follows from it (rdma_get_ll_mac()).
 */
#define AV_DGID                                                         \
	{                                                               \
		0xfe, 0x80, [8] = 0x58, 0x17, 0xca, 0xff, 0xfe, 0, 0, 1 \
	}
#define AV_DEST .dgid = AV_DGID, .dlid = 1, .is_global = 1, .port_num = 1
#define AV_AH .grh = {.dgid = AV_DGID}, .dlid = 1, .is_global = 1, .port_num = 1
#define AV_RESP 16 /* mlx5_ib_create_ah_resp */

/* ---- rows */

struct attr {
	uint16_t id;
	uint16_t len;
	uint64_t data;  /* inline bytes, constant, handle or address, unless `in` is set */
	const void *in; /* len bytes of input: inline up to 8, else in memory that ends at IN_END */
	bool optional;  /* UVERBS_ATTR_F_MANDATORY is not set */
	uint16_t reserved; /* attr_data.reserved */
};

#define NATTRS 20
struct ioctl_row {
	const char *what, *rule;
	int want; /* errno; 0: success */
	enum which which;
	uint32_t cmd; /* request of ioctl(2); 0: RDMA_VERBS_IOCTL */
	uint64_t at;  /* address of the call; 0: it ends at IN_END, or before the input */
	uint16_t object, method;
	/* values that replace the right ones */
	uint16_t length, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
	struct attr attr[NATTRS]; /* up to the first without id, len and data */
	unsigned int nattr;       /* or this many */
	bool more;                /* the next row continues: check the objects after that one */
	bool closes;              /* the row makes a descriptor, which is then closed */
	bool driver;              /* the driver decides, although the rule does not begin with it */
	enum on_link link;
};

struct write_row {
	const char *what, *rule;
	int want; /* errno; 0: the result is the count */
	enum which which;
	uint64_t at;  /* address of the bytes; 0: they end at IN_END */
	size_t count; /* argument of write(2); 0: all bytes */
	uint32_t words[48];
	unsigned int nwords;
	bool more, closes, driver; /* as in struct ioctl_row */
	enum on_link link;
};

/*
 * All tables in the order of their runs, I for ioctl and W for write(2). Add a new one here and in
 * meson.build.
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
	I(dm_rows)      \
	W(write_rows)   \
	W(written_rows) \
	I(roce_rows)    \
	I(tm_rows)      \
	W(tm_written)   \
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

/* world.c: make the objects. Ends the program on an error. */
void world_make(void);
/* Close every file. world_make() can make the world again. */
void world_end(void);
/* For a second world on the same fabric: the firmware's numbers are others. */
void world_any_numbers(void);
int world_ioctl(const struct ioctl_row *r);
int world_write(const struct write_row *r);
/* Are the address space and the objects unchanged: was nothing written outside OUT? */
bool world_unharmed(const char **what);
int world_fd(enum which which);
/* Does the device have the ports that a row needs? */
bool world_has(enum on_link link);
/* Called after a row, or after several that belong together. */
void world_row_end(void);

/* The words that the last row's answer has, written into text. */
void world_answer_ioctl(const struct ioctl_row *r, char *text, size_t size);
void world_answer_write(const struct write_row *r, char *text, size_t size);

/* driver.c: for a kernel's device with rxe, the rows get rxe's data in place of mlx5's. */
void driver_use_rxe(void);
bool driver_is_rxe(void);
/* Words of the core's answer to a command: the driver's follow. */
unsigned int driver_core_answer(const struct write_row *r);
void driver_ioctl(struct ioctl_row *r);
void driver_write(struct write_row *r);
/* Does the driver, not the core, decide the answer? tests/oracle does not compare such rows. */
bool driver_decides_ioctl(const struct ioctl_row *r);
bool driver_decides_write(const struct write_row *r);

/* main.c: report the result of a call if it is not the expected one. */
void abi_check(const char *what, const char *rule, int want, int got);
/* walk.c; undecided: only what no driver decides */
void walk_all(bool undecided);

#endif
