/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the process's attachment to the fabric (link to the supervisor, segment, uverbs system), and
 * opens and ends files. The wrappers call it through attach.h; it calls link, fabric, uverbs.
 *
 * A process attaches at its first open of a device; a fork child attaches again when it first uses
 * an inherited file. One thread attaches, the others wait; all block signals.
 */
#include "check/check.h"
#include "engine/engine.h"
#include "shim/attach.h"
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/world.h"
#include "mlx5/mlx5.h"
#include "hw/evq.h"
#include "segment/adopt.h"
#include "segment/mem.h"
#include "segment/near.h"
#include "segment/pin.h"
#include "shim/libc.h"
#include "shim/files/fdtab.h"
#include "shim/files/netlink.h"
#include "shim/files/nlroute.h"
#include "shim/files/paths.h"
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/fault.h"
#include "shim/files/wait.h"
#include "ucma/ucma.h"
#include "umad/umad.h"
#include "util/clock.h"
#include "util/heap.h"
#include "util/log.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/sys.h"
#include "util/tls.h"

#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DETACHED, BUSY, ATTACHED };
/*
 * This thread is attaching. Meanwhile it may call another preloaded library, whose code may call
 * us.
 */
static TLS_IE bool attaching;

static struct {
	_Atomic int state;
	struct seg seg;
	struct link link;
	struct uv_system sys;
	struct uv_driver driver; /* for the adapters of the fabric, which are alike */
	uint32_t host;           /* SEG_T_HOST */
} at = {.link = {.fd = -1, .alive = -1, .bell = -1}, .seg = {.fd = -1, .self = SEG_NONE}};

static struct ucma_ahead ahead; /* rdma_cm's answers that came with events, of all files */

/* The pid that owns these tables; 0 until the first entry is made. */
static _Atomic int owner_pid;

/*
 * Is this a vfork child? It runs in its parent's memory: if it claimed the tables first, they would
 * have the child's pid when the parent goes on. First threads that have ended have the same memory,
 * none, so this thread is compared.
 */
static bool borrows_memory(void)
{
	return !sys_call(SYS_kcmp, sys_call(SYS_gettid), sys_call(SYS_getppid), KCMP_VM, 0, 0);
}

bool shim_owns_tables(void)
{
	int pid = sys_getpid(), owner = atomic_load_explicit(&owner_pid, memory_order_relaxed);

	if (owner)
		return owner == pid;
	if (borrows_memory())
		return false;
	return atomic_compare_exchange_strong(&owner_pid, &owner, pid) || owner == pid;
}

/*
 * ---- forks ----
 *
 * The child gets a copy of the other threads' unfinished changes: mutexes held for ever, lists half
 * changed. A fork therefore waits until no thread is inside, and threads that arrive later wait for
 * the fork.
 */

/* Threads in fork() are counted in the upper half, threads inside in the lower half. */
#define FORKING 0x10000u
#define INSIDE(v) ((v) & (FORKING - 1))
#define FORK_WAIT_NS NSEC_PER_SEC /* then fork, whatever the other threads wait for */

static _Atomic uint32_t gate;
static TLS_IE uint32_t depth;
/* This thread is in fork(): a handler that runs in it must not wait for the fork's end. */
static TLS_IE uint32_t in_fork;

void shim_gate_enter(void)
{
	uint32_t v;

	if (depth++ || in_fork)
		return;
	v = atomic_load(&gate);
	for (;;) {
		if (v >= FORKING) {
			sys_futex_wait(&gate, v, NSEC_PER_MSEC);
			v = atomic_load(&gate);
		} else if (atomic_compare_exchange_weak(&gate, &v, v + 1)) {
			return;
		}
	}
}

void shim_gate_leave(void)
{
	if (!--depth && !in_fork && atomic_fetch_sub(&gate, 1) >= FORKING)
		sys_futex_wake(&gate, INT32_MAX);
}

void shim_enter(sigset_t *old)
{
	sig_block_all(old);
	shim_gate_enter();
}

void shim_leave(const sigset_t *old)
{
	shim_gate_leave();
	sig_restore(old);
}

void shim_forking(void)
{
	uint64_t end = clock_now_ns() + FORK_WAIT_NS;
	uint32_t me = depth && !in_fork ? 1 : 0, v;

	in_fork++;
	v = atomic_fetch_add(&gate, FORKING) + FORKING;
	for (; INSIDE(v) > me && clock_now_ns() < end; v = atomic_load(&gate))
		sys_futex_wait(&gate, v, NSEC_PER_MSEC);
	trap_forking();
	adopt_forking();
}

void shim_fork_done(void)
{
	adopt_fork_done();
	trap_fork_done();
	atomic_fetch_sub(&gate, FORKING);
	in_fork--;
	sys_futex_wake(&gate, INT32_MAX);
}

/* ---- callbacks of uverbs ---- */

static int attach_publish(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen,
			  uint32_t minor, int accmode, void *obj)
{
	struct shim_file *f = fdtab_new();
	struct stat st;
	int r;

	if (!f)
		return -ENOMEM;
	r = sys_fstat(fd, &st);
	f->kind = kind;
	f->file = file;
	f->gen = gen;
	f->minor = minor;
	f->accmode = accmode;
	f->opener = sys_getpid();
	f->opener_euid = (uint32_t)sys_call(SYS_geteuid);
	if (!r) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
		f->obj = obj;
		r = fdtab_set(fd, f);
	}
	if (!r && kind != SEG_FILE_UVERBS && kind != SEG_FILE_ISSM)
		atomic_store(&wait_files, 1);
	if (r) {
		f->obj = NULL;
		atomic_store(&f->refs, 0);
		atomic_store(&f->state, SHIM_FILE_FREE);
	}
	TRACE(LOG_SHIM, "fd %d: file %u.%u kind %d: %d", fd, file, gen, kind, r);
	return r;
}

static int fd_publish(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen, void *obj)
{
	return attach_publish(fd, kind, file, gen, NODE_NONE, O_RDONLY, obj);
}

static void *fd_lookup(int fd, enum seg_file_kind kind)
{
	struct shim_file *f = fdtab_get(fd);
	void *obj = f && f->kind == kind ? f->obj : NULL;

	fdtab_put(f);
	return obj;
}

/* ---- attaching ---- */

static int join(const struct shim_config *c)
{
	bool seen;
	int r = link_join(&at.link, &at.seg, c->dir, c->host);
	const struct hw_hca *hca;

	if (r == -EPROTONOSUPPORT)
		log_line(LOG_ERROR, "fabric %s was made by another version of softhca", c->dir);
	if (r < 0) {
		refused_join(r);
		return r;
	}
	at.host = fab_host_by_name(&at.seg, c->host);
	at.sys.seg = &at.seg;
	at.sys.link = &at.link;
	hca = hw_hca(&at.seg, seg_next(&at.seg, SEG_T_HCA, SEG_OWNER_ANY, 0));
	at.driver = hca ? mlx5_driver_of(&hca->caps) : mlx5_driver;
	at.sys.driver = &at.driver;
	at.sys.memlock_enforce = c->memlock_enforce;
	at.sys.memlock_all = (uint64_t)hw_setting(&at.seg, HW_SET_MEMLOCK) << 10;
	at.sys.no_ioctl = hw_setting(&at.seg, HW_SET_IOCTL) == HW_HAS_NOT;
	at.sys.no_ex = hw_setting(&at.seg, HW_SET_EX) == HW_HAS_NOT;
	at.sys.open_file = link_open_file;
	at.sys.file_closed = link_file_closed;
	at.sys.fd_publish = fd_publish;
	at.sys.fd_lookup = fd_lookup;
	at.sys.uar_mmap = uar_mmap;
	at.sys.uar_mapped = uar_mapped;
	at.seg.pace = hw_setting(&at.seg, HW_SET_PACE);
	at.seg.unfenced = hw_setting(&at.seg, HW_SET_ANSWERS) == HW_ANSWERS_LATE;
	at.seg.spurious = hw_setting(&at.seg, HW_SET_WAKEUPS) == HW_WAKEUPS_SPURIOUS;
	uar_know(&at.seg);
	if (c->ptracer)
		proc_admit_peers();
	sig_install();
	near_init();
	seen = libc_hook();
	if (c->adopt_after && mem_guard_armed) {
		adopt_init(&at.seg, seen);
		atomic_store(&at.seg.hdr->adopting, 1);
		atomic_store(&seg_proc(&at.seg, at.seg.self)->adopt_after,
			     seen ? c->adopt_after : 0);
		atomic_store(&seg_proc(&at.seg, at.seg.self)->adopt_queues, c->adopt_after);
	}
	return 0;
}

static int attach(void)
{
	int s, r;
	sigset_t old;

	if (atomic_load_explicit(&at.state, memory_order_acquire) == ATTACHED)
		return 0;
	if (!shim_on())
		return -ENODEV;
	if (!shim_owns_tables() || attaching)
		return -EAGAIN;
	if (CHECK_ON())
		check_prepare(); /* loads a library, before signals are blocked */
	shim_enter(&old);
	attaching = true; /* signals are blocked here, so a handler's open() does not count */
	shim_start();
	for (;;) {
		s = DETACHED;
		if (atomic_compare_exchange_strong(&at.state, &s, BUSY)) {
			r = join(shim_config());
			atomic_store_explicit(&at.state, r ? DETACHED : ATTACHED,
					      memory_order_release);
			break;
		}
		if (s == ATTACHED) {
			r = 0;
			break;
		}
		sys_call(SYS_sched_yield);
	}
	attaching = false;
	shim_leave(&old);
	return r;
}

int shim_attach(struct uv_system **sys)
{
	int saved = errno, r = attach();

	errno = saved;
	if (!r)
		*sys = &at.sys;
	return r;
}

void shim_forked(void)
{
	int saved = errno;

	adopt_forked();
	pin_forked();
	in_fork--;
	atomic_store(&gate, in_fork * FORKING + (depth && !in_fork ? 1 : 0));
	/* always necessary: shim_forking() does its part even if no device is open */
	trap_fork_done();
	node_forked();
	heap_forked();
	evq_forked();
	if (!atomic_load(&owner_pid))
		return;
	atomic_store(&owner_pid, sys_getpid());
	fdtab_forked();
	if (at.seg.hdr)
		link_forget(&at.link, &at.seg);
	fdtab_each_uverbs(uv_forked);
	trap_forked();
	rt_forked();
	atomic_store(&at.state, DETACHED);
	errno = saved;
}

void shim_ends(void)
{
	int saved = errno;
	sigset_t old;

	if (atomic_load(&at.state) != ATTACHED || !shim_owns_tables())
		return;
	shim_enter(&old);
	eng_process_ends(&at.seg);
	shim_leave(&old);
	errno = saved;
}

struct seg *shim_segment(void)
{
	return atomic_load_explicit(&at.state, memory_order_acquire) == ATTACHED ? &at.seg : NULL;
}

struct seg *shim_adopting(void)
{
	if (atomic_load_explicit(&at.state, memory_order_acquire) != ATTACHED ||
	    !atomic_load_explicit(&at.seg.hdr->adopting, memory_order_relaxed))
		return NULL;
	return &at.seg;
}

struct seg_proc *shim_own_slot(void)
{
	if (atomic_load_explicit(&at.state, memory_order_acquire) != ATTACHED)
		return NULL;
	return seg_proc(&at.seg, at.seg.self);
}

/* ---- open files ---- */

/*
 * Enter a new descriptor of a device file into the table; arguments describe the open and the file.
 */
static int publish_node(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen,
			uint32_t minor, int flags, void *obj)
{
	if (!(flags & O_CLOEXEC))
		sys_fcntl(fd, F_SETFD, 0);
	if (flags & O_NONBLOCK)
		sys_fcntl(fd, F_SETFL, O_NONBLOCK);
	return attach_publish(fd, kind, file, gen, minor, flags & O_ACCMODE, obj);
}

/* Returns `fd` if nothing has failed, else the error; then the file is given back. */
static int opened(int fd, uint32_t file, uint32_t gen, int err)
{
	if (!err)
		return fd;
	sys_close(fd);
	link_file_closed(&at.link, file, gen);
	return err;
}

static int open_uverbs(struct uv_system *sys, uint32_t hca, uint32_t minor, int flags)
{
	uint32_t file, gen;
	struct uv_file *f;
	int fd, r;

	r = link_open_file(&at.link, SEG_FILE_UVERBS, hca, 0, &file, &gen, &fd);
	if (r < 0)
		return r;
	r = uv_open(sys, hca, file, gen, &f);
	if (!r) {
		r = publish_node(fd, SEG_FILE_UVERBS, file, gen, minor, flags, f);
		if (r)
			uv_release(f, true);
	}
	return opened(fd, file, gen, r);
}

/*
 * Opens a umad or issm file. Its whole state is in the segment, so the descriptor has no object of
 * ours.
 */
static int open_of_port(uint32_t port, enum seg_file_kind kind, uint32_t minor, int flags)
{
	const struct hw_port *p = hw_port(&at.seg, port);
	uint32_t file, gen;
	int fd, r;

	sig_note_caught();
	r = link_open_file(&at.link, kind, p->hca, p->num, &file, &gen, &fd);
	if (r < 0)
		return r;
	r = publish_node(fd, kind, file, gen, minor, flags, NULL);
	return opened(fd, file, gen, r);
}

/*
 * The supervisor has the state of rdma_cm. The device belongs to the host; a file needs an adapter,
 * so it names the first one.
 */
static int open_rdma_cm(const struct hw_host *host, int flags)
{
	uint32_t file, gen;
	int fd, r;

	if (!host || !host->nhcas)
		return -ENXIO;
	r = link_open_file(&at.link, SEG_FILE_RDMA_CM, host->hca[0], 0, &file, &gen, &fd);
	if (r < 0)
		return r;
	r = publish_node(fd, SEG_FILE_RDMA_CM, file, gen, FAB_RDMA_CM_MINOR, flags, NULL);
	/*
	 * The device thread notices when the supervisor is killed (ucma_lost()). If it cannot
	 * start, only that is missed.
	 */
	if (!r)
		devthread_start();
	return opened(fd, file, gen, r);
}

static bool is_issm(uint32_t minor)
{
	return minor >= FAB_ISSM_MINOR(0) && minor < FAB_UVERBS_MINOR(0);
}

/* Finds the device with the node's number. -ENXIO: none; -EBUSY: an issm that is open already. */
static int open_node(struct uv_system *sys, uint32_t minor, int flags)
{
	const struct hw_host *host = seg_live(&at.seg, SEG_T_HOST, at.host);
	uint32_t n = minor - FAB_UVERBS_MINOR(0), port;

	if (minor == FAB_RDMA_CM_MINOR)
		return open_rdma_cm(host, flags);
	if (minor < FAB_UVERBS_MINOR(0)) {
		port = fab_port_by_umad(&at.seg, at.host, minor % FAB_ISSM_MINOR(0));
		return port == SEG_NONE
			       ? -ENXIO
			       : open_of_port(port, is_issm(minor) ? SEG_FILE_ISSM : SEG_FILE_UMAD,
					      minor, flags);
	}
	return host && n < host->nhcas ? open_uverbs(sys, host->hca[n], minor, flags) : -ENXIO;
}

static struct hw_port *issm_port(uint32_t minor)
{
	return hw_port(&at.seg, fab_port_by_umad(&at.seg, at.host, minor - FAB_ISSM_MINOR(0)));
}

static uint32_t issm_holder(uint32_t minor)
{
	const struct hw_port *p = issm_port(minor);

	return p ? atomic_load(&p->issm) : 0;
}

/*
 * Wait until the process no longer has the issm file open. No timeout, so that the kernel restarts
 * the wait (SA_RESTART).
 */
static long issm_wait(uint32_t minor, uint32_t holder)
{
	struct hw_port *p = issm_port(minor);

	return p && holder ? sys_call(SYS_futex, &p->issm, FUTEX_WAIT, holder, NULL) : 0;
}

void shim_look_up(void)
{
	int saved = errno;

	if (!uar_never_traps())
		trap_decode_init();
	devthread_init();
	libc_look_up();
	errno = saved;
}

int shim_dev_open(uint32_t minor, int flags)
{
	struct uv_system *sys;
	sigset_t old;
	int r;

	if ((flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if (flags & O_DIRECTORY)
		return -ENOTDIR;
	r = shim_attach(&sys);
	if (r)
		return r == -EAGAIN || r == -ENOMEM || r == -EMFILE || r == -ENFILE ? r : -ENODEV;
	if (minor != FAB_RDMA_CM_MINOR && sys_call(SYS_geteuid) &&
	    hw_setting(&at.seg, HW_SET_DEV_OWNER) == HW_DEV_ROOT)
		return -EACCES;
	for (;;) {
		uint32_t holder = is_issm(minor) ? issm_holder(minor) : 0;

		shim_enter(&old);
		r = open_node(sys, minor, flags);
		shim_leave(&old);
		if (r == -EMFILE || r == -ENOMEM)
			refused_limit("cannot open the device", r);
		if (r != -EBUSY || !is_issm(minor))
			return r;
		if (flags & O_NONBLOCK)
			return -EAGAIN;
		/*
		 * Signals are as the program has them: a handler without SA_RESTART ends the wait.
		 */
		if (issm_wait(minor, holder) == -EINTR)
			return -EINTR;
	}
}

/*
 * Finds the fabric's open file behind a kernel object that another process opened, or this process
 * before an exec.
 */
static bool find_file(struct shim_file *f)
{
	seg_for_each_live (&at.seg, SEG_T_FILE, i) {
		const struct seg_file *sf = seg_file(&at.seg, i);

		if (!sf || sf->dev != f->dev || sf->ino != f->ino)
			continue;
		f->gen = sf->gen;
		f->kind = sf->kind;
		atomic_thread_fence(memory_order_release);
		f->file = i;
		return true;
	}
	return false;
}

bool shim_file_known(struct shim_file *f)
{
	return f->file != SEG_NONE || find_file(f);
}

static uint32_t umad_minor(const struct umad_file *u)
{
	const struct seg_file *sf = seg_file(u->s, u->file);
	const struct hw_hca *hca = sf ? hw_hca(u->s, sf->hca) : NULL;

	return hca && sf->port >= 1 ? fab_umad_index(u->s, hca->port[sf->port - 1]) : NODE_NONE;
}

bool shim_file_umad(struct shim_file *f, struct umad_file *u)
{
	struct uv_system *sys;

	if (f->kind && f->kind != SEG_FILE_UMAD)
		return false;
	if (shim_attach(&sys) || (f->file == SEG_NONE && !find_file(f)) || f->kind != SEG_FILE_UMAD)
		return false;
	*u = (struct umad_file){&at.seg, f->file, f->gen};
	/* inherited or received through a socket: it was only a FIFO until now */
	if (f->minor == NODE_NONE) {
		f->accmode = O_RDWR;
		f->minor = FAB_UMAD_MINOR(umad_minor(u));
	}
	return true;
}

bool shim_file_rdma_cm(struct shim_file *f, struct ucma_file *u)
{
	struct uv_system *sys;

	if (f->kind && f->kind != SEG_FILE_RDMA_CM)
		return false;
	if (shim_attach(&sys) || (f->file == SEG_NONE && !find_file(f)) ||
	    f->kind != SEG_FILE_RDMA_CM)
		return false;
	*u = (struct ucma_file){&at.link, &at.seg, &ahead, f->file, f->gen, -1};
	if (f->minor == NODE_NONE) {
		f->accmode = O_RDWR;
		f->minor = FAB_RDMA_CM_MINOR;
	}
	return true;
}

bool shim_file_queue(struct shim_file *f, struct shim_queue *q)
{
	struct uv_system *sys;

	if (f->kind == SEG_FILE_UVERBS || f->kind == SEG_FILE_ISSM || f->kind > SEG_FILE_RDMA_CM)
		return false;
	if (shim_attach(&sys) || (f->file == SEG_NONE && !find_file(f)))
		return false;
	/* Which files are writable follows from how their FIFO is opened: all but rdma_cm's. */
	*q = (struct shim_queue){&at.seg, f->file, f->gen, f->kind != SEG_FILE_RDMA_CM};
	return true;
}

struct shim_file *shim_file_get(int fd)
{
	struct shim_file *f = fdtab_get(fd);

	if (f == &fdtab_private) {
		fdtab_put(f);
		return NULL;
	}
	return f;
}

void shim_file_ended(struct shim_file *f)
{
	bool last = false;
	sigset_t old;

	if (f->kind == SHIM_NETLINK || f->kind == SHIM_ROUTE) {
		(f->kind == SHIM_NETLINK ? nl_ended : rt_ended)(f->obj);
		f->obj = NULL;
		f->kind = 0;
		return;
	}
	shim_enter(&old);
	if (!attach() && (f->file != SEG_NONE || find_file(f))) {
		int r = link_file_closed(&at.link, f->file, f->gen);

		/*
		 * -ENOENT: the supervisor noticed the end by itself between close(2) and this call.
		 */
		last = r > 0 || r == -ENOENT;
	}
	TRACE(LOG_SHIM, "file %u.%u kind %u: closed here%s", f->file, f->gen, f->kind,
	      last ? ", was the last" : "");
	if (f->obj && f->kind == SEG_FILE_UVERBS)
		uv_release(f->obj, last);
	else if (f->obj)
		uv_event_release(f->obj, last);
	f->obj = NULL;
	f->ino = 0;
	shim_leave(&old);
}

/*
 * The names of our kernel objects identify them: memfds "softhca-uverbs<N>" and "softhca-issm<N>",
 * FIFOs below the fabric's directory. True if fd is one; *minor for a memfd.
 */
static bool attach_is_ours(int fd, uint32_t *minor)
{
	static const struct {
		const char *name;
		uint32_t first;
	} memfds[] = {
		{"/memfd:softhca-uverbs", FAB_UVERBS_MINOR(0)},
		{"/memfd:softhca-issm", FAB_ISSM_MINOR(0)},
	};
	const struct shim_config *c = shim_config();
	char link[32], name[320];
	size_t dir = strlen(c->real_dir);
	long n;

	fmt(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	n = sys_readlink(link, name, sizeof(name) - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
	*minor = NODE_NONE;
	for (size_t i = 0; i < sizeof(memfds) / sizeof(memfds[0]); i++) {
		size_t len = strlen(memfds[i].name);

		if (strncmp(name, memfds[i].name, len))
			continue;
		*minor = memfds[i].first + (uint32_t)num_decimal(name + len, NULL);
		return true;
	}
	return dir && !strncmp(name, c->real_dir, dir) && !strncmp(name + dir, "/ev/", 4);
}

void shim_adopt(int fd)
{
	int saved = errno;
	struct shim_file *f;
	struct stat st;
	uint32_t minor;

	if (attach_is_ours(fd, &minor) && sys_fstat(fd, &st) == 0 && shim_owns_tables()) {
		f = fdtab_find(st.st_dev, st.st_ino);
		if (!f && (f = fdtab_new())) {
			f->minor = minor;
			f->kind = minor == NODE_NONE ? 0
				  : is_issm(minor)   ? SEG_FILE_ISSM
						     : SEG_FILE_UVERBS;
			f->dev = st.st_dev;
			f->ino = st.st_ino;
			f->accmode = minor == NODE_NONE ? O_RDONLY : O_RDWR;
		}
		if (minor == NODE_NONE)
			atomic_store(&wait_files, 1);
		TRACE(LOG_SHIM, "fd %d came from elsewhere: minor %d", fd, (int)minor);
		if (f && fdtab_set(fd, f))
			fdtab_put(f);
	}
	errno = saved;
}

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

void shim_adopt_inherited(void)
{
	char buf[1024] __attribute__((aligned(8)));
	int dir =
		sys_openat(AT_FDCWD, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long n;

	if (dir < 0)
		return;
	while ((n = sys_call(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long off = 0; off < n;) {
			struct linux_dirent64 *d = (struct linux_dirent64 *)(buf + off);
			int fd = d->d_name[0] == '.' ? -1 : (int)num_decimal(d->d_name, NULL);

			off += d->d_reclen;
			if (fd > 2 && fd != dir)
				shim_adopt(fd);
		}
	sys_close(dir);
}
