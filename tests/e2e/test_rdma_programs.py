# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of other projects that connect by rdma_cm: perftest's refusals, and fio."""
import itertools
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import TwoHosts  # noqa: E402

A = TwoHosts.ADDRESS


class Programs(TwoHosts):
    ports = itertools.count(24000)

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


class ProgramsOnEthernet(Programs):
    FABRIC = ('--hosts', '2', '--link', 'eth')
    ports = itertools.count(25000)


if __name__ == '__main__':
    unittest.main()
