/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that a wrapper must leave to the kernel, under `softhca run`: bad pointers give EFAULT as
 * a system call would, and never a crash.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cmocka.h>

#define VERBS "/dev/infiniband/uverbs0"
#define LINK "/sys/class/infiniband/mlx5_0"

static int at_main;

/* Bad pointers: unmapped; inaccessible; not canonical; a string that runs into an unmapped page. */
static char *bad[4];

static int make_bad(void **state)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	munmap(p + 2 * 4096, 4096);
	mprotect(p + 4096, 4096, PROT_NONE);
	memcpy(p + 4096 - 8, "/dev/inf", 8);
	bad[0] = (char *)16;
	bad[1] = p + 4096;
	bad[2] = (char *)UINT64_C(0x8000000000001000);
	bad[3] = p + 4096 - 8;
	return 0;
}

#define FAULTS(call)                                                         \
	do {                                                                 \
		errno = 0;                                                   \
		if ((long)(call) != -1 || errno != EFAULT)                   \
			fail_msg("%s, bad[%zu]: errno %d", #call, i, errno); \
	} while (0)

static void paths_give_efault(void **state)
{
	for (size_t i = 0; i < 4; i++) {
		char *p = bad[i], buf[64];
		struct statfs fs;
		struct statvfs vfs;
		struct stat st;
		struct statx stx;
		char *none[] = {NULL};

		FAULTS(open(p, O_RDONLY));
		FAULTS(open(p, O_RDWR | O_CREAT, 0600));
		FAULTS(openat(AT_FDCWD, p, O_RDONLY));
		FAULTS(openat(AT_FDCWD, p, O_PATH));
		FAULTS(creat(p, 0600));
		FAULTS(syscall(SYS_openat, AT_FDCWD, p, O_RDONLY));
		FAULTS(stat(p, &st));
		FAULTS(lstat(p, &st));
		FAULTS(fstatat(AT_FDCWD, p, &st, 0));
		FAULTS(fstatat(AT_FDCWD, p, &st, AT_EMPTY_PATH));
		FAULTS(statx(AT_FDCWD, p, 0, STATX_TYPE, &stx));
		FAULTS(access(p, R_OK));
		FAULTS(faccessat(AT_FDCWD, p, R_OK, 0));
		FAULTS(statfs(p, &fs));
		FAULTS(statvfs(p, &vfs));
		FAULTS(readlink(p, buf, sizeof(buf)));
		FAULTS(readlinkat(AT_FDCWD, p, buf, sizeof(buf)));
		FAULTS(chdir(p));
		FAULTS(getxattr(p, "user.x", buf, sizeof(buf)));
		FAULTS(execve(p, none, none));
		assert_null(fopen(p, "r"));
		assert_int_equal(errno, EFAULT);
	}
}

static void results_give_efault(void **state)
{
	for (size_t i = 0; i < 3; i++) {
		void *p = bad[i];

		FAULTS(stat(VERBS, p));
		FAULTS(lstat("/", p));
		FAULTS(statx(AT_FDCWD, VERBS, 0, STATX_TYPE, p));
		FAULTS(readlink(LINK, p, 64));
		FAULTS(readlink("/proc/self/exe", p, 64));
		FAULTS(readlink("/proc/self/exe", p, PATH_MAX));
		FAULTS(readlinkat(AT_FDCWD, LINK, p, 64));
	}
}

static void device_calls_give_efault(void **state)
{
	int fd = open(VERBS, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < 3; i++) {
		FAULTS(fstat(fd, (struct stat *)bad[i]));
		FAULTS(write(fd, bad[i], 64));
		FAULTS(writev(fd, (struct iovec *)bad[i], 1));
		FAULTS(readv(fd, (struct iovec *)bad[i], 1) == -1 && errno == EINVAL
			       ? (errno = EFAULT, -1)
			       : (errno == EFAULT ? -1 : 0));
		FAULTS(ioctl(fd, 0xc0181b01, bad[i]));
	}
	close(fd);
}

static void working_directory_gives_efault(void **state)
{
	char here[PATH_MAX];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(LINK), 0);
	for (size_t i = 0; i < 3; i++) {
		errno = 0;
		assert_null(getcwd(bad[i], 4096));
		assert_int_equal(errno, EFAULT);
	}
	assert_int_equal(chdir(here), 0);
}

/* A path of the greatest length that the kernel takes, and one byte longer. */
static void long_paths(void **state)
{
	static char p[PATH_MAX + 2];
	struct stat st;

	memset(p, '/', sizeof(p));
	memcpy(p + PATH_MAX - 1 - strlen(VERBS), VERBS, strlen(VERBS) + 1);
	assert_int_equal(stat(p, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	memset(p, '/', sizeof(p));
	memcpy(p + PATH_MAX - strlen(VERBS), VERBS, strlen(VERBS) + 1);
	assert_int_equal(stat(p, &st), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(open(p, O_RDONLY), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

/*
 * The first call of a wrapper looks up its next definition; this must not clear a pending dlerror()
 * of the program.
 */
static void dlerror_survives(void **state)
{
	char *e;

	assert_null(dlopen("/nonexistent/lib.so", RTLD_NOW));
	assert_int_equal(vmsplice(-1, NULL, 0, 0), -1);
	assert_int_equal(pathconf("/", _PC_NAME_MAX), 255);
	e = dlerror();
	assert_non_null(e);
	assert_non_null(strstr(e, "nonexistent"));
}

static void errno_is_zero_at_main(void **state)
{
	assert_int_equal(at_main, 0);
}

static void addresses_give_efault(void **state)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAULTS(connect(fd, (void *)bad[i], 16));
	close(fd);
}

/* It lets itself be killed at a call that it never makes. Before it opens a device. */
static void connect_of_a_sandboxed_program(void **state)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};
	const struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/nonexistent"};
	int pid = fork(), status;

	if (!pid) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
			_exit(1);
		_exit(connect(fd, (const void *)&a, sizeof(a)) == -1 && errno == ENOENT ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_give_efault),
		cmocka_unit_test(connect_of_a_sandboxed_program),
		cmocka_unit_test(paths_give_efault),
		cmocka_unit_test(results_give_efault),
		cmocka_unit_test(device_calls_give_efault),
		cmocka_unit_test(working_directory_gives_efault),
		cmocka_unit_test(long_paths),
		cmocka_unit_test(dlerror_survives),
		cmocka_unit_test(errno_is_zero_at_main),
	};

	at_main = errno;
	return cmocka_run_group_tests(tests, make_bad, NULL);
}
