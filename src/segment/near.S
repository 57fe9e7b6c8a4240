/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * int near_copy(void *rseq_cs, const void *gate, void *dst, const void *src): 0, or 1 if the gate's
 * word is negative. Between near_begin and near_commit the kernel moves a thread that was interrupted
 * to near_abort, which begins anew. The arguments' registers do not change meanwhile. General
 * registers only.
 *
 * int near_swap4/8(void *rseq_cs, const void *gate, void *p, uint64_t *old, uint64_t next): the same
 * for a compare and swap. The swap is the last instruction of its sequence, so it is never repeated.
 */
#if defined(__x86_64__)
	.section .data.rel.ro, "aw"
	.balign	32
near_cs:	/* struct rseq_cs of linux/rseq.h */
	.long	0, 0
	.quad	near_begin
	.quad	near_commit - near_begin
	.quad	near_abort

	.text
	.globl near_copy
	.hidden near_copy
	.type near_copy, @function
	.p2align 6
near_copy:
	leaq	near_cs(%rip), %rax
	movq	%rax, (%rdi)
near_begin:
	cmpq	$0, (%rsi)
	js	near_shut
	movq	(%rcx), %rax
	movq	%rax, (%rdx)
	movq	8(%rcx), %rax
	movq	%rax, 8(%rdx)
	movq	16(%rcx), %rax
	movq	%rax, 16(%rdx)
	movq	24(%rcx), %rax
	movq	%rax, 24(%rdx)
	movq	32(%rcx), %rax
	movq	%rax, 32(%rdx)
	movq	40(%rcx), %rax
	movq	%rax, 40(%rdx)
	movq	48(%rcx), %rax
	movq	%rax, 48(%rdx)
	movq	56(%rcx), %rax
	movq	%rax, 56(%rdx)
near_commit:
	movq	$0, (%rdi)
	xorl	%eax, %eax
	ret
near_shut:
	movq	$0, (%rdi)
	movl	$1, %eax
	ret
	.byte	0x0f, 0xb9, 0x3d	/* an instruction that is never executed, around RSEQ_SIG */
	.long	0x53053053
near_abort:
	jmp	near_copy
	.size near_copy, . - near_copy

	.macro	SWAP name, swap, next
	.section .data.rel.ro, "aw"
	.balign	32
.Lcs_\name:
	.long	0, 0
	.quad	.Lbegin_\name
	.quad	.Lcommit_\name - .Lbegin_\name
	.quad	.Labort_\name

	.text
	.globl \name
	.hidden \name
	.type \name, @function
	.p2align 6
\name:
	leaq	.Lcs_\name(%rip), %rax
	movq	%rax, (%rdi)
.Lbegin_\name:
	movq	(%rcx), %rax
	cmpq	$0, (%rsi)
	js	.Lshut_\name
	lock \swap \next, (%rdx)
.Lcommit_\name:
	movq	$0, (%rdi)
	movq	%rax, (%rcx)
	xorl	%eax, %eax
	ret
.Lshut_\name:
	movq	$0, (%rdi)
	movl	$1, %eax
	ret
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053
.Labort_\name:
	jmp	\name
	.size \name, . - \name
	.endm

	SWAP	near_swap4, cmpxchgl, %r8d
	SWAP	near_swap8, cmpxchgq, %r8
#endif
	.section .note.GNU-stack, "", @progbits
