# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Interfaces of VLANs on Ethernet ports: programs see and use them, and VLANs do not meet."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from softhca import SOFTHCA, Case, Fabric, Running, TwoHosts, wait_for  # noqa: E402
from test_roce_packets import frame  # noqa: E402

# What libc and netdevice(7) say of an interface.
SHOW = '''
import fcntl, socket, struct, sys
name = sys.argv[1]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
index = socket.if_nametoindex(name)
assert socket.if_indextoname(index) == name and (index, name) in socket.if_nameindex()
q = fcntl.ioctl(s, 0x8915, struct.pack('16s24x', name.encode()))
assert struct.unpack_from('i', fcntl.ioctl(s, 0x8933, struct.pack('16s24x', name.encode())), 16)[0] == index
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
print(index, socket.inet_ntoa(q[20:24]))
'''
# Waits until an interface has come and gone (RTNLGRP_LINK).
MONITOR = '''
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.bind((0, 1))
print('bound')
name = sys.argv[1].encode() + b'\\0'
for kind, text in (16, 'RTM_NEWLINK'), (17, 'RTM_DELLINK'):
    while True:
        m = s.recv(65536)
        if struct.unpack_from('=H', m, 4)[0] == kind and name in m:
            break
    print(text)
'''
# Where the entries of VLANs 100 and 200 begin in a table: link-local v1, v2, IPv4 v1, v2.
FIRST = {100: 4, 200: 8}


class Vlans(TwoHosts):
    FABRIC = ('--hosts', '2', '--link', 'eth')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for n, host in enumerate(cls.names, 1):
            for vlan in FIRST:
                for args in (('add', 'vlan', str(vlan), 'dev', 'rce0'),
                             ('add', f'10.{vlan}.0.{n}', 'dev', f'rce0.{vlan}')):
                    r = cls.change(host, *args)
                    assert (r.status, r.out) == (0, ''), r

    @classmethod
    def change(cls, host, *args):
        return Running([SOFTHCA, 'ip', '--fabric', cls.fab.name, '--host', host, *args], env=cls.fab.env).finish()

    def shown(self, *cmd, host=0):
        return self.ok(self.fab.run(*cmd, options=('--host', self.names[host])))

    def test_programs_see_it(self):
        info, = [i for i in json.loads(self.shown('ip', '-j', '-d', 'link', 'show', 'type', 'vlan'))
                 if i.get('ifname') == 'rce0.100']
        self.assertEqual((info['link'], info['linkinfo']['info_kind'], info['linkinfo']['info_data']['id'],
                          info['mtu']), ('rce0', 'vlan', 100, 1500))
        self.assertEqual(self.shown('python3', '-c', SHOW, 'rce0.100').split(), [str(info['ifindex']), '10.100.0.1'])
        self.assertEqual(self.shown('cat', '/sys/class/net/rce0.100/ifindex').strip(), str(info['ifindex']))
        self.assertEqual(self.shown('cat', '/sys/devices/virtual/net/rce0.200/iflink'),
                         self.shown('cat', '/sys/class/net/rce0/ifindex'))
        self.assertIn('10.200.0.0/24 dev rce0.200', self.shown('ip', 'route'))
        self.assertIn('netdev rce0 ', self.shown('rdma', 'link'))

    def test_the_gid_table_names_it(self):
        ndevs = '/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/'
        for i, name in ((3, 'rce0'), (4, 'rce0.100'), (7, 'rce0.100'), (8, 'rce0.200'), (11, 'rce0.200')):
            self.assertEqual(self.shown('cat', ndevs + str(i)).strip(), name)
        out = self.shown('ibv_devinfo', '-v')
        self.assertRegex(out, r'GID\[ *7\]:\s+::ffff:10.100.0.1, RoCE v2')

    def entry(self, prog, *entries):
        """The program on both hosts, each with its entry of the GID table."""
        return [(prog, '-d', 'mlx5_0', '-n', '20', '-g', str(e)) for e in entries]

    def test_verbs_in_a_vlan(self):
        hosts = [('--host', h) for h in self.names]
        for vlan, first in FIRST.items():
            for g in range(first, first + 4):
                for prog in 'ibv_rc_pingpong', 'ibv_ud_pingpong':
                    with self.subTest((vlan, g, prog)):
                        self.pair(self.fab, *self.entry(prog, g, g), options=hosts)
        self.pair(self.fab, ('ib_send_lat', '-F', '-x', '7', '-n', '20'), options=hosts)

    def test_vlans_do_not_meet(self):
        """With link-local addresses of RoCE v1 nothing but the tag keeps the frames away."""
        port, Case.port = Case.port, Case.port + 1
        one, two = self.entry('ibv_rc_pingpong', 4, 8)
        srv = self.fab.start(*one, '-p', str(port), options=('--host', self.names[0]))
        try:
            wait_for(lambda: f':{port} ' in self.shown('ss', '-Hltn') or srv.ended(), 'the server to listen')
            cli = self.fab.start(*two, '-p', str(port), 'localhost', options=('--host', self.names[1])).finish()
            self.assertEqual(cli.status, 1)
            self.assertIn('transport retry counter exceeded', cli.out)
        finally:
            srv.kill()

    def test_no_route_between_vlans(self):
        r = self.fab.run('rping', '-c', '-a', '10.200.0.1', '-I', '10.100.0.2', '-C', '1',
                         options=('--host', self.names[1]))
        self.assertNotEqual(r.status, 0)
        self.assertRegex(r.out, 'RDMA_CM_EVENT_ADDR_ERROR|cma event.*error|rdma_resolve_addr')

    def cm(self, server, client):
        port, Case.port = Case.port, Case.port + 1
        self.talk((*server, '-p', str(port)), (*client, '-p', str(port)), lambda: self.listens(port))

    def test_rdma_cm_in_a_vlan(self):
        for address in '10.100.0.1', '10.200.0.1':
            with self.subTest(address):
                self.cm(('rping', '-s', '-a', address, '-C', '3', '-V'), ('rping', '-c', '-a', address, '-C', '3', '-V'))
        self.cm(('ucmatose', '-c', '5'), ('ucmatose', '-c', '5', '-s', '10.200.0.1'))
        # Its -p is a port space; the port is always 7174.
        self.talk(('udaddy', '-c', '5'), ('udaddy', '-c', '5', '-s', '10.100.0.1'), lambda: self.listens(7174))

    @unittest.skipUnless(shutil.which('tshark'), 'tshark is not installed')
    def test_captures_have_the_tag(self):
        with tempfile.TemporaryDirectory(prefix='softhca-vlan.') as d:
            name = os.path.join(d, 'c.pcap')
            cap = Running([SOFTHCA, 'pcap', '--fabric', self.fab.name, '--live', '-o', name], env=self.fab.env)
            try:
                wait_for(lambda: os.path.exists(name) and os.path.getsize(name) or cap.ended(), 'the capture')
                self.cm(('rping', '-s', '-a', '10.100.0.1', '-C', '2'), ('rping', '-c', '-a', '10.100.0.1', '-C', '2'))
                for g in 4, 5:
                    self.pair(self.fab, (*self.entry('ibv_rc_pingpong', g)[0], '-n', '3'),
                              options=[('--host', h) for h in self.names])
                os.kill(cap.proc.pid, signal.SIGINT)
                self.ok(cap.finish())
            finally:
                if not cap.file.closed:
                    cap.kill()
            with open(name, 'rb') as f:
                data = f.read()
            at, kinds = 24, set()
            while at < len(data):
                b = data[at + 16:at + 16 + struct.unpack_from('=I', data, at + 8)[0]]
                self.assertEqual(struct.unpack_from('!HH', b, 12), (0x8100, 100))
                kinds.add(frame(b[:12] + b[16:]).type)  # checks lengths and the invariant CRC
                at += 16 + len(b)
            self.assertEqual(kinds, {0x8915, 0x0800, 0x86dd})
            out = subprocess.run(['tshark', '-r', name, '-V', '-o', 'udp.ignore_ipv6_zero_checksum:TRUE'],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
            self.assertIn('802.1Q Virtual LAN, PRI: 0, DEI: 0, ID: 100', out)
            self.assertIn('ConnectRequest', out)
            self.assertNotIn('Malformed', out)

    def test_it_comes_and_goes(self):
        monitor = self.fab.start('python3', '-uc', MONITOR, 'rce0.7', options=('--host', self.names[1]))
        try:
            monitor.wait_said('bound')
            self.assertEqual(self.ok(self.change(self.names[1], 'add', 'vlan', '7')), '')
            monitor.wait_said('RTM_NEWLINK')
            self.assertIn('rce0.7', self.shown('ls', '/sys/class/net', host=1))
            self.assertEqual(self.ok(self.change(self.names[1], 'del', 'vlan', '7', 'dev', 'rce0')), '')
            self.ok(monitor.finish())
        finally:
            monitor.kill()
        self.assertNotIn('rce0.7', self.shown('ls', '/sys/class/net', host=1))
        self.assertNotIn('rce0.7', self.shown('ip', 'link', host=1))
        self.assertIn('rce0.200', self.shown('ip', 'link', host=1))

    def test_the_topology_says_it(self):
        out = self.fab.softhca('topo', '--fabric', self.fab.name)
        lines = re.findall('^#ip.*', out, re.M)
        self.assertEqual(lines, [f'#ip[1.{v}]\t10.{v}.0.{n}/24' for n in (1, 2) for v in FIRST])
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(out)
            f.flush()
            with Fabric('--topo', f.name) as fab:
                self.assertIn('10.200.0.1/24', self.ok(fab.run('ip', 'addr', 'show', 'dev', 'rce0.200')))

    def test_refusals(self):
        for args, why in ((('add', 'vlan', '100'), 'the interface has VLAN 100 already'),
                          (('del', 'vlan', '5'), 'the interface does not have VLAN 5'),
                          (('add', 'vlan', '4095'), "'4095' is not the id of a VLAN, 1 to 4094"),
                          (('add', 'vlan', '0'), "'0' is not the id of a VLAN, 1 to 4094"),
                          (('add', 'vlan'), 'the id of the VLAN is missing'),
                          (('add', '10.100.0.9', 'dev', 'rce0.5'), 'has no interface rce0.5'),
                          (('add', '10.200.0.1', 'dev', 'rce0.100'), 'an interface of the fabric has 10.200.0.1 already'),
                          (('add', 'vlan', '5', 'dev', 'rce0.100'), "only an Ethernet port's own interface has VLANs")):
            with self.subTest(args):
                r = self.change(self.names[0], *args)
                self.assertEqual((r.status, r.out.count('\n')), (2, 1), r)
                self.assertIn(why, r.out)


class InfiniBand(TwoHosts):
    def test_it_has_none(self):
        r = Running([SOFTHCA, 'ip', '--fabric', self.fab.name, 'add', 'vlan', '5'], env=self.fab.env).finish()
        self.assertEqual(r.status, 2, r)
        self.assertIn("only an Ethernet port's own interface has VLANs", r.out)


def kernel_has(*args):
    return not subprocess.run(['unshare', *(['-Ur'] if os.geteuid() else []), '-n', 'sh', '-c', ' && '.join(args)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


VETH = 'ip link add br7 type bridge && ip link add ve7 type veth peer name ve8'


@unittest.skipUnless(kernel_has(VETH), 'this machine refuses network namespaces')
class Namespaces(Case):
    """The kernel's VLAN, or a refusal that leaves nothing behind."""

    def test_the_kernels_interface(self):
        with Fabric('--hosts', '1', '--netns', '--link', 'eth') as fab:
            self.ok(fab.run('true'))

            def change(*args):
                return Running([SOFTHCA, 'ip', '--fabric', fab.name, *args], env=fab.env).finish()

            r = change('add', 'vlan', '30')
            if kernel_has(VETH, 'ip link add link ve7 name ve7.5 type vlan id 5'):
                self.assertEqual((r.status, r.out), (0, ''))
                self.assertEqual(self.ok(change('add', '10.30.0.1', 'dev', 'rce0.30')), '')
                self.assertIn('10.30.0.1/24', self.ok(fab.run('ip', 'addr', 'show', 'dev', 'rce0.30')))
                self.assertEqual(self.ok(change('del', 'vlan', '30')), '')
            else:
                self.assertEqual((r.status, 'kernel must have them with --netns' in r.out), (2, True), r)
            self.assertNotIn('rce0.30', self.ok(fab.run('ip', 'link')))
            self.assertNotIn('vlan', fab.softhca('topo', '--fabric', fab.name))
            self.assertNotIn('rce0.30', self.ok(fab.run('sh', '-c', 'cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/*')))


if __name__ == '__main__':
    unittest.main(verbosity=2)
