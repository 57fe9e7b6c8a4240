# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tests/cards/facts.md against tests/cards/facts.h: each fact has a check, each check a fact, with the same source,
and each check is made by a group."""
import os
import re
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CARDS = 'tests/cards'


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


class Facts(unittest.TestCase):
    def setUp(self):
        self.rows = [[c.strip() for c in line.strip('|').split('|')] for line in read('tests/cards/facts.md').splitlines()
                     if re.match(r'\| \d+ \|', line)]
        self.sources = dict(re.findall(r'X\((\w+), "([^"]*)"\)', read('tests/cards/facts.h')))

    def test_numbers_follow_each_other(self):
        self.assertEqual([int(r[0]) for r in self.rows], list(range(1, len(self.rows) + 1)))

    def test_each_has_its_check_and_its_source(self):
        checks = {r[4]: r[2] for r in self.rows if r[4] in self.sources}
        self.assertEqual(sorted(checks), sorted(self.sources))
        for name, source in checks.items():
            self.assertIn(source.split(';')[0], self.sources[name])

    def test_other_checks_are_files(self):
        for r in self.rows:
            if r[4] not in self.sources:
                for path in re.findall(r'[\w/]+\.(?:py|c)', r[4]):
                    self.assertTrue(os.path.exists(os.path.join(TOP, path)), path)

    def test_each_check_is_made(self):
        code = ''.join(read(f'{CARDS}/{f}') for f in os.listdir(os.path.join(TOP, CARDS)) if f.endswith('.c'))
        for name in self.sources:
            self.assertRegex(code, r'\b%s\b' % name)


if __name__ == '__main__':
    unittest.main()
