/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The function that a stub calls (patch.h). Stack at entry: the stub's return address, the
 * program's red zone. All registers and flags are restored. The stub continues at its return
 * address when the doorbell was rung, else SLOW bytes further.
 */
#define F_R8 0
#define F_R9 8
#define F_R10 16
#define F_R11 24
#define F_R12 32
#define F_R13 40
#define F_R14 48
#define F_R15 56
#define F_RDI 64
#define F_RSI 72
#define F_RBP 80
#define F_RBX 88
#define F_RDX 96
#define F_RAX 104
#define F_RCX 112
#define F_RSP 120
#define F_FLAGS 160	/* pushed */
#define F_RET 168
#define F_END 176
#define REDZONE 128
#define SLOW 13

/* Where vector registers are kept without XSAVE. */
#define V_HIGH 1024	/* zmm16 to zmm31 */
#define V_MASKS 2048
#define V_INUSE 2112
#define V_MXCSR 2116
#define UPPER 0x44	/* XINUSE: bits 128 to 511 of zmm0 to zmm15 may differ from 0 */

	.macro	KEEP ins, reg
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\ins	%\reg\n, 64 * \n(%rsp)
	.endr
	.endm

	.macro	FETCH ins, reg
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\ins	64 * \n(%rsp), %\reg\n
	.endr
	.endm

/* Registers whose upper parts are 0 stay so, which later SSE instructions are faster with. */
	.macro	VECTORS_KEEP
	mov	$1, %ecx
	xgetbv
	mov	%eax, V_INUSE(%rsp)
	test	$UPPER, %al
	jz	3f
	KEEP	vmovdqa64, zmm
	jmp	4f
3:	KEEP	vmovdqa, xmm
4:	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqa64 %zmm\n, V_HIGH + 64 * (\n - 16)(%rsp)
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\n, V_MASKS + 8 * \n(%rsp)
	.endr
	stmxcsr	V_MXCSR(%rsp)
	vzeroupper
	.endm

	.macro	VECTORS_FETCH
	vzeroupper
	testb	$UPPER, V_INUSE(%rsp)
	jz	3f
	FETCH	vmovdqa64, zmm
	jmp	4f
3:	FETCH	vmovdqa, xmm
4:	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqa64 V_HIGH + 64 * (\n - 16)(%rsp), %zmm\n
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	V_MASKS + 8 * \n(%rsp), %k\n
	.endr
	ldmxcsr	V_MXCSR(%rsp)
	.endm

	.text
	.globl	patch_entry
	.hidden	patch_entry
	.type	patch_entry, @function
	.balign	64
patch_entry:
	.cfi_startproc
	.cfi_undefined %rip	/* backtraces end here */
	pushfq
	sub	$F_FLAGS, %rsp
	mov	%r8, F_R8(%rsp)
	mov	%r9, F_R9(%rsp)
	mov	%r10, F_R10(%rsp)
	mov	%r11, F_R11(%rsp)
	mov	%r12, F_R12(%rsp)
	mov	%r13, F_R13(%rsp)
	mov	%r14, F_R14(%rsp)
	mov	%r15, F_R15(%rsp)
	mov	%rdi, F_RDI(%rsp)
	mov	%rsi, F_RSI(%rsp)
	mov	%rbp, F_RBP(%rsp)
	mov	%rbx, F_RBX(%rsp)
	mov	%rdx, F_RDX(%rsp)
	mov	%rax, F_RAX(%rsp)
	mov	%rcx, F_RCX(%rsp)
	lea	F_END+REDZONE(%rsp), %rax
	mov	%rax, F_RSP(%rsp)
	cld
	mov	%rsp, %rbx
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	patch_enter
	test	%rax, %rax
	jz	.Lslow

	mov	%rax, %rsp
	cmpb	$0, patch_moves(%rip)
	je	.Lxsave
	VECTORS_KEEP
	mov	%rbx, %rdi
	call	patch_ring
	VECTORS_FETCH
	jmp	.Lrung

.Lxsave:
	xor	%ecx, %ecx
	mov	%rcx, 512(%rsp)
	mov	%rcx, 520(%rsp)
	mov	%rcx, 528(%rsp)
	mov	%rcx, 536(%rsp)
	mov	%rcx, 544(%rsp)
	mov	%rcx, 552(%rsp)
	mov	%rcx, 560(%rsp)
	mov	%rcx, 568(%rsp)
	mov	patch_xmask(%rip), %eax
	mov	patch_xmask+4(%rip), %edx
	cmpb	$0, patch_xsavec(%rip)
	je	1f
	xsavec64 (%rsp)
	jmp	2f
1:	xsave64	(%rsp)
2:	mov	%rbx, %rdi
	call	patch_ring
	mov	patch_xmask(%rip), %eax
	mov	patch_xmask+4(%rip), %edx
	xrstor64 (%rsp)

.Lrung:
	mov	%rbx, %rsp
	mov	%rbx, %rdi
	and	$-16, %rsp
	call	patch_leave
	mov	%rbx, %rsp
	jmp	.Lback
.Lslow:
	mov	%rbx, %rsp
	addq	$SLOW, F_RET(%rsp)
.Lback:
	mov	F_R8(%rsp), %r8
	mov	F_R9(%rsp), %r9
	mov	F_R10(%rsp), %r10
	mov	F_R11(%rsp), %r11
	mov	F_R12(%rsp), %r12
	mov	F_R13(%rsp), %r13
	mov	F_R14(%rsp), %r14
	mov	F_R15(%rsp), %r15
	mov	F_RDI(%rsp), %rdi
	mov	F_RSI(%rsp), %rsi
	mov	F_RBP(%rsp), %rbp
	mov	F_RBX(%rsp), %rbx
	mov	F_RDX(%rsp), %rdx
	mov	F_RAX(%rsp), %rax
	mov	F_RCX(%rsp), %rcx
	add	$F_FLAGS, %rsp
	popfq
	ret
	.cfi_endproc
	.size	patch_entry, .-patch_entry

	.section .note.GNU-stack,"",@progbits
