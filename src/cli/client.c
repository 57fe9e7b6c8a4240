/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Called by status.c and up.c. */
#include "cli/client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int client_request(int sock, struct link_msg *m, int *fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec v = {m, sizeof(*m)};
	struct msghdr h = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};
	const struct timeval limit = {.tv_sec = 10};
	struct cmsghdr *cm;
	ssize_t n;

	*fd = -1;
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	m->layout_version = SEG_LAYOUT_VERSION;
	if (send(sock, m, sizeof(*m), MSG_NOSIGNAL) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
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
