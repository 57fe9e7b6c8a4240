#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Build the packages, the image and the CI's steps, and use them in a bookworm of their own.

usage: tests/ship/ship.py [PART...]      parts: debian rpm container pip action gitlab (all)
Needs root and the network (Debian's packages only). $SOFTHCA_ROOT names a bookworm that debootstrap
has made; without it one is made. Takes many minutes: `make check-long`, not `make check`.
"""
import glob
import os
import re
import shutil
import sys
import tempfile
import time

import yaml

sys.dont_write_bytecode = True
from roots import TOP, Wrong, debootstrap, name_hosts, sh, source  # noqa: E402

VERSION = re.search(r"version: '([\d.]+)'", open(os.path.join(TOP, 'meson.build'), encoding='utf-8').read()).group(1)
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
# What package tools, the kernel and the tests themselves write; everything else must be as before.
NOT_COMPARED = ('/var/cache', '/var/lib/apt', '/var/lib/dpkg', '/var/log', '/tmp', '/dev', '/proc', '/sys', '/run',
                '/etc/ld.so.cache', '/root', '/etc/resolv.conf', '/src')


class Root:
    """A folder with Debian bookworm, in which commands run."""
    made = None

    def __init__(self, work, name):
        self.path = os.path.join(work, name)
        base = os.environ.get('SOFTHCA_ROOT') or Root.made
        if not base:
            base = Root.made = os.path.join(work, 'bookworm')
            debootstrap('bookworm', base)
        sh('cp', '-a', base, self.path)
        name_hosts(self.path)

    def run(self, *argv, status=0, env=None, user='root', cwd='/', **kw):
        env = {'PATH': PATH, 'HOME': '/root', 'DEBIAN_FRONTEND': 'noninteractive', **(env or {})}
        sets = [x for k, v in env.items() for x in ('--setenv', k, v)]
        as_user = [] if user == 'root' else ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups']
        return sh('bwrap', '--bind', self.path, '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run',
                  '--unshare-pid', '--die-with-parent', '--clearenv', *sets, '--chdir', cwd, *as_user, *argv,
                  status=status, **kw)

    def files(self):
        found = {}
        for place, dirs, files in os.walk(self.path):
            for f in files + dirs:
                p = os.path.join(place, f)
                shown = p[len(self.path):]
                if not shown.startswith(NOT_COMPARED):
                    st = os.lstat(p)
                    found[shown] = (st.st_mode, st.st_size if not os.path.isdir(p) else 0)
        return found


def debian(work):
    tree = source(os.path.join(work, 'deb', f'softhca-{VERSION}'))
    sh('dpkg-buildpackage', '-us', '-uc', f'-j{os.cpu_count()}', cwd=tree)
    out = os.path.dirname(tree)
    print(sh('lintian', '--allow-root', '--fail-on', 'error,warning', *glob.glob(out + '/*.changes')), end='')
    root = Root(work, 'debian')
    root.run('apt-get', 'update', '-q')
    # Install what the packages depend on first: the comparison is about the files of the packages themselves.
    control = open(os.path.join(TOP, 'debian/tests/control'), encoding='utf-8').read()
    names = {n for d in re.findall(r'^Depends: (.*)', control, re.M) for n in d.split(', ')}
    ours = set(re.findall(r'^Package: (\S+)', open(os.path.join(TOP, 'debian/control'), encoding='utf-8').read(),
                          re.M))
    root.run('apt-get', 'install', '-q', '-y', '--no-install-recommends', *sorted(names - ours), 'libjson-c5',
             'libncursesw6', 'libpcap0.8', 'libzydis4.0', 'libibverbs-dev')
    before = root.files()
    for deb in glob.glob(out + '/*.deb'):
        if 'dbgsym' not in deb:
            shutil.copy(deb, os.path.join(root.path, 'tmp'))
    root.run('sh', '-c', 'dpkg -i /tmp/*.deb')
    print(root.run('softhca', '--version'), end='')
    for test in re.findall(r'^Tests: (\S+)', control, re.M):
        for user in ('root', '65534'):
            shutil.copy(os.path.join(TOP, 'debian/tests', test), os.path.join(root.path, 'tmp'))
            text = root.run(f'/tmp/{test}', user=user, env={'HOME': '/tmp'})
            print(f'     autopkgtest {test} as {user}: {text.strip().splitlines()[-1]}')
    root.run('apt-get', 'purge', '-q', '-y', *sorted(ours))
    after = root.files()
    left = {f for f in set(before) | set(after) if before.get(f) != after.get(f)}
    if left:
        raise Wrong(f'the packages have left or changed: {sorted(left)[:20]}')
    print('     removed: every file is as before')


def rpm(work):
    top = os.path.join(work, 'rpm')
    tree = source(os.path.join(top, f'softhca-{VERSION}'))
    sh('tar', '-czf', f'{tree}.tar.gz', '-C', top, f'softhca-{VERSION}')
    sh('rpmbuild', '--define', f'_topdir {top}/top', '--define', f'_smp_mflags -j{os.cpu_count()}', '--nodeps',
       '-tb', f'{tree}.tar.gz')
    rpms = sorted(glob.glob(top + '/top/RPMS/*/*.rpm'))
    print('     ' + ' '.join(os.path.basename(r) for r in rpms))
    if len(rpms) != 4:
        raise Wrong(f'{len(rpms)} packages')
    root = os.path.join(top, 'root')
    sh('rpm', '--root', root, '--nodeps', '--ignorearch', '-i', *rpms)
    prog = os.path.join(root, 'usr/bin/softhca')
    with tempfile.TemporaryDirectory() as run:
        print('     ' + sh(prog, 'run', '--', 'ibv_devices', env=dict(os.environ, SOFTHCA_RUNTIME_DIR=run))
              .strip().splitlines()[-1].strip())
    sh('rpm', '--root', root, '-e', 'softhca', 'libdevx', 'libdevx-devel', 'softhca-doc', '--nodeps')
    left = [os.path.join(p, f) for p, d, fs in os.walk(root) for f in fs if '/usr/lib/sysimage' not in p and
            '/.rpmdb' not in p]
    if left:
        raise Wrong(f'left: {left}')


def container(work):
    """
    Builds the Containerfile without a container program: each FROM is a bookworm of its own, and
    bubblewrap executes each RUN in it.
    """
    text = open(os.path.join(TOP, 'packaging/Containerfile'), encoding='utf-8').read()
    stages, root, env, user, entry = {}, None, {}, 'root', None
    for line in re.sub(r'\\\n', ' ', re.sub(r'^#.*\n', '', text, flags=re.M)).splitlines():
        word, _, rest = line.partition(' ')
        if word == 'FROM':
            image, _, name = rest.partition(' AS ')
            if not image.startswith('debian:bookworm'):
                raise Wrong(f'{image} is not a bookworm')
            root, user = Root(work, f'stage{len(stages)}'), 'root'
            stages[name or 'last'] = root
        elif word == 'RUN':
            root.run('sh', '-c', rest, env=env)
        elif word == 'COPY':
            src, dst = rest.split()[-2:]
            if rest.startswith('--from='):
                src = stages[rest.split()[0][7:]].path + src
                sh('cp', '-a', src + '/.', root.path + dst)
            else:
                source(root.path + dst)
        elif word == 'USER':
            user = rest
        elif word == 'ENTRYPOINT':
            entry = yaml.safe_load(rest)
        elif word not in ('', 'CMD'):
            raise Wrong(f'unknown instruction {word}')
    if user == 'root':
        raise Wrong('the image runs as root')
    uid = root.run('id', '-u', user).strip()
    for argv in (['--version'], ['run', '--', 'ibv_devinfo', '-d', 'mlx5_0'],
                 ['run', '--', 'sh', '-c', 'ib_send_lat -F -n 10 >/dev/null & until ib_send_lat -F -n 10 localhost; do '
                  'kill -0 $! || exit 9; sleep 0.1; done; wait $!']):
        out = root.run(*entry, *argv, user=uid, env={'HOME': '/tmp'})
        print(f'     {" ".join(argv)[:40]}: {out.strip().splitlines()[-1].strip()}')
    size = sh('du', '-sh', root.path).split()[0]
    print(f'     the image has {size}')


def pip(work):
    """Installs the Python package without network, and uses it with Debian's pytest."""
    tree = os.path.join(work, 'pip')
    source(tree)
    target = os.path.join(work, 'site')
    sh('/usr/bin/python3', '-m', 'pip', 'install', '--no-index', '--no-build-isolation', '--no-deps', '--target',
       target, '.', cwd=os.path.join(tree, 'python'))
    env = dict(os.environ, PYTHONPATH=target, SOFTHCA=os.path.join(TOP, 'build', 'softhca'))
    with open(os.path.join(work, 'test_it.py'), 'w', encoding='utf-8') as f:
        f.write("def test_it(softhca_fabric):\n    assert 'mlx5_0' in softhca_fabric.run(['ibv_devices']).stdout\n")
    out = sh('/usr/bin/python3', '-m', 'pytest', '-p', 'no:cacheprovider', '-q', 'test_it.py', cwd=work, env=env)
    print('     ' + out.strip().splitlines()[-1])


def steps(root, workspace, inputs):
    """Runs the steps of action.yml as GitHub does. Returns the first failed one's output, or None."""
    action = yaml.safe_load(open(os.path.join(TOP, 'action.yml'), encoding='utf-8'))
    values = {f'inputs.{k}': inputs.get(k, v.get('default', '')) for k, v in action['inputs'].items()}
    values['runner.temp'] = '/tmp/runner'
    put = lambda s: re.sub(r'\$\{\{ *([\w.]+) *\}\}', lambda m: values[m.group(1)], s)  # noqa: E731
    failed = None
    for step in action['runs']['steps']:
        if (failed is not None) != (step.get('if') == 'failure()'):
            continue
        if 'uses' in step:
            kept = put(step['with']['path'])
            found = sorted(os.listdir(root.path + kept))
            print(f'     {step["name"]}: {step["uses"]} of {kept}: {" ".join(found)}')
            if found != ['packets.pcap', 'trace.txt']:
                raise Wrong(f'not the trace and the packets: {found}')
            continue
        env = {k: put(v) for k, v in step.get('env', {}).items()}
        try:
            root.run('bash', '-e', '-o', 'pipefail', '-c', put(step['run']), cwd=workspace,
                     env={'GITHUB_ACTION_PATH': '/action', **env})
        except Wrong as e:
            if step['name'] != 'Run':
                raise
            failed = str(e)
    return failed


def action(work):
    root = Root(work, 'runner')
    source(root.path + '/action')
    os.makedirs(root.path + '/tmp/runner')
    os.makedirs(root.path + '/workspace')
    # GitHub's image has these.
    root.run('apt-get', 'update', '-q')
    root.run('apt-get', 'install', '-q', '-y', '--no-install-recommends', 'make', 'git', 'ca-certificates')
    if steps(root, '/workspace', {'run': 'ibv_devinfo\nibv_devices | grep mlx5_1', 'options': '--hca 2'}):
        raise Wrong('a good step has failed')
    if os.path.exists(root.path + '/tmp/runner/softhca-artifacts'):
        raise Wrong('a good step keeps artifacts')
    why = steps(root, '/workspace', {'run': 'ibv_devinfo\nsaquery\nfalse\necho not here'})
    if not why or 'exit status 1' not in why or 'not here' in why.splitlines():
        raise Wrong(f'a bad step: {why}')
    Root.ci = root


def gitlab(work):
    root = getattr(Root, 'ci', None) or Root(work, 'gitlab')
    sh('git', 'clone', '-q', '--bare', TOP, root.path + '/softhca.git')
    job = yaml.safe_load(open(os.path.join(TOP, 'packaging/ci/gitlab.yml'), encoding='utf-8'))['.softhca']
    branch = sh('git', '-C', TOP, 'rev-parse', '--abbrev-ref', 'HEAD').strip()
    env = {**job['variables'], 'SOFTHCA_REPOSITORY': '/softhca.git', 'SOFTHCA_VERSION': branch}
    os.makedirs(root.path + '/builds')
    # All lines run in one shell and see the same /tmp, as with a runner.
    def script(run):  # noqa: E306
        lines = '\n'.join(['set -e', *job['before_script'], *job['script']])
        return root.run('bash', '-c', lines, cwd='/builds', env={**env, 'SOFTHCA_RUN': run})
    script('ibv_devinfo')
    if os.listdir(root.path + '/builds'):
        raise Wrong('a good job keeps artifacts')
    shutil.rmtree(root.path + '/tmp/softhca')
    try:
        script('ibv_devinfo; false')
    except Wrong as e:
        print('     ' + str(e).splitlines()[-2])
    for path in job['artifacts']['paths']:
        found = sorted(os.listdir(os.path.join(root.path, 'builds', path)))
        print(f'     {path} of a bad job: {" ".join(found)}')
        if found != ['packets.pcap', 'trace.txt']:
            raise Wrong(f'not the trace and the packets: {found}')


PARTS = {f.__name__: f for f in (debian, rpm, container, pip, action, gitlab)}


def main(chosen):
    bad = 0
    work = tempfile.mkdtemp(prefix='softhca-ship-')
    try:
        for name in chosen or PARTS:
            began = time.monotonic()
            try:
                PARTS[name](work)
                print(f'ok   {name} ({time.monotonic() - began:.0f} s)', flush=True)
            except (Wrong, OSError) as e:
                bad += 1
                print(f'FAIL {name}\n{e}', flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
