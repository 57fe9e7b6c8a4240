/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the files of an adapter's PCI function in a host's tree. Attributes that change the function
 * (remove, rescan, reset, driver_override) are not there. sysfs.c calls it.
 */
#include "fabric/pci.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fabric/cpumask.h"
#include "util/bits.h"
#include "util/cleanup.h"

#define PCI_BUS "sys/bus/pci"
#define CLASS_INFINIBAND 0x020700u
#define CLASS_ETHERNET 0x020000u
#define BAR_FIRST UINT64_C(0x5a1700000000)
#define BAR_SIZE UINT64_C(0x2000000)
/* IORESOURCE_ flags of a 64-bit prefetchable region, as <linux/ioport.h> of the kernel has them. */
#define BAR_FLAGS 0x14220cu
#define RESOURCES 13      /* lines of `resource`: six regions, the ROM, SR-IOV's */
#define IRQ_FIRST 369008u /* 0x5a170: no machine has so many, so scripts do not hit its own */

void pci_function(struct pci_function *f, const struct hw_hca *hca, bool eth,
		  const struct fab_sysfs_ids *ids, const char *bdf)
{
	*f = (struct pci_function){
		.hca = hca,
		.ids = ids,
		.bdf = bdf,
		.class = eth ? CLASS_ETHERNET : CLASS_INFINIBAND,
		.speed = hca->caps.pci_gen,
		.bar = BAR_FIRST + hca->dev_index * BAR_SIZE,
		.vectors = HW_COMP_VECTORS + 1, /* one more for commands and asynchronous events */
	};
}

/* ---- attributes that are text */

typedef int show_fn(const struct pci_function *f, char *buf, size_t size);

static int show_device(const struct pci_function *f, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%04x\n", f->ids->pci_device);
}

static int show_class(const struct pci_function *f, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%06x\n", f->class);
}

static int show_revision(const struct pci_function *f, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%02x\n", f->ids->hw_rev);
}

static int show_modalias(const struct pci_function *f, char *buf, size_t size)
{
	return snprintf(buf, size, "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X\n", FAB_PCI_VENDOR,
			f->ids->pci_device, FAB_PCI_VENDOR, FAB_PCI_SUBSYSTEM, f->class >> 16,
			f->class >> 8 & 0xff, f->class & 0xff);
}

static int pci_show_uevent(const struct pci_function *f, char *buf, size_t size)
{
	int n = snprintf(buf, size,
			 "DRIVER=mlx5_core\nPCI_CLASS=%X\nPCI_ID=%04X:%04X\n"
			 "PCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\nMODALIAS=",
			 f->class, FAB_PCI_VENDOR, f->ids->pci_device, FAB_PCI_VENDOR,
			 FAB_PCI_SUBSYSTEM, f->bdf);

	return n + show_modalias(f, buf + n, size - (size_t)n);
}

static int show_numa_node(const struct pci_function *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%d\n", f->nodes ? (int)f->node : -1);
}

static void local_cpus(const struct pci_function *f, char *mask, size_t mask_size, char *list,
		       size_t list_size)
{
	if (f->nodes)
		cpumask_node(f->node, f->nodes, mask, mask_size, list, list_size);
	else
		cpumask_local(mask, mask_size, list, list_size);
}

static int show_local_cpus(const struct pci_function *f, char *buf, size_t size)
{
	char cpus[1024], list[256];

	local_cpus(f, cpus, sizeof(cpus), list, sizeof(list));
	return snprintf(buf, size, "%s\n", cpus);
}

static int show_local_cpulist(const struct pci_function *f, char *buf, size_t size)
{
	char cpus[1024], list[256];

	local_cpus(f, cpus, sizeof(cpus), list, sizeof(list));
	return snprintf(buf, size, "%s\n", list);
}

static int pci_show_speed(const struct pci_function *f, char *buf, size_t size)
{
	static const char *const speeds[] = {[4] = "16.0", [5] = "32.0"};

	return snprintf(buf, size, "%s GT/s PCIe\n", speeds[f->speed]);
}

static int show_width(const struct pci_function *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", FAB_PCI_LANES);
}

static int show_resource(const struct pci_function *f, char *buf, size_t size)
{
	int n = snprintf(buf, size, "0x%016llx 0x%016llx 0x%016x\n", (unsigned long long)f->bar,
			 (unsigned long long)(f->bar + BAR_SIZE - 1), BAR_FLAGS);

	for (unsigned int i = 1; i < RESOURCES; i++)
		n += snprintf(buf + n, size - (size_t)n, "0x%016x 0x%016x 0x%016x\n", 0, 0, 0);
	return n;
}

/* `text` or show(). */
static const struct {
	const char *name, *text;
	show_fn *show;
} attrs[] = {
	{"vendor", "0x15b3\n", NULL},
	{"device", NULL, show_device},
	{"subsystem_vendor", "0x15b3\n", NULL},
	{"subsystem_device", "0x0007\n", NULL},
	{"class", NULL, show_class},
	{"revision", NULL, show_revision},
	{"modalias", NULL, show_modalias},
	{"uevent", NULL, pci_show_uevent},
	{"numa_node", NULL, show_numa_node},
	{"local_cpus", NULL, show_local_cpus},
	{"local_cpulist", NULL, show_local_cpulist},
	{"current_link_speed", NULL, pci_show_speed},
	{"max_link_speed", NULL, pci_show_speed},
	{"current_link_width", NULL, show_width},
	{"max_link_width", NULL, show_width},
	{"resource", NULL, show_resource},
	{"enable", "1\n", NULL},
	{"irq", "0\n", NULL}, /* the INTx number: irq_show() gives 0 with MSI-X */
	{"msi_bus", "1\n", NULL},
	{"power_state", "D0\n", NULL},
	{"dma_mask_bits", "64\n", NULL},
	{"consistent_dma_mask_bits", "64\n", NULL},
	{"broken_parity_status", "0\n", NULL},
	{"d3cold_allowed", "1\n", NULL},
	{"ari_enabled", "0\n", NULL},
	{"sriov_totalvfs", "0\n", NULL},
	{"sriov_numvfs", "0\n", NULL},
};

static int render_attrs(struct tree *t, int dir, const struct pci_function *f)
{
	char text[2048];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		const char *s = attrs[i].text;
		size_t n = s ? strlen(s) : (size_t)attrs[i].show(f, text, sizeof(text));

		TREE_STEP(r, tree_write(t, dir, attrs[i].name, 0444, s ? s : text, n));
	}
	return r;
}

/* ---- the others */

static int render_irqs(struct tree *t, int dir, const struct pci_function *f)
{
	_cleanup_close_ int irqs = tree_enter(dir, "msi_irqs");
	int r = irqs < 0 ? irqs : 0;

	for (uint32_t i = 0; i < f->vectors; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", IRQ_FIRST + f->hca->dev_index * 16 + i);
		TREE_STEP(r, tree_put(t, irqs, name, "msix\n"));
	}
	return r;
}

/*
 * Region 0 has a size and a mode; the preloaded library refuses to open it, as the kernel refuses
 * it to ordinary users.
 */
static int render_region(int dir, const char *name)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 || ftruncate(fd, (off_t)BAR_SIZE) < 0 ? -errno : 0;
}

static int render_bus(int root, int dir, const struct pci_function *f)
{
	_cleanup_close_ int devices = tree_enter_path(root, PCI_BUS "/devices");
	_cleanup_close_ int driver = tree_enter_path(root, PCI_BUS "/drivers/mlx5_core");
	int r = devices < 0 ? devices : driver < 0 ? driver : 0;

	TREE_STEP(r, tree_symlink(devices, f->bdf, "../../../devices/pci" FAB_PCI_DOMAIN ":00/%s",
				  f->bdf));
	TREE_STEP(r, tree_symlink(driver, f->bdf, "../../../../devices/pci" FAB_PCI_DOMAIN ":00/%s",
				  f->bdf));
	TREE_STEP(r, tree_symlink(dir, "driver", "../../../bus/pci/drivers/mlx5_core"));
	TREE_STEP(r, tree_symlink(dir, "subsystem", "../../../bus/pci"));
	return r;
}

int pci_render(struct tree *t, int root, int dir, const struct pci_function *f)
{
	uint8_t config[PCI_CFG_SPACE_EXP_SIZE], vpd[PCI_VPD_MAX];
	int r = render_attrs(t, dir, f);

	pci_config(f, config);
	TREE_STEP(r, tree_write(NULL, dir, "config", 0444, (const char *)config, sizeof(config)));
	TREE_STEP(r, tree_write(NULL, dir, "vpd", 0400, (const char *)vpd, pci_vpd(f, vpd)));
	TREE_STEP(r, render_region(dir, "resource0"));
	TREE_STEP(r, render_region(dir, "resource0_wc"));
	TREE_STEP(r, render_irqs(t, dir, f));
	TREE_STEP(r, render_bus(root, dir, f));
	return r;
}
