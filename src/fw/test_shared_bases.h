/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For test_refusals.c: names of the valid commands that test_shared.h builds. */

#define SHARED_BASES                                                                        \
	B_ALLOC_XRCD, B_DEALLOC_XRCD, B_CREATE_XRC_SRQ, B_QUERY_XRC_SRQ, B_ARM_XRC_SRQ,     \
		B_DESTROY_XRC_SRQ, B_CREATE_XRC_QP, B_ALLOC_Q_COUNTER, B_DEALLOC_Q_COUNTER, \
		B_QUERY_Q_COUNTER, B_CREATE_DCT, B_QUERY_DCT, B_DRAIN_DCT, B_DESTROY_DCT,   \
		B_ARM_DCT, B_ATTACH_TO_MCG, B_DETACH_FROM_MCG, B_CREATE_XRQ, B_QUERY_XRQ,   \
		B_ARM_XRQ, B_DESTROY_XRQ, B_CREATE_PSV, B_DESTROY_PSV
