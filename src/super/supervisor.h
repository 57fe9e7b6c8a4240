/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The supervisor of one fabric (DESIGN.md 7): holds the segment and the fabric's directory, answers
 * the socket (segment/suplink.h), and frees what processes owned as the kernel would on close. Its
 * epoll loop never blocks on a client: a request is read and answered with MSG_DONTWAIT, a client
 * that does not read its answers loses its link, and the loop does not wait for locks that
 * processes of the fabric may hold. Work that has to wait, or takes long, is a job in its own
 * thread (sup_work.c); requests that depend on a job are answered when it ends.
 *
 * It is embedded in `softhca run`, or a separate process after `softhca up`.
 */
#ifndef SOFTHCA_SUPER_SUPERVISOR_H
#define SOFTHCA_SUPER_SUPERVISOR_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include "hw/hca.h"
#include "segment/suplink.h"
#include "subnet/subnet.h"
#include "super/netns.h"
#include "super/program.h"

struct json_object;
struct runtime;
struct seg_proc;
struct cm_pkt;

struct sup;

/* An event source of the loop. `ready` may remove and free its source only by sup_unwatch. */
struct sup_source {
	int fd;
	void (*ready)(struct sup *sup, struct sup_source *src, uint32_t events);
};

/*
 * Work beside the loop. run() may use the segment and the job; the loop calls done(), which frees
 * the job.
 */
struct sup_job {
	void (*run)(struct sup_job *j);
	void (*done)(struct sup *sup, struct sup_job *j);
	struct seg *s;
	/* sup_work.c's */
	struct sup_job *next;
	struct sup_work *work;
	pthread_t thread;
	bool threaded;
};

struct sup_work {
	struct sup_source src; /* an eventfd: jobs have ended */
	pthread_mutex_t lock;  /* guards `done` */
	struct sup_job *done;
	struct sup_job *waiting, **last;
	unsigned int running;
};

/* Descriptors that came with a request; the handler sets those that it keeps to -1. */
struct sup_request {
	struct link_msg m;
	int fd;         /* -1 none */
	uint32_t nmore; /* bytes behind the message */
	_Alignas(8) uint8_t more[LINK_MORE];
};

/* A reply in preparation: `fd` is sent and then closed unless `keep`. */
struct sup_reply {
	struct link_msg m;
	int fd;
	bool keep;
	uint32_t nmore; /* bytes of `more`; they are sent with an error, too */
	uint8_t more[LINK_MORE];
};

/*
 * Further results of a request's handler, beside 0 and -errno: call the link's again() when a job
 * has ended. By default again() is the handler itself.
 */
enum { SUP_LATER = 1 };

#define SUP_PIDS 64 /* of chains; the supervisor may have a stack of 64 KiB */

/* A connection. Dead ones stay on the list until the loop's batch of events is done, in `ended`. */
struct sup_link {
	struct sup_source src;       /* must be first: the source is cast to the link */
	struct sup_source pid_src;   /* a pidfd, readable when the process has ended; -1 none */
	struct sup_link *next, **at; /* *at: what points to it */
	struct sup_link *next_pid, **at_pid; /* in sup.by_pid; at_pid NULL: not there */
	struct sup_link *next_ended;         /* the next in sup.ended, valid if `closed` */
	bool closed;
	/* from SO_PEERCRED; 0: its PID namespace is not visible here */
	int pid;
	struct sup_source bell; /* the eventfd of its slot (sup_slot.c); -1 none */
	uint32_t answered;      /* number of the last request in its slot that was answered */
	uint32_t slot, gen;     /* SEG_NONE before hello */
	int mem_fd;             /* descriptor of its /proc/self/mem; -1: none */
	/* Answers the pending request when a job has ended; NULL: none is pending. */
	int (*again)(struct sup *sup, struct sup_link *l, struct sup_request *q,
		     struct sup_reply *p);
	struct sup_request request;
	struct sup_link *next_waking; /* the next in sup.waking, valid if `waking` */
	bool waking;
};

/* The supervisor's side of an open virtual file; index = SEG_T_FILE index. */
struct sup_file {
	/* second open file description of the same object, to test the lock; -1: unused */
	int probe;
	uint32_t opener, opener_gen;
	bool watched; /* the opener has closed it or ended, so nobody will report the end */
	bool reaping; /* the file has ended, and a job frees its objects */
};

struct sup {
	struct seg seg;
	char name[PROG_NAME_MAX + 1];
	bool embedded; /* in `softhca run`: ends with its command, not by `softhca down` */
	struct fab_options fab;
	int dir; /* the fabric's directory */
	int ev;  /* the directory ev/ */
	int ep;
	int alive; /* embedded: the write end of `alive`, whose closing reports our end; else -1 */
	/* a spare descriptor: closed when there are no others, so that accept can refuse */
	int spare;
	struct sup_source listen;
	struct sup_link *links;
	struct sup_link *by_pid[SUP_PIDS]; /* those with a slot: chains by `pid` */
	struct sup_link *ended;            /* those that are closed, to be freed */
	struct sup_link *waking;           /* have an answer in their slot: wake them */
	struct sup_file *files;
	uint32_t nfiles;             /* size of `files` */
	uint32_t nopen;              /* used */
	uint32_t nwatched;           /* number of watched files */
	struct sup_console *console; /* NULL: not used yet, and no names are known */
	uint8_t *used;               /* per SEG_T_HOST: enum sup_used (sup_host.c) */
	uint64_t *rung;     /* per SEG_T_HOST: doorbells of processes that have ended (sup_use.c) */
	uint64_t *shown;    /* per SEG_T_PORT: sum of its counters when last written to sysfs */
	uint64_t probe_at;  /* when to check watched files again, clock_now_ns() */
	uint64_t probe_gap; /* wait after that */
	uint64_t counters_at;
	uint64_t zombies_at; /* when to try again to free objects that a stopped process holds */
	uint64_t zombies_gap;
	uint64_t world_at, late_at, change_at; /* sup_world_run() */
	uint32_t changes;
	struct sup_later *later; /* second halves of acts (sup_fault.c) */
	uint64_t faults_at;
	uint64_t cm_at;   /* the connection managers' next deadline */
	uint64_t mads_at; /* when the next MAD of a dead process times out */
	struct sup_work work;
	struct sup_store *stores;
	struct sup_cm *cm;                      /* the hosts' connection managers (sup_cm.c) */
	struct sup_query *queries, *last_query; /* without an answer so far (sup_sa.c) */
	struct netns netns;
	uint64_t trim_at;        /* when to look at the segment's memory */
	uint64_t untrimmed;      /* unused bytes that the last trim had to leave */
	bool trimming;           /* a job gives it back */
	struct fab_sm_kept kept; /* data of the last sweep; only the job uses it while `sweeping` */
	bool sweeping;           /* a job changes the subnet; no other code here may */
	bool sending;            /* a job handles the MADs of dead processes */
	bool joined;             /* a process has opened a device */
	bool stop;
};

/*
 * Make the segment, the fabric in it, its directory's content and the socket. `dir` is the
 * directory's descriptor, taken. `topo`: NULL, or a topology that replaces the hosts, adapters and
 * ports of `fab`. 0; PROG_FAILED after a message, `sup` may then be finished.
 */
int sup_init(struct sup *sup, const struct runtime *rt, const char *name, int dir,
	     const struct fab_options *fab, const struct topo *topo, bool embedded);
/*
 * Tells all processes that the devices are gone, and frees everything but the caller's directory.
 */
void sup_finish(struct sup *sup);

/*
 * The mode of a new file: `own`, and with --allow-uid the rights that its users have, too, as those
 * of the group: the directory's access control list (allow.c) gives them to the users.
 */
#define SUP_MODE(sup, own, users) ((own) | ((sup)->fab.nallow_uids ? (users) : 0))

int sup_watch(struct sup *sup, struct sup_source *src);
/* The same for an eventfd that is never read: each write is an event. */
int sup_watch_edges(struct sup *sup, struct sup_source *src);
void sup_unwatch(struct sup *sup, struct sup_source *src);
/*
 * One turn of the loop: waits at most until `deadline` (clock_now_ns; UINT64_MAX none). 0, -errno.
 */
int sup_turn(struct sup *sup, uint64_t deadline);
/*
 * Number of processes on the fabric. The second one sends them a signal, except to those without a
 * pidfd, whose pid may be another process's by now.
 */
unsigned int sup_attached(const struct sup *sup);
void sup_signal_attached(struct sup *sup, int sig);

/* ---- links (sup_link.c) */
int sup_listen(struct sup *sup);
void sup_link_close(struct sup *sup, struct sup_link *l);
/* The reply to a request, also to one that is refused. SUP_LATER: there is none yet. */
int sup_link_result(struct sup *sup, struct sup_link *l, struct sup_request *q,
		    struct sup_reply *p);
/* The host that a request names, or the first when it names none; SEG_NONE. */
uint32_t sup_link_host(struct sup *sup, struct link_msg *m);
void sup_links_free(struct sup *sup);
/* A job has ended: continue the requests that wait for one. */
void sup_links_again(struct sup *sup);

/* ---- requests in shared memory (sup_slot.c) */
/* LINK_BELL */
int sup_slot_bell(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
/* Serves a request in the slot whose bell rang while the link was busy. */
void sup_slot_look(struct sup *sup, struct sup_link *l);
void sup_slot_close(struct sup *sup, struct sup_link *l);
/* Wakes the processes whose requests were answered in this turn of the loop. */
void sup_slots_wake(struct sup *sup);

/* ---- jobs (sup_work.c) */
int sup_work_init(struct sup *sup);
/* Waits until all jobs have ended. */
void sup_work_finish(struct sup *sup);
void sup_work(struct sup *sup, struct sup_job *j);

/* ---- the segment's memory (sup_trim.c) */
/* Something was freed. */
void sup_trim_soon(struct sup *sup);
/* Called when trim_at has come: gives memory back if much of it is unused. */
void sup_trim(struct sup *sup);

/* ---- the subnet (sup_sweep.c) */
/* If the subnet has changed and the built-in manager must sweep, sweep here or in a job. */
void sup_sweep(struct sup *sup);
/* Repeat the MADs of dead processes, or give them up; sets mads_at. */
void sup_orphans(struct sup *sup);

/* ---- hosts (sup_host.c) */
int sup_hosts_init(struct sup *sup);
/* Gives hosts their addresses (sup_addr.c). 0; PROG_FAILED after a message. */
int sup_addresses(struct sup *sup, const struct topo *t);
/* LINK_ADDR */
/* Gives or takes an address, also of the interface in a network namespace. */
int sup_change_address(struct sup *sup, uint32_t host, uint32_t at, const struct link_addr *a,
		       bool add);
/* ---- faults on purpose (sup_fault.c) */
int sup_faults_init(struct sup *sup);
int sup_fault(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
/*
 * Does what rules of processes and ports are due for; called in each turn of the loop. Returns when
 * the next one is due.
 */
uint64_t sup_faults_run(struct sup *sup);
/* Processes that a rule has stopped go on. */
void sup_faults_free(struct sup *sup);
/* A JSON array of the rules. */
struct json_object *sup_faults_show(struct sup *sup);

/* ---- what worlds change while the fabric is up (sup_world.c) */
void sup_world_start(struct sup *sup);
void sup_world_run(struct sup *sup, uint64_t now);
int sup_addr(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
/* A process uses the host: make its adapters and its sysfs tree ready. 0, -ENODEV, -errno. */
int sup_host_use(struct sup *sup, uint32_t host);
/* With `--netns`: the network namespace of a host in use, for netns_enter(); -1: none. */
int sup_host_netns(const struct sup *sup, uint32_t host);
bool sup_host_used(const struct sup *sup, uint32_t host);
/* A sweep has ended that ran while trees were made: they may show the state before it. */
void sup_hosts_swept(struct sup *sup);
/* An adapter of the host came or went: make its tree again. */
void sup_host_again(struct sup *sup, uint32_t host);

/* ---- adapters that fail (sup_hca.c) */
/* False: it has failed so already. The caller sweeps afterwards. */
bool sup_hca_fail(struct sup *sup, uint32_t hca, enum hw_fails how);
/* An unplugged one is there again, for files that are opened from now on. */
void sup_hca_return(struct sup *sup, uint32_t hca);

/* ---- virtual files (sup_file.c) */
/*
 * Makes a new file for a process. 0: send *fd, then close it. -errno: for the program's open();
 * SUP_LATER.
 */
int sup_file_open(struct sup *sup, struct sup_link *l, const struct link_msg *m, uint32_t *file,
		  uint32_t *gen, int *fd);
/*
 * One of its descriptors was closed. SUP_FILE_LAST: it was the last; everything is reaped or will
 * be, see sup_file_reaping(); 0: not the last; -ENOENT.
 */
enum { SUP_FILE_LAST = 1 };
int sup_file_closed(struct sup *sup, uint32_t file, uint32_t gen);
bool sup_file_reaping(const struct sup *sup, uint32_t file, uint32_t gen);
/* Write the byte that says "not empty" into an event file's FIFO. */
void sup_file_wake(struct sup *sup, uint32_t file, uint32_t gen);
/* A process has ended: check its files, and those whose last reference it may have held. */
void sup_files_probe(struct sup *sup, uint32_t opener, uint32_t opener_gen);
/* Does a file of this opener remain? */
bool sup_files_of(const struct sup *sup, uint32_t opener, uint32_t opener_gen);
void sup_files_free(struct sup *sup);
const char *sup_file_kind_name(uint32_t kind);
void sup_refresh_counters(struct sup *sup);

/* ---- the subnet as text, and commands that change it (sup_topo.c, sup_console.c) */
/* A memfd, or -errno. `m`: a LINK_TOPO. */
int sup_topo_fd(struct sup *sup, const struct link_msg *m);
/*
 * sup_console_run() runs a line. *failed: *fd (a memfd) has the reason instead of the output. 0,
 * -errno. sup_console_names() takes the nodes' names from `t`, from which the subnet was made.
 */
int sup_console_run(struct sup *sup, char *line, bool *failed, int *fd);
int sup_console_names(struct sup *sup, const struct topo *t);
/* Pull a port's cable, or plug it again. 0; -ENOLINK: it never had one; -errno. */
int sup_cable(struct sup *sup, uint32_t port, bool in);
void sup_console_free(struct sup *sup);
/* The same, and rdma_cm learns of it (sup_link.c). The caller sweeps if it is no Ethernet. */
int sup_plug(struct sup *sup, uint32_t port, bool in);

/* ---- files in sysfs that programs write (sup_store.c) */
/* LINK_STORE */
int sup_store(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
void sup_stores_free(struct sup *sup);

/*
 * Takes the adapters from a process that goes on (sup_file.c): files that are open say so, its
 * queues are in reset, and it opens no others.
 */
void sup_remove(struct sup *sup, const struct sup_link *l);
bool sup_removed(const struct sup *sup, const struct sup_link *l);

/* ---- rdma_cm (sup_cm.c) */
int sup_cm_init(struct sup *sup);
void sup_cm_free(struct sup *sup);
int sup_cm_open(struct sup *sup, uint32_t file, const struct sup_link *l);
void sup_cm_gone(struct sup *sup, uint32_t file);
/* The link of a port came up or went down. */
void sup_cm_port(struct sup *sup, uint32_t port);
/* LINK_RDMA_CM, LINK_GMP, LINK_CM_IDS. */
int sup_cm_write(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
int sup_cm_gmp(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
int sup_cm_ids(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p);
/* A JSON array of the ids of all hosts. */
struct json_object *sup_cm_show(struct sup *sup);
/* An object with the numbers of struct cma_counts. */
struct json_object *sup_cm_counts(struct sup *sup);
/*
 * Handles MADs that have arrived, events and deadlines; called in each turn of the loop. Returns
 * the next deadline.
 */
uint64_t sup_cm_run(struct sup *sup);

/* ---- queries to a slow subnet administration (sup_sa.c) */
/* A query has arrived, from umad_to_supervisor(). */
void sup_sa_asked(struct sup *sup, const struct cm_pkt *pkt);
/* Answers those that are due; returns the next deadline. sup_cm_run() calls it. */
uint64_t sup_sa_run(struct sup *sup);
void sup_sa_finish(struct sup *sup);

/* ---- what programs have done (sup_use.c) */
int sup_use_init(struct sup *sup);
/* A process has ended: keep its counts. */
void sup_use_ended(struct sup *sup, const struct seg_proc *p);
/* Adds the counts of a host to its object in the status. */
void sup_use_show(struct sup *sup, uint32_t host, struct json_object *o);

/* ---- status (sup_status.c) */
/* Answers LINK_STATUS: a memfd with the text, read position 0; -ENODEV: no such host; -errno. */
int sup_status_fd(struct sup *sup, const struct link_msg *m);
/* The object of one host. */
struct json_object *sup_status_host(struct sup *sup, uint32_t host);

#endif
