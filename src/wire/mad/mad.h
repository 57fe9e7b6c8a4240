/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All layouts of MADs (IBA vol 1, chapters 13 to 16), and rules by class. Field names are the
 * specification's, in lower case. doc/HOWTO_ADD_MAD_ATTRIBUTE.md says how to add one.
 */
#ifndef SOFTHCA_WIRE_MAD_MAD_H
#define SOFTHCA_WIRE_MAD_MAD_H

#include "wire/mad/cm.h"
#include "wire/mad/common.h"
#include "wire/mad/pma.h"
#include "wire/mad/sa.h"
#include "wire/mad/smp.h"

#define MAD_LAYOUTS(X)        \
	MAD_COMMON_LAYOUTS(X) \
	MAD_SMP_LAYOUTS(X) MAD_PMA_LAYOUTS(X) MAD_SA_LAYOUTS(X) MAD_CM_LAYOUTS(X)
#define MAD_NEST_LAYOUTS(X) MAD_COMMON_NEST_LAYOUTS(X) MAD_SA_NEST_LAYOUTS(X) MAD_CM_NEST_LAYOUTS(X)

/* Is the MAD an answer, or otherwise routed by its transaction ID (mad.c, ib_response_mad())? */
static inline bool mad_is_response(const uint8_t *mad)
{
	uint64_t method = LAYOUT_GET(mad_hdr, mad, method);

	return (method & MAD_METHOD_RESP) || method == MAD_METHOD_TRAP_REPRESS ||
	       (LAYOUT_GET(mad_hdr, mad, mgmt_class) == MAD_CLASS_BM &&
		(LAYOUT_GET(mad_hdr, mad, attr_mod) & 1));
}

/* The method of the answer to a request of this one; 0: it has none. */
static inline uint32_t mad_answer_method(uint32_t method)
{
	switch (method) {
	case MAD_METHOD_GET:
	case MAD_METHOD_SET:
		return MAD_METHOD_GET_RESP;
	case MAD_METHOD_GET_TABLE:
	case MAD_METHOD_GET_TRACE_TABLE:
		return MAD_METHOD_GET_TABLE_RESP;
	case MAD_METHOD_GET_MULTI:
	case MAD_METHOD_DELETE:
	case MAD_METHOD_REPORT:
		return method | MAD_METHOD_RESP;
	default:
		return 0;
	}
}

static inline bool mad_is_vendor2(uint32_t mgmt_class)
{
	return mgmt_class >= MAD_CLASS_VENDOR2_FIRST && mgmt_class <= MAD_CLASS_VENDOR2_LAST;
}

static inline bool mad_is_smi(uint32_t mgmt_class)
{
	return mgmt_class == MAD_CLASS_SUBN_LID || mgmt_class == MAD_CLASS_SUBN_DR;
}

static inline bool mad_has_rmpp(uint32_t mgmt_class)
{
	return mgmt_class == MAD_CLASS_SA || mgmt_class == MAD_CLASS_DEV_MGMT ||
	       mgmt_class == MAD_CLASS_DEV_ADM || mgmt_class == MAD_CLASS_BIS ||
	       mad_is_vendor2(mgmt_class);
}

/* Bytes before the data of a MAD of that class: all headers, including RMPP's. */
static inline uint32_t mad_data_offset(uint32_t mgmt_class)
{
	if (mgmt_class == MAD_CLASS_SA)
		return 56;
	if (mad_is_vendor2(mgmt_class))
		return 40;
	return mad_has_rmpp(mgmt_class) ? 64 : LAYOUT_SZ(mad_hdr);
}

#endif
