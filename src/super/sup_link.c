/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the connections of a fabric's processes: the server side of segment/suplink.h, one row per
 * request. A link ends when its process ends or calls exec.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "engine/engine.h"
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "segment/adopt.h"
#include "super/allow.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define MAX_FDS 2 /* descriptors in one request; further ones are refused */

/* ---- requests ---- */

static bool is_proc_mem(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct stat st;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC && !fstat(fd, &st) &&
	       S_ISREG(st.st_mode) && flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
}

static void pid_ready(struct sup *sup, struct sup_source *src, uint32_t events)
{
	sup_link_close(sup, (struct sup_link *)((char *)src - offsetof(struct sup_link, pid_src)));
}

/*
 * A fork child may hold a copy of the link after its process has ended, so the process is watched,
 * too.
 */
static void watch_pid(struct sup *sup, struct sup_link *l)
{
	l->pid_src = (struct sup_source){.fd = -1, .ready = pid_ready};
	if (l->pid <= 0)
		return;
	l->pid_src.fd = (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (l->pid_src.fd >= 0 && sup_watch(sup, &l->pid_src) < 0) {
		close(l->pid_src.fd);
		l->pid_src.fd = -1;
	}
}

static void sup_link_read(struct sup *sup, struct sup_source *src, uint32_t events);

static uint32_t pid_chain(const struct sup_link *l)
{
	return (uint32_t)l->pid % SUP_PIDS;
}

/* `next` and `at` are members of links: the same for both lists. */
#define LIST_ADD(head, l, next, at)                 \
	do {                                        \
		(l)->next = *(head);                \
		(l)->at = (head);                   \
		if ((l)->next)                      \
			(l)->next->at = &(l)->next; \
		*(head) = (l);                      \
	} while (0)
#define LIST_REMOVE(l, next, at)                 \
	do {                                     \
		*(l)->at = (l)->next;            \
		if ((l)->next)                   \
			(l)->next->at = (l)->at; \
	} while (0)

/* After exec the process says hello again, perhaps before we notice the end of its old link. */
static void end_old_links(struct sup *sup, const struct sup_link *l)
{
	for (struct sup_link *o = sup->by_pid[pid_chain(l)]; o; o = o->next_pid) {
		char c;

		if (o == l || o->closed || o->pid != l->pid || !l->pid)
			continue;
		if (!recv(o->src.fd, &c, 1, MSG_PEEK | MSG_DONTWAIT))
			sup_link_close(sup, o);
	}
}

/* A name that terminals and JSON can show; a program may have given itself any. */
static void make_plain(char *name, size_t size)
{
	size_t n = strnlen(name, size - 1);

	for (size_t i = 0; i < n; i++)
		if (name[i] < ' ' || name[i] > '~')
			name[i] = '?';
	name[n] = '\0';
}

static int do_hello(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	struct seg *s = &sup->seg;
	struct seg_proc *proc;
	uint32_t host;
	int r;

	if (q->m.layout_version != SEG_LAYOUT_VERSION)
		return -EPROTONOSUPPORT;
	if (l->slot != SEG_NONE)
		return -EALREADY;
	q->m.host[sizeof(q->m.host) - 1] = '\0';
	make_plain(q->m.comm, sizeof(q->m.comm));
	host = fab_host_by_name(s, q->m.host);
	if (host == SEG_NONE)
		return -ENODEV;
	r = sup_host_use(sup, host);
	if (r < 0)
		return r;
	end_old_links(sup, l);
	/*
	 * In a PID namespace below ours, l->pid is its number here, and the message has its number
	 * there.
	 */
	r = seg_proc_register(s, host, l->pid > 0 ? (uint32_t)l->pid : q->m.pid, q->m.start_time,
			      &l->slot, &l->gen);
	if (r < 0) {
		l->slot = SEG_NONE;
		return r;
	}
	LIST_ADD(&sup->by_pid[pid_chain(l)], l, next_pid, at_pid);
	proc = seg_at(s, SEG_T_PROC, l->slot);
	memcpy(proc->comm, q->m.comm, sizeof(proc->comm));
	atomic_store(&proc->memlock, q->m.memlock);
	watch_pid(sup, l);
	if (q->fd >= 0 && is_proc_mem(q->fd))
		l->mem_fd = take_fd(&q->fd);
	p->m.slot = l->slot;
	p->m.gen = l->gen;
	p->fd = s->fd;
	p->keep = true;
	sup->joined = true;
	TRACE(LOG_LINK, "pid %d (%s) joined as slot %u.%u", l->pid, proc->comm, l->slot, l->gen);
	return 0;
}

static int do_open(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	if (l->slot == SEG_NONE)
		return -ENOTCONN;
	/* opening an issm may end the built-in manager, which is sweeping */
	if (q->m.kind == SEG_FILE_ISSM && sup->sweeping)
		return SUP_LATER;
	return sup_file_open(sup, l, &q->m, &p->m.file, &p->m.gen, &p->fd);
}

static int sup_link_reaped(struct sup *sup, struct sup_link *l, struct sup_request *q,
			   struct sup_reply *p)
{
	if (sup_file_reaping(sup, q->m.file, q->m.gen))
		return SUP_LATER;
	p->m.arg = SUP_FILE_LAST;
	return 0;
}

static int do_closed(struct sup *sup, struct sup_link *l, struct sup_request *q,
		     struct sup_reply *p)
{
	int r = sup_file_closed(sup, q->m.file, q->m.gen);

	if (r != SUP_FILE_LAST)
		return r;
	l->again = sup_link_reaped;
	return sup_link_reaped(sup, l, q, p);
}

static int do_get_mem(struct sup *sup, struct sup_link *l, struct sup_request *q,
		      struct sup_reply *p)
{
	for (struct sup_link *o = sup->links; o; o = o->next) {
		if (o->closed || o->slot != q->m.slot || o->gen != q->m.gen || o->slot == SEG_NONE)
			continue;
		if (o->mem_fd < 0)
			return -ENOENT;
		p->fd = o->mem_fd;
		p->keep = true;
		return 0;
	}
	return -ESRCH;
}

static int do_status(struct sup *sup, struct sup_link *l, struct sup_request *q,
		     struct sup_reply *p)
{
	p->fd = sup_status_fd(sup, &q->m);
	return p->fd < 0 ? p->fd : 0;
}

static int do_segment(struct sup *sup, struct sup_link *l, struct sup_request *q,
		      struct sup_reply *p)
{
	p->fd = fcntl(sup->seg.fd, F_DUPFD_CLOEXEC, 0);
	return p->fd < 0 ? -errno : 0;
}

static int do_down(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	if (sup->embedded)
		return -EBUSY;
	sup->stop = true;
	return 0;
}

uint32_t sup_link_host(struct sup *sup, struct link_msg *m)
{
	m->host[sizeof(m->host) - 1] = '\0';
	return m->host[0] ? fab_host_by_name(&sup->seg, m->host)
			  : seg_next(&sup->seg, SEG_T_HOST, SEG_OWNER_ANY, 0);
}

static int do_host(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	uint32_t n = sup_link_host(sup, &q->m);
	int r;

	if (n == SEG_NONE)
		return -ENODEV;
	memcpy(p->m.host, ((struct hw_host *)seg_at(&sup->seg, SEG_T_HOST, n))->name,
	       sizeof(p->m.host));
	r = sup_host_use(sup, n);
	if (!r && sup->fab.netns) {
		p->fd = sup->netns.host[n].fd;
		p->keep = true;
	}
	return r;
}

static int do_topo(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	if (sup->sweeping)
		return SUP_LATER;
	p->fd = sup_topo_fd(sup, &q->m);
	return p->fd < 0 ? p->fd : 0;
}

static int do_console(struct sup *sup, struct sup_link *l, struct sup_request *q,
		      struct sup_reply *p)
{
	char line[4096];
	struct stat st;
	bool failed = false;
	ssize_t n;
	int r;

	if (sup->sweeping) /* the command may change the subnet, so not during a sweep */
		return SUP_LATER;
	/* The descriptor is a file: reading it does not wait. */
	if (q->fd < 0 || fstat(q->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	n = pread(q->fd, line, sizeof(line) - 1, 0);
	if (n < 0)
		return -errno;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	r = sup_console_run(sup, line, &failed, &p->fd);
	p->m.arg = failed;
	return r;
}

static int when_swept(struct sup *sup, struct sup_link *l, struct sup_request *q,
		      struct sup_reply *p)
{
	return sup->sweeping ? SUP_LATER : 0;
}

/* The host's adapter of this name; NULL. */
static const struct hw_hca *named_hca(const struct seg *s, const struct hw_host *host,
				      const char *name)
{
	for (uint32_t i = 0; i < host->nhcas; i++) {
		const struct hw_hca *hca = hw_hca(s, host->hca[i]);
		char other[FAB_HCA_NAME];

		if (hca && !strcmp(fab_hca_name(s, hca, other), name))
			return hca;
	}
	return NULL;
}

int sup_plug(struct sup *sup, uint32_t port, bool in)
{
	int r = sup_cable(sup, port, in);

	sup_cm_port(sup, port); /* also of a port without a cable: its adapter may be gone */
	return r;
}

static int do_port(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	const struct hw_host *host;
	const struct hw_hca *hca;
	uint32_t n = sup_link_host(sup, &q->m), port;
	int r;

	if (sup->sweeping)
		return SUP_LATER;
	if (n == SEG_NONE)
		return -ENODEV;
	host = seg_live(&sup->seg, SEG_T_HOST, n);
	q->m.comm[sizeof(q->m.comm) - 1] = 0;
	hca = named_hca(&sup->seg, host, q->m.comm);
	if (!hca || q->m.port < 1 || q->m.port > hca->nports)
		return -ENXIO;
	port = hca->port[q->m.port - 1];
	r = sup_plug(sup, port, q->m.arg);
	if (r || hw_port_is_eth(hw_port(&sup->seg, port)))
		return r;
	/* The built-in subnet manager makes it ACTIVE before we answer. */
	sup_sweep(sup);
	l->again = when_swept;
	return when_swept(sup, l, q, p);
}

/* For a process that cannot open the FIFO itself. */
static int do_wake(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	sup_file_wake(sup, q->m.file, q->m.gen);
	return 0;
}

/* The loop sweeps the subnet and sends notices to subnet managers later. */
static int do_sweep(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	sup->mads_at = 0;
	return 0;
}

static int (*const handlers[])(struct sup *, struct sup_link *, struct sup_request *,
			       struct sup_reply *) = {
	[LINK_HELLO] = do_hello,     [LINK_OPEN] = do_open,         [LINK_CLOSED] = do_closed,
	[LINK_GET_MEM] = do_get_mem, [LINK_STATUS] = do_status,     [LINK_DOWN] = do_down,
	[LINK_PORT] = do_port,       [LINK_WAKE] = do_wake,         [LINK_HOST] = do_host,
	[LINK_TOPO] = do_topo,       [LINK_CONSOLE] = do_console,   [LINK_SWEEP] = do_sweep,
	[LINK_SEGMENT] = do_segment, [LINK_RDMA_CM] = sup_cm_write, [LINK_GMP] = sup_cm_gmp,
	[LINK_CM_IDS] = sup_cm_ids,  [LINK_BELL] = sup_slot_bell,   [LINK_ADDR] = sup_addr,
	[LINK_STORE] = sup_store,    [LINK_FAULT] = sup_fault,
};

/* ---- messages ---- */

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static bool has_more(uint32_t op)
{
	return op == LINK_RDMA_CM || op == LINK_GMP || op == LINK_ADDR || op == LINK_FAULT;
}

/*
 * 1: received a request into *q; 0: the other end is closed; -EAGAIN; other -errno: a malformed
 * message.
 */
static int sup_link_receive(int sock, struct sup_request *q)
{
	union control c;
	struct iovec v[2] = {{&q->m, sizeof(q->m)}, {q->more, sizeof(q->more)}};
	struct msghdr h = {
		.msg_iov = v, .msg_iovlen = 2, .msg_control = &c, .msg_controllen = sizeof(c)};
	ssize_t n = recvmsg(sock, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	unsigned int nfds = 0;

	q->fd = -1;
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	for (struct cmsghdr *m = CMSG_FIRSTHDR(&h); m; m = CMSG_NXTHDR(&h, m)) {
		int fds[MAX_FDS];
		size_t len = m->cmsg_len - CMSG_LEN(0);

		if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(m), len < sizeof(fds) ? len : sizeof(fds));
		for (size_t i = 0; i < len / sizeof(int) && i < MAX_FDS; i++) {
			if (nfds++)
				close(fds[i]);
			else
				q->fd = fds[i];
		}
	}
	if (!n && !nfds)
		return 0;
	if ((size_t)n >= sizeof(q->m) && nfds <= 1 && !(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		q->nmore = (uint32_t)((size_t)n - sizeof(q->m));
		if (q->nmore == (has_more(q->m.op) ? q->m.more : 0))
			return 1;
	}
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
	return -EPROTO;
}

static int send_reply(int sock, const struct sup_reply *p)
{
	union control c;
	struct iovec v[2] = {{(void *)&p->m, sizeof(p->m)}, {(void *)p->more, p->nmore}};
	struct msghdr h = {.msg_iov = v, .msg_iovlen = 2};

	if (p->fd >= 0) {
		struct cmsghdr *m = &c.align;

		memset(&c, 0, sizeof(c));
		h.msg_control = &c;
		h.msg_controllen = CMSG_SPACE(sizeof(int));
		m->cmsg_level = SOL_SOCKET;
		m->cmsg_type = SCM_RIGHTS;
		m->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(m), &p->fd, sizeof(int));
	}
	return sendmsg(sock, &h, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool wants_no_reply(uint32_t op)
{
	return op == LINK_WAKE || op == LINK_SWEEP || op == LINK_GMP;
}

/* SUP_LATER: the request stays with its link. */
static int run_request(struct sup *sup, struct sup_link *l, struct sup_request *q,
		       struct sup_reply *p)
{
	int (*again)(struct sup *, struct sup_link *, struct sup_request *, struct sup_reply *) =
		l->again;
	int r;

	if (!again && q->m.op < ARRAY_SIZE(handlers))
		again = handlers[q->m.op];
	if (!again)
		return -EOPNOTSUPP;
	l->again = NULL;
	r = again(sup, l, q, p);
	if (r != SUP_LATER) {
		l->again = NULL;
		return r;
	}
	if (!l->again)
		l->again = again;
	return r;
}

int sup_link_result(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	int r;

	p->m = (struct link_msg){0};
	p->fd = -1;
	p->keep = false;
	p->nmore = 0;
	r = run_request(sup, l, q, p);
	TRACE(LOG_LINK, "pid %d op %u: %d", l->pid, q->m.op, r);
	if (r < 0) {
		p->m = (struct link_msg){.err = r};
		p->fd = p->keep ? -1 : p->fd;
		p->keep = false;
	}
	p->m.more = p->nmore;
	p->m.op = q->m.op;
	p->m.layout_version = SEG_LAYOUT_VERSION;
	return r;
}

/* One request and its answer, now or later. */
static void sup_link_serve(struct sup *sup, struct sup_link *l, struct sup_request *q)
{
	struct sup_reply p;
	int r = sup_link_result(sup, l, q, &p);

	if (r == SUP_LATER) {
		if (&l->request != q)
			l->request = *q;
		return;
	}
	r = l->closed || wants_no_reply(q->m.op) ? 0 : send_reply(l->src.fd, &p);
	if (p.fd >= 0 && !p.keep)
		close(p.fd);
	if (q->fd >= 0)
		close(q->fd);
	if (r < 0)
		sup_link_close(sup, l); /* the client is gone, or does not read its answers */
}

static void sup_link_read(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct sup_link *l = (struct sup_link *)src;
	struct sup_request q;
	int r = sup_link_receive(src->fd, &q);

	if (r == -EAGAIN)
		return;
	/* A client sends one request at a time, except requests without an answer. */
	if (r > 0 && l->again && !wants_no_reply(q.m.op)) {
		if (q.fd >= 0)
			close(q.fd);
		r = -EPROTO;
	}
	if (r <= 0) {
		if (r == -EPROTO)
			TRACE(LOG_LINK, "pid %d does not speak our protocol", l->pid);
		sup_link_close(sup, l);
		return;
	}
	if (!l->again) {
		sup_link_serve(sup, l, &q);
		return;
	}
	handlers[q.m.op](sup, l, &q, NULL);
	if (q.fd >= 0)
		close(q.fd);
}

void sup_links_again(struct sup *sup)
{
	for (struct sup_link *l = sup->links; l; l = l->next)
		if (l->again && !l->closed) {
			sup_link_serve(sup, l, &l->request);
			sup_slot_look(sup, l);
		}
}

/* ---- connections ---- */

static void accept_link(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);
	struct sup_link *l;
	int fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		/* Refuse it; otherwise it would stay in the queue and wake the loop for ever. */
		close(sup->spare);
		fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			close(fd);
		sup->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return;
	}
	if (fd < 0)
		return;
	l = calloc(1, sizeof(*l));
	if (!l || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 ||
	    !allow_has(&sup->fab, cred.uid)) {
		free(l);
		close(fd);
		return;
	}
	l->src = (struct sup_source){.fd = fd, .ready = sup_link_read};
	l->pid_src.fd = -1;
	l->bell.fd = -1;
	l->pid = cred.pid;
	l->slot = SEG_NONE;
	l->mem_fd = -1;
	if (sup_watch(sup, &l->src) < 0) {
		free(l);
		close(fd);
		return;
	}
	LIST_ADD(&sup->links, l, next, at);
}

int sup_listen(struct sup *sup)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int n = snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", sup->seg.dir);

	/* A path longer than a socket address is used through a descriptor. */
	if (n < 0 || (size_t)n >= sizeof(a.sun_path))
		snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/sock", sup->dir);
	sup->listen = (struct sup_source){
		.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
		.ready = accept_link};
	if (sup->listen.fd < 0 || bind(sup->listen.fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(sup->listen.fd, 128) < 0 ||
	    (sup->fab.nallow_uids && fchmodat(sup->dir, "sock", 0660, 0) < 0))
		return -errno;
	return sup_watch(sup, &sup->listen);
}

/*
 * The process has ended or called exec. The old memory must not be accessed from now on; files may
 * live on in other processes. The slot is free for reuse as soon as none of its files is left.
 */
void sup_link_close(struct sup *sup, struct sup_link *l)
{
	struct seg_proc *proc;

	if (l->closed)
		return;
	l->closed = true;
	l->next_ended = sup->ended;
	sup->ended = l;
	sup_unwatch(sup, &l->src);
	sup_unwatch(sup, &l->pid_src);
	sup_slot_close(sup, l);
	if (l->mem_fd >= 0)
		close(l->mem_fd);
	l->mem_fd = -1;
	if (l->again && l->request.fd >= 0)
		close(l->request.fd);
	l->again = NULL;
	if (l->slot == SEG_NONE)
		return;
	TRACE(LOG_LINK, "pid %d, slot %u.%u: gone", l->pid, l->slot, l->gen);
	proc = seg_proc(&sup->seg, l->slot);
	if (proc)
		sup_use_ended(sup, proc);
	if (proc)
		atomic_store(&proc->state, SEG_PROC_DEAD);
	eng_proc_died(&sup->seg, l->slot);
	sup_files_probe(sup, l->slot, l->gen);
	sup->mads_at = 0; /* the dead process may owe MADs of files that others share: look now */
	if (proc && !sup_files_of(sup, l->slot, l->gen))
		seg_free(&sup->seg, SEG_T_PROC, l->slot);
	if (adopt_sweep(&sup->seg))
		sup->zombies_at = 0;
}

/* In every turn: it does not look at those that live. */
void sup_links_free(struct sup *sup)
{
	struct sup_link *l;

	while ((l = sup->ended)) {
		sup->ended = l->next_ended;
		LIST_REMOVE(l, next, at);
		if (l->at_pid)
			LIST_REMOVE(l, next_pid, at_pid);
		free(l);
	}
}

unsigned int sup_attached(const struct sup *sup)
{
	unsigned int n = 0;

	for (const struct sup_link *l = sup->links; l; l = l->next)
		n += !l->closed && l->slot != SEG_NONE;
	return n;
}

void sup_signal_attached(struct sup *sup, int sig)
{
	for (struct sup_link *l = sup->links; l; l = l->next)
		if (!l->closed && l->pid_src.fd >= 0)
			syscall(SYS_pidfd_send_signal, l->pid_src.fd, sig, NULL, 0);
}
