# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Crowds that wait for one lock."""
import os
import resource
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
from softhca import BUILD, LONG, TIMEOUT, Case, Fabric, wait_for  # noqa: E402

SECONDS = int(os.environ.get('SOFTHCA_STRESS_SECONDS', 5))


def program(name):
    return os.path.join(BUILD, 'tests', 'stress', 'stress_' + name)


class Start(Case):
    """A kernel queues those who create something; all get it. bench/start has the times."""

    def crowd(self, n, how, what=' in '):
        # The supervisor has five or six descriptors for each, as far as the hard limit goes.
        n = min(n, (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200) // 6)
        with Fabric() as fab:
            r = fab.run(program('start'), str(n), how, timeout=300)
            self.assertIn(f'{n} of {n}{what}', self.ok(r))
            wait_for(lambda: not any(self.status(fab)['objects'].values()), 'objects to vanish')
            self.ok(fab.run(program('start'), '2'))

    def test_many_processes_open_and_create_at_once(self):
        for n in (300, 1000, 2000) if LONG else (300,):
            with self.subTest(n):
                self.crowd(n, 'closed')

    def test_many_open_processes_create_at_once(self):
        for n in (900, 2000) if LONG else (900,):
            with self.subTest(n):
                self.crowd(n, 'opened')

    def test_many_that_are_killed_at_once_leave_nothing(self):
        for n in (300, 1000) if LONG else (300,):
            with self.subTest(n):
                self.crowd(n, 'killed', ' killed')


class Stop(Case):
    """A umad client that is stopped keeps no other one waiting."""

    def stops(self, what):
        with Fabric() as fab:
            out = self.ok(fab.run(program('stop_mad'), str(SECONDS), what,
                                  str(self.status(fab)['supervisor']), timeout=SECONDS + TIMEOUT))
            self.assertRegex(out, r'\d+ stops, 0 froze others')

    def test_stopped_among_smps(self):
        self.stops('get')

    def test_stopped_among_requests_to_the_sa(self):
        self.stops('sa')

    def test_stopped_among_sets(self):
        self.stops('set')

    def test_stopped_among_requests_to_an_agent(self):
        self.stops('gmp')

    def test_stopped_among_long_messages_both_ways(self):
        self.stops('rmpp')

    def test_stopped_among_registrations(self):
        self.stops('register')


if __name__ == '__main__':
    unittest.main()
