/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A NodeDescription that is written into sysfs: node_desc_store() and node_desc_show() of sysfs.c,
 * mlx5_ib_modify_device() of mlx5/main.c, and the trap of IBA 14.2.5.1 that tells of it.
 */
#include "umad.h"

#include <stdlib.h>
#include <sys/wait.h>

#define FILE_OF(n) "/sys/class/infiniband/mlx5_" #n "/node_desc"
enum { DATA = 64, DESC = 64, NODE_DESC = 0x10, LOCAL_CHANGES = 144 };

static const char *shown(const char *path)
{
	static char text[200];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_uint_in_range(n, 1, sizeof(text) - 1);
	text[n] = '\0';
	close(fd);
	return text;
}

static void store(const char *path, int flags, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

/* Gets the description that the adapter's SMA returns. */
static void described(unsigned int n, char desc[DESC])
{
	struct packet p = mad(0, lid_of(n), SMI, GET, NODE_DESC, 1), in;
	int fd = umad(0);

	agent(fd, 0, SMI, 0);
	put(fd, &p);
	in = got(fd);
	assert_int_equal(get16(in.mad + 4), 0);
	memcpy(desc, in.mad + DATA, DESC);
	umad_close(fd);
}

static const struct row {
	const char *name, *text, *shown;
	int flags;
} rows[] = {
	{"a name", "node of a test", "node of a test\n"},
	{"a shorter one replaces all of it", "n", "n\n"},
	{"a line's end is a part of it", "line\n", "line\n\n"},
	{"appended", "appended", "appended\n", O_APPEND},
	{"truncated", "truncated", "truncated\n", O_CREAT | O_TRUNC},
	{"64 bytes", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"},
	{"more than 64 bytes", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdefX",
	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"},
};

static void stored(void **state)
{
	const struct row *r = *state;
	char desc[DESC], want[DESC] = {0};
	size_t n = strlen(r->text);

	store(FILE_OF(0), r->flags, r->text, n);
	assert_string_equal(shown(FILE_OF(0)), r->shown);
	memcpy(want, r->text, n < DESC ? n : DESC);
	described(0, desc);
	assert_memory_equal(desc, want, DESC);
	assert_string_not_equal(shown(FILE_OF(1)), r->shown);
}

/* Each write(2) sets a new description, at any file offset. */
static void twice(void **state)
{
	int fd = open(FILE_OF(0), O_WRONLY | O_CLOEXEC);

	assert_int_equal(write(fd, "first", 5), 5);
	assert_string_equal(shown(FILE_OF(0)), "first\n");
	assert_int_equal(write(fd, "2nd", 3), 3);
	assert_string_equal(shown(FILE_OF(0)), "2nd\n");
	close(fd);
}

/* stdio, and a child without the preloaded library, write to the descriptor, too. */
static void by_others(void **state)
{
	FILE *f = fopen(FILE_OF(0), "w");

	assert_non_null(f);
	fputs("by a stream", f);
	fclose(f);
	assert_string_equal(shown(FILE_OF(0)), "by a stream\n");
	assert_int_equal(system("env printf %s inherited >" FILE_OF(0)), 0);
	assert_string_equal(shown(FILE_OF(0)), "inherited\n");
	assert_int_equal(system("cd /sys/class/infiniband/mlx5_0 && printf relative >node_desc"),
			 0);
	assert_string_equal(shown(FILE_OF(0)), "relative\n");
}

/* The node reports it from each port; this program is the subnet manager. */
static void reported(void **state)
{
	int sm = open("/dev/infiniband/issm0", O_RDWR | O_CLOEXEC), fd = umad(0);
	const uint8_t *d;
	struct packet in;

	assert_true(sm >= 0);
	agent(fd, 0, SMI, 1 << TRAP);
	store(FILE_OF(1), 0, "another", 7);
	do
		in = waited(fd);
	while (in.hdr.lid != htons(lid_of(1)) || get16(in.mad + DATA + 4) != LOCAL_CHANGES);
	d = in.mad + DATA;
	assert_int_equal(get16(d + 6), lid_of(1));  /* IssuerLID */
	assert_int_equal(get16(d + 12), lid_of(1)); /* LIDADDR */
	assert_int_equal(d[15], 1);                 /* OtherLocalChanges */
	assert_int_equal(get16(d + 20), 1);         /* NodeDescriptionChange */
	close(sm);
}

/* SubnSet of it is not among the methods of IBA 14.2.5, table of attributes. */
static void not_by_mad(void **state)
{
	struct packet p = mad(0, lid_of(1), SMI, SET, NODE_DESC, 1), in;
	char before[DESC], after[DESC];
	int fd = umad(0);

	described(1, before);
	agent(fd, 0, SMI, 0);
	memset(p.mad + DATA, 'x', DESC);
	put(fd, &p);
	in = got(fd);
	assert_int_equal(get16(in.mad + 4), BAD_ATTR);
	described(1, after);
	assert_memory_equal(before, after, DESC);
}

/* No other attribute has a store method. */
static void others_are_not(void **state)
{
	assert_fails(open("/sys/class/infiniband/mlx5_0/node_guid", O_WRONLY), EACCES);
	assert_fails(open("/sys/class/infiniband/node_desc", O_WRONLY), ENOENT);
}

int main(void)
{
	CASES(rows, stored);
	CASE(twice);
	CASE(by_others);
	CASE(reported);
	CASE(not_by_mad);
	CASE(others_are_not);
	return run_cases("describe");
}
