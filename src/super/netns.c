/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the hosts' network namespaces: the keeper, which makes them, and the way into one. The
 * keeper stays in the namespace of the bridges; it is in the namespace of a host only while it
 * makes it.
 */
#include "super/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "super/netns_link.h"
#include "util/cleanup.h"

#define ANSWER_S 60 /* a namespace takes milliseconds, on a busy machine seconds */
#define USER_NS "/proc/self/ns/user"
#define NET_NS "/proc/self/ns/net"

/*
 * A request to the keeper: make the namespace of a host with `n` interfaces, give the n-th one of a
 * host a carrier, or change iface[0] to be as iface[1]. A new namespace's descriptor comes with the
 * answer, that of an interface's namespace with the request.
 */
struct ask {
	enum { ASK_HOST, ASK_CARRIER, ASK_CHANGE } what;
	uint32_t number, host, n;
	bool carrier;
	struct fab_iface iface[NETNS_IFACES];
};

struct reply {
	uint32_t number; /* of the request */
	int err;         /* 0 or -errno */
};

/* ---- messages, with a descriptor or -1 */

union passed {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int))];
};

static int send_with(int sock, void *data, size_t n, int fd)
{
	union passed c = {.space = {0}};
	struct iovec v = {data, n};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
	struct cmsghdr *m;

	if (fd >= 0) {
		h.msg_control = &c;
		h.msg_controllen = sizeof(c);
		m = CMSG_FIRSTHDR(&h);
		m->cmsg_level = SOL_SOCKET;
		m->cmsg_type = SCM_RIGHTS;
		m->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(m), &fd, sizeof(fd));
	}
	return sendmsg(sock, &h, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static ssize_t recv_with(int sock, void *data, size_t n, int *fd)
{
	union passed c;
	struct iovec v = {data, n};
	struct msghdr h = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};
	const struct cmsghdr *m;
	ssize_t got;

	*fd = -1;
	do
		got = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	m = got < 0 ? NULL : CMSG_FIRSTHDR(&h);
	if (m && m->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(m), sizeof(*fd));
	return got;
}

/* ---- the keeper */

static int write_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* A user namespace in which the user is who he is, with all capabilities until exec(). */
static int new_user_ns(uid_t uid, gid_t gid)
{
	char map[64];
	int r;

	if (unshare(CLONE_NEWUSER) < 0)
		return -errno;
	r = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	if (!r || r == -ENOENT)
		r = write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	return r ? r : write_file("/proc/self/gid_map", map);
}

static int new_net_ns(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;

	if (!unshare(CLONE_NEWNET))
		return 0;
	r = new_user_ns(uid, gid);
	if (!r && unshare(CLONE_NEWNET) < 0)
		r = -errno;
	return r;
}

/* Always returns to the namespace `home`; if that fails, the keeper cannot go on. */
static int make_host(const struct ask *a, int home, int *fd)
{
	int r;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	*fd = open(NET_NS, O_RDONLY | O_CLOEXEC);
	r = *fd < 0 ? -errno : netns_link_loopback();
	for (uint32_t i = 0; i < a->n && !r; i++)
		r = netns_link_pair(&a->iface[i], a->host, i, home);
	if (setns(home, CLONE_NEWNET) < 0)
		_exit(1);
	for (uint32_t i = 0; i < a->n && !r; i++)
		r = netns_link_plug(a->host, i);
	return r;
}

static int change(const struct ask *a, int home, int host)
{
	int r = setns(host, CLONE_NEWNET) < 0 ? -errno : 0;

	if (r)
		return r;
	r = netns_link_change(&a->iface[0], &a->iface[1]);
	if (setns(home, CLONE_NEWNET) < 0)
		_exit(1);
	return r;
}

static int serve(const struct ask *a, int home, int *fd)
{
	switch (a->what) {
	case ASK_HOST:
		return make_host(a, home, fd);
	case ASK_CARRIER:
		return netns_link_carrier(a->host, a->n, a->carrier);
	default:
		return change(a, home, *fd);
	}
}

static _Noreturn void keep(int sock)
{
	int r, home, fd, null = open("/dev/null", O_RDWR);
	struct reply p = {0};
	struct ask a;

	for (fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	r = new_net_ns();
	home = r ? -1 : open(NET_NS, O_RDONLY | O_CLOEXEC);
	if (!r && home < 0)
		r = -errno;
	if (!r)
		r = netns_link_bridge(0); /* makes a kernel without bridges fail now */
	p.err = r;
	if (send_with(sock, &p, sizeof(p), -1) || r)
		_exit(1);
	while (recv_with(sock, &a, sizeof(a), &fd) == sizeof(a)) {
		p.number = a.number;
		p.err = serve(&a, home, &fd);
		r = send_with(sock, &p, sizeof(p), a.what != ASK_HOST || p.err ? -1 : fd);
		if (fd >= 0)
			close(fd);
		if (r)
			break;
	}
	_exit(0);
}

/* ---- the supervisor's side */

static int receive_one(int sock, struct reply *p, int *fd)
{
	ssize_t n = recv_with(sock, p, sizeof(*p), fd);

	return n == sizeof(*p) ? 0 : n < 0 ? -errno : -EIO;
}

/* An answer that came too late for its request is dropped, with the namespace that it brings. */
static int receive(int sock, uint32_t number, int *fd)
{
	struct reply p;
	int r;

	while (!(r = receive_one(sock, &p, fd)) && p.number != number)
		if (*fd >= 0)
			close(*fd);
	return r ? r : p.err;
}

static _Noreturn void child(int sock, pid_t parent)
{
	int at = 3;

	/* A session of its own: signals of the terminal do not reach this process. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "softhca-netns");
	setsid();
	/* Keep no descriptor of the supervisor open. */
	if (sock != at && dup2(sock, at) < 0)
		_exit(1);
	close_range(at + 1, ~0u, 0);
	keep(at);
}

int netns_init(struct netns *n, uint32_t nhosts)
{
	const struct timeval wait = {.tv_sec = ANSWER_S};
	pid_t parent = getpid();
	int pair[2], none = -1, r;

	*n = (struct netns){.sock = -1, .nhosts = nhosts};
	n->host = malloc(nhosts * sizeof(*n->host));
	if (!n->host)
		return -ENOMEM;
	for (uint32_t i = 0; i < nhosts; i++)
		n->host[i] = (struct netns_host){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	n->pid = fork();
	if (!n->pid)
		child(pair[1], parent);
	r = n->pid < 0 ? -errno : 0;
	close(pair[1]);
	n->sock = pair[0];
	if (!r && setsockopt(n->sock, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		r = -errno;
	return r ? r : receive(n->sock, 0, &none);
}

void netns_finish(struct netns *n)
{
	for (uint32_t i = 0; n->host && i < n->nhosts; i++)
		if (n->host[i].fd >= 0)
			close(n->host[i].fd);
	free(n->host);
	n->host = NULL;
	if (n->sock >= 0)
		close(n->sock);
	/* The keeper ends when its socket closes; kill it in case it is stopped. */
	if (n->pid > 0 && !waitpid(n->pid, NULL, WNOHANG)) {
		kill(n->pid, SIGKILL);
		waitpid(n->pid, NULL, 0);
	}
	n->sock = -1;
}

static int ask_with(struct netns *n, struct ask *a, int with, int *fd)
{
	int r;

	a->number = ++n->asked;
	r = send_with(n->sock, a, sizeof(*a), with);
	if (!r)
		r = receive(n->sock, a->number, fd);
	if (r == -EAGAIN) { /* the keeper is stopped: do not wait for it a second time */
		close(n->sock);
		n->sock = -1;
	}
	return r;
}

static int ask(struct netns *n, struct ask *a, int *fd)
{
	return ask_with(n, a, -1, fd);
}

/* An interface that cannot follow stays as it is; the next change tries again. */
static void update_host(struct netns *n, struct seg *s, uint32_t host)
{
	struct ask a = {.what = ASK_CARRIER, .host = host};
	struct netns_host *h = &n->host[host];
	struct fab_iface f;
	int none = -1;

	for (; a.n < NETNS_IFACES && fab_iface(s, fab_port_by_umad(s, host, a.n), &f); a.n++) {
		a.carrier = f.flags & IFF_RUNNING;
		if (a.carrier == !(h->out & 1u << a.n) || ask(n, &a, &none))
			continue;
		h->out ^= 1u << a.n;
	}
}

int netns_change(struct netns *n, uint32_t host, const struct fab_iface *was,
		 const struct fab_iface *is)
{
	struct ask a = {.what = ASK_CHANGE, .host = host, .iface = {*was, *is}};
	int none = -1;

	if (host >= n->nhosts || n->host[host].fd < 0)
		return 0;
	return ask_with(n, &a, n->host[host].fd, &none);
}

static int make_vlans(struct netns *n, struct seg *s, uint32_t host)
{
	const struct fab_iface none = {0};
	struct fab_iface f;
	int r = 0;

	for (uint32_t at = fab_at_first(s, host); at != SEG_NONE && !r;
	     at = fab_at_next(s, host, at))
		if (fab_at_place(at) && fab_iface(s, at, &f))
			r = netns_change(n, host, &none, &f);
	return r;
}

int netns_host(struct netns *n, struct seg *s, uint32_t host)
{
	struct hw_host *h = seg_live(s, SEG_T_HOST, host);
	struct ask a = {.what = ASK_HOST, .host = host};
	int r;

	if (!h || host >= n->nhosts)
		return -ENODEV;
	if (n->host[host].fd >= 0)
		return 0;
	while (a.n < NETNS_IFACES && fab_iface(s, fab_port_by_umad(s, host, a.n), &a.iface[a.n]))
		a.n++;
	r = ask(n, &a, &n->host[host].fd);
	/* The kernel omits the descriptor if this process has no room for it. */
	if (!r && n->host[host].fd < 0)
		r = -EMFILE;
	if (r)
		return r;
	h->netns = 1;
	update_host(n, s, host);
	r = make_vlans(n, s, host);
	if (r) {
		close(n->host[host].fd);
		n->host[host].fd = -1;
	}
	return r;
}

void netns_update(struct netns *n, struct seg *s)
{
	for (uint32_t host = 0; host < n->nhosts; host++)
		if (n->host[host].fd >= 0)
			update_host(n, s, host);
}

/* ---- a program's process */

static bool own_user_ns(int fd)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(USER_NS, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

int netns_enter(int fd)
{
	_cleanup_close_ int user = ioctl(fd, NS_GET_USERNS);

	if (user < 0)
		return -errno;
	if (!own_user_ns(user) && setns(user, CLONE_NEWUSER) < 0)
		return -errno;
	return setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
}
