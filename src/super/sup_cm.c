/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the supervisor's part in rdma_cm: the connection managers of all hosts (src/cma), which run
 * in the loop. Hands them what programs write and the MADs that arrive, and puts theirs on the
 * wire. A MAD may arrive in another thread, while a job sends: they wait in a list for the loop.
 */
#include "super/supervisor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cma/cma.h"
#include "fabric/fabric.h"
#include "hw/evq.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/timer.h"
#include "segment/slot.h"
#include "umad/umad.h"
#include "util/clock.h"
#include "util/log.h"
#include "wire/mad/mad.h"

struct arrived {
	struct arrived *next;
	struct cm_pkt pkt;
};

struct sup_cm {
	struct cma *cma;
	pthread_t loop;
	pthread_mutex_t lock; /* guards the list */
	struct arrived *first, **last;
};

/* ---- MADs */

/* seg.gmp: receives a MAD, in whichever thread carries it. */
static void got(struct seg *s, const void *pkt)
{
	struct sup *sup = s->super;
	struct sup_cm *cm = sup->cm;
	struct arrived *a = malloc(sizeof(*a));

	if (!a)
		return; /* lost, as a packet that finds no receive is */
	a->next = NULL;
	a->pkt = *(const struct cm_pkt *)pkt;
	pthread_mutex_lock(&cm->lock);
	*cm->last = a;
	cm->last = &a->next;
	pthread_mutex_unlock(&cm->lock);
	if (pthread_equal(pthread_self(), cm->loop))
		sup->cm_at = 0; /* sup_cm_run() itself looks until nothing arrives any more */
	else
		eventfd_write(sup->work.src.fd, 1);
}

static struct arrived *take_all(struct sup_cm *cm)
{
	struct arrived *a;

	pthread_mutex_lock(&cm->lock);
	a = cm->first;
	cm->first = NULL;
	cm->last = &cm->first;
	pthread_mutex_unlock(&cm->lock);
	return a;
}

static bool any_arrived(struct sup_cm *cm)
{
	bool any;

	pthread_mutex_lock(&cm->lock);
	any = cm->first;
	pthread_mutex_unlock(&cm->lock);
	return any;
}

struct sender {
	struct sup_job job; /* first */
	struct cm_pkt pkt;
};

static void run_send(struct sup_job *j)
{
	umad_gmp_send(j->s, &((struct sender *)j)->pkt);
}

static void sent(struct sup *sup, struct sup_job *j)
{
	free(j);
}

/* The built-in SA takes the subnet's lock, which a sweep or a stopped process may hold. */
static bool may_wait(struct seg *s, const struct cm_pkt *p)
{
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SA)
		return false;
	if (fab_subnet_trylock(s))
		return true;
	fab_subnet_unlock(s);
	return false;
}

static void send_pkt(void *ctx, const struct cm_pkt *p)
{
	struct sup *sup = ctx;
	struct sender *j = may_wait(&sup->seg, p) ? calloc(1, sizeof(*j)) : NULL;

	if (!j) {
		umad_gmp_send(&sup->seg, p);
		return;
	}
	j->job = (struct sup_job){.run = run_send, .done = sent, .s = &sup->seg};
	j->pkt = *p;
	sup_work(sup, &j->job);
}

/* ---- events */

/* Returns the file's queue and the descriptor to wake its readers; -1: the file is closing. */
static int queue_of(const struct sup *sup, uint32_t file, uint32_t *gen)
{
	const struct seg_file *f = seg_file(&sup->seg, file);

	if (!f || file >= sup->nfiles)
		return -1;
	*gen = f->gen;
	return sup->files[file].probe;
}

static int push(void *ctx, uint32_t file, const void *event, size_t len, uint64_t *ref)
{
	struct sup *sup = ctx;
	uint32_t gen;
	int fifo = queue_of(sup, file, &gen), r;

	if (fifo < 0)
		return -ENOENT;
	evq_hint(file, gen, fifo);
	r = evq_push_named(&sup->seg, file, gen, event, (uint32_t)len, ref);
	if (r)
		evq_lost(&sup->seg, file, gen);
	evq_hint(SEG_NONE, 0, -1);
	return r;
}

static bool waits(void *ctx, uint64_t ref)
{
	return evq_waits(&((struct sup *)ctx)->seg, ref);
}

/* Removes an event from a file's queue. From a file that is closing nobody reads any more: true. */
static bool drop(void *ctx, uint32_t file, uint64_t ref)
{
	struct sup *sup = ctx;
	uint32_t gen;

	return queue_of(sup, file, &gen) < 0 || evq_drop(&sup->seg, file, gen, ref);
}

static uint64_t now(void *ctx)
{
	return hw_timer_now(&((struct sup *)ctx)->seg);
}

uint64_t sup_cm_run(struct sup *sup)
{
	struct sup_cm *cm = sup->cm;
	struct arrived *a, *next;
	uint64_t due, answer;

	/* What a timer sends may arrive here, too. */
	do {
		for (a = take_all(cm); a; a = next) {
			next = a->next;
			if (a->pkt.late_ns || umad_is_sa_request(&a->pkt))
				sup_sa_asked(sup, &a->pkt);
			else
				cma_arrived(cm->cma, &a->pkt);
			free(a);
		}
		due = hw_timer_at(&sup->seg, cma_run_due(cm->cma));
	} while (any_arrived(cm) || due <= clock_now_ns());
	answer = sup_sa_run(sup);
	return due < answer ? due : answer;
}

/* ---- status */

struct shown {
	struct sup *sup;
	struct json_object *list;
};

/* "127.1.0.1:7174"; AF_IB: the GID. */
static void add_addr(struct json_object *o, const char *key, const struct sockaddr_storage *a)
{
	char ip[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 16] = "";
	const struct sockaddr_in6 *in6 = (const void *)a;
	const struct sockaddr_in *in = (const void *)a;

	if (a->ss_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
		snprintf(text, sizeof(text), "%s:%u", ip, ntohs(in->sin_port));
	} else if (a->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
		snprintf(text, sizeof(text), "[%s]:%u", ip, ntohs(in6->sin6_port));
	} else if (a->ss_family == AF_IB) {
		inet_ntop(AF_INET6, &((const struct sockaddr_ib *)a)->sib_addr, ip, sizeof(ip));
		snprintf(text, sizeof(text), "%s", ip);
	}
	json_object_object_add(o, key, json_object_new_string(text));
}

static void show_id(void *arg, const struct cma_shown *c)
{
	const struct shown *s = arg;
	struct seg *seg = &s->sup->seg;
	const struct hw_host *host = seg_live(seg, SEG_T_HOST, c->host);
	const struct hw_hca *hca = c->hca == SEG_NONE ? NULL : hw_hca(seg, c->hca);
	struct json_object *o = json_object_new_object();
	char text[FAB_HCA_NAME];

	json_object_object_add(o, "host", json_object_new_string(host ? host->name : ""));
	if (hca) {
		fab_hca_name(seg, hca, text);
		json_object_object_add(o, "hca", json_object_new_string(text));
	}
	json_object_object_add(o, "pid", json_object_new_uint64(c->pid));
	json_object_object_add(o, "comm", json_object_new_string(c->comm));
	json_object_object_add(o, "state", json_object_new_string(c->state));
	if (c->cm_state)
		json_object_object_add(o, "cm_state", json_object_new_string(c->cm_state));
	json_object_object_add(o, "ps", json_object_new_string(c->ps));
	json_object_object_add(o, "port", json_object_new_uint64(c->number));
	add_addr(o, "src", &c->src);
	add_addr(o, "dst", &c->dst);
	json_object_object_add(o, "qpn", json_object_new_uint64(c->qpn));
	json_object_array_add(s->list, o);
}

struct json_object *sup_cm_show(struct sup *sup)
{
	struct shown s = {sup, json_object_new_array()};

	cma_each(sup->cm->cma, show_id, &s);
	return s.list;
}

struct json_object *sup_cm_counts(struct sup *sup)
{
	struct json_object *o = json_object_new_object();
	struct cma_counts n;

	cma_count(sup->cm->cma, &n);
#define ADD(name) json_object_object_add(o, #name, json_object_new_uint64(n.name))
	ADD(files);
	ADD(ids);
	ADD(connections);
	ADD(ports);
	ADD(events);
	ADD(queries);
	ADD(groups);
#undef ADD
	return o;
}

/* ---- requests */

struct ids {
	struct sup *sup;
	uint32_t hca;
	int fd, err;
};

/* A listener on all adapters is listed once per adapter, as in the kernel. */
static void add_id(void *arg, const struct cma_shown *c)
{
	struct ids *s = arg;
	const struct hw_hca *hca = hw_hca(&s->sup->seg, s->hca);
	const struct hw_port *port = c->port == SEG_NONE ? NULL : hw_port(&s->sup->seg, c->port);
	struct link_cm_id id = {.number = c->id,
				.port = port ? port->num : 0,
				.pid = c->pid,
				.state = c->state_number,
				.ps = c->ps_number,
				.qp_type = c->qp_type,
				.qpn = c->qpn};

	memcpy(id.src, &c->src, sizeof(id.src));
	if (c->hca != SEG_NONE)
		memcpy(id.dst, &c->dst, sizeof(id.dst));
	if (c->hca == s->hca || (c->hca == SEG_NONE && c->listens && c->host == hca->host))
		if (write(s->fd, &id, sizeof(id)) != sizeof(id))
			s->err = -ENOMEM;
}

int sup_cm_ids(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	struct ids s = {.sup = sup, .hca = q->m.hca};

	if (l->slot == SEG_NONE)
		return -ENOTCONN;
	if (!hw_hca(&sup->seg, s.hca))
		return -ENODEV;
	s.fd = memfd_create("softhca-cm-ids", MFD_CLOEXEC);
	if (s.fd < 0)
		return -errno;
	cma_each(sup->cm->cma, add_id, &s);
	if (s.err)
		close(s.fd);
	else
		p->fd = s.fd;
	return s.err;
}

int sup_cm_gmp(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	const struct cm_pkt *pkt = (const void *)q->more;

	if (l->slot != SEG_NONE && q->nmore == sizeof(*pkt))
		got(&sup->seg, pkt);
	return 0;
}

int sup_cm_write(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	const struct ucma_call *c = (const void *)q->more;
	const struct seg_file *f;
	const uint8_t *in = q->more + sizeof(*c);
	size_t n = 0;
	ssize_t r;

	if (l->slot == SEG_NONE)
		return -ENOTCONN;
	if (sup_removed(sup, l))
		return -EIO;
	if (q->nmore < sizeof(*c) || c->len > UCMA_IN_MAX || c->aux_len > UCMA_AUX_MAX ||
	    q->nmore != sizeof(*c) + c->len + c->aux_len)
		return -EPROTO;
	f = seg_file(&sup->seg, c->file);
	if (!f || f->gen != q->m.gen || f->kind != SEG_FILE_RDMA_CM || c->file >= sup->nfiles ||
	    sup->files[c->file].probe < 0 || sup->files[c->file].reaping)
		return -EIO;
	r = cma_write(sup->cm->cma, c, in, in + c->len, p->more, &n);
	p->nmore = p->m.arg = (uint32_t)n;
	return r < 0 ? (int)r : 0;
}

int sup_cm_open(struct sup *sup, uint32_t file, const struct sup_link *l)
{
	const struct seg_proc *proc = seg_proc(&sup->seg, l->slot);

	struct seg_slot *slot = seg_at(&sup->seg, SEG_T_SLOT, l->slot);
	int r = -ESRCH;

	if (proc)
		r = cma_file_open(sup->cm->cma, file, proc->host, proc->pid, proc->comm);
	if (!r)
		cma_file_changes(sup->cm->cma, file, slot->changes);
	return r;
}

void sup_cm_gone(struct sup *sup, uint32_t file)
{
	cma_file_gone(sup->cm->cma, file);
	sup->cm_at = 0; /* this is called after the managers' part of a turn, too */
}

void sup_cm_port(struct sup *sup, uint32_t port)
{
	cma_port_event(sup->cm->cma, port);
	sup->cm_at = 0;
}

/* ---- the whole */

int sup_cm_init(struct sup *sup)
{
	static const struct cma_ops ops = {
		.push = push, .waits = waits, .drop = drop, .send = send_pkt, .now = now};
	struct sup_cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return -ENOMEM;
	pthread_mutex_init(&cm->lock, NULL);
	cm->last = &cm->first;
	cm->loop = pthread_self();
	cm->cma = cma_new(&sup->seg, &ops, sup);
	if (!cm->cma) {
		free(cm);
		return -ENOMEM;
	}
	sup->cm = cm;
	sup->seg.gmp = got;
	return 0;
}

void sup_cm_free(struct sup *sup)
{
	struct sup_cm *cm = sup->cm;
	struct arrived *a, *next;

	if (!cm)
		return;
	sup->seg.gmp = NULL;
	cma_free(cm->cma);
	for (a = take_all(cm); a; a = next) {
		next = a->next;
		free(a);
	}
	pthread_mutex_destroy(&cm->lock);
	free(cm);
	sup->cm = NULL;
}
