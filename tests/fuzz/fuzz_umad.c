/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad: registrations, write() of any bytes, read() of any length. Results follow the rules, no
 * lock is left, and everything is freed with the files.
 */
#include "hw/port.h"
#include "umad_world.h"

#define CALLS 40
#define ROOM 2048

static const uint8_t classes[] = {0x01, 0x81, 0x03, 0x04, 0x06, 0x0a, 0x07, 0x30};

static void do_register(struct fu_world *w, unsigned int n, struct fz *f)
{
	uint8_t how = fz_u8(f);
	struct ib_user_mad_reg_req2 q = {
		.mgmt_class = how & 0x80 ? fz_u8(f) : classes[how % 8],
		.mgmt_class_version = how & 0x40 ? fz_u8(f) : 1,
		.rmpp_version = how >> 5 & 1,
		.flags = how >> 4 & 1,
		.oui = how & 8 ? fz_u32(f) : 0x1234,
	};

	q.qpn = how & 0x80 ? fz_u8(f) : !(q.mgmt_class == 1 || q.mgmt_class == 0x81);
	for (size_t i = 0; i < sizeof(q.method_mask) / sizeof(q.method_mask[0]); i++)
		/* a mask of Get, Set, GetTable */
		q.method_mask[i] = how & 8 ? fz_u64(f) : i ? 0 : 0x40006;
	fu_register(w, n, &q);
}

/* Plausible fields, then random bytes over them. */
static void do_write(struct fu_world *w, unsigned int n, struct fz *f)
{
	static uint8_t buf[sizeof(struct ib_user_mad_hdr) + ROOM];
	struct ib_user_mad_hdr *h = (struct ib_user_mad_hdr *)buf;
	uint8_t *mad = buf + sizeof(*h), how = fz_u8(f);
	size_t len = how & 1 ? fz_u16(f) % ROOM : MAD_SIZE;

	memset(buf, 0, sizeof(buf));
	h->id = fz_u8(f) % 4;
	h->timeout_ms = how & 2 ? 60000 : 0;
	h->retries = how >> 2 & 1;
	be16_store(&h->lid, (uint16_t)hw_port(&w->s, w->port[how >> 3 & 1])->lid);
	mad[0] = 1;
	mad[1] = classes[fz_u8(f) % 8];
	mad[2] = 1;
	be32_store(&h->qpn, mad[1] != 1 && mad[1] != 0x81);
	mad[3] = fz_u8(f);
	mad[15] = fz_u8(f) % 4;
	mad[17] = fz_u8(f);
	mad[24] = 1;
	mad[25] = how >> 4 & 3;
	mad[26] = how >> 6 & 1;
	mad[38] = 0x12;
	mad[39] = 0x34;
	for (uint8_t k = fz_u8(f) % 16; k; k--) {
		size_t at = fz_u16(f) % (sizeof(*h) + len);

		buf[at] = fz_u8(f);
	}
	if (how & 0x80)
		fz_bytes(f, mad + 24, len < 24 ? 0 : len - 24 < 64 ? len - 24 : 64);
	fu_write(w, n, buf, sizeof(*h) + len);
}

static void do_read(struct fu_world *w, unsigned int n, struct fz *f)
{
	static uint8_t buf[1 << 16];

	fu_read(w, n, buf, fz_u8(f) & 1 ? fz_u16(f) : sizeof(buf));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fu_world *w = fu_begin();
	struct fz f = {data, size};
	uint32_t id;

	fu_open(w, 0, 0);
	fu_open(w, 1, 1);
	fz_cover_from_here();
	for (int i = 0; i < CALLS && f.n; i++) {
		uint8_t op = fz_u8(&f);
		unsigned int n = op >> 4 & 3;

		switch (op & 7) {
		case 0:
			fu_open(w, n, op >> 7);
			break;
		case 1:
			fu_close(w, n);
			break;
		case 2:
			do_register(w, n, &f);
			break;
		case 3:
			id = fz_u8(&f) % 34;
			if (w->file[n].s)
				umad_ioctl(&w->file[n], IB_USER_MAD_UNREGISTER_AGENT, &id);
			break;
		case 4:
			if (w->file[n].s)
				umad_ioctl(&w->file[n], IB_USER_MAD_ENABLE_PKEY, NULL);
			break;
		case 5:
			do_read(w, n, &f);
			break;
		case 6:
			fu_time_passes(w, fz_u8(&f));
			break;
		default:
			do_write(w, n, &f);
		}
	}
	fu_end();
	return 0;
}
