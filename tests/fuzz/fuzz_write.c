/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* write(2): both kinds of headers, commands, and their responses. */
#include "device.h"

#define CALLS 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};
	struct write_row row;

	fz_world_begin(fz_u8(&f));
	fz_cover_from_here();
	for (int i = 0; i < CALLS && f.n; i++) {
		fz_written_read(&f, &row);
		world_write(&row);
	}
	fz_world_end();
	return 0;
}
