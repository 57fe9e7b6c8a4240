/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A capture: what leaves the ports of a fabric, into a file. Owned by `softhca pcap`. */
#ifndef SOFTHCA_CLI_PCAP_H
#define SOFTHCA_CLI_PCAP_H

#include <pthread.h>
#include <stdio.h>
#include "cli/cli.h"
#include "segment/seg.h"

struct capture {
	struct seg *seg; /* NULL: nothing runs */
	FILE *file;
	const char *name;
	uint32_t snap;
	bool live;
	pthread_t thread;
	_Atomic uint32_t stop;  /* 1: write what is there, and end */
	_Atomic uint32_t ended; /* by itself: it cannot write */
	int error;              /* errno of that */
	uint64_t packets, lost;
};

/* Open the file and begin, by a thread of its own. 0; PROG_FAILED after a message. */
int capture_begin(struct capture *c, struct seg *s, const struct cli_options *o);
/* End it and say how much it was, on standard error. 0; PROG_FAILED: something could not be
 * written.
 */
int capture_end(struct capture *c);

#endif
