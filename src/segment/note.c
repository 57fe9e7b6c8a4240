/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the name that notes are sent to. The shim sends, cli/lost.c reads. */
#include "segment/note.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "util/sys.h"

/* The end of the directory's path: the runtime directory's name and the fabric's. */
static socklen_t note_name(const char *dir, struct sockaddr_un *a)
{
	static const char head[] = "softhca-note";
	size_t n = strlen(dir), room = sizeof(a->sun_path) - sizeof(head);
	const char *tail = n > room ? dir + n - room : dir;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path + 1, head, sizeof(head) - 1);
	memcpy(a->sun_path + sizeof(head), tail, strlen(tail));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(head) + strlen(tail));
}

int note_listen(const char *dir)
{
	struct sockaddr_un a;
	socklen_t len = note_name(dir, &a);
	int fd = (int)sys_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = fd < 0 ? fd : (int)sys_call(SYS_bind, fd, &a, len);

	if (fd >= 0 && r < 0)
		sys_close(fd);
	return r < 0 ? r : fd;
}

void note_send(const char *dir, enum note_kind kind, const char *program)
{
	struct note n = {.kind = kind, .uid = (uint32_t)sys_call(SYS_geteuid)};
	size_t len = program ? strlen(program) : 0, skip;
	struct sockaddr_un a;
	socklen_t size = note_name(dir, &a);
	int fd = (int)sys_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	skip = len < sizeof(n.program) ? 0 : len - sizeof(n.program) + 1;
	if (program)
		memcpy(n.program, program + skip, len - skip);
	sys_call(SYS_sendto, fd, &n, sizeof(n), MSG_NOSIGNAL, &a, size);
	sys_close(fd);
}
