/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every form of store by which a program may ring a doorbell, as compilers or libraries write it.
 */
#include "fake.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#define BELL 0x0011223344556677ull
#define UAR 7

static char *page, *bell;

static int setup(void **state)
{
	page = fake_map(UAR);
	if (page == MAP_FAILED)
		return -1;
	bell = page + 0x800;
	return 0;
}

static int teardown(void **state)
{
	fake_unmap(page);
	return 0;
}

static int reset(void **state)
{
	fake_reset();
	return 0;
}

static void assert_rang(uint32_t n, uint32_t off, uint64_t be)
{
	assert_int_equal(fake_count(), n);
	struct fake_ring r = fake_get(n - 1);

	assert_int_equal(r.uar, UAR);
	assert_int_equal(r.off, off);
	assert_true(r.be == be);
}

#define STORE64(name, insn, ...)                                                          \
	static void name(void **state)                                                    \
	{                                                                                 \
		__asm__ volatile(insn                                                     \
				 :                                                        \
				 : __VA_ARGS__                                            \
				 : "memory", "rcx", "r12", "r13", "r15", "xmm3", "xmm9"); \
		assert_rang(1, 0x800, BELL);                                              \
	}

STORE64(mov_r64, "mov %0, (%1)", "r"(BELL), "r"(bell))
STORE64(mov_r64_rax_moffs_like, "mov %%rax, (%1)", "a"(BELL), "r"(bell))
STORE64(mov_base_index_disp, "mov %0, -0x38(%1,%2,8)", "r"(BELL), "r"(bell), "r"(7l))
STORE64(mov_r15_r13_r12,
	"mov %0, %%r15; mov %1, %%r13; mov $8, %%r12; mov %%r15, -16(%%r13,%%r12,2)", "r"(BELL),
	"r"(bell))
STORE64(mov_two_halves, "movl %k0, (%2); movl %k1, 4(%2)", "r"(BELL), "r"(BELL >> 32), "r"(bell))
STORE64(mov_imm32_halves, "movl $0x44556677, (%0); movl $0x00112233, 4(%0)", "r"(bell))
STORE64(mov_words,
	"mov %0, %%rcx; movw %%cx, (%1); shr $16, %%rcx; movw %%cx, 2(%1);"
	"shr $16, %%rcx; movw %%cx, 4(%1); shr $16, %%rcx; movw %%cx, 6(%1)",
	"r"(BELL), "r"(bell))
STORE64(mov_high_byte,
	"movl $0x44556677, (%0); movw $0x2233, 4(%0); movb $0x11, 6(%0);"
	"mov $0x0055, %%ecx; movb %%ch, 7(%0)",
	"r"(bell))
STORE64(movnti, "movnti %0, (%1)", "r"(BELL), "r"(bell))
STORE64(movbe, "movbe %0, (%1)", "r"(__builtin_bswap64(BELL)), "r"(bell))
STORE64(movq_xmm, "movq %0, %%xmm9; movq %%xmm9, (%1)", "r"(BELL), "r"(bell))
STORE64(movlps, "movq %0, %%xmm3; movlps %%xmm3, (%1)", "r"(BELL), "r"(bell))
STORE64(movhps, "movq %0, %%xmm3; pslldq $8, %%xmm3; movhps %%xmm3, (%1)", "r"(BELL), "r"(bell))
STORE64(movsd_xmm, "movq %0, %%xmm3; movsd %%xmm3, (%1)", "r"(BELL), "r"(bell))

static void stosq(void **state)
{
	char *dst = bell;

	__asm__ volatile("stosq" : "+D"(dst) : "a"(BELL) : "memory");
	assert_rang(1, 0x800, BELL);
	assert_ptr_equal(dst, bell + 8);
}

/* The first 8 bytes ring; the rest of the 64 is the body of a BlueFlame copy. */
#define STORE_VEC(name, load, store)                                                             \
	static void name(void **state)                                                           \
	{                                                                                        \
		uint64_t v[8] = {BELL, 1, 2, 3, 4, 5, 6, 7};                                     \
		__asm__ volatile(load "; " store                                                 \
				 :                                                               \
				 : [v] "r"(v), [d] "r"(bell)                                     \
				 : "memory", "rax", "rcx", "rsi", "rdi", "xmm0", "xmm1", "xmm2", \
				   "xmm4", "xmm5", "xmm11", "xmm15");                            \
		assert_rang(1, 0x800, BELL);                                                     \
	}

STORE_VEC(movups, "movups (%[v]), %%xmm1", "movups %%xmm1, (%[d])")
STORE_VEC(movaps, "movups (%[v]), %%xmm1", "movaps %%xmm1, (%[d])")
STORE_VEC(movdqa, "movdqu (%[v]), %%xmm15", "movdqa %%xmm15, (%[d])")
STORE_VEC(movdqu, "movdqu (%[v]), %%xmm0", "movdqu %%xmm0, (%[d])")
STORE_VEC(movntdq, "movdqu (%[v]), %%xmm0", "movntdq %%xmm0, (%[d])")
STORE_VEC(movntps, "movups (%[v]), %%xmm0", "movntps %%xmm0, (%[d])")
STORE_VEC(vmovdqu_ymm, "vmovdqu (%[v]), %%ymm11", "vmovdqu %%ymm11, (%[d])")
STORE_VEC(vmovups_ymm, "vmovups (%[v]), %%ymm2", "vmovups %%ymm2, (%[d])")
STORE_VEC(vmovntdq_ymm, "vmovdqu (%[v]), %%ymm2", "vmovntdq %%ymm2, (%[d])")
STORE_VEC(vmovdqu64_zmm, "vmovdqu64 (%[v]), %%zmm5", "vmovdqu64 %%zmm5, (%[d])")
STORE_VEC(vmovdqu64_zmm29, "vmovdqu64 (%[v]), %%zmm29", "vmovdqu64 %%zmm29, (%[d])")
STORE_VEC(vmovntps_zmm16, "vmovups (%[v]), %%zmm16", "vmovntps %%zmm16, (%[d])")
STORE_VEC(vmov_masked, "mov $0x81, %%eax; kmovb %%eax, %%k3; vmovdqu64 (%[v]), %%zmm5",
	  "vmovdqu64 %%zmm5, (%[d])%{%%k3%}")
STORE_VEC(vextracti128, "vmovdqu (%[v]), %%ymm4; vpermq $0x4e, %%ymm4, %%ymm4",
	  "vextracti128 $1, %%ymm4, (%[d])")
STORE_VEC(rep_movsq, "mov %[v], %%rsi; mov %[d], %%rdi; mov $8, %%ecx; cld", "rep movsq")
STORE_VEC(rep_movsb, "mov %[v], %%rsi; mov %[d], %%rdi; mov $64, %%ecx; cld", "rep movsb")
STORE_VEC(movdir64b, "nop", "movdir64b (%[v]), %[d]")
STORE_VEC(movdiri, "mov (%[v]), %%rax", "movdiri %%rax, (%[d])")

static void ymm_halves_above_zmm_are_right(void **state)
{
	uint64_t v[8] = {1, 2, 3, 4, BELL, 6, 7, 8};

	/* 32 bytes before a doorbell, so that its qword is the fifth of the register. */
	__asm__ volatile("vmovdqu64 (%0), %%zmm7; vmovdqu64 %%zmm7, (%1)"
			 :
			 : "r"(v), "r"(bell + 64 - 32)
			 : "memory");
	assert_rang(1, 0x840, BELL);
}

static void a_masked_store_leaves_the_rest_alone(void **state)
{
	uint64_t v[8] = {BELL};

	__asm__ volatile("mov $0xfe, %%eax; kmovb %%eax, %%k1; vmovdqu64 (%0), %%zmm7;"
			 "vmovdqu64 %%zmm7, (%1)%{%%k1%}"
			 :
			 : "r"(v), "r"(bell)
			 : "memory", "eax");
	assert_int_equal(fake_count(), 0);
}

static void movs_downwards(void **state)
{
	uint64_t room[3] = {0, BELL, 1}, *v = room + 1, *src = v + 1;
	char *dst = bell + 8;
	long n = 2;

	__asm__ volatile("std; rep movsq; cld" : "+S"(src), "+D"(dst), "+c"(n) : : "memory");
	assert_rang(1, 0x800, BELL);
	assert_int_equal(n, 0);
	assert_ptr_equal(src, v - 1);
	assert_ptr_equal(dst, bell - 8);
}

static void string_registers_advance(void **state)
{
	uint64_t v[16] = {BELL, [8] = 5}, *src = v;
	char *dst = bell;
	long n = 16;

	__asm__ volatile("rep movsq" : "+S"(src), "+D"(dst), "+c"(n) : : "memory");
	assert_rang(2, 0x840, 5);
	assert_int_equal(n, 0);
	assert_ptr_equal(src, v + 16);
	assert_ptr_equal(dst, bell + 128);
}

static void movs_from_the_page_reads_zero(void **state)
{
	uint64_t v[2] = {1, 2}, *dst = v;
	char *src = bell;
	long n = 2;

	__asm__ volatile("rep movsq" : "+S"(src), "+D"(dst), "+c"(n) : : "memory");
	assert_true(v[0] == 0 && v[1] == 0);
	assert_int_equal(fake_count(), 0);
}

static void xchg(void **state)
{
	uint64_t v = BELL;

	__asm__ volatile("xchg %0, (%1)" : "+r"(v) : "r"(bell) : "memory");
	assert_rang(1, 0x800, BELL);
	assert_true(v == 0);
}

static void cq_doorbell(void **state)
{
	*(volatile uint64_t *)(page + 0x20) = BELL;
	assert_rang(1, 0x20, BELL);
}

static void memcpy_of_a_wqe(void **state)
{
	uint64_t v[32] = {BELL, [8] = 2, [16] = 3, [24] = 4};
	uint32_t seen = 0;

	memcpy(bell, v, sizeof(v));
	assert_int_equal(fake_count(), 4);
	/* in the order in which this memcpy() stores */
	for (uint32_t i = 0; i < 4; i++) {
		struct fake_ring r = fake_get(i);

		assert_int_equal(r.uar, UAR);
		assert_int_equal(r.off & ~0xc0u, 0x800);
		assert_true(r.be == v[(r.off - 0x800) / 8]);
		seen |= 1u << (r.off - 0x800) / 64;
	}
	assert_int_equal(seen, 0xf);
}

static void other_qwords_do_not_ring(void **state)
{
	for (uint32_t off = 0; off < 4096; off += 8)
		if (off != 0x20 && (off < 0x800 || off % 64))
			*(volatile uint64_t *)(page + off) = BELL;
	assert_int_equal(fake_count(), 0);
}

static void loads_read_zero(void **state)
{
	uint64_t a = ~0ull, b = ~0ull, c = ~0ull, d = ~0ull, lo, hi;

	__asm__ volatile("mov (%1), %0" : "+r"(a) : "r"(bell));
	__asm__ volatile("movl (%1), %k0" : "+r"(b) : "r"(bell));
	__asm__ volatile("movb (%1), %b0" : "+r"(c) : "r"(bell));
	__asm__ volatile("movzwl (%1), %k0" : "+r"(d) : "r"(bell));
	assert_true(a == 0);
	assert_true(b == 0);
	assert_true(c == ~0xffull);
	assert_true(d == 0);
	__asm__ volatile("pcmpeqd %%xmm6, %%xmm6; movdqu (%2), %%xmm6; movq %%xmm6, %0;"
			 "pextrq $1, %%xmm6, %1"
			 : "=r"(lo), "=r"(hi)
			 : "r"(bell));
	assert_true(lo == 0 && hi == 0);
	assert_int_equal(fake_count(), 0);
}

static void errno_and_flags_are_kept(void **state)
{
	unsigned char carry = 0;

	errno = ENOTTY;
	__asm__ volatile("stc; mov %1, (%2); setc %0" : "=r"(carry) : "r"(BELL), "r"(bell));
	assert_int_equal(carry, 1);
	assert_int_equal(errno, ENOTTY);
	assert_rang(1, 0x800, BELL);
}

static void vector_registers_are_kept(void **state)
{
	uint64_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};

	__asm__ volatile("vmovdqu64 (%0), %%zmm30; mov %2, (%1); vmovdqu64 %%zmm30, (%3)"
			 :
			 : "r"(in), "r"(bell), "r"(BELL), "r"(out)
			 : "memory");
	assert_memory_equal(in, out, sizeof(in));
}

static void code_that_changes_is_decoded_again(void **state)
{
	/* mov %rsi,(%rdi); ret   then   movnti %rdx,(%rdi); ret */
	static const unsigned char one[5] = {0x48, 0x89, 0x37, 0xc3};
	static const unsigned char two[] = {0x48, 0x0f, 0xc3, 0x17, 0xc3};
	void (*fn)(void *, uint64_t, uint64_t);
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		skip();
	fn = (void *)code;
	for (int i = 0; i < 20; i++) {
		memcpy(code, i % 2 ? two : one, sizeof(two));
		fn(bell, 100, 200);
		assert_rang((uint32_t)i + 1, 0x800, i % 2 ? 200 : 100);
	}
	munmap(code, 4096);
}

static void the_last_instruction_of_a_mapping(void **state)
{
	static const unsigned char insn[] = {0x48, 0x89, 0x37, 0xc3};
	char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		skip();
	munmap(code + 4096, 4096);
	memcpy(code + 4096 - sizeof(insn), insn, sizeof(insn));
	((void (*)(void *, uint64_t))(code + 4096 - sizeof(insn)))(bell, BELL);
	assert_rang(1, 0x800, BELL);
	munmap(code, 4096);
}

static void without_a_signal(void **state)
{
	errno = ENOTTY;
	fake_trap_ring(UAR, 0x800, BELL);
	assert_rang(1, 0x800, BELL);
	assert_int_equal(errno, ENOTTY);
}

static void two_mappings_of_one_uar_and_a_fixed_one(void **state)
{
	char *second = fake_map(UAR), *third;
	int err = 0;

	assert_ptr_not_equal(second, page);
	*(volatile uint64_t *)(second + 0x800) = BELL;
	assert_rang(1, 0x800, BELL);
	third = fake_map_at(second, MAP_FIXED, 9, &err);
	assert_ptr_equal(third, second);
	*(volatile uint64_t *)(third + 0x900) = BELL;
	assert_int_equal(fake_get(1).uar, 9);
	fake_unmap(third);
	assert_int_equal(fake_lookup(third), UINT32_MAX);
	assert_int_equal(fake_lookup(page), UAR);
}

static void many_mappings_come_and_go(void **state)
{
	enum { N = 300 };
	char *p[N];

	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < N; i++) {
			p[i] = fake_map(100 + (uint32_t)i);
			assert_ptr_not_equal(p[i], MAP_FAILED);
		}
		for (int i = 0; i < N; i++)
			assert_int_equal(fake_lookup(p[i] + 5), 100 + i);
		for (int i = 0; i < N; i++)
			fake_unmap(p[i]);
	}
	assert_int_equal(fake_lookup(page + 4095), UAR);
}

#define T(f) cmocka_unit_test_setup(f, reset)
#define NEEDS(feature, f)                                         \
	__builtin_cpu_supports(feature) ? (struct CMUnitTest)T(f) \
					: (struct CMUnitTest)T(not_on_this_cpu)

static void not_on_this_cpu(void **state)
{
	skip();
}

int main(void)
{
	bool movdir = false;
	uint32_t a = 7, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	movdir = (c >> 27 & 1) && (c >> 28 & 1);
	const struct CMUnitTest tests[] = {
		T(mov_r64),
		T(mov_r64_rax_moffs_like),
		T(mov_base_index_disp),
		T(mov_r15_r13_r12),
		T(mov_two_halves),
		T(mov_imm32_halves),
		T(mov_words),
		T(mov_high_byte),
		T(movnti),
		T(movbe),
		T(movq_xmm),
		T(movlps),
		T(movhps),
		T(movsd_xmm),
		T(stosq),
		T(movups),
		T(movaps),
		T(movdqa),
		T(movdqu),
		T(movntdq),
		T(movntps),
		NEEDS("avx", vmovdqu_ymm),
		NEEDS("avx", vmovups_ymm),
		NEEDS("avx", vmovntdq_ymm),
		NEEDS("avx512f", vmovdqu64_zmm),
		NEEDS("avx512f", vmovdqu64_zmm29),
		NEEDS("avx512f", vmovntps_zmm16),
		NEEDS("avx512dq", vmov_masked),
		NEEDS("avx2", vextracti128),
		T(rep_movsq),
		T(rep_movsb),
		movdir ? (struct CMUnitTest)T(movdir64b) : (struct CMUnitTest)T(not_on_this_cpu),
		movdir ? (struct CMUnitTest)T(movdiri) : (struct CMUnitTest)T(not_on_this_cpu),
		NEEDS("avx512f", ymm_halves_above_zmm_are_right),
		NEEDS("avx512dq", a_masked_store_leaves_the_rest_alone),
		T(movs_downwards),
		T(string_registers_advance),
		T(movs_from_the_page_reads_zero),
		T(xchg),
		T(cq_doorbell),
		T(memcpy_of_a_wqe),
		T(other_qwords_do_not_ring),
		T(loads_read_zero),
		T(errno_and_flags_are_kept),
		NEEDS("avx512f", vector_registers_are_kept),
		T(code_that_changes_is_decoded_again),
		T(the_last_instruction_of_a_mapping),
		T(without_a_signal),
		T(two_mappings_of_one_uar_and_a_fixed_one),
		T(many_mappings_come_and_go),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
