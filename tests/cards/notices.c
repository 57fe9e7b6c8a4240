/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of completion queues: which completion raises one, and what a full queue does. */
#include "cards.h"

#include <poll.h>

enum arm { NEVER, ANY_ONE, SOLICITED };

static bool ready(const struct ibv_comp_channel *channel)
{
	struct pollfd fd = {.fd = channel->fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static void take(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	NEED(!ibv_get_cq_event(channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
}

static void message(struct pair *p, bool solicited)
{
	struct request r = good(p, SEND, 64);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .send_flags =
					 IBV_SEND_SIGNALED | (solicited ? IBV_SEND_SOLICITED : 0),
				 .sg_list = r.sge,
				 .num_sge = 1},
			   *bad;

	post_receive(p, 64);
	NEED(!ibv_post_send(p->a.qp, &wr, &bad));
	NEED(next_wc(p->a.cq).status == IBV_WC_SUCCESS);
	NEED(next_wc(p->b.cq).status == IBV_WC_SUCCESS);
}

/* Armed so, then (if it is not NEVER) so: does a message raise the event? */
static void armed(enum fact f, enum arm first, enum arm second, bool solicited, bool card)
{
	static const char *const names[] = {"not", "for any", "for solicited"};
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ad.ctx);
	struct pair p;
	bool here;

	NEED(channel && pair_make(&p, &(struct options){.channel = channel}));
	if (first)
		NEED(!ibv_req_notify_cq(p.b.cq, first == SOLICITED));
	if (second)
		NEED(!ibv_req_notify_cq(p.b.cq, second == SOLICITED));
	message(&p, solicited);
	here = ready(channel);
	check(f,
	      text("armed %s%s%s, %ssolicited message", names[first], second ? ", then " : "",
		   second ? names[second] : "", solicited ? "" : "un"),
	      card ? "event" : "no event", here ? "event" : "no event");
	if (here)
		take(channel);
	pair_free(&p);
	NEED(!ibv_destroy_comp_channel(channel));
}

/* An event needs arming each time, and a completion that was polled raises none later. */
static void once(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ad.ctx);
	bool first, second, third;
	struct pair p;

	NEED(channel && pair_make(&p, &(struct options){.channel = channel}));
	NEED(!ibv_req_notify_cq(p.b.cq, 0));
	message(&p, false);
	first = ready(channel);
	if (first)
		take(channel);
	message(&p, false);
	second = ready(channel);
	if (second)
		take(channel);
	NEED(!ibv_req_notify_cq(p.b.cq, 0));
	third = ready(channel);
	check(note_once, "armed, not armed, armed behind the last completion",
	      "event, no event, no event",
	      text("%s, %s, %s", first ? "event" : "no event", second ? "event" : "no event",
		   third ? "event" : "no event"));
	if (third)
		take(channel);
	pair_free(&p);
	NEED(!ibv_destroy_comp_channel(channel));
}

/* More completions than the queue holds: its own event. */
static void overrun(void)
{
	struct ibv_cq *cq = ibv_create_cq(ad.ctx, 8, NULL, NULL, 0);
	struct ibv_async_event ev = {.event_type = IBV_EVENT_DEVICE_FATAL};
	struct ibv_cq *was;
	struct pair p;
	bool is = false;

	NEED(cq);
	NEED(pair_make(&p, &(struct options){.apart = true}));
	NEED(!ibv_destroy_qp(p.a.qp));
	was = p.a.cq;
	p.a.cq = cq;
	remake_requester(&p);
	for (int i = 0; i < 2 * cq->cqe + 2; i++) {
		struct request r = good(&p, WRITE, 8);

		if (try_post(&p, &r, 1))
			break;
	}
	while (!is && has_event(patience)) {
		NEED(!ibv_get_async_event(ad.ctx, &ev));
		is = ev.event_type == IBV_EVENT_CQ_ERR && ev.element.cq == cq;
		ibv_ack_async_event(&ev);
	}
	check(cq_overrun, "twice as many WRITEs as entries", "CQ_ERR of this CQ",
	      is ? "CQ_ERR of this CQ" : text("event %d", ev.event_type));
	pair_free(&p);
	NEED(!ibv_destroy_cq(was));
	while (has_event(0)) {
		NEED(!ibv_get_async_event(ad.ctx, &ev));
		ibv_ack_async_event(&ev);
	}
}

void notices_group(void)
{
	armed(note_any, ANY_ONE, NEVER, true, true);
	armed(note_any, ANY_ONE, NEVER, false, true);
	armed(note_solicited, SOLICITED, NEVER, true, true);
	armed(note_solicited, SOLICITED, NEVER, false, false);
	armed(note_down, ANY_ONE, SOLICITED, false, true);
	armed(note_up, SOLICITED, ANY_ONE, false, true);
	armed(note_once, NEVER, NEVER, true, false);
	once();
	overrun();
}
