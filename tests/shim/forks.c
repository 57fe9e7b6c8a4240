/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork() while other threads open, use and close the device, and while a signal handler asks about
 * files: a child, to which POSIX allows little more than open, close and exec, must never wait for
 * a thread that it does not have. Under `softhca run`.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define DEV "/sys/class/infiniband/mlx5_0"
#define VERBS "/dev/infiniband/uverbs0"
#define SECONDS 2

static atomic_bool stop;
static atomic_uint opened, asked, failed;

/* All of these may be called from a handler. */
static void on_alarm(int sig)
{
	int saved = errno, fd = open(DEV "/node_type", O_RDONLY | O_CLOEXEC), copy = dup(fd);
	struct stat st;
	char link[64];

	if (fd < 0 || copy < 0 || stat(VERBS, &st) || !S_ISCHR(st.st_mode) || fstat(fd, &st) ||
	    access(DEV, R_OK) || readlink(DEV, link, sizeof(link)) < 0)
		failed++;
	close(fd);
	close(copy);
	asked++;
	errno = saved;
}

static void *uses_the_device(void *arg)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	while (!stop) {
		struct ibv_context *c = ibv_open_device(list[0]);
		struct ibv_pd *pd = c ? ibv_alloc_pd(c) : NULL;

		if (!pd || ibv_dealloc_pd(pd) || ibv_close_device(c))
			failed++;
		opened++;
	}
	ibv_free_device_list(list);
	return NULL;
}

static void child(void)
{
	char *argv[] = {"true", NULL};
	int fd;

	signal(SIGALRM, SIG_DFL);
	alarm(300);
	fd = open(VERBS, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		_exit(10);
	for (fd = 3; fd < 40; fd++)
		close(fd);
	execv("/bin/true", argv);
	_exit(11);
}

static void children_never_hang(void **state)
{
	const struct itimerval never = {0};
	time_t end = time(NULL) + SECONDS;
	unsigned int forks = 0;
	pthread_t t[3];

	signal(SIGALRM, on_alarm);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, uses_the_device, NULL), 0);
	while (time(NULL) < end) {
		/*
		 * One signal for each fork: repeated ones would take a slow machine's whole time.
		 */
		const struct itimerval soon = {{0, 0}, {0, 1 + 150 * (forks % 7)}};
		int status = -1;
		pid_t pid;

		setitimer(ITIMER_REAL, &soon, NULL);
		pid = fork();
		if (!pid)
			child();
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (status)
			fail_msg("child %u: status %#x", forks, (unsigned int)status);
		forks++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(failed, 0);
	assert_true(forks && opened && asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(children_never_hang)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
