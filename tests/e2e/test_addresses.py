# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hosts with addresses that the user gives, by --ip and in a topology: programs see and reach them."""
import json
import os
import re
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, Running, TwoHosts, wait_for  # noqa: E402

TOPOLOGY = '''Switch 2 "S"
[1] "A"
[2] "B"
Ca 1 "A" # "h1 x"
[1] "S"[1]
#ip[1] 10.0.0.1/8,fd00::1
Ca 1 "B" # "h2 x"
[1] "S"[2]
#ip[1] 10.200.0.2/8,fd00::2/64
'''

RETRY_EXC = 'Failed status 12'  # as perftest says IBV_WC_RETRY_EXC_ERR

# What an interface says of itself: the address and the mask that SIOCGIFADDR and SIOCGIFNETMASK give.
SHOW = '''
import fcntl, socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for cmd in 0x8915, 0x891b:
    q = fcntl.ioctl(s, cmd, struct.pack('16s24x', sys.argv[1].encode()))
    print(socket.inet_ntoa(q[20:24]))
'''


# The addresses of an interface by getifaddrs() and by SIOCGIFCONF.
LISTS = '''
import array, ctypes, fcntl, socket, struct, sys
class Ifaddrs(ctypes.Structure):
    pass
Ifaddrs._fields_ = [('next', ctypes.POINTER(Ifaddrs)), ('name', ctypes.c_char_p), ('flags', ctypes.c_uint),
                    ('addr', ctypes.c_void_p)]
libc = ctypes.CDLL(None)
first = ctypes.POINTER(Ifaddrs)()
libc.getifaddrs(ctypes.byref(first))
i, found = first, []
while i:
    i, a = i.contents.next, i.contents
    family = ctypes.c_ushort.from_address(a.addr).value if a.addr else 0
    if a.name.decode() == sys.argv[1] and family == socket.AF_INET:
        found.append(socket.inet_ntoa(ctypes.string_at(a.addr + 4, 4)))
    if a.name.decode() == sys.argv[1] and family == socket.AF_INET6:
        found.append(socket.inet_ntop(family, ctypes.string_at(a.addr + 8, 16)))
libc.freeifaddrs(first)
print(*(f for f in found if not f.startswith('fe80')))
buf = array.array('B', bytes(4096))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
q = fcntl.ioctl(s, 0x8912, struct.pack('iP', len(buf), buf.buffer_info()[0]))
n = struct.unpack('iP', q)[0]
rows = [bytes(buf[k:k + 40]) for k in range(0, n, 40)]
print(*(socket.inet_ntoa(r[20:24]) for r in rows if r[:16].rstrip(bytes(1)).decode() == sys.argv[1]))
'''


# What a socket that has joined groups of NETLINK_ROUTE hears of an interface.
LISTEN = '''
import select, socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.bind((0, 1 << 0 | 1 << 4))
s.setsockopt(270, 1, 9)
print('ready', flush=True)
while True:
    select.select([s], [], [])
    data, (pid, groups) = s.recvfrom(4096)
    size, kind, flags, seq, portid = struct.unpack_from('=IHHII', data)
    index, = struct.unpack_from('=I', data, 20)
    if index != int(sys.argv[1]):
        continue
    at, found = (24, 1) if kind >= 20 else (32, 3)
    while at < size:
        n, attr = struct.unpack_from('=HH', data, at)
        if attr == found:
            value = data[at + 4:at + n]
            break
        at += n + 3 & ~3
    if kind >= 20:
        value = socket.inet_ntop(data[16], value)
    else:
        value = value[:-1].decode() + ('+' if data[24] & 64 else '-')
    print(kind, groups, pid, portid, seq, size == len(data), value, flush=True)
'''


class Reached:
    """
    Tests for hosts that got their addresses in different ways: h1 has 10.0.0.1 and fd00::1; h2 is in
    the same subnets.
    """

    def rping(self, address):
        p = Case.port
        Case.port += 1
        cmd = ('-a', address, '-p', str(p), '-C', '5', '-V')
        self.talk(('rping', '-s', *cmd), ('rping', '-c', *cmd), lambda: self.listens(p))

    def test_ipv4(self):
        self.rping('10.0.0.1')

    def test_ipv6(self):
        self.rping('fd00::1')

    def test_an_address_that_nobody_has(self):
        r = self.fab.run('rping', '-c', '-a', '10.0.0.77', '-C', '1')
        self.assertNotEqual(r.status, 0)
        self.assertIn('RDMA_CM_EVENT_ADDR_ERROR', r.out)

    def test_the_interface_says_it(self):
        out = self.ok(self.fab.run('python3', '-c', SHOW, 'ib0'))
        self.assertEqual(out.split(), ['10.0.0.1', self.mask])

    def test_the_topology_says_it(self):
        out = self.fab.softhca('topo', '--fabric', self.fab.name)
        self.assertEqual(re.findall('^#ip.*', out, re.M), self.lines)


class Given(Reached, TwoHosts):
    mask = '255.255.255.0'
    lines = ['#ip[1]\t10.0.0.1/24,fd00::1/64', '#ip[1]\t10.0.0.2/24,fd00::2/64']

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--topo', 'star:2', '--ip', 'h1=10.0.0.1,fd00::1', '--ip',
                         'h2=10.0.0.2/24,fd00::2/64')
        cls.fab.__enter__()
        cls.names = ['h1', 'h2']


class InATopology(Reached, TwoHosts):
    mask = '255.0.0.0'
    lines = ['#ip[1]\t10.0.0.1/8,fd00::1/64', '#ip[1]\t10.200.0.2/8,fd00::2/64']

    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(TOPOLOGY)
            f.flush()
            cls.fab = Fabric('--topo', f.name)
            cls.fab.__enter__()
        cls.names = ['h1', 'h2']


class Changed(TwoHosts):
    """softhca ip, while programs run."""
    FABRIC = ('--hosts', '2', '--link', 'eth')
    DEV = 'rce0'

    def ip(self, *args, host=0):
        return Running([SOFTHCA, 'ip', '--fabric', self.fab.name, '--host', self.names[host], *args],
                       env=self.fab.env).finish()

    def has(self, address, host=0):
        """The host has this address until the end of the test."""
        self.assertEqual(self.ok(self.ip('add', address, 'dev', self.DEV, host=host)), '')
        self.addCleanup(self.ip, 'del', address, 'dev', self.DEV, host=host)

    def lost(self, address, host=0):
        self.assertEqual(self.ok(self.ip('del', address, 'dev', self.DEV, host=host)), '')

    def shown(self, *cmd, host=0):
        return self.ok(self.fab.run(*cmd, options=('--host', self.names[host])))


class ComeAndGo(Changed):
    """Tests with Ethernet interfaces; a class below has InfiniBand."""

    def addresses(self):
        """As netlink, getifaddrs() and SIOCGIFCONF list them."""
        info, = json.loads(self.shown('ip', '-j', 'addr', 'show', 'dev', self.DEV))
        out = [f"{a['local']}/{a['prefixlen']}" for a in info['addr_info'] if a['scope'] != 'link']
        both = self.shown('python3', '-c', LISTS, self.DEV).split('\n')
        self.assertEqual(sorted(both[0].split()), sorted(a.split('/')[0] for a in out))
        self.assertEqual(both[1].split(), [a.split('/')[0] for a in out if ':' not in a])
        return out

    def rping(self, address):
        p = Case.port
        Case.port += 1
        cmd = ('-a', address, '-p', str(p), '-C', '5', '-V')
        self.talk(('rping', '-s', *cmd), ('rping', '-c', *cmd), lambda: self.listens(p))

    def test_programs_list_it(self):
        self.assertEqual(self.addresses(), ['127.1.0.1/16'])
        self.has('10.1.0.1')
        self.has('10.2.0.1/16')
        self.has('10.1.0.9/24')
        self.has('fd00::1')
        self.assertEqual(self.addresses(), ['127.1.0.1/16', '10.1.0.1/24', '10.2.0.1/16', '10.1.0.9/24',
                                            'fd00::1/64'])
        flags = {a['local']: a.get('secondary', False) for a in json.loads(
            self.shown('ip', '-j', 'addr', 'show', 'dev', self.DEV))[0]['addr_info']}
        self.assertEqual([a for a in flags if flags[a]], ['10.1.0.9'])
        self.assertIn('10.1.0.0/24 proto kernel scope link src 10.1.0.1',
                      self.shown('ip', 'route', 'show', 'dev', self.DEV))
        self.lost('10.1.0.1')  # its secondary address goes with it
        self.lost('127.1.0.1/16')
        self.addCleanup(self.ip, 'add', '127.1.0.1/16')
        self.assertEqual(self.addresses(), ['10.2.0.1/16', 'fd00::1/64'])

    def test_the_topology_says_it(self):
        self.has('10.1.0.1')
        self.has('10.2.0.1/16')
        self.has('fd00::1', host=1)
        out = self.fab.softhca('topo', '--fabric', self.fab.name)
        self.assertEqual(re.findall('^#ip.*', out, re.M),
                         ['#ip[1]\t127.1.0.1/16,10.1.0.1/24,10.2.0.1/16', '#ip[1]\tfd00::1/64'])
        self.reads_back(out)

    def reads_back(self, out):
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(out)
            f.flush()
            again = Running([SOFTHCA, 'topo', f.name], env=self.fab.env).finish()
        self.assertEqual(re.findall('^#ip.*', self.ok(again), re.M), re.findall('^#ip.*', out, re.M))

    def test_the_topology_knows_that_an_address_is_gone(self):
        self.lost('127.1.0.1')
        self.addCleanup(self.ip, 'add', '127.1.0.1/16')
        out = self.fab.softhca('topo', '--fabric', self.fab.name)
        self.assertEqual(re.findall('^#ip.*', out, re.M), ['#ip[1]\tnone'])
        self.reads_back(out)
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(out)
            f.flush()
            with Fabric('--topo', f.name, '--link', self.fab_link()) as fab:
                got = self.ok(fab.run('ip', '-j', '-4', 'addr', 'show', 'dev', self.DEV))
                self.assertEqual(json.loads(got or '[]'), [])

    def fab_link(self):
        return self.FABRIC[self.FABRIC.index('--link') + 1] if '--link' in self.FABRIC else 'ib'

    def test_rdma_cm_reaches_it(self):
        self.has('10.1.0.1')
        self.has('10.1.0.2', host=1)
        self.has('fd00::1')
        self.has('fd00::2', host=1)
        self.rping('10.1.0.1')
        self.rping('fd00::1')

    def test_rdma_cm_and_an_address_that_is_gone(self):
        """
        cma.c: an id keeps the address that it is bound to, and hears nothing. A new id cannot bind to
        the address.
        """
        self.has('10.1.0.1')
        self.has('10.1.0.2', host=1)
        p, Case.port = Case.port, Case.port + 1
        srv = self.fab.start('rping', '-s', '-a', '10.1.0.1', '-p', str(p), options=('--host', self.names[0]))
        try:
            wait_for(lambda: self.listens(p) or srv.ended(), 'rping to listen')
            self.lost('10.1.0.1')
            self.assertTrue(self.listens(p))
            r = self.fab.run('rping', '-c', '-a', '10.1.0.1', '-p', str(p), options=('--host', self.names[1]))
            self.assertIn('RDMA_CM_EVENT_ADDR_ERROR', r.out)
            r = self.fab.run('rping', '-s', '-a', '10.1.0.1', '-p', str(p + 1), options=('--host', self.names[0]))
            self.assertIn('rdma_bind_addr: Cannot assign requested address', r.out)
            self.assertFalse(srv.ended())
        finally:
            srv.kill()

    def ids(self, state):
        return [i for i in self.status(self.fab)['cm_ids'] if i['state'] == state]

    def test_a_connection_whose_address_is_gone(self):
        """
        On Ethernet the address's GID goes with it, and nothing that an id sends from that GID arrives
        (del_gid()).
        """
        self.has('10.1.0.1')
        self.has('10.1.0.2', host=1)
        p, Case.port = Case.port, Case.port + 1
        cmd = ('-a', '10.1.0.1', '-p', str(p))
        srv = self.fab.start('rping', '-s', '-P', *cmd, options=('--host', self.names[0]))
        self.addCleanup(srv.kill)
        wait_for(lambda: self.listens(p) or srv.ended(), 'rping to listen')
        client = self.fab.start('rping', '-c', *cmd, options=('--host', self.names[1]))
        self.addCleanup(client.kill)
        wait_for(lambda: len(self.ids('CONNECT')) == 2 or client.ended(), 'the connection')
        pid, = {i['pid'] for i in self.ids('CONNECT')} - {i['pid'] for i in self.ids('LISTEN')}
        os.kill(pid, signal.SIGSTOP)
        self.lost('10.1.0.2', host=1)
        self.assertEqual(len(self.ids('CONNECT')), 2)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not [i for i in self.status(self.fab)['cm_ids'] if i['pid'] == pid], 'the id to go')
        self.assertEqual(len(self.ids('CONNECT')), self.fab_link() == 'eth')  # on Ethernet no DREQ has arrived
        srv.kill()
        wait_for(lambda: not any(self.status(self.fab)['rdma_cm'].values()), 'rdma_cm to have nothing left')

    def test_sockets_that_have_joined_hear_it(self):
        """RTM_NEWADDR, RTM_DELADDR, RTM_NEWLINK, from the kernel and to a group."""
        index = json.loads(self.shown('ip', '-j', 'link', 'show', self.DEV))[0]['ifindex']
        link = ('link', '--fabric', self.fab.name, '--host', self.names[0], 'mlx5_0', '1')
        up, new, gone = '16 1 0 0 0 True ', '20 {} 0 0 0 True ', '21 {} 0 0 0 True '
        ip4, ip6 = 1 << 4, 1 << 8
        listener = self.fab.start('python3', '-c', LISTEN, str(index), options=('--host', self.names[0]))
        self.addCleanup(listener.kill)
        listener.wait_said('ready\n')
        for change, want in (
                (lambda: self.has('10.1.0.1'), new.format(ip4) + '10.1.0.1'),
                (lambda: self.has('fd00::1'), new.format(ip6) + 'fd00::1'),
                (lambda: self.lost('10.1.0.1'), gone.format(ip4) + '10.1.0.1'),
                (lambda: self.fab.softhca(*link, 'down'), up + self.DEV + '-'),
                (lambda: self.fab.softhca(*link, 'up'), up + self.DEV + '+'),
                (lambda: self.lost('127.1.0.1'), gone.format(ip4) + '127.1.0.1'),
                (lambda: self.ok(self.ip('add', '127.1.0.1')), new.format(ip4) + '127.1.0.1')):
            before = listener.said()
            change()
            listener.wait_said(before + want + '\n')

    def test_refused(self):
        self.has('10.1.0.1', host=1)
        for args, why in ((('add', '10.1.0.1'), 'an interface of the fabric has 10.1.0.1 already'),
                          (('add', '127.1.0.1'), 'an interface of the fabric has 127.1.0.1 already'),
                          (('add', '127.0.0.5'), 'an interface cannot have 127.0.0.5'),
                          (('add', 'fe80::9'), 'an interface cannot have fe80::9'),
                          (('del', 'fe80::9'), 'an interface cannot lose fe80::9'),
                          (('del', '10.1.0.1'), 'the interface does not have 10.1.0.1'),
                          (('del', '127.1.0.1/8'), 'the interface does not have 127.1.0.1/8'),
                          (('add', '10.1.0'), "'10.1.0' is not ADDRESS[/PREFIX]"),
                          (('add', '10.1.0.1/40'), "'10.1.0.1/40' is not ADDRESS[/PREFIX]"),
                          (('set', '10.1.0.1'), "'set' is neither 'add' nor 'del'"),
                          (('add', '10.1.0.5', 'eth0'), "'eth0' is not 'dev'"),
                          (('add', '10.1.0.5', 'dev'), 'the name of the interface is missing'),
                          (('add', '10.1.0.5', 'dev', 'x0'), f'host {self.names[0]} has no interface x0')):
            r = self.ip(*args)
            self.assertEqual((r.status, r.out), (2, f'softhca: ip: {why}\n'), args)
        for n in range(8):
            self.has(f'10.{n + 2}.0.1')
        r = self.ip('add', '10.20.0.1')
        self.assertEqual((r.status, r.out), (2, 'softhca: ip: the interface has too many addresses\n'))


class ComeAndGoIB(ComeAndGo):
    FABRIC = ('--topo', 'star:2')
    DEV = 'ib0'


class Gids(Changed):
    """The GIDs of an Ethernet port follow its addresses."""
    PORT = '/sys/class/infiniband/mlx5_0/ports/1/'

    def gids(self):
        """{entry: (address, type)} of the GIDs that are IPv4 addresses."""
        out = self.shown('sh', '-c', f'cd {self.PORT}; for i in $(seq 0 15); do '
                         'echo $i $(cat gids/$i) $(cat gid_attrs/ndevs/$i) $(cat gid_attrs/types/$i); done')
        rows = re.findall(r'^(\d+) 0000:0000:0000:0000:0000:ffff:(\w\w)(\w\w):(\w\w)(\w\w) rce0 (.*)$', out, re.M)
        return {int(i): ('.'.join(str(int(x, 16)) for x in ip), t[-2:]) for i, *ip, t in rows}

    def events(self, watcher):
        return re.findall(r'event_type (.*), port 1', watcher.said())

    def test_entries_and_events(self):
        watcher = self.fab.start('stdbuf', '-oL', 'ibv_asyncwatch', options=('--host', self.names[0]))
        self.addCleanup(watcher.kill)
        watcher.wait_said('async event FD')
        both = {2: ('127.1.0.1', 'v1'), 3: ('127.1.0.1', 'v2')}
        self.assertEqual(self.gids(), both)
        self.has('10.1.0.1')
        self.has('10.2.0.1')
        two = {6: ('10.2.0.1', 'v1'), 7: ('10.2.0.1', 'v2')}
        self.assertEqual(self.gids(), {**both, 4: ('10.1.0.1', 'v1'), 5: ('10.1.0.1', 'v2'), **two})
        self.lost('10.1.0.1')
        self.assertEqual(self.gids(), {**both, **two})
        wait_for(lambda: len(self.events(watcher)) >= 6, 'the events')
        self.has('10.3.0.1')
        self.assertEqual(self.gids(), {**both, 4: ('10.3.0.1', 'v1'), 5: ('10.3.0.1', 'v2'), **two})
        wait_for(lambda: len(self.events(watcher)) >= 8, 'the events')
        self.assertEqual(self.events(watcher), 8 * ['IBV_EVENT_GID_CHANGE (18)'])

    def test_traffic_by_a_new_entry_and_without_it(self):
        """
        Without the address the QP's packets have no source. Its entry is not used again while the QP
        exists.
        """
        self.has('10.1.0.1')
        self.has('10.1.0.2', host=1)
        pair = self.endless(self.fab, 'ib_write_bw', '-x', '5', options=(('--host', self.names[0]),
                                                                         ('--host', self.names[1])))
        try:
            self.moves(self.fab)
            os.killpg(pair[0].proc.pid, signal.SIGSTOP)  # its QP stays
            self.lost('10.1.0.1')
            pair[1].wait_said(RETRY_EXC)
            self.has('10.1.0.3')
            self.assertEqual(self.gids(), {2: ('127.1.0.1', 'v1'), 3: ('127.1.0.1', 'v2'),
                                           4: ('10.1.0.3', 'v1'), 6: ('10.1.0.3', 'v2')})
        finally:
            for r in pair:
                r.kill()

    def test_an_interface_goes_down(self):
        watcher = self.fab.start('stdbuf', '-oL', 'ibv_asyncwatch', options=('--host', self.names[0]))
        self.addCleanup(watcher.kill)
        watcher.wait_said('async event FD')
        pair = self.endless(self.fab, 'ib_write_bw', '-x', '3', options=(('--host', self.names[0]),
                                                                         ('--host', self.names[1])))
        link = ('link', '--fabric', self.fab.name, '--host', self.names[0], 'mlx5_0', '1')
        try:
            self.moves(self.fab)
            self.fab.softhca(*link, 'down')
            self.addCleanup(self.fab.softhca, *link, 'up')
            self.assertIn('DOWN', self.shown('cat', self.PORT + 'state'))
            self.assertEqual(self.gids(), {2: ('127.1.0.1', 'v1'), 3: ('127.1.0.1', 'v2')})
            pair[1].wait_said(RETRY_EXC)
            wait_for(lambda: self.events(watcher), 'the event')
            self.fab.softhca(*link, 'up')
            wait_for(lambda: len(self.events(watcher)) > 1, 'the event')
            self.assertEqual(self.events(watcher), ['IBV_EVENT_PORT_ERR (10)', 'IBV_EVENT_PORT_ACTIVE (9)'])
        finally:
            for r in pair:
                r.kill()


class Options(Case):
    def softhca(self, *args):
        return Running([SOFTHCA, *args]).finish()

    def shown(self, *options, iface='ib0'):
        r = self.softhca('run', *options, '--', 'python3', '-c', SHOW, iface)
        return self.ok(r).split()

    def test_a_second_interface(self):
        given = ('--hca', '2', '--ip', 'h1=10.0.0.1,fd00::1,10.1.0.1/16')
        self.assertEqual(self.shown(*given), ['10.0.0.1', '255.255.255.0'])
        self.assertEqual(self.shown(*given, iface='ib1'), ['10.1.0.1', '255.255.0.0'])

    def test_the_option_wins(self):
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(TOPOLOGY)
            f.flush()
            self.assertEqual(self.shown('--topo', f.name, '--ip', 'h1=10.3.0.1/30'),
                             ['10.3.0.1', '255.255.255.252'])

    def test_without(self):
        self.assertEqual(self.shown('--ip', 'h1=fd00::1'), ['127.1.0.1', '255.255.0.0'])

    def test_refused(self):
        form = "--ip: '{}' is not HOST=ADDRESS[/PREFIX],..."
        for args, why in ((['h1'], form.format('h1')), (['h1='], form.format('h1=')),
                          (['=10.0.0.1'], form.format('=10.0.0.1')),
                          (['h1=10.0.0'], form.format('h1=10.0.0')),
                          (['h1=10.0.0.1/33'], form.format('h1=10.0.0.1/33')),
                          (['h1=fd00::1/0'], form.format('h1=fd00::1/0')),
                          (['h1=10.0.0.1,'], form.format('h1=10.0.0.1,')),
                          (['h9=10.0.0.1'], "--ip: there is no host 'h9'"),
                          (['h1=10.0.0.1,10.0.0.2'], "--ip: host 'h1' has no interface ib1"),
                          (['h1=fd00::1,fd00::2'], "--ip: host 'h1' has no interface ib1"),
                          (['h1=127.0.0.1'], '--ip: an interface cannot have 127.0.0.1/16'),
                          (['h1=224.0.0.1'], '--ip: an interface cannot have 224.0.0.1/24'),
                          (['h1=fe80::1'], '--ip: an interface cannot have fe80::1/64'),
                          (['h1=::1'], '--ip: an interface cannot have ::1/64'),
                          (['h1=127.1.0.2'], '--ip: another interface has 127.1.0.2'),
                          (['h1=10.0.0.1', 'h2=10.0.0.1'], '--ip: another interface has 10.0.0.1'),
                          (['h1=fd00::1', 'h2=fd00::1'], '--ip: another interface has fd00::1')):
            given = [a for x in args for a in ('--ip', x)]
            r = self.softhca('run', '--topo', 'star:2', *given, '--', 'true')
            self.assertEqual((r.status, r.out), (2, f'softhca: run: {why}\n'), args)

    def test_a_fabric_that_is_up_has_its_own(self):
        r = self.softhca('run', '--fabric', 'x', '--ip', 'h1=10.0.0.1', '--', 'true')
        self.assertEqual(r.status, 2)
        self.assertIn('--ip would describe a new fabric', r.out)

    def test_refused_in_a_topology(self):
        for old, new, why in (('10.200.0.2/8', '10.0.0.1', '{}:9:8: another port has the address '
                               '10.0.0.1'),
                              ('10.200.0.2/8', '127.1.0.1', None),
                              ('10.200.0.2/8', '127.0.0.1',
                               '--topo: an interface cannot have 127.0.0.1/16'),
                              ('#ip[1] 10.200', '#ip[2] 10.200',
                               "{}:9:5: the port's number is 2: it must be from 1 to 1")):
            with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
                f.write(TOPOLOGY.replace(old, new))
                f.flush()
                r = self.softhca('run', '--topo', f.name, '--', 'true')
                if why:
                    self.assertEqual(r.status, 2)
                    self.assertIn(why.format(f.name), r.out)
                else:  # h1 has another address, so nobody else has this one
                    self.ok(r)


if __name__ == '__main__':
    unittest.main()
