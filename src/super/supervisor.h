/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The supervisor of one fabric (DESIGN.md 7): holds the segment and the fabric's directory, answers
 * the socket (segment/suplink.h), and frees what processes owned as the kernel would on close. One
 * epoll loop, nothing in it blocks on a client: a request is read and answered with MSG_DONTWAIT, a
 * client that does not take its answers loses its link, and no lock that a process of the fabric
 * may hold is waited for. What has to wait, or takes long, is a job in a thread of its own
 * (sup_work.c); requests that need its end are answered then.
 *
 * Embedded in `softhca run`, or a process of its own after `softhca up`.
 */
#ifndef SOFTHCA_SUPER_SUPERVISOR_H
#define SOFTHCA_SUPER_SUPERVISOR_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include "segment/suplink.h"
#include "subnet/subnet.h"
#include "super/program.h"

struct runtime;

struct sup;

/* Something that the loop watches. `ready` may remove and free its source only by sup_unwatch. */
struct sup_source {
	int fd;
	void (*ready)(struct sup *sup, struct sup_source *src, uint32_t events);
};

/* Beside the loop. run() may use the segment and the job; done() is the loop's, and frees it. */
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
	struct sup_source src; /* an eventfd: some have ended */
	pthread_mutex_t lock;  /* of `done` */
	struct sup_job *done;
	struct sup_job *waiting, **last;
	unsigned int running;
};

/* What came with a request; the handler takes what it keeps (sets it to -1). */
struct sup_request {
	struct link_msg m;
	int fd; /* -1 none */
};

/* A reply being made: `fd` is sent and then closed unless `keep`. */
struct sup_reply {
	struct link_msg m;
	int fd;
	bool keep;
};

/* Answers of a request's handler beside 0 and -errno: call again() of the link, which is this
 * handler if it says nothing else, when a job has ended. */
enum { SUP_LATER = 1 };

/* A connection. Dead ones stay on the list until the loop's batch of events is done. */
struct sup_link {
	struct sup_source src;     /* first: the source is the link */
	struct sup_source pid_src; /* a pidfd, readable when the process has ended; -1 none */
	struct sup_link *next;
	bool closed;
	int pid;            /* by SO_PEERCRED, 0 when it is in a PID namespace that we cannot see */
	uint32_t slot, gen; /* SEG_NONE before hello */
	int mem_fd;         /* its /proc/self/mem, -1 none */
	/* A request that is to be answered later, NULL none. */
	int (*again)(struct sup *sup, struct sup_link *l, struct sup_request *q,
		     struct sup_reply *p);
	struct sup_request request;
};

/* The supervisor's side of an open virtual file; index = SEG_T_FILE index. */
struct sup_file {
	int probe; /* second open file description of the same object, to test the lock; -1: unused
		    */
	uint32_t opener, opener_gen;
	bool watched; /* its opener is gone or has closed it: may end without telling us */
	bool reaping; /* its end has come, and a job is at it */
};

struct sup {
	struct seg seg;
	char name[PROG_NAME_MAX + 1];
	bool embedded; /* in `softhca run`: ends with its command, not by `softhca down` */
	struct fab_options fab;
	int dir; /* the fabric's directory */
	int ev;  /* its ev/ */
	int ep;
	int alive; /* embedded: the writer of `alive`, by which our end is known; else -1 */
	int spare; /* a descriptor to give up when there are no others, so that accept can refuse */
	struct sup_source listen;
	struct sup_link *links;
	struct sup_file *files;
	uint32_t nfiles;             /* room in `files` */
	uint32_t nopen;              /* used */
	uint32_t nwatched;           /* of them watched */
	struct sup_console *console; /* NULL: nobody has used it, and no names are known */
	uint8_t *used;               /* per SEG_T_HOST: enum sup_used (sup_host.c) */
	uint64_t *shown;    /* per SEG_T_PORT: sum of its counters when last written to sysfs */
	uint64_t probe_at;  /* when to look at watched files again, clock_now_ns() */
	uint64_t probe_gap; /* and how long to wait after that */
	uint64_t counters_at;
	uint64_t zombies_at; /* when to free again what a stopped process holds */
	uint64_t zombies_gap;
	uint64_t mads_at; /* when a MAD times out that a dead process has sent */
	struct sup_work work;
	bool sweeping; /* a job is at the subnet: nobody else here changes it */
	bool sending;  /* a job is at the MADs of the dead */
	bool stop;
};

/*
 * Make the segment, the fabric in it, its directory's content and the socket. `dir` is the
 * directory's descriptor, taken. `topo`: NULL, or what to make instead of what `fab` says of hosts,
 * adapters and ports. 0; PROG_FAILED after a message, `sup` may then be finished.
 */
int sup_init(struct sup *sup, const struct runtime *rt, const char *name, int dir,
	     const struct fab_options *fab, const struct topo *topo, bool embedded);
/* Tells everybody that the devices are gone, and frees all. The directory is the caller's. */
void sup_finish(struct sup *sup);

int sup_watch(struct sup *sup, struct sup_source *src);
void sup_unwatch(struct sup *sup, struct sup_source *src);
/* One turn of the loop: waits at most until `deadline` (clock_now_ns; UINT64_MAX none). 0, -errno.
 */
int sup_turn(struct sup *sup, uint64_t deadline);
/* How many processes are on the fabric; signal them all (only those that we can name safely). */
unsigned int sup_attached(const struct sup *sup);
void sup_signal_attached(struct sup *sup, int sig);

/* ---- links (sup_link.c) */
int sup_listen(struct sup *sup);
void sup_link_close(struct sup *sup, struct sup_link *l);
void sup_links_free(struct sup *sup, bool all);
/* A job has ended: go on with the requests that wait for one. */
void sup_links_again(struct sup *sup);

/* ---- jobs (sup_work.c) */
int sup_work_init(struct sup *sup);
/* Waits until all have ended. */
void sup_work_finish(struct sup *sup);
void sup_work(struct sup *sup, struct sup_job *j);

/* ---- the subnet (sup_sweep.c) */
/* Has it changed, so that the built-in manager is to sweep? Then it does, here or in a job. */
void sup_sweep(struct sup *sup);
/* Send the MADs of the dead again, or give them up; sets mads_at. */
void sup_orphans(struct sup *sup);

/* ---- hosts (sup_host.c) */
int sup_hosts_init(struct sup *sup);
/* Somebody runs on it: make its adapters ready and its sysfs tree. 0, -ENODEV, -errno. */
int sup_host_use(struct sup *sup, uint32_t host);
bool sup_host_used(const struct sup *sup, uint32_t host);
/* A sweep has ended that was under way while trees were made: they may show what was before. */
void sup_hosts_swept(struct sup *sup);

/* ---- virtual files (sup_file.c) */
/* A new file for a process. 0: *fd is to be sent and closed. -errno owed to the program's open();
 * SUP_LATER. */
int sup_file_open(struct sup *sup, struct sup_link *l, const struct link_msg *m, uint32_t *file,
		  uint32_t *gen, int *fd);
/* One of its descriptors was closed. SUP_FILE_LAST: it was the last, all is reaped or will be, see
 * sup_file_reaping(); 0 not; -ENOENT. */
enum { SUP_FILE_LAST = 1 };
int sup_file_closed(struct sup *sup, uint32_t file, uint32_t gen);
bool sup_file_reaping(const struct sup *sup, uint32_t file, uint32_t gen);
/* Write the byte that says "not empty" into an event file's FIFO. */
void sup_file_wake(struct sup *sup, uint32_t file, uint32_t gen);
/* A process is gone: its files, and those that somebody else may have been the last to hold. */
void sup_files_probe(struct sup *sup, uint32_t opener, uint32_t opener_gen);
/* Is any file of this opener left? */
bool sup_files_of(const struct sup *sup, uint32_t opener, uint32_t opener_gen);
void sup_files_free(struct sup *sup);
const char *sup_file_kind_name(uint32_t kind);
void sup_refresh_counters(struct sup *sup);

/* ---- the subnet as text, and commands that change it (sup_topo.c, sup_console.c) */
/* A memfd, or -errno. */
int sup_topo_fd(struct sup *sup, bool dot);
/*
 * Run a line; *failed: then *fd (a memfd) says why. 0, -errno. Names: what nodes are called in
 * `t`, from which the subnet was made.
 */
int sup_console_run(struct sup *sup, char *line, bool *failed, int *fd);
int sup_console_names(struct sup *sup, const struct topo *t);
/* Pull a port's cable, or put back where it was. 0; -ENOLINK: it never had one; -errno. */
int sup_cable(struct sup *sup, uint32_t port, bool in);
void sup_console_free(struct sup *sup);

/* ---- status (sup_status.c) */
/* A memfd with the text, read position 0, or -errno. */
int sup_status_fd(struct sup *sup);

#endif
