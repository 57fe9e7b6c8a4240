# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Automatic path migration: connections whose link goes away go on by their alternate path, and lose nothing."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, Case, Fabric  # noqa: E402

APM = os.path.join(BUILD, 'tests', 'e2e', 'apm')
SHAPE = ('--hosts', '1', '--hca', '2', '--ports', '2')


class Migration(Case):
    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(*SHAPE)
        cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def by_command(self, how):
        out = self.ok(self.fab.run(APM, how))
        self.assertIn('migrated, ', out)
        # fill_res_qp_entry(): the port of a QP is the one that the program has set, always
        self.assertEqual(re.findall(r'link (\S+) .* type RC state RTS .*path-mig-state (\w+)', out),
                         [('mlx5_0/1', 'ARMED'), ('mlx5_1/1', 'ARMED'),
                          ('mlx5_0/1', 'MIGRATED'), ('mlx5_1/1', 'MIGRATED')])

    def test_an_xrc_target(self):
        self.assertIn('migrated, 3 messages', self.ok(self.fab.run(APM, 'xrc')))

    def test_by_a_command_of_devx(self):
        self.by_command('devx')

    def test_by_a_command_of_verbs(self):
        self.by_command('asked')

    def test_when_a_link_goes_away(self):
        p = self.fab.start(APM, 'lost')
        p.wait_said('half')
        # Of the other adapter: this one's port stays active, and its packets get no answer.
        self.fab.softhca('link', '--fabric', self.fab.name, 'mlx5_1', '1', 'down')
        self.assertIn('migrated, ', self.ok(p.finish()))


if __name__ == '__main__':
    unittest.main()
