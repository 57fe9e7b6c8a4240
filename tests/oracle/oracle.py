#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the same calls on softhca and on Debian's kernel with rxe, and compares the answers.

  oracle.py BUILD [FAMILY...]     all families, or these
  oracle.py BUILD --keep DIR      leave the answers in DIR: FAMILY.ours and FAMILY.kernel

A family is a program that prints a row a line, "KEY<tab>ANSWER". `explained` lists the rows whose answers may differ,
and why: any other difference is an error, and so is an entry whose rows no longer differ. Those of families cards-*
are in a table of tests/cards/README.md. Status 77: this machine cannot boot the kernel.
"""
import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
SHOWN = 40  # differences of a family
HANGS = 1200  # seconds of a family, which takes a minute: beyond that it hangs (`guest` has the same bound)


class Family:
    """`ours` and `kernel`: arguments for the program here and there. There the family runs in a lane (see `guest`)."""

    def __init__(self, name, program, ours=(), kernel=(), options=(), lane='first'):
        self.name, self.program, self.options, self.lane = name, program, options, lane
        self.ours, self.kernel = list(ours), list(kernel)


ETHERNET = ('--link', 'eth', '--mtu', '4200')
ADDRESSES = ('--ip', 'h1=127.1.0.1,fd00:7::1')
# Groups of tests/cards that mean something on rxe: not its counters, doorbell records, numbers, processes that die.
CARDS = ('own', 'dead', 'calls', 'datagrams', 'domains', 'notices', 'posts', 'receives', 'windows', 'keys', 'refused')
# Netlink comes first and alone: objects that refused calls leave behind in rxe crash Linux 6.1 when it lists them
# (nldev.c fill_res_cq_entry). Others run side by side; rows of ucma do not, as their QPNs are the same (cm.c
# cm_insert_remote_qpn).
FAMILIES = [
    Family('sysfs', 'HERE/probe.py', ['sysfs'], ['sysfs'], ADDRESSES),
    Family('netlink', 'BUILD/tests/abi/abi', ['hold', 'HERE/probe.py', 'netlink'],
           ['hold', 'rxe', 'HERE/probe.py', 'netlink'], ADDRESSES),
    Family('rdma', 'BUILD/tests/abi/abi', ['hold', 'HERE/probe.py', 'rdma'],
           ['hold', 'rxe', 'HERE/probe.py', 'rdma'], ADDRESSES),
    Family('abi', 'BUILD/tests/abi/abi', ['print'], ['print', 'rxe'], lane='abi'),
    Family('files', 'BUILD/tests/abi/files', ['print'], ['print', 'rxe'], lane='abi'),
    Family('random', 'BUILD/tests/oracle/oracle_random', [], ['-r'], lane='abi'),
    Family('ucma', 'BUILD/tests/ucma/ucma_rows', ['print', '-q'], ['print', '-q'], ADDRESSES,
           lane='ucma'),
    *(Family('cards-' + group, 'BUILD/tests/cards/cards', ['-r', group], ['-r', '-p', '10', group], lane='cards')
      for group in CARDS),
    Family('umad', 'BUILD/tests/oracle/umad/oracle_umad', [], [], ADDRESSES, lane='umad'),
    # no answers of the kernel's adapter: what softhca does in the machine, beside what is wanted
    Family('ptrace', 'HERE/ptrace', ['BUILD', 'expect'], ['BUILD', 'measure'], lane='ptrace'),
]


def rows_of(text):
    """{key: answer} in the order of the lines. A key that repeats gets a number."""
    rows, seen = {}, {}
    for line in text.splitlines():
        key, tab, answer = line.partition('\t')
        if not tab:
            continue
        seen[key] = seen.get(key, 0) + 1
        rows[key if seen[key] == 1 else '%s #%d' % (key, seen[key])] = answer
    return rows


class Explained:
    """Lines "FAMILY | KEY PATTERN | COUNT | reason": so many rows that match differ."""

    def __init__(self, path, table):
        self.entries = []
        self.read_list(path)
        self.read_table(table)

    def read_table(self, path):
        """Of tests/cards: "| GROUP | `KEY PATTERN` | COUNT | on cards | on rxe |"."""
        with open(path) as f:
            for n, line in enumerate(f, 1):
                m = re.fullmatch(r'\| (\w+) \| `([^`]+)` \| (\d+) \| .+ \| .+ \|\n', line)
                if m:
                    self.entries.append(['README.md:%d' % n, 'cards-' + m.group(1), m.group(2), int(m.group(3)), 0])

    def read_list(self, path):
        with open(path) as f:
            for n, line in enumerate(f, 1):
                if not line.strip() or line.startswith('#'):
                    continue
                parts = [p.strip() for p in line.split(' | ', 3)]
                if len(parts) != 4 or not parts[3] or not parts[2].isdigit():
                    sys.exit('%s:%d: not "FAMILY | PATTERN | COUNT | reason"' % (path, n))
                self.entries.append(['explained:%d' % n, parts[0], parts[1], int(parts[2]), 0])

    def covers(self, family, key):
        for e in self.entries:
            if e[1] == family and fnmatch.fnmatchcase(key, e[2]):
                e[4] += 1
                return True
        return False

    def stale(self, families):
        return ['%s: %s | %s: %d rows differ, not %d' % (n, family, pattern, found, count)
                for n, family, pattern, count, found in self.entries if family in families and found != count]


def argv(build, family, arguments):
    def fill(s):
        return s.replace('BUILD', build).replace('HERE', HERE)
    return fill(family.program).split() + [fill(a) for a in arguments]


def ask_ours(build, families, out):
    for f in families:
        command = [build + '/softhca', 'run', *ETHERNET, *f.options, '--'] + argv(build, f, f.ours)
        with open(out + '/' + f.name + '.ours', 'w') as to:
            p = subprocess.run(['timeout', '--foreground', str(HANGS)] + command, stdout=to, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, errors='replace')
        if p.returncode:
            sys.exit('%s here: status %d\n%s' % (f.name, p.returncode, p.stderr))


def start_kernel(build, families, out):
    with open(out + '/list', 'w') as f:
        for family in families:
            f.write(' '.join([family.lane, family.name] + argv(build, family, family.kernel)) + '\n')
    return subprocess.Popen([HERE + '/boot', out, HERE + '/guest', '/run/out/list'], stdin=subprocess.DEVNULL)


def kernel_answers(families, out):
    for f in families:
        err = out + '/' + f.name + '.err'
        said = open(err).read() if os.path.exists(err) else 'no answer'
        if 'status 0,' not in said:
            sys.exit('%s on the kernel: %s' % (f.name, said))
        os.rename(out + '/' + f.name + '.out', out + '/' + f.name + '.kernel')


def where(ours, kernel):
    """Long answers from a few words before the first that differs."""
    if len(ours) + len(kernel) < 300:
        return ours, kernel
    a, b = ours.split(' '), kernel.split(' ')
    n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return tuple('%d: %s' % (n, ' '.join(words[max(0, n - 3):n + 2])) for words in (a, b))


def compare(family, out, explained):
    """The numbers of rows, of programs among them, of differences with a reason and without."""
    ours, kernel = (rows_of(open('%s/%s.%s' % (out, family.name, side)).read()) for side in ('ours', 'kernel'))
    rows = {**ours, **kernel}
    programs = sum(k.startswith('program ') for k in rows)
    differ = [k for k in rows if ours.get(k) != kernel.get(k)]
    wrong = [k for k in differ if not explained.covers(family.name, k)]
    for key in wrong[:SHOWN]:
        print('%s | %s\n    ours:   %s\n    kernel: %s' %
              (family.name, key, *where(ours.get(key, '(no row)'), kernel.get(key, '(no row)'))))
    numbers = len(rows) - programs, programs, len(differ) - len(wrong), len(wrong)
    print('%-16s %5d rows, %4d programs: %3d differ with a reason, %d without' % (family.name + ':', *numbers))
    return numbers


def run(build, families, out):
    explained = Explained(HERE + '/explained', os.path.join(TREE, 'tests/cards/README.md'))
    start = time.monotonic()
    kernel = start_kernel(build, families, out)
    try:
        ask_ours(build, families, out)
    finally:
        status = kernel.wait()
    if status:
        sys.exit('the kernel: status %d\n%s' % (status, open(out + '/.log').read()))
    kernel_answers(families, out)
    total = [sum(n) for n in zip(*(compare(f, out, explained) for f in families))]
    stale = explained.stale({f.name for f in families})
    for line in stale:
        print(line)
    print('%-16s %5d rows, %4d programs: %3d differ with a reason, %d without; %d reasons are stale; %d s' %
          ('all:', *total, len(stale), time.monotonic() - start))
    return 1 if total[3] or stale else 0


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument('build')
    args.add_argument('family', nargs='*')
    args.add_argument('--keep')
    a = args.parse_intermixed_args()
    can = subprocess.run([HERE + '/boot', '--can'], stdout=subprocess.PIPE, errors='replace')
    if can.returncode:
        print('skipped: ' + can.stdout.strip())
        return 77
    families = [f for f in FAMILIES if not a.family or f.name in a.family]
    out = a.keep or tempfile.mkdtemp(prefix='oracle.')
    os.makedirs(out, exist_ok=True)
    try:
        return run(os.path.abspath(a.build), families, os.path.abspath(out))
    finally:
        if not a.keep:
            shutil.rmtree(out)


if __name__ == '__main__':
    sys.exit(main())
