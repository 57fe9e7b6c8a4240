/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the checks of a request's attributes: lib/nlattr.c and nldev_policy of the kernel. */
#include "nldev/priv.h"

#include <string.h>

enum kind { UNSPEC, U8, U32, U64, STRING, NESTED, BINARY };

#define NAME_LEN 64 /* IB_DEVICE_NAME_MAX */
#define IF_LEN 16
#define TEXT_LEN 1  /* RDMA_NLDEV_ATTR_EMPTY_STRING */
#define TYPE_LEN 32 /* RDMA_NLDEV_ATTR_CHARDEV_TYPE_SIZE */
#define ADDR_LEN 128

#define A(name) [RDMA_NLDEV_ATTR_##name]
static const struct {
	uint8_t kind, len;
} policy[NLDEV_ATTRS] = {
	A(CHARDEV) = {U64},
	A(CHARDEV_ABI) = {U64},
	A(CHARDEV_NAME) = {STRING, TEXT_LEN},
	A(CHARDEV_TYPE) = {STRING, TYPE_LEN},
	A(DEV_DIM) = {U8},
	A(DEV_INDEX) = {U32},
	A(DEV_NAME) = {STRING, NAME_LEN},
	A(DEV_NODE_TYPE) = {U8},
	A(DEV_PROTOCOL) = {STRING, TEXT_LEN},
	A(DRIVER) = {NESTED},
	A(DRIVER_ENTRY) = {NESTED},
	A(DRIVER_PRINT_TYPE) = {U8},
	A(DRIVER_STRING) = {STRING, TEXT_LEN},
	A(DRIVER_S32) = {U32},
	A(DRIVER_S64) = {U64},
	A(DRIVER_U32) = {U32},
	A(DRIVER_U64) = {U64},
	A(FW_VERSION) = {STRING, TEXT_LEN},
	A(LID) = {U32},
	A(LINK_TYPE) = {STRING, IF_LEN},
	A(LMC) = {U8},
	A(NDEV_INDEX) = {U32},
	A(NDEV_NAME) = {STRING, IF_LEN},
	A(NODE_GUID) = {U64},
	A(PORT_INDEX) = {U32},
	A(PORT_PHYS_STATE) = {U8},
	A(PORT_STATE) = {U8},
	A(RES_CM_ID) = {NESTED},
	A(RES_CM_IDN) = {U32},
	A(RES_CM_ID_ENTRY) = {NESTED},
	A(RES_CQ) = {NESTED},
	A(RES_CQE) = {U32},
	A(RES_CQN) = {U32},
	A(RES_CQ_ENTRY) = {NESTED},
	A(RES_CTX) = {NESTED},
	A(RES_CTXN) = {U32},
	A(RES_CTX_ENTRY) = {NESTED},
	A(RES_DST_ADDR) = {UNSPEC, ADDR_LEN},
	A(RES_IOVA) = {U64},
	A(RES_KERN_NAME) = {STRING, TEXT_LEN},
	A(RES_LKEY) = {U32},
	A(RES_LOCAL_DMA_LKEY) = {U32},
	A(RES_LQPN) = {U32},
	A(RES_MR) = {NESTED},
	A(RES_MRLEN) = {U64},
	A(RES_MRN) = {U32},
	A(RES_MR_ENTRY) = {NESTED},
	A(RES_PATH_MIG_STATE) = {U8},
	A(RES_PD) = {NESTED},
	A(RES_PDN) = {U32},
	A(RES_PD_ENTRY) = {NESTED},
	A(RES_PID) = {U32},
	A(RES_POLL_CTX) = {U8},
	A(RES_PS) = {U32},
	A(RES_QP) = {NESTED},
	A(RES_QP_ENTRY) = {NESTED},
	A(RES_RAW) = {BINARY},
	A(RES_RKEY) = {U32},
	A(RES_RQPN) = {U32},
	A(RES_RQ_PSN) = {U32},
	A(RES_SQ_PSN) = {U32},
	A(RES_SRC_ADDR) = {UNSPEC, ADDR_LEN},
	A(RES_STATE) = {U8},
	A(RES_SUMMARY) = {NESTED},
	A(RES_SUMMARY_ENTRY) = {NESTED},
	A(RES_SUMMARY_ENTRY_CURR) = {U64},
	A(RES_SUMMARY_ENTRY_NAME) = {STRING, TEXT_LEN},
	A(RES_TYPE) = {U8},
	[NLDEV_RES_SUBTYPE] = {STRING, TEXT_LEN},
	A(RES_UNSAFE_GLOBAL_RKEY) = {U32},
	A(RES_USECNT) = {U64},
	A(RES_SRQ) = {NESTED},
	A(RES_SRQN) = {U32},
	A(RES_SRQ_ENTRY) = {NESTED},
	A(MIN_RANGE) = {U32},
	A(MAX_RANGE) = {U32},
	A(SM_LID) = {U32},
	A(SUBNET_PREFIX) = {U64},
	A(STAT_AUTO_MODE_MASK) = {U32},
	A(STAT_MODE) = {U32},
	A(STAT_RES) = {U32},
	A(STAT_COUNTER) = {NESTED},
	A(STAT_COUNTER_ENTRY) = {NESTED},
	A(STAT_COUNTER_ID) = {U32},
	A(STAT_HWCOUNTERS) = {NESTED},
	A(STAT_HWCOUNTER_ENTRY) = {NESTED},
	A(STAT_HWCOUNTER_ENTRY_NAME) = {STRING},
	A(STAT_HWCOUNTER_ENTRY_VALUE) = {U64},
	A(SYS_IMAGE_GUID) = {U64},
	A(UVERBS_DRIVER_ID) = {U32},
	[RDMA_NLDEV_NET_NS_FD] = {U32},
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = {U8},
	[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK] = {U8},
	A(STAT_HWCOUNTER_INDEX) = {U32},
	A(STAT_HWCOUNTER_DYNAMIC) = {U8},
	[NLDEV_SYS_PRIVILEGED_QKEY] = {U8},
	[NLDEV_DRIVER_DETAILS] = {U8},
};

static const uint8_t size_of[] = {[U8] = 1, [U32] = 4, [U64] = 8};

/* NL_SET_ERR_MSG_ATTR_POL() */
static void tell_policy(struct nl_req *q, unsigned int type)
{
	static const uint8_t types[] = {
		[U8] = NL_ATTR_TYPE_U8,         [U32] = NL_ATTR_TYPE_U32,
		[U64] = NL_ATTR_TYPE_U64,       [STRING] = NL_ATTR_TYPE_NUL_STRING,
		[NESTED] = NL_ATTR_TYPE_NESTED, [BINARY] = NL_ATTR_TYPE_BINARY,
	};
	static const uint64_t limits[] = {[U8] = UINT8_MAX, [U32] = UINT32_MAX, [U64] = UINT64_MAX};
	const unsigned int kind = policy[type].kind;

	q->ext.type = types[kind];
	q->ext.limit = kind < STRING ? limits[kind] : policy[type].len;
}

static int wrong(struct nl_req *q, const struct nlattr *a, const char *msg, int err)
{
	q->ext.msg = msg;
	q->ext.offset = (uint32_t)((const char *)a - (const char *)q->h);
	return err;
}

/* nla_validate_string() and the lengths of NLA_NUL_STRING: 0, -EINVAL without an end, -ERANGE. */
static int check_string(const char *text, size_t n, size_t len)
{
	size_t min = len && n > len + 1 ? len + 1 : n;

	if (!min || !memchr(text, '\0', min))
		return -EINVAL;
	if (len && text[n - 1] == '\0')
		n--;
	return len && n > len ? -ERANGE : 0;
}

/* validate_nla() */
static int check(struct nl_req *q, const struct nlattr *a, unsigned int type, bool strict)
{
	static const char failed[] = "Attribute failed policy validation";
	unsigned int kind = policy[type].kind, len = policy[type].len;
	size_t n = a->nla_len - sizeof(*a);
	int r = 0;

	if (strict && kind < sizeof(size_of) && size_of[kind] && n != size_of[kind])
		return wrong(q, a, "invalid attribute length", -EINVAL);
	if (strict && kind == NESTED && !(a->nla_type & NLA_F_NESTED))
		return wrong(q, a, "NLA_F_NESTED is missing", -EINVAL);
	if (strict && kind != NESTED && kind != UNSPEC && (a->nla_type & NLA_F_NESTED))
		return wrong(q, a, "NLA_F_NESTED not expected", -EINVAL);
	switch (kind) {
	case STRING:
		r = check_string((const char *)(a + 1), n, len);
		break;
	case NESTED:
		r = n && n < sizeof(*a) ? -ERANGE : 0;
		break;
	case BINARY:
		break;
	case UNSPEC:
		if (strict)
			return wrong(q, a, "Unsupported attribute", -EINVAL);
		r = n < len ? -ERANGE : 0;
		break;
	default:
		r = n < size_of[kind] ? -ERANGE : 0;
	}
	return r ? wrong(q, a, failed, r) : 0;
}

int nl_parse(struct nl_req *q, bool strict)
{
	const uint8_t *at = (const uint8_t *)q->h + NLMSG_HDRLEN;
	size_t left = q->h->nlmsg_len - NLMSG_HDRLEN;

	memset(q->tb, 0, sizeof(q->tb));
	while (left >= sizeof(struct nlattr)) {
		const struct nlattr *a = (const void *)at;
		unsigned int type = a->nla_type & NLA_TYPE_MASK;
		size_t step;
		int r;

		if (a->nla_len < sizeof(*a) || a->nla_len > left)
			break;
		step = ((size_t)a->nla_len + NLA_ALIGNTO - 1) & ~(size_t)(NLA_ALIGNTO - 1);
		if (step > left)
			step = left;
		at += step;
		left -= step;
		if (!type || type >= NLDEV_ATTRS) {
			if (strict)
				return wrong(q, a, "Unknown attribute type", -EINVAL);
			continue;
		}
		r = check(q, a, type, strict);
		if (r) {
			tell_policy(q, type);
			return r;
		}
		q->tb[type] = a;
	}
	if (!left)
		return 0;
	q->ext.msg = "bytes leftover after parsing attributes";
	q->ext.offset = 0;
	return strict ? -EINVAL : 0;
}

void nl_get_str(const struct nlattr *a, char *to, size_t room)
{
	size_t n = strnlen((const char *)(a + 1), a->nla_len - sizeof(*a));

	if (n > room - 1)
		n = room - 1;
	memcpy(to, a + 1, n);
	to[n] = '\0';
}
