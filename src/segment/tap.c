/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the request for a trace of the whole fabric. Its reader writes it; all layers that a program
 * calls read it through tap_look().
 */
#include "segment/tap.h"

#include <errno.h>
#include <string.h>
#include "segment/proc.h"
#include "segment/table.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/sys.h"

#define ALONE_NS NSEC_PER_SEC /* a debugger may have stopped the thread that takes it */
#define NAP_NS 20000

/*
 * One thread takes a turn. The others wait for it: the reader has said that it watches, so what is
 * called from now on must be in the trace. False: it is taken, or this handler interrupted it.
 */
static bool tap_alone(struct seg *s, uint32_t turn)
{
	const struct timespec nap = {0, NAP_NS};
	uint32_t tid = (uint32_t)sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), owner = 0;
	uint64_t end = clock_now_ns() + ALONE_NS;

	while (!atomic_compare_exchange_strong(&s->tap_busy, &owner, tid)) {
		if (owner == tid || atomic_load(&s->tap_seen) == turn || clock_now_ns() > end)
			return false;
		sys_call(SYS_nanosleep, &nap, NULL);
		owner = 0;
	}
	return true;
}

void tap_take(struct seg *s)
{
	struct seg_tap *tap = &s->hdr->tap;
	char topics[sizeof(tap->topics)], options[sizeof(tap->options)];
	char fifo[sizeof(s->dir) + sizeof(TAP_FIFO) + 1];
	uint32_t turn = atomic_load(&tap->turn);

	if (!tap_alone(s, turn))
		return;
	memcpy(topics, tap->topics, sizeof(topics));
	memcpy(options, tap->options, sizeof(options));
	topics[sizeof(topics) - 1] = options[sizeof(options) - 1] = '\0';
	atomic_thread_fence(memory_order_acquire);
	/*
	 * If the turn changed while the words were copied, they may be a mixture of two requests:
	 * ignore them. The next call reads them again.
	 */
	if (atomic_load(&tap->turn) == turn && turn != atomic_load(&s->tap_seen)) {
		log_live_end();
		fmt(fifo, sizeof(fifo), "%s/" TAP_FIFO, s->dir);
		if (turn & 1)
			log_live(topics, options, fifo);
		atomic_store(&s->tap_seen, turn);
	}
	atomic_store(&s->tap_busy, 0);
}

static void tap_rouse(struct seg *s)
{
	seg_for_each_live (s, SEG_T_PROC, i)
		seg_proc_rouse(s, i);
}

/* Ends a trace that a killed reader may have left (odd turn); returns the next even turn. */
static uint32_t tap_quiet(struct seg_tap *tap)
{
	uint32_t turn = (atomic_load(&tap->turn) + 1) & ~1u;

	atomic_store(&tap->turn, turn);
	return turn;
}

int tap_begin(struct seg *s, const char *topics, const char *options)
{
	struct seg_tap *tap = &s->hdr->tap;
	uint32_t turn;

	if (strlen(topics) >= sizeof(tap->topics) || strlen(options) >= sizeof(tap->options))
		return -ENAMETOOLONG;
	turn = tap_quiet(tap);
	memset(tap->topics, 0, sizeof(tap->topics));
	memset(tap->options, 0, sizeof(tap->options));
	memcpy(tap->topics, topics, strlen(topics));
	memcpy(tap->options, options, strlen(options));
	atomic_store(&tap->turn, turn + 1);
	tap_rouse(s);
	return 0;
}

void tap_end(struct seg *s)
{
	tap_quiet(&s->hdr->tap);
	tap_rouse(s);
}
