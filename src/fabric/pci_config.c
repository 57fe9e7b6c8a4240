/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the configuration space of an adapter as a PCI function, and its vital product data. Names
 * and offsets are those of <linux/pci_regs.h>; values and the order of the capabilities are a
 * ConnectX-6's, but for what this device does not have: INTx, SR-IOV, resets. pci.c calls it.
 */
#include "fabric/pci.h"

#include <stdio.h>
#include <string.h>

/* Where each capability lies. */
enum {
	AT_PM = 0x40,
	AT_VPD = 0x48,
	AT_EXP = 0x60,
	AT_MSIX = 0x9c,
	AT_VENDOR = 0xc0,
	AT_AER = 0x100,
	AT_ARI = 0x150,
	AT_SERIAL = 0x160,
	AT_SECOND = 0x1c0,
};

#define VENDOR_SIZE 0x18
#define MSIX_VECTORS 64
#define MSIX_TABLE 0x2000 /* offsets in region 0 */
#define MSIX_PENDING 0x3000

/* The configuration space is little-endian. */
static void put16(uint8_t *c, unsigned int at, uint32_t v)
{
	c[at] = (uint8_t)v;
	c[at + 1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *c, unsigned int at, uint32_t v)
{
	put16(c, at, v);
	put16(c, at + 2, v >> 16);
}

static void put_header(uint8_t *c, const struct pci_function *f)
{
	put16(c, PCI_VENDOR_ID, FAB_PCI_VENDOR);
	put16(c, PCI_DEVICE_ID, f->ids->pci_device);
	put16(c, PCI_COMMAND,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
		      PCI_COMMAND_INTX_DISABLE);
	put16(c, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(c, PCI_CLASS_REVISION, f->class << 8 | f->ids->hw_rev);
	c[PCI_CACHE_LINE_SIZE] = 64 / 4;
	put32(c, PCI_BASE_ADDRESS_0,
	      (uint32_t)f->bar | PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	put32(c, PCI_BASE_ADDRESS_1, (uint32_t)(f->bar >> 32));
	put16(c, PCI_SUBSYSTEM_VENDOR_ID, FAB_PCI_VENDOR);
	put16(c, PCI_SUBSYSTEM_ID, FAB_PCI_SUBSYSTEM);
	c[PCI_CAPABILITY_LIST] = AT_EXP;
	c[PCI_INTERRUPT_LINE] = 0xff;
}

static void put_cap(uint8_t *c, unsigned int at, uint8_t id, uint8_t next)
{
	c[at + PCI_CAP_LIST_ID] = id;
	c[at + PCI_CAP_LIST_NEXT] = next;
}

static void put_express(uint8_t *c, const struct pci_function *f)
{
	const uint32_t link = f->speed | FAB_PCI_LANES << 4;

	put_cap(c, AT_EXP, PCI_CAP_ID_EXP, AT_VPD);
	put16(c, AT_EXP + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	/* Payload up to 512 bytes, 75 W. */
	put32(c, AT_EXP + PCI_EXP_DEVCAP,
	      PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_L0S | PCI_EXP_DEVCAP_L1 |
		      PCI_EXP_DEVCAP_RBER | 75 << 18 | 2);
	put16(c, AT_EXP + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_RELAX_EN |
		      PCI_EXP_DEVCTL_PAYLOAD_256B | PCI_EXP_DEVCTL_EXT_TAG |
		      PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ_512B);
	put32(c, AT_EXP + PCI_EXP_LNKCAP, link | 1u << 22); /* ASPM optionality compliance */
	put16(c, AT_EXP + PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_CCC);
	put16(c, AT_EXP + PCI_EXP_LNKSTA, link | PCI_EXP_LNKSTA_SLC);
	/* Completion timeouts A, B and C. */
	put32(c, AT_EXP + PCI_EXP_DEVCAP2, 7 | PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
	put32(c, AT_EXP + PCI_EXP_LNKCAP2, ((1u << f->speed) - 1) << 1); /* and all lower speeds */
	put16(c, AT_EXP + PCI_EXP_LNKCTL2, f->speed);
}

static void put_caps(uint8_t *c, const struct pci_function *f)
{
	put_express(c, f);
	put_cap(c, AT_VPD, PCI_CAP_ID_VPD, AT_MSIX);
	put_cap(c, AT_MSIX, PCI_CAP_ID_MSIX, AT_VENDOR);
	put16(c, AT_MSIX + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | (MSIX_VECTORS - 1));
	put32(c, AT_MSIX + PCI_MSIX_TABLE, MSIX_TABLE);
	put32(c, AT_MSIX + PCI_MSIX_PBA, MSIX_PENDING);
	put_cap(c, AT_VENDOR, PCI_CAP_ID_VNDR, AT_PM);
	c[AT_VENDOR + 2] = VENDOR_SIZE;
	put_cap(c, AT_PM, PCI_CAP_ID_PM, 0);
	/* Version 3; 375 mA of auxiliary current for PME from D3cold. */
	put16(c, AT_PM + PCI_PM_PMC, 3 | 7 << 6 | PCI_PM_CAP_PME_D3cold);
	put16(c, AT_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
}

static void put_ext(uint8_t *c, unsigned int at, uint32_t id, unsigned int next)
{
	put32(c, at, id | 1u << 16 | next << 20);
}

static void put_extended(uint8_t *c, const struct pci_function *f)
{
	put_ext(c, AT_AER, PCI_EXT_CAP_ID_ERR, AT_ARI);
	put32(c, AT_AER + PCI_ERR_UNCOR_SEVER,
	      PCI_ERR_UNC_DLP | PCI_ERR_UNC_SURPDN | PCI_ERR_UNC_FCP | PCI_ERR_UNC_RX_OVER |
		      PCI_ERR_UNC_MALF_TLP);
	put32(c, AT_AER + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT);
	put32(c, AT_AER + PCI_ERR_CAP, PCI_ERR_CAP_ECRC_GENC | PCI_ERR_CAP_ECRC_CHKC);
	put_ext(c, AT_ARI, PCI_EXT_CAP_ID_ARI, AT_SERIAL);
	put_ext(c, AT_SERIAL, PCI_EXT_CAP_ID_DSN, AT_SECOND);
	put32(c, AT_SERIAL + 4, (uint32_t)f->hca->node_guid);
	put32(c, AT_SERIAL + 8, (uint32_t)(f->hca->node_guid >> 32));
	put_ext(c, AT_SECOND, PCI_EXT_CAP_ID_SECPCI, 0);
}

void pci_config(const struct pci_function *f, uint8_t out[PCI_CFG_SPACE_EXP_SIZE])
{
	memset(out, 0, PCI_CFG_SPACE_EXP_SIZE);
	put_header(out, f);
	put_caps(out, f);
	put_extended(out, f);
}

/* ---- vital product data: PCI 3.0, appendix I */

enum { VPD_NAME = 0x82, VPD_READ_ONLY = 0x90, VPD_END = 0x78 };

static size_t put_field(uint8_t *out, size_t at, const char *keyword, const char *text)
{
	size_t n = strlen(text);

	memcpy(out + at, keyword, 2);
	out[at + 2] = (uint8_t)n;
	memcpy(out + at + 3, text, n);
	return at + 3 + n;
}

/* The part numbers of the boards whose board_id the adapters show. */
static const struct {
	const char *name, *part;
} boards[] = {
	[HW_CX6] = {"ConnectX-6 VPI adapter card, HDR IB (200Gb/s), softhca", "MCX653105A-HDAT"},
	[HW_CX7] = {"ConnectX-7 HHHL adapter card, NDR IB (400Gb/s), softhca", "MCX75310AAS-NEAT"},
	[HW_CX4] = {"ConnectX-4 VPI adapter card, EDR IB (100Gb/s), softhca", "MCX455A-ECAT"},
	[HW_CX5] = {"ConnectX-5 VPI adapter card, EDR IB (100Gb/s), softhca", "MCX556A-ECAT"},
	[HW_CX6DX] = {"ConnectX-6 Dx EN adapter card, 100GbE, softhca", "MCX623106AN-CDAT"},
	[HW_BF2] = {"BlueField-2 DPU, 100Gb/s, softhca", "MBF2H516A-CEEOT"},
};

size_t pci_vpd(const struct pci_function *f, uint8_t out[PCI_VPD_MAX])
{
	const char *name = boards[f->hca->model].name, *part = boards[f->hca->model].part;
	size_t at = strlen(name), head;
	char text[48];
	uint8_t sum = 0;

	out[0] = VPD_NAME;
	put16(out, 1, (uint32_t)at);
	memcpy(out + 3, name, at);
	head = at + 3;
	at = put_field(out, head + 3, "PN", part);
	at = put_field(out, at, "EC", "A1");
	at = put_field(out, at, "V2", part);
	snprintf(text, sizeof(text), "SH%016llx", (unsigned long long)f->hca->node_guid);
	at = put_field(out, at, "SN", text);
	snprintf(text, sizeof(text), "PCIeGen%u x%u", f->speed, FAB_PCI_LANES);
	at = put_field(out, at, "V0", text);
	memcpy(out + at, "RV\1\0", 4); /* one byte: the checksum */
	out[head] = VPD_READ_ONLY;
	put16(out, (unsigned int)head + 1, (uint32_t)(at + 4 - head - 3));
	for (size_t i = 0; i < at + 3; i++)
		sum = (uint8_t)(sum + out[i]);
	out[at + 3] = (uint8_t)-sum;
	out[at + 4] = VPD_END;
	return at + 5;
}
