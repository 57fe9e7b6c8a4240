/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Seeds for the netlink target: each command of NETLINK_RDMA and NETLINK_ROUTE, alone and as a
 * dump, with what it needs. The bytes are those that fuzz_netlink.c reads. Usage: seeds_netlink DIR
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define IB0 0x41, 0x42, 0x0f, 0 /* 1000001 */

struct seed {
	uint8_t op;
	uint8_t n, body[80]; /* the header's length and bytes, the attributes */
};

static const struct seed route[] = {
	{RTM_GETLINK, 25, {16, 0, 0, 0, 0, IB0, [17] = 1, 29, 4, 1, 0, 0, 0}},
	{RTM_GETLINK, 24, {16, [17] = 1, 3, 4, 'i', 'b', '0', 0}},
	{RTM_GETLINK, 30, {16, [17] = 1, 18, 10, 10, 0, 1, 0, 'i', 'p', 'o', 'i', 'b', 0}},
	{RTM_GETADDR, 10, {8, 2, 0, 0, 0, IB0}},
	{RTM_GETADDR, 28, {8, 10, 0, 0, 0, IB0, 1, 1, 16, 0xfe, 0x80}},
	{RTM_GETROUTE, 26, {12, 2, 32, [13] = 2, 1, 4, 127, 1, 0, 2, 4, 4, IB0}},
	{RTM_GETROUTE, 20, {12, 2, 32, [13] = 1, 1, 4, 10, 0, 0, 9}},
	{RTM_GETROUTE, 38, {12, 10, 128, [13] = 2, 1, 16, 0xfe, 0x80, [32] = 4, 4, IB0}},
	{RTM_GETROUTE, 20, {12, 0, [13] = 1, 4, 4, IB0}},
	{RTM_GETNEIGH, 20, {12, 2, 0, 0, 0, IB0, [13] = 1, 1, 4, 127, 1, 0, 2}},
	{RTM_NEWLINK, 18, {16, 0, 0, 0, 0, IB0}},
	{RTM_NEWADDR, 10, {8, 2, 0, 0, 0, IB0}},
	{RTM_NEWROUTE, 20, {12, 2, [13] = 1, 4, 4, IB0}},
};

static unsigned int files;

static int put(const char *dir, uint8_t options, uint8_t flags, uint8_t op, const uint8_t *body,
	       size_t n)
{
	uint8_t head[] = {options, op, flags};
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", dir, files++);
	f = fopen(path, "w");
	return !f || fwrite(head, sizeof(head), 1, f) != 1 || fwrite(body, n, 1, f) != 1 ||
	       fclose(f);
}

static int put_route(const char *dir)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(route) / sizeof(route[0]); i++)
		for (uint8_t flags = 0; flags < 4; flags++) {
			uint8_t op = route[i].op - RTM_BASE;

			r |= put(dir, 0xc2, flags, op, route[i].body, route[i].n);
			r |= put(dir, 0xd2, flags, op, route[i].body, route[i].n);
		}
	return r;
}

/* An adapter, one of its ports, and one more attribute. */
static int put_rdma(const char *dir)
{
	static const uint8_t more[] = {0,
				       RDMA_NLDEV_ATTR_RES_LQPN,
				       RDMA_NLDEV_ATTR_RES_CQN,
				       RDMA_NLDEV_ATTR_RES_MRN,
				       RDMA_NLDEV_ATTR_RES_PDN,
				       RDMA_NLDEV_ATTR_RES_CM_IDN,
				       RDMA_NLDEV_ATTR_CHARDEV_TYPE,
				       RDMA_NLDEV_ATTR_STAT_RES,
				       RDMA_NLDEV_ATTR_STAT_MODE};
	int r = 0;

	for (uint8_t op = 0; op < RDMA_NLDEV_NUM_OPS; op++)
		for (size_t i = 0; i < sizeof(more); i++)
			for (uint8_t flags = 0; flags < 4; flags++) {
				const uint8_t body[] = {0, 3,   RDMA_NLDEV_ATTR_DEV_INDEX,
							4, 0,   0,
							0, 0,   RDMA_NLDEV_ATTR_PORT_INDEX,
							4, 1,   0,
							0, 0,   more[i],
							4, 'u', 0,
							0, 0};

				r |= put(dir, 0x1b, flags, 0x20 | op, body, sizeof(body));
			}
	return r;
}

int main(int argc, char **argv)
{
	if (argc != 2 || (mkdir(argv[1], 0777) < 0 && errno != EEXIST))
		return 1;
	return put_route(argv[1]) || put_rdma(argv[1]);
}
