#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A DEVX program, linked to libmlx5 and linked to libdevx: both must run, and ask the same of the
kernel between opening and closing the device. usage: twice.py [--verbs] SOFTHCA RECORDER ON_MLX5 ON_LIBDEVX
--verbs: the one on libdevx uses libibverbs, too; neither library may answer for the other."""
import difflib
import os
import re
import subprocess
import sys
import tempfile


def run(softhca, recorder, program, log):
    cmd = [softhca, 'run', '--', 'sh', '-c', 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$1"', recorder,
           program]
    r = subprocess.run(cmd, env=dict(os.environ, DEVX_RECORD=log, SOFTHCA_PROGRAM=softhca), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace', timeout=600)
    print(f'--- {os.path.basename(program)}: exit status {r.returncode}\n{r.stdout}', flush=True)
    return r.returncode


def libraries(program):
    return subprocess.run(['ldd', program], stdout=subprocess.PIPE, errors='replace', check=True).stdout


def bindings(softhca, program):
    """Which library's symbol each library's name was bound to: (from, to, symbol)."""
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, LD_DEBUG='bindings', LD_BIND_NOW='1',
                   LD_DEBUG_OUTPUT=os.path.join(tmp, 'ld'))
        subprocess.run([softhca, 'run', '--', program], env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       timeout=600)
        text = ''.join(open(os.path.join(tmp, f), errors='replace').read()
                       for f in os.listdir(tmp))
    return re.findall(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `(\w+)'", text)


def mixed_up(softhca, program):
    """Names bound across the two libraries."""
    rows = [(a, b, s) for a, b, s in bindings(softhca, program) if s.startswith('mlx5dv_')]
    if not any('libmlx5' in a and 'libmlx5' in b for a, b, s in rows) or \
            not any('libdevx' in b for a, b, s in rows):
        return ['both libraries should be there']
    return [f'{a} uses {s} of {b}' for a, b, s in rows if ('libmlx5' in a) != ('libmlx5' in b)]


def main():
    verbs = sys.argv[1] == '--verbs'
    softhca, recorder, on_mlx5, on_libdevx = map(os.path.abspath, sys.argv[1 + verbs:])
    if verbs:
        bad = mixed_up(softhca, on_libdevx)
        if bad:
            return '\n'.join(bad)
    bad = [lib for lib in ('libibverbs', 'libmlx5', 'libnl')[verbs:2 if verbs else 3]
           if lib in libraries(on_libdevx)]
    if bad:
        return f'{on_libdevx} is linked to {", ".join(bad)}'
    with tempfile.TemporaryDirectory() as tmp:
        logs = [os.path.join(tmp, 'libmlx5'), os.path.join(tmp, 'libdevx')]
        status = [run(softhca, recorder, p, log) for p, log in zip((on_mlx5, on_libdevx), logs)]
        if any(status):
            # 77: what the program needs is not there, which both must find.
            return 77 if status == [77, 77] else 'a program failed'
        with open(logs[0]) as a, open(logs[1]) as b:
            a, b = a.readlines(), b.readlines()
    calls = sum(line.startswith('object') for line in a)
    diff = list(difflib.unified_diff(a, b, 'libmlx5', 'libdevx', n=30))
    if diff:
        sys.stdout.writelines(diff)
        return 'the calls differ'
    if not calls:
        return 'no call was recorded'
    print(f'{calls} calls are the same')
    return 0


sys.exit(main())
