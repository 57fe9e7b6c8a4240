/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes every kind of object while something is used up: the n-th block of the heap, the n-th
 * element of the segment's tables, the n-th descriptor, for every n until it succeeds. The calls
 * are the rows of tests/abi that succeed, on the device inside this process (tests/fuzz/device.c).
 * After each refusal everything is as before: objects, handles, elements of every table, counted
 * memory. The sanitizers' build of this test finds lost blocks.
 */
#include <errno.h>

#include "segment/proc.h"
#include "segment/seg.h"
#include "util/heap.h"
#include "../fuzz/device.h"
#include "util/for_tests.h"
#include "util/log.h"

static int elements_left;              /* the seg_alloc() that fails, once; 0: none */
static unsigned int refusals[3], made; /* refusals by what was used up */

int __real_seg_alloc(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx);
int __wrap_seg_alloc(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx);
int __wrap_seg_alloc(struct seg *s, enum seg_table_id t, uint32_t owner, uint32_t *idx)
{
	if (elements_left && --elements_left == 0)
		return -ENOSPC;
	return __real_seg_alloc(s, t, owner, idx);
}

/* ---- counts of everything */

struct account {
	uint32_t live[SEG_T_COUNT];
	uint64_t pinned, file_pinned;
};

static void account(struct account *a)
{
	struct seg *s = fz_world_seg();

	memset(a, 0, sizeof(*a));
	for (uint32_t t = 0; t < SEG_T_COUNT; t++)
		a->live[t] = atomic_load(&seg_table(s, (enum seg_table_id)t)->live);
	a->pinned = atomic_load(&seg_proc(s, s->self)->pinned);
	a->file_pinned = atomic_load(&seg_file(s, fz_world_file(CTX))->pinned);
}

static void same(const struct account *was, const char *what, const char *how, int n)
{
	struct account now;

	account(&now);
	for (uint32_t t = 0; t < SEG_T_COUNT; t++)
		if (now.live[t] != was->live[t]) {
			fprintf(stderr, "%s, %s %d missing: table %u has %u elements, not %u\n",
				what, how, n, t, now.live[t], was->live[t]);
			abort();
		}
	if (now.pinned == was->pinned && now.file_pinned == was->file_pinned)
		return;
	fprintf(stderr, "%s, %s %d missing: accounted memory is not what it was\n", what, how, n);
	abort();
}

/* The kernel's errors for lack of memory, of a device's resource or of descriptors. */
static bool is_shortage(int err)
{
	return err == ENOMEM || err == EREMOTEIO || err == ENOSPC || err == ENFILE ||
	       err == EMFILE || err == EAGAIN;
}

enum { BLOCK, ELEMENT, DESCRIPTOR, WAYS };
static const char *const ways[WAYS] = {"block", "element", "descriptor"};

static void arm(int way, int n)
{
	heap_fail_at(way == BLOCK ? n : 0);
	elements_left = way == ELEMENT ? n : 0;
	fz_descriptor_fail_at(way == DESCRIPTOR ? n : 0);
}

static int run(const struct ioctl_row *r, const struct write_row *w)
{
	return r ? world_ioctl(r) : world_write(w);
}

#define TRIES 200

/*
 * Repeat one call. The first time the first block (element, descriptor) is refused, then the
 * second..., until the call succeeds.
 */
static void exhaust(const struct ioctl_row *r, const struct write_row *w, int way)
{
	const char *what = r ? r->what : w->what;
	int want = r ? r->want : w->want, err = 0, n;
	struct account was;
	struct fz_hints hints;

	world_fd(r ? r->which : w->which);
	if (want) {
		fz_check(run(r, w) == want);
		return;
	}
	account(&was);
	fz_hints_save(fz_world_seg(), &hints);
	for (n = 1; n < TRIES; n++) {
		arm(way, n);
		err = run(r, w);
		arm(way, 0);
		if (!err)
			break;
		refusals[way]++;
		if (!is_shortage(err)) {
			fprintf(stderr, "%s, %s %d missing: %s\n", what, ways[way], n,
				err < 0 ? "not all answered" : strerrorname_np(err));
			abort();
		}
		same(&was, what, ways[way], n);
		fz_hints_restore(fz_world_seg(), &hints);
	}
	fz_check(!err);
	made++;
}

/* Rows that succeed: alone, or with the rows that continue them. */
static bool is_right(int want, bool more, bool within)
{
	return within || more || !want;
}

/* After rows that belong together everything is as before them. */
static void group_end(struct account *before, const char *what)
{
	static const int files[] = {CHANNEL, ASYNC, RESULTS, EVENT_FILE};
	const char *harmed;

	/* Read all events, because they are elements, too. */
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		while (fz_read(files[i], OUT, 4096) > 0)
			;
	world_row_end();
	if (!world_unharmed(&harmed)) {
		fprintf(stderr, "%s: afterwards the %s are not what they were\n", what, harmed);
		abort();
	}
	/* Subscriptions stay with their event file. */
	before->live[SEG_T_EVSUB] = atomic_load(&seg_table(fz_world_seg(), SEG_T_EVSUB)->live);
	same(before, what, "in the end nothing", 0);
}

#define GROUPS(rows, n, ...)                                                 \
	for (int way = 0; way < WAYS; way++) {                               \
		struct fz_hints hints;                                       \
		struct account before;                                       \
		bool within = false;                                         \
                                                                             \
		fz_hints_save(fz_world_seg(), &hints);                       \
		for (unsigned int i = 0; i < n; i++) {                       \
			if (!is_right(rows[i].want, rows[i].more, within) || \
			    !world_has(rows[i].link))                        \
				continue;                                    \
			if (!within)                                         \
				account(&before);                            \
			exhaust(__VA_ARGS__, way);                           \
			within = rows[i].more;                               \
			if (!within)                                         \
				group_end(&before, rows[i].what);            \
		}                                                            \
		/* Rows contain fixed numbers: each run gets the same. */    \
		if (way + 1 < WAYS)                                          \
			fz_hints_restore(fz_world_seg(), &hints);            \
	}

static void ioctls(const struct ioctl_row *rows, unsigned int n)
{
	GROUPS(rows, n, &rows[i], NULL)
}

static void writes(const struct write_row *rows, unsigned int n)
{
	GROUPS(rows, n, NULL, &rows[i])
}

int main(void)
{
	/* With every trace on, because a trace also shows objects that could not be made. */
	setenv(LOG_ENV_TOPICS, "all", 1);
	setenv(LOG_ENV_FILE, "/dev/null", 1);
	fz_world_begin(1);
#define IOCTLS(name) ioctls(name, name##_count);
#define WRITES(name) writes(name, name##_count);
	TABLES(IOCTLS, WRITES)
	fz_world_end();
	printf("%u calls done; refused before for want of a block %u times, an element %u, a "
	       "descriptor %u\n",
	       made, refusals[BLOCK], refusals[ELEMENT], refusals[DESCRIPTOR]);
	/* Without any shortage this test proves nothing. */
	return refusals[BLOCK] < 40 || refusals[ELEMENT] < 30 || refusals[DESCRIPTOR] < 4;
}
