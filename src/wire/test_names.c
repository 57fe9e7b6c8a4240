/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of MADs, the layouts of each MAD, and showing of any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/rec.h"
#include "util/for_tests.h"
#include "wire/for_tests.h"
#include "wire/mad/names.h"

static void make(uint8_t *mad, uint32_t class, uint32_t method, uint32_t attr)
{
	memset(mad, 0, MAD_SIZE);
	LAYOUT_SET(mad_hdr, mad, base_version, 1);
	LAYOUT_SET(mad_hdr, mad, mgmt_class, class);
	LAYOUT_SET(mad_hdr, mad, method, method);
	LAYOUT_SET(mad_hdr, mad, attr_id, attr);
}

static void test_attributes_are_known_once(void **state)
{
	const struct mad_attr_info *a, *b;

	for (uint32_t i = 0; (a = mad_attr_at(i)); i++) {
		assert_ptr_equal(mad_attr_info(a->mgmt_class, a->attr_id), a);
		if (a->text_name)
			assert_true(!a->layout || a->text + a->text_len <= a->layout->bytes);
		for (uint32_t j = i + 1; (b = mad_attr_at(j)); j++) {
			assert_string_not_equal(a->name, b->name);
			assert_false(a->attr_id == b->attr_id && a->mgmt_class == b->mgmt_class);
		}
	}
	assert_ptr_equal(mad_attr_info(MAD_CLASS_SUBN_DR, SMP_ATTR_NODE_INFO),
			 mad_attr_info(MAD_CLASS_SUBN_LID, SMP_ATTR_NODE_INFO));
	assert_null(mad_attr_info(MAD_CLASS_PERF, SMP_ATTR_PORT_INFO + 0x1000));
}

static void check_title(uint32_t class, uint32_t method, uint32_t attr, const char *want)
{
	uint8_t mad[MAD_SIZE];
	char text[64];

	make(mad, class, method, attr);
	assert_string_equal(mad_title(mad, text, sizeof(text)), want);
}

static void test_titles(void **state)
{
	check_title(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_INFO, "SubnGet(NodeInfo)");
	check_title(MAD_CLASS_SUBN_LID, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, "SubnTrap(Notice)");
	check_title(MAD_CLASS_SA, MAD_METHOD_GET_TABLE_RESP, SA_ATTR_PATH_RECORD,
		    "SubnAdmGetTableResp(PathRecord)");
	check_title(MAD_CLASS_PERF, MAD_METHOD_SET, PMA_ATTR_PORT_COUNTERS,
		    "PerformanceSet(PortCounters)");
	check_title(MAD_CLASS_VENDOR2_FIRST + 2, MAD_METHOD_GET, 0x77, "VendorGet(0x77)");
	check_title(0xee, 0x44, 0x77, "Class0xee Method0x44(0x77)");
}

static void check_status(uint32_t class, uint16_t status, const char *want)
{
	char text[96];

	assert_string_equal(mad_status_text(class, status, text, sizeof(text)), want);
}

static void test_statuses(void **state)
{
	check_status(MAD_CLASS_SUBN_LID, 0, "OK");
	check_status(MAD_CLASS_SUBN_DR, 0x8000, "OK");
	check_status(MAD_CLASS_SUBN_DR, 0x800c, "BAD_ATTR");
	check_status(MAD_CLASS_SUBN_LID, 0x0005, "BAD_VERSION|BUSY");
	check_status(MAD_CLASS_SA, 0x0300, "NO_RECORDS");
	check_status(MAD_CLASS_PERF, 0x0300, "?");
	check_status(MAD_CLASS_SA, 0x0018, "?");
}

static const struct mad_part *part(const struct mad_part *p, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(p[i].name, name))
			return &p[i];
	return NULL;
}

static void test_parts(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct mad_part p[MAD_MAX_PARTS];
	uint32_t n;

	make(mad, MAD_CLASS_SUBN_DR, MAD_METHOD_TRAP, MAD_ATTR_NOTICE);
	LAYOUT_SET(notice, mad + SMP_DATA, is_generic, 1);
	LAYOUT_SET(notice, mad + SMP_DATA, trap_num, TRAP_SWITCH_BAD_PKEY);
	n = mad_parts(mad, p);
	assert_non_null(part(p, n, "smp"));
	assert_null(part(p, n, "rmpp"));
	/* a Notice in an SMP has no issuer's GID; fields of `details` count from its own start */
	assert_int_equal(part(p, n, "Notice")->bytes, NOTICE_SMP_SIZE);
	assert_ptr_equal(part(p, n, "details")->layout, &layout_notice_259);
	assert_int_equal(part(p, n, "details")->at, SMP_DATA + NOTICE_DETAILS);

	make(mad, MAD_CLASS_PERF, MAD_METHOD_GET, PMA_ATTR_PORT_COUNTERS);
	n = mad_parts(mad, p);
	assert_int_equal(part(p, n, "PortCounters")->at, PMA_DATA);
	make(mad, MAD_CLASS_SA, MAD_METHOD_GET, MAD_ATTR_CLASS_PORT_INFO);
	n = mad_parts(mad, p);
	assert_int_equal(part(p, n, "ClassPortInfo")->at, SA_DATA);
}

static void test_messages_of_the_cm(void **state)
{
	uint8_t mad[MAD_SIZE];
	struct mad_part p[MAD_MAX_PARTS];
	uint32_t n;

	check_title(MAD_CLASS_CM, MAD_METHOD_SEND, CM_ATTR_REQ, "ComMgtSend(ConnectRequest)");
	make(mad, MAD_CLASS_CM, MAD_METHOD_SEND, CM_ATTR_REQ);
	n = mad_parts(mad, p);
	assert_int_equal(part(p, n, "ConnectRequest")->at, CM_MSG);
	assert_null(part(p, n, "cma_hdr"));
	/* RDMA_PS_TCP, port 7471 */
	LAYOUT_SET(cm_req, mad + CM_MSG, service_id, 0x1061d2f);
	n = mad_parts(mad, p);
	assert_int_equal(part(p, n, "cma_hdr")->at, CM_MSG + CM_AT_REQ_DATA);
	assert_string_equal(mad_value_name(&layout_cm_rej, LF_cm_rej_reason_BIT, 28),
			    "CONSUMER_DEFINED");
	assert_null(mad_value_name(&layout_cm_rej, LF_cm_rej_reason_BIT, 34));
}

static uint32_t records(uint32_t flags, uint32_t type, uint32_t offset, uint32_t payload)
{
	uint8_t mad[MAD_SIZE];
	struct mad_part p[MAD_MAX_PARTS];
	uint32_t n, found = 0;

	make(mad, MAD_CLASS_SA, MAD_METHOD_GET_TABLE_RESP, SA_ATTR_PATH_RECORD);
	LAYOUT_SET(mad_rmpp, mad, flags, flags);
	LAYOUT_SET(mad_rmpp, mad, rmpp_type, type);
	LAYOUT_SET(mad_rmpp, mad, payload_length, payload);
	LAYOUT_SET(sa_hdr, mad, attr_offset, offset);
	n = mad_parts(mad, p);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(p[i].at + p[i].bytes <= MAD_SIZE);
		found += p[i].layout == &layout_path_record;
	}
	return found;
}

static void test_records_of_a_table(void **state)
{
	uint32_t all = MAD_RMPP_ACTIVE | MAD_RMPP_FIRST | MAD_RMPP_LAST;

	assert_int_equal(records(0, 0, 8, 0), 1);
	assert_int_equal(records(all, MAD_RMPP_TYPE_DATA, 8, 20 + 2 * 64), 2);
	assert_int_equal(records(all, MAD_RMPP_TYPE_DATA, 8, 20), 0);
	assert_int_equal(records(all, MAD_RMPP_TYPE_DATA, 8, 0xffffffff), 3);
	assert_int_equal(records(MAD_RMPP_ACTIVE | MAD_RMPP_FIRST, MAD_RMPP_TYPE_DATA, 8, 5000), 3);
	assert_int_equal(records(MAD_RMPP_ACTIVE, MAD_RMPP_TYPE_DATA, 8, 220), 0);
	assert_int_equal(records(all, MAD_RMPP_TYPE_ACK, 8, 0), 0);
	assert_int_equal(records(all, MAD_RMPP_TYPE_DATA, 1, 220), 4);
}

/* For any bytes the parts lie inside the MAD, and a line can be made. */
static void test_any_bytes(void **state)
{
	static const uint8_t classes[] = {0x01, 0x81, 0x03, 0x04, 0x06, 0x07, 0x32, 0xee};
	const struct mad_attr_info *a;
	struct mad_part p[MAD_MAX_PARTS];
	uint8_t mad[MAD_SIZE];
	struct rec r;

	srand(1);
	for (uint32_t i = 0; i < 4000; i++) {
		for (uint32_t b = 0; b < MAD_SIZE; b++)
			mad[b] = i % 3 ? (uint8_t)rand() : 0xff;
		a = mad_attr_at((uint32_t)rand() % 60);
		LAYOUT_SET(mad_hdr, mad, mgmt_class, classes[i % sizeof(classes)]);
		if (a)
			LAYOUT_SET(mad_hdr, mad, attr_id, a->attr_id);
		if (i & 64)
			mad[SMP_DATA + 4] = 0, mad[SMP_DATA + 5] = 128;
		for (uint32_t k = 0, n = mad_parts(mad, p); k < n; k++)
			assert_true(p[k].at + p[k].bytes <= MAD_SIZE);
		log_json = i & 1;
		rec_begin(&r, LOG_MAD, "test", 0);
		mad_rec(&r, mad);
		assert_true(r.n > 40);
		rec_free(&r);
	}
	log_json = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attributes_are_known_once),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_messages_of_the_cm),
		cmocka_unit_test(test_records_of_a_table),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
