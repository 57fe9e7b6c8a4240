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
bool fab_sa_is_request(const uint8_t *mad); /* of a MAD of class SA */

/* ---- between the files sa*.c */

struct sa_call {
	struct seg *s;
	uint32_t port, from;
	const uint8_t *in;
	const uint8_t *want; /* the SA record in the request */
	uint64_t mask;       /* ComponentMask */
	uint32_t method, attr_mod;
	uint16_t attr_id; /* of the answer; the request's unless a row sets another */
	bool silent;      /* there is no answer */
	bool trusted;     /* the requester knows the SM_Key */
	const struct sa_record *rec;
	uint32_t size; /* bytes of an SA record with padding to a multiple of 8 */
	/* the answer */
	uint16_t status;
	uint8_t *data;
	uint32_t len, room, count;
};

/*
 * An attribute. `get` gives all candidate SA records to sa_emit(); `set` and `del` one; `multi`
 * (GetMulti) those that its request describes.
 */
struct sa_row {
	uint16_t attr_id;
	uint16_t size;
	void (*get)(struct sa_call *c);
	void (*set)(struct sa_call *c);
	void (*del)(struct sa_call *c);
	void (*multi)(struct sa_call *c);
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

/* Set and Delete of GUIDInfoRecord. */
void sa_set_guids(struct sa_call *c);
void sa_delete_guids(struct sa_call *c);

/* A request for PathRecords: the record and its ComponentMask. */
struct sa_path_want {
	uint8_t record[64];
	uint64_t mask;
};
#define SA_PATH_GIDS 0xcu /* both GIDs, which the record shows as they were asked for */
/*
 * Writes the record of the path from one LID to another, if it is as wanted. Returns its cables
 * plus 1; 0: there is no such path.
 */
uint32_t sa_path_between(const struct sa_call *c, const struct sa_path_want *w, uint32_t src,
			 uint32_t slid, uint32_t dst, uint32_t dlid, uint8_t *r);

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

/* Under the subnet's lock, whose holder has died: drop the holder's unfinished record. */
void sa_groups_repair(struct seg *s);
void sa_kept_repair(struct seg *s);

/*
 * Elements of stored records, between lock and unlock. False: the lock is not free, c->status says
 * so. begin: a new element, or `r` to be replaced; until finish it counts as empty.
 */
bool sa_kept_lock(struct sa_call *c);
void sa_kept_unlock(struct sa_call *c);
struct fab_sarec *sa_kept_begin(struct sa_call *c, struct fab_sarec *r);
void sa_kept_finish(struct fab_sarec *r, uint32_t attr_id);

/*
 * Under the subnet's lock: tells the subscribers of a notice of the manager itself (traps 64 to 67)
 * about a port's GID or a group's, which still exist.
 */
void sa_inform(struct seg *s, uint32_t trap, const uint8_t gid[16]);
/* Under the subnet's lock: a port is out of service, and so are its subscriptions. */
void sa_inform_gone(struct seg *s, uint32_t port);
/* A MAD trap has arrived at the manager from a LID: forward its notice to subscribers. */
void sa_inform_trap(struct seg *s, uint32_t slid, const uint8_t *mad);

extern const struct sa_row sa_node_rows[], sa_path_rows[], sa_group_rows[], sa_kept_rows[],
	sa_inform_rows[], sa_multipath_rows[];

#endif
