/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For programs whose senders are killed or stopped at random moments: a receiver and its senders,
 * each a process of its own, on every transport. The sender is this program again, with its socket
 * to the receiver as descriptor 3.
 */
#ifndef TESTS_KILLED_ENDS_H
#define TESTS_KILLED_ENDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

enum transport { T_RC, T_UC, T_UD, T_XRC, T_DC, T_SRQ, T_COUNT };
extern const char *const transport_names[T_COUNT];

enum { MSG_BYTES = 64, GRH_BYTES = 40, DEPTH = 1024, QKEY = 0x1234, DC_KEY = 77 };

struct addr {
	uint32_t qpn, srqn;
	uint32_t rkey;
	uint64_t va;
	uint16_t lid;
};

/* The objects of one process. */
struct end {
	enum transport t;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp; /* QP of the current sender; UD and DC: of all senders */
	struct ibv_ah *ah;
	struct ibv_port_attr port;
	uint8_t *mem;
	uint32_t sent; /* each message carries its number */
	int depth;
	struct addr peer;
};

#define NEED(x)                                                                     \
	do {                                                                        \
		if (!(x)) {                                                         \
			fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #x); \
			_exit(99);                                                  \
		}                                                                   \
	} while (0)

double now_s(void);
/* Seconds that a test shall take: $SOFTHCA_STRESS_SECONDS, else `quick`. */
double stress_seconds(double quick);
/* Is the descriptor readable within `ms`? */
bool readable(int fd, int ms);

void end_open(struct end *e, enum transport t, int depth);
/* Make the QP for a new peer; returns the data that this peer needs. */
struct addr receiver_new_qp(struct end *e);
/* ... and connect it when the peer's address is known. */
void receiver_connect(struct end *e, const struct addr *peer);
void receiver_drop_qp(struct end *e);
/* Post one receive to the queue that this transport uses. */
void receiver_post(struct end *e);

/* Start this program as a sender on the same transport: returns its pid, and the socket to it. */
pid_t sender_start(const char *prog, enum transport t, const char *mode, int *sock);
/* In the sender: connect to the receiver at the other end of descriptor 3. */
void sender_begin(struct end *e, enum transport t);
/* Post a send: 0, or errno. */
int sender_post(struct end *e, bool signaled);

#endif
