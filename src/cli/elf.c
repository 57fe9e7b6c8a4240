/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks whether the library can be preloaded into the command that `run` starts. A program with
 * another word size, with another C library, without a dynamic loader or with privileges of its own
 * runs as usual, but sees no adapter, and gives no reason. Only the command itself is checked (and
 * the interpreter of a script), not programs that it starts.
 */
#include "cli/child.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "util/cleanup.h"

/* limit of scripts whose interpreter is a script: BINPRM_MAX_RECURSION of the kernel */
#define SCRIPTS_MAX 5
#define PHDRS_MAX 128

/* The relevant facts of an ELF file. */
struct program {
	uint8_t class;
	uint16_t machine;
	char interp[PATH_MAX]; /* PT_INTERP; "" without */
	bool loader;           /* without PT_INTERP, but not a static program: an ld.so */
};

static int read_at(int fd, void *buf, size_t n, uint64_t off)
{
	return pread(fd, buf, n, (off_t)off) == (ssize_t)n ? 0 : -1;
}

/* DF_1_PIE tells a static PIE from a shared object; a loader is a shared object. */
static bool is_pie(int fd, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn d;

	for (uint64_t at = 0; at + sizeof(d) <= dynamic->p_filesz; at += sizeof(d)) {
		if (read_at(fd, &d, sizeof(d), dynamic->p_offset + at) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_FLAGS_1)
			return d.d_un.d_val & DF_1_PIE;
	}
	return false;
}

/* -1: not an ELF file, or unreadable. */
static int read_program(int fd, struct program *p)
{
	Elf64_Ehdr h;
	Elf64_Phdr ph, dynamic = {0};

	memset(p, 0, sizeof(*p));
	if (read_at(fd, &h, sizeof(Elf32_Ehdr), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG))
		return -1;
	p->class = h.e_ident[EI_CLASS];
	p->machine = h.e_machine; /* this field has the same offset in 32-bit and 64-bit headers */
	if (p->class != ELFCLASS64)
		return 0;
	if (read_at(fd, &h, sizeof(h), 0) || h.e_phentsize != sizeof(ph) || h.e_phnum > PHDRS_MAX)
		return -1;
	for (uint32_t i = 0; i < h.e_phnum; i++) {
		if (read_at(fd, &ph, sizeof(ph), h.e_phoff + i * sizeof(ph)))
			return -1;
		if (ph.p_type == PT_INTERP && ph.p_filesz < sizeof(p->interp) &&
		    read_at(fd, p->interp, ph.p_filesz, ph.p_offset))
			return -1;
		if (ph.p_type == PT_DYNAMIC)
			dynamic = ph;
	}
	p->loader = h.e_type == ET_DYN && !p->interp[0] && !is_pie(fd, &dynamic);
	return 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The reason why the library cannot be preloaded; NULL: it can. `own` is this program. */
static const char *why_not(const struct program *p, const struct program *own)
{
	if (p->class == ELFCLASS32)
		return "is a 32-bit program";
	if (p->machine != own->machine)
		return "is a program for another machine";
	if (!p->interp[0])
		return p->loader ? NULL : "is linked statically";
	if (strcmp(last_part(p->interp), last_part(own->interp)) != 0)
		return "uses another C library";
	return NULL;
}

/* Finds the program as execvp() does. Returns a descriptor, or -1. */
static int open_command(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char full[PATH_MAX];

	if (strchr(name, '/'))
		return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (!path)
		path = "/bin:/usr/bin";
	for (;; path = end + 1) {
		struct stat st;
		int n;

		end = strchrnul(path, ':');
		n = snprintf(full, sizeof(full), "%.*s%s%s", (int)(end - path), path,
			     end > path ? "/" : "", name);
		if (n < (int)sizeof(full) && !access(full, X_OK) && !stat(full, &st) &&
		    S_ISREG(st.st_mode))
			return open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (!*end)
			return -1;
	}
}

/* For a script, "#!interpreter ...": puts the interpreter's name into *name. */
static bool is_script(int fd, char name[PATH_MAX])
{
	char line[256] = "", *p = line + 2, *end;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	p += strspn(p, " \t");
	end = p + strcspn(p, " \t\n");
	*end = '\0';
	snprintf(name, PATH_MAX, "%s", p);
	return *p == '/';
}

/* Does the kernel set AT_SECURE (bprm_creds_from_file())? Then the loader ignores LD_PRELOAD. */
static bool is_privileged(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	       ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid()) ||
	       (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

const char *child_why_not(const char *command, char name[PATH_MAX])
{
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = -1;
	struct program own, p;

	snprintf(name, PATH_MAX, "%s", command);
	if (self < 0 || read_program(self, &own))
		return NULL;
	fd = open_command(command);
	for (int i = 0; fd >= 0 && i < SCRIPTS_MAX && is_script(fd, name); i++) {
		close(fd);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (fd < 0)
		return NULL;
	if (is_privileged(fd))
		return "is set-user-ID, set-group-ID or has capabilities of its own";
	return read_program(fd, &p) ? NULL : why_not(&p, &own);
}
