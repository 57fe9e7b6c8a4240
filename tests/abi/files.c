/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable files of the device, by raw system calls: several async event files of one context;
 * short, non-blocking and late reads; the event count of a destroyed object; event files whose
 * device file is closed. In the kernel: ib_uverbs_event_read in uverbs_main.c, the destroy methods,
 * uverbs_std_types_async_fd.c, devx_async_event_read in devx.c.
 */
#include "abi.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHER_ASYNC = 208, COOKIE = 0x5151 };

static unsigned int done, failed;

static void check(const char *what, long want, long got)
{
	done++;
	if (got == want)
		return;
	failed++;
	printf("FAILED %s: %ld, not %ld\n", what, got, want);
}

/* ---- calls */

static int srq_create(void)
{
	const struct mlx5_ib_create_srq uhw = {.buf_addr = MEM + 0x6000, .db_addr = DBR + 256};
	const struct ioctl_row r = {
		.object = UVERBS_OBJECT_SRQ,
		.method = UVERBS_METHOD_SRQ_CREATE,
		.nattr = 12,
		.attr = {{.id = UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, .len = 8, .data = COOKIE},
			 {.id = UVERBS_ATTR_CREATE_SRQ_HANDLE},
			 {.id = UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, .data = PD},
			 {.id = UVERBS_ATTR_CREATE_SRQ_MAX_WR, .len = 4, .data = 15},
			 {.id = UVERBS_ATTR_CREATE_SRQ_MAX_SGE, .len = 4, .data = 1},
			 {.id = UVERBS_ATTR_CREATE_SRQ_LIMIT, .len = 4},
			 {.id = UVERBS_ATTR_CREATE_SRQ_TYPE,
			  .len = 8,
			  .data = IB_UVERBS_SRQT_BASIC},
			 {.id = UVERBS_ATTR_CREATE_SRQ_EVENT_FD, .data = OTHER_ASYNC},
			 {.id = UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, .len = 4, .data = OUT},
			 {.id = UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, .len = 4, .data = OUT + 8},
			 {.id = UVERBS_ATTR_UHW_IN, .len = sizeof(uhw), .in = &uhw},
			 {.id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = OUT + 32}},
	};

	return world_ioctl(&r);
}

/* An empty SRQ is below every limit: the event comes at once. */
static int srq_limit(void)
{
	const struct ib_uverbs_modify_srq cmd = {
		.srq_handle = NEXT, .attr_mask = 2 /* IB_SRQ_LIMIT */, .srq_limit = 3};
	const struct ioctl_row r = {
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_INVOKE_WRITE,
		.attr = {{.id = UVERBS_ATTR_CORE_IN, .len = sizeof(cmd), .in = &cmd},
			 {.id = UVERBS_ATTR_WRITE_CMD,
			  .len = 8,
			  .data = IB_USER_VERBS_CMD_MODIFY_SRQ}},
	};

	return world_ioctl(&r);
}

/* Destroy the SRQ; returns the number of its events, or -errno. */
static int srq_destroy(void)
{
	const struct ioctl_row r = {
		.object = UVERBS_OBJECT_SRQ,
		.method = UVERBS_METHOD_SRQ_DESTROY,
		.nattr = 2,
		.attr = {{.id = UVERBS_ATTR_DESTROY_SRQ_HANDLE, .data = NEXT},
			 {.id = UVERBS_ATTR_DESTROY_SRQ_RESP, .len = 4, .data = OUT}},
	};
	int ret = world_ioctl(&r);

	return ret ? -ret : *(int *)(uintptr_t)OUT;
}

/* ---- reading */

static bool ready(int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timeval now = {0};
	int ep = epoll_create1(0);
	bool by_poll, by_select, by_epoll;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	by_poll = poll(&p, 1, 0) == 1;
	by_select = select(fd + 1, &set, NULL, NULL, &now) == 1;
	by_epoll = epoll_wait(ep, &ev, 1, 0) == 1;
	close(ep);
	check("poll, select and epoll agree", 1, by_poll == by_select && by_poll == by_epoll);
	return by_poll;
}

static void nonblocking(int fd, bool on)
{
	fcntl(fd, F_SETFL, on ? O_NONBLOCK : 0);
}

/* The result of reading `n` bytes, -errno. */
static long get(int fd, void *buf, size_t n)
{
	ssize_t r = read(fd, buf, n);

	return r < 0 ? -errno : r;
}

/* Expect that the next event has this type; allows for a slow subnet manager. */
static void expect(const char *what, int fd, unsigned int type, uint64_t element)
{
	struct ib_uverbs_async_event_desc d = {0};
	struct pollfd p = {.fd = fd, .events = POLLIN};

	poll(&p, 1, 60000);
	check(what, sizeof(d), get(fd, &d, sizeof(d)));
	check(what, type, d.event_type);
	check(what, (long)element, (long)d.element);
}

/* ---- the tests */

static void objects_tell_their_own_file(void)
{
	struct ib_uverbs_async_event_desc d[2];

	check("SRQ with a file of its own", 0, srq_create());
	check("nothing yet", false, ready(OTHER_ASYNC));
	check("nothing yet", -EAGAIN, get(OTHER_ASYNC, d, sizeof(d)));
	check("limit", 0, srq_limit());
	check("an event is there", true, ready(OTHER_ASYNC));
	check("not in the other file", false, ready(ASYNC));
	check("short read", -EINVAL, get(OTHER_ASYNC, d, sizeof(d[0]) - 1));
	check("read of nothing", -EINVAL, get(OTHER_ASYNC, d, 0));
	check("still there", true, ready(OTHER_ASYNC));
	check("limit again", 0, srq_limit());
	/* one event for each read, however large the buffer */
	check("read of two", sizeof(d[0]), get(OTHER_ASYNC, d, sizeof(d)));
	check("type", 15 /* IB_EVENT_SRQ_LIMIT_REACHED */, d[0].event_type);
	check("element", COOKIE, (long)d[0].element);
	check("another one is there", true, ready(OTHER_ASYNC));
	expect("the second", OTHER_ASYNC, 15, COOKIE);
	check("limit, unread", 0, srq_limit());
	check("destroyed: what was read counts", 2, srq_destroy());
	check("what was unread went with it", false, ready(OTHER_ASYNC));
	check("what was unread went with it", -EAGAIN, get(OTHER_ASYNC, d, sizeof(d)));
	check("SRQ", 0, srq_create());
	check("limit, into a bad address", 0, srq_limit());
	check("lost with the read", -EFAULT, get(OTHER_ASYNC, (void *)(uintptr_t)NOWHERE, 16));
	check("lost with the read", -EAGAIN, get(OTHER_ASYNC, d, sizeof(d)));
	check("but counted", 1, srq_destroy());
}

static void link_is(const char *state)
{
	char cmd[4096];

	snprintf(cmd, sizeof(cmd), "'%s' link mlx5_0 1 %s", getenv("SOFTHCA_PROGRAM"), state);
	check(cmd, 0, system(cmd));
}

/*
 * A port goes to INIT, which mlx5 also reports as an error, and a subnet manager makes it ACTIVE.
 */
static void expect_up(int fd)
{
	expect("port initialized", fd, 10 /* IB_EVENT_PORT_ERR */, 1);
	expect("port active", fd, 9 /* IB_EVENT_PORT_ACTIVE */, 1);
}

static void ports_tell_every_file(void)
{
	link_is("down");
	link_is("up");
	for (int i = 0; i < 2; i++) {
		int fd = i ? OTHER_ASYNC : ASYNC;

		expect("port error", fd, 10, 1);
		expect_up(fd);
		check("no more", false, ready(fd));
	}
}

/* Another program inherits the descriptors: event files survive exec like others. */
static int as_heir(void)
{
	uint8_t buf[16];

	check("inherited event", true, ready(ASYNC));
	check("inherited, short", -EINVAL, get(ASYNC, buf, 15));
	expect("inherited event", ASYNC, 10, 1);
	check("inherited, no more", -EAGAIN, get(ASYNC, buf, sizeof(buf)));
	check("inherited DEVX events", -EAGAIN, get(EVENT_FILE, buf, sizeof(buf)));
	return failed != 0;
}

static void another_program_reads(void)
{
	uint8_t buf[16];
	int status;

	link_is("down");
	if (!fork()) {
		execl("/proc/self/exe", "files", "heir", NULL);
		_exit(127);
	}
	check("the heir", 1, wait(&status) > 0);
	check("the heir", 0, status);
	check("it has read the event", -EAGAIN, get(ASYNC, buf, sizeof(buf)));
	link_is("up");
	expect_up(ASYNC);
	expect("port error", OTHER_ASYNC, 10, 1);
	expect_up(OTHER_ASYNC);
}

/* The device file is closed, its event files are still open. */
static void what_is_left(void)
{
	uint8_t buf[128];

	link_is("down");
	close(world_fd(CTX));
	link_is("up");
	expect("an event of before", ASYNC, 10, 1);
	check("none of after", -EAGAIN, get(ASYNC, buf, sizeof(buf)));
	check("not closed: more might come", false, ready(ASYNC));
	check("completion channel", -EIO, get(CHANNEL, buf, sizeof(buf)));
	check("completion channel", true, ready(CHANNEL));
	check("DEVX results", -EAGAIN, get(RESULTS, buf, sizeof(buf)));
	check("DEVX events", -EAGAIN, get(EVENT_FILE, buf, sizeof(buf)));
	check("DEVX events", true, ready(EVENT_FILE));
	nonblocking(RESULTS, false);
	nonblocking(EVENT_FILE, false);
	check("DEVX results, late", -EIO, get(RESULTS, buf, sizeof(buf)));
	check("DEVX events, late", -EIO, get(EVENT_FILE, buf, sizeof(buf)));
}

static void other_async_file(void)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} c = {.hdr = {.length = sizeof(c),
		       .object_id = UVERBS_OBJECT_ASYNC_EVENT,
		       .method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
		       .num_attrs = 1,
		       .driver_id = driver_is_rxe() ? RDMA_DRIVER_RXE : RDMA_DRIVER_MLX5},
	       .attr = {.attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
			.flags = UVERBS_ATTR_F_MANDATORY}};

	check("second async event file", 0, ioctl(world_fd(CTX), RDMA_VERBS_IOCTL, &c));
	check("second async event file", OTHER_ASYNC, dup2((int)c.attr.data, OTHER_ASYNC));
	close((int)c.attr.data);
}

/* ---- print: what each call on each file gives, for a comparison with a kernel */

static void print_result(const char *file, const char *when, const char *call, long r)
{
	printf("%s, %s: %s\t", file, when, call);
	if (r < 0)
		printf("%s\n", strerrorname_np(errno));
	else
		printf("%ld\n", r);
}

static void print_ready(const char *file, const char *when, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT};
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDNORM | POLLPRI | POLLRDHUP};
	int ep = epoll_create1(EPOLL_CLOEXEC);

	print_result(file, when, "poll", poll(&p, 1, 0) < 0 ? -1 : p.revents);
	p.events = POLLIN;
	print_result(file, when, "poll for input", poll(&p, 1, 0) < 0 ? -1 : p.revents);
	print_result(file, when, "epoll_ctl", epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	print_result(file, when, "epoll_wait", epoll_wait(ep, &ev, 1, 0) == 1 ? ev.events : 0);
	close(ep);
}

static void print_calls(const char *file, const char *when, int fd)
{
	uint64_t b[16] = {0};
	struct stat st;

	print_ready(file, when, fd);
	for (size_t n = 0; n <= 16; n += n < 7 || n > 14 ? 1 : 8) {
		char call[32];

		snprintf(call, sizeof(call), "read %zu bytes", n);
		print_result(file, when, call, read(fd, b, n));
	}
	print_result(file, when, "read to nowhere", read(fd, (void *)(uintptr_t)NOWHERE, 64));
	print_result(file, when, "write", write(fd, b, 8));
	print_result(file, when, "write nothing", write(fd, b, 0));
	print_result(file, when, "write a command", write(fd, b, 64));
	print_result(file, when, "pread", pread(fd, b, 16, 0));
	print_result(file, when, "pwrite", pwrite(fd, b, 16, 0));
	print_result(file, when, "lseek", lseek(fd, 0, SEEK_SET));
	print_result(file, when, "mmap",
		     mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1 << 30) == MAP_FAILED ? -1 : 0);
	print_result(file, when, "ftruncate", ftruncate(fd, 0));
	print_result(file, when, "fsync", fsync(fd));
	print_result(file, when, "FIONREAD", ioctl(fd, FIONREAD, b));
	print_result(file, when, "RDMA_VERBS_IOCTL", ioctl(fd, RDMA_VERBS_IOCTL, b));
	print_result(file, when, "flags",
		     fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK | O_APPEND | O_DIRECT));
	print_result(file, when, "descriptor flags", fcntl(fd, F_GETFD));
	print_result(file, when, "file type", fstat(fd, &st) ? -1 : (long)(st.st_mode & S_IFMT));
}

static int print_all(void)
{
	static const struct {
		const char *name;
		int fd;
	} files[] = {{"completion channel", CHANNEL},
		     {"async file", ASYNC},
		     {"second async file", OTHER_ASYNC}};

	world_make();
	other_async_file();
	for (int i = 0; i < 3; i++)
		nonblocking(files[i].fd, true);
	print_calls("command file", "open", world_fd(CTX));
	for (int i = 0; i < 3; i++)
		print_calls(files[i].name, "open", files[i].fd);
	close(world_fd(CTX));
	for (int i = 0; i < 3; i++)
		print_calls(files[i].name, "device closed", files[i].fd);
	return 0;
}

/*
 * files: run the tests; files heir: the program after exec; files print [rxe]: print the answers,
 * on rxe or not
 */
int main(int argc, char **argv)
{
	static const int fds[] = {CHANNEL, ASYNC, OTHER_ASYNC, RESULTS, EVENT_FILE};

	alarm(600);
	if (argc > 2)
		driver_use_rxe();
	if (argc > 1)
		return strcmp(argv[1], "print") ? as_heir() : print_all();
	world_make();
	other_async_file();
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		nonblocking(fds[i], true);
	objects_tell_their_own_file();
	if (getenv("SOFTHCA_PROGRAM")) {
		ports_tell_every_file();
		another_program_reads();
		what_is_left();
	}
	printf("%u checks, %u failed\n", done, failed);
	return failed != 0;
}
