/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of nodes in ibnetdiscover's output and in ibsim's net files: names, numbers of ports,
 * descriptions, and what is known of a node whose line is wrong. parse.c, ports.c, linkinfo.c and
 * lst.c call it.
 */
#include "topo/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "util/cleanup.h"
#include "util/num.h"

char *parse_name(struct topo_parse *p, struct topo_text *x, char *name, const struct topo_where *at)
{
	const char *sep = strchr(name, '@') ? "" : "#";
	char full[256];
	bool prefix = p->prefix[0] && (*sep ? !strchr(name, '#') : name[0] == '@');

	if (!*name) {
		build_error(x->b, at, "an empty name");
		return NULL;
	}
	if (strlen(name) + (prefix ? strlen(p->prefix) + 1 : 0) >=
	    sizeof(((struct topo_node *)0)->id)) {
		build_error(x->b, at, "a name has at most %zu characters",
			    sizeof(((struct topo_node *)0)->id) - 1);
		return NULL;
	}
	if (!prefix)
		return name;
	snprintf(full, sizeof(full), "%s%s%s", p->prefix, sep, name);
	name = (char *)build_keep(x->b, full);
	if (!name)
		build_error(x->b, at, "no memory");
	return name;
}

/* Is it a name like "S-0002c90200404ab0", which ibnetdiscover makes from a GUID? */
static bool guid_of_id(const char *id, uint64_t *guid)
{
	if (!strchr("SHR?", id[0]) || id[1] != '-' || strlen(id) != 18 ||
	    strspn(id + 2, "0123456789abcdefABCDEF") != 16)
		return false;
	*guid = num_in_base(id + 2, 16, NULL);
	return true;
}

/*
 * The description: in quotes, which it may also contain, or bare as old versions wrote it. `*s`
 * moves behind it, `*len` is -1 when there is none.
 */
static const char *find_desc(struct topo_text *x, int *len)
{
	static const char *const ends[] = {" enhanced port ", " base port ", " lid ", " lmc "};
	char *end = NULL, *start;

	*len = -1;
	if (!text_skip(x, "#"))
		return NULL;
	text_blanks(x);
	start = x->p;
	if (*start == '"') {
		start++;
		end = memrchr(start, '"', (size_t)(x->end - start));
		if (!end) {
			text_error(x, "the quote after the description is missing");
			return NULL;
		}
		x->p = end + 1;
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(ends) && !end; i++)
			end = strstr(start, ends[i]);
		if (!end)
			end = x->end;
		x->p = end;
	}
	*len = (int)(end - start);
	return start;
}

void parse_desc(struct topo_node *n, const char *desc, int len)
{
	if (len > TOPO_DESC)
		len = TOPO_DESC;
	for (int i = 0; i < len; i++)
		n->desc[i] = (unsigned char)desc[i] < ' ' ? ' ' : desc[i];
	n->desc[len] = 0;
}

/* Parse the values after a node's id: `# "desc" base port 0 lid 6 lmc 0`. */
static int parse_node_comment(struct topo_text *x, struct topo_node *n, bool own_name,
			      uint32_t *lid, uint32_t *lmc)
{
	const char *desc;
	uint32_t nerrs;
	int len;

	text_blanks(x);
	nerrs = x->b->nerrs;
	if (*x->p && *x->p != '#') {
		text_error(x, "unexpected '%.*s' after the name of a node",
			   (int)strcspn(x->p, " \t"), x->p);
		x->p += strcspn(x->p, "#");
	}
	desc = find_desc(x, &len);
	if (len < 0 || (!len && own_name))
		parse_desc(n, n->id, (int)strlen(n->id));
	else
		parse_desc(n, desc, len);
	if (n->type == TOPO_SWITCH) {
		n->enhanced_port0 = !!strstr(x->p, "enhanced port 0");
		parse_lid_lmc(x, x->end, lid, lmc);
	}
	return x->b->nerrs > nerrs ? -EINVAL : 0;
}

/* Set a node's GUIDs and numbers from preceding lines, counted as in ibsim. */
static void identify(struct topo_parse *p, struct topo_node *n, bool own_name)
{
	if (own_name) {
		n->guid = p->next[n->type];
		p->next[n->type] += n->type == TOPO_SWITCH ? 1 : n->nports + 1;
	}
	n->sys_guid = p->sys_guid;
	n->vendor_id = p->vendor_id;
	n->device_id = p->device_id;
	p->sys_guid = 0;
	p->vendor_id = 0;
}

/* After a wrong number of ports: true if the name follows. A single word may be the name itself. */
static bool after_ports(struct topo_text *x)
{
	size_t n = strcspn(x->p, " \t\"");
	bool is_number = num_digit(*x->p) < 10;

	if (!is_number && n && !x->p[n + strspn(x->p + n, " \t")])
		return false;
	x->p += n;
	return is_number || *x->p;
}

/* The values of a node's line up to its name. After -EINVAL the cursor is where reading can go on.
 */
static int parse_node_head(struct topo_parse *p, struct topo_text *x, struct topo_node *n,
			   bool *own_name)
{
	struct topo_where id_at;
	uint64_t nports = 0;
	char *name;
	int r;

	text_blanks(x);
	r = text_number(x, "the number of ports", 1, TOPO_MAX_PORTS, &nports);
	if (r && !after_ports(x))
		return r;
	n->nports = r ? 0 : (uint32_t)nports;
	text_blanks(x);
	id_at = text_at(x, x->p);
	name = text_quoted(x, "the node's name");
	if (!name && *x->p == '"')
		x->p = x->end; /* where the name ends is not known */
	else if (!name)
		text_skip_word(x);
	if (name && strchr(name, '@')) {
		build_error(x->b, &id_at, "a node's name has no '@'");
		return -EINVAL;
	}
	name = name ? parse_name(p, x, name, &id_at) : NULL;
	if (!name)
		return -EINVAL;
	strcpy(n->id, name);
	if (r)
		return r;
	*own_name = !guid_of_id(n->id, &n->guid);
	identify(p, n, *own_name);
	return 0;
}

/* Its name is what is in quotes. */
int parse_broken_node(struct topo_parse *p, struct topo_text *x, struct topo_node *n,
		      const struct topo_where *at)
{
	char *name = n->id[0] ? NULL : strchr(x->line, '"'), *end;
	int r;

	end = name ? strpbrk(name + 1, "\"") : NULL;
	if (end && (size_t)(end - name) <= sizeof(n->id))
		snprintf(n->id, sizeof(n->id), "%.*s", (int)(end - name - 1), name + 1);
	r = build_broken(&p->b, n, at);
	p->node = r ? TOPO_NONE : p->b.nnodes - 1;
	return r;
}

int parse_node(struct topo_parse *p, struct topo_text *x, enum topo_type type, bool misspelt)
{
	struct topo_where at = text_at(x, x->line);
	struct topo_node n = {.type = type};
	struct topo_line *port0;
	uint32_t lid = 0, lmc = 0;
	bool own_name = false;
	uint32_t nerrs = p->b.nerrs;
	int r;

	parse_node_head(p, x, &n, &own_name);
	parse_node_comment(x, &n, own_name, &lid, &lmc);
	r = misspelt || p->b.nerrs > nerrs ? -EINVAL : 0;
	if (!r)
		r = build_node(&p->b, &n, &at);
	if (r == -EINVAL && parse_broken_node(p, x, &n, &at))
		return -ENOMEM;
	if (r)
		return r;
	p->node = p->b.nnodes - 1;
	if (type != TOPO_SWITCH)
		return 0;
	port0 = build_line(&p->b, p->node, 0, &at);
	if (!port0)
		return -ENOMEM;
	port0->guid = p->port_guid;
	port0->lid = lid;
	port0->lmc = lmc;
	p->port_guid = 0;
	return 0;
}
