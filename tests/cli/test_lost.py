#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The line of `softhca run` about commands that could not see the adapter, and the trace's about
what programs run into. Commands of another machine or C library: tests/shim/preloads.py."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import MEMORY, NOBODY, SOFTHCA, TIMEOUT, TOP, ordinary_user_can_run  # noqa: E402

PYTHON = '/usr/bin/python3'


def run(*cmd, options=(), verb='run'):
    return subprocess.run([SOFTHCA, verb, *options, '--', *cmd], stdin=subprocess.DEVNULL,
                          capture_output=True, errors='replace', timeout=TIMEOUT, cwd=TOP)


class Line(unittest.TestCase):
    def line(self, r):
        lines = [x for x in r.stderr.splitlines() if x.startswith('softhca: ')]
        self.assertEqual(len(lines), 1, r)
        self.assertTrue(r.stderr.endswith(lines[0] + '\n'), r)
        return lines[0]

    def test_environment_without_the_library(self):
        for words in (['env', '-i'], ['env', 'LD_PRELOAD='], ['env', '-u', 'SOFTHCA_DIR'],
                      ['sh', '-c', 'LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6 exec "$@"', '-']):
            r = run(*words, '/bin/ls', '/sys/class/infiniband/mlx5_0')
            self.assertNotEqual(r.returncode, 0, words)
            self.assertIn("'/bin/ls' was started without LD_PRELOAD or SOFTHCA_DIR", self.line(r))

    def test_quiet(self):
        for options in (['-q'], ['--quiet']):
            r = run('env', '-i', '/bin/true', options=options)
            self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_nothing_is_said_when_the_adapter_was_used(self):
        r = run('sh', '-c', 'env -i true; ibv_devinfo')
        self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_nothing_is_said_of_other_failures(self):
        for cmd in (['false'], ['sh', '-c', 'exit 3'], ['cat', '/nonexistent']):
            self.assertNotIn('softhca', run(*cmd).stderr)

    @unittest.skipUnless(ordinary_user_can_run(), 'needs root, and a tree that others can read')
    def test_process_of_another_user(self):
        r = run(*NOBODY, 'ibv_devinfo')
        self.assertIn("a process of uid 65534 looked for the adapter, which is uid 0's", self.line(r))
        self.assertNotIn('softhca:', run(*NOBODY, 'true').stderr) # it did not look

    @unittest.skipUnless(ordinary_user_can_run(), 'needs root, and a tree that others can read')
    def test_privileged_program(self):
        with tempfile.TemporaryDirectory() as d:
            os.chmod(d, 0o755)
            exe = os.path.join(d, 'owned')
            shutil.copy('/bin/ls', exe)
            os.chown(exe, 1, 1)
            os.chmod(exe, 0o755 | stat.S_ISUID)
            self.assertIn('set-user-ID', self.line(run(exe)))
            r = run('sh', '-c', exe)
            self.assertIn(f"'{exe}' is set-user-ID or set-group-ID", self.line(r))

    def test_a_fabric_that_is_up_has_no_end_to_wait_for(self):
        with tempfile.TemporaryDirectory(prefix='softhca-test-', dir=MEMORY) as d:
            env = dict(os.environ, SOFTHCA_RUNTIME_DIR=d)
            subprocess.run([SOFTHCA, 'up', 'lab'], env=env, check=True, timeout=TIMEOUT)
            try:
                r = subprocess.run([SOFTHCA, 'run', '--fabric', 'lab', '--', 'env', '-i', 'true'],
                                   env=env, capture_output=True, errors='replace', timeout=TIMEOUT)
                self.assertEqual((r.returncode, r.stderr), (0, ''))
            finally:
                subprocess.run([SOFTHCA, 'down', 'lab'], env=env, check=True, timeout=TIMEOUT)

    def test_nothing_is_said_of_a_static_launcher(self):
        """Programs that it starts have its environment."""
        with tempfile.TemporaryDirectory() as d:
            exe = os.path.join(d, 'launch')
            subprocess.run(['gcc', '-static', '-o', exe, '-xc', '-'], check=True, errors='replace',
                           input='#include <unistd.h>\nint main(int c, char **v) { return execvp(v[1], v + 1); }')
            r = run(exe, 'ibv_devinfo')
            self.assertEqual((r.returncode, r.stderr), (0, ''))
            self.assertIn(f"'{exe}' is linked statically: it runs, but does not see the adapter", self.line(run(exe, 'true')))

    @unittest.skipUnless(shutil.which('bwrap'), 'no bwrap')
    def test_sandbox_without_the_fabrics_directory(self):
        own = ['bwrap', '--dev-bind', '/', '/', '--tmpfs']
        if subprocess.run([*own, '/dev/shm', 'true'], capture_output=True).returncode:
            self.skipTest('no sandboxes here')
        with tempfile.TemporaryDirectory(prefix='softhca-test-', dir=MEMORY) as d:
            with mock.patch.dict(os.environ, SOFTHCA_RUNTIME_DIR=d):
                for look in (['ibv_devinfo'], ['ibstat'], ['cat', '/sys/class/infiniband/mlx5_0/fw_ver']):
                    r = run(*own, d, *look)
                    self.assertRegex(self.line(r), f"{look[0]}' looked for the adapter where the fabric's directory {d}/run-.* "
                                     'is not there')
                self.assertEqual(run(*own, d, 'true').stderr, '') # it did not look
                # another process used the adapter
                r = run('sh', '-c', f'ibv_devinfo && {" ".join(own)} {d} ibv_devinfo')
                self.assertIn('mlx5_0', r.stdout)
                self.assertIn("ibv_devinfo' looked for the adapter", self.line(r))
                # what the line says to do
                r = run('sh', '-c', f'{" ".join(own)} {d} --bind "$SOFTHCA_DIR" "$SOFTHCA_DIR" ibv_devinfo')
                self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_go(self):
        """Its runtime makes system calls of its own. A program in C with the note that Go's linker writes."""
        with tempfile.TemporaryDirectory() as d:
            exe = os.path.join(d, 'tool')
            subprocess.run(['gcc', '-o', exe, '-xc', '-'], check=True, errors='replace', input=r'''
                #include <fcntl.h>
                #include <unistd.h>
                __asm__(".pushsection .note.go.buildid,\"a\",@note\n.long 4, 4, 4\n.asciz \"Go\"\n.balign 4\n"
                        ".long 0\n.popsection");
                int main(int c, char **v) { return c > 1 && open(v[1], O_RDWR) < 0; }''')
            for cmd in ([exe], ['sh', '-c', exe + '; true']):
                self.assertRegex(self.line(run(*cmd)), f"'{exe}' is a Go program, .*os.ReadDir.*cgo")
            # what is known of others besides is worth more
            self.assertIn('without LD_PRELOAD', self.line(run('sh', '-c', exe + '; env -i true')))
            r = run(exe, '/dev/infiniband/uverbs0')
            self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_dlmopen(self):
        r = run(PYTHON, '-c', 'import ctypes; f = ctypes.CDLL(None).dlmopen; f.restype = ctypes.c_void_p; '
                              'assert f(ctypes.c_long(-1), b"libibverbs.so.1", 2)')
        self.assertIn("'libibverbs.so.1' was loaded by dlmopen() into a namespace of its own", self.line(r))

    def test_plugins_that_are_loaded_with_deepbind(self):
        r = run(PYTHON, '-c', 'import ctypes, os; v = ctypes.CDLL("libibverbs.so.1", mode=os.RTLD_NOW | os.RTLD_DEEPBIND); '
                              'n = ctypes.c_int(); v.ibv_get_device_list(ctypes.byref(n)); assert n.value == 1')
        self.assertEqual((r.returncode, r.stderr), (0, ''))


class KeptEnvironment(unittest.TestCase):
    """Programs that are started with an environment of their own see the adapter all the same."""
    SPAWN = 'import os, sys; os._exit(os.waitpid(os.posix_spawnp("ibv_devinfo", ["ibv_devinfo"], %s), 0)[1] >> 8)'
    EXEC = 'import os; os.execvpe("ibv_devinfo", ["ibv_devinfo"], %s)'
    VFORK = 'import subprocess; subprocess.run(["/usr/bin/ibv_devinfo"], env=%s, check=True)'
    ENVIRONMENTS = ('{}', '{"PATH": os.defpath, "LD_PRELOAD": "libm.so.6", "ASAN_OPTIONS": "color=never"}',
                    '{k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}',
                    '{"LD_PRELOAD": os.environ["LD_PRELOAD"]}')

    def test_posix_spawn(self):
        for env in self.ENVIRONMENTS:
            r = run(PYTHON, '-c', self.SPAWN % env, options=['--host', 'h1'])
            self.assertEqual((r.returncode, r.stderr), (0, ''), env)
            self.assertIn('mlx5_0', r.stdout)

    def test_variables_that_are_added(self):
        code = 'import os; os.waitpid(os.posix_spawn("/usr/bin/env", ["env"], %s), 0)'
        r = run(PYTHON, '-c', code % self.ENVIRONMENTS[1], options=['--memlock', 'enforce'])
        got = dict(x.split('=', 1) for x in r.stdout.splitlines())
        self.assertRegex(got['LD_PRELOAD'], '^/.*/libsofthca.so:libm.so.6$')
        self.assertEqual(got['ASAN_OPTIONS'], 'verify_asan_link_order=0:color=never')
        self.assertEqual([got[x] for x in ('SOFTHCA_HOST', 'SOFTHCA_MEMLOCK', 'SOFTHCA_DOORBELL')], ['h1', 'enforce', 'auto'])
        # an environment that names a fabric keeps it
        r = run(PYTHON, '-c', code % '{"SOFTHCA_DIR": "/nowhere"}')
        self.assertEqual({x.split('=')[0] for x in r.stdout.splitlines()}, {'SOFTHCA_DIR', 'LD_PRELOAD', 'ASAN_OPTIONS'})
        self.assertIn('SOFTHCA_DIR=/nowhere\n', r.stdout)
        # one that has both is left alone
        r = run(PYTHON, '-c', code % '{k: os.environ[k] for k in ("SOFTHCA_DIR", "LD_PRELOAD")}')
        self.assertEqual({x.split('=')[0] for x in r.stdout.splitlines()}, {'SOFTHCA_DIR', 'LD_PRELOAD'})

    def test_a_program_that_has_cleared_its_own(self):
        r = run(PYTHON, '-c', 'import os\nos.environ.clear()\n' + self.SPAWN % 'os.environ')
        self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_exec(self):
        for code in (self.EXEC, 'import os\n' + self.VFORK):
            for env in self.ENVIRONMENTS:
                r = run(PYTHON, '-c', code % env, options=['--keep-env', 'all'])
                self.assertEqual((r.returncode, r.stderr), (0, ''), env)
                self.assertIn('mlx5_0', r.stdout)
        for words in (['env', '-i'], ['env', '-u', 'LD_PRELOAD'], ['bash', '-c', 'exec -c "$@"', '-']):
            r = run(*words, '/usr/bin/ibv_devinfo', options=['--keep-env', 'all'])
            self.assertEqual((r.returncode, r.stderr), (0, ''), words)

    def test_what_is_not_kept_is_said(self):
        for code, options in ((self.EXEC, []), (self.EXEC, ['--keep-env', 'spawn']), (self.SPAWN, ['--keep-env', 'none'])):
            r = run(PYTHON, '-c', code % '{}', options=options)
            self.assertNotEqual(r.returncode, 0)
            self.assertRegex(r.stderr, "'.*ibv_devinfo' was started without LD_PRELOAD or SOFTHCA_DIR")


class Trace(unittest.TestCase):
    def traced(self, code):
        r = run(PYTHON, '-c', code, options=['-e', 'shim'], verb='trace')
        self.assertEqual(r.returncode, 0, r)
        return r.stderr

    def test_refused_opens_say_what_to_do(self):
        out = self.traced('''
import os
for f in ('/dev/infiniband/uverbs7', '/dev/infiniband/ucm0', '/sys/module/mlx5_core/none',
          '/sys/bus/pci/devices/5a17:00:00.0/resource0', '/sys/class/infiniband/mlx5_0/none', '/none'):
    try:
        open(f)
    except OSError:
        pass
try:
    os.listdir('/sys/class/infiniband/mlx5_0/nowhere')
except OSError:
    pass
''')
        for want in ('open /dev/infiniband/uverbs7 = ENOENT: no such adapter: --hca makes more',
                     'open /dev/infiniband/ucm0 = ENOENT: not there: use uverbs, umad, issm or rdma_cm',
                     'open /sys/module/mlx5_core/none = ENOENT: no kernel module is loaded here',
                     '5a17:00:00.0/resource0 = EACCES: an adapter here has no registers',
                     'open /sys/class/infiniband/mlx5_0/none = ENOENT: not there',
                     'open /sys/class/infiniband/mlx5_0/nowhere = ENOENT: not there'):
            self.assertIn(want, out)
        self.assertNotIn('open /none', out)

    def test_refused_sockets_say_what_to_do(self):
        out = self.traced('''
import socket
for a in ((27, 1, 0), (16, 4, 20)):
    try:
        socket.socket(*a)
    except OSError:
        pass
''')
        self.assertRegex(out, 'socket AF_IB, type 1 = EAFNOSUPPORT: .*rsockets')
        self.assertIn('socket NETLINK_RDMA, type 4 = ESOCKTNOSUPPORT: SOCK_RAW or SOCK_DGRAM', out)

    def test_programs_without_the_library(self):
        out = self.traced('import os; os.execve("/bin/true", ["true"], {})')
        self.assertIn('exec /bin/true: its environment lacks LD_PRELOAD, so it sees no adapter', out)

    def test_fabric_that_is_gone(self):
        with tempfile.TemporaryDirectory(prefix='softhca-test-', dir=MEMORY) as d:
            env = dict(os.environ, SOFTHCA_RUNTIME_DIR=d)
            subprocess.run([SOFTHCA, 'up', 'lab'], env=env, check=True, timeout=TIMEOUT)
            r = subprocess.run([SOFTHCA, 'trace', '-e', 'shim', '--fabric', 'lab', '--', 'sh', '-c',
                                f'{SOFTHCA} down lab; ibv_devinfo'], env=env, capture_output=True,
                               errors='replace', timeout=TIMEOUT)
            self.assertRegex(r.stderr, r'cannot join \S+ = E\w+: is it still up\?')


class Explained(unittest.TestCase):
    def test_causes_of_missing_devices(self):
        for word, text in (('ENODEV', 'env -i, sudo'), ('ENOENT', '/sys/class/infiniband'),
                           ('EPROTONOSUPPORT', 'lost the library'), ('ENOSYS', 'explain ENODEV'),
                           ('EAFNOSUPPORT', 'rsockets'), ('EACCES', "another user's")):
            out = subprocess.run([SOFTHCA, 'explain', word], capture_output=True, errors='replace', check=True).stdout
            self.assertIn(text, out)


if __name__ == '__main__':
    unittest.main()
