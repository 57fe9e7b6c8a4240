/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every reason for a refusal: a valid command with one error, and the status and syndrome that it
 * must give. The tables are walked: each command needs a valid form, each refusal a row.
 */
#include "fw/test_refusals.h"
#include "fw/for_tests.h"
#include "hw/hca.h"
#include "hw/obj.h"

static const struct refusal_rows *const families[] = {
	&rows_common, &rows_mem, &rows_qp, &rows_raw, &rows_qos, &rows_shared, &rows_ib, &rows_eth,
};

static const struct refusal_rows *family_of(enum base b, const struct valid_row **row)
{
	for (size_t f = 0; f < ARRAY_SIZE(families); f++)
		for (size_t i = 0; i < families[f]->nvalid; i++)
			if (families[f]->valid[i].base == b) {
				*row = &families[f]->valid[i];
				return families[f];
			}
	*row = NULL;
	return NULL;
}

const struct valid_row *valid_row(enum base b)
{
	const struct valid_row *row;

	family_of(b, &row);
	return row;
}

static bool runs_on(const struct refusal_rows *f, enum hw_link link)
{
	return !f || f->link == ON_BOTH || f->link == (link == HW_LINK_ETH ? ON_ETH : ON_IB);
}

static const struct fw_cmd *row_of(const void *in)
{
	for (unsigned int i = 0; i < fw_ncmds; i++)
		if (fw_cmds[i].opcode == LAYOUT_GET(cmd_in, in, opcode))
			return &fw_cmds[i];
	return NULL;
}

static uint32_t run_base(struct env *e, enum base b)
{
	struct fw_ctx c;
	const struct fw_cmd *cmd;

	base_build(e, b);
	c = base_ctx(e, b);
	cmd = row_of(e->in);
	assert_non_null(cmd);
	return run_as(e, &c, e->in, base_len(cmd, b), base_outlen(cmd));
}

static void valid_forms(enum hw_link link)
{
	for (int b = 0; b < B_COUNT; b++) {
		const struct valid_row *v;
		struct env e;

		if (!runs_on(family_of((enum base)b, &v), link))
			continue;
		env_up_on(&e, link);
		if (run_base(&e, (enum base)b) != FW_OK)
			fail_msg("%s: syndrome 0x%x", fw_opcode_name(row_of(e.in)->opcode),
				 syndrome(&e));
		assert_true(b >= B_COMMANDS || row_of(e.in) == &fw_cmds[b]);
		if (v && v->check)
			v->check(&e);
		env_down(&e);
	}
}

static void test_every_command_has_a_valid_form_that_succeeds(void **state)
{
	valid_forms(HW_LINK_IB);
	valid_forms(HW_LINK_ETH);
}

static void check_row(const struct refusal_row *r, enum hw_link link, const char *family, size_t n)
{
	const struct fw_refusal *want = fw_refusal(r->want);
	uint32_t inlen, outlen, status;
	const struct fw_cmd *cmd;
	struct fw_ctx c;
	struct env e;

	env_up_on(&e, link);
	base_build(&e, r->base);
	c = base_ctx(&e, r->base);
	cmd = row_of(e.in);
	inlen = base_len(cmd, r->base);
	outlen = base_outlen(cmd);
	base_edit(&e, r->edit, ARRAY_SIZE(r->edit));
	if (r->more)
		r->more(&e, &c, &inlen, &outlen);
	/* OUTPUT_LEN has a short answer on purpose: only the header is left. */
	assert_int_equal(fw_exec(&c, e.in, inlen, e.out, outlen < 16 ? 16 : outlen), 0);
	status = LAYOUT_GET32(cmd_out, e.out, status);
	if (status != want->status || syndrome(&e) != want->syndrome)
		fail_msg("%s: row %zu of %s, %s: %s 0x%x, expected %s 0x%x (%s: %s)",
			 link == HW_LINK_ETH ? "Ethernet" : "InfiniBand", n, family,
			 fw_opcode_name(cmd->opcode), fw_status_name((uint8_t)status), syndrome(&e),
			 fw_status_name(want->status), want->syndrome, want->field, want->text);
	env_down(&e);
}

static void check_rows(enum hw_link link)
{
	for (size_t f = 0; f < ARRAY_SIZE(families); f++)
		for (size_t i = 0; i < families[f]->n && runs_on(families[f], link); i++)
			check_row(&families[f]->row[i], link, families[f]->name, i);
}

static void test_each_wrong_thing_gets_its_status_and_syndrome(void **state)
{
	check_rows(HW_LINK_IB);
	check_rows(HW_LINK_ETH);
}

static bool has_row(unsigned int refusal)
{
	for (size_t f = 0; f < ARRAY_SIZE(families); f++)
		for (size_t i = 0; i < families[f]->n; i++)
			if ((unsigned int)families[f]->row[i].want == refusal)
				return true;
	return false;
}

static void test_no_refusal_without_a_row(void **state)
{
	for (unsigned int r = FW_R_NONE + 1; r < FW_R_COUNT; r++)
		if (!has_row(r))
			fail_msg("syndrome 0x%x (%s: %s) is not tested",
				 fw_refusal((enum fw_r)r)->syndrome,
				 fw_refusal((enum fw_r)r)->field, fw_refusal((enum fw_r)r)->text);
}

/* What every live object of the segment consists of, in the order of tables and indices. */
struct picture {
	uint32_t live[SEG_T_COUNT];
	uint8_t *bytes;
	size_t len, room;
};

static void picture_take(struct picture *p, const struct seg *s)
{
	for (uint32_t t = 0; t < SEG_T_COUNT; t++) {
		const struct seg_table_hdr *h = seg_table(s, (enum seg_table_id)t);

		p->live[t] = h->live;
		if (t < HW_KIND_FIRST)
			continue;
		seg_for_each_live (s, (enum seg_table_id)t, i) {
			if (p->len + h->elem_size > p->room) {
				p->room = (p->len + h->elem_size) * 2;
				p->bytes = realloc(p->bytes, p->room);
				assert_non_null(p->bytes);
			}
			memcpy(p->bytes + p->len, seg_at(s, (enum seg_table_id)t, i), h->elem_size);
			p->len += h->elem_size;
		}
	}
}

/* The table and the place in its element of a byte that differs. */
static void picture_same(const struct picture *was, const struct picture *is, const struct seg *s,
			 const char *family, size_t n)
{
	size_t at = 0;

	for (uint32_t t = 0; t < SEG_T_COUNT; t++)
		assert_int_equal(was->live[t], is->live[t]);
	assert_int_equal(was->len, is->len);
	for (uint32_t t = HW_KIND_FIRST; t < SEG_T_COUNT; t++) {
		uint32_t size = seg_table(s, (enum seg_table_id)t)->elem_size;

		seg_for_each_live (s, (enum seg_table_id)t, i) {
			for (uint32_t b = 0; b < size; b++, at++)
				if (was->bytes[at] != is->bytes[at])
					fail_msg("row %zu of %s changes byte %u of %u in table %u",
						 n, family, b, i, t);
		}
	}
}

static void check_no_trace(const struct refusal_rows *f, size_t n)
{
	const struct refusal_row *r = &f->row[n];
	struct picture was = {0}, is = {0};
	uint32_t inlen, outlen;
	struct fw_ctx c;
	struct env e;

	env_up_on(&e, f->link == ON_ETH ? HW_LINK_ETH : HW_LINK_IB);
	base_build(&e, r->base);
	c = base_ctx(&e, r->base);
	inlen = base_len(row_of(e.in), r->base);
	outlen = base_outlen(row_of(e.in));
	base_edit(&e, r->edit, ARRAY_SIZE(r->edit));
	if (r->more)
		r->more(&e, &c, &inlen, &outlen);
	picture_take(&was, &e.s);
	fw_exec(&c, e.in, inlen, e.out, outlen < 16 ? 16 : outlen);
	picture_take(&is, &e.s);
	picture_same(&was, &is, &e.s, f->name, n);
	free(was.bytes);
	free(is.bytes);
	env_down(&e);
}

/* A refused command changes nothing: the objects stay the same, byte by byte. */
static void test_a_refusal_leaves_no_trace(void **state)
{
	for (size_t f = 0; f < ARRAY_SIZE(families); f++)
		for (size_t i = 0; i < families[f]->n; i++)
			check_no_trace(families[f], i);
}

static void test_command_table(void **state)
{
	for (unsigned int i = 0; i < fw_ncmds; i++) {
		const struct fw_cmd *c = &fw_cmds[i];
		size_t n = strlen(c->in->name);

		assert_non_null(c->handler);
		assert_string_not_equal(fw_opcode_name(c->opcode), "?");
		/* both layouts belong to one command */
		assert_string_equal(c->in->name + n - 3, "_in");
		assert_memory_equal(c->in->name, c->out->name, n - 3);
		assert_string_equal(c->out->name + n - 3, "_out");
		/* reserved bits fit the check, and objects are of a kind that can be reaped */
		assert_true(c->in->bytes <= 0x150);
		assert_true(!(c->flags & FW_C_CUT) || c->out->bytes <= OUT(query_hca_cap));
		assert_true(c->object == -1 ||
			    (c->object >= HW_KIND_FIRST && c->object < SEG_T_COUNT));
		for (unsigned int j = i + 1; j < fw_ncmds; j++) {
			assert_int_not_equal(c->opcode, fw_cmds[j].opcode);
			assert_ptr_not_equal(c->in, fw_cmds[j].in);
		}
	}
}

/* The field named by a refusal exists. */
static bool field_exists(const char *dotted)
{
	const char *dot = strchr(dotted, '.');
	size_t n = dot ? (size_t)(dot - dotted) : strlen(dotted);

	for (const struct layout *const *p = prm_layouts; *p; p++) {
		if (strlen((*p)->name) != n || memcmp((*p)->name, dotted, n))
			continue;
		if (!dot)
			return true;
		for (uint32_t i = 0; i < (*p)->nfields; i++)
			if (!strcmp((*p)->fields[i].name, dot + 1))
				return true;
	}
	return false;
}

static void test_refusal_table(void **state)
{
	for (unsigned int i = FW_R_NONE + 1; i < FW_R_COUNT; i++) {
		const struct fw_refusal *r = fw_refusal((enum fw_r)i);
		uint32_t op = r->syndrome >> 8;

		assert_ptr_equal(fw_refusal_find(r->syndrome), r);
		assert_int_not_equal(r->status, FW_OK);
		assert_true(strlen(r->text) > 0);
		/* opcode << 8 | n, or the number for all commands */
		assert_true(op == 0xf000 || strcmp(prm_opcode_name((uint16_t)op), "?"));
		if (!field_exists(r->field) && strcmp(r->field, "modify_cq_in.resize_field_select"))
			fail_msg("no field %s", r->field);
		for (unsigned int j = i + 1; j < FW_R_COUNT; j++)
			assert_int_not_equal(r->syndrome, fw_refusal((enum fw_r)j)->syndrome);
	}
	assert_null(fw_refusal_find(0));
}

/*
 * Does the text contain this capability as a whole word? Capabilities that are an English word do
 * not count.
 */
static bool names(const char *text, const char *cap)
{
	const char *at = strstr(text, cap);
	size_t n = strlen(cap);

	return at && strchr(cap, '_') && (at == text || at[-1] != '_') && at[n] != '_' &&
	       (at[n] < 'a' || at[n] > 'z');
}

/* The trace shows the value of each general capability that the text names, and of no other. */
static void test_refusals_show_the_capabilities_they_name(void **state)
{
	const struct fw_refusal *r;

	for (unsigned int n = 0; (r = fw_refusal_at(n)); n++) {
		const char *shown = r->cap ? r->cap->name : "";

		assert_true(*r->allowed && (!r->reason || *r->reason));
		assert_true(!r->cap || names(r->text, shown));
		for (uint32_t i = 0; i < layout_cmd_hca_cap.nfields; i++)
			if (names(r->text, layout_cmd_hca_cap.fields[i].name))
				assert_string_equal(shown, layout_cmd_hca_cap.fields[i].name);
	}
}

/* Limits are those of the tables; a few low numbers are reserved, as on the card. */
static void test_capabilities_fit_the_segment(void **state)
{
	struct env e;

	env_bare(&e);
	for (int m = HW_CX6; m <= HW_CX7; m++) {
		const struct hw_caps *c = fw_caps((enum hw_model)m);
		const struct {
			enum seg_table_id table;
			uint32_t log;
		} limits[] = {
			{SEG_T_QP, c->log_max_qp},     {SEG_T_CQ, c->log_max_cq},
			{SEG_T_SRQ, c->log_max_srq},   {SEG_T_MKEY, c->log_max_mkey},
			{SEG_T_UMEM, c->log_max_umem}, {SEG_T_PD, c->log_max_pd},
			{SEG_T_OBJ, c->log_max_obj},   {SEG_T_TM, c->log_max_xrq},
		};

		for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
			assert_true(seg_table(&e.s, limits[i].table)->capacity >=
				    UINT64_C(1) << limits[i].log);
		assert_true(1u << c->log_max_rqt_size <= HW_RQT_RQS);
		assert_int_equal(c->max_sge, (512 - 16 - 16) / 16);
		assert_int_equal(c->max_recv_sge, c->max_wqe_sz_rq / 16);
		assert_int_equal(c->max_srq_sge, c->max_recv_sge - 1);
		assert_int_equal(c->num_comp_vectors, 1u << c->log_max_eq);
		assert_int_equal(c->max_qp_rd_atom, 1u << c->log_max_ra_req_qp);
	}
	assert_string_equal(fw_caps(HW_CX6)->hca_type, "MT4123");
	assert_string_equal(fw_caps(HW_CX7)->hca_type, "MT4129");
	env_down(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_command_has_a_valid_form_that_succeeds),
		cmocka_unit_test(test_each_wrong_thing_gets_its_status_and_syndrome),
		cmocka_unit_test(test_no_refusal_without_a_row),
		cmocka_unit_test(test_a_refusal_leaves_no_trace),
		cmocka_unit_test(test_command_table),
		cmocka_unit_test(test_refusal_table),
		cmocka_unit_test(test_refusals_show_the_capabilities_they_name),
		cmocka_unit_test(test_capabilities_fit_the_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
