# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock programs that connect by rdma_cm, between two hosts and on one; every exit status is 0."""
import itertools
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, TwoHosts, bound, wait_for  # noqa: E402

A, B = TwoHosts.ADDRESS, '127.1.0.2'


class RdmaCm(TwoHosts):
    ports = itertools.count(20000)

    def against_endless(self, server, client, same_host):
        p = self.next()
        srv = self.fab.start(*server, '-p', str(p), options=('--host', self.names[0]))
        try:
            wait_for(lambda: self.listens(p) or srv.ended(), f'{server} to listen')
            self.ok(self.fab.run(*client, '-p', str(p),
                                 options=('--host', self.names[0 if same_host else 1])))
        finally:
            srv.kill()

    def next(self):
        return next(self.ports)

    def each(self, server, client, port_option='-p'):
        for same in (False, True):
            with self.subTest(same_host=same):
                p = self.next()
                self.talk([*server, port_option, str(p)], [*client, port_option, str(p)],
                          lambda: self.listens(p), same)

    def test_rping(self):
        self.each(['rping', '-s', '-C', '50', '-V', '-S', '4000'],
                  ['rping', '-c', '-a', A, '-C', '50', '-V', '-S', '4000'])

    def test_ucmatose(self):
        self.each(['ucmatose', '-c', '10'], ['ucmatose', '-s', A, '-c', '10'])

    def test_ucmatose_100(self):
        self.each(['ucmatose', '-c', '100'], ['ucmatose', '-s', A, '-c', '100'])

    def test_ucmatose_migrate(self):
        self.each(['ucmatose', '-c', '5', '-m'], ['ucmatose', '-s', A, '-c', '5', '-m'])

    def test_udaddy(self):
        """udaddy's -p is a port space; its port is always 7174."""
        for same in (False, True):
            with self.subTest(same_host=same):
                self.talk(['udaddy', '-c', '5'], ['udaddy', '-s', A, '-c', '5'],
                          lambda: self.listens(7174), same)

    def test_cmtime(self):
        """
        1 000 connections at once; the server goes on for ever. That of rdma-core 56 connects without QPs,
        too, from QPN 1000 on at both ends unless -q says otherwise: two connections with the same QPN and
        node are stale to the kernel (cm_insert_remote_qpn()), where both ends are on one host.
        """
        usage = subprocess.run(['cmtime', '-h'], capture_output=True, errors='replace').stdout
        if not re.search(r'\[-s ', usage):
            self.skipTest('cmtime of rdma-core 60 and newer has no -s')
        other = ['-q', '10000'] if 'base_qpn' in usage else []
        for same in (False, True):
            with self.subTest(same_host=same):
                self.against_endless(['cmtime', '-c', '1000', *other], ['cmtime', '-c', '1000', '-s', A], same)

    # Both ends of rsockets poll, and share two processors with the other tests.
    few_transfers = ('-S', '4096', '-I', '10', '-C', '10')

    def test_rstream(self):
        few = self.few_transfers
        for mode in ((), ('-T', 'v'), ('-T', 'n')):
            with self.subTest(mode=mode):
                self.each(['rstream', *few, *mode], ['rstream', '-s', A, *few, *mode])

    def test_rstream_polls(self):
        """
        Its client takes POLLHUP (16) for an error, also where the last data came with it: with
        Linux' rxe, too, 6 of 10 runs end so.
        """
        few = self.few_transfers
        for same in (False, True):
            with self.subTest(same_host=same):
                p = self.next()
                srv = self.fab.start('rstream', '-T', 'a', *few, '-p', str(p), options=('--host', self.names[0]))
                try:
                    wait_for(lambda: self.listens(p) or srv.ended(), 'rstream to listen')
                    c = self.fab.run('rstream', '-T', 'a', *few, '-s', A, '-p', str(p),
                                     options=('--host', self.names[not same]))
                    self.assertIn(c.status, (0, 16), str(c))
                    self.assertIn('custom', self.ok(srv.finish()))
                finally:
                    srv.kill()

    def udpong(self, same_host, *options):
        """udpong's server never ends, and without -b it serves only the loopback address."""
        Case.port += 1
        cmd = ['udpong', '-S', '256', '-C', '10', '-p', str(Case.port), *options]
        srv = self.fab.start(*cmd, '-b', A, options=('--host', self.names[0]))
        try:
            wait_for(lambda: bound(Case.port) or srv.ended(), 'udpong to bind')
            return self.fab.run(*cmd, '-s', A, options=('--host', self.names[not same_host]))
        finally:
            srv.kill()

    def test_udpong(self):
        for same, options in itertools.product((False, True), ((), ('-T', 'n'), ('-T', 'e'))):
            with self.subTest(same_host=same, options=options):
                self.assertIn('custom', self.ok(self.udpong(same, *options)))

    def test_riostream(self):
        self.each(['riostream', *self.few_transfers], ['riostream', '-s', A, *self.few_transfers])

    def test_source_address(self):
        """A socket that connects to a host's address has its interface's, not the machine's 127.0.0.1."""
        program = ('import socket, sys\n'
                   'for kind in socket.SOCK_DGRAM, socket.SOCK_STREAM:\n'
                   '    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as peer, \\\n'
                   '         socket.socket(socket.AF_INET, kind) as s:\n'
                   '        peer.bind((sys.argv[1], 0))\n'
                   '        peer.listen(1)\n'
                   '        s.connect(peer.getsockname())\n'
                   '        print(s.getsockname()[0])\n')
        for host, to, own in ((0, A, A), (1, A, B), (1, B, B), (1, '127.0.0.1', '127.0.0.1')):
            with self.subTest(host=host, to=to):
                r = self.fab.run('python3', '-c', program, to, options=('--host', self.names[host]))
                self.ok(r)
                self.assertEqual(r.out.split(), [own, own])

    def test_source_address_of_a_socket_used_again(self):
        """
        After a refused or dissolved connection to a host, a socket can connect anywhere. So can IPv6
        sockets.
        """
        program = ('import ctypes, socket, sys\n'
                   'libc = ctypes.CDLL(None, use_errno=True)\n'
                   'free = socket.socket()\n'
                   'free.bind((sys.argv[1], 0))\n'
                   'refuses = free.getsockname()\n'
                   'there, here = socket.create_server((sys.argv[1], 0)), socket.create_server(("127.0.0.1", 0))\n'
                   'def connect(s, to, mapped):\n'
                   '    s.connect(("::ffff:" + to[0], to[1]) if mapped else to)\n'
                   'for family, mapped in (socket.AF_INET, False), (socket.AF_INET6, True):\n'
                   '    for kind in socket.SOCK_DGRAM, socket.SOCK_STREAM:\n'
                   '        with socket.socket(family, kind) as s:\n'
                   '            try:\n'
                   '                connect(s, refuses, mapped)\n'
                   '            except ConnectionRefusedError:\n'
                   '                pass\n'
                   '            else:\n'
                   '                assert libc.connect(s.fileno(), bytes(16), 16) == 0\n'
                   '            for to in there, here, there:\n'
                   '                connect(s, to.getsockname(), mapped)\n'
                   '                print(s.getsockname()[0].removeprefix("::ffff:"))\n'
                   '                assert libc.connect(s.fileno(), bytes(16), 16) == 0\n')
        r = self.fab.run('python3', '-c', program, A, options=('--host', self.names[1]))
        self.ok(r)
        self.assertEqual(r.out.split(), [B, '127.0.0.1', B] * 4)

    def test_rdma_client(self):
        self.each(['rdma_server'], ['rdma_client', '-s', A])

    def test_rdma_xclient(self):
        self.each(['rdma_xserver'], ['rdma_xclient', '-s', A])

    def test_rcopy(self):
        """A file of 3 MiB arrives whole."""
        data = os.urandom(3 << 20)
        for same in (False, True):
            with self.subTest(same_host=same), tempfile.TemporaryDirectory() as d:
                src, dst = os.path.join(d, 'from'), os.path.join(d, 'to')
                with open(src, 'wb') as f:
                    f.write(data)
                srv = self.fab.start('rcopy', options=('--host', self.names[0]))
                try:
                    wait_for(lambda: self.listens(7427) or srv.ended(), 'rcopy to listen')
                    self.ok(self.fab.run('rcopy', src, f'{A}:{dst}',
                                         options=('--host', self.names[not same])))
                finally:
                    srv.kill()
                with open(dst, 'rb') as f:
                    self.assertEqual(f.read(), data)

    def perftest(self, *cmd):
        """
        perftest 4.5 connects twice: between the two its server has no listener for a moment, and
        nothing makes the client wait for it. A client that is too early is rejected (8, no such
        service; for datagrams unreachable, 1, which is SIDR's word for it), which perftest does
        not survive: again, then.
        """
        for _ in range(20):
            p = self.next()
            argv = [*cmd, '-R', '-F', '-n', '20', '-p', str(p)]
            srv = self.fab.start(*argv, options=('--host', self.names[0]))
            try:
                wait_for(lambda: self.listens(p) or srv.ended(), f'{argv} to listen')
                c = self.fab.run(*argv, A, options=('--host', self.names[1]))
                if re.search('RDMA_CM_EVENT_(REJECTED; error: 8|UNREACHABLE; error: 1)', c.out):
                    continue
                self.ok(c)
                self.ok(srv.finish())
                return
            finally:
                if not srv.file.closed:
                    srv.kill()
        self.fail(f'{cmd}: rejected 20 times')

    def test_perftest(self):
        for prog in ('ib_send_lat', 'ib_send_bw', 'ib_write_lat', 'ib_write_bw', 'ib_read_lat',
                     'ib_read_bw', 'ib_atomic_lat', 'ib_atomic_bw'):
            with self.subTest(prog):
                self.perftest(prog)
        for prog in ('ib_send_lat', 'ib_send_bw'):
            with self.subTest(prog, c='UD'):
                self.perftest(prog, '-c', 'UD')

    def test_mckey(self):
        group = '239.7.8.9'
        rcv = self.fab.start('stdbuf', '-oL', 'mckey', '-m', group, options=('--host', self.names[0]))
        try:
            rcv.wait_said('receiving data transfers')
            self.ok(self.fab.run('mckey', '-m', group, '-s', options=('--host', self.names[1])))
            r = rcv.finish()
        finally:
            rcv.kill()
        self.assertEqual(r.status, 0, str(r))


class RdmaCmEthernet(RdmaCm):
    """The same over RoCE; and links that go down, which no switch routes around."""
    FABRIC = ('--hosts', '2', '--link', 'eth')

    def link(self, state):
        self.fab.softhca('link', '--fabric', self.fab.name, '--host', self.names[0], 'mlx5_0', '1', state)

    def port(self):
        hca = self.status(self.fab)['hosts'][0]['hcas'][0]
        return {k: hca['ports'][0].get(k) for k in ('state', 'phys_state', 'link_layer', 'netdev', 'lid')}

    def carrier(self):
        return self.ok(self.fab.run('cat', '/sys/class/net/rce0/carrier', options=('--host', self.names[0])))

    def test_udpong(self):
        """rsocket.c ds_add_qp_dest(): an address handle without a GRH, which libmlx5 and rxe refuse."""
        r = self.udpong(False)
        self.assertEqual(r.status, 255, str(r))
        self.assertIn('rconnect: No such file or directory', r.out)

    def test_link(self):
        """Without a link nobody answers for the address."""
        up = {'state': 'ACTIVE', 'phys_state': 'LinkUp', 'link_layer': 'Ethernet', 'netdev': 'rce0', 'lid': None}
        self.assertEqual(self.port(), up)
        self.link('down')
        try:
            self.assertEqual(self.port(), {**up, 'state': 'DOWN', 'phys_state': 'Disabled'})
            self.assertEqual(self.carrier(), '0\n')
            r = self.fab.run('rping', '-c', '-a', A, '-C', '1', options=('--host', self.names[1]))
            self.assertNotEqual(r.status, 0, str(r))
            self.assertIn('ADDR_ERROR, error -110', r.out)
        finally:
            self.link('up')
        self.assertEqual(self.port(), up)
        self.assertEqual(self.carrier(), '1\n')
        self.test_rping()


if __name__ == '__main__':
    unittest.main()
