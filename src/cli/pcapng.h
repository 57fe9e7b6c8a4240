/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Captures in the format pcapng. All return false if the file cannot be written. */
#ifndef SOFTHCA_CLI_PCAPNG_H
#define SOFTHCA_CLI_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pcapng_packet {
	uint64_t ns; /* since 1970 */
	const uint8_t *bytes;
	uint32_t kept, wire; /* bytes here, and on the link */
	const char *comment; /* NULL: none */
};

/* The file's beginning, for packets of this link type. */
bool pcapng_begin(FILE *f, int linktype);
bool pcapng_packet(FILE *f, const struct pcapng_packet *p);
/* A rule has fired: a line of its own, which has no packet. */
bool pcapng_text(FILE *f, uint64_t ns, const char *rule);

#endif
