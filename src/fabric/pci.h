/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An adapter as a PCI function: the files that drivers/pci/pci-sysfs.c, msi, vpd.c and the core of
 * buses show, its configuration space, and its places in /sys/bus/pci.
 */
#ifndef SOFTHCA_FABRIC_PCI_H
#define SOFTHCA_FABRIC_PCI_H

#include <linux/pci_regs.h>
#include "fabric/fabric.h"
#include "fabric/tree.h"

#define PCI_VPD_MAX 512

struct pci_function {
	const struct hw_hca *hca;
	const struct fab_sysfs_ids *ids;
	const char *bdf;
	uint32_t class;       /* base class, subclass, interface: 24 bits */
	uint32_t speed;       /* the link's, as PCI Express codes it: 4 is 16 GT/s */
	uint32_t node, nodes; /* NUMA node of how many; nodes 0: none is told */
	uint64_t bar;         /* address of region 0; no memory is there */
	uint32_t vectors;     /* MSI-X vectors in use */
};

/* `eth`: its ports are Ethernet ports. */
void pci_function(struct pci_function *f, const struct hw_hca *hca, bool eth,
		  const struct fab_sysfs_ids *ids, const char *bdf);

/* Makes the device's files in `dir`, and its links in /sys/bus/pci below `root`. 0 or -errno. */
int pci_render(struct tree *t, int root, int dir, const struct pci_function *f);

/* pci_config.c: the configuration space; vital product data (returns its length). */
void pci_config(const struct pci_function *f, uint8_t out[PCI_CFG_SPACE_EXP_SIZE]);
size_t pci_vpd(const struct pci_function *f, uint8_t out[PCI_VPD_MAX]);

#endif
