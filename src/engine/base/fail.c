/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the reasons for failed work requests, as their completions tell them.
 */
#include "engine/base/base.h"

/*
 * vendor_err: what ConnectX cards report with these syndromes, where public logs agree (tests/logs,
 * cli/card_data.c); the others are softhca's own.
 */
const struct eng_failure eng_failures[ENG_W_COUNT] = {
	[ENG_W_NONE] = {0, 0, "no error"},
	[ENG_W_FLUSHED_FIRST] = {CQE_SYND_WR_FLUSH, 0xf5,
				 "flushed: the program has moved the QP to ERR"},
	[ENG_W_FLUSHED_SQ] = {CQE_SYND_WR_FLUSH, 0xf9, "flushed: send queue in error"},
	[ENG_W_FLUSHED_RQ] = {CQE_SYND_WR_FLUSH, 0xf9, "flushed: receive queue in error"},
	[ENG_W_WQE_MALFORMED] = {CQE_SYND_LOCAL_QP_OP, 0x68, "WQE: ds, qpn or a segment is wrong"},
	[ENG_W_OPCODE] = {CQE_SYND_LOCAL_QP_OP, 0x77, "opcode is not supported on this QP"},
	[ENG_W_LENGTH] = {CQE_SYND_LOCAL_LENGTH, 0x69, "message is too long"},
	[ENG_W_ATOMIC_LENGTH] = {CQE_SYND_LOCAL_LENGTH, 0x6b, "no room for an atomic's answer",
				 "ATOMIC"},
	[ENG_W_BIND_KEY] = {CQE_SYND_MW_BIND, 0x71,
			    "key is unknown, of another PD or QP, or not for UMRs"},
	[ENG_W_BIND_STATE] = {CQE_SYND_MW_BIND, 0x72, "key is bound, or not bound"},
	[ENG_W_BIND_LIST] = {CQE_SYND_MW_BIND, 0x73,
			     "list is too long or malformed, or names signature keys"},
	[ENG_W_LKEY] = {CQE_SYND_LOCAL_PROT, 0x52, "lkey is unknown, or of another PD or QP"},
	[ENG_W_LKEY_ACCESS] = {CQE_SYND_LOCAL_PROT, 0x53, "lkey lacks the access right"},
	[ENG_W_LKEY_RANGE] = {CQE_SYND_LOCAL_PROT, 0x53, "address is outside of the lkey's range"},
	[ENG_W_SCATTER_KEY] = {CQE_SYND_LOCAL_PROT, 0x32,
			       "lkey to write to is unknown, or of another PD or QP"},
	[ENG_W_SCATTER_ACCESS] = {CQE_SYND_LOCAL_PROT, 0x33, "lkey does not allow to write"},
	[ENG_W_SCATTER_RANGE] = {CQE_SYND_LOCAL_PROT, 0x33,
				 "address to write to is outside of the lkey's range"},
	[ENG_W_LOCAL_FAULT] = {CQE_SYND_LOCAL_PROT, 0x93, "registered memory is not mapped"},
	[ENG_W_RKEY] = {CQE_SYND_REMOTE_ACCESS, 0x88, "rkey is unknown, or of another PD or QP",
			"RDMA_WRITE RDMA_READ ATOMIC"},
	[ENG_W_RKEY_RANGE] = {CQE_SYND_REMOTE_ACCESS, 0x88,
			      "address is outside of the rkey's range",
			      "RDMA_WRITE RDMA_READ ATOMIC"},
	[ENG_W_RKEY_ACCESS] = {CQE_SYND_REMOTE_ACCESS, 0x88, "rkey lacks the access right",
			       "RDMA_WRITE RDMA_READ ATOMIC"},
	[ENG_W_QP_ACCESS] = {CQE_SYND_REMOTE_INVAL_REQ, 0x8a, "remote QP does not allow it",
			     "RDMA_WRITE RDMA_READ ATOMIC"},
	[ENG_W_REMOTE_FAULT] = {CQE_SYND_REMOTE_ACCESS, 0x88, "remote memory is not mapped"},
	[ENG_W_REMOTE_INVALID] = {CQE_SYND_REMOTE_INVAL_REQ, 0x8a, "remote receive is too short",
				  "SEND"},
	[ENG_W_REMOTE_ALIGN] = {CQE_SYND_REMOTE_INVAL_REQ, 0x8c,
				"address of an atomic is not aligned", "ATOMIC"},
	[ENG_W_REMOTE_OP] = {CQE_SYND_REMOTE_OP, 0x89, "remote end failed to receive", "SEND IMM"},
	[ENG_W_REMOTE_REFUSED] = {CQE_SYND_REMOTE_OP, 0x8b,
				  "the host refuses access to the remote process"},
	[ENG_W_RECV_LENGTH] = {CQE_SYND_LOCAL_LENGTH, 0x6a, "receive is too short", "RECV"},
	[ENG_W_RECV_INVALIDATE] = {CQE_SYND_LOCAL_ACCESS, 0x6c, "rkey cannot be invalidated",
				   "RECV"},
	[ENG_W_RECV_ACCESS] = {CQE_SYND_LOCAL_ACCESS, 0x6d, "WRITE of the message is refused",
			       "RECV"},
	[ENG_W_RETRY] = {CQE_SYND_TRANSPORT_RETRY_EXC, 0x81, "no answer"},
	[ENG_W_RNR] = {CQE_SYND_RNR_RETRY_EXC, 0x87, "remote end has no receive posted",
		       "SEND IMM"},
	[ENG_W_XRC_SRQ] = {CQE_SYND_REMOTE_INVAL_REQ, 0x8c,
			   "XRC SRQ is unknown or of another domain than the remote QP",
			   "SEND IMM"},
	[ENG_W_REMOTE_MTU] = {CQE_SYND_REMOTE_INVAL_REQ, 0x8a,
			      "packets have another length than the remote QP's path MTU demands",
			      "SEND RDMA_WRITE"},
	[ENG_W_CRYPTO_KEY] = {CQE_SYND_LOCAL_PROT, 0x58,
			      "crypto key without crypto, or its DEK is not usable with it"},
	[ENG_W_CRYPTO_LENGTH] = {CQE_SYND_LOCAL_PROT, 0x59, "AES-XTS cannot encrypt so many bytes"},
	[ENG_W_BAD_RESP] = {CQE_SYND_BAD_RESP, 0x8d, "an answer that is none to the request"},
	[ENG_W_ABORTED] = {CQE_SYND_REMOTE_ABORTED, 0x8e, "the other end has given up the request"},
	[ENG_W_SIG_PSV] = {CQE_SYND_LOCAL_PROT, 0x57, "PSV is unknown, or of another PD"},
};

const struct eng_failure *eng_failure_at(unsigned int n)
{
	return n < ENG_W_COUNT ? &eng_failures[n] : NULL;
}
