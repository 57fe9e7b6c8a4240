/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology with the present state of its ports, and pictures of it: for Graphviz (dot.c), and as
 * a page for browsers (page.c). picture.c prepares the data that both need.
 */
#ifndef SOFTHCA_TOPO_PICTURE_H
#define SOFTHCA_TOPO_PICTURE_H

#include "topo/topo.h"

/* The formats of the output. The numbers are also those of LINK_TOPO. */
enum topo_format { TOPO_IBNETDISCOVER, TOPO_DOT, TOPO_PAGE };

enum { /* the counters of a port that pictures show */
       PICTURE_XMIT_DATA,
       PICTURE_RCV_DATA,
       PICTURE_XMIT_PKTS,
       PICTURE_RCV_PKTS,
       PICTURE_XMIT_DISCARDS,
       PICTURE_COUNTERS,
};

/* The counters of a port's errors that pages show: those of enum hw_ctr, with their names in sysfs.
 */
#define PICTURE_ERRORS(E)                                     \
	E(SYMBOL, "symbol_error")                             \
	E(RECOVERY, "link_error_recovery")                    \
	E(DOWNED, "link_downed")                              \
	E(RCV_ERRORS, "port_rcv_errors")                      \
	E(RCV_REMOTE_PHYS, "port_rcv_remote_physical_errors") \
	E(RCV_RELAY, "port_rcv_switch_relay_errors")          \
	E(RCV_CONSTRAINT, "port_rcv_constraint_errors")       \
	E(XMIT_DISCARDS, "port_xmit_discards")                \
	E(XMIT_CONSTRAINT, "port_xmit_constraint_errors")     \
	E(INTEGRITY, "local_link_integrity_errors")           \
	E(OVERRUN, "excessive_buffer_overrun_errors")         \
	E(VL15_DROPPED, "VL15_dropped")
#define PICTURE_ERROR_ENUM(name, text) PICTURE_ERR_##name,
enum picture_error { PICTURE_ERRORS(PICTURE_ERROR_ENUM) PICTURE_NERRORS };

struct picture_port {
	uint32_t state, phys; /* enum ib_port_state, enum ib_phys_state; 0: not known */
	uint32_t pulled;      /* the port has no cable; its peer is that of the last one */
	uint64_t n[PICTURE_COUNTERS];
	uint64_t err[PICTURE_NERRORS];
};

struct picture_node {
	uint32_t level;  /* 0: adapters and routers; more: this many cables from the hosts */
	char device[32]; /* adapters: "mlx5_0" */
};

struct picture {
	const char *name; /* of the fabric; NULL: the picture is of a file or generator */
	const struct topo *t;
	struct picture_port *port; /* of picture_port() */
	struct picture_node *node;
	uint32_t levels; /* 0: no hierarchy, some cables join switches of the same level */
};

/* Ports beside those of the topology. */
static inline struct picture_port *picture_port(const struct picture *p, uint32_t node,
						uint32_t num)
{
	return &p->port[&p->t->node[node].port[num] - p->t->node[0].port];
}

/* States of cables, the best first. */
enum picture_cable {
	PICTURE_UP, /* also: not known */
	PICTURE_INIT,
	PICTURE_DOWN,
	PICTURE_DISABLED,
	PICTURE_PULLED,
};
enum picture_cable picture_cable(const struct picture *p, uint32_t node, uint32_t num);
/* "down", "pulled"...; "" for PICTURE_UP. */
const char *picture_cable_name(enum picture_cable c);
/* Is it the first end of a cable? Each cable has one. */
bool picture_first_end(const struct topo *t, uint32_t node, uint32_t num);
/* "4xHDR"; "" where both are unknown. */
const char *picture_rate(uint32_t width, uint32_t speed, char text[16]);

/*
 * Makes a picture of `t`, which must outlive it: finds the levels; states stay unknown. 0, -ENOMEM.
 */
int picture_init(struct picture *p, const struct topo *t);
void picture_finish(struct picture *p);

struct dot_options {
	uint32_t max_hosts; /* with more, hosts of the same switches are one node with a number */
	bool counters;      /* the ends of cables show what their ports have sent */
};
/* 0, -EIO, -ENOMEM. */
int picture_write_dot(FILE *f, const struct picture *p, const struct dot_options *o);
int picture_write_page(FILE *f, const struct picture *p);

#endif
