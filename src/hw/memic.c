/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the marks of device memory that programs have mapped. Called by the driver, which maps it,
 * and by the firmware, which gives no page to another owner while somebody maps it.
 *
 * A mapping holds the open file that it was made from, also in a fork child and after close(), as
 * it does of a card's. So each is made from an open file of its own, with a lock of that file
 * (fcntl(2), F_OFD_SETLK) on its bytes of the segment.
 */
#include "hw/memic.h"
#include "util/fmt.h"
#include "util/sys.h"

#include <fcntl.h>

/* The same bytes in fcntl()'s words. */
static struct flock bytes_of(const struct seg *s, const uint8_t *bytes, uint64_t len, short type)
{
	return (struct flock){.l_type = type,
			      .l_whence = SEEK_SET,
			      .l_start = bytes - s->base,
			      .l_len = (off_t)len};
}

int hw_memic_open(const struct seg *s, const uint8_t *bytes, uint64_t len)
{
	struct flock l = bytes_of(s, bytes, len, F_RDLCK);
	char path[32];
	int fd, r;

	fmt(path, sizeof(path), "/proc/thread-self/fd/%d", s->fd);
	fd = sys_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = sys_fcntl(fd, F_OFD_SETLK, (long)&l);
	if (r < 0)
		sys_close(fd);
	return r < 0 ? r : fd;
}

bool hw_memic_mapped(const struct seg *s, const uint8_t *bytes, uint64_t len)
{
	struct flock l = bytes_of(s, bytes, len, F_WRLCK);

	return sys_fcntl(s->fd, F_OFD_GETLK, (long)&l) < 0 || l.l_type != F_UNLCK;
}
