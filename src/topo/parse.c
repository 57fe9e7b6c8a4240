/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the reading of topology files: the output of ibnetdiscover, ibsim's net files, which have
 * the same form with freely chosen names, lists of cables (lst.c), and the output of iblinkinfo
 * (linkinfo.c). Facts: ibnetdiscover.c
 * (out_ids, out_switch, out_ca) and ibsim's sim_net.c (parse_netconf and its callees). Calls the
 * builder; the command line calls it.
 */
#include "topo/parse.h"
#include "topo/for_tests.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/cleanup.h"
#include "util/num.h"
#include "util/suggest.h"
#include "world/world.h"

#define MAX_DEPTH 9 /* nesting of includes, as in ibsim */
#define MAX_FILE (256u << 20)

static int parse_switch(struct topo_parse *p, struct topo_text *x)
{
	return parse_node(p, x, TOPO_SWITCH, false);
}

static int parse_ca(struct topo_parse *p, struct topo_text *x)
{
	return parse_node(p, x, TOPO_CA, false);
}

static int parse_router(struct topo_parse *p, struct topo_text *x)
{
	return parse_node(p, x, TOPO_ROUTER, false);
}

/* Parse "=0x2c9" or "= 713". */
static int parse_value(struct topo_text *x, const char *what, uint64_t max, uint64_t *v)
{
	text_blanks(x);
	if (!text_skip(x, "="))
		return text_error(x, "'=' is missing");
	text_blanks(x);
	return text_number(x, what, 0, max, v);
}

/* Parse switchguid=0x...(port 0's), or +N: relative to the last one given. */
static int parse_guid_base(struct topo_parse *p, struct topo_text *x, enum topo_type type)
{
	bool relative;
	uint64_t v;
	int r;

	text_blanks(x);
	relative = text_skip(x, "+");
	if (!relative && !text_skip(x, "="))
		return text_error(x, "'=' or '+' is missing");
	text_blanks(x);
	r = text_number(x, "the GUID", 0, UINT64_MAX, &v);
	if (r)
		return r;
	if (!relative)
		p->base[type] = v;
	p->next[type] = relative ? p->base[type] + v : v;
	p->node = TOPO_NONE;
	if (type == TOPO_SWITCH && text_skip(x, "(")) {
		r = text_hex(x, "port 0's GUID", &p->port_guid);
		if (!r && !text_skip(x, ")"))
			r = text_error(x, "')' is missing");
	}
	return r;
}

static int parse_switch_guid(struct topo_parse *p, struct topo_text *x)
{
	return parse_guid_base(p, x, TOPO_SWITCH);
}

static int parse_ca_guid(struct topo_parse *p, struct topo_text *x)
{
	return parse_guid_base(p, x, TOPO_CA);
}

static int parse_router_guid(struct topo_parse *p, struct topo_text *x)
{
	return parse_guid_base(p, x, TOPO_ROUTER);
}

static int parse_vendid(struct topo_parse *p, struct topo_text *x)
{
	uint64_t v = 0;
	int r = parse_value(x, "the vendor's id", 0xffffff, &v);

	p->vendor_id = (uint32_t)v;
	p->node = TOPO_NONE;
	return r;
}

static int parse_devid(struct topo_parse *p, struct topo_text *x)
{
	uint64_t v = 0;
	int r = parse_value(x, "the device's id", 0xffff, &v);

	p->device_id = (uint32_t)v;
	return r;
}

static int parse_sysimgguid(struct topo_parse *p, struct topo_text *x)
{
	return parse_value(x, "the GUID", UINT64_MAX, &p->sys_guid);
}

static int parse_width(struct topo_parse *p, struct topo_text *x)
{
	uint64_t v = 0;
	int r = parse_value(x, "the mask of widths", 31, &v);

	p->widths = (uint32_t)v;
	return r;
}

static int parse_speed(struct topo_parse *p, struct topo_text *x)
{
	uint64_t v = 0;
	int r = parse_value(x, "the mask of speeds", 7, &v);

	p->speeds = (p->speeds & ~7u) | parse_speed_masks(v, 0);
	return r;
}

static int parse_extspeed(struct topo_parse *p, struct topo_text *x)
{
	uint64_t v = 0;
	int r = parse_value(x, "the mask of extended speeds", 31, &v);

	p->speeds = (p->speeds & 7) | parse_speed_masks(0, v);
	return r;
}

/* "#link eth": the link layer of the adapter above. "#linked" is an ordinary comment. */
static int parse_layer(struct topo_parse *p, struct topo_text *x)
{
	struct topo_node *n = p->node == TOPO_NONE ? NULL : &p->b.node[p->node];
	enum topo_link link;
	size_t len;

	if (*x->p != ' ' && *x->p != '\t')
		return 0;
	text_blanks(x);
	len = strcspn(x->p, " \t");
	if (len == 3 && !strncmp(x->p, "eth", len))
		link = TOPO_LINK_ETH;
	else if (len == 2 && !strncmp(x->p, "ib", len))
		link = TOPO_LINK_IB;
	else
		return text_error(x, "'%.*s' is not a link layer (ib, eth)",
				  (int)(len < 24 ? len : 24), x->p);
	if (!n || n->type != TOPO_CA)
		return text_error(x, "a link layer without an adapter's line before it");
	n->link = link;
	x->p += len;
	text_blanks(x);
	return *x->p && *x->p != '#' ? text_error(x, "unexpected text after the link layer") : 0;
}

/* "#world NAME,...": of the whole fabric. "#worlds" is an ordinary comment. */
static int parse_world(struct topo_parse *p, struct topo_text *x)
{
	const char *unknown = NULL;
	char err[WORLD_ERR], *names;
	size_t len;

	if (*x->p != ' ' && *x->p != '\t')
		return 0;
	text_blanks(x);
	names = x->p;
	x->p += strcspn(x->p, " \t");
	if (*x->p)
		*x->p++ = 0;
	text_blanks(x);
	if (*x->p && *x->p != '#')
		return text_error(x, "unexpected text after the names of worlds");
	if (!world_add(&p->b.world, names, &unknown, &len, err))
		return 0;
	x->p = (char *)(unknown ? unknown : names);
	return text_error(x, "%s", err);
}

static int parse_module(struct topo_parse *p, struct topo_text *x)
{
	char *name;

	text_blanks(x);
	if (!text_skip(x, "="))
		return text_error(x, "'=' is missing");
	text_blanks(x);
	name = text_quoted(x, "the module's name");
	if (!name)
		return -EINVAL;
	if (strlen(name) > TOPO_PREFIX_LEN || strpbrk(name, "#@"))
		return text_error(x,
				  "a module's name has at most %d characters, and no '#' and '@'",
				  TOPO_PREFIX_LEN);
	strcpy(p->prefix, name);
	return 0;
}

static int topo_parse_read_file(struct topo_parse *p, const char *name,
				const struct topo_where *from);

static int parse_include(struct topo_parse *p, struct topo_text *x)
{
	uint32_t nerrs = p->b.nerrs;
	struct topo_where at;
	char *name;

	text_blanks(x);
	at = text_at(x, x->p);
	name = text_quoted(x, "the file's name");
	if (!name)
		return -EINVAL;
	if (!p->may_include)
		return build_error(x->b, &at, "nothing can be included here");
	p->node = TOPO_NONE;
	if (topo_parse_read_file(p, name, &at) == -ENOMEM)
		return -ENOMEM;
	p->b.incomplete = p->b.incomplete || p->b.nerrs > nerrs;
	return 0;
}

static int parse_do(struct topo_parse *p, struct topo_text *x)
{
	return text_error(x, "put commands into a script for softhca console");
}

static int parse_ibdiagnet(struct topo_parse *p, struct topo_text *x)
{
	p->stopped = true;
	return text_error(x, "this is ibdiagnet's .db_csv file: use its .lst file instead");
}

static int ignore(struct topo_parse *p, struct topo_text *x)
{
	return 0;
}

/* "Switch 0x0008f10400411a08 NAME:" of old versions of iblinkinfo, not a number of ports. */
static int parse_old_switch(struct topo_parse *p, struct topo_text *x)
{
	x->p -= 2;
	return strspn(x->p + 2, "0123456789abcdef") == 16 ? parse_link_switch(p, x)
							  : parse_switch(p, x);
}

/* Each keyword with its shortest abbreviation in ibsim. */
static const struct keyword {
	const char *word;
	int (*parse)(struct topo_parse *p, struct topo_text *x);
} keywords[] = {
	{"#ip[", parse_ip},
	{"#link", parse_layer},
	{"#world", parse_world},
	{"#", ignore},
	{"Switch: ", parse_link_switch},
	{"Switch 0x", parse_old_switch},
	{"CA: ", parse_link_ca},
	{"Router: ", parse_link_router},
	{"Switch", parse_switch},
	{"Hca", parse_ca},
	{"Ca", parse_ca},
	{"Router", parse_router},
	{"Rt", parse_router},
	{"[", parse_port},
	{"@", parse_port},
	{"vendid", parse_vendid},
	{"devid", parse_devid},
	{"sysimgguid", parse_sysimgguid},
	{"switchguids", parse_switch_guid},
	{"switchguid", parse_switch_guid},
	{"hcaguids", parse_ca_guid},
	{"caguids", parse_ca_guid},
	{"caguid", parse_ca_guid},
	{"rtguids", parse_router_guid},
	{"rtguid", parse_router_guid},
	{"width", parse_width},
	{"speed", parse_speed},
	{"extspeed", parse_extspeed},
	{"module", parse_module},
	{"include", parse_include},
	{"do ", parse_do},
	{"pdebug", ignore},
	{"{", parse_cable},
	{"START_", parse_ibdiagnet},
	/*
	 * Lines of ibnetdiscover -g, and its messages from standard error, if the file contains
	 * them.
	 */
	{"Chassis ", ignore},
	{"Non-Chassis Nodes", ignore},
	{"Hostname:", ignore},
	{"ibwarn:", ignore},
};

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Does the text start with this keyword? One that is a word must not be a part of a longer one. */
static bool is_keyword(const char *text, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(text, word, n) &&
	       (word[strspn(word, LETTERS)] || !text[n] || !strchr(LETTERS "_-", text[n]));
}

/* A misspelt keyword may have been a node's: the rest of such a line, and its ports, are read. */
static int parse_unknown(struct topo_parse *p, struct topo_text *x)
{
	static const struct {
		const char *word;
		enum topo_type type;
	} nodes[] = {
		{"Switch", TOPO_SWITCH}, {"Hca", TOPO_CA},    {"Ca", TOPO_CA},
		{"Router", TOPO_ROUTER}, {"Rt", TOPO_ROUTER},
	};
	struct topo_where at = text_at(x, x->line);
	struct topo_node n = {.type = TOPO_SWITCH};
	size_t len = strcspn(x->p, " \t=");
	struct suggest s;

	suggest_begin(&s, x->p, len);
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!keywords[i].word[strspn(keywords[i].word, LETTERS)] &&
		    keywords[i].parse != ignore)
			suggest_add(&s, keywords[i].word);
	text_error(x, "'%.*s' does not start a line of a topology%s%s%s",
		   (int)(len > 24 ? 24 : len), x->p, s.best ? "; did you mean '" : "",
		   s.best ? s.best : "", s.best ? "'?" : "");
	for (size_t i = 0; s.best && i < ARRAY_SIZE(nodes); i++)
		if (!strcmp(nodes[i].word, s.best)) {
			x->p += len;
			return parse_node(p, x, nodes[i].type, true);
		}
	if (!memchr(x->p, '"', (size_t)(x->end - x->p)))
		return -EINVAL;
	return parse_broken_node(p, x, &n, &at) ? -ENOMEM : -EINVAL;
}

static int topo_parse_line(struct topo_parse *p, struct topo_text *x)
{
	text_blanks(x);
	if (!*x->p)
		return 0;
	if (num_digit(*x->p) < 10)
		return parse_link(p, x);
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++) {
		const char *word = keywords[i].word;

		if (!is_keyword(x->p, word))
			continue;
		if (keywords[i].parse != parse_port)
			x->p += strlen(word);
		return keywords[i].parse(p, x);
	}
	return parse_unknown(p, x);
}

/*
 * The builder takes over `text` (size bytes and a 0), also on failure. Goes on after errors in
 * lines. 0, -EINVAL, -ENOMEM.
 */
static int parse_text(struct topo_parse *p, const char *name, char *text, size_t size)
{
	struct topo_build *b = &p->b;
	struct topo_text x = {.b = b, .file = b->nfiles};
	char **names = reallocarray(b->file, b->nfiles + 1, sizeof(*names));
	char **texts = reallocarray(b->text, b->nfiles + 1, sizeof(*texts));
	uint32_t nerrs = b->nerrs;
	char *end = x.limit = text + size;
	int r = 0;

	b->file = names ? names : b->file;
	b->text = texts ? texts : b->text;
	if (!names || !texts || !(names[b->nfiles] = strdup(name))) {
		free(text);
		return -ENOMEM;
	}
	b->text[b->nfiles++] = text;
	for (char *line = text; r != -ENOMEM && !p->stopped && line < end; line = x.end + 1) {
		char *nl = memchr(line, '\n', (size_t)(end - line));

		x.line = x.p = line;
		x.lineno++;
		x.end = nl ? nl : end;
		*x.end = 0;
		if (memchr(line, 0, (size_t)(x.end - line))) {
			x.p = memchr(line, 0, (size_t)(x.end - line));
			return text_error(&x, "a zero byte: this is not a text file");
		}
		if (x.end > line && x.end[-1] == '\r')
			x.end[-1] = 0;
		r = topo_parse_line(p, &x);
	}
	return r == -ENOMEM ? r : b->nerrs > nerrs ? -EINVAL : 0;
}

/* Read a whole file; *text ends with a 0 byte. */
static int slurp(int fd, char **text, size_t *size)
{
	_cleanup_free_ char *buf = NULL;
	size_t room = 0, n = 0;

	for (;;) {
		ssize_t got;

		if (n + 1 >= room) {
			char *more = realloc(buf, room = room ? room * 2 : 1 << 16);

			if (!more)
				return -ENOMEM;
			buf = more;
		}
		if (n > MAX_FILE)
			return -EFBIG;
		got = read(fd, buf + n, room - n - 1);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	buf[n] = 0;
	*text = take_ptr(buf);
	*size = n;
	return 0;
}

/*
 * Open a file by its name, else in the folder of the file that includes it. `path`: the path that
 * was found.
 */
static int open_file(struct topo_parse *p, const char *name, const struct topo_where *from,
		     char path[PATH_MAX])
{
	const char *by = from ? p->b.file[from->file] : NULL, *slash = by ? strrchr(by, '/') : NULL;
	int fd;

	if (!from && !strcmp(name, "-")) {
		strcpy(path, "<stdin>");
		fd = dup(0);
		return fd < 0 ? -errno : fd;
	}
	if ((size_t)snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT || !slash || name[0] == '/')
		return fd < 0 ? -errno : fd;
	if ((size_t)snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - by), by, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int topo_parse_read_file(struct topo_parse *p, const char *name,
				const struct topo_where *from)
{
	_cleanup_free_ char *path = malloc(PATH_MAX);
	size_t size = 0;
	char *text = NULL;
	int fd, r;

	if (p->depth > MAX_DEPTH) {
		/* Files that include themselves more than once would be read for hours. */
		p->stopped = true;
		return build_error(&p->b, from, "files are included more than %d levels deep",
				   MAX_DEPTH);
	}
	if (!path)
		return -ENOMEM;
	fd = open_file(p, name, from, path);
	r = fd < 0 ? fd : slurp(fd, &text, &size);
	if (fd >= 0)
		close(fd);
	if (r < 0) {
		build_error(&p->b, from, "cannot read %.200s: %s", name, strerror(-r));
		return r;
	}
	p->depth++;
	r = parse_text(p, path, text, size);
	p->depth--;
	return r;
}

static void topo_parse_init(struct topo_parse *p, bool may_include, char err[TOPO_ERR])
{
	*p = (struct topo_parse){
		.node = TOPO_NONE, .link_node = TOPO_NONE, .may_include = may_include};
	build_init(&p->b, err);
	/* The value where ibsim starts to count. */
	p->next[TOPO_CA] = p->base[TOPO_CA] = 0x100000;
	p->next[TOPO_SWITCH] = p->base[TOPO_SWITCH] = 0x200000;
	p->next[TOPO_ROUTER] = p->base[TOPO_ROUTER] = 0x300000;
}

static int done(struct topo_parse *p, int r, struct topo *t)
{
	*t = (struct topo){0};
	if (!r || r == -EINVAL)
		r = parse_links_end(p);
	/* After errors in lines, those between lines are wanted, too. */
	if (!r || (r == -EINVAL && p->b.nnodes))
		r = build_topo(&p->b, t);
	if (r == -ENOMEM)
		build_error(&p->b, NULL, "no memory");
	topo_hash_finish(&p->cabled);
	parse_links_free(p);
	build_finish(&p->b);
	return r;
}

int topo_parse(const char *name, const char *text, size_t len, struct topo *t, char err[TOPO_ERR])
{
	char *copy = malloc(len + 1);
	struct topo_parse p;

	topo_parse_init(&p, false, err);
	if (!copy)
		return done(&p, -ENOMEM, t);
	memcpy(copy, text, len);
	copy[len] = 0;
	return done(&p, parse_text(&p, name, copy, len), t);
}

int topo_load(const char *spec, struct topo *t, char err[TOPO_ERR])
{
	struct topo_parse p;

	if (topo_is_generator(spec))
		return topo_generate(spec, t, err);
	topo_parse_init(&p, true, err);
	return done(&p, topo_parse_read_file(&p, spec, NULL), t);
}
