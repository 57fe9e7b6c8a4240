/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The forms in which programs and drivers report errors: a row each. Sources: the format strings of
 * UCX (ib_mlx5_log.c, ib_mlx5_dv.c, rc_verbs), NCCL (net_ib), perftest, SPDK, libfabric (rxm),
 * Open MPI (btl_openib), dapl, DPDK's mlx5, NVSHMEM, infiniband-diags, OpenSM, Lustre, and of
 * Linux' mlx5_core, mlx5_ib, mlx4, mthca and Solaris' mcxnex, as real logs in tests/logs have them.
 * decode.c calls it.
 */
#include "cli/report.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/card.h"
#include "cli/failed.h"
#include "util/cleanup.h"
#include "util/num.h"

#define GROUPS 10
#define TEXT_MAX 4096 /* longer messages are ignored: they report no error */

#define HEX "(0x[0-9a-f]+)"
#define DEC "([0-9]+)"

/*
 * `roles` tells what each group is:
 *   W wc status, decimal    w the same, hexadecimal    t its text
 *   s CQE syndrome, hex     V vendor_err, decimal      v the same, hexadecimal
 *   n name of a command     c its opcode, hexadecimal  S its status   y the firmware's syndrome
 *   q QPN, hex   Q decimal  C CQN, hex   D decimal
 *   e text of an event      E text of strerror()       L link layer   . nothing
 *   P "responder": a receive
 *   O operation             R errno, decimal           F a call       T the state it was to reach
 *   f a call that is known, where no errno is told
 *   u text of mlx5_ib for a CQE syndrome   h, i hexadecimal numbers beside it
 *   m event of rdma_cm      Z its status    k code of OpenSM   g text   A attribute of a SMP
 * A form of calls without F has the name of the call in `about`. With `waits`, the next line may
 * tell more, and the form that takes both lines is a row before it.
 */
static const struct form {
	const char *whose;
	const char *key; /* the message contains this, in any case */
	enum report_kind kind;
	const char *pattern, *roles;
	const char *about;
	bool waits;
} forms[] = {
	/* ---- commands of the driver */
	{"mlx5_core", "op_mod", REPORT_COMMAND,
	 "([A-Z0-9_]+) ?\\(" HEX
	 "\\) *op_mod ?\\(0x[0-9a-f]+\\) *failed, *status *[a-z ()]*[a-z)] ?\\(" HEX
	 "\\), *syndrome *\\(?" HEX,
	 "ncSy", NULL},
	{"mlx5_core", "syndrome", REPORT_COMMAND,
	 "status *[a-z .()]*\\(" HEX "\\),? *syndrome[ :=]*\\(?" HEX, "Sy", NULL},
	{"mlx5_core", "op_mod", REPORT_COMMAND,
	 "([A-Z0-9_]+) ?\\(" HEX "\\) *op_mod ?\\(0x[0-9a-f]+\\) *failed$", "nc", NULL},
	{"mlx5_core", "after timeout", REPORT_TIMEOUT,
	 "([A-Z0-9_]+) ?\\(" HEX "\\) *(Async, *)?recovered after timeout", "nc", "recovered"},
	{"mlx5_core", "time", REPORT_TIMEOUT,
	 "([A-Z0-9_]+) ?\\(" HEX
	 "\\) *(Async, *)?(timeout|canceled on out of queue timeout)([. ]|$)",
	 "nc", NULL},
	{"mlx5_core", "No done completion", REPORT_TIMEOUT,
	 "([A-Z0-9_]+) ?\\(" HEX "\\) *No done completion", "nc", NULL},
	/* ---- UCX */
	{"NVSHMEM", "mlx5dv_devx", REPORT_DEVX,
	 "status: *" DEC " +Error in mlx5dv_devx_([a-z_]+) for ([A-Z0-9_]+) with syndrome "
	 "(0x)?([0-9a-f]+)",
	 "Rnx.y", NULL},
	{"UCX", "mlx5dv_devx", REPORT_DEVX,
	 "mlx5dv_devx_([a-z_]+)\\((opcode=0x)?([A-Za-z0-9_]*)[^)]*\\) failed( on [^ ,]+)?, "
	 "*syndrome "
	 "(0x)?([0-9a-f]+)(: *(.*))?$",
	 "n.x..y.E", NULL},
	{"UCX", "mlx5dv_devx", REPORT_DEVX,
	 "mlx5dv_devx_([a-z_]+)\\(([A-Za-z0-9_]*)[^)]*\\) failed: *(.*)$", "nxE", NULL},
	{"UCX", "synd 0x", REPORT_COMPLETION,
	 "/(IB|RoCE) \\(synd " HEX " vend " HEX " hw_synd [^)]*\\).* QP " HEX
	 " wqe\\[[0-9]+\\]: ([A-Z_]+)",
	 "LsvqO", NULL},
	{"UCX", "hw_synd", REPORT_COMPLETION, "/(IB|RoCE) \\(synd " HEX " vend " HEX, "Lsv", NULL,
	 true},
	{"UCX", "synd 0x", REPORT_COMPLETION, "/(IB|RoCE) \\(synd " HEX " vend " HEX, "Lsv", NULL},
	{"UCX", "synd 0x", REPORT_COMPLETION,
	 "QP " HEX " wqe\\[[0-9]+\\]: .*\\(synd " HEX " vend " HEX "\\) opcode ([A-Z_]+)", "qsvO",
	 NULL},
	{"UCX", "completion with error on qp", REPORT_COMPLETION,
	 "completion with error on qp " HEX ": ([A-Za-z ]+) syndrome " HEX, "qtv", NULL},
	{"UCX", "vendor_err 0x", REPORT_COMPLETION,
	 "completion with error: ([A-Za-z ]+)[[( ]+qpn " HEX ".*vendor_err " HEX, "tqv", NULL},
	{"UCX", "vendor_err 0x", REPORT_COMPLETION,
	 "completion with error: ([A-Za-z ]+), vendor_err " HEX, "tv", NULL},
	{"UCX", "completion with error: ", REPORT_COMPLETION,
	 "UCX +ERROR Send completion with error: ([A-Za-z ]+)$", "t", NULL},
	{"UCX", "async event on", REPORT_EVENT, "async event on [^ :]+: *([A-Za-z].*)$", "e", NULL},
	/* ---- NCCL */
	{"NCCL", "vendor err", REPORT_COMPLETION,
	 "Got completion .*(status *= *|error )" DEC ",? *opcode.* len.* vendor err " DEC, ".WV",
	 NULL},
	{"NCCL", "unknown event type", REPORT_EVENT, "NET/.* unknown event type \\(" DEC "\\)", "N",
	 NULL},
	{"NCCL", "Call to ", REPORT_CALL,
	 "Call to ([a-z0-9]+_[a-z0-9_]+) failed with (error )?(([0-9]+) )?([A-Z][a-z/ A-Z]+)"
	 "(.*next state ([A-Z]+))?",
	 "F..RE.T", NULL},
	{"NCCL", "Call to ", REPORT_CALL, "Call to (ibv_[a-z0-9_]+) failed *$", "F", NULL},
	{"NCCL", "async event", REPORT_EVENT, "Got async event *: *([A-Za-z_ ]+)", "e", NULL},
	{"NCCL", "async fatal event", REPORT_EVENT, "async fatal event[^:]*: *([A-Za-z_ ]+)", "e",
	 NULL},
	/* ---- perftest, the examples of NVIDIA */
	{"perftest", "syndrom 0x", REPORT_COMPLETION,
	 "status " DEC "( *\\([^)]*\\))?[:,]( *wr_id [0-9]+)?,? *syndrom " HEX, "W..v", NULL},
	{"perftest", "Couldn't allocate MR", REPORT_CALL,
	 "^ *Couldn't allocate MR with error *= *" DEC, "R", "ibv_reg_mr"},
	{"perftest", "Couldn't allocate MR", REPORT_CALL, "^ *(Couldn't allocate MR) *$", ".",
	 "ibv_reg_mr"},
	{"perftest", "state is", REPORT_MESSAGE,
	 "^ *Port number [0-9]+ state is (Nop|Down|Init|Armed|Active Defer) *$", ".",
	 "PORT_NOT_ACTIVE"},
	{"perftest", "Couldn't connect to", REPORT_MESSAGE,
	 "^ *Couldn't connect to ([^ ]+):[0-9]+ *$", ".", "NO_TCP_CONNECTION"},
	{"libibverbs", "no userspace", REPORT_MESSAGE,
	 "libibverbs: Warning: (no userspace device-specific driver found)", ".", "NO_PROVIDER"},
	{"an example of NVIDIA", "vendor syndrome", REPORT_COMPLETION,
	 "bad completion with status: " HEX ", vendor syndrome: " HEX, "wv", NULL},
	{"an example of NVIDIA", "completion was found", REPORT_COMPLETION,
	 "completion was found in CQ with status " HEX, "w", NULL},
	/* ---- the kernel's drivers */
	{"mlx5_core", "Error cqe on cqn", REPORT_COMPLETION,
	 "Error cqe on cqn " HEX ".* [a-z]*qn " HEX "(, opcode 0x[0-9a-f]+)?, *syndrome +" HEX
	 ", *vendor syndrome " HEX,
	 "Cq.sv", NULL},
	{"mlx5_ib", "error cqe on cqn", REPORT_COMPLETION,
	 "(requestor|responder) error cqe on cqn " HEX ".*[: ]syndrome " HEX
	 ", *vendor syndrome " HEX,
	 "PCsv", NULL},
	{"mlx5_ib", "error cqe on cqn", REPORT_PART, "(requestor|responder) error cqe on cqn " HEX,
	 ".C", "the line that precedes a completion with error", true},
	{"mlx5_ib", "vendor syndrome 0x", REPORT_COMPLETION,
	 "(^|[: ])syndrome " HEX ", *vendor syndrome " HEX, ".sv", NULL},
	{"mlx5_ib", ": QP ", REPORT_QP_ERROR,
	 ": QP " DEC " error: ([A-Za-z ]+) \\(" HEX " " HEX " " HEX "\\)", "Quvhi", NULL},
	{"mlx5_core", "CQ error on CQN", REPORT_CQ_ERROR,
	 "CQ error on CQN " HEX ", *syndrome? " HEX, "Cs", NULL},
	{"mlx5_core", "cq_error_event", REPORT_PART, "cq_error_event: cqn=" HEX, "C",
	 "the interface's share of a CQ error"},
	{"mlx5_core", "synd 0x", REPORT_HEALTH, "(^|[: ])synd " HEX ": *([A-Za-z][A-Za-z ]*)",
	 ".s.", NULL},
	{"mlx5_core", "health issue", REPORT_HEALTH, "Health issue observed, *([A-Za-z ]+),", "e",
	 NULL},
	{"mlx5_core", "health", REPORT_HEALTH, "device's (health compromised)", ".", NULL},
	{"mlx5_core", "Fatal error", REPORT_HEALTH, "poll_health.* (Fatal error) [0-9]+ detected",
	 ".", NULL},
	{"mlx5_core", "assert_", REPORT_PART, "assert_(var\\[[0-9]\\]|exit_ptr|callra) 0x", ".",
	 "the firmware's registers at an error of its health"},
	/* ---- cards before mlx5 */
	{"mlx4", "vendor syndrome", REPORT_OLD_CARD,
	 "local QP operation err \\(QPN ([0-9a-f]+), WQE index [0-9a-f]+, vendor syndrome "
	 "([0-9a-f]+), opcode",
	 "qv", "mlx4: ConnectX to ConnectX-3"},
	{"mthca", "local QP operation err", REPORT_OLD_CARD,
	 "local QP operation err \\(QPN ([0-9a-f]+), WQE @", "q",
	 "mthca: InfiniHost, before ConnectX"},
	{"Solaris", "CQE ERR", REPORT_OLD_CARD,
	 "CQE ERR: cqe [0-9a-f]+ QPN " HEX " indx 0x[0-9a-f]+ status " HEX " vendor syndrome " HEX,
	 "qsv", "Solaris' driver of ConnectX-2 (mcxnex, hermon)"},
	{"Solaris", "CQE ", REPORT_PART, "(mcxnex|hermon)[0-9]+: CQE ", ".",
	 "lines of Solaris' driver beside its error"},
	/* ---- DPDK, SPDK, libfabric, MPIs, others */
	{"DPDK", "Unexpected CQE error", REPORT_COMPLETION,
	 "Unexpected CQE error syndrome " HEX " CQN = " DEC " [A-Z]+ = " DEC, "sDQ", NULL},
	{"SPDK", "CQ", REPORT_COMPLETION, "Error on CQ .*status: \\(" DEC "\\)", "W", NULL},
	{"Lustre", "event type", REPORT_EVENT, "Async QP event type " DEC, "N", NULL},
	{"SPDK", "async event", REPORT_EVENT, "Async event: *([A-Za-z].*)$", "e", NULL},
	{"SPDK", "CQ error on", REPORT_COMPLETION, "CQ error on [A-Z].* \\(" DEC "\\): *[A-Za-z]",
	 "W", NULL},
	{"dapl", "DTO completion ERR", REPORT_COMPLETION,
	 "DTO completion ERR: status " DEC ", .*vendor_err " HEX, "Wv", NULL},
	{"dapl", "async_event", REPORT_EVENT, "dapl async_event .*Event ([0-9]+)", "N", NULL},
	{"Open MPI", "status number", REPORT_COMPLETION,
	 "with status .* status number " DEC " for wr_id .* vendor error " DEC, "WV", NULL},
	{"Open MPI", "status number", REPORT_COMPLETION,
	 "with status .* status number " DEC " for wr_id", "W", NULL},
	{"libfabric", "prov_err", REPORT_COMPLETION, "prov_err: *[a-z A-Z]+\\(" DEC "\\)", "W",
	 NULL},
	/* ---- MADs */
	{"OpenSM", "ERR ", REPORT_OPENSM, "(^|[ :])ERR ([0-9A-F]{4}): *(.*)$", ".kg", NULL},
	{"infiniband-diags", "bad status", REPORT_MAD,
	 "umad \\((.*) Attr " HEX "(:[0-9a-f]+)?\\) bad status " DEC, "gA.R", NULL},
	{"infiniband-diags", "recv failed", REPORT_MAD, "_do_madrpc: recv failed: ([A-Z].*)$", "E",
	 NULL},
	{"infiniband-diags", "madrpc failed", REPORT_MAD,
	 "mad_rpc[a-z_]*: _do_madrpc failed; dport \\((.*)\\)", "g", NULL},
	{"infiniband-diags", "error status", REPORT_MAD,
	 "MAD completed with error status " HEX "; dport \\((.*)\\)", "Sg", NULL},
	/* ---- rdma_cm */
	{"a program", "RDMA_CM_EVENT_", REPORT_CM,
	 "RDMA_CM_EVENT_([A-Z_]+)[^A-Za-z]*[a-z ]*(error|status)[^0-9-]{0,24}(-?[0-9]+)", "m.Z",
	 NULL},
	{"a program", "RDMA_CM_EVENT_", REPORT_CM, "RDMA_CM_EVENT_([A-Z_]+)", "m", NULL},
	/* ---- failed calls */
	{"NVSHMEM", "non-zero status", REPORT_CALL,
	 "non-zero status: *" DEC " +((ibv|mlx5dv)_[a-z0-9_]+) failed", "RF", NULL},
	{"NVSHMEM", "NULL value", REPORT_CALL, "NULL value +Unable to create ah", "",
	 "ibv_create_ah"},
	{"a program", "modify", REPORT_CALL,
	 "ibv_modify_qp *\\([A-Za-z0-9_ ]+, *(INIT|RTR|RTS)\\) failed *: *([A-Z][A-Za-z/ ]+)", "TE",
	 "ibv_modify_qp"},
	{"a program", "modify", REPORT_CALL,
	 "(failed to modify|error modifying) ([A-Z]+ )?QP( state)?( ([0-9]+))? to "
	 "(INIT|RTR|RTS).*: "
	 "*([A-Z][A-Za-z/ ]+)",
	 "....QTE", "ibv_modify_qp"},
	{"a program", "modify", REPORT_CALL,
	 "(failed to modify|error modifying) ([A-Z]+ )?QP( state)?( ([0-9]+))? to (INIT|RTR|RTS) "
	 "*$",
	 "....QT", "ibv_modify_qp"},
	{"a program", "modify", REPORT_CALL,
	 "(failed to modify|error modifying) ([A-Z]+ )?QP " HEX "( state)? to (INIT|RTR|RTS)( "
	 "state)? *$",
	 "..q.T", "ibv_modify_qp"},
	{"a program", " failed", REPORT_CALL,
	 "((ibv|mlx5dv|rdma)_[a-z0-9_]+) ?(\\([^)]*\\))?[^:]{0,60} failed *[^:]{0,40}: "
	 "*([A-Z][A-Za-z/ ]+)",
	 "F..E", NULL},
	{"a program", " failed with E", REPORT_CALL,
	 "((ibv|mlx5dv|rdma)_[a-z0-9_]+) ?(\\([^)]*\\))? failed with (E[A-Z0-9]+)", "F..E", NULL},
	{"a program", "_", REPORT_CALL,
	 "((ibv|mlx5dv|rdma)_[a-z0-9_]+): *([A-Z][A-Za-z/ ]+) ?\\(-?" DEC "\\)", "F.ER", NULL},
	{"a program", "fail", REPORT_CALL,
	 "((ibv|mlx5dv|rdma)_[a-z0-9_]+)[^:=]{0,80}fail[a-z]*[^=]{0,40}(error|errno|error_code|err|"
	 "ret|rc|status) *[=:(] *-?" DEC,
	 "F..R", NULL},
	{"a program", "failed to", REPORT_CALL,
	 "errno: ([A-Z][A-Za-z/ ]+)\\) *failed to "
	 "((create|modify|register) (qp|cq|srq|ah|mr|memory region|memory))( |$)",
	 "EF", NULL},
	{"a program", "failed to", REPORT_CALL,
	 "failed to ((create|modify|register) (qp|cq|srq|ah|mr|memory region|memory))( "
	 "[^:]{0,40})?: "
	 "*([A-Z][A-Za-z/ ]+)",
	 "F...E", NULL},
	{"a program", "failed to", REPORT_CALL,
	 "error " DEC " \\([^)]*\\).*failed to "
	 "((create|modify|register) (qp|cq|srq|ah|mr|memory region|memory))( |$)",
	 "RF", NULL},
	{"a program", "failed to ", REPORT_CALL,
	 "failed to ((ibv|mlx5dv|rdma)_[a-z0-9_]+)[^:]{0,40}: *([A-Z][A-Za-z/ ]+)", "F.E", NULL},
	{"a program", "failed to post", REPORT_CALL,
	 "failed to (post a?n? ?(send|recv)).*(errno|error|rc|ret)[ =:]*-?" DEC, "F..R", NULL},
	{"a program", " failed", REPORT_CALL,
	 "((ibv|mlx5dv|rdma)_[a-z0-9_]+) ?(\\([^)]*\\))? failed *([.!,].*)?$", "f", NULL},
	{"rpcrdma", "/0x", REPORT_COMPLETION, ": *([a-z ]+) \\(" DEC "/" HEX "\\)", "tWv", NULL},
	/* ---- in general */
	{"a program", "vend", REPORT_COMPLETION,
	 "synd(rome)?[ =:]+" HEX ",? *vend(or)?([_ ](err|synd(rome)?))*[ =:]+" HEX, ".s....v",
	 NULL},
	{"a program", "vendor_err", REPORT_COMPLETION,
	 "status *[=:]? *" DEC " *\\([A-Za-z_ ]+\\).*vendor_err *[=:]? *" HEX, "Wv", NULL},
	{"a program", "vendor_err", REPORT_COMPLETION,
	 "status *[=:] *IBV?_WC_([A-Z_]+).*vendor_err *[=:] *" DEC, "tV", NULL},
	{"a program", "IB", REPORT_COMPLETION, "IBV?_WC_([A-Z_]*ERR)", "t", NULL},
	{"a program", "IB", REPORT_EVENT, "(IBV?_EVENT_[A-Z_]+)", "e", NULL},
};

/* Kinds of logs without a known error. */
static const struct look {
	const char *pattern, *what;
} looks[] = {
	{"mlx5_core|mlx5_ib|infiniband mlx",
	 "lines of the mlx5 driver without an error that I know"},
	{"osm_|: ERR [0-9A-F]{4}:|OpenSM", "a log of OpenSM without an error that I know"},
	{"UCX +[A-Z]+", "a log of UCX without an error of a completion or command"},
	{"NCCL (INFO|WARN|TRACE)", "a log of NCCL without an error of a completion"},
	{"libfabric:", "a log of libfabric without an error of a completion"},
	{"EAL:|mlx5_net|rte_", "a log of DPDK without a dump of a completion"},
	{"Traceback|^ *#?[0-9]+ +(0x[0-9a-f]+ )?.*(\\(\\)|[+]0x)", "a backtrace"},
	{"hca_id:|transport: +InfiniBand|node_guid", "output of ibv_devinfo"},
	{"Call Trace:|general protection fault|kernel BUG at|Oops: [0-9]", "a crash of a kernel"},
};

struct report_forms {
	regex_t form[ARRAY_SIZE(forms)], look[ARRAY_SIZE(looks)], more;
};

static void report_compile(regex_t *re, const char *pattern)
{
	if (regcomp(re, pattern, REG_EXTENDED | REG_ICASE))
		abort(); /* LCOV_EXCL_LINE a pattern above is wrong */
}

struct report_forms *report_forms_create(void)
{
	struct report_forms *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		report_compile(&f->form[i], forms[i].pattern);
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		report_compile(&f->look[i], looks[i].pattern);
	report_compile(&f->more, "(status *[a-z .()]*\\(0x[0-9a-f]+\\),? *syndrome *$)");
	return f;
}

void report_forms_destroy(struct report_forms *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		regfree(&f->form[i]);
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		regfree(&f->look[i]);
	regfree(&f->more);
	free(f);
}

/* ---- what the groups of a match are */

static void report_word(char *to, size_t size, const char *from, size_t n)
{
	while (n && isspace((unsigned char)from[n - 1]))
		n--;
	n = n < size ? n : size - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* Where in a report_fact the number of each role is stored. */
static const struct role {
	char role;
	unsigned int base;
	size_t at;
	unsigned int has;
} numbers[] = {
	{'W', 10, offsetof(struct report_fact, wc), REPORT_HAS_WC},
	{'w', 16, offsetof(struct report_fact, wc), REPORT_HAS_WC},
	{'s', 16, offsetof(struct report_fact, syndrome), REPORT_HAS_SYNDROME},
	{'V', 10, offsetof(struct report_fact, vendor), REPORT_HAS_VENDOR},
	{'v', 16, offsetof(struct report_fact, vendor), REPORT_HAS_VENDOR},
	{'c', 16, offsetof(struct report_fact, opcode), REPORT_HAS_OPCODE},
	{'S', 16, offsetof(struct report_fact, status), REPORT_HAS_STATUS},
	{'y', 16, offsetof(struct report_fact, fw), REPORT_HAS_FW},
	{'q', 16, offsetof(struct report_fact, qpn), REPORT_HAS_QPN},
	{'Q', 10, offsetof(struct report_fact, qpn), REPORT_HAS_QPN},
	{'C', 16, offsetof(struct report_fact, cqn), REPORT_HAS_CQN},
	{'D', 10, offsetof(struct report_fact, cqn), REPORT_HAS_CQN},
	{'N', 10, offsetof(struct report_fact, event), REPORT_HAS_EVENT},
	{'R', 10, offsetof(struct report_fact, err), REPORT_HAS_ERRNO},
	{'h', 16, offsetof(struct report_fact, hw[0]), 0},
	{'i', 16, offsetof(struct report_fact, hw[1]), 0},
	{'A', 16, offsetof(struct report_fact, opcode), REPORT_HAS_OPCODE},
};

static bool report_errno(struct report_fact *fact)
{
	int err = failed_errno(fact->error);

	if (!err)
		return false;
	fact->err = (uint32_t)err;
	fact->has |= REPORT_HAS_ERRNO;
	return true;
}

/* False: the group cannot be what its role says, so the message is another one. */
static bool report_text(struct report_fact *fact, char role, const char *s, size_t n)
{
	char word[64];
	int number;

	report_word(word, sizeof(word), s, n);
	switch (role) {
	case 't':
		number = card_wc_by_text(word);
		if (number <= 0)
			return !strcasecmp(word, "unrecognized status");
		fact->wc = (uint32_t)number;
		fact->has |= REPORT_HAS_WC;
		return true;
	case 'e':
		if (fact->kind == REPORT_HEALTH) {
			fact->syndrome = card_health_by_text(word);
			fact->has |= fact->syndrome ? REPORT_HAS_SYNDROME : 0;
			return true;
		}
		number = card_event_at_start(word);
		fact->event = (uint32_t)number;
		fact->has |= REPORT_HAS_EVENT;
		return number >= 0;
	case 'n':
		report_word(fact->command, sizeof(fact->command), s, n);
		return true;
	case 'x':
		if (!*word)
			return true;
		number = (int)strlen(fact->command);
		snprintf(fact->command + number, sizeof(fact->command) - (size_t)number, " %s",
			 word);
		return true;
	case 'E':
		report_word(fact->error, sizeof(fact->error), s, n);
		return fact->kind == REPORT_DEVX || report_errno(fact);
	case 'F':
		failed_call_name(word, fact->command, sizeof(fact->command));
		return true;
	case 'f':
		failed_call_name(word, fact->command, sizeof(fact->command));
		return failed_is_known(fact->command);
	case 'O':
		report_word(fact->op, sizeof(fact->op), s, n);
		return true;
	case 'P':
		if (!strcasecmp(word, "responder"))
			snprintf(fact->op, sizeof(fact->op), "RECV");
		return true;
	case 'T':
		report_word(fact->state, sizeof(fact->state), s, n);
		return true;
	case 'u':
		number = card_wc_by_text(word);
		fact->syndrome = number > 0 ? (uint32_t)number : 0;
		return true;
	case 'm':
		report_word(fact->command, sizeof(fact->command), s, n);
		return failed_is_cm_error(fact->command);
	case 'Z':
		number = (int)num_decimal(word + (*word == '-'), NULL);
		fact->cm_status = *word == '-' ? -number : number;
		fact->has |= REPORT_HAS_STATUS_OF_CM;
		return true;
	case 'k':
		report_word(fact->command, sizeof(fact->command), s, n);
		return true;
	case 'g':
		report_word(fact->text, sizeof(fact->text), s, n);
		return fact->kind != REPORT_OPENSM || failed_is_opensm(fact->command, fact->text);
	case 'L':
		fact->has |= !strcasecmp(word, "IB") ? REPORT_IB : 0;
		return true;
	}
	return true;
}

static bool report_groups(struct report_fact *fact, const char *text, const char *roles,
			  const regmatch_t *m)
{
	for (size_t i = 0; roles[i]; i++) {
		const regmatch_t *g = &m[i + 1];
		const struct role *role = NULL;

		if (g->rm_so < 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(numbers) && !role; k++)
			role = numbers[k].role == roles[i] ? &numbers[k] : NULL;
		if (!role) {
			if (!report_text(fact, roles[i], text + g->rm_so,
					 (size_t)(g->rm_eo - g->rm_so)))
				return false;
			continue;
		}
		*(uint32_t *)((char *)fact + role->at) =
			(uint32_t)num_in_base(text + g->rm_so, role->base, NULL);
		fact->has |= role->has;
	}
	return true;
}

/* "vendor_err 0x81" or "vendor_err=129" anywhere in the message. */
static void report_vendor(const char *text, struct report_fact *fact)
{
	const char *s = strcasestr(text, "vendor_err");
	const char *end;
	uint32_t n;

	if (!s)
		return;
	s += strlen("vendor_err");
	s += strspn(s, " =:");
	n = (uint32_t)num_in_base(s, strncasecmp(s, "0x", 2) ? 10 : 16, &end);
	if (end == s)
		return;
	fact->vendor = n;
	fact->has |= REPORT_HAS_VENDOR;
}

/* A text of ibv_wc_status_str(), ib_wc_status_msg() or of an event anywhere in the message. */
static enum report_kind report_by_text(const char *text, struct report_fact *fact)
{
	int wc = card_wc_in_text(text), event = wc > 0 ? -1 : card_event_in_text(text);

	if (event >= 0) {
		*fact = (struct report_fact){.kind = REPORT_EVENT,
					     .has = REPORT_HAS_EVENT,
					     .form = "a program",
					     .event = (uint32_t)event};
		report_writer(fact, text);
		return REPORT_EVENT;
	}
	if (wc <= 0)
		return REPORT_NOTHING;
	*fact = (struct report_fact){.kind = REPORT_COMPLETION,
				     .has = REPORT_HAS_WC,
				     .form = "a program",
				     .wc = (uint32_t)wc};
	report_writer(fact, text);
	report_vendor(text, fact);
	return REPORT_COMPLETION;
}

enum report_kind report_match(const struct report_forms *f, const char *text,
			      struct report_fact *fact, size_t *rank, bool *more)
{
	regmatch_t m[GROUPS];

	*more = false;
	*rank = ARRAY_SIZE(forms) + 1;
	if (strnlen(text, TEXT_MAX) == TEXT_MAX)
		return REPORT_NOTHING;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!strcasestr(text, forms[i].key) || regexec(&f->form[i], text, GROUPS, m, 0))
			continue;
		*fact = (struct report_fact){.kind = forms[i].kind,
					     .form = forms[i].whose,
					     .about = forms[i].about,
					     .waits = forms[i].waits};
		if (fact->kind == REPORT_CALL && fact->about)
			snprintf(fact->command, sizeof(fact->command), "%s", fact->about);
		if (!report_groups(fact, text, forms[i].roles, m))
			continue;
		report_writer(fact, text);
		report_request(fact, text);
		*rank = i;
		return fact->kind;
	}
	*more = strcasestr(text, "syndrome") && !regexec(&f->more, text, 0, NULL, 0);
	(*rank)--;
	return report_by_text(text, fact);
}

const char *report_looks_like(const struct report_forms *f, const char *text)
{
	if (strnlen(text, TEXT_MAX) == TEXT_MAX)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		if (!regexec(&f->look[i], text, 0, NULL, 0))
			return looks[i].what;
	return NULL;
}
