/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the topics that are traced and the descriptor of the output. All layers call it, also inside
 * a signal handler.
 */
#include "util/log.h"
#include "util/bug.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/rec.h"
#include "util/sys.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* C libraries other than glibc lack both functions: there the library must load, no more. */
#pragma weak strerrordesc_np
#pragma weak strerrorname_np

uint32_t log_mask = LOG_ERROR;
bool log_json;
uint32_t log_options;
static char names[LOG_NAMES_MAX]; /* commands to trace; "!" in front: all but these; "": all */
static bool own;                  /* the environment asks for a trace */
static int live_fd = -1;          /* of a trace of the fabric; stays open, so that its number is
				     never another file's while a thread may write */
static uint32_t live_mask;        /* what it asks for */
static uint32_t live_turn;        /* counts its beginnings and ends */
static int log_fd = 2;
static bool inherited;
static bool log_pipe; /* writes of more than PIPE_BUF are not atomic and must be serialised */
static int lost;      /* a write failed; reported once */
static dev_t err_dev; /* identity of standard error: a program may reuse the number */
static ino_t err_ino;
static int writing; /* tid of the thread that is writing; 0: none */
static int barred;  /* another process has kept the file lock too long: it is stopped */
/* The reader of the live trace does not read; `missing` lines were dropped since. */
static int stuck;
static uint32_t missing;

static const struct {
	const char *name;
	uint32_t bit;
} topics[] = {
	{"uverbs", LOG_UVERBS},
	{"fw", LOG_FW},
	{"doorbell", LOG_DOORBELL},
	{"cqe", LOG_CQE},
	{"event", LOG_EVENT},
	{"mem", LOG_MEM},
	{"shim", LOG_SHIM},
	{"link", LOG_LINK},
	{"mad", LOG_MAD},
	{"cm", LOG_CM},
	{"inject", LOG_INJECT},
	{"check", LOG_CHECK},
	{"all", ~(uint32_t)LOG_CHECK},
};

const char *log_topic_name(uint32_t topic)
{
	if (topic == (uint32_t)LOG_ERROR)
		return "error";
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		if (topics[i].bit == topic)
			return topics[i].name;
	return "?";
}

uint32_t log_topic_bits(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		if (strlen(topics[i].name) == len && !strncmp(topics[i].name, name, len))
			return topics[i].bit;
	return 0;
}

const char *log_errno_name(int err)
{
	const char *s = strerrorname_np ? strerrorname_np(err) : NULL;

	return s ? s : "?";
}

/* ---- the destination */

/* The descriptor that `softhca trace` passed, if it is still that file. */
static int inherited_fd(void)
{
	const char *s = getenv(LOG_ENV_FD);
	const char *end;
	struct stat st;
	uint64_t v[3];

	for (int i = 0; s && i < 3; i++) {
		v[i] = num_decimal(s, &end);
		if (end == s || (*end != ':' && i < 2))
			return -1;
		s = end + 1;
	}
	if (!s || v[0] > INT32_MAX || sys_fstat((int)v[0], &st) < 0 || st.st_dev != v[1] ||
	    st.st_ino != v[2])
		return -1;
	return sys_fd_keep((int)v[0]);
}

static void drop_fd(void)
{
	/*
	 * Keep the inherited descriptor: we, or a program that we execute, may look for it again.
	 */
	if (log_fd != 2 && !inherited && log_fd != live_fd)
		sys_fd_drop(log_fd);
	log_fd = 2;
}

static int open_trace(void)
{
	const char *file = getenv(LOG_ENV_FILE);
	int fd = inherited_fd();

	inherited = fd >= 0;
	if (inherited)
		return fd;
	if (file && *file) {
		/*
		 * Raw, because our own open() wrapper calls this code. Moved to a high number,
		 * which programs do not use.
		 */
		fd = sys_openat(AT_FDCWD, file,
				O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
		if (fd >= 0)
			return sys_fd_high(fd);
	}
	/* A copy of standard error: the program may close its own. */
	fd = sys_fcntl(2, F_DUPFD_CLOEXEC, 60);
	return fd >= 0 ? sys_fd_high(fd) : 2;
}

static uint32_t topics_of(const char *s)
{
	uint32_t mask = LOG_ERROR;

	while (s && *s) {
		size_t n = strcspn(s, ",");

		mask |= log_topic_bits(s, n);
		s += n + (s[n] == ',');
	}
	return mask;
}

static bool is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !strncmp(s, word, n);
}

static void read_options(const char *s)
{
	static const struct {
		const char *word;
		uint32_t bit;
	} words[] = {
		{"failed", LOG_FAILED}, {"good", LOG_GOOD},       {"counted", LOG_COUNTED},
		{"bare", LOG_BARE},     {"objects", LOG_OBJECTS},
	};
	size_t n;

	log_options = 0;
	names[0] = '\0';
	for (; s && *s; s += n + (s[n] == ' ')) {
		n = strcspn(s, " ");
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (is_word(s, n, words[i].word))
				log_options |= words[i].bit;
		if (is_word(s, n, "json"))
			log_json = true;
		if (n > 4 && n - 4 < sizeof(names) && !strncmp(s, "cmd=", 4)) {
			memcpy(names, s + 4, n - 4);
			names[n - 4] = '\0';
		}
	}
}

void log_init(void)
{
	const char *format = getenv(LOG_ENV_FORMAT);
	uint32_t mask = topics_of(getenv(LOG_ENV_TOPICS));
	struct stat st;

	drop_fd();
	log_mask = mask;
	own = mask != (uint32_t)LOG_ERROR;
	if (!own)
		return;
	log_json = format && !strcmp(format, "json");
	read_options(getenv(LOG_ENV_OPTIONS));
	if (sys_fstat(2, &st) == 0) {
		err_dev = st.st_dev;
		err_ino = st.st_ino;
	}
	log_fd = open_trace();
	log_pipe = sys_fstat(log_fd, &st) == 0 && !S_ISREG(st.st_mode);
}

void log_finish(void)
{
	drop_fd();
	log_mask = LOG_ERROR;
	own = false;
	lost = 0;
}

static void live_set(uint32_t mask)
{
	__atomic_store_n(&live_mask, mask, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&live_turn, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&log_mask, mask, __ATOMIC_SEQ_CST);
}

/* The reader of that turn has gone. Another thread may already have begun the next one's trace. */
static void live_lost(uint32_t turn)
{
	__atomic_store_n(&log_mask, (uint32_t)LOG_ERROR, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&live_turn, __ATOMIC_SEQ_CST) != turn)
		__atomic_store_n(&log_mask, __atomic_load_n(&live_mask, __ATOMIC_SEQ_CST),
				 __ATOMIC_SEQ_CST);
}

int log_live(const char *topics_, const char *options, const char *fifo)
{
	int fd;

	if (own)
		return 0;
	/* The FIFO can be opened for writing only while a reader has it open. */
	fd = sys_openat(AT_FDCWD, fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW,
			0);
	if (fd < 0)
		return fd;
	if (live_fd >= 0) {
		sys_call(SYS_dup3, fd, live_fd, O_CLOEXEC);
		sys_close(fd);
	} else {
		live_fd = sys_fd_high(fd);
	}
	log_fd = live_fd;
	log_pipe = true;
	stuck = 0;
	missing = 0;
	log_json = false;
	read_options(options);
	live_set(topics_of(topics_));
	return 0;
}

void log_live_end(void)
{
	int fd;

	if (own || live_fd < 0)
		return;
	live_set(LOG_ERROR);
	fd = sys_openat(AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	sys_call(SYS_dup3, fd, live_fd, O_CLOEXEC);
	sys_close(fd);
}

/* ---- which lines */

/* Is the name in the list? */
static bool is_listed(const char *list, const char *name)
{
	while (name && *list) {
		size_t n = strcspn(list, ",");

		if (is_word(list, n, name))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

bool log_wants(uint32_t topic, const char *what, const char *detail, bool failed)
{
	bool all_but = names[0] == '!';

	if (topic == (uint32_t)LOG_ERROR)
		return true;
	if (log_options & (failed ? LOG_GOOD : LOG_FAILED))
		return false;
	if (!names[0] || !(topic & LOG_NAMED))
		return true;
	return (is_listed(names + all_but, what) || is_listed(names + all_but, detail)) != all_but;
}

/* ---- writing */

#define TURN_NS (100 * NSEC_PER_MSEC) /* a waiter then checks whether the writer is stopped */
#define HUNG_NS (5 * NSEC_PER_SEC)    /* longest wait for a writer if the pipe has room */
#define LIVE_NS (2 * NSEC_PER_SEC)    /* for a live trace, whose writer tries for a second */
#define TURN_SLEEP_NS 20000

static bool pipe_is_full(void)
{
	struct pollfd pfd = {.fd = log_fd, .events = POLLOUT};

	return sys_call(SYS_poll, &pfd, 1, 0) == 0;
}

/* Is the process stopped, or has it ended? A process that /proc hides from us counts as running. */
static bool is_stopped(int pid)
{
	char path[32], text[256];
	const char *state;
	long n;

	fmt(path, sizeof(path), "/proc/%d/stat", pid);
	n = sys_read_text(path, text, sizeof(text));
	state = n > 0 ? strrchr(text, ')') : NULL;
	return state && state[1] ? strchr("TtZX", state[2]) != NULL : n == -ESRCH;
}

/* The thread of ours that writes, or else the process that has the file lock. */
static bool writer_is_stopped(bool ours)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int tid = __atomic_load_n(&writing, __ATOMIC_RELAXED);

	/* fork() may have copied the word of a thread that does not exist here. */
	if (!ours)
		return tid && sys_call(SYS_tgkill, sys_getpid(), tid, 0) == -ESRCH;
	return !sys_fcntl(log_fd, F_GETLK, (long)&l) && l.l_type != F_UNLCK && l.l_pid > 0 &&
	       is_stopped(l.l_pid);
}

/*
 * One writer at a time where the kernel does not ensure it: a word in the process and a file lock
 * among processes. Regular files need neither. In a pipe the kernel splits long lines, so short
 * lines wait for them: as long as a slow reader leaves no room, but not for a stopped writer.
 */
static int take_turn(int tid)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct timespec nap = {0, TURN_SLEEP_NS};
	uint64_t now = clock_now_ns(), look = now + TURN_NS;
	uint64_t end = now + (log_fd == live_fd ? LIVE_NS : HUNG_NS);
	int ours = 0;

	do {
		int none = 0;

		if (!ours && __atomic_load_n(&writing, __ATOMIC_RELAXED) == tid)
			return 0; /* a signal handler that interrupted our own write */
		if (!ours)
			ours = __atomic_compare_exchange_n(&writing, &none, tid, false,
							   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
		if (ours && sys_fcntl(log_fd, F_SETLK, (long)&l) != -EAGAIN) {
			__atomic_store_n(&barred, 0, __ATOMIC_RELAXED);
			return 1;
		}
		if (ours && __atomic_load_n(&barred, __ATOMIC_RELAXED))
			return 1;
		sys_call(SYS_nanosleep, &nap, NULL);
		now = clock_now_ns();
		if (now < look)
			continue;
		look = now + TURN_NS;
		if (writer_is_stopped(ours))
			break;
		if (log_fd != live_fd && pipe_is_full())
			end = now + HUNG_NS;
	} while (now < end);
	__atomic_store_n(&barred, ours, __ATOMIC_RELAXED);
	__atomic_store_n(&writing, tid, __ATOMIC_RELAXED);
	return 1;
}

static void end_turn(void)
{
	struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	sys_fcntl(log_fd, F_SETLK, (long)&l);
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
}

/*
 * Writes all of it, or returns -errno. The descriptor may be non-blocking: it is the user's
 * standard error.
 */
static int write_all(const char *p, size_t n)
{
	while (n) {
		ssize_t w = sys_write(log_fd, p, n);

		if (w == -EAGAIN) {
			struct pollfd pfd = {.fd = log_fd, .events = POLLOUT};

			long r = sys_call(SYS_poll, &pfd, 1, 1000);

			if (r <= 0 && r != -EINTR)
				return -EAGAIN; /* also where a filter refuses to wait */
			continue;
		}
		if (w == -EINTR)
			continue;
		if (w <= 0)
			return w ? (int)w : -EIO;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

/* If the program has closed or replaced its standard error, say nothing. */
static void complain(int err)
{
	const char *file = getenv(LOG_ENV_NAME);
	char line[512];
	struct stat st;
	size_t n;

	if (__atomic_exchange_n(&lost, 1, __ATOMIC_RELAXED))
		return;
	if (sys_fstat(2, &st) < 0 || st.st_dev != err_dev || st.st_ino != err_ino)
		return;
	if (!file)
		file = getenv(LOG_ENV_FILE);
	n = fmt(line, sizeof(line),
		"softhca: trace: cannot write to %.300s: %s: lines are missing\n",
		file ? file : "standard error", strerrordesc_np ? strerrordesc_np(-err) : "?");
	sys_write(2, line, n);
}

/* Lines of at most PIPE_BUF bytes are whole or absent; POLLOUT says that one more has room. */
static bool reader_is_stuck(void)
{
	struct pollfd pfd = {.fd = log_fd, .events = POLLOUT};

	if (!__atomic_load_n(&stuck, __ATOMIC_RELAXED))
		return false;
	if (sys_call(SYS_poll, &pfd, 1, 0) == 0) {
		__atomic_fetch_add(&missing, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

/* Reports lost lines in the trace itself, because its reader has to know. */
static __attribute__((noinline)) void tell_missing(void)
{
	char text[80];
	uint32_t n;
	struct rec r;

	__atomic_store_n(&stuck, 0, __ATOMIC_RELAXED);
	n = __atomic_exchange_n(&missing, 0, __ATOMIC_RELAXED);
	if (!n)
		return;
	fmt(text, sizeof(text), "%u lines are missing: the trace was not read", n);
	rec_begin(&r, LOG_ERROR, NULL, 0);
	rec_say(&r, "text", "", text);
	rec_end(&r);
}

void log_write(const char *line, size_t n)
{
	/* A full disk or a closed reader must not disturb the program. */
	uint64_t mine = UINT64_C(1) << (SIGPIPE - 1) | UINT64_C(1) << (SIGXFSZ - 1);
	uint64_t old = 0, pending = 0;
	struct timespec now = {0};
	uint32_t live = __atomic_load_n(&live_turn, __ATOMIC_SEQ_CST);
	int tid = log_pipe ? (int)sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0) : 0, turn = 0, r;

	if (__builtin_expect(log_fd == live_fd, 0)) {
		if (reader_is_stuck())
			return;
		if (__atomic_load_n(&stuck, __ATOMIC_RELAXED))
			tell_missing();
	}
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &mine, &old, sizeof(old));
	sys_call(SYS_rt_sigpending, &pending, sizeof(pending));
	if (log_pipe)
		turn = take_turn(tid);
	r = write_all(line, n);
	if (turn)
		end_turn();
	mine &= ~pending;
	if (r < 0 && log_fd != live_fd)
		complain(r);
	else if (r == -EPIPE)
		live_lost(live);
	else if (r == -EAGAIN) {
		__atomic_fetch_add(&missing, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&stuck, 1, __ATOMIC_RELAXED);
	}
	if (r == -EPIPE || r == -EFBIG)
		sys_call(SYS_rt_sigtimedwait, &mine, NULL, &now, sizeof(mine));
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
}

void log_line(enum log_topic topic, const char *f, ...)
{
	char text[940];
	struct rec r;
	va_list ap;

	va_start(ap, f);
	fmt_v(text, sizeof(text), f, ap);
	va_end(ap);
	if (topic == LOG_ERROR && (log_fd == 2 || log_fd == live_fd)) {
		char line[1100];

		sys_write(2, line,
			  fmt(line, sizeof(line), "softhca[%ld] error: %s\n",
			      sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), text));
		return;
	}
	rec_begin(&r, topic, NULL, 0);
	rec_say(&r, "text", "", text);
	rec_end(&r);
}

void log_command(enum log_topic topic, const char *what, bool failed, const char *f, ...)
{
	char text[940];
	struct rec r;
	va_list ap;

	va_start(ap, f);
	fmt_v(text, sizeof(text), f, ap);
	va_end(ap);
	rec_begin(&r, topic, NULL, 0);
	rec_about(&r, what);
	r.failed = failed;
	rec_say(&r, "text", "", text);
	rec_end(&r);
}

#define BUGS_SAID 8u /* a bug on the data path would fill a disk */

void bug_at(const char *file, int line, const char *what)
{
	static uint32_t said;

	if (__atomic_load_n(&said, __ATOMIC_RELAXED) >= BUGS_SAID ||
	    __atomic_fetch_add(&said, 1, __ATOMIC_RELAXED) >= BUGS_SAID)
		return;
	/* An inline function has one line for all its callers; the address tells them apart. */
	log_line(LOG_ERROR, "bug at %s:%d, called from %p: %s", file, line,
		 __builtin_return_address(0), what);
}
