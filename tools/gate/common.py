# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by the parts of the gate: running commands, the files of the tree, results, times."""
import concurrent.futures
import os
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORES = len(os.sched_getaffinity(0))
passed, failed, skipped = [], [], []
times = []


def sh(cmd, **kw):
    return subprocess.run(cmd, cwd=TOP, text=True, errors='replace', stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kw)


def on_all_cores(function, items):
    """function of each item, as many at once as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(function, items))


def result(name, ok, why=''):
    (passed if ok else failed).append(name)
    print(f"{'ok  ' if ok else 'FAIL'} {name}" + (f'\n{why}' if not ok and why else ''), flush=True)


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def sources(exts, folders=('src', 'include', 'tests', 'bench', 'examples')):
    """The files of the tree with these endings, as paths below its top."""
    out = []
    for d in folders:
        for root, _, files in os.walk(os.path.join(TOP, d)):
            out += [os.path.relpath(os.path.join(root, f), TOP) for f in files if f.endswith(exts)]
    return sorted(out)


class Part:
    """A part of the gate, whose time is told at the end."""
    began = time.monotonic()

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.start = time.monotonic()
        return self

    def __exit__(self, *_):
        times.append((self.name, self.start - Part.began, time.monotonic() - Part.began))


def print_times():
    for name, start, end in sorted(times, key=lambda t: t[1]):
        print(f'{end - start:6.0f} s  {name} (from {start:.0f} to {end:.0f})')
