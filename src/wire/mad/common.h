/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common to all management classes (IBA 13.4): the MAD header, RMPP's header, ClassPortInfo, Notice
 * and InformInfo; classes, methods and status codes.
 */
#ifndef SOFTHCA_WIRE_MAD_COMMON_H
#define SOFTHCA_WIRE_MAD_COMMON_H

#include "wire/layout.h"

#define MAD_SIZE 256
#define MAD_RMPP_HDR 36 /* bytes of MAD header and RMPP header */
#define MAD_LID_PERMISSIVE 0xffff
#define MAD_MAX_HOPS 64
#define MAD_BASE_VERSION 1

enum mad_class {
	MAD_CLASS_SUBN_LID = 0x01,
	MAD_CLASS_SA = 0x03,
	MAD_CLASS_PERF = 0x04,
	MAD_CLASS_BM = 0x05,
	MAD_CLASS_DEV_MGMT = 0x06,
	MAD_CLASS_CM = 0x07,
	MAD_CLASS_SNMP = 0x08,
	MAD_CLASS_VENDOR1_FIRST = 0x09,
	MAD_CLASS_MLX_9 = 0x09, /* an mlx5 adapter consumes MADs of these two classes */
	MAD_CLASS_MLX_10 = 0x0a,
	MAD_CLASS_VENDOR1_LAST = 0x0f,
	MAD_CLASS_DEV_ADM = 0x10,
	MAD_CLASS_BIS = 0x12,
	MAD_CLASS_CC = 0x21,
	MAD_CLASS_VENDOR2_FIRST = 0x30, /* these classes have an OUI */
	MAD_CLASS_VENDOR2_LAST = 0x4f,
	MAD_CLASS_SUBN_DR = 0x81,
};

enum mad_method {
	MAD_METHOD_GET = 0x01,
	MAD_METHOD_SET = 0x02,
	MAD_METHOD_SEND = 0x03,
	MAD_METHOD_TRAP = 0x05,
	MAD_METHOD_REPORT = 0x06,
	MAD_METHOD_TRAP_REPRESS = 0x07,
	MAD_METHOD_GET_TABLE = 0x12,
	MAD_METHOD_GET_TRACE_TABLE = 0x13,
	MAD_METHOD_GET_MULTI = 0x14,
	MAD_METHOD_DELETE = 0x15,
	MAD_METHOD_RESP = 0x80, /* the bit that marks an answer */
	MAD_METHOD_GET_RESP = 0x81,
	MAD_METHOD_REPORT_RESP = 0x86,
	MAD_METHOD_GET_TABLE_RESP = 0x92,
	MAD_METHOD_GET_MULTI_RESP = 0x94,
	MAD_METHOD_DELETE_RESP = 0x95,
};

enum mad_status {
	MAD_STATUS_OK = 0,
	MAD_STATUS_BUSY = 0x0001,
	MAD_STATUS_REDIRECT = 0x0002,
	MAD_STATUS_BAD_VERSION = 0x0004,
	MAD_STATUS_BAD_METHOD = 0x0008,
	MAD_STATUS_BAD_ATTR = 0x000c, /* the method does not support the attribute */
	MAD_STATUS_BAD_VALUE = 0x001c,
	MAD_STATUS_D = 0x8000, /* directed route: the packet is returning */
	/* Statuses of subnet administration, IBA 15.2.1.1 */
	SA_STATUS_NO_RESOURCES = 0x0100,
	SA_STATUS_REQ_INVALID = 0x0200,
	SA_STATUS_NO_RECORDS = 0x0300,
	SA_STATUS_TOO_MANY_RECORDS = 0x0400,
	SA_STATUS_REQ_INVALID_GID = 0x0500,
	SA_STATUS_REQ_INSUFFICIENT_COMPONENTS = 0x0600,
	SA_STATUS_REQ_DENIED = 0x0700,
	SA_STATUS_PRIORITY_SUGGESTED = 0x0800,
};

/* Attributes of several classes. */
enum mad_attr {
	MAD_ATTR_CLASS_PORT_INFO = 0x0001,
	MAD_ATTR_NOTICE = 0x0002,
	MAD_ATTR_INFORM_INFO = 0x0003,
};

/* The common header. RMPP's flags exist only in classes with RMPP. */
#define MAD_L_mad_hdr(F)                          \
	F(mad_hdr, base_version, 0x00, 8)         \
	F(mad_hdr, mgmt_class, 0x08, 8)           \
	F(mad_hdr, class_version, 0x10, 8)        \
	F(mad_hdr, method, 0x18, 8)               \
	F(mad_hdr, status, 0x20, 16)              \
	F(mad_hdr, class_specific, 0x30, 16)      \
	F(mad_hdr, tid, 0x40, 64, LAYOUT_HEX)     \
	F(mad_hdr, attr_id, 0x80, 16, LAYOUT_HEX) \
	F(mad_hdr, attr_mod, 0xa0, 32, LAYOUT_HEX)
LAYOUT(mad_hdr, 24, MAD_L_mad_hdr)

#define MAD_L_mad_rmpp(F)                  \
	F(mad_rmpp, rmpp_version, 0xc0, 8) \
	F(mad_rmpp, rmpp_type, 0xc8, 8)    \
	F(mad_rmpp, resp_time, 0xd0, 5)    \
	F(mad_rmpp, flags, 0xd5, 3)        \
	F(mad_rmpp, status, 0xd8, 8)       \
	F(mad_rmpp, data1, 0xe0, 32)       \
	F(mad_rmpp, data2, 0x100, 32)
LAYOUT(mad_rmpp, MAD_RMPP_HDR, MAD_L_mad_rmpp)
LAYOUT_ALIAS(mad_rmpp, segment, data1)
LAYOUT_ALIAS(mad_rmpp, payload_length, data2)  /* DATA */
LAYOUT_ALIAS(mad_rmpp, new_window_last, data2) /* ACK */

enum mad_rmpp_flags { MAD_RMPP_ACTIVE = 1, MAD_RMPP_FIRST = 2, MAD_RMPP_LAST = 4 };
enum mad_rmpp_type {
	MAD_RMPP_TYPE_NONE = 0,
	MAD_RMPP_TYPE_DATA = 1,
	MAD_RMPP_TYPE_ACK = 2,
	MAD_RMPP_TYPE_STOP = 3,
	MAD_RMPP_TYPE_ABORT = 4,
};
/* IBA 13.6.2.1, table of RMPPStatus. 1 is for STOP, the others are for ABORT. */
enum mad_rmpp_status {
	MAD_RMPP_STATUS_OK = 0,
	MAD_RMPP_STATUS_RESX = 1,      /* resources exhausted */
	MAD_RMPP_STATUS_T2L = 118,     /* total time too long */
	MAD_RMPP_STATUS_BAD_LEN = 119, /* inconsistent last segment and PayloadLength */
	MAD_RMPP_STATUS_BAD_SEG = 120, /* inconsistent first and segment number */
	MAD_RMPP_STATUS_BADT = 121,    /* bad RMPP type */
	MAD_RMPP_STATUS_W2S = 122,     /* NewWindowLast too small */
	MAD_RMPP_STATUS_S2B = 123,     /* segment number too big */
	MAD_RMPP_STATUS_BAD_STATUS = 124,
	MAD_RMPP_STATUS_UNV = 125, /* unsupported version */
	MAD_RMPP_STATUS_TMR = 126, /* too many retries */
	MAD_RMPP_STATUS_UNSPEC = 127,
};

/* Header of vendor classes 0x30 to 0x4f; the data follows. */
#define MAD_L_mad_vendor2(F) F(mad_vendor2, oui, 0x128, 24, LAYOUT_HEX)
LAYOUT(mad_vendor2, 40, MAD_L_mad_vendor2)

#define MAD_L_ib_gid(F)                         \
	F(ib_gid, prefix, 0x00, 64, LAYOUT_HEX) \
	F(ib_gid, guid, 0x40, 64, LAYOUT_HEX)
LAYOUT(ib_gid, 16, MAD_L_ib_gid)

/* In every class but subnet management. IBA 13.4.8.1 */
#define MAD_L_class_port_info(F, S)                              \
	F(class_port_info, base_version, 0x00, 8)                \
	F(class_port_info, class_version, 0x08, 8)               \
	F(class_port_info, cap_mask, 0x10, 16, LAYOUT_HEX)       \
	F(class_port_info, cap_mask2, 0x20, 27, LAYOUT_HEX)      \
	F(class_port_info, resp_time_value, 0x3b, 5)             \
	S(class_port_info, redirect_gid, ib_gid, 0x08)           \
	F(class_port_info, redirect_tc, 0xc0, 8)                 \
	F(class_port_info, redirect_sl, 0xc8, 4)                 \
	F(class_port_info, redirect_fl, 0xcc, 20)                \
	F(class_port_info, redirect_lid, 0xe0, 16)               \
	F(class_port_info, redirect_pkey, 0xf0, 16, LAYOUT_HEX)  \
	F(class_port_info, redirect_qp, 0x108, 24, LAYOUT_HEX)   \
	F(class_port_info, redirect_qkey, 0x120, 32, LAYOUT_HEX) \
	S(class_port_info, trap_gid, ib_gid, 0x28)               \
	F(class_port_info, trap_tc, 0x1c0, 8)                    \
	F(class_port_info, trap_sl, 0x1c8, 4)                    \
	F(class_port_info, trap_fl, 0x1cc, 20)                   \
	F(class_port_info, trap_lid, 0x1e0, 16)                  \
	F(class_port_info, trap_pkey, 0x1f0, 16, LAYOUT_HEX)     \
	F(class_port_info, trap_hop_limit, 0x200, 8)             \
	F(class_port_info, trap_qp, 0x208, 24, LAYOUT_HEX)       \
	F(class_port_info, trap_qkey, 0x220, 32, LAYOUT_HEX)
LAYOUT_NEST(class_port_info, 72, MAD_L_class_port_info)

/* ---- notices, IBA 13.4.8.2. A vendor's notice has a vendor ID and device ID instead. */

#define MAD_L_notice(F, S)                 \
	F(notice, is_generic, 0x00, 1)     \
	F(notice, type, 0x01, 7)           \
	F(notice, producer_type, 0x08, 24) \
	F(notice, trap_num, 0x20, 16)      \
	F(notice, issuer_lid, 0x30, 16)    \
	F(notice, toggle, 0x40, 1)         \
	F(notice, count, 0x41, 15)         \
	S(notice, issuer_gid, ib_gid, 0x40)
LAYOUT_NEST(notice, 80, MAD_L_notice)
LAYOUT_ALIAS(notice, vendor_id, producer_type)
LAYOUT_ALIAS(notice, device_id, trap_num)
enum {
	NOTICE_DETAILS = 10,
	NOTICE_DETAILS_SIZE = 54,
	NOTICE_SMP_SIZE = 64 /* size without the issuer's GID */
};

enum notice_type {
	NOTICE_TYPE_FATAL = 0,
	NOTICE_TYPE_URGENT = 1,
	NOTICE_TYPE_SECURITY = 2,
	NOTICE_TYPE_SM = 3,
	NOTICE_TYPE_INFO = 4,
	NOTICE_TYPE_EMPTY = 0x7f,
};

enum trap_num {
	TRAP_IN_SERVICE = 64,
	TRAP_OUT_OF_SERVICE = 65,
	TRAP_MCAST_CREATED = 66,
	TRAP_MCAST_DELETED = 67,
	TRAP_LINK_STATE = 128, /* issued by a switch, about its port */
	TRAP_LINK_INTEGRITY = 129,
	TRAP_BUFFER_OVERRUN = 130,
	TRAP_FLOW_CONTROL = 131,
	TRAP_LOCAL_CHANGES = 144,
	TRAP_SYSTEM_GUID = 145,
	TRAP_BAD_MKEY = 256,
	TRAP_BAD_PKEY = 257,
	TRAP_BAD_QKEY = 258,
	TRAP_SWITCH_BAD_PKEY = 259,
};

/*
 * DataDetails by trap number. Bits count from the start of the Notice, except in notice_259, where
 * they count from DataDetails (its fields would cross dwords). IBA 14.2.5.1, 15.2.5.1 (64 to 67)
 */
#define MAD_L_notice_64_67(F, S) S(notice_64_67, gid, ib_gid, 0x10)
LAYOUT_NEST(notice_64_67, 64, MAD_L_notice_64_67)

#define MAD_L_notice_128(F) F(notice_128, lid, 0x50, 16)
LAYOUT(notice_128, 64, MAD_L_notice_128)

#define MAD_L_notice_129_131(F)          \
	F(notice_129_131, lid, 0x60, 16) \
	F(notice_129_131, port, 0x70, 8)
LAYOUT(notice_129_131, 64, MAD_L_notice_129_131)

#define MAD_L_notice_144(F)                                         \
	F(notice_144, lid, 0x60, 16)                                \
	F(notice_144, other_local_changes, 0x7f, 1)                 \
	F(notice_144, capability_mask, 0x80, 32, LAYOUT_HEX)        \
	F(notice_144, capability_mask2_change, 0xaa, 1, LAYOUT_HEX) \
	F(notice_144, hierarchy_info_change, 0xab, 1)               \
	F(notice_144, sm_priority_change, 0xac, 1)                  \
	F(notice_144, link_speed_enabled_change, 0xad, 1)           \
	F(notice_144, link_width_enabled_change, 0xae, 1)           \
	F(notice_144, node_desc_change, 0xaf, 1)                    \
	F(notice_144, capability_mask2, 0xb0, 16, LAYOUT_HEX)
LAYOUT(notice_144, 64, MAD_L_notice_144)

#define MAD_L_notice_145(F)          \
	F(notice_145, lid, 0x60, 16) \
	F(notice_145, system_guid, 0x80, 64, LAYOUT_HEX)
LAYOUT(notice_145, 64, MAD_L_notice_145)

#define MAD_L_notice_256(F)                           \
	F(notice_256, lid, 0x60, 16)                  \
	F(notice_256, dr_slid, 0x70, 16)              \
	F(notice_256, method, 0x80, 8)                \
	F(notice_256, attr_id, 0x90, 16, LAYOUT_HEX)  \
	F(notice_256, attr_mod, 0xa0, 32, LAYOUT_HEX) \
	F(notice_256, mkey, 0xc0, 64, LAYOUT_HEX)     \
	F(notice_256, dr_notice, 0x108, 1)            \
	F(notice_256, dr_path_truncated, 0x109, 1)    \
	F(notice_256, dr_hop_count, 0x10a, 6)
LAYOUT(notice_256, 64, MAD_L_notice_256)
enum { NOTICE_256_RETURN_PATH = 34, NOTICE_256_RETURN_PATH_SIZE = 30 };

/* For both: a P_Key in the low half of `key`, or a Q_Key. */
#define MAD_L_notice_257_258(F, S)                   \
	F(notice_257_258, lid1, 0x60, 16)            \
	F(notice_257_258, lid2, 0x70, 16)            \
	F(notice_257_258, key, 0x80, 32, LAYOUT_HEX) \
	F(notice_257_258, sl, 0xa0, 4)               \
	F(notice_257_258, qp1, 0xa8, 24, LAYOUT_HEX) \
	F(notice_257_258, qp2, 0xc8, 24, LAYOUT_HEX) \
	S(notice_257_258, gid1, ib_gid, 0x1c)        \
	S(notice_257_258, gid2, ib_gid, 0x2c)
LAYOUT_NEST(notice_257_258, 64, MAD_L_notice_257_258)

#define MAD_L_notice_259(F, S)                    \
	F(notice_259, data_valid, 0x00, 16)       \
	F(notice_259, lid1, 0x10, 16)             \
	F(notice_259, lid2, 0x20, 16)             \
	F(notice_259, pkey, 0x30, 16, LAYOUT_HEX) \
	F(notice_259, sl, 0x40, 4)                \
	F(notice_259, qp1, 0x48, 24, LAYOUT_HEX)  \
	F(notice_259, qp2, 0x68, 24, LAYOUT_HEX)  \
	S(notice_259, gid1, ib_gid, 0x10)         \
	S(notice_259, gid2, ib_gid, 0x20)         \
	F(notice_259, sw_lid, 0x180, 16)          \
	F(notice_259, port, 0x190, 8)
LAYOUT_NEST(notice_259, 52, MAD_L_notice_259)

/*
 * IBA 13.4.8.3. A vendor's InformInfo has a device ID and vendor ID instead of trap and producer.
 */
#define MAD_L_inform_info(F, S)                   \
	S(inform_info, gid, ib_gid, 0x00)         \
	F(inform_info, lid_range_begin, 0x80, 16) \
	F(inform_info, lid_range_end, 0x90, 16)   \
	F(inform_info, is_generic, 0xb0, 8)       \
	F(inform_info, subscribe, 0xb8, 8)        \
	F(inform_info, type, 0xc0, 16)            \
	F(inform_info, trap_num, 0xd0, 16)        \
	F(inform_info, qpn, 0xe0, 24, LAYOUT_HEX) \
	F(inform_info, resp_time_value, 0xfb, 5)  \
	F(inform_info, producer_type, 0x108, 24)
LAYOUT_NEST(inform_info, 36, MAD_L_inform_info)
LAYOUT_ALIAS(inform_info, device_id, trap_num)
LAYOUT_ALIAS(inform_info, vendor_id, producer_type)

#define MAD_COMMON_LAYOUTS(X)                   \
	X(mad_hdr, MAD_L_mad_hdr)               \
	X(mad_rmpp, MAD_L_mad_rmpp)             \
	X(mad_vendor2, MAD_L_mad_vendor2)       \
	X(ib_gid, MAD_L_ib_gid)                 \
	X(notice_128, MAD_L_notice_128)         \
	X(notice_129_131, MAD_L_notice_129_131) \
	X(notice_144, MAD_L_notice_144)         \
	X(notice_145, MAD_L_notice_145)         \
	X(notice_256, MAD_L_notice_256)

#define MAD_COMMON_NEST_LAYOUTS(X)                \
	X(class_port_info, MAD_L_class_port_info) \
	X(notice, MAD_L_notice)                   \
	X(notice_64_67, MAD_L_notice_64_67)       \
	X(notice_257_258, MAD_L_notice_257_258)   \
	X(notice_259, MAD_L_notice_259)           \
	X(inform_info, MAD_L_inform_info)

#endif
