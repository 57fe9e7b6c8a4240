/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a message tells besides its error, whatever its form: the program whose logger wrote it, and
 * the memory and the peer of UCX's work request. report_form.c calls it.
 */
#include "cli/report.h"

#include <stdio.h>
#include <string.h>
#include "util/cleanup.h"
#include "util/num.h"

/* What a program's logger puts into its lines, or only that program says. */
static const struct {
	const char *mark, *whose;
} writers[] = {
	{"NCCL WARN", "NCCL"},
	{"NCCL INFO", "NCCL"},
	{"NET/IB", "NCCL"},
	{"UCX  ", "UCX"},
	{"UCX ERROR", "UCX"},
	{"libfabric:", "libfabric"},
	{"prov/verbs:", "libfabric"},
	{"*ERROR*", "SPDK"},
	{"Process failed for slice", "Mooncake"},
	{"rdma_endpoint.cpp:", "Mooncake"},
	{"cma event RDMA_CM_", "rping"},
	{"cma_event type RDMA_CM_", "rping"},
	{"nvmet_rdma:", "nvmet_rdma"},
	{"GPI2_IB", "GPI-2"},
	{"xio_rdma_", "Accelio"},
};

void report_writer(struct report_fact *fact, const char *text)
{
	if (strcmp(fact->form, "a program") != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++)
		if (strstr(text, writers[i].mark)) {
			fact->form = writers[i].whose;
			return;
		}
}

/* The number behind `name` in [s, end). */
static bool number(const char *s, const char *end, const char *name, uint64_t *v)
{
	size_t n = strlen(name);
	const char *at = memmem(s, (size_t)(end - s), name, n), *rest;

	if (!at)
		return false;
	at += n;
	*v = strncmp(at, "0x", 2) ? num_decimal(at, &rest) : num_in_base(at, 16, &rest);
	return rest > at;
}

static void add(char *to, size_t size, const char *text)
{
	size_t n = strlen(to);

	if (n + strlen(text) + 3 < size)
		snprintf(to + n, size - n, "%s%s", n ? "; " : "", text);
}

/* UCX's "[...]": the peer of a QP, memory of the other end, or one segment of this end's. */
static void bracket(struct report_fact *fact, const char *s, const char *end)
{
	uint64_t at, key, len;
	char text[96];

	if (number(s, end, "[rva ", &at) && number(s, end, " rkey ", &key)) {
		snprintf(text, sizeof(text), "address 0x%llx, rkey 0x%llx", (unsigned long long)at,
			 (unsigned long long)key);
		add(fact->remote, sizeof(fact->remote), text);
	} else if (number(s, end, "[va ", &at) && number(s, end, " len ", &len) &&
		   number(s, end, " lkey ", &key)) {
		snprintf(text, sizeof(text), "address 0x%llx, %llu bytes, lkey 0x%llx",
			 (unsigned long long)at, (unsigned long long)len, (unsigned long long)key);
		add(fact->local, sizeof(fact->local), text);
	} else if (number(s, end, "[rqpn ", &at)) {
		snprintf(text, sizeof(text), "QP 0x%llx", (unsigned long long)at);
		if (number(s, end, " rlid ", &len) || number(s, end, " dlid=", &len))
			snprintf(text, sizeof(text), "QP 0x%llx, LID %llu", (unsigned long long)at,
				 (unsigned long long)len);
		add(fact->peer, sizeof(fact->peer), text);
	}
}

void report_request(struct report_fact *fact, const char *text)
{
	const char *s = strstr(text, " wqe["), *end;

	if (fact->kind != REPORT_COMPLETION || !s)
		return;
	for (s++; (s = strchr(s, '[')) && (end = strchr(s, ']')); s = end)
		bracket(fact, s, end);
}
