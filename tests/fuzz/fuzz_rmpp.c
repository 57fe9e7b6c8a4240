/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RMPP: segments, ACKs, STOPs and ABORTs with any content in any order, from a peer that makes them
 * by hand, to agents with RMPP in the kernel's role that also send messages. Checks the rules of
 * umad, and that a message has the bytes of its segments in order.
 */
#include "hw/port.h"
#include "umad_world.h"

#define STEPS 120
#define CLASS 0x30
#define OFF 40u
#define SIZE (MAD_SIZE - OFF)
#define GET_TABLE 0x12
#define ROOM (150u * SIZE)

enum { KERNEL, SERVER, BY_HAND, FILES }; /* files */

static void agent(struct fu_world *w, unsigned int n, bool user, uint64_t methods)
{
	struct ib_user_mad_reg_req2 q = {.qpn = 1,
					 .mgmt_class = CLASS,
					 .mgmt_class_version = 1,
					 .oui = 0x1234,
					 .rmpp_version = 1,
					 .flags = user ? IB_USER_MAD_USER_RMPP : 0,
					 .method_mask = {methods}};

	fz_check(!fu_register(w, n, &q));
}

/* Data byte `at` of any message. */
static uint8_t byte(size_t at)
{
	return (uint8_t)(at * 11 + at / 256);
}

static void start(const struct fu_world *w, uint8_t *buf, unsigned int port, uint8_t method,
		  uint8_t tid)
{
	struct ib_user_mad_hdr *h = (struct ib_user_mad_hdr *)buf;
	uint8_t *mad = buf + sizeof(*h);

	memset(buf, 0, sizeof(*h) + OFF);
	be16_store(&h->lid, (uint16_t)hw_port(&w->s, w->port[port])->lid);
	be32_store(&h->qpn, 1);
	mad[0] = 1;
	mad[1] = CLASS;
	mad[2] = 1;
	mad[3] = method;
	mad[15] = tid;
	mad[24] = 1;
	mad[26] = MAD_RMPP_ACTIVE;
	mad[38] = 0x12;
	mad[39] = 0x34;
}

/* Make one MAD by hand. The high half of the transaction ID tells the requester. */
static void by_hand(struct fu_world *w, struct fz *f, const uint8_t *last)
{
	uint8_t buf[sizeof(struct ib_user_mad_hdr) + MAD_SIZE];
	uint8_t *mad = buf + sizeof(struct ib_user_mad_hdr), how = fz_u8(f);
	uint32_t seg = how & 0x80 ? fz_u32(f) : fz_u8(f);

	start(w, buf, how & 1, how & 2 ? GET_TABLE | 0x80 : GET_TABLE, how >> 2 & 1);
	memcpy(mad + 8, last + 8, 4);
	mad[25] = how & 0x40 ? fz_u8(f) : (how >> 3 & 1) + 1;
	if (mad[25] == MAD_RMPP_TYPE_DATA)
		mad[26] |= (seg == 1) << 1 | (how >> 4 & 1) << 2;
	if (how & 0x20) {
		mad[26] = fz_u8(f);
		mad[27] = fz_u8(f);
		mad[24] = 1 + fz_u8(f) % 8 / 7;
	}
	be32_store(mad + 28, seg);
	be32_store(mad + 32, how & 0x20 ? fz_u32(f) : fz_u8(f));
	for (uint32_t i = 0; i < SIZE; i++)
		mad[OFF + i] = byte((size_t)(seg - 1) * SIZE + i);
	fu_write(w, BY_HAND, buf, sizeof(buf));
}

static void message(struct fu_world *w, unsigned int n, struct fz *f)
{
	static uint8_t buf[sizeof(struct ib_user_mad_hdr) + OFF + ROOM];
	uint8_t how = fz_u8(f);
	size_t len = fz_u16(f) % ROOM;

	start(w, buf, how & 1, how & 2 ? GET_TABLE | 0x80 : GET_TABLE, how >> 2 & 1);
	((struct ib_user_mad_hdr *)buf)->timeout_ms = how & 8 ? 60000 : 0;
	((struct ib_user_mad_hdr *)buf)->retries = how >> 4 & 3;
	for (size_t i = 0; i < len; i++)
		buf[sizeof(struct ib_user_mad_hdr) + OFF + i] = byte(i);
	fu_write(w, n, buf, sizeof(struct ib_user_mad_hdr) + OFF + len);
}

static void read_one(struct fu_world *w, unsigned int n, struct fz *f, uint8_t *last)
{
	static uint8_t buf[1 << 18];
	const uint8_t *mad = buf + sizeof(struct ib_user_mad_hdr);
	ssize_t r = fu_read(w, n, buf, fz_u8(f) ? sizeof(buf) : fz_u16(f));
	size_t len = r < 0 ? 0 : (size_t)r - sizeof(struct ib_user_mad_hdr);

	if (len < MAD_SIZE)
		return;
	memcpy(last, mad, 24);
	if (n != BY_HAND && (mad[26] & MAD_RMPP_ACTIVE))
		for (size_t i = OFF; i < len; i++)
			fz_check(mad[i] == byte(i - OFF));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fu_world *w = fu_begin();
	struct fz f = {data, size};
	uint8_t last[24] = {0};

	for (unsigned int n = 0; n < FILES; n++)
		fu_open(w, n, n != KERNEL);
	agent(w, KERNEL, false, 0);
	agent(w, SERVER, false, 0);
	agent(w, BY_HAND, true, 1 << GET_TABLE);
	fu_open(w, FILES, 0);
	agent(w, FILES, false, 1 << GET_TABLE); /* the server at the first port */
	fz_cover_from_here();
	for (int i = 0; i < STEPS && f.n; i++) {
		uint8_t op = fz_u8(&f);

		switch (op & 7) {
		case 0:
			message(w, op >> 3 & 1 ? KERNEL : FILES, &f);
			break;
		case 1:
			read_one(w, op >> 3 & 3, &f, last);
			break;
		case 2:
			fu_time_passes(w, fz_u8(&f));
			break;
		case 3:
			if (op >> 3 == 31) {
				fu_open(w, FILES, 0);
				agent(w, FILES, false, 1 << GET_TABLE);
			}
			break;
		default:
			by_hand(w, &f, last);
		}
	}
	fu_end();
	return 0;
}
