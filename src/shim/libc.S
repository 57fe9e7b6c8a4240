/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a stub calls (libc.h). Stack at entry: the stub's return address, the number of the system
 * call, the red zone. All registers are kept as the instruction syscall keeps them; libc's code is
 * for any x86-64, so the state that fxsave knows is enough. Returns the result in rax.
 */
#define NR 64	/* behind six arguments, rbp and the return address */

	.text
	.globl	libc_entry
	.hidden	libc_entry
	.type	libc_entry, @function
	.balign	16
libc_entry:
	.cfi_startproc
	.cfi_undefined %rip	/* backtraces end here */
	push	%rbp
	push	%r9
	push	%r8
	push	%r10
	push	%rdx
	push	%rsi
	push	%rdi
	mov	%rsp, %rbp
	sub	$512, %rsp
	and	$-64, %rsp
	fxsave64 (%rsp)
	cld
	mov	%rbp, %rdi
	mov	NR(%rbp), %rsi
	call	libc_call
	fxrstor64 (%rsp)
	mov	%rbp, %rsp
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%r10
	pop	%r8
	pop	%r9
	pop	%rbp
	ret
	.cfi_endproc
	.size	libc_entry, .-libc_entry

	.section .note.GNU-stack,"",@progbits
