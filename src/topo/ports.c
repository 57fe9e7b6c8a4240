/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lines of ports in topology files: `[1](guid) "H-..."[1](guid) w=2 # lid 4 lmc 0 "desc"
 * lid 5 4xFDR`. Facts: ibnetdiscover.c (out_switch_port, out_ca_port) and ibsim's sim_net.c
 * (parse_port, parse_port_opt, parse_port_connection_data). parse.c calls it.
 */
#include "topo/parse.h"

#include <errno.h>
#include <string.h>
#include "wire/ib/link.h"

#define MAX_LMC 7

uint32_t parse_speed_masks(uint64_t old, uint64_t ext)
{
	return (uint32_t)(old & 7) | (uint32_t)(ext & 31) << 4;
}

/* Length of the next word of a comment, from x->p on; 0: none. */
static size_t parse_word(struct topo_text *x)
{
	text_blanks(x);
	return strcspn(x->p, " \t");
}

int parse_lid_lmc(struct topo_text *x, const char *stop, uint32_t *lid, uint32_t *lmc)
{
	size_t n;
	int r = 0;

	while ((n = parse_word(x)) && x->p < stop) {
		bool is_lid = n == 3 && !strncmp(x->p, "lid", 3);
		bool is_lmc = n == 3 && !strncmp(x->p, "lmc", 3);
		uint64_t v;
		int bad;

		x->p += n;
		text_blanks(x);
		if ((!is_lid && !is_lmc) || x->p >= stop || *x->p < '0' || *x->p > '9')
			continue;
		if (is_lid) {
			bad = text_number(x, "the LID", 0, TOPO_MAX_LIDS, &v);
			*lid = (uint32_t)v;
		} else {
			bad = text_number(x, "the LMC", 0, MAX_LMC, &v);
			*lmc = (uint32_t)v;
		}
		if (bad) {
			text_skip_word(x);
			r = bad;
		}
	}
	return r;
}

/*
 * Is it a word like "4xFDR", with "??" and "???" for what is not known? Returns 1, 0 or -EINVAL.
 */
static int parse_rate(struct topo_text *x, size_t len, struct topo_line *l)
{
	const struct ib_width *w = ib_widths;
	const struct ib_speed *v = ib_speeds;
	const char *width = "??", *speed;

	while (w->code && strncmp(x->p, w->name, strlen(w->name)))
		w++;
	if (w->code)
		width = w->name;
	else if (strncmp(x->p, width, strlen(width)))
		return 0;
	speed = x->p + strlen(width);
	len -= strlen(width);
	if (!len || ((*speed < 'A' || *speed > 'Z') && *speed != '?'))
		return 0;
	while (v->code && (strlen(v->name) != len || strncmp(speed, v->name, len)))
		v++;
	if (!v->code && (len != 3 || strncmp(speed, "???", len)))
		return text_error(x, "\"%.*s\" is not a link speed", (int)(len < 16 ? len : 16),
				  speed);
	l->widths = w->code;
	l->speeds = v->code;
	return 1;
}

/*
 * After the '#': values before the description belong to this port (of a CA); after it come the
 * other end's LID and the cable's width and speed.
 */
static int parse_comment(struct topo_text *x, struct topo_line *l)
{
	char *first = memchr(x->p, '"', (size_t)(x->end - x->p));
	char *last = first ? memrchr(x->p, '"', (size_t)(x->end - x->p)) : NULL;
	int r = parse_lid_lmc(x, first ? first : x->end, &l->lid, &l->lmc);
	size_t n;

	if (first)
		x->p = last + 1;
	else
		return r;
	while ((n = parse_word(x))) {
		int rate = parse_rate(x, n, l);

		if (rate)
			return rate < 0 ? rate : r;
		x->p += n;
	}
	return r;
}

/* ibsim's options: w, s and e are masks of the port's abilities. */
static int parse_options(struct topo_text *x, struct topo_line *l)
{
	uint64_t old = 0, ext = 0, v;
	bool speed = false;
	int bad = 0;

	for (text_blanks(x); *x->p && *x->p != '#'; text_blanks(x)) {
		int r = 0;

		if (text_skip(x, "w=")) {
			r = text_number(x, "the mask of widths", 1, 31, &v);
			l->widths = (uint32_t)v;
		} else if (text_skip(x, "s=")) {
			r = text_number(x, "the mask of speeds", 0, 7, &old);
			old = old ? old : IB_SPEED_QDR;
			speed = true;
		} else if (text_skip(x, "e=")) {
			r = text_number(x, "the mask of extended speeds", 0, 31, &ext);
			speed = true;
		} else {
			size_t n = strcspn(x->p, " \t");

			bad = text_error(x, "'%.*s' is not an option of a port (w=, s=, e=)",
					 (int)n, x->p);
			/* Words without '=' are one mistake, not one for each word. */
			if (!memchr(x->p, '=', n)) {
				x->p += strcspn(x->p, "#");
				break;
			}
			x->p += n;
		}
		if (!r && *x->p && !strchr(" \t#", *x->p))
			r = text_error(x, "unexpected '%.1s' after a number", x->p);
		if (r) {
			bad = r;
			text_skip_word(x);
		}
	}
	if (speed)
		l->speeds = parse_speed_masks(old ? old : 7, ext);
	return bad;
}

/* Brackets of `ibnetdiscover -g`: [ext 7]. */
static int parse_ext(struct topo_text *x)
{
	uint64_t v;
	int r;

	if (!text_skip(x, "[ext "))
		return 0;
	r = text_number(x, "the external port", 0, 255, &v);
	if (!r && !text_skip(x, "]"))
		r = text_error(x, "']' is missing");
	return r;
}

static int parse_bracketed(struct topo_text *x, const char *what, uint64_t max, uint64_t *v)
{
	int r;

	if (!text_skip(x, "["))
		return text_error(x, "'[' and %s are missing", what);
	r = text_number(x, what, 1, max, v);
	if (!r && !text_skip(x, "]"))
		r = text_error(x, "']' is missing after %s", what);
	return r;
}

static int parse_guid(struct topo_text *x, uint64_t *guid)
{
	int r;

	text_blanks(x);
	if (!text_skip(x, "("))
		return 0;
	r = text_hex(x, "the port's GUID", guid);
	if (!r && !text_skip(x, ")"))
		r = text_error(x, "')' is missing");
	return r;
}

/* "name"[port](guid) options # comment */
static int parse_peer(struct topo_parse *p, struct topo_text *x, struct topo_line *l)
{
	uint64_t num = 1;
	char *name, *alias;
	int r = 0;

	l->peer_at = text_at(x, x->p);
	name = text_quoted(x, "the name of the other end");
	if (!name)
		return -EINVAL;
	alias = strchr(name, '@');
	l->by_alias = alias;
	l->peer = parse_name(p, x, name, &l->peer_at);
	if (!l->peer)
		return -EINVAL;
	text_blanks(x);
	if (*x->p == '[') /* without a number it is port 1, as in ibsim */
		r = parse_bracketed(x, "the number of the other port", 255, &num);
	l->peer_port = (uint32_t)num;
	if (!r)
		r = parse_ext(x);
	if (!r)
		r = parse_guid(x, &l->peer_guid);
	return r;
}

/* Parse @[port] "name": cables can use the name for the port. */
static int parse_alias(struct topo_parse *p, struct topo_text *x, struct topo_line *l)
{
	char *name, full[TOPO_PREFIX_LEN + 80];

	l->peer_at = text_at(x, x->p);
	name = text_quoted(x, "the alias");
	if (!name)
		return -EINVAL;
	if (strpbrk(name, "@#"))
		return build_error(x->b, &l->peer_at, "an alias has no '@' and no '#'");
	if (strlen(name) > 40)
		return build_error(x->b, &l->peer_at, "an alias has at most 40 characters");
	snprintf(full, sizeof(full), "%s@%s", p->prefix, name);
	return build_alias(x->b, full, l);
}

static int parse_line(struct topo_parse *p, struct topo_text *x)
{
	const struct topo_node *n = p->node == TOPO_NONE ? NULL : &p->b.node[p->node];
	struct topo_where at = text_at(x, x->p);
	bool is_alias = text_skip(x, "@");
	struct topo_line *l, unused = {0};
	uint64_t num, guid = 0;
	int r, bad;

	if (!n)
		return text_error(x, "a port's line without a node's line before it");
	r = parse_bracketed(x, "the port's number", n->nports, &num);
	if (r) {
		/* The rest of the line is checked, though it is of no port. */
		x->p += strcspn(x->p, "]\"");
		if (*x->p != ']')
			return r;
		x->p++;
	}
	bad = parse_ext(x);
	if (!bad)
		bad = parse_guid(x, &guid);
	if (bad)
		return bad;
	l = r ? &unused : build_line(&p->b, p->node, (uint32_t)num, &at);
	if (!l)
		return -ENOMEM;
	l->guid = guid;
	l->widths = p->widths;
	l->speeds = p->speeds;
	text_blanks(x);
	if (is_alias && r)
		return r;
	bad = is_alias ? parse_alias(p, x, l) : parse_peer(p, x, l);
	if (bad == -ENOMEM)
		return bad;
	/* Behind a quote without its other, what would be read is not what was meant. */
	if (bad && *x->p == '"')
		return bad;
	if (bad)
		text_skip_word(x);
	r = r ? r : bad;
	bad = parse_options(x, l);
	r = r ? r : bad;
	if (text_skip(x, "#"))
		bad = parse_comment(x, l);
	return r ? r : bad;
}

int parse_port(struct topo_parse *p, struct topo_text *x)
{
	uint32_t nlines = p->b.nlines;
	int r = parse_line(p, x);

	if (r != -EINVAL || p->node == TOPO_NONE)
		return r;
	/* The line of the other end may be right. */
	if (p->b.nlines > nlines)
		p->b.line[nlines].broken = true;
	else
		p->b.broken[p->node] = true;
	return r;
}
