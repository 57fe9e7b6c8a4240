/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Self-test of all PRM layouts, golden vectors, and the walks over their tables. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/for_tests.h"
#include "util/rec.h"
#include "util/test_cmocka.h"
#include "wire/for_tests.h"
#include "wire/golden_mad.h"
#include "wire/golden_prm.h"
#include "wire/mad/mad.h"
#include "wire/names.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/mkey.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"
#include "wire/prm/qp.h"
#include "wire/prm/rmp_srq.h"
#include "wire/wqe/cqe.h"

/* The field that covers a bit, and the layout that it is in; or NULL. */
static const struct layout_field *field_at(const struct layout *l, uint32_t bit,
					   const struct layout **in)
{
	for (uint32_t i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];

		if (bit >= f->bit && bit < f->bit + f->width) {
			*in = l;
			return f;
		}
	}
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct layout_place *s = &l->places[i];

		if (bit >= s->byte * 8 && bit < (s->byte + s->inner->bytes) * 8)
			return field_at(s->inner, bit - s->byte * 8, in);
	}
	return NULL;
}

/* Mark a field's bits; fails if one belongs to another field. */
static void claim(const struct layout *l, const char *name, uint8_t *owner, uint32_t bit,
		  uint32_t width)
{
	assert_uint_in_range(bit + width, 1, l->bytes * 8);
	for (uint32_t b = bit; b < bit + width; b++) {
		if (owner[b])
			fail_msg("%s.%s overlaps another field at bit 0x%x", l->name, name, b);
		owner[b] = 1;
	}
}

static void check_overlap(const struct layout *const *p)
{
	for (; *p; p++) {
		const struct layout *l = *p;
		uint8_t *owner = calloc(l->bytes, 8);

		for (uint32_t i = 0; i < l->nfields; i++)
			claim(l, l->fields[i].name, owner, l->fields[i].bit, l->fields[i].width);
		for (uint32_t i = 0; i < l->nplaces; i++)
			claim(l, l->places[i].name, owner, l->places[i].byte * 8,
			      l->places[i].inner->bytes * 8);
		free(owner);
	}
}

static void test_fields_and_places_do_not_overlap(void **state)
{
	check_overlap(prm_layouts);
	check_overlap(mad_layouts);
}

static void test_names_are_unique_and_sizes_are_dwords(void **state)
{
	for (const struct layout *const *p = prm_layouts; *p; p++) {
		const struct layout *l = *p;

		assert_int_equal(l->bytes % 4, 0);
		for (const struct layout *const *q = p + 1; *q; q++)
			assert_string_not_equal(l->name, (*q)->name);
		for (uint32_t i = 0; i < l->nfields; i++) {
			for (uint32_t j = i + 1; j < l->nfields; j++)
				assert_string_not_equal(l->fields[i].name, l->fields[j].name);
			for (uint32_t j = 0; j < l->nplaces; j++)
				assert_string_not_equal(l->fields[i].name, l->places[j].name);
		}
	}
}

/* Every command's input and output has the common header. */
static void test_commands_start_with_the_header(void **state)
{
	for (const struct layout *const *p = prm_layouts; *p; p++) {
		const struct layout *l = *p, *in;
		size_t n = strlen(l->name);

		if (n > 3 && !strcmp(l->name + n - 3, "_in")) {
			assert_string_equal(field_at(l, 0x00, &in)->name, "opcode");
			assert_string_equal(field_at(l, 0x10, &in)->name, "uid");
			assert_string_equal(field_at(l, 0x30, &in)->name, "op_mod");
			assert_true(l->bytes >= 0x10);
		} else if (n > 4 && !strcmp(l->name + n - 4, "_out")) {
			assert_string_equal(field_at(l, 0x00, &in)->name, "status");
			assert_string_equal(field_at(l, 0x20, &in)->name, "syndrome");
			assert_true(l->bytes >= 0x10);
		}
	}
}

static const struct layout_field *field(const struct layout *l, const char *name)
{
	for (uint32_t i = 0; i < l->nfields; i++)
		if (!strcmp(l->fields[i].name, name))
			return &l->fields[i];
	fail_msg("%s has no field %s", l->name, name);
	return NULL;
}

static void check_golden(const struct layout *l, const struct golden_field *f, size_t n,
			 const uint8_t *bytes, size_t len)
{
	uint8_t buf[0x200] = {0}, want[0x200] = {0};

	assert_true(l->bytes <= sizeof(buf) && len <= l->bytes);
	memcpy(want, bytes, len);
	for (size_t i = 0; i < n; i++) {
		const struct layout_field *lf = field(l, f[i].name);

		layout_set(buf, lf->bit, lf->width, f[i].value);
	}
	for (uint32_t i = 0; i < l->bytes; i++)
		if (buf[i] != want[i])
			fail_msg("%s: byte 0x%x is 0x%02x, rdma-core has 0x%02x", l->name, i,
				 buf[i], want[i]);
	for (size_t i = 0; i < n; i++) {
		const struct layout_field *lf = field(l, f[i].name);

		assert_int_equal(layout_get(want, lf->bit, lf->width), f[i].value);
	}
}

static void test_bytes_are_those_of_rdma_core(void **state)
{
#define CHECK_GOLDEN(l)                                                                   \
	check_golden(&layout_##l, golden_##l, ARRAY_SIZE(golden_##l), golden_##l##_bytes, \
		     sizeof(golden_##l##_bytes));
	GOLDEN(CHECK_GOLDEN)
	GOLDEN_MAD(CHECK_GOLDEN)
}

/* Nested layouts are where rdma-core has them. */
static void test_places(void **state)
{
	uint8_t in[0x110] = {0};
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);

	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), vhca_port_num, 1);
	assert_int_equal(in[0x18 + 0x18 + 0x25], 1);
	assert_ptr_equal(LAYOUT_IN(create_cq_in, cq_context, in), in + 0x10);
	assert_ptr_equal(LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in), in + 0x10);
	assert_ptr_equal(LAYOUT_IN(create_rmp_in, ctx, in), in + 0x20);
}

static void test_a_single_reserved_bit_is_found(void **state)
{
	uint8_t in[0x110] = {0};

	assert_int_equal(layout_reserved_set(&layout_create_qp_in, in, sizeof(in)), -1);
	/* a named field: create_qp_in.qpc.primary_address_path.rgid_rip, three layouts deep */
	memset(in + 0x18 + 0x18 + 0x10, 0xff, 16);
	assert_int_equal(layout_reserved_set(&layout_create_qp_in, in, sizeof(in)), -1);
	/* bit 0x6b, a reserved one between input_qpn and opt_param_mask */
	in[0x60 / 8 + 0xb / 8] |= 0x10;
	assert_int_equal(layout_reserved_set(&layout_create_qp_in, in, sizeof(in)), 0x6b);
}

/* With all named fields set no reserved bit is found; any other set bit is found. */
static void test_reserved_is_the_complement_of_the_fields(void **state)
{
	for (const struct layout *const *p = prm_layouts; *p; p++) {
		const struct layout *l = *p, *in;
		uint8_t buf[0x110];

		if (l->bytes > sizeof(buf))
			continue;
		for (uint32_t bit = 0; bit < l->bytes * 8; bit++) {
			int32_t want = field_at(l, bit, &in) ? -1 : (int32_t)bit;

			memset(buf, 0, sizeof(buf));
			buf[bit / 8] = (uint8_t)(0x80 >> (bit % 8));
			if (layout_reserved_set(l, buf, l->bytes) != want)
				fail_msg("%s bit 0x%x", l->name, bit);
		}
	}
}

static void test_fields_are_found_by_name(void **state)
{
	uint32_t bit, width;

	assert_true(layout_find(&layout_create_qp_in, "qpc.pd", &bit, &width));
	assert_int_equal(bit, 0x18 * 8 + 0x28);
	assert_int_equal(width, 24);
	assert_true(layout_find(&layout_init2rtr_qp_in, "ads.vhca_port_num", &bit, &width));
	assert_int_equal(bit, (0x18 + 0x18) * 8 + 0x128);
	assert_true(layout_find(&layout_init2rtr_qp_in, "rst2init_qp_in.qpn", &bit, &width));
	assert_int_equal(bit, 0x48);
	assert_false(layout_find(&layout_create_qp_in, "cqc.cc", &bit, &width));
	assert_false(layout_find(&layout_create_qp_in, "create_qp_in.nothing", &bit, &width));
	assert_false(layout_find(&layout_create_qp_in, "cmd_in", &bit, &width));
}

/* ---- names of values */

static uint32_t width_at(const struct layout *l, uint32_t bit)
{
	for (uint32_t i = 0; i < l->nfields; i++)
		if (l->fields[i].bit == bit)
			return l->fields[i].width;
	return 0;
}

/* Mode bits of memory keys are in two fields; one of them has the names. */
static void test_values_fit_and_have_one_name(void **state)
{
	for (const struct layout_named *n = prm_named; n->l; n++) {
		uint32_t width = width_at(n->l, n->bit);

		assert_true(width);
		for (const struct layout_named *m = n + 1; m->l; m++)
			assert_false(m->l == n->l && m->bit == n->bit);
		for (const struct layout_value *v = n->values; v->name; v++) {
			if (v->value > bits_max(width))
				fail_msg("%s: %s does not fit", n->l->name, v->name);
			assert_string_equal(prm_value_name(n->l, n->bit, v->value), v->name);
			for (const struct layout_value *w = v + 1; w->name; w++)
				assert_string_not_equal(v->name, w->name);
		}
	}
}

static void test_names_of_values(void **state)
{
	assert_string_equal(prm_value_name(&layout_qpc, LF_qpc_state_BIT, 3), "RTS");
	assert_string_equal(prm_value_name(&layout_qpc, LF_qpc_pm_state_BIT, 3), "MIGRATED");
	assert_null(prm_value_name(&layout_qpc, LF_qpc_pm_state_BIT, 2));
	assert_null(prm_value_name(&layout_qpc, LF_qpc_pd_BIT, 3));
	assert_null(prm_value_name(&layout_mkc, LF_qpc_state_BIT, 3));
	assert_string_equal(wire_value_name(&layout_cmd_in, LF_cmd_in_opcode_BIT, 0x500),
			    "CREATE_QP");
	assert_string_equal(wire_value_name(&layout_err_cqe, LF_err_cqe_syndrome_BIT, 5),
			    "WR_FLUSH");
	assert_string_equal(wire_value_name(&layout_port_info, LF_port_info_mtu_cap_BIT, 5),
			    "4096");
	assert_null(wire_value_name(&layout_port_info, LF_port_info_mtu_cap_BIT, 6));
}

/* A value with a name is shown with it, another as a number. */
static void test_a_record_names_values(void **state)
{
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0};
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);
	struct rec r;

	LAYOUT_SET(qpc, qpc, st, PRM_ST_UD);
	LAYOUT_SET(qpc, qpc, pm_state, 2);
	LAYOUT_SET(qpc, qpc, mtu, IB_MTU_4096);
	rec_begin(&r, LOG_FW, "t", 0);
	layout_rec(&r, &layout_create_qp_in, in, sizeof(in),
		   &(struct layout_rec){.name = prm_value_name});
	assert_non_null(memmem(r.buf, r.n, "qpc={st=UD(0x2), pm_state=2, mtu=4096(0x5)}", 43));
	rec_free(&r);
}

/* ---- walks */

struct seen {
	uint32_t fields, reserved;
	uint64_t sum;
	int depth;
};

static void see_field(void *ctx, const struct layout *l, const struct layout_field *f, uint32_t bit,
		      uint64_t value)
{
	struct seen *s = ctx;

	s->fields++;
	s->sum += value + bit;
}

static void see_enter(void *ctx, const struct layout_place *place, uint32_t bit)
{
	((struct seen *)ctx)->depth++;
}

static void see_leave(void *ctx, const struct layout_place *place)
{
	((struct seen *)ctx)->depth--;
}

static void see_reserved(void *ctx, uint32_t bit, uint32_t value)
{
	((struct seen *)ctx)->reserved += (uint32_t)__builtin_popcount(value);
}

static struct seen see(const struct layout *l, const uint8_t *p, uint32_t n)
{
	static const struct layout_walker w = {
		.field = see_field,
		.enter = see_enter,
		.leave = see_leave,
		.reserved = see_reserved,
	};
	struct seen s = {0};

	layout_walk(l, p, n, &w, &s);
	assert_int_equal(s.depth, 0);
	return s;
}

/* Count the fields of a layout and its nested layouts. */
static uint32_t count_fields(const struct layout *l)
{
	uint32_t n = l->nfields;

	for (uint32_t i = 0; i < l->nplaces; i++)
		n += count_fields(l->places[i].inner);
	return n;
}

/* With all bits set, each field is visited once, and each bit is part of a field or reserved. */
static void test_a_walk_sees_each_bit_once(void **state)
{
	for (const struct layout *const *p = prm_layouts; *p; p++) {
		const struct layout *l = *p, *in;
		uint8_t *buf = calloc(1, l->bytes);
		struct seen s = see(l, buf, l->bytes);
		uint32_t free_bits = 0;

		assert_int_equal(s.fields + s.reserved, 0);
		memset(buf, 0xff, l->bytes);
		s = see(l, buf, l->bytes);
		assert_int_equal(s.fields, count_fields(l));
		for (uint32_t bit = 0; bit < l->bytes * 8; bit++)
			free_bits += !field_at(l, bit, &in);
		assert_int_equal(s.reserved, free_bits);
		free(buf);
	}
}

/* A dump may be cut anywhere; the walk reads nothing after its end. */
static void test_a_walk_stops_at_the_end(void **state)
{
	for (const struct layout *const *p = prm_layouts; *p; p++) {
		const struct layout *l = *p;
		uint32_t last = 0;

		for (uint32_t n = 0; n <= l->bytes && n < 0x120; n++) {
			/* exact size, so that a sanitizer notices */
			uint8_t *buf = malloc(n ? n : 1);
			struct seen s;

			memset(buf, 0xff, n ? n : 1);
			s = see(l, buf, n);
			assert_true(s.fields >= last);
			last = s.fields;
			free(buf);
		}
	}
}

static void test_a_walk_gives_place_and_value(void **state)
{
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0};
	struct seen s;

	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, in), pd, 0x77);
	s = see(&layout_create_qp_in, in, sizeof(in));
	assert_int_equal(s.fields, 1);
	assert_true(s.sum == 0x77 + 0x18 * 8 + 0x28);
}

static void test_capability_groups_have_layouts(void **state)
{
	uint8_t in[LAYOUT_SZ(cmd_in)] = {0};

	assert_ptr_equal(prm_variant(&layout_hca_cap_union, in), &layout_cmd_hca_cap);
	LAYOUT_SET(cmd_in, in, op_mod, 0x20 << 1 | 1);
	assert_ptr_equal(prm_variant(&layout_hca_cap_union, in), &layout_cmd_hca_cap_2);
	LAYOUT_SET(cmd_in, in, op_mod, 0x7f << 1);
	assert_null(prm_variant(&layout_hca_cap_union, in));
	assert_null(prm_variant(&layout_qpc, in));
}

/* In the library the value is cut and logged (util/bug.h); here it ends the test. */
static void test_a_value_that_does_not_fit_is_a_bug(void **state)
{
	uint8_t in[LAYOUT_SZ(create_cq_in)] = {0};
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		dup2(open("/dev/null", O_WRONLY), 2);
		LAYOUT_SET(create_cq_in, in, opcode, 0x10000);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void test_opcodes_are_unique(void **state)
{
#define OPCODE(nr, name) nr,
#define OPNAME(nr, name) #name,
	static const uint16_t nr[] = {PRM_OPCODES(OPCODE)};
	static const char *const name[] = {PRM_OPCODES(OPNAME)};

	for (size_t i = 0; i < ARRAY_SIZE(nr); i++) {
		assert_string_equal(prm_opcode_name(nr[i]), name[i]);
		for (size_t j = i + 1; j < ARRAY_SIZE(nr); j++) {
			assert_int_not_equal(nr[i], nr[j]);
			assert_string_not_equal(name[i], name[j]);
		}
	}
	assert_string_equal(prm_opcode_name(0xffff), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_and_places_do_not_overlap),
		cmocka_unit_test(test_names_are_unique_and_sizes_are_dwords),
		cmocka_unit_test(test_commands_start_with_the_header),
		cmocka_unit_test(test_bytes_are_those_of_rdma_core),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_a_single_reserved_bit_is_found),
		cmocka_unit_test(test_reserved_is_the_complement_of_the_fields),
		cmocka_unit_test(test_fields_are_found_by_name),
		cmocka_unit_test(test_values_fit_and_have_one_name),
		cmocka_unit_test(test_names_of_values),
		cmocka_unit_test(test_a_record_names_values),
		cmocka_unit_test(test_a_walk_sees_each_bit_once),
		cmocka_unit_test(test_a_walk_stops_at_the_end),
		cmocka_unit_test(test_a_walk_gives_place_and_value),
		cmocka_unit_test(test_capability_groups_have_layouts),
		cmocka_unit_test(test_a_value_that_does_not_fit_is_a_bug),
		cmocka_unit_test(test_opcodes_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
