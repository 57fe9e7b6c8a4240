# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fabric that processes of several users use (`--allow-uid`), and what keeps all others out."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import (BUILD, Case, Fabric, SOFTHCA, Running, alive, fabric_dir, listening,  # noqa: E402
                     ordinary_user_can_run, stop, wait_for)

UIDS = os.path.join(BUILD, 'tests', 'hazards', 'hazard_uids')
FIRST, SECOND, STRANGER = 64001, 64002, 64003  # numbers that no user has
ALLOW = ('--allow-uid', f'{FIRST},{SECOND}')
SEARCHABLE = 0o711  # the runtime directory: it is not what keeps users out
WHO = {0: 'root', FIRST: 'the first user', SECOND: 'the second user'}


def as_user(uid):
    # through env: see ordinary_user_can_run()
    return ['setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups', 'env'] if uid else []


@unittest.skipUnless(ordinary_user_can_run(), 'only root has several users, who must also reach the build')
class Users(Case):
    def joined(self, fab, uid, *cmd, options=(), inside=()):
        """A command on the fabric that `softhca run` of this user starts; `inside`: what starts that."""
        return Running([*inside, *as_user(uid), SOFTHCA, 'run', '--fabric', fab.name, *options, '--', *cmd],
                       env=fab.env)

    def nothing_left(self, fab):
        def left():
            st = self.status(fab)
            return any(st['objects'].values()) or st['processes'] or os.listdir(os.path.join(fab.dir, fab.name, 'ev'))
        wait_for(lambda: not left(), 'objects, processes and event files to vanish')


class Traffic(Users):
    """Root has started the fabric; its commands drop root as an entrypoint does."""
    PAIRS = ((0, FIRST), (FIRST, 0), (FIRST, SECOND))

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(*ALLOW, '--hosts', '2', mode=SEARCHABLE)
        cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def between(self, *cmd, options=((), ())):
        for server, client in self.PAIRS:
            with self.subTest(server=WHO[server], client=WHO[client], cmd=cmd):
                self.pair(self.fab, (*as_user(server), *cmd), (*as_user(client), *cmd), options=options)
        self.nothing_left(self.fab)

    def test_every_kind_of_work_in_both_directions(self):
        for options in ('--doorbell', 'trap'), ('--doorbell', 'poll'), ('--adopt',):
            for a, b in (('0:never', f'{FIRST}:before'), ('0:never', f'{FIRST}:after'),
                         (f'{FIRST}:before', f'{SECOND}:before'), (f'{FIRST}:after', f'{SECOND}:before'),
                         (f'{FIRST}:after', f'{SECOND}:after'), (f'{FIRST}:both', f'{SECOND}:both')):
                with self.subTest(a=a, b=b, options=options):
                    self.ok(self.fab.run(UIDS, 'pair', a, b, options=options))
        self.nothing_left(self.fab)

    def test_pingpong(self):
        self.between('ibv_rc_pingpong', '-c', '-n', '100')
        self.between('ibv_rc_pingpong', '-c', '-e', '-n', '100')
        self.between('ibv_ud_pingpong', '-c', '-s', '1000', '-n', '100')

    def test_perftest(self):
        self.between('ib_write_lat', '-n', '100')
        self.between('ib_send_bw', '-e', '-n', '200')
        self.between('ib_read_bw', '-n', '200')
        self.between('ib_atomic_bw', '-n', '200')

    def test_rping(self):
        for server, client in self.PAIRS:
            with self.subTest(server=WHO[server], client=WHO[client]):
                port = str(Case.port)
                Case.port += 1
                srv = self.fab.start(*as_user(server), 'rping', '-s', '-p', port, '-C', '20', '-V')
                try:
                    wait_for(lambda: srv.ended() or self.fab.run(
                        *as_user(client), 'rping', '-c', '-a', '127.1.0.1', '-p', port, '-C', '20', '-V').status == 0,
                        'rping to connect')
                    self.ok(srv.finish())
                finally:
                    srv.kill()

    def test_ibping(self):
        for server, client in self.PAIRS:
            with self.subTest(server=WHO[server], client=WHO[client]):
                srv = self.fab.start(*as_user(server), 'ibping', '-S', options=('--host', 'h2'))
                try:
                    def ask(*args):
                        return self.fab.run(*as_user(client), 'ibping', *args, '-G', self.guid('h2'))
                    wait_for(lambda: ask('-c', '1', '-t', '200').status == 0, 'ibping to answer')
                    self.assertIn('5 packets transmitted, 5 received', self.ok(ask('-c', '5')))
                finally:
                    srv.kill()

    def sysfs(self, host, *path):
        return os.path.join(self.fab.dir, self.fab.name, 'host', host, 'sys/class/infiniband/mlx5_0/ports/1', *path)

    def guid(self, host):
        with open(self.sysfs(host, 'gids/0')) as f:
            return '0x' + ''.join(f.read().strip().split(':')[4:])

    def test_a_user_changes_a_port(self):
        """The process that changes a port writes the files of its host (fab_port_changed())."""
        def port(what):  # the switch's port behind which h2 is
            self.ok(self.fab.run(*as_user(FIRST), 'ibportstate', '-D', '0,1', '2', what))

        def state():
            with open(self.sysfs('h2', 'state')) as f:
                return f.read().strip()
        self.ok(self.fab.run('true', options=('--host', 'h2')))
        self.assertEqual(state(), '4: ACTIVE')
        port('disable')
        self.assertEqual(state(), '1: DOWN')
        self.assertEqual(os.stat(self.sysfs('h2', 'state')).st_uid, FIRST)
        port('enable')
        wait_for(lambda: state() == '4: ACTIVE', 'the subnet manager to bring it up')
        for uid in FIRST, SECOND:  # whoever has written them, all can read them
            self.assertIn('Active', self.ok(self.fab.run(*as_user(uid), 'ibstat', options=('--host', 'h2'))))

    def test_a_user_writes_no_sysfs(self):
        r = self.fab.run(*as_user(FIRST), 'sh', '-c', 'echo x >/sys/class/infiniband/mlx5_0/node_desc')
        self.assertIn('Permission denied', r.out)
        self.assertNotEqual(r.status, 0)

    def test_event_files_are_opened_by_their_path(self):
        """An event must not wait for the supervisor's help, which a process that cannot open its file asks for."""
        srv = self.fab.start('ibping', '-S')
        ev = os.path.join(self.fab.dir, self.fab.name, 'ev')
        try:
            wait_for(lambda: os.listdir(ev), 'ibping to start')
            for uid, opens in (FIRST, True), (SECOND, True), (STRANGER, False):
                r = Running([*as_user(uid), 'sh', '-c', f'exec 3<>{ev}/{os.listdir(ev)[0]}']).finish()
                self.assertEqual(r.status == 0, opens, r)
        finally:
            srv.kill()

    def test_commands_inside(self):
        """An entrypoint that has dropped root still chooses hosts, and asks for the fabric's state."""
        out = self.ok(self.fab.run(*as_user(FIRST), 'sh', '-ec', f'"{SOFTHCA}" run --host h2 -- ibstat; '
                                   f'"{SOFTHCA}" status {self.fab.name}; "{SOFTHCA}" topo'))
        for text in 'Active', f'fabric {self.fab.name}', 'Switch':
            self.assertIn(text, out)

    def test_traces_and_captures_show_all_users(self):
        with tempfile.TemporaryDirectory() as dir:
            lines, packets = os.path.join(dir, 'lines'), os.path.join(dir, 'packets')
            trace = Running([SOFTHCA, 'trace', '--fabric', self.fab.name, '-e', 'uverbs,cqe', '-o', lines],
                            env=self.fab.env)
            try:
                trace.wait_said('\n')
                r = Running([SOFTHCA, 'run', '--fabric', self.fab.name, '--pcap', packets, '--',
                             UIDS, 'pair', f'{FIRST}:before', f'{SECOND}:before'], env=self.fab.env)
                self.ok(r.finish())
                trace.proc.send_signal(signal.SIGINT)
                self.ok(trace.finish())
            finally:
                trace.kill()
            with open(lines) as f:
                self.assertIn('ALLOC_PD', f.read())
            self.assertGreater(os.path.getsize(packets), 100000)

    def test_a_killed_peer_leaves_nothing(self):
        for dead, left in (FIRST, 0), (0, FIRST), (FIRST, SECOND):
            with self.subTest(dead=WHO[dead], left=WHO[left]):
                pair = self.endless_pair(dead, left)
                try:
                    os.kill(pair[0].proc.pid, signal.SIGKILL)
                    wait_for(pair[1].ended, 'its peer to notice')
                finally:
                    for r in pair:
                        r.kill()
                self.nothing_left(self.fab)

    def endless_pair(self, server, client):
        """As endless(): softhca, setpriv and env have become the program, so the pid is the program's."""
        port = str(Case.port)
        Case.port += 1
        cmd = ('stdbuf', '-oL', 'ib_write_bw', '-F', '--run_infinitely', '-p', port)
        srv = self.fab.start(*as_user(server), *cmd)
        try:
            wait_for(lambda: listening(int(port)) or srv.ended(), 'the server to listen')
            cli = self.fab.start(*as_user(client), *cmd, 'localhost')
            for r in srv, cli:
                r.wait_said('#bytes')
        except BaseException:
            srv.kill()
            raise
        return srv, cli

    def test_a_stopped_peer_goes_on(self):
        pair = self.endless_pair(FIRST, SECOND)
        try:
            for r in pair:
                self.moves(self.fab, 100)
                self.assertTrue(stop(r.proc.pid))
                for p in pair:
                    self.assertFalse(p.ended(), p.said())
                os.kill(r.proc.pid, signal.SIGCONT)
            self.moves(self.fab, 100)
            # and one that is killed while it is stopped
            self.assertTrue(stop(pair[0].proc.pid))
        finally:
            for r in pair:
                r.kill()
        self.nothing_left(self.fab)

    def test_a_stranger_stays_out(self):
        r = self.fab.run(*as_user(STRANGER), 'ibv_devinfo')
        self.assertNotEqual(r.status, 0)
        r = self.fab.run(*as_user(STRANGER), '/usr/bin/python3', '-c', """
import os, socket
here = os.environ.pop('SOFTHCA_DIR')
def refused(f, *args):
    try:
        f(*args)
    except PermissionError:
        return
    raise SystemExit(f'{f} {args} was let in')
for part in '.', 'ev', 'host', 'host/h1', 'sock', 'alive':
    refused(os.stat, here + '/' + part)
refused(os.listdir, here)
refused(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect, here + '/sock')
os.stat(os.path.dirname(here))
""")
        self.ok(r)
        self.assertNotEqual(self.fab.run(UIDS, 'pair', f'{STRANGER}:before', f'{FIRST}:before').status, 0)
        # after the open: its memory was handed over as root, but it gets nobody else's
        r = self.fab.run(UIDS, 'pair', f'{STRANGER}:after', f'{FIRST}:before')
        self.assertIn('refuses access to the memory', r.out)
        self.nothing_left(self.fab)

    def test_a_connection_of_a_stranger_is_dropped(self):
        """Even if the directory is open: its access control list and the supervisor each keep strangers out."""
        here = os.path.join(self.fab.dir, self.fab.name)
        sock = os.path.join(here, 'sock')
        code = """
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ['SOFTHCA_DIR'] + '/sock')
print('got', s.recv(10))
"""
        os.chmod(here, 0o751)
        os.chmod(sock, 0o666)
        try:
            self.assertIn("got b''", self.ok(self.fab.run(*as_user(STRANGER), '/usr/bin/python3', '-c', code)))
        finally:
            os.chmod(here, 0o750)
            os.chmod(sock, 0o660)
        self.ok(self.fab.run(*as_user(FIRST), 'ibv_devinfo'))


class Joining(Users):
    def test_users_join_by_name(self):
        """Containers of a pod: each runs softhca as its user, and names the owner's runtime directory."""
        with Fabric(*ALLOW, mode=SEARCHABLE) as fab:
            for inside in (), ('unshare', '-pf', '--mount-proc'):
                if inside and subprocess.run([*inside, 'true'], stderr=subprocess.DEVNULL).returncode:
                    continue
                port = str(Case.port)
                Case.port += 1
                cmd = ('ibv_rc_pingpong', '-n', '100', '-c', '-e', '-p', port)
                srv = self.joined(fab, FIRST, *cmd, inside=inside)
                try:
                    wait_for(lambda: listening(int(port)) or srv.ended(), 'the server to listen')
                    self.ok(self.joined(fab, SECOND, *cmd, 'localhost', options=('--summary',), inside=inside).finish())
                    self.ok(srv.finish())
                finally:
                    srv.kill()
            r = self.joined(fab, STRANGER, 'ibv_devinfo').finish()
            self.assertEqual(r.status, 2)
            self.assertIn(f"softhca: run: fabric '{fab.name}' does not answer: Permission denied", r.out)
            r = Running([*as_user(FIRST), SOFTHCA, 'up', 'mine'], env=fab.env).finish()
            self.assertEqual(r.status, 2)
            self.assertIn('must belong to this user', r.out)

    def test_an_owner_who_is_not_root(self):
        with Fabric('--allow-uid', str(SECOND), user=as_user(FIRST), mode=SEARCHABLE, owner=FIRST) as fab:
            self.ok(fab.run('ibv_devinfo'))
            self.ok(self.joined(fab, SECOND, 'ibv_devinfo').finish())
            self.ok(self.joined(fab, SECOND, 'ibportstate', '-D', '0,1', '1', 'reset').finish())
            self.ok(self.joined(fab, FIRST, 'ibstat').finish())
            # What a user makes there the owner removes at the end.
            self.ok(self.joined(fab, SECOND, 'sh', '-ec', 'mkdir "$SOFTHCA_DIR/host/h1/mine"; '
                                                          'echo >"$SOFTHCA_DIR/host/h1/mine/file"').finish())
            # Root's processes are not for another user to control, whatever the environment says.
            r = self.joined(fab, 0, 'ibv_devinfo').finish()
            self.assertEqual(r.status, 2)
            self.assertIn('must belong to this user', r.out)

    def run_here(self, dir, *options, env=None, cmd=('true',)):
        env = dict(os.environ, SOFTHCA_RUNTIME_DIR=dir, **(env or {}))
        return Running([SOFTHCA, 'run', *options, '--', *cmd], env=env).finish()

    def test_a_folder_on_the_path_is_closed(self):
        dir = fabric_dir()
        self.addCleanup(shutil.rmtree, dir)
        for closed, path in ((dir, dir), (dir, os.path.join(dir, 'run'))):
            r = self.run_here(path, *ALLOW)
            self.assertEqual((r.status, len(r.out.splitlines())), (2, 1), r)
            self.assertIn(f'uid {FIRST} may not search {closed}, ', r.out)
        self.assertEqual(os.listdir(dir), [])
        self.assertEqual(os.stat(dir).st_mode & 0o777, 0o700)  # it is not ours to open

    def test_a_runtime_directory_of_our_own_is_opened(self):
        """For the users alone, who may not list it."""
        dir = fabric_dir()
        self.addCleanup(shutil.rmtree, dir)
        os.chmod(dir, SEARCHABLE)
        first, second, stranger = (' '.join(as_user(uid)) for uid in (FIRST, SECOND, STRANGER))
        r = self.run_here(os.path.join(dir, 'run'), *ALLOW, cmd=(
            'sh', '-ec', f'{first} ibv_devinfo; {second} ls "$SOFTHCA_DIR"; ! {first} ls "$SOFTHCA_DIR"/..; '
            f'! {stranger} stat "$SOFTHCA_DIR"'))
        self.ok(r)
        self.assertIn('mlx5_0', r.out)
        self.assertEqual(r.out.count('Permission denied'), 2, r)
        self.assertEqual(os.listdir(dir), [])

    def test_fabrics_in_one_folder_admit_each_its_own_users(self):
        """The lists of the runtime directory, which they share, grow; those of the fabrics stay apart."""
        dir = fabric_dir()
        self.addCleanup(shutil.rmtree, dir)
        os.chmod(dir, SEARCHABLE)
        env = dict(os.environ, XDG_RUNTIME_DIR=dir)
        env.pop('SOFTHCA_RUNTIME_DIR', None)
        runs = []
        try:
            for uid in FIRST, SECOND:
                runs.append(Running([SOFTHCA, 'run', '--allow-uid', str(uid), '--', 'sh', '-c',
                                     'echo "$SOFTHCA_DIR $SOFTHCA_HOST ."; exec sleep 1000'], env=env))
                runs[-1].wait_said(' .')
            for uid in FIRST, SECOND, STRANGER:
                for owner, r in zip((FIRST, SECOND), runs):
                    with self.subTest(uid=uid, owner=owner):
                        code = subprocess.run([*as_user(uid), 'ls', r.said().split()[0]], stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL).returncode
                        self.assertEqual(code == 0, uid == owner)
        finally:
            for r in runs:
                r.kill()
        subprocess.run([SOFTHCA, 'list'], env=env, check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(os.listdir(dir), [])

    def test_processes_that_proc_hides(self):
        dir = fabric_dir()
        self.addCleanup(shutil.rmtree, dir)
        os.chmod(dir, SEARCHABLE)
        hidden = ('unshare', '-m', 'sh', '-c', 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', 'sh')
        if subprocess.run([*hidden, 'true'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('this machine mounts no /proc with hidepid')
        for pair in ('0:never', f'{FIRST}:before'), (f'{FIRST}:after', f'{SECOND}:before'):
            self.ok(Running([*hidden, SOFTHCA, 'run', *ALLOW, '--', UIDS, 'pair', *pair],
                            env=dict(os.environ, SOFTHCA_RUNTIME_DIR=dir)).finish())

    def test_a_file_system_without_access_control_lists(self):
        dir = fabric_dir()
        self.addCleanup(os.rmdir, dir)
        if subprocess.run(['mount', '-t', 'ramfs', '-o', 'mode=0711', 'none', dir]).returncode:
            self.skipTest('cannot mount a ramfs, which has no access control lists')
        self.addCleanup(subprocess.run, ['umount', dir], check=True)
        r = self.run_here(dir, *ALLOW)
        self.assertEqual((r.status, len(r.out.splitlines())), (2, 1), r)
        self.assertIn('has no access control lists', r.out)
        self.assertEqual(os.listdir(dir), [])
        self.ok(self.run_here(dir))

    def in_namespace(self, dir, *argv):
        """A command as root of a user namespace where 0 to 64999 are our 100000 to 164999."""
        ready, go = os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            os.write(ready[1], b'n' if ctypes.CDLL(None).unshare(0x10000000) else b'y')  # CLONE_NEWUSER
            os.read(go[0], 1)
            os.setgroups([])
            os.setresgid(0, 0, 0)
            os.setresuid(0, 0, 0)
            os.environ['SOFTHCA_RUNTIME_DIR'] = dir
            out = os.open(os.path.join(dir, 'out'), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.execv(argv[0], argv)
        allowed = os.read(ready[0], 1) == b'y'
        for what in ('uid', 'gid') if allowed else ():
            with open(f'/proc/{pid}/{what}_map', 'w') as f:
                f.write('0 100000 65000')
        os.write(go[1], b'x')
        for fd in (*ready, *go):
            os.close(fd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if not allowed:
            self.skipTest('no user namespaces here')
        with open(os.path.join(dir, 'out')) as f:
            return status, f.read()

    def test_in_a_user_namespace(self):
        """As in a container whose root is not the machine's; uids are those of the namespace."""
        dir = fabric_dir()
        self.addCleanup(shutil.rmtree, dir)
        os.chmod(dir, SEARCHABLE)
        os.chown(dir, 100000, 100000)
        for pair in (('0:never', '1000:after'), ('1000:after', '1001:before')):
            r = self.in_namespace(dir, SOFTHCA, 'run', '--allow-uid', '1000,1001', '--', UIDS, 'pair', *pair)
            self.assertEqual(r, (0, ''))
        status, out = self.in_namespace(dir, SOFTHCA, 'run', '--allow-uid', '65001', '--', 'true')
        self.assertEqual((status, len(out.splitlines())), (2, 1), out)
        self.assertIn('this user namespace does not have one of the uids', out)

    def test_a_killed_supervisor_takes_all_users_along(self):
        dir = fabric_dir()
        self.addCleanup(shutil.rmtree, dir)
        os.chmod(dir, SEARCHABLE)
        env = dict(os.environ, SOFTHCA_RUNTIME_DIR=dir)
        for when in 'before', 'after':
            # in the background: the kernel kills the command itself together with its parent
            r = Running([SOFTHCA, 'run', *ALLOW, '--', 'sh', '-c', '"$@" & wait', 'sh', UIDS, 'waits',
                         f'{FIRST}:{when}'], env=env)
            try:
                r.wait_said('\n')
                pid = int(r.said().split()[1])
                os.kill(r.proc.pid, signal.SIGKILL)
                wait_for(lambda: not alive(pid), 'the process of the other user to end')
            finally:
                r.kill()
            subprocess.run([SOFTHCA, 'list'], env=env, check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(os.listdir(dir), [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
