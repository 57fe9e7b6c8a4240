/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_WIRE_FOR_TESTS_H
#define SOFTHCA_WIRE_FOR_TESTS_H

#include "wire/mad/mad.h"
#include "wire/mad/names.h"
#include "wire/pkt/pkt.h"
#include "wire/prm/prm.h"

/* All layouts of wire/mad/; ends with NULL. */
extern const struct layout *const mad_layouts[];
/* All rows of PRM_NAMED; ends with l NULL. */
extern const struct layout_named prm_named[];
/*
 * Builds a packet from its link header on. `payload` has p->kept bytes; `out` has PKT_MAX. Writes
 * at most `snap` bytes and returns their number; the ICRC and the link's check are written only if
 * everything fits. *wire: the packet's full length on the link.
 */
uint32_t pkt_bytes(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint8_t *out,
		   uint32_t *wire);
/* The variant CRC of a packet of `len` octets from its LRH to its ICRC. */
uint16_t pkt_vcrc(const uint8_t *p, uint32_t len);

#endif
