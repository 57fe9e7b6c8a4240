# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by ship.py and tests/distro: folders with a Debian of some release, made by debootstrap."""
import os
import shlex
import shutil
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Wrong(Exception):
    pass


def sh(*argv, status=0, **kw):
    r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace',
                       **kw)
    if r.returncode != status:
        raise Wrong(f'$ {shlex.join(argv)}\n{r.stdout[-4000:]}\n[exit status {r.returncode}]')
    return r.stdout


def source(to):
    """The files of the tree, without what is built."""
    os.makedirs(to)
    files = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=TOP, check=True,
                           capture_output=True).stdout
    tar = subprocess.Popen(['tar', '-cf', '-', '--null', '-T', '-'], cwd=TOP, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    out = subprocess.Popen(['tar', '-xf', '-', '-C', to], stdin=tar.stdout)
    tar.stdin.write(files)
    tar.stdin.close()
    if out.wait() or tar.wait():
        raise Wrong('cannot copy the tree')
    return to


def mirror():
    """Where this machine's apt has Debian from; none: debootstrap knows one of its own."""
    form = '$(ORIGIN) $(LABEL) $(REPO_URI)'
    for line in sh('apt-get', 'indextargets', '--format', form, 'Created-By: Packages').splitlines():
        if line.startswith('Debian Debian '):
            return [line.split()[2]]
    return []


def debootstrap(release, path, *packages, cache=None):
    """Packages are taken from where this machine's are, by the same proxy. cache: a folder that keeps them."""
    sh('debootstrap', '--variant=minbase', *(['--include=' + ','.join(packages)] if packages else []),
       *([f'--cache-dir={cache}'] if cache else []), release, path, *mirror())
    # The last where its mirror is a snapshot: the lists of testing and sid expire after a week.
    lines = [line for line in sh('apt-config', 'dump').splitlines()
             if line.startswith(('Acquire::http', 'Acquire::Retries', 'Acquire::Check-Valid-Until'))]
    with open(os.path.join(path, 'etc/apt/apt.conf.d/90machine'), 'w', encoding='utf-8') as f:
        f.write(''.join(line + '\n' for line in lines))
    # As images of containers have it: nobody keeps such a folder over a power failure.
    with open(os.path.join(path, 'etc/dpkg/dpkg.cfg.d/machine'), 'w', encoding='utf-8') as f:
        f.write('force-unsafe-io\n')


def name_hosts(path):
    """The names that programs of the root look up."""
    shutil.copy('/etc/resolv.conf', os.path.join(path, 'etc/resolv.conf'))
    with open(os.path.join(path, 'etc/hosts'), 'w', encoding='ascii') as f:
        f.write('127.0.0.1 localhost\n')  # as each container and each virtual machine has it
