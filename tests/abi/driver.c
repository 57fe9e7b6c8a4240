/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows on a kernel whose driver is rxe (drivers/infiniband/sw/rxe): which rows no driver
 * decides, and those rows with rxe's data in place of mlx5's.
 */
#include "abi.h"

#include <string.h>

/* Room for the longest answer of rxe (struct rxe_create_qp_resp), behind the core's answers. */
enum { ROOM = 64, NO_GID = 200 };
#define ROOM_AT (OUT + 512)
#define DRIVER_NS (1u << UVERBS_ID_NS_SHIFT)
#define BIT(n) (UINT64_C(1) << (n))

static bool rxe;

void driver_use_rxe(void)
{
	rxe = true;
}

bool driver_is_rxe(void)
{
	return rxe;
}

/* ---- which rows no driver decides */

/* The row's rule is one of the driver's files or functions. */
static bool is_rule_of_driver(const char *rule)
{
	return !strncmp(rule, "mlx5", 4);
}

/* Objects and commands for which rxe has no operations: all is refused before it is looked at. */
static bool rxe_lacks_object(uint16_t object)
{
	return object >= DRIVER_NS || object == UVERBS_OBJECT_XRCD || object == UVERBS_OBJECT_WQ ||
	       object == UVERBS_OBJECT_RWQ_IND_TBL || object == UVERBS_OBJECT_FLOW ||
	       object == UVERBS_OBJECT_FLOW_ACTION || object == UVERBS_OBJECT_DM ||
	       object == UVERBS_OBJECT_COUNTERS;
}

static bool rxe_lacks_command(uint64_t cmd)
{
	static const uint64_t plain =
		BIT(IB_USER_VERBS_CMD_REREG_MR) | BIT(IB_USER_VERBS_CMD_OPEN_XRCD) |
		BIT(IB_USER_VERBS_CMD_CLOSE_XRCD) | BIT(IB_USER_VERBS_CMD_OPEN_QP);
	static const uint64_t extended =
		BIT(IB_USER_VERBS_EX_CMD_CREATE_FLOW) | BIT(IB_USER_VERBS_EX_CMD_DESTROY_FLOW) |
		BIT(IB_USER_VERBS_EX_CMD_CREATE_WQ) | BIT(IB_USER_VERBS_EX_CMD_MODIFY_WQ) |
		BIT(IB_USER_VERBS_EX_CMD_DESTROY_WQ) |
		BIT(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL) |
		BIT(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL) | BIT(IB_USER_VERBS_EX_CMD_MODIFY_CQ);
	const uint64_t nr = cmd & IB_USER_VERBS_CMD_COMMAND_MASK;

	if (cmd & ~(uint64_t)(IB_USER_VERBS_CMD_COMMAND_MASK | IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return false;
	return nr < 64 && (cmd & IB_USER_VERBS_CMD_FLAG_EXTENDED ? extended : plain) & BIT(nr);
}

static bool is_invoke(const struct ioctl_row *r)
{
	return r->object == UVERBS_OBJECT_DEVICE && r->method == UVERBS_METHOD_INVOKE_WRITE;
}

bool driver_decides_ioctl(const struct ioctl_row *r)
{
	if (r->driver || is_rule_of_driver(r->rule) || rxe_lacks_object(r->object) ||
	    r->method >= DRIVER_NS ||
	    (r->object == UVERBS_OBJECT_DEVICE && r->method == UVERBS_METHOD_QUERY_CONTEXT))
		return true;
	for (unsigned int i = 0; i < NATTRS; i++) {
		const struct attr *a = &r->attr[i];

		if (a->id >= DRIVER_NS && a->id != UVERBS_ATTR_UHW_IN &&
		    a->id != UVERBS_ATTR_UHW_OUT)
			return true;
		if (is_invoke(r) && a->id == UVERBS_ATTR_WRITE_CMD && rxe_lacks_command(a->data))
			return true;
	}
	return false;
}

bool driver_decides_write(const struct write_row *r)
{
	return r->driver || is_rule_of_driver(r->rule) || rxe_lacks_command(r->words[0]);
}

/* ---- addresses: indexes in the table of GIDs, and IPv4 addresses */

/*
 * rxe has no RoCE v1. Its table is: link-local, IPv4, IPv6; mlx5's has the same twice, first as v1.
 * The interface of tests/oracle/guest is 10.77.0.1; that of softhca, 127.1.0.1.
 */
static void translate(uint8_t dgid[16], uint8_t *index)
{
	static const uint8_t ours[] = {[10] = 0xff, 0xff, 127, 1}, theirs[] = {10, 77};

	*index = *index < 4 ? *index / 2 : NO_GID;
	if (!memcmp(dgid, ours, sizeof(ours)))
		memcpy(dgid + 12, theirs, sizeof(theirs));
}

static void translate_addresses(struct ioctl_row *r, uint64_t cmd)
{
	static union {
		struct ib_uverbs_create_ah ah;
		struct ib_uverbs_modify_qp qp;
	} core;

	for (unsigned int i = 0; i < NATTRS; i++) {
		struct attr *a = &r->attr[i];

		if (a->id != UVERBS_ATTR_CORE_IN || !a->in)
			continue;
		memcpy(&core, a->in, a->len < sizeof(core) ? a->len : sizeof(core));
		if (cmd == IB_USER_VERBS_CMD_CREATE_AH && a->len == sizeof(core.ah))
			translate(core.ah.attr.grh.dgid, &core.ah.attr.grh.sgid_index);
		else if (cmd == IB_USER_VERBS_CMD_MODIFY_QP && a->len == sizeof(core.qp))
			translate(core.qp.dest.dgid, &core.qp.dest.sgid_index);
		else
			continue;
		a->in = &core;
	}
}

/* ---- rows with rxe's data */

/* struct rxe_modify_srq_cmd: the address of struct mminfo. */
static const uint64_t srq_map[2] = {ROOM_AT};

void driver_ioctl(struct ioctl_row *r)
{
	unsigned int n = 0;
	uint64_t cmd = UINT64_MAX;

	if (!r->driver_id)
		r->driver_id = RDMA_DRIVER_RXE;
	for (; n < NATTRS && (n < r->nattr || r->attr[n].id || r->attr[n].len || r->attr[n].data);
	     n++) {
		struct attr *a = &r->attr[n];

		if (is_invoke(r) && a->id == UVERBS_ATTR_WRITE_CMD)
			cmd = a->data;
		if (a->id == UVERBS_ATTR_UHW_IN && a->in)
			*a = (struct attr){.id = UVERBS_ATTR_UHW_IN, .optional = a->optional};
		else if (a->id == UVERBS_ATTR_UHW_OUT && a->len && a->data >= OUT &&
			 a->data < OUT_END)
			*a = (struct attr){.id = UVERBS_ATTR_UHW_OUT, .len = ROOM, .data = ROOM_AT};
	}
	translate_addresses(r, cmd);
	if (cmd != IB_USER_VERBS_CMD_MODIFY_SRQ)
		return;
	r->attr[n] = (struct attr){.id = UVERBS_ATTR_UHW_IN, .len = sizeof(srq_map), .in = srq_map};
	r->nattr = n + 1;
}

/* Commands with driver data: words of the core's request, with the headers, and of its answer. */
static const struct core {
	uint32_t cmd;
	uint16_t in, out;
	bool takes_room; /* rxe answers, too */
} cores[] = {
	{IB_USER_VERBS_CMD_GET_CONTEXT, 4, 2, false},
	{IB_USER_VERBS_CMD_ALLOC_PD, 4, 1, false},
	{IB_USER_VERBS_CMD_CREATE_CQ, 10, 2, true},
	{IB_USER_VERBS_CMD_RESIZE_CQ, 6, 2, true},
	{IB_USER_VERBS_CMD_CREATE_AH, UINT16_MAX, 1, false},
	{IB_USER_VERBS_CMD_CREATE_QP, 16, 8, true},
	{IB_USER_VERBS_CMD_CREATE_SRQ, 10, 4, true},
	{IB_USER_VERBS_CMD_CREATE_XSRQ, 14, 4, true},
};

/* Extended commands count their own words and the driver's apart, in quadwords. */
static void extended(struct write_row *r)
{
	const uint32_t nr = r->words[0] & IB_USER_VERBS_CMD_COMMAND_MASK;
	const unsigned int own = 6 + 2 * (r->words[1] & 0xffff);

	if ((nr != IB_USER_VERBS_EX_CMD_CREATE_CQ && nr != IB_USER_VERBS_EX_CMD_CREATE_QP) ||
	    own > r->nwords)
		return;
	r->nwords = own;
	r->words[4] = (ROOM / 8) << 16;
}

void driver_write(struct write_row *r)
{
	if (r->count || r->at || r->nwords < 4 || (r->words[1] & 0xffff) != r->nwords) {
		if (!r->count && !r->at && r->nwords >= 6 &&
		    r->words[0] & IB_USER_VERBS_CMD_FLAG_EXTENDED)
			extended(r);
		return;
	}
	if (r->words[0] == IB_USER_VERBS_CMD_MODIFY_SRQ) {
		r->words[r->nwords++] = (uint32_t)ROOM_AT;
		r->words[r->nwords++] = (uint32_t)(ROOM_AT >> 32);
		r->words[1] += 2;
	}
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
		const struct core *c = &cores[i];

		if (r->words[0] != c->cmd || r->nwords <= c->in)
			continue;
		r->nwords = c->in;
		r->words[1] = c->in | (uint32_t)(c->takes_room ? c->out + ROOM / 4 : c->out) << 16;
	}
}

unsigned int driver_core_answer(const struct write_row *r)
{
	const uint32_t ex = IB_USER_VERBS_CMD_FLAG_EXTENDED;

	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		if (r->words[0] == cores[i].cmd)
			return cores[i].out;
	return r->words[0] & ex ? 2 * (r->words[1] >> 16) : r->words[1] >> 16;
}
