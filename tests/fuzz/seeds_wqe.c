/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Seeds for the WQE target, in its input format: each kind of request on each pair of queues, with
 * a receive, valid and with one error. Usage: seeds_wqe DIR
 */
#include "fuzz.h"

#include <errno.h>
#include <sys/stat.h>

static uint8_t b[4096];
static size_t n;

#define PUT(...)                                    \
	do {                                        \
		const uint8_t v_[] = {__VA_ARGS__}; \
		memcpy(b + n, v_, sizeof(v_));      \
		n += sizeof(v_);                    \
	} while (0)

/* One entry: own key, own memory at 256 bytes, `len` bytes. */
#define SGE(len) PUT(1, 0, 0, 0x00, 0x01, (len))

enum { GOOD, NO_RECEIVE, WRONG_KEY, LONG, INLINE, KINDS };

static void request(unsigned int qp, unsigned int opcode, int kind)
{
	bool atomic = opcode == 5 || opcode == 6;

	PUT(0, (uint8_t)qp, kind == INLINE ? 64 : 0, 8, (uint8_t)opcode);
	PUT(0, 0x00, 0x02);               /* remote address */
	PUT(kind == WRONG_KEY ? 200 : 0); /* remote key */
	if (atomic)
		PUT(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	if (qp == 8)
		PUT(0);
	if (kind == INLINE)
		PUT(4, 'a', 'b', 'c', 'd');
	else
		SGE(kind == LONG ? 199 : atomic ? 8 : 64);
}

/* A UMR of `list` on `qp`, up to its body. */
static void umr(unsigned int qp, uint8_t list)
{
	PUT(0, (uint8_t)qp, 0, 8, 8, 0, 0, 0, 0, list);
}

/* A list of this end is bound to 64 bytes, used by the other end, and invalidated. */
static void windows(unsigned int qp)
{
	const uint8_t list = (uint8_t)(13 + qp % 2 + 8 * 17); /* index for a_key() */

	umr(qp, list);
	PUT(4, 8, 0xb0, 0x30, 0x77, 0, 0x00, 0x01); /* entries, shape, flags, access, tag, start */
	PUT(0x40, 0, 0, 0);                         /* length */
	PUT(0x40, 0, 0, 0x00, 0x01);                /* an entry: length, key, address */
	PUT(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	for (uint8_t opcode = 2; opcode < 5; opcode++) {
		PUT(0, (uint8_t)(qp ^ 1), 0, 8, opcode, 0, 0x00, 0x01, list);
		SGE(48);
	}
	umr(qp, list);
	PUT(0, 6, 0x98); /* a UMR that replaces the whole mkey context: it frees the key */
	PUT(0x40);
	for (int i = 0; i < 72; i++)
		PUT(0);
}

/* The key with equal parts: across both parts, up to the unmapped memory, and an atomic. */
static void parts(void)
{
	const uint8_t list = 16 + 8 * 17;

	for (uint8_t opcode = 2; opcode < 7; opcode++) {
		PUT(4, 1);
		SGE(140);
		PUT(0, 0, 0, 8, opcode, 0, 0xf0, 0x0f, list);
		if (opcode > 4)
			PUT(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
		SGE(opcode > 4 ? 8 : 150);
	}
}

/* A copy from 256 to 512 bytes, by RC and DC. */
static void copies(void)
{
	static const uint8_t of[] = {0, 10};

	for (size_t i = 0; i < sizeof(of); i++) {
		PUT(0, of[i], 0, 8, 10, 0, 0x00, 0x01, 0); /* with raddr and rkey, unused */
		PUT(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		PUT(2, 0, 0, 0x00, 0x01, 64, 0, 0, 0x00, 0x02, 64);
	}
}

/* An entry of the list of queue pair 3, for 64 bytes at 768; or its removal, or the counts. */
static void tag_command(uint8_t op, uint8_t index, uint8_t tag)
{
	PUT(0, 3, 1, 8, 0x28, 0, 0, 0, 0, op, index, 1, tag, 64, 0, 0, 0x00, 0x03, 0);
}

/* A message with a header of 16 bytes; a rendezvous also names its data: 64 bytes at 64. */
static void tagged(uint8_t op, uint8_t tag)
{
	PUT(0, 2, 64, 8, 0, 0, 0, 0, 0, (uint8_t)(op == 1 ? 32 : 20));
	PUT(op, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, tag, 'a', 'b', 'c', 'd');
	if (op == 1)
		PUT(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64);
}

static void tags(void)
{
	for (uint8_t i = 0; i < 4; i++)
		PUT(5, 0, 0, 0, 0x00, 0x01, 100);
	tag_command(1, 1, 5);
	tag_command(1 + 16, 2, 0); /* any tag */
	tag_command(1, 3, 6);
	for (uint8_t op = 0; op < 4; op++)
		tagged(op, 5);
	PUT(4, 2);
	SGE(140);
	PUT(10, 20, 255);
	tag_command(2, 2, 0);
	tag_command(8, 0, 0);
	tagged(3, 9);
	tag_command(1 + 8, 0, 9);
	tagged(3, 9);
	PUT(14, 3, 20);
}

int main(int argc, char **argv)
{
	char path[512];
	FILE *f;

	fz_check(argc == 2 && (!mkdir(argv[1], 0777) || errno == EEXIST));
	for (unsigned int qp = 0; qp < 10; qp += 2)
		for (unsigned int opcode = 0; opcode < 8; opcode++)
			for (int kind = 0; kind < KINDS; kind++) {
				n = 0;
				if (kind != NO_RECEIVE && qp == 2)
					PUT(5, 0, 0, 0, 0x00, 0x01, 100);
				else if (kind != NO_RECEIVE && qp == 8)
					PUT(5, 1, 0, 0, 0x00, 0x01, 100);
				else if (kind != NO_RECEIVE) {
					PUT(4, (uint8_t)(qp + 1));
					SGE(140);
				}
				PUT(11, (uint8_t)qp, 0, 0, 0, 0);
				request(qp, opcode, kind);
				PUT(10, 20, 255, 10, 27, 255, 14, (uint8_t)qp, 4);
				snprintf(path, sizeof(path), "%s/%u-%u-%d", argv[1], qp, opcode,
					 kind);
				f = fopen(path, "w");
				fz_check(f && fwrite(b, 1, n, f) == n);
				fclose(f);
			}
	for (unsigned int qp = 0; qp < 8; qp++) {
		n = 0;
		if (qp < 5)
			windows(qp);
		else if (qp == 5)
			parts();
		else if (qp == 6)
			copies();
		else
			tags();
		snprintf(path, sizeof(path), "%s/list-%u", argv[1], qp);
		f = fopen(path, "w");
		fz_check(f && fwrite(b, 1, n, f) == n);
		fclose(f);
	}
	return 0;
}
