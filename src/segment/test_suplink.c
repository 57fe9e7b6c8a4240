/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client's end of the link, against a server played by a thread of the test. */
#include "segment/test.h"
#include "segment/suplink.h"
#include "util/test_tmp.h"
#include "util/sys.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct server {
	struct seg seg;
	char dir[TEST_TMP_MAX];
	int listen;
	int mem; /* the mem descriptor of the last hello */
	uint32_t mem_slot;
	_Atomic int silent; /* number of requests to leave without an answer */
	int wrong;          /* answer with another op */
	pthread_t thread;
	int stop[2];
};

static void reply(int sock, struct link_msg *m, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {m, sizeof(*m)};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c = (struct cmsghdr *)room;

		c->cmsg_len = CMSG_LEN(sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		h.msg_control = room;
		h.msg_controllen = sizeof(room);
	}
	sendmsg(sock, &h, MSG_NOSIGNAL);
}

static void serve_one(struct server *v, int sock, struct link_msg *m, int fd)
{
	int give = -1;

	if (v->silent) {
		v->silent--;
		return;
	}
	switch (m->op) {
	case LINK_HELLO:
		if (m->layout_version != SEG_LAYOUT_VERSION) {
			m->err = -EPROTONOSUPPORT;
			break;
		}
		seg_proc_register(&v->seg, 0, m->pid, m->start_time, &m->slot, &m->gen);
		v->mem = fd;
		v->mem_slot = m->slot;
		give = v->seg.fd;
		break;
	case LINK_OPEN:
		m->file = m->kind * 10 + m->port;
		m->gen = m->hca;
		give = memfd_create("file", MFD_CLOEXEC);
		break;
	case LINK_CLOSED:
		m->arg = m->file == 1;
		break;
	case LINK_GET_MEM:
		m->err = m->slot == v->mem_slot ? 0 : -ESRCH;
		give = m->err ? -1 : v->mem;
		break;
	}
	m->op += (uint32_t)v->wrong;
	reply(sock, m, give);
	if (m->op == LINK_OPEN)
		close(give);
}

static void *serve(void *arg)
{
	struct server *v = arg;
	struct pollfd p[16] = {{.fd = v->stop[0], .events = POLLIN},
			       {.fd = v->listen, .events = POLLIN}};
	nfds_t n = 2;

	while (poll(p, n, -1) > 0 && !p[0].revents) {
		if (p[1].revents) {
			p[n].fd = accept(v->listen, NULL, NULL);
			p[n].events = POLLIN;
			p[n++].revents = 0;
		}
		for (nfds_t i = 2; i < n; i++) {
			char room[CMSG_SPACE(sizeof(int))];
			struct link_msg m;
			struct iovec io = {&m, sizeof(m)};
			struct msghdr h = {.msg_iov = &io,
					   .msg_iovlen = 1,
					   .msg_control = room,
					   .msg_controllen = sizeof(room)};
			int fd = -1;

			if (!p[i].revents)
				continue;
			if (recvmsg(p[i].fd, &h, 0) <= 0) {
				close(p[i].fd);
				p[i] = p[--n];
				i--;
				continue;
			}
			if (CMSG_FIRSTHDR(&h))
				memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(fd));
			serve_one(v, p[i].fd, &m, fd);
		}
	}
	for (nfds_t i = 2; i < n; i++)
		close(p[i].fd);
	return NULL;
}

static int setup(void **state)
{
	static struct server v;
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	memset(&v, 0, sizeof(v));
	if (!test_tmp_make(v.dir) || seg_create(&v.seg, "lab") || pipe(v.stop))
		return -1;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", v.dir);
	v.listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(v.listen, (struct sockaddr *)&a, sizeof(a)) || listen(v.listen, 8))
		return -1;
	*state = &v;
	return pthread_create(&v.thread, NULL, serve, &v);
}

static int teardown(void **state)
{
	struct server *v = *state;
	test_tell(v->stop[1]);
	pthread_join(v->thread, NULL);
	close(v->listen);
	test_tmp_remove(v->dir);
	seg_unmap(&v->seg);
	return 0;
}

static void join_maps_the_segment_and_gives_a_slot(void **state)
{
	struct server *v = *state;
	struct seg s = {0};
	struct link l;
	struct seg_proc *p;

	assert_int_equal(link_join(&l, &s, v->dir, "h1"), 0);
	assert_string_equal(s.hdr->name, "lab");
	assert_string_equal(s.dir, v->dir);
	p = seg_proc(&v->seg, s.self);
	assert_int_equal(p->pid, getpid());
	assert_int_equal(p->gen, s.self_gen);
	assert_int_equal(p->pid_ns, s.pid_ns);
	assert_true(s.pid_ns != 0);
	assert_true(l.fd >= 900 && s.fd >= 900);
	assert_true(fcntl(l.fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(s.fd, F_GETFD) & FD_CLOEXEC);
	link_forget(&l, &s);
	assert_int_equal(s.self, SEG_NONE);
	seg_unmap(&s);
}

/* Runs in a process of its own, because the server's thread here opens and closes descriptors. */
static void open_one(struct server *v)
{
	struct seg s = {0};
	struct link l;
	uint32_t file, gen;
	int fd, low;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (link_join(&l, &s, v->dir, "h1"))
		_exit(1);
	low = dup(0);
	close(low);
	if (link_open_file(&l, SEG_FILE_COMP, 7, 2, &file, &gen, &fd))
		_exit(2);
	if (fd != low || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		_exit(3);
	_exit(file == 32 && gen == 7 ? 0 : 4);
}

static void files_open_at_the_lowest_number(void **state)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		open_one(*state);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void closing_tells_whether_it_was_the_last(void **state)
{
	struct server *v = *state;
	struct seg s = {0};
	struct link l;

	assert_int_equal(link_join(&l, &s, v->dir, "h1"), 0);
	assert_int_equal(link_file_closed(&l, 1, 1), 1);
	assert_int_equal(link_file_closed(&l, 2, 1), 0);
	v->wrong = 1;
	assert_int_equal(link_file_closed(&l, 2, 1), -EPROTO);
	v->wrong = 0;
	link_forget(&l, &s);
	assert_int_equal(link_file_closed(&l, 1, 1), -ENOTCONN);
	seg_unmap(&s);
}

static void late_answers_are_not_mixed_up(void **state)
{
	struct server *v = *state;
	struct timeval tv = {.tv_usec = 2000};
	struct seg s = {0};
	struct link_msg late = {.op = LINK_OPEN};
	struct link l;

	assert_int_equal(link_join(&l, &s, v->dir, "h1"), 0);
	setsockopt(l.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	v->silent = 1;
	assert_int_equal(link_file_closed(&l, 1, 1), -ETIMEDOUT);
	assert_int_equal(l.owed, 1);
	while (v->silent) /* the late request has reached the server, which answers the right one */
		sched_yield();
	/* put a late answer in front of the next one */
	close(l.fd);
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	l.fd = pair[0];
	reply(pair[1], &late, 0);
	late.op = LINK_CLOSED;
	late.arg = 1;
	reply(pair[1], &late, -1);
	assert_int_equal(link_file_closed(&l, 1, 1), 1);
	assert_int_equal(l.owed, 0);
	close(pair[1]);
	link_forget(&l, &s);
	seg_unmap(&s);
}

static void no_fabric_is_an_error(void **state)
{
	struct server *v = *state;
	struct seg s = {0};
	struct link l;
	char longdir[300];

	assert_int_equal(link_join(&l, &s, "/tmp/no-such-fabric", "h1"), -ENOENT);
	memset(longdir, 'x', sizeof(longdir));
	longdir[0] = '/';
	longdir[200] = 0;
	assert_int_equal(link_join(&l, &s, longdir, "h1"), -ENOENT);
	/* a name too long for a socket address, for the same directory */
	memset(longdir, '/', 200);
	strcpy(longdir + 200, v->dir);
	assert_int_equal(link_join(&l, &s, longdir, "h1"), 0);
	link_forget(&l, &s);
	seg_unmap(&s);
}

struct forked {
	struct server *v;
	struct link l;
	uint8_t *page;
	uint32_t parent_slot;
	struct mem_slot parent;
};

static void child_body(struct seg *s, struct forked *f)
{
	uint8_t b = 0;

	link_forget(&f->l, s);
	if (link_join(&f->l, s, f->v->dir, "h1") || s->self == f->parent.slot)
		_exit(1);
	if (mem_read(s, f->parent, (uint64_t)(uintptr_t)f->page, &b, 1) || b != 0x44)
		_exit(2);
	_exit(0);
}

static void a_forked_child_joins_as_itself(void **state)
{
	struct server *v = *state;
	struct forked f = {.v = v};
	struct seg s = {0};
	int status;
	pid_t pid;

	assert_int_equal(link_join(&f.l, &s, v->dir, "h1"), 0);
	f.parent = mem_self(&s);
	f.page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	f.page[0] = 0x44;
	madvise(f.page, 4096, MADV_DONTFORK);
	pid = fork();
	if (!pid)
		child_body(&s, &f);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(link_file_closed(&f.l, 1, 1), 1);
	link_forget(&f.l, &s);
	seg_unmap(&s);
	munmap(f.page, 4096);
}

static int kept_fd = -1;

static void note_kept(int fd, int kept)
{
	if (kept)
		kept_fd = fd;
	else if (kept_fd == fd)
		kept_fd = -1;
}

/* A program that was not dumpable when it joined: its memory is accessed by the descriptor. */
static void an_undumpable_peer_is_reached_through_the_supervisor(void **state)
{
	struct server *v = *state;
	struct seg s = {0}, me = {0};
	struct link l, ml;
	uint8_t *page, b = 0;
	int tell[2], go[2], status;
	pid_t pid;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(pipe(tell) | pipe(go), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 0);
		page[9] = 0x55;
		if (link_join(&l, &s, v->dir, "h1") || prctl(PR_GET_DUMPABLE) != 0)
			_exit(1);
		test_tell(tell[1]);
		test_wait(go[0]);
		_exit(page[9] == 0x66 ? 0 : 2);
	}
	assert_true(test_wait(tell[0]));
	struct mem_slot peer = {v->mem_slot, seg_proc(&v->seg, v->mem_slot)->gen};
	int peer_mem = v->mem;
	uint64_t va = (uint64_t)(uintptr_t)page + 9;

	assert_true(peer_mem >= 0);
	assert_int_equal(link_join(&ml, &me, v->dir, "h1"), 0);
	v->mem = peer_mem;
	v->mem_slot = peer.slot;
	/* root may use process_vm_*: another namespace forces the descriptor */
	seg_proc(&me, peer.slot)->pid_ns++;
	sys_fd_kept = note_kept;
	/* no copy needs a descriptor */
	assert_false(mem_fetch(&me, 0));
	assert_int_equal(mem_read(&me, peer, va, &b, 1), -ETIMEDOUT);
	for (uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC; !mem_fetch(&me, NSEC_PER_SEC);)
		assert_true(clock_now_ns() < end);
	assert_int_equal(mem_read(&me, peer, va, &b, 1), 0);
	assert_int_equal(b, 0x55);
	assert_false(mem_fetch(&me, NSEC_PER_SEC));
	b = 0x66;
	assert_int_equal(mem_write(&me, peer, va, &b, 1), 0);
	assert_int_equal(seg_proc(&me, peer.slot)->refused, 1);
	assert_true(kept_fd >= 900 && (fcntl(kept_fd, F_GETFD) & FD_CLOEXEC));
	sys_fd_kept = NULL;
	assert_int_equal(mem_read(&me, peer, 0, &b, 1), -EFAULT);
	test_tell(go[1]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(mem_read(&me, peer, va, &b, 1), -ESRCH);
	link_forget(&ml, &me);
	seg_unmap(&me);
	munmap(page, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(join_maps_the_segment_and_gives_a_slot),
		cmocka_unit_test(files_open_at_the_lowest_number),
		cmocka_unit_test(closing_tells_whether_it_was_the_last),
		cmocka_unit_test(late_answers_are_not_mixed_up),
		cmocka_unit_test(no_fabric_is_an_error),
		cmocka_unit_test(a_forked_child_joins_as_itself),
		cmocka_unit_test(an_undumpable_peer_is_reached_through_the_supervisor),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
