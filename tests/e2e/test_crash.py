# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes killed or stopped at random moments: what they shared with others stays whole."""
import os
import random
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, segment_bytes, stop, wait_for, VERBS_ENUMS  # noqa: E402

ROUNDS = int(os.environ.get('SOFTHCA_CRASH_ROUNDS', '40'))
PROGRAMS = ('ib_send_bw', 'ib_write_bw', 'ib_read_bw')
SMALL = '64'  # bytes: many messages, so that a kill meets the engine in all its places


# Opens the device many times, as that many short programs. When the directory has a file `many`, it
# has many queues at once, until there is `go`, and stays.
MEMORY = '''
import os, sys, time
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPInitAttr, QPCap
''' + VERBS_ENUMS + '''
def wait(name):
    while not os.path.exists(os.path.join(sys.argv[1], name)):
        time.sleep(0.05)
def queues(n):
    with Context(name='mlx5_0') as ctx, PD(ctx) as pd, CQ(ctx, 16) as cq, MR(pd, 4096, 0):
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=1, max_recv_wr=1))
        qps = [QP(pd, init) for _ in range(n)]
        if n > 2:
            print('made', flush=True)
            wait('go')
        for q in qps:
            q.close()
for i in range(600):
    queues(2)
print('short ones', flush=True)
wait('many')
queues(8000)
with Context(name='mlx5_0'):
    print('freed', flush=True)
    time.sleep(10 ** 6)  # until it is killed
'''


class Memory(Case):
    def test_memory_comes_back(self):
        with Fabric() as fab, tempfile.TemporaryDirectory() as tmp:
            supervisor = self.status(fab)['supervisor']
            p = fab.start('/usr/bin/python3', '-c', MEMORY, tmp)
            try:
                p.wait_said('short ones')
                before = segment_bytes(supervisor)
                self.assertLess(before, 4 << 20)
                open(os.path.join(tmp, 'many'), 'w').close()
                p.wait_said('made')
                self.assertGreater(segment_bytes(supervisor), before + (5 << 20))
                open(os.path.join(tmp, 'go'), 'w').close()
                p.wait_said('freed')
                wait_for(lambda: segment_bytes(supervisor) < before + (3 << 20), 'the memory to come back')
            finally:
                p.kill()


class Pairs(Case):
    def going(self, pair):
        for r in pair:
            self.assertFalse(r.ended(), r.said())


class Crash(Pairs):
    def test_kills_leave_others_alone(self):
        rnd = random.Random(os.environ.get('SOFTHCA_CRASH_SEED', '1'))
        with Fabric() as fab:
            calm = self.endless(fab, 'ib_write_bw', '-s', SMALL)
            try:
                for i in range(ROUNDS):
                    pair = self.endless(fab, PROGRAMS[i % 3], '-s', SMALL)
                    try:
                        time.sleep(rnd.random() / 20)  # a random point of endless traffic
                        self.going(pair)
                        pair[rnd.randrange(2)].kill()
                    finally:
                        for p in pair:
                            p.kill()
                self.moves(fab, 1000)  # nobody else sends now
                self.going(calm)
            finally:
                for p in calm:
                    p.kill()
            wait_for(lambda: not self.status(fab)['processes'], 'the dead to be reaped')
            s = self.status(fab)
            self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)
            self.pair(fab, ('ib_send_bw', '-F', '-n', '500'))


class Stops(Pairs):
    def test_stopped_end_goes_on(self):
        with Fabric() as fab:
            for which, prog, secs in ((0, 'ib_send_bw', 3), (1, 'ib_send_bw', 1),
                                      (0, 'ib_write_bw', 1)):
                with self.subTest(prog=prog, stopped=('server', 'client')[which]):
                    pair = self.endless(fab, prog, '-s', SMALL)
                    try:
                        self.moves(fab, 1000)
                        self.assertTrue(stop(pair[which].proc.pid))
                        time.sleep(secs)  # how long it is stopped: any time must do
                        self.going(pair)
                        os.kill(pair[which].proc.pid, signal.SIGCONT)
                        # As much as a whole queue, several times: both ends have gone on.
                        self.moves(fab, 10000)
                        self.going(pair)
                    finally:
                        for p in pair:
                            p.kill()

    def caught(self, fab, prog, which, n):
        """A run of n messages of which one end is stopped in the middle; None: it was too quick."""
        before = self.packets(fab)
        pair = self.start_pair(fab, prog, '-F', '-s', SMALL, '-n', str(n))
        try:
            wait_for(lambda: self.packets(fab) > before or pair[0].ended(), 'traffic')
            if stop(pair[which].proc.pid) and self.packets(fab) < before + n:
                return pair
            pair[which].proc.send_signal(signal.SIGCONT)  # unless it has ended
            for p in reversed(pair):
                self.ok(p.finish())
        except BaseException:
            for p in pair:
                p.kill()
            raise
        return None

    def test_a_run_with_a_stop_in_it_ends_well(self):
        with Fabric() as fab:
            for which, prog in ((0, 'ib_send_bw'), (1, 'ib_send_bw'), (0, 'ib_write_bw')):
                with self.subTest(prog=prog, stopped=('server', 'client')[which]):
                    n, pair = 20000, None
                    while not pair:  # until this machine needs long enough for it
                        n *= 4
                        pair = self.caught(fab, prog, which, n)
                    try:
                        time.sleep(0.5)  # how long it is stopped: any time must do
                        os.kill(pair[which].proc.pid, signal.SIGCONT)
                        for p in reversed(pair):
                            self.ok(p.finish())
                    finally:
                        for p in pair:
                            p.kill()

    def test_interrupt_while_peer_is_stopped(self):
        with Fabric() as fab:
            for prog in ('ib_send_bw', 'ib_write_bw'):
                with self.subTest(prog=prog):
                    pair = self.endless(fab, prog, '-s', SMALL)
                    try:
                        self.moves(fab, 1000)
                        self.assertTrue(stop(pair[0].proc.pid))
                        time.sleep(0.2)  # the other end runs into it; any time must do
                        self.going(pair)
                        # Not SIGINT: ib_write_bw of perftest 25 catches it, then waits for its peer by TCP.
                        os.killpg(pair[1].proc.pid, signal.SIGTERM)
                        # The peer stays stopped: whatever waits for it would wait for ever.
                        self.assertNotEqual(pair[1].finish().status, 0)
                    finally:
                        for p in pair:
                            p.kill()


if __name__ == '__main__':
    unittest.main(verbosity=2)
