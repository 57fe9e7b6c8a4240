# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fabrics for tests that run stock programs: start, run commands on them, see that nothing is left."""
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('SOFTHCA_BUILD', os.path.join(TOP, 'build')))
SOFTHCA = os.path.join(BUILD, 'softhca')
# For programs of pyverbs: the constants as e.
VERBS_ENUMS = f'import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import verbs_enums as e'
PERFTEST = re.compile(r'ib_[a-z]+_(bw|lat)')
PERFTEST_CLOCK = os.path.join(BUILD, 'tests', 'lib', 'libperftest_clock.so')
NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'env']
# Shell text on a host: until all device files are closed; counters in sysfs are what they are then.
ALL_CLOSED = f'''until {SOFTHCA} status -j | tr -d '[:space:]' | grep -q '"files":\\[\\]'; do sleep 0.01; done'''
TIMEOUT = 300  # seconds, for what ends soon unless it hangs: no result may depend on the value
LONG = int(os.environ.get('SOFTHCA_STRESS_SECONDS', 5)) >= 60  # in check-long
# A shell starts what it puts into the background with SIGINT ignored, which programs would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
# shells complain about a locale that is not installed, and other locales have other messages
os.environ['LC_ALL'] = 'C.UTF-8'
# The distribution's programs first (a python3 of pyenv takes ten times as long to start), and infiniband-diags, which
# an ordinary user may not have there.
os.environ['PATH'] = f"/usr/bin:/bin:{os.environ['PATH']}:/usr/sbin:/sbin"


def in_memory():
    """
    Where users have their fabrics (pick_path() in super/runtime.c). On a disk each file that a program
    opens waits for the disk's journal, perhaps for seconds when others write. None: not on this machine.
    """
    place = '/dev/shm'
    with open('/proc/self/mounts') as mounts:
        kinds = [line.split()[2] for line in mounts if line.split()[1] == place]
    if kinds[-1:] != ['tmpfs'] or not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        return None
    room = os.statvfs(place)
    for_all = os.stat(place).st_mode & 0o7 == 0o7  # tests have fabrics of ordinary users, too
    return place if for_all and room.f_bavail * room.f_frsize >= 32 << 20 else None


MEMORY = in_memory()


def fabric_dir():
    """
    A new runtime directory. Programs that a test makes do not belong there: memory may be mounted
    noexec. Its name begins like that of every fabric, so that tests that look for leftovers ignore it.
    """
    return tempfile.mkdtemp(prefix='softhca-test-', dir=MEMORY)


def ordinary_user_can_run():
    """Root only: may uid 65534 use what was built (the checkout may lie in a closed folder)?"""
    # Through env: setpriv itself still has root's capabilities when it executes its command.
    return os.geteuid() == 0 and shutil.which('setpriv') and subprocess.run(
        [*NOBODY, 'env', SOFTHCA, '--version'], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


def listening(port):
    """Does any process listen on this TCP port (of this network namespace)?"""
    return port in listeners()


def listeners():
    """The TCP ports on which processes listen."""
    ports = set()
    for f in ('/proc/net/tcp', '/proc/net/tcp6'):
        try:
            with open(f) as table:
                rows = [line.split() for line in table]
        except OSError:
            continue
        ports.update(int(c[1].rsplit(':', 1)[1], 16) for c in rows if len(c) > 3 and c[3] == '0A')
    return ports


# sid builds UCX 1.23 without them.
needs_ucx = unittest.skipUnless(shutil.which('ucx_perftest') and (glob.glob('/usr/lib*/ucx/libuct_ib.so*') or
                                                                  glob.glob('/usr/lib/*/ucx/libuct_ib.so*')),
                                'UCX is not installed, or has no transports of InfiniBand')


def ucx_perftest(*args):
    """
    The command of ucx_perftest. One built with MPI (Debian 13) takes itself for an MPI program unless its
    standard input is a terminal or it is told otherwise; others do not know the option.
    """
    usage = subprocess.run(['ucx_perftest', '-h'], capture_output=True, errors='replace').stdout
    return ('ucx_perftest', *(('-P', '0') if re.search(r'^ +-P <0\|1>', usage, re.M) else ()), *args)


def shell_pair(server, port, client=None):
    """
    Shell text that runs a server on this TCP port, then a client of it (the same command with `localhost`). It ends
    when either fails: nobody waits for a peer that has died.
    """
    return (f'{server} & s=$!; until grep -qs ":{port:04X} 0*:0000 0A" /proc/net/tcp*; do '
            f'kill -0 $s || exit 9; sleep 0.02; done; {client or server + " localhost"} || {{ kill $s; exit 8; }}; '
            'wait $s')


def bound(port):
    """Has any process bound this UDP port of an IPv4 address?"""
    with open('/proc/net/udp') as table:
        return any(line.split()[1].endswith(f':{port:04X}') for line in table)


port_guards = []  # sockets bound to the first port of each block that is ours, so that no other test gets the block


def free_block(size):
    blocks = range(18600, 32768 - size, size)
    for i in range(len(blocks)):
        first = blocks[(os.getpid() + i) % len(blocks)]
        s = socket.socket()
        try:
            s.bind(('', first))
        except OSError:
            s.close()
            continue
        if listeners().isdisjoint(range(first, first + size)):
            port_guards.append(s)
            return first + 1
        s.close()  # a server of a test whose runner was killed
    return None


def port_block(size=500):
    """The first of `size` TCP ports for this process alone, below those that connections get."""
    return wait_for(lambda: free_block(size), 'other tests to end, which have all TCP ports')


def wait_for(cond, what, timeout=TIMEOUT):
    """Wait for a state. The time-out only tells a hang from a wait: a slow machine may need long."""
    began = time.monotonic()
    while not (got := cond()):
        waited = time.monotonic() - began
        if waited > timeout:
            raise AssertionError(f'timed out after {timeout} s: {what}')
        # Looks cost the processor time that others wait for: the longer it takes, the fewer.
        time.sleep(min(max(waited / 20, 0.005), 0.5))
    return got


def thread_states(pid):
    """The state letters of a process's threads; none when it is gone."""
    try:
        threads = os.listdir(f'/proc/{pid}/task')
    except (FileNotFoundError, ProcessLookupError):
        return ''
    states = ''
    for t in threads:
        try:
            with open(f'/proc/{pid}/task/{t}/stat', errors='replace') as f:
                states += f.read().rsplit(')', 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            pass  # this one has ended: the others have not
    return states


def alive(pid):
    """Neither gone nor a zombie."""
    return bool(set(thread_states(pid)) - set('ZX'))


def stop(pid):
    """SIGSTOP, which has reached every thread when this returns. False: the process has ended."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    wait_for(lambda: not set(thread_states(pid)) - set('TtZX'), f'{pid} to stop')
    return alive(pid)


# rping of rdma-core 44 closes its channel of events beside the thread that reads it: if that has just come back
# from the last event, it ends the program with 255. Later versions stop the thread first (cm_thread() in rping.c).
RPING_HAS_ENDED = 'DISCONNECT EVENT...\nrdma_get_cm_event: Bad file descriptor\n'


def status_of(argv, status, out):
    return 0 if 'rping' in argv and status == 255 and RPING_HAS_ENDED in out else status


class Finished:
    """What became of a command."""

    def __init__(self, argv, status, out):
        self.argv, self.status, self.out = argv, status, out

    def __str__(self):
        return f"$ {' '.join(self.argv)}\n{self.out}\n[exit status {self.status}]"


class Running:
    def __init__(self, argv, **kw):
        self.argv = argv
        self.file = tempfile.TemporaryFile(mode='w+', errors='replace', dir=MEMORY)
        self.proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.file,
                                     stderr=subprocess.STDOUT, start_new_session=True, **kw)

    def said(self):
        """What it has written until now."""
        return os.pread(self.file.fileno(), 1 << 20, 0).decode(errors='replace')

    def wait_said(self, text):
        wait_for(lambda: text in self.said() or self.ended(), f'{self.argv} to say {text!r}')
        if text not in self.said():
            raise AssertionError(str(self.finish()))

    def ended(self):
        return self.proc.poll() is not None

    def finish(self, timeout=TIMEOUT):
        try:
            self.proc.wait(timeout)
        except subprocess.TimeoutExpired:
            self.file.seek(0)
            out = self.file.read()
            self.kill()
            raise AssertionError(f"hung for {timeout} s: {' '.join(self.argv)}\n{out}")
        self.file.seek(0)
        out = self.file.read()
        done = Finished(self.argv, status_of(self.argv, self.proc.returncode, out), out)
        self.file.close()
        return done

    def kill(self, sig=signal.SIGKILL):
        """The whole session of this command, which is ours alone."""
        try:
            os.killpg(self.proc.pid, sig)
        except ProcessLookupError:
            pass
        self.proc.wait()
        self.file.close()


class Fabric:
    """`softhca up` in a runtime directory of its own; checks at the end that nothing is left of it."""
    count = 0

    def __init__(self, *options, user=None, env=None, mode=0o700, owner=65534):
        Fabric.count += 1
        self.name = f'f{Fabric.count}'
        self.options = options
        self.user = user or []
        self.mode, self.owner = mode, owner  # of its runtime directory; the owner if there is a user
        self.env = dict(os.environ, **(env or {}))

    def __enter__(self):
        self.dir = fabric_dir()
        os.chmod(self.dir, self.mode)
        if self.user:
            os.chown(self.dir, self.owner, self.owner)
            self.env['HOME'] = self.dir
        self.env['SOFTHCA_RUNTIME_DIR'] = self.dir
        try:
            self.softhca('up', self.name, *self.options)
        except BaseException:
            shutil.rmtree(self.dir, ignore_errors=True)
            raise
        return self

    def __exit__(self, exc_type, *_):
        try:
            self.softhca('down', self.name)
            left = [os.path.join(r, f) for r, d, files in os.walk(self.dir) for f in files + d]
            if exc_type is None and left:
                raise AssertionError(f'left behind: {left}')
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)

    def softhca(self, *args):
        r = Running([*self.user, SOFTHCA, *args], env=self.env, cwd=TOP).finish()
        if r.status:
            raise AssertionError(str(r))
        return r.out

    def start(self, *cmd, options=(), env=None):
        argv = [*self.user, SOFTHCA, 'run', '--fabric', self.name, *options, '--', *cmd]
        env = dict(self.env, **(env or {}))
        if any(PERFTEST.fullmatch(c) for c in cmd):
            # Without -F a program that is preempted while it measures the processor's clock exits with 1.
            argv += ['-F'] if '-F' not in cmd else []
            if os.path.exists(PERFTEST_CLOCK):
                env.setdefault('LD_PRELOAD', PERFTEST_CLOCK)
        return Running(argv, env=env, cwd=TOP)

    def run(self, *cmd, timeout=TIMEOUT, **kw):
        return self.start(*cmd, **kw).finish(timeout)


def segment_bytes(supervisor):
    """The memory that a fabric's segment takes: the largest memfd of its supervisor."""
    largest = (0, 0)
    for fd in os.listdir(f'/proc/{supervisor}/fd'):
        try:
            if os.readlink(f'/proc/{supervisor}/fd/{fd}').startswith('/memfd:'):
                st = os.stat(f'/proc/{supervisor}/fd/{fd}')
                largest = max(largest, (st.st_size, st.st_blocks * 512))
        except FileNotFoundError:
            pass
    assert largest[0] > 1 << 30, largest
    return largest[1]


def rping_was_late(r):
    """
    A thread of rping has reported the end of the connection and asks for one more event, while rping's main()
    closes the channel: on any device the thread may find the descriptor closed, and rping exits with -1.
    """
    return (r.status == 255 and 'rping' in r.argv and 'DISCONNECT EVENT' in r.out and
            r.out.rstrip().endswith('rdma_get_cm_event: Bad file descriptor'))


class Case(unittest.TestCase):
    """With helpers that show the command and its output when something is wrong."""
    port = port_block()

    def setUp(self):
        Case.port += 1
        if Case.port > port_guards[-1].getsockname()[1] + 400:
            Case.port = port_block()

    def ok(self, r):
        if not rping_was_late(r):
            self.assertEqual(r.status, 0, str(r))
        return r.out

    def pair(self, fab, server, client=None, timeout=TIMEOUT, port=None, options=((), ())):
        """Two processes, the server first; `-p PORT` is added to both and the server's address to the client."""
        port = port or Case.port
        Case.port += 1
        srv = fab.start(*server, '-p', str(port), options=options[0])
        try:
            wait_for(lambda: listening(port) or srv.proc.poll() is not None,
                     f'server {server} to listen')
            cli = fab.start(*(client or server), '-p', str(port), 'localhost', options=options[1])
            try:
                c = cli.finish(timeout)
            finally:
                cli.kill()
            if c.status:  # the server may wait for ever for another client
                raise AssertionError(f'{c}\nserver:\n{srv.said()}')
            s = srv.finish(timeout)
        finally:
            srv.kill()
        self.assertEqual((s.status, c.status), (0, 0), f'server:\n{s}\nclient:\n{c}')
        return s, c

    def start_pair(self, fab, *cmd, options=((), ())):
        """A server and its client, not waited for: `-p PORT` and the address as in pair()."""
        port = Case.port
        Case.port += 1
        srv = fab.start(*cmd, '-p', str(port), options=options[0])
        try:
            wait_for(lambda: listening(port) or srv.ended(), f'server {cmd} to listen')
            return srv, fab.start(*cmd, '-p', str(port), 'localhost', options=options[1])
        except BaseException:
            srv.kill()
            raise

    def endless(self, fab, prog, *args, **kw):
        """A pair of perftest whose traffic has begun, and goes on until both are killed."""
        pair = self.start_pair(fab, 'stdbuf', '-oL', prog, '-F', '--run_infinitely', *args, **kw)
        try:
            for r in pair:
                r.wait_said('#bytes')  # the heading: connected, and the loop is next
        except BaseException:
            for r in pair:
                r.kill()
            raise
        return pair

    def status(self, fab):
        return json.loads(fab.softhca('status', '-j', fab.name))

    def packets(self, fab):
        """All that its adapters have sent."""
        return sum(port['xmit_packets'] for host in self.status(fab)['hosts']
                   for hca in host['hcas'] for port in hca['ports'])

    def moves(self, fab, n=1):
        """At least n packets are sent from now on."""
        goal = self.packets(fab) + n
        wait_for(lambda: self.packets(fab) >= goal, f'{n} packets')


class TwoHosts(Case):
    """Programs that connect by rdma_cm, on a fabric of two hosts or on the first of them."""
    ADDRESS = '127.1.0.1'  # of the first host
    FABRIC = ('--topo', 'star:2')

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(*cls.FABRIC)
        cls.fab.__enter__()
        cls.names = [h['name'] for h in json.loads(
            cls.fab.softhca('status', '-j', cls.fab.name))['hosts']]

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def listens(self, *ports):
        got = {i['port'] for i in self.status(self.fab)['cm_ids'] if i['state'] == 'LISTEN'}
        return got.issuperset(ports)

    def talk(self, server, client, ready, same_host=False):
        """The server, and when it is ready the client; both end by themselves, with status 0."""
        a, b = self.names[0], self.names[0 if same_host else 1]
        srv = self.fab.start(*server, options=('--host', a))
        try:
            wait_for(lambda: ready() or srv.ended(), f'{server} to listen')
            cli = self.fab.start(*client, options=('--host', b))
            try:
                c = cli.finish()
            finally:
                cli.kill()
            s = srv.finish()
        finally:
            srv.kill()
        self.assertEqual((s.status, c.status), (0, 0), f'server:\n{s}\nclient:\n{c}')
        return s, c


def number_after(pattern, text):
    m = re.search(pattern + r'\s*([0-9.]+)', text)
    return float(m.group(1)) if m else None
