/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock page (MLX5_IB_MMAP_CLOCK_INFO), which converts completion timestamps to wall-clock
 * time. Called by uar.c.
 *
 * The kernel rewrites its page before the card's 41-bit counter wraps (mlx5_core clock.c,
 * mlx5_timestamp_overflow()), with `sign` odd meanwhile. This counter has 63 bits and counts
 * nanoseconds, so one pair of times stays right: the page is a constant copy of the HCA's pair,
 * equal in all processes, and `sign` stays 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "hw/hca.h"
#include "mlx5/priv.h"
#include "util/sys.h"

static void info_fill(const struct uv_context *ctx, struct mlx5_ib_clock_info *i)
{
	const struct hw_hca *hca = hw_hca(ctx->seg, ctx->hca);

	*i = (struct mlx5_ib_clock_info){
		.nsec = hca->clock_nsec,
		.cycles = hca->clock_cycles,
		.mult = 1, /* device_frequency_khz is 1 GHz */
		.mask = INT64_MAX,
		/* a third of the time until a wrap, as in the kernel */
		.overflow_period = INT64_MAX / 3,
	};
}

/* Makes a file with these bytes that can only be mapped for reading: a descriptor, or -errno. */
static int page_file(const void *bytes, size_t n)
{
	const int seals =
		F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE; /* clears VM_MAYWRITE */
	int fd = (int)sys_raw(SYS_memfd_create, (long)"softhca-clock",
			      MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0);
	int r;

	if (fd < 0)
		return fd;
	r = (int)sys_raw(SYS_ftruncate, fd, MLX5_PAGE_SIZE, 0, 0, 0, 0);
	if (r == 0)
		r = sys_pwrite(fd, bytes, n, 0) == (ssize_t)n ? 0 : -ENOMEM;
	if (r == 0)
		r = sys_fcntl(fd, F_ADD_SEALS, seals);
	if (r == 0)
		return fd;
	sys_close(fd);
	return r;
}

int mlx5_clock_mmap(struct uv_context *ctx, uint32_t version, void *addr, size_t len, int prot,
		    int flags, void **out)
{
	struct mlx5_ib_clock_info info;
	struct rlimit lim;
	int fd;

	/* mlx5_ib_mmap_clock_info_page() */
	if (len > MLX5_PAGE_SIZE || !len || !(flags & MAP_SHARED))
		return uv_no(-EINVAL, "one page, mapped shared");
	if (version != MLX5_IB_CLOCK_INFO_V1)
		return uv_no(-EOPNOTSUPP, "there is one clock page");
	if (prot & (PROT_WRITE | PROT_EXEC))
		return uv_no(-EPERM, "the clock page is read only");
	/*
	 * With a file size limit below a page, ftruncate(2) would raise SIGXFSZ. libmlx5 works
	 * without the page.
	 */
	if (sys_raw(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&lim, 0, 0) ||
	    lim.rlim_cur < MLX5_PAGE_SIZE)
		return -ENOMEM;
	info_fill(ctx, &info);
	fd = page_file(&info, sizeof(info));
	if (fd < 0)
		return -ENOMEM;
	*out = sys_mmap(addr, MLX5_PAGE_SIZE, prot, flags, fd, 0);
	sys_close(fd);
	return sys_is_err(*out) ? (int)(intptr_t)*out : 0;
}
