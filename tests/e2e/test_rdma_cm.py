# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock programs that connect by rdma_cm, between two hosts and on one; every exit status is 0."""
import itertools
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, wait_for  # noqa: E402

A, B = '127.1.0.1', '127.1.0.2'  # of the first host and the second


class RdmaCm(Case):
    ports = itertools.count(20000)

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--topo', 'star:2')
        cls.fab.__enter__()
        cls.names = [h['name'] for h in cls.fab_status()['hosts']]

    @classmethod
    def fab_status(cls):
        import json
        return json.loads(cls.fab.softhca('status', '-j', cls.fab.name))

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def listens(self, port):
        return any(i['state'] == 'LISTEN' and i['port'] == port
                   for i in self.fab_status().get('cm_ids', []))

    def talk(self, server, client, port, same_host=False, timeout=120):
        """The server, and when it listens the client; both end by themselves."""
        a, b = self.names[0], self.names[0 if same_host else 1]
        srv = self.fab.start(*server, options=('--host', a))
        try:
            wait_for(lambda: self.listens(port) or srv.ended(), f'{server} to listen')
            cli = self.fab.start(*client, options=('--host', b))
            try:
                c = cli.finish(timeout)
            finally:
                cli.kill()
            s = srv.finish(30)
        finally:
            srv.kill()
        self.assertEqual((s.status, c.status), (0, 0), f'server:\n{s}\nclient:\n{c}')
        return s, c

    def next(self):
        return next(self.ports)

    def each(self, server, client, port_option='-p', **kw):
        for same in (False, True):
            with self.subTest(same_host=same):
                p = self.next()
                self.talk([*server, port_option, str(p)], [*client, port_option, str(p)], p, same, **kw)

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
        self.each(['udaddy', '-c', '5'], ['udaddy', '-s', A, '-c', '5'])

    def test_cmtime(self):
        self.each(['cmtime', '-c', '200'], ['cmtime', '-s', A, '-c', '200'])

    def test_rstream(self):
        for mode in ((), ('-T', 'v'), ('-T', 'n'), ('-T', 'a')):
            with self.subTest(mode=mode):
                self.each(['rstream', *mode], ['rstream', '-s', A, *mode])

    def test_riostream(self):
        self.each(['riostream'], ['riostream', '-s', A])

    def test_udpong(self):
        self.each(['udpong'], ['udpong', '-s', A])

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

    def test_perftest(self):
        for prog in ('ib_send_lat', 'ib_send_bw', 'ib_write_lat', 'ib_write_bw', 'ib_read_lat',
                     'ib_read_bw', 'ib_atomic_lat', 'ib_atomic_bw'):
            with self.subTest(prog):
                p = self.next()
                self.talk([prog, '-R', '-F', '-p', str(p)], [prog, '-R', '-F', '-p', str(p), A], p)
        for prog in ('ib_send_lat', 'ib_send_bw'):
            with self.subTest(prog, c='UD'):
                p = self.next()
                self.talk([prog, '-R', '-F', '-c', 'UD', '-p', str(p)],
                          [prog, '-R', '-F', '-c', 'UD', '-p', str(p), A], p)

    def test_mckey(self):
        group = '239.7.8.9'
        rcv = self.fab.start('mckey', '-m', group, options=('--host', self.names[0]))
        try:
            rcv.wait_said('receiving data transfers')
            self.ok(self.fab.run('mckey', '-m', group, '-s', options=('--host', self.names[1])))
            r = rcv.finish(60)
        finally:
            rcv.kill()
        self.assertEqual(r.status, 0, str(r))


if __name__ == '__main__':
    unittest.main()
