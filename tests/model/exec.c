/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Executes programs of the model's language (program.py) through libibverbs and libmlx5, and prints
 * what happened: return codes, completions, events, states, memory. Programs come from stdin. After
 * each step the model tells how many completions and events to wait for, so that no time decides.
 * Started by run.py below `softhca run`.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "exec.h"

#define MAX_LINES 512

struct objs o;
static char *lines[MAX_LINES];
static int n_lines;

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	va_list ap;

	NEED(n_lines < MAX_LINES);
	va_start(ap, fmt);
	NEED(vasprintf(&lines[n_lines++], fmt, ap) >= 0);
	va_end(ap);
}

/* Lines of one queue stay in order, and so are compared; those of different queues are sorted. */
static int in_order(const char *a, const char *b)
{
	const char *ea = strstr(a, " id="), *eb = strstr(b, " id=");
	size_t la = ea ? (size_t)(ea - a) : strlen(a), lb = eb ? (size_t)(eb - b) : strlen(b);
	int c = memcmp(a, b, la < lb ? la : lb);

	return c ? c < 0 : la <= lb;
}

static void print_sorted(void)
{
	for (int i = 1; i < n_lines; i++)
		for (int k = i; k && !in_order(lines[k - 1], lines[k]); k--) {
			char *t = lines[k];

			lines[k] = lines[k - 1];
			lines[k - 1] = t;
		}
	for (int i = 0; i < n_lines; i++) {
		puts(lines[i]);
		free(lines[i]);
	}
	n_lines = 0;
}

static const char *status_name(enum ibv_wc_status s)
{
	static const char *const names[] = {"SUCCESS",         "LOC_LEN_ERR",      "LOC_QP_OP_ERR",
					    "LOC_EEC_OP_ERR",  "LOC_PROT_ERR",     "WR_FLUSH_ERR",
					    "MW_BIND_ERR",     "BAD_RESP_ERR",     "LOC_ACCESS_ERR",
					    "REM_INV_REQ_ERR", "REM_ACCESS_ERR",   "REM_OP_ERR",
					    "RETRY_EXC_ERR",   "RNR_RETRY_EXC_ERR"};

	return s < sizeof(names) / sizeof(names[0]) ? names[s] : "OTHER_ERR";
}

static const char *opcode_name(enum ibv_wc_opcode op)
{
	static const char *const names[] = {"SEND",      "RDMA_WRITE", "RDMA_READ", "COMP_SWAP",
					    "FETCH_ADD", "BIND_MW",    "LOCAL_INV"};

	return op == IBV_WC_RECV                       ? "RECV"
	       : op == IBV_WC_RECV_RDMA_WITH_IMM       ? "RECV_RDMA_WITH_IMM"
	       : op < sizeof(names) / sizeof(names[0]) ? names[op]
						       : "OTHER";
}

/* wr_id names the queue: those of receives are from 1000 on. */
static void completion(int cq, const struct ibv_wc *wc)
{
	bool recv = wc->wr_id >= 1000;
	char more[128] = "", qp[16];
	size_t n = 0;
	struct qp *q;

	snprintf(qp, sizeof(qp), "%s", qp_name(wc->qp_num));
	q = qp[1] == '?' ? NULL : &o.qp[atoi(qp + 1)];
	if (wc->status == IBV_WC_SUCCESS) {
		n += (size_t)snprintf(more, sizeof(more), " op=%s", opcode_name(wc->opcode));
		if (recv && (wc->wc_flags & IBV_WC_WITH_IMM))
			n += (size_t)snprintf(more + n, sizeof(more) - n, " imm=%08x",
					      be32toh(wc->imm_data));
		if (recv || wc->opcode == IBV_WC_RDMA_READ || wc->opcode == IBV_WC_COMP_SWAP ||
		    wc->opcode == IBV_WC_FETCH_ADD)
			n += (size_t)snprintf(more + n, sizeof(more) - n, " len=%u", wc->byte_len);
		if (recv && (wc->wc_flags & IBV_WC_WITH_INV))
			n += (size_t)snprintf(more + n, sizeof(more) - n, " inv=%s",
					      window_name(wc->invalidated_rkey));
		if (recv && q && !strcmp(q->type, "UD"))
			n += (size_t)snprintf(more + n, sizeof(more) - n, " src=%s",
					      qp_name(wc->src_qp));
		if (recv && wc->wc_flags & IBV_WC_GRH)
			n += (size_t)snprintf(more + n, sizeof(more) - n, " grh=1");
		if (!recv && (wc->wc_flags & IBV_WC_WITH_IMM))
			n += (size_t)snprintf(more + n, sizeof(more) - n, " fl=imm");
	}
	say("wc c%d %s %s id=%lu%s %s", cq, qp, recv ? "recv" : "send", (unsigned long)wc->wr_id,
	    more, status_name(wc->status));
}

static int poll_cqs(int *left)
{
	int seen = 0;

	for (int i = 0; i < MAX_OBJS; i++) {
		struct ibv_wc wc;

		while (o.cq[i] && ibv_poll_cq(o.cq[i], 1, &wc)) {
			completion(i, &wc);
			left[i]--;
			seen++;
		}
	}
	return seen;
}

static int async_events(int *left)
{
	struct ibv_async_event ev;
	int seen = 0;

	while (!ibv_get_async_event(o.ctx, &ev)) {
		const char *name = ibv_event_type_str(ev.event_type);

		switch ((int)ev.event_type) {
		case IBV_EVENT_SRQ_LIMIT_REACHED:
			for (int i = 0; i < MAX_OBJS; i++)
				if (o.srq[i] == ev.element.srq)
					say("ev SRQ_LIMIT_REACHED s%d", i);
			break;
		case IBV_EVENT_COMM_EST:
			name = "COMM_EST";
			break;
		case IBV_EVENT_QP_ACCESS_ERR:
			name = "QP_ACCESS_ERR";
			break;
		case IBV_EVENT_QP_REQ_ERR:
			name = "QP_REQ_ERR";
			break;
		case IBV_EVENT_QP_LAST_WQE_REACHED:
			name = "QP_LAST_WQE_REACHED";
			break;
		case IBV_EVENT_QP_FATAL:
			name = "QP_FATAL";
			break;
		default:
			say("ev %s", name);
			name = NULL;
		}
		if (name && ev.event_type != IBV_EVENT_SRQ_LIMIT_REACHED)
			say("ev %s %s", name, qp_name(ev.element.qp->qp_num));
		ibv_ack_async_event(&ev);
		--*left;
		seen++;
	}
	return seen;
}

static int cq_events(int *left)
{
	struct ibv_cq *cq;
	void *context;
	int seen = 0;

	while (!ibv_get_cq_event(o.channel, &cq, &context)) {
		for (int i = 0; i < MAX_OBJS; i++)
			if (o.cq[i] == cq)
				say("cqev c%d", i);
		ibv_ack_cq_events(cq, 1);
		--*left;
		seen++;
	}
	return seen;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Wait for the completions and events that the model has announced, and take all others, too. */
static void await(const struct words *w)
{
	int left[MAX_OBJS], ev = (int)num(w, "ev", 0), cqev = (int)num(w, "cqev", 0);
	double end = now() + (getenv("PATIENCE") ? atof(getenv("PATIENCE")) : 60);
	bool more = true;

	for (int i = 0; i < MAX_OBJS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "c%d", i);
		left[i] = (int)num(w, name, 0);
	}
	while (more && now() < end) {
		poll_cqs(left);
		async_events(&ev);
		cq_events(&cqev);
		more = ev > 0 || cqev > 0;
		for (int i = 0; i < MAX_OBJS; i++)
			more = more || left[i] > 0;
		if (more)
			sched_yield();
	}
	poll_cqs(left);
	print_sorted();
	if (more)
		puts("waited in vain");
}

/* RFC 1950; for blocks shorter than 5552 bytes. */
static uint32_t adler32(const uint8_t *p, size_t n)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < n; i++)
		b += a += p[i];
	return b % 65521 << 16 | a % 65521;
}

static void show(void)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	struct ibv_qp_init_attr ia;

	for (int i = 0; i < MAX_OBJS; i++) {
		struct ibv_qp_attr at;

		/* The kernel tells nothing of a DCT before RTR: mlx5_ib_dct_query_qp(). */
		if (!o.qp[i].qp || !strcmp(o.qp[i].type, "DCT"))
			continue;
		NEED(!ibv_query_qp(o.qp[i].qp, &at, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN,
				   &ia));
		printf("state q%d %s", i, names[at.qp_state]);
		if (!strcmp(o.qp[i].type, "RC") &&
		    (at.qp_state == IBV_QPS_RTR || at.qp_state == IBV_QPS_RTS ||
		     at.qp_state == IBV_QPS_ERR))
			printf(" %06x %06x", at.sq_psn, at.rq_psn);
		puts("");
	}
	for (int i = 0; i < MAX_OBJS; i++) {
		struct ibv_srq_attr at;

		if (!o.srq[i])
			continue;
		NEED(!ibv_query_srq(o.srq[i], &at));
		printf("left s%d %u\n", i, at.srq_limit);
	}
	printf("mem");
	for (size_t i = 0; i < ARENA; i += BLOCK)
		printf(" %08x", adler32(o.arena + i, BLOCK));
	puts("");
}

static int poke(struct words *w)
{
	fill(num(w, "seed", 1), num(w, "off", 0), num(w, "len", 0));
	return 0;
}

static int arm(struct words *w)
{
	return ibv_req_notify_cq(o.cq[nr(w, "c")], (int)num(w, "sol", 0));
}

static int limit(struct words *w)
{
	struct ibv_srq_attr at = {.srq_limit = (uint32_t)num(w, "n", 0)};

	return ibv_modify_srq(o.srq[nr(w, "s")], &at, IBV_SRQ_LIMIT);
}

static const struct {
	const char *verb;
	int (*run)(struct words *w);
} verbs[] = {
	{"pd", make_pd},     {"mr", make_mr},      {"mw", make_mw},      {"cq", make_cq},
	{"xrcd", make_xrcd}, {"srq", make_srq},    {"qp", make_qp},      {"modify", modify},
	{"dereg", dereg},    {"dealloc", dealloc}, {"destroy", destroy}, {"poke", poke},
	{"arm", arm},        {"limit", limit},     {"rereg", rereg},     {"attach", attach},
	{"detach", detach},
};

static void step(char *line)
{
	struct words head, wr[MAX_WRS];
	char *save = NULL, *part = strtok_r(line, ";", &save), *verb;
	int n = 0;

	verb = parse(part, &head);
	while ((part = strtok_r(NULL, ";", &save))) {
		NEED(n < MAX_WRS);
		parse(part, &wr[n++]);
	}
	if (!strcmp(verb, "send") || !strcmp(verb, "recv")) {
		printf("rc %d\n", *verb == 's' ? post_send(&head, wr, n) : post_recv(&head, wr, n));
		return;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verb, verbs[i].verb)) {
			printf("rc %d\n", verbs[i].run(&head));
			return;
		}
	NEED(!"a known verb");
}

static void begin(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	NEED(list && list[0] && (o.ctx = ibv_open_device(list[0])));
	NEED(!ibv_query_port(o.ctx, 1, &o.port));
	NEED(!ibv_query_gid(o.ctx, 1, 0, &o.gid));
	NEED(o.channel = ibv_create_comp_channel(o.ctx));
	NEED(!fcntl(o.ctx->async_fd, F_SETFL, O_NONBLOCK));
	NEED(!fcntl(o.channel->fd, F_SETFL, O_NONBLOCK));
	NEED(!posix_memalign((void **)&o.arena, BLOCK, ARENA));
	ibv_free_device_list(list);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	begin();
	while (getline(&line, &room, stdin) > 0) {
		struct words w;

		if (!strncmp(line, "program", 7)) {
			fill(0, 0, ARENA);
			fputs(line, stdout);
		} else if (!strncmp(line, "wait", 4)) {
			parse(line, &w);
			await(&w);
		} else if (!strncmp(line, "scrub", 5)) {
			parse(line, &w);
			fill(1, num(&w, "off", 0), num(&w, "len", 0));
		} else if (!strncmp(line, "show", 4)) {
			show();
		} else if (!strncmp(line, "end", 3)) {
			destroy_all();
			puts("end");
			fflush(stdout);
		} else {
			step(line);
		}
	}
	ibv_close_device(o.ctx);
	free(line);
	return 0;
}
