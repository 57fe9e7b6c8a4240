# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Memory that was taken away from its users is neither written nor read by them: inval.c, which has the
ways in which it is taken away. With a build of -Dpoints=true and, say,
SOFTHCA_POINT=mem-gated:delay=300 in the environment the windows are wide.
"""
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
from softhca import BUILD, TIMEOUT, Case, Fabric, wait_for  # noqa: E402

SECONDS = int(os.environ.get('SOFTHCA_STRESS_SECONDS', 5))
PROGRAM = os.path.join(BUILD, 'tests', 'stress', 'stress_inval')
KINDS = (('trap', 'rc', 'write'), ('trap', 'rc', 'read'), ('trap', 'uc', 'write'),
         ('trap', 'xrc', 'write'), ('poll', 'rc', 'write'))


class Taken(Case):
    """What becomes of the writer or reader meanwhile: nothing, SIGSTOP and SIGCONT, SIGKILL."""

    def each(self, fate):
        share = SECONDS / 3 / len(KINDS)
        with Fabric() as fab:
            for doorbell, kind, op in KINDS:
                with self.subTest(doorbell=doorbell, kind=kind, op=op):
                    r = fab.run(PROGRAM, f'{share:.2f}', kind, op, fate,
                                options=('--doorbell', doorbell), timeout=share + TIMEOUT)
                    self.assertRegex(self.ok(r), re.compile(r'^[1-9][0-9]* rounds, 0 wrong$', re.M))
            wait_for(lambda: not any(self.status(fab)['objects'].values()), 'objects to vanish')

    def test_while_it_runs(self):
        self.each('run')

    def test_while_it_is_stopped(self):
        self.each('stop')

    def test_while_it_is_killed(self):
        self.each('kill')


if __name__ == '__main__':
    unittest.main()
