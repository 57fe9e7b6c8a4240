/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for event files, umad and rdma_cm. Their FIFOs get a byte only while a process waits
 * (seg_evq.lazy), so poll(2), select(2) and similar calls pass through here. wait_publish()
 * announces waiters that bypass the wrappers (epoll, SIGIO, another program).
 */
#ifndef SOFTHCA_SHIM_FILES_WAIT_H
#define SOFTHCA_SHIM_FILES_WAIT_H

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>

/* One call of the program's. */
struct wait_call {
	/*
	 * Calls the next definition of the function: with the program's time-out, or (`now`) with
	 * 0.
	 */
	int (*next)(const struct wait_call *c, bool now);
	bool now; /* the call's own time-out is 0 */
	/* poll: */
	struct pollfd *fds;
	nfds_t n;
	/* select: */
	int nfds;
	fd_set *rd, *wr, *ex;
	/* used by next(): */
	int ms;
	const struct timespec *ts;
	struct timeval *tv;
	const sigset_t *mask;
	size_t room;
};

/*
 * Has this process ever had such a file, or a descriptor that may be one? Otherwise skip the check.
 */
extern _Atomic uint32_t wait_files;
static inline bool wait_any(void)
{
	return __builtin_expect(atomic_load_explicit(&wait_files, memory_order_relaxed) != 0, 0);
}

int wait_poll(const struct wait_call *c);
int wait_select(const struct wait_call *c);
/*
 * From now on the FIFO of this descriptor always gets its byte, even if nobody waits in a wrapper.
 */
void wait_publish(int fd);
/* The same for every descriptor; `inherited`: for those that stay open over an exec. */
void wait_publish_all(bool inherited);

#endif
