/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric's content: identities, routing, port states and their events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "subnet/mad.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "hw/for_tests.h"
#include "segment/proc.h"
#include "subnet/subnet.h"
#include "util/test_tmp.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/eq.h"
#include "wire/mad/names.h"

static const struct fab_options plain = {.hosts = 2,
					 .hcas = 2,
					 .ports = 2,
					 .model = HW_CX6,
					 .caps.link_speed = 64,
					 .caps.link_width = 2,
					 .caps.max_mtu = IBV_MTU_4096};

static struct seg seg;

static int make_fabric(void **state)
{
	memset(&seg, 0, sizeof(seg));
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_create(&seg, &plain), 0);
	assert_int_equal(seg_proc_register_self(&seg, 1), 0);
	assert_true(test_tmp_make(seg.dir));
	return 0;
}

static int drop_fabric(void **state)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", seg.dir);
	assert_int_equal(system(cmd), 0);
	seg_unmap(&seg);
	return 0;
}

static struct hw_port *port_of(uint32_t host, uint32_t hca, uint32_t num, uint32_t *idx)
{
	char name[8];
	struct hw_host *h;

	snprintf(name, sizeof(name), "h%u", host);
	h = seg_live(&seg, SEG_T_HOST, fab_host_by_name(&seg, name));
	assert_non_null(h);
	*idx = hw_hca(&seg, h->hca[hca])->port[num - 1];
	return hw_port(&seg, *idx);
}

static void lids_are_sequential_from_one(void **state)
{
	uint32_t lid = 1, i;

	for (uint32_t h = 1; h <= 2; h++)
		for (uint32_t d = 0; d < 2; d++)
			for (uint32_t n = 1; n <= 2; n++) {
				const struct hw_port *p = port_of(h, d, n, &i);

				assert_int_equal(p->lid, lid++);
				assert_int_equal(p->num, n);
				assert_int_equal(p->sm_lid, 1);
				assert_int_equal(p->state, IB_PORT_ACTIVE);
				assert_int_equal(p->phys_state, IB_PHYS_LINK_UP);
				assert_int_equal(p->pkey[0], 0xffff);
				assert_int_equal(p->pkey[1], 0);
			}
}

static void guids_are_unique_and_local(void **state)
{
	uint64_t seen[9];
	unsigned int n = 0;

	seg_for_each_live (&seg, SEG_T_PORT, i) {
		const struct hw_port *p = seg_at(&seg, SEG_T_PORT, i);

		if (p->hca == SEG_NONE && p->num)
			continue;               /* external switch ports have no GUID */
		assert_true(p->guid >> 56 & 2); /* locally administered */
		for (unsigned int k = 0; k < n; k++)
			assert_true(seen[k] != p->guid);
		assert_true(n < 9);
		seen[n++] = p->guid;
	}
	assert_int_equal(n, 9); /* the adapters and one switch */
}

static void gid_zero_is_prefix_and_port_guid(void **state)
{
	static const uint8_t expected[16] = {0xfe, 0x80, 0,    0,    0, 0, 0, 0,
					     0x5a, 0x17, 0xca, 0x03, 0, 2, 1, 1};
	uint32_t i;
	const struct hw_port *p = port_of(2, 1, 2, &i);

	assert_memory_equal(p->gid[0], expected, 16);
	assert_int_equal(fab_port_by_gid(&seg, expected), i);
}

static void an_empty_gid_is_nobodys(void **state)
{
	static const uint8_t zero[16];

	assert_int_equal(fab_port_by_gid(&seg, zero), SEG_NONE);
}

static void bad_shapes_are_refused(void **state)
{
	struct fab_options o = plain;

	o.hosts = 0;
	assert_int_equal(fab_create(&seg, &o), -EINVAL);
	o = plain;
	o.hcas = 17;
	assert_int_equal(fab_create(&seg, &o), -EINVAL);
	o = plain;
	o.ports = HW_MAX_PORTS + 1;
	assert_int_equal(fab_create(&seg, &o), -EINVAL);
}

static void every_port_reaches_every_other(void **state)
{
	uint32_t from, to;

	port_of(1, 0, 1, &from);
	for (uint32_t h = 1; h <= 2; h++)
		for (uint32_t n = 1; n <= 2; n++) {
			const struct hw_port *p = port_of(h, 1, n, &to);

			assert_int_equal(fab_route(&seg, from, p->lid), to);
		}
}

static void unknown_lids_go_nowhere(void **state)
{
	uint32_t from;

	port_of(1, 0, 1, &from);
	assert_int_equal(fab_route(&seg, from, 0), SEG_NONE);
	assert_int_equal(fab_route(&seg, from, 10), SEG_NONE); /* the switch has LID 9 */
	assert_int_equal(fab_route(&seg, from, 0xffff), SEG_NONE);
	assert_int_equal(fab_route(&seg, from, UINT32_MAX), SEG_NONE);
	assert_int_equal(fab_route(&seg, SEG_NONE, 1), SEG_NONE);
}

static void a_port_that_is_down_neither_sends_nor_receives(void **state)
{
	uint32_t a, b;
	const struct hw_port *pa = port_of(1, 0, 1, &a), *pb = port_of(2, 0, 1, &b);

	assert_int_equal(fab_port_set_state(&seg, b, IB_PORT_DOWN), 0);
	assert_int_equal(fab_route(&seg, a, pb->lid), SEG_NONE);
	assert_int_equal(fab_route(&seg, b, pa->lid), SEG_NONE);
	assert_int_equal(pb->phys_state, IB_PHYS_POLLING);
	assert_int_equal(fab_port_set_state(&seg, b, IB_PORT_ACTIVE), 0);
	assert_int_equal(fab_route(&seg, a, pb->lid), b);
	assert_int_equal(pb->phys_state, IB_PHYS_LINK_UP);
}

static void bad_states_are_refused(void **state)
{
	uint32_t a;

	port_of(1, 0, 1, &a);
	assert_int_equal(fab_port_set_state(&seg, a, 0), -EINVAL);
	assert_int_equal(fab_port_set_state(&seg, a, 5), -EINVAL);
	assert_int_equal(fab_port_set_state(&seg, 10000, IB_PORT_DOWN), -EINVAL);
}

/* An open device with an async event file, as the supervisor makes them. */
static uint32_t open_device(uint32_t hca, int *fd)
{
	struct seg_file *f, *e;
	uint32_t cmd, ev;
	char path[320];

	assert_int_equal(seg_alloc(&seg, SEG_T_FILE, SEG_OWNER_DEVICE, &ev), 0);
	e = seg_at(&seg, SEG_T_FILE, ev);
	e->kind = SEG_FILE_ASYNC;
	snprintf(path, sizeof(path), "%s/ev", seg.dir);
	mkdir(path, 0700);
	evq_path(&seg, ev, e->gen, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	*fd = open(path, O_RDWR | O_NONBLOCK);
	assert_true(*fd >= 0);
	assert_int_equal(evq_open(&seg, ev, 0), 0);

	assert_int_equal(seg_alloc(&seg, SEG_T_FILE, SEG_OWNER_DEVICE, &cmd), 0);
	f = seg_at(&seg, SEG_T_FILE, cmd);
	f->hca = hca;
	f->kind = SEG_FILE_UVERBS;
	e->hca = hca;
	e->parent_gen = f->gen;
	e->parent = cmd;
	return ev;
}

static uint32_t pop_type(uint32_t ev, int fd, uint64_t *element)
{
	const struct seg_file *f = seg_file(&seg, ev);
	struct seg_evrec rec;
	int r = evq_pop(&seg, ev, f->gen, fd, &rec);

	if (r == -EAGAIN)
		return 0;
	assert_int_equal(r, 0);
	*element = rec.cookie;
	return rec.type;
}

static void port_changes_are_told_to_open_devices_of_that_hca(void **state)
{
	int fd1, fd2, fd3, fd4, fd5;
	uint32_t p, ev1, ev2, ev3, ev4, ev5;
	uint64_t element;
	const struct hw_port *port = port_of(1, 0, 2, &p);
	uint32_t other;

	ev1 = open_device(port->hca, &fd1);
	ev2 = open_device(port->hca, &fd2);
	ev3 = open_device(port_of(1, 1, 1, &other)->hca, &fd3);
	/* a second async file of the same device, and one whose command file is closed */
	ev4 = open_device(port->hca, &fd4);
	seg_file(&seg, ev4)->parent = seg_file(&seg, ev1)->parent;
	seg_file(&seg, ev4)->parent_gen = seg_file(&seg, ev1)->parent_gen;
	ev5 = open_device(port->hca, &fd5);
	seg_free(&seg, SEG_T_FILE, seg_file(&seg, ev5)->parent);

	assert_int_equal(fab_port_set_state(&seg, p, IB_PORT_DOWN), 0);
	assert_int_equal(fab_port_set_state(&seg, p, IB_PORT_DOWN), 0); /* no change, no event */
	assert_int_equal(fab_port_set_state(&seg, p, IB_PORT_ACTIVE), 0);

	assert_int_equal(pop_type(ev1, fd1, &element), IBV_EVENT_PORT_ERR);
	assert_int_equal(element, 2);
	assert_int_equal(pop_type(ev1, fd1, &element), IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(pop_type(ev1, fd1, &element), 0);
	assert_int_equal(pop_type(ev2, fd2, &element), IBV_EVENT_PORT_ERR);
	assert_int_equal(pop_type(ev3, fd3, &element), 0);
	assert_int_equal(pop_type(ev4, fd4, &element), IBV_EVENT_PORT_ERR);
	assert_int_equal(pop_type(ev5, fd5, &element), 0);
	fab_devices_gone(&seg);
	assert_int_equal(pop_type(ev3, fd3, &element), IBV_EVENT_DEVICE_FATAL);
	assert_int_equal(element, 0);
	assert_int_equal(pop_type(ev5, fd5, &element), IBV_EVENT_DEVICE_FATAL);
	close(fd1);
	close(fd2);
	close(fd3);
	close(fd4);
	close(fd5);
}

/* ---- a process that dies while it changes a port */

/* Become another process of the fabric, and this one again. */
static uint32_t become(uint32_t slot)
{
	uint32_t was = seg.self;

	seg.self = slot;
	seg.self_gen = seg_proc(&seg, slot)->gen;
	return was;
}

static void a_change_of_the_dead_is_told_once(void **state)
{
	uint32_t p, ev, slot, gen, self;
	uint64_t element;
	int fd;
	struct hw_port *port = port_of(1, 0, 2, &p);
	struct seg_proc *proc;

	ev = open_device(port->hca, &fd);
	for (int done = 0; done < 2; done++) {
		assert_int_equal(seg_proc_register(&seg, 1, (uint32_t)getpid(), 0, &slot, &gen), 0);
		self = become(slot);
		fab_port_begin(&seg, p, FAB_CHANGED_STATE | FAB_CHANGED_LID);
		if (done)
			port->state = IB_PORT_DOWN;
		become(self);
		fab_ports_repair(&seg); /* it lives: it will tell */
		assert_int_equal(pop_type(ev, fd, &element), 0);
		proc = seg_proc(&seg, slot);
		if (!proc) {
			fail();
			return; /* not every compiler knows that fail() does not */
		}
		proc->state = SEG_PROC_DEAD;
		for (int i = 0; i < 2; i++)
			fab_ports_repair(&seg);
		assert_int_equal(pop_type(ev, fd, &element), done ? IBV_EVENT_PORT_ERR : 0);
		assert_int_equal(pop_type(ev, fd, &element), 0);
		assert_int_equal(port->owed, 0);
		seg_free(&seg, SEG_T_PROC, slot);
	}
	/* The dead changer's slot is reused before the supervisor has looked. */
	assert_int_equal(seg_proc_register(&seg, 1, (uint32_t)getpid(), 0, &slot, &gen), 0);
	self = become(slot);
	fab_port_begin(&seg, p, FAB_CHANGED_STATE);
	port->state = IB_PORT_ACTIVE;
	become(self);
	seg_free(&seg, SEG_T_PROC, slot);
	assert_int_equal(seg_alloc_at(&seg, SEG_T_PROC, SEG_OWNER_DEVICE, slot), 0);
	fab_ports_repair(&seg);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_PORT_ACTIVE);
	close(fd);
}

static void changes_that_are_told_are_not_owed(void **state)
{
	uint32_t p;
	struct hw_port *port = port_of(1, 0, 2, &p);

	for (uint32_t st = IB_PORT_DOWN; st <= IB_PORT_ACTIVE; st++)
		for (int i = 0; i < 2; i++) {
			assert_int_equal(fab_port_set_state(&seg, p, st), 0);
			assert_int_equal(port->owed, 0);
		}
	for (uint32_t phys = IB_PHYS_SLEEP; phys <= IB_PHYS_DISABLED; phys++) {
		assert_int_equal(fab_link_set(&seg, p, phys), 0);
		seg_for_each_live (&seg, SEG_T_PORT, i)
			assert_int_equal(hw_port(&seg, i)->owed, 0);
	}
}

/* The sub-type of a subscriber's PORT_CHANGE EQE; 0: none. */
static uint32_t pop_sub_type(uint32_t ev, int fd)
{
	const struct seg_file *f = seg_file(&seg, ev);
	struct seg_evrec rec;
	uint8_t eqe[EVSUB_EQE];
	uint32_t next;
	int r = evq_take(&seg, ev, f->gen, fd, 0, SIZE_MAX, &rec);

	if (r == -EAGAIN)
		return 0;
	assert_int_equal(r, 0);
	assert_int_equal(rec.len, EVSUB_EQE);
	memcpy(eqe, evq_data(&seg, rec.data, &next), sizeof(eqe));
	evq_data_free(&seg, &rec);
	assert_int_equal(LAYOUT_GET(eqe, eqe, event_type), PRM_EVENT_PORT_CHANGE);
	assert_int_equal(LAYOUT_GET(eqe_port, eqe + EQE_DATA, port_num), 2);
	return LAYOUT_GET32(eqe, eqe, event_sub_type);
}

static void every_change_of_a_port_has_its_event(void **state)
{
	static const struct {
		uint32_t what, event, sub_type;
	} rows[] = {
		{FAB_CHANGED_STATE, IBV_EVENT_PORT_ACTIVE, PRM_PORT_ACTIVE},
		{FAB_CHANGED_LID, IBV_EVENT_LID_CHANGE, PRM_PORT_LID},
		{FAB_CHANGED_PKEY, IBV_EVENT_PKEY_CHANGE, PRM_PORT_PKEY},
		{FAB_CHANGED_GID, IBV_EVENT_GID_CHANGE, PRM_PORT_GUID},
		{FAB_CHANGED_REREGISTER, IBV_EVENT_CLIENT_REREGISTER, PRM_PORT_CLIENT_REREG},
		{FAB_CHANGED_SM, 0, 0},
	};
	struct seg_evsub sub = {.key = PRM_EVENT_PORT_CHANGE};
	uint32_t p, ev, devx, idx;
	uint64_t element;
	const struct hw_port *port = port_of(1, 0, 2, &p);
	int fd, devx_fd;

	ev = open_device(port->hca, &fd);
	devx = open_device(port->hca, &devx_fd);
	seg_file(&seg, devx)->kind = SEG_FILE_DEVX_EVENT;
	sub.hca = port->hca;
	sub.evq = devx;
	sub.evq_gen = seg_file(&seg, devx)->gen;
	assert_int_equal(evsub_add(&seg, &sub, &idx), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fab_port_changed(&seg, p, rows[i].what);
		assert_int_equal(pop_type(ev, fd, &element), rows[i].event);
		assert_int_equal(pop_type(ev, fd, &element), 0);
		assert_int_equal(pop_sub_type(devx, devx_fd), rows[i].sub_type);
		assert_int_equal(pop_sub_type(devx, devx_fd), 0);
	}
	assert_int_equal(fab_port_set_state(&seg, p, IB_PORT_ARMED), 0);
	assert_int_equal(pop_type(ev, fd, &element), 0); /* mlx5 has none for it */
	assert_int_equal(fab_port_set_state(&seg, p, IB_PORT_INIT), 0);
	assert_int_equal(pop_sub_type(devx, devx_fd), PRM_PORT_INITIALIZED);
	assert_int_equal(fab_port_set_state(&seg, p, IB_PORT_DOWN), 0);
	assert_int_equal(pop_sub_type(devx, devx_fd), PRM_PORT_DOWN);
	close(fd);
	close(devx_fd);
}

/* The driver reports the change; firmware raises no event for GIDs that the driver has written. */
static void an_ethernet_ports_new_address_is_a_gid_change(void **state)
{
	static const uint8_t ip4[4] = {10, 1, 2, 3}, ip6[16] = {0xfd, [15] = 9};
	struct seg_evsub sub = {.key = PRM_EVENT_PORT_CHANGE};
	uint32_t p, ev, devx, idx;
	uint64_t element;
	const struct hw_port *port = port_of(1, 0, 2, &p);
	int fd, devx_fd;

	hw_port(&seg, p)->link = HW_LINK_ETH;
	fab_eth_init(&seg, p, 1500);
	ev = open_device(port->hca, &fd);
	devx = open_device(port->hca, &devx_fd);
	seg_file(&seg, devx)->kind = SEG_FILE_DEVX_EVENT;
	sub.hca = port->hca;
	sub.evq = devx;
	sub.evq_gen = seg_file(&seg, devx)->gen;
	assert_int_equal(evsub_add(&seg, &sub, &idx), 0);
	assert_int_equal(fab_if_add(&seg, p, ip4, 4, 16), 0);
	for (int type = 0; type < 2; type++) {
		assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
		assert_int_equal(element, 2);
	}
	assert_int_equal(pop_type(ev, fd, &element), 0);
	assert_int_equal(fab_if_set(&seg, p, ip4, 4, 24), 0); /* the rule's goes */
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
	assert_int_equal(fab_if_set(&seg, p, ip4, 4, 16), 0); /* nothing but the subnet */
	assert_int_equal(pop_type(ev, fd, &element), 0);
	assert_int_equal(fab_if_add(&seg, p, ip6, 16, 64), 0);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
	assert_int_equal(fab_if_del(&seg, p, ip6, 16, 0), 0);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_GID_CHANGE);
	assert_int_equal(pop_type(ev, fd, &element), 0);
	assert_int_equal(pop_sub_type(devx, devx_fd), 0);
	assert_int_equal(fab_eth_link(&seg, p, false), 0);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_PORT_ERR);
	assert_int_equal(pop_sub_type(devx, devx_fd), PRM_PORT_DOWN);
	assert_int_equal(port->phys_state, IB_PHYS_DISABLED);
	assert_int_equal(fab_eth_link(&seg, p, true), 0);
	assert_int_equal(pop_type(ev, fd, &element), IBV_EVENT_PORT_ACTIVE);
	close(fd);
	close(devx_fd);
}

static void umad_numbers_count_ports_over_the_host(void **state)
{
	uint32_t host = fab_host_by_name(&seg, "h2"), p;

	port_of(2, 0, 2, &p);
	assert_int_equal(fab_umad_index(&seg, p), 1);
	port_of(2, 1, 2, &p);
	assert_int_equal(fab_umad_index(&seg, p), 3);
	assert_int_equal(fab_port_by_umad(&seg, host, 3), p);
	assert_int_equal(fab_port_by_umad(&seg, host, 4), SEG_NONE);
}

/* The agents' rows and the trace use the same name for an attribute. */
static void attributes_have_one_name(void **state)
{
	const struct fab_mad_row *const tables[] = {fab_sma_rows, fab_pma_rows};

	for (size_t t = 0; t < 2; t++)
		for (const struct fab_mad_row *r = tables[t]; r->name; r++)
			assert_string_equal(r->name, mad_attr_name(r->mgmt_class, r->attr_id));
}

#define T(f) cmocka_unit_test_setup_teardown(f, make_fabric, drop_fabric)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(lids_are_sequential_from_one),
		T(guids_are_unique_and_local),
		T(gid_zero_is_prefix_and_port_guid),
		T(an_empty_gid_is_nobodys),
		T(bad_shapes_are_refused),
		T(every_port_reaches_every_other),
		T(unknown_lids_go_nowhere),
		T(a_port_that_is_down_neither_sends_nor_receives),
		T(bad_states_are_refused),
		T(port_changes_are_told_to_open_devices_of_that_hca),
		T(a_change_of_the_dead_is_told_once),
		T(changes_that_are_told_are_not_owed),
		T(every_change_of_a_port_has_its_event),
		T(an_ethernet_ports_new_address_is_a_gid_change),
		T(attributes_have_one_name),
		T(umad_numbers_count_ports_over_the_host),
	};

	return cmocka_run_group_tests_name("fabric", tests, NULL, NULL);
}
