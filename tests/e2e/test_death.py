# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One end is killed in the middle of traffic: the other ends with an error, and nothing is left."""
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric  # noqa: E402

ROUNDS = int(os.environ.get('SOFTHCA_DEATH_ROUNDS', '50'))


class Death(Case):
    def round(self, fab, kill_server, delay):
        pair = self.endless(fab, 'ib_write_bw')
        try:
            time.sleep(delay)  # a random point of endless traffic
            for r in pair:
                self.assertFalse(r.ended(), r.said())
            victim, other = pair if kill_server else reversed(pair)
            victim.kill()
            r = other.finish()
            self.assertNotEqual(r.status, 0, str(r))
        finally:
            for r in pair:
                r.kill()

    def rounds(self, kill_server):
        rnd = random.Random(kill_server)
        with Fabric() as fab:
            for i in range(ROUNDS // 2):
                with self.subTest(round=i):
                    self.round(fab, kill_server, rnd.random() / 20)
            s = self.status(fab)
            self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)
            self.assertEqual(s['processes'], [])
            self.pair(fab, ('ib_write_bw', '-F', '-n', '500'))

    def test_kill_the_server(self):
        self.rounds(True)

    def test_kill_the_client(self):
        self.rounds(False)


if __name__ == '__main__':
    unittest.main(verbosity=2)
