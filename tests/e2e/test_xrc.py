# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""XRC between processes: stock ibv_xsrq_pingpong, and domains that outlive the process that made them."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, MEMORY, SOFTHCA, TIMEOUT, listening, wait_for  # noqa: E402

SHARE = os.path.join(os.environ.get('SOFTHCA_BUILD', 'build'), 'tests', 'e2e', 'xrc_share')

LATE_ROUNDS = 10


def text(path):
    return path.read_text() if path.exists() else ''


def gave_up_first(trace):
    """
    ibv_xsrq_pingpong's server sends when it has read the last client's address, which is before that client's QP
    is in RTR. If the client waits for a processor until the server's QP gives up (timeout 14, retry_cnt 7: 0.54 s),
    the first message fails. The program looks at its send CQ only in the end: all poll for ever, with any adapter.
    """
    return any('wqe_counter=0,' in line and 'syndrome=TRANSPORT_RETRY_EXC' in line for line in trace.splitlines())


class Xrc(Case):
    doorbell = 'trap'

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--hosts', '2')
        cls.fab.__enter__()
        cls.opt = (('--doorbell', cls.doorbell),) * 2

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def round(self, trace, clients, *args):
        """One run of ibv_xsrq_pingpong. False: a client was so late that the program never ends."""
        port = Case.port
        Case.port += 1
        prog = ('stdbuf', '-oL', 'ibv_xsrq_pingpong', *args, '-p', str(port))
        env = {'SOFTHCA_TRACE': 'cqe', 'SOFTHCA_TRACE_FILE': str(trace)}
        run = [self.fab.start(*prog, '-c', str(clients), options=self.opt[0], env=env)]
        try:
            wait_for(lambda: listening(port) or run[0].ended(), 'server')
            for _ in range(clients):
                run.append(self.fab.start(*prog, 'localhost', options=self.opt[1]))
            try:
                # If one fails, the others never end: they read the end of its socket for ever.
                wait_for(lambda: all(r.ended() for r in run) or any(r.proc.poll() for r in run) or
                         gave_up_first(text(trace)), 'the end of all')
            except AssertionError as e:
                raise AssertionError('\n'.join([str(e), *(r.said() for r in run), text(trace)])) from None
            if all(r.proc.poll() == 0 for r in run):
                return True
            said = text(trace)
            self.assertTrue(gave_up_first(said), '\n'.join([*(r.said() for r in run), said]))
            return False
        finally:
            for r in run:
                r.kill()

    def pingpong(self, clients, *args):
        with tempfile.TemporaryDirectory(dir=MEMORY) as d:
            for i in range(LATE_ROUNDS):
                if self.round(pathlib.Path(d, f'trace{i}'), clients, *args):
                    return
                wait_for(lambda: self.objects() == (0, 0), 'the end of what was killed')
        self.fail(f'a client was late in each of {LATE_ROUNDS} rounds')

    def test_xsrq_pingpong(self):
        self.pingpong(1, '-n', '200')

    def test_xsrq_pingpong_events(self):
        self.pingpong(1, '-e', '-n', '100')

    def test_three_clients_of_one_domain(self):
        # The stock program shares its domain by this file, and goes on alone when it cannot open it.
        name = '/tmp/xrc_domain'
        if os.path.exists(name) and not os.access(name, os.R_OK):
            self.skipTest(f"{name} is another user's")
        self.pingpong(3, '-n', '200')

    def test_perftest(self):
        """As perftest does: initiators name a responder's attributes, and targets a requester's."""
        for prog in ('ib_send_lat', 'ib_send_bw', 'ib_write_lat', 'ib_write_bw', 'ib_read_lat', 'ib_read_bw',
                     'ib_atomic_lat', 'ib_atomic_bw'):
            with self.subTest(prog):
                self.pair(self.fab, (prog, '-F', '-c', 'XRC', '-n', '20'), options=self.opt)

    def test_perftest_of_two_hosts(self):
        hosts = tuple(('--host', h, *o) for h, o in zip(('h1', 'h2'), self.opt))
        for prog in ('ib_send_lat', 'ib_atomic_bw'):
            with self.subTest(prog):
                self.pair(self.fab, (prog, '-F', '-c', 'XRC', '-n', '20'), options=hosts)

    def share(self, *args):
        argv = [SOFTHCA, 'run', '--fabric', self.fab.name, *self.opt[0], '--', SHARE, *args]
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, errors='replace',
                                env=self.fab.env)

    def objects(self):
        o = self.status(self.fab)['objects']
        return o['qp'], o['xrcd']

    def test_the_target_outlives_its_maker(self):
        """As by the kernel's usecnt, the QP lives until the last process that has it open closes it."""
        for how in ('killed', 'closed'):
            with self.subTest(how), tempfile.NamedTemporaryFile() as f:
                a = self.share(f.name, 'make')
                pid, qpn, _ = a.stdout.readline().split()
                b = self.share(f.name, 'open', qpn)
                self.assertEqual(b.stdout.readline().split()[1:], [qpn, '1'])  # IBV_QPS_INIT
                self.assertEqual(self.objects(), (1, 1))
                if how == 'killed':
                    os.kill(int(pid), signal.SIGKILL)
                else:
                    a.stdin.write('\n')
                    a.stdin.flush()
                a.wait(TIMEOUT)
                wait_for(lambda: int(pid) not in [p['pid'] for p in self.status(self.fab)['processes']],
                         'its end to be known')
                self.assertEqual(self.objects(), (1, 1))
                out, _ = b.communicate('\n', timeout=TIMEOUT)
                self.assertEqual(out.strip(), '1')
                self.assertEqual(b.returncode, 0)
                wait_for(lambda: self.objects() == (0, 0), 'the end of QP and domain')
                a.stdout.close()
                a.stdin.close()

    def test_zz_nothing_is_left(self):
        s = self.status(self.fab)
        self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)


class XrcPolledDoorbells(Xrc):
    doorbell = 'poll'


if __name__ == '__main__':
    unittest.main(verbosity=2)
