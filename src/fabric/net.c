/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the network interfaces in a host's tree: the files that net/core/net-sysfs.c and IPoIB show,
 * and a copy of struct fab_iface for each, which the preloaded library reads without attaching to
 * the fabric. sysfs.c calls it.
 */
#include "fabric/ifaddr.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "fabric/tree.h"
#include "util/bits.h"
#include "util/cleanup.h"
#include "util/num.h"

#define NET_CLASS "sys/class/net"
#define NET_VIRTUAL "sys/devices/virtual/net"

struct net_attr {
	const char *name;
	int (*show)(const struct fab_iface *f, char *buf, size_t size);
	bool changes; /* the content changes with the port's state and tables */
	bool ipoib;   /* only there */
};

static bool is_up(const struct fab_iface *f)
{
	return f->flags & IFF_RUNNING;
}

static int show_octets(const uint8_t *a, uint32_t len, char *buf, size_t size)
{
	int n = 0;

	for (uint32_t i = 0; i < len; i++)
		n += snprintf(buf + n, size - (size_t)n, "%s%02x", i ? ":" : "", a[i]);
	return n + snprintf(buf + n, size - (size_t)n, "\n");
}

static int show_address(const struct fab_iface *f, char *buf, size_t size)
{
	return show_octets(f->hwaddr, f->hwlen, buf, size);
}

static int show_broadcast(const struct fab_iface *f, char *buf, size_t size)
{
	return show_octets(f->broadcast, f->hwlen, buf, size);
}

static int show_addr_len(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->hwlen);
}

static int show_type(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->hwtype);
}

/* dev->flags, which lack the bits for the link's state. */
static int show_flags(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%x\n", f->flags & (IFF_UP | IFF_BROADCAST | IFF_MULTICAST));
}

static int show_ifindex(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->index);
}

static int show_iflink(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->link ? f->link : f->index);
}

/* ipoib_add_port(): both are the port's number from 0. Ethernet drivers set dev_port alone. */
static int show_dev_id(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%x\n", f->hwtype == ARPHRD_ETHER ? 0 : f->port - 1);
}

static int show_dev_port(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->link ? 0 : f->port - 1);
}

static int show_mtu(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->mtu);
}

static int show_operstate(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%s\n", is_up(f) ? "up" : "down");
}

static int show_carrier(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%d\n", is_up(f));
}

static int net_show_speed(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%d\n", f->speed);
}

static int show_duplex(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%s\n", is_up(f) ? "full" : "unknown");
}

static int show_pkey(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%04x\n", f->pkey);
}

static int show_mode(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "datagram\n");
}

static int show_txqlen(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%u\n", f->queue_len);
}

static int net_show_uevent(const struct fab_iface *f, char *buf, size_t size)
{
	return snprintf(buf, size, "%sINTERFACE=%s\nIFINDEX=%u\n", f->link ? "DEVTYPE=vlan\n" : "",
			f->name, f->index);
}

static const struct net_attr net_attrs[] = {
	{"address", show_address, true},      {"broadcast", show_broadcast, true},
	{"addr_len", show_addr_len, false},   {"type", show_type, false},
	{"flags", show_flags, false},         {"ifindex", show_ifindex, false},
	{"iflink", show_iflink, false},       {"dev_id", show_dev_id, false},
	{"dev_port", show_dev_port, false},   {"mtu", show_mtu, true},
	{"operstate", show_operstate, true},  {"carrier", show_carrier, true},
	{"speed", net_show_speed, true},      {"duplex", show_duplex, true},
	{"pkey", show_pkey, true, true},      {"mode", show_mode, false, true},
	{"tx_queue_len", show_txqlen, false}, {"uevent", net_show_uevent, false},
};

static bool has_attr(const struct fab_iface *f, const struct net_attr *a)
{
	return !a->ipoib || f->hwtype == ARPHRD_INFINIBAND;
}

/* Nothing is sent through the interface. */
static const char *const statistics[] = {
	"rx_bytes",   "rx_packets", "rx_errors",  "rx_dropped", "tx_bytes",
	"tx_packets", "tx_errors",  "tx_dropped", "multicast",  "collisions",
};

static int render_iface(struct tree *t, int dir, const struct fab_iface *f, const char *bdf)
{
	_cleanup_close_ int stats = tree_enter(dir, "statistics");
	char text[128];
	int r = stats < 0 ? stats : 0;

	for (size_t i = 0; i < ARRAY_SIZE(net_attrs); i++) {
		int n = net_attrs[i].show(f, text, sizeof(text));

		if (!has_attr(f, &net_attrs[i]))
			continue;
		TREE_STEP(r, tree_write(t, dir, net_attrs[i].name, 0444, text, (size_t)n));
	}
	for (size_t i = 0; i < ARRAY_SIZE(statistics); i++)
		TREE_STEP(r, tree_put(t, stats, statistics[i], "0\n"));
	if (bdf)
		TREE_STEP(r, tree_symlink(dir, "device", "../../../%s", bdf));
	TREE_STEP(r, tree_symlink(dir, "subsystem", "%s../../../../class/net", bdf ? "../" : ""));
	return r;
}

/* With a network namespace, programs ask the kernel, and the file is not needed. */
static bool in_netns(struct seg *s, uint32_t port)
{
	const struct hw_host *h = seg_live(s, SEG_T_HOST, fab_if_host(s, port));

	return h && h->netns;
}

/* Writes the struct fab_iface that the preloaded library reads. */
static int put_copy(struct seg *s, uint32_t port, int root, const struct fab_iface *f)
{
	char path[24];

	if (in_netns(s, port))
		return 0;
	snprintf(path, sizeof(path), FAB_IF_FILE, f->index - FAB_IF_FIRST);
	return tree_replace(root, root, path, (const char *)f, sizeof(*f));
}

static int update_attrs(int root, int dir, const struct fab_iface *f)
{
	char text[128];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(net_attrs); i++) {
		int n = net_attrs[i].show(f, text, sizeof(text));

		if (net_attrs[i].changes && has_attr(f, &net_attrs[i]))
			TREE_STEP(r, tree_replace(root, dir, net_attrs[i].name, text, (size_t)n));
	}
	return r;
}

/* ---- VLANs' interfaces, which no PCI device has */

static int open_vlan(int root, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), NET_VIRTUAL "/%.15s", name);
	fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A link to it appears in the class when it is whole. */
static int render_vlan(int root, const struct fab_iface *f)
{
	_cleanup_close_ int virtual = tree_enter_path(root, NET_VIRTUAL);
	_cleanup_close_ int class = tree_enter_path(root, NET_CLASS);
	_cleanup_close_ int dir = virtual < 0 ? virtual : tree_enter(virtual, f->name);
	int r = class < 0 ? class : dir < 0 ? dir : 0;

	TREE_STEP(r, render_iface(NULL, dir, f, NULL));
	TREE_STEP(r, tree_symlink(class, f->name, "../../devices/virtual/net/%s", f->name));
	return r;
}

static int update_vlan(struct seg *s, uint32_t at, int root)
{
	_cleanup_close_ int dir = -1;
	struct fab_iface f;
	int r = 0;

	if (!fab_iface(s, at, &f))
		return 0;
	dir = open_vlan(root, f.name);
	if (dir == -ENOENT)
		r = render_vlan(root, &f);
	else
		r = dir < 0 ? dir : update_attrs(root, dir, &f);
	TREE_STEP(r, put_copy(s, fab_at_port(at), root, &f));
	return r;
}

static void remove_vlan(int root, const char *name)
{
	_cleanup_close_ int dir = open_vlan(root, name);
	char path[80];

	snprintf(path, sizeof(path), NET_CLASS "/%.15s", name);
	unlinkat(root, path, 0);
	if (dir < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(net_attrs); i++)
		unlinkat(dir, net_attrs[i].name, 0);
	for (size_t i = 0; i < ARRAY_SIZE(statistics); i++) {
		snprintf(path, sizeof(path), "statistics/%s", statistics[i]);
		unlinkat(dir, path, 0);
	}
	unlinkat(dir, "statistics", AT_REMOVEDIR);
	unlinkat(dir, "subsystem", 0);
	snprintf(path, sizeof(path), NET_VIRTUAL "/%.15s", name);
	unlinkat(root, path, AT_REMOVEDIR);
}

/* The VLAN's id in the name of an interface on `below`; 0: it is not one. */
static uint32_t vlan_of(const char *name, const char *below)
{
	size_t n = strlen(below);

	return !strncmp(name, below, n) && name[n] == '.'
		       ? (uint32_t)num_decimal(name + n + 1, NULL)
		       : 0;
}

/* Folders of VLANs that are gone. */
static void remove_old(struct seg *s, uint32_t port, int root, const char *below)
{
	int fd = openat(root, NET_VIRTUAL, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		uint32_t id = vlan_of(e->d_name, below);

		if (id && fab_at_by_vlan(s, port, id) == SEG_NONE)
			remove_vlan(root, e->d_name);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static int update_vlans(struct seg *s, uint32_t port, int root, const struct fab_iface *below)
{
	int r = 0;

	remove_old(s, port, root, below->name);
	for (uint32_t place = 1; place <= HW_VLANS; place++) {
		uint32_t at = fab_at(port, place), file = below->index - FAB_IF_FIRST;
		char path[24];

		snprintf(path, sizeof(path), FAB_IF_FILE, file + place * FAB_IF_PORTS);
		if (!fab_at_vlan(s, at))
			unlinkat(root, path, 0);
		else
			TREE_STEP(r, update_vlan(s, at, root));
	}
	return r;
}

/* ---- all of a port */

int fab_net_render(struct tree *t, struct seg *s, uint32_t port, int root, int pci, const char *bdf)
{
	_cleanup_close_ int net = tree_enter(pci, "net");
	_cleanup_close_ int class = tree_enter_path(root, NET_CLASS);
	_cleanup_close_ int files = tree_enter(root, "ifaces");
	_cleanup_close_ int dir = -1;
	struct fab_iface f;
	int r = net < 0 ? net : class < 0 ? class : files < 0 ? files : 0;

	if (r || !fab_iface(s, port, &f))
		return r;
	dir = tree_enter(net, f.name);
	r = dir < 0 ? dir : 0;
	TREE_STEP(r, render_iface(t, dir, &f, bdf));
	TREE_STEP(r, tree_symlink(class, f.name, "../../devices/pci" FAB_PCI_DOMAIN ":00/%s/net/%s",
				  bdf, f.name));
	TREE_STEP(r, put_copy(s, port, root, &f));
	if (f.vlans)
		TREE_STEP(r, update_vlans(s, port, root, &f));
	return r;
}

int fab_net_update(struct seg *s, uint32_t port, int root)
{
	_cleanup_close_ int dir = -1;
	struct fab_iface f;
	char path[48];
	int r;

	if (!fab_iface(s, port, &f))
		return 0;
	snprintf(path, sizeof(path), NET_CLASS "/%s", f.name);
	dir = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = update_attrs(root, dir, &f);
	if (f.hwtype == ARPHRD_ETHER)
		TREE_STEP(r, update_vlans(s, port, root, &f));
	TREE_STEP(r, put_copy(s, port, root, &f));
	return r;
}
