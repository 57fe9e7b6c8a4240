# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The C excerpts of the HOWTOs: each is in the file that it names, and compiles.

The line that opens an excerpt says where it comes from: ```c PATH, a path below src/. A line of
"..." stands for what is left out. "rows of TYPE with HEADER" says of which array the lines are
rows; "program" instead of a path is a whole program, which is in no file.
"""
import glob
import os
import re
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CC = ['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
      '-Wno-unused-parameter', '-Wno-missing-field-initializers', '-Wno-unused-function',
      '-Wno-unused-const-variable', '-Wno-unused-variable', '-I' + os.path.join(TOP, 'src'),
      '-I' + TOP, '-I' + os.path.join(TOP, 'include')]


class Excerpt:
    def __init__(self, doc, line, where, text):
        self.name, self.text = f'{doc}:{line}', text
        m = re.fullmatch(r'(\S+)(?: rows of (.+) with (\S+))?', where)
        self.path, self.type, self.header = m.groups() if m else (None, None, None)

    def pieces(self):
        return [p for p in re.split(r'^[ \t]*\.\.\.[ \t]*\\?$', self.text, flags=re.M) if p.strip()]


def excerpts():
    out = []
    for path in sorted(glob.glob(os.path.join(TOP, 'doc', 'HOWTO_*.md'))):
        with open(path, encoding='utf-8') as f:
            text = f.read()
        for m in re.finditer(r'^```c *([^\n]*)\n(.*?)^```', text, re.S | re.M):
            line = text.count('\n', 0, m.start()) + 1
            out.append(Excerpt(os.path.basename(path), line, m.group(1), m.group(2)))
    return out


def squeeze(text):
    """Without comments, continued lines and white space, which formatting changes."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    return re.sub(r'\s+', '', re.sub(r'\\$', '', text, flags=re.M))


def unit(part, includes):
    """A translation unit of some excerpts of one file."""
    lines = [f'#include "{h}"' for h in includes]
    for e in part:
        text = ''.join(e.pieces())
        if e.type:
            text = f'static const {e.type} excerpt[] = {{\n{text}}};\n'
        lines.append(text)
    return '\n'.join(lines)


class Excerpts(unittest.TestCase):
    def compiles(self, name, text):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, 'excerpt.c')
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            r = subprocess.run([*CC, path], capture_output=True, errors='replace')
            self.assertEqual(r.returncode, 0, f'{name}:\n{r.stderr}')

    def test_there_are_some(self):
        self.assertGreaterEqual(len(excerpts()), 20)

    def test_each_names_its_file(self):
        for e in excerpts():
            self.assertIsNotNone(e.path, f'{e.name} says not where it comes from')
            if e.path != 'program':
                self.assertTrue(os.path.exists(os.path.join(TOP, 'src', e.path)),
                                f'{e.name}: no file {e.path}')

    def test_each_is_in_its_file(self):
        for e in excerpts():
            if e.path == 'program':
                continue
            with open(os.path.join(TOP, 'src', e.path), encoding='utf-8') as f:
                there, at = squeeze(f.read()), 0
            for piece in e.pieces():
                found = there.find(squeeze(piece), at)
                self.assertGreaterEqual(found, 0, f'{e.name}: not in {e.path}:\n{piece}')
                at = found + 1

    def test_functions_and_programs_compile(self):
        """The functions of one file together, with the headers that the excerpts show."""
        by_file, n = {}, 0
        for e in excerpts():
            if not e.type and e.path.endswith(('.c', 'program')) and re.search(r'^[{]', e.text, re.M):
                doc = e.name.split(':')[0]
                by_file.setdefault((doc, e.path), []).append(e)
        for part in by_file.values():
            self.compiles(part[0].name, unit(part, []))
            n += 1
        self.assertGreaterEqual(n, 6)

    def test_rows_compile(self):
        n = 0
        for e in excerpts():
            if e.type:
                # Rows may name functions that other excerpts of the file show.
                own = [x for x in excerpts() if x.path == e.path and not x.type and
                       re.search(r'^[{]', x.text, re.M)]
                self.compiles(e.name, unit([*own, e], [e.header]))
                n += 1
        self.assertGreaterEqual(n, 3)


if __name__ == '__main__':
    unittest.main()
