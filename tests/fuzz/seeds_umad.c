/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Seeds for fuzz_umad, fuzz_rmpp and fuzz_ucma: typical calls, in the targets' input format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct seed {
	const char *name;
	size_t len;
	unsigned char bytes[64];
};
#define SEED(name, ...)                                       \
	{                                                     \
		name, sizeof((unsigned char[]){__VA_ARGS__}), \
		{                                             \
			__VA_ARGS__                           \
		}                                             \
	}

/* Steps: 2 register (how), 7 write (how, id, class, method, tid, attribute, patches), 5 read. */
static const struct seed umad[] = {
	SEED("node-info", 0x02, 0x00, 0x07, 0x02, 0, 0, 1, 1, 0x11, 0, 0x05, 0),
	SEED("directed", 0x02, 0x01, 0x07, 0x02, 0, 1, 1, 1, 0x11, 0, 0x05, 0),
	SEED("counters", 0x02, 0x03, 0x07, 0x0a, 0, 3, 1, 1, 0x12, 0, 0x05, 0),
	SEED("rmpp", 0x02, 0x27, 0x12, 0x27, 0x07, 0x5b, 0, 7, 0x12, 1, 0x12, 0, 0x00, 0x04, 0x15,
	     0),
	SEED("time-out", 0x02, 0x03, 0x07, 0x06, 0, 3, 1, 1, 0x12, 1, 0x0c, 0, 0xee, 0x06, 0xff,
	     0x06, 0xff, 0x05, 0),
};

/*
 * Steps, named by the low 3 bits of their first byte: 4 sends a packet made by hand (how, segment,
 * length or window), 0 sends a message (how, u16 length), 1 reads, 2 lets time pass.
 */
static const struct seed rmpp[] = {
	SEED("receive", 0x04, 0x00, 1, 0, 0x04, 0x00, 2, 0, 0x04, 0x10, 3, 200, 0x11, 1, 0x19, 1),
	SEED("early", 0x04, 0x00, 1, 0, 0x04, 0x00, 3, 0, 0x04, 0x10, 4, 100, 0x04, 0x00, 2, 0,
	     0x19, 1),
	SEED("send", 0x08, 0x09, 0x88, 0x13, 0x11, 1, 0x04, 0x0a, 1, 9, 0x11, 1, 0x04, 0x0a, 9, 60),
	SEED("abort", 0x08, 0x09, 0x88, 0x13, 0x11, 1, 0x04, 0x6a, 0, 4, 1, 118, 0, 0, 0, 0, 0),
	SEED("between", 0x08, 0x00, 0x88, 0x13, 0x19, 1, 0x00, 0x0a, 0x10, 0x20, 0x01, 1),
	SEED("late", 0x04, 0x00, 1, 0, 0x02, 0xff, 0x11, 1, 0x08, 0x09, 0x88, 0x13, 0x02, 0xff,
	     0x02, 0xff),
};

/* 0 write (how, command, id, kind, aux), 5 event (id, event, length, context), 7 close or open */
static const struct seed ucma[] = {
	/* create, resolve, route, connect, established, get */
	SEED("active", 0, 0, 0, 1, 0, 0, 0, 0, 21, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5,
	     0, 2, 0, 0, 0, 6, 0, 0, 0, 0, 5, 0, 9, 3, 0, 0, 12, 0, 0, 0, 0),
	/* create, bind, listen, request, get, accept */
	SEED("passive", 0, 0, 0, 1, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 5, 0, 4, 9, 0,
	     0, 12, 0, 0, 0, 0, 0, 0, 8, 1, 1, 0, 0),
	/* create, bind, join, its event, leave */
	SEED("group", 0, 0, 0, 1, 1, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 22, 0, 0, 0, 0, 5, 0, 12, 0, 1,
	     0, 0, 17, 0, 0, 0, 0),
	/* create, event, move to the second file, get there, close the first */
	SEED("move", 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0x40, 18, 0, 0, 0, 0, 0, 0x40, 12, 0, 0,
	     0, 0, 15),
	/* create, bind, path, queries, attributes, destroy */
	SEED("ask", 0, 0, 0, 1, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 14, 0, 9, 0, 0, 0, 0, 19, 0, 1, 0,
	     0, 0, 0, 19, 0, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0),
};

static void write_all(const char *dir, const struct seed *s, size_t n)
{
	char path[512];

	mkdir(dir, 0700);
	for (size_t i = 0; i < n; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, s[i].name);
		f = fopen(path, "wb");
		if (!f || fwrite(s[i].bytes, 1, s[i].len, f) != s[i].len || fclose(f))
			exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "rmpp"))
		write_all(argv[1], rmpp, sizeof(rmpp) / sizeof(rmpp[0]));
	else if (argc == 3 && !strcmp(argv[2], "ucma"))
		write_all(argv[1], ucma, sizeof(ucma) / sizeof(ucma[0]));
	else if (argc == 2)
		write_all(argv[1], umad, sizeof(umad) / sizeof(umad[0]));
	else
		return 2;
	return 0;
}
