/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric: nodes, ports, cables, and a packet's path over them. One subnet.
 */
#ifndef SOFTHCA_FABRIC_FABRIC_H
#define SOFTHCA_FABRIC_FABRIC_H

#include "fabric/topo.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/fab.h"

/* The subnet has changed: ask the supervisor for a sweep. */
void fab_sm_kick(struct seg *s);

/* "h1/mlx5_0/1", or a switch's description and the port, for messages. Returns buf. */
#define FAB_PORT_NAME 96
const char *fab_port_name(const struct seg *s, uint32_t port, char buf[FAB_PORT_NAME]);
/* Write a trace line about a port. */
void fab_trace_port(const struct seg *s, uint32_t port, uint32_t what);

/* SEG_T_HOST index by name, SEG_NONE. */
uint32_t fab_host_by_name(struct seg *s, const char *name);
/*
 * The port where a packet from port `from` to `dlid` arrives: SEG_T_PORT index, or SEG_NONE when it
 * is lost (unknown LID, a port on the path not ACTIVE): the transport then times out.
 */
uint32_t fab_route(struct seg *s, uint32_t from, uint32_t dlid);
/*
 * The same over ports in `state` or a higher one; `hop` (may be NULL) is called for each cable,
 * from port `out` to port `in`, even if the packet is lost later.
 */
typedef void fab_hop(struct seg *s, uint32_t out, uint32_t in, void *arg);
uint32_t fab_walk(struct seg *s, uint32_t from, uint32_t dlid, uint32_t state, fab_hop *hop,
		  void *arg);
/* The other end of a port's cable if the link is up: SEG_T_PORT index; else SEG_NONE. */
uint32_t fab_peer(const struct seg *s, uint32_t port);
/* The port that has the LIDs, GUIDs and keys of a port where a MAD arrives: of a switch port 0. */
uint32_t fab_own_port(const struct seg *s, uint32_t port);

bool fab_port_has_lid(const struct hw_port *p, uint32_t lid);
bool fab_port_has_gid(const struct hw_port *p, const uint8_t gid[16]);
/* InfiniBand: of all entries of the table. */
void fab_set_gid_prefix(struct hw_port *p, uint64_t prefix);
/* The port with that GID, or SEG_NONE. Searches all ports. */
uint32_t fab_port_by_gid(struct seg *s, const uint8_t gid[16]);

/*
 * Cables and links (link.c). fab_plug(): both ports are free (-EBUSY); the link trains if both ends
 * allow it, and both go to INIT. fab_unplug(): both go DOWN.
 */
int fab_plug(struct seg *s, uint32_t a, uint32_t b);
int fab_unplug(struct seg *s, uint32_t port);
/*
 * Performs Set(PortInfo:PortPhysicalState) to IB_PHYS_SLEEP, _POLLING or _DISABLED: the link goes
 * down at both ends, and trains again when both are polling. 0, -EINVAL, -ETIMEDOUT.
 */
int fab_link_set(struct seg *s, uint32_t port, uint32_t phys);
/*
 * The changes of a port. After all of them the changing code calls fab_port_changed() once: it
 * raises the events on every async event file of every open device of the port's HCA, renders the
 * port's sysfs files again, and increments the routes' epoch. Ports of switches have no listeners.
 */
enum fab_change {
	FAB_CHANGED_STATE = 1, /* PORT_ACTIVE, PORT_ERR */
	FAB_CHANGED_LID = 2,   /* LID, LMC */
	FAB_CHANGED_SM = 4,    /* LID and SL of the SM, capability mask; raises no event */
	FAB_CHANGED_PKEY = 8,
	FAB_CHANGED_GID = 16,
	FAB_CHANGED_REREGISTER = 32,
	FAB_CHANGED_SM_TOLD = 128, /* SM_CHANGE, which mlx5 adapters do not raise by themselves */
	FAB_CHANGED_ADDR = 64,     /* an interface's address that has no GID; raises no event */
};
void fab_port_changed(struct seg *s, uint32_t port, uint32_t what);
/*
 * Called before a change of these kinds. If this process dies before fab_port_changed() has
 * reported it, fab_ports_repair() reports it. fab_port_end(): no change was made after all.
 */
void fab_port_begin(struct seg *s, uint32_t port, uint32_t what);
void fab_port_end(struct seg *s, uint32_t port);
/* The supervisor calls it when a process has died. */
void fab_ports_repair(struct seg *s);
/* Change a port's state (at this end of the link), and report it. */
/* Changes the state only if it is still the expected one: links train under another lock. */
static inline bool fab_port_advance(struct hw_port *p, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&p->state, &from, to);
}
int fab_port_set_state(struct seg *s, uint32_t port, uint32_t state);
/* Must this MAD, which has arrived at `port` for its agents, be lost (hw_port.err_rate)? */
bool fab_port_loses(struct seg *s, uint32_t port, uint32_t attr_id);
/* The port's counts since the fabric was made: for sysfs and the firmware's counters. */
struct fab_counters {
	uint64_t n[HW_CTR_COUNT];
};
void fab_port_counters(struct seg *s, uint32_t port, struct fab_counters *c);
/* Counter i of a port in sysfs's hw_counters; false: there are no more. */
struct fab_hw_counter {
	const char *name;
	uint64_t value;
};
bool fab_hw_counter(const struct seg *s, uint32_t port, uint32_t i, struct fab_hw_counter *c);
/*
 * An adapter's NodeDescription becomes the first 64 bytes, which trap 144 reports:
 * node_desc_store() of the kernel's sysfs.c, mlx5_ib_modify_device(). For the supervisor alone.
 */
void fab_describe(struct seg *s, uint32_t hca, const char *text, size_t n);
/* The fabric ends: raise DEVICE_FATAL on every async event file. */
void fab_devices_gone(struct seg *s);

/*
 * The sysfs tree of one host, rendered below `root` (<dir>/host/<name>):
 * sys/class/infiniband{,_verbs,_mad}, sys/devices/pci.../, dev/infiniband/ (placeholders). It has
 * everything that ibv_devinfo -v, ibstat, ibstatus, UCX and pyverbs read (SUPPORT.md 2). Values
 * come from the segment and the capability table (`caps` strings are passed in to keep fabric below
 * fw).
 */
/* Where the device nodes of unplugged adapters are kept, in a host's tree. */
#define FAB_NODES_ASIDE "aside"
struct fab_sysfs_ids {
	const char *fw_ver, *hca_type, *board_id; /* "20.31.1014", "MT4123", "MT_0000000223" */
	uint16_t pci_device;                      /* 0x101b */
	uint32_t hw_rev;
};
int fab_sysfs_render(struct seg *s, uint32_t host, const char *root,
		     const struct fab_sysfs_ids *ids);
/*
 * Writes changed values again: state, LIDs... of a port, its byte and packet counters. Each file is
 * replaced as a whole (a reader sees old or new, never half); directories of devices keep their
 * times. 0 or -errno; -ENOENT: there is no tree.
 */
int fab_sysfs_update_port(struct seg *s, uint32_t port, const char *root);
/* the same for an adapter's node_desc */
int fab_sysfs_update_desc(struct seg *s, const struct hw_hca *hca, const char *root);
/* the same for the files of P_Keys and GIDs */
int fab_sysfs_update_tables(struct seg *s, uint32_t port, const char *root);
int fab_sysfs_update_counters(struct seg *s, uint32_t port, const char *root,
			      const struct fab_counters *c); /* fab_pma_counters() */
/*
 * Character device numbers, as the kernel assigns them first: uverbs 231:192+n, umad 231:n, issm
 * 231:64+n.
 */
#define FAB_DEV_MAJOR 231
#define FAB_UVERBS_MINOR(n) (192 + (n))
#define FAB_UMAD_MINOR(n) (n)
#define FAB_ISSM_MINOR(n) (64 + (n))
/* /dev/infiniband/rdma_cm is a misc device; among the shim's node numbers it comes last. */
#define FAB_MISC_MAJOR 10
#define FAB_RDMA_CM_MISC 122
#define FAB_RDMA_CM_MINOR 0x10000u
/* N of umadN and issmN: ports are numbered over the host's HCAs, in the kernel's order. */
uint32_t fab_umad_index(struct seg *s, uint32_t port);
/* The reverse: SEG_T_PORT index behind umadN/issmN of a host; SEG_NONE. */
uint32_t fab_port_by_umad(struct seg *s, uint32_t host, uint32_t n);
/*
 * PCI address of an HCA on its host: "5a17:00:<n>.0", n its device number, below
 * sys/devices/pci5a17:00 (a separate root complex, in a domain that no real machine has).
 */
#define FAB_PCI_DOMAIN "5a17"
#define FAB_PCI_VENDOR 0x15b3u
#define FAB_PCI_SUBSYSTEM 0x0007u
#define FAB_PCI_LANES 16u
void fab_pci_name(const struct hw_hca *hca, char out[16]);
/* The device's name, as "mlx5_0". Returns buf. Callable in a trap. */
#define FAB_HCA_NAME 32
const char *fab_hca_name(const struct seg *s, const struct hw_hca *hca, char buf[FAB_HCA_NAME]);

#endif
