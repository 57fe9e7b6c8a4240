# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock verbs programs on a subnet of three switches whose links come and go."""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, Running, listening, wait_for  # noqa: E402

# h1 -1- S1 -2-1- S2 -2-1- S3 -2-1- h2; LIDs: h1 1, h2 2, S1 to S3 3 to 5.
CHAIN = '''
Switch 8 "S1"
[1] "h1"[1]
[2] "S2"[1]

Switch 8 "S2"
[1] "S1"[2]
[2] "S3"[1]

Switch 8 "S3"
[1] "S2"[2]
[2] "h2"[1]

Hca 1 "h1"
[1] "S1"[1]

Hca 1 "h2"
[1] "S3"[2]
'''
H1, H2 = ('--host', 'h1'), ('--host', 'h2')
MIDDLE = '"S2"[2]', '"S3"[1]'


class Links(Case):
    def setUp(self):
        super().setUp()
        self.topo = tempfile.NamedTemporaryFile('w', suffix='.topo')
        self.topo.write(CHAIN)
        self.topo.flush()
        self.fab = self.enterContext(Fabric('--topo', self.topo.name))

    def tearDown(self):
        self.topo.close()

    def console(self, *lines):
        with tempfile.NamedTemporaryFile('w') as script:
            script.write('\n'.join(lines) + '\n')
            script.flush()
            return self.ok(Running([SOFTHCA, 'console', '--fabric', self.fab.name,
                                    '-s', script.name], env=self.fab.env).finish())

    def unlink(self, port=MIDDLE[0]):
        self.console(f'Unlink {port}')

    def link(self, ends=MIDDLE):
        self.console(f'Link {ends[0]} {ends[1]}')

    def ask(self, *cmd):
        return self.fab.run(*cmd, options=H1)

    def fields(self, *cmd, host=H1):
        return {k: int(v, 0) for k, v in
                re.findall(r'^(\w+):\.*(\w+)$', self.ok(self.fab.run(*cmd, options=host)), re.M)}

    def received(self):
        """The packets that h2 has received. h2 itself asks for them, so that its MADs do not count."""
        return self.fields('perfquery', '-x', '2', '1', host=H2)['PortRcvPkts']

    def start_pair(self, *cmd):
        """Starts a server on h2 and its client on h1, and waits for traffic."""
        Case.port += 1
        cmd = (*cmd, '-p', str(Case.port))
        srv = self.fab.start(*cmd, options=H2)
        self.addCleanup(srv.kill)
        wait_for(lambda: listening(Case.port), 'the server to listen')
        cli = self.fab.start(*cmd, 'localhost', options=H1)
        self.addCleanup(cli.kill)
        wait_for(lambda: self.received() > 4, 'traffic')
        return srv, cli

    def test_latency_over_three_switches(self):
        self.pair(self.fab, ('ib_send_lat', '-n', '200', '-s', '8'), options=(H2, H1))
        # A message is a packet of LRH, BTH, ICRC and 8 octets: 8 words. And a few MADs, and
        # attempts that found no receive posted.
        for lid in ('3', '4', '5'):
            for port in ('1', '2'):
                f = self.fields('perfquery', '-x', lid, port)
                more = f['PortXmitPkts'] - 200
                self.assertIn(more, range(1000), (lid, port))
                self.assertIn(f['PortRcvPkts'] - 200, range(1000), (lid, port))
                self.assertIn(f['PortXmitData'] - 1600, range(more * 72 + 1), (lid, port))
            f = self.fields('perfquery', '-x', lid, '3')
            self.assertEqual((f['PortXmitPkts'], f['PortRcvPkts']), (0, 0))

    def test_bandwidth_over_three_switches(self):
        self.pair(self.fab, ('ib_write_bw', '-n', '500', '-s', '65536', '-m', '2048'),
                  options=(H2, H1))
        f = self.fields('perfquery', '-x', '4', '2')
        # In packets of 2048 octets; the RETH is in the first of each message.
        self.assertGreaterEqual(f['PortXmitPkts'], 500 * 32)
        self.assertGreaterEqual(f['PortXmitData'], 500 * (65536 + 32 * 24 + 16) // 4)

    def fails(self, ends):
        """The end whose turn it was fails; the other end waits for a message that never comes."""
        wait_for(lambda: any(e.proc.poll() is not None for e in ends), 'the end of a run')
        done = [e.finish() for e in ends if e.proc.poll() is not None]
        self.assertNotIn(0, [r.status for r in done])
        self.assertTrue(any('Failed status 12' in r.out for r in done),  # IBV_WC_RETRY_EXC_ERR
                        '\n'.join(map(str, done)))

    def test_a_link_that_stays_down_ends_the_run(self):
        ends = self.start_pair('ib_send_lat', '-e', '-n', '10000000', '-u', '8')
        self.unlink()
        self.fails(ends)
        self.assertEqual(self.fields('perfquery', '4', '2')['LinkDownedCounter'], 1)
        self.assertEqual(self.fields('perfquery', '5', '1', host=H2)['LinkDownedCounter'], 1)
        # The first switch without a path dropped them: the SM has removed the LIDs from its table.
        self.assertGreaterEqual(self.lost(), 8)

    def lost(self):
        """Packets that switches could not send on, on either side of a cut in the middle."""
        n = 0
        for lid, host in (('3', H1), ('4', H1), ('5', H2)):
            f = self.fields('perfquery', '-a', lid, host=host)
            n += f['PortXmitDiscards'] + f['PortRcvSwitchRelayErrors']
        return n

    def survives(self, cut, mend):
        """A run goes on after a cut that is shorter than its time-outs: 7 of 4.096 us << 20."""
        ends = self.start_pair('ib_send_lat', '-e', '-n', '10000000', '-u', '20')
        before = self.lost()
        cut()
        wait_for(lambda: self.lost() > before, 'a packet to be lost')
        arrived = self.received()
        mend()
        wait_for(lambda: self.received() > arrived + 4, 'traffic')
        self.assertEqual([e.proc.poll() for e in ends], [None, None])

    def test_a_link_that_comes_back_in_time(self):
        self.survives(self.unlink, self.link)
        self.assertEqual(self.fields('perfquery', '3', '1')['LinkDownedCounter'], 0)

    def test_ibportstate_takes_the_only_link_away(self):
        ends = self.start_pair('ib_send_lat', '-e', '-n', '10000000', '-u', '8')
        self.ok(self.ask('ibportstate', '4', '2', 'disable'))
        self.fails(ends)

    def test_ibportstate_gives_it_back_in_time(self):
        self.survives(lambda: self.ok(self.ask('ibportstate', '4', '2', 'disable')),
                      lambda: self.ok(self.ask('ibportstate', '4', '2', 'enable')))

    def test_a_port_without_link_shows_the_least_rate(self):
        self.unlink('"h1"[1]')
        out = self.ok(self.ask('sh', '-c', 'ibstat; ibv_devinfo -v; cat /sys/class/infiniband/mlx5_0/ports/1/rate'))
        for want in ('State: Down', 'Rate: 10\n', r'active_width:\s+4X \(2\)', r'active_speed:\s+invalid speed \(0\)',
                     r'10 Gb/sec \(4X SDR\)'):
            self.assertRegex(out, want)

    def watch(self):
        """ibv_asyncwatch on h1; a function that says what it has seen."""
        watch = self.fab.start('stdbuf', '-oL', 'ibv_asyncwatch', options=H1)
        self.addCleanup(watch.kill)

        def text():
            return os.pread(watch.file.fileno(), 1 << 20, 0).decode()
        wait_for(lambda: 'async event FD' in text(), 'it runs')
        return lambda: re.findall(r'IBV_EVENT_(\w+).*port (\d)', text())

    def test_events_of_what_a_manager_sets(self):
        seen = self.watch()
        port = '/sys/class/infiniband/mlx5_0/ports/1/'
        for what, event, file, value in (
                ('pkey', 'PKEY_CHANGE', 'pkeys/3', '0x8123\n'),
                ('guid', 'GID_CHANGE', 'gids/1', 'fe80:0000:0000:0000:0102:0304:0506:0708\n'),
                ('lid', 'LID_CHANGE', 'lid', '0x21\n'),
                ('reregister', 'CLIENT_REREGISTER', 'state', '4: ACTIVE\n')):
            self.ok(self.ask('/usr/bin/python3', '-c', SET, what))
            wait_for(lambda: seen() and seen()[-1] == (event, '1'), event)
            self.assertEqual(self.ok(self.ask('cat', port + file)), value)
        self.assertEqual(len(seen()), 4)

    def test_asynchronous_events(self):
        seen = self.watch()
        self.unlink('"h1"[1]')
        wait_for(lambda: seen() == [('PORT_ERR', '1')], f'PORT_ERR: {seen()}')
        state = 'sed "" /sys/class/infiniband/mlx5_0/ports/1/'
        self.assertEqual(self.ok(self.ask('sh', '-c', state + 'state')), '1: DOWN\n')
        self.assertEqual(self.ok(self.ask('sh', '-c', state + 'phys_state')), '2: Polling\n')
        self.link(('"h1"[1]', '"S1"[1]'))
        wait_for(lambda: seen() and seen()[-1] == ('PORT_ACTIVE', '1'), f'PORT_ACTIVE: {seen()}')
        self.assertEqual(self.ok(self.ask('sh', '-c', state + 'state')), '4: ACTIVE\n')
        n = len(seen())
        self.unlink()  # of others: nobody's business
        self.link()
        self.assertEqual(len(seen()), n)

    def member_hears(self, cut):
        member = self.fab.start('stdbuf', '-oL', 'mckey', '-m', '239.0.0.1', options=H1)
        try:
            member.wait_said('receiving data transfers')
            cut()
            member.wait_said('event: RDMA_CM_EVENT_MULTICAST_ERROR, status: -102')
        finally:
            member.kill()

    def test_multicast_groups_of_a_lost_port(self):
        """A member of a group hears that its port has lost it."""
        self.member_hears(lambda: self.unlink('"h1"[1]'))
        self.link(('"h1"[1]', '"S1"[1]'))
        # From another process.
        self.member_hears(lambda: self.ok(self.fab.run('ibportstate', '1', '1', 'reset', options=H1)))

    def test_counters_are_reset(self):
        self.pair(self.fab, ('ib_write_bw', '-n', '100', '-s', '4096'), options=(H2, H1))
        self.ok(self.ask('perfquery', '-R', '4', '2', '0xf000'))
        f = self.fields('perfquery', '4', '2')
        self.assertLess(f['PortXmitData'], 100 * 1024)
        self.assertGreaterEqual(self.fields('perfquery', '-x', '4', '2')['PortXmitData'],
                                100 * 1024)
        self.ok(self.ask('perfquery', '-x', '-R', '4', '2'))
        self.assertLess(self.fields('perfquery', '-x', '4', '2')['PortXmitData'], 100 * 1024)
        self.assertGreaterEqual(self.fields('perfquery', '-x', '4', '1')['PortRcvData'],
                                100 * 1024)
        # All ports of a switch at once, and one after the other.
        total = self.fields('perfquery', '-a', '4')['PortXmitPkts']
        each = sum(self.fields('perfquery', '4', p)['PortXmitPkts'] for p in ('1', '2'))
        self.assertLess(abs(each - total), 100)
        out = self.ok(self.ask('perfquery', '-a', '-l', '4'))
        for p in range(1, 9):
            self.assertIn(f'Port counters: Lid 4 port {p} ', out)

    def test_ibqueryerrors(self):
        self.assertIn('5 nodes checked, 0 bad nodes found', self.errors())
        self.console('PerformanceSet "S2"[1] PortCounters.SymbolErrorCounter=200')
        self.assertRegex(self.errors(), r'port 1: \[SymbolErrorCounter == 200 ')
        self.assertEqual(self.ask('ibqueryerrors', '-k').status, 1)  # there are some
        self.assertNotIn('SymbolErrorCounter', self.errors())

    def errors(self):
        return self.fab.run('ibqueryerrors', '-r', '-s', 'LinkDownedCounter', options=H1).out

    def test_sysfs_says_what_perfquery_says(self):
        self.pair(self.fab, ('ib_write_bw', '-n', '100', '-s', '4096'), options=(H2, H1))
        files = ('port_xmit_data', 'port_rcv_data', 'port_xmit_packets', 'port_rcv_packets',
                 'unicast_xmit_packets', 'multicast_rcv_packets', 'link_downed', 'port_xmit_wait')
        path = '/sys/class/infiniband/mlx5_0/ports/1/counters/'
        out = self.ok(self.ask('sh', '-c', 'cd %s && sed "" %s' % (path, ' '.join(files))))
        sysfs = dict(zip(files, map(int, out.split())))
        f = self.fields('perfquery', '-x', '1', '1')  # a query of the own port changes no counter
        self.assertEqual(sysfs, {
            'port_xmit_data': f['PortXmitData'], 'port_rcv_data': f['PortRcvData'],
            'port_xmit_packets': f['PortXmitPkts'], 'port_rcv_packets': f['PortRcvPkts'],
            'unicast_xmit_packets': f['PortUnicastXmitPkts'],
            'multicast_rcv_packets': f['PortMulticastRcvPkts'],
            'link_downed': f['LinkDownedCounter'], 'port_xmit_wait': f['PortXmitWait']})
        self.assertGreaterEqual(sysfs['port_xmit_data'], 100 * 1024)
        self.assertIn('state:\t\t 4: ACTIVE', self.ok(self.ask('ibstatus')))


# Sets one attribute of the adapter's own port by a directed-route SMP, as a subnet manager would.
SET = r"""
import fcntl, os, struct, sys
ATTRS = {'guid': (0x14, 0), 'lid': (0x15, 1), 'reregister': (0x15, 1), 'pkey': (0x16, 0)}
attr, mod = ATTRS[sys.argv[1]]
fd = os.open('/dev/infiniband/umad0', os.O_RDWR)
req = bytearray(40)
struct.pack_into('<IIBB', req, 0, 0, 0, 0x81, 1)
fcntl.ioctl(fd, 0xC0281B04, req)

def smp(method, data):
    p = bytearray(320)
    struct.pack_into('<III', p, 0, 0, 0, 1000)
    struct.pack_into('>H', p, 28, 0xffff)
    m = struct.pack('>BBBBHBBQHHIQHH28x', 1, 0x81, 1, method, 0, 0, 0, 1, attr, 0, mod, 0,
                    0xffff, 0xffff)
    p[64:64 + len(m)] = m
    p[64 + 64:64 + 128] = data
    os.write(fd, p)
    r = os.read(fd, 400)
    status = struct.unpack_from('>H', r, 64 + 4)[0] & 0x7fff
    assert not status, hex(status)
    return bytearray(r[128:192])

d = smp(1, bytes(64))
if attr == 0x14:
    d[8:16] = bytes(range(1, 9))
elif attr == 0x16:
    d[6:8] = b'\x81\x23'
else:
    d[32] &= 0xf0   # PortState, PortPhysicalState: no change
    d[33] &= 0x0f
    if sys.argv[1] == 'lid':
        d[16:18] = b'\x00\x21'
    else:
        d[51] |= 0x80
smp(2, d)
"""


if __name__ == '__main__':
    unittest.main()
