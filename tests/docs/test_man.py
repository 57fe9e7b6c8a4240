#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Manual pages: their format, by the programs that read them; their sections; links; installation."""
import glob
import os
import re
import shutil
import subprocess
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = sorted(glob.glob(os.path.join(TOP, 'doc', 'man', '*')))
NO_FABRIC = {'softhca-decode.1', 'softhca-explain.1', 'softhca-world.1'}  # they read neither environment nor files of ours


def read(page):
    with open(page, encoding='utf-8') as f:
        return f.read()


def run(*argv, **env):
    return subprocess.run(argv, capture_output=True, errors='replace',
                          env=dict(os.environ, LC_ALL='C.UTF-8', **env))


def commands():
    """The names in the table of commands."""
    table = read(os.path.join(TOP, 'src', 'cli', 'main.c'))
    return re.findall(r'^\t\{CLI_\w+,\s+"(\w+)"', table, re.M)


class Man(unittest.TestCase):
    def each(self, program, check):
        if not shutil.which(program):
            self.skipTest(f'{program} is not installed')
        for page in PAGES:
            with self.subTest(page=os.path.basename(page)):
                check(page)

    def test_apropos_can_index_every_page(self):
        def check(page):
            r = run('lexgrog', page)
            self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
            if not page.endswith('.3'):  # a page of calls has the names of the calls
                self.assertIn(f': "{os.path.basename(page)[:-2]} - ', r.stdout)
        self.each('lexgrog', check)

    def test_man_has_no_warning(self):
        def check(page):
            # Wide: groff does not break the longest prototypes of libdevx.
            r = run('man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', page, MANWIDTH='120')
            self.assertEqual((r.returncode, r.stderr), (0, ''))
        self.each('man', check)

    def test_mandoc_finds_no_error(self):
        def check(page):
            r = run('mandoc', '-T', 'lint', '-W', 'error', page)
            self.assertEqual((r.returncode, r.stdout), (0, ''))
        self.each('mandoc', check)

    def test_every_command_has_a_page_with_all_sections(self):
        self.assertGreater(len(commands()), 10)
        index = read(os.path.join(TOP, 'doc', 'man', 'softhca.1'))
        for name in ['softhca', *(f'softhca-{c}' for c in commands())]:
            with self.subTest(page=name):
                page = os.path.join(TOP, 'doc', 'man', name + '.1')
                self.assertTrue(os.path.exists(page))
                want = {'EXIT STATUS', 'EXAMPLES', 'SEE ALSO'}
                if os.path.basename(page) not in NO_FABRIC:
                    want |= {'ENVIRONMENT', 'FILES'}
                self.assertEqual(want - set(re.findall(r'^\.Sh (.*)', read(page), re.M)), set())
                if name != 'softhca':
                    self.assertIn(f'.Xr {name} 1', index)

    def test_links_between_our_pages_lead_somewhere(self):
        ours = {os.path.basename(p) for p in PAGES}
        for page in PAGES:
            for name, section in re.findall(r'^\.(?:Pq see )?Xr ((?:softhca|libdevx|devx)[\w-]*) (\d)',
                                            read(page), re.M):
                self.assertIn(f'{name}.{section}', ours, page)

    def test_every_world_is_in_its_page(self):
        table = read(os.path.join(TOP, 'src', 'world', 'worlds.c'))
        page = read(os.path.join(TOP, 'doc', 'man', 'softhca-world.1'))
        worlds = page[page.index('.Sh WORLDS'):page.index('.Sh STOCK PROGRAMS')]
        self.assertEqual(re.findall(r'^\.It Sy (\S+)$', worlds, re.M), re.findall(r'^\t\{"([a-z0-9-]+)",$', table, re.M))

    def test_every_rule_of_check_is_in_its_page(self):
        rows = read(os.path.join(TOP, 'src', 'check', 'rows.h'))
        rules = [(name, level.lower()) for name, level in re.findall(r'X\([A-Z_]+, "([a-z-]+)", ([A-Z]+),', rows)]
        page = read(os.path.join(TOP, 'doc', 'man', 'softhca-check.1'))
        self.assertGreater(len(rules), 20)
        for name, level in rules:
            self.assertIn(f'.It Sy {name} Pq {level}\n', page)

    def test_stock_programs_of_every_world(self):
        """Its list is that of tests/world/stock.txt, which world-stock runs."""
        part = run('/usr/bin/python3', os.path.join(TOP, 'tests', 'world', 'stock.py'), '--man')
        self.assertEqual(part.returncode, 0, part.stderr)
        self.assertIn(f'\n{part.stdout}.Sh EXIT STATUS\n', read(os.path.join(TOP, 'doc', 'man', 'softhca-world.1')),
                      'tests/world/stock.py --man')

    def test_every_page_is_installed(self):
        build = read(os.path.join(TOP, 'doc', 'meson.build'))
        for page in PAGES:
            self.assertIn(f"'man/{os.path.basename(page)}'", build)


if __name__ == '__main__':
    unittest.main()
