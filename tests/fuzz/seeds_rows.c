/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Seeds for the ioctl and write targets: every row of tests/abi. Usage: seeds_rows DIR DIR */
#include "device.h"

#include <errno.h>
#include <sys/stat.h>

static uint8_t buf[1 << 16];
static size_t n;

static void save(const char *dir, const char *table, unsigned int i)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%u", dir, table, i);
	f = fopen(path, "w");
	fz_check(f && fwrite(buf, 1, n, f) == n);
	fclose(f);
	n = 0;
}

/* Rows that belong together make one input. */
#define SEEDS(dir, name, write)                                 \
	for (unsigned int i = 0; i < name##_count; i++) {       \
		if (!n)                                         \
			buf[n++] = (uint8_t)(i % 8);            \
		n += write(&name[i], buf + n, sizeof(buf) - n); \
		if (!name[i].more)                              \
			save(dir, #name, i);                    \
	}

int main(int argc, char **argv)
{
	fz_check(argc == 3);
	for (int i = 1; i < 3; i++)
		fz_check(!mkdir(argv[i], 0777) || errno == EEXIST);
#define IOCTLS(name) SEEDS(argv[1], name, fz_ioctl_write)
#define WRITES(name) SEEDS(argv[2], name, fz_written_write)
	TABLES(IOCTLS, WRITES)
	return 0;
}
