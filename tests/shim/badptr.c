/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every wrapper with a bad pointer in each argument, compared with what kernel and libc answer by
 * themselves. Run under `softhca run`: it starts itself without the library and with it, before and
 * after a device is opened, and compares the answers line by line.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <infiniband/verbs.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/netlink.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define CASE_S 20 /* a call that waits for ever ends so */

/* ---- bad pointers */

enum { LOW, NO_ACCESS, NOT_CANONICAL, TAIL, READ_ONLY, NBAD };
static const char *const bad_name[NBAD] = {"low", "no access", "not canonical", "tail",
					   "read-only"};
static char *bad[NBAD];

static void make_bad(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p + PAGE, PAGE, PROT_NONE);
	mprotect(p + 2 * PAGE, PAGE, PROT_READ);
	memcpy(p + PAGE - 4, "/dev", 4);
	bad[LOW] = (char *)16;
	bad[NO_ACCESS] = p + PAGE;
	bad[NOT_CANONICAL] = (char *)UINT64_C(0x8000000000001000);
	bad[TAIL] = p + PAGE - 4; /* four bytes can be used, no more */
	bad[READ_ONLY] = p + 2 * PAGE;
}

/* ---- what the calls get where nothing is wrong; made anew for each case */

enum { FILE_, FILE2, PIPE_R, PIPE_W, SOCK, INET, LISTENS, EPOLL, DIR_, INOTIFY, ROUTE, RDMA, NFDS };
static int fds[NFDS];
static FILE *stream, *std_in;
static pid_t self;

static char room[PAGE], slash[] = "/", null_dev[] = "/dev/null", mode[] = "r", attr[] = "user.x",
			program[] = "/bin/true", link_path[] = "/proc/self/exe", lo[] = "lo";
static struct stat st;
static struct statfs sfs;
static struct statvfs svfs;
static struct statx stx;
static int number = 0;
static struct dirent **list;
static glob_t globbed;
static struct flock lock = {.l_type = F_RDLCK};
static struct ifconf conf = {.ifc_len = sizeof(room), .ifc_buf = room};
static struct ifreq ifr = {.ifr_name = "lo"};
static struct iovec iov = {room, 4};
static struct msghdr msg;
static struct mmsghdr mmsg;
static char control[CMSG_SPACE(sizeof(int))];
static struct sockaddr_storage addr;
static struct sockaddr_in local = {.sin_family = AF_INET};
static socklen_t len = sizeof(addr);
static off_t offset, offset2;
static struct pollfd pfd;
static fd_set rd, wr, ex;
static struct timeval tv;
static struct timespec ts;
static struct epoll_event ev = {.events = EPOLLIN};
static struct epoll_event evs[1];
static char *argv_[] = {program, NULL}, *envp_[] = {NULL};
static char *trees[] = {slash, NULL};
static struct sigaction act, old_act;
static struct {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
} kact, old_kact;
static sigset_t set, old_set;
static struct {
	const sigset_t *mask;
	size_t size;
} pair = {&set, 8};
static stack_t stack = {.ss_flags = SS_DISABLE}, old_stack;
static pthread_attr_t attributes;
static posix_spawn_file_actions_t actions;
static struct ifaddrs *addresses;
static struct clone_args clone_args;
static struct nlmsghdr noop = {sizeof(noop), NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK, 1, 0};
static struct iovec nl_iov = {&noop, sizeof(noop)};
static struct sockaddr_nl nl_addr = {.nl_family = AF_NETLINK};
static struct msghdr nl_msg;
static struct mmsghdr nl_mmsg;
static bool with_library;

static void send_a_descriptor(int fd)
{
	struct msghdr m = {.msg_iov = &(struct iovec){"data", 4}, .msg_iovlen = 1};
	struct cmsghdr *c;
	int zero = 0;

	m.msg_control = control;
	m.msg_controllen = sizeof(control);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &zero, sizeof(int));
	if (sendmsg(fd, &m, 0) != 4)
		_exit(100);
}

/* A socket with an acknowledgement to read. */
static int netlink_socket(int protocol)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, protocol);

	nl_msg = (struct msghdr){.msg_name = &nl_addr,
				 .msg_namelen = sizeof(nl_addr),
				 .msg_iov = &nl_iov,
				 .msg_iovlen = 1};
	nl_mmsg.msg_hdr = nl_msg;
	if (fd < 0 || sendmsg(fd, &nl_msg, 0) != sizeof(noop))
		_exit(104);
	return fd;
}

static void make_sockets(void)
{
	int s[2], c;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s))
		_exit(101);
	send_a_descriptor(s[1]);
	fds[SOCK] = s[0];
	fds[INET] = socket(AF_INET, SOCK_DGRAM, 0);
	fds[LISTENS] = socket(AF_INET, SOCK_STREAM, 0);
	local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	local.sin_port = 0;
	c = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(fds[LISTENS], (void *)&local, sizeof(local)) || listen(fds[LISTENS], 1) ||
	    getsockname(fds[LISTENS], (void *)&addr, &len) ||
	    connect(c, (void *)&addr, sizeof(local)))
		_exit(102);
	len = sizeof(addr);
	fds[ROUTE] = netlink_socket(NETLINK_ROUTE);
	/* most machines have no other than ours; both follow af_netlink.c */
	fds[RDMA] = netlink_socket(with_library ? NETLINK_RDMA : NETLINK_ROUTE);
	mmsg.msg_hdr = msg = (struct msghdr){.msg_name = &addr,
					     .msg_namelen = sizeof(addr),
					     .msg_iov = &iov,
					     .msg_iovlen = 1,
					     .msg_control = control,
					     .msg_controllen = sizeof(control)};
}

static void make_fixture(void)
{
	int p[2];

	self = getpid();
	std_in = stdin;
	fds[FILE_] = memfd_create("a", 0);
	fds[FILE2] = memfd_create("b", 0);
	if (write(fds[FILE_], "hello, world", 12) != 12 || pipe(p) || write(p[1], "1234", 4) != 4)
		_exit(103);
	lseek(fds[FILE_], 0, SEEK_SET);
	fds[PIPE_R] = p[0];
	fds[PIPE_W] = p[1];
	fds[EPOLL] = epoll_create1(0);
	fds[DIR_] = open("/", O_RDONLY | O_DIRECTORY);
	fds[INOTIFY] = inotify_init();
	make_sockets();
	stream = fdopen(dup(fds[FILE_]), "r+");
	pfd = (struct pollfd){fds[PIPE_R], POLLIN, 0};
	FD_ZERO(&rd);
	FD_SET(fds[PIPE_R], &rd);
	((struct file_handle *)room)->handle_bytes = 128;
	pthread_attr_init(&attributes);
	posix_spawn_file_actions_init(&actions);
	kact.flags = 0x04000000; /* SA_RESTORER */
}

static int visit(const char *path, const struct stat *s, int flag, struct FTW *f)
{
	return 1;
}

static int visit_old(const char *path, const struct stat *s, int flag)
{
	return 1;
}

/* ---- the table */

enum kind { END, VALUE, DESCRIPTOR, POINTER, OPAQUE, WAITS, GLOBAL };
struct arg {
	enum kind kind;
	long v;
};
#define V(x)                     \
	{                        \
		VALUE, (long)(x) \
	}
#define F(x)                    \
	{                       \
		DESCRIPTOR, (x) \
	}
#define P(x)                       \
	{                          \
		POINTER, (long)(x) \
	} /* read or written by kernel or wrapper */
#define O(x)                      \
	{                         \
		OPAQUE, (long)(x) \
	} /* an object of libc: what is at hand there means nothing */
#define W(x)                     \
	{                        \
		WAITS, (long)(x) \
	} /* the call sleeps for ever if it can read this */
#define G(x)                       \
	{                          \
		GLOBAL, (long)&(x) \
	}

enum result { INT, LONG, PTR, FD };
struct row {
	const char *name; /* of the function; NULL: syscall(nr) */
	enum result result;
	long nr;
	struct arg arg[8];
	void **inner[3]; /* pointers inside of the structures */
};
#define C(name, result, ...)                    \
	{                                       \
		name, result, 0, {__VA_ARGS__}, \
		{                               \
			NULL                    \
		}                               \
	}
#define CI(...) CI_(__VA_ARGS__) /* the inner pointers are one macro's */
#define CI_(name, result, i0, i1, i2, ...)                          \
	{                                                           \
		name, result, 0, {__VA_ARGS__},                     \
		{                                                   \
			(void **)(i0), (void **)(i1), (void **)(i2) \
		}                                                   \
	}
#define S(nr, ...)                                   \
	{                                            \
		NULL, LONG, SYS_##nr, {__VA_ARGS__}, \
		{                                    \
			NULL                         \
		}                                    \
	}
#define SI(nr, ...) CI_RAW(SYS_##nr, __VA_ARGS__)
#define CI_RAW(nr, i0, i1, i2, ...)                                 \
	{                                                           \
		NULL, LONG, nr, {__VA_ARGS__},                      \
		{                                                   \
			(void **)(i0), (void **)(i1), (void **)(i2) \
		}                                                   \
	}

#define MSG_INNER &msg.msg_iov, &msg.msg_control, &msg.msg_name
#define MMSG_INNER &mmsg.msg_hdr.msg_iov, &mmsg.msg_hdr.msg_control, &mmsg.msg_hdr.msg_name
#define BOTH(name, ...) C(name, INT, __VA_ARGS__), C(name "64", INT, __VA_ARGS__)
#define BOTHL(name, ...) C(name, LONG, __VA_ARGS__), C(name "64", LONG, __VA_ARGS__)

#define NL_INNER &nl_msg.msg_iov, &nl_iov.iov_base, &nl_msg.msg_name
#define NL_MINNER &nl_mmsg.msg_hdr.msg_iov, &nl_iov.iov_base, &nl_mmsg.msg_hdr.msg_name
#define NETLINK_ROWS(fd)                                                                           \
	CI("recvmsg", LONG, MSG_INNER, F(fd), P(&msg), V(MSG_DONTWAIT)),                           \
		CI("recvmmsg", INT, MMSG_INNER, F(fd), P(&mmsg), V(1), V(MSG_DONTWAIT), P(&ts)),   \
		C("recvfrom", LONG, F(fd), P(room), V(4), V(MSG_DONTWAIT), P(&addr), P(&len)),     \
		C("recv", LONG, F(fd), P(room), V(4), V(MSG_DONTWAIT)),                            \
		C("read", LONG, F(fd), P(room), V(4)),                                             \
		CI("readv", LONG, &iov.iov_base, NULL, NULL, F(fd), P(&iov), V(1)),                \
		CI("sendmsg", LONG, NL_INNER, F(fd), P(&nl_msg), V(0)),                            \
		CI("sendmmsg", INT, NL_MINNER, F(fd), P(&nl_mmsg), V(1), V(0)),                    \
		C("sendto", LONG, F(fd), P(&noop), V(sizeof(noop)), V(0), P(&nl_addr),             \
		  V(sizeof(nl_addr))),                                                             \
		C("send", LONG, F(fd), P(&noop), V(sizeof(noop)), V(0)),                           \
		C("write", LONG, F(fd), P(&noop), V(sizeof(noop))),                                \
		CI("writev", LONG, &nl_iov.iov_base, NULL, NULL, F(fd), P(&nl_iov), V(1)),         \
		C("bind", INT, F(fd), P(&nl_addr), V(sizeof(nl_addr))),                            \
		C("connect", INT, F(fd), P(&nl_addr), V(sizeof(nl_addr))),                         \
		C("getsockname", INT, F(fd), P(&addr), P(&len)),                                   \
		C("getsockopt", INT, F(fd), V(SOL_SOCKET), V(SO_TYPE), P(&number), P(&len)),       \
		C("getsockopt", INT, F(fd), V(SOL_NETLINK), V(NETLINK_EXT_ACK), P(&number),        \
		  P(&len)),                                                                        \
		C("setsockopt", INT, F(fd), V(SOL_NETLINK), V(NETLINK_EXT_ACK), P(&number), V(4)), \
		SI(recvmsg, MSG_INNER, F(fd), P(&msg), V(MSG_DONTWAIT)),                           \
		SI(recvmmsg, MMSG_INNER, F(fd), P(&mmsg), V(1), V(MSG_DONTWAIT), P(&ts)),          \
		S(recvfrom, F(fd), P(room), V(4), V(MSG_DONTWAIT), P(&addr), P(&len)),             \
		SI(sendmsg, NL_INNER, F(fd), P(&nl_msg), V(0)),                                    \
		SI(sendmmsg, NL_MINNER, F(fd), P(&nl_mmsg), V(1), V(0)),                           \
		S(sendto, F(fd), P(&noop), V(sizeof(noop)), V(0), P(&nl_addr),                     \
		  V(sizeof(nl_addr))),                                                             \
		S(bind, F(fd), P(&nl_addr), V(sizeof(nl_addr))),                                   \
		S(connect, F(fd), P(&nl_addr), V(sizeof(nl_addr))),                                \
		S(getsockname, F(fd), P(&addr), P(&len)),                                          \
		S(getsockopt, F(fd), V(SOL_NETLINK), V(NETLINK_EXT_ACK), P(&number), P(&len)),     \
		S(setsockopt, F(fd), V(SOL_NETLINK), V(NETLINK_EXT_ACK), P(&number), V(4))

static const struct row rows[] = {
	/* paths */
	C("open", FD, P(null_dev), V(O_RDONLY)),
	C("open64", FD, P(null_dev), V(O_RDONLY)),
	C("openat", FD, V(AT_FDCWD), P(null_dev), V(O_RDONLY)),
	C("openat64", FD, V(AT_FDCWD), P(null_dev), V(O_RDONLY)),
	C("__open_2", FD, P(null_dev), V(O_RDONLY)),
	C("__open64_2", FD, P(null_dev), V(O_RDONLY)),
	C("__openat_2", FD, V(AT_FDCWD), P(null_dev), V(O_RDONLY)),
	C("__openat64_2", FD, V(AT_FDCWD), P(null_dev), V(O_RDONLY)),
	C("creat", FD, P(null_dev), V(0600)),
	C("creat64", FD, P(null_dev), V(0600)),
	C("fopen", PTR, P(null_dev), P(mode)),
	C("fopen64", PTR, P(null_dev), P(mode)),
	C("freopen", PTR, P(null_dev), P(mode), G(std_in)),
	C("freopen64", PTR, P(null_dev), P(mode), G(std_in)),
	BOTH("stat", P(slash), P(&st)),
	BOTH("lstat", P(slash), P(&st)),
	BOTH("fstatat", V(AT_FDCWD), P(slash), P(&st), V(0)),
	BOTH("fstatat", F(DIR_), P(slash), P(&st), V(AT_EMPTY_PATH)),
	C("statx", INT, V(AT_FDCWD), P(slash), V(0), V(STATX_BASIC_STATS), P(&stx)),
	BOTH("__xstat", V(1), P(slash), P(&st)),
	BOTH("__lxstat", V(1), P(slash), P(&st)),
	BOTH("__fxstatat", V(1), V(AT_FDCWD), P(slash), P(&st), V(0)),
	BOTH("__fxstat", V(1), F(FILE_), P(&st)),
	BOTH("fstat", F(FILE_), P(&st)),
	C("access", INT, P(slash), V(R_OK)),
	C("faccessat", INT, V(AT_FDCWD), P(slash), V(R_OK), V(0)),
	C("eaccess", INT, P(slash), V(R_OK)),
	C("euidaccess", INT, P(slash), V(R_OK)),
	BOTH("statfs", P(slash), P(&sfs)),
	BOTH("statvfs", P(slash), P(&svfs)),
	C("pathconf", LONG, P(slash), V(_PC_NAME_MAX)),
	C("getxattr", LONG, P(slash), P(attr), P(room), V(64)),
	C("lgetxattr", LONG, P(slash), P(attr), P(room), V(64)),
	C("listxattr", LONG, P(slash), P(room), V(64)),
	C("llistxattr", LONG, P(slash), P(room), V(64)),
	C("name_to_handle_at", INT, V(AT_FDCWD), P(slash), P(room), P(&number), V(0)),
	C("inotify_add_watch", INT, F(INOTIFY), P(slash), V(IN_CREATE)),
	C("readlink", LONG, P(link_path), P(room), V(64)),
	C("readlinkat", LONG, V(AT_FDCWD), P(link_path), P(room), V(64)),
	C("__readlink_chk", LONG, P(link_path), P(room), V(64), V(64)),
	C("__readlinkat_chk", LONG, V(AT_FDCWD), P(link_path), P(room), V(64), V(64)),
	C("realpath", PTR, P(slash), P(room)),
	C("__realpath_chk", PTR, P(slash), P(room), V(PAGE)),
	C("canonicalize_file_name", PTR, P(slash)),
	C("chdir", INT, P(slash)),
	C("getcwd", PTR, P(room), V(64)),
	C("__getcwd_chk", PTR, P(room), V(64), V(64)),
	C("posix_spawn_file_actions_addopen", INT, O(&actions), V(5), P(slash), V(0), V(0)),
	/* folders */
	C("opendir", PTR, P(slash)),
	C("closedir", INT, O(room)),
	C("readdir", PTR, O(room)),
	C("readdir64", PTR, O(room)),
	C("readdir_r", INT, O(room), V(room), V(&list)),
	C("readdir64_r", INT, O(room), V(room), V(&list)),
	BOTH("scandir", P(slash), P(&list), V(0), V(0)),
	BOTH("scandirat", V(AT_FDCWD), P(slash), P(&list), V(0), V(0)),
	BOTH("glob", P(slash), V(0), V(0), O(&globbed)),
	BOTH("nftw", P(slash), V(visit), V(4), V(0)),
	BOTH("ftw", P(slash), V(visit_old), V(4)),
	CI("fts_open", PTR, &trees[0], NULL, NULL, P(trees), V(FTS_PHYSICAL), V(0)),
	CI("fts64_open", PTR, &trees[0], NULL, NULL, P(trees), V(FTS_PHYSICAL), V(0)),
	C("fts_read", PTR, O(room)),
	C("fts64_read", PTR, O(room)),
	C("fts_children", PTR, O(room), V(0)),
	C("fts64_children", PTR, O(room), V(0)),
	C("getdents64", LONG, F(DIR_), P(room), V(64)),
	S(getdents64, F(DIR_), P(room), V(64)),
	/* descriptors */
	C("fclose", INT, O(room)),
	BOTH("fcntl", F(FILE_), V(F_GETLK), P(&lock)),
	C("ioctl", INT, F(PIPE_R), V(FIONREAD), P(&number)),
	CI("ioctl", INT, &conf.ifc_buf, NULL, NULL, F(INET), V(SIOCGIFCONF), P(&conf)),
	C("ioctl", INT, F(INET), V(SIOCGIFINDEX), P(&ifr)),
	C("read", LONG, F(PIPE_R), P(room), V(4)),
	CI("readv", LONG, &iov.iov_base, NULL, NULL, F(PIPE_R), P(&iov), V(1)),
	C("__read_chk", LONG, F(PIPE_R), P(room), V(4), V(4)),
	BOTHL("pread", F(FILE_), P(room), V(4), V(0)),
	C("__pread_chk", LONG, F(FILE_), P(room), V(4), V(0), V(4)),
	C("__pread64_chk", LONG, F(FILE_), P(room), V(4), V(0), V(4)),
	BOTHL("preadv", F(FILE_), P(&iov), V(1), V(0)),
	C("preadv2", LONG, F(FILE_), P(&iov), V(1), V(0), V(0)),
	C("preadv64v2", LONG, F(FILE_), P(&iov), V(1), V(0), V(0)),
	C("write", LONG, F(PIPE_W), P(room), V(4)),
	CI("writev", LONG, &iov.iov_base, NULL, NULL, F(PIPE_W), P(&iov), V(1)),
	BOTHL("pwrite", F(FILE_), P(room), V(4), V(0)),
	BOTHL("pwritev", F(FILE_), P(&iov), V(1), V(0)),
	C("pwritev2", LONG, F(FILE_), P(&iov), V(1), V(0), V(0)),
	C("pwritev64v2", LONG, F(FILE_), P(&iov), V(1), V(0), V(0)),
	BOTHL("sendfile", F(PIPE_W), F(FILE_), P(&offset), V(4)),
	C("splice", LONG, F(FILE_), P(&offset), F(PIPE_W), V(0), V(4), V(0)),
	C("vmsplice", LONG, F(PIPE_W), P(&iov), V(1), V(0)),
	C("copy_file_range", LONG, F(FILE_), P(&offset), F(FILE2), P(&offset2), V(4), V(0)),
	S(openat, V(AT_FDCWD), P(null_dev), V(O_RDONLY)),
	S(fcntl, F(FILE_), V(F_GETLK), P(&lock)),
	S(ioctl, F(PIPE_R), V(FIONREAD), P(&number)),
	S(ioctl, F(INET), V(SIOCGIFINDEX), P(&ifr)),
	S(read, F(PIPE_R), P(room), V(4)),
	S(write, F(PIPE_W), P(room), V(4)),
	SI(readv, &iov.iov_base, NULL, NULL, F(PIPE_R), P(&iov), V(1)),
	SI(writev, &iov.iov_base, NULL, NULL, F(PIPE_W), P(&iov), V(1)),
	/* sockets */
	CI("recvmsg", LONG, MSG_INNER, F(SOCK), P(&msg), V(MSG_DONTWAIT)),
	CI("recvmmsg", INT, MMSG_INNER, F(SOCK), P(&mmsg), V(1), V(MSG_DONTWAIT), P(&ts)),
	CI("sendmsg", LONG, MSG_INNER, F(SOCK), P(&msg), V(MSG_DONTWAIT)),
	CI("sendmmsg", INT, MMSG_INNER, F(SOCK), P(&mmsg), V(1), V(MSG_DONTWAIT)),
	C("bind", INT, F(INET), P(&local), V(sizeof(local))),
	C("connect", INT, F(INET), P(&local), V(sizeof(local))),
	C("getsockname", INT, F(INET), P(&addr), P(&len)),
	C("getpeername", INT, F(SOCK), P(&addr), P(&len)),
	C("getsockopt", INT, F(INET), V(SOL_SOCKET), V(SO_TYPE), P(&number), P(&len)),
	C("setsockopt", INT, F(INET), V(SOL_SOCKET), V(SO_KEEPALIVE), P(&number), V(4)),
	C("setsockopt", INT, F(INET), V(SOL_SOCKET), V(SO_BINDTODEVICE), P(lo), V(3)),
	C("send", LONG, F(SOCK), P(room), V(4), V(MSG_DONTWAIT)),
	C("sendto", LONG, F(INET), P(room), V(4), V(MSG_DONTWAIT), P(&local), V(sizeof(local))),
	C("recv", LONG, F(SOCK), P(room), V(4), V(MSG_DONTWAIT)),
	C("__recv_chk", LONG, F(SOCK), P(room), V(4), V(4), V(MSG_DONTWAIT)),
	C("recvfrom", LONG, F(SOCK), P(room), V(4), V(MSG_DONTWAIT), P(&addr), P(&len)),
	C("__recvfrom_chk", LONG, F(SOCK), P(room), V(4), V(4), V(MSG_DONTWAIT), P(&addr), P(&len)),
	C("accept", FD, F(LISTENS), P(&addr), P(&len)),
	C("accept4", FD, F(LISTENS), P(&addr), P(&len), V(0)),
	SI(recvmsg, MSG_INNER, F(SOCK), P(&msg), V(MSG_DONTWAIT)),
	SI(recvmmsg, MMSG_INNER, F(SOCK), P(&mmsg), V(1), V(MSG_DONTWAIT), P(&ts)),
	SI(sendmsg, MSG_INNER, F(SOCK), P(&msg), V(MSG_DONTWAIT)),
	SI(sendmmsg, MMSG_INNER, F(SOCK), P(&mmsg), V(1), V(MSG_DONTWAIT)),
	S(bind, F(INET), P(&local), V(sizeof(local))),
	S(connect, F(INET), P(&local), V(sizeof(local))),
	S(getsockname, F(INET), P(&addr), P(&len)),
	NETLINK_ROWS(ROUTE),
	NETLINK_ROWS(RDMA),
	/* waiting */
	C("poll", INT, P(&pfd), V(1), V(0)),
	C("__poll_chk", INT, P(&pfd), V(1), V(0), V(sizeof(pfd))),
	C("select", INT, V(64), P(&rd), P(&wr), P(&ex), P(&tv)),
	C("epoll_ctl", INT, F(EPOLL), V(EPOLL_CTL_ADD), F(PIPE_R), P(&ev)),
	C("ppoll", INT, P(&pfd), V(1), P(&ts), P(&set)),
	C("__ppoll_chk", INT, P(&pfd), V(1), P(&ts), P(&set), V(sizeof(pfd))),
	C("pselect", INT, V(64), P(&rd), P(&wr), P(&ex), P(&ts), P(&set)),
	C("epoll_pwait", INT, F(EPOLL), P(evs), V(1), V(0), P(&set)),
	C("epoll_pwait2", INT, F(EPOLL), P(evs), V(1), P(&ts), P(&set)),
	S(poll, P(&pfd), V(1), V(0)),
	S(select, V(64), P(&rd), P(&wr), P(&ex), P(&tv)),
	S(epoll_ctl, F(EPOLL), V(EPOLL_CTL_ADD), F(PIPE_R), P(&ev)),
	S(ppoll, P(&pfd), V(1), P(&ts), P(&set), V(8)),
	SI(pselect6, &pair.mask, NULL, NULL, V(64), P(&rd), P(&wr), P(&ex), P(&ts), P(&pair)),
	S(epoll_pwait, F(EPOLL), P(evs), V(1), V(0), P(&set), V(8)),
	S(epoll_pwait2, F(EPOLL), P(evs), V(1), P(&ts), P(&set), V(8)),
	/* signals */
	C("sigaction", INT, V(SIGUSR1), P(&act), P(&old_act)),
	C("sigaction", INT, V(SIGSEGV), P(&act), P(&old_act)),
	C("__sigaction", INT, V(SIGUSR1), P(&act), P(&old_act)),
	C("__sigaction", INT, V(SIGBUS), P(&act), P(&old_act)),
	C("sigprocmask", INT, V(SIG_BLOCK), P(&set), P(&old_set)),
	C("pthread_sigmask", INT, V(SIG_BLOCK), P(&set), P(&old_set)),
	C("sigprocmask", INT, V(SIG_BLOCK), V(0), P(&old_set)),
	C("sigpending", INT, P(&set)),
	C("sigsuspend", INT, W(&set)),
	C("pthread_attr_setsigmask_np", INT, O(&attributes), P(&set)),
	C("pthread_attr_getsigmask_np", INT, O(&attributes), P(&set)),
	C("sigaltstack", INT, P(&stack), P(&old_stack)),
	C("pthread_setcanceltype", INT, V(0), P(&number)),
	C("prctl", INT, V(PR_GET_PDEATHSIG), P(&number)),
	S(rt_sigaction, V(SIGUSR1), P(&kact), P(&old_kact), V(8)),
	S(rt_sigaction, V(SIGSEGV), P(&kact), P(&old_kact), V(8)),
	S(rt_sigaction, V(SIGUSR1), V(0), P(&old_kact), V(8)),
	S(rt_sigaction, V(99), P(&kact), P(&old_kact), V(8)),
	S(rt_sigprocmask, V(~0), P(&set), V(0), V(8)),
	S(rt_sigprocmask, V(SIG_BLOCK), P(&set), P(&old_set), V(8)),
	S(rt_sigprocmask, V(SIG_SETMASK), P(&set), P(&old_set), V(16)),
	S(rt_sigpending, P(&set), V(8)),
	S(rt_sigsuspend, W(&set), V(8)),
	S(rt_sigsuspend, P(&set), V(16)),
	S(sigaltstack, P(&stack), P(&old_stack)),
	/* the rest */
	C("getifaddrs", INT, O(&addresses)),
	C("if_nametoindex", INT, P(lo)),
	C("if_indextoname", PTR, V(1), P(room)),
	CI("process_vm_readv", LONG, &iov.iov_base, NULL, NULL, G(self), P(&iov), V(1), P(&iov),
	   V(1), V(0)),
	C("process_vm_writev", LONG, G(self), P(&iov), V(1), P(&iov), V(1), V(0)),
	S(process_vm_readv, G(self), P(&iov), V(1), P(&iov), V(1), V(0)),
	C("fread", LONG, P(room), V(1), V(4), G(stream)),
	C("fread_unlocked", LONG, P(room), V(1), V(4), G(stream)),
	C("__fread_chk", LONG, P(room), V(4), V(1), V(4), G(stream)),
	C("__fread_unlocked_chk", LONG, P(room), V(4), V(1), V(4), G(stream)),
	C("fwrite", LONG, P(room), V(1), V(4), G(stream)),
	C("fwrite_unlocked", LONG, P(room), V(1), V(4), G(stream)),
	C("execve", INT, P(program), P(argv_), P(envp_)),
	C("execv", INT, P(program), P(argv_)),
	C("execvp", INT, P(program), P(argv_)),
	C("execvpe", INT, P(program), P(argv_), P(envp_)),
	C("execl", INT, P(program), P(program), V(0)),
	C("execlp", INT, P(program), P(program), V(0)),
	C("execle", INT, P(program), P(program), V(0), P(envp_)),
	C("fexecve", INT, F(FILE_), P(argv_), P(envp_)),
	C("execveat", INT, V(AT_FDCWD), P(program), P(argv_), P(envp_), V(0)),
	S(execve, P(program), P(argv_), P(envp_)),
	S(execveat, V(AT_FDCWD), P(program), P(argv_), P(envp_), V(0)),
	C("posix_spawn", INT, P(&number), P(program), V(0), V(0), P(argv_), P(envp_)),
	C("posix_spawnp", INT, P(&number), P(program), V(0), V(0), P(argv_), P(envp_)),
	C("posix_spawn_file_actions_adddup2", INT, O(&actions), V(0), V(5)),
	S(clone3, P(&clone_args), V(8)),
	S(clone3, O(&clone_args), V(64)),
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

/* Symbols without a row. */
static const struct {
	const char *names, *why;
} others[] = {
	{" close closefrom close_range dup dup2 dup3 flock lseek lseek64 listen shutdown socket tee"
	 " sigignore sighold sigrelse siginterrupt sigblock sigsetmask mlockall sbrk _Fork "
	 "get_current_dir_name if_nameindex ",
	 "no pointer"},
	{" mmap mmap64 munmap mremap madvise posix_madvise mprotect pkey_mprotect mlock mlock2 "
	 "munlock remap_file_pages brk ",
	 "an address is the range itself"},
	{" signal bsd_signal ssignal sysv_signal __sysv_signal sigset ",
	 "a handler is called, not read"},
	{" pthread_exit ", "the value is the thread's"},
	{" freeifaddrs ", "free() of what is no block does anything"},
	{" getaddrinfo getnameinfo ", "libc reads and writes them in the program"},
	{" dlopen dlmopen ", "the loader reads the name, and ends the program if it cannot"},
	{" syscall ", "its calls have rows"},
};

static const char *const symbols[] = {
#define SYM(name, kind, why) #name,
#include "shim/symbols.h"
};

static bool has_row(const char *symbol)
{
	char word[64];

	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].name && !strcmp(rows[i].name, symbol))
			return true;
	snprintf(word, sizeof(word), " %s ", symbol);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(others[i].names, word))
			return true;
	return false;
}

/* ---- one case */

struct answer {
	bool returned;
	long r;
	int err;
};

typedef long fn(long, long, long, long, long, long, long);

static long called(const struct row *row, const long a[7])
{
	fn *f = (fn *)dlsym(RTLD_DEFAULT, row->name ? row->name : "syscall");

	if (!f)
		_exit(99);
	errno = 0;
	return row->name ? f(a[0], a[1], a[2], a[3], a[4], a[5], a[6])
			 : f(row->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* `which`: the argument to spoil, or 8 + the inner pointer. */
static void one_case(const struct row *row, int which, int how, struct answer *out)
{
	long a[7] = {0};

	alarm(CASE_S);
	make_fixture();
	for (int i = 0; i < 7; i++)
		a[i] = row->arg[i].kind == DESCRIPTOR ? fds[row->arg[i].v]
		       : row->arg[i].kind == GLOBAL
			       ? (row->arg[i].v == (long)&self ? self : *(long *)row->arg[i].v)
			       : row->arg[i].v;
	if (which < 8)
		a[which] = (long)bad[how];
	else
		*row->inner[which - 8] = bad[how];
	out->r = called(row, a);
	out->err = errno;
	out->returned = true;
	_exit(0);
}

static const char *text_of(const struct row *row, const struct answer *a, int status, char *buf,
			   size_t size)
{
	long r = row->result == INT || row->result == FD ? (int)a->r : a->r;
	bool failed = row->result == PTR ? !r : r < 0;

	if (WIFSIGNALED(status))
		snprintf(buf, size, "signal %d", WTERMSIG(status));
	else if (!a->returned)
		snprintf(buf, size, "exit %d", WEXITSTATUS(status));
	else if (failed)
		snprintf(buf, size, "errno %d", a->err);
	else if (row->result == FD || row->result == PTR)
		snprintf(buf, size, "made");
	else
		snprintf(buf, size, "%ld", r);
	return buf;
}

static void show_case(const struct row *row, int which, int how, struct answer *a)
{
	char text[64], name[64];
	int status;
	pid_t pid;

	*a = (struct answer){0};
	fflush(stdout);
	pid = fork();
	if (!pid)
		one_case(row, which, how, a);
	waitpid(pid, &status, 0);
	if (row->name)
		snprintf(name, sizeof(name), "%s", row->name);
	else
		snprintf(name, sizeof(name), "syscall %ld", row->nr);
	printf("%s (row %zu), %s %d %s: %s\n", name, (size_t)(row - rows),
	       which < 8 ? "argument" : "pointer", which % 8, bad_name[how],
	       text_of(row, a, status, text, sizeof(text)));
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **all = ibv_get_device_list(NULL);
	struct ibv_context *c = all && all[0] ? ibv_open_device(all[0]) : NULL;

	if (c && !ibv_create_comp_channel(c))
		return NULL;
	return c;
}

static int show_all(bool device)
{
	struct answer *a =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	make_bad();
	with_library = getenv("LD_PRELOAD");
	if (device && !open_device())
		return printf("no device\n"), 1;
	for (size_t i = 0; i < NROWS; i++) {
		for (int k = 0; k < 7; k++)
			for (int how = 0; how < NBAD; how++)
				if (rows[i].arg[k].kind == POINTER ||
				    (rows[i].arg[k].kind == WAITS && how < READ_ONLY) ||
				    (rows[i].arg[k].kind == OPAQUE && how < TAIL))
					show_case(&rows[i], k, how, a);
		for (int k = 0; k < 3 && rows[i].inner[k]; k++)
			for (int how = 0; how < NBAD; how++)
				show_case(&rows[i], 8 + k, how, a);
	}
	return 0;
}

/* ---- the comparison */

/* Starts itself; `library`: with the preloaded library. */
static FILE *answers_of(char *own, const char *how, bool library)
{
	char *argv[] = {own, (char *)how, NULL};
	int p[2];
	pid_t pid;

	if (pipe(p))
		return NULL;
	pid = fork();
	if (!pid) {
		if (!library)
			unsetenv("LD_PRELOAD");
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		execv(own, argv);
		_exit(127);
	}
	close(p[1]);
	return fdopen(p[0], "r");
}

/*
 * At an address that is not canonical the processor raises #GP, a SIGSEGV, or with RBP as its base
 * #SS, a SIGBUS: which register the compiler of the function that is called chose.
 */
static bool same(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");
	int x, y;

	if (!strcmp(a, b))
		return true;
	return strstr(a, bad_name[NOT_CANONICAL]) && !strncmp(a, b, n) &&
	       sscanf(a + n, ": signal %d", &x) == 1 && sscanf(b + n, ": signal %d", &y) == 1 &&
	       (x == SIGSEGV || x == SIGBUS) && (y == SIGSEGV || y == SIGBUS);
}

static int compare(char *own, const char *how)
{
	FILE *native = answers_of(own, "list", false), *ours = answers_of(own, how, true);
	char a[256], b[256];
	int lines = 0, differ = 0;
	char *x, *y;

	for (;; lines++) {
		x = fgets(a, sizeof(a), native);
		y = fgets(b, sizeof(b), ours);
		if (!x || !y)
			break;
		if (same(a, b))
			continue;
		differ++;
		printf("%s: %.*s, natively%s", how, (int)strcspn(b, "\n"), b, strrchr(a, ':') + 1);
	}
	printf("%s: %d cases, %d differ\n", how, lines, differ);
	return x || y || !lines || differ;
}

int main(int argc, char **argv)
{
	int r = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		return show_all(!strcmp(argv[1], "device"));
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!has_row(symbols[i])) {
			printf("no row for %s\n", symbols[i]);
			r = 1;
		}
	r |= compare("/proc/self/exe", "list");
	r |= compare("/proc/self/exe", "device");
	return r;
}
