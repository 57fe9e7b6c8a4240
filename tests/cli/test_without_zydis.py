#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A tree without Zydis, as where no package has it: it builds, says so, and polls doorbells."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import MEMORY, TOP  # noqa: E402


class WithoutZydis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        # This machine has its headers: nothing may include them.
        headers = os.path.join(cls.dir.name, 'headers')
        os.makedirs(os.path.join(headers, 'Zydis'))
        with open(os.path.join(headers, 'Zydis', 'Zydis.h'), 'w', encoding='ascii') as f:
            f.write('#error "an old Zydis"\n')
        # Nothing is asked for: it must notice by itself that these headers are of no use.
        cls.build = os.path.join(cls.dir.name, 'build')
        cls.configured = cls.sh('meson', 'setup', cls.build, TOP, '-Doptimization=0', f'-Dc_args=-I{headers}')
        cls.sh('ninja', '-C', cls.build, 'program')
        cls.softhca = os.path.join(cls.build, 'softhca')

    @classmethod
    def sh(cls, *argv, status=0):
        r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           errors='replace', check=False)
        if r.returncode != status:
            raise AssertionError(f'{argv}: {r.returncode}\n{r.stdout[-3000:]}')
        return r.stdout

    def run_it(self, *argv, status=0):
        with tempfile.TemporaryDirectory(prefix='softhca-test-', dir=MEMORY) as d:
            return self.sh('env', f'SOFTHCA_RUNTIME_DIR={d}', self.softhca, *argv, status=status)

    def test_it_says_so(self):
        self.assertIn('WARNING: without Zydis 4 doorbells are polled', self.configured)
        self.assertRegex(self.run_it('--version'), r'^softhca [\d.]+ \(without Zydis: --doorbell poll only\)\n$')
        self.assertIn('poll only', ' '.join(self.run_it('run', '--help').split()))

    def test_trapped_doorbells_are_refused(self):
        self.assertEqual(self.run_it('run', '--doorbell', 'trap', '--', 'true', status=2).strip(),
                         "softhca: run: --doorbell: 'trap' is not possible: this softhca was built without Zydis "
                         'or for another processor than x86-64; allowed: poll')

    def test_doorbells_are_polled(self):
        self.assertEqual(self.run_it('run', '--', 'printenv', 'SOFTHCA_DOORBELL'), 'poll\n')
        # Also where somebody has set the variable for the library.
        for mode in ('poll', 'trap', 'auto'):
            out = self.run_it('run', '--', 'env', f'SOFTHCA_DOORBELL={mode}', 'SOFTHCA_TRACE=shim',
                              os.path.join(self.build, 'examples', 'devx_send'))
            self.assertIn('(polled)', out)

    def test_it_can_be_demanded(self):
        out = self.sh('meson', 'setup', self.build + '-2', TOP, '-Dzydis=enabled',
                      f'-Dc_args=-I{os.path.join(self.dir.name, "headers")}', status=1)
        self.assertIn('Zydis is not version 4', out)


if __name__ == '__main__':
    unittest.main()
