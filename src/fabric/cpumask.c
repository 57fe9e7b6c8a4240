/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns the machine's list of online CPUs into a device's local_cpus and local_cpulist. A device
 * without a NUMA node is near to all CPUs. Only the sysfs rendering calls it.
 */
#include "fabric/cpumask.h"
#include "fabric/for_tests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/cleanup.h"
#include "util/num.h"

#define MAX_CPUS 8192u

/* First line of a file without its newline; false when it is not there or too long. */
static bool read_line(const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size);

	if (n <= 0 || (size_t)n == size)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf[0] != '\0';
}

/* Parses the next range "a" or "a-b" of a list. 1 found, 0 end, -EINVAL. */
static int next_range(const char **list, unsigned int *from, unsigned int *to)
{
	const char *end;
	uint64_t a, b;

	if (!**list)
		return 0;
	if (**list < '0' || **list > '9')
		return -EINVAL;
	a = b = num_decimal(*list, &end);
	if (*end == '-')
		b = num_decimal(end + 1, &end);
	if ((*end && *end != ',') || b < a || b >= MAX_CPUS)
		return -EINVAL;
	*from = (unsigned int)a;
	*to = (unsigned int)b;
	*list = end + (*end == ',');
	return 1;
}

int cpumask_from_list(const char *list, unsigned int ncpus, char *mask, size_t size)
{
	uint32_t bits[MAX_CPUS / 32] = {0};
	unsigned int from, to, top = (ncpus + 31) / 32;
	size_t len = 0;
	int r;

	if (ncpus < 1 || ncpus > MAX_CPUS || !size)
		return -EINVAL;
	while ((r = next_range(&list, &from, &to)) > 0)
		for (unsigned int c = from; c <= to && c < ncpus; c++)
			bits[c / 32] |= UINT32_C(1) << c % 32;
	if (r < 0)
		return r;
	for (unsigned int i = top; i-- > 0;) {
		int width = i == top - 1 ? (int)((ncpus - 1) % 32 / 4 + 1) : 8;
		int n = snprintf(mask + len, size - len, "%0*x%s", width, bits[i], i ? "," : "");

		if (n < 0 || (size_t)n >= size - len)
			return -ENOSPC;
		len += (size_t)n;
	}
	return 0;
}

static unsigned int machine_cpus(const char *online)
{
	char possible[256];
	unsigned int ncpus = 0, from, to;
	const char *p = possible;

	if (!read_line("/sys/devices/system/cpu/possible", possible, sizeof(possible)))
		p = online;
	while (next_range(&p, &from, &to) > 0)
		ncpus = to + 1;
	return ncpus;
}

void cpumask_local(char *mask, size_t mask_size, char *list, size_t list_size)
{
	if (!read_line("/sys/devices/system/cpu/online", list, list_size)) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		snprintf(list, list_size, n > 1 ? "0-%ld" : "0", n - 1);
	}
	if (cpumask_from_list(list, machine_cpus(list), mask, mask_size) < 0)
		snprintf(mask, mask_size, "1");
}

void cpumask_node(uint32_t node, uint32_t n, char *mask, size_t mask_size, char *list,
		  size_t list_size)
{
	unsigned int ncpus, from, to;

	cpumask_local(mask, mask_size, list, list_size);
	ncpus = machine_cpus(list);
	from = ncpus * node / n;
	to = ncpus * (node + 1) / n;
	if (from == to)
		return; /* a machine with fewer CPUs than nodes: near to all */
	snprintf(list, list_size, to - from > 1 ? "%u-%u" : "%u", from, to - 1);
	if (cpumask_from_list(list, ncpus, mask, mask_size) < 0)
		snprintf(mask, mask_size, "1");
}
