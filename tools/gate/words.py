# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Documents that are cited exist; texts and strings for users keep the rules of doc/STYLE.md that can
be checked: no sentence opens with a clause that has no head, and a path is not called a way."""
import glob
import os
import re

from .common import TOP, read, result, sources

CITED = re.compile(r'(?<![\w*])([\w./-]*\w\.md)\b(?:\)? (\d+)(?![\w:/-]))?')
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Match strings first: an apostrophe or a slash in a string begins no character and no comment.
TOKEN = re.compile(r'("(?:[^"\\\n]|\\[^\n])*")|/\*.*?\*/|//[^\n]*|\'(?:[^\'\\\n]|\\[^\n])+\'', re.S)
# A string, or a sentence or clause in it, that begins without a head.
HEADLESS = re.compile(r'(?:^|[.] )(?:[Ww]ho|[Ww]hose|[Ww]hat|[Oo]f|[Ii]ts) \w|[:;] (?:who|what) \w|^which ')
WAY = re.compile(r'\b(?:no|the) way\b')
# The same in running text, where a list, a table or a bold word may come before.
OPENING = re.compile(r'(?:^|[.!?:;|] +|\*\*|^\| *)((?:Who|Whose|What|Of|Its)\b(?! is the\b)[^.?|]{0,60})'
                     r'(?![^.|]*\?)', re.M)
TEXTS = ('README.md', 'CONTRIBUTING.md', 'doc/README.md', 'doc/COMPARISON.md', 'doc/DESIGN.md', 'doc/GLOSSARY.md',
         'doc/HAZARDS.md', 'doc/HOWTO_*.md', 'doc/INTERNALS.md', 'doc/internals/*.md',
         'doc/SUPPORT.md', 'doc/man/*', 'include/*.h')


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
    text = TOKEN.sub(lambda m: m.group(1) or re.sub(r'[^\n]', ' ', m.group()), text)
    text = re.sub(r'^\s*#\s*include.*$', '', text, flags=re.M)
    found, end = [], None
    for m in STRING.finditer(text):
        if found and not text[end:m.start()].strip(' \t\n\\'):
            found[-1][1] += m.group(1)
        else:
            found.append([text.count('\n', 0, m.start()) + 1, m.group(1)])
        end = m.end()
    return found


def headless_strings(path, text):
    return [f'{path}:{n}: "{s[:70]}"' for n, s in strings(text)
            if HEADLESS.search(s) and not s.endswith('?') or WAY.search(s)]


def check_strings():
    """Checks all strings that the library and the program can show to their users."""
    files = [f for f in sources(('.c', '.h'), ('src', 'include', 'examples'))
             if not os.path.basename(f).startswith('test_')]
    bad = [b for f in files for b in headless_strings(f, read(f))]
    result('words: no string begins with a headless clause', not bad, '\n'.join(bad))


def sentences(path, text):
    """The running text of a document, man page or header; lines of a paragraph as one."""
    if path.endswith('.h'):
        return re.sub(r'\n \* ?', ' ', text)
    if path.endswith('.md'):
        text = re.sub(r'^```.*?^```|^    .*?$', '', text, flags=re.S | re.M)
        return re.sub(r'(?<=[^\n])\n(?=[^\n|*\-#])', ' ', text)
    text = re.sub(r'^\.Bd.*?^\.Ed', '', text, flags=re.S | re.M)
    text = re.sub(r'^\.(Pp|It.*|Sh.*|Ss.*|El|Bl.*)$', '', text, flags=re.M)
    return re.sub(r'^\.[A-Z][a-z] ', '', text, flags=re.M)


def headless_openings(path, text):
    return [f'{path}: {m.group(1)}'.replace('\n', ' ')
            for m in OPENING.finditer(sentences(path, text))]


def check_texts():
    files = [sorted(glob.glob(os.path.join(TOP, t))) for t in TEXTS]
    missing = [f'{t}: no such file' for t, found in zip(TEXTS, files) if not found]
    paths = [os.path.relpath(f, TOP) for found in files for f in found]
    bad = missing + [b for f in paths for b in headless_openings(f, read(f))]
    result('words: no sentence of a document begins with a headless clause', not bad, '\n'.join(bad))
