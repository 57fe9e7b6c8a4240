# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
--time-scale: how long timers run. Where they are faster, a limit is the time that they would truly take; where they are
slower, it is the time that they must take. Neither depends on the machine.
"""
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import softhca  # noqa: E402

HERE = os.path.join(os.environ['SOFTHCA_BUILD'], 'tests', 'e2e')


def run(*args):
    return softhca.Running([softhca.SOFTHCA, *args]).finish()


def timed(*args):
    begin = time.monotonic()
    r = run(*args)
    return r, time.monotonic() - begin


class TimeScale(softhca.Case):
    def span(self, r, last):
        """From the trace: the time from a request's first attempt to the line `last`."""
        first = re.search(r'\] ([\d.]+) cqe: QP .* parked \(', r.out)
        end = re.search(r'\] ([\d.]+) cqe: ' + last, r.out)
        self.assertTrue(first and end, r)
        return float(end[1]) - float(first[1])

    def test_the_retries_of_a_stock_program(self):
        """Eight time-outs of 1.07 s."""
        port = str(softhca.Case.port)
        r = run('run', '--trace=cqe', '--hosts', '2', '--time-scale', '1000', '--inject', 'SEND:status=RETRY_EXC_ERR:when=10',
                '--pair', f'ib_send_bw -F -u 18 -p {port}', '--', 'ib_send_bw', '-F', '-u', '18', '-p', port, 'localhost')
        self.assertIn('Failed status 12', r.out)
        self.assertIn('softhca: inject: fired 1 x', r.out)
        self.assertLess(self.span(r, '.*TRANSPORT_RETRY_EXC'), 8 * 1.07)

    def test_slower(self):
        work = os.path.join(HERE, 'work')
        r = run('run', '--trace=cqe', '--time-scale', '0.01', '--inject', 'SEND:status=RETRY_EXC_ERR:when=3', '--', work, 'SEND', 'RC')
        self.assertGreaterEqual(self.span(r, '.*TRANSPORT_RETRY_EXC'), 3 * 0.4194)
        # timer 1 of the receiver: 0.01 ms
        r = run('run', '--trace=cqe', '--time-scale', '0.001', '--inject', 'SEND:status=RNR_RETRY_EXC_ERR:when=3', '--', work, 'SEND', 'RC')
        self.assertGreaterEqual(self.span(r, '.*RNR_RETRY_EXC'), 2 * 0.01)

    def test_connection_managers(self):
        """A REQ is sent 16 times, every 4 s: UNREACHABLE."""
        with softhca.Fabric('--hosts', '2', '--time-scale', '500') as fab:
            fab.softhca('inject', 'add', 'cm[msg=REQ]:lost=16')
            srv = fab.start('rping', '-s', '-p', '7174', '-C', '3', options=('--host', 'h1'))
            softhca.wait_for(lambda: any(i['state'] == 'LISTEN' for i in self.status(fab)['cm_ids']), 'rping to listen')
            begin = time.monotonic()
            cli = fab.run('rping', '-c', '-a', '127.1.0.1', '-p', '7174', '-C', '3', options=('--host', 'h2'))
            self.assertLess(time.monotonic() - begin, 60)
            self.assertIn('RDMA_CM_EVENT_UNREACHABLE, error -110\n', cli.out)
            srv.kill()

    def test_mads(self):
        r, took = timed('run', '--time-scale', '100', '--inject', 'mad[class=SubnAdm]:lost', '--', 'saquery', '-p', '-t', '60000')
        self.assertIn('Query SA failed: Connection timed out', r.out)
        self.assertLess(took, 60)

    def test_the_subnet_manager(self):
        r, took = timed('run', '--world', 'sm-slow', '--time-scale', '0.5', '--', 'saquery', '-s', '-t', '60000')
        self.assertEqual(r.status, 0, r)
        self.assertGreaterEqual(took, 2 * 0.6)

    def test_links(self):
        wait = 'until grep -q ACTIVE /sys/class/infiniband/mlx5_0/ports/1/state; do sleep 0.01; done'
        r, took = timed('run', '--world', 'port-late', '--time-scale', '0.8', '--', 'sh', '-c', wait)
        self.assertEqual(r.status, 0, r)
        self.assertGreaterEqual(took, 2.5)

    def test_times_of_rules(self):
        """Durations are the fabric's, moments are true."""
        r, took = timed('run', '--time-scale', '1000', '--inject', 'READ:late=60s:when=3', '--', os.path.join(HERE, 'work'), 'READ', 'RC')
        self.assertIn('fired 1 x: READ:late=60s:when=3', r.out)
        self.assertIn('5: success', r.out)
        self.assertLess(took, 60)
        begin = time.monotonic()
        with softhca.Fabric('--time-scale', '0.01') as fab:
            watch = fab.start('ibv_asyncwatch')
            watch.wait_said('async event FD')
            fab.softhca('inject', 'add', 'port:flap=5ms:at=200ms')
            watch.wait_said('PORT_ACTIVE')
            took = time.monotonic() - begin
            self.assertGreaterEqual(took, 0.2 + 0.5)
            self.assertLess(took, 20)
            watch.kill()
        r, took = timed('run', '--time-scale', '1000', '--hosts', '2', '--inject', 'mad[class=SubnAdm]:late=60s', '--', 'saquery', '-p', '-t', '900000')
        self.assertEqual(r.status, 0, r)
        self.assertLess(took, 60)

    def test_clocks_of_programs_are_true(self):
        for scale in '1000', '0.001':
            r = run('run', '--time-scale', scale, '--', os.path.join(HERE, 'clock'))
            self.assertEqual(r.status, 0, r)

    def test_which_numbers(self):
        for text, scale in (('0.5', 0.5), ('12.25', 12.25), ('1000', 1000), ('0.001', 0.001), ('007', 7), ('1.0', 1)):
            with softhca.Fabric('--time-scale', text) as fab:
                self.assertEqual(self.status(fab)['time_scale'], scale)
        with softhca.Fabric() as fab:
            self.assertEqual(self.status(fab)['time_scale'], 1)
        for text in ('0', '-1', 'x', '', '1001', '1000.001', '0.0001', '1.0005', '1e2', 'inf', '1.', '.5', ' 1', '99999999999999999999'):
            r = run('run', f'--time-scale={text}', '--', 'echo', 'started')
            self.assertEqual((r.status, r.out), (2, f"softhca: run: --time-scale: '{text}' is not a number from 0.001 to 1000\n"))

    def test_which_commands(self):
        show = ('--', 'sh', '-c', 'softhca status -j | grep -o "time_scale[^,]*"')
        os.environ['PATH'] = f"{os.path.dirname(softhca.SOFTHCA)}:{os.environ['PATH']}"
        for cmd in (('run',), ('trace', '-e', 'inject'), ('pcap', '-o', '/dev/null'),
                    ('world', '--all', '-v', '--only', 'pkey-shifted')):
            r = run(*cmd, '--time-scale', '8', *show)
            self.assertEqual(r.status, 0, r)
            self.assertRegex(r.out, r'time_scale": ?8')
        with softhca.Fabric() as fab:
            r = run('run', '--fabric', fab.name, '--time-scale', '8', '--', 'true')
            self.assertEqual(r.status, 2)
            self.assertIn('--time-scale would describe a new fabric', r.out)


if __name__ == '__main__':
    unittest.main()
