/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the choice of a MAD's layouts, and its form in the trace. Uses tables only: every attribute
 * with a layout is shown. Called by src/umad when the topic is on, and by `softhca decode`.
 */
#include "util/fmt.h"
#include "util/rec.h"
#include "wire/mad/names.h"
#include "wire/mad/sa_comp.h"

#define MAX_RECORDS 4 /* most records of a table shown for one MAD */

/* ---- parts */

static void mad_show_add(struct mad_part *out, uint32_t *n, const char *name,
			 const struct layout *l, uint32_t at, uint32_t bytes,
			 const struct mad_attr_info *a)
{
	uint32_t most = at < MAD_SIZE ? MAD_SIZE - at : 0;

	if (*n < MAD_MAX_PARTS && most)
		out[(*n)++] = (struct mad_part){name, l, at, bytes < most ? bytes : most, a, false};
}

static void add_header(struct mad_part *out, uint32_t *n, const char *name, const struct layout *l)
{
	out[(*n)++] = (struct mad_part){name, l, 0, l->bytes, NULL, true};
}

/* Add the DataDetails of a known trap. */
static void add_details(struct mad_part *out, uint32_t *n, const uint8_t *notice, uint32_t at)
{
	static const struct {
		uint16_t first, last;
		const struct layout *l;
		uint32_t from; /* offset from which its bits count */
	} rows[] = {
		{TRAP_IN_SERVICE, TRAP_MCAST_DELETED, &layout_notice_64_67, 0},
		{TRAP_LINK_STATE, TRAP_LINK_STATE, &layout_notice_128, 0},
		{TRAP_LINK_INTEGRITY, TRAP_FLOW_CONTROL, &layout_notice_129_131, 0},
		{TRAP_LOCAL_CHANGES, TRAP_LOCAL_CHANGES, &layout_notice_144, 0},
		{TRAP_SYSTEM_GUID, TRAP_SYSTEM_GUID, &layout_notice_145, 0},
		{TRAP_BAD_MKEY, TRAP_BAD_MKEY, &layout_notice_256, 0},
		{TRAP_BAD_PKEY, TRAP_BAD_QKEY, &layout_notice_257_258, 0},
		{TRAP_SWITCH_BAD_PKEY, TRAP_SWITCH_BAD_PKEY, &layout_notice_259, NOTICE_DETAILS},
	};
	uint64_t trap = LAYOUT_GET(notice, notice, trap_num);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (LAYOUT_GET(notice, notice, is_generic) && trap >= rows[i].first &&
		    trap <= rows[i].last)
			mad_show_add(out, n, "details", rows[i].l, at + rows[i].from,
				     rows[i].l->bytes, NULL);
}

/* The header that RDMA IP CM puts before a consumer's private data. */
static void add_cma_hdr(struct mad_part *out, uint32_t *n, const uint8_t *mad,
			const struct mad_attr_info *a)
{
	const uint8_t *msg = mad + CM_MSG;
	uint64_t id;

	if (a->layout == &layout_cm_req)
		id = LAYOUT_GET(cm_req, msg, service_id);
	else if (a->layout == &layout_cm_sidr_req)
		id = LAYOUT_GET(cm_sidr_req, msg, service_id);
	else
		return;
	if ((id & CM_SERVICE_ID_CMA_MASK) == CM_SERVICE_ID_CMA)
		mad_show_add(out, n, "cma_hdr", &layout_cma_hdr, CM_MSG + a->data,
			     LAYOUT_SZ(cma_hdr), NULL);
}

/* Add SA records: a table has several. Only the first segment begins with a record. */
static void add_records(struct mad_part *out, uint32_t *n, const uint8_t *mad,
			const struct mad_attr_info *a)
{
	uint32_t step = LAYOUT_GET32(sa_hdr, mad, attr_offset) * 8;
	uint32_t len = LAYOUT_GET32(mad_rmpp, mad, payload_length);
	uint64_t flags = LAYOUT_GET(mad_rmpp, mad, flags);
	uint32_t max = MAX_RECORDS;

	if (!(flags & MAD_RMPP_ACTIVE) || !step) {
		mad_show_add(out, n, a->name, a->layout, SA_DATA, a->layout->bytes, a);
		return;
	}
	if (!(flags & MAD_RMPP_FIRST) || LAYOUT_GET(mad_rmpp, mad, rmpp_type) != MAD_RMPP_TYPE_DATA)
		return;
	/* The first segment's PayloadLength covers all segments, with their SA headers. */
	if (len && (flags & MAD_RMPP_LAST))
		len = len > SA_DATA - MAD_RMPP_HDR ? len - (SA_DATA - MAD_RMPP_HDR) : 0;
	else
		len = SA_DATA_SIZE;
	if (len > SA_DATA_SIZE)
		len = SA_DATA_SIZE;
	for (uint32_t at = 0; max-- && at + a->layout->bytes <= len + 7 && at < len; at += step)
		mad_show_add(out, n, a->name, a->layout, SA_DATA + at, a->layout->bytes, a);
}

uint32_t mad_parts(const uint8_t mad[MAD_SIZE], struct mad_part out[MAD_MAX_PARTS])
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class), n = 0;
	const struct mad_attr_info *a = mad_attr_info(class, LAYOUT_GET32(mad_hdr, mad, attr_id));
	/* In performance management MADs, reserved bytes precede the data. */
	uint32_t data = mad_is_smi(class)         ? (uint32_t)SMP_DATA
			: class == MAD_CLASS_PERF ? (uint32_t)PMA_DATA
						  : mad_data_offset(class);

	add_header(out, &n, "hdr", &layout_mad_hdr);
	if (mad_is_smi(class))
		add_header(out, &n, "smp", &layout_smp);
	if (mad_has_rmpp(class))
		add_header(out, &n, "rmpp", &layout_mad_rmpp);
	if (mad_is_vendor2(class))
		add_header(out, &n, "vendor", &layout_mad_vendor2);
	if (class == MAD_CLASS_SA)
		add_header(out, &n, "sa", &layout_sa_hdr);
	if (!a)
		return n;
	if (!a->layout)
		mad_show_add(out, &n, a->name, NULL, data, a->text + a->text_len, a);
	else if (class == MAD_CLASS_SA && a->mgmt_class)
		add_records(out, &n, mad, a);
	else
		mad_show_add(out, &n, a->name, a->layout, data,
			     a->layout == &layout_notice && mad_is_smi(class) ? NOTICE_SMP_SIZE
									      : a->layout->bytes,
			     a);
	if (a->layout == &layout_notice)
		add_details(out, &n, mad + data, data);
	if (class == MAD_CLASS_CM)
		add_cma_hdr(out, &n, mad, a);
	return n;
}

/* ---- trace records */

struct walk {
	struct rec *r;
	bool inside_gid;
};

static void on_field(void *ctx, const struct layout *l, const struct layout_field *f, uint32_t bit,
		     uint64_t value)
{
	struct walk *w = ctx;
	const char *name = mad_value_name(l, f->bit, value);

	if (w->inside_gid)
		return;
	if (name)
		rec_code(w->r, f->name, value, name);
	else if (f->hex)
		rec_x(w->r, f->name, value);
	else
		rec_u(w->r, f->name, value);
}

static void rec_gid(struct rec *r, const char *name, const uint8_t *gid)
{
	char text[48];
	size_t n = 0;

	for (unsigned int i = 0; i < 16; i += 2)
		n += fmt(text + n, sizeof(text) - n, i ? ":%x" : "%x", be16_load(gid + i));
	rec_s(r, name, text);
}

struct rec_part {
	struct walk w;
	const uint8_t *base;
};

static void on_enter(void *ctx, const struct layout_place *place, uint32_t bit)
{
	struct rec_part *p = ctx;

	p->w.inside_gid = place->inner == &layout_ib_gid;
	if (p->w.inside_gid)
		rec_gid(p->w.r, place->name, p->base + bit / 8);
	else
		rec_group(p->w.r, place->name, "{");
}

static void on_leave(void *ctx, const struct layout_place *place)
{
	struct rec_part *p = ctx;

	if (!p->w.inside_gid)
		rec_group_end(p->w.r, "}");
	p->w.inside_gid = false;
}

static void rec_fields(struct rec *r, const struct layout *l, const uint8_t *p, uint32_t bytes)
{
	static const struct layout_walker walker = {
		.field = on_field,
		.enter = on_enter,
		.leave = on_leave,
	};
	struct rec_part k = {{r, false}, p};

	layout_walk(l, p, bytes, &walker, &k);
}

/* The ports of the path, "0,1,3" as smpquery -D takes them. */
static void rec_path(struct rec *r, const uint8_t *mad)
{
	uint32_t hops = LAYOUT_GET32(smp, mad, hop_cnt);
	bool back = LAYOUT_GET(smp, mad, d);
	char text[MAD_MAX_HOPS * 4 + 2];
	size_t n = fmt(text, sizeof(text), "0");

	for (uint32_t i = 1; i <= hops && i < MAD_MAX_HOPS; i++)
		n += fmt(text + n, sizeof(text) - n, ",%u", mad[SMP_INITIAL_PATH + i]);
	rec_s(r, "path", text);
	if (back)
		rec_s(r, "direction", "back");
	rec_u(r, "hop", LAYOUT_GET(smp, mad, hop_ptr));
	if (LAYOUT_GET(smp, mad, dr_slid) != MAD_LID_PERMISSIVE)
		rec_u(r, "dr_slid", LAYOUT_GET(smp, mad, dr_slid));
	if (LAYOUT_GET(smp, mad, dr_dlid) != MAD_LID_PERMISSIVE)
		rec_u(r, "dr_dlid", LAYOUT_GET(smp, mad, dr_dlid));
}

static void rec_rmpp(struct rec *r, const uint8_t *mad)
{
	uint64_t type = LAYOUT_GET(mad_rmpp, mad, rmpp_type);
	uint64_t flags = LAYOUT_GET(mad_rmpp, mad, flags);

	if (!(flags & MAD_RMPP_ACTIVE))
		return;
	rec_group(r, "rmpp", "{");
	on_field(&(struct walk){.r = r}, &layout_mad_rmpp,
		 &(struct layout_field){"rmpp_type", LF_mad_rmpp_rmpp_type_BIT, 8}, 0, type);
	if (flags & MAD_RMPP_FIRST)
		rec_u(r, "first", 1);
	if (flags & MAD_RMPP_LAST)
		rec_u(r, "last", 1);
	rec_u(r, "segment", LAYOUT_GET(mad_rmpp, mad, segment));
	rec_u(r, type == MAD_RMPP_TYPE_ACK ? "new_window_last" : "payload_length",
	      LAYOUT_GET(mad_rmpp, mad, data2));
	if (LAYOUT_GET(mad_rmpp, mad, status))
		rec_code(r, "status", LAYOUT_GET(mad_rmpp, mad, status),
			 mad_rmpp_status_name(LAYOUT_GET32(mad_rmpp, mad, status)));
	rec_group_end(r, "}");
}

/* The names of the components that a query contains. */
static void rec_components(struct rec *r, const uint8_t *mad)
{
	const struct sa_record *s = sa_record(LAYOUT_GET16(mad_hdr, mad, attr_id));
	uint64_t mask = LAYOUT_GET(sa_hdr, mad, comp_mask);

	if (LAYOUT_GET(sa_hdr, mad, sm_key))
		rec_x(r, "sm_key", LAYOUT_GET(sa_hdr, mad, sm_key));
	if (!mask)
		return;
	if (!s) {
		rec_x(r, "comp_mask", mask);
		return;
	}
	rec_list(r, "components");
	for (uint32_t i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		if (i < s->n && s->component[i].name)
			rec_s(r, NULL, s->component[i].name);
		else
			rec_u(r, NULL, i);
	}
	rec_list_end(r);
}

static void rec_header(struct rec *r, const uint8_t *mad)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);
	uint64_t method = LAYOUT_GET(mad_hdr, mad, method);

	if (r->json) {
		rec_code(r, "class", class, mad_class_name(class));
		rec_code(r, "method", method, mad_method_name((uint32_t)method));
		rec_code(r, "attr_id", LAYOUT_GET(mad_hdr, mad, attr_id),
			 mad_attr_name(class, LAYOUT_GET32(mad_hdr, mad, attr_id)));
	}
	rec_x(r, "attr_mod", LAYOUT_GET(mad_hdr, mad, attr_mod));
	rec_x(r, "tid", LAYOUT_GET(mad_hdr, mad, tid));
	if (class == MAD_CLASS_SUBN_DR)
		rec_path(r, mad);
	if (mad_is_smi(class) && LAYOUT_GET(smp, mad, mkey))
		rec_x(r, "mkey", LAYOUT_GET(smp, mad, mkey));
	if (mad_has_rmpp(class))
		rec_rmpp(r, mad);
	if (mad_is_vendor2(class))
		rec_x(r, "oui", LAYOUT_GET(mad_vendor2, mad, oui));
	if (class == MAD_CLASS_SA)
		rec_components(r, mad);
}

static void rec_text(struct rec *r, const struct mad_part *p, const uint8_t *mad)
{
	const struct mad_attr_info *a = p->attr;
	char text[NODE_DESC_SIZE + 1];
	size_t n = 0;

	if (!a || !a->text_name || p->at + a->text + a->text_len > MAD_SIZE)
		return;
	while (n < a->text_len && n + 1 < sizeof(text) && mad[p->at + a->text + n]) {
		text[n] = (char)mad[p->at + a->text + n];
		n++;
	}
	text[n] = '\0';
	if (n)
		rec_s(r, a->text_name, text);
}

static bool mad_show_any_set(const uint8_t *p, uint32_t n)
{
	while (n && !*p)
		p++, n--;
	return n != 0;
}

void mad_rec(struct rec *r, const uint8_t mad[MAD_SIZE])
{
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);
	uint16_t status = LAYOUT_GET16(mad_hdr, mad, status);
	struct mad_part part[MAD_MAX_PARTS];
	uint32_t n = mad_parts(mad, part);
	char text[96];

	if (mad_is_smi(class))
		status &= (uint16_t)~MAD_STATUS_D;
	rec_header(r, mad);
	if (mad_is_response(mad) || status)
		rec_code(r, "status", status, mad_status_text(class, status, text, sizeof(text)));
	for (uint32_t i = 0; i < n; i++) {
		if (part[i].header) /* headers are shown already */
			continue;
		if (!mad_show_any_set(mad + part[i].at, part[i].bytes))
			continue;
		rec_group(r, part[i].name, "{");
		if (part[i].layout)
			rec_fields(r, part[i].layout, mad + part[i].at, part[i].bytes);
		rec_text(r, &part[i], mad);
		rec_group_end(r, "}");
	}
}
