/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ethernet ports: neighbours, GID tables, and what sysfs shows of them. */
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
#include <unistd.h>
#include <infiniband/verbs.h>

#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/bits.h"

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
				      .link_speed = 64,
				      .link_width = 2,
				      .max_mtu = IBV_MTU_4096,
				      .link = HW_LINK_ETH,
				      .if_mtu = 1500};
	char cmd[400];

	memset(&seg, 0, sizeof(seg));
	assert_int_equal(seg_create(&seg, "test"), 0);
	strcpy(seg.dir, "/tmp/softhca-eth-XXXXXX");
	assert_non_null(mkdtemp(seg.dir));
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
	char path[512], text[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fail_msg("%s: %s", name, strerror(errno));
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, want);
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
	shows(PORT "phys_state", "3: Disabled\n");
	shows(PORT "gids/4", "fd00:0000:0000:0000:0000:0000:0000:0009\n");
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

/* iboe_get_mtu(): what the headers leave of the interface's MTU. */
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
		T(files_follow_the_addresses),
		T(neighbours_answer_for_their_addresses),
		T(broadcast_addresses_are_everybodys),
		T(mtus_fit_the_interfaces),
	};

	return cmocka_run_group_tests_name("eth", tests, NULL, NULL);
}
