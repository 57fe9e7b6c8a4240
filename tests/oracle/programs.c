/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs of random calls on a verbs device: the same calls from the same seed on any device, as
 * long as it gives the same answers. Values are such that every driver takes them; handles, sizes,
 * attributes and frames may be wrong in any way.
 *
 *   random [-r] [-v] [-n PROGRAMS] [-s FIRST SEED]    -r: on a kernel with rxe
 *
 * A line for each program: its seed, and the answer to each call.
 */
#include "random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The first calls of a program only make objects: the first rows of the table of calls. */
enum { CALLS = 50, SLOTS = 12, FIRST_CALLS = 12, MAKERS = 14 };
const uint16_t objects[KINDS] = {
	UVERBS_OBJECT_PD, UVERBS_OBJECT_MR,           UVERBS_OBJECT_MW,
	UVERBS_OBJECT_CQ, UVERBS_OBJECT_QP,           UVERBS_OBJECT_SRQ,
	UVERBS_OBJECT_AH, UVERBS_OBJECT_COMP_CHANNEL, UVERBS_OBJECT_ASYNC_EVENT,
};

static uint32_t live[KINDS][SLOTS], gone[SLOTS];
static unsigned int nlive[KINDS], ngone;
static char line[16384];
static size_t used;

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	used += (size_t)vsnprintf(line + used, sizeof(line) - used, format, ap);
	va_end(ap);
	if (used >= sizeof(line))
		abort();
}

bool done(const char *name, int err)
{
	say(" %s=%s", name, err ? strerrorname_np(err) : "0");
	return !err;
}

/* ---- objects */

void made(enum kind k, uint32_t handle)
{
	say(":%u", k >= CHANNEL ? 0 : handle);
	if (nlive[k] < SLOTS)
		live[k][nlive[k]++] = handle;
}

void lost(enum kind k, uint32_t handle)
{
	for (unsigned int i = 0; i < nlive[k]; i++)
		if (live[k][i] == handle) {
			live[k][i] = live[k][--nlive[k]];
			break;
		}
	gone[ngone++ % SLOTS] = handle;
}

uint32_t pick(enum kind k)
{
	enum kind other = (enum kind)below(AH + 1);

	if (nlive[k] && !one_in(8))
		return live[k][below(nlive[k])];
	if (one_in(3) && nlive[other])
		return live[other][below(nlive[other])];
	if (one_in(2) && ngone)
		return gone[below(ngone < SLOTS ? ngone : SLOTS)];
	return one_in(8) ? UINT32_MAX : 70 + below(3);
}

uint32_t pick_file(enum kind k)
{
	if (nlive[k] && !one_in(6))
		return live[k][below(nlive[k])];
	return one_in(2) ? (uint32_t)device : 900;
}

uint32_t word(size_t at)
{
	uint32_t v;

	memcpy(&v, out + at, sizeof(v));
	return v;
}

uint8_t qp_type(void)
{
	static const uint8_t types[] = {IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD};

	return types[below(3)];
}

/* ---- programs */

static void (*const ops[])(void) = {
	alloc_pd,       qp_method,      srq_method,   alloc_pd,   reg_mr,         reg_mr,
	alloc_mw,       create_channel, create_cq,    create_cq,  cq_method,      create_qp,
	create_qp,      create_qp,      modify_qp,    modify_qp,  modify_qp,      modify_qp,
	query_qp,       create_srq,     modify_srq,   query_srq,  create_ah,      multicast,
	destroy,        destroy,        destroy,      destroy,    destroy_method, destroy_method,
	destroy_method, query_mr,       info_handles, event_file, query_methods,  query_device,
	query_port,
};

static void run(unsigned int number, bool verbose)
{
	seed(number);
	used = 0;
	memset(nlive, 0, sizeof(nlive));
	ngone = 0;
	device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	if (device < 0) {
		perror("/dev/infiniband/uverbs0");
		exit(2);
	}
	for (int i = 0; i < CALLS; i++) {
		if ((!i && !one_in(20)) || one_in(100))
			get_context();
		else
			ops[below(i < FIRST_CALLS ? MAKERS : sizeof(ops) / sizeof(ops[0]))]();
		if (verbose)
			fprintf(stderr, "%d:%s\n", i, line);
	}
	printf("program %u\t%s\n", number, line + 1);
	for (unsigned int k = CHANNEL; k <= ASYNC; k++)
		for (unsigned int i = 0; i < nlive[k]; i++)
			close((int)live[k][i]);
	close(device);
}

int main(int argc, char **argv)
{
	unsigned int n = 1000, first = 1;
	bool verbose = false;
	int c;

	while ((c = getopt(argc, argv, "rvn:s:")) != -1) {
		rxe |= c == 'r';
		verbose |= c == 'v';
		if (c == 'n')
			n = (unsigned int)strtoul(optarg, NULL, 0);
		if (c == 's')
			first = (unsigned int)strtoul(optarg, NULL, 0);
	}
	if (mmap((void *)(uintptr_t)MEM, MEM_LEN, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED) {
		perror("memory at its fixed address");
		return 2;
	}
	for (unsigned int i = 0; i < n; i++)
		run(first + i, verbose);
	return 0;
}
