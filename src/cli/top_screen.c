/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the terminal of `softhca top`, by ncurses: keys, scrolling, its size, and its restoration
 * when a signal ends us. All waiting is in one ppoll(2), where signals are let in.
 */
#include "cli/top.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/watch.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define LOOK_NS (200 * NSEC_PER_MSEC) /* how often to look whether the fabric is still there */

static volatile sig_atomic_t ended_by; /* the signal that ends us */

static void note_signal(int sig)
{
	ended_by = sig;
}

struct screen {
	struct seg *s;
	struct top_view *v;
	struct top_sample now;
	struct top_page page;
	size_t offset; /* lines that are scrolled away */
	bool asking;   /* a filter is being typed */
	bool quit, fresh;
};

/* ---- drawing */

static void draw_line(int row, const struct top_line *l)
{
	int style = l->style == TOP_HEAD ? A_REVERSE : l->style == TOP_BAD ? A_BOLD : A_NORMAL;

	attrset(style);
	/*
	 * Fill the row before writing: a text as wide as the screen moves the cursor to the next
	 * row.
	 */
	if (l->style == TOP_HEAD)
		mvhline(row, 0, ' ' | (chtype)style, COLS);
	mvaddnstr(row, 0, l->text, COLS);
	attrset(A_NORMAL);
}

static void draw(struct screen *c)
{
	size_t body = c->page.n - c->page.fixed, rows;
	int row = 0;

	erase();
	for (; (size_t)row < c->page.fixed && row < LINES; row++)
		draw_line(row, &c->page.line[row]);
	rows = LINES > row + 1 ? (size_t)(LINES - row - 1) : 0;
	if (c->offset + rows > body)
		c->offset = body > rows ? body - rows : 0;
	for (size_t i = c->offset; i < body && row < LINES - 1; i++, row++)
		draw_line(row, &c->page.line[c->page.fixed + i]);
	if (c->asking)
		mvprintw(LINES - 1, 0, "only rows with: %s", c->v->filter);
	else
		mvaddnstr(
			LINES - 1, 0,
			"q quit  p pause  s sort  r reverse  / filter  a all  j k PgUp PgDn scroll",
			COLS);
	clrtoeol();
	refresh();
}

/* Draws the page again from the current sample. */
static bool paint(struct screen *c)
{
	top_page_free(&c->page);
	if (!top_page(&c->now, c->v, &c->page))
		return false;
	draw(c);
	return true;
}

static bool take(struct screen *c)
{
	struct top_sample next;

	if (!top_sample(c->s, &c->now, &next))
		return false;
	top_sample_free(&c->now);
	c->now = next;
	return paint(c);
}

/* ---- keys */

static void filter_key(struct screen *c, int key)
{
	size_t n = strlen(c->v->filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		c->asking = false;
	} else if (key == 27) { /* Esc */
		c->asking = false;
		c->v->filter[0] = '\0';
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		if (n)
			c->v->filter[n - 1] = '\0';
	} else if (key >= ' ' && key < 127 && n + 1 < sizeof(c->v->filter)) {
		c->v->filter[n] = (char)key;
		c->v->filter[n + 1] = '\0';
	}
}

static void scroll_by(struct screen *c, long n)
{
	if (n < 0 && c->offset < (size_t)-n)
		c->offset = 0;
	else
		c->offset += (size_t)n; /* draw() limits it */
}

static void on_key(struct screen *c, int key)
{
	struct top_view *v = c->v;

	if (c->asking && key != KEY_RESIZE) {
		filter_key(c, key);
		return;
	}
	switch (key) {
	case 'q':
		c->quit = true;
		break;
	case 'p':
		v->paused = !v->paused;
		break;
	case 's':
		v->sort = (v->sort + 1) % TOP_SORTS;
		break;
	case 'r':
		v->reverse = !v->reverse;
		break;
	case 'a':
		v->all = !v->all;
		break;
	case '/':
		v->filter[0] = '\0';
		c->asking = true;
		break;
	case ' ':
		c->fresh = true;
		break;
	case 'j':
	case KEY_DOWN:
		scroll_by(c, 1);
		break;
	case 'k':
	case KEY_UP:
		scroll_by(c, -1);
		break;
	case KEY_NPAGE:
		scroll_by(c, LINES / 2);
		break;
	case KEY_PPAGE:
		scroll_by(c, -LINES / 2);
		break;
	case KEY_HOME:
	case 'g':
		c->offset = 0;
		break;
	case KEY_END:
	case 'G':
		c->offset = c->page.n;
		break;
	}
}

/* ---- the loop */

static void let_in(sigset_t *waiting)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction sa = {.sa_handler = note_signal};
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGWINCH);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], &sa, NULL);
		sigaddset(&block, ends[i]);
	}
	sigprocmask(SIG_BLOCK, &block, waiting);
}

/* Waits for a key, a signal, or the given time. */
static void wait_for(uint64_t until, const sigset_t *waiting)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t now = clock_now_ns(), ns = until > now ? until - now : 0;
	struct timespec ts;
	sigset_t blocked;

	if (ns > LOOK_NS)
		ns = LOOK_NS;
	ts = (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
	ppoll(&in, 1, &ts, waiting);
	if (in.revents & (POLLERR | POLLHUP | POLLNVAL))
		ended_by = SIGHUP; /* the terminal is gone */
	/* With input at hand ppoll() lets no signal in. */
	sigprocmask(SIG_SETMASK, waiting, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Returns false when there is no memory. */
static bool loop(struct screen *c, uint32_t times, const sigset_t *waiting)
{
	uint64_t step = (uint64_t)(c->v->interval * (double)NSEC_PER_SEC);
	uint64_t next = clock_now_ns() + step;
	bool ok = take(c);
	int key;

	while (ok && !c->quit && !ended_by && !watch_over(c->s)) {
		wait_for(next, waiting);
		c->fresh = false;
		while ((key = getch()) != ERR)
			on_key(c, key);
		if (clock_now_ns() < next && !c->fresh) {
			ok = paint(c);
			continue;
		}
		next = clock_now_ns() + step;
		ok = c->v->paused && !c->fresh ? paint(c) : take(c);
		c->quit |= times && !--times;
	}
	return ok;
}

int top_screen(struct seg *s, struct top_view *v, uint32_t times)
{
	struct screen c = {.s = s, .v = v};
	SCREEN *term = newterm(NULL, stdout, stdin);
	sigset_t waiting;
	bool ok;

	if (!term)
		return prog_fail("top: nothing is known of this terminal (TERM=%s): use --batch",
				 getenv("TERM") ? getenv("TERM") : "");
	let_in(&waiting);
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	ok = loop(&c, times, &waiting);
	endwin();
	delscreen(term);
	top_page_free(&c.page);
	top_sample_free(&c.now);
	if (ended_by && ended_by != SIGINT) {
		signal(ended_by, SIG_DFL);
		raise(ended_by);
		sigprocmask(SIG_SETMASK, &waiting, NULL);
	}
	if (!ok)
		return prog_fail("top: out of memory");
	if (!c.quit && !ended_by)
		prog_fail("top: fabric '%s' has ended", v->fabric);
	return 0;
}
