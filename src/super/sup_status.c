/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the output of `softhca status -j`: the fabric as JSON text, which the supervisor makes from
 * the segment. Numbers are numbers; GUIDs have sysfs's form.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "fw/caps.h"
#include "fw/kinds.h"
#include "hw/fault.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/timer.h"
#include "segment/adopt.h"
#include "util/cleanup.h"
#include "world/world.h"

static void add_str(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static void add_num(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add_guid(struct json_object *o, const char *key, uint64_t g)
{
	char text[24];

	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x", (unsigned int)(g >> 48),
		 (unsigned int)(g >> 32 & 0xffff), (unsigned int)(g >> 16 & 0xffff),
		 (unsigned int)(g & 0xffff));
	add_str(o, key, text);
}

static const char *state_name(uint32_t state)
{
	static const char *const name[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};

	return state < ARRAY_SIZE(name) ? name[state] : "?";
}

static const char *phys_name(uint32_t state)
{
	return state == IB_PHYS_LINK_UP    ? "LinkUp"
	       : state == IB_PHYS_POLLING  ? "Polling"
	       : state == IB_PHYS_DISABLED ? "Disabled"
					   : "?";
}

/* The addresses that reach a port: LIDs, or a MAC address. */
static void add_address(struct json_object *o, struct sup *sup, const struct hw_port *p,
			uint32_t idx)
{
	struct fab_iface f;
	char mac[24];

	add_str(o, "link_layer", hw_port_is_eth(p) ? "Ethernet" : "InfiniBand");
	if (!hw_port_is_eth(p)) {
		add_num(o, "lid", p->lid);
		add_num(o, "sm_lid", p->sm_lid);
	}
	if (!fab_iface(&sup->seg, idx, &f))
		return;
	add_str(o, "netdev", f.name);
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", f.hwaddr[0], f.hwaddr[1],
		 f.hwaddr[2], f.hwaddr[3], f.hwaddr[4], f.hwaddr[5]);
	if (hw_port_is_eth(p))
		add_str(o, "mac", mac);
}

static struct json_object *show_port(struct sup *sup, const struct hw_port *p, uint32_t idx)
{
	struct json_object *o = json_object_new_object();
	struct fab_counters c;

	fab_port_counters(&sup->seg, idx, &c);
	add_num(o, "port", p->num);
	add_num(o, "index", idx);
	add_str(o, "state", state_name(p->state));
	add_str(o, "phys_state", phys_name(p->phys_state));
	add_address(o, sup, p, idx);
	add_guid(o, "guid", p->guid);
	add_num(o, "xmit_data", c.n[HW_CTR_XMIT_DATA]);
	add_num(o, "rcv_data", c.n[HW_CTR_RCV_DATA]);
	add_num(o, "xmit_packets", c.n[HW_CTR_XMIT_PKTS]);
	add_num(o, "rcv_packets", c.n[HW_CTR_RCV_PKTS]);
	add_num(o, "xmit_discards", c.n[HW_CTR_XMIT_DISCARDS]);
	return o;
}

static struct json_object *show_hca(struct sup *sup, const struct hw_hca *h)
{
	struct json_object *o = json_object_new_object();
	struct json_object *ports = json_object_new_array();
	char text[16], name[FAB_HCA_NAME];

	add_str(o, "name", fab_hca_name(&sup->seg, h, name));
	add_str(o, "type", h->caps.hca_type);
	fab_pci_name(h, text);
	add_str(o, "pci", text);
	add_guid(o, "node_guid", h->node_guid);
	for (uint32_t i = 0; i < h->nports; i++) {
		const struct hw_port *p = hw_port(&sup->seg, h->port[i]);

		if (p)
			json_object_array_add(ports, show_port(sup, p, h->port[i]));
	}
	json_object_object_add(o, "ports", ports);
	return o;
}

struct json_object *sup_status_host(struct sup *sup, uint32_t host)
{
	const struct hw_host *h = seg_at(&sup->seg, SEG_T_HOST, host);
	struct json_object *o = json_object_new_object();
	struct json_object *hcas = json_object_new_array();

	add_str(o, "name", h->name);
	for (uint32_t n = 0; n < h->nhcas; n++) {
		const struct hw_hca *hca = hw_hca(&sup->seg, h->hca[n]);

		if (hca)
			json_object_array_add(hcas, show_hca(sup, hca));
	}
	json_object_object_add(o, "hcas", hcas);
	json_object_object_add(o, "used", json_object_new_boolean(sup_host_used(sup, host)));
	if (sup_host_used(sup, host))
		sup_use_show(sup, host, o);
	return o;
}

static struct json_object *show_hosts(struct sup *sup, uint32_t hosts, uint32_t host)
{
	struct json_object *a = json_object_new_array();

	seg_for_each_live (&sup->seg, SEG_T_HOST, i)
		if (!(hosts & LINK_STATUS_NO_HOSTS) && (host == SEG_NONE || i == host) &&
		    (!(hosts & LINK_STATUS_USED) || sup_host_used(sup, i)))
			json_object_array_add(a, sup_status_host(sup, i));
	return a;
}

/* The size of the subnet, and the shared memory that it uses. */
static struct json_object *show_subnet(struct sup *sup)
{
	struct json_object *o = json_object_new_object();
	uint64_t n[FAB_ROUTER + 1] = {0}, hosts = 0, used = 0, all;
	struct stat st = {0};

	seg_for_each_live (&sup->seg, SEG_T_NODE, i)
		n[fab_node(&sup->seg, i)->type]++;
	seg_for_each_live (&sup->seg, SEG_T_HOST, i) {
		hosts++;
		used += sup_host_used(sup, i);
	}
	fstat(sup->seg.fd, &st);
	all = n[FAB_CA] + n[FAB_SWITCH] + n[FAB_ROUTER];
	add_num(o, "adapters", n[FAB_CA]);
	add_num(o, "switches", n[FAB_SWITCH]);
	add_num(o, "routers", n[FAB_ROUTER]);
	add_num(o, "hosts", hosts);
	add_num(o, "hosts_used", used);
	add_num(o, "memory", (uint64_t)st.st_blocks * 512);
	add_num(o, "memory_per_node", all ? (uint64_t)st.st_blocks * 512 / all : 0);
	return o;
}

static struct json_object *show_worlds(struct sup *sup)
{
	const struct hw_world *w = &fab_subnet(&sup->seg)->world;
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < w->n; i++)
		json_object_array_add(a, json_object_new_string(world_row(w->row[i])->name));
	return a;
}

static uint64_t count_owned(struct sup *sup, enum seg_table_id t)
{
	uint64_t n = 0;

	seg_for_each_live (&sup->seg, t, idx)
		n += seg_owner(&sup->seg, t, idx) != SEG_OWNER_DEVICE;
	return n;
}

/* Objects that open files own; objects made with the fabric are not counted. */
static struct json_object *show_objects(struct sup *sup)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int t = HW_KIND_FIRST; t < SEG_T_COUNT; t++) {
		const struct fw_kind *k = fw_kind((enum seg_table_id)t);

		if (k && k->name)
			add_num(o, k->name, count_owned(sup, k->table));
	}
	add_num(o, "subscription", count_owned(sup, SEG_T_EVSUB));
	add_num(o, "file", sup->nopen);
	return o;
}

static const char *host_name(struct sup *sup, uint32_t host)
{
	const struct hw_host *h = seg_live(&sup->seg, SEG_T_HOST, host);

	return h ? h->name : "";
}

static struct json_object *show_processes(struct sup *sup)
{
	struct json_object *a = json_object_new_array();

	for (const struct sup_link *l = sup->links; l; l = l->next) {
		const struct seg_proc *p = l->closed ? NULL : seg_proc(&sup->seg, l->slot);
		struct json_object *o;
		uint64_t memlock;

		if (!p || p->gen != l->gen)
			continue;
		memlock = atomic_load(&p->memlock);
		hw_fault_memlock(&memlock);
		o = json_object_new_object();
		add_num(o, "pid", l->pid > 0 ? (uint32_t)l->pid : p->pid);
		add_str(o, "comm", p->comm);
		add_str(o, "host", host_name(sup, p->host));
		add_num(o, "pinned", p->pinned);
		add_num(o, "memlock", memlock);
		add_str(o, "copies", atomic_load(&p->refused) ? "descriptor" : "call");
		add_num(o, "adopted", adopt_bytes(&sup->seg, l->slot));
		add_num(o, "slot", l->slot);
		json_object_array_add(a, o);
	}
	return a;
}

static struct json_object *show_files(struct sup *sup)
{
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < sup->nfiles; i++) {
		const struct seg_file *f = seg_file(&sup->seg, i);
		const struct hw_hca *hca = f ? hw_hca(&sup->seg, f->hca) : NULL;
		const struct seg_proc *opener;
		struct json_object *o;
		char text[FAB_HCA_NAME];

		if (sup->files[i].probe < 0 || !hca)
			continue;
		o = json_object_new_object();
		opener = seg_proc(&sup->seg, f->opener);
		add_num(o, "file", i);
		add_str(o, "kind", sup_file_kind_name(f->kind));
		add_str(o, "host", host_name(sup, hca->host));
		add_str(o, "hca", fab_hca_name(&sup->seg, hca, text));
		if (f->port)
			add_num(o, "port", f->port);
		/* 0: its opener has ended, another process holds it. */
		add_num(o, "pid", opener && opener->gen == f->opener_gen ? opener->pid : 0);
		add_num(o, "pinned", f->pinned);
		json_object_array_add(a, o);
	}
	return a;
}

int sup_status_fd(struct sup *sup, const struct link_msg *m)
{
	char name[sizeof(m->host) + 1] = "";
	uint32_t host = SEG_NONE;
	struct json_object *o = json_object_new_object();
	_cleanup_close_ int fd = memfd_create("softhca-status", MFD_CLOEXEC);
	const char *text;
	size_t len;
	int r = fd < 0 ? -errno : 0;

	memcpy(name, m->host, sizeof(m->host));
	if (!r && m->arg & LINK_STATUS_HOST) {
		host = fab_host_by_name(&sup->seg, name);
		r = host == SEG_NONE ? -ENODEV : 0;
	}
	add_str(o, "fabric", sup->name);
	add_str(o, "directory", sup->seg.dir);
	add_num(o, "supervisor", (uint64_t)getpid());
	json_object_object_add(o, "private", json_object_new_boolean(sup->embedded));
	json_object_object_add(o, "worlds", show_worlds(sup));
	json_object_object_add(o, "faults", sup_faults_show(sup));
	json_object_object_add(
		o, "time_scale",
		json_object_new_double((double)hw_time_scale(&sup->seg) / HW_TIME_TRUE));
	json_object_object_add(o, "subnet", show_subnet(sup));
	json_object_object_add(o, "hosts", show_hosts(sup, m->arg, host));
	json_object_object_add(o, "objects", show_objects(sup));
	json_object_object_add(o, "processes", show_processes(sup));
	json_object_object_add(o, "files", show_files(sup));
	json_object_object_add(o, "cm_ids", sup_cm_show(sup));
	json_object_object_add(o, "rdma_cm", sup_cm_counts(sup));
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	len = text ? strlen(text) : 0;
	if (!r && (!text || pwrite(fd, text, len, 0) != (ssize_t)len))
		r = -ENOMEM;
	json_object_put(o);
	return r ? r : take_fd(&fd);
}
