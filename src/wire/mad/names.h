/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of MAD fields and values, and the layouts of a MAD: for traces, `softhca decode` and
 * `softhca explain`. No behaviour depends on them. No malloc, no stdio.
 */
#ifndef SOFTHCA_WIRE_MAD_NAMES_H
#define SOFTHCA_WIRE_MAD_NAMES_H

#include "wire/mad/mad.h"

/* One attribute of one class. */
struct mad_attr_info {
	uint8_t mgmt_class; /* MAD_CLASS_SUBN_LID for both kinds of SMPs; 0: any class */
	uint16_t attr_id;
	const char *name;            /* name in the specification */
	const struct layout *layout; /* NULL: none */
	const char *text_name;       /* name of a text in it; or NULL */
	uint16_t text, text_len;
	/* A message of the CM: where the consumer's bytes begin, and 72 of information; 0: none. */
	uint16_t data, info;
};
/* Row i; NULL after the last. */
const struct mad_attr_info *mad_attr_at(uint32_t i);
/* The row of an attribute; NULL: unknown. */
const struct mad_attr_info *mad_attr_info(uint32_t mgmt_class, uint32_t attr_id);

/* The names of row i, with a number that has it; NULL after the last. A name may have two rows. */
const char *mad_class_at(uint32_t i, uint32_t *nr);
const char *mad_method_at(uint32_t i, uint32_t *nr);

/* Each returns "?" for an unknown number. */
const char *mad_class_name(uint32_t mgmt_class);
const char *mad_method_name(uint32_t method);
const char *mad_attr_name(uint32_t mgmt_class, uint32_t attr_id);
/* "SubnGet(NodeInfo)"; numbers where names are unknown. Returns buf. */
const char *mad_title(const uint8_t *mad, char *buf, size_t size);

/* The name of an RMPPStatus, as the specification abbreviates it. */
const char *mad_rmpp_status_name(uint32_t status);

/* The name of a value of the field at this bit ("ACTIVE" for port_info.port_state); or NULL. */
const char *mad_value_name(const struct layout *l, uint32_t bit, uint64_t v);

/* A status: the common bits of all classes, or a class's own. */
struct mad_status_info {
	uint16_t status;
	uint8_t mgmt_class; /* 0: all classes */
	const char *name;
	const char *means, *cause;
};
/* Row i; NULL after the last. */
const struct mad_status_info *mad_status_at(uint32_t i);
/*
 * Find the rows of a status (without the bit D): up to `max`; returns their number. Busy and
 * redirect are bits beside the other codes. Statuses of other classes than that one and SA are the
 * vendors'.
 */
uint32_t mad_status_find(uint32_t mgmt_class, uint16_t status, const struct mad_status_info **out,
			 uint32_t max);
/* "OK", "BAD_ATTR|BUSY", "?"; returns buf. */
const char *mad_status_text(uint32_t mgmt_class, uint16_t status, char *buf, size_t size);

/* The place of one layout in a MAD; parts are in order. */
struct mad_part {
	const char *name; /* name of the part: "hdr", "NodeInfo" */
	const struct layout *layout;
	uint32_t at, bytes;               /* offset in the MAD, and length */
	const struct mad_attr_info *attr; /* if the part is an attribute, its row; else NULL */
	bool header;                      /* the part comes before the attribute */
};
#define MAD_MAX_PARTS 12
uint32_t mad_parts(const uint8_t mad[MAD_SIZE], struct mad_part out[MAD_MAX_PARTS]);

struct rec;
/* Adds members to a trace line: the addresses in the header, the attribute's fields, the status. */
void mad_rec(struct rec *r, const uint8_t mad[MAD_SIZE]);

#endif
