#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""examples/ can be copied: it includes nothing of src/, and its own places of PRM fields are right."""
import glob
import os
import re
import subprocess
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*path):
    with open(os.path.join(TOP, *path), encoding='utf-8') as f:
        return f.read()


class Example(unittest.TestCase):
    def test_it_includes_only_its_neighbours(self):
        for f in glob.glob(os.path.join(TOP, 'examples', '*.[ch]')):
            for h in re.findall(r'^#include "([^"]+)"', read(f), re.M):
                self.assertTrue(os.path.exists(os.path.join(TOP, 'examples', h)), f'{f}: {h}')

    def test_its_fields_are_where_the_layouts_have_them(self):
        prm = read('examples', 'prm.h')
        lines = ['#include "wire/prm/prm.h"']

        def same(a, b):
            lines.append(f'_Static_assert({a} == {b}, "{b}");')

        for name, at, width in re.findall(r'^#define PRM_(\w+) (0x[0-9a-f]+)(?:, (\d+))?$', prm, re.M):
            if width:
                same(at, f'LF_{name}_BIT')
                same(width, f'LF_{name}_WIDTH')
            elif name.startswith('OP_'):
                same(at, f'PRM_{name}')
            elif name.endswith('_SIZE'):
                same(at, f'LAYOUT_SZ({name[:-5]})')
            else:
                same(at, f'LP_{name}')
        self.assertGreater(len(lines), 150)
        r = subprocess.run(['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-I' + os.path.join(TOP, 'src'), '-fsyntax-only',
                            '-xc', '-'], input='\n'.join(lines), capture_output=True, errors='replace')
        self.assertEqual(r.returncode, 0, r.stderr)


if __name__ == '__main__':
    unittest.main()
