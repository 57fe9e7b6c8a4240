/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process is stopped or killed at each marked step (POINT()) of a fetch-and-add, while the owner
 * of the word and a neighbour add to it, too, by plain instructions or through the kernel: no add
 * is lost, and none happens twice.
 */
#include "segment/for_tests.h"
#include "engine/test_keys.h"
#include "engine/test_steps.h"
#include "segment/adopt.h"
#include "segment/near.h"

#include <sys/prctl.h>

#define ANSWER 512

struct row {
	const char *name;
	bool adopted;                       /* when the child begins */
	void (*meanwhile)(struct scene *x); /* the child is stopped */
};

/* Each process that adds notes what it fetched. */
enum { CHILD, OWNER, NEIGHBOUR, ADDERS };
static struct shared {
	uint64_t fetched[ADDERS][2];
	uint32_t adds[ADDERS];
	uint32_t slot;
} * shared;

static struct {
	pid_t pid;
	int tell[2], go[2];
	struct t_qp *to; /* the owner's QP for it */
} neighbour;

/* ---- adding */

static void run_on(struct seg *s, struct t_qp *q)
{
	for (int i = 0; i < 100 && t_park(q); i++) {
		t_now += 2000000;
		eng_run_due(s);
	}
}

static void post_add(struct t_qp *q, uint64_t addr, uint32_t key)
{
	uint64_t adds[2] = {htobe64(1), 0};
	struct t_sge answer = t_own(q, ANSWER, 8);

	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_ATOMIC_FA,
				 .fm_ce_se = T_SIG,
				 .raddr = addr,
				 .rkey = key,
				 .operands = adds,
				 .operands_len = sizeof(adds),
				 .sge = &answer,
				 .nsge = 1});
}

/* Adds 1 to the receiver's first word; false: the add is not completed. */
static bool add(struct scene *x, struct t_qp *q, int who)
{
	struct mlx5_cqe64 *c;

	post_add(q, (uintptr_t)x->b->mem, x->b->key);
	run_on(seg_of(x), q);
	c = t_poll(&q->cq);
	if (!c || mlx5dv_get_cqe_opcode(c) != MLX5_CQE_REQ)
		return false;
	memcpy(&shared->fetched[who][shared->adds[who]++], q->mem + ANSWER, 8);
	return true;
}

static void child_adds(struct scene *x, struct t_qp *c)
{
	CHECK(add(x, c, CHILD));
}

static void owner_adds(struct scene *x)
{
	assert_true(add(x, x->e->p.a, OWNER));
}

/* ---- the neighbour, a third process */

static void neighbour_runs(struct bed *e)
{
	struct t_qp *q;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	e->p.t->s.self = SEG_NONE;
	CHECK(!seg_proc_register_self(&e->p.t->s, 0));
	shared->slot = e->p.t->s.self;
	q = t_qp_make(e->p.t, 0, PRM_ST_RC, NULL);
	t_connect(q, neighbour.to);
	do {
		tell(neighbour.tell[1]);
		CHECK(await(neighbour.go[0]));
	} while (add(scene, q, NEIGHBOUR));
	_exit(1);
}

static void neighbour_start(struct scene *x)
{
	neighbour.to = t_qp_make(x->e->p.t, 1, PRM_ST_RC, NULL);
	assert_int_equal(pipe(neighbour.tell), 0);
	assert_int_equal(pipe(neighbour.go), 0);
	neighbour.pid = fork();
	if (!neighbour.pid)
		neighbour_runs(x->e);
	close(neighbour.tell[1]);
	close(neighbour.go[0]);
	assert_true(await(neighbour.tell[0]));
}

static void neighbour_adds(struct scene *x)
{
	tell(neighbour.go[1]);
	assert_true(await(neighbour.tell[0]));
}

static void neighbour_end(struct scene *x)
{
	int status;

	kill(neighbour.pid, SIGKILL);
	assert_int_equal(waitpid(neighbour.pid, &status, 0), neighbour.pid);
	close(neighbour.tell[0]);
	close(neighbour.go[1]);
	seg_proc(seg_of(x), shared->slot)->state = SEG_PROC_DEAD;
	eng_proc_died(seg_of(x), shared->slot);
	t_qp_free(neighbour.to);
}

/* ---- what happens while the child is stopped */

static void both_add(struct scene *x)
{
	neighbour_adds(x);
	owner_adds(x);
}

/* The neighbour adds by instructions; the child may have read the word through the kernel. */
static void adopt_and_neighbour_adds(struct scene *x)
{
	adopt_key(seg_of(x), x->b->key);
	assert_true(adopt_any());
	neighbour_adds(x);
}

static void adopt_and_owner_adds(struct scene *x)
{
	adopt_key(seg_of(x), x->b->key);
	assert_true(adopt_any());
	owner_adds(x);
}

static bool every(void *arg, uint32_t obj, uint32_t gen)
{
	return true;
}

static void return_and_add(struct scene *x)
{
	for (int i = 0; i < 20000 && adopt_any() && !adopt_give_back(every, NULL, false); i++)
		usleep(1000);
	assert_true(!adopt_any());
	both_add(x);
}

/* A word with the same lock, which is of another process: nobody waits. */
static void add_to_another_word(struct scene *x)
{
	struct t_pair *p = &x->e->p;
	uint64_t sum;

	memset(p->b->mem, 0, 8);
	post_add(p->a, (uintptr_t)p->b->mem, p->b->key);
	run_out(x, p->a);
	assert_non_null(t_poll(&p->a->cq));
	memcpy(&sum, p->b->mem, 8);
	assert_int_equal(sum, 1);
}

static const struct row rows[] = {
	{"through the kernel, beside another word", false, add_to_another_word},
	{"through the kernel", false, both_add},
	{"through the kernel, then adopted, beside a neighbour", false, adopt_and_neighbour_adds},
	{"through the kernel, then adopted, beside its owner", false, adopt_and_owner_adds},
	{"adopted, beside another word", true, add_to_another_word},
	{"adopted", true, both_add},
	{"adopted, then given back", true, return_and_add},
};

/* ---- */

static void start(struct scene *x, const struct row *r, uint32_t n)
{
	static struct scenario is = {.st = PRM_ST_RC, .act = child_adds};
	void *state;

	memset(shared, 0, sizeof(*shared));
	snprintf(x->spec, sizeof(x->spec), "*:stop:%u", n);
	bed_setup(&state);
	x->e = state;
	x->is = &is;
	scene_setup(x, child);
	memset(x->b->mem, 0, 8);
	if (r->adopted)
		adopt_key(seg_of(x), x->b->key);
	neighbour_start(x);
	tell(x->e->go[1]);
	assert_int_equal(waitpid(x->e->pid, &x->status, WUNTRACED), x->e->pid);
	x->stopped = WIFSTOPPED(x->status);
}

/* All adds, in the order in which they happened, fetched 0, 1, 2... `lost`: of one nobody knows. */
static void each_counts_once(struct scene *x, bool lost)
{
	uint64_t sum, n = 0, seen = 0;

	memcpy(&sum, x->b->mem, 8);
	for (int w = 0; w < ADDERS; w++)
		for (uint32_t i = 0; i < shared->adds[w]; i++, n++) {
			assert_true(shared->fetched[w][i] < sum);
			assert_false(seen & 1u << shared->fetched[w][i]);
			seen |= 1u << shared->fetched[w][i];
		}
	assert_uint_in_range(sum, n, n + lost);
}

static bool at_step(const struct row *r, uint32_t n, int sig)
{
	struct scene x = {0};
	bool killed;

	start(&x, r, n);
	r->meanwhile(&x);
	scene_go_on(&x, sig);
	killed = x.stopped && sig == SIGKILL;
	if (killed)
		settle(&x);
	both_add(&x);
	assert_int_equal(shared->adds[CHILD], killed ? shared->adds[CHILD] : 1);
	each_counts_once(&x, killed && !shared->adds[CHILD]);
	assert_int_equal(mem_word(seg_of(&x), (uintptr_t)x.b->mem)->lock.word, 0);
	neighbour_end(&x);
	scene_end(&x);
	return x.stopped;
}

static void at_every(const char *what, int sig)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (only && strcmp(only, rows[i].name))
			continue;
		for (; at_step(&rows[i], n, sig); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: %s at %u steps\n", rows[i].name, what, n - 1);
		assert_true(n > 5);
	}
}

static void stopped_at_every_step(void **state)
{
	at_every("stopped", SIGCONT);
}

static void killed_at_every_step(void **state)
{
	at_every("killed", SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_at_every_step),
		cmocka_unit_test(killed_at_every_step),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	near_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
