/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters in sysfs: hw_counters of the port, which has both ends. Nobody else may use it. */
#include "cards.h"

#include <dirent.h>
#include <stdlib.h>
#include <time.h>

#define HANGS 5 /* seconds; cards: 0.1 */

/* Linux 6.1. Those with a mark are of Ethernet ports alone. */
static const struct {
	const char *name;
	bool ethernet;
} files[] = {
	{"duplicate_request", 0},
	{"implied_nak_seq_err", 0},
	{"lifespan", 0},
	{"local_ack_timeout_err", 0},
	{"np_cnp_sent", 1},
	{"np_ecn_marked_roce_packets", 1},
	{"out_of_buffer", 0},
	{"out_of_sequence", 0},
	{"packet_seq_err", 0},
	{"req_cqe_error", 0},
	{"req_cqe_flush_error", 0},
	{"req_remote_access_errors", 0},
	{"req_remote_invalid_request", 0},
	{"resp_cqe_error", 0},
	{"resp_cqe_flush_error", 0},
	{"resp_local_length_error", 0},
	{"resp_remote_access_errors", 0},
	{"rnr_nak_retry_err", 0},
	{"roce_adp_retrans", 1},
	{"roce_adp_retrans_to", 1},
	{"roce_slow_restart", 1},
	{"roce_slow_restart_cnps", 1},
	{"roce_slow_restart_trans", 1},
	{"rp_cnp_handled", 1},
	{"rp_cnp_ignored", 1},
	{"rx_atomic_requests", 0},
	{"rx_dct_connect", 0},
	{"rx_icrc_encapsulated", 1},
	{"rx_read_requests", 0},
	{"rx_write_requests", 0},
};

enum counter {
	ACK_TIMEOUT,
	NO_BUFFER,
	REQ_CQE,
	REQ_FLUSH,
	REQ_ACCESS,
	REQ_INVALID,
	RESP_CQE,
	RESP_FLUSH,
	RESP_LENGTH,
	RESP_ACCESS,
	RNR,
	ATOMICS,
	READS,
	WRITES,
	COUNTERS
};
static const char *const names[] = {
	"local_ack_timeout_err",
	"out_of_buffer",
	"req_cqe_error",
	"req_cqe_flush_error",
	"req_remote_access_errors",
	"req_remote_invalid_request",
	"resp_cqe_error",
	"resp_cqe_flush_error",
	"resp_local_length_error",
	"resp_remote_access_errors",
	"rnr_nak_retry_err",
	"rx_atomic_requests",
	"rx_read_requests",
	"rx_write_requests",
};

struct counts {
	long long n[COUNTERS];
};

static char folder[200];

static struct counts now(void)
{
	struct counts c;

	for (size_t i = 0; i < COUNTERS; i++) {
		char path[300];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		f = fopen(path, "re");
		NEED(f && fscanf(f, "%lld", &c.n[i]) == 1);
		fclose(f);
	}
	return c;
}

/* "req_cqe_error +1, rx_write_requests +1": all that have changed. */
static const char *changes(const struct counts *from, const struct counts *to)
{
	const char *all = "";

	for (size_t i = 0; i < COUNTERS; i++)
		if (to->n[i] != from->n[i])
			all = text("%s%s%s %+lld", all, *all ? ", " : "", names[i],
				   to->n[i] - from->n[i]);
	return *all ? all : "none";
}

#define ANY_NUMBER (-1) /* of what a counter may change by */

/* The files may follow: look until they say what is wanted. */
static void compare(enum fact f, const char *variant, const struct counts *from,
		    const struct counts *more)
{
	time_t end = time(NULL) + HANGS;
	struct counts want, to;
	bool same;

	do {
		to = now();
		same = true;
		for (size_t i = 0; i < COUNTERS; i++) {
			want.n[i] = from->n[i] + more->n[i];
			if (more->n[i] == ANY_NUMBER)
				want.n[i] = to.n[i] = from->n[i];
			same &= to.n[i] == want.n[i];
		}
	} while (!same && time(NULL) <= end);
	check(f, variant, changes(from, &want), changes(from, &to));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One that Linux has since 6.11. */
static bool newer(const char *name)
{
	return !strcmp(name, "req_rnr_retries_exceeded") ||
	       !strcmp(name, "req_transport_retries_exceeded");
}

static void names_of_files(void)
{
	const char *want = "", *got = "", *found[64];
	DIR *d = opendir(folder);
	struct dirent *e;
	size_t n = 0;

	NEED(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && !newer(e->d_name) && n < COUNT(found))
			NEED(found[n++] = strdup(e->d_name));
	closedir(d);
	qsort(found, n, sizeof(found[0]), by_name);
	for (size_t i = 0; i < n; i++)
		got = text("%s%s ", got, found[i]);
	for (size_t i = 0; i < n; i++)
		free((char *)found[i]);
	for (size_t i = 0; i < COUNT(files); i++)
		if (ad.ethernet || !files[i].ethernet)
			want = text("%s%s ", want, files[i].name);
	check(cnt_files, ad.ethernet ? "Ethernet" : "InfiniBand", want, got);
}

/* A request that is refused: by the responder's key or range, by its QP, or by an own key. */
static void refused(enum transport t, enum op op, uint32_t packets, enum fact by)
{
	struct options o = {.t = t, .no_rights = by == ref_qp ? right_of(op) : 0};
	struct counts from, more = {0};
	struct ibv_mr *mr = NULL;
	struct request r;
	struct pair p;

	if (!pair_make(&p, &o))
		return skip(cnt_refused, transport_names[t]);
	r = good(&p, op, is_atomic(op) ? 8 : packets * p.mtu);
	if (by == ref_key)
		r.rkey ^= 0xff00ff;
	if (by == ref_part) /* all but the last byte is inside */
		r.rkey = (mr = region(p.b.mem, r.len - 1, ALL_RIGHTS))->rkey;
	if (by == own_read_right)
		r.sge[0].lkey = (mr = region(p.a.mem, BYTES, 0))->lkey;
	from = now();
	post(&p, &r);
	NEED(next_wc(p.a.cq).status != IBV_WC_SUCCESS);
	more.n[REQ_CQE] = 1;
	more.n[REQ_ACCESS] = by == ref_key || by == ref_part;
	more.n[REQ_INVALID] = by == ref_qp;
	if (by != ref_qp)
		more.n[op == READ ? READS : is_atomic(op) ? ATOMICS : WRITES] = 1;
	compare(by == own_read_right ? own_read_right : cnt_refused,
		text("%s %s, %u packets, by %s", transport_names[t], op_names[op], packets,
		     by == ref_key    ? "rkey"
		     : by == ref_qp   ? "the QP's rights"
		     : by == ref_part ? "range"
				      : "own key"),
		&from, &more);
	if (by != own_read_right)
		events(&p, true);
	pair_free(&p);
	if (mr)
		NEED(!ibv_dereg_mr(mr));
}

/* An own key is wrong, with `n` requests behind it. */
static void own_key(enum op op, int n)
{
	struct counts from, more = {0};
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	from = now();
	for (int i = 0; i <= n; i++) {
		struct request r = good(&p, op, 8);

		r.sge[0].lkey ^= i ? 0 : 0xff00ff;
		post(&p, &r);
	}
	for (int i = 0; i <= n; i++)
		NEED(next_wc(p.a.cq).status != IBV_WC_SUCCESS);
	more.n[REQ_CQE] = 1 + n;
	more.n[REQ_FLUSH] = n;
	compare(cnt_err, text("%s with a bad lkey, %d behind it", op_names[op], n), &from, &more);
	pair_free(&p);
}

static void to_err(int n)
{
	struct counts from, more = {0};
	struct pair p;

	NEED(pair_make(&p, &(struct options){.rnr_retries = 7}));
	from = now();
	for (int i = 0; i < n; i++) {
		struct request r = good(&p, SEND, 8);

		post(&p, &r);
	}
	to_state(p.a.qp, IBV_QPS_ERR);
	for (int i = 0; i < n; i++)
		NEED(next_wc(p.a.cq).status != IBV_WC_SUCCESS);
	more.n[REQ_CQE] = n;
	more.n[REQ_FLUSH] = n - 1;
	/* The receiver that is not ready is asked as often as it happens to be. */
	more.n[RNR] = more.n[NO_BUFFER] = ANY_NUMBER;
	compare(cnt_err, text("the program's ERR, %d outstanding", n), &from, &more);
	pair_free(&p);
}

static void not_ready(enum op op, uint8_t retries)
{
	struct counts from, more = {0};
	struct request r;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.rnr_retries = retries}));
	r = good(&p, op, 8);
	from = now();
	post(&p, &r);
	NEED(next_wc(p.a.cq).status == IBV_WC_RNR_RETRY_EXC_ERR);
	more.n[RNR] = 1 + retries;
	more.n[NO_BUFFER] = 1 + retries;
	more.n[REQ_CQE] = 1;
	compare(cnt_rnr, text("%s, rnr_retry %u", op_names[op], retries), &from, &more);
	pair_free(&p);
}

static void timeouts(uint8_t retries)
{
	struct counts from, more = {0};
	struct request r;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.retries = retries}));
	to_state(p.b.qp, IBV_QPS_ERR);
	r = good(&p, WRITE, 8);
	from = now();
	post(&p, &r);
	NEED(next_wc(p.a.cq).status == IBV_WC_RETRY_EXC_ERR);
	more.n[ACK_TIMEOUT] = retries - 1;
	more.n[REQ_CQE] = 1;
	compare(cnt_time, text("retry_cnt %u", retries), &from, &more);
	pair_free(&p);
}

void counters_group(void)
{
	static const enum op ops[] = {WRITE, READ, FAA, CAS};

	if (!ad.mlx5)
		return skip(cnt_files, "the counters are mlx5's");
	snprintf(folder, sizeof(folder), "/sys/class/infiniband/%s/ports/1/hw_counters",
		 ibv_get_device_name(ad.ctx->device));
	names_of_files();
	for (enum transport t = RC; t <= XRC; t += XRC - RC)
		for (size_t i = 0; i < COUNT(ops); i++)
			for (uint32_t packets = 1; packets <= 4; packets += 3) {
				if (is_atomic(ops[i]) && packets > 1)
					break;
				refused(t, ops[i], packets, ref_key);
				refused(t, ops[i], packets, ref_qp);
				if (!is_atomic(ops[i]))
					refused(t, ops[i], packets, ref_part);
				if (ops[i] == READ)
					refused(t, ops[i], packets, own_read_right);
			}
	own_key(WRITE, 0);
	own_key(WRITE, 5);
	own_key(SEND, 1);
	to_err(1);
	to_err(2);
	to_err(32);
	not_ready(SEND, 0);
	not_ready(SEND, 6);
	not_ready(SEND_IMM, 3);
	if (!ad.ethernet) /* measured on RoCE, where retransmissions adapt */
		return skip(cnt_time, "not an Ethernet port");
	timeouts(7);
	timeouts(3);
}
