/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the sysfs tree of a host below `<dir>/host/<name>`: the files that
 * drivers/infiniband/core/sysfs.c, uverbs_main.c, user_mad.c and mlx5's main.c show for a real
 * card, in their formats. Reads the segment. The supervisor renders it when the host is first used;
 * each process that changes a port updates it.
 *
 * Every file costs start-up time, so tables are no longer than a port's own (hw_port_gids(),
 * hw_port_pkeys()).
 */
#include "fabric/fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "fabric/ifaddr.h"
#include "fabric/pci.h"
#include "fabric/tree.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/world.h"
#include "util/bits.h"
#include "util/cleanup.h"
#include "wire/ib/link.h"

#define PCI_ROOT "sys/devices/pci5a17:00"

/* The device to render, and the open folders of the tree. */
struct view {
	struct seg *s;
	const struct hw_host *host;
	const struct hw_hca *hca;
	const struct fab_sysfs_ids *ids;
	char ibdev[FAB_HCA_NAME], bdf[16];
	struct tree *tree;
	int root, devices, ib, verbs, mad, dev; /* open folders of the host's tree */
};

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
	return snprintf(buf, size, "0x%x\n", hw_port_lid(p));
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
	return snprintf(buf, size, "%s\n", hw_port_is_eth(p) ? "Ethernet" : "InfiniBand");
}

static int show_rate(const struct hw_port *p, char *buf, size_t size)
{
	const struct ib_width *w = ib_width(hw_port_width(p));
	const struct ib_speed *v = ib_speed(hw_port_speed(p));
	uint32_t lanes = w ? w->lanes : 0, rate;

	if (!v)
		v = &ib_speeds[0]; /* an unknown speed shows as SDR */
	rate = v->lane_gb10 * lanes;
	return snprintf(buf, size, "%u%s Gb/sec (%uX %s)\n", rate / 10, rate % 10 ? ".5" : "",
			lanes, v->name);
}

static const struct port_attr port_attrs[] = {
	{"state", show_state},       {"phys_state", show_phys_state},
	{"lid", show_lid},           {"lid_mask_count", show_lid_mask_count},
	{"sm_lid", show_sm_lid},     {"sm_sl", show_sm_sl},
	{"cap_mask", show_cap_mask}, {"link_layer", show_link_layer},
	{"rate", show_rate},
};

static const struct {
	const char *name;
	enum hw_ctr what;
} counters[] = {
	{"symbol_error", HW_CTR_SYMBOL},
	{"link_error_recovery", HW_CTR_RECOVERY},
	{"link_downed", HW_CTR_DOWNED},
	{"port_rcv_errors", HW_CTR_RCV_ERRORS},
	{"port_rcv_remote_physical_errors", HW_CTR_RCV_REMOTE_PHYS},
	{"port_rcv_switch_relay_errors", HW_CTR_RCV_RELAY},
	{"port_xmit_discards", HW_CTR_XMIT_DISCARDS},
	{"port_xmit_constraint_errors", HW_CTR_XMIT_CONSTRAINT},
	{"port_rcv_constraint_errors", HW_CTR_RCV_CONSTRAINT},
	{"local_link_integrity_errors", HW_CTR_INTEGRITY},
	{"excessive_buffer_overrun_errors", HW_CTR_OVERRUN},
	{"VL15_dropped", HW_CTR_VL15_DROPPED},
	{"port_xmit_wait", HW_CTR_XMIT_WAIT},
	{"port_xmit_data", HW_CTR_XMIT_DATA},
	{"port_rcv_data", HW_CTR_RCV_DATA},
	{"port_xmit_packets", HW_CTR_XMIT_PKTS},
	{"port_rcv_packets", HW_CTR_RCV_PKTS},
	{"unicast_xmit_packets", HW_CTR_XMIT_UCAST},
	{"unicast_rcv_packets", HW_CTR_RCV_UCAST},
	{"multicast_xmit_packets", HW_CTR_XMIT_MCAST},
	{"multicast_rcv_packets", HW_CTR_RCV_MCAST},
};

/* ---- ports/N ---- */

static int show_gid(const uint8_t *g, char *out, size_t size)
{
	return snprintf(out, size, "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x\n", be16_load(g),
			be16_load(g + 2), be16_load(g + 4), be16_load(g + 6), be16_load(g + 8),
			be16_load(g + 10), be16_load(g + 12), be16_load(g + 14));
}

/*
 * Where the kernel's read gives EINVAL (type of an empty entry, network device of an InfiniBand
 * GID) the file is empty, and the shim gives the error (open_unreadable()).
 */
static bool is_gid(const struct hw_port *p, uint32_t i)
{
	static const uint8_t zero[16];

	return memcmp(hw_gid(p, i), zero, sizeof(zero)) != 0;
}

static int show_gid_type(const struct hw_port *p, uint32_t i, char *out, size_t size)
{
	if (!is_gid(p, i))
		return snprintf(out, size, "%s", "");
	return snprintf(out, size, "%s\n",
			hw_gid_type(*hw_gid_kind_at(p, i)) == HW_GID_ROCE_V2 ? "RoCE v2"
									     : "IB/RoCE v1");
}

static int show_gid_ndev(struct seg *s, uint32_t port, uint32_t i, char *out, size_t size)
{
	const struct hw_port *p = hw_port(s, port);
	struct fab_iface f;

	if (!hw_port_is_eth(p) || !is_gid(p, i) ||
	    !fab_iface(s, fab_at_by_vlan(s, port, hw_gid_vlan(*hw_gid_kind_at(p, i))), &f))
		return snprintf(out, size, "%s", "");
	return snprintf(out, size, "%s\n",
			fab_gid_guest(s, port, hw_gid(p, i)) ? FAB_GUEST_IF : f.name);
}

static int render_gids(struct tree *t, int dir, struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	_cleanup_close_ int gids = tree_enter(dir, "gids");
	_cleanup_close_ int attrs = tree_enter(dir, "gid_attrs");
	_cleanup_close_ int types = attrs < 0 ? attrs : tree_enter(attrs, "types");
	_cleanup_close_ int ndevs = attrs < 0 ? attrs : tree_enter(attrs, "ndevs");
	int r = gids < 0 ? gids : types < 0 ? types : ndevs < 0 ? ndevs : 0;

	for (unsigned int i = 0; i < hw_port_gids(p); i++) {
		char name[12], text[48];
		int n = show_gid(hw_gid(p, i), text, sizeof(text));

		snprintf(name, sizeof(name), "%u", i);
		TREE_STEP(r, tree_write(t, gids, name, 0444, text, (size_t)n));
		n = show_gid_type(p, i, text, sizeof(text));
		TREE_STEP(r, tree_write(t, types, name, 0444, text, (size_t)n));
		n = show_gid_ndev(s, port, i, text, sizeof(text));
		TREE_STEP(r, tree_write(t, ndevs, name, 0444, text, (size_t)n));
	}
	return r;
}

static int render_pkeys(struct tree *t, int dir, const struct hw_port *p)
{
	_cleanup_close_ int pkeys = tree_enter(dir, "pkeys");
	int r = pkeys < 0 ? pkeys : 0;

	for (unsigned int i = 0; i < hw_port_pkeys(p); i++) {
		char name[12];

		snprintf(name, sizeof(name), "%u", i);
		TREE_STEP(r, tree_put(t, pkeys, name, "0x%04x\n", p->pkey[i]));
	}
	return r;
}

/*
 * mlx5's hw_counters of Linux 6.1 (counters.c), in its order: the port's set of Q counters; from
 * roce_adp_retrans on for Ethernet ports only, as capability bits say (that rx_icrc_encapsulated is
 * one of them is inferred). HW_QC_COUNT: stays 0, as nothing is congested.
 */
static const struct {
	const char *name;
	enum hw_qc what;
} hw_counters[] = {
	{"rx_write_requests", HW_QC_RX_WRITE_REQUESTS},
	{"rx_read_requests", HW_QC_RX_READ_REQUESTS},
	{"rx_atomic_requests", HW_QC_RX_ATOMIC_REQUESTS},
	{"rx_dct_connect", HW_QC_RX_DCT_CONNECT},
	{"out_of_buffer", HW_QC_OUT_OF_BUFFER},
	{"out_of_sequence", HW_QC_OUT_OF_SEQUENCE},
	{"duplicate_request", HW_QC_DUPLICATE_REQUEST},
	{"rnr_nak_retry_err", HW_QC_RNR_NAK_RETRY_ERR},
	{"packet_seq_err", HW_QC_PACKET_SEQ_ERR},
	{"implied_nak_seq_err", HW_QC_IMPLIED_NAK_SEQ_ERR},
	{"local_ack_timeout_err", HW_QC_LOCAL_ACK_TIMEOUT_ERR},
	{"resp_local_length_error", HW_QC_RESP_LOCAL_LENGTH_ERROR},
	{"resp_cqe_error", HW_QC_RESP_CQE_ERROR},
	{"req_cqe_error", HW_QC_REQ_CQE_ERROR},
	{"req_remote_invalid_request", HW_QC_REQ_REMOTE_INVALID_REQUEST},
	{"req_remote_access_errors", HW_QC_REQ_REMOTE_ACCESS_ERRORS},
	{"resp_remote_access_errors", HW_QC_RESP_REMOTE_ACCESS_ERRORS},
	{"resp_cqe_flush_error", HW_QC_RESP_CQE_FLUSH_ERROR},
	{"req_cqe_flush_error", HW_QC_REQ_CQE_FLUSH_ERROR},
	{"roce_adp_retrans", HW_QC_ROCE_ADP_RETRANS},
	{"roce_adp_retrans_to", HW_QC_ROCE_ADP_RETRANS_TO},
	{"roce_slow_restart", HW_QC_ROCE_SLOW_RESTART},
	{"roce_slow_restart_cnps", HW_QC_ROCE_SLOW_RESTART_CNPS},
	{"roce_slow_restart_trans", HW_QC_ROCE_SLOW_RESTART_TRANS},
	{"rp_cnp_ignored", HW_QC_COUNT},
	{"rp_cnp_handled", HW_QC_COUNT},
	{"np_ecn_marked_roce_packets", HW_QC_COUNT},
	{"np_cnp_sent", HW_QC_COUNT},
	{"rx_icrc_encapsulated", HW_QC_COUNT},
};
#define HW_COUNTERS_ROCE 10 /* the last ones */

static uint32_t hw_counters_of(const struct hw_port *p)
{
	return ARRAY_SIZE(hw_counters) - (hw_port_is_eth(p) ? 0 : HW_COUNTERS_ROCE);
}

static uint32_t hw_counter_value(const struct hw_qctr *set, uint32_t i)
{
	return set && hw_counters[i].what < HW_QC_COUNT ? atomic_load(&set->n[hw_counters[i].what])
							: 0;
}

bool fab_hw_counter(const struct seg *s, uint32_t port, uint32_t i, struct fab_hw_counter *c)
{
	const struct hw_port *p = hw_port(s, port);
	const struct hw_qctr *set = p ? hw_qctr(s, p->qctr) : NULL;

	if (!p || i >= hw_counters_of(p))
		return false;
	c->name = hw_counters[i].name;
	c->value = hw_counter_value(set, i);
	return true;
}

static int render_counters(struct tree *t, int dir, const struct hw_port *p,
			   const struct fab_counters *v)
{
	_cleanup_close_ int pma = tree_enter(dir, "counters");
	_cleanup_close_ int hwc = tree_enter(dir, "hw_counters");
	int r = pma < 0 ? pma : hwc < 0 ? hwc : 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		TREE_STEP(r, tree_put(t, pma, counters[i].name, "%llu\n",
				      (unsigned long long)v->n[counters[i].what]));
	for (size_t i = 0; i < hw_counters_of(p); i++)
		TREE_STEP(r, tree_put(t, hwc, hw_counters[i].name, "0\n"));
	TREE_STEP(r, tree_put(t, hwc, "lifespan", "10\n"));
	return r;
}

static int render_port(struct tree *t, int ports, struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	const struct fab_counters zero = {0}; /* a fabric is rendered before it carries traffic */
	char name[16], text[128];
	_cleanup_close_ int dir = -1;
	int r = 0;

	snprintf(name, sizeof(name), "%u", p->num);
	dir = tree_enter(ports, name);
	if (dir < 0)
		return dir;
	for (size_t i = 0; i < ARRAY_SIZE(port_attrs); i++) {
		int n = port_attrs[i].show(p, text, sizeof(text));

		TREE_STEP(r, tree_write(t, dir, port_attrs[i].name, 0444, text, (size_t)n));
	}
	TREE_STEP(r, render_gids(t, dir, s, port));
	TREE_STEP(r, render_pkeys(t, dir, p));
	TREE_STEP(r, render_counters(t, dir, p, &zero));
	return r;
}

/* ---- devices ---- */

static int put_guid(struct tree *t, int dir, const char *name, uint64_t guid)
{
	return tree_put(t, dir, name, "%04x:%04x:%04x:%04x\n", (unsigned int)(guid >> 48),
			(unsigned int)(guid >> 32 & 0xffff), (unsigned int)(guid >> 16 & 0xffff),
			(unsigned int)(guid & 0xffff));
}

/* node_desc_show() of the kernel's sysfs.c. The file is writable, so it shares no text. */
static int show_desc(struct seg *s, const struct hw_hca *hca, char *to, size_t size)
{
	return snprintf(to, size, "%.64s\n", fab_node(s, hca->node)->desc);
}

static int render_desc(struct seg *s, const struct hw_hca *hca, int dir)
{
	char text[80];
	int n = show_desc(s, hca, text, sizeof(text));

	return tree_write(NULL, dir, "node_desc", 0644, text, (size_t)n);
}

static int render_ibdev(int pci, const struct view *v)
{
	_cleanup_close_ int cls = tree_enter(pci, "infiniband");
	_cleanup_close_ int dir = cls < 0 ? cls : tree_enter(cls, v->ibdev);
	_cleanup_close_ int ports = dir < 0 ? dir : tree_enter(dir, "ports");
	int r = dir < 0 ? dir : ports < 0 ? ports : 0;

	TREE_STEP(r, tree_put(v->tree, dir, "node_type", "1: CA\n"));
	TREE_STEP(r, put_guid(v->tree, dir, "node_guid", v->hca->node_guid));
	TREE_STEP(r, put_guid(v->tree, dir, "sys_image_guid", v->hca->sys_image_guid));
	TREE_STEP(r, render_desc(v->s, v->hca, dir));
	TREE_STEP(r, tree_put(v->tree, dir, "fw_ver", "%s\n", v->ids->fw_ver));
	TREE_STEP(r, tree_put(v->tree, dir, "hw_rev", "%x\n", v->ids->hw_rev));
	TREE_STEP(r, tree_put(v->tree, dir, "hca_type", "%s\n", v->ids->hca_type));
	TREE_STEP(r, tree_put(v->tree, dir, "board_id", "%s\n", v->ids->board_id));
	TREE_STEP(r, tree_put(v->tree, dir, "fw_pages", "0\n"));
	TREE_STEP(r, tree_put(v->tree, dir, "reg_pages", "0\n"));
	TREE_STEP(r, tree_put(v->tree, dir, "uevent", "NAME=%s\n", v->ibdev));
	TREE_STEP(r, tree_symlink(dir, "device", "../../../%s", v->bdf));
	TREE_STEP(r, tree_symlink(dir, "subsystem", "../../../../../class/infiniband"));
	for (uint32_t i = 0; i < v->hca->nports; i++)
		TREE_STEP(r, render_port(v->tree, ports, v->s, v->hca->port[i]));
	return r;
}

/* One character device: its folder under the PCI device, its class link, its /dev placeholder. */
struct chardev {
	const char *class; /* folder in sys/class and under the PCI device */
	const char *stem;
	uint32_t n, minor;
	uint32_t port; /* umad, issm; 0: a uverbs device */
};

static int render_chardev(const struct view *v, int pci, int class, const struct chardev *c)
{
	_cleanup_close_ int group = tree_enter(pci, c->class);
	_cleanup_close_ int dir = -1;
	char name[24];
	int r;

	if (group < 0)
		return group;
	snprintf(name, sizeof(name), "%s%u", c->stem, c->n);
	dir = tree_enter(group, name);
	r = dir < 0 ? dir : 0;
	TREE_STEP(r, tree_put(v->tree, dir, "dev", "%u:%u\n", FAB_DEV_MAJOR, c->minor));
	TREE_STEP(r, tree_put(v->tree, dir, "ibdev", "%s\n", v->ibdev));
	if (c->port)
		TREE_STEP(r, tree_put(v->tree, dir, "port", "%u\n", c->port));
	else
		/* ABI version of the mlx5 driver */
		TREE_STEP(r, tree_put(v->tree, dir, "abi_version", "1\n"));
	/* uverbs_devnode() gives a mode, umad_devnode() none */
	TREE_STEP(r,
		  tree_put(v->tree, dir, "uevent", "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/%s\n%s",
			   FAB_DEV_MAJOR, c->minor, name, c->port ? "" : "DEVMODE=0666\n"));
	TREE_STEP(r, tree_symlink(dir, "device", "../../../%s", v->bdf));
	TREE_STEP(r, tree_symlink(dir, "subsystem", "../../../../../class/%s", c->class));
	TREE_STEP(r, tree_symlink(class, name, "../../devices/pci5a17:00/%s/%s/%s", v->bdf,
				  c->class, name));
	/* A separate file: its inode number identifies the device. */
	TREE_STEP(r, tree_write(NULL, v->dev, name,
				hw_setting(v->s, HW_SET_DEV_OWNER) == HW_DEV_ROOT ? 0600 : 0666, "",
				0));
	return r;
}

static int render_hca(const struct view *v)
{
	uint32_t n = v->hca->dev_index;
	const struct chardev uverbs = {"infiniband_verbs", "uverbs", n, FAB_UVERBS_MINOR(n), 0};
	_cleanup_close_ int pci = tree_enter(v->devices, v->bdf);
	struct pci_function f;
	int r = pci < 0 ? pci : 0;

	pci_function(&f, v->hca, hw_port_is_eth(hw_port(v->s, v->hca->port[0])), v->ids, v->bdf);
	f.nodes = hw_setting(v->s, HW_SET_NUMA);
	f.node = n * f.nodes / v->host->nhcas;
	TREE_STEP(r, pci_render(v->tree, v->root, pci, &f));
	TREE_STEP(r, render_ibdev(pci, v));
	TREE_STEP(r, tree_symlink(v->ib, v->ibdev, "../../devices/pci5a17:00/%s/infiniband/%s",
				  v->bdf, v->ibdev));
	TREE_STEP(r, render_chardev(v, pci, v->verbs, &uverbs));
	for (uint32_t i = 0; i < v->hca->nports; i++) {
		uint32_t u = fab_umad_index(v->s, v->hca->port[i]);
		const struct chardev umad = {"infiniband_mad", "umad", u, FAB_UMAD_MINOR(u), i + 1};
		const struct chardev issm = {"infiniband_mad", "issm", u, FAB_ISSM_MINOR(u), i + 1};

		TREE_STEP(r, render_chardev(v, pci, v->mad, &umad));
		TREE_STEP(r, render_chardev(v, pci, v->mad, &issm));
		TREE_STEP(r, fab_net_render(v->tree, v->s, v->hca->port[i], v->root, pci, v->bdf));
	}
	return r;
}

static int open_folder(int root, const char *path, int *fd)
{
	*fd = tree_enter_path(root, path);
	return *fd < 0 ? *fd : 0;
}

static void close_folders(struct view *v)
{
	const int fds[] = {v->root, v->devices, v->ib, v->verbs, v->mad, v->dev};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The misc device of a host whose connection manager is loaded: cdev and ABI (ucma.c). */
static int render_rdma_cm(struct view *v)
{
	_cleanup_close_ int dir = tree_enter_path(v->root, "sys/devices/virtual/misc/rdma_cm");
	_cleanup_close_ int misc = tree_enter_path(v->root, "sys/class/misc");
	_cleanup_close_ int sysctl = tree_enter_path(v->root, "proc/sys/net/rdma_ucm");
	int r = dir < 0 ? dir : misc < 0 ? misc : sysctl < 0 ? sysctl : 0;

	TREE_STEP(r, tree_put(v->tree, dir, "dev", "%u:%u\n", FAB_MISC_MAJOR, FAB_RDMA_CM_MISC));
	TREE_STEP(r, tree_put(v->tree, dir, "abi_version", "4\n"));
	TREE_STEP(r, tree_put(v->tree, dir, "uevent",
			      "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/rdma_cm\nDEVMODE=0666\n",
			      FAB_MISC_MAJOR, FAB_RDMA_CM_MISC));
	TREE_STEP(r, tree_symlink(dir, "subsystem", "../../../../class/misc"));
	TREE_STEP(r, tree_symlink(misc, "rdma_cm", "../../devices/virtual/misc/rdma_cm"));
	TREE_STEP(r, tree_put(v->tree, sysctl, "max_backlog", "1024\n"));
	TREE_STEP(r, tree_write(NULL, v->dev, "rdma_cm", 0666, "", 0));
	return r;
}

int fab_sysfs_render(struct seg *s, uint32_t host, const char *root,
		     const struct fab_sysfs_ids *ids)
{
	_cleanup_(tree_finish) struct tree t = {.n = 0};
	_cleanup_(close_folders) struct view v = {.s = s,
						  .host = seg_live(s, SEG_T_HOST, host),
						  .ids = ids,
						  .tree = &t,
						  .root = -1,
						  .devices = -1,
						  .ib = -1,
						  .verbs = -1,
						  .mad = -1,
						  .dev = -1};
	int r = 0;

	if (!v.host)
		return -EINVAL;
	v.root = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (v.root < 0)
		return -errno;
	TREE_STEP(r, open_folder(v.root, PCI_ROOT, &v.devices));
	TREE_STEP(r, open_folder(v.root, "sys/class/infiniband", &v.ib));
	TREE_STEP(r, open_folder(v.root, "sys/class/infiniband_verbs", &v.verbs));
	TREE_STEP(r, open_folder(v.root, "sys/class/infiniband_mad", &v.mad));
	TREE_STEP(r, open_folder(v.root, "dev/infiniband", &v.dev));
	TREE_STEP(r, tree_put(&t, v.verbs, "abi_version", "6\n"));
	TREE_STEP(r, tree_put(&t, v.mad, "abi_version", "5\n"));
	if (hw_setting(s, HW_SET_RDMA_CM) == HW_HAS)
		TREE_STEP(r, render_rdma_cm(&v));
	/* tmpfs lists the newest entry first; programs should find mlx5_0 first. */
	for (uint32_t i = v.host->nhcas; i-- > 0;) {
		if (!hw_hca_is_in(s, v.host->hca[i]))
			continue;
		v.hca = hw_hca(s, v.host->hca[i]);
		fab_hca_name(s, v.hca, v.ibdev);
		fab_pci_name(v.hca, v.bdf);
		TREE_STEP(r, render_hca(&v));
	}
	return r;
}

/* ---- updates ---- */

/* Opens the tree's root and one folder of a port in it. */
static int open_port(struct seg *s, const struct hw_port *p, const char *root, const char *sub,
		     int *root_fd, int *fd)
{
	const struct hw_hca *hca = p ? hw_hca(s, p->hca) : NULL;
	char path[160], bdf[16], name[FAB_HCA_NAME];

	if (!hca)
		return -EINVAL;
	fab_pci_name(hca, bdf);
	snprintf(path, sizeof(path), PCI_ROOT "/%s/infiniband/%s/ports/%u%s", bdf,
		 fab_hca_name(s, hca, name), p->num, sub);
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

		TREE_STEP(r, tree_replace(top, dir, port_attrs[i].name, text, (size_t)n));
	}
	TREE_STEP(r, fab_net_update(s, port, top));
	return r;
}

int fab_sysfs_update_desc(struct seg *s, const struct hw_hca *hca, const char *root)
{
	_cleanup_close_ int top = -1;
	_cleanup_close_ int dir = -1;
	char text[80];
	int n, r = open_port(s, hw_port(s, hca->port[0]), root, "/../..", &top, &dir);

	if (r)
		return r;
	n = show_desc(s, hca, text, sizeof(text));
	return tree_replace_mode(top, dir, "node_desc", 0644, text, (size_t)n);
}

int fab_sysfs_update_tables(struct seg *s, uint32_t port, const char *root)
{
	_cleanup_close_ int top = -1;
	_cleanup_close_ int dir = -1;
	const struct hw_port *p = hw_port(s, port);
	char name[32], text[48];
	int n, r = open_port(s, p, root, "", &top, &dir);

	for (unsigned int i = 0; !r && i < hw_port_pkeys(p); i++) {
		snprintf(name, sizeof(name), "pkeys/%u", i);
		n = snprintf(text, sizeof(text), "0x%04x\n", p->pkey[i]);
		TREE_STEP(r, tree_replace(top, dir, name, text, (size_t)n));
	}
	for (unsigned int i = 0; !r && i < hw_port_gids(p); i++) {
		snprintf(name, sizeof(name), "gids/%u", i);
		n = show_gid(hw_gid(p, i), text, sizeof(text));
		TREE_STEP(r, tree_replace(top, dir, name, text, (size_t)n));
		snprintf(name, sizeof(name), "gid_attrs/types/%u", i);
		n = show_gid_type(p, i, text, sizeof(text));
		TREE_STEP(r, tree_replace(top, dir, name, text, (size_t)n));
		snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", i);
		n = show_gid_ndev(s, port, i, text, sizeof(text));
		TREE_STEP(r, tree_replace(top, dir, name, text, (size_t)n));
	}
	return r;
}

static int update_hw_counters(struct seg *s, const struct hw_port *p, const char *root)
{
	_cleanup_close_ int top = -1;
	_cleanup_close_ int dir = -1;
	const struct hw_qctr *set = hw_qctr(s, p->qctr);
	int r = set ? open_port(s, p, root, "/hw_counters", &top, &dir) : 0;

	for (uint32_t i = 0; set && !r && i < hw_counters_of(p); i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "%u\n", hw_counter_value(set, i));

		TREE_STEP(r, tree_replace(top, dir, hw_counters[i].name, text, (size_t)n));
	}
	return r;
}

int fab_sysfs_update_counters(struct seg *s, uint32_t port, const char *root,
			      const struct fab_counters *c)
{
	_cleanup_close_ int top = -1;
	_cleanup_close_ int dir = -1;
	const struct hw_port *p = hw_port(s, port);
	int r = open_port(s, p, root, "/counters", &top, &dir);

	for (size_t i = 0; !r && i < ARRAY_SIZE(counters); i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "%llu\n",
				 (unsigned long long)c->n[counters[i].what]);

		TREE_STEP(r, tree_replace(top, dir, counters[i].name, text, (size_t)n));
	}
	return r ? r : update_hw_counters(s, p, root);
}
