/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For test_steps*.c: a receiver in this process and its sender in a child, which is killed or
 * stopped at a marked step (POINT()) of what it does.
 */
#ifndef SOFTHCA_ENGINE_TEST_STEPS_H
#define SOFTHCA_ENGINE_TEST_STEPS_H

#include "engine/test_procs.h"
#include "hw/cq.h"
#include "hw/evsub.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "util/point.h"
#include "wire/prm/eq.h"

#include <infiniband/verbs.h>

#define RECEIVES 4
#define MAX_STEPS 200

struct scene;

struct scenario {
	const char *name;
	enum prm_st st;
	bool srq;
	void (*setup)(struct scene *x);
	void (*act)(struct scene *x, struct t_qp *c); /* run in the child */
	void (*check)(struct scene *x, bool whole);   /* the child survived: `whole` */
	bool tags;                                    /* a message with a tag */
};

struct scene {
	struct bed *e;
	const struct scenario *is;
	struct t_qp *b; /* the receiver's QP */
	struct t_srq srq;
	uint32_t srq_evq, sub[3], subq[2];
	int eventfd;
	uint32_t sn;
	char spec[32];
	bool stopped; /* the child has stopped at its step; else it has ended */
	int status;   /* of the child, by waitpid() */
};

extern struct scene *scene; /* for the child */
extern const struct scenario scenarios[];
extern const uint32_t nscenarios;

struct seg *seg_of(const struct scene *x);
uint32_t count_events(struct scene *x, uint32_t evq, int type);
uint32_t count_cqes(struct scene *x, uint8_t opcode);
void send_one(struct scene *x, struct t_qp *c);
void send_datagram(struct scene *x, struct t_qp *c);
/* A block with a wrong CRC, to the receiver's signature key. */
void setup_signed(struct scene *x);
void write_signed(struct scene *x, struct t_qp *c);
void child(struct bed *e);
void check_send(struct scene *x, bool whole);
void check_limit(struct scene *x, bool whole);
void setup_full(struct scene *x);
void setup_devx(struct scene *x);
void setup_moderated(struct scene *x);
void subscribe(struct scene *x, uint32_t hca, uint32_t key, uint32_t id);
void scene_setup(struct scene *x, void (*body)(struct bed *e));
/* Sets the scene; the child acts, and at its n-th step does `how`: "kill" or "stop". */
void scene_start(struct scene *x, const char *how, uint32_t n);
/* scene_start() with "stop", until the child has stopped or ended. */
void scene_stop(struct scene *x, uint32_t n);
/* Lets the child go on to its end (SIGCONT), or kills it (SIGKILL). */
void scene_go_on(struct scene *x, int sig);
void scene_end(struct scene *x);
/* scene_end() after reap(), which has closed the pipes. */
void scene_free(struct scene *x);
/*
 * Adopts memory of a queue of this process, as if others had asked. Returns its umem, which the
 * queue must name.
 */
uint32_t adopt_queue(struct seg *s, uint64_t va, uint64_t len);
void settle(struct scene *x);
void goes_on(struct scene *x);
/* Acts as the device thread until a QP waits for no lock any more. */
void run_out(struct scene *x, struct t_qp *q);
/* Another QP completes to the receiver's CQ, and takes its lock over from a stopped sender. */
void complete_another(struct scene *x);
/* Lets the handler of SIGSEGV finish copies, and adopts the whole key, which is this process's. */
void adopt_key(struct seg *s, uint32_t key);
/*
 * Calls one(scenario, n) for n = 1, 2... until it returns false, for each scenario. `what`: for the
 * log.
 */
void at_every_step(const char *what, bool (*one)(const struct scenario *is, uint32_t n));
/* The same without scenarios; there are at least `least` steps. */
void at_each_step(const char *what, uint32_t least, bool (*one)(uint32_t n));

#endif
