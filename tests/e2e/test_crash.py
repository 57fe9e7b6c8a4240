# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes killed or stopped at random moments: what they shared with others stays whole."""
import os
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, listening, wait_for  # noqa: E402

ROUNDS = int(os.environ.get('SOFTHCA_CRASH_ROUNDS', '40'))
PROGRAMS = ('ib_send_bw', 'ib_write_bw', 'ib_read_bw')
SMALL = '64'  # bytes: many messages, so that a kill meets the engine in all its places


class Crash(Case):
    def start_pair(self, fab, cmd):
        port = Case.port
        Case.port += 1
        srv = fab.start(*cmd, '-p', str(port))
        try:
            wait_for(lambda: listening(port) or srv.proc.poll() is not None, 'server to listen', 20)
            return srv, fab.start(*cmd, '-p', str(port), 'localhost')
        except BaseException:
            srv.kill()
            raise

    def ended(self, pair):
        return any(p.proc.poll() is not None for p in pair)

    def test_kills_leave_others_alone(self):
        rnd = random.Random(os.environ.get('SOFTHCA_CRASH_SEED', '1'))
        with Fabric() as fab:
            calm = self.start_pair(fab, ('ib_write_bw', '-F', '-s', SMALL, '-D', '16'))
            try:
                for i in range(ROUNDS):
                    pair = self.start_pair(fab, (PROGRAMS[i % 3], '-F', '-s', SMALL, '-D', '20'))
                    try:
                        time.sleep(0.1 + rnd.random() * 0.35)
                        self.assertFalse(self.ended(pair), 'ended too early')
                        pair[rnd.randrange(2)].kill()
                    finally:
                        for p in pair:
                            p.kill()
                for p in reversed(calm):
                    self.ok(p.finish(60))
            finally:
                for p in calm:
                    p.kill()
            wait_for(lambda: not self.status(fab)['processes'], 'the dead to be reaped', 10)
            s = self.status(fab)
            self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)
            self.pair(fab, ('ib_send_bw', '-F', '-n', '500'))

    def stopped(self, fab, cmd, which):
        """A pair of which one end is stopped in the middle: (pair, stopped, other)."""
        pair = self.start_pair(fab, cmd)
        time.sleep(0.8)
        self.assertFalse(self.ended(pair), 'ended too early')
        os.killpg(pair[which].proc.pid, signal.SIGSTOP)
        return pair, pair[which], pair[1 - which]

    def test_stopped_end_goes_on(self):
        with Fabric() as fab:
            for which, prog, secs in ((0, 'ib_send_bw', 3), (1, 'ib_send_bw', 1),
                                      (0, 'ib_write_bw', 1)):
                with self.subTest(prog=prog, stopped=('server', 'client')[which]):
                    pair, stopped, _ = self.stopped(
                        fab, (prog, '-F', '-s', SMALL, '-n', '500000'), which)
                    try:
                        time.sleep(secs)
                        self.assertFalse(self.ended(pair), 'ended while stopped')
                        os.killpg(stopped.proc.pid, signal.SIGCONT)
                        for p in reversed(pair):
                            self.ok(p.finish(60))
                    finally:
                        for p in pair:
                            p.kill()

    def test_interrupt_while_peer_is_stopped(self):
        with Fabric() as fab:
            for prog in ('ib_send_bw', 'ib_write_bw'):
                with self.subTest(prog=prog):
                    pair, _, other = self.stopped(fab, (prog, '-F', '-s', SMALL, '-D', '30'), 0)
                    try:
                        time.sleep(0.2)
                        os.killpg(other.proc.pid, signal.SIGINT)
                        self.assertNotEqual(other.finish(3).status, 0)
                    finally:
                        for p in pair:
                            p.kill()


if __name__ == '__main__':
    unittest.main(verbosity=2)
