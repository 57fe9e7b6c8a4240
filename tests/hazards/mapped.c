/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A mapped UAR page keeps the command file open, as any mapping keeps its file (mmap(2): "closing
 * the file descriptor does not unmap the region"): the queues work until any process has unmapped
 * the last page of the file, and are then gone.
 */
#include "rc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define PAGES_MAX 64

static struct {
	void *at[PAGES_MAX];
	unsigned int n;
} before, pages;
static bool has_two_uars;

/* List single shared pages: these are UARs, whatever the device maps there. */
static void list_pages(void *at[], unsigned int *n)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], prot[8];
	unsigned long from, to;

	CHECK(f);
	*n = 0;
	while (fgets(line, sizeof(line), f)) {
		CHECK(sscanf(line, "%lx-%lx %7s", &from, &to, prot) == 3);
		for (; prot[3] == 's' && from < to; from += PAGE) {
			CHECK(*n < PAGES_MAX);
			if (to - from <= 16 * PAGE)
				at[(*n)++] = (void *)from; /* neighbours are shown as one */
			else
				break;
		}
	}
	fclose(f);
}

/* One end whose pages are known, and one with a device of its own. */
static struct rc_pair p;

static bool was_there(void *page)
{
	for (unsigned int i = 0; i < before.n; i++)
		if (before.at[i] == page)
			return true;
	return false;
}

/* Collect in `pages` those that were not there before. */
static void new_pages(void)
{
	unsigned int n;

	list_pages(pages.at, &pages.n);
	n = pages.n;
	pages.n = 0;
	for (unsigned int i = 0; i < n; i++)
		if (!was_there(pages.at[i]))
			pages.at[pages.n++] = pages.at[i];
}

static void make(void)
{
	struct ibv_td_init_attr td = {0};
	unsigned int n;

	rc_make(&p.b, NULL, 4096, 0);
	list_pages(before.at, &before.n);
	rc_make(&p.a, NULL, 4096, 0);
	new_pages();
	n = pages.n;
	/* It has a page of its own, but from rdma-core 60 on only where there is BlueFlame. */
	CHECK(ibv_alloc_td(p.a.ctx, &td));
	new_pages();
	CHECK(n > 0 && pages.n >= n);
	has_two_uars = pages.n > n;
	rc_connect(&p.a, &p.b.me, 8, 2);
	rc_connect(&p.b, &p.a.me, 8, 2);
	rc_pair_loop(&p, 10);
}

static void unmap_all(void)
{
	for (unsigned int i = 0; i < pages.n; i++)
		CHECK(!munmap(pages.at[i], PAGE));
}

/* Ask a's QP for an answer: b writes to a's memory. */
static enum ibv_wc_status ask(void)
{
	rc_write(&p.b, 0, 64, 0);
	return rc_wait(&p.b, 30).status;
}

static void is_gone(void)
{
	enum ibv_wc_status s = ask();

	if (s != IBV_WC_RETRY_EXC_ERR)
		DIE("a QP without its file answers: %s", ibv_wc_status_str(s));
}

static int closed(int argc, char **argv)
{
	make();
	CHECK(!close(p.a.ctx->cmd_fd));
	rc_pair_loop(&p, 1000);
	CHECK(ask() == IBV_WC_SUCCESS);
	if (has_two_uars) {
		CHECK(!munmap(pages.at[0], PAGE));
		CHECK(ask() == IBV_WC_SUCCESS); /* another page remains */
	}
	unmap_all();
	is_gone();
	return 0;
}

/* A new mapping at the page's address ends it, too. */
static int replaced(int argc, char **argv)
{
	make();
	CHECK(!close(p.a.ctx->cmd_fd));
	rc_pair_loop(&p, 10);
	for (unsigned int i = 0; i < pages.n; i++)
		CHECK(mmap(pages.at[i], PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			   -1, 0) == pages.at[i]);
	is_gone();
	return 0;
}

/* As daemons do: close every open descriptor. */
static int close_all(int argc, char **argv)
{
	make();
	if (!strcmp(argv[1], "loop"))
		for (int fd = 3; fd < 65536; fd++)
			close(fd);
	else
		close_range(3, ~0u, 0);
	rc_pair_loop(&p, 1000);
	unmap_all();
	is_gone();
	return 0;
}

/*
 * A child has the pages after the parent has unmapped them; the child's munmap, exit or exec ends
 * them.
 */
static int child(int argc, char **argv)
{
	int sp[2], status;
	pid_t pid;

	CHECK(argc == 2 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	make();
	pid = fork();
	if (!pid) {
		close(p.a.ctx->cmd_fd);
		rc_sync(sp[1]); /* the parent has no page left */
		rc_sync(sp[1]); /* and the parent has tried */
		if (!strcmp(argv[1], "unmaps"))
			unmap_all();
		else if (!strcmp(argv[1], "execs"))
			execl("/proc/self/exe", "mapped", "wait", (char *)NULL);
		else
			_exit(0);
		rc_sync(sp[1]);
		for (;;)
			pause();
	}
	CHECK(!close(p.a.ctx->cmd_fd));
	unmap_all();
	rc_sync(sp[0]);
	for (int i = 0; i < 10; i++)
		CHECK(ask() == IBV_WC_SUCCESS);
	rc_sync(sp[0]);
	if (!strcmp(argv[1], "unmaps"))
		rc_sync(sp[0]);
	if (!strcmp(argv[1], "exits"))
		CHECK(waitpid(pid, &status, 0) == pid);
	if (!strcmp(argv[1], "unmaps"))
		is_gone();
	else /* the supervisor learns of the others a little later */
		for (double end = rc_now() + RC_HANGS; ask() == IBV_WC_SUCCESS;)
			CHECK(rc_now() < end);
	kill(pid, SIGKILL);
	return 0;
}

static int __attribute__((noreturn)) wait_for_ever(int argc, char **argv)
{
	alarm(60);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"closed", closed}, {"replaced", replaced},  {"closefrom", close_all},
		{"child", child},   {"wait", wait_for_ever}, {NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
