/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the actions that a test requests at marked points. Empty except in a build with
 * -Dpoints=true. Runs in traps: raw system calls only, no allocation.
 */
#include "util/point.h"

#ifdef SOFTHCA_POINTS

#include "util/clock.h"
#include "util/for_tests.h"
#include "util/sys.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define RULES 8

struct rule {
	const char *name, *action;
	size_t len; /* length of the name */
	uint64_t nth, arg;
	_Atomic uint64_t came;
};

static struct rule rules[RULES];
static _Atomic int nrules = -1; /* -1: the environment has not been read */

static void act_delay(uint64_t us)
{
	struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000 * NSEC_PER_USEC)};

	while (sys_call(SYS_nanosleep, &t, &t) == -EINTR)
		;
}

static void signal_self(int sig)
{
	sys_call(SYS_tgkill, sys_call(SYS_getpid), sys_call(SYS_gettid), sig);
}

static void act_stop(uint64_t arg)
{
	signal_self(SIGSTOP);
}

static void act_kill(uint64_t arg)
{
	signal_self(SIGKILL);
}

static void act_exit(uint64_t arg)
{
	sys_call(SYS_exit_group, 0);
}

static void act_term(uint64_t arg)
{
	sys_call(SYS_exit, 0);
}

static const struct action {
	const char *name;
	void (*act)(uint64_t arg);
} actions[] = {
	{"delay=", act_delay}, {"stop", act_stop}, {"kill", act_kill},
	{"exit", act_exit},    {"term", act_term},
};

static const struct action *action_at(const char *p)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strncmp(p, actions[i].name, strlen(actions[i].name)))
			return &actions[i];
	return NULL;
}

static const char *number(const char *p, uint64_t *v)
{
	for (*v = 0; *p >= '0' && *p <= '9'; p++)
		*v = *v * 10 + (uint64_t)(*p - '0');
	return p;
}

/* Parses one rule; returns the start of the next, or NULL on a syntax error. */
static const char *parse(const char *p, struct rule *r)
{
	const char *colon = strchr(p, ':');
	const struct action *a = colon ? action_at(colon + 1) : NULL;

	if (!a)
		return NULL;
	r->name = p;
	r->len = (size_t)(colon - p);
	r->action = a->name;
	p = number(colon + 1 + strlen(a->name), &r->arg);
	r->nth = 0;
	if (*p == ':')
		p = number(p + 1, &r->nth);
	atomic_store(&r->came, 0);
	if (*p && *p != ',')
		return NULL;
	return *p ? p + 1 : p;
}

bool point_set(const char *spec)
{
	const char *p = spec;
	int n = 0;

	while (p && *p && n < RULES) {
		p = parse(p, &rules[n]);
		n += p != NULL;
	}
	atomic_store(&nrules, n);
	return !spec || (p && !*p);
}

/* Several threads may do this at the same time; all get the same result. */
static const char *from_environment(void)
{
	static const char var[] = "SOFTHCA_POINT=";

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, var, sizeof(var) - 1))
			return *e + sizeof(var) - 1;
	return NULL;
}

void (*point_hook)(const char *name);

void point_hit(const char *name)
{
	size_t len = strlen(name);

	if (point_hook)
		point_hook(name);
	if (atomic_load(&nrules) < 0)
		point_set(from_environment());
	for (int i = 0; i < atomic_load(&nrules); i++) {
		struct rule *r = &rules[i];

		if (!(r->len == 1 && *r->name == '*') &&
		    (r->len != len || memcmp(r->name, name, len)))
			continue;
		if (atomic_fetch_add(&r->came, 1) + 1 == r->nth || !r->nth)
			action_at(r->action)->act(r->arg);
	}
}

#endif
