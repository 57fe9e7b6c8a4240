/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A vfork() child that is the first to do something of which the library keeps a table: the table
 * is in its parent's memory, and stays the parent's. Under `softhca run`.
 */
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char stack[64 << 10];

/* Uses netlink where a real program's child would exec a helper. */
static void child(void)
{
	const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&alt, NULL);
	_exit(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) < 0);
}

/* Is there a link of this name, as NETLINK_ROUTE says? */
static int has_link(const char *name)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg i;
		struct rtattr a;
		char name[16];
	} q = {.h = {.nlmsg_len = sizeof(q),
		     .nlmsg_type = RTM_GETLINK,
		     .nlmsg_flags = NLM_F_REQUEST},
	       .a = {.rta_len = sizeof(q.a) + sizeof(q.name), .rta_type = IFLA_IFNAME}};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	char buf[16384];
	const struct nlmsghdr *h = (void *)buf;

	snprintf(q.name, sizeof(q.name), "%s", name);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, &q, sizeof(q), 0), sizeof(q));
	assert_true(recv(fd, buf, sizeof(buf), 0) >= (ssize_t)sizeof(*h));
	close(fd);
	return h->nlmsg_type == RTM_NEWLINK;
}

static void the_parents_tables_stay_its_own(void **state)
{
	struct ibv_device **list;
	struct ibv_context *c;
	int status;
	pid_t pid;

	pid = vfork();
	if (!pid)
		child();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(has_link("ib0"));
	list = ibv_get_device_list(NULL);
	c = list[0] ? ibv_open_device(list[0]) : NULL;
	assert_non_null(c);
	assert_int_equal(ibv_close_device(c), 0);
	ibv_free_device_list(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_parents_tables_stay_its_own)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
