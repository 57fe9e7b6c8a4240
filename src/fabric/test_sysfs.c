/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rendered tree, compared with the texts of a real card, and its updates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "fabric/cpumask.h"
#include "fabric/count.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/for_tests.h"
#include "fabric/ifaddr.h"
#include "fabric/test_text.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/bits.h"
#include "util/test_tmp.h"

#define IB "sys/class/infiniband/mlx5_0/"
#define PORT IB "ports/1/"

static const struct fab_sysfs_ids ids = {.fw_ver = "20.31.1014",
					 .hca_type = "MT4123",
					 .board_id = "MT_0000000223",
					 .pci_device = 0x101b};
static struct seg seg;
static char root[TEST_TMP_MAX];

static int render(uint32_t hcas, uint32_t ports, uint32_t speed, uint32_t link)
{
	const struct fab_options o = {.hosts = 1,
				      .link = link,
				      .if_mtu = 4200,
				      .hcas = hcas,
				      .ports = ports,
				      .caps.link_speed = speed,
				      .caps.link_width = 2,
				      .caps.pci_gen = 4,
				      .caps.max_mtu = IBV_MTU_4096};

	memset(&seg, 0, sizeof(seg));
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_create(&seg, &o), 0);
	assert_true(test_tmp_make(root));
	return fab_sysfs_render(&seg, fab_host_by_name(&seg, "h1"), root, &ids);
}

static int one_port(void **state)
{
	assert_int_equal(render(1, 1, 64, HW_LINK_IB), 0);
	return 0;
}

static int two_by_two(void **state)
{
	assert_int_equal(render(2, 2, 128, HW_LINK_IB), 0);
	return 0;
}

static int ethernet(void **state)
{
	assert_int_equal(render(1, 2, 64, HW_LINK_ETH), 0);
	return 0;
}

static int clean(void **state)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
	assert_int_equal(system(cmd), 0);
	seg_unmap(&seg);
	return 0;
}

static const char *text_of(const char *name)
{
	return sysfs_text(root, name);
}

static void attributes_read_as_the_kernels(void **state)
{
	static const char *const expected[][2] = {
		{IB "node_type", "1: CA\n"},
		{IB "node_guid", "5a17:ca03:0001:0000\n"},
		{IB "sys_image_guid", "5a17:ca03:0001:0000\n"},
		{IB "node_desc", "h1 mlx5_0\n"},
		{IB "fw_ver", "20.31.1014\n"},
		{IB "hw_rev", "0\n"},
		{IB "hca_type", "MT4123\n"},
		{IB "board_id", "MT_0000000223\n"},
		{PORT "state", "4: ACTIVE\n"},
		{PORT "phys_state", "5: LinkUp\n"},
		{PORT "lid", "0x1\n"},
		{PORT "lid_mask_count", "0\n"},
		{PORT "sm_lid", "0x1\n"},
		{PORT "sm_sl", "0\n"},
		{PORT "rate", "200 Gb/sec (4X HDR)\n"},
		{PORT "cap_mask", "0x2651e84a\n"},
		{PORT "link_layer", "InfiniBand\n"},
		{PORT "gids/0", "fe80:0000:0000:0000:5a17:ca03:0001:0000\n"},
		{PORT "gids/7", "0000:0000:0000:0000:0000:0000:0000:0000\n"},
		{PORT "gid_attrs/types/0", "IB/RoCE v1\n"},
		{PORT "gid_attrs/types/1", ""},
		{PORT "gid_attrs/ndevs/0", ""},
		{PORT "pkeys/0", "0xffff\n"},
		{PORT "pkeys/15", "0x0000\n"},
		{PORT "counters/port_xmit_data", "0\n"},
		{PORT "counters/VL15_dropped", "0\n"},
		{PORT "hw_counters/lifespan", "10\n"},
		{PORT "hw_counters/req_cqe_flush_error", "0\n"},
		{IB "device/vendor", "0x15b3\n"},
		{IB "device/device", "0x101b\n"},
		{IB "device/class", "0x020700\n"},
		{IB "device/modalias", "pci:v000015B3d0000101Bsv000015B3sd00000007bc02sc07i00\n"},
		{IB "device/numa_node", "-1\n"},
		{IB "device/current_link_speed", "16.0 GT/s PCIe\n"},
		{IB "device/current_link_width", "16\n"},
		{"sys/class/infiniband_verbs/abi_version", "6\n"},
		{"sys/class/infiniband_verbs/uverbs0/dev", "231:192\n"},
		{"sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n"},
		{"sys/class/infiniband_verbs/uverbs0/abi_version", "1\n"},
		{"sys/class/infiniband_verbs/uverbs0/uevent",
		 "MAJOR=231\nMINOR=192\nDEVNAME=infiniband/uverbs0\nDEVMODE=0666\n"},
		{"sys/class/infiniband_mad/abi_version", "5\n"},
		{"sys/class/infiniband_mad/umad0/dev", "231:0\n"},
		{"sys/class/infiniband_mad/umad0/ibdev", "mlx5_0\n"},
		{"sys/class/infiniband_mad/umad0/port", "1\n"},
		{"sys/class/infiniband_mad/issm0/dev", "231:64\n"},
		{"dev/infiniband/uverbs0", ""},
		{"dev/infiniband/umad0", ""},
		{"dev/infiniband/issm0", ""},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (strcmp(text_of(expected[i][0]), expected[i][1]))
			fail_msg("%s: '%s', expected '%s'", expected[i][0], text_of(expected[i][0]),
				 expected[i][1]);
}

static void the_class_link_leads_to_a_pci_device(void **state)
{
	char path[256], real[4096], expected[256];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/mlx5_0", root);
	snprintf(expected, sizeof(expected),
		 "%s/sys/devices/pci5a17:00/5a17:00:00.0/infiniband/mlx5_0", root);
	assert_non_null(realpath(path, real));
	assert_string_equal(real, expected);
	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs/uverbs0/device/infiniband",
		 root);
	snprintf(expected, sizeof(expected), "%s/sys/devices/pci5a17:00/5a17:00:00.0/infiniband",
		 root);
	assert_non_null(realpath(path, real));
	assert_string_equal(real, expected);
}

static void placeholders_have_inodes_of_their_own(void **state)
{
	static const char *const names[] = {"uverbs0", "umad0", "issm0"};
	char path[256];
	struct stat st[3];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/dev/infiniband/%s", root, names[i]);
		assert_int_equal(lstat(path, &st[i]), 0);
		for (int k = 0; k < i; k++)
			assert_true(st[k].st_ino != st[i].st_ino);
	}
}

static void more_devices_get_more_numbers(void **state)
{
	assert_string_equal(text_of("sys/class/infiniband_verbs/uverbs1/ibdev"), "mlx5_1\n");
	assert_string_equal(text_of("sys/class/infiniband_verbs/uverbs1/dev"), "231:193\n");
	assert_string_equal(text_of("sys/class/infiniband_mad/umad3/ibdev"), "mlx5_1\n");
	assert_string_equal(text_of("sys/class/infiniband_mad/umad3/port"), "2\n");
	assert_string_equal(text_of("sys/class/infiniband_mad/issm3/dev"), "231:67\n");
	assert_string_equal(text_of("sys/class/infiniband/mlx5_1/ports/2/lid"), "0x4\n");
	assert_string_equal(text_of("sys/class/infiniband/mlx5_1/ports/2/rate"),
			    "400 Gb/sec (4X NDR)\n");
	assert_string_equal(text_of("sys/class/infiniband/mlx5_1/node_guid"),
			    "5a17:ca03:0001:0100\n");
}

#define NET "sys/class/net/ib0/"

static void interface_reads_as_ipoibs(void **state)
{
	static const char *const expected[][2] = {
		{NET "address", "00:00:00:40:fe:80:00:00:00:00:00:00:5a:17:ca:03:00:01:00:00\n"},
		{NET "broadcast", "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff\n"},
		{NET "addr_len", "20\n"},
		{NET "type", "32\n"},
		{NET "flags", "0x1003\n"},
		{NET "ifindex", "1000001\n"},
		{NET "mtu", "2044\n"},
		{NET "operstate", "up\n"},
		{NET "carrier", "1\n"},
		{NET "speed", "200000\n"},
		{NET "duplex", "full\n"},
		{NET "dev_port", "0\n"},
		{NET "dev_id", "0x0\n"},
		{NET "statistics/rx_bytes", "0\n"},
		{NET "device/vendor", "0x15b3\n"},
		{NET "device/net/ib0/uevent", "INTERFACE=ib0\nIFINDEX=1000001\n"},
		{IB "device/net/ib0/mode", "datagram\n"},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(text_of(expected[i][0]), expected[i][1]);
}

#define ETH "sys/class/net/rce1/"

static void interface_reads_as_ethernets(void **state)
{
	static const char *const expected[][2] = {
		{ETH "broadcast", "ff:ff:ff:ff:ff:ff\n"},
		{ETH "addr_len", "6\n"},
		{ETH "type", "1\n"},
		{ETH "flags", "0x1003\n"},
		{ETH "ifindex", "1000002\n"},
		{ETH "mtu", "4200\n"},
		{ETH "operstate", "up\n"},
		{ETH "speed", "200000\n"},
		{ETH "dev_port", "1\n"},
		{ETH "dev_id", "0x0\n"},
		{ETH "tx_queue_len", "1000\n"},
		{ETH "device/vendor", "0x15b3\n"},
		{IB "device/net/rce1/uevent", "INTERFACE=rce1\nIFINDEX=1000002\n"},
	};
	static const char *const none[] = {ETH "mode", ETH "pkey", "sys/class/net/ib1"};
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 1);
	char path[256], text[32];
	uint8_t mac[6];

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(text_of(expected[i][0]), expected[i][1]);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, none[i]);
		assert_int_equal(access(path, F_OK), -1);
	}
	fab_eth_mac(port, mac);
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	assert_string_equal(text_of(ETH "address"), text);
	assert_int_equal(fab_eth_link(&seg, port, false), 0);
	assert_int_equal(fab_sysfs_update_port(&seg, port, root), 0);
	assert_string_equal(text_of(ETH "carrier"), "0\n");
	assert_string_equal(text_of(ETH "address"), text);
	snprintf(path, sizeof(path), "%s/" ETH "mode", root);
	assert_int_equal(access(path, F_OK), -1);
}

static void interfaces_are_numbered_over_the_adapters(void **state)
{
	assert_string_equal(text_of("sys/class/net/ib1/dev_port"), "1\n");
	assert_string_equal(text_of("sys/class/net/ib2/dev_port"), "0\n");
	assert_string_equal(text_of("sys/class/net/ib3/device/net/ib3/ifindex"), "1000004\n");
	assert_string_equal(text_of(IB "device/net/ib1/dev_id"), "0x1\n");
}

static struct fab_iface iface_file(uint32_t n)
{
	struct fab_iface f;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/" FAB_IF_FILE, root, n);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &f, sizeof(f)), sizeof(f));
	close(fd);
	return f;
}

static void interface_follows_its_port(void **state)
{
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);

	assert_true(iface_file(0).flags & IFF_RUNNING);
	hw_port(&seg, port)->state = IB_PORT_DOWN;
	assert_int_equal(fab_sysfs_update_port(&seg, port, root), 0);
	assert_string_equal(text_of(NET "operstate"), "down\n");
	assert_string_equal(text_of(NET "carrier"), "0\n");
	assert_string_equal(text_of(NET "speed"), "-1\n");
	assert_string_equal(text_of(NET "dev_port"), "0\n"); /* carrier's file also had its text */
	assert_string_equal(text_of(NET "flags"), "0x1003\n");
	assert_int_equal(iface_file(0).flags & (IFF_UP | IFF_RUNNING), IFF_UP);
}

static void assert_ip4(uint32_t n, uint32_t ip, uint32_t prefix)
{
	struct fab_iface f = iface_file(n);

	assert_int_equal(f.nip4, 1);
	assert_int_equal(be32_load(f.ip4[0]), ip);
	assert_int_equal(f.prefix4[0], prefix);
}

static void addresses_can_be_configured(void **state)
{
	static const uint8_t ten[] = {10, 0, 0, 7}, two[] = {127, 2, 0, 1}, loop[] = {127, 0, 0, 9};
	static const uint8_t six[16] = {0xfd, 0, 0, 1, [15] = 7}, local[16] = {0xfe, 0x80};
	uint32_t host = fab_host_by_name(&seg, "h1");
	uint32_t a = fab_port_by_umad(&seg, host, 0), b = fab_port_by_umad(&seg, host, 1);

	assert_ip4(0, 0x7f010001, 16);
	assert_ip4(1, 0x7f020001, 16);
	assert_int_equal(fab_if_set(&seg, a, two, 4, 16), -EEXIST);
	assert_int_equal(fab_if_set(&seg, a, loop, 4, 8), -EINVAL);
	assert_int_equal(fab_if_set(&seg, a, local, 16, 64), -EINVAL);
	assert_int_equal(fab_if_set(&seg, a, ten, 4, 24), 0);
	assert_int_equal(fab_if_set(&seg, b, ten, 4, 24), -EEXIST);
	assert_int_equal(fab_if_set(&seg, a, six, 16, 64), 0);
	assert_int_equal(fab_sysfs_update_port(&seg, a, root), 0);
	assert_ip4(0, 0x0a000007, 24);
	assert_int_equal(iface_file(0).nip6, 2);
	assert_memory_equal(iface_file(0).ip6[1], six, 16);

	assert_int_equal(fab_port_by_ip4(&seg, 0x0a000007), a);
	assert_int_equal(fab_port_by_ip4(&seg, 0x7f010001), SEG_NONE); /* replaced */
	assert_int_equal(fab_port_by_ip4(&seg, 0x7f020001), b);
	assert_int_equal(fab_port_by_ip6(&seg, six), a);
	assert_int_equal(fab_port_towards_ip4(&seg, host, 0x0a0000ff), a);
	assert_int_equal(fab_port_towards_ip4(&seg, host, 0x7f02abcd), b);
	assert_int_equal(fab_port_towards_ip4(&seg, host, 0x0a000107), SEG_NONE);
	assert_int_equal(fab_port_towards_ip6(&seg, host, six), a);
}

/* As ConnectX-4 and -6 show it: the reset value of the LID, and the least rate. */
static void a_port_that_nobody_has_set_up(void **state)
{
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);
	struct hw_port *p = hw_port(&seg, port);

	p->state = IB_PORT_DOWN;
	p->phys_state = IB_PHYS_POLLING;
	p->lid = p->sm_lid = 0;
	assert_int_equal(fab_sysfs_update_port(&seg, port, root), 0);
	assert_string_equal(text_of(PORT "lid"), "0xffff\n");
	assert_string_equal(text_of(PORT "sm_lid"), "0x0\n");
	assert_string_equal(text_of(PORT "rate"), "10 Gb/sec (4X SDR)\n");
	p->state = IB_PORT_INIT;
	p->phys_state = IB_PHYS_LINK_UP;
	assert_int_equal(fab_sysfs_update_port(&seg, port, root), 0);
	assert_string_equal(text_of(PORT "lid"), "0xffff\n");
	assert_string_equal(text_of(PORT "rate"), "200 Gb/sec (4X HDR)\n");
}

static void an_update_shows_and_keeps_the_devices_times(void **state)
{
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);
	struct hw_port *p = hw_port(&seg, port);
	struct stat before, after;
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/mlx5_0", root);
	assert_int_equal(stat(path, &before), 0);
	p->state = IB_PORT_INIT;
	p->lid = 0x1f;
	assert_int_equal(fab_sysfs_update_port(&seg, port, root), 0);
	assert_string_equal(text_of(PORT "state"), "2: INIT\n");
	assert_string_equal(text_of(PORT "lid"), "0x1f\n");
	/* It shared a file with lid, as both were 0x1. */
	assert_string_equal(text_of(PORT "sm_lid"), "0x1\n");
	assert_int_equal(stat(path, &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
}

static void tables_are_written_again(void **state)
{
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);
	struct hw_port *p = hw_port(&seg, port);

	p->pkey[3] = 0x8123;
	memset(p->gid[2], 0xab, 16);
	assert_int_equal(fab_sysfs_update_tables(&seg, port, root), 0);
	assert_string_equal(text_of(PORT "pkeys/0"), "0xffff\n");
	assert_string_equal(text_of(PORT "pkeys/3"), "0x8123\n");
	assert_string_equal(text_of(PORT "pkeys/4"), "0x0000\n"); /* these shared one file */
	assert_string_equal(text_of(PORT "gids/2"), "abab:abab:abab:abab:abab:abab:abab:abab\n");
	assert_string_equal(text_of(PORT "gid_attrs/types/2"), "IB/RoCE v1\n");
	assert_string_equal(text_of(PORT "gid_attrs/types/3"), "");
}

static void counters_are_written_again(void **state)
{
	struct fab_counters c;
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);

	fab_count(&seg, port, HW_CTR_XMIT_PKTS, 12);
	fab_count(&seg, port, HW_CTR_XMIT_MCAST, 2);
	fab_count(&seg, port, HW_CTR_RCV_DATA, 1234567890123);
	fab_count(&seg, port, HW_CTR_XMIT_DISCARDS, 70000);
	fab_pma_counters(&seg, port, &c);
	assert_int_equal(fab_sysfs_update_counters(&seg, port, root, &c), 0);
	assert_string_equal(text_of(PORT "counters/port_xmit_packets"), "12\n");
	assert_string_equal(text_of(PORT "counters/unicast_xmit_packets"), "10\n");
	assert_string_equal(text_of(PORT "counters/port_xmit_discards"), "65535\n");
	assert_string_equal(text_of(PORT "counters/port_rcv_data"), "1234567890123\n");
	assert_string_equal(text_of(PORT "counters/symbol_error"), "0\n");
}

static ino_t file_of(const char *name)
{
	struct stat st;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* A new file may take long on a busy disk, so a file whose value is unchanged stays. */
static void a_counter_that_stands_still_keeps_its_file(void **state)
{
	struct fab_counters c;
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);
	ino_t moves, stays;

	fab_pma_counters(&seg, port, &c);
	assert_int_equal(fab_sysfs_update_counters(&seg, port, root, &c), 0);
	moves = file_of(PORT "counters/port_xmit_packets");
	stays = file_of(PORT "counters/port_xmit_discards");
	fab_count(&seg, port, HW_CTR_XMIT_PKTS, 12);
	fab_pma_counters(&seg, port, &c);
	assert_int_equal(fab_sysfs_update_counters(&seg, port, root, &c), 0);
	assert_int_not_equal(file_of(PORT "counters/port_xmit_packets"), moves);
	assert_int_equal(file_of(PORT "counters/port_xmit_discards"), stays);
}

static void no_tree_is_told_from_a_failure(void **state)
{
	uint32_t port = fab_port_by_umad(&seg, fab_host_by_name(&seg, "h1"), 0);

	assert_int_equal(fab_sysfs_update_port(&seg, port, "/nonexistent"), -ENOENT);
	assert_int_equal(fab_sysfs_update_port(&seg, SEG_NONE, root), -EINVAL);
}

static void cpu_masks_read_as_the_kernels(void **state)
{
	char mask[64];

	assert_int_equal(cpumask_from_list("0-1", 2, mask, sizeof(mask)), 0);
	assert_string_equal(mask, "3");
	assert_int_equal(cpumask_from_list("0,2-3", 8, mask, sizeof(mask)), 0);
	assert_string_equal(mask, "0d");
	assert_int_equal(cpumask_from_list("0-39", 40, mask, sizeof(mask)), 0);
	assert_string_equal(mask, "ff,ffffffff");
	assert_int_equal(cpumask_from_list("32", 64, mask, sizeof(mask)), 0);
	assert_string_equal(mask, "00000001,00000000");
	assert_int_equal(cpumask_from_list("3-1", 8, mask, sizeof(mask)), -EINVAL);
	assert_int_equal(cpumask_from_list("x", 8, mask, sizeof(mask)), -EINVAL);
	assert_int_equal(cpumask_from_list("0-39", 40, mask, 4), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(attributes_read_as_the_kernels, one_port, clean),
		cmocka_unit_test_setup_teardown(the_class_link_leads_to_a_pci_device, one_port,
						clean),
		cmocka_unit_test_setup_teardown(interface_reads_as_ipoibs, one_port, clean),
		cmocka_unit_test_setup_teardown(interface_reads_as_ethernets, ethernet, clean),
		cmocka_unit_test_setup_teardown(interfaces_are_numbered_over_the_adapters,
						two_by_two, clean),
		cmocka_unit_test_setup_teardown(interface_follows_its_port, one_port, clean),
		cmocka_unit_test_setup_teardown(addresses_can_be_configured, two_by_two, clean),
		cmocka_unit_test_setup_teardown(placeholders_have_inodes_of_their_own, one_port,
						clean),
		cmocka_unit_test_setup_teardown(more_devices_get_more_numbers, two_by_two, clean),
		cmocka_unit_test_setup_teardown(a_port_that_nobody_has_set_up, one_port, clean),
		cmocka_unit_test_setup_teardown(an_update_shows_and_keeps_the_devices_times,
						one_port, clean),
		cmocka_unit_test_setup_teardown(tables_are_written_again, one_port, clean),
		cmocka_unit_test_setup_teardown(counters_are_written_again, one_port, clean),
		cmocka_unit_test_setup_teardown(a_counter_that_stands_still_keeps_its_file,
						one_port, clean),
		cmocka_unit_test_setup_teardown(no_tree_is_told_from_a_failure, one_port, clean),
		cmocka_unit_test(cpu_masks_read_as_the_kernels),
	};

	return cmocka_run_group_tests_name("sysfs", tests, NULL, NULL);
}
