/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares this machine's first adapter with what was measured on cards.
 *
 *   cards [-r] [-s] [-p SECONDS] [GROUP...]   all groups, or these
 *   -r  print rows for tests/oracle: the fact and its variant, a tab, what is seen here; no XRC
 *   -s  print each fact's source as well
 *   -p SECONDS  wait so long for what does not come; 120, which only a hang reaches
 *
 * Status: 1 if something differs, 77 if there is no adapter.
 */
#include "cards.h"

#include <infiniband/mlx5dv.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>

struct adapter ad;
int patience = 120;
bool for_oracle;
static bool sources;
static unsigned int checks, differ, skipped;

static const struct {
	const char *name, *source;
} facts[] = {
#define X(name, source) {#name, source},
	FACTS(X) MORE_FACTS(X)
#undef X
};

static const struct {
	const char *name;
	void (*run)(void);
} groups[] = {
	{"counters", counters_group}, /* first: files may show what was before */
	{"own", own_group},           {"refused", refused_group},     {"keys", keys_group},
	{"record", record_group},     {"dead", dead_group},           {"gone", gone_group},
	{"posts", posts_group},       {"receives", receives_group},   {"windows", windows_group},
	{"domains", domains_group},   {"datagrams", datagrams_group}, {"notices", notices_group},
	{"shows", shows_group},       {"calls", calls_group},         {"freed", freed_group},
};

const char *text(const char *format, ...)
{
	static char buffers[2048][1024];
	static unsigned int next;
	char *b = buffers[next++ % COUNT(buffers)];
	va_list ap;

	va_start(ap, format);
	NEED(vsnprintf(b, sizeof(buffers[0]), format, ap) < (int)sizeof(buffers[0]));
	va_end(ap);
	return b;
}

const char *result(int status, int vendor_err)
{
	return vendor_err == ANY || !ad.mlx5 || for_oracle ? text("%d", status)
							   : text("%d/0x%x", status, vendor_err);
}

void check(enum fact f, const char *variant, const char *card, const char *here)
{
	bool same = !strcmp(card, here);

	checks++;
	differ += !same;
	if (for_oracle)
		printf("%s %s\t%s\n", facts[f].name, variant, here);
	else
		printf("%s %s %s | card: %s | here: %s%s%s\n", same ? "ok" : "DIFF", facts[f].name,
		       variant, card, here, sources ? " | " : "", sources ? facts[f].source : "");
	fflush(stdout);
}

void skip(enum fact f, const char *why)
{
	skipped++;
	if (!for_oracle)
		printf("skipped %s: %s\n", facts[f].name, why);
}

/* A GID that can be reached without a neighbour's answer: RoCE v2 over IPv4, else the first. */
static void choose_gid(void)
{
	static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};

	NEED(!ibv_query_gid(ad.ctx, 1, 0, &ad.gid));
	for (uint32_t i = 0; ad.ethernet && i < (uint32_t)ad.port.gid_tbl_len; i++) {
		struct ibv_gid_entry e;

		if (ibv_query_gid_ex(ad.ctx, 1, i, &e, 0) || e.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(e.gid.raw, v4, sizeof(v4)))
			continue;
		ad.gid = e.gid;
		ad.gid_index = (uint8_t)i;
		break;
	}
}

static bool open_adapter(void)
{
	struct mlx5dv_context_attr devx = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		return false;
	ad.mlx5 = mlx5dv_is_supported(list[0]);
	if (ad.mlx5)
		ad.ctx = mlx5dv_open_device(list[0], &devx);
	if (!ad.ctx) /* DEVX needs CAP_NET_RAW on a kernel */
		ad.ctx = ibv_open_device(list[0]);
	NEED(ad.ctx);
	ibv_free_device_list(list);
	NEED(ad.pd = ibv_alloc_pd(ad.ctx));
	NEED(!ibv_query_port(ad.ctx, 1, &ad.port));
	ad.ethernet = ad.port.link_layer == IBV_LINK_LAYER_ETHERNET;
	choose_gid();
	return true;
}

static bool chosen(const char *name, int n, char **names)
{
	bool is = !n;

	for (int i = 0; i < n; i++)
		is |= !strcmp(names[i], name);
	return is;
}

int main(int argc, char **argv)
{
	int c;

	/* Large blocks stay mappings, whatever has been freed before group freed. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	while ((c = getopt(argc, argv, "rsp:")) != -1) {
		for_oracle |= c == 'r';
		sources |= c == 's';
		if (c == 'p')
			patience = atoi(optarg);
	}
	if (!open_adapter()) {
		printf("skipped: there is no adapter\n");
		return 77;
	}
	if (argc == 2 && !strcmp(argv[1], "target"))
		gone_target();
	for (size_t i = 0; i < COUNT(groups); i++)
		if (chosen(groups[i].name, argc - optind, argv + optind))
			groups[i].run();
	if (!for_oracle)
		printf("%u checks, %u differ, %u skipped\n", checks, differ, skipped);
	return differ && !for_oracle;
}
