/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program is killed after each call that makes or changes something: the rows of tests/abi that
 * succeed, and those that belong to them, on the device inside this process (tests/fuzz/device.c).
 * Its files then end as the supervisor ends those of a dead process, without destroy calls.
 * References must be right before that, and no element of any table may be left afterwards.
 */
#include "../fuzz/device.h"

#define MAX_GROUPS 1024

/* The next numbers of each table at the start of a group, as in the run of all rows. */
static struct fz_hints next[MAX_GROUPS];
static unsigned int group, killed;

/* A row that continues the one before belongs to the same group. */
struct rows {
	const struct ioctl_row *r;
	const struct write_row *w;
	unsigned int n;
};

static bool more(const struct rows *t, unsigned int i)
{
	return i + 1 < t->n && (t->r ? t->r[i].more : t->w[i].more);
}

static int want(const struct rows *t, unsigned int i)
{
	return t->r ? t->r[i].want : t->w[i].want;
}

static void run(const struct rows *t, unsigned int i)
{
	const char *what = t->r ? t->r[i].what : t->w[i].what;
	int got;

	if (!world_has(t->r ? t->r[i].link : t->w[i].link))
		return;
	got = t->r ? world_ioctl(&t->r[i]) : world_write(&t->w[i]);
	if (got == want(t, i))
		return;
	fprintf(stderr, "%s: %d, not as in the run of all\n", what, got);
	abort();
}

/* Visit all rows in order, so that their numbers are right. */
static void note(const struct rows *t)
{
	for (unsigned int i = 0; i < t->n; i++) {
		if (!i || !more(t, i - 1)) {
			fz_check(group < MAX_GROUPS);
			fz_hints_save(fz_world_seg(), &next[group++]);
		}
		run(t, i);
		if (!more(t, i))
			world_row_end();
	}
}

static void kill_after(const struct rows *t, unsigned int first, unsigned int last)
{
	fz_world_begin(0);
	fz_hints_restore(fz_world_seg(), &next[group]);
	for (unsigned int i = first; i <= last; i++)
		run(t, i);
	fz_world_end();
	killed++;
}

static void kill_all(const struct rows *t)
{
	for (unsigned int first = 0, last; first < t->n; first = last + 1, group++) {
		for (last = first; more(t, last); last++)
			kill_after(t, first, last);
		if (last > first || !want(t, last))
			kill_after(t, first, last);
	}
}

int main(void)
{
#define IOCTLS(name) each(&(struct rows){.r = name, .n = name##_count});
#define WRITES(name) each(&(struct rows){.w = name, .n = name##_count});
	void (*each)(const struct rows *t) = note;

	fz_world_begin(0);
	TABLES(IOCTLS, WRITES)
	fz_world_end();
	each = kill_all;
	group = 0;
	TABLES(IOCTLS, WRITES)
	printf("killed after %u calls\n", killed);
	return killed < 200;
}
