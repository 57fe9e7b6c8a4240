/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Preloaded beside the shim: a program that has tried to exec before its first QP, and failed. */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define NOTHING "/nonexistent/program"

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a);

__attribute__((visibility("default"))) struct ibv_qp *ibv_create_qp(struct ibv_pd *pd,
								    struct ibv_qp_init_attr *a)
{
	struct ibv_qp *(*next)(struct ibv_pd *, struct ibv_qp_init_attr *) =
		(struct ibv_qp * (*)(struct ibv_pd *, struct ibv_qp_init_attr *))
			dlsym(RTLD_NEXT, "ibv_create_qp");
	char *argv[] = {"x", NULL};

	if (execve(NOTHING, argv, environ) != -1 || errno != ENOENT || execv(NOTHING, argv) != -1 ||
	    execvp(NOTHING, argv) != -1 || execvpe(NOTHING, argv, environ) != -1 ||
	    execl(NOTHING, "x", "y", NULL) != -1 || execlp(NOTHING, "x", NULL) != -1 ||
	    execle(NOTHING, "x", NULL, environ) != -1 || fexecve(0, argv, environ) != -1 ||
	    execveat(-1, NOTHING, argv, environ, 0) != -1) {
		errno = ECANCELED;
		return NULL;
	}
	return next(pd, a);
}
