# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hazards of signals and stacks, with stock programs and the real device."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, segment_bytes, BUILD, TOP, VERBS_ENUMS  # noqa: E402
import unittest  # noqa: E402

BLOCK_ALL = ('import os, signal, sys; '
             'signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); '
             'os.execvp(sys.argv[1], sys.argv[1:])')

# An RC QP pair in one process: loop(n) sends n messages.
PYVERBS = '''
import ctypes, os, signal, subprocess, threading
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPInitAttr, QPCap, QPAttr
from pyverbs.addr import AHAttr
from pyverbs.wr import SGE, SendWR, RecvWR
''' + VERBS_ENUMS + '''
ctx = Context(name='mlx5_0')
pd = PD(ctx)
cq = CQ(ctx, 64)
mr = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
lid = ctx.query_port(1).lid
cap = QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1)
qps = [QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap, sq_sig_all=1), QPAttr())
       for _ in range(2)]
for a, b in (qps, qps[::-1]):
    at = QPAttr(port_num=1)
    at.dest_qp_num = b.qp_num
    at.path_mtu = e.IBV_MTU_1024
    at.timeout, at.retry_cnt, at.rnr_retry = 14, 7, 7
    at.max_rd_atomic = at.max_dest_rd_atomic = 1
    at.ah_attr = AHAttr(dlid=lid, port_num=1)
    a.to_rts(at)
def loop(n=10):
    for i in range(n):
        mr.write(b'%08d' % i, 8)
        qps[1].post_recv(RecvWR(sg=[SGE(mr.buf + 2048, 8, mr.lkey)], num_sge=1))
        qps[0].post_send(SendWR(sg=[SGE(mr.buf, 8, mr.lkey)], num_sge=1))
        got = []
        while len(got) < 2:
            got += cq.poll()[1]
        assert all(w.status == e.IBV_WC_SUCCESS for w in got), [w.status for w in got]
        assert mr.read(8, 2048) == b'%08d' % i
loop()
'''


class Stock(Case):
    doorbell = 'trap'

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric()
        cls.fab.__enter__()
        cls.opt = ('--doorbell', cls.doorbell)
        cls.tmp = tempfile.mkdtemp(prefix='trap-stock-')

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tmp)
        cls.fab.__exit__(None, None, None)

    def run_here(self, *cmd, env=None):
        return self.fab.run(*cmd, options=self.opt, env=env)

    def python(self, code, *options):
        return self.run_here('/usr/bin/python3', *options, '-c', PYVERBS + code)

    def test_all_signals_blocked(self):
        cmd = ('/usr/bin/python3', '-c', BLOCK_ALL, 'ibv_rc_pingpong', '-n', '200')
        self.pair(self.fab, cmd, options=(self.opt,) * 2)

    def test_doorbells_of_a_driver_that_is_loaded_late_are_patched(self):
        """Not linked with libmlx5, as perftest is: libibverbs loads it when the segment is mapped."""
        cmd = ('env', 'SOFTHCA_TRACE=shim', 'ibv_rc_pingpong', '-n', '200')
        if os.uname().machine != 'x86_64':
            self.skipTest('no doorbell is patched here')
        for _ in range(5):  # where the kernel puts libraries so high that the stub's place is no memory: again
            ends = self.pair(self.fab, cmd, options=(self.opt,) * 2)
            if 'no membarrier' in ends[0].out:
                self.skipTest('no doorbell is patched here')
            if all(re.search(r'doorbell at \S+: patched', end.out) for end in ends):
                return
        self.fail(f'not patched:\n{ends[0]}\n{ends[1]}')

    def test_all_signals_blocked_with_events(self):
        cmd = ('/usr/bin/python3', '-c', BLOCK_ALL, 'ibv_rc_pingpong', '-e', '-n', '200')
        self.pair(self.fab, cmd, options=(self.opt,) * 2)

    def test_threads_with_all_signals_blocked(self):
        self.ok(self.python('''
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
loop()
t = threading.Thread(target=loop)
t.start()
t.join()
loop()
'''))

    def test_in_a_signal_handler(self):
        self.ok(self.python('''
signal.signal(signal.SIGUSR1, lambda *a: loop())
os.kill(os.getpid(), signal.SIGUSR1)
loop()
'''))

    def test_subprocess(self):
        self.ok(self.python('''
for i in range(5):
    subprocess.run(['true'], check=True, close_fds=True)
    loop()
'''))

    def test_small_thread_stacks(self):
        self.ok(self.python('''
threading.stack_size(32768)
t = threading.Thread(target=loop)
t.start()
t.join()
'''))

    def test_faulthandler(self):
        r = self.python('ctypes.string_at(8)', '-X', 'faulthandler')
        self.assertIn(r.status, (139, -signal.SIGSEGV), str(r))
        self.assertIn('Fatal Python error: Segmentation fault', r.out, str(r))

    def test_a_sent_sigsegv_kills(self):
        r = self.python('os.kill(os.getpid(), signal.SIGSEGV)')
        self.assertIn(r.status, (139, -signal.SIGSEGV), str(r))

    def test_signal_function_replaces_nothing(self):
        self.ok(self.python('''
c = ctypes.CDLL(None)
c.signal.restype = ctypes.c_void_p
c.signal.argtypes = ctypes.c_int, ctypes.c_void_p
assert c.signal(signal.SIGSEGV, 1) is None
loop()
assert c.signal(signal.SIGSEGV, None) == 1
loop()
'''))

    def sanitized(self, compiler, sanitizer):
        if not shutil.which(compiler):
            self.skipTest(compiler + ' is not installed')
        exe = os.path.join(self.tmp, f'{compiler}-{sanitizer}')
        r = subprocess.run([compiler, '-g', '-w', '-D_GNU_SOURCE', '-fsanitize=' + sanitizer,
                            '-o', exe, os.path.join(TOP, 'examples', 'devx_send.c'), '-libverbs', '-lmlx5'],
                           capture_output=True, errors='replace')
        if r.returncode and 'cannot find' in r.stderr:
            self.skipTest(f'{compiler} has no {sanitizer} sanitizer')
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn('received', self.ok(self.run_here(exe)))

    def test_gcc_asan(self):
        self.sanitized('gcc', 'address')

    def test_clang_asan(self):
        self.sanitized('clang', 'address')

    def test_clang_tsan(self):
        self.sanitized('clang', 'thread')

    def test_valgrind(self):
        if not shutil.which('valgrind'):
            self.skipTest('valgrind is not installed')
        # Valgrind runs one thread at a time; a program that spins on its CQ would keep the device's
        # thread waiting for seconds if the turns were not fair.
        out = self.ok(self.run_here('valgrind', '-q', '--fair-sched=yes',
                                    os.path.join(BUILD, 'examples', 'devx_send')))
        self.assertIn('received', out)
        # At its end memcheck reads what is mapped: had it read the segment, each hole had got a page.
        self.assertLess(segment_bytes(self.status(self.fab)['supervisor']), 256 << 20)


class StockPoll(Stock):
    doorbell = 'poll'
    test_doorbells_of_a_driver_that_is_loaded_late_are_patched = None  # polled doorbells are not stores that fault

    def test_no_handler_is_installed(self):
        self.ok(self.python('''
caught = [int(l.split()[1], 16) for l in open('/proc/self/status') if l.startswith('SigCgt')][0]
assert not caught & 1 << (signal.SIGSEGV - 1)
'''))


if __name__ == '__main__':
    unittest.main()
