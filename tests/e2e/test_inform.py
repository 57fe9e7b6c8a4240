# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A subscriber (InformInfo) hears of the subnet's changes, from the built-in SA and from OpenSM; MultiPathRecord,
alias GUIDs and IPoIB's broadcast group of the built-in SA."""
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, wait_for  # noqa: E402

H1, H2 = ('--host', 'h1'), ('--host', 'h2')

# A client of the SA by libibumad: an agent of RMPP version 1 that also takes reports.
CLIENT = r'''
import ctypes, struct, sys
u = ctypes.CDLL('libibumad.so.3')
u.umad_init()
port = u.umad_open_port(b'mlx5_0', 1)
mask = (ctypes.c_long * 2)(1 << 6, 0)
agent = u.umad_register(port, 3, 2, 1, mask)
HDR = u.umad_size()
sm = int(sys.argv[1])

def send(method, attr, mask, data, flags=0, tid=7, timeout=5000):
    buf = ctypes.create_string_buffer(HDR + 256)
    u.umad_set_addr(buf, sm, 1, 0, 0x80010000)
    mad = struct.pack('>BBBBHHQHHI', 1, 3, 2, method, 0, 0, tid, attr, 0, 0)
    mad += struct.pack('>BBBBII', 1 if flags else 0, 1 if flags else 0, flags, 0, 0, 0)
    mad += struct.pack('>QHHQ', 0, 0, 0, mask) + data
    ctypes.memmove(ctypes.addressof(buf) + HDR, mad.ljust(256, b'\0'), 256)
    if u.umad_send(port, agent, buf, 256, timeout, 0) < 0:
        sys.exit('umad_send')

def recv(timeout=-1):
    buf = ctypes.create_string_buffer(HDR + 65536)
    n = ctypes.c_int(65536)
    if u.umad_recv(port, buf, ctypes.byref(n), timeout) < 0:
        sys.exit('umad_recv')
    if u.umad_status(buf):
        sys.exit('no answer')
    return buf, buf.raw[HDR:HDR + n.value]

def ask(*args, **kw):
    send(*args, **kw)
    while True:
        buf, mad = recv()
        if mad[3] & 0x80:
            return struct.unpack('>H', mad[4:6])[0], mad
        report(buf, mad)

def report(buf, mad):
    """Print a report and answer it."""
    trap, = struct.unpack('>H', mad[60:62])
    print('report', trap, struct.unpack('>H', mad[62:64])[0], mad[72:88].hex(), mad[120:136].hex(), flush=True)
    back = ctypes.create_string_buffer(bytes(buf.raw[:HDR + 256]), HDR + 256)
    ctypes.memmove(ctypes.addressof(back) + HDR + 3, b'\x86', 1)
    u.umad_send(port, agent, back, 256, 0, 0)

def inform(subscribe):
    data = bytes(16) + struct.pack('>HHHBBHH', 0xffff, 0, 0, 1, subscribe, 0xffff, 0xffff)
    data += struct.pack('>II', (0 if subscribe else 1) << 8, 0xffffff)
    return ask(2, 3, 0, data)[0]
'''

LISTEN = CLIENT + r'''
print('subscribed', inform(1), flush=True)
while True:
    buf, mad = recv()
    if mad[3] == 6:
        report(buf, mad)
'''
UNSUBSCRIBE = CLIENT + r'''
print(inform(1), inform(0), inform(0))
'''
PATHS = CLIENT + r'''
gids = [bytes.fromhex(g) for g in sys.argv[2:]]
half = len(gids) // 2
data = bytes(15) + bytes([half, len(gids) - half]) + bytes(7) + b''.join(gids)
status, mad = ask(0x14, 0x3a, 3 << 19, data, flags=7)
print(status, hex(mad[3]), hex(struct.unpack('>H', mad[16:18])[0]))
size = 8 * struct.unpack('>H', mad[44:46])[0]
for at in range(56, len(mad) - 63, size) if not status else ():
    print('path', *struct.unpack('>HH', mad[at + 40:at + 44]))
'''
GUID = CLIENT + r'''
lid, method, index, guid = (int(x, 0) for x in sys.argv[2:])
data = struct.pack('>HBBI', lid, 0, 0, 0) + bytes(8 * index) + struct.pack('>Q', guid)
status, mad = ask(method, 0x30, 3 | 1 << 4 + index, data)
print(status, hex(struct.unpack('>Q', mad[64 + 8 * index:72 + 8 * index])[0]))
'''


class Sa(Case):
    def client(self, fab, script, *args, options=H2, sm=1):
        return fab.run('/usr/bin/python3', '-c', script, str(sm), *map(str, args), options=options)


class Reports(Sa):
    def switch_port(self, fab, lid):
        """LID and port of the switch that a host is connected to."""
        links = self.ok(fab.run('saquery', 'LR', options=H1))
        one = re.search(rf'FromLID\.+(\d+)\n\s+FromPort\.+(\d+)\n\s+ToPort\.+1\n\s+ToLID\.+{lid}\n', links)
        self.assertTrue(one, links)
        return one[1], one[2]

    def check_link(self, fab):
        """A subscriber at h2 hears that h3's link goes and comes: both ends of it, and of the port."""
        sw, port = self.switch_port(fab, '3')
        gid = self.ok(fab.run('cat', '/sys/class/infiniband/mlx5_0/ports/1/gids/0',
                              options=('--host', 'h3'))).strip().replace(':', '')
        ear = fab.start('/usr/bin/python3', '-u', '-c', LISTEN, '1', options=H2)
        try:
            ear.wait_said('subscribed 0\n')
            self.ok(fab.run('ibportstate', sw, port, 'disable', options=H1))
            wait_for(lambda: f'report 65 1 {gid}' in ear.said(), '65: h3 out of service')
            self.assertRegex(ear.said(), rf'report 128 {sw} ')
            self.ok(fab.run('ibportstate', sw, port, 'enable', options=H1))
            wait_for(lambda: f'report 64 1 {gid}' in ear.said(), '64: h3 in service')
        finally:
            ear.kill()

    def test_a_link_goes_and_comes(self):
        with Fabric('--topo', 'star:4') as fab:
            self.check_link(fab)

    def test_a_link_goes_and_comes_under_opensm(self):
        mine = tempfile.mkdtemp(prefix='softhca-inform-')
        self.addCleanup(shutil.rmtree, mine)
        log = os.path.join(mine, 'log')
        with open(os.path.join(mine, 'conf'), 'w') as f:
            f.write(f'force_log_flush TRUE\ndump_files_dir {mine}\n')

        def up():
            try:
                with open(log) as f:
                    return 'SUBNET UP' in f.read()
            except FileNotFoundError:
                return False

        with Fabric('--sm', 'none', '--topo', 'star:4') as fab:
            sm = fab.start('opensm', '-F', os.path.join(mine, 'conf'), '-f', log, options=H1,
                           env={'OSM_CACHE_DIR': mine, 'OSM_TMP_DIR': mine})
            try:
                wait_for(up, 'OpenSM to bring the subnet up')
                self.check_link(fab)
            finally:
                sm.kill()

    def test_a_subscriber_on_the_managers_host(self):
        with Fabric('--topo', 'star:4') as fab:
            ear = fab.start('/usr/bin/python3', '-u', '-c', LISTEN, '1', options=H1)
            try:
                ear.wait_said('subscribed 0\n')
                self.ok(fab.run('ibportstate', *self.switch_port(fab, '3'), 'disable', options=H1))
                wait_for(lambda: 'report 65 1' in ear.said(), '65: h3 out of service')
            finally:
                ear.kill()

    def test_unsubscribing(self):
        with Fabric('--topo', 'star:4') as fab:
            self.assertEqual(self.ok(self.client(fab, UNSUBSCRIBE)).split(), ['0', '0', str(0x200)])
            self.assertEqual(self.ok(fab.run('saquery', '-I', options=H1)).strip(), '')


class Records(Sa):
    @classmethod
    def setUpClass(cls):
        cls.fab = cls.enterClassContext(Fabric('--topo', 'star:4', '--ipoib-group'))

    def gid(self, host, index=0):
        return self.ok(self.fab.run('cat', f'/sys/class/infiniband/mlx5_0/ports/1/gids/{index}',
                                    options=('--host', host))).strip()

    def test_paths_of_several_gids(self):
        gids = [self.gid(f'h{i}').replace(':', '') for i in (1, 2, 3, 4)]
        out = self.ok(self.client(self.fab, PATHS, *gids)).splitlines()
        self.assertEqual(out[0], '0 0x94 0x35')
        self.assertEqual(sorted(out[1:]), ['path 3 1', 'path 3 2', 'path 4 1', 'path 4 2'])

    def test_an_unknown_gid(self):
        out = self.ok(self.client(self.fab, PATHS, 'fe80' + 14 * '77', self.gid('h1').replace(':', '')))
        self.assertEqual(out.split()[:2], [str(0x500), '0x94'])

    def test_an_alias(self):
        """Set by the SA, an alias is in the port's own tables, and a path leads there."""
        self.assertEqual(self.ok(self.client(self.fab, GUID, 3, 2, 2, '0xabcd')).split(), ['0', '0xabcd'])
        self.assertEqual(self.gid('h3', 2), 'fe80:0000:0000:0000:0000:0000:0000:abcd')
        self.assertIn('0x000000000000abcd', self.ok(self.fab.run('smpquery', 'guidinfo', '3', options=H1)))
        self.assertIn('0x000000000000abcd', self.ok(self.fab.run('saquery', 'GIR', '3', options=H1)))
        out = self.ok(self.fab.run('saquery', '--sgid-to-dgid', f'{self.gid("h1")}-fe80::abcd', options=H1))
        self.assertRegex(out, r'dlid\.+3\n')
        self.assertEqual(self.ok(self.client(self.fab, GUID, 3, 0x15, 2, 0)).split(), ['0', '0x0'])
        self.assertEqual(self.gid('h3', 2), self.gid('h3', 3))

    def test_the_broadcast_group(self):
        out = self.ok(self.fab.run('saquery', '-g', options=H1))
        self.assertRegex(out, r'MGID\.+ff12:401b:ffff::ffff:ffff\n')
        self.assertRegex(out, r'Mlid\.+0xC000\n')


if __name__ == '__main__':
    unittest.main()
