/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MAD layouts against independent descriptions: libibmad's field table (by its own mad_set_*()),
 * the structures of OpenSM's ib_types.h, and the kernel's table of CM messages. Each field is set
 * to all ones and the bytes compared.
 */
#include "wire/mad/mad.h"
#include "wire/for_tests.h"
#include "wire/mad/sa_comp.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <infiniband/mad.h>
#include <iba/ib_types.h>
#include <iba/ib_cm_types.h>
#include <cmocka.h>

#define BUF 0x200
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct layout_field *field(const struct layout *l, const char *name)
{
	for (uint32_t i = 0; i < l->nfields; i++)
		if (!strcmp(l->fields[i].name, name))
			return &l->fields[i];
	return NULL;
}

/* Set all bits of a field, or of a nested layout. */
static void fill(uint8_t *buf, const struct layout *l, const char *name)
{
	const struct layout_field *f = field(l, name);

	if (f) {
		layout_set(buf, f->bit, f->width, bits_max(f->width));
		return;
	}
	for (uint32_t i = 0; i < l->nplaces; i++)
		if (!strcmp(l->places[i].name, name)) {
			memset(buf + l->places[i].byte, 0xff, l->places[i].inner->bytes);
			return;
		}
	fail_msg("%s has no %s", l->name, name);
}

static void same(const struct layout *l, const char *name, const uint8_t *a, const uint8_t *b)
{
	for (uint32_t i = 0; i < BUF; i++)
		if (a[i] != b[i])
			fail_msg("%s.%s: byte %u is 0x%02x, the other has 0x%02x", l->name, name, i,
				 a[i], b[i]);
}

/* ---- libibmad */

struct mad_field_row {
	const struct layout *l;
	const char *name;
	enum MAD_FIELDS f;
	uint32_t array; /* length in bytes, where libibmad has an array */
};

#define I(l, f, nr)                    \
	{                              \
		&layout_##l, #f, nr, 0 \
	}
#define A(l, f, nr, n)                 \
	{                              \
		&layout_##l, #f, nr, n \
	}
static const struct mad_field_row mad_fields[] = {
#include "wire/test_mad_ibmad.inc"
};
#undef I
#undef A

static void test_fields_are_where_libibmad_has_them(void **state)
{
	static const uint8_t ones[64] = {[0 ... 63] = 0xff};

	for (size_t i = 0; i < COUNT(mad_fields); i++) {
		const struct mad_field_row *r = &mad_fields[i];
		const struct layout_field *f = field(r->l, r->name);
		uint8_t ours[BUF] = {0}, theirs[BUF] = {0};

		fill(ours, r->l, r->name);
		if (r->array)
			mad_set_array(theirs, 0, r->f, (void *)(uintptr_t)ones);
		else if (f->width == 64)
			mad_set_field64(theirs, 0, r->f, UINT64_MAX);
		else
			mad_set_field(theirs, 0, r->f, (uint32_t)bits_max(f->width));
		same(r->l, r->name, ours, theirs);
	}
}

/* ---- OpenSM */

struct member_row {
	const struct layout *l;
	const char *name;
	size_t at, size;
	uint64_t mask; /* which bits of the big-endian member; 0: all */
};

/* Forwarding tables are arrays in OpenSM. */
struct lft_bytes {
	uint8_t b[64];
};
struct words {
	ib_net16_t w[IB_MCAST_BLOCK_SIZE];
};

#define M(l, f, t, m)                                                   \
	{                                                               \
		&layout_##l, #f, offsetof(t, m), sizeof(((t *)0)->m), 0 \
	}
#define B(l, f, t, m, mask)                                                \
	{                                                                  \
		&layout_##l, #f, offsetof(t, m), sizeof(((t *)0)->m), mask \
	}
static const struct member_row members[] = {
#include "wire/test_mad_opensm.inc"
};
#undef M
#undef B

static void test_fields_are_where_opensm_has_them(void **state)
{
	for (size_t i = 0; i < COUNT(members); i++) {
		const struct member_row *r = &members[i];
		uint8_t ours[BUF] = {0}, theirs[BUF] = {0};

		fill(ours, r->l, r->name);
		if (!r->mask)
			memset(theirs + r->at, 0xff, r->size);
		for (size_t b = 0; r->mask && b < r->size; b++)
			theirs[r->at + b] = (uint8_t)(r->mask >> (8 * (r->size - 1 - b)));
		same(r->l, r->name, ours, theirs);
	}
}

/* ---- the kernel's connection manager */

static const struct {
	const struct layout *l;
	const char *name;
	uint32_t byte, bit, width;
} cm_fields[] = {
#define K(l, f, byte, bit, width)                 \
	{                                         \
		&layout_##l, #f, byte, bit, width \
	}
#include "wire/test_mad_cm.inc"
#undef K
};

static void test_fields_are_where_the_kernel_has_them(void **state)
{
	for (size_t i = 0; i < COUNT(cm_fields); i++) {
		uint8_t ours[BUF] = {0}, theirs[BUF] = {0};

		fill(ours, cm_fields[i].l, cm_fields[i].name);
		for (uint32_t b = cm_fields[i].bit; b < cm_fields[i].bit + cm_fields[i].width; b++)
			theirs[cm_fields[i].byte + b / 8] |= (uint8_t)(0x80 >> b % 8);
		same(cm_fields[i].l, cm_fields[i].name, ours, theirs);
	}
}

static void test_cm_numbers_are_those_of_opensm(void **state)
{
	assert_int_equal(CM_REJ_NO_QP, CL_NTOH16(IB_REJ_INSUF_QP));
	assert_int_equal(CM_REJ_INVALID_SERVICE_ID, CL_NTOH16(IB_REJ_INVALID_SID));
	assert_int_equal(CM_REJ_STALE_CONN, CL_NTOH16(IB_REJ_STALE_CONN));
	assert_int_equal(CM_REJ_CONSUMER_DEFINED, CL_NTOH16(IB_REJ_USER_DEFINED));
	assert_int_equal(CM_REJ_INVALID_ALT_FLOW_LABEL, CL_NTOH16(IB_REJ_INVALID_ALT_FLOW_LBL));
	assert_int_equal(CM_SIDR_UNSUPPORTED_VERSION, IB_SIDR_UNSUPPORTED_VER);
	assert_int_equal(CM_MSG_SIZE - CM_AT_REJ_DATA, IB_REJ_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_SIDR_REQ_DATA, IB_SIDR_REQ_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_SIDR_REP_DATA, IB_SIDR_REP_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_REQ_DATA, IB_REQ_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_REP_DATA, IB_REP_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_RTU_DATA, IB_RTU_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_DREQ_DATA, IB_DREQ_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_DREP_DATA, IB_DREP_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_MRA_DATA, IB_MRA_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_LAP_DATA, IB_LAP_PDATA_SIZE_VER2);
	assert_int_equal(CM_MSG_SIZE - CM_AT_APR_DATA, IB_APR_PDATA_SIZE_VER2);
}

/* Sizes for AttributeOffset, which OpenSM computes from its structures. */
static void test_sizes_are_those_of_opensm(void **state)
{
	static const struct {
		const struct layout *l;
		size_t size;
	} rows[] = {
		{&layout_node_info, sizeof(ib_node_info_t)},
		{&layout_port_info, sizeof(ib_port_info_t)},
		{&layout_switch_info, sizeof(ib_switch_info_t)},
		{&layout_class_port_info, sizeof(ib_class_port_info_t)},
		{&layout_notice, sizeof(ib_mad_notice_attr_t)},
		{&layout_inform_info, sizeof(ib_inform_info_t)},
		{&layout_port_counters, sizeof(ib_port_counters_t)},
		{&layout_port_counters_ext, sizeof(ib_port_counters_ext_t)},
		{&layout_mlnx_ext_port_info, sizeof(ib_mlnx_ext_port_info_t)},
		{&layout_node_record, sizeof(ib_node_record_t)},
		{&layout_port_info_record, sizeof(ib_portinfo_record_t)},
		{&layout_switch_info_record, sizeof(ib_switch_info_record_t)},
		{&layout_sm_info_record, sizeof(ib_sminfo_record_t)},
		{&layout_guid_info_record, sizeof(ib_guidinfo_record_t)},
		{&layout_pkey_table_record, sizeof(ib_pkey_table_record_t)},
		{&layout_sl2vl_record, sizeof(ib_slvl_table_record_t)},
		{&layout_vl_arb_record, sizeof(ib_vl_arb_table_record_t)},
		{&layout_lft_record, sizeof(ib_lft_record_t)},
		{&layout_mft_record, sizeof(ib_mft_record_t)},
		{&layout_inform_info_record, sizeof(ib_inform_info_record_t)},
		{&layout_link_record, sizeof(ib_link_record_t)},
		{&layout_path_record, sizeof(ib_path_rec_t)},
		{&layout_mc_member_record, sizeof(ib_member_rec_t)},
		{&layout_service_record, sizeof(ib_service_record_t)},
		{&layout_multi_path_record, offsetof(ib_multipath_rec_t, gids)},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].l->bytes != rows[i].size)
			fail_msg("%s has %u bytes, OpenSM's %zu", rows[i].l->name, rows[i].l->bytes,
				 rows[i].size);
	assert_int_equal(NODE_RECORD_DESC, offsetof(ib_node_record_t, node_desc));
	assert_int_equal(SERVICE_RECORD_NAME, offsetof(ib_service_record_t, service_name));
	assert_int_equal(SA_DATA, offsetof(ib_sa_mad_t, data));
	assert_int_equal(SMP_INITIAL_PATH, offsetof(ib_smp_t, initial_path));
	assert_int_equal(NOTICE_DETAILS, offsetof(ib_mad_notice_attr_t, data_details));
	assert_int_equal(NOTICE_256_RETURN_PATH,
			 offsetof(ib_mad_notice_attr_t, data_details.ntc_256.dr_rtn_path));
}

/* Is the field compared with libibmad, OpenSM or the kernel, or known to be in none of them? */
static bool witnessed(const struct layout *l, const char *name)
{
	for (size_t i = 0; i < COUNT(mad_fields); i++)
		if (mad_fields[i].l == l && !strcmp(mad_fields[i].name, name))
			return true;
	for (size_t i = 0; i < COUNT(members); i++)
		if (members[i].l == l && !strcmp(members[i].name, name))
			return true;
	for (size_t i = 0; i < COUNT(cm_fields); i++)
		if (cm_fields[i].l == l && !strcmp(cm_fields[i].name, name))
			return true;
	return false;
}

static bool nobody_has(const char *layout, const char *name)
{
	static const char *const rows[] = {
		"mad_hdr.method", /* two fields in libibmad */
		"mad_hdr.class_specific",
		"ib_gid.prefix",
		"ib_gid.guid",
		"led_info.led_mask",
		"port_samples_result.sample_status",
		"multi_path_record.service_id_lsb_hi", /* bytes in OpenSM */
		"multi_path_record.service_id_lsb_lo",
		"port_data_sl.port_select",
		"port_data_sl.counter_select",
		"port_rcv_error_details.port_select",
		"port_rcv_error_details.counter_select",
		"port_xmit_discard_details.port_select",
		"port_xmit_discard_details.counter_select",
	};
	size_t n = strlen(layout);

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strncmp(rows[i], layout, n) && rows[i][n] == '.' &&
		    !strcmp(rows[i] + n + 1, name))
			return true;
	return false;
}

static void test_every_field_is_compared(void **state)
{
	for (const struct layout *const *p = mad_layouts; *p; p++) {
		const struct layout *l = *p;

		for (uint32_t i = 0; i < l->nfields; i++) {
			const char *name = l->fields[i].name;

			if (!witnessed(l, name) && !nobody_has(l->name, name))
				fail_msg("%s.%s is not compared", l->name, name);
		}
		for (uint32_t i = 0; i < l->nplaces; i++)
			if (!witnessed(l, l->places[i].name))
				fail_msg("%s.%s is not compared", l->name, l->places[i].name);
	}
}

#define C(attr, name, mask)      \
	{                        \
		attr, name, mask \
	}
static const struct {
	uint16_t attr;
	const char *name;
	uint64_t mask;
} components[] = {
#include "wire/test_mad_comp.inc"
};
#undef C

static void test_components_have_the_bits_of_opensm(void **state)
{
	for (size_t i = 0; i < COUNT(components); i++) {
		const struct sa_record *r = sa_record(components[i].attr);
		uint32_t nr = (uint32_t)__builtin_ctzll(CL_NTOH64(components[i].mask));

		assert_non_null(r);
		assert_true(nr < r->n);
		if (!components[i].name)
			assert_null(r->component[nr].name);
		else
			assert_string_equal(r->component[nr].name, components[i].name);
	}
}

static void test_records_match_by_their_mask(void **state)
{
	const struct sa_record *r = sa_record(SA_ATTR_PATH_RECORD);
	uint8_t want[LAYOUT_SZ(path_record)] = {0}, have[LAYOUT_SZ(path_record)];

	LAYOUT_SET(path_record, want, dlid, 7);
	LAYOUT_SET(path_record, want, flow_label, 0xabcde);
	want[LP_path_record_dgid + 15] = 1;
	memcpy(have, want, sizeof(have));
	LAYOUT_SET(path_record, have, hop_limit, 9);
	assert_true(sa_match(r, 1 << 2 | 1 << 4 | 1 << 8, want, have));
	assert_false(sa_match(r, 1 << 9, want, have));
	assert_true(sa_match(r, 1 << 7, want, have)); /* reserved */
	LAYOUT_SET(path_record, have, flow_label, 0xabcdf);
	assert_false(sa_match(r, 1 << 8, want, have));
	have[LP_path_record_dgid + 15] = 2;
	assert_false(sa_match(r, 1 << 2, want, have));
	assert_true(sa_match(r, 0, want, have));
	assert_null(sa_record(0xffff));
}

static void test_items_are_reached_by_index(void **state)
{
	uint8_t lft[64] = {0}, vl[8] = {0}, arb[64] = {0};

	LAYOUT_ITEM_SET(lft_block, lft, port, 63, 0x7e);
	assert_int_equal(lft[63], 0x7e);
	LAYOUT_ITEM_SET(sl2vl, vl, vl, 15, 0xd);
	LAYOUT_ITEM_SET(sl2vl, vl, vl, 14, 0xe);
	assert_int_equal(vl[7], 0xed);
	LAYOUT_ITEM_SET(vl_arb, arb, vl, 31, 5);
	LAYOUT_ITEM_SET(vl_arb, arb, weight, 31, 0xff);
	assert_int_equal(arb[62], 5);
	assert_int_equal(arb[63], 0xff);
	assert_int_equal(LAYOUT_ITEM_GET(sl2vl, vl, vl, 14), 0xe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_are_where_libibmad_has_them),
		cmocka_unit_test(test_fields_are_where_opensm_has_them),
		cmocka_unit_test(test_fields_are_where_the_kernel_has_them),
		cmocka_unit_test(test_cm_numbers_are_those_of_opensm),
		cmocka_unit_test(test_sizes_are_those_of_opensm),
		cmocka_unit_test(test_every_field_is_compared),
		cmocka_unit_test(test_components_have_the_bits_of_opensm),
		cmocka_unit_test(test_records_match_by_their_mask),
		cmocka_unit_test(test_items_are_reached_by_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
