/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded into a program: it says that no process may trace it, before the device is opened or
 * after (OWN_PTRACER=before, after, syscall). The library must leave it so.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ibv_context;
struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx);

static int is(const char *when)
{
	const char *s = getenv("OWN_PTRACER");

	return s && !strcmp(s, when);
}

__attribute__((constructor)) static void start(void)
{
	if (is("before"))
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	if (is("syscall"))
		syscall(SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0);
}

__attribute__((visibility("default"))) struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *(*next)(struct ibv_context *) =
		(struct ibv_pd * (*)(struct ibv_context *)) dlsym(RTLD_NEXT, "ibv_alloc_pd");

	if (is("after"))
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	return next(ctx);
}
