# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Work requests that go wrong, and records that mean nothing yet, in both doorbell modes."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, Case, Fabric  # noqa: E402

RULES = os.path.join(BUILD, 'tests', 'e2e', 'wr_rules')


class Rules(Case):
    doorbell = 'trap'

    def test_rules(self):
        with Fabric() as fab:
            self.ok(fab.run(RULES, options=('--doorbell', self.doorbell)))


class RulesPolled(Rules):
    doorbell = 'poll'


if __name__ == '__main__':
    unittest.main()
