/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where libc's own system calls are found and changed (shim/libc.h): codes of several builds. */
#include "shim/libc.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <cmocka.h>

#define FIND(nr, ...)                                           \
	({                                                      \
		const uint8_t code_[LIBC_LOOK] = {__VA_ARGS__}; \
		libc_site(code_, sizeof(code_), nr);            \
	})
#define CALL(nr) 0xb8, nr, 0, 0, 0, 0x0f, 0x05
#define CMP 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff, 0x73, 0x01, 0xc3

static void a_function_that_begins_with_the_call(void **state)
{
	assert_int_equal(FIND(SYS_munmap, CALL(SYS_munmap), CMP), 0);
	assert_int_equal(FIND(SYS_munmap, 0xf3, 0x0f, 0x1e, 0xfa, CALL(SYS_munmap), CMP), 4);
	assert_int_equal(FIND(SYS_brk, CALL(SYS_brk), 0x48, 0x8b, 0x15, 1, 2, 3, 0), 0);
}

static void a_function_with_code_before_the_call(void **state)
{
	assert_int_equal(
		FIND(SYS_mremap, 0x48, 0x83, 0xec, 0x58, 0x83, 0xf9, 0x07, CALL(SYS_mremap), CMP),
		7);
}

static void other_code_is_refused(void **state)
{
	assert_int_equal(FIND(SYS_munmap, CALL(SYS_madvise), CMP), -1);
	assert_int_equal(FIND(SYS_munmap, 0xb8, SYS_munmap, 0, 0, 0, 0x90, 0x0f, 0x05, CMP), -1);
	assert_int_equal(FIND(SYS_munmap, CALL(SYS_munmap), 0xc3), -1);
	/* another library's hook: movabs $addr, %r11; jmp *%r11 */
	assert_int_equal(FIND(SYS_munmap, 0x49, 0xbb, 1, 2, 3, 4, 5, 6, 0, 0, 0x41, 0xff, 0xe3),
			 -1);
	/* a load that is not relative to the instruction */
	assert_int_equal(FIND(SYS_brk, CALL(SYS_brk), 0x48, 0x8b, 0x10), -1);
}

static void the_call_is_not_sought_behind_the_code(void **state)
{
	const uint8_t code[] = {CALL(SYS_munmap), CMP};

	for (size_t n = 0; n < 10; n++)
		assert_int_equal(libc_site(code, n, SYS_munmap), -1);
	assert_int_equal(libc_site(code, 10, SYS_munmap), 0);
}

static void a_mov_on_two_blocks_is_refused(void **state)
{
	for (uintptr_t at = 0; at < 32; at++)
		assert_int_equal(libc_in_block(at), at / 16 == (at + 4) / 16);
}

/* That of Debian and its relatives; another one is told by what libc_hook() says. */
static void this_libc_has_them(void **state)
{
	static const struct {
		const char *name;
		uint32_t nr;
	} fns[] = {{"munmap", SYS_munmap},
		   {"mremap", SYS_mremap},
		   {"madvise", SYS_madvise},
		   {"mprotect", SYS_mprotect},
		   {"brk", SYS_brk}};
	void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);

	assert_non_null(libc);
	for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
		const uint8_t *code = dlsym(libc, fns[i].name);
		long at = code ? libc_site(code, LIBC_LOOK, fns[i].nr) : -1;

		assert_true(at >= 0);
		assert_true(libc_in_block((uintptr_t)code + (uintptr_t)at));
	}
	dlclose(libc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_begins_with_the_call),
		cmocka_unit_test(a_function_with_code_before_the_call),
		cmocka_unit_test(other_code_is_refused),
		cmocka_unit_test(the_call_is_not_sought_behind_the_code),
		cmocka_unit_test(a_mov_on_two_blocks_is_refused),
		cmocka_unit_test(this_libc_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
