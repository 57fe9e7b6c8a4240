/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of kinds: a complete row for each table of hardware objects, in an order that can be
 * reaped.
 */
#include "fw/test.h"
#include "hw/obj.h"

static void test_each_table_has_one_row(void **state)
{
	for (unsigned int t = 0; t < SEG_T_COUNT; t++) {
		unsigned int n = 0;

		fw_for_each_kind (k)
			n += k->table == t;
		assert_int_equal(n, t >= HW_KIND_FIRST);
		assert_true((fw_kind((enum seg_table_id)t) != NULL) == (t >= HW_KIND_FIRST));
	}
}

static void test_names_are_unique(void **state)
{
	fw_for_each_kind (k)
		fw_for_each_kind (other)
			assert_true(k == other || !k->name || !other->name ||
				    strcmp(k->name, other->name) != 0);
}

static void test_offsets_are_inside_the_element(void **state)
{
	struct env *e = *state;

	fw_for_each_kind (k) {
		uint32_t size = seg_table(&e->s, k->table)->elem_size;

		assert_int_equal(k->size, size);
		assert_true(k->refs + sizeof(uint32_t) <= size);
		assert_true(!k->refs || k->refs >= sizeof(struct fw_elem));
		for (size_t i = 0; i < FW_KIND_LOCKS; i++)
			assert_true(k->locks[i] + sizeof(struct seg_lock) <= size);
		for (size_t i = 0; i < FW_KIND_REFERS; i++)
			assert_true(k->refers[i].at + sizeof(uint32_t) <= size);
		assert_true(k->log_max + sizeof(uint32_t) <= sizeof(struct hw_caps));
	}
}

/* Columns of a row that need each other. */
static void test_rows_are_complete(void **state)
{
	fw_for_each_kind (k) {
		assert_uint_in_range(k->stage, FW_STAGE_QUEUE, FW_STAGE_NEVER);
		/* without a name: objects of the device, and parts of other objects */
		assert_true(k->name || (!k->refs && !k->locks[0] && !k->log_max));
		/*
		 * threads work on it: free() waits for them, so it belongs to the stage of queues
		 */
		assert_true(!k->locks[0] || (k->free && k->stage == FW_STAGE_QUEUE));
		assert_true(!k->held || k->locks[0]);
		assert_true(!k->stop || k->locks[0]);
		/* free() drops the references */
		assert_true(!(k->refers[0].at || k->refer) || k->free ||
			    k->stage == FW_STAGE_NEVER);
		assert_true(!k->retire || k->free);
		assert_true(!k->adopt || k->shared);
		/* disable_mkeys() handles one kind of keys */
		assert_true((k->stage == FW_STAGE_KEY) == (k->table == SEG_T_MKEY));
	}
}

static void test_stages_are_in_order(void **state)
{
	enum fw_stage last = FW_STAGE_QUEUE;

	fw_for_each_kind (k) {
		if (k->stage == FW_STAGE_NEVER)
			continue;
		assert_true(k->stage >= last);
		last = k->stage;
	}
}

static void assert_reaped_before(const struct fw_kind *k, uint32_t table)
{
	const struct fw_kind *to = fw_kind((enum seg_table_id)table);

	assert_non_null(to);
	assert_true(to->refs != 0);
	assert_true(k->table > to->table || (k == to && k->retire));
}

static void test_a_kind_is_reaped_before_those_it_refers_to(void **state)
{
	struct env *e = *state;
	unsigned int n = 0;

	fw_for_each_kind (k)
		for (size_t i = 0; i < FW_KIND_REFERS && k->refers[i].at; i++)
			assert_reaped_before(k, k->refers[i].table);
	/* also objects that list their references themselves */
	raw_up(e);
	sched_up(e);
	seg_for_each_live (&e->s, SEG_T_OBJ, i)
		for (size_t r = 0; r < HW_OBJ_REFS; r++) {
			uint32_t table = hw_obj(&e->s, i)->ref[r].table;

			if (!table)
				continue;
			assert_reaped_before(fw_kind(SEG_T_OBJ), table);
			n++;
		}
	assert_true(n > 5);
}

/* fw_refer() follows each field: a recount relies on it. */
static void test_every_reference_field_counts(void **state)
{
	struct env *e = *state;

	fw_for_each_kind (k)
		for (size_t i = 0; i < FW_KIND_REFERS && k->refers[i].at; i++) {
			enum seg_table_id to = (enum seg_table_id)k->refers[i].table;
			uint32_t from_idx, to_idx;
			uint8_t *elem;

			assert_int_equal(seg_alloc(&e->s, to, e->file + 1, &to_idx), 0);
			assert_int_equal(seg_alloc(&e->s, k->table, e->file + 1, &from_idx), 0);
			elem = seg_at(&e->s, k->table, from_idx);
			memcpy(elem + k->refers[i].at, &to_idx, sizeof(to_idx));
			fw_refer(&e->s, k->table, elem, 1);
			assert_int_equal(*fw_refs_of(&e->s, to, to_idx), 1);
			fw_refer(&e->s, k->table, elem, -1);
			assert_int_equal(*fw_refs_of(&e->s, to, to_idx), 0);
			seg_free(&e->s, k->table, from_idx);
			seg_free(&e->s, to, to_idx);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		env_test(test_each_table_has_one_row),
		env_test(test_names_are_unique),
		env_test(test_offsets_are_inside_the_element),
		env_test(test_rows_are_complete),
		env_test(test_stages_are_in_order),
		env_test(test_a_kind_is_reaped_before_those_it_refers_to),
		env_test(test_every_reference_field_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
