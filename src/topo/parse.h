/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the parts of the topology parser: parse.c reads files, node.c nodes, ports.c ports,
 * ip.c addresses, lst.c cables of .lst files, linkinfo.c the output of iblinkinfo.
 */
#ifndef SOFTHCA_TOPO_PARSE_H
#define SOFTHCA_TOPO_PARSE_H

#include "topo/text.h"

#define TOPO_PREFIX_LEN 20 /* length of a module's name, as in ibsim */

struct topo_parse {
	struct topo_build b;
	bool may_include;
	unsigned int depth; /* nesting limit of files that include files */
	bool stopped;       /* nothing more is read */
	uint32_t node;      /* the node whose ports follow; TOPO_NONE */
	/* Values given before a node, for that node or for all that follow. */
	uint64_t base[4], next[4]; /* GUIDs, by enum topo_type */
	uint64_t sys_guid, port_guid;
	uint32_t vendor_id, device_id;
	uint32_t widths, speeds; /* masks for ports that give none; 0: the device's */
	char prefix[TOPO_PREFIX_LEN + 1];
	struct topo_hash cabled; /* ports of lines that others may repeat -> topo_build.line */
	/* Of iblinkinfo's output: */
	struct topo_node link; /* an adapter of which only the heading was read; type 0: none */
	uint32_t link_node;    /* the last one that has lines of ports; TOPO_NONE */
	uint32_t link_port0;   /* the line of the last switch's port 0 */
	uint32_t link_num;     /* the port of the last line */
	struct parse_link *links;
	uint32_t nlinks, link_room;
	struct topo_hash by_lid; /* LID and port -> `links` */
	struct topo_hash
		by_desc;        /* adapters that only other nodes' lines name -> topo_build.node */
	struct parse_lid *lids; /* by LID */
};

/*
 * The name of a node in the rest of the file: "module#name". In place or a kept copy; NULL: no
 * memory, or too long, reported at `at`.
 */
char *parse_name(struct topo_parse *p, struct topo_text *x, char *name,
		 const struct topo_where *at);
/* Set a node's description from `len` bytes; control characters become blanks. */
void parse_desc(struct topo_node *n, const char *desc, int len);
/*
 * Parse a node's line behind its keyword. `misspelt`: that is an error, already reported. 0,
 * -EINVAL, -ENOMEM.
 */
int parse_node(struct topo_parse *p, struct topo_text *x, enum topo_type type, bool misspelt);
/* After an error in a node's line: the lines of its ports follow, and other lines name it. */
int parse_broken_node(struct topo_parse *p, struct topo_text *x, struct topo_node *n,
		      const struct topo_where *at);
/* Parse the rest of a .lst file's line, which began with '{'. 0, -EINVAL, -ENOMEM. */
int parse_cable(struct topo_parse *p, struct topo_text *x);
/* Parse a heading of iblinkinfo, behind its keyword, or a line of a port. 0, -EINVAL, -ENOMEM. */
int parse_link_switch(struct topo_parse *p, struct topo_text *x);
int parse_link_ca(struct topo_parse *p, struct topo_text *x);
int parse_link_router(struct topo_parse *p, struct topo_text *x);
int parse_link(struct topo_parse *p, struct topo_text *x);
/* Join the ends of iblinkinfo's cables, after the last line. 0, -EINVAL, -ENOMEM. */
int parse_links_end(struct topo_parse *p);
void parse_links_free(struct topo_parse *p);
/* Parse a line that begins with '[' or '@'. 0, -EINVAL, -ENOMEM. */
int parse_port(struct topo_parse *p, struct topo_text *x);
/* Parse the rest of a line that begins with "#ip[". 0, -EINVAL, -ENOMEM. */
int parse_ip(struct topo_parse *p, struct topo_text *x);
/* "lid N" and "lmc N" before `stop`; other words are a comment. 0, -EINVAL. */
int parse_lid_lmc(struct topo_text *x, const char *stop, uint32_t *lid, uint32_t *lmc);
/* Translate ibsim's masks of old and extended speeds to bits of hw_port.speed. */
uint32_t parse_speed_masks(uint64_t old, uint64_t ext);

#endif
