/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of the transports, checked against each other and the opcodes. */
#include "hw/service.h"
#include "engine/test.h"
#include "engine/tx/tx.h"
#include "engine/tx/sender.h"

#include <string.h>

static const enum prm_st all[] = {PRM_ST_RC,  PRM_ST_UC,  PRM_ST_UD,
				  PRM_ST_XRC, PRM_ST_DCI, HW_ST_DCT};
#define ALL (sizeof(all) / sizeof(all[0]))

static void test_only_these_numbers_have_a_row(void **state)
{
	(void)state;
	for (uint32_t st = 0; st < ENG_TRANSPORTS; st++) {
		const struct hw_qp qp = {.st = st};
		bool is = false;

		for (size_t i = 0; i < ALL; i++)
			is |= all[i] == st;
		assert_int_equal(eng_sender(&qp)->execute || eng_transport(&qp)->stays, is);
		assert_int_equal(strcmp(hw_service(st)->name, "?") != 0, is);
		if (!is)
			assert_true(!eng_transport(&qp)->opcodes);
	}
}

static void test_services_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		const struct hw_service *sv = hw_service(all[i]);

		assert_int_equal(sv->st, all[i]);
		if (sv->made) {
			assert_ptr_equal(hw_service_ib(sv->ib_type), sv);
			assert_ptr_equal(hw_service_ib(sv->ib_target), sv);
		}
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(sv->name, hw_service(all[j])->name);
	}
	assert_false(hw_service_ib(IBV_QPT_RAW_PACKET)->made);
}

static void test_what_is_accepted_can_be_executed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		const struct eng_transport *t = &eng_transports[all[i]];

		for (uint32_t opcode = 0; opcode < 256; opcode++)
			if (eng_accepts(t, opcode))
				assert_int_not_equal(eng_op(opcode)->kind, ENG_K_NONE);
		assert_int_equal(eng_senders[all[i]].execute != NULL, t->opcodes != 0);
	}
}

/* Each opcode is accepted by some transport; otherwise its row is useless. */
static void test_each_opcode_has_a_transport(void **state)
{
	uint64_t any = 0;

	(void)state;
	for (size_t i = 0; i < ALL; i++)
		any |= eng_transports[all[i]].opcodes;
	for (uint32_t opcode = 0; opcode < 64; opcode++)
		if (eng_op(opcode)->kind != ENG_K_NONE)
			assert_true(any >> opcode & 1);
}

/* READs and atomics have answers, which need acknowledgements and retries. */
static void test_answers_need_acknowledgements(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		const struct eng_transport *t = &eng_transports[all[i]];

		for (uint32_t opcode = 0; opcode < 64; opcode++) {
			uint32_t kind = eng_op(opcode)->kind;

			if (eng_accepts(t, opcode) && (kind == ENG_K_READ || kind == ENG_K_ATOMIC))
				assert_true(eng_acks(t));
		}
		if (t->psn)
			assert_true(eng_acks(t));
		assert_int_equal(eng_acks(t), eng_senders[all[i]].back != NULL);
		if (eng_senders[all[i]].execute)
			assert_int_equal(t->sqer, !eng_acks(t));
	}
}

static void test_rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		const struct eng_transport *t = &eng_transports[all[i]];
		const struct eng_sender *x = &eng_senders[all[i]];

		assert_false(t->av && t->names_srq);
		if (!x->execute)
			continue;
		assert_int_equal(t->headers, HDR_BASE + (t->one_packet ? HDR_DETH : 0) +
						     (t->names_srq ? HDR_XRCETH : 0));
		assert_int_equal(hw_service(t->responder)->st, t->responder);
		if (x->execute == rc_execute)
			assert_true(x->peer && x->accepts);
	}
}

/* The header of each transport, and each size of WQE that is too small for it. */
static void test_header_of_a_wqe(void **state)
{
	static const struct {
		enum prm_st st;
		bool ext;
		uint32_t bytes;
	} is[] = {
		{PRM_ST_RC, false, 16}, {PRM_ST_UC, false, 16}, {PRM_ST_XRC, false, 32},
		{PRM_ST_UD, false, 32}, {PRM_ST_UD, true, 64},  {PRM_ST_DCI, false, 32},
		{PRM_ST_DCI, true, 64},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct eng_run r = {.transport = &eng_transports[is[i].st]};

		LAYOUT_SET(wqe_av, r.wqe + WQE_SEG, ext, is[i].ext);
		r.bytes = is[i].bytes;
		assert_int_equal(eng_wqe_header(&r), is[i].bytes);
		r.bytes = is[i].bytes - WQE_SEG;
		if (r.transport->av)
			assert_int_equal(eng_wqe_header(&r), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_these_numbers_have_a_row),
		cmocka_unit_test(test_services_differ),
		cmocka_unit_test(test_what_is_accepted_can_be_executed),
		cmocka_unit_test(test_each_opcode_has_a_transport),
		cmocka_unit_test(test_answers_need_acknowledgements),
		cmocka_unit_test(test_rows_are_complete),
		cmocka_unit_test(test_header_of_a_wqe),
	};

	return cmocka_run_group_tests_name("engine transports", tests, NULL, NULL);
}
