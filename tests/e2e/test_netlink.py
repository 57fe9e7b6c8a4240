# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""iproute2's rdma, over NETLINK_RDMA: it prints what `softhca status` says, with objects alive.
iproute2's ip, over NETLINK_ROUTE: it shows the host's interfaces beside the machine's."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, wait_for  # noqa: E402

ADDR = '127.1.0.1'
# As libibverbs uses libnl: a cache, filled twice, and one link.
LIBNL = '''
import ctypes
nl, route, p = ctypes.CDLL('libnl-3.so.200'), ctypes.CDLL('libnl-route-3.so.200'), ctypes.c_void_p
nl.nl_socket_alloc.restype = p
s, links, addrs, link = p(nl.nl_socket_alloc()), p(), p(), p()
assert nl.nl_connect(s, 0) == 0
assert route.rtnl_link_alloc_cache(s, 0, ctypes.byref(links)) == 0
index = route.rtnl_link_name2i(links, b'ib0')
assert route.rtnl_addr_alloc_cache(s, ctypes.byref(addrs)) == 0
assert route.rtnl_link_get_kernel(s, index, None, ctypes.byref(link)) == 0
assert nl.nl_cache_refill(s, links) == 0
print(index, route.rtnl_link_get_arptype(link), route.rtnl_link_get_mtu(link),
      route.rtnl_link_name2i(links, b'ib0'), route.rtnl_link_name2i(links, b'lo'), nl.nl_cache_nitems(addrs))
'''


@unittest.skipUnless(shutil.which('rdma'), 'no rdma of iproute2')
class Netlink(Case):
    FABRIC = ('--topo', 'star:2')

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(*cls.FABRIC)
        cls.fab.__enter__()
        cls.host = cls.status()['hosts'][0]

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    @classmethod
    def status(cls):
        return json.loads(cls.fab.softhca('status', '-j', cls.fab.name))

    def run_there(self, *cmd, host=None):
        p = self.fab.start(*cmd, options=('--host', host or self.host['name']))
        try:
            return p.finish()
        finally:
            p.kill()

    def rdma(self, *args, host=None):
        p = self.run_there('rdma', '-d', '-j', *args, host=host)
        self.assertEqual(p.status, 0, str(p))
        out = p.out.strip()
        return json.loads(out) if out else []

    def test_devices_and_ports(self):
        hca = self.host['hcas'][0]
        dev, = self.rdma('dev', 'show')
        self.assertEqual((dev['ifname'], dev['node_guid']), (hca['name'], hca['node_guid']))
        link, = self.rdma('link', 'show')
        port = hca['ports'][0]
        for key in ('port', 'lid', 'sm_lid', 'state'):
            self.assertEqual(link.get(key), port.get(key), key)
        self.assertEqual(link['ifname'], hca['name'])
        # fill_port_info(): an adapter without get_netdev(), as IPoIB's are
        self.assertEqual(link.get('netdev'), port['netdev'] if port['link_layer'] == 'Ethernet' else None)
        self.assertEqual(link['physical_state'].replace('_', '').lower(), port['phys_state'].lower())

    def test_system(self):
        p = self.run_there('rdma', 'system', 'show')
        words = p.out.split()
        fields = dict(zip(words[::2], words[1::2]))
        self.assertEqual((p.status, fields.pop('netns'), fields.pop('copy-on-fork')), (0, 'shared', 'on'), str(p))
        # Later releases of rdma show off where the kernel, as 6.1, has no such field.
        self.assertEqual(set(fields.values()) - {'off'}, set(), str(p))

    def test_statistics(self):
        stat, = self.rdma('statistic', 'show')
        self.assertIn('rx_write_requests', stat)

    def test_discovery_agrees_with_sysfs(self):
        p = self.run_there('ibv_devinfo')
        self.assertEqual(p.status, 0, str(p))
        self.assertEqual(re.findall(r'hca_id:\s*(\S+)', p.out),
                         [h['name'] for h in self.host['hcas']])
        p = self.run_there('ls', '/sys/class/infiniband')
        self.assertEqual(p.out.split(), [d['ifname'] for d in self.rdma('dev', 'show')])

    def test_nothing_can_be_changed(self):
        for args in (('dev', 'set', 'mlx5_0', 'name', 'x'), ('system', 'set', 'netns', 'exclusive'),
                     ('link', 'add', 'x', 'type', 'rxe', 'netdev', 'lo'),
                     ('statistic', 'qp', 'set', 'link', 'mlx5_0/1', 'auto', 'type', 'on')):
            with self.subTest(args=args):
                self.assertNotEqual(self.run_there('rdma', *args).status, 0)

    def pid_of(self, comm, host):
        return next((p['pid'] for p in self.status()['processes']
                     if p['comm'] == comm and p['host'] == host), None)

    def test_resources(self):
        name = self.host['name']
        srv = self.fab.start('ibv_rc_pingpong', '-p', '20991', options=('--host', name))
        try:
            wait_for(lambda: self.status()['objects'].get('qp') or srv.ended(), 'its QP')
            wait_for(lambda: self.rdma('res', 'show', 'qp')[:1] and
                     self.rdma('res', 'show', 'qp')[0]['state'] == 'INIT', 'INIT')
            pid = self.pid_of('ibv_rc_pingpong', name)
            summary, = self.rdma('res', 'show')
            self.assertEqual({k: summary[k] for k in ('pd', 'cq', 'qp', 'mr', 'ctx', 'srq', 'cm_id')},
                             {'pd': 1, 'cq': 1, 'qp': 1, 'mr': 1, 'ctx': 1, 'srq': 0, 'cm_id': 0})
            found = {k: self.rdma('res', 'show', k) for k in ('qp', 'cq', 'mr', 'pd', 'ctx')}
            for kind, rows in found.items():
                with self.subTest(kind=kind):
                    self.assertEqual([r['pid'] for r in rows], [pid])
            qp, cq, mr, pd, ctx = (found[k][0] for k in ('qp', 'cq', 'mr', 'pd', 'ctx'))
            self.assertEqual((qp['type'], qp['port'], qp['pdn']), ('RC', 1, pd['pdn']))
            self.assertEqual((mr['mrlen'], mr['pdn']), (4096, pd['pdn']))
            self.assertEqual((cq['ctxn'], pd['ctxn']), (ctx['ctxn'], ctx['ctxn']))
            one = self.rdma('res', 'show', 'cq', 'dev', 'mlx5_0', 'cqn', str(cq['cqn']))
            self.assertEqual(one, found['cq'])
            self.assertEqual(self.rdma('res', 'show', 'qp', 'link', 'mlx5_0/1', 'lqpn', '16777000'), [])
            other = self.status()['hosts'][1]['name']
            self.assertEqual(self.rdma('res', 'show', 'qp', host=other), [])
        finally:
            srv.kill()

    def test_cm_ids(self):
        name = self.host['name']
        srv = self.fab.start('rping', '-s', '-a', ADDR, '-p', '20992', options=('--host', name))
        try:
            wait_for(lambda: any(i['port'] == 20992 and i['state'] == 'LISTEN'
                                 for i in self.status()['cm_ids']) or srv.ended(), 'rping to listen')
            row, = self.rdma('res', 'show', 'cm_id')
            said, = [i for i in self.status()['cm_ids'] if i['port'] == 20992]
            self.assertEqual((row['ifname'], row['state'], row['ps'], row['pid']),
                             (said['hca'], said['state'], said['ps'], said['pid']))
            self.assertEqual(row['src-addr'], f'{ADDR}:20992')
        finally:
            srv.kill()

    def test_a_long_dump(self):
        """More than one datagram, and more than a socket of the pair holds at once."""
        code = ('import pyverbs.device as d, subprocess\n'
                'from pyverbs.pd import PD\n'
                'c = d.Context(name="mlx5_0"); keep = [PD(c) for i in range(1500)]\n'
                'print(subprocess.run(["rdma", "-j", "res", "show", "pd"], capture_output=True,'
                ' encoding="utf-8").stdout)\n')
        p = self.run_there('/usr/bin/python3', '-c', code, host=self.status()['hosts'][1]['name'])
        self.assertEqual(p.status, 0, str(p))
        rows = json.loads(p.out)
        self.assertEqual(len({r['pdn'] for r in rows}), 1500)


class NetlinkEthernet(Netlink):
    """The same on RoCE ports, which have a network interface instead of LIDs."""
    FABRIC = ('--hosts', '2', '--link', 'eth')


@unittest.skipUnless(shutil.which('ip'), 'no ip of iproute2')
class Ip(Case):
    FABRIC = ('--topo', 'star:2')
    DEV = 'ib0'
    MTU, ARPHRD, LINK_TYPE = 2044, 32, 'infiniband'
    LINKINFO = {'info_kind': 'ipoib', 'info_data': {'key': '0xffff', 'mode': 'datagram', 'umcast': '0000'}}

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(*cls.FABRIC, '--ip', 'h2=10.77.0.2/24,2001:db8:77::2/64')
        cls.fab.__enter__()
        cls.names = [h['name'] for h in json.loads(cls.fab.softhca('status', '-j', cls.fab.name))['hosts']]

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def there(self, *cmd, host=0):
        p = self.fab.start(*cmd, options=('--host', self.names[host]))
        try:
            return p.finish()
        finally:
            p.kill()

    def ip(self, *args, host=0):
        p = self.there('ip', '-j', '-d', *args, host=host)
        self.assertEqual(p.status, 0, str(p))
        return [row for row in json.loads(p.out or '[]') if row]

    def link(self, state):
        """Of the second host."""
        self.console(('Unlink' if state == 'down' else 'ReLink') + ' "H-5a17ca0300020000"[1]')

    def console(self, line):
        p = subprocess.run([SOFTHCA, 'console', '--fabric', self.fab.name], input=line + '\n', errors='replace',
                           env=self.fab.env, capture_output=True, check=False)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)

    def test_links(self):
        rows = {r['ifname']: r for r in self.ip('link')}
        own = {r['ifname'] for r in json.loads(subprocess.run(['ip', '-j', 'link'], errors='replace',
                                                              capture_output=True, check=True).stdout)}
        self.assertEqual(set(rows), own | {self.DEV})
        dev = rows[self.DEV]
        with self.subTest('as sysfs'):
            files = {k: self.there('cat', f'/sys/class/net/{self.DEV}/{k}').out.strip()
                     for k in ('ifindex', 'mtu', 'address', 'broadcast', 'tx_queue_len', 'operstate')}
            self.assertEqual({'ifindex': str(dev['ifindex']), 'mtu': str(dev['mtu']), 'address': dev['address'],
                              'broadcast': dev['broadcast'], 'tx_queue_len': str(dev['txqlen']),
                              'operstate': dev['operstate'].lower()}, files)
        self.assertEqual((dev['link_type'], dev.get('linkinfo'), dev['mtu']),
                         (self.LINK_TYPE, self.LINKINFO, self.MTU))
        self.assertEqual(self.ip('link', 'show', self.DEV), [dev])
        self.assertEqual(dev in self.ip('link', 'show', 'type', 'ipoib'), self.LINKINFO is not None)
        self.assertIn('5a17:', dev['parentdev'])

    def test_addresses(self):
        for host, want in ((0, {('127.1.0.1', 16)}), (1, {('10.77.0.2', 24), ('2001:db8:77::2', 64)})):
            row, = self.ip('addr', 'show', 'dev', self.DEV, host=host)
            got = {(a['local'], a['prefixlen']) for a in row['addr_info'] if a['scope'] != 'link'}
            self.assertEqual(got, want)
        self.assertIn(self.DEV, {r['ifname'] for r in self.ip('addr')})
        self.assertIn('lo', {r['ifname'] for r in self.ip('-4', 'addr')})

    def test_routes(self):
        self.assertIn(('127.1.0.0/16', self.DEV), {(r['dst'], r['dev']) for r in self.ip('route')})
        rows = self.ip('route', 'show', 'dev', self.DEV, host=1)
        self.assertEqual([(r['dst'], r['prefsrc']) for r in rows], [('10.77.0.0/24', '10.77.0.2')])
        got, = self.ip('route', 'get', '10.77.0.9', host=1)
        self.assertEqual((got['dev'], got['prefsrc']), (self.DEV, '10.77.0.2'))
        got, = self.ip('route', 'get', '10.77.0.2', host=1)
        self.assertEqual((got['type'], got['dev']), ('local', 'lo'))
        got, = self.ip('route', 'get', '2001:db8:77::9', host=1)
        self.assertEqual((got['dev'], got['prefsrc']), (self.DEV, '2001:db8:77::2'))
        got, = self.ip('route', 'get', '127.1.0.2')
        self.assertEqual(got['dev'], 'lo')
        got, = self.ip('route', 'get', '127.1.0.2', 'oif', self.DEV)
        self.assertEqual((got['dev'], got['prefsrc']), (self.DEV, '127.1.0.1'))

    def test_neighbours(self):
        self.assertEqual(self.ip('neigh', 'show', 'dev', self.DEV), [])

    def test_nothing_can_be_changed(self):
        for args in ('link set ib0 down', 'addr add 10.1.1.1/24 dev ib0', 'addr del 127.1.0.1/16 dev ib0',
                     'route add 10.9.9.0/24 dev ib0', 'neigh add 127.1.0.2 dev ib0 nud permanent',
                     'link add ib0 type dummy', 'link del ib0'):
            args = args.replace('ib0', self.DEV)
            with self.subTest(args):
                p = self.there('ip', *args.split())
                self.assertEqual((p.status, 'not permitted' in p.out), (2, True), str(p))

    def test_caches_of_libnl(self):
        p = self.there('/usr/bin/python3', '-c', LIBNL.replace('ib0', self.DEV))
        self.assertEqual(p.status, 0, str(p))
        index, arptype, mtu, again, lo, addrs = (int(n) for n in p.out.split())
        self.assertEqual((index > 1000000, arptype, mtu, again, lo), (True, self.ARPHRD, self.MTU, index, 1))
        self.assertGreaterEqual(addrs, 3)

    def test_state_of_the_port(self):
        def state():
            row, = self.ip('link', 'show', self.DEV, host=1)
            return row['operstate'], 'LOWER_UP' in row['flags']
        self.assertEqual(state(), ('UP', True))
        self.link('down')
        wait_for(lambda: state() == ('DOWN', False), 'the interface to go down')
        self.link('up')
        wait_for(lambda: state() == ('UP', True), 'the interface to come back')


class IpEthernet(Ip):
    """The same with Ethernet interfaces."""
    FABRIC = ('--hosts', '2', '--link', 'eth')
    DEV = 'rce0'
    MTU, ARPHRD, LINK_TYPE = 1500, 1, 'ether'
    LINKINFO = None

    def link(self, state):
        self.fab.softhca('link', '--fabric', self.fab.name, '--host', self.names[1], 'mlx5_0', '1', state)


if __name__ == '__main__':
    unittest.main(verbosity=2)
