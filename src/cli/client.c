/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns requests to a supervisor, and the choice of the supervisor. The commands call it. */
#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "shim/shim.h"
#include "super/program.h"
#include "super/runtime.h"
#include "util/cleanup.h"

/* The first letter of a process's state (proc(5)); 0: unknown. */
static char state_of(pid_t pid)
{
	char path[32], line[512], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL; /* behind the name */
	fclose(f);
	return end && end[1] == ' ' ? end[2] : 0;
}

/* The process that listens at the other end; 0: it is in another PID namespace. */
static pid_t supervisor_of(int sock)
{
	struct ucred u = {0};
	socklen_t len = sizeof(u);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &u, &len) ? 0 : u.pid;
}

/* One that is stopped answers only when somebody lets it go on: do not wait for that. */
static ssize_t receive(int sock, struct msghdr *h)
{
	const struct timeval second = {.tv_sec = 1};
	pid_t pid = supervisor_of(sock);
	bool stopped = false;
	ssize_t n = -1;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	for (int s = 0; s < CLIENT_LIMIT_S; s++) {
		bool was = stopped;

		n = recvmsg(sock, h, MSG_CMSG_CLOEXEC);
		if (n >= 0 || errno != EAGAIN)
			return n;
		stopped = pid > 0 && state_of(pid) == 'T';
		if (was && stopped) {
			prog_fail("process %d, the fabric's supervisor, is stopped", (int)pid);
			break;
		}
	}
	errno = EAGAIN;
	return n;
}

static int ask(int sock, struct link_msg *m, const void *more, size_t nmore, int send_fd, int *fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec v[2] = {{m, sizeof(*m)}, {(void *)more, nmore}};
	struct msghdr h = {
		.msg_iov = v, .msg_iovlen = 2, .msg_control = &c, .msg_controllen = sizeof(c)};
	const struct timeval limit = {.tv_sec = CLIENT_LIMIT_S};
	struct cmsghdr *cm;
	ssize_t n;

	*fd = -1;
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	m->layout_version = SEG_LAYOUT_VERSION;
	m->more = (uint32_t)nmore;
	if (send_fd >= 0) {
		c.align = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS,
					   .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(&c.align), &send_fd, sizeof(int));
	} else {
		h.msg_controllen = 0;
	}
	if (sendmsg(sock, &h, MSG_NOSIGNAL) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	h.msg_iovlen = 1;
	h.msg_controllen = sizeof(c);
	n = receive(sock, &h);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	cm = CMSG_FIRSTHDR(&h);
	if (cm && cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_RIGHTS &&
	    cm->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(cm), sizeof(int));
	if (!n)
		return -ECONNRESET;
	if (n != sizeof(*m))
		return -EPROTO;
	return m->err;
}

int client_send(int sock, struct link_msg *m, int send_fd, int *fd)
{
	return ask(sock, m, NULL, 0, send_fd, fd);
}

int client_send_more(int sock, struct link_msg *m, const void *more, size_t n)
{
	int fd, r = ask(sock, m, more, n, -1, &fd);

	if (fd >= 0)
		close(fd);
	return r;
}

int client_request(int sock, struct link_msg *m, int *fd)
{
	return client_send(sock, m, -1, fd);
}

struct json_object *client_status(int sock, struct link_msg *m, int *err)
{
	_cleanup_close_ int fd = -1;
	struct json_object *o;
	struct stat st;
	char *text;

	*err = client_request(sock, m, &fd);
	if (!*err && (fd < 0 || fstat(fd, &st) < 0))
		*err = -EPROTO;
	if (*err)
		return NULL;
	text = calloc(1, (size_t)st.st_size + 1);
	if (!text || pread(fd, text, (size_t)st.st_size, 0) != st.st_size) {
		free(text);
		*err = -ENOMEM;
		return NULL;
	}
	o = json_tokener_parse(text);
	free(text);
	if (!o)
		*err = -EPROTO;
	return o;
}

/* ---- which fabric */

struct only {
	char name[PROG_NAME_MAX + 1];
	unsigned int n;
};

static int count_fabric(void *arg, const char *name)
{
	struct only *o = arg;

	snprintf(o->name, sizeof(o->name), "%s", name);
	o->n++;
	return 0;
}

int client_here(const char *verb)
{
	const char *here = getenv(SHIM_ENV_DIR), *name = strrchr(here, '/');
	struct runtime rt = RUNTIME_EMPTY;
	char parent[512];
	int r;

	snprintf(parent, sizeof(parent), "%.*s", (int)(name - here), here);
	/* Users whom --allow-uid admits may search it only. */
	rt.fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = rt.fd < 0 ? -errno : runtime_connect(&rt, name + 1);
	if (rt.fd >= 0)
		close(rt.fd);
	return r < 0 ? prog_fail("%s: fabric %s does not answer: %s", verb, here, strerror(-r)) : r;
}

/* The default fabric: the one that this process runs on, else the only one. */
static int connect_default(const char *verb)
{
	struct runtime rt = RUNTIME_EMPTY;
	const char *here = getenv(SHIM_ENV_DIR);
	struct only only = {.n = 0};
	int r;

	if (here && strrchr(here, '/') && strrchr(here, '/') != here)
		return client_here(verb);
	r = runtime_open(&rt, false);
	if (r > 0)
		return r;
	if (rt.fd >= 0)
		r = runtime_for_each(&rt, count_fabric, &only);
	if (only.n != 1)
		r = prog_fail(only.n ? "%s: several fabrics are up: choose one with --fabric"
				     : "%s: no fabric is up",
			      verb);
	else
		r = runtime_connect(&rt, only.name);
	runtime_close(&rt);
	return r < 0 ? prog_fail("%s: fabric '%s' does not answer: %s", verb, only.name,
				 strerror(-r))
		     : r;
}

/* Returns a socket, >= 3 (main() ensures it); PROG_FAILED. */
static int connect_named(const char *verb, const char *name)
{
	struct runtime rt;
	int r = runtime_open(&rt, false);

	if (r > 0)
		return r;
	r = r ? r : runtime_connect(&rt, name);
	runtime_close(&rt);
	if (r == -ENOENT || r == -ECONNREFUSED)
		return prog_fail("%s: there is no fabric '%s'", verb, name);
	return r < 0 ? prog_fail("%s: fabric '%s' does not answer: %s", verb, name, strerror(-r))
		     : r;
}

int client_connect(const struct cli_options *o, const char *verb)
{
	return o->fabric ? connect_named(verb, o->fabric) : connect_default(verb);
}
