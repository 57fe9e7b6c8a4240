/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random programs for tests/oracle: calls.c makes a call in one of its forms, right or wrong;
 * programs.c chooses calls and remembers the objects that they make.
 */
#ifndef SOFTHCA_TESTS_ORACLE_RANDOM_H
#define SOFTHCA_TESTS_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl.h>

#define MEM UINT64_C(0x300000000000) /* 16 pages for queues and regions */
#define MEM_LEN UINT64_C(0x10000)
#define NOWHERE UINT64_C(0x300000400000) /* not mapped */

/* The kernel's driver is rxe, not mlx5. */
extern bool rxe;

/* ---- numbers: the same on both sides, as long as the answers are the same */
void seed(uint64_t s);
unsigned int below(unsigned int n);
bool one_in(unsigned int n);

/* ---- data of the driver behind a command or method */
enum driver_data {
	NO_DATA,
	FOR_CONTEXT,
	FOR_PD,
	FOR_CQ,
	FOR_QP,
	FOR_QP_ON_SRQ,
	FOR_SRQ,
	FOR_AH,
	FOR_SRQ_CHANGE
};

/* A command of the older interface. */
struct command {
	const char *name;
	uint32_t nr; /* with IB_USER_VERBS_CMD_FLAG_EXTENDED */
	void *in;    /* plain commands with an answer have its address first */
	size_t in_len;
	size_t out_len;
	enum driver_data data;
};

enum { NATTRS = 16, OUT_MAX = 1024 };
/* A method of an object: attributes of the core alone; the driver's are added. */
struct method {
	const char *name;
	uint16_t object, method;
	struct ib_uverbs_attr attr[NATTRS];
	unsigned int n;
	enum driver_data data;
};

/* The answer to the last command, and the device's file. */
extern uint8_t out[OUT_MAX];
extern int device;

/* Chooses a form and whether something in it is wrong, and makes the call: 0 or errno. */
int call_command(const struct command *c);
int call_method(struct method *m);
/* Words of the last answer that were written. */
unsigned int answered(size_t len);

/* ---- objects of the running program (programs.c) */
enum kind { PD, MR, MW, CQ, QP, SRQ, AH, CHANNEL, ASYNC, KINDS };
extern const uint16_t objects[KINDS]; /* their numbers */

/* Adds to the program's line of output. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends a call: adds its errno to the line. If true, there is none, and the caller adds results. */
bool done(const char *name, int err);
void made(enum kind k, uint32_t handle);
void lost(enum kind k, uint32_t handle);
/* A handle, mostly of a living object of that kind. */
uint32_t pick(enum kind k);
/* A descriptor: of an event file, of the device, or an unused number. */
uint32_t pick_file(enum kind k);
/* A word of the answer. */
uint32_t word(size_t at);
/* A type that every driver has. */
uint8_t qp_type(void);

/* ---- calls: commands.c and methods.c */
void get_context(void);
void query_device(void);
void query_port(void);
void alloc_pd(void);
void reg_mr(void);
void alloc_mw(void);
void create_channel(void);
void create_cq(void);
void create_qp(void);
void create_srq(void);
void modify_srq(void);
void query_srq(void);
void create_ah(void);
void modify_qp(void);
void query_qp(void);
void multicast(void);
void destroy(void);
void destroy_method(void);
void cq_method(void);
void qp_method(void);
void srq_method(void);
void query_mr(void);
void info_handles(void);
void event_file(void);
void query_methods(void);

#endif
