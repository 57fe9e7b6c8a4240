/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the executor of programs (exec.c): their objects, and the words of a step. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/mlx5dv.h>

#define ARENA 65536
#define BLOCK 4096
#define MAX_OBJS 16 /* of each kind */
#define MAX_WORDS 32
#define MAX_WRS 16
#define MAX_SGES 8
#define GROUPS 2 /* multicast groups */
#define DEPTH 64 /* WQEs of a queue */

#define NEED(x)                                                               \
	do {                                                                  \
		if (!(x)) {                                                   \
			printf("broken %s:%d: %s\n", __FILE__, __LINE__, #x); \
			fflush(stdout);                                       \
			exit(99);                                             \
		}                                                             \
	} while (0)

struct words {
	int n;
	char *name[MAX_WORDS], *value[MAX_WORDS];
};

struct mr {
	struct ibv_mr *mr;
	uint32_t key; /* kept when the region is gone */
};

struct mw {
	struct ibv_mw *mw;
	uint32_t key, first; /* the present key; the key of ibv_alloc_mw() */
};

struct qp {
	struct ibv_qp *qp;
	char type[4];
	uint64_t dc_key;
	int ex; /* posts by the calls that begin with ibv_wr_ */
	struct ibv_ah *ah, *grh_ah, *group_ah[GROUPS];
	unsigned int groups; /* bits of those that it is in */
};

/* All objects of a program, by number; those that are not there are NULL. */
struct objs {
	struct ibv_context *ctx;
	struct ibv_comp_channel *channel;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint8_t *arena;
	struct ibv_pd *pd[MAX_OBJS];
	struct ibv_cq *cq[MAX_OBJS];
	struct ibv_srq *srq[MAX_OBJS];
	struct ibv_xrcd *xrcd[MAX_OBJS];
	struct mr mr[MAX_OBJS];
	struct mw mw[MAX_OBJS];
	struct qp qp[MAX_OBJS];
};

extern struct objs o;

/* words.c */
char *parse(char *line, struct words *w); /* the verb; `line` is cut */
const char *word(const struct words *w, const char *name);
uint64_t num(const struct words *w, const char *name, uint64_t otherwise);
int nr(const struct words *w, const char *name); /* of an object; -1: none */
unsigned int rights(const char *letters);
uint32_t key_of(const char *name);
int sge_list(const struct words *w, struct ibv_sge *sge);
void fill(uint64_t seed, uint64_t off, uint64_t len);
const char *qp_name(uint32_t qpn);
const char *window_name(uint32_t key);

/* make.c: each returns an errno */
int make_pd(struct words *w);
int make_mr(struct words *w);
int rereg(struct words *w); /* enum ibv_rereg_mr_err_code */
int make_mw(struct words *w);
int make_cq(struct words *w);
int make_xrcd(struct words *w);
int make_srq(struct words *w);
int make_qp(struct words *w);
int modify(struct words *w);
int dereg(struct words *w);
int dealloc(struct words *w);
int attach(struct words *w);
int detach(struct words *w);
int destroy(struct words *w);
void destroy_all(void);

/* post.c */
int post_send(struct words *head, struct words *wr, int n);
int post_recv(struct words *head, struct words *wr, int n);
