/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns statistics: the counters of ports that sysfs has in hw_counters, too. Counters of single QPs
 * are refused, as with an adapter that has none (counters.c: no port_counter.hstats).
 */
#include "nldev/priv.h"

#include "fabric/fabric.h"

#define MODE_NONE 0 /* RDMA_COUNTER_MODE_NONE */
#define MODE_AUTO 1 /* RDMA_COUNTER_MODE_AUTO */

static void begin(struct nl_req *q, struct nl_out *o, uint16_t op, uint32_t hca, uint32_t port)
{
	nl_begin(o, &q->d->to, q->h, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op), 0);
	nl_handle(q, o, hca);
	nl_u32(o, RDMA_NLDEV_ATTR_PORT_INDEX, port);
}

/* The adapter and port that a request must name. */
static int target(struct nl_req *q, uint32_t *hca, uint32_t *port)
{
	*hca = nl_hca(q);
	return *hca == SEG_NONE || nl_port(q, *hca, port) || !*port ? -EINVAL : 0;
}

/* stat_get_doit_default_counter(); `index`: nldev_stat_get_counter_status_doit() */
static int put_counters(struct nl_req *q, struct nl_out *o, uint32_t hca, uint32_t port, bool index)
{
	uint32_t table = nl_open(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED);
	struct fab_hw_counter c;

	for (uint32_t i = 0; fab_hw_counter(q->d->s, hw_hca(q->d->s, hca)->port[port - 1], i, &c);
	     i++) {
		uint32_t entry = nl_open(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED);

		nl_str(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, c.name);
		if (index)
			nl_u32(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, i);
		else
			nl_u64(o, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, c.value);
		nl_close(o, entry);
	}
	nl_close(o, table);
	return 0;
}

/* stat_get_doit_qp() */
static int get_mode(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca, port;

	if (q->tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID])
		return nl_res_one(q, o, NL_COUNTER);
	if (!q->tb[RDMA_NLDEV_ATTR_STAT_MODE] || target(q, &hca, &port))
		return -EINVAL;
	begin(q, o, RDMA_NLDEV_CMD_STAT_GET, hca, port);
	nl_u32(o, RDMA_NLDEV_ATTR_STAT_MODE, MODE_NONE);
	return 0;
}

int nl_stat_get(struct nl_req *q, struct nl_out *o)
{
	const struct nlattr *res = q->tb[RDMA_NLDEV_ATTR_STAT_RES];
	uint32_t hca, port;

	if (res && nl_get_u32(res) == RDMA_NLDEV_ATTR_RES_QP)
		return get_mode(q, o);
	if (res && nl_get_u32(res) == RDMA_NLDEV_ATTR_RES_MR)
		return nl_res_one(q, o, NL_MR_STAT);
	if (res || target(q, &hca, &port))
		return -EINVAL;
	begin(q, o, RDMA_NLDEV_CMD_STAT_GET, hca, port);
	return put_counters(q, o, hca, port, false);
}

int nl_stat_get_all(struct nl_req *q, struct nl_dump *p)
{
	const struct nlattr *res = q->tb[RDMA_NLDEV_ATTR_STAT_RES];

	if (res && nl_get_u32(res) == RDMA_NLDEV_ATTR_RES_QP)
		return nl_res_all(q, p, NL_COUNTER);
	if (res && nl_get_u32(res) == RDMA_NLDEV_ATTR_RES_MR)
		return nl_res_all(q, p, NL_MR_STAT);
	return -EINVAL;
}

int nl_stat_status(struct nl_req *q, struct nl_out *o)
{
	uint32_t hca, port;

	if (target(q, &hca, &port))
		return -EINVAL;
	begin(q, o, RDMA_NLDEV_CMD_STAT_GET_STATUS, hca, port);
	return put_counters(q, o, hca, port, true);
}

/* nldev_stat_set_doit() */
int nl_stat_set(struct nl_req *q, struct nl_out *o)
{
	const struct nlattr *mode = q->tb[RDMA_NLDEV_ATTR_STAT_MODE];
	const struct nlattr *res = q->tb[RDMA_NLDEV_ATTR_STAT_RES];
	uint32_t hca, port;

	if (target(q, &hca, &port) || (!mode && !q->tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]))
		return -EINVAL;
	if (!mode) {
		const struct nlattr *list = q->tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS];

		if (list->nla_len > sizeof(*list))
			return -EINVAL; /* no counter is optional */
		begin(q, o, RDMA_NLDEV_CMD_STAT_SET, hca, port);
		return 0;
	}
	if (!res || nl_get_u32(res) != RDMA_NLDEV_ATTR_RES_QP ||
	    (nl_get_u32(mode) != MODE_AUTO && !q->tb[RDMA_NLDEV_ATTR_RES_LQPN]))
		return -EINVAL;
	return -EOPNOTSUPP;
}

/* nldev_stat_del_doit() */
int nl_stat_del(struct nl_req *q, struct nl_out *o)
{
	const struct nlattr *res = q->tb[RDMA_NLDEV_ATTR_STAT_RES];
	uint32_t hca, port;

	if (!res || nl_get_u32(res) != RDMA_NLDEV_ATTR_RES_QP ||
	    !q->tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] || !q->tb[RDMA_NLDEV_ATTR_RES_LQPN] ||
	    target(q, &hca, &port))
		return -EINVAL;
	return -EOPNOTSUPP;
}
