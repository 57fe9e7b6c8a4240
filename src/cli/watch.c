/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the view of a fabric by a process that is not part of it. pcap.c, trace_live.c and top.c use
 * it.
 */
#include "cli/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/fabrics.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define TURN_NS (100 * NSEC_PER_MSEC)

int watch_begin(const struct cli_options *o, struct seg *s)
{
	struct link_msg m = {.op = LINK_SEGMENT};
	int sock = client_connect(o, o->verb), fd = -1, r;

	struct link_msg ask = {.op = LINK_STATUS, .arg = LINK_STATUS_NO_HOSTS};
	struct json_object *status;

	if (sock == PROG_FAILED)
		return PROG_FAILED;
	status = client_status(sock, &ask, &r);
	if (!r)
		r = client_request(sock, &m, &fd);
	close(sock);
	if (!r)
		r = fd < 0 ? -EPROTO : seg_map(s, fd);
	if (!r)
		snprintf(s->dir, sizeof(s->dir), "%s", fabric_str(status, "directory"));
	json_object_put(status);
	return r ? prog_fail("%s: cannot get the memory of the fabric: %s", o->verb, strerror(-r))
		 : 0;
}

void watch_signals(sigset_t *set, sigset_t *old)
{
	static const int ours[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		sigaddset(set, ours[i]);
	sigprocmask(SIG_BLOCK, set, old);
}

/* True also for a zombie: process 1 of a container may never wait for its children. */
static bool has_ended(pid_t pid)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fd < 0 ? kill(pid, 0) < 0 && errno == ESRCH : poll(&p, 1, 0) > 0;
}

bool watch_over(const struct seg *s)
{
	/* A supervisor that was killed could not say so. */
	return atomic_load(&s->hdr->down) || has_ended((pid_t)s->hdr->supervisor_pid);
}

bool watch_until(const struct seg *s, const sigset_t *set, bool (*stuck)(void *ctx), void *ctx,
		 uint64_t until)
{
	while (!watch_over(s) && !stuck(ctx)) {
		uint64_t now = clock_now_ns(), ns = until > now ? until - now : 0;
		struct timespec ts;
		int sig;

		if (!ns)
			return false;
		ns = ns < TURN_NS ? ns : TURN_NS;
		ts = (struct timespec){0, (long)ns};
		sig = sigtimedwait(set, NULL, &ts);
		if (sig > 0 && sig != SIGCHLD)
			return true;
	}
	return true;
}

void watch_wait(const struct seg *s, const sigset_t *set, bool (*stuck)(void *ctx), void *ctx)
{
	watch_until(s, set, stuck, ctx, UINT64_MAX);
}
