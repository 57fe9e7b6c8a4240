#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each world bites: a wrong program passes on the usual host and fails there; its twin passes in all."""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, SOFTHCA, TIMEOUT, TOP, fabric_dir  # noqa: E402

with open(os.path.join(TOP, 'tests', 'world', 'bites.txt'), encoding='utf-8') as f:
    ROWS = [[field.strip() for field in line.split('|', 3)] for line in f if not line.startswith('#')]
PROGRAMS = os.path.join(BUILD, 'tests', 'world')
# event_is_error.c waits for what happens each second in one world, and on the usual host in vain.
SERVE = {'SERVE_MS': '4000'}
INFINIBAND_ONLY = {'sm_lid_right'}

# All mended programs, on one fabric. Each ends with 0, or with 77 and a line that says what it lacks.
TWINS = r'''
for twin; do
    out=$($twin 2>&1) && status=0 || status=$?
    case $status in
    0) ;;
    77) test -n "$out" && lacking="$lacking ${twin%% *}" || { echo "$twin lacks something, and does not say what"; exit 1; } ;;
    *) echo "$twin: status $status: $out"; exit 1 ;;
    esac
done
echo "lacking:$lacking"
'''


def argv(program, which):
    name, *args = program.split()
    return [os.path.join(PROGRAMS, f'{name}_{which}'), *args]


class Bites(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.addCleanup(shutil.rmtree, self.dir)
        os.chmod(self.dir, 0o711)  # drop_root.c: another user
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir)

    def softhca(self, *args):
        return subprocess.run([SOFTHCA, 'world', *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              errors='replace', timeout=TIMEOUT)

    def results(self, *args):
        """Of a run in all worlds, by the world's name."""
        r = self.softhca('--all', '--json', '-', *args)
        self.assertIn(r.returncode, (0, 1), r)
        return {w['world']: w for w in json.loads(r.stdout)['worlds']}

    def bites(self, *args):
        """The same: where a processor is busy, what a world makes late may be there in time."""
        for _ in range(20):
            found = self.results(*args)
            if all(w['result'] == 'failed' for w in found.values() if w['world'] != 'default'):
                break
        return found

    def worlds(self):
        return [w['world'] for w in json.loads(self.softhca('-j').stdout)]

    def test_every_world_has_a_program(self):
        none = [w for w in self.worlds() if not any(fnmatch.fnmatch(w, row[0]) for row in ROWS)]
        self.assertEqual(none, [], 'no program fails there (tests/world/bites.txt)')

    def test_every_row_is_of_a_world(self):
        for row in ROWS:
            self.assertTrue(fnmatch.filter(self.worlds(), row[0]), row)

    def test_the_wrong_program_passes_at_home_and_fails_there(self):
        self.env |= SERVE
        for world, program, options, cause in ROWS:
            with self.subTest(world=world):
                found = self.bites(*options.split(), '--only', world, '--', *argv(program, 'wrong'))
                self.assertEqual(found.pop('default')['result'], 'passed')
                self.assertEqual(sorted(found), sorted(fnmatch.filter(self.worlds(), world)))
                for w in found.values():
                    self.assertEqual(w['result'], 'failed', w)
                    told = [w['detail'], *(c['cause'] for c in w['causes'])]
                    self.assertTrue(cause == '-' or any(re.search(cause, t) for t in told), told)

    def test_its_twin_passes_everywhere_or_says_why_not(self):
        programs = [' '.join(argv(p, 'right')) for p in sorted({row[1] for row in ROWS})]
        for link in ('ib', 'eth'):
            found = self.results('--link', link, '--allow-uid', '65534', '--', 'sh', '-c', TWINS, 'twins', *programs)
            for w in found.values():
                with self.subTest(link=link, world=w['world']):
                    if w['result'] != 'skipped':  # by an option that contradicts the world
                        self.assertEqual(w['result'], 'passed', w)
                        self.assertRegex(w['last_line'], '^lacking:')
            lacking = set(os.path.basename(p) for p in found['default']['last_line'].split()[1:])
            self.assertLessEqual(lacking, set() if link == 'ib' else INFINIBAND_ONLY)

    def test_a_twin_serves_on_after_a_change(self):
        self.env |= SERVE
        found = self.results('--only', 'gid-changes', '--', *argv('event_is_error', 'right'))
        self.assertEqual([(w['world'], w['result']) for w in found.values()], [('default', 'passed'), ('gid-changes', 'passed')])


if __name__ == '__main__':
    unittest.main()
