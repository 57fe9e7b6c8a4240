/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC domains, private or named by a file: all who open a domain by the same inode get the same
 * domain. Handlers, called by ioctl.c and write.c.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "uverbs/priv.h"
#include "util/sys.h"

/* For a sandbox that does not know statx(2). */
static int key_without_birth(int fd, struct uv_inode *k)
{
	struct stat st;

	if (sys_fstat(fd, &st) < 0)
		return uv_no(-EBADF, "fd is no open file");
	*k = (struct uv_inode){
		.major = major(st.st_dev), .minor = minor(st.st_dev), .ino = st.st_ino};
	return 0;
}

static int key_of(int fd, struct uv_inode *k)
{
	struct statx st;
	long r = sys_call(SYS_fcntl, fd, F_GETFL);

	if (!sys_refused(r) && (r < 0 || r & O_PATH))
		return uv_no(-EBADF, "fd is no open file");
	r = sys_call(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st);
	if (sys_refused(r))
		return key_without_birth(fd, k);
	if (r < 0)
		return uv_no(-EBADF, "fd is no open file");
	*k = (struct uv_inode){
		.major = st.stx_dev_major, .minor = st.stx_dev_minor, .ino = st.stx_ino};
	if (st.stx_mask & STATX_BTIME)
		k->born =
			(uint64_t)st.stx_btime.tv_sec * UINT64_C(1000000000) + st.stx_btime.tv_nsec;
	return 0;
}

/* Called under the share lock. */
static int open_xrcd(struct uv_bundle *b, const struct ib_uverbs_open_xrcd *cmd,
		     const struct uv_inode *k, struct uv_object **o)
{
	const struct uv_driver *d = b->file->api->driver;
	uint32_t found = k ? d->find_xrcd(b->ctx, k) : 0;
	struct uv_xrcd *x;
	int r;

	if (k && !found && !(cmd->oflags & O_CREAT))
		return uv_no(-EAGAIN, "the file has no domain, and oflags lack O_CREAT");
	if (found && cmd->oflags & O_EXCL)
		return uv_no(-EINVAL, "the file has a domain, and oflags have O_EXCL");
	r = uv_new(b, &uv_type_xrcd, o);
	if (r)
		return r;
	x = (struct uv_xrcd *)*o;
	x->xrcd = found;
	r = found ? d->open_xrcd(x) : d->alloc_xrcd(x, k);
	if (!r)
		uv_b_created(b);
	return r;
}

int uv_cmd_open_xrcd(struct uv_bundle *b)
{
	struct ib_uverbs_open_xrcd cmd;
	struct ib_uverbs_open_xrcd_resp resp = {0};
	const struct uv_driver *d = b->file->api->driver;
	struct uv_inode k;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r && cmd.fd != UINT32_MAX)
		r = key_of((int)cmd.fd, &k);
	if (!r && !b->ctx)
		r = uv_why(b, -EINVAL, "the file has no context yet");
	if (!r)
		r = d->share_lock(b->ctx);
	if (r)
		return r;
	r = open_xrcd(b, &cmd, cmd.fd != UINT32_MAX ? &k : NULL, &o);
	d->share_unlock(b->ctx);
	if (r)
		return r;
	resp.xrcd_handle = o->handle;
	return uv_response(b, &resp, sizeof(resp));
}

int uv_cmd_close_xrcd(struct uv_bundle *b)
{
	struct ib_uverbs_close_xrcd cmd;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r)
		uv_get_destroy(b, &uv_type_xrcd, cmd.xrcd_handle, &r);
	return r;
}

static int xrcd_destroy(struct uv_object *o, int why)
{
	return why == UV_CLOSE ? 0 : o->file->api->driver->dealloc_xrcd((struct uv_xrcd *)o);
}

const struct uv_type uv_type_xrcd = {
	.name = "XRCD",
	.object_id = UVERBS_OBJECT_XRCD,
	.size = sizeof(struct uv_xrcd),
	.number = offsetof(struct uv_xrcd, xrcd),
	.destroy_order = 3,
	.destroy = xrcd_destroy,
};

static const struct uv_attr_def destroy_attrs[] = {
	UV_ATTR_IDR(UVERBS_ATTR_DESTROY_XRCD_HANDLE, &uv_type_xrcd, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def methods[] = {
	{UVERBS_METHOD_XRCD_DESTROY, "DESTROY", destroy_attrs, ARRAY_SIZE(destroy_attrs),
	 uv_destroy_handler, false},
};

const struct uv_object_def uv_def_xrcd = {
	.id = UVERBS_OBJECT_XRCD,
	.name = "XRCD",
	.type = &uv_type_xrcd,
	.methods = methods,
	.nmethods = ARRAY_SIZE(methods),
	.needs = offsetof(struct uv_driver, dealloc_xrcd),
};
