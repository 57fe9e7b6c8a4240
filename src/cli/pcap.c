/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca pcap`: packets of a fabric as a capture file. The processes of the fabric put
 * descriptions into the segment (hw/cap.h); a thread here takes them out, makes the packets' bytes
 * and writes them. On a private fabric this runs in the supervisor's process, else in ours.
 */
#include "cli/pcap.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/pcapng.h"
#include "cli/watch.h"
#include "fault/fault.h"
#include "hw/cap.h"
#include "hw/port.h"
#include "super/program.h"
#include "util/clock.h"

#define SNAP_ALL 65535
#define NAP_MIN_NS 200000L
#define NAP_MAX_NS 10000000L

/* ---- file formats */

struct capture_form {
	int dlt;
	uint32_t (*record)(const struct pkt *p, const uint8_t *payload, uint32_t snap,
			   uint32_t lost, uint8_t *out, uint32_t *wire);
};
/* ERF wraps packets of any link layer. */
static const struct capture_form form_erf = {DLT_ERF, erf_record};
/* Every reader of captures knows Ethernet, but it cannot carry InfiniBand packets. */
static const struct capture_form form_eth = {DLT_EN10MB, eth_record};

static const struct capture_form *pcap_form(const struct seg *s)
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (!hw_port_is_eth(hw_port(s, i)))
			return &form_erf;
	return &form_eth;
}

/* ---- the thread */

/* pcapng is what has a place for that; its name, or rules from the start, choose it. */
static bool wants_ng(const struct seg *s, const struct cli_options *o)
{
	const char *dot = strrchr(o->capout, '.');

	return (dot && !strcmp(dot, ".pcapng")) || o->fab.nfaults ||
	       seg_next(s, SEG_T_FAULT, SEG_OWNER_ANY, 0) != SEG_NONE;
}

static bool begin_file(struct capture *c)
{
	pcap_t *p;

	if (c->ng)
		return pcapng_begin(c->file,
				    c->form->dlt); /* these two have the same number there */
	p = pcap_open_dead_with_tstamp_precision(c->form->dlt, SNAP_ALL,
						 PCAP_TSTAMP_PRECISION_NANO);
	c->dump = p ? pcap_dump_fopen(p, c->file) : NULL;
	if (p)
		pcap_close(p);
	return c->dump;
}

static bool write_packet(struct capture *c, const struct pcapng_packet *p)
{
	const struct pcap_pkthdr h = {
		/* microseconds or nanoseconds, as the file's header says */
		.ts = {(time_t)(p->ns / NSEC_PER_SEC), (suseconds_t)(p->ns % NSEC_PER_SEC)},
		.caplen = p->kept,
		.len = p->wire,
	};

	c->packets++;
	if (c->ng)
		return pcapng_packet(c->file, p);
	pcap_dump((u_char *)c->dump, &h, p->bytes);
	return !ferror(c->file);
}

static bool write_one(struct capture *c, const struct seg_cap_rec *rec)
{
	static uint8_t bytes[ERF_MAX];
	uint64_t lost = cap_lost(c->seg);
	struct pcapng_packet p = {.ns = rec->pkt.time_ns, .bytes = bytes};

	c->lost += lost;
	if (rec->pkt.mark == PKT_RULE) {
		c->fired += c->ng;
		return !c->ng || pcapng_text(c->file, p.ns, (const char *)rec->payload);
	}
	p.kept = c->form->record(&rec->pkt, rec->payload, c->snap,
				 (uint32_t)(lost < UINT16_MAX ? lost : UINT16_MAX), bytes, &p.wire);
	if (rec->pkt.mark == PKT_LOST)
		p.comment = "lost on purpose: a rule of --inject";
	return write_packet(c, &p);
}

/* Writes all packets that are there. False: the file cannot be written. */
static bool pcap_write_all(struct capture *c, bool *any)
{
	const struct seg_cap_rec *rec;

	*any = false;
	while ((rec = cap_first(c->seg))) {
		*any = true;
		if (!write_one(c, rec))
			return false;
		cap_next(c->seg);
	}
	return !(*any && c->live && fflush(c->file));
}

static void *work(void *arg)
{
	struct capture *c = arg;
	long nap = NAP_MIN_NS;
	bool any, ok = begin_file(c);

	if (ok && c->live)
		ok = !fflush(c->file);
	while (ok) {
		bool last = atomic_load(&c->stop);

		ok = pcap_write_all(c, &any);
		/* A packet may wait for an earlier one, which a process did not finish. */
		if (!ok || (last && cap_empty(c->seg)))
			break;
		nap = any ? NAP_MIN_NS : nap * 2 < NAP_MAX_NS ? nap * 2 : NAP_MAX_NS;
		if (!any)
			nanosleep(&(struct timespec){0, nap}, NULL);
	}
	if (!ok || fflush(c->file)) {
		c->error = errno ? errno : EIO;
		cap_stop(c->seg);
		atomic_store(&c->ended, 1);
	}
	c->lost += cap_lost(c->seg);
	return NULL;
}

/* ---- begin and end */

static FILE *pcap_open_file(const char *name)
{
	FILE *f;
	int fd;

	if (strcmp(name, "-"))
		return fopen(name, "we");
	/* Use a copy: the command's own standard output goes elsewhere (stdout_taken). */
	fd = dup(STDOUT_FILENO);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

int capture_begin(struct capture *c, struct seg *s, const struct cli_options *o)
{
	sigset_t pipe, old;
	int r;

	*c = (struct capture){
		.name = o->capout,
		.snap = o->snap ? o->snap : SNAP_ALL,
		.live = o->live,
		.form = pcap_form(s),
		.ng = wants_ng(s, o),
	};
	c->file = pcap_open_file(c->name);
	if (!c->file)
		return prog_fail("pcap: cannot write to %s: %s", c->name, strerror(errno));
	if (!strcmp(c->name, "-") && isatty(fileno(c->file))) {
		fclose(c->file);
		return prog_fail(
			"pcap: a capture cannot be written to a terminal: use -o FILE or a pipe");
	}
	r = cap_start(s, c->snap);
	if (r) {
		fclose(c->file);
		return prog_fail("pcap: another capture is running on this fabric");
	}
	c->seg = s;
	/* A reader that has gone gives an error of write(), and must not end us. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &old);
	r = pthread_create(&c->thread, NULL, work, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!r)
		return 0;
	cap_finish(s);
	fclose(c->file);
	c->seg = NULL;
	return prog_fail("pcap: cannot start a thread: %s", strerror(r));
}

int capture_end(struct capture *c)
{
	int err;

	if (!c->seg)
		return 0;
	cap_stop(c->seg);
	atomic_store(&c->stop, 1);
	pthread_join(c->thread, NULL);
	cap_finish(c->seg);
	err = c->error;
	if (fclose(c->file) && !err)
		err = errno;
	c->seg = NULL;
	if (err == EPIPE && c->live)
		err = 0; /* the reader has closed its end */
	if (err)
		return prog_fail("pcap: cannot write to %s: %s", c->name, strerror(err));
	fprintf(stderr, "softhca: pcap: %llu packets", (unsigned long long)c->packets);
	if (!c->packets && !c->lost && !c->fired)
		fprintf(stderr, ": no port has sent one, and %s has no more than its header",
			strcmp(c->name, "-") ? c->name : "the capture");
	if (c->fired)
		fprintf(stderr, ", %llu firings of rules", (unsigned long long)c->fired);
	if (c->lost)
		fprintf(stderr, ", %llu more were lost%s", (unsigned long long)c->lost,
			c->snap > 256 ? " (-s 128 keeps less of each)" : "");
	fprintf(stderr, "\n");
	return 0;
}

/* ---- on a fabric that is up */

/* Returns the command's wait status. The terminal sends its signals to the command itself. */
static int pcap_wait_for(pid_t pid, const sigset_t *set)
{
	siginfo_t si;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		int sig = sigwaitinfo(set, &si);

		if (sig > 0 && sig != SIGCHLD && si.si_code != SI_KERNEL)
			kill(pid, sig);
	}
	return status;
}

static int with_command(struct cli_options *o, const sigset_t *set, const sigset_t *old)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return prog_fail("cannot start a process: %s", strerror(errno));
	if (!pid) {
		sigprocmask(SIG_SETMASK, old, NULL);
		if (o->stdout_taken)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		o->capout = NULL;
		exit(cli_run(o));
	}
	status = pcap_wait_for(pid, set);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool is_stuck(void *ctx)
{
	return atomic_load(&((struct capture *)ctx)->ended);
}

int pcap_around(struct cli_options *o)
{
	struct capture c = {0};
	struct seg s = {0};
	sigset_t set, old;
	int r = watch_begin(o, &s), end;

	if (r)
		return r;
	watch_signals(&set, &old);
	r = capture_begin(&c, &s, o);
	if (!r && o->argc)
		r = with_command(o, &set, &old);
	else if (!r)
		watch_wait(&s, &set, is_stuck, &c);
	end = capture_end(&c);
	seg_unmap(&s);
	return r ? r : end;
}

int cli_pcap(struct cli_options *o)
{
	if (!o->output && !o->live)
		return prog_fail("pcap: no output given: use -o FILE, or --live for a pipe");
	o->capout = o->output ? o->output : "-";
	return o->argc ? cli_run(o) : pcap_around(o);
}
