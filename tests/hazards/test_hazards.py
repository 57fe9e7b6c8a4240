# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every hazard of a preloaded device, on the real device. doc/HAZARDS.md says which test is whose."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
from softhca import (BUILD, Case, Fabric, LONG, NOBODY, SOFTHCA, TIMEOUT, TOP, fabric_dir, listening,  # noqa: E402
                     needs_ucx, ordinary_user_can_run, stop, ucx_perftest, wait_for)

SKIP = 77
NO_USER = 'an ordinary user cannot reach the build'


def program(name):
    return os.path.join(BUILD, 'tests', 'hazards', 'hazard_' + name)


class Hazards(Case):
    doorbell = 'trap'
    user = []

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(user=cls.user)
        cls.fab.__enter__()
        cls.tmp = tempfile.mkdtemp(prefix='hazards-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tmp)
        cls.fab.__exit__(None, None, None)

    def here(self, *cmd, timeout=TIMEOUT, **kw):
        return self.fab.run(*cmd, options=('--doorbell', self.doorbell), timeout=timeout, **kw)

    def case(self, name, *args, **kw):
        r = self.here(program(name), *args, **kw)
        if r.status == SKIP:
            self.skipTest(r.out.strip())
        return self.ok(r)

    def nothing_left(self):
        def objects():
            return self.status(self.fab)['objects']
        wait_for(lambda: not any(objects().values()), 'objects to vanish')


class Both:
    """What must be the same with trapped and with polled doorbells."""

    # 1: signals blocked
    def test_all_signals_blocked_in_threads(self):
        self.case('signals', 'blocked')

    def test_all_signals_blocked_before_the_device_is_opened(self):
        self.case('signals', 'blocked_before_open')

    def test_all_signals_blocked_by_the_raw_call(self):
        self.case('signals', 'raw_blocked')

    def test_all_signals_blocked_before_exec(self):
        self.case('signals', 'blocked_before_exec')

    def test_a_handler_with_a_full_mask_rings(self):
        self.case('signals', 'full_mask_handler')

    # 11: SIGSEGV handlers of the program's own
    def test_own_handlers_get_their_own_faults(self):
        for when in ('before', 'after'):
            for how in ('sigaction', 'signal', 'raw'):
                with self.subTest(when=when, how=how):
                    self.case('signals', 'own_handler', when, how)

    # 3: stopped peers
    def test_a_peer_stopped_at_random_points(self):
        self.case('stop', 'random_points', '40')
        self.nothing_left()

    def test_interrupt_beside_a_stopped_peer(self):
        self.case('stop', 'interrupt', '3')
        self.nothing_left()

    def test_a_peer_stopped_with_our_lock_held(self):
        self.case('stop', 'lock_held')

    def test_a_page_fault_of_a_peer_does_not_keep_a_program_alive(self):
        self.case('hang', 'dies')
        self.nothing_left()

    def test_a_page_fault_of_a_peer_holds_up_nobody_else(self):
        self.case('hang', 'others_go_on')
        self.nothing_left()

    # 4: stacks
    def test_a_thread_with_16_KiB_of_stack(self):
        self.case('stacks', 'small_thread')

    # 7: process_vm_* refused, as by a container's profile
    def test_a_peer_without_process_vm(self):
        self.case('denied', 'no_process_vm')

    # 7: one system call of the library's refused, as by a sandbox, each in its turn
    def test_a_call_that_the_host_refuses(self):
        self.case('denied', 'one_call', *(['all'] if self.doorbell == 'trap' else []))

    def test_the_first_thread_ends(self):
        self.case('denied', 'first_thread_ends')
        self.case('denied', 'first_thread_ends', 'refuses')

    # 8: events
    def test_sleeping_readers_lose_no_event(self):
        self.case('events', 'sleepers', '4000' if LONG else '500')

    def test_a_sender_without_descriptors_wakes_its_peer(self):
        self.case('events', 'handicapped', 'descriptors')

    @unittest.skipIf(os.geteuid(), 'chroot(2) is for root')
    def test_a_sender_in_another_root_wakes_its_peer(self):
        self.case('events', 'handicapped', 'chroot')

    def test_a_blocking_read_is_interrupted(self):
        self.case('events', 'interrupted')

    def test_completion_channels_can_be_polled(self):
        self.case('events', 'completion_readiness')

    def test_async_events_can_be_polled(self):
        self.case('events', 'async_readiness')

    def test_each_event_is_an_edge(self):
        for kind in ('completion', 'async'):
            with self.subTest(kind):
                self.case('events', 'edges', kind)

    def test_each_event_is_a_sigio(self):
        for kind in ('completion', 'async'):
            with self.subTest(kind):
                self.case('events', 'signalled', kind)

    def test_waiters_elsewhere_see_each_event(self):
        for kind in ('stranger', 'spawned', 'spawned_copy', 'poll', 'raw', 'message'):
            with self.subTest(kind):
                self.case('events', 'elsewhere', kind)

    # 9: fork
    def test_a_child_registers_its_own_memory(self):
        self.case('forked', 'child_registers')

    def test_a_parent_goes_on_beside_its_children(self):
        self.case('forked', 'parent_goes_on')


class Poll(Both, Hazards):
    doorbell = 'poll'


class Trap(Both, Hazards):
    # 2: strangers
    def test_a_stranger_after_exec_is_not_written_to(self):
        for how in ('execve', 'fexecve', 'thread', 'raw', 'raw_at'):
            with self.subTest(how):
                self.case('peer', 'execs', how)
        self.nothing_left()

    def test_a_stranger_with_the_same_pid_is_not_written_to(self):
        sup = self.status(self.fab)['supervisor']
        try:
            self.case('peer', 'pid_reuse', str(sup))
        finally:
            os.kill(sup, signal.SIGCONT)
        self.nothing_left()

    # 3: stock programs
    def test_a_stopped_perftest_goes_on(self):
        pair = self.endless(self.fab, 'ib_send_bw', '-s', '4096')
        try:
            for r in pair * 3:
                self.moves(self.fab, 1000)
                self.assertTrue(stop(r.proc.pid))  # with --fabric, softhca has become the program
                time.sleep(0.1)                     # how long it is stopped: any time must do
                for p in pair:
                    self.assertFalse(p.ended(), p.said())
                os.kill(r.proc.pid, signal.SIGCONT)
            self.moves(self.fab, 1000)
        finally:
            for r in pair:
                r.kill()

    # 4
    def test_nested_faults_on_an_alternate_stack_of_8_KiB(self):
        self.case('stacks', 'alternate_stack', '10000')

    # 7: a peer whose memory cannot be copied by any method
    def test_a_refused_peer_is_not_dead(self):
        # adopted memory needs no access by the kernel
        out = self.ok(self.fab.run(program('denied'), 'refused', timeout=TIMEOUT,
                                   options=('--doorbell', self.doorbell, '--no-adopt')))
        self.assertEqual(out.count('refuses access to the memory'), 1, out)

    # 8: more than a pipe holds. (Polled arms may come together as one; the last is never lost.)
    def test_100000_events_wait_for_their_reader(self):
        self.case('events', 'pile_up', '100000')

    # 17: mappings and descriptors
    def test_a_mapped_page_keeps_its_closed_file(self):
        self.case('mapped', 'closed')
        self.case('mapped', 'replaced')
        self.nothing_left()

    def test_a_program_that_closes_all_descriptors(self):
        self.case('mapped', 'closefrom', 'loop')
        self.case('mapped', 'closefrom', 'range')

    def test_a_childs_pages_keep_its_parents_file(self):
        for how in ('unmaps', 'exits', 'execs'):
            self.case('mapped', 'child', how)
        self.nothing_left()

    # 9
    def test_a_child_rings_its_parents_queue(self):
        self.case('forked', 'child_rings')


@unittest.skipUnless(os.geteuid() or ordinary_user_can_run(), NO_USER)
class OrdinaryUser(Hazards):
    """
    Hazard 7, where the host itself refuses a copy. It refuses root nothing, so an ordinary user is
    needed.
    """
    user = [] if os.geteuid() else NOBODY

    def test_a_peer_that_is_not_dumpable(self):
        for when in ('never', 'before', 'after'):
            with self.subTest(when):
                if when == 'never':
                    r = self.here(program('denied'), 'not_dumpable', when)
                    self.assertIn('lets us copy', r.out)
                else:
                    self.case('denied', 'not_dumpable', when)

    def test_an_execute_only_program(self):
        exe = os.path.join(self.tmp, 'denied')
        os.chmod(self.tmp, 0o755)
        shutil.copy(program('denied'), exe)
        os.chmod(exe, 0o111)
        self.ok(self.here(exe, 'not_dumpable', 'as_it_is'))

    def test_a_peer_in_a_user_namespace(self):
        inside = ('unshare', '-U', '--map-root-user')
        if subprocess.run([*self.user, *inside, 'true'], stderr=subprocess.DEVNULL).returncode:
            self.skipTest('no user namespaces here')
        self.pair(self.fab, ('ibv_rc_pingpong', '-c', '-n', '100'), (*inside, 'ibv_rc_pingpong', '-c', '-n', '100'))


class Programs(Hazards):
    """Stock programs and tools that bring hazards with them."""

    def test_subprocess_between_messages(self):
        """5: Python's subprocess is a vfork, whose child runs our wrappers on its parent's memory."""
        sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'trap'))
        from test_stock import PYVERBS
        self.ok(self.here('/usr/bin/python3', '-c', PYVERBS + '''
assert getattr(subprocess, '_USE_VFORK', True)
for i in range(20):
    subprocess.run(['true'], check=True, close_fds=bool(i % 2), stdin=subprocess.DEVNULL)
    loop(3)
    p = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    loop(3)
    assert p.communicate(b'x')[0] == b'x'
    CQ(ctx, 8).close()              # the command file is still known
    MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE).close()
loop()
'''))

    @needs_ucx
    def test_ucx_with_patched_functions(self):
        """10: UCX's hooks on mmap; `bistro` patches libc's functions, ours call them."""
        env = {'UCX_TLS': 'ud_v,self', 'UCX_NET_DEVICES': 'mlx5_0:1', 'UCX_MEM_MMAP_HOOK_MODE': 'bistro',
               'UCX_LOG_LEVEL': 'error'}
        port = Case.port
        Case.port += 1
        cmd = ucx_perftest('-p', str(port))
        srv = self.fab.start(*cmd, env=env)
        try:
            wait_for(lambda: listening(port) or srv.proc.poll() is not None, 'server to listen')
            out = self.ok(self.fab.run(*cmd, '-t', 'tag_lat', '-n', '100', '-w', '10', '-s', '64',
                                       'localhost', env=env))
            self.assertIn('Final', out)
            self.ok(srv.finish())
        finally:
            srv.kill()

    # 11: an RC exchange in a program built with a sanitizer
    def sanitized(self, compiler, sanitizer, doorbell='trap', **kw):
        if not shutil.which(compiler):
            self.skipTest(compiler + ' is not installed')
        exe = os.path.join(self.tmp, f'{compiler}-{sanitizer}')
        r = subprocess.run([compiler, '-g', '-w', '-D_GNU_SOURCE', '-fsanitize=' + sanitizer,
                            '-I' + os.path.join(TOP, 'src'),
                            '-fno-sanitize-recover=all', '-o', exe,
                            os.path.join(HERE, 'signals.c'), os.path.join(HERE, 'rc.c'),
                            '-libverbs', '-lpthread'], capture_output=True, errors='replace')
        if r.returncode and 'cannot find' in r.stderr:
            self.skipTest(f'{compiler} has no {sanitizer} sanitizer')
        self.assertEqual(r.returncode, 0, r.stderr)
        for case in ('plain', 'blocked', 'full_mask_handler'):
            r = self.fab.run(exe, case, options=('--doorbell', doorbell), **kw)
            self.ok(r)
            self.assertNotIn('Sanitizer', r.out)
        return exe

    def test_gcc_asan(self):
        self.sanitized('gcc', 'address')

    def test_an_allocator_with_its_own_system_calls_is_known(self):
        """No memory of keys is adopted then (libc_hook())."""
        if not shutil.which('gcc'):
            self.skipTest('gcc is not installed')
        for sanitizer, says in (('address', 'the allocator of a sanitizer'), ('undefined', 'seen')):
            exe = self.sanitized('gcc', sanitizer)
            r = self.fab.run('env', 'SOFTHCA_TRACE=shim', exe, 'plain', options=('--adopt',))
            self.assertIn("libc's calls: " + says, r.out)

    def test_clang_asan(self):
        self.sanitized('clang', 'address')

    def test_gcc_ubsan(self):
        self.sanitized('gcc', 'undefined')

    def test_clang_tsan_polled(self):
        self.sanitized('clang', 'thread', 'poll')


class Segment(Case):
    """6: a full disk or a limit gives one line and status 2. Nothing is left, and there is never a SIGBUS."""

    def setUp(self):
        super().setUp()
        self.dir = fabric_dir()
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir)

    def tearDown(self):
        shutil.rmtree(self.dir)

    def shm(self):
        """The files in /dev/shm, without the directories of other tests."""
        return {n for n in os.listdir('/dev/shm') if not n.startswith('softhca-')}

    def softhca(self, *args, **kw):
        return subprocess.run([SOFTHCA, *args], env=self.env, capture_output=True, errors='replace',
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL, **kw)

    def refused(self, *cmd, **kw):
        before = self.shm()
        r = self.softhca('run', '--', *cmd, **kw)
        said = r.stderr.splitlines()
        self.assertEqual((r.returncode, r.stdout, len(said)), (2, '', 1), r)
        self.assertEqual(os.listdir(self.dir), [])
        # Other programs (Open MPI, UCX) have files there for a while. A file that softhca left would
        # stay.
        wait_for(lambda: self.shm() <= before, 'new files in /dev/shm to go')
        return said[0]

    def test_a_full_disk(self):
        if os.geteuid():
            self.skipTest('needs a small tmpfs: root only')
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'none',
                           self.dir]).returncode:
            self.skipTest('cannot mount a tmpfs')
        try:
            self.assertEqual(self.softhca('up', 'lab').returncode, 0)
            fill = os.path.join(self.dir, 'fill')
            with open(fill, 'wb', buffering=0) as f:
                try:
                    while f.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            # The fabric's memory is not in this directory: what is up goes on.
            r = self.softhca('run', '--fabric', 'lab', '--', program('events'), 'pile_up', '5000')
            self.assertEqual((r.returncode, r.stderr), (0, ''))
            before = sorted(os.listdir(self.dir))
            r = self.softhca('run', '--', 'true')
            self.assertEqual((r.returncode, len(r.stderr.splitlines())), (2, 1), r)
            self.assertIn('No space left', r.stderr)
            self.assertEqual(sorted(os.listdir(self.dir)), before)
            os.unlink(fill)
            self.assertEqual(self.softhca('down', 'lab').returncode, 0)
            self.assertEqual(os.listdir(self.dir), [])
        finally:
            subprocess.run(['umount', self.dir], check=True)

    def test_limits_of_softhca(self):
        for what, limit, text in ((resource.RLIMIT_AS, 512 << 20, 'ulimit -v'),
                                  (resource.RLIMIT_FSIZE, 1 << 20, 'ulimit -f'),
                                  (resource.RLIMIT_NOFILE, 8, 'ulimit -n')):
            self.assertIn(text, self.refused('true', preexec_fn=lambda: resource.setrlimit(
                what, (limit, limit))))

    def test_filters_are_named(self):
        """A filter of system calls that keeps a program from the device: one line says so."""
        for what, text in (('thread', "cannot start the device's thread: EPERM"),
                           ('handler', 'cannot handle SIGSEGV, only --doorbell poll works: EPERM'),
                           ('killed', 'was killed by a filter of system calls (SIGSYS)')):
            with self.subTest(what=what):
                r = self.softhca('run', '--', program('denied'), 'says_why', what)
                self.assertNotIn(r.returncode, (0, 139, -signal.SIGSEGV), r)
                self.assertEqual([text in x for x in r.stderr.splitlines() if 'softhca' in x], [True], r)

    def test_limits_of_the_program(self):
        """A program that limits itself later: no device, but a line that says why, and no signal."""
        for limit in ('-v 300000', '-f 0', '-n 5', '-n 8'):
            r = subprocess.run([SOFTHCA, 'run', '--', 'sh', '-c',
                                f'ulimit {limit}; exec "$0" plain', program('signals')],
                               env=self.env, capture_output=True, errors='replace', timeout=TIMEOUT)
            self.assertIn(r.returncode, (0, 2), f'{limit}: {r}')
            # With 5 descriptors libibverbs does not find the device, as on any machine.
            if r.returncode and limit not in ('-f 0', '-n 5'):
                self.assertIn(f'ulimit {limit[:2]}', r.stderr, limit)


if __name__ == '__main__':
    unittest.main(verbosity=2)
