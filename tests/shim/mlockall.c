/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlockall() under `softhca run`, as real-time programs and DPDK call it: the program's memory is
 * locked and resident, the fabric's segment (5.8 GiB of addresses) is neither. Before and
 * after the device is opened, with CAP_IPC_LOCK and with a limit.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include <infiniband/verbs.h>

#define MANY (300 * 1024) /* KiB: more than the program has, less than a part of the segment */
#define LIMIT (512l << 20)
#define BYTES (1 << 20)

#define need(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			printf("line %d: %s (%m)\n", __LINE__, #what); \
			exit(1);                                       \
		}                                                      \
	} while (0)

static long status_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name) + 1);
	fclose(f);
	return kib;
}

static unsigned char *memory(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED);
	return p;
}

static bool is_resident(void *p)
{
	unsigned char in[BYTES / 4096];

	need(!mincore(p, BYTES, in));
	for (size_t i = 0; i < sizeof(in); i++)
		if (!(in[i] & 1))
			return false;
	return true;
}

static void use_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	need(ctx);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(pd && cq);
	need(ibv_reg_mr(pd, memory(), BYTES, IBV_ACCESS_LOCAL_WRITE));
}

static void no_segment(void)
{
	need(status_kib("VmRSS:") < MANY);
	need(status_kib("VmLck:") < MANY);
}

static long hard_limit(void)
{
	struct rlimit lim;

	need(!getrlimit(RLIMIT_MEMLOCK, &lim));
	return lim.rlim_max > LONG_MAX ? LONG_MAX : (long)lim.rlim_max;
}

/* An ordinary user with a limit. */
static void give_up_rights(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0}};
	struct rlimit lim;

	need(!getrlimit(RLIMIT_MEMLOCK, &lim));
	lim.rlim_cur = hard_limit() < LIMIT ? lim.rlim_max : LIMIT;
	need(!setrlimit(RLIMIT_MEMLOCK, &lim));
	need(!syscall(SYS_capset, &h, none));
}

static void after_the_open(bool raw, int flags)
{
	unsigned char *before = memory();

	use_device();
	need(!(raw ? syscall(SYS_mlockall, flags) : mlockall(flags)));
	no_segment();
	need(is_resident(before) == !(flags & MCL_ONFAULT));
	before[0] = 1;
	need(status_kib("VmLck:") >= BYTES >> 10);
	need(is_resident(memory()) == ((flags & (MCL_FUTURE | MCL_ONFAULT)) == MCL_FUTURE));
	use_device();
	no_segment();
}

static void before_the_open(int flags)
{
	need(!mlockall(flags));
	use_device();
	no_segment();
	need(is_resident(memory()));
}

static void too_much(void)
{
	use_device();
	need(mmap(NULL, 2 * LIMIT, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	errno = 0;
	need(mlockall(MCL_CURRENT) == -1 && errno == ENOMEM);
	need(mlockall(8 | MCL_CURRENT) == -1 && errno == EINVAL);
}

static void run(int n)
{
	if (n >= 6)
		give_up_rights();
	switch (n % 6) {
	case 0:
		return after_the_open(false, MCL_CURRENT);
	case 1:
		return after_the_open(true, MCL_CURRENT | MCL_FUTURE);
	case 2:
		return after_the_open(false, MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
	case 3:
		return before_the_open(MCL_FUTURE);
	case 4:
		return before_the_open(MCL_CURRENT | MCL_FUTURE);
	default:
		if (n == 11)
			too_much();
	}
}

int main(void)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int n = 0; n < 12; n++) {
		pid_t pid;
		int st;

		/* The usual 8 MiB hold no program with its libraries, on a card either. */
		if (n >= 6 && n != 9 && n != 11 && hard_limit() < LIMIT) {
			printf("case %d: skipped, the hard limit is low\n", n);
			continue;
		}
		pid = fork();
		if (!pid) {
			run(n);
			exit(0);
		}
		waitpid(pid, &st, 0);
		if (st)
			printf("case %d: status %#x\n", n, st);
		failed |= st;
	}
	return failed ? 1 : 0;
}
