# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Peers that are killed under traffic: every transport, several kinds of victims (victim.c)."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, Case, Fabric, NOBODY, ordinary_user_can_run  # noqa: E402

SECONDS = float(os.environ.get('SOFTHCA_STRESS_SECONDS', '5'))
TOO_SLOW = 3  # victim.c
STRICT = SECONDS >= 60
VICTIM = os.path.join(BUILD, 'tests', 'hazards', 'hazard_victim')
ACKED = ('write', 'read', 'send', 'xrc', 'dc')
ALL = ACKED + ('uc', 'ud')


class Victims(Case):
    user = []
    cases = [(t, 'plain', 'trap') for t in ALL] + \
        [(t, how, 'trap') for how in ('threads', 'leaderless', 'big') for t in ('write', 'send')] + \
        [('write', 'plain', 'poll'), ('send', 'threads', 'poll')]

    def kill_some(self, fab, transport, how, doorbell):
        return fab.run(VICTIM, transport, how, '1000', str(SECONDS / 20), options=('--doorbell', doorbell),
                       env={'SUPERVISOR': str(self.status(fab)['supervisor'])})

    def test_kills(self):
        with Fabric(user=self.user) as fab:
            for transport, how, doorbell in self.cases:
                with self.subTest(transport=transport, victim=how, doorbell=doorbell):
                    r = self.kill_some(fab, transport, how, doorbell)
                    if r.status == TOO_SLOW and not STRICT:
                        # Once in ten thousand opens it is the machine; what we do, we do again.
                        print(r.out.strip())
                        r = self.kill_some(fab, transport, how, doorbell)
                    print(self.ok(r).strip())


@unittest.skipUnless(os.geteuid() or ordinary_user_can_run(),
                     'an ordinary user cannot reach the build')
class Hidden(Victims):
    """Victims that the host does not let us copy from; root may copy from everybody."""
    user = [] if os.geteuid() else NOBODY
    cases = [(t, 'hidden', 'trap') for t in ('write', 'send', 'dc')]


if __name__ == '__main__':
    unittest.main(verbosity=2)
