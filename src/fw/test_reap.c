/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reaping a file's objects: order, half-made ones, locks of dead and of stopped processes. The
 * engine's waits are replaced, so that a stopped process costs no seconds.
 */
#include "fw/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/memic.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "hw/pd.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "segment/proc.h"
#include "wire/prm/mkey.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"
#include "wire/prm/xrc.h"
#include "wire/prm/xrq.h"

static bool qp_busy, mkeys_busy;
static unsigned int mkey_waits, qp_waits;
/* Run once by another thread while a QP is being freed. */
static void (*meanwhile)(struct env *e);
static struct env *meanwhile_env;
/* A lock that counts as held by a stopped process. */
static const struct seg_lock *stuck;

/* Two QPs and two keys, and in which order they went; a requester of both that gets its answer. */
static struct {
	uint32_t qp[2], key[2], peer;
	bool gone[2];
	char order[32];
	unsigned int roused;
} age;

static void gone(const char *what, unsigned int i)
{
	size_t n = strlen(age.order);

	snprintf(age.order + n, sizeof(age.order) - n, " %s%u", what, i + 1);
}

static void *run_meanwhile(void *fn)
{
	(*(void (**)(struct env *))fn)(meanwhile_env);
	return NULL;
}

int __real_seg_lock(struct seg *s, struct seg_lock *l, uint64_t ns);
int __wrap_seg_lock(struct seg *s, struct seg_lock *l, uint64_t ns);
int __wrap_seg_lock(struct seg *s, struct seg_lock *l, uint64_t ns)
{
	return l == stuck ? -ETIMEDOUT : __real_seg_lock(s, l, ns);
}

int __real_eng_qp_quiesce(struct seg *s, uint32_t qpn);
int __wrap_eng_qp_quiesce(struct seg *s, uint32_t qpn);
int __wrap_eng_qp_quiesce(struct seg *s, uint32_t qpn)
{
	void (*fn)(struct env *) = meanwhile;
	pthread_t thread;

	qp_waits++;
	for (unsigned int i = 0; i < 2; i++)
		if (age.qp[i] == qpn)
			gone("qp", i);
	meanwhile = NULL;
	if (fn) {
		assert_int_equal(pthread_create(&thread, NULL, run_meanwhile, &fn), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	return qp_busy ? -ETIMEDOUT : __real_eng_qp_quiesce(s, qpn);
}

int __real_eng_mkey_quiesce(struct seg *s, uint32_t idx);
int __wrap_eng_mkey_quiesce(struct seg *s, uint32_t idx);
int __wrap_eng_mkey_quiesce(struct seg *s, uint32_t idx)
{
	mkey_waits++;
	return mkeys_busy ? -ETIMEDOUT : __real_eng_mkey_quiesce(s, idx);
}

int __real_eng_mkey_quiesce_all(struct seg *s, uint64_t ns);
int __wrap_eng_mkey_quiesce_all(struct seg *s, uint64_t ns);
int __wrap_eng_mkey_quiesce_all(struct seg *s, uint64_t ns)
{
	mkey_waits++;
	for (unsigned int i = 0; i < 2; i++) {
		if (!age.key[i] || age.gone[i] || hw_mkey(s, age.key[i] << 8)->valid)
			continue;
		age.gone[i] = true;
		gone("key", i);
	}
	return mkeys_busy ? -ETIMEDOUT : __real_eng_mkey_quiesce_all(s, ns);
}

int __real_eng_psv_quiesce(struct seg *s, uint32_t idx);
int __wrap_eng_psv_quiesce(struct seg *s, uint32_t idx);
int __wrap_eng_psv_quiesce(struct seg *s, uint32_t idx)
{
	return mkeys_busy ? -ETIMEDOUT : __real_eng_psv_quiesce(s, idx);
}

enum eng_requesters __real_eng_requesters(struct seg *s, uint32_t owner, bool rouse);
enum eng_requesters __wrap_eng_requesters(struct seg *s, uint32_t owner, bool rouse);
enum eng_requesters __wrap_eng_requesters(struct seg *s, uint32_t owner, bool rouse)
{
	enum eng_requesters r = __real_eng_requesters(s, owner, rouse);
	struct hw_qp *peer = age.peer ? hw_qp(s, age.peer) : NULL;

	if (rouse && r == ENG_REQUESTERS_WAIT && !peer->park_deadline) {
		age.roused++;
		atomic_store(&peer->park, HW_PARK_NO);
		atomic_store(&peer->state, PRM_QP_STATE_ERR);
	}
	return r;
}

static int setup(void **state)
{
	memset(&age, 0, sizeof(age));
	qp_busy = mkeys_busy = false;
	mkey_waits = qp_waits = 0;
	meanwhile = NULL;
	stuck = NULL;
	return env_setup(state);
}

static unsigned int owned(struct env *e, uint32_t owner)
{
	unsigned int n = 0;

	for (uint32_t t = HW_KIND_FIRST; t < SEG_T_COUNT; t++)
		seg_for_each_owned (&e->s, (enum seg_table_id)t, owner, i)
			n++;
	return n;
}

static void test_everything_of_the_file_goes(void **state)
{
	struct env *e = *state;
	unsigned int device = owned(e, SEG_OWNER_DEVICE);

	assert_true(owned(e, e->file + 1) >= 8);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device);
	assert_null(hw_qp(&e->s, e->qp));
	fw_reap_file(&e->s, e->file); /* idempotent */
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device);
}

static void test_other_files_keep_theirs(void **state)
{
	struct env *e = *state;
	struct env other = *e;
	uint32_t pd;

	other.file = other.user.file = file_new(e);
	cmd_init(&other, PRM_OP_ALLOC_PD, 0);
	pd = make(&other, IN(alloc_pd));
	fw_reap_file(&e->s, e->file);
	assert_non_null(hw_pd(&e->s, pd));
	fw_reap_file(&e->s, other.file);
	assert_null(hw_pd(&e->s, pd));
}

/* QP, key, QP, key, and a QP of another file that sends requests to the first one. */
static void make_by_turns(struct env *e, struct env *other)
{
	age.qp[0] = e->qp;
	qp_to(e, PRM_QP_STATE_RTS);
	b_create_mkey(e);
	age.key[0] = make(e, IN(create_mkey));
	b_create_qp(e);
	age.qp[1] = e->qp = make(e, IN(create_qp));
	qp_to(e, PRM_QP_STATE_RTS);
	b_create_mkey(e);
	age.key[1] = make(e, IN(create_mkey));
	*other = *e;
	other->file = other->user.file = file_new(e);
	b_create_qp(other);
	age.peer = other->qp = make(other, IN(create_qp));
	qp_to(other, PRM_QP_STATE_RTS);
	hw_qp(&e->s, age.peer)->dest_qpn = age.qp[0];
	hw_qp(&e->s, age.qp[0])->dest_qpn = age.peer;
}

static void test_the_newest_goes_first(void **state)
{
	struct env *e = *state, other;

	make_by_turns(e, &other);
	assert_false(fw_reap_try(&e->s, e->file)); /* for a job: requests may come meanwhile */
	assert_string_equal(age.order, "");
	fw_reap_file(&e->s, e->file);
	assert_string_equal(age.order, " key2 qp2 key1 qp1");
	assert_int_equal(owned(e, e->file + 1), 0);
}

/* A request that waits for an answer gets one when the key has gone and the QP has not. */
static void test_who_waits_learns_that_the_key_went_first(void **state)
{
	struct env *e = *state, other;
	struct hw_qp *peer;

	make_by_turns(e, &other);
	peer = hw_qp(&e->s, age.peer);
	atomic_store(&peer->park, HW_PARK_RETRY);
	atomic_store(&peer->park_deadline, UINT64_MAX);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(age.roused, 1);
	assert_int_equal(owned(e, e->file + 1), 0);
}

/* Keys before QPs, as in most programs, or nobody who would see it: at once. */
static void test_no_order_for_nobody(void **state)
{
	struct env *e = *state, other;

	make_by_turns(e, &other);
	hw_qp(&e->s, age.peer)->dest_qpn = 0;
	assert_true(fw_reap_try(&e->s, e->file));
	assert_string_equal(age.order, " qp1 qp2 key1 key2");
}

static void test_half_made_objects_go(void **state)
{
	struct env *e = *state;
	uint32_t idx;

	fw_for_each_kind (k)
		if (k->stage != FW_STAGE_NEVER)
			assert_int_equal(seg_alloc(&e->s, k->table, e->file + 1, &idx), 0);
	/* an object whose maker had taken a reference before it died */
	fw_ref(&hw_pd(&e->s, e->pd)->refs, 1);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
}

static void test_keys_are_waited_for_once(void **state)
{
	struct env *e = *state;

	for (int i = 0; i < 50; i++) {
		b_create_mkey(e);
		make(e, IN(create_mkey));
	}
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_int_equal(mkey_waits, 1);
}

static void test_a_thousand_qps_go(void **state)
{
	struct env *e = *state;

	for (int i = 0; i < 1000; i++) {
		b_create_qp(e);
		make(e, IN(create_qp));
	}
	fw_reap_file(&e->s, e->file);
	assert_int_equal(seg_next(&e->s, SEG_T_QP, e->file + 1, 0), SEG_NONE);
}

/* Objects in use by a stopped process stay, out of service, until it has gone on. */
static void test_a_stopped_process_leaves_zombies_for_later(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	unsigned int device = owned(e, SEG_OWNER_DEVICE);
	uint32_t next_file = file_new(e);

	qp_to(e, PRM_QP_STATE_RTS);
	qp_busy = true;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_int_equal(hw_qp(&e->s, e->qp)->state, PRM_QP_STATE_RST);
	/*
	 * the QP and all that it refers to: CQ, both umems, UAR, PD; without the SRQ and the mkey
	 */
	assert_int_equal(hca->zombies, 6);
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device + 6);
	assert_null(hw_srq(&e->s, e->srq));
	/* no command finds the zombies */
	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run_as(e, &e->kernel, e->in, IN(query_qp), OUT(query_qp)), FW_BAD_RES);
	fw_reap_file(&e->s, next_file);
	assert_int_equal(hca->zombies, 6);
	qp_busy = false;
	fw_reap_file(&e->s, next_file);
	assert_int_equal(hca->zombies, 0);
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device);
}

/* Zombies are freed as soon as that process has gone on, also when no other file is closed. */
static void test_zombies_are_tried_again_without_waiting(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	unsigned int device = owned(e, SEG_OWNER_DEVICE);

	assert_false(fw_reap_zombies(&e->s, e->hca));
	qp_to(e, PRM_QP_STATE_RTS);
	qp_busy = true;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(hca->zombies, 6);
	assert_true(fw_reap_zombies(&e->s, e->hca));
	qp_busy = false;
	assert_int_equal(seg_lock(&e->s, &hca->lock, SEG_LOCK_DATA_NS), 0);
	assert_true(fw_reap_zombies(&e->s, e->hca)); /* a command is running */
	seg_unlock(&e->s, &hca->lock);
	assert_int_equal(hca->zombies, 6);
	assert_false(fw_reap_zombies(&e->s, e->hca));
	assert_int_equal(hca->zombies, 0);
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device);
	assert_false(fw_reap_zombies(&e->s, SEG_NONE));
}

/* A QP refers to a queue group, which is freed with it. */
static void test_zombies_that_only_commands_work_on_go(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	unsigned int device = owned(e, SEG_OWNER_DEVICE);

	sched_up(e);
	qp_to(e, PRM_QP_STATE_RTS);
	hw_qp(&e->s, e->qp)->qos_req = e->group;
	fw_ref(&hw_obj(&e->s, e->group)->refs, 1);
	qp_busy = true;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(seg_owner(&e->s, SEG_T_OBJ, e->group), SEG_OWNER_DEVICE);
	assert_true(fw_reap_zombies(&e->s, e->hca));
	qp_busy = false;
	assert_false(fw_reap_zombies(&e->s, e->hca));
	assert_int_equal(hca->zombies, 0);
	assert_int_equal(seg_table(&e->s, SEG_T_OBJ)->live, 0);
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device);
}

static uint32_t other_file;

static void reap_the_other_file(struct env *e)
{
	fw_reap_file(&e->s, other_file);
}

/* A job runs without the HCA's lock, which the supervisor's loop has: the same QP is freed once. */
static void test_one_thread_at_a_time_frees_zombies(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	unsigned int device = owned(e, SEG_OWNER_DEVICE);

	other_file = file_new(e);
	qp_to(e, PRM_QP_STATE_RTS);
	qp_busy = true;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(hca->zombies, 6);
	qp_busy = false;
	qp_waits = 0;
	stuck = &hca->lock;
	meanwhile_env = e;
	meanwhile = reap_the_other_file;
	assert_false(fw_reap_zombies(&e->s, e->hca));
	assert_null(meanwhile);
	assert_int_equal(qp_waits, 1);
	assert_int_equal(hca->zombies, 0);
	assert_int_equal(owned(e, SEG_OWNER_DEVICE), device);
}

static void test_keys_in_use_stay_for_later(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);

	mkeys_busy = true;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(hw_mkey(&e->s, e->mkey << 8)->valid, 0);
	assert_true(hca->zombies > 0);
	mkeys_busy = false;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(hca->zombies, 0);
	assert_null(hw_mkey(&e->s, e->mkey << 8));
}

static void test_destroy_of_a_busy_key_keeps_it(void **state)
{
	struct env *e = *state;

	mkeys_busy = true;
	b_id(e, PRM_OP_DESTROY_MKEY, e->mkey);
	assert_int_equal(fw_exec(&e->user, e->in, 0x10, e->out, 0x10), -ETIMEDOUT);
	assert_int_equal(hw_mkey(&e->s, e->mkey << 8)->valid, 1);
	mkeys_busy = false;
	assert_int_equal(run(e, e->in, 0x10, 0x10), FW_OK);
}

static void test_destroy_of_a_busy_psv_keeps_it(void **state)
{
	struct env *e = *state;
	uint32_t refs = hw_pd(&e->s, e->pd)->refs, psv;

	LAYOUT_SET(create_psv_in, cmd_init(e, PRM_OP_CREATE_PSV, 0), num_psv, 1);
	LAYOUT_SET(create_psv_in, e->in, pd, e->pd);
	assert_int_equal(run(e, e->in, IN(create_psv), OUT(create_psv)), FW_OK);
	psv = LAYOUT_GET32(create_psv_out, e->out, psv0_index);
	mkeys_busy = true;
	b_id(e, PRM_OP_DESTROY_PSV, psv);
	assert_int_equal(fw_exec(&e->user, e->in, 0x10, e->out, 0x10), -ETIMEDOUT);
	assert_int_equal(hw_pd(&e->s, e->pd)->refs, refs + 1);
	mkeys_busy = false;
	assert_int_equal(run(e, e->in, 0x10, 0x10), FW_OK);
	assert_int_equal(hw_pd(&e->s, e->pd)->refs, refs);
}

/* Make a child that takes a lock and dies with it. */
static void die_holding(struct env *e, struct seg_lock *l)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		e->s.self = SEG_NONE;
		if (seg_proc_register_self(&e->s, 0) || seg_lock(&e->s, l, SEG_LOCK_CTRL_NS))
			_exit(1);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_references_are_counted_again_after_a_death(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	struct hw_pd *pd = hw_pd(&e->s, e->pd);
	uint32_t pd_refs = pd->refs, cq_refs = hw_cq(&e->s, e->cq)->refs,
		 umem_refs = hw_umem(&e->s, e->umem)->refs, uar_refs = hw_uar(&e->s, e->uar)->refs;

	assert_int_equal(pd_refs, 3); /* references of SRQ, QP and mkey */
	pd->refs = 99;
	hw_cq(&e->s, e->cq)->refs = 0;
	hw_umem(&e->s, e->umem)->refs = 1;
	hw_uar(&e->s, e->uar)->refs = 7;
	die_holding(e, &hca->lock);
	cmd_init(e, PRM_OP_ALLOC_PD, 0);
	make(e, IN(alloc_pd));
	assert_int_equal(pd->refs, pd_refs);
	assert_int_equal(hw_cq(&e->s, e->cq)->refs, cq_refs);
	assert_int_equal(hw_umem(&e->s, e->umem)->refs, umem_refs);
	assert_int_equal(hw_uar(&e->s, e->uar)->refs, uar_refs);
}

/* A bank for an adapter that has no device memory yet, or none any more. */
static void leave_bank(struct env *e)
{
	uint32_t i;

	assert_int_equal(seg_alloc(&e->s, SEG_T_MEMBANK, SEG_OWNER_DEVICE, &i), 0);
	((struct hw_membank *)seg_at(&e->s, SEG_T_MEMBANK, i))->hca = e->hca;
}

static uint32_t banks(struct env *e)
{
	uint32_t n = 0;

	seg_for_each_live (&e->s, SEG_T_MEMBANK, i)
		n++;
	return n;
}

/* The process that made it was killed before the allocation, or in the middle of it. */
static void test_a_bank_goes_with_its_dead_maker(void **state)
{
	struct env *e = *state;
	uint32_t half;

	leave_bank(e);
	die_holding(e, &hw_hca(&e->s, e->hca)->lock);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(banks(e), 0);
	leave_bank(e);
	assert_int_equal(seg_alloc(&e->s, SEG_T_MEMIC, e->file + 1, &half), 0);
	((struct hw_memic *)seg_at(&e->s, SEG_T_MEMIC, half))->hca = e->hca;
	die_holding(e, &hw_hca(&e->s, e->hca)->lock);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(banks(e), 0);
}

static void test_reaping_takes_over_a_dead_process_locks(void **state)
{
	struct env *e = *state;
	struct hw_qp *qp = hw_qp(&e->s, e->qp);

	qp_to(e, PRM_QP_STATE_RTS);
	die_holding(e, &qp->sq_lock);
	die_holding(e, &qp->rq_lock);
	die_holding(e, &hw_cq(&e->s, e->cq)->lock);
	die_holding(e, &hw_hca(&e->s, e->hca)->lock);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_int_equal(hw_hca(&e->s, e->hca)->zombies, 0);
}

/* The lock's holder is stopped: the file is reaped without the lock, which stays held. */
static void test_reaping_goes_on_without_a_stopped_holder(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves no child behind */
		e->s.self = SEG_NONE;
		if (seg_proc_register_self(&e->s, 0) ||
		    seg_lock(&e->s, &hca->lock, SEG_LOCK_CTRL_NS))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_int_equal(hca->zombies, 0);
	assert_int_equal(seg_trylock(&e->s, &hca->lock), -EBUSY);
	assert_int_equal(seg_trylock(&e->s, &hca->share_lock), 0);
	seg_unlock(&e->s, &hca->share_lock);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/*
 * fw_reap_try() waits for nobody: an object in use is left, out of service; all others are freed.
 */
static void test_a_try_waits_for_nobody(void **state)
{
	struct env *e = *state;
	struct hw_hca *hca = hw_hca(&e->s, e->hca);
	struct hw_qp *qp = hw_qp(&e->s, e->qp);
	struct seg_lock *locks[] = {&hca->lock, &hca->share_lock, &qp->sq_lock, &qp->rq_lock,
				    &hw_cq(&e->s, e->cq)->lock};

	qp_to(e, PRM_QP_STATE_RTS);
	for (size_t i = 0; i < ARRAY_SIZE(locks); i++) {
		assert_int_equal(seg_lock(&e->s, locks[i], 0), 0);
		assert_false(fw_reap_try(&e->s, e->file));
		assert_int_equal(seg_owner(&e->s, SEG_T_PD, e->pd), e->file + 1);
		assert_int_equal(hca->zombies, 0);
		seg_unlock(&e->s, locks[i]);
		if (i == 3)
			assert_int_equal(qp->state, PRM_QP_STATE_RST);
	}
	mkeys_busy = true;
	assert_false(fw_reap_try(&e->s, e->file));
	assert_int_equal(hw_mkey(&e->s, e->mkey << 8)->valid, 0);
	mkeys_busy = false;
	assert_true(fw_reap_try(&e->s, e->file));
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_true(fw_reap_try(&e->s, e->file));
}

static void share(struct env *e, uint32_t file, enum seg_table_id table, uint32_t idx)
{
	struct hw_share *sh;
	uint32_t i;

	assert_int_equal(seg_alloc(&e->s, SEG_T_SHARE, file + 1, &i), 0);
	sh = seg_at(&e->s, SEG_T_SHARE, i);
	sh->hca = e->hca;
	sh->table = table;
	sh->idx = idx;
	sh->flags = HW_F_READY;
}

static void test_shared_domains_stay_until_the_last_sharer_goes(void **state)
{
	struct env *e = *state;
	uint32_t second = file_new(e), third = file_new(e), xrcd;

	cmd_init(e, PRM_OP_ALLOC_XRCD, 0);
	xrcd = make(e, IN(alloc_xrcd));
	share(e, e->file, SEG_T_XRCD, xrcd);
	share(e, second, SEG_T_XRCD, xrcd);
	share(e, third, SEG_T_XRCD, xrcd);

	fw_reap_file(&e->s, third); /* not its owner: nothing changes */
	assert_int_equal(seg_owner(&e->s, SEG_T_XRCD, xrcd), e->file + 1);
	fw_reap_file(&e->s, e->file);
	assert_int_equal(owned(e, e->file + 1), 0);
	assert_int_equal(seg_owner(&e->s, SEG_T_XRCD, xrcd), second + 1);
	fw_reap_file(&e->s, second);
	assert_int_equal(seg_owner(&e->s, SEG_T_XRCD, xrcd), SEG_OWNER_FREE);
}

/* The new owner of a target QP takes over the events that it owes. */
static void test_a_shared_target_is_looked_after_by_its_heir(void **state)
{
	struct env *e = *state;
	uint32_t second = file_new(e), qpn, slot, i;
	struct seg_proc *p;
	struct hw_qp *qp;

	assert_int_equal(seg_alloc(&e->s, SEG_T_PROC, SEG_OWNER_DEVICE, &slot), 0);
	p = seg_proc(&e->s, slot);
	b_create_qp(e);
	qpn = make(e, IN(create_qp));
	qp = hw_qp(&e->s, qpn);
	qp->shared = qp->no_rq = qp->no_sq = 1;
	share(e, e->file, SEG_T_QP, qpn);
	share(e, second, SEG_T_QP, qpn);
	i = seg_next(&e->s, SEG_T_SHARE, second + 1, 0);
	((struct hw_share *)seg_at(&e->s, SEG_T_SHARE, i))->slot = slot;
	fw_reap_file(&e->s, e->file);
	assert_int_equal(seg_owner(&e->s, SEG_T_QP, qpn), second + 1);
	assert_int_equal(qp->mem.slot, slot);
	assert_int_equal(qp->mem.gen, p->gen);
	assert_int_equal(p->parked, 1);
	fw_reap_file(&e->s, second);
}

#define reap_test(f) cmocka_unit_test_setup_teardown(f, setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		reap_test(test_everything_of_the_file_goes),
		reap_test(test_other_files_keep_theirs),
		reap_test(test_shared_domains_stay_until_the_last_sharer_goes),
		reap_test(test_a_shared_target_is_looked_after_by_its_heir),
		reap_test(test_the_newest_goes_first),
		reap_test(test_who_waits_learns_that_the_key_went_first),
		reap_test(test_no_order_for_nobody),
		reap_test(test_half_made_objects_go),
		reap_test(test_keys_are_waited_for_once),
		reap_test(test_a_thousand_qps_go),
		reap_test(test_a_stopped_process_leaves_zombies_for_later),
		reap_test(test_zombies_are_tried_again_without_waiting),
		reap_test(test_zombies_that_only_commands_work_on_go),
		reap_test(test_one_thread_at_a_time_frees_zombies),
		reap_test(test_keys_in_use_stay_for_later),
		reap_test(test_destroy_of_a_busy_key_keeps_it),
		reap_test(test_destroy_of_a_busy_psv_keeps_it),
		reap_test(test_references_are_counted_again_after_a_death),
		reap_test(test_a_bank_goes_with_its_dead_maker),
		reap_test(test_reaping_takes_over_a_dead_process_locks),
		reap_test(test_reaping_goes_on_without_a_stopped_holder),
		reap_test(test_a_try_waits_for_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
