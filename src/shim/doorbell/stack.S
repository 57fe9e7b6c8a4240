/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instructions that C cannot express: the signal entry that can leave its own frame behind
 * (sig.h), the sa_restorer, and a call on another stack (stack.h).
 */
	.text

/*
 * void sig_entry(int sig, siginfo_t *si, void *uc): stack at entry is the kernel's frame.
 * Callee-saved registers are free here, because sigreturn restores all of them. Frame: 32 bytes
 * struct sig_jump.
 */
	.globl	sig_entry
	.hidden	sig_entry
	.type	sig_entry, @function
sig_entry:
	.cfi_startproc
	sub	$40, %rsp
	.cfi_adjust_cfa_offset 40
	mov	%edi, %ebx
	movq	$0, (%rsp)
	mov	%rsp, %rcx
	lea	40(%rsp), %r8
	call	sig_dispatch
	mov	(%rsp), %rax
	test	%rax, %rax
	jnz	1f
	add	$40, %rsp
	.cfi_adjust_cfa_offset -40
	ret
	.cfi_adjust_cfa_offset 40
1:	mov	%ebx, %edi
	mov	8(%rsp), %rsi
	mov	16(%rsp), %rdx
	mov	24(%rsp), %rsp
	.cfi_def_cfa_offset 8
	jmp	*%rax
	.cfi_endproc
	.size	sig_entry, .-sig_entry

/*
 * Debuggers and unwinders recognise a signal frame by these bytes, gdb also by this name. There is
 * deliberately no unwind information, and a nop comes first, because they look up the address minus
 * one.
 */
	.globl	__restore_rt
	.hidden	__restore_rt
	.type	__restore_rt, @function
	.balign	16
	nop
__restore_rt:
	mov	$15, %rax
	syscall
	.size	__restore_rt, .-__restore_rt

/* void stack_call(void *arg, void (*fn)(void *arg), void *top) */
	.globl	stack_call
	.hidden	stack_call
	.type	stack_call, @function
	.balign	16
stack_call:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdx, %rsp
	call	*%rsi
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	stack_call, .-stack_call

	.section .note.GNU-stack,"",@progbits
