# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock infiniband-diags ask the adapters' management agents through umad."""
import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import (BUILD, NOBODY, SOFTHCA, Case, Fabric, Running, shell_pair,  # noqa: E402
                     ordinary_user_can_run)

TWO = ('--hca', '2', '--ports', '2')  # LIDs 1 to 4


class Diags(Case):
    def ask(self, *cmd, options=()):
        return Running([SOFTHCA, 'run', *options, '--', *cmd]).finish()

    def fields(self, *cmd, options=()):
        """What a tool prints as Name:....value."""
        out = self.ok(self.ask(*cmd, options=options))
        return dict(re.findall(r'^(\w+):\.*(.*)$', out, re.M))

    def test_own_port_by_directed_route(self):
        f = self.fields('smpquery', '-D', 'nodeinfo', '0')
        self.assertEqual(f['NodeType'], 'Channel Adapter')
        self.assertEqual((f['DevId'], f['VendorId'], f['NumPorts']), ('0x101b', '0x0002c9', '1'))

    def test_nodes_by_lid(self):
        guids = []
        for lid, port in (('1', '1'), ('2', '2'), ('3', '1'), ('4', '2')):
            f = self.fields('smpquery', 'nodeinfo', lid, options=TWO)
            self.assertEqual((f['LocalPort'], f['NumPorts']), (port, '2'))
            guids.append((f['Guid'], f['PortGuid']))
        self.assertEqual(guids[0][0], guids[1][0])
        self.assertNotEqual(guids[1][0], guids[2][0])
        self.assertEqual(len({p for _, p in guids}), 4)

    def test_portinfo_is_what_sysfs_says(self):
        f = self.fields('smpquery', 'portinfo', '1')
        self.assertEqual((f['Lid'], f['LinkState'], f['PhysLinkState'], f['LinkWidthActive']),
                         ('1', 'Active', 'LinkUp', '4X'))
        self.assertEqual(f['LinkSpeedExtActive'], '53.125 Gbps')
        out = self.ok(self.ask('ibstat'))
        self.assertIn('Capability mask: ' + f['CapMask'], out)
        self.assertIn('SM lid: ' + f['SMLid'], out)
        f = self.fields('smpquery', 'portinfo', '1', '2', options=TWO)
        self.assertEqual((f['Lid'], f['LocalPort']), ('2', '1'))

    def test_tables(self):
        self.assertRegex(self.ok(self.ask('smpquery', 'pkeys', '1')), r'0: 0xffff 0x0000')
        self.assertRegex(self.ok(self.ask('smpquery', 'guidinfo', '1')), r'0x5a17ca0300010000')
        self.assertRegex(self.ok(self.ask('smpquery', 'nodedesc', '1')), r'h1 mlx5_0')
        self.assertRegex(self.ok(self.ask('smpquery', 'sl2vl', '1')), r'\| 0\| 1\| 2\| 3\| 0\|')
        self.assertRegex(self.ok(self.ask('smpquery', 'vlarb', '1')), r'WEIGHT: \|0x4 ')

    def test_ibaddr(self):
        self.assertIn('LID start 0x1 end 0x1', self.ok(self.ask('ibaddr')))

    def test_what_an_adapter_has_not(self):
        for cmd in (('smpquery', 'switchinfo', '1'), ('perfquery', '-c')):
            r = self.ask(*cmd)
            self.assertNotEqual(r.status, 0, cmd)
            self.assertNotIn('timed out', r.out)

    def test_nobody_there_times_out(self):
        # libibumad waits as long as the device does: whichever of the two clocks runs out first
        # decides whether smpquery prints "timed out" or only that the call failed.
        for cmd in (('smpquery', '-t', '20', 'nodeinfo', '77'),
                    ('smpquery', '-t', '20', '-D', 'nodeinfo', '0,1,36')):
            r = self.ask(*cmd)
            self.assertNotEqual(r.status, 0)
            self.assertRegex(r.out, 'timed out|_do_madrpc failed')
            self.assertNotIn('Node Info', r.out)

    def test_counters(self):
        """Read, reset by mask, and both widths: data goes to LID 1 itself."""
        pair = shell_pair(f'ib_send_bw -F -n 100 -s 4096 -p {Case.port}', Case.port)
        script = (f'({pair}) >&2 && perfquery 1 && perfquery -x 1 && perfquery -R 1 1 0x1000 && perfquery 1')
        out = self.ok(self.ask('sh', '-c', script))
        data = [int(x) for x in re.findall(r'PortXmitData:\.*(\d+)', out)]
        packets = [int(x) for x in re.findall(r'PortXmitPkts:\.*(\d+)', out)]
        self.assertEqual(len(data), 3)
        self.assertGreaterEqual(data[0], 100 * 4096 // 4)
        self.assertEqual((data[1], data[2]), (data[0], 0))
        self.assertEqual((packets[1], packets[2]), (packets[0], packets[0]))

    def test_a_file_that_was_kept_over_exec(self):
        """All that a umad file knows is on the fabric: the next program goes on with it."""
        out = self.ok(self.ask('/usr/bin/python3', '-c', KEEP))
        self.assertEqual(out.split(), ['320', '0x81', 'True'])


class Down(Case):
    def test_a_file_after_its_fabric(self):
        """ib_umad_kill_port(): packets that were there are gone, too."""
        with Fabric() as f:
            out = self.ok(f.run('/usr/bin/python3', '-c', AFTER, SOFTHCA, f.name))
            f.softhca('up', f.name)  # which the end of the block takes down
        self.assertEqual(out.split('\n')[-7:-1],
                         ['read EIO', 'write EIO', 'register EPIPE', 'unregister EINVAL',
                          'enable_pkey EINVAL', 'open ENOENT'])


# Registers an agent in one image, and asks the SMA through it in the next.
KEEP = r"""
import fcntl, os, stat, struct, sys
code = 'import os, stat, sys; fd = int(sys.argv[1]); p = bytearray(320); p[8] = 100; p[29] = 1;' \
       'p[64:68] = bytes([1, 1, 1, 1]); p[81] = 0x11; os.write(fd, p); r = os.read(fd, 400);' \
       'print(len(r), hex(r[67]), stat.S_ISCHR(os.fstat(fd).st_mode))'
fd = os.open('/dev/infiniband/umad0', os.O_RDWR | os.O_NONBLOCK)
os.set_inheritable(fd, True)
req = bytearray(40)
struct.pack_into('<IIBB', req, 0, 0, 0, 1, 1)
fcntl.ioctl(fd, 0xC0281B04, req)
os.execv(sys.executable, [sys.executable, '-c', code, str(fd)])
"""

# An answer is there, then the fabric goes down.
AFTER = r"""
import errno, fcntl, os, struct, subprocess, sys
fd = os.open('/dev/infiniband/umad0', os.O_RDWR | os.O_NONBLOCK)
req = bytearray(40)
struct.pack_into('<IIBB', req, 0, 0, 1, 4, 1)
fcntl.ioctl(fd, 0xC0281B04, req)
p = bytearray(320)
struct.pack_into('<I', p, 8, 100)
struct.pack_into('>I', p, 20, 1)
struct.pack_into('>H', p, 28, 1)
p[64:68] = bytes([1, 4, 1, 1])
p[81] = 1
os.write(fd, p)
os.write(fd, p)
assert len(os.read(fd, 400)) == 320
subprocess.run([sys.argv[1], 'down', sys.argv[2]], check=True,
               env={k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'})
def call(name, f):
    try:
        print(name, f())
    except OSError as e:
        print(name, errno.errorcode[e.errno])
call('read', lambda: os.read(fd, 400))
call('write', lambda: os.write(fd, p))
call('register', lambda: fcntl.ioctl(fd, 0xC0281B04, req))
call('unregister', lambda: fcntl.ioctl(fd, 0x40041B02, struct.pack('<I', 0)))
call('enable_pkey', lambda: fcntl.ioctl(fd, 0x1B03))
call('open', lambda: os.open('/dev/infiniband/umad0', os.O_RDWR))
"""


@unittest.skipUnless(ordinary_user_can_run(), 'not root, or an ordinary user cannot reach the build')
class CallsAsOrdinaryUser(Case):
    """The raw system calls of tests/umad, which meson runs as whoever runs the tests."""


# As in tests/umad/meson.build.
OPTIONS = {'test_umad_forward': ('--topo', 'ring:4'), 'test_umad_roce': ('--hca', '2', '--link', 'eth')}


def as_ordinary_user(program):
    options = OPTIONS.get(os.path.basename(program), ('--hca', '2'))

    def test(self):
        cmd = (*NOBODY, 'HOME=/nonexistent', SOFTHCA, 'run', *options, '--', program)
        self.assertRegex(self.ok(Running([*cmd]).finish()), r'PASSED *\] \d+ test')
    return test


for path in sorted(glob.glob(os.path.join(BUILD, 'tests', 'umad', 'test_umad_*'))):
    if os.path.isfile(path):
        setattr(CallsAsOrdinaryUser, os.path.basename(path), as_ordinary_user(path))


if __name__ == '__main__':
    unittest.main()
