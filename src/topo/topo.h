/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Topologies: makes a struct topo from a file (the output of ibnetdiscover, and ibsim's net files:
 * one grammar) or from a generator, and writes it again. For the supervisor and the command line
 * only: ordinary memory and stdio. The formats are in softhca-topo(5).
 *
 * On failure functions put the reasons into `err`: lines with newlines between them, of the form
 * "FILE:LINE:COLUMN: reason" when a file's content is to blame. All errors of a file are found;
 * after TOPO_ERRORS lines the last one is "and N more errors".
 */
#ifndef SOFTHCA_TOPO_TOPO_H
#define SOFTHCA_TOPO_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "fabric/topo.h"

#define TOPO_ERRORS 20
#define TOPO_ERR 8192
#define TOPO_ADDR_TEXT 46 /* INET6_ADDRSTRLEN */
/* The number of unicast LIDs limits a subnet's switches plus ports of adapters and routers. */
#define TOPO_MAX_LIDS 0xbfffu

/* Loads a generator ("ring:4"...), or a file ("-" for standard input). 0; -EINVAL, -errno. */
int topo_load(const char *spec, struct topo *t, char err[TOPO_ERR]);
/* Is it a generator with its arguments ("ring:..."), not a file's name? */
bool topo_is_generator(const char *spec);
/* The name of the ith generator, and how its arguments are written; NULL behind the last one. */
const char *topo_generator(size_t i, const char **form);
int topo_generate(const char *spec, struct topo *t, char err[TOPO_ERR]);
/* Frees a topology of the functions above, or a zeroed one. */
void topo_free(struct topo *t);

/* Sets values that are 0 to the choice of fab_build(). */
struct topo_defaults {
	uint32_t vendor_id, ca_id, switch_id; /* NodeInfo */
	uint32_t width, speed;                /* for cables */
};
void topo_fill(struct topo *t, const struct topo_defaults *d);

/* "10.0.0.1", "fd00::1/64"; without a prefix the usual one is meant. False: neither. */
bool topo_addr_parse(const char *text, size_t len, struct topo_addr *a);
/* The address without its prefix; `text`. */
const char *topo_addr_text(const struct topo_addr *a, char text[TOPO_ADDR_TEXT]);

/* Write it in ibnetdiscover's format, without the date. 0, or -EIO. */
int topo_write_ibnetdiscover(FILE *f, const struct topo *t);

#endif
