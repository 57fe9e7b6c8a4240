/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology in the making: nodes and the lines of their ports as they come, in any order; finish
 * checks them against each other and makes the struct topo. Used by the parser and the generators.
 */
#ifndef SOFTHCA_TOPO_BUILD_H
#define SOFTHCA_TOPO_BUILD_H

#include "topo/hash.h"
#include "topo/topo.h"

/* Where something was said; line 0: by no file. */
struct topo_where {
	uint32_t file, line, col;
};

/* Bits of hw_port.speed, which are the CapabilityMask-free codes of libibverbs. */
enum {
	TOPO_SDR = 1,
	TOPO_DDR = 2,
	TOPO_QDR = 4,
	TOPO_FDR10 = 8,
	TOPO_FDR = 16,
	TOPO_EDR = 32,
	TOPO_HDR = 64,
	TOPO_NDR = 128,
	TOPO_XDR = 256,
};

/* A port that was spoken of. */
struct topo_line {
	struct topo_where at, peer_at;
	uint32_t node, num;
	/* The other end: a node's index, or TOPO_NONE and a name. Neither: no cable (an alias). */
	uint32_t peer_node, peer_port;
	const char *peer;        /* in the text of its file, or kept */
	bool by_alias;           /* `peer` is an alias: the other end does not speak of us */
	uint32_t widths, speeds; /* masks of what it can; 0: it does not say */
	uint64_t guid, peer_guid;
	uint32_t lid, lmc;
};

struct topo_alias {
	char name[64];
	uint32_t line; /* index in topo_build.line */
};

struct topo_build {
	char *err; /* TOPO_ERR bytes of the caller's */
	struct topo_node *node;
	struct topo_where *at; /* of each node */
	uint32_t nnodes, node_room;
	struct topo_line *line;
	uint32_t nlines, line_room;
	struct topo_alias *alias;
	uint32_t naliases, alias_room;
	struct topo_hash ids, aliases; /* of nodes, of `alias` */
	char **file;                   /* names of files, for messages */
	char **text;                   /* and their content */
	uint32_t nfiles;
	char **kept; /* names that are nowhere in a text */
	uint32_t nkept, kept_room;
	uint32_t nlids;
};

void build_init(struct topo_build *b, char *err);
void build_finish(struct topo_build *b);

/* "FILE:LINE:COLUMN: ..." into b->err. Returns -EINVAL. */
int build_error(struct topo_build *b, const struct topo_where *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A node with this id, which must be new. Its index is b->nnodes - 1. What `n` says is taken over,
 * but ports and host. 0, -EINVAL, -ENOMEM.
 */
int build_node(struct topo_build *b, const struct topo_node *n, const struct topo_where *at);
/* By id; TOPO_NONE. */
uint32_t build_find(const struct topo_build *b, const char *id);
/* A new line, zeroed but for where and no peer; NULL: no memory. */
struct topo_line *build_line(struct topo_build *b, uint32_t node, uint32_t num,
			     const struct topo_where *at);
/* An alias of a line's port, which must be new. 0, -EINVAL, -ENOMEM. */
int build_alias(struct topo_build *b, const char *name, const struct topo_line *l);
/* A copy that lives as long as the build; NULL: no memory. */
const char *build_keep(struct topo_build *b, const char *name);
/* For generators: a cable, both ends. 0, -ENOMEM. */
int build_link(struct topo_build *b, uint32_t a, uint32_t a_port, uint32_t c, uint32_t c_port);
/* Check all and hand out. */
int build_topo(struct topo_build *b, struct topo *t);

/* hosts.c: names hosts and tells CAs whose they are. 0, -ENOMEM. */
int topo_name_hosts(struct topo *t);

#endif
