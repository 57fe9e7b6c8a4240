/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Importing a device, PDs, MRs and device memory by libibverbs: through the descriptor itself, a
 * duplicate, one received by a socket, and in a fork child. In another program the open file
 * belongs to another process: a clear errno.
 *
 * usage: import: 0 and "passed"; import FD: in the other program
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define NEED(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #cond, \
				errno ? strerror(errno) : "");                 \
			exit(1);                                               \
		}                                                              \
	} while (0)

static char mem[8192] __attribute__((aligned(4096)));

static int through_a_socket(int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u;
	char byte = 0;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = u.buf,
			   .msg_controllen = sizeof(u.buf)};
	struct cmsghdr *c;
	int s[2], got;

	memset(&u, 0, sizeof(u));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	NEED(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	NEED(sendmsg(s[0], &m, 0) == 1 && recvmsg(s[1], &m, 0) == 1);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(got));
	close(s[0]);
	close(s[1]);
	return got;
}

/* Import everything, and make objects in the imported context. Takes fd. */
static void use(int fd, const struct ibv_pd *pd, const struct ibv_mr *mr, struct ibv_dm *dm)
{
	struct ibv_context *ctx = ibv_import_device(fd);
	struct ibv_port_attr port;
	struct ibv_pd *ipd;
	struct ibv_mr *imr, *own;
	struct ibv_dm *idm;
	char got[8] = "";
	struct ibv_cq *cq;

	NEED(ctx);
	ipd = ibv_import_pd(ctx, pd->handle);
	NEED(ipd);
	NEED(!ibv_import_pd(ctx, 77));
	imr = ibv_import_mr(ipd, mr->handle);
	NEED(imr && imr->lkey == mr->lkey && imr->rkey == mr->rkey && imr->length == mr->length);
	NEED(!ibv_import_mr(ipd, pd->handle + 77));
	idm = ibv_import_dm(ctx, dm->handle);
	NEED(idm && !ibv_memcpy_from_dm(got, idm, 0, sizeof(got)) && !strcmp(got, "of all"));
	NEED(!ibv_import_dm(ctx, dm->handle + 77));
	ibv_unimport_dm(idm);
	own = ibv_reg_mr(ipd, mem + 4096, 4096, IBV_ACCESS_LOCAL_WRITE);
	NEED(own && own->lkey != mr->lkey);
	cq = ibv_create_cq(ctx, 15, NULL, NULL, 0);
	NEED(cq && !ibv_destroy_cq(cq));
	NEED(!ibv_query_port(ctx, 1, &port) && port.state == IBV_PORT_ACTIVE);
	NEED(!ibv_dereg_mr(own));
	ibv_unimport_mr(imr);
	ibv_unimport_pd(ipd);
	NEED(!ibv_close_device(ctx));
}

static int child(pid_t pid)
{
	int status;

	NEED(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void other_program(const char *self, int fd)
{
	char number[16];
	pid_t pid;
	int keep = dup(fd); /* without close-on-exec */

	snprintf(number, sizeof(number), "%d", keep);
	pid = fork();
	if (!pid) {
		execl(self, self, number, NULL);
		_exit(99);
	}
	NEED(child(pid) == EOPNOTSUPP);
	close(keep);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_alloc_dm_attr dma = {.length = 4096};
	struct ibv_dm *dm;
	pid_t pid;

	NEED(list && list[0]);
	if (argc > 1)
		return ibv_import_device(atoi(argv[1])) ? 98 : errno;
	ctx = ibv_open_device(list[0]);
	NEED(ctx);
	pd = ibv_alloc_pd(ctx);
	NEED(pd);
	mr = ibv_reg_mr(pd, mem, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	NEED(mr);
	dm = ibv_alloc_dm(ctx, &dma);
	NEED(dm && !ibv_memcpy_to_dm(dm, 0, (char[8]){"of all"}, 8));
	use(dup(ctx->cmd_fd), pd, mr, dm);
	use(through_a_socket(ctx->cmd_fd), pd, mr, dm);
	pid = fork();
	if (!pid) {
		use(dup(ctx->cmd_fd), pd, mr, dm);
		_exit(0);
	}
	NEED(child(pid) == 0);
	other_program(argv[0], ctx->cmd_fd);
	/* the first user's objects are unchanged */
	NEED(!ibv_free_dm(dm) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) &&
	     !ibv_close_device(ctx));
	puts("passed");
	return 0;
}
