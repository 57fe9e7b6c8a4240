/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric: hosts, HCAs, ports and who answers to a LID. In this version one subnet in which
 * every port reaches every other; switches, SMA and PMA come later (a path look-up is already a
 * call, so that they can).
 */
#ifndef SOFTHCA_FABRIC_FABRIC_H
#define SOFTHCA_FABRIC_FABRIC_H

#include "segment/hw.h"

struct fab_options {
	uint32_t hosts; /* >= 1; named h1, h2, ... */
	uint32_t hcas;  /* per host, 1..16 */
	uint32_t ports; /* per HCA, 1..HW_MAX_PORTS */
	enum hw_model model;
	uint32_t link_speed, link_width; /* hw_port codes, from the capability table */
	uint32_t max_mtu;                /* IBV code; also the active one */
	uint32_t device_id, hw_rev;      /* NodeInfo */
};

/*
 * Fill an empty segment: hosts, HCAs, ports (ACTIVE, LinkUp), GUIDs, LIDs from 1. EQs are left to
 * fw_hca_init(). 0, -EINVAL, -ENOSPC.
 */
int fab_create(struct seg *s, const struct fab_options *o);
/* SEG_T_HOST index by name, SEG_NONE. */
uint32_t fab_host_by_name(struct seg *s, const char *name);
/*
 * Where a packet from port `from` to `dlid` arrives: SEG_T_PORT index, or SEG_NONE when it gets
 * nowhere (unknown LID, a port on the way not ACTIVE): the transport then times out.
 */
uint32_t fab_route(struct seg *s, uint32_t from, uint32_t dlid);
/* The same for what subnet management sends, which needs no more than a link that is up. */
uint32_t fab_route_smp(struct seg *s, uint32_t from, uint32_t dlid);
/* By destination GID when dlid is 0 (self loopback) or for checks: the port with that GID, or
 * SEG_NONE. */
uint32_t fab_port_by_gid(struct seg *s, const uint8_t gid[16]);
/*
 * Change a port's state; raises PORT_ACTIVE / PORT_ERR on every async event file of every open
 * device of its HCA, and calls sysfs_update_port if `sysfs_root` of the fabric
 * is there.
 */
int fab_port_set_state(struct seg *s, uint32_t port, uint32_t state);
/* A port's PMA counters. What living QPs have done counts too, though they add it up only when they
 * go: this looks at all of them, so it is not for a hot path. */
struct fab_counters {
	uint64_t xmit_data, rcv_data; /* octets / 4 */
	uint64_t xmit_pkts, rcv_pkts;
};
void fab_port_counters(struct seg *s, uint32_t port, struct fab_counters *c);
/* Raise an async event without object (element = port number) on every open device of an HCA. */
void fab_port_event(struct seg *s, uint32_t port, uint32_t ib_event_type);
/* The fabric goes away: DEVICE_FATAL to every async event file. */
void fab_devices_gone(struct seg *s);

/*
 * The sysfs tree of one host, rendered below `root` (<dir>/host/<name>):
 * sys/class/infiniband{,_verbs,_mad}, sys/devices/pci.../, dev/infiniband/ (placeholders).
 * Everything ibv_devinfo -v, ibstat, ibstatus, UCX and pyverbs read (abi.md 1). Values come from
 * the segment and the capability table (`caps` strings are passed in to keep fabric below fw).
 */
struct fab_sysfs_ids {
	const char *fw_ver, *hca_type, *board_id; /* "20.31.1014", "MT4123", "MT_0000000223" */
	uint16_t pci_device;                      /* 0x101b */
	uint32_t hw_rev;
};
int fab_sysfs_render(struct seg *s, uint32_t host, const char *root,
		     const struct fab_sysfs_ids *ids);
/*
 * Write what has moved again: state, LIDs... of a port, its byte and packet counters. Each file is
 * replaced as a whole (a reader sees old or new, never half); directories of devices keep their
 * times. 0 or -errno; -ENOENT: there is no tree.
 */
int fab_sysfs_update_port(struct seg *s, uint32_t port, const char *root);
int fab_sysfs_update_counters(struct seg *s, uint32_t port, const char *root);
/* Character device numbers, as the kernel's first ones: uverbs 231:192+n, umad 231:n, issm
 * 231:64+n. */
#define FAB_DEV_MAJOR 231
#define FAB_UVERBS_MINOR(n) (192 + (n))
#define FAB_UMAD_MINOR(n) (n)
#define FAB_ISSM_MINOR(n) (64 + (n))
/* N of umadN and issmN: ports are counted over the host's HCAs, as the kernel finds them. */
uint32_t fab_umad_index(struct seg *s, uint32_t port);
/* The other way: SEG_T_PORT index behind umadN/issmN of a host, SEG_NONE. */
uint32_t fab_port_by_umad(struct seg *s, uint32_t host, uint32_t n);
/*
 * PCI address of an HCA on its host: "5a17:00:<n>.0", n its device number, below
 * sys/devices/pci5a17:00 (a root complex of its own, in a domain that no real machine has).
 */
#define FAB_PCI_DOMAIN "5a17"
void fab_pci_name(const struct hw_hca *hca, char out[16]);

#endif
