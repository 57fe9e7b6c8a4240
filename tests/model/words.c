/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of a step, and the names of objects: see program.py. */
#include <string.h>

#include "exec.h"

char *parse(char *line, struct words *w)
{
	char *save = NULL, *verb = NULL, *s;

	w->n = 0;
	for (s = strtok_r(line, " \n", &save); s; s = strtok_r(NULL, " \n", &save)) {
		char *eq = strchr(s, '=');

		if (!eq) {
			verb = s;
			continue;
		}
		NEED(w->n < MAX_WORDS);
		*eq = 0;
		w->name[w->n] = s;
		w->value[w->n++] = eq + 1;
	}
	return verb;
}

const char *word(const struct words *w, const char *name)
{
	for (int i = 0; i < w->n; i++)
		if (!strcmp(w->name[i], name))
			return w->value[i];
	return NULL;
}

uint64_t num(const struct words *w, const char *name, uint64_t otherwise)
{
	const char *s = word(w, name);

	return s ? strtoull(s, NULL, 10) : otherwise;
}

int nr(const struct words *w, const char *name)
{
	const char *s = word(w, name);
	int i = s ? atoi(s + 1) : -1;

	NEED(i < MAX_OBJS);
	return i;
}

unsigned int rights(const char *letters)
{
	unsigned int r = 0;

	for (; letters && *letters; letters++)
		r |= *letters == 'L'   ? IBV_ACCESS_LOCAL_WRITE
		     : *letters == 'W' ? IBV_ACCESS_REMOTE_WRITE
		     : *letters == 'R' ? IBV_ACCESS_REMOTE_READ
		     : *letters == 'A' ? IBV_ACCESS_REMOTE_ATOMIC
				       : IBV_ACCESS_MW_BIND;
	return r;
}

uint32_t key_of(const char *name)
{
	char *end;
	long i = strtol(name + 1, &end, 10);
	uint32_t key;

	NEED(i >= 0 && i < MAX_OBJS);
	key = *name == 'w' ? o.mw[i].key : o.mr[i].key;
	if (*end == 'x')
		return key ^ 0x80; /* no program binds a window 128 times */
	if (*end == '+' || *end == '-')
		return (key & ~0xffu) | ((key + (*end == '+' ? 1 : 0xffu)) & 0xff);
	return key;
}

int sge_list(const struct words *w, struct ibv_sge *sge)
{
	const char *list = word(w, "sge");
	char copy[256], *save = NULL, *s;
	int n = 0;

	if (!list)
		return 0;
	NEED(snprintf(copy, sizeof(copy), "%s", list) < (int)sizeof(copy));
	for (s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		char key[8];
		unsigned long off, len;

		NEED(n < MAX_SGES && sscanf(s, "%7[^:]:%lu:%lu", key, &off, &len) == 3);
		sge[n++] = (struct ibv_sge){(uintptr_t)o.arena + off, (uint32_t)len, key_of(key)};
	}
	return n;
}

void fill(uint64_t seed, uint64_t off, uint64_t len)
{
	NEED(off + len <= ARENA);
	for (uint64_t i = 0; i < len; i++)
		o.arena[off + i] = (uint8_t)(seed * 37 + i * 7 + (i >> 8) * 13);
}

const char *qp_name(uint32_t qpn)
{
	static char text[16];

	for (int i = 0; i < MAX_OBJS; i++)
		if (o.qp[i].qp && o.qp[i].qp->qp_num == qpn) {
			snprintf(text, sizeof(text), "q%d", i);
			return text;
		}
	return "q?";
}

const char *window_name(uint32_t key)
{
	static char text[16];

	for (int i = 0; i < MAX_OBJS; i++)
		if (o.mw[i].mw && o.mw[i].key >> 8 == key >> 8) {
			snprintf(text, sizeof(text), "w%d:%u", i, (key - o.mw[i].first) & 0xff);
			return text;
		}
	return "w?";
}
