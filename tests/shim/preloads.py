#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The preloaded library beside others: libraries that implement names by other names, fakeroot,
sanitizers, libraries that start at their first use; and programs that it cannot be in."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import port_block  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('SOFTHCA_BUILD', os.path.join(TOP, 'build'))
SOFTHCA = os.path.join(BUILD, 'softhca')
HERE = os.path.join(BUILD, 'tests/shim')
GUID = '/sys/class/infiniband/mlx5_0/node_guid'
NODE = '/dev/infiniband/uverbs0'
# Two ends of a connection, the second when the first listens; both must succeed.
PINGPONG = '''ibv_rc_pingpong -d mlx5_0 -n 20 -p %(port)d >/dev/null & i=0
until ibv_rc_pingpong -d mlx5_0 -n 20 -p %(port)d localhost; do
	kill -0 $! || exit 3; i=$((i + 1)); test $i -lt 600 || exit 4; sleep 0.05; done
wait $!'''


def run(*argv, preload=None, env=None, timeout=300):
    e = dict(os.environ, **(env or {}))
    if preload:
        e['LD_PRELOAD'] = preload
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace', env=e,
                         start_new_session=True)
    try:
        out, err = p.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        raise AssertionError(f'{argv} with {preload} hangs:\n{out}\n{err}') from None
    return p.returncode, out, err


def inside(lib, command):
    """A shell command line for `softhca run`: `command` with lib in front of the library."""
    return f'LD_PRELOAD="{lib}:$LD_PRELOAD"; export LD_PRELOAD; {command}'


def behind(lib, command):
    return f'LD_PRELOAD="$LD_PRELOAD:{lib}"; export LD_PRELOAD; {command}'


def gcc_lib(name):
    out = subprocess.run(['gcc', '-print-file-name=' + name], errors='replace', capture_output=True).stdout.strip()
    path = os.path.realpath(out)
    return path if os.path.isabs(out) and os.path.exists(path) else None


class Preloads(unittest.TestCase):
    port = port_block()

    def ok(self, *argv, has='', **kw):
        rc, out, err = run(*argv, **kw)
        self.assertEqual((rc, has in out), (0, True), f'{argv} {kw}: {rc}\n{out}\n{err}')
        return out, err

    def both(self, lib, command, has=''):
        """The library of the fabric outside and inside of `lib`."""
        self.ok(SOFTHCA, 'run', '--', 'sh', '-c', command, has=has, preload=lib)
        self.ok(SOFTHCA, 'run', '--', 'sh', '-c', inside(lib, command), has=has)

    def pingpong(self):
        Preloads.port += 1
        return PINGPONG % {'port': Preloads.port}


class Names(Preloads):
    """swap.py: whoever implements names by names must not meet himself in us."""

    def programs(self, lib):
        self.both(lib, 'cat ' + GUID, has=':')
        self.both(lib, 'ls -lL /dev/infiniband /sys/class/infiniband/mlx5_0/ports', has='231, 192')
        self.both(lib, 'ibv_devinfo', has='PORT_ACTIVE')
        self.both(lib, self.pingpong(), has='iters')
        for t in ('forms', 'fds', 'forks', 'netlink', 'pointers', 'sigforms'):
            self.both(lib, os.path.join(HERE, 'test_shim_' + t))
        self.both(lib, f'''python3 -c "
import os, subprocess, glob
os.stat('{NODE}'), os.listdir('/sys/class/infiniband'), glob.glob('/sys/class/infiniband/*/ports')
print(os.path.realpath('/sys/class/infiniband/mlx5_0'), subprocess.run(['cat', '{GUID}']).returncode)"''',
                  has='mlx5_0 0')

    def test_new_names_by_old_ones(self):
        self.programs(os.path.join(HERE, 'libswap_new.so'))

    def test_old_names_by_new_ones(self):
        self.programs(os.path.join(HERE, 'libswap_old.so'))


@unittest.skipUnless(shutil.which('fakeroot'), 'no fakeroot')
class Fakeroot(Preloads):
    """fakeroot must still do its own work: it makes devices as plain files, and shows them as devices."""

    def each(self, command, has):
        for argv in (['fakeroot', SOFTHCA, 'run', '--', 'sh', '-c', command],
                     [SOFTHCA, 'run', '--', 'fakeroot', 'sh', '-c', command]):
            self.ok(*argv, has=has)

    def test_attributes(self):
        self.each('cat ' + GUID, has=':')

    def test_device(self):
        self.each('ibv_devinfo', has='PORT_ACTIVE')
        self.each(self.pingpong(), has='iters')

    def test_device_nodes(self):
        self.each('stat -c "%F %t:%T" ' + NODE, has='character special file e7:c0')

    def test_its_own_work(self):
        with tempfile.TemporaryDirectory() as d:
            self.each(f'rm -f {d}/x; mknod {d}/x c 5 7 && stat -c "%F %t:%T" {d}/x && '
                      f'python3 -c "import os; print(os.stat(\'{d}/x\').st_rdev == os.makedev(5, 7))"',
                      has='character special file 5:7\nTrue')


class Starting(Preloads):
    """Libraries that start at their first use, perhaps before our constructor and from inside it."""

    def test_a_library_that_starts_at_first_use(self):
        lib = os.path.join(HERE, 'libearly.so')
        for command in ('true', 'cat ' + GUID, 'ibv_devinfo'):
            self.both(lib, command)
            self.ok(SOFTHCA, 'run', '--', 'sh', '-c', behind(lib, command))

    def sanitizer(self, name, programs):
        lib = gcc_lib(name)
        if not lib:
            self.skipTest('no ' + name)
        if run('true', preload=lib)[0]:
            self.skipTest(name + ' cannot be preloaded here at all')
        for command, has in programs:
            for where in (inside, behind):
                self.ok(SOFTHCA, 'run', '--', 'sh', '-c', where(lib, command), has=has,
                        env={'ASAN_OPTIONS': 'detect_leaks=0', 'TSAN_OPTIONS': 'report_bugs=0'})

    def test_address_sanitizer(self):
        self.sanitizer('libasan.so', [
            ('/bin/true', ''), ('cat ' + GUID, ':'), ('ibv_devinfo', 'PORT_ACTIVE'),
            (self.pingpong(), 'iters'), (os.path.join(BUILD, 'examples/devx_send'), 'bytes received')])

    def test_thread_sanitizer(self):
        self.sanitizer('libtsan.so', [
            ('/bin/true', ''), ('cat ' + GUID, ':'), ('ibv_devinfo', 'PORT_ACTIVE')])


class Foreign(Preloads):
    """Programs that the library cannot serve run as ever, and one line says what they miss."""

    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.TemporaryDirectory()
        cls.source = os.path.join(TOP, 'tests/shim/foreign.c')

    @classmethod
    def tearDownClass(cls):
        cls.tmp.cleanup()

    def build(self, name, *argv):
        exe = os.path.join(self.tmp.name, name)
        subprocess.run([*argv, self.source, '-o', exe], check=True)
        return exe

    def check(self, exe, why, *more):
        rc, out, err = run(SOFTHCA, 'run', '--', exe, *more)
        self.assertEqual((rc, out), (7, 'foreign: no device\n'), err)
        self.assertEqual(err.count('\n'), 1, err)
        self.assertIn(why, err)
        self.assertIn('does not see the adapter', err)
        return exe

    @unittest.skipUnless(shutil.which('musl-gcc'), 'no musl')
    def test_musl(self):
        exe = self.check(self.build('musl', 'musl-gcc'), 'another C library')
        # Found in PATH; from a shell, which has the adapter; becoming a program that has it.
        self.assertEqual(run(SOFTHCA, 'run', '--', 'musl', env={
            'PATH': self.tmp.name + ':' + os.environ['PATH']})[2].count('another C library'), 1)
        rc, out, err = run(SOFTHCA, 'run', '--', 'sh', '-c', exe + '; cat ' + GUID)
        self.assertEqual((rc, err), (0, ''))
        self.assertRegex(out, '^foreign: no device\n5a17:')
        rc, out, err = run(SOFTHCA, 'run', '--', exe, 'cat', GUID)
        self.assertEqual(rc, 0, err)
        self.assertRegex(out, '^foreign: no device\n5a17:')

    @unittest.skipUnless(shutil.which('musl-gcc'), 'no musl')
    def test_script_of_a_foreign_interpreter(self):
        script = os.path.join(self.tmp.name, 'script')
        exe = self.build('interpreter', 'musl-gcc')
        with open(script, 'w', encoding='utf-8') as f:
            f.write(f'#! {exe} true\n')
        os.chmod(script, 0o755)
        rc, out, err = run(SOFTHCA, 'run', '--', script)
        self.assertEqual((rc, out, err.count('\n')), (0, 'foreign: no device\n', 1), err)
        self.assertIn(exe, err)

    def test_static(self):
        self.check(self.build('static', 'gcc', '-static'), 'linked statically')
        self.check(self.build('static-pie', 'gcc', '-static-pie'), 'linked statically')

    def test_32_bit(self):
        """mov $7, %ebx; mov $1, %eax; int $0x80."""
        exe = os.path.join(self.tmp.name, 'narrow')
        code = b'\xbb\x07\0\0\0\xb8\x01\0\0\0\xcd\x80'
        head = struct.pack('<16sHHIIIIIHHHHHH', b'\x7fELF\x01\x01\x01', 2, 3, 1, 0x8048054, 52, 0, 0, 52,
                           32, 1, 0, 0, 0)
        segment = struct.pack('<8I', 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 4096)
        with open(exe, 'wb') as f:
            f.write(head + segment + code)
        os.chmod(exe, 0o755)
        try:
            subprocess.run([exe])
        except OSError as e:
            # execvp() then gives the file to a shell, which runs whatever it takes for commands.
            self.skipTest(f'the kernel has no IA32 emulation: {e.strerror}')
        rc, _, err = run(SOFTHCA, 'run', '--', exe)
        self.assertIn('32-bit', err)
        self.assertEqual(rc, 7, err)

    def test_nothing_is_said_of_others(self):
        for argv in (['true'], ['/bin/true'], ['sh', '-c', 'true'], ['/lib64/ld-linux-x86-64.so.2', '/bin/true'],
                     [sys.executable, '-c', '']):
            self.assertEqual(run(SOFTHCA, 'run', '--', *argv), (0, '', ''), argv)
        self.assertEqual(run(SOFTHCA, 'run', '--', '/nonexistent')[2].count('\n'), 1)


if __name__ == '__main__':
    unittest.main()
