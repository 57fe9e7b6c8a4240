# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A minute instead of many: what changed is looked at, and the tests that this concerns are built and run."""
import os
import re

from . import layers, rooms, source, tests, words
from .common import CORES, TOP, Part, read, result, sh

# Where a layer's tests have other names than it.
TESTS_OF = {'shim': ('shim', 'trap'), 'super': ('e2e-cli',), 'cli': ('e2e-cli', 'e2e-logs'), 'fabric': ('fabric', 'subnet')}
FOLDERS = ('src/', 'include/', 'tests/', 'bench/', 'examples/')


def changed():
    """Files that differ from what was last published, or else committed, and new ones."""
    base = sh(['git', 'merge-base', 'HEAD', '@{upstream}'])
    since = base.stdout.strip() if base.returncode == 0 else 'HEAD'
    out = sh(['git', 'diff', '--name-only', since]).stdout.splitlines()
    out += sh(['git', 'ls-files', '--others', '--exclude-standard']).stdout.splitlines()
    return [f for f in sorted(set(out)) if os.path.isfile(os.path.join(TOP, f))]


def programs_of(build, files):
    """The executables that are built of one of these files."""
    return [t for t in tests.introspect(build, 'targets') if t['type'] == 'executable' and
            any(os.path.relpath(s, TOP) in files for part in t['target_sources'] for s in part['sources'])]


def uses(test, programs, files):
    """Is it one of the programs, or a module among these files, or one beside a program that names it?"""
    module = next((os.path.relpath(os.path.normpath(w), TOP) for w in test['cmd'] if w.endswith('.py')), None)
    return (module in files or
            any({p['id'], *p['filename']} & {*test['cmd'], *test['depends']} for p in programs) or
            module and any(os.path.dirname(p['defined_in']) == os.path.join(TOP, os.path.dirname(module)) and
                           re.search(rf"\b{p['name']}\b", read(module)) for p in programs))


def concerned(build, rows, files):
    """
    The tests of the layers to which these files belong, and those that use one of them; without a change, all unit
    tests. Not those that take minutes.
    """
    rows = [t for t in rows if not tests.suites(t) & {'long', 'steps'}]
    if not files:
        return tests.of(rows, 'unit', 'docs')
    layer = {f.split('/')[1] for f in files if f.startswith('src/')}
    words = [w for n in layer for w in TESTS_OF.get(n, (n,))] + ['docs'] * any(f.endswith(('.md', '.1')) for f in files)
    programs = programs_of(build, files)
    of_layers = tests.of(rows, *words)
    return [t for t in rows if t in of_layers or uses(t, programs, files)]


def check_tree():
    """What looks at all files at once, in a second."""
    layers.check_layering()
    rooms.check_headers()
    layers.check_heap()
    layers.check_results()
    source.check_sleeps()
    source.check_bytes()
    words.check_documents()
    words.check_strings()
    words.check_texts()


def static(files):
    with Part('format, layers, words, headers that changed'):
        source.check_format([f for f in files if f.startswith(FOLDERS) and f.endswith(('.c', '.h'))])
        check_tree()
        source.check_headers([f for f in files
                              if f.startswith(('src/', 'include/')) and f.endswith('.h')])


def quick(build, chosen=None):
    """The tests that the change concerns, or the chosen ones (a layer, a suite, a name)."""
    files = changed()
    if not chosen:
        static(files)
    with Part('build'):
        first = tests.setup(build, '-Dtests=true')
        if first and first.returncode:
            tests.compile_targets(build, 'gcc', first=first)
            return
        rows = tests.introspect(build, 'tests')
        rows = tests.of(rows, chosen) if chosen else concerned(build, rows, files)
        if chosen and not rows:
            result(f'{chosen} is a layer, a suite or a test', False)
            return
        # Most changes affect the program, so it must link, too.
        if not tests.compile_targets(build, 'gcc', [*tests.targets(build, rows), 'program'], first):
            return
    # More tests than there are cores: many tests wait most of their time.
    tests.run('tests side by side', build, '', [t for t in rows if t['is_parallel']], CORES * 2)
    tests.run('tests one at a time', build, '', [t for t in rows if not t['is_parallel']], 1)
