/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A capture: packets that leave the ports of a fabric go into a file. `softhca pcap` owns it. */
#ifndef SOFTHCA_CLI_PCAP_H
#define SOFTHCA_CLI_PCAP_H

#include <pthread.h>
#include <stdio.h>
#include "cli/cli.h"
#include "segment/seg.h"

struct capture {
	struct seg *seg; /* NULL: no capture */
	FILE *file;
	const char *name;
	uint32_t snap;
	bool live;
	bool ng; /* the format is pcapng, which shows rules of --inject */
	const struct capture_form *form;
	struct pcap_dumper *dump; /* NULL: pcapng */
	pthread_t thread;
	_Atomic uint32_t stop;  /* 1: write the remaining packets, and end */
	_Atomic uint32_t ended; /* the thread has ended by itself: it cannot write */
	int error;              /* the errno of that failure */
	uint64_t packets, lost, fired;
};

/* Open the file and start its thread. 0; PROG_FAILED after a message. */
int capture_begin(struct capture *c, struct seg *s, const struct cli_options *o);
/*
 * End it and report the totals on standard error. 0; PROG_FAILED: some packets could not be
 * written.
 */
int capture_end(struct capture *c);
/* A capture of a fabric that is up: while the command runs, or until a signal comes. */
int pcap_around(struct cli_options *o);

#endif
