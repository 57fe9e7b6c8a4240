/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that writes <softhca/prm.h> for DEVX programs, from the tables of layouts, opcodes
 * and values. The build runs it. Usage: prm_header VERSION
 */
#include "wire/for_tests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char intro[] =
	"/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */\n"
	"/*\n"
	" * The commands and contexts of the PRM (the Programmer's Reference Manual of mlx5 "
	"adapters) that\n"
	" * softhca %s knows, for programs that use DEVX on any adapter. softhca-prm(3) describes "
	"it. It\n"
	" * needs no library. Written by softhca's build from the lists that its firmware uses.\n"
	" *\n"
	" * Names are those of the PRM as mlx5_ifc spells them. Everything is big-endian; a bit is "
	"counted\n"
	" * from the most significant one of the first byte.\n"
	" *\tPRM_SIZE(create_cq_in)                       bytes\n"
	" *\tPRM_GET(create_cq_out, out, cqn)             uint64_t\n"
	" *\tPRM_SET(cqc, cqc, log_cq_size, 4)            the bits of a value that do not fit are "
	"lost\n"
	" *\tPRM_IN(create_cq_in, cq_context, in)         void *, a structure in another\n"
	" *\tPRM_BIT(cqc, log_cq_size), PRM_WIDTH(...)    where it is\n"
	" */\n"
	"#ifndef SOFTHCA_PRM_H\n"
	"#define SOFTHCA_PRM_H\n"
	"\n"
	"#include <stdint.h>\n"
	"\n"
	"/* The version of softhca: names keep their meaning within a MAJOR; a newer MINOR has "
	"more. */\n"
	"#define PRM_HEADER_MAJOR %u\n"
	"#define PRM_HEADER_MINOR %u\n"
	"\n"
	"#define PRM_SIZE(type) PRM_##type##_SIZE\n"
	"#define PRM_GET(type, p, field) prm_get((p), PRM_##type##_##field)\n"
	"#define PRM_SET(type, p, field, value) prm_set((p), PRM_##type##_##field, (value))\n"
	"#define PRM_IN(type, field, p) ((void *)((uintptr_t)(p) + PRM_##type##_##field))\n"
	"#define PRM_FIRST_(bit, width) (bit)\n"
	"#define PRM_SECOND_(bit, width) (width)\n"
	"#define PRM_CALL_(f, args) f args\n"
	"#define PRM_BIT(type, field) PRM_CALL_(PRM_FIRST_, (PRM_##type##_##field))\n"
	"#define PRM_WIDTH(type, field) PRM_CALL_(PRM_SECOND_, (PRM_##type##_##field))\n"
	"\n"
	"static inline uint64_t prm_get(const void *p, unsigned int bit, unsigned int width)\n"
	"{\n"
	"\tconst uint8_t *b = (const uint8_t *)p;\n"
	"\tuint64_t v = 0;\n"
	"\n"
	"\tfor (unsigned int i = bit; i < bit + width; i++)\n"
	"\t\tv = v << 1 | (uint64_t)(b[i / 8] >> (7 - i %% 8) & 1);\n"
	"\treturn v;\n"
	"}\n"
	"\n"
	"static inline void prm_set(void *p, unsigned int bit, unsigned int width, uint64_t v)\n"
	"{\n"
	"\tuint8_t *b = (uint8_t *)p;\n"
	"\n"
	"\tfor (unsigned int i = bit + width; i-- > bit; v >>= 1) {\n"
	"\t\tuint8_t mask = (uint8_t)(1u << (7 - i %% 8));\n"
	"\n"
	"\t\tb[i / 8] = (uint8_t)(v & 1 ? b[i / 8] | mask : b[i / 8] & ~mask);\n"
	"\t}\n"
	"}\n";

static void write_opcodes(void)
{
	uint16_t op;

	printf("\n/* Opcodes: the first 16 bits of a command. */\n");
	for (size_t n = 0; prm_opcode_at(n, &op); n++)
		printf("#define PRM_OP_%s 0x%x\n", prm_opcode_name(op), op);
}

/* The values of a field that have names. */
static void write_values(const struct layout *l, const struct layout_field *f)
{
	for (const struct layout_named *n = prm_named; n->l; n++)
		if (n->l == l && n->bit == f->bit)
			for (const struct layout_value *v = n->values; v->name; v++)
				printf("#define PRM_%s_%s_%s 0x%" PRIx64 "\n", l->name, f->name,
				       v->name, v->value);
}

static void write_layout(const struct layout *l)
{
	printf("\n#define PRM_%s_SIZE 0x%x\n", l->name, l->bytes);
	for (uint32_t i = 0; i < l->nplaces; i++)
		printf("#define PRM_%s_%s 0x%x /* %s */\n", l->name, l->places[i].name,
		       l->places[i].byte, l->places[i].inner->name);
	for (uint32_t i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];

		printf("#define PRM_%s_%s 0x%x, %u\n", l->name, f->name, f->bit, f->width);
		write_values(l, f);
	}
}

int main(int argc, char **argv)
{
	unsigned int major, minor;

	if (argc != 2 || sscanf(argv[1], "%u.%u.", &major, &minor) != 2)
		return 2;
	printf(intro, argv[1], major, minor);
	write_opcodes();
	printf("\n/*\n * Sizes: bytes. Structures inside: bytes from the start. Fields: first bit, "
	       "number of "
	       "bits; then\n * the values that have names.\n */\n");
	for (const struct layout *const *l = prm_layouts; *l; l++)
		write_layout(*l);
	printf("\n#endif\n");
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
