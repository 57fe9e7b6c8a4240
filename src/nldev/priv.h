/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the files of this folder. */
#ifndef SOFTHCA_NLDEV_PRIV_H
#define SOFTHCA_NLDEV_PRIV_H

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include "hw/hca.h"
#include "nldev/msg.h"
#include "nldev/nldev.h"
#include "segment/suplink.h"

/* Numbers of include/uapi/rdma/rdma_netlink.h that the headers of Linux 6.1.176 do not have. */
enum {
	NLDEV_SYS_PRIVILEGED_QKEY = 96, /* RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE */
	NLDEV_DRIVER_DETAILS,           /* RDMA_NLDEV_ATTR_DRIVER_DETAILS */
	NLDEV_RES_SUBTYPE,              /* RDMA_NLDEV_ATTR_RES_SUBTYPE */
	NLDEV_ATTRS,                    /* RDMA_NLDEV_ATTR_MAX */
};

/* ---- policy.c: requests */

struct nl_req {
	struct nldev *d;
	const struct nlmsghdr *h;
	const struct nlattr *tb[NLDEV_ATTRS];
	struct nl_ext ext;
};

/* nlmsg_parse() (`strict`) or nlmsg_parse_deprecated() into q->tb: 0, -EINVAL, -ERANGE. */
int nl_parse(struct nl_req *q, bool strict);
static inline uint32_t nl_get_u32(const struct nlattr *a)
{
	return *(const uint32_t *)(a + 1);
}
static inline uint8_t nl_get_u8(const struct nlattr *a)
{
	return *(const uint8_t *)(a + 1);
}
/* Copies as much of a string as fits, always with its NUL: nla_strscpy(). */
void nl_get_str(const struct nlattr *a, char *to, size_t room);

/* ---- nldev.c: a dump's datagrams */

struct nl_dump {
	struct nl_req *q;
	struct nl_out *o;
	int err; /* the answer could not be given */
};
/* Sends what has been gathered, if that is anything. 0 or -errno. */
int nl_flush(struct nl_dump *p);
/* A whole message in a dump; fill() is called again when the datagram had no room. 0 or -errno. */
typedef int nl_fill(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t arg);
int nl_dump_one(struct nl_dump *p, uint16_t op, nl_fill *fill, uint32_t hca, uint32_t arg);

/* ---- the commands: a message into *o, or -errno */

typedef int nl_one(struct nl_req *q, struct nl_out *o);
typedef int nl_all(struct nl_req *q, struct nl_dump *p);
/* Returns the adapter that DEV_INDEX names, or SEG_NONE. */
uint32_t nl_hca(const struct nl_req *q);
/* PORT_INDEX, checked; 0: it is absent. -EINVAL */
int nl_port(const struct nl_req *q, uint32_t hca, uint32_t *port);
void nl_handle(struct nl_req *q, struct nl_out *o, uint32_t hca);

nl_one nl_get, nl_port_get, nl_sys_get, nl_get_chardev, nl_set, nl_newlink, nl_dellink, nl_sys_set;
nl_all nl_get_all, nl_port_get_all;

nl_one nl_res_get;
nl_all nl_res_get_all;
enum nl_res { NL_PD, NL_CQ, NL_QP, NL_CM_ID, NL_MR, NL_CTX, NL_SRQ, NL_MR_STAT, NL_COUNTER };
int nl_res_one(struct nl_req *q, struct nl_out *o, enum nl_res what);
int nl_res_all(struct nl_req *q, struct nl_dump *p, enum nl_res what);

nl_one nl_stat_get, nl_stat_set, nl_stat_del, nl_stat_status;
nl_all nl_stat_get_all;

#endif
