// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Steps that are no commands: what the files themselves do, and threads that wait in them. */
#include "ucma.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "/dev/infiniband/rdma_cm"

struct step {
	int file;
	char **word;
	unsigned int n;
	FILE *to;
};

static void result(FILE *to, long r)
{
	const char *name = r < 0 ? strerrorname_np(errno) : NULL;

	if (name)
		fprintf(to, "%s", name);
	else
		fprintf(to, "%ld", r < 0 ? -errno : r);
}

static int fd_of(const struct step *s)
{
	return world_file(s->file);
}

static void do_open(const struct step *s)
{
	result(s->to, fd_of(s) < 0 ? -1 : 0);
}

static void do_close(const struct step *s)
{
	int r = close(fd_of(s));

	world.file[s->file] = -1;
	for (int i = 0; i < NIDS; i++)
		if (world.id[i].file == s->file)
			world.id[i].known = false;
	result(s->to, r);
}

static void do_nonblock(const struct step *s)
{
	result(s->to, fcntl(fd_of(s), F_SETFL, O_NONBLOCK));
}

/* poll, select and epoll must agree. */
static void do_poll(const struct step *s)
{
	struct pollfd p = {.fd = fd_of(s),
			   .events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLPRI};
	struct epoll_event ev = {.events = EPOLLIN};
	struct timeval now = {0};
	int ep = epoll_create1(EPOLL_CLOEXEC), n;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(p.fd, &set);
	n = poll(&p, 1, 0);
	fprintf(s->to, "%s%s%s%s%s", n ? "" : "-", p.revents & POLLIN ? "IN" : "",
		p.revents & POLLRDNORM ? " RDNORM" : "", p.revents & POLLOUT ? " OUT" : "",
		p.revents & (POLLERR | POLLHUP) ? " ERR" : "");
	epoll_ctl(ep, EPOLL_CTL_ADD, p.fd, &ev);
	if ((select(p.fd + 1, &set, NULL, NULL, &now) == 1) != !!(p.revents & POLLIN))
		fprintf(s->to, ", select differs");
	if ((epoll_wait(ep, &ev, 1, 0) == 1) != !!(p.revents & POLLIN))
		fprintf(s->to, ", epoll differs");
	close(ep);
}

/* An event is there; it is not read. */
static void do_wait(const struct step *s)
{
	struct pollfd p = {.fd = fd_of(s), .events = POLLIN};

	result(s->to, poll(&p, 1, world.patience) == 1 ? 0 : 1);
}

/* No event comes. A slow machine cannot make this step fail. */
static void do_quiet(const struct step *s)
{
	struct pollfd p = {.fd = fd_of(s), .events = POLLIN};

	fprintf(s->to, "%s", poll(&p, 1, 200) ? "event" : "quiet");
}

static void do_read(const struct step *s)
{
	char byte[512];

	result(s->to, read(fd_of(s), byte, sizeof(byte)));
}

static void do_pwrite(const struct step *s)
{
	char byte[32] = {0};

	result(s->to, pwrite(fd_of(s), byte, sizeof(byte), 0));
}

static void do_lseek(const struct step *s)
{
	result(s->to, lseek(fd_of(s), 0, SEEK_SET));
}

static void do_ioctl(const struct step *s)
{
	int n = 0;

	result(s->to, ioctl(fd_of(s), FIONREAD, &n));
}

static void do_mmap(const struct step *s)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd_of(s), 0);

	result(s->to, at == MAP_FAILED ? -1 : 0);
}

/* CREATE_ID and its header in two pieces, each of which is a write of its own. */
static void do_writev(const struct step *s)
{
	uint32_t id = 0;
	struct rdma_ucm_create_id cmd = {.response = (uintptr_t)&id, .ps = RDMA_PS_TCP};
	struct rdma_ucm_cmd_hdr hdr = {
		.cmd = RDMA_USER_CM_CMD_CREATE_ID, .in = sizeof(cmd), .out = sizeof(id)};
	struct iovec v[2] = {{&hdr, sizeof(hdr)}, {&cmd, sizeof(cmd)}};

	result(s->to, writev(fd_of(s), v, 2));
}

static void do_dup(const struct step *s)
{
	int to = atoi(s->word[1]);

	world.file[to] = dup(fd_of(s));
	result(s->to, world.file[to] < 0 ? -1 : 0);
}

/* The file's device is the one that /sys names; anybody may open it. */
static void do_device(const struct step *s)
{
	char dev[32] = "", want[32];
	FILE *f = fopen("/sys/class/misc/rdma_cm/dev", "re");
	struct stat st;

	if (f) {
		if (!fgets(dev, sizeof(dev), f))
			dev[0] = '\0';
		fclose(f);
	}
	if (stat(DEVICE, &st)) {
		result(s->to, -1);
		return;
	}
	snprintf(want, sizeof(want), "%u:%u\n", major(st.st_rdev), minor(st.st_rdev));
	fprintf(s->to, "%s %o major=%u sys=%s", S_ISCHR(st.st_mode) ? "chr" : "?",
		st.st_mode & 07777, major(st.st_rdev), strcmp(dev, want) ? dev : "same");
}

/* A line of a file. */
static void do_cat(const struct step *s)
{
	char line[256] = "";
	FILE *f = fopen(s->word[1], "re");

	if (!f) {
		result(s->to, -1);
		return;
	}
	if (fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = '\0';
	fclose(f);
	fprintf(s->to, "%s", line);
}

static void do_access(const struct step *s)
{
	result(s->to, access(s->word[1], F_OK));
}

/* ---- a thread in GET_EVENT */

static struct {
	pthread_t thread;
	int fd, result;
	bool done;
	struct rdma_ucm_event_resp event;
} getter;

static void *getter_main(void *arg)
{
	getter.result = step_get_event(getter.fd, &getter.event);
	__atomic_store_n(&getter.done, true, __ATOMIC_SEQ_CST);
	return arg;
}

static void do_getting(const struct step *s)
{
	getter.fd = fd_of(s);
	getter.done = false;
	result(s->to, pthread_create(&getter.thread, NULL, getter_main, NULL));
}

static void do_got(const struct step *s)
{
	pthread_join(getter.thread, NULL);
	if (getter.result)
		fprintf(s->to, "%s", strerrorname_np(-getter.result));
	else
		show_event(s->to, &getter.event, sizeof(getter.event));
}

static void on_signal(int n)
{
}

/* Signals until the thread has left the call. */
static void do_interrupt(const struct step *s)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &sa, NULL);
	while (!__atomic_load_n(&getter.done, __ATOMIC_SEQ_CST)) {
		pthread_kill(getter.thread, SIGUSR1);
		usleep(1000);
	}
	fprintf(s->to, "0");
}

/* The number of an id. */
static void do_number(const struct step *s)
{
	fprintf(s->to, "%u", world.id[s->word[1][0] - 'A'].id);
}

/* Without privileges from here to the end of the row. */
static void do_nobody(const struct step *s)
{
	result(s->to, geteuid() ? 0 : seteuid(NOBODY));
}

static const struct {
	const char *verb;
	void (*run)(const struct step *);
	unsigned int words;
} others[] = {
	{"open", do_open, 1},           {"close", do_close, 1},
	{"nonblock", do_nonblock, 1},   {"poll", do_poll, 1},
	{"quiet", do_quiet, 1},         {"read", do_read, 1},
	{"pwrite", do_pwrite, 1},       {"lseek", do_lseek, 1},
	{"ioctl", do_ioctl, 1},         {"mmap", do_mmap, 1},
	{"writev", do_writev, 1},       {"dup", do_dup, 2},
	{"device", do_device, 1},       {"cat", do_cat, 2},
	{"access", do_access, 2},       {"getting", do_getting, 1},
	{"interrupt", do_interrupt, 1}, {"got", do_got, 1},
	{"nobody", do_nobody, 1},       {"wait", do_wait, 1},
	{"number", do_number, 2},
};

bool step_other(char **word, unsigned int n, int file, FILE *to)
{
	const struct step s = {.file = file ? file : 1, .word = word, .n = n, .to = to};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i].verb, word[0]) && n == others[i].words) {
			others[i].run(&s);
			return true;
		}
	return false;
}
