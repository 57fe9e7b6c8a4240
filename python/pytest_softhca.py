# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests on InfiniBand adapters in user space: the fixture softhca_fabric and the marker softhca."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

SKIPPED = 77  # exit status of a command that lacks something, and says what in its last line: as `softhca world --all`
TOPICS = 'uverbs,fw,doorbell,cqe,event,cm'
LEVELS = ('note', 'warning', 'error')  # of reports of softhca check


class Host:
    """A host of a fabric: commands run there."""

    def __init__(self, fabric, name):
        self.fabric, self.name = fabric, name

    def __repr__(self):
        return f'<host {self.name} of {self.fabric.name}>'

    def command(self, argv):
        how = self.fabric.check.options() if self.fabric.check else ['run']
        return [self.fabric.program, *how, '--fabric', self.fabric.name, '--host', self.name, '--', *map(str, argv)]

    def run(self, argv, check=True, **kw):
        """subprocess.run(); the output is captured as text. With check, a failure fails the test."""
        kw.setdefault('text', True)
        kw.setdefault('stdin', subprocess.DEVNULL)
        if not kw.keys() & {'stdout', 'stderr', 'capture_output'}:
            kw['capture_output'] = True
        done = subprocess.run(self.command(argv), **self.fabric.in_environment(kw))
        if check and done.returncode == SKIPPED and self.fabric.worlds:
            said = f'{done.stdout or ""}{done.stderr or ""}'.strip() or f'exit status {SKIPPED}'
            pytest.skip(said.splitlines()[-1])
        if check and done.returncode:
            pytest.fail(f'{" ".join(map(str, argv))} on {self.name}: exit status {done.returncode}\n'
                        f'{done.stdout or ""}{done.stderr or ""}', pytrace=False)
        return done

    def popen(self, argv, **kw):
        """subprocess.Popen; it is killed at the end of the test, if it still runs."""
        kw.setdefault('text', True)
        kw.setdefault('stdin', subprocess.DEVNULL)
        process = subprocess.Popen(self.command(argv), **self.fabric.in_environment(kw))
        self.fabric.processes.append(process)
        return process


def worlds(program, *names):
    """What is known of these worlds, or of all; nothing where softhca cannot be asked (a test of it says why)."""
    try:
        done = subprocess.run([program, 'world', '-j', *names], stdin=subprocess.DEVNULL, capture_output=True,
                              errors='replace')
        return json.loads(done.stdout)
    except (OSError, TypeError, ValueError):
        return []


class Rule:
    """A fault of a fabric (softhca-inject(1)); it ends with remove(), a with statement, or the fabric."""

    def __init__(self, fabric, text):
        self.fabric, self.text = fabric, text
        self.number = int(fabric.softhca('inject', fabric.name, 'add', text))

    @property
    def fired(self):
        """How often it has happened."""
        faults = json.loads(self.fabric.softhca('inject', self.fabric.name, 'list', '-j'))
        return next(f['fired'] for f in faults if f['number'] == self.number)

    def remove(self):
        self.fabric.softhca('inject', self.fabric.name, 'remove', str(self.number))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Check:
    """Commands run by softhca-check(1); what it reports from a level on fails the test."""

    def __init__(self, level, suppress=None):
        self.level, self.suppress = level, suppress
        self.dir = tempfile.mkdtemp(prefix='softhca-check-')
        self.commands = 0
        self.read = []

    def options(self):
        self.commands += 1
        options = ['check', '-W', self.level, '--json', os.path.join(self.dir, str(self.commands))]
        return options + (['--suppress', str(self.suppress)] if self.suppress else [])

    def reports(self):
        """Those of the commands that have ended."""
        files = [os.path.join(self.dir, str(n + 1)) for n in range(self.commands)]
        while files:
            path = files.pop(0)
            try:
                with open(path, encoding='utf-8') as f:
                    self.read += json.load(f)
            except (OSError, ValueError):
                continue  # it runs
            os.unlink(path)
        return self.read

    def failures(self):
        """What fails the test, in words."""
        return [f'softhca: check: {r["level"]} {r["rule"]}: {r["text"]}' +
                ''.join(f'\n    {call.get("function", "?")} ({call.get("source", call["module"])})'
                        for stack in ('here', 'posted') for call in r.get(stack, [])) +
                f'\n    hint: {r["hint"]}'
                for r in self.reports() if LEVELS.index(r['level']) >= LEVELS.index(self.level)]

    def end(self):
        self.reports()
        shutil.rmtree(self.dir, ignore_errors=True)


class Fabric:
    """A fabric that is up, for one test."""
    count = 0

    def __init__(self, program, options, artifacts=None, check=None):
        Fabric.count += 1
        self.program = program
        self.options = options
        self.worlds = [w for name, w in zip(options[::2], options[1::2]) if name == '--world']
        self.others = []
        self.name = f'pytest-{os.getpid()}-{Fabric.count}'
        self.artifacts = artifacts
        self.check = check and Check(*check)
        self.env = {}
        self.processes = []
        self.capture = None
        self.softhca('up', self.name, *options)
        try:
            up = self.status()
            self.hosts = [Host(self, h['name']) for h in up['hosts']]
            self.given = {f['number'] for f in up['faults']}
            if artifacts:
                self.record()
        except BaseException:
            self.down()
            raise

    def in_environment(self, kw):
        if self.env:
            kw['env'] = {**(kw.get('env') or os.environ), **self.env}
        return kw

    def softhca(self, *argv):
        done = subprocess.run([self.program, *argv], stdin=subprocess.DEVNULL, capture_output=True, errors='replace')
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    def record(self):
        """Trace all programs and capture all packets."""
        os.makedirs(self.artifacts, exist_ok=True)
        self.env = {'SOFTHCA_TRACE': TOPICS, 'SOFTHCA_TRACE_FILE': os.path.join(self.artifacts, 'trace.txt')}
        packets = os.path.join(self.artifacts, 'packets.pcap')
        self.capture = subprocess.Popen(
            [self.program, 'pcap', '--fabric', self.name, '--live', '-o', packets],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, errors='replace')
        # With --live the heading of the file tells that the capture has begun.
        while not (os.path.exists(packets) and os.path.getsize(packets)):
            if self.capture.poll() is not None:
                raise RuntimeError(self.capture.stderr.read().strip())
            time.sleep(0.01)

    def host(self, name):
        for h in self.hosts:
            if h.name == name:
                return h
        raise KeyError(f'{self.name} has no host {name}')

    def world(self, *names):
        """Another fabric, with these worlds and otherwise the options of this one; it ends with the test."""
        other = Fabric(self.program, [*self.options, '--world', ','.join(names)],
                       self.artifacts and os.path.join(self.artifacts, '+'.join(names)),
                       self.check and (self.check.level, self.check.suppress))
        self.others.append(other)
        return other

    def inject(self, rule):
        """A fault on purpose from now on: 'SEND:lost:when=3'. ValueError: it is not a rule."""
        try:
            return Rule(self, rule)
        except RuntimeError as e:
            raise ValueError(str(e)) from None

    def never_fired(self):
        """Rules of the marker that have had no effect; those of inject() have `fired`."""
        return [f['rule'] for f in self.status()['faults'] if f['number'] in self.given and not f['fired']]

    @property
    def reports(self):
        """What softhca check has reported of commands that have ended, as dictionaries."""
        return list(self.check.reports()) if self.check else []

    def broken_rules(self):
        return [text for f in (self, *self.others) if f.check for text in f.check.failures()]

    def run(self, argv, check=True, **kw):
        return self.hosts[0].run(argv, check, **kw)

    def popen(self, argv, **kw):
        return self.hosts[0].popen(argv, **kw)

    def status(self):
        return json.loads(self.softhca('status', '-j', self.name))

    def known(self):
        """What differs in the fabric's worlds, and what it knows of failures: lines."""
        differs = worlds(self.program, *self.worlds) if self.worlds else ()
        lines = [f'{w["world"]}: {w["what"]}. {w["why"]}' for w in differs]
        for host in self.status()['hosts']:
            lines += host.get('use', {}).get('causes', {})
        return lines + (self.check.failures() if self.check else [])

    def link(self, hca, port, state, host=None):
        self.softhca('link', '--fabric', self.name, '--host', host or self.hosts[0].name, hca, str(port), state)

    @staticmethod
    def wait_listening(port, process=None):
        """Returns when a process of this machine listens on the TCP port; fails if `process` has ended."""
        want = f':{port:04X} '
        while True:
            for table in ('/proc/net/tcp', '/proc/net/tcp6'):
                try:
                    with open(table, encoding='ascii') as f:
                        if any(re.match(r' *\d+: \S+' + want + r'\S+ 0A ', line) for line in f):
                            return
                except OSError:
                    pass  # no IPv6
            if process and process.poll() is not None:
                pytest.fail(f'nothing listens on port {port}: the process has ended with {process.returncode}',
                            pytrace=False)
            time.sleep(0.01)

    def down(self):
        for other in self.others:
            other.down()
        for p in self.processes:
            if p.poll() is None:
                self.end_process(p)
            p.wait()
        if self.capture:
            self.capture.send_signal(signal.SIGINT)
            self.capture.communicate()
        if self.check:
            self.check.end()
        self.softhca('down', self.name)

    def end_process(self, p):
        if self.check:  # it shall say what it has found
            p.terminate()
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                pass
        p.kill()  # softhca run: its command dies with it


def pytest_addoption(parser):
    group = parser.getgroup('softhca')
    group.addoption('--softhca', metavar='PROGRAM', help='the program softhca ($SOFTHCA, or the one in $PATH)')
    group.addoption('--softhca-artifacts', metavar='DIR',
                    help='keep the trace and the packets of tests that fail in DIR')
    group.addoption('--softhca-check', metavar='LEVEL', choices=LEVELS,
                    help='check each test: it fails if softhca check reports something of this level (error, warning, '
                         'note)')
    group.addoption('--softhca-suppress', metavar='FILE', help='what softhca check shall not report')


def pytest_configure(config):
    config.addinivalue_line('markers', 'softhca(hosts=1, hca=1, ports=1, ...): options of `softhca up` for the '
                                       'fixture softhca_fabric')


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        item.softhca_failed = True
        for fixture in 'every_world', 'softhca_fabric':
            fabric = getattr(item, 'funcargs', {}).get(fixture)
            for f in [fabric, *fabric.others] if fabric and call.when == 'call' else []:
                try:
                    lines = f.known()
                except RuntimeError:
                    continue  # it is down
                if lines:
                    report.sections.append((f'softhca: fabric {f.name}', '\n'.join(lines)))


def _check(options, config):
    """The level that fails a test, and the file of suppressions; None: it is not checked."""
    level = options.pop('check', config.getoption('--softhca-check'))
    suppress = options.pop('suppress', config.getoption('--softhca-suppress'))
    level = 'error' if level is True else level
    if level and level not in LEVELS:
        pytest.fail(f"the marker's check is True, False, 'error', 'warning' or 'note', not {level!r}", pytrace=False)
    return (level, suppress) if level else None


def _options(item):
    """The nearest marker wins, option by option."""
    options = {}
    for marker in item.iter_markers('softhca'):
        if marker.args:
            pytest.fail('the marker softhca takes named options only', pytrace=False)
        for name, value in marker.kwargs.items():
            options.setdefault(name, value)
    unused = options.pop('inject_unused', 'fail')
    if unused not in ('ok', 'fail'):
        pytest.fail(f"the marker's inject_unused is 'ok' or 'fail', not {unused!r}", pytrace=False)
    check = _check(options, item.config)
    argv = []
    for name, value in options.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            argv += ['--' + name.replace('_', '-'), str(v)]
    return argv, unused == 'ok', check


def _program(config):
    return config.getoption('--softhca') or os.environ.get('SOFTHCA') or shutil.which('softhca')


def pytest_generate_tests(metafunc):
    if 'every_world' in metafunc.fixturenames:
        names = [w['world'] for w in worlds(_program(metafunc.config))]
        metafunc.parametrize('every_world', ['default', *names], indirect=True)


@pytest.fixture
def every_world(request):
    """
    The fabric of softhca_fabric on the usual host, and then in each world, a test for each; a world that contradicts
    the options is skipped.
    """
    yield from _fabric(request, None if request.param == 'default' else request.param)


@pytest.fixture
def softhca_fabric(request):
    """A fabric of this test alone."""
    yield from _fabric(request, None)


def _fabric(request, world):
    program = _program(request.config)
    if not program:
        pytest.fail('softhca is not installed (--softhca PROGRAM)', pytrace=False)
    kept = request.config.getoption('--softhca-artifacts')
    if kept:
        kept = os.path.join(os.path.abspath(kept), re.sub(r'[^\w.-]+', '-', request.node.nodeid))
    options, unused_ok, check = _options(request.node)
    try:
        fabric = Fabric(program, options + (['--world', world] if world else []), kept, check)
    except RuntimeError as e:
        if world and (f'--world {world} needs' in str(e) or 'contradict each other' in str(e)):
            pytest.skip(str(e))
        pytest.fail(str(e), pytrace=False)
    except OSError as e:
        pytest.fail(str(e), pytrace=False)
    yield fabric
    failed = getattr(request.node, 'softhca_failed', False)
    never = [] if failed or unused_ok else fabric.never_fired()
    fabric.down()
    wrong = [f'never fired: {rule}' for rule in never] + ([] if failed else fabric.broken_rules())
    if kept and not failed and not wrong:
        shutil.rmtree(kept)
    if wrong:
        pytest.fail('\n'.join(wrong), pytrace=False)
