# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Format, licences, and headers that compile alone."""
import os
import re

from .common import CORES, on_all_cores, read, result, sh, skipped, sources

LICENCE = 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'
GCC = ['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Isrc',
       '-Iinclude', '-xc', '-fsyntax-only', '-include']
GXX = ['g++', '-Wall', '-Wextra', '-xc++', '-fsyntax-only', '-include']


# Releases of clang-format break other lines.
FORMAT_VERSION = '14'


def skips_format():
    """Why the format is not checked here, or None."""
    out = sh(['sh', '-c', 'clang-format --version']).stdout
    m = re.search(r'version (\d+)', out)
    if m and m.group(1) == FORMAT_VERSION:
        return None
    return f'needs clang-format {FORMAT_VERSION}, here is {m.group(1) if m else "none"}'


def check_clang_format(files):
    why = skips_format()
    if why:
        skipped.append(('format: clang-format', why))
        print('skip format: clang-format', flush=True)
        return
    slices = [files[i::CORES * 2] for i in range(CORES * 2)]
    out = ''.join(r.stdout for r in on_all_cores(
        lambda some: sh(['clang-format', '--dry-run', '--Werror', *some]),
        [s for s in slices if s]) if r.returncode)
    result('format: clang-format', not out, out[-2000:])


def check_format(files=None):
    files = sources(('.c', '.h')) if files is None else files
    check_clang_format(files)
    bad = [f for f in files if LICENCE not in read(f)[:200]]
    result('format: every file names its licence', not bad, '\n'.join(bad))


def check_headers(headers=None):
    if headers is None:
        headers = sources(('.h',), ('src', 'include'))
    commands = [[*GCC, h, '/dev/null'] for h in headers]
    commands += [[*GXX, h, '/dev/null'] for h in headers if h.startswith('include/')]
    bad = [r.stdout for r in on_all_cores(sh, commands) if r.returncode]
    result('headers: each compiles alone', not bad, '\n'.join(bad)[-3000:])


SLEEP = re.compile(r'(?<!def )\b(usleep|nanosleep|sleep)\(')
LOOP = re.compile(r'\b(while|for|do|until)\b')
COMMENT = re.compile(r'/\*|\*/|#')


def check_sleeps():
    """A test sleeps between two looks at a state, or says in a comment why that is no wait for a time."""
    bad = []
    for f in sources(('.c', '.h', '.py'), ('src', 'tests')):
        if f.startswith('src/') and not os.path.basename(f).startswith('test_'):
            continue
        lines = read(f).splitlines()
        bad += [f'{f}:{n}: {line.strip()}' for n, line in enumerate(lines, 1) if SLEEP.search(line)
                and not COMMENT.search(line + lines[n - 2]) and not any(map(LOOP.search, lines[max(n - 9, 0):n]))]
    result('tests: a sleep is in a loop that looks, or has its reason', not bad, '\n'.join(bad))


def check_bytes():
    """A shell, a loader or a sanitizer writes what it likes: no test dies of a byte that is not UTF-8."""
    bad = [f'{f}:{n}: {line.strip()}' for f in sources(('.py',), ('tests', 'python')) for n, line in
           enumerate(read(f).splitlines(), 1) if re.search(r'\b(text|universal_newlines)=True', line)]
    result("tests: children are read with errors='replace'", not bad, '\n'.join(bad))
