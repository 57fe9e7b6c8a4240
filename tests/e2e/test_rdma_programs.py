# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of other projects that connect by rdma_cm: perftest's refusals, and fio."""
import itertools
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, wait_for  # noqa: E402

A = '127.1.0.1'  # of the first host


class Programs(Case):
    ports = itertools.count(24000)

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--topo', 'star:2')
        cls.fab.__enter__()
        cls.names = [h['name'] for h in cls.fab_status()['hosts']]

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    @classmethod
    def fab_status(cls):
        return json.loads(cls.fab.softhca('status', '-j', cls.fab.name))

    def listens(self, *ports):
        got = {i['port'] for i in self.fab_status()['cm_ids'] if i['state'] == 'LISTEN'}
        return got.issuperset(ports)

    def talk(self, server, client, ready, same_host=False):
        """The server, and when it is ready the client; both end by themselves, with status 0."""
        a, b = self.names[0], self.names[0 if same_host else 1]
        srv = self.fab.start(*server, options=('--host', a))
        try:
            wait_for(lambda: ready() or srv.ended(), f'{server} to listen')
            cli = self.fab.start(*client, options=('--host', b))
            try:
                c = cli.finish()
            finally:
                cli.kill()
            s = srv.finish()
        finally:
            srv.kill()
        self.assertEqual((s.status, c.status), (0, 0), f'server:\n{s}\nclient:\n{c}')
        return s, c

    @unittest.skipUnless(shutil.which('ib_send_bw'), 'perftest is not installed')
    def test_perftest_refuses(self):
        """Transports that perftest itself does not connect by rdma_cm: it says so, by name."""
        for c, text in (('XRC', 'XRC does not support RDMA_CM'), ('DC', 'DC does not support RDMA_CM'),
                        ('UC', 'UC is not supported in librdmacm')):
            with self.subTest(c):
                r = self.fab.run('ib_write_bw', '-R', '-F', '-c', c)
                self.assertEqual(r.status, 1, str(r))
                self.assertIn(text, r.out)

    @unittest.skipUnless(shutil.which('fio'), 'fio is not installed')
    def test_fio(self):
        for verb, same in itertools.product(('write', 'read'), (False, True)):
            with self.subTest(verb, same_host=same), tempfile.TemporaryDirectory() as d:
                ports = [next(self.ports), next(self.ports)]
                head = '[global]\nioengine=rdma\nbs=64k\nsize=1m\niodepth=4\n'
                jobs = ''.join(f'[job{p}]\nport={p}\n' for p in ports)
                with open(os.path.join(d, 'srv'), 'w') as f:
                    f.write(f'{head}rw=read\n{jobs}')
                with open(os.path.join(d, 'cli'), 'w') as f:
                    f.write(f'{head}rw=write\nhostname={A}\nverb={verb}\n{jobs}')
                _, c = self.talk(['fio', os.path.join(d, 'srv')], ['fio', os.path.join(d, 'cli')],
                                 lambda: self.listens(*ports), same)
                self.assertIn('io=2048KiB', c.out)


if __name__ == '__main__':
    unittest.main()
