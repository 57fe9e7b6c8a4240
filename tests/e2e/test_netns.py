# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hosts with network namespaces of their own (`--netns`)."""
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, NOBODY, Running, fabric_dir, ordinary_user_can_run, \
    wait_for  # noqa: E402


def allowed(*user):
    """Does the machine let this user make a network namespace with a bridge and a pair of veth?"""
    return not subprocess.run(
        [*user, 'unshare', *(['-Ur'] if os.geteuid() or user else []), '-n', 'sh', '-c',
         'ip link add br7 type bridge && ip link add ve7 type veth peer name ve8'],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


SERVER = '''
import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('', 7000))
s.listen()
print('listening', flush=True)
c, peer = s.accept()
c.sendall((sys.argv[1] + ' saw ' + peer[0]).encode())
'''
CLIENT = '''
import socket, sys
s = socket.create_connection((sys.argv[1], 7000))
print(s.recv(100).decode())
'''


@unittest.skipUnless(allowed(), 'this machine refuses network namespaces')
class Namespaces(Case):
    link = 'ib'
    user = []
    iface = 'ib0'

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--hosts', '3', '--netns', '--link', cls.link, user=cls.user)
        cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def python(self, host, code, *args):
        return self.fab.start('/usr/bin/python3', '-c', code, *args, options=('--host', host))

    def test_each_host_has_an_interface_of_its_own(self):
        for n in (1, 2):
            out = self.ok(self.fab.run('ip', '-o', 'addr', options=('--host', f'h{n}')))
            self.assertIn(f'{self.iface}    inet 10.1.0.{n}/16 brd 10.1.255.255', out)
            self.assertEqual(out.count(self.iface + '    inet '), 1, out)
            self.assertRegex(out, r'lo +inet 127\.0\.0\.1')
        out = self.ok(self.fab.run('rdma', 'link', options=('--host', 'h1')))
        self.assertIn('ACTIVE', out)

    def ip(self, host, *args):
        return Running([*self.fab.user, SOFTHCA, 'ip', '--fabric', self.fab.name, '--host', host, *args],
                       env=self.fab.env).finish()

    def addresses(self, host):
        out = self.ok(self.fab.run('ip', '-o', 'addr', 'show', 'dev', self.iface, 'scope', 'global',
                                   options=('--host', host)))
        return [line.split()[3] for line in out.splitlines()]

    def test_addresses_come_and_go(self):
        """The kernel's interface has the same ones, secondary ones included, and TCP and rdma_cm use them."""
        own = self.addresses('h1')
        for host, last in (('h1', 1), ('h2', 2)):
            for address in (f'10.9.0.{last}/24', f'10.9.0.{last + 10}/24', f'fd09::{last}'):
                self.assertEqual(self.ok(self.ip(host, 'add', address)), '')
        self.assertEqual(self.addresses('h1'), own + ['10.9.0.1/24', '10.9.0.11/24', 'fd09::1/64'])
        srv = self.python('h2', SERVER, 'h2')
        try:
            srv.wait_said('listening')
            self.assertIn('h2 saw 10.9.0.1', self.ok(self.python('h1', CLIENT, '10.9.0.12').finish()))
            self.ok(srv.finish())
        finally:
            srv.kill()
        srv = self.fab.start('stdbuf', '-oL', 'rping', '-s', '-d', '-C', '3', options=('--host', 'h2'))
        try:
            srv.wait_said('rdma_listen')
            self.ok(self.fab.run('rping', '-c', '-a', '10.9.0.2', '-C', '3', '-V', options=('--host', 'h1')))
            self.ok(srv.finish())
        finally:
            srv.kill()
        for host, last in (('h1', 1), ('h2', 2)):
            self.assertEqual(self.ok(self.ip(host, 'del', f'10.9.0.{last}')), '')
            self.assertEqual(self.ok(self.ip(host, 'del', f'fd09::{last}')), '')
        self.assertEqual(self.addresses('h1'), own)
        r = self.ip('h1', 'del', '10.9.0.11')
        self.assertEqual((r.status, r.out), (2, 'softhca: ip: the interface does not have 10.9.0.11\n'))

    def test_a_host_gets_its_namespace_with_what_it_was_given(self):
        self.assertEqual(self.ok(self.ip('h3', 'add', '10.8.0.3')), '')
        self.assertIn('10.8.0.3/24', self.addresses('h3'))
        self.assertEqual(self.ok(self.ip('h3', 'del', '10.8.0.3')), '')
        self.assertNotIn('10.8.0.3/24', self.addresses('h3'))

    def test_hosts_have_ports_of_their_own(self):
        """Two servers on one port of all addresses; clients reach the one that they name."""
        servers = [self.python(f'h{n}', SERVER, f'h{n}') for n in (1, 2)]
        try:
            for s in servers:
                s.wait_said('listening')
            for n in (2, 1):
                c = self.python('h3', CLIENT, f'10.1.0.{n}').finish()
                self.assertIn(f'h{n} saw 10.1.0.3', self.ok(c))
            for s in servers:
                self.ok(s.finish())
        finally:
            for s in servers:
                s.kill()

    def test_one_address_serves_tcp_and_rdma_cm(self):
        srv = self.fab.start('stdbuf', '-oL', 'rping', '-s', '-d', '-C', '3', options=('--host', 'h1'))
        try:
            srv.wait_said('rdma_listen')
            self.ok(self.fab.run('rping', '-c', '-a', '10.1.0.1', '-C', '3', '-V', options=('--host', 'h2')))
            self.ok(srv.finish())
        finally:
            srv.kill()

    def test_data_between_hosts(self):
        """perftest exchanges by TCP, and moves data through memory of both."""
        srv = self.fab.start('ib_write_bw', '-F', '-n', '200', '-p', '18515', options=('--host', 'h1'))
        try:
            wait_for(lambda: not self.fab.run('ss', '-Hltn', options=('--host', 'h1')).out.strip() == '' or srv.ended(),
                     'server to listen')
            self.ok(self.fab.run('ib_write_bw', '-F', '-n', '200', '-p', '18515', '10.1.0.1', options=('--host', 'h2')))
            self.ok(srv.finish())
        finally:
            srv.kill()

    def test_the_carrier_follows_the_cable(self):
        def carrier():
            return 'NO-CARRIER' not in self.ok(self.fab.run('ip', 'link', 'show', self.iface, options=('--host', 'h3')))

        wait_for(carrier, 'the carrier to come')  # the kernel reports the carrier a little later
        self.fab.softhca('link', '--fabric', self.fab.name, '--host', 'h3', 'mlx5_0', '1', 'down')
        wait_for(lambda: not carrier(), 'the carrier to go')
        self.fab.softhca('link', '--fabric', self.fab.name, '--host', 'h3', 'mlx5_0', '1', 'up')
        wait_for(carrier, 'the carrier to come')


class NamespacesEthernet(Namespaces):
    link = 'eth'
    iface = 'rce0'


@unittest.skipUnless(ordinary_user_can_run() and allowed(*NOBODY),
                     'an ordinary user cannot reach the build, or may not make a namespace')
class NamespacesAsOrdinaryUser(Namespaces):
    user = NOBODY


@unittest.skipUnless(allowed(), 'this machine refuses network namespaces')
class Private(Case):
    def setUp(self):
        self.dir = fabric_dir()
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir)

    def tearDown(self):
        shutil.rmtree(self.dir)

    def run_it(self, *args):
        return Running([*args], env=self.env).finish()

    def test_a_private_fabric(self):
        out = self.ok(self.run_it(SOFTHCA, 'run', '--netns', '--', 'ip', '-o', '-4', 'addr'))
        self.assertIn('ib0    inet 10.1.0.1/16', out)

    def test_given_addresses(self):
        out = self.ok(self.run_it(SOFTHCA, 'run', '--netns', '--ip', 'h1=192.168.5.7/20', '--',
                                  'ip', '-o', '-4', 'addr'))
        self.assertIn('ib0    inet 192.168.5.7/20 brd 192.168.15.255', out)

    @unittest.skipIf(subprocess.run(['unshare', '-Ur', 'true'], stderr=subprocess.DEVNULL).returncode,
                     'no user namespace may be made here')
    def test_a_refusal_is_one_line(self):
        r = self.run_it('unshare', '-Ur', 'sh', '-c', 'echo 0 >/proc/sys/user/max_net_namespaces && exec "$@"',
                        'sh', SOFTHCA, 'run', '--netns', '--', 'true')
        self.assertEqual(r.status, 2, r)
        self.assertEqual(r.out, 'softhca: run: --netns: this machine refuses network namespaces: '
                                'No space left on device\n')

    def test_nothing_outlives_a_killed_supervisor(self):
        r = Running([SOFTHCA, 'run', '--netns', '--', 'sh', '-c', 'echo here $$; exec sleep 1000'], env=self.env)
        try:
            r.wait_said('here')
            command = int(r.said().split()[1])
            keeper = [int(p) for p in os.listdir('/proc') if p.isdigit() and parent(p) == r.proc.pid and
                      comm(p) == 'softhca-netns']
            self.assertEqual(len(keeper), 1)
            r.proc.send_signal(signal.SIGKILL)
            for pid in (command, keeper[0]):
                wait_for(lambda pid=pid: gone(pid), f'{pid} to end')
        finally:
            r.kill()


def stat(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
            return f.read()
    except OSError:
        return ''


def parent(pid):
    s = stat(pid)
    return int(s.rsplit(')', 1)[1].split()[1]) if s else 0


def comm(pid):
    s = stat(pid)
    return s.split('(', 1)[1].rsplit(')', 1)[0] if s else ''


def gone(pid):
    s = stat(pid)
    return not s or s.rsplit(')', 1)[1].split()[0] in 'ZX'


if __name__ == '__main__':
    unittest.main()
