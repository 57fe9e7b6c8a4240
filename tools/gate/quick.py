# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seconds instead of minutes: what changed is looked at, and unit tests alone are built and run."""
import os

from . import layers, source, tests, words
from .common import CORES, TOP, Part, result, sh

FOLDERS = ('src/', 'include/', 'tests/', 'bench/', 'examples/')


def changed():
    """Files that differ from what was last published, or else committed, and new ones."""
    base = sh(['git', 'merge-base', 'HEAD', '@{upstream}'])
    since = base.stdout.strip() if base.returncode == 0 else 'HEAD'
    out = sh(['git', 'diff', '--name-only', since]).stdout.splitlines()
    out += sh(['git', 'ls-files', '--others', '--exclude-standard']).stdout.splitlines()
    return [f for f in sorted(set(out)) if os.path.isfile(os.path.join(TOP, f))]


def static():
    files = changed()
    with Part('format, layers, words, headers that changed'):
        source.check_format([f for f in files if f.startswith(FOLDERS) and f.endswith(('.c', '.h'))])
        layers.check_layering()
        layers.check_heap()
        layers.check_results()
        words.check_documents()
        words.check_strings()
        words.check_texts()
        source.check_headers([f for f in files
                              if f.startswith(('src/', 'include/')) and f.endswith('.h')])


def quick(build, chosen=None):
    """All unit tests, or the chosen ones (a layer, a suite, a name)."""
    if not chosen:
        static()
    with Part('build'):
        first = tests.setup(build)
        rows = [] if first and first.returncode else tests.introspect(build, 'tests')
        rows = tests.of(rows, chosen or 'unit')
        if chosen and not rows:
            result(f'{chosen} is a layer, a suite or a test', False)
            return
        files = tests.targets(build, rows)
        if files and not chosen:  # most changes affect these two, so they must link, too
            files += ['softhca', 'src/shim/libsofthca.so']
        if not tests.compile_targets(build, 'gcc', files, first):
            return
    # More tests than there are cores: many tests wait most of their time.
    tests.run('tests side by side', build, '', [t for t in rows if t['is_parallel']], CORES * 2)
    tests.run('tests one at a time', build, '', [t for t in rows if not t['is_parallel']], 1)
