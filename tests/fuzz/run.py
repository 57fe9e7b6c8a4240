#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Run one fuzz target on its seeds, the kept corpus and changed ones, and say how often it ran.

usage: run.py BUILD TARGET [SECONDS] [--keep] [--with=FOLDER]

SECONDS: otherwise SOFTHCA_FUZZ_SECONDS; without both, the target's number of runs. --keep: afterwards the kept corpus becomes
the smallest set of inputs that reaches every edge that was found, also by others in FOLDER. What
fails is left in BUILD/tests/fuzz/ and can be run by giving it to the program alone.
"""
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Which program writes a target's seeds, and its arguments, {} the folder.
SEEDS = {
    'fw': ['fuzz_seeds_fw', '{}'],
    'devx': ['fuzz_seeds_fw', '{}', 'devx'],
    'ioctl': ['fuzz_seeds_rows', '{}', '{}.other'],
    'write': ['fuzz_seeds_rows', '{}.other', '{}'],
    'wqe': ['fuzz_seeds_wqe', '{}'],
    'topo': ['fuzz_seeds_topo', '{}'],
    'fault': ['/usr/bin/python3', os.path.join(HERE, 'seeds_fault.py'), '{}'],
    'umad': ['fuzz_seeds_umad', '{}'],
    'rmpp': ['fuzz_seeds_umad', '{}', 'rmpp'],
    'sa': ['fuzz_seeds_umad', '{}'],
    'sma': ['fuzz_seeds_umad', '{}'],
    'ucma': ['fuzz_seeds_umad', '{}', 'ucma'],
    'netlink': ['fuzz_seeds_netlink', '{}'],
    'decode': ['/usr/bin/python3', os.path.join(HERE, 'seeds_decode.py'), '{}'],
}
# How many inputs it runs without a time: the kept corpus and the seeds, which reach what minutes have found, and a few
# changed ones. A busy machine runs as many.
RUNS = {'fw': 2000, 'devx': 150, 'ioctl': 375, 'write': 440, 'wqe': 1000, 'topo': 9000, 'fault': 20000,
        'umad': 2500, 'rmpp': 160, 'sa': 625, 'sma': 2500, 'ucma': 1500, 'netlink': 1250,
        'decode': 310}
MAX_LEN = 4096


def kept(target):
    return os.path.join(HERE, 'corpus', target + '.tar.xz')


def unpack(target, folder):
    os.mkdir(folder)
    if os.path.exists(kept(target)):
        with tarfile.open(kept(target)) as t:
            for m in t.getmembers():
                with open(os.path.join(folder, os.path.basename(m.name)), 'wb') as f:
                    f.write(t.extractfile(m).read())


def pack(target, folder):
    os.makedirs(os.path.dirname(kept(target)), exist_ok=True)
    with tarfile.open(kept(target), 'w:xz', format=tarfile.USTAR_FORMAT) as t:
        for n, name in enumerate(sorted(os.listdir(folder))):
            with open(os.path.join(folder, name), 'rb') as f:
                data = f.read()
            m = tarfile.TarInfo(f'{n:04}')
            m.size = len(data)
            t.addfile(m, io.BytesIO(data))


def main():
    args = [a for a in sys.argv[1:] if not a.startswith('--')]
    more = [a[len('--with='):] for a in sys.argv if a.startswith('--with=')]
    build, target = args[:2]
    seconds = int(args[2] if len(args) > 2 else os.environ.get('SOFTHCA_FUZZ_SECONDS', 0))
    programs = os.path.join(build, 'tests', 'fuzz')
    env = dict(os.environ, UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1')
    with tempfile.TemporaryDirectory(prefix='softhca-fuzz-') as tmp:
        seeds, corpus = os.path.join(tmp, 'seeds'), os.path.join(tmp, 'corpus')
        unpack(target, corpus)
        subprocess.run([os.path.join(programs, SEEDS[target][0])] +
                       [a.format(seeds) for a in SEEDS[target][1:]], check=True, env=env)
        run = [os.path.join(programs, 'fuzz_' + target), f'-max_len={MAX_LEN}',
               '-timeout=100',  # for hangs: others may have the processor meanwhile
               '-rss_limit_mb=4096', f'-artifact_prefix={programs}/{target}-']
        # libFuzzer ends up to a second later than it is told.
        last = f'-max_total_time={max(seconds - 1, 1)}' if seconds else f'-runs={RUNS[target]}'
        r = subprocess.run(run + [last, '-print_final_stats=1', corpus, seeds],
                           env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, errors='replace')
        if r.returncode:
            print(r.stdout[-6000:])
            return 1
        done = re.search(r'^Done (\d+) runs in (\d+)', r.stdout, re.M)
        cov = re.findall(r' cov: (\d+) ft: (\d+) corp: (\d+)', r.stdout)[-1]
        print(f'{target}: {done.group(1)} executions in {done.group(2)} s, '
              f'{cov[0]} edges, corpus of {cov[2]}')
        if '--keep' in sys.argv:
            merged = os.path.join(tmp, 'merged')
            os.mkdir(merged)
            subprocess.run(run + ['-merge=1', '-use_counters=0', merged, corpus, seeds, *more],
                           env=env, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            pack(target, merged)
            print(f'kept {len(os.listdir(merged))} inputs, {os.path.getsize(kept(target))} bytes')
    return 0


sys.exit(main())
