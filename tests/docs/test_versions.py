#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One version in every file that has it; the packages have every file that is installed."""
import os
import re
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*path):
    with open(os.path.join(TOP, *path), encoding='utf-8') as f:
        return f.read()


class Versions(unittest.TestCase):
    def test_one_version_everywhere(self):
        version = re.search(r"^  version: '([\d.]+)'", read('meson.build'), re.M).group(1)
        for path, at in ((('debian', 'changelog'), r'\Asofthca \(([\d.]+)\)'),
                         (('packaging', 'softhca.spec'), r'^Version: +([\d.]+)$'),
                         (('python', 'pyproject.toml'), r'^version = "([\d.]+)"$')):
            self.assertEqual(re.search(at, read(*path), re.M).group(1), version, path)

    def test_the_package_has_every_call_of_libdevx(self):
        calls = set(re.findall(r'^\.Nm (\w+)', ''.join(read('doc', 'man', f) for f in os.listdir(
            os.path.join(TOP, 'doc', 'man')) if f.startswith('devx_')), re.M))
        listed = set(re.findall(r'^ (\w+)@LIBDEVX_', read('debian', 'libdevx1.symbols'), re.M)) - {'LIBDEVX_1'}
        self.assertEqual(listed, calls)

    def test_the_changelog_begins_with_what_comes_next(self):
        self.assertRegex(read('CHANGELOG.md'), r'\n## (Not released yet|\d+\.\d+\.\d+)\n')


if __name__ == '__main__':
    unittest.main()
