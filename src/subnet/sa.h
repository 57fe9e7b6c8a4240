/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet administration of the built-in subnet manager (IBA chapter 15). It answers from the
 * segment, in the requester's thread. Statuses are those of IBA 15.2.1.1, with OpenSM's usage.
 */
#ifndef SOFTHCA_SUBNET_SA_H
#define SOFTHCA_SUBNET_SA_H

#include "fabric/fabric.h"
#include "subnet/mad.h"
#include "wire/ib/link.h"
#include "wire/mad/sa_comp.h"

struct hw_port;

#define FAB_SA_KEY 1 /* SM_Key of trusted requests: OpenSM's default, which saquery sends */

/* ---- for src/umad */

struct fab_sa_answer {
	uint8_t mad[MAD_SIZE]; /* the answer; for a long one its header */
	bool rmpp;             /* `data` goes behind the header, as an RMPP message */
	uint8_t *data;
	uint32_t len;
};

/*
 * A MAD of class SA has arrived at `port` from the port `from`. PASS: the built-in SM is not there.
 * REPLY: send the answer, then fab_sa_free() it.
 */
enum fab_mad_result fab_sa(struct seg *s, uint32_t port, uint32_t from, const uint8_t *in,
			   struct fab_sa_answer *a);
void fab_sa_free(struct fab_sa_answer *a);

/* ---- between the files sa*.c */

struct sa_call {
	struct seg *s;
	uint32_t port, from;
	const uint8_t *in;
	const uint8_t *want; /* the SA record in the request */
	uint64_t mask;       /* ComponentMask */
	uint32_t method, attr_mod;
	bool trusted; /* the requester knows the SM_Key */
	const struct sa_record *rec;
	uint32_t size; /* bytes of an SA record with padding to a multiple of 8 */
	/* the answer */
	uint16_t status;
	uint8_t *data;
	uint32_t len, room, count;
};

/* An attribute. `get` gives all candidate SA records to sa_emit(); `set` and `del` one. */
struct sa_row {
	uint16_t attr_id;
	uint16_t size;
	void (*get)(struct sa_call *c);
	void (*set)(struct sa_call *c);
	void (*del)(struct sa_call *c);
};

/*
 * Adds an SA record to the answer if it matches the request. `own`: components that the caller has
 * matched already.
 */
void sa_emit(struct sa_call *c, uint64_t own, const void *record);
/* Does the request contain component number `bit`? */
static inline bool sa_has(const struct sa_call *c, unsigned int bit)
{
	return c->mask >> bit & 1;
}
/* No more SA records are needed: an error, or more than the one of a Get. */
static inline bool sa_done(const struct sa_call *c)
{
	return c->status || (c->method == MAD_METHOD_GET && c->count > 1);
}
/* Component numbers. */
#define SA_RID_LID 0 /* octet of the LID in most SA records of nodes */

/* IBA's codes of rates: Gb/s times 10 of a code, and the code of a port's link. 0: no such rate. */
uint32_t sa_port_rate(const struct hw_port *p);
/*
 * Does `have` match a selector with a value (enum sa_selector)? Compares by value(), which may be
 * NULL.
 */
bool sa_selected(uint32_t selector, uint32_t want, uint32_t have, uint32_t (*value)(uint32_t));
/* Do both have a common partition, at least one as a full member? Returns its P_Key, or 0. */
uint16_t sa_shared_pkey(const struct hw_port *a, const struct hw_port *b);
/* Does the port's table have the partition? */
bool sa_port_has_pkey(const struct hw_port *p, uint16_t pkey);

/* Under the subnet's lock, whose holder has died: drop the holder's unfinished record. */
void sa_groups_repair(struct seg *s);
void sa_kept_repair(struct seg *s);

extern const struct sa_row sa_node_rows[], sa_path_rows[], sa_group_rows[], sa_kept_rows[];

#endif
