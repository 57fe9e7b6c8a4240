/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC domains, private ones and those that a file stands for: whoever opens a domain by the same
 * inode gets the same one. Handlers, called by ioctl.c and write.c.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "uverbs/priv.h"
#include "hw/flags.h"
#include "hw/xrcd.h"
#include "util/sys.h"

/* Which file: an inode's number alone may come back. */
struct inode_key {
	uint32_t major, minor;
	uint64_t ino, born;
};

/* Where a sandbox does not know statx(2). */
static int key_without_birth(int fd, struct inode_key *k)
{
	struct stat st;

	if (sys_fstat(fd, &st) < 0)
		return uv_no(-EBADF, "fd is no open file");
	*k = (struct inode_key){
		.major = major(st.st_dev), .minor = minor(st.st_dev), .ino = st.st_ino};
	return 0;
}

static int key_of(int fd, struct inode_key *k)
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
	*k = (struct inode_key){
		.major = st.stx_dev_major, .minor = st.stx_dev_minor, .ino = st.stx_ino};
	if (st.stx_mask & STATX_BTIME)
		k->born =
			(uint64_t)st.stx_btime.tv_sec * UINT64_C(1000000000) + st.stx_btime.tv_nsec;
	return 0;
}

static uint32_t find(const struct uv_file *f, const struct inode_key *k)
{
	seg_for_each_live (f->seg, SEG_T_XRCD, i) {
		const struct hw_xrcd *x = seg_at(f->seg, SEG_T_XRCD, i);

		if (hw_in_service(&x->flags) && x->hca == f->hca && atomic_load(&x->keyed) &&
		    x->ino == k->ino && x->born == k->born && x->dev_major == k->major &&
		    x->dev_minor == k->minor)
			return i;
	}
	return 0;
}

static int make(struct uv_bundle *b, struct uv_xrcd *x, const struct inode_key *k)
{
	const struct uv_driver *d = b->file->api->driver;
	struct hw_xrcd *hw;
	int r = d->alloc_xrcd(x);

	if (r || !k)
		return r;
	hw = hw_xrcd(b->file->seg, x->xrcd);
	r = uv_share_join(b->file, SEG_T_XRCD, x->xrcd, &x->share);
	if (r) {
		d->dealloc_xrcd(x);
		return r;
	}
	hw->dev_major = k->major;
	hw->dev_minor = k->minor;
	hw->ino = k->ino;
	hw->born = k->born;
	atomic_store(&hw->keyed, 1);
	return 0;
}

/* Under the share lock. */
static int open_xrcd(struct uv_bundle *b, const struct ib_uverbs_open_xrcd *cmd,
		     const struct inode_key *k, struct uv_object **o)
{
	uint32_t found = k ? find(b->file, k) : 0;
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
	r = found ? uv_share_join(b->file, SEG_T_XRCD, found, &x->share) : make(b, x, k);
	if (!r)
		uv_b_created(b);
	return r;
}

int uv_cmd_open_xrcd(struct uv_bundle *b)
{
	struct ib_uverbs_open_xrcd cmd;
	struct ib_uverbs_open_xrcd_resp resp = {0};
	struct inode_key k;
	struct uv_object *o;
	int r;

	r = uv_request(b, &cmd, sizeof(cmd));
	if (!r && cmd.fd != UINT32_MAX)
		r = key_of((int)cmd.fd, &k);
	if (!r)
		r = uv_share_lock(b->file);
	if (r)
		return r;
	r = open_xrcd(b, &cmd, cmd.fd != UINT32_MAX ? &k : NULL, &o);
	uv_share_unlock(b->file);
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
	struct uv_xrcd *x = (struct uv_xrcd *)o;
	struct uv_file *f = o->file;
	int r;

	if (why == UV_CLOSE)
		return 0;
	if (!x->share)
		return f->api->driver->dealloc_xrcd(x);
	r = uv_share_lock(f);
	if (r)
		return r;
	if (!uv_share_leave(f, x->share)) {
		r = f->api->driver->dealloc_xrcd(x);
		if (!r)
			seg_free(f->seg, SEG_T_SHARE, x->share);
	}
	uv_share_unlock(f);
	return r;
}

const struct uv_type uv_type_xrcd = {
	.name = "XRCD",
	.object_id = UVERBS_OBJECT_XRCD,
	.size = sizeof(struct uv_xrcd),
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
