# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Choose tests of a build tree, build what they need, run them, and count their cases."""
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from .common import CORES, TOP, Part, failed, machine, passed, read, result, sh, skipped

# Warnings of other compilers fail nobody's build and no gate.
DEVELOPED_WITH = ('gcc 12', 'clang 14')
# Meson looks for ccache by itself only where it may choose the compiler.
CLANG = {'CC': 'ccache clang' if shutil.which('ccache') else 'clang'}
# These options give reports with line numbers, and compile in half of the time that -O1 takes. To end at the
# first finding saves another quarter, precompiled headers (src/pch) an eighth. lld needs a third of the linker's
# time for 140 programs. Fuzzers that run a time, not a number of inputs, are led by what they reach.
SANITIZED = ('-Db_sanitize=address,undefined', '-Db_lundef=false', '-Dfuzz=true', '-Ddebug=false',
             '-Doptimization=0', '-Dtests=true', '-Dc_link_args=-fuse-ld=lld', '-Dc_args=-fno-sanitize-recover=all',
             '-Db_pch=true')


def introspect(build, what):
    return json.loads(subprocess.run(['meson', 'introspect', '--' + what, build], cwd=TOP, check=True,
                                     stdout=subprocess.PIPE).stdout)


def left_out():
    """The lines of tests/long.txt: a word and a pattern of names."""
    lines = [line.split('#')[0].split(' - ')[0].split() for line in read('tests/long.txt').splitlines()]
    return [(words[0], name) for words in lines if words for name in words[1:]]


LEFT_OUT = left_out()


def suites(test):
    """Those of its meson.build, without the project's name, and the words of tests/long.txt."""
    return ({s.rsplit(':', 1)[-1] for s in test['suite']} |
            {word for word, name in LEFT_OUT if fnmatch.fnmatch(test['name'], name)})


def check_left_out(rows):
    bad = [name for _, name in LEFT_OUT if not any(fnmatch.fnmatch(t['name'], name) for t in rows)]
    result('tests: tests/long.txt names tests that exist', not bad, '\n'.join(bad))


def of(tests, *words):
    """The tests of a suite, of a layer (engine: engine-cq and others), or of this name."""
    return [t for t in tests if any(w in suites(t) or t['name'] == w or t['name'].startswith(w + '-')
                                    for w in words)]


def files_of(build, tests):
    """The files of the build tree on which these tests say that they depend."""
    files = {t['id']: t['filename'] for t in introspect(build, 'targets')}
    return {f for t in tests for d in t['depends'] for f in files[d]}


def targets(build, tests):
    """
    The files of the build tree that these tests need. Only unit tests and fuzzers name all of theirs; with
    others it is all but what tests that are not among these name.
    """
    top = os.path.join(TOP, build)
    files = files_of(build, tests)
    if any(suites(t).isdisjoint({'unit', 'fuzz'}) for t in tests):
        others = files_of(build, [t for t in introspect(build, 'tests') if t not in tests])
        files |= {f for t in introspect(build, 'targets') if t['build_by_default'] for f in t['filename']
                  if f not in others}
    return sorted(os.path.relpath(f, top) for f in files)


def has(options, arg):
    name, value = arg.removeprefix('-D').split('=', 1)
    now = options.get(name)
    return value == (' '.join(now) if isinstance(now, list) else str(now).lower())


def setup(build, *args, env=None):
    """Configure a tree that may be there already: only if it has not these options, as ninja would begin anew."""
    if not os.path.exists(os.path.join(TOP, build, 'build.ninja')):
        return sh(['meson', 'setup', build, *args], env=dict(os.environ, **(env or {})))
    options = {o['name']: o['value'] for o in introspect(build, 'buildoptions')}
    r = None if all(has(options, a) for a in args) else sh(['meson', 'configure', build, *args])
    # Before anybody asks the tree for its tests: those of older sources may be gone.
    return r if r and r.returncode else sh(['ninja', '-C', build, 'build.ninja'])


def compile_targets(build, name, files=(), first=None, run_it=sh):
    """
    first: the result of setup(). run_it: runs the command, perhaps at a lower priority. A warning is a failure
    with the compilers that this is developed with; others may find what they like.
    """
    r = first
    if r is None or r.returncode == 0:
        r = run_it(['ninja', '-C', build, '-j', str(CORES), *files])
    result(f'build: {name}', r.returncode == 0, r.stdout[-3000:])
    warned = re.findall(r'^.*\bwarning: .*$', r.stdout, re.M)
    if warned and compiler(build) in DEVELOPED_WITH:
        result(f'build: {name}: no warnings', False, '\n'.join(warned)[-3000:])
    elif warned:
        print(f'note: {name}: {len(warned)} warnings')
    return r.returncode == 0


def check_without_tests():
    """What users build needs nothing of the tests: neither their files nor cmocka."""
    with tempfile.TemporaryDirectory() as d:
        r = sh(['meson', 'setup', d])
        if not r.returncode:
            r = sh(['ninja', '-C', d, '-n', 'program'])
        result('build: the program without tests can be set up', r.returncode == 0, r.stdout[-2000:])


def compiler(build):
    """Such as "gcc 12"."""
    with open(os.path.join(TOP, build, 'compile_commands.json'), encoding='utf-8') as f:
        words = shlex.split(json.load(f)[0]['command'])
    name = next(w for w in words if not w.endswith('ccache'))
    first = sh([name, '--version']).stdout.split('\n', 1)[0]
    version = re.search(r'(\d+)\.\d+\.\d+\S*$', first)
    return f"{'clang' if 'clang' in first else 'gcc'} {version.group(1) if version else '?'}"


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
        r = sh([sys.executable, '-c', CASES, module, *names], env=dict(os.environ, **t['env']))
        result(f'tests: every case of {os.path.relpath(module, TOP)} is in a part',
               not r.returncode and not r.stdout.strip(), r.stdout)


durations = []  # of each test that has run: seconds, name


def print_slowest():
    if durations:
        print('slowest: ' + ', '.join(f'{name} {s:.0f} s' for s, name in sorted(durations, reverse=True)[:10]))


def unittest_failures(out):
    return sum(int(x) for x in re.findall(r'(?:failures|errors)=(\d+)', out))


def count(test, label, build):
    """A meson test may hold many cases: count what its runner (cmocka, unittest) says it ran."""
    out = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
    name = f"{label}{test['name']}"
    durations.append((test['duration'], name))
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
    print(f"FAIL {name} ({test['result']})\n" + '\n'.join(out.splitlines()[-60:]) +
          f"\nhere: {machine()}\nalone: meson test -C {build} --no-rebuild -v {test['name'].rsplit(' / ', 1)[-1]}", flush=True)


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
                count(json.loads(line), label, build)
                told += 1
    if told != len(tests):
        result(f'{label}tests of {build}: {told} of {len(tests)} ran', False, r.stdout[-2000:])
