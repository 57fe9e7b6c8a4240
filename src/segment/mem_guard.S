/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * int mem_guard_copy(void *dst, const void *src, size_t len): 0, or -EFAULT by way of
 * mem_guard_fixup(), which moves a thread that faulted between the two labels to mem_guard_fault.
 * So: no stack use in between, general registers only (an engine that is entered without a signal
 * frame has no vector registers to spare).
 *
 * 1, 2, 4 and 8 bytes are one load and one store each: doorbell records and a CQE's owner byte rely
 * on it. Up to 256 bytes go by quadwords, more by the string instruction.
 *
 * int mem_guard_cas4/8(void *p, uint64_t *old, uint64_t next): the same for a compare and swap.
 */
#if defined(__x86_64__)
	.text
	.globl mem_guard_copy, mem_guard_fault, mem_guard_end
	.hidden mem_guard_copy, mem_guard_fault, mem_guard_end
	.globl mem_guard_cas4, mem_guard_cas8
	.hidden mem_guard_cas4, mem_guard_cas8
	.type mem_guard_copy, @function
	.p2align 6
mem_guard_copy:
	cmpq	$8, %rdx
	jb	.Lsmall
	je	.Leight
	cmpq	$256, %rdx
	ja	.Lstring
.Lblock:
	cmpq	$32, %rdx
	jb	.Lquads
	movq	(%rsi), %rax
	movq	8(%rsi), %rcx
	movq	16(%rsi), %r8
	movq	24(%rsi), %r9
	movq	%rax, (%rdi)
	movq	%rcx, 8(%rdi)
	movq	%r8, 16(%rdi)
	movq	%r9, 24(%rdi)
	addq	$32, %rsi
	addq	$32, %rdi
	subq	$32, %rdx
	jmp	.Lblock
.Lquads:
	cmpq	$8, %rdx
	jb	.Ltail
	movq	(%rsi), %rax
	movq	%rax, (%rdi)
	addq	$8, %rsi
	addq	$8, %rdi
	subq	$8, %rdx
	jmp	.Lquads
.Ltail:		/* 0..7 left of 9 or more: the last 8, over what is there already */
	testq	%rdx, %rdx
	jz	.Ldone
	movq	-8(%rsi,%rdx), %rax
	movq	%rax, -8(%rdi,%rdx)
	xorl	%eax, %eax
	ret
.Leight:
	movq	(%rsi), %rax
	movq	%rax, (%rdi)
	xorl	%eax, %eax
	ret
.Lstring:
	movq	%rdx, %rcx
	rep movsb
.Ldone:
	xorl	%eax, %eax
	ret
.Lsmall:	/* 0..7 */
	cmpq	$4, %rdx
	je	.Lfour
	ja	.Lfive
	testq	%rdx, %rdx
	je	.Ldone
	cmpq	$2, %rdx
	je	.Ltwo
	movb	(%rsi), %al
	jb	.Lone
	movw	1(%rsi), %cx	/* 3 */
	movb	%al, (%rdi)
	movw	%cx, 1(%rdi)
	xorl	%eax, %eax
	ret
.Lone:
	movb	%al, (%rdi)
	xorl	%eax, %eax
	ret
.Ltwo:
	movw	(%rsi), %ax
	movw	%ax, (%rdi)
	xorl	%eax, %eax
	ret
.Lfour:
	movl	(%rsi), %eax
	movl	%eax, (%rdi)
	xorl	%eax, %eax
	ret
.Lfive:		/* 5..7 */
	movl	(%rsi), %eax
	movl	-4(%rsi,%rdx), %ecx
	movl	%eax, (%rdi)
	movl	%ecx, -4(%rdi,%rdx)
	xorl	%eax, %eax
	ret
mem_guard_cas4:
	movl	(%rsi), %eax
	lock cmpxchgl	%edx, (%rdi)
	movl	%eax, (%rsi)
	xorl	%eax, %eax
	ret
mem_guard_cas8:
	movq	(%rsi), %rax
	lock cmpxchgq	%rdx, (%rdi)
	movq	%rax, (%rsi)
	xorl	%eax, %eax
	ret
mem_guard_end:
mem_guard_fault:
	movl	$-14, %eax	/* -EFAULT */
	ret
	.size mem_guard_copy, .-mem_guard_copy
#endif
	.section .note.GNU-stack, "", @progbits
