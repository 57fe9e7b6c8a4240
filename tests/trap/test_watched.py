# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that a debugger watches: doorbells that fault would stop them, so these are polled unasked."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, SOFTHCA, TIMEOUT  # noqa: E402

SEND = os.path.join(BUILD, 'examples', 'devx_send')


@unittest.skipIf('poll only' in subprocess.run([SOFTHCA, '--version'], capture_output=True,
                                           errors='replace').stdout,
                 'a build without Zydis polls all doorbells')
class Watched(unittest.TestCase):
    def run_it(self, *cmd, options=()):
        return subprocess.run([SOFTHCA, 'run', '--trace=shim', *options, '--', *cmd], stdin=subprocess.DEVNULL,
                              capture_output=True, errors='replace', timeout=TIMEOUT)

    def gdb(self, *cmd, options=()):
        if not shutil.which('gdb'):
            self.skipTest('gdb is not installed')
        r = self.run_it('gdb', '-q', '-nx', '-batch', '-ex', 'run', '--args', *cmd, options=options)
        if 'ptrace' in r.stderr:
            self.skipTest('gdb may not trace here')
        return r

    def test_a_program_without_a_debugger_traps(self):
        r = self.run_it(SEND)
        self.assertIn('received', r.stdout, r.stderr)
        self.assertRegex(r.stderr, 'uar .* mapped at')
        self.assertNotIn('polled', r.stderr)

    def test_gdb(self):
        r = self.gdb(SEND)
        self.assertIn('received', r.stdout, r.stderr)
        self.assertIn('exited normally', r.stdout)
        self.assertNotIn('SIGSEGV', r.stdout)
        self.assertIn('doorbells are polled: a debugger traces the process', r.stderr)

    def test_a_mode_that_is_asked_for_is_kept(self):
        r = self.gdb(SEND, options=['--doorbell', 'trap'])
        self.assertIn('SIGSEGV', r.stdout, r.stderr)
        self.assertNotIn('polled', r.stderr)

    def test_a_program_that_gdb_does_not_follow_traps(self):
        r = self.gdb('/bin/sh', '-c', SEND + '; exit 0')
        self.assertIn('received', r.stdout, r.stderr)
        self.assertRegex(r.stderr, 'uar .* mapped at')
        self.assertNotIn('polled', r.stderr)

    def test_valgrind(self):
        if not shutil.which('valgrind'):
            self.skipTest('valgrind is not installed')
        # --fair-sched: a program that spins on its CQ would keep the device's thread waiting for seconds
        r = self.run_it('valgrind', '-q', '--fair-sched=yes', '--error-exitcode=9', SEND)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('received', r.stdout)
        self.assertIn('doorbells are polled: valgrind executes the process', r.stderr)


if __name__ == '__main__':
    unittest.main()
