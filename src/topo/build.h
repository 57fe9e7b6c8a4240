/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology under construction: nodes and the lines of their ports arrive in any order; the last
 * step checks them against each other and makes the struct topo. The parser and the generators use
 * it.
 */
#ifndef SOFTHCA_TOPO_BUILD_H
#define SOFTHCA_TOPO_BUILD_H

#include "topo/hash.h"
#include "topo/topo.h"

/* The place of a statement in a file; line 0: it is not from a file. */
struct topo_where {
	uint32_t file, line, col;
};

/* A port that a line describes. */
struct topo_line {
	struct topo_where at, peer_at;
	uint32_t node, num;
	/* The other end: a node's index, or TOPO_NONE and a name. Neither: no cable (an alias). */
	uint32_t peer_node, peer_port;
	const char *peer; /* name in the text of its file, or in a kept copy */
	bool by_alias;    /* `peer` is an alias: the other end's line does not name this one */
	bool broken;      /* an error in it is reported: nothing that follows from it is */
	uint32_t widths, speeds; /* masks of supported widths and speeds; 0: not given */
	uint64_t guid, peer_guid;
	uint32_t lid, lmc;
};

struct topo_alias {
	char name[64];
	uint32_t line; /* index in topo_build.line */
};

struct topo_build {
	char *err;      /* the caller's buffer of TOPO_ERR bytes */
	uint32_t nerrs; /* errors, also those that do not fit into `err` */
	struct topo_message {
		struct topo_where at;
		char *text;
	} message[TOPO_ERRORS]; /* the first errors in the order of lines */
	uint32_t nmessages;
	struct topo_node *node;
	struct topo_where *at; /* the place where each node is described */
	bool *broken; /* its description, or the number of one of its ports, has an error */
	uint32_t nnodes, node_room;
	bool incomplete; /* nodes are missing because of errors: a name may mean one of them */
	struct topo_line *line;
	uint32_t nlines, line_room;
	struct topo_alias *alias;
	uint32_t naliases, alias_room;
	struct topo_ip *ip;
	uint32_t nips, ip_room;
	struct topo_hash ids, aliases; /* tables of node ids and of `alias` */
	struct topo_hash addrs;        /* of the addresses in `ip` */
	char **file;                   /* names of files, for messages */
	char **text;                   /* content of the files */
	uint32_t nfiles;
	char **kept; /* copies of names that no file's text contains */
	uint32_t nkept, kept_room;
	uint32_t nlids;
	struct hw_world world;
};

void build_init(struct topo_build *b, char *err);
void build_finish(struct topo_build *b);

/* Makes room for one more element after `used`. 0, -ENOMEM. */
int build_grow(void **p, uint32_t used, uint32_t *room, size_t size);
/*
 * Adds a line "FILE:LINE:COLUMN: ..." to what build_finish() writes to b->err, in the order of
 * files and lines. Returns -EINVAL.
 */
int build_error(struct topo_build *b, const struct topo_where *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Adds a node with this id, which must be new; its index is b->nnodes - 1. The values of `n` are
 * taken over, except ports and host. 0, -EINVAL, -ENOMEM.
 */
int build_node(struct topo_build *b, const struct topo_node *n, const struct topo_where *at);
/*
 * Adds a node whose description has an error, so that its ports' lines can be checked. Without an
 * id any unknown name may mean it. 0, -ENOMEM.
 */
int build_broken(struct topo_build *b, const struct topo_node *n, const struct topo_where *at);
/* Makes a node have a port `num`. 0, -EINVAL. */
int build_ports(struct topo_build *b, uint32_t node, uint32_t num, const struct topo_where *at);
/* The node with this id; TOPO_NONE. */
uint32_t build_find(const struct topo_build *b, const char *id);
/* Adds a line, zeroed except its place, and without a peer; NULL: no memory. */
struct topo_line *build_line(struct topo_build *b, uint32_t node, uint32_t num,
			     const struct topo_where *at);
/* Adds an alias of a line's port, which must be new. 0, -EINVAL, -ENOMEM. */
int build_alias(struct topo_build *b, const char *name, const struct topo_line *l);
/* Returns a copy that lives as long as the build; NULL: no memory. */
const char *build_keep(struct topo_build *b, const char *name);
/* For generators: adds a cable, both ends. 0, -ENOMEM. */
int build_link(struct topo_build *b, uint32_t a, uint32_t a_port, uint32_t c, uint32_t c_port);
/* Checks everything and returns the topology; -EINVAL after any error. */
int build_topo(struct topo_build *b, struct topo *t);

/* hosts.c: names hosts and assigns CAs to them. 0, -ENOMEM. */
int topo_name_hosts(struct topo *t);

#endif
