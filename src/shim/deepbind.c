/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns libraries that the program loads past us. One that is loaded with RTLD_DEEPBIND finds libc's
 * functions before ours: its references to those that symbols.h lists are set right when dlopen()
 * returns. All its other symbols stay as the program wants them: plug-ins of MPI depend on that.
 * A namespace of dlmopen() has a libc of its own, where nothing can be done but say so.
 *
 * ld.so looks up names relative to the library that dlopen() returns to, so the wrappers jump.
 */
#include "shim/refused.h"
#include "shim/shim.h"
#include "shim/files/paths.h"
#include "shim/wrap.h"
#include "util/log.h"
#include "util/sys.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define OLD_MAX 2048 /* objects of a process; with more, nothing is set right */
#define NEW_MAX 256

/* What a wrapper's jump needs, in two registers. */
struct deep_way {
	void *next;
	void *handle; /* not NULL: the call is done */
};

/* Called by the assembler code of the wrappers. */
static __attribute__((used)) struct deep_way next_dlopen(const char *file, int flags,
							 uintptr_t caller);
static __attribute__((used)) void *next_dlmopen(long space, const char *file);

#if defined(__x86_64__)

struct range {
	uintptr_t from, to;
};

struct deep {
	const void *old[OLD_MAX]; /* program headers: one object, one address */
	size_t nold;
	struct range new[NEW_MAX];
	size_t nnew;
	void *to[SYM_COUNT]; /* NULL: leave this name alone */
	unsigned int set;
};

static struct range whole(const struct dl_phdr_info *o)
{
	struct range r = {UINTPTR_MAX, 0};

	for (size_t i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &o->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (o->dlpi_addr + ph->p_vaddr < r.from)
			r.from = o->dlpi_addr + ph->p_vaddr;
		if (o->dlpi_addr + ph->p_vaddr + ph->p_memsz > r.to)
			r.to = o->dlpi_addr + ph->p_vaddr + ph->p_memsz;
	}
	return r;
}

static bool is_in(const struct range *r, uintptr_t at)
{
	return at >= r->from && at < r->to;
}

static const ElfW(Phdr) * header(const struct dl_phdr_info *o, uint32_t type)
{
	for (size_t i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == type)
			return &o->dlpi_phdr[i];
	return NULL;
}

/* A value of the dynamic section; pointers are relocated there. 0: there is none. */
static uintptr_t entry(const struct dl_phdr_info *o, ElfW(Sxword) tag)
{
	const ElfW(Phdr) *ph = header(o, PT_DYNAMIC);
	const ElfW(Dyn) * d;

	for (d = ph ? (void *)(o->dlpi_addr + ph->p_vaddr) : NULL; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

static bool was_there(const struct deep *d, const struct dl_phdr_info *o)
{
	for (size_t i = 0; i < d->nold; i++)
		if (d->old[i] == o->dlpi_phdr)
			return true;
	return false;
}

static int note_old(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct deep *d = arg;

	if (d->nold == OLD_MAX)
		return 1;
	d->old[d->nold++] = o->dlpi_phdr;
	return 0;
}

static int note_new(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct deep *d = arg;

	if (was_there(d, o))
		return 0;
	if (d->nnew == NEW_MAX)
		return 1;
	d->new[d->nnew++] = whole(o);
	return 0;
}

/* Is this one of the new libraries' own? Then the program has put it before libc on purpose. */
static bool is_new(const struct deep *d, const void *function)
{
	for (size_t i = 0; i < d->nnew; i++)
		if (is_in(&d->new[i], (uintptr_t)function))
			return true;
	return false;
}

/* To what every library that is loaded without the flag is bound. */
static void choose(struct deep *d, void *handle)
{
	for (int i = 0; i < SYM_COUNT; i++) {
		const void *now = dlsym(handle, shim_syms[i].name);

		d->to[i] = now && !is_new(d, now) ? dlsym(RTLD_DEFAULT, shim_syms[i].name) : NULL;
	}
	dlerror(); /* names that this libc does not have */
}

static void *wanted(const struct deep *d, const char *name)
{
	for (int i = 0; i < SYM_COUNT; i++)
		if (*name == *shim_syms[i].name && !strcmp(name, shim_syms[i].name))
			return d->to[i];
	return NULL;
}

static void set_right(struct deep *d, const struct dl_phdr_info *o, const ElfW(Rela) * r, size_t n)
{
	const ElfW(Sym) *symbols = (void *)entry(o, DT_SYMTAB);
	const char *names = (void *)entry(o, DT_STRTAB);

	for (; n-- > 0; r++) {
		const ElfW(Sym) *s = &symbols[ELF64_R_SYM(r->r_info)];
		uint64_t type = ELF64_R_TYPE(r->r_info);
		void *to;

		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
		     type != R_X86_64_64) ||
		    s->st_shndx != SHN_UNDEF)
			continue;
		to = wanted(d, names + s->st_name);
		if (!to)
			continue;
		*(uintptr_t *)(o->dlpi_addr + r->r_offset) =
			(uintptr_t)to + (type == R_X86_64_64 ? (uintptr_t)r->r_addend : 0);
		d->set++;
	}
}

/* In the loader's lock: no object goes meanwhile. */
static int set_object_right(struct dl_phdr_info *o, size_t size, void *arg)
{
	const ElfW(Phdr) *relro = header(o, PT_GNU_RELRO);
	uintptr_t from = 0, to = 0;

	if (was_there(arg, o))
		return 0;
	if (relro) {
		from = (o->dlpi_addr + relro->p_vaddr) & ~4095ul;
		to = (o->dlpi_addr + relro->p_vaddr + relro->p_memsz) & ~4095ul;
	}
	if (from < to && sys_call(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE) < 0)
		return 0;
	set_right(arg, o, (void *)entry(o, DT_RELA), entry(o, DT_RELASZ) / sizeof(ElfW(Rela)));
	set_right(arg, o, (void *)entry(o, DT_JMPREL), entry(o, DT_PLTRELSZ) / sizeof(ElfW(Rela)));
	if (from < to)
		sys_call(SYS_mprotect, from, to - from, PROT_READ);
	return 0;
}

struct caller {
	uintptr_t at;
	bool has_paths;
};

static int look_at_caller(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct caller *c = arg;
	struct range r = whole(o);

	if (!is_in(&r, c->at))
		return 0;
	c->has_paths = entry(o, DT_RUNPATH) || entry(o, DT_RPATH);
	return 1;
}

/* Does ld.so find another file if we call it, instead of the program? */
static bool depends_on_caller(const char *file, uintptr_t at)
{
	struct caller c = {.at = at, .has_paths = true};

	if (strchr(file, '$'))
		return true;
	if (strchr(file, '/'))
		return false;
	dl_iterate_phdr(look_at_caller, &c);
	return c.has_paths;
}

WRAP(__attribute__((naked)) void *, dlopen, (const char *file, int flags))
{
	__asm__("push %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"
		"push %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"
		"mov 16(%rsp), %rdx\n\t"
		"sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
		"call next_dlopen\n\t"
		"add $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\t"
		"pop %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"
		"pop %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"
		"test %rdx, %rdx\n\t"
		"jnz 1f\n\t"
		"jmp *%rax\n"
		"1:\tmov %rdx, %rax\n\t"
		"ret");
}

WRAP(__attribute__((naked)) void *, dlmopen, (long space, const char *file, int flags))
{
	__asm__("push %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"
		"push %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"
		"push %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"
		"call next_dlmopen\n\t"
		"pop %rdx\n\t.cfi_adjust_cfa_offset -8\n\t"
		"pop %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"
		"pop %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"
		"jmp *%rax");
}

/* NULL: the program's own call says why, or loads it past us. Not part of its caller's frame. */
static __attribute__((noinline)) void *next_dlopen_deep(const char *file, int flags,
							uintptr_t caller)
{
	struct deep d = {.nold = 0};
	void *handle;

	if (depends_on_caller(file, caller) || dl_iterate_phdr(note_old, &d)) {
		TRACE(LOG_SHIM, "dlopen %s, RTLD_DEEPBIND: it sees no adapter", file);
		return NULL;
	}
	handle = NEXT(dlopen)(file, flags);
	if (!handle)
		return NULL;
	dl_iterate_phdr(note_new, &d);
	choose(&d, handle);
	dl_iterate_phdr(set_object_right, &d);
	TRACE(LOG_SHIM, "dlopen %s, RTLD_DEEPBIND: %u references of %u libraries set right", file,
	      d.set, (unsigned int)d.nnew);
	return handle;
}

static struct deep_way next_dlopen(const char *file, int flags, uintptr_t caller)
{
	struct deep_way w = {shim_next(SYM_dlopen), NULL};

	if ((flags & RTLD_DEEPBIND) && !(flags & RTLD_NOLOAD) && file && shim_on())
		w.handle = next_dlopen_deep(file, flags, caller);
	return w;
}

#else

WRAP(void *, dlopen, (const char *file, int flags))
{
	return NEXT(dlopen)(file, flags);
}

WRAP(void *, dlmopen, (long space, const char *file, int flags))
{
	return ((__typeof__(&wrap_dlmopen))next_dlmopen(space, file))(space, file, flags);
}

#endif

static void *next_dlmopen(long space, const char *file)
{
	if (space != LM_ID_BASE && shim_on())
		refused_namespace(file);
	return shim_next(SYM_dlmopen);
}
