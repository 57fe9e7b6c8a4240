/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of what is in MADs, and which layouts one has: for traces, `softhca decode` and
 * `softhca explain`. Nothing here decides anything. No malloc, no stdio.
 */
#ifndef SOFTHCA_WIRE_MAD_NAMES_H
#define SOFTHCA_WIRE_MAD_NAMES_H

#include "wire/mad/mad.h"

/* One attribute of one class. */
struct mad_attr_info {
	uint8_t mgmt_class; /* MAD_CLASS_SUBN_LID for both kinds of SMPs; 0: any class */
	uint16_t attr_id;
	const char *name;            /* the specification's */
	const struct layout *layout; /* NULL: none */
	const char *text_name;       /* a text in it, or NULL */
	uint16_t text, text_len;
};
/* NULL: not known. */
const struct mad_attr_info *mad_attr_info(uint32_t mgmt_class, uint32_t attr_id);
/* Row i of the table; NULL behind its end. */
const struct mad_attr_info *mad_attr_at(uint32_t i);

/* All "?" when not known. */
const char *mad_class_name(uint32_t mgmt_class);
const char *mad_method_name(uint32_t method);
const char *mad_attr_name(uint32_t mgmt_class, uint32_t attr_id);
/* "SubnGet(NodeInfo)"; numbers where there are no names. Returns buf. */
const char *mad_title(const uint8_t *mad, char *buf, size_t size);

/* Of RMPPStatus, as the specification abbreviates them. */
const char *mad_rmpp_status_name(uint32_t status);

/* The name of a value of the field at this bit ("ACTIVE" of port_info.port_state), or NULL. */
const char *mad_value_name(const struct layout *l, uint32_t bit, uint64_t v);

/* A status: the bits of all classes, and the class's own. */
struct mad_status_info {
	uint16_t status;
	uint8_t mgmt_class; /* 0: all */
	const char *name;
	const char *means, *cause;
};
/* Row i; NULL behind the end. */
const struct mad_status_info *mad_status_at(uint32_t i);
/*
 * What a status (without the bit D) says: up to `max` rows; their number. Busy and redirect are
 * bits beside the others. Statuses of other classes than that and SA are vendors'.
 */
uint32_t mad_status_find(uint32_t mgmt_class, uint16_t status, const struct mad_status_info **out,
			 uint32_t max);
/* "OK", "BAD_ATTR|BUSY", "?"; returns buf. */
const char *mad_status_text(uint32_t mgmt_class, uint16_t status, char *buf, size_t size);

/* Where the layouts of one MAD lie, in their order. */
struct mad_part {
	const char *name; /* of the part: "hdr", "NodeInfo" */
	const struct layout *layout;
	uint32_t at, bytes;               /* in the MAD */
	const struct mad_attr_info *attr; /* of what is an attribute, else NULL */
	bool header;                      /* it comes before the attribute */
};
#define MAD_MAX_PARTS 12
uint32_t mad_parts(const uint8_t mad[MAD_SIZE], struct mad_part out[MAD_MAX_PARTS]);

struct rec;
/* Members of a trace record: the addresses in the header, then the attribute's fields, the status.
 */
void mad_rec(struct rec *r, const uint8_t mad[MAD_SIZE]);

#endif
