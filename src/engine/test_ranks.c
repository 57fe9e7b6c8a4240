/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of the segment's locks is checked, in any build: this program has points. */
#include "engine/test.h"
#include "segment/rank.h"
#include "segment/table.h"

#include <fcntl.h>
#include <sys/wait.h>

/* The lock of that row in the table's first element, or in the one after it. */
static struct seg_lock *lock_of(struct seg *s, const struct seg_lock_row *r, uint32_t nth)
{
	uint8_t *e = seg_at(s, r->table, seg_table_rows[r->table].first + nth);

	return e ? (struct seg_lock *)(e + r->at) : NULL;
}

/* Does a process end that waits for `b` while it holds `a`? */
static bool ends(struct seg *s, struct seg_lock *a, struct seg_lock *b, bool tries)
{
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, 2);
		seg_lock(s, a, SEG_LOCK_DATA_NS);
		if (tries)
			seg_trylock(s, b);
		else
			seg_lock(s, b, SEG_LOCK_DATA_NS);
		seg_unlock(s, b);
		seg_unlock(s, a);
		seg_lock(s, a, SEG_LOCK_DATA_NS); /* what was released does not matter */
		seg_unlock(s, a);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	a->word = b->word = 0;
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : !WEXITSTATUS(status));
	return WIFSIGNALED(status);
}

static void a_lock_is_waited_for_in_its_turn(void **state)
{
	struct tb *t = tb_create();
	struct seg *s = &t->s;
	const struct seg_lock_row *a, *b;
	struct seg_lock *first, *second;

	for (a = seg_lock_rows; a->name; a++)
		for (b = seg_lock_rows; b->name; b++) {
			first = lock_of(s, a, 0);
			second = lock_of(s, b, a == b);
			if (!second) /* a table of one element */
				continue;
			assert_int_equal(ends(s, first, second, false), b <= a);
			assert_false(ends(s, first, second, true));
		}
	tb_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_waited_for_in_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
