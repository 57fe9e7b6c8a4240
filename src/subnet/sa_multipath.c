/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns MultiPathRecord (GetMulti): paths from several GIDs to several others, as PathRecords. The
 * rules are those of OpenSM's osm_sa_multipath_record.c. sa.c calls this; sa_path.c makes the
 * records.
 */
#include "subnet/sa.h"

#include <string.h>
#include "hw/port.h"
#include "wire/ib/link.h"

#define MAX_GIDS 11 /* IB_MULTIPATH_MAX_GIDS */
#define MAX_PATHS 127

/* Component numbers. */
enum { MPR_SERVICE_MSB = 16, MPR_SGIDS = 19, MPR_DGIDS = 20, MPR_SERVICE_LSB = 21 };

/* Components that a PathRecord has, too; there their numbers are higher by PATH_BITS. */
#define PATH_BITS 6
#define SHARED(F)                        \
	F(2, flow_label)                 \
	F(3, hop_limit)                  \
	F(4, tclass)                     \
	F(5, reversible)                 \
	F(7, pkey)                       \
	F(8, qos_class)                  \
	F(9, sl)                         \
	F(10, mtu_selector)              \
	F(11, mtu)                       \
	F(12, rate_selector)             \
	F(13, rate)                      \
	F(14, packet_life_time_selector) \
	F(15, packet_life_time)
enum { MPR_NUMB_PATH = 6, MPR_MTU_SEL = 10, MPR_MTU, MPR_RATE_SEL, MPR_RATE };

struct ends {
	uint32_t nsrc, ndst;
	uint32_t port[MAX_GIDS];
	const uint8_t *gid[MAX_GIDS];
};

#define WANT(c, f) LAYOUT_GET32(multi_path_record, (c)->want, f)

static uint16_t multi_valid(const struct sa_call *c)
{
	bool msb = sa_has(c, MPR_SERVICE_MSB), lsb = sa_has(c, MPR_SERVICE_LSB);

	if (!(LAYOUT_GET(mad_rmpp, c->in, flags) & MAD_RMPP_ACTIVE))
		return SA_STATUS_REQ_INVALID;
	if (!sa_has(c, MPR_SGIDS) || !sa_has(c, MPR_DGIDS))
		return SA_STATUS_REQ_INSUFFICIENT_COMPONENTS;
	if (sa_has(c, MPR_RATE_SEL) && sa_has(c, MPR_RATE) && !ib_rate_gb10(WANT(c, rate)))
		return SA_STATUS_REQ_INVALID;
	if (sa_has(c, MPR_MTU_SEL) && sa_has(c, MPR_MTU) && (WANT(c, mtu) < 1 || WANT(c, mtu) > 5))
		return SA_STATUS_REQ_INVALID;
	return msb == lsb ? MAD_STATUS_OK : SA_STATUS_REQ_INSUFFICIENT_COMPONENTS;
}

/* mpr_rcv_get_end_points() */
static uint16_t find_ends(const struct sa_call *c, struct ends *e)
{
	const uint8_t *gid = c->want + MULTI_PATH_GIDS;

	e->nsrc = WANT(c, sgid_count) < MAX_GIDS ? WANT(c, sgid_count) : MAX_GIDS;
	e->ndst = WANT(c, dgid_count);
	if (e->ndst > MAX_GIDS - e->nsrc)
		e->ndst = MAX_GIDS - e->nsrc;
	for (uint32_t i = 0; i < e->nsrc + e->ndst; i++, gid += 16) {
		e->gid[i] = gid;
		e->port[i] = fab_port_by_gid(c->s, gid);
		if (e->port[i] == SEG_NONE || hw_port_is_eth(hw_port(c->s, e->port[i])))
			return SA_STATUS_REQ_INVALID_GID;
	}
	return e->nsrc && e->ndst ? MAD_STATUS_OK : SA_STATUS_REQ_INVALID;
}

/* The same request for one pair of GIDs, as a PathRecord. */
static void as_path(const struct sa_call *c, const struct ends *e, uint32_t src, uint32_t dst,
		    struct sa_path_want *w)
{
	memset(w, 0, sizeof(*w));
#define COPY(bit, f)                                               \
	if (sa_has(c, bit)) {                                      \
		LAYOUT_SET(path_record, w->record, f, WANT(c, f)); \
		w->mask |= UINT64_C(1) << (bit + PATH_BITS);       \
	}
	SHARED(COPY)
#undef COPY
	memcpy(LAYOUT_IN(path_record, sgid, w->record), e->gid[src], 16);
	memcpy(LAYOUT_IN(path_record, dgid, w->record), e->gid[dst], 16);
	w->mask |= SA_PATH_GIDS;
}

static uint32_t lid_count(const struct sa_call *c, uint32_t port)
{
	return 1u << hw_port(c->s, port)->lmc;
}

/* ---- two paths of two sources and two destinations: for automatic path migration */

static uint32_t hash_lids(uint32_t a, uint32_t b, uint32_t lmc)
{
	return ((a >> lmc) << 4 | b >> lmc) % 103;
}

/* Put the two ends from `first` on in the order of their port GUIDs. */
static void order_pair(const struct sa_call *c, struct ends *e, uint32_t first)
{
	uint32_t port = e->port[first];
	const uint8_t *gid = e->gid[first];

	if (hw_port(c->s, port)->guid < hw_port(c->s, e->port[first + 1])->guid)
		return;
	e->port[first] = e->port[first + 1];
	e->gid[first] = e->gid[first + 1];
	e->port[first + 1] = port;
	e->gid[first + 1] = gid;
}

/*
 * mpr_rcv_get_apm_port_pair_paths(): one path, of the LIDs from an offset on. Returns its hops; 0:
 * no path.
 */
static uint32_t apm_pair(struct sa_call *c, const struct ends *e, uint32_t src, uint32_t dst,
			 uint32_t offset, uint8_t *record)
{
	uint32_t ns = lid_count(c, e->port[src]), nd = lid_count(c, e->port[dst]), hops = 0;
	struct sa_path_want w;

	as_path(c, e, src, dst, &w);
	for (uint32_t i = 0; i < (ns < nd ? ns : nd) && !hops; i++)
		hops = sa_path_between(
			c, &w, e->port[src], hw_port(c->s, e->port[src])->lid + (offset + i) % ns,
			e->port[dst], hw_port(c->s, e->port[dst])->lid + (offset + i) % nd, record);
	return hops;
}

/* mpr_rcv_get_apm_paths(): the better one of the two pairs of paths without a common end. */
static void apm(struct sa_call *c, struct ends *e)
{
	uint8_t record[2][2][LAYOUT_SZ(path_record)];
	uint32_t hops[2][2], a, b, lo, hi, lmc;

	order_pair(c, e, 0);
	order_pair(c, e, 2);
	lmc = hw_port(c->s, e->port[0])->lmc;
	lo = hw_port(c->s, e->port[0])->lid;
	hi = hw_port(c->s, e->port[2])->lid;
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t d = 0; d < 2; d++)
			hops[s][d] = apm_pair(
				c, e, s, 2 + d,
				s + (lo < hi ? hash_lids(lo, hi, lmc) : hash_lids(hi, lo, lmc)),
				record[s][d]);
	a = hops[0][0] && (!hops[1][1] || hops[0][0] < hops[1][1]) ? hops[0][0] : hops[1][1];
	b = hops[0][1] && (!hops[1][0] || hops[0][1] < hops[1][0]) ? hops[0][1] : hops[1][0];
	for (uint32_t s = 0; s < 2; s++)
		if (hops[s][a <= b ? s : 1 - s])
			sa_emit(c, UINT64_MAX, record[s][a <= b ? s : 1 - s]);
}

/* ---- all pairs */

/* mpr_rcv_process_pairs() */
static void all_pairs(struct sa_call *c, const struct ends *e)
{
	uint32_t left = sa_has(c, MPR_NUMB_PATH) ? WANT(c, numb_path) : MAX_PATHS;

	for (uint32_t s = 0; s < e->nsrc; s++)
		for (uint32_t d = e->nsrc; d < e->nsrc + e->ndst && left; d++) {
			uint32_t a = e->port[s], b = e->port[d];
			uint32_t na = lid_count(c, a), nb = lid_count(c, b);
			struct sa_path_want w;

			as_path(c, e, s, d, &w);
			for (uint32_t i = 0; i < (na > nb ? na : nb) && left; i++) {
				uint8_t r[LAYOUT_SZ(path_record)];

				if (!sa_path_between(c, &w, a, hw_port(c->s, a)->lid + i % na, b,
						     hw_port(c->s, b)->lid + i % nb, r))
					continue;
				sa_emit(c, UINT64_MAX, r);
				left--;
			}
		}
}

static void multi_paths(struct sa_call *c)
{
	struct ends e;

	c->status = multi_valid(c);
	if (!c->status)
		c->status = find_ends(c, &e);
	if (c->status)
		return;
	c->rec = sa_record(SA_ATTR_PATH_RECORD);
	c->attr_id = SA_ATTR_PATH_RECORD; /* o15-0.2.7 */
	if (e.nsrc == 2 && e.ndst == 2 && WANT(c, numb_path) == 2)
		apm(c, &e);
	else
		all_pairs(c, &e);
}

const struct sa_row sa_multipath_rows[] = {
	{SA_ATTR_MULTI_PATH_RECORD, LAYOUT_SZ(path_record), NULL, NULL, NULL, multi_paths},
	{0},
};
