#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Both commands of a newcomer, `make demo` and `make check`, on other releases of Debian.

usage: tests/distro/distro.py [--tests T] [RELEASE...]      (trixie sid)
Each release gets a root folder by debootstrap, kept in $SOFTHCA_ROOTS (~/.cache/softhca/roots) and upgraded
before each use, and in it a fresh clone of what is committed here; all roots share a folder of packages and a ccache
there. Remove a root to have it made anew. With --tests the tests of a layer or suite, or one test, instead of the
gate. The kernel is this machine's. Prints one line for each release, and what failed; the whole output is in
build/distro-RELEASE.log. Needs root, the network and minutes: `make check-long`.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'ship'))
from roots import TOP, Wrong, debootstrap, name_hosts, sh  # noqa: E402

RELEASES = ('trixie', 'sid')
SKIPPED = 77
ROOTS = os.path.abspath(os.environ.get('SOFTHCA_ROOTS') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'softhca', 'roots'))

# What outlives a root: it makes a fresh one cheap.
KEPT = {'archives': 'var/cache/apt/archives', 'ccache': 'root/.cache/ccache'}

# By pivot_root, not chroot: tests make user namespaces. The shell is the namespace's process 1: it waits for orphans,
# and all that a test leaves ends with it.
ENTER = '''
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 none tmp
mkdir -p old
script=$1
shift
for at; do
    mkdir -p "${at#*=}"
    mount --bind "${at%%=*}" "${at#*=}"
done
pivot_root . old
umount -l /old
mount -t tmpfs -o mode=1777 none /dev/shm
cd /srv
status=0
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \\
    sh -euc "$script" || status=$?
exit $status
'''


def run(root, script, log):
    kept = [f'{os.path.join(ROOTS, name)}={at}' for name, at in KEPT.items()]
    return subprocess.run(['unshare', '--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private',
                           'sh', '-euc', ENTER, root, script, *kept], stdin=subprocess.DEVNULL, stdout=log,
                          stderr=subprocess.STDOUT, check=False).returncode


def made(release):
    """The root of the release, up to date, with a clone of this tree. It has its name when it is whole."""
    root = os.path.join(ROOTS, release)
    for name in KEPT:
        os.makedirs(os.path.join(ROOTS, name), exist_ok=True)
    if not os.path.exists(root):
        shutil.rmtree(root + '.new', ignore_errors=True)
        debootstrap(release, root + '.new', 'ca-certificates', 'make', 'git', 'ccache',
                    cache=os.path.join(ROOTS, 'archives'))
        os.rename(root + '.new', root)
    name_hosts(root)
    clone = os.path.join(root, 'srv', 'softhca')  # where other users can read it
    shutil.rmtree(clone, ignore_errors=True)
    sh('git', 'clone', '-q', '--no-hardlinks', TOP, clone)
    return root


def tried(release, tests):
    """Whether all is well there."""
    log = os.path.join(TOP, 'build', f'distro-{release}.log')
    os.makedirs(os.path.dirname(log), exist_ok=True)
    took, bad = [], ''
    with open(log, 'w+', encoding='utf-8', errors='replace') as f:
        root = made(release)
        for name, script in (('upgrade', 'apt-get update -q; apt-get dist-upgrade -q -y'),
                             ('demo', 'cd softhca; make demo'),
                             ('check', f'cd softhca; make check T={tests}' if tests else 'cd softhca; make check')):
            began = time.monotonic()
            if not bad and run(root, script, f):
                bad = name
            took.append(f'{name} {time.monotonic() - began:.0f} s')
            if bad:
                break
        f.flush()
        f.seek(0)
        out = f.read()
    count = re.search(r'^\d+ passed, \d+ failed, \d+ skipped$', out, re.M)
    if not bad and not count:
        bad = 'check'
    print(f"{'FAIL' if bad else 'ok  '} {release}: {count.group(0) if count else f'make {bad} stopped'}; "
          f"{', '.join(took)}; {log}", flush=True)
    if bad:
        print('\n'.join(re.findall(r'^failed: .*', out, re.M) or out.splitlines()[-20:]), flush=True)
    return not bad


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    p.add_argument('--tests', metavar='T', help='the tests of a layer or a suite, or one test')
    p.add_argument('release', nargs='*', default=RELEASES)
    args = p.parse_args()
    if os.geteuid():
        print('skipped: check-distro needs root')
        return SKIPPED
    if not shutil.which('debootstrap'):
        print('skipped: check-distro needs debootstrap')
        return SKIPPED
    bad = 0
    for release in args.release:
        try:
            bad += not tried(release, args.tests)
        except Wrong as e:
            bad += 1
            print(f'FAIL {release}: {e}', flush=True)
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
