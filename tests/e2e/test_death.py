# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One end is killed in the middle of traffic: the other ends with an error, and nothing is left."""
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, listening, wait_for  # noqa: E402

ROUNDS = int(os.environ.get('SOFTHCA_DEATH_ROUNDS', '50'))


class Death(Case):
    def round(self, fab, kill_server, delay):
        port = Case.port
        Case.port += 1
        cmd = ('ib_write_bw', '-F', '-p', str(port), '-D', '30')
        srv = fab.start(*cmd)
        try:
            wait_for(lambda: listening(port) or srv.proc.poll() is not None, 'server to listen')
            cli = fab.start(*cmd, 'localhost')
            try:
                time.sleep(delay)
                self.assertIsNone(srv.proc.poll(), 'server ended too early')
                self.assertIsNone(cli.proc.poll(), 'client ended too early')
                victim, other = (srv, cli) if kill_server else (cli, srv)
                victim.kill()
                r = other.finish(20)
                self.assertNotEqual(r.status, 0, str(r))
            finally:
                cli.kill()
        finally:
            srv.kill()

    def test_kill_either_end(self):
        rnd = random.Random(1)
        with Fabric() as fab:
            for i in range(ROUNDS):
                with self.subTest(round=i):
                    self.round(fab, i % 2 == 0, 0.25 + rnd.random() / 2)
            s = self.status(fab)
            self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)
            self.assertEqual(s['processes'], [])
            self.pair(fab, ('ib_write_bw', '-F', '-n', '500'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
