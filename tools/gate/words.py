# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Documents that comments and documents cite, and how strings that users read begin."""
import os
import re

from .common import TOP, read, result, sources

CITED = re.compile(r'(?<![\w*])([\w./-]*\w\.md)\b(?:\)? (\d+)(?![\w:/-]))?')
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:[^\'\\\n]|\\.)+\'', re.S)
# A string, or a sentence or clause in it, that begins without a head.
HEADLESS = re.compile(r'(?:^|[.] )(?:Who|What|Of|Its|who|what|of|its) \w|[:;] (?:who|what) \w')
# Files whose strings begin so today: take a file out once its strings are mended.
HEADLESS_TODAY = {'src/engine/cq.c', 'src/hw/evq_fifo.c'}


def headings(doc):
    return set(re.findall(r'^(?:#+ )?\**(\d+)', read(doc), re.M))


def missing_documents(path, text):
    """Citations in one file of a document, or a numbered section, that is not there."""
    bad = []
    for n, line in enumerate(text.splitlines(), 1):
        for name, section in CITED.findall(line):
            found = [d for d in (os.path.join(os.path.dirname(path), name), name, 'doc/' + name)
                     if os.path.exists(os.path.join(TOP, d))]
            if not found:
                bad.append(f'{path}:{n}: there is no {name}')
            elif section and section not in headings(found[0]):
                bad.append(f'{path}:{n}: {name} has no section {section}')
    return bad


def check_documents():
    files = ['README.md', 'Makefile', 'meson.build', 'meson_options.txt']
    files += sources(('.c', '.h', '.S', '.py', 'meson.build', '.md', '.1', '.3', '.5', '.7', '.map'),
                     ('src', 'include', 'tests', 'bench', 'examples', 'doc'))
    files += [f for f in sources(('',), ('tools', 'bench')) if '.' not in os.path.basename(f)]
    if os.path.exists(os.path.join(TOP, 'CONTRIBUTING.md')):
        files.append('CONTRIBUTING.md')
    bad = [b for f in files for b in missing_documents(f, read(f))]
    result('words: cited documents are in the tree', not bad, '\n'.join(bad))


def strings(text):
    """Line and content of each string of a C file, pieces that the compiler joins as one."""
    text = COMMENT.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)
    text = re.sub(r'^\s*#\s*include.*$', '', text, flags=re.M)
    found, end = [], None
    for m in STRING.finditer(text):
        if found and not text[end:m.start()].strip():
            found[-1][1] += m.group(1)
        else:
            found.append([text.count('\n', 0, m.start()) + 1, m.group(1)])
        end = m.end()
    return found


def headless_strings(path, text):
    return [f'{path}:{n}: "{s[:70]}"' for n, s in strings(text) if HEADLESS.search(s)]


def check_strings():
    """All that the library and the program can say to their users."""
    files = [f for f in sources(('.c', '.h'), ('src', 'include', 'examples'))
             if not os.path.basename(f).startswith('test_')]
    bad = [b for f in files if f not in HEADLESS_TODAY for b in headless_strings(f, read(f))]
    result('words: no string begins with a headless clause', not bad, '\n'.join(bad))
