#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of wrapped symbols against the library's exports and against what programs import.

What a function takes is asked of libc's own headers: every prototype with a parameter that is a path
or a descriptor is a candidate. Each candidate that one of the programs imports must have its row in
src/shim/symbols.h: SYM (wrapped) or NOWRAP (left alone, with the reason).
"""
import glob
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import swap  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('SOFTHCA_BUILD', os.path.join(TOP, 'build'))
LIBRARY = os.path.join(BUILD, 'src/shim/libsofthca.so')

LIBDIRS = ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/usr/lib64']
LIBRARIES = ['libibverbs.so.1', 'libmlx5.so.1', 'libibumad.so.3', 'libibmad.so.5', 'librdmacm.so.1',
             'libucp.so.0', 'libuct.so.0', 'libucs.so.0', 'libucm.so.0', 'ucx/libuct_ib.so.0',
             'libselinux.so.1', 'libnl-3.so.200', 'libnl-route-3.so.200', 'libopensm.so.9',
             'libosmvendor.so.5', 'libosmcomp.so.5', f'libpython3.{sys.version_info.minor}.so.1.0']
PROGRAMS = ['ib_send_lat', 'ib_send_bw', 'ib_write_lat', 'ib_write_bw', 'ib_read_bw', 'ib_atomic_bw',
            'ibv_devices', 'ibv_devinfo', 'ibv_rc_pingpong', 'ibv_asyncwatch', 'ibstat', 'ibping',
            'perfquery', 'opensm', 'ucx_info', 'ucx_perftest', os.path.basename(os.path.realpath(sys.executable)), 'ls', 'cat', 'bash', 'dash',
            'perl', 'find', 'readlink', 'realpath', 'stat', 'test', 'head', 'grep', 'sed', 'ip']

HEADERS = '''unistd.h fcntl.h stdio.h stdlib.h dirent.h glob.h ftw.h fts.h spawn.h poll.h utime.h mntent.h
termios.h pty.h utmp.h mqueue.h aio.h dlfcn.h sys/stat.h sys/statfs.h sys/statvfs.h sys/mman.h sys/uio.h
sys/ioctl.h sys/socket.h sys/epoll.h sys/eventfd.h sys/signalfd.h sys/timerfd.h sys/inotify.h
sys/fanotify.h sys/sendfile.h sys/file.h sys/xattr.h sys/select.h sys/time.h sys/mount.h sys/quota.h
sys/swap.h sys/shm.h sys/sem.h sys/msg.h sys/un.h sys/acct.h sys/pidfd.h'''.split()

MUSL = '/lib/ld-musl-x86_64.so.1'
# What the preloaded library may import.
ALLOWED = set('''_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __ctype_b_loc __cxa_finalize __environ
__errno_location __gmon_start__ __register_atfork __sanitizer_get_allocated_size backtrace clock_gettime dirfd dlclose dlerror dlopen dlsym
dl_iterate_phdr dlvsym environ fchmod fdopen fdopendir fileno free ftruncate64 getauxval getenv getrlimit64 gnu_get_libc_version linkat
malloc memchr memcmp memcpy memmove memset mkdirat prctl pthread_attr_destroy
pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize pthread_create pthread_mutex_destroy
pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock renameat sched_yield snprintf strchr
strcmp strcpy strcspn strerrordesc_np strerrorname_np strlen strncmp strncpy strnlen strpbrk strrchr
strspn strstr symlinkat sysconf unlinkat vsnprintf'''.split())

FD = re.compile(r'^int _*\w*fd(es|in|out|[0-9])?$')
PATH = re.compile(r'^const char \*(__restrict )?_*(file|path|filename|pathname|name|dir|dirname|from|to|'
                  r'old|new|oldpath|newpath|pattern|command_?file|node|special_file|root|linkpath)\d?$')
# Names of parameters whose words say "path" but which are none.
NO_PATH = {'getenv', 'secure_getenv', '__secure_getenv', 'setenv', 'unsetenv', 'sethostname',
           'setdomainname', 'gethostname', 'setlogin', 'shm_open', 'shm_unlink', 'memfd_create', 'dlopen',
           'getpt', 'mq_open', 'mq_unlink', 'sem_open', 'sem_unlink', 'strtol', 'dlsym', 'dlvsym'}
# No prototype in today's headers.
OLD = {'__xstat', '__xstat64', '__lxstat', '__lxstat64', '__fxstat', '__fxstat64', '__fxstatat',
       '__fxstatat64', '__xmknod', '__xmknodat', 'readdir64_r', '__read', '__write', '__open', '__close',
       '__open64', '__fcntl', '__pread64', '__pwrite64', '__lseek', '__dup2', '__select', '__poll',
       '__connect', '__send', 'canonicalize_file_name'}


def rows(macro):
    text = open(os.path.join(TOP, 'src/shim/symbols.h'), encoding='utf-8').read()
    out = []
    for m in re.finditer(r'^%s\((\w+), (.*?)\)$' % macro, text, re.M | re.S):
        out.append((m.group(1), m.group(2)))
    return out


def prototypes():
    """name -> parameters, from libc's headers with and without their fortified forms."""
    found = {}
    for flags in (['-O0'], ['-O2', '-D_FORTIFY_SOURCE=2'], ['-D_FILE_OFFSET_BITS=64']):
        src = ''.join(f'#if __has_include(<{h}>)\n#include <{h}>\n#endif\n' for h in HEADERS)
        out = subprocess.run(['gcc', '-E', '-P', '-D_GNU_SOURCE', *flags, '-xc', '-'], input=src,
                             errors='replace', capture_output=True, check=True).stdout
        out = re.sub(r'__attribute__ *\(\((?:[^()]|\([^()]*\))*\)\)', '', out)
        out = re.sub(r'\s+', ' ', out)
        out = out.replace(';', '; ;').replace('}', '} ;')
        for m in re.finditer(r'(?:^|[;}] ?)(?:extern )?[\w *]*?\b(\w+) ?\(((?:[^()]|\([^()]*\)(?:\([^()]*\))?)*)\)([^;{]*);',
                             out):
            name, params = m.group(1), m.group(2)
            alias = re.search(r'__asm__ *\( *"" *"(\w+)"', m.group(3))
            for n in {name, alias.group(1) if alias else name}:
                found.setdefault(n, set()).update(p.strip() for p in params.split(','))
    return found


def candidates():
    out = {}
    for name, params in prototypes().items():
        why = [p for p in params if FD.match(p) or (PATH.match(p) and name not in NO_PATH)]
        if why:
            out[name] = why
    for name in OLD:
        out[name] = ['no prototype any more']
    return out


def binaries():
    out = {}
    for lib in LIBRARIES:
        for d in LIBDIRS:
            if os.path.exists(os.path.join(d, lib)):
                out[lib] = os.path.join(d, lib)
    for prog in PROGRAMS:
        for d in ('/usr/bin', '/usr/sbin', '/bin', '/sbin'):
            if os.path.exists(os.path.join(d, prog)):
                out[prog] = os.path.join(d, prog)
    for so in glob.glob('/usr/lib/python3/dist-packages/pyverbs/**/*.so', recursive=True):
        out['pyverbs/' + os.path.basename(so)] = so
    return out


def nm(*args):
    out = subprocess.run(['nm', '-D', *args], errors='replace', capture_output=True).stdout
    return [line for line in out.splitlines() if line.split()]


def imports(path):
    return {line.split()[-1].split('@')[0] for line in nm('--undefined-only', path)}


class Symbols(unittest.TestCase):
    def test_every_name_once(self):
        names = [n for n, _ in rows('SYM')] + [n for n, _ in rows('NOWRAP')]
        self.assertEqual(sorted(n for n in set(names) if names.count(n) > 1), [])
        self.assertGreater(len(names), 100)

    def test_every_row_has_a_reason(self):
        for name, rest in rows('SYM'):
            self.assertRegex(rest, r'^(PATH|FD|DIR|MEM|EXEC|SIG|NET), "[^"]{4,}"$', name)
        for name, rest in rows('NOWRAP'):
            self.assertRegex(rest, r'^"[^"]{8,}"$', name)

    def test_every_wrapper_is_exercised(self):
        text = ''
        for f in (f for d in ('shim', 'trap', 'umad') for f in glob.glob(os.path.join(TOP, f'tests/{d}/*.c'))):
            text += open(f, encoding='utf-8').read()
        words = set(re.findall(r'\w+', text))
        self.assertEqual([n for n, _ in rows('SYM') if n not in words], [])

    def test_every_wrapper_can_be_swapped(self):
        """What only check-long builds from these rows."""
        swap.check()

    def test_exports_are_the_table(self):
        out = subprocess.run(['nm', '-D', '--defined-only', LIBRARY], errors='replace', capture_output=True,
                             check=True).stdout
        exports = {line.split()[-1] for line in out.splitlines()}
        self.assertEqual(exports, {n for n, _ in rows('SYM')})

    def test_library_needs_libc_only(self):
        out = subprocess.run(['readelf', '-d', LIBRARY], errors='replace', capture_output=True, check=True).stdout
        needed = set(re.findall(r'NEEDED.*\[(.*)\]', out))
        self.assertEqual({n.split('.so')[0] for n in needed}, {'libc'})

    def test_library_imports_what_is_listed(self):
        """Nothing that prints or ends the program. What is new here has to be looked at: may it be
        called in a trap, before other libraries are initialised, beside libraries that replace it?"""
        got = {re.sub(r'^__(\w+)_chk$', r'\1', s) for s in imports(LIBRARY)}
        self.assertEqual(sorted(got - ALLOWED), [])

    @unittest.skipUnless(os.path.exists(MUSL), 'no musl')
    def test_library_loads_under_musl(self):
        """Its loader ends a program in which a symbol is missing."""
        there = {line.split()[-1] for line in nm('--defined-only', MUSL)}
        # musl 1.2.4 and newer have these names in their loader alone, which looks for those without 64.
        there |= {s + '64' for s in there}
        weak = {line.split()[-1].split('@')[0] for line in nm('--undefined-only', LIBRARY) if ' w ' in line}
        self.assertEqual(sorted(imports(LIBRARY) - there - weak), [])

    def test_configuration_is_read_without_calls(self):
        """config.c: before anything else is initialised."""
        out = subprocess.run(['nm', '--undefined-only', os.path.join(BUILD, 'src/shim/libshim_config.a')],
                             errors='replace', capture_output=True, check=True).stdout
        self.assertEqual(set(re.findall(r'[Uw] (\w+)', out)) - {'_GLOBAL_OFFSET_TABLE_'},
                         {'environ', 'getauxval', 'gnu_get_libc_version'})

    def test_wrappers_forward_to_their_own_name(self):
        """See wrap.h: no NEXT() of another name, and no wrapper called by another."""
        wrong, seen = [], 0
        for f in sorted(glob.glob(os.path.join(TOP, 'src/shim/**/*.c'), recursive=True)):
            with open(f, encoding='utf-8') as source:
                text = re.sub(r'/\*.*?\*/', '', source.read(), flags=re.S)
            for chunk in re.split(r'\n(?=[#A-Za-z])', text):
                own = re.findall(r'WRAP\([^,]*,\s*(\w+)', chunk)[:1] + re.findall(r'\b(?:next|sleep)_(\w+)\(', chunk)[:1]
                called = {a or b for a, b in re.findall(r'NEXT\((\w+)\)|SYM_(\w+)\)', chunk)}
                seen += len(called)
                called -= set(own)
                if 'next_dlopen_deep(' in chunk:
                    called -= {'dlopen'}
                if chunk.startswith('static long forward('):
                    called -= {'syscall'}
                if chunk.startswith(('#define WRAP_EXECL(', '#define WRAP_EXECV(')):
                    called -= {'vector'} # longer lists than anybody makes of a vector, other environments
                if called or re.search(r'\bwrap_\w+\(', chunk.split('{', 1)[-1]):
                    wrong.append((os.path.basename(f), chunk[:200], sorted(called)))
        self.assertGreater(seen, 80)
        self.assertEqual(wrong, [])

    def test_library_leaves_nothing_undefined(self):
        left = [s for s in imports(LIBRARY) if not s.startswith(('_ITM_', '__gmon_start__', '__sanitizer_'))]
        libc = subprocess.run(['nm', '-D', '--defined-only', '/lib/x86_64-linux-gnu/libc.so.6'], errors='replace',
                              capture_output=True, check=True).stdout
        known = {line.split()[-1].split('@')[0] for line in libc.splitlines() if line.split()}
        self.assertEqual(sorted(set(left) - known), [])

    def test_what_programs_import_is_decided(self):
        decided = {n for n, _ in rows('SYM')} | {n for n, _ in rows('NOWRAP')}
        takes, missing, seen = candidates(), {}, binaries()
        self.assertGreater(len(takes), 250, 'the headers were not understood')
        self.assertIn('libibverbs.so.1', seen)
        for name, path in sorted(seen.items()):
            for sym in imports(path) & set(takes):
                if sym not in decided:
                    missing.setdefault(sym, []).append(name)
        self.assertEqual(missing, {}, '\n'.join(
            f'{s} ({", ".join(takes[s])}): imported by {", ".join(b)}' for s, b in sorted(missing.items())))

    def test_wrapped_path_functions_are_known_candidates(self):
        """The reading of the headers finds what it must: else the test above sees nothing."""
        takes = candidates()
        for name in ('open', 'open64', 'openat', '__open_2', 'stat', 'fstatat64', 'statx', 'access',
                     'readlink', 'realpath', '__realpath_chk', 'fopen', 'fopen64', 'opendir', 'scandir',
                     'glob', 'ioctl', 'read', '__read_chk', '__pread_chk', 'mmap', 'mmap64', 'dup3',
                     'fcntl64', 'close', 'execve', 'getxattr', 'name_to_handle_at', 'statfs64', 'sendfile64'):
            self.assertIn(name, takes)


if __name__ == '__main__':
    unittest.main()
