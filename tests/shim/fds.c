/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Descriptors of the device under `softhca run`: results of every call that takes one, and the
 * shim's table follows dup, close and their relatives. Functions are found by name, as in forms.c.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <cmocka.h>

#define VERBS "/dev/infiniband/uverbs0"

static void *fn(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);

	if (!p)
		fail_msg("no function %s", name);
	return p;
}
#define FN(type, name) ((type)fn(name))

#define assert_fails(call, err)                                                          \
	do {                                                                             \
		errno = 0;                                                               \
		if ((long)(call) != -1 || errno != (err))                                \
			fail_msg("%s: expected %s, got %s", #call, strerrorname_np(err), \
				 errno ? strerrorname_np(errno) : "success");            \
	} while (0)

static struct ibv_context *ctx;
static struct ibv_comp_channel *chan;

static int open_device(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	chan = ctx ? ibv_create_comp_channel(ctx) : NULL;
	ibv_free_device_list(list);
	return chan ? 0 : -1;
}

static int close_device(void **state)
{
	ibv_destroy_comp_channel(chan);
	return ibv_close_device(ctx);
}

/* Is this descriptor a command file that answers? A header of length 0 is EINVAL to uverbs; a memfd
 * or a closed file says ENOTTY or EBADF. */
static bool answers(int fd)
{
	struct ib_uverbs_ioctl_hdr h = {0};

	errno = 0;
	return ioctl(fd, RDMA_VERBS_IOCTL, &h) == -1 && errno == EINVAL;
}

static bool is_node(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(231, 192);
}

static void fstat_forms(void **state)
{
	static const char *const name[] = {"fstat", "fstat64"}, *const old[] = {"__fxstat",
										"__fxstat64"};
	struct stat st;
	struct statx x;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(FN(int (*)(int, void *), name[i])(ctx->cmd_fd, &st), 0);
		assert_int_equal(st.st_mode, S_IFCHR | 0666);
		assert_int_equal(st.st_rdev, makedev(231, 192));
		memset(&st, 0, sizeof(st));
		assert_int_equal(FN(int (*)(int, int, void *), old[i])(1, ctx->cmd_fd, &st), 0);
		assert_int_equal(st.st_rdev, makedev(231, 192));
	}
	assert_int_equal(fstatat(ctx->cmd_fd, "", &st, AT_EMPTY_PATH), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(statx(ctx->cmd_fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x), 0);
	assert_int_equal(x.stx_rdev_minor, 192);
	assert_int_equal(fstat(ctx->async_fd, &st), 0);
	assert_false(S_ISCHR(st.st_mode));
}

static void proc_shows_the_device(void **state)
{
	char path[32], to[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ctx->cmd_fd);
	n = readlink(path, to, sizeof(to));
	assert_int_equal(n, strlen(VERBS));
	assert_memory_equal(to, VERBS, n);
}

static void expect_link(int fd, const char *want)
{
	char path[64], to[128], *real;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, to, sizeof(to));
	assert_int_equal(n, strlen(want));
	assert_memory_equal(to, want, n);
	/* with room for a part of it; by a directory's descriptor; of another process's table */
	assert_int_equal(readlink(path, to, 5), 5);
	assert_memory_equal(to, want, 5);
	snprintf(path, sizeof(path), "%d", fd);
	assert_int_equal(readlinkat(open("/proc/self/fd", O_PATH), path, to, sizeof(to)), n);
	assert_memory_equal(to, want, n);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	assert_int_equal(readlink(path, to, sizeof(to)), n);
	assert_memory_equal(to, want, n);
	real = realpath(path, NULL);
	if (want[0] == '/') {
		assert_non_null(real);
		assert_string_equal(real, want);
		free(real);
		return;
	}
	/* libc resolves an anonymous inode's name like any other link's */
	assert_null(real);
	assert_int_equal(errno, ENOENT);
	real = malloc(PATH_MAX);
	assert_null(realpath(path, real));
	snprintf(to, sizeof(to), "/proc/%d/fd/%s", getpid(), want);
	assert_string_equal(real, to);
	free(real);
}

/*
 * UVERBS_TYPE_ALLOC_FD() of the kernel's uverbs_std_types_async_fd.c, uverbs_std_types.c and mlx5's
 * devx.c. UCX's tests look for files that a test has left open by these names.
 */
static void proc_shows_what_files_are(void **state)
{
	void *mlx5 = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_GLOBAL);
	struct mlx5dv_devx_cmd_comp *cmd =
		FN(struct mlx5dv_devx_cmd_comp * (*)(void *), "mlx5dv_devx_create_cmd_comp")(ctx);
	struct mlx5dv_devx_event_channel *ev =
		FN(struct mlx5dv_devx_event_channel * (*)(void *, int),
		   "mlx5dv_devx_create_event_channel")(ctx, 0);
	int umad = open("/dev/infiniband/umad0", O_RDWR);
	int issm = open("/dev/infiniband/issm0", O_RDWR);
	int cm = open("/dev/infiniband/rdma_cm", O_RDWR);

	expect_link(ctx->cmd_fd, VERBS);
	expect_link(ctx->async_fd, "anon_inode:[infinibandevent]");
	expect_link(chan->fd, "anon_inode:[infinibandevent]");
	expect_link(cmd->fd, "anon_inode:[devx_async_cmd]");
	expect_link(ev->fd, "anon_inode:[devx_async_event]");
	expect_link(umad, "/dev/infiniband/umad0");
	expect_link(issm, "/dev/infiniband/issm0");
	expect_link(cm, "/dev/infiniband/rdma_cm");
	close(umad);
	close(issm);
	close(cm);
	FN(void (*)(void *), "mlx5dv_devx_destroy_cmd_comp")(cmd);
	FN(void (*)(void *), "mlx5dv_devx_destroy_event_channel")(ev);
	dlclose(mlx5);
}

static void flags_are_those_of_the_open(void **state)
{
	static const int mode[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_NONBLOCK};
	struct pollfd p = {.events = POLLIN | POLLOUT};
	int fd;

	for (int i = 0; i < 4; i++) {
		fd = open(VERBS, mode[i]);
		assert_true(fd >= 0);
		assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), mode[i]);
		assert_int_equal(fcntl(fd, F_GETFD), 0);
		close(fd);
	}
	fd = open(VERBS, O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	p.fd = fd;
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLIN | POLLOUT);
	assert_fails(epoll_ctl(epoll_create1(EPOLL_CLOEXEC), EPOLL_CTL_ADD, fd,
			       &(struct epoll_event){0}),
		     EPERM);
	close(fd);
	assert_fails(open(VERBS, O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
	assert_fails(open(VERBS, O_RDWR | O_DIRECTORY), ENOTDIR);
	assert_fails(open("/dev/infiniband/issm1", O_RDONLY), ENOENT);
	assert_fails(open("/dev/infiniband/uverbs1", O_RDWR), ENOENT);
	fd = open("/dev/char/231:192", O_RDWR);
	assert_true(fd >= 0 && answers(fd));
	close(fd);
}

/* The lowest free number is taken, as in open(2). */
static void numbers_are_the_lowest(void **state)
{
	int a = open("/dev/null", O_RDONLY), fd;

	close(a);
	fd = open(VERBS, O_RDWR);
	assert_int_equal(fd, a);
	close(fd);
}

static void command_file_reads_and_writes(void **state)
{
	char buf[64] = {0};
	struct iovec v[2] = {{buf, 8}, {buf, 8}};
	int fd = ctx->cmd_fd, other = open("/dev/zero", O_RDWR), pipes[2];
	ssize_t (*read_chk)(int, void *, size_t, size_t) = fn("__read_chk");

	assert_int_equal(pipe(pipes), 0);
	assert_fails(read(fd, buf, 8), EINVAL);
	assert_fails(readv(fd, v, 2), EINVAL);
	assert_fails(read_chk(fd, buf, 8, 64), EINVAL);
	assert_fails(write(fd, buf, 8), EINVAL); /* an invalid command */
	assert_fails(writev(fd, v, 2), EINVAL);
	assert_fails(syscall(SYS_write, fd, buf, 8), EINVAL);
	assert_fails(syscall(SYS_read, fd, buf, 8), EINVAL);
	assert_fails(lseek(fd, 0, SEEK_SET), ESPIPE);
	assert_fails(lseek64(fd, 0, SEEK_SET), ESPIPE);
	assert_fails(pread(fd, buf, 8, 0), ESPIPE);
	assert_fails(pread64(fd, buf, 8, 0), ESPIPE);
	assert_fails(FN(ssize_t(*)(int, void *, size_t, off_t, size_t), "__pread_chk")(fd, buf, 8,
										       0, 64),
		     ESPIPE);
	assert_fails(FN(ssize_t(*)(int, void *, size_t, off_t, size_t), "__pread64_chk")(fd, buf, 8,
											 0, 64),
		     ESPIPE);
	assert_fails(preadv(fd, v, 2, 0), ESPIPE);
	assert_fails(preadv64(fd, v, 2, 0), ESPIPE);
	assert_fails(preadv2(fd, v, 2, 0, 0), ESPIPE);
	assert_fails(preadv2(fd, v, 2, -1, 0), EINVAL);
	assert_fails(preadv64v2(fd, v, 2, -1, RWF_NOWAIT), EOPNOTSUPP);
	assert_fails(pwrite(fd, buf, 8, 0), ESPIPE);
	assert_fails(pwrite64(fd, buf, 8, 0), ESPIPE);
	assert_fails(pwritev(fd, v, 2, 0), ESPIPE);
	assert_fails(pwritev64(fd, v, 2, 0), ESPIPE);
	assert_fails(pwritev2(fd, v, 2, -1, 0), EINVAL);
	assert_fails(pwritev64v2(fd, v, 2, 0, 0), ESPIPE);
	assert_fails(sendfile(fd, other, NULL, 8), EINVAL);
	assert_fails(sendfile64(other, fd, NULL, 8), EINVAL);
	assert_fails(splice(pipes[0], NULL, fd, NULL, 8, 0), EINVAL);
	assert_fails(tee(chan->fd, pipes[1], 8, 0), EINVAL);
	assert_fails(vmsplice(chan->fd, v, 1, 0), EINVAL);
	assert_fails(copy_file_range(fd, NULL, other, NULL, 8, 0), EINVAL);
	assert_fails(flock(fd, LOCK_EX), ENOLCK);
	assert_int_equal(write(other, buf, 8), 8); /* and foreign descriptors still work */
	close(other);
	close(pipes[0]);
	close(pipes[1]);
}

static void opened_for_reading_only(void **state)
{
	int fd = open(VERBS, O_RDONLY);
	char buf[8] = {0};

	assert_fails(write(fd, buf, 8), EBADF);
	assert_true(answers(fd));
	assert_true(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	assert_int_equal(errno, EACCES);
	close(fd);
}

static void opened_for_writing_only(void **state)
{
	int fd = open(VERBS, O_WRONLY);
	char buf[8];

	assert_fails(read(fd, buf, 8), EBADF);
	assert_true(answers(fd));
	close(fd);
}

static void generic_ioctls_reach_the_kernel(void **state)
{
	int fd = open(VERBS, O_RDWR), on = 1;

	assert_int_equal(ioctl(fd, FIONBIO, &on), 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(ioctl(fd, FIOCLEX), 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_fails(ioctl(fd, TIOCGWINSZ, &on), ENOTTY);
	assert_fails(ioctl(chan->fd, RDMA_VERBS_IOCTL, &on), ENOTTY);
	assert_fails(ioctl(chan->fd, FIONREAD, &on), ENOTTY);
	assert_true(syscall(SYS_ioctl, fd, RDMA_VERBS_IOCTL, &(struct ib_uverbs_ioctl_hdr){0}) ==
		    -1);
	assert_int_equal(errno, EINVAL);
	close(fd);
}

static void event_file_reads(void **state)
{
	static const char *const chk[] = {"__read_chk"};
	char buf[64];
	struct iovec v = {buf, sizeof(buf)};
	int fl = fcntl(chan->fd, F_GETFL);

	assert_int_equal(fl & (O_ACCMODE | O_NONBLOCK), O_RDONLY);
	assert_int_equal(fcntl(chan->fd, F_SETFL, fl | O_NONBLOCK), 0);
	assert_fails(read(chan->fd, buf, sizeof(buf)), EAGAIN);
	assert_fails(readv(chan->fd, &v, 1), EAGAIN);
	assert_fails(preadv2(chan->fd, &v, 1, -1, 0), EAGAIN);
	assert_fails(FN(ssize_t(*)(int, void *, size_t, size_t), chk[0])(chan->fd, buf, 64, 64),
		     EAGAIN);
	assert_fails(write(chan->fd, buf, 1), EBADF);
	assert_true(mmap(NULL, 4096, PROT_READ, MAP_SHARED, chan->fd, 0) == MAP_FAILED);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(fcntl(chan->fd, F_SETFL, fl), 0);
}

/* ---- the table follows the kernel's ---- */

static void duplicates(void **state)
{
	int fd = open(VERBS, O_RDWR), d[8], n = 0;

	d[n++] = dup(fd);
	d[n++] = dup2(fd, 100);
	d[n++] = dup3(fd, 101, O_CLOEXEC);
	d[n++] = fcntl(fd, F_DUPFD, 102);
	d[n++] = FN(int (*)(int, int, ...), "fcntl64")(fd, F_DUPFD_CLOEXEC, 103);
	d[n++] = (int)syscall(SYS_dup, fd);
	d[n++] = (int)syscall(SYS_dup2, fd, 110);
	d[n++] = (int)syscall(SYS_fcntl, fd, F_DUPFD, 111);
	close(fd);
	assert_fails(ioctl(fd, RDMA_VERBS_IOCTL, NULL), EBADF);
	for (int i = 0; i < n; i++) {
		assert_true(d[i] >= 0);
		assert_true(is_node(d[i]));
		assert_true(answers(d[i]));
		assert_int_equal(dup2(d[i], d[i]), d[i]);
	}
	for (int i = 0; i < n; i++) {
		assert_true(answers(d[i]));
		close(d[i]);
		assert_fails(fcntl(d[i], F_GETFD), EBADF);
	}
	/* The number belongs to another file now. */
	fd = open(VERBS, O_RDWR);
	n = open("/dev/null", O_RDWR);
	assert_int_equal(dup2(n, fd), fd);
	assert_false(is_node(fd));
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	close(n);
}

static void ranges(void **state)
{
	int fd = open(VERBS, O_RDWR), null = open("/dev/null", O_RDONLY);

	assert_int_equal(dup2(fd, 200), 200);
	assert_int_equal(dup2(null, 201), 201);
	assert_int_equal(dup2(fd, 202), 202);
	assert_int_equal(close_range(200, 201, 0), 0);
	assert_fails(fcntl(200, F_GETFD), EBADF);
	assert_fails(fcntl(201, F_GETFD), EBADF);
	assert_true(answers(202));
	assert_int_equal(syscall(SYS_close_range, 202, 300, 0), 0);
	assert_fails(fcntl(202, F_GETFD), EBADF);
	assert_fails(close_range(5, 4, 0), EINVAL);
	assert_int_equal(dup2(null, 201), 201);
	closefrom(200);
	assert_fails(fcntl(201, F_GETFD), EBADF);
	/* The program cannot close the library's own descriptors. */
	assert_true(answers(fd));
	close(fd);
	fd = open(VERBS, O_RDWR);
	assert_true(answers(fd));
	close(fd);
	close(null);
}

static void own_descriptors_are_hidden(void **state)
{
	struct dirent *e;
	int found = 0;
	DIR *d = opendir("/proc/self/fd");

	while ((e = readdir(d))) {
		int fd = atoi(e->d_name);
		char path[64], to[256] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (e->d_name[0] == '.' || readlink(path, to, sizeof(to) - 1) < 0 ||
		    strncmp(to, "/memfd:softhca-segment", 22))
			continue;
		found++;
		assert_fails(close(fd), EBADF);
		assert_fails(syscall(SYS_close, fd), EBADF);
		assert_fails(dup(fd), EBADF);
		assert_fails(fcntl(fd, F_DUPFD, 0), EBADF);
		assert_fails(dup2(0, fd), EBUSY);
		assert_fails(ioctl(fd, RDMA_VERBS_IOCTL, NULL), EBADF);
		assert_int_equal(readlink(path, to, sizeof(to)) > 0, 1);
	}
	assert_true(found > 0);
	closedir(d);
}

static void streams(void **state)
{
	static const char *const open_name[] = {"fopen", "fopen64"};
	int fd;

	for (int i = 0; i < 2; i++) {
		FILE *f = FN(FILE * (*)(const char *, const char *), open_name[i])(VERBS, "r+");

		assert_non_null(f);
		fd = fileno(f);
		assert_true(answers(fd));
		fclose(f);
		assert_fails(fcntl(fd, F_GETFD), EBADF);
		/* The entry is removed, too: the number can be reused. */
		assert_int_equal(open("/dev/null", O_RDONLY), fd);
		assert_fails(ioctl(fd, RDMA_VERBS_IOCTL, NULL), ENOTTY);
		close(fd);
	}
}

/* A descriptor received by SCM_RIGHTS from this process is the same open file. */
static void passed_to_ourselves(void **state)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room};
	struct mmsghdr mm = {.msg_hdr = m};
	struct cmsghdr *c;
	int s[2], fd, got;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	for (int i = 0; i < 2; i++) {
		fd = open(VERBS, O_RDWR);
		m.msg_controllen = sizeof(room);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		assert_int_equal(sendmsg(s[0], &m, 0), 1);
		close(fd);
		m.msg_controllen = sizeof(room);
		mm.msg_hdr = m;
		if (i)
			assert_int_equal(recvmmsg(s[1], &mm, 1, 0, NULL), 1);
		else
			assert_int_equal(recvmsg(s[1], &m, 0), 1);
		memcpy(&got, CMSG_DATA(c), sizeof(got));
		assert_true(is_node(got));
		close(got);
	}
	close(s[0]);
	close(s[1]);
}

/* The kernel refuses a mapping that the shim does not see: an unwatched doorbell would be worse. */
static void unseen_mapping_fails(void **state)
{
	int fd = ctx->cmd_fd;
	long p, nr = SYS_mmap, prot = PROT_READ | PROT_WRITE;
	register long r10 __asm__("r10") = MAP_SHARED;
	register long r8 __asm__("r8") = fd;
	register long r9 __asm__("r9") = 0;

	__asm__ volatile("syscall"
			 : "=a"(p)
			 : "0"(nr), "D"(0L), "S"(4096L), "d"(prot), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	assert_int_equal(p, -EPERM);
}

/*
 * A doorbell page of the context, mapped by libmlx5: shared and without access, so that stores
 * trap.
 */
static void *doorbell_page(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to, found = 0;
	char prot[8], line[512];

	while (!found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, prot) == 3 && !strcmp(prot, "---s"))
			found = from;
	fclose(f);
	return (void *)found;
}

static void mapping_forms(void **state)
{
	static const char *const name[] = {"mmap", "mmap64"};
	void *(*f)(void *, size_t, int, int, int, off_t), *p;

	for (int i = 0; i < 2; i++) {
		f = fn(name[i]);
		p = f(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(p != MAP_FAILED);
		p = mremap(p, 4096, 8192, MREMAP_MAYMOVE);
		assert_true(p != MAP_FAILED);
		assert_int_equal(munmap(p, 8192), 0);
		p = f(NULL, 4096, PROT_READ, MAP_SHARED, ctx->cmd_fd, 4096 * 77);
		assert_true(p == MAP_FAILED);
		assert_int_equal(errno, EINVAL);
		assert_true(f(NULL, 4096, PROT_READ, MAP_SHARED, ctx->cmd_fd, 5) == MAP_FAILED);
		assert_int_equal(errno, EINVAL);
	}
	assert_fails(syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, ctx->cmd_fd, 4096 * 77),
		     EINVAL);
	/* No call can move a doorbell page. */
	p = doorbell_page();
	assert_non_null(p);
	assert_true(mremap(p, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED);
	assert_int_equal(errno, EFAULT);
	assert_fails(syscall(SYS_mremap, p, 4096, 8192, MREMAP_MAYMOVE, NULL), EFAULT);
	p = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	assert_int_equal(syscall(SYS_munmap, p, 4096), 0);
}

/* Opens, commands, dups and closes from several threads: entries and files stay consistent. */
static void *hammer(void *arg)
{
	for (int i = 0; i < 60; i++) {
		int fd = open(VERBS, O_RDWR), d = dup(fd);

		if (fd < 0 || d < 0 || !answers(fd) || close(fd) || !answers(d) || !is_node(d) ||
		    close(d))
			return (void *)1;
	}
	return NULL;
}

static void threads(void **state)
{
	pthread_t t[4];
	void *bad;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, hammer, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
}

/*
 * One thread sends commands while another closes: the result is an answer, EBADF, or (the number is
 * open again but not yet returned) ENOTTY; never a crash.
 */
static _Atomic int shared_fd = -1, stop;

static void *commander(void *arg)
{
	struct ib_uverbs_ioctl_hdr h = {0};

	while (!stop)
		if (ioctl(shared_fd, RDMA_VERBS_IOCTL, &h) != -1 ||
		    (errno != EINVAL && errno != EBADF && errno != ENOTTY))
			return (void *)1;
	return NULL;
}

static void close_under_a_command(void **state)
{
	pthread_t t[2];
	void *bad;

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, commander, NULL), 0);
	for (int i = 0; i < 200; i++) {
		shared_fd = open(VERBS, O_RDWR);
		assert_true(shared_fd >= 0);
		close(shared_fd);
	}
	stop = 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
}

static void errno_survives_success(void **state)
{
	int fd;

	errno = 4711;
	fd = open(VERBS, O_RDWR);
	close(dup(fd));
	close(fd);
	assert_int_equal(errno, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fstat_forms),
		cmocka_unit_test(proc_shows_the_device),
		cmocka_unit_test(proc_shows_what_files_are),
		cmocka_unit_test(flags_are_those_of_the_open),
		cmocka_unit_test(numbers_are_the_lowest),
		cmocka_unit_test(command_file_reads_and_writes),
		cmocka_unit_test(opened_for_reading_only),
		cmocka_unit_test(opened_for_writing_only),
		cmocka_unit_test(generic_ioctls_reach_the_kernel),
		cmocka_unit_test(event_file_reads),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(ranges),
		cmocka_unit_test(own_descriptors_are_hidden),
		cmocka_unit_test(streams),
		cmocka_unit_test(passed_to_ourselves),
		cmocka_unit_test(unseen_mapping_fails),
		cmocka_unit_test(mapping_forms),
		cmocka_unit_test(threads),
		cmocka_unit_test(close_under_a_command),
		cmocka_unit_test(errno_survives_success),
	};

	return cmocka_run_group_tests(tests, open_device, close_device);
}
