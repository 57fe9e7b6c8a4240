#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""softhca check reports what each program of misuses.txt does wrong, once and there; its twin is clean."""
import json
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from softhca import BUILD, SOFTHCA, TIMEOUT, fabric_dir  # noqa: E402

PROGRAMS = os.path.join(BUILD, 'tests', 'check')
with open(os.path.join(HERE, 'misuses.txt'), encoding='utf-8') as f:
    ROWS = [[field.strip() for field in (line + '|').split('|')[:4]] for line in f if not line.startswith('#')]


def here(program):
    """FILE:LINE of the statement with the comment: of each of its lines."""
    with open(os.path.join(HERE, f'{program}.c'), encoding='utf-8') as f:
        for n, line in enumerate(f, 1):
            if '/* HERE */' in line:
                return tuple(f'/{program}.c:{n - i}' for i in range(3))
    return None


class Misuses(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir)
        self.file = os.path.join(self.dir, 'reports')

    def check(self, *args, status=0):
        r = subprocess.run([SOFTHCA, 'check', *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                           errors='replace', timeout=TIMEOUT)
        self.assertEqual(r.returncode, status, r)
        return r

    def reports(self, program, which, options=()):
        r = self.check('--json', self.file, *options, '--', os.path.join(PROGRAMS, f'{program}_{which}'))
        with open(self.file, encoding='utf-8') as f:
            return json.load(f), r.stderr

    def test_each_is_reported_once_and_its_twin_is_clean(self):
        for program, rule, words, options in ROWS:
            with self.subTest(program=program):
                found, text = self.reports(program, 'wrong', options.split())
                self.assertEqual([x['rule'] for x in found], [rule], text)
                self.assertIn(words, found[0]['text'])
                calls = [c.get('source', '') for s in ('here', 'posted') for c in found[0].get(s, [])]
                if here(program):
                    self.assertTrue(any(c.endswith(here(program)) for c in calls), text)
                if found[0]['level'] != 'note':
                    self.assertIn(f"softhca: check: {found[0]['level']} {rule}: ", text)
                self.assertEqual(self.reports(program, 'right', options.split())[0], [])

    def test_a_suppression_names_a_rule_and_a_call(self):
        wrong = os.path.join(PROGRAMS, 'lkey_range_wrong')
        for line, status in (('lkey', 0), ('* main', 0), ('lkey ibv_post_s*', 0), ('rkey', 9), ('lkey nowhere', 9)):
            with self.subTest(line=line):
                with open(self.file, 'w', encoding='utf-8') as f:
                    f.write(f'# known\n{line}\n')
                r = self.check('--suppress', self.file, '--fail-exit', '9', '--', wrong, status=status)
                self.assertEqual('1 suppressed' in r.stderr, not status, r.stderr)
        with open(self.file, 'w', encoding='utf-8') as f:
            f.write('lkez\n')
        r = self.check('--suppress', self.file, '--', wrong, status=2)
        self.assertEqual(r.stderr, f"softhca: check: {self.file}:1: 'lkez' is no rule; did you mean 'lkey'? "
                                   '(softhca check --list)\n')

    def test_levels(self):
        leak, zero = (os.path.join(PROGRAMS, f'{name}_wrong') for name in ('leak', 'timeout_zero'))
        self.assertNotIn('note leak', self.check('--fail-exit', '9', '--', leak).stderr)
        self.assertIn('note leak', self.check('-W', 'note', '--', leak).stderr)
        self.check('--fail-exit', '9', '--fail-on', 'note', '--', leak, status=9)
        self.check('--fail-exit', '9', '--', zero)
        self.check('--fail-exit', '9', '--fail-on', 'warning', '--', zero, status=9)
        self.assertNotIn('timeout-zero', self.check('-W', 'error', '--', zero).stderr)

    def test_the_command_ends_as_it_does(self):
        self.check('--', 'sh', '-c', 'exit 5', status=5)
        r = subprocess.run([SOFTHCA, 'run', '--check', '--', os.path.join(PROGRAMS, 'lkey_range_wrong')], env=self.env,
                           stdin=subprocess.DEVNULL, capture_output=True, errors='replace', timeout=TIMEOUT)
        self.assertIn('softhca: check: error lkey: ', r.stderr)
        self.check('--trace', '--', 'true', status=2)


if __name__ == '__main__':
    unittest.main()
