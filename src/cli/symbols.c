/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the debugging information of the files that a report names. check.c uses it. */
#include "cli/symbols.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/cleanup.h"
#include "util/num.h"

#ifdef SOFTHCA_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

struct file {
	struct file *next;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: it cannot be read */
	char path[];
};

struct symbols {
	struct file *files;
};

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo,
					 .section_address = dwfl_offline_section_address};

struct symbols *symbols_create(void)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	return s;
}

void symbols_destroy(struct symbols *s)
{
	struct file *next;

	for (struct file *f = s ? s->files : NULL; f; f = next) {
		next = f->next;
		dwfl_end(f->dwfl);
		free(f);
	}
	free(s);
}

/* Addresses of the module are those of the file. */
static struct file *file_of(struct symbols *s, const char *path, size_t n)
{
	struct file *f;
	int fd;

	for (f = s->files; f; f = f->next)
		if (strlen(f->path) == n && !memcmp(f->path, path, n))
			return f;
	f = calloc(1, sizeof(*f) + n + 1);
	if (!f)
		abort();
	memcpy(f->path, path, n);
	f->next = s->files;
	s->files = f;
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	f->dwfl = fd < 0 ? NULL : dwfl_begin(&callbacks);
	if (f->dwfl)
		f->module = dwfl_report_elf(f->dwfl, "", f->path, fd, 0, true); /* takes fd */
	if (fd >= 0 && !f->module)
		close(fd);
	if (f->dwfl)
		dwfl_report_end(f->dwfl, NULL, NULL);
	return f;
}

/* The address of a place in the file; 0: it is not loaded. */
static uint64_t address(Dwfl_Module *m, uint64_t off)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(m, &bias);
	size_t n = 0;

	if (!elf || elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && off >= p.p_offset &&
		    off - p.p_offset < p.p_filesz)
			return off - p.p_offset + p.p_vaddr + bias;
	}
	return 0;
}

static void put_source(struct symbol *to, const char *file, int line)
{
	if (file)
		snprintf(to->source, sizeof(to->source), "%s:%d", file, line);
}

/* The file of a DIE's DW_AT_call_file. */
static const char *call_file(Dwarf_Die *cu, Dwarf_Die *die, int *line)
{
	Dwarf_Attribute attr;
	Dwarf_Word file, at;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &at) ||
	    dwarf_getsrcfiles(cu, &files, &n))
		return NULL;
	*line = (int)at;
	return dwarf_filesrc(files, file, NULL, NULL);
}

/* The functions around an address of a module, by its debugging information; 0: it has none. */
static size_t find_inlined(Dwfl_Module *m, uint64_t at, struct symbol *to, size_t max)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(m, at, &bias), *inner = NULL, *scopes = NULL;
	int n = cu ? dwarf_getscopes(cu, at - bias, &inner) : 0, line;
	const char *file;
	size_t found = 0;

	/* The scopes of an inlined function are those of its definition, those of its DIE are not.
	 */
	n = n > 0 ? dwarf_getscopes_die(inner, &scopes) : 0;
	for (int i = 0; i < n && found < max; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name = dwarf_diename(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		snprintf(to[found].function, sizeof(to->function), "%s", name ? name : "");
		if (++found == max || tag == DW_TAG_subprogram)
			break;
		file = call_file(cu, &scopes[i], &line);
		to[found] = (struct symbol){.module = to->module};
		put_source(&to[found], file, line);
	}
	free(inner);
	free(scopes);
	return found;
}

static size_t look_up(struct symbols *s, const char *path, size_t n, uint64_t off,
		      struct symbol *to, size_t max)
{
	struct file *f = file_of(s, path, n);
	uint64_t at = f->module ? address(f->module, off) : 0;
	const char *name = at ? dwfl_module_addrname(f->module, at - 1) : NULL;
	Dwfl_Line *line = at ? dwfl_module_getsrc(f->module, at - 1) : NULL;
	const char *source;
	int num = 0;

	if (!at)
		return 0;
	source = line ? dwfl_lineinfo(line, NULL, &num, NULL, NULL, NULL) : NULL;
	put_source(to, source, num);
	n = find_inlined(f->module, at - 1, to, max);
	if (!n && name)
		snprintf(to->function, sizeof(to->function), "%s", name);
	return n;
}
#else
struct symbols {
	char none;
};

struct symbols *symbols_create(void)
{
	static struct symbols s;

	return &s;
}

void symbols_destroy(struct symbols *s)
{
}

static size_t look_up(struct symbols *s, const char *path, size_t n, uint64_t off,
		      struct symbol *to, size_t max)
{
	return 0;
}
#endif

size_t symbols_find(struct symbols *s, const char *where, struct symbol *to, size_t max)
{
	const char *plus = strrchr(where, '+'), *slash = strrchr(where, '/');
	size_t n = 0;

	*to = (struct symbol){.module = slash ? slash + 1 : where};
	if (plus)
		n = look_up(s, where, (size_t)(plus - where), num_in_base(plus + 1, 16, NULL), to,
			    max);
	return n ? n : 1;
}
