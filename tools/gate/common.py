# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by the parts of the gate: running commands, the files of the tree, results, times."""
import concurrent.futures
import os
import subprocess
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORES = len(os.sched_getaffinity(0))
passed, failed, skipped = [], [], []
times = []
here = threading.local()  # .part: the part of the gate that this thread works for


def sh(cmd, began=None, **kw):
    """began: is called with the process's id."""
    with subprocess.Popen(cmd, cwd=TOP, text=True, errors='replace', stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kw) as p:
        if began:
            began(p.pid)
        out = p.stdout.read()
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    part = getattr(here, 'part', None)
    if part:
        with part.lock:
            part.used += used.ru_utime + used.ru_stime
    return subprocess.CompletedProcess(cmd, p.returncode, out)


def on_all_cores(function, items):
    """function of each item, as many at once as there are cores."""
    part = getattr(here, 'part', None)

    def work(item):
        here.part = part
        return function(item)

    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(work, items))


def null_call():
    """Nanoseconds of a system call that does nothing: the least of some rounds, less what Python needs."""
    def per_call(function):
        rounds = []
        for _ in range(20):
            start = time.perf_counter_ns()
            for _ in range(500):
                function()
            rounds.append((time.perf_counter_ns() - start) / 500)
        return min(rounds)

    return max(0, per_call(os.getppid) - per_call(int))


def machine():
    """What a reader of a failure must know of the machine, in some words."""
    return (f'{CORES} cores, load {os.getloadavg()[0]:.1f}, a null system call costs {null_call():.0f} ns, '
            f'kernel {os.uname().release}')


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
    """
    A part of the gate. print_times() shows how long it took, and the processor time of its commands, which
    other load does not change (without the time of daemons: supervisors that `up` has started).
    """
    began = time.monotonic()

    def __init__(self, name):
        self.name = name
        self.used = 0
        self.lock = threading.Lock()

    def __enter__(self):
        self.start = time.monotonic()
        here.part = self
        return self

    def __exit__(self, *_):
        here.part = None
        times.append((self.name, self.start - Part.began, time.monotonic() - Part.began, self.used))


def print_times():
    for name, start, end, used in sorted(times, key=lambda t: t[1]):
        print(f'{end - start:6.0f} s {used:6.0f} s of processors  {name} '
              f'(from {start:.0f} to {end:.0f})')
