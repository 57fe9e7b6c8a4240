// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns port spaces: the bound ports of each host, and the ids that share one. id.h's files call it.
 */
#include "cma/priv.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/bits.h"

/* The port space within a service ID of AF_IB (<rdma/rdma_cm.h>). */
#define PS_MASK UINT64_C(0xffffffffffff0000)
#define PRIVILEGED 1024 /* PROT_SOCK */
/* net.ipv4.ip_local_port_range as it is at first */
enum { PORT_LOW = 32768, PORT_HIGH = 60999 };

static struct cma_binds *chain(struct cma *c, uint32_t host, uint32_t ps, uint16_t port)
{
	return &c->bind[(port ^ ps << 5 ^ host * 2654435761u) % CMA_BINDS];
}

struct cma_bind *cma_bind_find(struct cma *c, uint32_t host, uint32_t ps, uint16_t port)
{
	struct cma_bind *b;

	TAILQ_FOREACH(b, chain(c, host, ps, port), at)
	if (b->port == port && b->host == host && b->ps == ps)
		return b;
	return NULL;
}

/* cma_bind_port() */
static void join(struct cma_bind *b, struct cma_id *id)
{
	union cma_addr *a = &id->src;
	struct sockaddr_ib *ib = cma_ib(a);
	uint64_t sid;

	switch (a->sa.sa_family) {
	case AF_INET:
		be16_store(&a->in.sin_port, b->port);
		break;
	case AF_INET6:
		be16_store(&a->in6.sin6_port, b->port);
		break;
	case AF_IB:
		sid = be64_load(&ib->sib_sid) & be64_load(&ib->sib_sid_mask);
		be64_store(&ib->sib_sid, sid | b->port);
		be64_store(&ib->sib_sid_mask, UINT64_MAX);
		break;
	}
	id->bind = b;
	TAILQ_INSERT_HEAD(&b->owners, id, owner);
}

/* cma_alloc_port() */
static int take(struct cma_id *id, enum rdma_ucm_port_space ps, uint16_t port)
{
	struct cma_bind *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->host = id->host;
	b->ps = ps;
	b->port = port;
	TAILQ_INIT(&b->owners);
	TAILQ_INSERT_TAIL(chain(id->c, b->host, ps, port), b, at);
	join(b, id);
	return 0;
}

void cma_release_port(struct cma_id *id)
{
	struct cma_bind *b = id->bind;

	if (!b)
		return;
	id->bind = NULL;
	TAILQ_REMOVE(&b->owners, id, owner);
	if (!TAILQ_EMPTY(&b->owners))
		return;
	TAILQ_REMOVE(chain(id->c, b->host, b->ps, b->port), b, at);
	free(b);
}

static bool differ(const union cma_addr *a, const union cma_addr *b)
{
	return !cma_addr_any(a) && !cma_addr_any(b) && cma_addr_cmp(a, b);
}

/* cma_port_is_unique(): the kernel may choose a port that others use, if their addresses differ. */
static bool unique(const struct cma_bind *b, const struct cma_id *id)
{
	const struct cma_id *cur;
	uint16_t dport = cma_addr_port(&id->dst);

	TAILQ_FOREACH(cur, &b->owners, owner)
	{
		uint16_t other = cma_addr_port(&cur->dst);

		if (cur == id || (dport && other && dport != other) ||
		    differ(&id->src, &cur->src) || differ(&id->dst, &cur->dst))
			continue;
		return false;
	}
	return true;
}

/* cma_alloc_any_port(): from a random port on; the last one is not used again at once. */
static int take_any(struct cma_id *id, enum rdma_ucm_port_space ps)
{
	struct cma *c = id->c;
	uint32_t n = PORT_HIGH - PORT_LOW + 1, first = cma_random(c, n);

	for (uint32_t i = 0; i < n; i++) {
		uint16_t port = (uint16_t)(PORT_LOW + (first + i) % n);
		struct cma_bind *b;
		int r = 0;

		if (c->last_port == port)
			continue;
		b = cma_bind_find(c, id->host, ps, port);
		if (!b)
			r = take(id, ps, port);
		else if (unique(b, id))
			join(b, id);
		else
			continue;
		if (!r)
			c->last_port = port;
		return r;
	}
	return -EADDRNOTAVAIL;
}

/* cma_check_port(): for a bind to a given port number, and for listening. */
static int check(const struct cma_bind *b, const struct cma_id *id, bool reuseaddr)
{
	const struct cma_id *cur;

	TAILQ_FOREACH(cur, &b->owners, owner)
	{
		if (cur == id || (reuseaddr && cur->reuseaddr))
			continue;
		if (id->afonly && cur->afonly && id->src.sa.sa_family != cur->src.sa.sa_family)
			continue;
		if (cma_addr_any(&id->src) || cma_addr_any(&cur->src))
			return -EADDRNOTAVAIL;
		if (!cma_addr_cmp(&id->src, &cur->src))
			return -EADDRINUSE;
	}
	return 0;
}

int cma_check_port(struct cma_id *id, bool reuseaddr)
{
	return id->bind ? check(id->bind, id, reuseaddr) : 0;
}

/* capable(CAP_NET_BIND_SERVICE) */
static bool may_bind_low(uint32_t pid)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, (int)pid};
	struct __user_cap_data_struct data[2] = {0};

	if (!pid || syscall(SYS_capget, &hdr, data))
		return false;
	return data[0].effective >> CAP_NET_BIND_SERVICE & 1;
}

/* cma_use_port() */
static int use(struct cma_id *id, enum rdma_ucm_port_space ps)
{
	uint16_t port = cma_addr_port(&id->src);
	struct cma_bind *b;
	int r;

	if (port < PRIVILEGED && !may_bind_low(id->pid))
		return -EACCES;
	b = cma_bind_find(id->c, id->host, ps, port);
	if (!b)
		return take(id, ps, port);
	r = check(b, id, id->reuseaddr);
	if (!r)
		join(b, id);
	return r;
}

/* cma_select_ib_ps(): the first port space that the service ID may mean; 0: none. */
static uint32_t ib_ps(struct cma_id *id)
{
	static const uint32_t known[] = {RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP};
	struct sockaddr_ib *ib = cma_ib(&id->src);
	uint64_t all = be64_load(&ib->sib_sid_mask), mask = all & PS_MASK;
	uint64_t sid = be64_load(&ib->sib_sid) & mask;

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t base = (uint64_t)known[i] << 16;

		if ((id->ps != RDMA_PS_IB && id->ps != known[i]) || sid != (base & mask))
			continue;
		be64_store(&ib->sib_sid, base | cma_addr_port(&id->src));
		be64_store(&ib->sib_sid_mask, PS_MASK | all);
		return known[i];
	}
	return 0;
}

static uint32_t inet_ps(const struct cma_id *id)
{
	switch (id->ps) {
	case RDMA_PS_TCP:
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
	case RDMA_PS_IB:
		return id->ps;
	default:
		return 0;
	}
}

int cma_get_port(struct cma_id *id)
{
	uint32_t ps = id->src.sa.sa_family == AF_IB ? ib_ps(id) : inet_ps(id);

	if (!ps)
		return -EPROTONOSUPPORT;
	return cma_addr_port(&id->src) ? use(id, ps) : take_any(id, ps);
}
