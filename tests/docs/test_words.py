# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Texts for users keep the rules of doc/STYLE.md that can be checked: no sentence opens with a clause
that has no head, and a path is not called a way."""
import glob
import os
import re
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPENING = re.compile(r'(?:^|[.!?:;|] +|\*\*|^\| *)((?:Who|Whose|What|Of|Its)\b(?! is the\b)[^.?|]{0,60})(?![^.|]*\?)', re.M)
# Strings that users see: file, and the definition or macro in which they stand; None: everywhere.
STRINGS = ('src/cli/*.c', 'src/fw/commands.h', 'src/engine/state.c', 'src/uverbs/*.c', 'src/mlx5/*.c',
           'src/umad/*.c', 'src/super/*.c', 'src/subnet/*.c', 'src/topo/*.c', 'src/wire/mad/names.c', 'src/shim/**/*.c')
DOCS = ('README.md', 'CONTRIBUTING.md', 'doc/README.md', 'doc/DESIGN.md', 'doc/GLOSSARY.md',
        'doc/HAZARDS.md', 'doc/HOWTO_*.md', 'doc/INTERNALS.md', 'doc/internals/*.md', 'doc/SUPPORT.md')


def files(*patterns):
    return sorted(f for p in patterns for f in glob.glob(os.path.join(TOP, p), recursive=True)
                  if not os.path.basename(f).startswith('test_'))


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def man_text(path):
    """The sentences: a line that is no request starts one, or goes on with one."""
    text = re.sub(r'^\.Bd.*?^\.Ed', '', read(path), flags=re.S | re.M)
    lines = re.sub(r'^\.(Pp|It.*|Sh.*|Ss.*|El|Bl.*)$', '', text, flags=re.M)
    return re.sub(r'^\.[A-Z][a-z] ', '', lines, flags=re.M)


class Words(unittest.TestCase):
    def check(self, name, text):
        found = [m.group(1).replace('\n', ' ') for m in OPENING.finditer(text)]
        self.assertEqual(found, [], name)

    def test_documents(self):
        for f in files(*DOCS):
            text = re.sub(r'^```.*?^```|^    .*?$', '', read(f), flags=re.S | re.M)
            # Lines of a paragraph belong together.
            self.check(f, re.sub(r'(?<=[^\n])\n(?=[^\n|*\-#])', ' ', text))

    def test_man_pages(self):
        for f in files('doc/man/*'):
            self.check(f, man_text(f))

    def test_public_headers(self):
        for f in files('include/*.h'):
            self.check(f, re.sub(r'\n \* ?', ' ', read(f)))

    def test_messages(self):
        opening = re.compile(r'(?:who|whose|what|of|its|which) ', re.I)
        n = 0
        for f in files(*STRINGS):
            # One literal of several pieces is one text.
            for s in re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\\?\s*"', '', read(f))):
                n += ' ' in s
                self.assertFalse(opening.match(s) and not s.endswith('?'), f'{f}: {s}')
                self.assertIsNone(re.search(r'\b(no|the) way\b', s), f'{f}: {s}')
        self.assertGreater(n, 500)


if __name__ == '__main__':
    unittest.main()
