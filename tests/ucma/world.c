// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The memory, files, ids, addresses and ports that rows name. */
#include "ucma.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct world world;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(2);
}

static void map(uint64_t at, size_t len, int prot)
{
	void *p = (void *)(uintptr_t)at;

	need(mmap(p, len, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == p,
	     "memory at its fixed address");
}

/* ---- the adapter and its addresses */

static bool line_of(char *to, size_t room, const char *format, ...)
{
	char path[256];
	va_list ap;
	FILE *f;
	bool ok;

	va_start(ap, format);
	vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fgets(to, (int)room, f);
	fclose(f);
	if (ok)
		to[strcspn(to, "\n")] = '\0';
	return ok;
}

static void gid_of(uint8_t gid[16], const char *text)
{
	struct in6_addr a;

	if (inet_pton(AF_INET6, text, &a) == 1)
		memcpy(gid, &a, 16);
}

bool world_gid(unsigned int index, uint8_t gid[16])
{
	char text[64];

	if (!line_of(text, sizeof(text), "/sys/class/infiniband/%s/ports/1/gids/%u", world.device,
		     index))
		return false;
	gid_of(gid, text);
	return true;
}

static void find_device(void)
{
	static const char *const names[] = {"rxe0", "mlx5_0"};
	unsigned int a, b, c, d;
	char text[64];

	for (size_t i = 0; i < 2 && !world.device[0]; i++)
		if (line_of(text, sizeof(text), "/sys/class/infiniband/%s/ports/1/link_layer",
			    names[i])) {
			snprintf(world.device, sizeof(world.device), "%s", names[i]);
			world.roce = !strcmp(text, "Ethernet");
		}
	need(world.device[0], "an RDMA device");
	need(world_gid(0, world.gid0), "gids/0");
	if (line_of(text, sizeof(text), "/sys/class/infiniband/%s/ports/1/lid", world.device))
		world.lid = (uint16_t)strtoul(text, NULL, 0);
	if (line_of(text, sizeof(text), "/sys/class/infiniband/%s/node_guid", world.device) &&
	    sscanf(text, "%x:%x:%x:%x", &a, &b, &c, &d) == 4)
		world.node_guid = (uint64_t)a << 48 | (uint64_t)b << 32 | c << 16 | d;
	line_of(world.netdev, sizeof(world.netdev),
		"/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0", world.device);
	world.ifindex = if_nametoindex(world.netdev);
}

static void find_addresses(const char *address)
{
	struct ifaddrs *list, *i;

	if (address)
		need(inet_pton(AF_INET, address, &world.me) == 1, address);
	if (getifaddrs(&list))
		return;
	for (i = list; i; i = i->ifa_next) {
		const struct sockaddr_in *s4 = (const void *)i->ifa_addr;
		const struct sockaddr_in6 *s6 = (const void *)i->ifa_addr;

		if (!i->ifa_addr || strcmp(i->ifa_name, world.netdev) != 0)
			continue;
		if (s4->sin_family == AF_INET && !world.me.s_addr)
			world.me = s4->sin_addr;
		if (s6->sin6_family != AF_INET6)
			continue;
		if (IN6_IS_ADDR_LINKLOCAL(&s6->sin6_addr)) {
			world.me6_local = s6->sin6_addr;
			world.have6_local = true;
		} else {
			world.me6 = s6->sin6_addr;
			world.have6 = true;
		}
	}
	freeifaddrs(list);
	errno = 0;
	need(world.me.s_addr, "the adapter's address: give it with -a");
}

void world_make(const char *address)
{
	map(IN_END - 4096, 4096, PROT_READ | PROT_WRITE);
	map(OUT_END - 8192, 8192, PROT_READ | PROT_WRITE);
	map(VAL_END - 4096, 4096, PROT_READ | PROT_WRITE);
	map(RDONLY, 4096, PROT_READ);
	find_device();
	find_addresses(address);
	for (int i = 0; i <= NFILES; i++)
		world.file[i] = -1;
}

/* ---- rows */

enum { FIRST_PORT = 10000, PORTS = 10 };

void world_row(unsigned int number)
{
	world.port_base = FIRST_PORT + number * PORTS;
	memset(world.id, 0, sizeof(world.id));
}

int world_file(int n)
{
	if (n < 1 || n > NFILES)
		return -1;
	if (world.file[n] < 0)
		world.file[n] = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	return world.file[n];
}

bool world_opens_as_nobody(void)
{
	const uid_t user = geteuid();
	int fd;

	if (seteuid(NOBODY))
		return false;
	fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	need(!seteuid(user), "seteuid");
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool world_is_ud(uint64_t uid)
{
	return uid >= UID('A') && uid <= UID('Z') && world.id[uid - UID('A')].ud;
}

/* Numbers are given out lowest first (xa_alloc), machine-wide: 0 is free if no id is left. */
static bool first_id_is_0(void)
{
	uint32_t id = 1;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id cmd;
	} c = {.hdr = {.cmd = RDMA_USER_CM_CMD_CREATE_ID, .in = sizeof(c.cmd), .out = sizeof(id)},
	       .cmd = {.response = (uintptr_t)&id, .ps = RDMA_PS_TCP}};
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	bool ok = write(fd, &c, sizeof(c)) == sizeof(c) && id == 0;

	close(fd);
	return ok;
}

bool world_row_end(void)
{
	for (int i = 1; i <= NFILES; i++) {
		if (world.file[i] >= 0)
			close(world.file[i]);
		world.file[i] = -1;
	}
	if (geteuid() != getuid())
		need(!seteuid(getuid()), "seteuid");
	return first_id_is_0();
}

/* ---- addresses: NAME or NAME:PORT, a port being a number or p1 to p9, the row's own */

uint16_t world_port(const char *text, bool *ok)
{
	char *end;
	unsigned long n = strtoul(text + (text[0] == 'p'), &end, 0);

	*ok = end != text && !*end;
	return (uint16_t)(text[0] == 'p' ? world.port_base + n : n);
}

static const struct {
	const char *name;
	uint16_t family;
	const char *address;
} named[] = {
	{"me", AF_INET, NULL},
	{"any", AF_INET, "0.0.0.0"},
	{"lo", AF_INET, "127.0.0.1"},
	{"net0", AF_INET, "0.1.2.3"},
	{"127.0.3.5", AF_INET, "127.0.3.5"}, /* softhca gives other nets of 127/8 to hosts */
	{"nobody", AF_INET, "203.0.113.7"},
	{"broadcast", AF_INET, "255.255.255.255"},
	{"mc", AF_INET, "239.1.2.3"},
	{"mc2", AF_INET, "239.1.2.4"},
	{"me6", AF_INET6, NULL},
	{"ll6", AF_INET6, NULL},
	{"noscope6", AF_INET6, "fe80::1"},
	{"badscope6", AF_INET6, "fe80::1"},
	{"any6", AF_INET6, "::"},
	{"lo6", AF_INET6, "::1"},
	{"nobody6", AF_INET6, "2001:db8::7"},
	{"mc6", AF_INET6, "ff0e::1:2"},
	{"sa6", AF_INET6, "ff12:a01b:fe80::1:2"}, /* looks like an MGID that the SA gave out */
	{"ib0", AF_IB, NULL},
	{"ibany", AF_IB, "::"},
	{"iblo", AF_IB, "::1"},
	{"ibnobody", AF_IB, "fec0::dead"},
	{"ibstranger", AF_IB, "fe80::dead"}, /* has the subnet's prefix */
};

static void neighbour(struct in_addr *a)
{
	*a = world.me;
	a->s_addr ^= htonl(0x80);
}

static size_t inet4(const char *name, const char *address, uint16_t port, struct sockaddr_in *to)
{
	to->sin_family = AF_INET;
	to->sin_port = htons(port);
	if (address)
		inet_pton(AF_INET, address, &to->sin_addr);
	else if (!strcmp(name, "neighbour"))
		neighbour(&to->sin_addr);
	else
		to->sin_addr = world.me;
	return sizeof(*to);
}

static size_t inet6(const char *name, const char *address, uint16_t port, struct sockaddr_in6 *to)
{
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	if (address)
		inet_pton(AF_INET6, address, &to->sin6_addr);
	else if (!strcmp(name, "ll6"))
		to->sin6_addr = world.me6_local;
	else
		to->sin6_addr = world.me6;
	if (!strcmp(name, "ll6"))
		to->sin6_scope_id = world.ifindex;
	if (!strcmp(name, "badscope6"))
		to->sin6_scope_id = 9999;
	return sizeof(*to);
}

/* `ib0/udp:p1`: the service is one of a port space. */
static size_t inet_ib(const char *name, const char *address, const char *space, uint16_t port,
		      struct ucma_sockaddr_ib *to)
{
	uint64_t sid = UINT64_C(0x1060000);

	if (space && !strcmp(space, "udp"))
		sid = UINT64_C(0x1110000);
	if (space && !strcmp(space, "ib"))
		sid = UINT64_C(0x13f0000);
	to->family = AF_IB;
	to->pkey = htons(0xffff);
	to->sid = htobe64(sid | port);
	to->sid_mask = ~UINT64_C(0);
	if (space && !strcmp(space, "any"))
		to->sid = to->sid_mask = 0;
	if (address)
		inet_pton(AF_INET6, address, to->addr);
	else
		memcpy(to->addr, world.gid0, 16);
	return sizeof(*to);
}

static size_t make_address(const char *name, const char *space, uint16_t port, void *to)
{
	if (!strcmp(name, "neighbour"))
		return inet4(name, NULL, port, to);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (strcmp(named[i].name, name) != 0)
			continue;
		if (named[i].family == AF_INET)
			return inet4(name, named[i].address, port, to);
		if (named[i].family == AF_INET6)
			return inet6(name, named[i].address, port, to);
		return inet_ib(name, named[i].address, space, port, to);
	}
	return 0;
}

/* `family:N` is an address whose family has the number N; `none` is no address. */
size_t world_address(const char *text, void *to, size_t room)
{
	struct __kernel_sockaddr_storage all = {0};
	char name[64], *port, *space;
	bool ok = true;
	size_t n;

	snprintf(name, sizeof(name), "%s", text);
	port = strchr(name, ':');
	if (port)
		*port++ = '\0';
	space = strchr(name, '/');
	if (space)
		*space++ = '\0';
	if (!strcmp(name, "family")) {
		all.ss_family = (uint16_t)strtoul(port ? port : "0", NULL, 0);
		n = sizeof(struct sockaddr_in);
	} else {
		n = make_address(name, space, port ? world_port(port, &ok) : 0, &all);
	}
	memcpy(to, &all, room < sizeof(all) ? room : sizeof(all));
	return ok ? n : 0;
}

/* From the port to itself: what an SA would answer. */
size_t world_path(const char *text, void *to, size_t room)
{
	struct ib_path_rec_data d = {.flags =
					     IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL};
	uint8_t *rec = (uint8_t *)d.path_rec;
	const uint8_t *gid = world.gid0;
	uint8_t map[16] = {[10] = 0xff, [11] = 0xff};
	const uint16_t lid = htons(world.lid);

	if (text[4] == ':')
		d.flags = (uint32_t)strtoul(text + 5, NULL, 0);
	memcpy(map + 12, &world.me, 4);
	if (world.roce)
		gid = map;
	memcpy(rec + 8, gid, 16);
	memcpy(rec + 24, gid, 16);
	memcpy(rec + 40, &lid, 2);
	memcpy(rec + 42, &lid, 2);
	rec[49] = 0x81;           /* reversible, one path */
	rec[50] = rec[51] = 0xff; /* P_Key */
	rec[54] = 0x83;           /* MTU 1024 */
	rec[55] = 0x83;           /* rate 10 Gb/s */
	rec[56] = 0x92;           /* lifetime 18 */
	memcpy(to, &d, sizeof(d) < room ? sizeof(d) : room);
	return sizeof(d);
}
