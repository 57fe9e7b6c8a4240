/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to rtnl.c, rtaddr.c, rtlink.c, rtnews.c and rtroute.c. */
#ifndef SOFTHCA_NLDEV_RTPRIV_H
#define SOFTHCA_NLDEV_RTPRIV_H

#include <linux/rtnetlink.h>
#include "nldev/rtnl.h"

#define RT_ATTRS 64

struct rtn_req {
	const struct rtnl *r;
	const struct nlmsghdr *h;
	const void *body; /* the family's header */
	size_t len;       /* of it and the attributes */
	const struct nlattr *tb[RT_ATTRS];
	uint16_t flags; /* of the messages in the answer */
	struct nl_out *o;
	struct nl_ext ext;
};

/* ---- rtnl.c */

/* Fills q->tb from the attributes behind a header of `head` bytes. */
void rtn_parse(struct rtn_req *q, size_t head);
/* The attribute, or NULL when it is absent or has fewer than n bytes. */
const void *rtn_value(const struct rtn_req *q, uint16_t type, size_t n);
uint32_t rtn_u32(const struct rtn_req *q, uint16_t type);
const struct fab_iface *rtn_by_index(const struct rtn_req *q, uint32_t index);
const struct fab_iface *rtn_by_name(const struct rtn_req *q, uint16_t type);
/* One message: rtn_send() gives it to the program. */
void rtn_begin(struct rtn_req *q, uint16_t type, const void *head, size_t n);
void rtn_send(struct rtn_req *q);
/* The end of a request that is answered here. */
enum rtnl_who rtn_end(struct rtn_req *q, int err);

/* ---- rtaddr.c, rtlink.c: RTM_NEWLINK or RTM_DELLINK; RTM_NEWADDR or RTM_DELADDR of address k */

void rtn_link(struct rtn_req *q, uint16_t type, const struct fab_iface *f);
void rtn_ip4(struct rtn_req *q, uint16_t type, const struct fab_iface *f, unsigned int k);
void rtn_ip6(struct rtn_req *q, uint16_t type, const struct fab_iface *f, unsigned int k);

/* The first IPv4 address with the subnet of address k. */
uint32_t rtn_primary(const struct fab_iface *f, uint32_t k);

/* ---- by type of request; `q->body` has at least one byte, the family */

typedef enum rtnl_who rtn_fn(struct rtn_req *q);
rtn_fn rtn_link_dump, rtn_link_get, rtn_addr_dump, rtn_addr_get, rtn_route_dump, rtn_route_get;

#endif
