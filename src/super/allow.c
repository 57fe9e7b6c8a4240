/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the access control lists (acl(5)) of a fabric that other users may use, as the kernel takes
 * them: without libacl. The list of the fabric's directory is what keeps all others out.
 */
#include "super/allow.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "subnet/subnet.h"
#include "super/program.h"
#include "super/runtime.h"
#include "util/bits.h"

#define ACCESS "system.posix_acl_access"
#define DEFAULT "system.posix_acl_default"
#define SEARCH ACL_EXECUTE
#define LOOK (ACL_READ | ACL_EXECUTE)
#define ALL (ACL_READ | ACL_WRITE | ACL_EXECUTE)
#define ENTRIES 128 /* longer lists are left alone */

/* In the order of the kernel's tags; numbers are the host's. */
struct acl {
	unsigned int n;
	struct posix_acl_xattr_entry e[ENTRIES];
};

/* The kernel's form of a list. */
struct raw {
	struct posix_acl_xattr_header head;
	struct posix_acl_xattr_entry e[ENTRIES];
};

static struct posix_acl_xattr_entry *find(struct acl *a, uint16_t tag, uint32_t id)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (a->e[i].e_tag == tag && (tag != ACL_USER || a->e[i].e_id == id))
			return &a->e[i];
	return NULL;
}

/* Puts an entry behind those with the same or a lower tag. */
static int put(struct acl *a, uint16_t tag, uint16_t perm, uint32_t id)
{
	unsigned int at = 0;

	if (a->n == ENTRIES)
		return -E2BIG;
	while (at < a->n && a->e[at].e_tag <= tag)
		at++;
	memmove(&a->e[at + 1], &a->e[at], (a->n - at) * sizeof(a->e[0]));
	a->e[at] = (struct posix_acl_xattr_entry){tag, perm, id};
	a->n++;
	return 0;
}

/* The list that the mode bits stand for. */
static void of_modes(struct acl *a, uint16_t user, uint16_t group, uint16_t other)
{
	a->n = 0;
	put(a, ACL_USER_OBJ, user, ACL_UNDEFINED_ID);
	put(a, ACL_GROUP_OBJ, group, ACL_UNDEFINED_ID);
	put(a, ACL_OTHER, other, ACL_UNDEFINED_ID);
}

static int get(const char *path, const struct stat *st, struct acl *a)
{
	struct raw raw;
	ssize_t n = getxattr(path, ACCESS, &raw, sizeof(raw));

	of_modes(a, st->st_mode >> 6 & 7, st->st_mode >> 3 & 7, st->st_mode & 7);
	if (n < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
	a->n = 0;
	for (size_t i = 0; sizeof(raw.head) + (i + 1) * sizeof(raw.e[0]) <= (size_t)n; i++)
		a->e[a->n++] = (struct posix_acl_xattr_entry){
			le16toh(raw.e[i].e_tag), le16toh(raw.e[i].e_perm), le32toh(raw.e[i].e_id)};
	return 0;
}

static int set(int fd, const char *name, const struct acl *a)
{
	struct raw raw = {.head.a_version = htole32(POSIX_ACL_XATTR_VERSION)};

	for (unsigned int i = 0; i < a->n; i++)
		raw.e[i] = (struct posix_acl_xattr_entry){
			htole16(a->e[i].e_tag), htole16(a->e[i].e_perm), htole32(a->e[i].e_id)};
	return fsetxattr(fd, name, &raw, sizeof(raw.head) + a->n * sizeof(raw.e[0]), 0) < 0 ? -errno
											    : 0;
}

/* Gives a user these rights, and nobody else any that he did not have. */
static int add(struct acl *a, uint32_t uid, uint16_t perm)
{
	struct posix_acl_xattr_entry *mask = find(a, ACL_MASK, 0), *e;
	uint16_t was = mask ? mask->e_perm : find(a, ACL_GROUP_OBJ, 0)->e_perm;
	int r = 0;

	for (unsigned int i = 0; i < a->n; i++) {
		e = &a->e[i];
		if (e->e_tag == ACL_USER || e->e_tag == ACL_GROUP_OBJ || e->e_tag == ACL_GROUP)
			e->e_perm &= was;
	}
	if (mask)
		mask->e_perm |= perm;
	else
		r = put(a, ACL_MASK, was | perm, ACL_UNDEFINED_ID);
	e = find(a, ACL_USER, uid);
	if (e)
		e->e_perm |= perm;
	return r || e ? r : put(a, ACL_USER, perm, uid);
}

static bool in_list(const uint32_t *list, uint32_t n, uint32_t uid)
{
	while (n)
		if (list[--n] == uid)
			return true;
	return false;
}

bool allow_has(const struct fab_options *o, uint32_t uid)
{
	return uid == geteuid() || in_list(o->allow_uid, o->nallow_uids, uid);
}

/* May that user search a folder? True also if one of its groups may, which may not be his. */
static bool may_search(const char *path, uint32_t uid)
{
	struct posix_acl_xattr_entry *e;
	uint16_t mask = ALL;
	struct acl a;
	struct stat st;

	if (!uid || stat(path, &st) < 0 || get(path, &st, &a) < 0)
		return true;
	if (st.st_uid == uid)
		return st.st_mode & S_IXUSR;
	e = find(&a, ACL_MASK, 0);
	mask = e ? e->e_perm : mask;
	e = find(&a, ACL_USER, uid);
	if (e)
		return e->e_perm & mask & SEARCH;
	for (unsigned int i = 0; i < a.n; i++)
		if ((a.e[i].e_tag == ACL_GROUP_OBJ || a.e[i].e_tag == ACL_GROUP) &&
		    (a.e[i].e_perm & mask & SEARCH))
			return true;
	return st.st_mode & S_IXOTH;
}

static int say(const char *path, int r)
{
	if (r == -EOPNOTSUPP)
		return prog_fail("--allow-uid: the file system of %s has no access control lists "
				 "(SOFTHCA_RUNTIME_DIR names another place)",
				 path);
	if (r == -EINVAL)
		return prog_fail("--allow-uid: this user namespace does not have one of the uids");
	return prog_fail("--allow-uid: cannot set the access control list of %s: %s", path,
			 prog_why(-r));
}

/* The folders on the path to the fabric's. We only give rights to a folder that is ours. */
static int open_way(const struct runtime *rt, uint32_t uid)
{
	char path[sizeof(rt->path)];
	struct stat st;
	struct acl a;
	int r;

	if (rt->ours && !may_search(rt->path, uid)) {
		r = fstat(rt->fd, &st) < 0 ? -errno : get(rt->path, &st, &a);
		if (!r)
			r = add(&a, uid, SEARCH);
		if (!r)
			r = set(rt->fd, ACCESS, &a);
		if (r)
			return say(rt->path, r);
	}
	for (size_t i = 0, len = strlen(rt->path); i <= len; i++) {
		if (i && i < len && rt->path[i] != '/')
			continue;
		memcpy(path, rt->path, len + 1);
		path[i ? i : 1] = '\0';
		if (!may_search(path, uid))
			return prog_fail("--allow-uid: uid %u may not search %s, where the "
					 "fabric's files are (setfacl -m u:%u:x %s, or "
					 "SOFTHCA_RUNTIME_DIR names another place)",
					 uid, path, uid, path);
	}
	return 0;
}

int allow_folder(const struct fab_options *o, const struct runtime *rt, const char *name, int dir)
{
	char path[sizeof(rt->path) + PROG_NAME_MAX + 2];
	struct acl now, later;
	int r = 0;

	if (!o->nallow_uids)
		return 0;
	of_modes(&now, ALL, 0, 0);
	/* The directory itself keeps others out: in it, files have the modes that others see. */
	of_modes(&later, ALL, 0, LOOK);
	/* An allowed user's process makes files, too. */
	r = add(&later, geteuid(), ALL);
	for (uint32_t i = 0; i < o->nallow_uids && !r; i++) {
		r = open_way(rt, o->allow_uid[i]);
		if (r > 0)
			return r;
		r = add(&now, o->allow_uid[i], LOOK);
		if (!r)
			r = add(&later, o->allow_uid[i], ALL);
	}
	if (!r)
		r = set(dir, DEFAULT, &later);
	if (!r)
		r = set(dir, ACCESS, &now);
	snprintf(path, sizeof(path), "%s/%s", rt->path, name);
	return r ? say(path, r) : 0;
}
