/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See patch_run.h. Runs on a stack of its own, so that the stack pointer is known. */
#define FLAGS 128
#define CODE 136
#define RED 144
#define K 272
#define VEC 336
#define NARROW 2384

	.bss
	.balign	64
	.skip	65536
top:	.skip	64
cur:	.skip	8
code:	.skip	8
tmp:	.skip	8
old:	.skip	8
width:	.skip	8

	.text
	.globl	run_rsp
run_rsp:
	lea	top-8(%rip), %rax
	ret

	.globl	run_site
run_site:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rdi, cur(%rip)
	mov	CODE(%rdi), %rax
	mov	%rax, code(%rip)
	mov	%rsp, old(%rip)
	lea	top(%rip), %rsp

	mov	$7, %eax	/* AVX-512F and the system's consent: 2; AVX: 1 */
	xor	%ecx, %ecx
	cpuid
	mov	%ebx, %esi
	xor	%ecx, %ecx
	xgetbv
	mov	$1, %edx
	and	$0xe6, %eax
	cmp	$0xe6, %eax
	jne	1f
	bt	$16, %esi
	jnc	1f
	bt	$30, %esi
	jnc	1f
	mov	$2, %edx
1:	mov	%edx, width(%rip)
	mov	cur(%rip), %rdi
	cmp	$2, %edx
	jne	2f
	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vmovdqu64 VEC+64*\n(%rdi), %zmm\n
	.endr
	.irp	n,0,1,2,3,4,5,6,7
	kmovq	K+8*\n(%rdi), %k\n
	.endr
	jmp	3f
2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu	VEC+64*\n(%rdi), %ymm\n
	.endr
3:	cmpq	$0, NARROW(%rdi)
	je	6f
	vzeroupper
6:	pushq	FLAGS(%rdi)
	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	mov	RED+8*\n(%rdi), %rax
	mov	%rax, 8*\n-128(%rsp)
	.endr
	mov	0(%rdi), %rax
	mov	8(%rdi), %rcx
	mov	16(%rdi), %rdx
	mov	24(%rdi), %rbx
	mov	40(%rdi), %rbp
	mov	48(%rdi), %rsi
	mov	64(%rdi), %r8
	mov	72(%rdi), %r9
	mov	80(%rdi), %r10
	mov	88(%rdi), %r11
	mov	96(%rdi), %r12
	mov	104(%rdi), %r13
	mov	112(%rdi), %r14
	mov	120(%rdi), %r15
	mov	56(%rdi), %rdi
	popfq
	call	*code(%rip)
	pushfq
	mov	%rdi, tmp(%rip)
	mov	cur(%rip), %rdi
	mov	%rax, 0(%rdi)
	mov	%rcx, 8(%rdi)
	mov	%rdx, 16(%rdi)
	mov	%rbx, 24(%rdi)
	mov	%rbp, 40(%rdi)
	mov	%rsi, 48(%rdi)
	mov	%r8, 64(%rdi)
	mov	%r9, 72(%rdi)
	mov	%r10, 80(%rdi)
	mov	%r11, 88(%rdi)
	mov	%r12, 96(%rdi)
	mov	%r13, 104(%rdi)
	mov	%r14, 112(%rdi)
	mov	%r15, 120(%rdi)
	mov	tmp(%rip), %rax
	mov	%rax, 56(%rdi)
	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	mov	8*\n-128(%rsp), %rax
	mov	%rax, RED+8*\n(%rdi)
	.endr
	cld
	popq	FLAGS(%rdi)
	cmpl	$2, width(%rip)
	jne	4f
	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vmovdqu64 %zmm\n, VEC+64*\n(%rdi)
	.endr
	.irp	n,0,1,2,3,4,5,6,7
	kmovq	%k\n, K+8*\n(%rdi)
	.endr
	jmp	5f
4:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu	%ymm\n, VEC+64*\n(%rdi)
	.endr
5:	vzeroupper
	mov	old(%rip), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

	.section .note.GNU-stack,"",@progbits
