# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hosts with addresses that the user gives, by --ip and in a topology: programs see and reach them."""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, Running, TwoHosts  # noqa: E402

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

# What an interface says of itself: the address and the mask that SIOCGIFADDR and SIOCGIFNETMASK give.
SHOW = '''
import fcntl, socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for cmd in 0x8915, 0x891b:
    q = fcntl.ioctl(s, cmd, struct.pack('16s24x', sys.argv[1].encode()))
    print(socket.inet_ntoa(q[20:24]))
'''


class Reached:
    """h1 has 10.0.0.1 and fd00::1 in any way; h2 is in the same subnets."""

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
        form = "run: --ip: '{}' is not HOST=ADDRESS[/PREFIX],..."
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
            self.assertEqual((r.status, r.out), (2, f'softhca: {why}\n'), args)

    def test_a_fabric_that_is_up_has_its_own(self):
        r = self.softhca('run', '--fabric', 'x', '--ip', 'h1=10.0.0.1', '--', 'true')
        self.assertEqual(r.status, 2)
        self.assertIn('--ip describe a new fabric', r.out)

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
                else:  # nobody else has it: h1 has another one
                    self.ok(r)


if __name__ == '__main__':
    unittest.main()
