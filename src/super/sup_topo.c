/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the output of `softhca topo --fabric`: the present subnet, as text. */
#include "super/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include "topo/snapshot.h"
#include "util/cleanup.h"

int sup_topo_fd(struct sup *sup, bool dot)
{
	_cleanup_close_ int fd = memfd_create("softhca-topo", MFD_CLOEXEC);
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	struct topo t;
	int r;

	if (!f) {
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	r = topo_snapshot(&sup->seg, &t);
	if (!r)
		r = dot ? topo_write_dot(f, &t) : topo_write_ibnetdiscover(f, &t);
	if (!r)
		topo_free(&t);
	if (fclose(f) && !r)
		r = -EIO;
	return r < 0 ? r : take_fd(&fd);
}
