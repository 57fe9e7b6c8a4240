/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names that values of rules may have. Not in the preloaded library. */
#include "fault/rows.h"
#include "hw/service.h"
#include "util/cleanup.h"
#include "wire/mad/cm.h"
#include "wire/mad/names.h"
#include "wire/pkt/pkt.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/opcodes.h"

#include <infiniband/verbs.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t n;
} statuses[] = {
#define STATUS(prefix, word, n) {#word, n},
	PRM_V_STATUS(STATUS)
#undef STATUS
};

static const struct {
	const char *name;
	uint64_t n;
	bool recv; /* a receive can end with it, by itself; else a send */
} wcs[] = {
	{"LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR, false},
	{"LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR, false},
	{"LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR, false},
	{"MW_BIND_ERR", IBV_WC_MW_BIND_ERR, false},
	{"BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR, false},
	{"REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR, false},
	{"REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR, false},
	{"REM_OP_ERR", IBV_WC_REM_OP_ERR, false},
	{"RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR, false},
	{"RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR, false},
	{"REM_ABORT_ERR", IBV_WC_REM_ABORT_ERR, false},
	{"LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR, true},
	{"LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR, true},
	{"LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR, true},
};

static const struct {
	const char *name;
	uint64_t n;
	enum fault_value of;
} events[] = {
	{"QP_FATAL", IBV_EVENT_QP_FATAL, FAULT_V_QP_EVENT},
	{"QP_REQ_ERR", IBV_EVENT_QP_REQ_ERR, FAULT_V_QP_EVENT},
	{"QP_ACCESS_ERR", IBV_EVENT_QP_ACCESS_ERR, FAULT_V_QP_EVENT},
	{"PATH_MIG_ERR", IBV_EVENT_PATH_MIG_ERR, FAULT_V_QP_EVENT},
	{"SRQ_ERR", IBV_EVENT_SRQ_ERR, FAULT_V_SRQ_EVENT},
	{"WQ_FATAL", IBV_EVENT_WQ_FATAL, FAULT_V_WQ_EVENT},
};

struct word {
	const char *name;
	uint64_t n;
};

static const struct word msgs[] = {
	{"REQ", CM_ATTR_REQ},   {"MRA", CM_ATTR_MRA},           {"REJ", CM_ATTR_REJ},
	{"REP", CM_ATTR_REP},   {"RTU", CM_ATTR_RTU},           {"DREQ", CM_ATTR_DREQ},
	{"DREP", CM_ATTR_DREP}, {"SIDR_REQ", CM_ATTR_SIDR_REQ}, {"SIDR_REP", CM_ATTR_SIDR_REP},
	{"LAP", CM_ATTR_LAP},   {"APR", CM_ATTR_APR},
};

/* IBA 9.7.5.2.8; the number of each is in its syndrome. */
static const struct word naks[] = {
	{"sequence", PKT_SYND_NAK_SEQUENCE},
	{"invalid_request", PKT_SYND_NAK_INVALID},
	{"remote_access", PKT_SYND_NAK_ACCESS},
	{"remote_operation", PKT_SYND_NAK_OPERATION},
};

/* IBA 12.6.7.2 */
static const struct word reasons[] = {
	{"no_qp", CM_REJ_NO_QP},
	{"no_eec", CM_REJ_NO_EEC},
	{"no_resources", CM_REJ_NO_RESOURCES},
	{"timeout", CM_REJ_TIMEOUT},
	{"unsupported", CM_REJ_UNSUPPORTED},
	{"invalid_comm_id", CM_REJ_INVALID_COMM_ID},
	{"invalid_comm_instance", CM_REJ_INVALID_COMM_INSTANCE},
	{"invalid_service_id", CM_REJ_INVALID_SERVICE_ID},
	{"invalid_transport_type", CM_REJ_INVALID_TRANSPORT_TYPE},
	{"stale_conn", CM_REJ_STALE_CONN},
	{"rdc_not_exist", CM_REJ_RDC_NOT_EXIST},
	{"invalid_gid", CM_REJ_INVALID_GID},
	{"invalid_lid", CM_REJ_INVALID_LID},
	{"invalid_sl", CM_REJ_INVALID_SL},
	{"invalid_traffic_class", CM_REJ_INVALID_TRAFFIC_CLASS},
	{"invalid_hop_limit", CM_REJ_INVALID_HOP_LIMIT},
	{"invalid_packet_rate", CM_REJ_INVALID_PACKET_RATE},
	{"invalid_alt_gid", CM_REJ_INVALID_ALT_GID},
	{"invalid_alt_lid", CM_REJ_INVALID_ALT_LID},
	{"invalid_alt_sl", CM_REJ_INVALID_ALT_SL},
	{"invalid_alt_traffic_class", CM_REJ_INVALID_ALT_TRAFFIC_CLASS},
	{"invalid_alt_hop_limit", CM_REJ_INVALID_ALT_HOP_LIMIT},
	{"invalid_alt_packet_rate", CM_REJ_INVALID_ALT_PACKET_RATE},
	{"port_cm_redirect", CM_REJ_PORT_CM_REDIRECT},
	{"port_redirect", CM_REJ_PORT_REDIRECT},
	{"invalid_mtu", CM_REJ_INVALID_MTU},
	{"insufficient_resp_resources", CM_REJ_INSUFFICIENT_RESP_RESOURCES},
	{"consumer", CM_REJ_CONSUMER_DEFINED},
	{"invalid_rnr_retry", CM_REJ_INVALID_RNR_RETRY},
	{"duplicate_local_comm_id", CM_REJ_DUPLICATE_LOCAL_COMM_ID},
	{"invalid_class_version", CM_REJ_INVALID_CLASS_VERSION},
	{"invalid_flow_label", CM_REJ_INVALID_FLOW_LABEL},
	{"invalid_alt_flow_label", CM_REJ_INVALID_ALT_FLOW_LABEL},
	{"vendor_option_not_supported", CM_REJ_VENDOR_OPTION_NOT_SUPPORTED},
};

static void each_mad_name(enum fault_value v, void (*each)(void *ctx, const char *name, uint64_t n),
			  void *ctx)
{
	const struct mad_status_info *st;
	const struct mad_attr_info *a;
	const char *name;
	uint32_t nr;

	for (uint32_t i = 0; v == FAULT_V_CLASS && (name = mad_class_at(i, &nr)); i++)
		each(ctx, name, nr | HW_FAULT_NAMED);
	for (uint32_t i = 0; v == FAULT_V_METHOD && (name = mad_method_at(i, &nr)); i++)
		each(ctx, name, nr);
	for (uint32_t i = 0; v == FAULT_V_ATTR && (a = mad_attr_at(i)); i++)
		each(ctx, a->name, (uint32_t)a->mgmt_class << 16 | a->attr_id);
	for (uint32_t i = 0; v == FAULT_V_MAD_STATUS && (st = mad_status_at(i)); i++)
		each(ctx, st->name, st->status);
	for (size_t i = 0; v == FAULT_V_MSG && i < ARRAY_SIZE(msgs); i++)
		each(ctx, msgs[i].name, msgs[i].n);
	for (size_t i = 0; v == FAULT_V_REASON && i < ARRAY_SIZE(reasons); i++)
		each(ctx, reasons[i].name, reasons[i].n);
}

void fault_value_names(enum fault_value v, void (*each)(void *ctx, const char *name, uint64_t n),
		       void *ctx)
{
	uint16_t op;

	switch (v) {
	case FAULT_V_ERRNO:
		for (int e = 1; e < 134; e++)
			if (strerrorname_np(e))
				each(ctx, strerrorname_np(e), (uint64_t)e);
		break;
	case FAULT_V_STATUS:
		for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
			each(ctx, statuses[i].name, statuses[i].n);
		break;
	case FAULT_V_OPCODE:
		for (size_t i = 0; prm_opcode_at(i, &op); i++)
			each(ctx, prm_opcode_name(op), op);
		break;
	case FAULT_V_WC:
	case FAULT_V_RECV_WC:
		for (size_t i = 0; i < ARRAY_SIZE(wcs); i++)
			if (wcs[i].recv == (v == FAULT_V_RECV_WC))
				each(ctx, wcs[i].name, wcs[i].n);
		break;
	case FAULT_V_TYPE:
		for (uint32_t st = 0; st <= HW_ST_DCT; st++)
			if (hw_service(st)->name[0] != '?')
				each(ctx, hw_service(st)->name, st);
		break;
	case FAULT_V_QP_EVENT:
	case FAULT_V_SRQ_EVENT:
	case FAULT_V_WQ_EVENT:
		for (size_t i = 0; i < ARRAY_SIZE(events); i++)
			if (events[i].of == v)
				each(ctx, events[i].name, events[i].n);
		break;
	case FAULT_V_CLASS:
	case FAULT_V_METHOD:
	case FAULT_V_ATTR:
	case FAULT_V_MAD_STATUS:
	case FAULT_V_MSG:
	case FAULT_V_REASON:
		each_mad_name(v, each, ctx);
		break;
	case FAULT_V_NAK:
		for (size_t i = 0; i < ARRAY_SIZE(naks); i++)
			each(ctx, naks[i].name, naks[i].n);
		break;
	case FAULT_V_NONE:
	case FAULT_V_TIMES:
	case FAULT_V_MAYBE_TIME:
	case FAULT_V_NUMBER:
	case FAULT_V_TIME:
	case FAULT_V_ENTRY:
	case FAULT_V_GID:
	case FAULT_V_RATE:
	case FAULT_V_TEXT:
		break;
	}
}
