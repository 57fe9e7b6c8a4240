# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Choose tests of a build tree, build what they need, run them, and count their cases."""
import json
import os
import re
import shutil
import subprocess

from .common import CORES, TOP, Part, failed, passed, result, sh, skipped

# Meson looks for ccache by itself only where it may choose the compiler.
CLANG = {'CC': 'ccache clang' if shutil.which('ccache') else 'clang'}
# These options give reports with line numbers, and compile a third faster than a build for a debugger. To
# end at the first finding saves another quarter. lld needs a third of the linker's time for 140 programs.
SANITIZED = ('-Db_sanitize=address,undefined', '-Db_lundef=false', '-Dfuzz=true', '-Ddebug=false',
             '-Doptimization=1', '-Dc_link_args=-fuse-ld=lld', '-Dc_args=-gline-tables-only -fno-sanitize-recover=all')


def introspect(build, what):
    return json.loads(subprocess.run(['meson', 'introspect', '--' + what, build], cwd=TOP, check=True,
                                     stdout=subprocess.PIPE).stdout)


def suites(test):
    return {s.rsplit(':', 1)[-1] for s in test['suite']}


def of(tests, *words):
    """The tests of a suite, of a layer (engine: engine-cq and others), or of this name."""
    return [t for t in tests if any(w in suites(t) or t['name'] == w or t['name'].startswith(w + '-')
                                    for w in words)]


def targets(build, tests):
    """
    The files of the build tree that these tests need; an empty list means all. Only unit tests and
    fuzzers name their files.
    """
    if any(not suites(t) <= {'unit', 'fuzz', 'stepped'} for t in tests):
        return []
    files = {t['id']: t['filename'] for t in introspect(build, 'targets')}
    top = os.path.join(TOP, build)
    return sorted({os.path.relpath(f, top) for t in tests for d in t['depends'] for f in files[d]})


def setup(build, *args, env=None):
    """Configure a tree that may be there already."""
    if not os.path.exists(os.path.join(TOP, build, 'build.ninja')):
        return sh(['meson', 'setup', build, *args], env=dict(os.environ, **(env or {})))
    return sh(['meson', 'configure', build, *args]) if args else None


def compile_targets(build, name, files=(), first=None, run_it=sh):
    """first: the result of setup(). run_it: runs the command, perhaps at a lower priority."""
    r = first
    if r is None or r.returncode == 0:
        r = run_it(['ninja', '-C', build, '-j', str(CORES), *files])
    result(f'build: {name}', r.returncode == 0, r.stdout[-3000:])
    return r.returncode == 0


# All cases of a module, and those of some names in it.
CASES = '''
import importlib.util, sys, unittest
def ids(suite):
    return {i for t in suite for i in (ids(t) if isinstance(t, unittest.TestSuite) else [t.id()])}
spec = importlib.util.spec_from_file_location('module', sys.argv[1])
sys.modules['module'] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
load = unittest.TestLoader()
print(*ids(load.loadTestsFromModule(module)) - ids(load.loadTestsFromNames(sys.argv[2:], module)))
'''


def check_parts(rows):
    """A module of Python that several tests run in parts: each case is in one of them."""
    parts = {}
    for t in rows:
        names = t['cmd'][t['cmd'].index('-v') + 1:] if '-v' in t['cmd'] else []
        if names:
            parts.setdefault(t['cmd'][1], (t, []))[1].extend(names)
    for module, (t, names) in sorted(parts.items()):
        r = sh(['python3', '-c', CASES, module, *names], env=dict(os.environ, **t['env']))
        result(f'tests: every case of {os.path.relpath(module, TOP)} is in a part',
               not r.returncode and not r.stdout.strip(), r.stdout)


def unittest_failures(out):
    return sum(int(x) for x in re.findall(r'(?:failures|errors)=(\d+)', out))


def count(test, label):
    """A meson test may hold many cases: count what its runner (cmocka, unittest) says it ran."""
    out = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
    name = f"{label}{test['name']}"
    if test['result'] == 'SKIP':
        skipped.append((name, out.strip().splitlines()[-1] if out.strip() else ''))
        print(f'skip {name}')
        return
    ran = re.search(r'^Ran (\d+) tests? in', out, re.M)
    mocka = {w: sum(int(n) for n in re.findall(r'\[  %s *\] (\d+) test' % w, out))
             for w in ('PASSED', 'SKIPPED')}
    if ran:
        m = re.search(r'skipped=(\d+)', out)
        nskip = int(m.group(1)) if m else 0
        n = int(ran.group(1)) - nskip - unittest_failures(out)
    elif mocka['PASSED']:
        n, nskip = mocka['PASSED'], mocka['SKIPPED']
    else:
        n, nskip = int(test['result'] == 'OK'), 0
    passed.extend([name] * n)
    why = re.findall(r"^(\S+).* \.\.\. skipped ['\"](.*)['\"]$", out, re.M)
    skipped.extend((f'{name}: {w[0]}', w[1]) for w in why)
    skipped.extend([(name, 'see its log')] * max(nskip - len(why), 0))
    if test['result'] == 'OK':
        print(f"ok   {name} ({n} cases, {test['duration']:.1f} s)", flush=True)
        return
    bad = unittest_failures(out) or len(re.findall(r'^\[  FAILED  \] \w+$', out, re.M)) or 1
    failed.extend([name] * bad)
    print(f"FAIL {name} ({test['result']})\n" + '\n'.join(out.splitlines()[-60:]), flush=True)


def run(part, build, label, tests, at_once):
    """These tests, at_once of them at a time; one that leaves no line in the log has failed."""
    if not tests:
        return
    with Part(part):
        run_logged(build, label, tests, at_once)


def run_logged(build, label, tests, at_once):
    log = os.path.join(TOP, build, 'meson-logs', f'gate-{at_once}.json')
    if os.path.exists(log):
        os.unlink(log)
    r = sh(['meson', 'test', '-C', build, '--no-rebuild', '--num-processes', str(at_once),
            '--logbase', f'gate-{at_once}',
            '--timeout-multiplier', os.environ.get('SOFTHCA_PATIENCE', '4'),  # for hangs only
            *(t['name'] for t in tests)])
    told = 0
    if os.path.exists(log):
        with open(log, encoding='utf-8') as f:
            for line in f:
                count(json.loads(line), label)
                told += 1
    if told != len(tests):
        result(f'{label}tests of {build}: {told} of {len(tests)} ran', False, r.stdout[-2000:])
