/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the output of `softhca topo --fabric`: the present subnet, as text, or as a picture. */
#include "super/sup_console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include "topo/snapshot.h"
#include "util/cleanup.h"

static int write_picture(FILE *f, struct sup *sup, const struct link_msg *m)
{
	const struct dot_options o = {.max_hosts = m->hca, .counters = m->port};
	struct picture p;
	struct topo t;
	int r = topo_snapshot_picture(&sup->seg, sup->console ? sup->console->previous : NULL, &t,
				      &p);

	if (r)
		return r;
	p.name = sup->name;
	r = m->arg == TOPO_DOT ? picture_write_dot(f, &p, &o) : picture_write_page(f, &p);
	picture_finish(&p);
	topo_free(&t);
	return r;
}

static int write_topology(FILE *f, struct sup *sup)
{
	struct topo t;
	int r = topo_snapshot(&sup->seg, &t);

	if (r)
		return r;
	r = topo_write_ibnetdiscover(f, &t);
	topo_free(&t);
	return r;
}

int sup_topo_fd(struct sup *sup, const struct link_msg *m)
{
	_cleanup_close_ int fd = memfd_create("softhca-topo", MFD_CLOEXEC);
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	int r;

	if (!f) {
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	r = m->arg == TOPO_IBNETDISCOVER ? write_topology(f, sup) : write_picture(f, sup, m);
	if (fclose(f) && !r)
		r = -EIO;
	return r < 0 ? r : take_fd(&fd);
}
