/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which moments a rule fires at. */
#include "fault/rows.h"
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "segment/proc.h"
#include "subnet/subnet.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/test_cmocka.h"
#include "wire/mad/cm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct seg s;
static uint32_t hca[2]; /* of h1 and h2 */

static int setup(void **state)
{
	static const struct fab_options o = {
		.hosts = 2, .hcas = 1, .ports = 1, .caps = {.max_mtu = 5}};

	(void)state;
	assert_int_equal(seg_create(&s, "test"), 0);
	assert_int_equal(fab_create(&s, &o), 0);
	for (int i = 0; i < 2; i++) {
		uint32_t host = fab_host_by_name(&s, i ? "h2" : "h1");

		seg_for_each_live (&s, SEG_T_HCA, k)
			if (hw_hca(&s, k)->host == host)
				hca[i] = k;
	}
	fab_subnet(&s)->born = clock_now_ns();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	seg_unmap(&s);
	return 0;
}

static uint32_t process(const char *host, const char *comm, uint32_t pid)
{
	uint32_t i;
	struct seg_proc *p;

	assert_int_equal(seg_alloc(&s, SEG_T_PROC, SEG_OWNER_DEVICE, &i), 0);
	p = seg_at(&s, SEG_T_PROC, i);
	p->state = SEG_PROC_LIVE;
	p->host = fab_host_by_name(&s, host);
	p->pid = pid;
	snprintf(p->comm, sizeof(p->comm), "%s", comm);
	return i;
}

static uint32_t add(const char *text)
{
	static struct hw_fault rule;
	struct fault_mistake m;
	uint32_t i;
	struct hw_fault *f;

	if (fault_parse(text, &rule, &m))
		fail_msg("%s: %s", text, m.text);
	assert_int_equal(seg_alloc(&s, SEG_T_FAULT, SEG_OWNER_DEVICE, &i), 0);
	f = seg_at(&s, SEG_T_FAULT, i);
	rule.gen = f->gen;
	*f = rule;
	f->seed = 7;
	fault_set_waits(&s);
	return i;
}

static void clear(void)
{
	seg_for_each_live (&s, SEG_T_FAULT, i)
		seg_free(&s, SEG_T_FAULT, i);
	fault_set_waits(&s);
}

/* The error of the n-th ibv_reg_mr() of a process, or of another call. */
static int call(uint32_t proc, const char *name)
{
	s.self = proc;
	return fault_waits(&s, HW_AT_CALL)
		       ? fault_call(&s, HW_AT_CALL, name,
				    hca[proc != SEG_NONE &&
					seg_proc(&s, proc)->host == fab_host_by_name(&s, "h2")])
		       : 0;
}

/* A word of calls that failed ('X') and that did not ('.'). */
static const char *calls(uint32_t proc, const char *name, uint32_t n)
{
	static char text[1001];

	for (uint32_t i = 0; i < n; i++)
		text[i] = call(proc, name) ? 'X' : '.';
	text[n] = '\0';
	return text;
}

static void counts(void **state)
{
	static const struct {
		const char *rule, *fires;
	} is[] = {
		{"ibv_reg_mr:error=ENOMEM", "XXXXXXXX"},
		{"ibv_reg_mr:error=ENOMEM:when=3", "..X....."},
		{"ibv_reg_mr:error=ENOMEM:when=3+", "..XXXXXX"},
		{"ibv_reg_mr:error=ENOMEM:when=3+2", "..X.X.X."},
		{"ibv_reg_mr:error=ENOMEM:when=3..5", "..XXX..."},
		{"ibv_reg_mr:error=ENOMEM:when=3+2:count=2", "..X.X..."},
		{"ibv_alloc_pd:error=ENOMEM", "........"},
		{"ibv_reg_mr[comm=other]:error=ENOMEM", "........"},
		{"ibv_reg_mr[comm=one]:error=ENOMEM:when=2", ".X......"},
		{"ibv_reg_mr[pid=41,host=h1,dev=mlx5_0]:error=ENOMEM:when=2", ".X......"},
		{"ibv_reg_mr[pid=42]:error=ENOMEM", "........"},
		{"ibv_reg_mr[host=h2]:error=ENOMEM", "........"},
		{"ibv_reg_mr[dev=mlx5_1]:error=ENOMEM", "........"},
		{"ibv_reg_mr:error=ENOMEM:until=60s", "XXXXXXXX"},
		{"ibv_reg_mr:error=ENOMEM:until=1ns", "........"},
		{"ibv_reg_mr:error=ENOMEM:after=ibv_reg_mr*3", "...XXXXX"},
		{"ibv_reg_mr:error=ENOMEM:until=ibv_reg_mr*3", "XXX....."},
		{"ibv_reg_mr:error=ENOMEM:after=ibv_reg_mr*2:when=2", "...X...."},
		{"ibv_reg_mr:error=ENOMEM:after=ibv_alloc_pd", "........"},
	};
	uint32_t one = process("h1", "one", 41);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		uint32_t n = add(is[i].rule);
		const char *got = calls(one, "REG_MR", 8);
		uint64_t fired = 0;

		if (strcmp(got, is[i].fires))
			fail_msg("%s: %s", is[i].rule, got);
		for (const char *p = got; *p; p++)
			fired += *p == 'X';
		assert_int_equal(hw_fault(&s, n)->fired, fired);
		clear();
		assert_false(fault_waits(&s, HW_AT_CALL));
	}
}

static void of_whom(void **state)
{
	uint32_t a = process("h1", "a", 50), b = process("h2", "b", 51);

	(void)state;
	add("ibv_reg_mr:error=ENOMEM:when=2"); /* of the fabric */
	assert_string_equal(calls(a, "REG_MR", 1), ".");
	assert_string_equal(calls(b, "REG_MR", 2), "X.");
	clear();
	add("ibv_reg_mr:error=ENOMEM:when=2:per=process");
	assert_string_equal(calls(a, "REG_MR", 3), ".X.");
	assert_string_equal(calls(b, "REG_MR", 3), ".X.");
	clear();
	add("ibv_reg_mr:error=ENOMEM:when=2:per=host");
	assert_string_equal(calls(a, "REG_MR", 1), ".");
	assert_string_equal(calls(process("h1", "c", 52), "REG_MR", 2), "X.");
	assert_string_equal(calls(b, "REG_MR", 2), ".X");
	clear();
	/* an event without keys is one of whom the rule is about */
	add("ibv_reg_mr[comm=b]:error=ENOMEM:after=ibv_alloc_pd");
	assert_string_equal(calls(a, "ALLOC_PD", 2), "..");
	assert_string_equal(calls(b, "REG_MR", 2), "..");
	assert_string_equal(calls(b, "ALLOC_PD", 1), ".");
	assert_string_equal(calls(b, "REG_MR", 2), "XX");
	clear();
}

/* Each name that libibverbs' function may call, and only whole names. */
static void names_of_calls(void **state)
{
	uint32_t a = process("h1", "a", 60);

	(void)state;
	add("ibv_create_qp:error=EAGAIN");
	assert_string_equal(calls(a, "QP.CREATE", 1), "X");
	assert_string_equal(calls(a, "CREATE_QP", 1), "X");
	assert_string_equal(calls(a, "EX_CREATE_QP", 1), "X");
	assert_string_equal(calls(a, "CREATE", 1), ".");
	assert_int_equal(call(a, "CREATE_QP"), -EAGAIN);
	clear();
}

/* The first rule that is due happens, and the others only count. */
static void several_rules(void **state)
{
	uint32_t a = process("h1", "a", 70), first, second;

	(void)state;
	first = add("ibv_reg_mr:error=ENOMEM:when=2");
	second = add("ibv_reg_mr:error=EIO:when=2..3");
	assert_int_equal(call(a, "REG_MR"), 0);
	assert_int_equal(call(a, "REG_MR"), -ENOMEM);
	assert_int_equal(call(a, "REG_MR"), -EIO);
	assert_int_equal(hw_fault(&s, first)->fired, 1);
	assert_int_equal(hw_fault(&s, second)->fired, 1);
	assert_int_equal(hw_fault(&s, second)->seen, 3);
	clear();
}

/* What is drawn depends on the seed and the number of the moment alone. */
static void draws(void **state)
{
	uint32_t a = process("h1", "a", 80), n = 0;
	char once[1001];

	(void)state;
	add("ibv_reg_mr:error=ENOMEM:p=0.25");
	snprintf(once, sizeof(once), "%s", calls(a, "REG_MR", 1000));
	clear();
	add("ibv_reg_mr:error=ENOMEM:p=0.25");
	assert_string_equal(calls(a, "REG_MR", 1000), once);
	clear();
	hw_fault(&s, add("ibv_reg_mr:error=ENOMEM:p=0.25"))->seed = 8;
	assert_string_not_equal(calls(a, "REG_MR", 1000), once);
	clear();
	for (const char *p = once; *p; p++)
		n += *p == 'X';
	assert_uint_in_range(n, 200, 300);
}

static void firmware_commands(void **state)
{
	struct fault_moment m = {
		.at = HW_AT_FW,
		.end = {{.proc = SEG_NONE, .hca = hca[0]}, {.proc = SEG_NONE, .hca = SEG_NONE}}};
	struct hw_fault_effect e;
	uint64_t v;

	(void)state;
	add("fw[cmd=CREATE_QP,dev=mlx5_0]:status=EXCEED_LIM");
	assert_true(fault_waits(&s, HW_AT_FW));
	assert_false(fault_waits(&s, HW_AT_CALL));
	m.id = 0x501;
	assert_false(fault_hit(&s, &m, &e));
	m.id = 0x500;
	assert_true(fault_hit(&s, &m, &e));
	assert_true(fault_does(&e, FAULT_STATUS, &v));
	assert_int_equal(v, 8);
	clear();
	add("fw[host=h2]:status=EXCEED_LIM");
	assert_false(fault_hit(&s, &m, &e));
	m.end[0].hca = hca[1];
	assert_true(fault_hit(&s, &m, &e));
	clear();
	/* keys are of one end, whichever */
	add("fw[host=h1]:status=EXCEED_LIM");
	assert_false(fault_hit(&s, &m, &e));
	m.end[1].hca = hca[0];
	assert_true(fault_hit(&s, &m, &e));
	clear();
}

/* More processes than have a count of their own: the rest share one. */
static void many_processes(void **state)
{
	(void)state;
	add("ibv_reg_mr:error=ENOMEM:when=2:per=process");
	for (uint32_t i = 0; i < HW_FAULT_COUNTED - 1; i++)
		assert_string_equal(calls(process("h1", "many", 100 + i), "REG_MR", 3), ".X.");
	assert_string_equal(calls(process("h1", "more", 90), "REG_MR", 1), ".");
	assert_string_equal(calls(process("h1", "more", 91), "REG_MR", 2), "X.");
	clear();
}

/* A word of messages: lost ('X'), not lost ('.'). Of `text` a capital is one, a small letter
 * repeats it. */
static void losses(const char *rule, const char *text, const char *fires)
{
	uint32_t n = add(rule);
	char got[32] = "";

	for (size_t i = 0; text[i]; i++) {
		bool again = text[i] >= 'a';
		struct fault_moment m = {
			.at = HW_AT_CM,
			.id = CM_ATTR_REQ,
			.mad_class = MAD_CLASS_CM,
			.method = MAD_METHOD_SEND,
			.message = (uint64_t)text[i] | 0x20,
			.again = again,
			.end = {{SEG_NONE, hca[0], 1, 1}, {SEG_NONE, hca[1], 1, 2}},
		};
		struct hw_fault_effect e;

		got[i] = fault_hit(&s, &m, &e) ? 'X' : '.';
	}
	if (strcmp(got, fires))
		fail_msg("%s: %s: %s", rule, text, got);
	assert_int_equal(atomic_load(&hw_fault(&s, n)->fired), strchr(fires, 'X') ? 1 : 0);
	clear();
}

static void repeats(void **state)
{
	(void)state;
	losses("cm[msg=REQ]:lost:when=1", "AaaBb", "X....");
	losses("cm[msg=REQ]:lost:when=2", "AaaBb", "...X.");
	losses("cm[msg=REQ]:lost=3:when=1", "AaaaBb", "XXX...");
	losses("cm[msg=REQ]:lost=2:when=2", "AaBabb", "..X.X.");
	losses("cm[msg=REP]:lost", "AaB", "...");
	losses("cm[lid=2,host=h2]:lost:when=1", "AB", "X.");
	losses("cm[lid=2,host=h1]:lost:when=1", "AB", "..");
	losses("cm:lost:after=cm[msg=REQ]*2:when=1", "AaaBCc", "....X.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),         cmocka_unit_test(of_whom),
		cmocka_unit_test(names_of_calls), cmocka_unit_test(several_rules),
		cmocka_unit_test(draws),          cmocka_unit_test(firmware_commands),
		cmocka_unit_test(many_processes), cmocka_unit_test(repeats),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
