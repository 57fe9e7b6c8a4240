/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that libc makes inside: free() unmaps large blocks, malloc_trim() and realloc() change
 * mappings, and no symbol passes us. Registered memory must outlive munmap() (segment/pin.h), and
 * adopted memory return before them. In libc's own munmap, mremap, madvise, mprotect and brk a jump
 * replaces the `mov $number, %eax` in front of the system call: same length, written by one store
 * into an aligned block, so that no thread meets a half of it. A thread behind it goes on as it
 * was.
 *
 * site    jmp stub                stub    libc_entry (libc.S), all registers kept
 * back:   behind the syscall              libc_call() makes the system call
 */
#ifndef SOFTHCA_SHIM_LIBC_H
#define SOFTHCA_SHIM_LIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LIBC_MOV 5 /* bytes of mov $imm32, %eax, and of jmp rel32 */
#define LIBC_SYSCALL 2
#define LIBC_LOOK 96  /* the system call is in the first bytes of the function */
#define LIBC_BLOCK 16 /* a store of that size, aligned, is seen whole */

/*
 * The offset of the mov in a function's code: mov, syscall, and the look at the result, or brk's
 * load of a pointer. -1: there is none.
 */
static inline long libc_site(const uint8_t *code, size_t n, uint32_t nr)
{
	static const uint8_t cmp[] = {0x48, 0x3d}, /* cmp $imm32, %rax */
		load[] = {0x48, 0x8b};             /* mov disp32(%rip), %r64 */
	uint8_t call[LIBC_MOV + LIBC_SYSCALL] = {0xb8, 0, 0, 0, 0, 0x0f, 0x05};

	memcpy(call + 1, &nr, 4);
	for (size_t i = 0; i + sizeof(call) + 3 <= n; i++) {
		const uint8_t *next = code + i + sizeof(call);

		if (!memcmp(code + i, call, sizeof(call)) &&
		    (!memcmp(next, cmp, 2) || (!memcmp(next, load, 2) && (next[2] & 0xc7) == 5)))
			return (long)i;
	}
	return -1;
}

/* Can the mov be replaced by one store? */
static inline bool libc_in_block(uintptr_t at)
{
	return at % LIBC_BLOCK <= LIBC_BLOCK - LIBC_MOV;
}

/*
 * In the constructor: finds the functions. Later that may wait for another thread's dlopen(), whose
 * constructors wait for this thread to open the device.
 */
void libc_look_up(void);
/*
 * Once, when the device is opened first. True: no call of libc that changes mappings is missed, so
 * that memory of keys may be adopted.
 */
bool libc_hook(void);
/* The syscall() wrapper has seen one of these calls, perhaps made by another library's hook. */
void libc_noted(void);
/*
 * Before such a call, or one of mmap(2). True: registered memory stays for now (segment/pin.h), the
 * call is not made, and *r is what it returns.
 */
bool libc_put_off(long nr, const long a[6], long *r);
/* Called by libc.S: a[] are the arguments, as the kernel gets them. Returns what the kernel does.
 */
long libc_call(const long a[6], unsigned long nr);
void libc_entry(void);

#endif
