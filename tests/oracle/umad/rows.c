/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements rows.h, and runs the groups: `oracle_umad [GROUP...]`. */
#include "rows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A row that takes longer hangs, also in an emulated machine. */
#define HANGS 120

void *volatile nowhere = (void *)16;

static char key[160], answer[1 << 16];
static size_t answer_len;
static uint8_t is_open[1024];

static void stop(const char *why)
{
	fprintf(stderr, "umad: %s: %s (%s); so far: %s\n", key, why, strerror(errno), answer);
	exit(3);
}

static void hangs(int sig)
{
	static const char text[] = "umad: a row hangs: ";

	(void)sig;
	(void)!write(2, text, sizeof(text) - 1);
	(void)!write(2, key, strlen(key));
	(void)!write(2, "\n", 1);
	_exit(3);
}

/* ---- rows */

void say(const char *format, ...)
{
	va_list ap;
	int n;

	if (answer_len + 1 < sizeof(answer))
		answer[answer_len++] = ' ';
	va_start(ap, format);
	n = vsnprintf(answer + answer_len, sizeof(answer) - answer_len, format, ap);
	va_end(ap);
	answer_len += (size_t)n;
	if (answer_len >= sizeof(answer))
		stop("an answer without end");
}

void say_result(const char *what, long r)
{
	say("%s%s", what, r < 0 ? strerrorname_np(errno) : "0");
}

static bool dropped;

void rows_end(void)
{
	if (!key[0])
		return;
	settle();
	for (int fd = 0; fd < (int)sizeof(is_open); fd++)
		if (is_open[fd])
			umad_close(fd);
	settle();
	if (!dropped)
		printf("%s\t%s\n", key, answer_len ? answer + 1 : "");
	dropped = false;
	key[0] = '\0';
}

bool row_drop_if(bool late)
{
	dropped = late;
	return late;
}

/* Agents' numbers in transaction IDs differ between runs: shown by their order of appearance. */
static uint32_t numbers[64];
static unsigned int nnumbers;

void row(const char *format, ...)
{
	va_list ap;

	rows_end();
	alarm(HANGS);
	va_start(ap, format);
	vsnprintf(key, sizeof(key), format, ap);
	va_end(ap);
	answer_len = 0;
	answer[0] = '\0';
	nnumbers = 0;
}

static unsigned int number_of(uint32_t n)
{
	unsigned int i = 0;

	while (i < nnumbers && numbers[i] != n)
		i++;
	if (i == nnumbers && i < COUNT(numbers))
		numbers[nnumbers++] = n;
	return i;
}

/* ---- files and agents */

int umad_open(int flags)
{
	int fd = open("/dev/infiniband/umad0", flags | O_CLOEXEC);

	if (fd < 0 || fd >= (int)sizeof(is_open))
		stop("open");
	is_open[fd] = 1;
	return fd;
}

int umad(void)
{
	return umad_open(O_RDWR | O_NONBLOCK);
}

int umad_close(int fd)
{
	is_open[fd] = 0;
	return close(fd);
}

static int reg1(int fd, const struct reg *r)
{
	struct ib_user_mad_reg_req q = {
		.qpn = (uint8_t)r->qpn,
		.mgmt_class = r->mgmt_class,
		.mgmt_class_version = r->version,
		.oui = {(uint8_t)(r->oui >> 16), (uint8_t)(r->oui >> 8), (uint8_t)r->oui},
		.rmpp_version = r->rmpp,
	};

	memcpy(q.method_mask, r->methods, sizeof(q.method_mask));
	return ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &q) ? -1 : (int)q.id;
}

static int reg2(int fd, const struct reg *r)
{
	struct ib_user_mad_reg_req2 q = {
		.qpn = r->qpn,
		.mgmt_class = r->mgmt_class,
		.mgmt_class_version = r->version,
		.oui = r->oui,
		.rmpp_version = r->rmpp,
		.flags = r->flags,
	};

	memcpy(q.method_mask, r->methods, sizeof(q.method_mask));
	return ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &q) ? -1 : (int)q.id;
}

int reg(int fd, const struct reg *r, int ioctl_nr)
{
	return ioctl_nr == 1 ? reg1(fd, r) : reg2(fd, r);
}

int unreg(int fd, uint32_t id)
{
	return ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id);
}

int agent(int fd, uint8_t mgmt_class, uint64_t methods)
{
	const struct reg r = {.qpn = 1,
			      .mgmt_class = mgmt_class,
			      .version = 1,
			      .oui = mgmt_class >= 0x30 ? OUI : 0,
			      .methods = {methods}};
	int id = reg2(fd, &r);

	if (id < 0)
		stop("register");
	return id;
}

/* ---- GIDs of the port */

struct entry {
	char kind, type; /* kind 'L' link-local, '4' IPv4, '6' IPv6; RoCE v1 or v2 */
	uint8_t gid[16];
};
static struct entry entries[16];
static char device[64];

static bool line_of(char *to, size_t size, const char *format, unsigned int i)
{
	char path[200];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), format, device, i);
	f = fopen(path, "r");
	if (!f)
		return false;
	ok = fgets(to, (int)size, f);
	fclose(f);
	to[ok ? strcspn(to, "\n") : 0] = '\0';
	return ok;
}

static void find_gids(void)
{
	char text[64], name[64];

	if (!line_of(name, sizeof(name), "/sys/class/infiniband_mad/umad0/ibdev", 0))
		stop("no umad0");
	memcpy(device, name, sizeof(device));
	for (unsigned int i = 0; i < COUNT(entries); i++) {
		struct entry *e = &entries[i];
		static const uint8_t none[16], ipv4[12] = {[10] = 0xff, 0xff};

		if (!line_of(text, sizeof(text), "/sys/class/infiniband/%s/ports/1/gids/%u", i) ||
		    inet_pton(AF_INET6, text, e->gid) != 1 || !memcmp(e->gid, none, 16))
			continue;
		line_of(text, sizeof(text), "/sys/class/infiniband/%s/ports/1/gid_attrs/types/%u",
			i);
		e->type = strstr(text, "v2") ? '2' : '1';
		e->kind = !memcmp(e->gid, ipv4, 12) ? '4' : e->gid[0] == 0xfe ? 'L' : '6';
	}
}

uint8_t own_gid(char kind, uint8_t gid[16])
{
	for (uint8_t i = 0; i < COUNT(entries); i++)
		if (entries[i].kind == kind && entries[i].type == '2') {
			memcpy(gid, entries[i].gid, 16);
			return i;
		}
	stop("the port lacks such a GID");
	return 0;
}

static const char *gid_name(const uint8_t gid[16])
{
	static char text[INET6_ADDRSTRLEN];
	static char name[2];

	for (size_t i = 0; i < COUNT(entries); i++)
		if (entries[i].kind && !memcmp(entries[i].gid, gid, 16)) {
			name[0] = entries[i].kind;
			return name;
		}
	return inet_ntop(AF_INET6, gid, text, sizeof(text));
}

/* ---- MADs */

void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

struct packet mad(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint8_t tid)
{
	struct packet p = {.hdr = {.qpn = htonl(1), .grh_present = 1, .hop_limit = 64}};

	p.hdr.gid_index = own_gid('6', p.hdr.gid);
	put_mad_hdr(p.mad, mgmt_class, method, attr, tid);
	for (int i = 64; i < MAD; i++)
		p.mad[i] = (uint8_t)i;
	if (mgmt_class >= 0x30 && mgmt_class < 0x50)
		put32(p.mad + 36, OUI);
	return p;
}

void put(int fd, const struct packet *p)
{
	if (write(fd, p, sizeof(*p)) < 0)
		say_result("write=", -1);
}

void await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, -1) != 1 || p.revents != POLLIN)
		stop("poll");
}

struct packet take(int fd)
{
	struct packet p = {0};

	await(fd);
	if (read(fd, &p, sizeof(p)) < 0)
		say_result("read=", -1);
	return p;
}

/* Markers: classes and a method that no row uses. Their files stay open. */
enum { THERE = 0x0e, BACK = 0x0f, MARK = 0x3e };
static int marker[2] = {-1, -1};

static void make_markers(void)
{
	for (int i = 0; i < 2; i++) {
		marker[i] = umad();
		is_open[marker[i]] = 0;
		agent(marker[i], i ? BACK : THERE, M(MARK));
	}
}

/*
 * Sends a MAD there and a MAD back: the second one leaves after every answer to what came before.
 * The transaction ID never changes, so write() fails (is_duplicate()) until all earlier sends have
 * ended.
 */
void settle(void)
{
	/* two rounds: the second one starts when the sends of the first have ended */
	for (int n = 0; n < 4; n++) {
		const int i = n % 2;
		const struct packet p = mad(i ? BACK : THERE, MARK, 1, 1);

		while (write(marker[!i], &p, sizeof(p)) < 0) {
			if (errno != EINVAL)
				stop("a marker");
			usleep(500); /* only polls: sending ends */
		}
		take(marker[i]);
	}
}

static void say_header(const struct ib_user_mad_hdr *h)
{
	char index[4] = "-";

	if (h->grh_present && h->gid_index < COUNT(entries) && entries[h->gid_index].kind)
		snprintf(index, sizeof(index), "%c%c", entries[h->gid_index].kind,
			 entries[h->gid_index].type);
	say("[%u,st%u,tm%u,re%u,len%u,qp%x,qk%x,lid%x,sl%u,pb%u,pk%u,grh%u", h->id, h->status,
	    h->timeout_ms, h->retries, h->length, ntohl(h->qpn), ntohl(h->qkey), ntohs(h->lid),
	    h->sl, h->path_bits, h->pkey_index, h->grh_present);
	if (h->grh_present)
		say("%s>%s,hop%u,tc%x,fl%x", index, gid_name(h->gid), h->hop_limit,
		    h->traffic_class, ntohl(h->flow_label));
}

static uint32_t sum(const uint8_t *p, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}

void say_packet(const void *buf, long n)
{
	const uint8_t *m = (const uint8_t *)buf + HDR;
	struct ib_user_mad_hdr h;

	if (n < 0) {
		say_result("", n);
		return;
	}
	memcpy(&h, buf, sizeof(h));
	say("%ld", n);
	say_header(&h);
	say("|%02x%02x%02x%02x,st%x,t#%u.%x,a%x.%x", m[0], m[1], m[2], m[3], get32(m + 4),
	    number_of(get32(m + 8)), get32(m + 12), get32(m + 16), get32(m + 20));
	if (n > HDR + MAD_HDR)
		say("%08x.%08x.%08x,%08x]", get32(m + 24), get32(m + 28), get32(m + 32),
		    sum(m + 36, (size_t)n - HDR - 36));
	else
		say("]");
}

void say_reads(const char *what, int fd)
{
	static uint8_t buf[1 << 17];
	long n = read(fd, buf, sizeof(buf));

	say("%s", what);
	if (n < 0 && errno == EAGAIN)
		say("-");
	else
		for (; n >= 0 || errno != EAGAIN; n = read(fd, buf, sizeof(buf))) {
			say_packet(buf, n);
			if (n < 0)
				return;
		}
}

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{"agents", rows_of_agents},     {"files", rows_of_files},
	{"headers", rows_of_headers},   {"dispatch", rows_of_dispatch},
	{"timeouts", rows_of_timeouts}, {"rmpp", rows_of_rmpp},
	{"segments", rows_of_segments},
};

int main(int argc, char **argv)
{
	const time_t start = time(NULL);

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, hangs);
	alarm(HANGS);
	find_gids();
	make_markers();
	for (size_t i = 0; i < COUNT(groups); i++) {
		bool wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], groups[i].name);
		if (!wanted)
			continue;
		groups[i].run();
		rows_end();
		fprintf(stderr, "%s: done %ld s after the start\n", groups[i].name,
			time(NULL) - start);
	}
	return 0;
}
