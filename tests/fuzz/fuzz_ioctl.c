/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RDMA_VERBS_IOCTL: header, attributes, and the memory behind them. Rows of tests/abi, and others.
 */
#include "device.h"

#define CALLS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};
	struct ioctl_row row;
	struct fz_store store;

	fz_world_begin(fz_u8(&f));
	fz_cover_from_here();
	for (int i = 0; i < CALLS && f.n; i++) {
		fz_ioctl_read(&f, &row, &store);
		world_ioctl(&row);
		if (i % 4 == 3) {
			fz_read(ASYNC, OUT, 64);
			fz_read(CHANNEL, OUT, 64);
			fz_read(RESULTS, OUT, 512);
			fz_read(EVENT_FILE, OUT, 512);
		}
	}
	fz_world_end();
	return 0;
}
