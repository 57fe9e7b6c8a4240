/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attaching QPs to multicast groups. Handlers, called by write.c. */
#include "uverbs/priv.h"
#include "util/heap.h"
#include "wire/ib/gid.h"

#define MULTICAST_LID 0xc000
#define PERMISSIVE_LID 0xffff

/* ib_attach_mcast(); on an Ethernet port the LID has no meaning. */
static bool is_group(const struct uv_qp *qp, const struct ib_uverbs_attach_mcast *c)
{
	return ib_gid_is_mcast(c->gid) && qp->qp_type == IBV_QPT_UD &&
	       (qp->obj.file->device.roce ||
		(c->mlid >= MULTICAST_LID && c->mlid != PERMISSIVE_LID));
}

/* The list's entry of this group, or the end of the list. */
static struct uv_mcast **entry(struct uv_qp *qp, const struct ib_uverbs_attach_mcast *c)
{
	struct uv_mcast **e = &qp->mcast;

	while (*e && ((*e)->mlid != c->mlid || memcmp((*e)->gid, c->gid, sizeof((*e)->gid))))
		e = &(*e)->next;
	return e;
}

static int request(struct uv_bundle *b, struct ib_uverbs_attach_mcast *c, struct uv_qp **qp)
{
	int r = uv_request(b, c, sizeof(*c));

	if (!r)
		*qp = (struct uv_qp *)uv_get(b, &uv_type_qp, c->qp_handle, UV_READ, &r);
	return r;
}

int uv_cmd_attach_mcast(struct uv_bundle *b)
{
	struct ib_uverbs_attach_mcast cmd;
	struct uv_mcast **e, *m;
	struct uv_qp *qp;
	int r = request(b, &cmd, &qp);

	if (r)
		return r;
	e = entry(qp, &cmd);
	if (*e)
		return 0;
	m = heap_zalloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	memcpy(m->gid, cmd.gid, sizeof(m->gid));
	m->mlid = cmd.mlid;
	if (is_group(qp, &cmd))
		r = b->file->api->driver->attach_mcast(qp, m->gid, m->mlid);
	else
		r = uv_why(b, -EINVAL, "a UD QP, a multicast GID and an mlid of that kind");
	if (r)
		heap_free(m);
	else
		*e = m;
	return r;
}

int uv_cmd_detach_mcast(struct uv_bundle *b)
{
	struct ib_uverbs_attach_mcast cmd;
	struct uv_mcast **e, *m;
	struct uv_qp *qp;
	int r = request(b, &cmd, &qp);

	if (r)
		return r;
	e = entry(qp, &cmd);
	m = *e;
	if (!m)
		return uv_why(b, -EINVAL, "the QP is not in this group");
	/* The kernel, too, forgets the entry, whatever the driver returns. */
	*e = m->next;
	r = b->file->api->driver->detach_mcast(qp, m->gid, m->mlid);
	heap_free(m);
	return r;
}

void uv_mcast_forget(struct uv_qp *qp, bool detach)
{
	while (qp->mcast) {
		struct uv_mcast *m = qp->mcast;

		qp->mcast = m->next;
		if (detach)
			qp->obj.file->api->driver->detach_mcast(qp, m->gid, m->mlid);
		heap_free(m);
	}
}
