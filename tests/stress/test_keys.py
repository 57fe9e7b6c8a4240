# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory that was taken away from its users is neither written nor read by them (inval.c)."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
from softhca import BUILD, Case, Fabric, number_after, wait_for  # noqa: E402

SECONDS = int(os.environ.get('SOFTHCA_STRESS_SECONDS', 5))
LONG = SECONDS >= 60
PROGRAM = os.path.join(BUILD, 'tests', 'stress', 'stress_inval')


class Invalidations(Case):
    """In the long mode each combination by itself; in the short one a second or so each."""

    def rounds(self, doorbell, kind, op, fate, seconds):
        with Fabric() as fab:
            r = fab.run(PROGRAM, str(seconds), kind, op, fate, options=('--doorbell', doorbell),
                        timeout=seconds + 240)
            out = self.ok(r)
            print('\n' + out, end='')
            self.assertGreater(number_after(r'\n', out[out.rindex('\n', 0, -1):]), 0)
            wait_for(lambda: not any(self.status(fab)['objects'].values()), 'objects to vanish')

    def each(self, fate, kinds=(('rc', 'write'), ('rc', 'read'), ('uc', 'write'))):
        for doorbell in ('trap', 'poll'):
            for kind, op in kinds:
                with self.subTest(doorbell=doorbell, kind=kind, op=op):
                    self.rounds(doorbell, kind, op, fate, SECONDS if LONG else 0.2)

    def test_while_the_writer_runs(self):
        self.each('run')

    def test_while_the_writer_is_stopped(self):
        self.each('stop')

    def test_while_the_writer_is_killed(self):
        self.each('kill')


if __name__ == '__main__':
    unittest.main()
