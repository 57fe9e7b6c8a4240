/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ethernet ports: neighbours, GID tables, and what sysfs shows of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/for_tests.h"
#include "fabric/ifaddr.h"
#include "fabric/test_text.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "subnet/subnet.h"
#include "util/bits.h"
#include "util/test_tmp.h"
#include "wire/ib/gid.h"

#define IB "sys/class/infiniband/mlx5_0/"
#define PORT IB "ports/1/"

static const struct fab_sysfs_ids ids = {.fw_ver = "20.31.1014",
					 .hca_type = "MT4123",
					 .board_id = "MT_0000000223",
					 .pci_device = 0x101b};
static struct seg seg;
static char root[320];

/* Two hosts; the tree of the first one is at its place below the runtime directory. */
static int setup(void **state)
{
	const struct fab_options o = {.hosts = 2,
				      .hcas = 1,
				      .ports = 1,
				      .caps.link_speed = 64,
				      .caps.link_width = 2,
				      .caps.max_mtu = IBV_MTU_4096,
				      .link = HW_LINK_ETH,
				      .if_mtu = 1500};
	char cmd[400];

	memset(&seg, 0, sizeof(seg));
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_true(test_tmp_make(seg.dir));
	assert_int_equal(fab_create(&seg, &o), 0);
	snprintf(root, sizeof(root), "%s/host/h1", seg.dir);
	snprintf(cmd, sizeof(cmd), "mkdir -p '%s'", root);
	assert_int_equal(system(cmd), 0);
	return fab_sysfs_render(&seg, fab_host_by_name(&seg, "h1"), root, &ids);
}

static int clean(void **state)
{
	char cmd[400];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", seg.dir);
	assert_int_equal(system(cmd), 0);
	seg_unmap(&seg);
	return 0;
}

static uint32_t port_of(const char *host)
{
	return fab_port_by_umad(&seg, fab_host_by_name(&seg, host), 0);
}

static void shows(const char *name, const char *want)
{
	assert_string_equal(sysfs_text(root, name), want);
}

static void attributes_read_as_the_kernels(void **state)
{
	static const char *const expected[][2] = {
		{IB "node_type", "1: CA\n"},
		{PORT "state", "4: ACTIVE\n"},
		{PORT "phys_state", "5: LinkUp\n"},
		{PORT "lid", "0x0\n"},
		{PORT "lid_mask_count", "0\n"},
		{PORT "sm_lid", "0x0\n"},
		{PORT "sm_sl", "0\n"},
		{PORT "rate", "200 Gb/sec (4X HDR)\n"},
		{PORT "cap_mask", "0x00010000\n"}, /* IB_PORT_CM_SUP */
		{PORT "link_layer", "Ethernet\n"},
		{PORT "gids/0", "fe80:0000:0000:0000:5817:caff:fe00:0001\n"},
		{PORT "gids/1", "fe80:0000:0000:0000:5817:caff:fe00:0001\n"},
		{PORT "gids/2", "0000:0000:0000:0000:0000:ffff:7f01:0001\n"},
		{PORT "gids/3", "0000:0000:0000:0000:0000:ffff:7f01:0001\n"},
		{PORT "gids/15", "0000:0000:0000:0000:0000:0000:0000:0000\n"},
		{PORT "gid_attrs/types/0", "IB/RoCE v1\n"},
		{PORT "gid_attrs/types/3", "RoCE v2\n"},
		{PORT "gid_attrs/types/4", ""},
		{PORT "gid_attrs/ndevs/4", ""},
		{PORT "pkeys/0", "0xffff\n"},
		{PORT "counters/port_xmit_data", "0\n"},
	};
	char path[400], name[24];
	struct fab_iface f;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		shows(expected[i][0], expected[i][1]);
	assert_true(fab_iface(&seg, port_of("h1"), &f));
	snprintf(name, sizeof(name), "%s\n", f.name);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), PORT "gid_attrs/ndevs/%d", i);
		shows(path, name);
	}
	snprintf(path, sizeof(path), "%s/" PORT "pkeys/1", root);
	assert_int_equal(access(path, F_OK), -1); /* one P_Key */
}

/* The 30 files of Linux 6.1; an InfiniBand port has 20. */
static void every_counter_of_mlx5_has_a_file(void **state)
{
	static const char *const names[] = {
		"duplicate_request",
		"implied_nak_seq_err",
		"lifespan",
		"local_ack_timeout_err",
		"np_cnp_sent",
		"np_ecn_marked_roce_packets",
		"out_of_buffer",
		"out_of_sequence",
		"packet_seq_err",
		"req_cqe_error",
		"req_cqe_flush_error",
		"req_remote_access_errors",
		"req_remote_invalid_request",
		"resp_cqe_error",
		"resp_cqe_flush_error",
		"resp_local_length_error",
		"resp_remote_access_errors",
		"rnr_nak_retry_err",
		"roce_adp_retrans",
		"roce_adp_retrans_to",
		"roce_slow_restart",
		"roce_slow_restart_cnps",
		"roce_slow_restart_trans",
		"rp_cnp_handled",
		"rp_cnp_ignored",
		"rx_atomic_requests",
		"rx_dct_connect",
		"rx_icrc_encapsulated",
		"rx_read_requests",
		"rx_write_requests",
	};
	struct hw_port *p = hw_port(&seg, port_of("h1"));
	struct fab_hw_counter c;
	struct hw_qctr *set;
	struct dirent **list;
	char path[400];
	uint32_t idx, n = 0;

	snprintf(path, sizeof(path), "%s/" PORT "hw_counters", root);
	assert_int_equal(scandir(path, &list, NULL, alphasort), 32);
	for (int i = 2; i < 32; i++)
		assert_string_equal(list[i]->d_name, names[i - 2]);
	for (int i = 0; i < 32; i++)
		free(list[i]);
	free(list);
	assert_int_equal(seg_alloc(&seg, SEG_T_QCTR, SEG_OWNER_DEVICE, &idx), 0);
	set = seg_at(&seg, SEG_T_QCTR, idx);
	atomic_store(&set->n[HW_QC_ROCE_ADP_RETRANS], 5);
	p->qctr = idx;
	assert_int_equal(
		fab_sysfs_update_counters(&seg, port_of("h1"), root, &(struct fab_counters){0}), 0);
	shows(PORT "hw_counters/roce_adp_retrans", "5\n");
	shows(PORT "hw_counters/np_cnp_sent", "0\n");
	while (fab_hw_counter(&seg, port_of("h1"), n, &c))
		n++;
	assert_int_equal(n, 29);
	p->link = HW_LINK_IB;
	for (n = 0; fab_hw_counter(&seg, port_of("h1"), n, &c); n++)
		assert_null(strstr(c.name, "roce"));
	assert_int_equal(n, 19);
	p->link = HW_LINK_ETH;
}

/* Entries are added behind the others, and replaced where they are. */
static void files_follow_the_addresses(void **state)
{
	static const uint8_t ip4[4] = {10, 1, 2, 3}, ip6[16] = {0xfd, [15] = 9};
	struct fab_iface f;
	char name[24];

	assert_int_equal(fab_if_set(&seg, port_of("h1"), ip4, 4, 16), 0);
	shows(PORT "gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	assert_int_equal(fab_if_set(&seg, port_of("h1"), ip6, 16, 64), 0);
	shows(PORT "gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	shows(PORT "gids/4", "fd00:0000:0000:0000:0000:0000:0000:0009\n");
	shows(PORT "gid_attrs/types/4", "IB/RoCE v1\n");
	shows(PORT "gid_attrs/types/5", "RoCE v2\n");
	assert_true(fab_iface(&seg, port_of("h1"), &f));
	snprintf(name, sizeof(name), "%s\n", f.name);
	shows(PORT "gid_attrs/ndevs/5", name);
	shows(PORT "gid_attrs/ndevs/6", "");
	assert_int_equal(fab_eth_link(&seg, port_of("h1"), false), 0);
	shows(PORT "state", "1: DOWN\n");
	shows(PORT "lid", "0x0\n");
	shows(PORT "rate", "40 Gb/sec (4X QDR)\n");
	shows(PORT "phys_state", "3: Disabled\n");
	shows(PORT "gids/4", "fd00:0000:0000:0000:0000:0000:0000:0009\n");
}

/* ---- addresses that come and go, as a kernel with rxe showed it */

static uint32_t add(uint32_t port, uint32_t ip, uint32_t prefix)
{
	uint8_t net[4];

	be32_store(net, ip);
	return (uint32_t)-fab_if_add(&seg, port, net, 4, prefix);
}

static uint32_t del(uint32_t port, uint32_t ip, uint32_t prefix)
{
	uint8_t net[4];

	be32_store(net, ip);
	return (uint32_t)-fab_if_del(&seg, port, net, 4, prefix);
}

/* The entry of an IPv4 address by type; -1: none. */
static int entry(uint32_t ip, int type)
{
	uint8_t net[4], gid[16];

	be32_store(net, ip);
	ib_gid_of_ip4(net, gid);
	return fab_gid_find(hw_port(&seg, port_of("h1")), gid, type);
}

static void assert_entry(uint32_t ip, int first)
{
	assert_int_equal(entry(ip, HW_GID_ROCE_V1), first);
	assert_int_equal(entry(ip, HW_GID_ROCE_V2), first < 0 ? first : first + 1);
}

static void an_address_takes_the_first_free_entries(void **state)
{
	uint32_t h1 = port_of("h1");

	assert_int_equal(add(h1, 0x0a4d0101, 24), 0);
	assert_int_equal(add(h1, 0x0a4d0005, 24), 0);
	assert_entry(0x7f010001, 2);
	assert_entry(0x0a4d0101, 4);
	assert_entry(0x0a4d0005, 6);
	assert_int_equal(del(h1, 0x0a4d0101, 24), 0);
	assert_entry(0x0a4d0101, -1);
	assert_entry(0x0a4d0005, 6); /* stays where it is */
	shows(PORT "gids/4", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	shows(PORT "gid_attrs/types/4", "");
	shows(PORT "gid_attrs/ndevs/4", "");
	assert_int_equal(add(h1, 0x0a630001, 24), 0);
	assert_entry(0x0a630001, 4);
	shows(PORT "gids/5", "0000:0000:0000:0000:0000:ffff:0a63:0001\n");
}

/* del_gid(): the entry is not free before the last reference to it is gone. */
static void a_qp_holds_the_entry_of_its_address(void **state)
{
	uint32_t h1 = port_of("h1"), index;
	struct hw_qp *qp;

	assert_int_equal(add(h1, 0x0a4d0101, 24), 0);
	assert_int_equal(seg_alloc(&seg, SEG_T_QP, SEG_OWNER_DEVICE, &index), 0);
	qp = seg_at(&seg, SEG_T_QP, index);
	qp->path[0].port = h1;
	qp->path[0].grh = 1;
	qp->path[0].sgid_index = 4;
	assert_int_equal(del(h1, 0x0a4d0101, 0), 0);
	assert_entry(0x0a4d0101, -1);
	assert_int_equal(add(h1, 0x0a630001, 24), 0);
	assert_int_equal(entry(0x0a630001, HW_GID_ROCE_V1), 5);
	assert_int_equal(entry(0x0a630001, HW_GID_ROCE_V2), 6);
	seg_free(&seg, SEG_T_QP, index);
	assert_int_equal(add(h1, 0x0a4d0101, 24), 0);
	assert_int_equal(entry(0x0a4d0101, HW_GID_ROCE_V1), 4);
	assert_int_equal(entry(0x0a4d0101, HW_GID_ROCE_V2), 7);
}

static void the_address_of_the_rule_comes_and_goes(void **state)
{
	uint32_t h1 = port_of("h1"), h2 = port_of("h2");

	assert_int_equal(add(h2, 0x7f010001, 16), EEXIST);
	assert_int_equal(add(h1, 0x7f010001, 16), EEXIST);
	assert_int_equal(del(h1, 0x7f010001, 24), EADDRNOTAVAIL);
	assert_int_equal(del(h1, 0x7f010001, 16), 0);
	assert_entry(0x7f010001, -1);
	assert_int_equal(del(h1, 0x7f010001, 16), EADDRNOTAVAIL);
	assert_int_equal(fab_ip4(&seg, h1), 0);
	assert_int_equal(fab_port_by_ip4(&seg, 0x7f010001), SEG_NONE);
	assert_int_equal(fab_port_towards_ip4(&seg, fab_if_host(&seg, h1), 0x7f010002), SEG_NONE);
	assert_int_equal(add(h2, 0x7f010001, 16), 0); /* another may have it now */
	assert_int_equal(fab_port_by_ip4(&seg, 0x7f010001), h2);
	assert_int_equal(add(h1, 0x7f010001, 16), EEXIST);
	assert_int_equal(del(h2, 0x7f010001, 16), 0);
	assert_int_equal(add(h1, 0x7f010001, 16), 0);
	assert_int_equal(hw_port(&seg, h1)->naddrs, 0); /* the rule's again */
	assert_entry(0x7f010001, 2);
}

/* The port's default IPv4 address has no stored entry; an address that replaces it needs one. */
static void what_has_no_room_changes_nothing(void **state)
{
	static const uint8_t ip4[4] = {10, 1, 2, 3};
	uint8_t ip6[16] = {0xfd};
	uint32_t h2 = port_of("h2"), was = fab_ip4(&seg, h2);

	assert_true(was);
	for (ip6[15] = 1; ip6[15] <= HW_ADDRS; ip6[15]++)
		assert_int_equal(fab_if_add(&seg, h2, ip6, 16, 64), 0);
	assert_int_equal(fab_if_set(&seg, h2, ip4, 4, 24), -ENOSPC);
	assert_int_equal(fab_ip4(&seg, h2), was);
	for (ip6[15] = 1; ip6[15] <= HW_ADDRS; ip6[15]++)
		assert_int_equal(fab_if_del(&seg, h2, ip6, 16, 64), 0);
}

static void an_interface_has_many_addresses(void **state)
{
	uint32_t h1 = port_of("h1");
	struct fab_iface f;

	assert_int_equal(add(h1, 0x0a000001, 24), 0);
	for (uint32_t i = 1; i < HW_ADDRS; i++)
		assert_int_equal(add(h1, 0x0a000001 + (i << 8), 24), 0);
	assert_int_equal(add(h1, 0x0b000001, 24), ENOSPC);
	/* the link-local GID, the default address's and six more fill the table */
	assert_entry(0x0a000501, 14);
	assert_entry(0x0a000601, -1);
	assert_int_equal(del(h1, 0x0a000301, 24), 0);
	assert_entry(0x0a000601, 10); /* found no room before */
	assert_int_equal(add(h1, 0x0a000002, 24), 0);
	assert_true(fab_iface(&seg, h1, &f));
	assert_int_equal(f.nip4, 9);
	assert_int_equal(be32_load(f.ip4[0]), 0x7f010001);
	assert_int_equal(be32_load(f.ip4[1]), 0x0a000001);
	assert_int_equal(be32_load(f.ip4[4]), 0x0a000401); /* the order of their addition */
	assert_int_equal(be32_load(f.ip4[8]), 0x0a000002);
	assert_int_equal(fab_ip4_towards(&seg, h1, 0x0a000263), 0x0a000201);
	assert_int_equal(fab_ip4_towards(&seg, h1, 0x0a000002), 0x0a000002);
	assert_int_equal(fab_ip4_towards(&seg, h1, 0x0c000002), 0x7f010001);
	assert_int_equal(fab_port_towards_ip4(&seg, fab_if_host(&seg, h1), 0x0a000763), h1);
	assert_int_equal(fab_port_by_ip4(&seg, 0x0a000701), h1);
	assert_int_equal(del(h1, 0x0a000301, 24), EADDRNOTAVAIL);
}

/* __inet_del_ifa() without promote_secondaries, also for the address of the rule. */
static void secondary_addresses_go_with_their_primary_one(void **state)
{
	uint32_t h1 = port_of("h1");
	struct fab_iface f;

	assert_int_equal(add(h1, 0x0a000001, 24), 0);
	assert_int_equal(add(h1, 0x0a000002, 24), 0);
	assert_int_equal(add(h1, 0x0a000003, 16), 0); /* another subnet */
	assert_int_equal(add(h1, 0x0a000004, 24), 0);
	assert_int_equal(add(h1, 0x7f010009, 16), 0);
	assert_int_equal(del(h1, 0x0a000002, 24),
			 0); /* removing a secondary address removes no other */
	assert_true(fab_iface(&seg, h1, &f));
	assert_int_equal(f.nip4, 5);
	assert_int_equal(del(h1, 0x0a000001, 24), 0);
	assert_int_equal(fab_port_by_ip4(&seg, 0x0a000004), SEG_NONE);
	assert_entry(0x0a000004, -1);
	assert_int_equal(fab_port_by_ip4(&seg, 0x0a000003), h1);
	assert_int_equal(del(h1, 0x7f010001, 0), 0);
	assert_true(fab_iface(&seg, h1, &f));
	assert_int_equal(f.nip4, 1);
	/* The address by rule is a secondary one if an earlier address has the same subnet. */
	assert_int_equal(add(h1, 0x7f010009, 16), 0);
	assert_int_equal(add(h1, 0x7f010001, 16), 0);
	assert_int_equal(del(h1, 0x7f010001, 16), 0);
	assert_int_equal(fab_port_by_ip4(&seg, 0x7f010009), h1);
}

/* Each VLAN's interface has its link-local address and others, with entries of its own. */
static void vlans_have_interfaces(void **state)
{
	static const uint8_t ip[4] = {10, 9, 0, 1};
	uint32_t h1 = port_of("h1"), h2 = port_of("h2"), at;
	uint8_t local[16], mac[6], gid[16];
	struct fab_iface f;

	assert_int_equal(fab_vlan_add(&seg, h1, 0), -ERANGE);
	assert_int_equal(fab_vlan_add(&seg, h1, 4095), -ERANGE);
	for (uint32_t i = 0; i < HW_VLANS; i++)
		assert_int_equal(fab_vlan_add(&seg, h1, 100 + i), 0);
	assert_int_equal(fab_vlan_add(&seg, h1, 100), -EEXIST);
	assert_int_equal(fab_vlan_add(&seg, h1, 4094), -ENOSPC);
	at = fab_at_by_vlan(&seg, h1, 101);
	assert_int_equal(fab_if_add(&seg, at, ip, 4, 24), 0);
	assert_int_equal(fab_if_add(&seg, h1, ip, 4, 24), -EEXIST);
	assert_int_equal(fab_if_del(&seg, h1, ip, 4, 24), -EADDRNOTAVAIL);
	assert_true(fab_iface(&seg, at, &f));
	assert_string_equal(f.name, "rce0.101");
	assert_int_equal(f.link, fab_if_index(&seg, h1));
	assert_int_equal(fab_port_by_if(&seg, fab_if_host(&seg, h1), f.index), at);
	assert_int_equal(f.nip4, 1);
	assert_int_equal(fab_port_by_ip4(&seg, 0x0a090001), at);
	ib_gid_of_ip4(ip, gid);
	assert_int_equal(fab_gid_find(hw_port(&seg, h1), gid, HW_GID_ROCE_V2), -1);
	assert_int_equal(fab_gid_find(hw_port(&seg, h1), gid, hw_gid_kind(HW_GID_ROCE_V2, 101)),
			 13);
	shows(PORT "gid_attrs/ndevs/13", "rce0.101\n");
	shows("sys/class/net/rce0.101/uevent",
	      "DEVTYPE=vlan\nINTERFACE=rce0.101\nIFINDEX=1000065\n");
	shows("sys/devices/virtual/net/rce0.101/iflink", "1000001\n");
	/* neighbours are found only in the same VLAN */
	assert_int_equal(fab_eth_neighbour(&seg, SEG_NONE, gid, mac), -ENODEV);
	fab_ip6_linklocal(&seg, h2, local);
	assert_int_equal(fab_eth_neighbour(&seg, SEG_NONE, local, mac), -ENODEV);
	assert_int_equal(fab_eth_neighbour(&seg, h2, gid, mac), -ETIMEDOUT);
	fab_ip6_linklocal(&seg, h1, local);
	assert_int_equal(fab_eth_neighbour(&seg, h2, local, mac), 0);
	assert_int_equal(fab_vlan_add(&seg, h2, 101), 0);
	assert_int_equal(fab_eth_neighbour(&seg, fab_at_by_vlan(&seg, h2, 101), gid, mac), 0);
	assert_int_equal(fab_eth_neighbour(&seg, fab_at_by_vlan(&seg, h2, 101), local, mac), 0);
	assert_int_equal(fab_vlan_add(&seg, h2, 77), 0);
	assert_int_equal(fab_eth_neighbour(&seg, fab_at_by_vlan(&seg, h2, 77), local, mac),
			 -ETIMEDOUT);
	/* removing the interface removes its addresses and GIDs */
	assert_int_equal(fab_vlan_del(&seg, h1), -EOPNOTSUPP);
	assert_int_equal(fab_vlan_del(&seg, at), 0);
	assert_false(fab_iface(&seg, at, &f));
	assert_int_equal(fab_port_by_ip4(&seg, 0x0a090001), SEG_NONE);
	shows(PORT "gid_attrs/ndevs/13", "");
	assert_int_equal(hw_port(&seg, h1)->naddrs, 0);
	for (int i = 0; i < 2; i++) {
		static const char *const gone[] = {"sys/class/net/rce0.101",
						   "sys/devices/virtual/net/rce0.101"};
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", root, gone[i]);
		assert_int_equal(faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW), -1);
	}
	shows("sys/class/net/rce0.102/mtu", "1500\n");
}

static void ipv6_addresses_have_their_subnets(void **state)
{
	static const uint8_t a[16] = {0xfd, [15] = 1}, b[16] = {0xfd, [7] = 1, [15] = 1},
			     to[16] = {0xfd, [7] = 1, [15] = 2}, far[16] = {0x20, 1, [15] = 2},
			     local[16] = {0xfe, 0x80, [15] = 1};
	uint32_t h1 = port_of("h1");
	uint8_t from[16], own[16];

	assert_int_equal(fab_if_add(&seg, h1, local, 16, 64), -EINVAL);
	assert_int_equal(fab_if_del(&seg, h1, local, 16, 64), -EINVAL);
	assert_int_equal(fab_if_add(&seg, h1, a, 16, 129), -EINVAL);
	assert_int_equal(fab_if_add(&seg, h1, a, 16, 64), 0);
	assert_int_equal(fab_if_add(&seg, h1, b, 16, 64), 0);
	fab_ip6_towards(&seg, h1, to, from);
	assert_memory_equal(from, b, 16);
	fab_ip6_towards(&seg, h1, a, from);
	assert_memory_equal(from, a, 16);
	fab_ip6_towards(&seg, h1, far, from);
	assert_memory_equal(from, b, 16); /* the latest */
	fab_ip6_towards(&seg, h1, local, from);
	fab_ip6_linklocal(&seg, h1, own);
	assert_memory_equal(from, own, 16);
	assert_int_equal(fab_if_del(&seg, h1, b, 16, 64), 0);
	assert_false(fab_ip6_on_link(&seg, h1, to));
	assert_int_equal(fab_port_by_ip6(&seg, b), SEG_NONE);
	assert_int_equal(fab_port_by_ip6(&seg, a), h1);
}

static int ask(const char *host, const uint8_t ip[16], uint32_t want)
{
	uint8_t mac[6], own[6];
	int r = fab_eth_neighbour(&seg, port_of(host), ip, mac);

	if (!r) {
		fab_eth_mac(want, own);
		assert_memory_equal(mac, own, 6);
	}
	return r;
}

static void neighbours_answer_for_their_addresses(void **state)
{
	static const uint8_t ours6[16] = {0xfd, [15] = 1}, theirs6[16] = {0xfd, [15] = 2},
			     other6[16] = {0xfd, [7] = 1, [15] = 2},
			     local6[16] = {0xfe, 0x80, [7] = 1, [15] = 1}; /* not fe80::/64 */
	uint32_t h1 = port_of("h1"), h2 = port_of("h2");
	uint8_t ip[16] = {[10] = 0xff, 0xff, 127, 1, 0, 2};

	assert_int_equal(ask("h1", ip, h2), 0);
	ip[15] = 1;
	assert_int_equal(ask("h1", ip, h1), 0); /* the own one, too */
	ip[15] = 3;
	assert_int_equal(ask("h1", ip, 0), -ETIMEDOUT);
	ip[12] = 10; /* IPv4 asks the link for every address */
	assert_int_equal(ask("h1", ip, 0), -ETIMEDOUT);
	memset(ip + 12, 0, 4);
	assert_int_equal(ask("h1", ip, 0), -ENODEV);
	fab_ip6_linklocal(&seg, h2, ip);
	assert_int_equal(ask("h1", ip, h2), 0);
	ip[15] ^= 0x40;
	assert_int_equal(ask("h1", ip, 0), -ETIMEDOUT);
	/* IPv6 needs a subnet with the address */
	assert_int_equal(ask("h1", local6, 0), -ENETUNREACH);
	assert_int_equal(ask("h1", theirs6, 0), -ENETUNREACH);
	assert_int_equal(fab_if_set(&seg, h2, theirs6, 16, 64), 0);
	assert_int_equal(ask("h1", theirs6, 0), -ENETUNREACH);
	assert_int_equal(fab_if_set(&seg, h1, ours6, 16, 64), 0);
	assert_int_equal(ask("h1", theirs6, h2), 0);
	assert_int_equal(ask("h1", other6, 0), -ENETUNREACH);
}

static void broadcast_addresses_are_everybodys(void **state)
{
	static const uint8_t all[6] = {255, 255, 255, 255, 255, 255};
	static const uint8_t own[4] = {10, 1, 2, 3};
	uint8_t ip[16] = {[10] = 0xff, 0xff, 127, 1, 255, 255}, mac[6];
	uint32_t h1 = port_of("h1");

	assert_int_equal(fab_eth_neighbour(&seg, h1, ip, mac), 0);
	assert_memory_equal(mac, all, 6);
	memset(ip + 12, 255, 4);
	assert_int_equal(fab_eth_neighbour(&seg, h1, ip, mac), 0);
	assert_memory_equal(mac, all, 6);
	assert_int_equal(fab_if_set(&seg, h1, own, 4, 24), 0);
	be32_store(ip + 12, 0x0a0102ff);
	assert_int_equal(fab_eth_neighbour(&seg, h1, ip, mac), 0);
	assert_memory_equal(mac, all, 6);
	be32_store(ip + 12, 0x0a01ffff);
	assert_int_equal(fab_eth_neighbour(&seg, h1, ip, mac), -ETIMEDOUT);
}

/* iboe_get_mtu(): the interface's MTU without the headers. */
static void mtus_fit_the_interfaces(void **state)
{
	assert_int_equal(fab_eth_ib_mtu(1280), IBV_MTU_1024);
	assert_int_equal(fab_eth_ib_mtu(1500), IBV_MTU_1024);
	assert_int_equal(fab_eth_ib_mtu(2144 - 1), IBV_MTU_1024);
	assert_int_equal(fab_eth_ib_mtu(2144), IBV_MTU_2048);
	assert_int_equal(fab_eth_ib_mtu(4200), IBV_MTU_4096);
	assert_int_equal(fab_eth_ib_mtu(9000), IBV_MTU_4096);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(attributes_read_as_the_kernels),
		T(every_counter_of_mlx5_has_a_file),
		T(files_follow_the_addresses),
		T(an_address_takes_the_first_free_entries),
		T(a_qp_holds_the_entry_of_its_address),
		T(the_address_of_the_rule_comes_and_goes),
		T(an_interface_has_many_addresses),
		T(what_has_no_room_changes_nothing),
		T(secondary_addresses_go_with_their_primary_one),
		T(vlans_have_interfaces),
		T(ipv6_addresses_have_their_subnets),
		T(neighbours_answer_for_their_addresses),
		T(broadcast_addresses_are_everybodys),
		T(mtus_fit_the_interfaces),
	};

	return cmocka_run_group_tests_name("eth", tests, NULL, NULL);
}
