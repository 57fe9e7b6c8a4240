/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the tables of MAD names. Called by traces, also inside a signal handler. */
#include "wire/mad/names.h"

#include "util/fmt.h"
#include "wire/for_tests.h"
#include "wire/ib/port.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- classes, methods */

static const struct {
	uint8_t first, last;
	const char *name;
	const char *prefix; /* prefix of method names */
} classes[] = {
	{MAD_CLASS_SUBN_LID, MAD_CLASS_SUBN_LID, "SubnLID", "Subn"},
	{MAD_CLASS_SUBN_DR, MAD_CLASS_SUBN_DR, "SubnDR", "Subn"},
	{MAD_CLASS_SA, MAD_CLASS_SA, "SubnAdm", "SubnAdm"},
	{MAD_CLASS_PERF, MAD_CLASS_PERF, "PerfMgt", "Performance"},
	{MAD_CLASS_BM, MAD_CLASS_BM, "BM", "BM"},
	{MAD_CLASS_DEV_MGMT, MAD_CLASS_DEV_MGMT, "DevMgt", "DevMgt"},
	{MAD_CLASS_CM, MAD_CLASS_CM, "ComMgt", "ComMgt"},
	{MAD_CLASS_SNMP, MAD_CLASS_SNMP, "SNMP", "Snmp"},
	{MAD_CLASS_VENDOR1_FIRST, MAD_CLASS_VENDOR1_LAST, "Vendor", "Vendor"},
	{MAD_CLASS_DEV_ADM, MAD_CLASS_DEV_ADM, "DevAdm", "DevAdm"},
	{MAD_CLASS_BIS, MAD_CLASS_BIS, "BIS", "BIS"},
	{MAD_CLASS_CC, MAD_CLASS_CC, "CC", "CC"},
	{MAD_CLASS_VENDOR2_FIRST, MAD_CLASS_VENDOR2_LAST, "Vendor", "Vendor"},
};

static const struct {
	uint8_t nr;
	const char *name;
} methods[] = {
	{MAD_METHOD_GET, "Get"},
	{MAD_METHOD_SET, "Set"},
	{MAD_METHOD_SEND, "Send"},
	{MAD_METHOD_TRAP, "Trap"},
	{MAD_METHOD_REPORT, "Report"},
	{MAD_METHOD_TRAP_REPRESS, "TrapRepress"},
	{MAD_METHOD_GET_TABLE, "GetTable"},
	{MAD_METHOD_GET_TRACE_TABLE, "GetTraceTable"},
	{MAD_METHOD_GET_MULTI, "GetMulti"},
	{MAD_METHOD_DELETE, "Delete"},
	{MAD_METHOD_GET_RESP, "GetResp"},
	{MAD_METHOD_REPORT_RESP, "ReportResp"},
	{MAD_METHOD_GET_TABLE_RESP, "GetTableResp"},
	{MAD_METHOD_GET_MULTI_RESP, "GetMultiResp"},
	{MAD_METHOD_DELETE_RESP, "DeleteResp"},
};

static uint32_t class_row(uint32_t mgmt_class)
{
	for (uint32_t i = 0; i < COUNT(classes); i++)
		if (mgmt_class >= classes[i].first && mgmt_class <= classes[i].last)
			return i;
	return COUNT(classes);
}

const char *mad_class_name(uint32_t mgmt_class)
{
	uint32_t i = class_row(mgmt_class);

	return i < COUNT(classes) ? classes[i].name : "?";
}

const char *mad_method_name(uint32_t method)
{
	for (uint32_t i = 0; i < COUNT(methods); i++)
		if (methods[i].nr == method)
			return methods[i].name;
	return "?";
}

const char *mad_class_at(uint32_t i, uint32_t *nr)
{
	if (i >= COUNT(classes))
		return NULL;
	*nr = classes[i].first;
	return classes[i].name;
}

const char *mad_method_at(uint32_t i, uint32_t *nr)
{
	if (i >= COUNT(methods))
		return NULL;
	*nr = methods[i].nr;
	return methods[i].name;
}

/* ---- attributes */

#define SMP MAD_CLASS_SUBN_LID
#define SA MAD_CLASS_SA
#define PERF MAD_CLASS_PERF
#define CM MAD_CLASS_CM
/* doc/HOWTO_ADD_MAD_ATTRIBUTE.md: add a row here for a new attribute. */
static const struct mad_attr_info attrs[] = {
	{0, MAD_ATTR_CLASS_PORT_INFO, "ClassPortInfo", &layout_class_port_info},
	{0, MAD_ATTR_NOTICE, "Notice", &layout_notice},
	{0, MAD_ATTR_INFORM_INFO, "InformInfo", &layout_inform_info},
	{SMP, SMP_ATTR_NODE_DESC, "NodeDescription", NULL, "NodeString", 0, NODE_DESC_SIZE},
	{SMP, SMP_ATTR_NODE_INFO, "NodeInfo", &layout_node_info},
	{SMP, SMP_ATTR_SWITCH_INFO, "SwitchInfo", &layout_switch_info},
	{SMP, SMP_ATTR_GUID_INFO, "GUIDInfo", &layout_guid_info},
	{SMP, SMP_ATTR_PORT_INFO, "PortInfo", &layout_port_info},
	{SMP, SMP_ATTR_PKEY_TABLE, "P_KeyTable", &layout_pkey_table},
	{SMP, SMP_ATTR_SL2VL, "SLtoVLMappingTable", &layout_sl2vl},
	{SMP, SMP_ATTR_VL_ARB, "VLArbitrationTable", &layout_vl_arb},
	{SMP, SMP_ATTR_LFT, "LinearForwardingTable", &layout_lft_block},
	{SMP, SMP_ATTR_RFT, "RandomForwardingTable", NULL},
	{SMP, SMP_ATTR_MFT, "MulticastForwardingTable", &layout_mft_block},
	{SMP, SMP_ATTR_SM_INFO, "SMInfo", &layout_sm_info},
	{SMP, SMP_ATTR_VENDOR_DIAG, "VendorDiag", NULL},
	{SMP, SMP_ATTR_LED_INFO, "LedInfo", &layout_led_info},
	{SMP, SMP_ATTR_MLNX_EXT_PORT_INFO, "MlnxExtPortInfo", &layout_mlnx_ext_port_info},
	{SA, SA_ATTR_NODE_RECORD, "NodeRecord", &layout_node_record, "NodeString", NODE_RECORD_DESC,
	 NODE_DESC_SIZE},
	{SA, SA_ATTR_PORT_INFO_RECORD, "PortInfoRecord", &layout_port_info_record},
	{SA, SA_ATTR_SL2VL_RECORD, "SLtoVLMappingTableRecord", &layout_sl2vl_record},
	{SA, SA_ATTR_SWITCH_INFO_RECORD, "SwitchInfoRecord", &layout_switch_info_record},
	{SA, SA_ATTR_LFT_RECORD, "LinearForwardingTableRecord", &layout_lft_record},
	{SA, SA_ATTR_RFT_RECORD, "RandomForwardingTableRecord", NULL},
	{SA, SA_ATTR_MFT_RECORD, "MulticastForwardingTableRecord", &layout_mft_record},
	{SA, SA_ATTR_SM_INFO_RECORD, "SMInfoRecord", &layout_sm_info_record},
	{SA, SA_ATTR_LINK_RECORD, "LinkRecord", &layout_link_record},
	{SA, SA_ATTR_GUID_INFO_RECORD, "GuidInfoRecord", &layout_guid_info_record},
	{SA, SA_ATTR_SERVICE_RECORD, "ServiceRecord", &layout_service_record, "ServiceName",
	 SERVICE_RECORD_NAME, SERVICE_RECORD_NAME_SIZE},
	{SA, SA_ATTR_PKEY_TABLE_RECORD, "P_KeyTableRecord", &layout_pkey_table_record},
	{SA, SA_ATTR_PATH_RECORD, "PathRecord", &layout_path_record},
	{SA, SA_ATTR_VL_ARB_RECORD, "VLArbitrationTableRecord", &layout_vl_arb_record},
	{SA, SA_ATTR_MC_MEMBER_RECORD, "MCMemberRecord", &layout_mc_member_record},
	{SA, SA_ATTR_TRACE_RECORD, "TraceRecord", NULL},
	{SA, SA_ATTR_MULTI_PATH_RECORD, "MultiPathRecord", &layout_multi_path_record},
	{SA, SA_ATTR_SERVICE_ASSOCIATION_RECORD, "ServiceAssociationRecord", NULL},
	{SA, SA_ATTR_INFORM_INFO_RECORD, "InformInfoRecord", &layout_inform_info_record},
	{PERF, PMA_ATTR_PORT_SAMPLES_CONTROL, "PortSamplesControl", &layout_port_samples_control},
	{PERF, PMA_ATTR_PORT_SAMPLES_RESULT, "PortSamplesResult", &layout_port_samples_result},
	{PERF, PMA_ATTR_PORT_COUNTERS, "PortCounters", &layout_port_counters},
	{PERF, PMA_ATTR_PORT_RCV_ERROR_DETAILS, "PortRcvErrorDetails",
	 &layout_port_rcv_error_details},
	{PERF, PMA_ATTR_PORT_XMIT_DISCARD_DETAILS, "PortXmitDiscardDetails",
	 &layout_port_xmit_discard_details},
	{PERF, PMA_ATTR_PORT_COUNTERS_EXT, "PortCountersExtended", &layout_port_counters_ext},
	{PERF, PMA_ATTR_PORT_XMIT_DATA_SL, "PortXmitDataSL", &layout_port_data_sl},
	{PERF, PMA_ATTR_PORT_RCV_DATA_SL, "PortRcvDataSL", &layout_port_data_sl},
	{CM, CM_ATTR_REQ, "ConnectRequest", &layout_cm_req, .data = CM_AT_REQ_DATA},
	{CM, CM_ATTR_MRA, "MsgRcptAck", &layout_cm_mra, .data = CM_AT_MRA_DATA},
	{CM, CM_ATTR_REJ, "ConnectReject", &layout_cm_rej, .data = CM_AT_REJ_DATA,
	 .info = CM_AT_REJ_ARI},
	{CM, CM_ATTR_REP, "ConnectReply", &layout_cm_rep, .data = CM_AT_REP_DATA},
	{CM, CM_ATTR_RTU, "ReadyToUse", &layout_cm_rtu, .data = CM_AT_RTU_DATA},
	{CM, CM_ATTR_DREQ, "DisconnectRequest", &layout_cm_dreq, .data = CM_AT_DREQ_DATA},
	{CM, CM_ATTR_DREP, "DisconnectReply", &layout_cm_drep, .data = CM_AT_DREP_DATA},
	{CM, CM_ATTR_SIDR_REQ, "ServiceIDResReq", &layout_cm_sidr_req, .data = CM_AT_SIDR_REQ_DATA},
	{CM, CM_ATTR_SIDR_REP, "ServiceIDResReqResp", &layout_cm_sidr_rep,
	 .data = CM_AT_SIDR_REP_DATA, .info = CM_AT_SIDR_REP_INFO},
	{CM, CM_ATTR_LAP, "LoadAlternatePath", &layout_cm_lap, .data = CM_AT_LAP_DATA},
	{CM, CM_ATTR_APR, "AlternatePathResponse", &layout_cm_apr, .data = CM_AT_APR_DATA,
	 .info = CM_AT_APR_INFO},
};

const struct mad_attr_info *mad_attr_at(uint32_t i)
{
	return i < COUNT(attrs) ? &attrs[i] : NULL;
}

const struct mad_attr_info *mad_attr_info(uint32_t mgmt_class, uint32_t attr_id)
{
	if (mgmt_class == MAD_CLASS_SUBN_DR)
		mgmt_class = MAD_CLASS_SUBN_LID;
	for (uint32_t i = 0; i < COUNT(attrs); i++)
		if (attrs[i].attr_id == attr_id &&
		    (!attrs[i].mgmt_class || attrs[i].mgmt_class == mgmt_class))
			return &attrs[i];
	return NULL;
}

const char *mad_attr_name(uint32_t mgmt_class, uint32_t attr_id)
{
	const struct mad_attr_info *a = mad_attr_info(mgmt_class, attr_id);

	return a ? a->name : "?";
}

const char *mad_title(const uint8_t *mad, char *buf, size_t size)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);
	uint32_t method = LAYOUT_GET32(mad_hdr, mad, method);
	uint32_t attr = LAYOUT_GET32(mad_hdr, mad, attr_id);
	const struct mad_attr_info *a = mad_attr_info(class, attr);
	const char *name = mad_method_name(method);
	uint32_t row = class_row(class);
	size_t n;

	if (row < COUNT(classes))
		n = fmt(buf, size, "%s", classes[row].prefix);
	else
		n = fmt(buf, size, "Class%#x ", class);
	n += *name != '?' ? fmt(buf + n, size - n, "%s", name)
			  : fmt(buf + n, size - n, "Method%#x", method);
	if (a)
		fmt(buf + n, size - n, "(%s)", a->name);
	else
		fmt(buf + n, size - n, "(%#x)", attr);
	return buf;
}

/* ---- values */

#define NODE_TYPES(V) V(NODE, CA, 1) V(NODE, SWITCH, 2) V(NODE, ROUTER, 3)
#define SM_STATES(V) V(SM, NOTACTIVE, 0) V(SM, DISCOVERING, 1) V(SM, STANDBY, 2) V(SM, MASTER, 3)
#define RMPP_TYPES(V) \
	V(RMPP, NONE, 0) V(RMPP, DATA, 1) V(RMPP, ACK, 2) V(RMPP, STOP, 3) V(RMPP, ABORT, 4)
#define NOTICE_TYPES(V)     \
	V(NOTICE, FATAL, 0) \
	V(NOTICE, URGENT, 1) V(NOTICE, SECURITY, 2) V(NOTICE, SM, 3) V(NOTICE, INFO, 4)

#define MAD_NAMED(N)                                     \
	N(node_info, node_type, NODE_TYPES)              \
	N(port_info, port_state, IB_V_PORT_STATE)        \
	N(port_info, port_phys_state, IB_V_PHYS_STATE)   \
	N(port_info, link_down_default, IB_V_PHYS_STATE) \
	N(port_info, neighbor_mtu, IB_V_MTU)             \
	N(port_info, mtu_cap, IB_V_MTU)                  \
	N(path_record, mtu, IB_V_MTU)                    \
	N(mc_member_record, mtu, IB_V_MTU)               \
	N(sm_info, sm_state, SM_STATES)                  \
	N(mad_rmpp, rmpp_type, RMPP_TYPES)               \
	N(notice, type, NOTICE_TYPES)                    \
	N(notice, producer_type, NODE_TYPES)

static const struct layout_named mad_named[] = {
	MAD_NAMED(LAYOUT_NAMED_ROW) MAD_NAMED_CM(LAYOUT_NAMED_ROW){NULL, 0, NULL}};

const char *mad_value_name(const struct layout *l, uint32_t bit, uint64_t v)
{
	const char *name = NULL;

	if (l == &layout_mad_hdr && bit == LF_mad_hdr_mgmt_class_BIT)
		name = mad_class_name((uint32_t)v);
	else if (l == &layout_mad_rmpp && bit == LF_mad_rmpp_status_BIT && v)
		name = mad_rmpp_status_name((uint32_t)v);
	else if (l == &layout_mad_hdr && bit == LF_mad_hdr_method_BIT)
		name = mad_method_name((uint32_t)v);
	if (name)
		return *name != '?' ? name : NULL;
	return layout_value_name(mad_named, l, bit, v);
}

static const struct {
	uint8_t nr;
	const char *name;
} rmpp_statuses[] = {
	{MAD_RMPP_STATUS_OK, "OK"},
	{MAD_RMPP_STATUS_RESX, "ResX: resources exhausted"},
	{MAD_RMPP_STATUS_T2L, "T2L: total time too long"},
	{MAD_RMPP_STATUS_BAD_LEN, "inconsistent last segment and PayloadLength"},
	{MAD_RMPP_STATUS_BAD_SEG, "inconsistent first flag and segment number"},
	{MAD_RMPP_STATUS_BADT, "BadT: bad RMPP type"},
	{MAD_RMPP_STATUS_W2S, "W2S: NewWindowLast too small"},
	{MAD_RMPP_STATUS_S2B, "S2B: segment number too big"},
	{MAD_RMPP_STATUS_BAD_STATUS, "illegal status"},
	{MAD_RMPP_STATUS_UNV, "UnV: unsupported version"},
	{MAD_RMPP_STATUS_TMR, "TMR: too many retries"},
	{MAD_RMPP_STATUS_UNSPEC, "unspecified"},
};

const char *mad_rmpp_status_name(uint32_t status)
{
	for (uint32_t i = 0; i < COUNT(rmpp_statuses); i++)
		if (rmpp_statuses[i].nr == status)
			return rmpp_statuses[i].name;
	return "?";
}

/* ---- statuses: IBA 13.4.7, 15.2.1.1 */

static const struct mad_status_info statuses[] = {
	{MAD_STATUS_OK, 0, "OK", "success", ""},
	{MAD_STATUS_BUSY, 0, "BUSY", "the agent is busy; the request was discarded",
	 "send it again, later"},
	{MAD_STATUS_REDIRECT, 0, "REDIRECT", "the class is served elsewhere",
	 "ask Get(ClassPortInfo) where, and send it there"},
	{MAD_STATUS_BAD_VERSION, 0, "BAD_VERSION",
	 "the base version, or class and class version, are not supported",
	 "ClassVersion: 1, for SubnAdm 2; a class without an agent at this port is not answered"},
	{MAD_STATUS_BAD_METHOD, 0, "BAD_METHOD", "the class has no such method",
	 "the number of the method"},
	{MAD_STATUS_BAD_ATTR, 0, "BAD_ATTR",
	 "no such attribute, or not with this method; of SMPs and GMPs also: nobody takes it",
	 "Set of an attribute that can only be read; an optional attribute; a switch's asked of an "
	 "adapter; no agent is registered for the class (the kernel answers so)"},
	{MAD_STATUS_BAD_VALUE, 0, "BAD_VALUE",
	 "a field of the attribute or the attribute modifier has no valid value",
	 "a port, block or table that is not there; a state that the port cannot go to"},
	{SA_STATUS_NO_RESOURCES, MAD_CLASS_SA, "NO_RESOURCES",
	 "the SA has too little of something for this request", ""},
	{SA_STATUS_REQ_INVALID, MAD_CLASS_SA, "REQ_INVALID", "the request makes no sense",
	 "components that exclude each other, or values that this SA does not take"},
	{SA_STATUS_NO_RECORDS, MAD_CLASS_SA, "NO_RECORDS", "no record matches the components",
	 "LIDs or GIDs that are not in the subnet; partitions that do not meet"},
	{SA_STATUS_TOO_MANY_RECORDS, MAD_CLASS_SA, "TOO_MANY_RECORDS",
	 "Get() matches more than one record", "give more components, or use GetTable()"},
	{SA_STATUS_REQ_INVALID_GID, MAD_CLASS_SA, "REQ_INVALID_GID",
	 "a GID in the request is not one of this subnet",
	 "the prefix of the GID, or a port that does not exist"},
	{SA_STATUS_REQ_INSUFFICIENT_COMPONENTS, MAD_CLASS_SA, "REQ_INSUFFICIENT_COMPONENTS",
	 "the component mask lacks components that this request must have",
	 "a join that makes a group needs Q_Key, P_Key, TClass, SL, FlowLabel; a path needs its "
	 "ends"},
	{SA_STATUS_REQ_DENIED, MAD_CLASS_SA, "REQ_DENIED", "the SA does not allow it",
	 "SM_Key, or rights of the partition"},
	{SA_STATUS_PRIORITY_SUGGESTED, MAD_CLASS_SA, "PRIORITY_SUGGESTED",
	 "the answer suggests another priority", ""},
};

const struct mad_status_info *mad_status_at(uint32_t i)
{
	return i < COUNT(statuses) ? &statuses[i] : NULL;
}

static const struct mad_status_info *status_row(uint32_t mgmt_class, uint32_t status)
{
	for (uint32_t i = 0; i < COUNT(statuses); i++)
		if (statuses[i].status == status &&
		    (!statuses[i].mgmt_class || statuses[i].mgmt_class == mgmt_class))
			return &statuses[i];
	return NULL;
}

uint32_t mad_status_find(uint32_t mgmt_class, uint16_t status, const struct mad_status_info **out,
			 uint32_t max)
{
	static const uint16_t parts[] = {0xff00, 0x001c, MAD_STATUS_REDIRECT, MAD_STATUS_BUSY};
	uint32_t n = 0;

	if (mad_is_smi(mgmt_class))
		status &= (uint16_t)~MAD_STATUS_D;
	if (!status && max)
		out[n++] = &statuses[0];
	for (uint32_t i = 0; i < COUNT(parts); i++) {
		const struct mad_status_info *s =
			status & parts[i] ? status_row(mgmt_class, status & parts[i]) : NULL;

		if (s && n < max)
			out[n++] = s;
	}
	return n;
}

const char *mad_status_text(uint32_t mgmt_class, uint16_t status, char *buf, size_t size)
{
	const struct mad_status_info *s[4];
	uint32_t n = mad_status_find(mgmt_class, status, s, COUNT(s));
	size_t at = 0;

	if (!n)
		fmt(buf, size, "?");
	for (uint32_t i = 0; i < n; i++)
		at += fmt(buf + at, size - at, "%s%s", i ? "|" : "", s[i]->name);
	return buf;
}
