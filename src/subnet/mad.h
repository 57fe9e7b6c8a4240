/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agents inside an adapter: SMA and PMA. They answer from the segment, in the requester's
 * process. src/umad calls them for a MAD that has arrived at a port.
 */
#ifndef SOFTHCA_SUBNET_MAD_H
#define SOFTHCA_SUBNET_MAD_H

#include "hw/fab.h"
#include "wire/mad/mad.h"

enum fab_mad_result {
	FAB_MAD_PASS,  /* not for the adapter: an agent of the host may take it */
	FAB_MAD_REPLY, /* `out` is the answer */
	FAB_MAD_CONSUMED,
};

/* `in` and `out`: MAD_SIZE bytes each. */
enum fab_mad_result fab_mad(struct seg *s, uint32_t port, uint16_t slid, const uint8_t *in,
			    uint8_t *out);

/* The built-in SM's part, for the classes of subnet management. */
enum fab_mad_result fab_sm_mad(struct seg *s, uint32_t port, uint32_t slid, const uint8_t *in,
			       uint8_t *out);
/*
 * Get() of a subnet management attribute, as the port's agent answers it; `data` has SMP_DATA_SIZE
 * bytes. Used for SA records. Returns the status.
 */
uint16_t fab_sma_get(struct seg *s, uint32_t port, uint16_t attr_id, uint32_t attr_mod,
		     uint8_t *data);
/* The same for Set(), under the node's lock; `data` is then what Get() would give. */
uint16_t fab_sma_set(struct seg *s, uint32_t port, uint16_t attr_id, uint32_t attr_mod,
		     uint8_t *data);

/*
 * One attribute. When Get and Set are called, `out` is a copy of the request; they write the
 * attribute into it; NULL: no such method. They return the status (enum mad_status).
 */
struct fab_mad_call {
	struct seg *s;
	uint32_t port;
	uint32_t attr_mod;
	uint8_t *mad;  /* the whole MAD; NULL: for an SA record */
	uint8_t *data; /* the attribute in the MAD */
};
struct fab_mad_row {
	uint8_t mgmt_class; /* MAD_CLASS_SUBN_LID for both kinds of SMPs */
	uint16_t attr_id;
	const char *name;
	uint16_t (*get)(const struct fab_mad_call *c);
	uint16_t (*set)(const struct fab_mad_call *c);
};
extern const struct fab_mad_row fab_sma_rows[], fab_pma_rows[]; /* the last row has name NULL */

#endif
