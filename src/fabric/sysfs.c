/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the sysfs tree of a host below `<dir>/host/<name>`: what drivers/infiniband/core/sysfs.c,
 * uverbs_main.c, user_mad.c and mlx5's main.c show of a real card, in their formats. Reads the
 * segment. Rendered by the supervisor at start, kept true by whoever changes a port.
 *
 * Start-up pays for every file, so: one openat, write, close per file, relative to an open
 * directory, and tables no longer than a port's real ones here (HW_GIDS, HW_PKEYS).
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "fabric/cpumask.h"
#include "util/bits.h"
#include "util/cleanup.h"

#define PCI_ROOT "sys/devices/pci5a17:00"

/* What is being shown. */
struct view {
	struct seg *s;
	const struct hw_host *host;
	const struct hw_hca *hca;
	const struct hw_port *port;
	uint32_t umad;
	const struct fab_sysfs_ids *ids;
	char ibdev[16], bdf[16];
};

/* ---- files and directories ---- */

static int write_new(int dir, const char *name, mode_t mode, const char *text, size_t len)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (!len)
		return 0;
	n = write(fd, text, len);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENOSPC;
}

/* 0444: nobody writes attributes but through a new file (see replace()). */
__attribute__((format(printf, 3, 4))) static int put(int dir, const char *name, const char *fmt,
						     ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return -EOVERFLOW;
	return write_new(dir, name, 0444, text, (size_t)n);
}

static int enter(int dir, const char *name)
{
	int fd;

	if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

__attribute__((format(printf, 3, 4))) static int point(int dir, const char *name, const char *fmt,
						       ...)
{
	char target[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(target, sizeof(target), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(target))
		return -EOVERFLOW;
	return symlinkat(target, dir, name) < 0 ? -errno : 0;
}

/* Runs steps until one fails; the first failure stays. */
#define STEP(r, call)                 \
	do {                          \
		if (!(r))             \
			(r) = (call); \
	} while (0)

/* ---- a port's attributes: the rows of core/sysfs.c ---- */

struct port_attr {
	const char *name;
	int (*show)(const struct hw_port *p, char *buf, size_t size);
};

static int show_state(const struct hw_port *p, char *buf, size_t size)
{
	static const char *const name[] = {"NOP",   "DOWN",   "INIT",
					   "ARMED", "ACTIVE", "ACTIVE_DEFER"};
	uint32_t v = p->state;

	return snprintf(buf, size, "%u: %s\n", v, v < ARRAY_SIZE(name) ? name[v] : "UNKNOWN");
}

static int show_phys_state(const struct hw_port *p, char *buf, size_t size)
{
	static const char *const name[] = {"<unknown>",
					   "Sleep",
					   "Polling",
					   "Disabled",
					   "PortConfigurationTraining",
					   "LinkUp",
					   "LinkErrorRecovery",
					   "Phy Test"};
	uint32_t v = p->phys_state;

	return snprintf(buf, size, "%u: %s\n", v, v < ARRAY_SIZE(name) ? name[v] : name[0]);
}

static int show_lid(const struct hw_port *p, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%x\n", p->lid);
}

static int show_lid_mask_count(const struct hw_port *p, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", p->lmc);
}

static int show_sm_lid(const struct hw_port *p, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%x\n", p->sm_lid);
}

static int show_sm_sl(const struct hw_port *p, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", p->sm_sl);
}

static int show_cap_mask(const struct hw_port *p, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%08x\n", p->cap_mask);
}

static int show_link_layer(const struct hw_port *p, char *buf, size_t size)
{
	return snprintf(buf, size, "InfiniBand\n");
}

static int show_rate(const struct hw_port *p, char *buf, size_t size)
{
	/* Per lane, in tenths of Gb/s. */
	static const struct {
		uint32_t code, rate;
		const char *name;
	} speed[] = {{1, 25, "SDR"},   {2, 50, "DDR"},   {4, 100, "QDR"},  {8, 100, "FDR10"},
		     {16, 140, "FDR"}, {32, 250, "EDR"}, {64, 500, "HDR"}, {128, 1000, "NDR"}};
	static const struct {
		uint32_t code, lanes;
	} width[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
	uint32_t lanes = 0, rate;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(width); i++)
		if (width[i].code == p->width)
			lanes = width[i].lanes;
	for (i = 0; i < ARRAY_SIZE(speed) && speed[i].code != p->speed; i++)
		;
	if (i == ARRAY_SIZE(speed))
		i = 0; /* an unknown speed shows as SDR */
	rate = speed[i].rate * lanes;
	return snprintf(buf, size, "%u%s Gb/sec (%uX %s)\n", rate / 10, rate % 10 ? ".5" : "",
			lanes, speed[i].name);
}

static const struct port_attr port_attrs[] = {
	{"state", show_state},       {"phys_state", show_phys_state},
	{"lid", show_lid},           {"lid_mask_count", show_lid_mask_count},
	{"sm_lid", show_sm_lid},     {"sm_sl", show_sm_sl},
	{"cap_mask", show_cap_mask}, {"link_layer", show_link_layer},
	{"rate", show_rate},
};

/* PMA counters. Errors cannot happen on this fabric's links: they have no source and stay 0. */
struct counter {
	const char *name;
	uint32_t off; /* of the _Atomic uint64_t in struct hw_port; 0: always 0 */
};

static const struct counter counters[] = {
	{"symbol_error", 0},
	{"link_error_recovery", 0},
	{"link_downed", 0},
	{"port_rcv_errors", 0},
	{"port_rcv_remote_physical_errors", 0},
	{"port_rcv_switch_relay_errors", 0},
	{"port_xmit_discards", 0},
	{"port_xmit_constraint_errors", 0},
	{"port_rcv_constraint_errors", 0},
	{"local_link_integrity_errors", 0},
	{"excessive_buffer_overrun_errors", 0},
	{"VL15_dropped", 0},
	{"port_xmit_wait", 0},
	{"port_xmit_data", offsetof(struct hw_port, xmit_data)},
	{"port_rcv_data", offsetof(struct hw_port, rcv_data)},
	{"port_xmit_packets", offsetof(struct hw_port, xmit_pkts)},
	{"port_rcv_packets", offsetof(struct hw_port, rcv_pkts)},
	{"unicast_xmit_packets", offsetof(struct hw_port, xmit_pkts)},
	{"unicast_rcv_packets", offsetof(struct hw_port, rcv_pkts)},
	{"multicast_xmit_packets", 0},
	{"multicast_rcv_packets", 0},
};

static uint64_t counter_value(const struct hw_port *p, const struct counter *c)
{
	if (!c->off)
		return 0;
	return atomic_load_explicit((const _Atomic uint64_t *)((const char *)p + c->off),
				    memory_order_relaxed);
}

/* ---- ports/N ---- */

static int render_gids(int dir, const struct hw_port *p)
{
	_cleanup_close_ int gids = enter(dir, "gids");
	_cleanup_close_ int attrs = enter(dir, "gid_attrs");
	_cleanup_close_ int types = attrs < 0 ? attrs : enter(attrs, "types");
	_cleanup_close_ int ndevs = attrs < 0 ? attrs : enter(attrs, "ndevs");
	static const uint8_t zero[16];
	int r = gids < 0 ? gids : types < 0 ? types : ndevs < 0 ? ndevs : 0;

	for (unsigned int i = 0; i < HW_GIDS; i++) {
		const uint8_t *g = p->gid[i];
		char name[8];

		snprintf(name, sizeof(name), "%u", i);
		STEP(r, put(gids, name, "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x\n", be16_load(g),
			    be16_load(g + 2), be16_load(g + 4), be16_load(g + 6), be16_load(g + 8),
			    be16_load(g + 10), be16_load(g + 12), be16_load(g + 14)));
		/*
		 * Where the kernel's read gives EINVAL (type of an empty entry, network device of
		 * an InfiniBand GID) ours gives end of file: what readers of these files treat
		 * alike.
		 */
		STEP(r, put(types, name, "%s", memcmp(g, zero, 16) ? "IB/RoCE v1\n" : ""));
		STEP(r, write_new(ndevs, name, 0444, NULL, 0));
	}
	return r;
}

static int render_counters(int dir, const struct hw_port *p)
{
	/* Of mlx5's hw_counters those that need no optional capability. */
	static const char *const hw[] = {"rx_write_requests", "rx_read_requests",
					 "rx_atomic_requests", "out_of_buffer"};
	_cleanup_close_ int pma = enter(dir, "counters");
	_cleanup_close_ int hwc = enter(dir, "hw_counters");
	int r = pma < 0 ? pma : hwc < 0 ? hwc : 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		STEP(r, put(pma, counters[i].name, "%llu\n",
			    (unsigned long long)counter_value(p, &counters[i])));
	for (size_t i = 0; i < ARRAY_SIZE(hw); i++)
		STEP(r, put(hwc, hw[i], "0\n"));
	STEP(r, put(hwc, "lifespan", "10\n"));
	return r;
}

static int render_port(int ports, const struct hw_port *p)
{
	char name[16], text[128];
	_cleanup_close_ int dir = -1;
	int r = 0;

	snprintf(name, sizeof(name), "%u", p->num);
	dir = enter(ports, name);
	if (dir < 0)
		return dir;
	for (size_t i = 0; i < ARRAY_SIZE(port_attrs); i++) {
		int n = port_attrs[i].show(p, text, sizeof(text));

		STEP(r, write_new(dir, port_attrs[i].name, 0444, text, (size_t)n));
	}
	STEP(r, render_gids(dir, p));
	if (!r) {
		_cleanup_close_ int pkeys = enter(dir, "pkeys");

		r = pkeys < 0 ? pkeys : 0;
		for (unsigned int i = 0; i < HW_PKEYS; i++) {
			snprintf(name, sizeof(name), "%u", i);
			STEP(r, put(pkeys, name, "0x%04x\n", p->pkey[i]));
		}
	}
	STEP(r, render_counters(dir, p));
	return r;
}

/* ---- devices ---- */

static int put_guid(int dir, const char *name, uint64_t guid)
{
	return put(dir, name, "%04x:%04x:%04x:%04x\n", (unsigned int)(guid >> 48),
		   (unsigned int)(guid >> 32 & 0xffff), (unsigned int)(guid >> 16 & 0xffff),
		   (unsigned int)(guid & 0xffff));
}

static int render_pci(int dir, const struct view *v)
{
	uint32_t device = v->ids->pci_device;
	/* CX-6: PCIe 4.0 x16; CX-7: 5.0 x16. */
	const char *speed = v->hca->model == HW_CX7 ? "32.0" : "16.0";
	char cpus[1024], list[256], resource[13 * 58];
	size_t len = 0;
	int r = 0;

	cpumask_local(cpus, sizeof(cpus), list, sizeof(list));
	for (unsigned int i = 0; i < 13; i++)
		len += (size_t)snprintf(resource + len, sizeof(resource) - len,
					"0x%016x 0x%016x 0x%016x\n", 0, 0, 0);
	STEP(r, put(dir, "vendor", "0x15b3\n"));
	STEP(r, put(dir, "device", "0x%04x\n", device));
	STEP(r, put(dir, "subsystem_vendor", "0x15b3\n"));
	STEP(r, put(dir, "subsystem_device", "0x0007\n"));
	STEP(r, put(dir, "class", "0x020700\n"));
	STEP(r, put(dir, "revision", "0x%02x\n", v->ids->hw_rev));
	STEP(r,
	     put(dir, "modalias", "pci:v000015B3d%08Xsv000015B3sd00000007bc02sc07i00\n", device));
	STEP(r, put(dir, "numa_node", "-1\n"));
	STEP(r, put(dir, "local_cpus", "%s\n", cpus));
	STEP(r, put(dir, "local_cpulist", "%s\n", list));
	STEP(r, put(dir, "current_link_speed", "%s GT/s PCIe\n", speed));
	STEP(r, put(dir, "max_link_speed", "%s GT/s PCIe\n", speed));
	STEP(r, put(dir, "current_link_width", "16\n"));
	STEP(r, put(dir, "max_link_width", "16\n"));
	STEP(r, put(dir, "enable", "1\n"));
	STEP(r, put(dir, "irq", "0\n"));
	STEP(r, write_new(dir, "resource", 0444, resource, len));
	STEP(r,
	     put(dir, "uevent",
		 "DRIVER=mlx5_core\nPCI_CLASS=20700\nPCI_ID=15B3:%04X\nPCI_SUBSYS_ID=15B3:0007\n"
		 "PCI_SLOT_NAME=%s\nMODALIAS=pci:v000015B3d%08Xsv000015B3sd00000007bc02sc07i00\n",
		 device, v->bdf, device));
	STEP(r, point(dir, "subsystem", "../../../bus/pci"));
	STEP(r, point(dir, "driver", "../../../bus/pci/drivers/mlx5_core"));
	return r;
}

static int render_ibdev(int pci, const struct view *v)
{
	_cleanup_close_ int cls = enter(pci, "infiniband");
	_cleanup_close_ int dir = cls < 0 ? cls : enter(cls, v->ibdev);
	_cleanup_close_ int ports = dir < 0 ? dir : enter(dir, "ports");
	int r = dir < 0 ? dir : ports < 0 ? ports : 0;

	STEP(r, put(dir, "node_type", "1: CA\n"));
	STEP(r, put_guid(dir, "node_guid", v->hca->node_guid));
	STEP(r, put_guid(dir, "sys_image_guid", v->hca->sys_image_guid));
	STEP(r, put(dir, "node_desc", "%.64s\n", v->hca->node_desc));
	STEP(r, put(dir, "fw_ver", "%s\n", v->ids->fw_ver));
	STEP(r, put(dir, "hw_rev", "%x\n", v->ids->hw_rev));
	STEP(r, put(dir, "hca_type", "%s\n", v->ids->hca_type));
	STEP(r, put(dir, "board_id", "%s\n", v->ids->board_id));
	STEP(r, put(dir, "fw_pages", "0\n"));
	STEP(r, put(dir, "reg_pages", "0\n"));
	STEP(r, put(dir, "uevent", "NAME=%s\n", v->ibdev));
	STEP(r, point(dir, "device", "../../../%s", v->bdf));
	STEP(r, point(dir, "subsystem", "../../../../../class/infiniband"));
	for (uint32_t i = 0; i < v->hca->nports; i++)
		STEP(r, render_port(ports, hw_port(v->s, v->hca->port[i])));
	return r;
}

/* One character device: its folder under the PCI device, its class link, its /dev placeholder. */
struct chardev {
	const char *class; /* folder in sys/class and under the PCI device */
	const char *stem;
	uint32_t n, minor;
	uint32_t port; /* umad, issm; 0: a uverbs device */
};

static int render_chardev(int root, int class, int dev, int pci, const struct view *v,
			  const struct chardev *c)
{
	_cleanup_close_ int group = enter(pci, c->class);
	_cleanup_close_ int dir = -1;
	char name[24];
	int r;

	if (group < 0)
		return group;
	snprintf(name, sizeof(name), "%s%u", c->stem, c->n);
	dir = enter(group, name);
	r = dir < 0 ? dir : 0;
	STEP(r, put(dir, "dev", "%u:%u\n", FAB_DEV_MAJOR, c->minor));
	STEP(r, put(dir, "ibdev", "%s\n", v->ibdev));
	if (c->port)
		STEP(r, put(dir, "port", "%u\n", c->port));
	else
		STEP(r, put(dir, "abi_version", "1\n")); /* the mlx5 driver's */
	STEP(r, put(dir, "uevent", "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/%s\n", FAB_DEV_MAJOR,
		    c->minor, name));
	STEP(r, point(dir, "device", "../../../%s", v->bdf));
	STEP(r, point(dir, "subsystem", "../../../../../class/%s", c->class));
	STEP(r, point(class, name, "../../devices/pci5a17:00/%s/%s/%s", v->bdf, c->class, name));
	STEP(r, write_new(dev, name, 0666, NULL, 0));
	return r;
}

struct tree { /* the open folders of a host's tree */
	int root, devices, ib, verbs, mad, dev, bus, driver;
};

static int render_hca(const struct tree *t, struct view *v)
{
	uint32_t n = v->hca->dev_index;
	const struct chardev uverbs = {"infiniband_verbs", "uverbs", n, FAB_UVERBS_MINOR(n), 0};
	_cleanup_close_ int pci = enter(t->devices, v->bdf);
	int r = pci < 0 ? pci : 0;

	STEP(r, render_pci(pci, v));
	STEP(r, render_ibdev(pci, v));
	STEP(r,
	     point(t->ib, v->ibdev, "../../devices/pci5a17:00/%s/infiniband/%s", v->bdf, v->ibdev));
	STEP(r, point(t->bus, v->bdf, "../../../devices/pci5a17:00/%s", v->bdf));
	STEP(r, point(t->driver, v->bdf, "../../../../devices/pci5a17:00/%s", v->bdf));
	STEP(r, render_chardev(t->root, t->verbs, t->dev, pci, v, &uverbs));
	for (uint32_t i = 0; i < v->hca->nports; i++) {
		uint32_t u = fab_umad_index(v->s, v->hca->port[i]);
		const struct chardev umad = {"infiniband_mad", "umad", u, FAB_UMAD_MINOR(u), i + 1};
		const struct chardev issm = {"infiniband_mad", "issm", u, FAB_ISSM_MINOR(u), i + 1};

		STEP(r, render_chardev(t->root, t->mad, t->dev, pci, v, &umad));
		STEP(r, render_chardev(t->root, t->mad, t->dev, pci, v, &issm));
	}
	return r;
}

static void tree_close(struct tree *t)
{
	int *fds = (int *)t;

	for (size_t i = 0; i < sizeof(*t) / sizeof(int); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* mkdir -p of a path relative to t->root, and open it. */
static int enter_path(int root, const char *path, int *out)
{
	char part[64];
	int dir = -1;

	while (*path) {
		size_t n = strcspn(path, "/");
		int next;

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		next = enter(dir < 0 ? root : dir, part);
		if (dir >= 0)
			close(dir);
		if (next < 0)
			return next;
		dir = next;
		path += n + (path[n] == '/');
	}
	*out = dir;
	return 0;
}

static int tree_open(struct tree *t, const char *root)
{
	int r = 0;

	*t = (struct tree){-1, -1, -1, -1, -1, -1, -1, -1};
	t->root = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->root < 0)
		return -errno;
	STEP(r, enter_path(t->root, PCI_ROOT, &t->devices));
	STEP(r, enter_path(t->root, "sys/class/infiniband", &t->ib));
	STEP(r, enter_path(t->root, "sys/class/infiniband_verbs", &t->verbs));
	STEP(r, enter_path(t->root, "sys/class/infiniband_mad", &t->mad));
	STEP(r, enter_path(t->root, "sys/bus/pci/devices", &t->bus));
	STEP(r, enter_path(t->root, "sys/bus/pci/drivers/mlx5_core", &t->driver));
	STEP(r, enter_path(t->root, "dev/infiniband", &t->dev));
	return r;
}

int fab_sysfs_render(struct seg *s, uint32_t host, const char *root,
		     const struct fab_sysfs_ids *ids)
{
	struct view v = {.s = s, .host = seg_live(s, SEG_T_HOST, host), .ids = ids};
	_cleanup_(tree_close) struct tree t = {-1, -1, -1, -1, -1, -1, -1, -1};
	int r;

	if (!v.host)
		return -EINVAL;
	r = tree_open(&t, root);
	STEP(r, put(t.verbs, "abi_version", "6\n"));
	STEP(r, put(t.mad, "abi_version", "5\n"));
	for (uint32_t i = 0; i < v.host->nhcas; i++) {
		v.hca = hw_hca(s, v.host->hca[i]);
		snprintf(v.ibdev, sizeof(v.ibdev), "mlx5_%u", v.hca->dev_index & 0xff);
		fab_pci_name(v.hca, v.bdf);
		STEP(r, render_hca(&t, &v));
	}
	return r;
}

/* ---- updates ---- */

/* A new file under a name of our own beside the tree, moved over the old one. */
static int replace(int root, int dir, const char *name, const char *text, size_t len)
{
	char tmp[32];
	int r;

	snprintf(tmp, sizeof(tmp), ".new.%ld", syscall(SYS_gettid));
	unlinkat(root, tmp, 0);
	r = write_new(root, tmp, 0444, text, len);
	if (!r && renameat(root, tmp, dir, name) < 0)
		r = -errno;
	if (r)
		unlinkat(root, tmp, 0);
	return r;
}

/* Opens the tree's root and one folder of a port in it. */
static int open_port(struct seg *s, const struct hw_port *p, const char *root, const char *sub,
		     int *root_fd, int *fd)
{
	const struct hw_hca *hca = p ? hw_hca(s, p->hca) : NULL;
	char path[160], bdf[16];

	if (!hca)
		return -EINVAL;
	fab_pci_name(hca, bdf);
	snprintf(path, sizeof(path), PCI_ROOT "/%s/infiniband/mlx5_%u/ports/%u%s", bdf,
		 hca->dev_index, p->num, sub);
	*root_fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*root_fd < 0)
		return -errno;
	*fd = openat(*root_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

int fab_sysfs_update_port(struct seg *s, uint32_t port, const char *root)
{
	_cleanup_close_ int top = -1;
	_cleanup_close_ int dir = -1;
	const struct hw_port *p = hw_port(s, port);
	char text[128];
	int r = open_port(s, p, root, "", &top, &dir);

	for (size_t i = 0; !r && i < ARRAY_SIZE(port_attrs); i++) {
		int n = port_attrs[i].show(p, text, sizeof(text));

		STEP(r, replace(top, dir, port_attrs[i].name, text, (size_t)n));
	}
	return r;
}

int fab_sysfs_update_counters(struct seg *s, uint32_t port, const char *root)
{
	_cleanup_close_ int top = -1;
	_cleanup_close_ int dir = -1;
	const struct hw_port *p = hw_port(s, port);
	int r = open_port(s, p, root, "/counters", &top, &dir);

	for (size_t i = 0; !r && i < ARRAY_SIZE(counters); i++) {
		char text[32];
		int n;

		if (!counters[i].off)
			continue;
		n = snprintf(text, sizeof(text), "%llu\n",
			     (unsigned long long)counter_value(p, &counters[i]));
		STEP(r, replace(top, dir, counters[i].name, text, (size_t)n));
	}
	return r;
}
