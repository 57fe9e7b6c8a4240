/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The supervisor's socket `<dir>/sock` (SOCK_SEQPACKET): how a process joins a fabric, opens and
 * closes virtual files, and how the supervisor learns of death and exec (the link is close-on-exec:
 * HUP). It is not on a hot path. One request, one reply; fds travel as SCM_RIGHTS.
 */
#ifndef SOFTHCA_SEGMENT_SUPLINK_H
#define SOFTHCA_SEGMENT_SUPLINK_H

#include "segment/seg.h"
#include "segment/mem.h"
#include "segment/proc.h"

/*
 * Each direction: one struct link_msg in one sendmsg(2), with at most one fd, and with some
 * requests bytes behind it (`more`). {request} -> {reply}.
 */
enum link_op {
	LINK_HELLO = 1, /* {pid, start_time, host, comm, memlock, layout_version}, fd: own
			   /proc/self/mem (may be absent) -> {slot, gen}, fd: the segment */
	LINK_OPEN,      /* {kind, hca, port} -> {file, gen}, fd: the memfd or FIFO, flock()ed by the
			   supervisor */
	/*
	 * {file, gen}: an fd of it was closed -> {arg = 1: it was the last, everything is reaped;
	 * 0: not}
	 */
	LINK_CLOSED,
	/*
	 * {slot, gen} -> fd: that process's mem descriptor. The only request of a separate
	 * connection. -ESRCH gone, -ENOENT it gave none
	 */
	LINK_GET_MEM,
	/* {arg: enum link_status, host} -> fd: memfd with JSON text. For `softhca status`, `list`
	 */
	LINK_STATUS,
	LINK_DOWN, /* stop the fabric. For `softhca down` */
	LINK_PORT, /* {host, comm: the adapter's name, port: its number, arg: 1 up, 0 down}: plug a
		      port's cable in, or pull it; "": the first host. For `softhca link` */
	LINK_WAKE, /* {file, gen}: write the byte of an event queue's FIFO. No reply. */
	/* {arg: enum topo_format, hca: hosts that dot shows one by one, port: 1: with counters} ->
	   fd: memfd with the present subnet. For `softhca topo` */
	LINK_TOPO,
	/*
	 * fd: memfd with a command -> {arg: 1 it failed}, fd: memfd with its output, or the reason.
	 * For `softhca console`
	 */
	LINK_CONSOLE,
	LINK_SEGMENT, /* -> fd: the segment, without being a process of the fabric. For `softhca
			 pcap` */
	/* {host, "": the first} -> {host}, fd: its network namespace, none without `--netns`: make
	   it ready. For `softhca run` */
	LINK_HOST,
	LINK_SWEEP, /* the subnet has changed (fab_subnet.sm_dirty). No reply. */
	/*
	 * {gen}, behind it a struct ucma_call, its `len` and its `aux_len` bytes: a write(2) to
	 * /dev/infiniband/rdma_cm -> {arg}, behind it `arg` bytes of response, then those of struct
	 * ucma_answer. `err`: as of write(2)
	 */
	LINK_RDMA_CM,
	/* {hca: SEG_T_HCA index} -> fd: memfd with a struct link_cm_id for each id of rdma_cm */
	LINK_CM_IDS,
	LINK_BELL, /* -> fd: an eventfd that announces requests in the process's slot (slot.h) */
	LINK_ADDR, /* {host, "": the first; arg: 1 add, 0 delete}, behind it a struct link_addr. For
		    * `softhca ip`
		    */
	LINK_GMP,  /* a struct cm_pkt behind it has come to a port, for its host's kernel. No reply.
		    */
	/* {hca: SEG_T_HCA index} -> fd: a pipe for writes of its node_desc; {arg: 1}: store what
	   such pipes hold */
	LINK_STORE,
	/* {arg: 0}, behind it a rule with its 0: add it -> {arg: its number}; {arg: a number}:
	   remove that rule. For `softhca inject` */
	LINK_FAULT,
};

/* Bits of a status request: which hosts are shown. 0: all. */
enum link_status {
	LINK_STATUS_USED = 1,     /* those that programs have used */
	LINK_STATUS_NO_HOSTS = 2, /* none */
	LINK_STATUS_HOST = 4,     /* the one that the request names */
};

struct link_msg {
	uint32_t op;
	/* replies: 0 or -errno; on error all fields except op are 0 and no fd comes with it */
	int32_t err;
	uint32_t layout_version;
	uint32_t pid;
	uint64_t start_time;
	uint32_t slot, gen;
	uint32_t file, kind, hca, port;
	uint64_t memlock; /* RLIMIT_MEMLOCK */
	char host[32];
	char comm[16];
	uint32_t arg;
	uint32_t more; /* bytes behind the message */
};
#define LINK_MORE 2304 /* at most */

/* len 0: not an address, but the VLAN whose id is in `prefix` */
struct link_addr {
	char iface[16];       /* "": the first */
	uint32_t len, prefix; /* octets; bits, 0: any */
	uint8_t ip[16];
};

struct link_cm_id { /* an id on an adapter; port 0: not bound to one */
	uint32_t number, port, pid, state, ps, qp_type, qpn, pad;
	uint8_t src[128], dst[128]; /* struct sockaddr_storage */
};

/*
 * Client side. `dir`: the fabric's directory. Both fds are moved above 900 where possible.
 * link_join: connect, say hello, map the segment. 0; -ENOENT/-ECONNREFUSED no fabric;
 * -EPROTONOSUPPORT layout; -ETIMEDOUT the supervisor does not answer (30 s). `s` is zeroed, or (in
 * a forked child) the parent's, mapped: then the child gets its own slot.
 */
struct link {
	int fd;
	/*
	 * On a private fabric (`<dir>/alive` exists): a FIFO whose only writer is the supervisor.
	 * When the supervisor is killed, the kernel kills this process, because no process of the
	 * fabric may remain. -1: none.
	 */
	int alive;
	struct seg *seg;
	_Atomic uint32_t busy; /* one request at a time (futex: 0 free, 1 held, 2 with waiters) */
	uint32_t owed; /* replies that came too late for their request and must still be dropped */
	int bell;      /* LINK_BELL's eventfd; -1: not asked for; -2: there is none */
	uint32_t slot, gen; /* of this process, as the supervisor assigned them */
	uint64_t bell_id;   /* slot_bell_id() */
};
/* Allows for a supervisor that is stopped together with its command, or in a debugger. */
#define LINK_TIMEOUT_S 30
int link_join(struct link *l, struct seg *s, const char *dir, const char *host);
/* Forget an inherited link in a fork child (closes the fd, slot becomes SEG_NONE). */
void link_forget(struct link *l, struct seg *s);
/*
 * A request with bytes of its own: `n` at `out` go behind *m, at most *room bytes of the reply's
 * come back to `in`, *room is their number. 0 or -errno.
 */
int link_ask_more(struct link *l, struct link_msg *m, const void *out, size_t n, void *in,
		  size_t *room);
/* LINK_CM_IDS: the descriptor, or -errno. */
int link_cm_ids(struct link *l, uint32_t hca);
/* LINK_STORE: the pipe, at the lowest free number (close-on-exec), or -errno. */
int link_store(struct link *l, uint32_t hca);
int link_stores_settle(struct link *l);
/* This file is in the fabric's directory while such pipes are open. */
#define STORES_FILE "stores"
/* *fd is the new virtual file's descriptor (close-on-exec), at the lowest free number as open(2)
 * gives. */
int link_open_file(struct link *l, enum seg_file_kind kind, uint32_t hca, uint32_t port,
		   uint32_t *file, uint32_t *gen, int *fd);
/*
 * Called after close(2) of a descriptor of the file. > 0: it was the last reference, and everything
 * it owned is reaped.
 */
int link_file_closed(struct link *l, uint32_t file, uint32_t gen);
/*
 * On a separate connection, callable in a trap. link_ask_mem() asks for a process's mem descriptor
 * without waiting: a socket (which the caller closes), -EAGAIN or -errno. link_get_mem() receives
 * it: the descriptor, -EAGAIN when it has not arrived after wait_ns, -ESRCH: the process is gone,
 * another -errno.
 */
int link_ask_mem(struct seg *s, struct mem_slot who);
int link_get_mem(int sock, uint64_t wait_ns);
/*
 * Has every process closed its descriptors of this file? If so, it is reaped now, not only some
 * time after its last process has died. On a separate connection.
 */
bool link_file_gone(struct seg *s, uint32_t file, uint32_t gen);
/* Has the supervisor ended, or ended this process's connection? */
bool link_lost(const struct seg *s);
/*
 * Asks the supervisor to wake the pollers of an event file; does not wait. Callable in a trap. 0,
 * -ENOTCONN: no link, -EAGAIN: the supervisor does not read.
 */
int link_wake(struct seg *s, uint32_t file, uint32_t gen);
/* The same for LINK_GMP. -EMSGSIZE: longer than LINK_MORE. */
int link_gmp(struct seg *s, const void *pkt, size_t n);
/* The same for LINK_SWEEP. -ENOTCONN also in the supervisor itself. */
int link_sweep(struct seg *s);

#endif
