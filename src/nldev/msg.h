/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The form of netlink answers: messages, attributes, acknowledgements. */
#ifndef SOFTHCA_NLDEV_MSG_H
#define SOFTHCA_NLDEV_MSG_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest datagram of an answer, apart from an error's copy of its request: NLMSG_GOODSIZE. */
#define NLDEV_DATAGRAM 3776u

/* The socket that asks: its name and options, and where answers go. */
struct nl_peer {
	uint32_t portid;
	bool ext_ack, cap_ack;
	/* One datagram for the program. 0 or -errno, which ends a dump. */
	int (*answer)(void *arg, const void *data, size_t n);
	void *arg;
};

/* A datagram in preparation. An attribute without room is left out, and `full` says so. */
struct nl_out {
	_Alignas(NLMSG_ALIGNTO) uint8_t data[NLDEV_DATAGRAM];
	uint32_t n;   /* bytes in use */
	uint32_t msg; /* where the present message starts */
	bool full;
};

void nl_begin(struct nl_out *o, const struct nl_peer *to, const struct nlmsghdr *h, uint16_t type,
	      uint16_t flags);
void nl_end(struct nl_out *o);
/* The header of a family's messages. */
void nl_head(struct nl_out *o, const void *head, size_t n);
void nl_put(struct nl_out *o, uint16_t type, const void *value, size_t n);
void nl_u8(struct nl_out *o, uint16_t type, uint8_t v);
void nl_u16(struct nl_out *o, uint16_t type, uint16_t v);
void nl_u32(struct nl_out *o, uint16_t type, uint32_t v);
void nl_u64(struct nl_out *o, uint16_t type, uint64_t v);
void nl_str(struct nl_out *o, uint16_t type, const char *v);
/* An attribute around those that follow, until nl_close() of the returned place. */
uint32_t nl_open(struct nl_out *o, uint16_t type);
void nl_close(struct nl_out *o, uint32_t place);

/* The content of an extended ACK beside the errno. */
struct nl_ext {
	const char *msg;
	uint32_t offset; /* of the wrong attribute in the request; 0: none */
	/* The policy of that attribute: enum netlink_attribute_type or 0, and the greatest value
	 * or length. */
	uint8_t type;
	uint64_t limit;
};
/* Answers a request by NLMSG_ERROR: `err` is 0 or -errno. */
void nl_ack(const struct nl_peer *to, const struct nlmsghdr *h, int err, const struct nl_ext *ext);

#endif
