/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the topology parser share: parse.c reads files and nodes, ports.c ports. */
#ifndef SOFTHCA_TOPO_PARSE_H
#define SOFTHCA_TOPO_PARSE_H

#include "topo/text.h"

#define TOPO_PREFIX_LEN 20 /* of a module's name, as ibsim has it */

struct topo_parse {
	struct topo_build b;
	bool may_include;
	unsigned int depth; /* of files that include files */
	uint32_t node;      /* whose ports come; TOPO_NONE */
	/* What was said before a node and is meant for it, or for all that follow. */
	uint64_t base[4], next[4]; /* GUIDs, by enum topo_type */
	uint64_t sys_guid, port_guid;
	uint32_t vendor_id, device_id;
	uint32_t widths, speeds; /* masks for ports that do not say; 0: the device's */
	char prefix[TOPO_PREFIX_LEN + 1];
};

/*
 * The name of a node as the rest of the file knows it: "module#name". In place or kept; NULL: no
 * memory, or too long, said so at `at`.
 */
char *parse_name(struct topo_parse *p, struct topo_text *x, char *name,
		 const struct topo_where *at);
/* A line that begins with '[' or '@'. 0, -EINVAL, -ENOMEM. */
int parse_port(struct topo_parse *p, struct topo_text *x);
/* The next word of a comment: its length, from x->p on; 0: there is none. */
size_t parse_word(struct topo_text *x);
/* "lid N" and "lmc N" before `stop`; words that are something else are a comment. 0, -EINVAL. */
int parse_lid_lmc(struct topo_text *x, const char *stop, uint32_t *lid, uint32_t *lmc);
/* Masks of ibsim's old and extended speeds as ours. */
uint32_t parse_speed_masks(uint64_t old, uint64_t ext);

#endif
