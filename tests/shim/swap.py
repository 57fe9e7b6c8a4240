#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the source of a library that somebody else might preload: it implements names that libc has
by other names that libc has, as libfakeroot does for the old and new names of stat().

    swap.py new > new.c     the newer names by the older ones
    swap.py old > old.c     the older names by the newer ones

Each row: a name with its parameters, and what it does. A name that a row uses is called as any
program would, through whatever is preloaded. Numbers: x86-64's.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

NEW = '''
stat(p, s) = __xstat(1, p, s)
stat64(p, s) = __xstat64(1, p, s)
lstat(p, s) = __lxstat(1, p, s)
lstat64(p, s) = __lxstat64(1, p, s)
fstat(fd, s) = __fxstat(1, fd, s)
fstat64(fd, s) = __fxstat64(1, fd, s)
fstatat(d, p, s, f) = __fxstatat(1, d, p, s, f)
fstatat64(d, p, s, f) = __fxstatat64(1, d, p, s, f)
open64(p, f, m) = open(p, f, m)
openat64(d, p, f, m) = openat(d, p, f, m)
openat(d, p, f, m) = (int)d == AT_FDCWD ? open(p, f, m) : syscall(SYS_openat, d, p, f, m)
open(p, f, m) = syscall(SYS_open, p, f, m)
__open_2(p, f) = open(p, f, 0)
__open64_2(p, f) = open64(p, f, 0)
__openat_2(d, p, f) = openat(d, p, f, 0)
__openat64_2(d, p, f) = openat64(d, p, f, 0)
creat(p, m) = open(p, O_CREAT | O_WRONLY | O_TRUNC, m)
creat64(p, m) = creat(p, m)
fopen64(p, m) = fopen(p, m)
freopen64(p, m, f) = freopen(p, m, f)
euidaccess(p, m) = eaccess(p, m)
faccessat(d, p, m, f) = (int)d == AT_FDCWD && !(int)f ? access(p, m) : syscall(SYS_faccessat2, d, p, m, f)
statfs64(p, s) = statfs(p, s)
statvfs64(p, s) = statvfs(p, s)
readlink(p, b, n) = __readlink_chk(p, b, n, n)
readlinkat(d, p, b, n) = __readlinkat_chk(d, p, b, n, n)
realpath(p, r) = __realpath_chk(p, r, -1)
canonicalize_file_name(p) = realpath(p, 0)
getcwd(b, n) = __getcwd_chk(b, n, n)
get_current_dir_name() = getcwd(0, 0)
readdir64(d) = readdir(d)
readdir64_r(d, e, o) = readdir_r(d, e, o)
scandir64(p, l, f, c) = scandir(p, l, f, c)
scandirat64(d, p, l, f, c) = scandirat(d, p, l, f, c)
glob64(p, f, e, g) = glob(p, f, e, g)
nftw64(p, f, n, o) = nftw(p, f, n, o)
ftw64(p, f, n) = ftw(p, f, n)
fts64_open(p, o, c) = fts_open(p, o, c)
fts64_read(f) = fts_read(f)
fts64_children(f, o) = fts_children(f, o)
getdents64(fd, b, n) = syscall(SYS_getdents64, (int)fd, b, n)
close(fd) = syscall(SYS_close, (int)fd)
close_range(a, b, f) = syscall(SYS_close_range, (unsigned int)a, (unsigned int)b, f)
dup(a) = syscall(SYS_dup, (int)a)
dup2(a, b) = syscall(SYS_dup2, (int)a, (int)b)
dup3(a, b, f) = syscall(SYS_dup3, (int)a, (int)b, (int)f)
fcntl64(fd, c, a) = fcntl(fd, c, a)
fcntl(fd, c, a) = syscall(SYS_fcntl, (int)fd, (int)c, a)
ioctl(fd, c, a) = syscall(SYS_ioctl, (int)fd, c, a)
read(fd, b, n) = syscall(SYS_read, (int)fd, b, n)
readv(fd, v, n) = syscall(SYS_readv, (int)fd, v, (int)n)
__read_chk(fd, b, n, r) = CHK(n, r), read(fd, b, n)
pread64(fd, b, n, o) = pread(fd, b, n, o)
__pread_chk(fd, b, n, o, r) = CHK(n, r), pread(fd, b, n, o)
__pread64_chk(fd, b, n, o, r) = CHK(n, r), pread64(fd, b, n, o)
preadv64(fd, v, n, o) = preadv(fd, v, n, o)
preadv64v2(fd, v, n, o, f) = preadv2(fd, v, n, o, f)
write(fd, b, n) = syscall(SYS_write, (int)fd, b, n)
writev(fd, v, n) = syscall(SYS_writev, (int)fd, v, (int)n)
pwrite64(fd, b, n, o) = pwrite(fd, b, n, o)
pwritev64(fd, v, n, o) = pwritev(fd, v, n, o)
pwritev64v2(fd, v, n, o, f) = pwritev2(fd, v, n, o, f)
lseek64(fd, o, w) = lseek(fd, o, w)
sendfile64(o, i, p, n) = sendfile(o, i, p, n)
__poll_chk(f, n, t, r) = poll(f, n, t)
__ppoll_chk(f, n, t, m, r) = ppoll(f, n, t, m)
mmap64(a, n, p, f, fd, o) = mmap(a, n, p, f, fd, o)
mmap(a, n, p, f, fd, o) = syscall(SYS_mmap, a, n, (int)p, (int)f, (int)fd, o)
munmap(a, n) = syscall(SYS_munmap, a, n)
mremap(a, o, n, f, t) = syscall(SYS_mremap, a, o, n, (int)f, t)
process_vm_readv(p, l, n, r, m, f) = syscall(SYS_process_vm_readv, (int)p, l, n, r, m, f)
process_vm_writev(p, l, n, r, m, f) = syscall(SYS_process_vm_writev, (int)p, l, n, r, m, f)
execv(p, a) = execve(p, a, environ)
execvp(p, a) = execvpe(p, a, environ)
execve(p, a, e) = syscall(SYS_execve, p, a, e)
execveat(d, p, a, e, f) = syscall(SYS_execveat, (int)d, p, a, e, (int)f)
execl(...) = execv(path, list)
execlp(...) = execvp(path, list)
execle(...) = execve(path, list, envp)
__sigaction(s, n, o) = sigaction(s, n, o)
bsd_signal(s, h) = signal(s, h)
ssignal(s, h) = signal(s, h)
__sysv_signal(s, h) = sysv_signal(s, h)
pthread_sigmask(h, s, o) = sigprocmask(h, s, o) ? errno : 0
epoll_ctl(e, o, fd, v) = syscall(SYS_epoll_ctl, (int)e, (int)o, (int)fd, v)
sigaltstack(n, o) = syscall(SYS_sigaltstack, n, o)
send(fd, b, n, f) = sendto(fd, b, n, f, 0, 0)
sendto(fd, b, n, f, a, l) = syscall(SYS_sendto, (int)fd, b, n, (int)f, a, (unsigned int)l)
recv(fd, b, n, f) = recvfrom(fd, b, n, f, 0, 0)
recvfrom(fd, b, n, f, a, l) = syscall(SYS_recvfrom, (int)fd, b, n, (int)f, a, l)
__recv_chk(fd, b, n, r, f) = CHK(n, r), recv(fd, b, n, f)
__recvfrom_chk(fd, b, n, r, f, a, l) = CHK(n, r), recvfrom(fd, b, n, f, a, l)
accept(fd, a, l) = accept4(fd, a, l, 0)
bind(fd, a, l) = syscall(SYS_bind, (int)fd, a, (unsigned int)l)
connect(fd, a, l) = syscall(SYS_connect, (int)fd, a, (unsigned int)l)
madvise(a, n, w) = syscall(SYS_madvise, a, n, (int)w)
mprotect(a, n, p) = syscall(SYS_mprotect, a, n, (int)p)
mlock(a, n) = syscall(SYS_mlock, a, n)
munlock(a, n) = syscall(SYS_munlock, a, n)
mlock2(a, n, f) = syscall(SYS_mlock2, a, n, (unsigned int)f)
mlockall(f) = syscall(SYS_mlockall, (int)f)
prctl(o, a, b, c, d) = syscall(SYS_prctl, (int)o, a, b, c, d)
pkey_mprotect(a, n, p, k) = syscall(SYS_pkey_mprotect, a, n, (int)p, (int)k)
remap_file_pages(a, n, p, o, f) = syscall(SYS_remap_file_pages, a, n, (int)p, o, (int)f)
posix_madvise(a, n, w) = (int)w == 4 ? 0 : syscall(SYS_madvise, a, n, (int)w) ? errno : 0
__fread_chk(b, r, s, n, f) = fread(b, s, n, f)
__fread_unlocked_chk(b, r, s, n, f) = fread_unlocked(b, s, n, f)
getsockname(fd, a, l) = syscall(SYS_getsockname, (int)fd, a, l)
getpeername(fd, a, l) = syscall(SYS_getpeername, (int)fd, a, l)
getsockopt(fd, l, n, v, s) = syscall(SYS_getsockopt, (int)fd, (int)l, (int)n, v, s)
setsockopt(fd, l, n, v, s) = syscall(SYS_setsockopt, (int)fd, (int)l, (int)n, v, (unsigned int)s)
listen(fd, n) = syscall(SYS_listen, (int)fd, (int)n)
shutdown(fd, h) = syscall(SYS_shutdown, (int)fd, (int)h)
'''

OLD = '''
__xstat(v, p, s) = OLD_VERSION(v) ? -1 : stat(p, s)
__xstat64(v, p, s) = OLD_VERSION(v) ? -1 : stat64(p, s)
__lxstat(v, p, s) = OLD_VERSION(v) ? -1 : lstat(p, s)
__lxstat64(v, p, s) = OLD_VERSION(v) ? -1 : lstat64(p, s)
__fxstat(v, fd, s) = OLD_VERSION(v) ? -1 : fstat(fd, s)
__fxstat64(v, fd, s) = OLD_VERSION(v) ? -1 : fstat64(fd, s)
__fxstatat(v, d, p, s, f) = OLD_VERSION(v) ? -1 : fstatat(d, p, s, f)
__fxstatat64(v, d, p, s, f) = OLD_VERSION(v) ? -1 : fstatat64(d, p, s, f)
stat(p, s) = stat64(p, s)
lstat(p, s) = lstat64(p, s)
fstat(fd, s) = fstat64(fd, s)
stat64(p, s) = fstatat64(AT_FDCWD, p, s, 0)
lstat64(p, s) = fstatat64(AT_FDCWD, p, s, AT_SYMLINK_NOFOLLOW)
fstat64(fd, s) = (int)fd < 0 ? (errno = EBADF, -1) : fstatat64(fd, "", s, AT_EMPTY_PATH)
fstatat(d, p, s, f) = fstatat64(d, p, s, f)
open(p, f, m) = open64(p, f, m)
open64(p, f, m) = openat64(AT_FDCWD, p, f, m)
openat(d, p, f, m) = openat64(d, p, f, m)
__open_2(p, f) = __open64_2(p, f)
__open64_2(p, f) = __openat64_2(AT_FDCWD, p, f)
__openat_2(d, p, f) = __openat64_2(d, p, f)
creat(p, m) = creat64(p, m)
creat64(p, m) = openat64(AT_FDCWD, p, O_CREAT | O_WRONLY | O_TRUNC, m)
fopen(p, m) = fopen64(p, m)
freopen(p, m, f) = freopen64(p, m, f)
access(p, m) = faccessat(AT_FDCWD, p, m, 0)
eaccess(p, m) = faccessat(AT_FDCWD, p, m, AT_EACCESS)
euidaccess(p, m) = faccessat(AT_FDCWD, p, m, AT_EACCESS)
statfs(p, s) = statfs64(p, s)
statvfs(p, s) = statvfs64(p, s)
__readlink_chk(p, b, n, r) = CHK(n, r), readlink(p, b, n)
__readlinkat_chk(d, p, b, n, r) = CHK(n, r), readlinkat(d, p, b, n)
readlink(p, b, n) = readlinkat(AT_FDCWD, p, b, n)
__realpath_chk(p, b, r) = CHK(4096, r), realpath(p, b)
__getcwd_chk(b, n, r) = CHK(n, r), getcwd(b, n)
readdir(d) = readdir64(d)
readdir_r(d, e, o) = readdir64_r(d, e, o)
scandir(p, l, f, c) = scandir64(p, l, f, c)
scandir64(p, l, f, c) = scandirat64(AT_FDCWD, p, l, f, c)
scandirat(d, p, l, f, c) = scandirat64(d, p, l, f, c)
glob(p, f, e, g) = glob64(p, f, e, g)
nftw(p, f, n, o) = nftw64(p, f, n, o)
ftw(p, f, n) = ftw64(p, f, n)
fts_open(p, o, c) = fts64_open(p, o, c)
fts_read(f) = fts64_read(f)
fts_children(f, o) = fts64_children(f, o)
close(fd) = (int)fcntl64(fd, F_GETFD, 0) == -1 ? -1 : close_range(fd, fd, 0)
closefrom(a) = close_range((int)a < 0 ? 0 : a, -1, 0)
dup(a) = fcntl64(a, F_DUPFD, 0)
dup2(a, b) = (int)a == (int)b ? ((int)fcntl64(a, F_GETFD, 0) == -1 ? -1 : b) : dup3(a, b, 0)
fcntl(fd, c, a) = fcntl64(fd, c, a)
read(fd, b, n) = __read_chk(fd, b, n, n)
pread(fd, b, n, o) = pread64(fd, b, n, o)
pread64(fd, b, n, o) = __pread64_chk(fd, b, n, o, n)
__pread_chk(fd, b, n, o, r) = __pread64_chk(fd, b, n, o, r)
preadv(fd, v, n, o) = preadv64(fd, v, n, o)
preadv2(fd, v, n, o, f) = preadv64v2(fd, v, n, o, f)
readv(fd, v, n) = preadv64v2(fd, v, n, -1, 0)
writev(fd, v, n) = pwritev64v2(fd, v, n, -1, 0)
pwrite(fd, b, n, o) = pwrite64(fd, b, n, o)
pwritev(fd, v, n, o) = pwritev64(fd, v, n, o)
pwritev2(fd, v, n, o, f) = pwritev64v2(fd, v, n, o, f)
lseek(fd, o, w) = lseek64(fd, o, w)
sendfile(o, i, p, n) = sendfile64(o, i, p, n)
recv(fd, b, n, f) = __recv_chk(fd, b, n, n, f)
recvfrom(fd, b, n, f, a, l) = __recvfrom_chk(fd, b, n, n, f, a, l)
recvmsg(fd, m, f) = recv_one(fd, m, f)
sendmsg(fd, m, f) = send_one(fd, m, f)
poll(f, n, t) = __poll_chk(f, n, t, -1)
ppoll(f, n, t, m) = __ppoll_chk(f, n, t, m, -1)
mmap(a, n, p, f, fd, o) = mmap64(a, n, p, f, fd, o)
execv(p, a) = exec_list(p, a)
execvp(p, a) = execp_list(p, a)
execve(p, a, e) = execveat(AT_FDCWD, p, a, e, 0)
sigaction(s, n, o) = __sigaction(s, n, o)
signal(s, h) = bsd_signal(s, h)
ssignal(s, h) = bsd_signal(s, h)
sysv_signal(s, h) = __sysv_signal(s, h)
sigprocmask(h, s, o) = (errno = pthread_sigmask(h, s, o)) ? -1 : 0
'''

# Names that are no other name's work.
ALONE = '''getxattr lgetxattr listxattr llistxattr statx pathconf name_to_handle_at inotify_add_watch
chdir posix_spawn_file_actions_addopen posix_spawn_file_actions_adddup2 posix_spawn posix_spawnp opendir
closedir fclose splice tee vmsplice copy_file_range flock recvmmsg sendmmsg socket select syscall
execvpe fexecve execle siginterrupt sigset sigignore sighold sigrelse sigblock sigsetmask sigpending
sigsuspend pselect epoll_pwait epoll_pwait2 pthread_attr_setsigmask_np pthread_attr_getsigmask_np
pthread_setcanceltype pthread_exit dlopen dlmopen
_Fork brk sbrk fread fread_unlocked fwrite fwrite_unlocked
getifaddrs freeifaddrs if_nametoindex if_indextoname if_nameindex setsockopt
getaddrinfo getnameinfo'''.split()

# All arguments and results travel as one machine word; what there is too much of is not looked at.
HEAD = '''#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
typedef long word;
#define OLD_VERSION(v) ((unsigned int)(v) > 1 ? (errno = EINVAL) : 0)
void __chk_fail(void) __attribute__((noreturn));
#define CHK(n, r) ((unsigned long)(n) > (unsigned long)(r) ? __chk_fail() : (void)0)
'''

HELPERS = '''
static inline word recv_one(word fd, word m, word f)
{
	struct mmsghdr v = {.msg_hdr = *(struct msghdr *)m};
	word r = (int)pub_recvmmsg(fd, (word)&v, 1, f, 0);

	*(struct msghdr *)m = v.msg_hdr;
	return r == 1 ? (word)v.msg_len : -1;
}
static inline word send_one(word fd, word m, word f)
{
	struct mmsghdr v = {.msg_hdr = *(struct msghdr *)m};

	return (int)pub_sendmmsg(fd, (word)&v, 1, f, 0) == 1 ? (word)v.msg_len : -1;
}
#define TEN(a, i) a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8], a[i + 9]
static inline word list_call(word p, char **a, int (*next)(const char *, const char *, ...),
			     word (*vector)(word, word, word))
{
	char *w[30] = {0};
	int n = 0;

	while (a[n])
		n++;
	if (n > 29)
		return vector(p, (word)a, (word)environ);
	memcpy(w, a, (unsigned int)n * sizeof(*w));
	return next((char *)p, TEN(w, 0), TEN(w, 10), TEN(w, 20), (char *)0);
}
static inline word pub3_execve(word a, word b, word c)
{
	return pub_execve(a, b, c);
}
static inline word pub3_execvpe(word a, word b, word c)
{
	return pub_execvpe(a, b, c);
}
int list_execl(const char *, const char *, ...) __asm__("execl");
int list_execlp(const char *, const char *, ...) __asm__("execlp");
static inline word exec_list(word p, word a)
{
	return list_call(p, (char **)a, list_execl, pub3_execve);
}
static inline word execp_list(word p, word a)
{
	return list_call(p, (char **)a, list_execlp, pub3_execvpe);
}
'''

LIST = '''int sw_%(name)s(const char *p, const char *a, ...) __asm__("%(name)s");
int sw_%(name)s(const char *p, const char *a, ...)
{
	word path = (word)p, list, envp;
	char *v[64] = {(char *)a};
	va_list ap;

	va_start(ap, a);
	for (int i = 1; i < 64 && v[i - 1]; i++)
		v[i] = va_arg(ap, char *);
	envp = (word)va_arg(ap, char **);
	va_end(ap);
	list = (word)v;
	(void)envp;
	return (int)(%(body)s);
}
'''


def rows(text):
    return re.findall(r'^(\w+)\((.*?)\) = (.*)$', text, re.M)


def wrapped():
    with open(os.path.join(TOP, 'src/shim/symbols.h'), encoding='utf-8') as f:
        return re.findall(r'^SYM\((\w+),', f.read(), re.M)


def uses(body, names):
    return [w for w in re.findall(r'\b(\w+)\(', body) if w in names]


def check():
    """Every wrapped name is in a row, and a library of its own does not go round in circles."""
    names, seen = set(wrapped()), set(ALONE)
    for text in (NEW, OLD):
        graph = {n: uses(b, names) for n, _, b in rows(text)}
        seen |= set(graph) | {u for v in graph.values() for u in v}
        for start in graph:
            todo, been = list(graph[start]), set()
            while todo:
                n = todo.pop()
                if n == start:
                    sys.exit(start + ' is implemented by itself')
                if n not in been:
                    been.add(n)
                    todo += graph.get(n, [])
    if names - seen or set(ALONE) - names:
        sys.exit('no row: %s; not wrapped: %s' % (sorted(names - seen), sorted(set(ALONE) - names)))


def main():
    check()
    names = set(wrapped())
    out = [HEAD]
    for n in sorted(names):
        out.append(f'word pub_{n}() __asm__("{n}");')
    out.append(HELPERS)
    for name, params, body in rows(NEW if sys.argv[1] == 'new' else OLD):
        body = re.sub(r'\b(\w+)\(', lambda m: f'pub_{m.group(1)}(' if m.group(1) in names else m.group(0), body)
        # Every argument a whole word.
        body = re.sub(r'"(.*?)"', r'(word)"\1"', body).replace('environ', '(word)environ')
        body = re.sub(r'([(,] ?)(-?(?:AT_|O_|F_|SYS_)[A-Z0-9_a-z]*|-?\d+)(?=[,) ])', r'\1(word)\2', body)
        if params == '...':
            out.append(LIST % {'name': name, 'body': body})
            continue
        args = ', '.join('word ' + p for p in params.split(', ')) if params else 'void'
        out.append(f'__attribute__((visibility("default"))) word sw_{name}({args}) __asm__("{name}");\nword sw_{name}({args})\n{{\n\treturn {body};\n}}')
    print('\n'.join(out))


if __name__ == '__main__':
    main()
