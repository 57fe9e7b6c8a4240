/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the form of messages and attributes in answers. */
#include "nldev/msg.h"

#include <string.h>
#include "util/heap.h"

static uint8_t *room(struct nl_out *o, size_t n)
{
	uint8_t *at = o->data + o->n;
	size_t whole = (n + NLA_ALIGNTO - 1) & ~(size_t)(NLA_ALIGNTO - 1);

	if (o->full || whole > sizeof(o->data) - o->n) {
		o->full = true;
		return NULL;
	}
	memset(at, 0, whole);
	o->n += (uint32_t)whole;
	return at;
}

void nl_begin(struct nl_out *o, const struct nl_peer *to, const struct nlmsghdr *h, uint16_t type,
	      uint16_t flags)
{
	const struct nlmsghdr head = {.nlmsg_type = type,
				      .nlmsg_flags = flags,
				      .nlmsg_seq = h->nlmsg_seq,
				      .nlmsg_pid = to->portid};
	uint8_t *at;

	o->msg = o->n;
	at = room(o, sizeof(head));
	if (at)
		memcpy(at, &head, sizeof(head));
}

void nl_end(struct nl_out *o)
{
	if (!o->full)
		((struct nlmsghdr *)(void *)(o->data + o->msg))->nlmsg_len = o->n - o->msg;
}

void nl_head(struct nl_out *o, const void *head, size_t n)
{
	uint8_t *at = room(o, n);

	if (at)
		memcpy(at, head, n);
}

void nl_put(struct nl_out *o, uint16_t type, const void *value, size_t n)
{
	const struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};
	uint8_t *at = n > UINT16_MAX - sizeof(a) ? NULL : room(o, sizeof(a) + n);

	if (!at)
		return;
	memcpy(at, &a, sizeof(a));
	if (n)
		memcpy(at + sizeof(a), value, n);
}

void nl_u8(struct nl_out *o, uint16_t type, uint8_t v)
{
	nl_put(o, type, &v, sizeof(v));
}

void nl_u16(struct nl_out *o, uint16_t type, uint16_t v)
{
	nl_put(o, type, &v, sizeof(v));
}

void nl_u32(struct nl_out *o, uint16_t type, uint32_t v)
{
	nl_put(o, type, &v, sizeof(v));
}

void nl_u64(struct nl_out *o, uint16_t type, uint64_t v)
{
	nl_put(o, type, &v, sizeof(v));
}

void nl_str(struct nl_out *o, uint16_t type, const char *v)
{
	nl_put(o, type, v, strlen(v) + 1);
}

uint32_t nl_open(struct nl_out *o, uint16_t type)
{
	uint32_t place = o->n;

	nl_put(o, type, NULL, 0);
	return place;
}

void nl_close(struct nl_out *o, uint32_t place)
{
	if (!o->full)
		((struct nlattr *)(void *)(o->data + place))->nla_len = (uint16_t)(o->n - place);
}

/* ---- acknowledgements */

/* Room for a policy: its nest, two numbers of 8 bytes, the type. */
enum { POLICY = 4 + 2 * 12 + 8 };

static uint8_t *add_attr(uint8_t *at, uint16_t type, const void *v, size_t n)
{
	const struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};

	memcpy(at, &a, sizeof(a));
	memcpy(at + sizeof(a), v, n);
	return at + NLA_ALIGN(sizeof(a) + n);
}

/* __netlink_policy_dump_write_attr(), for the types that nldev_policy has. */
static uint8_t *add_policy(uint8_t *at, const struct nl_ext *ext)
{
	uint8_t *outer = at;
	const uint32_t type = ext->type, length = (uint32_t)ext->limit;
	struct nlattr head = {.nla_type = NLMSGERR_ATTR_POLICY | NLA_F_NESTED};

	at += sizeof(head);
	if (type >= NL_ATTR_TYPE_U8 && type <= NL_ATTR_TYPE_U64) {
		at = add_attr(at, NL_POLICY_TYPE_ATTR_MIN_VALUE_U, &(uint64_t){0},
			      sizeof(uint64_t));
		at = add_attr(at, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, &ext->limit, sizeof(ext->limit));
	} else if (length) {
		at = add_attr(at, NL_POLICY_TYPE_ATTR_MAX_LENGTH, &length, sizeof(length));
	}
	at = add_attr(at, NL_POLICY_TYPE_ATTR_TYPE, &type, sizeof(type));
	head.nla_len = (uint16_t)(at - outer);
	memcpy(outer, &head, sizeof(head));
	return at;
}

/* netlink_ack() */
void nl_ack(const struct nl_peer *to, const struct nlmsghdr *h, int err, const struct nl_ext *ext)
{
	bool copy = err && !to->cap_ack, tlvs = to->ext_ack && ext->msg;
	size_t len =
		NLMSG_HDRLEN + sizeof(struct nlmsgerr) + (copy ? h->nlmsg_len - NLMSG_HDRLEN : 0);
	size_t text = tlvs ? strlen(ext->msg) + 1 : 0;
	uint8_t *buf = heap_zalloc(NLMSG_ALIGN(len) + text + 4 * sizeof(struct nlattr) + POLICY),
		*at;
	struct nlmsghdr *head = (void *)buf;
	struct nlmsgerr e = {.error = err, .msg = *h};

	if (!buf)
		return;
	head->nlmsg_type = NLMSG_ERROR;
	head->nlmsg_flags = (copy ? 0 : NLM_F_CAPPED) | (tlvs ? NLM_F_ACK_TLVS : 0);
	head->nlmsg_seq = h->nlmsg_seq;
	head->nlmsg_pid = to->portid;
	memcpy(buf + NLMSG_HDRLEN, &e, sizeof(e));
	if (copy)
		memcpy(buf + NLMSG_HDRLEN + offsetof(struct nlmsgerr, msg), h, h->nlmsg_len);
	at = buf + len;
	if (tlvs) {
		at = buf + NLMSG_ALIGN(len);
		at = add_attr(at, NLMSGERR_ATTR_MSG, ext->msg, text);
		if (err && ext->offset)
			at = add_attr(at, NLMSGERR_ATTR_OFFS, &ext->offset, sizeof(ext->offset));
		if (err && ext->type)
			at = add_policy(at, ext);
	}
	head->nlmsg_len = (uint32_t)(at - buf);
	to->answer(to->arg, buf, head->nlmsg_len);
	heap_free(buf);
}
