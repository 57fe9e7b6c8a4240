/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca topo`: writes a topology, or a picture of it. Pictures are for Graphviz, which is run
 * here if an image is wanted, or pages for browsers. Also loads the argument of --topo for `up` and
 * `run`.
 */
#include "cli/cli.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/client.h"
#include "util/suggest.h"
#include "super/program.h"
#include "topo/picture.h"
#include "util/cleanup.h"
#include "util/num.h"

/* The end of a message about a name that no file has: the generator that may be meant. */
static void guess(const char *spec, char *text, size_t size)
{
	size_t len = strcspn(spec, ":");
	struct suggest s;
	const char *name, *form;

	*text = 0;
	if (memchr(spec, '/', len))
		return;
	suggest_begin(&s, spec, len);
	for (size_t i = 0; (name = topo_generator(i, &form)); i++) {
		suggest_add(&s, name);
		if (!spec[len] && !strcmp(spec, name)) {
			snprintf(text, size, "; the form is %s", form);
			return;
		}
	}
	if (spec[len] && s.best)
		snprintf(text, size, "; did you mean %s%s?", s.best, spec + len);
}

/* Loads a topology, or prints all that is wrong with it. 0; PROG_FAILED. */
static int load(const char *verb, const char *spec, struct topo *t)
{
	char err[TOPO_ERR], more[256] = "";
	int r = topo_load(spec, t, err);

	if (r >= 0)
		return 0;
	if (r == -ENOENT)
		guess(spec, more, sizeof(more));
	for (char *line = err, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		prog_fail("%s: %s%s", verb, line, end ? "" : more);
	}
	return PROG_FAILED;
}

int topo_prepare(struct cli_options *o, struct topo *t)
{
	int r;

	*t = (struct topo){0};
	r = o->topo ? load(o->verb, o->topo, t) : 0;
	if (!r)
		r = world_prepare(o, t);
	if (r)
		topo_free(t);
	return r;
}

/* ---- options */

static const struct topo_output {
	const char *name; /* the word for -o; after a dot, the end of a file's name */
	uint32_t format;  /* enum topo_format */
	const char *type; /* of dot(1)'s -T, NULL: without dot */
	bool binary;
} outputs[] = {
	{"ibnetdiscover", TOPO_IBNETDISCOVER, NULL, false},
	{"dot", TOPO_DOT, NULL, false},
	{"svg", TOPO_DOT, "svg", false},
	{"png", TOPO_DOT, "png", true},
	{"pdf", TOPO_DOT, "pdf", true},
	{"html", TOPO_PAGE, NULL, false},
	{"topo", TOPO_IBNETDISCOVER, NULL, false}, /* the last two only as ends of file names */
	{"gv", TOPO_DOT, NULL, false},
};
#define OUTPUT_WORDS 6

int topo_set_output(struct cli_options *o, const char *arg)
{
	const char *end = strrchr(arg, '.');

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		bool file = end && end > arg && end[-1] != '/' && !strcmp(end + 1, outputs[i].name);

		if (!file && (i >= OUTPUT_WORDS || strcmp(arg, outputs[i].name) != 0))
			continue;
		o->picture = &outputs[i];
		o->output = file ? arg : NULL;
		return 0;
	}
	return prog_fail("topo: --format: '%s' is not one of ibnetdiscover, dot, svg, png, pdf, "
			 "html, nor a file whose name ends in .topo, .dot, .gv, .svg, .png, .pdf "
			 "or .html",
			 arg);
}

int topo_set_hosts(struct cli_options *o, const char *arg)
{
	const char *end = NULL;
	uint64_t n = 0;

	if (!strcmp(arg, "all"))
		n = UINT32_MAX;
	else if (*arg >= '0' && *arg <= '9')
		n = num_decimal(arg, &end);
	else if (strcmp(arg, "count") != 0 || !*arg)
		end = arg;
	if ((end && *end) || n > UINT32_MAX)
		return prog_fail("topo: --hosts: '%s' is not 'all', 'count' or a number", arg);
	o->max_hosts = (uint32_t)n;
	o->hosts_given = true;
	return 0;
}

static int check(const struct cli_options *o)
{
	bool dot = o->picture->format == TOPO_DOT;

	if (o->argc && o->fabric)
		return prog_fail("topo: either '%s' or --fabric", o->argv[0]);
	if (!dot && (o->hosts_given || o->counters))
		return prog_fail("topo: %s is for pictures: -o dot, svg, png or pdf",
				 o->hosts_given ? "--hosts" : "--counters");
	if (o->argc && o->counters)
		return prog_fail("topo: --counters needs a fabric: '%s' has no counters",
				 o->argv[0]);
	if (o->picture->binary && !o->output && isatty(STDOUT_FILENO))
		return prog_fail("topo: standard output is a terminal: -o FILE.%s",
				 o->picture->name);
	return 0;
}

/* ---- the text: a memfd, or PROG_FAILED after a message */

static int of_fabric(const struct cli_options *o)
{
	struct link_msg m = {.op = LINK_TOPO,
			     .arg = o->picture->format,
			     .hca = o->max_hosts,
			     .port = o->counters};
	int sock = client_connect(o, "topo"), fd = -1, r;

	if (sock == PROG_FAILED)
		return PROG_FAILED;
	r = client_request(sock, &m, &fd);
	close(sock);
	if (r < 0 || fd < 0)
		return prog_fail("topo: the fabric does not answer: %s", strerror(r ? -r : EPROTO));
	return fd;
}

static int write_spec(FILE *f, const struct cli_options *o, const struct topo *t)
{
	const struct dot_options dot = {.max_hosts = o->max_hosts};
	struct picture p;
	int r;

	if (o->picture->format == TOPO_IBNETDISCOVER)
		return topo_write_ibnetdiscover(f, t);
	r = picture_init(&p, t);
	if (r)
		return r;
	r = o->picture->format == TOPO_DOT ? picture_write_dot(f, &p, &dot)
					   : picture_write_page(f, &p);
	picture_finish(&p);
	return r;
}

static int of_spec(const struct cli_options *o)
{
	/* subnet/build.c chooses the same defaults. */
	const struct topo_defaults defaults = {.vendor_id = 0x2c9,
					       .ca_id = o->fab.caps.pci_device,
					       .switch_id = 0xd2f0,
					       .width = o->fab.caps.link_width,
					       .speed = o->fab.caps.link_speed};
	_cleanup_close_ int fd = memfd_create("softhca-topo", MFD_CLOEXEC);
	int copy = fd < 0 ? -1 : dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	struct topo t;
	int r;

	if (!f)
		return prog_fail("topo: cannot make a file in memory: %s", strerror(errno));
	if (load("topo", o->argv[0], &t)) {
		fclose(f);
		return PROG_FAILED;
	}
	topo_fill(&t, &defaults);
	r = write_spec(f, o, &t);
	topo_free(&t);
	if (fclose(f) || r < 0)
		return prog_fail("topo: cannot write the topology: %s", strerror(r ? -r : errno));
	return take_fd(&fd);
}

/* ---- images */

#define BITMAP_EASY 16384 /* pixels */

/* dot's words for a bitmap that it has made smaller; others are the user's to read. */
static bool was_scaled(int err, double *scale)
{
	char text[4096];
	ssize_t n = pread(err, text, sizeof(text) - 1, 0);
	const char *by;

	text[n > 0 ? n : 0] = 0;
	by = strstr(text, "too large for cairo-renderer bitmaps. Scaling by ");
	if (!by) {
		fputs(text, stderr);
		return false;
	}
	*scale = strtod(strstr(by, "by ") + 3, NULL);
	return true;
}

/* Nothing can be read in a bitmap of thousands of nodes, or only after zooming far. */
static void judge_bitmap(int image, bool scaled, double scale)
{
	uint8_t head[24] = {0};
	uint32_t width, height;

	if (pread(image, head, sizeof(head), 0) != sizeof(head))
		return;
	width = (uint32_t)head[16] << 24 | head[17] << 16 | head[18] << 8 | head[19];
	height = (uint32_t)head[20] << 24 | head[21] << 16 | head[22] << 8 | head[23];
	if (scaled)
		prog_fail("topo: the picture is too large for a bitmap: it was made smaller, to "
			  "%.0f %% "
			  "(%u x %u pixels), and may not be readable; -o FILE.svg has no limit, -o "
			  "FILE.html zooms, --hosts count draws less",
			  scale * 100, width, height);
	else if (width > BITMAP_EASY || height > BITMAP_EASY)
		prog_fail("topo: the picture has %u x %u pixels, more than many programs show; -o "
			  "FILE.svg and -o FILE.html zoom, --hosts count draws less",
			  width, height);
}

/* Runs dot(1) on the text of `in`. A memfd with its output. */
static int draw(const struct topo_output *form, int in)
{
	_cleanup_close_ int out = memfd_create("softhca-picture", MFD_CLOEXEC);
	_cleanup_close_ int err = memfd_create("softhca-errors", MFD_CLOEXEC);
	char option[16], *argv[] = {(char *)"dot", option, NULL};
	posix_spawn_file_actions_t files;
	int status = 0, r;
	double scale = 1;
	bool scaled;
	pid_t pid;

	if (out < 0 || err < 0)
		return prog_fail("topo: cannot make a file in memory: %s", strerror(errno));
	snprintf(option, sizeof(option), "-T%s", form->type);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
	r = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (r == ENOENT)
		return prog_fail("topo: -o %s needs dot(1) of Graphviz, which is not installed "
				 "(apt-get install graphviz); -o html needs nothing",
				 form->type);
	if (r)
		return prog_fail("topo: cannot run dot: %s", strerror(r));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	scaled = was_scaled(err, &scale);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return prog_fail("topo: dot could not draw the picture (%s %d)",
				 WIFEXITED(status) ? "exit status" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	if (!strcmp(form->type, "png"))
		judge_bitmap(out, scaled, scale);
	return take_fd(&out);
}

static int copy_out(int fd, const char *name)
{
	FILE *f = name ? fopen(name, "w") : stdout;
	char buf[65536];
	ssize_t n = 0;
	bool bad = !f;

	lseek(fd, 0, SEEK_SET);
	while (!bad && (n = read(fd, buf, sizeof(buf))) > 0)
		bad = fwrite(buf, 1, (size_t)n, f) != (size_t)n;
	if (!name)
		return n < 0 ? prog_fail("topo: %s", strerror(errno)) : 0;
	bad = bad || n < 0 || fflush(f);
	if (bad)
		prog_fail("topo: %s: %s", name, strerror(errno));
	if (f && fclose(f) && !bad)
		return prog_fail("topo: %s: %s", name, strerror(errno));
	return bad ? PROG_FAILED : 0;
}

int cli_topo(struct cli_options *o)
{
	_cleanup_close_ int text = -1, image = -1;
	int fd;

	if (!o->picture)
		o->picture = &outputs[0];
	if (!o->hosts_given)
		o->max_hosts = TOPO_SHOWN_HOSTS;
	if (check(o))
		return PROG_FAILED;
	fd = o->argc ? of_spec(o) : of_fabric(o);
	if (fd == PROG_FAILED)
		return PROG_FAILED;
	text = fd;
	if (o->picture->type) {
		lseek(text, 0, SEEK_SET);
		fd = draw(o->picture, text);
		if (fd == PROG_FAILED)
			return PROG_FAILED;
		image = fd;
	}
	return copy_out(fd, o->output);
}
