/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open uverbs device file: this process's handles, its context, its mappings. Hardware objects
 * are in the segment; they stay as long as any process holds the file. Called by the shim.
 */
#include <linux/capability.h>
#include "uverbs/priv.h"
#include "util/sys.h"

bool uv_capable(unsigned int cap)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	if (sys_call(SYS_capget, &h, d))
		return false;
	return d[cap / 32].effective & (1u << (cap % 32));
}

void uv_cred_get(struct uv_cred *c)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	*c = (struct uv_cred){.pid = sys_getpid()};
	sys_call(SYS_getresuid, &c->uid[0], &c->uid[1], &c->uid[2]);
	sys_call(SYS_getresgid, &c->gid[0], &c->gid[1], &c->gid[2]);
	sys_call(SYS_capget, &h, d);
	c->caps = (uint64_t)d[1].effective << 32 | d[0].effective;
}

bool uv_file_has_port(const struct uv_file *f, uint32_t num)
{
	return num >= 1 && num <= f->device.num_ports;
}

int uv_file_gid(const struct uv_file *f, uint32_t port, uint64_t index, struct uv_gid *gid)
{
	static const uint8_t none[16];
	int r = -EINVAL;

	if (uv_file_has_port(f, port) && index < f->device.gid_tbl_len)
		r = f->api->driver->query_gid(f->seg, f->hca, port, (uint32_t)index, gid);
	if (r)
		return r;
	return memcmp(gid->raw, none, sizeof(none)) ? 0 : -ENODATA;
}

/* The table is made once per process; if two threads make it, one of the tables is freed. */
static int get_api(struct uv_system *sys)
{
	struct uv_api *api, *none = NULL;
	int r;

	if (__atomic_load_n(&sys->api, __ATOMIC_ACQUIRE))
		return 0;
	r = uv_api_create(sys->driver, &api);
	if (r)
		return r;
	if (!__atomic_compare_exchange_n(&sys->api, &none, api, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		uv_api_destroy(api);
	return 0;
}

int uv_open(struct uv_system *sys, uint32_t hca, uint32_t file, uint32_t gen, struct uv_file **out)
{
	struct uv_file *f;
	int r = get_api(sys);

	if (r)
		return r;
	f = heap_zalloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	uv_cred_get(&f->opener);
	f->sys = sys;
	f->seg = sys->seg;
	f->api = sys->api;
	f->hca = hca;
	sys->driver->get_device(sys->seg, hca, &f->device);
	f->file = file;
	f->gen = gen;
	atomic_store(&f->refs, 1);
	pthread_mutex_init(&f->lock, NULL);
	*out = f;
	return 0;
}

void uv_file_get(struct uv_file *f)
{
	atomic_fetch_add(&f->refs, 1);
}

void uv_file_put(struct uv_file *f)
{
	if (atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&f->lock);
	heap_free(f);
}

void uv_release(struct uv_file *f, bool last)
{
	struct seg_proc *p = seg_proc(f->seg, f->seg->self);
	struct uv_event_file *async;

	pthread_mutex_lock(&f->lock);
	uv_close_all(f);
	if (f->ctx && f->api->driver->dealloc_ucontext)
		f->api->driver->dealloc_ucontext(f->ctx);
	f->ctx = NULL;
	f->closed = true;
	if (last) {
		for (struct uv_object *o = f->fds; o; o = o->next)
			if (o->type == &uv_type_comp_channel)
				uv_event_closed((struct uv_event_file *)o);
		if (p)
			atomic_fetch_sub(&p->pinned, atomic_load(&f->pinned));
		uv_umem_put_all(f);
	}
	async = f->default_async;
	f->default_async = NULL;
	pthread_mutex_unlock(&f->lock);
	uv_event_file_put(async);
	uv_file_put(f);
}

void uv_forked(struct uv_file *f)
{
	pthread_mutex_init(&f->lock, NULL);
	/* Memory that the parent has registered is counted for the parent. */
	atomic_store(&f->pinned, 0);
}

static void trace_mmap(const struct uv_file *f, size_t len, int prot, int flags, off_t off,
		       const void *at, int result)
{
	struct rec r;

	rec_begin(&r, LOG_UVERBS, "mmap", 0);
	rec_group(&r, "in", "(");
	uv_trace_file(&r, f);
	rec_x(&r, "length", len);
	rec_x(&r, "prot", (unsigned int)prot);
	rec_x(&r, "flags", (unsigned int)flags);
	rec_x(&r, "offset", (uint64_t)off);
	rec_group_end(&r, ")");
	if (!result) {
		rec_group(&r, "out", " -> ");
		rec_x(&r, "addr", (uintptr_t)at);
		rec_group_end(&r, "");
	}
	uv_trace_result(&r, result);
	rec_end(&r);
}

void *uv_mmap(struct uv_file *f, void *addr, size_t len, int prot, int flags, off_t off, int *err)
{
	const struct uv_driver *d = f->api->driver;
	void *out = MAP_FAILED;
	int r;

	pthread_mutex_lock(&f->lock);
	uv_why_init();
	if (seg_file_down(f->seg, f->file))
		r = -EIO;
	else if (!f->ctx || !d->mmap)
		r = uv_no(-EINVAL, "the file has no context yet");
	else
		r = d->mmap(f->ctx, addr, len, prot, flags, off, &out);
	if (TRACE_ON(LOG_UVERBS))
		trace_mmap(f, len, prot, flags, off, out, r);
	pthread_mutex_unlock(&f->lock);
	*err = r;
	return r ? MAP_FAILED : out;
}
