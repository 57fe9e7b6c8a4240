/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what is known of environments that programs give to others: do they keep the library, and
 * the same with what they lack. The wrappers of posix_spawn and exec (proc.c) call it, and
 * refused.c.
 */
#include "shim/environ.h"

#include <stdint.h>
#include <string.h>
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "util/sys.h"

#define PAGES 8 /* number of pages remembered as readable */
#define PAGE 4096u

struct pages {
	uintptr_t page[PAGES];
	unsigned int next;
};

/* Environments lie in a few pages. The kernel is asked about each once. */
static bool page_readable(struct pages *p, uintptr_t at)
{
	const uintptr_t page = at & ~(uintptr_t)(PAGE - 1);

	for (unsigned int i = 0; i < PAGES; i++)
		if (p->page[i] == page)
			return page != 0;
	if (!sys_page_readable(page))
		return false;
	p->page[p->next++ % PAGES] = page;
	return true;
}

/* Does `s` begin with this name? *value: what follows, up to its end. False for bad pointers. */
static bool is_variable(struct pages *p, const char *s, const char *name, const char **value)
{
	for (; *name; s++, name++)
		if (!page_readable(p, (uintptr_t)s) || *s != *name)
			return false;
	*value = s;
	for (;; s++) {
		if (!page_readable(p, (uintptr_t)s))
			return false;
		if (!*s)
			return true;
	}
}

/* Is there another word, and the environment readable so far? */
static bool has_word(struct pages *p, char *const *envp)
{
	return page_readable(p, (uintptr_t)envp) && page_readable(p, (uintptr_t)(envp + 1) - 1);
}

static const struct {
	const char *name, *mark; /* the item is there if the value contains the mark */
} lists[ENVIRON_LISTS] = {
	[ENVIRON_PRELOAD] = {"LD_PRELOAD=", "libsofthca.so"},
	[ENVIRON_ASAN] = {"ASAN_OPTIONS=", "verify_asan_link_order="},
};

const char *environ_missing(char *const envp[])
{
	bool has_preload = false, has_dir = false;
	struct pages p = {.next = 0};
	const char *v;

	for (; envp; envp++) {
		if (!has_word(&p, envp))
			return NULL;
		if (!*envp)
			break;
		if (!has_preload && is_variable(&p, *envp, lists[ENVIRON_PRELOAD].name, &v))
			has_preload = strstr(v, lists[ENVIRON_PRELOAD].mark) != NULL;
		has_dir = has_dir || is_variable(&p, *envp, SHIM_ENV_DIR "=", &v);
	}
	return !has_preload ? "LD_PRELOAD" : !has_dir ? SHIM_ENV_DIR : NULL;
}

/* ---- the same environment with what it lacks */

static const char *item(enum environ_list l)
{
	return l == ENVIRON_PRELOAD ? shim_config()->library : "verify_asan_link_order=0";
}

/* The variables of the fabric: strings one behind the other, and an empty one. */
static const char *next_kept(const char *kept)
{
	return kept + strlen(kept) + 1;
}

static void look_at_word(struct environ_plan *p, struct pages *pages, const char *word)
{
	const char *v;

	for (enum environ_list l = 0; l < ENVIRON_LISTS; l++)
		if (p->at[l] == SIZE_MAX && is_variable(pages, word, lists[l].name, &v)) {
			p->at[l] = p->words;
			p->value[l] = strstr(v, lists[l].mark) ? NULL : v;
			p->length[l] = strlen(v);
		}
	if (is_variable(pages, word, SHIM_ENV_DIR "=", &v))
		p->all = false;
}

bool environ_plan(bool is_spawn, char *const envp[], struct environ_plan *p)
{
	const struct shim_config *c = shim_config();
	struct pages pages = {.next = 0};

	if (!shim_on() || c->keep_env < (is_spawn ? SHIM_KEEP_SPAWN : SHIM_KEEP_ALL) ||
	    !c->library[0] || !environ_missing(envp))
		return false;
	*p = (struct environ_plan){.at = {SIZE_MAX, SIZE_MAX}, .value = {"", ""}, .all = true};
	for (; envp && envp[p->words]; p->words++)
		look_at_word(p, &pages, envp[p->words]);
	p->size = (p->words + 1) * sizeof(char *);
	for (enum environ_list l = 0; l < ENVIRON_LISTS; l++)
		p->size += sizeof(char *) + strlen(lists[l].name) + strlen(item(l)) + 1 +
			   p->length[l] + 1;
	for (const char *k = c->kept; *k; k = next_kept(k))
		p->size += sizeof(char *);
	return true;
}

static char *put(char *at, const char *s, size_t n)
{
	memcpy(at, s, n);
	return at + n;
}

char *const *environ_make(const struct environ_plan *p, char *const envp[], void *room)
{
	const struct shim_config *c = shim_config();
	char **out = room, *text;
	size_t n = p->words;

	if (n)
		memcpy(out, envp, n * sizeof(*out));
	if (p->all)
		for (const char *k = c->kept; *k; k = next_kept(k))
			out[n++] = (char *)k;
	text = (char *)(out + n + ENVIRON_LISTS + 1);
	for (enum environ_list l = 0; l < ENVIRON_LISTS; l++) {
		if (!p->value[l])
			continue;
		out[p->at[l] == SIZE_MAX ? n++ : p->at[l]] = text;
		text = put(text, lists[l].name, strlen(lists[l].name));
		text = put(text, item(l), strlen(item(l)));
		if (p->length[l])
			*text++ = ':';
		text = put(text, p->value[l], p->length[l]);
		*text++ = '\0';
	}
	out[n] = NULL;
	return out;
}
