/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the form of messages and attributes in answers. */
#include "nldev/priv.h"

#include <string.h>

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

void nl_begin(struct nl_out *o, const struct nldev *d, const struct nlmsghdr *to, uint16_t type,
	      uint16_t flags)
{
	const struct nlmsghdr h = {.nlmsg_type = type,
				   .nlmsg_flags = flags,
				   .nlmsg_seq = to->nlmsg_seq,
				   .nlmsg_pid = d->portid};
	uint8_t *at;

	o->msg = o->n;
	at = room(o, sizeof(h));
	if (at)
		memcpy(at, &h, sizeof(h));
}

void nl_end(struct nl_out *o)
{
	if (!o->full)
		((struct nlmsghdr *)(void *)(o->data + o->msg))->nlmsg_len = o->n - o->msg;
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
