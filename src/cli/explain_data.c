/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meanings of the numbers, row by row. Sources: enum ibv_wc_status and its use in libmlx5's
 * cq.c; MLX5_CMD_STAT_* and cmd_status_to_err() of mlx5_core; the errors that the kernel's
 * ib_uverbs and mlx5_ib give (uverbs_ioctl.c, uverbs_main.c, devx.c). Data only.
 */
#include "cli/explain.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include "fw/fw.h"
#include "wire/wqe/cqe.h"

const struct explain_status explain_statuses[] = {
	{FW_OK, "OK", "OK", "the command was executed", "nothing is wrong"},
	{FW_INT_ERR, "INT_ERR", "internal error", "the firmware failed by itself",
	 "a fault of the device: its health and its firmware version are the place to look"},
	{FW_BAD_OP, "BAD_OP_ERR", "bad operation", "no such command, or not for this function",
	 "the opcode is wrong, or a capability is off: compare QUERY_HCA_CAP"},
	{FW_BAD_PARAM, "BAD_PARAM_ERR", "bad parameter", "a field has a value that is not allowed",
	 "the syndrome says which; often a reserved bit, a size beyond a capability, or a feature "
	 "whose capability is 0"},
	{FW_BAD_SYS_STATE, "BAD_SYS_STATE_ERR", "bad system state",
	 "the device is in no state for this command",
	 "the feature is not active (LAG), or the device is being torn down"},
	{FW_BAD_RES, "BAD_RES_ERR", "bad resource",
	 "an object that the command names does not exist",
	 "a wrong number, an object that is destroyed already, or one of another uid or function"},
	{FW_RES_BUSY, "RES_BUSY", "resource busy", "the object is in use",
	 "destroy what refers to it first"},
	{FW_EXCEED_LIM, "LIM_ERR", "limits exceeded", "a limit is exceeded",
	 "too many objects of this kind, or no memory for one more"},
	{FW_BAD_RES_STATE, "BAD_RES_STATE_ERR", "bad resource state",
	 "the object is in a state that forbids it",
	 "still referred to by others, or modified from the wrong state"},
	{FW_BAD_INDEX, "IX_ERR", "bad index", "an index is outside its table",
	 "P_Key or GID index, port, or table entry"},
	{FW_NO_RESOURCES, "NO_RES_ERR", "no resources", "no resources at the moment",
	 "try again later"},
	{FW_BAD_QP_STATE, "BAD_QP_STATE_ERR", "bad QP state",
	 "the QP is in another state than the command needs",
	 "transitions are RST2INIT, INIT2RTR, RTR2RTS; an error has moved it to ERR meanwhile"},
	{FW_BAD_PKT, "BAD_PKT_ERR", "bad packet (discarded)",
	 "a MAD was malformed and is discarded", "MAD_IFC's input"},
	{FW_BAD_SIZE_OUTS_CQES, "BAD_SIZE_OUTS_CQES_ERR", "bad size too many outstanding CQEs",
	 "a CQ's outstanding entries do not fit", "poll the CQ before it is made smaller"},
	{FW_BAD_INPUT_LEN, "BAD_INP_LEN_ERR", "bad input length",
	 "the length of the input is not that of the command",
	 "inlen is not what the command's structure needs"},
	{FW_BAD_OUTPUT_LEN, "BAD_OUTP_LEN_ERR", "bad output length",
	 "the output has no room for the answer",
	 "outlen is smaller than the command's output structure"},
	{0, NULL, NULL, NULL, NULL},
};

const struct explain_cqe explain_cqes[] = {
	{CQE_SYND_LOCAL_LENGTH, "LOCAL_LENGTH_ERR", IBV_WC_LOC_LEN_ERR,
	 "a message does not fit the work request's buffers",
	 "receive: the posted buffer is shorter than the message; send: longer than the port's "
	 "MTU (UD) or the QP's maximum"},
	{CQE_SYND_LOCAL_QP_OP, "LOCAL_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR,
	 "the work request itself is malformed or not allowed on this QP",
	 "wrong ds or qpn in the control segment, an opcode that the transport or the QP's "
	 "send_ops "
	 "do not have, more RDMA reads than max_rd_atomic allows for"},
	{CQE_SYND_LOCAL_PROT, "LOCAL_PROT_ERR", IBV_WC_LOC_PROT_ERR,
	 "local memory may not be accessed",
	 "lkey of another PD or deregistered, address and length not inside the region, no local "
	 "write access for a receive or a READ, or the memory was unmapped"},
	{CQE_SYND_WR_FLUSH, "WR_FLUSH_ERR", IBV_WC_WR_FLUSH_ERR,
	 "not executed: the QP is in error already",
	 "look for the first completion with another status, or for a modify to ERR; then all "
	 "other "
	 "work requests are flushed"},
	{CQE_SYND_MW_BIND, "MW_BIND_ERR", IBV_WC_MW_BIND_ERR, "a memory window could not be bound",
	 "the region has no MW_BIND access, or is of another PD, or too small"},
	{CQE_SYND_BAD_RESP, "BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR,
	 "the other end sent an unexpected response", "the two ends' PSNs or QPs do not match"},
	{CQE_SYND_LOCAL_ACCESS, "LOCAL_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR,
	 "a local buffer was refused while receiving an RDMA request",
	 "the region was deregistered while in use"},
	{CQE_SYND_REMOTE_INVAL_REQ, "REMOTE_INVAL_REQ_ERR", IBV_WC_REM_INV_REQ_ERR,
	 "the other end refuses the request as invalid",
	 "the receive there is too short for the SEND, the QP's access flags lack the operation "
	 "(cards look at them before the key), or too many READs or atomics are outstanding"},
	{CQE_SYND_REMOTE_ACCESS, "REMOTE_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR,
	 "the other end refuses access to its memory",
	 "rkey wrong or deregistered, address outside the region, the region's access flags "
	 "(REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC) missing, region of another PD than the QP"},
	{CQE_SYND_REMOTE_OP, "REMOTE_OP_ERR", IBV_WC_REM_OP_ERR,
	 "the other end failed while carrying the request out",
	 "a receive at the other end has completed with an error: look at that completion first"},
	{CQE_SYND_TRANSPORT_RETRY_EXC, "TRANSPORT_RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR,
	 "no acknowledgement, also after all retries",
	 "the other QP is gone, not yet in RTR, or in error; wrong dest_qpn, LID, GID or PSN; "
	 "P_Key or port down; timeout or retry_cnt too small"},
	{CQE_SYND_RNR_RETRY_EXC, "RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR,
	 "the other end had no receive posted, also after all retries",
	 "post receives earlier or more of them; rnr_retry 7 waits for ever"},
	{CQE_SYND_REMOTE_ABORTED, "REMOTE_ABORTED_ERR", IBV_WC_REM_ABORT_ERR,
	 "the other end has aborted the operation",
	 "the QP there was moved to ERR or reset meanwhile"},
	{0, NULL, 0, NULL, NULL},
};

const struct explain_wc explain_wcs[] = {
	{IBV_WC_SUCCESS, "SUCCESS", "the work request is done"},
	{IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR", "message longer than the buffers"},
	{IBV_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR", "malformed or not allowed work request"},
	{IBV_WC_LOC_EEC_OP_ERR, "LOC_EEC_OP_ERR",
	 "for RD (reliable datagram), which no adapter supports"},
	{IBV_WC_LOC_PROT_ERR, "LOC_PROT_ERR", "local memory may not be accessed"},
	{IBV_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR", "not executed, the QP is in error already"},
	{IBV_WC_MW_BIND_ERR, "MW_BIND_ERR", "memory window not bound"},
	{IBV_WC_BAD_RESP_ERR, "BAD_RESP_ERR", "unexpected response from the other end"},
	{IBV_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR", "local access refused to an RDMA request"},
	{IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR", "request invalid for the other end"},
	{IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR", "the other end's memory may not be accessed"},
	{IBV_WC_REM_OP_ERR, "REM_OP_ERR", "the other end failed"},
	{IBV_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR", "no acknowledgement after all retries"},
	{IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR", "no receive at the other end"},
	{IBV_WC_LOC_RDD_VIOL_ERR, "LOC_RDD_VIOL_ERR",
	 "for RD (reliable datagram), which no adapter supports"},
	{IBV_WC_REM_INV_RD_REQ_ERR, "REM_INV_RD_REQ_ERR",
	 "for RD (reliable datagram), which no adapter supports"},
	{IBV_WC_REM_ABORT_ERR, "REM_ABORT_ERR", "aborted by the other end"},
	{IBV_WC_INV_EECN_ERR, "INV_EECN_ERR",
	 "for RD (reliable datagram), which no adapter supports"},
	{IBV_WC_INV_EEC_STATE_ERR, "INV_EEC_STATE_ERR",
	 "for RD (reliable datagram), which no adapter supports"},
	{IBV_WC_FATAL_ERR, "FATAL_ERR", "the device has failed"},
	{IBV_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR", "no response in time"},
	{IBV_WC_GENERAL_ERR, "GENERAL_ERR",
	 "any other error: libmlx5 reports it for syndromes that it does not know"},
	{IBV_WC_TM_ERR, "TM_ERR", "tag matching failed"},
	{IBV_WC_TM_RNDV_INCOMPLETE, "TM_RNDV_INCOMPLETE", "the rendezvous continues in software"},
	{0, NULL, NULL},
};

const struct explain_errno explain_errnos[] = {
	{EREMOTEIO, "DEVX: obj_create, obj_modify, obj_query, general_cmd, async completions",
	 "the driver passed the command on and the firmware refused it",
	 "status and syndrome are in the output (bytes 0 and 4): explain those; here "
	 "`softhca trace -e fw` names the field"},
	{EINVAL, "ioctl: any method",
	 "the frame or an attribute is malformed, or the method's own checks failed",
	 "an attribute too short or too long, given twice, missing though mandatory, with unknown "
	 "flags; the handle of another kind; `softhca trace -e uverbs` names the rule"},
	{EINVAL, "DEVX", "the driver does not let the command pass",
	 "not in its white list for this method, a device not opened for DEVX (no uid), a command "
	 "that names another object than the handle, a tunnelled command"},
	{EINVAL, "verbs: create and modify", "values that the device does not support",
	 "more WRs, SGEs or CQEs than the device's limits, an attr_mask that the transition does "
	 "not "
	 "take, an unknown port, an unaligned buffer"},
	{EAFNOSUPPORT, "socket(AF_SMC, AF_RDS, AF_IB)",
	 "the kernel has no such protocol, and softhca none of its own",
	 "rdma_cm, or rsockets (librspreload); AF_IB is a family of rdma_cm's addresses only"},
	{EINVAL, "write()", "in_words is not the length of the write, or reserved fields are set",
	 "the header of the command"},
	{EPROTONOSUPPORT, "ioctl",
	 "no such object or method in this kernel and driver, or an unknown attribute that the "
	 "program "
	 "insists on",
	 "an older kernel or another driver than the library expects; libibverbs then falls back "
	 "to write() where it can"},
	{EPROTONOSUPPORT, "socket(NETLINK_RDMA)",
	 "a kernel without RDMA's netlink; here: the process lost the library, or cannot join its "
	 "fabric",
	 "the fabric is down or another user's; else as for ENODEV. libibverbs continues with "
	 "sysfs"},
	{EOPNOTSUPP, "write() and ioctl",
	 "the driver has no such operation, or bytes of a newer structure are set that it does not "
	 "know",
	 "a feature that this device or kernel lacks; an enum attribute with an unknown element"},
	{ENOSPC, "write(), INVOKE_WRITE",
	 "input or output is shorter than the command's structures",
	 "in_words and out_words, or the sizes of CORE_IN and CORE_OUT"},
	{ENOENT, "any call with a handle", "no object with this handle in this open file",
	 "destroyed already, or the handle of another device file or process"},
	{ENOENT, "open(), opendir() of /dev/infiniband, /sys/class/infiniband...",
	 "no such device or attribute; of the whole folder: the process does not see the adapters",
	 "a number too high (`softhca run --hca N --ports N`), or the process lost the library: as "
	 "for ENODEV; `softhca trace -e shim` names each path"},
	{ENOENT, "DEVX: CREATE_CQ", "cqc.c_eqn is no event queue of the device",
	 "ask for it: mlx5dv_devx_query_eqn()"},
	{EBADF, "CREATE_CQ, *_EVENT_FD, event channels", "the descriptor is not such an event file",
	 "a completion channel or async file of another device file, or closed"},
	{EBUSY, "destroy", "other objects still use it",
	 "QPs before their CQs, SRQs and PD; MRs before the PD; DEVX objects before their umem or "
	 "UAR"},
	{EBUSY, "any call with a handle", "another call holds the object",
	 "two threads on one object, one of them destroying; or one handle twice in a call"},
	{EFAULT, "any call", "a pointer in the call, or the memory to register, is not mapped",
	 "addresses in attributes and structures; for reg_mr and umem_reg the range, or its pages "
	 "are not writable though the access flags need it"},
	{ENOMEM, "ibv_post_send, ibv_post_recv, ibv_post_srq_recv",
	 "libmlx5 refuses the work request by itself: no doorbell rings, no device hears of it",
	 "the queue is full (work requests count until the program polls their completion, or a "
	 "later one of the same queue: ask for one, IBV_SEND_SIGNALED, at least once per queue "
	 "length); num_sge is above max_send_sge or max_recv_sge; inline data is longer than "
	 "max_inline_data; the QP is not in RTS yet. softhca's trace -Z and --summary tell, when "
	 "the QP is destroyed, of a full queue, and of a QP that was never in RTS although "
	 "another one is connected to it, or that ended in RTR with nothing received; a full "
	 "queue also at exit()"},
	{ENOMEM, "reg_mr, umem_reg, create_*", "a limit of memory or of objects",
	 "RLIMIT_MEMLOCK (ulimit -l); status LIM_ERR of the firmware"},
	{EACCES, "write()", "written by another process than the one that opened the file",
	 "the file was inherited over a change of credentials, or passed on"},
	{EACCES, "open of a device or attribute",
	 "the fabric is another user's, or the attribute cannot be written",
	 "`softhca run` as the user of the process; resourceN of a PCI function is refused to all"},
	{EACCES, "data path of softhca", "the host refuses access to the memory of a peer",
	 "not dumpable, or another user or PID namespace"},
	{EPERM, "create_qp, DEVX, umad", "a capability is missing",
	 "CAP_NET_RAW for raw packet QPs and privileged uids"},
	{EIO, "any call", "the device is gone or has failed",
	 "unplugged or reset (async event DEVICE_FATAL); here: the fabric was taken down"},
	{EIO, "firmware", "status INT_ERR, BAD_SYS_STATE, or a wrong length", "explain the status"},
	{ENODEV, "open, query_port", "no such device or port", "removed, or port_num out of range"},
	{ENODEV, "looking for devices (also ENOSYS, ENOENT, an empty list)",
	 "the process does not see the adapters of `softhca run`",
	 "it is static, 32-bit, of musl, or calls the kernel without libc (Go); set-user-ID or "
	 "with "
	 "capabilities; started with an environment without LD_PRELOAD and SOFTHCA_DIR (env -i, "
	 "sudo; --keep-env all); in a sandbox without the fabric's directory; loaded by dlmopen(); "
	 "or of another user than the fabric. `softhca run` says at its end what it knows"},
	{ENOSYS, "ibv_get_device_list",
	 "there is no /sys/class/infiniband_verbs, and so no uverbs in this kernel",
	 "outside `softhca run`, or the process lost the library: softhca explain ENODEV"},
	{EAGAIN, "read() of an event file", "no event, and O_NONBLOCK is set", "poll() first"},
	{EAGAIN, "firmware", "status NO_RES_ERR", "try again"},
	{ETIMEDOUT, "firmware commands", "no answer in time",
	 "on a card: its firmware hangs; here: a stopped process holds a lock"},
	{ETIMEDOUT, "create_ah, modify_qp", "RoCE: nobody answers for the destination's address",
	 "dgid: another host must have this IP address, on the same segment"},
	{ENETUNREACH, "create_ah, modify_qp", "RoCE: no route to the destination's address",
	 "dgid is in no IPv6 subnet of the interface of sgid_index"},
	{EOVERFLOW, "read() of a DEVX event channel", "events were lost",
	 "the reader was too slow; the state of the objects must be queried again"},
	{ENODATA, "create_ah, modify_qp, query_gid", "no such GID",
	 "an empty entry of the GID table"},
	{ENOTTY, "ioctl", "not RDMA_VERBS_IOCTL", "another ioctl on the device file"},
	{EINTR, "read() of an event file", "a signal came first", "read again"},
	{ECANCELED, "DEVX, verbs", "the device is in an error state or being reset",
	 "see the kernel's log"},
	{0, NULL, NULL, NULL},
};

/* The words that start lines about failures in traces, summaries and top (hw/told.h). */
const struct explain_told explain_tolds[] = {
	{"failed", "a work request has completed with error, or a CQ is in error",
	 "the text names the condition that did not hold, with its values; explain the syndrome "
	 "for "
	 "more",
	 false},
	{"dropped",
	 "a message was sent and not delivered, and its sender has a completion without error: "
	 "nobody acknowledges a datagram or a message of UC, and a receiver acknowledges "
	 "what it takes for a duplicate",
	 "the text names the condition that did not hold; the causes follow", true},
	{"ignored",
	 "a doorbell rang in a state in which the queue does not send, or on another UAR page "
	 "than that of the queue that it names",
	 "modify the QP to RTS first; a WQE's ctrl.qpn is the number of its own QP", false},
	{"refused", "a call, or a command of the firmware, was refused",
	 "the text names the rule, the value and what is allowed", false},
	{"undone", "a QP was destroyed or reset while its work waited, or could not begin",
	 "the text says what it waited for, or why ibv_post_send() could not post", false},
	{"left", "a program closed its device, or ended, without destroying these objects",
	 "the kernel destroys them; destroy QPs, then CQs and MRs, then the PD", false},
	{NULL, NULL, NULL, false},
};

#define ATTR(name) IBV_QP_##name, #name
const struct explain_attr explain_attrs[] = {
	{ATTR(STATE), "qp_state: the state to change to"},
	{ATTR(CUR_STATE), "cur_qp_state: the state that the program takes the QP to be in"},
	{ATTR(EN_SQD_ASYNC_NOTIFY), "en_sqd_async_notify: report by an event when SQD is drained"},
	{ATTR(ACCESS_FLAGS), "qp_access_flags: which operations the other end may do here"},
	{ATTR(PKEY_INDEX), "pkey_index: the entry of the port's P_Key table that is used"},
	{ATTR(PORT), "port_num: the port, from 1"},
	{ATTR(QKEY), "qkey: datagrams to this QP must have this Q_Key"},
	{ATTR(AV), "ah_attr: the path to the other end (LID or GID, SL, port)"},
	{ATTR(PATH_MTU), "path_mtu: the payload of a packet (enum ibv_mtu), the same at both ends"},
	{ATTR(TIMEOUT), "timeout: wait 4.096 us * 2^timeout for an ACK; 0: for ever"},
	{ATTR(RETRY_CNT), "retry_cnt: how often to send again without an ACK, 0 to 7"},
	{ATTR(RNR_RETRY), "rnr_retry: how often to send again when the other end has no receive "
			  "posted; 7: for ever"},
	{ATTR(RQ_PSN), "rq_psn: the first PSN that is expected; sq_psn of the other end"},
	{ATTR(MAX_QP_RD_ATOMIC), "max_rd_atomic: READs and atomics of this QP in flight"},
	{ATTR(ALT_PATH), "alt_ah_attr and others: the path for automatic path migration"},
	{ATTR(MIN_RNR_TIMER), "min_rnr_timer: the code of the time that senders wait when this QP "
			      "has no receive posted (1: 0.01 ms, 12: 0.64 ms, 0: 655.36 ms)"},
	{ATTR(SQ_PSN), "sq_psn: the first PSN that is sent; rq_psn of the other end"},
	{ATTR(MAX_DEST_RD_ATOMIC), "max_dest_rd_atomic: READs and atomics of the other end in "
				   "flight here"},
	{ATTR(PATH_MIG_STATE), "path_mig_state: the state of automatic path migration"},
	{ATTR(CAP), "cap: sizes of the queues; a QP of mlx5 does not change them"},
	{ATTR(DEST_QPN), "dest_qp_num: the QPN of the other end"},
	{ATTR(RATE_LIMIT), "rate_limit: the rate of a raw packet QP, in kb/s"},
	{0, NULL, NULL},
};

const struct explain_term explain_terms[] = {
	{"vendor_err",
	 "the adapter's own number in a completion with error (struct ibv_wc), finer than the "
	 "status; its meanings are not published",
	 "softhca explain 0xNN for a number; softhca decode for a log with it"},
	{NULL, NULL, NULL},
};
