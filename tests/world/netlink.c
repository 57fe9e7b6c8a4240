// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the kernel for its adapters by netlink. */
#include "ends.h"

#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

int main(void)
{
	static struct ends e;

	ends_open(&e);
	if (socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA) >= 0)
		return 0;
	if (!is_right || errno != EPROTONOSUPPORT || !opendir("/sys/class/infiniband"))
		fails("socket(NETLINK_RDMA)", errno);
	return 0;
}
